/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening an input by its name: a file, or a socket that a program serves. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "io/input.h"

/* A socket that is connected to an address; -1 with errno set. */
static int
connect_to(const struct sockaddr *address, socklen_t size)
{
	int fd = socket(address->sa_family, SOCK_STREAM, 0);

	if (fd >= 0 &&
	    (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 ||
	        connect(fd, address, size) != 0)) {
		int kept = errno;

		close(fd);
		errno = kept;
		return -1;
	}
	return fd;
}

static int
connect_path(const char *path)
{
	struct sockaddr_un address;

	if (strlen(path) >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memset(&address, 0, sizeof(address));
	address.sun_family = AF_UNIX;
	memcpy(address.sun_path, path, strlen(path));
	return connect_to((const struct sockaddr *)(const void *)&address,
	    sizeof(address));
}

/* Connects to "HOST:PORT"; an IPv6 address may be in brackets. */
static int
connect_host(const char *name)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM };
	struct addrinfo *list, *a;
	const char *colon = strrchr(name, ':');
	char host[256];
	int fd = -1;
	size_t n = colon != NULL ? (size_t)(colon - name) : sizeof(host);

	if (n > 2 && name[0] == '[' && colon != NULL && colon[-1] == ']') {
		name++;
		n -= 2;
	}
	errno = EINVAL;
	if (n >= sizeof(host))
		return -1;
	memcpy(host, name, n);
	host[n] = '\0';
	const int why = getaddrinfo(host, colon + 1, &hints, &list);
	if (why != 0) {
		if (why != EAI_SYSTEM)
			errno = why == EAI_SERVICE ? EINVAL : EHOSTUNREACH;
		return -1;
	}
	for (a = list; a != NULL && fd < 0; a = a->ai_next)
		fd = connect_to(a->ai_addr, a->ai_addrlen);
	freeaddrinfo(list);
	return fd;
}

int
tel_open_path(const char *name)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd >= 0)
		return fd;
	if (errno == ENXIO)
		return connect_path(name);
	if (errno == ENOENT && strncmp(name, "unix:", 5) == 0)
		return connect_path(name + 5);
	if (errno == ENOENT && strncmp(name, "tcp:", 4) == 0)
		return connect_host(name + 4);
	return -1;
}
