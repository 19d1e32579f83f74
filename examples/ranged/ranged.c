/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints the events of a log behind a web server or an object store, without
 * fetching all of it: libtel reads through two functions, which make range
 * requests of HTTP/1.1 (RFC 9110).
 *
 *	cc -o ranged ranged.c $(pkg-config --cflags --libs libtel)
 *	ranged URL [FROM,TO]
 *
 * The URL is http://HOST[:PORT]/PATH.  FROM,TO is a range of time as that of
 * telcat -t: of a .tel file, only the blocks that it needs are fetched.  Ends
 * with the bytes fetched, on standard error.
 *
 * For https, fetch() is the one function to replace: with libcurl, it is
 * CURLOPT_RANGE, a CURLOPT_WRITEFUNCTION that appends to .piece, and
 * CURLOPT_HEADERFUNCTION for Content-Range.
 */
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <tel.h>

/* What is fetched at a time: a little after a seek, more where it goes on. */
#define PIECE_MIN 8192
#define PIECE_MAX (1 << 20)
#define HEADER_MAX 16384

struct remote {
	char host[256], port[8];
	const char *path;
	int64_t at;   /* where libtel reads next */
	int64_t size; /* of the file; -1 before the first reply */
	char piece[HEADER_MAX +
	    PIECE_MAX]; /* of the file, in its first bytes, */
	int64_t start;  /* from here on */
	size_t length;
	int64_t want; /* bytes of the next piece, if it follows this one */
	uint64_t fetched, requests;
};

static void
fail(const char *what, const char *why)
{
	fprintf(stderr, "ranged: %s: %s\n", what, why);
	exit(1);
}

static int
parse_url(struct remote *remote, const char *url)
{
	size_t host, port;
	const char *at;

	if (strncmp(url, "http://", 7) != 0)
		return 0;
	at = url + 7;
	host = strcspn(at, ":/");
	if (host == 0 || host >= sizeof(remote->host))
		return 0;
	memcpy(remote->host, at, host);
	at += host;
	strcpy(remote->port, "80");
	if (*at == ':') {
		port = strcspn(++at, "/");
		if (port == 0 || port >= sizeof(remote->port))
			return 0;
		memcpy(remote->port, at, port);
		remote->port[port] = '\0';
		at += port;
	}
	remote->path = *at == '\0' ? "/" : at;
	return strpbrk(remote->path, " \r\n") == NULL;
}

/* A connection, or -1 with errno set. */
static int
connect_to(const struct remote *remote)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list, *a;
	int fd = -1;

	errno = EHOSTUNREACH;
	if (getaddrinfo(remote->host, remote->port, &hints, &list) != 0)
		return -1;
	for (a = list; a != NULL && fd < 0; a = a->ai_next) {
		fd = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
		if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
			(void)close(fd);
			fd = -1;
		}
	}
	freeaddrinfo(list);
	return fd;
}

static int
send_request(int fd, const struct remote *remote, int64_t first, int64_t last)
{
	char text[2048];
	size_t size, done = 0;
	ssize_t n;
	int length;

	length = snprintf(text, sizeof(text),
	    "GET %s HTTP/1.1\r\nHost: %s:%s\r\nRange: bytes=%" PRId64
	    "-%" PRId64 "\r\nConnection: close\r\n\r\n",
	    remote->path, remote->host, remote->port, first, last);
	if (length < 0 || (size_t)length >= sizeof(text)) {
		errno = ENAMETOOLONG;
		return 0;
	}
	for (size = (size_t)length; done < size; done += (size_t)n) {
		n = send(fd, text + done, size - done, MSG_NOSIGNAL);
		if (n <= 0)
			return 0;
	}
	return 1;
}

/*
 * Checks the header of a reply, which ends in an empty line: the status must be
 * that of a range, from the byte that was requested.  Sets the size of the file.
 */
static int
parse_header(struct remote *remote, const char *header)
{
	static const char name[] = "\r\nContent-Range: bytes ";
	int64_t first, last, size;

	if (strncmp(header, "HTTP/1.", 7) != 0 ||
	    strncmp(header + 8, " 206", 4) != 0)
		return 0;
	for (; *header != '\0'; header++)
		if (strncasecmp(header, name, sizeof(name) - 1) == 0)
			break;
	if (*header == '\0' ||
	    sscanf(header + sizeof(name) - 1,
	        "%" SCNd64 "-%" SCNd64 "/%" SCNd64, &first, &last, &size) != 3)
		return 0;
	remote->size = size;
	return first == remote->start && last >= first && size > last;
}

/* Reads a reply to its end, and leaves the body in the piece. */
static int
receive(int fd, struct remote *remote)
{
	char *end;
	size_t used = 0, header;
	ssize_t n;

	while (used < sizeof(remote->piece) - 1 &&
	    (n = recv(fd, remote->piece + used,
	         sizeof(remote->piece) - 1 - used, 0)) != 0) {
		if (n < 0)
			return 0;
		used += (size_t)n;
	}
	remote->piece[used] = '\0';
	end = strstr(remote->piece, "\r\n\r\n");
	errno = EPROTO;
	if (end == NULL)
		return 0;
	*end = '\0';
	header = (size_t)(end - remote->piece) + 4;
	if (header > HEADER_MAX || !parse_header(remote, remote->piece))
		return 0;
	remote->length = used - header;
	memmove(remote->piece, remote->piece + header, remote->length);
	remote->fetched += remote->length;
	return remote->length > 0;
}

/* Fetches the piece that starts at a byte.  1, or 0 with errno set. */
static int
fetch(struct remote *remote, int64_t start)
{
	int fd = connect_to(remote), good;

	if (fd < 0)
		return 0;
	if (start != remote->start + (int64_t)remote->length)
		remote->want = PIECE_MIN;
	remote->start = start;
	remote->length = 0;
	remote->requests++;
	good = send_request(fd, remote, start, start + remote->want - 1) &&
	    receive(fd, remote);
	if (remote->want < PIECE_MAX)
		remote->want *= 2;
	(void)close(fd);
	return good;
}

/* A tel_read_fn. */
static ptrdiff_t
read_remote(void *arg, void *buffer, size_t size)
{
	struct remote *remote = arg;
	int64_t left = remote->start + (int64_t)remote->length - remote->at;

	if (remote->at == remote->size)
		return 0;
	if (remote->at < remote->start || left <= 0) {
		if (!fetch(remote, remote->at))
			return -1;
		left = (int64_t)remote->length;
	}
	if (size > (size_t)left)
		size = (size_t)left;
	memcpy(buffer, remote->piece + (remote->at - remote->start), size);
	remote->at += (int64_t)size;
	return (ptrdiff_t)size;
}

/* A tel_seek_fn: nothing is fetched before it is read. */
static int64_t
seek_remote(void *arg, int64_t offset, int whence)
{
	struct remote *remote = arg;
	int64_t base = 0;

	if (remote->size < 0 && !fetch(remote, 0))
		return -1;
	if (whence != SEEK_SET)
		base = whence == SEEK_CUR ? remote->at : remote->size;
	if (offset < -base || offset > remote->size - base) {
		errno = EINVAL;
		return -1;
	}
	remote->at = base + offset;
	return remote->at;
}

/* Lets the reader skip what is outside of the range of time. */
static void
narrow(tel_reader *r, const tel_filter *f, const tel_event *event)
{
	uint64_t first, last;

	if (!tel_filter_uses(f, TEL_USE_RATE) &&
	    tel_filter_clocks(f, event, &first, &last))
		tel_reader_set_range(r, first, last);
}

static void
print_events(tel_reader *r, tel_filter *f, tel_output *out)
{
	tel_printer *printer = tel_printer_new(out, TEL_FORMAT_TEXT);
	const tel_event *event;
	int begun = 0, match;
	tel_status st;

	if (printer == NULL)
		fail("tel_printer_new", "out of memory");
	while ((st = tel_reader_next(r, &event)) == TEL_OK || st == TEL_LOG) {
		if (st == TEL_LOG)
			continue;
		/* a range relative to the first event is known now */
		if (!begun++)
			narrow(r, f, event);
		match = tel_filter_match(f, event);
		if (match < 0)
			fail("range", tel_filter_error(f));
		if (match && tel_printer_event(printer, event) != TEL_OK)
			fail("output", tel_printer_error(printer));
	}
	if (st != TEL_END)
		fail(tel_status_text(st), tel_reader_error(r));
	if (tel_printer_finish(printer) != TEL_OK)
		fail("output", tel_printer_error(printer));
	tel_printer_free(printer);
}

int
main(int argc, char **argv)
{
	static struct remote remote = { .size = -1, .want = PIECE_MIN };
	tel_output *out = tel_output_new_fd(1);
	tel_reader *r = tel_reader_new();
	tel_filter *f = tel_filter_new();

	if (out == NULL || r == NULL || f == NULL)
		fail("start", "out of memory");
	if (argc < 2 || argc > 3 || !parse_url(&remote, argv[1]))
		fail("usage", "ranged http://HOST[:PORT]/PATH [FROM,TO]");
	if (tel_filter_set_time(f, argc > 2 ? argv[2] : NULL) != TEL_OK)
		fail(argv[2], tel_filter_error(f));
	if (tel_reader_set_seek(r, seek_remote) != TEL_OK ||
	    tel_reader_open_callback(r, read_remote, &remote, argv[1]) !=
	        TEL_OK)
		fail(argv[1], tel_reader_error(r));
	if (tel_filter_bind(f, tel_reader_schema(r)) != TEL_OK)
		fail("range", tel_filter_error(f));
	narrow(r, f, NULL);
	print_events(r, f, out);
	if (tel_output_flush(out) != TEL_OK)
		fail("output", strerror(tel_output_errno(out)));
	fprintf(stderr,
	    "ranged: fetched %" PRIu64 " of %" PRId64 " bytes in %" PRIu64
	    " requests\n",
	    remote.fetched, remote.size, remote.requests);
	tel_filter_free(f);
	tel_reader_free(r);
	tel_output_free(out);
	return 0;
}
