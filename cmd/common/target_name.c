/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of targets: which there are, and what is wrong in one. */
#include "target.h"

#include <stdio.h>
#include <string.h>
#include "message.h"

int
target_known(const char *name)
{
	tel_output *out = tel_output_new_fd(1);
	tel_writer *w = out != NULL ? tel_writer_new(out) : NULL;
	tel_status st = TEL_ENOMEM;

	/* the library has the list of what it writes */
	if (w != NULL)
		st = tel_writer_set_target(w, name);
	tel_writer_free(w);
	tel_output_free(out);
	return st != TEL_EINVAL;
}

/* Adds text to a list, as much of it as there is room for. */
static void
add(char *list, size_t room, const char *text)
{
	size_t used = strlen(list);

	(void)snprintf(list + used, room - used, "%s", text);
}

/*
 * The releases of the MPS by the versions of their streams:
 * "mps:1.1.3 (1.111.0), mps:1.1.6 (1.112.0, 1.113.0)"
 */
static void
list_releases(char *list, size_t room)
{
	static const char prefix[] = "mps-";
	char version[32] = "", text[96];
	const char *name;
	unsigned i;
	tel_schema *s;

	for (i = 0; (name = tel_release_name(i)) != NULL; i++) {
		if (strncmp(name, prefix, sizeof(prefix) - 1) != 0 ||
		    tel_schema_new(name, &s) != TEL_OK)
			continue;
		name += sizeof(prefix) - 1;
		if (strcmp(version, tel_schema_version(s)) == 0) {
			(void)snprintf(text, sizeof(text), ", %s", name);
		} else {
			(void)snprintf(version, sizeof(version), "%s",
			    tel_schema_version(s));
			(void)snprintf(text, sizeof(text), "%smps:%s (%s",
			    list[0] == '\0' ? "" : "), ", version, name);
		}
		tel_schema_free(s);
		add(list, room, text);
	}
	add(list, room, ")");
}

void
target_unknown(const char *name, const char *others)
{
	char text[512] = "", base[64];
	size_t n = strcspn(name, "/,"), order = strcspn(name, ",");

	if (strncmp(name, "mps", 3) != 0 || strchr(":-/,", name[3]) == NULL ||
	    name[3] == '\0') {
		message_fail(STATUS_USAGE, NULL, "-f: '%s' is none of: %s",
		    name, others);
		return;
	}
	(void)snprintf(base, sizeof(base), "%.*s", (int)n, name);
	if (!target_known(base)) {
		list_releases(text, sizeof(text));
		message_fail(STATUS_USAGE, NULL,
		    "-f: '%s' is no release of the MPS, which are: %s", name,
		    text);
		return;
	}
	(void)snprintf(base, sizeof(base), "%.*s", (int)order, name);
	if (target_known(base))
		message_fail(STATUS_USAGE, NULL,
		    "-f: '%s': the byte order is ,be or ,le", name);
	else
		message_fail(STATUS_USAGE, NULL,
		    "-f: '%s': a platform of the MPS is li, fr, xc, w3 or an "
		    "with i3, i6, ar or a6 and a compiler, as lii6gc, w3i3mv",
		    name);
}
