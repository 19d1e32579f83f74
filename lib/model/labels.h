/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Labels: the strings that a log interns, and the addresses it labels with
 * them.  An address may be labelled again; a label holds from its own clock
 * on until the next one's.  And the frames of backtraces, each of which names
 * the frame of its caller.
 */
#ifndef TEL_LABELS_H
#define TEL_LABELS_H

#include "base/index.h"
#include "tel/event.h"

struct tel_labels;

/*
 * Spaces of names.  Those of addresses and pointers are apart from MPS 1.118
 * on; the others are for fields that say so (tel_field.space).
 */
enum tel_space {
	TEL_SPACE_ADDRESS,
	TEL_SPACE_POINTER,
	TEL_SPACE_THREAD,
	TEL_SPACE_PROCESS,
	TEL_SPACE_METHOD,
	TEL_SPACE_CONTRACT,
	TEL_SPACE_MESSAGE, /* what its labels are, events say themselves */
	/* a frame's number is labelled with the name of the frame */
	TEL_SPACE_STACK,
	TEL_SPACES,
	/* not in these tables: the field has the names (tel_field.names) */
	TEL_SPACE_ENUM = TEL_SPACES
};

/* The result of tel__labels_find(). */
struct tel_label {
	uint64_t id;        /* the string's number */
	const char *string; /* its bytes; NULL when it was not interned yet */
	size_t length;
	/*
	 * Nonzero: every byte is from 0x20 to 0x7e and neither a quote nor a
	 * backslash, and bytes may be read up to a whole multiple of
	 * TEL_LABEL_PIECE.
	 */
	int plain;
};
#define TEL_LABEL_PIECE 16u

/* Holds max strings and as many labels; NULL when out of memory. */
struct tel_labels *tel__labels_new(size_t max);
void tel__labels_free(struct tel_labels *l);

/*
 * Interns a string: the bytes are copied.  Interning a number again replaces
 * its string.  TEL_OK; TEL_ENOMEM; TEL_ELIMIT: full, nothing was changed.
 */
tel_status tel__labels_intern(struct tel_labels *l, uint64_t id,
    const char *string, size_t length);

/*
 * Labels address from clock on with the string number id.  The same label a
 * second time changes nothing.  TEL_OK; TEL_ENOMEM; TEL_ELIMIT.
 */
tel_status tel__labels_add(struct tel_labels *l, enum tel_space space,
    uint64_t address, uint64_t clock, uint64_t id);

/*
 * Has fn(arg, gone) called before each change, and, with gone set, before the
 * tables are freed; NULL: no more.  Returns 1, or 0 when another is called.
 */
typedef void tel_labels_fn(void *arg, int gone);
int tel__labels_guard(struct tel_labels *l, tel_labels_fn *fn, void *arg);

/*
 * Views, for threads that search tables which do not change meanwhile: a search
 * remembers what it found, and each view does so by itself.
 * tel__labels_view() makes it one of the present tables.  others: they may be
 * other tables than those that it was a view of.
 */
struct tel_labels *tel__labels_view_new(void);
void tel__labels_view(struct tel_labels *view, const struct tel_labels *l,
    int others);
void tel__labels_view_free(struct tel_labels *view);

/* How full the tables are. */
struct tel_label_use {
	size_t strings, bytes, labels;
	size_t most; /* labels of one address */
};

/*
 * Adds the sizes of the tables to *use.  Returns 1; or 0 when tables with all
 * of that could be full.
 */
int tel__labels_use(const struct tel_labels *l, struct tel_label_use *use);

/* How many labels and frames there are: 0 means no label can be found. */
size_t tel__labels_count(const struct tel_labels *l);

/*
 * A bit for each hash that an address with a label has (a Bloom filter, of one
 * function), as most addresses have none: the first member of the tables.  The
 * high bits of a hash are those that are used.
 */
#define TEL_SIGN_BITS 13
struct tel_signs {
	uint64_t words[(size_t)1 << (TEL_SIGN_BITS - 6)];
};

static inline uint64_t
tel__labels_hash(uint64_t address)
{
	return address * UINT64_C(0x9e3779b97f4a7c15);
}

/* The bit of a hash, and the place of its word. */
static inline uint64_t
tel__labels_sign(uint64_t hash, size_t *word)
{
	*word = (size_t)(hash >> (64 - TEL_SIGN_BITS + 6));
	return (uint64_t)1 << (hash >> (64 - TEL_SIGN_BITS) & 63);
}

/* 0: address has no label in any space but that of stacks. */
static inline int
tel__labels_could_have(const struct tel_labels *l, uint64_t address)
{
	const struct tel_signs *signs = (const void *)l;
	size_t word;
	const uint64_t sign =
	    tel__labels_sign(tel__labels_hash(address), &word);

	return (signs->words[word] & sign) != 0;
}

/*
 * The label of address that is in force at clock.  Returns 1 and fills out,
 * or 0 when there is none.  out->string is valid until the next change.
 */
int tel__labels_find(const struct tel_labels *l, enum tel_space space,
    uint64_t address, uint64_t clock, struct tel_label *out);

/* A frame of a backtrace. */
struct tel_frame {
	uint64_t address; /* of an instruction, or behind a call */
	uint64_t parent;  /* the caller's number; 0: there is none */
	const char *name; /* its label, or NULL */
	size_t length;
};

/* How many frames are held for each string that may be. */
#define TEL_FRAMES_PER_LABEL 16u

/*
 * Adds frame number id, not 0, of a process.  The strings of the name are
 * copied.  A number that is known stays as it is.
 * TEL_OK; TEL_ENOMEM; TEL_ELIMIT.
 */
tel_status tel__labels_add_frame(struct tel_labels *l, uint64_t process,
    uint64_t id, const struct tel_frame *frame);
/*
 * The number of the frame of that name, called by that parent, of a log whose frames
 * are all added so: 1 and up.  seen: the index of them, empty at first.
 * TEL_OK and *id; TEL_ENOMEM; TEL_ELIMIT.
 */
tel_status tel__labels_intern_frame(struct tel_labels *l,
    struct tel__index *seen, const struct tel_frame *frame, uint64_t *id);
/* How many frames there are. */
size_t tel__labels_frames(const struct tel_labels *l);
/*
 * The place of a frame, from 0 in order of occurrence.  Returns 1, or 0 when
 * there is no such frame.
 */
int tel__labels_find_frame(const struct tel_labels *l, uint64_t process,
    uint64_t id, size_t *place);
/* The frame at a place.  Valid until the next one is added. */
const struct tel_frame *tel__labels_frame(const struct tel_labels *l,
    size_t place);

#endif
