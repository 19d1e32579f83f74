/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of the preloaded library say to each other. */
#ifndef TELREC_PRELOAD_H
#define TELREC_PRELOAD_H

/* Names this thread. */
void ring_put_name(const char *name);
/* The program is about to forbid itself all system calls but a few. */
void ring_forbid_calls(void);

#endif
