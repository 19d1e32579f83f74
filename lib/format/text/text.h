/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Texts of events of any schema: what telcat prints, tel-text(5), and what
 * mpseventcnv prints, one event a line, read from any mix of sort, grep and
 * head.
 *
 * Each line is encoded into bytes as a stream of the schema would hold them,
 * so that whoever takes the event sees no difference.
 */
#ifndef TEL_TEXT_H
#define TEL_TEXT_H

#include <locale.h>

#include "model/encode.h"
#include "reader/lines.h"

/*
 * The longest line that is read; a longer one is damage.  The longest that
 * telcat prints is half of it: an event of an unknown type and 64 KiB.
 */
#define LINES_MAX TEL_PEEK_MAX

/*
 * The longest string, in bytes, that goes on over the end of a line: what
 * the MPS writes at most.
 */
#define LINES_STRING_MAX 255

/* The most schemas that the headers of one text may name. */
#define LINES_SCHEMAS_MAX 16

/*
 * How much is looked at for the release when nothing names it: a pipe is
 * waited for that long, so that the answer does not depend on its pace.  Lines
 * of mpseventcnv, which name nothing, are looked at up to LINES_MAX, which is
 * as much as of a stream.
 */
#define LINES_WINDOW TEL_PROBE_SIZE

/*
 * The most bytes of lines without an event that are kept for whoever passes
 * the text on; what comes beyond is lost to him.
 */
#define LINES_LEAD_MAX LINES_MAX

/* A schema with its types by name. */
struct lines_map {
	struct tel_schema *schema;
	uint32_t *slot; /* 1 + index of a type, or 0: at least half of them */
	uint32_t mask;
};

/* A built-in schema that a text may have been printed from. */
struct lines_candidate {
	const struct tel_format_ops *format;
	unsigned number; /* of its schema in the format */
	const struct lines_map *map;
	unsigned fits;         /* lines that fit it */
	struct tel_codes seen; /* and the codes of these */
	struct tel_score e;
};

/*
 * For all logs of an input, as members of an archive are many: the maps of all
 * candidates, which own their schemas, and the first schemas that texts
 * described, by their digests.
 */
struct lines_kept {
	struct lines_map **maps;
	size_t room;
	unsigned count, ndescribed;
	struct {
		struct tel_schema *schema;
		uint64_t digest;
	} described[64];
};

struct lines;
struct any;

/* What one text does otherwise than the other. */
struct lines_syntax {
	tel_line_score *score;
	/*
	 * Reads s->line.p as an event of m's schema into s->type and the
	 * members below.  1, or 0 after tel__lines_wrong().
	 */
	int (*parse)(struct lines *s, const struct lines_map *m);
	/* Takes a line that begins with '#'; NULL: they are skipped. */
	tel_status (*header)(struct tel_reader *r, struct lines *s);
	/* 1 when the line looks like an event's; for strings of two lines. */
	int (*head)(const unsigned char *p, const unsigned char *end);
	int named;     /* types go by name */
	int multiline; /* a string may hold the end of a line */
};

/* The state of a reader of lines. */
struct lines {
	const struct lines_syntax *syntax;
	struct lines_map map;               /* of the schema in force */
	struct lines_candidate *candidates; /* or NULL */
	unsigned ncandidates;
	size_t candidate_room;
	unsigned switches; /* schemas that headers have named so far */
	int fixed;         /* the user named the schema */
	int inferred;      /* nobody did */
	int narrow;        /* parse: a word has 32 bits, by its digits */
	int warned;        /* of a newer version of the text */
	struct any *any;   /* types that the text describes, or NULL */
	locale_t c_locale;

	struct tel_line line;
	int joined;      /* it was made of two lines or more */
	int open_string; /* parse: the line ended within a string */

	/* What parse found. */
	const struct tel_type *type; /* NULL: no type has this code */
	uint32_t code;
	uint32_t size;
	uint64_t clock;
	uint32_t inline_size;
	/* all but the header of the event; this and the next are not cleared */
	unsigned char data[TEL_SIZE_MAX + 1];
	/* the labels that the line shows, as struct tel_event has them */
	unsigned char inline_labels[TEL_SIZE_MAX + 1];
};

/* The functions of both formats. */
tel_status tel__lines_open(struct tel_reader *r);
tel_status tel__lines_next(struct tel_reader *r);
void tel__lines_close(struct tel_reader *r);
/*
 * The score of the first line, or of one of the next few, as the first may be
 * half a line.  0 when a line is of the other text, or a byte shows that this
 * is not text.
 */
int tel__lines_probe(struct tel_reader *r);

/* What the formats of lines have in common. */
#define LINES \
	.dialect = &syntax, .probe = tel__lines_probe, \
	.open = tel__lines_open, .next = tel__lines_next, \
	.close = tel__lines_close, .cache_free = tel__lines_cache_free, \
	.encoder = &encoder

tel_line_score tel__text_score;
tel_line_score tel__cnv_score;
tel_line_score tel__mpstxt_score;
tel_line_score tel__dump_score;

/* Sets the schema at the start of a log: the user's, or by what lines say. */
tel_status tel__lines_choose(struct tel_reader *r, struct lines *s);
/*
 * Makes the built-in schema called name that of the log from here on.
 * TEL_OK, TEL_EINVAL (no such name), TEL_ELIMIT, TEL_ENOMEM.
 */
tel_status tel__lines_use(struct tel_reader *r, struct lines *s,
    const char *name);
/*
 * Looks for another release that fits the line, which is not an event of the
 * schema in force.  TEL_OK: found, and in force from here on; TEL_END: none;
 * TEL_ENOMEM.
 */
tel_status tel__lines_adapt(struct tel_reader *r, struct lines *s);
void tel__lines_free_candidates(struct lines *s);
void tel__lines_cache_free(void *kept);
/* The name in a line "# format: NAME", into name; 1 when it is one. */
int tel__lines_format(const unsigned char *p, const unsigned char *end,
    char *name, size_t size);
/* Makes a map anew, all zeros at first, of a schema.  TEL_OK, TEL_ENOMEM. */
tel_status tel__lines_map(struct lines_map *m, struct tel_schema *schema);
/*
 * The next type whose name is the n bytes at name, or NULL.  *at: the hash of
 * the name at first, later where the next one is looked for.
 */
const struct tel_type *tel__lines_find(const struct lines_map *m,
    const unsigned char *name, size_t n, uint64_t *at);

/*
 * Parts of a line.  Each reads at *p, moves *p past what it read and returns
 * 1, or calls tel__lines_wrong() and returns 0.
 */

/* Notes what was expected at p; returns 0. */
static inline int
tel__lines_wrong(struct lines *s, const unsigned char *p, const char *want,
    const char *detail)
{
	(void)line_wrong(&s->line, p, want, detail);
	return 0;
}
/* A string in quotes, the value of f, to *to, which is then its end. */
int tel__lines_unquote(struct lines *s, const struct tel_field *f,
    const unsigned char **p, unsigned char **to, const unsigned char *limit);
/* The same into field f, the last of type. */
int tel__lines_string(struct lines *s, const struct lines_map *m,
    const struct tel_type *type, const struct tel_field *f,
    const unsigned char **p);
/* A label in brackets and quotes, ["..."], at field number i. */
int tel__lines_label(struct lines *s, unsigned i, const unsigned char **p);
/*
 * What the escape at *p, behind its backslash, means: a byte, or -1; *p may
 * then be past the end.
 */
int tel__lines_unescape(const unsigned char **p);
/* A value that is not a string, as in the text of telcat. */
int tel__lines_scalar(struct lines *s, const struct tel_type *t,
    const struct tel_field *f, const unsigned char **p, uint64_t *out);
/* A truth; want: "true or false as", in its letters. */
int tel__lines_boolean(struct lines *s, const struct tel_field *f,
    const unsigned char **p, const char *want, uint64_t *out);
/* A floating-point number that ends at a blank or the line's end. */
int tel__lines_double(struct lines *s, const struct tel_field *f,
    const unsigned char **p, uint64_t *bits);

/* The clock in 16 digits, and a byte behind it. */
static inline int
lines_clock(struct lines *s, const unsigned char **p)
{
	const unsigned char *q = *p;
	uint64_t v = 0;
	unsigned bad = 0, i;

	if (s->line.end - q < 17)
		return tel__lines_wrong(s, q,
		    "a clock of 16 hexadecimal digits and an event", NULL);
	for (i = 0; i < 16; i++) {
		unsigned d = tel__lines_digit[q[i]];

		bad |= d;
		v = v << 4 | d;
	}
	if (bad > 15)
		return tel__lines_wrong(s, q,
		    "a clock of 16 hexadecimal digits", NULL);
	s->clock = v;
	*p = q + 16;
	return 1;
}

/* 1 when the n bytes of word are at p, before end. */
static inline int
lines_has_word(const unsigned char *p, const unsigned char *end,
    const char *word, size_t n)
{
	return (size_t)(end - p) >= n && memcmp(p, word, n) == 0;
}

static inline int
lines_decimal(struct lines *s, const struct tel_field *f,
    const unsigned char **p, uint64_t *out)
{
	const unsigned char *q = *p;
	uint64_t v = 0;
	unsigned d;

	for (; (d = (unsigned)*q - '0') <= 9; q++) {
		if (v > (UINT64_MAX - d) / 10)
			break;
		v = v * 10 + d;
	}
	if (q == *p || d <= 9)
		return tel__lines_wrong(s, *p, "a decimal number as", f->name);
	*p = q;
	*out = v;
	return 1;
}

/* Encodes v as the value of f, which was read at start. */
static inline int
lines_encode(struct lines *s, const struct tel_field *f,
    const unsigned char *start, uint64_t v)
{
	if (!tel_encode_fits(f, v))
		return tel__lines_wrong(s, start, "a smaller number as",
		    f->name);
	tel_encode_field(f, v, s->data);
	return 1;
}

/* The line of an event of type t, NULL if unknown, ends at p. */
static inline int
lines_end(struct lines *s, const unsigned char *p, const struct tel_type *t)
{
	return p == s->line.end ||
	    tel__lines_wrong(s, p, "the end of the line after",
	        t != NULL ? t->name : "a known code");
}

#endif
