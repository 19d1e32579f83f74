/* SPDX-License-Identifier: BSD-2-Clause */
/* Keys, and the strings that some of them stand for. */
#include "stats/key.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "query/value.h"

struct string {
	uint32_t length;
	char bytes[];
};

struct strings {
	struct budget *budget;
	struct string **list;
	uint32_t count;
	size_t room;
	struct tel__index index;
};

#define FIRST_ROOM 64u
#define STRINGS_MAX ((uint32_t)1 << 26)
#define NAN_BITS ((uint64_t)0x7ff8 << 48)

struct strings *
tel__strings_new(struct budget *budget)
{
	struct strings *s = calloc(1, sizeof(*s));

	if (s != NULL) {
		s->budget = budget;
		tel__index_init(&s->index);
	}
	return s;
}

void
tel__strings_free(struct strings *s)
{
	if (s == NULL)
		return;
	for (uint32_t i = 0; i < s->count; i++)
		free(s->list[i]);
	free(s->list);
	tel__index_clear(&s->index);
	free(s);
}

/* The number of a string; TEL__NOWHERE when it is new. */
static uint32_t
key_find(const struct strings *s, uint64_t hash, const char *bytes,
    size_t length)
{
	struct tel__probe at;
	uint32_t i;

	for (i = tel__index_first(&s->index, hash, &at); i != TEL__NOWHERE;
	     i = tel__index_next(&s->index, &at)) {
		const struct string *t = s->list[i];

		if (t->length == length && memcmp(t->bytes, bytes, length) == 0)
			break;
	}
	return i;
}

/* Makes room for one string more.  TEL_OK, TEL_ELIMIT, TEL_ENOMEM. */
static tel_status
key_reserve(struct strings *s)
{
	/* a string takes a pointer, and two slots of the index */
	size_t each = sizeof(*s->list) + 2 * sizeof(*s->index.slots);

	if (s->count < s->room)
		return TEL_OK;
	size_t room = s->room == 0 ? FIRST_ROOM : 2 * s->room;
	if (s->count == STRINGS_MAX ||
	    !budget_take(s->budget, (room - s->room) * each))
		return TEL_ELIMIT;
	return TEL__RESERVE(s->list, s->room, room) ? TEL_OK : TEL_ENOMEM;
}

/* The same for a string. */
static tel_status
key_string(struct strings *s, const char *bytes, size_t length, struct key *out)
{
	const uint64_t hash = tel__hash_bytes(bytes, length, s->index.seed);
	uint32_t found = key_find(s, hash, bytes, length);
	struct string *t;
	tel_status st;

	out->tag = TEL_STRING;
	out->bits = found;
	if (found != TEL__NOWHERE)
		return TEL_OK;
	if (length > UINT32_MAX / 2)
		return TEL_ELIMIT;
	if ((st = key_reserve(s)) != TEL_OK)
		return st;
	if (!budget_take(s->budget, sizeof(*t) + length + 1))
		return TEL_ELIMIT;
	t = malloc(sizeof(*t) + length + 1);
	if (t == NULL || !tel__index_add(&s->index, hash, s->count)) {
		free(t);
		return TEL_ENOMEM;
	}
	t->length = (uint32_t)length;
	memcpy(t->bytes, bytes, length);
	t->bytes[length] = '\0';
	s->list[s->count] = t;
	out->bits = s->count++;
	return TEL_OK;
}

struct key
tel__key_number(const tel_value *v)
{
	struct key k = { v->as.u64, (uint8_t)v->datatype };
	const double d = v->as.f64;

	if (v->datatype == TEL_DOUBLE && d >= -0x1p63 && d < 0x1p64) {
		const uint64_t bits =
		    d < 0 ? (uint64_t)(int64_t)d : (uint64_t)d;

		if ((d < 0 ? (double)(int64_t)bits : (double)bits) == d) {
			k.bits = bits;
			k.tag |= KEY_WHOLE | (d < 0 ? KEY_NEGATIVE : 0);
		}
	} else if (v->datatype == TEL_DOUBLE && d != d)
		k.bits = NAN_BITS;
	else if (v->datatype == TEL_SIGNED && v->as.i64 < 0)
		k.tag |= KEY_NEGATIVE;
	return k;
}

tel_status
tel__key_make(struct strings *s, const tel_value *v, struct key *out)
{
	if (v->missing) {
		out->bits = 0;
		out->tag = KEY_MISSING;
		return TEL_OK;
	}
	if (v->datatype == TEL_STRING)
		return key_string(s, v->as.string, v->length, out);
	*out = tel__key_number(v);
	return TEL_OK;
}

void
tel__key_value(const struct strings *s, const struct key *k, tel_value *out)
{
	memset(out, 0, sizeof(*out));
	if (k->tag & KEY_MISSING) {
		out->missing = 1;
		return;
	}
	out->datatype = (enum tel_datatype)(k->tag & 0x0f);
	out->as.u64 = k->bits;
	if (k->tag & KEY_WHOLE)
		out->as.f64 = k->tag & KEY_NEGATIVE ? (double)out->as.i64 :
		                                      (double)k->bits;
	if (out->datatype == TEL_STRING) {
		const struct string *t = s->list[k->bits];

		out->as.string = t->bytes;
		out->length = t->length;
	}
}

/* Missing, numbers, NaN, strings. */
static unsigned
rank(const struct key *k)
{
	if (k->tag & KEY_MISSING)
		return 0;
	if (k->tag == TEL_STRING)
		return 3;
	return k->tag == TEL_DOUBLE && k->bits == NAN_BITS ? 2 : 1;
}

static struct value
key_operand(const struct key *k)
{
	double d;

	if (k->tag != TEL_DOUBLE)
		return k->tag & KEY_NEGATIVE ? value_signed(k->bits) :
		                               value_natural(k->bits);
	memcpy(&d, &k->bits, sizeof(d));
	return value_double(d);
}

static int
compare_strings(const struct string *a, const struct string *b)
{
	uint32_t n = a->length < b->length ? a->length : b->length;
	int c = memcmp(a->bytes, b->bytes, n);

	return c != 0 ? c : (a->length > b->length) - (a->length < b->length);
}

int
tel__key_compare(const struct strings *s, const struct key *a,
    const struct key *b)
{
	const unsigned ra = rank(a), rb = rank(b);

	if (ra != rb)
		return ra < rb ? -1 : 1;
	if (ra == 3)
		return compare_strings(s->list[a->bits], s->list[b->bits]);
	if (ra != 1)
		return 0;
	const struct value x = key_operand(a), y = key_operand(b);
	return tel__value_compare(OPR_GT, &x, &y, 0) -
	    tel__value_compare(OPR_LT, &x, &y, 0);
}
