/* SPDX-License-Identifier: BSD-2-Clause */
/* New files: made, named and removed, also by a signal. */
#define _GNU_SOURCE /* realpath(), statx() */
#include "new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a signal removes; and of which process, as a child inherits both. */
static struct new_file *unnamed;
static pid_t owner;

static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE,
	SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU, SIGABRT, SIGSEGV, SIGBUS, SIGFPE,
	SIGILL };
#define ENDING (sizeof(ending) / sizeof(ending[0]))

static void
remove_all(int number)
{
	if (getpid() == owner)
		for (const struct new_file *f = unnamed; f != NULL; f = f->next)
			(void)unlink(f->path);
	(void)signal(number, SIG_DFL);
	(void)raise(number);
}

/* Keeps those signals waiting. */
static void
hold_signals(sigset_t *before)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ENDING; i++)
		sigaddset(&set, ending[i]);
	(void)sigprocmask(SIG_BLOCK, &set, before);
}

/* Takes a file out of those that a signal removes. */
static void
list_remove(const struct new_file *f)
{
	struct new_file **at = &unnamed;
	sigset_t before;

	hold_signals(&before);
	while (*at != NULL && *at != f)
		at = &(*at)->next;
	if (*at != NULL)
		*at = f->next;
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
}

/* A tool that takes these signals itself, or ignores them, goes on to do so. */
static void
new_file_catch_signals(void)
{
	struct sigaction action, before;

	if (owner == getpid())
		return;
	owner = getpid();
	memset(&action, 0, sizeof(action));
	sigemptyset(&action.sa_mask);
	action.sa_handler = remove_all;
	action.sa_flags = (int)(SA_RESETHAND | SA_NODEFER);
	for (size_t i = 0; i < ENDING; i++)
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

/* Opens the file of a name itself.  create: O_CREAT or 0 */
static int
open_itself(const char *name, int create, mode_t mode)
{
	const int descriptor = named_descriptor(name);
	struct stat st;

	if (descriptor >= 0)
		return dup(descriptor);
	int fd = open(name, O_WRONLY | create | O_NOCTTY, mode);

	/* ext4 has a file that was truncated on the disk when closed */
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size > 0 && ftruncate(fd, 0) != 0) {
		(void)close(fd);
		return -1;
	}
	return fd;
}

/* The length of the folder, with its slash, that a path starts with. */
static size_t
new_file_folder_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

/* Nonzero if a file is mounted, as a container's is: its name is fixed. */
static int
is_mounted(const char *path)
{
#ifdef STATX_ATTR_MOUNT_ROOT
	struct statx st;

	return statx(AT_FDCWD, path, 0, STATX_TYPE, &st) == 0 &&
	    (st.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
#else
	(void)path;
	return 0;
#endif
}

/*
 * Nonzero if another file may get the name of an old one: not of one that is
 * protected against writing, nor of another user's in a folder such as /tmp.
 */
static int
may_replace(const char *path, const struct stat *old)
{
	const size_t n = new_file_folder_length(path);
	char folder[PATH_MAX];
	struct stat st;

	if (access(path, W_OK) != 0 || is_mounted(path) || n >= sizeof(folder))
		return 0;
	memcpy(folder, path, n);
	folder[n] = '\0';
	return stat(folder, &st) == 0 &&
	    ((st.st_mode & S_ISVTX) == 0 || geteuid() == 0 ||
	        st.st_uid == geteuid() || old->st_uid == geteuid());
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
	if (!*exists) /* a link that leads nowhere, say, makes the file there */
		return lstat(name, old) == 0 ? NULL : strdup(name);
	char *target = S_ISREG(old->st_mode) ? realpath(name, NULL) : NULL;
	if (target == NULL || may_replace(target, old))
		return target;
	free(target);
	return NULL;
}

/* Creates the file, and lists it in one step, as far as signals see. */
static int
open_beside(struct new_file *f, mode_t mode)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOCTTY;
	const size_t room = strlen(f->target) + 32;
	size_t shown = new_file_folder_length(f->target);
	sigset_t before;

	f->path = malloc(room);
	if (f->path == NULL)
		return -1;
	/* a name as long as names may be has no room for more */
	shown += strnlen(f->target + shown, NAME_MAX - 16);
	(void)snprintf(f->path, room, "%.*s.new-%ld", (int)shown, f->target,
	    (long)getpid());
	hold_signals(&before);
	int fd = open(f->path, flags, mode);
	/* one of that number may have been killed */
	for (int tries = 0; fd < 0 && errno == EEXIST && tries < 3; tries++)
		if (unlink(f->path) == 0)
			fd = open(f->path, flags, mode);
	if (fd >= 0) {
		f->next = unnamed;
		unnamed = f;
	}
	int error = errno;
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	if (fd < 0) {
		free(f->path);
		f->path = NULL;
	}
	errno = error;
	return fd;
}

/*
 * Gives a new file the owner, the group and the mode of an old one, as far as
 * the user may: no other group gets the rights of the old one.
 */
static int
copy_rights(int fd, const struct stat *old)
{
	mode_t mode = old->st_mode & 07777;

	if (fchown(fd, old->st_uid, old->st_gid) == 0)
		return fchmod(fd, mode);
	mode &= 0777;
	if (fchown(fd, (uid_t)-1, old->st_gid) != 0)
		mode &= ~(mode_t)070 | (mode & 07) << 3;
	return fchmod(fd, mode);
}

int
new_file_open(struct new_file *f, const char *name, mode_t mode)
{
	struct stat old;
	int exists, fd, error;

	memset(f, 0, sizeof(*f));
	f->target = find_target(name, &old, &exists);
	if (f->target == NULL)
		return open_itself(name, exists ? 0 : O_CREAT, mode);
	new_file_catch_signals();
	fd = open_beside(f, exists ? 0600 : mode);
	if (fd >= 0 && (!exists || copy_rights(fd, &old) == 0))
		return fd;
	error = errno;
	if (fd >= 0)
		(void)close(fd);
	new_file_close(f);
	errno = error;
	if (!exists || (error != EACCES && error != EPERM && error != EROFS))
		return -1;
	/* the folder is not ours, but the file may be */
	return open_itself(name, 0, mode);
}

int
new_file_publish(struct new_file *f)
{
	if (f->path == NULL)
		return 0;
	if (rename(f->path, f->target) != 0)
		return -1;
	list_remove(f);
	free(f->path);
	f->path = NULL;
	return 0;
}

void
new_file_close(struct new_file *f)
{
	if (f->path != NULL) {
		list_remove(f);
		(void)unlink(f->path);
	}
	free(f->path);
	free(f->target);
	f->path = f->target = NULL;
}
