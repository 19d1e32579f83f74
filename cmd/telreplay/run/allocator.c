/* SPDX-License-Identifier: BSD-2-Clause */
/* Allocators: from the argument of -a to the environment of a process. */
/* for putenv, which is XSI */
#define _XOPEN_SOURCE 700
#include "telreplay/run/allocator.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/array.h"
#include "common/message.h"

extern char **environ;

/* Libraries that the loader finds by name, and their packages in Debian. */
struct known {
	const char *name;
	const char *package;
	const char *libraries[5];
};

static const struct known known[] = {
	{ "glibc", NULL, { NULL } },
	{ "jemalloc", "libjemalloc2",
	    { "libjemalloc.so.2", "libjemalloc.so", NULL } },
	{ "mimalloc", "libmimalloc2.0",
	    { "libmimalloc.so.2.0", "libmimalloc.so.2", "libmimalloc.so.3",
	        "libmimalloc.so", NULL } },
	{ "tcmalloc", "libtcmalloc-minimal4",
	    { "libtcmalloc_minimal.so.4", "libtcmalloc.so.4",
	        "libtcmalloc_minimal.so", "libtcmalloc.so", NULL } },
};

static char *
allocator_copy(const char *text, size_t size)
{
	char *p = tel__copy_string(text, size);

	if (p == NULL)
		(void)message_no_memory();
	return p;
}

/* Looks up a name or path.  Returns 1, or 0 after a message. */
static int
resolve(struct allocator *a, const char *what)
{
	static const char *const names[] = { "glibc", "jemalloc", "mimalloc",
		"tcmalloc", "null", "bump", "class" };
	char near[192];

	a->builtin = builtin_find(what);
	if (a->builtin != BUILTIN_NONE)
		return 1;
	if (strchr(what, '/') != NULL) {
		a->path[0] = what;
		a->libraries = a->path;
		return 1;
	}
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(known[i].name, what) != 0)
			continue;
		a->libraries = known[i].libraries;
		a->package = known[i].package;
		return 1;
	}
	return message_fail(STATUS_USAGE, NULL,
	    "-a: '%s' is not one of: glibc, jemalloc, mimalloc, tcmalloc, "
	    "null, bump, class, and is not a path with a '/'%s",
	    what, tel_suggest(what, names, 7, near, sizeof(near)));
}

/* The last part of a path, without its suffixes. */
static char *
base_name(const char *path)
{
	const char *base = strrchr(path, '/');

	base = base != NULL ? base + 1 : path;
	return allocator_copy(base, strcspn(base, "."));
}

/* Adds one: size bytes of text, and its parameters. */
static int
allocator_add(struct allocators *list, const char *text, size_t size,
    const char *parameters)
{
	struct allocator *a = &list->list[list->n];

	if (list->n == ALLOCATORS_MAX)
		return message_fail(STATUS_USAGE, NULL,
		    "-a: more than %d allocators", ALLOCATORS_MAX);
	memset(a, 0, sizeof(*a));
	a->fd = -1;
	char *what = allocator_copy(text, size);
	if (what == NULL)
		return 0;
	char *equals = strchr(what, '=');
	char *slash = strchr(what, '/');
	if (equals != NULL && (slash == NULL || equals < slash)) {
		a->name = allocator_copy(what, (size_t)(equals - what));
		memmove(what, equals + 1, strlen(equals + 1) + 1);
	} else {
		a->name = slash != NULL ? base_name(what) :
		                          allocator_copy(what, size);
	}
	a->text = what;
	a->parameters = parameters;
	list->n++;
	if (a->name == NULL)
		return 0;
	if (what[0] != '\0' && a->name[0] != '\0')
		return resolve(a, what);
	return message_fail(STATUS_USAGE, NULL, "-a: '%.*s' has no allocator",
	    (int)size, text);
}

/* ... or after a file that there is: "./lib.so:/parameters". */
static int
is_library(const char *text, size_t size)
{
	const char *equals = memchr(text, '=', size), *slash;
	char path[4096];
	struct stat st;

	slash = memchr(text, '/', size);
	if (slash == NULL)
		return 0;
	if (equals != NULL && equals < slash) {
		size -= (size_t)(equals + 1 - text);
		text = equals + 1;
	}
	if (size >= sizeof(path))
		return 0;
	memcpy(path, text, size);
	path[size] = '\0';
	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

int
allocators_add(struct allocators *list, const char *text)
{
	for (;;) {
		size_t size = strcspn(text, ",:");

		/* a colon in a path separates only after the last slash, ... */
		while (text[size] == ':' && !is_library(text, size) &&
		    strcspn(text + size, "/") < strcspn(text + size, ",="))
			size += 1 + strcspn(text + size + 1, ",:");
		/* parameters may have commas: they extend to the end */
		if (text[size] == ':')
			return allocator_add(list, text, size, text + size + 1);
		if (!allocator_add(list, text, size, ""))
			return 0;
		if (text[size] == '\0')
			return 1;
		text += size + 1;
	}
}

int
allocators_check(const struct allocators *list)
{
	for (size_t i = 0; i < list->n; i++)
		for (size_t j = 0; j < i; j++) {
			if (strcmp(list->list[i].name, list->list[j].name) != 0)
				continue;
			message_fail(STATUS_USAGE, NULL,
			    "-a: two allocators are named '%s'; NAME=... "
			    "before one of them renames it",
			    list->list[i].name);
			return 0;
		}
	return 1;
}

int
allocator_use(struct allocator *a, const char *library)
{
	const int path = strchr(library, '/') != NULL;
	const int split = path && strpbrk(library, " :") != NULL;
	int n;

	if (split && a->fd < 0)
		a->fd = open(library, O_RDONLY | O_NOCTTY);
	if ((split && a->fd < 0) || (path && access(library, R_OK) != 0))
		return message_errno(library);
	n = split ? snprintf(a->library, sizeof(a->library), "/proc/self/fd/%d",
	                a->fd) :
	            snprintf(a->library, sizeof(a->library), "%s", library);
	if ((size_t)n < sizeof(a->library))
		return 1;
	return message_fail(STATUS_FAILED, NULL, "-a: the name is too long");
}

void
allocators_free(struct allocators *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free(list->list[i].name);
		free(list->list[i].text);
		if (list->list[i].fd >= 0)
			(void)close(list->list[i].fd);
	}
	list->n = 0;
}

/* Nonzero for an assignment that configures an allocator. */
static int
allocator_is_setting(const char *assignment)
{
	static const char *const names[] = { "MALLOC_",
		"GLIBC_TUNABLES=", "MIMALLOC_", "TCMALLOC_", "JEMALLOC_",
		"_RJEM_MALLOC_CONF=" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(assignment, names[i], strlen(names[i])) == 0)
			return 1;
	return 0;
}

void
allocator_settings(char *text, size_t room)
{
	for (size_t i = 0; environ[i] != NULL; i++) {
		size_t n = strlen(environ[i]) + 1;

		if (n >= room || !allocator_is_setting(environ[i]))
			continue;
		memcpy(text, environ[i], n);
		text += n;
		room -= n;
	}
	*text = '\0';
}

int
allocator_check_settings(const struct allocator *a)
{
	size_t n;

	for (const char *text = a->parameters; *text != '\0';
	     text += n + (text[n] == ' ')) {
		n = strcspn(text, " ");
		if (n > 0 && (*text == '=' || memchr(text, '=', n) == NULL))
			return message_fail(STATUS_USAGE, a->name,
			    "-a: expected environment variables, NAME=VALUE, "
			    "as parameters of a malloc, found '%.*s'",
			    (int)n, text);
	}
	return 1;
}

int
allocator_environment(const struct allocator *a)
{
	const char *text = a->builtin == BUILTIN_NONE ? a->parameters : "";
	size_t n;
	int good = a->library[0] == '\0' ? unsetenv("LD_PRELOAD") :
	                                   setenv("LD_PRELOAD", a->library, 1);

	for (; *text != '\0' && good == 0; text += n + (text[n] == ' ')) {
		n = strcspn(text, " ");
		if (memchr(text, '=', n) == NULL)
			continue;
		char *one = tel__copy_string(text, n);
		good = one == NULL ? -1 : putenv(one);
	}
	return good == 0;
}
