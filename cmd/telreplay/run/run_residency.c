/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Residency: which resident pages hold the live blocks, by the requested size
 * of these.
 *
 * The thread that brings the live bytes near their peak looks, while all others
 * wait before their next operation: a block then is either in its slot or not
 * allocated.  All memory that a look needs was touched before the run.
 */
#include "telreplay/run/run_inside.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/heap.h"

/* Words of pagemap that are read at a time. */
#define ENTRIES 512
/* Of such a word, by the kernel's documentation of pagemap: present. */
#define PRESENT ((uint64_t)1 << 63)
/* The most pages of large blocks to ask for: 256 GiB, in about a second. */
#define PAGES_MAX ((uint64_t)1 << 26)
/* How long a thread sleeps before it looks again, in nanoseconds. */
#define NAP 50000

struct residency {
	uint64_t near;  /* live bytes from which a look is due */
	int pagemap;    /* a file descriptor */
	uint64_t first; /* the page of .entry[0] */
	uint64_t entries;
	uint64_t left; /* pages of large blocks that may be asked for */
	int too_many;  /* there are more */
	uint64_t page; /* bytes of a page */
	/* the page that blocks are added to, and their bytes in it, by size */
	uint64_t at;
	uint64_t bytes[RUN_SIZES];
	uint64_t entry[ENTRIES];
	void *slots[]; /* those of the live blocks, by address of these */
};

size_t
run_residency_size(const struct facts *f)
{
	return sizeof(struct residency) + (size_t)f->slots * sizeof(void *);
}

void
run_residency_open(struct run *r, void *memory)
{
	struct residency *s = memory;

	s->pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	s->page = (uint64_t)sysconf(_SC_PAGESIZE);
	s->left = PAGES_MAX;
	s->near = r->facts->peak_bytes - r->facts->peak_bytes / 50;
	if (s->pagemap >= 0)
		r->residency = s;
}

void
run_residency_close(struct run *r)
{
	if (r->residency == NULL)
		return;
	(void)close(r->residency->pagemap);
	r->residency = NULL;
}

/* ---------------------------------------------------------------- order */

/* The largest address first: a heap of these is sorted from its end. */
static int
has_larger(const void *a, const void *b)
{
	return (uintptr_t) * (void *const *)a > (uintptr_t) * (void *const *)b;
}

/* By address, in place: qsort() may use malloc, which is under test. */
static void
run_residency_sort(void **slots, size_t n)
{
	tel__heap_fill(slots, n, has_larger);
	while (n > 1) {
		void *largest = slots[0];

		slots[0] = slots[--n];
		slots[n] = largest;
		tel__heap_sink(slots, n, 0, has_larger);
	}
}

/* ---------------------------------------------------------------- pages */

static int
is_resident(struct residency *s, uint64_t page)
{
	if (page < s->first || page - s->first >= s->entries) {
		ssize_t n = pread(s->pagemap, s->entry, sizeof(s->entry),
		    (off_t)(page * sizeof(s->entry[0])));

		s->first = page;
		s->entries = n > 0 ? (uint64_t)n / sizeof(s->entry[0]) : 0;
		if (s->entries == 0)
			return 0;
	}
	return (s->entry[page - s->first] & PRESENT) != 0;
}

/* Divides the page between the sizes of the blocks that it holds. */
static void
divide(struct residency *s, struct run_residency *out)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < RUN_SIZES; i++)
		sum += s->bytes[i];
	if (sum > 0 && is_resident(s, s->at))
		for (size_t i = 0; i < RUN_SIZES; i++) {
			out->size[i].pages += s->bytes[i] > 0;
			out->size[i].resident += (uint64_t)((double)s->page *
			        (double)s->bytes[i] / (double)sum +
			    0.5);
		}
	memset(s->bytes, 0, sizeof(s->bytes));
}

/* Adds bytes of a block to its page. */
static void
run_residency_add(struct residency *s, struct run_residency *out, uint64_t page,
    size_t size, uint64_t bytes)
{
	if (page != s->at)
		divide(s, out);
	s->at = page;
	s->bytes[size] += bytes;
}

static void
add_block(struct residency *s, struct run_residency *out, uint64_t at,
    uint64_t asked)
{
	size_t size = run_size_class(asked);
	uint64_t bytes = asked > 0 ? asked : 1;
	uint64_t first = at / s->page, last = (at + bytes - 1) / s->page, i;

	out->size[size].blocks++;
	out->size[size].asked += asked;
	if (first == last) {
		run_residency_add(s, out, first, size, bytes);
		return;
	}
	run_residency_add(s, out, first, size, s->page - at % s->page);
	/* the pages between hold nothing else */
	if (last - first > s->left)
		s->too_many = 1;
	else
		s->left -= last - first;
	for (i = first + 1; i < last && !s->too_many; i++)
		if (is_resident(s, i)) {
			out->size[size].pages++;
			out->size[size].resident += s->page;
		}
	run_residency_add(s, out, last, size, (at + bytes - 1) % s->page + 1);
}

static void
run_residency_look(struct run *r)
{
	struct run_residency *out = r->options->residency;
	struct residency *s = r->residency;
	size_t i, n = 0;

	for (i = 0; i < r->facts->slots; i++)
		if (r->slots[i] != NULL)
			s->slots[n++] = &r->slots[i];
	run_residency_sort(s->slots, n);
	for (i = 0; i < n; i++) {
		void **slot = s->slots[i];

		add_block(s, out, (uintptr_t)*slot,
		    r->extra[slot - r->slots].size);
	}
	divide(s, out);
	out->known = !s->too_many;
	if (r->options->phase != NULL)
		r->options->phase(r->options->arg, RUN_PEAK);
	atomic_store(&r->looked, 1);
}

/* --------------------------------------------------------------- threads */

static void
residency_pause(void)
{
	struct timespec t = { 0, NAP };

	(void)nanosleep(&t, NULL);
}

void
run_residency_enter(struct worker *w)
{
	/* this thread sees .looking, or the one that looks sees .inside */
	atomic_store(&w->inside, 1);
	while (atomic_load(&w->run->looking)) {
		atomic_store(&w->inside, 0);
		run_set_state(w, RUN_WAITING);
		residency_pause();
		run_set_state(w, RUN_WORKING);
		atomic_store(&w->inside, 1);
	}
}

/* Looks, when no thread is in an operation. */
static void
look_alone(struct worker *w)
{
	struct run *r = w->run;
	int none = 0;

	if (!atomic_compare_exchange_strong(&r->looking, &none, 1))
		return;
	run_set_state(w, RUN_WAITING);
	for (unsigned i = 0; i < r->threads; i++)
		while (atomic_load(&r->workers[i].inside))
			residency_pause();
	run_set_state(w, RUN_WORKING);
	if (!atomic_load(&r->looked))
		run_residency_look(r);
	atomic_store(&r->looking, 0);
}

void
run_residency_leave(struct worker *w)
{
	struct run *r = w->run;

	atomic_store(&w->inside, 0);
	if (atomic_load(&r->shared_stats->live_bytes) >= r->residency->near)
		look_alone(w);
}

void
run_residency_end(struct run *r)
{
	if (r->residency == NULL)
		return;
	if (!atomic_load(&r->looked))
		run_residency_look(r);
	/* one is enough: no other thread runs */
	run_residency_close(r);
}
