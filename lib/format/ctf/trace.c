/* SPDX-License-Identifier: BSD-2-Clause */
/* From a set of files to traces, whose classes of events are types. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/path.h"
#include "format/ctf/ctf.h"
#include "model/name.h"

static const char metadata_name[] = "metadata";

/* The length of the folder in a name of a file, with its last slash. */
static size_t
ctf_trace_folder_length(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash != NULL ? (size_t)(slash + 1 - name) : 0;
}

/* ---------------------------------------------------------------- metadata */

/* All of a file of the set; the caller frees it.  NULL with errno set. */
static unsigned char *
ctf_trace_read_file(struct tel_fileset *set, size_t i, size_t *size)
{
	const uint64_t all = set->files[i].size;

	if (all > CTF_METADATA_MAX) {
		errno = EFBIG;
		return NULL;
	}
	unsigned char *bytes = malloc((size_t)all + 1);
	if (bytes == NULL)
		return NULL;
	ptrdiff_t n = tel__fileset_read(set, i, bytes, (size_t)all, 0);
	if (n < 0) {
		free(bytes);
		return NULL;
	}
	*size = (size_t)n;
	return bytes;
}

/* Reads the metadata that file i of the set is, as a new trace. */
static tel_status
load_metadata(struct tel_reader *r, struct ctf *s, size_t i)
{
	const char *name = s->set->files[i].name;
	struct ctf_error error = { 0, "" };
	size_t size = 0;

	if (s->ntraces == CTF_TRACES_MAX)
		return tel__reader_fail(r, TEL_ELIMIT, "more than %u traces",
		    CTF_TRACES_MAX);
	if (!TEL__RESERVE(s->traces, s->trace_room, s->ntraces + 1))
		return TEL_ENOMEM;
	struct ctf_trace *t = &s->traces[s->ntraces];
	memset(t, 0, sizeof(*t));
	t->any_uuid = r->force;
	unsigned char *bytes = ctf_trace_read_file(s->set, i, &size);
	if (bytes == NULL)
		return tel__reader_fail(r,
		    errno == ENOMEM ? TEL_ENOMEM : TEL_EIO, "%s: %s",
		    tel__path_end(name, 100), strerror(errno));
	int good = tel__ctf_metadata(&t->m, bytes, size, &error);
	free(bytes);
	t->folder = tel__copy_string(name, ctf_trace_folder_length(name));
	s->ntraces++;
	if (t->folder == NULL)
		return TEL_ENOMEM;
	return good ? TEL_OK :
	              tel__reader_fail(r, TEL_EFORMAT, "%s, %s %u: %s",
	                  tel__path_end(name, 80),
	                  t->m.version == 2 ? "fragment" : "line", error.line,
	                  error.text);
}

/* Reports that a trace is left out, by the error: others can be read. */
static tel_status
report_trace(struct tel_reader *r, struct ctf *s)
{
	char why[sizeof(r->error)];

	s->dropped++;
	memcpy(why, r->error, sizeof(why));
	return tel__reader_damage(r, 0, 0, "%s", why);
}

/* Leaves out the trace that was read last. */
static tel_status
drop_trace(struct tel_reader *r, struct ctf *s)
{
	struct ctf_trace *t = &s->traces[--s->ntraces];

	free(t->folder);
	tel__ctf_metadata_free(&t->m);
	return report_trace(r, s);
}

/* Nonzero when a trace is left. */
static int
has_trace(const struct ctf *s)
{
	for (size_t i = 0; i < s->ntraces; i++)
		if (!s->traces[i].broken)
			return 1;
	return 0;
}

int
tel__ctf_is_metadata_name(const char *name)
{
	return strcmp(name + ctf_trace_folder_length(name), metadata_name) == 0;
}

static int
same_uuid(const struct ctf_metadata *a, const struct ctf_metadata *b)
{
	return a->has_uuid && b->has_uuid &&
	    memcmp(a->uuid, b->uuid, sizeof(a->uuid)) == 0;
}

/* ----------------------------------------------------------------- compiling */

static int
compare_events(const void *a, const void *b)
{
	const struct ctf_event_type *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* The kind of events: the provider in the name, "lttng_ust_libc:malloc". */
static void
kind_of(const struct ctf_metadata *m, const char *name, char *kind, size_t size)
{
	const struct ctf_attribute *a = m->environment;
	const char *colon = strchr(name, ':');

	if (colon != NULL && colon > name) {
		snprintf(kind, size, "%.*s", (int)(colon - name), name);
		return;
	}
	while (a != NULL && strcmp(a->name, "domain") != 0)
		a = a->next;
	snprintf(kind, size, "%s",
	    a != NULL && *a->value != '\0' ? a->value : "Event");
}

/* Nonzero when another leaf of the list has that name. */
static int
is_taken(const struct ctf_leaf *list, const struct ctf_leaf *but,
    const char *name)
{
	for (; list != NULL; list = list->next)
		if (list != but && strcmp(list->name, name) == 0)
			return 1;
	return 0;
}

/* The fields of a type, in their order. */
struct fields {
	const struct ctf_leaf *leaf[CTF_FIELDS_MAX];
	char *name[CTF_FIELDS_MAX];
	unsigned count;
};

/* A name as tools show it.  NULL when out of memory. */
static char *
spell_name(struct ctf_metadata *m, const char *name, int words)
{
	char *spelling = tel__name_cut(name, words);
	char *kept = spelling == NULL ?
	    NULL :
	    tel__arena_string(&m->arena, spelling, strlen(spelling));

	free(spelling);
	return kept;
}

/* Puts leaves into their order, with the names that fields have. */
static int
order_leaves(struct ctf_metadata *m, const struct ctf_compiler *c,
    struct fields *out)
{
	const struct ctf_leaf *l = c->leaves;
	char name[256];

	out->count = c->nleaves;
	for (unsigned i = c->nleaves; i-- > 0; l = l->next) {
		snprintf(name, sizeof(name), "%s%s",
		    l->from_context && is_taken(c->leaves, l, l->name) ?
		        "ctx." :
		        "",
		    l->name);
		out->leaf[i] = l;
		out->name[i] = spell_name(m, name, 0);
		if (out->name[i] == NULL)
			return 0;
	}
	return 1;
}

static int
ctf_trace_add_fields(struct tel_type *t, const struct fields *fields)
{
	for (unsigned i = 0; i < fields->count; i++) {
		const struct ctf_leaf *l = fields->leaf[i];
		struct tel_field *f = l->datatype == TEL_LIST ?
		    tel__type_add_list(t, fields->name[i], l->element, l->load,
		        l->offset) :
		    tel__type_add(t, fields->name[i], l->datatype, l->load,
		        l->offset);

		if (f == NULL)
			return 0;
		f->present = l->present;
		f->present_at = (uint16_t)l->present_at;
		f->is_label = l->is_label;
	}
	return 1;
}

/* Nonzero when a type has these fields, at the same places. */
static int
has_fields(const struct tel_type *t, const struct fields *fields)
{
	if (t->nfields != fields->count)
		return 0;
	for (unsigned i = 0; i < t->nfields; i++) {
		const struct tel_field *f = &t->fields[i];
		const struct ctf_leaf *l = fields->leaf[i];

		if (strcmp(f->name, fields->name[i]) != 0 ||
		    f->datatype != l->datatype || f->offset != l->offset ||
		    (l->datatype == TEL_LIST ? f->list_load : f->load) !=
		        l->load ||
		    (l->datatype == TEL_LIST && f->element != l->element) ||
		    f->present != l->present ||
		    f->present_at != l->present_at ||
		    f->is_label != l->is_label)
			return 0;
	}
	return 1;
}

/*
 * The type of a class of events: one of the schema that is the same, of
 * another trace, or a new one.  NULL when out of memory.
 */
static struct tel_type *
ctf_trace_find_type(struct ctf *s, const struct ctf_compiler *c,
    const char *name, const char *kind)
{
	struct fields fields;
	struct tel__probe at;
	struct tel_type *t;
	uint64_t hash;
	uint32_t i;

	name = spell_name(c->m, name, 2);
	kind = spell_name(c->m, kind, 1);
	if (name == NULL || kind == NULL || !order_leaves(c->m, c, &fields))
		return NULL;
	hash = tel__hash_bytes(name, strlen(name), s->index.seed);
	for (i = tel__index_first(&s->index, hash, &at); i != TEL__NOWHERE;
	     i = tel__index_next(&s->index, &at)) {
		t = &s->schema->types[i];
		if (strcmp(t->name, name) == 0 && t->size == c->head &&
		    has_fields(t, &fields))
			return t;
	}
	i = s->schema->ntypes;
	t = tel__schema_add(s->schema, name, i, kind, c->head, c->nleaves);
	if (t == NULL || !ctf_trace_add_fields(t, &fields) ||
	    !tel__index_add(&s->index, hash, i))
		return NULL;
	tel__ctf_set_roles(t);
	return t;
}

/* The first clock that a field of the steps sets; or NULL. */
static const struct ctf_clock *
find_clock(const struct ctf_step *s)
{
	const struct ctf_clock *clock = NULL;
	const struct ctf_option *o;

	for (; s != NULL && clock == NULL; s = s->next) {
		clock = s->clock;
		if (clock == NULL && s->body != NULL)
			clock = find_clock(s->body);
		/* the ranges of an option, in a row, have one body */
		for (o = s->options; o != NULL && clock == NULL; o = o->next)
			if (o->next == NULL || o->next->body != o->body)
				clock = find_clock(o->body);
	}
	return clock;
}

/* Nonzero for an integer of a header that can be loaded with others. */
static int
is_simple(const struct ctf_step *s, int big)
{
	return s != NULL && s->kind == STEP_NUMBER &&
	    s->class->kind == CTF_INTEGER && !s->class->reversed &&
	    !s->class->is_signed && !s->class->is_boolean &&
	    s->class->order != CTF_BIG &&
	    !(s->class->order == CTF_NATIVE && big);
}

/* Looks whether the header of events is of the usual kind. */
static void
shorten_header(struct ctf_stream_type *stream, int big)
{
	struct ctf_short_header *h = &stream->header;
	const struct ctf_step *s = stream->event_header, *clock;

	h->align = 1;
	if (s != NULL && s->kind == STEP_ALIGN) {
		h->align = s->size;
		s = s->next;
	}
	const struct ctf_step *id = s;
	if (!is_simple(id, big) || id->roles != CTF_ROLE_EVENT_CLASS ||
	    id->clock != NULL || id->class->size > 32 || id->next == NULL ||
	    id->next->next != NULL)
		return;
	clock = id->next;
	h->low = 0;
	h->high = UINT64_MAX;
	if (clock->kind == STEP_CHOICE) {
		if (clock->from != id->slot || clock->options == NULL ||
		    clock->is_signed)
			return;
		h->low = clock->options->range.low;
		h->high = clock->options->range.high;
		clock = clock->options->body;
		while (clock != NULL && clock->kind == STEP_STRUCT)
			clock = clock->next == NULL ? clock->body : NULL;
	}
	if (!is_simple(clock, big) || clock->next != NULL ||
	    clock->clock == NULL ||
	    (clock->roles & ~(unsigned)CTF_ROLE_CLOCK) != 0)
		return;
	h->id_slot = id->slot;
	h->clock_slot = clock->slot;
	h->id_bits = (uint8_t)id->class->size;
	h->clock_bits = (uint8_t)clock->class->size;
}

/* Compiles a class of events of a stream, whose packets c knows. */
static tel_status
compile_event(struct tel_reader *r, struct ctf *s, const struct ctf_trace *t,
    const struct ctf_stream_type *stream, const struct ctf_compiler *packets,
    const struct ctf_event_class *class, struct ctf_event_type *out)
{
	struct ctf_compiler c = *packets;
	struct ctf_step **last = &out->steps;
	char name[256], kind[64];

	out->id = class->id;
	if (class->name != NULL && *class->name != '\0')
		snprintf(name, sizeof(name), "%s", class->name);
	else
		snprintf(name, sizeof(name), "event%llu",
		    (unsigned long long)class->id);
	kind_of(&t->m, name, kind, sizeof(kind));
	if (!tel__ctf_compile(&c, CTF_COMMON_CONTEXT,
	        stream->class->event_context, 1, &last) ||
	    !tel__ctf_compile(&c, CTF_SPECIFIC_CONTEXT, class->context, 1,
	        &last) ||
	    !tel__ctf_compile(&c, CTF_PAYLOAD, class->payload, 1, &last))
		return tel__reader_fail(r, TEL_EFORMAT,
		    "%.60s%s, event %.60s: %s", t->folder, metadata_name, name,
		    c.error->text);
	if (c.dropped > 0)
		tel__reader_notice(r, TEL_WARNING, 0,
		    "event %.60s has more than %u fields; %u are left out",
		    name, CTF_FIELDS_MAX, c.dropped);
	out->head = c.head;
	out->has_choice = c.has_choice;
	out->type = ctf_trace_find_type(s, &c, name, kind);
	return out->type != NULL ? TEL_OK : TEL_ENOMEM;
}

/* Looks whether an event is but bytes that are copied. */
static void
ctf_trace_find_copy(struct ctf_event_type *e, int big)
{
	const struct ctf_step *s = e->steps;

	tel__ctf_join_copies(e->steps, big);
	while (s != NULL && s->kind == STEP_ALIGN && s->size <= 8)
		s = s->next;
	if (s != NULL && s->kind == STEP_COPY && s->next == NULL) {
		e->copied = s->size;
		e->copy_to = s->to;
	}
}

/* The events of a class of streams. */
static tel_status
compile_events(struct tel_reader *r, struct ctf *s, struct ctf_trace *t,
    struct ctf_stream_type *stream, const struct ctf_compiler *packets)
{
	const struct ctf_event_class *class;
	size_t n = 0, i;

	for (class = t->m.events; class != NULL; class = class->next)
		n += class->stream_id == stream->class->id;
	stream->events = calloc(n + 1, sizeof(*stream->events));
	if (stream->events == NULL)
		return TEL_ENOMEM;
	for (class = t->m.events; class != NULL; class = class->next) {
		if (class->stream_id != stream->class->id)
			continue;
		tel_status st = compile_event(r, s, t, stream, packets, class,
		    &stream->events[stream->nevents]);
		if (st != TEL_OK)
			return st;
		stream->nevents++;
	}
	qsort(stream->events, n, sizeof(*stream->events), compare_events);
	for (i = 1; i < n; i++)
		if (stream->events[i].id == stream->events[i - 1].id)
			return tel__reader_fail(r, TEL_EFORMAT,
			    "%.80s%s: two events of a stream have the id %llu",
			    t->folder, metadata_name,
			    (unsigned long long)stream->events[i].id);
	for (i = 0; i < n; i++)
		ctf_trace_find_copy(&stream->events[i], t->m.big);
	return TEL_OK;
}

static tel_status
compile_stream(struct tel_reader *r, struct ctf *s, struct ctf_trace *t,
    struct ctf_stream_type *stream, const struct ctf_compiler *header)
{
	struct ctf_compiler c = *header;
	struct ctf_step **last = &stream->packet_context;

	c.clock = stream->class->clock;
	if (!tel__ctf_compile(&c, CTF_PACKET_CONTEXT,
	        stream->class->packet_context, 1, &last))
		goto failed;
	stream->prefix = c.head;
	last = &stream->event_header;
	if (!tel__ctf_compile(&c, CTF_EVENT_HEADER, stream->class->event_header,
	        0, &last))
		goto failed;
	shorten_header(stream, t->m.big);
	tel_status st = compile_events(r, s, t, stream, &c);
	stream->clock = stream->class->clock;
	if (stream->clock == NULL)
		stream->clock = find_clock(stream->event_header);
	if (stream->clock == NULL)
		stream->clock = find_clock(stream->packet_context);
	for (size_t i = 0; i < stream->nevents && stream->clock == NULL; i++)
		stream->clock = find_clock(stream->events[i].steps);
	return st;
failed:
	return tel__reader_fail(r, TEL_EFORMAT, "%.80s%s, stream %llu: %s",
	    t->folder, metadata_name, (unsigned long long)stream->class->id,
	    c.error->text);
}

/* The stream of a trace that describes none: its packets need no context. */
static int
add_stream_class(struct ctf_metadata *m)
{
	if (m->streams == NULL)
		m->streams = tel__arena_alloc(&m->arena, sizeof(*m->streams));
	return m->streams != NULL;
}

static tel_status
compile_trace(struct tel_reader *r, struct ctf *s, struct ctf_trace *t)
{
	struct ctf_step **last = &t->packet_header;
	struct ctf_error error = { 0, "" };
	struct ctf_stream_class *class;
	struct ctf_compiler c;
	tel_status st;

	tel__ctf_compile_start(&c, &t->m, &error);
	if (!tel__ctf_compile(&c, CTF_PACKET_HEADER, t->m.packet_header, 0,
	        &last))
		return tel__reader_fail(r, TEL_EFORMAT,
		    "%.80s%s, header of packets: %s", t->folder, metadata_name,
		    error.text);
	if (!add_stream_class(&t->m))
		return TEL_ENOMEM;
	for (class = t->m.streams; class != NULL; class = class->next)
		t->nstreams++;
	t->streams = calloc(t->nstreams + 1, sizeof(*t->streams));
	if (t->streams == NULL)
		return TEL_ENOMEM;
	t->nstreams = 0;
	for (class = t->m.streams; class != NULL; class = class->next) {
		t->streams[t->nstreams].class = class;
		st = compile_stream(r, s, t, &t->streams[t->nstreams++], &c);
		if (st != TEL_OK)
			return st;
	}
	return TEL_OK;
}

/* ------------------------------------------------------------------- loading */

/* The environment of the traces, as metadata of the log. */
static void
note_environment(struct tel_reader *r, const struct ctf_metadata *m)
{
	const struct ctf_attribute *a;
	char key[64];

	for (a = m->environment; a != NULL; a = a->next) {
		snprintf(key, sizeof(key), "%s", a->name);
		for (size_t i = 0; key[i] != '\0'; i++) {
			if (key[i] == '_')
				key[i] = '-';
			if (key[i] >= 'A' && key[i] <= 'Z')
				key[i] = (char)(key[i] | 0x20);
		}
		/* names that are not valid keys, and long values, are left out */
		(void)tel__metadata_pair(&r->metadata, key, a->value);
	}
}

static tel_status
ctf_trace_make_schema(struct ctf *s)
{
	const struct tel_abi abi = { 8, 8, 8, 0, 0 };
	unsigned most = 1;

	for (size_t i = 0; i < s->ntraces; i++)
		if (__builtin_add_overflow(most, s->traces[i].m.nevents, &most))
			return TEL_ELIMIT;
	s->schema = tel__schema_make("ctf", "", &abi, CTF_HEADER, most);
	if (s->schema == NULL)
		return TEL_ENOMEM;
	s->schema->described = 1;
	s->schema->nested = 1;
	return TEL_OK;
}

tel_status
tel__ctf_load(struct tel_reader *r, struct ctf *s)
{
	tel_status st = TEL_OK;
	size_t i, j;

	for (i = 0; i < s->set->count && st == TEL_OK; i++)
		if (tel__ctf_is_metadata_name(s->set->files[i].name)) {
			st = load_metadata(r, s, i);
			if (st == TEL_EFORMAT)
				st = drop_trace(r, s);
		}
	if (st != TEL_OK)
		return st;
	if (s->ntraces == 0 && s->dropped == 0)
		return tel__reader_fail(r, TEL_EFORMAT,
		    "no trace: no file is called metadata");
	/* of parts of one trace, the metadata that say most are those of all */
	for (i = 0; i < s->ntraces; i++)
		for (j = 0; j < i; j++)
			if (same_uuid(&s->traces[i].m, &s->traces[j].m) &&
			    s->traces[i].m.nevents > s->traces[j].m.nevents) {
				struct ctf_metadata m = s->traces[i].m;

				s->traces[i].m = s->traces[j].m;
				s->traces[j].m = m;
			}
	st = ctf_trace_make_schema(s);
	for (i = 0; i < s->ntraces && st == TEL_OK; i++) {
		for (j = 0; j < i; j++)
			if (same_uuid(&s->traces[i].m, &s->traces[j].m))
				break;
		if (j < i)
			continue;
		st = compile_trace(r, s, &s->traces[i]);
		note_environment(r, &s->traces[i].m);
		if (st == TEL_EFORMAT) {
			s->traces[i].broken = 1;
			st = report_trace(r, s);
		}
	}
	tel__ctf_pair_types(s->schema);
	return st == TEL_OK && s->dropped > 0 && !has_trace(s) ? TEL_EFORMAT :
	                                                         st;
}

void
tel__ctf_free(struct ctf *s)
{
	struct ctf_trace *t;

	for (size_t i = 0; i < s->ntraces; i++) {
		t = &s->traces[i];
		for (size_t k = 0; k < t->nstreams; k++)
			free(t->streams[k].events);
		free(t->streams);
		free(t->folder);
		tel__ctf_metadata_free(&t->m);
	}
	for (size_t i = 0; i < s->nstreams; i++) {
		free(s->streams[i].files);
		free(s->streams[i].slots);
		free(s->streams[i].window);
		free(s->streams[i].prefix);
		tel__buffer_clear(&s->streams[i].texts);
	}
	free(s->traces);
	free(s->streams);
	free(s->heap);
	tel__index_clear(&s->index);
	tel__buffer_clear(&s->records);
	tel__buffer_clear(&s->context);
}
