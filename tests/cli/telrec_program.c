/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs for telrec to record: the first argument says which. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/filter.h>
#include <linux/seccomp.h>
#endif

#include "telrec/arena.h"

/* What the compiler must not remove. */
static void *volatile kept[64];

static void
fail(const char *what)
{
	perror(what);
	exit(1);
}

/* Each function; the sizes are those of no other allocation. */
static int
all(void)
{
	void *p = NULL;

	kept[0] = malloc(70001);
	kept[1] = calloc(3, 70002);
	kept[2] = realloc(NULL, 70003);
	kept[2] = realloc(kept[2], 170004);
	kept[3] = reallocarray(NULL, 5, 70005);
	kept[4] = memalign(256, 70006);
	if (posix_memalign(&p, 512, 70007) != 0)
		return 1;
	kept[5] = p;
	kept[6] = aligned_alloc(1024, 71680);
	kept[7] = valloc(70009);
	kept[8] = pvalloc(70010);
	kept[9] = malloc(1);
	free(kept[9]);
	free(NULL);
	for (int i = 0; i < 9; i++)
		free(kept[i]);
	return 0;
}

/* Calls that fail, for their sizes; and a block that stays. */
static int
huge(void)
{
	volatile size_t most = SIZE_MAX;

	kept[0] = malloc(5);
	kept[1] = malloc(most);
	kept[1] = malloc(most >> 1);
	kept[1] = calloc(most, most);
	kept[1] = realloc(kept[0], most - 7);
	kept[1] = reallocarray(kept[0], most, 3);
	return kept[1] != NULL;
}

/* What valgrind knows, too; between the call and the free of a marker. */
static int
some(void)
{
	kept[63] = malloc(70707);
	for (int i = 0; i < 50; i++) {
		kept[i] = malloc(1 + 37 * (size_t)i);
		if (i % 3 == 0)
			kept[i] = realloc(kept[i], 5000 * (size_t)i + 1);
		if (i % 4 == 3)
			free(kept[i - 2]);
		if (i % 4 == 3)
			kept[i - 2] = calloc(7, (size_t)i);
	}
	kept[50] = memalign(64, 100);
	kept[51] = aligned_alloc(128, 256);
	for (int i = 0; i < 52; i++)
		free(kept[i]);
	free(kept[63]);
	return 0;
}

/* Pairs of a size; several threads call this. */
static void
pairs(int n, size_t size)
{
	void *volatile p;

	for (int i = 0; i < n; i++) {
		p = malloc(size);
		free(p);
	}
}

/* Blocks that live at the same time. */
static int
live(int n)
{
	void **all = calloc((size_t)n, sizeof(*all));

	if (all == NULL)
		return 1;
	for (int i = 0; i < n; i++)
		all[i] = malloc(24);
	for (int i = 0; i < n; i++)
		free(all[i]);
	free(all);
	return 0;
}

/* Blocks of many sizes, by several functions; half of them are kept. */
static int
sizes(int n)
{
	static const size_t all[] = { 3, 48, 700, 4096, 9000, 60000 };
	void *p;

	for (int i = 0; i < n; i++)
		for (int k = 0; k < 6; k++) {
			p = k % 3 == 2 ? calloc(10, all[k] / 10) :
			    k == 4     ? aligned_alloc(8, all[k]) :
			                 malloc(all[k]);
			if (k == 1)
				p = realloc(p, 1000);
			kept[i % 2 * (k + 1)] = p;
			if (i % 2 == 0)
				free(p);
		}
	return 0;
}

/* Threads that take blocks from each other. */
#define SLOTS 1024
static _Atomic(void *) slots[SLOTS];
static long operations;

static void *
exchange(void *arg)
{
	unsigned long long r =
	    (unsigned long long)(uintptr_t)arg * 2654435761u + 1;
	unsigned k, choice;
	size_t n;
	void *p;

	for (long i = 0; i < operations; i++) {
		r = r * 6364136223846793005u + 1442695040888963407u;
		k = (unsigned)(r >> 33) % SLOTS;
		n = 1 + (size_t)(r >> 50) % 600;
		choice = (unsigned)(r >> 45) % 32;
		p = atomic_exchange(&slots[k], NULL);
		if (p != NULL && choice < 8) {
			p = realloc(p, choice == 0 ? n + 100000 : n);
		} else {
			free(p);
			p = choice == 31 ? calloc(3, n) : malloc(n);
		}
		free(atomic_exchange(&slots[k], p));
	}
	return NULL;
}

static int
threads(int count)
{
	pthread_t thread[64];

	for (int i = 0; i < count; i++)
		if (pthread_create(&thread[i], NULL, exchange,
		        (void *)(uintptr_t)(i + 1)) != 0)
			fail("pthread_create");
	for (int i = 0; i < count; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < SLOTS; i++)
		free(slots[i]);
	return 0;
}

static pthread_key_t last_key;

/* The destructor of last_key, which has it called two more times. */
static void
last(void *p)
{
	static int rounds;

	free(p);
	if (rounds++ < 2)
		pthread_setspecific(last_key, malloc(80003));
}

static void *
named(void *unused)
{
	(void)unused;
	pthread_setname_np(pthread_self(), "worker");
	pairs(10, 80001);
	/* which is freed when the thread ends */
	pthread_setspecific(last_key, malloc(80002));
	return NULL;
}

/* Children, and theirs, each with so many pairs. */
static void
storm(int depth, int width)
{
	pairs(100, 90001);
	for (int i = 0; depth > 0 && i < width; i++) {
		const pid_t pid = fork();

		if (pid < 0)
			fail("fork");
		if (pid == 0) {
			storm(depth - 1, width);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
}

/* Children that fork(3) does not know of. */
static int
cloned(int n)
{
	long pid;

	pairs(100, 90001);
	for (int i = 0; i < n; i++) {
		pid = syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L);
		if (pid < 0)
			fail("clone");
		if (pid == 0) {
			/* its first call is a free, an allocation, or both */
			if (i % 3 == 0)
				free(kept[0]);
			if (i % 3 == 1)
				kept[0] = realloc(kept[0], 90002);
			pairs(100, 90001);
			_exit(0);
		}
		wait(NULL);
	}
	return 0;
}

static void *
be_named(void *ready)
{
	pairs(10, 80002);
	pthread_barrier_wait(ready);
	pthread_barrier_wait(ready);
	pairs(10, 80002);
	prctl(PR_SET_NAME, "two, of 16 letters");
	pairs(10, 80003);
	pthread_barrier_wait(ready);
	pause();
	return NULL;
}

/* Names itself, and another thread; and fails to. */
static int
names(void)
{
	pthread_barrier_t ready;
	pthread_t thread;

	pthread_barrier_init(&ready, NULL, 2);
	pairs(10, 80001);
	if (pthread_setname_np(pthread_self(), "one") != 0 ||
	    pthread_create(&thread, NULL, be_named, &ready) != 0)
		return 1;
	pthread_barrier_wait(&ready);
	if (pthread_setname_np(thread, "other") != 0 ||
	    pthread_setname_np(pthread_self(), "longer than it may be") == 0)
		return 1;
	pthread_barrier_wait(&ready);
	pthread_barrier_wait(&ready);
	pairs(10, 80001);
	return 0;
}

/* A thread that allocates one block, and stays. */
static void *
stay(void *ready)
{
	kept[0] = malloc(80003);
	pthread_barrier_wait(ready);
	pause();
	return NULL;
}

/* So many threads at the same time. */
static int
crowd(int n)
{
	pthread_barrier_t ready;
	pthread_attr_t small;
	pthread_t thread;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 1 << 16);
	pthread_barrier_init(&ready, NULL, 2);
	for (int i = 0; i < n; i++) {
		if (pthread_create(&thread, &small, stay, &ready) != 0)
			_exit(77);
		pthread_barrier_wait(&ready);
	}
	_exit(0);
}

/* Children, one after the other, with pairs of sizes from 1000 on. */
static int
children(int n)
{
	for (int i = 0; i < n; i++) {
		const pid_t pid = fork();

		if (pid == 0) {
			for (int k = 0; k < 400; k++)
				pairs(1, 1000 + (size_t)k);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	return 0;
}

/*
 * Ends the recorder, and goes on until its ring is full, which is found by a
 * call of realloc or of another function, and after that.
 */
static int
orphan(const char *file, int how)
{
	const pid_t recorder = getppid();
	int changed = 0;

	kill(recorder, SIGKILL);
	while (getppid() == recorder)
		usleep(1000);
	for (int i = 0; i < 40000; i++) {
		errno = 4711;
		if (how == 0)
			pairs(1, 100);
		else
			kept[0] = realloc(kept[0], 5000);
		changed += errno != 4711;
	}
	return changed == 0 ? close(creat(file, 0600)) : 1;
}

/* Ends the process after so many microseconds, whatever it does then. */
static void *
die(void *arg)
{
	const struct timespec time = { 0, (long)(intptr_t)arg * 1000 };

	nanosleep(&time, NULL);
	kill(getpid(), SIGKILL);
	return NULL;
}

static int
dying(int microseconds)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, die,
	        (void *)(intptr_t)microseconds) != 0)
		fail("pthread_create");
	/* the pauses keep the log small, whenever the other thread is run */
	for (int i = 1;; i++) {
		pairs(10, 100);
		kept[0] = realloc(malloc(10), 5000);
		free(kept[0]);
		if (i % 20 == 0)
			usleep(20);
	}
}

/* Children that die, and as many that do not. */
static int
victims(int n)
{
	pid_t pid;

	for (int i = 0; i < 2 * n; i++) {
		pid = fork();
		if (pid < 0)
			fail("fork");
		if (pid == 0 && i % 2 == 0)
			return dying(i * 20);
		if (pid == 0) {
			pairs(100, 90001);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	return 0;
}

static void *
pair_up(void *file)
{
	while (access(file, F_OK) != 0)
		for (int i = 0; i < 10; i++) {
			pairs(20, 100);
			usleep(100);
		}
	return NULL;
}

/* Two threads with pairs until a file exists. */
static int
until(char *file)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, pair_up, file) != 0)
		fail("pthread_create");
	printf("ready\n");
	fflush(stdout);
	(void)pair_up(file);
	pthread_join(thread, NULL);
	printf("done\n");
	return 7;
}

/* As until(), and calls grab() of a module once a file "load" exists. */
static int
until_loaded(char *file, const char *module)
{
	void *handle = NULL;
	void (*grab)(void);

	printf("ready\n");
	fflush(stdout);
	while (access(file, F_OK) != 0) {
		pairs(20, 100);
		usleep(1000);
		if (handle == NULL && access("load", F_OK) == 0 &&
		    (handle = dlopen(module, RTLD_NOW)) == NULL)
			return 1;
		if (handle != NULL) {
			*(void **)&grab = dlsym(handle, "grab");
			grab();
		}
	}
	printf("done\n");
	return 7;
}

/* The memory that telrec shares with this program. */
static struct arena *
share(void)
{
	const char *path = getenv(ARENA_ENV);
	const int fd = path != NULL ? open(path, O_RDWR) : -1;
	struct arena *a;

	if (fd < 0)
		fail("the arena");
	a = mmap(NULL, (size_t)arena_bytes(), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (a == MAP_FAILED)
		fail("the arena");
	close(fd);
	return a;
}

/* Waits until telrec has looked at all rings. */
static void
next_epoch(const struct arena *a)
{
	const uint32_t epoch = ARENA_NOW(a->epoch);

	for (int i = 0; i < 60000 && ARENA_NOW(a->epoch) == epoch; i++)
		usleep(1000);
}

/* Pairs until the recording has stopped, then others. */
static int
stopped(void)
{
	const struct arena *a = share();
	int i;

	for (i = 0; i < 60000 && ARENA_NOW(a->on); i++) {
		pairs(100, 100);
		usleep(1000);
	}
	/* a thread looks again when there is a new epoch */
	next_epoch(a);
	pairs(10, 90001);
	return ARENA_NOW(a->on) ? 9 : 0;
}

/* A thread, then this program again, n times; the rings that there are then. */
static int
rings(int n, char **argv)
{
	const struct arena *a = share();
	pthread_t thread;

	pairs(10, 100);
	operations = 1;
	if (pthread_create(&thread, NULL, exchange, NULL) != 0)
		fail("pthread_create");
	pthread_join(thread, NULL);
	next_epoch(a);
	next_epoch(a);
	if (n == 0) {
		printf("%" PRIu32 "\n", ARENA_NOW(a->rings_used));
		return 0;
	}
	snprintf(argv[2], 3, "%02d", n - 1);
	execv("/proc/self/exe", argv);
	fail("execv");
	return 1;
}

/* As after many thousand processes, whose parent goes on. */
static int
many(void)
{
	struct arena *a = share();
	void *block = malloc(90001);
	pthread_t thread;

	__atomic_store_n(&a->images_used, ARENA_IMAGES, __ATOMIC_SEQ_CST);
	for (int i = 0; i < 3; i++)
		if (fork() == 0) {
			pairs(10, 100);
			_exit(0);
		} else {
			wait(NULL);
			next_epoch(a);
		}
	operations = 1;
	if (pthread_create(&thread, NULL, exchange, NULL) != 0)
		fail("pthread_create");
	pthread_join(thread, NULL);
	free(block);
	return 0;
}

/* Threads, one after the other, where the rings of four are free. */
static int
successors(int n)
{
	struct arena *a = share();
	pthread_t thread;
	uint32_t i, free_state, left = 4;

	pairs(1, 100);
	for (i = 0; i < ARENA_RINGS; i++) {
		free_state = ARENA_RING_FREE;
		if (ARENA_NOW(a->rings[i].state) == free_state && left > 0)
			left--;
		else
			__atomic_compare_exchange_n(&a->rings[i].state,
			    &free_state, ARENA_RING_CLAIMED, 0,
			    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
	}
	operations = 1;
	for (; n > 0; n--) {
		if (pthread_create(&thread, NULL, exchange, NULL) != 0)
			fail("pthread_create");
		pthread_join(thread, NULL);
	}
	for (i = 0; i < ARENA_RINGS; i++)
		if (ARENA_NOW(a->rings[i].state) == ARENA_RING_CLAIMED)
			ARENA_SET(a->rings[i].state, ARENA_RING_FREE);
	return 0;
}

/* Writes numbers over what telrec reads of other rings, with this seed. */
static int
scribble(unsigned seed)
{
	struct arena *a = share();
	uint64_t r = seed * UINT64_C(2654435761) + 1;
	uint64_t *words;
	uint32_t i, k;

	pairs(1000, 100);
	for (i = 1; i < 20; i++) {
		words = arena_words(a, i);
		for (k = 0; k < ARENA_RING_WORDS; k++) {
			r = r * UINT64_C(6364136223846793005) + 1;
			words[k] = r >> (r >> 58 & 31);
		}
		words = (uint64_t *)(void *)&a->images[i];
		for (k = 0; k < sizeof(a->images[i]) / 8; k++)
			words[k] = UINT64_MAX;
		memset(a->rings[i].name, 'x', sizeof(a->rings[i].name));
		a->rings[i].pid = (uint32_t)(r >> 11);
		a->rings[i].tid = (uint32_t)(r >> 13);
		a->rings[i].image = (uint32_t)i;
		a->rings[i].claim = (uint32_t)(r >> 17);
		a->rings[i].lost = r;
		a->rings[i].open = (uint32_t)(r >> 19) & 1;
		a->rings[i].ticks = r >> (r >> 60);
		a->rings[i].head = i % 2 ? (uint32_t)(r >> 23) : 5000;
		__atomic_store_n(&a->rings[i].state,
		    i % 3 ? ARENA_RING_USED : ARENA_RING_ENDED,
		    __ATOMIC_SEQ_CST);
	}
	a->lost = seed % 2 ? UINT64_MAX : UINT64_MAX - r;
	__atomic_store_n(&a->rings_used, UINT32_MAX >> seed % 32,
	    __ATOMIC_SEQ_CST);
	pairs(1000, 100);
	return 0;
}

/*
 * A child writes random words over all that telrec reads, for as long as it
 * takes to be read often, and tries to cut the memory.
 */
static int
scramble(unsigned seed)
{
	struct arena *a = share();
	const size_t first = offsetof(struct arena, epoch) / 4,
	             execs = offsetof(struct arena, execs) / 4,
	             rings = offsetof(struct arena, rings) / 4,
	             images = offsetof(struct arena, images) / 4;
	const size_t from[] = { first, execs, rings, images };
	const size_t words[] = { 64, sizeof(a->execs) / 4,
		64 * sizeof(struct arena_ring) / 4,
		64 * sizeof(struct arena_image) / 4 };
	uint64_t r = seed;
	uint32_t i, which, value;
	int fd;
	pid_t pid;

	pairs(1000, 100);
	pid = fork();
	if (pid == 0) {
		fd = open(getenv(ARENA_ENV), O_RDWR);
		if (fd < 0 || ftruncate(fd, 0) == 0)
			abort();
		for (i = 0; i < 60000; i++) {
			r = r * UINT64_C(6364136223846793005) +
			    UINT64_C(1442695040888963407);
			which = r >> 62;
			value = r >> 60 & 1 ?
			    (uint32_t)(r >> 8) % 4 - 1 :
			    (uint32_t)(r >> 20 >> (r >> 33 & 31));
			((uint32_t *)(void *)
			        a)[from[which] + (r >> 30) % words[which]] =
			    value;
			arena_words(a,
			    (uint32_t)(r >> 40) %
			        64)[(r >> 16) % ARENA_RING_WORDS] =
			    r >> (r >> 27 & 63);
			if (i % 200 == 0)
				usleep(100);
		}
		kill(getpid(), SIGKILL);
	}
	waitpid(pid, NULL, 0);
	return 0;
}

static volatile sig_atomic_t handled;

/* Not what a handler should do; but they do. */
static void
handle(int signal)
{
	void *p;

	(void)signal;
	p = calloc(1, 77);
	handled++;
	free(p);
}

/* A timer's signals while nothing is in the allocator. */
static int
signals(void)
{
	struct sigaction action;
	sigset_t set, old;

	memset(&action, 0, sizeof(action));
	action.sa_handler = handle;
	sigaction(SIGUSR2, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	for (int i = 0; i < 1000; i++) {
		pairs(3, 100);
		sigprocmask(SIG_BLOCK, &set, &old);
		kill(getpid(), SIGUSR2);
		sigprocmask(SIG_SETMASK, &old, NULL);
	}
	return handled != 1000;
}

/* Also in a process that has recorded nothing. */
static int
strict(void)
{
	kept[1] = malloc(1 << 16);
	free(kept[1]);
	if (fork() < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) != 0)
		return 77;
	pairs(100000, 60);
	syscall(SYS_exit, 0);
	return 1;
}

/* A sandbox that refuses all system calls but those to end. */
static int
filter(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { 4, code };

	kept[1] = malloc(1 << 16);
	free(kept[1]);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
		return 77;
	pairs(100000, 60);
	_exit(getpid() == -1 ? 0 : 1);
}

/*
 * A sandbox that kills for each call but a few; it comes by prctl() or by the
 * call of its own.  With more of them, a program may be executed; or it kills
 * for the current folder alone.
 */
static int
killing(const char *how, char **argv)
{
	static const unsigned few[] = { SYS_read, SYS_write, SYS_exit,
		SYS_exit_group };
	static const unsigned killed[] = { SYS_getcwd, SYS_getppid, SYS_gettid,
		SYS_prctl, SYS_nanosleep, SYS_clock_nanosleep, SYS_kill,
		SYS_getpid };
	const int is_folder = strcmp(how, "folder") == 0;
	const int is_exec = is_folder || strcmp(how, "exec") == 0;
	const unsigned *list = is_exec ? killed : few;
	const unsigned n = is_folder ? 1 :
	    is_exec                  ? sizeof(killed) / sizeof(killed[0]) :
	                               sizeof(few) / sizeof(few[0]);
	struct sock_filter code[32];
	struct sock_fprog program = { 0, code };
	unsigned i;

	code[program.len++] =
	    (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
	        offsetof(struct seccomp_data, nr));
	for (i = 0; i < n; i++)
		code[program.len++] =
		    (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
		        list[i], (uint8_t)(n - i), 0);
	code[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
	    is_exec ? SECCOMP_RET_ALLOW : SECCOMP_RET_KILL_PROCESS);
	code[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
	    is_exec ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ALLOW);
	kept[1] = malloc(1 << 16);
	free(kept[1]);
	if (chdir("/") != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return 77;
	if (strcmp(how, "prctl") == 0 ?
	        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) :
	        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program))
		return 77;
	pairs(200000, 60);
	if (is_exec) {
		argv[1] = (char *)"pairs";
		argv[2] = (char *)"1000";
		execv("proc/self/exe", argv);
	}
	_exit(write(1, "", 0) == 0 ? 0 : 1);
}

/* Signals at any time, with an allocator that allows that; how many. */
static int
ticks(void)
{
	const struct itimerval often = { { 0, 200 }, { 0, 200 } },
	                       never = { 0 };
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = handle;
	action.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (handled < 100)
		pairs(10, 100);
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN);
	printf("%d\n", (int)handled);
	return 0;
}

static int
maps(void)
{
	void *p = mmap(NULL, 12288, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	pairs(10, 100);
	p = p != MAP_FAILED ? mremap(p, 12288, 20480, MREMAP_MAYMOVE) : p;
	if (p == MAP_FAILED || sbrk(4096) == MAP_FAILED ||
	    brk((char *)sbrk(0) + 8192) != 0)
		return 1;
	return munmap(p, 20480);
}

/* What a program sees of itself. */
static int
look(void)
{
	errno = 4711;
	pairs(1000, 100);
	printf("errno %d\n", errno);
	printf("fds");
	for (int i = 0; i < 1024; i++)
		if (fcntl(i, F_GETFD) >= 0)
			printf(" %d", i);
	printf("\nsignals");
	for (int i = 1; i < 32; i++) {
		struct sigaction action;
		sigset_t set;

		sigprocmask(SIG_BLOCK, NULL, &set);
		if (sigaction(i, NULL, &action) == 0)
			printf(" %d%d", action.sa_handler == SIG_IGN,
			    sigismember(&set, i));
	}
	printf("\n");
	fflush(stdout);
	fprintf(stderr, "a message\n");
	return 3;
}

static int
change_root(const char *where)
{
	if (chroot(where) != 0)
		return 77;
	if (chdir("/") != 0)
		return 1;
	pairs(1000, 100);
	storm(1, 2);
	return 0;
}

int
main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	const int n = argc > 2 ? atoi(argv[2]) : 0;
	pthread_t thread;

	if (strcmp(mode, "all") == 0)
		return all();
	if (strcmp(mode, "maps") == 0)
		return maps();
	if (strcmp(mode, "some") == 0)
		return some();
	if (strcmp(mode, "pairs") == 0) {
		pairs(n, 100);
		return 0;
	}
	if (strcmp(mode, "live") == 0)
		return live(n);
	if (strcmp(mode, "sizes") == 0)
		return sizes(n);
	if (strcmp(mode, "threads") == 0) {
		operations = argc > 3 ? atol(argv[3]) : 1000;
		return threads(n);
	}
	if (strcmp(mode, "named") == 0) {
		if (pthread_key_create(&last_key, last) != 0 ||
		    pthread_create(&thread, NULL, named, NULL) != 0)
			fail("pthread_create");
		return pthread_join(thread, NULL);
	}
	if (strcmp(mode, "storm") == 0) {
		storm(n, 3);
		return 0;
	}
	if (strcmp(mode, "names") == 0)
		return names();
	if (strcmp(mode, "crowd") == 0)
		return crowd(n);
	if (strcmp(mode, "children") == 0) {
		pairs(1000, 1000);
		return children(n);
	}
	if (strcmp(mode, "cloned") == 0) {
		kept[0] = malloc(90003);
		return cloned(n);
	}
	if (strcmp(mode, "orphan") == 0)
		return orphan(argv[2], argc > 3);
	if (strcmp(mode, "exec") == 0) {
		pairs(100, 90001);
		if (n == 0)
			return 0;
		snprintf(argv[2], 2, "%d", n - 1);
		execv("/proc/self/exe", argv);
		fail("execv");
	}
	if (strcmp(mode, "kill") == 0) {
		pairs(n, 100);
		kill(getpid(), SIGKILL);
	}
	if (strcmp(mode, "abort") == 0) {
		pairs(n, 100);
		abort();
	}
	if (strcmp(mode, "_exit") == 0) {
		pairs(n, 100);
		_exit(5);
	}
	if (strcmp(mode, "dying") == 0)
		return dying(n);
	if (strcmp(mode, "victims") == 0)
		return victims(n);
	if (strcmp(mode, "close") == 0) {
		for (int i = 0; i < 4096; i++)
			close(i);
		pairs(1000, 100);
		storm(1, 2);
		return 0;
	}
	if (strcmp(mode, "signals") == 0)
		return signals();
	if (strcmp(mode, "until") == 0)
		return until(argv[2]);
	if (strcmp(mode, "until_loaded") == 0)
		return until_loaded(argv[2], argv[3]);
	if (strcmp(mode, "stopped") == 0)
		return stopped();
	if (strcmp(mode, "huge") == 0)
		return huge();
	if (strcmp(mode, "rings") == 0)
		return rings(n, argv);
	if (strcmp(mode, "successors") == 0)
		return successors(n);
	if (strcmp(mode, "many") == 0)
		return many();
	if (strcmp(mode, "scribble") == 0)
		return scribble((unsigned)n);
	if (strcmp(mode, "scramble") == 0)
		return scramble((unsigned)n);
	if (strcmp(mode, "filter") == 0)
		return filter();
	if (strcmp(mode, "killing") == 0)
		return killing(argv[2], argv);
	if (strcmp(mode, "ticks") == 0)
		return ticks();
	if (strcmp(mode, "strict") == 0)
		return strict();
	if (strcmp(mode, "look") == 0)
		return look();
	if (strcmp(mode, "chroot") == 0)
		return change_root(argv[2]);
	fprintf(stderr, "unknown program '%s'\n", mode);
	return 2;
}
