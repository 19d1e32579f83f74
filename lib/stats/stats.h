/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A set of statistics.  Events arrive in count.c; bind.c has worked out, once
 * for each type of a log, which definitions an event concerns.  session.c
 * keeps the logs that are read together, results.c answers the public queries.
 */
#ifndef TEL_STATS_STATS_H
#define TEL_STATS_STATS_H

#include "model/metadata.h"
#include "base/table.h"
#include "model/clock.h"
#include "model/event.h"
#include "base/sort.h"
#include "model/live.h"
#include "model/run.h"
#include "stats/definition.h"
#include "stats/pools.h"
#include "stats/report.h"

/* What an event of a type means to a definition. */
struct action {
	struct definition *definition;
	enum {
		APPLY_FIELD,
		APPLY_VALUE,
		ACT_START,
		ACT_END,
		ACT_MIDDLE,
		ACT_INTERVAL /* the end of a range, and the start of the next */
	} what;
	int test;       /* the condition depends on the event */
	int field;      /* APPLY_FIELD: the value */
	int unlabelled; /* APPLY_VALUE: a value without a label is a key, too */
	int by_role;    /* pairs: the role defines what identifies a range */
	int process; /* pairs: the field of whose addresses they are; or -1 */
	uint32_t pair;
	/* of APPLY_FIELD; of pairs: the key, NULL if it is not a field alone */
	const struct tel_field *load;
};

/*
 * Where events of a type have what an operation on a block is about, if that is
 * all that they have for it, in numbers of 64 bits.
 */
struct block_fields {
	uint8_t plain; /* 0: not so */
	uint8_t kind;  /* tel_alloc_kind: MALLOC, or FREE of a size */
	uint16_t address, size, pool; /* offsets */
};

/* A type in one log. */
struct slot {
	uint64_t events, bytes;
	/* work on its events besides counting them */
	enum {
		SLOT_NEW, /* none came yet */
		SLOT_COUNTED,
		SLOT_BLOCKS, /* the block that it is about is followed */
		SLOT_FIELDS, /* and actions are fields of which stats take
		              * those of a run together */
		SLOT_BUSY    /* or more */
	} work;
	struct action *actions;
	size_t nactions, action_room;
	int blocks; /* what it allocates or frees is followed */
	struct block_fields block;
	const struct tel_type *type; /* NULL: none came yet */
	struct inst_binding *record; /* its events are records of classes */
	uint32_t part;               /* in the report */
};

/* Operations on blocks that are still to be sorted. */
struct waiting {
	struct block_op *ops;
	struct block_more *more; /* of rows; NULL: none has more */
	/* nops as they came; those up to nrows have the rows that are free */
	struct tel__sort_key *keys;
	size_t nops, nrows, op_room, more_room, key_room;
	struct tel__sorter sorter;
	int lost; /* of a piece: some were taken, as they were too many */
};

/* A log that events come from. */
struct source {
	const struct tel_log *log;
	unsigned number; /* log->number: an archive's logs share a struct */
	uint32_t id;     /* never used again */
	size_t place;    /* in the array of all */
	const struct tel_schema *schema;
	struct slot *slots;
	size_t nslots;
	int sorted; /* its operations on blocks do not wait to be sorted */
	struct waiting waiting;
	struct tel__live own, *live; /* its blocks: own, or the heap's, */
	uint64_t tag;                /* where they have this tag */
	struct pools pools;
	uint64_t first, last;    /* since the fields below were settled */
	uint64_t end;            /* the last of all; 0: none */
	struct tel_clock *clock; /* of the log, and of it alone; NULL: none */
	unsigned origin;
	int counted; /* among the report's logs */
};

/* Logs that are one, as they are merged, or one log. */
struct session {
	uint64_t first, last;    /* first > last: no event yet */
	struct tel_clock *clock; /* or NULL */
	/* the latest end of its logs that are over; 0: none is */
	uint64_t over;
	struct tel_clock *over_clock;
};

struct group_expr {
	struct piece piece;
	tel_expr *expr; /* NULL: "file", the name of the log */
};

/*
 * Classes in the logs that are counted; load_within.c, which is above what
 * counts events.
 */
struct class_logs;
struct inst_binding;
struct class_ops {
	/* Which record events of a type are, to be freed; NULL: none. */
	tel_status (*bind)(const struct tel_type *t, struct inst_binding **out);
	/* Loads the record that an event is. */
	tel_status (*event)(struct tel_stats *s, const struct inst_binding *b,
	    const struct tel_event *ev);
	/* The set as it is to be shown: that of all, with those classes. */
	tel_status (*show)(struct tel_stats *s, const tel_snapshot *at);
	/* A log is over; NULL: all of them. */
	tel_status (*end)(struct tel_stats *s, const struct tel_log *log);
	void (*free)(struct tel_stats *s);
};

struct tel_stats {
	struct definition **definitions;
	size_t count, room;
	struct tel__index names; /* of definitions; the first one of each */
	struct group_expr groups[GROUPS_MAX];
	unsigned ngroups;
	char *groups_text;
	size_t max_groups, max_open;
	struct budget budget;
	struct strings *strings;

	uint64_t interval;
	int interval_ticks;
	int deltas;
	int blocks;            /* they are followed */
	struct tel_heap *heap; /* takes their operations, too; or NULL */
	int heap_samples;      /* and samples of allocations */
	tel_snapshot_fn *snapshot;
	void *snapshot_arg;
	uint64_t timed;   /* the session that the next two are of */
	uint64_t reached; /* multiples of the interval */
	uint64_t elapsed; /* since the first event, in its unit */
	tel_notify_fn *notify;
	void *notify_arg;

	int force;      /* inst logs of newer versions are read, too */
	int incomplete; /* some of the input could not be read */
	const struct class_ops *classes; /* NULL: they are not loaded */
	struct class_logs *class_logs;   /* NULL: there were none yet */

	int started;
	int remembers;    /* an expression uses the history */
	unsigned readers; /* begun and not ended */
	int piece;        /* of a log, behind its first one, is counted */
	uint64_t sessions;
	struct session session;
	struct source *current;
	struct source **sources;
	size_t nsources, source_room;
	struct tel__table by_log; /* from addresses of logs to sources */
	uint32_t next_source;
	struct key tuple[GROUPS_MAX]; /* of the event at hand */
	int tuple_made;               /* 1; -1: a key found no room */

	struct tel__metadata metadata; /* of all logs */
	struct report report;
	struct report shown; /* with the session that is not over */
	tel_stat **list;     /* what tel_stats_get() gives */
	size_t listed;

	struct trouble trouble;
	struct inst_state {
		int begun, ended;
		uint32_t ids; /* the last number of a class */
		uint32_t root, types, allocs, frees;
	} inst;
};

/* Records a failure that is not about a text of the user's. */
#define stats_fail(s, status, ...) \
	tel__trouble_set(&(s)->trouble, status, NULL, 0, __VA_ARGS__)

static inline tel_status
stats_no_memory(struct tel_stats *s)
{
	return stats_fail(s, TEL_ENOMEM, "out of memory");
}

/* Adds a definition, which the set owns; TEL_OK, TEL_ENOMEM (freed). */
tel_status tel__stats_adopt(struct tel_stats *s, struct definition *d);
/* Bits of how sets are added. */
enum {
	/* a statistic that is defined differently becomes another, "NAME#2" */
	ADD_APART = 1,
	/* the events of one set follow those of the other in the same log */
	ADD_IN_ORDER = 2,
	/* more will be added: tel_stats_settle() is left to who adds the last */
	ADD_MORE = 4
};

/* As tel_stats_merge(); how: bits of ADD_. */
tel_status tel__stats_add(struct tel_stats *into, const struct tel_stats *from,
    unsigned how);
/* The same for the statistics alone, without the report. */
tel_status tel__stats_merge_definitions(struct tel_stats *into,
    const struct tel_stats *from, unsigned how);
/* The first definition of a name, or NULL. */
struct definition *tel__stats_find(const struct tel_stats *s, const char *name);

/*
 * Binds all expressions to a schema.  TEL_OK; TEL_EINVAL with trouble set;
 * TEL_ENOMEM.
 */
tel_status tel__stats_bind(struct tel_stats *s,
    const struct tel_schema *schema);

/* The source of an event, made if it is new, and made the current one. */
tel_status tel__stats_switch(struct tel_stats *s, const struct tel_event *ev);
/* The slot of a type that the source has none for yet. */
tel_status tel__stats_bind_type(struct tel_stats *s, struct source *from,
    const struct tel_type *type);
void tel__source_free(struct source *from);

/* Changes all stats of a set. */
void tel__stats_each(struct tel_stats *s, void (*change)(struct tel_stat *));
/* Begins to count anew, where only intervals are shown. */
void tel__stats_zero(struct tel_stats *s);

/*
 * Before what comes of another session: where only intervals are shown, shows
 * what came since the last multiple of the interval in the one before.
 */
tel_status tel__stats_show_rest(struct tel_stats *s);

/* A change of the live blocks of a source, for its report. */
tel__live_fn tel__stats_live_change;
/*
 * Applies an event to the block that it allocates or frees.  TEL_OK,
 * TEL_ENOMEM.
 */
tel_status tel__stats_count_block(struct tel_stats *s, struct source *from,
    const struct tel_event *ev);
/* The same for event i of a run, whose slot is known. */
tel_status tel__stats_count_block_in(struct tel_stats *s, struct source *from,
    const struct slot *slot, tel_run *run, size_t i);
/* Finds the fields of the operation that events of a type are. */
void tel__stats_block_fields(const struct tel_type *t,
    struct block_fields *out);
/* Takes the operations that wait, but not those of a piece. */
tel_status tel__stats_settle_blocks(struct tel_stats *s, struct source *from);
/* Nonzero when a source of a piece can be joined to another one. */
int tel__stats_blocks_fit(const struct source *from);
/* Adds the operations of a source of the same log, read behind. */
tel_status tel__stats_join_blocks(struct tel_stats *s, struct source *to,
    const struct source *from);
void tel__waiting_clear(struct waiting *w);

#endif
