/* SPDX-License-Identifier: BSD-2-Clause */
/* Patterns without operators, and globs, against those of the C library. */
#include <fnmatch.h>
#include <regex.h>

#include "query/pattern.h"
#include "tap.h"

#define ROUNDS 20000

static unsigned
pick(unsigned n)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % n;
}

/* Appends up to most of some letters. */
static void
append(char *to, const char *letters, unsigned most)
{
	const unsigned n = pick(most + 1);
	size_t length = strlen(to);

	for (unsigned i = 0; i < n; i++)
		to[length++] = letters[pick((unsigned)strlen(letters))];
	to[length] = '\0';
}

static int
by_regexec(const char *pattern, const char *text)
{
	regex_t regex;

	if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0)
		abort();
	const int match = regexec(&regex, text, 0, NULL, 0) == 0;
	regfree(&regex);
	return match;
}

static int
by_glob(const char *glob, const char *text)
{
	static char scratch[SUBJECT_MAX + 1];
	struct pattern p;

	memset(&p, 0, sizeof(p));
	if (tel__pattern_glob(&p, glob, strlen(glob)) != NULL)
		abort();
	const int match =
	    tel__pattern_match(&p, text, strlen(text), scratch) > 0;
	tel__pattern_clear(&p);
	return match;
}

int
main(void)
{
	unsigned wrong = 0, matched = 0, globs = 0, globbed = 0;
	char pattern[32], text[32], why[80];
	static char scratch[SUBJECT_MAX + 1];
	struct pattern p;

	for (unsigned i = 0; i < ROUNDS; i++) {
		strcpy(pattern, pick(3) == 0 ? "^" : "");
		append(pattern, "ab", 3);
		strcat(pattern, pick(3) == 0 ? "$" : "");
		text[0] = '\0';
		append(text, "ab", 5);
		memset(&p, 0, sizeof(p));
		if (tel__pattern_regex(&p, pattern, strlen(pattern), why,
		        sizeof(why)) != NULL)
			abort();
		const int got =
		    tel__pattern_match(&p, text, strlen(text), scratch) > 0;
		tel__pattern_clear(&p);
		matched += (unsigned)got;
		if (got != by_regexec(pattern, text) && wrong++ < 5)
			diag("'%s' ~ '%s': %d", text, pattern, got);
	}
	is_u64(wrong, 0, "literals match as in the C library");
	ok(matched > ROUNDS / 8 && matched < ROUNDS / 8 * 7, "%u of them",
	    matched);
	for (unsigned i = 0; i < ROUNDS; i++) {
		pattern[0] = text[0] = '\0';
		append(pattern, "ab*?*", 5);
		append(text, "ab", 6);
		const int got = by_glob(pattern, text);
		globbed += (unsigned)got;
		if (got != (fnmatch(pattern, text, 0) == 0) && globs++ < 5)
			diag("'%s' =* '%s': %d", text, pattern, got);
	}
	is_u64(globs, 0, "globs match as in the C library");
	ok(globbed > ROUNDS / 8 && globbed < ROUNDS / 8 * 7, "%u of them",
	    globbed);
	ok(by_glob("*\\*", "a*") && !by_glob("*\\*", "ab"),
	    "a star behind a backslash is a star");
	ok(by_glob("a\\", "a\\") && !by_glob("a\\", "a"),
	    "a backslash at the end is one");
	return done();
}
