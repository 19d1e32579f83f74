/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looking at records of ETS logs: whether one is as the writer makes them,
 * whether some follow each other, and how long a text is whose recorded length
 * is wrong.
 */
#include "format/ets/ets.h"

/* Records in a row that show that a text ends before them. */
#define RESYNC_MIN 3

/* Kernel pointers, in the place of the length of an empty text, are large. */
#define POINTER_MIN 0x10000u

/* A whole entry that was hardly made by anything else. */
static int
is_likely(const struct ets *h, const unsigned char *p, uint64_t clock)
{
	uint32_t text = tel_le32(p + ETS_AT_TEXT);
	uint64_t t = tel_le64(p);

	if (!ets_is_sane(p))
		return 0;
	if (text > ETS_TEXT_MAX && text < POINTER_MIN &&
	    (h == NULL || ets_find(h, p) == NULL))
		return 0;
	/* entries of SysInfo are made outside of the kernel */
	if (t == 0)
		return tel_le64(p + ETS_AT_INSTRUCTION) == 0 &&
		    tel_le16(p + ETS_AT_CPU) == 0;
	if (tel_le32(p + ETS_AT_INSTRUCTION) == 0)
		return 0;
	return clock == 0 || ets_is_near(t, clock);
}

int
tel__ets_may_be(const unsigned char *p)
{
	const unsigned provider = tel_le16(p + ETS_AT_PROVIDER);
	const int timeless = tel_le64(p) == 0;

	if (provider == 0 || timeless != (provider == ETS_SYSINFO) ||
	    tel_le16(p + ETS_AT_CPU) >= ETS_CPUS)
		return 0;
	return timeless ? tel_le64(p + ETS_AT_INSTRUCTION) == 0 :
	                  tel_le32(p + ETS_AT_INSTRUCTION) != 0;
}

int
tel__ets_chain(const struct ets *h, const unsigned char *p, size_t n, int eof,
    uint64_t clock, unsigned want, int anything)
{
	uint64_t t;

	for (unsigned got = 0; got < want; got++) {
		if (n == 0 && eof)
			return got > 0;
		if (n < ETS_ENTRY || !is_likely(h, p, clock))
			return 0;
		if (!anything && ets_find(h, p) == NULL)
			return 0;
		unsigned size = ETS_ENTRY + ets_text(p);
		if (size > n)
			return got + 1 == want;
		if ((t = tel_le64(p)) != 0)
			clock = t;
		p += size;
		n -= size;
	}
	return 1;
}

int
tel__ets_is_record(const struct ets *h, const unsigned char *p, size_t n,
    int eof, uint64_t clock)
{
	if (!ets_is_sane(p))
		return 0;
	if (ets_find(h, p) != NULL)
		return 1;
	/*
	 * Where a log is read from the wrong byte on, entries may look sane,
	 * but their clocks differ from all before, and what follows does not
	 * look like an entry.
	 */
	if (!is_likely(h, p, clock))
		return 0;
	size_t size = ETS_ENTRY + ets_text(p);
	if (size > n || n - size < ETS_ENTRY)
		return eof;
	if (!is_likely(h, p + size, clock))
		return 0;
	return ets_has_small_numbers(p) || ets_find(h, p + size) != NULL ||
	    tel__ets_chain(h, p, n, eof, clock, ETS_LONG_CHAIN, 1);
}

/*
 * Whether a record, or the end, is behind the first size bytes.  It
 * must be of a known type if no more than its entry is asked for.
 */
static int
ets_followed_by_valid(const struct ets *h, const unsigned char *p, size_t n,
    size_t size, int eof, uint64_t clock, enum ets_ask ask)
{
	if (size > n)
		return 0;
	if (n - size < ETS_ENTRY)
		/* the end, or one that is cut off: there is nothing to see */
		return eof;
	if (ask == ETS_ASK_NEXT)
		return ets_is_sane(p + size) && ets_find(h, p + size) != NULL;
	return tel__ets_is_record(h, p + size, n - size, eof, clock);
}

/* Nonzero when the n bytes at p are not what a name is made of. */
static int
has_control(const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] < ' ')
			return 1;
	return 0;
}

int
tel__ets_text_length(const struct ets *h, const unsigned char *p, size_t n,
    int eof, enum ets_ask ask)
{
	unsigned stated = ets_text(p), k;
	uint64_t clock = tel_le64(p) != 0 ? tel_le64(p) : h->clock;
	int good =
	    ets_followed_by_valid(h, p, n, ETS_ENTRY + stated, eof, clock, ask);

	/*
	 * MonNet gives a process without a name the text length of the one
	 * before it, and no text.  Names are of ASCII; a record in their place
	 * is not.
	 */
	if (ets_key_at(p) == ets_key(ETS_SYSINFO, 0, ETS_PROCESS_INFO) &&
	    (!good || has_control(p + ETS_ENTRY, stated)) &&
	    ((n == ETS_ENTRY && eof) ||
	        tel__ets_chain(h, p + ETS_ENTRY, n - ETS_ENTRY, eof, clock, 1,
	            1)))
		return 0;
	if (good)
		return (int)stated;
	if (ask == ETS_ASK_NEXT)
		return -1;
	for (k = 0; k <= ETS_TEXT_MAX && ETS_ENTRY + k < n; k++)
		if (tel__ets_chain(h, p + ETS_ENTRY + k, n - ETS_ENTRY - k, eof,
		        clock, RESYNC_MIN, 0))
			return (int)k;
	return -1;
}
