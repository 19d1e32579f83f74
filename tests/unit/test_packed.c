/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compressed input: each kind, made by its own tool in a scratch folder; a
 * kind whose tool is missing is left out.
 */
#include <time.h>

#include "packed.h"

/* The file called name holds bytes, compressed. */
static void
check_compressed(const char *name, const unsigned char *bytes, size_t size)
{
	unsigned char *data = NULL;
	struct tel_input *in;
	FILE *pipe = NULL;
	const char *what;
	struct all all;
	unsigned way;

	for (way = 0; (in = open_way(name, way, &what, &pipe, &data)) != NULL;
	     way++) {
		all = read_all(in, bytes, size, 60000);
		if (!ok(all.status == TEL_OK && !all.wrong &&
		            all.good == size && !tel__input_is_archive(in),
		        "%s from %s", name, what))
			diag("%zu bytes, %s", all.good, tel__input_error(in));
		close_way(in, &pipe, &data);
	}
}

/* The file called name, cut and with bytes flipped. */
static void
check_damaged(const char *name, const unsigned char *bytes, size_t size)
{
	size_t n, at, most = 0;
	unsigned char *data = load(name, &n);
	int wrong = 0, quiet = 0;
	struct tel_input *in;
	struct all all;

	if (data == NULL)
		abort();
	for (at = 12; at < n; at += 1 + n / 29) {
		in = open_memory(data, at, 4096);
		all = read_all(in, bytes, size, 9999);
		wrong += all.wrong || all.status != TEL_EDAMAGED;
		most = all.good > most ? all.good : most;
		tel__input_free(in);
	}
	is_u64((uint64_t)wrong, 0, "%s cut: a failure after what is good",
	    name);
	/* those two have but one block here, which is whole or nothing */
	if (strstr(name, "bz2") == NULL && strstr(name, "lz4") == NULL)
		ok(most > size / 2, "%s cut: up to %zu of %zu bytes", name,
		    most, size);
	for (at = 12; at < n; at += 1 + n / 29) {
		data[at] ^= 0x3c;
		in = open_memory(data, n, 4096);
		quiet += drain(in) == TEL_OK;
		tel__input_free(in);
		data[at] ^= 0x3c;
	}
	is_u64((uint64_t)quiet, 0, "%s damaged: a failure in the end", name);
	in = open_memory(data, n, 4096);
	tel__input_free(in);
	ok(1, "%s freed at once", name);
	free(data);
}

/* Something else behind the end does not pass unseen. */
static void
check_tail(const char *end)
{
	struct tel_input *in;
	char name[64];

	snprintf(name, sizeof(name), "tail.%s", end);
	in = open_name(name, NULL);
	ok(drain(in) == TEL_EDAMAGED, "%s: %s", name, tel__input_error(in));
	tel__input_free(in);
}

static void
check_codec(const char *tool, const char *end, const unsigned char *bytes)
{
	char name[64];

	if (!have(tool, end))
		return;
	snprintf(name, sizeof(name), "one.%s", end);
	ok(shell("%s -c <whole >%s", tool, name) == 0, "%s made", name);
	check_compressed(name, bytes, SIZE);
	check_damaged(name, bytes, SIZE);
	snprintf(name, sizeof(name), "frames.%s", end);
	ok(shell("for f in a b c; do %s -c <$f; done >%s", tool, name) == 0,
	    "%s made", name);
	check_compressed(name, bytes, SIZE);
	ok(shell("%s -c <whole >tail.%s; printf 'a%%.0s' 1 2 3 >>tail.%s", tool,
	       end, end) == 0,
	    "tail.%s made", end);
	check_tail(end);
	snprintf(name, sizeof(name), "empty.%s", end);
	ok(shell("%s -c </dev/null >%s", tool, name) == 0, "%s made", name);
	check_compressed(name, bytes, 0);
}

/* A live pipe of another compression can be freed while it waits. */
static void
check_free_waiting(const char *tool, const char *name)
{
	struct timespec a, b;
	unsigned char *data;
	struct tel_input *in;
	size_t size;
	int fds[2];

	if (!have(tool, name))
		return;
	data = load(name, &size);
	if (data == NULL || pipe(fds) != 0 || write(fds[1], data, 2000) != 2000)
		abort();
	if (tel__input_fd(fds[0], 1, 4096, &in) != TEL_OK)
		abort();
	/* what is in the pipe may be too little to tell an archive by, so
	 * the rest must come: it does when this process ends the pipe */
	close(fds[1]);
	in = unpack(in);
	clock_gettime(CLOCK_MONOTONIC, &a);
	tel__input_free(in);
	clock_gettime(CLOCK_MONOTONIC, &b);
	ok(b.tv_sec - a.tv_sec < 60, "%s freed while half read", name);
	free(data);
}

int
main(void)
{
	unsigned char *bytes = make_bytes(SIZE, 2);

	make_folder();
	store("a", bytes, 100000);
	store("b", bytes + 100000, 7);
	store("c", bytes + 100007, SIZE - 100007);
	store("whole", bytes, SIZE);
	check_codec("gzip", "gz", bytes);
	check_codec("bzip2", "bz2", bytes);
	check_codec("xz", "xz", bytes);
	check_codec("lz4", "lz4", bytes);
	check_codec("zstd", "zst", bytes);
	check_free_waiting("gzip", "one.gz");
	check_free_waiting("zstd", "one.zst");
	shell("rm -rf %s", folder);
	free(bytes);
	return done();
}
