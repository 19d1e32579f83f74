/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sinks: encode batches and write them.  Data that a sink does not accept is
 * queued, up to a limit; then whole blocks are lost, and the next block has the
 * number of lost events.  All functions run under the lock of the drain.
 */
#define _GNU_SOURCE
#include "sink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Words of events that are made of names, at a time. */
#define EXTRA_WORDS ((size_t)1 << 15)

struct tel_emit_sink *tel__emit_sinks;

/* Of sinks that were closed; under the lock of the drain. */
static struct {
	uint64_t lost;
	int error;
} closed;

/* A block that was not written at once. */
struct queued {
	uint64_t end; /* of the stream's bytes, behind it */
	uint64_t events, reported;
};

int
tel__emit_has_sinks(void)
{
	return tel__emit_sinks != NULL;
}

/*
 * Events of the sink's kinds that were lost before it, not reported yet; now is
 * what s->seen is once they are.  Threads lose more meanwhile.
 */
static uint64_t
unreported(const struct tel_emit_sink *s, uint64_t now[TEL_EMIT_KINDS])
{
	uint64_t lost = s->owed;

	for (unsigned i = 0; i < TEL_EMIT_KINDS; i++) {
		now[i] = tel__emit_lost_of(i);
		if (s->kinds >> i & 1)
			lost += now[i] - s->seen[i];
	}
	return lost;
}

/* -------------------------------------------------------------- failures */

static void
set_error(struct tel_emit_sink *s, int error)
{
	/* a client may go whenever it likes */
	if (s->error == 0 && !s->client)
		s->error = error;
}

int
tel__emit_take_error(void)
{
	struct tel_emit_sink *s;
	int error = closed.error;

	closed.error = 0;
	for (s = tel__emit_sinks; s != NULL; s = s->next) {
		if (error == 0)
			error = s->error;
		s->error = 0;
	}
	return error;
}

void
tel__emit_forget_sinks(void)
{
	closed.lost = 0;
	closed.error = 0;
}

/* Forgets the blocks that are written. */
static void
trim_blocks(struct tel_emit_sink *s)
{
	const uint64_t written = s->given - (s->queue.used - s->queue_done);
	struct queued block;
	size_t at = 0;

	for (; at < s->blocks.used; at += sizeof(block)) {
		memcpy(&block, s->blocks.bytes + at, sizeof(block));
		if (block.end > written)
			break;
	}
	if (at > 0)
		memmove(s->blocks.bytes, s->blocks.bytes + at,
		    s->blocks.used - at);
	s->blocks.used -= at;
}

/* Drops the queued blocks: their events are lost. */
static void
drop_queue(struct tel_emit_sink *s)
{
	struct queued block;

	trim_blocks(s);
	for (size_t at = 0; at < s->blocks.used; at += sizeof(block)) {
		memcpy(&block, s->blocks.bytes + at, sizeof(block));
		s->owed += block.events + block.reported;
		s->lost += block.events;
		set_error(s, EAGAIN);
	}
	s->blocks.used = s->queue.used = s->queue_done = 0;
	s->given = 0;
}

/* --------------------------------------------------------------- writing */

/* Whether fd accepts data; waits a second with TEL_SINK_WAIT. */
static int
ready(const struct tel_emit_sink *s)
{
	struct pollfd p = { s->fd, POLLOUT, 0 };
	uint64_t wait = s->flags & TEL_SINK_WAIT ? 1000000000 : 0, now;
	const uint64_t end = tel__emit_gettime() + wait;

	/* a handler of the program ends poll(2), whatever its flags */
	while (poll(&p, 1, (int)(wait / 1000000)) < 0 && errno == EINTR) {
		now = tel__emit_gettime();
		wait = now < end ? end - now : 0;
	}
	return p.revents != 0;
}

/* Writes as much as fd accepts.  Returns how much; -1: it failed. */
static ssize_t
write_some(struct tel_emit_sink *s, const unsigned char *p, size_t n)
{
	size_t done = 0, piece;
	ssize_t got;

	if (!tel__emit_owns(s)) {
		set_error(s, EBADF);
		return -1;
	}
	while (done < n) {
		piece = n - done;
		if (s->is_stream) {
			if (!ready(s))
				break;
			/* poll(2) guarantees room for this much in a pipe */
			piece = piece < PIPE_BUF ? piece : PIPE_BUF;
		}
		if (s->is_socket)
			got = send(s->fd, p + done, piece,
			    MSG_NOSIGNAL | MSG_DONTWAIT);
		else
			got = write(s->fd, p + done, piece);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK) {
			set_error(s, errno);
			return done > 0 ? (ssize_t)done : -1;
		}
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

/* Closes the descriptor; what follows is a new stream. */
static void
close_stream(struct tel_emit_sink *s)
{
	if (s->fd >= 0 && s->own && tel__emit_owns(s))
		close(s->fd);
	s->fd = -1;
	s->connecting = 0;
	drop_queue(s);
	memset(&s->stream, 0, sizeof(s->stream));
}

void
tel__emit_disconnect(struct tel_emit_sink *s)
{
	close_stream(s);
	s->retry_after = s->retry_after == 0 ? RETRY_FIRST :
	    s->retry_after * 2 < RETRY_MAX   ? s->retry_after * 2 :
	                                       RETRY_MAX;
	s->retry_at = tel__emit_gettime() + s->retry_after;
}

/* Writes queued data.  0: some of it remains. */
static int
write_queue(struct tel_emit_sink *s)
{
	if (s->queue.used > s->queue_done) {
		ssize_t n = write_some(s, s->queue.bytes + s->queue_done,
		    s->queue.used - s->queue_done);

		if (n < 0 && (s->medium == TO_SOCKET || s->client))
			tel__emit_disconnect(s);
		if (n > 0)
			s->queue_done += (size_t)n;
		if (s->queue.used > s->queue_done)
			return 0;
	}
	s->queue.used = s->queue_done = 0;
	return 1;
}

/* Removes the oldest records until n bytes fit. */
static void
sink_make_room(struct tel_emit_sink *s, size_t n)
{
	size_t at = 0;

	while (at < s->used && s->size - (s->used - at) < n) {
		const unsigned char *p = s->memory + at;

		at += 18 + (size_t)p[5] + tel_le32(p + 6);
	}
	s->used -= at;
	memmove(s->memory, s->memory + at, s->used);
}

/* Writes or queues whole records.  0: the sink accepted none of them. */
static int
sink_give(struct tel_emit_sink *s, const unsigned char *p, size_t n)
{
	ssize_t done = 0;

	switch (s->medium) {
	case TO_FUNCTION:
		if (s->write(s->arg, p, n) == 0)
			return 1;
		set_error(s, EIO);
		return 0;
	case TO_MEMORY:
		if (n > s->size) {
			set_error(s, ENOBUFS);
			return 0;
		}
		sink_make_room(s, n);
		memcpy(s->memory + s->used, p, n);
		s->used += n;
		return 1;
	default: break;
	}
	if (s->fd < 0 || s->connecting) {
		set_error(s, ENOTCONN);
		return 0;
	}
	/* writing the queue may end the stream, whose bytes these are */
	if (write_queue(s) && s->fd >= 0) {
		done = write_some(s, p, n);
		if (done < 0) {
			if (s->medium == TO_SOCKET || s->client)
				tel__emit_disconnect(s);
			return 0;
		}
	} else if (s->fd < 0 || s->queue.used - s->queue_done > QUEUE_MAX) {
		set_error(s, ENOBUFS);
		return 0;
	}
	s->given += n;
	if ((size_t)done == n)
		return 1;
	if (s->queue_done > 0) {
		s->queue.used -= s->queue_done;
		memmove(s->queue.bytes, s->queue.bytes + s->queue_done,
		    s->queue.used);
		s->queue_done = 0;
	}
	s->queue.failed = 0;
	tel__buffer_put(&s->queue, p + done, n - (size_t)done);
	if (!s->queue.failed)
		return 1;
	s->given -= n - (size_t)done;
	set_error(s, ENOMEM);
	return 0;
}

/* -------------------------------------------------------------- the blocks */

/* Writes a block of these events; if that fails, they are lost.  0, -1. */
static int
sink_put_block(struct tel_emit_sink *s, const struct tel__emit_batch *batch)
{
	const struct tel__emit_stream before = s->stream;
	uint64_t seen[TEL_EMIT_KINDS];
	struct queued block = { 0, batch->count, unreported(s, seen) };
	unsigned unfit = 0;

	s->out.used = 0;
	s->out.failed = tel__buffer_room(&s->blocks, sizeof(block)) == NULL;
	if (s->flags & TEL_WIRE_MPS && batch->columns != NULL)
		s->out.failed = 1;
	else if (s->flags & TEL_WIRE_MPS)
		unfit = tel__emit_put_mps(&s->stream, &s->out, batch);
	else
		tel__emit_put_block(&s->stream, &s->out, batch, block.reported);
	if (s->out.failed)
		set_error(s, ENOMEM);
	if (!s->out.failed && sink_give(s, s->out.bytes, s->out.used)) {
		s->owed = 0;
		memcpy(s->seen, seen, sizeof(seen));
		s->lost += unfit;
		if (unfit > 0)
			set_error(s, EMSGSIZE);
		trim_blocks(s);
		block.end = s->given;
		block.events -= unfit;
		if (s->queue.used > s->queue_done)
			tel__buffer_put(&s->blocks, &block, sizeof(block));
		return 0;
	}
	/* unless the failure ended the stream: the next one starts anew */
	if (s->fd < 0 && s->medium <= TO_SOCKET)
		memset(&s->stream, 0, sizeof(s->stream));
	else
		s->stream = before;
	s->owed += batch->count;
	s->lost += batch->count;
	return -1;
}

/* The events chosen for a sink, if it does not get all of a batch. */
static struct {
	uint64_t words[EXTRA_WORDS]; /* of events made from names */
	uint64_t clock[BATCH_EVENTS];
	uint32_t at[BATCH_EVENTS];
	uint16_t type[BATCH_EVENTS];
} chosen;

static void
add_chosen(struct tel__emit_batch *to, uint64_t clock, size_t at, unsigned type)
{
	chosen.clock[to->count] = clock;
	chosen.at[to->count] = (uint32_t)at;
	chosen.type[to->count] = (uint16_t)type;
	to->one_type &= type == chosen.type[0];
	to->count++;
}

/*
 * Adds the event that represents an entry, if there is one of the sink's kinds.
 */
static void
add_extra(const struct tel_emit_sink *s, struct tel__emit_batch *extra,
    const struct tel__ring_entry *entry)
{
	const size_t length = (size_t)entry->length;
	uint64_t *to = chosen.words + extra->used;
	unsigned type, code = CODE_INTERN;
	size_t words;

	if (entry->what == ENTRY_EVENT)
		code = entry->value & 0xFFFF;
	else if (entry->what != ENTRY_STRING)
		return;
	type = tel__emit_types.by_code[code] - 1u;
	if (entry->what == ENTRY_EVENT) {
		if (!(s->kinds >> tel__emit_types.list[type]->kind & 1))
			return;
		words = 2 + length / 8;
		memcpy(to + 2, entry + 1, length);
	} else {
		words = 3 + (length + 8) / 8;
		to[2] = entry->value;
		to[words - 1] = 0;
		memcpy(to + 3, entry + 1, length);
	}
	to[0] = words;
	to[1] = entry->what == ENTRY_EVENT ? entry->value >> 32 << 32 : 0;
	add_chosen(extra, entry->clock, extra->used, type);
	extra->used += words;
}

/* Writes the names that the stream does not have yet, as events. */
static void
sink_put_names(struct tel_emit_sink *s, const struct tel__emit_batch *batch)
{
	const struct tel__ring_entry *entry;
	struct tel__emit_batch extra;
	uint64_t at = s->stream.names;

	do {
		extra = (struct tel__emit_batch){ 0, 0, chosen.words,
			chosen.clock, chosen.at, chosen.type, 1, 0,
			batch->types, batch->digest, NULL };
		while (extra.count < BATCH_EVENTS &&
		    EXTRA_WORDS - extra.used >= TEL_EMIT_EVENT_MAX / 8 &&
		    (entry = tel__emit_next_entry(&at)) != NULL)
			add_extra(s, &extra, entry);
		if (extra.count > 0 && sink_put_block(s, &extra) != 0)
			return;
		s->stream.names = at;
	} while (extra.count > 0);
}

/* Selects the events of the sink's kinds. */
static struct tel__emit_batch
sink_choose(const struct tel_emit_sink *s, const struct tel__emit_batch *batch)
{
	struct tel__emit_batch some = *batch;

	if (batch->columns != NULL)
		return some;
	if (batch->one_type || s->kinds == ~(uint32_t)0) {
		if (!(s->kinds >> tel__emit_types.list[batch->type[0]]->kind &
		        1))
			some.count = 0;
		return some;
	}
	some.clock = chosen.clock;
	some.at = chosen.at;
	some.type = chosen.type;
	some.count = 0;
	some.one_type = 1;
	for (unsigned i = 0; i < batch->count; i++)
		if (s->kinds >> tel__emit_types.list[batch->type[i]]->kind & 1)
			add_chosen(&some, batch->clock[i], batch->at[i],
			    batch->type[i]);
	return some;
}

static void
feed(struct tel_emit_sink *s, const struct tel__emit_batch *batch)
{
	struct tel__emit_batch some = sink_choose(s, batch);

	if (some.count == 0)
		return;
	if ((s->medium == TO_SOCKET && (s->fd < 0 || s->connecting)) ||
	    (s->queue.used - s->queue_done > QUEUE_MAX && s->fd >= 0 &&
	        !write_queue(s))) {
		s->owed += some.count;
		s->lost += some.count;
		set_error(s, s->fd < 0 || s->connecting ? ENOTCONN : ENOBUFS);
		return;
	}
	if (s->stream.names != TEL__NOW(PAGE->names_used)) {
		/* sink_put_names() overwrites the chosen events */
		sink_put_names(s, batch);
		some = sink_choose(s, batch);
	}
	(void)sink_put_block(s, &some);
}

/*
 * Suppresses SIGPIPE and SIGXFSZ during writes: blocks them, and afterwards
 * consumes them unless they were pending before.  Nor is the thread cancelled,
 * which holds the lock of the drain.
 */
static void
quiet(sigset_t *old, int on)
{
	static const struct timespec now = { 0, 0 };
	static __thread int pending, cancelling;
	sigset_t both, before;

	sigemptyset(&both);
	sigaddset(&both, SIGPIPE);
	sigaddset(&both, SIGXFSZ);
	if (on) {
		(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE,
		    &cancelling);
		pthread_sigmask(SIG_BLOCK, &both, old);
		sigpending(&before);
		pending = sigismember(&before, SIGPIPE) ||
		    sigismember(&before, SIGXFSZ);
		return;
	}
	while (!pending && sigtimedwait(&both, NULL, &now) > 0)
		;
	pthread_sigmask(SIG_SETMASK, old, NULL);
	(void)pthread_setcancelstate(cancelling, NULL);
}

void
tel__emit_feed(const struct tel__emit_batch *batch)
{
	sigset_t old;

	if (batch->count == 0)
		return;
	quiet(&old, 1);
	for (struct tel_emit_sink *s = tel__emit_sinks; s != NULL; s = s->next)
		if (s->medium != SERVER)
			feed(s, batch);
	quiet(&old, 0);
}

/* Whether the parts of columns have known types, and all of their events. */
static int
check_columns(const tel_emit_columns *events)
{
	const struct tel__emit_typed *t;
	uint64_t count = 0;

	for (unsigned i = 0; i < events->part_count; i++) {
		t = events->parts[i].code <= 0xFFFF ?
		    tel__emit_find(events->parts[i].code) :
		    NULL;
		if (t == NULL || t->nfields > 64 || t->string >= 0 ||
		    t->texts > 0 || events->parts[i].count == 0)
			return tel__emit_wrong("part %u: unknown type, or one "
			                       "with strings, or no events",
			    i);
		count += events->parts[i].count;
	}
	if (count != events->count || count == 0 || events->part_count > 256 ||
	    count > TEL_EMIT_COLUMNS_MAX)
		return tel__emit_wrong("the parts have %llu events, not %u",
		    (unsigned long long)count, events->count);
	return 0;
}

int
tel_emit_relay(const tel_emit_columns *events)
{
	/* nothing changes the clocks of a batch that is written */
	union {
		const uint64_t *given;
		uint64_t *clock;
	} clocks = { events->clocks };
	struct tel__emit_batch batch = { .count = events->count,
		.clock = clocks.clock,
		.columns = events };
	struct tel_emit_sink *s;
	int st = -1;

	pthread_mutex_lock(&tel__emit_state.drain);
	uint64_t lost = tel__emit_sinks_lost();
	if (!tel__emit_state.open) {
		errno = EBADF;
	} else if (check_columns(events) == 0) {
		for (s = tel__emit_sinks; s != NULL; s = s->next)
			s->owed += events->lost;
		tel__emit_count_types(&batch);
		tel__emit_feed(&batch);
		st = tel__emit_sinks_lost() == lost ? 0 : -1;
		if (st != 0)
			errno = EIO;
	}
	pthread_mutex_unlock(&tel__emit_state.drain);
	return st;
}

uint64_t
tel__emit_sinks_lost(void)
{
	const struct tel_emit_sink *s;
	uint64_t lost = closed.lost;

	for (s = tel__emit_sinks; s != NULL; s = s->next)
		lost += s->lost;
	return lost;
}

/* --------------------------------------------------------------- adding */

void
tel__emit_free_sink(struct tel_emit_sink *s)
{
	const int kept = errno;

	if (s == NULL)
		return;
	if (s->own && s->fd >= 0 && tel__emit_owns(s))
		close(s->fd);
	tel__emit_free_addresses(s);
	free(s->path);
	free(s->out.bytes);
	free(s->queue.bytes);
	free(s->blocks.bytes);
	free(s);
	errno = kept;
}

struct tel_emit_sink *
tel__emit_new_sink(enum medium medium, uint32_t kinds, unsigned flags)
{
	struct tel_emit_sink *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->medium = medium;
	s->kinds = kinds | (uint32_t)1 << TEL_KIND_Stream;
	s->flags = flags;
	s->fd = -1;
	return s;
}

/* Adds a sink to the list; under the lock. */
void
tel__emit_link_sink(struct tel_emit_sink *s)
{
	if (tel__emit_sinks == NULL)
		tel__emit_skip_lost();
	for (unsigned i = 0; i < TEL_EMIT_KINDS; i++)
		s->seen[i] = tel__emit_lost_of(i);
	s->next = tel__emit_sinks;
	tel__emit_sinks = s;
	SET(PAGE->drained, 1);
}

tel_emit_sink *
tel__emit_add_sink(struct tel_emit_sink *s)
{
	pthread_mutex_lock(&tel__emit_state.drain);
	if (!tel__emit_state.open) {
		errno = EBADF;
	} else if (tel__emit_start_thread() == 0) {
		tel__emit_link_sink(s);
		pthread_mutex_unlock(&tel__emit_state.drain);
		return s;
	}
	pthread_mutex_unlock(&tel__emit_state.drain);
	tel__emit_free_sink(s);
	return NULL;
}

/* Removes a sink from the list, and frees it.  Returns the next one. */
static struct tel_emit_sink *
remove_sink(struct tel_emit_sink *s)
{
	struct tel_emit_sink **at = &tel__emit_sinks, *next = s->next;

	while (*at != s)
		at = &(*at)->next;
	*at = next;
	closed.lost += s->lost;
	tel__emit_free_sink(s);
	SET(PAGE->drained, tel__emit_sinks != NULL);
	return next;
}

void
tel__emit_tend_sinks(void)
{
	struct tel_emit_sink *s, *next;
	sigset_t old;

	quiet(&old, 1);
	for (s = tel__emit_sinks; s != NULL; s = next) {
		if (s->medium == SERVER)
			tel__emit_accept(s);
		else if (s->medium == TO_SOCKET)
			tel__emit_tend_connection(s);
		if (s->fd >= 0 && !s->connecting && s->medium != SERVER)
			(void)write_queue(s);
		next = s->client && s->fd < 0 ? remove_sink(s) : s->next;
	}
	quiet(&old, 0);
}

/* --------------------------------------------------------------- closing */

int
tel__emit_is_sink(const struct tel_emit_sink *sink)
{
	const struct tel_emit_sink *s = tel__emit_sinks;

	while (s != NULL && s != sink)
		s = s->next;
	if (s == NULL)
		errno = EBADF;
	return s != NULL;
}

int
tel_emit_sink_kinds(tel_emit_sink *sink, uint32_t kinds)
{
	pthread_mutex_lock(&tel__emit_state.drain);
	const int st = tel__emit_is_sink(sink) ? 0 : -1;
	if (st == 0)
		sink->kinds = kinds | (uint32_t)1 << TEL_KIND_Stream;
	pthread_mutex_unlock(&tel__emit_state.drain);
	return st;
}

uint64_t
tel_emit_sink_lost(const tel_emit_sink *sink)
{
	pthread_mutex_lock(&tel__emit_state.drain);
	uint64_t lost = tel__emit_is_sink(sink) ? sink->lost : 0;
	pthread_mutex_unlock(&tel__emit_state.drain);
	return lost;
}

/* Ends the stream with unreported losses and the END record. */
static void
end_stream(struct tel_emit_sink *s)
{
	struct tel__emit_batch none = { .one_type = 1, .one_thread = 1 };
	uint64_t seen[TEL_EMIT_KINDS];

	if (s->medium == SERVER || (s->fd < 0 && s->medium <= TO_SOCKET) ||
	    s->flags & TEL_WIRE_MPS)
		return;
	tel__emit_count_types(&none);
	if (unreported(s, seen) > 0 || !s->stream.started)
		(void)sink_put_block(s, &none);
	s->out.used = 0;
	s->out.failed = 0;
	tel__emit_put_end(&s->stream, &s->out);
	if (!s->out.failed && sink_give(s, s->out.bytes, s->out.used) &&
	    s->fd >= 0)
		(void)write_queue(s);
}

/* Returns errno of its first failure, or 0. */
static int
close_sink(struct tel_emit_sink *s)
{
	sigset_t old;

	quiet(&old, 1);
	end_stream(s);
	drop_queue(s);
	int error = s->error;
	if (s->medium == SERVER)
		(void)unlink(s->path);
	(void)remove_sink(s);
	quiet(&old, 0);
	return error;
}

int
tel_emit_sink_finish(tel_emit_sink *sink)
{
	if (sink == NULL || !tel__emit_state.open) {
		errno = EBADF;
		return -1;
	}
	int error = EBADF;
	pthread_mutex_lock(&tel__emit_state.drain);
	if (tel__emit_is_sink(sink)) {
		tel__emit_drain(0);
		error = close_sink(sink);
	}
	pthread_mutex_unlock(&tel__emit_state.drain);
	errno = error;
	return error == 0 ? 0 : -1;
}

void
tel_emit_sink_close(tel_emit_sink *sink)
{
	if (sink == NULL || !tel__emit_state.open)
		return;
	pthread_mutex_lock(&tel__emit_state.drain);
	if (tel__emit_is_sink(sink)) {
		tel__emit_drain(0);
		int error = close_sink(sink);
		if (closed.error == 0)
			closed.error = error;
	}
	pthread_mutex_unlock(&tel__emit_state.drain);
}

void
tel__emit_close_sinks(void)
{
	while (tel__emit_sinks != NULL) {
		int error = close_sink(tel__emit_sinks);

		if (closed.error == 0)
			closed.error = error;
	}
}

/*
 * In a child: closes all sinks, which are the parent's, except sockets and
 * files whose path has "%p", which are opened again.
 */
void
tel__emit_fork_sinks(void)
{
	struct tel_emit_sink *s, *next;

	for (s = tel__emit_sinks; s != NULL; s = next) {
		close_stream(s);
		s->owed = s->lost = 0;
		s->error = 0;
		memset(s->seen, 0, sizeof(s->seen));
		int reopened = s->medium == TO_SOCKET ||
		    (s->medium == TO_FILE && strstr(s->path, "%p") != NULL &&
		        tel__emit_open_file(s) == 0);
		next = reopened ? s->next : remove_sink(s);
	}
	SET(PAGE->drained, tel__emit_sinks != NULL);
}
