/* SPDX-License-Identifier: BSD-2-Clause */
/* The one table of output formats: a new one is a file and a line here. */
#include "print/registry.h"

/* In the order of tel_format, which is also the order in help and messages. */
#define RENDERERS(RENDERER) \
	RENDERER(text) \
	RENDERER(csv) \
	RENDERER(json) \
	RENDERER(sql) \
	RENDERER(mpscnv) \
	RENDERER(mpstxt) \
	RENDERER(tracerpt) \
	RENDERER(perfetto) \
	RENDERER(chrome) \
	RENDERER(folded) \
	RENDERER(sqlite) \
	RENDERER(arrow) \
	RENDERER(html) \
	RENDERER(ctf) \
	RENDERER(ctf2)

#define DECLARE(name) extern const struct tel_renderer tel__renderer_##name;
#define ADDRESS(name) &tel__renderer_##name,

RENDERERS(DECLARE)

static const struct tel_renderer *const renderers[] = { RENDERERS(ADDRESS) };

const struct tel_renderer *
tel__print_renderer(unsigned i)
{
	return i < sizeof(renderers) / sizeof(renderers[0]) ? renderers[i] :
	                                                      NULL;
}

const struct tel_renderer *
tel__print_find(const char *name)
{
	const struct tel_renderer *r;

	for (unsigned i = 0; (r = tel__print_renderer(i)) != NULL; i++)
		if (strcmp(r->name, name) == 0)
			return r;
	return NULL;
}

const char *
tel_printer_format_name(unsigned i)
{
	const struct tel_renderer *r = tel__print_renderer(i);

	return r == NULL ? NULL : r->name;
}

int
tel_printer_format_flags(const char *name)
{
	const struct tel_renderer *r = tel__print_find(name);

	return r == NULL ? -1 : (int)r->flags;
}
