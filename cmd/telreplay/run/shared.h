/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared: the memory that telreplay shares with each process that it starts:
 * what that one is to do, and what came of it.
 */
#ifndef TELREPLAY_SHARED_H
#define TELREPLAY_SHARED_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include "telreplay/run/run.h"

/* The environment variable that tells a process to be such a one. */
#define SHARED_VARIABLE "TELREPLAY_SHARED"

/* Nobody runs with another program's memory by mistake. */
#define SHARED_MAGIC 0x54656c5265706c79ULL

/* Moments at which memory is looked at. */
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

/* What is to be done. */
enum job {
	JOB_PROBE, /* say who serves malloc */
	JOB_TIME,  /* run the program */
	JOB_WATCH  /* run it, and look at memory while it runs */
};

/* How far it is. */
enum phase {
	PHASE_STARTED,
	PHASE_READY,   /* the program is loaded */
	PHASE_RUNNING, /* the clock runs */
	PHASE_ENDING,  /* what the log leaves is being freed */
	PHASE_FREED,   /* all is freed */
	PHASE_DONE
};

/* Memory at one moment: what the allocator has of the system, in bytes. */
struct sample {
	uint64_t done; /* words of the program, of all repeats */
	uint64_t resident;
	uint64_t lazy;  /* of it: what the kernel may take back */
	uint64_t room;  /* of the live blocks, as far as the allocator tells */
	uint32_t known; /* the rest was found out */
};

struct shared {
	uint64_t magic;

	/* the question */
	uint32_t job; /* an enum job */
	int32_t program;
	uint32_t traced;  /* somebody counts the system calls */
	uint32_t builtin; /* an enum builtin */
	char parameters[4096];
	struct run_options options;

	/* the answer */
	atomic_uint phase; /* an enum phase */
	/* 1 + the number of the thread that a signal hit, and the address */
	atomic_uint struck;
	uint64_t struck_at;
	char wrong[512];   /* why it gave up, or "" */
	char path[4096];   /* the library that has malloc */
	char release[256]; /* its version, or "" */
	char name[64];     /* of a plug-in */
	uint32_t plugin;   /* it is one */
	struct sample baseline, end, freed;
	struct sample samples[SAMPLES_MAX];
	uint64_t asked;    /* bytes of all allocations, */
	uint64_t given;    /* and what room there was */
	uint32_t has_room; /* samples have .room */
	uint64_t minor_faults, major_faults;
	uint64_t peak; /* resident, as the kernel has it; 0 for not known */
};

/* The board of the run follows, at the beginning of a page. */
#define SHARED_BOARD (((sizeof(struct shared) - 1) | 4095) + 1)

static inline struct run_board *
shared_board(struct shared *sh)
{
	return (struct run_board *)(void *)((unsigned char *)sh + SHARED_BOARD);
}

#endif
