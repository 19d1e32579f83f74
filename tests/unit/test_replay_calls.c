/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a run asks of an allocator: each call, what it wrote to the blocks, and
 * what it counted, with every option, as tests/data/telreplay has it.  The
 * allocator writes the calls down, and fails where it is told to.
 */
#include "telreplay/run/run_inside.h"

#include <unistd.h>

#include "golden.h"
#include "program_make.h"
#include "trace_write.h"

static char folder[] = "/tmp/telreplay-XXXXXX";
static char output[64], output_pages[64];

/* ---------------------------------------------------------- the allocator */

#define ARENA ((size_t)8 << 20)
#define BLOCKS 4096
#define NO_BLOCK 9999u
#define FRESH 0xa5 /* what a block has before it is written to */

static unsigned char arena[ARENA] __attribute__((aligned(1 << 16)));
static size_t arena_used;
static struct {
	unsigned char *at;
	size_t size;
	int live, pool;
} block[BLOCKS];
static unsigned blocks, calls, pools, buffers;
static FILE *list;
static size_t listed; /* characters of the line */
static int summed;    /* the calls are not listed, only their sum is */
static uint64_t sum;
static FILE *pages; /* what is resident */
static int pages_known = 1;
static unsigned runs, unbalanced, mistaken, untimed;

/* Failures that a case requests; 0: none. */
static struct fault {
	unsigned null_each;  /* a call in so many returns NULL */
	unsigned dirty_each; /* calloc leaves a byte */
	unsigned shift_each; /* an address is too large by .shift */
	size_t shift;
	unsigned break_each;  /* a byte of some block changes */
	unsigned commit_each; /* a commit fails */
} fault;

static int
is_due(unsigned each)
{
	return each > 0 && calls % each == each - 1;
}

/* Writes a call down, in lines that fit a screen. */
__attribute__((format(printf, 1, 2))) static void
note(const char *format, ...)
{
	char text[128];
	va_list ap;
	size_t i;

	va_start(ap, format);
	(void)vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	for (i = 0; summed && text[i] != '\0'; i++)
		sum = (sum ^ (unsigned char)text[i]) * 1099511628211u;
	if (summed)
		return;
	if (listed + strlen(text) > 76) {
		fputs("\n", list);
		listed = 0;
	}
	listed += strlen(text) + 1;
	fprintf(list, " %s", text);
}

static unsigned
number_of(const void *p)
{
	unsigned i;

	for (i = blocks; i-- > 0;)
		if (block[i].at == p)
			return i;
	return NO_BLOCK;
}

/* What was written to the first bytes of a block: a sum, and where. */
static void
contents(char *text, size_t room, const unsigned char *p, size_t size)
{
	size_t i, n = 0, first = 0, last = 0;
	uint32_t all = 2166136261u;

	for (i = 0; i < size; i++) {
		all = (all ^ p[i]) * 16777619u;
		if (p[i] == FRESH)
			continue;
		first = n++ == 0 ? i : first;
		last = i;
	}
	text[0] = '\0';
	if (n > 0)
		(void)snprintf(text, room, "#%u+%u/%u.%x", (unsigned)first,
		    (unsigned)last, (unsigned)n, (unsigned)(all >> 12));
}

static void *
give(char how, size_t alignment, size_t size, int pool)
{
	unsigned char *p;

	if (blocks == BLOCKS || size + alignment > ARENA - arena_used)
		abort();
	calls++;
	if (is_due(fault.null_each)) {
		note("%c%u=NULL", how, (unsigned)size);
		return NULL;
	}
	p = arena + arena_used;
	p += -(uintptr_t)p & (alignment - 1);
	if (is_due(fault.shift_each))
		p += fault.shift;
	arena_used = (size_t)(p + size + 64 - arena);
	memset(p, FRESH, size);
	block[blocks].at = p;
	block[blocks].size = size;
	block[blocks].pool = pool;
	block[blocks].live = 1;
	if (fault.break_each > 0 && is_due(fault.break_each) && blocks > 3 &&
	    block[blocks - 3].size > 0)
		block[blocks - 3].at[calls % block[blocks - 3].size] ^= 0x11;
	note("%c%u,%u=%u", how, (unsigned)alignment, (unsigned)size, blocks);
	blocks++;
	return p;
}

static void
take_back(char how, void *p, size_t size)
{
	unsigned i = number_of(p);
	char text[64];

	calls++;
	if (p == NULL) {
		note("%c-", how);
		return;
	}
	if (i == NO_BLOCK || !block[i].live) {
		note("%c?", how);
		return;
	}
	contents(text, sizeof(text), p, block[i].size);
	block[i].live = 0;
	if (size != SIZE_MAX)
		note("%c%u,%u%s", how, i, (unsigned)size, text);
	else
		note("%c%u%s", how, i, text);
}

static void *
rec_malloc(size_t size)
{
	return give('m', 16, size, 0);
}

static void *
zeroed(char how, size_t size, int pool)
{
	unsigned char *p = give(how, 16, size, pool);

	if (p != NULL && size > 0) {
		memset(p, 0, size);
		p[calls % size] = (unsigned char)is_due(fault.dirty_each);
	}
	return p;
}

static void *
rec_calloc(size_t count, size_t size)
{
	return zeroed('c', count * size, 0);
}

static void *
rec_aligned(size_t alignment, size_t size)
{
	return give('a', alignment, size, 0);
}

static void *
move(void *p, size_t size, int pool)
{
	unsigned i = number_of(p);
	void *to = give('r', 16, size, pool);

	if (p == NULL || to == NULL)
		return to;
	memcpy(to, p, size < block[i].size ? size : block[i].size);
	take_back('>', p, SIZE_MAX);
	return to;
}

static void *
rec_realloc(void *p, size_t size)
{
	return move(p, size, 0);
}

static void
rec_free(void *p)
{
	mistaken += p != NULL && number_of(p) == NO_BLOCK;
	take_back('f', p, SIZE_MAX);
}

static void *
rec_new(size_t size)
{
	return give('n', 16, size, 0);
}

static void
rec_delete(void *p)
{
	take_back('d', p, SIZE_MAX);
}

static void
rec_delete_sized(void *p, size_t size)
{
	take_back('D', p, size);
}

static void
rec_free_sized(void *p, size_t size)
{
	take_back('F', p, size);
}

static size_t
rec_usable(void *p)
{
	unsigned i = number_of(p);

	return i == NO_BLOCK ? 0 : (block[i].size + 8) | 7;
}

static const struct alloc_functions full = { .malloc = rec_malloc,
	.calloc = rec_calloc,
	.aligned = rec_aligned,
	.realloc = rec_realloc,
	.free = rec_free,
	.new = rec_new,
	.delete = rec_delete,
	.delete_sized = rec_delete_sized,
	.free_sized = rec_free_sized,
	.usable = rec_usable };
static const struct alloc_functions least = { .malloc = rec_malloc,
	.calloc = rec_calloc,
	.aligned = rec_aligned,
	.realloc = rec_realloc,
	.free = rec_free };
static const struct alloc_functions some = { .malloc = rec_malloc,
	.calloc = rec_calloc,
	.aligned = rec_aligned,
	.realloc = rec_realloc,
	.free = rec_free,
	.delete = rec_delete };

/* ------------------------------------------------------------------ pools */

/* Pools and buffers are numbers in these arrays. */
static char pool_at[64], buffer_at[64];

static int
pool_number(const void *p)
{
	return (int)((const char *)p - pool_at);
}

static void *
pool_create(void *state, uint64_t number)
{
	note("P%x=%u%s", (unsigned)number, ++pools,
	    state == pool_at ? "" : "?");
	return &pool_at[pools];
}

static void *
pool_create_as(void *state, uint64_t number, const char *description)
{
	note("'%s'", description);
	return pool_create(state, number);
}

static void
pool_destroy(void *pool)
{
	note("X%d", pool_number(pool));
}

static int
pool_internal(void *pool)
{
	return pool_number(pool) % 3 == 2;
}

static void *
pool_alloc(void *pool, size_t size)
{
	note("%d:", pool_number(pool));
	return give('m', 16, size, pool_number(pool));
}

static void *
pool_zeroed(void *pool, size_t size)
{
	note("%d:", pool_number(pool));
	return zeroed('c', size, pool_number(pool));
}

static void *
pool_aligned(void *pool, size_t alignment, size_t size)
{
	note("%d:", pool_number(pool));
	return give('a', alignment, size, pool_number(pool));
}

static void *
pool_resize(void *pool, void *p, size_t from, size_t to)
{
	note("%d:%u", pool_number(pool), (unsigned)from);
	return move(p, to, pool_number(pool));
}

static void
pool_free(void *pool, void *p, size_t size)
{
	note("%d:", pool_number(pool));
	take_back('f', p, size);
}

/* That of a pool without parts, which is given the size of the block. */
static void
pool_free_whole(void *pool, void *p, size_t size)
{
	unsigned i = number_of(p);

	mistaken += i == NO_BLOCK || block[i].size != size ||
	    block[i].pool != pool_number(pool);
	pool_free(pool, p, size);
}

static void
pool_free_part(void *pool, void *part, size_t size)
{
	note("%d:p%u,%u", pool_number(pool),
	    (unsigned)((unsigned char *)part - arena), (unsigned)size);
}

static size_t
pool_usable(void *pool, void *p, size_t size)
{
	note("%d:u%u,%u", pool_number(pool), number_of(p), (unsigned)size);
	return (size + 8) | 7;
}

static void *
buffer_create(void *pool)
{
	note("B%d=%u", pool_number(pool), ++buffers);
	return &buffer_at[buffers];
}

static void
buffer_destroy(void *buffer)
{
	note("Y%d", (int)((char *)buffer - buffer_at));
}

static void *
buffer_reserve(void *buffer, size_t size)
{
	note("b%d:", (int)((char *)buffer - buffer_at));
	return give('R', 16, size, 0);
}

static int
buffer_commit(void *buffer, void *p, size_t size)
{
	calls++;
	note("C%d:%u,%u", (int)((char *)buffer - buffer_at), number_of(p),
	    (unsigned)size);
	return !is_due(fault.commit_each);
}

static void
pool_roots(void *state, void **first, size_t count)
{
	note("roots %u%s", (unsigned)count,
	    first != NULL && state == pool_at ? "" : "?");
}

static const tel_pool_table pool_least = { .version = TEL_POOL_VERSION,
	.alloc = pool_alloc,
	.free = pool_free_whole };
static const tel_pool_table pool_plain = { .version = TEL_POOL_VERSION,
	.create = pool_create,
	.destroy = pool_destroy,
	.alloc = pool_alloc,
	.free = pool_free_whole,
	.reserve = pool_alloc,
	.usable = pool_usable };
static const tel_pool_table pool_full = { .version = TEL_POOL_VERSION,
	.create_as = pool_create_as,
	.destroy = pool_destroy,
	.internal = pool_internal,
	.alloc = pool_alloc,
	.zeroed = pool_zeroed,
	.aligned = pool_aligned,
	.resize = pool_resize,
	.free = pool_free,
	.free_part = pool_free_part,
	.usable = pool_usable,
	.buffer_create = buffer_create,
	.buffer_destroy = buffer_destroy,
	.reserve = buffer_reserve,
	.commit = buffer_commit,
	.roots = pool_roots };

/* ------------------------------------------------------------------- runs */

static void
note_phase(void *arg, enum run_phase phase)
{
	(void)arg;
	/* that is not there without the kernel's pagemap */
	if (phase != RUN_PEAK)
		note("[%d]", (int)phase);
}

static void
list_wrong(const struct run_shared_stats *b)
{
	const struct run_error *e;
	unsigned i;

	for (i = 0; i < RUN_WRONGS; i++) {
		e = &b->wrong[i];
		if (e->count == 0)
			continue;
		note("wrong%u*%u", i, (unsigned)e->count);
		note("at %u.%u.%" PRIx32, (unsigned)e->chunk, e->thread,
		    e->position);
		note("+%u", (unsigned)e->offset);
		note("%u", number_of((const void *)(uintptr_t)e->address));
		if (e->other != 0)
			note("in%u",
			    number_of((const void *)(uintptr_t)e->other));
	}
}

/* What was counted, but for times. */
static void
list_counts(const struct run_shared_stats *b)
{
	unsigned i, k, taken, freed;

	for (i = 0; i < RUN_KINDS; i++)
		note("%u/%u", (unsigned)b->operations[i],
		    (unsigned)b->latency[i].count);
	for (i = 0; i < RUN_SIZES; i++) {
		taken = freed = 0;
		for (k = 0; k < RUN_COARSE; k++) {
			taken += b->size_time[i].allocated[k];
			freed += b->size_time[i].freed[k];
		}
		if (taken + freed > 0)
			note("t%u=%u,%u", i, taken, freed);
		if (b->slack[i].blocks > 0)
			note("s%u=%u,%u,%u", i, (unsigned)b->slack[i].blocks,
			    (unsigned)b->slack[i].asked,
			    (unsigned)b->slack[i].given);
	}
	for (i = 0; i < b->threads; i++)
		note("thread%u=%u,%u", i,
		    (unsigned)b->thread[i].times.operations,
		    (unsigned)b->thread[i].state);
	note("live%d,%u", (int)b->live_bytes, (unsigned)b->live_peak);
	note("room%d", (int)b->room);
	note("%u,%u", (unsigned)b->asked, (unsigned)b->given);
	note("failed%u errors%u", (unsigned)b->failures, (unsigned)b->errors);
	note("out%u words%u", (unsigned)b->left_out, (unsigned)b->words);
	note("repeats%u phase%u", (unsigned)b->repeats, (unsigned)b->phase);
	list_wrong(b);
}

/* Where the live blocks were at their peak. */
static void
list_pages(const struct run_residency *r)
{
	unsigned i;

	pages_known = pages_known && r->known;
	fprintf(pages, "run %u:", ++runs);
	for (i = 0; i < RUN_SIZES; i++)
		if (r->size[i].blocks > 0)
			fprintf(pages, " %u=%u,%u,%u,%u", i,
			    (unsigned)r->size[i].blocks,
			    (unsigned)r->size[i].asked,
			    (unsigned)r->size[i].pages,
			    (unsigned)r->size[i].resident);
	fputs("\n", pages);
}

/* Times are more than 0, and not more than it all took. */
static int
is_timed(const struct run_shared_stats *b, uint64_t elapsed)
{
	const struct run_times *t;
	unsigned i;
	int good = b->wall_ns > 0 && b->wall_ns <= elapsed && b->cpu_ns > 0 &&
	    b->cpu_ns <= elapsed * b->threads && b->tick_ns > 0 &&
	    b->tick_ns < 1e3 && b->empty_ticks < elapsed &&
	    b->noise_ticks > 0 && b->noise_ticks < elapsed;

	for (i = 0; i < b->threads; i++) {
		t = &b->thread[i].times;
		good &= t->operations == 0 ||
		    (t->wall_ns > 0 && t->wall_ns <= elapsed &&
		        t->cpu_ns <= elapsed && t->wait_ns <= elapsed);
	}
	return good;
}

/* Runs a program, and lists all of it. */
static void
list_run(struct program *p, const struct alloc_functions *a,
    const struct run_options *options, int whole)
{
	size_t size =
	    run_shared_stats_size((unsigned)program_facts(p)->threads);
	struct run_shared_stats *b =
	    aligned_alloc(4096, (size + 4095) & ~(size_t)4095);
	static struct run_residency residency;
	struct run_options o = *options;
	uint64_t elapsed;
	const char *wrong;

	if (b == NULL)
		abort();
	memset(b, 0, size);
	arena_used = 0;
	blocks = calls = pools = buffers = 0;
	listed = 0;
	o.phase = note_phase;
	o.repeat += o.repeat == 0;
	o.think_rate = 1e-3;
	memset(&residency, 0, sizeof(residency));
	o.residency = o.count_live ? &residency : NULL;
	summed = !whole;
	sum = 0;
	elapsed = run_now();
	wrong = run_program(p, a, &o, b);
	summed = 0;
	if (!whole)
		note("%u calls, %016" PRIx64, calls, sum);
	elapsed = run_now() - elapsed;
	if (wrong != NULL)
		note("%s", wrong);
	fputs("\n", list);
	listed = 0;
	untimed += !is_timed(b, elapsed);
	list_counts(b);
	fputs("\n", list);
	unbalanced += b->live_bytes != 0 || b->room != 0;
	if (o.count_live)
		list_pages(&residency);
	free(b);
}

/* ------------------------------------------------------------------ cases */

#define TRACES 3

/* A trace of malloc, one of pools, and one of threads in the log's order. */
static struct program *
trace_compile(unsigned number, struct bytes *b)
{
	struct compiler_settings set = compiler_defaults;
	tel_output *out = tel_output_new_callback(bytes_write, b);
	struct writer w = { .random = 7 + number,
		.threads = number == 2 ? 3 : 1,
		.processes = 1,
		.pools = number > 0 };
	struct compiler *c;
	struct program *p;
	tel_alloc op;
	size_t i;

	set.order = ORDER_TOTAL;
	set.chunk = 1024;
	c = compiler_new(out, &set);
	if (out == NULL || c == NULL || compiler_set_tick_rate(c, 1e9) != 0)
		abort();
	for (i = 0; i < 240; i++) {
		op = write_operation(&w);
		if (compiler_add(c, &op, i) != TEL_OK)
			abort();
		if (i % 40 == 7 &&
		    compiler_describe(c, 0x100 * (1 + i / 40 % 3), "A a=1") !=
		        TEL_OK)
			abort();
	}
	if (compiler_finish(c) != TEL_OK ||
	    program_open_memory(b->data, b->size, &p) != TEL_OK)
		abort();
	compiler_free(c);
	tel_output_free(out);
	return p;
}

static const struct run_options how[] = {
	{ .touch = RUN_TOUCH_NONE },
	{ .touch = RUN_TOUCH_FIRST, .sample = 3 },
	{ .touch = RUN_TOUCH_PAGE, .count_live = 1 },
	{ .touch = RUN_TOUCH_ALL, .sample = 1 },
	{ .touch = RUN_TOUCH_SHARE, .touch_share = 0.375, .repeat = 2 },
	{ .touch = RUN_TOUCH_FIRST, .touch_again = 1, .count_live = 1 },
	{ .touch = RUN_TOUCH_PAGE,
	    .check = 1,
	    .count_live = 1,
	    .think_ns = 1000,
	    .sample = 40 },
	{ .verify = 1, .sample = 7, .think_log = 1 },
	{ .verify = 1, .count_live = 1, .pace = 1e9, .sample = 2 },
};

static void
list_all(unsigned number, struct program *p)
{
	static const struct alloc_functions *const mallocs[] = { &full, &least,
		&some };
	static const tel_pool_table *const tables[] = { &pool_least,
		&pool_plain, &pool_full };
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct alloc_functions a;
	size_t i;

	for (i = 0; i < sizeof(how) / sizeof(how[0]); i++) {
		fprintf(list, "trace %u, malloc, %u\n", number, (unsigned)i);
		list_run(p, mallocs[i % 3], &how[i], i == 2 * number);
		fprintf(list, "trace %u, pools, %u\n", number, (unsigned)i);
		memset(&a, 0, sizeof(a));
		a.pool = tables[(i + 2) % 3];
		a.state = pool_at;
		a.lock = number == 2 ? &lock : NULL;
		list_run(p, &a, &how[i], i == 1 + 3 * number);
	}
}

/* The same with an allocator that fails in one way after the other. */
static void
list_failing(unsigned number, struct program *p)
{
	static const struct run_options checked = { .verify = 1,
		.count_live = 1,
		.sample = 5 };
	static const struct run_options plain = { .touch = RUN_TOUCH_ALL };
	static const struct fault faults[] = { { .null_each = 7 },
		{ .null_each = 2 }, { .dirty_each = 2 },
		{ .shift_each = 5, .shift = 8 },
		{ .shift_each = 3, .shift = 4 }, { .break_each = 2 },
		{ .commit_each = 2 } };
	struct alloc_functions pool = { .state = pool_at };
	size_t i;

	for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		fprintf(list, "trace %u, fault %u\n", number, (unsigned)i);
		fault = faults[i];
		list_run(p, i % 2 > 0 ? &full : &least, &checked, 0);
		pool.pool = i % 2 > 0 ? &pool_full : &pool_least;
		list_run(p, &pool, &checked, 0);
		list_run(p, &full, &plain, 0);
		pool.pool = i % 2 > 0 ? &pool_plain : &pool_full;
		list_run(p, &pool, &plain, 0);
	}
	memset(&fault, 0, sizeof(fault));
}

static void
test_calls(void)
{
	struct bytes b = { 0 };
	struct program *p;
	unsigned i;

	list = fopen(output, "w");
	pages = fopen(output_pages, "w");
	for (i = 0; i < TRACES && list != NULL && pages != NULL; i++) {
		b.size = 0;
		p = trace_compile(i, &b);
		list_all(i, p);
		if (i < 2)
			list_failing(i, p);
		program_free(p);
	}
	if (list == NULL || fclose(list) != 0 || pages == NULL ||
	    fclose(pages) != 0)
		abort();
	is_golden("calls.text", output, NULL);
	is_u64(unbalanced, 0, "in the end nothing is live, and no room is");
	is_u64(untimed, 0, "times are within that of the run");
	is_u64(mistaken, 0, "blocks are freed by their addresses and sizes");
	if (pages_known && sysconf(_SC_PAGESIZE) == 4096)
		is_golden("pages.text", output_pages, NULL);
	else
		ok(1, "pages # SKIP no pagemap of pages of 4 KiB");
	free(b.data);
}

/* --------------------------------------------------------------- contents */

/* What an allocator does to the blocks of a few operations. */
static struct {
	int flip;  /* a byte of the first block changes, or -1 */
	int over;  /* the second one starts there in the first one, or -1 */
	int shift; /* all others are so many bytes behind */
} odd;
static unsigned odd_calls;

static void *
odd_malloc(size_t size)
{
	unsigned char *p = arena + 4096 * (size_t)odd_calls;

	(void)size;
	if (odd_calls++ == 0)
		return p + odd.shift;
	if (odd.flip >= 0)
		arena[odd.flip] ^= 1;
	return odd.over >= 0 ? arena + odd.over : p;
}

static void *
odd_calloc(size_t count, size_t size)
{
	(void)count;
	memset(arena, 0, size + 16);
	if (odd.flip >= 0)
		arena[odd.flip] ^= 1;
	return arena + odd.shift;
}

static void *
odd_aligned(size_t alignment, size_t size)
{
	(void)alignment;
	(void)size;
	return arena + odd.shift;
}

static void *
odd_realloc(void *p, size_t size)
{
	(void)size;
	if (odd.flip >= 0)
		arena[odd.flip] ^= 1;
	return p;
}

static void
odd_free(void *p)
{
	(void)p;
}

static const struct alloc_functions odd_functions = { .malloc = odd_malloc,
	.calloc = odd_calloc,
	.aligned = odd_aligned,
	.realloc = odd_realloc,
	.free = odd_free };

/* Runs a few operations, and lists the first error. */
static void
list_odd(struct program *p)
{
	static const struct run_options verify = { .verify = 1, .repeat = 1 };
	static unsigned char room[1 << 20] __attribute__((aligned(4096)));
	struct run_shared_stats *b = (struct run_shared_stats *)(void *)room;
	const struct run_error *e;
	size_t i;

	if (run_shared_stats_size(1) > sizeof(room))
		abort();
	memset(room, 0, run_shared_stats_size(1));
	odd_calls = 0;
	(void)run_program(p, &odd_functions, &verify, b);
	for (i = 0; i < RUN_WRONGS; i++) {
		e = &b->wrong[i];
		if (e->count > 0)
			fprintf(list, " %c%u.%u%s", "nczapo"[i], e -> position,
			    (unsigned)e -> offset, e -> count > 1 ? "+" : "");
	}
	if (b->errors == 0)
		fputs(" -", list);
}

/* A few operations with a block of a size, the next of which has another. */
struct few {
	const char *what;
	tel_alloc_kind first, next;
	uint64_t size, other, alignment;
	int flips, overs, shifts; /* so many are tried */
};

static void
list_few(const struct few *few)
{
	const tel_alloc ops[] = { { .kind = few->first,
		                      .address = 16,
		                      .size = few->size,
		                      .count = 1,
		                      .alignment = few->alignment },
		{ .kind = few->next,
		    .address = few->next == TEL_ALLOC_REALLOC ? 16 : 32,
		    .old = 16,
		    .size = few->other },
		{ .kind = TEL_ALLOC_FREE, .address = 16 } };
	struct making m = { 0 };
	struct bytes b = { 0 };
	struct program *p;
	struct facts f;
	int i;

	if (program_make(ops, 3, &m, &b, &f) != TEL_OK ||
	    program_open_memory(b.data, b.size, &p) != TEL_OK)
		abort();
	fprintf(list, "%s %u %u %u:", few->what, (unsigned)few->size,
	    (unsigned)few->other, (unsigned)few->alignment);
	odd.flip = odd.over = -1;
	odd.shift = 0;
	for (odd.flip = 0; odd.flip < few->flips; odd.flip++)
		list_odd(p);
	odd.flip = -1;
	for (odd.over = 0; odd.over < few->overs; odd.over++)
		list_odd(p);
	odd.over = -1;
	for (i = 0; i < few->shifts; i++) {
		odd.shift = i;
		list_odd(p);
	}
	fputs("\n", list);
	program_free(p);
	free(b.data);
}

static void
test_contents(void)
{
#define M TEL_ALLOC_MALLOC
#define R TEL_ALLOC_REALLOC
	static const struct few few[] = {
		{ "a byte", M, M, 1, 1, 0, 1, 0, 0 },
		{ "a byte", M, M, 8, 1, 0, 8, 0, 0 },
		{ "a byte", M, M, 21, 1, 0, 22, 0, 0 },
		{ "overlap", M, M, 48, 8, 0, 0, 52, 0 },
		{ "overlap", M, M, 48, 16, 0, 0, 52, 0 },
		{ "overlap", M, M, 45, 23, 0, 0, 52, 0 },
		{ "resized", M, R, 21, 40, 0, 24, 0, 0 },
		{ "resized", M, R, 21, 13, 0, 24, 0, 0 },
		{ "zeros", TEL_ALLOC_CALLOC, M, 9, 1, 0, 10, 0, 0 },
		{ "aligned", M, M, 1, 1, 0, 0, 0, 3 },
		{ "aligned", M, M, 7, 1, 0, 0, 0, 17 },
		{ "aligned", M, M, 8, 1, 0, 0, 0, 17 },
		{ "aligned", M, M, 15, 1, 0, 0, 0, 17 },
		{ "aligned", M, M, 16, 1, 0, 0, 0, 33 },
		{ "aligned", TEL_ALLOC_ALIGNED, M, 5, 1, 32, 0, 0, 33 },
	};
	size_t i;

	list = fopen(output, "w");
	for (i = 0; i < sizeof(few) / sizeof(few[0]) && list != NULL; i++)
		list_few(&few[i]);
	if (list == NULL || fclose(list) != 0)
		abort();
	is_golden("contents.text", output, NULL);
}

/* ---------------------------------------------------------------- samples */

/* Quantiles of samples, squares of which there are more and more. */
static void
test_quantiles(void)
{
	static const double shares[] = { 0, 0.001, 0.25, 0.5, 0.9, 0.99, 0.9999,
		1 };
	static struct run_size_time by_size[RUN_SIZES], sums[RUN_SIZES];
	static struct run_latency l, more;
	uint64_t i, n;
	size_t k;

	list = fopen(output, "w");
	if (list == NULL)
		abort();
	for (i = 0; i < 400; i++) {
		run_note(&l, by_size[i % 7].allocated, i * i);
		run_note(&more, by_size[i % 5].freed, UINT64_C(1) << i % 64);
		if (i != 0 && i != 1 && i != 20 && i != 399)
			continue;
		for (k = 0; k < sizeof(shares) / sizeof(shares[0]); k++)
			fprintf(list, " %.6g,%.6g", run_quantile(&l, shares[k]),
			    run_quantile(&more, shares[k]));
		fputs("\n", list);
	}
	run_latency_add(&l, &more);
	run_size_time_add(sums, by_size);
	run_size_time_add(sums, by_size);
	fprintf(list, "%.6g of %u\n", run_quantile(&l, 0.6), (unsigned)l.count);
	for (i = 0; i < 8; i++) {
		fprintf(list, "%.6g", run_coarse_median(sums[i].allocated, &n));
		fprintf(list, " of %u", (unsigned)n);
		fprintf(list, ", %.6g", run_coarse_median(sums[i].freed, &n));
		fprintf(list, " of %u\n", (unsigned)n);
	}
	if (fclose(list) != 0)
		abort();
	is_golden("quantiles.text", output, NULL);
}

int
main(void)
{
	if (mkdtemp(folder) == NULL)
		return 1;
	(void)snprintf(output, sizeof(output), "%s/output", folder);
	(void)snprintf(output_pages, sizeof(output_pages), "%s/pages", folder);
	test_calls();
	test_contents();
	test_quantiles();
	(void)unlink(output);
	(void)unlink(output_pages);
	(void)rmdir(folder);
	return done();
}
