/* SPDX-License-Identifier: BSD-2-Clause */
/* Folders of traces: files in them, failures, and what those leave: nothing. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the next mkdir() calls fail with; 0: they do not. */
static int failure;

static int
failing_mkdir(const char *path, mode_t mode)
{
	errno = failure;
	return failure != 0 ? -1 : mkdir(path, mode);
}

#define mkdir failing_mkdir
#include "format/ctf/folder.c"
#undef mkdir

#include "must.h"

static char place[] = "/tmp/test_ctf_folder.XXXXXX";

/* The descriptor that a file gets next. */
static int
next_fd(void)
{
	int fd = open("/dev/null", O_RDONLY);

	close(fd);
	return fd;
}

static void
test_files(void)
{
	struct ctf_folder f;
	int fd;

	failure = EACCES;
	ok(!tel__ctf_folder_open(&f, "out", 1) && errno == EACCES,
	    "the folder cannot be made");
	tel__ctf_folder_close(&f);
	failure = 0;
	ok(tel__ctf_folder_open(&f, "out//", 1), "made beside its path");
	fd = tel__ctf_folder_file(&f, "a/b/stream");
	ok(fd >= 0 && close(fd) == 0, "a file, in folders");
	fd = tel__ctf_folder_file(&f, "a/c");
	ok(fd >= 0 && close(fd) == 0, "a folder is made once");
	ok(tel__ctf_folder_file(&f, "a/c") < 0 && errno == EEXIST,
	    "a file, too");
	ok(tel__ctf_folder_file(&f, "a/../../file") < 0 && errno == EINVAL &&
	        tel__ctf_folder_file(&f, "..") < 0 && errno == EINVAL,
	    "none is outside of it");
	fd = tel__ctf_folder_file(&f, "a..b/..c");
	ok(fd >= 0 && close(fd) == 0, "dots in a name");
	failure = ENOSPC;
	ok(tel__ctf_folder_file(&f, "d/e/stream") < 0 && errno == ENOSPC,
	    "a folder that cannot be made is the reason");
	failure = 0;
	ok(access("out", F_OK) != 0, "it is not complete");
	tel__ctf_folder_close(&f);
	ok(chdir("/") == 0 && rmdir(place) == 0, "all is removed");
	if (mkdir(place, 0700) != 0 || chdir(place) != 0)
		exit(1);
	ok(tel__ctf_folder_open(&f, "out", 1) &&
	        (fd = tel__ctf_folder_file(&f, "stream")) >= 0 &&
	        close(fd) == 0 && tel__ctf_folder_finish(&f),
	    "a complete one");
	tel__ctf_folder_close(&f);
	ok(access("out/stream", F_OK) == 0, "stays");
	ok(!tel__ctf_folder_open(&f, "out", 1) && errno == EEXIST,
	    "and is not written to again");
	tel__ctf_folder_close(&f);
	ok(unlink("out/stream") == 0 && rmdir("out") == 0, "removed");
}

static ptrdiff_t
take_bytes(void *arg, const void *bytes, size_t n)
{
	(void)arg;
	(void)bytes;
	return (ptrdiff_t)n;
}

/* A trace that is given up leaves no file, open or not. */
static void
test_given_up(void)
{
	static const char log[] = "0000000000000010 Alloc ptr=0x10 size=16\n";
	const int before = next_fd();
	tel_output *out = must(tel_output_new_callback(take_bytes, NULL));
	tel_printer *p = must(tel_printer_new(out, TEL_FORMAT_CTF));
	tel_reader *r = must(tel_reader_new());
	const tel_event *ev;

	must_ok(tel_printer_set_database(p, "out"));
	must_ok(tel_reader_open_memory(r, log, sizeof(log) - 1, NULL));
	must_ok(tel_reader_next(r, &ev));
	must_ok(tel_printer_event(p, ev));
	ok(next_fd() > before, "the stream is open");
	tel_printer_free(p);
	tel_output_free(out);
	tel_reader_free(r);
	ok(next_fd() == before, "and closed with the printer");
	ok(chdir("/") == 0 && rmdir(place) == 0, "nothing is left");
}

/* One that could not be started is not finished either. */
static void
test_not_started(void)
{
	static const char log[] = "0000000000000010 Alloc ptr=0x10 size=16\n";
	tel_output *out = must(tel_output_new_callback(take_bytes, NULL));
	tel_printer *p = must(tel_printer_new(out, TEL_FORMAT_CTF));
	tel_reader *r = must(tel_reader_new());
	const tel_event *ev;

	must_ok(tel_reader_open_memory(r, log, sizeof(log) - 1, NULL));
	must_ok(tel_reader_next(r, &ev));
	ok(tel_printer_event(p, ev) == TEL_EINVAL, "a trace without a folder");
	is_str(tel_printer_error(p), "the trace has no folder", "says so");
	ok(tel_printer_finish(p) == TEL_ESTATE, "and has no end");
	tel_printer_free(p);
	tel_output_free(out);
	tel_reader_free(r);
}

/* Writes a file of so many bytes. */
static void
write_file(const char *name, const void *bytes, size_t n)
{
	int fd = open(name, O_WRONLY | O_CREAT, 0600);

	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n || close(fd) != 0)
		exit(1);
}

/* A stream that becomes shorter while it is read, in the middle of a byte. */
static void
test_shorter(void)
{
	static const char metadata[] =
	    "trace { major = 1; minor = 8; byte_order = le; };\n"
	    "event { name = e; fields := struct { integer { size = 3; } x;\n"
	    "    integer { size = 64; align = 1; } list[100]; }; };\n";
	static const unsigned char stream[300000];
	tel_reader *r = must(tel_reader_new());
	const tel_event *ev;
	unsigned n = 0;

	write_file("metadata", metadata, sizeof(metadata) - 1);
	write_file("stream", stream, sizeof(stream));
	must_ok(tel_reader_open_file(r, "metadata"));
	must_ok(tel_reader_next(r, &ev));
	ok(truncate("stream", 1) == 0, "the file is cut behind its window");
	alarm(60);
	while (tel_reader_next(r, &ev) == TEL_OK)
		n++;
	alarm(0);
	ok(n > 200 && n < 300000 / 801,
	    "the events of the window, and no others");
	tel_reader_free(r);
	ok(unlink("metadata") == 0 && unlink("stream") == 0, "removed");
}

int
main(void)
{
	if (mkdtemp(place) == NULL || chdir(place) != 0)
		return 1;
	test_shorter();
	test_files();
	test_given_up();
	test_not_started();
	return done();
}
