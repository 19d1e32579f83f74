/* SPDX-License-Identifier: BSD-2-Clause */
/* Counting the selected events of all operands, on several threads. */
#include "total.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "counting.h"
#include "message.h"
#include "page.h"
#include "tel/run.h"

struct total {
	uint64_t all; /* in all sources */
	struct sink *sink;
	int by_file;
	int plain;        /* all events count */
	const char *name; /* of the source */
	uint64_t before;  /* in those before this one */
};

int
total_by_file(const struct settings *s)
{
	return s->no_merge && s->noperands > 1;
}

void
total_print(const struct sink *sink, const char *name, uint64_t n)
{
	/* the output remembers a failure until it is closed */
	if (name != NULL && sink->terminal)
		put_ascii(sink->out, name, strlen(name));
	else if (name != NULL)
		put(sink->out, name);
	putf(sink->out, "%s%" PRIu64 "\n", name != NULL ? ":" : "", n);
}

/* ---------------------------------------------------------- on one thread */

static int
total_begin(void *arg, struct source *const *srcs, int n)
{
	struct total *t = arg;

	t->name = srcs[0]->name;
	t->before = t->all;
	if (t->plain && n == 1)
		tel_reader_set_total(srcs[0]->reader, &t->all);
	return 1;
}

static enum outcome
total_end(void *arg)
{
	const struct total *t = arg;

	if (t->by_file)
		total_print(t->sink, t->name, t->all - t->before);
	return CONTINUE;
}

/* ----------------------------------------------------- on several threads */

static void *
counter_open(void *arg, tel_reader *r)
{
	const struct total *t = arg;
	uint64_t *counter = calloc(1, sizeof(*counter));

	if (t->plain && counter != NULL)
		tel_reader_set_total(r, counter);
	return counter;
}

static int
counter_run(void *counter, tel_run *events)
{
	*(uint64_t *)counter += tel_run_count(events);
	return 1;
}

static int
counter_join(void *counter, const void *next)
{
	*(uint64_t *)counter += *(const uint64_t *)next;
	return 1;
}

static enum counted
counter_take(void *arg, void *counter, struct source *src)
{
	struct total *t = arg;

	t->all += *(const uint64_t *)counter;
	if (t->by_file)
		total_print(t->sink, src->name, *(const uint64_t *)counter);
	return COUNT_NEXT;
}

/* Nonzero unless an operand is a file that is not a trace of HPM. */
static int
may_be_hpm(const char *operand)
{
	struct stat st;
	int fd, found = 1;

	if (strcmp(operand, "-") == 0 || stat(operand, &st) != 0 ||
	    !S_ISREG(st.st_mode))
		return 1;
	fd = open(operand, O_RDONLY);
	tel_reader *r = fd >= 0 ? tel_reader_new() : NULL;
	if (r != NULL && tel_reader_open_fd(r, fd, operand) == TEL_OK)
		found = strcmp(tel_reader_format(r), "hpm") == 0;
	tel_reader_free(r);
	if (fd >= 0)
		(void)close(fd);
	return found;
}

/*
 * Nonzero when merging logs may change an expression's value for their
 * events: merging traces of HPM flags a thread that runs in two at once.
 */
static int
merging_matters(const struct settings *s)
{
	if (s->select.where == NULL && s->select.since == NULL &&
	    s->select.until == NULL)
		return 0;
	for (int i = 0; i < s->noperands; i++)
		if (may_be_hpm(s->operands[i]))
			return 1;
	return s->noperands == 0;
}

/* Nonzero when it does not matter which event comes before which. */
static int
is_divisible(const struct settings *s)
{
	const struct selection *sel = &s->select;

	return s->order == TEL_ORDER_LOG && sel->count == UINT64_MAX &&
	    sel->skip == 0 && !sel->percent &&
	    !(sel->filtering && tel_filter_uses(sel->filter, TEL_USE_OTHERS)) &&
	    (s->no_merge || !merging_matters(s));
}

uint64_t
total_run(struct settings *s, struct sink *sink)
{
	struct total t = { .sink = sink, .by_file = total_by_file(s) };
	const struct visitor v = { .arg = &t,
		.begin = total_begin,
		.event = visit_count,
		.run = visit_count_run,
		.end = total_end,
		.any_order = 1 };
	const struct counting counting = { &t, 0, counter_open, counter_run,
		free, counter_join, counter_take };

	s->all_events = 0;
	s->writes = 0;
	if (is_divisible(s)) {
		t.plain = !s->select.filtering;
		s->no_merge = 1;
		counting_run(s, &v, &counting);
	} else {
		sources_run(s, &v);
	}
	/* nothing was counted where the log lacks a name */
	if (!t.by_file && message_status() != STATUS_USAGE)
		total_print(sink, NULL, t.all);
	return t.all;
}
