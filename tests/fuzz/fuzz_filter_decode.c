/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: a log through a filter and a writer, and what was written
 * through a reader again, which must give the events that were written, and
 * no damage.  The first two bytes of the input choose how, the rest is the
 * log.
 */
#include "target.h"

/* More than this tells nothing new about an input of a few kilobytes. */
#define MAX_EVENTS 2000

static const char *const expressions[8] = { "true", "kind == Pool",
	"has(size) && size >= 64", "kind != User",
	"name == \"Label*\" || false", "clock % 3 == 1",
	"has(pool) && label(pool) ~ \"A\"", "index % 2 == 0" };

/* An event that was written. */
struct seen {
	char name[40];
	uint64_t clock;
	uint64_t values; /* a hash of them all */
	uint64_t labels; /* the same */
};

static uint64_t
mix(uint64_t hash, uint64_t v)
{
	return (hash ^ v) * 0x100000001b3u;
}

static uint64_t
mix_string(uint64_t hash, const char *p, size_t n)
{
	while (p != NULL && n-- > 0)
		hash = mix(hash, (unsigned char)*p++);
	return hash;
}

/* What is compared of an event. */
static void
look(const tel_event *ev, int labels, struct seen *s)
{
	const tel_type *t = tel_event_type(ev);
	const char *p;
	unsigned i;
	size_t n;

	memset(s, 0, sizeof(*s));
	strncpy(s->name, tel_type_name(t), sizeof(s->name) - 1);
	s->clock = tel_event_clock(ev);
	for (i = 0; i < tel_type_field_count(t); i++) {
		s->values = mix(s->values, tel_event_u64(ev, i));
		p = tel_event_string(ev, i, &n);
		s->values = mix_string(s->values, p, n);
		if (!labels)
			continue;
		p = tel_event_label(ev, i, &n);
		s->labels = mix_string(mix(s->labels, p != NULL), p, n);
	}
}

/*
 * Filters what r reads.  Returns how many events were wanted, which seen
 * tells; 0 where they cannot be compared.
 */
static size_t
filter(tel_reader *r, tel_filter *f, tel_writer *w, tel_context *c, int labels,
    struct seen *seen, char *schema, size_t schema_size)
{
	const tel_event *ev, *out;
	size_t n = 0, events = 0;
	tel_place place;
	tel_status st;
	int wanted;

	schema[0] = '\0';
	while (events++ < MAX_EVENTS && tel_reader_next(r, &ev) == TEL_OK) {
		const tel_schema *s = tel_reader_schema(r);

		/* a text may name several formats: it is read by the first */
		if (schema[0] == '\0')
			strncpy(schema, tel_schema_name(s), schema_size - 1);
		if (strcmp(schema, tel_schema_name(s)) != 0)
			break;
		wanted = tel_filter_match(f, ev);
		if (wanted < 0)
			break;
		/* what an unknown event is depends on those around it */
		if (tel_type_unknown(tel_event_type(ev)) || is_damaged_init(ev))
			continue;
		if (tel_context_event(c, ev, wanted) != TEL_OK)
			abort();
		while (tel_context_next(c, &out, &place) == TEL_OK) {
			if (place == TEL_PLACE_OUT) {
				st = tel_writer_pass(w, out);
			} else {
				look(out, labels, &seen[n++]);
				st = tel_writer_event(w, out);
			}
			if (st != TEL_OK)
				abort();
		}
	}
	if (tel_writer_finish(w) != TEL_OK)
		abort();
	return n;
}

/* Reads what was written: what was seen, and unless it is bare, others. */
static void
compare(const struct bytes *b, const char *schema, int bare, int labels,
    const struct seen *seen, size_t n)
{
	tel_reader *r = tel_reader_new();
	const tel_event *ev;
	struct seen s;
	tel_status st;
	size_t i = 0;

	if (r == NULL || tel_reader_set_as(r, schema) != TEL_OK ||
	    tel_reader_set(r, TEL_READ_FORCE, 1) != TEL_OK)
		abort();
	st = tel_reader_open_memory(r, b->data, b->size, "again");
	while (st == TEL_OK && (st = tel_reader_next(r, &ev)) == TEL_OK) {
		look(ev, labels, &s);
		if (i < n && memcmp(&s, &seen[i], sizeof(s)) == 0)
			i++;
		else if (bare)
			abort();
	}
	if (i != n || tel_reader_count(r, TEL_COUNT_DAMAGED) != 0)
		abort();
	tel_reader_free(r);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen *seen;
	struct bytes b = { NULL, 0, 0 };
	tel_context *context;
	char schema[48] = "";
	tel_output *out;
	tel_filter *f;
	tel_writer *w;
	tel_reader *r;
	int bare, labels;
	size_t n;

	if (size < 2)
		return 0;
	bare = data[0] >> 3 & 1;
	/* the log's labels have moved on when a held event is given */
	labels = !bare && (data[0] >> 4 & 3) == 0;
	seen = calloc(MAX_EVENTS, sizeof(*seen));
	r = tel_reader_new();
	f = tel_filter_new();
	out = tel_output_new_callback(keep_bytes, &b);
	w = tel_writer_new(out);
	context = tel_context_new(data[0] >> 4 & 3, data[0] >> 6 & 3);
	if (seen == NULL || r == NULL || f == NULL || out == NULL ||
	    w == NULL || context == NULL ||
	    tel_reader_set(r, TEL_READ_FORCE, 1) != TEL_OK ||
	    tel_writer_set(w, TEL_WRITE_BARE, bare) != TEL_OK ||
	    tel_writer_set(w, TEL_WRITE_MAX_LABELS, 1 + data[1]) != TEL_OK ||
	    tel_filter_set_expression(f, expressions[data[0] & 7]) != TEL_OK)
		abort();
	if (tel_reader_open_memory(r, data + 2, size - 2, "input") == TEL_OK) {
		n = filter(r, f, w, context, labels, seen, schema,
		    sizeof(schema));
		if (tel_output_flush(out) != TEL_OK)
			abort();
		/* lines are read by what they say, which others may have said */
		if (n > 0 && strcmp(tel_reader_format(r), "mps") == 0)
			compare(&b, schema, bare, labels, seen, n);
	}
	tel_context_free(context);
	tel_writer_free(w);
	tel_output_free(out);
	tel_filter_free(f);
	tel_reader_free(r);
	free(seen);
	free(b.data);
	return 0;
}
