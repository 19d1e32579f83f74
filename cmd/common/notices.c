/* SPDX-License-Identifier: BSD-2-Clause */
/* Passing on what a reader reports of a log, and summing it up. */
#include "notices.h"

#include <inttypes.h>
#include "message.h"

void
notices_begin(struct notices *n, const struct settings *s)
{
	n->quiet = s->quiet;
	n->verbose = s->verbose;
	n->damage = 0;
}

void
notices_take(void *notices, tel_severity severity, const char *log,
    uint64_t offset, const char *text)
{
	struct notices *n = notices;

	switch (severity) {
	case TEL_INFO:
		if (n->verbose)
			message(log, "%s", text);
		break;
	case TEL_WARNING:
		if (!n->quiet)
			message(log, "%s", text);
		break;
	case TEL_DAMAGE:
		if (n->damage++ < NOTICES_DAMAGE_MAX && !n->quiet)
			message_at(log, offset, text);
		break;
	}
}

static const char *
plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

void
notices_end(const struct notices *n, const char *file, const tel_reader *r)
{
	uint64_t places = tel_reader_count(r, TEL_COUNT_DAMAGED);
	uint64_t skipped = tel_reader_count(r, TEL_COUNT_SKIPPED);
	uint64_t repaired = tel_reader_count(r, TEL_COUNT_REPAIRED);
	uint64_t unread = tel_reader_count(r, TEL_COUNT_UNREAD);
	uint64_t lost = tel_reader_count(r, TEL_COUNT_LOST);

	if (lost > 0 && !n->quiet)
		message(file,
		    "%" PRIu64 " event%s lost when the log was recorded", lost,
		    plural(lost));
	if (unread > 0) {
		message_raise(STATUS_DAMAGED);
		if (!n->quiet)
			message(file,
			    "%" PRIu64 " event%s not read: a newer version of "
			    "the format is needed",
			    unread, plural(unread));
	}
	if (places == 0 && skipped == 0 && repaired == 0)
		return;
	message_raise(STATUS_DAMAGED);
	if (n->quiet)
		return;
	message(file,
	    "%" PRIu64 " damaged place%s, %" PRIu64 " byte%s skipped, %" PRIu64
	    " event%s repaired",
	    places, plural(places), skipped, plural(skipped), repaired,
	    plural(repaired));
}
