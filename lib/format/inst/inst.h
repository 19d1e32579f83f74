/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inst logs: lines of text that say what Mac OS Instrumentation recorded.
 * tel-inst(5) describes the format, and where the model comes from.
 */
#ifndef TEL_INST_H
#define TEL_INST_H

#include <locale.h>
#include <string.h>

#include "reader/lines.h"

/* The longest line, its end included. */
#define INSTR_LINE_MAX 65535u
/* The most values without names in a line. */
#define INSTR_ARGS_MAX 256u
/* The most ids of classes, and of descriptors, in a session. */
#define INSTR_IDS_MAX (1u << 18)
/* The longest path, and bytes of all paths, and formats, in a session. */
#define INSTR_PATH_MAX 4095u
#define INSTR_POOL_MAX ((size_t)16 << 20)
/* The widest conversion, and the longest text that a descriptor makes. */
#define INSTR_WIDTH_MAX 4095u
#define INSTR_TEXT_MAX 65535u
/* Bytes of an event: fields, and strings no longer than a line and a text. */
#define INSTR_EVENT_MAX \
	(512u + INSTR_PATH_MAX + INSTR_TEXT_MAX + 4u * INSTR_LINE_MAX)

/* ---------------------------------------------------------------- line */

/* Names of the fields that mean something, in the order of inst_line.c. */
enum instr_key {
	I_B,
	I_BITS,
	I_C,
	I_COMP,
	I_CPU,
	I_CUR,
	I_D,
	I_EN,
	I_FACTOR,
	I_FMT,
	I_FROM,
	I_HELP,
	I_HI,
	I_HIGH,
	I_HOST,
	I_HZ,
	I_ID,
	I_K,
	I_KNEE,
	I_LAST,
	I_LO,
	I_LOW,
	I_MAX,
	I_MIN,
	I_N,
	I_NAME,
	I_NAMES,
	I_OP,
	I_OPEN,
	I_ORPHAN,
	I_OVER,
	I_OVF,
	I_OVFN,
	I_P,
	I_PAIRS,
	I_PARENT,
	I_PID,
	I_PROC,
	I_S,
	I_STEPS,
	I_SUM,
	I_TAG,
	I_TID,
	I_TO,
	I_TOTAL,
	I_TYPE,
	I_TYPES,
	I_TZ,
	I_UNDER,
	I_UNIT,
	I_V,
	I_W,
	I_W1,
	I_W2,
	I_WALL,
	I_KEYS /* at most 64 */
};

/* A value as it stands in the line, the quotes of a string left out. */
struct instr_value {
	const unsigned char *p;
	uint32_t n;
	uint8_t quoted;
	uint8_t escaped; /* a string with a backslash in it */
	uint8_t decimal; /* digits alone, at most 19; the number is */
	uint64_t number;
};

struct instr_line {
	uint64_t clock;
	const unsigned char *record; /* what is behind the clock */
	const unsigned char *end;    /* a byte that is no part of the line */
	uint32_t code; /* its letters, the last one lowest; 0: many */
	unsigned code_length;
	uint64_t present; /* bits by enum instr_key */
	struct instr_value values[I_KEYS];
	struct instr_value args[INSTR_ARGS_MAX];
	unsigned nargs;
};

static inline int
instr_has(const struct instr_line *l, enum instr_key key)
{
	return (int)(l->present >> key & 1);
}

/*
 * Takes the line from p to end to pieces; *end is a control character.
 * Returns NULL, or what was expected, with *at where it is not.
 */
const char *tel__instr_split(struct instr_line *l, const unsigned char *p,
    const unsigned char *end, const unsigned char **at);

/* An integer: its magnitude, and whether it is below 0. */
struct instr_number {
	uint64_t magnitude;
	int negative;
	int over; /* it is larger than 64 bits hold; so is the magnitude */
};

/* Reads an integer.  1, or 0 when the value is none. */
int tel__instr_integer(const struct instr_value *v, struct instr_number *out);
/* One that is not below 0 and fits; 0 when it is none. */
uint64_t tel__instr_unsigned(const struct instr_line *l, enum instr_key key);
/*
 * Copies the bytes that a value stands for, at most as many as it has, to
 * out.  Their end, or NULL when an escape is wrong.
 */
unsigned char *tel__instr_decode(const struct instr_value *v,
    unsigned char *out);
/* 1 when the value is this word. */
static inline int
instr_is(const struct instr_value *v, const char *word)
{
	return strlen(word) == v->n && memcmp(v->p, word, v->n) == 0;
}

/* ----------------------------------------------------------- classes */

enum instr_class_type {
	CLASS_PATH,
	CLASS_TRACE,
	CLASS_STRACE,
	CLASS_MAG,
	CLASS_GROWTH,
	CLASS_HIST,
	CLASS_SPLIT,
	CLASS_TALLY,
	CLASS_LOG2,
	CLASS_LOGLIN,
	CLASS_QUANTILES,
	CLASS_OTHER,
	CLASS_TYPES
};

/* An instance of a class. */
struct instr_class {
	uint64_t id;     /* of its first definition */
	uint32_t parent; /* number of a class + 1; 0: the root */
	uint32_t path_length;
	char *path; /* names from the root, joined by colons */
	int64_t parameters[5];
	uint8_t type;     /* enum instr_class_type */
	uint8_t own;      /* it is enabled itself */
	uint8_t disposed; /* itself */
	uint8_t told;     /* that a definition of it differs */
	uint32_t checked; /* the generation that the next two are of */
	uint8_t on;       /* it and all paths above it are enabled */
	uint8_t dead;     /* it, or one of these, was disposed of */
};

/* Numbers by their ids; open addressing. */
struct instr_ids {
	struct instr_id {
		uint64_t id; /* 0: not in use */
		uint32_t to;
	} * slots;
	uint32_t mask;
	uint32_t count;
};

#define INSTR_NO_CLASS UINT32_MAX        /* nothing was defined so */
#define INSTR_BAD_CLASS (UINT32_MAX - 1) /* what was, could not be */

struct instr_tree {
	struct instr_class *classes;
	uint32_t count, room;
	struct instr_ids ids;
	uint32_t *by_path; /* number + 1 of the newest class there, or 0 */
	uint32_t path_mask;
	size_t bytes;        /* of all paths */
	uint32_t generation; /* of the flags */
	int root_off;
	uint64_t seed; /* so that a log cannot choose what collides */
};

void tel__instr_tree_clear(struct instr_tree *t);
/* The number of the class with an id, or one of the two above. */
uint32_t tel__instr_class_of(const struct instr_tree *t, uint64_t id);
/* Gives an id a meaning.  TEL_OK, TEL_ELIMIT, TEL_ENOMEM. */
tel_status tel__instr_ids_add(struct instr_ids *ids, uint64_t seed, uint64_t id,
    uint32_t to);
int tel__instr_ids_find(const struct instr_ids *ids, uint64_t seed, uint64_t id,
    uint32_t *to);
/* The newest class of a path that was not disposed of, or NO_CLASS. */
uint32_t tel__instr_class_at(struct instr_tree *t, const char *path, size_t n);
/*
 * Adds a class of the path, which is copied.  TEL_OK with *out its number,
 * TEL_ELIMIT, TEL_ENOMEM.
 */
tel_status tel__instr_class_add(struct instr_tree *t, const char *path,
    size_t n, uint32_t parent, enum instr_class_type type, uint32_t *out);
/* Brings on and dead of a class up to date, and returns it. */
const struct instr_class *tel__instr_class_check(struct instr_tree *t,
    uint32_t number);

/* -------------------------------------------------------- descriptors */

struct instr_descriptor {
	unsigned char *format;
	uint32_t length;
	int refused;
};

/* Whether a format is one that is followed: see tel-inst(5). */
int tel__instr_format_good(const unsigned char *p, size_t n);
/*
 * Writes what a descriptor makes of a line's values to out, which has room
 * for INSTR_TEXT_MAX bytes and those of the line.  Returns the end.
 */
unsigned char *tel__instr_format(const struct instr_descriptor *d,
    const struct instr_line *l, locale_t c_locale, unsigned char *out);

/* ------------------------------------------------------------- events */

enum instr_type {
	T_HEADER,
	T_SYNC,
	T_LOST,
	T_FINISH,
	T_REPORT,
	T_ORIGIN,
	T_OTHER,
	T_IGNORED,
	T_DESCRIPTOR,
	T_PATH,
	T_TRACE_CLASS,
	T_SUMMARY,
	T_MAGNITUDE,
	T_GROWTH,
	T_HISTOGRAM,
	T_SPLIT,
	T_TALLY,
	T_LOG2,
	T_LOGLIN,
	T_QUANTILES,
	T_UNKNOWN_CLASS,
	T_ENABLE,
	T_DISABLE,
	T_DISPOSE,
	T_TRACE,
	T_START,
	T_END,
	T_MIDDLE,
	T_TRACE_ON,
	T_START_ON,
	T_END_ON,
	T_MIDDLE_ON,
	T_UPDATE_SET,
	T_UPDATE_ADD,
	T_UPDATE_GROWTH,
	T_UPDATE_HISTOGRAM,
	T_UPDATE_TALLY,
	T_SNAP_MAGNITUDE,
	T_SNAP_GROWTH,
	T_SNAP_SUMMARY,
	T_SNAP_HISTOGRAM,
	T_SNAP_TALLY,
	T_BUCKETS,
	T_BUCKET,
	T_TYPES
};

/* Where a field's value is from, beside enum instr_key. */
enum instr_from {
	FROM_PATH = I_KEYS, /* the class's */
	FROM_CLASS,         /* the id of the class's first definition */
	FROM_RANGE,         /* class and tag, as one number */
	FROM_TEXT,          /* what a descriptor made, or s= */
	FROM_REASON,        /* why a record has no effect */
	FROM_RECORD,        /* the line, without its clock */
	FROM_MEDIAN,        /* the header's version */
	FROM_MINOR,
	FROM_MAJOR,
	FROM_OUTSIDE /* under and over */
};

#define INSTR_FIELDS 11

struct instr_field_def {
	const char *name;
	uint8_t datatype;
	uint8_t from;
};

struct instr_type_def {
	const char *name;
	const char *kind;
	struct instr_field_def fields[INSTR_FIELDS];
};

extern const struct instr_type_def tel__instr_types[T_TYPES];

/* Makes the schema; NULL when there is no memory. */
struct tel_schema *tel__instr_schema(void);

/* The state of a reader. */
struct instr {
	struct instr_line line;
	struct instr_tree tree;
	struct instr_ids descriptor_ids;
	struct instr_descriptor *descriptors;
	uint32_t ndescriptors, descriptor_room;
	size_t descriptor_bytes;
	locale_t c_locale;
	uint64_t offset; /* of the line */
	int headed;      /* a session has begun, */
	int ended;       /* and ended */
	uint64_t lost;   /* records, by the log's own account */
	int cut;         /* the line has no end */
	unsigned told;   /* bits: what was told once already */

	/* the event that is being made */
	enum instr_type type;
	const char *path;
	uint32_t path_length;
	uint64_t class_id;
	const char *reason;
	uint64_t version[3];
	unsigned char *data;
	unsigned char *copy; /* of the last line, which has no end */
};

/*
 * Follows the line of s: sets the event's type and what is not in the line.
 * TEL_OK: there is an event; TEL_EDAMAGED: the line makes no sense, *why says
 * how; TEL_EVERSION, TEL_ENOMEM.
 */
tel_status tel__instr_follow(struct tel_reader *r, struct instr *s,
    const char **why);
/* The same for a definition of a class. */
tel_status tel__instr_define(struct tel_reader *r, struct instr *s,
    const char **why);
/* The same for a descriptor. */
tel_status tel__instr_describe(struct tel_reader *r, struct instr *s,
    const char **why);
/* Has the event say that the record has no effect. */
tel_status tel__instr_ignore(struct instr *s, const char *reason);
/* Forgets a session. */
void tel__instr_clear(struct instr *s);
/* Makes the event's bytes.  NULL and *size, or what is wrong. */
const char *tel__instr_build(struct tel_reader *r, struct instr *s,
    uint32_t *size);

#endif
