/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Output as a trace of CTF 1.8 ("ctf") or 2 ("ctf2"): a folder with a stream of
 * all events and the metadata of their types.  Numbers are little-endian and
 * start at bytes, so that both versions have the same stream.
 *
 * The folder is written beside the one that is asked for, and gets its name when
 * it is complete.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/digit.h"
#include "base/names.h"
#include "base/path.h"
#include "base/table.h"
#include "format/ctf/ctf.h"
#include "format/ctf/folder.h"
#include "io/output.h"
#include "render/renderer.h"

#define PACKET_SIZE ((size_t)256 << 10)
/* The header of a packet, and its context: six numbers of 64 bits. */
#define AT_CONTEXT 24u
#define AT_EVENTS (AT_CONTEXT + 48u)
#define EVENT_TYPES_MAX 65536u
/* A name of a member, of 200 bytes, with what makes it another one. */
#define NAME_ROOM 256u

struct trace {
	int version;
	struct ctf_folder folder;
	int stream; /* or -1 */
	struct tel_output *out;
	struct tel__buffer packet;
	struct tel__buffer types; /* the part of metadata that describes them */
	struct tel__table ids;    /* of types, by their address, from 1 */
	uint32_t ntypes;
	uint64_t events, packets;
	uint64_t begin, end; /* clocks of the packet */
	uint64_t lost;
	double rate;   /* of the clock, or 0 */
	int64_t epoch; /* nanoseconds from 1970 to tick 0 */
	int has_epoch;
	unsigned char uuid[16];
};

/* ------------------------------------------------------------ descriptions */

__attribute__((format(printf, 2, 3))) static void
ctf_write_put_text(struct tel__buffer *b, const char *format, ...)
{
	unsigned char *to = tel__buffer_room(b, 1024);
	va_list args;

	if (to == NULL)
		return;
	va_start(args, format);
	int n = vsnprintf((char *)to, 1024, format, args);
	va_end(args);
	if (n > 0)
		b->used += n < 1024 ? (size_t)n : 1023;
}

/* A name as a string of C or JSON. */
static void
put_quoted(struct tel__buffer *b, const char *prefix, const char *s)
{
	ctf_write_put_text(b, "\"%s", prefix);
	for (; *s != '\0'; s++)
		if ((unsigned char)*s < 0x20)
			ctf_write_put_text(b, "?");
		else
			ctf_write_put_text(b,
			    *s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
	ctf_write_put_text(b, "\"");
}

/* Nonzero when a field gets the text of a label; that of an enum is a field. */
static int
ctf_write_labelled(const struct tel_type *type, const struct tel_field *f)
{
	return tel_field_labelled(f) &&
	    (f + 1 == type->fields + type->nfields || !f[1].is_label);
}

/* The members of a struct so far. */
struct members {
	struct tel__names names;
	int any; /* one was described */
};

/* Makes a name one that no member has: readers refuse two of a name. */
static void
ctf_write_distinguish(struct members *m, struct tel__buffer *b, char *name)
{
	const size_t n = strlen(name);
	size_t known;

	for (unsigned i = 2;; i++) {
		known = m->names.count;
		if (tel__names_add(&m->names, name, strlen(name), SIZE_MAX) ==
		    TEL__NOWHERE)
			b->failed = 1;
		if (b->failed || m->names.count > known)
			return;
		(void)snprintf(name + n, NAME_ROOM - n, "_%u", i);
	}
}

/*
 * The first n bytes of a name as an identifier; in CTF 1.8 with an underscore,
 * which keeps it from the keywords, and which readers take off.
 */
static const char *
ctf_write_identifier(const struct trace *t, struct members *m,
    struct tel__buffer *b, const char *name, size_t n, char *to)
{
	size_t i, k = 0;

	if (t->version == 1)
		to[k++] = '_';
	for (i = 0; i < n && k < 200; i++)
		to[k++] = tel_is_word(name[i]) ? name[i] : '_';
	to[k] = '\0';
	ctf_write_distinguish(m, b, to);
	return to;
}

/*
 * The name of a member that goes with a field: what comes before and behind the
 * field's, and more where another field is called so.
 */
static void
companion(const struct trace *t, struct members *m, struct tel__buffer *b,
    const struct tel_type *type, const char *name, const char *before,
    const char *behind, char *to)
{
	const size_t skip = t->version == 1;
	size_t n = (size_t)snprintf(to, NAME_ROOM, "%s%s%.200s%s",
	    skip ? "_" : "", before, name + skip, behind);

	while (n < 240 && tel_type_find_field(type, to + skip) >= 0) {
		to[n++] = '_';
		to[n] = '\0';
	}
	ctf_write_distinguish(m, b, to);
}

/* How a number is written. */
struct shape {
	unsigned bits;
	int is_signed, is_float, is_boolean, base;
};

static struct shape
ctf_write_shape_of(enum tel_datatype datatype, unsigned width)
{
	struct shape s = { 64, 0, 0, 0, 10 };

	s.bits = width <= 8 ? 8 : width <= 16 ? 16 : width <= 32 ? 32 : 64;
	s.is_signed = datatype == TEL_SIGNED;
	s.is_float = datatype == TEL_DOUBLE;
	s.is_boolean = datatype == TEL_BOOLEAN;
	if (datatype == TEL_ADDRESS || datatype == TEL_POINTER ||
	    datatype == TEL_SET)
		s.base = 16;
	return s;
}

/* The class of a number or a string. */
static void
ctf_write_put_class(const struct trace *t, struct tel__buffer *b,
    enum tel_datatype datatype, unsigned width)
{
	const struct shape s = ctf_write_shape_of(datatype, width);

	if (datatype == TEL_STRING) {
		ctf_write_put_text(b,
		    t->version == 1 ? "string { encoding = UTF8; }" :
		                      "{\"type\":\"null-terminated-string\"}");
	} else if (t->version == 1 && s.is_boolean) {
		ctf_write_put_text(b,
		    "enum : integer { size = %u; align = 8; } "
		    "{ \"false\" = 0, \"true\" = 1 }",
		    s.bits);
	} else if (t->version == 1 && s.is_float) {
		ctf_write_put_text(b,
		    "floating_point { exp_dig = %d; mant_dig = %d; align = 8; "
		    "}",
		    s.bits == 32 ? 8 : 11, s.bits == 32 ? 24 : 53);
	} else if (t->version == 1) {
		ctf_write_put_text(b,
		    "integer { size = %u; align = 8; signed = %s; base = %d; }",
		    s.bits, s.is_signed ? "true" : "false", s.base);
	} else {
		ctf_write_put_text(b,
		    "{\"type\":\"fixed-length-%s\",\"length\":%u,"
		    "\"byte-order\":\"little-endian\",\"alignment\":8",
		    s.is_float       ? "floating-point-number" :
		        s.is_boolean ? "boolean" :
		        s.is_signed  ? "signed-integer" :
		                       "unsigned-integer",
		    s.bits);
		if (s.base == 16)
			ctf_write_put_text(b, ",\"preferred-display-base\":16");
		ctf_write_put_text(b, "}");
	}
}

/* Starts a member: in JSON its name comes first, in TSDL its class. */
static void
member_start(const struct trace *t, struct tel__buffer *b, const char *name,
    struct members *m)
{
	if (t->version == 1)
		return;
	ctf_write_put_text(b,
	    "%s{\"name\":\"%s\",\"field-class\":", m->any ? "," : "", name);
	m->any = 1;
}

static void
member_end(const struct trace *t, struct tel__buffer *b, const char *name)
{
	if (t->version == 1)
		ctf_write_put_text(b, " %s; ", name);
	else
		ctf_write_put_text(b, "}");
}

/* A list: its length, and its elements. */
static void
ctf_write_put_list(const struct trace *t, struct tel__buffer *b,
    const struct tel_type *type, const struct tel_field *f, const char *name,
    struct members *m)
{
	char length[NAME_ROOM];

	companion(t, m, b, type, name, "", "_len", length);
	member_start(t, b, length, m);
	ctf_write_put_class(t, b, TEL_UNSIGNED, 32);
	member_end(t, b, length);
	member_start(t, b, name, m);
	if (t->version == 1) {
		ctf_write_put_class(t, b, (enum tel_datatype)f->element,
		    f->width);
		ctf_write_put_text(b, " %s[%s]; ", name, length);
		return;
	}
	ctf_write_put_text(b,
	    "{\"type\":\"dynamic-length-array\","
	    "\"element-field-class\":");
	ctf_write_put_class(t, b, (enum tel_datatype)f->element, f->width);
	ctf_write_put_text(b, ",\"length-field-location\":{\"path\":[\"%s\"]}}",
	    length);
	member_end(t, b, name);
}

/* A field that may be absent, behind a number that is 1 if it is present. */
static void
put_optional(const struct trace *t, struct tel__buffer *b,
    const struct tel_type *type, const struct tel_field *f, const char *name,
    struct members *m)
{
	char has[NAME_ROOM];

	companion(t, m, b, type, name, "has_", "", has);
	member_start(t, b, has, m);
	if (t->version == 1)
		ctf_write_put_text(b,
		    "enum : integer { size = 8; align = 8; } "
		    "{ none = 0, some = 1 }");
	else
		ctf_write_put_class(t, b, TEL_BOOLEAN, 8);
	member_end(t, b, has);
	member_start(t, b, name, m);
	if (t->version == 1)
		ctf_write_put_text(b, "variant <%s> { struct { } none; ", has);
	else
		ctf_write_put_text(b,
		    "{\"type\":\"optional\","
		    "\"selector-field-location\":{\"path\":[\"%s\"]},"
		    "\"field-class\":",
		    has);
	ctf_write_put_class(t, b, f->datatype, f->width);
	ctf_write_put_text(b, t->version == 1 ? " some; }" : "}");
	member_end(t, b, name);
}

static void
ctf_write_put_field(const struct trace *t, struct tel__buffer *b,
    const struct tel_type *type, const struct tel_field *f, const char *name,
    struct members *m)
{
	char label[NAME_ROOM];

	if (f->datatype == TEL_LIST) {
		ctf_write_put_list(t, b, type, f, name, m);
	} else if (f->present != 0) {
		put_optional(t, b, type, f, name, m);
	} else {
		member_start(t, b, name, m);
		ctf_write_put_class(t, b, f->datatype, f->width);
		member_end(t, b, name);
	}
	if (!ctf_write_labelled(type, f))
		return;
	companion(t, m, b, type, name, "", "_label", label);
	member_start(t, b, label, m);
	ctf_write_put_class(t, b, TEL_STRING, 0);
	member_end(t, b, label);
}

/*
 * The fields of a type from number i to number end, behind the first n bytes of
 * their names: those of one struct are together.
 */
static void
ctf_write_put_fields(const struct trace *t, struct tel__buffer *b,
    const struct tel_type *type, unsigned i, unsigned end, size_t n)
{
	const struct tel_field *f = type->fields;
	char name[NAME_ROOM];
	struct members m = { 0 };
	unsigned last;

	for (; i < end; i = last) {
		last = i + 1;
		const char *dot = type->schema->nested && !f[i].is_label ?
		    strchr(f[i].name + n, '.') :
		    NULL;
		if (dot == NULL) {
			ctf_write_put_field(t, b, type, &f[i],
			    ctf_write_identifier(t, &m, b, f[i].name + n,
			        f[i].name_length - n, name),
			    &m);
			continue;
		}
		size_t length = (size_t)(dot + 1 - f[i].name);
		while (
		    last < end && strncmp(f[last].name, f[i].name, length) == 0)
			last++;
		ctf_write_identifier(t, &m, b, f[i].name + n, length - 1 - n,
		    name);
		member_start(t, b, name, &m);
		ctf_write_put_text(b,
		    t->version == 1 ? "struct { " :
		                      "{\"type\":\"structure\","
		                      "\"member-classes\":[");
		ctf_write_put_fields(t, b, type, i, last, length);
		ctf_write_put_text(b, t->version == 1 ? "}" : "]}");
		member_end(t, b, name);
	}
	tel__names_clear(&m.names);
}

/* Describes a type that is used for the first time. */
static void
ctf_write_describe_type(struct trace *t, const struct tel_type *type,
    uint32_t id)
{
	struct tel__buffer *b = &t->types;
	char prefix[128] = "";

	/* a name of LTTng has its kind already */
	if (strchr(type->name, ':') == NULL && type->kind != NULL &&
	    strpbrk(type->kind, "\"\\:\n") == NULL)
		snprintf(prefix, sizeof(prefix), "%.100s:", type->kind);
	if (t->version == 1) {
		ctf_write_put_text(b, "event {\n\tname = ");
		put_quoted(b, prefix, type->name);
		ctf_write_put_text(b,
		    ";\n\tid = %" PRIu32 ";\n\tstream_id = 0;\n"
		    "\tfields := struct { ",
		    id);
	} else {
		ctf_write_put_text(b,
		    "\x1e{\"type\":\"event-record-class\",\"id\":"
		    "%" PRIu32 ",\"name\":",
		    id);
		put_quoted(b, prefix, type->name);
		ctf_write_put_text(b,
		    ",\"payload-field-class\":{\"type\":\"structure\","
		    "\"member-classes\":[");
	}
	ctf_write_put_fields(t, b, type, 0, type->nfields, 0);
	ctf_write_put_text(b, t->version == 1 ? "};\n};\n" : "]}}\n");
}

/* The metadata up to the types. */
static const char head1[] =
    "/* CTF 1.8 */\n"
    "typealias integer { size = 16; align = 8; } := uint16_t;\n"
    "typealias integer { size = 32; align = 8; } := uint32_t;\n"
    "typealias integer { size = 64; align = 8; } := uint64_t;\n"
    "trace {\n\tmajor = 1;\n\tminor = 8;\n\tbyte_order = le;\n"
    "\tuuid = \"%s\";\n"
    "\tpacket.header := struct {\n\t\tuint32_t magic;\n"
    "\t\tinteger { size = 8; align = 8; } uuid[16];\n"
    "\t\tuint32_t stream_id;\n\t};\n};\n"
    "env {\n\ttracer_name = \"teltools\";\n\ttracer_major = 0;\n};\n"
    "clock {\n\tname = \"clock\";\n\tfreq = %" PRIu64 ";\n"
    "\toffset_s = %" PRId64 ";\n\toffset = %" PRIu64 ";\n"
    "\tabsolute = %s;\n\tdescription = \"%s\";\n};\n"
    "typealias integer { size = 64; align = 8; map = clock.clock.value; } "
    ":= clock_t;\n"
    "stream {\n\tid = 0;\n\tpacket.context := struct {\n"
    "\t\tclock_t timestamp_begin;\n\t\tclock_t timestamp_end;\n"
    "\t\tuint64_t content_size;\n\t\tuint64_t packet_size;\n"
    "\t\tuint64_t events_discarded;\n\t\tuint64_t packet_seq_num;\n\t};\n"
    "\tevent.header := struct {\n\t\tuint16_t id;\n"
    "\t\tclock_t timestamp;\n\t};\n};\n";

#define U64_2 \
	"{\"type\":\"fixed-length-unsigned-integer\",\"length\":%u," \
	"\"byte-order\":\"little-endian\",\"alignment\":8,\"roles\":[\"%s\"]}"

static void
put_role(struct tel__buffer *b, const char *name, unsigned bits,
    const char *role, const char *between)
{
	ctf_write_put_text(b, "{\"name\":\"%s\",\"field-class\":" U64_2 "}%s",
	    name, bits, role, between);
}

static void
put_head2(const struct trace *t, struct tel__buffer *b, uint64_t frequency,
    int64_t seconds, uint64_t cycles)
{
	ctf_write_put_text(b,
	    "\x1e{\"type\":\"preamble\",\"version\":2,\"uuid\":[");
	for (unsigned i = 0; i < 16; i++)
		ctf_write_put_text(b, "%s%u", i > 0 ? "," : "", t->uuid[i]);
	ctf_write_put_text(b,
	    "]}\n\x1e{\"type\":\"trace-class\",\"environment\":"
	    "{\"tracer_name\":\"teltools\",\"tracer_major\":0},"
	    "\"packet-header-field-class\":{\"type\":\"structure\","
	    "\"member-classes\":[");
	put_role(b, "magic", 32, "packet-magic-number", ",");
	ctf_write_put_text(b,
	    "{\"name\":\"uuid\",\"field-class\":{\"type\":"
	    "\"static-length-blob\",\"length\":16,"
	    "\"roles\":[\"metadata-stream-uuid\"]}},");
	put_role(b, "stream_id", 32, "data-stream-class-id", "]}}\n");
	ctf_write_put_text(b,
	    "\x1e{\"type\":\"clock-class\",\"id\":\"clock\",\"frequency\":"
	    "%" PRIu64 "%s,\"offset-from-origin\":{\"seconds\":%" PRId64
	    ",\"cycles\":%" PRIu64 "}}\n",
	    frequency, t->has_epoch ? ",\"origin\":\"unix-epoch\"" : "",
	    seconds, cycles);
	ctf_write_put_text(b,
	    "\x1e{\"type\":\"data-stream-class\",\"id\":0,"
	    "\"default-clock-class-id\":\"clock\","
	    "\"packet-context-field-class\":{\"type\":\"structure\","
	    "\"member-classes\":[");
	put_role(b, "timestamp_begin", 64, "default-clock-timestamp", ",");
	put_role(b, "timestamp_end", 64, "packet-end-default-clock-timestamp",
	    ",");
	put_role(b, "content_size", 64, "packet-content-length", ",");
	put_role(b, "packet_size", 64, "packet-total-length", ",");
	put_role(b, "events_discarded", 64,
	    "discarded-event-record-counter-snapshot", ",");
	put_role(b, "packet_seq_num", 64, "packet-sequence-number",
	    "]},\"event-record-header-field-class\":{\"type\":\"structure\","
	    "\"member-classes\":[");
	put_role(b, "id", 16, "event-record-class-id", ",");
	put_role(b, "timestamp", 64, "default-clock-timestamp", "]}}\n");
}

static void
ctf_write_put_head(const struct trace *t, struct tel__buffer *b)
{
	const uint64_t frequency = t->rate >= 1 && t->rate < 1e18 ?
	    (uint64_t)(t->rate + 0.5) :
	    1000000000;
	int64_t seconds = 0, rest = 0;
	char uuid[40];
	unsigned i, n = 0;

	if (t->has_epoch) {
		seconds = t->epoch / 1000000000;
		rest = t->epoch % 1000000000;
		if (rest < 0) {
			seconds--;
			rest += 1000000000;
		}
	}
	const uint64_t cycles =
	    (uint64_t)((double)rest * ((double)frequency / 1e9));
	if (t->version == 2) {
		put_head2(t, b, frequency, seconds, cycles);
		return;
	}
	for (i = 0; i < 16; i++)
		n += (unsigned)snprintf(uuid + n, sizeof(uuid) - n, "%s%02x",
		    i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
		    t->uuid[i]);
	if (tel__buffer_room(b, 4096) == NULL)
		return;
	b->used += (size_t)snprintf((char *)b->bytes + b->used, 4096, head1,
	    uuid, frequency, seconds, cycles, t->has_epoch ? "TRUE" : "FALSE",
	    t->rate > 0 ? "the clock of the log" :
	                  "ticks of unknown rate, as nanoseconds");
}

/* ------------------------------------------------------------------ events */

static void
ctf_write_put_number(struct tel__buffer *b, uint64_t v, unsigned bits)
{
	unsigned char *to = tel__buffer_room(b, 8);

	if (to == NULL)
		return;
	tel_store_le64(to, v);
	b->used += bits / 8;
}

static void
ctf_write_put_value(struct tel__buffer *b, enum tel_datatype datatype,
    unsigned width, uint64_t v)
{
	const struct shape s = ctf_write_shape_of(datatype, width);

	ctf_write_put_number(b,
	    s.is_float && s.bits == 32 ? tel_bits_float(v) : v, s.bits);
}

/* A NUL is its two bytes in Java's modified UTF-8: one byte ends the string. */
static void
ctf_write_put_string(struct tel__buffer *b, const char *s, size_t n)
{
	const char *nul;

	for (; n > 0 && (nul = memchr(s, '\0', n)) != NULL; s = nul + 1) {
		tel__buffer_put(b, s, (size_t)(nul - s));
		tel__buffer_put(b, "\300\200", 2);
		n -= (size_t)(nul - s) + 1;
	}
	tel__buffer_put(b, s, n);
	tel__buffer_put(b, "", 1);
}

static void
put_list_value(struct tel__buffer *b, const struct tel_event *ev,
    const struct tel_field *f)
{
	struct tel_list list;
	size_t n;

	tel_list_open(ev, f, &list);
	ctf_write_put_number(b, list.count, 32);
	while (list.count > 0)
		if (f->element == TEL_STRING) {
			const char *s = tel_list_next_string(&list, &n);

			ctf_write_put_string(b, s, n);
		} else {
			ctf_write_put_value(b, (enum tel_datatype)f->element,
			    f->width, tel_list_next(&list));
		}
}

static void
put_field_value(struct tel__buffer *b, const struct tel_event *ev,
    const struct tel_field *f)
{
	struct tel_label label;
	size_t n;
	int present = 1;

	if (f->present != 0 && f->datatype != TEL_LIST) {
		present = tel_present(f, ev->data);
		ctf_write_put_number(b, (uint64_t)present, 8);
	}
	if (f->datatype == TEL_LIST) {
		put_list_value(b, ev, f);
	} else if (present && f->datatype == TEL_STRING) {
		const char *s = tel_load_string(ev, f, &n);

		ctf_write_put_string(b, s, n);
	} else if (present) {
		ctf_write_put_value(b, f->datatype, f->width,
		    tel_load(f, ev->data));
	}
	if (!ctf_write_labelled(ev->type, f))
		return;
	if (tel_find_label(ev, f, tel_load(f, ev->data), &label) &&
	    label.string != NULL)
		ctf_write_put_string(b, label.string, label.length);
	else
		ctf_write_put_string(b, "", 0);
}

static tel_status
write_packet(struct trace *t)
{
	unsigned char *p = t->packet.bytes;
	tel_status st;

	if (t->packet.failed)
		return TEL_ENOMEM;
	if (t->packet.used <= AT_EVENTS)
		return TEL_OK;
	tel_store_le32(p, CTF_PACKET_MAGIC);
	memcpy(p + 4, t->uuid, sizeof(t->uuid));
	tel_store_le32(p + 20, 0);
	p += AT_CONTEXT;
	tel_store_le64(p, t->begin);
	tel_store_le64(p + 8, t->end);
	tel_store_le64(p + 16, 8 * (uint64_t)t->packet.used);
	tel_store_le64(p + 24, 8 * (uint64_t)t->packet.used);
	tel_store_le64(p + 32, t->lost);
	tel_store_le64(p + 40, t->packets++);
	st = tel_output_write(t->out, t->packet.bytes, t->packet.used);
	t->packet.used = AT_EVENTS;
	return st;
}

/* ------------------------------------------------------------------- files */

static tel_status
trace_fail(struct tel_printer *pr)
{
	return tel__render_fail(pr, "%s: %s", tel__path_end(pr->database, 100),
	    strerror(errno));
}

static tel_status
write_failed(struct tel_printer *pr, const struct trace *t)
{
	errno = tel_output_errno(t->out);
	return trace_fail(pr);
}

/* Makes the folder, and the stream in it. */
static tel_status
ctf_write_open_folder(struct tel_printer *pr, struct trace *t)
{
	if (!tel__ctf_folder_open(&t->folder, pr->database, tel_be32(t->uuid)))
		return trace_fail(pr);
	t->stream = tel__ctf_folder_file(&t->folder, "stream");
	if (t->stream < 0)
		return trace_fail(pr);
	t->out = tel_output_new_fd(t->stream);
	return t->out != NULL ? TEL_OK : TEL_ENOMEM;
}

static tel_status
start_trace(struct tel_printer *pr)
{
	struct trace *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return TEL_ENOMEM;
	pr->state = t;
	t->version = strcmp(pr->renderer->name, "ctf2") == 0 ? 2 : 1;
	t->stream = -1;
	tel__table_init(&t->ids);
	uint64_t seed = t->ids.factor;
	for (size_t i = 0; i < 16; i++) {
		seed = tel__hash(seed, i);
		t->uuid[i] = (unsigned char)seed;
	}
	/* version 4 of RFC 9562: random */
	t->uuid[6] = (unsigned char)((t->uuid[6] & 0x0f) | 0x40);
	t->uuid[8] = (unsigned char)((t->uuid[8] & 0x3f) | 0x80);
	if (pr->database == NULL)
		return tel__render_fail(pr, "the trace has no folder");
	if (tel__buffer_room(&t->packet, AT_EVENTS) == NULL)
		return TEL_ENOMEM;
	t->packet.used = AT_EVENTS;
	tel_status st = ctf_write_open_folder(pr, t);
	return st;
}

static tel_status
ctf_write_begin_log(struct tel_printer *pr, const struct tel_event *ev)
{
	(void)ev;
	return pr->state == NULL ? start_trace(pr) : TEL_OK;
}

static tel_status
ctf_write_event(struct tel_printer *pr, const struct tel_event *ev)
{
	struct trace *t = pr->state;
	struct tel__buffer *b = &t->packet;
	struct tel__entry *e;
	int fresh;

	/* the first event failed to make it */
	if (t->out == NULL)
		return tel__render_fail(pr, "the trace has no folder");
	e = tel__table_put(&t->ids, (uint64_t)(uintptr_t)ev->type, &fresh);
	if (e == NULL)
		return TEL_ENOMEM;
	if (fresh) {
		if (t->ntypes == EVENT_TYPES_MAX)
			return tel__render_fail(pr,
			    "more than %u types of events", EVENT_TYPES_MAX);
		e->value = t->ntypes++;
		ctf_write_describe_type(t, ev->type, (uint32_t)e->value);
	}
	if ((t->events++ & 63) == 0 || ev->type->role == TEL_ROLE_SYNC) {
		t->rate = tel__clock_rate(ev->log->clock);
		t->has_epoch = tel__clock_epoch(ev->log->clock, &t->epoch);
	}
	if (b->used == AT_EVENTS)
		t->begin = ev->clock;
	t->end = ev->clock;
	t->lost = ev->log->lost;
	ctf_write_put_number(b, e->value, 16);
	ctf_write_put_number(b, ev->clock, 64);
	for (unsigned i = 0; i < ev->type->nfields; i++)
		put_field_value(b, ev, &ev->type->fields[i]);
	if (b->failed || t->types.failed)
		return TEL_ENOMEM;
	if (b->used < PACKET_SIZE)
		return TEL_OK;
	tel_status st = write_packet(t);
	return st == TEL_EIO ? write_failed(pr, t) : st;
}

/* Writes the metadata.  1, or 0 with errno set. */
static int
write_metadata(struct trace *t)
{
	struct tel__buffer head = { NULL, 0, 0, 0 };
	struct tel_output *out = NULL;

	ctf_write_put_head(t, &head);
	tel__buffer_put(&head, t->types.bytes, t->types.used);
	int fd = tel__ctf_folder_file(&t->folder, "metadata");
	if (fd >= 0)
		out = tel_output_new_fd(fd);
	int good = out != NULL && !head.failed &&
	    tel_output_write(out, head.bytes, head.used) == TEL_OK &&
	    tel_output_flush(out) == TEL_OK;
	if (out != NULL && !good)
		errno = head.failed ? ENOMEM : tel_output_errno(out);
	tel_output_free(out);
	if (fd >= 0 && close(fd) != 0)
		good = 0;
	tel__buffer_clear(&head);
	return good;
}

static tel_status
finish_trace(struct tel_printer *pr)
{
	struct trace *t = pr->state;
	tel_status st = TEL_OK;

	/* a log without events is a trace without any */
	if (t == NULL) {
		st = start_trace(pr);
		t = pr->state;
	} else if (t->out == NULL) {
		return TEL_ESTATE; /* it could not be started */
	}
	if (st == TEL_OK)
		st = write_packet(t);
	if (st == TEL_OK)
		st = tel_output_flush(t->out);
	if (st != TEL_OK)
		return st == TEL_EIO ? write_failed(pr, t) : st;
	if (!write_metadata(t) || close(t->stream) != 0)
		return trace_fail(pr);
	t->stream = -1;
	return tel__ctf_folder_finish(&t->folder) ? TEL_OK : trace_fail(pr);
}

static void
release_trace(struct tel_printer *pr)
{
	struct trace *t = pr->state;

	tel_output_free(t->out);
	if (t->stream >= 0)
		close(t->stream);
	tel__ctf_folder_close(&t->folder);
	tel__buffer_clear(&t->packet);
	tel__buffer_clear(&t->types);
	tel__table_clear(&t->ids);
}

const struct tel_renderer tel__renderer_ctf = {
	.name = "ctf",
	.flags = TEL_PRINTER_BINARY | TEL_PRINTER_FILE | TEL_PRINTER_TIMELINE,
	.begin_log = ctf_write_begin_log,
	.event = ctf_write_event,
	.finish = finish_trace,
	.release = release_trace,
};

const struct tel_renderer tel__renderer_ctf2 = {
	.name = "ctf2",
	.flags = TEL_PRINTER_BINARY | TEL_PRINTER_FILE | TEL_PRINTER_TIMELINE,
	.begin_log = ctf_write_begin_log,
	.event = ctf_write_event,
	.finish = finish_trace,
	.release = release_trace,
};
