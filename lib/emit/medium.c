/* SPDX-License-Identifier: BSD-2-Clause */
/* The media of sinks: files, descriptors, memory, functions, and sockets. */
#define _GNU_SOURCE
#include "sink.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void
tel__emit_free_addresses(struct tel_emit_sink *s)
{
	if (s->addresses != NULL)
		freeaddrinfo(s->addresses);
}

void
tel__emit_look_at(struct tel_emit_sink *s)
{
	struct stat st;

	if (fstat(s->fd, &st) != 0)
		return;
	s->device = st.st_dev;
	s->file = st.st_ino;
	s->is_socket = S_ISSOCK(st.st_mode);
	s->is_stream =
	    S_ISSOCK(st.st_mode) || S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode);
}

int
tel__emit_owns(const struct tel_emit_sink *s)
{
	struct stat st;

	return !s->own ||
	    (fstat(s->fd, &st) == 0 && st.st_dev == s->device &&
	        st.st_ino == s->file);
}

int
tel__emit_open_file(struct tel_emit_sink *s)
{
	char *path = tel__emit_path(s->path, "");

	if (path == NULL)
		return -1;
	s->fd = open(path,
	    O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY |
	        (s->flags & TEL_SINK_APPEND ? O_APPEND : O_TRUNC),
	    0666);
	free(path);
	s->own = 1;
	if (s->fd < 0)
		return -1;
	tel__emit_look_at(s);
	return 0;
}

tel_emit_sink *
tel_emit_to_file(const char *path, uint32_t kinds, unsigned flags)
{
	struct tel_emit_sink *s = tel__emit_new_sink(TO_FILE, kinds, flags);

	if (s == NULL)
		return NULL;
	s->path = strdup(path);
	if (s->path != NULL && tel__emit_open_file(s) == 0)
		return tel__emit_add_sink(s);
	tel__emit_free_sink(s);
	return NULL;
}

tel_emit_sink *
tel_emit_to_fd(int fd, uint32_t kinds, unsigned flags)
{
	struct tel_emit_sink *s = tel__emit_new_sink(TO_FD, kinds, flags);

	if (s == NULL)
		return NULL;
	s->fd = fd;
	tel__emit_look_at(s);
	return tel__emit_add_sink(s);
}

tel_emit_sink *
tel_emit_to_memory(void *memory, size_t size, uint32_t kinds)
{
	struct tel_emit_sink *s = tel__emit_new_sink(TO_MEMORY, kinds, 0);

	if (s == NULL)
		return NULL;
	s->memory = memory;
	s->size = size;
	return tel__emit_add_sink(s);
}

size_t
tel_emit_memory_used(tel_emit_sink *sink)
{
	pthread_mutex_lock(&tel__emit_state.drain);
	size_t used = tel__emit_is_sink(sink) ? sink->used : 0;
	pthread_mutex_unlock(&tel__emit_state.drain);
	return used;
}

tel_emit_sink *
tel_emit_to_function(tel_emit_write_fn *write, void *arg, uint32_t kinds)
{
	struct tel_emit_sink *s = tel__emit_new_sink(TO_FUNCTION, kinds, 0);

	if (s == NULL)
		return NULL;
	s->write = write;
	s->arg = arg;
	return tel__emit_add_sink(s);
}

static int
local_address(struct tel_emit_sink *s, const char *path)
{
	s->local.sun_family = AF_UNIX;
	if (strlen(path) >= sizeof(s->local.sun_path))
		return tel__emit_result(ENAMETOOLONG);
	strcpy(s->local.sun_path, path);
	return 0;
}

/* Parses "unix:PATH" or "tcp:HOST:PORT". */
static int
find_address(struct tel_emit_sink *s, const char *address)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM };
	char host[256];
	size_t n;

	if (strncmp(address, "unix:", 5) == 0)
		return local_address(s, address + 5);
	const char *colon = strrchr(address, ':');
	if (strncmp(address, "tcp:", 4) != 0 || colon < address + 4 ||
	    (n = (size_t)(colon - address - 4)) >= sizeof(host))
		return tel__emit_wrong("an address is unix:PATH or "
		                       "tcp:HOST:PORT");
	memcpy(host, address + 4, n);
	host[n] = '\0';
	if (getaddrinfo(host, colon + 1, &hints, &s->addresses) != 0)
		return tel__emit_wrong("unknown host or port '%s'",
		    address + 4);
	s->address = s->addresses;
	return 0;
}

/* Starts to connect, without waiting. */
static void
begin_connect(struct tel_emit_sink *s)
{
	const struct addrinfo *a = s->address;
	const struct sockaddr *to = a != NULL ?
	    a->ai_addr :
	    (const struct sockaddr *)(const void *)&s->local;
	const socklen_t n = a != NULL ? a->ai_addrlen : sizeof(s->local);

	s->fd = socket(to->sa_family,
	    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	s->own = 1;
	tel__emit_look_at(s);
	if (s->fd >= 0 && connect(s->fd, to, n) == 0) {
		s->retry_after = 0;
	} else {
		s->connecting = s->fd >= 0 && errno == EINPROGRESS;
		if (!s->connecting)
			tel__emit_disconnect(s);
	}
	if (a != NULL)
		s->address = a->ai_next != NULL ? a->ai_next : s->addresses;
}

void
tel__emit_tend_connection(struct tel_emit_sink *s)
{
	struct pollfd p = { s->fd, POLLOUT, 0 };
	socklen_t n = sizeof(int);
	int error = 0;

	if (s->fd < 0) {
		if (tel__emit_gettime() >= s->retry_at)
			begin_connect(s);
		return;
	}
	if (!s->connecting || poll(&p, 1, 0) <= 0)
		return;
	s->connecting = 0;
	if (getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &error, &n) != 0 ||
	    error != 0)
		tel__emit_disconnect(s);
	else
		s->retry_after = 0;
}

tel_emit_sink *
tel_emit_to_socket(const char *address, uint32_t kinds, unsigned flags)
{
	struct tel_emit_sink *s = tel__emit_new_sink(TO_SOCKET, kinds, flags);

	if (s == NULL)
		return NULL;
	if (find_address(s, address) != 0) {
		tel__emit_free_sink(s);
		return NULL;
	}
	begin_connect(s);
	return tel__emit_add_sink(s);
}

tel_emit_sink *
tel_emit_serve(const char *path, uint32_t kinds, unsigned flags)
{
	struct tel_emit_sink *s = tel__emit_new_sink(SERVER, kinds, flags);
	struct stat st;

	if (s == NULL)
		return NULL;
	s->path = strdup(path);
	s->own = 1;
	if (s->path == NULL || local_address(s, path) != 0)
		goto fail;
	s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* what a program before this one has left, but no file */
	if (lstat(path, &st) == 0 && S_ISSOCK(st.st_mode))
		(void)unlink(path);
	if (s->fd < 0 ||
	    bind(s->fd, (const struct sockaddr *)(const void *)&s->local,
	        sizeof(s->local)) != 0 ||
	    listen(s->fd, (int)CLIENTS_MAX) != 0)
		goto fail;
	tel__emit_look_at(s);
	return tel__emit_add_sink(s);
fail:
	tel__emit_free_sink(s);
	return NULL;
}

/* Creates a sink for each new client. */
void
tel__emit_accept(struct tel_emit_sink *server)
{
	struct tel_emit_sink *s;
	unsigned clients = 0;
	int fd;

	for (s = tel__emit_sinks; s != NULL; s = s->next)
		clients += s->client != 0;
	while (clients < CLIENTS_MAX && tel__emit_owns(server) &&
	    (fd = accept4(server->fd, NULL, NULL,
	         SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		s = tel__emit_new_sink(TO_FD, server->kinds, server->flags);
		if (s == NULL) {
			close(fd);
			return;
		}
		s->fd = fd;
		s->own = s->client = 1;
		tel__emit_look_at(s);
		tel__emit_link_sink(s);
		clients++;
	}
}
