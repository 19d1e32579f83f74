/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers on the command line, with their suffixes. */
#include "number.h"

#include <inttypes.h>
#include <string.h>
#include "base/digit.h"
#include "message.h"

int
number_parse(const char *text, uint64_t *out)
{
	const int hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	const char *digits = hex ? text + 2 : text, *end;
	uint64_t value;

	end = tel__digits(digits, hex ? 16 : 10, &value);
	if (end == NULL || end == digits)
		return 0;
	const struct tel_suffix *s = tel__suffix_find(end, strlen(end));
	if (s == NULL || s->is_time ||
	    __builtin_mul_overflow(value, s->factor, &value))
		return 0;
	*out = value;
	return 1;
}

int
number_option(const char *option, const char *what, const char *text,
    uint64_t min, uint64_t max, uint64_t *out)
{
	uint64_t value;

	if (!number_parse(text, &value))
		return message_fail(STATUS_USAGE, NULL, "%s: '%s' is not a %s",
		    option, text, what);
	if (value < min || value > max)
		return message_fail(STATUS_USAGE, NULL,
		    "%s: '%s' is not a %s from %" PRIu64 " to %" PRIu64, option,
		    text, what, min, max);
	*out = value;
	return 1;
}

/*
 * Reads digits[.digits] as a number of unit/ones: "1.5" with unit 1000 is
 * 1500.  Digits that are worth less than one are dropped.  *end is set to
 * what follows.  Returns 1, or 0 when there is no digit or it is too large.
 */
static int
parse_decimal(const char *text, const char *end, uint64_t unit, uint64_t *out)
{
	uint64_t value = 0;
	unsigned digits = 0;

	for (; text < end && *text != '.'; text++, digits++) {
		if (*text < '0' || *text > '9')
			return 0;
		if (__builtin_mul_overflow(value, 10U, &value) ||
		    __builtin_add_overflow(value, (unsigned)(*text - '0'),
		        &value))
			return 0;
	}
	if (__builtin_mul_overflow(value, unit, &value))
		return 0;
	if (text < end)
		text++;
	for (; text < end; text++, digits++) {
		if (*text < '0' || *text > '9')
			return 0;
		unit /= 10;
		if (__builtin_add_overflow(value,
		        (unsigned)(*text - '0') * unit, &value))
			return 0;
	}
	*out = value;
	return digits > 0;
}

int
number_time(const char *text, int64_t *out)
{
	const int negative = text[0] == '-';
	const char *end =
	    text + negative + strspn(text + negative, "0123456789.");
	const struct tel_suffix *s = tel__suffix_find(end, strlen(end));
	uint64_t value;

	if (s == NULL || !s->is_time ||
	    !parse_decimal(text + negative, end, s->factor, &value) ||
	    value > INT64_MAX)
		return 0;
	*out = negative ? -(int64_t)value : (int64_t)value;
	return 1;
}

int
number_percent(const char *text, uint64_t *out)
{
	const char *end = text + strspn(text, "0123456789.");
	uint64_t value;

	if (strcmp(end, "%") != 0 ||
	    !parse_decimal(text, end, 10000000, &value) || value > 1000000000)
		return 0;
	*out = value;
	return 1;
}
