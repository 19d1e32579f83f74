/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FlatBuffers, in the wire format of its "internals" document: tables, vectors
 * and strings, each added behind what refers to it.  An object is known by its
 * place in the buffer; where memory ran out, which the buffer notes, places
 * have no meaning and are not written to.
 */
#ifndef TEL_FLATBUFFER_H
#define TEL_FLATBUFFER_H

#include "base/buffer.h"

/* Starts a message, whose root table is added next. */
void tel__flat_start(struct tel__buffer *b);

/*
 * Adds a table and returns its place.  sizes: for each slot in order a digit,
 * the bytes of its value (4 for a reference), 0 for one that is absent.
 */
size_t tel__flat_table(struct tel__buffer *b, const char *sizes);

/* Sets the value of a slot, of so many bytes. */
void tel__flat_set(struct tel__buffer *b, size_t table, unsigned slot,
    unsigned size, uint64_t value);

/* Has a slot refer to an object, which comes after the table. */
void tel__flat_refer(struct tel__buffer *b, size_t table, unsigned slot,
    size_t object);

/* Adds a vector of elements of size bytes, all zeros; they start at + 4. */
size_t tel__flat_vector(struct tel__buffer *b, size_t count, size_t size);

/* Has an element of a vector of references refer to an object. */
void tel__flat_element(struct tel__buffer *b, size_t vector, size_t i,
    size_t object);

/* Sets eight bytes at a place in a vector. */
void tel__flat_word(struct tel__buffer *b, size_t at, uint64_t value);

/* Adds a string of n bytes. */
size_t tel__flat_string(struct tel__buffer *b, const char *s, size_t n);

/* Ends the message: its size becomes a multiple of eight. */
void tel__flat_end(struct tel__buffer *b);

#endif
