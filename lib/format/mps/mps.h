/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MPS telemetry streams: what the Memory Pool System writes.  Facts: the
 * MPS's design.mps.telemetry, and streams of releases 1.111 to 1.118.
 */
#ifndef TEL_MPS_H
#define TEL_MPS_H

#include "reader/format.h"

/* The kinds, by their bit in MPS_TELEMETRY_CONTROL. */
enum mps_kind { ARENA, POOL, TRACE, SEG, REF, OBJECT, USER, MPS_KINDS };

extern const struct tel_kind tel__mps_kinds[MPS_KINDS];

/*
 * An event type as releases first to last have it (111 is 1.111).
 * fields: "letter:name" with blanks between; the letters are the MPS's (P
 *	pointer, A address, W word, U unsigned int, D double, S string, B
 *	boolean) and Z, a word that is a set of bits.
 * role: what the type means and the fields that say it, see schema.c.
 * collection: "" or as in struct tel_type.
 * The rows are those of events.tsv.
 */
struct mps_row {
	uint16_t code;
	uint8_t first, last;
	uint8_t kind;
	uint8_t used; /* the registry's own flag; plays no part in decoding */
	const char *name;
	const char *fields;
	const char *role, *collection;
};
extern const struct mps_row tel__mps_rows[];
extern const unsigned tel__mps_nrows;

/* A release and what its streams look like. */
struct mps_release {
	uint8_t number;      /* 111 */
	const char *name;    /* "mps-1.111.0" */
	uint8_t version[3];  /* of the stream: major, median, minor */
	uint8_t byte_bool;   /* a boolean is a byte, not a bit-field */
	uint8_t signed_bool; /* its converter prints true as all ones */
	uint8_t old_text;    /* its mpseventtxt knows no times of labels */
	uint8_t split_space; /* addresses and pointers are labelled apart */
	uint8_t documented;  /* its registry describes parameters */
	uint8_t max_code;    /* from its EventInit */
};

/* The length of the longest name, as EventInit of all releases has it. */
#define MPS_MAX_NAME 19

extern const struct mps_release tel__mps_releases[];
extern const unsigned tel__mps_nreleases;

/*
 * Makes the schema of release (an index of tel__mps_releases) for a platform, as
 * the ABI of that platform lays the events out.
 */
tel_status tel__mps_schema_new(unsigned release, const char *platform,
    const struct tel_abi *abi, struct tel_schema **out);

/* The descriptions of docs.tsv: of a type, or of a field that is not "". */
struct mps_doc {
	const char *type, *field, *text;
};
extern const struct mps_doc tel__mps_docs[];
extern const unsigned tel__mps_ndocs;
/*
 * The description of a type, or of a field of it (NULL: the type itself), as
 * struct tel_schema has it.
 */
const char *tel__mps_doc(const char *type, const char *field);

/* The schema of a name: "mps-1.117.0/lii6gc,be".  TEL_EINVAL: invalid. */
tel_status tel__mps_schema_named(const char *name, struct tel_schema **out);

/* The ABI of a platform named as the MPS names them; 0 when unknown. */
int tel__mps_platform_abi(const char *platform, struct tel_abi *out);

/* Nonzero for the string in which an MPS names its release. */
int tel__mps_match_build_string(const char *string, size_t length);

extern const struct tel_format_ops tel__format_mps;

#endif
