/* SPDX-License-Identifier: BSD-2-Clause */
/* Inferring which release and platform wrote an MPS stream. */
#ifndef TEL_MPS_INFER_H
#define TEL_MPS_INFER_H

#include "reader/reader.h"

/*
 * How sure it is that what the reader stands at is an MPS stream: 100 when
 * an EventInit or a build string says so, less when events fit, 0 if not.
 */
int tel__mps_infer_score(struct tel_reader *r);

/*
 * Chooses the schema of the stream that the reader stands at and hands it
 * over.  TEL_OK, TEL_EFORMAT, TEL_EVERSION, TEL_ENOMEM.
 */
tel_status tel__mps_infer(struct tel_reader *r);

#endif
