/* SPDX-License-Identifier: BSD-2-Clause */
/* A page as it is put together: as much of a log as fits into its size. */
#include "print/html.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/varint.h"
#include "io/gzip.h"

/* Bytes of the series of a block. */
#define SERIES_BYTES ((size_t)256 << 10)
/* What sums may take of the room, in percent, and the longest ranges. */
#define SUMS_SHARE 40
#define LONGEST_SHARE 10
#define LINKS_SHARE 5
#define HOLDERS_SHARE 25
/* What may be wrong with a guess of what a block becomes, in percent. */
#define GUESS_SHARE 102
/* Bytes of the head for each block and its gap. */
#define BLOCK_HEAD 56

/* ----------------------------------------------------------------- sums */

/* Forgets the blocks with sums. */
static void
clear_sums(struct page_fit *d)
{
	for (size_t i = 0; i < d->nsums; i++)
		tel__buffer_clear(&d->sums[i]);
	d->nsums = d->nplaces = 0;
	d->sums_size = 0;
}

/* Makes a block of bytes, which are emptied. */
static int
add_sums(struct page_fit *d, struct tel__buffer *bytes)
{
	if (!TEL__RESERVE_ZEROED(d->sums, d->sums_room, d->nsums + 1))
		return 0;
	memset(&d->sums[d->nsums], 0, sizeof(d->sums[0]));
	int good = !bytes->failed &&
	    tel__gzip_put(&d->sums[d->nsums], bytes->bytes, bytes->used,
	        d->gzip_level);
	d->sums_size += tel__page_block_size(d->nsums, d->sums[d->nsums].used);
	d->nsums++;
	bytes->used = 0;
	return good;
}

/* Makes blocks of all series, 2^level buckets being one. */
static int
make_sums(struct page_fit *d)
{
	const struct time_buckets *p = &d->html->sums;
	struct tel__buffer bytes = { 0 };
	int good = 1;

	clear_sums(d);
	for (size_t i = 0; i < p->nseries && good; i++) {
		good = TEL__RESERVE(d->places, d->places_room, d->nplaces + 1);
		if (!good)
			break;
		struct html_place *place = &d->places[d->nplaces++];
		place->series = i;
		place->block = d->nsums;
		place->offset = bytes.used;
		place->count = tel__buckets_put(p, i, d->level, &bytes);
		if (bytes.used >= SERIES_BYTES)
			good = add_sums(d, &bytes);
	}
	if (good && bytes.used > 0)
		good = add_sums(d, &bytes);
	tel__buffer_clear(&bytes);
	return good;
}

/* Makes blocks of sums that take at most room, with wider buckets if need be. */
static int
fit_sums(struct page_fit *d, uint64_t room)
{
	for (;; d->level++) {
		if (!make_sums(d))
			return 0;
		/* twice as wide, they have half the size at least */
		while (d->sums_size / 2 > room && d->level < 15) {
			d->level++;
			d->sums_size /= 2;
		}
		if (d->sums_size <= room || d->level >= 16)
			return 1;
	}
}

/* --------------------------------------------------------- exact blocks */

/* Nonzero when the block with that number is used. */
static int
fit_is_used(void *arg, uint64_t number)
{
	const struct page_fit *d = arg;
	size_t low = 0, high = d->use, i;

	TEL__BISECT(low, high, i, html_used_block(d, i)->number < number);
	return low < d->use && html_used_block(d, low)->number == number;
}

/* Bytes that exact block i of those that are used adds, or nearly so. */
static uint64_t
guess_size(const struct page_fit *d, size_t i)
{
	const struct sample_block *b = html_used_block(d, i);
	double size = (double)b->size;

	if (!b->packed)
		size *= d->html->samples.ratio * GUESS_SHARE / 100;
	return tel__page_block_size(d->nsums + i, (size_t)size);
}

static uint64_t
blocks_size(const struct page_fit *d)
{
	uint64_t size = d->sums_size;
	size_t i;

	for (i = 0; i < d->use; i++)
		size += guess_size(d, i);
	if (d->longest.bytes != NULL)
		size += tel__page_block_size(d->nsums + i, d->longest.size);
	if (d->links.used > 0)
		size += tel__page_block_size(d->nsums + i, d->links.used);
	if (d->holders.used > 0)
		size += tel__page_block_size(d->nsums + i, d->holders.used);
	return size;
}

/* Uses as many exact blocks as seem to fit into room. */
static void
fit_choose(struct page_fit *d, uint64_t room)
{
	size_t low = 0, high = d->all;

	d->use = d->all;
	if (blocks_size(d) <= room)
		return;
	/* sizes differ little, so it is nearly monotonic */
	while (low < high) {
		d->use = low + (high - low + 1) / 2;
		if (blocks_size(d) <= room)
			low = d->use;
		else
			high = d->use - 1;
	}
	d->use = low;
}

/* Packs the blocks that are used.  1; 0: no memory. */
static int
fit_pack(struct page_fit *d)
{
	struct event_samples *x = &d->html->samples;
	struct sample_block *b;

	for (size_t i = 0; i < d->use; i++) {
		size_t at = i * d->all / d->use;

		b = at < x->nblocks ? &x->blocks[at] : &d->rest;
		if (!tel__samples_pack(b, d->gzip_level))
			return 0;
	}
	return 1;
}

/* Uses as many exact blocks as fit into room, and packs them. */
static int
choose_packed(struct page_fit *d, uint64_t room)
{
	for (;;) {
		fit_choose(d, room);
		if (!fit_pack(d))
			return 0;
		if (d->use == 0 || blocks_size(d) <= room)
			return 1;
	}
}

/* Makes the block with the longest ranges, of those that are not elsewhere. */
static int
make_longest(struct page_fit *d, uint64_t room)
{
	struct event_samples *x = &d->html->samples;
	size_t n = x->nlongest;

	for (;; n /= 2) {
		free(d->longest.bytes);
		memset(&d->longest, 0, sizeof(d->longest));
		if (n == 0 ||
		    !tel__samples_longest(x, n, fit_is_used, d, &d->longest))
			return !x->no_memory;
		if (!tel__samples_pack(&d->longest, d->gzip_level))
			return 0;
		if (tel__page_block_size(0, d->longest.size) <= room)
			return 1;
	}
}

/* Makes the block of the links, of those that room is for. */
static int
make_links(struct page_fit *d, uint64_t room)
{
	const struct html *h = d->html;
	struct tel__buffer b = { 0 };
	uint64_t before = 0;

	if (h->nlinks == 0)
		return 1;
	for (size_t i = 0; i < h->nlinks; before = h->links[i++].from)
		tel__buffer_put_varint(&b,
		    tel__zigzag(h->links[i].from - before));
	for (size_t i = 0; i < h->nlinks; i++)
		tel__buffer_put_varint(&b, h->links[i].source);
	for (size_t i = 0; i < h->nlinks; i++)
		tel__buffer_put_varint(&b,
		    tel__zigzag(h->links[i].to - h->links[i].from));
	for (size_t i = 0; i < h->nlinks; i++)
		tel__buffer_put_varint(&b, h->links[i].target);
	for (size_t i = 0; i < h->nlinks; i++)
		tel__buffer_put_varint(&b, h->links[i].type);
	int good =
	    !b.failed && tel__gzip_put(&d->links, b.bytes, b.used, PAGE_LEVEL);
	tel__buffer_clear(&b);
	if (tel__page_block_size(0, d->links.used) > room)
		tel__buffer_clear(&d->links);
	return good;
}

/* Makes the block of holders, without their moments if that is too large. */
static int
make_holders(struct page_fit *d, uint64_t room)
{
	struct holders *h = &d->html->holders;
	struct tel__buffer b = { 0 };
	int good = 1, moments = 1;

	if (h->heap == NULL || h->ended || tel_heap_count(h->heap) == 0)
		return 1;
	for (; good && moments >= 0; moments--) {
		b.used = 0;
		tel__buffer_clear(&d->holders);
		good = tel__holders_put(h, d->html->last, moments, &b) &&
		    tel__gzip_put(&d->holders, b.bytes, b.used, PAGE_LEVEL);
		if (tel__page_block_size(0, d->holders.used) <= room)
			break;
	}
	if (moments < 0)
		tel__buffer_clear(&d->holders);
	tel__buffer_clear(&b);
	return good;
}

/* ----------------------------------------------------------------- page */

/* Fills room with exact blocks and the longest ranges that are in none. */
static int
fit_fill(struct page_fit *d, uint64_t all, uint64_t room)
{
	free(d->longest.bytes);
	memset(&d->longest, 0, sizeof(d->longest));
	fit_choose(d, room);
	if (!make_longest(d, all * LONGEST_SHARE / 100))
		return 0;
	uint64_t longest = d->longest.bytes == NULL ?
	    0 :
	    tel__page_block_size(d->nsums, d->longest.size);
	/* other blocks may be used then, and other ranges be in them */
	return choose_packed(d, room) && make_longest(d, longest);
}

/* Makes the head of what was chosen; gz: packed.  1; 0: no memory. */
static int
pack_head(const struct page_fit *d, struct tel__buffer *gz)
{
	struct tel__buffer head = { 0 };

	gz->used = 0;
	tel__html_head(d, &head);
	int good = !head.failed &&
	    tel__gzip_put(gz, head.bytes, head.used, PAGE_LEVEL);
	tel__buffer_clear(&head);
	return good;
}

/* How well to pack: much data would take long. */
static int
level_for(const struct page_fit *d)
{
	const struct event_samples *x = &d->html->samples;
	size_t i, size = d->html->sums.bytes / 2;

	for (i = 0; i < x->nblocks; i++)
		size += x->blocks[i].plain;
	return size < PAGE_MUCH ? PAGE_LEVEL : PAGE_LEVEL_FAST;
}

int
tel__html_draft(struct page_fit *d, struct tel__buffer *gz)
{
	static const size_t name_bytes[] = { 512, 64, 24, 8, 0 };
	const uint64_t fixed = tel__page_size(d->title, 0);
	unsigned i = 0;

	if (fixed + 1024 > d->most)
		return -1;
	uint64_t room = d->most - fixed;
	d->gzip_level = level_for(d);
	d->name_bytes = name_bytes[i];
	if (!make_holders(d, room * HOLDERS_SHARE / 100) ||
	    !make_links(d, room * LINKS_SHARE / 100) ||
	    !fit_sums(d, room * SUMS_SHARE / 100) || !pack_head(d, gz))
		return 0;
	uint64_t slack = 512 + (uint64_t)gz->used * 3 / 2 + BLOCK_HEAD * d->all;
	for (;;) {
		if (!fit_fill(d, room, room > slack ? room - slack : 0) ||
		    !pack_head(d, gz))
			return 0;
		if (tel__page_size(d->title, gz->used) + blocks_size(d) <=
		    d->most)
			return 1;
		/* the head needs more room than was left for it */
		if (gz->used * 4 / 3 + 64 > room / 4 &&
		    i + 1 < sizeof(name_bytes) / sizeof(name_bytes[0]))
			d->name_bytes = name_bytes[++i];
		else if (slack >= room)
			return -1;
		slack = slack * 2 > (uint64_t)gz->used * 3 / 2 ?
		    slack * 2 :
		    (uint64_t)gz->used * 3 / 2;
	}
}

/* Writes the blocks in the order of their numbers. */
tel_status
tel__html_write(struct page_fit *d, struct tel_output *out,
    const struct tel__buffer *gz)
{
	struct page_block *blocks;
	size_t i, n = 0;

	blocks = malloc((d->nsums + d->use + 4) * sizeof(*blocks));
	if (blocks == NULL)
		return TEL_ENOMEM;
	for (i = 0; i < d->nsums; i++, n++) {
		blocks[n].bytes = d->sums[i].bytes;
		blocks[n].size = d->sums[i].used;
	}
	for (i = 0; i < d->use; i++, n++) {
		blocks[n].bytes = html_used_block(d, i)->bytes;
		blocks[n].size = html_used_block(d, i)->size;
	}
	if (d->longest.bytes != NULL) {
		blocks[n].bytes = d->longest.bytes;
		blocks[n++].size = d->longest.size;
	}
	if (d->links.used > 0) {
		blocks[n].bytes = d->links.bytes;
		blocks[n++].size = d->links.used;
	}
	if (d->holders.used > 0) {
		blocks[n].bytes = d->holders.bytes;
		blocks[n++].size = d->holders.used;
	}
	tel__page_write(out, d->title, gz, blocks, n);
	free(blocks);
	return out->status;
}

void
tel__html_draft_free(struct page_fit *d)
{
	clear_sums(d);
	free(d->sums);
	free(d->places);
	free(d->longest.bytes);
	free(d->rest.bytes);
	tel__buffer_clear(&d->links);
	tel__buffer_clear(&d->holders);
}
