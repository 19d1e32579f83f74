/* SPDX-License-Identifier: BSD-2-Clause */
#include "io/fileset.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/read.h"
#include "io/spool.h"

struct tel_fileset *
tel__fileset_new(void)
{
	struct tel_fileset *set = calloc(1, sizeof(*set));

	if (set != NULL)
		set->folder = set->spool = -1;
	return set;
}

/* Adds a file without content.  TEL_OK, TEL_ELIMIT, TEL_ENOMEM. */
static tel_status
fileset_add_name(struct tel_fileset *set, const char *name,
    struct tel_fault *fault)
{
	if (set->count == TEL_FILESET_FILES_MAX)
		return tel__fault_set(fault, TEL_ELIMIT, 0,
		    "more than %zu files", TEL_FILESET_FILES_MAX);
	if (!TEL__RESERVE(set->files, set->room, set->count + 1))
		return tel__fault_errno(fault, ENOMEM);
	struct tel_fileset_file *f = &set->files[set->count];
	memset(f, 0, sizeof(*f));
	f->fd = -1;
	f->name = strdup(name);
	if (f->name == NULL)
		return tel__fault_errno(fault, ENOMEM);
	set->count++;
	return TEL_OK;
}

/* Fails for a folder whose path in the set is prefix, or "". */
static tel_status
fileset_fail(const char *prefix, int number, struct tel_fault *fault)
{
	struct tel_fault why;
	tel_status st = tel__fault_errno(&why, number);

	return tel__fault_set(fault, st, number, "%s%s%s", prefix,
	    *prefix != '\0' ? ": " : "", why.text);
}

static tel_status fileset_walk(struct tel_fileset *set, int fd,
    const char *prefix, unsigned depth, struct tel_fault *fault);

/* Adds what a name in the folder fd is: a file, or the files of a folder. */
static tel_status
fileset_add_entry(struct tel_fileset *set, int fd, const char *prefix,
    const char *name, unsigned depth, struct tel_fault *fault)
{
	size_t n = strlen(prefix) + strlen(name) + 2;
	struct stat info, link;
	tel_status st = TEL_OK;
	int inner;

	/* what went away meanwhile, or is a link to nothing, is no file */
	if (fstatat(fd, name, &info, 0) != 0 ||
	    fstatat(fd, name, &link, AT_SYMLINK_NOFOLLOW) != 0)
		return TEL_OK;
	char *path = malloc(n);
	if (path == NULL)
		return tel__fault_errno(fault, ENOMEM);
	if (S_ISREG(info.st_mode)) {
		snprintf(path, n, "%s%s", prefix, name);
		st = fileset_add_name(set, path, fault);
		if (st == TEL_OK)
			set->files[set->count - 1].size =
			    (uint64_t)info.st_size;
	} else if (S_ISDIR(link.st_mode) && depth > 0) {
		snprintf(path, n, "%s%s/", prefix, name);
		inner = openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		st = inner < 0 ?
		    fileset_fail(path, errno, fault) :
		    fileset_walk(set, inner, path, depth - 1, fault);
	}
	free(path);
	return st;
}

/* Adds the files of a folder, which is closed. */
static tel_status
fileset_walk(struct tel_fileset *set, int fd, const char *prefix,
    unsigned depth, struct tel_fault *fault)
{
	DIR *folder = fdopendir(fd);
	const struct dirent *entry;
	tel_status st = TEL_OK;

	if (folder == NULL) {
		st = tel__fault_errno(fault, errno);
		close(fd);
		return st;
	}
	while (st == TEL_OK && (errno = 0, entry = readdir(folder)) != NULL)
		if (entry->d_name[0] != '.')
			st = fileset_add_entry(set, dirfd(folder), prefix,
			    entry->d_name, depth, fault);
	if (st == TEL_OK && errno != 0)
		st = fileset_fail(prefix, errno, fault);
	closedir(folder);
	return st;
}

tel_status
tel__fileset_open_folder(int fd, int deep, struct tel_fileset **out,
    struct tel_fault *fault)
{
	struct tel_fileset *set = tel__fileset_new();

	if (set == NULL) {
		close(fd);
		return tel__fault_errno(fault, ENOMEM);
	}
	set->folder = fd;
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	tel_status st = copy < 0 ? tel__fault_errno(fault, errno) :
	                           fileset_walk(set, copy, "",
	                               deep ? TEL_FILESET_DEPTH_MAX : 0, fault);
	if (st != TEL_OK) {
		tel__fileset_free(set);
		return st;
	}
	tel__fileset_sort(set);
	*out = set;
	return TEL_OK;
}

tel_status
tel__fileset_add(struct tel_fileset *set, struct tel_input *in,
    const char *name, struct tel_fault *fault)
{
	int64_t size = 0;
	int failed = 0;

	if (set->spool < 0 && (set->spool = tel__spool_file()) < 0)
		return tel__spool_fault(fault, errno);
	tel_status st = fileset_add_name(set, name, fault);
	if (st != TEL_OK)
		return st;
	st = tel__spool_append(in, set->spool, &size, &failed);
	if (failed != 0)
		st = tel__spool_fault(fault, failed);
	else if (st != TEL_OK)
		tel__fault_set(fault, st, 0, "%s", tel__input_error(in));
	struct tel_fileset_file *f = &set->files[set->count - 1];
	f->base = set->spooled;
	f->size = (uint64_t)size;
	set->spooled += (uint64_t)size;
	return st;
}

static int
fileset_compare(const void *a, const void *b)
{
	const struct tel_fileset_file *x = a, *y = b;

	return strcmp(x->name, y->name);
}

void
tel__fileset_sort(struct tel_fileset *set)
{
	if (set->count > 0)
		qsort(set->files, set->count, sizeof(*set->files),
		    fileset_compare);
}

/* Opens a file of a folder; the one that was opened first is closed. */
static int
fileset_open_file(struct tel_fileset *set, struct tel_fileset_file *f)
{
	if (set->opened >= TEL_FILESET_OPEN_MAX) {
		while (set->files[set->oldest].fd < 0)
			set->oldest = (set->oldest + 1) % set->count;
		close(set->files[set->oldest].fd);
		set->files[set->oldest].fd = -1;
		set->opened--;
	}
	f->fd = openat(set->folder, f->name,
	    O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (f->fd >= 0)
		set->opened++;
	return f->fd;
}

ptrdiff_t
tel__fileset_read(struct tel_fileset *set, size_t i, void *to, size_t n,
    uint64_t from)
{
	struct tel_fileset_file *f = &set->files[i];
	int fd = set->spool;

	if (from >= f->size)
		return 0;
	if (n > f->size - from)
		n = (size_t)(f->size - from);
	if (set->folder >= 0) {
		fd = f->fd >= 0 ? f->fd : fileset_open_file(set, f);
		if (fd < 0)
			return -1;
	}
	return tel__read_all(fd, to, n, (int64_t)(f->base + from));
}

void
tel__fileset_free(struct tel_fileset *set)
{
	if (set == NULL)
		return;
	for (size_t i = 0; i < set->count; i++) {
		if (set->files[i].fd >= 0)
			close(set->files[i].fd);
		free(set->files[i].name);
	}
	free(set->files);
	if (set->folder >= 0)
		close(set->folder);
	if (set->spool >= 0)
		close(set->spool);
	free(set);
}
