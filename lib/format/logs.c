/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The logs of an input: how the format of one is detected, how it starts and
 * ends, and which log follows it.
 */
#include "format/logs.h"
#include "base/hash.h"
#include "io/fileset.h"
#include "model/history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
tel__reader_close_format(struct tel_reader *r)
{
	if (r->state != NULL && r->format->close != NULL)
		r->format->close(r);
	free(r->state);
	r->format = NULL;
	r->state = NULL;
	r->log.preamble = r->log.tail = NULL;
	r->log.preamble_size = r->log.tail_size = 0;
}

void
tel__reader_close_log(struct tel_reader *r)
{
	tel__reader_close_format(r);
	tel__metadata_clear(&r->metadata);
	tel__labels_free(r->log.labels);
	tel__clock_free(r->log.clock);
	tel__history_free(r->log.history);
	r->log.labels = NULL;
	r->log.clock = NULL;
	r->log.history = NULL;
}

void
tel__reader_begin_coming(struct tel_reader *r)
{
	const struct tel_format_ops *format = r->format;
	void *state = r->state;

	r->format = r->ended.format;
	r->state = r->ended.state;
	tel__reader_close_log(r);
	free(r->ended.name);
	r->ended.name = NULL;
	r->format = format;
	r->state = state;
	r->log = r->next_log;
	memset(&r->next_log, 0, sizeof(r->next_log));
	r->at = READER_LOG;
	tel__reader_pass_log(r);
}

void
tel__reader_pass_log(struct tel_reader *r)
{
	if (r->at == READER_LOG && tel_reader_wants_none(r) &&
	    tel__reader_is_archive(r) && r->format->keeps_schema)
		r->at = READER_PASSED;
}

/*
 * Asks those formats of a stage that have a bit in left, which is cleared of one
 * that looked at all it wants; *best is the one that was the surest so far.
 */
static void
ask(struct tel_reader *r, enum tel_stage stage,
    const struct tel_format_ops **best, uint64_t *left)
{
	const struct tel_format_ops *f;
	unsigned i;

	for (i = 0; i < r->formats->count && r->best_score < 100; i++) {
		const uint64_t bit = UINT64_C(1) << i;
		if (r->formats->rows[i].stage != stage || !(*left & bit))
			continue;
		r->format = f = r->formats->rows[i].format;
		r->probe_cut = 0;
		int score = f->probe != NULL ? f->probe(r) : 0;
		if (!r->probe_cut)
			*left &= ~bit;
		if (score > r->best_score) {
			r->best_score = score;
			*best = f;
		}
	}
}

/*
 * Asks the formats of lines: all of them of the first line, then of those that
 * start in at least twice as many bytes, and so on: none waits for lines of a pipe
 * that another one knows.
 */
static void
ask_lines(struct tel_reader *r, const struct tel_format_ops **best)
{
	uint64_t left = UINT64_MAX;

	r->probe_most = 1;
	while (*best == NULL && r->probe_most <= TEL_PROBE_SIZE) {
		for (int stage = STAGE_LINES; stage < STAGES; stage++)
			ask(r, (enum tel_stage)stage, best, &left);
		do
			r->probe_most *= 2;
		while (r->probe_most <= r->probe_cut);
	}
	r->probe_most = 0;
}

/* The start may be damaged, or gone.  What no format knows may still be one. */
static void
ask_damaged(struct tel_reader *r, const struct tel_format_ops **best)
{
	const struct tel_format_ops *f;

	for (unsigned i = 0; i < r->formats->count && *best == NULL; i++) {
		r->format = f = r->formats->rows[i].format;
		if (f->probe_damaged != NULL && f->probe_damaged(r) > 0)
			*best = f;
	}
}

/* What prints the events of a file that is in a tool's own form; NULL: unknown. */
static const char *
printed_by(const struct tel_reader *r)
{
	static const struct {
		const char *magic, *tool;
	} own[] = {
		{ "PERFILE2", "perf script" },
		{ "\x17\x08\x44tracing", "trace-cmd report" },
	};

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		const size_t n = strlen(own[i].magic);
		if ((size_t)(r->end - r->p) >= n &&
		    memcmp(r->p, own[i].magic, n) == 0)
			return own[i].tool;
	}
	return NULL;
}

/* Detects the format of the log that the files of a folder are. */
static tel_status
detect_set(struct tel_reader *r, const struct tel_format_ops **out)
{
	for (unsigned i = 0; i < r->formats->count; i++) {
		*out = r->formats->rows[i].format;
		if ((*out)->claims != NULL && (*out)->claims(r->set))
			return TEL_OK;
	}
	return tel__reader_fail(r, TEL_EFORMAT,
	    "a folder that is not a CTF trace: no file in it is called "
	    "metadata");
}

/* Detects the format of the log that starts at r->p. */
static tel_status
detect(struct tel_reader *r, const struct tel_format_ops **out)
{
	const struct tel_format_ops *best = NULL;
	uint64_t left = UINT64_MAX;

	if (r->as != NULL)
		best = tel__format_find(r->formats, r->as);
	if (best != NULL) {
		*out = best;
		return TEL_OK;
	}
	if (r->set != NULL && !tel__reader_is_archive(r))
		return detect_set(r, out);
	tel__reader_fill(r, 1);
	if (r->p == r->end)
		return tel__reader_fail(r,
		    r->input_status != TEL_OK ? r->input_status : TEL_EFORMAT,
		    "%s",
		    r->input_status != TEL_OK ? tel__input_error(r->in) :
		                                "the input is empty");
	/* by its first bytes, so that a short one of a pipe is not waited for */
	static const char text[] = "# teltools text ";
	const size_t n = sizeof(text) - 1;
	if (r->p[0] == text[0])
		tel__reader_fill(r, n);
	int stage = (size_t)(r->end - r->p) >= n && memcmp(r->p, text, n) == 0 ?
	    STAGE_LINES :
	    STAGE_MAGIC;
	r->best_score = 0;
	for (; stage < STAGE_LINES; stage++)
		ask(r, (enum tel_stage)stage, &best, &left);
	ask_lines(r, &best);
	if (best == NULL)
		ask_damaged(r, &best);
	if (best == NULL && r->as != NULL)
		best = tel__format_of_schema(r->formats, r->as);
	r->format = NULL;
	const char *tool = printed_by(r);
	if (best == NULL && tool != NULL)
		return tel__reader_fail(r, TEL_EFORMAT,
		    "not a log, but what '%s' prints of it is one", tool);
	if (best == NULL)
		return tel__reader_fail(r, TEL_EFORMAT,
		    "unknown format: not an MPS stream, a log of another "
		    "supported system, or text of telcat or the MPS's tools");
	*out = best;
	return TEL_OK;
}

/* Opens the log that starts at r->p. */
static tel_status
open_detected(struct tel_reader *r)
{
	const struct tel_format_ops *format = NULL;
	tel_status st = detect(r, &format);

	r->format = NULL;
	if (st != TEL_OK)
		return st;
	if (!tel__reader_is_archive(r) && !tel_reader_shares(r))
		tel__reader_free_caches(r, format);
	r->format = format;
	r->as_schema = NULL;
	if (r->as != NULL && tel__format_of_schema(r->formats, r->as) != NULL)
		r->as_schema = r->as;
	if (format->state_size > 0)
		r->state = calloc(1, format->state_size);
	if (format->state_size > 0 && r->state == NULL)
		return TEL_ENOMEM;
	return format->open(r);
}

/* Forgets the events that were found; makes room for some.  1, or 0. */
static int
clear_batch(struct tel_reader *r)
{
	struct tel_batch *new;

	if (r->batch == &r->shared->none) {
		new = calloc(1, sizeof(*new));
		if (new == NULL)
			return 0;
		for (uint32_t i = 0; i < TEL_RUN_MAX; i++)
			new->ordinals[i] = i;
		r->batch = new;
	}
	r->batch->count = r->batch->next = 0;
	return 1;
}

tel_status
tel__reader_begin_log(struct tel_reader *r, const char *name)
{
	struct tel_schema *before = r->log.schema;

	tel__reader_close_log(r);
	r->p = r->end = NULL;
	r->peeked = 0;
	r->offset = tel__input_offset(r->in);
	r->back = 0;
	r->eof = 0;
	r->input_status = TEL_OK;
	r->log.name = name;
	r->log.schema = NULL;
	r->log.metadata = &r->metadata;
	r->log.lost = 0;
	r->log.labels = tel__labels_new(r->max_labels);
	r->log.clock = tel__clock_new();
	memcpy(r->count_before, r->count, sizeof(r->count));
	r->told_before = r->told;
	r->notices = 0;
	r->timeless = 1;
	memset(&r->progress, 0, sizeof(r->progress));
	memset(&r->event, 0, sizeof(r->event));
	r->event.log = &r->log;
	if (r->log.labels == NULL || r->log.clock == NULL || !clear_batch(r))
		return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
	tel__clock_set_rate(r->log.clock, r->tick_rate);
	tel_status st = open_detected(r);
	if (st != TEL_OK) {
		/* a reader that was opened has a schema */
		r->log.schema = before;
		return st;
	}
	if (r->log.schema != NULL && !r->log.schema->given)
		tel__reader_give_roles(r, r->log.schema);
	r->log.format = r->format->name;
	r->log.number = (unsigned)r->count[TEL_COUNT_LOGS]++;
	r->log.id = tel__hash_seed(r);
	r->log.merged = r->parent != NULL;
	return TEL_OK;
}

/*
 * Keeps a member of an archive that no format knows: it may be of a log whose
 * other files come later.
 */
static tel_status
keep_member(struct tel_reader *r, const char *name)
{
	struct tel_fault fault = { TEL_OK, 0, "" };

	if (r->set == NULL && (r->set = tel__fileset_new()) == NULL)
		return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
	tel_status st = tel__fileset_add(r->set, r->in, name, &fault);
	if (st == TEL_EDAMAGED)
		return tel__reader_damage(r, 0, 0, "%s: %s", name, fault.text);
	return st == TEL_OK ? st : tel__reader_fail(r, st, "%s", fault.text);
}

tel_status
tel__reader_begin_member(struct tel_reader *r)
{
	char text[sizeof(r->error)];
	const char *member;

	for (;;) {
		tel_status st = tel__input_next_member(r->in, &member);

		if (st == TEL_END)
			return st;
		if (st == TEL_EDAMAGED) {
			r->log.name = r->name;
			st = tel__reader_damage(r, 0, 0, "%s%s%s", member,
			    *member != '\0' ? ": " : "",
			    tel__input_error(r->in));
			if (st == TEL_OK)
				continue;
			return st;
		}
		if (st != TEL_OK)
			return tel__reader_fail(r, st, "%s",
			    tel__input_error(r->in));
		free(r->member_name);
		size_t n = strlen(r->name) + strlen(member) + 2;
		r->member_name = malloc(n);
		if (r->member_name == NULL)
			return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
		snprintf(r->member_name, n, "%s:%s", r->name, member);
		st = tel__reader_begin_log(r, r->member_name);
		if (st == TEL_EDAMAGED || st == TEL_EVERSION) {
			snprintf(text, sizeof(text), "%s", r->error);
			st = tel__reader_damage(r, 0, 0, "%s", text);
			if (st == TEL_OK)
				continue;
		}
		if (st != TEL_EFORMAT)
			return st;
		tel__reader_notice(r, TEL_INFO, 0, "skipped: %s", r->error);
		st = keep_member(r, r->member_name + strlen(r->name) + 1);
		if (st != TEL_OK)
			return st;
	}
}

/* Reading continues after damage: nothing from before it extends past it. */
static void
go_on_behind(struct tel_reader *r, uint64_t lost)
{
	r->offset += lost;
	r->p = r->end = NULL;
	r->peeked = r->back = 0;
	r->eof = 0;
	r->event.data = NULL;
	r->batch->count = r->batch->next = 0;
	r->log.tail = NULL;
	r->log.tail_size = 0;
}

tel_status
tel__reader_damage_input(struct tel_reader *r, uint64_t from, uint64_t lost,
    const char *text)
{
	return lost > 0 ?
	    tel__reader_damage(r, from, lost, "%s; %llu bytes are lost", text,
	        (unsigned long long)lost) :
	    tel__reader_damage(r, from, 0, "%s", text);
}

tel_status
tel__reader_end_log(struct tel_reader *r)
{
	tel_status st = r->input_status, resumed;
	uint64_t from = r->offset, lost;
	char text[sizeof(r->error)];

	if (st != TEL_OK) {
		r->input_status = TEL_OK;
		if (st != TEL_EDAMAGED)
			return tel__reader_fail(r, st, "%s",
			    tel__input_error(r->in));
		snprintf(text, sizeof(text), "%s", tel__input_error(r->in));
		tel__input_consume(r->in, r->peeked - (size_t)(r->end - r->p));
		resumed = tel__input_resume(r->in, &lost);
		st = tel__reader_damage_input(r, from, lost, text);
		go_on_behind(r, lost);
		if (st != TEL_OK || resumed == TEL_OK)
			return st;
	}
	return tel__input_is_archive(r->in) ? TEL_LOG : TEL_END;
}

tel_status
tel__reader_next_member(struct tel_reader *r)
{
	tel__input_consume(r->in, r->peeked - (size_t)(r->end - r->p));
	r->peeked = 0;
	r->p = r->end = NULL;
	tel_status st = tel__reader_begin_member(r);
	r->at = st == TEL_OK ? READER_LOG : READER_DONE;
	r->failed = st == TEL_END ? TEL_OK : st;
	return st;
}

/*
 * A log of several has ended: opens the next one.  What the events of the
 * ended one refer to stays until the next call.  TEL_LOG, TEL_END, a failure.
 */
static tel_status
next_log(struct tel_reader *r)
{
	struct tel_log log = r->log;

	r->ended.format = r->format;
	r->ended.state = r->state;
	r->ended.name = r->member_name;
	r->format = NULL;
	r->state = r->member_name = NULL;
	memset(&r->log, 0, sizeof(r->log));
	tel_status st = tel__reader_next_member(r);
	if (st == TEL_OK) {
		r->next_log = r->log;
		r->log = log;
		r->at = READER_BETWEEN;
		return TEL_LOG;
	}
	tel__reader_close_log(r);
	r->log = log;
	r->format = r->ended.format;
	r->state = r->ended.state;
	return st;
}

tel_status
tel__reader_finish_log(struct tel_reader *r, tel_status st)
{
	if (st == TEL_LOG)
		st = next_log(r);
	if (st == TEL_LOG)
		return st;
	r->at = READER_DONE;
	tel__reader_shut_schemas(r);
	/* of an archive that was split this reader has the last member */
	if (r->parent == NULL && (st == TEL_END || r->split != NULL) &&
	    !tel__reader_at_limit(r))
		tel__reader_report_roles(r);
	if (st < 0)
		r->failed = st;
	return st;
}
