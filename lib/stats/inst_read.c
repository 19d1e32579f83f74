/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading an inst stream, line by line and session by session: tel-inst(5). */
#include "stats/inst_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/input.h"

static void
problem(struct inst_reader *r, const char *why)
{
	if (r->problems++ == 0)
		snprintf(r->problem, sizeof(r->problem), "line %llu: %s",
		    (unsigned long long)r->line, why);
	r->session_problems++;
}

/* The session is over: what it counted goes to the set. */
static tel_status
end_session(struct inst_reader *r)
{
	struct tel_stats *part = r->part;
	tel_status st;

	if (part == NULL)
		return TEL_OK;
	if (!r->ended) {
		part->report.cut++;
		if (r->problems++ == 0)
			snprintf(r->problem, sizeof(r->problem),
			    "the stream ends without a Z: it was cut short");
	}
	/* not before: what the stream says of itself took its place */
	part->report.damaged += r->session_problems;
	r->session_problems = 0;
	st = tel_stats_settle(part);
	if (st == TEL_OK)
		st = tel_stats_merge(r->into, part);
	else
		(void)tel__stats_no_memory(r->into);
	tel__tree_clear(&r->tree);
	tel_stats_free(part);
	r->part = NULL;
	return st;
}

static tel_status
begin_session(struct inst_reader *r, const struct inst_line *l)
{
	uint64_t major;
	tel_status st;

	if (l->count < 4 || strcmp(l->fields[0].value, "inst") != 0 ||
	    !tel__inst_parse_u64(l->fields[1].value, &major)) {
		problem(r, "the header tells no version");
		return TEL_OK;
	}
	if (major > 1)
		return stats_fail(r->into, TEL_EVERSION,
		    "%.100s: version %.20s of inst streams is not known",
		    r->name, l->fields[1].value);
	st = end_session(r);
	if (st != TEL_OK)
		return st;
	r->part = tel_stats_new();
	if (r->part == NULL)
		return tel__stats_no_memory(r->into);
	r->part->budget.most = r->into->budget.most;
	r->part->max_groups = r->into->max_groups;
	r->hz = 0;
	r->ended = 0;
	if (tel__inst_u64(l, "hz", &r->hz) < 0)
		problem(r, "hz is no number");
	return TEL_OK;
}

/* A class is turned on or off, or disposed of. */
static tel_status
change(struct inst_reader *r, const struct inst_line *l, const char **why)
{
	const struct inst_field *op = tel__inst_find(l, "op");
	int disable = op != NULL && strcmp(op->value, "disable") == 0;
	int dispose = op != NULL && strcmp(op->value, "dispose") == 0;
	struct node *n;
	uint64_t id;

	*why = "there is no such change";
	if (op == NULL ||
	    (!disable && !dispose && strcmp(op->value, "enable") != 0))
		return TEL_EDAMAGED;
	if (tel__inst_u64(l, "c", &id) > 0 && id == 0) {
		r->tree.root_disposed |= dispose;
		r->tree.root_disabled =
		    dispose ? r->tree.root_disabled : disable;
		return TEL_OK;
	}
	n = tel__inst_node(r, l, why);
	if (n == NULL)
		return TEL_EDAMAGED;
	if (dispose)
		n->disposed = 1;
	else
		n->enabled = !disable;
	return TEL_OK;
}

/* Records that were lost before they came to the stream. */
static tel_status
lose(struct inst_reader *r, const struct inst_line *l, const char **why)
{
	struct node *n;
	uint64_t count, id;

	*why = "how many were lost is not told";
	if (tel__inst_u64(l, "n", &count) <= 0)
		return TEL_EDAMAGED;
	r->part->report.lost += count;
	if (tel__inst_u64(l, "c", &id) > 0) {
		n = tel__inst_node(r, l, why);
		if (n == NULL)
			return TEL_EDAMAGED;
		if (n->stat != NULL)
			n->stat->lost += count;
	}
	return TEL_OK;
}

/* What is done with a record; of codes that are not here, nothing. */
static const struct record {
	const char *code;
	tel_status (*act)(struct inst_reader *r, const struct inst_line *l,
	    const char **why);
} records[] = {
	{ "C", tel__inst_define },
	{ "U", tel__inst_update },
	{ "E", tel__inst_trace },
	{ "S", tel__inst_snapshot },
	{ "SB", tel__inst_bucket },
	{ "X", change },
	{ "L", lose },
	{ "R", tel__inst_report },
	{ "W", tel__inst_origin },
};

static tel_status
take_line(struct inst_reader *r, char *bytes, size_t size)
{
	const char *why = NULL;
	struct inst_line l;
	tel_status st;
	size_t i;

	r->line++;
	if (size == 0 || bytes[0] == '#')
		return TEL_OK;
	why = tel__inst_split(bytes, size, &l);
	if (r->part == NULL && (why != NULL || strcmp(l.code, "H") != 0))
		return stats_fail(r->into, TEL_EFORMAT,
		    "%.200s: this is no inst stream", r->name);
	if (why != NULL) {
		problem(r, why);
		return TEL_OK;
	}
	if (strcmp(l.code, "H") == 0)
		return begin_session(r, &l);
	if (strcmp(l.code, "Z") == 0) {
		r->ended = 1;
		return TEL_OK;
	}
	for (i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
		if (strcmp(l.code, records[i].code) != 0)
			continue;
		st = records[i].act(r, &l, &why);
		if (st == TEL_EDAMAGED)
			problem(r, why);
		else if (st != TEL_OK)
			return tel__stats_no_memory(r->into);
	}
	return TEL_OK;
}

/*
 * Moves a line of the input to buffer, which has room for TEL_PEEK_MAX bytes
 * and one more.  *size: without its end; SIZE_MAX for one that is longer and
 * was passed over.  TEL_OK, TEL_END, or a failure of the input.
 */
static tel_status
read_line(struct tel_input *in, char *buffer, size_t *size)
{
	const unsigned char *data, *lf;
	size_t avail, want = 1;
	tel_status st;

	for (;;) {
		st = tel__input_peek(in, want, &data, &avail);
		lf = avail > 0 ? memchr(data, '\n', avail) : NULL;
		if (lf != NULL || avail < want || want == TEL_PEEK_MAX)
			break;
		want = avail < TEL_PEEK_MAX / 2 ? 2 * avail : TEL_PEEK_MAX;
	}
	if (avail == 0)
		return st == TEL_OK ? TEL_END : st;
	*size = lf != NULL ? (size_t)(lf - data) : avail;
	if (lf == NULL && avail >= TEL_PEEK_MAX) {
		/* too long: up to its end it is lost */
		while (lf == NULL && avail > 0) {
			tel__input_consume(in, avail);
			st = tel__input_peek(in, 1, &data, &avail);
			lf = avail > 0 ? memchr(data, '\n', avail) : NULL;
		}
		if (lf != NULL)
			tel__input_consume(in, (size_t)(lf - data) + 1);
		*size = SIZE_MAX;
		return TEL_OK;
	}
	memcpy(buffer, data, *size);
	tel__input_consume(in, *size + (lf != NULL));
	return TEL_OK;
}

/* Reads lines to the end. */
static tel_status
read_lines(struct inst_reader *r, struct tel_input *in, char *buffer)
{
	tel_status st;
	size_t size;

	while ((st = read_line(in, buffer, &size)) == TEL_OK) {
		if (size == SIZE_MAX) {
			r->line++;
			problem(r, "the line is longer than 262144 bytes");
			continue;
		}
		st = take_line(r, buffer, size);
		if (st != TEL_OK)
			return st;
	}
	if (st == TEL_EDAMAGED)
		problem(r, tel__input_error(in));
	else if (st != TEL_END)
		return stats_fail(r->into, st, "%.200s: %s", r->name,
		    tel__input_error(in));
	return TEL_OK;
}

/* Each member of an archive is a stream. */
static tel_status
read_members(struct inst_reader *r, struct tel_input *in, char *buffer)
{
	const char *member;
	tel_status st;

	while ((st = tel__input_next_member(in, &member)) != TEL_END) {
		if (st == TEL_EDAMAGED) {
			problem(r, tel__input_error(in));
			continue;
		}
		if (st != TEL_OK)
			return stats_fail(r->into, st, "%.200s: %s", r->name,
			    tel__input_error(in));
		st = read_lines(r, in, buffer);
		if (st == TEL_OK)
			st = end_session(r);
		if (st != TEL_OK)
			return st;
	}
	return TEL_OK;
}

static tel_status
read_all(struct tel_stats *s, struct tel_input *raw, const char *name)
{
	struct inst_reader r = { .into = s, .name = name != NULL ? name : "-" };
	struct tel_input *in = NULL;
	char *buffer = malloc(TEL_PEEK_MAX + 1);
	tel_status st = tel__input_unpack(raw, &in);

	s->started = 1;
	if (st == TEL_OK && buffer == NULL)
		st = TEL_ENOMEM;
	if (st != TEL_OK)
		st = stats_fail(s, st, "%.200s: %s", r.name,
		    tel_status_text(st));
	else if (tel__input_is_archive(in))
		st = read_members(&r, in, buffer);
	else
		st = read_lines(&r, in, buffer);
	if (st == TEL_OK && r.line == 0)
		st = stats_fail(s, TEL_EFORMAT, "%.200s: the input is empty",
		    r.name);
	if (st == TEL_OK)
		st = end_session(&r);
	if (st == TEL_OK && r.problems > 0)
		st = stats_fail(s, TEL_EDAMAGED, "%.120s: %s%s", r.name,
		    r.problem, r.problems > 1 ? ", and more of the kind" : "");
	tel__tree_clear(&r.tree);
	tel_stats_free(r.part);
	tel__input_free(in);
	free(buffer);
	return st;
}

tel_status
tel_stats_read_inst(tel_stats *s, tel_read_fn *read, void *arg,
    const char *name)
{
	struct tel_input *raw;
	tel_status st = tel__input_callback(read, arg, TEL_PEEK_MAX, &raw);

	return st == TEL_OK ? read_all(s, raw, name) : tel__stats_no_memory(s);
}

tel_status
tel_stats_read_inst_fd(tel_stats *s, int fd, const char *name)
{
	struct tel_input *raw;
	tel_status st = tel__input_fd(fd, 0, TEL_PEEK_MAX, &raw);

	return st == TEL_OK ? read_all(s, raw, name) : tel__stats_no_memory(s);
}
