/* SPDX-License-Identifier: BSD-2-Clause */
/* Exact events: rows as they come, and blocks of columns made of them. */
#include "print/event_samples.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/heap.h"
#include "base/varint.h"
#include "io/gzip.h"
#include "print/page.h"
#include "render/escape.h"
#include "render/list.h"

/* An event of the block that is being filled. */
struct sample_row {
	uint64_t time, length;
	uint32_t type, track;
	uint32_t name; /* the number of a string and 1; 0: none */
	uint32_t data; /* where its bytes are; then the numbers of its labels */
	uint32_t size; /* of its bytes */
	uint32_t order;
};

void
tel__samples_init(struct event_samples *x, uint64_t most)
{
	memset(x, 0, sizeof(*x));
	x->most = most;
	x->stride = 1;
	x->seed = tel__hash_seed(x);
	x->untried = SAMPLES_TRY;
	x->ratio = 1;
	x->gap = SAMPLES_NO_GAP;
	tel__table_init(&x->by_type);
	tel__table_init(&x->by_string);
}

static void
samples_free_type(struct sample_type *t)
{
	for (unsigned i = 0; i < t->nfields; i++)
		free(t->fields[i].name);
	free(t->fields);
	free(t->name);
	free(t->kind);
	free(t->doc);
}

void
tel__samples_clear(struct event_samples *x)
{
	for (size_t i = 0; i < x->ntypes; i++)
		samples_free_type(&x->types[i]);
	for (size_t i = 0; i < x->nblocks; i++)
		free(x->blocks[i].bytes);
	for (size_t i = 0; i < x->nlongest; i++)
		free(x->longest[i]);
	free(x->types);
	free(x->numbers);
	free(x->rows);
	free(x->blocks);
	free(x->longest);
	tel__buffer_clear(&x->data);
	tel__buffer_clear(&x->strings);
	tel__table_clear(&x->by_type);
	tel__table_clear(&x->by_string);
}

void
tel__samples_forget(struct event_samples *x)
{
	x->schema = NULL;
}

/* ---------------------------------------------------------------- types */

/* What makes a type another one. */
static uint64_t
hash_type(const struct tel_type *t)
{
	uint64_t h =
	    tel__fnv(TEL__FNV, t->schema->name, strlen(t->schema->name));

	h = tel__fnv(h, t->kind, strlen(t->kind) + 1);
	h = tel__fnv(h, t->name, t->name_length);
	for (unsigned i = 0; i < t->nfields; i++) {
		const struct tel_field *f = &t->fields[i];
		const uint32_t what[] = { (uint32_t)f->datatype,
			(uint32_t)f->load, f->offset, f->width, f->bit,
			f->space, f->present, f->present_at };

		h = tel__fnv(h, f->name, f->name_length + 1u);
		h = tel__fnv(h, what, sizeof(what));
	}
	return h;
}

/*
 * How numbers of a field are shown; NULL: as any number.  Numbers of a text may
 * all be labelled, and identify nothing.
 */
static const char *
samples_unit_of(const struct tel_field *f)
{
	static const char *const ids[] = { "pid", "tid", "cpu", "thread",
		"process", "processor", "MessageTag" };

	if (f->unit == TEL_UNIT_BYTES)
		return "bytes";
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		if (strcmp(f->name, ids[i]) == 0)
			return "id";
	return f->space == 0 || f->space == TEL_SPACE_MESSAGE ||
	        f->space == TEL_SPACE_ENUM ?
	    NULL :
	    "id";
}

/* nfields: those of its fields that are kept. */
static int
samples_copy_type(struct sample_type *to, const struct tel_type *t,
    unsigned nfields)
{
	memset(to, 0, sizeof(*to));
	to->name = tel__copy_string(t->name, t->name_length);
	to->kind = strdup(t->kind);
	to->fields = calloc(nfields + 1u, sizeof(*to->fields));
	to->collection = t->collection;
	if (nfields > 0 && (tel_type_is_alloc(t) || t->role == TEL_ROLE_FRAME))
		to->role = tel_type_role(t);
	memcpy(to->parts, t->role_field, sizeof(to->parts));
	to->code = t->code;
	to->doc = strdup(tel_type_doc(t));
	if (to->name == NULL || to->kind == NULL || to->fields == NULL ||
	    to->doc == NULL)
		return 0;
	for (unsigned i = 0; i < nfields; i++) {
		to->fields[i].field = t->fields[i];
		to->fields[i].labels = tel_field_labelled(&t->fields[i]);
		to->fields[i].unit = samples_unit_of(&t->fields[i]);
		to->fields[i].name = tel__copy_string(t->fields[i].name,
		    t->fields[i].name_length);
		to->nfields++;
		if (to->fields[i].name == NULL)
			return 0;
	}
	return 1;
}

static uint32_t
make_type(struct event_samples *x, const struct tel_type *t)
{
	struct tel__entry *e;
	int fresh;

	e = tel__table_put(&x->by_type, hash_type(t), &fresh);
	if (e == NULL ||
	    !TEL__RESERVE(x->types, x->types_room, x->ntypes + 1)) {
		x->no_memory = 1;
		return 0;
	}
	if (!fresh)
		return (uint32_t)e->value;
	if (x->ntypes >= SAMPLES_TYPES) {
		e->value = SAMPLES_TYPES - 1;
		return SAMPLES_TYPES - 1;
	}
	/* the last one stands for others, whose fields are elsewhere */
	if (!samples_copy_type(&x->types[x->ntypes], t,
	        x->ntypes < SAMPLES_TYPES - 1 ? t->nfields : 0)) {
		samples_free_type(&x->types[x->ntypes]);
		tel__table_remove(&x->by_type, e);
		x->no_memory = 1;
		return 0;
	}
	e->value = x->ntypes;
	return (uint32_t)x->ntypes++;
}

/* The numbers of another schema's types are not known yet. */
static int
samples_set_schema(struct event_samples *x, const struct tel_schema *s)
{
	uint32_t *numbers =
	    realloc(x->numbers, (s->ntypes + 1u) * sizeof(*numbers));

	if (numbers == NULL) {
		x->no_memory = 1;
		return 0;
	}
	memset(numbers, 0xff, (s->ntypes + 1u) * sizeof(*numbers));
	x->numbers = numbers;
	x->nnumbers = s->ntypes;
	x->schema = s;
	return 1;
}

uint32_t
tel__samples_type(struct event_samples *x, const struct tel_type *type)
{
	if (x->schema != type->schema && !samples_set_schema(x, type->schema))
		return 0;
	if (type->index >= x->nnumbers)
		return make_type(x, type);
	if (x->numbers[type->index] == UINT32_MAX)
		x->numbers[type->index] = make_type(x, type);
	return x->numbers[type->index];
}

/* -------------------------------------------------------------- strings */

/* The number of a string in the block, and 1; by the hash of its shown part. */
static uint32_t
samples_intern(struct event_samples *x, const char *s, size_t n, size_t most)
{
	unsigned char text[TEL_ESCAPE_ROOM(SAMPLES_STRING)], *end;
	struct tel__entry *e;
	int fresh = 0;

	n = tel__page_cut(s, n, most);
	e = tel__table_put(&x->by_string, tel__hash_bytes(s, n, x->seed),
	    &fresh);
	if (e != NULL && fresh) {
		end = tel__escape_utf8(text, s, n);
		tel__buffer_put_varint(&x->strings, (uint64_t)(end - text));
		tel__buffer_put(&x->strings, text, (size_t)(end - text));
		e->value = x->nstrings++;
		x->no_memory |= x->strings.failed;
	}
	if (e == NULL) {
		x->no_memory = 1;
		return 0;
	}
	return (uint32_t)e->value + 1;
}

/* -------------------------------------------------------------- columns */

static int
compare_rows(const void *a, const void *b)
{
	const struct sample_row *p = a, *q = b;

	if (p->time != q->time)
		return p->time < q->time ? -1 : 1;
	return p->order < q->order ? -1 : p->order > q->order;
}

/*
 * Puts the rows of the groups behind each other, and each group in order of
 * time.  1; 0: no memory.
 */
static int
sort_rows(struct event_samples *x)
{
	struct sample_row *rows = malloc((x->nrows + 1) * sizeof(*rows));
	size_t i, j, at = 0;

	if (rows == NULL)
		return 0;
	for (i = 0; i < x->nrows; i++)
		x->types[x->rows[i].type].rows++;
	for (i = 0; i < x->ntypes; i++) {
		j = x->types[i].rows;
		x->types[i].rows = at;
		at += j;
	}
	for (i = 0; i < x->nrows; i++)
		rows[x->types[x->rows[i].type].rows++] = x->rows[i];
	for (i = 0; i < x->ntypes; i++)
		x->types[i].rows = 0;
	free(x->rows);
	x->rows = rows;
	x->rows_room = x->nrows + 1;
	for (i = 0; i < x->nrows; i = j) {
		int ordered = 1;

		for (j = i + 1; j < x->nrows; j++) {
			if (rows[j].type != rows[i].type)
				break;
			ordered &= rows[j - 1].time <= rows[j].time;
		}
		if (!ordered)
			qsort(rows + i, j - i, sizeof(*rows), compare_rows);
	}
	return 1;
}

static void
samples_put_strings(struct event_samples *x, struct tel__buffer *out,
    const struct tel_field *f, size_t i, size_t end)
{
	struct tel__buffer list = { 0 };
	struct tel_event ev = { 0 };
	size_t n;

	for (; i < end; i++) {
		ev.data = x->data.bytes + x->rows[i].data;
		ev.size = x->rows[i].size;
		const char *s = tel_load_string(&ev, f, &n);
		if (f->datatype == TEL_LIST && tel_present(f, ev.data)) {
			list.used = 0;
			tel__render_list(&list, &ev, f, 0);
			s = (const char *)list.bytes;
			n = list.used;
		}
		tel__buffer_put_varint(out,
		    samples_intern(x, s, n, SAMPLES_STRING) - 1u);
	}
	x->no_memory |= list.failed;
	tel__buffer_clear(&list);
}

static void
samples_put_field(struct event_samples *x, struct tel__buffer *out,
    const struct sample_field *field, size_t i, size_t end)
{
	const struct tel_field *f = &field->field;
	const unsigned char *data = x->data.bytes;
	uint64_t v, before = 0;

	if (f->datatype == TEL_STRING || f->datatype == TEL_LIST) {
		samples_put_strings(x, out, f, i, end);
		return;
	}
	unsigned char *p = tel__buffer_room(out, (end - i) * TEL__VARINT_MAX);
	if (p == NULL)
		return;
	for (; i < end; i++) {
		v = tel_load(f, data + x->rows[i].data);
		if (f->datatype == TEL_DOUBLE) {
			for (unsigned n = 0; n < 8; n++)
				*p++ = (unsigned char)(v >> 8 * n);
			continue;
		}
		p = tel__varint_put(p, tel__zigzag(v - before));
		before = v;
	}
	out->used = (size_t)(p - out->bytes);
}

/* The numbers of the labels that field number `which` of those has. */
static void
samples_put_labels(struct event_samples *x, struct tel__buffer *out,
    unsigned which, size_t i, size_t end)
{
	uint32_t v;

	for (; i < end; i++) {
		memcpy(&v,
		    x->data.bytes + x->rows[i].data + x->rows[i].size +
		        which * sizeof(v),
		    sizeof(v));
		tel__buffer_put_varint(out, v);
	}
}

/* Which events have an optional field. */
static void
samples_put_present(struct event_samples *x, struct tel__buffer *out,
    const struct tel_field *f, size_t i, size_t end)
{
	for (; i < end; i++)
		tel__buffer_put_varint(out,
		    (uint64_t)tel_present(f, x->data.bytes + x->rows[i].data));
}

/* The rows from i to before end, which are of one type. */
static void
put_group(struct event_samples *x, struct tel__buffer *out, uint64_t from,
    size_t i, size_t end)
{
	const struct sample_row *r = x->rows;
	const struct sample_type *t = &x->types[r[i].type];
	uint64_t before;
	unsigned f, which = 0;
	unsigned char *p;
	size_t j;

	tel__buffer_put_varint(out, r[i].type);
	tel__buffer_put_varint(out, end - i);
	p = tel__buffer_room(out, (end - i) * 4 * TEL__VARINT_MAX);
	if (p == NULL)
		return;
	for (before = from, j = i; j < end; before = r[j++].time)
		p = tel__varint_put(p, tel__zigzag(r[j].time - before));
	for (before = 0, j = i; j < end; before = r[j++].track)
		p = tel__varint_put(p, tel__zigzag(r[j].track - before));
	for (j = i; j < end; j++)
		p = tel__varint_put(p, r[j].length);
	for (j = i; j < end; j++)
		p = tel__varint_put(p, r[j].name);
	out->used = (size_t)(p - out->bytes);
	for (f = 0; f < t->nfields; f++) {
		samples_put_field(x, out, &t->fields[f], i, end);
		if (t->fields[f].labels)
			samples_put_labels(x, out, which++, i, end);
		if (tel_field_optional(&t->fields[f].field))
			samples_put_present(x, out, &t->fields[f].field, i,
			    end);
	}
}

/* Makes a block of the rows, not packed yet.  1; 0: no memory. */
static int
encode(struct event_samples *x, struct sample_block *block)
{
	struct tel__buffer out = { 0 };
	size_t i, j, groups = 0;

	if (!sort_rows(x)) {
		x->no_memory = 1;
		return 0;
	}
	for (i = 0; i < x->nrows; i++)
		groups += i == 0 || x->rows[i].type != x->rows[i - 1].type;
	tel__buffer_put_varint(&out, groups);
	for (i = 0; i < x->nrows; i = j) {
		for (j = i; j < x->nrows; j++)
			if (x->rows[j].type != x->rows[i].type)
				break;
		put_group(x, &out, x->from, i, j);
	}
	tel__buffer_put_varint(&out, x->nstrings);
	tel__buffer_put(&out, x->strings.bytes, x->strings.used);
	if (x->no_memory || out.failed || x->strings.failed) {
		tel__buffer_clear(&out);
		x->no_memory = 1;
		return 0;
	}
	unsigned char *bytes = realloc(out.bytes, out.used);
	memset(block, 0, sizeof(*block));
	block->bytes = bytes != NULL ? bytes : out.bytes;
	block->size = block->plain = out.used;
	block->number = x->number;
	block->from = x->from;
	block->to = x->to;
	block->low = x->low;
	block->high = x->high;
	block->events = (uint32_t)x->nrows;
	block->gap = x->gap;
	return 1;
}

int
tel__samples_pack(struct sample_block *block, int level)
{
	struct tel__buffer gz = { 0 };

	if (block->packed)
		return 1;
	if (!tel__gzip_put(&gz, block->bytes, block->size, level)) {
		tel__buffer_clear(&gz);
		return 0;
	}
	free(block->bytes);
	block->bytes = gz.bytes;
	block->size = gz.used;
	block->packed = 1;
	return 1;
}

/* ---------------------------------------------------------------- blocks */

static void
samples_clear_rows(struct event_samples *x)
{
	x->nrows = x->nstrings = 0;
	x->data.used = x->strings.used = 0;
	tel__table_clear(&x->by_string);
	tel__table_init(&x->by_string);
}

/* What the bytes of a block become when they are packed, or nearly so. */
static uint64_t
packed_size(const struct event_samples *x, const struct sample_block *b)
{
	return tel__page_block_size((size_t)b->number,
	    b->packed ? b->size : (size_t)((double)b->size * x->ratio));
}

/* Adds the sizes of all blocks again. */
static void
add_sizes(struct event_samples *x)
{
	x->bytes = x->plain = 0;
	for (size_t i = 0; i < x->nblocks; i++) {
		x->bytes += packed_size(x, &x->blocks[i]);
		x->plain += x->blocks[i].packed ? 0 : x->blocks[i].size;
	}
}

/* Throws away every second block. */
static void
samples_thin(struct event_samples *x)
{
	struct sample_block *b;
	size_t i, k = 0;

	x->stride *= 2;
	for (i = 0; i < x->nblocks; i++) {
		b = &x->blocks[i];
		samples_widen(&b->gap, x->gap.from, x->gap.to);
		x->gap = SAMPLES_NO_GAP;
		if (b->number % x->stride == 0) {
			x->blocks[k++] = *b;
			continue;
		}
		free(b->bytes);
		x->gap = b->gap;
		samples_widen(&x->gap, b->low, b->to);
	}
	x->nblocks = k;
	add_sizes(x);
}

/*
 * Packs a block to see how small the others become.  A block that is dropped
 * need not be packed, so it is done at the end.
 */
static int
try_block(struct event_samples *x, struct sample_block *b)
{
	if (!tel__samples_pack(b, PAGE_LEVEL_FAST)) {
		x->no_memory = 1;
		return 0;
	}
	x->tried += b->plain;
	x->tried_size += b->size;
	x->ratio = (double)x->tried_size / (double)x->tried;
	add_sizes(x);
	return 1;
}

/* Nonzero when the block that is being filled is one to keep. */
static int
is_kept(const struct event_samples *x)
{
	return (x->number & (x->stride - 1)) == 0;
}

static void
end_block(struct event_samples *x)
{
	if (x->nrows > 0 && is_kept(x)) {
		if (!TEL__RESERVE(x->blocks, x->blocks_room, x->nblocks + 1)) {
			x->no_memory = 1;
			return;
		}
		struct sample_block *b = &x->blocks[x->nblocks];
		if (!encode(x, b))
			return;
		x->nblocks++;
		x->gap = SAMPLES_NO_GAP;
		x->bytes += packed_size(x, b);
		x->plain += b->size;
		x->untried += x->bytes > x->most / 4;
		if (x->untried >= SAMPLES_TRY ||
		    (x->plain > EXACT_PLAIN &&
		        b->number % (2 * x->stride) == 0)) {
			x->untried = 0;
			if (!try_block(x, b))
				return;
		}
		while (x->bytes > x->most && x->nblocks > 1)
			samples_thin(x);
	}
	samples_clear_rows(x);
	x->events = 0;
	x->number++;
}

/* One more event, of a time now; its range goes from start to end. */
static void
samples_advance(struct event_samples *x, uint64_t now, uint64_t start,
    uint64_t end)
{
	if (x->events >= SAMPLES_EVENTS || x->data.used >= SAMPLES_BYTES ||
	    x->strings.used >= SAMPLES_BYTES)
		end_block(x);
	if (x->events++ == 0) {
		/* the block before goes up to here */
		if (x->nblocks > 0 &&
		    x->blocks[x->nblocks - 1].number + 1 == x->number &&
		    x->blocks[x->nblocks - 1].to < now)
			x->blocks[x->nblocks - 1].to = now;
		x->from = x->to = now;
		x->low = start;
		x->high = end;
	}
	if (now < x->from)
		x->from = now;
	if (now > x->to)
		x->to = now;
	if (start < x->low)
		x->low = start;
	if (end > x->high)
		x->high = end;
	if (!is_kept(x))
		samples_widen(&x->gap, start, now);
}

uint64_t
tel__samples_spare(const struct event_samples *x)
{
	/* the first event of a block ends the one before */
	if (is_kept(x) || x->events == 0)
		return 0;
	return (x->stride - (x->number & (x->stride - 1))) * SAMPLES_EVENTS -
	    x->events;
}

void
tel__samples_skip(struct event_samples *x, uint64_t events, uint64_t from,
    uint64_t to)
{
	const uint64_t all = x->events + events;

	if (events == 0)
		return;
	samples_widen(&x->gap, from, to);
	/* a full block ends with the next event */
	x->number += (all - 1) / SAMPLES_EVENTS;
	x->events = (uint32_t)((all - 1) % SAMPLES_EVENTS + 1);
}

/* Adds a row with the bytes of an event.  NULL: no memory; name: may be NULL. */
static struct sample_row *
new_row(struct event_samples *x, uint32_t type, uint32_t track,
    const unsigned char *data, uint32_t size, const char *name, size_t n)
{
	if (!TEL__RESERVE(x->rows, x->rows_room, x->nrows + 1) ||
	    tel__buffer_room(&x->data, 1) == NULL) {
		x->no_memory = 1;
		return NULL;
	}
	struct sample_row *row = &x->rows[x->nrows];
	memset(row, 0, sizeof(*row));
	row->order = (uint32_t)x->nrows++;
	row->type = type;
	row->track = track;
	row->data = (uint32_t)x->data.used;
	row->size = size;
	if (name != NULL)
		row->name = samples_intern(x, name, n, SAMPLES_NAME);
	tel__buffer_put(&x->data, data, size);
	return row;
}

/* Adds the number of a label, which may be NULL, to the last row. */
static void
new_label(struct event_samples *x, const char *label, size_t n)
{
	const uint32_t number =
	    label == NULL ? 0 : samples_intern(x, label, n, SAMPLES_NAME);

	tel__buffer_put(&x->data, &number, sizeof(number));
}

void
tel__samples_put(struct event_samples *x, const struct tel_event *ev,
    uint32_t type, uint32_t track, uint64_t time, uint64_t length,
    const char *name, size_t n)
{
	const struct sample_type *t = &x->types[type];
	struct sample_row *row;
	size_t size;

	samples_advance(x, time, time, length > 0 ? time + length - 1 : time);
	if (!is_kept(x) ||
	    (row = new_row(x, type, track, ev->data, ev->size, name, n)) ==
	        NULL)
		return;
	row->time = time;
	row->length = length;
	for (unsigned i = 0; i < t->nfields; i++) {
		if (!t->fields[i].labels)
			continue;
		const char *label = tel_event_label(ev, i, &size);
		new_label(x, label, size);
	}
	x->no_memory |= x->data.failed;
}

/* --------------------------------------------------------------- copies */

struct sample_copy *
tel__samples_copy(struct event_samples *x, const struct tel_event *ev,
    uint32_t type, uint32_t track, uint64_t time, const char *name, size_t n)
{
	const struct sample_type *t = &x->types[type];
	struct tel__buffer b = { 0 };
	struct sample_copy head, *copy;
	uint32_t length;
	size_t size;

	memset(&head, 0, sizeof(head));
	head.from = time;
	head.track = track;
	head.type = type;
	head.name = (uint32_t)tel__page_cut(name, n, SAMPLES_NAME);
	head.size = ev->size;
	tel__buffer_put(&b, name, head.name);
	tel__buffer_put(&b, ev->data, ev->size);
	for (unsigned i = 0; i < t->nfields; i++) {
		if (!t->fields[i].labels)
			continue;
		const char *label = tel_event_label(ev, i, &size);
		length = label == NULL ?
		    UINT32_MAX :
		    (uint32_t)tel__page_cut(label, size, SAMPLES_NAME);
		tel__buffer_put(&b, &length, sizeof(length));
		if (label != NULL)
			tel__buffer_put(&b, label, length);
		head.labels +=
		    (uint32_t)sizeof(length) + (label == NULL ? 0 : length);
	}
	copy = b.failed ? NULL : malloc(sizeof(*copy) + b.used + 1);
	if (copy == NULL) {
		x->no_memory = 1;
	} else {
		*copy = head;
		if (b.used > 0)
			memcpy(copy->bytes, b.bytes, b.used);
	}
	tel__buffer_clear(&b);
	return copy;
}

static void
put_copied_row(struct event_samples *x, const struct sample_copy *c)
{
	const unsigned char *p = c->bytes + c->name + c->size;
	const unsigned char *end = p + c->labels;
	struct sample_row *row = new_row(x, c->type, c->track,
	    c->bytes + c->name, c->size, (const char *)c->bytes, c->name);
	uint32_t length;

	if (row == NULL)
		return;
	row->time = c->from;
	row->length = c->length + 1;
	while (p < end) {
		memcpy(&length, p, sizeof(length));
		p += sizeof(length);
		new_label(x, length == UINT32_MAX ? NULL : (const char *)p,
		    length);
		p += length == UINT32_MAX ? 0 : length;
	}
	x->no_memory |= x->data.failed;
}

/* Nonzero when a range of that length would be among the longest. */
static int
samples_is_long(const struct event_samples *x, uint64_t length)
{
	if (x->nlongest < SAMPLES_LONGEST)
		return 1;
	const struct sample_copy *shortest = x->longest[0];
	return length > shortest->length;
}

static int
samples_is_shorter(const void *a, const void *b)
{
	const struct sample_copy *x = a, *y = b;

	return x->length < y->length;
}

static void
samples_hold(struct event_samples *x, struct sample_copy *c)
{
	size_t i, up;

	if (!samples_is_long(x, c->length)) {
		free(c);
		return;
	}
	if (x->nlongest == SAMPLES_LONGEST) {
		free(x->longest[0]);
		x->longest[0] = c;
		tel__heap_sink(x->longest, x->nlongest, 0, samples_is_shorter);
		return;
	}
	if (!TEL__RESERVE(x->longest, x->longest_room, x->nlongest + 1)) {
		x->no_memory = 1;
		free(c);
		return;
	}
	for (i = x->nlongest++; i > 0; i = up) {
		up = (i - 1) / 2;
		if (!samples_is_shorter(c, x->longest[up]))
			break;
		x->longest[i] = x->longest[up];
	}
	x->longest[i] = c;
}

void
tel__samples_put_copy(struct event_samples *x, struct sample_copy *copy,
    uint64_t to)
{
	copy->length = to > copy->from ? to - copy->from : 0;
	samples_advance(x, to, copy->from, to);
	copy->block = x->number;
	if (is_kept(x))
		put_copied_row(x, copy);
	samples_hold(x, copy);
}

/* ------------------------------------------------------------- snapshots */

int
tel__samples_rest(struct event_samples *x, struct sample_block *block)
{
	return x->nrows > 0 && is_kept(x) && encode(x, block);
}

static int
compare_lengths(const void *a, const void *b)
{
	const struct sample_copy *const *p = a, *const *q = b;

	if ((*p)->length != (*q)->length)
		return (*p)->length > (*q)->length ? -1 : 1;
	return (*p)->from < (*q)->from ? -1 : (*p)->from > (*q)->from;
}

/* Makes a block of the copies at c. */
static int
encode_copies(struct event_samples *x, struct sample_copy *const *c, size_t n,
    struct sample_block *block)
{
	struct event_samples part;

	tel__samples_init(&part, 0);
	part.types = x->types;
	part.ntypes = x->ntypes;
	part.from = part.low = UINT64_MAX;
	for (size_t i = 0; i < n; i++) {
		put_copied_row(&part, c[i]);
		if (c[i]->from < part.from)
			part.from = part.low = c[i]->from;
		if (c[i]->from + c[i]->length > part.to)
			part.to = part.high = c[i]->from + c[i]->length;
	}
	int good = encode(&part, block);
	part.types = NULL;
	part.ntypes = 0;
	tel__samples_clear(&part);
	x->no_memory |= !good;
	return good;
}

int
tel__samples_longest(struct event_samples *x, size_t n,
    int (*is_in)(void *arg, uint64_t number), void *arg,
    struct sample_block *block)
{
	struct sample_copy **all;
	size_t i, k = 0;

	all = malloc((x->nlongest + 1) * sizeof(*all));
	if (all == NULL) {
		x->no_memory = 1;
		return 0;
	}
	for (i = 0; i < x->nlongest; i++) {
		all[k] = x->longest[i];
		k += !is_in(arg, all[k]->block);
	}
	qsort(all, k, sizeof(*all), compare_lengths);
	if (k > n)
		k = n;
	int good = k > 0 && encode_copies(x, all, k, block);
	free(all);
	return good;
}
