/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening an operand and making its reader. */
#include "source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/read.h"
#include "message.h"
#include "tel/run.h"

int
source_open(struct source *src, const char *operand)
{
	struct stat st;

	src->name = operand;
	src->reader = NULL;
	src->fd = src->part = 0;
	if (strcmp(operand, "-") != 0)
		src->fd = tel_open_path(operand);
	if (src->fd < 0 || fstat(src->fd, &st) != 0) {
		int limit = errno == EMFILE || errno == ENFILE;

		message_fail(STATUS_FAILED, operand, "%s%s", strerror(errno),
		    limit ? ": 'ulimit -n' sets how many may be open at once, "
		            "and --no-merge opens one after the other" :
		            "");
		if (src->fd > 0)
			(void)close(src->fd);
		src->fd = -1;
		return limit ? -1 : 0;
	}
	src->folder = S_ISDIR(st.st_mode);
	src->regular = S_ISREG(st.st_mode);
	src->size = src->regular ? (uint64_t)st.st_size : 0;
	src->changed = src->regular ? (int64_t)st.st_mtime : 0;
	return 1;
}

void
source_close(struct source *src)
{
	if (src->reader != NULL)
		notices_end(&src->notices, src->name, src->reader);
	tel_reader_free(src->reader);
	src->reader = NULL;
	if (src->fd > 0 && !src->part)
		(void)close(src->fd);
	src->fd = -1;
}

/* Opens the log of an open source. */
static tel_status
source_open_log(const struct source *src, tel_reader *r)
{
	return src->part ? tel_reader_open_part(r, src->fd, src->start,
	                       (int64_t)src->size, src->name) :
	                   tel_reader_open_fd(r, src->fd, src->name);
}

void
source_failed(const struct source *src, tel_status st, const char *text)
{
	if (text == NULL || text[0] == '\0')
		text = tel_status_text(st);
	/* with its offset, --strict has it reported already */
	if (st == TEL_EDAMAGED && src->notices.damage > 0 &&
	    !src->notices.quiet)
		message_raise(STATUS_FAILED);
	else if (st == TEL_EFORMAT && !src->folder &&
	    tel_reader_count(src->reader, TEL_COUNT_INPUT) == 0)
		message_fail(STATUS_FAILED, src->name,
		    "no events: the file is empty");
	else if (st == TEL_EVERSION)
		message_fail(STATUS_FAILED, src->name, "%s (--force reads on)",
		    text);
	else
		message_fail(STATUS_FAILED, src->name, "%s", text);
}

void
source_explain(struct source *src, const struct settings *s)
{
	if (s->verbose && s->select.filtering)
		tel_filter_explain(s->select.filter,
		    tel_reader_schema(src->reader), src->name, notices_take,
		    &src->notices);
}

/* Sets a reader up as the settings have it.  TEL_OK, or why not. */
static tel_status
set_reader(tel_reader *r, const struct settings *s)
{
	tel_status st = tel_reader_set_as(r, s->as);

	if (st == TEL_OK && s->max_labels > 0)
		st = tel_reader_set(r, TEL_READ_MAX_LABELS,
		    (int64_t)s->max_labels);
	if (st == TEL_OK && s->meta != NULL)
		st = tel_reader_add_file(r, TEL_FILE_META, s->meta);
	for (size_t i = 0; st == TEL_OK && i < s->ndescriptions; i++)
		st = tel_reader_add_file(r, TEL_FILE_TYPES, s->descriptions[i]);
	for (size_t i = 0; st == TEL_OK && i < s->ncontracts; i++)
		st = tel_reader_add_file(r, TEL_FILE_MESSAGES, s->contracts[i]);
	for (size_t i = 0; i < s->nroles && st == TEL_OK; i++)
		st = tel_reader_add_role(r, s->roles[i].role, s->roles[i].text);
	if (st == TEL_OK)
		st = tel_reader_set_tick_rate(r, s->tick_rate);
	if (st == TEL_OK)
		st = tel_reader_set(r, TEL_READ_FORCE, s->force);
	if (st == TEL_OK && (s->jobs == 1 || settings_cores() == 1))
		st = tel_reader_set(r, TEL_READ_THREADS, 1);
	return st;
}

tel_reader *
source_reader(const struct settings *s, tel_notify_fn *fn, void *arg)
{
	tel_reader *r = tel_reader_new();
	tel_status st = r == NULL ? TEL_ENOMEM : set_reader(r, s);

	if (st == TEL_OK && fn != NULL)
		st = tel_reader_set(r, TEL_READ_STRICT, s->strict);
	if (st == TEL_OK && s->folder != NULL)
		st = tel_reader_set(r, TEL_READ_ORIGINS, 1);
	if (st == TEL_OK && fn != NULL)
		st = tel_reader_set(r, TEL_READ_FOLLOW, s->unbuffered);
	if (st == TEL_OK && fn != NULL)
		st = tel_reader_set_notify(r, fn, arg);
	if (st == TEL_OK)
		return r;
	tel_reader_free(r);
	return NULL;
}

/* A reader of a file that shares its types with another one; NULL: it failed. */
static tel_reader *
source_beside(const struct settings *s, const tel_reader *with,
    const char *name)
{
	tel_reader *r = source_reader(s, NULL, NULL);

	if (r != NULL && tel_reader_share(r, with) == TEL_OK &&
	    tel_reader_open_file(r, name) == TEL_OK)
		return r;
	tel_reader_free(r);
	return NULL;
}

tel_reader *
source_types(const struct settings *s)
{
	tel_reader *types = source_reader(s, NULL, NULL);
	struct stat facts;

	for (int i = 0; types != NULL && i < s->noperands; i++) {
		if (strcmp(s->operands[i], "-") == 0 ||
		    stat(s->operands[i], &facts) != 0 ||
		    (!S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode)))
			continue;
		/* what fails is reported where its events are read */
		tel_reader_free(source_beside(s, types, s->operands[i]));
	}
	return types;
}

void
source_learn(const struct source *src, const struct settings *s,
    source_schema_fn *fn, void *arg)
{
	const char *format = tel_reader_format(src->reader);
	const tel_schema *schema = NULL;
	tel_status st = TEL_OK;
	tel_run *run;

	if (!src->regular ||
	    (!tel_reader_archive(src->reader) && strcmp(format, "tel") != 0 &&
	        strcmp(format, "text") != 0 && strcmp(format, "ftrace") != 0 &&
	        strcmp(format, "jfr") != 0))
		return;
	tel_reader *r = source_beside(s, src->reader, src->name);
	while (r != NULL && (st == TEL_OK || st == TEL_LOG)) {
		st = tel_reader_run(r, SIZE_MAX, &run);
		if (fn != NULL && tel_reader_schema(r) != schema) {
			schema = tel_reader_schema(r);
			fn(arg, schema);
		}
	}
	tel_reader_free(r);
}

/* The same, after a message where it fails: the options were checked. */
static tel_reader *
make_reader(const struct settings *s, struct notices *notices)
{
	tel_reader *r =
	    source_reader(s, notices != NULL ? notices_take : NULL, notices);

	if (r == NULL)
		(void)message_no_memory();
	return r;
}

/*
 * Finds the first and last clock from the index, or by a pre-scan, then
 * rewinds.  The real pass reports damage of the log; this one reports only
 * failures that would give another range.
 */
static int
common_source_find_span(const struct source *src, const struct settings *s,
    uint64_t *first, uint64_t *last)
{
	off_t start =
	    src->regular || src->folder ? lseek(src->fd, 0, SEEK_CUR) : -1;
	uint64_t low, high;
	const tel_event *ev;

	if (start < 0)
		return message_fail(STATUS_FAILED, src->name,
		    "-t in percent requires a file that can be read twice");
	tel_reader *r = make_reader(s, NULL);
	if (r == NULL)
		return 0;
	tel_status st = source_open_log(src, r);
	if (st == TEL_OK && tel_reader_span(r, &low, &high) == TEL_OK) {
		*first = low < *first ? low : *first;
		*last = high > *last ? high : *last;
		st = TEL_END;
	}
	while (st == TEL_OK || st == TEL_LOG) {
		st = tel_reader_next(r, &ev);
		if (st != TEL_OK || !tel_event_timed(ev))
			continue;
		if (tel_event_clock(ev) < *first)
			*first = tel_event_clock(ev);
		if (tel_event_clock(ev) > *last)
			*last = tel_event_clock(ev);
	}
	if (st == TEL_EIO || st == TEL_ENOMEM) {
		message_fail(STATUS_FAILED, src->name, "%s",
		    tel_reader_error(r));
		tel_reader_free(r);
		return 0;
	}
	tel_reader_free(r);
	if (lseek(src->fd, start, SEEK_SET) == start)
		return 1;
	return message_errno(src->name);
}

int
sources_span(struct source *const *srcs, int n, struct settings *s)
{
	uint64_t first = UINT64_MAX, last = 0;

	if (!s->select.percent)
		return 1;
	for (int i = 0; i < n; i++)
		if (!common_source_find_span(srcs[i], s, &first, &last))
			return 0;
	if (first <= last)
		selection_span(&s->select, first, last);
	return 1;
}

ptrdiff_t
source_read(void *arg, void *buffer, size_t size)
{
	struct source *src = arg;

	if (src->nahead > 0) {
		if (size > src->nahead)
			size = src->nahead;
		memcpy(buffer, src->ahead, size);
		src->ahead += size;
		src->nahead -= size;
		return (ptrdiff_t)size;
	}
	return tel__read_some(src->fd, buffer, size, -1);
}

/*
 * Bytes of a pipe read at once: with those that the loop holds, below 64 KiB.
 */
#define PIPE_READ ((size_t)48 << 10)

int
source_attach(struct source *src, struct settings *s, const tel_reader *with)
{
	tel_status st;

	notices_begin(&src->notices, s);
	src->reader = make_reader(s, &src->notices);
	if (src->reader == NULL)
		return 0;
	/* those with roles share nothing */
	(void)tel_reader_share(src->reader, with);
	/* it cannot fail before the reader is opened */
	if (!src->regular && s->writes)
		(void)tel_reader_set(src->reader, TEL_READ_SIZE, PIPE_READ);
	if (s->nahead > 0 && strcmp(src->name, "-") == 0) {
		src->ahead = s->ahead;
		src->nahead = s->nahead;
		s->nahead = 0;
		st = tel_reader_open_callback(src->reader, source_read, src,
		    src->name);
	} else {
		st = source_open_log(src, src->reader);
	}
	if (st == TEL_OK)
		return 1;
	source_failed(src, st, tel_reader_error(src->reader));
	tel_reader_free(src->reader);
	src->reader = NULL;
	return 0;
}
