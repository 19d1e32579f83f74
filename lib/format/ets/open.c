/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening an ETS log: telling it from other files, and its descriptions. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/path.h"
#include "format/ets/ets.h"

/* The size of reads; descriptions are mostly small. */
#define READ_SIZE ((size_t)1 << 16)

/* Records that are examined to detect the format. */
#define PROBE_RECORDS 8

/* ------------------------------------------------------- descriptions */

/* All that is in the file; TEL_OK, TEL_EIO, TEL_EINVAL, TEL_ELIMIT, _ENOMEM. */
static tel_status
ets_open_read_all(struct tel_reader *r, struct tel_input *in, const char *path,
    struct tel__buffer *text)
{
	const unsigned char *p;
	size_t avail;

	for (;;) {
		tel_status st = tel__input_peek(in, 1, &p, &avail);

		if (st != TEL_OK)
			return tel__reader_fail(r,
			    st == TEL_EDAMAGED ? TEL_EINVAL : st,
			    "the description %s: %s", tel__path_end(path, 150),
			    tel__input_error(in));
		if (avail == 0)
			return TEL_OK;
		if (avail > TMF_SIZE_MAX - text->used)
			return tel__reader_fail(r, TEL_ELIMIT,
			    "the description %s has more than %zu bytes",
			    tel__path_end(path, 150), TMF_SIZE_MAX);
		tel__buffer_put(text, p, avail);
		if (text->failed)
			return TEL_ENOMEM;
		tel__input_consume(in, avail);
	}
}

/* Reads a file of descriptions, packed or not. */
static tel_status
ets_open_describe(struct tel_reader *r, struct ets *h, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct tel_input *raw, *in = NULL;
	struct tel__buffer text = { NULL, 0, 0, 0 };

	if (fd < 0)
		return tel__reader_fail(r, TEL_EIO, "the description %s: %s",
		    tel__path_end(path, 150), strerror(errno));
	tel_status st = tel__input_fd(fd, 1, READ_SIZE, &raw);
	if (st == TEL_OK)
		st = tel__input_unpack(raw, &in);
	if (st != TEL_OK)
		return tel__reader_fail(r, st, "out of memory");
	if (tel__input_is_archive(in))
		st = tel__reader_fail(r, TEL_EINVAL,
		    "the description %s is an archive",
		    tel__path_end(path, 150));
	else
		st = ets_open_read_all(r, in, path, &text);
	if (st == TEL_OK)
		st = tel__tmf_parse(&h->tmf, (const char *)text.bytes,
		    text.used, path, r->error, sizeof(r->error));
	tel__buffer_clear(&text);
	tel__input_free(in);
	return st;
}

/* The built-in descriptions, and then the user's, which replace them. */
static tel_status
describe_all(struct tel_reader *r, struct ets *h)
{
	static const tel_file_kind kinds[] = { TEL_FILE_TYPES,
		TEL_FILE_MESSAGES };
	tel_status st = tel__ets_describe_builtin(&h->tmf);

	for (unsigned i = 0; i < 2; i++) {
		const struct tel_sidecar *file = NULL;

		while (st == TEL_OK &&
		    (file = tel__reader_sidecar(r, file, kinds[i])) != NULL)
			st = ets_open_describe(r, h, file->path);
	}
	if (st != TEL_OK)
		return st;
	tel__tmf_finish(&h->tmf);
	return tel__ets_schema_make(h, &h->schema);
}

/* The state for a log, with all that is described; NULL: no memory. */
static tel_status
ets_describe(struct tel_reader *r, struct ets **out)
{
	*out = calloc(1, sizeof(**out));
	return *out == NULL ? TEL_ENOMEM : describe_all(r, *out);
}

/* -------------------------------------------------------------- probe */

/* The record with the speed of the processor, with which MonNet begins. */
static int
is_cpu_speed(const unsigned char *p)
{
	uint64_t hertz = tel_le64(p + ETS_AT_ARGS);

	return ets_key_at(p) == ets_key(ETS_SYSINFO, 0, ETS_CPU_SPEED) &&
	    hertz >= 1000 && hertz < (uint64_t)1 << 40 &&
	    tel_le64(p + ETS_AT_INSTRUCTION) == 0 &&
	    tel_le64(p + ETS_AT_TEXT) == 0 && tel_le64(p + 36) == 0 &&
	    tel_le32(p + 44) == 0;
}

/* How sure it is, by records that follow each other: 0 to 100. */
static int
ets_open_judge(struct tel_reader *r, const struct ets *h)
{
	unsigned i, known = 0;
	size_t at = 0;

	for (i = 0; i < PROBE_RECORDS; i++) {
		tel__reader_fill(r, at + ETS_ENTRY);
		if ((size_t)(r->end - r->p) < at + ETS_ENTRY)
			break;
		if (!tel__ets_chain(h, r->p + at, ETS_ENTRY, 0, 0, 1, 1)) {
			/* damage, or a text that is not there */
			if (known > 1 && known * 2 > i)
				break;
			return 0;
		}
		known += ets_find(h, r->p + at) != NULL;
		at += ETS_ENTRY + ets_text(r->p + at);
	}
	/* one alone must be all there is */
	if (i < 2 && (size_t)(r->end - r->p) < at)
		return 0;
	return known * 2 > i ? 80 : 0;
}

int
tel__ets_probe(struct tel_reader *r)
{
	char error[sizeof(r->error)];
	struct ets *h;

	/* the first entry shows that this is another format */
	tel__reader_fill(r, ETS_ENTRY);
	if ((size_t)(r->end - r->p) < ETS_ENTRY ||
	    !tel__ets_chain(NULL, r->p, ETS_ENTRY, 0, 0, 1, 1))
		return 0;
	if (is_cpu_speed(r->p))
		return 100;
	/* nor goes one on by chance: then descriptions need not be read */
	size_t next = ETS_ENTRY + ets_text(r->p);
	tel__reader_fill(r, next + ETS_ENTRY);
	if ((size_t)(r->end - r->p) >= next + ETS_ENTRY &&
	    !tel__ets_may_be(r->p + next))
		return 0;
	memcpy(error, r->error, sizeof(error));
	/* errors in a description are reported when it is opened */
	int score = 80;
	if (ets_describe(r, &h) == TEL_OK)
		score = ets_open_judge(r, h);
	tel__ets_free(h);
	memcpy(r->error, error, sizeof(error));
	return score;
}

tel_status
tel__ets_open(struct tel_reader *r)
{
	struct ets *h;
	tel_status st = ets_describe(r, &h);

	r->state = h;
	if (st == TEL_OK) {
		st = tel__reader_adopt(r, h->schema);
		h->schema = NULL;
	}
	if (st != TEL_OK)
		return st;
	/* where some are laid out anew, records are beside all events */
	for (unsigned i = 0; i < h->ntypes; i++)
		r->log.records |= h->types[i].block != NULL;
	tel__reader_fill(r, ETS_ENTRY);
	if (r->p == r->end)
		return tel__reader_fail(r,
		    r->input_status != TEL_OK ? r->input_status : TEL_EFORMAT,
		    "%s",
		    r->input_status != TEL_OK ? tel__input_error(r->in) :
		                                "the input is empty");
	/*
	 * MonNet records the rate first, so it is known before an event is
	 * shown
	 */
	if ((size_t)(r->end - r->p) >= ETS_ENTRY && is_cpu_speed(r->p) &&
	    r->tick_rate == 0)
		tel__clock_set_rate(r->log.clock,
		    (double)tel_le64(r->p + ETS_AT_ARGS));
	return TEL_OK;
}
