/* SPDX-License-Identifier: BSD-2-Clause */
/* Printers: what each format makes of events. */
#include "test_print.h"

/* What the formats make of one event of PoolAlloc. */
static void
test_plain(void)
{
	static const char *const want[] = {
		HEADER_118 "00000000000001F4 PoolAlloc pool=0x7f00 "
		           "pReturn=0xabcdef size=64\n",
		"clock,kind,type,fields\n500,Object,PoolAlloc,"
		"pool=0x7f00 pReturn=0xabcdef size=64\n",
		"{\"clock\":500,\"type\":\"PoolAlloc\",\"kind\":\"Object\","
		"\"code\":42,\"fields\":{\"pool\":\"0x7f00\","
		"\"pReturn\":\"0xabcdef\",\"size\":64}}\n",
		NULL,
		"00000000000001F4   2A 7F00 ABCDEF 40\n",
		"00000000000001F4 002A PoolAlloc           "
		"pool:0000000000007F00 pReturn:0000000000ABCDEF "
		"size:0000000000000040 \n",
	};
	static const char *const names[] = { "text", "csv", "json", "sql",
		"mpscnv", "mpstxt" };
	struct made m;
	tel_printer *p;
	unsigned i;

	made_new(&m, "mps-1.118.0");
	made_alloc(&m, 500);
	for (i = 0; i < 6; i++) {
		if (want[i] == NULL)
			continue;
		p = new_printer((tel_format)i);
		print(p, &m);
		is_printed(p, want[i], names[i]);
	}
	tel_schema_free(m.log.schema);
	made_free(&m);
}

/* Every data type of value, in a 32-bit big-endian log of an old release. */
static void
test_sorts(void)
{
	static const char *const want[] = {
		HEADER("mps-1.111.0/lii3gc,be", "1.1.3",
		    "lii3gc, 32-bit, big-endian") "8000000000000001 "
		                                  "PoolInitMVFF "
		                                  "pool=0xfedcba98 "
		                                  "arena=0x0 extendBy=4096 "
		                                  "avgSize=7 align=8 "
		                                  "slotHigh=true "
		                                  "arenaHigh=false "
		                                  "firstFit=true\n",
		"8000000000000001   42 FEDCBA98 0 1000 7 8 FFFFFFFF 0 "
		"FFFFFFFF\n",
		"FFFFFFFF 0042 PoolInitMVFF        pool:FEDCBA98 "
		"arena:00000000 extendBy:00001000 avgSize:00000007 "
		"align:00000008 slotHigh:True arenaHigh:False "
		"firstFit:True \n",
	};
	static const tel_format formats[] = { TEL_FORMAT_TEXT,
		TEL_FORMAT_MPSCNV, TEL_FORMAT_MPSTXT };
	struct made m;
	tel_printer *p;
	unsigned i;

	made_new(&m, "mps-1.111.0/lii3gc,be");
	made_begin(&m, "PoolInitMVFF", 0x8000000000000001);
	made_set(&m, "pool", 0xfedcba98);
	made_set(&m, "extendBy", 4096);
	made_set(&m, "avgSize", 7);
	made_set(&m, "align", 8);
	made_set(&m, "slotHigh", 1);
	made_set(&m, "firstFit", 1);
	for (i = 0; i < 3; i++) {
		p = new_printer(formats[i]);
		print(p, &m);
		is_printed(p, want[i], "32-bit big-endian");
	}
	tel_schema_free(m.log.schema);
	made_free(&m);
}

static void
test_doubles(void)
{
	struct made m;
	tel_printer *p;

	made_new(&m, "mps-1.117.0");
	made_begin(&m, "MeterValues", 0);
	made_set(&m, "meter", 1);
	made_set(&m, "total", tel_double_bits(0.1));
	made_set(&m, "meanSquared", 0x7ff0000000000000);
	made_set(&m, "count", UINT64_MAX);
	made_set(&m, "max", (uint64_t)1 << 53);
	made_set(&m, "min", ((uint64_t)1 << 53) + 1);
	p = new_printer(TEL_FORMAT_TEXT);
	tel_printer_set(p, TEL_PRINT_HEADER, 0);
	print(p, &m);
	is_printed(p,
	    "0000000000000000 MeterValues meter=0x1 total=0.1 "
	    "meanSquared=inf count=18446744073709551615 "
	    "max=9007199254740992 min=9007199254740993\n",
	    "doubles and large numbers as text");
	p = new_printer(TEL_FORMAT_JSON);
	m.event.clock = UINT64_MAX;
	print(p, &m);
	is_printed(p,
	    "{\"clock\":\"18446744073709551615\",\"type\":\"MeterValues\","
	    "\"kind\":\"Pool\",\"code\":9,\"fields\":{\"meter\":\"0x1\","
	    "\"total\":0.1,\"meanSquared\":\"inf\","
	    "\"count\":\"18446744073709551615\",\"max\":9007199254740992,"
	    "\"min\":\"9007199254740993\"}}\n",
	    "doubles and large numbers as JSON");
	p = new_printer(TEL_FORMAT_MPSTXT);
	print(p, &m);
	is_printed(p,
	    "FFFFFFFFFFFFFFFF 0009 MeterValues         "
	    "meter:0000000000000001 total:   0.100 meanSquared:     inf "
	    "count:FFFFFFFFFFFFFFFF max:0020000000000000 "
	    "min:0020000000000001 \n",
	    "doubles as mpseventtxt");
	tel_schema_free(m.log.schema);
	made_free(&m);
}

static void
test_strings(void)
{
	static const char s[] = "a\"b\\c\n\xc3\xa9\xff";
	struct made m;
	tel_printer *p;
	int terminal;

	made_new(&m, "mps-1.118.0");
	made_intern(&m, 9, s, sizeof(s) - 1);
	p = new_printer(TEL_FORMAT_TEXT);
	tel_printer_set(p, TEL_PRINT_HEADER, 0);
	print(p, &m);
	is_printed(p,
	    "0000000000000001 Intern stringId=9 "
	    "string=\"a\\\"b\\\\c\\n\\xc3\\xa9\\xff\"\n",
	    "a string as text");
	p = new_printer(TEL_FORMAT_CSV);
	tel_printer_set(p, TEL_PRINT_HEADER, 0);
	print(p, &m);
	is_printed(p,
	    "1,User,Intern,\"stringId=9 "
	    "string=\"\"a\\\"\"b\\\\c\\n\\xc3\\xa9\\xff\"\"\"\n",
	    "a string in the fields of CSV");
	p = new_printer(TEL_FORMAT_JSON);
	print(p, &m);
	is_printed(p,
	    "{\"clock\":1,\"type\":\"Intern\",\"kind\":\"User\",\"code\":33,"
	    "\"fields\":{\"stringId\":9,"
	    "\"string\":\"a\\\"b\\\\c\\n\xc3\xa9\\u00ff\"}}\n",
	    "a string as JSON");
	for (terminal = 0; terminal < 2; terminal++) {
		p = new_printer(TEL_FORMAT_MPSCNV);
		tel_printer_set(p, TEL_PRINT_TERMINAL, terminal);
		print(p, &m);
		is_printed(p,
		    terminal ? "0000000000000001   21 9 "
		               "\"a\\\"b\\\\c\\x0a\\xc3\\xa9\\xff\"\n" :
		               "0000000000000001   21 9 "
		               "\"a\\\"b\\\\c\n\xc3\xa9\xff\"\n",
		    "a string as mpseventcnv");
		p = new_printer(TEL_FORMAT_CSV);
		tel_printer_set(p, TEL_PRINT_TERMINAL, terminal);
		ok(tel_printer_set_columns(p, "Intern") == TEL_OK, "columns");
		print(p, &m);
		is_printed(p,
		    terminal ? "clock,stringId,string\n1,9,"
		               "\"a\\\"\"b\\\\c\\n\\xc3\\xa9\\xff\"\n" :
		               "clock,stringId,string\n1,9,"
		               "\"a\"\"b\\c\n\xc3\xa9\xff\"\n",
		    "a string in a column");
	}
	tel_schema_free(m.log.schema);
	made_free(&m);
}

/* Types that libtel does not know. */
static void
test_unknown(void)
{
	static const char *const want[] = {
		HEADER_118 "0000000000000007 0x01F4 bytes=0a0bff\n"
		           "0000000000000008 0x10000 bytes=\n",
		"clock,kind,type,fields\n"
		"7,Unknown,0x01F4,bytes=0a0bff\n"
		"8,Unknown,0x10000,bytes=\n",
		"{\"clock\":7,\"type\":\"0x01F4\",\"kind\":\"Unknown\","
		"\"code\":500,\"fields\":{\"bytes\":\"0a0bff\"}}\n"
		"{\"clock\":8,\"type\":\"0x10000\",\"kind\":\"Unknown\","
		"\"code\":65536,\"fields\":{\"bytes\":\"\"}}\n",
		NULL,
		"0000000000000007  1F4\n0000000000000008 10000\n",
		"0000000000000007 01F4 [Unknown]           Unknown event.\n"
		"0000000000000008 10000 [Unknown]           Unknown event.\n",
	};
	struct made m;
	tel_printer *p;
	unsigned i;

	made_new(&m, "mps-1.118.0");
	for (i = 0; i < 6; i++) {
		if (want[i] == NULL)
			continue;
		p = new_printer((tel_format)i);
		made_event(&m, must(tel__schema_unknown(m.log.schema, 500)), 3,
		    7);
		memcpy(m.data + m.log.schema->header, "\x0a\x0b\xff", 3);
		print(p, &m);
		made_event(&m, must(tel__schema_unknown(m.log.schema, 65536)),
		    0, 8);
		print(p, &m);
		is_printed(p, want[i], "unknown types");
	}
	tel_schema_free(m.log.schema);
	made_free(&m);
}

static void
check_labels(const char *release, tel_format format, uint64_t clock,
    const char *want)
{
	struct made m;
	tel_printer *p;
	char what[80];

	made_new(&m, release);
	add_labels(&m);
	made_alloc(&m, clock);
	p = new_printer(format);
	tel_printer_set(p, TEL_PRINT_HEADER, 0);
	print(p, &m);
	snprintf(what, sizeof(what), "labels of %s at %u in format %d", release,
	    (unsigned)clock, (int)format);
	is_printed(p, want, what);
	tel_schema_free(m.log.schema);
	made_free(&m);
}

static void
test_labels(void)
{
	check_labels("mps-1.118.0", TEL_FORMAT_TEXT, 100,
	    "0000000000000064 PoolAlloc pool=0x7f00[\"he\\\"ap\"] "
	    "pReturn=0xabcdef size=64\n");
	check_labels("mps-1.118.0", TEL_FORMAT_TEXT, 99,
	    "0000000000000063 PoolAlloc pool=0x7f00 pReturn=0xabcdef "
	    "size=64\n");
	check_labels("mps-1.117.0", TEL_FORMAT_TEXT, 100,
	    "0000000000000064 PoolAlloc pool=0x7f00[\"he\\\"ap\"] "
	    "pReturn=0xabcdef size=64\n");
	check_labels("mps-1.118.0", TEL_FORMAT_CSV, 100,
	    "100,Object,PoolAlloc,\"pool=0x7f00"
	    "[\"\"he\\\"\"ap\"\"] pReturn=0xabcdef size=64\"\n");
	check_labels("mps-1.118.0", TEL_FORMAT_CSV, 99,
	    "99,Object,PoolAlloc,pool=0x7f00 pReturn=0xabcdef "
	    "size=64\n");
	check_labels("mps-1.118.0", TEL_FORMAT_JSON, 100,
	    "{\"clock\":100,\"type\":\"PoolAlloc\",\"kind\":\"Object\","
	    "\"code\":42,\"fields\":{\"pool\":\"0x7f00\","
	    "\"pReturn\":\"0xabcdef\",\"size\":64},"
	    "\"labels\":{\"pool\":\"he\\\"ap\"}}\n");
	check_labels("mps-1.118.0", TEL_FORMAT_MPSTXT, 100,
	    "0000000000000064 002A PoolAlloc           "
	    "pool:0000000000007F00[\"he\\\"ap\"] "
	    "pReturn:0000000000ABCDEF[unknown label 1A] "
	    "size:0000000000000040 \n");
	check_labels("mps-1.114.0", TEL_FORMAT_MPSTXT, 99,
	    "0000000000000063 0017 PoolAlloc           "
	    "pool:0000000000007F00 "
	    "pReturn:0000000000ABCDEF[unknown label 1A] "
	    "size:0000000000000040[\"he\\\"ap\"] \n");
	check_labels("mps-1.113.0", TEL_FORMAT_MPSTXT, 99,
	    "0000000000000063 0017 PoolAlloc           "
	    "pool:0000000000007F00[\"he\\\"ap\"] "
	    "pReturn:0000000000ABCDEF[unknown label 26] "
	    "size:0000000000000040[\"he\\\"ap\"] \n");
	check_labels("mps-1.113.0", TEL_FORMAT_MPSCNV, 99,
	    "0000000000000063   17 7F00 ABCDEF 40\n");
}

/* Two labels in one object, and none in the next event. */
static void
test_labels_json(void)
{
	struct made m;
	tel_printer *p;

	made_new(&m, "mps-1.118.0");
	add_labels(&m);
	add_label(&m, TEL_SPACE_ADDRESS, 0xabcdef, 50, 1);
	p = new_printer(TEL_FORMAT_JSON);
	if (tel_printer_set_fields(p, "pReturn,pool") != TEL_OK)
		ok(0, "setting fields");
	made_alloc(&m, 100);
	print(p, &m);
	made_alloc(&m, 10);
	print(p, &m);
	is_printed(p,
	    "{\"clock\":100,\"type\":\"PoolAlloc\",\"kind\":\"Object\","
	    "\"code\":42,\"fields\":{\"pReturn\":\"0xabcdef\","
	    "\"pool\":\"0x7f00\"},\"labels\":{\"pReturn\":\"he\\\"ap\","
	    "\"pool\":\"he\\\"ap\"}}\n"
	    "{\"clock\":10,\"type\":\"PoolAlloc\",\"kind\":\"Object\","
	    "\"code\":42,\"fields\":{\"pReturn\":\"0xabcdef\","
	    "\"pool\":\"0x7f00\"}}\n",
	    "labels of two fields as JSON");
	tel_schema_free(m.log.schema);
	made_free(&m);
}

int
main(void)
{
	run(test_plain);
	run(test_sorts);
	run(test_doubles);
	run(test_strings);
	run(test_unknown);
	run(test_labels);
	run(test_labels_json);
	return done();
}
