/* SPDX-License-Identifier: BSD-2-Clause */
/* Input: raw sources, their windows and their failures. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>

#include "must.h"
#include "io/source.h"
#include "sources.h"

static void
check_windows(const unsigned char *bytes)
{
	const unsigned char *data, *again;
	struct tel_input *in;
	size_t avail, most;

	most = TEL_PEEK_MAX;
	if (tel__input_memory(bytes, SIZE, most, &in) != TEL_OK)
		abort();
	ok(tel__input_peek(in, 1, &data, &avail) == TEL_OK && data == bytes,
	    "memory is not copied");
	is_u64(tel__input_raw_bytes(in), avail, "bytes taken are counted");
	tel__input_consume(in, 5);
	ok(tel__input_peek(in, most, &again, &avail) == TEL_OK &&
	        again == bytes + 5 && avail >= most,
	    "the widest window");
	ok(tel__input_peek(in, SIZE, &again, &avail) == TEL_OK && avail >= most,
	    "a window asked too wide is the widest");
	ok(!tel__input_is_archive(in), "it is not an archive");
	ok(tel__input_next_member(in, (const char **)&(const char *){ NULL }) ==
	        TEL_END,
	    "and has no members");
	tel__input_free(in);
	if (tel__input_memory(NULL, 0, most, &in) != TEL_OK)
		abort();
	check_all(in, bytes, 0, 9, "nothing", 1);
	tel__input_free(NULL);
	ok(1, "NULL can be freed");
}

static void
check_failures(const unsigned char *bytes)
{
	static const size_t at[] = { 0, 1, 100, 262144, 300000 };
	const unsigned char *data;
	struct tel_input *in;
	struct all all;
	size_t avail, i;
	int fd;

	for (i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		struct feed feed = { bytes, SIZE, 0, at[i], 0 };

		if (tel__input_callback(feed_read, NULL, &feed, 4096, &in) !=
		        TEL_OK ||
		    tel__input_unpack(in, &in) != TEL_OK)
			abort();
		all = read_all(in, bytes, SIZE, 5000);
		ok(all.status == TEL_EIO && all.good == at[i] && !all.wrong,
		    "a function that fails after %zu bytes", at[i]);
		errno = 0;
		ok(tel__input_peek(in, 1, &data, &avail) == TEL_EIO &&
		        errno == EIO,
		    "it sets errno");
		is_str(tel__input_error(in), strerror(EIO), "and says why");
		tel__input_free(in);
	}
	{
		struct feed feed = { bytes, SIZE, 0, SIZE_MAX, 1 };

		if (tel__input_callback(feed_read, NULL, &feed, 10, &in) !=
		    TEL_OK)
			abort();
		ok(tel__input_peek(in, 1, &data, &avail) == TEL_EIO &&
		        avail == 0,
		    "a function that gives too much");
		diag("%s", tel__input_error(in));
		tel__input_free(in);
	}
	fd = open("/", O_RDONLY);
	if (tel__input_fd(fd, 1, 4096, &in) != TEL_OK ||
	    tel__input_unpack(in, &in) != TEL_OK)
		abort();
	ok(tel__input_peek(in, 1, &data, &avail) == TEL_EIO && errno == EISDIR,
	    "a directory: %s", tel__input_error(in));
	tel__input_free(in);
	ok(fcntl(fd, F_GETFD) == -1, "the descriptor was closed");
}

/* A pipe is given as it comes, and one that does not block waited for. */
static void
check_live_pipe(const unsigned char *bytes)
{
	struct writer writer = { bytes, 20000, 1500, -1, 0 };
	const unsigned char *data;
	struct tel_input *in;
	struct all all;
	size_t avail;
	int fds[2];

	if (pipe(fds) != 0 || write(fds[1], "\x1d\0\x30\0 abc", 8) != 8)
		abort();
	if (tel__input_fd(fds[0], 1, 4096, &in) != TEL_OK ||
	    tel__input_unpack(in, &in) != TEL_OK)
		abort();
	ok(tel__input_peek(in, 8, &data, &avail) == TEL_OK && avail == 8 &&
	        memcmp(data + 4, " abc", 4) == 0,
	    "8 bytes of a live log are not waited with");
	tel__input_free(in);
	close(fds[1]);

	fds[0] = start_writer(&writer);
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	if (tel__input_fd(fds[0], 1, 4096, &in) != TEL_OK)
		abort();
	all = read_all(in, bytes, 20000, 5000);
	ok(all.status == TEL_OK && all.good == 20000 && !all.wrong,
	    "a slow pipe that does not block");
	tel__input_free(in);
	pthread_join(writer.thread, NULL);
}

/* What begins like something and is not, is plain. */
static void
check_plain(void)
{
	static const char *const texts[] = { "", "\x1f", "\x1f\x8b",
		"\x1f\x8b\x09", "BZ", "BZh9 no", "BZh91AY&S", "7z", "PK",
		"PK\3", "07070", "070701ABCDEFABCD Po", "\xc7\x71",
		"\x28\xb5\x2f", "\x04\x22\x4d", "name", "# teltools text 1\n",
		"P 1\n", "\xfd\x37zXZ" };
	const unsigned char *text;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct feed feed = { NULL, strlen(texts[i]), 0, SIZE_MAX, 0 };
		struct tel_input *in;
		struct all all;

		text = (const unsigned char *)texts[i];
		feed.data = text;
		if (tel__input_callback(feed_read, NULL, &feed, 1 + i % 3,
		        &in) != TEL_OK ||
		    tel__input_unpack(in, &in) != TEL_OK)
			abort();
		all = read_all(in, text, feed.size, 100);
		ok(!tel__input_is_archive(in) && all.good == feed.size &&
		        !all.wrong,
		    "plain, if strange (%zu)", i);
		tel__input_free(in);
	}
}

/* Places of an input that has n bytes, by their number and for reading again. */
static void
check_places(struct tel_input *in, const unsigned char *bytes, int64_t n,
    int beyond, const char *what)
{
	const int64_t places[] = { INT64_MIN, -n - 1, -n, -1, 0, 1, n - 1, n,
		n + 1, INT64_MAX };
	const size_t count = sizeof(places) / sizeof(places[0]);
	unsigned char again[16];
	unsigned wrong = 0;
	int64_t last = 0;

	for (size_t i = 0; i < 2 * count; i++) {
		const int from_end = i % 2 != 0;
		const unsigned char *data;
		int64_t to = places[i / 2];
		size_t avail;
		int64_t at =
		    tel__input_seek(in, to, from_end ? SEEK_END : SEEK_SET);
		int valid =
		    !__builtin_add_overflow(to, from_end ? n : 0, &to) &&
		    to >= 0 && to <= n;

		/* the end of a file may yet come */
		if (beyond && to > n)
			continue;
		wrong += at != (valid ? to : -1);
		/* where a seek fails, it stays; more than what was read shows it */
		const int64_t want = at < 0 ? 300 : 2;
		last = to = at < 0 ? last : to;
		wrong += tel__input_peek(in, (size_t)want, &data, &avail) !=
		        TEL_OK ||
		    avail < (size_t)(n - to > want ? want : n - to) ||
		    avail > (size_t)(n - to) ||
		    memcmp(data, bytes + to, avail) != 0;
	}
	is_u64(wrong, 0, "%s: places to read from", what);
	wrong = 0;
	for (int64_t at = 0; at <= n + 1; at += at == 2 ? n - 12 : 1)
		for (size_t size = 1; size <= sizeof(again); size++)
			wrong += tel__input_read_at(in, (uint64_t)at, again,
			             size) != (at + (int64_t)size <= n) ||
			    (at + (int64_t)size <= n &&
			        memcmp(again, bytes + at, size) != 0);
	wrong += (unsigned)tel__input_read_at(in, UINT64_MAX, again, 1);
	is_u64(wrong, 0, "%s: bytes by their place", what);
	is_u64((uint64_t)tel__input_extent(in), (uint64_t)n, "%s: bytes", what);
	tel__input_free(in);
}

/* The functions of a program, of a descriptor. */
static ptrdiff_t
input_read_fd(void *arg, void *to, size_t size)
{
	return read(*(int *)arg, to, size);
}

static int64_t
input_seek_fd(void *arg, int64_t offset, int whence)
{
	return lseek(*(int *)arg, offset, whence);
}

static void
check_seeks(const unsigned char *bytes)
{
	struct tel_input *in;
	char path[] = "/tmp/test_input.XXXXXX";
	int fd = mkstemp(path);

	if (fd < 0 || unlink(path) != 0 || write(fd, bytes, 1000) != 1000)
		abort();

	must_ok(tel__input_memory(bytes, 1000, 64, &in));
	check_places(in, bytes, 1000, 0, "memory");
	must_ok(tel__input_part(fd, 100, 700, 64, &in));
	check_places(in, bytes + 100, 700, 0, "a part of a file");
	if (lseek(fd, 300, SEEK_SET) != 300)
		abort();
	must_ok(
	    tel__input_callback(input_read_fd, input_seek_fd, &fd, 64, &in));
	check_places(in, bytes + 300, 700, 1, "functions, from a place on");
	if (lseek(fd, 300, SEEK_SET) != 300)
		abort();
	must_ok(tel__input_fd(fd, 1, 64, &in));
	check_places(in, bytes + 300, 700, 1, "the rest of a file");
}

static enum tel_packing
packing_of(const void *bytes, size_t n)
{
	struct tel_input *in;

	must_ok(tel__input_memory(bytes, n, 4096, &in));
	const enum tel_packing packing =
	    tel__input_detect(in, TEL_CODECS | TEL_ARCHIVES);
	tel__input_free(in);
	return packing;
}

/* What is behind the input is no part of it, even if it is what is missing. */
static void
check_packings(void)
{
	static const struct {
		enum tel_packing packing;
		const char *bytes;
		size_t n;
	} rows[] = {
		{ TEL_GZIP, "\x1f\x8b\x08", 3 },
		{ TEL_BZIP2, "BZh9\x31\x41\x59\x26\x53\x59", 10 },
		{ TEL_BZIP2, "BZh1\x17\x72\x45\x38\x50\x90", 10 },
		{ TEL_XZ, "\xfd\x37zXZ\0", 6 },
		{ TEL_LZ4, "\x04\x22\x4d\x18", 4 },
		{ TEL_ZSTD, "\x28\xb5\x2f\xfd", 4 },
		{ TEL_ZSTD, "\x50\x2a\x4d\x18", 4 },
		{ TEL_ZSTD, "\x5f\x2a\x4d\x18", 4 },
		{ TEL_ZIP, "PK\3\4", 4 },
		{ TEL_ZIP, "PK\5\6", 4 },
		{ TEL_7ZIP, "7z\xbc\xaf\x27\x1c", 6 },
	};
	unsigned wrong = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (size_t n = 0; n < rows[i].n; n++)
			wrong += packing_of(rows[i].bytes, n) != TEL_PLAIN;
		wrong +=
		    packing_of(rows[i].bytes, rows[i].n) != rows[i].packing;
	}
	is_u64(wrong, 0, "packed by all bytes of a magic");

	struct feed feed = { (const unsigned char *)"BZhi...", 7, 0, SIZE_MAX,
		0 };
	struct tel_input *in;
	must_ok(tel__input_callback(feed_read, NULL, &feed, 1, &in));
	(void)tel__input_detect(in, TEL_CODECS);
	is_u64(feed.at, 4, "no byte is waited for behind a wrong level");
	tel__input_free(in);

	char head[512] = "name";
	memcpy(head + 257, "ustar", 5);
	for (unsigned c = 0; c < 256; c++) {
		head[103] = (char)c;
		wrong += (packing_of(head, sizeof(head)) == TEL_TAR) !=
		    (c == 0 || c == ' ' || (c >= '0' && c <= '7'));
	}
	is_u64(wrong, 0, "a mode of tar has octal digits");
}

int
main(void)
{
	unsigned char *bytes = make_bytes(SIZE, 1);

	check_windows(bytes);
	check_sources("raw", bytes, 70001, bytes, 70001);
	check_failures(bytes);
	check_live_pipe(bytes);
	check_seeks(bytes);
	check_plain();
	check_packings();
	free(bytes);
	return done();
}
