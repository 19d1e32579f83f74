/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers on the command line, with their suffixes. */
#include "number.h"

#include <inttypes.h>
#include <string.h>
#include "message.h"

static int
digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 16;
}

int
number_parse(const char *text, uint64_t *out)
{
	static const char suffixes[] = "kMGT";
	unsigned base = 10;
	uint64_t value = 0;
	const char *suffix, *start;

	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		base = 16;
		text += 2;
	}
	for (start = text; digit_value(*text) < (int)base; text++) {
		unsigned digit = (unsigned)digit_value(*text);

		if (__builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, digit, &value))
			return 0;
	}
	if (text == start)
		return 0;
	if (*text != '\0') {
		unsigned shift;

		suffix = strchr(suffixes, *text);
		if (suffix == NULL || text[1] != '\0')
			return 0;
		shift = 10 * (unsigned)(suffix - suffixes + 1);
		if (value > UINT64_MAX >> shift)
			return 0;
		value <<= shift;
	}
	*out = value;
	return 1;
}

int
number_option(const char *option, const char *what, const char *text,
    uint64_t min, uint64_t max, uint64_t *out)
{
	uint64_t value;

	if (!number_parse(text, &value)) {
		message_fail(STATUS_USAGE, NULL, "%s: '%s' is not a %s", option,
		    text, what);
		return 0;
	}
	if (value < min || value > max) {
		message_fail(STATUS_USAGE, NULL,
		    "%s: '%s' is not a %s from %" PRIu64 " to %" PRIu64, option,
		    text, what, min, max);
		return 0;
	}
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
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 },
		{ "s", 1000000000 }, { "m", 60000000000 },
		{ "h", 3600000000000 } };
	int negative = text[0] == '-';
	const char *end;
	uint64_t value;
	size_t i;

	text += negative;
	end = text + strspn(text, "0123456789.");
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(end, units[i].name) == 0)
			break;
	if (i == sizeof(units) / sizeof(units[0]) ||
	    !parse_decimal(text, end, units[i].ns, &value) || value > INT64_MAX)
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
