/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Detection: how bytes are packed, by what they begin with.
 *
 * A live pipe may say little for long, so no more is waited for than what
 * could still turn out to be something: a log that is not packed is known by
 * its first bytes.  A tar archive is the one that takes long to tell, 512
 * bytes; its first hundred hold a name with NULs after it, which neither an
 * MPS stream (NULs among other bytes from the second on) nor text (a line
 * end) looks like.  The result never depends on how the bytes came in.
 */
#include <string.h>

#include "io/source.h"
#include "base/bytes.h"

struct magic {
	enum tel_packing packing;
	unsigned length;
	char bytes[8];
};

static const struct magic magics[] = {
	{ TEL_GZIP, 3, "\x1f\x8b\x08" },
	{ TEL_XZ, 6, "\xfd\x37zXZ" }, /* and a NUL */
	{ TEL_LZ4, 4, "\x04\x22\x4d\x18" },
	{ TEL_ZSTD, 4, "\x28\xb5\x2f\xfd" },
	{ TEL_ZIP, 4, "PK\3\4" },
	{ TEL_ZIP, 4, "PK\5\6" }, /* no members */
	{ TEL_7ZIP, 6, "7z\xbc\xaf\x27\x1c" },
};

enum { NMAGICS = sizeof(magics) / sizeof(magics[0]) };

/* The result of a test of the first n bytes. */
enum verdict { NO, MAYBE, YES };

static enum verdict
test_bytes(const unsigned char *p, size_t n, const void *want, size_t length)
{
	if (memcmp(p, want, n < length ? n : length) != 0)
		return NO;
	return n < length ? MAYBE : YES;
}

/* "BZh", a level, and the start of a block or of the end. */
static enum verdict
test_bzip2(const unsigned char *p, size_t n)
{
	enum verdict block, end;

	if (n < 4)
		return test_bytes(p, n, "BZh", 3) == NO ? NO : MAYBE;
	if (memcmp(p, "BZh", 3) != 0 || p[3] < '1' || p[3] > '9')
		return NO;
	block = test_bytes(p + 4, n - 4, "\x31\x41\x59\x26\x53\x59", 6);
	end = test_bytes(p + 4, n - 4, "\x17\x72\x45\x38\x50\x90", 6);
	return block > end ? block : end;
}

/* A skippable frame: the magic 0x184D2A50 to 5F. */
static enum verdict
test_skippable(const unsigned char *p, size_t n)
{
	if ((p[0] & 0xf0) != 0x50)
		return NO;
	return test_bytes(p + 1, n - 1, "\x2a\x4d\x18", 3);
}

/*
 * Two bytes are few to go by, and six digits may begin a line of text, so
 * what follows them is looked at: in the old binary header the file's type
 * and the length of its name, in the others octal or hexadecimal digits.
 */
static enum verdict
test_cpio(const unsigned char *p, size_t n)
{
	enum { HEADER = 26, DIGITS = 6 };
	enum verdict text = test_bytes(p, n, "07070", 5);

	if (text == YES && n > 5)
		text = p[5] == '1' || p[5] == '2' || p[5] == '7' ? YES : NO;
	if (text != NO) {
		for (size_t i = DIGITS; i < n && i < HEADER; i++) {
			if (memchr("0123456789abcdefABCDEF", p[i], 22) == NULL)
				return NO;
		}
		return n < HEADER ? MAYBE : YES;
	}
	enum verdict binary = test_bytes(p, n, "\xc7\x71", 2);
	enum verdict swapped = test_bytes(p, n, "\x71\xc7", 2);
	if (binary == NO && swapped == NO)
		return NO;
	if (n < HEADER)
		return MAYBE;
	unsigned mode = binary == YES ? tel_le16(p + 6) : tel_be16(p + 6);
	unsigned length = binary == YES ? tel_le16(p + 20) : tel_be16(p + 20);
	return mode >> 12 != 0 && mode >> 12 < 15 && length >= 2 &&
	        length <= 1024 ?
	    YES :
	    NO;
}

/* The header's checksum, with its own field taken as blanks. */
static int
good_tar_sum(const unsigned char *p)
{
	enum { SUM = 148, SUM_END = 156, SIZE = 512 };
	long stated = 0, plain = 0, with_sign = 0;
	unsigned i, digits = 0;

	for (i = 0; i < SIZE; i++) {
		unsigned char c = i >= SUM && i < SUM_END ? ' ' : p[i];

		plain += c;
		/* some old writers summed signed bytes */
		with_sign += c < 0x80 ? c : (long)c - 0x100;
	}
	for (i = SUM; i < SUM_END && p[i] == ' '; i++)
		continue;
	for (; i < SUM_END && p[i] >= '0' && p[i] <= '7'; i++) {
		stated = stated * 8 + (p[i] - '0');
		digits++;
	}
	return digits > 0 && (stated == plain || stated == with_sign);
}

/* A name without control characters, NULs, then a mode in octal. */
static enum verdict
test_tar(const unsigned char *p, size_t n)
{
	enum { NAME_END = 100, MODE_END = 108, MAGIC = 257, SIZE = 512 };
	size_t i;
	int ended = 0;

	for (i = 0; i < n && i < NAME_END; i++) {
		if (p[i] == '\0')
			ended = 1;
		else if (ended || p[i] < 0x20 || p[i] == 0x7f)
			return NO;
	}
	if (p[0] == '\0')
		return NO;
	for (; i < n && i < MODE_END; i++) {
		if (memchr("01234567 ", p[i], 10) == NULL) /* or its NUL */
			return NO;
	}
	if (n < SIZE)
		return MAYBE;
	return memcmp(p + MAGIC, "ustar", 5) == 0 || good_tar_sum(p) ? YES : NO;
}

/*
 * Tells from n bytes, at least one.  NO: it is plain.  MAYBE: it takes more.
 * YES: *packing is set.
 */
static enum verdict
io_detect_classify(const unsigned char *p, size_t n, unsigned which,
    enum tel_packing *packing)
{
	enum verdict best = NO, v[4] = { NO, NO, NO, NO };
	static const enum tel_packing packings[4] = { TEL_BZIP2, TEL_ZSTD,
		TEL_CPIO, TEL_TAR };
	enum verdict w;

	for (size_t i = 0; i < NMAGICS; i++) {
		if (!(which &
		        (magics[i].packing < TEL_TAR ? TEL_CODECS :
		                                       TEL_ARCHIVES)))
			continue;
		w = test_bytes(p, n, magics[i].bytes, magics[i].length);
		if (w == YES)
			*packing = magics[i].packing;
		best = w > best ? w : best;
	}
	if (which & TEL_CODECS) {
		v[0] = test_bzip2(p, n);
		v[1] = test_skippable(p, n);
	}
	if (which & TEL_ARCHIVES) {
		v[2] = test_cpio(p, n);
		v[3] = test_tar(p, n);
	}
	for (size_t i = 0; i < 4; i++) {
		if (v[i] == YES && best != YES)
			*packing = packings[i];
		best = v[i] > best ? v[i] : best;
	}
	return best;
}

enum tel_packing
tel__input_detect(struct tel_input *in, unsigned which)
{
	enum tel_packing packing = TEL_PLAIN;
	const unsigned char *data;
	size_t avail, want = 1;
	tel_status st;

	do {
		st = tel__input_peek(in, want, &data, &avail);
		if (avail < want)
			break;
		want = avail + 1;
	} while (io_detect_classify(data, avail, which, &packing) == MAYBE &&
	    st == TEL_OK);
	return packing;
}
