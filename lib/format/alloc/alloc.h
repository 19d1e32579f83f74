/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traces of allocators that other tools write, as lines of text: tel-alloc(5)
 * describes them.  A dialect parses its own lines; all else is the same for all
 * of them.
 *
 * An event's bytes are its code and its size, four bytes each, its clock and
 * then eight bytes a field, all little-endian; a string is behind them.
 */
#ifndef TEL_ALLOC_H
#define TEL_ALLOC_H

#include "base/digit.h"
#include "reader/lines.h"

/* The longest line, its end included; a longer one is damage. */
#define AL_LINE_MAX 65535u
/* Calls that have begun and not ended, in traces where they may. */
#define AL_HELD_MAX 256u
/* The longest line that begins one. */
#define AL_HELD_LINE 240u
/* The longest name of a place that is kept as its label. */
#define AL_LABEL_MAX 255u
/* The longest name of an instruction, with those that it is inlined into. */
#define AL_NAME_MAX 16384u
/* The most bytes of lines without an event that are kept to be passed on. */
#define AL_LEAD_MAX 65536u
#define AL_HEADER 16u
#define AL_FIELDS_MAX 8u
/* The longest event without a string. */
#define AL_EVENT_MAX (AL_HEADER + 8 * AL_FIELDS_MAX)

/* What a number in a line is: the fields that types are made of. */
#define AL_VALUE_LIST(VALUE) \
	VALUE(AL_ADDRESS, "address", 'a', 'a', TEL_PART_ADDRESS) \
	VALUE(AL_OLD, "old", 'o', 'a', TEL_PART_OLD) \
	VALUE(AL_SIZE, "size", 's', 'u', TEL_PART_SIZE) \
	VALUE(AL_COUNT, "count", 'c', 'u', TEL_PART_COUNT) \
	VALUE(AL_ALIGNMENT, "alignment", 'l', 'u', TEL_PART_ALIGNMENT) \
	VALUE(AL_ID, "id", 'i', 'i', \
	    TEL_PART_ADDRESS) /* of a block that has no address */ \
	VALUE(AL_TID, "tid", 't', 'u', TEL_PART_THREAD) \
	VALUE(AL_PID, "pid", 'p', 'u', TEL_PART_PROCESS) \
	VALUE(AL_DURATION, "duration", 'd', 'u', -1) \
	VALUE(AL_CALLER, "caller", 'w', 'a', TEL_PART_STACK) \
	VALUE(AL_TRACE, "trace", 'x', 'u', TEL_PART_STACK) \
	VALUE(AL_NUMBER, "number", 'N', 'u', -1) \
	VALUE(AL_IP, "ip", 'I', 'a', -1) \
	VALUE(AL_PARENT, "parent", 'P', 'u', -1) \
	VALUE(AL_PAGES, "pages", 'R', 'u', -1) \
	VALUE(AL_TIME, "milliseconds", 'M', 'u', -1) \
	VALUE(AL_TEXT, "text", 'T', 'S', -1)

enum al_value {
#define AL_VALUE(value, name, letter, row, part) value,
	AL_VALUE_LIST(AL_VALUE)
#undef AL_VALUE
	    AL_VALUES
};

/*
 * The types of all dialects, each of which has some: TYPE(number, name, kind,
 * role, the letters of its fields).
 */
#define AL_TYPE_LIST(TYPE) \
	TYPE(AL_MALLOC, "malloc", "Alloc", TEL_ROLE_ALLOC, "as") \
	TYPE(AL_CALLOC, "calloc", "Alloc", TEL_ROLE_ALLOC, "acs") \
	TYPE(AL_REALLOC, "realloc", "Alloc", TEL_ROLE_REALLOC, "aos") \
	TYPE(AL_REALLOCARRAY, "reallocarray", "Alloc", TEL_ROLE_REALLOC, \
	    "aocs") \
	TYPE(AL_MEMALIGN, "memalign", "Alloc", TEL_ROLE_ALLOC, "als") \
	TYPE(AL_POSIX_MEMALIGN, "posix_memalign", "Alloc", TEL_ROLE_ALLOC, \
	    "als") \
	TYPE(AL_ALIGNED_ALLOC, "aligned_alloc", "Alloc", TEL_ROLE_ALLOC, \
	    "als") \
	TYPE(AL_VALLOC, "valloc", "Alloc", TEL_ROLE_ALLOC, "as") \
	TYPE(AL_PVALLOC, "pvalloc", "Alloc", TEL_ROLE_ALLOC, "as") \
	TYPE(AL_NEW, "new", "Alloc", TEL_ROLE_NEW, "as") \
	TYPE(AL_NEW_ARRAY, "new_array", "Alloc", TEL_ROLE_NEW, "as") \
	TYPE(AL_NEW_ALIGNED, "new_aligned", "Alloc", TEL_ROLE_NEW, "als") \
	TYPE(AL_FREE, "free", "Alloc", TEL_ROLE_FREE, "a") \
	TYPE(AL_DELETE, "delete", "Alloc", TEL_ROLE_DELETE, "a") \
	TYPE(AL_DELETE_ARRAY, "delete_array", "Alloc", TEL_ROLE_DELETE, "a") \
	TYPE(AL_THREAD_DONE, "thread_done", "Thread", TEL_ROLE_THREAD_END, "") \
	TYPE(AL_TRACED, "malloc", "Alloc", TEL_ROLE_ALLOC, \
	    "asx") /* malloc with the number of its backtrace */ \
	TYPE(AL_BACKTRACE, "trace", "Trace", TEL_ROLE_FRAME, "NIP") \
	TYPE(AL_CLOCK, "clock", "Log", TEL_ROLE_NONE, "M") \
	TYPE(AL_RESIDENT, "resident", "Memory", TEL_ROLE_NONE, "R") \
	TYPE(AL_NOTE, "note", "Log", TEL_ROLE_NONE, "T") \
	TYPE(AL_ID_MALLOC, "malloc", "Alloc", TEL_ROLE_ALLOC, "is") \
	TYPE(AL_ID_REALLOC, "realloc", "Alloc", TEL_ROLE_REALLOC, "is") \
	TYPE(AL_ID_FREE, "free", "Alloc", TEL_ROLE_FREE, "i") \
	TYPE(AL_DELETE_SIZED, "delete_sized", "Alloc", TEL_ROLE_DELETE_SIZED, \
	    "a") \
	TYPE(AL_FREE_SIZED, "free_sized", "Alloc", TEL_ROLE_FREE_SIZED, "as") \
	TYPE(AL_ID_TRACED, "malloc", "Alloc", TEL_ROLE_ALLOC, \
	    "isx") /* the same of a block that has no address */

enum al_type {
#define AL_TYPE(type, name, kind, role, fields) type,
	AL_TYPE_LIST(AL_TYPE)
#undef AL_TYPE
	    AL_TYPES,
	AL_NO_TYPE = AL_TYPES /* a call that is not an operation */
};

/*
 * A function as lines call it.  Letters say what its arguments are: a, o, s,
 * c, l: the first five of enum al_value; '-': nothing that is kept.
 */
struct al_call {
	const char *name;
	uint8_t length;
	uint8_t prefix; /* names that begin so are it, too */
	uint8_t type;
	const char *arguments;
};

/*
 * Seconds below this, in ns, are differences, or count from the start of the
 * trace; others count from 1970.
 */
#define AL_RELATIVE_MAX ((uint64_t)100000000 * 1000000000)

/* What a line turns out to be. */
enum al_line {
	AL_EVENT,        /* the event of s->kind */
	AL_COMMENT,      /* a line of the format without an event */
	AL_OTHER_OUTPUT, /* what the program said that was traced */
	AL_MORE,         /* the first of two lines that are one event */
	AL_WRONG,        /* damage: al_wrong() */
	AL_NO_MEMORY,    /* for what the line defines */
	AL_BEGUN         /* the start of a call, the end of which is to come */
};

struct al;
struct al_ahead;
struct al_definitions;

struct al_dialect {
	const char *name;
	const char *what; /* its name for messages */
	/* Takes the line from p apart; *s->line.end ends any token. */
	enum al_line (*parse)(struct al *s, const unsigned char *p);
	uint32_t types;  /* bits by enum al_type */
	const char *all; /* letters of fields that all its types have */
	int timed;       /* its clock is in ns from the first line on */
	int mixed;       /* output of the traced program in between */
	int score;       /* of a line of its */
	int stateful;    /* what a line means depends on those before */
	int defines;     /* what lines define is kept, in s->definitions */
};

extern const struct al_dialect tel__al_android, tel__al_logalloc,
    tel__al_mtrace, tel__al_heaptrack, tel__al_heaptrack_data, tel__al_valgrind,
    tel__al_ltrace, tel__al_kdump, tel__al_rep;

/* How the event of a type is made of values. */
struct al_shape {
	const struct tel_type *type; /* NULL: the dialect has none such */
	uint8_t nfields;
	uint8_t value[AL_FIELDS_MAX];
	uint8_t text;  /* the last one is a string */
	uint8_t label; /* the field that a name of a place labels */
};

/* A call that has begun. */
struct al_pending_call {
	uint64_t pid;
	const struct al_call *call;
	uint64_t v[AL_ALIGNMENT + 1];
	uint64_t nested; /* unfinished calls within it, as of reallocarray() */
	uint16_t size;
	unsigned char line[AL_HELD_LINE];
};

/* What a line may leave behind for others, so that it can be taken back. */
struct al_parser_state {
	uint64_t number;   /* counts lines, from 1 */
	uint64_t sum;      /* ltrace -r: of all differences */
	uint64_t frames;   /* heaptrack: of backtraces, so far */
	uint64_t inner;    /* ltrace: calls within calls that have begun */
	uint64_t promised; /* rep: operations, from the header */
	unsigned headers;  /* rep: lines of the header that have come */
};

struct al {
	const struct al_dialect *d;
	struct al_shape shape[AL_TYPES];

	struct tel_line line; /* .step: of the first of two, too */

	/* What parse found. */
	enum al_type kind;
	uint64_t v[AL_VALUES];
	const unsigned char *text; /* a string, or the label of the caller */
	size_t text_size;
	int has_time;                        /* the line has a clock, */
	uint64_t time;                       /* in ns, */
	int absolute;                        /* from 1970 */
	const struct al_pending_call *ended; /* the call that the line ends */

	/* What was, in the dialects that need it. */
	struct al_parser_state past;
	uint64_t clock;
	int timed;
	int second; /* mtrace: this must be the other line of two */
	uint64_t operations;
	struct al_pending_call *held;
	unsigned nheld;
	unsigned char *joined; /* both lines of such a call */
	size_t joined_room;

	uint64_t noise, noise_bytes;
	unsigned char *data;
	unsigned char *batch;   /* of the events behind it */
	uint32_t clockless;     /* the first of a batch that say no time */
	struct al_ahead *ahead; /* or NULL */
	struct al_definitions *definitions; /* NULL: none, or a probe */
	unsigned char inline_labels[AL_NAME_MAX + 3];
};

/* The schema of a dialect, and the shapes in it.  TEL_OK, TEL_ENOMEM. */
tel_status tel__al_schema(struct tel_reader *r, struct al *s);
/* Makes the schema of a dialect by its name: schema_new of the format. */
tel_status tel__al_schema_new(const char *name, struct tel_schema **out);
/* The call that the n bytes at p name, of those in the table; or NULL. */
const struct al_call *tel__al_find(const struct al_call *calls, size_t count,
    const unsigned char *p, size_t n);
/* The function of C or C++ of that name, if the dialect has its type. */
const struct al_call *tel__al_function(const struct al *s,
    const unsigned char *p, size_t n);

/* What lines define: heaptrack.c.  NULL: no memory. */
struct al_definitions *tel__al_definitions_new(void);
void tel__al_definitions_free(struct al_definitions *d);

#define AL_BIT(type) ((uint32_t)1 << (type))

#define AL_C_TYPES \
	(AL_BIT(AL_MALLOC) | AL_BIT(AL_CALLOC) | AL_BIT(AL_REALLOC) | \
	    AL_BIT(AL_REALLOCARRAY) | AL_BIT(AL_MEMALIGN) | \
	    AL_BIT(AL_POSIX_MEMALIGN) | AL_BIT(AL_ALIGNED_ALLOC) | \
	    AL_BIT(AL_VALLOC) | AL_BIT(AL_PVALLOC) | AL_BIT(AL_FREE) | \
	    AL_BIT(AL_FREE_SIZED))
#define AL_CXX_TYPES \
	(AL_BIT(AL_NEW) | AL_BIT(AL_NEW_ARRAY) | AL_BIT(AL_NEW_ALIGNED) | \
	    AL_BIT(AL_DELETE) | AL_BIT(AL_DELETE_ARRAY) | \
	    AL_BIT(AL_DELETE_SIZED))

/* What calls look like in C: call.c. */

/* The arguments at *p that the call has; the text behind them stays. */
enum al_line tel__al_arguments(struct al *s, const struct al_call *call,
    const unsigned char **p);

/* Nonzero when the call has a result that matters. */
static inline int
al_has_result(const struct al_call *call)
{
	return call->type != AL_FREE && call->type != AL_DELETE &&
	    call->type != AL_DELETE_ARRAY && call->type < AL_DELETE_SIZED;
}

static inline const unsigned char *
al_skip_blanks(const unsigned char *p)
{
	while (*p == ' ')
		p++;
	return p;
}

/* The functions of all these formats. */
tel_status tel__al_open(struct tel_reader *r);
tel_status tel__al_next(struct tel_reader *r);
void tel__al_decode_batch(struct tel_reader *r);
void tel__al_close(struct tel_reader *r);
int tel__al_probe(struct tel_reader *r);

/* The line continues with word: 1, or 0. */
static inline int
al_starts_with(const struct al *s, const unsigned char *p, const char *word,
    size_t n)
{
	return (size_t)(s->line.end - p) >= n && memcmp(p, word, n) == 0;
}

/* Notes what was expected at p. */
static inline enum al_line
al_wrong(struct al *s, const unsigned char *p, const char *want)
{
	(void)line_wrong(&s->line, p, want, NULL);
	return AL_WRONG;
}

/* Hexadecimal digits at *p; 1, or 0. */
static inline int
al_hex(const unsigned char **p, uint64_t *out)
{
	const unsigned char *q = *p;
	uint64_t v = 0;
	unsigned d;

	for (; (d = tel__lines_digit[*q]) < 16; q++)
		v = v << 4 | d;
	if (__builtin_expect((size_t)(q - *p) - 1 > 15, 0))
		return lines_hex(p, out);
	*p = q;
	*out = v;
	return 1;
}

/* Decimal digits at *p, more of them than 64 bits surely hold; 1, or 0. */
int tel__al_long_decimal(const unsigned char **p, uint64_t *out);

/* Decimal digits at *p; 1, or 0. */
static inline int
al_decimal(const unsigned char **p, uint64_t *out)
{
	const unsigned char *q = *p;
	uint64_t v = 0;
	unsigned d;

	for (; (d = (unsigned)*q - '0') <= 9; q++)
		v = v * 10 + d;
	if (__builtin_expect((size_t)(q - *p) - 1 > 18, 0))
		return tel__al_long_decimal(p, out);
	*p = q;
	*out = v;
	return 1;
}

/*
 * The same, for lines of which most are numbers: up to seven digits at once,
 * as how many there are is nothing that a processor could foresee.
 */
static inline int
al_short_decimal(const struct al *s, const unsigned char **p, uint64_t *out)
{
	if (s->line.limit - *p < 8)
		return al_decimal(p, out);
	/* bit 7 of each byte that is not a digit; unreliable after the first */
	uint64_t x = tel_le64(*p) ^ UINT64_C(0x3030303030303030);
	uint64_t other = ((x + UINT64_C(0x7676767676767676)) | x) &
	    UINT64_C(0x8080808080808080);
	other &= 0 - other;
	uint64_t n = (other >> 7) * UINT64_C(0x0001020304050607) >> 56;
	if (n == 0)
		return al_decimal(p, out);
	/* the digits to the upper bytes, and pairs of them to one number */
	x <<= 64 - 8 * n;
	x = (x * 10) + (x >> 8);
	*out = ((x & UINT64_C(0xff000000ff)) * UINT64_C(0xf424000000064) +
	           (x >> 16 & UINT64_C(0xff000000ff)) *
	               UINT64_C(0x271000000001)) >>
	        32 &
	    UINT32_MAX;
	*p += n;
	return 1;
}

/* 0x and hexadecimal digits, decimal ones, (nil) or nil; 1, or 0. */
int tel__al_odd_number(const struct al *s, const unsigned char **p,
    uint64_t *out);

static inline int
al_number(const struct al *s, const unsigned char **p, uint64_t *out)
{
	const unsigned char *q = *p;

	if (q[0] == '0' && q[1] == 'x') {
		q += 2;
		if (!al_hex(&q, out))
			return 0;
		*p = q;
		return 1;
	}
	if ((unsigned)*q - '0' <= 9)
		return al_short_decimal(s, p, out);
	return tel__al_odd_number(s, p, out);
}

/* "SECONDS.FRACTION" in ns; 1, or 0. */
int tel__al_seconds(const unsigned char **p, uint64_t *out);

/* The value that a letter of struct al_call means; AL_VALUES for none. */
static inline enum al_value
al_letter(char letter)
{
	switch (letter) {
	case 'a': return AL_ADDRESS;
	case 'o': return AL_OLD;
	case 's': return AL_SIZE;
	case 'c': return AL_COUNT;
	case 'l': return AL_ALIGNMENT;
	default: return AL_VALUES;
	}
}

/* ------------------------------------------------------------- batches */

/* Columns of events that are found together, as in struct tel_batch. */
struct al_columns {
	const unsigned char **data;
	uint64_t *clocks;
	uint32_t *at;
	uint32_t *raw_sizes;
	uint32_t *types;
	uint32_t *sizes;
	unsigned char *bytes; /* TEL_RUN_MAX events of AL_EVENT_MAX bytes */
};

/*
 * Fills columns from entry n on with the events of the lines from p to end, up
 * to one that is not an event and nothing else.  first: what .at counts from.
 * Returns how many entries there are.
 */
uint32_t tel__al_fill(struct al *s, const unsigned char *first,
    const unsigned char *p, const unsigned char *end,
    const struct al_columns *c, uint32_t n);

/* What the line is, and, where it is the first of two, the other one, too. */
static inline enum al_line
al_parse(struct al *s)
{
	s->text_size = 0;
	s->has_time = 0;
	s->ended = NULL;
	if (tel_line_is_comment(s->line.p, s->line.end))
		return AL_COMMENT;
	return s->d->parse(s, s->line.p);
}

/* Makes the bytes of the event at data; returns how many. */
static inline uint32_t
al_build(const struct al *s, const struct al_shape *shape, unsigned char *data)
{
	uint32_t size = shape->type->size;

	if (shape->text) {
		memcpy(data + AL_HEADER, s->text, s->text_size);
		data[AL_HEADER + s->text_size] = '\0';
		size += (uint32_t)s->text_size;
	} else {
		for (unsigned i = 0; i < shape->nfields; i++)
			tel_store_le64(data + AL_HEADER + 8 * i,
			    s->v[shape->value[i]]);
	}
	tel_store_le64(data, (uint64_t)size << 32 | (unsigned)s->kind);
	tel_store_le64(data + 8, s->clock);
	return size;
}

/* A thread that parses lines ahead of the reader: ahead.c. */

/*
 * Adds to those that were found what the thread has for the event at first;
 * starts it where that pays.  Returns NULL; or, where the thread has nothing for
 * that event, where the reader is to parse lines to.
 */
const unsigned char *tel__al_ahead_take(struct tel_reader *r, struct al *s,
    const unsigned char *first);
/* A line is looked for from bytes behind p: the window may move then. */
void tel__al_ahead_leave(struct al_ahead *a, const unsigned char *p,
    size_t from);
void tel__al_ahead_free(struct al_ahead *a);

#endif
