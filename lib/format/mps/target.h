/* SPDX-License-Identifier: BSD-2-Clause */
/* Which release and platform an MPS stream is to be written for. */
#ifndef TEL_MPS_TARGET_H
#define TEL_MPS_TARGET_H

#include <string.h>

#include "model/schema.h"

/*
 * Makes the schema that a name asks for.
 * name: "mps", the release of the log; "mps:VERSION", of the stream as in
 *	"mps:1.6.1", or of the release as in "mps:1.116.0"; or a name of
 *	tel_schema_new().  "/PLATFORM" may follow a version or a release, and
 *	",be" or ",le" either.  Parts that are left out are those of the log.
 * log: the schema of the log, which need not be of the MPS; NULL to check
 *	the name alone.
 * Returns TEL_OK; TEL_EINVAL: the name is invalid, or omits what the log does
 * not have; TEL_ENOMEM.
 */
tel_status tel__mps_target(const char *name, const struct tel_schema *log,
    struct tel_schema **out);

/* Nonzero when both are one release on one platform. */
static inline int
mps_same(const struct tel_schema *a, const struct tel_schema *b)
{
	const struct tel_abi *x = &a->abi, *y = &b->abi;

	return x->word == y->word && x->big == y->big &&
	    a->header == b->header && a->ntypes == b->ntypes &&
	    strcmp(a->name, b->name) == 0;
}

#endif
