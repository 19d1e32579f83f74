/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Telling traces of allocators from other text.  A dialect that shares its
 * lines with the traced program is looked for in all that may be looked at,
 * but only when no other form knows the input.
 */
#include "format/alloc/alloc.h"

#include <string.h>

/* Lines that are looked at where each line should be one. */
#define PROBE_LINES 8u

/* 1 when the line in s, which is one of the dialect, says which it is. */
static int
is_proof(struct al *s, enum al_line line)
{
	const unsigned char *p = s->line.p + 2;
	uint64_t n;

	if (line == AL_BEGUN || line == AL_MORE)
		return 1;
	if (s->d == &tel__al_heaptrack && line == AL_EVENT &&
	    *s->line.p == 'v') {
		/* the second line, of any other letter, decides */
		s->past.headers +=
		    al_hex(&p, &n) && (p == s->line.end || *p == ' ');
		return 0;
	}
	if (s->d == &tel__al_heaptrack)
		return line == AL_EVENT && s->past.headers == 1;
	if (s->d == &tel__al_rep)
		return line == AL_EVENT && s->past.headers == 4;
	return line == AL_EVENT || (line == AL_SILENT && *s->line.p == '=');
}

/*
 * Finds the end of the line that begins at bytes behind r->p.  1; 0 when the
 * input ends before, or more would be too much.
 */
static int
find_end(struct tel_reader *r, const struct al_dialect *d, size_t at,
    const unsigned char **end)
{
	size_t seen = at, have;

	for (;;) {
		have = (size_t)(r->end - r->p);
		if (have > TEL_PROBE_SIZE)
			have = TEL_PROBE_SIZE;
		*end =
		    have > seen ? memchr(r->p + seen, '\n', have - seen) : NULL;
		if (*end != NULL)
			return 1;
		/* do not wait for more input that is not text */
		if (r->eof || have == TEL_PROBE_SIZE ||
		    !tel__line_is_text(r->p + seen, r->p + have, d->mixed))
			return 0;
		seen = have;
		tel__reader_fill(r, have + 1);
	}
}

int
tel__al_probe(struct tel_reader *r)
{
	const struct al_dialect *d = r->format->dialect;
	struct al_held room;
	struct al s = { .d = d, .held = &room };
	unsigned char last[256];
	enum al_line line;
	unsigned i;
	size_t at = 0, n;

	if (r->sure >= d->score)
		return 0;
	for (i = 0; d->mixed || i < PROBE_LINES; i++) {
		/* what another form knows is not waited for */
		if (r->sure > 0 && i != s.past.headers)
			return 0;
		s.line.p = r->p + at;
		if (!find_end(r, d, at, &s.line.end)) {
			/* the only line may have no end */
			n = (size_t)(r->end - r->p) - at;
			if (!r->eof || n == 0 || n >= sizeof(last))
				return 0;
			memcpy(last, r->p + at, n);
			last[n] = '\n';
			s.line.p = last;
			s.line.end = last + n;
		}
		if (s.line.p != last)
			s.line.p = r->p + at;
		if (!tel__line_is_text(s.line.p, s.line.end, d->mixed))
			return 0;
		n = (size_t)(s.line.end + 1 - s.line.p);
		s.line.limit = s.line.end + 1;
		s.line.step = n;
		if (s.line.end > s.line.p && s.line.end[-1] == '\r')
			s.line.end--;
		line = d->parse(&s, s.line.p);
		if (is_proof(&s, line))
			return i == s.past.headers ? d->score : d->score - 10;
		if (s.line.p == last)
			return 0;
		at += n;
	}
	return 0;
}
