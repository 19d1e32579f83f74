/* SPDX-License-Identifier: BSD-2-Clause */
/* Text that grows. */
#include "stats/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
tel__text_put(struct text *t, const char *bytes, size_t count)
{
	size_t room = t->room;
	char *new;

	if (t->failed)
		return;
	if (count >= room - t->count) {
		if (room == 0)
			room = 64;
		while (room <= t->count + count)
			room *= 2;
		new = realloc(t->bytes, room);
		if (new == NULL) {
			t->failed = 1;
			return;
		}
		t->bytes = new;
		t->room = room;
	}
	memcpy(t->bytes + t->count, bytes, count);
	t->count += count;
	t->bytes[t->count] = '\0';
}

void
tel__text_string(struct text *t, const char *s)
{
	tel__text_put(t, s, strlen(s));
}

void
tel__text_char(struct text *t, char c)
{
	tel__text_put(t, &c, 1);
}

void
tel__text_u64(struct text *t, uint64_t v)
{
	char buffer[24], *p = buffer + sizeof(buffer);

	do
		*--p = (char)('0' + v % 10);
	while ((v /= 10) != 0);
	tel__text_put(t, p, (size_t)(buffer + sizeof(buffer) - p));
}

void
tel__text_i64(struct text *t, int64_t v)
{
	if (v < 0)
		tel__text_char(t, '-');
	tel__text_u64(t, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

void
tel__text_clock(struct text *t, uint64_t v)
{
	char buffer[24];

	snprintf(buffer, sizeof(buffer), "%016" PRIX64, v);
	tel__text_put(t, buffer, 16);
}

void
tel__text_clear(struct text *t)
{
	free(t->bytes);
	memset(t, 0, sizeof(*t));
}

char *
tel__text_copy(const char *s, size_t n)
{
	char *p = malloc(n + 1);

	if (p != NULL) {
		memcpy(p, s, n);
		p[n] = '\0';
	}
	return p;
}
