/* SPDX-License-Identifier: BSD-2-Clause */
/* libtel-emit: streams of the MPS, read as such. */
#include "shop.h"

#include <errno.h>

TEL_EVENTS_DEFINE(SHOP, "shop", 1, 0, 0)

/* Types of the MPS, as its registry has them, and one of this program. */
#define MPS_KINDS(KIND, X) \
	KIND(X, Pool, 1, "per pool") \
	KIND(X, Object, 5, "per object")
#define MPS_EVENTS(EVENT, X) \
	EVENT(X, PoolAlloc, 0x002A, 1, Object, "an object is allocated") \
	EVENT(X, PoolFree, 0x002C, 1, Object, "and freed") \
	EVENT(X, MeterValues, 0x0028, 1, Pool, "has doubles") \
	EVENT(X, Mine, 0x0200, 1, Object, "no type of the MPS") \
	EVENT(X, Large, 0x0201, 1, Object, "too large for it")
#define EVENT_PoolAlloc_PARAMS(PARAM, X) \
	PARAM(X, 0, P, pool, "", "", "") \
	PARAM(X, 1, A, pReturn, "", "", "") \
	PARAM(X, 2, W, size, "", "", "")
#define EVENT_PoolFree_PARAMS(PARAM, X) \
	PARAM(X, 0, P, pool, "", "", "") \
	PARAM(X, 1, A, old, "", "", "") \
	PARAM(X, 2, W, size, "", "", "")
#define EVENT_MeterValues_PARAMS(PARAM, X) \
	PARAM(X, 0, P, meter, "", "", "") \
	PARAM(X, 1, D, total, "", "", "") \
	PARAM(X, 2, D, meanSquared, "", "", "") \
	PARAM(X, 3, W, count, "", "", "") \
	PARAM(X, 4, W, max, "", "", "") \
	PARAM(X, 5, W, min, "", "", "")
#define EVENT_Mine_PARAMS(PARAM, X) \
	PARAM(X, 0, I16, i, "", "", "") \
	PARAM(X, 1, B, b, "", "", "") \
	PARAM(X, 2, U64, n, "", "", "") \
	PARAM(X, 3, S, s, "", "", "")
#define WORDS(PARAM, X, i, n) \
	PARAM(X, (i) + 0, U64, n##0, "", "", "") \
	PARAM(X, (i) + 1, U64, n##1, "", "", "") \
	PARAM(X, (i) + 2, U64, n##2, "", "", "") \
	PARAM(X, (i) + 3, U64, n##3, "", "", "") \
	PARAM(X, (i) + 4, U64, n##4, "", "", "") \
	PARAM(X, (i) + 5, U64, n##5, "", "", "") \
	PARAM(X, (i) + 6, U64, n##6, "", "", "")
#define EVENT_Large_PARAMS(PARAM, X) \
	WORDS(PARAM, X, 0, a) \
	WORDS(PARAM, X, 7, b) \
	WORDS(PARAM, X, 14, c) WORDS(PARAM, X, 21, d) WORDS(PARAM, X, 28, e)

TEL_EVENTS(MPS)
TEL_EVENTS_DEFINE(MPS, "mps", 2, 0, 0)

static tel_emit_sink *
start(const tel_emit_list *list, const char *path)
{
	tel_emit_options o = { NULL, 0, 0, NULL, 0, TEL_EMIT_NO_THREAD, 0 };

	if (tel_emit_open(&o, list) != 0 || tel_control_text("all") != 0)
		diag("%s: %s", strerror(errno), tel_emit_error());
	return tel_emit_to_file(path, ~0u, TEL_WIRE_MPS);
}

static tel_reader *
open_log(const char *path)
{
	tel_reader *r = tel_reader_new();

	if (tel_reader_open_file(r, path) != TEL_OK)
		diag("%s: %s", path, tel_reader_error(r));
	return r;
}

static int
is_text(const char *s, size_t n, const char *want)
{
	return s != NULL && n == strlen(want) && memcmp(s, want, n) == 0;
}

/* Emits n events with words only, of a type that is larger than the MPS's. */
static void
emit_large(void)
{
	tel_emit_value values[35];

	memset(values, 0, sizeof(values));
	(void)tel_emit_values(TEL_CODE_Large, values, 35);
}

static void
test_mps_types(void)
{
	const char *path = shop_path("mps.log"), *text;
	tel_emit_sink *s = start(&tel_list_MPS, path);
	const tel_event *ev;
	uint64_t clock;
	tel_reader *r;
	int x[2];
	size_t n;

	tel_label(x, tel_intern("the label"));
	clock = tel_emit_clock();
	TEL_EVENT3(PoolAlloc, &s, x, 40);
	TEL_EVENT6(MeterValues, x, 1.5, -2.25, 3, 4, 5);
	TEL_EVENT3(PoolFree, &s, x, 40);
	emit_large();
	tel_emit_flush();
	/* with words of 4 bytes it is small enough */
	is_u64(tel_emit_sink_lost(s), sizeof(void *) == 8,
	    "what is too large is lost");
	tel_emit_close();
	r = open_log(path);
	ev = shop_next(r, "EventInit");
	ok(ev != NULL && tel_event_u64(ev, 0) == 2, "a stream of the MPS");
	is_str(tel_schema_version(tel_reader_schema(r)), "2.0.0",
	    "of version 2.0.0");
	ev = shop_next(r, "PoolAlloc");
	ok(ev != NULL && tel_event_clock(ev) >= clock, "at their times");
	is_u64(tel_event_u64(ev, 0), (uintptr_t)&s, "events have a pointer,");
	is_u64(tel_event_u64(ev, 1), (uintptr_t)x, "an address,");
	is_u64(tel_event_u64(ev, 2), 40, "and a size");
	text = tel_event_label(ev, 1, &n);
	ok(is_text(text, n, "the label"), "and labels");
	ev = shop_next(r, "MeterValues");
	ok(ev != NULL && tel_event_double(ev, 1) == 1.5 &&
	        tel_event_double(ev, 2) == -2.25 && tel_event_u64(ev, 5) == 5,
	    "and doubles");
	ok(shop_next(r, "PoolFree") != NULL, "to the last");
	is_u64(tel_reader_count(r, TEL_COUNT_DAMAGED), 0, "without damage");
	tel_reader_free(r);
	unlink(path);
}

/* The bytes of an event that the tools of the MPS do not know. */
static void
test_own_types(void)
{
	const char *path = shop_path("own.log");
	unsigned char *bytes;
	const tel_event *ev;
	char longest[600];
	uint64_t codes = 0;
	unsigned right = 0;
	tel_reader *r;
	size_t size;
	uint32_t u;

	(void)start(&tel_list_MPS, path);
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	TEL_EVENT4(Mine, -2, 7, 99, longest);
	TEL_EVENT3(PoolAlloc, path, path, 1);
	tel_emit_close();
	r = open_log(path);
	while (tel_reader_next(r, &ev) == TEL_OK) {
		if (tel_type_code(tel_event_type(ev)) != 0x200)
			continue;
		bytes = (unsigned char *)(uintptr_t)tel_event_bytes(ev, &size);
		bytes += sizeof(void *) == 8 ? 16 : 12;
		memcpy(&u, bytes, 4);
		is_u64(u, (uint32_t)-2, "a small integer is a U");
		is_u64(bytes[4], 1, "a boolean is a byte");
		ok(size <= 288 && memchr(bytes, 'x', 32) != NULL,
		    "a string is cut: %d bytes", (int)size);
		codes++;
	}
	is_u64(codes, 1, "a type of the program keeps its code");
	tel_reader_free(r);
	unlink(path);
	/* strings of any length, with other events behind them, are as they were */
	(void)start(&tel_list_MPS, path);
	for (size = 0; size < 400; size++) {
		longest[size] = '\0';
		TEL_EVENT4(Mine, -2, 7, size, longest);
		longest[size] = 'x';
		TEL_EVENT3(PoolAlloc, path, path, SIZE_MAX);
	}
	tel_emit_close();
	r = open_log(path);
	for (codes = 0; tel_reader_next(r, &ev) == TEL_OK;) {
		const char *string;

		if (tel_type_code(tel_event_type(ev)) != 0x200)
			continue;
		string = (const char *)tel_event_bytes(ev, &size) +
		    (sizeof(void *) == 8 ? 32 : 24);
		longest[codes < 255 ? codes : 255] = '\0';
		right += strcmp(string, longest) == 0;
		longest[codes < 255 ? codes : 255] = 'x';
		codes++;
	}
	ok(codes == 400 && right == 400, "%u of 400 strings", right);
	tel_reader_free(r);
	unlink(path);
	(void)start(&tel_list_SHOP, path);
	TEL_EVENT1(Refill, 3);
	TEL_EVENT0(Shut);
	TEL_EVENT3(Sale, path, 99, "a customer");
	tel_label(path, tel_intern("one of the MPS"));
	TEL_EVENT1(Refill, 4);
	TEL_EVENT3(Sale, path, 98, longest);
	tel_emit_close();
	r = open_log(path);
	codes = 0;
	while (tel_reader_next(r, &ev) == TEL_OK)
		codes += tel_type_code(tel_event_type(ev)) > TEL_MPS_CODES;
	is_u64(codes, 5, "but takes none of the MPS");
	is_u64(tel_reader_count(r, TEL_COUNT_DAMAGED), 0,
	    "events of the MPS among them are not damage");
	tel_reader_free(r);
	unlink(path);
}

int
main(void)
{
	test_mps_types();
	test_own_types();
	return done();
}
