/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tel/reader.h - part of libtel, see tel.h for the rules that hold for all of it.
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
	TEL_WARNING, /* the answer may not be what was expected */
	TEL_DAMAGE   /* input was skipped or repaired */
} tel_severity;

/*
 * Called while a reader works, for what a person should know.
 * log: the name of the log; offset: where in it, in uncompressed bytes;
 * text: one line without a line end, good until the function returns.  It
 * holds no byte from the log that is not printable ASCII.
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
 * Moves in what a tel_read_fn reads, as lseek(2) does by SEEK_SET, SEEK_CUR
 * and SEEK_END.  Returns the new position, from 0 on, or -1 where it cannot.
 */
typedef int64_t tel_seek_fn(void *arg, int64_t offset, int whence);

/* Makes a reader; NULL when there is no memory.  Free it in the end. */
TEL_SINCE_0_1 TEL_MUST_USE tel_reader *tel_reader_new(void);
/* Closes and frees a reader and all that was reached through it. */
TEL_SINCE_0_1 void tel_reader_free(tel_reader *r);

/*
 * The setters come before the open call; afterwards they return TEL_ESTATE
 * and change nothing.
 */

/*
 * Says what the input is where it cannot be detected, or was detected
 * wrongly.
 * name: "tel" (the native format), "mps" (any release), a name for
 *	tel_schema_new(), "text" (what telcat prints), "cnv" (the text of
 *	mpseventcnv), "mpstxt" (that of mpseventtxt),
 *	"mpsdump" (that of EventDump in a debugger), "hpm" (a trace of Jikes
 *	RVM), "hpm-meta" (the meta file of such traces), "ets" (a log of Singularity), or a trace of an allocator:
 *	"android", "heaptrack", "kdump", "logalloc", "ltrace", "mtrace", "rep",
 *	"valgrind"; NULL to detect.
 * Returns TEL_OK, TEL_EINVAL (no such name), TEL_ENOMEM, TEL_ESTATE.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_reader_set_as(tel_reader *r,
    const char *name);
/*
 * Reads on (nonzero) or stops with TEL_EVERSION (0, the default) when the
 * log says that its major version is newer than libtel knows.
 * Returns TEL_OK, TEL_ESTATE.
 */
TEL_SINCE_0_1 tel_status tel_reader_set_force(tel_reader *r, int on);
/*
 * Stops at the first damage with TEL_EDAMAGED (nonzero) or goes on with the
 * next event that makes sense (0, the default).
 * Returns TEL_OK, TEL_ESTATE.
 */
TEL_SINCE_0_1 tel_status tel_reader_set_strict(tel_reader *r, int on);
/*
 * The most strings and labels that are held, 1 to 2^30; 2^18 unless set.
 * What comes beyond is left out, with one notice.
 * Returns TEL_OK, TEL_EINVAL, TEL_ESTATE.
 */
TEL_SINCE_0_1 tel_status tel_reader_set_max_labels(tel_reader *r, size_t count);
/*
 * The most bytes that are asked of the input at a time, 1 to 2^20; 2^18
 * unless set.  The events do not depend on it; tests do.
 * Returns TEL_OK, TEL_EINVAL, TEL_ESTATE.
 */
TEL_SINCE_0_1 tel_status tel_reader_set_read_size(tel_reader *r, size_t bytes);
/*
 * Files that say what a log itself does not, for the formats that need them.
 * They are read by the open call, which fails when one cannot be used.
 * path: copied.  Return TEL_OK, TEL_ENOMEM, TEL_ESTATE.
 */

/* Adds a file that describes event types. */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_reader_add_description(tel_reader *r,
    const char *path);
/* Adds a file that gives names to the messages of contracts. */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_reader_add_contracts(tel_reader *r,
    const char *path);
/* The file that goes with a trace; NULL to look for it beside the trace. */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_reader_set_meta(tel_reader *r,
    const char *path);
/*
 * Says what events of a type mean to an allocator, for types that libtel does
 * not know, or knows otherwise: see tel_event_alloc().
 * role: "alloc", "free", "realloc", "reserve", "commit", "create-pool",
 *	"destroy-pool", "create-buffer", "destroy-buffer", "end-thread",
 *	"describe-pool", and "new", "delete", "delete-sized" or "free-sized": alloc
 *	and free by these functions.
 * text: the type and its fields, "GrabBlock(address=p,size=n)": parts are
 *	address (or ptr), which the first five must have, size, count, old,
 *	alignment, pool, buffer and thread.  Copied; at most 1000 bytes.
 * A type or field that no log has is told to the notify function.
 * Returns TEL_OK, TEL_EINVAL, TEL_ENOMEM, TEL_ESTATE.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_reader_add_role(tel_reader *r,
    const char *role, const char *text);
/*
 * Says how many ticks of the events' clock make a second, for logs that do
 * not tell: more than 0, or 0 for what the log says.
 * Returns TEL_OK, TEL_EINVAL, TEL_ESTATE.
 */
TEL_SINCE_0_1 tel_status tel_reader_set_tick_rate(tel_reader *r, double hertz);
/*
 * Lets a range of time be read without what is around it, and without waiting
 * for all of it, where a function gives the input: tel_reader_open_callback()
 * gives its arg to seek, too.  NULL, the default: it cannot seek.
 * Returns TEL_OK, TEL_ESTATE.
 */
TEL_SINCE_0_1 tel_status tel_reader_set_seek(tel_reader *r, tel_seek_fn *seek);
/*
 * Follows what a program that runs still writes: of the file of rings of
 * libtel-emit, tel_reader_next() waits for new events until the program has
 * ended.
 * Returns TEL_OK, TEL_ESTATE.
 */
TEL_SINCE_0_1 tel_status tel_reader_set_follow(tel_reader *r, int on);
/*
 * Has tel_reader_open_callback() take EAGAIN from its function for "nothing
 * yet": tel_reader_next() then returns TEL_AGAIN, and may be called again.
 * on: nonzero; 0, the default, takes it for a failure.
 * Returns TEL_OK, TEL_ESTATE.
 */
TEL_SINCE_0_1 tel_status tel_reader_set_nonblocking(tel_reader *r, int on);
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
 * tel_reader_free() are of use.
 */

/*
 * Opens an input by its name: the path of a file, or of a Unix socket, which
 * is connected to; "unix:PATH" or "tcp:HOST:PORT", if there is no such file.
 * Returns a descriptor for reading, or -1 with errno set.
 */
TEL_SINCE_0_1 int tel_open_path(const char *name);
/* Opens a file or a socket, as tel_open_path() does. */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_reader_open_file(tel_reader *r,
    const char *path);
/* Reads from an open descriptor, which stays the caller's to close. */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_reader_open_fd(tel_reader *r, int fd,
    const char *name);
/* Reads size bytes at data, which must stay as they are until the free. */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_reader_open_memory(tel_reader *r,
    const void *data, size_t size, const char *name);
/*
 * Reads what read(arg, ...) gives.  Where the input is compressed, or with
 * tel_reader_set_nonblocking(), it is called on a thread of the library's,
 * never on two at once.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_reader_open_callback(tel_reader *r,
    tel_read_fn *read, void *arg, const char *name);

/*
 * Reads what tel_reader_feed() is given: for programs that have the bytes of
 * a log come to them and must not wait.  The input is looked at when the first
 * event is asked for, and where it is no log that call fails.
 * name: as above.  Returns TEL_OK, TEL_ENOMEM, TEL_ESTATE.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_reader_open_feed(tel_reader *r,
    const char *name);
/*
 * Gives a reader that was opened so the next bytes of its input, as many or
 * few as there are; the events do not depend on it.
 *
 *	st = tel_reader_feed(r, bytes, n);
 *	while (st == TEL_OK || st == TEL_LOG)
 *		if ((st = tel_reader_next(r, &ev)) == TEL_OK)
 *			... look at *ev ...
 *	... TEL_AGAIN: feed more; TEL_END: that was all ...
 *
 * data: copied, and held until it is read: take the events out before more is
 *	fed.
 * size: 0 says that the input has ended.
 * Returns TEL_OK; TEL_ENOMEM, and nothing was taken; TEL_ESTATE: the reader
 * was not opened so, or the input has ended.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_reader_feed(tel_reader *r,
    const void *data, size_t size);

/*
 * The next event.
 * event: set to it on TEL_OK; it is good until the next call.
 * Returns TEL_OK; TEL_LOG: no event, but the member of an archive has ended,
 * and the next call goes on with the member after it, which
 * tel_reader_schema() and its like are about from here on; TEL_AGAIN: there is
 * not enough input yet, of one that does not wait for it; TEL_END; TEL_EIO;
 * TEL_EDAMAGED (strict only); TEL_EVERSION; TEL_ENOMEM; TEL_ESTATE when the
 * reader is not open.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_reader_next(tel_reader *r,
    const tel_event **event);

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
 * key, value: set to strings, good until the next call.
 * Returns 1, or 0 when there are no more.
 */
TEL_SINCE_0_1 int tel_reader_metadata(const tel_reader *r, size_t i,
    const char **key, const char **value);
/* The name of the log that is being read; good until the next call. */
TEL_SINCE_0_1 const char *tel_reader_log_name(const tel_reader *r);
/* What the last failure was, in words; good until the next call. */
TEL_SINCE_0_1 const char *tel_reader_error(const tel_reader *r);
/*
 * TEL_OK, or the failure that ended the input.  A window or a merge holds it
 * back until the events before it were taken: who takes no more of them may
 * ask, as the order of those may depend on what could not be read.
 */
TEL_SINCE_0_1 tel_status tel_reader_failed(const tel_reader *r);
/*
 * Ticks of the events' clock in a second, as far as it is known by now, from
 * the log's points of synchronisation; 0 when it is not known.
 */
TEL_SINCE_0_1 double tel_reader_tick_rate(const tel_reader *r);

/* Nonzero when the input is an archive, whose members are the logs. */
TEL_SINCE_0_1 int tel_reader_archive(const tel_reader *r);

/* What a reader has done so far, over all the logs in its input. */
typedef enum tel_count {
	TEL_COUNT_EVENTS,   /* events handed out */
	TEL_COUNT_BYTES,    /* bytes of them in the uncompressed input */
	TEL_COUNT_INPUT,    /* bytes read from the file or pipe */
	TEL_COUNT_SKIPPED,  /* bytes skipped because they were damaged */
	TEL_COUNT_REPAIRED, /* events whose size was wrong and was put right */
	TEL_COUNT_UNKNOWN,  /* events of types that libtel does not know */
	TEL_COUNT_DAMAGED,  /* places where the input was damaged */
	TEL_COUNT_LOGS,     /* logs begun */
	TEL_COUNT_LOST,     /* events lost when the log was recorded */
	TEL_COUNT_UNREAD    /* events that need a newer version of a format */
} tel_count;
/* The count asked for; 0 for a value that is no tel_count. */
TEL_SINCE_0_1 uint64_t tel_reader_count(const tel_reader *r, tel_count which);
/*
 * Says that from the next event on only those are wanted whose clock is from
 * first to last.  Others may be left out where that saves reading them: in a
 * file of the native format that is not damaged, uncompressed or written by
 * tel_output_set_zstd().  Those that name things, or tell the time or the
 * version, are never left out, nor the first ones and the earliest one.  Of
 * several logs in a file nothing is left out where this is called after the
 * first event was read, as it may have been counted from that.
 */
TEL_SINCE_0_1 void tel_reader_set_range(tel_reader *r, uint64_t first,
    uint64_t last);
/*
 * The least and the greatest clock of the events of an input that was opened
 * and not read yet, where that is known without reading it.
 * Returns TEL_OK; TEL_END when it is not known; TEL_ENOMEM; TEL_ESTATE.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_reader_span(tel_reader *r,
    uint64_t *first, uint64_t *last);
/*
 * How many bytes, uncompressed, are here behind the last event.  Where there
 * are few, tel_reader_next() may have to wait for a pipe: before that happens
 * is the time to flush what was made of the events so far.
 */
TEL_SINCE_0_1 uint64_t tel_reader_pending(tel_reader *r);

/* ---------------------------------------------------------------- window */

/*
 * A window is a stretch of a log that is held back, for what cannot be said
 * of an event at once: its place in order of time, its time in seconds.
 * It holds copies, so an event is good until the next call on the window.
 */
typedef struct tel_window tel_window;

/* What a window is for. */
typedef enum tel_order {
	/*
	 * In the order of the log; events are held until the points of
	 * synchronisation around them are known, at most 2^16 events.
	 */
	TEL_ORDER_LOG,
	/*
	 * By time, whatever the order of the log.  Up to 4 MB of events are
	 * sorted in memory; of longer logs sorted runs are written to a
	 * temporary file (in TMPDIR, or /tmp), so nothing comes out before
	 * the log has ended.
	 */
	TEL_ORDER_TIME,
	/*
	 * By time within what an MPS writes in one go, as it comes.  An event
	 * that arrives out of order is given when it comes, and
	 * counted.
	 */
	TEL_ORDER_LIVE
} tel_order;

/*
 * Makes a window on a reader that is open; the reader stays the caller's and
 * must not be read otherwise.
 * out: set on success.
 * Returns TEL_OK, TEL_EINVAL (no such order), TEL_ENOMEM.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_window_new(tel_reader *r,
    tel_order order, tel_window **out);
/*
 * Gives those events only that tel_event_alloc() knows.  The others are not
 * held, so that a log with few of them is sorted fast.
 * allocs: 0 or 1; 0 unless set.
 * Returns TEL_OK, TEL_ESTATE (an event was asked for already).
 */
TEL_SINCE_0_1 tel_status tel_window_set_allocs(tel_window *w, int allocs);
/*
 * The next event.  Returns what tel_reader_next() returns; after TEL_AGAIN
 * it may be called again, and after a TEL_EIO
 * of the temporary file too: tel_window_error() tells which.
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
 * Several logs as one stream in order of time: of the events' own clocks, so
 * the logs should be of one machine.  Events of the same clock come in the
 * order in which their logs were added.  Memory is bounded by the number of
 * logs and a window on each.
 */
typedef struct tel_merge tel_merge;

/* Makes a merge of no logs; NULL when there is no memory. */
TEL_SINCE_0_1 TEL_MUST_USE tel_merge *tel_merge_new(void);
/*
 * Gives those events only that tel_event_alloc() knows.
 * allocs: 0 or 1; 0 unless set.
 * Returns TEL_OK, TEL_ESTATE (a log was added already).
 */
TEL_SINCE_0_1 tel_status tel_merge_set_allocs(tel_merge *m, int allocs);
/*
 * Adds what a reader reads, which is open and of which nothing was read; it
 * stays the caller's, lives as long as the merge, and must not be read
 * otherwise.  Of an archive each member is added; they are copied to
 * temporary files.
 * order: TEL_ORDER_LIVE for a window of a flush, TEL_ORDER_TIME to sort
 *	however long it takes.
 * Returns TEL_OK, TEL_EINVAL (no such order), TEL_ESTATE (an event was asked
 * for already), TEL_ENOMEM, and for an archive what tel_reader_next() may.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_merge_add(tel_merge *m, tel_reader *r,
    tel_order order);
/* How many logs were added. */
TEL_SINCE_0_1 size_t tel_merge_count(const tel_merge *m);
/*
 * The next event of all; good until the next call.
 * Returns TEL_OK, TEL_END, TEL_ENOMEM; TEL_AGAIN when the order cannot be told
 * before a log that does not wait gives more.  A log that cannot be read on is left
 * out from there on; what went wrong with the first of them is returned in
 * place of TEL_END.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_merge_next(tel_merge *m,
    const tel_event **event);
/* The reader of the log that failed first; NULL when none did. */
TEL_SINCE_0_1 const tel_reader *tel_merge_failed(const tel_merge *m);
/* Why it failed, in words; "" when none did.  Good until the next call. */
TEL_SINCE_0_1 const char *tel_merge_error(const tel_merge *m);
/*
 * The reader from which tel_merge_next() will read, and for which it may have to
 * wait; NULL when that is not one of them, as at first.
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
