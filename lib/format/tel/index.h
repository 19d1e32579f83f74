/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The index of a file in the native format: where its blocks are, and the time
 * range of each.  A directory has groups of blocks, with summaries of the
 * blocks; in streams up to version 1.1.0 one record has them all.
 */
#ifndef TEL_NATIVE_INDEX_H
#define TEL_NATIVE_INDEX_H

#include "format/tel/wire.h"
#include "io/input.h"

/* A record of a stream, or a group. */
struct native_entry {
	uint64_t offset;   /* in the file */
	uint64_t first;    /* the least clock in it, */
	uint64_t last;     /* and the greatest */
	uint64_t ordinal;  /* events in the blocks of its stream before it */
	uint64_t sequence; /* blocks of its stream before it */
	uint64_t from;     /* of names: the first block that they are about */
	uint64_t before;   /* events of the file before it, */
	uint64_t earlier;  /* and blocks */
	uint64_t count;    /* events in it */
	uint64_t lost;     /* events lost before it, as far as known */
	uint32_t size;     /* bytes; of a group: its number in the index */
	uint32_t blocks;   /* 1 for a block, and those of a group */
	uint8_t kind;  /* NATIVE_START, _LOG, _BLOCK, _NAMES; _SUMMARY: group */
	uint8_t named; /* names records have all that it names */
	uint8_t source; /* of a block: native_head.source, as far as known */
};

struct native_index {
	struct native_group *groups;
	uint64_t false_at; /* a record that is not true; or UINT64_MAX */
	size_t count;
	struct native_entry *entries; /* in the order of the file */
	uint64_t end;                 /* where the record is that ends all */
	int single;                   /* there is one log */
	int sole;                     /* and one stream */
	size_t least;    /* the block, or group, with the least clock */
	uint64_t events; /* in all blocks */
	uint64_t first;  /* the least clock in a block, */
	uint64_t last;   /* and the greatest; 0 without blocks */
	uint64_t sorted; /* as tel_clock_span.sorted */
};

/*
 * Reads the index of an input that can seek and is nothing but streams each of
 * which has one.  It is not believed where it cannot be true.  A directory is
 * compared with the hashes of the stream; an index of version 1.1.0 has facts
 * on records that tel__native_index_check() verifies.
 * in: is left anywhere: seek before reading on.
 * out: set to the index, or NULL when there is none.
 * Returns TEL_OK, TEL_ENOMEM.
 */
tel_status tel__native_index_read(struct tel_input *in,
    struct native_index **out);
void tel__native_index_free(struct native_index *x);

/*
 * Compares the blocks and NAMES records with an index of version 1.1.0, and
 * checks whether a directory was found to be false.  Returns the number of the
 * first wrong entry, or x->count; x->count also where the input cannot be read
 * at given offsets.
 */
size_t tel__native_index_check(const struct tel_input *in,
    const struct native_index *x);

/* ------------------------------------------------------------- summaries */

/* A decoded summary of a group. */
struct native_summary {
	struct native_entry *entries; /* blocks and logs, in order */
	size_t count, room;
	struct native_bytes rest; /* the ranges of values, not decoded yet */
	unsigned char *bytes;     /* the record */
	size_t byte_room;
	int incomplete; /* types are left out */
};

/*
 * Reads the summary of the group that is entry i, and compares it with what
 * the directory and the hash of the stream say.
 * in: is left anywhere.
 * TEL_OK; TEL_EFORMAT: it is not true, or cannot be read; TEL_ENOMEM.
 */
tel_status tel__native_summary_read(struct tel_input *in,
    const struct native_index *x, size_t i, struct native_summary *s);
void tel__native_summary_clear(struct native_summary *s);

/*
 * Which blocks of the group may have events that the reader's chooser selects.
 * find: the schema of a name and a digest, or NULL.
 * wanted: set for each block, in order.
 */
typedef const struct native_schema *tel__native_find_fn(void *arg,
    const unsigned char *name, size_t size, uint64_t digest);
struct tel_predicate_pushdown;
struct tel_clock;
/* The log of all events in the file, if it is the only one. */
struct native_sole {
	int counted;   /* its events have their ordinals as numbers, */
	uint64_t base; /* and this added */
	/* ticks are the same time whatever comes, in known schemas; or NULL */
	struct tel_clock *clock;
};
void tel__native_summary_choose(const struct native_summary *s,
    unsigned nblocks, const struct tel_predicate_pushdown *chooser,
    const struct native_sole *sole, tel__native_find_fn *find, void *arg,
    uint8_t *wanted);

#endif
