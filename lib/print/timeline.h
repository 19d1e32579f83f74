/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Timeline: events as ranges of time, instants and counters on tracks, for
 * the formats that show or add up such.  Events come in order of time.
 */
#ifndef TEL_TIMELINE_H
#define TEL_TIMELINE_H

#include "base/table.h"
#include "model/live.h"
#include "model/run.h"
#include "render/renderer.h"

/* The most tracks; past that, events go to the track of their process. */
#define TIMELINE_TRACKS 16384
/* Ranges of one type and context that are open at once. */
#define TIMELINE_LANES 256
/* Pools whose bytes are counted apart. */
#define TIMELINE_POOLS 4096
/* Gauges and tracks that are found fast; powers of two. */
#define TIMELINE_RECENT 32u
/* Channels whose messages are counted. */
#define TIMELINE_FLOWS ((size_t)1 << 20)
/* The counter of frees of blocks that the log does not allocate. */
#define TIMELINE_UNKNOWN "frees of blocks from before the log"
/* Bytes of a name, what it is cut to. */
#define TIMELINE_NAME 512

/* What a track has of memory. */
enum timeline_memory {
	TIMELINE_NO_MEMORY,
	TIMELINE_LIVE,   /* bytes of blocks */
	TIMELINE_HELD,   /* bytes that pools hold of an arena */
	TIMELINE_MAPPED, /* bytes of address space */
	TIMELINE_SIZES,  /* of new blocks */
	TIMELINE_LIFETIMES
};

/* What a track is for. */
enum timeline_use {
	TIMELINE_PROCESS, /* a log: the parent of all others */
	TIMELINE_THREAD,  /* a thread or a processor */
	TIMELINE_KIND,    /* the events of a kind, without a thread */
	TIMELINE_RANGES,
	TIMELINE_COUNT, /* a counter */
	TIMELINE_BYTES, /* the same, in bytes */
	TIMELINE_RATE,  /* rates are shown per second */
	TIMELINE_HEAT   /* how often values come */
};

struct timeline_track {
	uint32_t id; /* from 1 */
	enum timeline_use use;
	struct timeline_track *parent; /* NULL: it is a process */
	char *name;
	size_t length;
	/* ranges: another track for those that would overlap */
	struct timeline_track *lane;
	unsigned depth; /* ranges that are open */
	/* of the last one that started: its hash, and how many had before it */
	uint64_t key, since;
	uint64_t busy;    /* up to when a range of known length goes */
	int cycles;       /* it counts cycles of a processor */
	const char *unit; /* of a counter's field; NULL or "": none */
	enum timeline_memory memory;
	/* where its name has that of the pool or process it is of; 0: of all */
	size_t owner_at;
};

/* The output format of a timeline.  Times are in ns since the first event. */
struct timeline_ops {
	/* NULL: tracks are not written by themselves */
	void (*track)(struct tel_printer *pr, const struct timeline_track *t);
	/* name: of the range, and n bytes long; ev: its fields say more */
	void (*begin)(struct tel_printer *pr, const struct timeline_track *t,
	    uint64_t time, const char *name, size_t n,
	    const struct tel_event *ev);
	void (*end)(struct tel_printer *pr, const struct timeline_track *t,
	    uint64_t time);
	/* a range of known length; method: a field with details, or -1 */
	void (*span)(struct tel_printer *pr, const struct timeline_track *t,
	    uint64_t time, uint64_t length, const char *name, size_t n,
	    const struct tel_event *ev, int method);
	void (*instant)(struct tel_printer *pr, const struct timeline_track *t,
	    uint64_t time, const char *name, size_t n,
	    const struct tel_event *ev);
	/* RATE: value: how much more */
	void (*counter)(struct tel_printer *pr, const struct timeline_track *t,
	    uint64_t time, int64_t value);
	/* a value that came so many times; NULL: resources are not shown */
	void (*heat)(struct tel_printer *pr, const struct timeline_track *t,
	    uint64_t time, int64_t value, uint64_t times);
	/*
	 * A counter had n values by a time, from low to high and last, all in
	 * one bucket; NULL: each of them is shown.
	 */
	void (*values)(struct tel_printer *pr, const struct timeline_track *t,
	    uint64_t time, uint64_t n, int64_t low, int64_t high, int64_t last);
	/* with values: what was counted in a bucket of time is due */
	void (*flush_bucket)(struct tel_printer *pr);
	size_t state_size; /* for tel__timeline_begin_log() */
};

struct timeline_plan;
struct timeline_plans;
struct timeline_resources;

/* A gauge: live bytes of a pool, or of another kind. */
struct timeline_gauge {
	struct timeline_track *track;
	uint64_t bytes;
	uint64_t unknown; /* frees of blocks that the log does not allocate */
	/* what it had in this bucket of time, and the next that had something */
	uint64_t shown, low, high;
	uint32_t next;
	int ended; /* what it was of has ended: its number is used again */
	int left;  /* a process that has ended left something of it */
};

/* A pool and its gauge. */
struct timeline_recent {
	const struct tel_log *log; /* NULL: none */
	uint64_t owner;
	uint32_t gauge;
};

/* Values that came in a bucket, by powers of two. */
struct timeline_strip {
	struct timeline_track *track; /* NULL: they are not shown */
	uint64_t rows, row[64];       /* .rows: a bit for each that is not 0 */
};

struct timeline {
	const struct timeline_ops *ops;
	int counters; /* they are shown, and so are instants */
	struct timeline_track **tracks;
	size_t ntracks, room;
	struct tel__table by_name; /* hash of a name to a track's number */
	struct tel__table open;    /* hash of a range to its track's number */
	uint64_t starts;           /* of ranges */
	struct tel__live live;     /* an owner is a gauge */
	int held;                  /* the caller counts blocks, in a heap */
	/*
	 * Of the operation that .live takes: the gauges of its pool or process,
	 * and of all; and the gauge of a block that ended.
	 */
	uint32_t member, whole, changed;
	struct tel__table pools; /* hash of a pool to its gauge's place */
	struct timeline_recent recent[TIMELINE_RECENT]; /* of those */
	/* hash of a pool to the track of its arena */
	struct tel__table arenas;
	/* hash of a channel to how many messages were sent and received on it */
	struct tel__table flows;
	/* of the instant that is shown: what it sends or receives; 0: nothing */
	uint64_t flow;
	int receives;
	struct timeline_gauge *gauges;
	size_t ngauges, gauge_room;
	size_t ended;                  /* gauges whose .ended is set */
	const struct tel_log *all_log; /* whose bytes gauge .all counts */
	uint32_t all;
	/*
	 * With ops->values: a time in the bucket that is counted now; how wide
	 * that is, as a power of two; gauges that had something in it, by their
	 * numbers and 1.
	 */
	uint64_t bucket;
	const unsigned *shift;
	uint32_t shown;
	struct timeline_plans *plans; /* of the schema of the last event */
	struct tel__table by_schema;  /* from addresses of schemas to plans */
	struct timeline_resources *resources;
	struct timeline_strip sizes, lifetimes; /* of blocks, of .all_log */
	/* hash of a pool to the name of its class */
	struct tel__table classes;
	/* the clock of the event before, as it was then */
	struct tel_clock *clock;
	struct tel__clock_part part; /* if .parts */
	int parts;
	uint64_t version;
	int64_t start; /* ns of .base */
	uint64_t base; /* clock of the first event */
	uint64_t last; /* time of the last one */
	uint64_t now;  /* that of the event that is being taken */
	size_t most;   /* tracks; TIMELINE_TRACKS unless set */
	int begun;
	int unnamed;   /* names of ranges of known length are not needed */
	int ticks;     /* the rate of the clock is not known: times are ticks */
	int no_memory; /* for what the last event needs */
};

/* Makes a timeline; NULL when out of memory. */
struct timeline *tel__timeline_new(const struct timeline_ops *ops);
void tel__timeline_free(struct timeline *tl);

/* Starts another file, whose time counts from its own first event. */
void tel__timeline_begin(struct timeline *tl);

/*
 * A renderer whose dialect is its timeline_ops, and whose state starts with a
 * pointer to its timeline: its begin_log, which makes the state, all other
 * bytes zero, and its event.  TEL_OK, TEL_ENOMEM.
 */
tel_status tel__timeline_begin_log(struct tel_printer *pr,
    const struct tel_event *ev);
tel_status tel__timeline_print(struct tel_printer *pr,
    const struct tel_event *ev);

/* Takes an event.  TEL_OK, TEL_ENOMEM. */
tel_status tel__timeline_event(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev);

/*
 * The times of the first of n events that surely have one.  Returns how many
 * were set; 0: tel__timeline_event() finds that of the first.
 */
size_t tel__timeline_times(struct timeline *tl, const struct tel_log *log,
    const uint64_t *clocks, size_t n, uint64_t *times);

/*
 * The times of the earliest and the latest of the first of n events: of as many
 * as surely have one between those.  Returns how many; 0: that is not known.
 */
size_t tel__timeline_span(struct timeline *tl, const struct tel_log *log,
    const uint64_t *clocks, size_t n, uint64_t *span);

/* What an event of a type does, beside being shown as an instant. */
#define TIMELINE_ALLOCATES 1u
#define TIMELINE_TAKES 2u
#define TIMELINE_MORE 4u /* other things */

/* How to count the events of a type that need no more than that. */
struct timeline_action {
	struct timeline_plan *plan; /* NULL: not known yet */
	unsigned does;              /* TIMELINE_ALLOCATES, ... */
	/* how its events are added up, as soon as .series is known */
	enum timeline_sum {
		SUM_NOT,    /* one by one */
		SUM_EVENTS, /* they are counted */
		SUM_BLOCK,  /* with what they allocate or free */
		SUM_MEMORY, /* with what they take or give back */
		SUM_TAKE,   /* the same, whatever memory it is */
		SUM_GIVE
	} sum;
	uint64_t news; /* events in this bucket of time */
	/* fields, or NULL; pool: or the arena */
	const struct tel_field *address, *size, *pool, *base, *held;
	/* where they are, if all are 64 bits, little-endian */
	uint16_t size_at, pool_at, base_at;
	uint64_t first; /* of blocks that have numbers: 1; of addresses: 0 */
	/* of the caller: the type's number, where its events are counted and 1 */
	uint32_t type;
	long series;
};

/* Those of the types of a schema, and which of them have news. */
struct timeline_actions {
	struct timeline_action *all;
	size_t count;
	uint32_t *recent;
	size_t nrecent;
};

/*
 * Counts the events of a run from the one at place i to before last, which are
 * in the bucket of time that was entered, as long as they are of types that only
 * add up.  Returns where that ends.
 */
size_t tel__timeline_counts(struct timeline *tl, struct timeline_actions *to,
    const struct tel_run *events, size_t i, size_t last);

/* Fills in what an action does, whose plan is known. */
void tel__timeline_action(struct timeline_action *a,
    const struct tel_type *type);
/* The same of how its events are added up. */
void tel__timeline_sum(struct timeline_action *a, const struct tel_type *type);

/* Shows what gauges and sizes of blocks had in the bucket of time. */
void tel__timeline_settle(struct tel_printer *pr, struct timeline *tl);

/* Nonzero when two times are in one bucket. */
static inline int
timeline_same(const struct timeline *tl, uint64_t a, uint64_t b)
{
	return (a ^ b) >> *tl->shift == 0;
}

/* Goes to the bucket of a time. */
static inline void
timeline_enter(struct tel_printer *pr, struct timeline *tl, uint64_t time)
{
	if (tl->shift != NULL && !timeline_same(tl, tl->bucket, time))
		tl->ops->flush_bucket(pr);
	tl->bucket = time;
}

/* Takes an event of a type that does no more, but shows it as no instant. */
void tel__timeline_count(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, struct timeline_plan *p, unsigned does,
    uint64_t time);

/* The track of that name, made when it is new; NULL: no memory. */
struct timeline_track *tel__timeline_track(struct tel_printer *pr,
    struct timeline *tl, struct timeline_track *parent, enum timeline_use use,
    const char *name, size_t n);

/* ------------------------------------ what its parts know of each other */

/* Bytes of the name that a type and the one that ends it share. */
#define TIMELINE_SHARED 96

/* Fields that together identify the channel of a message. */
#define TIMELINE_KEYS 4

/* A resource that events of a type describe. */
enum timeline_resource {
	RESOURCE_NONE,
	RESOURCE_SEND,    /* a message is put into a channel */
	RESOURCE_RECEIVE, /* and is taken out of it */
	RESOURCE_WAIT,    /* a thread waits for a handle */
	RESOURCE_TAKE,    /* and has it */
	RESOURCE_SWITCH,  /* a processor runs another thread */
	RESOURCE_SET,     /* a class has a value */
	RESOURCE_ADD,     /* it has so much more */
	RESOURCE_GROW,    /* the same, and only grows */
	RESOURCE_OBSERVE  /* one more value */
};

/* Notes of a type, what it is on a timeline. */
struct timeline_plan {
	enum {
		PLAN_INSTANT,
		PLAN_START,
		PLAN_FINISH,
		PLAN_SPAN,
		PLAN_CALL, /* a span of a thread, inside others */
		PLAN_NONE
	} is;
	const char *name; /* of the type, or what a start and its end share */
	size_t length;
	int alone;       /* START: its string is name enough */
	int string;      /* a field that is (part of) the name, or -1 */
	int cpu, thread; /* fields of the context, or -1 */
	int duration;    /* SPAN, CALL: ticks */
	int depth;       /* CALL: in how many others it is */
	int cycles;      /* the field that counts cycles, or negative */
	int method;      /* SPAN: a field with the name of a method, or -1 */
	int start; /* FINISH: the first type that it ends; CALL: a field; -1 */
	int other; /* START: the next type with the same end, or -1 */
	/* memory that it takes (1) or gives back (-1), or 0 */
	int memory;
	int maps; /* that is address space */
	int key; /* the field that identifies the memory, or -1: the size is always given */
	int pool; /* for which pool, where the size is always given, or -1 */
	int base; /* from where, or -1 */
	int size, limit; /* how much, or up to where, or -1 */
	/* the type whose messages it sends or receives and 1, or 0 */
	unsigned sender;
	int receives;
	int keys[TIMELINE_KEYS]; /* fields; -1 behind the last */
	char counter[40];        /* what it is called, "Seg bytes" */
	char shared[TIMELINE_SHARED];
	/* of a resource other than its thread */
	enum timeline_resource resource;
	int owner, value, weight; /* which one, and how much, or -1 */
	int next;                 /* the thread that is switched to */
	int interrupt;            /* its number, or -1 */
	int path;                 /* that of its class, or -1 */
	int process, arena;       /* -1 */
	/* what the event before had, or log is NULL */
	const struct tel_log *log;
	unsigned number; /* of that log */
	struct timeline_track *context;
	uint64_t id;                 /* of the thread or the processor */
	uint64_t pid;                /* and its process */
	const char *label;           /* of the thread, or NULL */
	struct timeline_track *span; /* SPAN: of the thread */
	uint64_t span_id;
	const char *span_label;
	const struct tel_log *take_log; /* of .gauge */
	uint64_t take_arena;
	uint64_t take_pool;
	uint32_t gauge, held; /* of all, and of .take_pool */
};

/* The plan of a type, made when it is new; NULL: no memory. */
struct timeline_plan *tel__timeline_plan(struct timeline *tl,
    const struct tel_schema *s, const struct tel_type *type);
void tel__timeline_plans_free(struct timeline *tl);

/* Which message an event sends or receives: sets tl->flow and tl->receives. */
void tel__timeline_find_flow(struct timeline *tl, const struct tel_event *ev,
    const struct timeline_plan *p, const struct timeline_track *process);

/* Bytes of a label in the name of a track, what it is cut to. */
#define TIMELINE_LABEL ((size_t)256)

/*
 * The name of something with a number, "thread 7", and behind it its label if
 * that is not NULL, in name (TIMELINE_NAME bytes).  Returns its length.
 */
size_t tel__timeline_name(char *name, const char *noun, uint64_t number,
    const char *label, size_t length);

/*
 * Nonzero when the name of a thread's track ends in its label.  The string of a
 * label may be another one at the same address.
 */
static inline int
timeline_is_named(const struct timeline_track *t, const char *label,
    size_t length)
{
	length = length < TIMELINE_LABEL ? length : TIMELINE_LABEL;
	return label == NULL ||
	    (t->length >= length &&
	        memcmp(t->name + t->length - length, label, length) == 0);
}

/* Makes another track, even when there is one of that name; NULL: no memory. */
struct timeline_track *tel__timeline_make_track(struct tel_printer *pr,
    struct timeline *tl, struct timeline_track *parent, enum timeline_use use,
    const char *name, size_t n);

/* The track of a log, and one below it; NULL: no memory. */
struct timeline_track *tel__timeline_process(struct tel_printer *pr,
    struct timeline *tl, const struct tel_log *log);
struct timeline_track *tel__timeline_in_log(struct tel_printer *pr,
    struct timeline *tl, const struct tel_log *log, enum timeline_use use,
    const char *name, size_t n);

/* The track of the thread, the processor or the kind of an event, or NULL. */
struct timeline_track *tel__timeline_context(struct tel_printer *pr,
    struct timeline *tl, const struct tel_event *ev, struct timeline_plan *p);

/* What a range of known length counted: its fields behind its length. */
void tel__timeline_count_fields(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, const struct timeline_plan *p,
    struct timeline_track *context, uint64_t time);

/*
 * Counts live bytes.  Nonzero when an event did only that, and is not to be
 * shown by itself.
 */
int tel__timeline_allocate(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, const struct timeline_plan *p, uint64_t time);

/* Nonzero when the caller counts what events of the type allocate or free. */
static inline int
timeline_is_held(const struct timeline *tl, const struct tel_type *t)
{
	return tl->held &&
	    (tel_type_allocates(t) || tel_type_frees(t) ||
	        t->role == TEL_ROLE_REALLOC || t->role == TEL_ROLE_COMMIT);
}

/* Counts what a type takes and another one gives back. */
void tel__timeline_take(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, struct timeline_plan *p, uint64_t time);

static inline int
timeline_is_number(const struct tel_type *t, int field)
{
	return field >= 0 && t->fields[field].datatype != TEL_STRING &&
	    t->fields[field].datatype != TEL_DOUBLE;
}

/* The field of that name, if it is a number, or -1; name may be NULL. */
static inline int
timeline_number(const struct tel_type *t, const char *name)
{
	int at = name == NULL ? -1 : tel_type_find_field(t, name);

	return timeline_is_number(t, at) ? at : -1;
}

/* Stores the resources that events of a type describe. */
void tel__timeline_resource_plan(struct timeline_plan *p,
    const struct tel_type *t);
/* Shows an event's values of them. */
void tel__timeline_resource(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, struct timeline_plan *p, uint64_t time);
/* A track below one of the log that only holds such; NULL: no memory. */
struct timeline_track *tel__timeline_track_in(struct tel_printer *pr,
    struct timeline *tl, const struct tel_event *ev, const char *group,
    enum timeline_use use, const char *name, size_t n);
void tel__timeline_resources_free(struct timeline *tl);

void tel__timeline_count_init(struct timeline *tl);
/* Forgets all that lives. */
void tel__timeline_count_clear(struct timeline *tl);

#endif
