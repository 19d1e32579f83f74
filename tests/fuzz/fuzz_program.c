/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: the compiler of allocations, and the reader of what it makes.
 *
 * The input is two bytes of options, changes to the program (a place in two
 * bytes, and bits to flip), then operations of four bytes each.  A program
 * without changes must be one that can be run; one with them, its sums put
 * right again, must be refused or read without harm.
 */
#include <stdlib.h>
#include <string.h>

#include "telreplay/compile/compiler.h"
#include "telreplay/compile/program_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST (1 << 20)

struct bytes {
	unsigned char data[MOST];
	size_t size;
};

static ptrdiff_t
bytes_write(void *arg, const void *data, size_t size)
{
	struct bytes *b = arg;

	if (size > MOST - b->size)
		return -1;
	memcpy(b->data + b->size, data, size);
	b->size += size;
	return (ptrdiff_t)size;
}

static tel_alloc
operation(const uint8_t *p, uint64_t i)
{
	static const uint64_t sizes[] = { 0, 1, 16, 48, 1000, 0xfffffff,
		0x10000000, UINT64_C(1) << 47 };
	tel_alloc op = { .kind = (tel_alloc_kind)(p[0] % 14) };

	op.failed = (p[0] & 0xe0) == 0xe0;
	op.sized = (p[0] & 0x10) != 0;
	op.thread = p[1] & 7;
	op.pool = (p[1] & 0x38) == 0x38 ? 1 + (p[1] >> 6) : 0;
	op.buffer = p[3] & 3;
	op.address = (uint64_t)(p[2] & 31) * 16;
	op.old = (uint64_t)(p[3] >> 3) * 16;
	op.size = p[2] & 0x80 ? sizes[p[3] & 7] : p[3];
	op.count = p[1] & 15;
	op.alignment = (uint64_t)p[3] << (p[1] & 31);
	op.clock = i * p[1];
	return op;
}

static int
compile(const uint8_t *p, size_t size, unsigned options, struct bytes *b)
{
	tel_output *out = tel_output_new_callback(bytes_write, b);
	struct compiler_settings set = compiler_defaults;
	struct compiler *c;
	tel_status st = TEL_OK;
	tel_alloc op;
	size_t i;

	set.order = (enum program_order)(options % 3);
	set.threads = options & 4 ? 2 : 8;
	set.strict = (options & 0x70) == 0x70;
	set.chunk = 1024;
	c = compiler_new(out, &set);
	if (out == NULL || c == NULL ||
	    compiler_set_tick_rate(c, options & 8 ? 1e6 : 0) != 0)
		abort();
	for (i = 0; i + 4 <= size && st == TEL_OK; i += 4) {
		op = operation(p + i, i);
		if (i % 256 == 64)
			(void)compiler_set_log(c, i % 512 ? "a" : "b");
		st = compiler_add(c, &op, i * (p[i] & 3));
	}
	if (st == TEL_OK)
		st = compiler_finish(c);
	/* what may go wrong: the buffer is full, or it was strict */
	if (st != TEL_OK && st != TEL_EIO && st != TEL_EDAMAGED)
		abort();
	compiler_free(c);
	tel_output_free(out);
	return st == TEL_OK;
}

static void
sum_at(unsigned char *p, size_t size)
{
	tel_store_le64(p + size, program_sum(0, p, size));
}

/* Makes the sums right again, as far as there is something to sum up. */
static void
seal(struct bytes *b, struct facts *f)
{
	unsigned char *tail = b->data + b->size - PROGRAM_TRAILER, *index;
	uint64_t at = tel_le64(tail), n, i, begin, size;
	uint64_t end = b->size - PROGRAM_TRAILER;
	size_t used;

	if (at > end || end - at != tel_le64(tail + 8) || at % 8 != 0)
		return;
	tel_store_le64(tail + 16,
	    program_sum(0, b->data + at, (size_t)(end - at)));
	if (facts_load(f, b->data + at, (size_t)(end - at), &used) != 0)
		return;
	index = b->data + at + used;
	n = (end - at - used) / 16;
	for (i = 0; i < n; i++) {
		begin = tel_le64(index + 16 * i);
		size = tel_le64(index + 16 * i + 8);
		if (begin <= at && size <= at - begin && size >= 8 &&
		    size % 8 == 0)
			sum_at(b->data + begin, (size_t)size - 8);
	}
}

static void
use(const struct bytes *b, int whole)
{
	const struct facts *f;
	struct program *p;
	const char *log;
	uint64_t event, i;
	tel_status st;

	st = program_open_memory(b->data, b->size, &p);
	if (st != TEL_OK) {
		if (whole)
			abort();
		return;
	}
	f = program_facts(p);
	st = program_check(p);
	if (whole && st != TEL_OK)
		abort();
	for (i = 0; i < f->chunks; i++)
		if (program_origin(p, i, (unsigned)(i % f->threads), 0, &log,
		        &event) == TEL_OK &&
		    strlen(log) >= LOG_NAME)
			abort();
	program_free(p);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct bytes b;
	static struct facts f;
	size_t changes, i, at;

	b.size = 0;
	if (size < 2)
		return 0;
	changes = data[1] % 32;
	if (size < 2 + 3 * changes ||
	    !compile(data + 2 + 3 * changes, size - 2 - 3 * changes, data[0],
	        &b))
		return 0;
	for (i = 0; i < changes; i++) {
		at = data[2 + 3 * i] | (size_t)data[3 + 3 * i] << 8;
		/* from the end for some: that is where the facts are */
		at %= b.size;
		if (i % 2 == 1)
			at = b.size - 1 - at;
		b.data[at] ^= data[4 + 3 * i];
	}
	if (changes > 0)
		seal(&b, &f);
	use(&b, changes == 0);
	return 0;
}
