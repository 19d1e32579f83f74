/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The encoder of MPS streams, version 2.0.0, as of the Memory Pool System
 * 1.118, whose tools read them.  An event is a C struct of its code, size,
 * clock and parameters.  Such a stream has no losses and no descriptions of
 * types.
 */
#define _GNU_SOURCE
#include "emit.h"

#include <stdio.h>
#include <string.h>

/* Codes of the stream's metadata. */
enum {
	MPS_CLOCK_SYNC = 0x1C,
	MPS_INIT = 0x1D,
	MPS_INTERN = 0x21,
	MPS_LABEL = 0x22,
	MPS_LABEL_POINTER = 0x23,
	MPS_CODE_MAX = 0x5C
};
/* Codes below this one are the MPS's own. */
#define OWN_CODES 0x100u
/* The longest event, and string, that mpseventcnv accepts. */
#define SIZE_MAX_MPS 288u
#define STRING_MAX_MPS 255u
/* The id of the string with the name of the release. */
#define BUILD_ID 0x7FFFFFFFu

#if defined(__i386__)
#define PLATFORM "lii3"
#elif defined(__aarch64__)
#define PLATFORM "lia6"
#elif defined(__arm__)
#define PLATFORM "liar"
#else
#define PLATFORM "lii6"
#endif
#if defined(__clang__)
#define COMPILER "ll"
#else
#define COMPILER "gc"
#endif

struct header {
	uint16_t code, size;
	uint64_t clock;
};

/* An event under construction. */
struct event {
	unsigned char bytes[SIZE_MAX_MPS];
	unsigned used;
	int failed; /* it is too long */
};

static void
emit_mps_begin(struct event *e, unsigned code, uint64_t clock)
{
	struct header h = { (uint16_t)code, 0, clock };

	memset(e->bytes, 0, sizeof(e->bytes));
	memcpy(e->bytes, &h, sizeof(h));
	e->used = sizeof(h);
	e->failed = 0;
}

/* Appends an integer, aligned as in a struct. */
static void
emit_mps_add(struct event *e, uint64_t v, unsigned width)
{
	struct alignment {
		char c;
		uint64_t v;
	};
	const unsigned align =
	    width == 8 ? (unsigned)offsetof(struct alignment, v) : width;
	const uint32_t v4 = (uint32_t)v;
	const uint8_t v1 = (uint8_t)v;

	e->used = (e->used + align - 1) & ~(align - 1);
	e->failed |= e->used + width > sizeof(e->bytes);
	if (e->failed)
		return;
	unsigned char *to = e->bytes + e->used;
	memcpy(to, width == 8 ? (const void *)&v : &v4, width == 8 ? 8 : 4);
	if (width == 1)
		*to = v1;
	e->used += width;
}

static void
add_string(struct event *e, const char *s, size_t n)
{
	const size_t room = sizeof(e->bytes) - e->used;

	n = n < STRING_MAX_MPS ? n : STRING_MAX_MPS;
	n = n < room ? n : room - 1;
	e->failed |= room == 0;
	if (e->failed)
		return;
	memcpy(e->bytes + e->used, s, n);
	e->bytes[e->used + n] = '\0';
	e->used += (unsigned)n + 1;
}

/* Ends an event, and appends it to b.  0: it is too long. */
static int
emit_mps_end(struct event *e, struct tel__buffer *b)
{
	e->used =
	    (unsigned)((e->used + sizeof(void *) - 1) & ~(sizeof(void *) - 1));
	if (e->failed || e->used > sizeof(e->bytes))
		return 0;
	uint16_t size = (uint16_t)e->used;
	memcpy(e->bytes + offsetof(struct header, size), &size, sizeof(size));
	tel__buffer_put(b, e->bytes, e->used);
	return 1;
}

/*
 * The code of a type.  The types of a list named "mps" are those of the MPS;
 * others must not have their codes.
 */
static unsigned
code_of(const struct tel__emit_typed *t)
{
	switch (t->code) {
	case CODE_INTERN: return MPS_INTERN;
	case CODE_LABEL: return MPS_LABEL;
	case CODE_LABEL_POINTER: return MPS_LABEL_POINTER;
	case CODE_CLOCK_SYNC: return MPS_CLOCK_SYNC;
	default: break;
	}
	return t->code >= OWN_CODES || strcmp(PAGE->schema, "emit-mps") == 0 ?
	    t->code :
	    TEL_MPS_CODES + t->code;
}

/* The start of a stream: EventInit, and the name of the release. */
static void
emit_mps_put_start(struct tel__emit_stream *s, struct tel__buffer *b,
    uint64_t clock, unsigned types)
{
	unsigned most = MPS_CODE_MAX, code, i;
	char build[STRING_MAX_MPS];
	struct event e;

	for (i = 0; i < types; i++) {
		code = code_of(tel__emit_types.list[i]);
		most = code > most ? code : most;
	}
	emit_mps_begin(&e, MPS_INIT, clock);
	emit_mps_add(&e, 2, 4);
	emit_mps_add(&e, 0, 4);
	emit_mps_add(&e, 0, 4);
	emit_mps_add(&e, most, 4);
	emit_mps_add(&e, 19, 4);
	emit_mps_add(&e, 8 * sizeof(void *), 4);
	emit_mps_add(&e, 1000000, sizeof(void *));
	(void)emit_mps_end(&e, b);
	snprintf(build, sizeof(build),
	    "@(#)Ravenbrook MPS, product.mps, release/1.118.0, "
	    "platform." PLATFORM COMPILER ", events of %.63s by libtel-emit",
	    PAGE->program);
	emit_mps_begin(&e, MPS_INTERN, clock);
	emit_mps_add(&e, BUILD_ID, sizeof(void *));
	add_string(&e, build, strlen(build));
	(void)emit_mps_end(&e, b);
	s->started = 1;
}

/* Appends a field, at the width of its sort in the MPS: U, W, P, A, B or D. */
static void
emit_mps_add_field(struct event *e, const struct tel__emit_field *f,
    const unsigned char *from, size_t size)
{
	const unsigned width = f->letter->width;

	if (f->letter->data_type == STRING) {
		add_string(e, (const char *)from + f->offset,
		    strnlen((const char *)from + f->offset, size - f->offset));
		return;
	}
	uint64_t v = tel__emit_load(from + f->offset, width);
	if (f->letter->data_type == SIGNED && width < 4)
		v = (uint64_t)((int64_t)(v << (64 - 8 * width)) >>
		    (64 - 8 * width));
	if (f->letter->data_type == BOOLEAN)
		emit_mps_add(e, v, 1);
	else if (f->letter->data_type == DOUBLE)
		emit_mps_add(e, v, 8);
	else if (width == 8)
		emit_mps_add(e, v, sizeof(void *));
	else
		emit_mps_add(e, v, 4);
}

/* Appends an event.  0: it cannot be represented. */
static int
emit_mps_put_event(struct tel__buffer *b, const struct tel__emit_batch *batch,
    unsigned i)
{
	const struct tel__emit_typed *t = tel__emit_types.list[batch->type[i]];
	const uint64_t *row = batch->words + batch->at[i];
	struct event e;

	if (t->texts > 0)
		return 0;
	emit_mps_begin(&e, code_of(t), batch->clock[i]);
	for (unsigned k = 0; k < t->nfields; k++)
		/* the MPS has no thread */
		if (t->fields[k].offset >= 16)
			emit_mps_add_field(&e, &t->fields[k],
			    (const unsigned char *)row,
			    (size_t)(row[0] & 0xfff) * 8);
	return emit_mps_end(&e, b);
}

unsigned
tel__emit_put_mps(struct tel__emit_stream *s, struct tel__buffer *b,
    const struct tel__emit_batch *batch)
{
	unsigned i, done = 0;

	if (!s->started)
		emit_mps_put_start(s, b,
		    batch->count > 0 ? batch->clock[0] : tel__emit_ticks(),
		    batch->types);
	for (i = 0; i < batch->count; i++)
		done += (unsigned)emit_mps_put_event(b, batch, i);
	s->sequence++;
	return batch->count - done;
}
