/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Key: identifies a bucket of a tally, a group or a pair: a value of an
 * expression, in 64 bits and a tag.  Strings are interned, so that equal keys
 * have equal bits.
 */
#ifndef TEL_STATS_KEY_H
#define TEL_STATS_KEY_H

#include "base/bytes.h"
#include "base/index.h"
#include "stats/budget.h"
#include "tel/stats.h"

/* The tag of a key: its data type, with one of the first two, and the last. */
#define KEY_NEGATIVE 0x10u /* the bits are those of an integer below 0 */
#define KEY_MISSING 0x20u
#define KEY_WHOLE 0x40u /* TEL_DOUBLE, but the bits are those of an integer */

struct key {
	uint64_t bits; /* of a string: its number */
	uint8_t tag;
};

struct strings;

/*
 * Strings, each stored once.  Their size is charged to budget, which must
 * outlive them.  NULL when out of memory.
 */
struct strings *tel__strings_new(struct budget *budget);
void tel__strings_free(struct strings *s);

/*
 * Makes a key of a value.  TEL_OK; TEL_ELIMIT: a string that is new, and no
 * room for it; TEL_ENOMEM.
 */
tel_status tel__key_make(struct strings *s, const tel_value *v,
    struct key *out);

/* What a key was made of; a string is valid as long as the strings. */
void tel__key_value(const struct strings *s, const struct key *k,
    tel_value *out);

/* The key of a number: a double that is an integer is that integer. */
struct key tel__key_number(const tel_value *v);

/* Two keys are equal if their bits and these classes are. */
static inline unsigned
key_class(uint8_t tag)
{
	if (tag & (KEY_NEGATIVE | KEY_MISSING))
		return tag & (KEY_NEGATIVE | KEY_MISSING);
	return tag == TEL_STRING || tag == TEL_DOUBLE ? tag : TEL_UNSIGNED;
}

static inline int
key_equal(uint64_t bits, uint8_t tag, const struct key *k)
{
	return bits == k->bits && key_class(tag) == key_class(k->tag);
}

static inline uint64_t
key_hash(const struct key *k, uint64_t seed)
{
	return tel__hash(k->bits, seed + key_class(k->tag));
}

/*
 * Negative, 0 or positive as a comes before, is, or comes after b: missing
 * ones, then numbers by value, then those that are none (NaN), then strings by
 * bytes.
 */
int tel__key_compare(const struct strings *s, const struct key *a,
    const struct key *b);

#endif
