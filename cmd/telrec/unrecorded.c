/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs whose execution a recorded process noted, but not their library. */
#include "telrec/unrecorded.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/message.h"
#include "telrec/drain.h"
#include "telrec/program.h"

/* Programs that are reported by name, at most. */
#define NAMES_MAX 16u

/* The same program, for the same reason. */
struct missing {
	char path[sizeof(((struct arena_exec *)NULL)->path)];
	const char *why;
	unsigned times;
};

int
unrecorded_is_missing(const struct arena_exec *e)
{
	return __atomic_load_n(&e->state, __ATOMIC_ACQUIRE) ==
	    ARENA_EXEC_STARTED &&
	    drain_process_ended(ARENA_NOW(e->pid));
}

/* Makes a path of the current folder relative, as it was most likely given. */
static void
unrecorded_shorten(char *path)
{
	char folder[sizeof(((struct arena_exec *)NULL)->path)];

	if (getcwd(folder, sizeof(folder)) == NULL)
		return;
	size_t n = strlen(folder);
	if (n < 2 || strncmp(path, folder, n) != 0 || path[n] != '/')
		return;
	path[0] = '.';
	memmove(path + 1, path + n, strlen(path + n) + 1);
}

enum unrecorded_reason
unrecorded_find(const struct arena_exec *e, char *path, const char **text)
{
	/* whatever the program has written there */
	memcpy(path, e->path, sizeof(e->path));
	path[sizeof(e->path) - 1] = '\0';
	unrecorded_shorten(path);
	if (e->has_allocator) {
		*text = "it has its own allocator";
		return UNRECORDED_ALLOCATOR;
	}
	*text = program_obstacle(path);
	if (*text != NULL)
		return UNRECORDED_FILE;
	if (!e->has_environment) {
		*text = "its environment lacks LD_PRELOAD or " ARENA_ENV;
		return UNRECORDED_ENVIRONMENT;
	}
	*text = "it did not load the library, or cannot open the shared memory";
	return UNRECORDED_OTHER;
}

/* Adds a program.  0: there is no room for its name. */
static int
unrecorded_add_missing(struct missing *all, unsigned *count,
    const struct arena_exec *e)
{
	struct missing *new = &all[*count];

	(void)unrecorded_find(e, new->path, &new->why);
	new->times = 1;
	for (unsigned i = 0; i < *count; i++)
		if (strcmp(all[i].path, new->path) == 0 &&
		    strcmp(all[i].why, new->why) == 0) {
			all[i].times++;
			return 1;
		}
	if (*count == NAMES_MAX)
		return 0;
	(*count)++;
	return 1;
}

void
unrecorded_report(const struct arena *a)
{
	struct missing *all = calloc(NAMES_MAX + 1, sizeof(*all));
	unsigned long others = 0;
	unsigned i, count = 0;

	if (all == NULL)
		return;
	for (i = 0; i < ARENA_EXECS; i++)
		if (unrecorded_is_missing(&a->execs[i]) &&
		    !unrecorded_add_missing(all, &count, &a->execs[i]))
			others++;
	for (i = 0; i < count; i++)
		if (all[i].times == 1)
			message(all[i].path, "not recorded: %s", all[i].why);
		else
			message(all[i].path, "not recorded, %u times: %s",
			    all[i].times, all[i].why);
	if (others > 0)
		message(NULL, "%lu other program%s not recorded", others,
		    others == 1 ? " was" : "s were");
	if (ARENA_NOW(a->execs_missed) > 0)
		message(NULL,
		    "more than %u programs were not recorded or did not start "
		    "in time: those after them are not named",
		    ARENA_EXECS);
	free(all);
}
