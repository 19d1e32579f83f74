/* SPDX-License-Identifier: BSD-2-Clause */
/* Fields of the records of inst logs that statistics are saved in. */
#ifndef TEL_STATS_FIELDS_H
#define TEL_STATS_FIELDS_H

#include <stddef.h>

#include "stats/report.h"
#include "stats/stat.h"

/* A count, the field that has it, and where it is kept. */
struct count_field {
	const char *name; /* NULL ends a list */
	size_t at;
	int always; /* it is written even when it is 0 */
};

/* Of a struct report, those before and those behind its times. */
extern const struct count_field tel__report_head[], tel__report_tail[];
/* Of a struct tel_stat: of its pairs, and behind the numbers of its class. */
extern const struct count_field tel__pair_fields[], tel__stat_fields[];

/* The fields of the pieces of a struct spec, in their order. */
extern const char *const tel__piece_fields[PIECES];

static inline uint64_t *
field_count(const struct count_field *f, void *of)
{
	return (uint64_t *)(void *)((char *)of + f->at);
}

/* The fields of the values beside that of a top, and of their data types. */
extern const char *const tel__shown_fields[TEL_SHOWN_MAX][2];

#endif
