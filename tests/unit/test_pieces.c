/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Logs that are read in pieces come to what one reader reads: the same events,
 * notices, counts and statistics, for each log of tests/data and for damaged
 * ones.
 */
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <unistd.h>

#include "inputs.h"
#include "must.h"
#include "reading.h"

/* What a reader has reported, of which the first bytes do not count. */
struct result {
	char *notices;
	size_t notices_size, skip;
	FILE *stream;
};

struct part {
	tel_reader *reader;
	tel_stats *stats;
	struct result result;
};

static uint64_t
mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 29;
}

static void
result_open(struct result *r)
{
	memset(r, 0, sizeof(*r));
	r->stream = open_memstream(&r->notices, &r->notices_size);
	if (r->stream == NULL)
		abort();
}

static void
result_close(struct result *r)
{
	if (r->stream != NULL)
		fclose(r->stream);
	free(r->notices);
	memset(r, 0, sizeof(*r));
}

static tel_stats *
new_stats(void)
{
	tel_stats *s = tel_stats_new();

	if (s == NULL)
		abort();
	must_ok(tel_stats_add(s, "sizes=log2(sizeof)"));
	must_ok(tel_stats_add(s, "types=tally(name, 1000)"));
	return s;
}

static void
part_open(struct part *p, int fd)
{
	memset(p, 0, sizeof(*p));
	result_open(&p->result);
	p->reader = tel_reader_new();
	if (p->reader == NULL)
		abort();
	must_ok(
	    tel_reader_set_notify(p->reader, take_notice, p->result.stream));
	must_ok(tel_reader_open_fd(p->reader, fd, "log"));
}

static void
part_close(struct part *p)
{
	tel_stats_free(p->stats);
	tel_reader_free(p->reader);
	result_close(&p->result);
}

static void
part_begin(struct part *p)
{
	p->stats = new_stats();
	must_ok(tel_stats_begin(p->stats, p->reader));
}

/* Reads to the end, a digest of each event onto the list.  As it ended. */
static tel_status
part_read(struct part *p, tel_stats *stats, uint64_t **list, size_t *n)
{
	const tel_event *ev;
	tel_status st;
	uint64_t h;

	while ((st = tel_reader_next(p->reader, &ev)) == TEL_OK) {
		h = mix(tel_event_offset(ev), tel_event_clock(ev));
		h = mix(h, tel_type_code(tel_event_type(ev)));
		if ((*n & (*n - 1)) == 0) {
			*list =
			    realloc(*list, (*n == 0 ? 1 : 2 * *n) * sizeof(h));
			if (*list == NULL)
				abort();
		}
		(*list)[(*n)++] = h;
		must_ok(tel_stats_event(stats, ev));
	}
	return st;
}

static ptrdiff_t
write_stream(void *arg, const void *data, size_t size)
{
	return fwrite(data, 1, size, arg) == size ? (ptrdiff_t)size : -1;
}

/* Ends the statistics, and writes all there is to compare. */
static void
part_end(struct part *p, FILE *to)
{
	tel_output *out = tel_output_new_callback(write_stream, to);
	const char *key, *value;
	size_t n;
	int i;

	if (out == NULL)
		abort();
	must_ok(tel_stats_end(p->stats, p->reader));
	must_ok(tel_stats_write_inst(p->stats, out, 1));
	must_ok(tel_output_finish(out));
	tel_output_free(out);
	for (i = TEL_COUNT_EVENTS; i <= TEL_COUNT_UNREAD; i++)
		fprintf(to, "count %d: %llu\n", i,
		    (unsigned long long)tel_reader_count(p->reader,
		        (tel_count)i));
	fprintf(to, "rate %.17g\n", tel_reader_tick_rate(p->reader));
	for (n = 0; tel_reader_metadata(p->reader, n, &key, &value); n++)
		fprintf(to, "%s=%s\n", key, value);
}

/* NULL when it fails: then reading in pieces does not count. */
static char *
read_alone(int fd, uint64_t **list, size_t *n)
{
	struct part p;
	tel_status st;
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (to == NULL || lseek(fd, 0, SEEK_SET) != 0)
		abort();
	part_open(&p, fd);
	part_begin(&p);
	st = part_read(&p, p.stats, list, n);
	fflush(p.result.stream);
	fputs(p.result.notices, to);
	part_end(&p, to);
	fclose(to);
	part_close(&p);
	if (st == TEL_END)
		return text;
	free(text);
	return NULL;
}

/* Drops what a reader has reported so far. */
static void
forget_notices(struct part *p)
{
	fflush(p->result.stream);
	p->result.skip = p->result.notices_size;
}

/* The piece after last, number i, does not continue it: last goes on. */
static tel_status
go_on(struct part *parts, struct part *last, unsigned i, uint64_t **list,
    size_t *count)
{
	tel_status st = tel_reader_extend(parts[0].reader, last->reader, i);
	tel_stats *more;

	if (st != TEL_OK)
		return st;
	if (last == parts)
		return part_read(last, last->stats, list, count);
	more = new_stats();
	must_ok(tel_stats_begin(more, last->reader));
	st = part_read(last, more, list, count);
	if (st == TEL_END) {
		must_ok(tel_reader_join(parts[0].reader, last->reader));
		must_ok(tel_stats_join(parts[0].stats, more));
	}
	tel_stats_free(more);
	return st;
}

/* Reads piece i, which counts if it continues last. */
static tel_status
read_piece(struct part *parts, struct part **last, unsigned i, unsigned n,
    uint64_t **list, size_t *count, unsigned *refused)
{
	struct part *p = &parts[i];
	size_t had = *count;
	tel_status st = tel_reader_set_piece(p->reader, i, n);

	if (i > 0)
		forget_notices(p);
	part_begin(p);
	if (st >= 0)
		st = part_read(p, p->stats, list, count);
	if (i == 0)
		return st;
	if (st == TEL_END)
		st = tel_reader_join(parts[0].reader, p->reader);
	if (st == TEL_OK) {
		must_ok(tel_stats_join(parts[0].stats, p->stats));
		*last = p;
		return TEL_END;
	}
	*count = had;
	forget_notices(p);
	++*refused;
	return go_on(parts, *last, i, list, count);
}

/*
 * The pieces are read one after the other, which joining cannot tell from side
 * by side.  NULL when it fails.
 */
static char *
read_pieces(const char *path, unsigned n, uint64_t **list, size_t *count,
    unsigned *refused)
{
	struct part *parts = calloc(n, sizeof(*parts)), *last = parts;
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	tel_status st = TEL_END;
	unsigned i, opened;
	int *fds = calloc(n, sizeof(*fds));

	if (to == NULL || parts == NULL || fds == NULL)
		abort();
	for (i = 0; i < n && st == TEL_END; i++) {
		fds[i] = tel_open_path(path);
		part_open(&parts[i], fds[i]);
		st = read_piece(parts, &last, i, n, list, count, refused);
	}
	opened = i;
	for (i = 0; i < opened; i++) {
		fflush(parts[i].result.stream);
		fputs(parts[i].result.notices + parts[i].result.skip, to);
	}
	part_end(&parts[0], to);
	fclose(to);
	for (i = opened; i-- > 0;) {
		part_close(&parts[i]);
		close(fds[i]);
	}
	free(parts);
	free(fds);
	if (st == TEL_END)
		return text;
	free(text);
	return NULL;
}

/* Nonzero when the log, damaged as it is, is one. */
static int
is_log(int fd)
{
	tel_reader *r = must(tel_reader_new());
	tel_status st = tel_reader_open_fd(r, fd, "log");

	tel_reader_free(r);
	return st == TEL_OK;
}

/* Compares one reader with several.  How many pieces were refused. */
static unsigned
compare(const char *path, const char *what, unsigned n)
{
	uint64_t *alone = NULL, *pieces = NULL;
	size_t nalone = 0, npieces = 0;
	unsigned refused = 0;
	char *want, *got, name[400];
	int fd = tel_open_path(path);

	if (fd < 0)
		abort();
	if (!is_log(fd)) {
		close(fd);
		return 0;
	}
	want = read_alone(fd, &alone, &nalone);
	got = read_pieces(path, n, &pieces, &npieces, &refused);
	snprintf(name, sizeof(name), "%s, %u pieces, %u refused", what, n,
	    refused);
	if (got == NULL || want == NULL) {
		ok(got == want, "%s: both fail", name);
		free(want);
		free(got);
		free(alone);
		free(pieces);
		close(fd);
		return refused;
	}
	same(got, want, name);
	ok(nalone == npieces &&
	        (nalone == 0 ||
	            memcmp(alone, pieces, nalone * sizeof(*alone)) == 0),
	    "%s: the same events, %zu", name, nalone);
	free(want);
	free(got);
	free(alone);
	free(pieces);
	close(fd);
	return refused;
}

/* The bytes of a log that may be compressed. */
static unsigned char *
load_log(const char *path, size_t *size)
{
	struct tel_input *raw, *in;
	const unsigned char *p;
	unsigned char *data = NULL;
	size_t n;
	int fd = tel_open_path(path);

	*size = 0;
	if (fd < 0 || tel__input_fd(fd, 1, 1 << 18, &raw) != TEL_OK ||
	    tel__input_unpack(raw, &in) != TEL_OK)
		abort();
	while (tel__input_peek(in, 1, &p, &n) == TEL_OK && n > 0) {
		data = realloc(data, *size + n);
		if (data == NULL)
			abort();
		memcpy(data + *size, p, n);
		*size += n;
		tel__input_consume(in, n);
	}
	tel__input_free(in);
	return data;
}

static uint32_t
next_random(uint32_t *x)
{
	*x = *x * 1664525u + 1013904223u;
	return *x >> 8;
}

/* Damages a copy of a log in one of several ways; its new size. */
static size_t
damage(unsigned char *d, size_t size, unsigned how, uint32_t seed)
{
	uint32_t x = seed;
	size_t at, n;
	int i;

	switch (how) {
	case 1: /* bits */
		for (i = 0; i < 40; i++)
			d[next_random(&x) % size] ^=
			    (unsigned char)(1u << next_random(&x) % 8);
		return size;
	case 2: /* bytes are missing */
		for (i = 0; i < 9; i++) {
			at = next_random(&x) % size;
			n = next_random(&x) % 300;
			n = n < size - at ? n : size - at;
			memmove(d + at, d + at + n, size - at - n);
			size -= n;
		}
		return size;
	case 3: /* a long part is noise */
		at = size / 3;
		for (n = at; n < at + size / 4; n++)
			d[n] = (unsigned char)next_random(&x);
		return size;
	case 4: /* a long part is gone, and the end is cut */
		at = size / 4;
		n = size / 5 | 1;
		memmove(d + at, d + at + n, size - at - n);
		return size - n - 5;
	default: return size;
	}
}

/* Adds the log at a path to another one in the native format. */
static void
append(const char *path, const char *to, const char *key, const char *value)
{
	int in = tel_open_path(path), out = open(to, O_WRONLY | O_APPEND);
	tel_reader *r = must(tel_reader_new());
	tel_output *o = must(tel_output_new_fd(out));
	tel_writer *w = must(tel_writer_new(o));
	const tel_event *ev;

	must_ok(tel_reader_open_fd(r, in, "log"));
	must_ok(tel_writer_set_target(w, "tel"));
	if (key != NULL)
		must_ok(tel_writer_set_metadata(w, key, value));
	while (tel_reader_next(r, &ev) == TEL_OK)
		must_ok(tel_writer_event(w, ev));
	must_ok(tel_writer_finish(w));
	must_ok(tel_output_finish(o));
	tel_writer_free(w);
	tel_output_free(o);
	tel_reader_free(r);
	close(in);
	close(out);
}

static void
convert(const char *path, const char *to)
{
	write_file(to, "", 0);
	append(path, to, NULL, NULL);
}

/* Damages a file in a way, and compares.  Returns as compare(). */
static unsigned
damage_and_compare(const char *path, const char *what, unsigned how,
    unsigned pieces)
{
	unsigned char *data;
	size_t size, n;

	data = read_file(path, &size);
	n = damage(data, size, how, how + pieces);
	write_file(path, data, n);
	free(data);
	return compare(path, what, pieces);
}

/*
 * Two streams.  What the second one says of its log, the reader of the first
 * piece does not learn: this is not read in pieces.
 */
static void
compare_streams(const char *from, const char *path, const char *key,
    const char *value)
{
	uint64_t *list = NULL;
	size_t n = 0;
	unsigned refused = 0;
	char *want, *got;
	int fd;

	convert(from, path);
	append(from, path, key, value);
	fd = tel_open_path(path);
	want = read_alone(fd, &list, &n);
	close(fd);
	n = 0;
	got = read_pieces(path, 6, &list, &n, &refused);
	ok(want != NULL && refused > 0, "the second of two streams, with %s",
	    key == NULL ? "no metadata" : key);
	if (got != NULL)
		same(got, want, "as one reader reads them");
	free(want);
	free(got);
	free(list);
}

/* A log of the native format that has groups of blocks, and a directory. */
static void
compare_groups(const char *log, const char *path, const char *const *hows)
{
	char from[] = "/tmp/tel-pieces.XXXXXX", what[300];
	unsigned char *data, *many;
	unsigned how, refused;
	size_t size, i;
	int fd = mkstemp(from);

	if (fd < 0)
		abort();
	close(fd);
	data = load_log(log, &size);
	many = malloc(9 * size);
	if (many == NULL)
		abort();
	for (i = 0; i < 9; i++)
		memcpy(many + i * size, data, size);
	write_file(from, many, 9 * size);
	free(many);
	free(data);
	for (how = 0; how < 5; how++) {
		convert(from, path);
		snprintf(what, sizeof(what), "groups of blocks, %s", hows[how]);
		refused = damage_and_compare(path, what, how, 6);
		if (how == 0)
			ok(refused == 0, "%s: in pieces", what);
	}
	compare_streams(from, path, NULL, NULL);
	compare_streams(from, path, "step", "two");
	unlink(from);
}

int
main(void)
{
	static const unsigned pieces[] = { 3, 13, 2, 31, 7 };
	static const char *const hows[] = { "whole", "bits changed",
		"bytes missing", "noise", "a part gone" };
	char path[] = "/tmp/tel-pieces.XXXXXX", what[300];
	unsigned char *data, *copy;
	const char *name;
	size_t size, n;
	unsigned how, refused, refusals = 0, tried = 0;
	glob_t g;
	size_t i;
	int fd = mkstemp(path);

	if (fd < 0 || glob("tests/data/mps/*.log.zst", 0, NULL, &g) != 0)
		abort();
	close(fd);
	for (i = 0; i < g.gl_pathc; i++) {
		data = load_log(g.gl_pathv[i], &size);
		copy = malloc(size + 1);
		if (copy == NULL)
			abort();
		name = strrchr(g.gl_pathv[i], '/') + 1;
		for (how = 0; how < 5; how++) {
			memcpy(copy, data, size);
			n = damage(copy, size, how, (uint32_t)i + 1);
			write_file(path, copy, n);
			snprintf(what, sizeof(what), "%s, %s", name, hows[how]);
			refused = compare(path, what, pieces[(i + how) % 5]);
			if (how > 0)
				continue;
			refusals += refused;
			tried += pieces[i % 5] - 1;
		}
		free(copy);
		free(data);
	}
	globfree(&g);
	/* an event that is guessed wrong is rare */
	ok(refusals * 10 < tried, "%u of %u pieces are refused", refusals,
	    tried);
	/* blocks of the native format */
	if (glob("tests/data/mps/*awlut.log.zst", 0, NULL, &g) != 0)
		abort();
	for (i = 0; i < g.gl_pathc; i++)
		for (how = 0; how < 5; how++) {
			convert(g.gl_pathv[i], path);
			snprintf(what, sizeof(what), "%s as tel, %s",
			    strrchr(g.gl_pathv[i], '/') + 1, hows[how]);
			refused = damage_and_compare(path, what, how,
			    pieces[(i + how) % 5]);
			if (how == 0)
				ok(refused == 0, "%s: in pieces", what);
		}
	if (g.gl_pathc > 0)
		compare_groups(g.gl_pathv[0], path, hows);
	globfree(&g);
	unlink(path);
	return done();
}
