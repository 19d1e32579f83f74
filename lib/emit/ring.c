/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rings: a shared page, the names, and a ring for each thread and kind, in
 * a mapped file or in memory.
 *
 * A ring has N words of 8 bytes, followed by room for one event, so that no
 * event wraps around.  Its writer reserves an event by adding its size to the
 * head, then writes its words, the first one last: it contains a tag of the
 * position.  An event is complete if the tag matches; an older event at the
 * same place has another tag.  Writers never wait for readers: they overwrite
 * the oldest events.  A reader that is too slow continues at the first event of
 * a sixteenth of the ring, whose positions are in the marks.
 */
#define _GNU_SOURCE
#include "emit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

union tel__emit_shared tel__emit_shared
    __attribute__((aligned(TEL__EMIT_PAGE_BYTES)));
__thread struct tel__emit_self tel__emit_self;

enum { RING_FREE, RING_CLAIMED, RING_USED };
/* A ring without blocks in the file must not even be read. */
enum claimed { CLAIM_NONE, CLAIM_ALLOCATES, CLAIM_DONE };
#define EPOCH_CLOCK 0xFFFFu /* the lower half of an epoch */

/* The memory of the names and rings; kept when telemetry is closed. */
static struct {
	char *at;
	size_t bytes;
	int fd; /* of the file, or -1 */
	/* what it is: the program may close it, and open another file */
	dev_t device;
	ino_t file;
	int is_new; /* the file has its temporary name */
	/* those of the page, to which other processes may write */
	unsigned rings;
	size_t stride, words;
	uint8_t claimed[RINGS_MAX]; /* enum claimed, of each ring */
} region = { .fd = -1 };
/* Events without a ring; the page has a copy. */
static uint64_t dropped[TEL_EMIT_KINDS];

_Static_assert(sizeof(struct tel__emit_page) <= TEL__EMIT_PAGE_BYTES, "page");
_Static_assert(sizeof(struct tel__emit_ring) <= TEL__RING_HEADER, "header");

struct tel__emit_ring *
tel__emit_ring(unsigned i)
{
	static struct tel__emit_ring unused;

	if (__atomic_load_n(&region.claimed[i], __ATOMIC_ACQUIRE) != CLAIM_DONE)
		return &unused;
	return (struct tel__emit_ring *)(void *)(region.at + NAMES_BYTES +
	    i * region.stride);
}

uint64_t
tel__emit_ring_words(void)
{
	return region.words;
}

uint64_t
tel__emit_dropped(unsigned kind)
{
	return __atomic_load_n(&dropped[kind], __ATOMIC_RELAXED);
}

unsigned
tel__emit_ring_count(void)
{
	unsigned n = __atomic_load_n(&PAGE->rings_used, __ATOMIC_ACQUIRE);

	return n < region.rings ? n : region.rings;
}

/* --------------------------------------------------------------- mapping */

char *
tel__emit_path(const char *pattern, const char *suffix)
{
	const char *mark = strstr(pattern, "%p");
	size_t n = strlen(pattern) + strlen(suffix) + 24;
	char *path = malloc(n);

	if (path == NULL)
		return NULL;
	if (mark == NULL)
		snprintf(path, n, "%s%s", pattern, suffix);
	else
		snprintf(path, n, "%.*s%ld%s%s", (int)(mark - pattern), pattern,
		    (long)getpid(), mark + 2, suffix);
	return path;
}

/*
 * Allocates the blocks of a part of the file, so that a full disk is an error
 * here and not a SIGBUS on a later store.
 */
static int
emit_ring_allocate(int fd, off_t at, off_t bytes)
{
	static const char zeros[4096];
	off_t done;

#ifdef __linux__
	if (fallocate(fd, 0, at, bytes) == 0)
		return 0;
	if (errno != EOPNOTSUPP && errno != ENOSYS)
		return -1;
#endif
	for (done = 0; done < bytes; done += (off_t)sizeof(zeros))
		if (pwrite(fd, zeros, sizeof(zeros), at + done) !=
		    (ssize_t)sizeof(zeros))
			return -1;
	return 0;
}

/* The temporary name: another program may make a file of the same name. */
static char *
new_path(void)
{
	char suffix[40];

	snprintf(suffix, sizeof(suffix), ".new-%ld", (long)getpid());
	return tel__emit_path(tel__emit_state.ring_file, suffix);
}

/* Removes the file under its temporary name. */
static void
discard_file(void)
{
	char *new = new_path();

	if (new != NULL)
		unlink(new);
	free(new);
	region.is_new = 0;
}

/* Creates the file under a temporary name. */
static int
make_file(size_t bytes)
{
	char *path = tel__emit_path(tel__emit_state.ring_file, ""),
	     *new = new_path();
	struct stat st;
	int fd = -1, failed = 0;

	/* a device must not be replaced by a file */
	if (path == NULL || new == NULL)
		failed = ENOMEM;
	else if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		failed = EEXIST;
	free(path);
	if (failed == 0) {
		unlink(new);
		fd = open(new, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		failed = fd < 0 ? errno : 0;
	}
	free(new);
	if (fd >= 0 &&
	    (ftruncate(fd, (off_t)bytes) != 0 ||
	        emit_ring_allocate(fd, 0, TEL__EMIT_PAGE_BYTES + NAMES_BYTES) !=
	            0)) {
		failed = errno;
		close(fd);
		fd = -1;
		discard_file();
	}
	region.is_new = fd >= 0;
	errno = failed;
	return fd;
}

/*
 * An existing file is renamed to PATH.old, as another program may have it
 * mapped.
 */
int
tel__emit_name_file(void)
{
	char *path, *new, *old;
	int failed = ENOMEM;

	if (!region.is_new)
		return 0;
	path = tel__emit_path(tel__emit_state.ring_file, "");
	new = new_path();
	old = tel__emit_path(tel__emit_state.ring_file, ".old");
	if (path != NULL && new != NULL && old != NULL) {
		(void)rename(path, old);
		failed = rename(new, path) != 0 ? errno : 0;
	}
	free(path);
	free(new);
	free(old);
	region.is_new = failed != 0;
	return tel__emit_result(failed);
}

void *
tel__emit_memory(void *at, size_t bytes, int fd, off_t from)
{
	int flags =
	    fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

	if (at != NULL)
		flags |= MAP_FIXED;
	at = mmap(at, bytes, PROT_READ | PROT_WRITE, flags, fd, from);
	return at != MAP_FAILED ? at : NULL;
}

/* Maps the region again, at the same address if the size is the same. */
static int
map_region(size_t bytes, int fd)
{
	void *at = region.bytes == bytes ? region.at : NULL;

	at = tel__emit_memory(at, bytes, fd,
	    fd >= 0 ? (off_t)TEL__EMIT_PAGE_BYTES : 0);
	if (at == NULL)
		return -1;
	/* a thread may still write to the old region */
	if (region.at != NULL && region.at != at)
		(void)tel__emit_memory(region.at, region.bytes, -1, 0);
	region.at = at;
	region.bytes = bytes;
	return 0;
}

/* Initialises a page; the caller sets the clocks and the region. */
static void
set_page(struct tel__emit_page *p, const tel_emit_options *o, size_t stride)
{
	const struct tel__emit_page *old = PAGE;

	memcpy(p->magic, "\361telring", 8);
	p->version = 1;
	p->page_bytes = TEL__EMIT_PAGE_BYTES;
	p->names_bytes = NAMES_BYTES;
	p->ring_count = o->rings;
	p->ring_bytes = o->ring_bytes;
	p->ring_stride = stride;
	p->pid = (uint32_t)getpid();
	p->byte_order = 0x01020304;
	p->word = sizeof(void *);
	memcpy(p->program, old->program, sizeof(p->program));
	memcpy(p->schema, old->schema, sizeof(p->schema));
	memcpy(p->schema_version, old->schema_version,
	    sizeof(p->schema_version));
	memcpy(p->kinds, old->kinds, sizeof(p->kinds));
	p->clock = old->clock;
	p->output = old->output;
	p->flags = o->flags;
	p->epoch = (old->epoch & ~EPOCH_CLOCK) + EPOCH_CLOCK + 1;
	p->timing = o->flags & TEL_EMIT_COARSE_CLOCK &&
	        p->clock != TEL_EMIT_CLOCK_NONE ?
	    TEL__COARSE :
	    p->clock;
}

int
tel__emit_map(const tel_emit_options *o)
{
	static struct tel__emit_page page; /* under the lock of the drain */
	const long page_size = sysconf(_SC_PAGESIZE);
	const size_t stride =
	    (o->ring_bytes + TEL__RING_HEADER + TEL_EMIT_EVENT_MAX + 4095) &
	    ~(size_t)4095;
	const size_t bytes = NAMES_BYTES + o->rings * stride;
	struct stat st;
	int fd = -1;

	memset(&page, 0, sizeof(page));
	set_page(&page, o, stride);
	if (tel__emit_state.ring_file != NULL) {
		if (page_size > (long)TEL__EMIT_PAGE_BYTES ||
		    (uintptr_t)PAGE % (uintptr_t)page_size != 0)
			return tel__emit_result(ENOTSUP);
		fd = make_file(TEL__EMIT_PAGE_BYTES + bytes);
		if (fd < 0)
			return -1;
	}
	if (map_region(bytes, fd) != 0)
		goto fail;
	memset(region.claimed, 0, sizeof(region.claimed));
	region.rings = o->rings;
	region.stride = stride;
	region.words = o->ring_bytes / 8;
	memset(dropped, 0, sizeof(dropped));
	page.region = (uintptr_t)region.at;
	if (fd < 0) {
		memcpy(PAGE, &page, sizeof(page));
	} else if (pwrite(fd, &page, sizeof(page), 0) !=
	        (ssize_t)sizeof(page) ||
	    tel__emit_memory(PAGE, TEL__EMIT_PAGE_BYTES, fd, 0) == NULL) {
		goto fail;
	}
	region.fd = fd;
	if (fd >= 0 && fstat(fd, &st) == 0) {
		region.device = st.st_dev;
		region.file = st.st_ino;
	}
	return 0;
fail:
	if (fd >= 0) {
		discard_file();
		close(fd);
	}
	return -1;
}

/* Whether the descriptor still is that of the ring file. */
static int
emit_ring_has_file(void)
{
	struct stat st;

	return region.fd >= 0 && fstat(region.fd, &st) == 0 &&
	    st.st_dev == region.device && st.st_ino == region.file;
}

void
tel__emit_detach(void)
{
	static struct tel__emit_page page;

	if (region.fd < 0)
		return;
	if (region.is_new)
		discard_file();
	memcpy(&page, PAGE, sizeof(page));
	if (tel__emit_memory(PAGE, TEL__EMIT_PAGE_BYTES, -1, 0) != NULL)
		memcpy(PAGE, &page, sizeof(page));
	if (emit_ring_has_file())
		close(region.fd);
	region.fd = -1;
}

void
tel__emit_unmap(void)
{
	/* processes that map this page see that the program has closed */
	PAGE->record = 0;
	tel__emit_detach();
	PAGE->magic[0] = 0;
	(void)tel__emit_memory(region.at, region.bytes, -1, 0);
}

/* -------------------------------------------------------------- claiming */

uint32_t
tel__emit_thread_id(void)
{
#ifdef SYS_gettid
	return (uint32_t)syscall(SYS_gettid);
#else
	return (uint32_t)(uintptr_t)&tel__emit_self;
#endif
}

int
tel__emit_thread_gone(uint32_t thread)
{
#ifdef SYS_tgkill
	return syscall(SYS_tgkill, (long)getpid(), (long)thread, 0) != 0 &&
	    errno == ESRCH;
#else
	(void)thread;
	return 0;
#endif
}

/*
 * Assigns a ring to this thread.  The head continues, so that no tag is used
 * twice.
 */
static void
take_ring(struct tel__emit_ring *ring, unsigned kind)
{
	uint64_t sixteenth = region.words / TEL__RING_MARKS;

	SET(ring->mask, region.words - 1);
	SET(ring->cross, POSITION & ~(sixteenth - 1));
	SET(ring->start, TEL__NOW(ring->head));
	SET(ring->start_events,
	    tel__ring_events_at(TEL__NOW(ring->events), ring->start));
	SET(ring->tail, ring->start);
	for (unsigned i = 0; i < TEL__RING_MARKS; i++)
		SET(ring->marks[i], 0);
	SET(ring->kind, kind);
	SET(ring->thread, tel__emit_self.thread);
	__atomic_store_n(&ring->claim, ring->claim + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&ring->state, RING_USED, __ATOMIC_RELEASE);
}

/* Whether a ring is drained, and its thread has ended. */
static int
emit_ring_is_abandoned(const struct tel__emit_ring *ring)
{
	return (!TEL__NOW(PAGE->drained) ||
	           TEL__NOW(ring->tail) == TEL__NOW(ring->head)) &&
	    tel__emit_thread_gone(TEL__NOW(ring->thread));
}

/* Whether a ring is that of an ended thread with the same id as this one. */
static int
is_inherited(const struct tel__emit_ring *ring, unsigned kind)
{
	return TEL__NOW(ring->thread) == tel__emit_self.thread &&
	    TEL__NOW(ring->kind) == kind;
}

/* Claims an abandoned ring, or an inherited one. */
static struct tel__emit_ring *
claim_used(unsigned kind, int inherited)
{
	const unsigned n = tel__emit_ring_count();
	struct tel__emit_ring *ring;
	uint32_t used;

	for (unsigned i = 0; i < n; i++) {
		ring = tel__emit_ring(i);
		used = RING_USED;
		if (__atomic_load_n(&ring->state, __ATOMIC_ACQUIRE) == used &&
		    (inherited ? is_inherited(ring, kind) :
		                 emit_ring_is_abandoned(ring)) &&
		    __atomic_compare_exchange_n(&ring->state, &used,
		        RING_CLAIMED, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return ring;
	}
	return NULL;
}

/* Has the file blocks for ring i.  0: the disk is full. */
static int
emit_ring_provide(unsigned i)
{
	const off_t at =
	    (off_t)(TEL__EMIT_PAGE_BYTES + NAMES_BYTES + i * region.stride);

	return region.fd < 0 ||
	    (emit_ring_has_file() &&
	        emit_ring_allocate(region.fd, at, (off_t)region.stride) == 0);
}

/* Claims a ring that has not been used yet; NULL: there is none. */
static struct tel__emit_ring *
claim_new(void)
{
	uint32_t used = TEL__NOW(PAGE->rings_used);
	unsigned i = 0;
	uint8_t none = CLAIM_NONE;

	while (i < region.rings &&
	    !__atomic_compare_exchange_n(&region.claimed[i], &none,
	        CLAIM_ALLOCATES, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		none = CLAIM_NONE;
		i++;
	}
	if (i == region.rings)
		return NULL;
	const int done = emit_ring_provide(i);
	__atomic_store_n(&region.claimed[i], done ? CLAIM_DONE : CLAIM_NONE,
	    __ATOMIC_RELEASE);
	while (done && used < i + 1 &&
	    !__atomic_compare_exchange_n(&PAGE->rings_used, &used, i + 1, 0,
	        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		;
	return done ? tel__emit_ring(i) : NULL;
}

static struct tel__emit_ring *
claim_ring(unsigned kind)
{
	struct tel__emit_ring *ring = claim_used(kind, 1);

	if (ring != NULL) {
		/* its events and its head remain */
		__atomic_store_n(&ring->state, RING_USED, __ATOMIC_RELEASE);
		return ring;
	}
	ring = claim_new();
	if (ring == NULL)
		ring = claim_used(kind, 0);
	if (ring != NULL)
		take_ring(ring, kind);
	return ring;
}

/* Returns the ring of this thread for a kind; NULL: there is none. */
static struct tel__emit_ring *
emit_ring_attach(unsigned kind)
{
	struct tel__emit_self *self = &tel__emit_self;
	const uint32_t epoch = TEL__NOW(PAGE->epoch);
	struct tel__emit_ring *ring = NULL;
	int kept = errno;
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	if ((self->epoch ^ epoch) & ~EPOCH_CLOCK) {
		memset(self, 0, sizeof(*self));
		self->thread = tel__emit_thread_id();
	}
	self->epoch = epoch;
	if (self->ring[kind] != NULL) {
		ring = self->ring[kind];
	} else if (self->wait[kind] > 0) {
		self->wait[kind]--;
	} else if (TEL__NOW(PAGE->record) != 0) {
		ring = self->ring[kind] = claim_ring(kind);
		if (ring == NULL) {
			self->wait[kind] = 1000;
			/* those of ended threads are free once they are drained */
			if (TEL__NOW(PAGE->drained))
				tel__emit_wake();
		}
	}
	if (ring == NULL && TEL__NOW(PAGE->output) >> kind & 1)
		SET(PAGE->dropped[kind],
		    __atomic_add_fetch(&dropped[kind], 1, __ATOMIC_RELAXED));
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	errno = kept;
	return ring;
}

/*
 * Counts the events before next in 64 bits.  There are fewer than 2^23 between
 * two calls; a handler that has interrupted this one has counted more.
 */
static void
emit_ring_count_events(struct tel__emit_ring *ring, uint64_t next)
{
	uint64_t events = TEL__NOW(ring->events);
	const uint64_t now = tel__ring_events_at(events, next);

	if (now > events)
		(void)__atomic_compare_exchange_n(&ring->events, &events, now,
		    0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

/*
 * Called when an event enters another sixteenth of the ring, and ends at next.
 */
static void
cross(struct tel__emit_ring *ring, uint64_t next)
{
	const uint64_t size = ring->mask + 1, sixteenth = size / 16;
	const long moment[2] = { 0, 100000 };
	const int kept = errno;
	uint64_t used;

	emit_ring_count_events(ring, next);
	tel__emit_pair((uint64_t)1 << 24);
	__atomic_store_n(
	    &ring->marks[(next & POSITION) / sixteenth % TEL__RING_MARKS], next,
	    __ATOMIC_RELEASE);
	if (!TEL__NOW(PAGE->drained))
		return;
	for (;;) {
		used = (next - __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE)) &
		    POSITION;
		if (used < size / 2)
			return;
		tel__emit_wake();
		if (!(PAGE->flags & TEL_EMIT_BLOCK) ||
		    !TEL__NOW(PAGE->drained) || tel__emit_draining ||
		    used < size - 3 * sixteenth)
			return;
		/* nanosleep(2) would be a point of cancellation */
		(void)syscall(SYS_nanosleep, moment, NULL);
		errno = kept;
	}
}

struct tel__emit_open
tel__emit_slow(struct tel__emit_open open, unsigned kind, unsigned code,
    size_t bytes)
{
	struct tel__emit_ring *ring = open.ring;
	const uint64_t words = bytes / 8;
	uint64_t head = open.head, ticks;

	open.words = NULL;
	if (ring == NULL) {
		ring = emit_ring_attach(kind);
		if (ring == NULL)
			return open;
		head = tel__emit_add(&ring->head, TEL__RING_ONE + words);
	}
	if (((head ^ (head + words)) & ring->cross) != 0)
		cross(ring, head + TEL__RING_ONE + words);
	open = tel__emit_place(ring, head, kind, code, words);
	ticks = tel__emit_ticks();
	SET(tel__emit_self.last, NULL);
	SET(tel__emit_self.ticks, ticks);
	SET(tel__emit_self.last, ring);
	SET(open.words[1], ticks);
	return open;
}

void
tel_emit_fresh_clock(void)
{
	SET(tel__emit_self.last, NULL);
}

void
tel__emit_expire_clocks(void)
{
	if (PAGE->timing == TEL__COARSE)
		__atomic_fetch_add(&PAGE->epoch, 1, __ATOMIC_RELAXED);
}

/* --------------------------------------------------------------- walking */

uint64_t
tel__emit_oldest(const struct tel__emit_ring *ring, uint64_t head,
    uint64_t margin)
{
	uint64_t marks[TEL__RING_MARKS];

	for (unsigned i = 0; i < TEL__RING_MARKS; i++)
		marks[i] = __atomic_load_n(&ring->marks[i], __ATOMIC_ACQUIRE);
	/* an event at the very edge may be partly overwritten */
	return tel__ring_oldest(TEL__NOW(ring->start), marks, head,
	    region.words - margin);
}

int
tel__emit_search(struct tel__emit_walk *w)
{
	unsigned words;

	while (((w->end - w->at) & POSITION) > 0) {
		w->at = (w->at & ~POSITION) | ((w->at + 1) & POSITION);
		if (tel__emit_here(w, &words) != NULL)
			return 1;
	}
	return 0;
}
