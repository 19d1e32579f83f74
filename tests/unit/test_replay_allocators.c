/* SPDX-License-Identifier: BSD-2-Clause */
/* What -a names, and the allocators that are built in, against a model. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/message.h"
#include "tap.h"
#include "telreplay/run/allocator.h"

/* ------------------------------------------------------------------ names */

/* The allocators of a text: "name=number of what is built in or its library". */
static const char *
named(struct allocators *list, const char *text)
{
	static char is[2000];
	size_t i, used = 0;

	memset(list, 0, sizeof(*list));
	if (!allocators_add(list, text) || !allocators_check(list))
		return "wrong";
	for (i = 0; i < list->n; i++) {
		const struct allocator *a = &list->list[i];

		used += (size_t)snprintf(is + used, sizeof(is) - used,
		    "%s%s=%d %s%s%s", i > 0 ? ", " : "", a->name,
		    (int)a->builtin,
		    a->libraries != NULL && a->libraries[0] != NULL ?
		        a->libraries[0] :
		        "-",
		    a->parameters[0] != '\0' ? ": " : "", a->parameters);
	}
	return is;
}

static void
test_names(const char *folder)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "glibc", "glibc=0 -" },
		{ "null,bump,class", "null=4 -, bump=2 -, class=3 -" },
		{ "a=null,b=glibc", "a=4 -, b=0 -" },
		{ "jemalloc", "jemalloc=0 libjemalloc.so.2" },
		{ "mimalloc", "mimalloc=0 libmimalloc.so.2.0" },
		{ "tcmalloc", "tcmalloc=0 libtcmalloc_minimal.so.4" },
		{ "./x.so.1", "x=0 ./x.so.1" },
		{ "/a/b/x", "x=0 /a/b/x" },
		{ "n=/a/x.so", "n=0 /a/x.so" },
		{ "./a=b.so", "a=b=0 ./a=b.so" },
		{ "class:extend=1M", "class=3 -: extend=1M" },
		{ "null,class:a,b:c", "null=4 -, class=3 -: a,b:c" },
		{ "/none/a:b/x.so:1", "x=0 /none/a:b/x.so: 1" },
		{ "./t:/p/q", "t=0 ./t: /p/q" },
		{ "n=./t:/p/q", "n=0 ./t: /p/q" },
		{ "./none:/p/q", "q=0 ./none:/p/q" },
		{ "./none:p,glibc", "none=0 ./none: p,glibc" },
		{ "glibc,glibc", "wrong" },
		{ "a=glibc,glibc,a=null", "wrong" },
		{ "glib", "wrong" },
		{ "", "wrong" },
		{ "a=", "wrong" },
		{ "=glibc", "wrong" },
		{ "glibc,", "wrong" },
		{ "tables", "wrong" },
		{ "/", "wrong" },
	};
	struct allocators list;
	size_t i;
	int fd;

	if (chdir(folder) != 0 ||
	    (fd = open("t", O_CREAT | O_WRONLY, 0666)) < 0 || close(fd) != 0)
		abort();
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		is_str(named(&list, cases[i].text), cases[i].want, "-a %s",
		    cases[i].text);
		allocators_free(&list);
	}
	memset(&list, 0, sizeof(list));
	for (i = 0; i < ALLOCATORS_MAX; i++)
		(void)allocators_add(&list, "null");
	is_u64(list.n, ALLOCATORS_MAX, "as many as there is room for");
	ok(!allocators_add(&list, "null") && list.n == ALLOCATORS_MAX,
	    "and no more");
	allocators_free(&list);
	is_u64(list.n, 0, "which are gone");
	(void)unlink("t");
}

static void
test_libraries(void)
{
	struct allocators list;
	char name[4300];
	int fd;

	(void)named(&list, "./a b.so");
	ok(!allocator_use(&list.list[0], "./a b.so"), "no such file");
	fd = open("a b.so", O_CREAT | O_WRONLY, 0666);
	ok(fd >= 0 && close(fd) == 0 &&
	        allocator_use(&list.list[0], "./a b.so") &&
	        sscanf(list.list[0].library, "/proc/self/fd/%d", &fd) == 1 &&
	        fd == list.list[0].fd,
	    "a name with a blank is that of a descriptor");
	ok(fcntl(fd, F_GETFD) == 0, "which processes inherit");
	allocators_free(&list);
	ok(fcntl(fd, F_GETFD) < 0, "until it is closed");
	(void)unlink("a b.so");
	(void)named(&list, "jemalloc");
	ok(allocator_use(&list.list[0], "lib.so") &&
	        strcmp(list.list[0].library, "lib.so") == 0 &&
	        list.list[0].fd < 0,
	    "one that the loader finds");
	memset(name, 'x', sizeof(name));
	name[sizeof(list.list[0].library) - 1] = '\0';
	ok(allocator_use(&list.list[0], name), "of the most bytes");
	name[sizeof(list.list[0].library) - 1] = 'x';
	name[sizeof(list.list[0].library)] = '\0';
	ok(!allocator_use(&list.list[0], name), "and of one more");
	allocators_free(&list);
}

/* What a process has in its environment. */
static void
test_environment(void)
{
	static const char *const unset[] = { "GLIBC_TUNABLES", "MALLOC_CONF",
		"MIMALLOC_X", "OTHER", "LD_PRELOAD" };
	struct allocators list;
	char text[64];
	size_t i;

	for (i = 0; i < sizeof(unset) / sizeof(unset[0]); i++)
		(void)unsetenv(unset[i]);
	allocator_settings(text, sizeof(text));
	is_str(text, "", "no settings");
	(void)named(&list, "jemalloc:MALLOC_CONF=a:1,b  none OTHER=2 ");
	(void)setenv("LD_PRELOAD", "other.so", 1);
	(void)allocator_use(&list.list[0], "lib.so");
	ok(allocator_environment(&list.list[0]) &&
	        strcmp(getenv("LD_PRELOAD"), "lib.so") == 0 &&
	        strcmp(getenv("MALLOC_CONF"), "a:1,b") == 0 &&
	        strcmp(getenv("OTHER"), "2") == 0,
	    "assignments are made");
	(void)setenv("GLIBC_TUNABLES", "t", 1);
	(void)setenv("MIMALLOC_X", "mmm", 1);
	memset(text, 'x', sizeof(text));
	allocator_settings(text, sizeof(text));
	ok(memcmp(text, "MALLOC_CONF=a:1,b\0GLIBC_TUNABLES=t\0MIMALLOC_X=mmm\0",
	       51) == 0,
	    "settings are those of allocators");
	allocator_settings(text, 36);
	ok(memcmp(text, "MALLOC_CONF=a:1,b\0GLIBC_TUNABLES=t\0", 36) == 0,
	    "as many as fit");
	allocator_settings(text, 35);
	ok(memcmp(text, "MALLOC_CONF=a:1,b\0MIMALLOC_X=mmm\0", 34) == 0,
	    "with a NUL behind them");
	allocators_free(&list);
	(void)named(&list, "class:MALLOC_X=1");
	ok(allocator_environment(&list.list[0]) &&
	        getenv("LD_PRELOAD") == NULL && getenv("MALLOC_X") == NULL,
	    "one that is built in has neither");
	allocators_free(&list);
}

/* --------------------------------------------------------------- built in */

#define BLOCKS 4000

static const tel_pool_trace trace = { .largest = 1 << 20 };

/*
 * Bytes of memory that is no file's.  The kernel merges mappings, so that their
 * number tells nothing.
 */
static uint64_t
mapped(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	uint64_t from, to, all = 0;
	char line[512];

	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &from, &to) == 2 &&
		    strstr(line, " rw") != NULL &&
		    (strpbrk(line, "/[") == NULL ||
		        strstr(line, "/dev/zero") != NULL))
			all += to - from;
	if (f != NULL)
		(void)fclose(f);
	return all;
}

/* The usable bytes of a block of "class". */
static size_t
class_size(size_t size, size_t alignment)
{
	size_t low = 128, whole;

	if (alignment > 16 && alignment <= 32768 && size <= 32768) {
		for (low = 16; low < size || low < alignment;)
			low *= 2;
		return low;
	}
	if (size > 32768 || alignment > 32768) {
		low = alignment > 4096 ? alignment : 4096;
		whole = (size + low + 4095) / 4096 * 4096;
		return whole - low;
	}
	if (size <= 128)
		return size <= 16 ? 16 : (size + 15) / 16 * 16;
	while (low * 2 < size)
		low *= 2;
	return (size + low / 4 - 1) / (low / 4) * (low / 4);
}

struct block {
	unsigned char *at;
	size_t size;
};

static int
holds(const struct block *b, size_t i)
{
	return b->size == 0 ||
	    (b->at[0] == (unsigned char)i &&
	        b->at[b->size - 1] == (unsigned char)i);
}

/* Blocks of many sizes and alignments hold what is written, and are aligned. */
static void
test_blocks(const tel_pool_table *t, void *pool)
{
	static struct block all[BLOCKS];
	unsigned wrong = 0, sizes = 0, again = 0;
	size_t i, alignment;
	void *first;

	for (i = 0; i < BLOCKS; i++) {
		struct block *b = &all[i];

		b->size = i < 600 ? i + 1 :
		    i < 3900      ? 600 + i * i % 37000 :
		                    i * 29 % 300000 + 1;
		alignment = i % 3 == 0 ? (size_t)16 << i % 14 : 1;
		b->at = alignment > 1 ? t->aligned(pool, alignment, b->size) :
		                        t->alloc(pool, b->size);
		wrong += b->at == NULL ||
		    ((uintptr_t)b->at &
		        ((alignment > 16 ? alignment : 16) - 1)) != 0;
		sizes += t->usable != NULL &&
		    t->usable(pool, b->at, b->size) !=
		        class_size(b->size, alignment);
		b->at[0] = b->at[b->size - 1] = (unsigned char)i;
	}
	is_u64(wrong, 0, "%s: blocks are aligned", t->name);
	is_u64(sizes, 0, "of the bytes of their classes");
	for (i = 0; i < BLOCKS; i++)
		wrong += !holds(&all[i], i);
	is_u64(wrong, 0, "hold what is written");
	for (i = 1; i < BLOCKS; i += 2) {
		first = all[i].at;
		all[i].at = t->resize(pool, first, all[i].size,
		    i % 4 == 1 ? all[i].size * 2 : (all[i].size + 2) / 3);
		wrong += all[i].at[0] != (unsigned char)i;
		if (i % 4 == 1)
			wrong += all[i].at[all[i].size - 1] != (unsigned char)i;
		all[i].size = 0;
	}
	for (i = 0; i < BLOCKS; i += 2)
		wrong += !holds(&all[i], i);
	is_u64(wrong, 0, "and do so when others move");
	for (i = 0; i < BLOCKS; i++) {
		t->free(pool, all[i].at, all[i].size);
		if (i % 7 == 0 && i % 2 == 0 && all[i].size < 3000)
			again += t->alloc(pool, all[i].size) == all[i].at;
	}
	ok((again > 40) == (t == &builtin_class), "%u are used again", again);
}

static void
test_builtin(const tel_pool_table *t)
{
	uint64_t before;
	void *state, *pool, *other;

	ok(t->start("", &trace, &state) == NULL, "%s starts", t->name);
	before = mapped();
	pool = t->create(state, 0);
	other = t->create(state, 1);
	test_blocks(t, pool);
	test_blocks(t, other);
	t->destroy(pool);
	t->destroy(other);
	is_u64(mapped(), before, "%s: with a pool all its memory goes",
	    t->name);
	t->end(state);
}

static void
test_resize(void)
{
	static const struct {
		size_t from, to;
		int moves;
	} cases[] = { { 100, 112, 0 }, { 100, 113, 1 }, { 100, 57, 0 },
		{ 100, 56, 1 }, { 40000, 40960, 0 }, { 40000, 40961, 1 },
		{ 40000, 20480, 1 }, { 40000, 20481, 0 } };
	const tel_pool_table *t = &builtin_class;
	void *state, *pool, *a;
	size_t i;

	(void)t->start("extend=16k", &trace, &state);
	pool = t->create(state, 0);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		a = t->alloc(pool, cases[i].from);
		ok((t->resize(pool, a, cases[i].from, cases[i].to) != a) ==
		        cases[i].moves,
		    "from %zu to %zu bytes", cases[i].from, cases[i].to);
	}
	ok(t->alloc(pool, SIZE_MAX) == NULL &&
	        t->alloc(pool, SIZE_MAX - 8192) == NULL &&
	        t->aligned(pool, SIZE_MAX / 2 + 1, 8) == NULL,
	    "what no memory has");
	a = t->alloc(pool, 100);
	ok(t->resize(pool, a, 100, SIZE_MAX - 4096) == NULL &&
	        t->usable(pool, a, 100) == 112,
	    "leaves a block as it is");
	t->destroy(pool);
	t->end(state);
}

/* Blocks of "bump" follow each other, up to the end of a chunk. */
static void
test_bump(void)
{
	const tel_pool_table *t = &builtin_bump;
	unsigned char *a, *b, *first;
	uint64_t before;
	unsigned n = 0;
	void *state, *pool;

	(void)t->start("extend=16k", &trace, &state);
	before = mapped();
	pool = t->create(state, 0);
	a = t->alloc(pool, 1);
	b = t->alloc(pool, 17);
	ok(b == a + 16 && (unsigned char *)t->alloc(pool, 16) == b + 32,
	    "blocks take multiples of 16 bytes");
	first = t->alloc(pool, 16);
	for (b = first; (a = t->alloc(pool, 16)) == b + 16; b = a)
		n++;
	ok(n > 900 && n < 1024 && b + 16 == (unsigned char *)pool + 16384,
	    "%u fit to the end of a chunk", n);
	a = t->alloc(pool, 20000);
	memset(a, 1, 20000);
	ok(t->alloc(pool, SIZE_MAX) == NULL &&
	        t->alloc(pool, SIZE_MAX / 2) == NULL,
	    "what no memory has");
	b = t->resize(pool, a, 20000, 19000);
	ok(b == a, "none that shrinks moves");
	b = t->resize(pool, a, 20000, 20001);
	ok(b != a && b[0] == 1 && b[19999] == 1 && b[20000] == 0,
	    "one that grows does");
	t->destroy(pool);
	is_u64(mapped(), before, "all is unmapped");
	t->end(state);
}

static void
test_null(void)
{
	const tel_pool_table *t = &builtin_null;
	tel_pool_trace large = { .largest = UINT64_MAX / 2 };
	tel_pool_trace one = { .largest = 4096 };
	struct alloc_functions a = { 0 };
	uint64_t before = mapped();
	void *state;

	ok(t->start("x", &one, &state) != NULL, "null has no parameters");
	ok(t->start("", &large, &state) != NULL, "nor a block of all memory");
	ok(t->start("", &one, &state) == NULL, "null starts");
	memset(state, 1, 4096);
	ok(t->alloc(state, 5) == state && t->zeroed(state, 5) == state &&
	        t->aligned(state, 64, 5) == state &&
	        t->resize(state, state, 5, 6) == state,
	    "each block is the same");
	a.state = state;
	a.pool = t;
	builtin_null_functions(&a);
	ok(a.pool == NULL && a.malloc(5) == state && a.calloc(5, 6) == state &&
	        a.aligned(64, 5) == state && a.realloc(state, 9) == state,
	    "as malloc, too");
	a.free(state);
	t->end(state);
	is_u64(mapped(), before, "it is unmapped");
}

static void
test_parameters(void)
{
	static const struct {
		const char *text;
		size_t grain, want; /* 0: refused */
	} cases[] = { { "", 1, 1 << 20 }, { "extend=16k", 4096, 16384 },
		{ "extend=16385", 4096, 20480 }, { "extend=16383", 1, 0 },
		{ "extend=20000", 16, 20000 }, { "extend=", 1, 0 },
		{ "extend=1M", 1 << 18, 1 << 20 }, { "extend", 1, 0 },
		{ "size=16k", 1, 0 }, { "extend=2T", 1, 0 },
		{ "extend=1x", 1, 0 }, { "extend:16k", 1, 0 } };
	const char *wrong;
	void *state;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		wrong = builtin_start(cases[i].text, cases[i].grain, &state);
		ok((wrong != NULL) == (cases[i].want == 0) &&
		        (wrong != NULL || *(size_t *)state == cases[i].want),
		    "parameters '%s'", cases[i].text);
		if (wrong == NULL)
			builtin_end(state);
	}
	ok(builtin_start("extend=1T", 1, &state) == NULL || sizeof(i) < 8,
	    "the most");
	ok(builtin_number(BUILTIN_NONE) == NULL &&
	        builtin_number(BUILTIN_NULL_MALLOC) == &builtin_null &&
	        builtin_number(BUILTIN_NULL_MALLOC + 1) == NULL,
	    "numbers of what is built in");
}

int
main(void)
{
	char folder[] = "/tmp/allocators-XXXXXX";

	message_begin("telreplay");
	/* what its own file takes is there */
	(void)mapped();
	if (mkdtemp(folder) == NULL) {
		diag("no folder");
		return 1;
	}
	test_names(folder);
	test_libraries();
	if (chdir("/") != 0 || rmdir(folder) != 0)
		diag("%s is left", folder);
	test_environment();
	test_builtin(&builtin_class);
	test_builtin(&builtin_bump);
	test_resize();
	test_bump();
	test_null();
	test_parameters();
	return done();
}
