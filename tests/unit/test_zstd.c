/* SPDX-License-Identifier: BSD-2-Clause */
/* Zstd: frames, damage, and the thread that decodes them. */
#include <sys/resource.h>
#include <zstd.h>

#include "sources.h"

/* Compresses; the caller frees *out. */
static size_t
compress_into(unsigned char **out, const unsigned char *data, size_t size)
{
	size_t room = ZSTD_compressBound(size);

	*out = malloc(room);
	if (*out == NULL)
		abort();
	return ZSTD_compress(*out, room, data, size, 3);
}

/* Several frames with skippable ones between; the caller frees *out. */
static size_t
make_frames(unsigned char **out, const unsigned char *bytes)
{
	static const unsigned char skippable[] = { 0x53, 0x2a, 0x4d, 0x18, 5, 0,
		0, 0, 'a', 'b', 'c', 'd', 'e' };
	static const size_t cut[] = { 0, 10, 10, 300000, SIZE };
	unsigned char *all = malloc(2 * SIZE), *frame;
	size_t size = 0, n, i;

	if (all == NULL)
		abort();
	for (i = 0; i + 1 < sizeof(cut) / sizeof(cut[0]); i++) {
		memcpy(all + size, skippable, sizeof(skippable));
		size += sizeof(skippable);
		n = compress_into(&frame, bytes + cut[i], cut[i + 1] - cut[i]);
		memcpy(all + size, frame, n);
		size += n;
		free(frame);
	}
	*out = all;
	return size;
}

static struct tel_input *
open_zstd(const unsigned char *data, size_t size, size_t read_size)
{
	struct tel_input *in;

	if (tel__input_memory(data, size, read_size, &in) != TEL_OK ||
	    tel__input_unpack(in, &in) != TEL_OK)
		abort();
	return in;
}

static void
check_zstd_damage(const unsigned char *bytes)
{
	unsigned char *frame;
	size_t size = compress_into(&frame, bytes, SIZE), cut, last = 0;
	int wrong = 0, undetected = 0;
	struct tel_input *in;
	struct all all;

	for (cut = 5; cut < size; cut += 1 + size / 97) {
		in = open_zstd(frame, cut, 4096);
		all = read_all(in, bytes, SIZE, 5000);
		if (all.wrong || all.status != TEL_EDAMAGED ||
		    all.good < last ||
		    strcmp(tel__input_error(in),
		        "zstd: input ends inside a frame") != 0)
			wrong++;
		last = all.good;
		tel__input_free(in);
	}
	is_u64((uint64_t)wrong, 0, "frames cut anywhere give what is whole");
	ok(last > SIZE / 2, "the last cut gave %zu bytes", last);
	for (cut = 20; cut < size; cut += 1 + size / 97) {
		frame[cut] ^= 0x55;
		in = open_zstd(frame, size, 65536);
		/* without a checksum some damage cannot be seen */
		all = read_all(in, bytes, SIZE, 5000);
		if (all.status != TEL_EDAMAGED && !all.wrong)
			undetected++;
		tel__input_free(in);
		frame[cut] ^= 0x55;
	}
	is_u64((uint64_t)undetected, 0,
	    "no flipped byte reads as if it were not");
	in = open_zstd((const unsigned char *)"\x28\xb5\x2f\xfd\xff\xff\xff", 7,
	    1);
	all = read_all(in, bytes, 0, 10);
	ok(all.status == TEL_EDAMAGED, "a damaged header: %s",
	    tel__input_error(in));
	tel__input_free(in);
	free(frame);
}

static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A frame that was flushed flows; freeing never waits for the rest. */
static void
check_zstd_live(const unsigned char *bytes)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();
	unsigned char packed[8192];
	ZSTD_inBuffer from = { bytes, 1000, 0 };
	ZSTD_outBuffer to = { packed, sizeof(packed), 0 };
	const unsigned char *data;
	struct tel_input *in;
	size_t avail;
	double begin;
	int fds[2], round;

	if (context == NULL ||
	    ZSTD_compressStream2(context, &to, &from, ZSTD_e_flush) != 0)
		abort();
	ZSTD_freeCCtx(context);
	for (round = 0; round < 2; round++) {
		if (pipe(fds) != 0 ||
		    write(fds[1], packed, to.pos) != (ssize_t)to.pos)
			abort();
		if (round == 1)
			fcntl(fds[0], F_SETFL, O_NONBLOCK);
		if (tel__input_fd(fds[0], 1, 4096, &in) != TEL_OK ||
		    tel__input_unpack(in, &in) != TEL_OK)
			abort();
		ok(tel__input_peek(in, 1000, &data, &avail) == TEL_OK &&
		        avail == 1000 && memcmp(data, bytes, 1000) == 0,
		    "what was flushed of an open frame is given");
		is_u64(tel__input_raw_bytes(in), to.pos, "bytes taken");
		begin = seconds();
		tel__input_free(in);
		ok(seconds() - begin < 60, "freeing does not wait for a pipe");
		close(fds[1]);
	}
}

static void
check_zstd_free(const unsigned char *bytes)
{
	unsigned char *frame;
	size_t size = compress_into(&frame, bytes, SIZE), i, avail;
	struct feed feed = { frame, size, 0, size / 2, 0 };
	const unsigned char *data;
	struct tel_input *in;
	struct all all;

	for (i = 0; i < 20; i++) {
		in = open_zstd(frame, size, read_sizes[i % NSIZES]);
		if (i % 2 == 1)
			tel__input_peek(in, i * 1000, &data, &avail);
		tel__input_free(in);
	}
	ok(1, "freed at any time");
	if (tel__input_callback(feed_read, NULL, &feed, 4096, &in) != TEL_OK ||
	    tel__input_unpack(in, &in) != TEL_OK)
		abort();
	all = read_all(in, bytes, SIZE, 9999);
	ok(all.status == TEL_EIO && !all.wrong && all.good > 0 &&
	        strcmp(tel__input_error(in), strerror(EIO)) == 0,
	    "a failure below a frame, after %zu bytes", all.good);
	tel__input_free(in);
	free(frame);
}

/* Where no descriptor is left, and so no thread, decoding goes on without. */
static void
check_no_thread(const unsigned char *bytes)
{
	struct rlimit old, few;
	unsigned char *frame;
	size_t size = compress_into(&frame, bytes, SIZE);
	struct tel_input *in;
	struct all all;

	if (getrlimit(RLIMIT_NOFILE, &old) != 0)
		abort();
	few = old;
	few.rlim_cur = 3;
	if (setrlimit(RLIMIT_NOFILE, &few) != 0)
		abort();
	in = open_zstd(frame, size, 4096);
	setrlimit(RLIMIT_NOFILE, &old);
	all = read_all(in, bytes, SIZE, TEL_PEEK_MAX);
	ok(all.status == TEL_OK && !all.wrong && all.good == SIZE,
	    "zstd without a thread");
	tel__input_free(in);
	free(frame);
}

int
main(void)
{
	unsigned char *bytes = make_bytes(SIZE, 1), *frames;
	size_t size;

	size = make_frames(&frames, bytes);
	check_sources("zstd", frames, size, bytes, SIZE);
	free(frames);
	size = compress_into(&frames, bytes, 0);
	check_sources("empty zstd", frames, size, bytes, 0);
	free(frames);
	check_zstd_damage(bytes);
	check_zstd_live(bytes);
	check_zstd_free(bytes);
	check_no_thread(bytes);
	free(bytes);
	return done();
}
