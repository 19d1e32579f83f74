/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A line of a kernel's trace:
 *
 *	COMM PID [CPU] TIME: [PERIOD] SYSTEM:EVENT: FIELDS	(perf script)
 *	COMM-PID [CPU] FLAGS TIME: EVENT: FIELDS		(trace-cmd, kernel)
 *	COMM PID [CPU] PERIOD EVENT:				(perf script)
 *	TIME (DURATION ms): COMM/TID CALL(FIELDS) = RET		(perf trace)
 */
#include <stdio.h>

#include "format/ftrace/calls.h"
#include "format/ftrace/text.h"

/*
 * Where " Latency: 12.345 usecs" starts, which trace-cmd report -w has behind a
 * switch, or end.
 */
static const char *
find_latency(const struct ft_line *l, const char *p, const char *end,
    uint64_t *ns)
{
	const char *unit = word_start(p, end), *number, *name;

	if (strcmp(l->name, "sched_switch") != 0 ||
	    !starts_with(unit, end, "usecs"))
		return end;
	number = word_start(p, trim_blanks(p, unit));
	name = word_start(p, trim_blanks(p, number));
	if (!starts_with(name, end, "Latency: "))
		return end;
	if (read_thousandths(number, unit, ns) != unit - 1)
		return end;
	return trim_blanks(p, name);
}

/* A name of the n bytes at p, with what no name has as underscores. */
static void
copy_name(char name[FT_NAME_MAX + 1], const char *p, size_t n)
{
	if (n > FT_NAME_MAX)
		n = FT_NAME_MAX;
	for (size_t i = 0; i < n; i++)
		name[i] = (char)(tel_is_letter(p[i]) ||
		            (i > 0 && tel_is_digit(p[i])) ?
		        p[i] :
		        '_');
	name[n] = '\0';
}

void
tel__ft_take_name(struct ft_line *l, const char *p, size_t n)
{
	const char *colon = memchr(p, ':', n);
	size_t behind = colon != NULL ? (size_t)(p + n - colon) - 1 : 0;

	if (behind > 0 && strspn(colon + 1, "ukhpPSDGHIeW") < behind) {
		copy_name(l->system, p, (size_t)(colon - p));
		copy_name(l->name, colon + 1, behind);
	} else {
		copy_name(l->system, "event", 5);
		copy_name(l->name, p, colon != NULL ? (size_t)(colon - p) : n);
	}
}

/*
 * A system call in the kernel's own trace, "sys_NAME(KEY: VALUE, ...)" or
 * "sys_NAME -> VALUE", is named as the event is, and perf has it.  1, or 0: it is
 * something else; p: where its first word ends.
 */
static int
take_system_call(struct ft_line *l, const char *name, const char *p,
    const char *end)
{
	const char *open = memchr(name, '(', (size_t)(p - name));
	const char *arrow = skip_blanks(p, end);
	const char *stop = open != NULL ? open : p;
	char full[FT_NAME_MAX + 1];

	if (open != NULL ? end[-1] != ')' : !starts_with(arrow, end, "-> "))
		return 0;
	const int n = snprintf(full, sizeof(full), "sys_%s_%.*s",
	    open != NULL ? "enter" : "exit",
	    (int)(stop - name < 44 ? stop - name - 4 : 40), name + 4);
	tel__ft_take_name(l, full, (size_t)n);
	if (open != NULL)
		tel__ft_take_fields(l, open + 1, end - 1);
	else
		tel__ft_add_field(l, "ret", 3, arrow + 3, end);
	return 1;
}

/*
 * Whether a line is the place of the frame before it, which perf prints with two
 * blanks: "  main.c:12", "  main+12" or "  a.so[12f0]".
 */
static int
is_source(const char *p, const char *end)
{
	const char *q = end;

	if (end - p < 4 || memcmp(p, "  ", 2) != 0 || p[2] == ' ')
		return 0;
	if (q[-1] == ']') {
		for (q--; tel__lines_digit[(unsigned char)q[-1]] < 16;)
			q--;
		return q[-1] == '[';
	}
	while (tel_is_digit(q[-1]))
		q--;
	return q < end && (q[-1] == ':' || q[-1] == '+');
}

/* A line without a time. */
static enum ft_kind
other_line(struct ft_line *l, const char *p, const char *end)
{
	static const char *const headers[] = { "cpus=", "version = ", "CPU ",
		"CPU:", "trace-cmd version",
		"Buffer: ", "buffer: ", "Average wakeup latency: ",
		"Maximum Latency: ", "Minimum Latency: ", "RT task timings:",
		"PERF_RECORD_FINISHED_" };
	const char *q = skip_blanks(p, end), *lost;
	const unsigned char *digits = (const unsigned char *)q;
	uint64_t address;

	/*
	 * "CPU:0 [LOST 12 EVENTS]", or "CPU:0 [12 EVENTS DROPPED]" of trace-cmd;
	 * or without a number
	 */
	lost = memchr(p, '[', (size_t)(end - p));
	if (lost != NULL && end[-1] == ']' &&
	    (starts_with(lost, end, "[LOST ") ||
	        (end - lost > 15 &&
	            memcmp(end - 15, "EVENTS DROPPED]", 15) == 0))) {
		lost += starts_with(lost, end, "[LOST ") ? 6 : 1;
		if (skip_digits(lost, end, &l->clock) == NULL || l->clock == 0)
			l->clock = 1;
		return FT_LOST;
	}
	/* of the decoder of a processor's trace, which has lost a part of it */
	if (*p == ' ' && starts_with(p, end, " instruction trace error ")) {
		l->clock = 1;
		return FT_LOST;
	}
	/* and what perf has of PERF_RECORD_NAMESPACES, and of instructions */
	if (q == end || is_source(p, end) || starts_with(p, end, "\t\t") ||
	    (*p == ' ' &&
	        (starts_with(p, end, " insn: ") ||
	            starts_with(p, end, " ilen: "))) ||
	    (*p == '\t' && end[-1] == ':'))
		return FT_BLANK;
	const int is_hex = lines_hex(&digits, &address);
	if (is_hex && *digits == '\t' &&
	    starts_with((const char *)digits, end, "\tinsn: "))
		return FT_BLANK;
	/* perf trace has no addresses */
	if ((q - p > 30 && end[-1] == ')') ||
	    ((q > p || end[-1] == ')') && is_hex &&
	        (*digits == ' ' || *digits == '\t' ||
	            digits == (const unsigned char *)end)) ||
	    starts_with(q, end, "=> "))
		return FT_CHAIN;
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		if (starts_with(p, end, headers[i]))
			return FT_SILENT;
	if (starts_with(p, end, " Summary of events:")) {
		l->want = "events, which perf trace prints without -s";
		l->at = (const unsigned char *)q;
		return FT_SUMMARY;
	}
	if (*p == '#')
		return FT_SILENT;
	l->want = "a time, as in \"12.345678:\"";
	l->at = (const unsigned char *)q;
	return FT_WRONG;
}

/*
 * "ffffffff815eb8eb __handle_mm_fault+0x20b ([kernel.kallsyms])", or "=> vfs_read+0x9d",
 * also with the address behind it.  Code without a name has that of its file,
 * which may end in " (deleted)".
 */
struct ft_text
tel__ft_frame(const unsigned char *from, const unsigned char *to)
{
	const char *end = trim_blanks((const char *)from, (const char *)to);
	const char *p = skip_blanks((const char *)from, end), *file = end, *q;
	const unsigned char *hex = (const unsigned char *)p;
	struct ft_text name;
	uint64_t number;

	if (starts_with(p, end, "=> ")) {
		p = skip_blanks(p + 3, end);
		/* "=> vfs_read+0x9d/0x120 <ffffffff81222333>" */
		q = word_start(p, end);
		if (q > p && *q == '<')
			file = end = trim_blanks(p, q);
	} else if (lines_hex(&hex, &number) && (*hex == ' ' || *hex == '\t'))
		p = skip_blanks((const char *)hex, end);
	if (end > p && end[-1] == ')')
		for (q = end - 1; q > p + 1 && file == end; q--)
			if (*q == '(' && q[-1] == ' ' &&
			    !starts_with(q, end, "(deleted))"))
				file = q;
	name.p = p;
	name.n = (size_t)(file - (file != end) - p);
	const char *stop = p + name.n;
	for (q = stop; q > p && tel__lines_digit[(unsigned char)q[-1]] < 16;
	     q--)
		;
	if (q > p + 3 && memcmp(q - 3, "/0x", 3) == 0)
		stop = q - 3;
	for (q = stop; q > p + 3 && tel__lines_digit[(unsigned char)q[-1]] < 16;
	     q--)
		;
	if (q > p + 3 && q < stop && memcmp(q - 3, "+0x", 3) == 0)
		name.n = (size_t)(q - 3 - p);
	if (file != end && name.n == 9 && memcmp(p, "[unknown]", 9) == 0 &&
	    end - file > 2 && file[1] != '[') {
		for (q = end - 1; q > file + 1 && q[-1] != '/'; q--)
			;
		name.p = q;
		name.n = (size_t)(end - 1 - q);
	}
	return name;
}

/*
 * What perf has of processes and of itself, "PERF_RECORD_FORK(1:1):(2:2)" or
 * "PERF_RECORD_LOST lost 3".
 */
static enum ft_kind
take_record(struct ft_line *l, const char *p, const char *end)
{
	const char *name = p, *lost;

	while (p < end && tel_is_word(*p))
		p++;
	tel__ft_take_name(l, name, (size_t)(p - name));
	p = skip_blanks(p + (p < end && *p == ':'), end);
	lost = skip_blanks(starts_with(p, end, "lost ") ? p + 5 : end, end);
	if (starts_with(name, end, "PERF_RECORD_LOST") && lost < end &&
	    skip_digits(lost, end, &l->clock) != NULL)
		return FT_LOST;
	tel__ft_add_field(l, "text", 4, p, end);
	return FT_EVENT;
}

/* Adds a field that is text whatever it looks like. */
static void
line_add_function(struct ft_line *l, const char *name, const char *p,
    const char *end)
{
	struct ft_field *f = &l->fields[l->nfields];

	if (tel__ft_add_field(l, name, strlen(name), p, end))
		f->datatype = TEL_STRING;
}

/*
 * What the function tracer prints of a call, "FUNC <-CALLER", or trace-cmd, "FUNC
 * <-- CALLER"; alone: the caller may be missing.  1, or 0: it is something else.
 */
static int
take_function(struct ft_line *l, const char *p, const char *end, int alone)
{
	const char *caller = word_start(p, end), *stop = end, *open;
	int dashes = 0;

	/* "CALLER [module]" */
	if (caller < end && *caller == '[')
		caller = word_start(p, trim_blanks(p, caller));
	if (starts_with(caller, end, "<-") && end - caller > 2 &&
	    caller[2] != '-') {
		stop = trim_blanks(p, caller);
		caller += 2;
		dashes = 1;
	} else {
		open = word_start(p, trim_blanks(p, caller));
		if (starts_with(open, end, "<-- ")) {
			stop = trim_blanks(p, open);
			dashes = 1;
		}
	}
	if (stop == p || (!dashes && !alone))
		return 0;
	/* arguments, or a module, may be behind the name */
	open = memchr(p, stop[-1] == ')' ? '(' : ' ', (size_t)(stop - p));
	if (open == p || (stop[-1] == ')' && open == NULL) ||
	    (stop[-1] != ')' && open != NULL && open[1] != '['))
		return 0;
	if (stop[-1] != ')')
		open = stop;
	tel__ft_take_name(l, "function", 8);
	line_add_function(l, "func", p, open);
	if (dashes)
		line_add_function(l, "caller", caller, end);
	if (open < stop - 2)
		line_add_function(l, "args", open + 1, stop - 1);
	return 1;
}

/* Takes the event at p: "[PERIOD] SYSTEM:EVENT: FIELDS". */
static enum ft_kind
line_take_event(struct ft_line *l, const char *q, const char *end)
{
	const char *name;
	uint64_t period, latency = 0;

	l->event.p = q;
	l->event.n = (size_t)(end - q);
	if (starts_with(q, end, FT_RECORD))
		return take_record(l, q, end);
	if (q < end && tel_is_digit(*q)) {
		name = skip_digits(q, end, &period);
		if (name != NULL && name < end && *name == ' ') {
			tel__ft_add_field(l, "period", 6, q, name);
			q = skip_blanks(name, end);
		}
	}
	for (name = q; q < end && *q != ' ' && *q != '\t';)
		q++;
	if (starts_with(name, q, "sys_") && take_system_call(l, name, q, end))
		return FT_EVENT;
	if (q > name + 1 && q[-1] == ':' && tel_is_letter(*name)) {
		tel__ft_take_name(l, name, (size_t)(q - 1 - name));
		if (l->name[0] == 'f' && strncmp(l->name, "func", 4) == 0 &&
		    (tel__ft_graph_event(l, q, end) ||
		        (strcmp(l->name, "function") == 0 &&
		            take_function(l, skip_blanks(q, end), end, 1))))
			return FT_EVENT;
	} else {
		/* what the kernel's tracers print, or a program */
		const char *const word = starts_with(name, end, FT_STACK) ?
		    "kernel_stack" :
		    starts_with(name, end, FT_USER_STACK) ? "user_stack" :
		                                            "print";
		if (*word == 'p' && take_function(l, name, end, 0))
			return FT_EVENT;
		tel__ft_take_name(l, word, strlen(word));
		q = name;
	}
	const char *stop = find_latency(l, q, end, &latency);
	tel__ft_take_fields(l, skip_blanks(q, stop), stop);
	if (stop < end)
		tel__ft_add_number(l, "latency", TEL_UNSIGNED, TEL_UNIT_NS,
		    latency);
	tel__ft_complete_fields(l);
	return FT_EVENT;
}

/*
 * Whether the first column of a line, at p, may be that of a graph.  One that is
 * blank is wide, and that of a table is not; older kernels have a bar before a
 * switch.
 */
static int
may_be_graph(const char *line, const char *p, const char *end)
{
	if (*p == '|')
		return p - line >= 10 || tel_is_digit(*skip_blanks(p + 1, end));
	if (*p >= 'A')
		return 0;
	if (!tel_is_digit(*p))
		return *p == '-' || *p == '+' || *p == '!' || *p == '#' ||
		    *p == '*' || *p == '@' || *p == '$';
	while (p < end && tel_is_digit(*p))
		p++;
	return p < end && (*p == ')' || *p == '.' || *p == ' ');
}

enum ft_kind
tel__ft_line(struct ft_line *l, const unsigned char *from,
    const unsigned char *to)
{
	const char *p = (const char *)from, *end = (const char *)to;
	const char *q, *name;
	enum ft_kind kind;

	l->nfields = l->nlabels = 0;
	l->frame = NULL;
	l->graph.is = FT_NO_CALL;
	l->call.is = FT_WHOLE;
	end = trim_blanks(p, end);
	if (p == end || *p == '#')
		return p == end ? FT_BLANK : FT_SILENT;
	q = skip_blanks(p, end);
	if (may_be_graph(p, q, end)) {
		l->event.p = q;
		l->event.n = (size_t)(end - q);
		kind = tel__ft_graph_line(l, q, end);
		if (kind == FT_EVENT && l->graph.is == FT_INSIDE)
			return line_take_event(l, l->event.p,
			    l->event.p + l->event.n);
		if (kind != FT_WRONG)
			return kind;
		l->nfields = l->nlabels = 0;
		l->graph.is = FT_NO_CALL;
	}
	if ((tel_is_digit(*q) || *q == '?') && tel__ft_traced(l, q, end))
		return FT_EVENT;
	l->nfields = l->nlabels = 0;
	kind = tel__ft_head(l, q, end, &q);
	if (kind != FT_EVENT)
		return kind == FT_WRONG ? kind : other_line(l, p, end);
	q = skip_blanks(q, end);
	/* the time since the event before, of trace-cmd */
	if (starts_with(q, end, "(+") &&
	    (name = memchr(q, ')', (size_t)(end - q))) != NULL)
		q = skip_blanks(name + 1, end);
	return line_take_event(l, q, end);
}
