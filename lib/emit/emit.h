/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The inside of libtel-emit.
 *
 *	tel_emit.h   the macros write events into the rings of their thread
 *	ring.c       the memory or file of the rings; who has which; walking
 *	types.c      lists of types: checked, laid out, described
 * names.c      records beside the events: strings, threads
 *	control.c    which kinds are on
 *	drain.c      from all rings, in order of time, to the sinks
 *	wire.c       .tel records, as tel(5) describes them, by lib/wire
 *	mps.c        the same events as a stream of the MPS
 *	sink.c       where they go
 *	medium.c     files, descriptors, memory, functions and sockets
 *	backtrace.c  the last events as text, without a sink or a heap
 *	open.c       start, end, fork
 *	class.c      classes, which a program without them does not link: class.h
 */
#ifndef TEL_EMIT_INSIDE_H
#define TEL_EMIT_INSIDE_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "base/bytes.h"
#include "tel_emit.h"
#include "wire/record.h"
#include "wire/ring.h"

#define PAGE (&tel__emit_shared.page)
#define POSITION TEL__RING_POSITION
#define TYPES_MAX 4096u
/* Stores a value that other threads may read at any time. */
#define SET(x, v) __atomic_store_n(&(x), v, __ATOMIC_RELAXED)

/* ---------------------------------------------------------------- types */

/* Data types and loads, by their numbers in tel(5). */
enum { UNSIGNED, SIGNED, SET, ADDRESS, POINTER, BOOLEAN, DOUBLE, STRING };
#define LOAD_TEXT 13

struct tel__emit_field {
	const char *name, *unit, *doc;
	const struct tel__emit_letter *letter;
	unsigned offset;
	unsigned space; /* of labels: 2 for threads */
};

/*
 * The meaning of a letter.  T, for types of the library only, is a string that
 * need not be last: its cell has the offset of its bytes.
 */
struct tel__emit_letter {
	const char *name;
	unsigned char data_type, load, width; /* width in bytes; 0: string */
};

/*
 * Parts of a role; a description has at least all but the last two, "stack" and
 * "weight".
 */
#define TEL__EMIT_PARTS 11
#define TEL__EMIT_PARTS_MIN 9

struct tel__emit_typed {
	const char *name, *doc;
	char *texts_kept; /* memory of all texts of the type */
	unsigned code, kind;
	unsigned size; /* without a string, a multiple of 8 */
	unsigned nfields;
	unsigned fixed; /* end of the last cell; strings follow */
	int string;     /* index of the field of letter S, or -1 */
	unsigned texts; /* number of fields of letter T */
	struct tel__emit_field *fields; /* the last one is the thread */
	const char *role;
	/* index of the field of each part of the role, plus 1; or 0 */
	unsigned char parts[TEL__EMIT_PARTS];
	int operates;                 /* it is one of an allocator */
	int partner;                  /* index of the type that ends it */
	struct tel__buffer described; /* its description in .tel */
};

/* The registered types.  Types are only added. */
struct tel__emit_types {
	struct tel__emit_typed *list[TYPES_MAX];
	_Atomic unsigned count;
	uint16_t by_code[65536]; /* index of the type of a code, plus 1 */
	char *kinds[TEL_EMIT_KINDS];
	_Atomic uint32_t digest; /* of all */
};
extern struct tel__emit_types tel__emit_types;

/* Codes of the library's own types. */
enum { CODE_INTERN = 0xFF01, CODE_LABEL, CODE_LABEL_POINTER, CODE_CLOCK_SYNC };
extern const tel_emit_list tel__emit_own;

/* The type with that code, or NULL.  AS */
static inline const struct tel__emit_typed *
tel__emit_find(unsigned code)
{
	unsigned i =
	    __atomic_load_n(&tel__emit_types.by_code[code], __ATOMIC_ACQUIRE);

	return i == 0 ? NULL : tel__emit_types.list[i - 1];
}

/* A value of 1, 2, 4 or 8 bytes.  AS */
static inline uint64_t
tel__emit_load(const void *p, unsigned width)
{
	uint64_t v8 = 0;
	uint32_t v4;
	uint16_t v2;

	switch (width) {
	case 8: memcpy(&v8, p, 8); return v8;
	case 4: memcpy(&v4, p, 4); return v4;
	case 2: memcpy(&v2, p, 2); return v2;
	default: return *(const unsigned char *)p;
	}
}

#define CODE_LISTS 0xBFFFu
/* most: the highest code that types of the list may have. */
int tel__emit_add_list(const tel_emit_list *list, unsigned most);
void tel__emit_free_types(void);
/*
 * Builds an event, except its first 2 words, in TEL_EMIT_EVENT_MAX bytes;
 * strings are cut to fit.  Returns its size, a multiple of 8.  AS
 */
size_t tel__emit_build(const struct tel__emit_typed *t,
    const tel_emit_value *values, unsigned count, uint64_t *event);
/* Sets errno.  Returns 0 if it is 0, otherwise -1. */
int tel__emit_result(int error);
/* Sets errno to EINVAL and the message of tel_emit_error().  Returns -1. */
__attribute__((format(printf, 1, 2))) int tel__emit_wrong(const char *format,
    ...);

/* ---------------------------------------------------------------- names */

/* Adds an entry.  0; -1 with ENOSPC. */
int tel__emit_add_entry(unsigned what, uint64_t value, const void *bytes,
    size_t length);
/* Returns the entry at *at and advances *at; NULL: no more entries. */
const struct tel__ring_entry *tel__emit_next_entry(uint64_t *at);
void tel__emit_forget_strings(void);

/* ---------------------------------------------------------------- rings */

/* Walks the events of a ring.  AS */
struct tel__emit_walk {
	const struct tel__emit_ring *ring;
	uint64_t mask; /* not the ring's, which other processes may change */
	uint64_t at;   /* position, as in head */
	uint64_t end;  /* end position */
};
#define NAMES_BYTES ((size_t)1 << 20)
#define RINGS_MAX 1024u

struct tel__emit_ring *tel__emit_ring(unsigned i);
unsigned tel__emit_ring_count(void);
/* The words of a ring.  AS */
uint64_t tel__emit_ring_words(void);
/* Events of a kind for which there was no ring. */
uint64_t tel__emit_dropped(unsigned kind);
/*
 * The position of the oldest event not overwritten, nor within margin words of
 * it.
 */
uint64_t tel__emit_oldest(const struct tel__emit_ring *ring, uint64_t head,
    uint64_t margin);
/*
 * The event at w->at, and its size in words; NULL: it is incomplete, or there
 * is none.
 */
static inline const uint64_t *
tel__emit_here(const struct tel__emit_walk *w, unsigned *words)
{
	const uint64_t *p =
	    (const uint64_t *)(const void *)((const char *)w->ring +
	        TEL__RING_HEADER) +
	    (w->at & w->mask);
	const uint64_t left = (w->end - w->at) & POSITION;

	*words = left == 0 ?
	    0 :
	    tel__ring_event(__atomic_load_n(p, __ATOMIC_ACQUIRE), w->at, left);
	return *words > 0 ? p : NULL;
}
/*
 * Advances to the next complete event, or to the end.  The events between are
 * not counted in w->at.  0: there is none.
 */
int tel__emit_search(struct tel__emit_walk *w);

/* The id of this thread; whether the thread with an id has ended.  AS */
uint32_t tel__emit_thread_id(void);
int tel__emit_thread_gone(uint32_t thread);
/* The monotonic clock, in nanoseconds; and that of events.  AS */
uint64_t tel__emit_gettime(void);
uint64_t tel__emit_ticks(void);

/* Reserves an event; if open.words is NULL, it is dropped. */
static inline struct tel__emit_open
tel__emit_begin(unsigned kind, unsigned code, size_t bytes)
{
	const struct tel__emit_open open = tel__emit_reserve(kind, code, bytes);

	return open.words != NULL ? open :
	                            tel__emit_slow(open, kind, code, bytes);
}

/*
 * Maps memory, in place of that at an address unless it is NULL: zeros, or the
 * bytes of a file, which it shares, if fd is not negative.  NULL with errno.
 */
void *tel__emit_memory(void *at, size_t bytes, int fd, off_t from);
/* Maps the page and the rings.  0, -1. */
int tel__emit_map(const tel_emit_options *o);
/*
 * Gives the ring file its name, once all is in it that readers need: until then
 * it would be one of an unknown format, or of a program that has ended.  0, -1.
 */
int tel__emit_name_file(void);
/* Has each thread read a coarse clock for its next event. */
void tel__emit_expire_clocks(void);
/* Makes the page a private copy, without the file. */
void tel__emit_detach(void);
/* Unmaps the ring file; the page is then that of a closed program. */
void tel__emit_unmap(void);
/*
 * Returns a path with "%p" replaced by the process id, and a suffix; NULL: no
 * memory.
 */
char *tel__emit_path(const char *pattern, const char *suffix);

/* ---------------------------------------------------------------- drain */

#define BATCH_EVENTS 16384u
#define BATCH_WORDS ((size_t)1 << 17)

/* Events in order of time. */
struct tel__emit_batch {
	unsigned count;
	size_t used;     /* words */
	uint64_t *words; /* BATCH_WORDS */
	uint64_t *clock; /* BATCH_EVENTS each */
	uint32_t *at;    /* start of each event in words */
	uint16_t *type;  /* index */
	int one_type,
	    one_thread;  /* all events have the first one's type, thread */
	unsigned types;  /* number of registered types */
	uint32_t digest; /* digest of these types */
	/* or these instead of words, at and type: of other programs */
	const tel_emit_columns *columns;
};

/* Sets types and digest to those registered now. */
void tel__emit_count_types(struct tel__emit_batch *b);
/* Events of a kind lost so far before they reached any sink. */
uint64_t tel__emit_lost_of(unsigned kind);
/* Skips overwritten events, without counting them as lost. */
void tel__emit_skip_lost(void);
/* Wakes the drain thread.  AS */
void tel__emit_wake(void);
int tel__emit_start_thread(void);
void tel__emit_stop_thread(void);
/* This thread drains: it must not wait for the drain. */
extern __thread int tel__emit_draining
    __attribute__((tls_model("initial-exec")));
/* Drains the rings; all: does not wait for incomplete events. */
void tel__emit_drain(int all);
void tel__emit_drain_open(void);
void tel__emit_drain_close(void);

/* ----------------------------------------------------------------- wire */

/* The state of a .tel or MPS stream. */
struct tel__emit_stream {
	uint64_t sequence, events, length, offset;
	uint64_t id;     /* unique */
	uint64_t hash;   /* chained hash of all records */
	uint32_t digest; /* of the schema that the last LOG record had */
	int started;
	uint64_t names; /* offset of the first name not yet in it */
};

/* These append records to b; on failure b->failed is set. */
void tel__emit_put_block(struct tel__emit_stream *s, struct tel__buffer *b,
    const struct tel__emit_batch *batch, uint64_t lost);
/*
 * Appends the events as an MPS stream; returns how many could not be
 * represented.
 */
unsigned tel__emit_put_mps(struct tel__emit_stream *s, struct tel__buffer *b,
    const struct tel__emit_batch *batch);
void tel__emit_put_end(struct tel__emit_stream *s, struct tel__buffer *b);
/* Sets t->described. */
void tel__emit_describe(struct tel__emit_typed *t);
/* The digest of all types. */
uint32_t tel__emit_digest(void);

/* ---------------------------------------------------------------- sinks */

/* Under the lock of the drain: */
int tel__emit_has_sinks(void);
void tel__emit_feed(const struct tel__emit_batch *batch);
void tel__emit_tend_sinks(void); /* connects, accepts, writes queued data */
void tel__emit_fork_sinks(void);
void tel__emit_close_sinks(void);
/* Events that sinks lost, also those that are closed. */
uint64_t tel__emit_sinks_lost(void);
/* Forgets closed sinks. */
void tel__emit_forget_sinks(void);
/* Returns errno of the first failure of a sink since the last call, or 0. */
int tel__emit_take_error(void);

/* ---------------------------------------------------------------- hooks */

/* Callbacks of classes.  Only child is called with locks held. */
struct tel__emit_hooks {
	void (*tick)(void);  /* the drain thread is about to drain */
	void (*close)(void); /* telemetry ends */
	void (*child)(void); /* of fork: its rings are there */
};

/* ---------------------------------------------------------------- state */

/* The state of the library in a process. */
struct tel__emit_state {
	pthread_mutex_t classes; /* the tree of classes, and snapshots */
	pthread_mutex_t drain;   /* draining and sinks; taken after that one */
	pthread_mutex_t lock;    /* names and types; the last */
	_Atomic int open;
	tel_emit_options options;
	char *ring_file; /* the pattern */
	struct tel__emit_meta {
		char key[32], value[96];
	} metadata[8];
	unsigned metadata_count;
	const struct tel__emit_hooks *_Atomic hooks; /* NULL: none */
};
extern struct tel__emit_state tel__emit_state;

/* Ticks per second of the clock, as far as known. */
double tel__emit_rate(void);
uint64_t tel__emit_now_ns(void);
/*
 * Stores both clocks in the page, unless done less than so many ticks ago.  AS
 */
void tel__emit_pair(uint64_t ticks);
/* Parses the text of tel_control_text() for a page.  0, -1. */
int tel__emit_parse_control(const struct tel__emit_page *page, const char *text,
    uint32_t *kinds);
void tel__emit_set_output(struct tel__emit_page *page, uint32_t kinds);

#endif
