/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code shared by line formats: finding a line, passing on lines that are not
 * events, reporting what is wrong with one, and numbers in it.
 */
#ifndef TEL_LINES_H
#define TEL_LINES_H

#include "reader/reader.h"

/* A line of the input, without its end; *end ends any token. */
struct tel_line {
	const unsigned char *p;
	const unsigned char *end;
	const unsigned char *limit; /* what may be read ends here */
	size_t step;                /* from r->p to the next line */
	uint64_t offset;            /* of the first byte */
	int cut;                    /* the input ended before the line did */
	int over;                   /* it is too long: nothing is at p */
	unsigned char *copy;        /* of a cut line, with an end */
};

/*
 * Finds the end of the line that starts from bytes after r->p, and has no end
 * in seen bytes after it. most: bytes that it may have, including its end.  The
 * caller clears cut and over.
 * TEL_OK, TEL_END (there is no line), TEL_ENOMEM.
 */
tel_status tel__line_find(struct tel_reader *r, struct tel_line *l, size_t from,
    size_t seen, size_t most);

/* Makes a copy of the n bytes at p the line, with an end. */
tel_status tel__line_copy(struct tel_reader *r, struct tel_line *l,
    const unsigned char *p, size_t n);

/*
 * What was found at at in place of what was expected, for a report: up to 31
 * bytes in quotes, or "the end of the line".
 */
#define LINE_FOUND 40
void tel__line_found(char found[LINE_FOUND], const unsigned char *at,
    const unsigned char *end);

/* Reports that the last line, which is an event, has no end. */
void tel__line_report_cut(struct tel_reader *r, const struct tel_line *l);

/*
 * 1 when no byte from p to end rules text out.  mixed: the output of any
 * program may be among the lines.
 */
int tel__line_is_text(const unsigned char *p, const unsigned char *end,
    int mixed);

/*
 * 1 when the line says nothing: it is blank, begins with '#', or is what grep
 * puts between groups of lines.
 */
static inline int
tel_line_is_silent(const unsigned char *line, const unsigned char *end)
{
	const unsigned char *p = line;

	if (*p > '-')
		return 0;
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p == end || *line == '#' ||
	    (end - p == 2 && memcmp(p, "--", 2) == 0);
}

/* Silent lines that are kept for whoever passes the log on. */
struct tel_lead {
	unsigned char *p; /* since the last event */
	size_t size, room;
	unsigned char *preamble; /* before the first event */
};

/*
 * Keeps n bytes at r->p; what would make it more than most is lost.
 * TEL_OK, TEL_ENOMEM.
 */
tel_status tel__lead_keep(struct tel_reader *r, struct tel_lead *lead, size_t n,
    size_t most);
/* Gives what is kept to the event; where that is the first, to the log. */
void tel__lead_give(struct tel_reader *r, struct tel_lead *lead);
/* The log has ended: what is kept is its tail. */
void tel__lead_end(struct tel_reader *r, const struct tel_lead *lead);
void tel__lead_close(struct tel_reader *r, struct tel_lead *lead);

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
