/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Backtraces of allocations: walking the stack, and numbering the frames.
 *
 * A backtrace is a number, that of its innermost frame: each frame is a node
 * of a tree, an instruction and the node of its caller, and is recorded once,
 * before the first allocation that uses it.  A cache by a hash of 58 bits of
 * all instructions finds the number of a backtrace that occurred before.
 *
 * Everything is in memory of its own, without locks, that a forked child finds
 * empty: its frames are other ones, as its addresses are those of another
 * process.
 */
#define _GNU_SOURCE
#include "telrec/preload/stack.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "telrec/preload/ring.h"

/* Documented limit: frames of a backtrace, the innermost ones. */
#define DEPTH 128
/* Further frames that are looked at: those of this library. */
#define OWN_FRAMES 8

#if UINTPTR_MAX > UINT32_MAX
#define NODE_BITS 22
#else
#define NODE_BITS 18
#endif
/* Documented limit: nodes of a process; further frames are cut off. */
#define NODES ((uint32_t)1 << NODE_BITS)
#define SLOTS (2 * NODES)
#define CACHE_BITS 18
/* Bits of a node's number in the cache; the others are of the hash. */
#define NUMBER_BITS 24
#define MODULES 1024u
/* A root's caller: nothing, in the modules as they were then. */
#define ROOT 0x80000000u

struct stack_node {
	uint64_t ip;
	uint32_t parent;
	uint32_t unused;
};

struct stack_module {
	uintptr_t start, end; /* of the executable part */
	uintptr_t bias;
	uint64_t file; /* a hash of its name and build identifier */
};

static struct stack_table {
	uint64_t cache[(size_t)1 << CACHE_BITS];
	uint32_t slots[SLOTS]; /* numbers of nodes; 0: free */
	struct stack_node nodes[NODES];
	uint32_t used;     /* numbers of nodes */
	uint32_t modules;  /* that are complete */
	uint32_t scanning; /* a thread looks for modules */
	uint32_t loading;  /* the dynamic linker may be adding a module */
	uint32_t generation;
	uint64_t adds, subs; /* of the dynamic linker, at the last look */
	struct stack_module module[MODULES];
} * table;

static enum telrec_unwind way;
static int (*unw_backtrace_fn)(void **, int);
/* Where this library is, whose frames are left out, and the dynamic linker. */
static struct stack_module own, linker;

/*
 * Threads in libunwind or the dynamic linker, and forks, which wait until there
 * are none: a child would find the locks that they hold taken for ever.
 */
static uint32_t inside, forks;

static __thread struct {
	uintptr_t lo, hi; /* mapped memory: this stack, as far as is known */
	uint32_t seen;    /* nodes that were there at a reading of the clock */
	uint32_t inside;
	int busy;
} self __attribute__((tls_model("initial-exec")));

/* ----------------------------------------------------------------- forks */

/*
 * Waits until a number is 0; 0 if it still is not after a second: who has it may
 * wait for what this thread holds.
 */
static int
stack_wait(const uint32_t *number)
{
	/* as the kernel has it, whatever time_t is */
	const long moment[2] = { 0, 50000 };
	const int kept = errno;
	unsigned n = ring_calls_forbidden() ? 20000 : 0;

	while (__atomic_load_n(number, __ATOMIC_SEQ_CST) != 0 && n++ < 20000)
		(void)syscall(SYS_nanosleep, moment, NULL);
	errno = kept;
	return n < 20000;
}

/* Before a call that takes locks of libunwind or of the dynamic linker. */
static void
stack_enter(void)
{
	self.inside = 1;
	__atomic_fetch_add(&inside, 1, __ATOMIC_SEQ_CST);
	while (!RING_LIKELY(__atomic_load_n(&forks, __ATOMIC_SEQ_CST) == 0)) {
		__atomic_fetch_sub(&inside, 1, __ATOMIC_SEQ_CST);
		const int over = stack_wait(&forks);
		__atomic_fetch_add(&inside, 1, __ATOMIC_SEQ_CST);
		if (!over)
			return;
	}
}

static void
stack_leave(void)
{
	__atomic_fetch_sub(&inside, 1, __ATOMIC_SEQ_CST);
	self.inside = 0;
}

void
telrec_stack_before_fork(void)
{
	__atomic_fetch_add(&forks, 1, __ATOMIC_SEQ_CST);
	/* in a handler of a signal, it may be this thread */
	if (!self.inside)
		(void)stack_wait(&inside);
}

void
telrec_stack_after_fork(void)
{
	__atomic_fetch_sub(&forks, 1, __ATOMIC_SEQ_CST);
}

void
telrec_stack_in_child(void)
{
	inside = self.inside;
	forks = 0;
}

/* dl_iterate_phdr(3). */
static int
stack_iterate(int (*take)(struct dl_phdr_info *, size_t, void *), void *arg)
{
	stack_enter();
	const int st = dl_iterate_phdr(take, arg);
	stack_leave();
	return st;
}

/* -------------------------------------------------------------- modules */

static const char digits[] = "0123456789abcdef";

/* The build identifier, in hexadecimal; the program's begins with '!'. */
static void
find_build(const struct dl_phdr_info *info, const ElfW(Phdr) * notes, char *out,
    size_t room)
{
	const char *p = (const char *)(info->dlpi_addr + notes->p_vaddr);
	const char *end = p + notes->p_memsz;
	ElfW(Nhdr) note;
	size_t i, name, desc;

	while ((size_t)(end - p) >= sizeof(note)) {
		memcpy(&note, p, sizeof(note));
		name = ((size_t)note.n_namesz + 3) & ~(size_t)3;
		desc = ((size_t)note.n_descsz + 3) & ~(size_t)3;
		p += sizeof(note);
		if (name > (size_t)(end - p) || desc > (size_t)(end - p) - name)
			return;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    memcmp(p, "GNU", 4) == 0) {
			for (i = 0; i < note.n_descsz && 2 * i + 2 < room;
			     i++) {
				out[2 * i] =
				    digits[(unsigned char)p[name + i] >> 4];
				out[2 * i + 1] =
				    digits[(unsigned char)p[name + i] & 15];
			}
			out[2 * i] = '\0';
			return;
		}
		p += name + desc;
	}
}

static uint64_t
stack_mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

/* Where a module has its code, and what it is; 0: it has none. */
static int
find_code(const struct dl_phdr_info *info, const char *build,
    struct stack_module *m)
{
	const char *name = info->dlpi_name != NULL ? info->dlpi_name : "";

	*m = (struct stack_module){ UINTPTR_MAX, 0, info->dlpi_addr, 0 };
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD || (p->p_flags & PF_X) == 0)
			continue;
		uintptr_t lo = info->dlpi_addr + p->p_vaddr;
		uintptr_t hi = lo + p->p_memsz;
		m->start = lo < m->start ? lo : m->start;
		m->end = hi > m->end ? hi : m->end;
	}
	for (; *name != '\0'; name++)
		m->file = stack_mix(m->file, (unsigned char)*name);
	for (; *build != '\0'; build++)
		m->file = stack_mix(m->file, (unsigned char)*build);
	return m->end > 0;
}

/* Whether a module is known; *replaces is set if another was in its place. */
static int
stack_knows(const struct stack_table *t, const struct stack_module *m,
    int *replaces)
{
	for (uint32_t i = 0; i < t->modules; i++) {
		const struct stack_module *k = &t->module[i];

		if (k->start == m->start && k->end == m->end &&
		    k->bias == m->bias && k->file == m->file)
			return 1;
		*replaces |= m->start < k->end && k->start < m->end;
	}
	return 0;
}

/* The path of a module, which is relative if it was loaded by one. */
static void
stack_find_path(const char *name, int is_program, char *path, size_t room)
{
	const int kept = errno;
	size_t used = 0;
	ssize_t n = 0;

	if (name == NULL)
		name = "";
	if (is_program && name[0] == '\0')
		n = readlink("/proc/self/exe", path, room - 1);
	else if (name[0] != '/' && strchr(name, '/') != NULL)
		n = readlink("/proc/self/cwd", path, room - 1);
	if (n > 0)
		used = (size_t)n;
	if (used > 0 && !is_program && used < room - 1)
		path[used++] = '/';
	n = (ssize_t)strnlen(name, room - 1 - used);
	memcpy(path + used, name, (size_t)n);
	path[used + (size_t)n] = '\0';
	errno = kept;
}

/*
 * A callback of dl_iterate_phdr(3): records a module that is new.  1: it is in
 * the place of one that was recorded, and is gone.
 */
static int
take_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	int *count = arg, first = (*count)++ == 0, replaces = 0, i;
	struct stack_table *t = table;
	struct stack_module m;
	char build[66] = "", path[400] = "";

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_NOTE &&
		    build[first] == '\0')
			find_build(info, &info->dlpi_phdr[i], build + first,
			    sizeof(build) - (size_t)first);
	if (first)
		build[0] = '!';
	if (!find_code(info, build, &m) || stack_knows(t, &m, &replaces))
		return 0;
	if (replaces)
		return 1;
	if (t->modules == MODULES)
		return 0;
	stack_find_path(info->dlpi_name, first, path, sizeof(path));
	t->module[t->modules] = m;
	__atomic_store_n(&t->modules, t->modules + 1, __ATOMIC_RELEASE);
	telrec_emit_module(m.start, m.bias, path, build);
	return 0;
}

/* The same: reads the numbers of modules ever added and removed. */
static int
take_changes(struct dl_phdr_info *info, size_t size, void *arg)
{
	uint64_t *changes = arg;

	(void)size;
	changes[0] = info->dlpi_adds;
	changes[1] = info->dlpi_subs;
	return 1;
}

/*
 * Looks for modules that are new.  Those that are gone are kept until another
 * one has their place: then the cached names of instructions are stale, and all
 * modules are recorded again.
 */
static void
scan_modules(struct stack_table *t)
{
	uint64_t changes[2] = { 0, 0 };
	uint32_t free = 0;
	int count = 0;

	/* a queue of records, of a signal handler, has no room for modules */
	if (ring_self.ring != NULL && ARENA_NOW(ring_self.ring->open))
		return;
	ARENA_SET(t->loading, 0);
	(void)stack_iterate(take_changes, changes);
	if (changes[0] == t->adds && changes[1] == t->subs && t->modules > 0)
		return;
	if (!__atomic_compare_exchange_n(&t->scanning, &free, 1, 0,
	        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		ARENA_SET(t->loading, 1);
		return;
	}
	t->adds = changes[0];
	t->subs = changes[1];
	if (stack_iterate(take_module, &count) != 0) {
		t->modules = 0;
		__atomic_fetch_add(&t->generation, 1, __ATOMIC_RELAXED);
		count = 0;
		(void)stack_iterate(take_module, &count);
	}
	__atomic_store_n(&t->scanning, 0, __ATOMIC_RELEASE);
}

static int
is_code(const struct stack_table *t, uintptr_t ip)
{
	uint32_t i, n = __atomic_load_n(&t->modules, __ATOMIC_ACQUIRE);

	for (i = 0; i < n; i++)
		if (ip >= t->module[i].start && ip < t->module[i].end)
			return 1;
	return 0;
}

static int
is_in(const struct stack_module *m, uintptr_t ip)
{
	return ip >= m->start && ip < m->end;
}

/* A callback of dl_iterate_phdr(3): finds this library and the linker. */
static int
find_own(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct stack_module m;

	(void)size;
	if (find_code(info, "", &m) && is_in(&m, (uintptr_t)arg))
		own = m;
	else if (m.bias != 0 && m.bias == getauxval(AT_BASE))
		linker = m;
	return 0;
}

/* ---------------------------------------------------------------- nodes */

/* The number of a node, which is added if it is new; 0: the table is full. */
static uint32_t
stack_find_node(struct stack_table *t, uint64_t ip, uint32_t parent)
{
	uint64_t hash = stack_mix(stack_mix(0, ip), parent);
	uint32_t at = (uint32_t)(hash >> 32) & (SLOTS - 1), found, made = 0;
	uint32_t probes = 0;

	for (;; at = (at + 1) & (SLOTS - 1)) {
		if (++probes > 1024)
			return 0;
		found = __atomic_load_n(&t->slots[at], __ATOMIC_ACQUIRE);
		if (found == 0 && made == 0) {
			if (__atomic_load_n(&t->used, __ATOMIC_RELAXED) + 1 >=
			    NODES)
				return 0;
			made =
			    __atomic_add_fetch(&t->used, 1, __ATOMIC_SEQ_CST);
			if (made >= NODES)
				return 0;
			t->nodes[made].ip = ip;
			t->nodes[made].parent = parent;
			/* others may use it as soon as it is in its slot */
			telrec_emit_trace(made, ip, parent & ROOT ? 0 : parent);
		}
		if (found == 0 &&
		    __atomic_compare_exchange_n(&t->slots[at], &found, made, 0,
		        __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
			return made;
		if (t->nodes[found].ip == ip &&
		    t->nodes[found].parent == parent)
			return found;
	}
}

/* The number of a backtrace that the cache lacks. */
static uint32_t
find_stack(struct stack_table *t, uintptr_t *ips, unsigned n)
{
	scan_modules(t);
	/* an address outside code was not a frame: nor is what follows it */
	for (unsigned i = 0; way == TELREC_UNWIND_FRAMES && i < n; i++)
		if (!is_code(t, ips[i]))
			n = i;
	uint32_t node = ROOT | (ARENA_NOW(t->generation) & (ROOT - 1));
	while (n > 0) {
		uint32_t next = stack_find_node(t, ips[--n], node);

		if (next == 0)
			break;
		node = next;
	}
	return node & ROOT ? 0 : node;
}

/* --------------------------------------------------------------- stacks */

#if defined(__x86_64__) || defined(__i386__) || defined(__aarch64__)
#define HAS_FRAMES 1
#else
#define HAS_FRAMES 0
#endif

/*
 * Whether there is memory: the call fails if there is a hole, and does nothing
 * else.  msync(2) would be a point of cancellation.
 */
static int
stack_sync(uintptr_t from, size_t bytes)
{
	return syscall(SYS_msync, from, bytes, MS_ASYNC) == 0;
}

/*
 * Whether all of the stack up to end is mapped.  Reading memory must never
 * fail: in code without frame pointers the register may have any value.
 */
static __attribute__((noinline)) int
is_mapped(uintptr_t sp, uintptr_t end)
{
	const uintptr_t page = 4096, most = (uintptr_t)1 << 27;
	uintptr_t from, to = (end + page - 1) & ~(page - 1);
	const int kept = errno;

	if (sp < self.lo && self.lo - sp < most && !ring_calls_forbidden() &&
	    stack_sync(sp & ~(page - 1), self.lo - (sp & ~(page - 1))))
		self.lo = sp & ~(page - 1);
	if (sp < self.lo || sp >= self.hi) {
		/* another stack; the page of its pointer is there */
		self.lo = sp & ~(page - 1);
		self.hi = self.lo + page;
	}
	if (end <= self.hi) {
		errno = kept;
		return 1;
	}
	if (to < end || to - self.hi > most || ring_calls_forbidden())
		return 0;
	from = self.hi;
	int mapped = stack_sync(from, to - from);
	if (mapped)
		self.hi = to;
	errno = kept;
	return mapped;
}

/* The return addresses by frame pointers, the innermost first. */
static inline __attribute__((no_sanitize_address)) unsigned
walk_frames(const uintptr_t *fp, uintptr_t *ips, unsigned most)
{
	const uintptr_t sp = (uintptr_t)fp;
	unsigned n = 0;

	if (sp < self.lo || sp >= self.hi)
		(void)is_mapped(sp, sp);
	/*
	 * A stack grows downwards: callers are above.  A stack that grew down
	 * is mapped from here on.
	 */
	if (sp < self.lo)
		return 0;
	while (n < most) {
		if (((uintptr_t)fp & (sizeof(*fp) - 1)) != 0 ||
		    (uintptr_t)(fp + 2) < (uintptr_t)fp)
			break;
		if ((uintptr_t)(fp + 2) > self.hi &&
		    !is_mapped(sp, (uintptr_t)(fp + 2)))
			break;
		if (fp[1] < 4096)
			break;
		ips[n++] = fp[1];
		const uintptr_t *next = (const uintptr_t *)fp[0];
		if (next <= fp)
			break;
		fp = next;
	}
	return n;
}

/* Leaves out frames of this library.  The number of frames. */
static inline unsigned
skip_own(uintptr_t **ips, unsigned n)
{
	while (n > 0 && is_in(&own, **ips)) {
		(*ips)++;
		n--;
	}
	return n < DEPTH ? n : DEPTH;
}

static inline uint64_t
add_frame(uint64_t hash, uintptr_t ip, unsigned i)
{
	return (hash ^ ip) * UINT64_C(0x9e3779b97f4a7c15) + i;
}

/*
 * A hash of all frames.  Each multiplication waits for the one before it: so
 * there are four hashes, of every fourth frame, until the end.
 */
static inline uint64_t
hash_stack(uint32_t generation, const uintptr_t *ips, unsigned n)
{
	uint64_t a = generation + 1u, b = n, c = 2, d = 3;
	unsigned i;

	for (i = 0; n - i >= 4; i += 4) {
		a = add_frame(a, ips[i], i);
		b = add_frame(b, ips[i + 1], i);
		c = add_frame(c, ips[i + 2], i);
		d = add_frame(d, ips[i + 3], i);
	}
	if (n - i > 0)
		a = add_frame(a, ips[i], i);
	if (n - i > 1)
		b = add_frame(b, ips[i + 1], i);
	if (n - i > 2)
		c = add_frame(c, ips[i + 2], i);
	return stack_mix(stack_mix(stack_mix(a, b), c), d);
}

/* The same by tables.  libunwind makes calls that are points of cancellation. */
static unsigned
stack_unwind(void **ips)
{
	int state, got;

	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	stack_enter();
	got = unw_backtrace_fn(ips, DEPTH + OWN_FRAMES);
	stack_leave();
	(void)pthread_setcancelstate(state, NULL);
	return got > 0 ? (unsigned)got : 0;
}

__attribute__((noinline)) uint32_t
telrec_stack(void)
{
	uintptr_t room[DEPTH + OWN_FRAMES], *ips = room;
	struct stack_table *t = table;
	uint32_t number;
	unsigned n;

	if (t == NULL || self.busy)
		return 0;
	self.busy = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (way == TELREC_UNWIND_FRAMES)
		n = walk_frames(__builtin_frame_address(0), room,
		    DEPTH + OWN_FRAMES);
	else if (ring_calls_forbidden())
		n = 0;
	else
		n = stack_unwind((void **)room);
	n = skip_own(&ips, n);
	/* it allocates for each module: the next that others allocate is in time */
	if (n > 0 && is_in(&linker, ips[0]))
		ARENA_SET(t->loading, 1);
	else if (!RING_LIKELY(ARENA_NOW(t->loading) == 0))
		scan_modules(t);
	uint64_t hash = hash_stack(ARENA_NOW(t->generation), ips, n);
	uint64_t *cached = &t->cache[hash & (((uint64_t)1 << CACHE_BITS) - 1)];
	hash >>= NUMBER_BITS;
	uint64_t entry = __atomic_load_n(cached, __ATOMIC_RELAXED);
	number = (uint32_t)(entry & (((uint32_t)1 << NUMBER_BITS) - 1));
	if (!RING_LIKELY(entry >> NUMBER_BITS == hash && number != 0) &&
	    n > 0) {
		number = find_stack(t, ips, n);
		__atomic_store_n(cached, hash << NUMBER_BITS | number,
		    __ATOMIC_RELEASE);
	} else if (n == 0) {
		number = 0;
	}
	if (!RING_LIKELY(number < self.seen)) {
		/* another thread may have recorded it, just now */
		self.seen = __atomic_load_n(&t->used, __ATOMIC_SEQ_CST) + 1;
		telrec_fresh_clock();
	}
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	self.busy = 0;
	return number;
}

/* Loads libunwind, without what it allocates being recorded. */
static int
load_unwinder(void)
{
	void *warm[4];

	ring_mute(1);
	void *handle = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
	if (handle != NULL)
		*(void **)&unw_backtrace_fn = dlsym(handle, "unw_backtrace");
	else
		(void)dlerror(); /* the program must not get it as its own */
	/* what it does only once */
	if (unw_backtrace_fn != NULL)
		(void)unw_backtrace_fn(warm, 4);
	ring_mute(0);
	return unw_backtrace_fn != NULL;
}

void
telrec_stack_begin(enum telrec_unwind how)
{
	void *p;

	if (how == TELREC_UNWIND_NONE || table != NULL)
		return;
	way = how;
	if (how == TELREC_UNWIND_TABLES && !load_unwinder()) {
		way = TELREC_UNWIND_FRAMES;
		ARENA_SET(ring_shared.arena->frames, 1);
	}
	if (way == TELREC_UNWIND_FRAMES && !HAS_FRAMES)
		return;
	p = mmap(NULL, sizeof(struct stack_table), PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return;
#ifdef MADV_WIPEONFORK
	(void)madvise(p, sizeof(struct stack_table), MADV_WIPEONFORK);
#endif
	(void)dl_iterate_phdr(find_own, (void *)(uintptr_t)&telrec_stack_begin);
	table = p;
	scan_modules(table);
}
