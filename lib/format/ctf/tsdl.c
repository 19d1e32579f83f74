/* SPDX-License-Identifier: BSD-2-Clause */
/* The blocks of TSDL: trace, env, clock, stream and event. */
#include "format/ctf/tsdl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The block that is being read; one of the pointers is set. */
struct block {
	struct ctf_stream_class *stream;
	struct ctf_event_class *event;
	struct ctf_clock *clock;
	int trace, environment;
};

static int
tsdl_set_uuid(struct tsdl *t, const char *text)
{
	static const char hex[] = "0123456789abcdef";
	unsigned char uuid[16] = { 0 };
	const char *digit;
	unsigned n = 0;

	for (; *text != '\0' && n <= 32; text++) {
		if (*text == '-')
			continue;
		digit = strchr(hex, *text >= 'A' ? *text | 0x20 : *text);
		if (digit == NULL || n == 32)
			break;
		uuid[n / 2] = (unsigned char)(uuid[n / 2] << 4 | (digit - hex));
		n++;
	}
	if (n < 32 || *text != '\0')
		return tel__ctf_error(t->error, t->token.line, "invalid UUID");
	memcpy(t->m->uuid, uuid, sizeof(uuid));
	t->m->has_uuid = 1;
	return 1;
}

/* A structure that a block sets: where it goes, NULL: not in this block. */
static const struct ctf_class **
block_class(struct tsdl *t, const struct block *b, const char *name)
{
	if (b->trace && strcmp(name, "packet.header") == 0)
		return &t->m->packet_header;
	if (b->stream != NULL && strcmp(name, "packet.context") == 0)
		return &b->stream->packet_context;
	if (b->stream != NULL && strcmp(name, "event.header") == 0)
		return &b->stream->event_header;
	if (b->stream != NULL && strcmp(name, "event.context") == 0)
		return &b->stream->event_context;
	if (b->event != NULL && strcmp(name, "context") == 0)
		return &b->event->context;
	if (b->event != NULL && strcmp(name, "fields") == 0)
		return &b->event->payload;
	return NULL;
}

static int
tsdl_block_class(struct tsdl *t, const struct block *b, const char *name)
{
	const struct ctf_class **to = block_class(t, b, name);
	struct declarator d;

	tel__tsdl_advance(t);
	const struct ctf_class *c = tel__tsdl_type(t);
	if (c == NULL || !tel__tsdl_declarator(t, &d))
		return 0;
	if (to == NULL)
		return 1;
	if (c->kind != CTF_STRUCT || d.nsizes > 0)
		return tel__ctf_error(t->error, t->token.line,
		    "%s is not a structure", name);
	*to = c;
	return 1;
}

static int
block_number(struct tsdl *t, const struct block *b, const struct attribute *a)
{
	struct ctf_stream_class *s = b->stream;
	struct ctf_event_class *e = b->event;
	struct ctf_clock *c = b->clock;

	if (s != NULL && strcmp(a->name, "id") == 0) {
		s->id = a->number;
		s->has_id = 1;
	} else if (e != NULL && strcmp(a->name, "id") == 0) {
		e->id = a->number;
	} else if (e != NULL && strcmp(a->name, "stream_id") == 0) {
		e->stream_id = a->number;
	} else if (c != NULL && strcmp(a->name, "freq") == 0) {
		if (a->number == 0)
			return tel__ctf_error(t->error, t->token.line,
			    "a clock of frequency 0");
		c->frequency = a->number;
	} else if (c != NULL && strcmp(a->name, "offset_s") == 0) {
		c->seconds = (int64_t)a->number;
	} else if (c != NULL && strcmp(a->name, "offset") == 0) {
		c->cycles = (int64_t)a->number;
	} else if (b->trace && strcmp(a->name, "major") == 0 &&
	    a->number != 1) {
		return tel__ctf_error(t->error, t->token.line,
		    "version %llu of CTF in TSDL; expected 1.8",
		    (unsigned long long)a->number);
	}
	return 1;
}

static int
block_word(struct tsdl *t, const struct block *b, const struct attribute *a)
{
	enum ctf_order order;

	if (b->clock != NULL && strcmp(a->name, "name") == 0)
		b->clock->name = a->word;
	else if (b->event != NULL && strcmp(a->name, "name") == 0)
		b->event->name = a->word;
	else if (b->trace && strcmp(a->name, "uuid") == 0)
		return tsdl_set_uuid(t, a->word);
	else if (b->trace && strcmp(a->name, "byte_order") == 0) {
		if (!tel__tsdl_order(t, a, &order))
			return 0;
		t->m->big = order == CTF_BIG;
	}
	return 1;
}

static int
block_environment(struct tsdl *t, const struct attribute *a)
{
	struct ctf_attribute *e = tel__arena_alloc(&t->m->arena, sizeof(*e));
	char number[24];

	if (e == NULL)
		return tel__tsdl_no_memory(t);
	snprintf(number, sizeof(number), "%lld", (long long)a->number);
	e->name = a->name;
	e->value = a->word != NULL ? a->word :
	                             tel__tsdl_copy(t, number, strlen(number));
	*t->last_attribute = e;
	t->last_attribute = &e->next;
	return e->value != NULL;
}

/* Takes the entries of a block up to '}' and ';'. */
static int
tsdl_block(struct tsdl *t, const struct block *b)
{
	struct attribute a;
	int matched;

	if (!tel__tsdl_expect(t, '{') || !tel__tsdl_open_scope(t))
		return 0;
	while (!tel__tsdl_accept(t, '}')) {
		if (!tel__tsdl_declaration(t, &matched))
			return 0;
		if (matched)
			continue;
		a.name = tel__tsdl_dotted(t);
		if (a.name == NULL)
			return 0;
		if (t->token.kind == TOKEN_ASSIGN_TYPE) {
			if (!tsdl_block_class(t, b, a.name) ||
			    !tel__tsdl_expect(t, ';'))
				return 0;
			continue;
		}
		if (!tel__tsdl_value(t, &a))
			return 0;
		if (b->environment     ? !block_environment(t, &a) :
		        a.word != NULL ? !block_word(t, b, &a) :
		                         !block_number(t, b, &a))
			return 0;
	}
	t->depth--;
	return tel__tsdl_expect(t, ';');
}

/* Skips a block that is of no use, its blocks included. */
static int
tsdl_skip_block(struct tsdl *t)
{
	unsigned depth = 0;

	do {
		if (tel__tsdl_at(t, '{'))
			depth++;
		else if (tel__tsdl_at(t, '}'))
			depth--;
		if (t->token.kind == TOKEN_END ||
		    t->token.kind == TOKEN_INVALID)
			return tel__tsdl_fail(t, "'}'");
		tel__tsdl_advance(t);
	} while (depth > 0);
	return tel__tsdl_expect(t, ';');
}

static int
tsdl_clock(struct tsdl *t)
{
	struct ctf_clock *c = tel__arena_alloc(&t->m->arena, sizeof(*c));
	struct block b = { NULL, NULL, NULL, 0, 0 };

	if (c == NULL)
		return tel__tsdl_no_memory(t);
	c->frequency = 1000000000;
	c->name = "";
	b.clock = c;
	if (!tsdl_block(t, &b))
		return 0;
	c->next = t->m->clocks;
	t->m->clocks = c;
	return 1;
}

static int
tsdl_stream(struct tsdl *t)
{
	struct ctf_stream_class **last = &t->m->streams;
	struct block b = { NULL, NULL, NULL, 0, 0 };
	struct ctf_stream_class *s;

	b.stream = s = tel__arena_alloc(&t->m->arena, sizeof(*s));
	if (s == NULL)
		return tel__tsdl_no_memory(t);
	if (++t->nstreams > CTF_STREAM_CLASSES_MAX)
		return tel__ctf_error(t->error, t->token.line,
		    "more than %u classes of streams", CTF_STREAM_CLASSES_MAX);
	if (!tsdl_block(t, &b))
		return 0;
	for (; *last != NULL; last = &(*last)->next)
		if ((*last)->id == s->id)
			return tel__ctf_error(t->error, t->token.line,
			    "two streams have the id %llu",
			    (unsigned long long)s->id);
	*last = s;
	return 1;
}

static int
tsdl_event(struct tsdl *t, struct ctf_event_class ***last)
{
	struct block b = { NULL, NULL, NULL, 0, 0 };
	struct ctf_event_class *e;

	b.event = e = tel__arena_alloc(&t->m->arena, sizeof(*e));
	if (e == NULL)
		return tel__tsdl_no_memory(t);
	if (!tsdl_block(t, &b))
		return 0;
	**last = e;
	*last = &e->next;
	t->m->nevents++;
	return 1;
}

static int
tsdl_text(struct tsdl *t)
{
	struct ctf_event_class **last = &t->m->events;
	struct block b = { NULL, NULL, NULL, 0, 0 };
	int good = 1, matched;

	tel__tsdl_advance(t);
	while (good && t->token.kind != TOKEN_END) {
		memset(&b, 0, sizeof(b));
		b.trace = tel__tsdl_is(&t->token, "trace");
		b.environment = tel__tsdl_is(&t->token, "env");
		if (b.trace || b.environment) {
			tel__tsdl_advance(t);
			good = tsdl_block(t, &b);
		} else if (tel__tsdl_accept_word(t, "clock")) {
			good = tsdl_clock(t);
		} else if (tel__tsdl_accept_word(t, "stream")) {
			good = tsdl_stream(t);
		} else if (tel__tsdl_accept_word(t, "event")) {
			good = tsdl_event(t, &last);
		} else if (tel__tsdl_accept_word(t, "callsite")) {
			good = tsdl_skip_block(t);
		} else if (tel__tsdl_accept(t, ';')) {
			continue;
		} else {
			good = tel__tsdl_declaration(t, &matched);
			if (!good || matched)
				continue;
			const struct ctf_class *c = tel__tsdl_type(t);
			good = c != NULL &&
			    (tel__tsdl_accept_word(t, "typedef") ?
			            tel__tsdl_typedefs(t, c) :
			            tel__tsdl_expect(t, ';'));
		}
	}
	return good && t->error->text[0] == '\0';
}

int
tel__ctf_tsdl(struct ctf_metadata *m, const char *text, size_t size,
    struct ctf_error *e)
{
	struct tsdl t = { 0 };

	t.lexer.p = text;
	t.lexer.end = text + size;
	t.lexer.line = 1;
	t.lexer.arena = &m->arena;
	t.m = m;
	t.error = e;
	tel__index_init(&t.index);
	t.last_attribute = &m->environment;
	m->version = 1;
	e->text[0] = '\0';
	int good = tel__tsdl_open_scope(&t) && tsdl_text(&t);
	tel__index_clear(&t.index);
	free(t.aliases);
	return good;
}
