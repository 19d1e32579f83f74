/* SPDX-License-Identifier: BSD-2-Clause */
/* Writing events in another format of logs, through a writer. */
#include "telcat.h"

#include "common/filtering.h"

void
telcat_write(struct telcat *t, struct sink *sink)
{
	struct filtering f = { .settings = &t->settings,
		.by_time = 1,
		.all_or_none = 1 };

	sample_begin(&f.sample);
	/* then nothing of events that are passed over is needed for another */
	f.bare = format_native(t->settings.format) &&
	    selection_all(&t->settings.select);
	(void)filtering_run(&f, sink);
}
