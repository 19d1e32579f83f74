/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files rings*.c share: the rings of libtel-emit, out of a file that
 * a program had mapped or a core of it, while they are read.
 */
#ifndef TEL_TEL_RINGS_H
#define TEL_TEL_RINGS_H

#include "base/buffer.h"
#include "reader/reader.h"
#include "wire/ring.h"

/* An event that was found. */
struct tel__rings_found {
	uint64_t clock;
	uint64_t order; /* of events of the same clock */
	size_t at;      /* in the rows */
	uint32_t size;
	uint32_t code;
};

/* The position up to which a ring was read. */
struct tel__rings_seen {
	uint32_t claim;  /* whose it was; 0: nobody's */
	unsigned stuck;  /* looks that found the next event unfinished */
	uint64_t head;   /* as the ring had it */
	uint64_t at;     /* a head: the next event */
	uint64_t events; /* of the ring before it */
	uint64_t order;  /* of the next event, in struct tel__rings_found */
	uint64_t clock;  /* of the last event that was found */
};

struct tel__rings {
	struct tel__emit_page page;
	int swapped; /* the program ran on a machine of the other byte order */
	struct tel__buffer names, ring;
	struct tel__buffer rows; /* the events, each from 8 bytes on */
	struct tel__buffer list; /* of struct tel__rings_found */
	struct tel__buffer kept; /* rows, while keep_later() moves them */
	int loaded;
	size_t next;    /* of the list */
	size_t ready;   /* how many of the list are to be handed out */
	size_t taken;   /* bytes of names whose events were taken */
	uint64_t index; /* of its event, in all */
	uint64_t torn;  /* events that were not whole */
	uint64_t lost;  /* that were overwritten between two looks */
	uint64_t offset;
	const struct tel_type **types; /* by code; 65536 */
	size_t described;              /* types in the schema */
	size_t named;                  /* names that were taken */
	uint64_t threads;              /* and those of threads among them */
	struct tel__rings_seen *seen;  /* of each ring; NULL: not followed */
	int ended;                     /* the program has ended */
	int changed;                   /* it no longer can be read */
	int looked;                    /* at all rings, once */
	uint64_t newest;               /* the clock of the newest event */
	uint64_t bound;                /* unfinished events are not before */
	uint64_t horizon;              /* of events to be handed out */
};

static inline void
tel__swap4(uint32_t *v)
{
	*v = __builtin_bswap32(*v);
}

static inline void
tel__swap8(uint64_t *v)
{
	*v = __builtin_bswap64(*v);
}

/* rings_page.c */

/* Takes n bytes of the input into b, or those that there are. */
int tel__rings_load(struct tel_reader *r, struct tel__buffer *b, uint64_t n);
/* The page at p, in the byte order of this machine. */
void tel__rings_read_page(struct tel__rings *s, const unsigned char *p);
/* The header of a ring, at p. */
struct tel__emit_ring tel__rings_read_ring(const struct tel__rings *s,
    const unsigned char *p);
/* An integer of 8 bytes. */
uint64_t tel__rings_read8(const struct tel__rings *s, const unsigned char *p);
/* What .tel has in place of the size and the clock of an event: its thread. */
void tel__rings_put_head(const struct tel__rings *s, unsigned char *to,
    uint32_t thread);
/* Whether the page makes sense. */
int tel__rings_check_page(const struct tel__emit_page *p);
/*
 * Looks at the page, and at the names as far as they can be seen.  Nothing is
 * stepped over: a member of an archive may be copied before it is read.
 */
tel_status tel__rings_look(struct tel_reader *r, struct tel__rings *s);
/* Reads the page and all names. */
tel_status tel__rings_load_page(struct tel_reader *r, struct tel__rings *s);

/* rings_names.c */

/* The entry at *at, which is then the next one's; 0: no more. */
int tel__rings_next_entry(const struct tel__rings *s, size_t *at,
    struct tel__ring_entry *entry);
/* Makes the schema of the types among the names, as tel(5) describes them. */
tel_status tel__rings_make_schema(struct tel_reader *r, struct tel__rings *s);
/* Takes the strings, and the names of threads. */
tel_status tel__rings_take_names(struct tel_reader *r, struct tel__rings *s);
/*
 * Takes the events among the names, which every stream has, but once: those of
 * strings, and others as they are.
 */
void tel__rings_take_entries(struct tel__rings *s);

/* rings_events.c */

/*
 * Takes the events of ring number i, which is in tel__rings.ring.  ring: its
 * header before it was read; now: after that.
 */
void tel__rings_take(struct tel__rings *s, const struct tel__emit_ring *ring,
    const struct tel__emit_ring *now, unsigned i);

#endif
