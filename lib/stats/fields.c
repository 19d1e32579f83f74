/* SPDX-License-Identifier: BSD-2-Clause */
/* The fields of records, which save.c writes and load_values.c reads. */
#include "stats/fields.h"

/* clang-format off */
#define REPORT(name, always) { #name, offsetof(struct report, name), always }
const struct count_field tel__report_head[] = {
	REPORT(logs, 1), REPORT(events, 1), REPORT(bytes, 1), { NULL, 0, 0 }
};
const struct count_field tel__report_tail[] = {
	REPORT(untimed, 0), REPORT(input, 1), REPORT(damaged, 0),
	REPORT(skipped, 0), REPORT(repaired, 0), REPORT(unknown, 0),
	REPORT(lost, 0), REPORT(cut, 0), REPORT(incomplete, 0),
	REPORT(samples, 0), REPORT(strays, 0), REPORT(inherited, 0),
	{ NULL, 0, 0 }
};

#define PAIR(name, always) { #name, offsetof(struct tel_stat, pairs.name), always }
const struct count_field tel__pair_fields[] = {
	PAIR(pairs, 1), PAIR(open, 1), PAIR(orphan, 1), PAIR(nested, 0),
	PAIR(backward, 0), PAIR(untimed, 0), PAIR(over_limit, 0), { NULL, 0, 0 }
};
const struct count_field tel__stat_fields[] = {
	{ "inv", offsetof(struct tel_stat, invalid), 0 },
	{ "lost", offsetof(struct tel_stat, lost), 0 },
	{ NULL, 0, 0 }
};
/* clang-format on */

const char *const tel__pair_words[PAIRS_COUNT] = { "", "dur", "ticks",
	"queue" };

const char *const tel__piece_fields[PIECES] = { "expr", "weight", "if", "start",
	"end", "key", "middle" };

const char *const tel__shown_fields[TEL_SHOWN_MAX][2] = { { "k", "s" },
	{ "k2", "s2" }, { "k3", "s3" }, { "k4", "s4" }, { "k5", "s5" },
	{ "k6", "s6" }, { "k7", "s7" }, { "k8", "s8" } };
