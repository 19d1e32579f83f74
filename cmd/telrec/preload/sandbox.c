/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Filters of system calls (seccomp) that end a program for a call: the library
 * runs a filter with its own calls, as the kernel will, and does without those
 * that are not allowed.  A call that only fails is harmless.
 */
#define _GNU_SOURCE
#include "telrec/preload/sandbox.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

unsigned sandbox;

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__i386__)
#define ARCH AUDIT_ARCH_I386
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#else
#define ARCH 0
#endif

/* A call of the library while it records, and what it is for. */
static const struct call {
	int number;
	unsigned purpose;
	uint64_t first, second; /* arguments that filters look at */
} calls[] = {
	{ SYS_nanosleep, SANDBOX_NO_WAIT, 0, 0 },
	{ SYS_clock_nanosleep, SANDBOX_NO_WAIT, 0, 0 },
	{ SYS_futex, SANDBOX_NO_WAIT, 0, FUTEX_WAKE },
	{ SYS_kill, SANDBOX_NO_WAIT, 1, 0 },
	{ SYS_clock_gettime, SANDBOX_NO_WAIT, 1, 0 },
#ifdef SYS_clock_nanosleep_time64
	{ SYS_clock_nanosleep_time64, SANDBOX_NO_WAIT, 0, 0 },
	{ SYS_clock_gettime64, SANDBOX_NO_WAIT, 1, 0 },
#endif
	{ SYS_msync, SANDBOX_NO_WAIT, 0, 0 },
	{ SYS_mincore, SANDBOX_NO_WAIT, 0, 0 },
	{ SYS_getpid, SANDBOX_NO_START, 0, 0 },
	{ SYS_getppid, SANDBOX_NO_START, 0, 0 },
	{ SYS_gettid, SANDBOX_NO_START, 0, 0 },
	{ SYS_getcwd, SANDBOX_NO_FOLDER, 0, 0 },
	{ SYS_prctl, SANDBOX_NO_START, PR_GET_NAME, 0 },
};

/* A machine of the kernel's old packet filters. */
struct machine {
	uint32_t a, x, memory[BPF_MEMWORDS];
	struct seccomp_data data;
};

/* The operand of a calculation, or of a condition. */
static uint32_t
preload_sandbox_operand(const struct machine *m, const struct sock_filter *f)
{
	return BPF_SRC(f->code) == BPF_X ? m->x : f->k;
}

static uint32_t
calculate(const struct machine *m, const struct sock_filter *f)
{
	const uint32_t by = preload_sandbox_operand(m, f);

	switch (BPF_OP(f->code)) {
	case BPF_ADD: return m->a + by;
	case BPF_SUB: return m->a - by;
	case BPF_MUL: return m->a * by;
	case BPF_DIV: return m->a / by;
	case BPF_OR: return m->a | by;
	case BPF_AND: return m->a & by;
	case BPF_XOR: return m->a ^ by;
	case BPF_LSH: return m->a << (by & 31);
	case BPF_RSH: return m->a >> (by & 31);
	default: return -m->a;
	}
}

static int
preload_sandbox_is_true(const struct machine *m, const struct sock_filter *f)
{
	const uint32_t by = preload_sandbox_operand(m, f);

	switch (BPF_OP(f->code)) {
	case BPF_JEQ: return m->a == by;
	case BPF_JGT: return m->a > by;
	case BPF_JGE: return m->a >= by;
	default: return (m->a & by) != 0;
	}
}

/* What an instruction loads. */
static uint32_t
preload_sandbox_load(const struct machine *m, const struct sock_filter *f)
{
	uint32_t word = 0;

	switch (BPF_MODE(f->code)) {
	case BPF_ABS:
		if (f->k <= sizeof(m->data) - sizeof(word))
			memcpy(&word, (const char *)&m->data + f->k,
			    sizeof(word));
		return word;
	case BPF_LEN: return sizeof(m->data);
	case BPF_MEM: return m->memory[f->k % BPF_MEMWORDS];
	default: return f->k;
	}
}

/* What a filter of n instructions does with a call. */
static uint32_t
preload_sandbox_run(const struct sock_filter *f, unsigned n,
    const struct call *call)
{
	struct machine m = { 0 };

	m.data.nr = call->number;
	m.data.arch = ARCH;
	m.data.args[0] = call->first;
	m.data.args[1] = call->second;
	for (unsigned at = 0; at < n; at++) {
		const struct sock_filter *i = &f[at];

		switch (BPF_CLASS(i->code)) {
		case BPF_LD: m.a = preload_sandbox_load(&m, i); break;
		case BPF_LDX: m.x = preload_sandbox_load(&m, i); break;
		case BPF_ST: m.memory[i->k % BPF_MEMWORDS] = m.a; break;
		case BPF_STX: m.memory[i->k % BPF_MEMWORDS] = m.x; break;
		case BPF_ALU:
			/* a division by 0 ends a filter */
			if (BPF_OP(i->code) == BPF_DIV &&
			    preload_sandbox_operand(&m, i) == 0)
				return SECCOMP_RET_KILL_THREAD;
			m.a = calculate(&m, i);
			break;
		case BPF_JMP:
			/* forward, or beyond the end */
			if (BPF_OP(i->code) == BPF_JA)
				at = i->k < n - at ? at + i->k : n;
			else
				at += preload_sandbox_is_true(&m, i) ? i->jt :
				                                       i->jf;
			break;
		case BPF_RET: return BPF_RVAL(i->code) == BPF_A ? m.a : i->k;
		default:
			if (BPF_MISCOP(i->code) == BPF_TAX)
				m.x = m.a;
			else
				m.a = m.x;
		}
	}
	return SECCOMP_RET_KILL_PROCESS;
}

unsigned
sandbox_learn(const void *filter)
{
	const struct sock_fprog *program = filter;
	const unsigned before = sandbox;
	uint32_t action;

	if (program == NULL || program->filter == NULL)
		return before;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		action = preload_sandbox_run(program->filter, program->len,
		             &calls[i]) &
		    SECCOMP_RET_ACTION_FULL;
		if (action != SECCOMP_RET_ALLOW && action != SECCOMP_RET_LOG &&
		    action != SECCOMP_RET_ERRNO)
			sandbox |= calls[i].purpose;
	}
	return before;
}
