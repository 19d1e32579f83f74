/* SPDX-License-Identifier: BSD-2-Clause */
/* The options that the tools share, their parser and their help. */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "message.h"
#include "streams.h"
#include "tel/base.h"

#define ALL (TOOL_TELCAT | TOOL_TELFILTER | TOOL_TELSTAT | TOOL_TELREPLAY)
#define SHOWS (TOOL_TELCAT)
/* those that write logs */
#define WRITES (TOOL_TELCAT | TOOL_TELFILTER)
/* telreplay has -o with another meaning */
#define OTHERS (ALL & ~(unsigned)TOOL_TELREPLAY)
#define ROLES (TOOL_TELSTAT | TOOL_TELREPLAY)

static const struct option_row common[] = {
	{ OPTION_HEADING, "Selection", NULL, NULL, ALL },
	{ 'k', "kinds", "KINDS",
	    "only these kinds: Pool,Seg or ^Object or 0x21", ALL },
	{ 'e', "events", "TYPES", "only these types: PoolAlloc, Pool*, 0x17",
	    ALL },
	{ 't', "range", "FROM,TO", "only this time: 1.5s,2s or 10%,20% or 5s,",
	    ALL },
	{ 'w', "where", "EXPR", "only where EXPR is true: 'size > 4k'", ALL },
	{ OPTION_SINCE, "since", "EXPR",
	    "from the first event that EXPR selects", ALL },
	{ OPTION_UNTIL, "until", "EXPR",
	    "up to the first event that EXPR selects", ALL },
	{ 'n', "limit", "N", "stop after N events; -N: only the last N",
	    ALL | OPTION_ORDERED },
	{ OPTION_SKIP, "skip", "N", "leave out the first N events",
	    ALL | OPTION_ORDERED },

	{ OPTION_HEADING, "Input", NULL, NULL, ALL },
	{ 'S', "sort", NULL, "sort by time", ALL },
	{ OPTION_FILE_ORDER, "file-order", NULL,
	    "events in the order of the file", ALL | OPTION_RARE },
	{ OPTION_AS, "as", "FORMAT",
	    "read as: mps-1.118.0, ets, jfr, valgrind ...",
	    ALL & ~(unsigned)TOOL_TELSTAT },
	{ OPTION_NO_MERGE, "no-merge", NULL,
	    "read files one after the other, do not merge", ALL },
	{ 'd', "description", "FILE", "read event types of ETS logs from FILE",
	    ALL | OPTION_RARE },
	{ OPTION_CONTRACTS, "contracts", "FILE",
	    "read contracts of Singularity from FILE", ALL | OPTION_RARE },
	{ 'm', "meta", "FILE", "read the names in an HPM trace from FILE",
	    ALL | OPTION_RARE },
	{ OPTION_TB_HZ, "tb-hz", "HZ", "set the ticks per second of the clock",
	    ALL | OPTION_RARE },
	{ OPTION_ALLOC, "alloc", "TYPE(...)",
	    "TYPE allocates: 'Grab(ptr=p,size=n)'", ROLES },
	{ OPTION_FREE, "free", "TYPE(...)", "TYPE frees: 'Drop(ptr=p)'",
	    ROLES },
	{ OPTION_REALLOC, "realloc", "TYPE(...)",
	    "TYPE reallocates: 'Grow(old=o,ptr=p,size=n)'", ROLES },
	{ OPTION_ALLOC, "alloc", "TYPE(...)",
	    "TYPE allocates: 'Grab(ptr=p,size=n)'", TOOL_TELCAT | OPTION_RARE },
	{ OPTION_FREE, "free", "TYPE(...)", "TYPE frees: 'Drop(ptr=p)'",
	    TOOL_TELCAT | OPTION_RARE },
	{ OPTION_REALLOC, "realloc", "TYPE(...)",
	    "TYPE reallocates: 'Grow(old=o,ptr=p,size=n)'",
	    TOOL_TELCAT | OPTION_RARE },
	{ OPTION_STRICT, "strict", NULL, "stop at damage", ALL },
	{ OPTION_FORCE, "force", NULL, "read versions newer than this tool",
	    ALL | OPTION_RARE },
	{ OPTION_CORE, "core", NULL, "read core dumps of programs",
	    ALL | OPTION_RARE },
	{ OPTION_EXE, "exe", "PROGRAM", "the program of a core dump",
	    ALL | OPTION_RARE },

	{ OPTION_HEADING, "Output", NULL, NULL, ALL },
	/* each tool lists its own formats */
	{ 'f', "format", "FORMAT", "", ALL },
	{ 'o', "output", "FILE", "write to FILE", OTHERS },
	{ 'c', "count", NULL, "print the number of events, nothing else", ALL },
	{ 'z', "compress", "LEVEL", "compress with zstd, 1 to 19", OTHERS },
	{ OPTION_META_SET, "meta-set", "KEY=VALUE",
	    "with -f tel: add metadata to the log", WRITES | OPTION_RARE },
	{ OPTION_MAX_LABELS, "max-labels", "N",
	    "store at most N labels and strings: 256k", WRITES | OPTION_RARE },
	{ 'T', "time", "FORM", "ticks, s, ns, relative, delta or iso", SHOWS },
	{ 'u', "unbuffered", NULL,
	    "write each event at once; follow a ring file", SHOWS },
	{ OPTION_COLOR, "color", "[=WHEN]", "auto, always or never", SHOWS },

	{ OPTION_HEADING, "General", NULL, NULL, ALL | TOOL_TELREC },
	{ OPTION_PROGRESS, "progress", NULL, "show progress",
	    ALL | OPTION_RARE },
	{ 'j', "jobs", "N", "use N threads instead of one per processor",
	    OTHERS },
	{ OPTION_NO_CONFIG, "no-config", NULL,
	    "ignore the file that TELTOOLS_CONFIG names", ALL | OPTION_RARE },
	{ OPTION_NO_SANDBOX, "no-sandbox", NULL,
	    "do not confine the process that reads the logs",
	    OTHERS | OPTION_RARE },
	{ 'q', "quiet", NULL, "report only failures", ALL | TOOL_TELREC },
	{ OPTION_VERBOSE, "verbose", NULL,
	    "report how the input is interpreted", ALL },
	{ 'h', "help", "[=WHAT]",
	    "print help; every option, or for scripts: all, table",
	    ALL | TOOL_TELREC },
	{ 'V', "version", NULL, "print the version", ALL | TOOL_TELREC },
};

#define NCOMMON (sizeof(common) / sizeof(common[0]))

static const struct option_row *
find_row(const struct option_row *rows, size_t n, int id)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].id == id)
			return &rows[i];
	return NULL;
}

const struct option_row *
options_own(const struct tool *tool, int id)
{
	return find_row(tool->own, tool->nown, id);
}

int
options_has(const struct tool *tool, int id, unsigned flag)
{
	const struct option_row *row = options_own(tool, id);

	if (row == NULL)
		row = find_row(common, NCOMMON, id);
	return row != NULL && (row->tools & flag) != 0;
}

/* Nonzero when the tool has the common row, or the heading of some. */
static int
applies(const struct tool *tool, const struct option_row *row)
{
	return (row->tools & tool->bit) != 0 &&
	    (row->id == OPTION_HEADING || options_own(tool, row->id) == NULL);
}

/* Collects a tool's options: its own first.  Returns their number. */
static size_t
common_options_collect(const struct tool *tool, const struct option_row **rows)
{
	size_t i, n = 0;

	for (i = 0; i < tool->nown && n < OPTIONS_MAX; i++)
		if (tool->own[i].id != OPTION_HEADING)
			rows[n++] = &tool->own[i];
	for (i = 0; i < NCOMMON && n < OPTIONS_MAX; i++)
		if (common[i].id != OPTION_HEADING && applies(tool, &common[i]))
			rows[n++] = &common[i];
	return n;
}

const struct option_row *
options_find(const struct tool *tool, const char *option)
{
	const struct option_row *rows[OPTIONS_MAX];
	size_t i, n = common_options_collect(tool, rows),
	          length = strcspn(option, "=");

	for (i = 0; i < n; i++)
		if (option[1] == '-' ? strlen(rows[i]->name) == length - 2 &&
		            memcmp(rows[i]->name, option + 2, length - 2) == 0 :
		                       rows[i]->id == option[1])
			return rows[i];
	return NULL;
}

static int
is_optional(const struct option_row *row)
{
	return row->argument != NULL && row->argument[0] == '[';
}

static int
common_options_is_letter(const struct option_row **rows, size_t n, int c)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i]->id == c)
			return 1;
	return 0;
}

/* What an unknown long option may have been meant for; "" if nothing. */
static const char *
common_options_suggest(const struct option_row **rows, size_t n,
    const char *word, char *buffer, size_t size)
{
	char names[OPTIONS_MAX][32], wanted[64];
	const char *list[OPTIONS_MAX];

	(void)snprintf(wanted, sizeof(wanted), "%.*s", (int)strcspn(word, "="),
	    word);
	for (size_t i = 0; i < n; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "--%s",
		    rows[i]->name);
		list[i] = names[i];
	}
	return tel_suggest(wanted, list, n, buffer, size);
}

int
options_word(const char *option, const char *word, const char *const *words)
{
	char list[256] = "", near[192];
	int i;

	for (i = 0; words[i] != NULL; i++) {
		if (strcmp(word, words[i]) == 0)
			return i;
		size_t used = strlen(list);
		(void)snprintf(list + used, sizeof(list) - used, "%s%s",
		    i == 0 ? "" : ", ", words[i]);
	}
	/* a single letter is near to any other */
	near[0] = '\0';
	if (strlen(word) > 1)
		(void)tel_suggest(word, words, (size_t)i, near, sizeof(near));
	message_fail(STATUS_USAGE, NULL, "%s: '%s' is not one of: %s%s", option,
	    word, list, near);
	return -1;
}

/*
 * The options that an abbreviation may stand for, as ": --sort, --strict"; ""
 * if it is the start of none.
 */
static const char *
ambiguous(const struct option_row **rows, size_t n, const char *word,
    char *buffer, size_t size)
{
	const size_t length = strcspn(word, "=");
	size_t i, used = 0;

	buffer[0] = '\0';
	for (i = 0; i < n; i++)
		if (used < size && length > 2 &&
		    strncmp(rows[i]->name, word + 2, length - 2) == 0)
			used += (size_t)snprintf(buffer + used, size - used,
			    "%s--%s", used == 0 ? ": " : ", ", rows[i]->name);
	return buffer;
}

/*
 * Which of the tools have an option that this one lacks, as "; telcat and
 * telstat have -S, --sort"; "" if none has it.
 */
static const char *
whose(const char *word, int letter, char *buffer, size_t size)
{
	static const char *const tools[] = { "telcat", "telfilter", "telstat",
		"telreplay", "telrec" };
	const size_t length = strcspn(word, "=");
	unsigned have = 0, i, left;
	const char *name = NULL;
	size_t used = 0;

	for (i = 0; i < NCOMMON; i++) {
		const struct option_row *row = &common[i];

		if (row->id != OPTION_HEADING &&
		    (letter ? row->id == letter :
		              strlen(row->name) + 2 == length &&
		                memcmp(row->name, word + 2, length - 2) == 0)) {
			have |= row->tools & (ALL | TOOL_TELREC);
			name = row->name;
		}
	}
	buffer[0] = '\0';
	for (i = 0, left = have; left != 0; i++, left = have >> i << i)
		if ((have >> i & 1) != 0 && used < size)
			used +=
			    (size_t)snprintf(buffer + used, size - used, "%s%s",
			        left == have         ? "; " :
			            (left >> i) == 1 ? " and " :
			                               ", ",
			        tools[i]);
	if (have != 0 && used < size)
		(void)snprintf(buffer + used, size - used, " %s --%s",
		    (have & (have - 1)) != 0 ? "have" : "has", name);
	return buffer;
}

/* Reports what getopt did not accept: why is what it returned. */
static int
common_options_refuse(const struct option_row **rows, size_t n, int why,
    const char *word)
{
	int letter = optopt > 0 && optopt < OPTION_AS &&
	    (why == ':' ? word[1] != '-' :
	                  !common_options_is_letter(rows, n, optopt));
	char near[256];

	if (why == ':' && letter)
		message_fail(STATUS_USAGE, NULL,
		    "option '-%c' needs an argument", optopt);
	else if (why == ':')
		message_fail(STATUS_USAGE, NULL,
		    "option '%s' needs an argument", word);
	else if (letter && optopt == '@')
		message_fail(STATUS_USAGE, NULL,
		    "unknown option '-@'; a part of standard input is "
		    "'-- -@FROM,TO'");
	else if (letter)
		message_fail(STATUS_USAGE, NULL, "unknown option '-%c'%s",
		    optopt, whose("", optopt, near, sizeof(near)));
	else if (optopt != 0)
		message_fail(STATUS_USAGE, NULL,
		    "option takes no argument: '%s'", word);
	else if (whose(word, 0, near, sizeof(near))[0] != '\0')
		message_fail(STATUS_USAGE, NULL, "unknown option '%s'%s", word,
		    near);
	else if (ambiguous(rows, n, word, near, sizeof(near))[0] != '\0')
		message_fail(STATUS_USAGE, NULL, "ambiguous option '%s'%s",
		    word, near);
	else
		message_fail(STATUS_USAGE, NULL, "unknown option '%s'%s", word,
		    common_options_suggest(rows, n, word, near, sizeof(near)));
	message(NULL, "try '%s --help'", message_program());
	return OPTION_STOP;
}

int
options_next(const struct tool *tool, int argc, char **argv, const char **value)
{
	const struct option_row *rows[OPTIONS_MAX];
	struct option longs[OPTIONS_MAX + 1];
	char letters[2 * OPTIONS_MAX + 3];
	size_t i, n = common_options_collect(tool, rows), at = 0;

	/* what follows the program that telrec runs is for the program */
	if (tool->bit == TOOL_TELREC)
		letters[at++] = '+';
	letters[at++] = ':';
	memset(longs, 0, sizeof(longs));
	for (i = 0; i < n; i++) {
		longs[i].name = rows[i]->name;
		longs[i].val = rows[i]->id;
		if (rows[i]->argument != NULL)
			longs[i].has_arg = is_optional(rows[i]) ?
			    optional_argument :
			    required_argument;
		if (rows[i]->id >= OPTION_AS)
			continue;
		letters[at++] = (char)rows[i]->id;
		if (rows[i]->argument != NULL && !is_optional(rows[i]))
			letters[at++] = ':';
	}
	letters[at] = '\0';
	opterr = 0;
	int id = getopt_long(argc, argv, letters, longs, NULL);
	*value = optarg;
	if (id == -1)
		return OPTION_END;
	if (id == ':' || id == '?')
		return common_options_refuse(rows, n, id, argv[optind - 1]);
	if (id != 'h' && id != 'V')
		return id;
	if (id == 'V')
		printf("%s (teltools) %s\n", tool->name, tel_version());
	if (id == 'V' || options_help(tool, *value))
		streams_end();
	return OPTION_STOP;
}

/* -------------------------------------------------------------- --help */

/* The column of the texts, and the one that none of them reaches. */
enum { TEXT_AT = 28, TEXT_END = 80 };

/* Prints a text from the column of texts on, broken at blanks. */
static void
print_text(const char *text)
{
	size_t room = TEXT_END - TEXT_AT - 1, n, i;

	while (strlen(text) > room) {
		for (i = n = 0; i <= room; i++)
			if (text[i] == ' ')
				n = i;
		if (n == 0)
			break;
		printf("%.*s\n%*s", (int)n, text, TEXT_AT, "");
		text += n + 1;
	}
	printf("%s\n", text);
}

static const char *
row_text(const struct tool *tool, const struct option_row *row)
{
	return row->id == 'f' && row->text[0] == '\0' ? tool->formats :
	                                                row->text;
}

static void
common_options_print_row(const struct tool *tool, const struct option_row *row)
{
	const char *argument = row->argument;
	char left[40];
	int n = snprintf(left, sizeof(left), "--%s%s%s", row->name,
	    argument == NULL || is_optional(row) ? "" : " ",
	    argument == NULL ? "" : argument);

	if (row->id < OPTION_AS)
		n += printf("  -%c, ", row->id);
	else
		n += printf("      ");
	printf("%s%*s", left, n + 2 > TEXT_AT ? 2 : TEXT_AT - n, "");
	print_text(row_text(tool, row));
}

/*
 * Prints the rows of a group from one of the two tables, with the heading
 * before the first of all.
 */
static void
print_rows(const struct tool *tool, const struct option_row *rows, size_t n,
    const char *group, int all, int *printed)
{
	int in = 0;

	for (size_t i = 0; i < n; i++) {
		if (rows[i].id == OPTION_HEADING)
			in = strcmp(rows[i].name, group) == 0;
		else if (in && (all || (rows[i].tools & OPTION_RARE) == 0) &&
		    (rows != common || applies(tool, &rows[i]))) {
			if (!*printed)
				printf("\n%s:\n", group);
			*printed = 1;
			common_options_print_row(tool, &rows[i]);
		}
	}
}

static void
print_group(const struct tool *tool, const char *group, int all)
{
	int printed = 0;

	print_rows(tool, common, NCOMMON, group, all, &printed);
	print_rows(tool, tool->own, tool->nown, group, all, &printed);
}

/* Nonzero when the common table has the group. */
static int
is_common(const char *group)
{
	for (size_t i = 0; i < NCOMMON; i++)
		if (common[i].id == OPTION_HEADING &&
		    strcmp(common[i].name, group) == 0)
			return 1;
	return 0;
}

/*
 * Prints the words of which an option takes one, where its text lists them, as
 * "order between threads: edges, total or none" does.
 */
static void
print_words(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789.,-";
	const char *p, *blank = "";
	size_t n, used;

	for (p = text; *p != '\0'; p++)
		if ((p[0] == ':' || p[0] == ';') && p[1] == ' ')
			text = p + 2;
	for (p = text; *p != '\0'; p += n + (p[n] != '\0')) {
		n = strcspn(p, " ");
		used = n > 0 && p[n - 1] == ',' ? n - 1 : n;
		if (p[0] == '.' || strspn(p, letters) < used ||
		    (used == 2 && memcmp(p, "or", 2) == 0))
			continue;
		printf("%s%.*s", blank, (int)used, p);
		blank = " ";
	}
}

/* Prints the options for the completions of shells, a line for each. */
static void
print_table(const struct tool *tool)
{
	static const char *const listed[] = { "FORMAT", "FORM", "[=WHEN]",
		"[=WHAT]", "ORDER", "WHAT", "LIST", "WHICH", "KEY", "[=KEY]",
		"[=HOW]" };
	const struct option_row *rows[OPTIONS_MAX];
	size_t i, j, n = common_options_collect(tool, rows);

	for (i = 0; i < n; i++) {
		const char *argument = rows[i]->argument;
		const char *text = row_text(tool, rows[i]);

		if (rows[i]->id < OPTION_AS)
			putchar(rows[i]->id);
		printf("\t%s\t%s\t%s\t", rows[i]->name,
		    argument == NULL ? "" : argument, text);
		for (j = 0; j < sizeof(listed) / sizeof(listed[0]); j++)
			if (argument != NULL &&
			    strcmp(argument, listed[j]) == 0)
				print_words(text);
		putchar('\n');
	}
}

int
options_help(const struct tool *tool, const char *what)
{
	static const char *const words[] = { "all", "table", NULL };
	int all = what == NULL ? -1 : options_word("--help", what, words);

	if (what != NULL && all < 0)
		return 0;
	if (all == 1) {
		print_table(tool);
		return 1;
	}
	all = all == 0;
	printf("usage: %s [option ...] %s\n%s\n\n", tool->name, tool->operands,
	    tool->purpose);
	for (size_t i = 0; i < 2; i++)
		printf("  %s\n", tool->examples[i]);
	for (size_t i = 0; i < tool->nown; i++)
		if (tool->own[i].id == OPTION_HEADING &&
		    !is_common(tool->own[i].name))
			print_group(tool, tool->own[i].name, all);
	for (size_t i = 0; i < NCOMMON; i++)
		if (common[i].id == OPTION_HEADING &&
		    (common[i].tools & tool->bit) != 0)
			print_group(tool, common[i].name, all);
	printf("\nThe manual page is %s(1).\n", tool->name);
	return 1;
}

int
options_join(char **joined, const char *before, const char *between,
    const char *text, const char *after)
{
	size_t size = strlen(text) + 1;

	if (*joined != NULL)
		size += strlen(before) + strlen(*joined) + strlen(between) +
		    strlen(after);
	char *all = malloc(size);
	if (all == NULL)
		return 0;
	if (*joined == NULL)
		(void)snprintf(all, size, "%s", text);
	else
		(void)snprintf(all, size, "%s%s%s%s%s", before, *joined,
		    between, text, after);
	free(*joined);
	*joined = all;
	return 1;
}
