/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of a schema in a script for sqlite3, and what they mean. */
#include "print/sql.h"

#include <inttypes.h>

/* The registry's flag of a type; 1 where there is no registry. */
static unsigned
is_used(const struct tel_printer *pr, const struct tel_type *type)
{
	unsigned i;

	if (pr->release == NULL)
		return 1;
	for (i = 0; i < tel__mps_nrows; i++)
		if (tel__mps_rows[i].code == type->code &&
		    tel__mps_rows[i].first <= pr->release->number &&
		    tel__mps_rows[i].last >= pr->release->number)
			return tel__mps_rows[i].used;
	return 0;
}

static void
put_kind(struct tel_printer *pr, unsigned number, const char *name,
    const char *text)
{
	print_put(pr, "INSERT OR IGNORE INTO event_kind VALUES (");
	tel__sql_value(pr, name);
	print_put(pr, ",");
	tel__sql_value(pr, text);
	tel__sql_put(pr, ",%u);\n", number);
}

static void
put_kinds(struct tel_printer *pr, const struct tel_schema *schema)
{
	unsigned i;

	if (pr->release != NULL)
		for (i = 0; i < MPS_KINDS; i++)
			put_kind(pr, i, tel__mps_kinds[i].name,
			    tel__mps_kinds[i].text);
	else
		for (i = 0; i < schema->ntypes; i++)
			put_kind(pr, schema->types[i].kind_number,
			    schema->types[i].kind, "");
}

/* The letter of a data type in the MPS's registry. */
static char
letter_of(const struct tel_field *f)
{
	switch (f->datatype) {
	case TEL_ADDRESS: return 'A';
	case TEL_POINTER: return 'P';
	case TEL_BOOLEAN: return 'B';
	case TEL_DOUBLE: return 'D';
	case TEL_STRING: return 'S';
	case TEL_UNSIGNED:
	case TEL_SIGNED:
	case TEL_SET: break;
	}
	return f->letter == 'U' ? 'U' : 'W';
}

static void
put_params(struct tel_printer *pr, const struct tel_type *type)
{
	unsigned i;

	for (i = 0; i < type->nfields; i++) {
		tel__sql_put(pr,
		    "INSERT INTO event_param (type,param_index,sort,ident,doc) "
		    "SELECT %" PRIu32 ",%u,'%c',",
		    type->code, i, letter_of(&type->fields[i]));
		tel__sql_column(pr, type, i);
		tel__sql_put(pr,
		    ",'' WHERE NOT EXISTS (SELECT 1 FROM event_param WHERE "
		    "type=%" PRIu32 " AND param_index=%u);\n",
		    type->code, i);
	}
}

static tel_status
put_table(struct tel_printer *pr, const struct tel_type *type)
{
	struct print_builder b;
	const struct tel_field *f;
	unsigned i;

	/* only its literal is wanted, which may be long */
	tel__print_begin(&b, NULL, LABELS_TEXT);
	tel__print_literal(&b, "CREATE TABLE IF NOT EXISTS ");
	tel__sql_add_name(&b, "EVENT_", type->name);
	tel__print_literal(&b, " (");
	for (i = 0; i < type->nfields; i++) {
		f = &type->fields[i];
		tel__sql_add_column(&b, type, i);
		tel__print_literal(&b,
		    f->datatype == TEL_DOUBLE     ? " REAL, " :
		        f->datatype == TEL_STRING ? " TEXT, " :
		                                    " INTEGER, ");
	}
	tel__print_literal(&b, "time INTEGER, log_serial INTEGER);\n");
	if (!b.failed)
		tel_output_write(pr->out, b.literal, b.length);
	i = b.failed != 0;
	tel__print_program_free(tel__print_end(&b));
	return i ? TEL_ENOMEM : pr->out->status;
}

/* Types that the database already has, but in another way, are misfits. */
static void
put_check(struct tel_printer *pr, const struct tel_type *type)
{
	unsigned i;

	print_put(pr, "INSERT INTO temp.tel_misfit SELECT ");
	tel__sql_value(pr, type->name);
	tel__sql_put(pr,
	    " WHERE EXISTS (SELECT 1 FROM event_type WHERE (code=%" PRIu32
	    ")<>(name=",
	    type->code);
	tel__sql_value(pr, type->name);
	print_put(pr,
	    ")) OR (SELECT count(*) FROM pragma_table_info('EVENT_'||");
	tel__sql_value(pr, type->name);
	print_put(pr, ") WHERE name COLLATE NOCASE IN (");
	for (i = 0; i < type->nfields; i++) {
		tel__sql_column(pr, type, i);
		print_put(pr, ",");
	}
	tel__sql_put(pr, "'time','log_serial'))<>%u;\n", type->nfields + 2);
}

tel_status
tel__sql_schema(struct tel_printer *pr, const struct tel_schema *schema)
{
	const struct tel_type *type;
	tel_status st;
	unsigned i;

	put_kinds(pr, schema);
	for (i = 0; i < schema->ntypes; i++) {
		type = &schema->types[i];
		print_put(pr,
		    "INSERT OR IGNORE INTO event_type (name,code,used,kind) "
		    "VALUES (");
		tel__sql_value(pr, type->name);
		tel__sql_put(pr, ",%" PRIu32 ",%u,%u);\n", type->code,
		    is_used(pr, type), (unsigned)type->kind_number);
		put_params(pr, type);
		st = put_table(pr, type);
		if (st != TEL_OK)
			return st;
		put_check(pr, type);
	}
	/* says so at once, and lets the rows come to nothing */
	return print_put(pr,
	    "DELETE FROM temp.tel_log WHERE EXISTS "
	    "(SELECT 1 FROM temp.tel_misfit);\n"
	    "INSERT INTO temp.tel_check "
	    "SELECT 0 FROM temp.tel_misfit LIMIT 1;\n");
}
