/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reader: opens an input, and finds the events of its logs through the
 * decoders of their formats.
 */
#include "base/path.h"
#include "format/core/core.h"
#include "format/logs.h"
#include "format/reader.h"
#include "format/registry.h"
#include "io/fileset.h"
#include "io/source.h"
#include "tel/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Documented limit: events that a decoder finds at one place.  A block of .tel,
 * which is read before its events are, has 32,768 at the most.
 */
#define EVENTS_AT_A_PLACE_MAX ((uint64_t)1 << 20)

tel_reader *
tel_reader_new(void)
{
	struct tel_reader *r = calloc(1, sizeof(*r));

	if (r != NULL && tel__reader_share(r, NULL) != TEL_OK) {
		free(r);
		r = NULL;
	}
	if (r != NULL) {
		r->file.fd = -1;
		r->formats = &tel__formats;
		r->limit = UINT64_MAX;
		r->max_labels = (size_t)1 << 18;
		r->read_size = (size_t)1 << 18;
		r->spool = -1;
	}
	return r;
}

void
tel_reader_free(tel_reader *r)
{
	struct tel_reader *member;
	struct tel_sidecar *file;

	if (r == NULL)
		return;
	while ((member = r->split) != NULL) {
		r->split = member->next_split;
		tel_reader_free(member);
	}
	if (r->spool >= 0)
		close(r->spool);
	if (r->feed != NULL)
		r->feed->free(r->feed);
	if (r->next_log.labels != NULL)
		tel__reader_begin_coming(r);
	tel__reader_close_log(r);
	free(r->ended.name);
	tel__input_free(r->in);
	if (!r->set_is_shared)
		tel__fileset_free(r->set);
	tel__reader_unshare(r);
	while ((file = r->sidecars) != NULL) {
		r->sidecars = file->next;
		free(file);
	}
	tel__reader_free_roles(r);
	free(r->as);
	free(r->name);
	free(r->member_name);
	free(r);
}

/*
 * A core of a program is read as an archive of the logs that are in its
 * memory, which are taken out of it here.
 */
static tel_status
open_core(struct tel_reader *r)
{
	const struct tel_sidecar *exe =
	    tel__reader_sidecar(r, NULL, TEL_FILE_META);
	const unsigned char *p;
	const char *error = NULL;
	struct tel_input *raw;
	tel_status st;
	size_t n;
	int fd;

	if (tel__input_is_archive(r->in) ||
	    tel__input_peek(r->in, 1, &p, &n) != TEL_OK || n == 0 ||
	    *p != 0x7f || tel__input_peek(r->in, 20, &p, &n) != TEL_OK ||
	    !tel__core_probe(p, n))
		return TEL_OK;
	st = tel__core_extract(r->in, exe != NULL ? exe->path : NULL, &fd,
	    &error);
	if (st != TEL_OK)
		return tel__reader_fail(r, st, "%s",
		    error != NULL ? error : tel_status_text(st));
	tel__input_free(r->in);
	r->in = NULL;
	st = tel__input_fd(fd, 1, r->read_size, &raw);
	if (st == TEL_OK)
		st = tel__input_unpack(raw, &r->in);
	return st == TEL_OK ?
	    st :
	    tel__reader_fail(r, st, "%s", tel_status_text(st));
}

/*
 * A damaged frame before anything that can be read: the log goes on with the
 * next one.  When there is none, opening the log fails with the reason.
 */
static tel_status
pass_damage(struct tel_reader *r)
{
	char text[sizeof(r->error)];
	const unsigned char *p;
	tel_status st = TEL_OK;
	uint64_t lost;
	size_t n;

	while (st == TEL_OK &&
	    tel__input_peek(r->in, 1, &p, &n) == TEL_EDAMAGED && n == 0) {
		snprintf(text, sizeof(text), "%s", tel__input_error(r->in));
		if (tel__input_resume(r->in, &lost) != TEL_OK)
			break;
		st = tel__reader_damage_input(r, 0, lost, text);
	}
	return st;
}

/* Opens the first log that is known, behind any damage before it. */
static tel_status
open_undamaged(struct tel_reader *r)
{
	tel_status st = TEL_OK;

	r->peeked = 0;
	do {
		/* the rest of a damaged frame may be too little to know */
		tel__input_consume(r->in, r->peeked);
		r->peeked = 0;
		if (r->set == NULL)
			st = pass_damage(r);
		if (st == TEL_OK)
			st = tel__reader_begin_log(r, r->name);
	} while (st == TEL_EFORMAT && r->input_status == TEL_EDAMAGED);
	return st;
}

/* Files that were added can be read, whether the format needs them or not. */
static tel_status
check_sidecars(struct tel_reader *r)
{
	for (const struct tel_sidecar *s = r->sidecars; s != NULL; s = s->next)
		if (access(s->path, R_OK) != 0)
			return tel__reader_fail(r, TEL_EIO, "%s: %s",
			    tel__path_end(s->path, 150), strerror(errno));
	return TEL_OK;
}

/* Takes over raw and opens its content. */
tel_status
tel__reader_open_input(struct tel_reader *r, struct tel_input *raw,
    const char *name)
{
	r->at = READER_DONE;
	r->name = strdup(name != NULL ? name : "-");
	if (r->name == NULL) {
		tel__input_free(raw);
		return r->failed =
		           tel__reader_fail(r, TEL_ENOMEM, "out of memory");
	}
	r->log.name = r->name;
	tel_status st = tel__input_unpack(raw, &r->in);
	if (st != TEL_OK)
		return r->failed =
		           tel__reader_fail(r, st, "%s", tel_status_text(st));
	st = check_sidecars(r);
	if (st == TEL_OK)
		st = open_core(r);
	if (st != TEL_OK)
		return r->failed = st;
	if (tel__input_is_archive(r->in)) {
		st = tel__reader_begin_member(r);
		if (st == TEL_END)
			st = tel__reader_fail(r, TEL_EFORMAT,
			    "no member of the archive is a log");
	} else {
		st = open_undamaged(r);
	}
	r->failed = st;
	if (st == TEL_OK)
		r->at = READER_LOG;
	return st;
}

/* Opens the log that the files of r->set are. */
static tel_status
open_set(struct tel_reader *r, const char *name)
{
	struct tel_input *raw;
	tel_status st = tel__input_memory("", 0, r->read_size, &raw);

	return st == TEL_OK ?
	    tel__reader_open_input(r, raw, name) :
	    tel__reader_fail(r, st, "%s", tel_status_text(st));
}

tel_status
tel__reader_open_again(struct tel_reader *r, struct tel_input *raw,
    const char *name)
{
	tel__reader_close_log(r);
	tel__input_free(r->in);
	r->in = NULL;
	free(r->name);
	memset(&r->log, 0, sizeof(r->log));
	return tel__reader_open_input(r, raw, name);
}

/*
 * Opens a folder, if fd is one: the input of its log is empty, and r->set has
 * the files.  TEL_OK, or a failure.
 */
static tel_status
open_folder(struct tel_reader *r, int fd)
{
	struct tel_fault fault = { TEL_OK, 0, "" };
	struct stat info;

	if (fstat(fd, &info) != 0 || !S_ISDIR(info.st_mode))
		return TEL_OK;
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (copy < 0)
		return tel__reader_fail(r, TEL_EIO, "%s", strerror(errno));
	tel_status st = tel__fileset_open_folder(copy, 1, &r->set, &fault);
	if (st != TEL_OK)
		return tel__reader_fail(r, st, "%s", fault.text);
	for (size_t i = 0; i < r->set->count; i++)
		r->files_size += r->set->files[i].size;
	return TEL_OK;
}

tel_status
tel_reader_open_file(tel_reader *r, const char *path)
{
	struct tel_input *raw;

	if (r->at != READER_NEW)
		return TEL_ESTATE;
	int fd = tel_open_path(path);
	if (fd < 0)
		return tel__reader_fail(r, TEL_EIO, "%s", strerror(errno));
	tel_status st = open_folder(r, fd);
	if (st != TEL_OK || r->set != NULL) {
		close(fd);
		return st != TEL_OK ? st : open_set(r, path);
	}
	st = tel__input_fd(fd, 1, r->read_size, &raw);
	if (st != TEL_OK)
		return tel__reader_fail(r, st, "%s", tel_status_text(st));
	return tel__reader_open_input(r, raw, path);
}

tel_status
tel_reader_open_fd(tel_reader *r, int fd, const char *name)
{
	struct tel_input *raw;

	if (r->at != READER_NEW)
		return TEL_ESTATE;
	tel_status st = open_folder(r, fd);
	if (st != TEL_OK || r->set != NULL)
		return st != TEL_OK ? st : open_set(r, name);
	st = tel__input_fd(fd, 0, r->read_size, &raw);
	if (st != TEL_OK)
		return tel__reader_fail(r, st, "%s", tel_status_text(st));
	int64_t size = tel__input_extent(raw);
	if (size > 0) {
		r->file.fd = fd;
		r->file.start = (int64_t)lseek(fd, 0, SEEK_CUR);
		r->file.size = size;
	}
	return tel__reader_open_input(r, raw, name);
}

tel_status
tel_reader_open_part(tel_reader *r, int fd, int64_t start, int64_t size,
    const char *name)
{
	struct tel_input *raw;
	tel_status st = TEL_EINVAL;
	int64_t end;

	if (r->at != READER_NEW)
		return TEL_ESTATE;
	if (start >= 0 && size >= 0 &&
	    !__builtin_add_overflow(start, size, &end))
		st = tel__input_part(fd, start, size, r->read_size, &raw);
	if (st != TEL_OK)
		return tel__reader_fail(r, st, "%s", tel_status_text(st));
	if (size > 0) {
		r->file.fd = fd;
		r->file.start = start;
		r->file.size = size;
	}
	return tel__reader_open_input(r, raw, name);
}

tel_status
tel_reader_open_memory(tel_reader *r, const void *data, size_t size,
    const char *name)
{
	struct tel_input *raw;

	if (r->at != READER_NEW)
		return TEL_ESTATE;
	tel_status st = tel__input_memory(data, size, r->read_size, &raw);
	if (st != TEL_OK)
		return tel__reader_fail(r, st, "%s", tel_status_text(st));
	return tel__reader_open_input(r, raw, name);
}

/* A log that was closed before its first event: opens it, and finds that. */
static tel_status
resume(struct tel_reader *r)
{
	char *name = strdup(r->name);
	struct tel_input *in;
	tel_status st = name == NULL ?
	    TEL_ENOMEM :
	    tel__input_part(r->file.fd, r->file.start, r->file.size,
	        r->read_size, &in);

	if (st == TEL_OK)
		st = tel__reader_open_again(r, in, name);
	free(name);
	if (st == TEL_OK)
		return tel__reader_find(r);
	r->at = READER_DONE;
	return r->failed = tel__reader_fail(r, st, "%s",
	           r->error[0] != '\0' ? r->error : tel_status_text(st));
}

/* A reader that is not at an event of a log. */
__attribute__((noinline)) static tel_status
find_otherwise(struct tel_reader *r)
{
	switch (r->at) {
	case READER_FED: return r->feed->find(r);
	case READER_BETWEEN:
		tel__reader_begin_coming(r);
		return tel__reader_find(r);
	case READER_SUSPENDED: return resume(r);
	case READER_PASSED: return tel__reader_finish_log(r, TEL_LOG);
	case READER_DONE: return r->failed != TEL_OK ? r->failed : TEL_END;
	default: return TEL_ESTATE;
	}
}

/* Puts the first event into the columns of what was found. */
static void
place_first(struct tel_reader *r)
{
	struct tel_batch *f = r->batch;
	const struct tel_event *ev = &r->event;

	f->offset = ev->offset;
	f->index = ev->index;
	f->type = ev->type;
	f->at[0] = 0;
	f->numbers[0] = 0;
	f->sizes[0] = ev->size;
	f->types[0] = ev->type->index;
	f->clocks[0] = ev->clock;
	f->data[0] = ev->data;
	f->raw = NULL;
	/* unless the format sets it; one of a log before may have done so */
	f->in_window = 0;
}

/* Has the format find what comes with the event that it found. */
static void
find_more(struct tel_reader *r)
{
	struct tel_batch *f = r->batch;

	if (f->renumbered || r->run.changed)
		f->numbered = 0;
	f->renumbered = r->run.changed = 0;
	place_first(r);
	r->format->decode_batch(r);
	if (!f->renumbered && f->numbered < f->count) {
		memcpy(f->numbers + f->numbered, f->ordinals + f->numbered,
		    (f->count - f->numbered) * sizeof(*f->numbers));
		f->numbered = f->count;
	}
	f->last = f->index + f->numbers[f->count - 1];
}

/*
 * An event was found at a place where the one before it was, too.  A decoder
 * that never steps on would find it for ever.
 */
__attribute__((noinline)) static tel_status
check_progress(struct tel_reader *r)
{
	if (++r->progress.events < EVENTS_AT_A_PLACE_MAX)
		return TEL_OK;
	return tel__reader_fail(r, TEL_ELIMIT,
	    "the decoder of the format %s does not advance", r->format->name);
}

static inline tel_status
note_progress(struct tel_reader *r)
{
	if (__builtin_expect(r->progress.offset == r->offset &&
	            r->progress.event_offset == r->event.offset,
	        0))
		return check_progress(r);
	r->progress.offset = r->offset;
	r->progress.event_offset = r->event.offset;
	r->progress.events = 0;
	return TEL_OK;
}

/*
 * Damage was found between the event of a log at a reading and what was found
 * now, by st an event or none.
 */
__attribute__((noinline)) static void
note_damage(struct tel_reader *r, const struct tel_log *log, uint64_t clock,
    tel_status st)
{
	const struct tel_event *ev = &r->event;

	if (st == TEL_OK && (ev->log != log || ev->index == 0))
		clock = ev->clock;
	if (ev->log->clock != NULL && !(st == TEL_OK && tel_event_timeless(ev)))
		tel__clock_add_gap(ev->log->clock, clock,
		    st == TEL_OK ? ev->clock : clock);
}

tel_status
tel__reader_find(struct tel_reader *r)
{
	tel_status st;

	if (__builtin_expect(r->at != READER_LOG, 0))
		return find_otherwise(r);
	const uint64_t damaged = r->count[TEL_COUNT_DAMAGED];
	const struct tel_log *log = r->event.log;
	const uint64_t last = r->batch->count > 1 ?
	    r->batch->clocks[r->batch->count - 1] :
	    r->event.clock;
	/* the format counts on from the last event */
	if (r->batch->count > 1)
		r->event.index = r->batch->last;
	do
		st = r->format->next(r);
	while (st == TEL_END && (st = tel__reader_end_log(r)) == TEL_OK);
	if (__builtin_expect(r->count[TEL_COUNT_DAMAGED] != damaged, 0))
		note_damage(r, log, last, st);
	if (st == TEL_OK)
		st = note_progress(r);
	if (st != TEL_OK)
		return tel__reader_finish_log(r, st);
	r->batch->next = 0;
	r->batch->count = 1;
	/* the first event of a log that is there, and may not be its first one */
	if (r->event.index == 0 || r->timeless || r->event.log != log) {
		r->timeless = tel_event_timeless(&r->event);
		if (!r->timeless)
			tel__clock_begin(r->event.log->clock, r->event.clock);
	}
	/* a log may change its schema on the way */
	if (!r->event.log->schema->given)
		tel__reader_give_roles(r, r->event.log->schema);
	if (r->format->decode_batch != NULL && !r->timeless)
		find_more(r);
	return TEL_OK;
}

/* Makes r->event the next event that was found, which is not the first. */
static inline void
view(struct tel_reader *r)
{
	const struct tel_batch *f = r->batch;
	const uint32_t i = f->next;
	struct tel_event *ev = &r->event;

	ev->type = &f->type->schema->types[f->types[i]];
	ev->data = f->data[i];
	ev->clock = f->clocks[i];
	ev->size = f->sizes[i];
	ev->offset = f->offset + f->at[i];
	ev->index = f->index + f->numbers[i];
	r->consumed = ev->size;
	if (f->raw != NULL) {
		ev->raw = f->raw + f->at[i];
		r->consumed = ev->raw_size = f->raw_sizes[i];
	}
	if (f->in_window)
		tel_reader_step(r, r->consumed);
}

tel_status
tel_reader_next(tel_reader *r, const tel_event **event)
{
	if (r->batch->next == r->batch->count) {
		tel_status st = tel__reader_find(r);

		if (st != TEL_OK)
			return st;
	} else {
		view(r);
	}
	r->batch->next++;
	r->count[TEL_COUNT_EVENTS]++;
	r->count[TEL_COUNT_BYTES] += r->consumed;
	*event = &r->event;
	return TEL_OK;
}

static int
total_wants(void *arg, const struct tel_log *log, const struct tel_type *type)
{
	(void)arg;
	(void)log;
	(void)type;
	return 0;
}

static void
total_count(void *arg, const struct tel_log *log, const struct tel_type *type,
    uint64_t events, uint64_t bytes)
{
	(void)log;
	(void)type;
	(void)bytes;
	*(uint64_t *)arg += events;
}

static void
total_span(void *arg, const struct tel_log *log, uint64_t first, uint64_t last)
{
	(void)arg;
	(void)log;
	(void)first;
	(void)last;
}

void
tel_reader_set_total(tel_reader *r, uint64_t *events)
{
	r->count_pushdown.wants = events != NULL ? total_wants : NULL;
	r->count_pushdown.count = total_count;
	r->count_pushdown.span = total_span;
	r->count_pushdown.arg = events;
}

/* Steps over n events that were found, which are returned as a run. */
static void
step_over(struct tel_reader *r, uint32_t n)
{
	struct tel_batch *f = r->batch;
	/* the first one of all was stepped over, and counts what it took */
	const uint32_t first = f->next == 0;
	const uint32_t last = f->next + n;
	const uint32_t *const sizes = f->raw != NULL ? f->raw_sizes : f->sizes;
	uint64_t bytes = 0;
	uint32_t i = f->next + first;

	if (f->in_window && i < last) {
		bytes = f->at[last - 1] + sizes[last - 1] - f->at[i];
		tel_reader_step(r, (size_t)bytes);
	}
	for (; !f->in_window && i < last; i++)
		bytes += sizes[i];
	r->count[TEL_COUNT_EVENTS] += n;
	r->count[TEL_COUNT_BYTES] += bytes + (first ? r->consumed : 0);
	f->next = last;
}

tel_status
tel_reader_run(tel_reader *r, size_t most, tel_run **run)
{
	struct tel_batch *f = r->batch;

	if (most == 0)
		return TEL_EINVAL;
	if (f->next == f->count) {
		tel_status st = tel__reader_find(r);

		if (st != TEL_OK)
			return st;
		f = r->batch; /* the log may have been opened now */
		if (r->format->decode_batch == NULL || r->timeless)
			place_first(r);
	}
	uint32_t from = f->next;
	uint32_t n = f->count - from;
	if (n > most)
		n = (uint32_t)most;
	r->run.data = f->data + from;
	r->run.clocks = f->clocks + from;
	r->run.types = f->types + from;
	r->run.sizes = f->sizes + from;
	r->run.at = f->at + from;
	r->run.numbers = f->numbers + from;
	r->run.raw = f->raw;
	r->run.raw_sizes = f->raw_sizes + from;
	r->run.offset = f->offset;
	r->run.index = f->index;
	r->run.count = n;
	r->run.first = f->type;
	r->run.event = &r->event;
	step_over(r, n);
	/* r->event is the first one that was found */
	if (from > 0)
		(void)run_event(&r->run, 0);
	*run = &r->run;
	return TEL_OK;
}
