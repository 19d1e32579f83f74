/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The format "hpm-meta": the meta file of HPM traces by itself, as events
 * without a time, to list what it names.  It is read only when asked for, as
 * a meta file lies beside the traces that it belongs to.
 */
#include <stdlib.h>
#include <string.h>

#include "format/hpm/hpm.h"
#include "model/row.h"

enum { META = 9, PROCESSOR = 1, EVENT = 2, THREAD = 3, METHOD = 4 };

/* The longest event: a method with its class and descriptor. */
#define NAMES_EVENT (8 + 3 * HPM_NAME_MAX + 1)

static const struct tel_type_row rows[] = {
	{ PROCESSOR, "Processor", "Meta", "S:name@0", "" },
	{ EVENT, "Counter", "Counter", "l:counter@0 l:event@4 S:name@8", "" },
	{ THREAD, "Thread", "Thread", "l:tid@0 l:slot@4 S:name@8", "" },
	{ METHOD, "Method", "Method", "l:method@0 S:name@4", "" },
	{ META, "Meta", "Meta", "l:version@0 l:counters@4 l:mode@8", "" },
};
#define NROWS (sizeof(rows) / sizeof(rows[0]))
static const uint32_t sizes[NROWS] = { 0, 8, 8, 4, 12 };

struct names {
	int big;
	unsigned char data[NAMES_EVENT];
};

static struct tel_schema *
hpm_names_make_schema(void)
{
	struct tel_abi abi = { .word = 4, .align8 = 4, .align_double = 4 };
	struct tel_schema *s =
	    tel__schema_make("hpm-meta", "", &abi, 0, (unsigned)NROWS);

	for (size_t i = 0; i < NROWS && s != NULL; i++) {
		struct tel_type *t = tel__schema_add_row(s, &rows[i], 0);

		if (t == NULL) {
			tel_schema_free(s);
			return NULL;
		}
		t->size = sizes[i];
	}
	if (s != NULL)
		s->untimed = 1;
	return s;
}

static tel_status
names_open(struct tel_reader *r)
{
	struct names *s = r->state;

	tel__reader_fill(r, 24);
	if (!tel__hpm_is_meta(r->p, (size_t)(r->end - r->p)))
		return tel__reader_fail(r, TEL_EFORMAT,
		    "not the meta file of HPM traces");
	s->big = tel_be32(r->p) < 3 || tel_be32(r->p + 4) == 0;
	struct tel_schema *schema = hpm_names_make_schema();
	if (schema == NULL || tel__reader_adopt(r, schema) != TEL_OK)
		return TEL_ENOMEM;
	return TEL_OK;
}

/* Gives out size bytes of s->data, made of a record of so many bytes. */
static tel_status
hpm_names_emit(struct tel_reader *r, struct names *s, unsigned row, size_t size,
    size_t record)
{
	struct tel_event *ev = &r->event;

	ev->type = &r->log.schema->types[row];
	ev->data = s->data;
	ev->size = (uint32_t)size;
	ev->clock = 0;
	ev->offset = r->offset;
	r->consumed = record;
	tel_reader_step(r, record);
	return TEL_OK;
}

static tel_status
emit_header(struct tel_reader *r, struct names *s)
{
	uint32_t version = tel_be32(r->p);
	size_t at = version < 3 ? 4 : 8;
	uint32_t values = hpm_load32(r->p + at, s->big);

	tel_store_le32(s->data, version);
	/* the time counts as one of the values of version 3 */
	tel_store_le32(s->data + 4, version < 3 ? values : values - 1);
	tel_store_le32(s->data + 8, hpm_load32(r->p + at + 4, s->big));
	return hpm_names_emit(r, s, NROWS - 1, 12, at + 8);
}

/* Makes n bytes of the record available at r->p.  0: there are fewer. */
static int
hpm_names_need(struct tel_reader *r, size_t n)
{
	if ((size_t)(r->end - r->p) < n)
		tel__reader_fill(r, n);
	return (size_t)(r->end - r->p) >= n;
}

/* Appends a string of the record to the event.  0: there is none. */
static int
hpm_names_take_string(struct tel_reader *r, struct names *s, size_t *at,
    size_t *size)
{
	if (!hpm_names_need(r, *at + 4))
		return 0;
	uint32_t n = hpm_load32(r->p + *at, s->big);
	if (n > HPM_NAME_MAX || !hpm_names_need(r, *at + 4 + n))
		return 0;
	memcpy(s->data + *size, r->p + *at + 4, n);
	*at += 4 + n;
	*size += n;
	return 1;
}

/* Takes the record at r->p into s->data.  0: invalid. */
static int
hpm_names_take_record(struct tel_reader *r, struct names *s, unsigned type,
    size_t *at, size_t *size)
{
	size_t i, n = sizes[type - 1], words = n / 4;

	if (!hpm_names_need(r, 4 + n))
		return 0;
	for (i = 0; i < words; i++)
		tel_store_le32(s->data + 4 * i,
		    hpm_load32(r->p + 4 + 4 * i, s->big));
	*at = 4 + n;
	*size = n;
	if (!hpm_names_take_string(r, s, at, size))
		return 0;
	if (type == EVENT)
		while (*size > n && s->data[*size - 1] <= ' ')
			--*size;
	if (type == THREAD && *size - n > 6 &&
	    memcmp(s->data + n, "class ", 6) == 0) {
		*size -= 6;
		memmove(s->data + n, s->data + n + 6, *size - n);
	}
	if (type != METHOD)
		return 1;
	s->data[(*size)++] = '.';
	return hpm_names_take_string(r, s, at, size) &&
	    hpm_names_take_string(r, s, at, size);
}

static tel_status
names_next(struct tel_reader *r)
{
	int first = r->event.data == NULL && r->offset == 0;
	struct names *s = r->state;
	size_t at = 0, size = 0, n;

	r->event.index += r->event.data != NULL;
	if (first)
		return emit_header(r, s);
	if (!hpm_names_need(r, 1))
		return TEL_END;
	unsigned type = hpm_names_need(r, 4) ? hpm_load32(r->p, s->big) : 0;
	if (type >= PROCESSOR && type <= METHOD &&
	    hpm_names_take_record(r, s, type, &at, &size))
		return hpm_names_emit(r, s, type - 1, size, at);
	/* the place of the next record is unknown */
	n = (size_t)(r->end - r->p);
	tel_status st = tel__reader_damage(r, r->offset, n,
	    "invalid record in the meta file; the rest is left out");
	while (n > 0) {
		tel_reader_step(r, n);
		tel__reader_fill(r, 1);
		n = (size_t)(r->end - r->p);
	}
	return st == TEL_OK ? TEL_END : st;
}

const struct tel_format_ops tel__format_hpm_meta = {
	.name = "hpm-meta",
	.state_size = sizeof(struct names),
	.open = names_open,
	.next = names_next,
};
