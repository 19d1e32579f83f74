/* SPDX-License-Identifier: BSD-2-Clause */
/* Input: the window over a source, and the buffer of those that need one. */
#include "io/input.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digit.h"
#include "io/source.h"

/* An unread rest up to this is moved to the front for each read, so that
 * reads go to the same memory again, which the cache still holds. */
#define SMALL_REST ((size_t)4096)

/* What *data points at when there is nothing. */
static const unsigned char nothing[1];

tel_status
tel__fault_set(struct tel_fault *fault, tel_status st, int number,
    const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(fault->text, sizeof(fault->text), format, ap);
	va_end(ap);
	tel__printable(fault->text, sizeof(fault->text));
	fault->status = st;
	fault->number = number;
	return st;
}

tel_status
tel__fault_errno(struct tel_fault *fault, int number)
{
	char text[128];

	if (strerror_r(number, text, sizeof(text)) != 0)
		snprintf(text, sizeof(text), "error number %d", number);
	return tel__fault_set(fault, number == ENOMEM ? TEL_ENOMEM : TEL_EIO,
	    number, "%s", text);
}

tel_status
tel__input_new(struct tel_source source, size_t read_size,
    struct tel_input **out)
{
	struct tel_input *in = calloc(1, sizeof(*in));

	if (in == NULL) {
		source.ops->free(source.self);
		return TEL_ENOMEM;
	}
	in->source = source;
	in->read_size = read_size == 0 ? 1 : read_size;
	in->w.p = in->w.end = nothing;
	if (source.ops->more == NULL) {
		/* a rest is shorter than TEL_PEEK_MAX when more is read */
		if (__builtin_add_overflow(TEL_PEEK_MAX, in->read_size,
		        &in->size) ||
		    (in->buffer = malloc(in->size)) == NULL) {
			tel__input_free(in);
			return TEL_ENOMEM;
		}
		in->w.p = in->w.end = in->buffer;
	}
	*out = in;
	return TEL_OK;
}

/* Reads behind the unread bytes, which are moved where that helps. */
static tel_status
input_refill(struct tel_input *in)
{
	size_t rest = (size_t)(in->w.end - in->w.p);
	size_t begin = (size_t)(in->w.p - in->buffer);
	size_t got = 0;
	tel_status st;

	if (begin > 0 &&
	    (rest <= SMALL_REST || in->size - begin - rest < in->read_size)) {
		if (rest > 0)
			memmove(in->buffer, in->buffer + begin, rest);
		begin = 0;
		in->w.p = in->buffer;
		in->w.end = in->buffer + rest;
	}
	st = in->source.ops->read(in->source.self, in->buffer + begin + rest,
	    in->read_size, &got, &in->fault);
	in->w.end += got;
	return st;
}

/* Where the bytes are: in an archive, in its member. */
static struct tel_input *
bytes_of(struct tel_input *in)
{
	return in->members != NULL ? in->archive->current(in->members) : in;
}

tel_status
tel__input_peek(struct tel_input *in, size_t min, const unsigned char **data,
    size_t *avail)
{
	tel_status st = TEL_OK;

	in = bytes_of(in);
	if (in == NULL) {
		*data = nothing;
		*avail = 0;
		return TEL_OK;
	}
	if (min > TEL_PEEK_MAX)
		min = TEL_PEEK_MAX;
	while ((size_t)(in->w.end - in->w.p) < min) {
		if (in->status == TEL_OK)
			in->status = in->source.ops->more == NULL ?
			    input_refill(in) :
			    in->source.ops->more(in->source.self, &in->w,
			        &in->fault);
		st = in->status;
		if (st != TEL_OK)
			break;
	}
	*data = in->w.p;
	*avail = (size_t)(in->w.end - in->w.p);
	if (st < 0)
		errno = in->fault.number;
	return st == TEL_END ? TEL_OK : st;
}

void
tel__input_consume(struct tel_input *in, size_t n)
{
	in = bytes_of(in);
	if (in == NULL || n == 0)
		return;
	in->w.p += n;
	in->offset += n;
}

uint64_t
tel__input_offset(const struct tel_input *in)
{
	if (in->members != NULL)
		in = in->archive->current(in->members);
	return in != NULL ? in->offset : 0;
}

uint64_t
tel__input_raw_bytes(const struct tel_input *in)
{
	if (in->members != NULL)
		return in->archive->taken(in->members);
	return in->source.ops->taken(in->source.self);
}

const char *
tel__input_error(const struct tel_input *in)
{
	const struct tel_input *member;

	if (in->members != NULL) {
		/* the archive's own fault, unless it is the member's */
		member = in->archive->current(in->members);
		if (member != NULL)
			in = member;
	}
	return in->fault.text;
}

int64_t
tel__input_seek(struct tel_input *in, int64_t offset, int whence)
{
	if (in->source.ops->seek == NULL)
		return -1;
	int64_t at = in->source.ops->seek(in->source.self, offset, whence);
	if (at < 0)
		return -1;
	in->w.p = in->w.end = in->buffer != NULL ? in->buffer : nothing;
	in->offset = (uint64_t)at;
	in->status = TEL_OK;
	return at;
}

int
tel__input_read_at(const struct tel_input *in, uint64_t offset, void *to,
    size_t size)
{
	return in->source.ops->read_at != NULL &&
	    in->source.ops->read_at(in->source.self, offset, to, size);
}

int
tel__input_copy(struct tel_input *in, uint64_t offset, void *to, size_t size)
{
	unsigned char *p = to;
	const unsigned char *data;
	size_t avail;

	/* a seek would drop the buffer, and read much more than a page */
	if (tel__input_read_at(in, offset, to, size))
		return 1;
	if (offset > INT64_MAX ||
	    tel__input_seek(in, (int64_t)offset, SEEK_SET) < 0)
		return 0;
	while (size > 0) {
		if (tel__input_peek(in, 1, &data, &avail) != TEL_OK ||
		    avail == 0)
			return 0;
		if (avail > size)
			avail = size;
		memcpy(p, data, avail);
		tel__input_consume(in, avail);
		p += avail;
		size -= avail;
	}
	return 1;
}

int64_t
tel__input_extent(const struct tel_input *in)
{
	return in->source.ops->extent != NULL ?
	    in->source.ops->extent(in->source.self) :
	    -1;
}

int
tel__input_is_pipe(const struct tel_input *in)
{
	return in->members == NULL && tel__input_extent(in) < 0;
}

tel_status
tel__input_resume(struct tel_input *in, uint64_t *lost)
{
	in = bytes_of(in);
	*lost = 0;
	if (in == NULL || in->status != TEL_EDAMAGED || in->w.p != in->w.end ||
	    in->source.ops->resume == NULL)
		return TEL_END;
	tel_status st = in->source.ops->resume(in->source.self, lost);
	if (st != TEL_OK)
		return TEL_END;
	in->status = TEL_OK;
	in->offset += *lost;
	return TEL_OK;
}

int
tel__input_await(struct tel_input *in, int ms)
{
	in = bytes_of(in);
	return in == NULL || in->status != TEL_OK ||
	    in->source.ops->await == NULL ||
	    in->source.ops->await(in->source.self, ms);
}

size_t
tel__input_ready(struct tel_input *in)
{
	in = bytes_of(in);
	if (in == NULL || in->source.ops->ready == NULL)
		return 0;
	return in->source.ops->ready(in->source.self);
}

void
tel__input_set_wake(struct tel_input *in, int fd)
{
	if (in->source.ops->set_wake != NULL)
		in->source.ops->set_wake(in->source.self, fd);
}

void
tel__input_alone(struct tel_input *in)
{
	if (in->source.ops->alone != NULL)
		in->source.ops->alone(in->source.self);
}

int
tel__input_is_archive(const struct tel_input *in)
{
	return in->members != NULL;
}

tel_status
tel__input_next_member(struct tel_input *in, const char **name)
{
	*name = "";
	if (in->members == NULL)
		return TEL_END;
	tel_status st = in->archive->next(in->members, name, &in->fault);
	if (st < 0)
		errno = in->fault.number;
	return st;
}

void
tel__input_free(struct tel_input *in)
{
	if (in == NULL)
		return;
	if (in->members != NULL)
		in->archive->free(in->members);
	if (in->source.ops != NULL)
		in->source.ops->free(in->source.self);
	free(in->buffer);
	free(in);
}
