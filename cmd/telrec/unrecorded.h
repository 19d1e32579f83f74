/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs that were executed, but not recorded. */
#ifndef TELREC_UNRECORDED_H
#define TELREC_UNRECORDED_H

#include "telrec/arena.h"

/* Reports each program of a recording that has ended, and why it is missing. */
void unrecorded_report(const struct arena *a);

#endif
