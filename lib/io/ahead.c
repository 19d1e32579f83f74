/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ahead: reads a source on a thread of its own, some blocks ahead of its
 * consumer.  Each block has room in front of it for what the consumer left
 * of the one before, so that no block is ever copied to be in one piece with
 * it.  What one read of the source gives is handed over at once: a pipe that
 * pauses flows as far as it went.
 *
 * The first block, also behind a seek, is read by the consumer itself, and the
 * thread starts with the second: a short log, and a look at a few bytes, need
 * none.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/queue.h"
#include "io/source.h"

#define BLOCKS 4
/* A thread that waits for blocks to fill sleeps until there are so many: each
 * wake-up costs.  There are, before the consumer has to wait. */
#define WAKE_BLOCKS 2
/* The sizes of a block's data, between which the read size decides. */
#define BLOCK_MIN ((size_t)512)
#define BLOCK_MAX ((size_t)1 << 18)
#define HEADROOM TEL_PEEK_MAX

struct block {
	unsigned char *data; /* behind HEADROOM bytes of room */
	size_t length;
	uint64_t taken; /* by the source, when the block was full */
};

struct ahead {
	struct tel_source source; /* that of the job that is done */
	struct tel__queue *queue; /* a job reads a block */
	struct block blocks[BLOCKS];
	uint64_t wanted;    /* the next block of the consumer */
	int begun;          /* the first block was read */
	int alone;          /* no thread: the consumer reads all blocks */
	int open;           /* blocks may be read ahead */
	tel_status end;     /* TEL_OK, or how the source ended, */
	uint64_t end_taken; /* and what it had taken by then */
	struct tel_fault fault;
	struct block *current; /* of the consumer, or NULL */
	uint64_t taken;
	/* constant while the thread runs */
	int wake[2]; /* closing wake[1] wakes a read that waits; -1: none yet */
	size_t block_size;
	unsigned char *memory;
};

static struct block *
block_of(struct ahead *a, uint64_t number)
{
	return &a->blocks[number % BLOCKS];
}

/* Reads a block, a tel__queue_fn: none comes behind the end of the source. */
static int
read_block(void *arg, unsigned thread, uint64_t number)
{
	struct ahead *a = arg;
	struct block *b = block_of(a, number);
	struct tel_fault fault = { TEL_OK, 0, "" };
	tel_status st;

	(void)thread;
	b->length = 0;
	st = a->source.ops->read(a->source.self, b->data, a->block_size,
	    &b->length, &fault);
	b->taken = a->source.ops->taken(a->source.self);
	if (st == TEL_OK)
		return 1;
	a->end = st;
	a->fault = fault;
	a->end_taken = b->taken;
	return 0;
}

static int
open_wake(struct ahead *a)
{
	int fds[2];

	if (pipe(fds) != 0)
		return -1;
	if (fcntl(fds[0], F_SETFD, FD_CLOEXEC) != 0 ||
	    fcntl(fds[1], F_SETFD, FD_CLOEXEC) != 0) {
		close(fds[0]);
		close(fds[1]);
		return -1;
	}
	a->wake[0] = fds[0];
	a->wake[1] = fds[1];
	a->source.ops->set_wake(a->source.self, a->wake[0]);
	return 0;
}

/* Starts the thread, or lets it go on. */
static int
io_ahead_start(struct ahead *a)
{
	if (a->source.ops->set_wake != NULL && a->wake[0] < 0 &&
	    open_wake(a) != 0)
		return 0;
	a->open = tel__queue_start(a->queue, 1) > 0;
	if (a->open)
		(void)tel__queue_submit(a->queue, UINT64_MAX, 1);
	return a->open;
}

/*
 * No block is read from now on; the thread is not waiting for input, or wakes.
 * The next block that would be.
 */
static uint64_t
halt(struct ahead *a)
{
	a->open = 0;
	return tel__queue_pause(a->queue);
}

/* The block that is wanted; NULL at the end. */
static struct block *
next_block(struct ahead *a)
{
	const int alone = a->alone || !a->begun;

	a->begun = 1;
	if (tel__queue_wait(a->queue, a->wanted, 0) == TEL__QUEUE_NONE &&
	    !a->open) {
		if (a->end != TEL_OK)
			return NULL;
		/* where no descriptor or no thread is left, it goes without */
		if (alone || !io_ahead_start(a)) {
			a->alone |= !alone;
			(void)tel__queue_submit(a->queue, a->wanted + 1, 0);
			(void)tel__queue_run(a->queue);
		}
	}
	return tel__queue_wait(a->queue, a->wanted, -1) == TEL__QUEUE_NONE ?
	    NULL :
	    block_of(a, a->wanted);
}

/*
 * The consumer goes on with the block that was wanted, and gives the one before
 * back; or, to keep that, gives back the memory of the new one.
 */
static void
io_ahead_step(struct ahead *a, int keep)
{
	struct block *b = block_of(a, a->wanted), spare = *b;

	if (keep && a->current != NULL) {
		*b = *a->current;
		*a->current = spare;
	}
	if (!keep || a->current != NULL)
		a->current = b;
	tel__queue_take(a->queue, a->wanted + (a->current == NULL));
	a->wanted++;
}

static tel_status
ahead_more(void *self, struct tel_window *w, struct tel_fault *fault)
{
	struct ahead *a = self;
	const size_t rest = (size_t)(w->end - w->p);
	struct block *b;

	while ((b = next_block(a)) != NULL && b->length == 0)
		io_ahead_step(a, 1);
	if (b == NULL) {
		*fault = a->fault;
		/* checksums and indexes may follow the last block */
		a->taken = a->end_taken;
		return a->end;
	}
	a->taken = b->taken;
	if (a->current != NULL && rest > b->length) {
		/* the new bytes are fewer than those that would move */
		const unsigned char *start = a->current->data;
		size_t end = (size_t)(w->end - start);
		if (a->block_size - end >= b->length) {
			memcpy(a->current->data + end, b->data, b->length);
			w->end += b->length;
			io_ahead_step(a, 1);
			return TEL_OK;
		}
	}
	if (rest > 0)
		memcpy(b->data - rest, w->p, rest);
	w->p = b->data - rest;
	w->end = b->data + b->length;
	io_ahead_step(a, 0);
	return TEL_OK;
}

static uint64_t
ahead_taken(const void *self)
{
	const struct ahead *a = self;

	return a->taken;
}

static void
ahead_close(struct ahead *a)
{
	if (a->wake[1] >= 0)
		close(a->wake[1]);
	tel__queue_free(a->queue);
	if (a->wake[0] >= 0)
		close(a->wake[0]);
	free(a->memory);
	free(a);
}

static void
ahead_free(void *self)
{
	struct ahead *a = self;
	const struct tel_source source = a->source;

	ahead_close(a);
	source.ops->free(source.self);
}

static int64_t
ahead_extent(const void *self)
{
	const struct ahead *a = self;

	return a->source.ops->extent != NULL ?
	    a->source.ops->extent(a->source.self) :
	    -1;
}

static int64_t
ahead_seek(void *self, int64_t offset, int whence)
{
	struct ahead *a = self;

	/* what cannot seek may be waiting for input */
	if (ahead_extent(a) < 0)
		return -1;
	uint64_t next = halt(a);
	int64_t at = a->source.ops->seek(a->source.self, offset, whence);
	if (at < 0)
		return at;
	while (a->wanted < next)
		io_ahead_step(a, 1);
	a->end = TEL_OK;
	a->begun = 0;
	return at;
}

static tel_status
ahead_resume(void *self, uint64_t *lost)
{
	struct ahead *a = self;

	if (a->source.ops->resume == NULL)
		return TEL_END;
	(void)halt(a);
	tel_status st = a->source.ops->resume(a->source.self, lost);
	if (st == TEL_OK)
		a->end = TEL_OK;
	return st;
}

static size_t
ahead_ready(void *self)
{
	struct ahead *a = self;
	uint64_t i;
	size_t n = 0;

	for (i = a->wanted; tel__queue_wait(a->queue, i, 0) != TEL__QUEUE_NONE;
	     i++)
		n += block_of(a, i)->length;
	return n;
}

static int
ahead_await(void *self, int ms)
{
	struct ahead *a = self;

	if (tel__queue_wait(a->queue, a->wanted, a->open ? ms : 0) !=
	    TEL__QUEUE_NONE)
		return 1;
	if (a->open)
		return tel__queue_ended(a->queue, a->wanted);
	/* no thread reads the source */
	return a->end != TEL_OK || a->source.ops->await == NULL ||
	    a->source.ops->await(a->source.self, ms);
}

static void
ahead_alone(void *self)
{
	struct ahead *a = self;

	/* what cannot seek may be waiting for input */
	if (a->open && ahead_extent(a) < 0)
		return;
	(void)halt(a);
	a->alone = 1;
}

static const struct tel_source_ops ahead_ops = {
	.more = ahead_more,
	.taken = ahead_taken,
	.seek = ahead_seek,
	.extent = ahead_extent,
	.resume = ahead_resume,
	.ready = ahead_ready,
	.await = ahead_await,
	.alone = ahead_alone,
	.free = ahead_free,
};

static struct ahead *
ahead_new(struct tel_source source, size_t read_size)
{
	struct ahead *a = calloc(1, sizeof(*a));

	if (a == NULL)
		return NULL;
	a->wake[0] = a->wake[1] = -1;
	a->source = source;
	a->block_size = read_size < BLOCK_MIN ? BLOCK_MIN :
	    read_size > BLOCK_MAX             ? BLOCK_MAX :
	                                        read_size;
	a->queue = tel__queue_new(BLOCKS, WAKE_BLOCKS, read_block, a);
	a->memory = malloc(BLOCKS * (HEADROOM + a->block_size));
	if (a->queue == NULL || a->memory == NULL) {
		ahead_close(a);
		return NULL;
	}
	for (size_t i = 0; i < BLOCKS; i++)
		a->blocks[i].data =
		    a->memory + i * (HEADROOM + a->block_size) + HEADROOM;
	return a;
}

tel_status
tel__input_ahead(struct tel_source source, size_t read_size,
    struct tel_input **out)
{
	struct tel_source ahead = { &ahead_ops, NULL };
	struct ahead *a = ahead_new(source, read_size);

	if (a == NULL) {
		source.ops->free(source.self);
		return TEL_ENOMEM;
	}
	ahead.self = a;
	return tel__input_new(ahead, read_size, out);
}
