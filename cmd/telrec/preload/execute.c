/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that this process executes.  Each is noted in the arena until its
 * own library has started, so that telrec can name those that it missed.  A
 * process that changes its user may not open the arena again: from then on it
 * hands a descriptor on.
 *
 * A child of vfork(2) comes here too: it changes no memory of its parent but
 * what it restores if the call fails.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "telrec/preload/preload.h"
#include "telrec/preload/process.h"
#include "telrec/preload/ring.h"
#include "telrec/preload/sandbox.h"

/* Variables of an environment that is copied, at most. */
#define VARIABLES 1024
/* Arguments of a function such as execl(), at most. */
#define ARGUMENTS 1024
/* Descriptors from here on are rarely those that a program expects. */
#define HIGH_DESCRIPTOR 200

typedef char *const *words;
typedef int spawn_fn(pid_t *, const char *, const posix_spawn_file_actions_t *,
    const posix_spawnattr_t *, words, words);

static struct {
	int (*execve)(const char *, words, words);
	int (*execvpe)(const char *, words, words);
	int (*fexecve)(int, words, words);
	spawn_fn *posix_spawn, *posix_spawnp;
	int (*system)(const char *);
	FILE *(*popen)(const char *, const char *);
	int (*setuid)(uid_t);
	int (*seteuid)(uid_t);
	int (*setreuid)(uid_t, uid_t);
	int (*setresuid)(uid_t, uid_t, uid_t);
} next;

/* The arena: its path, and a descriptor to hand on. */
static char arena_path[64];
static int handed = -1;
static dev_t handed_device;
static ino_t handed_file;
/*
 * How many calls that threads are in hand the descriptor on, and what they share
 * is locked by.  Only the last one takes back what the first one has changed.
 */
static unsigned handing;
static char hand_locked;
/* A child that was forked while another thread had the lock goes on without. */
#define HAND_TRIES 10000

void
execute_find(void)
{
	*(void **)&next.execvpe = dlsym(RTLD_NEXT, "execvpe");
	*(void **)&next.fexecve = dlsym(RTLD_NEXT, "fexecve");
	*(void **)&next.posix_spawn = dlsym(RTLD_NEXT, "posix_spawn");
	*(void **)&next.posix_spawnp = dlsym(RTLD_NEXT, "posix_spawnp");
	*(void **)&next.system = dlsym(RTLD_NEXT, "system");
	*(void **)&next.popen = dlsym(RTLD_NEXT, "popen");
	*(void **)&next.setuid = dlsym(RTLD_NEXT, "setuid");
	*(void **)&next.seteuid = dlsym(RTLD_NEXT, "seteuid");
	*(void **)&next.setreuid = dlsym(RTLD_NEXT, "setreuid");
	*(void **)&next.setresuid = dlsym(RTLD_NEXT, "setresuid");
	*(void **)&next.execve = dlsym(RTLD_NEXT, "execve");
}

static void
find_once(void)
{
	if (next.execve == NULL)
		execute_find();
}

/* ------------------------------------------------------------- the arena */

int
execute_open_arena(const char *path)
{
	struct stat st;

	if (strncmp(path, ARENA_FD, sizeof(ARENA_FD) - 1) != 0) {
		if (strlen(path) < sizeof(arena_path))
			memcpy(arena_path, path, strlen(path) + 1);
		return open(path, O_RDWR | O_CLOEXEC);
	}
	int fd = atoi(path + sizeof(ARENA_FD) - 1);
	if (fd <= 2 || fstat(fd, &st) != 0)
		return -1;
	handed = fd;
	handed_device = st.st_dev;
	handed_file = st.st_ino;
	(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	return fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

/* Whether the descriptor still is that of the arena. */
static int
execute_is_kept(void)
{
	struct stat st;

	return handed >= 0 && fstat(handed, &st) == 0 &&
	    st.st_dev == handed_device && st.st_ino == handed_file;
}

/* Before this process has another user. */
static void
keep_arena(void)
{
	const int kept = errno;
	struct stat st;

	find_once();
	if (ring_shared.arena == NULL || execute_is_kept() ||
	    arena_path[0] == '\0' || ring_calls_forbidden() ||
	    sandbox & SANDBOX_NO_START)
		return;
	int fd = open(arena_path, O_RDWR | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &st) == 0) {
		int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR);

		handed_device = st.st_dev;
		handed_file = st.st_ino;
		handed = high >= 0 ? high : fd;
		if (high >= 0)
			close(fd);
	}
	errno = kept;
}

static void
hand_lock(void)
{
	for (int i = 0; i < HAND_TRIES &&
	     __atomic_test_and_set(&hand_locked, __ATOMIC_ACQUIRE);
	     i++)
		sched_yield();
}

static void
hand_unlock(void)
{
	__atomic_clear(&hand_locked, __ATOMIC_RELEASE);
}

/* Until as many calls of hand_close(), programs inherit the descriptor. */
static void
hand_open(void)
{
	hand_lock();
	handing++;
	(void)fcntl(handed, F_SETFD, 0);
	hand_unlock();
}

static void
hand_close(void)
{
	const int kept = errno;

	hand_lock();
	if (--handing == 0)
		(void)fcntl(handed, F_SETFD, FD_CLOEXEC);
	hand_unlock();
	errno = kept;
}

/* ---------------------------------------------------------------- notes */

/* A call of a function that executes a program. */
struct call {
	struct arena_exec *note;
	uint32_t images; /* before it */
	int is_handed;
	words environment;
	char text[64];
	char *copy[VARIABLES];
};

static int
has_variable(words environment, const char *name)
{
	const size_t n = strlen(name);

	for (; environment != NULL && *environment != NULL; environment++)
		if (strncmp(*environment, name, n) == 0 &&
		    (*environment)[n] == '=')
			return 1;
	return 0;
}

static struct arena_exec *
claim_note(struct arena *a)
{
	uint32_t i, state;

	for (i = 0; i < ARENA_EXECS; i++) {
		state = ARENA_EXEC_FREE;
		if (ARENA_NOW(a->execs[i].state) == state &&
		    __atomic_compare_exchange_n(&a->execs[i].state, &state,
		        ARENA_EXEC_CLAIMED, 0, __ATOMIC_SEQ_CST,
		        __ATOMIC_RELAXED))
			return &a->execs[i];
	}
	__atomic_fetch_add(&a->execs_missed, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void
release_note(struct arena_exec *note)
{
	if (note != NULL)
		__atomic_store_n(&note->state, ARENA_EXEC_FREE,
		    __ATOMIC_SEQ_CST);
}

/* The path of a program as telrec, in another folder, can open it. */
static void
note_path(char *to, size_t size, const char *path)
{
	size_t used = 0;

	memset(to, 0, size);
	if (path == NULL)
		return;
	/* without a slash it is looked for in PATH */
	if (path[0] != '/' && strchr(path, '/') != NULL &&
	    !(sandbox & SANDBOX_NO_FOLDER) && getcwd(to, size) != NULL &&
	    strlen(to) + strlen(path) + 2 <= size) {
		used = strlen(to);
		to[used++] = '/';
		path += strncmp(path, "./", 2) == 0 ? 2 : 0;
	}
	strncpy(to + used, path, size - 1 - used);
}

/* Notes a program for this process, or for the child of this number. */
static void
note_program(struct call *call, const char *path, pid_t pid)
{
	struct arena *a = ring_shared.arena;
	struct arena_exec *note = claim_note(a);

	if (note == NULL)
		return;
	note_path(note->path, sizeof(note->path), path);
	note->pid = (uint32_t)pid;
	note->has_allocator = 0;
	note->has_environment = has_variable(call->environment, "LD_PRELOAD") &&
	    has_variable(call->environment, ARENA_ENV);
	call->note = note;
	__atomic_store_n(&note->state, ARENA_EXEC_STARTED, __ATOMIC_SEQ_CST);
}

void
execute_started(struct arena *a, uint32_t pid)
{
	for (uint32_t i = 0; i < ARENA_EXECS; i++)
		if (__atomic_load_n(&a->execs[i].state, __ATOMIC_SEQ_CST) ==
		        ARENA_EXEC_STARTED &&
		    ARENA_NOW(a->execs[i].pid) == pid &&
		    !a->execs[i].has_allocator)
			release_note(&a->execs[i]);
}

void
execute_note_allocator(struct arena *a, uint32_t pid)
{
	struct arena_exec *note = claim_note(a);

	if (note == NULL)
		return;
	memset(note->path, 0, sizeof(note->path));
	(void)!readlink("/proc/self/exe", note->path, sizeof(note->path) - 1);
	note->pid = pid;
	note->has_allocator = 1;
	__atomic_store_n(&note->state, ARENA_EXEC_STARTED, __ATOMIC_SEQ_CST);
}

/* Whether a program that was just spawned has started its library already. */
static int
has_started(const struct arena *a, uint32_t images, uint32_t pid)
{
	const uint32_t used =
	    __atomic_load_n(&a->images_used, __ATOMIC_SEQ_CST);

	for (; images != used; images++)
		if (__atomic_load_n(&a->images[images % ARENA_IMAGES].pid,
		        __ATOMIC_SEQ_CST) == (pid | ARENA_IMAGE_EXECUTED))
			return 1;
	return 0;
}

/* Whether calls are noted.  Before each that executes a program. */
static int
execute_begin(struct call *call, words environment)
{
	size_t i, place = VARIABLES;
	const size_t n = sizeof(ARENA_ENV) - 1;

	find_once();
	call->note = NULL;
	call->is_handed = 0;
	call->environment = environment;
	if (ring_shared.arena == NULL || ring_calls_forbidden() ||
	    sandbox & SANDBOX_NO_START)
		return 0;
	call->images = ARENA_NOW(ring_shared.arena->images_used);
	if (environment == NULL || !execute_is_kept())
		return 1;
	for (i = 0; i < VARIABLES && environment[i] != NULL; i++) {
		call->copy[i] = environment[i];
		if (strncmp(environment[i], ARENA_ENV "=", n + 1) == 0)
			place = i;
	}
	if (i == VARIABLES || place == VARIABLES)
		return 1;
	call->copy[i] = NULL;
	snprintf(call->text, sizeof(call->text), "%s=%s%d", ARENA_ENV, ARENA_FD,
	    handed);
	call->copy[place] = call->text;
	call->environment = call->copy;
	call->is_handed = fcntl(handed, F_SETFD, 0) == 0;
	return 1;
}

/* After the call has returned. */
static void
execute_end(const struct call *call)
{
	const int kept = errno;

	if (call->is_handed)
		(void)fcntl(handed, F_SETFD, FD_CLOEXEC);
	errno = kept;
}

/* ------------------------------------------------------------- functions */

static int
run_program(int (*function)(const char *, words, words), const char *path,
    words arguments, words environment)
{
	struct call call;

	if (execute_begin(&call, environment))
		note_program(&call, path, getpid());
	int result = function(path, arguments, call.environment);
	release_note(call.note);
	execute_end(&call);
	return result;
}

PUBLIC int
execve(const char *path, words arguments, words environment)
{
	find_once();
	return run_program(next.execve, path, arguments, environment);
}

PUBLIC int
execv(const char *path, words arguments)
{
	return execve(path, arguments, environ);
}

PUBLIC int
execvpe(const char *file, words arguments, words environment)
{
	find_once();
	return run_program(next.execvpe, file, arguments, environment);
}

PUBLIC int
execvp(const char *file, words arguments)
{
	return execvpe(file, arguments, environ);
}

PUBLIC int
fexecve(int fd, words arguments, words environment)
{
	struct call call;

	/* the file of the descriptor may have no name */
	if (execute_begin(&call, environment))
		note_program(&call,
		    arguments[0] != NULL ? arguments[0] : "fexecve", getpid());
	int result = next.fexecve(fd, arguments, call.environment);
	release_note(call.note);
	execute_end(&call);
	return result;
}

/* The arguments of a list up to a null pointer.  0: there are too many. */
static int
take_list(char **out, const char *first, va_list *list)
{
	size_t n = 0;

	out[0] = (char *)(uintptr_t)first;
	while (out[n] != NULL) {
		if (++n == ARGUMENTS) {
			errno = E2BIG;
			return 0;
		}
		out[n] = va_arg(*list, char *);
	}
	return 1;
}

PUBLIC int
execl(const char *path, const char *first, ...)
{
	char *arguments[ARGUMENTS];
	va_list list;

	va_start(list, first);
	int good = take_list(arguments, first, &list);
	va_end(list);
	return good ? execve(path, arguments, environ) : -1;
}

PUBLIC int
execlp(const char *file, const char *first, ...)
{
	char *arguments[ARGUMENTS];
	va_list list;

	va_start(list, first);
	int good = take_list(arguments, first, &list);
	va_end(list);
	return good ? execvpe(file, arguments, environ) : -1;
}

PUBLIC int
execle(const char *path, const char *first, ...)
{
	char *arguments[ARGUMENTS];
	words environment = NULL;
	va_list list;

	va_start(list, first);
	int good = take_list(arguments, first, &list);
	if (good)
		environment = va_arg(list, char **);
	va_end(list);
	return good ? execve(path, arguments, environment) : -1;
}

/* Notes a child that was spawned, unless it was faster. */
static void
note_child(struct call *call, const char *path, pid_t pid)
{
	note_program(call, path, pid);
	if (call->note != NULL &&
	    has_started(ring_shared.arena, call->images, (uint32_t)pid) &&
	    ARENA_NOW(call->note->pid) == (uint32_t)pid)
		release_note(call->note);
}

/* posix_spawn(), or posix_spawnp(). */
static int
spawn_program(spawn_fn *spawn, pid_t *pid, const char *file,
    const posix_spawn_file_actions_t *actions,
    const posix_spawnattr_t *attributes, words arguments, words environment)
{
	struct call call;
	pid_t child = 0;
	const int noted = execute_begin(&call, environment);

	if (call.is_handed)
		hand_open();
	const int failed = spawn(&child, file, actions, attributes, arguments,
	    call.environment);
	if (noted && !failed)
		note_child(&call, file, child);
	if (!failed && pid != NULL)
		*pid = child;
	if (call.is_handed)
		hand_close();
	return failed;
}

PUBLIC int
posix_spawn(pid_t *pid, const char *path,
    const posix_spawn_file_actions_t *actions,
    const posix_spawnattr_t *attributes, words arguments, words environment)
{
	find_once();
	return spawn_program(next.posix_spawn, pid, path, actions, attributes,
	    arguments, environment);
}

PUBLIC int
posix_spawnp(pid_t *pid, const char *file,
    const posix_spawn_file_actions_t *actions,
    const posix_spawnattr_t *attributes, words arguments, words environment)
{
	find_once();
	return spawn_program(next.posix_spawnp, pid, file, actions, attributes,
	    arguments, environment);
}

/*
 * system() and popen() execute a shell within the C library: meanwhile the
 * environment of this process names the descriptor, and not the path.
 */
static char shell_arena[64], *shell_kept;
static unsigned shells;

/* Where the variable of the arena is; NULL: there is none. */
static char **
shell_variable(void)
{
	const size_t n = sizeof(ARENA_ENV) - 1;
	char **place = environ;

	while (place != NULL && *place != NULL &&
	    strncmp(*place, ARENA_ENV "=", n + 1) != 0)
		place++;
	return place != NULL && *place != NULL ? place : NULL;
}

/* Whether shell_end() is to be called. */
static int
shell_begin(void)
{
	char **place;

	find_once();
	if (ring_shared.arena == NULL || ring_calls_forbidden() ||
	    sandbox & SANDBOX_NO_START || !execute_is_kept())
		return 0;
	hand_lock();
	place = shell_variable();
	if (place != NULL && *place != shell_arena) {
		snprintf(shell_arena, sizeof(shell_arena), "%s=%s%d", ARENA_ENV,
		    ARENA_FD, handed);
		shell_kept = *place;
		*place = shell_arena;
	}
	shells += place != NULL;
	hand_unlock();
	if (place != NULL)
		hand_open();
	return place != NULL;
}

static void
shell_end(int was_begun)
{
	char **place;

	if (!was_begun)
		return;
	hand_lock();
	place = shell_variable();
	if (--shells == 0 && place != NULL && *place == shell_arena)
		*place = shell_kept;
	hand_unlock();
	hand_close();
}

PUBLIC int
system(const char *command)
{
	const int begun = shell_begin();
	const int status = next.system(command);

	shell_end(begun);
	return status;
}

PUBLIC FILE *
popen(const char *command, const char *mode)
{
	const int begun = shell_begin();
	FILE *f = next.popen(command, mode);

	shell_end(begun);
	return f;
}

PUBLIC int
setuid(uid_t user)
{
	keep_arena();
	return next.setuid(user);
}

PUBLIC int
seteuid(uid_t user)
{
	keep_arena();
	return next.seteuid(user);
}

PUBLIC int
setreuid(uid_t real, uid_t effective)
{
	keep_arena();
	return next.setreuid(real, effective);
}

PUBLIC int
setresuid(uid_t real, uid_t effective, uid_t saved)
{
	keep_arena();
	return next.setresuid(real, effective, saved);
}
