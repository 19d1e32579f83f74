/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages to the user, and the exit status that comes of them. */
#include "message.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/digit.h"
#include "terminal.h"

/* The longest message; longer ones are truncated. */
#define LINE_MAX_BYTES 4096

/* The only mutable state of a tool outside its main. */
static struct {
	const char *program;
	enum status status;
	int transient; /* a line waits to be taken away */
} state = { "teltools", STATUS_OK, 0 };

/* Bytes that a message quotes of a text. */
#define EXCERPT 200u
#define EXCERPT_ROOM (EXCERPT + 8)

struct line {
	size_t used;
	char text[LINE_MAX_BYTES];
};

void
message_begin(const char *program)
{
	state.program = program;
}

const char *
message_program(void)
{
	return state.program;
}

enum status
message_status(void)
{
	return state.status;
}

void
message_raise(enum status status)
{
	state.status = status_worse(state.status, status);
}

/* Adds text, of which nothing may reach a terminal that could steer it. */
static void
message_add(struct line *l, const char *text)
{
	for (; *text != '\0' && l->used < sizeof(l->text) - 8; text++) {
		unsigned char c = (unsigned char)*text;

		if (c >= 0x20 && c <= 0x7e) {
			l->text[l->used++] = (char)c;
			continue;
		}
		tel_digit_escape(l->text + l->used, c);
		l->used += 4;
	}
}

/* Writes all of it, or as much as standard error takes. */
static void
message_put(const char *text, size_t size)
{
	while (size > 0) {
		ssize_t n = write(STDERR_FILENO, text, size);

		if (n <= 0)
			return;
		text += n;
		size -= (size_t)n;
	}
}

static void
common_message_begin(struct line *l, const char *file)
{
	l->used = 0;
	if (state.transient)
		message_transient(NULL);
	message_add(l, state.program);
	message_add(l, ": ");
	if (file == NULL)
		return;
	message_add(l, strcmp(file, "-") == 0 ? "standard input" : file);
	message_add(l, ": ");
}

static void
message_end(struct line *l)
{
	l->text[l->used++] = '\n';
	message_put(l->text, l->used);
}

__attribute__((format(printf, 2, 0))) static void
vmessage(const char *file, const char *format, va_list ap)
{
	char text[LINE_MAX_BYTES];
	struct line l;

	common_message_begin(&l, file);
	(void)vsnprintf(text, sizeof(text), format, ap);
	message_add(&l, text);
	message_end(&l);
}

void
message(const char *file, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vmessage(file, format, ap);
	va_end(ap);
}

int
message_fail(enum status status, const char *file, const char *format, ...)
{
	va_list ap;

	message_raise(status);
	va_start(ap, format);
	vmessage(file, format, ap);
	va_end(ap);
	return 0;
}

/*
 * The part of a text around a column, so that the reason has room behind it in a
 * message: a short text itself, or out, with the part.
 */
static const char *
message_excerpt(const char *text, unsigned column, char out[EXCERPT_ROOM])
{
	const size_t n = strlen(text);
	size_t from = column > EXCERPT / 2 ? column - EXCERPT / 2 : 0;

	if (n <= EXCERPT)
		return text;
	if (from > n - EXCERPT)
		from = n - EXCERPT;
	(void)snprintf(out, EXCERPT_ROOM, "%s%.*s%s", from > 0 ? "..." : "",
	    (int)EXCERPT, text + from, from + EXCERPT < n ? "..." : "");
	return out;
}

void
message_at(const char *file, uint64_t offset, const char *text)
{
	char where[40];
	struct line l;

	common_message_begin(&l, file);
	(void)snprintf(where, sizeof(where), "offset %" PRIu64 ": ", offset);
	message_add(&l, where);
	message_add(&l, text);
	message_end(&l);
}

int
message_errno(const char *file)
{
	return message_fail(STATUS_FAILED, file, "%s", strerror(errno));
}

int
message_no_memory(void)
{
	return message_fail(STATUS_FAILED, NULL, "%s",
	    tel_status_text(TEL_ENOMEM));
}

int
message_refused(tel_status st, const char *option, const char *text,
    unsigned column, const char *why)
{
	const char *colon = option[0] != '\0' ? ": " : "";
	char room[EXCERPT_ROOM], at[24] = "";

	if (st == TEL_ENOMEM || why[0] == '\0')
		return message_fail(STATUS_FAILED, NULL, "%s",
		    tel_status_text(st));
	if (text == NULL)
		return message_fail(STATUS_USAGE, NULL, "%s%s%s", option, colon,
		    why);
	if (column > 0)
		(void)snprintf(at, sizeof(at), ", column %u", column);
	return message_fail(STATUS_USAGE, NULL, "%s%s'%s'%s: %s", option, colon,
	    message_excerpt(text, column, room), at, why);
}

void
message_transient(const char *line)
{
	/* ECMA-48: erase from the cursor to the end of the line */
	static const char clear[] = "\r\033[K";

	if (state.transient || line != NULL)
		message_put(clear, sizeof(clear) - 1);
	state.transient = line != NULL;
	if (line == NULL)
		return;
	size_t n = strlen(line);
	/* a line that wraps could not be erased again */
	size_t columns = terminal_columns(STDERR_FILENO);
	if (columns > 0 && n >= columns)
		n = columns - 1;
	message_put(line, n);
}
