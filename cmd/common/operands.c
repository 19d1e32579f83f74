/* SPDX-License-Identifier: BSD-2-Clause */
/* Operands with a range of time of their own: FILE@FROM,TO. */
#include "operands.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "message.h"
#include "settings.h"

/*
 * Splits an operand.  Without a file of that name, '@' starts a range if there
 * is a file that is named before it.  Returns 1, or 0: out of memory.
 */
static int
split_range(const char *operand, char **file, const char **range)
{
	const char *at = strrchr(operand, '@');

	*file = NULL;
	*range = NULL;
	if (at == NULL || at == operand || access(operand, F_OK) == 0)
		return 1;
	*file = strndup(operand, (size_t)(at - operand));
	if (*file == NULL)
		return 0;
	if (strcmp(*file, "-") == 0 || access(*file, F_OK) == 0) {
		*range = at + 1;
		return 1;
	}
	free(*file);
	*file = NULL;
	return 1;
}

int
operands_take(struct settings *s, char **list, int n)
{
	struct operands *o = &s->ranged;
	const size_t room = (size_t)n + 1;

	o->files = calloc(room, sizeof(*o->files));
	o->cut = calloc(room, sizeof(*o->cut));
	o->ranges = calloc(room, sizeof(*o->ranges));
	int ok = o->files != NULL && o->cut != NULL && o->ranges != NULL;
	for (int i = 0; ok && i < n; i++) {
		ok = split_range(list[i], &o->cut[i], &o->ranges[i]);
		o->files[i] = o->cut[i] != NULL ? o->cut[i] : list[i];
		o->count++;
	}
	o->shown = list;
	s->operands = o->files;
	s->noperands = o->count;
	if (!ok)
		(void)message_no_memory();
	return ok;
}

void
operands_only(struct settings *s, int i)
{
	s->operands[0] = s->operands[i];
	s->ranged.ranges[0] = s->ranged.ranges[i];
	s->noperands = 1;
}

/* The range that all operands have; NULL: they differ, or -t has one, too. */
static const char *
common_range(const struct settings *s)
{
	const char *const *ranges = s->ranged.ranges;

	if (s->select.ranged)
		return NULL;
	for (int i = 0; i < s->noperands; i++)
		if (ranges[i] == NULL || strcmp(ranges[i], ranges[0]) != 0)
			return NULL;
	return s->noperands > 0 ? ranges[0] : NULL;
}

/* Removes later operands of the file of operand i.  Returns 1, or 0. */
static int
join_file(struct settings *s, int i)
{
	int j, k;

	for (j = k = i + 1; j < s->noperands; j++) {
		const int same = strcmp(s->operands[j], s->operands[i]) == 0;

		if (same &&
		    (s->ranged.ranges[i] == NULL) !=
		        (s->ranged.ranges[j] == NULL))
			return message_fail(STATUS_USAGE, s->operands[i],
			    "given with a range and without one");
		if (same && s->ranged.ranges[i] != NULL)
			continue;
		s->operands[k] = s->operands[j];
		s->ranged.ranges[k++] = s->ranged.ranges[j];
	}
	s->noperands = k;
	return 1;
}

int
operands_select(struct settings *s)
{
	const char *const *ranges = s->ranged.ranges;
	const char *common = common_range(s);
	int i, ranged = 0;

	for (i = 0; i < s->noperands; i++)
		ranged |= ranges[i] != NULL;
	if (!ranged)
		return 1;
	if (common != NULL &&
	    !selection_logs(&s->select, s->operands[0], common))
		return 0;
	for (i = 0; common == NULL && i < s->noperands; i++)
		if (ranges[i] != NULL &&
		    !selection_log(&s->select, s->operands[i], ranges[i]))
			return 0;
	for (i = 0; i < s->noperands; i++)
		if (!join_file(s, i))
			return 0;
	return 1;
}

void
operands_free(struct operands *o)
{
	while (o->count > 0)
		free(o->cut[--o->count]);
	free(o->files);
	free(o->cut);
	free(o->ranges);
}
