/* SPDX-License-Identifier: BSD-2-Clause */
/* A row of the forms "csv" and "json". */
#include "row.h"

#include <inttypes.h>
#include "common/report/figure.h"
#include "common/page.h"

/* The last integer that each reader of JSON takes as it is. */
#define EXACT ((uint64_t)1 << 53)

struct row
row_open(const struct report *r, const char *type, const char *allocator,
    const char *item)
{
	struct row row = { r->out, r->telreplay->form == &form_json, allocator,
		type, item };

	if (!row.json)
		return row;
	put(row.out, "{\"type\":");
	put_json(row.out, type);
	if (allocator[0] != '\0') {
		put(row.out, ",\"allocator\":");
		put_json(row.out, allocator);
	}
	if (item[0] != '\0') {
		put(row.out, ",\"item\":");
		put_json(row.out, item);
	}
	return row;
}

void
row_close(const struct row *row)
{
	if (row->json)
		put(row->out, "}\n");
}

/* What stands before a value. */
static void
put_before(const struct row *row, const char *name)
{
	if (row->json) {
		putf(row->out, ",\"%s\":", name);
		return;
	}
	put_csv(row->out, row->type);
	put(row->out, ",");
	put_csv(row->out, row->allocator);
	put(row->out, ",");
	put_csv(row->out, row->item);
	putf(row->out, ",%s,", name);
}

static void
put_after(const struct row *row)
{
	if (!row->json)
		put(row->out, "\n");
}

void
row_integer(const struct row *row, const char *name, uint64_t v)
{
	const char *quote = row->json && v > EXACT ? "\"" : "";

	put_before(row, name);
	putf(row->out, "%s%" PRIu64 "%s", quote, v, quote);
	put_after(row);
}

void
row_real(const struct row *row, const char *name, double v)
{
	char text[FIGURE_TEXT];

	put_before(row, name);
	put(row->out, figure_exact(v, text));
	put_after(row);
}

void
row_string(const struct row *row, const char *name, const char *text)
{
	if (text[0] == '\0')
		return;
	put_before(row, name);
	if (row->json)
		put_json(row->out, text);
	else
		put_csv(row->out, text);
	put_after(row);
}
