/* SPDX-License-Identifier: BSD-2-Clause */
/* What a test cannot go on without. */
#ifndef MUST_H
#define MUST_H

#include <stdlib.h>

#include "tap.h"
#include "tel.h"

static inline void *
must(void *p)
{
	if (p == NULL) {
		diag("no memory");
		exit(1);
	}
	return p;
}

static inline void
must_ok(tel_status st)
{
	if (st != TEL_OK) {
		diag("%s", tel_status_text(st));
		exit(1);
	}
}

#endif
