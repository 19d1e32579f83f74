/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of the kernel's function_graph tracer, all of whose columns but the last
 * may be missing:
 *
 *	TIME |   CPU)   COMM-PID    |  FLAGS |   DURATION    |  CALL
 *
 * DURATION is "MARK 12.345 us"; CALL is "func() {", "}" or "func();", or an event
 * as a comment, with two blanks before it for each call that it is in.
 */
#include "format/ftrace/ftrace.h"
#include "format/ftrace/text.h"

/* The least dashes of a line around a switch. */
#define RULE_MIN 20

/* "12.345 us" behind a mark, or nothing, from p to end: 1, or 0; *found: a time. */
static int
read_duration(const char *p, const char *end, uint64_t *ns, int *found)
{
	const char *point, *q;

	*found = 0;
	if (p == end)
		return 1;
	if (memchr("+!#*@$", *p, 6) != NULL)
		p = skip_blanks(p + 1, end);
	q = skip_digits(p, end, ns);
	if (q == NULL || q == p || *ns > UINT64_MAX / 1000 - 1)
		return 0;
	*ns *= 1000;
	if (q < end && *q == '.') {
		/* fewer digits, if there are many before the point */
		point = q++;
		for (uint64_t unit = 100; q < end && tel_is_digit(*q); q++) {
			*ns += unit * (uint64_t)(*q - '0');
			unit /= 10;
		}
		if (q - point > 4)
			return 0;
	}
	*found = 1;
	return end - q == 3 && memcmp(q, " us", 3) == 0;
}

/* Adds a field that is text whatever it looks like; its number. */
static unsigned
graph_add_text(struct ft_line *l, const char *name, const char *p,
    const char *end)
{
	const unsigned at = l->nfields;

	if (tel__ft_add_field(l, name, strlen(name), p, end)) {
		l->fields[at].datatype = TEL_STRING;
		l->fields[at].value.p = p;
		l->fields[at].value.n = (size_t)(end - p);
	}
	return at;
}

/* Adds the time of a call that ends, and what of it is its own. */
static void
add_duration(struct ft_line *l, uint64_t ns)
{
	l->graph.start = l->nfields;
	tel__ft_add_number(l, "start", TEL_UNSIGNED, TEL_UNIT_NONE, 0);
	tel__ft_add_number(l, "duration", TEL_UNSIGNED, TEL_UNIT_NS, ns);
	l->graph.self = l->nfields;
	tel__ft_add_number(l, "self", TEL_UNSIGNED, TEL_UNIT_NS, ns);
	l->graph.duration = ns;
}

/*
 * The parts of a comment behind a call: "func ret=0x1", "<-caller".  Where the
 * function is returned is where *func starts.
 */
static void
take_remark(struct ft_line *l, const char *p, const char *end,
    struct ft_text *func)
{
	const char *q;

	for (p = skip_blanks(p, end); p < end; p = skip_blanks(q, end)) {
		for (q = p; q < end && *q != ' ';)
			q++;
		if (starts_with(p, end, "ret=")) {
			tel__ft_add_field(l, "ret", 3, p + 4, q);
		} else if (starts_with(p, end, "<-")) {
			graph_add_text(l, "caller", p + 2, q);
		} else if (func != NULL && func->n == 0) {
			/* "func [module]" */
			if (starts_with(skip_blanks(q, end), end, "["))
				for (q = skip_blanks(q, end);
				     q < end && *q != ' ';)
					q++;
			func->p = p;
			func->n = (size_t)(q - p);
		} else {
			graph_add_text(l, "text", p, end);
			return;
		}
	}
}

/* Takes "CALL" at p, behind the last column. */
static enum ft_kind
take_body(struct ft_line *l, const char *p, const char *end,
    const uint64_t *duration)
{
	const char *stop = end, *remark = end, *open = p, *close = p;
	struct ft_text func = { p, 0 };

	if (starts_with(p, end, "/*")) {
		stop = starts_with(end - 2, end, "*/") ? end - 2 : end;
		p = skip_blanks(p + 2, end);
		l->event.p = p;
		l->event.n = p < stop ? (size_t)(trim_blanks(p, stop) - p) : 0;
		l->graph.is = FT_INSIDE;
		return FT_EVENT;
	}
	if (end - p > 4 && memcmp(end - 2, "*/", 2) == 0)
		for (remark = end - 2; remark > p; remark--)
			if (memcmp(remark, "/*", 2) == 0 && remark[-1] == ' ')
				break;
	if (remark == p)
		return FT_WRONG;
	stop = trim_blanks(p, remark);
	l->graph.is = FT_RETURN;
	if (*p != '}') {
		l->graph.is = stop[-1] == ';' ? FT_LEAF : FT_CALL;
		close = trim_blanks(p, stop - 1);
		open = memchr(p, '(', (size_t)(stop - p));
		if ((stop[-1] != ';' && stop[-1] != '{') || open == NULL ||
		    open == p || close[-1] != ')')
			return FT_WRONG;
		func.n = (size_t)(trim_blanks(p, open) - p);
		const char *blank = memchr(p, ' ', func.n);
		if (blank != NULL && blank[1] != '[')
			return FT_WRONG;
	} else if (stop != p + 1) {
		return FT_WRONG;
	}
	/* a leaf has ended, too */
	const char *name =
	    l->graph.is == FT_CALL ? "funcgraph_entry" : "funcgraph_exit";
	tel__ft_take_name(l, name, strlen(name));
	l->graph.start = l->graph.self = FT_FIELDS_MAX;
	l->graph.duration = 0;
	if (l->graph.is != FT_CALL && duration != NULL)
		add_duration(l, *duration);
	tel__ft_add_number(l, "depth", TEL_UNSIGNED, TEL_UNIT_NONE,
	    l->graph.depth);
	l->graph.func = graph_add_text(l, "func", func.p, func.p + func.n);
	if (l->graph.is != FT_RETURN && close - open > 2)
		graph_add_text(l, "args", open + 1, close - 1);
	if (remark < end)
		take_remark(l, remark + 2, end - 2,
		    l->graph.is == FT_RETURN ? &func : NULL);
	if (l->graph.func < l->nfields)
		l->fields[l->graph.func].value = func;
	return FT_EVENT;
}

/* Takes the indented call behind the bar at p. */
static enum ft_kind
take_indented(struct ft_line *l, const char *p, const char *end, int bar,
    const uint64_t *duration)
{
	const char *q = skip_blanks(p, end);
	const size_t depth = (size_t)(q - p) / 2;

	l->graph.depth = (unsigned)(depth > 0 ? depth - (size_t)bar : 0);
	return q < end ? take_body(l, q, end, duration) : FT_WRONG;
}

int
tel__ft_graph_event(struct ft_line *l, const char *p, const char *end)
{
	const char *bar = memchr(p, '|', (size_t)(end - p));
	uint64_t ns;
	int found;

	if (bar == NULL)
		return 0;
	p = skip_blanks(p, bar);
	if (!read_duration(p, trim_blanks(p, bar), &ns, &found))
		return 0;
	const unsigned had = l->nfields;
	if (take_indented(l, bar + 1, end, 1, found ? &ns : NULL) == FT_EVENT &&
	    l->graph.is != FT_INSIDE)
		return 1;
	l->nfields = had;
	l->graph.is = FT_NO_CALL;
	return 0;
}

/* The number of a thread at the end of "COMM-PID", or NULL. */
static const char *
find_tid(const char *p, const char *end)
{
	const char *q = end;

	while (q > p && tel_is_digit(q[-1]))
		q--;
	if (q == end || q == p || q[-1] != '-')
		return NULL;
	return q - p > 1 && q[-2] == '-' ? q - 1 : q;
}

/* Takes "COMM-PID" between p and end. 1, or 0: it is something else. */
static int
take_thread(struct ft_line *l, const char *p, const char *end)
{
	const char *tid = find_tid(p, end);
	struct ft_text comm = { p, 0 };

	if (tid == NULL || tel__ft_field(l, "tid") != NULL)
		return 0;
	comm.n = (size_t)(tid - 1 - p);
	tel__ft_add_field(l, "tid", 3, tid, end);
	tel__ft_add_label(l, &l->fields[l->nfields - 1], comm);
	return 1;
}

/* Takes "COMM-PID => COMM-PID" from p to end.  1, or 0: it is something else. */
static int
take_change(struct ft_line *l, const char *p, const char *end)
{
	const char *arrow = p, *tid;

	while (end - arrow > 4 && memcmp(arrow, " => ", 4) != 0)
		arrow++;
	if (end - arrow <= 4)
		return 0;
	p = skip_blanks(p, arrow);
	tid = find_tid(p, trim_blanks(p, arrow));
	if (tid == NULL)
		return 0;
	if (skip_digits(tid, arrow, &l->graph.from) == NULL)
		l->graph.from = 0;
	p = skip_blanks(arrow + 4, end);
	tid = find_tid(p, end);
	if (tid == NULL)
		return 0;
	l->graph.is = FT_SWITCH;
	l->graph.comm.p = p;
	l->graph.comm.n = (size_t)(tid - 1 - p);
	l->graph.tid.p = tid;
	l->graph.tid.n = (size_t)(end - tid);
	return 1;
}

/* Takes "SECONDS.MICROSECONDS |" or "MICROSECONDS us |" at p; where it ends. */
static const char *
graph_take_time(struct ft_line *l, const char *p, const char *end)
{
	const char *q, *behind;
	uint64_t whole, rest, cpu;

	l->has_time = FT_UNTIMED;
	q = skip_digits(p, end, &whole);
	if (q == NULL || q == p || q == end)
		return p;
	if (*q == '.') {
		behind = skip_digits(q + 1, end, &rest);
		if (behind == NULL || behind - q != 7 ||
		    __builtin_mul_overflow(whole, (uint64_t)1000000000,
		        &whole) ||
		    __builtin_add_overflow(whole, rest * 1000, &l->clock))
			return p;
		behind = skip_blanks(behind, end);
		if (behind == end || *behind != '|')
			return p;
		l->has_time = FT_TIME;
		return behind + 1;
	}
	/* a duration looks the same, but no processor is behind it */
	if (!starts_with(q, end, " us |") || whole > UINT64_MAX / 1000)
		return p;
	q = skip_blanks(q + 5, end);
	behind = skip_digits(q, end, &cpu);
	if (behind == NULL || behind == q || behind == end || *behind != ')')
		return p;
	l->clock = whole * 1000;
	l->has_time = FT_LATENCY;
	return q;
}

/* Takes "CPU)" at p; where it ends, or p. */
static const char *
take_processor(struct ft_line *l, const char *p, const char *end)
{
	const char *q = skip_digits(p, end, &l->graph.cpu);

	if (q == NULL || q == p || end - q < 2 || *q != ')' || q[1] != ' ')
		return p;
	tel__ft_add_field(l, "cpu", 3, p, q);
	return q + 1;
}

enum ft_kind
tel__ft_graph_line(struct ft_line *l, const char *p, const char *end)
{
	const char *q = skip_blanks(p, end), *bar, *from, *to;
	uint64_t ns = 0;
	int found = 0, known;

	if (*q == '-') {
		while (q < end && *q == '-')
			q++;
		return q == end && q - p >= RULE_MIN ? FT_SILENT : FT_WRONG;
	}
	/* older kernels have a bar before a switch */
	if (*q == '|' && tel_is_digit(*skip_blanks(q + 1, end)))
		q = skip_blanks(q + 1, end);
	q = skip_blanks(graph_take_time(l, q, end), end);
	from = q;
	q = take_processor(l, q, end);
	known = q > from || l->has_time;
	if (q > from && take_change(l, q, end))
		return FT_SILENT;
	for (;; q = bar + 1) {
		bar = memchr(q, '|', (size_t)(end - q));
		if (bar == NULL)
			break;
		from = skip_blanks(q, bar);
		to = trim_blanks(from, bar);
		if (read_duration(from, to, &ns, &found)) {
			q = bar + 1;
			break;
		}
		/* an interrupt starts or ends */
		if (known && to - from == 11 &&
		    (memcmp(from, "==========>", 11) == 0 ||
		        memcmp(from, "<==========", 11) == 0))
			return FT_SILENT;
		if (take_thread(l, from, to))
			continue;
		if (strspn(from, ".#dDNnpBbHhsSzZLl0123456789") !=
		        (size_t)(to - from) ||
		    tel__ft_field(l, "context") != NULL) {
			bar = NULL;
			break;
		}
		tel__ft_add_field(l, "context", 7, from, to);
	}
	if (bar == NULL && !known)
		return FT_WRONG;
	l->graph.summed = !l->has_time && bar != NULL;
	if (l->graph.summed) {
		l->has_time = FT_TIME;
		l->clock = 0;
	}
	return take_indented(l, q, end, bar != NULL, found ? &ns : NULL);
}
