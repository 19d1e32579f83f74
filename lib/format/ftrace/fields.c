/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fields of an event: "KEY=VALUE", or "KEY: VALUE, ...", what text is before
 * them, and what follows from them.
 */
#include "format/ftrace/ftrace.h"
#include "format/ftrace/text.h"

/* The least digits of an address that a function is behind. */
#define FRAME_DIGITS 6

/* A value as a number, if it is one. */
static void
field_number(struct ft_text value, enum tel_datatype *datatype,
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
	field_number(number, &f->datatype, &f->number);
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
void
tel__ft_take_fields(struct ft_line *l, const char *p, const char *end)
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
void
tel__ft_complete_fields(struct ft_line *l)
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
