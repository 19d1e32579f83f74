/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The logs of a native stream: their schemas, labels and clocks, and what of
 * them a block is about.
 */
#include "base/array.h"
#include "format/tel/reader.h"
#include "model/history.h"

#include <stdio.h>
#include <stdlib.h>

/* Numbers of strings that no event defines start here. */
#define OWN_STRINGS ((uint64_t)1 << 63)

void
tel__native_begin_stream(struct native *s)
{
	s->stream++;
	s->sequence = 0;
	s->ordinal = 0;
	s->last = 0;
	s->ngaps = 0;
	s->reported = 0;
	s->based = BASE_UNKNOWN;
	s->identified = 0;
	s->median = NATIVE_MEDIAN;
	s->rate = 0;
	s->has_origin = 0;
	s->leader = NULL;
	tel__metadata_clear(&s->metadata);
}

void
tel__native_free_logs(struct tel_reader *r, struct native *s)
{
	struct native_source *source;
	struct native_found *found;

	while ((source = s->sources) != NULL) {
		s->sources = source->next;
		if (source->log != &r->log) {
			tel__labels_free(source->own.labels);
			tel__clock_free(source->own.clock);
			tel__history_free(source->own.history);
		}
		free(source->name);
		free(source->origin);
		free(source->preamble);
		tel__metadata_clear(&source->metadata);
		free(source);
	}
	while ((found = s->schemas) != NULL) {
		s->schemas = found->next;
		tel__native_schema_end(&found->native);
		free(found);
	}
	r->log.metadata = NULL;
	tel__metadata_clear(&s->metadata);
	tel__table_clear(&s->by_digest);
	tel__table_clear(&s->by_number);
	free(s->slots);
	free(s->natives);
	free(s->rows);
}

/* Where the pointer of a key is, 0 if it is new; NULL when out of memory. */
static uint64_t *
logs_place(struct tel__table *t, uint64_t key)
{
	int fresh;

	if (t->entries == NULL)
		tel__table_init(t);
	struct tel__entry *e = tel__table_put(t, key, &fresh);
	return e != NULL ? &e->value : NULL;
}

/* ------------------------------------------------------------- schemas */

/* Makes the built-in schema that a log names; *out is NULL without one. */
static tel_status
make_built_in(const struct tel_reader *r, const struct native_log *log,
    struct tel_schema **out)
{
	char name[48];

	*out = NULL;
	if (log->schema_size >= sizeof(name) ||
	    memchr(log->schema, '\0', log->schema_size) != NULL)
		return TEL_OK;
	memcpy(name, log->schema, log->schema_size);
	name[log->schema_size] = '\0';
	tel_status st = tel__format_schema(r->formats, name, out);
	return st == TEL_ENOMEM ? st : TEL_OK;
}

/*
 * Finds the built-in schema that a log has; NULL: it has none.  TEL_EVERSION:
 * nor has it a description, and it is one of a later release.
 */
static tel_status
built_in(const struct tel_reader *r, const struct native *n,
    const struct native_log *log, struct tel_schema **out)
{
	tel_schema *s;
	tel_status st = make_built_in(r, log, &s);

	*out = NULL;
	if (st != TEL_OK)
		return st;
	int same = s != NULL ? tel__native_matches(s, log->digest) : 0;
	int newer = s != NULL && s->stable;
	if (same == 1)
		*out = s;
	else
		tel_schema_free(s);
	for (unsigned i = 0; i < n->nnewer; i++)
		newer |= n->newer[i] == log->digest;
	return same < 0                                ? TEL_ENOMEM :
	    same == 0 && newer && log->types_size == 0 ? TEL_EVERSION :
	                                                 TEL_OK;
}

/* Makes the schema of a derived description. */
static tel_status
logs_derive(const struct tel_reader *r, const struct native_log *log,
    struct tel_schema **out)
{
	uint64_t digest = log->digest;
	tel_schema *s;
	tel_status st = make_built_in(r, log, &s);

	/* a later release may have more schemas, or types */
	if (st == TEL_OK && s == NULL)
		return TEL_EVERSION;
	if (st == TEL_OK)
		st = tel__native_rename(log, s);
	if (st == TEL_OK)
		digest = tel__native_digest(s);
	if (st == TEL_OK && digest == log->digest) {
		*out = s;
		return TEL_OK;
	}
	tel_schema_free(s);
	return st != TEL_OK ? st : digest == 0 ? TEL_ENOMEM : TEL_EVERSION;
}

/*
 * Makes the schema that a log describes.  A built-in one has more than a
 * description, but a user may have given its types other roles: those
 * are in a description that is complete.
 */
static tel_status
logs_describe(const struct tel_reader *r, struct native *s,
    const struct native_log *log, struct tel_schema **schema, int *partial)
{
	struct tel_schema *own = *schema, *described;
	int equal = 1;

	if (tel__native_is_derived(log))
		return own != NULL ? TEL_OK : logs_derive(r, log, schema);
	tel_status st =
	    tel__native_schema(log, &described, partial, &s->unpaid);
	if (st != TEL_OK)
		return st;
	if (own != NULL && !*partial)
		equal = tel__native_equal(own, described);
	if (own == NULL || equal == 0) {
		*schema = described;
		described = own;
	}
	*partial = *partial && own == NULL;
	tel_schema_free(described);
	return equal < 0 ? TEL_ENOMEM : TEL_OK;
}

static uint64_t
logs_hash_name(const struct native_log *log)
{
	return tel__native_xxh64(log->schema, log->schema_size);
}

/* In place of a hash of types, which is odd, or of 0: the latest partial one. */
#define LATEST 2u

/* The key of a schema.  Hashed, as a file may have any digest it likes. */
static uint64_t
logs_key(uint64_t digest, uint64_t name, uint64_t types)
{
	const uint64_t key[] = { digest, name, types };

	return tel__native_xxh64(key, sizeof(key));
}

/* The schema of that digest, name and types, by its key of .by_digest. */
static struct native_found *
logs_find_key(const struct native *s, uint64_t digest, uint64_t name,
    uint64_t types)
{
	const struct tel__entry *e =
	    tel__table_find(&s->by_digest, logs_key(digest, name, types));
	struct native_found *f =
	    e != NULL ? (struct native_found *)(uintptr_t)e->value : NULL;

	for (; f != NULL; f = f->same)
		if (f->native.digest == digest && f->name == name &&
		    (types == LATEST ? f->types != 0 : f->types == types))
			break;
	return f;
}

/* A schema of that digest: a complete one, or one of some described types. */
static struct native_found *
logs_look_up(const struct native *s, const struct native_log *log,
    uint64_t types)
{
	const uint64_t name = logs_hash_name(log);
	struct native_found *f = logs_find_key(s, log->digest, name, 0);

	/* the latest description has all types that were needed so far */
	return f != NULL ?
	    f :
	    logs_find_key(s, log->digest, name, types == 0 ? LATEST : types);
}

const struct native_found *
tel__native_find_schema(const struct native *s, const unsigned char *name,
    size_t size, uint64_t digest)
{
	return logs_find_key(s, digest, tel__native_xxh64(name, size), 0);
}

/*
 * The first schemas of an archive, for members that have the same: of many, each
 * would make one.  In a key, types is the hash of all that a log describes.
 */
struct shared {
	struct shared_schema {
		struct tel_schema *schema;
		int partial;
		uint64_t digest, name, types;
		const struct tel_schema *base; /* to which a source was added */
		unsigned source;
	} list[64];
	unsigned count;
};

/* Finds the schema of a key, or a free place for it; NULL if all are taken. */
static struct shared_schema *
logs_find_shared(struct tel_reader *r, const struct shared_schema *key)
{
	struct shared *s = tel__reader_keep(r, r->format, sizeof(*s));
	unsigned i;

	for (i = 0; s != NULL && i < s->count; i++) {
		struct shared_schema *at = &s->list[i];

		if (at->digest == key->digest && at->name == key->name &&
		    at->types == key->types && at->base == key->base &&
		    at->source == key->source)
			return at;
	}
	return s != NULL && i < sizeof(s->list) / sizeof(s->list[0]) ?
	    &s->list[i] :
	    NULL;
}

/* Has the reader own a new schema, which later members find. */
static tel_status
logs_share(struct tel_reader *r, const struct shared_schema *key)
{
	struct tel_schema *kept = r->log.schema;
	struct shared_schema *at = logs_find_shared(r, key);
	struct shared *s = tel__reader_keep(r, r->format, sizeof(*s));
	tel_status st = tel__reader_adopt(r, key->schema);

	r->log.schema = kept;
	if (st == TEL_OK && at != NULL) {
		*at = *key;
		s->count++;
	}
	return st;
}

static tel_status
add_schema(struct native *s, struct tel_schema *schema,
    const struct native_log *log, uint64_t types)
{
	struct native_found *f = calloc(1, sizeof(*f));
	uint64_t name = logs_hash_name(log);
	const uint64_t latest = logs_key(log->digest, name, LATEST);
	uint64_t *place = NULL;

	/* the place of the latest must be there, and may move */
	if (types == 0 || logs_place(&s->by_digest, latest) != NULL)
		place = logs_place(&s->by_digest,
		    logs_key(log->digest, name, types));
	if (f == NULL || place == NULL ||
	    tel__native_schema_begin(&f->native, schema, log->digest) !=
	        TEL_OK) {
		free(f);
		return TEL_ENOMEM;
	}
	f->name = name;
	f->types = types;
	f->same = (struct native_found *)(uintptr_t)*place;
	*place = (uintptr_t)f;
	if (types != 0)
		tel__table_find(&s->by_digest, latest)->value = (uintptr_t)f;
	f->next = s->schemas;
	s->schemas = f;
	s->nschemas++;
	return TEL_OK;
}

/*
 * Finds or makes the schema of a log.  A built-in one is found by its name; of
 * others a log record describes all types, and a block those that it has.
 */
static tel_status
logs_find_schema(struct tel_reader *r, struct native *s,
    const struct native_log *log, struct native_found **out)
{
	struct shared_schema key = { .digest = log->digest,
		.name = logs_hash_name(log) };
	uint64_t types = 0;
	tel_status st = TEL_OK;

	if (log->types_size > 0)
		types = tel__native_xxh64(log->types, log->types_size) | 1;
	*out = logs_look_up(s, log, types);
	if (*out != NULL)
		return TEL_OK;
	if (s->nschemas >= NATIVE_SCHEMAS_MAX)
		return TEL_EFORMAT;
	key.types = types;
	const struct shared_schema *shared = logs_find_shared(r, &key);
	if (shared != NULL && shared->schema != NULL) {
		key = *shared;
	} else {
		st = built_in(r, s, log, &key.schema);
		if (st == TEL_OK && types != 0 &&
		    (key.schema == NULL || key.schema->described))
			st =
			    logs_describe(r, s, log, &key.schema, &key.partial);
		else if (st == TEL_OK && key.schema == NULL)
			st = TEL_EFORMAT;
		if (st == TEL_OK)
			st = logs_share(r, &key);
		else
			tel_schema_free(key.schema);
	}
	if (st == TEL_OK)
		st = add_schema(s, key.schema, log, key.partial ? types : 0);
	*out = s->schemas;
	return st;
}

/* Takes a copy of a schema from the rest for those.  0: it is more. */
static int
take_copy(struct native *s, const struct native_schema *from)
{
	uint64_t size = from->schema->ntypes;

	for (unsigned i = 0; i < from->schema->ntypes; i++)
		size += from->plans[i].ncells * 8u / NATIVE_PIECE;
	if (size > s->unpaid)
		return 0;
	s->unpaid -= (uint32_t)size;
	return 1;
}

/*
 * The schema of events that have the fields of another and a source: made
 * when the first block of such events comes.
 */
static tel_status
find_source_schema(struct tel_reader *r, struct native *s, unsigned bits,
    struct native_found **found)
{
	struct shared_schema key = { .base = (*found)->native.schema,
		.source = bits };
	struct native_found *f;
	tel_status st;

	for (f = (*found)->with_source; f != NULL; f = f->same)
		if (f->native.source == bits) {
			*found = f;
			return TEL_OK;
		}
	if (s->nschemas >= NATIVE_SCHEMAS_MAX ||
	    !take_copy(s, &(*found)->native))
		return TEL_EFORMAT;
	const struct shared_schema *shared = logs_find_shared(r, &key);
	if (shared != NULL && shared->schema != NULL) {
		key = *shared;
	} else {
		st = tel__native_source_schema((*found)->native.schema, bits,
		    &key.schema);
		if (st == TEL_OK)
			st = logs_share(r, &key);
		if (st != TEL_OK)
			return st;
	}
	f = calloc(1, sizeof(*f));
	if (f == NULL ||
	    tel__native_source_plans(&(*found)->native, key.schema, bits,
	        &f->native) != TEL_OK) {
		free(f);
		return TEL_ENOMEM;
	}
	f->base = *found;
	f->same = f->base->with_source;
	f->base->with_source = f;
	f->next = s->schemas;
	s->schemas = f;
	s->nschemas++;
	*found = f;
	return TEL_OK;
}

/* ---------------------------------------------------------------- logs */

/* A copy of a text, up to a zero in it. */
static char *
logs_text(const unsigned char *p, size_t n)
{
	return tel__copy_string(p, n > 0 ? strnlen((const char *)p, n) : 0);
}

/* A log that is not the first one of the input has labels of its own. */
static tel_status
begin_source(struct tel_reader *r, struct native_source *source)
{
	struct tel_log *log = &source->own;

	source->log = log;
	log->format = r->format->name;
	log->name = r->log.name;
	log->labels = tel__labels_new(r->max_labels);
	log->clock = tel__clock_new();
	if (log->labels == NULL || log->clock == NULL)
		return TEL_ENOMEM;
	tel__clock_set_rate(log->clock, r->tick_rate);
	log->number = (unsigned)r->count[TEL_COUNT_LOGS]++;
	return TEL_OK;
}

static void
logs_set_rate(const struct tel_reader *r, struct native_source *source,
    double rate)
{
	if (rate > 0 && r->tick_rate <= 0)
		tel__clock_set_rate(source->log->clock, rate);
}

/* Rate, origin and metadata of START apply to logs that do not state their own. */
static tel_status
begin_defaults(struct tel_reader *r, struct native *s,
    struct native_source *source)
{
	logs_set_rate(r, source, s->rate);
	if (s->has_origin)
		tel__clock_set_epoch(source->log->clock, s->origin);
	source->log->metadata = &source->metadata;
	return tel__metadata_add(&source->metadata, &s->metadata);
}

static tel_status
find_source(struct tel_reader *r, struct native *s, uint32_t number,
    struct native_source **out)
{
	struct native_source *source;
	tel_status st = TEL_OK;
	uint64_t *place =
	    logs_place(&s->by_number, (uint64_t)s->stream << 32 | number);

	if (place != NULL && *place != 0) {
		*out = (struct native_source *)(uintptr_t)*place;
		return TEL_OK;
	}
	source = calloc(1, sizeof(*source));
	if (source == NULL || place == NULL) {
		free(source);
		return TEL_ENOMEM;
	}
	*place = (uintptr_t)source;
	source->log = &r->log;
	if (s->sources != NULL)
		st = begin_source(r, source);
	if (st == TEL_OK)
		st = begin_defaults(r, s, source);
	source->next = s->sources;
	s->sources = source;
	*out = source;
	if (st != TEL_OK)
		return st;
	if (s->leader == NULL)
		s->leader = source->log->clock;
	else
		tel__clock_follow(source->log->clock, s->leader);
	return TEL_OK;
}

/* What a log is called: by the operand, and where there are more by itself. */
static tel_status
set_name(struct tel_reader *r, struct native_source *source,
    const struct native_log *log)
{
	char *name = logs_text(log->name, log->name_size), *whole;

	if (name == NULL)
		return TEL_ENOMEM;
	size_t n = strlen(r->log.name) + strlen(name) + 2;
	whole = malloc(n);
	if (whole != NULL)
		snprintf(whole, n, "%s:%s", r->log.name, name);
	free(name);
	if (whole == NULL)
		return TEL_ENOMEM;
	source->name = whole;
	source->log->name = whole;
	return TEL_OK;
}

/* Adds metadata of a log to that of the whole input. */
static tel_status
add_all(struct tel__metadata *all, const struct tel__metadata *from)
{
	tel_status st = TEL_OK;

	for (size_t i = 0; i < from->count && st != TEL_ENOMEM; i++)
		st = tel__metadata_pair(all, from->entries[i].key,
		    from->entries[i].value);
	return st == TEL_ENOMEM ? st : TEL_OK;
}

/* Takes the metadata of a log: of what each block repeats only its own. */
static tel_status
logs_take_metadata(struct tel_reader *r, struct native_source *source,
    const struct native_log *log)
{
	const struct native_bytes all = { log->metadata,
		log->metadata + log->metadata_size, 0, 0 };
	struct native_bytes b = all;
	struct tel__metadata own = { NULL, 0, 0 };
	tel_status st = tel__native_metadata(&b, &source->metadata);

	b = all;
	if (st == TEL_OK && source->listed)
		st = tel__native_metadata(&b, &own);
	if (st == TEL_OK)
		st = add_all(&r->metadata,
		    source->listed ? &own : &source->metadata);
	source->listed = 1;
	tel__metadata_clear(&own);
	return st;
}

static tel_status
take_text(struct tel_reader *r, struct native_source *source,
    const struct native_log *log)
{
	tel_status st = TEL_OK;

	if (source->origin == NULL && log->form_size > 0) {
		source->origin = logs_text(log->form, log->form_size);
		if (source->origin == NULL)
			return TEL_ENOMEM;
		source->log->origin = source->origin;
	}
	if (source->preamble == NULL && log->preamble_size > 0) {
		source->preamble = malloc(log->preamble_size);
		if (source->preamble == NULL)
			return TEL_ENOMEM;
		memcpy(source->preamble, log->preamble, log->preamble_size);
		source->log->preamble = source->preamble;
		source->log->preamble_size = log->preamble_size;
	}
	if (source->name == NULL && source->log != &r->log &&
	    log->name_size > 0)
		st = set_name(r, source, log);
	if (log->has_origin)
		tel__clock_set_epoch(source->log->clock, log->origin);
	if (st == TEL_OK && log->metadata != NULL)
		st = logs_take_metadata(r, source, log);
	return st;
}

/* Nonzero when a log's record has more than its types and known metadata. */
static int
tells_more(const struct native_source *source, const struct native_log *log)
{
	struct native_bytes b = { log->metadata, NULL, 0, 0 };
	struct tel__metadata m = { NULL, 0, 0 };
	const struct tel__metadata_entry *e;
	const char *value;
	int64_t epoch;
	int more = (source->origin == NULL && log->form_size > 0) ||
	    (source->preamble == NULL && log->preamble_size > 0) ||
	    (log->has_origin &&
	        (!tel__clock_epoch(source->log->clock, &epoch) ||
	            epoch != log->origin));

	if (log->metadata == NULL)
		return more;
	b.end = b.p + log->metadata_size;
	more |= tel__native_metadata(&b, &m) != TEL_OK;
	for (e = m.entries; e < m.entries + m.count && !more; e++) {
		value = tel__metadata_get(&source->metadata, e->key);
		more = value == NULL || strcmp(value, e->value) != 0;
	}
	tel__metadata_clear(&m);
	return more;
}

tel_status
tel__native_take_log(struct tel_reader *r, struct native *s,
    const struct native_record *rec)
{
	struct native_bytes b = { native_body(rec), NULL, 0, 0 };
	struct native_source *source;
	struct native_found *found;
	struct native_log log;

	b.end = b.p + rec->body_size;
	tel__native_log(&b, s->median, &log);
	if (b.bad)
		return TEL_EFORMAT;
	/* of a log whose types are not known here the blocks report it */
	tel_status st = logs_find_schema(r, s, &log, &found);
	if (st == TEL_EVERSION && s->nnewer < NATIVE_NEWER)
		s->newer[s->nnewer++] = log.digest;
	if (st != TEL_OK)
		return st == TEL_EFORMAT || st == TEL_EVERSION ? TEL_OK : st;
	st = find_source(r, s, log.number, &source);
	if (st != TEL_OK)
		return st;
	if (source->log->schema == NULL)
		source->log->schema = found->native.schema;
	/* what a later piece learns of the log, the first one does not know */
	if (r->piece.number > 0 && r->piece.start > 0 &&
	    tells_more(source, &log))
		return tel__reader_fail(r, TEL_ELIMIT,
		    "the log is described anew: it is not read in pieces");
	logs_set_rate(r, source, log.rate);
	return take_text(r, source, &log);
}

/* -------------------------------------------------------------- blocks */

/* Room for the slots of the block, and what each is. */
static tel_status
find_slots(struct tel_reader *r, struct native *s)
{
	const struct native_block *b = s->block;
	struct native_slot *slot;
	tel_status st = TEL_OK;

	if (!TEL__RESERVE(s->slots, s->slot_room, b->nlogs) ||
	    !TEL__RESERVE(s->natives, s->natives_room, b->nlogs))
		return TEL_ENOMEM;
	for (unsigned i = 0; i < b->nlogs && st == TEL_OK; i++) {
		slot = &s->slots[i];
		memset(slot, 0, sizeof(*slot));
		st = logs_find_schema(r, s, &b->logs[i], &slot->schema);
		if (st == TEL_OK && b->head.source != 0)
			st = find_source_schema(r, s, b->head.source,
			    &slot->schema);
		if (st == TEL_OK)
			st =
			    find_source(r, s, b->logs[i].number, &slot->source);
		if (st != TEL_OK)
			break;
		s->natives[i] = &slot->schema->native;
		logs_set_rate(r, slot->source, b->logs[i].rate);
		st = take_text(r, slot->source, &b->logs[i]);
	}
	return st;
}

/* What events of a part have in common; an unknown type is made. */
static tel_status
begin_part(struct native *s, struct native_part *part, struct native_row *row)
{
	struct tel_schema *schema = s->slots[part->log].schema->native.schema;

	if (part->unknown && schema->nunknown >= NATIVE_UNKNOWN_MAX)
		return TEL_EFORMAT;
	row->type = part->unknown ? tel__schema_unknown(schema, part->type) :
	                            &schema->types[part->type];
	if (row->type == NULL)
		return TEL_ENOMEM;
	row->row = part->rows;
	row->size = part->size;
	row->stride = part->stride;
	row->sizes = part->sizes;
	row->clock_at = 0;
	if (!part->unknown && !schema->described && schema->header >= 12)
		row->clock_at = schema->header - 8;
	row->big = schema->abi.big;
	row->inline_use = part->inline_use;
	row->index = row->type->index;
	row->followed = (uint8_t)tel_type_is_followed(row->type);
	row->alone = row->followed || row->type->unknown;
	row->counted = part->counted;
	row->blobs =
	    (part->flags & (NATIVE_RAW | NATIVE_LEAD | NATIVE_NOTES)) != 0;
	row->part = part;
	return TEL_OK;
}

static tel_status
begin_parts(struct tel_reader *r, struct native *s)
{
	const struct native_block *b = s->block;
	tel_status st = TEL_OK;

	if (!TEL__RESERVE(s->rows, s->part_room, b->nparts))
		return TEL_ENOMEM;
	s->plain = b->nlogs == 1 && b->gaps == NULL;
	for (unsigned i = 0; i < b->nparts && st == TEL_OK; i++) {
		st = begin_part(s, &b->parts[i], &s->rows[i]);
		s->plain &= !s->rows[i].blobs;
	}
	r->event.raw = r->event.lead = NULL;
	r->event.inline_labels = (const unsigned char *)"";
	r->event.raw_size = r->event.lead_size = r->event.inline_size = 0;
	return st;
}

/* Adds a frame of a stack: the number of its caller, and its name. */
static tel_status
take_frame(struct tel_labels *labels, const struct native_name *name)
{
	struct native_bytes b = { name->string, name->string + name->size, 0,
		0 };
	struct tel_frame frame = { 0 };

	frame.parent = native_varint(&b);
	frame.name = (const char *)b.p;
	frame.length = native_left(&b);
	return b.bad ? TEL_OK :
	               tel__labels_add_frame(labels, 0, name->value, &frame);
}

/*
 * Whether a value has a name already: libtel-emit has the names of threads in
 * each block, which would be very many labels in a long log.
 */
static int
logs_is_named(const struct tel_labels *labels, const struct native_name *name)
{
	struct tel_label is;

	return tel__labels_find(labels, (enum tel_space)name->space,
	           name->value, name->clock, &is) &&
	    is.string != NULL && is.length == name->size &&
	    memcmp(is.string, name->string, name->size) == 0;
}

/* Adds the names of a block that no event defines. */
static tel_status
logs_take_names(struct tel_reader *r, struct native *s)
{
	const struct native_block *b = s->block;
	tel_status st = TEL_OK;

	for (uint32_t i = 0; i < b->nnames; i++) {
		const struct native_name *name = &b->names[i];
		struct native_source *source = s->slots[name->log].source;

		if (name->space == TEL_SPACES)
			continue;
		if (name->space == TEL_SPACE_STACK) {
			st = take_frame(source->log->labels, name);
			if (st == TEL_ENOMEM)
				return st;
			continue;
		}
		if (logs_is_named(source->log->labels, name))
			continue;
		st = tel__labels_intern(source->log->labels,
		    OWN_STRINGS + source->strings, (const char *)name->string,
		    name->size);
		if (st == TEL_OK)
			st = tel__labels_add(source->log->labels,
			    (enum tel_space)name->space, name->value,
			    name->clock, OWN_STRINGS + source->strings++);
		if (st == TEL_ENOMEM)
			return st;
		if (st == TEL_ELIMIT)
			tel__reader_limit(r, r->offset, "strings or labels");
	}
	return TEL_OK;
}

tel_status
tel__native_take_block(struct tel_reader *r, struct native *s,
    const struct native_record *rec)
{
	tel_status st = tel__native_block_open(s->block, rec, s->median);

	if (st == TEL_OK)
		st = find_slots(r, s);
	if (st == TEL_OK)
		st = tel__native_block_parts(s->block, s->natives);
	if (st == TEL_OK)
		tel__native_choose_counted(r, s, rec->kind);
	if (st == TEL_OK)
		st = tel__native_block_decode(s->block, s->natives);
	if (st == TEL_OK)
		st = begin_parts(r, s);
	if (st == TEL_OK)
		st = logs_take_names(r, s);
	s->at = s->simple = 0;
	if (st != TEL_OK)
		s->block->head.count = 0;
	return st;
}
