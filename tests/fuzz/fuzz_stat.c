/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: the language of specs, and inst streams.  The first byte of
 * the input chooses.  Specs, one a line and the second line the groups, are
 * bound to schemas of two releases and fed the events of a small log.  What
 * was counted, or read from a stream, is asked for everything, written, and
 * must come to the same when it is read again.
 */
#include "fake_log.h"
#include "stats/stats.h"
#include "target.h"

/* So that neither many large histograms nor their text take long. */
#define MEMORY ((size_t)4 << 20)

/* ------------------------------------------------------------- asking */

static void
ask_stat(const tel_stat *t)
{
	char text[TEL_INT128_TEXT], value[80];
	const char *name;
	tel_bucket b, before = { 0 };
	tel_quantile q;
	tel_value v;
	tel_int128 w;
	int64_t p;
	size_t i, next;
	tel_key k;
	tel_top top;
	unsigned j;

	for (i = 0; i <= TEL_NUMBER_ERROR; i++)
		if (tel_stat_number(t, (tel_number)i, &w))
			must(strlen(tel_int128_text(w, text)) < sizeof(text));
	for (i = 0; tel_stat_parameter(t, (unsigned)i, &name, &p); i++)
		must(*name != '\0');
	for (i = 0; tel_stat_group_value(t, (unsigned)i, &v); i++)
		must(tel_value_text(&v, value, sizeof(value)) > 0 ||
		    v.datatype == TEL_STRING);
	next = tel_stat_next_bucket(t, 0);
	for (i = 0; tel_stat_bucket(t, i, &b); i++) {
		must(i == 0 || b.lo == before.hi);
		must(b.open || b.lo < b.hi);
		must((b.count == 0) == (i < next));
		if (i == next)
			next = tel_stat_next_bucket(t, i + 1);
		before = b;
	}
	for (i = 0; i <= 4; i++)
		(void)tel_stat_quantile(t, (uint32_t)i * 250000000, &q);
	for (i = 0; i < 100 && tel_stat_key(t, i, &k); i++)
		(void)tel_value_text(&k.value, value, sizeof(value));
	for (i = 0; tel_stat_top(t, i, &top); i++) {
		must(top.log != NULL);
		for (j = 0; j < top.nshown; j++)
			(void)tel_value_text(&top.shown[j], value,
			    sizeof(value));
	}
	must(tel_stat_name(t) != NULL && tel_stat_definition(t) != NULL &&
	    tel_stat_unit(t) != NULL);
}

static void
ask(tel_stats *s)
{
	tel_origin o;
	tel_part p;
	tel_pool_use pool;
	tel_int128 w;
	size_t i;

	for (i = 0; i <= TEL_TOTAL_INHERITED; i++)
		(void)tel_stats_total(s, (tel_total)i, &w);
	for (i = 0; tel_stats_origin(s, i, &o); i++)
		must(o.schema != NULL);
	for (i = 0; tel_stats_pool(s, i, &pool); i++)
		must(pool.label != NULL);
	for (i = 0; tel_stats_part(s, TEL_PART_TYPE, i, &p); i++)
		must(p.name != NULL && p.events > 0);
	for (i = 0; tel_stats_part(s, TEL_PART_KIND, i, &p); i++)
		must(p.events > 0);
	must(tel_stats_sort_keys(s, TEL_KEYS_COUNT) == TEL_OK);
	for (i = 0; i < tel_stats_count(s); i++)
		ask_stat(tel_stats_get(s, i));
}

/* ------------------------------------------------- writing and reading */

struct memory {
	char *bytes;
	size_t count, at;
};

static ptrdiff_t
put(void *arg, const void *data, size_t size)
{
	struct memory *m = arg;

	m->bytes = realloc(m->bytes, m->count + size + 1);
	must(m->bytes != NULL);
	memcpy(m->bytes + m->count, data, size);
	m->count += size;
	return (ptrdiff_t)size;
}

static ptrdiff_t
get(void *arg, void *buffer, size_t size)
{
	struct memory *m = arg;
	size_t n = m->count - m->at < size ? m->count - m->at : size;

	memcpy(buffer, m->bytes + m->at, n);
	m->at += n;
	return (ptrdiff_t)n;
}

static struct memory
write_out(tel_stats *s)
{
	struct memory m = { NULL, 0, 0 };
	tel_output *out = tel_output_new_callback(put, &m);

	must(out != NULL && tel_stats_write_inst(s, out, 1) == TEL_OK &&
	    tel_output_flush(out) == TEL_OK);
	tel_output_free(out);
	return m;
}

/* What is written reads back, and is written the same way. */
static void
round_trip(tel_stats *s)
{
	struct memory first = write_out(s), second;
	tel_stats *t = tel_stats_new();

	must(t != NULL);
	must(tel_inst_probe(first.bytes, first.count) == TEL_INST_STATS);
	must(tel_stats_set(t, TEL_STATS_MAX_GROUPS, 100000) == TEL_OK);
	must(tel_stats_read_inst(t, get, &first, "first") == TEL_OK);
	ask(t);
	second = write_out(t);
	must(first.count == second.count &&
	    memcmp(first.bytes, second.bytes, first.count) == 0);
	tel_stats_free(t);
	free(first.bytes);
	free(second.bytes);
}

/* A message is one line of printable ASCII, and its place is in the text. */
static void
check_failure(const tel_stats *s)
{
	const char *p = tel_stats_error(s), *text = tel_stats_error_text(s);

	must(*p != '\0');
	for (; *p != '\0'; p++)
		must(*p >= ' ' && *p <= '~');
	must(text == NULL || tel_stats_error_column(s) <= strlen(text) + 1);
}

/* ------------------------------------------------------------- targets */

static void
run_schema(const char *name, const char *groups, char *const *specs,
    unsigned count)
{
	tel_stats *s = tel_stats_new();
	const struct tel_type *t;
	struct fake f;
	unsigned i;

	must(s != NULL &&
	    tel_stats_set(s, TEL_STATS_MAX_MEMORY, MEMORY) == TEL_OK);
	must(tel_stats_set(s, TEL_STATS_MAX_GROUPS, 50) == TEL_OK);
	must(tel_stats_set(s, TEL_STATS_MAX_OPEN, 3) == TEL_OK);
	fake_begin(&f, name);
	for (i = 0; i < count; i++)
		if (tel_stats_add(s, specs[i]) != TEL_OK)
			check_failure(s);
	if (*groups != '\0' && tel_stats_set_groups(s, groups) != TEL_OK)
		check_failure(s);
	if (tel__stats_bind(s, f.schema) != TEL_OK) {
		check_failure(s);
	} else {
		must(tel_stats_begin(s, NULL) == TEL_OK);
		for (i = 0; i < 2 * f.schema->ntypes; i++) {
			t = i % 40 != 39 ?
			    &f.schema->types[i % f.schema->ntypes] :
			    tel__schema_unknown(f.schema, 0x3f00 + i);
			must(t != NULL);
			must(
			    tel_stats_event(s, fake_event(&f, t, i)) == TEL_OK);
		}
		must(tel_stats_end(s, NULL) == TEL_OK);
		ask(s);
		round_trip(s);
	}
	tel_stats_free(s);
	fake_end(&f);
}

static void
run_specs(char *text, const char *schema)
{
	char none[1] = "", *specs[8], *groups = none, *p = text;
	unsigned count = 0, line = 0;

	for (; p != NULL && count < 8; line++) {
		char *next = strchr(p, '\n');

		if (next != NULL)
			*next++ = '\0';
		if (line == 1)
			groups = p;
		else
			specs[count++] = p;
		p = next;
	}
	run_schema(schema, groups, specs, count);
}

static void
run_inst(char *text, size_t size)
{
	struct memory m = { text, size, 0 };
	tel_stats *s = tel_stats_new();
	tel_status st;

	must(s != NULL &&
	    tel_stats_set(s, TEL_STATS_MAX_MEMORY, MEMORY) == TEL_OK);
	st = tel_stats_read_inst(s, get, &m, "stream");
	if (st != TEL_OK)
		check_failure(s);
	ask(s);
	round_trip(s);
	tel_stats_free(s);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	if (size < 1)
		return 0;
	text = malloc(size);
	must(text != NULL);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	if (data[0] == 'i')
		run_inst(text, size - 1);
	else
		run_specs(text,
		    data[0] == 's' ? "mps-1.117.0/lii6gc" :
		                     "mps-1.118.0/lii3gc,be");
	free(text);
	return 0;
}
