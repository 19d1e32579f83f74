/* SPDX-License-Identifier: BSD-2-Clause */
/* The page in front of rings, and words in the byte order of their program. */
#include <string.h>

#include "format/tel/rings.h"

/* Bounds of valid values. */
#define RINGS_MAX 4096u
#define RING_BYTES_MAX ((uint64_t)1 << 30)
#define NAMES_MAX ((uint64_t)1 << 28)

int
tel__rings_load(struct tel_reader *r, struct tel__buffer *b, uint64_t n)
{
	while (n > 0) {
		tel__reader_fill(r, 1);
		size_t piece = (size_t)(r->end - r->p);
		piece = piece < n ? piece : (size_t)n;
		if (piece == 0)
			return 0;
		if (b != NULL)
			tel__buffer_put(b, r->p, piece);
		tel_reader_step(r, piece);
		n -= piece;
	}
	return b == NULL || !b->failed;
}

void
tel__rings_read_page(struct tel__rings *s, const unsigned char *p)
{
	struct tel__emit_page *page = &s->page;
	uint32_t *const fours[] = { &page->version, &page->page_bytes,
		&page->names_bytes, &page->ring_count, &page->pid,
		&page->byte_order, &page->record, &page->clock,
		&page->rings_used, &page->word };
	uint64_t *const eights[] = { &page->ring_bytes, &page->ring_stride,
		&page->start_clock, &page->start_ns, &page->last_clock,
		&page->last_ns, &page->names_used };
	size_t i;

	memcpy(page, p, sizeof(*page));
	s->swapped = page->byte_order == 0x04030201;
	for (i = 0; s->swapped && i < sizeof(fours) / sizeof(fours[0]); i++)
		tel__swap4(fours[i]);
	for (i = 0; s->swapped && i < sizeof(eights) / sizeof(eights[0]); i++)
		tel__swap8(eights[i]);
}

struct tel__emit_ring
tel__rings_read_ring(const struct tel__rings *s, const unsigned char *p)
{
	struct tel__emit_ring ring;

	memcpy(&ring, p, sizeof(ring));
	if (!s->swapped)
		return ring;
	tel__swap8(&ring.head);
	tel__swap4(&ring.thread);
	tel__swap4(&ring.claim);
	tel__swap8(&ring.start);
	tel__swap8(&ring.events);
	for (unsigned i = 0; i < TEL__RING_MARKS; i++)
		tel__swap8(&ring.marks[i]);
	return ring;
}

uint64_t
tel__rings_read8(const struct tel__rings *s, const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return s->swapped ? __builtin_bswap64(v) : v;
}

void
tel__rings_put_head(const struct tel__rings *s, unsigned char *to,
    uint32_t thread)
{
	uint64_t word = (uint64_t)thread << 32;

	if (s->swapped)
		tel__swap8(&word);
	memset(to, 0, 8);
	memcpy(to + 8, &word, 8);
}

int
tel__rings_check_page(const struct tel__emit_page *p)
{
	return p->version == 1 && p->byte_order == 0x01020304 &&
	    p->page_bytes == TEL__EMIT_PAGE_BYTES &&
	    p->names_bytes <= NAMES_MAX && p->names_used <= p->names_bytes &&
	    p->ring_count <= RINGS_MAX && p->ring_bytes >= 65536 &&
	    p->ring_bytes <= RING_BYTES_MAX &&
	    (p->ring_bytes & (p->ring_bytes - 1)) == 0 &&
	    p->ring_stride >=
	    p->ring_bytes + TEL__RING_HEADER + TEL_EMIT_EVENT_MAX &&
	    p->ring_stride <= 2 * RING_BYTES_MAX &&
	    (p->word == 4 || p->word == 8) &&
	    memchr(p->schema, '\0', sizeof(p->schema)) != NULL &&
	    memchr(p->schema_version, '\0', sizeof(p->schema_version)) != NULL;
}

tel_status
tel__rings_look(struct tel_reader *r, struct tel__rings *s)
{
	const size_t before = TEL__EMIT_PAGE_BYTES;

	tel__reader_fill(r, before);
	size_t n = (size_t)(r->end - r->p);
	if (n >= before)
		tel__rings_read_page(s, r->p);
	if (n < before || !tel__rings_check_page(&s->page))
		return tel__reader_fail(r, TEL_EFORMAT,
		    "the rings of libtel-emit are of another version, or "
		    "damaged");
	n = TEL_PEEK_MAX - before;
	n = s->page.names_used < n ? (size_t)s->page.names_used : n;
	tel__reader_fill(r, before + n);
	if ((size_t)(r->end - r->p) < before + n)
		n = (size_t)(r->end - r->p) - before;
	tel__buffer_put(&s->names, r->p + before, n);
	return s->names.failed ? TEL_ENOMEM : TEL_OK;
}

tel_status
tel__rings_load_page(struct tel_reader *r, struct tel__rings *s)
{
	s->names.used = 0;
	if (tel__rings_load(r, NULL, TEL__EMIT_PAGE_BYTES) &&
	    tel__rings_load(r, &s->names, s->page.names_used) &&
	    tel__rings_load(r, NULL, s->page.names_bytes - s->page.names_used))
		return TEL_OK;
	return s->names.failed ?
	    TEL_ENOMEM :
	    tel__reader_damage(r, r->offset, 0,
	        "the rings are truncated inside their names");
}
