/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of a user's configuration file. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"

/* The most bytes of the file, and the most options in it. */
enum { BYTES_MAX = 65536, LINES_MAX = 256 };

static const char blanks[] = " \t\r";

static int
is_refused(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--no-config") == 0)
			return 1;
	return 0;
}

/* Reads the file into .text.  Returns 1, or 0 after a message. */
static int
config_read_file(struct config *c, const char *path)
{
	/* a pipe that nobody writes to is not waited for, but refused */
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	FILE *file = NULL;
	struct stat st;
	size_t n = 0;

	if (fd >= 0 && fstat(fd, &st) == 0 && fcntl(fd, F_SETFL, 0) == 0)
		file = fdopen(fd, "r");
	int error = errno;

	c->text = malloc(BYTES_MAX + 1);
	if (c->text == NULL) {
		error = ENOMEM;
	} else if (file != NULL) {
		errno = 0;
		n = fread(c->text, 1, BYTES_MAX, file);
		error = ferror(file)               ? errno :
		    n == BYTES_MAX                 ? EFBIG :
		    memchr(c->text, 0, n) != NULL  ? EINVAL :
		    n == 0 && S_ISFIFO(st.st_mode) ? ENODATA :
		                                     0;
		c->text[n] = '\0';
	}
	if (file != NULL)
		(void)fclose(file);
	else if (fd >= 0)
		(void)close(fd);
	if (error == 0)
		return 1;
	return message_fail(STATUS_USAGE, path, "TELTOOLS_CONFIG: %s",
	    strerror(error));
}

static int
config_wrong(const char *path, unsigned number, const char *what)
{
	return message_fail(STATUS_USAGE, path, "line %u: %s", number, what);
}

/* Whether the n bytes at name are the name of a tool. */
static int
is_tool(const char *name, size_t n)
{
	static const char *const tools[] = { "telcat", "telfilter", "telstat",
		"telreplay", "telrec" };

	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++)
		if (strlen(tools[i]) == n && memcmp(tools[i], name, n) == 0)
			return 1;
	return 0;
}

/* Adds the option of a line, if it is one for the tool. */
static int
take_line(struct config *c, const struct tool *tool, const char *path,
    unsigned number, char *line)
{
	char *name = line + strspn(line, blanks), *option, *argument, *end;
	size_t n = strcspn(name, blanks);
	int all = n == 3 && memcmp(name, "all", 3) == 0;

	if (*name == '\0' || *name == '#')
		return 1;
	option = name + n + strspn(name + n, blanks);
	for (end = option + strlen(option);
	     end > option && strchr(blanks, end[-1]) != NULL;)
		*--end = '\0';
	if (option[0] != '-' || option[1] == '\0' || strcmp(option, "--") == 0)
		return config_wrong(path, number,
		    "expected a tool and an option, as in \"telcat --sort\"");
	argument = option + strcspn(option, blanks);
	if (*argument != '\0') {
		*argument++ = '\0';
		argument += strspn(argument, blanks);
	}
	const struct option_row *row = options_find(tool, option);
	if (!all && !is_tool(name, n))
		return config_wrong(path, number,
		    "expected all, telcat, telfilter, telstat or telreplay");
	if (!(n == strlen(tool->name) && memcmp(name, tool->name, n) == 0) &&
	    !(all && row != NULL))
		return 1;
	if (++c->noptions > LINES_MAX)
		return config_wrong(path, number, "more options than 256");
	c->argv[c->argc++] = option;
	if (*argument == '\0')
		return 1;
	if (row != NULL && (row->argument == NULL || row->argument[0] == '['))
		return config_wrong(path, number,
		    "the option takes no argument after a blank");
	c->argv[c->argc++] = argument;
	return 1;
}

static int
take_lines(struct config *c, const struct tool *tool, const char *path)
{
	char *line = c->text, *end;
	unsigned number = 0;

	for (; line != NULL; line = end != NULL ? end + 1 : NULL) {
		end = strchr(line, '\n');
		if (end != NULL)
			*end = '\0';
		if (!take_line(c, tool, path, ++number, line))
			return 0;
	}
	return 1;
}

int
config_apply(struct config *c, const struct tool *tool, int argc, char **argv)
{
	const char *path = getenv("TELTOOLS_CONFIG");

	memset(c, 0, sizeof(*c));
	if (path == NULL || path[0] == '\0' || is_refused(argc, argv))
		return 1;
	if (!config_read_file(c, path))
		return 0;
	c->argv = malloc(((size_t)argc + 2 * LINES_MAX + 2) * sizeof(*c->argv));
	if (c->argv == NULL)
		return message_no_memory();
	c->argv[c->argc++] = argc > 0 ? argv[0] : c->text;
	if (!take_lines(c, tool, path))
		return 0;
	c->nfile = c->argc - 1;
	for (int i = 1; i < argc; i++)
		c->argv[c->argc++] = argv[i];
	c->argv[c->argc] = NULL;
	return 1;
}

void
config_free(struct config *c)
{
	free(c->argv);
	free(c->text);
	memset(c, 0, sizeof(*c));
}
