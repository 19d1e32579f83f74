/* SPDX-License-Identifier: BSD-2-Clause */
/* The events that the tests of libtel-emit emit, and reading them again. */
#ifndef SHOP_H
#define SHOP_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"
#include "tel.h"
#include "tel_emit.h"

#define SHOP_KINDS(KIND, X) \
	KIND(X, Order, 0, "orders") \
	KIND(X, Stock, 1, "the store") \
	KIND(X, Count, 2, "numbers")

#define SHOP_EVENTS(EVENT, X) \
	EVENT(X, Sale, 0x0001, 1, Order, "somebody bought something") \
	EVENT(X, Refill, 0x0002, 0, Stock, "goods came in") \
	EVENT(X, Shut, 0x0003, 1, Stock, "the shop is shut") \
	EVENT(X, All, 0x0004, 1, Stock, \
	    "a parameter of \"each\" letter\033[31m\\") \
	EVENT(X, Number, 0x0005, 1, Count, "the next number") \
	EVENT(X, Echo, 0x0006, 1, Count, "a number, and text made of it") \
	EVENT(X, Take, 0x0007, 1, Stock, "memory is taken") \
	EVENT(X, Give, 0x0008, 1, Stock, "and given back") \
	EVENT(X, Enter, 0x0009, 1, Order, "a customer enters") \
	EVENT(X, Leave, 0x000A, 1, Order, "and leaves")

#define EVENT_Sale_PARAMS(PARAM, X) \
	PARAM(X, 0, P, basket, "", "the basket", "") \
	PARAM(X, 1, U, cents, "cent", "what was paid", "") \
	PARAM(X, 2, S, name, "", "the customer", "")
#define EVENT_Refill_PARAMS(PARAM, X) PARAM(X, 0, W, pieces, "", "how many", "")
#define EVENT_Shut_PARAMS(PARAM, X)
#define EVENT_All_PARAMS(PARAM, X) \
	PARAM(X, 0, P, p, "", "", "") \
	PARAM(X, 1, A, a, "", "", "") \
	PARAM(X, 2, W, w, "", "", "") \
	PARAM(X, 3, U, u, "", "", "") \
	PARAM(X, 4, D, d, "", "", "") \
	PARAM(X, 5, B, b, "", "", "") \
	PARAM(X, 6, U8, u8, "", "", "") \
	PARAM(X, 7, U16, u16, "", "", "") \
	PARAM(X, 8, I16, i16, "", "", "") \
	PARAM(X, 9, I64, i64, "", "", "")
#define EVENT_Number_PARAMS(PARAM, X) \
	PARAM(X, 0, U32, who, "", "who counts", "") \
	PARAM(X, 1, U64, n, "", "the number", "") \
	PARAM(X, 2, U64, check, "", "made of both", "")
#define EVENT_Echo_PARAMS(PARAM, X) \
	PARAM(X, 0, U64, n, "", "the number", "") \
	PARAM(X, 1, S, text, "", "its digits", "")
#define EVENT_Take_PARAMS(PARAM, X) \
	PARAM(X, 0, A, block, "", "", "alloc:address") \
	PARAM(X, 1, W, size, "bytes", "", "alloc:size")
#define EVENT_Give_PARAMS(PARAM, X) \
	PARAM(X, 0, A, block, "", "", "free:address")
#define EVENT_Enter_PARAMS(PARAM, X) \
	PARAM(X, 0, U32, who, "", "", "start:Leave")
#define EVENT_Leave_PARAMS(PARAM, X) PARAM(X, 0, U32, who, "", "", "finish")

TEL_EVENTS(SHOP)

/* What makes an event of two halves tell. */
static inline uint64_t
shop_check(uint32_t who, uint64_t n)
{
	return (n + 1) * 0x9E3779B97F4A7C15u ^ who;
}

static inline void
shop_count(uint32_t who, uint64_t n)
{
	TEL_EVENT3(Number, who, n, shop_check(who, n));
}

/* What a log says of Number: how many of whom, and whether all is right. */
struct shop_log {
	uint64_t events, numbers, torn, lost, damaged;
	uint64_t unfinished;          /* when the program stopped */
	uint64_t first[64], next[64]; /* of each who */
	uint64_t missing;             /* numbers that do not follow */
	uint64_t missing_of[64];
	uint64_t disorder; /* clocks before that of the last one */
	uint64_t clock;
};

static inline void
shop_notify(void *arg, tel_severity severity, const char *log, uint64_t offset,
    const char *text)
{
	struct shop_log *l = arg;
	unsigned long long n;

	(void)severity;
	(void)log;
	(void)offset;
	if (sscanf(text, "%llu events were lost", &n) == 1)
		l->lost += n;
	if (strstr(text, "events were being written") != NULL)
		l->unfinished = strtoull(text, NULL, 10);
}

static inline void
shop_event(struct shop_log *l, const tel_event *ev)
{
	const tel_type *type = tel_event_type(ev);
	uint64_t who, n;

	l->events++;
	if (tel_event_clock(ev) < l->clock)
		l->disorder++;
	l->clock = tel_event_clock(ev);
	if (strcmp(tel_type_name(type), "Number") != 0)
		return;
	l->numbers++;
	who = tel_event_u64(ev, 0);
	n = tel_event_u64(ev, 1);
	if (who > 63 || tel_event_u64(ev, 2) != shop_check((uint32_t)who, n)) {
		l->torn++;
		return;
	}
	if (l->next[who] == 0)
		l->first[who] = n;
	else if (n != l->next[who])
		l->missing_of[who] += n > l->next[who] ? n - l->next[who] : 1;
	if (n != l->next[who] && l->next[who] != 0)
		l->missing += n > l->next[who] ? n - l->next[who] : 1;
	l->next[who] = n + 1;
}

/* Reads a log to its end.  Returns what the reader ended with. */
static inline tel_status
shop_read_on(tel_reader *r, struct shop_log *l)
{
	const tel_event *ev;
	tel_status st;

	while ((st = tel_reader_next(r, &ev)) == TEL_OK)
		shop_event(l, ev);
	l->damaged = tel_reader_count(r, TEL_COUNT_DAMAGED);
	tel_reader_free(r);
	return st;
}

static inline tel_status
shop_read_file(const char *path, struct shop_log *l)
{
	tel_reader *r = tel_reader_new();
	tel_status st;

	memset(l, 0, sizeof(*l));
	tel_reader_set_notify(r, shop_notify, l);
	st = tel_reader_open_file(r, path);
	if (st != TEL_OK) {
		diag("%s: %s", path, tel_reader_error(r));
		tel_reader_free(r);
		return st;
	}
	return shop_read_on(r, l);
}

static inline tel_status
shop_read_memory(const void *p, size_t n, struct shop_log *l)
{
	tel_reader *r = tel_reader_new();
	tel_status st;

	memset(l, 0, sizeof(*l));
	tel_reader_set_notify(r, shop_notify, l);
	st = tel_reader_open_memory(r, p, n, "memory");
	if (st != TEL_OK) {
		tel_reader_free(r);
		return st;
	}
	return shop_read_on(r, l);
}

/* The next event of a type; NULL: there is none. */
static inline const tel_event *
shop_next(tel_reader *r, const char *type)
{
	const tel_event *ev;

	while (tel_reader_next(r, &ev) == TEL_OK)
		if (strcmp(tel_type_name(tel_event_type(ev)), type) == 0)
			return ev;
	return NULL;
}

/* Reads all that comes from fd into a file. */
static inline void
shop_save(int fd, const char *path)
{
	FILE *out = fopen(path, "wb");
	char bytes[4096];
	ssize_t n;

	if (out == NULL)
		return;
	while ((n = read(fd, bytes, sizeof(bytes))) > 0)
		(void)fwrite(bytes, 1, (size_t)n, out);
	fclose(out);
}

/* A path for scratch, in a folder that the caller's name tells apart. */
static inline const char *
shop_path(const char *name)
{
	static char path[4][512];
	static unsigned turn;
	const char *top = getenv("TMPDIR");

	turn = (turn + 1) % 4;
	snprintf(path[turn], sizeof(path[turn]), "%s/shop.%ld.%s",
	    top != NULL ? top : "/tmp", (long)getpid(), name);
	return path[turn];
}

#endif
