/* SPDX-License-Identifier: BSD-2-Clause */
/* From the command line to settings. */
#define _GNU_SOURCE /* for sched_getaffinity() */
#include "settings.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "message.h"
#include "number.h"

/* More threads than these wait for the one that reads and writes. */
#define PRINTERS_MAX 8u

static int
settings_set_time(struct settings *s, const char *text)
{
	static const char *const words[] = { "ticks", "s", "ns", "relative",
		"delta", "iso", NULL };
	static const tel_time_form forms[] = { TEL_TIME_TICKS, TEL_TIME_SECONDS,
		TEL_TIME_NS, TEL_TIME_RELATIVE, TEL_TIME_DELTA, TEL_TIME_ISO };
	int i = options_word("-T", text, words);

	if (i < 0)
		return 0;
	s->time = forms[i];
	s->time_given = 1;
	return 1;
}

int
settings_set_color(struct settings *s, const char *text)
{
	static const char *const words[] = { "auto", "always", "never", NULL };
	int i =
	    text == NULL ? WHEN_ALWAYS : options_word("--color", text, words);

	if (i < 0)
		return 0;
	s->color = (enum when)i;
	return 1;
}

int
settings_set_as(struct settings *s, const char *text)
{
	const char *names[64] = { "tel", "rings", "mps", "text", "cnv",
		"mpstxt", "mpsdump", "hpm-meta", "jfr", "ctf", "ftrace" };
	tel_reader *r = tel_reader_new();
	/* asks the library, so that there is one list of what it reads */
	tel_status st = r == NULL ? TEL_ENOMEM : tel_reader_set_as(r, text);
	char near[192];
	size_t n = 11;
	unsigned i;

	s->as = text;
	tel_reader_free(r);
	for (i = 0; n < 64 && (names[n] = tel_release_name(i)) != NULL; i++)
		n++;
	if (st == TEL_EINVAL)
		message_fail(STATUS_USAGE, NULL,
		    "--as: '%s' is not a format, release or platform%s", text,
		    tel_suggest(text, names, n, near, sizeof(near)));
	else if (st != TEL_OK)
		message_fail(STATUS_FAILED, NULL, "%s", tel_status_text(st));
	return st == TEL_OK;
}

static int
set_tick_rate(struct settings *s, const char *text)
{
	uint64_t hertz;
	char *end;

	/* a rate that was measured, such as 2.5e9 */
	if (text[strspn(text, "0123456789.eE+")] == '\0' && *text != '+') {
		double value = strtod(text, &end);

		if (*end == '\0' && end > text && value >= 1 && value < 1e18) {
			s->tick_rate = value;
			return 1;
		}
	}
	if (!number_option("--tb-hz", "number of hertz", text, 1, UINT64_MAX,
	        &hertz))
		return 0;
	s->tick_rate = (double)hertz;
	return 1;
}

/* Asks the library what it takes. */
static int
add_role(struct settings *s, const char *role, const char *text)
{
	tel_reader *r = tel_reader_new();
	tel_status st =
	    r == NULL ? TEL_ENOMEM : tel_reader_add_role(r, role, text);

	tel_reader_free(r);
	if (st == TEL_EINVAL)
		message_fail(STATUS_USAGE, NULL,
		    "--%s: '%s': expected 'TYPE(ptr=FIELD,size=FIELD)'", role,
		    text);
	else if (st != TEL_OK)
		message_fail(STATUS_FAILED, NULL, "%s", tel_status_text(st));
	else if (s->nroles == SETTINGS_ROLES_MAX)
		message_fail(STATUS_USAGE, NULL,
		    "--%s: this option can be given %d times", role,
		    SETTINGS_ROLES_MAX);
	if (st != TEL_OK || s->nroles == SETTINGS_ROLES_MAX)
		return 0;
	s->roles[s->nroles].role = role;
	s->roles[s->nroles++].text = text;
	return 1;
}

static int
set_compress(struct settings *s, const char *text)
{
	uint64_t level;

	if (!number_option("-z", "level", text, 1, 19, &level))
		return 0;
	s->compress = (int)level;
	return 1;
}

static int
set_jobs(struct settings *s, const char *text)
{
	uint64_t n;

	if (!number_option("-j", "number of threads", text, 1, 256, &n))
		return 0;
	s->jobs = (unsigned)n;
	return 1;
}

/* -------------------------------------------- files that describe events */

/* The file in one of the folders that has it; NULL when none has. */
static char *
settings_search(const char *folders, const char *name)
{
	size_t n, size;

	for (;; folders += n + 1) {
		n = strcspn(folders, ":");
		size = n + strlen(name) + 2;
		char *path = malloc(size);
		if (path == NULL)
			return NULL;
		(void)snprintf(path, size, "%.*s/%s", (int)n, folders, name);
		if (n > 0 && access(path, R_OK) == 0)
			return path;
		free(path);
		if (folders[n] == '\0')
			return NULL;
	}
}

/*
 * Adds a file that describes events, which may be in a folder of
 * TEL_SCHEMA_PATH.  Returns 1, or 0 after a message.
 */
static int
describe_add(char ***list, size_t *count, const char *path)
{
	const char *folders = getenv("TEL_SCHEMA_PATH");
	char **longer = realloc(*list, (*count + 1) * sizeof(*longer));
	char *found = NULL;

	if (longer != NULL)
		*list = longer;
	if (access(path, R_OK) == 0)
		found = strdup(path);
	else if (path[0] != '/' && folders != NULL &&
	    (found = settings_search(folders, path)) == NULL)
		errno = ENOENT;
	if (found == NULL && errno != ENOMEM)
		return message_errno(path);
	if (longer != NULL && found != NULL) {
		longer[(*count)++] = found;
		return 1;
	}
	free(found);
	return message_no_memory();
}

static void
describe_free(char **list, size_t count)
{
	while (count > 0)
		free(list[--count]);
	free(list);
}

/* ------------------------------------------------------------- options */

/* Keeps "KEY=VALUE", whose key is checked when it is set. */
static int
settings_add_metadata(struct settings *s, const char *value)
{
	const char **longer;
	const char *equals = strchr(value, '=');

	if (equals == NULL || equals == value)
		return message_fail(STATUS_USAGE, NULL,
		    "--meta-set: expected KEY=VALUE, found '%s'", value);
	longer = realloc(s->metadata, (s->nmetadata + 1) * sizeof(*longer));
	if (longer == NULL)
		return message_no_memory();
	s->metadata = longer;
	s->metadata[s->nmetadata++] = value;
	return 1;
}

/* The bound that TEL_READ_MAX_LABELS and TEL_WRITE_MAX_LABELS have. */
#define LABELS_MAX ((uint64_t)1 << 30)

/* Takes one of the common options.  Returns 1, or 0 after a message. */
static int
settings_take(struct settings *s, int id, const char *value)
{
	struct selection *sel = &s->select;
	int negative;

	switch (id) {
	case 'f': s->format = value; return 1;
	case 'o': s->output = strcmp(value, "-") == 0 ? NULL : value; return 1;
	case 'z': return set_compress(s, value);
	case 'k':
	case 'e':
	case 't':
	case OPTION_SINCE:
	case OPTION_UNTIL:
	case 'w': return selection_option(sel, id, value);
	case 'T': return settings_set_time(s, value);
	case 'u': s->unbuffered = 1; return 1;
	case 'q': s->quiet = 1; return 1;
	case 'c': s->count_only = 1; return 1;
	case 'S': s->order = TEL_ORDER_TIME; return 1;
	case OPTION_FILE_ORDER: s->file_order = 1; return 1;
	case OPTION_NO_MERGE: s->no_merge = 1; return 1;
	case 'm':
	case OPTION_EXE:
		s->meta = value;
		return access(value, R_OK) == 0 || message_errno(value);
	/* cores are detected */
	case OPTION_CORE: return 1;
	/* config_apply() has seen it */
	case OPTION_NO_CONFIG: return 1;
	case 'd':
		return describe_add(&s->descriptions, &s->ndescriptions, value);
	case OPTION_CONTRACTS:
		return describe_add(&s->contracts, &s->ncontracts, value);
	case OPTION_META_SET: return settings_add_metadata(s, value);
	case OPTION_MAX_LABELS:
		return number_option("--max-labels", "number of labels", value,
		    1, LABELS_MAX, &s->max_labels);
	case OPTION_TB_HZ: return set_tick_rate(s, value);
	case OPTION_ALLOC: return add_role(s, "alloc", value);
	case OPTION_FREE: return add_role(s, "free", value);
	case OPTION_REALLOC: return add_role(s, "realloc", value);
	case 'n':
		negative =
		    value[0] == '-' && value[1] >= '0' && value[1] <= '9';
		if (!number_option("-n", "number of events", value + negative,
		        0, UINT64_MAX, &sel->count))
			return 0;
		sel->last = negative ? sel->count : 0;
		return 1;
	case 'j': return set_jobs(s, value);
	case OPTION_SKIP:
		return number_option("--skip", "number of events", value, 0,
		    UINT64_MAX, &sel->skip);
	case OPTION_AS: return settings_set_as(s, value);
	case OPTION_STRICT: s->strict = 1; return 1;
	case OPTION_FORCE: s->force = 1; return 1;
	case OPTION_PROGRESS: s->progress = 1; return 1;
	case OPTION_COLOR: return settings_set_color(s, value);
	case OPTION_VERBOSE: s->verbose = 1; return 1;
	case OPTION_NO_SANDBOX: s->no_sandbox = 1; return 1;
	default: return 0;
	}
}

/*
 * Nonzero unless the tool would wait for somebody to type a log: it was called
 * without operands at a terminal, to see what it does.
 */
static int
has_input(const struct settings *s, const struct tool *tool)
{
	if (s->noperands > 0 || !isatty(STDIN_FILENO))
		return 1;
	message_fail(STATUS_USAGE, NULL,
	    "no file given, and standard input is a terminal");
	message(NULL, "usage: %s [option ...] %s", tool->name, tool->operands);
	message(NULL, "for example: %s", tool->examples[0]);
	message(NULL, "try '%s --help'", tool->name);
	return 0;
}

/* Takes all options.  Returns 1, or 0 when the tool is to end. */
static int
settings_take_all(struct settings *s, const struct tool *tool, void *arg,
    int argc, char **argv)
{
	const char *value;
	int id, ok;

	while ((id = options_next(tool, argc, argv, &value)) != OPTION_END) {
		if (id == OPTION_STOP)
			return 0;
		s->preferred[id] = optind <= 1 + s->config.nfile;
		if (options_own(tool, id) != NULL) {
			s->ordered |= !options_has(tool, id, OPTION_UNORDERED);
			ok = tool->option(arg, id, value);
		} else {
			s->ordered |= options_has(tool, id, OPTION_ORDERED);
			ok = settings_take(s, id, value);
		}
		if (!ok)
			return 0;
	}
	return 1;
}

int
settings_parse(struct settings *s, const struct tool *tool, void *arg, int argc,
    char **argv)
{
	int i, input = 0;

	memset(s, 0, sizeof(*s));
	s->order = TEL_ORDER_LOG;
	if (!selection_begin(&s->select) ||
	    !config_apply(&s->config, tool, argc, argv))
		return 0;
	if (s->config.argv != NULL) {
		argc = s->config.argc;
		argv = s->config.argv;
	}
	if (!settings_take_all(s, tool, arg, argc, argv))
		return 0;
	if (!operands_take(s, argv + optind, argc - optind))
		return 0;
	for (i = 0; i < s->noperands; i++)
		input += strcmp(s->operands[i], "-") == 0;
	if (input > 1)
		return message_fail(STATUS_USAGE, NULL,
		    "standard input, '-', can be read only once");
	return s->no_input || has_input(s, tool);
}

int
settings_is_preferred(const struct settings *s, int id)
{
	return s->preferred[id];
}

unsigned
settings_cores(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);
#ifdef __linux__
	cpu_set_t set;

	/* a container, or taskset, may allow fewer than there are */
	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		n = CPU_COUNT(&set);
#endif

	return n < 1 ? 1 : n > 1024 ? 1024 : (unsigned)n;
}

unsigned
settings_printers(const struct settings *s)
{
	unsigned n = s->jobs > 0 ? s->jobs : settings_cores();

	return n < PRINTERS_MAX ? n : PRINTERS_MAX;
}

void
settings_free(struct settings *s)
{
	selection_free(&s->select);
	describe_free(s->descriptions, s->ndescriptions);
	describe_free(s->contracts, s->ncontracts);
	free(s->metadata);
	operands_free(&s->ranged);
	config_free(&s->config);
}
