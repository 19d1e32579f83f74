/* SPDX-License-Identifier: BSD-2-Clause */
/* Output: what is put in comes out whole, and a failure is never lost. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "io/output.h"
#include "tap.h"

#define SIZE ((size_t)400000)
#define CAP ((size_t)1 << 24)

/* Takes at most step bytes at a time, and fails after room bytes. */
struct sink {
	unsigned char *data;
	size_t used, room, step;
	int error;
	int calls;
};

static ptrdiff_t
sink_write(void *arg, const void *data, size_t size)
{
	struct sink *s = arg;

	s->calls++;
	if (s->used >= s->room) {
		errno = s->error;
		return -1;
	}
	if (size > s->step)
		size = s->step;
	if (size > s->room - s->used)
		size = s->room - s->used;
	memcpy(s->data + s->used, data, size);
	s->used += size;
	return (ptrdiff_t)size;
}

static ptrdiff_t
write_nothing(void *arg, const void *data, size_t size)
{
	(void)arg;
	(void)data;
	(void)size;
	return 0;
}

static ptrdiff_t
write_too_much(void *arg, const void *data, size_t size)
{
	(void)arg;
	(void)data;
	return (ptrdiff_t)size + 1;
}

/* Puts all of data into out, in pieces of many sizes and both ways. */
static void
put_all(tel_output *out, const unsigned char *data, size_t size)
{
	unsigned char *room;
	size_t at = 0, n;
	uint32_t x = 7;

	while (at < size) {
		x = x * 1664525u + 1013904223u;
		n = (x >> 8) % (x >> 31 ? 100000 : 300);
		if (n > size - at)
			n = size - at;
		if (x & 0x40000000) {
			tel_output_write(out, data + at, n);
		} else {
			room = tel_output_room(out, n);
			if (room != NULL) {
				memcpy(room, data + at, n);
				out->used += n;
			}
		}
		at += n;
	}
}

static void
check_steps(const unsigned char *data, struct sink *sink)
{
	static const size_t steps[] = { 1, 2, 7, 4096, 65536, SIZE };
	tel_output *out;
	size_t i;

	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		sink->used = 0;
		sink->room = SIZE;
		sink->step = steps[i];
		out = tel_output_new_callback(sink_write, sink);
		if (out == NULL)
			abort();
		put_all(out, data, SIZE);
		is_u64(tel_output_bytes(out), SIZE, "bytes are counted");
		ok(tel_output_flush(out) == TEL_OK && sink->used == SIZE &&
		        memcmp(sink->data, data, SIZE) == 0,
		    "writes of at most %zu bytes", steps[i]);
		is_u64(tel_output_bytes(out), SIZE, "and stay so");
		is_u64((uint64_t)tel_output_errno(out), 0, "no failure");
		tel_output_free(out);
	}
}

static void
check_failures(const unsigned char *data, struct sink *sink)
{
	int lost = 0, bad = 0, again = 0, calls;
	tel_output *out;
	size_t room;

	sink->step = 5000;
	for (room = 0; room < SIZE; room += 1 + SIZE / 211) {
		sink->used = 0;
		sink->room = room;
		sink->error = sink->error == ENOSPC ? EPERM : ENOSPC;
		out = tel_output_new_callback(sink_write, sink);
		if (out == NULL)
			abort();
		put_all(out, data, SIZE);
		lost += tel_output_flush(out) != TEL_EIO ||
		    tel_output_errno(out) != sink->error;
		bad +=
		    sink->used != room || memcmp(sink->data, data, room) != 0;
		/* it stays failed, and nothing more is written */
		calls = sink->calls;
		sink->room = SIZE;
		again += tel_output_write(out, data, SIZE) != TEL_EIO ||
		    tel__output_grow(out, 1) != NULL ||
		    tel_output_flush(out) != TEL_EIO || sink->calls != calls ||
		    tel_output_errno(out) != sink->error;
		tel_output_free(out);
	}
	is_u64((uint64_t)lost, 0, "a failure at any point is reported");
	is_u64((uint64_t)bad, 0, "what was before it is written");
	is_u64((uint64_t)again, 0, "it stays failed");

	out = tel_output_new_callback(write_nothing, NULL);
	ok(out != NULL && tel_output_write(out, "x", 1) == TEL_OK &&
	        tel_output_flush(out) == TEL_EIO &&
	        tel_output_errno(out) == EIO,
	    "a write of nothing is a failure");
	tel_output_free(out);
	out = tel_output_new_callback(write_too_much, NULL);
	ok(out != NULL && tel_output_write(out, "x", 1) == TEL_OK &&
	        tel_output_flush(out) == TEL_EIO &&
	        tel_output_errno(out) == EIO,
	    "so is one of more than there was");
	tel_output_free(out);
}

static void
check_room(struct sink *sink)
{
	unsigned char *room;
	tel_output *out;

	sink->used = 0;
	sink->room = SIZE;
	sink->step = SIZE;
	out = tel_output_new_callback(sink_write, sink);
	if (out == NULL || tel_output_write(out, "abc", 3) != TEL_OK)
		abort();
	room = tel_output_room(out, CAP);
	if (ok(room != NULL, "the biggest room")) {
		room[0] = 'd';
		room[CAP - 1] = 'z';
		out->used += 1;
	}
	ok(tel_output_flush(out) == TEL_OK && sink->used == 4 &&
	        memcmp(sink->data, "abcd", 4) == 0,
	    "what was before it is kept");
	ok(tel_output_room(out, CAP + 1) == NULL &&
	        tel_output_flush(out) == TEL_ENOMEM &&
	        tel_output_errno(out) == ENOMEM,
	    "a room too big is a failure");
	ok(tel_output_write(out, "x", 1) == TEL_ENOMEM, "which stays");
	tel_output_free(out);
	tel_output_free(NULL);
}

/* An output that keeps its bytes, however they come. */
static void
check_memory(const unsigned char *data)
{
	tel_output *out = tel__output_new_memory();

	if (out == NULL)
		abort();
	put_all(out, data, SIZE);
	ok(tel_output_flush(out) == TEL_OK && out->used == SIZE &&
	        memcmp(out->buffer, data, SIZE) == 0,
	    "memory has all bytes");
	is_u64(tel_output_bytes(out), SIZE, "and counts them");
	out->used = 0;
	ok(tel_output_write(out, data, 9) == TEL_OK && out->used == 9 &&
	        memcmp(out->buffer, data, 9) == 0,
	    "and is used again");
	ok(tel_output_room(out, CAP + 1) == NULL &&
	        tel_output_write(out, "x", 1) == TEL_ENOMEM && out->used == 9,
	    "a room too big is a failure there, too");
	tel_output_free(out);
}

struct drain {
	int fd;
	unsigned char *data;
	size_t used;
};

/* Reads a pipe slowly. */
static void *
drain_pipe(void *arg)
{
	struct drain *d = arg;
	struct timespec pause = { 0, 300000 };
	ssize_t n;

	while ((n = read(d->fd, d->data + d->used,
	            SIZE - d->used < 9999 ? SIZE - d->used : 9999)) > 0) {
		d->used += (size_t)n;
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static void
check_fd(const unsigned char *data)
{
	struct drain drain = { -1, malloc(SIZE), 0 };
	pthread_t thread;
	tel_output *out;
	int fds[2], fd;

	if (drain.data == NULL || pipe(fds) != 0)
		abort();
	drain.fd = fds[0];
	fcntl(fds[1], F_SETFL, O_NONBLOCK);
	if (pthread_create(&thread, NULL, drain_pipe, &drain) != 0)
		abort();
	out = tel_output_new_fd(fds[1]);
	if (out == NULL)
		abort();
	put_all(out, data, SIZE);
	ok(tel_output_flush(out) == TEL_OK, "a slow pipe that does not block");
	close(fds[1]);
	pthread_join(thread, NULL);
	ok(drain.used == SIZE && memcmp(drain.data, data, SIZE) == 0,
	    "has got all");
	tel_output_free(out);
	close(fds[0]);
	free(drain.data);

	fd = open("/dev/full", O_WRONLY);
	if (fd < 0) {
		ok(1, "a full disk # SKIP no /dev/full");
	} else {
		out = tel_output_new_fd(fd);
		ok(out != NULL && tel_output_write(out, data, 9) == TEL_OK &&
		        tel_output_flush(out) == TEL_EIO &&
		        tel_output_errno(out) == ENOSPC,
		    "a full disk");
		tel_output_free(out);
		close(fd);
	}
	out = tel_output_new_fd(-1);
	ok(out != NULL && tel_output_flush(out) == TEL_OK,
	    "nothing to write, nothing to fail");
	ok(tel_output_write(out, data, SIZE) == TEL_EIO &&
	        tel_output_errno(out) == EBADF,
	    "a descriptor that is none");
	tel_output_free(out);
}

int
main(void)
{
	unsigned char *data = malloc(SIZE);
	struct sink sink = { malloc(SIZE), 0, 0, 0, 0, 0 };
	size_t i;

	if (data == NULL || sink.data == NULL)
		abort();
	for (i = 0; i < SIZE; i++)
		data[i] = (unsigned char)(i * i >> 7);
	check_steps(data, &sink);
	check_failures(data, &sink);
	check_room(&sink);
	check_memory(data);
	check_fd(data);
	free(sink.data);
	free(data);
	return done();
}
