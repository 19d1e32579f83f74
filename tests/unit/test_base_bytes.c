/* SPDX-License-Identifier: BSD-2-Clause */
/* Varints and UTF-8: all of it, and what is not; texts of messages. */
#include "base/digit.h"
#include "base/path.h"
#include "base/utf8.h"
#include "base/varint.h"

#include "tap.h"

static void
test_varint(uint64_t v, size_t length)
{
	unsigned char bytes[TEL__VARINT_MAX];
	const unsigned char *end = tel__varint_put(bytes, v), *p;
	uint64_t out = ~v;

	p = tel__varint_get(bytes, bytes + sizeof(bytes), &out);
	ok(end == bytes + length && p == end && out == v &&
	        tel__varint_get(bytes, end - 1, &out) == NULL,
	    "%" PRIu64 " takes %zu bytes, and not one less", v, length);
	ok(tel__unzigzag(tel__zigzag(v)) == v, "and there and back in zigzag");
}

static void
test_varints(void)
{
	static const unsigned char over[] = { 255, 255, 255, 255, 255, 255, 255,
		255, 255, 2 };
	static const unsigned char longer[] = { 128, 128, 128, 128, 128, 128,
		128, 128, 128, 128, 0 };
	static const unsigned char zeros[] = { 128, 128, 0 };
	uint64_t v;

	test_varint(0, 1);
	test_varint(127, 1);
	test_varint(128, 2);
	test_varint(16383, 2);
	test_varint(16384, 3);
	test_varint(UINT32_MAX, 5);
	test_varint((uint64_t)1 << 62, 9);
	test_varint((uint64_t)1 << 63, 10);
	test_varint(UINT64_MAX, 10);
	ok(tel__varint_get(over, over + sizeof(over), &v) == NULL, "65 bits");
	ok(tel__varint_get(longer, longer + sizeof(longer), &v) == NULL,
	    "11 bytes");
	ok(tel__varint_get(zeros, zeros + 3, &v) == zeros + 3 && v == 0,
	    "a zero of three bytes");
	ok(tel__zigzag(0) == 0 && tel__zigzag(UINT64_MAX) == 1 &&
	        tel__zigzag(1) == 2 &&
	        tel__zigzag((uint64_t)1 << 63) == UINT64_MAX,
	    "zigzag keeps small differences small");
}

/* Every character there is, and what its bytes are without the last one. */
static void
test_characters(void)
{
	unsigned char bytes[TEL__UTF8_MAX + 1];
	unsigned right = 0, cut = 0, surrogates = 0;
	size_t n;
	uint32_t c;

	for (c = 0; c <= 0x10ffff; c++) {
		n = (size_t)(tel__utf8_put(bytes, c) - bytes);
		bytes[n] = 0x80;
		if (c >= 0xd800 && c <= 0xdfff)
			surrogates += tel__utf8_length(bytes, n) == 0;
		else
			right += tel__utf8_length(bytes, n) == n &&
			    tel__utf8_length(bytes, sizeof(bytes)) == n;
		cut += tel__utf8_length(bytes, n - 1) == 0;
	}
	is_u64(right, 0x110000 - 0x800, "every character is well-formed");
	is_u64(surrogates, 0x800, "no surrogate is");
	is_u64(cut, 0x110000, "nor what is cut");
}

/* Of all strings of three bytes only characters are well-formed. */
static void
test_strings(void)
{
	unsigned char bytes[4] = { 0, 0, 0, 0x80 };
	unsigned count[5] = { 0 };
	uint32_t v;

	for (v = 0; v < 1u << 24; v++) {
		bytes[0] = (unsigned char)(v >> 16);
		bytes[1] = (unsigned char)(v >> 8);
		bytes[2] = (unsigned char)v;
		count[tel__utf8_length(bytes, 4)]++;
	}
	is_u64(count[1], 128u << 16, "ASCII");
	is_u64(count[2], (0x800u - 0x80) << 8, "two bytes");
	is_u64(count[3], 0x10000 - 0x800 - 0x800, "three bytes");
	is_u64(count[4], (0x110000 - 0x10000) >> 6, "four bytes");
	is_u64(tel__utf16_pair(0xd83d, 0xde00), 0x1f600, "a surrogate pair");
	is_u64(tel__utf16_pair(0xdbff, 0xdfff), 0x10ffff, "the last one");
}

static void
test_printable(void)
{
	static const struct {
		const char *text, *want;
		size_t size;
	} rows[] = { { "", "", 1 }, { "a~", "a~", 3 }, { "a~", "a", 2 },
		{ "\x1b[m", "\\x1b[m", 7 }, { "\x1b[m", "\\x1b[", 6 },
		{ "\x1b", "", 4 }, { "x\xc3\xa9", "x\\xc3\\xa9", 10 },
		{ "x\xc3\xa9", "x", 9 }, { "\x7f\xff", "\\x7f\\xff", 9 },
		/* bytes that are the rest of no character */
		{ "ab\x80\x80", "a", 9 }, { "\x80\x80", "", 5 } };
	struct {
		char before[8], text[16];
	} message = { "before", "" };
	char *const text = message.text;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		(void)snprintf(text, sizeof(message.text), "%s", rows[i].text);
		tel__printable(text, rows[i].size);
		is_str(message.before, "before", "nothing before it");
		is_str(text, rows[i].want, "row %zu in %zu bytes", i,
		    rows[i].size);
	}
	is_str(tel__path_end("folder/log", 5), "r/log", "the end of a path");
	is_str(tel__path_end("log", 5), "log", "a short one");
	is_str(tel__path_end("\xc3\xa9og", 10), "\xc3\xa9og", "that just fits");
	is_str(tel__path_end("\xc3\xa9og", 9), "og", "and that does not");
}

int
main(void)
{
	test_varints();
	test_characters();
	test_strings();
	test_printable();
	return done();
}
