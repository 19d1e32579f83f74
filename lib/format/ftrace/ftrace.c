/* SPDX-License-Identifier: BSD-2-Clause */
/* Traces of the Linux kernel as text: lines into events, and the format. */
#include "format/ftrace/ftrace.h"
#include "format/ftrace/calls.h"
#include "format/ftrace/graph.h"

#include <stdlib.h>

#include "encoder/relay.h"

/* Lines of other kinds that detection passes by. */
#define PROBE_LINES 8
#define SCORE 80
/* A pause of a pipe, behind which its first lines are taken for its types. */
#define SOON_MS 100
/* Bytes in which a line of a call chain has a digit of its address. */
#define CHAIN_START 24
/* The least digits of an address that tells a sample from a table; of a kernel's. */
#define ADDRESS_DIGITS 12
#define KERNEL_DIGITS 16
#define LABELS_SIZE (FT_LABELS * (3 + FT_LABEL_MAX))

struct ftrace {
	struct tel_line line;
	struct ft_types types;
	struct ft_line found;   /* the line that is read */
	struct ft_line ahead;   /* one behind it */
	int timed;              /* a line had a time */
	int ticks;              /* times are ticks of some clock */
	int some;               /* there was an event */
	int summed;             /* sums are all that is left */
	int nameless;           /* samples have neither times nor names */
	uint64_t clock;         /* of the last event */
	struct tel__index seen; /* frames of stacks */
	struct ft_graph graph;  /* calls of function_graph */
	unsigned nframes;       /* of the event, the innermost one first: */
	struct {
		uint32_t at, length; /* of the name, from the event's line on */
	} frames[FT_FRAMES_MAX];
	struct ft_calls calls; /* that are not complete */
	unsigned char labels[LABELS_SIZE];
	/*
	 * of fixed size; then strings, which the length of a line bounds, and the
	 * function of another line, which ends
	 */
	unsigned char
	    data[FT_HEADER + 9 * FT_FIELDS_MAX + 8 + 2 * FT_LINE_MAX + 1];
};

/* Adds the labels that the line has for its numbers. */
static void
ftrace_put_labels(struct ftrace *s, struct tel_event *ev)
{
	unsigned char *p = s->labels;

	for (unsigned i = 0; i < s->found.nlabels; i++) {
		struct ft_text text = s->found.labels[i].text;

		*p++ = (unsigned char)s->found.labels[i].field;
		*p++ = (unsigned char)text.n;
		*p++ = (unsigned char)(text.n >> 8);
		memcpy(p, text.p, text.n);
		p += text.n;
	}
	ev->inline_labels = s->labels;
	ev->inline_size = (uint32_t)(p - s->labels);
	/* the frames of stacks are those of the log */
	ev->inline_use = s->types.chains ? TEL_INLINE_FIRST : TEL_INLINE_ONLY;
}

/* Makes the event of the type from the line that was found. */
static void
ftrace_put_fields(struct ftrace *s, struct tel_event *ev,
    const struct tel_type *t)
{
	const unsigned n = t->nfields - (unsigned)s->types.chains;
	const struct ft_field *f = s->found.fields;
	const unsigned char *hex;
	uint32_t size = t->size;
	uint64_t v;

	if (s->types.chains)
		tel_store_le64(s->data + t->fields[n].offset, 0);
	for (unsigned i = 0; i < n; i++, f++) {
		v = f->number;
		if (t->fields[i].datatype == TEL_STRING) {
			v = size;
			memcpy(s->data + size, f->value.p, f->value.n);
			size += (uint32_t)f->value.n;
			s->data[size++] = '\0';
		} else if (t->fields[i].datatype == TEL_ADDRESS &&
		    f->datatype == TEL_UNSIGNED && f->value.n >= 8) {
			/* an address that has no letter among its digits */
			hex = (const unsigned char *)f->value.p;
			(void)lines_hex(&hex, &v);
		}
		tel_store_le64(s->data + t->fields[i].offset, v);
	}
	tel_store_le64(s->data, (uint64_t)size << 32 | t->code);
	tel_store_le64(s->data + 8, s->clock);
	ev->type = t;
	ev->data = s->data;
	ev->size = size;
	ev->clock = s->clock;
}

/* The clock: the line's own time; or the event's number, if none has one. */
static void
ftrace_set_clock(struct tel_reader *r, struct ftrace *s)
{
	if (s->found.has_time) {
		if (!s->timed && s->found.has_time != FT_TICKS)
			tel__clock_set_rate(r->log.clock,
			    r->tick_rate > 0 ? r->tick_rate : 1e9);
		s->timed = 1;
		s->clock = s->found.clock;
	} else if (!s->timed) {
		s->clock++;
	}
}

static enum tel_line_is
ftrace_make_event(struct tel_reader *r, struct ftrace *s)
{
	int number = tel__ft_type_of(&s->types, &s->found);

	if (number < 0)
		return line_failed(&s->line, TEL_ENOMEM);
	if (s->types.changed && tel__ft_types_settle(r, &s->types) != TEL_OK)
		return line_failed(&s->line, TEL_ENOMEM);
	if (number == 0) {
		s->found.fields[0].value = s->found.event;
		s->found.nlabels = 0;
	}
	ftrace_set_clock(r, s);
	ftrace_put_fields(s, &r->event, &r->log.schema->types[number]);
	ftrace_put_labels(s, &r->event);
	return LINE_EVENT;
}

/* Takes the line at p, which ends at lf. */
static enum ft_kind
ftrace_read_line(struct ft_line *l, const unsigned char *p,
    const unsigned char *lf)
{
	return tel__ft_line(l, p, lf > p && lf[-1] == '\r' ? lf - 1 : lf);
}

/*
 * Whether the lines from p on start with one of a call chain, as perf has it: a tab
 * and an address, not a label of instructions.
 */
static int
starts_chain(const unsigned char *p, const unsigned char *end)
{
	const unsigned char *from;

	if (p == end || *p != '\t')
		return 0;
	for (p++; p < end && *p == ' ';)
		p++;
	for (from = p; p < end && tel__lines_digit[*p] < 16;)
		p++;
	return p > from && (p == end || *p == ' ' || *p == '\n' || *p == '\r');
}

/*
 * A line of a log of samples without names: the innermost frame, if no line is
 * before the call chain, or one with a frame or a chain behind it.
 */
static enum ft_kind
read_sample(struct ft_line *l, const unsigned char *p, const unsigned char *lf,
    const unsigned char *end, enum ft_kind kind)
{
	const unsigned char *next = lf + 1;

	if (lf > p && lf[-1] == '\r')
		lf--;
	if (kind != FT_CHAIN || *p != '\t')
		return tel__ft_sample(l, (const char *)p, (const char *)lf) &&
		        (l->frame != NULL || starts_chain(next, end)) ?
		    FT_EVENT :
		    FT_WRONG;
	tel__ft_sample(l, (const char *)p, (const char *)p);
	l->frame = p;
	l->frame_end = lf;
	return FT_EVENT;
}

/*
 * An address in the line of an event is the place of the program, unless a call
 * chain comes behind it, which has that.  Up to CHAIN_START bytes are looked at.
 */
static enum ft_kind
read_event_line(struct ft_line *l, const unsigned char *p,
    const unsigned char *lf, const unsigned char *end, int nameless)
{
	const enum ft_kind kind = ftrace_read_line(l, p, lf);

	end = (size_t)(end - lf) > CHAIN_START ? lf + CHAIN_START : end;
	if (nameless && (kind == FT_CHAIN || kind == FT_WRONG))
		return read_sample(l, p, lf, lf < end ? end : lf + 1, kind);
	if (kind == FT_EVENT && l->frame != NULL && lf < end &&
	    starts_chain(lf + 1, end))
		tel__ft_line_add_address(l);
	return kind;
}

/* Notes a line of the call chain; line: where that of the event starts. */
static void
note_frame(struct ftrace *s, const unsigned char *line, const unsigned char *p,
    const unsigned char *end)
{
	const struct ft_text name =
	    tel__ft_frame(p, end > p && end[-1] == '\r' ? end - 1 : end);

	if (s->nframes == FT_FRAMES_MAX)
		return;
	s->frames[s->nframes].at =
	    (uint32_t)((const unsigned char *)name.p - line);
	s->frames[s->nframes++].length = (uint32_t)name.n;
}

/* Gives the event the stack of the frames that were noted. */
static tel_status
put_chain(struct tel_reader *r, struct ftrace *s)
{
	const struct tel_type *t = r->event.type;
	struct tel_frame frame = { 0, 0, NULL, 0 };
	tel_status st = TEL_OK;
	uint64_t id = 0;

	for (unsigned i = s->nframes; i-- > 0 && st == TEL_OK;) {
		frame.parent = id;
		frame.name = (const char *)r->p + s->frames[i].at;
		frame.length = s->frames[i].length;
		st = tel__labels_intern_frame(r->log.labels, &s->seen, &frame,
		    &id);
	}
	if (st == TEL_ELIMIT) {
		tel__reader_limit(r, r->offset, "frames of stacks");
		return TEL_OK;
	}
	if (st == TEL_OK)
		tel_store_le64(s->data + t->fields[t->nfields - 1].offset, id);
	return st;
}

/*
 * Whether a line is there only for the stack of the event of a thread; first: no
 * part of it was found.
 */
static int
announces_stack(const struct ft_line *l, uint64_t of, int first)
{
	const char *const what = first ? FT_STACK : FT_USER_STACK;
	const struct ft_field *text = tel__ft_field(l, "text");
	const struct ft_field *tid = tel__ft_field(l, "tid");

	return text != NULL && text->value.n >= strlen(what) &&
	    memcmp(text->value.p, what, strlen(what)) == 0 && tid != NULL &&
	    tid->number == of;
}

/* Whether a line is blank, as behind a call chain. */
static int
ftrace_is_blank(const unsigned char *p)
{
	return *p == '\n' || *p == '\r';
}

/* Adds the call chain behind the event to its line. */
static void
take_chain(struct tel_reader *r, struct ftrace *s)
{
	const struct ft_field *tid = tel__ft_field(&s->found, "tid");
	const uint64_t of = tid != NULL ? tid->number : UINT64_MAX;
	size_t step = s->line.step, seen = step, have;
	enum ft_kind kind;
	int tabs = 0, blank = 0;

	s->nframes = 0;
	if (s->found.frame != NULL)
		note_frame(s, s->line.p, s->found.frame, s->found.frame_end);
	while (!s->line.truncated && step < TEL_PEEK_MAX - FT_LINE_MAX) {
		have = (size_t)(r->end - r->p);
		const unsigned char *lf =
		    have > seen ? memchr(r->p + seen, '\n', have - seen) : NULL;
		if (lf == NULL) {
			if (r->eof || have - step >= FT_LINE_MAX)
				break;
			seen = have;
			tel__reader_fill(r, have + 1);
			continue;
		}
		kind = ftrace_read_line(&s->ahead, r->p + step, lf);
		/* what perf has of the sample besides, as " insn: 90" */
		if (s->nameless) {
			if (kind == FT_CHAIN && (blank || r->p[step] != '\t'))
				break;
			blank |= ftrace_is_blank(r->p + step);
		} else if (tabs && r->p[step] == ' ' &&
		    (kind == FT_CHAIN ||
		        (kind == FT_WRONG && r->p[step + 1] != ' ')))
			kind = FT_BLANK;
		if (kind != FT_CHAIN && kind != FT_BLANK &&
		    (kind != FT_EVENT ||
		        !(announces_stack(&s->ahead, of, 0) ||
		            (step == s->line.step &&
		                announces_stack(&s->ahead, of, 1)))))
			break;
		tabs |= kind == FT_CHAIN && r->p[step] == '\t';
		if (kind == FT_CHAIN)
			note_frame(s, r->p, r->p + step, lf);
		seen = step = (size_t)(lf + 1 - r->p);
	}
	s->line.step = step;
}

/* Has types have a field for the stack, if there is room. */
static void
ftrace_add_chains(struct ftrace *s)
{
	if (!s->types.full && !s->types.chains)
		s->types.chains = s->types.changed = 1;
}

/* Makes an event of a line of function_graph. */
static enum tel_line_is
take_graph(struct tel_reader *r, struct ftrace *s)
{
	uint64_t stack;

	if (tel__ft_graph_thread(&s->graph, &s->found) != TEL_OK ||
	    tel__ft_graph_take(&s->graph, r, &s->seen, &s->found, &stack) !=
	        TEL_OK)
		return line_failed(&s->line, TEL_ENOMEM);
	ftrace_add_chains(s);
	const enum tel_line_is is = ftrace_make_event(r, s);
	const struct tel_type *t = r->event.type;
	if (is == LINE_EVENT && s->types.chains)
		tel_store_le64(s->data + t->fields[t->nfields - 1].offset,
		    stack);
	return is;
}

static enum tel_line_is
ftrace_parse_line(struct tel_reader *r, struct tel_line *l)
{
	struct ftrace *s = r->state;
	const unsigned char *end = l->end;
	enum tel_line_is is;

	if (s->types.chains && !l->truncated) {
		tel__reader_fill(r, l->step + CHAIN_START);
		l->p = r->p;
		l->end = r->p + l->step - 1;
		end = r->end;
	}
	const enum ft_kind kind =
	    read_event_line(&s->found, l->p, l->end, end, s->nameless);
	if (s->summed && (kind == FT_WRONG || kind == FT_CHAIN))
		return LINE_COMMENT;
	switch (kind) {
	case FT_EVENT:
		s->some = 1;
		if (s->found.graph.is != FT_NO_CALL)
			return take_graph(r, s);
		if (s->found.call.is != FT_WHOLE &&
		    tel__ft_calls_join(&s->calls, &s->found, l->p, l->end) !=
		        TEL_OK)
			return line_failed(l, TEL_ENOMEM);
		if (s->found.frame != NULL)
			ftrace_add_chains(s);
		is = ftrace_make_event(r, s);
		if (is != LINE_EVENT || !s->types.chains)
			return is;
		take_chain(r, s);
		return put_chain(r, s) == TEL_OK ? is :
		                                   line_failed(l, TEL_ENOMEM);
	case FT_CHAIN: ftrace_add_chains(s); break;
	case FT_LOST:
		r->log.lost += s->found.clock;
		r->count[TEL_COUNT_LOST] += s->found.clock;
		tel__ft_graph_lose(&s->graph);
		break;
	case FT_SUMMARY:
		s->summed = 1;
		if (s->some)
			break;
		/* fallthrough */
	case FT_WRONG: return line_wrong(l, s->found.at, s->found.want, NULL);
	case FT_SILENT:
		if (s->found.graph.is == FT_SWITCH &&
		    tel__ft_graph_thread(&s->graph, &s->found) != TEL_OK)
			return line_failed(l, TEL_ENOMEM);
		break;
	case FT_BLANK: break;
	}
	return LINE_COMMENT;
}

static tel_status
ftrace_next(struct tel_reader *r)
{
	static const struct tel_line_decoder decoder = {
		.parse = ftrace_parse_line,
	};
	struct ftrace *s = r->state;

	return tel__line_next(r, &s->line, &decoder);
}

/* ------------------------------------------------------- open and close */

/*
 * Learns the types of the lines that are in the window.  TEL_OK, TEL_ENOMEM;
 * TEL_END: no line of them is an event, and others may come.
 */
static tel_status
look_at_window(struct tel_reader *r, struct ftrace *s)
{
	const unsigned char *p, *lf, *before = NULL;
	int untimed = 0, events = 0;

	for (p = r->p; p < r->end; p = lf + 1) {
		lf = memchr(p, '\n', (size_t)(r->end - p));
		if (lf == NULL || (size_t)(lf - p) >= TEL_PEEK_MAX ||
		    (size_t)(lf - r->p) >= TEL_PEEK_MAX - CHAIN_START)
			break;
		/* of a chain, the first line alone may be an event */
		if (s->nameless && *p == '\t' && before != NULL &&
		    !ftrace_is_blank(before))
			continue;
		before = p;
		switch (
		    read_event_line(&s->found, p, lf, r->end, s->nameless)) {
		case FT_EVENT:
			events = 1;
			if (s->found.call.is != FT_WHOLE &&
			    tel__ft_calls_join(&s->calls, &s->found, p, lf) !=
			        TEL_OK)
				return TEL_ENOMEM;
			if ((s->found.graph.is != FT_NO_CALL &&
			        tel__ft_graph_thread(&s->graph, &s->found) !=
			            TEL_OK) ||
			    tel__ft_type_of(&s->types, &s->found) < 0)
				return TEL_ENOMEM;
			s->types.chains |= s->found.frame != NULL ||
			    s->found.graph.is != FT_NO_CALL;
			*(s->found.has_time ? &s->timed : &untimed) = 1;
			s->ticks |= s->found.has_time == FT_TICKS;
			break;
		case FT_CHAIN: s->types.chains = 1; break;
		case FT_SUMMARY: lf = r->end - 1; break;
		case FT_SILENT:
			if (s->found.graph.is == FT_SWITCH &&
			    tel__ft_graph_thread(&s->graph, &s->found) !=
			        TEL_OK)
				return TEL_ENOMEM;
			break;
		default: break;
		}
	}
	tel__ft_graph_clear(&s->graph);
	tel__ft_calls_clear(&s->calls);
	if (!events && !r->eof && (size_t)(r->end - r->p) < TEL_PEEK_MAX)
		return TEL_END;
	if (!events) {
		s->nameless = !s->nameless;
		if (s->nameless)
			return look_at_window(r, s);
	}
	s->timed |= !untimed;
	return TEL_OK;
}

/* Learns the types of the first lines, as many as come soon. */
static tel_status
look_ahead(struct tel_reader *r, struct ftrace *s)
{
	tel_status st = tel__ft_types_start(&s->types);

	if (st != TEL_OK)
		return st;
	tel__reader_fill_soon(r, TEL_PEEK_MAX, SOON_MS);
	while ((st = look_at_window(r, s)) == TEL_END) {
		tel__reader_fill(r, (size_t)(r->end - r->p) + 1);
		tel__reader_fill_soon(r, TEL_PEEK_MAX, SOON_MS);
	}
	return st;
}

static tel_status
ftrace_open(struct tel_reader *r)
{
	struct ftrace *s = malloc(sizeof(*s));

	r->state = s;
	if (s == NULL)
		return TEL_ENOMEM;
	/* not the event, which is much */
	memset(s, 0, offsetof(struct ftrace, calls));
	tel__index_init(&s->seen);
	tel__ft_graph_init(&s->graph);
	tel__ft_calls_init(&s->calls);
	s->line.most = FT_LINE_MAX;
	s->line.lead_most = FT_LEAD_MAX;
	s->line.invalid = "a line that is not valid in ";
	s->line.in = "a kernel trace";
	if (look_ahead(r, s) != TEL_OK)
		return TEL_ENOMEM;
	if (s->timed && !s->ticks)
		tel__clock_set_rate(r->log.clock,
		    r->tick_rate > 0 ? r->tick_rate : 1e9);
	return tel__ft_types_settle(r, &s->types);
}

static void
ftrace_close(struct tel_reader *r)
{
	struct ftrace *s = r->state;

	tel__line_close(&s->line);
	tel__ft_types_free(&s->types);
	tel__index_clear(&s->seen);
	tel__ft_calls_clear(&s->calls);
	tel__ft_graph_clear(&s->graph);
}

/*
 * Whether a line is of a call chain, or a sample without a name, with an address
 * as perf aligns it; of a sample, one that is longer than most numbers.  Symbols
 * of other tools have zeros before them, and "cd" is an address as well.
 */
static int
is_sample(struct ft_line *l, const unsigned char *p, const unsigned char *end)
{
	const unsigned char *from = p + 1;
	const int chain = *p == '\t';
	int letters = 0;

	if (chain) {
		if (!starts_chain(p, end))
			return 0;
		while (*from == ' ')
			from++;
	} else if (tel__ft_sample(l, (const char *)p, (const char *)end) &&
	    l->frame != NULL) {
		from = l->frame;
	} else {
		return 0;
	}
	const unsigned char *q = from;
	for (; q < end && tel__lines_digit[*q] < 16; q++)
		letters |= !tel_is_digit((char)*q);
	const size_t digits = (size_t)(q - from);
	/* one blank is behind it, where columns of tables have more */
	if (q < end && (*q != ' ' || (q + 1 < end && q[1] == ' ')))
		return 0;
	if (digits >= KERNEL_DIGITS)
		return memcmp(from, "ffff", 4) == 0;
	return chain ? q - p > KERNEL_DIGITS && *from != '0' :
	               digits >= ADDRESS_DIGITS && *from != '0' && letters;
}

/* An event decides; a header line may come before it, or a line that was cut. */
static int
ftrace_probe(struct tel_reader *r)
{
	struct ft_line *l;
	struct tel_peek k = { .next = 0 };
	int other = 0, score = 0, sample = 0, frames = 0, header = 0;

	if (r->best_score >= SCORE)
		return 0;
	l = malloc(sizeof(*l));
	while (l != NULL && other < PROBE_LINES &&
	    tel__line_peek(r, &k, NULL, 0) && k.p < k.end + k.whole) {
		/* what ends a token is behind a whole line alone */
		if (!k.whole || !tel__line_is_text(k.p, k.end, 0))
			break;
		enum ft_kind kind = tel__ft_line(l, k.p, k.end);
		if (kind == FT_SUMMARY) {
			score = SCORE - 20;
			break;
		}
		/* a sample without a time is known by its call chain as well */
		if ((kind == FT_EVENT && (l->has_time || l->frame != NULL)) ||
		    (kind == FT_CHAIN && sample)) {
			score = other == 0 ? SCORE : SCORE - 10;
			break;
		}
		/* what another format knows is not waited for */
		if (r->best_score > 0)
			break;
		if ((kind == FT_CHAIN || kind == FT_WRONG) &&
		    (frames += is_sample(l, k.p, k.end)) == 2) {
			score = SCORE - 20;
			break;
		}
		sample = kind == FT_EVENT;
		other += kind == FT_WRONG;
		header |=
		    k.end - k.p >= 10 && memcmp(k.p, "# tracer: ", 10) == 0;
	}
	/* the kernel's trace file may have no events */
	if (score == 0 && header && other == 0 && r->best_score == 0 &&
	    !r->probe_cut)
		score = SCORE - 20;
	free(l);
	return score;
}

static const struct tel_encoder_ops encoder = {
	.what = "a kernel trace",
	.flags = ENCODER_VERBATIM,
	.write = tel__relay_write,
	RELAY,
};

/* The kernel, and what it runs, were there before. */
static int
ftrace_starts_late(const struct tel_log *log)
{
	return log != NULL;
}

const struct tel_format_ops tel__format_ftrace = {
	.name = "ftrace",
	.starts_late = ftrace_starts_late,
	.late_types = 1,
	.probe = ftrace_probe,
	.open = ftrace_open,
	.next = ftrace_next,
	.close = ftrace_close,
	.encoder = &encoder,
};
