/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists as text: "[1,-2,3]", "["a","b"]". */
#ifndef TEL_RENDER_LIST_H
#define TEL_RENDER_LIST_H

#include "base/buffer.h"
#include "model/event.h"

/* Adds a string in quotes, in telcat's text or as JSON, as in a list. */
void tel__render_string(struct tel__buffer *b, const char *s, size_t n,
    int json);

/*
 * Adds the list in field f, in telcat's text or as JSON, for which all that a
 * terminal would act on is escaped.
 */
void tel__render_list(struct tel__buffer *b, const struct tel_event *ev,
    const struct tel_field *f, int json);

/* Adds a number as an element of a list in field f would be shown. */
void tel__render_number(struct tel__buffer *b, const struct tel_field *f,
    uint64_t v, int json);

/*
 * Adds the names of the frames of a stack, the innermost first, as a list in
 * JSON; nothing for no stack.
 */
void tel__render_stack(struct tel__buffer *b, const struct tel_event *ev,
    uint64_t frame);

#endif
