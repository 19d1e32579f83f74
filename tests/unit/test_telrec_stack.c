/* SPDX-License-Identifier: BSD-2-Clause */
/* Backtraces in the library that telrec preloads, without a recording. */
#define _GNU_SOURCE
#include "telrec/preload/stack.c"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "tap.h"

/* What the library has of a ring: here, what was emitted. */
__thread struct ring_self ring_self;
struct ring_shared ring_shared;

#define MOST 400000u
static struct {
	uint64_t ip;
	uint32_t parent;
	uint32_t there;
} emitted[MOST];
static unsigned nmodules, nprograms, nforgotten, doubled;
static int forbidden;

void
telrec_emit_trace(uint32_t number, uint64_t ip, uint32_t parent)
{
	if (number >= MOST)
		return;
	if (emitted[number].there != 0)
		__atomic_add_fetch(&doubled, 1, __ATOMIC_RELAXED);
	emitted[number].ip = ip;
	emitted[number].parent = parent;
	__atomic_store_n(&emitted[number].there, 1, __ATOMIC_RELEASE);
}

void
telrec_emit_module(uint64_t start, uint64_t bias, const char *path,
    const char *build)
{
	(void)start;
	(void)bias;
	nmodules++;
	nprograms += build[0] == '!';
	nforgotten += path[0] == '\0' && build[0] == '!';
}

void
ring_mute(int on)
{
	(void)on;
}

static __thread unsigned fresh;

void
telrec_fresh_clock(void)
{
	fresh++;
}

int
ring_calls_forbidden(void)
{
	return forbidden;
}

/* How many frames a backtrace has; 0 where one of them was not emitted. */
static unsigned
depth_of(uint32_t number)
{
	unsigned n = 0;

	for (; number != 0; number = emitted[number].parent) {
		if (number >= MOST ||
		    !__atomic_load_n(&emitted[number].there,
		        __ATOMIC_ACQUIRE) ||
		    emitted[number].parent >= number)
			return 0;
		n++;
	}
	return n;
}

/* Each has a frame pointer, as it is asked for it. */
static __attribute__((noinline)) uint32_t
recurse(unsigned n, void *volatile *frame)
{
	volatile uint32_t number;

	*frame = __builtin_frame_address(0);
	number = n == 0 ? telrec_stack() : recurse(n - 1, frame);
	*frame = __builtin_frame_address(0);
	return number;
}

/* Two stacks of which only the last frame differs: whether the second is new. */
static __attribute__((noinline)) unsigned
twice(void *volatile *frame)
{
	volatile uint32_t number;

	*frame = __builtin_frame_address(0);
	number = telrec_stack();
	fresh = 0;
	number -= telrec_stack();
	*frame = __builtin_frame_address(0);
	return number != 0 ? fresh : 2;
}

static void
test_recursion(void)
{
	void *volatile frame;
	/* one call, so that the stacks are equal */
	volatile int times = 2;
	uint32_t a, b, c, number[2] = { 0, 0 };
	unsigned clocks[2] = { 0, 0 };
	int i;

	a = recurse(20, &frame);
	b = recurse(19, &frame);
	for (i = 0; i < times; i++) {
		fresh = 0;
		number[i & 1] = recurse(20, &frame);
		clocks[i & 1] = fresh;
	}
	ok(number[0] != 0 && number[0] == number[1], "a stack has one number");
	ok(clocks[0] == 1 && clocks[1] == 0 && twice(&frame) == 1,
	    "what is recorded with a stack is later than its frames");
	ok(b != 0 && a != b, "another one has another");
	ok(depth_of(a) >= 20, "all callers are frames of it");
	c = recurse(1000, &frame);
	ok(depth_of(c) == DEPTH, "a deep recursion has the innermost frames");
	for (i = 0; i < 1000; i++)
		(void)recurse(1000 + (unsigned)i, &frame);
	ok(depth_of(recurse(2000, &frame)) == DEPTH, "and again");
	ok(doubled == 0, "each frame was recorded once");
}

/* Frame pointers that are none. */
static void
test_garbage(void)
{
	const size_t page = 4096;
	char *memory = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uintptr_t ips[DEPTH], *fp, sums = 0;
	unsigned i, n;

	if (memory == MAP_FAILED) {
		ok(0, "memory");
		return;
	}
	munmap(memory + 2 * page, page);
	fp = (uintptr_t *)(void *)(memory + page);
	fp[0] = (uintptr_t)(fp + 64);
	fp[1] = 0x5000;
	fp[64] = (uintptr_t)(fp + 510); /* the last words of the page */
	fp[65] = 0x6000;
	fp[510] = (uintptr_t)(fp + 511); /* partly in the hole */
	fp[511] = 0x7000;
	n = walk_frames(fp, ips, DEPTH);
	ok(n == 3 && ips[0] == 0x5000 && ips[1] == 0x6000 && ips[2] == 0x7000,
	    "a walk ends where memory ends");
	fp[64] = (uintptr_t)(memory + 3 * page);
	ok(walk_frames(fp, ips, DEPTH) == 2, "or behind a hole");
	fp[64] = (uintptr_t)(fp + 8) + 1;
	ok(walk_frames(fp, ips, DEPTH) == 2, "or is not aligned");
	fp[64] = (uintptr_t)(fp + 64);
	ok(walk_frames(fp, ips, DEPTH) == 2, "or goes round");
	fp[64] = (uintptr_t)fp;
	ok(walk_frames(fp, ips, DEPTH) == 2, "or goes back");
	srand(1);
	for (i = 0; i < 20000; i++) {
		fp[2 * (i % 250)] = (uintptr_t)rand() << (rand() % 33) |
		    (i % 3 == 0 ? (uintptr_t)memory : 0);
		sums += walk_frames(fp, ips, DEPTH);
	}
	ok(sums > 0, "whatever a register holds, nothing is read outside");
	munmap(memory, 2 * page);
	munmap(memory + 3 * page, page);
}

static void *
run_thread(void *arg)
{
	void *volatile frame;
	uint32_t *bad = arg, number;
	unsigned i;

	for (i = 0; i < 3000; i++) {
		number = recurse(i % 90, &frame);
		*bad += number == 0 || depth_of(number) < i % 90;
	}
	return NULL;
}

static void
test_threads(void)
{
	pthread_t threads[4];
	uint32_t bad[4] = { 0 };
	unsigned i;

	for (i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, run_thread, &bad[i]) != 0)
			break;
	while (i > 0)
		(void)pthread_join(threads[--i], NULL);
	ok(bad[0] + bad[1] + bad[2] + bad[3] == 0,
	    "of several threads, each frame is recorded before its use");
}

static void
test_fork(void)
{
	void *volatile frame;
	int status = -1;
	pid_t child;

	(void)recurse(5, &frame);
	child = fork();
	if (child == 0) {
		memset(emitted, 0, sizeof(emitted));
		nmodules = nprograms = 0;
		_exit(depth_of(recurse(5, &frame)) >= 5 && nprograms == 1 ? 0 :
		                                                            1);
	}
	ok(child > 0 && waitpid(child, &status, 0) == child && status == 0,
	    "a child records its own frames and modules");
}

/* A module that is loaded later is recorded once, and no other again. */
static void
test_modules(void)
{
	static const char *const files[] = { "libutil.so.1", "libresolv.so.2",
		"libm.so.6", "librt.so.1" };
	void *volatile frame;
	unsigned before, i, count = 0;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (dlopen(files[i], RTLD_NOW | RTLD_NOLOAD) != NULL ||
		    dlopen(files[i], RTLD_NOW) == NULL)
			continue;
		before = nmodules;
		(void)recurse(60 + i, &frame);
		ok(nmodules == before + 1 && nprograms == 1,
		    "%s is recorded, and no other", files[i]);
		count++;
	}
	ok(count > 0, "modules to load");
}

/* Adds a note of a name and n bytes, which are 0x50 and on. */
static size_t
put_note(char *to, unsigned type, const char *name, unsigned n)
{
	const ElfW(Nhdr) note = { (ElfW(Word))strlen(name) + 1, n, type };
	const size_t room = (note.n_namesz + 3u) & ~3u;
	unsigned i;

	memcpy(to, &note, sizeof(note));
	memset(to + sizeof(note), 0, room);
	memcpy(to + sizeof(note), name, note.n_namesz);
	for (i = 0; i < ((n + 3) & ~3u); i++)
		to[sizeof(note) + room + i] = (char)(0x50 + i);
	return sizeof(note) + room + i;
}

/* A build identifier behind other notes, of any length. */
static void
test_build(void)
{
	static const struct {
		unsigned type;
		const char *name;
		unsigned bytes;
	} others[] = { { NT_GNU_BUILD_ID, "Go", 4 },
		{ NT_GNU_BUILD_ID, "Linux", 0 }, { 1, "GNU", 5 },
		{ NT_GNU_BUILD_ID, "G", 7 }, { NT_GNU_BUILD_ID, "Xen", 6 } };
	_Alignas(8) char notes[512];
	char build[66];
	struct dl_phdr_info info = { .dlpi_addr =
		                         (ElfW(Addr))(uintptr_t)notes };
	ElfW(Phdr) segment = { .p_type = PT_NOTE };
	unsigned i, n, bad = 0;
	size_t at, end;

	for (i = 0; i <= sizeof(others) / sizeof(others[0]); i++)
		for (n = 1; n <= 40; n++) {
			at = i == 0 ?
			    0 :
			    put_note(notes, others[i - 1].type,
			        others[i - 1].name, others[i - 1].bytes);
			end = at +
			    put_note(notes + at, NT_GNU_BUILD_ID, "GNU", n);
			segment.p_memsz = end;
			memset(build, 'x', sizeof(build));
			find_build(&info, &segment, build, sizeof(build));
			bad += strlen(build) != 2 * (n < 32 ? n : 32) ||
			    memcmp(build,
			        "505152535455565758595a5b5c5d5e5f"
			        "606162636465666768696a6b6c6d6e6f",
			        strlen(build)) != 0;
			/* cut off anywhere, there is none */
			for (segment.p_memsz = 0; segment.p_memsz < end;
			     segment.p_memsz++) {
				build[0] = '\0';
				find_build(&info, &segment, build,
				    sizeof(build));
				bad += build[0] != '\0';
			}
		}
	ok(bad == 0, "a build identifier of any length behind any note: %u",
	    bad);
}

/* The hash is of all frames and the generation, and of nothing else. */
static void
test_hash(void)
{
	uintptr_t ips[16];
	uint64_t hash;
	unsigned n, i, same = 0, kept = 0;

	for (n = 1; n < 13; n++) {
		for (i = 0; i < 16; i++)
			ips[i] = 0x1000u + i;
		hash = hash_stack(1, ips, n);
		same += hash_stack(2, ips, n) == hash;
		same += hash_stack(1, ips, n + 1) == hash;
		for (i = 0; i < 16; i++) {
			ips[i] ^= 1;
			same += i < n && hash_stack(1, ips, n) == hash;
			kept += i >= n && hash_stack(1, ips, n) == hash;
			ips[i] ^= i < n;
		}
	}
	ok(same == 0, "other stacks have other hashes: %u have not", same);
	ok(kept == 12 * 16 - 12 * 13 / 2, "what is beyond a stack is no part");
}

int
main(void)
{
	unsigned before;

	if (!HAS_FRAMES)
		return done();
	test_hash();
	test_build();
	ok(telrec_stack() == 0, "before the start there are no backtraces");
	telrec_stack_begin(TELREC_UNWIND_FRAMES);
	/* here, the library is the program */
	own = (struct stack_module){ 0 };
	ok(nmodules > 1 && nprograms == 1 && nforgotten == 0,
	    "the modules are recorded");
	test_recursion();
	test_garbage();
	test_threads();
	before = nmodules;
	test_fork();
	ok(nmodules == before, "modules are recorded once");
	test_modules();
	return done();
}
