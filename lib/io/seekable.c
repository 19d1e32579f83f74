/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading tables of frames.  They are found from the end of the file, and
 * must account for every byte of it: one that contradicts the file is ignored.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/bytes.h"
#include "io/seekable.h"
#include "io/source.h"

/* Limits of tables: frames for 1 TB by 1 MB, and files one behind another. */
#define FRAMES_MAX ((size_t)1 << 20)
#define TABLES_MAX 4096
/* No frame is shorter: magic, header, a block. */
#define FRAME_MIN 8

struct table {
	uint64_t entries; /* where they are in the file */
	uint64_t frames;  /* where the first frame is */
	uint64_t end;     /* behind the table */
	uint32_t count;
	uint32_t entry; /* bytes of each */
};

/* Looks for a table that ends at end.  Returns 1 and fills t, or 0. */
static int
find_table(const struct tel_input *in, uint64_t end, struct table *t)
{
	unsigned char foot[SEEK_FOOT], head[SEEK_HEAD];

	if (end < SEEK_HEAD + SEEK_FOOT ||
	    !tel__input_read_at(in, end - SEEK_FOOT, foot, SEEK_FOOT) ||
	    tel_le32(foot + 5) != SEEK_MAGIC || (foot[4] & SEEK_RESERVED) != 0)
		return 0;
	t->count = tel_le32(foot);
	t->entry = foot[4] & SEEK_HAS_CHECKSUMS ? SEEK_ENTRY + SEEK_CHECKSUM :
	                                          SEEK_ENTRY;
	t->end = end;
	if (t->count == 0 || t->count > FRAMES_MAX)
		return 0;
	uint64_t size = (uint64_t)t->count * t->entry + SEEK_FOOT;
	if (end < size + SEEK_HEAD)
		return 0;
	t->entries = end - size;
	return tel__input_read_at(in, t->entries - SEEK_HEAD, head,
	           SEEK_HEAD) &&
	    tel_le32(head) == SEEK_FRAME_MAGIC && tel_le32(head + 4) == size;
}

/*
 * Reads the entries of t into frame[0] to frame[count], counted from where
 * the first of them is, which is found that way.  Returns 1, or 0.
 */
static int
read_entries(const struct tel_input *in, struct table *t,
    struct tel_frame *frame)
{
	unsigned char bytes[4096 * (SEEK_ENTRY + SEEK_CHECKSUM)];
	uint64_t at = t->entries, raw = 0, content = 0;
	const unsigned char *p = bytes;
	size_t left = 0;
	uint32_t i;

	for (i = 0; i < t->count; i++) {
		if (left == 0) {
			left = t->count - i < 4096 ? t->count - i : 4096;
			if (!tel__input_read_at(in, at, bytes, left * t->entry))
				return 0;
			at += left * t->entry;
			p = bytes;
		}
		if (tel_le32(p) < FRAME_MIN)
			return 0;
		frame[i].raw = raw;
		frame[i].content = content;
		raw += tel_le32(p);
		content += tel_le32(p + 4);
		p += t->entry;
		left--;
	}
	frame[i].raw = raw;
	frame[i].content = content;
	if (raw > t->entries - SEEK_HEAD)
		return 0;
	t->frames = t->entries - SEEK_HEAD - raw;
	return 1;
}

/* What was gathered of a file so far, from its end. */
struct gather {
	struct table *tables;
	size_t ntables, table_room;
	struct tel_frame *frames; /* those of the last table first */
	size_t nframes, frame_room;
};

/* Takes in the table that ends at end.  TEL_OK; TEL_END: there is none. */
static tel_status
take_table(struct gather *g, const struct tel_input *in, uint64_t end)
{
	struct table t;

	if (g->ntables == TABLES_MAX || !find_table(in, end, &t) ||
	    t.count > FRAMES_MAX - g->nframes)
		return TEL_END;
	/* each table has one frame more, where its last one ends */
	size_t used = g->nframes + g->ntables;
	if (!TEL__RESERVE(g->tables, g->table_room, g->ntables + 1) ||
	    !TEL__RESERVE(g->frames, g->frame_room, used + t.count + 1))
		return TEL_ENOMEM;
	if (!read_entries(in, &t, g->frames + used))
		return TEL_END;
	g->tables[g->ntables++] = t;
	g->nframes += t.count;
	return TEL_OK;
}

/* Puts what was gathered in the order of the file. */
static struct tel_frames *
seekable_arrange(const struct gather *g)
{
	const struct tel_frame *from = g->frames + g->nframes + g->ntables;
	struct tel_frames *f;
	struct tel_frame *to;
	uint64_t content = 0;
	size_t t, i;

	f = calloc(1, sizeof(*f) + (g->nframes + 1) * sizeof(*to));
	if (f == NULL)
		return NULL;
	to = f->frame;
	for (t = g->ntables; t-- > 0;) {
		from -= g->tables[t].count + 1;
		for (i = 0; i < g->tables[t].count; i++) {
			to->raw = g->tables[t].frames + from[i].raw;
			to->content = content + from[i].content;
			to++;
		}
		content += from[i].content;
	}
	/* behind the last table is the end of the file */
	to->raw = g->tables[0].end;
	to->content = content;
	f->count = g->nframes;
	for (i = 0; i < f->count; i++) {
		to = &f->frame[i];
		if (to[1].raw - to->raw > f->raw_most)
			f->raw_most = to[1].raw - to->raw;
		if (to[1].content - to->content > f->content_most)
			f->content_most = to[1].content - to->content;
	}
	return f;
}

tel_status
tel__frames_find(const struct tel_input *in, struct tel_frames **out)
{
	struct gather g = { NULL, 0, 0, NULL, 0, 0 };
	int64_t extent = tel__input_extent(in);
	uint64_t end = extent > 0 ? (uint64_t)extent : 0;
	tel_status st = end > 0 ? TEL_OK : TEL_END;

	*out = NULL;
	while (st == TEL_OK && end > 0) {
		st = take_table(&g, in, end);
		if (st == TEL_OK)
			end = g.tables[g.ntables - 1].frames;
	}
	if (st == TEL_OK) {
		*out = seekable_arrange(&g);
		st = *out != NULL ? TEL_OK : TEL_ENOMEM;
	}
	free(g.tables);
	free(g.frames);
	return st == TEL_END ? TEL_OK : st;
}

size_t
tel__frames_at(const struct tel_frames *f, uint64_t content)
{
	size_t low = 0, high = f->count, middle;

	/* the last one that begins there or before, empty ones left out */
	if (content >= f->frame[f->count].content)
		return f->count;
	TEL__BISECT(low, high, middle, f->frame[middle].content <= content);
	return low > 0 ? low - 1 : 0;
}

size_t
tel__frames_behind(const struct tel_frames *f, uint64_t raw)
{
	size_t low = 0, high = f->count, middle;

	TEL__BISECT(low, high, middle, f->frame[middle].raw <= raw);
	return low;
}
