/* SPDX-License-Identifier: BSD-2-Clause */
/* Input from memory, and from a function of the caller's. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/source.h"

struct memory_source {
	const unsigned char *data;
	size_t size;
	size_t at; /* the bytes that were handed out end here */
	size_t step;
};

static size_t
memory_step(struct memory_source *s, size_t most)
{
	size_t left = s->size - s->at;
	size_t n = left < most ? left : most;

	s->at += n;
	return n;
}

/* Copies: with small reads the window has to move as it does elsewhere. */
static tel_status
memory_read(void *self, unsigned char *to, size_t size, size_t *got,
    struct tel_fault *fault)
{
	struct memory_source *s = self;
	const unsigned char *from = s->data + s->at;

	(void)fault;
	*got = memory_step(s, size);
	if (*got == 0)
		return TEL_END;
	memcpy(to, from, *got);
	return TEL_OK;
}

/* Points at the caller's memory itself, of which more is seen each time. */
static tel_status
memory_more(void *self, struct tel_window *w, struct tel_fault *fault)
{
	struct memory_source *s = self;

	(void)fault;
	const unsigned char *from = s->data + s->at;
	size_t n = memory_step(s, s->step);
	if (n == 0)
		return TEL_END;
	if (w->p == w->end)
		w->p = from;
	w->end = from + n;
	return TEL_OK;
}

static uint64_t
memory_taken(const void *self)
{
	const struct memory_source *s = self;

	return s->at;
}

static int64_t
memory_seek(void *self, int64_t offset, int whence)
{
	struct memory_source *s = self;
	int64_t from = whence == SEEK_END ? (int64_t)s->size : 0;

	if (__builtin_add_overflow(from, offset, &offset) || offset < 0 ||
	    (uint64_t)offset > s->size)
		return -1;
	s->at = (size_t)offset;
	return offset;
}

static int
memory_read_at(const void *self, uint64_t offset, void *to, size_t size)
{
	const struct memory_source *s = self;

	if (offset > s->size || size > s->size - offset)
		return 0;
	memcpy(to, s->data + offset, size);
	return 1;
}

static int64_t
memory_extent(const void *self)
{
	const struct memory_source *s = self;

	return (int64_t)s->size;
}

static const struct tel_source_ops copied_ops = {
	.read = memory_read,
	.taken = memory_taken,
	.seek = memory_seek,
	.read_at = memory_read_at,
	.extent = memory_extent,
	.free = free,
};

static const struct tel_source_ops direct_ops = {
	.more = memory_more,
	.taken = memory_taken,
	.seek = memory_seek,
	.read_at = memory_read_at,
	.extent = memory_extent,
	.free = free,
};

tel_status
tel__input_memory(const void *data, size_t size, size_t read_size,
    struct tel_input **out)
{
	struct memory_source *s = calloc(1, sizeof(*s));
	struct tel_source source = { &direct_ops, s };

	if (s == NULL)
		return TEL_ENOMEM;
	s->data = size > 0 ? data : (const unsigned char *)"";
	s->size = size;
	s->step = read_size;
	if (read_size < TEL_PEEK_MAX)
		source.ops = &copied_ops;
	return tel__input_new(source, read_size, out);
}

struct callback_source {
	tel_read_fn *read;
	tel_seek_fn *seek; /* NULL: it cannot */
	void *arg;
	uint64_t taken;
	int64_t at;    /* where the function is; counted from, */
	int64_t start; /* where it was at first, */
	int known;     /* once that was asked for */
};

static tel_status
callback_read(void *self, unsigned char *to, size_t size, size_t *got,
    struct tel_fault *fault)
{
	struct callback_source *s = self;

	errno = 0;
	ptrdiff_t n = s->read(s->arg, to, size);
	if (n < 0)
		return tel__fault_errno(fault, errno != 0 ? errno : EIO);
	if ((size_t)n > size)
		return tel__fault_set(fault, TEL_EIO, EIO,
		    "the read function returned %td bytes for a request of %zu",
		    n, size);
	*got = (size_t)n;
	s->taken += (uint64_t)n;
	s->at += n;
	return n > 0 ? TEL_OK : TEL_END;
}

/* Finds out where the input started. */
static int
callback_locate(struct callback_source *s)
{
	if (s->known)
		return 1;
	if (s->seek == NULL)
		return 0;
	int64_t here = s->seek(s->arg, 0, SEEK_CUR);
	if (here < s->at)
		return 0;
	s->start = here - s->at;
	s->known = 1;
	return 1;
}

static int64_t
callback_seek(void *self, int64_t offset, int whence)
{
	struct callback_source *s = self;

	if (!callback_locate(s) ||
	    (whence == SEEK_SET &&
	        __builtin_add_overflow(offset, s->start, &offset)))
		return -1;
	int64_t to = s->seek(s->arg, offset, whence);
	if (to < s->start) {
		/* nothing is there; back to where it was */
		if (to >= 0)
			(void)s->seek(s->arg, s->start + s->at, SEEK_SET);
		return -1;
	}
	s->at = to - s->start;
	return s->at;
}

static int
callback_read_at(const void *self, uint64_t offset, void *to, size_t size)
{
	/* it is brought back to where it was: nobody sees that it moved */
	struct callback_source s = *(const struct callback_source *)self;
	const int64_t at = s.at;
	unsigned char *p = to;
	ptrdiff_t n = 1;

	if (offset > INT64_MAX ||
	    callback_seek(&s, (int64_t)offset, SEEK_SET) < 0)
		return 0;
	for (; size > 0 && n > 0; p += n, size -= (size_t)n) {
		n = s.read(s.arg, p, size);
		if (n <= 0 || (size_t)n > size)
			break;
	}
	int good = size == 0;
	return callback_seek(&s, at, SEEK_SET) == at && good;
}

static int64_t
callback_extent(const void *self)
{
	struct callback_source s = *(const struct callback_source *)self;
	const int64_t at = s.at;
	int64_t end = callback_seek(&s, 0, SEEK_END);

	return callback_seek(&s, at, SEEK_SET) == at ? end : -1;
}

static uint64_t
callback_taken(const void *self)
{
	const struct callback_source *s = self;

	return s->taken;
}

static const struct tel_source_ops callback_ops = {
	.read = callback_read,
	.taken = callback_taken,
	.seek = callback_seek,
	.read_at = callback_read_at,
	.extent = callback_extent,
	.free = free,
};

tel_status
tel__input_callback(tel_read_fn *read, tel_seek_fn *seek, void *arg,
    size_t read_size, struct tel_input **out)
{
	struct callback_source *s = calloc(1, sizeof(*s));
	struct tel_source source = { &callback_ops, s };

	if (s == NULL)
		return TEL_ENOMEM;
	s->read = read;
	s->seek = seek;
	s->arg = arg;
	return tel__input_new(source, read_size, out);
}
