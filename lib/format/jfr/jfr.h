/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Java Flight Recorder, version 2: tel-jfr(5).
 *
 * A recording is chunks, each with its own metadata and constant pools near its
 * end, so a chunk is held.  Its metadata become a schema, and for each type of
 * events a program that makes a row, little-endian and at fixed offsets, of an
 * event (program.c).  Chunks with the same metadata share both.
 */
#ifndef TEL_JFR_H
#define TEL_JFR_H

#include "base/buffer.h"
#include "base/index.h"
#include "base/table.h"
#include "reader/reader.h"

#define JFR_HEADER 68u
#define JFR_MAJOR_MAX 2u
/* Documented limits: bytes of a chunk, classes, fields of a class. */
#define JFR_CHUNK_MAX ((uint64_t)1 << 30)
#define JFR_CLASSES_MAX 16384u
#define JFR_FIELDS_MAX 1024u
/* How deep structs are in each other, and pools refer to pools. */
#define JFR_DEPTH_MAX 6u
/* Bytes of chunks that are held, to sort events that overlap them. */
#define JFR_HELD ((uint64_t)1 << 24)
/* Bytes that a chunk takes beside its own, at least. */
#define JFR_CHUNK_COST ((uint64_t)1 << 14)

#define JFR_NONE UINT32_MAX

/* Bytes that are read one after the other; those past the end are 0. */
struct jfr_bytes {
	const unsigned char *p, *end;
	int bad; /* more was wanted than there is, or it is invalid */
};

/* A varint: 7 bits a byte, least first, the ninth with 8. */
uint64_t tel__jfr_varint_long(struct jfr_bytes *b);

static inline uint64_t
jfr_varint(struct jfr_bytes *b)
{
	const unsigned char *p = b->p;

	if (p < b->end && p[0] < 0x80) {
		b->p = p + 1;
		return p[0];
	}
	if (b->end - p >= 2 && p[1] < 0x80) {
		b->p = p + 2;
		return (p[0] & 0x7fu) | (uint64_t)p[1] << 7;
	}
	return tel__jfr_varint_long(b);
}

static inline void
jfr_skip_varint(struct jfr_bytes *b)
{
	const unsigned char *p = b->p;

	for (unsigned i = 0; i < 9 && p < b->end; i++)
		if (*p++ < 0x80 || i == 8) {
			b->p = p;
			return;
		}
	b->p = b->end;
	b->bad = 1;
}

/* n bytes, or NULL. */
static inline const unsigned char *
jfr_take(struct jfr_bytes *b, uint64_t n)
{
	const unsigned char *p = b->p;

	if (n > (uint64_t)(b->end - p)) {
		b->bad = 1;
		b->p = b->end;
		return NULL;
	}
	b->p += n;
	return p;
}

/* The next byte; 0, when there is none. */
static inline unsigned char
jfr_byte(struct jfr_bytes *b)
{
	const unsigned char *p = jfr_take(b, 1);

	return p == NULL ? 0 : *p;
}

/* ------------------------------------------------------------ metadata */

/* What values of a class are. */
enum jfr_kind {
	JFR_STRUCT,
	JFR_BOOLEAN,
	JFR_BYTE,
	JFR_SHORT,
	JFR_CHAR,
	JFR_INT,
	JFR_LONG,
	JFR_FLOAT,
	JFR_DOUBLE,
	JFR_STRING,
	/* structs that are shown by a name */
	JFR_NAMED,  /* the field .name_field */
	JFR_LOADER, /* the same, or the name of its type */
	JFR_METHOD,
	JFR_THREAD,
	JFR_STACK
};

/* How numbers are converted. */
enum jfr_scale {
	JFR_PLAIN,
	JFR_TICKS_SPAN,
	JFR_TICKS_TIME,
	JFR_THOUSANDS, /* microseconds to nanoseconds */
	JFR_MILLIONS,  /* milliseconds */
	JFR_BILLIONS   /* seconds */
};

struct jfr_field {
	const char *name;
	uint32_t class; /* its place, or JFR_NONE */
	uint8_t pool, list;
	uint8_t scale; /* enum jfr_scale */
	uint8_t unit;  /* enum tel_unit */
	uint8_t is_unsigned, is_address;
	const char *doc; /* its description, or its label; NULL */
};

struct jfr_class {
	const char *name;
	uint64_t id;
	uint32_t first, count; /* of its fields */
	uint8_t kind;          /* enum jfr_kind */
	uint8_t is_event;
	uint8_t simple;
	uint8_t found;       /* fields in it are being added: it is in itself */
	uint8_t typed;       /* it has a type */
	uint32_t name_field; /* from .first */
	char *category;      /* events: owned */
	const char *doc;     /* as of a field */
	uint32_t start;      /* events: which field is the time, from .first */
	uint32_t type_index;
	uint32_t entry, nops; /* their program */
	uint32_t row;         /* bytes of the fixed part */
};

/* What an op does with the next value of the event. */
enum jfr_code {
	OP_SKIP, /* a value of .field */
	OP_TIME, /* startTime, which is the clock */
	OP_BOOLEAN,
	OP_BYTE,
	OP_UNSIGNED_BYTE,
	OP_CHAR,
	OP_INTEGER, /* of .width bytes */
	OP_SCALED,  /* a long, in the unit of .scale */
	OP_NARROW,  /* the same of fewer bytes, which becomes a long */
	OP_FLOAT,
	OP_DOUBLE,
	OP_STRING,
	OP_NAME, /* the name of a value in a pool */
	OP_THREAD,
	OP_STACK,
	OP_LIST,
	/* the next .count ops read a value in a pool, if it is there */
	OP_POOL
};

struct jfr_op {
	uint8_t code; /* enum jfr_code */
	uint8_t width, scale, present;
	uint16_t present_at, at; /* in the row */
	uint32_t class;
	/* OP_POOL: ops; OP_THREAD: where the bit of the numbers is, .width */
	uint32_t count;
	uint32_t field; /* of the layout */
	/* OP_LIST: the list, which member of a struct, JFR_NONE: none */
	uint32_t list, member;
	uint8_t element; /* enum jfr_code of one */
	uint8_t last;    /* it is the last one that reads the list */
};

/* What the metadata of a chunk say. */
struct jfr_layout {
	struct jfr_layout *next;
	unsigned char *bytes; /* the metadata, to be compared */
	size_t size;
	char **strings;
	size_t nstrings;
	struct jfr_class *classes;
	size_t nclasses, class_room;
	struct jfr_field *fields;
	size_t nfields, field_room;
	struct tel__table by_id;
	uint32_t string_class;     /* JFR_NONE: none */
	uint16_t direct[4096];     /* place of the class of a small id, and 1 */
	struct tel_schema *schema; /* the reader's */
	struct jfr_op *ops;
	size_t nops, op_room;
};

static inline uint32_t
jfr_class_of(const struct jfr_layout *l, uint64_t id)
{
	if (id < sizeof(l->direct) / sizeof(l->direct[0]))
		return (uint32_t)l->direct[id] - 1u;
	const struct tel__entry *e = tel__table_find(&l->by_id, id);
	return e != NULL ? (uint32_t)e->value : JFR_NONE;
}

/*
 * Reads metadata, from behind the metadata id.  TEL_OK, TEL_ENOMEM, or
 * TEL_EFORMAT: they are invalid, and *why has the reason.
 */
tel_status tel__jfr_metadata(struct jfr_layout *l, struct jfr_bytes b,
    const char **why);
/* Makes the schema and the programs.  TEL_OK, TEL_ENOMEM. */
tel_status tel__jfr_compile(struct tel_reader *r, struct jfr_layout *l,
    unsigned major, unsigned minor);
void tel__jfr_layout_free(struct jfr_layout *l);

/* -------------------------------------------------------------- chunks */

/* A value in a pool. */
struct jfr_value {
	uint64_t key;
	uint32_t at; /* of its bytes in the chunk */
	uint32_t
	    name; /* of its text in the chunk's texts; the frame of a stack */
	uint32_t size;  /* of that */
	uint32_t state; /* enum jfr_state */
};

enum jfr_state {
	STATE_UNREAD,
	STATE_READING, /* a circle comes here again */
	STATE_NAMED,
	STATE_NULL
};

struct jfr_pool {
	struct jfr_value *values; /* mask + 1 */
	size_t mask, count;
};

/* The numbers and the name of a thread, by its key in the pool. */
struct jfr_thread {
	uint64_t key; /* 0: none */
	uint64_t os, java;
	const struct jfr_value *name; /* NULL: it has none */
};
#define JFR_THREADS 64u

/* Where an event is. */
struct jfr_event {
	uint64_t clock;
	uint32_t at;
	uint16_t class;
	uint8_t head; /* bytes of its size and its type */
};

struct jfr_chunk {
	struct jfr_chunk *next;
	struct jfr_layout *layout;
	unsigned char *bytes;
	uint64_t size;
	size_t room;
	uint64_t offset; /* in the log */
	/* of the header */
	unsigned major, minor;
	uint64_t checkpoint, metadata;
	int64_t start_ns, start_ticks;
	double divisor; /* ticks of a nanosecond */
	unsigned state;
	int indexed;              /* its events were found */
	struct jfr_event *events; /* in order of time */
	size_t nevents, event_room, done;
	struct jfr_pool *pools; /* by class */
	struct tel__buffer texts;
	unsigned depth; /* of names that are being made */
	struct jfr_thread threads[JFR_THREADS];
};

struct jfr {
	struct jfr_layout *layouts;   /* the last one that was made first */
	struct jfr_layout *layout;    /* of the last chunk */
	struct tel__table by_content; /* layouts, by a hash of their metadata */
	struct jfr_chunk *chunks;     /* that are held, in order of the file */
	void **heap; /* those with events, that of the next one first */
	size_t nheap, heap_room;
	int fresh;               /* the events of some were not yet found */
	struct jfr_chunk *ended; /* to be freed when no event of it is used */
	/* memory of one that was freed, for the next */
	unsigned char *spare;
	size_t spare_room;
	/* behind a chunk that a header was found in: to be read once more */
	struct tel__buffer again;
	size_t again_at;
	uint64_t held;   /* bytes of them */
	uint64_t latest; /* the clock of the last event */
	uint64_t late;
	unsigned major_max;       /* that a header may have */
	int newer;                /* reported that a chunk is */
	int over;                 /* nothing more to read */
	int unfinished;           /* the last chunk was still written to */
	struct tel__index frames; /* of the log's labels, by their content */
	struct tel__buffer name;  /* of a frame that is made */
	/* the rows of the events that were found */
	unsigned char *rows;
	size_t used, row_room;
	const char *why; /* an event is invalid */
};

/*
 * The ns of a span in ticks.  A span that is too long is the largest number, as
 * in Java.
 */
static inline int64_t
jfr_span(const struct jfr_chunk *c, int64_t ticks)
{
	const double ns = (double)ticks / c->divisor;

	if (!(ns < (double)INT64_MAX))
		return INT64_MAX;
	return ns <= (double)INT64_MIN ? INT64_MIN : (int64_t)ns;
}

/* The number of ns that ticks, of a chunk, are. */
static inline uint64_t
jfr_ns(const struct jfr_chunk *c, uint64_t ticks)
{
	const int64_t since = (int64_t)(ticks - (uint64_t)c->start_ticks);

	/* as the JDK's tool does */
	if (c->divisor > 0.999999999 && c->divisor < 1.000000001)
		return (uint64_t)c->start_ns + (uint64_t)since;
	return (uint64_t)c->start_ns + (uint64_t)jfr_span(c, since);
}

/* Steps over a value of a field, or of a class. */
void tel__jfr_skip(struct jfr_bytes *b, const struct jfr_layout *l,
    uint32_t field, unsigned depth);
void tel__jfr_skip_class(struct jfr_bytes *b, const struct jfr_layout *l,
    uint32_t class, unsigned depth);

/*
 * Reads the pools of a chunk.  TEL_OK, TEL_ENOMEM; TEL_EFORMAT: some could not
 * be read.
 */
tel_status tel__jfr_pools(struct jfr_chunk *c);
void tel__jfr_pools_free(struct jfr_chunk *c);
/* The value of a class with a key; NULL: it is not there. */
struct jfr_value *tel__jfr_find(const struct jfr_chunk *c, uint32_t class,
    uint64_t key);
/*
 * The text that stands for a value of a pool, in c->texts; NULL: none, or no
 * memory, which c->texts knows.
 */
const struct jfr_value *tel__jfr_name(struct jfr_chunk *c, uint32_t class,
    uint64_t key);
/* A string in an event, or in a value: as tel__jfr_read_text(). */
int tel__jfr_string(struct jfr_chunk *c, struct jfr_bytes *b,
    struct tel__buffer *out);
/* Makes frames of the stacks of a chunk.  TEL_OK, TEL_ENOMEM. */
tel_status tel__jfr_stacks(struct tel_reader *r, struct jfr *j,
    struct jfr_chunk *c);

/*
 * Makes the row of an event at j->rows + j->used, and steps over it: *size of
 * the row, *raw_size of the event.  TEL_OK; TEL_END: it does not fit, and there
 * are others; TEL_ENOMEM.  j->why is set where the event is invalid: then the
 * fields behind are empty.
 */
tel_status tel__jfr_row(struct jfr *j, struct jfr_chunk *c,
    const struct jfr_event *ev, uint32_t *size, uint32_t *raw_size);

/* Reads the next chunk.  TEL_OK, TEL_END, or a failure. */
tel_status tel__jfr_load(struct tel_reader *r, struct jfr *j);
void tel__jfr_chunk_free(struct jfr_chunk *c);
/*
 * Finds the events of the chunks that are held, for the first time.  Those
 * without any are freed.  TEL_OK, or a failure.
 */
tel_status tel__jfr_index(struct tel_reader *r, struct jfr *j);
/* Nonzero when the next event of a chunk comes before that of another. */
int tel__jfr_comes_before(const void *a, const void *b);

/* The size of an event at p, and in *id its type; 0: it is invalid. */
static inline uint32_t
jfr_event_size(struct jfr_bytes *b, uint64_t *id)
{
	const unsigned char *start = b->p;
	const uint64_t size = jfr_varint(b);

	*id = jfr_varint(b);
	if (b->bad || size < (uint64_t)(b->p - start) ||
	    size > (uint64_t)(b->end - start))
		return 0;
	return (uint32_t)size;
}

#endif
