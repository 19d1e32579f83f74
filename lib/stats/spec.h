/* SPDX-License-Identifier: BSD-2-Clause */
/* Spec: what a statistic counts, as it was written. */
#ifndef TEL_STATS_SPEC_H
#define TEL_STATS_SPEC_H

#include "stats/layout.h"
#include "tel/stats.h"

/* Documented limits. */
#define SPEC_MAX ((size_t)1 << 16)
#define NAME_MAX_LENGTH 200u
#define GROUPS_MAX 8u
#define DECIMALS_MAX 9u
#define DECIMALS 6u /* unless a spec sets another */

/* A part of a text, and its column there, from 1. */
struct piece {
	char *text; /* NULL: it was left out */
	unsigned column;
};

/* How many a spec has, and the first one of pairs. */
#define PIECES 7u
#define PIECE_START 3u

/* PAIRS_QUEUE: in nanoseconds, the first to start is the first to end. */
enum pairing { PAIRS_NONE, PAIRS_NS, PAIRS_TICKS, PAIRS_QUEUE, PAIRS_COUNT };

/* Their words in specs and inst logs; of PAIRS_NONE none. */
extern const char *const tel__pair_words[PAIRS_COUNT];

struct spec {
	char *name;
	enum tel_class class;
	int64_t parameters[PARAMETERS_MAX];
	/* values, and parameters that are values, are in 10^-decimals */
	unsigned decimals;
	struct layout layout;
	enum pairing pairs;
	union {
		struct {
			struct piece value; /* without pairs */
			struct piece weight;
			struct piece condition;
			struct piece start, end, key, middle;
		};
		struct piece pieces[PIECES];
	};
};

/* The last failure: a message, and the text and column that it is about. */
struct trouble {
	char *text; /* our copy; NULL: of no text */
	unsigned column;
	char message[480];
};

/* Records a failure and returns status.  text may be NULL. */
__attribute__((format(printf, 5, 6))) tel_status
tel__trouble_set(struct trouble *t, tel_status status, const char *text,
    unsigned column, const char *format, ...);

/*
 * Reads a spec.  TEL_OK; TEL_EINVAL and TEL_ELIMIT with trouble set;
 * TEL_ENOMEM.  out: to be cleared on TEL_OK only.
 */
tel_status tel__spec_parse(const char *text, struct spec *out,
    struct trouble *trouble);
void tel__spec_clear(struct spec *s);

/* "hist(size,0,64,8) if kind == Pool"; NULL when out of memory. */
char *tel__spec_text(const struct spec *s);

/* The unit of the values, "" when it is not known; static. */
const char *tel__spec_unit(const struct spec *s);

/*
 * The difference of two specs, in a few words, or NULL when they count the
 * same.  Parts that one does not define are not compared.
 */
const char *tel__spec_difference(const struct spec *a, const struct spec *b);

/*
 * Splits a list at its commas, those in parentheses and quotes left out.
 * Returns TEL_OK with *count set, TEL_EINVAL, TEL_ELIMIT (more than max), or
 * TEL_ENOMEM.  On failure nothing is left to clear.
 */
tel_status tel__pieces_split(const char *text, struct piece *pieces,
    unsigned max, unsigned *count, struct trouble *trouble);

/*
 * Cuts "START:END", the keys of both ends of a pair, in two; of one for both
 * the second is left empty.  TEL_OK, TEL_ENOMEM.
 */
tel_status tel__piece_halve(const struct piece *p, struct piece halves[2]);

/* Whether an expression is but the name of a field: that, else NULL. */
const char *tel__piece_field(const struct piece *p);

/*
 * Whether an expression is but the label of a field, "label(FIELD)": 1 with
 * the name of the field in name, or 0.
 */
int tel__piece_label(const struct piece *p, char *name, size_t size);

/* Whether an expression contains a word, outside of quotes; ".dt" is another. */
int tel__piece_has_word(const struct piece *p, const char *word);

#endif
