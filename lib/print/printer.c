/* SPDX-License-Identifier: BSD-2-Clause */
/* The printer's handle: its options, and from log to log. */
#include <limits.h>
#include <regex.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/getter.h"
#include "model/run.h"
#include "print/registry.h"
#include "print/render_pool.h"
#include "print/values.h"
#include "query/suggest.h"
#include "tel/run.h"

tel_printer *
tel_printer_new(tel_output *out, tel_format format)
{
	const struct tel_renderer *renderer =
	    tel__print_renderer((unsigned)format);
	struct tel_printer *pr;

	if (renderer == NULL)
		return NULL;
	pr = calloc(1, sizeof(*pr));
	if (pr == NULL)
		return NULL;
	pr->out = out;
	pr->renderer = renderer;
	pr->header = 1;
	pr->max_size = TEL_PAGE_SIZE;
	pr->put_value = tel__values_put;
	memset(pr->clock_text, '0', sizeof(pr->clock_text));
	return pr;
}

static void
free_names(struct tel_printer *pr)
{
	for (unsigned i = 0; i < pr->nnames; i++) {
		free(pr->names[i].text);
		tel_expr_free(pr->names[i].expr);
	}
	free(pr->names);
	pr->names = NULL;
	pr->nnames = 0;
	pr->names_room = 0;
}

/* Frees what the renderer has made. */
static void
printer_release(struct tel_printer *pr)
{
	if (pr->state != NULL && pr->renderer->release != NULL)
		pr->renderer->release(pr);
	free(pr->state);
	pr->state = NULL;
	tel__render_free_caches(pr);
}

void
tel_printer_free(tel_printer *p)
{
	if (p == NULL)
		return;
	tel__render_pool_free(p->render_pool);
	printer_release(p);
	tel__buffer_clear(&p->list);
	free_names(p);
	free(p->columns);
	free(p->index);
	free(p->database);
	free(p->allocators);
	free(p);
}

TEL__GETTER(const char *, tel_printer_error, tel_printer, error)
TEL__GETTER(int, tel_printer_misnamed, tel_printer, misnamed)

/* ------------------------------------------------------------- options */

/* Nonzero when the format has one layout, whatever one would like to see. */
static int
is_fixed(const struct tel_printer *pr)
{
	return (pr->renderer->flags & TEL_PRINTER_FIELDS) == 0;
}

tel_status
tel_printer_set_format(tel_printer *p, const char *name)
{
	const struct tel_renderer *renderer = tel__print_find(name);

	if (p->started)
		return TEL_ESTATE;
	if (renderer == NULL)
		return tel__render_fail(p, "unknown output format '%.64s'",
		    name);
	/* a first event that failed may have left something */
	printer_release(p);
	p->renderer = renderer;
	return TEL_OK;
}

static tel_status
printer_set_time(struct tel_printer *p, int64_t form)
{
	switch (form) {
	case TEL_TIME_TICKS: break;
	case TEL_TIME_SECONDS:
	case TEL_TIME_NS:
	case TEL_TIME_RELATIVE:
	case TEL_TIME_DELTA:
	case TEL_TIME_ISO:
		if (!is_fixed(p))
			break;
		return tel__render_fail(p,
		    "the format shows time in ticks only");
	default: return tel__render_fail(p, "unknown time format");
	}
	p->time = (tel_time_form)form;
	return TEL_OK;
}

static tel_status
printer_set_max_size(struct tel_printer *p, int64_t bytes)
{
	if ((p->renderer->flags & TEL_PRINTER_PAGE) == 0)
		return tel__render_fail(p, "the format makes no page");
	if (bytes < (int64_t)TEL_PAGE_MIN)
		return tel__render_fail(p, "a page needs %llu bytes at least",
		    (unsigned long long)TEL_PAGE_MIN);
	p->max_size = (uint64_t)bytes;
	return TEL_OK;
}

static tel_status
printer_set_zstd(struct tel_printer *p, int64_t level)
{
	if ((p->renderer->flags & TEL_PRINTER_TABLE) == 0)
		return tel__render_fail(p,
		    "the format has no compression of its own");
	if (level < 1 || level > 19)
		return tel__render_fail(p, "invalid level of compression");
	p->level = (int)level;
	return TEL_OK;
}

tel_status
tel_printer_set(tel_printer *p, tel_printer_option option, int64_t value)
{
	int *const flags[] = {
		[TEL_PRINT_HEADER] = &p->header,
		[TEL_PRINT_COLOR] = &p->color,
		[TEL_PRINT_TERMINAL] = &p->terminal,
		[TEL_PRINT_FOOTER] = &p->footer,
	};

	if (p->started)
		return TEL_ESTATE;
	switch (option) {
	case TEL_PRINT_COLOR:
		value =
		    value != 0 && (p->renderer->flags & TEL_PRINTER_COLOR) != 0;
		/* FALLTHROUGH */
	case TEL_PRINT_HEADER:
	case TEL_PRINT_TERMINAL:
	case TEL_PRINT_FOOTER: *flags[option] = value != 0; return TEL_OK;
	case TEL_PRINT_TIME: return printer_set_time(p, value);
	case TEL_PRINT_ZSTD: return printer_set_zstd(p, value);
	case TEL_PRINT_MAX_SIZE: return printer_set_max_size(p, value);
	case TEL_PRINT_WIDE:
		if ((p->renderer->flags & TEL_PRINTER_WIDE) == 0)
			return TEL_EINVAL;
		p->wide = value != 0;
		return TEL_OK;
	case TEL_PRINT_THREADS:
		if (value < 1 || value > UINT_MAX)
			return TEL_EINVAL;
		p->threads = (unsigned)value;
		return TEL_OK;
	}
	return TEL_EINVAL;
}

/* Where a name ends: at a comma outside of parentheses and strings. */
static size_t
printer_name_length(const char *s)
{
	unsigned depth = 0;
	char quote = 0;
	size_t i;

	for (i = 0; s[i] != '\0'; i++) {
		if (quote != 0 && s[i] == '\\' && quote == '"' &&
		    s[i + 1] != '\0')
			i++;
		else if (quote != 0)
			quote = s[i] == quote ? 0 : quote;
		else if (s[i] == '"' || s[i] == '\'')
			quote = s[i];
		else if (s[i] == '(')
			depth++;
		else if (s[i] == ')' && depth > 0)
			depth--;
		else if (s[i] == ',' && depth == 0)
			break;
	}
	return i;
}

/* Takes over the name of n bytes at s, without the blanks around it. */
static tel_status
printer_add_name(struct tel_printer *pr, const char *s, size_t n)
{
	const size_t blanks = strspn(s, " \t\n");

	s += blanks;
	n -= blanks;
	while (n > 0 && strchr(" \t\n", s[n - 1]) != NULL)
		n--;
	if (n == 0)
		return tel__render_fail(pr, "empty field name");
	for (unsigned i = 0; i < pr->nnames; i++)
		if (strlen(pr->names[i].text) == n &&
		    memcmp(pr->names[i].text, s, n) == 0)
			return tel__render_fail(pr, "duplicate field name");
	if (!TEL__RESERVE(pr->names, pr->names_room, pr->nnames + 1))
		return TEL_ENOMEM;
	struct render_name *name = &pr->names[pr->nnames];
	name->text = tel__copy_string(s, n);
	if (name->text == NULL)
		return TEL_ENOMEM;
	tel_status st = tel__values_add(pr, name->text, 0, &name->expr);
	pr->nnames++;
	/* a step has its number in a byte */
	if (name->expr != NULL && pr->nnames > UINT8_MAX)
		return tel__render_fail(pr,
		    "an expression must be one of the first %d fields",
		    UINT8_MAX);
	return st;
}

tel_status
tel_printer_set_fields(tel_printer *p, const char *names)
{
	size_t n;

	if (p->started)
		return TEL_ESTATE;
	if (is_fixed(p))
		return tel__render_fail(p, "the format shows all fields");
	free_names(p);
	p->names_given = names != NULL;
	if (names == NULL)
		return TEL_OK;
	for (;; names += n + 1) {
		n = printer_name_length(names);
		tel_status st = printer_add_name(p, names, n);
		if (st != TEL_OK) {
			free_names(p);
			p->names_given = 0;
			return st;
		}
		if (names[n] == '\0')
			return TEL_OK;
	}
}

/* Sets an option that is a text, or NULL. */
static tel_status
set_text(const tel_printer *p, char **option, const char *text)
{
	if (p->started)
		return TEL_ESTATE;
	char *copy = text != NULL ? strdup(text) : NULL;
	if (copy == NULL && text != NULL)
		return TEL_ENOMEM;
	free(*option);
	*option = copy;
	return TEL_OK;
}

tel_status
tel_printer_set_columns(tel_printer *p, const char *name)
{
	return set_text(p, &p->columns, name);
}

tel_status
tel_printer_set_index(tel_printer *p, const char *names)
{
	return set_text(p, &p->index, names);
}

tel_status
tel_printer_set_database(tel_printer *p, const char *path)
{
	return set_text(p, &p->database, path);
}

tel_status
tel_printer_set_allocators(tel_printer *p, const char *expression)
{
	regex_t regex;
	char why[128];
	int error;

	if (expression == NULL)
		return set_text(p, &p->allocators, NULL);
	error = regcomp(&regex, expression, REG_EXTENDED | REG_NOSUB);
	if (error == REG_ESPACE)
		return TEL_ENOMEM;
	if (error != 0) {
		(void)regerror(error, &regex, why, sizeof(why));
		return tel__render_fail(p, "%s", why);
	}
	regfree(&regex);
	return set_text(p, &p->allocators, expression);
}

tel_status
tel_printer_set_weight(tel_printer *p, tel_heap_weight weight)
{
	if (p->started)
		return TEL_ESTATE;
	if ((p->renderer->flags & TEL_PRINTER_WEIGHT) == 0)
		return tel__render_fail(p, "the format shows no stacks");
	p->weighted = 1;
	p->weight = weight;
	return TEL_OK;
}

tel_status
tel_printer_add_schema(tel_printer *p, const tel_schema *schema,
    const tel_filter *filter)
{
	return p->renderer->schema == NULL ?
	    TEL_OK :
	    p->renderer->schema(p, schema, filter);
}

void
tel_printer_set_file(tel_printer *p, uint64_t size, int64_t changed)
{
	p->file_size = size;
	p->file_changed = changed;
	p->fresh = 1;
}

void
tel_printer_set_damage(tel_printer *p, uint64_t places, uint64_t bytes)
{
	p->damaged = places;
	p->skipped = bytes;
}

/* ------------------------------------------------------------- events */

/* Whether the log can be shown at all. */
static tel_status
check_time(struct tel_printer *pr, const struct tel_log *log)
{
	int64_t ns;

	if (pr->time == TEL_TIME_ISO && !tel__clock_epoch(log->clock, &ns))
		return tel__render_fail(pr,
		    "the log does not record the wall clock");
	if (pr->time == TEL_TIME_ISO && !(tel__clock_rate(log->clock) > 0))
		return tel__render_fail(pr,
		    "the rate of the log's clock is unknown; set --tb-hz");
	if ((pr->time == TEL_TIME_SECONDS || pr->time == TEL_TIME_NS) &&
	    tel__clock_rate(log->clock) == 0)
		return tel__render_fail(pr,
		    "the log has fewer than two points of synchronisation; "
		    "set --tb-hz");
	return TEL_OK;
}

/* Reports a field that no type has, with those of similar names. */
static tel_status
unknown_field(struct tel_printer *pr, const struct tel_schema *schema,
    const char *name)
{
	struct suggestion near;
	tel_expr *x = tel_expr_new();
	char text[200];
	int valid = x != NULL && tel_expr_set(x, name) == TEL_OK;

	if (x != NULL && !valid && strpbrk(name, "()+*/<>=&|! ") != NULL)
		(void)tel__render_fail(pr, "'%.64s', column %u: %.60s", name,
		    tel_expr_error_column(x), tel_expr_error(x));
	else
		valid = 1;
	tel_expr_free(x);
	if (!valid)
		return TEL_EINVAL;
	tel__suggest_start(&near, name, strlen(name));
	for (unsigned i = 0; schema != NULL && i < schema->ntypes; i++)
		for (unsigned j = 0; j < schema->types[i].nfields; j++)
			tel__suggest_offer(&near,
			    schema->types[i].fields[j].name);
	return tel__render_fail(pr, "no event type has a field '%.64s'%s", name,
	    tel__suggest_text(&near, text, sizeof(text)));
}

/* A tel__type_fn of a name: whether the type has such a field. */
static int
shows_field(const struct tel_type *type, const void *name)
{
	return tel__render_find(type, name) >= 0;
}

/* A field that no type has is a mistake, but types of another log may have it. */
static tel_status
check_names(struct tel_printer *pr, const struct tel_schema *schema)
{
	tel_status st = TEL_OK;
	int any, missing = 0;

	for (unsigned i = 0; i < pr->nnames && st == TEL_OK; i++) {
		const char *name = pr->names[i].text;

		/* a step has the number of an expression in a byte */
		if (pr->names_given && pr->names[i].expr == NULL &&
		    i < UINT8_MAX && tel__values_derived(name, schema))
			st = tel__values_add(pr, name, 1, &pr->names[i].expr);
		if (st == TEL_OK && pr->names[i].expr != NULL)
			st = tel__values_check(pr, i, schema);
		else if (st == TEL_OK && !pr->names_known &&
		    strcmp(name, "bytes") != 0) {
			any = tel__schema_any(schema, shows_field, name);
			if (any == 0)
				st = unknown_field(pr, schema, name);
			pr->names[i].missing = any < 0 && schema->open;
			missing |= pr->names[i].missing;
		}
	}
	pr->names_known |= st == TEL_OK && !missing;
	pr->misnamed = st == TEL_EINVAL;
	return st;
}

/* The names that no type had by the end of a log that might have had more. */
static tel_status
check_missing_names(struct tel_printer *pr)
{
	for (unsigned i = 0; !pr->names_known && i < pr->nnames; i++)
		if (pr->names[i].missing) {
			tel_status st =
			    unknown_field(pr, NULL, pr->names[i].text);
			pr->misnamed = 1;
			return st;
		}
	return TEL_OK;
}

/* How many types of a schema are all of those that the last header named. */
static unsigned
known_types(const struct tel_printer *pr, const struct tel_schema *schema)
{
	const unsigned n = pr->shown_types;

	return n < schema->ntypes && schema->described &&
	        tel__schema_digest(schema, n) == pr->shown_digest ?
	    n :
	    0;
}

/*
 * The log of the event is not that of the event before.  Another file or
 * another member of an archive starts a log.  Logs that are merged do not, but
 * a change of the schema is printed.
 */
static tel_status
printer_set_log(struct tel_printer *pr, const struct tel_event *ev)
{
	const struct tel_log *log = ev->log;
	const struct tel_schema *schema = ev->type->schema;
	int begins = pr->fresh || pr->log == NULL ||
	    (log == pr->log && log->number != pr->number && !log->merged);

	const int same = log == pr->log && log->number == pr->number;

	if (begins)
		pr->has_previous = 0;
	if (pr->fresh)
		tel__render_free_caches(pr);
	pr->log = log;
	pr->number = log->number;
	tel_status st = check_time(pr, log);
	if (st == TEL_OK)
		st = check_names(pr, schema);
	if (st == TEL_OK)
		st = tel__render_set_schema(pr, schema);
	int named = st == TEL_OK && pr->shown_digest == pr->cache->digest &&
	    strcmp(pr->shown, schema->name) == 0;
	if (st == TEL_OK && (begins || !named)) {
		pr->known_types = !begins && same ? known_types(pr, schema) : 0;
		memcpy(pr->shown, schema->name, sizeof(pr->shown));
		pr->shown_digest = pr->cache->digest;
		pr->shown_types = schema->described ? schema->ntypes : 0;
		pr->continues = !begins;
		if (pr->renderer->begin_log != NULL)
			st = pr->renderer->begin_log(pr, ev);
	}
	/* without a log, the next event tries again */
	if (st == TEL_OK)
		pr->fresh = 0;
	else
		pr->log = NULL;
	return st;
}

/* ------------------------------------------------------------- threads */

/* Prints without threads from here on. */
static tel_status
printer_end_pool(struct tel_printer *pr)
{
	pr->threads = 0;
	tel_status st = tel__render_pool_flush(pr->render_pool);
	tel__render_pool_free(pr->render_pool);
	pr->render_pool = NULL;
	return st;
}

static int
printer_has_values(const struct tel_printer *pr)
{
	for (unsigned i = 0; i < pr->nnames; i++)
		if (pr->names[i].expr != NULL)
			return 1;
	return 0;
}

/*
 * The log, or its schema, is new to the threads.  Logs that are merged would
 * make that of every event, and times depend on the event before, or on the
 * clock, which goes on.
 */
static tel_status
pool_log(struct tel_printer *pr, const struct tel_log *log, int merged)
{
	/* what an expression tells of events before is not for threads */
	if (pr->threads < 2 || !pr->renderer->apart || printer_has_values(pr) ||
	    pr->time != TEL_TIME_TICKS || merged)
		return printer_end_pool(pr);
	if (pr->render_pool == NULL)
		pr->render_pool = tel__render_pool_new(pr, pr->threads);
	if (pr->render_pool == NULL ||
	    tel__render_pool_set_log(pr->render_pool, log) != TEL_OK)
		return printer_end_pool(pr);
	return TEL_OK;
}

tel_status
tel_printer_flush(tel_printer *p)
{
	tel_status st = tel__render_pool_flush(p->render_pool);

	if (st == TEL_OK && p->renderer->flush != NULL)
		st = p->renderer->flush(p);
	return st != TEL_OK ? st : tel_output_flush(p->out);
}

/* ------------------------------------------------------------- one by one */

/* The event is of another log than the one before it, or of another schema. */
static tel_status
change_log(struct tel_printer *pr, const struct tel_event *ev)
{
	const int merged = !pr->fresh && pr->log != NULL && pr->log != ev->log;

	if (pr->finished)
		return TEL_ESTATE;
	tel_status st = tel__render_pool_flush(pr->render_pool);

	if (st == TEL_OK)
		st = printer_set_log(pr, ev);
	if (st == TEL_OK && pr->threads > 0)
		st = pool_log(pr, ev->log, merged);
	if (st == TEL_OK)
		pr->started = 1;
	return st;
}

/* A sync point has the rate that was unknown at the header. */
static tel_status
tell_rate(struct tel_printer *pr, const struct tel_event *ev)
{
	tel_status st = tel__render_pool_flush(pr->render_pool);

	return st == TEL_OK ? pr->renderer->sync_point(pr, ev) : st;
}

/*
 * Nonzero when the log, or the schema, of an event is not that of the one before.
 * The log's own is that of what was read last, which may come later.
 */
static int
is_other(const struct tel_printer *pr, const struct tel_event *ev)
{
	const struct tel_log *log = ev->log;

	return log != pr->log || pr->fresh || ev->type->schema != pr->schema ||
	    log->number != pr->number;
}

tel_status
tel_printer_event(tel_printer *p, const tel_event *event)
{
	/* an output that failed may have room all the same */
	if (p->out->status != TEL_OK)
		return p->out->status;
	if (is_other(p, event)) {
		tel_status st = change_log(p, event);

		if (st != TEL_OK)
			return st;
	}
	if (p->rate_owed && event->type->role == TEL_ROLE_SYNC &&
	    p->renderer->sync_point != NULL) {
		tel_status st = tell_rate(p, event);

		if (st != TEL_OK)
			return st;
	}
	if (p->render_pool != NULL)
		return tel__render_pool_event(p->render_pool, event);
	return render_event(p, event);
}

/* Prints an event of a run but its first one. */
static inline tel_status
printer_render(struct tel_printer *p, const struct tel_event *ev)
{
	struct render_program *g = render_program_for(p, ev->type);

	return g == NULL ? TEL_ENOMEM : tel__render_run(p, g, ev);
}

tel_status
tel_printer_run(tel_printer *p, tel_run *run)
{
	tel_status st = TEL_OK;

	if (p->renderer->run != NULL && run->count > 0 &&
	    p->render_pool == NULL && p->out->status == TEL_OK &&
	    !p->rate_owed && !is_other(p, run_view(run, 0)))
		return p->renderer->run(p, run);
	if (p->renderer->run != NULL && run->count > 1) {
		st = tel_printer_event(p, run_event(run, 0));
		tel_run_drop(run, 1);
		return st == TEL_OK ? p->renderer->run(p, run) : st;
	}
	if (run->count == 0)
		return TEL_OK;
	/* the first may be of another log, or a point of synchronisation */
	st = tel_printer_event(p, run_event(run, 0));
	if (st == TEL_OK && run->count > 1 && p->render_pool != NULL) {
		tel_run_drop(run, 1);
		return tel__render_pool_run(p->render_pool, run);
	}
	if (p->renderer->event != NULL || p->columns != NULL) {
		for (size_t i = 1; i < run->count && st == TEL_OK; i++)
			st = tel_printer_event(p, run_event(run, i));
		return st;
	}
	/* an expression may be of an event's place, which a view lacks */
	if (printer_has_values(p))
		for (size_t i = 1; i < run->count && st == TEL_OK; i++)
			st = printer_render(p, run_event(run, i));
	else
		for (size_t i = 1; i < run->count && st == TEL_OK; i++)
			st = printer_render(p, run_view(run, i));
	return st;
}

tel_status
tel_printer_snapshot(tel_printer *p, tel_output *out, unsigned seconds)
{
	if (p->renderer->snapshot == NULL)
		return tel__render_fail(p, "the format makes no page");
	return p->renderer->snapshot(p, out, seconds);
}

tel_status
tel_printer_finish(tel_printer *p)
{
	tel_status st = tel__render_pool_flush(p->render_pool);

	if (st == TEL_OK && p->renderer->finish != NULL)
		st = p->renderer->finish(p);
	if (st == TEL_OK)
		st = check_missing_names(p);
	p->started = 1;
	p->finished = 1;
	p->log = NULL;
	return st != TEL_OK ? st : p->out->status;
}
