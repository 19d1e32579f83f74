/* SPDX-License-Identifier: BSD-2-Clause */
/* Selections of time, addresses and labels. */
#include "query/select.h"

#include <stdlib.h>
#include <string.h>

static const char *
skip_blanks(const char *p)
{
	while (*p == ' ' || *p == '\t')
		p++;
	return p;
}

static int
is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') ||
	    (c >= 'A' && c <= 'F');
}

/* Sixteen hexadecimal digits and no more: a clock as telcat prints it. */
static int
read_clock(const char *p, const char **end, uint64_t *out)
{
	uint64_t v = 0;
	size_t i;

	for (i = 0; i < 16 && is_hex(p[i]); i++)
		v = v << 4 |
		    (unsigned)(p[i] <= '9' ? p[i] - '0' :
		                             (lower(p[i]) - 'a' + 10));
	if (i < 16 || is_hex(p[16]))
		return 0;
	*end = p + 16;
	*out = v;
	return 1;
}

/* One end of a range of time.  Returns NULL, or what is wrong. */
static const char *
read_instant(const char *p, const char **end, struct instant *out)
{
	struct number number;
	const char *why;
	int negative = 0, clock;

	*end = p;
	out->base = INSTANT_NONE;
	out->value = 0;
	if (*p == ',' || *p == '\0')
		return NULL;
	out->base = INSTANT_CLOCK;
	if (read_clock(p, end, &out->value))
		return NULL;
	if (*p == '-' || *p == '+')
		negative = *p++ == '-';
	clock = p[0] == '0' && (p[1] == 'x' || p[1] == 'X');
	why = tel__number_read(p, end, 1, &number);
	if (why != NULL)
		return why;
	if (number.value.tag != V_NATURAL ||
	    (!clock && number.value.as.u > INT64_MAX) || (clock && negative))
		return "this is no whole number of ticks, nor a time";
	out->value = negative ? 0 - number.value.as.u : number.value.as.u;
	if (number.unit == NUMBER_TIME)
		out->base = INSTANT_NS;
	else if (!clock)
		out->base = INSTANT_TICKS;
	return NULL;
}

tel_status
tel__select_time(struct selection *s, const char *text, struct fail *fail)
{
	struct instant from = { INSTANT_NONE, 0 }, to = { INSTANT_NONE, 0 };
	const char *p, *end, *why;

	if (text != NULL) {
		p = skip_blanks(text);
		why = read_instant(p, &end, &from);
		if (why == NULL) {
			p = skip_blanks(end);
			if (*p++ != ',')
				return tel__fail_set(fail, TEL_EINVAL, text,
				    (unsigned)(end - text) + 1,
				    "a range of time is FROM,TO");
			p = skip_blanks(p);
			why = read_instant(p, &end, &to);
		}
		if (why != NULL)
			return tel__fail_set(fail, TEL_EINVAL, text,
			    (unsigned)(p - text) + 1, "%s", why);
		end = skip_blanks(end);
		if (*end != '\0')
			return tel__fail_set(fail, TEL_EINVAL, text,
			    (unsigned)(end - text) + 1,
			    "the range of time should end here");
	}
	s->from = from;
	s->to = to;
	return TEL_OK;
}

/* A whole number of a range of addresses. */
static const char *
read_address(const char **p, uint64_t *out)
{
	struct number number;
	const char *why;

	*p = skip_blanks(*p);
	if (**p < '0' || **p > '9')
		return "an address is a number";
	why = tel__number_read(*p, p, 0, &number);
	if (why == NULL &&
	    (number.value.tag != V_NATURAL || number.unit == NUMBER_TIME))
		why = "this is no whole number";
	if (why != NULL)
		return why;
	*p = skip_blanks(*p);
	*out = number.value.as.u;
	return NULL;
}

/* ADDRESS, ADDRESS,+LENGTH or FIRST,LAST. */
static const char *
read_span(const char **p, struct span *out)
{
	const char *why = read_address(p, &out->lo);
	uint64_t length;

	out->hi = out->lo;
	if (why != NULL || **p != ',')
		return why;
	*p = skip_blanks(*p + 1);
	if (**p != '+') {
		why = read_address(p, &out->hi);
		if (why == NULL && out->hi < out->lo)
			why = "the range ends before it begins";
		return why;
	}
	++*p;
	why = read_address(p, &length);
	if (why != NULL)
		return why;
	if (length == 0)
		return "the range is empty";
	if (__builtin_add_overflow(out->lo, length - 1, &out->hi))
		return "the range goes past the last address";
	return NULL;
}

tel_status
tel__select_address(struct selection *s, const char *text, struct fail *fail)
{
	const char *p = text, *why;
	struct span span, *list;

	if (text == NULL) {
		free(s->addresses);
		s->addresses = NULL;
		s->naddresses = 0;
		free(s->address_set);
		s->address_set = NULL;
		return TEL_OK;
	}
	if (s->naddresses == LIST_MAX)
		return tel__fail_set(fail, TEL_ELIMIT, text, 0,
		    "there are more than %u ranges of addresses", LIST_MAX);
	why = read_span(&p, &span);
	if (why == NULL && *p != '\0')
		why = "the range of addresses should end here";
	if (why != NULL)
		return tel__fail_set(fail, TEL_EINVAL, text,
		    (unsigned)(p - text) + 1, "%s", why);
	list =
	    realloc(s->addresses, (s->naddresses + 1) * sizeof(*s->addresses));
	if (list == NULL)
		return TEL_ENOMEM;
	list[s->naddresses++] = span;
	s->addresses = list;
	free(s->address_set);
	s->address_set = tel__set_new(s->addresses, s->naddresses);
	return s->address_set == NULL ? TEL_ENOMEM : TEL_OK;
}

tel_status
tel__select_label(struct selection *s, const char *text, struct fail *fail)
{
	struct pattern glob = { 0 };
	char *copy = NULL;
	const char *why;
	size_t length;

	if (text != NULL) {
		length = strlen(text);
		copy = malloc(length + 1);
		if (copy == NULL)
			return TEL_ENOMEM;
		memcpy(copy, text, length + 1);
		why = tel__pattern_glob(&glob, copy, length);
		if (why != NULL) {
			free(copy);
			return tel__fail_set(fail, TEL_ELIMIT, text, 0, "%s",
			    why);
		}
	}
	free(s->label_text);
	s->label_text = copy;
	s->label = glob;
	return TEL_OK;
}
