/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace: events of telstat itself, --self-trace. */
#ifndef TELSTAT_TRACE_H
#define TELSTAT_TRACE_H

#include "tel_emit.h"

#define TELSTAT_KINDS(KIND, X) \
	KIND(X, Phase, 0, "phases of a run") \
	KIND(X, Input, 1, "what is read") \
	KIND(X, Output, 2, "what is written")

#define TELSTAT_EVENTS(EVENT, X) \
	EVENT(X, PhaseStart, 0x0001, 1, Phase, "a phase starts") \
	EVENT(X, PhaseEnd, 0x0002, 1, Phase, "and ends") \
	EVENT(X, FileStart, 0x0003, 1, Input, "a log is opened") \
	EVENT(X, FileEnd, 0x0004, 1, Input, "and read to its end") \
	EVENT(X, Block, 0x0005, 1, Input, "a block of events was counted") \
	EVENT(X, Snapshot, 0x0006, 1, Output, "a snapshot of -i is shown") \
	EVENT(X, Written, 0x0007, 1, Output, "all output is written")

#define EVENT_PhaseStart_PARAMS(PARAM, X) \
	PARAM(X, 0, U8, phase, "", "its number", "start:PhaseEnd") \
	PARAM(X, 1, S, name, "", "its name", "")
#define EVENT_PhaseEnd_PARAMS(PARAM, X) \
	PARAM(X, 0, U8, phase, "", "its number", "finish")
#define EVENT_FileStart_PARAMS(PARAM, X) \
	PARAM(X, 0, U32, file, "", "its number", "start:FileEnd") \
	PARAM(X, 1, U64, size, "bytes", "of the file; 0: unknown", "") \
	PARAM(X, 2, S, name, "", "the operand", "")
#define EVENT_FileEnd_PARAMS(PARAM, X) \
	PARAM(X, 0, U32, file, "", "its number", "finish") \
	PARAM(X, 1, U64, events, "", "in all", "") \
	PARAM(X, 2, U64, input, "bytes", "that were read", "") \
	PARAM(X, 3, U64, damaged, "", "places", "")
#define EVENT_Block_PARAMS(PARAM, X) \
	PARAM(X, 0, U64, events, "", "so far", "") \
	PARAM(X, 1, U64, input, "bytes", "read so far", "")
#define EVENT_Snapshot_PARAMS(PARAM, X) \
	PARAM(X, 0, U64, number, "", "from 1", "")
#define EVENT_Written_PARAMS(PARAM, X) \
	PARAM(X, 0, U64, output, "bytes", "of output", "")

TEL_EVENTS(TELSTAT)

enum { PHASE_READ = 1, PHASE_SHOW };

/* Traces into a file from now on.  1, or 0 after a message. */
int trace_start(const char *path);
/* Ends the trace.  A trace that is not complete is reported. */
void trace_end(const char *path);

#endif
