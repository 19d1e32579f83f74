/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tel/schema.h - part of libtel, see tel.h for the general rules.
 *
 * Schemas: event types, their fields and roles.
 */
#ifndef TEL_TEL_SCHEMA_H
#define TEL_TEL_SCHEMA_H

#include "tel/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tel_schema tel_schema;
typedef struct tel_type tel_type;
typedef struct tel_field tel_field;

/* The data type of a field. */
typedef enum tel_datatype {
	TEL_UNSIGNED, /* an unsigned integer: a size, a count, a number */
	TEL_SIGNED,   /* a signed integer */
	TEL_SET,      /* an unsigned integer that is a set of bits */
	TEL_ADDRESS,  /* an address in the memory that is managed */
	TEL_POINTER,  /* a pointer to an object of the system itself */
	TEL_BOOLEAN,  /* 0 or 1 */
	TEL_DOUBLE,   /* IEEE 754 binary64, or binary32 where 32 bits wide */
	TEL_STRING,   /* bytes up to a NUL, excluding it */
	TEL_LIST      /* values of one of these: tel_field_element() */
} tel_datatype;

/* The name of a data type in lower case, for example "address"; static. */
TEL_SINCE_0_1 const char *tel_datatype_name(tel_datatype datatype);

/* The field's name; lives as long as its schema. */
TEL_SINCE_0_1 const char *tel_field_name(const tel_field *field);
/* The field's data type. */
TEL_SINCE_0_1 tel_datatype tel_field_datatype(const tel_field *field);
/*
 * The width of the field on the wire in bits: 1 to 64, of a list that of an
 * element; or 0 for a string, whose width varies.
 */
TEL_SINCE_0_1 unsigned tel_field_width(const tel_field *field);
/* The data type of the elements of a list; of another field, its own. */
TEL_SINCE_0_1 tel_datatype tel_field_element(const tel_field *field);
/* Nonzero when an event may lack the field: tel_event_has(). */
TEL_SINCE_0_1 int tel_field_optional(const tel_field *field);
/*
 * The unit of the field's values, where the format or the log has one: "ns" (a
 * span of time), "time" (nanoseconds since 1970-01-01 00:00 UTC), "bytes", "bits",
 * "bytes/s", "bits/s", "fraction" (1 is the whole), "Hz", or another word of the
 * log; else "".  Lives as long as its schema.
 */
TEL_SINCE_0_1 const char *tel_field_unit(const tel_field *field);

/* The type's name, for example "PoolAlloc"; lives as long as its schema. */
TEL_SINCE_0_1 const char *tel_type_name(const tel_type *type);
/* The type's number on the wire. */
TEL_SINCE_0_1 uint32_t tel_type_code(const tel_type *type);
/* The name of the type's kind, for example "Pool"; lives as the schema. */
TEL_SINCE_0_1 const char *tel_type_kind(const tel_type *type);
/*
 * The number of the type's kind, from 0; in an MPS log the bit that turns
 * the kind on in MPS_TELEMETRY_CONTROL.
 */
TEL_SINCE_0_1 unsigned tel_type_kind_number(const tel_type *type);
/* How many fields events of this type have, 0 to 255. */
TEL_SINCE_0_1 unsigned tel_type_field_count(const tel_type *type);
/*
 * The field number i, from 0; NULL when i is out of range. Lives as long as the
 * schema.
 */
TEL_SINCE_0_1 const tel_field *tel_type_field(const tel_type *type, unsigned i);
/*
 * The number of the field called name, or -1 when the type has none.
 */
TEL_SINCE_0_1 int tel_type_find_field(const tel_type *type, const char *name);
/*
 * Nonzero when libtel does not know the type: its code is unknown, or the event
 * does not fit the type of its code.  Such a type has no fields;
 * tel_event_bytes() gives the event's bytes.
 */
TEL_SINCE_0_1 int tel_type_unknown(const tel_type *type);
/*
 * The role of events of the type, "alloc" or "free" for example: one of those
 * that tel_reader_add_role() knows, "start" or "finish" of ranges, "sample" of
 * stacks, or "pause", "collection", "heap", "generation" or "gauge" of runtimes;
 * "" for none.  Static.
 */
TEL_SINCE_0_1 const char *tel_type_role(const tel_type *type);
/*
 * What a range is that events of the type start or finish: "pause" or
 * "collection" of a runtime; "" for any other range or role.  Static.
 */
TEL_SINCE_0_1 const char *tel_type_range(const tel_type *type);
/*
 * The number of the field that is a part of the role of an allocator, of
 * samples, or of runtimes; "address" of a tel_type_range() identifies the range.
 * part: "address", "size", "pool", "old", "count", "alignment", "buffer",
 *	"thread", "process", "stack", "weight", "name", "collection",
 *	"duration", "cause", "capacity", "moved", "kept", "mortality" or "serial".
 * Returns -1 when the type has no such role, or the role no such part.
 */
TEL_SINCE_0_1 int tel_type_role_field(const tel_type *type, const char *part);

/*
 * What events of the type are, or what field number i of it is, in a few words;
 * "" where neither the log nor libtel knows.  Bytes of a log that a terminal should
 * not get are \xHH.  Lives as long as its schema.
 */
TEL_SINCE_0_1 const char *tel_type_doc(const tel_type *type);
TEL_SINCE_0_1 const char *tel_type_field_doc(const tel_type *type, unsigned i);

/*
 * The schema's name, which tel_reader_set_as() also takes: format, release
 * and platform, for example "mps-1.117.0/lii6gc".
 */
TEL_SINCE_0_1 const char *tel_schema_name(const tel_schema *schema);
/* The version of the stream's format as it is written, "1.6.1"; static. */
TEL_SINCE_0_1 const char *tel_schema_version(const tel_schema *schema);
/*
 * Nonzero when logs of the schema have their events in order of time.  Zero:
 * their writer, an MPS, buffers events and writes each buffer newest first; a
 * window gives them in order.
 */
TEL_SINCE_0_1 int tel_schema_ordered(const tel_schema *schema);
/* How many types the schema has. */
TEL_SINCE_0_1 unsigned tel_schema_type_count(const tel_schema *schema);
/* The type number i in order of codes; NULL when i is out of range. */
TEL_SINCE_0_1 const tel_type *tel_schema_type(const tel_schema *schema,
    unsigned i);
/* The type called name, in exactly those letters; NULL when there is none. */
TEL_SINCE_0_1 const tel_type *tel_schema_find_type(const tel_schema *schema,
    const char *name);

/*
 * Makes the schema of a built-in format.
 * name: "ets", "inst", "hpm" (version 3, with eight counters), or as
 *	tel_schema_name() gives it; the platform may be omitted ("mps-1.117.0"),
 *	and then is lii6gc.  ",be" at the end makes it big-endian, ",le"
 *	little-endian.
 * out: set on success to a schema that the caller frees.
 * Returns TEL_OK, TEL_EINVAL (no such format, release or platform),
 * TEL_ENOMEM.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_schema_new(const char *name,
    tel_schema **out);
/* Frees a schema that tel_schema_new() made. */
TEL_SINCE_0_1 void tel_schema_free(tel_schema *schema);

/*
 * The name of the built-in release number i, from 0, oldest first, for
 * example "mps-1.111.0", and then of formats without releases: "ets", "hpm" and
 * "inst"; NULL when i is past the last one.  Static.
 */
TEL_SINCE_0_1 const char *tel_release_name(unsigned i);

#ifdef __cplusplus
}
#endif

#endif
