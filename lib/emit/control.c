/* SPDX-License-Identifier: BSD-2-Clause */
/* Control of kinds: by functions, text, signals, and other processes. */
#define _GNU_SOURCE
#include "emit.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#define STREAM_BIT ((uint32_t)1 << TEL_KIND_Stream)

/* With TEL_EMIT_LEAN, the recorded kinds are those that are on. */
static uint32_t
emit_control_changed(uint32_t before, uint32_t after)
{
	if (PAGE->flags & TEL_EMIT_LEAN && TEL__NOW(PAGE->record) != 0)
		__atomic_store_n(&PAGE->record, after | STREAM_BIT,
		    __ATOMIC_RELAXED);
	return before & ~STREAM_BIT;
}

uint32_t
tel_control_set(uint32_t kinds)
{
	uint32_t before =
	    __atomic_fetch_or(&PAGE->output, kinds, __ATOMIC_RELAXED);

	return emit_control_changed(before, before | kinds);
}

uint32_t
tel_control_reset(uint32_t kinds)
{
	uint32_t before = __atomic_fetch_and(&PAGE->output,
	    ~(kinds & ~STREAM_BIT), __ATOMIC_RELAXED);

	return emit_control_changed(before, before & ~kinds);
}

uint32_t
tel_control_flip(uint32_t kinds)
{
	uint32_t before = __atomic_fetch_xor(&PAGE->output, kinds & ~STREAM_BIT,
	    __ATOMIC_RELAXED);

	return emit_control_changed(before, before ^ kinds);
}

uint32_t
tel_control_read(void)
{
	return __atomic_load_n(&PAGE->output, __ATOMIC_RELAXED) & ~STREAM_BIT;
}

uint32_t
tel_control_record(uint32_t kinds)
{
	uint32_t before = TEL__NOW(PAGE->record);

	if (tel__emit_state.open)
		__atomic_store_n(&PAGE->record, kinds | STREAM_BIT,
		    __ATOMIC_RELAXED);
	return before & ~STREAM_BIT;
}

void
tel__emit_set_output(struct tel__emit_page *page, uint32_t kinds)
{
	__atomic_store_n(&page->output, kinds | STREAM_BIT, __ATOMIC_RELAXED);
	if (page->flags & TEL_EMIT_LEAN && TEL__NOW(page->record) != 0)
		__atomic_store_n(&page->record, kinds | STREAM_BIT,
		    __ATOMIC_RELAXED);
}

/* ------------------------------------------------------------------ text */

/* The kinds that a word of n bytes names; 0: unknown. */
static uint32_t
find_kinds(const struct tel__emit_page *page, const char *word, size_t n)
{
	char text[24], *end;

	if (n == 0)
		return 0;
	/* the page has no more of a name */
	n = n < sizeof(text) ? n : sizeof(text) - 1;
	memcpy(text, word, n);
	text[n] = '\0';
	if (strcasecmp(text, "all") == 0)
		return ~STREAM_BIT;
	if (isdigit((unsigned char)text[0])) {
		unsigned long number = strtoul(text, &end, 0);

		return *end == '\0' && number <= 0xFFFFFFFF ?
		    (uint32_t)number & ~STREAM_BIT :
		    0;
	}
	for (unsigned i = 0; i < TEL_EMIT_KINDS; i++)
		if (strncasecmp(page->kinds[i], text,
		        sizeof(page->kinds[i]) - 1) == 0)
			return (uint32_t)1 << i;
	return 0;
}

int
tel__emit_parse_control(const struct tel__emit_page *page, const char *text,
    uint32_t *kinds)
{
	static const char between[] = " \t\n,";
	uint32_t set = TEL__NOW(page->output), found;
	int changes = 0;
	size_t n;

	for (text += strspn(text, between); *text != '\0';
	     text += n + strspn(text + n, between)) {
		char sign = *text;

		if (sign == '+' || sign == '-')
			text++;
		else if (!changes)
			set = 0;
		changes = 1;
		n = strcspn(text, " \t\n,+-");
		found = find_kinds(page, text, n);
		if (found == 0 && !(n > 0 && strspn(text, "0xX") >= n))
			return tel__emit_wrong("unknown kind '%.*s'", (int)n,
			    text);
		set = sign == '-' ? set & ~found : set | found;
	}
	if (!changes)
		set = 0;
	*kinds = set & ~STREAM_BIT;
	return 0;
}

int
tel_control_text(const char *text)
{
	uint32_t kinds;

	if (tel__emit_parse_control(PAGE, text, &kinds) != 0)
		return -1;
	tel__emit_set_output(PAGE, kinds);
	return 0;
}

/* ---------------------------------------------------------- other programs */

/* Maps the page of a ring file; NULL with errno set. */
static struct tel__emit_page *
open_page(const char *path, uint32_t pid)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct tel__emit_page *page = NULL;

	if (fd < 0)
		return NULL;
	if (lseek(fd, 0, SEEK_END) >= (off_t)TEL__EMIT_PAGE_BYTES)
		page = tel__emit_memory(NULL, TEL__EMIT_PAGE_BYTES, fd, 0);
	close(fd);
	if (page != NULL && memcmp(page->magic, "\361telring", 8) == 0 &&
	    page->version == 1 && (pid == 0 || page->pid == pid) &&
	    page->kinds[31][23] == '\0')
		return page;
	if (page != NULL)
		munmap(page, TEL__EMIT_PAGE_BYTES);
	errno = ENOENT;
	return NULL;
}

/* Finds the ring file among the files that a process has mapped. */
static struct tel__emit_page *
find_page(uint32_t pid)
{
	struct tel__emit_page *page = NULL;
	char name[64], line[4600], *path;

	snprintf(name, sizeof(name), "/proc/%lu/maps", (unsigned long)pid);
	FILE *maps = fopen(name, "re");
	if (maps == NULL)
		return NULL;
	while (page == NULL && fgets(line, sizeof(line), maps) != NULL) {
		path = strchr(line, '/');
		if (strstr(line, " rw-s 00000000 ") == NULL || path == NULL)
			continue;
		path[strcspn(path, "\n")] = '\0';
		page = open_page(path, pid);
	}
	fclose(maps);
	if (page == NULL)
		errno = ENOENT;
	return page;
}

/* The page of a program; NULL with errno set. */
static struct tel__emit_page *
page_of(const char *whose)
{
	struct tel__emit_page *page;

	if (*whose != '\0' && whose[strspn(whose, "0123456789")] == '\0')
		page = find_page((uint32_t)strtoul(whose, NULL, 10));
	else
		page = open_page(whose, 0);
	/* this is what tel_emit_close() does last */
	if (page != NULL && TEL__NOW(page->record) == 0) {
		munmap(page, TEL__EMIT_PAGE_BYTES);
		errno = ESRCH;
		return NULL;
	}
	return page;
}

int
tel_control_other(const char *whose, const char *text)
{
	struct tel__emit_page *page = page_of(whose);
	uint32_t kinds;

	if (page == NULL)
		return -1;
	int st = tel__emit_parse_control(page, text, &kinds);
	if (st == 0)
		tel__emit_set_output(page, kinds);
	munmap(page, TEL__EMIT_PAGE_BYTES);
	return st;
}

int
tel_control_list(const char *whose, char *text, size_t size)
{
	struct tel__emit_page *page = page_of(whose);
	size_t used = 0;

	if (page == NULL)
		return -1;
	if (size > 0)
		text[0] = '\0';
	for (unsigned i = 0; i < TEL_KIND_Stream; i++) {
		if (page->kinds[i][0] == '\0')
			continue;
		used += (size_t)snprintf(used < size ? text + used : NULL,
		    used < size ? size - used : 0, "%s%c%.23s",
		    used > 0 ? "," : "",
		    TEL__NOW(page->output) >> i & 1 ? '+' : '-',
		    page->kinds[i]);
	}
	munmap(page, TEL__EMIT_PAGE_BYTES);
	return (int)used;
}

/* ---------------------------------------------------------------- signals */

static struct {
	struct sigaction old[NSIG];
	uint32_t before;
	volatile sig_atomic_t all;
} by_signal;

static void
emit_control_on_signal(int number, siginfo_t *info, void *context)
{
	const struct sigaction *old = &by_signal.old[number];

	if (by_signal.all) {
		tel__emit_set_output(PAGE, by_signal.before);
		by_signal.all = 0;
	} else {
		by_signal.before = tel_control_set(~STREAM_BIT);
		by_signal.all = 1;
	}
	if (old->sa_flags & SA_SIGINFO)
		old->sa_sigaction(number, info, context);
	else if (old->sa_handler != SIG_DFL && old->sa_handler != SIG_IGN)
		old->sa_handler(number);
}

int
tel_control_signal(int number)
{
	struct sigaction action = { 0 }, old;

	/* it must not call itself as the previous one */
	if (sigaction(number, NULL, &old) != 0)
		return -1;
	if (old.sa_flags & SA_SIGINFO &&
	    old.sa_sigaction == emit_control_on_signal)
		return 0;
	action.sa_sigaction = emit_control_on_signal;
	action.sa_flags = SA_SIGINFO | SA_RESTART;
	sigemptyset(&action.sa_mask);
	return sigaction(number, &action, &by_signal.old[number]);
}
