/* SPDX-License-Identifier: BSD-2-Clause */
/* The progress of a long run: the rate, the share done and the time left. */
#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "message.h"
#include "terminal.h"

#define SECOND 1000000000ULL

/* Shorter runs show nothing, unless --progress was given. */
#define DELAY SECOND
/* Not more often than a person can read. */
#define INTERVAL (SECOND / 5)

uint64_t
progress_now(void)
{
	struct timespec ts;

	if (clock_gettime(CLOCK_MONOTONIC, &ts) != 0)
		return 0;
	return (uint64_t)ts.tv_sec * SECOND + (uint64_t)ts.tv_nsec;
}

void
progress_begin(struct progress *p, const struct settings *s, uint64_t size)
{
	memset(p, 0, sizeof(*p));
	p->forced = s->progress;
	p->on = p->forced || (!s->quiet && isatty(STDERR_FILENO));
	p->size = size;
	if (p->on)
		p->begun = progress_now();
}

/*
 * Joins the parts of the line that fit a terminal: the rates are left out first,
 * then the size; the share and the time left are what the line is for.
 */
static void
progress_join(char *line, size_t size, char (*parts)[64])
{
	static const unsigned least[] = { 2, 1, 0 };
	size_t columns = terminal_columns(STDERR_FILENO), used, i, k;

	for (k = 0;; k++) {
		used = (size_t)snprintf(line, size, "%s:", message_program());
		for (i = 0; i < 4; i++)
			if (parts[i][0] != '\0' && used < size)
				used += (size_t)snprintf(line + used,
				    size - used, "%s %s",
				    line[used - 1] == ':' ? "" : ",", parts[i]);
		if (columns == 0 || used < columns || k == 3)
			return;
		parts[least[k]][0] = '\0';
	}
}

void
progress_show(struct progress *p, struct done done)
{
	uint64_t t = progress_now();
	double seconds = (double)(t - p->begun) / (double)SECOND + 1e-9;
	double events = (double)done.events;
	double input = (double)done.input;
	double share = p->size > 0 ? input / (double)p->size : 0;
	char parts[4][64] = { "", "", "", "" }, line[160];

	if (share > 1)
		share = 1;
	if (share > 0) {
		double rest = seconds * (1 - share) / share;

		if (rest > 359999)
			rest = 359999;
		(void)snprintf(parts[3], sizeof(parts[3]),
		    "%.0f%%, %u:%02u left", share * 100, (unsigned)rest / 60,
		    (unsigned)rest % 60);
	}
	(void)snprintf(parts[0], sizeof(parts[0]), "%.1f MB", input / 1e6);
	(void)snprintf(parts[1], sizeof(parts[1]), "%.1f MB/s",
	    input / 1e6 / seconds);
	(void)snprintf(parts[2], sizeof(parts[2]), "%.2f M events/s",
	    events / 1e6 / seconds);
	progress_join(line, sizeof(line), parts);
	message_transient(line);
	p->shown = t;
}

int
progress_due(struct progress *p)
{
	if (!p->on)
		return 0;
	uint64_t t = progress_now();
	return (p->forced || t - p->begun >= DELAY) && t - p->shown >= INTERVAL;
}

void
progress_end(struct progress *p, struct done done)
{
	/* --progress shows something, however short the run */
	if (p->forced)
		progress_show(p, done);
	message_transient(NULL);
	p->shown = 0;
}

void
progress_pause(struct progress *p)
{
	message_transient(NULL);
	p->shown = 0;
}
