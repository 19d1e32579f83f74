/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which operands are added up, as what other runs have counted, or for their
 * classes, and are not logs whose events are counted.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/read.h"
#include "common/message.h"
#include "telstat.h"

/* The first bytes of an operand, by which counts are detected, */
#define PROBE_BYTES 128
/* and of one that is compressed: bzip2 decodes 900 kB at a time. */
#define PACKED_BYTES ((size_t)1 << 20)

int
telstat_wants_events(const struct telstat *t)
{
	const struct selection *sel = &t->settings.select;

	return t->given || t->heap != NULL || sel->filtering ||
	    sel->types != NULL || sel->kinds != NULL || sel->where != NULL ||
	    sel->since != NULL || sel->until != NULL || sel->skip > 0 ||
	    sel->count != UINT64_MAX;
}

/* Whether inst logs are added up: a rate set for their clock is of events. */
static int
adds_logs(const struct telstat *t)
{
	return !telstat_wants_events(t) && t->settings.tick_rate <= 0;
}

/* As many more bytes as there are, up to want; 0 at the end, or after a message. */
static size_t
read_more(const struct source *src, off_t start, struct ahead *a, size_t want)
{
	if (!TEL__RESERVE(a->bytes, a->room, want)) {
		(void)message_no_memory();
		a->failed = 1;
		return 0;
	}
	ptrdiff_t n = tel__read_some(src->fd, a->bytes + a->size,
	    want - a->size, start < 0 ? -1 : (int64_t)(start + (off_t)a->size));
	if (n < 0) {
		message_errno(src->name);
		a->failed = 1;
	}
	a->size += n > 0 ? (size_t)n : 0;
	return n > 0 ? (size_t)n : 0;
}

/* What an operand is by its start, of which no more is read than needed. */
static tel_inst_sort
added_look(const struct source *src, off_t start, struct ahead *a)
{
	tel_inst_sort sort = TEL_INST_MORE;

	while (a->size < PROBE_BYTES && read_more(src, start, a, PROBE_BYTES))
		continue;
	while (a->size > 0 &&
	    (sort = tel_inst_probe(a->bytes, a->size)) == TEL_INST_MORE &&
	    a->size < PACKED_BYTES && read_more(src, start, a, PACKED_BYTES))
		continue;
	return sort;
}

int
telstat_adds(struct telstat *t, const char *operand, struct ahead *input)
{
	const int is_input = strcmp(operand, "-") == 0;
	struct ahead begin = { NULL, 0, 0, 0 }, *a = &begin;
	tel_inst_sort sort = TEL_INST_NONE;
	struct source src = { 0 };
	struct stat st;

	if (t->settings.as != NULL && !t->as_inst)
		return 0;
	if (!is_input && access(operand, R_OK) != 0)
		return 0;
	/* of a pipe with a name nothing can be read again, not even opened */
	if (!is_input && stat(operand, &st) == 0 && !S_ISREG(st.st_mode))
		return t->as_inst && adds_logs(t);
	if (source_open(&src, operand) <= 0)
		return -1;
	off_t start = src.regular ? lseek(src.fd, 0, SEEK_CUR) : -1;
	if (start < 0)
		a = input;
	if (src.regular && start < 0) {
		message_errno(operand);
		a->failed = 1;
	} else
		sort = added_look(&src, start, a);
	source_close(&src);
	free(begin.bytes);
	if (a->failed)
		return -1;
	if (sort == TEL_INST_STATS)
		return 1;
	return (t->as_inst || sort == TEL_INST_LOG) && adds_logs(t);
}
