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

/* 1 when the line in s identifies the dialect, and is valid in it. */
static int
is_proof(struct al *s, enum al_line line)
{
	const unsigned char *p = s->line.p + 2;
	uint64_t n;

	if (line == AL_BEGUN || line == AL_MORE)
		return 1;
	if ((s->d->defines || s->d == &tel__al_heaptrack) && line == AL_EVENT &&
	    *s->line.p == 'v') {
		/* the second line, of any other letter, decides */
		s->past.headers +=
		    al_hex(&p, &n) && (p == s->line.end || *p == ' ');
		return 0;
	}
	/* the raw trace has no strings, which come first in the data */
	if (s->d->defines)
		return line == AL_EVENT && *s->line.p == 's' &&
		    s->past.headers == 1;
	if (s->d == &tel__al_heaptrack)
		return line == AL_EVENT && s->past.headers == 1;
	if (s->d == &tel__al_rep)
		return line == AL_EVENT && s->past.headers == 4;
	return line == AL_EVENT || (line == AL_COMMENT && *s->line.p == '=');
}

int
tel__al_probe(struct tel_reader *r)
{
	const struct al_dialect *d = r->format->dialect;
	struct al_pending_call room;
	struct al s = { .d = d, .held = &room };
	unsigned char last[256];
	/* the data of heaptrack begin as its raw trace does */
	struct tel_peek k = { .next = 0, .all = d->defines };

	if (r->best_score >= d->score)
		return 0;
	for (unsigned i = 0; d->mixed || d->defines || i < PROBE_LINES; i++) {
		/* what another form knows is not waited for */
		if (r->best_score > 0 && i != s.past.headers)
			return 0;
		size_t at = k.next;
		if (!tel__line_peek(r, &k, NULL, d->mixed) ||
		    !tel__line_is_text(k.p, k.end, d->mixed))
			return 0;
		s.line.p = k.p;
		s.line.end = k.end;
		s.line.step = k.next - at;
		s.line.limit = k.p + s.line.step;
		if (!k.whole) {
			/* the only line may have no end */
			size_t n = (size_t)(k.end - k.p);
			if (!r->eof || n == 0 || n >= sizeof(last))
				return 0;
			memcpy(last, k.p, n);
			last[n] = '\n';
			s.line.p = last;
			s.line.end = last + n;
			s.line.limit = s.line.end + 1;
		}
		enum al_line line = d->parse(&s, s.line.p);
		if (is_proof(&s, line))
			return d->defines || i == s.past.headers ?
			    d->score :
			    d->score - 10;
		/* times, and suppressions, may come before the first string */
		if (!k.whole ||
		    (d->defines && (line != AL_EVENT || s.past.headers != 1)))
			return 0;
	}
	return 0;
}
