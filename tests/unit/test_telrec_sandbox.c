/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Filters of system calls: for random ones, the library expects of each of its
 * calls what the kernel then does.
 */
#define _GNU_SOURCE
#include "telrec/preload/sandbox.c"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

#define NCALLS (sizeof(calls) / sizeof(calls[0]))
#define PROGRAMS 300u
#define BODY 14u

/* What became of a call. */
enum { NOT_MADE, MADE, TRAPPED, KILLED };
static volatile unsigned char *became;
static volatile sig_atomic_t trapped;
static uint64_t random_state = 1;

static unsigned
below(unsigned n)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1;
	return (unsigned)((random_state >> 33) % n);
}

/* Small numbers, numbers of calls, and any. */
static uint32_t
any_number(void)
{
	switch (below(4)) {
	case 0: return below(6);
	case 1: return (uint32_t)calls[below(NCALLS)].number;
	case 2: return UINT32_MAX - below(3);
	default: return below(UINT32_MAX);
	}
}

static struct sock_filter
any_load(unsigned stored)
{
	static const unsigned offsets[] = { 0, 4, 16, 20, 24, 28, 32, 60 };

	switch (below(stored > 0 ? 6 : 5)) {
	case 0:
	case 1:
		return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsets[below(8)]);
	case 2:
		return (
		    struct sock_filter)BPF_STMT(BPF_LD | BPF_IMM, any_number());
	case 3:
		return (struct sock_filter)BPF_STMT(BPF_LDX | BPF_IMM,
		    any_number());
	case 4:
		return (struct sock_filter)BPF_STMT(below(2) ?
		        BPF_LD | BPF_W | BPF_LEN :
		        BPF_LDX | BPF_W | BPF_LEN,
		    0);
	default:
		return (struct sock_filter)BPF_STMT(
		    (below(2) ? BPF_LD : BPF_LDX) | BPF_MEM, below(stored));
	}
}

static struct sock_filter
any_operation(void)
{
	static const unsigned short operations[] = { BPF_ADD, BPF_SUB, BPF_MUL,
		BPF_DIV, BPF_OR, BPF_AND, BPF_XOR, BPF_LSH, BPF_RSH, BPF_NEG };
	const unsigned short operation = operations[below(10)];
	const unsigned short by = below(2) ? BPF_X : BPF_K;
	uint32_t k = any_number();

	if (operation == BPF_LSH || operation == BPF_RSH)
		k %= 32;
	if (operation == BPF_NEG)
		return (struct sock_filter)BPF_STMT(BPF_ALU | BPF_NEG, 0);
	return (struct sock_filter)BPF_STMT(BPF_ALU | operation | by,
	    by == BPF_X ? 0 : k | (operation == BPF_DIV));
}

/* A jump over so many instructions at most. */
static struct sock_filter
any_jump(unsigned most)
{
	static const unsigned short tests[] = { BPF_JEQ, BPF_JGT, BPF_JGE,
		BPF_JSET };

	if (below(6) == 0)
		return (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA,
		    below(most + 1));
	return (struct sock_filter)BPF_JUMP(BPF_JMP | tests[below(4)] |
	        (below(2) ? BPF_X : BPF_K),
	    any_number(), (uint8_t)below(most + 1), (uint8_t)below(most + 1));
}

/*
 * A filter that computes something for the calls of the library, and allows the
 * others.  Its last part allows a call or has it trapped.
 */
static unsigned
make_filter(struct sock_filter *f)
{
	unsigned i, n = 0, stored = 0;

	f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0);
	for (i = 0; i < NCALLS; i++)
		f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
		    (uint32_t)calls[i].number, (uint8_t)(NCALLS - i), 0);
	f[n++] =
	    (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	/* what is loaded from memory must have been stored */
	for (; stored < 4; stored++)
		f[n++] =
		    (struct sock_filter)BPF_STMT(below(2) ? BPF_ST : BPF_STX,
		        stored);
	for (i = 0; i < BODY; i++)
		switch (below(5)) {
		case 0: f[n++] = any_jump(BODY - 1 - i); break;
		case 1: f[n++] = any_load(stored); break;
		case 2:
			f[n++] = (struct sock_filter)BPF_STMT(BPF_MISC |
			        (below(2) ? BPF_TAX : BPF_TXA),
			    0);
			break;
		case 3:
			f[n++] =
			    (struct sock_filter)BPF_STMT(below(2) ? BPF_ST :
			                                            BPF_STX,
			        below(stored));
			break;
		default: f[n++] = any_operation();
		}
	/* a bit that depends on all others */
	f[n++] =
	    (struct sock_filter)BPF_STMT(BPF_ALU | BPF_MUL | BPF_K, 0x9e3779b1);
	f[n++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 31);
	f[n++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_MUL | BPF_K,
	    SECCOMP_RET_ALLOW - SECCOMP_RET_TRAP);
	f[n++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_ADD | BPF_K,
	    SECCOMP_RET_TRAP);
	f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_A, 0);
	return n;
}

static void
on_trap(int signal)
{
	(void)signal;
	trapped = 1;
}

/* In a child: makes the calls that were not made yet.  2: without the filter. */
static int
make_calls(const struct sock_fprog *program)
{
	unsigned i;

	signal(SIGSYS, on_trap);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0) != 0)
		return 2;
	for (i = 0; i < NCALLS; i++) {
		if (became[i] != NOT_MADE)
			continue;
		trapped = 0;
		/* what it is if the call does not return */
		became[i] = KILLED;
		(void)syscall(calls[i].number, calls[i].first, calls[i].second,
		    0L, 0L, 0L, 0L);
		became[i] = trapped ? TRAPPED : MADE;
	}
	return 0;
}

/* Finds out what the kernel does.  0: it takes no filters. */
static int
ask_kernel(const struct sock_fprog *program)
{
	int status;
	pid_t pid;

	memset((void *)(uintptr_t)became, NOT_MADE, NCALLS);
	do {
		/*
		 * ThreadSanitizer's fork() starts a thread in the child, which
		 * goes on when a filter has killed the one of the calls.
		 */
		pid =
		    (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
		if (pid == 0)
			_exit(make_calls(program));
		if (pid < 0 || waitpid(pid, &status, 0) != pid ||
		    (WIFEXITED(status) && WEXITSTATUS(status) != 0))
			return 0;
	} while (!WIFEXITED(status));
	return 1;
}

/* Whether the library expects the same of each call, and of all of them. */
static int
is_expected(const struct sock_fprog *program)
{
	unsigned i, purposes = 0, before;
	uint32_t action;
	int good = 1;

	for (i = 0; i < NCALLS; i++) {
		action = preload_sandbox_run(program->filter, program->len,
		    &calls[i]);
		if (became[i] == MADE ? action != SECCOMP_RET_ALLOW &&
		            (action & SECCOMP_RET_ACTION_FULL) !=
		                SECCOMP_RET_ERRNO :
		        became[i] == TRAPPED ?
		                        action != SECCOMP_RET_TRAP :
		                        action != SECCOMP_RET_KILL_THREAD &&
		            action != SECCOMP_RET_KILL_PROCESS) {
			diag("call %d: %d, not %" PRIx32, calls[i].number,
			    became[i], action);
			good = 0;
		}
		if (became[i] != MADE)
			purposes |= calls[i].purpose;
	}
	sandbox = 0;
	before = sandbox_learn(program);
	return good && before == 0 && sandbox == purposes;
}

/* Each action, of all calls. */
static void
test_actions(void)
{
	static const uint32_t actions[] = { SECCOMP_RET_ALLOW,
		SECCOMP_RET_ERRNO | 1, SECCOMP_RET_TRAP,
		SECCOMP_RET_KILL_THREAD, SECCOMP_RET_KILL_PROCESS };
	struct sock_filter f[BPF_MAXINSNS > 64 ? 64 : 1];
	struct sock_fprog program = { 0, f };
	unsigned i;

	for (i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		program.len = (unsigned short)make_filter(f);
		/* behind those that allow other calls */
		f[NCALLS + 2] =
		    (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, actions[i]);
		ok(ask_kernel(&program) && is_expected(&program),
		    "action %" PRIx32, actions[i]);
	}
	sandbox = SANDBOX_NO_WAIT;
	program.filter = NULL;
	ok(sandbox_learn(NULL) == SANDBOX_NO_WAIT &&
	        sandbox_learn(&program) == SANDBOX_NO_WAIT &&
	        sandbox == SANDBOX_NO_WAIT,
	    "no filter changes nothing");
	f[0] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_LOG);
	program.filter = f;
	program.len = 1;
	ok(sandbox_learn(&program) == SANDBOX_NO_WAIT &&
	        sandbox == SANDBOX_NO_WAIT,
	    "a second filter adds to the first one");
}

int
main(void)
{
	struct sock_filter f[64];
	struct sock_fprog program = { 0, f };
	unsigned i, made = 0, trapped_calls = 0, killed = 0, k;

	became = mmap(NULL, NCALLS, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	program.len = (unsigned short)make_filter(f);
	/* where a long has 32 bits, so have the arguments that are passed */
	if (sizeof(long) < sizeof(uint64_t) || became == MAP_FAILED ||
	    !ask_kernel(&program)) {
		ok(1, "# SKIP no filters of system calls here");
		return done();
	}
	test_actions();
	for (i = 0; i < PROGRAMS; i++) {
		program.len = (unsigned short)make_filter(f);
		if (!ask_kernel(&program) || !is_expected(&program))
			break;
		for (k = 0; k < NCALLS; k++) {
			made += became[k] == MADE;
			trapped_calls += became[k] == TRAPPED;
			killed += became[k] == KILLED;
		}
	}
	ok(i == PROGRAMS, "%u random filters, as the kernel runs them", i);
	diag("%u calls made, %u trapped, %u killed", made, trapped_calls,
	    killed);
	ok(made > 300 && trapped_calls > 300 && killed > 10,
	    "calls of each kind");
	return done();
}
