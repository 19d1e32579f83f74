/* SPDX-License-Identifier: BSD-2-Clause */
/* The symbols of a file, found by address: libdw passes through all for each. */
#ifndef TELREC_SYMTAB_H
#define TELREC_SYMTAB_H

#include <stddef.h>
#include <stdint.h>

struct symbol {
	uint64_t start, size; /* 0: it has no size, as a label of assembly */
	uint64_t most;        /* where it and those before it end, at most */
	const char *name;     /* not copied */
	uint32_t number;      /* of those added */
	uint8_t local;        /* others are preferred, wherever they start */
	uint8_t strength; /* of symbols at one address, the greatest is taken */
};

/* All zeros is an empty one. */
struct symtab {
	struct symbol
	    *list; /* those with a size, others by address, local ones */
	size_t count, room, globals;
	uint64_t *labels; /* where those without a size are */
	size_t nlabels, label_room;
};

/* Adds a symbol.  1, or 0 without memory. */
int symtab_add(struct symtab *t, const struct symbol *symbol);
/* To be called once all are added. */
void symtab_sort(struct symtab *t);

/*
 * The name of the symbol that an address is in; NULL: it is in none.  labelled:
 * set to 1 if it may then be behind one without a size, else to 0.
 */
const char *symtab_find(const struct symtab *t, uint64_t address,
    int *labelled);

void symtab_clear(struct symtab *t);

#endif
