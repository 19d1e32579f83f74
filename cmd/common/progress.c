/* SPDX-License-Identifier: BSD-2-Clause */
/* How far a long run is: the rate, the share done and the time left. */
#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "message.h"

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

void
progress_show(struct progress *p, struct done done)
{
	uint64_t t = progress_now();
	double seconds = (double)(t - p->begun) / (double)SECOND + 1e-9;
	double events = (double)done.events;
	double input = (double)done.input;
	double share = p->size > 0 ? input / (double)p->size : 0;
	char left[64] = "", line[160];

	if (share > 1)
		share = 1;
	if (share > 0) {
		double rest = seconds * (1 - share) / share;

		if (rest > 359999)
			rest = 359999;
		(void)snprintf(left, sizeof(left), ", %.0f%%, %u:%02u left",
		    share * 100, (unsigned)rest / 60, (unsigned)rest % 60);
	}
	(void)snprintf(line, sizeof(line),
	    "%s: %.1f MB, %.1f MB/s, %.2f M events/s%s", message_program(),
	    input / 1e6, input / 1e6 / seconds, events / 1e6 / seconds, left);
	message_transient(line);
	p->shown = t;
}

int
progress_due(struct progress *p)
{
	uint64_t t;

	if (!p->on)
		return 0;
	t = progress_now();
	return (p->forced || t - p->begun >= DELAY) && t - p->shown >= INTERVAL;
}

void
progress_end(struct progress *p, struct done done)
{
	/* --progress shows something, however short the run */
	if (p->forced)
		progress_show(p, done);
	if (p->shown != 0)
		message_transient(NULL);
	p->shown = 0;
}

void
progress_pause(struct progress *p)
{
	if (p->shown != 0)
		message_transient(NULL);
	p->shown = 0;
}
