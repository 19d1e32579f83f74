/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The item types of TMF: the four that Singularity's descriptions use, and
 * those of Event Tracing for Windows, where TMF comes from.
 */
#include "format/ets/tmf.h"

#include <string.h>

#include "model/schema.h"

static const struct tmf_item items[] = {
	{ "ItemChar", 1, TEL_SIGNED, TEL_LOAD_LE64, TMF_CHAR },
	{ "ItemUChar", 1, TEL_UNSIGNED, TEL_LOAD_U8, TMF_PLAIN },
	{ "ItemShort", 2, TEL_SIGNED, TEL_LOAD_LE16S, TMF_PLAIN },
	{ "ItemUShort", 2, TEL_UNSIGNED, TEL_LOAD_LE16, TMF_PLAIN },
	{ "ItemLong", 4, TEL_SIGNED, TEL_LOAD_LE32S, TMF_PLAIN },
	{ "ItemULong", 4, TEL_UNSIGNED, TEL_LOAD_LE32, TMF_PLAIN },
	{ "ItemULongX", 4, TEL_SET, TEL_LOAD_LE32, TMF_PLAIN },
	{ "ItemLongLong", 8, TEL_SIGNED, TEL_LOAD_LE64, TMF_PLAIN },
	{ "ItemULongLong", 8, TEL_UNSIGNED, TEL_LOAD_LE64, TMF_PLAIN },
	{ "ItemLongLongX", 8, TEL_SET, TEL_LOAD_LE64, TMF_PLAIN },
	{ "ItemULongLongX", 8, TEL_SET, TEL_LOAD_LE64, TMF_PLAIN },
	{ "ItemDouble", 8, TEL_DOUBLE, TEL_LOAD_LE64, TMF_PLAIN },
	{ "ItemPtr", 4, TEL_POINTER, TEL_LOAD_LE32, TMF_PLAIN },
	{ "ItemPort", 2, TEL_UNSIGNED, TEL_LOAD_BE16, TMF_PLAIN },
	{ "ItemIPAddr", 4, TEL_STRING, TEL_LOAD_STRING_AT, TMF_IP },
	{ "ItemGuid", 16, TEL_STRING, TEL_LOAD_STRING_AT, TMF_GUID },
	{ "ItemString", 0, TEL_STRING, TEL_LOAD_STRING, TMF_STRING },
	{ "ItemWString", 0, TEL_STRING, TEL_LOAD_STRING_AT, TMF_WIDE },
	{ "ItemPString", 2, TEL_STRING, TEL_LOAD_STRING_AT, TMF_COUNTED },
	{ "ItemPWString", 2, TEL_STRING, TEL_LOAD_STRING_AT, TMF_COUNTED_WIDE },
};

const struct tmf_item tel__tmf_padding[9] = {
	[1] = { "", 1, TEL_UNSIGNED, TEL_LOAD_U8, TMF_PADDING },
	[2] = { "", 2, TEL_UNSIGNED, TEL_LOAD_U8, TMF_PADDING },
	[4] = { "", 4, TEL_UNSIGNED, TEL_LOAD_U8, TMF_PADDING },
	[8] = { "", 8, TEL_UNSIGNED, TEL_LOAD_U8, TMF_PADDING },
};

const struct tmf_item *
tel__tmf_find_item(const char *name, size_t n)
{
	for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++)
		if (strlen(items[i].name) == n &&
		    memcmp(items[i].name, name, n) == 0)
			return &items[i];
	return NULL;
}
