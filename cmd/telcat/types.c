/* SPDX-License-Identifier: BSD-2-Clause */
/* --types: the built-in event types, or those of the logs given. */
#include "telcat.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buffer.h"
#include "common/message.h"
#include "common/page.h"

#define HEADS 1024

/* A type that occurs in a log, copied because the log will be closed. */
struct row {
	char *schema;
	char *kind;
	char *name;
	char *doc;
	struct tel__buffer fields; /* "name:data type name:data type" */
	struct tel__buffer docs;   /* the documentation of all */
	/* Of each field: the texts of struct about, each to a NUL. */
	struct tel__buffer about;
	unsigned nfields;
	uint32_t code;
	int unknown;
	uint64_t count;
	size_t next; /* in the chain of its code, 0 at the end, else +1 */
};

/* What a row has of a field. */
struct about {
	const char *name, *datatype, *unit, *doc;
	const char *shown; /* doc and unit, for readers */
};

/* The layouts of the list; any other format has none. */
enum layout { LINES, CSV, JSON };

struct types {
	struct telcat *telcat;
	enum layout layout;
	struct sink *sink;
	const struct source *source;
	struct row *rows;
	size_t nrows, room;
	size_t heads[HEADS]; /* chains, as row.next */
	struct {
		const tel_type *type;
		size_t row;
	} cache[HEADS]; /* valid for one source */
};

static void
add(struct tel__buffer *b, const char *text)
{
	tel__buffer_put(b, text, strlen(text));
}

/* What a field is, and its unit: "the size of the block (bytes)". */
static void
add_shown(struct tel__buffer *b, const struct about *f)
{
	add(b, f->doc);
	if (*f->unit == '\0')
		return;
	add(b, *f->doc != '\0' ? " (" : "(");
	add(b, f->unit);
	add(b, ")");
}

static void
add_field(struct row *row, const struct about *f)
{
	struct tel__buffer *about = &row->about;
	const char *const texts[] = { f->name, f->datatype, f->unit, f->doc };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		tel__buffer_put(about, texts[i], strlen(texts[i]) + 1);
	add_shown(about, f);
	tel__buffer_put(about, "", 1);
	add(&row->fields, row->fields.used > 0 ? " " : "");
	add(&row->fields, f->name);
	add(&row->fields, ":");
	add(&row->fields, f->datatype);
	if (*f->doc == '\0' && *f->unit == '\0')
		return;
	add(&row->docs, row->docs.used > 0 ? "; " : "");
	add(&row->docs, f->name);
	add(&row->docs, ": ");
	add_shown(&row->docs, f);
}

static const char *
next_text(const char **at)
{
	const char *text = *at;

	*at += strlen(text) + 1;
	return text;
}

/* Takes the next field from what a row has of them. */
static struct about
next_about(const char **at)
{
	struct about f;

	f.name = next_text(at);
	f.datatype = next_text(at);
	f.unit = next_text(at);
	f.doc = next_text(at);
	f.shown = next_text(at);
	return f;
}

static void
free_row(struct row *row)
{
	free(row->about.bytes);
	free(row->docs.bytes);
	free(row->fields.bytes);
	free(row->doc);
	free(row->schema);
	free(row->kind);
	free(row->name);
}

static int
make_row(struct row *row, const char *schema, const tel_type *type)
{
	struct about f;

	memset(row, 0, sizeof(*row));
	row->schema = strdup(schema);
	row->kind = strdup(tel_type_kind(type));
	row->name = strdup(tel_type_name(type));
	row->doc = strdup(tel_type_doc(type));
	row->code = tel_type_code(type);
	row->unknown = tel_type_unknown(type);
	row->nfields = tel_type_field_count(type);
	add(&row->docs, tel_type_doc(type));
	for (unsigned i = 0; i < row->nfields; i++) {
		f.name = tel_field_name(tel_type_field(type, i));
		f.datatype = tel_datatype_name(
		    tel_field_datatype(tel_type_field(type, i)));
		f.unit = tel_field_unit(tel_type_field(type, i));
		f.doc = tel_type_field_doc(type, i);
		add_field(row, &f);
	}
	tel__buffer_put(&row->fields, "", 1);
	tel__buffer_put(&row->docs, "", 1);
	if (row->schema != NULL && row->kind != NULL && row->name != NULL &&
	    row->doc != NULL && !row->fields.failed && !row->docs.failed &&
	    !row->about.failed)
		return 1;
	free_row(row);
	return message_no_memory();
}

/*
 * Prints a line that ends in fields.  On a terminal that is too narrow for it,
 * they are below the other columns, as many on a line as fit.
 */
__attribute__((format(printf, 3, 4))) static void
print_line(struct sink *sink, const char *fields, const char *format, ...)
{
	const size_t columns = sink->terminal ? sink->columns : 0;
	size_t used, n, length = strlen(fields);
	char text[512];
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	used = strlen(text);
	if (columns == 0 || length == 0 || used + 1 + length <= columns) {
		putf(sink->out, "%s%s", text, length > 0 ? " " : "");
		(void)tel_output_write(sink->out, fields, length);
		putf(sink->out, "\n");
		return;
	}
	while (used > 0 && text[used - 1] == ' ')
		text[--used] = '\0';
	putf(sink->out, "%s", text);
	/* so that the first one begins a line */
	for (used = columns; *fields != '\0'; fields += n) {
		fields += *fields == ' ';
		n = strcspn(fields, " ");
		if (used + 1 + n > columns) {
			putf(sink->out, "\n   ");
			used = 3;
		}
		putf(sink->out, " ");
		(void)tel_output_write(sink->out, fields, n);
		used += 1 + n;
	}
	putf(sink->out, "\n");
}

static void
print_header(const struct types *t, int counted)
{
	if (t->telcat->no_header)
		return;
	if (t->layout == CSV)
		putf(t->sink->out, "schema,%scode,kind,name,fields%s\n",
		    counted ? "count," : "",
		    t->telcat->settings.verbose ? ",doc" : "");
	else if (t->layout == LINES)
		print_line(t->sink, "fields", "# %-18s %s%-6s %-6s %-19s",
		    "schema", counted ? "     count " : "", "code", "kind",
		    "name");
}

/* Prints a member of an object of JSON. */
static void
print_pair(struct sink *sink, const char *key, const char *value)
{
	putf(sink->out, "\"%s\":", key);
	put_json(sink->out, value);
}

/* The same, behind others, of a value that may be empty. */
static void
print_more(struct sink *sink, const char *key, const char *value)
{
	if (*value == '\0')
		return;
	putf(sink->out, ",");
	print_pair(sink, key, value);
}

/* The documentation as lines of its own. */
static void
print_docs(struct sink *sink, const struct row *row)
{
	const char *at = (const char *)row->about.bytes;
	struct about f;

	if (row->doc[0] != '\0')
		putf(sink->out, "#   %s\n", row->doc);
	for (unsigned i = 0; i < row->nfields; i++) {
		f = next_about(&at);
		if (*f.shown != '\0')
			putf(sink->out, "#     %-20s %s\n", f.name, f.shown);
	}
}

/* The fields of a row as a JSON array of objects. */
static void
print_json_fields(struct sink *sink, const struct row *row)
{
	const char *at = (const char *)row->about.bytes;
	struct about f;

	for (unsigned i = 0; i < row->nfields; i++) {
		f = next_about(&at);
		putf(sink->out, i == 0 ? "{" : ",{");
		print_pair(sink, "name", f.name);
		print_more(sink, "datatype", f.datatype);
		print_more(sink, "unit", f.unit);
		print_more(sink, "doc", f.doc);
		putf(sink->out, "}");
	}
}

static void
print_row(const struct types *t, const struct row *row, int counted)
{
	const char *fields = (const char *)row->fields.bytes;
	struct sink *sink = t->sink;
	char count[24] = "";

	switch (t->layout) {
	case CSV:
		put_csv(sink->out, row->schema);
		if (counted)
			putf(sink->out, ",%" PRIu64, row->count);
		putf(sink->out, ",0x%04X,", (unsigned)row->code);
		put_csv(sink->out, row->kind);
		putf(sink->out, ",%s,%s", row->name, fields);
		if (t->telcat->settings.verbose) {
			putf(sink->out, ",");
			put_csv(sink->out, (const char *)row->docs.bytes);
		}
		putf(sink->out, "\n");
		break;
	case JSON:
		putf(sink->out, "{");
		print_pair(sink, "schema", row->schema);
		if (counted)
			putf(sink->out, ",\"count\":%" PRIu64, row->count);
		putf(sink->out, ",\"code\":%u", (unsigned)row->code);
		print_more(sink, "kind", row->kind);
		print_more(sink, "name", row->name);
		print_more(sink, "doc", row->doc);
		putf(sink->out, ",\"fields\":[");
		print_json_fields(sink, row);
		putf(sink->out, "]}\n");
		break;
	case LINES:
		if (counted)
			(void)snprintf(count, sizeof(count), "%10" PRIu64 " ",
			    row->count);
		print_line(sink, fields, "%-20s %s0x%04X %-6s %-19s",
		    row->schema, count, (unsigned)row->code, row->kind,
		    row->name);
		if (t->telcat->settings.verbose)
			print_docs(sink, row);
		break;
	}
}

/* Lists what a schema has, used or not. */
static void
list_schema(const struct types *t, const char *shown, const tel_schema *schema)
{
	unsigned i, n = tel_schema_type_count(schema);
	struct row row;

	if (!selection_bind(&t->telcat->settings.select, schema))
		return;
	for (i = 0; i < n; i++) {
		const tel_type *type = tel_schema_type(schema, i);

		if (!selection_type(&t->telcat->settings.select, type))
			continue;
		if (!make_row(&row, shown, type))
			return;
		print_row(t, &row, 0);
		free_row(&row);
	}
}

/* Lists a release, or a schema by its full name. */
static int
list_built_in(const struct types *t, const char *name)
{
	tel_schema *schema;

	if (tel_schema_new(name, &schema) != TEL_OK)
		return 0;
	list_schema(t, name, schema);
	tel_schema_free(schema);
	return 1;
}

/* Whether a row is of a type: two logs may use one code for different ones. */
static int
row_is(const struct row *row, const char *schema, const tel_type *type)
{
	const char *at = (const char *)row->about.bytes;
	const tel_field *field;
	struct about f;

	if (row->code != tel_type_code(type) ||
	    row->unknown != tel_type_unknown(type) ||
	    row->nfields != tel_type_field_count(type) ||
	    strcmp(row->name, tel_type_name(type)) != 0 ||
	    strcmp(row->kind, tel_type_kind(type)) != 0 ||
	    strcmp(row->schema, schema) != 0)
		return 0;
	for (unsigned i = 0; i < row->nfields; i++) {
		f = next_about(&at);
		field = tel_type_field(type, i);
		if (strcmp(f.name, tel_field_name(field)) != 0 ||
		    strcmp(f.datatype,
		        tel_datatype_name(tel_field_datatype(field))) != 0)
			return 0;
	}
	return 1;
}

/* Finds the row of a type in the log that is read, or makes it; 0 or +1. */
static size_t
telcat_types_find_row(struct types *t, const tel_type *type)
{
	const char *schema =
	    tel_schema_name(tel_reader_schema(t->source->reader));
	size_t *head = &t->heads[tel_type_code(type) % HEADS], i;

	for (i = *head; i != 0; i = t->rows[i - 1].next)
		if (row_is(&t->rows[i - 1], schema, type))
			return i;
	if (!TEL__RESERVE(t->rows, t->room, t->nrows + 1))
		return (size_t)message_no_memory();
	if (!make_row(&t->rows[t->nrows], schema, type))
		return 0;
	t->rows[t->nrows].next = *head;
	*head = ++t->nrows;
	return *head;
}

static int
telcat_types_begin(void *arg, struct source *const *srcs, int n)
{
	struct types *t = arg;
	const char *key, *value;

	(void)n;
	t->source = srcs[0];
	for (size_t i = 0; t->layout == LINES && !t->telcat->no_header &&
	     tel_reader_metadata(t->source->reader, i, &key, &value);
	     i++) {
		putf(t->sink->out, "# meta: %s ", key);
		put_ascii(t->sink->out, value, strlen(value));
		putf(t->sink->out, "\n");
	}
	memset(t->cache, 0, sizeof(t->cache));
	return 1;
}

static enum outcome
telcat_types_event(void *arg, const tel_event *ev)
{
	struct types *t = arg;
	const tel_type *type = tel_event_type(ev);
	size_t at = tel_type_code(type) % HEADS;

	if (t->cache[at].type != type) {
		t->cache[at].row = telcat_types_find_row(t, type);
		if (t->cache[at].row == 0)
			return END_ALL;
		t->cache[at].type = type;
	}
	t->rows[t->cache[at].row - 1].count++;
	return CONTINUE;
}

static int
telcat_types_by_code(const void *va, const void *vb)
{
	const struct row *a = va, *b = vb;
	int c = strcmp(a->schema, b->schema);

	if (c != 0)
		return c;
	if (a->code != b->code)
		return a->code < b->code ? -1 : 1;
	if (a->unknown != b->unknown)
		return a->unknown - b->unknown;
	c = strcmp(a->name, b->name);
	return c != 0 ? c :
	                strcmp((const char *)a->fields.bytes,
	                    (const char *)b->fields.bytes);
}

/* Lists the types that occur in the operands, with how often. */
static void
list_logs(struct types *t)
{
	struct visitor visitor = { 0 };

	visitor.arg = t;
	visitor.begin = telcat_types_begin;
	visitor.event = telcat_types_event;
	visitor.any_order = 1;
	sources_run(&t->telcat->settings, &visitor);
	print_header(t, 1);
	if (t->nrows > 0)
		qsort(t->rows, t->nrows, sizeof(*t->rows),
		    telcat_types_by_code);
	for (size_t i = 0; i < t->nrows; i++) {
		print_row(t, &t->rows[i], 1);
		free_row(&t->rows[i]);
	}
	free(t->rows);
}

/*
 * Nonzero if standard input has bytes: a pipe, a socket or a file before its
 * end, but no terminal or device.
 */
static int
input_is_given(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	struct stat st;
	int bytes = 0;

	if (fstat(STDIN_FILENO, &st) != 0)
		return 0;
	if (S_ISREG(st.st_mode))
		return lseek(STDIN_FILENO, 0, SEEK_CUR) < st.st_size;
	if (!S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode))
		return 0;
	while (poll(&input, 1, -1) < 0)
		if (errno != EINTR)
			return 0;
	return ioctl(STDIN_FILENO, FIONREAD, &bytes) == 0 && bytes > 0;
}

static enum layout
layout_of(const struct format *f)
{
	if (strcmp(f->shown, "csv") == 0)
		return CSV;
	return strcmp(f->shown, "json") == 0 ? JSON : LINES;
}

void
telcat_types(struct telcat *telcat, struct sink *sink)
{
	const struct settings *s = &telcat->settings;
	struct types *t = calloc(1, sizeof(*t));
	const char *name;
	unsigned i;

	if (t == NULL) {
		(void)message_no_memory();
		return;
	}
	t->telcat = telcat;
	t->layout = layout_of(&telcat->format);
	t->sink = sink;
	if (s->noperands > 0 || (s->as == NULL && input_is_given())) {
		list_logs(t);
	} else {
		print_header(t, 0);
		if (s->as == NULL || !list_built_in(t, s->as))
			for (i = 0; (name = tel_release_name(i)) != NULL; i++)
				(void)list_built_in(t, name);
	}
	if (tel_output_flush(sink->out) != TEL_OK)
		sink_failed(sink);
	free(t);
}

/* ------------------------------------------------------------------- annex */

/* One of each layout that platforms of the MPS have. */
static const char *const layouts[] = { "lii6gc", "w3i6mv", "lii3gc", "w3i3mv",
	"liarll" };

/* The other platforms that the MPS was built for. */
static const char *const platforms[] = { "lii6ll", "lii3ll", "lia6gc", "lia6ll",
	"fri3gc", "fri3ll", "fri6gc", "fri6ll", "w3i3pc", "w3i6pc", "xci3gc",
	"xci3ll", "xci6gc", "xci6ll", "xca6ll" };

/* HPM traces have up to so many counters. */
#define HPM_COUNTERS 8u

/* Describes a schema.  Returns 1, or 0 after a message. */
static int
telcat_types_describe(tel_writer *w, struct sink *sink, const char *name)
{
	tel_schema *schema;
	tel_status st = tel_schema_new(name, &schema);

	if (st == TEL_OK) {
		st = tel_writer_schema(w, schema);
		tel_schema_free(schema);
	}
	if (st != TEL_OK)
		sink_report(sink, name, st, "");
	return st == TEL_OK;
}

/* Describes HPM traces as each version, byte order and number of counters has
 * them. */
static int
describe_hpm(tel_writer *w, struct sink *sink)
{
	char name[64];

	for (unsigned i = 0; i < 4 * 3 * HPM_COUNTERS; i++) {
		unsigned version = i / 4 % 3 + 1;

		/* version 1 has the methods always */
		if (version == 1 && (i & 2) != 0)
			continue;
		(void)snprintf(name, sizeof(name), "hpm-%u.%u%s/%s", version,
		    i / 12 + 1, (i & 2) != 0 ? "-nomids" : "",
		    (i & 1) != 0 ? "x86" : "ppc");
		if (!telcat_types_describe(w, sink, name))
			return 0;
	}
	return 1;
}

static int
describe_platform(tel_writer *w, struct sink *sink, const char *release,
    const char *platform, const char *order)
{
	char name[64];

	(void)snprintf(name, sizeof(name), "%s/%s%s", release, platform, order);
	return telcat_types_describe(w, sink, name);
}

/*
 * Describes a release of the MPS as each layout and byte order has it, and as
 * each platform that there is has it.
 */
static int
describe_release(tel_writer *w, struct sink *sink, const char *release)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (!describe_platform(w, sink, release, layouts[i], "") ||
		    !describe_platform(w, sink, release, layouts[i], ",be"))
			return 0;
	for (size_t i = 0; i < sizeof(platforms) / sizeof(platforms[0]); i++)
		if (!describe_platform(w, sink, release, platforms[i], ""))
			return 0;
	return 1;
}

void
telcat_annex(struct telcat *t, struct sink *sink)
{
	const char *name;
	int ok = 1;

	if (sink->terminal && t->settings.output == NULL) {
		message_fail(STATUS_USAGE, NULL,
		    "refusing to write binary output to a terminal; see -o");
		return;
	}
	tel_writer *w = format_writer(&t->settings, sink, 0);
	if (w == NULL)
		return;
	for (unsigned i = 0; ok && (name = tel_release_name(i)) != NULL; i++)
		ok = strncmp(name, "mps-", 4) == 0 ?
		    describe_release(w, sink, name) :
		    strcmp(name, "hpm") == 0 ?
		    describe_hpm(w, sink) :
		    telcat_types_describe(w, sink, name);
	if (ok &&
	    (tel_writer_finish(w) != TEL_OK ||
	        tel_output_flush(sink->out) != TEL_OK))
		sink_failed(sink);
	tel_writer_free(w);
}
