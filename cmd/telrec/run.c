/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recording: the arena, the program with the preloaded library, and the loop
 * that drains its rings until the last process of it has ended.
 */
#define _GNU_SOURCE
#include "telrec.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "base/read.h"
#include "common/message.h"
#include "common/progress.h"
#include "common/settings.h"
#include "common/streams.h"
#include "common/report/format_number.h"
#include "telrec/attach.h"
#include "telrec/drain.h"
#include "telrec/program.h"
#include "telrec/symbols.h"
#include "telrec/types.h"
#include "telrec/unrecorded.h"
#include "telrec/preload/stack.h"
#include "tel_emit.h"

#ifndef TELREC_LIBDIR
#define TELREC_LIBDIR "/usr/local/lib"
#endif
#define LIBRARY "libtelrec.so"

/* As env(1), timeout(1) and others: the command itself has failed. */
enum { EXIT_TELREC = 125, EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127 };

#define FLUSH_NS UINT64_C(200000000)
#define TEND_NS UINT64_C(50000000)

/* A recording. */
struct run {
	const struct telrec *t;
	struct arena *arena;
	int arena_fd;
	struct drain *drain;
	struct telrec_symbols *symbols; /* with -g */
	struct sink sink;
	struct settings settings;
	pid_t child;
	int status; /* of wait(2), once the child has ended */
	int ended;
	int failed;     /* the log is incomplete; reported */
	int delayed;    /* the time of --delay is over */
	uint64_t begun; /* when events were first seen; 0: not yet */
	int full;       /* the log has the size of --size */
	uint64_t whole; /* the size of the log with its first block of events */
	int stopped;    /* it is over, by time or size */
};

/* Signals that came, for the loop. */
static volatile sig_atomic_t interrupted, got_toggle, got_release;
/* Those that the program gets, and which of them have come. */
static const int forwarded[] = { SIGTERM, SIGHUP };
static volatile sig_atomic_t forward[2];

static void
on_signal(int signal)
{
	if (signal == SIGUSR1)
		got_toggle = 1;
	else if (signal == SIGUSR2)
		got_release = 1;
	else if (signal == SIGTERM || signal == SIGHUP)
		forward[signal == SIGHUP] = 1;
	else
		interrupted = 1;
}

/* Only so that it ends a pause. */
static void
on_child(int signal)
{
	(void)signal;
}

/* ----------------------------------------------------------------- arena */

static uint32_t
choose_clock(void)
{
#if defined(__x86_64__) || defined(__i386__)
	unsigned a, b, c, d;

	if (__get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1) != 0)
		return ARENA_CLOCK_CPU;
	return ARENA_CLOCK_MONOTONIC;
#elif defined(__aarch64__)
	return ARENA_CLOCK_CPU;
#else
	return ARENA_CLOCK_MONOTONIC;
#endif
}

/* The seed of samples: a number that the user gives, or the time. */
static uint64_t
choose_seed(void)
{
	const char *text = getenv("TELREC_SEED");
	uint64_t seed = progress_now() ^ (uint64_t)getpid() << 40, i;

	if (text != NULL)
		for (seed = 0, i = 0; text[i] != '\0'; i++)
			seed = seed * 31 + (unsigned char)text[i];
	return seed;
}

static int
make_arena(struct run *run)
{
	const uint64_t bytes = arena_bytes();

	run->arena_fd = memfd_create("telrec", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	/* a program that truncates it would end telrec by SIGBUS */
	if (run->arena_fd < 0 || ftruncate(run->arena_fd, (off_t)bytes) != 0 ||
	    fcntl(run->arena_fd, F_ADD_SEALS,
	        F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
		return -1;
	struct arena *a = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_NORESERVE, run->arena_fd, 0);
	if (a == MAP_FAILED)
		return -1;
	a->clock = choose_clock();
	a->drainer = (uint32_t)getpid();
	a->options =
	    (run->t->maps ? ARENA_MAPS : 0) | (run->t->exact ? ARENA_EXACT : 0);
	if (run->t->stacks != TELREC_UNWIND_NONE) {
		a->options |= ARENA_STACKS;
		a->unwind = (uint32_t)run->t->stacks;
	}
	if (run->t->sample > 0) {
		a->options |= ARENA_SAMPLES;
		a->sample = run->t->sample;
		a->seed = choose_seed();
	}
	a->on = !run->t->paused && run->t->delay == 0;
	a->epoch = 1;
	__atomic_store_n(&a->magic, ARENA_MAGIC, __ATOMIC_RELEASE);
	run->arena = a;
	return 0;
}

/* --------------------------------------------------------------- program */

/* Finds the library beside this program, or where it is installed. */
static int
find_library(char *path, size_t size)
{
	static const char *const places[] = { "/../" LIBRARY,
		"/../lib/teltools/" LIBRARY };
	char self[4096], *slash;
	const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	size_t i;

	self[n > 0 ? n : 0] = '\0';
	slash = strrchr(self, '/');
	if (slash != NULL) {
		*slash = '\0';
		for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
			char *real;
			const int length =
			    snprintf(path, size, "%s%s", self, places[i]);

			if (length < 0 || (size_t)length >= size ||
			    (real = realpath(path, NULL)) == NULL)
				continue;
			snprintf(path, size, "%s", real);
			free(real);
			return 0;
		}
	}
	snprintf(path, size, "%s", TELREC_LIBDIR "/teltools/" LIBRARY);
	return access(path, R_OK);
}

/*
 * Whether the dynamic linker preloads a library into this program.  It reports
 * what it cannot preload, and starts the program without it.
 */
static int
is_preloaded(const char *library)
{
	char text[4096];
	int fds[2], status = 0;

	if (pipe2(fds, O_CLOEXEC) != 0)
		return 0;
	pid_t pid = fork();
	if (pid == 0) {
		(void)alarm(10);
		if (dup2(fds[1], 2) == 2 && dup2(fds[1], 1) == 1 &&
		    setenv("LD_PRELOAD", library, 1) == 0)
			(void)execl("/proc/self/exe", "telrec", "--version",
			    (char *)NULL);
		_exit(1);
	}
	close(fds[1]);
	ptrdiff_t n = tel__read_all(fds[0], text, sizeof(text) - 1, -1);
	text[n > 0 ? n : 0] = '\0';
	close(fds[0]);
	while (pid > 0 && waitpid(pid, &status, 0) != pid)
		if (errno != EINTR)
			return 0;
	return pid > 0 && status == 0 && strstr(text, "LD_PRELOAD") == NULL;
}

/*
 * Whether a program can have a library, asked of children, which load it.  Some
 * allocators can only be loaded when a program starts: they have variables of
 * threads in static storage.
 */
static int
can_load(const char *library)
{
	const pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		(void)alarm(10);
		_exit(dlopen(library, RTLD_NOW | RTLD_LOCAL) == NULL);
	}
	if (pid > 0 && waitpid(pid, &status, 0) == pid && status == 0)
		return 1;
	return is_preloaded(library);
}

/*
 * The library of an allocator; NULL: it was not found.  A path is made absolute,
 * as programs may be executed in any folder.
 */
static const char *
telrec_run_find_allocator(const char *name, char path[PATH_MAX])
{
	static const struct {
		const char *name, *library;
	} known[] = { { "jemalloc", "libjemalloc.so.2" },
		{ "mimalloc", "libmimalloc.so.3" },
		{ "mimalloc", "libmimalloc.so.2" },
		{ "mimalloc", "libmimalloc.so.2.0" },
		{ "tcmalloc", "libtcmalloc_minimal.so.4" },
		{ "tcmalloc", "libtcmalloc.so.4" } };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(name, known[i].name) == 0 &&
		    can_load(known[i].library))
			return known[i].library;
	if (strchr(name, '/') != NULL && (name = realpath(name, path)) == NULL)
		return NULL;
	return can_load(name) ? name : NULL;
}

/* Whether LD_PRELOAD can name a library: blanks and colons separate names. */
static int
can_name(const char *library)
{
	return strpbrk(library, " :") == NULL ||
	    message_fail(STATUS_FAILED, library,
	        "a path with a blank or a colon cannot be preloaded");
}

/* The library, and the arena as another process opens it.  0: not found. */
static int
find_preload(const struct run *run, char library[4096], char arena[64])
{
	snprintf(arena, 64, "/proc/%ld/fd/%d", (long)getpid(), run->arena_fd);
	return find_library(library, 4096) == 0 || message_errno(library);
}

/* The environment of the program. */
static int
set_environment(const struct run *run)
{
	const char *old = getenv("LD_PRELOAD");
	const char *allocator = run->t->allocator;
	char library[4096], arena[64], path[PATH_MAX], *value;

	if (!find_preload(run, library, arena) || !can_name(library))
		return -1;
	if (allocator != NULL &&
	    (allocator = telrec_run_find_allocator(allocator, path)) == NULL) {
		message_fail(STATUS_USAGE, run->t->allocator,
		    "no such library, or it cannot be loaded");
		return -1;
	}
	if (allocator != NULL && !can_name(allocator))
		return -1;
	size_t size = strlen(library) + 3 + (old != NULL ? strlen(old) : 0) +
	    (allocator != NULL ? strlen(allocator) : 0);
	value = malloc(size);
	if (value == NULL) {
		(void)message_no_memory();
		return -1;
	}
	snprintf(value, size, "%s%s%s%s%s", library,
	    allocator != NULL ? ":" : "", allocator != NULL ? allocator : "",
	    old != NULL && old[0] != '\0' ? ":" : "", old != NULL ? old : "");
	int st = setenv("LD_PRELOAD", value, 1) != 0 ||
	        setenv(ARENA_ENV, arena, 1) != 0 ?
	    -1 :
	    0;
	free(value);
	if (st != 0)
		(void)message_no_memory();
	return st;
}

/* Becomes the program; if that fails, writes the reason to fd. */
static void
telrec_run_execute(const struct run *run, int fd, const sigset_t *old)
{
	if (run->t->output != NULL && strcmp(run->t->output, "-") == 0)
		(void)dup2(2, 1);
	sigprocmask(SIG_SETMASK, old, NULL);
	streams_leave();
	execvp(run->t->operands[0], run->t->operands);
	int error = errno;
	ssize_t n = write(fd, &error, sizeof(error));
	_exit(n == (ssize_t)sizeof(error) ? EXIT_NOT_FOUND : EXIT_TELREC);
}

/*
 * Then sets the mask of signals.  Those that control the recording are received
 * even if telrec was started with them ignored or blocked.
 */
static void
telrec_run_catch_signals(uint64_t ring, sigset_t *mask)
{
	static const int caught[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1,
		SIGUSR2 };
	struct sigaction action, before;
	size_t i;

	memset(&action, 0, sizeof(action));
	action.sa_handler = on_signal;
	for (i = 0; i < sizeof(caught) / sizeof(caught[0]) - (ring == 0); i++)
		if (caught[i] == SIGUSR1 || caught[i] == SIGUSR2) {
			(void)sigaction(caught[i], &action, NULL);
			sigdelset(mask, caught[i]);
		} else if (sigaction(caught[i], NULL, &before) == 0 &&
		    before.sa_handler != SIG_IGN) {
			(void)sigaction(caught[i], &action, NULL);
		}
	action.sa_handler = on_child;
	action.sa_flags = SA_RESTART;
	(void)sigaction(SIGCHLD, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_SETMASK, mask, NULL);
}

/* Starts the program.  0; or the exit status, after a message. */
static int
telrec_run_start(struct run *run)
{
	sigset_t all, old;
	int fds[2], error = 0;
	ssize_t n;

	if (set_environment(run) != 0)
		return EXIT_TELREC;
	if (pipe2(fds, O_CLOEXEC) != 0) {
		(void)message_errno(run->t->operands[0]);
		return EXIT_TELREC;
	}
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	run->child = fork();
	if (run->child == 0)
		telrec_run_execute(run, fds[1], &old);
	telrec_run_catch_signals(run->t->ring, &old);
	close(fds[1]);
	do
		n = run->child < 0 ? -1 : read(fds[0], &error, sizeof(error));
	while (n < 0 && run->child > 0 && errno == EINTR);
	if (run->child < 0)
		error = errno;
	close(fds[0]);
	/* only the program may have these */
	unsetenv("LD_PRELOAD");
	unsetenv(ARENA_ENV);
	if (run->child > 0 && n != (ssize_t)sizeof(error))
		return 0;
	message_fail(STATUS_FAILED, run->t->operands[0], "%s", strerror(error));
	if (run->child > 0)
		(void)waitpid(run->child, &run->status, 0);
	return error == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

/* Starts the library in a process that runs.  0; or the exit status. */
static int
start_in_process(struct run *run)
{
	char library[4096], arena[64];
	sigset_t mask;

	run->child = (pid_t)run->t->process;
	if (!find_preload(run, library, arena))
		return EXIT_TELREC;
	sigprocmask(SIG_SETMASK, NULL, &mask);
	telrec_run_catch_signals(run->t->ring, &mask);
	return attach_process(run->child, library, arena) ? 0 : EXIT_TELREC;
}

/* ------------------------------------------------------------------- log */

static int
write_log(void *arg, const void *bytes, size_t size)
{
	struct run *run = arg;

	if (tel_output_write(run->sink.out, bytes, size) != TEL_OK)
		return -1;
	if (run->drain != NULL && drain_events(run->drain) == 0)
		run->whole = tel_output_bytes(run->sink.out);
	/* the rings may have many more events than the log is to have */
	if (run->t->size > 0 && run->drain != NULL && !run->full &&
	    tel_output_bytes(run->sink.out) >= run->t->size) {
		run->full = 1;
		drain_stop(run->drain);
	}
	return 0;
}

static int
open_log(struct run *run)
{
	const char *name =
	    run->t->output != NULL ? run->t->output : "telrec.tel";
	char mean[24];

	run->settings.output = strcmp(name, "-") == 0 ? NULL : name;
	if (run->settings.output == NULL && isatty(STDOUT_FILENO)) {
		message_fail(STATUS_USAGE, NULL,
		    "refusing to write a log to a terminal; see -o");
		return -1;
	}
	run->settings.secret = 1;
	run->settings.compress = run->t->compress;
	run->settings.quiet = run->t->quiet;
	if (!output_open(&run->sink, &run->settings))
		return -1;
	(void)fcntl(run->sink.fd, F_SETFD, FD_CLOEXEC);
	if (types_open(run->arena->options, run->arena->clock) != 0 ||
	    tel_emit_to_function(write_log, run, ~0u) == NULL) {
		message_fail(STATUS_FAILED, NULL, "%s",
		    errno == EINVAL ? tel_emit_error() : strerror(errno));
		return -1;
	}
	if (run->t->sample > 0) {
		snprintf(mean, sizeof(mean), "%llu",
		    (unsigned long long)run->t->sample);
		tel_emit_metadata("sample", mean);
	}
	tel_emit_metadata("times", run->t->exact ? "exact" : "coarse");
	if (run->t->process != 0 || run->t->ring > 0)
		tel_emit_metadata("part",
		    run->t->process != 0 ? "attached" : "ring");
	if (run->t->stacks != TELREC_UNWIND_NONE)
		run->symbols = telrec_symbols_new();
	run->drain = drain_new(run->arena,
	    run->t->limit > 0 ? run->t->limit : UINT64_MAX, run->t->ring,
	    run->symbols);
	if (run->drain != NULL &&
	    (run->symbols != NULL || run->t->stacks == TELREC_UNWIND_NONE))
		return 0;
	(void)message_no_memory();
	return -1;
}

/*
 * The log cannot be written: the program goes on without it.  What was written
 * until then is there, if that are events: an older log of that name is not lost
 * for less.
 */
static void
fail_log(struct run *run)
{
	struct stat file;

	if (drain_events(run->drain) > 0 && fstat(run->sink.fd, &file) == 0 &&
	    (uint64_t)file.st_size >= run->whole)
		(void)sink_publish(&run->sink);
	sink_failed(&run->sink);
	run->failed = 1;
	ARENA_SET(run->arena->on, 0);
}

/*
 * Writes what there is.  The log has its name once an event is in it, so that it
 * can be read while the program runs.
 */
static void
flush_log(struct run *run)
{
	if (run->failed)
		return;
	if (tel_output_flush(run->sink.out) != TEL_OK ||
	    (drain_events(run->drain) > 0 && !sink_publish(&run->sink)))
		fail_log(run);
}

static void
telrec_run_close_log(struct run *run)
{
	if (drain_finish(run->drain) != 0)
		fail_log(run);
	tel_emit_close();
	if (!run->failed && tel_output_finish(run->sink.out) != TEL_OK)
		fail_log(run);
	run->failed |= run->sink.failed;
}

/* ------------------------------------------------------------------ loop */

/* Reaps what has ended: the program, and orphans of it. */
static int
telrec_run_reap(struct run *run)
{
	int status;
	pid_t pid;

	if (run->t->process != 0)
		return drain_process_ended((uint32_t)run->child);
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		drain_reaped(run->drain, (uint32_t)pid);
		if (pid == run->child) {
			run->status = status;
			run->ended = 1;
		}
	}
	return pid < 0 && errno == ECHILD;
}

static void
obey_signals(struct run *run)
{
	int came = 0;

	for (size_t i = 0; i < 2; i++) {
		if (!forward[i])
			continue;
		forward[i] = 0;
		came = 1;
		if (run->t->process == 0 && !run->ended)
			(void)kill(run->child, forwarded[i]);
	}
	/* a process that telrec has not started goes on without it */
	if (run->t->process != 0 && (came || interrupted)) {
		run->ended = interrupted = 1;
		return;
	}
	if (got_toggle) {
		got_toggle = 0;
		if (!run->stopped)
			ARENA_SET(run->arena->on, !ARENA_NOW(run->arena->on));
	}
	if (came && run->ended)
		interrupted = 1;
	/* the terminal has sent it to the program, too */
	if (!run->ended)
		interrupted = 0;
}

/* Starts and stops the recording when it is time, or the log is large. */
static void
obey_limits(struct run *run, uint64_t now, uint64_t started)
{
	const struct telrec *t = run->t;
	struct arena *a = run->arena;

	if (!run->delayed && t->delay > 0 && !t->paused &&
	    now - started > (uint64_t)t->delay) {
		run->delayed = 1;
		ARENA_SET(a->on, 1);
	}
	/* a program may take long to start; one that runs does not */
	if (run->begun == 0 && ARENA_NOW(a->on) &&
	    (t->process != 0 || drain_events(run->drain) > 0))
		run->begun = now;
	if (run->stopped ||
	    !((t->duration > 0 && run->begun != 0 &&
	          now - run->begun > (uint64_t)t->duration) ||
	        run->full ||
	        (t->limit > 0 && drain_events(run->drain) >= t->limit)))
		return;
	run->stopped = 1;
	ARENA_SET(a->on, 0);
	if (t->process != 0)
		interrupted = 1;
}

static void
record(struct run *run)
{
	const uint64_t started = progress_now();
	uint64_t flushed = progress_now(), tended = flushed, now;
	int alone = 0, rest = 3;
	long n = 0;

	for (;;) {
		now = progress_now();
		n = drain_round(run->drain, now - flushed > FLUSH_NS);
		if (n < 0)
			fail_log(run);
		if (now - flushed > FLUSH_NS) {
			flushed = now;
			flush_log(run);
		}
		if (got_release) {
			got_release = 0;
			if (drain_release(run->drain) != 0)
				fail_log(run);
			flush_log(run);
		}
		obey_signals(run);
		obey_limits(run, now, started);
		alone = telrec_run_reap(run);
		if (run->ended && interrupted)
			break;
		/* what was written until the last one ended takes two rounds */
		if (alone && --rest == 0)
			break;
		if (now - tended > TEND_NS) {
			tended = now;
			(void)drain_tend(run->drain);
		}
		if (!alone)
			drain_wait(run->drain);
	}
	ARENA_SET(run->arena->on, 0);
}

/* ---------------------------------------------------------------- report */

/*
 * Reports why nothing was recorded.  0; 1 if that is no failure: a random sample may
 * have none of a program's blocks.
 */
static int
explain_nothing(const struct run *run)
{
	const char *why = "it allocates nothing, or has its own allocator";

	if (run->t->process != 0)
		return message_fail(STATUS_FAILED, NULL,
		    "process %ld: 0 events: %s", (long)run->child,
		    "it allocated nothing meanwhile, or has its own allocator");
	if (drain_processes(run->drain) == 0) {
		why = program_obstacle(run->t->operands[0]);
		if (why == NULL)
			why = "the program does not load the library";
	} else if (WIFSIGNALED(run->status)) {
		why = "it was killed before anything was recorded";
	} else if (run->t->paused || run->t->delay != 0) {
		why = "it ended before recording started, or allocated "
		      "nothing from then on";
	} else if (run->t->sample != 0) {
		if (!run->t->quiet)
			message(run->t->operands[0],
			    "0 events: none of its allocations is in the "
			    "sample; -s with fewer bytes takes more");
		return 1;
	}
	return message_fail(STATUS_FAILED, run->t->operands[0], "0 events: %s",
	    why);
}

/* Reports the signal that killed the program, except for usual ends of one. */
static void
explain_end(const struct run *run)
{
	const int signal = WTERMSIG(run->status);

	if (run->t->process == 0 && WIFSIGNALED(run->status) &&
	    signal != SIGINT && signal != SIGPIPE && !run->t->quiet)
		message(run->t->operands[0], "killed by signal %d: %s", signal,
		    strsignal(signal));
}

static double
cpu_seconds(int who)
{
	struct rusage used;

	if (getrusage(who, &used) != 0)
		return 0;
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	    (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

/* What was recorded, and the processor time that telrec took for it. */
static void
explain_cost(const struct run *run)
{
	const uint64_t events = drain_events(run->drain);
	const unsigned processes = drain_processes(run->drain);
	const double own = cpu_seconds(RUSAGE_SELF);
	const double all = own + cpu_seconds(RUSAGE_CHILDREN);
	char count[FORMAT_TEXT], cost[64];

	if (run->t->process != 0)
		(void)snprintf(cost, sizeof(cost),
		    "telrec took %.2f s of CPU time", own);
	else
		(void)snprintf(cost, sizeof(cost),
		    "%.1f%% of the CPU time was telrec's",
		    all > 0 ? own / all * 100 : 0);
	message(NULL, "recorded %s event%s in %u process%s; %s",
	    format_count(int128_u64(events), 0, count), events == 1 ? "" : "s",
	    processes, processes == 1 ? "" : "es", cost);
}

static int
exit_status(const struct run *run)
{
	const int status = run->status;

	if (WIFSIGNALED(status))
		return 128 + WTERMSIG(status);
	if (WEXITSTATUS(status) != 0 || message_status() == STATUS_OK)
		return WEXITSTATUS(status);
	return EXIT_TELREC;
}

/* Has the log name the program. */
static void
name_program(const struct run *run)
{
	char path[64], name[64] = "";

	if (run->t->process == 0) {
		tel_emit_program(run->t->operands[0], (uint32_t)run->child);
		return;
	}
	snprintf(path, sizeof(path), "/proc/%ld/comm", (long)run->child);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, name, sizeof(name) - 1) : 0;
	name[n > 0 ? n : 0] = '\0';
	name[strcspn(name, "\n")] = '\0';
	if (fd >= 0)
		close(fd);
	tel_emit_program(name, (uint32_t)run->child);
}

int
telrec_run(const struct telrec *t)
{
	struct run run = { 0 };
	int status = EXIT_TELREC;

	run.t = t;
	if (make_arena(&run) != 0) {
		if (errno == EFBIG)
			message_fail(STATUS_FAILED, NULL,
			    "the shared memory: the limit of the size of "
			    "files (ulimit -f) is less than %llu KiB",
			    (unsigned long long)(arena_bytes() / 1024));
		else
			message_fail(STATUS_FAILED, NULL,
			    "the shared memory: %s", strerror(errno));
		return status;
	}
	if (open_log(&run) != 0)
		return status;
	status =
	    t->process != 0 ? start_in_process(&run) : telrec_run_start(&run);
	if (status != 0) {
		tel_emit_close();
		sink_discard(&run.sink);
		sink_close(&run.sink);
	} else {
		name_program(&run);
		record(&run);
		explain_end(&run);
		telrec_run_close_log(&run);
		if (drain_events(run.drain) > 0 ||
		    (!run.failed && explain_nothing(&run)))
			run.failed |= !sink_publish(&run.sink);
		else if (!run.failed)
			sink_discard(&run.sink);
		if (ARENA_NOW(run.arena->frames) && !run.settings.quiet)
			message(run.t->operands[0],
			    "libunwind cannot be loaded: stacks are taken by "
			    "frame pointers");
		if (drain_lost(run.drain) > 0)
			message_fail(STATUS_FAILED, NULL, "%llu event%s lost",
			    (unsigned long long)drain_lost(run.drain),
			    drain_lost(run.drain) == 1 ? " was" : "s were");
		if (!run.settings.quiet)
			unrecorded_report(run.arena);
		if (drain_overwritten(run.drain))
			message_fail(STATUS_FAILED, NULL,
			    "a program has overwritten the shared memory: "
			    "events and the count of lost ones may be wrong");
		sink_close(&run.sink);
		if (run.symbols != NULL && drain_events(run.drain) > 0 &&
		    !t->quiet)
			telrec_symbols_check(run.settings.output);
		if (!run.failed && drain_events(run.drain) > 0 && !t->quiet)
			explain_cost(&run);
		status = exit_status(&run);
	}
	drain_free(run.drain);
	telrec_symbols_free(run.symbols);
	return status;
}
