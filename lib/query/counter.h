/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a name in an expression is in events of a type: a field, or one by what
 * it means, whatever it is called: a counter of the processor by what it
 * counts, the thread and the process.
 */
#ifndef TEL_QUERY_COUNTER_H
#define TEL_QUERY_COUNTER_H

#include "model/schema.h"

/* No field has the name. */
#define COUNTER_NONE (-1)
/* The name is cpi, and the type counts both cycles and instructions. */
#define COUNTER_CPI (-2)

/*
 * The number of the field called name; where none is, of that which counts
 * "cycles" or "instructions", or which is the "thread" or the "process";
 * COUNTER_CPI or COUNTER_NONE.
 */
int tel__counter_find(const struct tel_type *t, const char *name);

#endif
