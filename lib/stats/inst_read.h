/* SPDX-License-Identifier: BSD-2-Clause */
/* The inside of the reader of inst streams. */
#ifndef TEL_STATS_INST_READ_H
#define TEL_STATS_INST_READ_H

#include "stats/inst_tree.h"

struct inst_reader {
	struct tel_stats *into;
	struct tel_stats *part; /* what this session counted; NULL: none yet */
	const char *name;
	struct tree tree;
	uint64_t hz;
	int ended; /* the session has its Z */
	uint64_t line;
	uint64_t problems; /* lines that made no sense */
	uint64_t session_problems;
	char problem[256]; /* the first of them */
};

/*
 * What a line came to: TEL_OK; TEL_EDAMAGED: it makes no sense, and *why says
 * why; TEL_ENOMEM.
 */
tel_status tel__inst_define(struct inst_reader *r, const struct inst_line *l,
    const char **why);
tel_status tel__inst_update(struct inst_reader *r, const struct inst_line *l,
    const char **why);
tel_status tel__inst_trace(struct inst_reader *r, const struct inst_line *l,
    const char **why);
tel_status tel__inst_snapshot(struct inst_reader *r, const struct inst_line *l,
    const char **why);
tel_status tel__inst_bucket(struct inst_reader *r, const struct inst_line *l,
    const char **why);
tel_status tel__inst_report(struct inst_reader *r, const struct inst_line *l,
    const char **why);
tel_status tel__inst_origin(struct inst_reader *r, const struct inst_line *l,
    const char **why);

/* The class that a line is about; NULL with *why set. */
struct node *tel__inst_node(struct inst_reader *r, const struct inst_line *l,
    const char **why);

/*
 * The key of two fields, its value and its data type.  TEL_OK, TEL_EDAMAGED,
 * TEL_ELIMIT (no room for a string), TEL_ENOMEM.
 */
tel_status tel__inst_key(struct inst_reader *r, const struct inst_line *l,
    const char *value, const char *datatype, struct key *out);

#endif
