/* SPDX-License-Identifier: BSD-2-Clause */
/* The kinds of events, and the releases, of the MPS that libtel knows. */
#include "format/mps/mps.h"

const struct tel_kind tel__mps_kinds[MPS_KINDS] = {
	{ "Arena", "Per space or arena" },
	{ "Pool", "Per pool" },
	{ "Trace", "Per trace or scan" },
	{ "Seg", "Per seg" },
	{ "Ref", "Per ref or fix" },
	{ "Object", "Per alloc or object" },
	{ "User", "User-invoked" },
};

/* number, name, version of the stream, booleans, labels, registry, last code */
const struct mps_release tel__mps_releases[] = {
	{ 111, "mps-1.111.0", { 1, 1, 3 }, 0, 1, 1, 0, 0, 120 },
	{ 112, "mps-1.112.0", { 1, 1, 6 }, 0, 1, 1, 0, 0, 134 },
	{ 113, "mps-1.113.0", { 1, 1, 6 }, 0, 1, 1, 0, 0, 134 },
	{ 114, "mps-1.114.0", { 1, 4, 0 }, 0, 0, 0, 0, 0, 134 },
	{ 115, "mps-1.115.0", { 1, 6, 0 }, 0, 0, 0, 0, 0, 135 },
	{ 116, "mps-1.116.0", { 1, 6, 1 }, 0, 0, 0, 0, 0, 136 },
	{ 117, "mps-1.117.0", { 1, 6, 1 }, 0, 0, 0, 0, 0, 136 },
	{ 118, "mps-1.118.0", { 2, 0, 0 }, 1, 0, 0, 1, 1, 92 },
};
const unsigned tel__mps_nreleases =
    sizeof(tel__mps_releases) / sizeof(tel__mps_releases[0]);
