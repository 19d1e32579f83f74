/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Schema: the event types of a log and where in an event each field lies.
 * A schema is made once for a log and does not change afterwards.
 */
#ifndef TEL_SCHEMA_H
#define TEL_SCHEMA_H

#include "tel/schema.h"

/* How a field's bytes become 64 bits. */
enum tel_load {
	TEL_LOAD_U8,
	TEL_LOAD_LE16,
	TEL_LOAD_LE32,
	TEL_LOAD_LE64,
	TEL_LOAD_BE16,
	TEL_LOAD_BE32,
	TEL_LOAD_BE64,
	TEL_LOAD_LE16S, /* these are extended by their sign */
	TEL_LOAD_LE32S,
	TEL_LOAD_BE16S,
	TEL_LOAD_BE32S,
	TEL_LOAD_BIT, /* bit number .bit of a byte, 0 the least significant */
	TEL_LOAD_STRING, /* bytes up to a NUL or the end of the event */
	/*
	 * Such bytes somewhere in the event: four bytes, little-endian, say
	 * where, from its first.  For events with more than one string.
	 */
	TEL_LOAD_STRING_AT,
	TEL_LOAD_LEF32, /* a float; as a double's bits */
	/*
	 * A list somewhere in the event: four bytes, little-endian, where, and
	 * four how many elements.  These follow each other, little-endian, of
	 * .width bits; strings, each with a NUL.  tel_load() has their number.
	 */
	TEL_LOAD_LIST
};

/* What values of a field measure. */
enum tel_unit {
	TEL_UNIT_NONE,
	TEL_UNIT_NS,   /* a span of time */
	TEL_UNIT_TIME, /* nanoseconds since 1970 */
	TEL_UNIT_BYTES,
	TEL_UNIT_BITS,
	TEL_UNIT_FRACTION,
	TEL_UNIT_HERTZ,
	TEL_UNIT_BITS_A_SECOND,
	TEL_UNIT_BYTES_A_SECOND
};
#define TEL_UNITS (TEL_UNIT_BYTES_A_SECOND + 1)

/* The names of the values of an enum from .first on, in ASCII; static. */
#define TEL_NAME_ROOM 32
struct tel_names {
	uint32_t first, count;
	const char (*names)[TEL_NAME_ROOM];
};

struct tel_field {
	const char *name; /* owned by the schema */
	enum tel_datatype datatype;
	enum tel_load load;
	uint16_t offset;      /* from the first byte of the event */
	uint16_t name_length; /* strlen(name) */
	uint8_t width;        /* in bits; 0 for a string */
	uint8_t bit;          /* for TEL_LOAD_BIT */
	/*
	 * An enum tel_space: where the labels of its values are, whatever its
	 * data type.  0: those of an address or a pointer, or none.
	 */
	uint8_t space;
	char letter;  /* the data type's letter in the MPS registry, PAWUDSB */
	uint8_t unit; /* enum tel_unit */
	/* From the log: a unit that is not one of them, and documentation. */
	const char *unit_name, *doc; /* owned by the schema; NULL: nothing */
	uint8_t element;             /* TEL_LOAD_LIST: enum tel_datatype */
	enum tel_load list_load;     /* and how an element is loaded */
	/*
	 * The event has the field if a bit of .present is set in the byte at
	 * .present_at; always, if .present is 0.  Where it is absent, its
	 * bytes are 0.
	 */
	uint16_t present_at;
	uint8_t present;
	/*
	 * Strings: nonzero if it is the label of the field before it, in this
	 * event.  That one, an enum, is shown with it.
	 */
	uint8_t is_label;
	const struct tel_names *names; /* .space is TEL_SPACE_ENUM */
};

/* Nonzero when values of f may have labels. */
static inline int
tel_field_labelled(const struct tel_field *f)
{
	return f->datatype == TEL_ADDRESS || f->datatype == TEL_POINTER ||
	    f->space != 0;
}

/* Nonzero when labels of the log may be those of values of f. */
static inline int
tel_field_from_log(const struct tel_field *f)
{
	return f->names == NULL && tel_field_labelled(f);
}

/* clang-format off */
/*
 * What events of a type mean, independent of its name; and the word for it in
 * descriptions of types.
 */
#define TEL_ROLES(ROLE) \
	ROLE(TEL_ROLE_NONE, "") \
	ROLE(TEL_ROLE_INIT, "init") /* has the version of the stream */ \
	ROLE(TEL_ROLE_SYNC, "sync") /* the same instant on two clocks */ \
	ROLE(TEL_ROLE_INTERN, "intern") /* gives a number to a string */ \
	ROLE(TEL_ROLE_LABEL, "label") /* an address has that string */ \
	ROLE(TEL_ROLE_LABEL_P, "labelp") /* a pointer has it */ \
	ROLE(TEL_ROLE_FRAME, "frame") /* gives a number to a frame */ \
	ROLE(TEL_ROLE_ALLOC, "alloc") /* a block is allocated */ \
	ROLE(TEL_ROLE_FREE, "free") /* a block, or a part of it, ends */ \
	ROLE(TEL_ROLE_START, "start") /* a range of time starts */ \
	ROLE(TEL_ROLE_FINISH, "finish") /* it ends */ \
	ROLE(TEL_ROLE_REALLOC, "realloc") /* a block becomes another one */ \
	ROLE(TEL_ROLE_RESERVE, "reserve") /* a buffer sets a block aside */ \
	ROLE(TEL_ROLE_COMMIT, "commit") /* which is allocated then */ \
	ROLE(TEL_ROLE_POOL_CREATE, "create-pool") \
	ROLE(TEL_ROLE_POOL_DESTROY, "destroy-pool") \
	ROLE(TEL_ROLE_BUFFER_CREATE, "create-buffer") \
	ROLE(TEL_ROLE_BUFFER_DESTROY, "destroy-buffer") \
	ROLE(TEL_ROLE_THREAD_END, "end-thread") /* it allocates no more */ \
	ROLE(TEL_ROLE_PROCESS_END, "end-process") /* and all its blocks */ \
	ROLE(TEL_ROLE_POOL_DESCRIBE, "describe-pool") \
	ROLE(TEL_ROLE_NEW, "new") /* TEL_ROLE_ALLOC by an operator of C++ */ \
	ROLE(TEL_ROLE_DELETE, "delete") /* TEL_ROLE_FREE by one */ \
	ROLE(TEL_ROLE_DELETE_SIZED, "delete-sized") /* by one with the size */ \
	ROLE(TEL_ROLE_FREE_SIZED, "free-sized") /* by free_sized() */ \
	ROLE(TEL_ROLE_MIDDLE, "middle") /* happens in a range of time */ \
	ROLE(TEL_ROLE_SAMPLE, "sample") /* of a stack, with a weight or not */ \
	/* of a runtime with a garbage collector: its threads stood still */ \
	ROLE(TEL_ROLE_PAUSE, "pause") \
	ROLE(TEL_ROLE_COLLECTION, "collection") /* the heap was collected */ \
	ROLE(TEL_ROLE_HEAP, "heap") /* in use before or after a collection */ \
	ROLE(TEL_ROLE_GENERATION, "generation") /* what became of one */ \
	ROLE(TEL_ROLE_GAUGE, "gauge") /* bytes and fractions are current */
/* clang-format on */

enum tel_role {
#define TEL__ROLE(role, name) role,
	TEL_ROLES(TEL__ROLE)
#undef TEL__ROLE
};

/* The parts of an allocator's operation that fields give, and their words. */
#define TEL_ROLE_PART_LIST(PART) \
	PART(TEL_PART_ADDRESS, "address") \
	PART(TEL_PART_SIZE, "size") \
	PART(TEL_PART_POOL, "pool") \
	PART(TEL_PART_OLD, "old") /* the block that a realloc takes */ \
	PART(TEL_PART_COUNT, "count") \
	PART(TEL_PART_ALIGNMENT, "alignment") \
	PART(TEL_PART_BUFFER, "buffer") \
	PART(TEL_PART_THREAD, "thread") \
	PART(TEL_PART_PROCESS, "process") /* whose addresses they are */ \
	PART(TEL_PART_STACK, "stack")     /* its frame's number or address */ \
	PART(TEL_PART_WEIGHT, "weight") /* bytes for which a sample stands */ \
	/* of runtimes: the class allocated, or the name of a pause, a collector, \
	 * or of when the heap was so; the number of the collection; ns; why; \
	 * and the bytes that the heap has for its .size */ \
	PART(TEL_PART_NAME, "name") \
	PART(TEL_PART_COLLECTION, "collection") \
	PART(TEL_PART_DURATION, "duration") \
	PART(TEL_PART_CAUSE, "cause") \
	PART(TEL_PART_CAPACITY, "capacity") \
	/* of generations, whose .size was condemned: what survived as a copy, \
	 * and in place; the share that is expected to die; the number */ \
	PART(TEL_PART_MOVED, "moved") \
	PART(TEL_PART_KEPT, "kept") \
	PART(TEL_PART_MORTALITY, "mortality") \
	PART(TEL_PART_SERIAL, "serial")

enum tel_role_part {
#define TEL__PART(part, name) part,
	TEL_ROLE_PART_LIST(TEL__PART)
#undef TEL__PART
};
#define TEL_ROLE_PARTS 20

struct tel_type {
	const char *name; /* owned by the schema */
	const char *kind; /* owned by the schema */
	struct tel_field *fields;
	uint32_t code;
	uint32_t index; /* in the schema's types; past them when unknown */
	uint32_t size;  /* of the whole event; the least, with a string */
	uint16_t kind_number;
	uint16_t name_length;
	uint8_t nfields;
	uint8_t most; /* fields that there is room for, while it is made */
	uint8_t has_string; /* a field is a string: the size varies */
	uint8_t has_names;  /* a field is an enum with .names */
	uint8_t unknown;
	uint8_t unused; /* the flag of the format's registry is not set */
	uint8_t role;   /* enum tel_role */
	/*
	 * The fields of the role; -1 for none.  INTERN: number, string.  LABEL:
	 * address, number.  FRAME: number, address, number of the caller's
	 * frame, and TEL_PART_PROCESS.  SYNC: the other clock.  START and
	 * FINISH: the key of the range, all of it.  All other roles from ALLOC on: by enum
	 * tel_role_part.
	 */
	int8_t role_field[TEL_ROLE_PARTS];
	struct tel_schema *schema; /* whose type it is */
	int32_t partner; /* START: index of the type that ends it; else -1 */
	/* START, FINISH: TEL_ROLE_PAUSE or TEL_ROLE_COLLECTION, or 0 */
	uint8_t range;
	/*
	 * "PHASE(FIELD,...)": the phase of the collection that an event names, from
	 * then on, and the fields that sum the collection up; either may be
	 * missing.  Static, or NULL.
	 */
	const char *collection;
	const char *doc; /* as of a field */
};

/* Nonzero when events of t say something of the log itself. */
static inline int
tel_type_is_followed(const struct tel_type *t)
{
	return t->role != TEL_ROLE_NONE && t->role <= TEL_ROLE_FRAME;
}

/* Nonzero when events of t are strings or labels; both parts are there then. */
static inline int
tel_type_is_name(const struct tel_type *t)
{
	return (t->role == TEL_ROLE_INTERN || t->role == TEL_ROLE_LABEL ||
	           t->role == TEL_ROLE_LABEL_P) &&
	    t->role_field[0] >= 0 && t->role_field[1] >= 0;
}

/* Nonzero when events of t are operations of an allocator. */
static inline int
tel_type_is_alloc(const struct tel_type *t)
{
	return t->role >= TEL_ROLE_ALLOC && t->role != TEL_ROLE_START &&
	    t->role != TEL_ROLE_FINISH && t->role < TEL_ROLE_MIDDLE;
}

/* Nonzero when events of t are samples of allocations. */
static inline int
tel_type_samples_allocs(const struct tel_type *t)
{
	return t->role == TEL_ROLE_SAMPLE &&
	    t->role_field[TEL_PART_NAME] >= 0 &&
	    t->role_field[TEL_PART_WEIGHT] >= 0;
}

/* Nonzero when values of events of t are those of that time. */
static inline int
tel_type_is_gauge(const struct tel_type *t)
{
	return t->role == TEL_ROLE_HEAP || t->role == TEL_ROLE_GAUGE;
}

/* Nonzero when a report needs each event of t, beyond their number. */
static inline int
tel_type_is_runtime(const struct tel_type *t)
{
	return (t->role >= TEL_ROLE_SAMPLE && t->role <= TEL_ROLE_GENERATION) ||
	    t->range != 0;
}

/* Nonzero when a block is allocated, or freed, whichever function does it. */
static inline int
tel_type_allocates(const struct tel_type *t)
{
	return t->role == TEL_ROLE_ALLOC || t->role == TEL_ROLE_NEW;
}

static inline int
tel_type_frees(const struct tel_type *t)
{
	return t->role == TEL_ROLE_FREE ||
	    (t->role >= TEL_ROLE_DELETE && t->role < TEL_ROLE_MIDDLE);
}

/*
 * Where a log has the periods that threads ran, from an event's clock on: the
 * type of such an event and its fields.  A flag is set if the thread was
 * running on another processor by then; where any of uncertain is set, thread or
 * clock are not known well enough for that.
 */
struct tel_periods {
	const struct tel_type *type; /* NULL: it has none */
	uint8_t thread, cpu, end, flags;
	uint8_t twice, uncertain; /* bits of flags, which is a byte */
};

/* Struct layout rules of a writer's platform. */
struct tel_abi {
	uint8_t word;         /* bytes of a pointer: 4 or 8 */
	uint8_t align8;       /* alignment of a 64-bit integer: 4 or 8 */
	uint8_t align_double; /* alignment of a double: 4 or 8 */
	uint8_t big;          /* big-endian */
	uint8_t ms_bits;      /* bit-fields as Microsoft lays them out */
};

/* A kind of a format's registry, and its description in a database. */
struct tel_kind {
	const char *name;
	const char *text;
};

struct tel_schema {
	char name[48];    /* "mps-1.117.0/lii6gc" */
	char version[16]; /* of the stream: "1.6.1" */
	char platform[8]; /* "lii6gc" */
	unsigned release; /* index of the release in the format's table */
	struct tel_abi abi;
	uint32_t header;        /* bytes before an event's first field */
	uint32_t align;         /* every event's size is a multiple */
	int byte_bool;          /* a boolean is a byte, not a bit-field */
	int split_space;        /* addresses and pointers are labelled apart */
	struct tel_type *types; /* in order of codes */
	unsigned ntypes;
	struct tel_type **by_code; /* ncodes of them; NULL: no such code */
	uint32_t ncodes;
	/*
	 * Types made on the way for codes that are not in the table: created
	 * by tel__schema_unknown(), one a code.
	 */
	struct tel_type **unknown;
	unsigned nunknown;
	size_t unknown_room;
	/*
	 * Names of kinds that were made for the schema; those of a built-in
	 * one are static.
	 */
	char **kinds;
	unsigned nkinds;
	/* All kinds of the format, by their numbers; NULL: those of the types. */
	const struct tel_kind *registry;
	unsigned nregistry;
	/*
	 * The registry describes no fields, and marks types that are in all
	 * varieties of the program rather than those in use.
	 */
	int undocumented;
	/*
	 * What a type is, or a field of it (NULL: the type itself), in a few
	 * words, if the log does not say; NULL where that is not known.  doc
	 * itself may be NULL.
	 */
	const char *(*doc)(const char *type, const char *field);
	unsigned most; /* types that there is room for */
	int described; /* its text must say what its types are */
	/*
	 * Files may refer to it by its name alone: a later release may append
	 * types, and does not change those that are there.
	 */
	int stable;
	int untimed;    /* events of clock 0 have no time */
	int buffered;   /* logs are not in the order in which things happened */
	int sync_first; /* a sync point comes before the events of its flush */
	int given;      /* its types have the roles that the user said */
	int sets_clock; /* tel__schema_sets_clock(), once they have */
	int grows;      /* later schemas of its log may have more types, */
	int open;       /* and nobody can look for them first, in a pipe */
	int nested; /* names of fields with dots are of members of structs */
	struct tel_periods periods;
	struct tel_schema *with; /* in a ring of those read together, or NULL */
};

/*
 * Gives a type, or its field f unless that is NULL, n bytes of a log that say what
 * it is: bytes that a terminal should not get are \xHH in it.  0: no memory.
 */
int tel__type_document(struct tel_type *t, struct tel_field *f,
    const void *text, size_t n);
/* Gives it the documentation of another type with these fields.  0: no memory. */
int tel__type_copy_docs(struct tel_type *t, const struct tel_type *from);
/* Gives a field the unit that n bytes name, if any do.  0: no memory. */
int tel__field_set_unit(struct tel_field *f, const void *text, size_t n);

/* Adds a schema to those that another is read together with; NULL: to none. */
void tel__schema_join(struct tel_schema *s, struct tel_schema *with);

/* Nonzero if events of it set the clock of their log. */
int tel__schema_sets_clock(const struct tel_schema *s);

/* Nonzero for types that are looked for, by arg. */
typedef int tel__type_fn(const struct tel_type *type, const void *arg);
/*
 * 1 if it is for a type of the schema, or of one read together with it, 0 if
 * not; -1: they have no types, as of a .tel without events, or may get more, so
 * that nothing is wrong about them.
 */
int tel__schema_any(const struct tel_schema *s, tel__type_fn *wanted,
    const void *arg);

/*
 * Making a schema step by step, for formats whose logs or users describe the
 * types.  All names are copied.  NULL, or 0, when out of memory.
 */

/*
 * A schema without types yet.  name and version as struct tel_schema has
 * them, cut to what fits; most: types that may be added.
 */
struct tel_schema *tel__schema_make(const char *name, const char *version,
    const struct tel_abi *abi, uint32_t header, unsigned most);

/*
 * Adds a type whose events are size bytes long without a string, and have at
 * most nfields fields (255).  Types come in order of codes.  The kind is
 * known again by its name.  NULL also when there are too many.
 */
struct tel_type *tel__schema_add(struct tel_schema *s, const char *name,
    uint32_t code, const char *kind, uint32_t size, unsigned nfields);

/* The bits of a value that is loaded so; 0 for strings and lists. */
uint8_t tel__load_width(enum tel_load load);

/*
 * Adds a field; offset from the start of the event.  Its width follows from
 * load; bit fields and strings included.  NULL also when there are too many.
 */
struct tel_field *tel__type_add(struct tel_type *t, const char *name,
    enum tel_datatype datatype, enum tel_load load, uint32_t offset);

/* Adds a list of elements, each of a data type, laid out as load defines. */
struct tel_field *tel__type_add_list(struct tel_type *t, const char *name,
    enum tel_datatype element, enum tel_load load, uint32_t offset);

/*
 * A digest of everything in the text of a schema: its name and version, and the
 * first n of its types, with their fields and roles.
 */
uint64_t tel__schema_digest(const struct tel_schema *s, unsigned n);

/* A set of codes, of those that built-in schemas have. */
struct tel_codes {
	uint64_t bits[16];
};

static inline void
tel_codes_add(struct tel_codes *set, uint32_t code)
{
	if (code < 64 * sizeof(set->bits) / sizeof(set->bits[0]))
		set->bits[code / 64] |= (uint64_t)1 << code % 64;
}

static inline int
tel_codes_has(const struct tel_codes *set, uint32_t code)
{
	return code < 64 * sizeof(set->bits) / sizeof(set->bits[0]) &&
	    (set->bits[code / 64] >> code % 64 & 1) != 0;
}

/*
 * Reports which types of those codes, and fields of theirs, have another name
 * in the schema b than in a: "; TraceStart.white is grey in NAME".  Appends it
 * to the string in text, up to three of them and how many more there are.
 */
void tel__schema_other_names(const struct tel_schema *a,
    const struct tel_schema *b, const struct tel_codes *codes, char *text,
    size_t size);

/*
 * The type that stands for events of a known code (or that do not fit it): no
 * fields, named by its code as "0x01F4".  NULL when out of memory.  Lives as
 * long as the schema.
 */
struct tel_type *tel__schema_unknown(struct tel_schema *schema, uint32_t code);

#endif
