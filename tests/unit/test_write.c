/* SPDX-License-Identifier: BSD-2-Clause */
/* Writers: what is written of a log, and what else it needs. */
#include "write_log.h"

static tel_schema *schema;

/* How a writer is made. */
struct how {
	const char *wanted; /* an expression */
	int bare;
	size_t max_labels;
};

/* Writes the events of in that are wanted to out. */
static void
filter(const struct bytes *in, struct bytes *out, struct how how)
{
	tel_reader *r = open_bytes(in->data, in->size, AS, "in");
	tel_output *o = tel_output_new_callback(put_bytes, out);
	tel_writer *w = tel_writer_new(o);
	tel_filter *f = tel_filter_new();
	const tel_event *ev;
	tel_status st = TEL_OK;

	out->size = 0;
	if (tel_filter_set_expression(f, how.wanted) != TEL_OK ||
	    tel_writer_set(w, TEL_WRITE_BARE, how.bare) != TEL_OK)
		abort();
	if (how.max_labels > 0 &&
	    tel_writer_set(w, TEL_WRITE_MAX_LABELS, (int64_t)how.max_labels) !=
	        TEL_OK)
		abort();
	while (st == TEL_OK && tel_reader_next(r, &ev) == TEL_OK) {
		if (tel_filter_match(f, ev) > 0)
			st = tel_writer_event(w, ev);
		else if (tel_writer_needs(w, tel_event_type(ev)))
			st = tel_writer_pass(w, ev);
	}
	if (st != TEL_OK || tel_writer_finish(w) != TEL_OK ||
	    tel_output_flush(o) != TEL_OK)
		abort();
	tel_filter_free(f);
	tel_writer_free(w);
	tel_output_free(o);
	tel_reader_free(r);
}

static void
gives(const struct bytes *in, struct how how, const char *want,
    const char *what)
{
	static struct bytes out;
	char *got;

	filter(in, &out, how);
	got = outline(&out);
	is_str(got, want, "%s", what);
	free(got);
}

static void
gives_of(const struct bytes *in, const char *wanted, const char *want,
    const char *what)
{
	gives(in, (struct how){ wanted, 0, 0 }, want, what);
}

static void
check_labels(void)
{
	static struct bytes in, out, many, other;
	char text[24];
	uint64_t id;

	/* sync, then two strings with a label each, and events */
	add(&in, schema, "EventClockSync", 5, (uint64_t[]){ 1 }, "");
	add_intern(&in, schema, 10, 1, "one");
	add_intern(&in, schema, 11, 2, "two");
	add_label(&in, schema, 12, 0x1000, 1);
	add_label(&in, schema, 13, 0x2000, 2);
	add_free(&in, schema, 20, 0x2000);
	add_free(&in, schema, 21, 0x1000);
	add(&in, schema, "EventClockSync", 22, (uint64_t[]){ 2 }, "");
	add_free(&in, schema, 23, 0x1000);
	gives_of(&in, "true",
	    "S5 I10=one I11=two L12[one] L13[two] F20[two] F21[one] S22 "
	    "F23[one]",
	    "all of it");
	filter(&in, &out, (struct how){ "true", 0, 0 });
	ok(out.size == in.size && memcmp(out.data, in.data, in.size) == 0,
	    "is the same bytes");
	gives_of(&in, "clock == 20", "S5 I11=two L13[two] F20[two] S22",
	    "a label and its string precede what shows it");
	gives_of(&in, "clock >= 21 && name == \"PoolFree\"",
	    "S5 I10=one L12[one] F21[one] S22 F23[one]", "and once");
	gives_of(&in, "clock >= 23", "S5 S22 I10=one L12[one] F23[one]",
	    "where they are needed");
	gives_of(&in, "name == \"Label\"",
	    "S5 I10=one L12[one] I11=two L13[two] S22",
	    "a label that is wanted has its string");
	gives_of(&in, "name == \"Intern\"", "S5 I10=one I11=two S22",
	    "a string that is wanted has no label");
	gives_of(&in, "false", "S5 S22", "nothing but the clock");
	gives(&in, (struct how){ "clock >= 20", 1, 0 }, "F20 F21 S22 F23",
	    "bare: nothing but what is wanted");
	gives(&in, (struct how){ "clock == 21", 0, 1 },
	    "S5 I11=two I10=one L12[one] L13[two] F21[one] S22",
	    "what cannot be held is written in its place");
	for (id = 1; id <= 5; id++)
		add_intern(&many, schema, id, id, "s");
	gives(&many, (struct how){ "false", 0, 4 }, "I5=s",
	    "as many strings as labels are held");
	/* more bytes in all than are held at once */
	add(&other, schema, "EventClockSync", 5, (uint64_t[]){ 1 }, "");
	for (id = 1; id <= 40; id++) {
		snprintf(text, sizeof(text), "string %d", (int)id);
		add_intern(&other, schema, id, 1, text);
	}
	gives(&other, (struct how){ "false", 0, 4 }, "S5",
	    "a string that takes the place of another takes its room");
}

static void
check_order(void)
{
	static struct bytes late, again, anew, twice;

	/* the newest first, as the MPS writes */
	add_free(&late, schema, 30, 0x1000);
	add_free(&late, schema, 29, 0x3000);
	add_label(&late, schema, 12, 0x1000, 1);
	add_label(&late, schema, 11, 0x2000, 2);
	add_intern(&late, schema, 10, 1, "one");
	add_intern(&late, schema, 9, 2, "two");
	add_free(&late, schema, 31, 0x1000);
	gives_of(&late, "clock == 30", "F30 L12 I10=one",
	    "a label that comes late is there for whoever sorts");
	gives_of(&late, "clock == 29", "F29", "but not for another address");
	gives_of(&late, "clock == 31", "I10=one L12[one] F31[one]",
	    "a label that came before its string");

	/* an address with several labels */
	add_intern(&again, schema, 1, 1, "one");
	add_intern(&again, schema, 1, 2, "two");
	add_label(&again, schema, 10, 0x1000, 1);
	add_label(&again, schema, 20, 0x1000, 2);
	add_free(&again, schema, 15, 0x1000);
	add_free(&again, schema, 25, 0x1000);
	gives_of(&again, "clock == 15", "I1=one L10[one] F15[one]",
	    "the label of its time");
	gives_of(&again, "clock == 25", "I1=two L20[two] F25[two]",
	    "the one after it");

	/* a number whose string changes */
	add_intern(&anew, schema, 1, 1, "old");
	add_label(&anew, schema, 2, 0x1000, 1);
	add_free(&anew, schema, 3, 0x1000);
	add_intern(&anew, schema, 4, 1, "new");
	add_free(&anew, schema, 5, 0x1000);
	gives_of(&anew, "name == \"PoolFree\"",
	    "I1=old L2[old] F3[old] I4=new F5[new]", "a string that changes");
	gives_of(&anew, "clock == 5", "I4=new L2[new] F5[new]",
	    "the string that holds");

	/* what is said twice */
	add_intern(&twice, schema, 1, 1, "one");
	add_intern(&twice, schema, 1, 1, "one");
	add_label(&twice, schema, 2, 0x1000, 1);
	add_label(&twice, schema, 2, 0x1000, 1);
	add_free(&twice, schema, 3, 0x1000);
	gives_of(&twice, "clock == 3", "I1=one L2[one] F3[one]",
	    "what was said twice is said once");
	gives_of(&twice, "true", "I1=one I1=one L2[one] L2[one] F3[one]",
	    "unless it is wanted");
	gives_of(&twice, "index == 1 || index == 4", "I1=one L2[one] F3[one]",
	    "a string that is wanted takes the place of the one before");
	add_intern(&twice, schema, 1, 2, "two");
	add_label(&twice, schema, 4, 0x1000, 2);
	add_label(&twice, schema, 2, 0x1000, 1);
	add_label(&twice, schema, 2, 0x1000, 1);
	add_free(&twice, schema, 5, 0x1000);
	add_label(&twice, schema, 6, 0x2000, 1);
	add_free(&twice, schema, 7, 0x2000);
	gives_of(&twice, "index == 4 || index == 11",
	    "I1=one L2[one] F3[one] L6[one] F7[one]",
	    "a string of two labels is written once");
	gives_of(&twice, "index == 3 || (index >= 7 && index < 10)",
	    "I1=one L2[one] L2[one] L2[one] I1=two L4[two] F5[two]",
	    "a label that is wanted again leaves another one held");
}

static void
check_repair(void)
{
	static struct bytes in;
	int i;

	for (i = 0; i < 8; i++)
		add_free(&in, schema, (uint64_t)i, 0x1000);
	in.data[tel_schema_find_type(schema, "PoolFree")->size + 2] = 0xff;
	gives_of(&in, "clock > 0 && clock < 3", "F1 F2",
	    "a size that was wrong is written as it should be");
}

static void
check_state(void)
{
	static struct bytes in, out;
	tel_output *o = tel_output_new_callback(put_bytes, &out);
	tel_writer *w = tel_writer_new(o);
	const tel_event *ev;
	tel_reader *r;

	add_free(&in, schema, 1, 0x1000);
	r = open_bytes(in.data, in.size, AS, "in");
	ok(tel_writer_set(w, TEL_WRITE_MAX_LABELS, 0) == TEL_EINVAL,
	    "no labels at all");
	ok(tel_writer_set(w, (tel_writer_option)(TEL_WRITE_MAX_LABELS + 1),
	       1) == TEL_EINVAL,
	    "no option past the last");
	ok(tel_writer_gap(w) == TEL_OK, "no gap before the first event");
	if (tel_reader_next(r, &ev) != TEL_OK ||
	    tel_writer_event(w, ev) != TEL_OK)
		abort();
	ok(tel_writer_set(w, TEL_WRITE_BARE, 1) == TEL_ESTATE &&
	        tel_writer_set(w, TEL_WRITE_TERMINAL, 1) == TEL_ESTATE &&
	        tel_writer_set(w, TEL_WRITE_MAX_LABELS, 9) == TEL_ESTATE,
	    "setters come before the first event");
	ok(tel_writer_gap(w) == TEL_OK && tel_writer_flush(w) == TEL_OK &&
	        out.size == in.size,
	    "a stream has no gaps");
	is_str(tel_writer_error(w), "", "no error");
	out.size = sizeof(out.data);
	while (tel_writer_event(w, ev) == TEL_OK)
		continue;
	ok(tel_writer_event(w, ev) == TEL_EIO, "a full disk");
	ok(tel_writer_finish(w) == TEL_OK &&
	        tel_writer_event(w, ev) == TEL_ESTATE,
	    "no event after the end");
	tel_writer_free(w);
	w = tel_writer_new(o);
	ok(tel_writer_set_target(w, "mps") == TEL_OK &&
	        tel_writer_finish(w) == TEL_OK &&
	        tel_writer_event(w, ev) == TEL_ESTATE,
	    "or of a stream without events");
	tel_writer_free(w);
	tel_writer_free(NULL);
	tel_output_free(o);
	tel_reader_free(r);
}

int
main(void)
{
	if (tel_schema_new(AS, &schema) != TEL_OK)
		abort();
	check_labels();
	check_order();
	check_repair();
	check_state();
	tel_schema_free(schema);
	return done();
}
