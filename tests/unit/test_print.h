/* SPDX-License-Identifier: BSD-2-Clause */
/* Events made by hand, and an output that is caught, for tests of printers. */
#ifndef TEST_PRINT_H
#define TEST_PRINT_H

#include <stdlib.h>

#include "model/clock.h"
#include "model/event.h"
#include "model/history.h"
#include "model/labels.h"
#include "must.h"
#include "tap.h"

/* A log and the event in it that is being made. */
struct made {
	struct tel_log log;
	struct tel_event event;
	unsigned char *data; /* of the event, in a block of exactly its size */
};

/* What was printed, as a string. */
struct caught {
	char *text;
	size_t length;
};

/* What the printers of a test print to. */
static tel_output *sink;
static struct caught caught;

/* The lines before a log of the release that most tests are about. */
#define HEADER(name, version, platform) \
	"# teltools text 1\n# format: " name "\n# version: " version \
	"\n# platform: " platform "\n"
#define HEADER_118 \
	HEADER("mps-1.118.0/lii6gc", "2.0.0", "lii6gc, 64-bit, little-endian")
/* What text makes of made_alloc(). */
#define ALLOC(clock) \
	"000000000000000" clock \
	" PoolAlloc pool=0x7f00 pReturn=0xabcdef size=64\n"

static inline void
made_schema(struct made *m, struct tel_schema *schema)
{
	memset(m, 0, sizeof(*m));
	m->log.name = "test.log";
	m->log.format = "mps";
	m->log.schema = schema;
	m->log.labels = must(tel__labels_new(4000));
	m->log.clock = must(tel__clock_new());
	m->event.log = &m->log;
}

static inline void
made_new(struct made *m, const char *name)
{
	tel_schema *schema;

	if (tel_schema_new(name, &schema) != TEL_OK) {
		diag("no schema %s", name);
		exit(1);
	}
	made_schema(m, schema);
}

static inline void
made_free(struct made *m)
{
	tel__history_free(m->log.history);
	tel__labels_free(m->log.labels);
	tel__clock_free(m->log.clock);
	free(m->data);
}

/* Begins an event of a type, of that size but extra bytes more, all 0. */
static inline void
made_event(struct made *m, const struct tel_type *type, size_t extra,
    uint64_t clock)
{
	free(m->data);
	m->event.size = (uint32_t)(type->size + extra);
	m->data = must(calloc(m->event.size + (m->event.size == 0), 1));
	m->event.data = m->data;
	m->event.type = type;
	m->event.clock = clock;
	m->event.index++;
}

static inline const struct tel_type *
made_type(const struct made *m, const char *name)
{
	const struct tel_type *t = tel_schema_find_type(m->log.schema, name);

	if (t == NULL) {
		diag("no type %s", name);
		exit(1);
	}
	return t;
}

static inline void
made_begin(struct made *m, const char *name, uint64_t clock)
{
	made_event(m, made_type(m, name), 0, clock);
}

/* Stores a value in field i. */
static inline void
made_store(struct made *m, unsigned i, uint64_t v)
{
	const struct tel_field *f = &m->event.type->fields[i];
	unsigned char *p = m->data + f->offset;

	switch (f->load) {
	case TEL_LOAD_U8: *p = (unsigned char)v; break;
	case TEL_LOAD_BIT:
		*p = (unsigned char)((*p & ~(1u << f->bit)) |
		    (v != 0 ? 1u << f->bit : 0));
		break;
	case TEL_LOAD_LE16S:
	case TEL_LOAD_LE16: tel_store(p, v, 2, 0); break;
	case TEL_LOAD_LE32S:
	case TEL_LOAD_LE32: tel_store(p, v, 4, 0); break;
	case TEL_LOAD_LE64: tel_store(p, v, 8, 0); break;
	case TEL_LOAD_BE16S:
	case TEL_LOAD_BE16: tel_store(p, v, 2, 1); break;
	case TEL_LOAD_BE32S:
	case TEL_LOAD_BE32: tel_store(p, v, 4, 1); break;
	case TEL_LOAD_BE64: tel_store(p, v, 8, 1); break;
	case TEL_LOAD_LEF32:
	case TEL_LOAD_LIST:
	case TEL_LOAD_STRING:
	case TEL_LOAD_STRING_AT: break;
	}
}

static inline void
made_set(struct made *m, const char *field, uint64_t v)
{
	int i = tel_type_find_field(m->event.type, field);

	if (i < 0) {
		diag("no field %s", field);
		exit(1);
	}
	made_store(m, (unsigned)i, v);
}

/* An Intern event with a string of n bytes. */
static inline void
made_intern(struct made *m, uint64_t id, const char *s, size_t n)
{
	const struct tel_type *t = made_type(m, "Intern");

	made_event(m, t, n, 1);
	made_set(m, "stringId", id);
	memcpy(m->data + t->fields[1].offset, s, n);
}

/* A PoolAlloc event, the same each time. */
static inline void
made_alloc(struct made *m, uint64_t clock)
{
	made_begin(m, "PoolAlloc", clock);
	made_set(m, "pool", 0x7f00);
	made_set(m, "pReturn", 0xabcdef);
	made_set(m, "size", 64);
}

static inline ptrdiff_t
caught_write(void *arg, const void *data, size_t size)
{
	struct caught *c = arg;

	c->text = must(realloc(c->text, c->length + size + 1));
	memcpy(c->text + c->length, data, size);
	c->length += size;
	c->text[c->length] = '\0';
	return (ptrdiff_t)size;
}

/* Forgets what was caught. */
static inline void
caught_clear(struct caught *c)
{
	free(c->text);
	c->text = NULL;
	c->length = 0;
}

static inline tel_printer *
new_printer(tel_format format)
{
	return must(tel_printer_new(sink, format));
}

/* Ends the printer and compares what it has printed. */
static inline void
is_printed(tel_printer *p, const char *want, const char *what)
{
	if (tel_printer_finish(p) != TEL_OK || tel_output_flush(sink) != TEL_OK)
		ok(0, "%s: the printer fails", what);
	tel_printer_free(p);
	is_str(caught.text == NULL ? "" : caught.text, want, "%s", what);
	caught_clear(&caught);
}

static inline void
print(tel_printer *p, const struct made *m)
{
	tel_status st = tel_printer_event(p, &m->event);

	if (st != TEL_OK)
		ok(0, "printing: %s: %s", tel_status_text(st),
		    tel_printer_error(p));
}

static inline void
add_label(struct made *m, enum tel_space space, uint64_t address,
    uint64_t clock, uint64_t id)
{
	if (tel__labels_add(m->log.labels, space, address, clock, id) != TEL_OK)
		ok(0, "no label");
}

/*
 * The pool is labelled `he"ap` from 100 on; the block with a string that is
 * not known.
 */
static inline void
add_labels(struct made *m)
{
	enum tel_space space =
	    m->log.schema->split_space ? TEL_SPACE_POINTER : TEL_SPACE_ADDRESS;

	if (tel__labels_intern(m->log.labels, 1, "he\"ap", 5) != TEL_OK)
		ok(0, "no string");
	add_label(m, space, 0x7f00, 100, 1);
	add_label(m, TEL_SPACE_ADDRESS, 0xabcdef, 0, 26);
	/* only old versions of mpseventtxt take a word for an address */
	add_label(m, TEL_SPACE_ADDRESS, 64, 0, 1);
}

/* Runs a test with an output of its own. */
static inline void
run(void (*test)(void))
{
	sink = must(tel_output_new_callback(caught_write, &caught));
	test();
	tel_output_free(sink);
	caught_clear(&caught);
}

#endif
