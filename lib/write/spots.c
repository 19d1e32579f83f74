/* SPDX-License-Identifier: BSD-2-Clause */
/* The fields of each type of a schema that may have labels. */
#include "write/spots.h"

#include <stdlib.h>
#include <string.h>

void
tel__spots_free(struct spots *spots)
{
	free(spots->ranges);
	free(spots->all);
	memset(spots, 0, sizeof(*spots));
}

tel_status
tel__spots_make(struct spots *spots, const struct tel_schema *s)
{
	struct spot_range *ranges;
	struct spot *all;
	uint32_t n = 0;
	unsigned i, j;

	for (i = 0; i < s->ntypes; i++)
		n += s->types[i].nfields;
	ranges = calloc((size_t)s->ntypes + 1, sizeof(*ranges));
	all = calloc((size_t)n + 1, sizeof(*all));
	tel__spots_free(spots);
	spots->ranges = ranges;
	spots->all = all;
	if (ranges == NULL || all == NULL)
		return TEL_ENOMEM;
	for (n = 0, i = 0; i < s->ntypes; i++) {
		const struct tel_type *t = &s->types[i];

		ranges[t->index].first = n;
		for (j = 0; j < t->nfields; j++) {
			const struct tel_field *f = &t->fields[j];

			if (!tel_field_labelled(f))
				continue;
			all[n].field = f;
			all[n].load = f->load;
			all[n++].offset = f->offset;
		}
		ranges[t->index].last = n;
	}
	spots->schema = s;
	return TEL_OK;
}
