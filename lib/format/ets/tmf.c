/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading TMF.  Files in use have their oddities, which are taken: CRLF and
 * LF in one file, comments behind anything, blank lines anywhere, two "{" in
 * a row, blocks that no type waits for, a provider that is named again.
 */
#include "format/ets/tmf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/digit.h"
#include "base/path.h"

/* While a file is read. */
struct parser {
	struct tmf *t;
	const char *path;
	unsigned line;
	char *error;
	size_t error_size;
	int provider;       /* index; -1 before the first */
	uint32_t version;   /* of the types that follow */
	unsigned pending;   /* types that wait for their block: the last ones */
	int open;           /* inside a block, the last one */
	unsigned extra;     /* further "{" that opened it */
	unsigned type_line; /* of the first that waits, or of the "{" */
};

/* Some bytes of the line. */
struct span {
	const char *p;
	size_t n;
};

__attribute__((format(printf, 3, 4))) static tel_status
tmf_fail(struct parser *ps, tel_status st, const char *format, ...)
{
	va_list args;
	int n = snprintf(ps->error, ps->error_size,
	    "%s:%u: ", tel__path_end(ps->path, 120), ps->line);

	va_start(args, format);
	vsnprintf(ps->error + n, ps->error_size - (size_t)n, format, args);
	va_end(args);
	tel__printable(ps->error, ps->error_size);
	return st;
}

/* For messages: what was found, not too much of it. */
static int
shown(struct span s)
{
	return s.n < 40 ? (int)s.n : 40;
}

static int
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct span
trim(struct span s)
{
	while (s.n > 0 && is_blank(*s.p)) {
		s.p++;
		s.n--;
	}
	while (s.n > 0 && is_blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

/* Takes the first word off s. */
static struct span
tmf_take_word(struct span *s)
{
	struct span w = { s->p, 0 };

	while (w.n < s->n && !is_blank(s->p[w.n]))
		w.n++;
	s->p += w.n;
	s->n -= w.n;
	*s = trim(*s);
	return w;
}

/*
 * A name as an identifier: any byte but a letter, digit, dot or "_" becomes
 * "_", and so does a dot or, as more, a digit in front.
 */
static char *
tmf_copy_name(struct span s)
{
	char *name = malloc(s.n + 2), *q = name;

	if (name == NULL)
		return NULL;
	if (s.n > 0 && tel_is_digit(*s.p))
		*q++ = '_';
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		*q++ = tel_is_word(c) || (c == '.' && i > 0) ? c : '_';
	}
	*q = '\0';
	return name;
}

/* A decimal number of up to limit, with a minus where low is below 0. */
static int
tmf_number(struct span s, int64_t low, int64_t limit, int64_t *out)
{
	int minus = low < 0 && s.n > 0 && *s.p == '-';
	int64_t v = 0;

	for (size_t i = (size_t)minus; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9' || v > limit)
			return 0;
		v = v * 10 + (s.p[i] - '0');
	}
	if (minus)
		v = -v;
	*out = v;
	return s.n > (size_t)minus && v >= low && v <= limit;
}

/* The provider that the following types are of; made if it is new. */
static tel_status
take_provider(struct parser *ps, struct span line)
{
	struct span token = tmf_take_word(&line);
	struct tmf *t = ps->t;
	unsigned i;

	if (line.n == 0)
		return tmf_fail(ps, TEL_EINVAL,
		    "expected a provider's number and name, #version, #type "
		    "or {, found '%.*s'",
		    shown(token), token.p);
	if (ps->pending > 0)
		return tmf_fail(ps, TEL_EINVAL,
		    "expected a line with only { for the type of line %u, "
		    "found '%.*s'",
		    ps->type_line, shown(token), token.p);
	if (token.n > TMF_NAME_MAX || line.n > TMF_NAME_MAX)
		return tmf_fail(ps, TEL_ELIMIT, "a name of more than %d bytes",
		    TMF_NAME_MAX);
	char *name = tmf_copy_name(line);
	if (name == NULL)
		return TEL_ENOMEM;
	for (i = 0; i < t->nproviders; i++)
		if (strlen(t->providers[i].token) == token.n &&
		    memcmp(t->providers[i].token, token.p, token.n) == 0)
			break;
	ps->provider = (int)i;
	ps->version = 0;
	if (i < t->nproviders) {
		/* what was said last holds */
		free(t->providers[i].name);
		t->providers[i].name = name;
		return TEL_OK;
	}
	if (i == TMF_PROVIDERS_MAX) {
		free(name);
		return tmf_fail(ps, TEL_ELIMIT, "more than %u providers",
		    TMF_PROVIDERS_MAX);
	}
	if (!TEL__RESERVE(t->providers, t->provider_room, i + 1u)) {
		free(name);
		return TEL_ENOMEM;
	}
	struct tmf_provider *pv = &t->providers[t->nproviders++];
	pv->name = name;
	pv->token = strndup(token.p, token.n);
	if (!tmf_number(token, 0, UINT16_MAX, &pv->number) ||
	    (token.n > 1 && token.p[0] == '0'))
		pv->number = -1;
	return pv->token != NULL ? TEL_OK : TEL_ENOMEM;
}

static tel_status
take_type(struct parser *ps, struct span line)
{
	struct span name = tmf_take_word(&line);
	struct tmf *t = ps->t;
	int64_t low, limit, value;

	if (ps->provider < 0)
		return tmf_fail(ps, TEL_EINVAL, "a #type before any provider");
	int message = t->providers[ps->provider].number < 0;
	low = message ? INT32_MIN : 0;
	limit = message ? (int64_t)UINT32_MAX : UINT16_MAX;
	if (name.n == 0 || !tmf_number(line, low, limit, &value))
		return tmf_fail(ps, TEL_EINVAL,
		    "#type and a name need a number up to %lld, found '%.*s'",
		    (long long)limit, shown(line), line.p);
	if (name.n > TMF_NAME_MAX)
		return tmf_fail(ps, TEL_ELIMIT, "a name of more than %d bytes",
		    TMF_NAME_MAX);
	if (message ? t->nmessages == TMF_MESSAGES_MAX :
	              t->ntypes - t->nmessages == TMF_TYPES_MAX)
		return tmf_fail(ps, TEL_ELIMIT,
		    "too many types: %u of events and %u of messages are the "
		    "most",
		    TMF_TYPES_MAX, TMF_MESSAGES_MAX);
	if (!TEL__RESERVE(t->types, t->type_room, t->ntypes + 1u))
		return TEL_ENOMEM;
	struct tmf_type *type = &t->types[t->ntypes];
	type->name = tmf_copy_name(name);
	if (type->name == NULL)
		return TEL_ENOMEM;
	/* tags are signed, and so are those of a log */
	type->number = message ? (int32_t)(uint32_t)value : value;
	type->version = ps->version;
	type->provider = (uint32_t)ps->provider;
	type->block = UINT32_MAX;
	type->order = t->ntypes++;
	t->nmessages += (unsigned)message;
	if (ps->pending++ == 0)
		ps->type_line = ps->line;
	return TEL_OK;
}

static tel_status
take_directive(struct parser *ps, struct span line)
{
	struct span word = tmf_take_word(&line);
	int64_t value;

	if (word.n == 5 && memcmp(word.p, "#type", 5) == 0)
		return take_type(ps, line);
	if (word.n != 8 || memcmp(word.p, "#version", 8) != 0)
		return tmf_fail(ps, TEL_EINVAL,
		    "expected #version or #type, found '%.*s'", shown(word),
		    word.p);
	if (!tmf_number(line, 0, UINT16_MAX, &value))
		return tmf_fail(ps, TEL_EINVAL,
		    "#version needs a number up to %u, found '%.*s'",
		    UINT16_MAX, shown(line), line.p);
	ps->version = (uint32_t)value;
	return TEL_OK;
}

static tel_status
open_block(struct parser *ps)
{
	struct tmf *t = ps->t;

	if (ps->open) {
		if (t->blocks[t->nblocks - 1].nfields > 0)
			return tmf_fail(ps, TEL_EINVAL,
			    "a { inside the block of line %u", ps->type_line);
		ps->extra++;
		return TEL_OK;
	}
	if (!TEL__RESERVE(t->blocks, t->block_room, t->nblocks + 1u))
		return TEL_ENOMEM;
	memset(&t->blocks[t->nblocks++], 0, sizeof(*t->blocks));
	ps->open = 1;
	ps->extra = 0;
	if (ps->pending == 0)
		ps->type_line = ps->line;
	return TEL_OK;
}

static tel_status
close_block(struct parser *ps)
{
	struct tmf *t = ps->t;

	if (!ps->open && ps->extra == 0)
		return tmf_fail(ps, TEL_EINVAL, "a } without a {");
	if (!ps->open) {
		/* that of the "{" that was one too many */
		ps->extra--;
		return TEL_OK;
	}
	ps->open = 0;
	for (; ps->pending > 0; ps->pending--)
		t->types[t->ntypes - ps->pending].block = t->nblocks - 1;
	return TEL_OK;
}

/* "NAME, ITEM" */
static tel_status
take_field(struct parser *ps, struct span line)
{
	struct tmf_block *b = &ps->t->blocks[ps->t->nblocks - 1];
	const char *comma = memchr(line.p, ',', line.n);
	struct span name, type;

	if (comma == NULL)
		return tmf_fail(ps, TEL_EINVAL,
		    "expected a field as NAME, ITEM or a }, found '%.*s'",
		    shown(line), line.p);
	name = trim((struct span){ line.p, (size_t)(comma - line.p) });
	type = trim(
	    (struct span){ comma + 1, line.n - (size_t)(comma + 1 - line.p) });
	const struct tmf_item *item = tel__tmf_find_item(type.p, type.n);
	if (item == NULL || name.n == 0)
		return tmf_fail(ps, TEL_EINVAL, "%s '%.*s'",
		    item == NULL ? "unknown item type" :
		                   "a field without a name",
		    shown(type), type.p);
	if (name.n > TMF_NAME_MAX || b->nfields == TMF_FIELDS_MAX)
		return tmf_fail(ps, TEL_ELIMIT,
		    "more than %u fields, or a name of more than %d bytes",
		    TMF_FIELDS_MAX, TMF_NAME_MAX);
	/* a number of this name only takes room, in whatever number */
	if (name.n == 5 && memcmp(name.p, "Dummy", 5) == 0 &&
	    (item->shape == TMF_PLAIN || item->shape == TMF_CHAR))
		item = &tel__tmf_padding[item->size];
	if (!TEL__RESERVE(b->fields, b->room, b->nfields + 1u))
		return TEL_ENOMEM;
	struct tmf_field *f = &b->fields[b->nfields];
	f->item = item;
	f->name = tmf_copy_name(name);
	if (f->name == NULL)
		return TEL_ENOMEM;
	b->nfields++;
	return TEL_OK;
}

/* A line without its end. */
static tel_status
tmf_take_line(struct parser *ps, struct span line)
{
	for (size_t i = 0; i + 1 < line.n; i++)
		if (line.p[i] == '/' && line.p[i + 1] == '/')
			line.n = i;
	line = trim(line);
	if (line.n == 0)
		return TEL_OK;
	for (size_t i = 0; i < line.n; i++)
		if (line.p[i] < ' ' && line.p[i] != '\t')
			return tmf_fail(ps, TEL_EINVAL, "not a text");
	if (line.n == 1 && *line.p == '{')
		return open_block(ps);
	if (line.n == 1 && *line.p == '}')
		return close_block(ps);
	if (ps->open)
		return take_field(ps, line);
	ps->extra = 0;
	if (*line.p == '#')
		return take_directive(ps, line);
	return take_provider(ps, line);
}

tel_status
tel__tmf_parse(struct tmf *t, const char *text, size_t n, const char *path,
    char *error, size_t error_size)
{
	struct parser ps = { .t = t,
		.path = path,
		.error = error,
		.error_size = error_size,
		.provider = -1 };
	const char *end = text + n, *p = text, *q;
	struct span line;
	tel_status st = TEL_OK;

	/* the mark of UTF-8 that some editors put in front */
	if (n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
		p += 3;
	for (; p < end && st == TEL_OK; p = q + (q < end)) {
		q = memchr(p, '\n', (size_t)(end - p));
		if (q == NULL)
			q = end;
		line.p = p;
		line.n = (size_t)(q - p);
		if (line.n > 0 && line.p[line.n - 1] == '\r')
			line.n--;
		ps.line++;
		st = tmf_take_line(&ps, line);
	}
	if (st == TEL_OK && (ps.open || ps.pending > 0))
		st = tmf_fail(&ps, TEL_EINVAL,
		    "it ends before the %s of line %u",
		    ps.open ? "} of the block" : "block of the type",
		    ps.type_line);
	return st;
}
