/* SPDX-License-Identifier: BSD-2-Clause */
/* Spool: what must be sought in, and cannot be, goes through a file. */
#include <errno.h>
#include <unistd.h>

#include "io/source.h"
#include "io/spool.h"

tel_status
tel__spool_append(struct tel_input *in, int fd, int64_t *size, int *failed)
{
	const unsigned char *data;
	size_t avail;
	tel_status st;

	*size = 0;
	do {
		st = tel__input_peek(in, 1, &data, &avail);
		*failed = tel__spool_write(fd, data, avail);
		*size += (int64_t)avail;
		tel__input_consume(in, avail);
	} while (*failed == 0 && st == TEL_OK && avail > 0);
	return st;
}

tel_status
tel__spool_copy(struct tel_input *in, int fd, int *failed)
{
	int64_t size;
	tel_status st = tel__spool_append(in, fd, &size, failed);

	if (*failed == 0 && lseek(fd, 0, SEEK_SET) != 0)
		*failed = errno;
	return st;
}

tel_status
tel__spool_fault(struct tel_fault *fault, int number)
{
	struct tel_fault why;

	tel__fault_errno(&why, number);
	return tel__fault_set(fault, TEL_EIO, number,
	    "keeping the archive in %s: %s", tel__spool_folder(), why.text);
}

tel_status
tel__input_spool(struct tel_input *in, struct tel_input **out,
    struct tel_fault *fault)
{
	int fd, failed;

	fd = tel__spool_file();
	if (fd < 0)
		return tel__spool_fault(fault, errno);
	tel_status st = tel__spool_copy(in, fd, &failed);
	if (failed != 0 || st != TEL_OK) {
		close(fd);
		if (failed != 0)
			return tel__spool_fault(fault, failed);
		/* a copy that was cut may be read all the same, but not a 7z */
		*fault = in->fault;
		return st;
	}
	st = tel__input_fd(fd, 1, in->read_size, out);
	return st == TEL_OK ? st : tel__fault_errno(fault, ENOMEM);
}
