/* SPDX-License-Identifier: BSD-2-Clause */
/* Progress: a line on standard error with the progress of a long run. */
#ifndef COMMON_PROGRESS_H
#define COMMON_PROGRESS_H

#include "settings.h"

/* How many events to let pass before progress_due() is asked again. */
#define PROGRESS_EVENTS 4096

struct progress {
	int on;
	int forced;
	uint64_t size;         /* of the file, 0 when not known */
	uint64_t begun, shown; /* nanoseconds of the monotonic clock */
};

/* Nanoseconds of the monotonic clock; 0 if unavailable. */
uint64_t progress_now(void);

/* Begins a file.  size: its bytes, 0 when that is not known. */
void progress_begin(struct progress *p, const struct settings *s,
    uint64_t size);

/* What has been read, by all readers at work. */
struct done {
	uint64_t events;
	uint64_t input; /* bytes of the files */
};

/* Nonzero when it is time for progress_show(): at most five times a second. */
int progress_due(struct progress *p);

/* Shows the line. */
void progress_show(struct progress *p, struct done done);

/* Takes the line away. */
void progress_end(struct progress *p, struct done done);

/* Takes the line away, as another will be shown; progress_show() goes on. */
void progress_pause(struct progress *p);

#endif
