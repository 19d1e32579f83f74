/* SPDX-License-Identifier: BSD-2-Clause */
/* Finding files that describe events. */
#include "describe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tel.h"
#include "message.h"

/* The file in one of the folders that has it; NULL when none has. */
static char *
search(const char *folders, const char *name)
{
	size_t n, size;
	char *path;

	for (;; folders += n + 1) {
		n = strcspn(folders, ":");
		size = n + strlen(name) + 2;
		path = malloc(size);
		if (path == NULL)
			return NULL;
		(void)snprintf(path, size, "%.*s/%s", (int)n, folders, name);
		if (n > 0 && access(path, R_OK) == 0)
			return path;
		free(path);
		if (folders[n] == '\0')
			return NULL;
	}
}

int
describe_add(char ***list, size_t *count, const char *path)
{
	const char *folders = getenv("TEL_SCHEMA_PATH");
	char **longer = realloc(*list, (*count + 1) * sizeof(*longer));
	char *found = NULL;

	if (longer != NULL)
		*list = longer;
	if (access(path, R_OK) == 0)
		found = strdup(path);
	else if (path[0] != '/' && folders != NULL &&
	    (found = search(folders, path)) == NULL)
		errno = ENOENT;
	if (found == NULL && errno != ENOMEM) {
		message_fail(STATUS_FAILED, path, "%s", strerror(errno));
		return 0;
	}
	if (longer != NULL && found != NULL) {
		longer[(*count)++] = found;
		return 1;
	}
	free(found);
	message_fail(STATUS_FAILED, NULL, "%s", tel_status_text(TEL_ENOMEM));
	return 0;
}

void
describe_free(char **list, size_t count)
{
	while (count > 0)
		free(list[--count]);
	free(list);
}
