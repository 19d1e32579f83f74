/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names: types, strings, names of threads.  They are entries in the region of
 * the rings, so that every stream, and every reader of the rings, has all of
 * them.
 */
#include "emit.h"

#include <errno.h>
#include <string.h>

/* A hash table of strings: offset of the entry, plus 1. */
#define SLOTS 32768u
static struct {
	uint32_t slots[SLOTS];
	uint32_t count;
} strings;

static char *
names(void)
{
	return (char *)(uintptr_t)PAGE->region;
}

int
tel__emit_add_entry(unsigned what, uint64_t value, const void *bytes,
    size_t length)
{
	const uint64_t used = PAGE->names_used;
	struct tel__ring_entry entry = { 0, what, value, tel__emit_ticks(),
		length };
	const size_t size = (sizeof(entry) + length + 7) & ~(size_t)7;

	if (length > NAMES_BYTES || size > NAMES_BYTES - used)
		return tel__emit_result(ENOSPC);
	entry.bytes = (uint32_t)size;
	memcpy(names() + used, &entry, sizeof(entry));
	if (length > 0)
		memcpy(names() + used + sizeof(entry), bytes, length);
	__atomic_store_n(&PAGE->names_used, used + size, __ATOMIC_RELEASE);
	return 0;
}

const struct tel__ring_entry *
tel__emit_next_entry(uint64_t *at)
{
	const struct tel__ring_entry *entry =
	    (const struct tel__ring_entry *)(const void *)(names() + *at);

	if (*at >= __atomic_load_n(&PAGE->names_used, __ATOMIC_ACQUIRE))
		return NULL;
	*at += entry->bytes;
	return entry;
}

/* --------------------------------------------------------------- strings */

void
tel__emit_forget_strings(void)
{
	memset(&strings, 0, sizeof(strings));
}

/* The slot of a string, or the free slot for it. */
static uint32_t *
emit_names_find_slot(const char *s, size_t n)
{
	size_t i = tel__native_xxh64(s, n) & (SLOTS - 1);
	uint64_t at;

	for (; strings.slots[i] != 0; i = (i + 1) & (SLOTS - 1)) {
		at = strings.slots[i] - 1;
		const struct tel__ring_entry *entry = tel__emit_next_entry(&at);
		if (entry->length == n && memcmp(entry + 1, s, n) == 0)
			break;
	}
	return &strings.slots[i];
}

uint64_t
tel_intern(const char *string)
{
	const size_t n = tel__emit_length(string);
	uint64_t id = 0, at;

	if (!tel__emit_state.open) {
		errno = EBADF;
		return 0;
	}
	pthread_mutex_lock(&tel__emit_state.lock);
	uint32_t *slot = emit_names_find_slot(string, n);
	at = PAGE->names_used;
	if (*slot != 0) {
		at = *slot - 1;
		const struct tel__ring_entry *entry = tel__emit_next_entry(&at);
		id = entry->value;
	} else if (strings.count < SLOTS / 2 &&
	    tel__emit_add_entry(ENTRY_STRING, strings.count + 1, string, n) ==
	        0) {
		*slot = (uint32_t)at + 1;
		id = ++strings.count;
	} else {
		errno = ENOSPC;
	}
	pthread_mutex_unlock(&tel__emit_state.lock);
	return id;
}

static void
emit_names_label(unsigned code, const void *address, uint64_t string)
{
	tel_emit_value values[2];

	values[0].p = address;
	values[1].u = string;
	(void)tel_emit_values(code, values, 2);
}

void
tel_label(const void *address, uint64_t string)
{
	emit_names_label(CODE_LABEL, address, string);
}

void
tel_label_pointer(const void *pointer, uint64_t string)
{
	emit_names_label(CODE_LABEL_POINTER, pointer, string);
}

int
tel_thread_name(const char *name)
{
	if (!tel__emit_state.open)
		return tel__emit_result(EBADF);
	/* sets tel__emit_self.thread */
	tel_clock_sync();
	pthread_mutex_lock(&tel__emit_state.lock);
	int st = tel__emit_add_entry(ENTRY_THREAD, tel__emit_self.thread, name,
	    tel__emit_length(name));
	pthread_mutex_unlock(&tel__emit_state.lock);
	return st;
}
