/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Printing what no MPS log has: signed fields, 16-bit fields, headers of
 * less than eight bytes, events of a byte, names that need escaping.
 */
#include "test_print.h"

static struct tel_field small_fields[] = {
	{ .name = "a",
	    .name_length = 1,
	    .datatype = TEL_SIGNED,
	    .load = TEL_LOAD_U8,
	    .offset = 0,
	    .width = 8 },
};
static struct tel_field mixed_fields[] = {
	{ .name = "bit",
	    .name_length = 3,
	    .datatype = TEL_BOOLEAN,
	    .load = TEL_LOAD_BIT,
	    .offset = 0,
	    .width = 1,
	    .bit = 7 },
	{ .name = "s16",
	    .name_length = 3,
	    .datatype = TEL_SIGNED,
	    .load = TEL_LOAD_LE16,
	    .offset = 1,
	    .width = 16 },
	{ .name = "b16",
	    .name_length = 3,
	    .datatype = TEL_UNSIGNED,
	    .load = TEL_LOAD_BE16,
	    .offset = 3,
	    .width = 16 },
	{ .name = "b32",
	    .name_length = 3,
	    .datatype = TEL_SIGNED,
	    .load = TEL_LOAD_BE32,
	    .offset = 5,
	    .width = 32 },
	{ .name = "s32",
	    .name_length = 3,
	    .datatype = TEL_SET,
	    .load = TEL_LOAD_LE32,
	    .offset = 9,
	    .width = 32 },
	{ .name = "b64",
	    .name_length = 3,
	    .datatype = TEL_SIGNED,
	    .load = TEL_LOAD_BE64,
	    .offset = 13,
	    .width = 64 },
	{ .name = "last",
	    .name_length = 4,
	    .datatype = TEL_BOOLEAN,
	    .load = TEL_LOAD_BIT,
	    .offset = 21,
	    .width = 1,
	    .bit = 3 },
};
static struct tel_field narrow_fields[] = {
	{ .name = "u16",
	    .name_length = 3,
	    .datatype = TEL_UNSIGNED,
	    .load = TEL_LOAD_LE16,
	    .offset = 13,
	    .width = 16 },
	{ .name = "b32",
	    .name_length = 3,
	    .datatype = TEL_UNSIGNED,
	    .load = TEL_LOAD_BE32,
	    .offset = 9,
	    .width = 32 },
	{ .name = "b16",
	    .name_length = 3,
	    .datatype = TEL_SIGNED,
	    .load = TEL_LOAD_BE16,
	    .offset = 0,
	    .width = 16 },
};
static struct tel_type types[] = {
	{ .name = "Small",
	    .name_length = 5,
	    .kind = "K\"1",
	    .code = 1,
	    .index = 0,
	    .size = 1,
	    .nfields = 1,
	    .fields = small_fields },
	{ .name = "Mixed",
	    .name_length = 5,
	    .kind = "K,2",
	    .kind_number = 1,
	    .code = 2,
	    .index = 1,
	    .size = 22,
	    .nfields = 7,
	    .fields = mixed_fields },
	{ .name = "Narrow",
	    .name_length = 6,
	    .kind = "K,2",
	    .kind_number = 1,
	    .code = 3,
	    .index = 2,
	    .size = 15,
	    .nfields = 3,
	    .fields = narrow_fields },
	{ .name = "Nothing",
	    .name_length = 7,
	    .kind = "K,2",
	    .kind_number = 1,
	    .code = 4,
	    .index = 3,
	    .size = 0 },
};
static struct tel_schema schema = { .name = "other-1/any",
	.version = "1",
	.platform = "any",
	.abi = { 8, 8, 8, 0, 0 },
	.align = 1,
	.types = types,
	.ntypes = 4 };

/* One event of each type. */
static void
print_all(tel_printer *p)
{
	static const uint64_t values[] = { 1, 0xfffe, 0xfedc, 0x80000000,
		0x89abcdef, 0x8000000000000000, 1 };
	struct made m;
	unsigned i, j;

	made_schema(&m, &schema);
	for (i = 0; i < schema.ntypes; i++) {
		types[i].schema = &schema;
		made_event(&m, &types[i], 0, i);
		memset(m.data, 0xff, m.event.size);
		for (j = 0; j < types[i].nfields; j++)
			made_store(&m, j, i == 1 ? values[j] : 0x81 + j);
		print(p, &m);
	}
	made_free(&m);
}

static void
test_text(void)
{
	tel_printer *p = new_printer(TEL_FORMAT_TEXT);

	tel_printer_set(p, TEL_PRINT_HEADER, 0);
	print_all(p);
	is_printed(p,
	    "0000000000000000 Small a=-127\n"
	    "0000000000000001 Mixed bit=true s16=-2 b16=65244 "
	    "b32=-2147483648 s32=0x89abcdef b64=-9223372036854775808 "
	    "last=true\n"
	    "0000000000000002 Narrow u16=129 b32=130 b16=131\n"
	    "0000000000000003 Nothing\n",
	    "text");
}

static void
test_csv(void)
{
	tel_printer *p = new_printer(TEL_FORMAT_CSV);

	print_all(p);
	is_printed(p,
	    "clock,kind,type,fields\n"
	    "0,\"K\"\"1\",Small,a=-127\n"
	    "1,\"K,2\",Mixed,bit=true s16=-2 b16=65244 "
	    "b32=-2147483648 s32=0x89abcdef b64=-9223372036854775808 "
	    "last=true\n"
	    "2,\"K,2\",Narrow,u16=129 b32=130 b16=131\n"
	    "3,\"K,2\",Nothing,\n",
	    "CSV");
}

static void
test_json(void)
{
	tel_printer *p = new_printer(TEL_FORMAT_JSON);

	print_all(p);
	is_printed(p,
	    "{\"clock\":0,\"type\":\"Small\",\"kind\":\"K\\\"1\",\"code\":1,"
	    "\"fields\":{\"a\":-127}}\n"
	    "{\"clock\":1,\"type\":\"Mixed\",\"kind\":\"K,2\",\"code\":2,"
	    "\"fields\":{\"bit\":true,\"s16\":-2,\"b16\":65244,"
	    "\"b32\":-2147483648,\"s32\":\"0x89abcdef\","
	    "\"b64\":\"-9223372036854775808\",\"last\":true}}\n"
	    "{\"clock\":2,\"type\":\"Narrow\",\"kind\":\"K,2\",\"code\":3,"
	    "\"fields\":{\"u16\":129,\"b32\":130,\"b16\":131}}\n"
	    "{\"clock\":3,\"type\":\"Nothing\",\"kind\":\"K,2\",\"code\":4,"
	    "\"fields\":{}}\n",
	    "JSON");
}

static void
test_sql(void)
{
	tel_printer *p = new_printer(TEL_FORMAT_SQL);

	print_all(p);
	ok(tel_printer_finish(p) == TEL_OK && tel_output_flush(sink) == TEL_OK,
	    "a script");
	tel_printer_free(p);
	ok(strstr(caught.text, "event_kind VALUES ('K\"1','',0);\n") != NULL,
	    "a kind");
	ok(strstr(caught.text,
	       "(1,-2,65244,-2147483648,2309737967,-9223372036854775808,1,1,2)"
	       ");") != NULL,
	    "a row");
}

int
main(void)
{
	run(test_text);
	run(test_csv);
	run(test_json);
	run(test_sql);
	return done();
}
