/* SPDX-License-Identifier: BSD-2-Clause */
/* Raw sources to test with, and a check of data through each of them. */
#ifndef SOURCES_H
#define SOURCES_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <time.h>

#include "inputs.h"

#define SIZE ((size_t)600001)

static const size_t read_sizes[] = { 1, 2, 7, 4096, (size_t)1 << 18,
	(size_t)1 << 20 };
#define NSIZES (sizeof(read_sizes) / sizeof(read_sizes[0]))

/* A source for tel__input_callback(): fails with EIO at a given place. */
struct feed {
	const unsigned char *data;
	size_t size, at;
	size_t fail_at; /* SIZE_MAX: never */
	int lie;        /* gives more than was asked for */
};

static inline ptrdiff_t
feed_read(void *arg, void *buffer, size_t size)
{
	struct feed *f = arg;
	size_t n = f->size - f->at;

	if (f->lie)
		return (ptrdiff_t)size + 1;
	if (f->at >= f->fail_at) {
		errno = EIO;
		return -1;
	}
	if (n > size)
		n = size;
	if (n > f->fail_at - f->at)
		n = f->fail_at - f->at;
	memcpy(buffer, f->data + f->at, n);
	f->at += n;
	return (ptrdiff_t)n;
}

/* A thread that writes into a pipe and pauses at a given place. */
struct writer {
	const unsigned char *data;
	size_t size;
	size_t pause_every; /* 0: never */
	int fd;
	pthread_t thread;
};

static inline void *
write_pipe(void *arg)
{
	struct writer *w = arg;
	struct timespec pause = { 0, 2000000 };
	size_t at = 0, n;
	ssize_t done;

	while (at < w->size) {
		n = w->size - at;
		if (w->pause_every > 0 && n > w->pause_every)
			n = w->pause_every;
		done = write(w->fd, w->data + at, n);
		if (done < 0)
			break;
		at += (size_t)done;
		if (w->pause_every > 0)
			nanosleep(&pause, NULL);
	}
	close(w->fd);
	return NULL;
}

/* Begins to write; gives the end to read from. */
static inline int
start_writer(struct writer *w)
{
	int fds[2];

	if (pipe(fds) != 0)
		abort();
	w->fd = fds[1];
	if (pthread_create(&w->thread, NULL, write_pipe, w) != 0)
		abort();
	return fds[0];
}

/* Unpacks raw, reads all of it, and frees it. */
static inline void
check_all(struct tel_input *raw, const unsigned char *want, size_t size,
    size_t most, const char *what, size_t read_size)
{
	struct tel_input *in;
	struct all all;

	if (!ok(tel__input_unpack(raw, &in) == TEL_OK,
	        "%s, reads of %zu: opens", what, read_size))
		return;
	all = read_all(in, want, size, most);
	ok(all.status == TEL_OK && !all.wrong && all.good == size,
	    "%s, reads of %zu, windows to %zu: all is there", what, read_size,
	    most);
	if (all.status != TEL_OK)
		diag("%s", tel__input_error(in));
	tel__input_free(in);
}

/* data, which unpacks to want, through each kind of raw source. */
static inline void
check_sources(const char *what, const unsigned char *data, size_t size,
    const unsigned char *want, size_t want_size)
{
	char path[] = "/tmp/tel-test.XXXXXX";
	struct tel_input *raw;
	int fd = mkstemp(path);
	size_t i, most, read_size;

	if (fd < 0)
		abort();
	unlink(path);
	if (write(fd, data, size) != (ssize_t)size)
		abort();
	for (i = 0; i < NSIZES; i++) {
		struct feed feed = { data, size, 0, SIZE_MAX, 0 };
		struct writer writer = { data, size, 0, -1, 0 };

		read_size = read_sizes[i];
		most = read_size < 100 ? 300 : TEL_PEEK_MAX;
		if (tel__input_memory(data, size, read_size, &raw) != TEL_OK)
			abort();
		check_all(raw, want, want_size, most, what, read_size);
		if (tel__input_callback(feed_read, NULL, &feed, read_size,
		        &raw) != TEL_OK)
			abort();
		check_all(raw, want, want_size, most, what, read_size);
		lseek(fd, 0, SEEK_SET);
		if (tel__input_fd(fd, 0, read_size, &raw) != TEL_OK)
			abort();
		check_all(raw, want, want_size, most, what, read_size);
		if (tel__input_fd(start_writer(&writer), 1, read_size, &raw) !=
		    TEL_OK)
			abort();
		check_all(raw, want, want_size, most, what, read_size);
		pthread_join(writer.thread, NULL);
	}
	close(fd);
}

#endif
