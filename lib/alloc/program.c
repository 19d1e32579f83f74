/* SPDX-License-Identifier: BSD-2-Clause */
/* A program that was written: opened, and its chunks' heads. */
#include "alloc/program.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD_WORDS 2 /* of a lane in a chunk's head */

tel_status
tel_program_read(const struct tel_program *p, uint64_t offset, void *buffer,
    size_t size)
{
	unsigned char *to = buffer;
	ssize_t n;

	if (offset > p->size || size > p->size - offset)
		return TEL_EDAMAGED;
	if (p->data != NULL) {
		if (size > 0)
			memcpy(to, p->data + offset, size);
		return TEL_OK;
	}
	while (size > 0) {
		n = pread(p->fd, to, size, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return TEL_EIO;
		if (n == 0)
			return TEL_EDAMAGED;
		to += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return TEL_OK;
}

int
tel_program_probe(const void *data, size_t size)
{
	return size >= 8 && tel_le64(data) == PROGRAM_MAGIC;
}

static tel_status
index_load(struct tel_program *p, const unsigned char *bytes, uint64_t count,
    uint64_t end)
{
	uint64_t i, at = PROGRAM_HEADER;

	if (count == 0)
		return TEL_OK;
	p->index = malloc(count * 16);
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

/* No part of a program is larger than it: memory is bounded by the file. */
static int
facts_fit(const tel_facts *f, uint64_t size)
{
	uint64_t most = size / 8;

	return f->lanes >= 1 && f->words <= most && f->chunks <= most &&
	    f->largest_chunk <= most && f->pools <= most &&
	    f->buffers <= most && f->compiled <= most &&
	    /* a lane takes 64 at a time */
	    f->slots <= most + 64 * f->lanes && f->slots < UINT32_MAX;
}

static tel_status
tail_load(struct tel_program *p)
{
	unsigned char tail[PROGRAM_TRAILER], *bytes;
	uint64_t at, size;
	size_t used;
	tel_status st;

	st = tel_program_read(p, p->size - PROGRAM_TRAILER, tail, sizeof(tail));
	if (st != TEL_OK)
		return st;
	at = tel_le64(tail);
	size = tel_le64(tail + 8);
	if (tel_le64(tail + 24) != PROGRAM_MAGIC || at % 8 != 0 ||
	    size % 8 != 0 || at < PROGRAM_HEADER ||
	    at > p->size - PROGRAM_TRAILER ||
	    size != p->size - PROGRAM_TRAILER - at || size < FACTS_NUMBERS * 8)
		return TEL_EDAMAGED;
	bytes = malloc(size);
	if (bytes == NULL)
		return TEL_ENOMEM;
	st = tel_program_read(p, at, bytes, size);
	if (st == TEL_OK &&
	    tel_program_sum(0, bytes, size) != tel_le64(tail + 16))
		st = TEL_EDAMAGED;
	if (st == TEL_OK &&
	    (tel_facts_load(&p->facts, bytes, size, &used) != 0 ||
	        !facts_fit(&p->facts, p->size) ||
	        p->facts.chunks * 16 != size - used))
		st = TEL_EDAMAGED;
	if (st == TEL_OK)
		st = index_load(p, bytes + used, p->facts.chunks, at);
	free(bytes);
	return st;
}

static tel_status
program_open(const struct tel_program *from, tel_program **out)
{
	unsigned char head[PROGRAM_HEADER];
	struct tel_program *p;
	tel_status st;

	if (from->size < PROGRAM_HEADER)
		return TEL_EFORMAT;
	st = tel_program_read(from, 0, head, sizeof(head));
	if (st != TEL_OK)
		return st;
	if (!tel_program_probe(head, sizeof(head)))
		return TEL_EFORMAT;
	if (tel_le64(head + 8) != PROGRAM_VERSION)
		return TEL_EVERSION;
	if (from->size < PROGRAM_HEADER + PROGRAM_TRAILER)
		return TEL_EDAMAGED;
	p = malloc(sizeof(*p));
	if (p == NULL)
		return TEL_ENOMEM;
	*p = *from;
	st = tail_load(p);
	if (st != TEL_OK) {
		tel_program_free(p);
		return st;
	}
	*out = p;
	return TEL_OK;
}

tel_status
tel_program_open_fd(int fd, tel_program **out)
{
	struct tel_program p = { .fd = fd };
	struct stat about;

	if (fstat(fd, &about) != 0)
		return TEL_EIO;
	if (!S_ISREG(about.st_mode))
		return TEL_EFORMAT;
	p.size = (uint64_t)about.st_size;
	return program_open(&p, out);
}

tel_status
tel_program_open_memory(const void *data, size_t size, tel_program **out)
{
	struct tel_program p = { .fd = -1, .data = data, .size = size };

	return program_open(&p, out);
}

void
tel_program_free(tel_program *p)
{
	if (p == NULL)
		return;
	free(p->index);
	free(p);
}

const tel_facts *
tel_program_facts(const tel_program *p)
{
	return &p->facts;
}

tel_status
tel_chunk_open(const struct tel_program *p, uint64_t number, struct chunk *c)
{
	unsigned char head[HEAD_WORDS * 8];
	struct lane_head *l;
	uint64_t left, lanes;
	tel_status st;
	unsigned i;

	if (number >= p->facts.chunks)
		return TEL_EINVAL;
	c->offset = p->index[2 * number];
	c->size = p->index[2 * number + 1];
	st = tel_program_read(p, c->offset, head, 8);
	if (st != TEL_OK)
		return st;
	lanes = tel_le64(head);
	if (lanes > p->facts.lanes ||
	    c->size < (1 + HEAD_WORDS * lanes + 1) * 8)
		return TEL_EDAMAGED;
	c->lanes = (unsigned)lanes;
	c->size -= 8;
	c->words = c->times = c->origins = 0;
	left = c->size - (1 + HEAD_WORDS * lanes) * 8;
	for (i = 0; i < c->lanes; i++) {
		st = tel_program_read(p, c->offset + 8 + i * sizeof(head), head,
		    sizeof(head));
		if (st != TEL_OK)
			return st;
		l = &c->lane[i];
		l->words = tel_le32(head);
		l->times = tel_le32(head + 4);
		l->origins = tel_le64(head + 8);
		if (l->origins > left || l->origins % 8 != 0 ||
		    l->words > TEL_WORD_SIZE_MAX)
			return TEL_EDAMAGED;
		c->words += l->words;
		c->times += l->times;
		c->origins += l->origins;
	}
	if (c->origins > left ||
	    left - c->origins != (c->words + 2 * c->times) * 8 ||
	    c->words + 2 * c->times > p->facts.largest_chunk)
		return TEL_EDAMAGED;
	return TEL_OK;
}
