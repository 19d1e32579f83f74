/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/ctf/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

/* The path of a name in the folder; the caller frees it.  NULL: no memory. */
static char *
folder_join(const struct ctf_folder *f, const char *name)
{
	const size_t n = strlen(f->made) + strlen(name) + 2;
	char *path = malloc(n);

	if (path != NULL)
		snprintf(path, n, "%s/%s", f->made, name);
	return path;
}

int
tel__ctf_folder_open(struct ctf_folder *f, const char *path, unsigned tag)
{
	size_t n = strlen(path);
	struct stat info;

	memset(f, 0, sizeof(*f));
	while (n > 1 && path[n - 1] == '/')
		n--;
	if (lstat(path, &info) == 0) {
		errno = EEXIST;
		return 0;
	}
	f->path = tel__copy_string(path, n);
	f->made = malloc(n + 16);
	if (f->path != NULL && f->made != NULL) {
		snprintf(f->made, n + 16, "%s.%08x", f->path, tag);
		if (mkdir(f->made, 0777) == 0)
			return 1;
	}
	/* so that none is removed */
	free(f->made);
	f->made = NULL;
	return 0;
}

/* Notes that n bytes of a name are one that is there. */
static int
folder_note(struct ctf_folder *f, const char *name, size_t n)
{
	if (!TEL__RESERVE(f->names, f->room, f->count + 1) ||
	    (f->names[f->count] = tel__copy_string(name, n)) == NULL) {
		errno = ENOMEM;
		return 0;
	}
	f->count++;
	return 1;
}

/* Nonzero when a part of a name is "..", as one of an archive may be. */
static int
folder_leaves(const char *name)
{
	size_t n;

	for (; *name != '\0'; name += n + (name[n] == '/')) {
		n = strcspn(name, "/");
		if (n == 2 && memcmp(name, "..", 2) == 0)
			return 1;
	}
	return 0;
}

int
tel__ctf_folder_file(struct ctf_folder *f, const char *name)
{
	const char *slash = name;
	const size_t skip = strlen(f->made) + 1;
	int fd = -1, made;

	if (folder_leaves(name)) {
		errno = EINVAL;
		return -1;
	}
	char *path = folder_join(f, name);
	if (path == NULL)
		return -1;
	while ((slash = strchr(slash, '/')) != NULL) {
		path[skip + (size_t)(slash - name)] = '\0';
		made = mkdir(path, 0777) == 0;
		if ((made && !folder_note(f, name, (size_t)(slash - name))) ||
		    (!made && errno != EEXIST))
			break;
		path[skip + (size_t)(slash - name)] = '/';
		slash++;
	}
	if (slash == NULL && folder_note(f, name, strlen(name)))
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	free(path);
	return fd;
}

int
tel__ctf_folder_finish(struct ctf_folder *f)
{
	if (rename(f->made, f->path) != 0)
		return 0;
	free(f->made);
	f->made = NULL;
	return 1;
}

void
tel__ctf_folder_close(struct ctf_folder *f)
{
	char *path;

	while (f->count > 0) {
		path = f->made != NULL ? folder_join(f, f->names[--f->count]) :
		                         (f->count--, NULL);
		if (path != NULL)
			(void)remove(path);
		free(path);
		free(f->names[f->count]);
	}
	if (f->made != NULL)
		(void)rmdir(f->made);
	free(f->names);
	free(f->made);
	free(f->path);
	memset(f, 0, sizeof(*f));
}
