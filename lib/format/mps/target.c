/* SPDX-License-Identifier: BSD-2-Clause */
/* From the name of a target to its schema: "mps:1.6.1/lii3gc,be". */
#include "format/mps/target.h"
#include "format/mps/mps.h"

#include <stdio.h>

/* The parts of a name. */
struct wish {
	int release; /* index; -1: as the log's */
	int stream;  /* a version of the stream: of several the log's */
	char platform[8];
	const char *order; /* ",be", ",le" or "" */
};

/* Nonzero when the n bytes at text are what number n is called in short. */
static int
is_release(const struct mps_release *rel, const char *text, size_t n)
{
	const char *full = rel->name + sizeof("mps-") - 1;

	/* "1.117.0", or "1.117" */
	return (strlen(full) == n && memcmp(full, text, n) == 0) ||
	    (strlen(full) == n + 2 && memcmp(full, text, n) == 0);
}

/* The newest release with a version.  Returns 0 when there is none. */
static int
find_version(struct wish *wish, const char *text, size_t n)
{
	char version[16];

	for (unsigned i = 0; i < tel__mps_nreleases; i++) {
		const struct mps_release *rel = &tel__mps_releases[i];
		int length = snprintf(version, sizeof(version), "%u.%u.%u",
		    rel->version[0], rel->version[1], rel->version[2]);

		if ((size_t)length == n && memcmp(version, text, n) == 0) {
			wish->release = (int)i;
			wish->stream = 1;
		}
	}
	for (unsigned i = 0; i < tel__mps_nreleases && wish->release < 0; i++)
		if (is_release(&tel__mps_releases[i], text, n))
			wish->release = (int)i;
	return wish->release >= 0;
}

static int
target_parse(const char *name, struct wish *wish)
{
	struct tel_abi abi;

	memset(wish, 0, sizeof(*wish));
	wish->release = -1;
	if (strncmp(name, "mps", 3) != 0)
		return 0;
	name += 3;
	if (*name == ':' || *name == '-') {
		size_t n = strcspn(++name, "/,");

		if (!find_version(wish, name, n) ||
		    (name[-1] == '-' && wish->stream))
			return 0;
		name += n;
	}
	if (*name == '/') {
		size_t n = strcspn(++name, ",");

		if (n >= sizeof(wish->platform))
			return 0;
		memcpy(wish->platform, name, n);
		if (!tel__mps_platform_abi(wish->platform, &abi))
			return 0;
		name += n;
	}
	wish->order = name;
	return *name == '\0' || strcmp(name, ",be") == 0 ||
	    strcmp(name, ",le") == 0;
}

/* Completes a request from the log.  Returns 0 when it lacks the data. */
static int
target_complete(struct wish *wish, const struct tel_schema *log,
    struct tel_abi *abi)
{
	int mps = strncmp(log->name, "mps-", 4) == 0 && log->platform[0] != 0;
	const char *platform = mps ? log->platform : "lii6gc";

	if (wish->release < 0 && !mps)
		return 0;
	if (wish->release < 0 ||
	    (wish->stream && mps &&
	        memcmp(tel__mps_releases[wish->release].version,
	            tel__mps_releases[log->release].version, 3) == 0))
		wish->release = (int)log->release;
	if (wish->platform[0] != '\0') {
		(void)tel__mps_platform_abi(wish->platform, abi);
	} else {
		snprintf(wish->platform, sizeof(wish->platform), "%s",
		    platform);
		(void)tel__mps_platform_abi(platform, abi);
		if (mps)
			*abi = log->abi;
	}
	if (wish->order[0] != '\0')
		abi->big = wish->order[1] == 'b';
	return 1;
}

tel_status
tel__mps_target(const char *name, const struct tel_schema *log,
    struct tel_schema **out)
{
	struct tel_abi abi = { 0 };
	struct wish wish;

	if (!target_parse(name, &wish))
		return TEL_EINVAL;
	if (log == NULL)
		return TEL_OK;
	if (!target_complete(&wish, log, &abi))
		return TEL_EINVAL;
	return tel__mps_schema_new((unsigned)wish.release, wish.platform, &abi,
	    out);
}
