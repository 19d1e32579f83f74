/* SPDX-License-Identifier: BSD-2-Clause */
/* New files: made, named and removed, also by a signal. */
#define _XOPEN_SOURCE 700 /* realpath() */
#include "new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a signal removes; and of which process, as a child inherits both. */
static struct new_file *unnamed;
static pid_t owner;

static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
#define ENDING (sizeof(ending) / sizeof(ending[0]))

static void
remove_all(int number)
{
	const struct new_file *f;

	if (getpid() == owner)
		for (f = unnamed; f != NULL; f = f->next)
			(void)unlink(f->path);
	(void)signal(number, SIG_DFL);
	(void)raise(number);
}

/* Adds a file to those that a signal removes, or takes it out. */
static void
list_change(struct new_file *f, int add)
{
	struct new_file **at = &unnamed;
	sigset_t set, before;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < ENDING; i++)
		sigaddset(&set, ending[i]);
	(void)sigprocmask(SIG_BLOCK, &set, &before);
	if (add) {
		f->next = unnamed;
		unnamed = f;
	} else {
		while (*at != NULL && *at != f)
			at = &(*at)->next;
		if (*at != NULL)
			*at = f->next;
	}
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
}

/* A tool that takes these signals itself, or ignores them, goes on to do so. */
static void
catch_signals(void)
{
	struct sigaction action, before;
	size_t i;

	if (owner == getpid())
		return;
	owner = getpid();
	memset(&action, 0, sizeof(action));
	sigemptyset(&action.sa_mask);
	action.sa_handler = remove_all;
	action.sa_flags = (int)(SA_RESETHAND | SA_NODEFER);
	for (i = 0; i < ENDING; i++)
		if (sigaction(ending[i], NULL, &before) == 0 &&
		    before.sa_handler == SIG_DFL)
			(void)sigaction(ending[i], &action, NULL);
}

/*
 * The descriptor that a name is of, as /dev/stdout; -1: none.  Opened anew, a
 * file that it is directed to would lose what was written there before.
 */
static int
named_descriptor(const char *name)
{
	const char *number = name + sizeof("/dev/fd/") - 1;

	if (strcmp(name, "/dev/stdout") == 0)
		return 1;
	if (strcmp(name, "/dev/stderr") == 0)
		return 2;
	if (strncmp(name, "/dev/fd/", sizeof("/dev/fd/") - 1) != 0 ||
	    strlen(number) > 6 || *number == '\0' ||
	    strspn(number, "0123456789") != strlen(number))
		return -1;
	return (int)strtol(number, NULL, 10);
}

/* Opens the file of a name itself. */
static int
open_itself(const char *name, mode_t mode)
{
	const int descriptor = named_descriptor(name);
	struct stat st;
	int fd;

	if (descriptor >= 0)
		return dup(descriptor);
	fd = open(name, O_WRONLY | O_CREAT | O_NOCTTY, mode);

	/* ext4 has a file that was truncated on the disk when closed */
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size > 0 && ftruncate(fd, 0) != 0) {
		(void)close(fd);
		return -1;
	}
	return fd;
}

/*
 * The name that a new file replaces: of an existing file the one behind all
 * links.  NULL: the file is to be opened itself, or there is no memory.
 */
static char *
find_target(const char *name, struct stat *old, int *exists)
{
	*exists = stat(name, old) == 0;
	if (strncmp(name, "/dev/", 5) == 0 || strncmp(name, "/proc/", 6) == 0)
		return NULL;
	if (*exists)
		return S_ISREG(old->st_mode) ? realpath(name, NULL) : NULL;
	/* a link that leads nowhere, say, makes the file there */
	return lstat(name, old) == 0 ? NULL : strdup(name);
}

static int
open_beside(struct new_file *f, mode_t mode)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOCTTY;
	const size_t room = strlen(f->target) + 32;
	int fd, tries;

	f->path = malloc(room);
	if (f->path == NULL)
		return -1;
	(void)snprintf(f->path, room, "%s.new-%ld", f->target, (long)getpid());
	fd = open(f->path, flags, mode);
	/* one of that number may have been killed */
	for (tries = 0; fd < 0 && errno == EEXIST && tries < 3; tries++)
		if (unlink(f->path) == 0)
			fd = open(f->path, flags, mode);
	return fd;
}

int
new_file_open(struct new_file *f, const char *name, mode_t mode)
{
	struct stat old;
	int exists, fd, error;

	memset(f, 0, sizeof(*f));
	f->target = find_target(name, &old, &exists);
	if (f->target == NULL)
		return open_itself(name, mode);
	catch_signals();
	fd = open_beside(f, mode);
	if (fd >= 0 && (!exists || fchmod(fd, old.st_mode & 07777) == 0)) {
		list_change(f, 1);
		return fd;
	}
	error = errno;
	if (fd >= 0) {
		(void)unlink(f->path);
		(void)close(fd);
	}
	free(f->path);
	free(f->target);
	f->path = f->target = NULL;
	errno = error;
	if (!exists || (error != EACCES && error != EPERM && error != EROFS))
		return -1;
	/* the folder is not ours, but the file may be */
	return open_itself(name, mode);
}

int
new_file_publish(struct new_file *f)
{
	if (f->path == NULL)
		return 0;
	if (rename(f->path, f->target) != 0)
		return -1;
	list_change(f, 0);
	free(f->path);
	f->path = NULL;
	return 0;
}

void
new_file_close(struct new_file *f)
{
	if (f->path != NULL) {
		list_change(f, 0);
		(void)unlink(f->path);
	}
	free(f->path);
	free(f->target);
	f->path = f->target = NULL;
}
