/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Backtraces: the last events of the rings, as lines of tel-text(5).
 *
 * Nothing here allocates, locks or calls stdio: it runs in signal handlers.
 */
#define _GNU_SOURCE
#include "emit.h"

#include <errno.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EVENTS_MAX 1024u /* of a backtrace */

/* ------------------------------------------------------------------ text */

/* A line under construction. */
struct line {
	int fd;
	size_t used;
	char text[1024];
};

static void
backtrace_flush(struct line *l)
{
	size_t done = 0;

	while (done < l->used) {
		ssize_t n = write(l->fd, l->text + done, l->used - done);

		if (n < 0 && errno != EINTR)
			break;
		done += n > 0 ? (size_t)n : 0;
	}
	l->used = 0;
}

static void
backtrace_put(struct line *l, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (l->used == sizeof(l->text))
			backtrace_flush(l);
		l->text[l->used++] = s[i];
	}
}

static void
backtrace_put_text(struct line *l, const char *s)
{
	backtrace_put(l, s, strlen(s));
}

static void
backtrace_put_number(struct line *l, uint64_t v, unsigned base, unsigned digits,
    const char *set)
{
	char text[24];
	size_t i = sizeof(text);

	do {
		text[--i] = set[v % base];
		v /= base;
	} while (v != 0 || sizeof(text) - i < digits);
	backtrace_put(l, text + i, sizeof(text) - i);
}

static void
put_hex(struct line *l, uint64_t v)
{
	backtrace_put_text(l, "0x");
	backtrace_put_number(l, v, 16, 1, "0123456789abcdef");
}

static void
put_decimal(struct line *l, uint64_t v)
{
	backtrace_put_number(l, v, 10, 1, "0123456789");
}

/* 17 digits and an exponent, by long double arithmetic. */
static void
put_double(struct line *l, double value)
{
	long double v = value;
	int exponent = 0;

	if (value != value) {
		backtrace_put_text(l, "nan");
		return;
	}
	if (v < 0) {
		backtrace_put_text(l, "-");
		v = -v;
	}
	if (v > DBL_MAX) {
		backtrace_put_text(l, "inf");
		return;
	}
	if (v < 1e15L && v == (long double)(uint64_t)v) {
		put_decimal(l, (uint64_t)v);
		return;
	}
	for (; v >= 10; exponent++)
		v /= 10;
	for (; v < 1; exponent--)
		v *= 10;
	uint64_t digits = (uint64_t)(v * 1e16L + 0.5L);
	if (digits >= 100000000000000000u) {
		digits /= 10;
		exponent++;
	}
	put_decimal(l, digits / 10000000000000000u);
	backtrace_put_text(l, ".");
	backtrace_put_number(l, digits % 10000000000000000u, 10, 16,
	    "0123456789");
	backtrace_put_text(l, exponent < 0 ? "e-" : "e+");
	backtrace_put_number(l, (uint64_t)(exponent < 0 ? -exponent : exponent),
	    10, 2, "0123456789");
}

static void
backtrace_put_string(struct line *l, const char *s, size_t n)
{
	static const char hex[] = "0123456789abcdef";

	backtrace_put_text(l, "\"");
	for (size_t i = 0; i < n && s[i] != '\0'; i++) {
		const unsigned char c = (unsigned char)s[i];

		if (c == '"' || c == '\\')
			backtrace_put_text(l, "\\");
		if (c >= ' ' && c <= '~') {
			backtrace_put(l, &s[i], 1);
		} else {
			backtrace_put_text(l, "\\x");
			backtrace_put(l, &hex[c >> 4], 1);
			backtrace_put(l, &hex[c & 15], 1);
		}
	}
	backtrace_put_text(l, "\"");
}

/* ---------------------------------------------------------------- events */

static void
backtrace_put_field(struct line *l, const struct tel__emit_field *f,
    const char *event, size_t size)
{
	const unsigned width = f->letter->width;
	double d;

	backtrace_put_text(l, " ");
	backtrace_put_text(l, f->name);
	backtrace_put_text(l, "=");
	if (f->letter->data_type == STRING) {
		size_t at = f->offset;

		if (f->letter->load == LOAD_TEXT)
			at = tel_le32((const unsigned char *)event + at);
		at = at < size ? at : size;
		backtrace_put_string(l, event + at, size - at);
		return;
	}
	uint64_t v = tel__emit_load(event + f->offset, width);
	switch (f->letter->data_type) {
	case ADDRESS:
	case POINTER: put_hex(l, v); break;
	case BOOLEAN: backtrace_put_text(l, v != 0 ? "true" : "false"); break;
	case DOUBLE:
		memcpy(&d, &v, 8);
		put_double(l, d);
		break;
	case SIGNED:
		v <<= 64 - 8 * width;
		if (v >> 63 != 0) {
			backtrace_put_text(l, "-");
			v = 0 - v;
		}
		put_decimal(l, v >> (64 - 8 * width));
		break;
	default: put_decimal(l, v);
	}
}

/* Prints a copy of an event. */
static void
backtrace_put_event(struct line *l, const uint64_t *event, unsigned words,
    uint32_t thread)
{
	const struct tel__emit_typed *t = tel__emit_find(event[0] & 0xFFFF);

	if (t == NULL || words * 8 < t->size)
		return;
	backtrace_put_number(l, event[1], 16, 16, "0123456789ABCDEF");
	backtrace_put_text(l, " ");
	backtrace_put_text(l, t->name);
	for (unsigned i = 0; i < t->nfields; i++) {
		if (t->fields[i].space == 2) {
			backtrace_put_text(l, " thread=");
			put_decimal(l, thread);
		} else {
			backtrace_put_field(l, &t->fields[i],
			    (const char *)event, words * 8);
		}
	}
	backtrace_put_text(l, "\n");
	backtrace_flush(l);
}

/* ---------------------------------------------------------------- choosing */

/* Copies an event.  0: it was overwritten. */
static unsigned
backtrace_copy_event(const struct tel__emit_walk *w, uint64_t *to)
{
	unsigned words, i;
	const uint64_t *p = tel__emit_here(w, &words);

	if (p == NULL)
		return 0;
	for (i = 0; i < words; i++)
		to[i] = __atomic_load_n(&p[i], __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (((__atomic_load_n(&w->ring->head, __ATOMIC_RELAXED) - w->at) &
	        POSITION) > w->mask + 1)
		return 0;
	return words;
}

static struct tel__emit_walk
begin_walk(unsigned i)
{
	struct tel__emit_walk w = { tel__emit_ring(i), 0, 0, 0 };

	w.mask = tel__emit_ring_words() - 1;
	w.end = __atomic_load_n(&w.ring->head, __ATOMIC_ACQUIRE);
	w.at = __atomic_load_n(&w.ring->claim, __ATOMIC_ACQUIRE) == 0 ?
	    w.end :
	    tel__emit_oldest(w.ring, w.end, 0);
	return w;
}

/* Advances to the next complete event.  Returns its words; 0: none. */
static unsigned
next_whole(struct tel__emit_walk *w, const uint64_t **event)
{
	unsigned words;

	*event = tel__emit_here(w, &words);
	if (*event == NULL && tel__emit_search(w))
		*event = tel__emit_here(w, &words);
	return *event != NULL ? words : 0;
}

/* Starts a walk at the last n events of a ring.  Returns how many there are. */
static unsigned
begin_tail(struct tel__emit_walk *w, unsigned ring, unsigned n)
{
	const struct tel__emit_walk start = begin_walk(ring);
	unsigned words, count = 0, skip;
	const uint64_t *event;

	for (*w = start; (words = next_whole(w, &event)) > 0; count++)
		w->at += TEL__RING_ONE + words;
	skip = count > n ? count - n : 0;
	for (*w = start; skip > 0 && (words = next_whole(w, &event)) > 0;
	     skip--)
		w->at += TEL__RING_ONE + words;
	return count < n ? count : n;
}

int
tel_backtrace(int fd, unsigned n)
{
	/* too large for the stack of a signal handler */
	static struct tel__emit_walk walks[RINGS_MAX];
	static atomic_flag busy = ATOMIC_FLAG_INIT;
	static uint64_t copy[TEL_EMIT_EVENT_MAX / 8];
	struct line line = { fd, 0, "" };
	struct tel__emit_walk *first;
	const uint64_t *event;
	uint64_t clock = 0;
	unsigned i, words, size = 0, left = 0;
	const unsigned rings = tel__emit_ring_count();
	const int kept = errno;
	int count = 0;

	if (!tel__emit_state.open || n == 0 || atomic_flag_test_and_set(&busy))
		return 0;
	n = n < EVENTS_MAX ? n : EVENTS_MAX;
	for (i = 0; i < rings; i++)
		left += begin_tail(&walks[i], i, n);
	/* merges them by clock, and prints the last n */
	for (; left > 0; left--) {
		first = NULL;
		for (i = 0; i < rings; i++) {
			words = next_whole(&walks[i], &event);
			if (words > 0 &&
			    (first == NULL || TEL__NOW(event[1]) < clock)) {
				first = &walks[i];
				clock = TEL__NOW(event[1]);
				size = words;
			}
		}
		if (first == NULL)
			break;
		words = left <= n ? backtrace_copy_event(first, copy) : 0;
		if (words > 0) {
			backtrace_put_event(&line, copy, words,
			    TEL__NOW(first->ring->thread));
			count++;
		}
		first->at += TEL__RING_ONE + size;
	}
	atomic_flag_clear(&busy);
	errno = kept;
	return count;
}

int
tel_emit_dump(int fd)
{
	uint64_t event[TEL_EMIT_EVENT_MAX / 8];
	struct line line = { fd, 0, "" };
	struct tel__emit_walk w;
	const uint64_t *p;
	unsigned i, words;
	int count = 0;

	if (!tel__emit_state.open)
		return 0;
	for (i = 0; i < tel__emit_ring_count(); i++) {
		w = begin_walk(i);
		backtrace_put_text(&line, "# ring of kind ");
		backtrace_put_text(&line,
		    PAGE->kinds[TEL__NOW(w.ring->kind) % TEL_EMIT_KINDS]);
		backtrace_put_text(&line, ", thread ");
		put_decimal(&line, TEL__NOW(w.ring->thread));
		backtrace_put_text(&line, "\n");
		backtrace_flush(&line);
		for (; (words = next_whole(&w, &p)) > 0;
		     w.at += TEL__RING_ONE + words) {
			words = backtrace_copy_event(&w, event);
			if (words == 0)
				break;
			backtrace_put_event(&line, event, words,
			    TEL__NOW(w.ring->thread));
			count++;
		}
	}
	return count;
}

/* --------------------------------------------------------------- crashes */

static const int deadly[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };
#define NDEADLY (sizeof(deadly) / sizeof(deadly[0]))

static struct {
	struct sigaction old[NDEADLY];
	int fd;
	unsigned events;
	volatile sig_atomic_t printed; /* the backtrace was */
	int on;
} crash;

/*
 * Prints, then invokes the previous handler: one of the program by a call; the
 * default by raising the signal again, delivered when this one returns.
 */
static void
on_crash(int number, siginfo_t *info, void *context)
{
	size_t i = 0;

	while (i < NDEADLY - 1 && deadly[i] != number)
		i++;
	const struct sigaction *old = &crash.old[i];
	if (!crash.printed) {
		crash.printed = 1;
		(void)tel_backtrace(crash.fd, crash.events);
	}
	if (old->sa_flags & SA_SIGINFO) {
		old->sa_sigaction(number, info, context);
	} else if (old->sa_handler == SIG_IGN && number == SIGABRT) {
		crash.printed = 0;
	} else if (old->sa_handler == SIG_DFL || old->sa_handler == SIG_IGN) {
		(void)sigaction(number, old, NULL);
		(void)raise(number);
	} else {
		old->sa_handler(number);
	}
}

int
tel_emit_on_crash(int fd, unsigned n)
{
	struct sigaction action = { 0 };

	crash.fd = fd;
	crash.events = n;
	if (crash.on)
		return 0;
	action.sa_sigaction = on_crash;
	action.sa_flags = SA_SIGINFO | SA_ONSTACK;
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < NDEADLY; i++)
		if (sigaction(deadly[i], &action, &crash.old[i]) != 0)
			return -1;
	crash.on = 1;
	return 0;
}

void
tel_emit_assertion(const char *file, int line, const char *text)
{
	struct line l = { 2, 0, "" };

	backtrace_put_text(&l, file);
	backtrace_put_text(&l, ":");
	put_decimal(&l, (uint64_t)line);
	backtrace_put_text(&l, ": assertion failed: ");
	backtrace_put_text(&l, text);
	backtrace_put_text(&l, "\n");
	backtrace_flush(&l);
	(void)tel_backtrace(2, crash.on ? crash.events : 32);
	crash.printed = 1;
	abort();
}
