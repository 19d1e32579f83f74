/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finding the meta file of an HPM trace: the trace names it, and it lies in
 * the same folder, of the file system or of an archive.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/hpm/hpm.h"

/* The size of reads; meta files are mostly small. */
#define READ_SIZE ((size_t)1 << 16)

/*
 * Opens a file: any that the user named, or else a regular one, as a pipe of
 * that name must not be waited for.  TEL_OK, with *in NULL and errno set when
 * there is none; TEL_EIO, with errno set, when it cannot be read; TEL_ENOMEM.
 */
static tel_status
open_path(const char *path, int any, struct tel_input **in)
{
	int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | (any ? 0 : O_NONBLOCK);
	struct tel_input *raw;
	struct stat info;
	int fd = open(path, flags);

	*in = NULL;
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? TEL_OK : TEL_EIO;
	if (!any && (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))) {
		close(fd);
		errno = EINVAL;
		return TEL_OK;
	}
	tel_status st = tel__input_fd(fd, 1, READ_SIZE, &raw);
	return st == TEL_OK ? tel__input_unpack(raw, in) : st;
}

/* Frees an input that is of no use; errno stays. */
static void
close_input(struct tel_input **in)
{
	int number = errno;

	tel__input_free(*in);
	*in = NULL;
	errno = number;
}

/*
 * Goes to the member of the archive that is called folder (n bytes, with its
 * last slash) and then name.  TEL_OK; TEL_END: there is none; TEL_EIO, with
 * errno set; TEL_ENOMEM.
 */
static tel_status
find_member(struct tel_input *in, const char *folder, size_t n,
    const char *name)
{
	const char *member;

	for (;;) {
		tel_status st = tel__input_next_member(in, &member);

		if (st == TEL_EDAMAGED)
			continue;
		if (st != TEL_OK)
			return st;
		if (strncmp(member, folder, n) == 0 &&
		    strcmp(member + n, name) == 0)
			return TEL_OK;
	}
}

/* The length of a path up to its last slash, and that with it. */
static size_t
folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? 0 : (size_t)(slash + 1 - path);
}

/*
 * A log "ARCHIVE:MEMBER" is a member of an archive; either name may have
 * colons of its own.  *in is NULL when it is not so.
 */
static tel_status
open_in_archive(const char *log, const char *name, struct tel_input **in)
{
	const char *colon = log;
	tel_status st = TEL_OK;

	*in = NULL;
	while (*in == NULL && st == TEL_OK &&
	    (colon = strchr(colon, ':')) != NULL) {
		char *archive = strdup(log);

		if (archive == NULL)
			return TEL_ENOMEM;
		archive[colon - log] = '\0';
		colon++;
		st = open_path(archive, 0, in);
		free(archive);
		/* the name may have a colon before that of the archive */
		if (st == TEL_EIO && errno == EACCES)
			st = TEL_OK;
		if (*in == NULL)
			continue;
		st = TEL_END;
		if (tel__input_is_archive(*in))
			st = find_member(*in, colon, folder_of(colon), name);
		if (st != TEL_OK) {
			close_input(in);
			st = st == TEL_END ? TEL_OK : st;
		}
	}
	return st;
}

/* Opens the file of that name beside the log, packed as the log is or not. */
static tel_status
sidecar_open_beside(const char *log, const char *name, struct tel_input **in)
{
	static const char *const ends[] = { ".gz", ".bz2", ".xz", ".lz4",
		".zst" };
	size_t folder = folder_of(log), length = strlen(log), i;
	size_t size = folder + strlen(name) + 8;
	char *path = malloc(size);

	*in = NULL;
	if (path == NULL)
		return TEL_ENOMEM;
	snprintf(path, size, "%.*s%s", (int)folder, log, name);
	tel_status st = open_path(path, 0, in);
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t n = strlen(ends[i]);

		if (st != TEL_OK || *in != NULL || length < n ||
		    strcmp(log + length - n, ends[i]) != 0)
			continue;
		snprintf(path, size, "%.*s%s%s", (int)folder, log, name,
		    ends[i]);
		st = open_path(path, 0, in);
	}
	free(path);
	return st;
}

/* The name of the meta file, without the path that some traces put before. */
static char *
clean_name(const unsigned char *name, size_t n)
{
	size_t i, begin = 0;

	while (n > 0 && name[n - 1] == ' ')
		n--;
	for (i = 0; i < n; i++)
		if (name[i] == '/')
			begin = i + 1;
	char *copy = calloc(n - begin + 1, 1);
	if (copy != NULL && n > begin)
		memcpy(copy, name + begin, n - begin);
	return copy;
}

tel_status
tel__hpm_meta_open(struct tel_reader *r, const unsigned char *name, size_t n,
    struct tel_input **in, char **path)
{
	const struct tel_sidecar *named =
	    tel__reader_sidecar(r, NULL, TEL_FILE_META);
	const char *log = r->log.name;
	tel_status st;

	*in = NULL;
	*path = named != NULL ? strdup(named->path) : clean_name(name, n);
	if (*path == NULL)
		return TEL_ENOMEM;
	if (named != NULL) {
		st = open_path(named->path, 1, in);
		if (st == TEL_OK && *in == NULL)
			st = TEL_EIO;
	} else if (strcmp(log, "-") == 0 || **path == '\0') {
		/* what comes through a pipe has nothing beside it */
		return TEL_OK;
	} else {
		st = open_in_archive(log, *path, in);
		if (st == TEL_OK && *in == NULL)
			st = sidecar_open_beside(log, *path, in);
	}
	if (st == TEL_EIO)
		return tel__reader_fail(r, st, "the meta file %s: %s", *path,
		    strerror(errno));
	if (st != TEL_OK)
		return tel__reader_fail(r, st, "out of memory");
	return TEL_OK;
}
