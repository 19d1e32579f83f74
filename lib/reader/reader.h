/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The inside of a reader: what the formats share.  A format finds events in
 * the window of input that the reader keeps, r->p to r->end.
 */
#ifndef TEL_READER_H
#define TEL_READER_H

#include "io/input.h"
#include "model/clock.h"
#include "model/event.h"
#include "model/labels.h"
#include "model/metadata.h"
#include "model/run.h"
#include "reader/format.h"

struct reader_role;
struct tel_fileset;

/*
 * For users that count most events and look at few of them.  A decoder may
 * count those that are not needed all at once, and leave them out.
 */
struct tel_count_pushdown {
	/* NULL: all events are needed */
	int (*wants)(void *arg, const struct tel_log *log,
	    const struct tel_type *type);
	/* There are so many of a type, of so many bytes. */
	void (*count)(void *arg, const struct tel_log *log,
	    const struct tel_type *type, uint64_t events, uint64_t bytes);
	/* Their clocks are among these. */
	void (*span)(void *arg, const struct tel_log *log, uint64_t first,
	    uint64_t last);
	void *arg;
};

/* Facts on a field's values in many events. */
struct tel_bound {
	int known;
	uint64_t low, high; /* as tel_load() gives them, unsigned */
};

/* Facts on events of a type. */
struct tel_bounds {
	uint64_t first, last; /* their clocks */
	const struct tel_bound *fields;
	struct tel_bound index; /* their numbers in the log */
	/* of their log, if ticks are the same time whatever comes; or NULL */
	struct tel_clock *clock;
};

/*
 * For users that need only some events.  A format may leave out those that it
 * knows are not needed.
 */
struct tel_predicate_pushdown {
	/* NULL: all are needed.  type: NULL for any that is unknown. */
	int (*may)(void *arg, const struct tel_schema *schema,
	    const struct tel_type *type, const struct tel_bounds *bounds);
	void *arg;
	/* others are of use as well, where a format keeps text around events */
	int whole;
	/* the selection depends on the time, so on all that sets the clock */
	int timed;
};

/* Gives the types of a schema the roles that the user said, and notes that. */
void tel__reader_give_roles(struct tel_reader *r, struct tel_schema *schema);
/* Reports which types no log had. */
void tel__reader_report_roles(struct tel_reader *r);
void tel__reader_free_roles(struct tel_reader *r);

/* Bits of notices: the version is another, labels are left out. */
#define NOTICED_VERSION 1u
#define NOTICED_LIMIT 2u

/* A file that the user named, in the order of the calls. */
struct tel_sidecar {
	struct tel_sidecar *next;
	tel_file_kind kind;
	char path[];
};

/* How a reader that does not wait for its input gives events. */
struct tel_feed {
	/* Fills r->batch.  Returns as tel_reader_next(). */
	tel_status (*find)(struct tel_reader *r);
	void (*free)(struct tel_feed *feed);
};

/* What a format keeps for all logs of an input. */
struct tel_format_cache {
	struct tel_format_cache *next;
	const struct tel_format_ops *format;
	void *state;
};

/* The piece of a log that a reader reads: tel_reader_set_piece(). */
struct tel_piece {
	unsigned number, count;          /* 0 of 0: all of the log */
	uint64_t start;                  /* where its first event is */
	struct tel_decoder_state before; /* the state of the decoder there */
	uint64_t reached; /* where the pieces that were joined end */
	struct tel_decoder_state after; /* and in which state */
	/* what the tables of the pieces that were joined may come to */
	struct tel_label_use labels;
	uint64_t input; /* bytes of the file, once all were joined */
	int last;       /* the one that was joined last has ended the log */
	uint64_t
	    unit; /* of the second clock, if an event of it has said that */
	/*
	 * What an event of it means depends on those before; and whether the
	 * reader knows that, as it has read on from there.
	 */
	int needs_context, has_context;
};

/*
 * Events that were found together: the first by the format's next(), those
 * behind it by decode_batch().  The columns are as in struct tel_run; the first event
 * is r->event, and is in them once decode_batch() was called.
 */
struct tel_batch {
	uint32_t count; /* of events */
	uint32_t next;  /* the first that was not returned yet */
	/*
	 * Those behind the first one are in the window: they are stepped over
	 * when they are returned.
	 */
	int in_window;
	int renumbered;              /* .numbers is not 0, 1, ... */
	uint32_t numbered;           /* so many of them are, from the first */
	uint64_t offset, index;      /* of the first one */
	uint64_t last;               /* the index of the last one */
	const struct tel_type *type; /* and its type */
	const unsigned char *raw;    /* as in struct tel_run */
	uint32_t raw_sizes[TEL_RUN_MAX];
	uint32_t at[TEL_RUN_MAX];
	uint32_t sizes[TEL_RUN_MAX];
	uint32_t types[TEL_RUN_MAX];
	uint32_t numbers[TEL_RUN_MAX];
	uint32_t
	    ordinals[TEL_RUN_MAX]; /* 0, 1, ...: .numbers that were moved */
	uint64_t clocks[TEL_RUN_MAX];
	const unsigned char *data[TEL_RUN_MAX];
};

/*
 * What readers share that were made for it, and members of one archive, which
 * one thread reads: schemas, and what formats keep.
 */
struct tel_shared {
	size_t readers;
	int several;                 /* it ever had more than one */
	struct tel_schema **schemas; /* all that were made, freed at the end; */
	size_t nbuiltin;             /* first those that no log describes */
	size_t nschemas, schema_room;
	int open;                /* some of them are */
	struct tel_schema *ring; /* one of those that logs had, or NULL */
	struct tel_format_cache *caches;
	struct tel_batch none; /* of those that are not open */
};

/* How much of a log detection looks at. */
#define TEL_PROBE_SIZE ((size_t)1 << 16)

struct tel_reader {
	/* the window: from the next event to the end of what was read */
	const unsigned char *p;
	const unsigned char *end;
	uint64_t offset; /* of p in the log */
	uint64_t limit;  /* events that start there or later are left */
	size_t back;     /* bytes before p that stay where the window moves */
	int eof;         /* nothing comes after end */
	int best_score;  /* the best that another format's probe has said */
	/* bytes in which a format may look for what tells it from others; 0: all */
	size_t probe_most;
	size_t probe_cut; /* 0, or where it would have looked for more */
	size_t consumed;  /* bytes of input that the event was */
	/* where the last event was found, and how many were since, there */
	struct {
		uint64_t offset, event_offset, events;
	} progress;
	struct tel_event event;              /* that was returned last */
	const struct tel_format_ops *format; /* while it is asked, too */
	void *state;                         /* the format's own */
	struct tel_log log;
	struct tel__metadata metadata; /* of all logs of a stream */
	uint64_t count[TEL_COUNT_UNREAD + 1];
	/* the counts, and notices, before the log was opened */
	uint64_t count_before[TEL_COUNT_UNREAD + 1];
	unsigned told_before;

	struct tel_batch *batch; /* while it is open; else shared->none */
	struct tel_run run;      /* that was returned last */

	const struct tel_formats *formats;
	struct tel_shared *shared;
	struct tel_input *in;
	size_t peeked;           /* bytes of the last peek, from its start */
	tel_status input_status; /* why eof came early; else TEL_OK */
	/*
	 * The files of a folder; or members of an archive that no format knew,
	 * for a format whose logs have several files.  Or NULL.
	 */
	struct tel_fileset *set;
	int set_is_shared; /* with the reader of the archive, which frees it */
	int origins; /* events of folders come with what copying them needs */
	uint64_t
	    files_size; /* bytes of a folder, of a file that was closed; 0 */
	enum tel_reader_at {
		READER_NEW,
		READER_LOG,
		READER_BETWEEN, /* TEL_LOG was returned; .next_log comes next */
		READER_DONE,
		READER_SUSPENDED, /* closed before its first event */
		READER_PASSED,    /* all events of the log are left out */
		READER_FED        /* its state is that of .feed */
	} at;
	struct tel_log next_log; /* the next log, which is open */
	/* what stays of the log before it until the next call */
	struct {
		const struct tel_format_ops *format;
		void *state;
		char *name;
	} ended;
	struct tel_feed *feed; /* NULL: the reader waits for its input */
	tel_status failed;
	tel_status cut_off; /* the failed read behind events to be given */
	char *name;         /* of the operand */
	char *member_name;  /* "operand:member", or NULL */

	/* options */
	char *as;
	const char *as_schema; /* the same, if that is a schema; or NULL */
	int force;
	int strict;
	int nonblocking;
	int follow;        /* wait for what a program still writes */
	tel_seek_fn *seek; /* of tel_reader_open_callback(), or NULL */
	int long_lines; /* inst: lines up to TEL_PEEK_MAX bytes are records */
	size_t max_labels;
	unsigned threads; /* 1: that of the caller decodes alone */
	size_t read_size;
	struct tel_sidecar *sidecars;
	double tick_rate; /* hertz, or 0: the log's own */
	tel_notify_fn *notify;
	void *notify_arg;
	tel_frame_name_fn *name_frame; /* or NULL */
	void *name_arg;
	uint64_t named;            /* strings that it returned */
	struct reader_role *roles; /* that the user gives to types */

	/* the selected clocks; events outside may be left out */
	struct {
		int on;
		int early; /* it was set before the first event was read */
		uint64_t first, last;
	} range;
	int skip_names; /* what names outside of it need not be given as events */
	struct tel_count_pushdown count_pushdown;
	struct tel_predicate_pushdown predicate_pushdown;
	int timeless;             /* no event of the log had a time yet */
	unsigned notices;         /* bits: what was reported already */
	struct tel_reader *split; /* members that were taken out, in a list */
	struct tel_reader *next_split;
	unsigned nsplit;
	int spool;       /* file of the bytes of all of them, or -1 */
	int64_t spooled; /* how many these are */
	struct tel_piece piece;
	/* the regular file that was opened, or -1: it may be opened again */
	struct {
		int fd;
		int64_t start, size;
	} file;
	unsigned told; /* notices so far */
	unsigned mute; /* the next that are not given, as they were before */
	struct tel_reader *parent; /* the reader that this was taken out of */
	char error[256];
};

/*
 * Makes the window hold at least min bytes (at most TEL_PEEK_MAX) or all
 * that is left, with r->eof set.  r->p moves to another address; what it
 * points at stays the same.  It never fails: damage below ends the input,
 * and tel_reader_next() reports it when the end is reached.
 */
void tel__reader_fill(struct tel_reader *r, size_t min);

/*
 * The same, but a pipe is waited for until nothing came for ms milliseconds, and
 * no longer than ten times as long.
 */
void tel__reader_fill_soon(struct tel_reader *r, size_t min, int ms);
/* Milliseconds by the clock of the system. */
int64_t tel__reader_now(void);

/*
 * Data of a format for all logs of an input, and of readers that share it: size
 * bytes, all zero at first.  They are freed with the last reader, or when the
 * log that was opened is of another format; its function cache_free() frees what
 * they point to.  NULL when out of memory.
 */
void *tel__reader_keep(struct tel_reader *r,
    const struct tel_format_ops *format, size_t size);
/* Frees what formats keep, except for that one. */
void tel__reader_free_caches(struct tel_reader *r,
    const struct tel_format_ops *but);

/* Makes r share what another has; NULL: something new.  TEL_OK, TEL_ENOMEM. */
tel_status tel__reader_share(struct tel_reader *r,
    const struct tel_reader *other);
/* Frees the events that were found. */
void tel__reader_free_batch(struct tel_reader *r);
/* Ends that, and frees what nobody else has. */
void tel__reader_unshare(struct tel_reader *r);

/* Nonzero when other logs may have the schemas of this one. */
static inline int
tel_reader_shares(const struct tel_reader *r)
{
	return r->shared->several;
}

/* The first file of a kind behind that one, or of all; NULL: no more. */
const struct tel_sidecar *tel__reader_sidecar(const struct tel_reader *r,
    const struct tel_sidecar *behind, tel_file_kind kind);

/* Where r->p is in the input, uncompressed. */
uint64_t tel__reader_place(const struct tel_reader *r);

/*
 * Moves to another place of the input, and empties the window; r->offset is
 * set to it.  1; or 0, and nothing is changed, when the input cannot seek.
 */
int tel__reader_jump(struct tel_reader *r, uint64_t place);

/* Nonzero when a piece has ended, and not the log. */
static inline int
tel__reader_at_limit(const struct tel_reader *r)
{
	return r->offset >= r->limit;
}

/* Nonzero when all events are to be left out, and only the logs to be found. */
static inline int
tel_reader_wants_none(const struct tel_reader *r)
{
	return r->range.on && r->range.first == UINT64_MAX &&
	    r->range.last == 0;
}

/* Steps over n bytes of the window. */
static inline void
tel_reader_step(struct tel_reader *r, size_t n)
{
	r->p += n;
	r->offset += n;
}

/* Calls the notify function.  format: a printf format of ours. */
__attribute__((format(printf, 4, 5))) void
tel__reader_notice(struct tel_reader *r, tel_severity severity, uint64_t offset,
    const char *format, ...);
/* The same for what a log has many of, with TEL_INFO.  text: n bytes. */
void tel__reader_notice_text(struct tel_reader *r, uint64_t offset,
    const char *text, size_t n);

/*
 * The event that was found last was in fact n bytes shorter: goes back to
 * where it ends.
 */
static inline void
tel_reader_rewind_by(struct tel_reader *r, size_t n)
{
	r->p -= n;
	r->offset -= n;
	r->count[TEL_COUNT_BYTES] -= n;
}

/*
 * Looks for the next place to resume reading, from the byte after r->p, and
 * steps there or to the end.  Reports what was skipped as damage.
 * here: nonzero when it can at q; it sees at least ahead bytes, or up to the
 *	end.
 * least: with fewer bytes left there is no such place.
 * why: the reason, for the report.
 */
typedef int tel_sync_fn(const struct tel_reader *r, const unsigned char *q);
tel_status tel__reader_resync(struct tel_reader *r, size_t ahead, size_t least,
    tel_sync_fn *here, const char *why);

/*
 * The rest of the input is the start of an event, and no more: steps over it
 * and reports it.  where: "the log ends inside an event".
 * TEL_END, or TEL_EDAMAGED when reading is strict.
 */
tel_status tel__reader_cut_short(struct tel_reader *r, const char *where);

/* Reports, once for a log, that what: "strings or labels" are left out. */
void tel__reader_limit(struct tel_reader *r, uint64_t offset, const char *what);

/* Sets the text of tel_reader_error() and returns status. */
__attribute__((format(printf, 3, 4))) tel_status
tel__reader_fail(struct tel_reader *r, tel_status status, const char *format,
    ...);

/* Nonzero for an archive, whose logs come one after the other. */
int tel__reader_is_archive(const struct tel_reader *r);

/*
 * Counts and reports damage of the log at offset, and returns TEL_OK, or
 * TEL_EDAMAGED when reading is strict. skipped: the bytes lost.
 */
__attribute__((format(printf, 4, 5))) tel_status
tel__reader_damage(struct tel_reader *r, uint64_t offset, uint64_t skipped,
    const char *format, ...);

/*
 * Follows an event whose type has a role: strings, labels, the clock, the
 * version.  TEL_OK, TEL_EVERSION, TEL_ENOMEM.
 */
tel_status tel__reader_follow(struct tel_reader *r, const struct tel_event *ev);

/*
 * Hands the schema to the reader, or to those that share it, and makes it that
 * of the log.  TEL_OK, TEL_ENOMEM (the schema is freed).
 */
tel_status tel__reader_adopt(struct tel_reader *r, struct tel_schema *schema);

/* A log has ended: no type comes to any schema. */
void tel__reader_shut_schemas(struct tel_reader *r);

/* Makes a schema that lives as long as what readers share that of the log. */
void tel__reader_set_schema(struct tel_reader *r, struct tel_schema *schema);

#endif
