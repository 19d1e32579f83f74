/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reader: from an input to logs, and from a log to events, through the
 * form that the log turns out to be.
 */
#include "reader/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * In the order in which they are asked: those that are soon sure of their own
 * come first, as to find that something is no MPS stream takes long.
 */
static const struct tel_form *const forms[] = {
	&tel__form_hpm,
	&tel__form_ets,
	&tel__form_tel,
	&tel__form_mps,
	&tel__form_text,
	&tel__form_cnv,
	&tel__form_inst,
	/* these ask what the others said */
	&tel__form_android,
	&tel__form_heaptrack,
	&tel__form_logalloc,
	&tel__form_mtrace,
	&tel__form_rep,
	&tel__form_kdump,
	&tel__form_ltrace,
	&tel__form_valgrind,
	&tel__form_tel_damaged,
};
#define NFORMS (sizeof(forms) / sizeof(forms[0]))

int
tel__form_known(const char *name)
{
	size_t i;

	for (i = 0; i < NFORMS; i++)
		if (strcmp(name, forms[i]->name) == 0)
			return 1;
	return 0;
}

tel_reader *
tel_reader_new(void)
{
	struct tel_reader *r = calloc(1, sizeof(*r));

	if (r != NULL) {
		r->max_labels = (size_t)1 << 18;
		r->read_size = (size_t)1 << 18;
	}
	return r;
}

/* Forgets the log that is being read, if any. */
static void
close_log(struct tel_reader *r)
{
	if (r->form != NULL)
		r->form->close(r);
	r->form = NULL;
	r->state = NULL;
	tel__labels_free(r->log.labels);
	tel__clock_free(r->log.clock);
	r->log.labels = NULL;
	r->log.clock = NULL;
}

static void
free_list(char **list, size_t n)
{
	while (n > 0)
		free(list[--n]);
	free(list);
}

void
tel_reader_free(tel_reader *r)
{
	struct tel_reader *member;
	size_t i;

	if (r == NULL)
		return;
	while ((member = r->split) != NULL) {
		r->split = member->next_split;
		tel_reader_free(member);
	}
	close_log(r);
	tel__input_free(r->in);
	for (i = 0; i < r->nschemas; i++)
		tel_schema_free(r->schemas[i]);
	free(r->schemas);
	for (i = 0; i < r->ntried; i++)
		tel_schema_free(r->tried[i]);
	free(r->tried);
	free_list(r->descriptions, r->ndescriptions);
	free_list(r->contracts, r->ncontracts);
	free(r->meta);
	tel__reader_free_roles(r);
	free(r->as);
	free(r->name);
	free(r->member_name);
	free(r);
}

void
tel__reader_fill(struct tel_reader *r, size_t min)
{
	tel_status st;
	size_t avail;

	if (r->eof || (size_t)(r->end - r->p) >= min)
		return;
	tel__input_consume(r->in,
	    r->peeked - (size_t)(r->end - r->p) - r->back);
	st = tel__input_peek(r->in, min + r->back, &r->p, &avail);
	r->end = r->p + avail;
	r->p += r->back;
	r->peeked = avail;
	if (st != TEL_OK)
		r->input_status = st;
	if ((size_t)(r->end - r->p) < min)
		r->eof = 1;
}

tel_status
tel__reader_adopt(struct tel_reader *r, struct tel_schema *schema)
{
	struct tel_schema **list;

	list = realloc(r->schemas, (r->nschemas + 1) * sizeof(*list));
	if (list == NULL) {
		tel_schema_free(schema);
		return TEL_ENOMEM;
	}
	list[r->nschemas++] = schema;
	r->schemas = list;
	r->log.schema = schema;
	return TEL_OK;
}

/* Chooses the form of the log that begins at r->p. */
static tel_status
choose_form(struct tel_reader *r)
{
	const struct tel_form *best = NULL;
	int score, high = 0;
	size_t i;

	for (i = 0; i < NFORMS; i++) {
		if (r->as != NULL && strcmp(r->as, forms[i]->name) == 0) {
			r->form = forms[i];
			return TEL_OK;
		}
	}
	tel__reader_fill(r, 1);
	if (r->p == r->end)
		return tel__reader_fail(r,
		    r->input_status != TEL_OK ? r->input_status : TEL_EFORMAT,
		    "%s",
		    r->input_status != TEL_OK ? tel__input_error(r->in) :
		                                "the input is empty");
	for (i = 0; i < NFORMS && high < 100; i++) {
		r->sure = high;
		score = forms[i]->probe(r);
		if (score > high) {
			high = score;
			best = forms[i];
		}
	}
	if (best == NULL && r->as != NULL)
		best = &tel__form_mps;
	if (best == NULL)
		return tel__reader_fail(r, TEL_EFORMAT,
		    "not a log of a known "
		    "kind: neither an MPS stream, a log of another system "
		    "that is known, nor text of telcat or mpseventcnv");
	r->form = best;
	return TEL_OK;
}

/* Nonzero when r->as names a schema and not just a form. */
static int
as_schema(const struct tel_reader *r)
{
	return r->as != NULL && strncmp(r->as, "mps-", 4) == 0;
}

/* Begins the log that the input now stands at. */
static tel_status
begin_log(struct tel_reader *r, const char *name)
{
	tel_status st;

	close_log(r);
	r->p = r->end = NULL;
	r->peeked = 0;
	r->offset = 0;
	r->back = 0;
	r->eof = 0;
	r->input_status = TEL_OK;
	r->log.name = name;
	r->log.schema = NULL;
	r->span = NULL;
	r->log.labels = tel__labels_new(r->max_labels);
	r->log.clock = tel__clock_new();
	r->notices = 0;
	r->timeless = 0;
	memset(&r->event, 0, sizeof(r->event));
	r->event.log = &r->log;
	if (r->log.labels == NULL || r->log.clock == NULL)
		return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
	tel__clock_set_rate(r->log.clock, r->tick_rate);
	st = choose_form(r);
	if (st == TEL_OK)
		st = r->form->open(r, as_schema(r) ? r->as : NULL);
	if (st != TEL_OK)
		return st;
	if (r->log.schema != NULL)
		tel__reader_give_roles(r, r->log.schema);
	r->log.form = r->form->name;
	r->log.number = (unsigned)r->count[TEL_COUNT_LOGS]++;
	return TEL_OK;
}

/* Begins the next member of an archive that is a log. */
static tel_status
next_member(struct tel_reader *r)
{
	const char *member;
	tel_status st;
	size_t n;

	for (;;) {
		st = tel__input_next_member(r->in, &member);
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
		n = strlen(r->name) + strlen(member) + 2;
		r->member_name = malloc(n);
		if (r->member_name == NULL)
			return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
		snprintf(r->member_name, n, "%s:%s", r->name, member);
		st = begin_log(r, r->member_name);
		if (st != TEL_EFORMAT)
			return st;
		tel__reader_notice(r, TEL_INFO, 0, "left out: %s", r->error);
		tel__input_consume(r->in, r->peeked);
	}
}

/* Takes over raw and opens what is in it. */
static tel_status
open_input(struct tel_reader *r, struct tel_input *raw, const char *name)
{
	tel_status st;

	r->at = READER_DONE;
	r->name = strdup(name != NULL ? name : "-");
	if (r->name == NULL) {
		tel__input_free(raw);
		return r->failed =
		           tel__reader_fail(r, TEL_ENOMEM, "out of memory");
	}
	r->log.name = r->name;
	st = tel__input_unpack(raw, &r->in);
	if (st != TEL_OK)
		return r->failed =
		           tel__reader_fail(r, st, "%s", tel_status_text(st));
	if (tel__input_is_archive(r->in)) {
		st = next_member(r);
		if (st == TEL_END)
			st = tel__reader_fail(r, TEL_EFORMAT,
			    "no member of the archive is a log");
	} else {
		st = begin_log(r, r->name);
	}
	r->failed = st;
	if (st == TEL_OK)
		r->at = READER_LOG;
	return st;
}

tel_status
tel_reader_open_file(tel_reader *r, const char *path)
{
	int fd;

	if (r->at != READER_NEW)
		return TEL_ESTATE;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return tel__reader_fail(r, TEL_EIO, "%s", strerror(errno));
	return tel__reader_open_kept(r, fd, path);
}

tel_status
tel__reader_open_kept(struct tel_reader *r, int fd, const char *name)
{
	struct tel_input *raw;
	tel_status st = tel__input_fd(fd, 1, r->read_size, &raw);

	if (st != TEL_OK)
		return tel__reader_fail(r, st, "%s", tel_status_text(st));
	return open_input(r, raw, name);
}

tel_status
tel_reader_open_fd(tel_reader *r, int fd, const char *name)
{
	struct tel_input *raw;
	tel_status st;

	if (r->at != READER_NEW)
		return TEL_ESTATE;
	st = tel__input_fd(fd, 0, r->read_size, &raw);
	if (st != TEL_OK)
		return tel__reader_fail(r, st, "%s", tel_status_text(st));
	return open_input(r, raw, name);
}

tel_status
tel_reader_open_memory(tel_reader *r, const void *data, size_t size,
    const char *name)
{
	struct tel_input *raw;
	tel_status st;

	if (r->at != READER_NEW)
		return TEL_ESTATE;
	st = tel__input_memory(data, size, r->read_size, &raw);
	if (st != TEL_OK)
		return tel__reader_fail(r, st, "%s", tel_status_text(st));
	return open_input(r, raw, name);
}

tel_status
tel_reader_open_callback(tel_reader *r, tel_read_fn *read, void *arg,
    const char *name)
{
	struct tel_input *raw;
	tel_status st;

	if (r->at != READER_NEW)
		return TEL_ESTATE;
	st = tel__input_callback(read, arg, r->read_size, &raw);
	if (st != TEL_OK)
		return tel__reader_fail(r, st, "%s", tel_status_text(st));
	return open_input(r, raw, name);
}

/*
 * What is read comes from behind a place that is damaged: nothing that stood
 * before it goes on there.
 */
static void
go_on_behind(struct tel_reader *r, uint64_t lost)
{
	r->offset += lost;
	r->p = r->end = NULL;
	r->peeked = r->back = 0;
	r->eof = 0;
	r->event.data = NULL;
	r->log.tail = NULL;
	r->log.tail_size = 0;
}

/*
 * The log has come to an end: of itself, or because the input below failed,
 * which for compressed input means that it is damaged.  TEL_OK: it goes on
 * behind that.
 */
static tel_status
end_log(struct tel_reader *r)
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
	tel_status st;

	tel__input_consume(r->in, r->peeked - (size_t)(r->end - r->p));
	r->peeked = 0;
	r->p = r->end = NULL;
	st = next_member(r);
	r->at = st == TEL_OK ? READER_LOG : READER_DONE;
	r->failed = st == TEL_END ? TEL_OK : st;
	return st;
}

tel_status
tel_reader_next(tel_reader *r, const tel_event **event)
{
	tel_status st;

	if (r->at == READER_NEW)
		return TEL_ESTATE;
	if (r->at == READER_BETWEEN &&
	    (st = tel__reader_next_member(r)) != TEL_OK) {
		if (st == TEL_END)
			tel__reader_tell_roles(r);
		return st;
	}
	if (r->at == READER_DONE)
		return r->failed != TEL_OK ? r->failed : TEL_END;
	do
		st = r->form->next(r);
	while (st == TEL_END && (st = end_log(r)) == TEL_OK);
	if (st == TEL_OK) {
		if (r->event.index == 0 || r->timeless) {
			r->timeless = tel_event_timeless(&r->event);
			if (!r->timeless)
				tel__clock_set_origin(r->event.log->clock,
				    r->event.clock);
		}
		/* a log may change its schema on the way */
		if (r->given != r->event.log->schema)
			tel__reader_give_roles(r, r->event.log->schema);
		r->count[TEL_COUNT_EVENTS]++;
		r->count[TEL_COUNT_BYTES] += r->event.size;
		*event = &r->event;
		return TEL_OK;
	}
	r->at = st == TEL_LOG ? READER_BETWEEN : READER_DONE;
	/* of an archive that was split this reader has the last member */
	if (r->parent == NULL && (st == TEL_END || r->split != NULL))
		tel__reader_tell_roles(r);
	if (st < 0)
		r->failed = st;
	return st;
}
