/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of output formats. */
#ifndef TEL_PRINT_REGISTRY_H
#define TEL_PRINT_REGISTRY_H

#include "render/renderer.h"

/* The renderer of place i in the table, NULL past the last. */
const struct tel_renderer *tel__print_renderer(unsigned i);

/* The renderer of that name, or NULL. */
const struct tel_renderer *tel__print_find(const char *name);

#endif
