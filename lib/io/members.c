/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Members: an archive, file by file.  A member that is compressed is decoded
 * on the spot, not on a thread: where its bytes come from may have one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/archive.h"

/* So many headers in a row that cannot be read, and it is given up. */
#define FAILURES_MAX 64
/* Of a damaged place so many without reading on: more than a peek has blocks. */
#define RETRIES_MAX 4096u

struct tel_members {
	struct tel_archive ar;
	struct tel_input *origin; /* before it was spooled; else ar.in */
	struct tel_input *member;
	char *name;
	int begun;
	int over;
	unsigned failures;
	int lost; /* a header could not be read, and none was found since */
};

/* The source of a member as it is in the archive; self is the members'. */
static tel_status
entry_read(void *self, unsigned char *to, size_t size, size_t *got,
    struct tel_fault *fault)
{
	struct tel_members *m = self;

	return tel__archive_read(&m->ar, to, size, got, fault);
}

static uint64_t
members_taken(const struct tel_members *m)
{
	return tel__input_raw_bytes(m->origin);
}

static uint64_t
entry_taken(const void *self)
{
	return members_taken(self);
}

static void
entry_free(void *self)
{
	(void)self;
}

static const struct tel_source_ops entry_ops = {
	.read = entry_read,
	.taken = entry_taken,
	.free = entry_free,
};

tel_status
tel__members_new(struct tel_input *in, enum tel_packing packing,
    struct tel_members **out)
{
	struct tel_members *m = calloc(1, sizeof(*m));

	if (m == NULL) {
		tel__input_free(in);
		return TEL_ENOMEM;
	}
	m->ar.in = m->origin = in;
	m->ar.packing = packing;
	*out = m;
	return TEL_OK;
}

static void
members_free(struct tel_members *m)
{
	if (m == NULL)
		return;
	tel__input_free(m->member);
	tel__archive_close(&m->ar);
	if (m->ar.in != m->origin)
		tel__input_free(m->ar.in);
	tel__input_free(m->origin);
	free(m->name);
	free(m);
}

static struct tel_input *
members_current(const struct tel_members *m)
{
	return m->member;
}

static tel_status
members_begin(struct tel_members *m, struct tel_fault *fault)
{
	struct tel_input *spooled;

	/* a 7z archive has its catalogue at the end */
	if (m->ar.packing == TEL_7ZIP &&
	    tel__input_seek(m->ar.in, 0, SEEK_SET) != 0) {
		tel_status st = tel__input_spool(m->ar.in, &spooled, fault);

		if (st != TEL_OK)
			return st;
		m->ar.in = spooled;
	}
	return tel__archive_open(&m->ar, fault);
}

static tel_status
members_set_name(struct tel_members *m, struct archive_entry *entry,
    struct tel_fault *fault)
{
	const char *name = m->ar.f.archive_entry_pathname(entry);

	/* NULL when it cannot be said in the locale's character set */
	if (name == NULL)
		name = m->ar.f.archive_entry_pathname_utf8(entry);
	m->name = strdup(name != NULL ? name : "?");
	return m->name != NULL ? TEL_OK : tel__fault_errno(fault, ENOMEM);
}

void
tel__input_limit_layers(struct tel_input *in)
{
	const enum tel_packing packing = tel__input_detect(in, TEL_CODECS);

	if (packing == TEL_PLAIN)
		return;
	in->w.p = in->w.end;
	in->status = tel__fault_set(&in->fault, TEL_ELIMIT, EFBIG,
	    "%s inside %d layers of compression: decompress it first",
	    tel__packing_name(packing), TEL_LAYERS_MAX);
}

/*
 * Makes m->member of the entry, and sees whether it can be read.  TEL_OK;
 * TEL_END: it is empty; or a failure.
 */
static tel_status
open_member(struct tel_members *m, struct tel_fault *fault)
{
	struct tel_source source = { &entry_ops, m };
	const unsigned char *data;
	struct tel_input *in;
	size_t avail;
	tel_status st = tel__input_new(source, m->origin->read_size, &in);

	if (st != TEL_OK)
		return tel__fault_errno(fault, ENOMEM);
	st = tel__input_peek(in, 1, &data, &avail);
	if (avail == 0) {
		*fault = in->fault;
		tel__input_free(in);
		return st == TEL_OK ? TEL_END : st;
	}
	for (int n = 0; n < TEL_LAYERS_MAX; n++) {
		enum tel_packing packing = tel__input_detect(in, TEL_CODECS);

		if (packing == TEL_PLAIN)
			break;
		st = tel__source_codec(in, packing, &source);
		if (st == TEL_OK)
			st = tel__input_new(source, m->origin->read_size, &in);
		if (st != TEL_OK)
			return tel__fault_errno(fault, ENOMEM);
	}
	tel__input_limit_layers(in);
	m->member = in;
	return TEL_OK;
}

/*
 * The next header.  Where one cannot be read, libarchive tries the next block,
 * and the blocks up to a header are one damaged place.
 */
static int
next_header(struct tel_members *m, struct archive_entry **entry)
{
	unsigned retries = 0;
	uint64_t at;
	int r;

	do {
		at = tel__input_offset(m->ar.in);
		r = tel__archive_next(&m->ar, entry);
		retries = at == tel__input_offset(m->ar.in) ? retries + 1 : 0;
	} while (r == ARCHIVE_RETRY && m->lost && !m->ar.dead &&
	    retries < RETRIES_MAX);
	m->lost = r == ARCHIVE_RETRY;
	return r;
}

/* The next entry of any kind.  TEL_OK, TEL_END or a failure. */
static tel_status
next_entry(struct tel_members *m, struct archive_entry **entry,
    struct tel_fault *fault)
{
	int r = next_header(m, entry);

	if (r == ARCHIVE_EOF)
		return TEL_END;
	if (r >= ARCHIVE_WARN && r != ARCHIVE_RETRY) {
		m->failures = 0;
		return TEL_OK;
	}
	if (m->ar.dead || ++m->failures >= FAILURES_MAX)
		m->over = 1;
	return tel__archive_fault(&m->ar, fault);
}

/* Nonzero for what cannot be a log, by its header. */
static int
passed_over(const struct tel_members *m, struct archive_entry *entry)
{
	return m->ar.f.archive_entry_filetype(entry) != AE_IFREG ||
	    (m->ar.f.archive_entry_size_is_set(entry) &&
	        m->ar.f.archive_entry_size(entry) == 0);
}

static tel_status
members_next(struct tel_members *m, const char **name, struct tel_fault *fault)
{
	struct archive_entry *entry;
	tel_status st = TEL_OK;

	tel__input_free(m->member);
	m->member = NULL;
	if (!m->begun) {
		m->begun = 1;
		st = members_begin(m, fault);
		m->over = st != TEL_OK;
		if (m->over)
			return st;
	}
	while (!m->over && !m->ar.dead) {
		free(m->name);
		m->name = NULL;
		st = next_entry(m, &entry, fault);
		if (st == TEL_END)
			break;
		if (st != TEL_OK)
			return st;
		if (passed_over(m, entry))
			continue;
		st = members_set_name(m, entry, fault);
		if (st != TEL_OK)
			return st;
		*name = m->name;
		st = open_member(m, fault);
		if (st != TEL_END)
			return st;
		*name = "";
	}
	m->over = 1;
	return TEL_END;
}

const struct tel_members_ops tel__members_ops = { members_next, members_current,
	members_taken, members_free };
