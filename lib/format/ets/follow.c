/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Metadata of an ETS log: the rate of its clock, and the names of processes,
 * threads, contracts and messages.  And the messages on it at the end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/ets/ets.h"
#include "render/number.h"

/* Numbers of strings: what they name, and its own number. */
#define PROCESS_NAME ((uint64_t)1 << 32)
#define CONTRACT_NAME ((uint64_t)2 << 32)

/* Names what has that number in space from the event's clock on. */
static tel_status
ets_follow_name(struct tel_reader *r, enum tel_space space, uint64_t number,
    uint64_t id, const unsigned char *text, size_t n)
{
	struct tel_labels *labels = r->log.labels;
	const unsigned char *nul = memchr(text, 0, n);
	tel_status st = TEL_OK;

	/* labels are strings as fields are: up to a NUL */
	if (nul != NULL)
		n = (size_t)(nul - text);
	if (n == 0)
		return TEL_OK;
	st = tel__labels_intern(labels, id, (const char *)text, n);
	if (st == TEL_OK)
		st = tel__labels_add(labels, space, number, r->event.clock, id);
	return st;
}

/* A thread has the name of its process. */
static tel_status
name_thread(struct tel_reader *r, uint64_t tid, uint64_t pid)
{
	struct tel_label label;

	if (!tel__labels_find(r->log.labels, TEL_SPACE_PROCESS, pid,
	        r->event.clock, &label) ||
	    label.string == NULL)
		return TEL_OK;
	return tel__labels_add(r->log.labels, TEL_SPACE_THREAD, tid,
	    r->event.clock, PROCESS_NAME | pid);
}

tel_status
tel__ets_follow(struct tel_reader *r, struct ets *h, const unsigned char *p,
    unsigned text)
{
	uint64_t number = tel_le32(p + ETS_AT_ARGS);
	tel_status st = TEL_OK;

	if (tel_le16(p + ETS_AT_PROVIDER) != ETS_SYSINFO ||
	    tel_le16(p + ETS_AT_VERSION) != 0)
		return TEL_OK;
	switch (tel_le16(p + ETS_AT_TYPE)) {
	case ETS_CPU_SPEED:
		/* another log may have been appended, of another boot */
		h->clock = h->far = 0;
		if (r->tick_rate == 0)
			tel__clock_set_rate(r->log.clock,
			    (double)tel_le64(p + ETS_AT_ARGS));
		break;
	case ETS_CONTRACT_NAME:
		st = ets_follow_name(r, TEL_SPACE_CONTRACT, number,
		    CONTRACT_NAME | number, p + ETS_ENTRY, text);
		for (unsigned i = 0; h->notes != NULL && i < ETS_NOTES; i++)
			h->notes[i].size = 0;
		break;
	case ETS_PROCESS_INFO:
		st = ets_follow_name(r, TEL_SPACE_PROCESS, number,
		    PROCESS_NAME | number, p + ETS_ENTRY, text);
		break;
	case ETS_THREAD_INFO:
		st = name_thread(r, number, tel_le32(p + ETS_AT_ARGS + 4));
		break;
	default: break;
	}
	if (st == TEL_ENOMEM)
		return st;
	if (st == TEL_ELIMIT)
		tel__reader_limit(r, r->offset, "names");
	return TEL_OK;
}

/* Puts "CONTRACT/SendMESSAGE" into a note; an unknown name is a number. */
static void
fill_note(struct tel_reader *r, struct ets *h, struct ets_note *note,
    uint32_t contract, uint32_t tag, int deliver, int field)
{
	char *text = (char *)note->bytes + 3;
	size_t room = ETS_NOTE_MAX - 3, n = 0;
	const char *message = NULL;
	struct tel_label label;

	if (tel__labels_find(r->log.labels, TEL_SPACE_CONTRACT, contract,
	        r->event.clock, &label) &&
	    label.string != NULL) {
		/* a text is of 256 bytes at most */
		n = label.length < ETS_TEXT_MAX ? label.length : ETS_TEXT_MAX;
		memcpy(text, label.string, n);
		message = tel__tmf_message(&h->tmf, label.string, label.length,
		    (int32_t)tag);
	} else {
		n = (size_t)snprintf(text, room, "%lu",
		    (unsigned long)contract);
	}
	n += (size_t)snprintf(text + n, room - n, "/%s",
	    deliver ? "Send" : "Recv");
	if (message != NULL)
		n += (size_t)snprintf(text + n, room - n, "%s", message);
	else
		n += (size_t)snprintf(text + n, room - n, "%ld",
		    (long)(int32_t)tag);
	note->bytes[0] = (unsigned char)field;
	tel_store(note->bytes + 1, n, 2, 0);
	note->size = (uint16_t)(n + 3);
}

tel_status
tel__ets_name_message(struct tel_reader *r, struct ets *h,
    const unsigned char *p, int field)
{
	uint32_t tag = tel_le32(p + ETS_AT_MESSAGE);
	uint32_t contract = tel_le32(p + ETS_AT_CONTRACT);
	int deliver = tel_le16(p + ETS_AT_TYPE) == ETS_DELIVER;
	uint64_t key = (uint64_t)contract << 1 | (unsigned)deliver;

	if (h->notes == NULL) {
		h->notes = calloc(ETS_NOTES, sizeof(*h->notes));
		if (h->notes == NULL)
			return TEL_ENOMEM;
	}
	uint64_t mix = (key << 32 ^ key ^ tag) * 0x9e3779b97f4a7c15u;
	struct ets_note *note = &h->notes[mix >> 56];
	if (note->size == 0 || note->key != key || note->tag != tag) {
		note->key = key;
		note->tag = tag;
		fill_note(r, h, note, contract, tag, deliver, field);
	}
	r->event.inline_labels = note->bytes;
	r->event.inline_size = note->size;
	r->event.inline_use = TEL_INLINE_FIRST;
	return TEL_OK;
}

tel_status
tel__ets_count_unknown(struct tel_reader *r, struct ets *h,
    const unsigned char *p)
{
	const uint64_t key = ets_key_at(p);
	unsigned lo = 0, hi = h->nunknown, mid;

	r->count[TEL_COUNT_UNKNOWN]++;
	TEL__BISECT(lo, hi, mid, h->unknown[mid].key < key);
	if (lo < h->nunknown && h->unknown[lo].key == key) {
		h->unknown[lo].count++;
		return TEL_OK;
	}
	if (h->nunknown == ETS_UNKNOWN_MAX) {
		h->unknown_others++;
		return TEL_OK;
	}
	if (!TEL__RESERVE(h->unknown, h->unknown_room, h->nunknown + 1u))
		return TEL_ENOMEM;
	struct ets_unknown *u = &h->unknown[lo];
	memmove(u + 1, u, (h->nunknown - lo) * sizeof(*u));
	u->key = key;
	u->count = 1;
	h->nunknown++;
	return TEL_OK;
}

/* Reports a command.  There are many, and printf() takes four times as long. */
static void
ets_follow_command(struct tel_reader *r, const unsigned char *p, unsigned text)
{
	static const char before[] = "Found Shell event: '";
	static const char after[] = "' at time: ";
	const unsigned char *nul = memchr(p + ETS_ENTRY, 0, text);
	const size_t n = nul != NULL ? (size_t)(nul - p) - ETS_ENTRY : text;
	unsigned char line[sizeof(before) + ETS_TEXT_MAX + sizeof(after) + 24],
	    *end = line + sizeof(before) - 1;

	memcpy(line, before, sizeof(before) - 1);
	memcpy(end, p + ETS_ENTRY, n);
	memcpy(end + n, after, sizeof(after) - 1);
	end = tel_put_decimal(end + n + sizeof(after) - 1, tel_le64(p));
	tel__reader_notice_text(r, r->offset, (char *)line,
	    (size_t)(end - line));
}

void
tel__ets_find_text(struct tel_reader *r, struct ets *h, const unsigned char *p,
    unsigned text)
{
	const uint64_t key = ets_key_at(p);

	if (key == ETS_COMMAND)
		ets_follow_command(r, p, text);
	else if (key == ets_key(ETS_CASSINI, 0, 1) ||
	    key == ets_key(ETS_WEB_SERVER, 0, 1))
		h->requests++;
}

void
tel__ets_report(struct tel_reader *r, struct ets *h)
{
	uint64_t unknown = h->unknown_others, at = r->offset, k;

	for (unsigned i = 0; i < h->nunknown; i++)
		unknown += h->unknown[i].count;
	tel__reader_notice(r, TEL_INFO, at,
	    "%llu events, 0 dropped as far as the log shows, %llu unknown",
	    (unsigned long long)r->event.index, (unsigned long long)unknown);
	for (unsigned i = 0; i < h->nunknown; i++) {
		k = h->unknown[i].key;
		tel__reader_notice(r, TEL_INFO, at,
		    "unknown (provider, version, type): ('%u', %u, %u) %llu",
		    (unsigned)(k >> 32), (unsigned)(k & 0xffff),
		    (unsigned)(k >> 16 & 0xffff),
		    (unsigned long long)h->unknown[i].count);
	}
	if (h->unknown_others > 0)
		tel__reader_notice(r, TEL_INFO, at,
		    "unknown, of further types: %llu",
		    (unsigned long long)h->unknown_others);
	tel__reader_notice(r, TEL_INFO, at, "Found %llu requests",
	    (unsigned long long)h->requests);
	if (h->lost[0] + h->lost[1] + h->lost[2] > 0)
		tel__reader_notice(r, TEL_INFO, at,
		    "texts lost: %llu overwritten, %llu out of bounds, %llu "
		    "overwritten while they were copied",
		    (unsigned long long)h->lost[0],
		    (unsigned long long)h->lost[1],
		    (unsigned long long)h->lost[2]);
	if (h->nuls > 0)
		tel__reader_notice(r, TEL_INFO, at,
		    "%llu texts contain a NUL and are shown up to it",
		    (unsigned long long)h->nuls);
}
