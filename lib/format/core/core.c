/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading an ELF core: its segments, and the rings of libtel-emit
 * in them.  elf(5) has the layout.
 */
#include "format/core/core.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/bytes.h"
#include "io/source.h"
#include "io/spool.h"
#include "tel_emit.h"

#define RINGS_BYTES_MAX ((uint64_t)1 << 32)
/* Logs that are taken out of one core. */
#define LOGS_MAX 16u

int
tel__core_probe(const unsigned char *p, size_t size)
{
	return size >= 20 && memcmp(p, "\177ELF", 4) == 0 &&
	    (p[5] == 1 ? tel_le16(p + 16) : tel_be16(p + 16)) == 4;
}

/* --------------------------------------------------------------- reading */

/* Whether the core has all of n bytes of memory in one segment. */
static int
core_has(const struct core *c, uint64_t address, uint64_t n)
{
	for (unsigned i = 0; i < c->count; i++) {
		const struct core_segment *s = &c->segments[i];

		if (address >= s->address && address - s->address < s->size &&
		    n <= s->size - (address - s->address))
			return 1;
	}
	return 0;
}

int
tel__core_read(struct core *c, uint64_t address, void *to, size_t n)
{
	unsigned char *p = to;
	const struct core_segment *s;
	unsigned i;

	while (n > 0) {
		for (i = 0; i < c->count; i++) {
			s = &c->segments[i];
			if (address >= s->address &&
			    address - s->address < s->size)
				break;
		}
		/* nor may many small segments take long */
		if (i == c->count || c->budget < i / 16)
			return 0;
		c->budget -= i / 16;
		uint64_t piece = s->size - (address - s->address);
		piece = piece < n ? piece : n;
		if (!tel__input_copy(c->in, s->offset + (address - s->address),
		        p, (size_t)piece))
			return 0;
		p += piece;
		address += piece;
		n -= (size_t)piece;
	}
	return 1;
}

/* Offsets of members in the headers of ELF files; elf(5). */
static const struct layout {
	unsigned table, entry_size; /* in the header of the file */
	unsigned entry;             /* the size of a segment's header */
	unsigned offset, address, bytes, flags; /* in it */
} layouts[2] = {
	{ 28, 42, 32, 4, 8, 16, 24 },
	{ 32, 54, 56, 8, 16, 32, 4 },
};

/* Reads the table of segments.  TEL_OK, TEL_EFORMAT, TEL_ENOMEM. */
static tel_status
read_segments(struct core *c, const char **error)
{
	const int64_t length = tel__input_seek(c->in, 0, SEEK_END);
	unsigned char header[64], entry[56];

	*error = "a damaged core";
	c->length = length > 0 ? (uint64_t)length : 0;
	c->budget = 4 * c->length;
	if (!tel__input_copy(c->in, 0, header, sizeof(header)))
		return TEL_EFORMAT;
	c->big = header[5] == 2;
	c->word = header[4] == 1 ? 4 : 8;
	const struct layout *l = &layouts[c->word == 8];
	/* i386 aligns 8 bytes to 4 */
	c->header = core_load(c, header + 18, 2) == 3 ? 12 : 16;
	uint64_t table = core_word(c, header + l->table);
	unsigned size = (unsigned)core_load(c, header + l->entry_size, 2);
	unsigned n = (unsigned)core_load(c, header + l->entry_size + 2, 2);
	if (size < l->entry)
		return TEL_EFORMAT;
	c->segments = calloc(n + 1u, sizeof(*c->segments));
	if (c->segments == NULL)
		return TEL_ENOMEM;
	for (unsigned i = 0; i < n; i++) {
		if (table > INT64_MAX - (uint64_t)n * size ||
		    !tel__input_copy(c->in, table + (uint64_t)i * size, entry,
		        l->entry))
			return TEL_EFORMAT;
		uint64_t offset = core_word(c, entry + l->offset);
		uint64_t bytes = core_word(c, entry + l->bytes);
		if (core_load(c, entry, 4) == 4) {
			c->notes = offset;
			c->notes_size = bytes;
		}
		if (core_load(c, entry, 4) != 1 || bytes == 0 ||
		    offset >= c->length)
			continue;
		struct core_segment *s = &c->segments[c->count++];
		s->writable = (core_load(c, entry + l->flags, 4) & 2) != 0;
		s->offset = offset;
		s->address = core_word(c, entry + l->address);
		/* a core may be cut */
		s->size =
		    bytes < c->length - offset ? bytes : c->length - offset;
	}
	return TEL_OK;
}

/* --------------------------------------------------------------- archive */

/* An archive that is written, as tar(5) has it. */
struct archive {
	int fd;
	unsigned members;
	int failed; /* an errno */
};

/* Starts a member of size bytes. */
static void
add_member(struct archive *a, const char *name, uint64_t size)
{
	unsigned char header[512] = { 0 };
	unsigned sum = 8 * ' ';

	snprintf((char *)header, 100, "%s", name);
	memcpy(header + 100, "0000600", 7);
	memcpy(header + 108, "0000000", 7);
	memcpy(header + 116, "0000000", 7);
	snprintf((char *)header + 124, 12, "%011llo", (unsigned long long)size);
	memcpy(header + 136, "00000000000", 11);
	memset(header + 148, ' ', 8);
	header[156] = '0';
	memcpy(header + 257, "ustar\00000", 8);
	for (size_t i = 0; i < sizeof(header); i++)
		sum += i < 148 || i >= 156 ? header[i] : 0u;
	snprintf((char *)header + 148, 7, "%06o", sum);
	header[155] = ' ';
	if (a->failed == 0)
		a->failed = tel__spool_write(a->fd, header, sizeof(header));
	a->members++;
}

static void
core_add_bytes(struct archive *a, const void *p, size_t n)
{
	if (a->failed == 0)
		a->failed = tel__spool_write(a->fd, p, n);
}

/* Fills up to a whole block behind a member of size bytes. */
static void
end_member(struct archive *a, uint64_t size)
{
	static const unsigned char zeros[512];

	core_add_bytes(a, zeros, (size_t)(-size & 511));
}

/* ----------------------------------------------------------------- rings */

/* Copies memory into the archive; what the core lacks is zeros. */
static void
copy_memory(struct archive *a, struct core *c, uint64_t address, uint64_t size)
{
	unsigned char piece[4096];
	size_t n;

	for (; size > 0; size -= n, address += n) {
		n = size < sizeof(piece) ? (size_t)size : sizeof(piece);
		memset(piece, 0, sizeof(piece));
		(void)tel__core_read(c, address, piece, n);
		core_add_bytes(a, piece, n);
	}
}

/* A member of the page of rings, as the machine has it. */
#define FIELD(c, page, member) \
	core_load((c), (page) + offsetof(struct tel__emit_page, member), \
	    sizeof(((struct tel__emit_page *)NULL)->member))

/* Adds the rings whose page is at address, if it is one. */
static void
add_rings(struct archive *a, struct core *c, uint64_t address)
{
	unsigned char page[sizeof(struct tel__emit_page)];
	char name[64];

	if (!tel__core_read(c, address, page, sizeof(page)) ||
	    FIELD(c, page, version) != 1 ||
	    FIELD(c, page, byte_order) != 0x01020304 ||
	    FIELD(c, page, page_bytes) != TEL__EMIT_PAGE_BYTES)
		return;
	uint64_t count = FIELD(c, page, ring_count);
	uint64_t bytes = FIELD(c, page, rings_used);
	bytes = bytes < count ? bytes : count;
	uint64_t stride = FIELD(c, page, ring_stride);
	uint64_t region = FIELD(c, page, region);
	if (stride > RINGS_BYTES_MAX ||
	    __builtin_mul_overflow(bytes, stride, &bytes) ||
	    __builtin_add_overflow(bytes, FIELD(c, page, names_bytes),
	        &bytes) ||
	    bytes > RINGS_BYTES_MAX ||
	    /* those in a file are not in the core */
	    !core_has(c, region, bytes))
		return;
	snprintf(name, sizeof(name), "rings-%lu",
	    (unsigned long)FIELD(c, page, pid));
	add_member(a, name, TEL__EMIT_PAGE_BYTES + bytes);
	copy_memory(a, c, address, TEL__EMIT_PAGE_BYTES);
	copy_memory(a, c, region, bytes);
	end_member(a, TEL__EMIT_PAGE_BYTES + bytes);
}

/* Looks for pages of rings: the start of some page of memory. */
static void
find_rings(struct archive *a, struct core *c)
{
	char start[8];

	for (unsigned i = 0; i < c->count; i++) {
		const struct core_segment *s = &c->segments[i];

		for (uint64_t at = -s->address & 4095;
		     s->writable && at < s->size && a->members < LOGS_MAX;
		     at += 4096) {
			if (c->budget < 4096)
				return;
			c->budget -= 4096;
			if (tel__input_copy(c->in, s->offset + at, start, 8) &&
			    memcmp(start, "\361telring", 8) == 0)
				add_rings(a, c, s->address + at);
		}
	}
}

/* ------------------------------------------------------------------- all */

static tel_status
extract(struct core *c, const char *exe, struct archive *a, const char **error)
{
	static const unsigned char zeros[1024];
	struct tel__buffer events = { NULL, 0, 0, 0 };
	tel_status st = read_segments(c, error);

	if (st != TEL_OK)
		return st;
	find_rings(a, c);
	c->budget = 4 * c->length;
	int found = tel__core_mps(c, exe, &events);
	if (found > 0) {
		add_member(a, "EventBuffer", events.used);
		core_add_bytes(a, events.bytes, events.used);
		end_member(a, events.used);
	}
	tel__buffer_clear(&events);
	core_add_bytes(a, zeros, sizeof(zeros));
	if (found < 0)
		return TEL_ENOMEM;
	*error = "a core without rings of libtel-emit, and without event "
	         "buffers of an MPS";
	return a->members > 0 ? TEL_OK : TEL_EFORMAT;
}

tel_status
tel__core_extract(struct tel_input *in, const char *exe, int *fd,
    const char **error)
{
	struct core c = { .in = in };
	struct archive a = { tel__spool_file(), 0, 0 };
	struct tel_input *copy = NULL;
	int spool = -1, failed = 0;
	tel_status st = TEL_OK;

	*error = "cannot write a temporary file";
	if (a.fd < 0)
		return TEL_EIO;
	/* what cannot be sought in goes through a file */
	if (tel__input_seek(in, 0, SEEK_SET) < 0) {
		spool = tel__spool_file();
		if (spool < 0)
			st = TEL_EIO;
		if (st == TEL_OK)
			(void)tel__spool_copy(in, spool, &failed);
		if (st == TEL_OK && failed != 0)
			st = TEL_EIO;
		if (st == TEL_OK)
			st = tel__input_fd(spool, 1, TEL_PEEK_MAX, &copy);
		c.in = copy;
	}
	if (st == TEL_OK)
		st = extract(&c, exe, &a, error);
	if (st == TEL_OK && (a.failed != 0 || lseek(a.fd, 0, SEEK_SET) != 0)) {
		*error = "cannot write a temporary file";
		st = TEL_EIO;
	}
	free(c.segments);
	tel__input_free(copy);
	if (st == TEL_OK)
		*fd = a.fd;
	else
		close(a.fd);
	return st;
}
