/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Logs made to hurt: what damage may cost, what must not take for ever, and
 * streams that do not say who wrote them.
 */
#include "tap.h"

#include <stdlib.h>
#include <time.h>

#include "format/mps/mps.h"
#include "model/encode.h"
#include "format/mps/frame.h"
#include "model/event.h"
#include "tel.h"

struct bytes {
	unsigned char *data;
	size_t size;
	size_t room;
	size_t *starts; /* of events, where it is a log that was loaded */
	size_t events;
};

static void *
grow(void *p, size_t n)
{
	p = realloc(p, n);
	if (p == NULL)
		abort();
	return p;
}

static void
append(struct bytes *b, const void *data, size_t n)
{
	if (b->size + n > b->room) {
		b->room = (b->size + n) * 2;
		b->data = grow(b->data, b->room);
	}
	if (n > 0)
		memcpy(b->data + b->size, data, n);
	b->size += n;
}

static void
release(struct bytes *b)
{
	free(b->data);
	free(b->starts);
	memset(b, 0, sizeof(*b));
}

static tel_reader *
open_bytes(const void *data, size_t size, const char *as, size_t read_size)
{
	tel_reader *r = tel_reader_new();

	if (r == NULL || tel_reader_set_as(r, as) != TEL_OK ||
	    tel_reader_set(r, TEL_READ_SIZE, (int64_t)read_size) != TEL_OK)
		abort();
	tel_reader_set(r, TEL_READ_FORCE, 1);
	if (tel_reader_open_memory(r, data, size, NULL) != TEL_OK)
		diag("%s", tel_reader_error(r));
	return r;
}

/* A shipped log; as: its schema.  plain: without what says who wrote it. */
static struct bytes
load(const char *name, const char *as, int plain)
{
	struct bytes b = { NULL, 0, 0, NULL, 0 };
	tel_reader *r = tel_reader_new();
	const tel_event *ev;
	char path[256];

	snprintf(path, sizeof(path), "tests/data/mps/%s.log.zst", name);
	if (r == NULL || tel_reader_set_as(r, as) != TEL_OK ||
	    tel_reader_open_file(r, path) != TEL_OK)
		diag("%s: %s", path, tel_reader_error(r));
	while (tel_reader_next(r, &ev) == TEL_OK) {
		if (plain &&
		    (ev->type->role == TEL_ROLE_INIT ||
		        ev->type->role == TEL_ROLE_INTERN))
			continue;
		b.starts = grow(b.starts, (b.events + 2) * sizeof(*b.starts));
		b.starts[b.events++] = b.size;
		append(&b, ev->data, ev->size);
	}
	b.starts[b.events] = b.size;
	tel_reader_free(r);
	return b;
}

struct reading {
	uint64_t known, unknown, damaged;
	tel_status status;
};

static struct reading
read_all(const void *data, size_t size, const char *as)
{
	tel_reader *r = open_bytes(data, size, as, (size_t)1 << 18);
	struct reading got = { 0, 0, 0, TEL_OK };
	const tel_event *ev;

	while ((got.status = tel_reader_next(r, &ev)) == TEL_OK) {
		if (tel_type_unknown(tel_event_type(ev)))
			got.unknown++;
		else
			got.known++;
	}
	got.damaged = tel_reader_count(r, TEL_COUNT_DAMAGED);
	tel_reader_free(r);
	return got;
}

/* An unknown code with a size that leads to a later event swallows none. */
static void
test_swallow(void)
{
	const char *as = "mps-1.118.0/lii3gc";
	struct bytes log = load("1.118.0-lii3gc-amcss", as, 0);
	uint64_t lost, worst = 0, quiet = 0;
	unsigned char header[4];
	struct reading got;
	size_t i, to;

	for (i = 20; i + 600 < log.events; i += 397) {
		for (to = i + 2; to < i + 600; to += 149 * sample_step(2)) {
			unsigned char *p = log.data + log.starts[i];
			uint64_t size = log.starts[to] - log.starts[i];

			memcpy(header, p, 4);
			tel_store(p, 0xabcd, 2, 0);
			tel_store(p + 2, size, 2, 0);
			got = read_all(log.data, log.size, as);
			memcpy(p, header, 4);
			lost = log.events - got.known;
			worst = lost > worst ? lost : worst;
			/* of two or three events none can say which it is */
			quiet += got.damaged == 0 && to > i + 4;
		}
	}
	ok(worst <= 1, "a wrong size swallows nothing (%u)", (unsigned)worst);
	is_u64(quiet, 0, "and is reported");
	release(&log);
}

/* Bytes that are missing inside an event cost that event. */
static void
test_cut_inside(void)
{
	const char *as = "mps-1.118.0/lii6gc";
	struct bytes log = load("1.118.0-lii6gc-poolncv", as, 0), copy;
	uint64_t worst = 0, quiet = 0, lost;
	size_t i, cut, at, size;
	struct reading got;

	for (i = 4; i + 4 < log.events; i++) {
		size = log.starts[i + 1] - log.starts[i];
		for (cut = 1 + 3 * (i % sample_step(3)); cut + 17 < size;
		     cut += 3 * sample_step(3)) {
			at = log.starts[i] + 17;
			memset(&copy, 0, sizeof(copy));
			append(&copy, log.data, at);
			append(&copy, log.data + at + cut, log.size - at - cut);
			got = read_all(copy.data, copy.size, as);
			lost = got.known < log.events - 1 ?
			    log.events - 1 - got.known :
			    0;
			worst = lost > worst ? lost : worst;
			quiet += got.damaged == 0;
			release(&copy);
		}
	}
	is_u64(worst, 0, "no event beside the one that was cut is lost");
	/* a string may be shorter without that it shows */
	ok(quiet < 8, "a cut is reported (%u times not)", (unsigned)quiet);
	release(&log);
}

/* A code that is known has one size, but in a newer version. */
static void
test_other_size(void)
{
	const char *as = "mps-1.118.0/lii6gc";
	struct bytes log = load("1.118.0-lii6gc-poolncv", as, 0);
	unsigned char *p = log.data + log.starts[6];
	struct reading got;

	/* sizes of two and of three fields, in turn */
	tel_store(p, 0x2b, 2, 0);
	tel_store(p + 2, log.starts[7] - log.starts[6], 2, 0);
	if (log.starts[7] - log.starts[6] == 24)
		tel_store(p, 0x2a, 2, 0);
	got = read_all(log.data, log.size, as);
	is_u64(got.unknown, 1, "an event of another size has no type");
	is_u64(got.damaged, 1, "and that is damage");
	log.data[16 + 8] = 1;
	got = read_all(log.data, log.size, as);
	is_u64(got.unknown, 1, "in a newer version it has none either");
	is_u64(got.damaged, 0, "but not damage");
	release(&log);
}

/* The schema must not depend on how much is read at a time. */
static void
test_reads(void)
{
	static const char *const logs[] = { "1.111.0-lii6gc-poolncv",
		"1.114.0-lii6ll-finalcv", "1.118.0-lii6ll-finalcv",
		"1.113.0-lii3gc-amcss", "1.117.0-lii6gc-amcss-seg-trace" };
	static const size_t sizes[] = { 1, 16, 100, 512, 65536 };
	size_t i, j;

	for (i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
		struct bytes log = load(logs[i], NULL, 0);
		int wrong = 0;

		for (j = 0; j < sizeof(sizes) / sizeof(sizes[0]); j++) {
			tel_reader *r =
			    open_bytes(log.data, log.size, NULL, sizes[j]);
			const tel_schema *s = tel_reader_schema(r);

			wrong += strncmp(tel_schema_name(s), "mps-", 4) != 0 ||
			    strncmp(tel_schema_name(s) + 4, logs[i], 7) != 0 ||
			    strncmp(tel_schema_name(s) + 12, logs[i] + 8, 6) !=
			        0;
			tel_reader_free(r);
		}
		is_u64((uint64_t)wrong, 0, "%s: as it says, read by read",
		    logs[i]);
		release(&log);
	}
}

/* Nonzero when two schemas read the bytes as the same values. */
static int
reads_alike(const struct bytes *b, size_t from, size_t to, const char *one,
    const char *two)
{
	tel_reader *r = open_bytes(b->data + b->starts[from],
	    b->starts[to] - b->starts[from], one, (size_t)1 << 18);
	tel_reader *q = open_bytes(b->data + b->starts[from],
	    b->starts[to] - b->starts[from], two, (size_t)1 << 18);
	const tel_event *x, *y;
	int same = 1;
	unsigned i;

	while (same && tel_reader_next(r, &x) == TEL_OK) {
		same = tel_reader_next(q, &y) == TEL_OK &&
		    x->type->nfields == y->type->nfields;
		for (i = 0; same && i < x->type->nfields; i++)
			same = tel_event_u64(x, i) == tel_event_u64(y, i);
	}
	tel_reader_free(r);
	tel_reader_free(q);
	return same;
}

/* Pieces of logs that say nothing of who wrote them. */
static void
test_pieces(void)
{
	static const char *const rows[][2] = {
		{ "1.111.0-lii6gc-amcss", "mps-1.111.0/lii6gc" },
		{ "1.112.0-lii3gc-amcss", "mps-1.112.0/lii3gc" },
		{ "1.114.0-lii3gc-amcss", "mps-1.114.0/lii3gc" },
		{ "1.115.0-lii3gc-amcss", "mps-1.115.0/lii3gc" },
		{ "1.117.0-lii3gc-amcss", "mps-1.117.0/lii3gc" },
		{ "1.118.0-lii3gc-amcss", "mps-1.118.0/lii3gc" },
		{ "1.118.0-lii6gc-mpmss-object-only", "mps-1.118.0/lii6gc" },
	};
	static const size_t lengths[] = { 30, 300, 3000 };
	size_t i, j, from, to, pieces;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bytes log = load(rows[i][0], rows[i][1], 1);
		int wrong = 0;

		for (j = pieces = 0; j < 3; j++) {
			for (from = 50; from + lengths[j] < log.events;
			     from += log.events / 9 * sample_step(3)) {
				tel_reader *r;

				to = from + lengths[j];
				pieces++;
				r = open_bytes(log.data + log.starts[from],
				    log.starts[to] - log.starts[from], NULL,
				    (size_t)1 << 18);
				wrong +=
				    !reads_alike(&log, from, to, rows[i][1],
				        tel_schema_name(tel_reader_schema(r)));
				tel_reader_free(r);
			}
		}
		is_u64((uint64_t)wrong, 0, "%s: %u pieces", rows[i][0],
		    (unsigned)pieces);
		release(&log);
	}
}

/* Points of synchronisation without end, and an event that must wait. */
static void
test_held(void)
{
	const size_t n = 60000;
	struct bytes log = { NULL, 0, 0, NULL, 0 };
	clock_t begin = clock();
	const tel_event *ev;
	unsigned char event[24];
	tel_window *w;
	uint64_t got = 0;
	tel_schema *s;
	tel_reader *r;
	size_t i;

	if (tel_schema_new("mps-1.111.0/lii6gc", &s) != TEL_OK)
		abort();
	memset(event, 0, sizeof(event));
	for (i = 0; i < n; i++) {
		tel__encode_header(s, event, i % 2 ? 0x75 : 0x444,
		    i % 2 ? 24 : 16, ((uint64_t)1 << (i % 2 ? 30 : 50)) - i);
		append(&log, event, i % 2 ? 24 : 16);
	}
	r = open_bytes(log.data, log.size, "mps-1.111.0/lii6gc",
	    (size_t)1 << 18);
	if (tel_window_new(r, TEL_ORDER_LIVE, &w) != TEL_OK)
		abort();
	while (tel_window_next(w, &ev) == TEL_OK)
		got++;
	is_u64(got, n, "a live window gives what it held");
	/* 0.1 s, where sorting anew at each point would take many */
	ok((double)(clock() - begin) / CLOCKS_PER_SEC < 5,
	    "it does so in good time");
	tel_window_free(w);
	tel_reader_free(r);
	tel_schema_free(s);
	release(&log);
}

/* Adds a file to a tar archive. */
static void
add_member(struct bytes *tar, const char *name, const struct bytes *log)
{
	unsigned char header[512] = { 0 }, zeros[512] = { 0 };
	unsigned sum = 0;
	size_t i;

	snprintf((char *)header, 100, "%s", name);
	snprintf((char *)header + 100, 8, "0000644");
	snprintf((char *)header + 124, 12, "%011o", (unsigned)log->size);
	memset(header + 148, ' ', 8);
	header[156] = '0';
	memcpy(header + 257, "ustar\00000", 8);
	for (i = 0; i < sizeof(header); i++)
		sum += header[i];
	snprintf((char *)header + 148, 8, "%06o", sum);
	append(tar, header, sizeof(header));
	append(tar, log->data, log->size);
	append(tar, zeros, (512 - log->size % 512) % 512);
}

/* Thousands of logs in an archive have one schema between them. */
static void
test_archive(void)
{
	struct bytes log = load("1.118.0-lii6gc-poolncv", NULL, 0);
	struct bytes tar = { NULL, 0, 0, NULL, 0 }, end;
	const tel_schema *first = NULL;
	unsigned logs = 0, others = 0;
	const tel_event *ev;
	tel_status st;
	char name[32];
	tel_reader *r;
	unsigned i;

	for (i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "log-%u", i);
		add_member(&tar, name, &log);
	}
	memset(&end, 0, sizeof(end));
	end.data = calloc(1, 1024);
	append(&tar, end.data, 1024);
	r = open_bytes(tar.data, tar.size, NULL, (size_t)1 << 18);
	while ((st = tel_reader_next(r, &ev)) == TEL_OK || st == TEL_LOG) {
		if (st == TEL_LOG || tel_event_index(ev) > 0)
			continue;
		logs++;
		if (first == NULL)
			first = tel_reader_schema(r);
		others += tel_reader_schema(r) != first;
	}
	is_u64(logs, 50, "all members are read");
	is_u64(others, 0, "with the same schema");
	tel_reader_free(r);
	release(&end);
	release(&tar);
	release(&log);
}

int
main(void)
{
	test_swallow();
	test_cut_inside();
	test_other_size();
	test_reads();
	test_pieces();
	test_held();
	test_archive();
	return done();
}
