/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a line has before its event: a command, a thread, a processor, a time.  A
 * command may have blanks, dashes and brackets in its name, so the time is looked
 * for first, and the text before it is read from its end.
 */
#include "format/ftrace/ftrace.h"
#include "format/ftrace/text.h"

/*
 * The first "SECONDS.FRACTION: " at the start or behind a blank, or NULL; its end
 * and ns.
 */
static const char *
find_time(const char *p, const char *end, const char **behind, uint64_t *ns)
{
	const char *q = p, *start, *point, *stop;
	uint64_t seconds, fraction;

	while ((q = memchr(q, '.', (size_t)(end - q))) != NULL) {
		point = q++;
		for (start = point; start > p && tel_is_digit(start[-1]);)
			start--;
		if (start == point ||
		    (start > p && start[-1] != ' ' && start[-1] != '\t'))
			continue;
		stop = skip_digits(q, end, &fraction);
		int digits = stop == NULL ? 0 : (int)(stop - q);
		if (digits < 3 || digits > 9 || stop == end || *stop != ':' ||
		    (stop + 1 < end && stop[1] != ' ' && stop[1] != '\t'))
			continue;
		for (; digits < 9; digits++)
			fraction *= 10;
		if (skip_digits(start, point, &seconds) == NULL ||
		    __builtin_mul_overflow(seconds, (uint64_t)1000000000,
		        &seconds) ||
		    __builtin_add_overflow(seconds, fraction, ns))
			continue;
		*behind = stop + 1;
		return start;
	}
	return NULL;
}

/* Where "OPEN...CLOSE" that ends at end starts, or NULL. */
static const char *
find_open(const char *p, const char *end, char open, char close)
{
	const char *q;

	if (end == p || end[-1] != close)
		return NULL;
	for (q = end - 1; q > p && q[-1] != open; q--)
		if (q[-1] == ' ' && open == '[')
			return NULL;
	return q > p ? q - 1 : NULL;
}

/* Where "[CPU]" before end starts, or that before flags; or NULL. */
static const char *
find_cpu(const char *p, const char *end, const char **flags)
{
	const char *open = find_open(p, end, '[', ']');

	*flags = end;
	if (open == NULL) {
		*flags = word_start(p, end);
		open = find_open(p, trim_blanks(p, *flags), '[', ']');
	}
	return open != NULL && tel_is_digit(open[1]) ? open : NULL;
}

/* Where the digits before end start, behind a blank; or NULL. */
static const char *
find_ticks_start(const char *p, const char *end, uint64_t *out)
{
	const char *start = end;

	while (start > p && tel_is_digit(start[-1]))
		start--;
	return start < end && start > p &&
	        (start[-1] == ' ' || start[-1] == ']') &&
	        skip_digits(start, end, out) != NULL ?
	    start :
	    NULL;
}

/*
 * As find_time(), of other clocks of the kernel: "[000] d..1. TICKS: ", and
 * "MICROSECONDSus: " or "...us+: " of its option latency-format.
 */
static const char *
find_ticks(const char *p, const char *end, const char **behind,
    struct ft_line *l)
{
	const char *q = p, *start, *stop, *flags;

	while ((q = memchr(q, ':', (size_t)(end - q))) != NULL) {
		stop = q++;
		*behind = q;
		if (q < end && *q != ' ')
			continue;
		start = find_ticks_start(p, stop, &l->clock);
		if (start != NULL &&
		    find_cpu(p, trim_blanks(p, start), &flags) != NULL) {
			l->has_time = FT_TICKS;
			return start;
		}
		if (stop > p && memchr(" !+#*@$", stop[-1], 7) != NULL)
			stop--;
		if (stop - p < 3 || memcmp(stop - 2, "us", 2) != 0)
			continue;
		start = find_ticks_start(p, stop - 2, &l->clock);
		if (start != NULL &&
		    !__builtin_mul_overflow(l->clock, (uint64_t)1000,
		        &l->clock)) {
			l->has_time = FT_LATENCY;
			return start;
		}
	}
	return NULL;
}

/*
 * Where "PERIOD EVENT:" or "EVENT:" is in a sample without a time, or NULL: an
 * address is behind it, or nothing, as the call chain has lines of its own.
 */
static const char *
find_sample(const char *p, const char *end)
{
	const char *stop = p, *name, *period, *before;
	const unsigned char *hex;
	uint64_t address;

	for (;; stop++) {
		stop = memchr(stop, ':', (size_t)(end - stop));
		if (stop == NULL)
			return NULL;
		hex = (const unsigned char *)skip_blanks(stop + 1, end);
		if ((const char *)hex == end ||
		    ((const char *)hex > stop + 1 &&
		        lines_hex(&hex, &address) && *hex == ' '))
			break;
	}
	name = word_start(p, stop);
	period = word_start(p, trim_blanks(p, name));
	before = word_start(p, trim_blanks(p, period));
	if (name == stop || !tel_is_letter(*name))
		return NULL;
	/* a number is the period if that of the thread is before it */
	return before > p &&
	        strspn(period, "0123456789") ==
	            (size_t)(trim_blanks(p, name) - period) &&
	        strspn(before, "0123456789/[]") ==
	            (size_t)(trim_blanks(p, period) - before) ?
	    period :
	    name;
}

/*
 * "[CPU]" before end, and flags behind it, or "CPUFLAGS" of latency-format.
 * Returns where it starts.
 */
static const char *
take_cpu(struct ft_line *l, const char *p, const char *end)
{
	const char *flags, *open = find_cpu(p, end, &flags);

	if (open != NULL) {
		tel__ft_add_field(l, "cpu", 3, open + 1,
		    trim_blanks(p, flags) - 1);
	} else {
		open = word_start(p, end);
		for (flags = open; flags < end && tel_is_digit(*flags);)
			flags++;
		if (flags == open || open == p ||
		    (l->has_time != FT_LATENCY &&
		        (flags == end ||
		            strspn(flags, ".#dDNnpBbHhsSzZ0123456789") !=
		                (size_t)(end - flags))))
			return end;
		tel__ft_add_field(l, "cpu", 3, open, flags);
	}
	if (flags < end)
		tel__ft_add_field(l, "context", 7, flags, end);
	return trim_blanks(p, open);
}

/*
 * The command and its numbers from p to end: "COMM PID", "COMM PID/TID",
 * "COMM-PID" or "COMM-PID (TGID)".  1; 0: it is something else.
 */
static int
take_task(struct ft_line *l, const char *p, const char *end)
{
	const char *open = find_open(p, end, '(', ')'), *tid, *pid = NULL;
	const char *stop = end, *pid_end = NULL;
	struct ft_text comm;

	if (open != NULL) {
		pid = skip_blanks(open + 1, end);
		pid_end = end - 1;
		stop = trim_blanks(p, open);
	}
	for (tid = stop; tid > p && tel_is_digit(tid[-1]);)
		tid--;
	if (tid == stop || tid == p)
		return 0;
	if (tid[-1] == '/' && tid - p > 1 && tel_is_digit(tid[-2])) {
		for (pid_end = pid = tid - 1; pid > p && tel_is_digit(pid[-1]);)
			pid--;
		comm.p = pid;
	} else {
		comm.p = tid - 1;
		/* perf has -1 for a thread that is not known */
		if (*comm.p == '-' && comm.p > p && comm.p[-1] == ' ')
			tid = comm.p;
		else if (*comm.p != '-' && *comm.p != ' ' && *comm.p != '\t')
			return 0;
	}
	comm.n = (size_t)(trim_blanks(p, comm.p) - p);
	comm.p = p;
	/* "INSTANCE:   COMM", of more than one buffer of trace-cmd */
	for (const char *q = p; q + 3 < p + comm.n; q++)
		if (memcmp(q, ":  ", 3) == 0) {
			tel__ft_add_field(l, "buffer", 6, p, q);
			comm.n -= (size_t)(skip_blanks(q + 1, end) - p);
			comm.p = skip_blanks(q + 1, end);
			break;
		}
	if (comm.n == 0 || !tel__ft_add_field(l, "tid", 3, tid, stop))
		return 0;
	tel__ft_add_label(l, &l->fields[l->nfields - 1], comm);
	/* "(-----)": not known */
	if (pid != NULL && pid < pid_end && tel_is_digit(*pid))
		tel__ft_add_field(l, "pid", 3, pid, pid_end);
	return 1;
}

/* "YYYY-MM-DD HH:MM:SS.FRACTION" before end. Returns where it starts. */
static const char *
take_date(struct ft_line *l, const char *p, const char *end)
{
	const char *time = word_start(p, end);
	const char *date = word_start(p, trim_blanks(p, time));

	if (end - time < 9 || time[2] != ':' || time[5] != ':' ||
	    time - date != 11 || date[4] != '-' || date[7] != '-')
		return end;
	tel__ft_add_field(l, "date", 4, date, end);
	return trim_blanks(p, date);
}

/* Whether nothing is from p on, or "EVENT:", behind a period or not. */
static int
has_event(const char *p, const char *end)
{
	const char *q = p = skip_blanks(p, end);

	while (q < end && tel_is_digit(*q))
		q++;
	p = q = skip_blanks(q, end);
	while (q < end && *q != ' ' && *q != '\t')
		q++;
	return p == end || (tel_is_letter(*p) && q[-1] == ':');
}

/*
 * Takes a part of a command and a thread, from p to end: one of both, the mode
 * of the processor behind them, or nothing, as perf has it at request.
 */
static void
take_part_of_task(struct ft_line *l, const char *p, const char *end)
{
	const char *mode = word_start(p, end), *slash;
	const char *task = trim_blanks(p, mode);
	struct ft_field *f;

	if (task > p && mode < end && tel_is_digit(task[-1]) &&
	    strspn(mode, "KUHGgMESp") == (size_t)(end - mode)) {
		tel__ft_add_field(l, "context", 7, mode, end);
		end = task;
		if (take_task(l, p, end))
			return;
	}
	if (p == end)
		return;
	if (strspn(p, "0123456789/") >= (size_t)(end - p)) {
		slash = memchr(p, '/', (size_t)(end - p));
		tel__ft_add_field(l, "tid", 3, slash != NULL ? slash + 1 : p,
		    end);
		if (slash != NULL)
			tel__ft_add_field(l, "pid", 3, p, slash);
		return;
	}
	f = &l->fields[l->nfields];
	if (tel__ft_add_field(l, "comm", 4, p, end))
		f->datatype = TEL_STRING;
}

enum ft_kind
tel__ft_head(struct ft_line *l, const char *p, const char *end,
    const char **event)
{
	const char *time = find_time(p, end, event, &l->clock), *stop;

	l->has_time = time != NULL ? FT_TIME : FT_UNTIMED;
	if (time == NULL)
		time = find_ticks(p, end, event, l);
	if (time == NULL)
		time = *event = find_sample(p, end);
	if (time == NULL)
		return FT_SILENT;
	p = skip_blanks(p, time);
	stop = take_cpu(l, p, take_date(l, p, trim_blanks(p, time)));
	if (take_task(l, p, stop))
		return FT_EVENT;
	/* perf has no fewer digits */
	if (l->has_time == FT_TIME && *event - time > 7 &&
	    tel_is_digit((*event)[-7]) && has_event(*event, end)) {
		take_part_of_task(l, p, stop);
		return FT_EVENT;
	}
	if (!l->has_time || p == time)
		return FT_SILENT;
	l->want = "a command and the number of its thread";
	l->at = (const unsigned char *)p;
	return FT_WRONG;
}

/* The columns of an address, with the blank before it, and of a period. */
#define ADDRESS_WIDTH 17
#define PERIOD_WIDTH 10
#define ADDRESS_MIN 6

int
tel__ft_sample(struct ft_line *l, const char *p, const char *end)
{
	const char *q = p, *frame, *stop = p, *word;
	const unsigned char *hex;
	uint64_t address;

	l->nfields = l->nlabels = 0;
	l->has_time = FT_UNTIMED;
	l->frame = NULL;
	for (; (frame = skip_blanks(q, end)) < end; q = stop) {
		for (stop = frame; stop < end && *stop != ' ' && *stop != '\t';)
			stop++;
		hex = (const unsigned char *)frame;
		if (stop - q >= ADDRESS_WIDTH && stop - frame >= ADDRESS_MIN &&
		    lines_hex(&hex, &address) && (const char *)hex == stop)
			break;
	}
	if (frame < end) {
		l->frame = (const unsigned char *)frame;
		l->frame_end = (const unsigned char *)end;
	}
	tel__ft_take_name(l, "sample", 6);
	l->event.p = p;
	l->event.n = (size_t)(end - p);
	const char *period = NULL, *period_end = NULL, *from = p;
	end = trim_blanks(p, frame);
	p = skip_blanks(p, end);
	if (p == end)
		return l->frame != NULL;
	word = word_start(p, end);
	stop = trim_blanks(from, word);
	if (end - stop >= PERIOD_WIDTH + (stop > from) &&
	    strspn(word, "0123456789") >= (size_t)(end - word)) {
		period = word;
		period_end = end;
		end = stop;
	}
	if (p < end) {
		end = take_cpu(l, p, end);
		if (!take_task(l, p, end))
			take_part_of_task(l, p, end);
	}
	if (period != NULL)
		tel__ft_add_field(l, "period", 6, period, period_end);
	return 1;
}
