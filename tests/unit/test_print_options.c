/* SPDX-License-Identifier: BSD-2-Clause */
/* Printers: their options, log after log, and what they refuse. */
#include "test_print.h"

#include <errno.h>

#define HEADER_117 \
	HEADER("mps-1.117.0/lii6gc", "1.6.1", "lii6gc, 64-bit, little-endian")

static void
test_fields(void)
{
	static const char *const want[] = {
		"0000000000000005 PoolAlloc size=64 pool=0x7f00\n"
		"0000000000000006 EventClockSync\n"
		"0000000000000007 0x01F4\n",
		"clock,type,size,pool,mortality\n"
		"5,PoolAlloc,64,0x7f00,\n"
		"6,EventClockSync,,,\n"
		"7,0x01F4,,,\n",
		"{\"clock\":5,\"type\":\"PoolAlloc\",\"kind\":\"Object\","
		"\"code\":42,\"fields\":{\"size\":64,\"pool\":\"0x7f00\"}}\n"
		"{\"clock\":6,\"type\":\"EventClockSync\",\"kind\":\"Arena\","
		"\"code\":28,\"fields\":{}}\n"
		"{\"clock\":7,\"type\":\"0x01F4\",\"kind\":\"Unknown\","
		"\"code\":500,\"fields\":{}}\n",
	};
	struct made m;
	tel_printer *p;
	unsigned i;

	made_new(&m, "mps-1.118.0");
	add_labels(&m);
	for (i = 0; i < 3; i++) {
		p = new_printer((tel_format)i);
		if (i == 0)
			tel_printer_set(p, TEL_PRINT_HEADER, 0);
		ok(tel_printer_set_fields(p, "size,pool,mortality") == TEL_OK,
		    "setting fields");
		made_alloc(&m, 5);
		print(p, &m);
		made_begin(&m, "EventClockSync", 6);
		print(p, &m);
		made_event(&m, must(tel__schema_unknown(m.log.schema, 500)), 3,
		    7);
		print(p, &m);
		is_printed(p, want[i], "chosen fields");
	}
	p = new_printer(TEL_FORMAT_CSV);
	ok(tel_printer_set_fields(p, "bytes") == TEL_OK, "the field bytes");
	print(p, &m);
	is_printed(p, "clock,type,bytes\n7,0x01F4,000000\n",
	    "bytes of an unknown type in a column");
	p = new_printer(TEL_FORMAT_TEXT);
	ok(tel_printer_set_fields(p, "size,xyzzy") == TEL_OK, "any name");
	is_u64((uint64_t)tel_printer_event(p, &m.event), (uint64_t)TEL_EINVAL,
	    "but some type must have it");
	is_str(tel_printer_error(p), "no event type has a field 'xyzzy'",
	    "why");
	ok(tel_printer_misnamed(p), "for a name");
	tel_printer_free(p);
	tel_schema_free(m.log.schema);
	made_free(&m);
}

static void
test_columns(void)
{
	struct made m;
	tel_printer *p;
	uint64_t before;

	made_new(&m, "mps-1.118.0");
	add_labels(&m);
	p = new_printer(TEL_FORMAT_CSV);
	ok(tel_printer_set_columns(p, "PoolAlloc") == TEL_OK, "columns");
	tel_printer_set(p, TEL_PRINT_TIME, TEL_TIME_DELTA);
	made_alloc(&m, 100);
	print(p, &m);
	made_begin(&m, "EventClockSync", 150);
	print(p, &m);
	made_alloc(&m, 101);
	print(p, &m);
	is_printed(p,
	    "time,pool,pReturn,size\n"
	    "0,0x7f00,0xabcdef,64\n1,0x7f00,0xabcdef,64\n",
	    "columns of a type");
	p = new_printer(TEL_FORMAT_CSV);
	ok(tel_printer_set_columns(p, "PoolAlloc") == TEL_OK &&
	        tel_printer_set_fields(p, "size") == TEL_OK,
	    "columns and fields");
	made_alloc(&m, 1);
	print(p, &m);
	is_printed(p, "clock,size\n1,64\n", "some columns of a type");
	p = new_printer(TEL_FORMAT_CSV);
	before = tel_output_bytes(sink);
	ok(tel_printer_set_columns(p, "NoSuchType") == TEL_OK, "any name");
	is_u64((uint64_t)tel_printer_event(p, &m.event), (uint64_t)TEL_EINVAL,
	    "columns of a type that is not there");
	ok(strstr(tel_printer_error(p), "no event type") != NULL, "why");
	tel_printer_free(p);
	is_u64(tel_output_bytes(sink), before, "nothing was printed");
	p = new_printer(TEL_FORMAT_CSV);
	ok(tel_printer_set_columns(p, "PoolInit") == TEL_OK &&
	        tel_printer_set_columns(p, NULL) == TEL_OK &&
	        tel_printer_set_fields(p, "xyzzy") == TEL_OK &&
	        tel_printer_set_fields(p, NULL) == TEL_OK &&
	        tel_printer_set_index(p, NULL) == TEL_OK &&
	        tel_printer_set_database(p, NULL) == TEL_OK &&
	        tel_printer_set_allocators(p, NULL) == TEL_OK,
	    "NULL is the default");
	print(p, &m);
	is_printed(p,
	    "clock,kind,type,fields\n"
	    "1,Object,PoolAlloc,pool=0x7f00 pReturn=0xabcdef size=64\n",
	    "all fields of all types");
	tel_schema_free(m.log.schema);
	made_free(&m);
}

static void
test_color(void)
{
	struct made m;
	tel_printer *p;

	made_new(&m, "mps-1.118.0");
	add_labels(&m);
	made_alloc(&m, 100);
	p = new_printer(TEL_FORMAT_TEXT);
	tel_printer_set(p, TEL_PRINT_HEADER, 0);
	tel_printer_set(p, TEL_PRINT_COLOR, 1);
	print(p, &m);
	is_printed(p,
	    "\033[2m0000000000000064\033[0m \033[1;31mPoolAlloc\033[0m "
	    "pool=0x7f00\033[32m[\"he\\\"ap\"]\033[0m pReturn=0xabcdef "
	    "size=64\n",
	    "text in colour");
	p = new_printer(TEL_FORMAT_MPSTXT);
	tel_printer_set(p, TEL_PRINT_COLOR, 1);
	print(p, &m);
	ok(tel_output_flush(sink) == TEL_OK &&
	        strchr(caught.text, '\033') == NULL,
	    "other formats have no colour");
	tel_printer_free(p);
	caught_clear(&caught);
	tel_schema_free(m.log.schema);
	made_free(&m);
}

/* ---------------------------------------------------------------- time */

static void
check_time(struct made *m, tel_format format, tel_time_form form,
    const char *want)
{
	tel_printer *p = new_printer(format);
	static const uint64_t clocks[] = { 1000, 3000, 500 };
	char what[40];
	unsigned i;

	tel_printer_set(p, TEL_PRINT_HEADER, 0);
	ok(tel_printer_set(p, TEL_PRINT_TIME, form) == TEL_OK, "setting time");
	for (i = 0; i < 3; i++) {
		made_begin(m, "EventClockSync", clocks[i]);
		print(p, m);
	}
	snprintf(what, sizeof(what), "time %d in format %d", (int)form,
	    (int)format);
	is_printed(p, want, what);
}

static void
test_time(void)
{
	struct made m;
	tel_printer *p;

	made_new(&m, "mps-1.118.0");
	tel__clock_set_origin(m.log.clock, 1000);
	p = new_printer(TEL_FORMAT_TEXT);
	tel_printer_set(p, TEL_PRINT_TIME, TEL_TIME_SECONDS);
	made_begin(&m, "EventClockSync", 1000);
	is_u64((uint64_t)tel_printer_event(p, &m.event), (uint64_t)TEL_EINVAL,
	    "seconds of a log without a rate");
	ok(strstr(tel_printer_error(p), "synchronisation") != NULL, "why");
	ok(!tel_printer_misnamed(p), "not for a name");
	ok(tel_printer_set(p, TEL_PRINT_TIME, TEL_TIME_ISO) == TEL_OK,
	    "nothing was printed: options may be set");
	is_u64((uint64_t)tel_printer_event(p, &m.event), (uint64_t)TEL_EINVAL,
	    "wall clock of a log that knows none");
	is_str(tel_printer_error(p), "the log does not record the wall clock",
	    "why");
	tel_printer_free(p);

	tel__clock_set_rate(m.log.clock, 1e9);
	check_time(&m, TEL_FORMAT_TEXT, TEL_TIME_SECONDS,
	    "0.000000000 EventClockSync clock=0\n"
	    "0.000002000 EventClockSync clock=0\n"
	    "-0.000000500 EventClockSync clock=0\n");
	check_time(&m, TEL_FORMAT_TEXT, TEL_TIME_NS,
	    "0 EventClockSync clock=0\n2000 EventClockSync clock=0\n"
	    "-500 EventClockSync clock=0\n");
	check_time(&m, TEL_FORMAT_TEXT, TEL_TIME_RELATIVE,
	    "0 EventClockSync clock=0\n2000 EventClockSync clock=0\n"
	    "-500 EventClockSync clock=0\n");
	check_time(&m, TEL_FORMAT_TEXT, TEL_TIME_DELTA,
	    "0 EventClockSync clock=0\n2000 EventClockSync clock=0\n"
	    "-2500 EventClockSync clock=0\n");
	check_time(&m, TEL_FORMAT_CSV, TEL_TIME_SECONDS,
	    "0.000000000,Arena,EventClockSync,clock=0\n"
	    "0.000002000,Arena,EventClockSync,clock=0\n"
	    "-0.000000500,Arena,EventClockSync,clock=0\n");
	tel__clock_set_origin(m.log.clock, UINT64_MAX);
	p = new_printer(TEL_FORMAT_JSON);
	ok(tel_printer_set(p, TEL_PRINT_TIME, TEL_TIME_RELATIVE) == TEL_OK,
	    "relative");
	made_begin(&m, "EventClockSync", 0);
	print(p, &m);
	is_printed(p,
	    "{\"time\":\"-18446744073709551615\",\"type\":\"EventClockSync\","
	    "\"kind\":\"Arena\",\"code\":28,\"fields\":{\"clock\":0}}\n",
	    "the longest time backwards");
	tel_schema_free(m.log.schema);
	made_free(&m);
}

/* ---------------------------------------------------------------- logs */

/* Another log, another schema, another file. */
static void
test_logs(void)
{
	struct made m, n;
	tel_printer *p = new_printer(TEL_FORMAT_TEXT);

	made_new(&m, "mps-1.118.0");
	made_new(&n, "mps-1.117.0");
	made_alloc(&m, 1);
	print(p, &m);
	m.log.number = 1;
	tel__clock_set_rate(m.log.clock, 2.5);
	print(p, &m);
	made_alloc(&n, 2);
	print(p, &n);
	/* events of merged logs need no header but for another schema */
	made_alloc(&m, 3);
	print(p, &m);
	tel_schema_free(m.log.schema);
	m.log.schema = n.log.schema;
	made_alloc(&m, 4);
	print(p, &m);
	print(p, &n);
	/* another file begins anew */
	tel_printer_set_file(p, 0, 0);
	print(p, &m);
	is_printed(p,
	    HEADER_118 ALLOC("1") HEADER_118 "# tick rate: 2.5\n" ALLOC("1")
	        HEADER_117 ALLOC("2") HEADER_118 "# tick rate: 2.5\n" ALLOC("3")
	            HEADER_117 "# tick rate: 2.5\n" ALLOC("4") ALLOC("2")
	                HEADER_117 "# tick rate: 2.5\n" ALLOC("4"),
	    "a header for each log");
	tel_schema_free(n.log.schema);
	made_free(&m);
	made_free(&n);
}

static void
test_empty(void)
{
	is_printed(new_printer(TEL_FORMAT_TEXT), "# teltools text 1\n",
	    "an empty log as text");
	is_printed(new_printer(TEL_FORMAT_CSV), "clock,kind,type,fields\n",
	    "an empty log as CSV");
	is_printed(new_printer(TEL_FORMAT_JSON), "", "an empty log as JSON");
	is_printed(new_printer(TEL_FORMAT_MPSCNV), "", "and as mpscnv");
	is_printed(new_printer(TEL_FORMAT_MPSTXT), "", "and as mpstxt");
}

/* Formats by their names: the enumeration and the table agree. */
static void
test_names(void)
{
	static const char *const names[] = { "text", "csv", "json", "sql",
		"mpscnv", "mpstxt", "tracerpt", "perfetto", "chrome", "folded",
		"sqlite", "arrow", "html" };
	tel_printer *p = new_printer(TEL_FORMAT_TEXT);
	unsigned i;

	for (i = 0; i <= TEL_FORMAT_ARROW; i++)
		ok(strcmp(tel_printer_format_name(i), names[i]) == 0 &&
		        tel_printer_format_flags(names[i]) > 0,
		    "format %u is %s", i, names[i]);
	while (tel_printer_format_name(i) != NULL)
		i++;
	ok(tel_printer_format_name(i + 1) == NULL, "none past the last");
	ok(tel_printer_format_flags("xml") == -1, "no flags of no format");
	ok(tel_printer_set_format(p, "xml") == TEL_EINVAL &&
	        strcmp(tel_printer_error(p), "unknown output format 'xml'") ==
	            0,
	    "no such format");
	ok(tel_printer_set_format(p, "csv") == TEL_OK, "csv by its name");
	is_printed(p, "clock,kind,type,fields\n", "prints csv");
	p = new_printer(TEL_FORMAT_JSON);
	ok(tel_printer_finish(p) == TEL_OK &&
	        tel_printer_set_format(p, "csv") == TEL_ESTATE,
	    "too late for another format");
	tel_printer_free(p);
}

static void
test_refused(void)
{
	struct made m;
	tel_printer *p;
	int format;

	ok(tel_printer_new(sink, (tel_format)99) == NULL, "no such format");
	p = new_printer(TEL_FORMAT_TEXT);
	ok(tel_printer_set(p, TEL_PRINT_TIME, (tel_time_form)99) == TEL_EINVAL,
	    "unknown time format");
	ok(tel_printer_set_fields(p, "") == TEL_EINVAL, "no fields");
	ok(tel_printer_set_fields(p, "a,,b") == TEL_EINVAL, "an empty name");
	ok(tel_printer_set_fields(p, "a,b,a") == TEL_EINVAL, "a name twice");
	tel_printer_free(p);
	for (format = TEL_FORMAT_SQL; format <= TEL_FORMAT_MPSTXT; format++) {
		p = new_printer((tel_format)format);
		ok(tel_printer_set_fields(p, "a") == TEL_EINVAL,
		    "fields in format %d", format);
		ok(tel_printer_set(p, TEL_PRINT_TIME, TEL_TIME_NS) ==
		        TEL_EINVAL,
		    "time in format %d", format);
		ok(tel_printer_set(p, TEL_PRINT_TIME, TEL_TIME_TICKS) == TEL_OK,
		    "ticks in format %d", format);
		tel_printer_free(p);
	}
	made_new(&m, "mps-1.118.0");
	memcpy(m.log.schema->name, "xyz", 3);
	made_alloc(&m, 1);
	for (format = TEL_FORMAT_MPSCNV; format <= TEL_FORMAT_MPSTXT;
	     format++) {
		p = new_printer((tel_format)format);
		is_u64((uint64_t)tel_printer_event(p, &m.event),
		    (uint64_t)TEL_EINVAL, "format %d of another log", format);
		tel_printer_free(p);
	}
	is_u64(tel_output_bytes(sink), 0, "nothing was printed");
	tel_printer_free(NULL);
	/* after a first event that failed, another format starts afresh */
	p = new_printer(TEL_FORMAT_TEXT);
	ok(tel_printer_set_format(p, "sqlite") == TEL_OK, "a database");
	ok(tel_printer_event(p, &m.event) == TEL_EINVAL, "without a file");
	ok(tel_printer_set_format(p, "chrome") == TEL_OK, "then a timeline");
	ok(tel_printer_event(p, &m.event) == TEL_OK, "which takes the event");
	tel_printer_free(p);
	tel_schema_free(m.log.schema);
	made_free(&m);
}

/* A trace needs a folder, for each event. */
static void
test_no_folder(void)
{
	tel_printer *p = new_printer(TEL_FORMAT_CTF);
	struct made m;
	unsigned i;

	made_new(&m, "mps-1.118.0");
	made_alloc(&m, 5);
	for (i = 0; i < 10000; i++)
		if (tel_printer_event(p, &m.event) != TEL_EINVAL)
			break;
	is_u64(i, 10000, "no event is written without a folder");
	is_str(tel_printer_error(p), "the trace has no folder", "why");
	is_u64((uint64_t)tel_printer_finish(p), (uint64_t)TEL_ESTATE,
	    "nor is it finished");
	tel_printer_free(p);
	tel_schema_free(m.log.schema);
	made_free(&m);
}

static void
check_finished(tel_format format)
{
	tel_printer *p = new_printer(format);
	struct made m;

	made_new(&m, "mps-1.118.0");
	made_alloc(&m, 1);
	ok(tel_printer_event(p, &m.event) == TEL_OK &&
	        tel_printer_finish(p) == TEL_OK &&
	        tel_printer_event(p, &m.event) == TEL_ESTATE,
	    "no event after the end");
	tel_printer_free(p);
	tel_schema_free(m.log.schema);
	made_free(&m);
}

static void
test_finished(void)
{
	check_finished(TEL_FORMAT_TEXT);
	check_finished(TEL_FORMAT_SQL);
	check_finished(TEL_FORMAT_ARROW);
}

static void
test_late(void)
{
	tel_printer *p = new_printer(TEL_FORMAT_TEXT);
	struct made m;

	ok(tel_printer_set(p, (tel_printer_option)(TEL_PRINT_WIDE + 1), 1) ==
	        TEL_EINVAL,
	    "no option past the last");
	ok(tel_printer_set_allocators(p, "a(") == TEL_EINVAL &&
	        tel_printer_error(p)[0] != '\0',
	    "no expression of allocators");
	ok(tel_printer_set_allocators(p, "a|b") == TEL_OK, "one");
	made_new(&m, "mps-1.118.0");
	made_alloc(&m, 1);
	print(p, &m);
	ok(tel_printer_set(p, TEL_PRINT_HEADER, 0) == TEL_ESTATE,
	    "header, late");
	ok(tel_printer_set(p, TEL_PRINT_TIME, TEL_TIME_NS) == TEL_ESTATE,
	    "time, late");
	ok(tel_printer_set_fields(p, "a") == TEL_ESTATE, "fields, late");
	ok(tel_printer_set_columns(p, "a") == TEL_ESTATE, "columns, late");
	ok(tel_printer_set_allocators(p, "a") == TEL_ESTATE,
	    "allocators, late");
	ok(tel_printer_set(p, TEL_PRINT_COLOR, 1) == TEL_ESTATE,
	    "colour, late");
	ok(tel_printer_set(p, TEL_PRINT_TERMINAL, 1) == TEL_ESTATE,
	    "terminal, late");
	is_printed(p, HEADER_118 ALLOC("1"), "nothing of it had an effect");
	tel_schema_free(m.log.schema);
	made_free(&m);
}

/* Writes two bytes at a time, and after the first thousand fails. */
static ptrdiff_t
fail_write(void *arg, const void *data, size_t size)
{
	size_t *left = arg;

	(void)data;
	if (*left == 0) {
		errno = ENOSPC;
		return -1;
	}
	size = size < 2 ? size : 2;
	size = size < *left ? size : *left;
	*left -= size;
	return (ptrdiff_t)size;
}

/* A failing output ends the printing, in every format. */
static void
test_failing(void)
{
	struct made m;
	tel_printer *p;
	tel_output *full;
	tel_status st;
	size_t left;
	int format, i;

	made_new(&m, "mps-1.118.0");
	for (format = TEL_FORMAT_TEXT; format <= TEL_FORMAT_MPSTXT; format++) {
		left = 1000;
		full = must(tel_output_new_callback(fail_write, &left));
		p = must(tel_printer_new(full, (tel_format)format));
		st = TEL_OK;
		for (i = 0; i < 100000 && st == TEL_OK; i++) {
			made_alloc(&m, 1);
			st = tel_printer_event(p, &m.event);
		}
		is_u64((uint64_t)st, (uint64_t)TEL_EIO,
		    "format %d to where nothing fits", format);
		ok(tel_printer_event(p, &m.event) == TEL_EIO &&
		        tel_printer_finish(p) == TEL_EIO,
		    "it stays so");
		ok(tel_output_errno(full) == ENOSPC, "errno");
		tel_printer_free(p);
		tel_output_free(full);
	}
	tel_schema_free(m.log.schema);
	made_free(&m);
}

int
main(void)
{
	run(test_fields);
	run(test_columns);
	run(test_color);
	run(test_time);
	run(test_logs);
	run(test_empty);
	run(test_names);
	run(test_refused);
	run(test_no_folder);
	run(test_finished);
	run(test_late);
	run(test_failing);
	return done();
}
