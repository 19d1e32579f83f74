/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Printers write into room that they asked for.  Here an output gives them
 * exactly that, in a new block each time, so that AddressSanitizer or
 * valgrind sees a single byte too many; the events are the worst there are.
 */
#include "test_print.h"

#include "io/output.h"

#define FORMATS 6

/*
 * This output stands for the library's own, which is then not linked in: it
 * throws away what it has and gives a block of the size that is asked for.
 */
static uint64_t total;

unsigned char *
tel__output_grow(struct tel_output *o, size_t n)
{
	free(o->buffer);
	total += o->used;
	o->used = 0;
	o->buffer = must(malloc(n));
	/* nothing is left over: even one byte more needs another block */
	o->size = n;
	return o->buffer;
}

tel_status
tel_output_write(tel_output *o, const void *data, size_t size)
{
	unsigned char *p = tel__output_grow(o, size + (size == 0));

	memcpy(p, data, size);
	o->used = size;
	return TEL_OK;
}

tel_status
tel__output_fail(tel_output *o, tel_status st, int error)
{
	o->status = st;
	o->error = error;
	return st;
}

tel_output *
tel_output_new_callback(tel_write_fn *fn, void *arg)
{
	(void)fn;
	(void)arg;
	return calloc(1, sizeof(tel_output));
}

tel_output *
tel_output_new_fd(int fd)
{
	(void)fd;
	return calloc(1, sizeof(tel_output));
}

int
tel_output_errno(const tel_output *o)
{
	return o->error;
}

tel_output *
tel__output_new_memory(void)
{
	return calloc(1, sizeof(tel_output));
}

tel_status
tel__output_boundary(struct tel_output *o, int must)
{
	(void)must;
	return o->status;
}

tel_status
tel__output_mark(struct tel_output *o, const void *mark, size_t size)
{
	(void)mark;
	(void)size;
	return o->status;
}

tel_status
tel__output_spill(tel_output *o)
{
	return o->status;
}

tel_status
tel_output_flush(tel_output *o)
{
	return o->status;
}

void
tel_output_free(tel_output *o)
{
	free(o->buffer);
	free(o);
}

/* Prints an event with a block for itself. */
static void
print_alone(tel_printer *p, const struct made *m)
{
	tel_status st;

	total += sink->used;
	sink->used = 0;
	sink->size = 0; /* so that the printer must ask */
	st = tel_printer_event(p, &m->event);
	if (st != TEL_OK)
		ok(0, "printing %s: %s", m->event.type->name,
		    tel_status_text(st));
}

/* Fills all of an event but its header with a byte, or with noise. */
static void
fill(struct made *m, int byte)
{
	static uint32_t noise = 12345;
	uint32_t i;

	for (i = m->log.schema->header; i < m->event.size; i++) {
		noise = noise * 1103515245 + 12345;
		m->data[i] =
		    (unsigned char)(byte >= 0 ? (uint32_t)byte : noise >> 16);
	}
}

/* One event of each type, and one of none, in a printer. */
static void
print_types(tel_printer *p, struct made *m, int byte)
{
	const struct tel_schema *s = m->log.schema;
	unsigned i;

	for (i = 0; i < s->ntypes; i++) {
		made_event(m, &s->types[i], s->types[i].has_string ? 300 : 0,
		    UINT64_MAX - i);
		fill(m, byte);
		print_alone(p, m);
	}
	made_event(m, must(tel__schema_unknown(m->log.schema, 60000)),
	    65535 - s->header, 0);
	fill(m, byte);
	print_alone(p, m);
}

static void
print_log(struct made *m)
{
	static const int bytes[] = { 0, 0xff, 0x7f, -1, -1, '"', '\\', 0x80 };
	tel_printer *p;
	size_t i;
	int format;

	for (format = 0; format < FORMATS; format++) {
		p = new_printer((tel_format)format);
		if (format == TEL_FORMAT_TEXT)
			tel_printer_set(p, TEL_PRINT_COLOR, 1);
		for (i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++)
			print_types(p, m, bytes[i]);
		if (tel_printer_finish(p) != TEL_OK)
			ok(0, "finishing");
		tel_printer_free(p);
	}
}

/* Every type of every release, in each layout. */
static void
test_releases(void)
{
	static const char *const platforms[] = { "lii6gc", "lii6gc,be",
		"lii3gc", "lii3gc,be", "w3i3mv" };
	const char *release;
	struct made m;
	char name[64];
	unsigned i, j;

	for (i = 0; (release = tel_release_name(i)) != NULL; i++) {
		if (strncmp(release, "mps-", 4) != 0)
			continue;
		for (j = 0; j < sizeof(platforms) / sizeof(platforms[0]); j++) {
			snprintf(name, sizeof(name), "%s/%s", release,
			    platforms[j]);
			made_new(&m, name);
			total = 0;
			print_log(&m);
			ok(total > 0, "%s: %" PRIu64 " bytes", name, total);
			tel_schema_free(m.log.schema);
			made_free(&m);
		}
	}
}

/* Addresses that all have a label of the longest kind. */
static void
test_labels(void)
{
	char *label = must(malloc(65535));
	struct made m;
	int byte, i;

	made_new(&m, "mps-1.118.0");
	for (byte = 0; byte < 3; byte++) {
		memset(label, "\"\xff\x01"[byte], 65535);
		if (tel__labels_intern(m.log.labels, 1, label,
		        byte == 0 ? 64000 : 65) != TEL_OK)
			ok(0, "no string");
		for (i = 0; i < 2; i++) {
			add_label(&m, (enum tel_space)i, UINT64_MAX, 0, 1);
			add_label(&m, (enum tel_space)i, 0, 0, 1);
		}
		total = 0;
		print_log(&m);
		ok(total > 0, "labels: %" PRIu64 " bytes", total);
	}
	free(label);
	tel_schema_free(m.log.schema);
	made_free(&m);
}

/* A string that fills the longest event, which no NUL ends. */
static void
test_strings(void)
{
	static const int bytes[] = { '"', '\\', 1, 0x80, 0xff, '\'', ',' };
	struct made m;
	tel_printer *p;
	size_t i;
	int format;

	made_new(&m, "mps-1.118.0");
	for (format = 0; format < FORMATS; format++) {
		total = 0;
		for (i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
			p = new_printer((tel_format)format);
			tel_printer_set(p, TEL_PRINT_TERMINAL, (int)i & 1);
			if (i % 3 == 0 &&
			    tel_printer_set_columns(p, "Intern") != TEL_OK)
				ok(0, "columns");
			made_event(&m, made_type(&m, "Intern"), 65000, 1);
			fill(&m, bytes[i]);
			print_alone(p, &m);
			tel_printer_free(p);
		}
		ok(total > 0, "strings in format %d: %" PRIu64 " bytes", format,
		    total);
	}
	tel_schema_free(m.log.schema);
	made_free(&m);
}

int
main(void)
{
	run(test_releases);
	run(test_labels);
	run(test_strings);
	return done();
}
