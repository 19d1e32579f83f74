/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code shared by line formats: finding a line, passing on lines that are not
 * events, reporting damaged lines, and numbers in a line.
 */
#ifndef TEL_LINES_H
#define TEL_LINES_H

#include "reader/reader.h"

/* Silent lines that are kept for whoever passes the log on. */
struct tel_leading_text {
	unsigned char *p; /* since the last event */
	size_t size, room;
	unsigned char *preamble; /* before the first event */
};

/* A line of the input, without its end; *end ends any token. */
struct tel_line {
	const unsigned char *p;
	const unsigned char *end;
	const unsigned char *limit; /* what may be read ends here */
	size_t step;                /* from r->p to the next line */
	uint64_t offset;            /* of the first byte */
	int truncated;              /* the input ended before the line did */
	int over;                   /* it is too long: nothing is at p */
	unsigned char *copy;        /* of a cut line, with an end */

	/* the decoder's result for it */
	const char *want;         /* what was expected, */
	const char *detail;       /* of what, or NULL, */
	const unsigned char *at;  /* and where something else was found */
	const unsigned char *raw; /* of the event; NULL: the line alone */
	size_t raw_size;
	tel_status failed;

	/* the decoder's answers for all lines */
	size_t most;      /* bytes that one may have, including its end */
	size_t lead_most; /* bytes that are kept before an event */
	const char
	    *invalid;   /* how a damaged line is reported: "invalid event" */
	const char *in; /* and in what; "" */
	struct tel_leading_text lead;
};

/* What a line turns out to be. */
enum tel_line_is {
	LINE_EVENT,   /* r->event has its type, data, size and clock */
	LINE_COMMENT, /* it is kept for whoever passes the event behind it on */
	LINE_SKIPPED, /* it is passed by */
	LINE_INVALID, /* damage: .want, .detail, .at */
	LINE_FAILED   /* the reader fails: .failed */
};

struct tel_line_decoder {
	/* Called before a line is looked for; may be NULL. */
	void (*before)(struct tel_reader *r);
	/* Takes the line apart, which is not too long. */
	enum tel_line_is (*parse)(struct tel_reader *r, struct tel_line *l);
	/* The log has ended.  TEL_OK, or a failure; may be NULL. */
	tel_status (*end)(struct tel_reader *r);
};

/* The next event, as struct tel_format_ops has it. */
tel_status tel__line_next(struct tel_reader *r, struct tel_line *l,
    const struct tel_line_decoder *decoder);
/* Frees what l holds. */
void tel__line_close(struct tel_line *l);

/* Notes what was expected at p. */
static inline enum tel_line_is
line_wrong(struct tel_line *l, const unsigned char *p, const char *want,
    const char *detail)
{
	l->want = want;
	l->detail = detail;
	l->at = p;
	return LINE_INVALID;
}

/* Notes that the reader fails. */
static inline enum tel_line_is
line_failed(struct tel_line *l, tel_status status)
{
	l->failed = status;
	return LINE_FAILED;
}

/* A line that detection looks at. */
struct tel_peek {
	const unsigned char *p, *end;
	size_t next; /* where in the window the next one starts; 0 at first */
	int whole;   /* it has an end */
	int all;     /* it may start behind r->probe_most */
};

/* How sure it is that a line is of the format, 0 to 100. */
typedef int tel_line_score(const unsigned char *p, const unsigned char *end);

/*
 * Finds the next line that detection looks at.  More input is waited for only
 * while it is text, or score, which may be NULL, knows the line.  1; 0: the
 * line is not text, or starts behind r->probe_most, which r->probe_cut has.
 */
int tel__line_peek(struct tel_reader *r, struct tel_peek *k,
    tel_line_score *score, int mixed);

/*
 * Finds the end of the line that starts from bytes after r->p, and has no end
 * in seen bytes after it. most: bytes that it may have, including its end.  The
 * caller clears truncated and over.
 * TEL_OK, TEL_END (there is no line), TEL_ENOMEM.
 */
tel_status tel__line_find(struct tel_reader *r, struct tel_line *l, size_t from,
    size_t seen, size_t most);

/* Makes a copy of the n bytes at p the line, with an end. */
tel_status tel__line_copy(struct tel_reader *r, struct tel_line *l,
    const unsigned char *p, size_t n);

/*
 * 1 when no byte from p to end rules text out.  mixed: the output of any
 * program may be among the lines.
 */
int tel__line_is_text(const unsigned char *p, const unsigned char *end,
    int mixed);

/*
 * 1 when the line has no event: it is blank, begins with '#', or is what grep
 * puts between groups of lines.
 */
static inline int
tel_line_is_comment(const unsigned char *line, const unsigned char *end)
{
	const unsigned char *p = line;

	if (*p > '-')
		return 0;
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p == end || *line == '#' ||
	    (end - p == 2 && memcmp(p, "--", 2) == 0);
}

/* The value of a hexadecimal digit, over 15 for any other byte. */
extern const unsigned char tel__lines_digit[256];

/* Hexadecimal digits, any number of them, to at most 64 bits. */
static inline int
lines_hex(const unsigned char **p, uint64_t *out)
{
	const unsigned char *q = *p;
	uint64_t v = 0, over = 0;
	unsigned d;

	while ((d = tel__lines_digit[*q]) < 16) {
		over |= v >> 60;
		v = v << 4 | d;
		q++;
	}
	if (q == *p || over != 0)
		return 0;
	*p = q;
	*out = v;
	return 1;
}

#endif
