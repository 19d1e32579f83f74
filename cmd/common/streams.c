/* SPDX-License-Identifier: BSD-2-Clause */
/* The standard streams and the output, checked to the end. */
#include "streams.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "message.h"
#include "new_file.h"
#include "pager.h"
#include "terminal.h"

/* Each file takes one descriptor, and three more when it is compressed. */
#define FILES_WANTED 65536

/* What streams_begin() found, for the programs that a tool starts. */
static struct rlimit files_before;

/* A caught signal is not inherited by the programs that a tool starts. */
static void
ignore(int number)
{
	(void)number;
}

void
streams_begin(void)
{
	struct sigaction action = { 0 };
	struct rlimit files;

	/* so that a file that grows too large is a failure of writing */
	sigemptyset(&action.sa_mask);
	action.sa_handler = ignore;
	action.sa_flags = SA_RESTART;
	(void)sigaction(SIGXFSZ, &action, NULL);

	/* files that are merged are all open at once */
	if (getrlimit(RLIMIT_NOFILE, &files_before) == 0 &&
	    files_before.rlim_cur < FILES_WANTED &&
	    files_before.rlim_cur < files_before.rlim_max) {
		files = files_before;
		files.rlim_cur = files.rlim_max < FILES_WANTED ?
		    files.rlim_max :
		    FILES_WANTED;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	/* the wrong direction each, so that reading or writing fails */
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) == -1 && errno == EBADF)
			(void)open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

void
streams_leave(void)
{
	if (files_before.rlim_max != 0)
		(void)setrlimit(RLIMIT_NOFILE, &files_before);
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
streams_is_same(const struct stat *st, const char *path)
{
	struct stat in;
	int got = strcmp(path, "-") == 0 ? fstat(0, &in) : stat(path, &in);

	return got == 0 && S_ISREG(in.st_mode) && in.st_dev == st->st_dev &&
	    in.st_ino == st->st_ino;
}

int
output_check(const char *path, int fd, const struct settings *s)
{
	struct stat st;
	int i;

	if ((fd < 0 ? stat(path, &st) : fstat(fd, &st)) != 0 ||
	    !S_ISREG(st.st_mode))
		return 1;
	for (i = 0; i < s->noperands || (i == 0 && s->noperands == 0); i++) {
		const char *operand = s->noperands > 0 ? s->operands[i] : "-";

		if (!streams_is_same(&st, operand))
			continue;
		return message_fail(STATUS_USAGE, operand,
		    "the output would overwrite this input");
	}
	return 1;
}

int
output_is(const char *path, const struct settings *s)
{
	struct stat st, out;
	const int found = stat(path, &st) == 0;

	if (found && S_ISCHR(st.st_mode))
		return 0;
	if (s->output != NULL && strcmp(s->output, path) == 0)
		return 1;
	return found &&
	    (s->output != NULL ? stat(s->output, &out) : fstat(1, &out)) == 0 &&
	    out.st_dev == st.st_dev && out.st_ino == st.st_ino;
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

/* Opens the file of -o, or one beside it that is to get its name. */
static int
open_file(struct sink *sink)
{
	const struct settings *s = sink->settings;
	struct stat old;

	if (s->replace && lstat(s->output, &old) == 0 && !S_ISREG(old.st_mode))
		return message_fail(STATUS_USAGE, s->output,
		    "not a regular file, which each interval could replace");
	sink->fd =
	    new_file_open(&sink->file, s->output, s->secret ? 0600 : 0666);
	if (sink->fd >= 0)
		return 1;
	return message_errno(s->output);
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
	return message_no_memory();
}

int
output_open(struct sink *sink, const struct settings *s)
{
	memset(sink, 0, sizeof(*sink));
	sink->settings = s;
	sink->name = s->output != NULL ? s->output : "standard output";
	sink->named = s->output != NULL;
	sink->fd = s->output != NULL ? -1 : 1;
	if (!output_check(sink->name, sink->fd, s) ||
	    (s->output != NULL && !open_file(sink)))
		return 0;
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
	new_file_close(&sink->file);
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
	return message_fail(STATUS_USAGE, input,
	    "refusing to write binary output to a terminal; see -f and -o");
}

static void
streams_report_error(struct sink *sink, int error)
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

	streams_report_error(sink, error != 0 ? error : ENOMEM);
}

void
sink_report(struct sink *sink, const char *file, tel_status st, const char *why)
{
	if (tel_output_errno(sink->out) != 0)
		sink_failed(sink);
	else
		message_fail(STATUS_FAILED, file, "%s",
		    st == TEL_ENOMEM || why[0] == '\0' ? tel_status_text(st) :
		                                         why);
}

/* Gives the file of -o its name. */
static int
publish(struct sink *sink)
{
	if (new_file_publish(&sink->file) == 0)
		return 1;
	streams_report_error(sink, errno);
	return 0;
}

void
sink_flushed(struct sink *sink)
{
	if (sink->settings->unbuffered && !sink->failed &&
	    tel_output_bytes(sink->out) > 0)
		(void)publish(sink);
}

int
sink_publish(struct sink *sink)
{
	return !sink->failed && publish(sink);
}

void
sink_discard(struct sink *sink)
{
	sink->discarded = 1;
}

void
sink_tells_failure(struct sink *sink)
{
	sink->tells_failure = 1;
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
		streams_report_error(sink, errno);
		return 0;
	}
	sink->fd = -1;
	if (close(fd) != 0) {
		streams_report_error(sink, errno);
		return 0;
	}
	return publish(sink);
}

int
sink_again(struct sink *sink)
{
	if (sink->fd >= 0)
		return 1;
	tel_output_free(sink->out);
	sink->out = NULL;
	new_file_close(&sink->file);
	if (open_file(sink) && open_output(sink))
		return 1;
	sink->failed = 1;
	return 0;
}

/*
 * The file of -o gets its name if all went well, or damaged input alone was
 * skipped; one that each interval replaces has had it.
 */
static int
is_worth_a_name(const struct sink *sink)
{
	switch (message_status()) {
	case STATUS_OK:
	case STATUS_DAMAGED: return 1;
	case STATUS_FAILED:
		return sink->tells_failure && access(sink->name, F_OK) != 0 &&
		    errno == ENOENT;
	default: return 0;
	}
}

static void
streams_close_file(struct sink *sink)
{
	if (!sink->failed && !sink->discarded && !sink->settings->replace &&
	    is_worth_a_name(sink))
		(void)publish(sink);
	new_file_close(&sink->file);
}

void
sink_close(struct sink *sink)
{
	const int fd = sink->fd;

	if (fd >= 0 && !sink->settings->replace &&
	    tel_output_finish(sink->out) != TEL_OK)
		sink_failed(sink);
	tel_output_free(sink->out);
	/* some file systems report a full disk only now */
	if (fd >= 0 && close(fd) != 0 && !sink->failed)
		streams_report_error(sink, errno);
	streams_close_file(sink);
	pager_end(sink->pager);
}
