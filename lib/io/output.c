/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Output: a buffer in front of a descriptor or a function of the caller's,
 * with compression between them where that is asked for.
 */
#include "io/output.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"

#define BUFFER_SIZE ((size_t)1 << 16)
/* There may be one for each type of a log. */
#define MEMORY_SIZE ((size_t)1 << 9)
/* No line of any format comes near this. */
#define BUFFER_MAX ((size_t)1 << 24)

static tel_output *
output_new(size_t size, int fd, tel_write_fn *fn, void *arg)
{
	tel_output *out = calloc(1, sizeof(*out));

	if (out == NULL)
		return NULL;
	out->buffer = malloc(size);
	if (out->buffer == NULL) {
		free(out);
		return NULL;
	}
	out->size = size;
	out->fd = fd;
	out->write = fn;
	out->arg = arg;
	return out;
}

tel_output *
tel_output_new_fd(int fd)
{
	return output_new(BUFFER_SIZE, fd, NULL, NULL);
}

tel_output *
tel_output_new_callback(tel_write_fn *write_fn, void *arg)
{
	return output_new(BUFFER_SIZE, -1, write_fn, arg);
}

tel_output *
tel__output_new_memory(void)
{
	tel_output *out = output_new(MEMORY_SIZE, -1, NULL, NULL);

	if (out != NULL)
		out->keeps = 1;
	return out;
}

void
tel_output_free(tel_output *out)
{
	if (out == NULL)
		return;
	if (out->packing != NULL)
		out->packing->free(out);
	free(out->buffer);
	free(out);
}

/* write(2), through signals and full pipes that do not block. */
static ptrdiff_t
write_fd(int fd, const void *data, size_t size)
{
	struct pollfd wait = { .fd = fd, .events = POLLOUT };

	for (;;) {
		ssize_t n = write(fd, data, size);

		if (n >= 0 ||
		    (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK))
			return n;
		if (errno != EINTR && poll(&wait, 1, -1) < 0 &&
		    errno != EINTR && errno != EAGAIN)
			return -1;
	}
}

tel_status
tel__output_fail(struct tel_output *out, tel_status st, int error)
{
	if (out->status == TEL_OK) {
		out->status = st;
		out->error = error;
	}
	return out->status;
}

/* Writes size bytes; *done is how many of them went out. */
static tel_status
output_write_all(tel_output *out, const unsigned char *data, size_t size,
    size_t *done)
{
	*done = 0;
	while (*done < size) {
		errno = 0;
		ptrdiff_t n = out->write != NULL ?
		    out->write(out->arg, data + *done, size - *done) :
		    write_fd(out->fd, data + *done, size - *done);
		if (n <= 0 || (size_t)n > size - *done)
			return tel__output_fail(out, TEL_EIO,
			    n < 0 && errno != 0 ? errno : EIO);
		*done += (size_t)n;
	}
	return TEL_OK;
}

tel_status
tel__output_emit(tel_output *out, const unsigned char *data, size_t size)
{
	size_t done;

	return output_write_all(out, data, size, &done);
}

/* Hands bytes on that are not, or no longer, in the buffer. */
static tel_status
hand_on(tel_output *out, const unsigned char *data, size_t size, size_t *done)
{
	tel_status st;

	if (out->packing == NULL) {
		st = output_write_all(out, data, size, done);
	} else {
		st = out->packing->put(out, data, size);
		*done = st == TEL_OK ? size : 0;
	}
	out->written += *done;
	return st;
}

tel_status
tel__output_spill(tel_output *out)
{
	size_t done;

	if (out->status != TEL_OK || out->keeps)
		return out->status;
	tel_status st = hand_on(out, out->buffer, out->used, &done);
	out->used -= done;
	if (out->used > 0)
		memmove(out->buffer, out->buffer + done, out->used);
	return st;
}

tel_status
tel_output_flush(tel_output *out)
{
	if (tel__output_spill(out) == TEL_OK && out->packing != NULL)
		return out->packing->flush(out);
	return out->status;
}

tel_status
tel_output_finish(tel_output *out)
{
	if (tel__output_spill(out) == TEL_OK && out->packing != NULL)
		return out->packing->finish(out);
	return out->status;
}

tel_status
tel__output_boundary(struct tel_output *out, int must)
{
	return out->packing == NULL ? out->status :
	                              out->packing->boundary(out, must);
}

tel_status
tel__output_mark(tel_output *out, const void *mark, size_t size)
{
	return out->packing == NULL || out->used > 0 ?
	    out->status :
	    out->packing->mark(out, mark, size);
}

unsigned char *
tel__output_grow(tel_output *out, size_t n)
{
	if (out->status != TEL_OK)
		return NULL;
	if (n <= BUFFER_MAX && tel__output_spill(out) != TEL_OK)
		return NULL;
	/* .used is 0 unless the bytes are kept */
	if (n > BUFFER_MAX ||
	    !TEL__RESERVE(out->buffer, out->size, out->used + n)) {
		tel__output_fail(out, TEL_ENOMEM, ENOMEM);
		return NULL;
	}
	return out->buffer + out->used;
}

tel_status
tel_output_write(tel_output *out, const void *data, size_t size)
{
	size_t done;

	if (out->status != TEL_OK)
		return out->status;
	if (out->size - out->used < size && out->keeps) {
		if (tel__output_grow(out, size) == NULL)
			return out->status;
	} else if (out->size - out->used < size) {
		if (tel__output_spill(out) != TEL_OK)
			return out->status;
		if (size >= out->size)
			return hand_on(out, data, size, &done);
	}
	if (size > 0)
		memcpy(out->buffer + out->used, data, size);
	out->used += size;
	return TEL_OK;
}

int
tel_output_errno(const tel_output *out)
{
	return out->error;
}

uint64_t
tel_output_bytes(const tel_output *out)
{
	return out->written + out->used;
}
