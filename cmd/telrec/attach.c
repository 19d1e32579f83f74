/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loading the library into a running process, with ptrace(2): a
 * thread that is stopped calls dlopen(3), and goes on as if nothing had been.
 *
 * A thread in the allocator or in the dynamic linker may hold a lock that
 * dlopen() needs, too.  So one is taken that is in other code, or waits in a
 * system call that neither of them makes.
 */
#define _GNU_SOURCE
#include "telrec/attach.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/message.h"
#include "telrec/drain.h"
#include "telrec/preload/preload.h"

#if defined(__x86_64__) && defined(__linux__) && __SIZEOF_POINTER__ == 8
#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How often a thread is looked for that may call, every 2 ms. */
#define TRIES 5000
/* Bytes below the stack that functions use, and for the text. */
#define RED_ZONE 128
#define TEXT_BYTES 1024
#define STATE_BYTES 16384

/* A thread that is stopped. */
struct thread {
	pid_t pid, tid;
	struct user_regs_struct regs;
	uint64_t mask;                    /* signals that it blocks */
	unsigned char state[STATE_BYTES]; /* of its other registers */
	struct iovec state_part;
};

/* An object that the process has mapped. */
struct object {
	uint64_t start;
	char path[512];
};

/* The mapping of an address, or the first one of a file.  0: there is none. */
static int
find_object(pid_t pid, uint64_t address, const char *file, struct object *out)
{
	char name[64], line[1024];
	unsigned long long start, end, offset;
	int at, found = 0;
	char *base, *path;

	snprintf(name, sizeof(name), "/proc/%ld/maps", (long)pid);
	FILE *f = fopen(name, "re");
	if (f == NULL)
		return 0;
	while (!found && fgets(line, sizeof(line), f) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		at = 0;
		if (sscanf(line, "%llx-%llx %*s %llx %*s %*s %n", &start, &end,
		        &offset, &at) < 3 ||
		    at == 0)
			continue;
		path = line + at;
		base = strrchr(path, '/');
		found = file == NULL ? address >= start && address < end :
		                       offset == 0 && base != NULL &&
		        (strcmp(path, file) == 0 ||
		            strncmp(base + 1, file, strlen(file)) == 0);
	}
	fclose(f);
	if (!found)
		return 0;
	out->start = start;
	snprintf(out->path, sizeof(out->path), "%s", path);
	return 1;
}

/* Where a function is in an ELF file of n bytes; 0: it has none. */
static uint64_t
find_in_file(const unsigned char *file, uint64_t n, const char *function)
{
	const Elf64_Ehdr *head = (const void *)file;
	const Elf64_Shdr *sections, *s, *strings;
	uint64_t i, k;

	if (n < sizeof(*head) || memcmp(file, ELFMAG, SELFMAG) != 0 ||
	    head->e_shoff > n ||
	    (n - head->e_shoff) / sizeof(*s) < head->e_shnum)
		return 0;
	sections = (const void *)(file + head->e_shoff);
	for (i = 0; i < head->e_shnum; i++) {
		s = &sections[i];
		if (s->sh_type != SHT_DYNSYM || s->sh_link >= head->e_shnum)
			continue;
		strings = &sections[s->sh_link];
		if (s->sh_offset > n || s->sh_size > n - s->sh_offset ||
		    strings->sh_offset > n || strings->sh_size == 0 ||
		    strings->sh_size > n - strings->sh_offset ||
		    file[strings->sh_offset + strings->sh_size - 1] != '\0')
			return 0;
		const Elf64_Sym *symbol = (const void *)(file + s->sh_offset);
		for (k = 0; k < s->sh_size / sizeof(*symbol); k++, symbol++)
			if (symbol->st_shndx != SHN_UNDEF &&
			    symbol->st_name < strings->sh_size &&
			    strcmp((const char *)file + strings->sh_offset +
			            symbol->st_name,
			        function) == 0)
				return symbol->st_value;
	}
	return 0;
}

/* Where a function of an object is in the process; 0: it has none. */
static uint64_t
find_function(pid_t pid, const struct object *object, const char *function)
{
	char path[600];
	struct stat st;
	uint64_t value = 0;
	void *file;

	snprintf(path, sizeof(path), "/proc/%ld/root%s", (long)pid,
	    object->path);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (fstat(fd, &st) == 0 && st.st_size > 0) {
		file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE,
		    fd, 0);
		if (file != MAP_FAILED) {
			value =
			    find_in_file(file, (uint64_t)st.st_size, function);
			munmap(file, (size_t)st.st_size);
		}
	}
	close(fd);
	return value;
}

/* ------------------------------------------------------------ a safe thread */

/* Waits until a thread is stopped.  The signal; -1: it has ended. */
static int
wait_stopped(pid_t tid, int *status)
{
	while (waitpid(tid, status, __WALL) != tid)
		if (errno != EINTR)
			return -1;
	return WIFSTOPPED(*status) ? WSTOPSIG(*status) : -1;
}

/* Whether a thread waits in a system call, of none that allocators make. */
static int
is_waiting(const struct user_regs_struct *regs)
{
	static const short calls[] = { SYS_read, SYS_poll, SYS_select,
		SYS_pause, SYS_nanosleep, SYS_accept, SYS_recvfrom, SYS_recvmsg,
		SYS_wait4, SYS_rt_sigsuspend, SYS_rt_sigtimedwait,
		SYS_epoll_wait, SYS_clock_nanosleep, SYS_epoll_pwait,
		SYS_pselect6, SYS_ppoll, SYS_waitid, SYS_accept4, SYS_futex };

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if ((long long)regs->orig_rax == calls[i])
			return 1;
	return 0;
}

/* Whether a thread that is stopped can hold no lock that dlopen() needs. */
static int
is_safe(const struct thread *t)
{
	struct object object;

	if (!find_object(t->tid, t->regs.rip, NULL, &object))
		return 0;
	const char *base = strrchr(object.path, '/');
	/* code without a file: of a compiler at run time, or of the kernel */
	if (base == NULL)
		return (long long)t->regs.orig_rax < 0 && object.path[0] != '[';
	base++;
	if (strncmp(base, "ld-", 3) == 0 || strncmp(base, "ld.so", 5) == 0)
		return 0;
	if ((long long)t->regs.orig_rax >= 0)
		return is_waiting(&t->regs);
	return strncmp(base, "libpthread", 10) != 0 &&
	    find_function(t->tid, &object, "malloc") == 0;
}

/* Stops a thread.  1; 0: it has ended; -1 with errno set: it is forbidden. */
static int
stop(struct thread *t)
{
	int status;

	if (ptrace(PTRACE_SEIZE, t->tid, NULL, NULL) != 0)
		return errno == ESRCH ? 0 : -1;
	if (ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL) != 0 ||
	    wait_stopped(t->tid, &status) < 0)
		return 0;
	/* a signal that came first is passed on */
	if (status >> 16 != PTRACE_EVENT_STOP) {
		(void)ptrace(PTRACE_DETACH, t->tid, NULL,
		    (void *)(uintptr_t)WSTOPSIG(status));
		return 0;
	}
	if (ptrace(PTRACE_GETREGS, t->tid, NULL, &t->regs) == 0 && is_safe(t))
		return 1;
	(void)ptrace(PTRACE_DETACH, t->tid, NULL, NULL);
	return 0;
}

/* The process that traces another one, of which there can be one; 0: none. */
static long
find_tracer(pid_t pid)
{
	char line[256];
	long tracer = 0;

	snprintf(line, sizeof(line), "/proc/%ld/status", (long)pid);
	FILE *f = fopen(line, "re");
	while (f != NULL && tracer == 0 && fgets(line, sizeof(line), f) != NULL)
		(void)sscanf(line, "TracerPid: %ld", &tracer);
	if (f != NULL)
		(void)fclose(f);
	return tracer;
}

/* Nonzero if paths of this process are other files in that one. */
static int
has_other_root(pid_t pid)
{
	struct stat own, other;
	char name[64];

	snprintf(name, sizeof(name), "/proc/%ld/root", (long)pid);
	return stat("/", &own) == 0 && stat(name, &other) == 0 &&
	    (own.st_dev != other.st_dev || own.st_ino != other.st_ino);
}

/* Stops a thread of a process that may call.  0: after a message. */
static int
find_thread(struct thread *t)
{
	const struct timespec moment = { 0, 2000000 };
	struct dirent *e;
	char name[64];
	long tracer;
	int i, st = 0;

	snprintf(name, sizeof(name), "/proc/%ld/task", (long)t->pid);
	for (i = 0; i < TRIES && st == 0; i++) {
		DIR *dir = opendir(name);

		if (dir == NULL)
			break;
		int refused = 0, may = 0;
		while (st <= 0 && (e = readdir(dir)) != NULL) {
			t->tid = (pid_t)atol(e->d_name);
			if (t->tid <= 0)
				continue;
			st = stop(t);
			may |= st == 0;
			refused = st < 0 ? errno : refused;
		}
		closedir(dir);
		/* a main thread that has ended is refused, others are not */
		if (st <= 0)
			st = may ? 0 : -refused;
		if (st == 0)
			nanosleep(&moment, NULL);
	}
	if (st == 1)
		return 1;
	if (st < 0 && (tracer = find_tracer(t->pid)) != 0)
		message_fail(STATUS_FAILED, NULL,
		    "process %ld may not be attached to: process %ld traces it",
		    (long)t->pid, tracer);
	else if (st < 0)
		message_fail(STATUS_FAILED, NULL,
		    "process %ld may not be attached to: %s", (long)t->pid,
		    strerror(-st));
	else if (drain_process_ended((uint32_t)t->pid))
		message_fail(STATUS_FAILED, NULL, "process %ld: %s",
		    (long)t->pid, strerror(ESRCH));
	else
		message_fail(STATUS_FAILED, NULL,
		    "process %ld: no thread is outside of its allocator",
		    (long)t->pid);
	return 0;
}

/* ---------------------------------------------------------------- calling */

/*
 * Has the thread call a function.  It returns to address 0, where it stops.
 * 1; 0: it did not come back.
 */
static int
telrec_attach_call(struct thread *t, uint64_t function, uint64_t a, uint64_t b,
    uint64_t *result)
{
	struct user_regs_struct regs = t->regs;
	int status = 0, signal;

	regs.rsp = ((t->regs.rsp - RED_ZONE - TEXT_BYTES) & ~(uint64_t)15) - 8;
	if (ptrace(PTRACE_POKEDATA, t->tid, (void *)(uintptr_t)regs.rsp,
	        NULL) != 0)
		return 0;
	regs.rip = function;
	regs.rdi = a;
	regs.rsi = b;
	regs.rax = 0;
	regs.orig_rax = (unsigned long long)-1;
	regs.eflags &= ~(unsigned long long)0x400;
	if (ptrace(PTRACE_SETREGS, t->tid, NULL, &regs) != 0)
		return 0;
	for (signal = 0;;) {
		if (ptrace(PTRACE_CONT, t->tid, NULL,
		        (void *)(uintptr_t)signal) != 0)
			return 0;
		signal = wait_stopped(t->tid, &status);
		if (signal < 0)
			return 0;
		if (status >> 16 != 0) {
			signal = 0;
			continue;
		}
		if (signal != SIGSEGV)
			continue;
		if (ptrace(PTRACE_GETREGS, t->tid, NULL, &regs) != 0)
			return 0;
		*result = regs.rax;
		return regs.rip == 0;
	}
}

/* Puts a text where telrec_attach_call() leaves it alone.  Its address; 0: impossible. */
static uint64_t
telrec_attach_put_text(const struct thread *t, const char *text)
{
	const uint64_t at =
	    (t->regs.rsp - RED_ZONE - TEXT_BYTES + 15) & ~(uint64_t)15;
	size_t i, n = strlen(text) + 1;
	long word;

	if (n > TEXT_BYTES - 32)
		return 0;
	for (i = 0; i < n; i += sizeof(word)) {
		word = 0;
		memcpy(&word, text + i,
		    n - i < sizeof(word) ? n - i : sizeof(word));
		if (ptrace(PTRACE_POKEDATA, t->tid, (void *)(uintptr_t)(at + i),
		        (void *)word) != 0)
			return 0;
	}
	return at;
}

/* Loads the library and starts it.  NULL, or what failed. */
static const char *
telrec_attach_load(struct thread *t, const char *library, const char *arena)
{
	struct object libc, own;
	uint64_t load_function, errno_function, start, text, handle, result;
	uint64_t where = 0;
	long kept = 0;

	if (!find_object(t->tid, 0, "libc.so.", &libc) &&
	    !find_object(t->tid, 0, "libc-2.", &libc))
		return "it has no C library that telrec knows";
	load_function = find_function(t->tid, &libc, "dlopen");
	if (load_function == 0)
		load_function =
		    find_function(t->tid, &libc, "__libc_dlopen_mode");
	errno_function = find_function(t->tid, &libc, "__errno_location");
	if (load_function == 0 || errno_function == 0)
		return "its C library has no dlopen";
	if (!telrec_attach_call(t, libc.start + errno_function, 0, 0, &where))
		return "it could not call a function";
	errno = 0;
	kept = ptrace(PTRACE_PEEKDATA, t->tid, (void *)(uintptr_t)where, NULL);
	if ((text = telrec_attach_put_text(t, library)) == 0 ||
	    !telrec_attach_call(t, libc.start + load_function, text, RTLD_NOW,
	        &handle))
		return "it could not call a function";
	result = TELREC_ATTACH_FAILED;
	if (handle != 0 && find_object(t->tid, 0, library, &own)) {
		start = find_function(t->tid, &own, "telrec_attach");
		if (start == 0 ||
		    (text = telrec_attach_put_text(t, arena)) == 0 ||
		    !telrec_attach_call(t, own.start + start, text, 0, &result))
			return "it could not call a function";
	}
	(void)ptrace(PTRACE_POKEDATA, t->tid, (void *)(uintptr_t)where,
	    (void *)kept);
	if (handle == 0)
		return "it cannot load the library";
	switch ((uint32_t)result) {
	case TELREC_ATTACHED: return NULL;
	case TELREC_ATTACH_TWICE: return "it was recorded before";
	case TELREC_ATTACH_NO_MEMORY:
		return "it cannot open telrec's shared memory, as another user";
	default: return "the library did not start";
	}
}

/*
 * Has all signals of a thread wait, but those that its own code causes: a
 * handler would run in the middle of dlopen(), or leave it by longjmp().
 */
static int
telrec_attach_hold_signals(struct thread *t)
{
	static const int own[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP,
		SIGSYS };
	uint64_t all = UINT64_MAX;

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		all &= ~(UINT64_C(1) << (own[i] - 1));
	if (ptrace(PTRACE_GETSIGMASK, t->tid, (void *)sizeof(t->mask),
	        &t->mask) != 0)
		return 0;
	all |= t->mask;
	return ptrace(PTRACE_SETSIGMASK, t->tid, (void *)sizeof(all), &all) ==
	    0;
}

int
attach_process(pid_t pid, const char *library, const char *arena)
{
	struct thread t = { .pid = pid };

	if (!find_thread(&t))
		return 0;
	t.state_part.iov_base = t.state;
	t.state_part.iov_len = sizeof(t.state);
	const char *failed = "its registers cannot be read";
	if (ptrace(PTRACE_GETREGSET, t.tid, (void *)(uintptr_t)NT_X86_XSTATE,
	        &t.state_part) == 0 &&
	    telrec_attach_hold_signals(&t)) {
		failed = telrec_attach_load(&t, library, arena);
		(void)ptrace(PTRACE_SETREGSET, t.tid,
		    (void *)(uintptr_t)NT_X86_XSTATE, &t.state_part);
		(void)ptrace(PTRACE_SETREGS, t.tid, NULL, &t.regs);
		(void)ptrace(PTRACE_SETSIGMASK, t.tid, (void *)sizeof(t.mask),
		    &t.mask);
	}
	(void)ptrace(PTRACE_DETACH, t.tid, NULL, NULL);
	if (failed == NULL)
		return 1;
	if (has_other_root(t.tid))
		failed = "it has another root directory than telrec";
	return message_fail(STATUS_FAILED, NULL, "process %ld: %s", (long)pid,
	    failed);
}
#else
#include <signal.h>

int
attach_process(pid_t pid, const char *library, const char *arena)
{
	(void)library;
	(void)arena;
	return message_fail(STATUS_FAILED, NULL,
	    "process %ld: -p is possible on x86-64 only", (long)pid);
}
#endif
