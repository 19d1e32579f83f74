/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records of the native format, tel(5), and the numbers in them: what libtel and
 * libtel-emit write them with.
 */
#ifndef TEL__RECORD_H
#define TEL__RECORD_H

#include "base/buffer.h"

#define NATIVE_MAJOR 1
#define NATIVE_MEDIAN 1
#define NATIVE_MINOR 3

/* What every record begins with; no byte of it is text. */
#define NATIVE_MARKER "\361tel"
#define NATIVE_HEADER 18u
#define NATIVE_HEAD_MAX 255u
/* The most bytes of a record's body. */
#define NATIVE_BODY_MAX ((uint32_t)1 << 24)

enum native_kind {
	NATIVE_START = 1,    /* begins a stream: version, what wrote it */
	NATIVE_LOG = 2,      /* a log and its schema */
	NATIVE_BLOCK = 3,    /* events */
	NATIVE_NAMES = 4,    /* events of blocks before it that name things */
	NATIVE_INDEX = 5,    /* where the blocks are: version 1.1.0 */
	NATIVE_END = 6,      /* ends a stream */
	NATIVE_SUMMARY = 7,  /* records and values of a group of blocks */
	NATIVE_DIRECTORY = 8 /* where the summaries are */
};
/* Added to the kind of a record that a reader must understand to go on. */
#define NATIVE_NEEDED 0x80u

/* A record's header, and where its parts are. */
struct native_record {
	uint8_t kind; /* NATIVE_NEEDED taken off */
	uint8_t needed;
	uint32_t head_size;
	uint32_t body_size;
	uint32_t check;            /* of the body */
	const unsigned char *head; /* body behind it */
};

/* All bytes of a record. */
static inline size_t
native_size(const struct native_record *rec)
{
	return NATIVE_HEADER + (size_t)rec->head_size + rec->body_size;
}

static inline const unsigned char *
native_body(const struct native_record *rec)
{
	return rec->head + rec->head_size;
}

/*
 * Looks at n bytes at p for a record's header and head.  1: *rec is set, and
 * its header and head are whole (the body was not looked at); 0: no record
 * begins here; -1: more bytes are needed, at most NATIVE_HEADER +
 * NATIVE_HEAD_MAX.
 */
int tel__native_look(const unsigned char *p, size_t n,
    struct native_record *rec);

/* 1 when the body, which is at native_body(rec), is whole. */
int tel__native_whole(const struct native_record *rec);

/*
 * The hash of records up to this one: XXH64 of the hash of those before it, 8
 * bytes, and of the check of its header, 4 bytes; 0 before the first.
 */
uint64_t tel__native_chain(uint64_t hash, const struct native_record *rec);

/*
 * Makes the header of a record of which the head, at p + NATIVE_HEADER, and
 * the body behind it are there.
 */
void tel__native_seal(unsigned char *p, enum native_kind kind, int needed,
    size_t head, size_t body);

/* Bytes of a header that a summary repeats: those behind the marker. */
#define NATIVE_COPIED 10u

/*
 * Makes the record whose header and head are at p, without the body; the
 * header's check is computed, and not compared.  p: NATIVE_HEADER bytes, of
 * which the first 14 are there, and the head.
 */
void tel__native_recall(unsigned char *p, struct native_record *rec);

/* The head of a block, or of a names record. */
struct native_head {
	uint64_t sequence; /* number of the block in its stream, from 0 */
	uint64_t ordinal;  /* events in the blocks before it */
	uint64_t count;    /* events in it */
	uint64_t first;    /* the least clock in it */
	uint64_t last;     /* the greatest */
	uint64_t lost;     /* events lost before it, for want of room */
	uint32_t stream;   /* low bits of the stream's identifier; 1.0: 0 */
	uint8_t source;    /* which of these are known: NATIVE_PROCESS, ... */
	uint64_t process, thread, cpu; /* that wrote it */
};

/* Bits of native_head.source. */
enum { NATIVE_PROCESS = 1, NATIVE_THREAD = 2, NATIVE_CPU = 4 };

/* Writes such a head, at most NATIVE_HEAD_MAX bytes; how many they are. */
size_t tel__native_put_head(unsigned char *p, const struct native_head *h);

/* Low 32 bits of XXH64, with the seed 0. */
uint32_t tel__native_check(const void *p, size_t n);
uint64_t tel__native_xxh64(const void *p, size_t n);

/* -------------------------------------------------------------- blocks */

/* What a column's values are compared with to begin with. */
enum native_class { NATIVE_ADDRESSES, NATIVE_NUMBERS };
#define NATIVE_CLASSES 2

/* Bits of a block's description of the events of a type. */
enum {
	NATIVE_UNKNOWN = 1, /* the type is: its code is recorded */
	NATIVE_VARY = 2,    /* the events differ in size */
	NATIVE_TAILS = 4,   /* and have bytes behind their cells */
	NATIVE_RAW = 8,
	NATIVE_LEAD = 16,
	NATIVE_NOTES = 32,
	NATIVE_INLINE = 64 /* times tel_event.inline_use */
};

/* The low n bytes of v, least first. */
void tel__native_put_fixed(struct tel__buffer *b, uint64_t v, unsigned n);
/* A length, and so many bytes. */
void tel__native_put_string(struct tel__buffer *b, const void *p, size_t n);
void tel__native_put_text(struct tel__buffer *b, const char *s);

#endif
