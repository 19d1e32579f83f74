/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inst logs: lines of text that hold what Mac OS Instrumentation recorded.
 * tel-inst(5) describes the format, and where the model comes from.
 *
 * A line is split into its fields (line.c), is a record that defines a class
 * (class.c), a data descriptor (descriptor.c) or does something to one
 * (record.c), and becomes an event of a type of schema.c (read.c).  Whoever
 * reads records for more than their events, as the statistics that are merged
 * from such logs do, asks tel__inst_record() after each event.
 */
#ifndef TEL_INST_H
#define TEL_INST_H

#include <locale.h>
#include <string.h>

#include "base/index.h"
#include "base/int128.h"
#include "base/table.h"
#include "reader/lines.h"

/*
 * The longest line, its end included: of a log that is read as events, and
 * of one that is read for its statistics, whose names and keys may be long.
 */
#define INST_LINE_MAX 65535u
#define INST_LONG_LINE_MAX ((unsigned)TEL_PEEK_MAX)
/* The most values without names in a line. */
#define INST_ARGS_MAX 256u
/* The most ids of classes, and of descriptors, in a session. */
#define INST_IDS_MAX (1u << 18)
/* The longest path, and bytes of all paths, and formats, in a session. */
#define INST_PATH_MAX 4095u
#define INST_POOL_MAX ((size_t)16 << 20)
/* The widest conversion, and the longest text that a descriptor makes. */
#define INST_WIDTH_MAX 4095u
#define INST_TEXT_MAX 65535u
/* Bytes of an event: fields, and strings no longer than a line and a text. */
#define INST_EVENT_SIZE(line) \
	(512u + INST_PATH_MAX + INST_TEXT_MAX + 5u * (line))

/* ---------------------------------------------------------------- line */

/* A name of up to eight letters as a number. */
#define KEY1(a) ((uint64_t)(a))
#define KEY2(a, b) (KEY1(a) << 8 | (b))
#define KEY3(a, b, c) (KEY2(a, b) << 8 | (c))
#define KEY4(a, b, c, d) (KEY3(a, b, c) << 8 | (d))
#define KEY5(a, b, c, d, e) (KEY4(a, b, c, d) << 8 | (e))
#define KEY6(a, b, c, d, e, f) (KEY5(a, b, c, d, e) << 8 | (f))

/* Fields that events are made of, and their names: KEY(number, name). */
#define INST_KEYS(KEY) \
	KEY(I_AT, KEY2('a', 't')) \
	KEY(I_B, KEY1('b')) \
	KEY(I_BITS, KEY4('b', 'i', 't', 's')) \
	KEY(I_C, KEY1('c')) \
	KEY(I_COMP, KEY4('c', 'o', 'm', 'p')) \
	KEY(I_CPU, KEY3('c', 'p', 'u')) \
	KEY(I_CUR, KEY3('c', 'u', 'r')) \
	KEY(I_D, KEY1('d')) \
	KEY(I_DIST, KEY4('d', 'i', 's', 't')) \
	KEY(I_EN, KEY2('e', 'n')) \
	KEY(I_ERR, KEY3('e', 'r', 'r')) \
	KEY(I_FACTOR, KEY6('f', 'a', 'c', 't', 'o', 'r')) \
	KEY(I_FMT, KEY3('f', 'm', 't')) \
	KEY(I_FROM, KEY4('f', 'r', 'o', 'm')) \
	KEY(I_HELP, KEY4('h', 'e', 'l', 'p')) \
	KEY(I_HI, KEY2('h', 'i')) \
	KEY(I_HIGH, KEY4('h', 'i', 'g', 'h')) \
	KEY(I_HOST, KEY4('h', 'o', 's', 't')) \
	KEY(I_HZ, KEY2('h', 'z')) \
	KEY(I_ID, KEY2('i', 'd')) \
	KEY(I_K, KEY1('k')) \
	KEY(I_KNEE, KEY4('k', 'n', 'e', 'e')) \
	KEY(I_LAST, KEY4('l', 'a', 's', 't')) \
	KEY(I_LO, KEY2('l', 'o')) \
	KEY(I_LOG, KEY3('l', 'o', 'g')) \
	KEY(I_LOW, KEY3('l', 'o', 'w')) \
	KEY(I_MAX, KEY3('m', 'a', 'x')) \
	KEY(I_MIN, KEY3('m', 'i', 'n')) \
	KEY(I_N, KEY1('n')) \
	KEY(I_NAME, KEY4('n', 'a', 'm', 'e')) \
	KEY(I_NAMES, KEY5('n', 'a', 'm', 'e', 's')) \
	KEY(I_OP, KEY2('o', 'p')) \
	KEY(I_OPEN, KEY4('o', 'p', 'e', 'n')) \
	KEY(I_ORPHAN, KEY6('o', 'r', 'p', 'h', 'a', 'n')) \
	KEY(I_OVER, KEY4('o', 'v', 'e', 'r')) \
	KEY(I_OVF, KEY3('o', 'v', 'f')) \
	KEY(I_OVFN, KEY4('o', 'v', 'f', 'n')) \
	KEY(I_P, KEY1('p')) \
	KEY(I_PAIRS, KEY5('p', 'a', 'i', 'r', 's')) \
	KEY(I_PARENT, KEY6('p', 'a', 'r', 'e', 'n', 't')) \
	KEY(I_PID, KEY3('p', 'i', 'd')) \
	KEY(I_POS, KEY3('p', 'o', 's')) \
	KEY(I_PROC, KEY4('p', 'r', 'o', 'c')) \
	KEY(I_S, KEY1('s')) \
	KEY(I_STEPS, KEY5('s', 't', 'e', 'p', 's')) \
	KEY(I_SUM, KEY3('s', 'u', 'm')) \
	KEY(I_TAG, KEY3('t', 'a', 'g')) \
	KEY(I_TID, KEY3('t', 'i', 'd')) \
	KEY(I_TO, KEY2('t', 'o')) \
	KEY(I_TOTAL, KEY5('t', 'o', 't', 'a', 'l')) \
	KEY(I_TYPE, KEY4('t', 'y', 'p', 'e')) \
	KEY(I_TYPES, KEY5('t', 'y', 'p', 'e', 's')) \
	KEY(I_TZ, KEY2('t', 'z')) \
	KEY(I_UNDER, KEY5('u', 'n', 'd', 'e', 'r')) \
	KEY(I_UNIT, KEY4('u', 'n', 'i', 't')) \
	KEY(I_V, KEY1('v')) \
	KEY(I_W, KEY1('w')) \
	KEY(I_W1, KEY2('w', '1')) \
	KEY(I_W2, KEY2('w', '2')) \
	KEY(I_WALL, KEY4('w', 'a', 'l', 'l'))

enum inst_key {
#define INST_KEY(key, name) key,
	INST_KEYS(INST_KEY)
#undef INST_KEY
	    I_KEYS /* at most 64 */
};

/* The bytes of a value in the line, without the quotes of a string. */
struct inst_value {
	const unsigned char *p;
	uint32_t n;
	uint8_t quoted;
	uint8_t escaped; /* a string with a backslash in it */
	uint8_t decimal; /* digits alone, at most 19; the number is */
	uint64_t number;
};

/* The most fields of other names that are kept; what comes beyond is not. */
#define INST_EXTRAS_MAX 64u

/* A field of any other name, for those who know it. */
struct inst_extra {
	const unsigned char *name;
	size_t length;
	struct inst_value value;
};

struct inst_line {
	uint64_t clock;
	const unsigned char *record; /* the text behind the clock */
	const unsigned char *end;    /* a byte that is not part of the line */
	uint32_t code; /* its letters, the last one lowest; 0: many */
	unsigned code_length;
	uint64_t present; /* bits by enum inst_key */
	struct inst_value values[I_KEYS];
	struct inst_value args[INST_ARGS_MAX];
	unsigned nargs;
	struct inst_extra extras[INST_EXTRAS_MAX];
	unsigned nextras;
};

static inline int
inst_has(const struct inst_line *l, enum inst_key key)
{
	return (int)(l->present >> key & 1);
}

/*
 * Takes the line from p to end to pieces; *end is a control character.
 * Returns NULL, or what was expected, with *at where it is not.
 */
const char *tel__inst_split(struct inst_line *l, const unsigned char *p,
    const unsigned char *end, const unsigned char **at);

/* The key of the field called so by n bytes; I_KEYS for any other. */
enum inst_key tel__inst_key(const char *name, size_t n);
/* The value of the field of any name, or NULL. */
const struct inst_value *tel__inst_find(const struct inst_line *l,
    const char *name);

/* An integer: its magnitude, and whether it is below 0. */
struct inst_number {
	uint64_t magnitude;
	int negative;
	int over; /* it is larger than 64 bits hold; so is the magnitude */
};

/* Reads an integer.  1, or 0 when the value is not one. */
int tel__inst_integer(const struct inst_value *v, struct inst_number *out);
/* The same as 128 bits; 0 also when it does not fit these. */
int tel__inst_int128(const struct inst_value *v, tel_int128 *out);
/* One that is not below 0 and fits 64 bits; else 0. */
uint64_t tel__inst_unsigned(const struct inst_line *l, enum inst_key key);
/*
 * Decodes a value into out: never more bytes than it has in the line.  Returns
 * their end, or NULL when an escape is invalid.
 */
unsigned char *tel__inst_decode(const struct inst_value *v, unsigned char *out);
/* 1 when the value is this word. */
static inline int
inst_is(const struct inst_value *v, const char *word)
{
	return strlen(word) == v->n && memcmp(v->p, word, v->n) == 0;
}

/* ----------------------------------------------------------- classes */

/*
 * The classes: CLASS(number, name, definition, snapshot, what it takes, what a
 * definition that is missing is taken to say), as struct inst_class_row.
 */
/* clang-format off */
#define INST_CLASSES(CLASS) \
	CLASS(CLASS_PATH, "path", T_PATH, T_IGNORED, 0, NULL) \
	CLASS(CLASS_TRACE, "trace", T_TRACE_CLASS, T_IGNORED, INST_TRACES, NULL) \
	CLASS(CLASS_STRACE, "strace", T_SUMMARY, T_SNAP_SUMMARY, INST_TRACES, " unit=ns") \
	CLASS(CLASS_MAG, "mag", T_MAGNITUDE, T_SNAP_MAGNITUDE, INST_SETS, "") \
	CLASS(CLASS_GROWTH, "growth", T_GROWTH, T_SNAP_GROWTH, INST_GROWS, "") \
	CLASS(CLASS_HIST, "hist", T_HISTOGRAM, T_SNAP_HISTOGRAM, INST_BUCKETS, NULL) \
	CLASS(CLASS_SPLIT, "split", T_SPLIT, T_SNAP_HISTOGRAM, INST_BUCKETS, NULL) \
	CLASS(CLASS_TALLY, "tally", T_TALLY, T_SNAP_TALLY, INST_KEYS, " max=65536") \
	CLASS(CLASS_LOG2, "log2", T_LOG2, T_SNAP_HISTOGRAM, INST_BUCKETS, NULL) \
	CLASS(CLASS_LOGLIN, "loglin", T_LOGLIN, T_SNAP_HISTOGRAM, INST_BUCKETS, NULL) \
	CLASS(CLASS_QUANTILES, "quantiles", T_QUANTILES, T_SNAP_HISTOGRAM, INST_BUCKETS, NULL) \
	CLASS(CLASS_RATIO, "ratio", T_RATIO_CLASS, T_SNAP_RATIO, 0, "") \
	CLASS(CLASS_DISTINCT, "distinct", T_DISTINCT_CLASS, T_SNAP_DISTINCT, INST_KEYS | INST_BUCKETS, " max=4096") \
	CLASS(CLASS_TOP, "top", T_TOP_CLASS, T_SNAP_TOP, INST_VALUES, NULL) \
	/* a class of a later version, which defines its numbers */ \
	CLASS(CLASS_OTHER, "", T_UNKNOWN_CLASS, T_OTHER, 0, NULL)
/* clang-format on */

enum inst_class_type {
#define INST_CLASS(class, name, definition, snapshot, takes, presumed) class,
	INST_CLASSES(INST_CLASS)
#undef INST_CLASS
	    CLASS_TYPES
};

/* The most parameters of a class. */
#define INST_PARAMETERS_MAX 5u

/* An instance of a class. */
struct inst_class {
	uint64_t id;     /* of its first definition */
	uint32_t parent; /* number of a class + 1; 0: the root */
	uint32_t path_length;
	char *path;      /* names from the root, joined by colons */
	char *component; /* of a trace; or NULL */
	int64_t parameters[INST_PARAMETERS_MAX];
	uint8_t type;     /* enum inst_class_type */
	uint8_t own;      /* it is enabled itself */
	uint8_t disposed; /* itself */
	uint8_t reported; /* that a definition of it differs */
	uint8_t orphan;   /* the parent that it names was not defined */
	uint32_t checked; /* the generation that the next two are of */
	uint8_t on;       /* it and all paths above it are enabled */
	uint8_t dead;     /* it, or one of these, was disposed of */
};

#define INST_NO_CLASS UINT32_MAX        /* nothing was defined so */
#define INST_BAD_CLASS (UINT32_MAX - 1) /* what was, could not be */

struct inst_tree {
	struct inst_class *classes;
	uint32_t count;
	size_t room;
	struct tel__table ids;     /* numbers of classes, or BAD_CLASS */
	struct tel__index by_path; /* of each path the newest class */
	size_t bytes;              /* of all paths */
	uint32_t generation;       /* of the flags */
	int root_off;
};

void tel__inst_tree_clear(struct inst_tree *t);
/* The number of the class with an id, or one of the two above. */
uint32_t tel__inst_class_of(const struct inst_tree *t, uint64_t id);
/* Gives an id a meaning.  TEL_OK, TEL_ELIMIT, TEL_ENOMEM. */
tel_status tel__inst_id_add(struct tel__table *ids, uint64_t id, uint32_t to);
/* Brings on and dead of a class up to date, and returns it. */
const struct inst_class *tel__inst_class_check(struct inst_tree *t,
    uint32_t number);

/* -------------------------------------------------------- descriptors */

struct inst_descriptor {
	unsigned char *format;
	uint32_t length;
	int refused;
};

/*
 * Writes what a descriptor makes of a line's values to out, which has room
 * for INST_TEXT_MAX bytes and those of the line.  Returns the end.
 */
unsigned char *tel__inst_format(const struct inst_descriptor *d,
    const struct inst_line *l, locale_t c_locale, unsigned char *out);

/* ------------------------------------------------------------- events */

/* Fields of records of classes, and of those that define them. */
#define OF_CLASS "t:path u:class"
#define DEFINES OF_CLASS " u:id o:enabled=en t:unit t:help"

/*
 * The types of events: TYPE(number, name, kind, fields, role).  A field has the
 * value of the record's field of its name, or of the one behind '='; except
 * for the words in sources[] of schema.c.
 */
/* clang-format off */
#define INST_TYPES(TYPE) \
	TYPE(T_HEADER, "Header", "Log", \
	    "u:major u:median u:minor u:hz t:wall t:proc u:pid t:host t:tz", "") \
	TYPE(T_SYNC, "Sync", "Log", \
	    "t:wall", "") \
	TYPE(T_LOST, "Lost", "Log", \
	    OF_CLASS " u:count=n u:from u:to", "") \
	TYPE(T_FINISH, "Finish", "Log", \
	    "u:count=n", "") \
	TYPE(T_REPORT, "Report", "Log", \
	    "t:record", "") \
	TYPE(T_ORIGIN, "Origin", "Log", \
	    "t:record", "") \
	TYPE(T_OTHER, "Other", "Log", \
	    "t:record", "") \
	TYPE(T_IGNORED, "Ignored", "Log", \
	    OF_CLASS " t:reason t:record", "") \
	TYPE(T_DESCRIPTOR, "Descriptor", "Class", \
	    "u:id t:format=fmt t:names t:types", "") \
	TYPE(T_PATH, "PathClass", "Class", \
	    DEFINES, "") \
	TYPE(T_TRACE_CLASS, "TraceClass", "Class", \
	    DEFINES " t:component=comp", "") \
	TYPE(T_SUMMARY, "SummaryClass", "Class", \
	    DEFINES " t:component=comp", "") \
	TYPE(T_MAGNITUDE, "MagnitudeClass", "Class", \
	    DEFINES, "") \
	TYPE(T_GROWTH, "GrowthClass", "Class", \
	    DEFINES, "") \
	TYPE(T_HISTOGRAM, "HistogramClass", "Class", \
	    DEFINES " i:lo i:hi u:w", "") \
	TYPE(T_SPLIT, "SplitClass", "Class", \
	    DEFINES " i:lo u:w1 i:knee i:hi u:w2", "") \
	TYPE(T_TALLY, "TallyClass", "Class", \
	    DEFINES " u:max", "") \
	TYPE(T_LOG2, "Log2Class", "Class", \
	    DEFINES " u:k", "") \
	TYPE(T_LOGLIN, "LoglinClass", "Class", \
	    DEFINES " u:factor i:low i:high u:steps", "") \
	TYPE(T_QUANTILES, "QuantilesClass", "Class", \
	    DEFINES " u:bits", "") \
	TYPE(T_UNKNOWN_CLASS, "OtherClass", "Class", \
	    DEFINES " t:type", "") \
	TYPE(T_ENABLE, "Enable", "Class", \
	    OF_CLASS, "") \
	TYPE(T_DISABLE, "Disable", "Class", \
	    OF_CLASS, "") \
	TYPE(T_DISPOSE, "Dispose", "Class", \
	    OF_CLASS, "") \
	TYPE(T_TRACE, "Trace", "Trace", \
	    OF_CLASS " u:tag t:component t:text", "") \
	TYPE(T_START, "Start", "Trace", \
	    OF_CLASS " u:tag z:range t:component t:text", "start(range) End") \
	TYPE(T_END, "End", "Trace", \
	    OF_CLASS " u:tag z:range t:component t:text", "finish(range)") \
	TYPE(T_MIDDLE, "Middle", "Trace", \
	    OF_CLASS " u:tag z:range t:component t:text", "middle(range) End") \
	TYPE(T_TRACE_ON, "TraceOn", "Trace", \
	    OF_CLASS " u:tag u:cpu u:tid t:component t:text", "") \
	TYPE(T_START_ON, "StartOn", "Trace", \
	    OF_CLASS " u:tag z:range u:cpu u:tid t:component t:text", "start(range) End") \
	TYPE(T_END_ON, "EndOn", "Trace", \
	    OF_CLASS " u:tag z:range u:cpu u:tid t:component t:text", "finish(range) End") \
	TYPE(T_MIDDLE_ON, "MiddleOn", "Trace", \
	    OF_CLASS " u:tag z:range u:cpu u:tid t:component t:text", "middle(range) End") \
	TYPE(T_UPDATE_SET, "UpdateSet", "Update", \
	    OF_CLASS " i:value=v u:tag", "") \
	TYPE(T_UPDATE_ADD, "UpdateAdd", "Update", \
	    OF_CLASS " i:value=v u:tag", "") \
	TYPE(T_UPDATE_GROWTH, "UpdateGrowth", "Update", \
	    OF_CLASS " u:value=v u:tag", "") \
	TYPE(T_UPDATE_HISTOGRAM, "UpdateHistogram", "Update", \
	    OF_CLASS " i:value=v u:weight=n u:tag", "") \
	TYPE(T_UPDATE_TALLY, "UpdateTally", "Update", \
	    OF_CLASS " t:key=v u:weight=n u:tag", "") \
	TYPE(T_SNAP_MAGNITUDE, "Magnitude", "Snapshot", \
	    OF_CLASS " u:updates=n i:current=cur i:min i:max i:sum", "") \
	TYPE(T_SNAP_GROWTH, "Growth", "Snapshot", \
	    OF_CLASS " u:updates=n u:total u:last u:min u:max", "") \
	TYPE(T_SNAP_SUMMARY, "Summary", "Snapshot", \
	    OF_CLASS " u:events=n u:pairs u:total u:last u:min u:max" \
	    " u:open u:orphan", "") \
	TYPE(T_SNAP_HISTOGRAM, "Histogram", "Snapshot", \
	    OF_CLASS " u:updates=n u:weight=w i:sum u:under u:over" \
	    " u:overflow=outside t:buckets=b", "") \
	TYPE(T_SNAP_TALLY, "Tally", "Snapshot", \
	    OF_CLASS " u:updates=n u:overflow=ovf u:overflow_updates=ovfn", "") \
	TYPE(T_BUCKETS, "Buckets", "Snapshot", \
	    OF_CLASS " t:buckets=b", "") \
	TYPE(T_BUCKET, "Bucket", "Snapshot", \
	    OF_CLASS " t:key=k u:count=v", "") \
	TYPE(T_RATIO_CLASS, "RatioClass", "Class", \
	    DEFINES, "") \
	TYPE(T_SNAP_RATIO, "Ratio", "Snapshot", \
	    OF_CLASS " u:updates=n u:weight=w i:total", "") \
	TYPE(T_DISTINCT_CLASS, "DistinctClass", "Class", \
	    DEFINES " u:max", "") \
	TYPE(T_SNAP_DISTINCT, "Distinct", "Snapshot", \
	    OF_CLASS " u:updates=n u:distinct=dist u:error=err t:registers=b", "") \
	TYPE(T_TOP_CLASS, "TopClass", "Class", \
	    DEFINES " u:n", "") \
	TYPE(T_SNAP_TOP, "Top", "Snapshot", \
	    OF_CLASS " u:updates=n i:max", "") \
	TYPE(T_TOP_VALUE, "TopValue", "Snapshot", \
	    OF_CLASS " i:value=v u:at u:offset=pos t:log t:key=k", "")
/* clang-format on */

enum inst_type {
#define INST_TYPE(type, name, kind, fields, role) type,
	INST_TYPES(INST_TYPE)
#undef INST_TYPE
	    T_TYPES
};

/* Where the value of a field is from, where it is not an enum inst_key. */
enum inst_from {
	FROM_PATH = I_KEYS, /* the class's */
	FROM_CLASS,         /* the id of the class's first definition */
	FROM_RANGE,         /* class and tag, as one number */
	FROM_TEXT,          /* what a descriptor made, or s= */
	FROM_REASON,        /* why a record has no effect */
	FROM_RECORD,        /* the line, without its clock */
	FROM_MEDIAN,        /* the header's version */
	FROM_MINOR,
	FROM_MAJOR,
	FROM_OUTSIDE,  /* under and over */
	FROM_COMPONENT /* the class's */
};

#define INST_FIELDS 11

/* What records a class takes, in bits. */
enum {
	INST_SETS = 1,    /* updates of a current value */
	INST_GROWS = 2,   /* increments */
	INST_BUCKETS = 4, /* values, and the counts of buckets */
	INST_KEYS = 8,    /* keys, and a bucket for each */
	INST_TRACES = 16, /* trace events */
	INST_VALUES = 32  /* values with their events */
};

/* A type of class; its parameters are the further fields of its definition. */
struct inst_class_row {
	const char *name;
	enum inst_type definition, snapshot; /* T_IGNORED: it has none */
	unsigned takes;
	/* what a definition that is missing is taken to say; or NULL */
	const char *presumed;
};
extern const struct inst_class_row tel__inst_classes[CLASS_TYPES];
/* The class that events of a type define, or are a snapshot of; or NULL. */
const struct inst_class_row *tel__inst_class_row(enum inst_type type);
/* Fields that the definition of any class has, and no parameters. */
#define INST_DEFINITION_FIELDS 6u

/* Makes the schema; NULL when out of memory. */
struct tel_schema *tel__inst_schema(void);
/*
 * Where the values of the fields of each type are from: an enum inst_key or an
 * enum inst_from.
 */
void tel__inst_sources(uint8_t from[T_TYPES][INST_FIELDS]);

/* The row of a type. */
const struct tel_type_row *tel__inst_row(enum inst_type type);

/*
 * What of a record the events of another format are, which has types of the
 * same names and fields, as .tel has that was made of an inst log, or that
 * libtel-emit wrote.
 */
struct inst_binding {
	enum inst_type type;
	const struct inst_class_row *row; /* of the type; or NULL */
	int fields[INST_FIELDS];          /* where the fields of the row are */
};
/* Binds a type.  1; 0: its events are not records. */
int tel__inst_bind(const struct tel_type *t, struct inst_binding *out);
struct inst_writer;
/* Writes the record that an event is into w->line, its end included. */
void tel__inst_put_event(struct inst_writer *w, const struct inst_binding *b,
    const struct tel_event *ev);

/* The state of a reader. */
struct inst {
	struct inst_line line;
	struct inst_tree tree;
	struct tel__table descriptor_ids;
	struct inst_descriptor *descriptors;
	uint32_t ndescriptors;
	size_t descriptor_room;
	size_t descriptor_bytes;
	locale_t c_locale;
	struct tel_line text; /* the line that is read */
	int headed;           /* a session has begun, */
	int ended;            /* and ended */
	uint64_t lost;        /* records, by the log's own account */
	unsigned reported;    /* bits: notices that are given only once */

	uint8_t from[T_TYPES][INST_FIELDS]; /* bits of tel__inst_sources() */

	/* the event that is being made */
	enum inst_type type;
	const char *path;
	uint32_t path_length;
	uint64_t class_id;
	uint32_t class_at; /* number of the record's class; or NO_CLASS */
	const char *reason;
	int off; /* the reason is that the class is disabled or disposed of */
	uint64_t version[3];
	unsigned char *data;
};

/*
 * Follows the line of s: sets the event's type and the fields that the line
 * lacks. TEL_OK: there is an event; TEL_EDAMAGED: the line is invalid, *why has
 * the reason; TEL_EVERSION, TEL_ENOMEM.
 */
tel_status tel__inst_follow(struct tel_reader *r, struct inst *s,
    const char **why);
/* The same for a definition of a class. */
tel_status tel__inst_define(struct tel_reader *r, struct inst *s,
    const char **why);
/* The same for a descriptor. */
tel_status tel__inst_describe(struct tel_reader *r, struct inst *s,
    const char **why);
/* Makes the event one that reports why the record has no effect. */
static inline tel_status
inst_ignore(struct inst *s, const char *reason)
{
	s->type = T_IGNORED;
	s->reason = reason;
	return TEL_OK;
}

/*
 * The record of the event that a reader of an inst log gave last: its line,
 * its type and the class that it is of.  Good until the next event is read.
 */
const struct inst *tel__inst_record(const struct tel_reader *r);
/* Forgets a session. */
void tel__inst_clear(struct inst *s);
/* Makes the event's bytes.  Returns NULL and sets *size, or a message. */
const char *tel__inst_build(struct tel_reader *r, struct inst *s,
    uint32_t *size);

/* The decoder: read.c. */
int tel__inst_probe(struct tel_reader *r);
tel_status tel__inst_open(struct tel_reader *r);
tel_status tel__inst_next(struct tel_reader *r);
/*
 * The next event of whole lines that are in memory; *used: the bytes that were
 * read.  TEL_END: they have none.
 */
tel_status tel__inst_read(struct tel_reader *r, const unsigned char *lines,
    size_t size, size_t *used);
void tel__inst_close(struct tel_reader *r);

#endif
