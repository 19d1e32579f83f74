/* SPDX-License-Identifier: BSD-2-Clause */
/* Which events are selected. */
#include "select.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "message.h"
#include "number.h"
#include "options.h"
#include "tel/run.h"

int
selection_begin(struct selection *s)
{
	memset(s, 0, sizeof(*s));
	s->count = UINT64_MAX;
	s->filter = tel_filter_new();
	if (s->filter != NULL)
		return 1;
	return message_no_memory();
}

void
selection_free(struct selection *s)
{
	tel_filter_free(s->filter);
	s->filter = NULL;
	free(s->types);
	free(s->kinds);
	free(s->where);
	s->types = s->kinds = s->where = NULL;
}

/* The option whose argument text is. */
static const char *
option_of(const struct selection *s, const char *text)
{
	if (s->types != NULL && strcmp(text, s->types) == 0)
		return "-e";
	if (s->kinds != NULL && strcmp(text, s->kinds) == 0)
		return "-k";
	if (s->since != NULL && strcmp(text, s->since) == 0)
		return "--since";
	if (s->until != NULL && strcmp(text, s->until) == 0)
		return "--until";
	return s->where != NULL && strcmp(text, s->where) == 0 ? "-w" : "";
}

void
selection_report_error(const struct selection *s, tel_status st,
    const char *option)
{
	const char *text = tel_filter_error_text(s->filter);

	if (option == NULL || text == NULL)
		option = text == NULL ? "" : option_of(s, text);
	(void)message_refused(st, option, text,
	    tel_filter_error_column(s->filter), tel_filter_error(s->filter));
}

/*
 * Reads a range both ends of which are percentages, or left out.  Returns 1, or
 * 0 when it is invalid.
 */
static int
parse_percent(struct selection *s, const char *text)
{
	const char *comma = strchr(text, ',');
	char from[32];

	if (comma == NULL || strchr(text, '%') == NULL ||
	    (size_t)(comma - text) >= sizeof(from))
		return 0;
	memcpy(from, text, (size_t)(comma - text));
	from[comma - text] = '\0';
	s->from = 0;
	s->to = 1000000000;
	return (from[0] == '\0' || number_percent(from, &s->from)) &&
	    (comma[1] == '\0' || number_percent(comma + 1, &s->to));
}

/* Notes from where a range of time counts. */
static void
note_range(struct selection *s, const char *text)
{
	tel_filter *f = tel_filter_new();

	/* no number has these letters, except for its unit */
	s->seconds |= strpbrk(text, "smh") != NULL;
	/* its caller reports what it lacks */
	s->counted |= f == NULL || tel_filter_set_time(f, text) != TEL_OK ||
	    tel_filter_uses(f, TEL_USE_OTHERS);
	tel_filter_free(f);
}

/* Takes a range of all logs; option: what gives it, for a message. */
static tel_status
set_range(struct selection *s, const char *option, const char *text)
{
	s->ranged = 1;
	s->percent = parse_percent(s, text);
	s->seconds = s->counted = 0;
	note_range(s, text);
	if (!s->percent)
		return tel_filter_set_time(s->filter, text);
	if (s->from <= s->to)
		return TEL_OK;
	message_fail(STATUS_USAGE, NULL,
	    "%s: '%s': the range ends before it starts", option, text);
	return TEL_END;
}

typedef tel_status set_fn(tel_filter *f, const char *text);

/* Adds names to the list of an option that was given before, or not. */
static tel_status
add_names(struct selection *s, char **list, set_fn *set, const char *option,
    const char *text)
{
	tel_status st = set(s->filter, text);

	/* alone, so that a message speaks of this argument only */
	if (st != TEL_OK)
		return st;
	text += strspn(text, ", \t\n");
	int negate = text[0] == '^';
	if (*list != NULL && ((*list)[0] == '^') != negate) {
		message_fail(STATUS_USAGE, NULL,
		    "%s: '%s' cannot be combined with '%s': use either a list "
		    "to select or, after '^', a list to exclude",
		    option, text, *list);
		return TEL_END;
	}
	if (!options_join(list, "", ",", *list != NULL ? text + negate : text,
	        ""))
		return TEL_ENOMEM;
	return set(s->filter, *list);
}

/* Narrows the selection to what another expression selects as well. */
static tel_status
add_where(struct selection *s, const char *text)
{
	tel_status st = tel_filter_set_expression(s->filter, text);

	if (st != TEL_OK)
		return st;
	if (!options_join(&s->where, "(", ") && (", text, ")"))
		return TEL_ENOMEM;
	return tel_filter_set_expression(s->filter, s->where);
}

/* A number is true of all events: refuses one where a condition is expected. */
static int
is_condition(const char *option, const char *text)
{
	const char *p = text;
	int digits = 0;

	/* numbers with their units, joined by arithmetic, name nothing */
	while (*p != '\0') {
		if (isdigit((unsigned char)*p)) {
			while (isalnum((unsigned char)*p) || *p == '.')
				p++;
			digits = 1;
		} else if (strchr("+-*/%() \t", *p) != NULL) {
			p++;
		} else {
			return 1;
		}
	}
	if (!digits)
		return 1;
	return message_fail(STATUS_USAGE, NULL,
	    "%s: '%s' is a number, and not a condition; did you mean "
	    "'time > %s'?",
	    option, text, text);
}

int
selection_option(struct selection *s, int id, const char *text)
{
	tel_status st = TEL_EINVAL;
	char letter[3] = { '-', (char)id, '\0' };
	const char *option = letter;

	if (id == OPTION_SINCE || id == OPTION_UNTIL)
		option = id == OPTION_SINCE ? "--since" : "--until";
	switch (id) {
	case 'k':
		st =
		    add_names(s, &s->kinds, tel_filter_set_kinds, option, text);
		break;
	case 'e':
		st =
		    add_names(s, &s->types, tel_filter_set_types, option, text);
		break;
	case 'w': st = add_where(s, text); break;
	case OPTION_SINCE:
		s->since = text;
		st = tel_filter_set_since(s->filter, text);
		break;
	case OPTION_UNTIL:
		s->until = text;
		st = tel_filter_set_until(s->filter, text);
		break;
	case 't': st = set_range(s, option, text); break;
	default: break;
	}
	s->filtering = 1;
	if (st == TEL_OK)
		return (id != 'w' && option == letter) ||
		    is_condition(option, text);
	/* TEL_END: after a message */
	if (st != TEL_END)
		selection_report_error(s, st, option);
	return 0;
}

int
selection_logs(struct selection *s, const char *log, const char *range)
{
	const tel_status st = set_range(s, log, range);

	s->filtering = 1;
	/* TEL_END: after a message */
	if (st != TEL_OK && st != TEL_END)
		selection_report_error(s, st, log);
	return st == TEL_OK;
}

int
selection_log(struct selection *s, const char *log, const char *range)
{
	if (strchr(range, '%') != NULL)
		return message_fail(STATUS_USAGE, log,
		    "'%s': a range in percent must be that of all operands, "
		    "without -t",
		    range);
	s->filtering = 1;
	note_range(s, range);
	tel_status st = tel_filter_add_log_time(s->filter, log, range);
	if (st != TEL_OK)
		selection_report_error(s, st, log);
	return st == TEL_OK;
}

const char *
selection_only_type(const struct selection *s)
{
	if (s->types == NULL || s->types[0] == '\0' ||
	    strpbrk(s->types, "*?[]\\^, \t") != NULL ||
	    (s->types[0] >= '0' && s->types[0] <= '9'))
		return NULL;
	return s->types;
}

int
selection_all(const struct selection *s)
{
	return !s->filtering && s->skip == 0 && s->count == UINT64_MAX;
}

int
selection_is_part(const struct selection *s)
{
	return s->filtering || s->skip > 0 || s->last > 0;
}

int
selection_bind(struct selection *s, const tel_schema *schema)
{
	if (!s->filtering)
		return 1;
	tel_status st = tel_filter_bind(s->filter, schema);
	if (st == TEL_OK)
		return 1;
	selection_report_error(s, st, NULL);
	return 0;
}

/* part of 10^9 of span, without passing 64 bits on the way. */
static uint64_t
common_select_share(uint64_t span, uint64_t part)
{
	const uint64_t whole = 1000000000;

	return span / whole * part + span % whole * part / whole;
}

void
selection_span(struct selection *s, uint64_t first, uint64_t last)
{
	tel_filter_set_clock(s->filter,
	    first + common_select_share(last - first, s->from),
	    first + common_select_share(last - first, s->to));
}

int
selection_uses_order(const struct selection *s)
{
	return s->skip > 0 || s->count != UINT64_MAX ||
	    (s->filtering &&
	        (s->since != NULL || s->until != NULL ||
	            tel_filter_uses(s->filter, TEL_USE_LABELS) ||
	            tel_filter_uses(s->filter, TEL_USE_ORDER)));
}

int
selection_uses_first(const struct selection *s)
{
	return s->percent || s->counted;
}

int
selection_needs_rate(const struct selection *s)
{
	return s->filtering && tel_filter_uses(s->filter, TEL_USE_RATE);
}

void
selection_narrow(const struct selection *s, tel_reader *r, const tel_event *ev)
{
	uint64_t first, last;

	/* the length of a second may depend on every sync point of the log */
	if (s->filtering && !s->whole && !selection_needs_rate(s) &&
	    tel_filter_clocks(s->filter, ev, &first, &last))
		tel_reader_set_range(r, first, last);
}

void
selection_attach(const struct selection *s, tel_reader *r, int whole,
    int settled)
{
	if (s->filtering && !s->whole && (settled || !selection_needs_rate(s)))
		tel_filter_attach(s->filter, r, whole);
}

int
selection_match(struct selection *s, const tel_event *ev)
{
	if (s->filtering) {
		int wanted = tel_filter_match(s->filter, ev);

		if (wanted < 0)
			selection_report_error(s, TEL_EINVAL, NULL);
		if (wanted <= 0)
			return wanted;
	}
	return s->matched++ >= s->skip;
}

int
selection_run(struct selection *s, tel_run *run)
{
	tel_status st = s->filtering ? tel_filter_run(s->filter, run) : TEL_OK;

	s->matched += tel_run_count(run);
	if (st == TEL_OK)
		return 1;
	selection_report_error(s, TEL_EINVAL, NULL);
	return 0;
}

int
selection_type(const struct selection *s, const tel_type *type)
{
	return !s->filtering || tel_filter_type(s->filter, type) != 0;
}

int
selection_full(const struct selection *s)
{
	return s->count == 0 ||
	    (s->matched >= s->skip && s->matched - s->skip >= s->count);
}
