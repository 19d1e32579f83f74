/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The inside of an input: a window of bytes over a source.  Sources stack:
 * a codec is a source that reads another input.
 */
#ifndef TEL_SOURCE_H
#define TEL_SOURCE_H

#include "io/input.h"

/*
 * A failure: TEL_EDAMAGED of the data, TEL_EIO of reading them.
 * number: an errno.
 */
struct tel_fault {
	tel_status status;
	int number;
	char text[160];
};

/* Sets *fault, every byte that is not printable ASCII made '?'; gives st. */
__attribute__((format(printf, 4, 5))) tel_status
tel__fault_set(struct tel_fault *fault, tel_status st, int number,
    const char *format, ...);

/* Sets *fault to what the errno number means; gives TEL_EIO or TEL_ENOMEM. */
tel_status tel__fault_errno(struct tel_fault *fault, int number);

/* The bytes that were read and not stepped over. */
struct tel_window {
	const unsigned char *p;
	const unsigned char *end;
};

/* Functions that are not marked may be NULL. */
struct tel_source_ops {
	/*
	 * As read(2): 1 to size bytes at to, waiting only while there are
	 * none.  TEL_OK, TEL_END, or a failure with *fault set, all of which
	 * but TEL_OK are final.  Must be there, unless more is.
	 */
	tel_status (*read)(void *self, unsigned char *to, size_t size,
	    size_t *got, struct tel_fault *fault);
	/*
	 * In place of read, for a source with memory of its own: adds at
	 * least a byte to *w, which may move.  Returns as read does.
	 */
	tel_status (
	    *more)(void *self, struct tel_window *w, struct tel_fault *fault);
	/* Bytes taken from the raw source.  Must be there. */
	uint64_t (*taken)(const void *self);
	/*
	 * A read that waits shall fail as soon as fd is readable or hung up.
	 * A source without this cannot be woken.
	 */
	void (*set_wake)(void *self, int fd);
	/*
	 * Moves as lseek(2) does by SEEK_SET and SEEK_END, positions counted
	 * from where the input began; gives the new one, or -1 when this
	 * source cannot.
	 */
	int64_t (*seek)(void *self, int64_t offset, int whence);
	/*
	 * Reads size bytes from a position, and stays where it is.  Returns 1,
	 * or 0 when they are not there.
	 */
	int (
	    *read_at)(const void *self, uint64_t offset, void *to, size_t size);
	/* How many bytes there are in all, positions counted as by seek. */
	int64_t (*extent)(const void *self);
	/*
	 * After a read that gave TEL_EDAMAGED: goes on behind the damage.
	 * lost: the bytes of content that are left out, 0 when not known.
	 * TEL_OK, or TEL_END when nothing comes that could be read.
	 */
	tel_status (*resume)(void *self, uint64_t *lost);
	/* How many bytes can be had without waiting, at the least. */
	size_t (*ready)(void *self);
	/*
	 * Waits at most so many milliseconds.  0: a read would wait still;
	 * without this function, nobody knows.
	 */
	int (*await)(void *self, int ms);
	/* Reads by no thread of its own from here on. */
	void (*alone)(void *self);
	/* Must be there. */
	void (*free)(void *self);
};

struct tel_source {
	const struct tel_source_ops *ops;
	void *self;
};

struct tel_members;

/* What an input that is an archive asks of it. */
struct tel_members_ops {
	tel_status (*next)(struct tel_members *m, const char **name,
	    struct tel_fault *fault);
	/* The member that is being read; NULL for none. */
	struct tel_input *(*current)(const struct tel_members *m);
	uint64_t (*taken)(const struct tel_members *m);
	void (*free)(struct tel_members *m);
};

struct tel_input {
	struct tel_window w;
	uint64_t offset; /* of w.p */
	struct tel_source source;
	unsigned char *buffer; /* NULL for a source with memory of its own */
	size_t size;
	size_t read_size;
	int one_thread;    /* decodes on the thread that reads */
	tel_status status; /* TEL_OK, or why nothing comes after w.end */
	struct tel_fault fault;
	struct tel_members *members; /* an archive: it has the bytes */
	const struct tel_members_ops *archive;
};

/* An input over source, which it takes over: freed on failure, too. */
tel_status tel__input_new(struct tel_source source, size_t read_size,
    struct tel_input **out);

/*
 * The same, with source read ahead on a thread of its own, where one can be
 * had.  What source reads from belongs to the thread from then on.
 */
tel_status tel__input_ahead(struct tel_source source, size_t read_size,
    struct tel_input **out);

/* See tel_source_ops. */
int tel__input_read_at(const struct tel_input *in, uint64_t offset, void *to,
    size_t size);
int64_t tel__input_extent(const struct tel_input *in);
void tel__input_set_wake(struct tel_input *in, int fd);

/* What tel__input_detect() distinguishes. */
enum tel_packing {
	TEL_PLAIN,
	TEL_GZIP,
	TEL_BZIP2,
	TEL_XZ,
	TEL_LZ4,
	TEL_ZSTD,
	TEL_TAR,
	TEL_ZIP,
	TEL_7ZIP,
	TEL_CPIO
};
enum tel_packings { TEL_CODECS = 1, TEL_ARCHIVES = 2 };

/* A .tel that is compressed inside may be compressed once more, as a whole. */
#define TEL_LAYERS_MAX 2
/* Fails an input that is compressed once more than that. */
void tel__input_limit_layers(struct tel_input *in);

/*
 * The packing of the next bytes in in, of the given ones (enum tel_packings, or
 * both).  Waits for no more bytes than it needs.
 */
enum tel_packing tel__input_detect(struct tel_input *in, unsigned which);

/*
 * Sources that decode in, which they take over: freed on failure, too.  The
 * last is that of any codec.
 */
tel_status tel__source_zstd(struct tel_input *in, struct tel_source *out);
tel_status tel__source_codec(struct tel_input *in, enum tel_packing packing,
    struct tel_source *out);

/*
 * Makes *out an input of all that in gives, by way of a file without a name
 * in $TMPDIR or /tmp.  in stays the caller's.
 */
tel_status tel__input_spool(struct tel_input *in, struct tel_input **out,
    struct tel_fault *fault);

/* The archive in in, which is taken over; freed on failure, too. */
tel_status tel__members_new(struct tel_input *in, enum tel_packing packing,
    struct tel_members **out);
extern const struct tel_members_ops tel__members_ops;

#endif
