/* SPDX-License-Identifier: BSD-2-Clause */
/* The decoder of MPS streams: its functions, as struct tel_format_ops has them. */
#ifndef TEL_MPS_DECODER_H
#define TEL_MPS_DECODER_H

#include "reader/reader.h"

/*
 * 100 when an EventInit or a build string identifies an MPS stream, less when
 * events fit, 0 if not.
 */
int tel__mps_probe(struct tel_reader *r);
tel_status tel__mps_open(struct tel_reader *r);
tel_status tel__mps_next(struct tel_reader *r);
/* Finds where a piece may start, as r->format->split_at(). */
int tel__mps_split_at(struct tel_reader *r, uint64_t from, uint64_t to);
void tel__mps_decode_batch(struct tel_reader *r);

/*
 * Whether a stream of that major version is later than all that are known, and
 * is not to be read unless that is forced.
 */
int tel__mps_is_newer(uint64_t major);
/* Fails with TEL_EVERSION. */
tel_status tel__mps_refuse(struct tel_reader *r, uint64_t major,
    uint64_t median, uint64_t minor);

/* Frees the schemas that were made to find that of a log. */
void tel__mps_cache_free(void *kept);

#endif
