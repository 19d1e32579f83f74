/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions around an address, by an index of a file's debug information:
 * libdw passes through all of a unit for each address, finds no functions that
 * are in a namespace, as those of Rust, and before release 0.191 no unit that
 * .debug_aranges lacks, which clang does not write.
 */
#ifndef TELREC_SCOPES_H
#define TELREC_SCOPES_H

#include <stddef.h>
#include <stdint.h>

#include "telrec/libdw.h"

/* Functions that are inlined into each other, at most, and the outermost. */
#define SCOPES_MAX 256

/* Code of a unit or a function. */
struct span {
	uint64_t start, end;
	Dwarf_Die die;
	size_t unit;
};

struct spans {
	struct span *list;
	size_t count, room;
};

/* A namespace, a type or a function; outer: the one that it is in, or NO_HOLDER. */
struct holder {
	Dwarf_Die die;
	size_t outer;
};
#define NO_HOLDER SIZE_MAX

struct unit {
	Dwarf_Die die; /* of its .dwo, once it is indexed */
	void *at;      /* where it is in the file, in order */
	struct spans functions;
	struct holder *holders; /* of C++, in order of their addresses */
	size_t nholders, holder_room;
	int indexed;
};

/* All zeros is an empty one. */
struct scopes {
	struct spans spans; /* of units */
	struct unit *units;
	size_t nunits, room;
	uint64_t bias; /* of addresses of the module */
	int indexed;
};

/* The functions at an address. */
struct scope {
	Dwarf_Die *unit; /* NULL: none */
	const struct unit *in;
	uint64_t pc;  /* the address in it */
	size_t count; /* of functions, the outermost first */
	Dwarf_Die functions[SCOPES_MAX];
};

void scopes_find(struct scopes *s, const struct libdw *f, Dwfl_Module *module,
    uint64_t address, struct scope *scope);

/*
 * The unit that a function is declared in, indexed: by the linker's optimiser,
 * or by dwz, it is another one than that of an address.  in: if none is found.
 */
const struct unit *scopes_unit_of(struct scopes *s, const struct libdw *f,
    const struct unit *in, const Dwarf_Die *function);

/* The one that a function of a unit is in, or NO_HOLDER. */
size_t scopes_outer(const struct unit *u, const Dwarf_Die *function);

/* Whether a unit is of C++. */
int scopes_is_cxx(const struct libdw *f, Dwarf_Die *unit);

void scopes_clear(struct scopes *s);

#endif
