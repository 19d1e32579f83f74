/* SPDX-License-Identifier: BSD-2-Clause */
/* The key of a range. */
#include "model/pair.h"

#include "base/hash.h"

uint64_t
tel__pair_key(const struct tel_event *ev, int *known)
{
	const struct tel_type *t = ev->type;
	uint64_t h = TEL__FNV, v = 0;
	unsigned i, count = 0;
	int strings = 0, at;
	size_t n;

	for (i = 0; i < TEL_ROLE_PARTS; i++) {
		at = t->role_field[i];
		if (at < 0 || at >= t->nfields)
			continue;
		count++;
		const char *string = tel_event_string(ev, (unsigned)at, &n);
		if (string != NULL) {
			strings = 1;
			h = tel__fnv(h, string, n);
		} else {
			v = tel_event_u64(ev, (unsigned)at);
			h = tel__fnv_number(h, v, sizeof(v));
		}
	}
	*known = count > 0;
	return count == 0 ? 0 : count == 1 && !strings ? v : h;
}
