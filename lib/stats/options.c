/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of a set of statistics. */
#include "stats/load.h"

tel_status
tel_stats_set(tel_stats *s, tel_stats_option option, int on)
{
	if (s->started)
		return TEL_ESTATE;
	switch (option) {
	case TEL_STATS_DELTAS: s->deltas = on != 0; return TEL_OK;
	case TEL_STATS_BLOCKS: s->blocks = on != 0; return TEL_OK;
	case TEL_STATS_CLASSES:
		s->classes = on ? &tel__load_within_ops : NULL;
		return TEL_OK;
	case TEL_STATS_FORCE: s->force = on != 0; return TEL_OK;
	}
	return TEL_EINVAL;
}
