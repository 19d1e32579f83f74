/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes that run an allocator, and how they ended. */
/* for memfd_create and __WALL, which POSIX.1-2008 lacks */
#define _GNU_SOURCE
#include "telreplay/run/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "telreplay/run/calls.h"
#include "telreplay/run/memory.h"
#include "common/message.h"
#include "common/page.h"
#include "common/progress.h"

#define SECOND 1000000000L
/* How often a running process is checked. */
#define TICK (SECOND / 20)
/* How often its memory is, at first. */
#define OBSERVED (SECOND / 1000)
/* The most that a process may write to standard error. */
#define SAID_MAX ((off_t)1 << 20)

int
stage_open(struct stage *stage, size_t threads)
{
	void *p;

	memset(stage, 0, sizeof(*stage));
	stage->size = SHARED_BOARD + run_shared_stats_size((unsigned)threads);
	stage->fd = memfd_create("telreplay", 0);
	stage->said =
	    memfd_create("telreplay-said", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (stage->fd < 0 || stage->said < 0 ||
	    ftruncate(stage->fd, (off_t)stage->size) != 0 ||
	    ftruncate(stage->said, SAID_MAX) != 0 ||
	    fcntl(stage->said, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) != 0)
		goto fail;
	p = mmap(NULL, stage->size, PROT_READ | PROT_WRITE, MAP_SHARED,
	    stage->fd, 0);
	if (p == MAP_FAILED)
		goto fail;
	stage->shared = p;
	stage_clear(stage);
	return 1;
fail:
	message_fail(STATUS_FAILED, NULL, "shared memory: %s", strerror(errno));
	stage_close(stage);
	return 0;
}

void
stage_close(struct stage *stage)
{
	if (stage->shared != NULL)
		(void)munmap(stage->shared, stage->size);
	if (stage->fd > 0)
		(void)close(stage->fd);
	if (stage->said > 0)
		(void)close(stage->said);
	memset(stage, 0, sizeof(*stage));
}

void
stage_clear(struct stage *stage)
{
	memset(stage->shared, 0, stage->size);
	stage->shared->magic = SHARED_MAGIC;
	memset(&stage->observer, 0, sizeof(stage->observer));
	stage->observer.interval = OBSERVED;
}

static void
spawn_give_up(struct shared *sh, const char *what)
{
	(void)snprintf(sh->wrong, sizeof(sh->wrong), "%s: %s", what,
	    strerror(errno));
	_exit(127);
}

/* In the new process: becomes telreplay with the allocator loaded. */
static void
become(struct stage *stage, const struct allocator *a, int gate,
    const sigset_t *signals)
{
	static char name[] = "telreplay";
	char *arguments[] = { name, NULL }, variable[16];
	struct rlimit limit = { 0, 0 };
	char self[4096], byte;
	ssize_t n;

	do
		n = read(gate, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(127);
	/* processes that it starts are killed with it */
	(void)setpgid(0, 0);
	(void)setrlimit(RLIMIT_CORE, &limit);
	int null = open("/dev/null", O_RDONLY);
	if (null < 0 || dup2(null, 0) < 0 || dup2(stage->said, 1) < 0 ||
	    dup2(stage->said, 2) < 0)
		spawn_give_up(stage->shared, "standard streams");
	(void)snprintf(variable, sizeof(variable), "%d", stage->fd);
	if (!allocator_environment(a) ||
	    setenv(SHARED_VARIABLE, variable, 1) != 0)
		spawn_give_up(stage->shared, "the environment");
	(void)sigprocmask(SIG_SETMASK, signals, NULL);
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[n > 0 ? n : 0] = '\0';
	(void)execv(self, arguments);
	(void)execv("/proc/self/exe", arguments);
	spawn_give_up(stage->shared, "/proc/self/exe");
}

/* Releases the process that waits at a pipe. */
static int
open_gate(int gate)
{
	ssize_t n;

	do
		n = write(gate, "", 1);
	while (n < 0 && errno == EINTR);
	return n == 1;
}

/*
 * Starts a process, and traces it if requested and permitted.  It waits at a
 * pipe until that is settled.
 */
static pid_t
spawn_start(struct stage *stage, const struct allocator *c,
    const sigset_t *signals)
{
	struct shared *sh = stage->shared;
	const pid_t parent = getpid();
	int gate[2];

	if (pipe(gate) != 0)
		return -1;
	pid_t pid = fork();
	if (pid == 0) {
		/* a parent that has been killed already sends no signal */
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(127);
		(void)close(gate[1]);
		become(stage, c, gate[0], signals);
	}
	if (pid > 0) {
		if (sh->traced)
			sh->traced = (uint32_t)calls_trace(pid);
		if (!open_gate(gate[1]))
			(void)kill(pid, SIGKILL);
	}
	(void)close(gate[0]);
	(void)close(gate[1]);
	return pid;
}

/* A number that changes with the progress of any thread. */
static uint64_t
movement(struct shared *sh)
{
	const struct run_shared_stats *b = shared_run_stats(sh);
	uint64_t sum = atomic_load(&sh->phase);

	for (uint32_t i = 0; i < b->threads && i < RUN_THREADS_MAX; i++)
		sum = sum * 31 + (uintptr_t)atomic_load(&b->thread[i].word);
	return sum + atomic_load(&b->repeats);
}

/* Handles the processes that stopped or ended.  Nonzero: this one has. */
static int
spawn_reap(pid_t pid, struct stage *stage, struct outcome *out, int *status)
{
	for (;;) {
		pid_t got = waitpid(-1, status, WNOHANG | __WALL);

		/* no signal ends a call that does not wait */
		if (got <= 0)
			return got < 0;
		if (WIFSTOPPED(*status)) {
			unsigned phase = atomic_load(&stage->shared->phase);

			calls_count(got, *status, phase == PHASE_RUNNING,
			    out->calls);
		} else if (got == pid) {
			return 1;
		}
	}
}

/* Drops every second sample, and doubles the interval. */
static void
spawn_thin(struct observer *o)
{
	size_t i;

	for (i = 0; 2 * i + 1 < o->n; i++)
		o->samples[i] = o->samples[2 * i + 1];
	o->n = i;
	o->interval *= 2;
}

/* Takes a sample when it is time for one. */
static void
observe(const struct spawn *spawn, pid_t pid, struct stage *stage)
{
	struct observer *o = &stage->observer;
	struct shared *sh = stage->shared;
	unsigned phase = atomic_load(&sh->phase);
	uint64_t now = progress_now(), pause;

	if (spawn->facts == NULL || phase < PHASE_RUNNING ||
	    phase > PHASE_FREED || now < o->next)
		return;
	if (o->n == SAMPLES_MAX)
		spawn_thin(o);
	struct sample *s = &o->samples[o->n];
	memset(s, 0, sizeof(*s));
	s->done = run_words_done(shared_run_stats(sh), spawn->facts,
	    sh->options.repeat);
	s->ns = now > sh->started ? now - sh->started : 0;
	s->phase = phase;
	memory_sample(pid, sh, s);
	if (!s->known)
		return;
	o->n++;
	/* the kernel holds the process up while it counts: a 20th at most */
	pause = (progress_now() - now) * 20;
	o->next = now + (pause > o->interval ? pause : o->interval);
}

/* Waits for the process, and kills it if it hangs.  Returns its status. */
static int
wait_for(const struct spawn *spawn, pid_t pid, struct stage *stage,
    struct outcome *out)
{
	struct timespec tick = { 0, TICK };
	uint64_t moved = progress_now(), seen = movement(stage->shared);
	uint64_t now = moved, last;
	/* doing nothing at the end is not a hang */
	uint64_t idle = stage->shared->idle_ns;
	int status = 0, killed = 0;
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGCHLD);
	if (spawn->facts != NULL)
		tick.tv_nsec = OBSERVED;
	while (!spawn_reap(pid, stage, out, &status)) {
		(void)sigtimedwait(&set, NULL, &tick);
		observe(spawn, pid, stage);
		if (spawn->look != NULL)
			spawn->look(spawn->arg, stage->shared);
		last = now;
		now = progress_now();
		/* a traced process waits while this one is stopped */
		if (now - last > (uint64_t)SECOND)
			moved += now - last;
		if (movement(stage->shared) != seen) {
			seen = movement(stage->shared);
			moved = now;
		} else if (spawn->timeout > 0 && !killed &&
		    now - moved > spawn->timeout + idle) {
			out->ending = ENDED_HUNG;
			(void)kill(pid, SIGKILL);
			killed = 1;
		}
	}
	return status;
}

/* Takes the last line that the process wrote. */
static void
read_said(struct stage *stage, struct outcome *out)
{
	/* the process has the same offset */
	off_t size = lseek(stage->said, 0, SEEK_CUR);
	off_t from = size > (off_t)sizeof(out->said) - 1 ?
	    size - ((off_t)sizeof(out->said) - 1) :
	    0;
	char text[sizeof(out->said)], *line = out->said, *end;
	ssize_t n = 0;

	if (size > 0)
		n = pread(stage->said, line, sizeof(out->said) - 1, from);
	line[n > 0 ? n : 0] = '\0';
	end = line + strlen(line);
	while (end > line && (end[-1] == '\n' || end[-1] == '\r'))
		*--end = '\0';
	while (end > line && end[-1] != '\n')
		end--;
	/* it may have control characters */
	memmove(text, end, strlen(end) + 1);
	(void)page_escape(line, sizeof(out->said) - 1, text);
	(void)lseek(stage->said, 0, SEEK_SET);
}

static void
conclude(struct stage *stage, int status, struct outcome *out)
{
	struct shared *sh = stage->shared;

	char why[sizeof(out->why)];

	(void)snprintf(why, sizeof(why), "%.*s", (int)sizeof(sh->wrong) - 1,
	    sh->wrong);
	(void)page_escape(out->why, sizeof(out->why) - 1, why);
	out->calls_known = sh->traced != 0;
	read_said(stage, out);
	if (out->ending == ENDED_HUNG)
		return;
	if (WIFSIGNALED(status)) {
		out->ending = ENDED_CRASHED;
		out->signal = WTERMSIG(status);
	} else if (out->why[0] != '\0') {
		out->ending = ENDED_WRONG;
	} else if (atomic_load(&sh->phase) != PHASE_DONE) {
		out->ending = ENDED_EXIT;
		out->status = WEXITSTATUS(status);
	}
}

int
spawn_run(const struct spawn *spawn, const struct allocator *c,
    struct stage *stage, struct outcome *out)
{
	sigset_t child, before;

	memset(out, 0, sizeof(*out));
	/* whoever started telreplay may ignore it: no status would be left */
	(void)signal(SIGCHLD, SIG_DFL);
	(void)sigemptyset(&child);
	(void)sigaddset(&child, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &child, &before);
	pid_t pid = spawn_start(stage, c, &before);
	if (pid > 0) {
		int status = wait_for(spawn, pid, stage, out);

		(void)kill(-pid, SIGKILL);
		conclude(stage, status, out);
	} else {
		message_errno(c->name);
	}
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	return pid > 0;
}
