/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each log among the tests' data is claimed by one format, its own, and by no
 * other with the same right; so is its start, whatever its length.
 */
#include <dirent.h>
#include <sys/stat.h>
#include <zstd.h>

#include "ets_make.h"
#include "format/registry.h"
#include "reader/reader.h"
#include "inputs.h"

/* How sure a format is of n bytes. */
static int
score(const struct tel_format_ops *f, const void *data, size_t n)
{
	struct tel_reader *r = tel_reader_new();
	struct tel_input *raw;
	int score;

	if (r == NULL ||
	    tel__input_memory(data, n, (size_t)1 << 18, &raw) != TEL_OK ||
	    tel__input_unpack(raw, &r->in) != TEL_OK)
		exit(1);
	r->log.name = "x";
	r->format = f;
	r->probe_most = TEL_PROBE_SIZE;
	score = f->probe != NULL ? f->probe(r) : 0;
	r->format = NULL;
	tel_reader_free(r);
	return score;
}

/* The form that a reader chooses; "" when it chooses none. */
static const char *
chosen(const void *data, size_t n, char *out, size_t size)
{
	tel_reader *r = tel_reader_new();

	out[0] = '\0';
	if (r == NULL)
		exit(1);
	if (tel_reader_open_memory(r, data, n, "x") == TEL_OK)
		snprintf(out, size, "%s", tel_reader_format(r));
	tel_reader_free(r);
	return out;
}

/*
 * Whether the log is of that form: nobody else is as sure, and ETS, which has
 * no magic, is not sure of anything else at all.
 */
static int
is_claimed(const void *data, size_t n, const char *name)
{
	int own = 0, other = 0, s, ets = 0;
	const struct tel_format_ops *f;
	char form[32];
	unsigned i;

	for (i = 0; i < tel__formats.count; i++) {
		f = tel__formats.rows[i].format;
		s = score(f, data, n);
		if (strcmp(f->name, name) == 0)
			own = s;
		else if (s > other)
			other = s;
		if (strcmp(f->name, "ets") == 0)
			ets = s;
	}
	chosen(data, n, form, sizeof(form));
	if (own > other && strcmp(form, name) == 0 &&
	    (ets == 0 || strcmp(name, "ets") == 0))
		return 1;
	diag("%zu bytes of %s: %d, another %d, ets %d, read as %s", n, name,
	    own, other, ets, form);
	return 0;
}

/* Whether what is left of a log is claimed by no wrong one. */
static int
is_not_wrong(const void *data, size_t n, const char *name)
{
	char form[32];

	chosen(data, n, form, sizeof(form));
	if ((form[0] == '\0' || strcmp(form, name) == 0) &&
	    (strcmp(name, "ets") == 0 ||
	        score(tel__format_find(&tel__formats, "ets"), data, n) == 0))
		return 1;
	diag("%zu bytes of %s are read as %s", n, name, form);
	return 0;
}

/* A log whole, packed, and cut everywhere that is worth it. */
static void
check(const char *path, const unsigned char *data, size_t n, const char *name)
{
	static const size_t sizes[] = { 64, 65, 80, 96, 100, 127, 128, 200, 256,
		500, 512, 1000, 1024, 4095, 4096, 10000, 65536 };
	size_t bound = ZSTD_compressBound(n), size, i;
	unsigned char *packed = malloc(bound);
	unsigned bad = 0;

	ok(is_claimed(data, n, name), "%s is %s", path, name);
	if (packed == NULL)
		exit(1);
	size = ZSTD_compress(packed, bound, data, n, 1);
	ok(!ZSTD_isError(size) && is_claimed(packed, size, name),
	    "  packed, too");
	free(packed);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && sizes[i] < n; i++)
		bad += !is_not_wrong(data, sizes[i], name);
	is_u64(bad, 0, "  and its start");
}

static int
ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && strcmp(s + n - m, end) == 0;
}

/* What a file of the tests' data is; NULL: no log, or one that is damaged. */
static const char *
form_of(const char *folder, const char *file)
{
	static const char *const allocs[] = { "android", "heaptrack-data",
		"heaptrack", "kdump", "logalloc", "ltrace", "mtrace", "rep",
		"valgrind" };
	char end[32];
	size_t i;

	if (strcmp(folder, "mps") == 0)
		return ends_with(file, ".log.zst") ? "mps" :
		    ends_with(file, ".cnv.zst")    ? "cnv" :
		                                     NULL;
	if (strncmp(folder, "hpm/", 4) == 0)
		return ends_with(file, ".startup") ? "hpm" : NULL;
	for (i = 0; strcmp(folder, "alloc") == 0 &&
	     i < sizeof(allocs) / sizeof(allocs[0]);
	     i++) {
		snprintf(end, sizeof(end), ".%s", allocs[i]);
		if (strstr(file, end) != NULL)
			return allocs[i];
	}
	if (strcmp(folder, "ftrace") == 0)
		return file[0] != '.' ? "ftrace" : NULL;
	if (strcmp(folder, "jfr") == 0)
		return ends_with(file, ".jfr.zst") ? "jfr" : NULL;
	if (strcmp(folder, "ets") == 0)
		return strncmp(file, "good-", 5) == 0 ? "ets" : NULL;
	return NULL;
}

/* The bytes of a file, unpacked. */
static unsigned char *
load(const char *path, size_t *n)
{
	unsigned char *packed = read_file(path, n), *data;
	unsigned long long size;

	if (packed == NULL || !ends_with(path, ".zst"))
		return packed;
	size = ZSTD_getFrameContentSize(packed, *n);
	if (size > (unsigned long long)1 << 28)
		size = (unsigned long long)1 << 28;
	data = malloc((size_t)size + 1);
	if (data == NULL)
		exit(1);
	*n = ZSTD_decompress(data, (size_t)size, packed, *n);
	free(packed);
	if (ZSTD_isError(*n)) {
		free(data);
		return NULL;
	}
	return data;
}

/* Looks at the logs of a folder.  Returns how many there are. */
static unsigned
look(const char *folder)
{
	const char *top = getenv("TEL_TOP"), *form;
	char path[1024];
	struct dirent *entry;
	unsigned char *data;
	unsigned count = 0;
	struct bytes b;
	size_t n;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/tests/data/%s",
	    top != NULL ? top : ".", folder);
	dir = opendir(path);
	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		form = form_of(folder, entry->d_name);
		if (form == NULL)
			continue;
		snprintf(path, sizeof(path), "%s/tests/data/%s/%s",
		    top != NULL ? top : ".", folder, entry->d_name);
		data = load(path, &n);
		if (data == NULL) {
			ok(0, "%s can be read", path);
			continue;
		}
		if (strcmp(form, "ets") == 0) {
			data = realloc(data, n + 1);
			if (data == NULL)
				exit(1);
			data[n] = '\0';
			b = make_log((char *)data);
			free(data);
			data = b.data;
			n = b.size;
		}
		check(entry->d_name, data, n, form);
		free(data);
		count++;
	}
	if (dir != NULL)
		closedir(dir);
	return count;
}

/* Bytes of no log, some of which resemble one. */
static void
test_noise(void)
{
	const struct tel_format_ops *ets =
	    tel__format_find(&tel__formats, "ets");
	unsigned char *bytes = make_bytes(1 << 16, 1);
	unsigned i, bad = 0;

	for (i = 0; i < 1000; i++)
		bad += score(ets, bytes + i, 1000 + i) != 0;
	memset(bytes, 0, 1 << 16);
	bad += score(ets, bytes, 1 << 16) != 0;
	/* small numbers in all sorts of places */
	for (i = 0; i < 1 << 16; i++)
		bytes[i] = i % 4 == 0 ? (unsigned char)(i / 4 % 32) : 0;
	for (i = 0; i < 256; i++)
		bad += score(ets, bytes + i, 4096) != 0;
	is_u64(bad, 0, "noise is not an ETS log");
	free(bytes);
}

/* Lines of mpseventcnv without fields, as text has none of such a name. */
static void
test_codes(void)
{
	static const char digits[] = "0123456789ABCDEF";
	char line[32], form[32];
	unsigned place, d, bad = 0;

	for (place = 0; place < 4; place++)
		for (d = 0; d < 16; d++) {
			snprintf(line, sizeof(line), "%016X B00C\n", 1);
			line[17 + place] = digits[d];
			bad += strcmp(chosen(line, 22, form, sizeof(form)),
			           "text") == 0;
		}
	line[20] = 'G';
	bad += strcmp(chosen(line, 22, form, sizeof(form)), "text") != 0;
	is_u64(bad, 0, "a word of four hexadecimal digits is a code");
}

int
main(void)
{
	ok(look("mps") > 20, "streams of the MPS");
	ok(look("hpm/v1be") + look("hpm/v2be") + look("hpm/v3be") >= 6,
	    "HPM traces");
	ok(look("alloc") > 20, "traces of allocators");
	ok(look("ets") > 0, "ETS logs");
	ok(look("ftrace") > 3, "traces of the kernel");
	ok(look("jfr") == 4, "recordings of Java Flight Recorder");
	test_noise();
	test_codes();
	return done();
}
