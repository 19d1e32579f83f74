/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a log has of a runtime: pauses, collections, ranges of them, and samples
 * of what it allocated.
 */
#ifndef TELSTAT_RUNTIME_H
#define TELSTAT_RUNTIME_H

#include "base/names.h"
#include "base/table.h"
#include "model/collector.h"
#include "telstat.h"

struct pause {
	uint64_t duration, clock;
	uint64_t collection; /* its place, or UINT64_MAX */
	uint32_t log;        /* as .ends has it */
	unsigned name, collector, cause;
};

struct collection {
	uint64_t clock;
	uint64_t paused; /* ns */
	uint64_t before, after, capacity, ended;
	uint32_t log;
	unsigned name, cause;
	int has_before, has_after;
};

struct runtime {
	struct pause *pauses;
	size_t npauses, pause_room;
	uint64_t count, total; /* of all pauses */
	struct collection *collections;
	size_t ncollections, collection_room;
	struct tel__table by_number; /* of log and number: its place */
	struct tel__names names;
	uint32_t log; /* of the last event */
	uint64_t left_out;
	struct tel__collector ends; /* of ranges; the logs' clocks */
	struct pause *cycles; /* collections that are ranges, by duration */
	size_t ncycles, cycle_room;
	tel_heap *stacks, *classes; /* of samples; classes NULL: not yet */
	int sorted;
	tel_heap *samples; /* of stacks, but not of allocations; NULL: none */
	int only_samples;  /* are wanted: the report is of --stacks */
	int only_ranges;   /* of the first log */
	/* of the types of a schema of the log: whether they are wanted */
	const tel_schema *schema;
	unsigned char *wanted;
	size_t ntypes, wanted_room;
};

#endif
