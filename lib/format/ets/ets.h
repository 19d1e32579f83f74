/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Singularity ETS logs, tel-ets(5): what the files of this format share.
 *
 * A log is records, each an entry of 48 bytes and a text of up to 256.  TMF
 * defines the words of an entry, and its text: one description of Singularity's
 * own events is built in, users add theirs.
 */
#ifndef TEL_ETS_H
#define TEL_ETS_H

#include "reader/reader.h"
#include "format/ets/tmf.h"

#define ETS_ENTRY 48u
#define ETS_TEXT_MAX 256u
#define ETS_RECORD_MAX (ETS_ENTRY + ETS_TEXT_MAX)

/* Where in an entry its words are, all little-endian. */
enum ets_at {
	ETS_AT_CLOCK = 0,       /* 8 bytes */
	ETS_AT_INSTRUCTION = 8, /* 4 */
	ETS_AT_TID = 12,        /* 2, and so the next ones */
	ETS_AT_PID = 14,
	ETS_AT_PROVIDER = 16,
	ETS_AT_TYPE = 18,
	ETS_AT_TEXT = 20, /* 4: the text's length, or what became of it */
	ETS_AT_CPU = 24,  /* 2 */
	ETS_AT_VERSION = 26,
	ETS_AT_ARGS = 28 /* 5 times 4, and then the text */
};

/* Values of the text's length that say why it is not there. */
#define ETS_TEXT_OVERWRITTEN UINT32_MAX
#define ETS_TEXT_OUTSIDE (UINT32_MAX - 1)
#define ETS_TEXT_CHANGED (UINT32_MAX - 2)

/* Providers and types that mean something to the reader. */
#define ETS_SYSINFO 1u
enum ets_sysinfo {
	ETS_CPU_SPEED = 1,
	ETS_CONTRACT_NAME = 2,
	ETS_PROCESS_INFO = 3,
	ETS_THREAD_INFO = 4
};
#define ETS_CASSINI 3u
#define ETS_SHELL 5u
#define ETS_WEB_SERVER 22u
#define ETS_ENDPOINT 8u
enum ets_endpoint { ETS_RETRIEVE = 6, ETS_DELIVER = 7 };
/* The words of these two. */
#define ETS_AT_MESSAGE 28
#define ETS_AT_CONTRACT 36

/* The most processors of a machine of the time, to recognise entries. */
#define ETS_CPUS 256u

/*
 * An event with fields that are not as they are in a record - strings of
 * other forms than text, signed bytes - is laid out anew: the entry up to its
 * words, then eight bytes a field, then the strings.  A byte of UTF-16 becomes
 * at most one and a half, and a number in digits at most 37.
 */
#define ETS_DATA_MAX \
	(ETS_AT_ARGS + (size_t)TMF_FIELDS_MAX * 48 + 3 * ETS_RECORD_MAX)

/* What the reader knows of a type, beside its schema. */
struct ets_type {
	uint64_t key; /* ets_key() */
	const struct tel_type *type;
	const struct tmf_block *block; /* to lay out anew; NULL: in place */
	uint32_t least;  /* bytes of a record with all fields; 0: anew */
	int16_t message; /* the field that is a message's tag, or -1 */
};

static inline uint64_t
ets_key(unsigned provider, unsigned version, unsigned type)
{
	return (uint64_t)provider << 32 | (uint64_t)type << 16 | version;
}

/* What was typed into a shell. */
#define ETS_COMMAND ets_key(ETS_SHELL, 0, 1)

static inline uint64_t
ets_key_at(const unsigned char *p)
{
	return ets_key(tel_le16(p + ETS_AT_PROVIDER),
	    tel_le16(p + ETS_AT_VERSION), tel_le16(p + ETS_AT_TYPE));
}

/* Types of small numbers are found at once. */
#define ETS_DIRECT 32u

/* Events of a type that nothing describes. */
struct ets_unknown {
	uint64_t key;
	uint64_t count;
};
/* So many are counted apart, and further ones together. */
#define ETS_UNKNOWN_MAX 4096u
/* The type of all of them has this code. */
#define ETS_UNKNOWN_CODE UINT32_MAX

/* The clocks of one log differ by less: hours of a processor. */
#define ETS_SPAN ((uint64_t)1 << 45)

/* Whether both clocks may be of one log. */
static inline int
ets_is_near(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) < ETS_SPAN;
}

/* Names of messages are put together once. */
#define ETS_NOTES 256u
#define ETS_NOTE_MAX 640u
struct ets_note {
	uint64_t key; /* contract, tag, direction */
	uint32_t tag;
	uint16_t size; /* 0: nothing is here */
	unsigned char bytes[ETS_NOTE_MAX];
};

/* A log that is read: the reader's state. */
struct ets {
	struct tmf tmf;
	struct ets_type *types; /* in order of keys */
	unsigned ntypes;
	struct tel_schema *schema; /* until the reader has it */
	/* 1 + index in types of version 0, or 0 */
	uint16_t direct[ETS_DIRECT][ETS_DIRECT];
	uint64_t clock; /* of the last event, to judge others by; or 0 */
	uint64_t far;   /* a clock far from that one, of the last event; or 0 */
	const struct tel_type *undescribed; /* events that nothing describes */
	struct ets_unknown *unknown;        /* in order of keys */
	unsigned nunknown;
	size_t unknown_room;
	uint64_t unknown_others;
	struct ets_note *notes; /* NULL until one is needed */
	uint64_t lost[3];       /* texts: overwritten, out of bounds, changed */
	uint64_t nuls;          /* texts that hold a NUL */
	uint64_t requests;      /* that a web server processed */
	unsigned char data[ETS_DATA_MAX];
};

/* The type of a key; NULL when nothing describes it. */
static inline const struct ets_type *
ets_find(const struct ets *h, const unsigned char *p)
{
	uint32_t both = tel_le32(p + ETS_AT_PROVIDER);
	unsigned provider = both & 0xffff, type = both >> 16, lo, hi, mid;

	if (provider < ETS_DIRECT && type < ETS_DIRECT &&
	    tel_le16(p + ETS_AT_VERSION) == 0) {
		lo = h->direct[provider][type];
		return lo > 0 ? &h->types[lo - 1] : NULL;
	}
	uint64_t key = ets_key_at(p);
	for (lo = 0, hi = h->ntypes; lo < hi;) {
		mid = lo + (hi - lo) / 2;
		if (h->types[mid].key < key)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < h->ntypes && h->types[lo].key == key ? &h->types[lo] : NULL;
}

/* Bytes of the text behind the entry at p, as its length has it. */
static inline unsigned
ets_text(const unsigned char *p)
{
	uint32_t n = tel_le32(p + ETS_AT_TEXT);

	return n <= ETS_TEXT_MAX ? n : 0;
}

/*
 * Whether the entry at p is as the writer makes them: the only ones without a
 * clock are those of SysInfo.  Its type and version may be any.
 */
static inline int
ets_is_sane(const unsigned char *p)
{
	unsigned provider = tel_le16(p + ETS_AT_PROVIDER);

	return tel_le16(p + ETS_AT_CPU) < ETS_CPUS && provider != 0 &&
	    (tel_le64(p) == 0) == (provider == ETS_SYSINFO);
}

/*
 * Whether provider and version are as small as they are in practice.  Those of
 * an entry that is read from the wrong byte on mostly are not.
 */
static inline int
ets_has_small_numbers(const unsigned char *p)
{
	return tel_le16(p + ETS_AT_PROVIDER) < 256 &&
	    tel_le16(p + ETS_AT_VERSION) < 256;
}

/* Records in a row that are believed where nothing describes their types. */
#define ETS_LONG_CHAIN 6
/* Bytes that surely hold such a chain. */
#define ETS_AHEAD ((size_t)ETS_LONG_CHAIN * ETS_RECORD_MAX)

/* ets.c */

/*
 * Whether the entry at p fits any description: cheap, for input of other
 * formats.
 */
int tel__ets_may_be(const unsigned char *p);

/* The decoder: read.c, open.c. */
tel_status tel__ets_next(struct tel_reader *r);
void tel__ets_decode_batch(struct tel_reader *r);
void tel__ets_close(struct tel_reader *r);

/* Frees a reader's state, or NULL. */
void tel__ets_free(struct ets *h);

/* ets_look.c */

/*
 * Whether want records follow each other from p on, in n bytes, as they would
 * not by chance; fewer, but one, up to the very end where that is known (eof).
 * Of the last one only the entry is looked at.
 * clock: that of an event nearby, or 0.  anything: of any provider; then h may
 * be NULL.
 */
int tel__ets_chain(const struct ets *h, const unsigned char *p, size_t n,
    int eof, uint64_t clock, unsigned want, int anything);

/*
 * Whether the entry at p, which lies within the n bytes there, is valid.  One
 * of unknown type must have a neighbour, of which the entry is checked; with
 * large numbers several, ETS_AHEAD. eof: truncation there is not damage.
 */
int tel__ets_is_record(const struct ets *h, const unsigned char *p, size_t n,
    int eof, uint64_t clock);

/* What may be asked of a text. */
enum ets_ask {
	ETS_ASK_NEXT, /* by the entry behind it: 48 bytes are enough */
	ETS_ASK_ALL   /* by all records that may be behind it */
};
/* Bytes that surely hold a record and those. */
#define ETS_ASK_SIZE (ETS_AHEAD + 2 * ETS_RECORD_MAX)

/*
 * How long the text of the record at p really is, of which n bytes are seen;
 * -1 when no length makes sense.
 */
int tel__ets_text_length(const struct ets *h, const unsigned char *p, size_t n,
    int eof, enum ets_ask ask);

/* tel__ets_open.c */

int tel__ets_probe(struct tel_reader *r);
tel_status tel__ets_open(struct tel_reader *r);

/* ets_schema.c */

/*
 * Makes the schema of what h->tmf describes, and the table of h->types, which
 * is the caller's even on failure.  TEL_OK, TEL_ENOMEM.
 */
tel_status tel__ets_schema_make(struct ets *h, struct tel_schema **out);
/* Adds the built-in descriptions.  TEL_OK, TEL_ENOMEM. */
tel_status tel__ets_describe_builtin(struct tmf *tmf);
/* The schema of the built-in descriptions.  TEL_OK, TEL_ENOMEM. */
tel_status tel__ets_schema_new(struct tel_schema **out);

/* builtin.tmf: the description of Singularity's events. */
extern const char *const tel__ets_builtin[];
extern const unsigned tel__ets_nbuiltin;

/* tel__ets_follow.c */

/* Heeds an event of SysInfo.  TEL_OK, TEL_ENOMEM. */
tel_status tel__ets_follow(struct tel_reader *r, struct ets *h,
    const unsigned char *p, unsigned text);

/* Gives the name of its message to the event of a hook.  TEL_OK, TEL_ENOMEM. */
tel_status tel__ets_name_message(struct tel_reader *r, struct ets *h,
    const unsigned char *p, int field);

/* Counts an event that nothing describes.  TEL_OK, TEL_ENOMEM. */
tel_status tel__ets_count_unknown(struct tel_reader *r, struct ets *h,
    const unsigned char *p);

/*
 * Reports what mag_ets reports of an event with a text of so many bytes: a
 * command of the shell; and counts the requests to a web server.
 */
void tel__ets_find_text(struct tel_reader *r, struct ets *h,
    const unsigned char *p, unsigned text);

/* Reports on the whole log, once it has ended. */
void tel__ets_report(struct tel_reader *r, struct ets *h);

/* tel__ets_decode.c */

/*
 * Lays out the record of size bytes at p anew in h->data.  Returns the bytes
 * of it, or 0 when the record has not all fields.
 */
uint32_t tel__ets_decode(struct ets *h, const struct ets_type *t,
    const unsigned char *p, size_t size);

#endif
