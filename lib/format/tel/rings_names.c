/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of rings: types, strings, threads, and events that all streams have. */
#include <string.h>

#include "format/tel/wire.h"
#include "format/tel/rings.h"

int
tel__rings_next_entry(const struct tel__rings *s, size_t *at,
    struct tel__ring_entry *entry)
{
	const size_t left = s->names.used - *at;

	if (left < sizeof(*entry))
		return 0;
	memcpy(entry, s->names.bytes + *at, sizeof(*entry));
	if (s->swapped) {
		tel__swap4(&entry->bytes);
		tel__swap4(&entry->what);
		tel__swap8(&entry->value);
		tel__swap8(&entry->clock);
		tel__swap8(&entry->length);
	}
	if (entry->bytes < sizeof(*entry) || entry->bytes > left ||
	    entry->length > entry->bytes - sizeof(*entry))
		return 0;
	*at += entry->bytes;
	return 1;
}

static void
rings_names_put_string(struct tel__buffer *b, const char *s)
{
	tel__buffer_put_varint(b, strlen(s));
	tel__buffer_put(b, s, strlen(s));
}

tel_status
tel__rings_make_schema(struct tel_reader *r, struct tel__rings *s)
{
	const unsigned big =
	    (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != s->swapped;
	struct tel__buffer types = { NULL, 0, 0, 0 };
	struct native_log log = { 0 };
	struct tel_schema *schema;
	size_t at, count = 0;
	struct tel__ring_entry entry;
	int partial;
	uint32_t room = NATIVE_UNPAID;

	for (at = 0; tel__rings_next_entry(s, &at, &entry);)
		count += entry.what == ENTRY_TYPE;
	s->described = count;
	rings_names_put_string(&types, s->page.schema_version);
	rings_names_put_string(&types, "");
	tel__buffer_put_varint(&types, s->page.word);
	tel__buffer_put_varint(&types, big | 2 | 4 | 16 | 32);
	tel__buffer_put_varint(&types, 0);
	tel__buffer_put_varint(&types, 8);
	tel__buffer_put_varint(&types, count);
	tel__buffer_put_varint(&types, count);
	for (at = 0; tel__rings_next_entry(s, &at, &entry);) {
		if (entry.what != ENTRY_TYPE)
			continue;
		tel__buffer_put_varint(&types, 0);
		tel__buffer_put(&types,
		    s->names.bytes + at - entry.bytes + sizeof(entry),
		    (size_t)entry.length);
	}
	log.schema = (const unsigned char *)s->page.schema;
	log.schema_size = (uint32_t)strlen(s->page.schema);
	log.types = types.bytes;
	log.types_size = (uint32_t)types.used;
	tel_status st = types.failed ?
	    TEL_ENOMEM :
	    tel__native_schema(&log, &schema, &partial, &room);
	tel__buffer_clear(&types);
	if (st == TEL_OK)
		st = tel__reader_adopt(r, schema);
	if (st == TEL_EFORMAT)
		return tel__reader_fail(r, st,
		    "the types in the rings are invalid");
	return st;
}

tel_status
tel__rings_take_names(struct tel_reader *r, struct tel__rings *s)
{
	const uint64_t own = (uint64_t)1 << 63;
	tel_status st = TEL_OK;
	struct tel__ring_entry entry;
	const char *text;

	while (st == TEL_OK && tel__rings_next_entry(s, &s->named, &entry)) {
		text = (const char *)s->names.bytes + s->named - entry.bytes +
		    sizeof(entry);
		if (entry.what == ENTRY_STRING)
			st = tel__labels_intern(r->log.labels, entry.value,
			    text, (size_t)entry.length);
		if (entry.what != ENTRY_THREAD)
			continue;
		st = tel__labels_intern(r->log.labels, own + s->threads, text,
		    (size_t)entry.length);
		if (st == TEL_OK)
			st = tel__labels_add(r->log.labels, TEL_SPACE_THREAD,
			    entry.value, entry.clock, own + s->threads++);
	}
	if (st == TEL_ELIMIT)
		tel__reader_limit(r, 0, "strings or labels");
	return st == TEL_ELIMIT ? TEL_OK : st;
}

/* The code of the type Intern: lib/emit/emit.h. */
#define CODE_INTERN 0xFF01u

void
tel__rings_take_entries(struct tel__rings *s)
{
	static const unsigned char zeros[8];
	unsigned char head[16];
	struct tel__rings_found found;
	struct tel__ring_entry entry;
	const unsigned char *bytes;

	while (tel__rings_next_entry(s, &s->taken, &entry)) {
		bytes = s->names.bytes + s->taken - entry.bytes + sizeof(entry);
		if ((entry.what != ENTRY_EVENT && entry.what != ENTRY_STRING) ||
		    entry.length > TEL_EMIT_EVENT_MAX ||
		    (entry.what == ENTRY_EVENT && entry.length % 8 != 0))
			continue;
		found.clock = entry.clock;
		found.order = s->taken;
		found.at = s->rows.used;
		found.code = entry.what == ENTRY_EVENT ? entry.value & 0xffff :
		                                         CODE_INTERN;
		tel__rings_put_head(s, head,
		    entry.what == ENTRY_EVENT ? (uint32_t)(entry.value >> 32) :
		                                0);
		tel__buffer_put(&s->rows, head, sizeof(head));
		if (entry.what == ENTRY_STRING) {
			if (s->swapped)
				tel__swap8(&entry.value);
			tel__buffer_put(&s->rows, &entry.value, 8);
		}
		tel__buffer_put(&s->rows, bytes, (size_t)entry.length);
		if (entry.what == ENTRY_STRING)
			tel__buffer_put(&s->rows, zeros, 8 - entry.length % 8);
		found.size = (uint32_t)(s->rows.used - found.at);
		tel__buffer_put(&s->list, &found, sizeof(found));
	}
}
