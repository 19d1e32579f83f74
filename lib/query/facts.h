/* SPDX-License-Identifier: BSD-2-Clause */
/* What an event has beside its fields. */
#ifndef TEL_QUERY_FACTS_H
#define TEL_QUERY_FACTS_H

#include "query/program.h"

/* Whether the label of any field matches a glob. */
int tel__fact_label_glob(const struct tel_event *ev,
    const struct pattern *glob);

/* What a comparison, match or list comes to for the labels of all fields. */
enum trit tel__fact_labels(const struct machine *m, const struct tel_event *ev,
    const struct node *n);

/* The label of the first field that has one; of the field given. */
struct value tel__fact_first_label(const struct tel_event *ev);
struct value tel__fact_label(const struct tel_event *ev, unsigned field);

/* Whether nanoseconds are known. */
int tel__fact_has_time(const struct tel_event *ev);

struct value tel__fact_builtin(const struct machine *m,
    const struct tel_event *ev, enum builtin b);

#endif
