/* SPDX-License-Identifier: BSD-2-Clause */
/* The fields of each type of a schema that may have labels. */
#ifndef TEL_SPOTS_H
#define TEL_SPOTS_H

#include "model/schema.h"

struct spot {
	const struct tel_field *field;
	enum tel_load load;
	uint16_t offset;
};

/* Those of a type: from first to before last. */
struct spot_range {
	uint32_t first, last;
};

struct spots {
	const struct tel_schema *schema; /* NULL: none yet */
	struct spot_range *ranges;       /* by a type's index */
	struct spot *all;
};

/* Makes those of a schema.  TEL_OK, TEL_ENOMEM. */
tel_status tel__spots_make(struct spots *spots, const struct tel_schema *s);
void tel__spots_free(struct spots *spots);

#endif
