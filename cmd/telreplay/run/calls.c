/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * System calls, by seccomp(2) and ptrace(2): only those in question stop the
 * process; all others run at full speed.
 */
#define _GNU_SOURCE
#include "telreplay/run/calls.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

struct call {
	const char *name;
	unsigned number;
};

static const struct call calls[CALLS] = {
#ifdef SYS_mmap2
	/* i386 and ARM have both; their C libraries use this one */
	[CALL_MMAP] = { "mmap", SYS_mmap2 },
#else
	[CALL_MMAP] = { "mmap", SYS_mmap },
#endif
	[CALL_MUNMAP] = { "munmap", SYS_munmap },
	[CALL_MREMAP] = { "mremap", SYS_mremap },
	[CALL_BRK] = { "brk", SYS_brk },
	[CALL_MADVISE] = { "madvise", SYS_madvise },
	[CALL_MPROTECT] = { "mprotect", SYS_mprotect },
};

const char *
calls_name(enum system_call call)
{
	return calls[call].name;
}

int
calls_stop(void)
{
	struct sock_filter code[CALLS + 3];
	struct sock_fprog program;
	unsigned short n = 0;

	/* load the number of the call; one of ours goes to the last line */
	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
	    offsetof(struct seccomp_data, nr));
	for (unsigned i = 0; i < CALLS; i++)
		code[n++] =
		    (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
		        calls[i].number, (unsigned char)(CALLS - i), 0);
	code[n++] =
	    (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[n++] =
	    (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
	program.len = n;
	program.filter = code;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

int
calls_trace(pid_t pid)
{
	return ptrace(PTRACE_SEIZE, pid, NULL,
	           (void *)(PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE |
	               PTRACE_O_EXITKILL)) == 0;
}

void
calls_count(pid_t pid, int status, int running, uint64_t *counts)
{
	struct __ptrace_syscall_info info;
	int event = status >> 16;
	long signal = 0;

	memset(&info, 0, sizeof(info));
	if (event == PTRACE_EVENT_SECCOMP && running &&
	    ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof(info), &info) >
	        0) {
		for (unsigned i = 0; i < CALLS; i++)
			if (info.seccomp.nr == calls[i].number)
				counts[i]++;
	}
	/* a signal that stopped it is delivered */
	if (event == 0)
		signal = WSTOPSIG(status);
	(void)ptrace(PTRACE_CONT, pid, NULL, (void *)signal);
}
