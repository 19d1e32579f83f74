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

#include "format/ftrace/ftrace.h"
#include "format/ftrace/text.h"

/* The least digits of an address that a function is behind. */
#define FRAME_DIGITS 6

/* A value as a number, if it is one. */
static void
ftrace_line_number(struct ft_text value, enum tel_datatype *datatype,
    uint64_t *number)
{
	const char *p = value.p, *end = p + value.n;
	const unsigned char *hex = (const unsigned char *)p;
	int negative, letters = 0, i;
	uint64_t v = 0;

	if (value.n == 0)
		return;
	if ((value.n == 5 && memcmp(p, "(nil)", 5) == 0) ||
	    (value.n == 6 && memcmp(p, "(null)", 6) == 0)) {
		*datatype = TEL_ADDRESS;
		*number = 0;
		return;
	}
	for (i = 0; i < (int)value.n && i <= 16; i++)
		letters |= !tel_is_digit(p[i]);
	/* an address may come without 0x: of 8 digits with a letter, or of 16 */
	if (value.n > 2 && p[0] == '0' && p[1] == 'x')
		hex += 2;
	else if (value.n > 16 ||
	    (letters ? value.n < 8 : value.n < 16 || *p != '0'))
		hex = NULL;
	if (hex != NULL && lines_hex(&hex, number) &&
	    hex == (const unsigned char *)end) {
		*datatype = TEL_ADDRESS;
		return;
	}
	/* "0644" is octal, where "001" is a processor */
	negative = *p == '-';
	if (*p == '0' && value.n > 3)
		return;
	p = skip_digits(p + negative, end, &v);
	if (p != end || p == value.p + negative ||
	    (negative && v > (uint64_t)INT64_MAX))
		return;
	*datatype = negative ? TEL_SIGNED : TEL_UNSIGNED;
	*number = negative ? 0 - v : v;
}

int
tel__ft_add_field(struct ft_line *l, const char *name, size_t length,
    const char *value, const char *end)
{
	struct ft_field *f = &l->fields[l->nfields];

	if (l->nfields == FT_FIELDS_MAX || length > FT_NAME_MAX)
		return 0;
	f->name.p = name;
	f->name.n = length;
	if (end - value > 1 && *value == '"' && end[-1] == '"') {
		value++;
		end--;
	}
	f->value.p = value;
	f->value.n = (size_t)(end - value);
	f->datatype = TEL_STRING;
	f->unit = TEL_UNIT_NONE;
	struct ft_text number = f->value;
	/* "runtime=97640 [ns]" */
	if (number.n > 5 && memcmp(end - 5, " [ns]", 5) == 0) {
		number.n -= 5;
		f->unit = TEL_UNIT_NS;
	}
	/* "pid=0x11fa (4602)", by the option "fields" of the kernel */
	const char *open =
	    number.n > 5 && end[-1] == ')' && memcmp(number.p, "0x", 2) == 0 ?
	    memchr(number.p, '(', number.n) :
	    NULL;
	if (open != NULL && open[-1] == ' ') {
		/* a number far below zero is an address */
		if (end - open > 14 && open[1] == '-') {
			number.n = (size_t)(open - 1 - number.p);
		} else {
			number.p = open + 1;
			number.n = (size_t)(end - 1 - number.p);
		}
	}
	ftrace_line_number(number, &f->datatype, &f->number);
	l->nfields++;
	return 1;
}

void
tel__ft_add_number(struct ft_line *l, const char *name,
    enum tel_datatype datatype, enum tel_unit unit, uint64_t number)
{
	struct ft_field *f = &l->fields[l->nfields];

	if (!tel__ft_add_field(l, name, strlen(name), name, name))
		return;
	f->datatype = datatype;
	f->unit = unit;
	f->number = number;
}

const struct ft_field *
tel__ft_field(const struct ft_line *l, const char *name)
{
	for (unsigned i = 0; i < l->nfields; i++)
		if (l->fields[i].name.n == strlen(name) &&
		    memcmp(l->fields[i].name.p, name, l->fields[i].name.n) == 0)
			return &l->fields[i];
	return NULL;
}

void
tel__ft_add_label(struct ft_line *l, const struct ft_field *f,
    struct ft_text text)
{
	if (f == NULL || f->datatype == TEL_STRING || text.n == 0 ||
	    l->nlabels == FT_LABELS)
		return;
	if (text.n > FT_LABEL_MAX)
		text.n = FT_LABEL_MAX;
	l->labels[l->nlabels].field = (unsigned)(f - l->fields);
	l->labels[l->nlabels++].text = text;
}

/* ----------------------------------------------------------------- fields */

/* The end of a key at p, "KEY=" or, where colon, "KEY: "; or NULL. */
static const char *
key_end(const char *p, const char *end, int colon)
{
	if (p == end || !tel_is_letter(*p))
		return NULL;
	while (p < end && (tel_is_letter(*p) || tel_is_digit(*p) || *p == '.'))
		p++;
	if (p < end && *p == '=')
		return p;
	return colon && end - p > 1 && *p == ':' && p[1] == ' ' ? p : NULL;
}

/*
 * Where the value at p ends: before the next key, if it is not in quotes.
 * *next: where that key is, which ends at *stop; or end.
 */
static const char *
value_end(const char *p, const char *end, int colon, const char **next,
    const char **stop)
{
	const char *q = p;

	if (p < end && *p == '"') {
		for (q++; q < end && *q != '"'; q++)
			q += *q == '\\' && q + 1 < end;
		q += q < end;
	}
	for (*next = end; q < end; q++) {
		if ((q[-1] == ' ' || q[-1] == '\t' ||
		        (q[-1] == '[' && q - p > 1 && q[-2] == ' ')) &&
		    (*stop = key_end(q, end, colon)) != NULL &&
		    (!colon || (q - p > 1 && q[-2] == ','))) {
			*next = q;
			break;
		}
	}
	q = *next;
	/* "vec=9 [action=RCU]" */
	if (q < end && q[-1] == '[')
		q--;
	q = trim_blanks(p, q);
	if (q > p && q[-1] == ']' && memchr(p, '[', (size_t)(q - p)) == NULL)
		q--;
	if (*next < end && q - p >= 3 && memcmp(q - 3, "==>", 3) == 0)
		q = trim_blanks(p, q - 3);
	/* fields of system calls, and of some others, are a list */
	if (*next < end && q > p && q[-1] == ',')
		q--;
	return q;
}

/* "COMM:TID [PRIO] STATE ==> COMM:TID [PRIO]", as trace-cmd shows a switch. */
static int
take_switch(struct ft_line *l, const char *p, const char *end)
{
	static const char *const names[2][3] = { { "prev_comm", "prev_pid",
		                                     "prev_prio" },
		{ "next_comm", "next_pid", "next_prio" } };
	const char *parts[2][6], *q = p, *arrow;

	for (arrow = p; end - arrow > 4 && memcmp(arrow, " ==> ", 5) != 0;)
		arrow++;
	if (end - arrow < 5)
		return 0;
	for (int i = 0; i < 2; i++) {
		const char *stop = i == 0 ? arrow : end, *colon, *open;

		for (open = stop; open > q && open[-1] != '[';)
			open--;
		if (open - q < 4)
			return 0;
		parts[i][2] = trim_blanks(q, open - 1);
		for (colon = parts[i][2]; colon > q && colon[-1] != ':';)
			colon--;
		if (colon == q)
			return 0;
		parts[i][0] = q;
		parts[i][1] = colon;
		parts[i][3] = open;
		parts[i][4] = memchr(open, ']', (size_t)(stop - open));
		parts[i][5] = stop;
		if (parts[i][4] == NULL)
			return 0;
		q = arrow + 5;
	}
	for (int i = 0; i < 2; i++) {
		tel__ft_add_field(l, names[i][0], 9, parts[i][0],
		    parts[i][1] - 1);
		tel__ft_add_field(l, names[i][1], 8, parts[i][1], parts[i][2]);
		tel__ft_add_field(l, names[i][2], 9, parts[i][3], parts[i][4]);
		if (i == 0)
			tel__ft_add_field(l, "prev_state", 10,
			    skip_blanks(parts[0][4] + 1, arrow), parts[0][5]);
	}
	return 1;
}

/* Reads "12.345" as 12345.  Returns where it ends; NULL: it is something else. */
static const char *
read_thousandths(const char *p, const char *end, uint64_t *out)
{
	const char *point = skip_digits(p, end, out);
	uint64_t rest;

	if (point == NULL || point == p || end - point < 4 || *point != '.' ||
	    skip_digits(point + 1, point + 4, &rest) != point + 4 ||
	    __builtin_mul_overflow(*out, (uint64_t)1000, out) ||
	    __builtin_add_overflow(*out, rest, out))
		return NULL;
	return point + 4;
}

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

/* Whether an event is a message of a program or a tracer. */
static int
is_message(const char *name)
{
	static const char *const names[] = { "print", "bprint", "bputs",
		"tracing_mark_write", "function" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return 1;
	return 0;
}

/*
 * Where "ADDRESS NAME" or "ADDRESS (FILE)" is in what perf shows of a sample, of
 * which an address of data, or a weight, may come first; NULL: it is not there.
 * *stop: where it ends, before registers, say.
 */
static const char *
find_sample_frame(const char *p, const char *end, const char **stop)
{
	const char *frame = NULL, *unnamed = NULL, *q, *behind;
	const unsigned char *hex;
	uint64_t address;

	for (q = p, *stop = end; q < end; q = behind) {
		hex = (const unsigned char *)q;
		while (hex < (const unsigned char *)end && *hex != ' ')
			hex++;
		behind = skip_blanks((const char *)hex, end);
		/* a branch: "FROM => TO" */
		if (frame != NULL && starts_with(q, end, "=> ")) {
			*stop = q;
			break;
		}
		hex = (const unsigned char *)q;
		if (!lines_hex(&hex, &address) || *hex != ' ') {
			if (q == p)
				return NULL;
			continue;
		}
		if ((const char *)hex - q < FRAME_DIGITS || behind == end)
			continue;
		*(*behind == '(' ? &unnamed : &frame) = q;
	}
	if (frame == NULL)
		frame = unnamed;
	*stop = trim_blanks(p, *stop);
	if (frame != NULL && (*stop)[-1] != ')')
		for (q = *stop - 1; q > frame; q--)
			if (q[-1] == ')' && *q == ' ') {
				*stop = q;
				break;
			}
	return frame;
}

void
tel__ft_line_add_address(struct ft_line *l)
{
	tel__ft_add_field(l, "text", 4, (const char *)l->frame,
	    (const char *)l->frame_end);
	l->frame = NULL;
}

/* The fields of an event, and the text before the first one. */
static void
take_fields(struct ft_line *l, const char *p, const char *end)
{
	const char *key = p, *stop, *value, *next, *frame;
	int colon = 0;

	if (strcmp(l->name, "sched_switch") == 0 && take_switch(l, p, end))
		return;
	if (is_message(l->name)) {
		tel__ft_add_field(l, "text", 4, p, end);
		return;
	}
	while (key < end && key_end(key, end, 0) == NULL) {
		while (key < end && *key != ' ' && *key != '\t')
			key++;
		key = skip_blanks(key, end);
	}
	if (key == end && key_end(p, end, 1) != NULL) {
		key = p;
		colon = 1;
	}
	frame = key == end ? find_sample_frame(p, end, &stop) : NULL;
	if (frame != NULL) {
		l->frame = (const unsigned char *)frame;
		l->frame_end = (const unsigned char *)stop;
		if (frame > p)
			tel__ft_add_field(l, "text", 4, p,
			    trim_blanks(p, frame));
		if (stop < end)
			tel__ft_add_field(l, "text", 4, skip_blanks(stop, end),
			    end);
		return;
	}
	/* the only part of what a system call gives, "0x3" */
	if (key == end && strncmp(l->name, "sys_exit_", 9) == 0)
		tel__ft_add_field(l, "ret", 3, p, end);
	else if (key > p)
		tel__ft_add_field(l, "text", 4, p, trim_blanks(p, key));
	for (stop = key_end(key, end, colon); key < end; key = next) {
		const size_t length = (size_t)(stop - key);

		value = stop + 1;
		if (*stop == ':')
			value = skip_blanks(value, end);
		if (!tel__ft_add_field(l, key, length, value,
		        value_end(value, end, colon, &next, &stop)))
			break;
	}
}

/* What follows from the fields: places in the code, threads, pages. */
static void
ftrace_line_complete(struct ft_line *l)
{
	const struct ft_field *f = tel__ft_field(l, "call_site");

	if (f != NULL && f->datatype == TEL_STRING && f->value.n > 0) {
		/* a name is as good as an address, with a number for it */
		struct ft_field *site = &l->fields[f - l->fields];
		site->datatype = TEL_ADDRESS;
		site->number = tel__fnv(TEL__FNV, f->value.p, f->value.n);
		tel__ft_add_label(l, site, site->value);
	}
	if ((f = tel__ft_field(l, "prev_comm")) != NULL)
		tel__ft_add_label(l, tel__ft_field(l, "prev_pid"), f->value);
	if ((f = tel__ft_field(l, "next_comm")) != NULL)
		tel__ft_add_label(l, tel__ft_field(l, "next_pid"), f->value);
	if (strncmp(l->name, "mm_page_", 8) != 0)
		return;
	f = tel__ft_field(l, "pfn");
	const struct ft_field *order = tel__ft_field(l, "order");
	if (f == NULL || order == NULL || f->datatype == TEL_STRING ||
	    order->datatype != TEL_UNSIGNED || order->number > 32)
		return;
	/* pages of 4 KiB; none: the number is -1 */
	tel__ft_add_number(l, "address", TEL_ADDRESS, TEL_UNIT_NONE,
	    f->number >> 52 == 0 ? f->number << 12 : 0);
	tel__ft_add_number(l, "size", TEL_UNSIGNED, TEL_UNIT_NONE,
	    UINT64_C(4096) << order->number);
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
		take_fields(l, open + 1, end - 1);
	else
		tel__ft_add_field(l, "ret", 3, arrow + 3, end);
	return 1;
}

/*
 * A call, "NAME(KEY: VALUE, ...) = VALUE TEXT", or "... [continued]: NAME()) =
 * VALUE" of one that took longer; or "NAME TEXT".  1, or 0: it is something else.
 */
static int
take_call(struct ft_line *l, const char *p, const char *end)
{
	static const char again[] = "... [continued]: ";
	const int continued = starts_with(p, end, again);
	const char *name = p + (continued ? sizeof(again) - 1 : 0);
	const char *open = name, *equals = end - 1, *close, *word;

	while (open < end && (tel_is_word(*open) || *open == ':'))
		open++;
	if (open == name || open == end || (*open != '(' && *open != ' '))
		return 0;
	tel__ft_take_name(l, name, (size_t)(open - name));
	if (*open == ' ') {
		tel__ft_add_field(l, "text", 4, skip_blanks(open, end), end);
		return 1;
	}
	while (equals > open &&
	    (*equals != '=' || trim_blanks(open, equals)[-1] != ')'))
		equals--;
	close = trim_blanks(open, equals > open ? equals : end);
	l->call.text.p = p;
	if (continued) {
		l->call.is = FT_CONTINUED;
		l->call.text.n = (size_t)(open + 1 - p);
	}
	if (equals == open && close - open > 4 &&
	    memcmp(close - 4, " ...", 4) == 0) {
		close = trim_blanks(open, close - 4);
		l->call.is = FT_BEGUN;
		l->call.text.n = (size_t)(close - p);
	}
	if (!continued)
		take_fields(l, open + 1, close - (close[-1] == ')'));
	if (equals == open)
		return 1;
	p = word = skip_blanks(equals + 1, end);
	while (word < end && *word != ' ')
		word++;
	if (p < end)
		tel__ft_add_field(l, "ret", 3, p, word);
	if (word < end)
		tel__ft_add_field(l, "text", 4, skip_blanks(word, end), end);
	return 1;
}

/*
 * A line of perf trace, "MS (MS ms): COMM/TID CALL", whose first time may be "?",
 * and the second one blank; or "MS COMM/TID CALL".  1, or 0: it is something else.
 */
static int
take_traced(struct ft_line *l, const char *p, const char *end)
{
	const char *q = p, *stop, *slash, *digits;
	uint64_t us = 0, duration = 0;

	stop = q < end && *q == '?' ? q + 1 : read_thousandths(q, end, &us);
	if (stop == NULL || stop == end || *stop != ' ' ||
	    us > UINT64_MAX / 1000)
		return 0;
	/* perf's clock is of nanoseconds, and may be a bit less than zero */
	l->has_time = *q == '?' || us * 1000 > INT64_MAX ? FT_UNTIMED : FT_TIME;
	l->clock = us * 1000;
	p = q = stop + 1;
	stop = NULL;
	if (*q == '(') {
		q = skip_blanks(q + 1, end);
		stop = read_thousandths(q, end, &duration);
		q = stop != NULL ? stop + 3 : q;
		if (q > end || !starts_with(q, end, "): ") ||
		    (stop != NULL && memcmp(stop, " ms", 3) != 0) ||
		    duration > UINT64_MAX / 1000)
			return 0;
		q += 3;
	}
	/* perf cuts commands at 14 bytes */
	for (slash = q; slash < end && slash - q < 16; slash++) {
		for (digits = slash + 1; digits < end && tel_is_digit(*digits);)
			digits++;
		if (*slash == '/' && digits > slash + 1 && digits < end &&
		    *digits == ' ' &&
		    tel__ft_add_field(l, "tid", 3, slash + 1, digits)) {
			struct ft_text comm = { q, (size_t)(slash - q) };

			tel__ft_add_label(l, &l->fields[0], comm);
			q = digits;
			break;
		}
	}
	if (*p != '(' && l->nfields == 0)
		return 0;
	if (stop != NULL)
		tel__ft_add_number(l, "duration", TEL_UNSIGNED, TEL_UNIT_NS,
		    duration * 1000);
	l->event.p = q = skip_blanks(q, end);
	l->event.n = (size_t)(end - q);
	return take_call(l, q, end);
}

/* ---------------------------------------------------------------- lines */

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
	take_fields(l, skip_blanks(q, stop), stop);
	if (stop < end)
		tel__ft_add_number(l, "latency", TEL_UNSIGNED, TEL_UNIT_NS,
		    latency);
	ftrace_line_complete(l);
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
	if ((tel_is_digit(*q) || *q == '?') && take_traced(l, q, end))
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
