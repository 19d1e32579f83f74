/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Team: the threads of a printer.  Copies of events are gathered in batches,
 * which threads render; the caller's thread writes the results in order.
 *
 * Labels are read while events are rendered, so a change of them waits until
 * all batches are rendered: tel__labels_guard().
 */
#ifndef TEL_PRINT_RENDER_POOL_H
#define TEL_PRINT_RENDER_POOL_H

#include "model/run.h"
#include "render/renderer.h"

struct render_pool;

/*
 * Threads that render each event by itself, the caller's among them: it renders
 * when there is no room for further events.
 */
struct render_pool *tel__render_pool_new(struct tel_printer *pr,
    unsigned threads);
/* Waits for the threads; what was not written is lost. */
void tel__render_pool_free(struct render_pool *t);

/*
 * The events that follow are of another log, or have another schema: what the
 * printer has set for it is taken.  All before was written.
 */
tel_status tel__render_pool_set_log(struct render_pool *t,
    const struct tel_log *log);
/* Adds an event of that log.  TEL_OK, TEL_ENOMEM, or what failed before. */
tel_status tel__render_pool_event(struct render_pool *t,
    const struct tel_event *ev);
/* Adds all events of a run of that log. */
tel_status tel__render_pool_run(struct render_pool *t, struct tel_run *run);
/* Writes all events to the output.  Returns TEL_OK if t is NULL, too. */
tel_status tel__render_pool_flush(struct render_pool *t);

#endif
