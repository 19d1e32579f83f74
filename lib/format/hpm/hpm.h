/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Jikes RVM HPM traces, tel-hpm(5): what the files of this format share.
 *
 * A run leaves a trace file for each virtual processor and one meta file, which
 * has the number of counters in a record, and the names of counters, threads
 * and methods.
 */
#ifndef TEL_HPM_H
#define TEL_HPM_H

#include "reader/reader.h"
#include "model/running.h"

/* Types of records in a trace file. */
enum hpm_record {
	HPM_COUNTER = 1,
	HPM_APP_START = 2,
	HPM_APP_COMPLETE = 3,
	HPM_RUN_START = 4,
	HPM_RUN_COMPLETE = 5,
	HPM_EXIT = 6,
	HPM_PADDING = 10
};

#define HPM_VERSION_MAX 3
/* Counters of a record; no processor had more than 8. */
#define HPM_COUNTERS_MAX 64
/* There are built-in schemas of so many. */
#define HPM_COUNTERS_NAMED 8u
/* Bytes of a marker's string, of padding and of the meta file's name: the
 * writer's buffers are of that size. */
#define HPM_STRING_MAX 4096
/* Bytes of a name in the meta file. */
#define HPM_NAME_MAX 16384
/* The longest name of an event that becomes a field's name. */
#define HPM_EVENT_NAME_MAX 63

/* How the records of a trace lie. */
struct hpm_layout {
	uint32_t version;
	int big;           /* the byte order of the records */
	int mids;          /* counter records have the methods */
	unsigned counters; /* in a counter record */
};

/* The bytes of a counter record. */
static inline uint32_t
hpm_counter_size(const struct hpm_layout *l)
{
	return (l->version > 1 && !l->mids ? 24u : 32u) + 8u * l->counters;
}

static inline uint32_t
hpm_load32(const unsigned char *p, int big)
{
	return big ? tel_be32(p) : tel_le32(p);
}

static inline uint64_t
hpm_load64(const unsigned char *p, int big)
{
	return big ? tel_be64(p) : tel_le64(p);
}

/* Contents of the meta file. */
struct hpm_meta {
	struct hpm_layout layout;
	int32_t mode;
	char processor[64];
	/* names of the counters, from 1; "" where there is none */
	char events[HPM_COUNTERS_MAX + 1][HPM_EVENT_NAME_MAX + 1];
	/* the local numbers of the threads -1 and 1, or -1 */
	int64_t primordial_slot;
	int64_t first_slot;
	uint64_t digest; /* of all its bytes */
	int limited;     /* not all names fitted */
	int damaged; /* no valid record at damaged_at: the rest is skipped */
	uint64_t damaged_at;
};

/*
 * An event is given in a layout of our own, little-endian except for the
 * counters, which are copied as they are.  Markers and exit have .cpu, then
 * the run or the value at HPM_AT_RUN, and the string at HPM_AT_APP.
 */
enum hpm_at {
	HPM_AT_CPU = 0,
	HPM_AT_BUFFER = 2,
	HPM_AT_BITS = 3, /* bit 0: yielded, bit 1: switched */
	HPM_AT_SLOT = 4,
	HPM_AT_TID = 8,
	HPM_AT_END = 16,
	HPM_AT_DURATION = 24,
	HPM_AT_GAP = 32,
	HPM_AT_CALLER = 40,
	HPM_AT_CALLEE = 44,
	HPM_AT_FLAGS = 48,
	HPM_AT_COUNTERS = 56,
	HPM_AT_RUN = 4,
	HPM_AT_APP = 8
};
#define HPM_EVENT_MAX (HPM_AT_APP + HPM_STRING_MAX)

/* Bits of a counter event's flags. */
enum hpm_flag {
	HPM_FLAG_START = 0x01,     /* the record does not say when it began */
	HPM_FLAG_NEGATIVE = 0x02,  /* it ends before it begins */
	HPM_FLAG_GAP = 0x04,       /* a period is missing before it */
	HPM_FLAG_ORDER = 0x08,     /* it begins before the one before it */
	HPM_FLAG_AGAIN = 0x10,     /* it begins when that one began */
	HPM_FLAG_TWICE = 0x20,     /* its thread also ran elsewhere then */
	HPM_FLAG_PROCESSOR = 0x40, /* another processor than the file's */
	HPM_FLAG_THREAD = 0x80     /* thread 1, or the primordial thread */
};

/* With these nothing can be said of where the thread was before. */
#define HPM_FLAGS_UNSURE (HPM_FLAG_START | HPM_FLAG_THREAD)

/*
 * Padding of more bytes than this, which no virtual machine wrote, is in a
 * trace that several were merged to: the records from there on are of the
 * processor with the number that is left, up to the next counter record.
 */
#define HPM_SWITCH 16
#define HPM_PROCESSORS 1024

/*
 * Cycles for each tick of the time base, by powers of 2 and eighths of them:
 * what most periods have, and which have much less.
 */
#define HPM_SPEEDS (64 * 8)
struct hpm_speeds {
	unsigned counter; /* that counts cycles, from 1; 0: none does */
	uint64_t count[HPM_SPEEDS];
};

/* The last period of a processor, and those before it. */
struct hpm_processor {
	uint64_t clock;   /* its start */
	uint64_t end;     /* and its end */
	int begun;        /* there was one, */
	int timed;        /* and one with a start */
	uint64_t periods; /* those whose duration is known */
	double ticks;     /* and the sum of those */
};

/* A trace that is read: the reader's state. */
struct hpm {
	struct hpm_meta meta;
	struct hpm_layout layout; /* a copy, as it is used often */
	uint32_t size;            /* of a counter record */
	int cpu; /* of the file's first counter, or -1; merged: of the last */
	struct hpm_processor one;
	struct hpm_processor *each; /* of a merged trace; or NULL */
	unsigned seen;              /* processors of a merged trace */
	struct tel_running running;
	struct hpm_speeds speeds;
	/* reported when the first event is requested */
	char *meta_path; /* the file, or the name that was looked for */
	char *refused;   /* why that file could not be used */
	int meta_found;
	unsigned promised; /* counters that it declares */
	int reported;
	uint64_t flagged[8]; /* events with each bit of flags */
	unsigned exited;     /* exit records */
	/* for who writes the trace again: the header, and the padding between
	 * the record before and this one */
	unsigned char header[8 + HPM_STRING_MAX];
	unsigned char lead[8 + HPM_STRING_MAX];
	uint32_t lead_size;
	/* the event that is given, where its numbers are aligned */
	_Alignas(8) unsigned char data[HPM_EVENT_MAX];
	unsigned char *rows; /* the counter events behind it; NULL: none yet */
};

/* Bytes of a counter event. */
static inline uint32_t
hpm_event_size(const struct hpm *h)
{
	return (uint32_t)(HPM_AT_COUNTERS + 8 * h->layout.counters);
}

/* Whether a counter record that needs no second look is at p. */
static inline int
hpm_is_plain_counter(const struct hpm *h, const unsigned char *p,
    const unsigned char *end)
{
	if ((size_t)(end - p) < h->size || h->layout.version == 1)
		return 0;
	uint32_t word = hpm_load32(p, h->layout.big);
	return word % 16 == HPM_COUNTER &&
	    ((int)(word >> 4 & 0x3ff) == h->cpu ||
	        (h->each != NULL && hpm_load64(p + 8, h->layout.big) != 0));
}

/* look.c */

/* tel__hpm_look() when there are too few bytes to know. */
#define HPM_MORE ((size_t)-1)

/*
 * The length of the record whose first n bytes are at p: 0 when it is invalid,
 * HPM_MORE when more bytes are needed.  It may be more than n.
 */
size_t tel__hpm_look(const struct hpm_layout *l, const unsigned char *p,
    size_t n);

/* Records in a row that are not a coincidence: a trace continues there. */
#define HPM_CHAIN 3
/*
 * Whether records follow each other from p on, in n bytes, as they would not
 * by chance: HPM_CHAIN of them, or fewer up to the very end where that is known
 * (eof).  cpu: the processor they must be of, or -1.
 */
int tel__hpm_chain(const struct hpm_layout *l, const unsigned char *p, size_t n,
    int eof, int cpu);

/*
 * The processor whose records follow the padding at p, a whole record; -1: the
 * padding names none.
 */
int tel__hpm_switch(const struct hpm_layout *l, const unsigned char *p);

/* The processor of the counter record at p. */
unsigned tel__hpm_cpu(const struct hpm_layout *l, const unsigned char *p);

/* When the counter record at p begins. */
uint64_t tel__hpm_start(const struct hpm_layout *l, const unsigned char *p);

/* What came of looking at some bytes as records. */
struct hpm_trial {
	size_t good; /* bytes that make sense */
	unsigned counters;
	unsigned odd;   /* other records, of eight bytes */
	int bad;        /* no valid record follows them */
	int cpu;        /* of the first counter, or -1 */
	uint64_t start; /* of the first counter that has it, or 0 */
};

/*
 * Looks at n bytes at p as records laid out as *l.  One that is cut off makes
 * sense unless the end is that of all (eof).
 */
struct hpm_trial tel__hpm_try(const struct hpm_layout *l,
    const unsigned char *p, size_t n, int eof);

/*
 * Finds the byte order (version 3) and the number of counters by which most
 * of n bytes at p make sense.
 */
void tel__hpm_guess(struct hpm_layout *l, const unsigned char *p, size_t n,
    int eof);

/* meta.c */

/* Whether the n bytes at p begin a meta file. */
int tel__hpm_is_meta(const unsigned char *p, size_t n);

/*
 * Reads a meta file for traces of that version; the names of threads and
 * methods go to the reader's labels.  path: its name in messages.  TEL_OK;
 * TEL_EFORMAT: it is not a meta file, or of another version; TEL_EIO;
 * TEL_ENOMEM.
 */
tel_status tel__hpm_meta_read(struct tel_reader *r, struct tel_input *in,
    const char *path, uint32_t version, struct hpm_meta *meta);

/* sidecar.c */

/*
 * Opens the meta file of the log that is read: the one that was set, or the one
 * named by these n bytes next to the trace, in a directory or archive.
 * in: NULL when there is none.  path: set to its name, to be freed.
 * TEL_OK; TEL_EIO: it cannot be opened; TEL_ENOMEM.
 */
tel_status tel__hpm_meta_open(struct tel_reader *r, const unsigned char *name,
    size_t n, struct tel_input **in, char **path);

/* event.c */

/* Hands out the counter record at r->p; h->lead goes with it. */
void tel__hpm_give_counter(struct tel_reader *r, struct hpm *h);
/* And those behind the record that was given. */
void tel__hpm_decode_batch(struct tel_reader *r);

/* Hands out the marker or exit record of size bytes at r->p. */
void tel__hpm_give_other(struct tel_reader *r, struct hpm *h, size_t size);

/* open.c */

/* The decoder: open.c, read.c. */
tel_status tel__hpm_next(struct tel_reader *r);
void tel__hpm_close(struct tel_reader *r);
int tel__hpm_probe(struct tel_reader *r);
tel_status tel__hpm_open(struct tel_reader *r);
/* Reports what the open call found out, when the first event is asked for. */
tel_status tel__hpm_report(struct tel_reader *r, struct hpm *h);

/* schema.c */

/* Makes the schema of a trace; NULL when out of memory. */
struct tel_schema *tel__hpm_schema_make(const struct hpm_meta *meta);
/*
 * Makes the built-in schema of a name, with counters that have no names.
 * NULL: that of version 3.  TEL_OK, TEL_EINVAL (no such name), TEL_ENOMEM.
 */
tel_status tel__hpm_schema_new(const char *name, struct tel_schema **out);

#endif
