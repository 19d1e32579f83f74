/* SPDX-License-Identifier: BSD-2-Clause */
/* The standard streams and the output, checked to the end. */
#include "streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "message.h"
#include "pager.h"
#include "terminal.h"

/* Each file takes one descriptor, and three more when it is compressed. */
#define FILES_WANTED 65536

void
streams_begin(void)
{
	struct rlimit files;
	int fd;

	/* files that are merged are all open at once */
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 &&
	    files.rlim_cur < FILES_WANTED && files.rlim_cur < files.rlim_max) {
		files.rlim_cur = files.rlim_max < FILES_WANTED ?
		    files.rlim_max :
		    FILES_WANTED;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	/* the wrong direction each, so that reading or writing fails */
	for (fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) == -1 && errno == EBADF)
			(void)open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

void
streams_end(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout) && close(1) == 0)
		return;
	message_raise(STATUS_FAILED);
	if (errno != EPIPE)
		message_fail(STATUS_FAILED, NULL, "standard output: %s",
		    strerror(errno));
}

/* Nonzero when path, or standard input, is the file that st describes. */
static int
is_same(const struct stat *st, const char *path)
{
	struct stat in;
	int got = strcmp(path, "-") == 0 ? fstat(0, &in) : stat(path, &in);

	return got == 0 && S_ISREG(in.st_mode) && in.st_dev == st->st_dev &&
	    in.st_ino == st->st_ino;
}

/* Refuses an output that is an input as well.  Returns 1 when it is not. */
static int
check_same(const struct sink *sink, const struct settings *s)
{
	struct stat st;
	int i;

	if ((sink->fd < 0 ? stat(sink->name, &st) : fstat(sink->fd, &st)) !=
	        0 ||
	    !S_ISREG(st.st_mode))
		return 1;
	for (i = 0; i < s->noperands || (i == 0 && s->noperands == 0); i++) {
		const char *operand = s->noperands > 0 ? s->operands[i] : "-";

		if (!is_same(&st, operand))
			continue;
		message_fail(STATUS_USAGE, operand,
		    "the output would overwrite this input");
		return 0;
	}
	return 1;
}

/* Colour on a terminal, where the user has not said otherwise. */
static int
decide_color(const struct settings *s, int terminal)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if (s->color != WHEN_AUTO)
		return s->color == WHEN_ALWAYS;
	if (no_color != NULL && no_color[0] != '\0')
		return 0;
	return terminal && term != NULL && strcmp(term, "dumb") != 0;
}

/*
 * Opens FILE.new-PID in the folder of the output, for the same users.  A name
 * of its own kind: what collects FILE.prom must not collect this one.
 */
static int
open_new(struct sink *sink, const struct settings *s)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOCTTY;
	const size_t room = strlen(s->output) + 32;
	struct stat old;
	int exists = lstat(s->output, &old) == 0, tries;

	if (exists && !S_ISREG(old.st_mode)) {
		message_fail(STATUS_USAGE, s->output,
		    "not a regular file, which each interval could replace");
		return 0;
	}
	if (sink->made == NULL && (sink->made = malloc(room)) == NULL) {
		message_fail(STATUS_FAILED, NULL, "%s",
		    tel_status_text(TEL_ENOMEM));
		return 0;
	}
	(void)snprintf(sink->made, room, "%s.new-%ld", s->output,
	    (long)getpid());
	sink->name = sink->made;
	sink->fd = open(sink->made, flags, 0666);
	/* one of that number may have been killed */
	for (tries = 0; sink->fd < 0 && errno == EEXIST && tries < 3; tries++)
		if (unlink(sink->made) == 0)
			sink->fd = open(sink->made, flags, 0666);
	if (sink->fd >= 0 &&
	    (!exists || fchmod(sink->fd, old.st_mode & 0777) == 0))
		return 1;
	message_fail(STATUS_FAILED, sink->made, "%s", strerror(errno));
	return 0;
}

/* Takes away a file that did not get the name of the output. */
static void
discard(struct sink *sink)
{
	if (sink->made != NULL && sink->fd >= 0)
		(void)unlink(sink->made);
	sink->name = sink->settings->output;
	free(sink->made);
	sink->made = NULL;
}

/* Opens the output of the descriptor, which is compressed if asked for. */
static int
open_output(struct sink *sink)
{
	const int level = sink->settings->compress;

	sink->out = tel_output_new_fd(sink->fd);
	if (sink->out != NULL &&
	    (level == 0 || tel_output_set_zstd(sink->out, level) == TEL_OK))
		return 1;
	tel_output_free(sink->out);
	sink->out = NULL;
	message_fail(STATUS_FAILED, NULL, "%s", tel_status_text(TEL_ENOMEM));
	return 0;
}

int
sink_open(struct sink *sink, const struct settings *s)
{
	int flags = O_WRONLY | O_CREAT | O_NOCTTY;

	memset(sink, 0, sizeof(*sink));
	sink->settings = s;
	if (s->replace) {
		sink->name = s->output;
		sink->fd = -1;
		if (check_same(sink, s) && open_new(sink, s) &&
		    open_output(sink))
			return 1;
		discard(sink);
		goto fail;
	}
	sink->name = s->output != NULL ? s->output : "standard output";
	sink->named = s->output != NULL;
	sink->fd = s->output != NULL ? open(s->output, flags, 0666) : 1;
	if (sink->fd < 0) {
		message_fail(STATUS_FAILED, s->output, "%s", strerror(errno));
		return 0;
	}
	if (!check_same(sink, s))
		goto fail;
	if (s->output != NULL) {
		struct stat st;

		/* ext4 has a file that was truncated on the disk when closed */
		if (fstat(sink->fd, &st) != 0 ||
		    (S_ISREG(st.st_mode) && st.st_size > 0 &&
		        ftruncate(sink->fd, 0) != 0)) {
			message_fail(STATUS_FAILED, s->output, "%s",
			    strerror(errno));
			goto fail;
		}
	}
	sink->terminal = isatty(sink->fd);
	sink->color = decide_color(s, sink->terminal);
	if (s->compress > 0 && sink->terminal) {
		message_fail(STATUS_USAGE, NULL,
		    "refusing to write compressed output to a terminal; see "
		    "-o");
		goto fail;
	}
	sink->columns = terminal_columns(sink->fd);
	if (s->output == NULL)
		sink->pager = pager_begin();
	if (open_output(sink))
		return 1;
fail:
	if (sink->fd > 2)
		(void)close(sink->fd);
	return 0;
}

int
sink_footer(const struct sink *sink)
{
	static const char stream[] = ".arrows";
	size_t n = strlen(sink->name), tail = sizeof(stream) - 1;
	struct stat file;

	return sink->named && fstat(sink->fd, &file) == 0 &&
	    S_ISREG(file.st_mode) &&
	    (n < tail || strcmp(sink->name + n - tail, stream) != 0);
}

int
sink_check_binary(const struct sink *sink, const char *input)
{
	if (!sink->terminal || sink->named)
		return 1;
	message_fail(STATUS_USAGE, input,
	    "refusing to write binary output to a terminal; see -f and -o");
	return 0;
}

static void
tell(struct sink *sink, int error)
{
	message_raise(STATUS_FAILED);
	/* the reader of a pipe has gone: not an error */
	if (!sink->failed && error != EPIPE)
		message_fail(STATUS_FAILED, NULL, "%s: %s", sink->name,
		    strerror(error));
	sink->failed = 1;
}

void
sink_failed(struct sink *sink)
{
	int error = tel_output_errno(sink->out);

	tell(sink, error != 0 ? error : ENOMEM);
}

int
sink_replace(struct sink *sink)
{
	int fd = sink->fd;

	if (tel_output_finish(sink->out) != TEL_OK) {
		sink_failed(sink);
		return 0;
	}
	/* after a crash, too, the name is that of a whole file */
	if (fsync(fd) != 0 && errno != EINVAL) {
		tell(sink, errno);
		return 0;
	}
	sink->fd = -1;
	if (close(fd) == 0 && rename(sink->made, sink->settings->output) == 0)
		return 1;
	tell(sink, errno);
	(void)unlink(sink->made);
	return 0;
}

int
sink_again(struct sink *sink)
{
	if (sink->fd >= 0)
		return 1;
	tel_output_free(sink->out);
	sink->out = NULL;
	if (open_new(sink, sink->settings) && open_output(sink))
		return 1;
	sink->failed = 1;
	return 0;
}

void
sink_close(struct sink *sink)
{
	if (sink->settings->replace) {
		tel_output_free(sink->out);
		discard(sink);
		if (sink->fd >= 0)
			(void)close(sink->fd);
		return;
	}
	if (tel_output_finish(sink->out) != TEL_OK)
		sink_failed(sink);
	tel_output_free(sink->out);
	/* some file systems report a full disk only now */
	if (close(sink->fd) != 0 && !sink->failed)
		tell(sink, errno);
	pager_end(sink->pager);
}
