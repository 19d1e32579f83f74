/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tel/reader.h - part of libtel, see tel.h for the general rules.
 *
 * Readers, logs merged in order of time, and windows that sort.
 */
#ifndef TEL_TEL_READER_H
#define TEL_TEL_READER_H

#include "tel/event.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- reader */

typedef struct tel_reader tel_reader;

/* How serious a notice is. */
typedef enum tel_severity {
	TEL_INFO,    /* worth knowing: how a layout was chosen */
	TEL_WARNING, /* the result may not be as expected */
	TEL_DAMAGE   /* input was skipped or repaired */
} tel_severity;

/*
 * Called by a reader with a message for the user.
 * log: the name of the log; offset: where in it, in uncompressed bytes;
 * text: one line without a line end, in printable ASCII, valid until the
 * function returns.
 * The function must not call the reader.
 */
typedef void tel_notify_fn(void *arg, tel_severity severity, const char *log,
    uint64_t offset, const char *text);

/*
 * Reads up to size bytes into buffer.  Returns their number, 0 at the end,
 * -1 on failure with errno set.  Called again and again; short reads are
 * fine.
 */
typedef ptrdiff_t tel_read_fn(void *arg, void *buffer, size_t size);

/*
 * Moves in the input of a tel_read_fn, as lseek(2) does by SEEK_SET, SEEK_CUR
 * and SEEK_END.  Returns the new position, from 0, or -1 on failure.
 */
typedef int64_t tel_seek_fn(void *arg, int64_t offset, int whence);

/* Makes a reader; NULL when out of memory.  Free it in the end. */
TEL_SINCE_0_1 TEL_MUST_USE tel_reader *tel_reader_new(void);
/* Closes and frees a reader and all that was reached through it. */
TEL_SINCE_0_1 void tel_reader_free(tel_reader *r);

/*
 * The setters come before the open call; afterwards they return TEL_ESTATE
 * and change nothing.
 */

/*
 * Sets the input format where it cannot be detected, or was detected wrongly.
 * name: "tel" (the native format), "mps" (any release), a name for
 *	tel_schema_new(), "text" (what telcat prints), "cnv" (the text of
 *	mpseventcnv), "mpstxt" (that of mpseventtxt),
 *	"mpsdump" (that of EventDump in a debugger), "ctf" (a trace of LTTng
 *	and others), "hpm" (a trace of Jikes RVM), "hpm-meta" (the meta file
 *	of such traces), "ets" (a log of Singularity), "ftrace" (the text
 *	of perf script and trace-cmd), or a trace of an allocator: "android",
 *	"heaptrack", "heaptrack-data", "kdump", "logalloc", "ltrace", "mtrace",
 *	"rep", "valgrind"; NULL to detect.
 * Returns TEL_OK, TEL_EINVAL (no such name), TEL_ENOMEM, TEL_ESTATE.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_reader_set_as(tel_reader *r,
    const char *name);
/* Options of a reader, for tel_reader_set(). */
typedef enum tel_reader_option {
	/* continue when the log's major version is newer than libtel supports,
	 * instead of failing with TEL_EVERSION; read packets of CTF that have
	 * another UUID than their metadata, instead of reporting damage */
	TEL_READ_FORCE,
	/* stop at the first damage with TEL_EDAMAGED, instead of continuing with
	 * the next valid event */
	TEL_READ_STRICT,
	/* have events of traces of several files (CTF) come with where they were
	 * read, which copying them needs; they are not shown otherwise */
	TEL_READ_ORIGINS,
	/* follow a log while it is written: at the end of a libtel-emit ring
	 * file, tel_reader_next() waits for new events until the program has
	 * ended */
	TEL_READ_FOLLOW,
	/* have tel_reader_open_callback() take EAGAIN from its function as "no
	 * input yet", instead of a failure: tel_reader_next() then returns
	 * TEL_AGAIN, and may be called again */
	TEL_READ_NONBLOCKING,
	/* how many threads decode: 1, that of the caller alone; or 0, the
	 * default: where it pays, one more parses lines of a trace of an
	 * allocator.  Compressed input is read ahead on a thread of its own all
	 * the same. */
	TEL_READ_THREADS,
	/* the most strings and labels that are held, 1 to 2^30; 2^18 unless set.
	 * Further ones are ignored, with one notice. */
	TEL_READ_MAX_LABELS,
	/* the most bytes to read from the input at a time, 1 to 2^20; 2^18
	 * unless set.  The events do not depend on it; for tests. */
	TEL_READ_SIZE
} tel_reader_option;

/*
 * Sets an option: those before TEL_READ_THREADS are on (value is nonzero) or off
 * (0, the default of each), the others are numbers.
 * Returns TEL_OK, TEL_EINVAL (no such option, or its value is out of range),
 * TEL_ESTATE.
 */
TEL_SINCE_0_1 tel_status tel_reader_set(tel_reader *r, tel_reader_option option,
    int64_t value);
/*
 * Names an address of code, as the reader follows an event that defines a frame
 * of a backtrace: before tel_reader_next() returns that event, and after it
 * has returned those before it.
 * length: set to the length of the name, which is copied.
 * Returns the name, or NULL: it is unknown.
 */
typedef const char *tel_frame_name_fn(void *arg, const tel_event *frame,
    uint64_t address, size_t *length);
/*
 * Has fn(arg, ...) name the frames of backtraces: the names are labels of the
 * log, as if it had them itself.  NULL for none, the default.
 * Returns TEL_OK, TEL_ESTATE.
 */
TEL_SINCE_0_1 tel_status tel_reader_set_frame_names(tel_reader *r,
    tel_frame_name_fn *fn, void *arg);
/* A file with what a log itself does not contain. */
typedef enum tel_file_kind {
	TEL_FILE_TYPES,    /* describes event types */
	TEL_FILE_MESSAGES, /* names the messages of contracts */
	TEL_FILE_META      /* goes with one trace */
} tel_file_kind;
/*
 * Adds a file that some formats need.  The open call reads it, and fails when it
 * cannot be used.
 * path: copied.  TEL_FILE_META: instead of one that was added before; NULL to
 *	look for it next to the trace, the default.
 * Returns TEL_OK, TEL_EINVAL (no such kind, or no path), TEL_ENOMEM, TEL_ESTATE.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_reader_add_file(tel_reader *r,
    tel_file_kind kind, const char *path);
/*
 * Sets the operation of an allocator that events of a type record, for types
 * that have no role, or another one: see tel_event_alloc().
 * role: "alloc", "free", "realloc", "reserve", "commit", "create-pool",
 *	"destroy-pool", "create-buffer", "destroy-buffer", "end-thread",
 *	"end-process", "describe-pool", and "new", "delete", "delete-sized" or
 *	"free-sized": alloc and free by these functions.
 * text: the type and its fields, "GrabBlock(address=p,size=n)": parts are
 *	address (or ptr), which all operations on blocks must have, size, count, old,
 *	alignment, pool, buffer, thread and process.  Copied; at most 1000 bytes.
 * A type or field that no log has is reported to the notify function.
 * Returns TEL_OK, TEL_EINVAL, TEL_ENOMEM, TEL_ESTATE.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_reader_add_role(tel_reader *r,
    const char *role, const char *text);
/*
 * Sets the ticks of the events' clock in a second, for logs without points of
 * synchronisation: more than 0, or 0 to use the log's own rate.
 * Returns TEL_OK, TEL_EINVAL, TEL_ESTATE.
 */
TEL_SINCE_0_1 tel_status tel_reader_set_tick_rate(tel_reader *r, double hertz);
/*
 * Makes an input that a function reads seekable, so that a range of time can be
 * read by itself, and at once: tel_reader_open_callback() passes its arg to
 * seek, too.  NULL, the default: not seekable.
 * Returns TEL_OK, TEL_ESTATE.
 */
TEL_SINCE_0_1 tel_status tel_reader_set_seek(tel_reader *r, tel_seek_fn *seek);
/*
 * Has a reader share the descriptions of event types that logs of several
 * readers have, so that each is made once: tel_reader_schema() of equal ones is
 * one schema then.  Both readers are of one thread, have no roles that
 * tel_reader_add_role() added, and may be freed in any order.  NULL, the
 * default: with none.
 * Returns TEL_OK; TEL_ENOMEM; TEL_ESTATE; TEL_EINVAL: their tel_reader_set_as()
 * differ, or one has such roles.
 */
TEL_SINCE_0_1 tel_status tel_reader_share(tel_reader *r,
    const tel_reader *with);
/*
 * Has fn(arg, ...) called with every notice; NULL for no notices.
 * Returns TEL_OK, TEL_ESTATE.
 */
TEL_SINCE_0_1 tel_status tel_reader_set_notify(tel_reader *r, tel_notify_fn *fn,
    void *arg);

/*
 * The open calls.  Each may be called once.  Compressed input (gzip, bzip2,
 * xz, lz4, zstd) and archives (tar, zip, 7z, cpio) are recognised and opened;
 * the events of an archive are those of each member that is a log, one
 * member after the other.
 * name: what notices call the log; copied; NULL for "-".
 * Return TEL_OK, TEL_ENOMEM, TEL_EIO (with errno set), TEL_ESTATE,
 * TEL_EFORMAT, TEL_EVERSION; after a failure only tel_reader_error() and
 * tel_reader_free() may be called.
 */

/*
 * Opens an input by its name: the path of a file, or of a Unix socket to
 * connect to; "unix:PATH" or "tcp:HOST:PORT", if there is no such file.
 * Returns a descriptor for reading, or -1 with errno set.
 */
TEL_SINCE_0_1 int tel_open_path(const char *name);
/* Opens a file or a socket, as tel_open_path() does. */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_reader_open_file(tel_reader *r,
    const char *path);
/* Reads from an open descriptor, which stays the caller's to close. */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_reader_open_fd(tel_reader *r, int fd,
    const char *name);
/*
 * Reads size bytes of a regular file from start on; the descriptor stays the
 * caller's, and other readers may read other parts of the file by it.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_reader_open_part(tel_reader *r,
    int fd, int64_t start, int64_t size, const char *name);
/* Reads size bytes at data, which must stay unchanged until the free. */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_reader_open_memory(tel_reader *r,
    const void *data, size_t size, const char *name);
/*
 * Reads by calling read(arg, ...).  Where the input is compressed, or with
 * TEL_READ_NONBLOCKING, it is called on a thread of the library, never
 * on two at once.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_reader_open_callback(tel_reader *r,
    tel_read_fn *read, void *arg, const char *name);

/*
 * Reads what tel_reader_feed() is given: for programs that receive the bytes of
 * a log and must not block.  The format is detected when the first event is
 * requested; if it is unknown, that call fails.
 * name: as above.  Returns TEL_OK, TEL_ENOMEM, TEL_ESTATE.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_reader_open_feed(tel_reader *r,
    const char *name);
/*
 * Gives a reader opened by tel_reader_open_feed() the next bytes of its input,
 * in pieces of any size; the events do not depend on that.
 *
 *	st = tel_reader_feed(r, bytes, n);
 *	while (st == TEL_OK || st == TEL_LOG)
 *		if ((st = tel_reader_next(r, &ev)) == TEL_OK)
 *			... look at *ev ...
 *	... TEL_AGAIN: feed more; TEL_END: done ...
 *
 * data: copied, and held until it is read: take the events before feeding more.
 * size: 0 at the end of the input.
 * Returns TEL_OK; TEL_ENOMEM, and nothing was copied; TEL_ESTATE: the reader
 * was opened otherwise, or the input has ended.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_reader_feed(tel_reader *r,
    const void *data, size_t size);

/*
 * The next event.
 * event: set to it on TEL_OK; it is valid until the next call.
 * Returns TEL_OK; TEL_LOG: no event, but the member of an archive has ended;
 * the next call continues with the next member, which tel_reader_schema() and
 * similar functions describe from here on; TEL_AGAIN: more input is needed, and
 * the reader does not wait for it; TEL_END; TEL_EIO; TEL_EDAMAGED (strict
 * only); TEL_EVERSION; TEL_ENOMEM; TEL_ELIMIT: the decoder found 2^20 events
 * without advancing, which is a fault of libtel; TEL_ESTATE when the reader is
 * not open.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_reader_next(tel_reader *r,
    const tel_event **event);

/*
 * Pieces: several readers of one file, each on a thread of its own, read one
 * piece of its log each.  tel_reader_join() shows whether a piece continues
 * exactly where those before it have ended, in the state in which they did:
 * then reading all of them comes to the same events, notices and counts as
 * reading the log with one reader, except for these, as a piece lacks the
 * events before it: tel_event_index(), labels, and times in seconds.
 *
 *	... for each i: open reader[i]; tel_reader_set_piece(reader[i], i, n) ...
 *	... read each reader to TEL_END, in any order or side by side ...
 *	last = reader[0];
 *	for (i = 1; i < n; i++)
 *		if (tel_reader_join(reader[0], reader[i]) == TEL_OK)
 *			last = reader[i];
 *		else if (tel_reader_extend(reader[0], last, i) == TEL_OK)
 *			... read last to TEL_END, instead of reader[i] ...
 */

/*
 * Has a reader read only one of n pieces of about the same size, the first of
 * which is 0.  To be called between the open call and the first event.
 * Returns TEL_OK; TEL_END when the log is not read in pieces, as its format or
 * its input does not allow that: then piece 0 is the log, and the reader of
 * another piece has no event; TEL_EINVAL; TEL_ESTATE; or a failure of
 * tel_reader_next().
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_reader_set_piece(tel_reader *r,
    unsigned piece, unsigned n);
/*
 * Adds the counts and the points of the clock of a piece that was read to the
 * end to those of the reader of piece 0, and takes them from it.
 * Returns TEL_OK; TEL_END: it does not continue the pieces that were joined so
 * far, and is to be dropped; TEL_ELIMIT: the log has so many labels that it must
 * be read by one reader; TEL_ENOMEM.  Nothing is changed, but on TEL_OK.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_reader_join(tel_reader *first,
    tel_reader *piece);
/*
 * Lets the reader of the piece that was joined last go on to the end of a later
 * piece.  It is joined again after that, unless it is that of piece 0.
 * Returns TEL_OK; TEL_END: the log had ended already; TEL_ESTATE.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_reader_extend(tel_reader *first,
    tel_reader *last, unsigned piece);

/*
 * The schema of the log that is being read; NULL before the open call.
 * Good until the reader is freed.
 */
TEL_SINCE_0_1 const tel_schema *tel_reader_schema(const tel_reader *r);
/* The format of the input, as tel_reader_set_as() calls it; static. */
TEL_SINCE_0_1 const char *tel_reader_format(const tel_reader *r);
/*
 * Entry i, from 0, of the metadata of the log that is being read: a key such
 * as "host", and its value.  Logs of the native format and of text have it.
 * key, value: set to strings, valid until the next call.
 * Returns 1, or 0 when there are no more.
 */
TEL_SINCE_0_1 int tel_reader_metadata(const tel_reader *r, size_t i,
    const char **key, const char **value);
/* The name of the log that is being read; valid until the next call. */
TEL_SINCE_0_1 const char *tel_reader_log_name(const tel_reader *r);
/* What the last failure was, in words; good until the next call. */
TEL_SINCE_0_1 const char *tel_reader_error(const tel_reader *r);
/*
 * TEL_OK, or the failure that ended the input.  A window or a merge reports it
 * only after the events before it; a program that stops earlier can check here,
 * as their order may depend on what could not be read.
 */
TEL_SINCE_0_1 tel_status tel_reader_failed(const tel_reader *r);
/*
 * Ticks of the events' clock in a second, as far as it is known so far, from
 * the log's synchronisation points; 0 when it is unknown.
 */
TEL_SINCE_0_1 double tel_reader_tick_rate(const tel_reader *r);

/* Nonzero when the input is an archive, whose members are the logs. */
TEL_SINCE_0_1 int tel_reader_archive(const tel_reader *r);

/* What a reader has done so far, over all the logs in its input. */
typedef enum tel_count {
	TEL_COUNT_EVENTS,   /* events returned */
	TEL_COUNT_BYTES,    /* bytes of them in the uncompressed input */
	TEL_COUNT_INPUT,    /* bytes read from the file or pipe */
	TEL_COUNT_SKIPPED,  /* bytes skipped because they were damaged */
	TEL_COUNT_REPAIRED, /* events whose wrong size was corrected */
	TEL_COUNT_UNKNOWN,  /* events of types that libtel does not know */
	TEL_COUNT_DAMAGED,  /* places where the input was damaged */
	TEL_COUNT_LOGS,     /* logs started */
	TEL_COUNT_LOST,     /* events lost when the log was recorded */
	TEL_COUNT_UNREAD    /* events that need a newer version of a format */
} tel_count;
/* The given count; 0 for an invalid tel_count. */
TEL_SINCE_0_1 uint64_t tel_reader_count(const tel_reader *r, tel_count which);
/*
 * Selects events whose clock is from first to last, from the next event on.
 * Others may be left out where that saves reading them: in a file of the native
 * format that is not damaged, uncompressed or written by tel_output_set_zstd().
 * Events that define names, the time or the version are never left out, nor
 * the first ones and the earliest one. If the file has several logs and this is
 * called after the first event was read, nothing is left out, as the range may
 * be relative to that event. From UINT64_MAX to 0 selects none, and leaves out
 * what it can: few events remain, from which one learns the logs and their types.
 */
TEL_SINCE_0_1 void tel_reader_set_range(tel_reader *r, uint64_t first,
    uint64_t last);
/*
 * The least and the greatest clock of the events of an input that was opened
 * and not read yet, where that is known without reading it.
 * Returns TEL_OK; TEL_END when it is unknown; TEL_ENOMEM; TEL_ESTATE.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_reader_span(tel_reader *r,
    uint64_t *first, uint64_t *last);
/*
 * For a program that only counts events: those that the decoder can count at
 * once are added to *events, and not returned.
 * events: must outlive the reader; NULL: all events are returned again.
 */
TEL_SINCE_0_1 void tel_reader_set_total(tel_reader *r, uint64_t *events);
/*
 * How many uncompressed bytes are buffered after the last event.  If few,
 * tel_reader_next() may have to wait for a pipe: output made from the events so
 * far should be flushed first.
 */
TEL_SINCE_0_1 uint64_t tel_reader_pending(tel_reader *r);

/* ---------------------------------------------------------------- window */

/*
 * A window buffers part of a log, for facts of an event that later ones decide:
 * its place in order of time, its time in seconds. It holds copies, so an event
 * is valid until the next call on the window.
 */
typedef struct tel_window tel_window;

/* What a window is for. */
typedef enum tel_order {
	/*
	 * In the order of the log; events are held until the synchronisation
	 * points around them are known, at most 2^16 events.
	 */
	TEL_ORDER_LOG,
	/*
	 * By time, whatever the order of the log.  Up to 4 MB of events are
	 * sorted in memory; of longer logs sorted runs are written to a
	 * temporary file (in TMPDIR, or /tmp), so no event is returned before
	 * the log has ended.
	 */
	TEL_ORDER_TIME,
	/*
	 * By time within each flush of an MPS, as it is written.  An event that
	 * arrives out of order is returned on arrival, and counted.
	 */
	TEL_ORDER_LIVE
} tel_order;

/*
 * Makes a window on a reader that is open; the reader stays the caller's and
 * must not be read directly.
 * out: set on success.
 * Returns TEL_OK, TEL_EINVAL (no such order), TEL_ENOMEM.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_window_new(tel_reader *r,
    tel_order order, tel_window **out);
/*
 * Returns only events that tel_event_alloc() decodes.  The others are not held,
 * so that a log with few of them is sorted fast.
 * allocs: 0 or 1; 0 unless set.
 * Returns TEL_OK, TEL_ESTATE (an event was requested already).
 */
TEL_SINCE_0_1 tel_status tel_window_set_allocs(tel_window *w, int allocs);
struct tel_filter;
/*
 * Holds only events that a filter selects, so that a log with few of them is
 * sorted fast.  An event for which tel_filter_match() fails is returned, too.
 * f: a filter that is bound to the schema and has no TEL_USE_OTHERS; it must
 *	outlive the window, unchanged.  NULL, the default: all events are held.
 * Returns TEL_OK, TEL_EINVAL (the filter needs other events), TEL_ESTATE (an
 * event was requested already).
 */
TEL_SINCE_0_1 tel_status tel_window_set_filter(tel_window *w,
    struct tel_filter *f);
/*
 * The next event.  Returns what tel_reader_next() returns; after TEL_AGAIN it
 * may be called again, and after a TEL_EIO of the temporary file too, which
 * tel_window_error() names.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_window_next(tel_window *w,
    const tel_event **event);
/* How many events arrived out of order (TEL_ORDER_LIVE). */
TEL_SINCE_0_1 uint64_t tel_window_late(const tel_window *w);
/* What the last failure was, in words; good until the next call. */
TEL_SINCE_0_1 const char *tel_window_error(const tel_window *w);
/* Frees the window and its temporary file; not the reader. */
TEL_SINCE_0_1 void tel_window_free(tel_window *w);

/* ----------------------------------------------------------------- merge */

/*
 * Several logs as one stream in order of time: by the events' own clocks, so
 * the logs should be from one machine.  Events of the same clock come in the
 * order in which their logs were added.  Memory is bounded by the number of
 * logs and a window on each.
 */
typedef struct tel_merge tel_merge;

/* Makes a merge of no logs; NULL when out of memory. */
TEL_SINCE_0_1 TEL_MUST_USE tel_merge *tel_merge_new(void);
/*
 * Returns only events that tel_event_alloc() decodes.
 * allocs: 0 or 1; 0 unless set.
 * Returns TEL_OK, TEL_ESTATE (a log was added already).
 */
TEL_SINCE_0_1 tel_status tel_merge_set_allocs(tel_merge *m, int allocs);
/*
 * Adds the log of a reader, which is open and not read yet; it stays the
 * caller's, must outlive the merge, and must not be read directly.  Each member
 * of an archive is added; they are copied to temporary files.
 * order: TEL_ORDER_LIVE to sort each flush, TEL_ORDER_TIME to sort the entire
 *	log.
 * Returns TEL_OK, TEL_EINVAL (no such order), TEL_ESTATE (an event was
 * requested already), TEL_ENOMEM, and for an archive what tel_reader_next()
 * may.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_merge_add(tel_merge *m, tel_reader *r,
    tel_order order);
/*
 * The next event of all logs; valid until the next call.
 * Returns TEL_OK, TEL_END, TEL_ENOMEM; TEL_AGAIN when the order is not known
 * before a non-blocking log has more input.  A log that fails is left out from
 * there on; the failure of the first of them is returned instead of TEL_END.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_merge_next(tel_merge *m,
    const tel_event **event);
/* The reader of the log that failed first; NULL when none did. */
TEL_SINCE_0_1 const tel_reader *tel_merge_failed(const tel_merge *m);
/* Why it failed, in words; "" when none did.  Valid until the next call. */
TEL_SINCE_0_1 const char *tel_merge_error(const tel_merge *m);
/*
 * The reader from which tel_merge_next() will read, and for which it may have
 * to wait; NULL when there is not exactly one, as at first.
 */
TEL_SINCE_0_1 tel_reader *tel_merge_reading(const tel_merge *m);
/* How many events arrived out of order (TEL_ORDER_LIVE). */
TEL_SINCE_0_1 uint64_t tel_merge_late(const tel_merge *m);
/* Frees the merge; not the readers. */
TEL_SINCE_0_1 void tel_merge_free(tel_merge *m);

#ifdef __cplusplus
}
#endif

#endif
