/* SPDX-License-Identifier: BSD-2-Clause */
/* libtel-emit: what is emitted is what is read, in every form. */
#define _GNU_SOURCE
#include "shop.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>

TEL_EVENTS_DEFINE(SHOP, "shop", 2, 1, 3)

static unsigned char memory[1 << 20];

static tel_emit_sink *
open_to_memory(unsigned flags, unsigned clock, uint32_t kinds)
{
	tel_emit_options o = { NULL, 0, 0, NULL, 0, 0, 0 };
	tel_emit_sink *s;

	o.flags = flags;
	o.clock = clock;
	if (tel_emit_open(&o, &tel_list_SHOP) != 0) {
		diag("open: %s, %s", strerror(errno), tel_emit_error());
		return NULL;
	}
	tel_control_text("all");
	s = tel_emit_to_memory(memory, sizeof(memory), kinds);
	return s;
}

/* The events of a log that was written to memory, one by one. */
static tel_reader *
read_memory(tel_emit_sink *s)
{
	tel_reader *r = tel_reader_new();

	tel_emit_flush();
	if (tel_reader_open_memory(r, memory, tel_emit_memory_used(s),
	        "memory") != TEL_OK)
		diag("%s", tel_reader_error(r));
	return r;
}

static uint64_t
value(const tel_event *ev, const char *field)
{
	int i = tel_type_find_field(tel_event_type(ev), field);

	return i < 0 ? 0xdead : tel_event_u64(ev, (unsigned)i);
}

static int
text_is(const tel_event *ev, const char *field, const char *want)
{
	int i = tel_type_find_field(tel_event_type(ev), field);
	size_t n;
	const char *s = i < 0 ? NULL : tel_event_string(ev, (unsigned)i, &n);

	return s != NULL && n == strlen(want) && memcmp(s, want, n) == 0;
}

static void
test_values(void)
{
	tel_emit_sink *s = open_to_memory(TEL_EMIT_NO_THREAD, 0, ~0u);
	char longest[TEL_STRING_MAX + 9];
	const tel_event *ev;
	tel_reader *r;
	int x[2];

	TEL_EVENT10(All, x, x + 1, UINTPTR_MAX - 1, 0xFFFFFFFE, -2.5, 7, 255,
	    65535, -32768, INT64_MIN);
	TEL_EVENT3(Sale, x, 99, "Ada \"L\"\n\377");
	TEL_EVENT3(Sale, x, 100, "");
	TEL_EVENT3(Sale, x, 101, NULL);
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	TEL_EVENT3(Sale, x, 102, longest);
	TEL_EVENT0(Shut);
	r = read_memory(s);
	ev = shop_next(r, "All");
	ok(ev != NULL, "an event of all letters");
	is_u64(value(ev, "p"), (uintptr_t)x, "P");
	is_u64(value(ev, "a"), (uintptr_t)(x + 1), "A");
	is_u64(value(ev, "w"), UINTPTR_MAX - 1, "W");
	is_u64(value(ev, "u"), 0xFFFFFFFE, "U");
	ok(tel_event_double(ev, 4) == -2.5, "D");
	is_u64(value(ev, "b"), 1, "B is 0 or 1");
	is_u64(value(ev, "u8"), 255, "U8");
	is_u64(value(ev, "u16"), 65535, "U16");
	is_u64(value(ev, "i16"), (uint64_t)-32768, "I16 has a sign");
	is_u64(value(ev, "i64"), (uint64_t)INT64_MIN, "I64");
	ok(value(ev, "thread") != 0, "the thread is said");
	ev = shop_next(r, "Sale");
	ok(text_is(ev, "name", "Ada \"L\"\n\377"), "S: any bytes");
	is_u64(value(ev, "cents"), 99, "with what is before it");
	ok(text_is(shop_next(r, "Sale"), "name", ""), "an empty string");
	ok(text_is(shop_next(r, "Sale"), "name", ""),
	    "NULL is an empty string");
	longest[TEL_STRING_MAX] = '\0';
	ok(text_is(shop_next(r, "Sale"), "name", longest),
	    "a long string is cut");
	ok(shop_next(r, "Shut") != NULL, "an event without parameters");
	tel_reader_free(r);
	tel_emit_close();
}

static void
test_schema(void)
{
	tel_emit_sink *s = open_to_memory(TEL_EMIT_NO_THREAD, 0, ~0u);
	const tel_schema *schema;
	const tel_event *ev;
	const char *key, *value = "";
	const tel_type *t;
	tel_alloc alloc;
	tel_reader *r;
	char host[256] = "";
	int x;

	TEL_EVENT2(Take, &x, 40);
	TEL_EVENT1(Give, &x);
	r = read_memory(s);
	ev = shop_next(r, "Take");
	schema = tel_reader_schema(r);
	is_str(tel_schema_name(schema), "emit-shop", "the schema's name");
	is_str(tel_schema_version(schema), "2.1.3", "its three-part version");
	t = tel_schema_find_type(schema, "Refill");
	ok(t != NULL, "types that have no event are described");
	is_u64(tel_type_code(t), 2, "with their code");
	is_str(tel_type_kind(t), "Stock", "and kind");
	is_u64(tel_type_kind_number(t), 1, "and the kind's number");
	ok(tel_event_alloc(ev, &alloc, sizeof(alloc)) &&
	        alloc.kind == TEL_ALLOC_MALLOC && alloc.size == 40 &&
	        alloc.address == (uintptr_t)&x,
	    "an allocation, by its role");
	is_str(tel_type_doc(t), "goods came in", "and documentation");
	is_str(tel_type_field_doc(t, 0), "how many", "that of its fields, too");
	t = tel_schema_find_type(schema, "All");
	is_str(tel_type_doc(t), "a parameter of \"each\" letter\\x1b[31m\\x5c",
	    "bytes of it that steer a terminal are escaped");
	t = tel_event_type(ev);
	is_str(tel_field_unit(tel_type_field(t, 1)), "bytes",
	    "a unit that libtel knows");
	is_str(tel_type_field_doc(t, 1), "", "no documentation");
	t = tel_schema_find_type(schema, "Sale");
	is_str(tel_field_unit(tel_type_field(t, 1)), "cent",
	    "a unit that it does not");
	is_str(tel_type_field_doc(t, 1), "what was paid", "with documentation");
	ev = shop_next(r, "Give");
	ok(tel_event_alloc(ev, &alloc, sizeof(alloc)) &&
	        alloc.kind == TEL_ALLOC_FREE,
	    "and it is freed");
	ok(gethostname(host, sizeof(host)) == 0 &&
	        tel_reader_metadata(r, 0, &key, &value) &&
	        strcmp(key, "host") == 0,
	    "where the program ran");
	is_str(value, host, "is the name of this machine");
	tel_reader_free(r);
	tel_emit_close();
}

static void
test_names(void)
{
	tel_emit_sink *s = open_to_memory(TEL_EMIT_NO_THREAD, 0, ~0u);
	uint64_t a = tel_intern("apple"), b = tel_intern("pear");
	const tel_event *ev;
	const char *label;
	tel_reader *r;
	size_t n;
	int x;

	ok(a != 0 && b != 0 && a != b, "strings have numbers");
	is_u64(tel_intern("apple"), a, "the same string has the same");
	tel_thread_name("till");
	TEL_EVENT2(Take, &x, 1);
	tel_label(&x, a);
	TEL_EVENT2(Take, &x, 2);
	tel_label(&x, b);
	TEL_EVENT2(Take, &x, 3);
	r = read_memory(s);
	ev = shop_next(r, "Take");
	ok(tel_event_label(ev, 0, &n) == NULL, "no label before the label");
	ev = shop_next(r, "Take");
	label = tel_event_label(ev, 0, &n);
	ok(label != NULL && n == 5 && memcmp(label, "apple", 5) == 0,
	    "an address has its label");
	label = tel_event_label(ev, 2, &n);
	ok(label != NULL && n == 4 && memcmp(label, "till", 4) == 0,
	    "a thread has its name");
	ev = shop_next(r, "Take");
	label = tel_event_label(ev, 0, &n);
	ok(label != NULL && n == 4, "and then the next label");
	tel_reader_free(r);
	tel_emit_close();
	is_u64(tel_intern("late"), 0, "no string once it is closed");
}

static void
test_control(void)
{
	tel_emit_sink *s = open_to_memory(TEL_EMIT_NO_THREAD, 0, ~0u);
	struct shop_log l;

	is_u64(tel_control_set(0), 0x7FFFFFFF, "all is every kind");
	ok(tel_control_text("Order stock") == 0 && tel_control_read() == 3,
	    "names in any case");
	ok(tel_control_text("4") == 0 && tel_control_read() == 4, "a number");
	ok(tel_control_text("+Order,-Count") == 0 && tel_control_read() == 1,
	    "changes");
	ok(tel_control_text("nothing") != 0 && errno == EINVAL,
	    "an unknown kind is an error");
	is_u64(tel_control_read(), 1, "that changes nothing");
	is_u64(tel_control_flip(7), 1, "flip returns what was");
	is_u64(tel_control_read(), 6, "and flips");
	is_u64(tel_control_reset(2), 6, "reset");
	shop_count(1, 0);
	TEL_EVENT1(Refill, 3);
	tel_control_reset(4);
	shop_count(1, 1);
	tel_control_set(4);
	shop_count(1, 2);
	tel_emit_flush();
	shop_read_memory(memory, tel_emit_memory_used(s), &l);
	is_u64(l.numbers, 2, "events go out if their kind is on then");
	is_u64(l.missing, 1, "exactly those");
	tel_emit_close();
	setenv("TEL_CONTROL", "Stock 1", 1);
	ok(tel_emit_open(NULL, &tel_list_SHOP) == 0 && tel_control_read() == 3,
	    "the environment says what is on");
	tel_emit_close();
	setenv("TEL_CONTROL", "bogus", 1);
	ok(tel_emit_open(NULL, &tel_list_SHOP) != 0 && errno == EINVAL,
	    "unless it is invalid: %s", tel_emit_error());
	unsetenv("TEL_CONTROL");
}

/* A function that takes half of what it is given. */
static int
refuse(void *arg, const void *bytes, size_t size)
{
	unsigned *calls = arg;

	(void)bytes;
	(void)size;
	return ++*calls % 2 == 0 ? -1 : 0;
}

static void
test_sinks(void)
{
	tel_emit_sink *all = open_to_memory(TEL_EMIT_NO_THREAD, 0, ~0u);
	const char *path = shop_path("sink");
	static unsigned char other[4096];
	tel_emit_sink *stock, *file, *odd, *small;
	struct shop_log l;
	unsigned calls = 0, i;
	uint64_t before;

	stock = tel_emit_to_memory(other, sizeof(other), 1u << 1);
	file = tel_emit_to_file(path, 1u << 2, 0);
	ok(stock != NULL && file != NULL, "several sinks at once");
	ok(tel_emit_to_file("/nonexistent/file", ~0u, 0) == NULL &&
	        errno == ENOENT,
	    "a file that cannot be");
	for (i = 0; i < 100; i++) {
		shop_count(3, i);
		TEL_EVENT1(Refill, i);
	}
	tel_emit_flush();
	shop_read_memory(memory, tel_emit_memory_used(all), &l);
	is_u64(l.events, 201, "one has all, and the time of day");
	shop_read_memory(other, tel_emit_memory_used(stock), &l);
	ok(l.events == 101 && l.numbers == 0, "one has a kind");
	tel_emit_sink_close(file);
	ok(shop_read_file(path, &l) == TEL_END && l.damaged == 0,
	    "one is closed, and has an end");
	is_u64(l.numbers, 100, "with all events of its kind");
	unlink(path);
	odd = tel_emit_to_function(refuse, &calls, ~0u);
	for (i = 100; i < 104; i++) {
		shop_count(3, i);
		tel_emit_flush();
	}
	is_u64(tel_emit_sink_lost(odd), 2, "what is refused is counted");
	shop_read_memory(other, tel_emit_memory_used(stock), &l);
	before = l.events;
	ok(tel_emit_sink_kinds(stock, 1u << 2) == 0, "a sink gets other kinds");
	shop_count(3, 7);
	TEL_EVENT1(Refill, 8);
	tel_emit_flush();
	shop_read_memory(other, tel_emit_memory_used(stock), &l);
	ok(l.events == before + 1 && l.numbers == 1, "from then on");
	tel_emit_sink_close(stock);
	small = tel_emit_to_memory(other, sizeof(other), ~0u);
	for (i = 104; i < 164; i++) {
		shop_count(3, i);
		tel_emit_flush();
	}
	shop_read_memory(other, tel_emit_memory_used(small), &l);
	ok(l.next[3] == 164 && l.numbers > 0 && l.numbers < 60,
	    "little memory holds what came last: %d events", (int)l.numbers);
	tel_emit_close();
}

static void
test_lost(void)
{
	tel_emit_options o = { NULL, 65536, 4, NULL, 0, TEL_EMIT_NO_THREAD, 0 };
	struct shop_log l;
	tel_emit_sink *s;
	unsigned i;

	tel_emit_open(&o, &tel_list_SHOP);
	tel_control_text("all");
	memset(memory, 0, sizeof(memory));
	s = tel_emit_to_memory(memory, sizeof(memory), ~0u);
	for (i = 0; i < 10000; i++)
		shop_count(5, i);
	tel_emit_flush();
	for (; i < 10100; i++)
		shop_count(5, i);
	tel_emit_flush();
	shop_read_memory(memory, tel_emit_memory_used(s), &l);
	is_u64(l.numbers + l.lost, 10100,
	    "what was overwritten is counted in its place: %d of 10100",
	    (int)l.lost);
	is_u64(l.missing, 0, "and what is left is in a row");
	ok(l.numbers > 1000, "which is most of a ring: %d", (int)l.numbers);
	is_u64(tel_emit_lost(), l.lost, "the program can ask, too");
	tel_emit_close();
}

static void
test_run_time(void)
{
	tel_emit_sink *s = open_to_memory(TEL_EMIT_NO_THREAD, 0, ~0u);
	const tel_emit_param params[] = {
		{ "U16", "port", "", "where", "", 0 },
		{ "D", "load", "%", "how much", "", 0 },
		{ "I32", "delta", "", "", "", 0 },
		{ "S", "host", "", "who", "", 0 },
	};
	tel_emit_type type = { "Ping", 0, 1, 2, "made while running", params,
		4 };
	tel_emit_value v[4];
	tel_emit_param others[4];
	const tel_event *ev;
	tel_reader *r;
	unsigned i, taken = 0;
	int code;

	shop_count(0, 0);
	tel_emit_flush();
	code = tel_emit_declare(&type);
	ok(code >= 0xC000, "a type is declared: 0x%X", (unsigned)code);
	is_u64((unsigned)tel_emit_declare(&type), (unsigned)code,
	    "twice it is the same");
	for (type.params = others, i = 0; i < 4; i++) {
		memcpy(others, params, sizeof(params));
		others[i].name = "other";
		taken += tel_emit_declare(&type) >= 0;
		others[i].name = params[i].name;
		others[i].letter = "U8";
		taken += tel_emit_declare(&type) >= 0;
	}
	is_u64(taken, 0, "but not with any other parameter");
	type.params = params;
	v[0].u = 8080;
	v[1].d = 0.25;
	v[2].i = -7;
	v[3].s = "localhost";
	ok(tel_emit_values((unsigned)code, v, 4) == 0, "and emitted");
	ok(tel_emit_values((unsigned)code, v, 2) != 0,
	    "with all its parameters");
	ok(tel_emit_values(0xBEEF, v, 4) != 0, "an unknown code is refused");
	r = read_memory(s);
	ev = shop_next(r, "Ping");
	ok(ev != NULL && value(ev, "port") == 8080 &&
	        tel_event_double(ev, 1) == 0.25 &&
	        value(ev, "delta") == (uint64_t)-7 &&
	        text_is(ev, "host", "localhost"),
	    "it is read with the types before it");
	tel_reader_free(r);
	type.name = "Ping 2";
	ok(tel_emit_declare(&type) < 0, "a name is a word: %s",
	    tel_emit_error());
	type.name = "Clash";
	type.code = 5;
	ok(tel_emit_declare(&type) < 0, "a code has one type: %s",
	    tel_emit_error());
	type.code = 0;
	type.kind = 17;
	ok(tel_emit_declare(&type) < 0, "a kind must be there: %s",
	    tel_emit_error());
	tel_emit_close();
}

/* Types that are declared while it runs, at the limits of what is valid. */
static void
test_types(void)
{
	static char name[257];
	static const struct {
		const char *name;
		unsigned code, kind, count;
		tel_emit_param params[2];
		const char *error; /* NULL: it is valid */
	} rows[] = {
		{ "T0", 0xFFFF, 2, 1, { { "U", "a", "", "", "", 0 } }, NULL },
		{ "T1", 0x10000, 2, 0, { { 0 } }, "the code is not 1 to" },
		{ "T2", 11, 2, 0, { { 0 } }, NULL },
		{ "T3", 11, 2, 0, { { 0 } }, "code 0x000B is that of T2" },
		{ "T0", 12, 2, 0, { { 0 } }, "two types are named T0" },
		{ "T4", 12, 3, 0, { { 0 } }, "unknown kind" },
		{ "T4", 12, 32, 0, { { 0 } }, "unknown kind" },
		{ "9T", 12, 2, 0, { { 0 } }, "no valid name" },
		{ "", 12, 2, 0, { { 0 } }, "no valid name" },
		{ "T-4", 12, 2, 0, { { 0 } }, "no valid name" },
		{ "_t4", 12, 2, 0, { { 0 } }, NULL },
		{ name + 1, 13, 2, 0, { { 0 } }, NULL },
		{ name, 14, 2, 0, { { 0 } }, "no valid name" },
		{ "T5", 14, 2, 64, { { 0 } }, NULL },
		{ "T6", 15, 2, 65, { { 0 } }, "more than 64 parameters" },
		{ "T6", 15, 2, 1, { { "Q", "a", "", "", "", 0 } },
		    "parameter 0 has an unknown letter" },
		{ "T6", 15, 2, 1, { { NULL, "a", "", "", "", 0 } },
		    "parameter 0 has an unknown letter" },
		{ "T6", 15, 2, 2,
		    { { "U", "a", "", "", "", 0 },
		        { "U", "b-", "", "", "", 0 } },
		    "parameter 1 has no valid name" },
		{ "T6", 15, 2, 2,
		    { { "S", "a", "", "", "", 0 },
		        { "U", "b", "", "", "", 0 } },
		    "a string must be last" },
		{ "T6", 15, 2, 2,
		    { { "T", "a", "", "", "", 0 },
		        { "S", "b", "", "", "", 0 } },
		    "a string must be last" },
		{ "T6", 15, 2, 1, { { "U", "a", "", "", "", 15 } },
		    "parameter 0 is misplaced" },
		{ "T6", 15, 2, 1, { { "U", "a", "", "", "", 16 } }, NULL },
		{ "T7", 16, 2, 2,
		    { { "U", "a", "", "", "", 24 },
		        { "U", "b", "", "", "", 27 } },
		    "parameter 1 is misplaced" },
		{ "T7", 16, 2, 2,
		    { { "U", "a", "", "", "", 24 },
		        { "U", "b", "", "", "", 28 } },
		    NULL },
		{ "T8", 17, 2, 1,
		    { { "U32", "a", "", "", "", TEL_EMIT_EVENT_MAX / 2 - 3 } },
		    "parameter 0 is misplaced" },
		{ "T8", 17, 2, 1,
		    { { "U32", "a", "", "", "", TEL_EMIT_EVENT_MAX / 2 - 4 } },
		    NULL },
		{ "T9", 18, 2, 2,
		    { { "U8", "a", "", "", "", 0 },
		        { "U64", "b", "", "", "", 0 } },
		    NULL },
		{ "Ta", 19, 2, 1, { { "U", "a", "", "", "alloc:sise", 0 } },
		    "unknown part 'alloc:sise'" },
		{ "Ta", 19, 2, 1, { { "U", "a", "", "", "alloca:size", 0 } },
		    "unknown role 'alloca:size'" },
		{ "Ta", 19, 2, 2,
		    { { "P", "a", "", "", "alloc:address", 0 },
		        { "U", "b", "", "", "free:size", 0 } },
		    "roles alloc and free" },
		{ "Ta", 19, 2, 2,
		    { { "P", "a", "", "", "alloc:address", 0 },
		        { "U", "b", "", "", "alloc:size", 0 } },
		    NULL },
		{ "Tb", 20, 2, 1, { { "U", "a", "", "", "start:Nothing", 0 } },
		    "no such type as ends it" },
		{ "Tb", 20, 2, 1, { { "U", "a", "", "", "start", 0 } },
		    "no such type as ends it" },
		{ "Tb", 20, 2, 1, { { "U", "a", "", "", "start:Leave", 0 } },
		    NULL },
		{ "Tc", 21, 2, 1, { { "U", "a", "", "", "middle:Leave", 0 } },
		    NULL },
	};
	static char names[65][4];
	static tel_emit_param many[65];
	tel_emit_sink *s = open_to_memory(TEL_EMIT_NO_THREAD, 0, ~0u);
	tel_emit_type type = { "Chosen", 0, 1, 2, "", NULL, 0 };
	tel_emit_value v[64];
	const tel_event *ev;
	unsigned i, j, wrong;
	tel_reader *r;
	int code;

	memset(name, 'n', sizeof(name) - 1);
	for (i = 0; i < 65; i++) {
		snprintf(names[i], sizeof(names[i]), "p%u", i);
		many[i] = (tel_emit_param){ "U8", names[i], "", "", "", 0 };
	}
	ok(tel_emit_declare(&type) == 0xC000, "the first code");
	type.name = "Chosen2";
	ok(tel_emit_declare(&type) == 0xC001, "and the next");
	type.params = NULL;
	type.name = "Without";
	type.count = 1;
	ok(tel_emit_declare(&type) < 0, "parameters that are not there");
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		type = (tel_emit_type){ rows[i].name, rows[i].code, 1,
			rows[i].kind, "",
			rows[i].count > 2 ? many : rows[i].params,
			rows[i].count };
		code = tel_emit_declare(&type);
		if (rows[i].error != NULL)
			ok(code < 0 &&
			        strstr(tel_emit_error(), rows[i].error) != NULL,
			    "row %u: %s", i, tel_emit_error());
		else
			ok(code == (int)rows[i].code, "row %u: valid", i);
		for (j = 0; j < 64; j++)
			v[j].u = 100 + j;
		if (code >= 0)
			(void)tel_emit_values((unsigned)code, v, rows[i].count);
	}
	r = read_memory(s);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].error != NULL)
			continue;
		ev = shop_next(r, rows[i].name);
		for (j = wrong = 0; ev != NULL && j < rows[i].count; j++)
			wrong += tel_event_u64(ev, j) != 100 + j;
		ok(ev != NULL && wrong == 0, "row %u: has its values", i);
	}
	tel_reader_free(r);
	tel_emit_close();
}

/* Each part of a role is the field that was declared as it, or the thread. */
static void
test_parts(void)
{
	static const char *const parts[] = { "address", "size", "pool", "old",
		"count", "alignment", "buffer", "thread", "process", "stack",
		"weight" };
	enum { PARTS = sizeof(parts) / sizeof(parts[0]), THREAD = 7 };
	tel_emit_sink *s = open_to_memory(TEL_EMIT_NO_THREAD, 0, ~0u);
	tel_emit_value v[PARTS] = { { 0 } };
	tel_emit_param params[PARTS];
	char names[PARTS][12], roles[PARTS][24], name[8];
	unsigned i, n, wrong;
	const tel_type *t;
	tel_reader *r;

	/* the first n parts; the last first, so that fields are no parts' order */
	for (n = 1; n <= PARTS; n++) {
		tel_emit_type type = { name, 0x100 + n, 1, 2, "", params, n };

		snprintf(name, sizeof(name), "Get%u", n);
		for (i = 0; i < n; i++) {
			snprintf(names[i], sizeof(names[i]), "%s",
			    parts[n - 1 - i]);
			snprintf(roles[i], sizeof(roles[i]), "alloc:%s",
			    parts[n - 1 - i]);
			params[i] = (tel_emit_param){ "W", names[i], "", "",
				roles[i], 0 };
		}
		(void)tel_emit_declare(&type);
		(void)tel_emit_values(0x100 + n, v, n);
	}
	r = read_memory(s);
	for (n = 1; n <= PARTS; n++) {
		snprintf(name, sizeof(name), "Get%u", n);
		t = tel_event_type(shop_next(r, name));
		for (i = wrong = 0; i < PARTS; i++)
			wrong += tel_type_role_field(t, parts[i]) !=
			    (i < n              ? (int)(n - 1 - i) :
			            i == THREAD ? (int)n :
			                          -1);
		ok(wrong == 0 && strcmp(tel_type_role(t), "alloc") == 0,
		    "%u parts of a role, %u wrong", n, wrong);
	}
	tel_reader_free(r);
	tel_emit_close();
}

/* Each of several sinks has the events of its kinds, however they come. */
static void
test_kinds(void)
{
	static unsigned char bytes[2][1 << 17];
	tel_emit_sink *s[2];
	uint64_t seed = 1, want[2] = { 0, 0 };
	struct shop_log l;
	unsigned i;

	open_to_memory(TEL_EMIT_NO_THREAD, 0, ~0u);
	for (i = 0; i < 2; i++)
		s[i] = tel_emit_to_memory(bytes[i], sizeof(bytes[i]), 2u << i);
	for (i = 0; i < 600; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		if (seed >> 40 & 1)
			shop_count(3, want[1]++);
		else if (seed >> 41 & 1)
			TEL_EVENT1(Refill, want[0]++);
		else
			TEL_EVENT3(Sale, NULL, i, "");
		if (seed >> 44 & 1)
			tel_emit_flush();
	}
	tel_emit_flush();
	for (i = 0; i < 2; i++) {
		shop_read_memory(bytes[i], tel_emit_memory_used(s[i]), &l);
		ok(l.events - l.numbers == (i == 0 ? want[0] + 1 : 1) &&
		        l.numbers == (i == 1 ? want[1] : 0),
		    "a sink of kind %u: %u events, %u of numbers", 1 + i,
		    (unsigned)l.events, (unsigned)l.numbers);
	}
	tel_emit_close();
}

static void
test_clocks(void)
{
	static const struct {
		unsigned clock;
		const char *name;
	} clocks[] = { { TEL_EMIT_CLOCK_AUTO, "the best" },
		{ TEL_EMIT_CLOCK_MONOTONIC, "monotonic" },
		{ TEL_EMIT_CLOCK_NONE, "none" } };
	uint64_t before, after;
	const tel_event *ev;
	struct shop_log l;
	tel_emit_sink *s;
	tel_reader *r;
	size_t i;
	int k;

	for (i = 0; i < 3; i++) {
		s = open_to_memory(TEL_EMIT_NO_THREAD, clocks[i].clock, ~0u);
		before = tel_emit_clock();
		for (k = 0; k < 50; k++)
			shop_count(1, (uint64_t)k);
		after = tel_emit_clock();
		r = read_memory(s);
		ev = shop_next(r, "Number");
		ok(ev != NULL &&
		        (i == 2 ? after == 0 :
		                  before <= tel_event_clock(ev) &&
		                    tel_event_clock(ev) <= after),
		    "the program reads the same clock, or 0");
		tel_reader_free(r);
		shop_read_memory(memory, tel_emit_memory_used(s), &l);
		ok(l.numbers == 50 && l.missing == 0 && l.disorder == 0,
		    "clock %s: all events, in order", clocks[i].name);
		tel_emit_close();
	}
}

/* The best clock is the processor's where Linux finds its rate constant, too. */
static void
test_best_clock(void)
{
#if defined(__x86_64__) || defined(__i386__)
	FILE *file = fopen("/proc/cpuinfo", "r");
	struct timespec before, after;
	char line[8192] = "";
	int constant = 0;

	while (file != NULL && fgets(line, sizeof(line), file) != NULL &&
	    !constant)
		constant = strstr(line, " nonstop_tsc") != NULL;
	if (file != NULL)
		fclose(file);
	(void)open_to_memory(TEL_EMIT_NO_THREAD, TEL_EMIT_CLOCK_AUTO, ~0u);
	clock_gettime(CLOCK_MONOTONIC, &before);
	const uint64_t now = tel_emit_clock();
	clock_gettime(CLOCK_MONOTONIC, &after);
	ok(constant !=
	        (now >= (uint64_t)before.tv_sec * 1000000000 &&
	            now <= (uint64_t)(after.tv_sec + 1) * 1000000000),
	    "the best clock of a processor: constant rate: %d", constant);
	tel_emit_close();
#endif
}

/* Events of one kind share readings of the clock, in order all the same. */
static void
test_coarse_clock(void)
{
	tel_emit_sink *s =
	    open_to_memory(TEL_EMIT_NO_THREAD | TEL_EMIT_COARSE_CLOCK, 0, ~0u);
	uint64_t clock = 0, drained, fresh, last[2] = { 0, 0 };
	const tel_event *ev;
	unsigned i, readings = 0, between = 0, wrong = 0;
	struct shop_log l;
	tel_reader *r;

	for (i = 0; i < 200; i++)
		shop_count(1, i);
	tel_emit_flush();
	drained = tel_emit_clock();
	shop_count(1, i++);
	tel_emit_fresh_clock();
	fresh = tel_emit_clock();
	shop_count(1, i++);
	shop_count(1, i++);
	for (; i < 300; i++) {
		shop_count(1, i);
		TEL_EVENT1(Refill, i);
	}
	tel_emit_flush();
	shop_read_memory(memory, tel_emit_memory_used(s), &l);
	ok(l.numbers == 300 && l.missing == 0 && l.disorder == 0,
	    "coarse clock: all events, in order");
	r = read_memory(s);
	for (i = 0; i < 203 && (ev = shop_next(r, "Number")) != NULL; i++) {
		if (i < 200 && tel_event_clock(ev) != clock)
			readings++;
		clock = tel_event_clock(ev);
		wrong += (i == 200 && clock < drained) ||
		    (i == 201 && clock < fresh);
		last[i & 1] = clock;
	}
	ok(readings >= 2 && readings <= 8, "%u readings for 200 events",
	    readings);
	ok(wrong == 0 && i == 203, "one after a drain, and on request");
	ok(last[0] == last[1], "and none after that");
	while (tel_reader_next(r, &ev) == TEL_OK) {
		const char *name = tel_type_name(tel_event_type(ev));

		if (strcmp(name, "Refill") == 0 && value(ev, "pieces") == i)
			i++;
		else if (strcmp(name, "Number") == 0 && value(ev, "n") == i)
			between++;
	}
	ok(i == 300 && between == 97, "and one after each other kind");
	tel_reader_free(r);
	tel_emit_close();
}

static void
test_errors(void)
{
	tel_emit_options o = { NULL, 1000, 0, NULL, 0, 0, 0 };
	static const tel_emit_param bad[] = {
		{ "S", "text", "", "", "", 0 },
		{ "U", "n", "", "", "", 0 },
	};
	static const tel_emit_type types[] = {
		{ "Bad", 77, 1, 0, "", bad, 2 },
	};
	static const tel_emit_kind kinds[] = { { "Other", 0, "" } };
	const tel_emit_list list = { "bad", 1, 0, 0, NULL, 0, types, 1 };
	const tel_emit_list clash = { "clash", 1, 0, 0, kinds, 1, NULL, 0 };

	ok(tel_emit_flush() != 0 && errno == EBADF, "nothing is open");
	ok(tel_emit_open(&o, NULL) != 0 && errno == EINVAL,
	    "a ring is a power of 2: %s", tel_emit_error());
	ok(tel_emit_to_fd(1, ~0u, 0) == NULL && errno == EBADF,
	    "no sink before it is open");
	ok(tel_emit_open(NULL, &tel_list_SHOP) == 0, "it opens");
	ok(tel_emit_open(NULL, &tel_list_SHOP) != 0 && errno == EBUSY, "once");
	ok(tel_emit_register(&list) != 0 && errno == EINVAL,
	    "a list of a library with its string first: %s", tel_emit_error());
	ok(tel_emit_register(&clash) != 0, "with another kind of a number: %s",
	    tel_emit_error());
	ok(tel_emit_to_socket("telnet:x", ~0u, 0) == NULL && errno == EINVAL,
	    "no such address");
	tel_emit_close();
	tel_emit_close();
	ok(tel_emit_lost() == 0, "it closes twice");
	TEL_EVENT0(Shut);
	ok(1, "an event when it is closed is nothing");
}

int
main(void)
{
	test_values();
	test_schema();
	test_names();
	test_control();
	test_sinks();
	test_lost();
	test_run_time();
	test_types();
	test_parts();
	test_kinds();
	test_clocks();
	test_best_clock();
	test_coarse_clock();
	test_errors();
	return done();
}
