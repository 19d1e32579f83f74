/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Common Trace Format, versions 1.8 and 2: tel-ctf(5).
 *
 * A trace is a folder: metadata, which describe classes of fields, and files of
 * streams, which are packets of events.  All traces of a folder, or of an
 * archive, are one log, whose ticks are nanoseconds since 1970: the events of
 * all streams, merged by their clocks.
 *
 *	class.h    what metadata say; tsdl.c, fragments.c and metadata.c read them
 *	program.h  the steps that an event is decoded by, and its record
 *	decode.h   executes the steps
 *	trace.c    from a set of files to traces with types of events
 *	packet.h   the start of a packet
 *	stream.c   a stream: its packets, one after the other, and their events
 *	read.c     the decoder of the format: the merge of all streams
 */
#ifndef TEL_CTF_CTF_H
#define TEL_CTF_CTF_H

#include "base/index.h"
#include "format/ctf/decode.h"
#include "io/fileset.h"
#include "reader/reader.h"

#define CTF_PACKET_MAGIC UINT32_C(0xc1fc1fc1)
/* Documented limit: streams of all traces of a log. */
#define CTF_STREAMS_MAX 65536u
/* Documented limit: texts and lists of a packet's context, which each event has. */
#define CTF_TEXTS_MAX 8192u
/* Documented limit: traces of a log, parts of one included. */
#define CTF_TRACES_MAX 16384u

/*
 * The usual header of events: the number of its class, and behind it the low
 * bits of the clock, little-endian.  What other numbers mean, the steps know.
 */
struct ctf_short_header {
	uint64_t low, high; /* the numbers that are followed by the clock */
	uint32_t align;
	uint16_t id_slot, clock_slot;
	uint8_t id_bits, clock_bits; /* 0: the header is not of this kind */
};

/* A class of events, as it is decoded. */
struct ctf_event_type {
	uint64_t id;
	struct ctf_step *steps;
	const struct tel_type *type;
	uint32_t head; /* bytes of a record without strings and lists */
	int has_choice;
	uint32_t copied; /* bytes, if a copy of them is all; else 0 */
	uint32_t copy_to;
};

/* A class of streams. */
struct ctf_stream_type {
	const struct ctf_stream_class *class;
	const struct ctf_clock *clock; /* of its events; or NULL */
	struct ctf_step *packet_context, *event_header;
	struct ctf_short_header header;
	uint32_t prefix; /* bytes of a record that the packet's context gives */
	struct ctf_event_type *events; /* in the order of their ids */
	size_t nevents;
};

struct ctf_trace {
	struct ctf_metadata m;
	struct ctf_step *packet_header;
	struct ctf_stream_type *streams;
	size_t nstreams;
	char *folder; /* of the metadata, with its last slash */
	int broken;   /* its metadata make no sense: it is left out */
	int any_uuid; /* packets may have another one than the metadata */
};

/* The header and context of a packet; sizes are in bits. */
struct ctf_packet {
	uint64_t offset; /* in the file, in bytes */
	uint64_t start;  /* of the first event */
	uint64_t content, size;
	uint64_t begin, end, discarded, sequence; /* as .seen has them */
	unsigned seen;
};

/* A file of a stream: at the packet that comes next. */
struct ctf_file {
	size_t number; /* in the set */
	uint64_t size;
	struct ctf_packet packet;
	int ended;
};

/* Where an event was read: what copying it needs. */
struct ctf_origin {
	const struct ctf_stream *stream;
	const struct ctf_event_type *type;
	size_t file;      /* in the set, */
	uint64_t offset;  /* and of the packet in it, in bytes */
	uint64_t content; /* of the packet, in bits */
	uint64_t start;   /* of the event in the packet, in bits */
	uint64_t clock;   /* in cycles */
};

struct ctf_stream {
	const struct ctf_trace *trace;
	const struct ctf_stream_type *type;
	size_t order; /* of the trace */
	uint64_t id;  /* of the instance */
	struct ctf_file *files;
	size_t nfiles, file_room;
	struct ctf_file *file; /* of the packet that is read; NULL: none */
	struct ctf_packet packet;
	int packets; /* that were read before */
	uint64_t discarded, sequence;
	struct ctf_cursor cursor;
	uint64_t *slots;
	unsigned char *window;
	size_t window_size, filled;
	unsigned char *prefix; /* what the packet's context gives to records, */
	struct tel__buffer texts; /* and the texts and lists of that, */
	int texts_dropped;        /* unless these are too long */
	/* the next event: its header was read */
	const struct ctf_event_type *event;
	uint64_t ns;
	uint64_t lost; /* before it */
	struct ctf_origin origin;
};

struct ctf {
	struct tel_fileset *set; /* of the reader */
	struct ctf_trace *traces;
	size_t ntraces, trace_room;
	size_t dropped; /* whose metadata are invalid */
	struct ctf_stream *streams;
	size_t nstreams, stream_room;
	void **heap; /* streams with an event, the first one first */
	size_t nheap;
	int any_order, unsorted; /* events are counted only; so is the heap */
	uint64_t passed; /* events that were counted since the last one */
	size_t window;   /* bytes of each stream's */
	struct tel__buffer records; /* of the events that were found */
	/* what that of a packet gives to them: CTF_HEAD_MAX bytes, then texts */
	struct tel__buffer context;
	struct tel_schema *schema;
	struct tel__index index; /* of its types, by name */
	uint64_t lost;           /* of streams that have ended */
	int started;
	int origins; /* each record comes behind the origin of its event */
	int taken;   /* the event of heap[0] was given */
	int clock_reported, foreign_reported, texts_reported;
	tel_status failed; /* what the next call is to return */
};

/* The functions of the format. */
int tel__ctf_claims(const struct tel_fileset *set);
int tel__ctf_probe(struct tel_reader *r);
tel_status tel__ctf_open(struct tel_reader *r);
tel_status tel__ctf_next(struct tel_reader *r);
void tel__ctf_decode_batch(struct tel_reader *r);
void tel__ctf_close(struct tel_reader *r);

extern const struct tel_encoder_ops tel__ctf_encoder;

/* Gives a type of a program that is known the role that it has. */
void tel__ctf_set_roles(struct tel_type *t);
/* Pairs types that start and end a range, by their names. */
void tel__ctf_pair_types(struct tel_schema *schema);

/* Nonzero when a file of that name has metadata. */
int tel__ctf_is_metadata_name(const char *name);

/*
 * Reads the metadata of the set of s, and compiles them.
 * TEL_OK, TEL_EFORMAT, TEL_EIO, TEL_ENOMEM.
 */
tel_status tel__ctf_load(struct tel_reader *r, struct ctf *s);

/*
 * Finds the streams of the files, each at its first packet.  Damage is
 * reported.  TEL_OK, TEL_EDAMAGED (strict), TEL_EIO, TEL_ENOMEM.
 */
tel_status tel__ctf_find_streams(struct tel_reader *r, struct ctf *s);

/*
 * Reads the header of the next event of a stream.  TEL_OK; TEL_END: there is
 * none; or as above.
 */
tel_status tel__ctf_stream_next(struct tel_reader *r, struct ctf *s,
    struct ctf_stream *stream);

/*
 * Appends the record of that event to s->records.  TEL_OK; TEL_AGAIN: it was
 * invalid, and the header of the next one is to be read; or as above.
 */
tel_status tel__ctf_stream_take(struct tel_reader *r, struct ctf *s,
    struct ctf_stream *stream);

/*
 * Steps over that event, if its size is known.  The bytes of its record, or 0: it
 * is to be taken.
 */
uint32_t tel__ctf_stream_pass(struct ctf_stream *stream);

/*
 * Executes steps from the next bit of a stream's packet on, with more of the
 * packet if it is needed; a failure goes back to that bit.  *st: why, for
 * CTF_MEMORY.
 */
enum ctf_result tel__ctf_stream_execute(struct tel_reader *r, struct ctf *s,
    struct ctf_stream *stream, const struct ctf_step *steps, tel_status *st);

void tel__ctf_free(struct ctf *s);

#endif
