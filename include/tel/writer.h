/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tel/writer.h - part of libtel, see tel.h for the general rules.
 *
 * Writers: events as a log again, in the same format or another.
 */
#ifndef TEL_TEL_WRITER_H
#define TEL_TEL_WRITER_H

#include "tel/output.h"
#include "tel/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A writer writes events in the format they came in: an MPS stream as an MPS
 * stream, text as the lines that were read.  It is given every event of a log,
 * in order, either to be written or to be passed over:
 *
 *	w = tel_writer_new(out);
 *	while (... tel_reader_next(r, &ev) ...)
 *		if (tel_filter_match(f, ev) > 0)
 *			... tel_writer_event(w, ev) ...
 *		else
 *			... tel_writer_pass(w, ev) ...
 *	... tel_writer_finish(w), tel_output_flush(out) ...
 *	tel_writer_free(w);
 *
 * Of the events that are passed over it writes those that the others depend on:
 * in their place, those with the stream's version and release and its clock's
 * synchronisation points; and before the first event that shows it, a label
 * with its string.  So an event has the same labels in the output as in the
 * original log.
 */
typedef struct tel_writer tel_writer;

/*
 * Makes a writer to out, which must outlive it and stays the caller's.
 * NULL when out of memory.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_writer *tel_writer_new(tel_output *out);
/* Frees a writer; what it has written is in the output. */
TEL_SINCE_0_1 void tel_writer_free(tel_writer *w);
/*
 * The setters come before the first event; afterwards they return TEL_ESTATE
 * and change nothing.
 */
/*
 * Sets the output format.
 * name: NULL for the format that events came in, the default; "tel", the
 *	native format, for events of any logs; "inst" or "hpm", for events of
 *	logs that are of these formats, or were before they became native; or a
 *	stream of the MPS: "mps", of the
 *	release of the first log; "mps:1.6.1/lii3gc", by the version of the
 *	stream (of two releases that have the same, the log's own or the later
 *	one) or of the release, and the platform; or a name of
 *	tel_schema_new().  ",be" or ",le" may follow.  A part of "mps..."
 *	that is omitted is that of the first log, or for 64-bit x86 if that is
 *	not an MPS log.
 *
 * Events are converted to an MPS release by the names of types and fields,
 * and what it cannot represent is counted, see tel_writer_loss(): an event
 * whose type it lacks, or with a value too large for its field, is dropped; a
 * field that its type lacks is dropped; and a field that only the target has is
 * 0.  A stream that does not start with EventInit and the build string gets
 * them, unless it is the release's own.
 * Returns TEL_OK, TEL_EINVAL (no such format can be written), TEL_ENOMEM,
 * TEL_ESTATE.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_writer_set_target(tel_writer *w,
    const char *name);
/* Options of a writer, for tel_writer_set(). */
typedef enum tel_writer_option {
	/* fail with TEL_EINVAL at the first event or field that the target
	 * cannot represent, instead of counting them */
	TEL_WRITE_STRICT,
	TEL_WRITE_BARE, /* write no event that is passed over */
	/* keep a terminal safe: bytes of lines that are not printable ASCII are
	 * written as \xHH */
	TEL_WRITE_TERMINAL,
	/* make an output that has a part of its events complete by itself
	 * without tel_writer_pass(): the native format then has the labels that
	 * the events show, and the rate of the clock.  For the native format
	 * only. */
	TEL_WRITE_PART,
	/* the most strings and labels of a log that are held, 1 to 2^30; 2^18
	 * unless set.  Further ones are written in their place. */
	TEL_WRITE_MAX_LABELS
} tel_writer_option;

/*
 * Sets an option: those before TEL_WRITE_MAX_LABELS are on (value is nonzero) or
 * off (0, the default of each).
 * TEL_OK, TEL_EINVAL (no such option, or its value is out of range), TEL_ESTATE.
 */
TEL_SINCE_0_1 tel_status tel_writer_set(tel_writer *w, tel_writer_option option,
    int64_t value);
/*
 * Nonzero when the output for the log that r reads is binary, and must not be
 * shown on a terminal; 2 if it is in the native format because that of the log
 * is not written.
 */
TEL_SINCE_0_1 int tel_writer_binary(const tel_writer *w, const tel_reader *r);
/*
 * The folder that a trace of several files is written to (CTF): it must not
 * exist, and is there once tel_writer_finish() was successful.  The events come
 * from readers with TEL_READ_ORIGINS.  path is copied.
 * TEL_OK, TEL_ENOMEM, TEL_ESTATE.
 */
TEL_SINCE_0_1 tel_status tel_writer_set_folder(tel_writer *w, const char *path);
/*
 * Sets an entry of the metadata that is written for each log, over that of
 * the log itself, where the format has metadata (the native format).
 * key: 1 to 255 lower-case letters, digits, '.' and '-'.
 * value: up to 65,535 bytes; NULL removes what was set for the key.
 * TEL_OK, TEL_EINVAL, TEL_ELIMIT (more than 256 entries), TEL_ESTATE,
 * TEL_ENOMEM.
 */
TEL_SINCE_0_1 tel_status tel_writer_set_metadata(tel_writer *w, const char *key,
    const char *value);
/*
 * Writes an event, after the events that it depends on.  Events of several logs
 * go to one stream: string numbers that clash are changed, and a later log's
 * version and release are omitted if they equal the first one's.
 * Returns TEL_OK; TEL_EIO, TEL_ENOMEM (of the output, or of the writer);
 * TEL_EINVAL: the event is of another format, release or platform than the
 * first one, and cannot share its stream; or the target cannot represent it;
 * TEL_ELIMIT: more strings than can be held, in several logs.  After the last
 * two nothing was written, and tel_writer_error() has the reason.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_writer_event(tel_writer *w,
    const tel_event *event);
/* Passes over an event.  Returns as tel_writer_event(). */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_writer_pass(tel_writer *w,
    const tel_event *event);
/*
 * Nonzero when tel_writer_pass() must be called for events of a type; otherwise
 * that may be omitted, to save time.  The result is valid until
 * tel_writer_end_file().
 */
TEL_SINCE_0_1 int tel_writer_needs(const tel_writer *w, const tel_type *type);
/*
 * Separates groups of events: by a line "--" in text; not in a stream.  Returns
 * TEL_OK, TEL_EIO, TEL_ENOMEM.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_writer_gap(tel_writer *w);
/*
 * Writes what the writer holds back, and flushes the output.  Returns TEL_OK,
 * TEL_EIO, TEL_ENOMEM.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_writer_flush(tel_writer *w);
/*
 * Ends the events of the readers so far. To be called before they are freed and
 * events of another one follow.
 * r: one of them, for text that has lines but no events; may be NULL.
 * Returns as tel_writer_event().
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_writer_end_file(tel_writer *w,
    const tel_reader *r);
/*
 * Describes a schema, even one without events, for a target that describes
 * schemas: the native format.  schema: must live until this returns.
 * Returns TEL_OK, TEL_EINVAL for another target, or as tel_writer_event().
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_writer_schema(tel_writer *w,
    tel_schema *schema);
/*
 * Writes what ends the output, if anything.  Does not flush the output.
 * Returns TEL_OK, TEL_EIO, TEL_ENOMEM.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_writer_finish(tel_writer *w);

/* What a target cannot represent. */
typedef enum tel_loss_kind {
	TEL_LOSS_TYPE,  /* events of a type: they are dropped */
	TEL_LOSS_VALUE, /* values too large: so are their events */
	TEL_LOSS_FIELD, /* a field of events that are written */
	TEL_LOSS_EMPTY  /* no loss: only the target has the field: 0 */
} tel_loss_kind;
/* The losses in events of one type of a schema. */
typedef struct tel_loss {
	tel_loss_kind kind;
	const char *from;  /* the schema's name */
	const char *to;    /* that of the target */
	const char *type;  /* the type's name */
	const char *field; /* the field's name; "" for TEL_LOSS_TYPE */
	uint64_t events;   /* how many */
} tel_loss;
/*
 * Loss number i, in order of occurrence; some have no events.  After 4,092,
 * further ones are added up by kind, with "..." for names.
 * out: set; its strings are valid until the next event, or the free.
 * size: sizeof(tel_loss), as tel_event_alloc() takes it.
 * Returns 1, or 0 when i is past the last one.
 */
TEL_SINCE_0_1 int tel_writer_loss(const tel_writer *w, size_t i, tel_loss *out,
    size_t size);
/* The message of the last failure; valid until the next call. */
TEL_SINCE_0_1 const char *tel_writer_error(const tel_writer *w);

#ifdef __cplusplus
}
#endif

#endif
