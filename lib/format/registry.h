/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of all formats, for the public reader and writer. */
#ifndef TEL_REGISTRY_H
#define TEL_REGISTRY_H

#include "reader/format.h"

extern const struct tel_formats tel__formats;

#endif
