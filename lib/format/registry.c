/* SPDX-License-Identifier: BSD-2-Clause */
/* The built-in schemas by name: "mps-1.117.0/lii6gc,be". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/ets/ets.h"
#include "format/hpm/hpm.h"
#include "format/inst/inst.h"
#include "format/mps/mps.h"

/* Formats without releases that have events of their own. */
static const struct tel_form *const others[] = { &tel__form_ets, &tel__form_hpm,
	&tel__form_inst };

const char *
tel_release_name(unsigned i)
{
	if (i < tel__mps_nreleases)
		return tel__mps_releases[i].name;
	i -= tel__mps_nreleases;
	return i < sizeof(others) / sizeof(others[0]) ? others[i]->name : NULL;
}

/* The schema of one of them; TEL_EINVAL: it is none. */
static tel_status
other_new(const char *name, tel_schema **out)
{
	struct tel_schema *s;

	if (strcmp(name, tel__form_ets.name) == 0)
		return tel__ets_schema_new(out);
	if (strcmp(name, tel__form_hpm.name) == 0)
		s = tel__hpm_schema_new();
	else if (strcmp(name, tel__form_inst.name) == 0)
		s = tel__instr_schema();
	else
		return TEL_EINVAL;
	if (s == NULL)
		return TEL_ENOMEM;
	*out = s;
	return TEL_OK;
}

/* The release whose name is the first n bytes of name, or -1. */
static int
find_release(const char *name, size_t n)
{
	unsigned i;

	for (i = 0; i < tel__mps_nreleases; i++)
		if (strlen(tel__mps_releases[i].name) == n &&
		    memcmp(tel__mps_releases[i].name, name, n) == 0)
			return (int)i;
	return -1;
}

tel_status
tel_schema_new(const char *name, tel_schema **out)
{
	char platform[8] = "lii6gc";
	size_t n = strcspn(name, "/,");
	int release = find_release(name, n);
	struct tel_abi abi;

	if (release < 0)
		return other_new(name, out);
	name += n;
	if (*name == '/') {
		n = strcspn(++name, ",");
		if (n >= sizeof(platform))
			return TEL_EINVAL;
		memcpy(platform, name, n);
		platform[n] = '\0';
		name += n;
	}
	if (!tel__mps_platform_abi(platform, &abi))
		return TEL_EINVAL;
	if (strcmp(name, ",be") == 0)
		abi.big = 1;
	else if (strcmp(name, ",le") == 0)
		abi.big = 0;
	else if (*name != '\0')
		return TEL_EINVAL;
	return tel__mps_schema_new((unsigned)release, platform, &abi, out);
}
