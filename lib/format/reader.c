/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reader: from an input to logs, and from a log to events, through the
 * decoder of the format that the log turns out to be of.
 */
#include "format/core/core.h"
#include "format/reader.h"
#include "format/registry.h"
#include "io/fileset.h"
#include "io/source.h"
#include "model/history.h"
#include "tel/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
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
tel__reader_close_format(struct tel_reader *r)
{
	if (r->format != NULL)
		r->format->close(r);
	r->format = NULL;
	r->state = NULL;
	r->log.preamble = r->log.tail = NULL;
	r->log.preamble_size = r->log.tail_size = 0;
}

/* Forgets the log that is being read, if any. */
static void
close_log(struct tel_reader *r)
{
	tel__reader_close_format(r);
	tel__metadata_clear(&r->metadata);
	tel__labels_free(r->log.labels);
	tel__clock_free(r->log.clock);
	tel__history_free(r->log.history);
	r->log.labels = NULL;
	r->log.clock = NULL;
	r->log.history = NULL;
}

/* Goes on with the log that comes after the one that has ended. */
static void
begin_coming(struct tel_reader *r)
{
	const struct tel_format_ops *format = r->format;
	void *state = r->state;

	r->format = r->ended.format;
	r->state = r->ended.state;
	close_log(r);
	free(r->ended.name);
	r->ended.name = NULL;
	r->format = format;
	r->state = state;
	r->log = r->next_log;
	memset(&r->next_log, 0, sizeof(r->next_log));
	r->at = READER_LOG;
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
		begin_coming(r);
	close_log(r);
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

/* Asks the formats of a stage; *best is the one that was the surest so far. */
static void
ask(struct tel_reader *r, enum tel_stage stage,
    const struct tel_format_ops **best)
{
	const struct tel_format_ops *f;
	unsigned i;

	for (i = 0; i < r->formats->count && r->best_score < 100; i++) {
		if (r->formats->rows[i].stage != stage)
			continue;
		r->format = f = r->formats->rows[i].format;
		int score = f->probe(r);
		if (score > r->best_score) {
			r->best_score = score;
			*best = f;
		}
	}
}

/* The start may be damaged, or gone.  What no format knows may still be one. */
static void
ask_damaged(struct tel_reader *r, const struct tel_format_ops **best)
{
	const struct tel_format_ops *f;

	for (unsigned i = 0; i < r->formats->count && *best == NULL; i++) {
		r->format = f = r->formats->rows[i].format;
		if (f->probe_damaged != NULL && f->probe_damaged(r) > 0)
			*best = f;
	}
}

/* Detects the format of the log that the files of a folder are. */
static tel_status
detect_set(struct tel_reader *r, const struct tel_format_ops **out)
{
	for (unsigned i = 0; i < r->formats->count; i++) {
		*out = r->formats->rows[i].format;
		if ((*out)->claims != NULL && (*out)->claims(r->set))
			return TEL_OK;
	}
	return tel__reader_fail(r, TEL_EFORMAT,
	    "a folder that is not a CTF trace: no file in it is called "
	    "metadata");
}

/* Detects the format of the log that starts at r->p. */
static tel_status
detect(struct tel_reader *r, const struct tel_format_ops **out)
{
	const struct tel_format_ops *best = NULL;

	if (r->as != NULL)
		best = tel__format_find(r->formats, r->as);
	if (best != NULL) {
		*out = best;
		return TEL_OK;
	}
	if (r->set != NULL && !tel__reader_is_archive(r))
		return detect_set(r, out);
	tel__reader_fill(r, 1);
	if (r->p == r->end)
		return tel__reader_fail(r,
		    r->input_status != TEL_OK ? r->input_status : TEL_EFORMAT,
		    "%s",
		    r->input_status != TEL_OK ? tel__input_error(r->in) :
		                                "the input is empty");
	/* by its first bytes, so that a short one of a pipe is not waited for */
	static const char text[] = "# teltools text ";
	const size_t n = sizeof(text) - 1;
	if (r->p[0] == text[0])
		tel__reader_fill(r, n);
	int stage = (size_t)(r->end - r->p) >= n && memcmp(r->p, text, n) == 0 ?
	    STAGE_LINES :
	    STAGE_MAGIC;
	r->best_score = 0;
	for (; stage < STAGES; stage++)
		ask(r, (enum tel_stage)stage, &best);
	if (best == NULL)
		ask_damaged(r, &best);
	if (best == NULL && r->as != NULL)
		best = tel__format_of_schema(r->formats, r->as);
	r->format = NULL;
	if (best == NULL)
		return tel__reader_fail(r, TEL_EFORMAT,
		    "unknown format: not an MPS stream, a log of another "
		    "supported system, or text of telcat or the MPS's tools");
	*out = best;
	return TEL_OK;
}

/* Opens the log that starts at r->p. */
static tel_status
format_reader_open_log(struct tel_reader *r)
{
	const struct tel_format_ops *format = NULL;
	const char *as = NULL;
	tel_status st = detect(r, &format);

	r->format = NULL;
	if (st != TEL_OK)
		return st;
	if (!tel__reader_is_archive(r) && !tel_reader_shares(r))
		tel__reader_free_caches(r, format);
	r->format = format;
	/* it may name a schema, and not just a format */
	if (r->as != NULL && tel__format_of_schema(r->formats, r->as) != NULL)
		as = r->as;
	return format->open(r, as);
}

/* Forgets the events that were found; makes room for some.  1, or 0. */
static int
clear_batch(struct tel_reader *r)
{
	struct tel_batch *new;

	if (r->batch == &r->shared->none) {
		new = calloc(1, sizeof(*new));
		if (new == NULL)
			return 0;
		for (uint32_t i = 0; i < TEL_RUN_MAX; i++)
			new->ordinals[i] = i;
		r->batch = new;
	}
	r->batch->count = r->batch->next = 0;
	return 1;
}

/* Starts the log at the current place of the input. */
static tel_status
format_reader_begin_log(struct tel_reader *r, const char *name)
{
	close_log(r);
	r->p = r->end = NULL;
	r->peeked = 0;
	r->offset = tel__input_offset(r->in);
	r->back = 0;
	r->eof = 0;
	r->input_status = TEL_OK;
	r->log.name = name;
	r->log.schema = NULL;
	r->log.metadata = &r->metadata;
	r->log.lost = 0;
	r->log.labels = tel__labels_new(r->max_labels);
	r->log.clock = tel__clock_new();
	r->notices = 0;
	r->timeless = 0;
	memset(&r->progress, 0, sizeof(r->progress));
	memset(&r->event, 0, sizeof(r->event));
	r->event.log = &r->log;
	if (r->log.labels == NULL || r->log.clock == NULL || !clear_batch(r))
		return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
	tel__clock_set_rate(r->log.clock, r->tick_rate);
	tel_status st = format_reader_open_log(r);
	if (st != TEL_OK)
		return st;
	if (r->log.schema != NULL && !r->log.schema->given)
		tel__reader_give_roles(r, r->log.schema);
	r->log.format = r->format->name;
	r->log.number = (unsigned)r->count[TEL_COUNT_LOGS]++;
	r->log.merged = r->parent != NULL;
	return TEL_OK;
}

/*
 * Keeps a member of an archive that no format knows: it may be of a log whose
 * other files come later.
 */
static tel_status
keep_member(struct tel_reader *r, const char *name)
{
	struct tel_fault fault = { TEL_OK, 0, "" };

	if (r->set == NULL && (r->set = tel__fileset_new()) == NULL)
		return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
	tel_status st = tel__fileset_add(r->set, r->in, name, &fault);
	if (st == TEL_EDAMAGED)
		return tel__reader_damage(r, 0, 0, "%s: %s", name, fault.text);
	return st == TEL_OK ? st : tel__reader_fail(r, st, "%s", fault.text);
}

/* Starts the next member of an archive that is a log. */
static tel_status
next_member(struct tel_reader *r)
{
	const char *member;

	for (;;) {
		tel_status st = tel__input_next_member(r->in, &member);

		if (st == TEL_END)
			return st;
		if (st == TEL_EDAMAGED) {
			r->log.name = r->name;
			st = tel__reader_damage(r, 0, 0, "%s%s%s", member,
			    *member != '\0' ? ": " : "",
			    tel__input_error(r->in));
			if (st == TEL_OK)
				continue;
			return st;
		}
		if (st != TEL_OK)
			return tel__reader_fail(r, st, "%s",
			    tel__input_error(r->in));
		free(r->member_name);
		size_t n = strlen(r->name) + strlen(member) + 2;
		r->member_name = malloc(n);
		if (r->member_name == NULL)
			return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
		snprintf(r->member_name, n, "%s:%s", r->name, member);
		st = format_reader_begin_log(r, r->member_name);
		if (st != TEL_EFORMAT)
			return st;
		tel__reader_notice(r, TEL_INFO, 0, "skipped: %s", r->error);
		st = keep_member(r, r->member_name + strlen(r->name) + 1);
		if (st != TEL_OK)
			return st;
	}
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
		st = tel__reader_damage(r, 0, lost, "%s; %llu bytes are lost",
		    text, (unsigned long long)lost);
	}
	return st;
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
	st = open_core(r);
	if (st != TEL_OK)
		return r->failed = st;
	if (tel__input_is_archive(r->in)) {
		st = next_member(r);
		if (st == TEL_END)
			st = tel__reader_fail(r, TEL_EFORMAT,
			    "no member of the archive is a log");
	} else {
		st = r->set == NULL ? pass_damage(r) : TEL_OK;
		if (st == TEL_OK)
			st = format_reader_begin_log(r, r->name);
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
	close_log(r);
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

/*
 * Reading continues after damage: nothing from before
 * it extends past it.
 */
static void
go_on_behind(struct tel_reader *r, uint64_t lost)
{
	r->offset += lost;
	r->p = r->end = NULL;
	r->peeked = r->back = 0;
	r->eof = 0;
	r->event.data = NULL;
	r->batch->count = r->batch->next = 0;
	r->log.tail = NULL;
	r->log.tail_size = 0;
}

/*
 * The log has come to an end: of itself, or because the input below failed,
 * which for compressed input means that it is damaged.  TEL_OK: it goes on
 * behind that.
 */
static tel_status
format_reader_end_log(struct tel_reader *r)
{
	tel_status st = r->input_status, resumed;
	uint64_t from = r->offset, lost;
	char text[sizeof(r->error)];

	if (st != TEL_OK) {
		r->input_status = TEL_OK;
		if (st != TEL_EDAMAGED)
			return tel__reader_fail(r, st, "%s",
			    tel__input_error(r->in));
		snprintf(text, sizeof(text), "%s", tel__input_error(r->in));
		tel__input_consume(r->in, r->peeked - (size_t)(r->end - r->p));
		resumed = tel__input_resume(r->in, &lost);
		if (lost > 0)
			st = tel__reader_damage(r, from, lost,
			    "%s; %llu bytes are lost", text,
			    (unsigned long long)lost);
		else
			st = tel__reader_damage(r, from, 0, "%s", text);
		go_on_behind(r, lost);
		if (st != TEL_OK || resumed == TEL_OK)
			return st;
	}
	return tel__input_is_archive(r->in) ? TEL_LOG : TEL_END;
}

tel_status
tel__reader_next_member(struct tel_reader *r)
{
	tel__input_consume(r->in, r->peeked - (size_t)(r->end - r->p));
	r->peeked = 0;
	r->p = r->end = NULL;
	tel_status st = next_member(r);
	r->at = st == TEL_OK ? READER_LOG : READER_DONE;
	r->failed = st == TEL_END ? TEL_OK : st;
	return st;
}

/*
 * A log of several has ended: opens the next one.  What the events of the
 * ended one refer to stays until the next call.  TEL_LOG, TEL_END, a failure.
 */
static tel_status
next_log(struct tel_reader *r)
{
	struct tel_log log = r->log;

	r->ended.format = r->format;
	r->ended.state = r->state;
	r->ended.name = r->member_name;
	r->format = NULL;
	r->state = r->member_name = NULL;
	memset(&r->log, 0, sizeof(r->log));
	tel_status st = tel__reader_next_member(r);
	if (st == TEL_OK) {
		r->next_log = r->log;
		r->log = log;
		r->at = READER_BETWEEN;
		return TEL_LOG;
	}
	close_log(r);
	r->log = log;
	r->format = r->ended.format;
	r->state = r->ended.state;
	return st;
}

/*
 * The log has no event any more, by st: goes on with the next one, or ends.
 * Kept out of tel_reader_next(), which would save more registers for it at
 * each event; so is the next.
 */
__attribute__((noinline)) static tel_status
format_reader_finish_log(struct tel_reader *r, tel_status st)
{
	if (st == TEL_LOG)
		st = next_log(r);
	if (st == TEL_LOG)
		return st;
	r->at = READER_DONE;
	/* of an archive that was split this reader has the last member */
	if (r->parent == NULL && (st == TEL_END || r->split != NULL) &&
	    !tel__reader_at_limit(r))
		tel__reader_report_roles(r);
	if (st < 0)
		r->failed = st;
	return st;
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
	case READER_BETWEEN: begin_coming(r); return tel__reader_find(r);
	case READER_SUSPENDED: return resume(r);
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
	while (st == TEL_END && (st = format_reader_end_log(r)) == TEL_OK);
	if (__builtin_expect(r->count[TEL_COUNT_DAMAGED] != damaged, 0))
		note_damage(r, log, last, st);
	if (st == TEL_OK)
		st = note_progress(r);
	if (st != TEL_OK)
		return format_reader_finish_log(r, st);
	r->batch->next = 0;
	r->batch->count = 1;
	if (r->event.index == 0 || r->timeless) {
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
