/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gzip by zlib, which is loaded when it is first needed, as libarchive is.
 * libarchive would read gzip, too: without a look at the checksums, and of an
 * input that is cut up to 64 KiB less than there are.
 */
#include "io/gzip.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST
#include <zlib.h>

#include "io/source.h"
#ifndef TEL_ARCHIVE_LINKED
#include "base/library.h"
#endif

#define ZLIB_LIBRARY "libz.so.1"
/* The largest window, and a header and a trailer of gzip. */
#define GZIP_WINDOW (15 + 16)
/* How much memory deflate() may take: the default of zlib. */
#define MEMORY_LEVEL 8
/* Magic, method, flags. */
#define HEADER 4

/* Each function of zlib that is used. */
#define FUNCTIONS(X) \
	X(inflateInit2_) \
	X(inflate) \
	X(inflateReset) \
	X(inflateEnd) \
	X(deflateInit2_) \
	X(deflate) \
	X(deflateEnd)

struct zlib {
#define MEMBER(name) __typeof__(name) *name;
	FUNCTIONS(MEMBER)
#undef MEMBER
};

/* Finds the functions; the library stays in memory from the first time on. */
static int
zlib_load(struct zlib *f, const char **why)
{
#ifdef TEL_ARCHIVE_LINKED
#define LINKED(name) .name = name,
	static const struct zlib linked = { FUNCTIONS(LINKED) };
#undef LINKED
	(void)why;
	*f = linked;
	return 1;
#else
#define LOADED(name) { #name, offsetof(struct zlib, name) },
	static const struct tel__library_function functions[] = { FUNCTIONS(
	    LOADED) };
#undef LOADED

	return tel__library_load(ZLIB_LIBRARY, functions,
	           sizeof(functions) / sizeof(functions[0]), f, why) != NULL;
#endif
}

int
tel__gzip_load(const char **why)
{
	struct zlib f;

	return zlib_load(&f, why);
}

int
tel__gzip_put(struct tel__buffer *out, const void *data, size_t n, int level)
{
	unsigned char piece[16384];
	const size_t used = out->used;
	z_stream z = { .next_in = data, .avail_in = (uInt)n };
	struct zlib f;
	const char *why;
	int code;

	if (out->failed || n > UINT_MAX || !zlib_load(&f, &why) ||
	    f.deflateInit2_(&z, level, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL,
	        Z_DEFAULT_STRATEGY, ZLIB_VERSION, sizeof(z)) != Z_OK)
		return 0;
	do {
		z.next_out = piece;
		z.avail_out = sizeof(piece);
		code = f.deflate(&z, Z_FINISH);
		tel__buffer_put(out, piece, sizeof(piece) - z.avail_out);
	} while (code == Z_OK && !out->failed);
	(void)f.deflateEnd(&z);
	if (code != Z_STREAM_END || out->failed)
		out->used = used;
	return code == Z_STREAM_END && !out->failed;
}

struct gzip {
	struct tel_input *in;
	struct zlib f;
	z_stream z;
	int begun;
	int inside;     /* a member began, and did not end */
	int held;       /* zlib has more output than it had room for */
	tel_status end; /* TEL_OK, or how it ended */
	struct tel_fault fault;
};

static tel_status
gzip_damage(struct gzip *g, const char *what)
{
	return tel__fault_set(&g->fault, TEL_EDAMAGED, EIO, "gzip: %s", what);
}

/* Deflate, without a flag that is reserved. */
static int
gzip_is_header(const unsigned char *p, size_t n)
{
	return n >= HEADER && memcmp(p, "\x1f\x8b\x08", 3) == 0 && p[3] < 0x20;
}

static tel_status
gzip_begin(struct gzip *g)
{
	const char *why;

	if (!zlib_load(&g->f, &why))
		return tel__fault_set(&g->fault, TEL_EIO, ENOSYS,
		    "gzip: zlib is needed to read it: %s", why);
	if (g->f.inflateInit2_(&g->z, GZIP_WINDOW, ZLIB_VERSION,
	        sizeof(g->z)) != Z_OK)
		return tel__fault_errno(&g->fault, ENOMEM);
	g->begun = 1;
	return TEL_OK;
}

/*
 * Looks for a member behind another.  Zeros fill up a tape.  TEL_OK with
 * g->inside set, or how the input ends.
 */
static tel_status
gzip_next_member(struct gzip *g)
{
	const unsigned char *data;
	size_t avail, n;
	tel_status st;

	while ((st = tel__input_peek(g->in, HEADER, &data, &avail)) == TEL_OK &&
	    avail > 0 && data[0] == 0) {
		for (n = 1; n < avail && data[n] == 0; n++)
			continue;
		tel__input_consume(g->in, n);
	}
	if (avail == 0 && st == TEL_OK)
		return TEL_END;
	if (avail < HEADER && st != TEL_OK) {
		g->fault = g->in->fault;
		return st;
	}
	if (!gzip_is_header(data, avail))
		return gzip_damage(g, "the data ends before the input does");
	g->inside = 1;
	return TEL_OK;
}

/* As read; *got is 0 where more input is needed. */
static tel_status
gzip_inflate(struct gzip *g, unsigned char *to, size_t size, size_t *got)
{
	const unsigned char *data = NULL;
	size_t avail = 0;
	tel_status st = TEL_OK;

	/* what zlib has is not to wait for more */
	if (!g->held)
		st = tel__input_peek(g->in, 1, &data, &avail);
	if (avail == 0 && !g->held) {
		if (st == TEL_OK)
			return gzip_damage(g, "the input ends inside a member");
		g->fault = g->in->fault;
		return st;
	}
	const uInt in = avail < UINT_MAX ? (uInt)avail : UINT_MAX;
	const uInt room = size < UINT_MAX ? (uInt)size : UINT_MAX;
	g->z.next_in = data;
	g->z.avail_in = in;
	g->z.next_out = to;
	g->z.avail_out = room;
	const int code = g->f.inflate(&g->z, Z_NO_FLUSH);
	tel__input_consume(g->in, in - g->z.avail_in);
	*got = room - g->z.avail_out;
	g->held = code == Z_OK && g->z.avail_out == 0;
	switch (code) {
	case Z_OK:
	case Z_BUF_ERROR: return TEL_OK;
	case Z_STREAM_END:
		g->inside = 0;
		(void)g->f.inflateReset(&g->z);
		return TEL_OK;
	case Z_MEM_ERROR: return tel__fault_errno(&g->fault, ENOMEM);
	default:
		return gzip_damage(g,
		    g->z.msg != NULL ? g->z.msg : "damaged or unsupported");
	}
}

static tel_status
gzip_read(void *self, unsigned char *to, size_t size, size_t *got,
    struct tel_fault *fault)
{
	struct gzip *g = self;

	*got = 0;
	if (!g->begun)
		g->end = gzip_begin(g);
	while (g->end == TEL_OK && *got == 0)
		g->end = g->inside ? gzip_inflate(g, to, size, got) :
		                     gzip_next_member(g);
	*fault = g->fault;
	return *got > 0 ? TEL_OK : g->end;
}

/* Goes on with what looks like the next member. */
static tel_status
gzip_resume(void *self, uint64_t *lost)
{
	struct gzip *g = self;
	const unsigned char *data, *p;
	size_t avail;

	(void)lost;
	while (tel__input_peek(g->in, HEADER, &data, &avail) == TEL_OK &&
	    avail >= HEADER) {
		p = memchr(data, 0x1f, avail - HEADER + 1);
		if (p != NULL && gzip_is_header(p, HEADER)) {
			tel__input_consume(g->in, (size_t)(p - data));
			(void)g->f.inflateReset(&g->z);
			g->held = 0;
			g->end = TEL_OK;
			g->inside = 1;
			return TEL_OK;
		}
		tel__input_consume(g->in,
		    p != NULL ? (size_t)(p + 1 - data) : avail - HEADER + 1);
	}
	return TEL_END;
}

static uint64_t
gzip_taken(const void *self)
{
	const struct gzip *g = self;

	return tel__input_raw_bytes(g->in);
}

static void
gzip_set_wake(void *self, int fd)
{
	struct gzip *g = self;

	tel__input_set_wake(g->in, fd);
}

static void
gzip_free(void *self)
{
	struct gzip *g = self;

	if (g->begun)
		(void)g->f.inflateEnd(&g->z);
	tel__input_free(g->in);
	free(g);
}

static const struct tel_source_ops gzip_ops = {
	.read = gzip_read,
	.taken = gzip_taken,
	.set_wake = gzip_set_wake,
	.resume = gzip_resume,
	.free = gzip_free,
};

tel_status
tel__source_gzip(struct tel_input *in, struct tel_source *out)
{
	struct gzip *g = calloc(1, sizeof(*g));

	if (g == NULL) {
		tel__input_free(in);
		return TEL_ENOMEM;
	}
	g->in = in;
	out->ops = &gzip_ops;
	out->self = g;
	return TEL_OK;
}
