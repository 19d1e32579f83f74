/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What every format needs of the reader: the window of input, reports of
 * damage, finding the next event behind it, and caches that outlive a log.
 */
#include "reader/reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/array.h"
#include "base/digit.h"

/* Bytes looked at in one piece when a log is lost. */
#define SEARCH ((size_t)1 << 16)

/* ------------------------------------------------------------- the window */

void
tel__reader_fill(struct tel_reader *r, size_t min)
{
	size_t avail;

	if (r->eof || (size_t)(r->end - r->p) >= min)
		return;
	tel__input_consume(r->in,
	    r->peeked - (size_t)(r->end - r->p) - r->back);
	tel_status st = tel__input_peek(r->in, min + r->back, &r->p, &avail);
	r->end = r->p + avail;
	r->p += r->back;
	r->peeked = avail;
	if (st != TEL_OK)
		r->input_status = st;
	if ((size_t)(r->end - r->p) < min)
		r->eof = 1;
}

int64_t
tel__reader_now(void)
{
	struct timespec ts = { 0, 0 };

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* A pipe without a pause is waited for as long as this many of them. */
#define SOON_PAUSES 10

void
tel__reader_fill_soon(struct tel_reader *r, size_t min, int ms)
{
	const int64_t until = tel__reader_now() + (int64_t)ms * SOON_PAUSES;

	while (!r->eof && (size_t)(r->end - r->p) < min &&
	    tel__reader_now() < until && tel__input_await(r->in, ms))
		tel__reader_fill(r, (size_t)(r->end - r->p) + 1);
}

uint64_t
tel__reader_place(const struct tel_reader *r)
{
	return tel__input_offset(r->in) + r->peeked - (size_t)(r->end - r->p);
}

int
tel__reader_jump(struct tel_reader *r, uint64_t place)
{
	if (place > INT64_MAX ||
	    tel__input_seek(r->in, (int64_t)place, SEEK_SET) < 0)
		return 0;
	r->p = r->end = NULL;
	r->peeked = r->back = 0;
	r->batch->count = r->batch->next = 0;
	r->offset = place;
	r->eof = 0;
	r->input_status = TEL_OK;
	return 1;
}

int
tel__reader_is_archive(const struct tel_reader *r)
{
	return r->in != NULL && tel__input_is_archive(r->in);
}

/* ---------------------------------------------------------------- reports */

/* Bytes of a notice, and a NUL, at most. */
#define NOTICE_MAX 256u

/* Counts a notice.  Nonzero when somebody is to get it. */
static int
reader_count_notice(struct tel_reader *r)
{
	r->told++;
	if (r->mute > 0) {
		r->mute--;
		return 0;
	}
	return r->notify != NULL;
}

static void
reader_notify(struct tel_reader *r, tel_severity severity, uint64_t offset,
    char text[NOTICE_MAX])
{
	tel__printable(text, NOTICE_MAX);
	r->notify(r->notify_arg, severity, r->log.name, offset, text);
}

void
tel__reader_notice_text(struct tel_reader *r, uint64_t offset, const char *text,
    size_t n)
{
	char copy[NOTICE_MAX];

	(void)snprintf(copy, sizeof(copy), "%.*s", (int)n, text);
	if (reader_count_notice(r))
		reader_notify(r, TEL_INFO, offset, copy);
}

__attribute__((format(printf, 4, 0))) static void
reader_reader_notice(struct tel_reader *r, tel_severity severity,
    uint64_t offset, const char *format, va_list args)
{
	char text[NOTICE_MAX];

	if (!reader_count_notice(r))
		return;
	vsnprintf(text, sizeof(text), format, args);
	reader_notify(r, severity, offset, text);
}

void
tel__reader_notice(struct tel_reader *r, tel_severity severity, uint64_t offset,
    const char *format, ...)
{
	va_list args;

	va_start(args, format);
	reader_reader_notice(r, severity, offset, format, args);
	va_end(args);
}

tel_status
tel__reader_fail(struct tel_reader *r, tel_status status, const char *format,
    ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(r->error, sizeof(r->error), format, args);
	va_end(args);
	return status;
}

tel_status
tel__reader_damage(struct tel_reader *r, uint64_t offset, uint64_t skipped,
    const char *format, ...)
{
	va_list args;

	r->count[TEL_COUNT_DAMAGED]++;
	r->count[TEL_COUNT_SKIPPED] += skipped;
	va_start(args, format);
	reader_reader_notice(r, TEL_DAMAGE, offset, format, args);
	va_end(args);
	if (!r->strict)
		return TEL_OK;
	va_start(args, format);
	vsnprintf(r->error, sizeof(r->error), format, args);
	va_end(args);
	return TEL_EDAMAGED;
}

void
tel__reader_limit(struct tel_reader *r, uint64_t offset, const char *what)
{
	if (r->notices & NOTICED_LIMIT)
		return;
	r->notices |= NOTICED_LIMIT;
	tel__reader_notice(r, TEL_WARNING, offset,
	    "too many %s: those beyond %zu are ignored", what, r->max_labels);
}

/* ----------------------------------------------------------------- damage */

tel_status
tel__reader_resync(struct tel_reader *r, size_t ahead, size_t least,
    tel_sync_fn *here, const char *why)
{
	uint64_t from = r->offset;
	const unsigned char *q;

	r->back = 0;
	tel_reader_step(r, 1);
	for (;;) {
		tel__reader_fill(r, SEARCH);
		for (q = r->p; (size_t)(r->end - q) >= least; q++) {
			if (!r->eof && (size_t)(r->end - q) < ahead)
				break;
			if (here(r, q))
				break;
		}
		if ((size_t)(r->end - q) < least)
			q = r->end;
		tel_reader_step(r, (size_t)(q - r->p));
		if (r->eof || (size_t)(r->end - r->p) >= ahead)
			break;
	}
	return tel__reader_damage(r, from, r->offset - from,
	    "%s; %llu bytes skipped", why,
	    (unsigned long long)(r->offset - from));
}

tel_status
tel__reader_cut_short(struct tel_reader *r, const char *where)
{
	size_t left = (size_t)(r->end - r->p);
	uint64_t from = r->offset;

	tel_reader_step(r, left);
	tel_status st = tel__reader_damage(r, from, left,
	    "%s; its first %zu bytes are left out", where, left);
	return st == TEL_OK ? TEL_END : st;
}

/* ------------------------------------------------- kept for several logs */

void
tel__reader_free_batch(struct tel_reader *r)
{
	if (r->batch != &r->shared->none)
		free(r->batch);
	r->batch = &r->shared->none;
}

tel_status
tel__reader_adopt(struct tel_reader *r, struct tel_schema *schema)
{
	struct tel_shared *s = r->shared;

	if (!TEL__RESERVE(s->schemas, s->schema_room, s->nschemas + 1)) {
		tel_schema_free(schema);
		return TEL_ENOMEM;
	}
	const struct tel_format_ops *of =
	    tel__format_find(r->formats, schema->name);
	const int more =
	    schema->described && !r->format->keeps_schema && !r->eof;
	schema->grows = more && of != NULL && of->late_types;
	schema->open = more && tel__input_is_pipe(r->in);
	s->open |= schema->open;
	s->schemas[s->nschemas++] = schema;
	if (!schema->described) {
		s->schemas[s->nschemas - 1] = s->schemas[s->nbuiltin];
		s->schemas[s->nbuiltin++] = schema;
	}
	tel__reader_set_schema(r, schema);
	return TEL_OK;
}

void
tel__reader_shut_schemas(struct tel_reader *r)
{
	struct tel_shared *s = r->shared;

	if (!s->open)
		return;
	for (size_t i = 0; i < s->nschemas; i++)
		s->schemas[i]->open = 0;
	s->open = 0;
}

void
tel__reader_set_schema(struct tel_reader *r, struct tel_schema *schema)
{
	r->log.schema = schema;
	if (schema->with == NULL)
		tel__schema_join(schema, r->shared->ring);
	r->shared->ring = schema;
}

void *
tel__reader_keep(struct tel_reader *r, const struct tel_format_ops *format,
    size_t size)
{
	struct tel_format_cache *k;

	for (k = r->shared->caches; k != NULL; k = k->next)
		if (k->format == format)
			return k->state;
	k = calloc(1, sizeof(*k));
	if (k == NULL)
		return NULL;
	k->state = calloc(1, size);
	if (k->state == NULL) {
		free(k);
		return NULL;
	}
	k->format = format;
	k->next = r->shared->caches;
	r->shared->caches = k;
	return k->state;
}

void
tel__reader_free_caches(struct tel_reader *r, const struct tel_format_ops *but)
{
	struct tel_format_cache **link = &r->shared->caches, *k;

	while ((k = *link) != NULL) {
		if (k->format == but) {
			link = &k->next;
			continue;
		}
		*link = k->next;
		if (k->format->cache_free != NULL)
			k->format->cache_free(k->state);
		free(k->state);
		free(k);
	}
}

tel_status
tel__reader_share(struct tel_reader *r, const struct tel_reader *other)
{
	struct tel_shared *s =
	    other != NULL ? other->shared : calloc(1, sizeof(*s));

	if (s == NULL)
		return TEL_ENOMEM;
	tel__reader_unshare(r);
	s->several |= s->readers++ > 0;
	r->shared = s;
	r->batch = &s->none;
	return TEL_OK;
}

void
tel__reader_unshare(struct tel_reader *r)
{
	struct tel_shared *s = r->shared;

	if (s != NULL)
		tel__reader_free_batch(r);
	if (s == NULL || --s->readers > 0)
		return;
	for (size_t i = 0; i < s->nschemas; i++)
		tel_schema_free(s->schemas[i]);
	free(s->schemas);
	tel__reader_free_caches(r, NULL);
	free(s);
}

const struct tel_sidecar *
tel__reader_sidecar(const struct tel_reader *r,
    const struct tel_sidecar *behind, tel_file_kind kind)
{
	const struct tel_sidecar *s =
	    behind != NULL ? behind->next : r->sidecars;

	while (s != NULL && s->kind != kind)
		s = s->next;
	return s;
}
