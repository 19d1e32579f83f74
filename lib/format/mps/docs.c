/* SPDX-License-Identifier: BSD-2-Clause */
/* The descriptions of docs.tsv, which the Makefile makes a table of. */
#include "format/mps/mps.h"

#include <string.h>
#include <strings.h>

const char *
tel__mps_doc(const char *type, const char *field)
{
	const struct mps_doc *doc;

	for (doc = tel__mps_docs; doc < tel__mps_docs + tel__mps_ndocs; doc++)
		/* some have another case in old releases */
		if (((doc->type[0] ^ type[0]) & 0x1f) == 0 &&
		    strcasecmp(doc->type, type) == 0 &&
		    strcmp(doc->field, field != NULL ? field : "") == 0)
			return doc->text;
	return NULL;
}
