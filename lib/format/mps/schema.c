/* SPDX-License-Identifier: BSD-2-Clause */
/* Schemas of MPS streams, from the table of events and a platform's ABI. */
#include "format/mps/mps.h"
#include "model/row.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------- names of values */

#define NAMES(first, list) \
	{ \
		first, sizeof(list) / sizeof((list)[0]), list \
	}

/*
 * What the MPS's headers call its codes: the short texts of its reasons to
 * start a trace, which were numbered from 1 to release 1.117; the results and
 * ranks of mps.h; and the bits of the modes of an access.
 */
static const char why[][TEL_NAME_ROOM] = { "gen 0 capacity",
	"dynamic criterion", "opportunism", "full incremental", "full", "walk",
	"extension" };
static const char results[][TEL_NAME_ROOM] = { "ok", "fail", "resource",
	"memory", "limit", "unimpl", "io", "commit limit", "param" };
static const char ranks[][TEL_NAME_ROOM] = { "ambig", "exact", "final",
	"weak" };
static const char modes[][TEL_NAME_ROOM] = { "read", "write", "read+write" };

static const struct tel_names why_to_117 = NAMES(1, why);
static const struct {
	const char *field;
	struct tel_names names;
} enums[] = {
	{ "why", NAMES(0, why) },
	{ "res", NAMES(0, results) },
	{ "OK", NAMES(0, results) }, /* of CommitLimitSet, to 1.117 */
	{ "rank", NAMES(0, ranks) },
	{ "mode", NAMES(1, modes) },
};

static void
name_values(struct tel_type *t, unsigned release)
{
	for (struct tel_field *f = t->fields; f < t->fields + t->nfields; f++)
		for (size_t i = 0; i < sizeof(enums) / sizeof(enums[0]); i++) {
			if (f->datatype != TEL_UNSIGNED ||
			    strcmp(f->name, enums[i].field) != 0)
				continue;
			f->names = i == 0 && release < 118 ? &why_to_117 :
			                                     &enums[i].names;
			f->space = TEL_SPACE_ENUM;
			t->has_names = 1;
		}
}

/* ----------------------------------------------------- units of fields */

/*
 * Unsigned fields that are bytes in all types and releases that have them.
 * Capacities of generations are not here: they were in KiB once.
 */
static const char bytes[][TEL_NAME_ROOM] = { "size", "unitSize", "userSize",
	"chunkSize", "chunkMin", "grainSize", "align", "extendBy", "avgSize",
	"meanSize", "minSize", "maxSize", "filled", "spare", "limit",
	"reserved", "condemned", "notCondemned", "foundation", "forwarded",
	"forwardedSize", "preservedInPlace", "preservedInPlaceSize",
	"reclaimSize", "rootScanSize", "rootCopiedSize", "segScanSize",
	"segCopiedSize", "singleScanSize", "singleCopiedSize", "totalSize",
	"freeSize", "newSize", "oldSize", "newDeferredSize", "oldDeferredSize",
	"newSizeAtCreate", "vmem0", "vmem1", "vmem2" };
/* Doubles that are shares. */
static const char fractions[][TEL_NAME_ROOM] = { "mortality", "mortalityTrace",
	"mortalityAverage", "spare" };

static int
mps_schema_is_in(const char (*names)[TEL_NAME_ROOM], size_t n, const char *name)
{
	/* a schema is made for each release that a log may be of */
	while (n > 0 &&
	    (*names[n - 1] != *name || strcmp(names[n - 1], name) != 0))
		n--;
	return n > 0;
}

static void
set_units(struct tel_type *t)
{
	for (struct tel_field *f = t->fields; f < t->fields + t->nfields; f++)
		if (f->datatype == TEL_UNSIGNED &&
		    mps_schema_is_in(bytes, sizeof(bytes) / sizeof(bytes[0]),
		        f->name))
			f->unit = TEL_UNIT_BYTES;
		else if (f->datatype == TEL_DOUBLE &&
		    mps_schema_is_in(fractions,
		        sizeof(fractions) / sizeof(fractions[0]), f->name))
			f->unit = TEL_UNIT_FRACTION;
}

/* --------------------------------------------------------------- types */

/* Rows of a release come in order of codes; the table need not. */
static int
mps_schema_by_code(const void *a, const void *b)
{
	const struct tel_type *x = a, *y = b;

	return (x->code > y->code) - (x->code < y->code);
}

static struct tel_type_row
type_row(const struct mps_row *row)
{
	struct tel_type_row r = { row->code, row->name,
		tel__mps_kinds[row->kind].name, row->fields, row->role };

	return r;
}

static int
has_row(const struct mps_release *release, const struct mps_row *row)
{
	return row->first <= release->number && row->last >= release->number;
}

static tel_status
make_types(struct tel_schema *s, const struct mps_release *release)
{
	const struct mps_row *row, *end = tel__mps_rows + tel__mps_nrows;
	struct tel_type_row r;

	for (row = tel__mps_rows; row < end; row++) {
		if (!has_row(release, row))
			continue;
		r = type_row(row);
		struct tel_type *t = tel__schema_add_row(s, &r, 0);
		if (t == NULL)
			return TEL_ENOMEM;
		t->kind_number = row->kind;
		t->unused = !row->used;
		if (row->collection[0] != '\0')
			t->collection = row->collection;
		name_values(t, release->number);
		set_units(t);
		if (row->code >= s->ncodes)
			s->ncodes = row->code + 1u;
	}
	qsort(s->types, s->ntypes, sizeof(*s->types), mps_schema_by_code);
	s->by_code = calloc(s->ncodes, sizeof(*s->by_code));
	if (s->by_code == NULL)
		return TEL_ENOMEM;
	for (unsigned i = 0; i < s->ntypes; i++) {
		s->types[i].index = i;
		s->types[i].schema = s;
		s->by_code[s->types[i].code] = &s->types[i];
	}
	for (row = tel__mps_rows; row < end; row++) {
		r = type_row(row);
		if (has_row(release, row))
			tel__schema_pair_row(s, &r);
	}
	return TEL_OK;
}

tel_status
tel__mps_schema_new(unsigned release, const char *platform,
    const struct tel_abi *abi, struct tel_schema **out)
{
	const struct mps_release *rel = &tel__mps_releases[release];
	struct tel_abi natural = { 0 };
	struct tel_schema *s;
	char name[sizeof(s->name)], version[sizeof(s->version)];

	(void)tel__mps_platform_abi(platform, &natural);
	snprintf(name, sizeof(name), "%s/%.7s%s", rel->name, platform,
	    abi->big == natural.big ? "" : (abi->big ? ",be" : ",le"));
	snprintf(version, sizeof(version), "%u.%u.%u", rel->version[0],
	    rel->version[1], rel->version[2]);
	s = tel__schema_make(name, version, abi,
	    abi->word == 4 && abi->align8 == 4 ? 12 : 16, tel__mps_nrows);
	if (s == NULL)
		return TEL_ENOMEM;
	snprintf(s->platform, sizeof(s->platform), "%s", platform);
	s->release = release;
	s->align = abi->word;
	s->byte_bool = rel->byte_bool;
	s->described = 0;
	s->split_space = rel->split_space;
	s->registry = tel__mps_kinds;
	s->nregistry = MPS_KINDS;
	s->undocumented = !rel->documented;
	s->doc = tel__mps_doc;
	/* each flush of its buffers is written newest first */
	s->buffered = 1;
	/* 1.111 flushes one kind at a time, after a sync point */
	s->sync_first = release == 0;
	tel_status st = make_types(s, rel);
	if (st != TEL_OK) {
		tel_schema_free(s);
		return st;
	}
	*out = s;
	return TEL_OK;
}

/*
 * A platform's name is two letters each for operating system, architecture
 * and compiler: the MPS manual, "Platforms".
 */
int
tel__mps_platform_abi(const char *platform, struct tel_abi *out)
{
	static const char *const systems[] = { "li", "fr", "xc", "w3", "an" };
	struct tel_abi abi = { 8, 8, 8, 0, 0 };
	size_t i;

	if (strlen(platform) < 4 || strlen(platform) > 7)
		return 0;
	for (i = 0; i < sizeof(systems) / sizeof(systems[0]); i++)
		if (memcmp(platform, systems[i], 2) == 0)
			break;
	if (i == sizeof(systems) / sizeof(systems[0]))
		return 0;
	abi.ms_bits = memcmp(platform, "w3", 2) == 0;
	if (memcmp(platform + 2, "i3", 2) == 0) {
		abi.word = 4;
		if (!abi.ms_bits)
			abi.align8 = abi.align_double = 4;
	} else if (memcmp(platform + 2, "ar", 2) == 0) {
		abi.word = 4; /* 32-bit ARM aligns 64 bits to 8 bytes */
	} else if (memcmp(platform + 2, "i6", 2) != 0 &&
	    memcmp(platform + 2, "a6", 2) != 0) {
		return 0;
	}
	*out = abi;
	return 1;
}
