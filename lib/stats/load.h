/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loading statistics from an inst log: tel-inst(5).
 *
 * The log is read as any other, and each event asked for its record.  Classes
 * become definitions (load_class.c), updates and trace events update them, and
 * snapshots take the place of what was counted before (load_values.c).  Each
 * session is counted alone, and merged at its end (load.c).
 */
#ifndef TEL_STATS_LOAD_H
#define TEL_STATS_LOAD_H

#include "format/inst/inst.h"
#include "stats/fields.h"
#include "stats/stats.h"

/* What a class of the session is to the statistics, by its number. */
struct loaded {
	enum {
		LOADED_NONE, /* a path, a trace, or it could not be defined */
		LOADED_STAT,
		LOADED_TYPES, /* parts of the report of telstat */
		LOADED_ALLOCS,
		LOADED_FREES
	} kind;
	struct definition *definition;
	struct tel_stat *stat; /* NULL also where it only names groups */
	/* with deltas: all that it counted when the last interval was shown */
	struct tel_stat *base;
	int fresh;        /* a snapshot has come since */
	uint64_t rest_ns; /* of its ranges, beyond whole microseconds */
};

struct loader {
	struct tel_stats *into;
	struct tel_stats *part;  /* what this session counted; NULL: none yet */
	struct tel_stats *shown; /* both, in snapshots; NULL: none yet */
	const char *name;        /* of the log */
	const struct inst *record;
	const struct inst_line *line; /* of the record */
	const struct tel_event *event;
	struct loaded *classes;
	size_t room;
	int within;                /* a log whose events are counted as such */
	int counts;                /* its events are counted: it is a log */
	int ended;                 /* the session has its Z */
	char *text;                /* room for the bytes of a string */
	uint64_t problems;         /* invalid records */
	uint64_t session_problems; /* of them, of this session */
	char problem[400];         /* the first of them */
};

static inline tel_status
load_invalid(const char **why, const char *text)
{
	*why = text;
	return TEL_EDAMAGED;
}

/*
 * Fields of the record, by their names.
 */

/*
 * A number: 1 with *out set, 0 when there is no such field, -1 when it is not
 * such a number.
 */
int tel__load_int128(const struct loader *l, const char *name, tel_int128 *out);
int tel__load_u64(const struct loader *l, const char *name, uint64_t *out);
/* Counts of a struct that may be left out; 0 when one is not a count. */
int tel__load_counts(const struct loader *l, const struct count_field *fields,
    void *of);
/* Whether the field is there, and this word. */
int tel__load_is(const struct loader *l, const char *name, const char *word);
/*
 * A copy of a string, to be freed; NULL if missing.
 * TEL_OK, TEL_EDAMAGED, TEL_ENOMEM.
 */
tel_status tel__load_string(struct loader *l, const char *name, char **out);
/*
 * The key of two fields, its value and its data type, 0 when it is invalid; a
 * string is valid until the next one is loaded.
 */
int tel__load_value(struct loader *l, const char *value, const char *type,
    tel_value *out);
/*
 * The same as a key.  TEL_OK, TEL_EDAMAGED, TEL_ELIMIT (no room for a string),
 * TEL_ENOMEM.
 */
tel_status tel__load_key(struct loader *l, const char *value, const char *type,
    struct key *out);

/* load.c */

/* A reader of inst logs; NULL when out of memory. */
struct tel_reader *tel__load_reader(struct loader *l);
/*
 * Loads the record in l->record and l->line; ev: the event that it is of.
 * TEL_OK, also for an invalid one, which is counted; a failure.
 */
tel_status tel__load_event(struct loader *l, const struct tel_event *ev);
/* The session is over: what it counted goes to the set. */
tel_status tel__load_end_session(struct loader *l);

/* load_within.c: records among the events of a log */
extern const struct class_ops tel__load_within_ops;

/* load_show.c */

/* Shows the set of a session at the intervals that were set. */
void tel__load_watch(struct loader *l);
/*
 * With deltas: makes stats that snapshots of the log have set what the
 * interval came to.  TEL_OK, TEL_ENOMEM.
 */
tel_status tel__load_difference(struct loader *l);
/* All stats of a set as if nothing had been counted; inst ids stay. */
void tel__load_reset(struct tel_stats *s);
/*
 * After the last session: later output continues the snapshots.
 * Frees shown, which may be NULL.
 */
void tel__load_end_show(struct tel_stats *into, struct tel_stats *shown);
/* Forgets the classes of a session. */
void tel__load_forget(struct loader *l);

/*
 * What a record does.  TEL_OK; TEL_EDAMAGED: it is invalid, with *why set;
 * TEL_ENOMEM.
 */

/* What the class of the record is, made if it is new. */
tel_status tel__load_find(struct loader *l, struct loaded **out);
tel_status tel__load_class(struct loader *l, const char **why);
tel_status tel__load_update(struct loader *l, struct loaded *to,
    const char **why);
tel_status tel__load_trace(struct loader *l, struct loaded *to);
tel_status tel__load_snapshot(struct loader *l, struct loaded *to,
    const char **why);
tel_status tel__load_bucket(struct loader *l, struct loaded *to,
    const char **why);

#endif
