/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs in files: their own, one that was kept, or one from a pipe. */
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "common/message.h"

int
trace_nameless(void)
{
	const char *folder = getenv("TMPDIR");
	char path[4096];
	int fd, fits;

	if (folder == NULL || folder[0] == '\0')
		folder = "/tmp";
	fits = snprintf(path, sizeof(path), "%s/telreplay.XXXXXX", folder);
	if (fits < 0 || (size_t)fits >= sizeof(path)) {
		errno = ENAMETOOLONG;
		fd = -1;
	} else {
		fd = mkstemp(path);
	}
	if (fd < 0)
		message_fail(STATUS_FAILED, folder, "%s", strerror(errno));
	else
		(void)unlink(path);
	return fd;
}

int
trace_program(struct trace *trace, const char *name)
{
	tel_status st = tel_program_open_fd(trace->fd, &trace->program);

	if (st == TEL_OK)
		return 1;
	message_fail(STATUS_FAILED, name, "%s",
	    st == TEL_EIO ? strerror(errno) : tel_status_text(st));
	return 0;
}

/* Puts a program that comes through a pipe into a file. */
static int
spool(struct trace *trace, const unsigned char *head, size_t nhead)
{
	tel_output *out = NULL;
	char buffer[65536];
	ssize_t n = 1;
	int error = 0;

	trace->fd = trace_nameless();
	if (trace->fd >= 0)
		out = tel_output_new_fd(trace->fd);
	if (out == NULL)
		return 0;
	if (tel_output_write(out, head, nhead) != TEL_OK)
		error = tel_output_errno(out);
	while (n > 0 && error == 0) {
		n = read(0, buffer, sizeof(buffer));
		if (n < 0 && errno == EINTR) {
			n = 1;
			continue;
		}
		if (n < 0)
			error = errno;
		else if (tel_output_write(out, buffer, (size_t)n) != TEL_OK)
			error = tel_output_errno(out);
	}
	if (error == 0 && tel_output_flush(out) != TEL_OK)
		error = tel_output_errno(out);
	tel_output_free(out);
	if (error != 0)
		message_fail(STATUS_FAILED, "-", "%s", strerror(error));
	return error == 0;
}

/* What was asked for that only a log can give. */
static const char *
asks_for_log(const struct telreplay *t)
{
	const struct selection *s = &t->settings.select;

	if (s->filtering || s->percent || s->skip > 0 || s->count != UINT64_MAX)
		return "events are selected in logs, not in programs";
	if (t->lanes > 0)
		return "--threads is for a log: the program has its threads";
	if (t->keep != NULL)
		return "-o is for a log: this is a program already";
	return NULL;
}

/* Takes an open file as a program.  It may be from anybody. */
static int
take_program(struct trace *trace, const struct telreplay *t, const char *name)
{
	const char *wrong = asks_for_log(t);
	tel_status st;

	if (wrong != NULL) {
		message_fail(STATUS_USAGE, name, "%s", wrong);
		return 0;
	}
	if (!trace_program(trace, name))
		return 0;
	st = tel_program_check(trace->program);
	if (st != TEL_OK) {
		message_fail(STATUS_FAILED, name, "%s", tel_status_text(st));
		return 0;
	}
	if (!trace_facts(trace, tel_program_facts(trace->program)))
		return 0;
	if (t->order_given && trace->facts->order != (uint64_t)t->order) {
		message_fail(STATUS_USAGE, name,
		    "--order is for a log: the program has its order");
		return 0;
	}
	return 1;
}

/* Reads a little of a pipe; it is given back to the readers. */
static size_t
read_head(unsigned char *head)
{
	size_t used = 0;
	ssize_t n = 1;

	while (used < TRACE_HEAD && n > 0) {
		n = read(0, head + used, TRACE_HEAD - used);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n > 0)
			used += (size_t)n;
	}
	return used;
}

int
trace_try(struct trace *trace, struct telreplay *t, unsigned char *head)
{
	struct settings *s = &t->settings;
	const char *name = s->noperands > 0 ? s->operands[0] : "-";
	int piped, fd;
	struct stat st;
	ssize_t n;

	if (s->noperands > 1)
		return 0;
	fd = strcmp(name, "-") == 0 ? dup(0) : open(name, O_RDONLY | O_NOCTTY);
	/* what cannot be opened is told of when it is read */
	if (fd < 0)
		return 0;
	if (fstat(fd, &st) != 0) {
		(void)close(fd);
		return 0;
	}
	piped = !S_ISREG(st.st_mode);
	if (piped && (strcmp(name, "-") != 0 || isatty(fd))) {
		(void)close(fd);
		return 0;
	}
	if (piped) {
		(void)close(fd);
		s->ahead = head;
		s->nahead = read_head(head);
		if (!tel_program_probe(head, s->nahead))
			return 0;
		if (!spool(trace, head, s->nahead))
			return -1;
		return take_program(trace, t, name) ? 1 : -1;
	}
	n = pread(fd, head, TRACE_HEAD, 0);
	if (n < 8 || !tel_program_probe(head, (size_t)n)) {
		(void)close(fd);
		return 0;
	}
	trace->fd = fd;
	return take_program(trace, t, name) ? 1 : -1;
}
