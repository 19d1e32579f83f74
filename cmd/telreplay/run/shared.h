/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared: the memory that telreplay shares with each process that it starts, a
 * request and its reply.
 */
#ifndef TELREPLAY_SHARED_H
#define TELREPLAY_SHARED_H

#include <stdatomic.h>
#include <stdint.h>
#include "telreplay/run/counters.h"
#include "telreplay/run/run.h"

/* The environment variable that makes telreplay such a process. */
#define SHARED_VARIABLE "TELREPLAY_SHARED"

/* Guards against the memory of another program. */
#define SHARED_MAGIC 0x54656c5265706c79ULL

/* The most samples of memory. */
#define SAMPLES_MAX 512

/* System calls that are counted. */
enum system_call {
	CALL_MMAP,
	CALL_MUNMAP,
	CALL_MREMAP,
	CALL_BRK,
	CALL_MADVISE,
	CALL_MPROTECT,
	CALLS
};

/* Requests. */
enum job {
	JOB_PROBE, /* find out who serves malloc */
	JOB_TIME,  /* run the program */
	JOB_WATCH  /* run it, and sample its memory */
};

/* The progress of the process. */
enum phase {
	PHASE_STARTED,
	PHASE_READY,   /* the program is loaded */
	PHASE_RUNNING, /* the clock runs */
	PHASE_IDLE,    /* doing nothing, while memory is watched */
	PHASE_ENDING,  /* freeing what the log leaves live */
	PHASE_FREED,   /* all is freed, and memory is watched */
	PHASE_DONE
};

/* A sample of the memory that the allocator has from the system, in bytes. */
struct sample {
	uint64_t ns;   /* of real time since the run started */
	uint64_t done; /* words of the program, of all repeats */
	uint64_t live; /* bytes that the run has live */
	uint64_t resident;
	uint64_t huge;  /* of it: in huge pages */
	uint64_t lazy;  /* of it: freed lazily, see MADV_FREE */
	uint64_t room;  /* usable bytes of the live blocks */
	uint32_t known; /* the sample was taken */
	uint32_t phase; /* an enum phase */
};

struct shared {
	uint64_t magic;

	/* the request */
	uint32_t job; /* an enum job */
	int32_t program;
	uint32_t traced;  /* the parent counts system calls */
	uint32_t builtin; /* an enum builtin */
	char parameters[4096];
	struct run_options options;
	uint64_t idle_ns; /* to do nothing for after the last event */

	/* the reply */
	atomic_uint phase;   /* an enum phase */
	atomic_uint struck;  /* 1 + the number of the thread that crashed */
	char wrong[512];     /* why it gave up, or "" */
	char path[4096];     /* the library that has malloc */
	char release[256];   /* its version, or "" */
	char name[64];       /* of a plug-in */
	char settings[4096]; /* in its environment; see allocator_settings() */
	uint32_t plugin;     /* it is a plug-in */
	uint32_t has_delete; /* it has new and delete of C++ */
	uint32_t has_sized;  /* and a free that is given the size */
	uint64_t started;    /* by the monotonic clock, in nanoseconds */
	struct sample baseline, end, idle, freed, freed_idle;
	struct sample at_peak; /* when .residency was taken */
	struct run_residency residency;
	uint32_t has_room; /* samples have .room */
	uint64_t counts[COUNTERS];
	uint32_t counted[COUNTERS]; /* that of .counts is known */
	uint64_t minor_faults, major_faults;
	uint64_t process_ns; /* CPU time of all threads, the clock running */
	uint64_t peak;       /* resident, by the kernel; 0: unknown */
};

/* The statistics of the run follow, aligned to a page. */
#define SHARED_BOARD (((sizeof(struct shared) - 1) | 4095) + 1)

static inline struct run_shared_stats *
shared_run_stats(struct shared *sh)
{
	return (struct run_shared_stats *)(void *)((unsigned char *)sh +
	    SHARED_BOARD);
}

#endif
