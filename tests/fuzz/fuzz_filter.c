/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: the compiler of expressions and the readers of selections, and
 * of roles, as --alloc has them.
 * The first byte of the input chooses what the rest is; what compiles is
 * bound to schemas of several releases and run over the events of a small
 * log, one of each type with fields of all data types.
 */
#include "fake_log.h"
#include "target.h"

/* One call after the other, so that dt has a past. */
static void
run(struct fake *f, tel_filter *filter, tel_filter *contrary, tel_expr *expr)
{
	const struct tel_type *t;
	const tel_event *ev;
	tel_value v;
	unsigned i;
	int decided, hit;

	for (i = 0; i <= f->schema->ntypes; i++) {
		t = i < f->schema->ntypes ?
		    &f->schema->types[i] :
		    tel__schema_unknown(f->schema, 0x3fff);
		if (t == NULL)
			abort();
		ev = fake_event(f, t, i);
		decided = tel_filter_type(filter, t);
		hit = tel_filter_match(filter, ev);
		if (hit < 0 || (decided >= 0 && decided != hit) ||
		    tel_filter_match(contrary, ev) != !hit)
			abort();
		if (expr != NULL && tel_expr_eval(expr, ev, &v) != TEL_OK)
			abort();
	}
}

static tel_status
set(tel_filter *f, unsigned what, const char *text)
{
	switch (what % 8) {
	case 1: return tel_filter_set_kinds(f, text);
	case 2: return tel_filter_set_types(f, text);
	case 3: return tel_filter_set_time(f, text);
	case 4: return tel_filter_add_addresses(f, text);
	case 5: return tel_filter_add_label(f, text);
	default: return tel_filter_set_expression(f, text);
	}
}

/* A message is one line of printable ASCII, and its place is in the text. */
static void
check_failure(const tel_filter *f)
{
	const char *p = tel_filter_error(f);
	const char *text = tel_filter_error_text(f);
	unsigned column = tel_filter_error_column(f);

	if (*p == '\0' || text == NULL || column > strlen(text) + 1)
		abort();
	for (; *p != '\0'; p++)
		if (*p < ' ' || *p > '~')
			abort();
}

static void
try_schema(const char *name, tel_filter *filter, tel_filter *contrary,
    const char *text)
{
	tel_expr *expr = tel_expr_new();
	struct fake f;
	int valued;

	if (expr == NULL)
		abort();
	fake_begin(&f, name);
	valued = tel_expr_set(expr, text) == TEL_OK &&
	    tel_expr_bind(expr, f.schema) == TEL_OK;
	if (tel_filter_bind(filter, f.schema) == TEL_OK) {
		must(tel_filter_bind(contrary, f.schema) == TEL_OK);
		run(&f, filter, contrary, valued ? expr : NULL);
	} else {
		check_failure(filter);
	}
	tel_expr_free(expr);
	fake_end(&f);
}

/* A type that allocates or so, in a log of text. */
static void
try_role(unsigned which, const char *text)
{
	static const char log[] =
	    "0000000000000001 Grab p=0x10 n=16 m=-3 s=\"a b\"\n"
	    "0000000000000002 Grab p=0x30 n=18446744073709551615 m=2 s=\"\"\n"
	    "0000000000000003 Drop p=0x10 r=1.5\n"
	    "0000000000000004 Move p=0x30 q=0x50 n=7\n";
	static const char *const roles[] = { "alloc", "free", "realloc",
		"reserve", "commit", "create-pool", "destroy-pool",
		"create-buffer", "destroy-buffer", "end-thread", "end-process",
		"describe-pool", "new", "delete", "delete-sized", "free-sized",
		"none" };
	uint64_t notices = 0;
	tel_reader *r = tel_reader_new();
	const tel_event *ev;
	tel_status st;
	tel_alloc a;

	must(r != NULL &&
	    tel_reader_set_notify(r, take_notice, &notices) == TEL_OK);
	st = tel_reader_add_role(r, roles[which % 16], text);
	must(st == TEL_EINVAL || (st == TEL_OK && which % 16 != 15));
	must(tel_reader_open_memory(r, log, sizeof(log) - 1, "log") == TEL_OK);
	while ((st = tel_reader_next(r, &ev)) == TEL_OK)
		must(tel_event_alloc(ev, &a, sizeof(a)) ==
		    (a.kind != TEL_ALLOC_NONE));
	must(st == TEL_END);
	tel_reader_free(r);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	tel_filter *filter, *contrary;
	char *text;

	if (size < 1)
		return 0;
	text = malloc(size);
	filter = tel_filter_new();
	contrary = tel_filter_new();
	if (text == NULL || filter == NULL || contrary == NULL)
		abort();
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	if (data[0] % 8 == 6)
		try_role(data[0] / 8u, text);
	tel_filter_set_invert(contrary, 1);
	if (set(filter, data[0], text) != TEL_OK) {
		check_failure(filter);
	} else {
		must(set(contrary, data[0], text) == TEL_OK);
		try_schema("mps-1.117.0/lii6gc", filter, contrary, text);
		try_schema("mps-1.118.0/lii3gc,be", filter, contrary, text);
	}
	tel_filter_free(filter);
	tel_filter_free(contrary);
	free(text);
	return 0;
}
