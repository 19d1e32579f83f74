/* SPDX-License-Identifier: BSD-2-Clause */
/* Writers: several logs in one stream, and lines. */
#include "write_log.h"

static tel_schema *schema;
static int64_t max_labels = 100;

/* Writes two logs, one after the other or merged; the last status. */
static tel_status
join(tel_reader *a, tel_reader *b, int merged, struct bytes *out, char *error,
    size_t size)
{
	tel_output *o = tel_output_new_callback(put_bytes, out);
	tel_writer *w = tel_writer_new(o);
	tel_merge *m = tel_merge_new();
	const tel_event *ev;
	tel_status st = TEL_OK;

	out->size = 0;
	if (tel_writer_set(w, TEL_WRITE_MAX_LABELS, max_labels) != TEL_OK)
		abort();
	if (merged) {
		if (tel_merge_add(m, a, TEL_ORDER_TIME) != TEL_OK ||
		    tel_merge_add(m, b, TEL_ORDER_TIME) != TEL_OK)
			abort();
		while (st == TEL_OK && tel_merge_next(m, &ev) == TEL_OK)
			st = tel_writer_event(w, ev);
	} else {
		while (st == TEL_OK && tel_reader_next(a, &ev) == TEL_OK)
			st = tel_writer_event(w, ev);
		if (tel_writer_end_file(w, a) != TEL_OK)
			abort();
		while (st == TEL_OK && tel_reader_next(b, &ev) == TEL_OK)
			st = tel_writer_event(w, ev);
	}
	snprintf(error, size, "%s", tel_writer_error(w));
	if (tel_writer_finish(w) != TEL_OK || tel_output_flush(o) != TEL_OK)
		abort();
	tel_merge_free(m);
	tel_writer_free(w);
	tel_output_free(o);
	tel_reader_free(a);
	tel_reader_free(b);
	return st;
}

static void
add_begin(struct bytes *b, uint64_t clock, const char *build)
{
	add(b, schema, "EventInit", clock,
	    (uint64_t[]){ 2, 0, 0, 92, 19, 64, 1000000 }, "");
	add_intern(b, schema, clock, 1, build);
}

#define BUILD "@(#)Ravenbrook MPS, product.mps, release/1.118.0, x"

static void
check_join(void)
{
	static struct bytes a, b, out;
	char error[256], *got;
	int merged;

	add_begin(&a, 1, BUILD);
	add_intern(&a, schema, 10, 2, "apple");
	add_label(&a, schema, 12, 0x1000, 2);
	add_free(&a, schema, 20, 0x1000);
	add_begin(&b, 2, BUILD);
	add_label(&b, schema, 11, 0x2000, 2);
	add_intern(&b, schema, 13, 2, "berry");
	add_intern(&b, schema, 14, 3, "apple");
	add_label(&b, schema, 15, 0x3000, 3);
	add_free(&b, schema, 21, 0x2000);
	add_free(&b, schema, 22, 0x3000);
	for (merged = 0; merged < 2; merged++) {
		if (join(open_bytes(a.data, a.size, AS, "a"),
		        open_bytes(b.data, b.size, AS, "b"), merged, &out,
		        error, sizeof(error)) != TEL_OK)
			abort();
		got = outline(&out);
		is_str(got,
		    merged ?
		        "E1 I1=" BUILD " I10=apple L11 L12[apple] I13=berry "
		        "I14=apple L15[apple] F20[apple] F21[berry] "
		        "F22[apple]" :
		        "E1 I1=" BUILD " I10=apple L12[apple] F20[apple] L11 "
		        "I13=berry I14=apple L15[apple] F21[berry] "
		        "F22[apple]",
		    "two logs, %s: strings keep what they say",
		    merged ? "merged" : "one after the other");
		free(got);
	}
	/* the build, apple, berry, and apple under another number */
	for (max_labels = 3; max_labels <= 4; max_labels++)
		ok(join(open_bytes(a.data, a.size, AS, "a"),
		       open_bytes(b.data, b.size, AS, "b"), 1, &out, error,
		       sizeof(error)) ==
		        (max_labels == 3 ? TEL_ELIMIT : TEL_OK),
		    "four strings, and room for %d: %s", (int)max_labels,
		    error);
	max_labels = 100;
}

/*
 * Two logs that give the same numbers to strings of their own, or to the same
 * ones, merged: each label has the string that its log gave to its number.  The
 * greatest number is taken, so that free ones are looked for.
 */
static void
check_numbers(void)
{
	static const char *const words[] = { "a", "b", "cc", "", "d" };
	static const uint64_t ids[] = { 2, 3, 4, 5, UINT64_MAX };
	static struct bytes logs[2], out;
	uint64_t clock, address, seed = 1;
	unsigned round, wrong = 0;
	char error[256];

	for (round = 0; round < 40; round++) {
		const char *said[2][5] = { { NULL } };
		char want[16384] = "", got[16384] = "", *text, *word;

		logs[0].size = logs[1].size = 0;
		add_begin(&logs[0], 1, BUILD);
		add_begin(&logs[1], 2, BUILD);
		for (clock = 10; clock < 130; clock += 2) {
			seed =
			    seed * 6364136223846793005u + 1442695040888963407u;
			const unsigned log = (unsigned)(seed >> 40 & 1);
			const unsigned id = (unsigned)(seed >> 41) % 5;
			struct bytes *b = &logs[log];

			if (seed >> 50 & 1) {
				said[log][id] = words[(seed >> 51) % 5];
				add_intern(b, schema, clock, ids[id],
				    said[log][id]);
				continue;
			}
			address = 0x1000 * clock;
			add_label(b, schema, clock, address, ids[id]);
			add_free(b, schema, clock + 1, address);
			snprintf(want + strlen(want), 64, " F%d",
			    (int)clock + 1);
			if (said[log][id] != NULL)
				snprintf(want + strlen(want), 64, "[%s]",
				    said[log][id]);
		}
		if (join(open_bytes(logs[0].data, logs[0].size, AS, "a"),
		        open_bytes(logs[1].data, logs[1].size, AS, "b"), 1,
		        &out, error, sizeof(error)) != TEL_OK)
			abort();
		text = outline(&out);
		for (word = strtok(text, " "); word != NULL;
		     word = strtok(NULL, " "))
			if (word[0] == 'F')
				snprintf(got + strlen(got), 64, " %s", word);
		free(text);
		if (strcmp(got, want) != 0 && wrong++ == 0)
			diag("round %u:\n%s\n%s", round, want, got);
	}
	is_u64(wrong, 0, "labels of two logs with the same numbers");
}

static void
check_refused(void)
{
	static struct bytes a, out;
	static const char text[] =
	    "# format: mps-1.118.0/lii6gc\n"
	    "0000000000000001 PoolFree pool=0x1 old=0x2 size=3\n";
	char error[256];
	tel_reader *old, *b;

	add_free(&a, schema, 1, 0x1000);
	old = open_bytes(a.data, a.size, AS, "a");
	b = open_bytes(a.data, a.size, "mps-1.118.0/w3i6mv", "b");
	ok(join(old, b, 0, &out, error, sizeof(error)) == TEL_EINVAL,
	    "two platforms");
	is_str(error,
	    "a is mps-1.118.0/lii6gc and b is mps-1.118.0/w3i6mv: an MPS "
	    "stream cannot hold both; -f tel can, and -f mps converts them to "
	    "one",
	    "reported");
	is_u64(out.size, a.size, "and what could be written was");
	old = open_bytes(a.data, a.size, AS, "a");
	b = open_bytes(text, sizeof(text) - 1, "text", "b");
	ok(join(old, b, 0, &out, error, sizeof(error)) == TEL_EINVAL,
	    "two formats");
	is_str(error,
	    "b is not an MPS stream like a; they cannot be written as one log",
	    "reported");
}

#define HEAD "# teltools text 1\r\n# format: mps-1.118.0/lii6gc\n"
#define ONE "0000000000000001 PoolFree pool=0x01 old=0x2 size=3\r\n"
#define TWO "0000000000000002 PoolFree old=0x2[\"x\"] pool=0x01 size=3\n"
#define SYNC "0000000000000003 EventClockSync clock=7"

/* Writes the lines of text but those of PoolFree, or all. */
static void
lines(const char *text, int all, int terminal, const char *want,
    const char *what)
{
	static struct bytes out;
	tel_reader *r = open_bytes(text, strlen(text), NULL, "in");
	tel_output *o = tel_output_new_callback(put_bytes, &out);
	tel_writer *w = tel_writer_new(o);
	const tel_event *ev;
	tel_status st = tel_writer_set(w, TEL_WRITE_TERMINAL, terminal);

	out.size = 0;
	while (st == TEL_OK && tel_reader_next(r, &ev) == TEL_OK)
		st = all || strcmp(tel_type_name(ev->type), "PoolFree") != 0 ?
		    tel_writer_event(w, ev) :
		    tel_writer_pass(w, ev);
	if (st != TEL_OK || tel_writer_end_file(w, r) != TEL_OK ||
	    tel_writer_finish(w) != TEL_OK || tel_output_flush(o) != TEL_OK)
		abort();
	out.data[out.size] = '\0';
	is_str((const char *)out.data, want, "%s", what);
	tel_writer_free(w);
	tel_output_free(o);
	tel_reader_free(r);
}

static void
check_lines(void)
{
	static struct bytes out;
	static const char a[] = HEAD ONE SYNC;
	static const char b[] = "# format: mps-1.117.0/lii6gc\n"
	                        "0000000000000004 EventClockSync clock=7\n";
	char error[256];

	lines(HEAD ONE "\n# a remark\n--\n" TWO SYNC, 1, 0,
	    HEAD ONE "\n# a remark\n--\n" TWO SYNC, "unchanged lines");
	lines(HEAD ONE "# a remark\n" TWO SYNC, 0, 0, HEAD "# a remark\n" SYNC,
	    "and those between them");
	lines(HEAD ONE "# a remark\n" TWO, 0, 0, HEAD "# a remark\n",
	    "even when no event follows");
	lines(HEAD ONE "# a remark\n\n", 1, 0, HEAD ONE "# a remark\n\n",
	    "as at the end of the text");
	lines(HEAD "\n", 1, 0, HEAD "\n", "a text without an event");
	lines(HEAD "# \033[31m\n" SYNC "\n", 1, 1,
	    "# teltools text 1\\x0d\n# format: mps-1.118.0/lii6gc\n"
	    "# \\x1b[31m\n" SYNC "\n",
	    "a terminal is safe");
	lines("0000000000000003   1c 7\n", 1, 0, "0000000000000003   1c 7\n",
	    "the text of mpseventcnv");
	if (join(open_bytes(a, sizeof(a) - 1, NULL, "a"),
	        open_bytes(b, sizeof(b) - 1, NULL, "b"), 1, &out, error,
	        sizeof(error)) != TEL_OK)
		abort();
	out.data[out.size] = '\0';
	is_str((const char *)out.data,
	    HEAD ONE SYNC "\n# format: mps-1.117.0/lii6gc\n"
	                  "# format: mps-1.117.0/lii6gc\n"
	                  "0000000000000004 EventClockSync clock=7\n",
	    "texts of two releases");
}

#define EVENTS 8

/* Which of some events are shown, by the rule and by a context. */
static int
context_right(const tel_event *const *events, unsigned wanted, size_t before,
    size_t after)
{
	tel_context *c = tel_context_new(before, after);
	const tel_event *ev;
	tel_place place;
	int i, j, at = 0, last = -1, right = 1;

	for (i = 0; i <= EVENTS; i++) {
		if (i == EVENTS)
			tel_context_finish(c);
		else if (tel_context_event(c, events[i], wanted >> i & 1) !=
		    TEL_OK)
			abort();
		while (tel_context_next(c, &ev, &place) == TEL_OK) {
			tel_place want = TEL_PLACE_OUT;

			for (j = 0; j < EVENTS; j++)
				if ((wanted >> j & 1) && at <= j + (int)after &&
				    at + (int)before >= j)
					want = TEL_PLACE_IN;
			if (want == TEL_PLACE_IN) {
				if (last >= 0 && last < at - 1)
					want = TEL_PLACE_GAP;
				last = at;
			}
			right &= place == want &&
			    tel_event_clock(ev) == (uint64_t)at;
			at++;
		}
	}
	tel_context_free(c);
	return right && at == EVENTS;
}

static void
check_context(void)
{
	static struct bytes in;
	tel_reader *readers[EVENTS];
	const tel_event *events[EVENTS];
	unsigned wanted;
	size_t before, after;
	int i, j, right = 0, tried = 0;

	for (i = 0; i < EVENTS; i++)
		add_free(&in, schema, (uint64_t)i, 0x1000);
	/* an event is valid until its reader goes on */
	for (i = 0; i < EVENTS; i++) {
		readers[i] = open_bytes(in.data, in.size, AS, "in");
		for (j = 0; j <= i; j++)
			if (tel_reader_next(readers[i], &events[i]) != TEL_OK)
				abort();
	}
	for (wanted = 0; wanted < 1u << EVENTS; wanted++)
		for (before = 0; before < 4; before++)
			for (after = 0; after < 4; after++, tried++)
				right += context_right(events, wanted, before,
				    after);
	is_u64((uint64_t)right, (uint64_t)tried,
	    "events before and after, in all ways");
	for (i = 0; i < EVENTS; i++)
		tel_reader_free(readers[i]);
	tel_context_free(NULL);
}

/* Metadata that was set is removed by NULL. */
static void
check_metadata(void)
{
	static struct bytes in, out;
	tel_output *o = tel_output_new_callback(put_bytes, &out);
	tel_writer *w = tel_writer_new(o);
	tel_reader *r;
	const tel_event *ev;
	const char *key, *value;
	size_t i;

	add_free(&in, schema, 10, 0x10);
	r = open_bytes(in.data, in.size, AS, "in");
	ok(tel_writer_set_metadata(w, "one", NULL) == TEL_OK &&
	        tel_writer_set_metadata(w, "one", "1") == TEL_OK &&
	        tel_writer_set_metadata(w, "two", "2") == TEL_OK &&
	        tel_writer_set_metadata(w, "one", NULL) == TEL_OK &&
	        tel_writer_set_metadata(w, "One", NULL) == TEL_EINVAL,
	    "metadata is set and removed");
	if (tel_writer_set_target(w, "tel") != TEL_OK ||
	    tel_reader_next(r, &ev) != TEL_OK ||
	    tel_writer_event(w, ev) != TEL_OK ||
	    tel_writer_finish(w) != TEL_OK || tel_output_finish(o) != TEL_OK)
		abort();
	ok(tel_writer_set_metadata(w, "two", NULL) == TEL_ESTATE,
	    "but not after the first event");
	tel_writer_free(w);
	tel_output_free(o);
	tel_reader_free(r);
	r = open_bytes(out.data, out.size, "tel", "out");
	if (tel_reader_next(r, &ev) != TEL_OK)
		abort();
	for (i = 0; tel_reader_metadata(r, i, &key, &value); i++)
		if (strcmp(key, "one") == 0 || strcmp(key, "two") == 0)
			is_str(value, "2", "of %s", key);
	ok(i > 0, "there is what is left");
	tel_reader_free(r);
}

int
main(void)
{
	if (tel_schema_new(AS, &schema) != TEL_OK)
		abort();
	check_join();
	check_numbers();
	check_refused();
	check_lines();
	check_context();
	check_metadata();
	tel_schema_free(schema);
	return done();
}
