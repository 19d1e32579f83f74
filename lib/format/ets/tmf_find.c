/* SPDX-License-Identifier: BSD-2-Clause */
/* What was described: which of several holds, and the names of messages. */
#include "format/ets/tmf.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static int
tmf_find_compare(const void *a, const void *b)
{
	const struct tmf_type *x = a, *y = b;

	if (x->provider != y->provider)
		return x->provider < y->provider ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	if (x->version != y->version)
		return x->version < y->version ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

void
tel__tmf_finish(struct tmf *t)
{
	unsigned i, n = 0;

	if (t->ntypes == 0)
		return;
	qsort(t->types, t->ntypes, sizeof(*t->types), tmf_find_compare);
	for (i = 0; i < t->ntypes; i++) {
		const struct tmf_type *next = &t->types[i + 1];

		if (i + 1 < t->ntypes &&
		    next->provider == t->types[i].provider &&
		    next->number == t->types[i].number &&
		    next->version == t->types[i].version)
			free(t->types[i].name);
		else
			t->types[n++] = t->types[i];
	}
	t->ntypes = n;
}

/* The contract called by n bytes at name; -1 when there is none. */
static int
find_contract(const struct tmf *t, const char *name, size_t n)
{
	int i, near = -1;

	for (i = 0; i < (int)t->nproviders; i++) {
		const char *token = t->providers[i].token;
		size_t length = strlen(token);

		if (t->providers[i].number >= 0 || token[0] != '0' ||
		    length <= n || memcmp(token + length - n, name, n) != 0)
			continue;
		if (length == n + 1)
			return i;
		/* the map may say in which namespace it is */
		if (token[length - n - 1] == '.')
			near = i;
	}
	return near;
}

const char *
tel__tmf_message(const struct tmf *t, const char *contract, size_t n,
    int64_t tag)
{
	unsigned lo = 0, hi = t->ntypes, mid;
	int at;

	/* "X.Imp" and "X.Exp" are the two ends of X */
	if (n > 4 &&
	    (memcmp(contract + n - 4, ".Imp", 4) == 0 ||
	        memcmp(contract + n - 4, ".Exp", 4) == 0))
		n -= 4;
	if (n == 0 || t->nmessages == 0 ||
	    (at = find_contract(t, contract, n)) < 0)
		return NULL;
	TEL__BISECT(lo, hi, mid,
	    t->types[mid].provider < (unsigned)at ||
	        (t->types[mid].provider == (unsigned)at &&
	            t->types[mid].number < tag));
	const struct tmf_type *type = &t->types[lo];
	if (lo == t->ntypes || type->provider != (unsigned)at ||
	    type->number != tag)
		return NULL;
	return type->name;
}

void
tel__tmf_free(struct tmf *t)
{
	for (unsigned i = 0; i < t->nproviders; i++) {
		free(t->providers[i].token);
		free(t->providers[i].name);
	}
	for (unsigned i = 0; i < t->ntypes; i++)
		free(t->types[i].name);
	for (unsigned i = 0; i < t->nblocks; i++) {
		for (unsigned j = 0; j < t->blocks[i].nfields; j++)
			free(t->blocks[i].fields[j].name);
		free(t->blocks[i].fields);
	}
	free(t->providers);
	free(t->types);
	free(t->blocks);
	memset(t, 0, sizeof(*t));
}
