/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of a set of statistics. */
#include "stats/load.h"

/* Documented limits. */
#define GROUP_ROWS_MAX 1048576
#define OPEN_MAX 16777216

static tel_status
options_set_max_groups(struct tel_stats *s, int64_t count)
{
	if (count < 1 || count > GROUP_ROWS_MAX)
		return stats_fail(s, TEL_EINVAL,
		    "the maximum number of groups must be from 1 to 1048576");
	s->max_groups = (size_t)count;
	for (size_t i = 0; i < s->count; i++)
		s->definitions[i]->max_groups = (uint32_t)count;
	return TEL_OK;
}

static tel_status
options_set_max_open(struct tel_stats *s, int64_t count)
{
	if (count < 1 || count > OPEN_MAX)
		return stats_fail(s, TEL_EINVAL,
		    "the maximum number of open ranges must be from 1 to "
		    "16777216");
	s->max_open = (size_t)count;
	for (size_t i = 0; i < s->count; i++)
		s->definitions[i]->open.max = (uint32_t)count;
	return TEL_OK;
}

tel_status
tel_stats_set(tel_stats *s, tel_stats_option option, int64_t value)
{
	if (s->started)
		return TEL_ESTATE;
	switch (option) {
	case TEL_STATS_DELTAS: s->deltas = value != 0; return TEL_OK;
	case TEL_STATS_BLOCKS: s->blocks = value != 0; return TEL_OK;
	case TEL_STATS_FORCE: s->force = value != 0; return TEL_OK;
	case TEL_STATS_CLASSES:
		s->classes = value != 0 ? &tel__load_within_ops : NULL;
		return TEL_OK;
	case TEL_STATS_MAX_GROUPS: return options_set_max_groups(s, value);
	case TEL_STATS_MAX_OPEN: return options_set_max_open(s, value);
	case TEL_STATS_MAX_MEMORY:
		if (value < 0 || (uint64_t)value > SIZE_MAX)
			return TEL_EINVAL;
		s->budget.most = (size_t)value;
		return TEL_OK;
	}
	return TEL_EINVAL;
}
