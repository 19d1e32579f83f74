/* SPDX-License-Identifier: BSD-2-Clause */
/* A reader's options, and its format, name, counts and metadata. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format/logs.h"
#include "format/reader.h"

tel_status
tel_reader_set_as(tel_reader *r, const char *name)
{
	tel_schema *schema;
	tel_status st;
	char *copy = NULL;

	if (r->at != READER_NEW)
		return TEL_ESTATE;
	if (name != NULL) {
		if (tel__format_find(r->formats, name) == NULL) {
			if (tel__format_of_schema(r->formats, name) == NULL)
				return TEL_EINVAL;
			st = tel__format_schema(r->formats, name, &schema);
			if (st != TEL_OK)
				return st;
			tel_schema_free(schema);
		}
		copy = strdup(name);
		if (copy == NULL)
			return TEL_ENOMEM;
	}
	free(r->as);
	r->as = copy;
	return TEL_OK;
}

tel_status
tel_reader_set(tel_reader *r, tel_reader_option option, int64_t value)
{
	int *const flags[] = {
		[TEL_READ_FORCE] = &r->force,
		[TEL_READ_STRICT] = &r->strict,
		[TEL_READ_ORIGINS] = &r->origins,
		[TEL_READ_FOLLOW] = &r->follow,
		[TEL_READ_NONBLOCKING] = &r->nonblocking,
	};
	const int64_t max = option == TEL_READ_THREADS ? 1 :
	    option == TEL_READ_SIZE                    ? 1 << 20 :
	                                                 1 << 30;

	if (r->at != READER_NEW)
		return TEL_ESTATE;
	if ((size_t)option < sizeof(flags) / sizeof(*flags)) {
		*flags[option] = value != 0;
		return TEL_OK;
	}
	if (value < (option != TEL_READ_THREADS) || value > max)
		return TEL_EINVAL;
	if (option == TEL_READ_THREADS)
		r->threads = (unsigned)value;
	else if (option == TEL_READ_MAX_LABELS)
		r->max_labels = (size_t)value;
	else if (option == TEL_READ_SIZE)
		r->read_size = (size_t)value;
	else
		return TEL_EINVAL;
	return TEL_OK;
}

tel_status
tel_reader_share(tel_reader *r, const tel_reader *with)
{
	if (r->at != READER_NEW)
		return TEL_ESTATE;
	if (with == NULL)
		return tel__reader_share(r, NULL);
	if (r->roles != NULL || with->roles != NULL ||
	    (r->as == NULL) != (with->as == NULL) ||
	    (r->as != NULL && strcmp(r->as, with->as) != 0))
		return TEL_EINVAL;
	return tel__reader_share(r, with);
}

tel_status
tel_reader_set_seek(tel_reader *r, tel_seek_fn *seek)
{
	if (r->at != READER_NEW)
		return TEL_ESTATE;
	r->seek = seek;
	return TEL_OK;
}

tel_status
tel_reader_set_frame_names(tel_reader *r, tel_frame_name_fn *fn, void *arg)
{
	if (r->at != READER_NEW)
		return TEL_ESTATE;
	r->name_frame = fn;
	r->name_arg = arg;
	return TEL_OK;
}

tel_status
tel_reader_set_notify(tel_reader *r, tel_notify_fn *fn, void *arg)
{
	if (r->at != READER_NEW)
		return TEL_ESTATE;
	r->notify = fn;
	r->notify_arg = arg;
	return TEL_OK;
}

tel_status
tel__reader_add_sidecar(struct tel_reader *r, tel_file_kind kind,
    const char *path)
{
	struct tel_sidecar **end = &r->sidecars, *file;
	const size_t n = strlen(path) + 1;

	if (r->at != READER_NEW)
		return TEL_ESTATE;
	file = malloc(sizeof(*file) + n);
	if (file == NULL)
		return TEL_ENOMEM;
	file->next = NULL;
	file->kind = kind;
	memcpy(file->path, path, n);
	while (*end != NULL)
		end = &(*end)->next;
	*end = file;
	return TEL_OK;
}

tel_status
tel_reader_add_file(tel_reader *r, tel_file_kind kind, const char *path)
{
	struct tel_sidecar **link = &r->sidecars, *old;
	tel_status st = TEL_OK;

	if (r->at != READER_NEW)
		return TEL_ESTATE;
	if ((unsigned)kind > TEL_FILE_META ||
	    (path == NULL && kind != TEL_FILE_META))
		return TEL_EINVAL;
	while (*link != NULL &&
	    (kind != TEL_FILE_META || (*link)->kind != TEL_FILE_META))
		link = &(*link)->next;
	old = *link;
	if (path != NULL)
		st = tel__reader_add_sidecar(r, kind, path);
	if (st == TEL_OK && old != NULL) {
		*link = old->next;
		free(old);
	}
	return st;
}

tel_status
tel_reader_set_tick_rate(tel_reader *r, double hertz)
{
	if (r->at != READER_NEW)
		return TEL_ESTATE;
	if (!(hertz >= 0) || !isfinite(hertz))
		return TEL_EINVAL;
	r->tick_rate = hertz;
	return TEL_OK;
}

/* The log that is read, or where one has ended that after it. */
static const struct tel_log *
log_of(const struct tel_reader *r)
{
	return r->next_log.schema != NULL ? &r->next_log : &r->log;
}

const tel_schema *
tel_reader_schema(const tel_reader *r)
{
	return log_of(r)->schema;
}

const char *
tel_reader_format(const tel_reader *r)
{
	return log_of(r)->format;
}

const char *
tel_reader_log_name(const tel_reader *r)
{
	return log_of(r)->name;
}

const char *
tel_reader_error(const tel_reader *r)
{
	/* no format has words of its own for that */
	return r->failed == TEL_ENOMEM ? tel_status_text(r->failed) : r->error;
}

tel_status
tel_reader_failed(const tel_reader *r)
{
	const struct tel_reader *member;

	for (member = r->split; member != NULL; member = member->next_split)
		if (member->failed < 0)
			return member->failed;
	return r->failed < 0 ? r->failed : r->cut_off;
}

double
tel_reader_tick_rate(const tel_reader *r)
{
	const struct tel_log *log = log_of(r);

	return log->clock != NULL ? tel__clock_rate(log->clock) : 0;
}

uint64_t
tel_reader_count(const tel_reader *r, tel_count which)
{
	const struct tel_reader *member;

	if (which == TEL_COUNT_INPUT && r->piece.last)
		return r->piece.input;
	if (which == TEL_COUNT_INPUT && r->files_size > 0)
		return r->files_size;
	if (which == TEL_COUNT_INPUT)
		return r->in != NULL ? tel__input_raw_bytes(r->in) : 0;
	if ((unsigned)which > TEL_COUNT_UNREAD)
		return 0;
	uint64_t n = r->count[which];
	for (member = r->split; member != NULL; member = member->next_split)
		n += member->count[which];
	return n;
}

uint64_t
tel_reader_pending(tel_reader *r)
{
	if (r->in == NULL)
		return 0;
	if (r->format != NULL && r->format->pending != NULL)
		return r->format->pending(r);
	return (uint64_t)(r->end - r->p) + tel__input_ready(r->in);
}

void
tel_reader_set_range(tel_reader *r, uint64_t first, uint64_t last)
{
	/* one that counts from the first event of a log is set later */
	if (!r->range.on || r->range.first != first || r->range.last != last)
		r->range.early = r->count[TEL_COUNT_EVENTS] == 0;
	r->range.on = 1;
	r->range.first = first;
	r->range.last = last;
	tel__reader_pass_log(r);
}

tel_status
tel__reader_span(struct tel_reader *r, struct tel_clock_span *span)
{
	if (r->at != READER_LOG)
		return TEL_ESTATE;
	return r->format->span != NULL ? r->format->span(r, span) : TEL_END;
}

tel_status
tel_reader_span(tel_reader *r, uint64_t *first, uint64_t *last)
{
	struct tel_clock_span span;
	tel_status st = tel__reader_span(r, &span);

	if (st == TEL_OK) {
		*first = span.first;
		*last = span.last;
	}
	return st;
}

int
tel__reader_is_text(const struct tel_reader *r)
{
	const char *format =
	    r->log.origin != NULL ? r->log.origin : tel_reader_format(r);

	/* kernel traces of several processors may follow each other */
	return strcmp(format, "text") == 0 || strcmp(format, "ftrace") == 0;
}

int
tel__reader_is_part(const struct tel_reader *r, const struct tel_log *log)
{
	if (log == NULL)
		log = &r->log;
	if (log->metadata != NULL &&
	    tel__metadata_get(log->metadata, "part") != NULL)
		return 1;
	/* a text, or a native file, has the schema of what it was made from */
	const struct tel_format_ops *f = log->schema == NULL ?
	    NULL :
	    tel__format_find(r->formats, log->schema->name);
	return f != NULL && f->starts_late != NULL && f->starts_late(log);
}

int
tel_reader_metadata(const tel_reader *r, size_t i, const char **key,
    const char **value)
{
	const struct tel__metadata *m = r->log.metadata;

	if (m == NULL || i >= m->count)
		return 0;
	*key = m->entries[i].key;
	*value = m->entries[i].value;
	return 1;
}
