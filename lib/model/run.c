/* SPDX-License-Identifier: BSD-2-Clause */
/* The accessors of a run. */
#include "model/run.h"

#include "base/getter.h"
#include "tel/run.h"

TEL__GETTER(size_t, tel_run_count, tel_run, count)
TEL__GETTER(const uint64_t *, tel_run_clocks, tel_run, clocks)

const tel_type *
tel_run_type(const tel_run *run, size_t i)
{
	return i < run->count ? run_type(run, i) : NULL;
}

void
tel_run_drop(tel_run *run, size_t n)
{
	if (n > run->count)
		n = run->count;
	run->data += n;
	run->clocks += n;
	run->types += n;
	run->sizes += n;
	run->at += n;
	run->numbers += n;
	if (run->raw != NULL)
		run->raw_sizes += n;
	run->count -= n;
}

const tel_event *
tel_run_event(tel_run *run, size_t i)
{
	return i < run->count ? run_event(run, i) : NULL;
}

size_t
tel_run_column(const tel_run *run, const tel_type *type, unsigned field,
    uint64_t *values)
{
	size_t i, n = 0;

	if (field >= type->nfields)
		return 0;
	const struct tel_field *f = &type->fields[field];
	for (i = 0; i < run->count; i++)
		if (run->types[i] == type->index && run_type(run, i) == type)
			values[n++] = tel_load(f, run->data[i]);
	return n;
}
