/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of the preloaded library say to each other. */
#ifndef TELREC_PRELOAD_H
#define TELREC_PRELOAD_H

/* Names this thread. */
void ring_put_name(const char *name);
/* This thread is about to lose all system calls but a few, or has not. */
void ring_forbid_calls(int on);

#endif
