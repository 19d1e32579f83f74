/* SPDX-License-Identifier: BSD-2-Clause */
/* Identifies the writer of an MPS stream: version, platform, variety. */
#ifndef TEL_MPS_IDENTIFY_H
#define TEL_MPS_IDENTIFY_H

#include "format/mps/mps.h"
#include "reader/reader.h"

/*
 * How much of a log is looked at when it does not say who wrote it: some
 * thousand events, as releases differ in few that are rare.
 */
#define MPS_IDENTIFY_SIZE TEL_PEEK_MAX

/* The layouts of streams without any word of their platform. */
#define MPS_LAYOUTS 6
extern const struct mps_layout {
	const char *platform;
	int big;
} tel__mps_layouts[MPS_LAYOUTS];

struct mps_identity {
	int release;      /* index, or -1 */
	char platform[8]; /* "" when not known */
	int init;         /* EventInit was found */
	size_t built_at;  /* where the build string ends; 0: it was not found */
	size_t init_at;   /* where the EventInit starts */
	uint32_t version[3];
	struct tel_abi abi; /* of the EventInit found */
};

/*
 * Looks at more and more of the log that r is at the start of, until events
 * identify the writer.  A pipe is not waited for longer than that takes.
 * Returns how many bytes that took.
 */
size_t tel__mps_gather(struct tel_reader *r, struct mps_identity *g);

/*
 * Nonzero when the release fits what EventInit said, or when it said
 * nothing.  A version between those known is read as the one before it.
 */
int tel__mps_release_fits(const struct mps_identity *g, unsigned release);

/* Nonzero when the n bytes cannot be a stream: it has zeros in its headers. */
int tel__mps_no_stream(const unsigned char *p, size_t n);

#endif
