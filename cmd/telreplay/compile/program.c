/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program's file, read and checked.  It may come from anywhere: nothing in
 * a chunk that was loaded leads out of an array.
 */
#include "telreplay/compile/program_file.h"

#include <stdlib.h>
#include <sys/stat.h>
#include "base/read.h"
#include "base/varint.h"

#define HEAD_WORDS 2 /* of a thread in a chunk's head */

/* A thread of a chunk, as its head has it. */
struct thread_head {
	uint32_t words;
	uint32_t times; /* pairs */
	uint64_t origins;
};

/* A chunk whose head was read. */
struct chunk {
	uint64_t offset;
	uint64_t size;  /* without the checksum */
	uint64_t words; /* sums over its threads */
	uint64_t times;
	uint64_t origins;
	uint64_t sum; /* of the head */
	unsigned threads;
	struct thread_head thread[PROGRAM_THREADS];
};

/* Reads size bytes at offset.  TEL_OK, TEL_EIO, TEL_EDAMAGED. */
static tel_status
read_at(const struct program *p, uint64_t offset, void *buffer, size_t size)
{
	if (offset > p->size || size > p->size - offset)
		return TEL_EDAMAGED;
	if (p->data != NULL) {
		if (size > 0)
			memcpy(buffer, p->data + offset, size);
		return TEL_OK;
	}
	ptrdiff_t n = tel__read_all(p->fd, buffer, size, (int64_t)offset);
	return n < 0 ? TEL_EIO : n == (ptrdiff_t)size ? TEL_OK : TEL_EDAMAGED;
}

int
program_probe(const void *data, size_t size)
{
	return size >= 8 && tel_le64(data) == PROGRAM_MAGIC;
}

static tel_status
index_load(struct program *p, const unsigned char *bytes, uint64_t count,
    uint64_t end)
{
	uint64_t i, at = PROGRAM_HEADER;
	size_t size;

	if (count == 0)
		return TEL_OK;
	if (__builtin_mul_overflow(count, 16, &size))
		return TEL_ENOMEM;
	p->index = malloc(size);
	if (p->index == NULL)
		return TEL_ENOMEM;
	for (i = 0; i < count * 2; i++)
		p->index[i] = tel_le64(bytes + i * 8);
	for (i = 0; i < count; i++) {
		if (p->index[2 * i] != at || p->index[2 * i + 1] > end - at ||
		    p->index[2 * i + 1] % 8 != 0)
			return TEL_EDAMAGED;
		at += p->index[2 * i + 1];
	}
	return at == end ? TEL_OK : TEL_EDAMAGED;
}

/* What describes the pools, found by their numbers. */
static tel_status
pools_load(struct program *p, const unsigned char *bytes, size_t size)
{
	size_t i, n = 0;

	if (size == 0)
		return TEL_OK;
	if (bytes[size - 1] != 0)
		return TEL_EDAMAGED;
	for (i = 0; i < size; i++)
		n += bytes[i] == 0;
	p->pools = malloc(size);
	p->pool = malloc(n * sizeof(*p->pool));
	if (p->pools == NULL || p->pool == NULL)
		return TEL_ENOMEM;
	memcpy(p->pools, bytes, size);
	for (i = 0; i < size; i += strlen(p->pools + i) + 1)
		p->pool[p->npools++] = i;
	return TEL_OK;
}

/* No part of a program is larger than the file: that bounds memory. */
static int
facts_fit(const struct facts *f, uint64_t size)
{
	uint64_t most = size / 8;

	return f->threads >= 1 && f->words <= most && f->chunks <= most &&
	    f->largest_chunk <= most && f->pools <= most &&
	    f->buffers <= most && f->compiled <= most && f->windows <= most &&
	    /* a thread takes 64 at a time */
	    f->slots <= most + 64 * f->threads && f->slots < UINT32_MAX;
}

static tel_status
tail_load(struct program *p)
{
	unsigned char tail[PROGRAM_TRAILER], *bytes;
	size_t size, used;
	tel_status st;

	st = read_at(p, p->size - PROGRAM_TRAILER, tail, sizeof(tail));
	if (st != TEL_OK)
		return st;
	uint64_t at = tel_le64(tail);
	size = (size_t)tel_le64(tail + 8);
	if (tel_le64(tail + 24) != PROGRAM_MAGIC || at % 8 != 0 ||
	    size % 8 != 0 || at < PROGRAM_HEADER ||
	    at > p->size - PROGRAM_TRAILER || size != tel_le64(tail + 8) ||
	    size != p->size - PROGRAM_TRAILER - at || size < FACTS_NUMBERS * 8)
		return TEL_EDAMAGED;
	bytes = malloc(size);
	if (bytes == NULL)
		return TEL_ENOMEM;
	st = read_at(p, at, bytes, size);
	if (st == TEL_OK && program_sum(0, bytes, size) != tel_le64(tail + 16))
		st = TEL_EDAMAGED;
	if (st == TEL_OK &&
	    (facts_load(&p->facts, bytes, size, &used) != 0 ||
	        !facts_fit(&p->facts, p->size) ||
	        p->facts.described > size - used ||
	        p->facts.chunks * 16 != size - used - p->facts.described))
		st = TEL_EDAMAGED;
	if (st == TEL_OK)
		st = pools_load(p, bytes + used, (size_t)p->facts.described);
	if (st == TEL_OK)
		st = index_load(p, bytes + used + p->facts.described,
		    p->facts.chunks, at);
	free(bytes);
	return st;
}

/* Checks the header, and loads the tail. */
static tel_status
program_begin(struct program *p)
{
	unsigned char head[PROGRAM_HEADER];

	if (p->size < PROGRAM_HEADER)
		return TEL_EFORMAT;
	tel_status st = read_at(p, 0, head, sizeof(head));
	if (st != TEL_OK)
		return st;
	if (!program_probe(head, sizeof(head)))
		return TEL_EFORMAT;
	if (tel_le64(head + 8) != PROGRAM_VERSION)
		return TEL_EVERSION;
	if (p->size < PROGRAM_HEADER + PROGRAM_TRAILER)
		return TEL_EDAMAGED;
	return tail_load(p);
}

/* A program is too large for a small stack. */
static tel_status
program_open(int fd, const void *data, uint64_t size, struct program **out)
{
	struct program *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return TEL_ENOMEM;
	p->fd = fd;
	p->data = data;
	p->size = size;
	tel_status st = program_begin(p);
	if (st == TEL_OK)
		*out = p;
	else
		program_free(p);
	return st;
}

tel_status
program_open_fd(int fd, struct program **out)
{
	struct stat about;

	if (fstat(fd, &about) != 0)
		return TEL_EIO;
	if (!S_ISREG(about.st_mode))
		return TEL_EFORMAT;
	return program_open(fd, NULL, (uint64_t)about.st_size, out);
}

tel_status
program_open_memory(const void *data, size_t size, struct program **out)
{
	return program_open(-1, data, size, out);
}

void
program_free(struct program *p)
{
	if (p == NULL)
		return;
	free(p->index);
	free(p->pools);
	free(p->pool);
	free(p);
}

const char *
program_pool(const struct program *p, uint64_t number)
{
	return number < p->npools ? p->pools + p->pool[number] : "";
}

uint64_t
program_offset(const struct program *p)
{
	return p->facts.chunks > 0 ? p->index[2 * p->walked] : 0;
}

const struct facts *
program_facts(const struct program *p)
{
	return &p->facts;
}

/* Reads a chunk's head.  The same, and TEL_EINVAL. */
static tel_status
chunk_open(const struct program *p, uint64_t number, struct chunk *c)
{
	unsigned char head[HEAD_WORDS * 8];

	if (number >= p->facts.chunks)
		return TEL_EINVAL;
	c->offset = p->index[2 * number];
	c->size = p->index[2 * number + 1];
	tel_status st = read_at(p, c->offset, head, 8);
	if (st != TEL_OK)
		return st;
	uint64_t threads = tel_le64(head);
	if (threads > p->facts.threads ||
	    c->size < (1 + HEAD_WORDS * threads + 1) * 8)
		return TEL_EDAMAGED;
	c->threads = (unsigned)threads;
	c->sum = program_sum(0, head, 8);
	c->size -= 8;
	c->words = c->times = c->origins = 0;
	uint64_t left = c->size - (1 + HEAD_WORDS * threads) * 8;
	for (unsigned i = 0; i < c->threads; i++) {
		st = read_at(p, c->offset + 8 + i * sizeof(head), head,
		    sizeof(head));
		if (st != TEL_OK)
			return st;
		c->sum = program_sum(c->sum, head, sizeof(head));
		struct thread_head *t = &c->thread[i];
		t->words = tel_le32(head);
		t->times = tel_le32(head + 4);
		t->origins = tel_le64(head + 8);
		if (t->origins > left || t->origins % 8 != 0 ||
		    t->words > WORD_SIZE_MAX)
			return TEL_EDAMAGED;
		c->words += t->words;
		c->times += t->times;
		c->origins += t->origins;
	}
	if (c->origins > left ||
	    left - c->origins != (c->words + 2 * c->times) * 8 ||
	    c->words + 2 * c->times > p->facts.largest_chunk)
		return TEL_EDAMAGED;
	return TEL_OK;
}

/* --------------------------------------------------------------- chunks */

/* Checks the sum, which includes the origins. */
static tel_status
sum_check(const struct program *p, const struct chunk *c, const uint64_t *room)
{
	unsigned char bytes[4096];
	uint64_t sum = c->sum, left = c->origins, at;
	size_t n = (size_t)(c->words + 2 * c->times) * 8;

	sum = program_sum(sum, (const unsigned char *)room, n);
	at = c->offset + c->size - left;
	while (left > 0) {
		n = left < sizeof(bytes) ? (size_t)left : sizeof(bytes);
		tel_status st = read_at(p, at, bytes, n);
		if (st != TEL_OK)
			return st;
		sum = program_sum(sum, bytes, n);
		at += n;
		left -= n;
	}
	tel_status st = read_at(p, at, bytes, 8);
	if (st != TEL_OK)
		return st;
	return sum == tel_le64(bytes) ? TEL_OK : TEL_EDAMAGED;
}

const struct operation operation_rows[OPERATIONS] = {
#define PLAIN(word, effect, kind) \
	[WORD_##word] = { EFFECT_##effect, RUN_##kind, 0 }
	PLAIN(MALLOC, ALLOCATE, MALLOC),
	PLAIN(FREE, FREE, FREE),
	PLAIN(REALLOC, RESIZE, REALLOC),
	PLAIN(CALLOC, ALLOCATE, CALLOC),
	PLAIN(WAIT, WAIT, KINDS),
	PLAIN(USE, USE, KINDS),
	PLAIN(EXTENDED, NONE, KINDS),
	PLAIN(CONTROL, CONTROL, KINDS),
#undef PLAIN
	[OPERATIONS_EXTENDED] = { EFFECT_NONE, RUN_KINDS, 0 },
#define EXTENDED(word, effect, kind) \
	[OPERATIONS_EXTENDED + (EXTENDED_##word >> 3)] = { EFFECT_##effect, \
		RUN_##kind, EXTENDED_##word }
	EXTENDED(MALLOC, ALLOCATE, MALLOC),
	EXTENDED(FREE, FREE, FREE),
	EXTENDED(REALLOC, RESIZE, REALLOC),
	EXTENDED(CALLOC, ALLOCATE, CALLOC),
	EXTENDED(ALIGNED, ALLOCATE, ALIGNED),
	EXTENDED(FREE_PART, FREE_PART, FREE),
	EXTENDED(FREE_WITH_POOL, FREE_WITH_POOL, FREE),
	EXTENDED(POOL_CREATE, CREATE_POOL, KINDS),
	EXTENDED(POOL_DESTROY, DESTROY_POOL, KINDS),
	EXTENDED(BUFFER_CREATE, CREATE_BUFFER, KINDS),
	EXTENDED(BUFFER_DESTROY, DESTROY_BUFFER, KINDS),
	EXTENDED(NEW, ALLOCATE, NEW),
	EXTENDED(DELETE, FREE, DELETE),
	EXTENDED(DELETE_SIZED, FREE, DELETE),
	EXTENDED(FREE_SIZED, FREE, DELETE),
#undef EXTENDED
};

static int
wait_fits(const struct program_thread *threads, unsigned count, uint64_t w)
{
	uint32_t thread = WORD_SLOT(w), word = WORD_SIZE(w);

	return thread < count && word < threads[thread].word_count &&
	    (threads[thread].words[word] & WORD_PUBLISH) != 0;
}

/* Thread 0 is always there. */
static int
control_fits(const struct facts *f, int first, uint64_t w)
{
	uint32_t number = WORD_SLOT(w);

	switch (WORD_SIZE(w)) {
	case CONTROL_WINDOW: return number > 0 && number <= f->windows;
	case CONTROL_START: return number > 0 && number < f->threads;
	case CONTROL_END: return !first;
	default: return 0;
	}
}

/* A block, of a size and maybe with an alignment. */
static int
block_fits(const struct facts *f, const uint64_t *p)
{
	uint64_t alignment = word_operands(*p) > 1 ? p[2] : 1;

	return WORD_SLOT(*p) < f->slots && word_size(p) <= BLOCK_MAX &&
	    alignment != 0 && (alignment & (alignment - 1)) == 0 &&
	    alignment <= BLOCK_MAX;
}

static int
part_fits(const struct facts *f, const uint64_t *p)
{
	uint64_t full = p[3] == 0 ? BLOCK_MAX : p[3];

	return WORD_SLOT(*p) < f->slots && full <= BLOCK_MAX && p[1] <= full &&
	    p[2] <= full - p[1];
}

/* A word of thread t and its operands, which are there. */
static int
word_fits(const struct facts *f, const struct program_thread *threads,
    unsigned count, const struct program_thread *t, const uint64_t *p)
{
	const struct operation *op = word_operation(*p);
	const uint32_t n = WORD_SLOT(*p);

	if (op->word != 0 && op->word != (enum extended)WORD_SIZE(*p))
		return 0;
	switch (op->effect) {
	case EFFECT_ALLOCATE:
	case EFFECT_FREE:
	case EFFECT_RESIZE:
	case EFFECT_FREE_WITH_POOL: return block_fits(f, p);
	case EFFECT_FREE_PART: return part_fits(f, p);
	case EFFECT_WAIT: return wait_fits(threads, count, *p);
	case EFFECT_CONTROL: return control_fits(f, t == threads, *p);
	case EFFECT_CREATE_POOL:
	case EFFECT_DESTROY_POOL: return n >= 1 && n <= f->pools;
	case EFFECT_CREATE_BUFFER: return n < f->buffers && p[1] <= f->pools;
	case EFFECT_DESTROY_BUFFER: return n < f->buffers;
	case EFFECT_USE:
		return WORD_SIZE(*p) == 0 ?
		    n <= f->pools :
		    WORD_SIZE(*p) == 1 && n < f->buffers;
	default: return 0;
	}
}

static int
thread_fits(const struct facts *f, const struct program_thread *threads,
    unsigned count, const struct program_thread *t)
{
	uint32_t i, operands;

	for (i = 0; i < t->word_count; i += 1 + operands) {
		operands = word_operands(t->words[i]);
		if (operands >= t->word_count - i ||
		    !word_fits(f, threads, count, t, &t->words[i]))
			return 0;
	}
	return 1;
}

/* Times refer to words, in rising order. */
static int
times_fit(const struct program_thread *t)
{
	for (uint32_t i = 0; i < t->time_count; i++)
		if (t->times[2 * i] > t->word_count ||
		    (i > 0 && t->times[2 * i] <= t->times[2 * i - 2]))
			return 0;
	return 1;
}

/* Points the threads to what was read. */
static void
threads_set(const struct program *p, const struct chunk *c, uint64_t *room,
    struct program_thread *threads)
{
	const uint64_t *words = room, *times = room + c->words;

	for (unsigned i = 0; i < p->facts.threads; i++) {
		threads[i].words = words;
		threads[i].times = times;
		threads[i].word_count = i < c->threads ? c->thread[i].words : 0;
		threads[i].time_count = i < c->threads ? c->thread[i].times : 0;
		words += threads[i].word_count;
		times += 2 * (size_t)threads[i].time_count;
	}
}

tel_status
program_load(struct program *p, uint64_t chunk, uint64_t *room,
    struct program_thread *threads)
{
	struct chunk c;
	tel_status st = chunk_open(p, chunk, &c);

	if (st != TEL_OK)
		return st;
	uint64_t n = c.words + 2 * c.times;
	st = read_at(p, c.offset + 8 + 16 * (uint64_t)c.threads, room,
	    (size_t)n * 8);
	if (st == TEL_OK)
		st = sum_check(p, &c, room);
	if (st != TEL_OK)
		return st;
	program_swap(room, n);
	threads_set(p, &c, room, threads);
	for (unsigned i = 0; i < c.threads; i++)
		if (!thread_fits(&p->facts, threads, c.threads, &threads[i]) ||
		    !times_fit(&threads[i]))
			return TEL_EDAMAGED;
	return TEL_OK;
}

/* -------------------------------------------------------------- origins */

/* Reads as many origins as there are operations up to a word. */
static tel_status
origin_find(const struct program *p, const struct program_thread *t,
    const unsigned char *at, const unsigned char *end, uint32_t position,
    uint64_t *log, uint64_t *event)
{
	uint64_t v;

	*log = *event = 0;
	for (uint32_t i = 0; i < t->word_count && i <= position;
	     i += 1 + word_operands(t->words[i])) {
		if (!word_is_operation(t->words[i]))
			continue;
		at = tel__varint_get(at, end, &v);
		if (at != NULL && (v & 1) != 0)
			at = tel__varint_get(at, end, log);
		if (at == NULL)
			return TEL_EDAMAGED;
		*event += tel__unzigzag(v >> 1);
		if (i == position)
			return *log < p->facts.logs ? TEL_OK : TEL_EDAMAGED;
	}
	return TEL_EINVAL;
}

tel_status
program_origin(struct program *p, uint64_t chunk, unsigned thread,
    uint32_t position, const char **log, uint64_t *event)
{
	struct chunk c;
	struct program_thread threads[PROGRAM_THREADS];
	unsigned char *bytes = NULL;
	uint64_t *room, number, at;
	tel_status st = chunk_open(p, chunk, &c);

	if (st != TEL_OK)
		return st;
	if (thread >= c.threads)
		return TEL_EINVAL;
	room = malloc((size_t)p->facts.largest_chunk * 8 + 8);
	bytes = malloc((size_t)c.thread[thread].origins + 8);
	st = room == NULL || bytes == NULL ?
	    TEL_ENOMEM :
	    program_load(p, chunk, room, threads);
	if (st == TEL_OK) {
		at = c.offset + c.size - c.origins;
		for (unsigned i = 0; i < thread; i++)
			at += c.thread[i].origins;
		st = read_at(p, at, bytes, (size_t)c.thread[thread].origins);
	}
	if (st == TEL_OK)
		st = origin_find(p, &threads[thread], bytes,
		    bytes + c.thread[thread].origins, position, &number, event);
	if (st == TEL_OK)
		*log = p->facts.log_names[number];
	free(room);
	free(bytes);
	return st;
}
