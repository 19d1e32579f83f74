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
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/source.h"

#define BLOCKS 4
/* A thread that waits for idle blocks sleeps until there are so many: each
 * wake-up costs.  There are, before the consumer has to wait. */
#define WAKE_IDLE 2
/* The sizes of a block's data, between which the read size decides. */
#define BLOCK_LEAST ((size_t)512)
#define BLOCK_MOST ((size_t)1 << 18)
#define HEADROOM TEL_PEEK_MAX

struct block {
	unsigned char *data; /* behind HEADROOM bytes of room */
	size_t length;
	uint64_t taken; /* by the source, when the block was full */
};

struct ahead {
	struct tel_source source; /* the thread's alone while it runs */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t change; /* of anything between here and "consumer" */
	struct block *full[BLOCKS]; /* a queue */
	unsigned first, nfull;
	struct block *idle[BLOCKS]; /* a stack */
	unsigned nidle;
	int stop;
	int runs;           /* the thread was started and not waited for */
	int begun;          /* the first block was read */
	int alone;          /* no thread: the consumer reads all blocks */
	tel_status end;     /* TEL_OK, or how the source ended, */
	uint64_t end_taken; /* and what it had taken by then */
	struct tel_fault fault;
	/* the consumer's alone */
	struct block *current;
	uint64_t taken;
	/* constant while the thread runs */
	int wake[2]; /* closing wake[1] wakes a read that waits; -1: none yet */
	size_t block_size;
	unsigned char *memory;
	struct block blocks[BLOCKS];
};

/* The next block to fill, or NULL to stop. */
static struct block *
wait_idle(struct ahead *a)
{
	struct block *b = NULL;

	pthread_mutex_lock(&a->lock);
	while (a->nidle == 0 && !a->stop)
		pthread_cond_wait(&a->change, &a->lock);
	if (!a->stop)
		b = a->idle[--a->nidle];
	pthread_mutex_unlock(&a->lock);
	return b;
}

/* Reads a block.  Returns TEL_OK, or how the source ended. */
static tel_status
read_block(struct ahead *a, struct block *b)
{
	struct tel_fault fault = { TEL_OK, 0, "" };
	size_t got = 0;
	tel_status st = a->source.ops->read(a->source.self, b->data,
	    a->block_size, &got, &fault);

	b->length = got;
	b->taken = a->source.ops->taken(a->source.self);
	pthread_mutex_lock(&a->lock);
	if (got > 0)
		a->full[(a->first + a->nfull++) % BLOCKS] = b;
	else
		a->idle[a->nidle++] = b;
	if (st != TEL_OK) {
		a->end = st;
		a->fault = fault;
		a->end_taken = b->taken;
	}
	pthread_cond_signal(&a->change);
	pthread_mutex_unlock(&a->lock);
	return st;
}

static void *
run(void *arg)
{
	struct ahead *a = arg;
	tel_status st = TEL_OK;
	struct block *b;

	while (st == TEL_OK && (b = wait_idle(a)) != NULL)
		st = read_block(a, b);
	return NULL;
}

/* Takes the next full block; NULL at the end, with *st set to it. */
static struct block *
wait_full(struct ahead *a, tel_status *st, struct tel_fault *fault)
{
	struct block *b = NULL;

	pthread_mutex_lock(&a->lock);
	while (a->nfull == 0 && a->end == TEL_OK)
		pthread_cond_wait(&a->change, &a->lock);
	if (a->nfull > 0) {
		b = a->full[a->first];
		a->first = (a->first + 1) % BLOCKS;
		a->nfull--;
	} else {
		*st = a->end;
		*fault = a->fault;
		/* checksums and indexes may follow the last block */
		a->taken = a->end_taken;
	}
	pthread_mutex_unlock(&a->lock);
	return b;
}

static void
give_back(struct ahead *a, struct block *b)
{
	pthread_mutex_lock(&a->lock);
	a->idle[a->nidle++] = b;
	if (a->nidle >= WAKE_IDLE)
		pthread_cond_signal(&a->change);
	pthread_mutex_unlock(&a->lock);
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

/* Starts the thread, which no signal goes to: they are the program's. */
static int
start(struct ahead *a)
{
	sigset_t all, old;
	int failed;

	sigfillset(&all);
	if ((a->source.ops->set_wake != NULL && a->wake[0] < 0 &&
	        open_wake(a) != 0) ||
	    pthread_sigmask(SIG_SETMASK, &all, &old) != 0)
		return -1;
	failed = pthread_create(&a->thread, NULL, run, a);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	a->runs = failed == 0;
	return failed != 0 ? -1 : 0;
}

/* Sees to it that there is, or will be, a full block, or the end. */
static void
go_on(struct ahead *a)
{
	if (a->runs || a->nfull > 0 || a->end != TEL_OK)
		return;
	/* where no descriptor or no thread is left, it goes without */
	if (a->begun && !a->alone && start(a) == 0)
		return;
	a->alone |= a->begun;
	a->begun = 1;
	while (a->nfull == 0 && read_block(a, a->idle[--a->nidle]) == TEL_OK)
		continue;
}

static tel_status
ahead_more(void *self, struct tel_window *w, struct tel_fault *fault)
{
	struct ahead *a = self;
	size_t rest = (size_t)(w->end - w->p);
	tel_status st = TEL_OK;
	struct block *b, *old = a->current;
	unsigned char *begin;
	size_t end;

	go_on(a);
	b = wait_full(a, &st, fault);
	if (b == NULL)
		return st;
	a->taken = b->taken;
	if (old != NULL && rest > b->length) {
		/* the new bytes are fewer than those that would move */
		end = (size_t)(w->end - old->data);
		if (a->block_size - end >= b->length) {
			memcpy(old->data + end, b->data, b->length);
			w->end += b->length;
			give_back(a, b);
			return TEL_OK;
		}
	}
	begin = b->data - rest;
	if (rest > 0)
		memcpy(begin, w->p, rest);
	w->p = begin;
	w->end = b->data + b->length;
	a->current = b;
	if (old != NULL)
		give_back(a, old);
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
	if (a->wake[0] >= 0)
		close(a->wake[0]);
	if (a->wake[1] >= 0)
		close(a->wake[1]);
	pthread_cond_destroy(&a->change);
	pthread_mutex_destroy(&a->lock);
	free(a->memory);
	free(a);
}

/* Ends the thread; it is not waiting for input, or wakes. */
static void
halt(struct ahead *a)
{
	if (!a->runs)
		return;
	pthread_mutex_lock(&a->lock);
	a->stop = 1;
	pthread_cond_signal(&a->change);
	pthread_mutex_unlock(&a->lock);
	pthread_join(a->thread, NULL);
	a->runs = a->stop = 0;
}

static void
ahead_free(void *self)
{
	struct ahead *a = self;

	if (a->wake[1] >= 0)
		close(a->wake[1]);
	a->wake[1] = -1;
	halt(a);
	a->source.ops->free(a->source.self);
	ahead_close(a);
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
	int64_t at;

	/* what cannot seek may be waiting for input */
	if (ahead_extent(a) < 0)
		return -1;
	halt(a);
	at = a->source.ops->seek(a->source.self, offset, whence);
	while (at >= 0 && a->nfull > 0) {
		a->idle[a->nidle++] = a->full[a->first];
		a->first = (a->first + 1) % BLOCKS;
		a->nfull--;
	}
	if (at >= 0) {
		a->end = TEL_OK;
		a->begun = 0;
	}
	return at;
}

static tel_status
ahead_resume(void *self, uint64_t *lost)
{
	struct ahead *a = self;
	tel_status st;

	if (a->source.ops->resume == NULL)
		return TEL_END;
	halt(a);
	st = a->source.ops->resume(a->source.self, lost);
	if (st == TEL_OK)
		a->end = TEL_OK;
	return st;
}

static size_t
ahead_ready(void *self)
{
	struct ahead *a = self;
	size_t n = 0;
	unsigned i;

	pthread_mutex_lock(&a->lock);
	for (i = 0; i < a->nfull; i++)
		n += a->full[(a->first + i) % BLOCKS]->length;
	pthread_mutex_unlock(&a->lock);
	return n;
}

static void
ahead_alone(void *self)
{
	struct ahead *a = self;

	/* what cannot seek may be waiting for input */
	if (a->runs && ahead_extent(a) < 0)
		return;
	halt(a);
	a->alone = 1;
}

static const struct tel_source_ops ahead_ops = {
	.more = ahead_more,
	.taken = ahead_taken,
	.seek = ahead_seek,
	.extent = ahead_extent,
	.resume = ahead_resume,
	.ready = ahead_ready,
	.alone = ahead_alone,
	.free = ahead_free,
};

static struct ahead *
ahead_new(struct tel_source source, size_t read_size)
{
	struct ahead *a = calloc(1, sizeof(*a));
	size_t i;

	if (a == NULL)
		return NULL;
	a->wake[0] = a->wake[1] = -1;
	a->source = source;
	a->block_size = read_size < BLOCK_LEAST ? BLOCK_LEAST :
	    read_size > BLOCK_MOST              ? BLOCK_MOST :
	                                          read_size;
	if (pthread_mutex_init(&a->lock, NULL) != 0) {
		free(a);
		return NULL;
	}
	if (pthread_cond_init(&a->change, NULL) != 0) {
		pthread_mutex_destroy(&a->lock);
		free(a);
		return NULL;
	}
	a->memory = malloc(BLOCKS * (HEADROOM + a->block_size));
	if (a->memory == NULL) {
		ahead_close(a);
		return NULL;
	}
	for (i = 0; i < BLOCKS; i++) {
		a->blocks[i].data =
		    a->memory + i * (HEADROOM + a->block_size) + HEADROOM;
		a->idle[a->nidle++] = &a->blocks[i];
	}
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
