/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Metadata: facts on a log as a whole, as keys and values, such as the host and
 * the command that wrote it.
 */
#ifndef TEL_METADATA_H
#define TEL_METADATA_H

#include "tel/reader.h"

#define TEL__METADATA_MAX 256u
#define TEL__METADATA_KEY 255u
#define TEL__METADATA_VALUE 65535u

struct tel__metadata_entry {
	char *key;
	char *value;
};

/* All zeros are none. */
struct tel__metadata {
	struct tel__metadata_entry *entries; /* in the order of their setting */
	size_t count, room;
};

void tel__metadata_clear(struct tel__metadata *m);

/*
 * Sets a key to a value, of which a NUL ends it; an earlier value is replaced.
 * TEL_OK; TEL_EINVAL: the key or the value is not valid; TEL_ELIMIT: there
 * are TEL__METADATA_MAX of them; TEL_ENOMEM.
 */
tel_status tel__metadata_set(struct tel__metadata *m, const char *key,
    size_t key_size, const char *value, size_t value_size);

/*
 * Adds a key with a value beside others that it has, unless that pair is
 * there.  As tel__metadata_set().
 */
tel_status tel__metadata_pair(struct tel__metadata *m, const char *key,
    const char *value);

/* Removes a key, if it is there.  TEL_OK; TEL_EINVAL: it is not valid. */
tel_status tel__metadata_remove(struct tel__metadata *m, const char *key);

/* The value of a key; NULL when it has none. */
const char *tel__metadata_get(const struct tel__metadata *m, const char *key);

/* Sets all that from has.  As tel__metadata_set(). */
tel_status tel__metadata_add(struct tel__metadata *m,
    const struct tel__metadata *from);

#endif
