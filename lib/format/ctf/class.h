/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the metadata of a CTF trace describe: classes of fields, of events and
 * of streams.  CTF 1.8 (text, tsdl.c) and CTF 2 (JSON, fragments.c) become the same.
 */
#ifndef TEL_CTF_CLASS_H
#define TEL_CTF_CLASS_H

#include <stdint.h>

#include "base/arena.h"

/* Documented limits. */
#define CTF_METADATA_MAX ((size_t)64 << 20)
#define CTF_DEPTH_MAX 32u /* of types in types */
#define CTF_STREAM_CLASSES_MAX 4096u
#define CTF_MEMORY_MAX ((size_t)1 << 30) /* of what metadata become */

enum ctf_kind {
	CTF_INTEGER, /* of a fixed number of bits */
	CTF_VARINT,  /* LEB128 */
	CTF_FLOAT,
	CTF_STRING, /* to a NUL */
	CTF_BYTES,  /* a text or a blob of a length that is known before */
	CTF_STRUCT,
	CTF_ARRAY,   /* of a length that is known before */
	CTF_VARIANT, /* one of several, by a selector */
	CTF_OPTIONAL /* or nothing, by a selector */
};

enum ctf_order { CTF_LITTLE, CTF_BIG, CTF_NATIVE };

/* The parts of a packet, in the order in which they are decoded. */
enum ctf_scope {
	CTF_PACKET_HEADER,
	CTF_PACKET_CONTEXT,
	CTF_EVENT_HEADER,
	CTF_COMMON_CONTEXT,
	CTF_SPECIFIC_CONTEXT,
	CTF_PAYLOAD,
	CTF_SCOPES,
	CTF_RELATIVE = CTF_SCOPES /* of a path: the structures around it */
};

/* The meaning that a field has for its packet or event; bits. */
enum ctf_role {
	CTF_ROLE_MAGIC = 1 << 0,
	CTF_ROLE_UUID = 1 << 1,
	CTF_ROLE_STREAM_CLASS = 1 << 2,
	CTF_ROLE_STREAM = 1 << 3,
	CTF_ROLE_PACKET_SIZE = 1 << 4,
	CTF_ROLE_CONTENT_SIZE = 1 << 5,
	CTF_ROLE_CLOCK = 1 << 6,
	CTF_ROLE_END_CLOCK = 1 << 7,
	CTF_ROLE_DISCARDED = 1 << 8,
	CTF_ROLE_SEQUENCE = 1 << 9,
	CTF_ROLE_EVENT_CLASS = 1 << 10
};

/* A range of values, both included; as signed ones in a signed class. */
struct ctf_range {
	uint64_t low, high;
};

struct ctf_label {
	const char *name;
	struct ctf_range range;
	const struct ctf_label *next;
};

/* Where a length or a selector is. */
struct ctf_path {
	enum ctf_scope scope;
	unsigned count; /* 0: no path */
	/* NULL: the structure around the one reached so far */
	const char *const *steps;
};

struct ctf_clock {
	const char *name;
	uint64_t frequency;
	int64_t seconds; /* the offset from its origin, */
	int64_t cycles;  /* both added */
	const struct ctf_clock *next;
};

struct ctf_class;

/* A member of a structure, or an option of a variant. */
struct ctf_member {
	const char *name;
	const struct ctf_class *class;
	const struct ctf_label *ranges; /* CTF 2: of the selector */
	struct ctf_member *next;
};

struct ctf_class {
	enum ctf_kind kind;
	enum ctf_order order;
	uint32_t align; /* in bits, a power of two */
	uint16_t size;  /* of INTEGER and FLOAT, in bits */
	uint8_t is_signed;
	uint8_t base;    /* 2, 8, 10, 16 */
	uint8_t is_text; /* an integer is a character; bytes are a text */
	uint8_t is_boolean;
	uint8_t reversed;  /* the array of bits is in the other order */
	uint8_t encoding;  /* of a text: 8, 16 or 32 bits a unit; */
	uint8_t big_units; /* ... and these are big-endian */
	unsigned roles;    /* enum ctf_role, of CTF 2 */
	const struct ctf_clock *clock; /* that it sets, of 1.8 */
	int is_enum;
	const struct ctf_label *labels;
	struct ctf_member *members;      /* STRUCT, VARIANT */
	const struct ctf_class *element; /* ARRAY, OPTIONAL */
	uint64_t length;                 /* ARRAY, BYTES: without a path */
	struct ctf_path path; /* ARRAY, BYTES: the length; else the selector */
	const struct ctf_label *ranges; /* OPTIONAL: that enable it */
};

struct ctf_event_class {
	const char *name;
	uint64_t id, stream_id;
	const struct ctf_class *context, *payload;
	struct ctf_event_class *next;
};

struct ctf_stream_class {
	uint64_t id;
	int has_id;
	const struct ctf_class *packet_context, *event_header, *event_context;
	const struct ctf_clock *clock; /* CTF 2: the default one */
	struct ctf_stream_class *next;
};

/* A word or a number about the trace. */
struct ctf_attribute {
	const char *name;
	const char *value;
	struct ctf_attribute *next;
};

/* All that metadata say.  Lists are in their order. */
struct ctf_metadata {
	struct tel__arena arena;
	int version; /* 1 or 2 */
	int big;     /* the native byte order */
	int has_uuid;
	unsigned char uuid[16];
	const struct ctf_class *packet_header;
	struct ctf_clock *clocks;
	struct ctf_stream_class *streams;
	struct ctf_event_class *events;
	struct ctf_attribute *environment;
	unsigned nevents;
};

/* Why metadata could not be understood. */
struct ctf_error {
	unsigned line; /* of the text, or number of the fragment, from 1 */
	char text[200];
};

__attribute__((format(printf, 3, 4))) int tel__ctf_error(struct ctf_error *e,
    unsigned line, const char *format, ...);

/*
 * Adds what size bytes of text say to an empty m.  1, or 0 with *e set.
 */
int tel__ctf_tsdl(struct ctf_metadata *m, const char *text, size_t size,
    struct ctf_error *e);
int tel__ctf_fragments(struct ctf_metadata *m, const char *text, size_t size,
    struct ctf_error *e);

/*
 * The same for the bytes of a file of metadata, at most CTF_METADATA_MAX: plain
 * text, packets, or fragments of JSON.
 */
int tel__ctf_metadata(struct ctf_metadata *m, const unsigned char *p,
    size_t size, struct ctf_error *e);
/* Nonzero when these bytes start a file of metadata. */
int tel__ctf_is_metadata(const unsigned char *p, size_t size);
void tel__ctf_metadata_free(struct ctf_metadata *m);

/* A new class of that kind.  NULL when out of memory. */
struct ctf_class *tel__ctf_class(struct ctf_metadata *m, enum ctf_kind kind);
/* An array of elements, or a text if they are characters. */
struct ctf_class *tel__ctf_array(struct ctf_metadata *m,
    const struct ctf_class *element, uint64_t length,
    const struct ctf_path *path);
/* Nonzero when value is in a range; the order of signed numbers is another. */
static inline int
ctf_is_within(const struct ctf_range *range, uint64_t value, int is_signed)
{
	const uint64_t flip = is_signed ? (uint64_t)1 << 63 : 0;

	return (value ^ flip) >= (range->low ^ flip) &&
	    (value ^ flip) <= (range->high ^ flip);
}
/* The same of any in a list. */
int tel__ctf_in_range(const struct ctf_label *list, uint64_t value,
    int is_signed);

#endif
