/* SPDX-License-Identifier: BSD-2-Clause */
/* A sink, as sink.c and medium.c see it. */
#ifndef TEL_EMIT_SINK_H
#define TEL_EMIT_SINK_H

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "emit.h"

struct addrinfo;

#define QUEUE_MAX ((size_t)1 << 20)
#define CLIENTS_MAX 8u
#define RETRY_FIRST 250000000u /* nanoseconds until a socket is tried again */
#define RETRY_MAX 4000000000u

enum medium { TO_FILE, TO_FD, TO_SOCKET, TO_MEMORY, TO_FUNCTION, SERVER };

struct tel_emit_sink {
	struct tel_emit_sink *next;
	enum medium medium;
	uint32_t kinds;
	unsigned flags;
	int fd;
	int own;      /* fd is closed with the sink */
	dev_t device; /* of fd: the program may close it, and get it again */
	ino_t file;
	int is_socket,
	    is_stream; /* of fd: it is a pipe, a socket or a terminal, which may block */
	int connecting;
	int client; /* accepted by a server; removed when its peer disconnects */
	char *path; /* pattern of a file; path of a server */
	struct addrinfo *addresses, *address;
	struct sockaddr_un local;
	uint64_t retry_at, retry_after;
	tel_emit_write_fn *write;
	void *arg;
	unsigned char *memory;
	size_t size, used;
	struct tel__emit_stream stream;
	struct tel__buffer out, queue;
	size_t queue_done; /* bytes of queue already written */
	/* struct queued: the blocks in the queue, and some before them */
	struct tel__buffer blocks;
	uint64_t given; /* bytes written and queued of this stream */
	uint64_t seen[TEL_EMIT_KINDS]; /* events lost before any sink, already
	                                  reported */
	uint64_t owed; /* events lost by the sink, not yet reported */
	uint64_t lost; /* all events lost by the sink */
	int error;     /* errno of the first failure not yet returned, or 0 */
};

/* All sinks; under the lock of the drain. */
extern struct tel_emit_sink *tel__emit_sinks;

struct tel_emit_sink *tel__emit_new_sink(enum medium medium, uint32_t kinds,
    unsigned flags);
/* 0 with EBADF: not a sink, or in a child one of its parent. */
int tel__emit_is_sink(const struct tel_emit_sink *sink);
void tel__emit_free_sink(struct tel_emit_sink *s);
/* Adds a sink to the list; add_sink also starts the drain thread. */
void tel__emit_link_sink(struct tel_emit_sink *s);
tel_emit_sink *tel__emit_add_sink(struct tel_emit_sink *s);
/* Closes a connection, to be retried later. */
void tel__emit_disconnect(struct tel_emit_sink *s);
/* Continues to connect; accepts new clients. */
void tel__emit_tend_connection(struct tel_emit_sink *s);
void tel__emit_accept(struct tel_emit_sink *server);
/* Opens the file of a sink.  0, -1. */
int tel__emit_open_file(struct tel_emit_sink *s);
/* Learns what the descriptor is. */
void tel__emit_look_at(struct tel_emit_sink *s);
/*
 * Whether the descriptor still is the sink's.  The program may have closed it,
 * as all others, and may have opened another file since.
 */
int tel__emit_owns(const struct tel_emit_sink *s);
void tel__emit_free_addresses(struct tel_emit_sink *s);

#endif
