/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of all formats.  Their order is that of their built-in schemas in
 * a list; within a stage it is also the order in which they are asked whether
 * they know an input.
 */
#include "format/registry.h"

#define FORMATS(F) \
	F(mps, STAGE_EVENTS) \
	F(ets, STAGE_MAGIC) \
	F(hpm, STAGE_MAGIC) \
	F(hpm_meta, STAGE_MAGIC) \
	F(jfr, STAGE_MAGIC) \
	F(inst, STAGE_LINES) \
	F(tel, STAGE_MAGIC) \
	F(rings, STAGE_MAGIC) \
	F(ctf, STAGE_MAGIC) \
	F(text, STAGE_LINES) \
	F(cnv, STAGE_LINES) \
	F(mpstxt, STAGE_LINES) \
	F(mpsdump, STAGE_LINES) \
	F(ftrace, STAGE_FALLBACK) \
	F(android, STAGE_FALLBACK) \
	F(heaptrack_data, STAGE_FALLBACK) \
	F(heaptrack, STAGE_FALLBACK) \
	F(logalloc, STAGE_FALLBACK) \
	F(mtrace, STAGE_FALLBACK) \
	F(rep, STAGE_FALLBACK) \
	F(kdump, STAGE_FALLBACK) \
	F(ltrace, STAGE_FALLBACK) \
	F(valgrind, STAGE_FALLBACK)

#define DECLARE(name, stage) \
	extern const struct tel_format_ops tel__format_##name;
#define ROW(name, stage) { &tel__format_##name, stage },

FORMATS(DECLARE)

static const struct tel_format_row rows[] = { FORMATS(ROW) };

const struct tel_formats tel__formats = { rows,
	sizeof(rows) / sizeof(rows[0]) };

/* The name of a format's schema number n, or NULL past the last one. */
static const char *
schema_name(const struct tel_format_ops *f, unsigned n)
{
	if (f->schema_name != NULL)
		return f->schema_name(n);
	return f->schema_new != NULL && n == 0 ? f->name : NULL;
}

const char *
tel_release_name(unsigned i)
{
	const char *name;

	for (unsigned row = 0; row < tel__formats.count; row++) {
		const struct tel_format_ops *f = rows[row].format;

		for (unsigned n = 0; (name = schema_name(f, n)) != NULL; n++)
			if (i-- == 0)
				return name;
	}
	return NULL;
}

tel_status
tel_schema_new(const char *name, tel_schema **out)
{
	return tel__format_schema(&tel__formats, name, out);
}
