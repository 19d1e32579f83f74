/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Readers that do not wait for their input: their bytes are fed to them, or come from a
 * function that may say that there is nothing yet.
 *
 * A decoder asks for the bytes it needs wherever it is, so it runs as a
 * coroutine, which pauses in the middle when there are none, and so gives the
 * same events however the bytes come.
 */
#include "base/array.h"
#include "base/coroutine.h"
#include "format/reader.h"

#include <errno.h>
#include <stdlib.h>

struct feed {
	struct tel_feed public;
	struct tel_reader *r;
	struct tel__coroutine *coroutine; /* NULL before the first call */
	enum tel_reader_at at;            /* the reader's state, in there */
	char *name;
	tel_status status; /* what came of the last turn */
	/* bytes that were fed and not read yet: from first to used, */
	unsigned char *bytes;
	size_t first, used, room;
	int ended;
	/* or a function that gives them */
	tel_read_fn *read;
	void *arg;
};

/* There is nothing yet.  1: there may be; 0: the reader is being freed. */
static int
starve(struct feed *f)
{
	f->status = TEL_AGAIN;
	return tel__coroutine_pause(f->coroutine);
}

/* As a tel_read_fn, but it pauses where there is nothing yet. */
static ptrdiff_t
feed_read(void *arg, void *buffer, size_t size)
{
	struct feed *f = arg;

	for (;;) {
		if (f->read != NULL) {
			errno = 0;
			ptrdiff_t n = f->read(f->arg, buffer, size);
			if (n >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK))
				return n;
		} else if (f->used > f->first || f->ended) {
			break;
		}
		if (!starve(f)) {
			errno = ECANCELED;
			return -1;
		}
	}
	if (size > f->used - f->first)
		size = f->used - f->first;
	if (size > 0)
		memcpy(buffer, f->bytes + f->first, size);
	f->first += size;
	return (ptrdiff_t)size;
}

/* As a tel_seek_fn. */
static int64_t
feed_seek(void *arg, int64_t offset, int whence)
{
	struct feed *f = arg;

	return f->r->seek(f->arg, offset, whence);
}

/* The coroutine. */
static void
feed_run(void *arg)
{
	struct feed *f = arg;
	struct tel_reader *r = f->r;
	struct tel_input *raw;

	r->at = READER_NEW;
	f->status = tel__input_callback(feed_read,
	    f->read != NULL && r->seek != NULL ? feed_seek : NULL, f,
	    r->read_size, &raw);
	if (f->status == TEL_OK) {
		tel__input_one_thread(raw);
		f->status = tel__reader_open_input(r, raw, f->name);
	}
	if (f->status == TEL_OK)
		f->status = tel__reader_find(r);
	while (tel__coroutine_pause(f->coroutine))
		f->status = tel__reader_find(r);
}

static tel_status
feed_find(struct tel_reader *r)
{
	struct feed *f = (struct feed *)(void *)r->feed;

	if (f->coroutine == NULL)
		f->coroutine = tel__coroutine_new(feed_run, f);
	if (f->coroutine == NULL)
		return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
	r->at = f->at;
	tel__coroutine_resume(f->coroutine);
	f->at = r->at;
	r->at = READER_FED;
	return f->status;
}

static void
feed_free(struct tel_feed *feed)
{
	struct feed *f = (struct feed *)(void *)feed;

	tel__coroutine_free(f->coroutine);
	free(f->bytes);
	free(f->name);
	free(f);
}

/* read: gives the bytes; NULL when they are fed. */
static tel_status
open_feed(struct tel_reader *r, tel_read_fn *read, void *arg, const char *name)
{
	struct feed *f = calloc(1, sizeof(*f));

	if (f == NULL)
		return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
	f->name = strdup(name != NULL ? name : "-");
	if (f->name == NULL) {
		free(f);
		return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
	}
	f->r = r;
	f->read = read;
	f->arg = arg;
	f->public.find = feed_find;
	f->public.free = feed_free;
	r->feed = &f->public;
	r->at = READER_FED;
	return TEL_OK;
}

tel_status
tel_reader_open_feed(tel_reader *r, const char *name)
{
	if (r->at != READER_NEW)
		return TEL_ESTATE;
	return open_feed(r, NULL, NULL, name);
}

tel_status
tel_reader_feed(tel_reader *r, const void *data, size_t size)
{
	struct feed *f = (struct feed *)(void *)r->feed;

	if (f == NULL || f->read != NULL || f->ended)
		return TEL_ESTATE;
	if (size == 0) {
		f->ended = 1;
		return TEL_OK;
	}
	if (f->first > 0) {
		memmove(f->bytes, f->bytes + f->first, f->used - f->first);
		f->used -= f->first;
		f->first = 0;
	}
	if (size > SIZE_MAX - f->used ||
	    !TEL__RESERVE(f->bytes, f->room, f->used + size))
		return TEL_ENOMEM;
	memcpy(f->bytes + f->used, data, size);
	f->used += size;
	return TEL_OK;
}

tel_status
tel_reader_open_callback(tel_reader *r, tel_read_fn *read, void *arg,
    const char *name)
{
	struct tel_input *raw;
	tel_status st;

	if (r->at != READER_NEW)
		return TEL_ESTATE;
	if (r->nonblocking)
		return open_feed(r, read, arg, name);
	st = tel__input_callback(read, r->seek, arg, r->read_size, &raw);
	if (st != TEL_OK)
		return tel__reader_fail(r, st, "%s", tel_status_text(st));
	return tel__reader_open_input(r, raw, name);
}
