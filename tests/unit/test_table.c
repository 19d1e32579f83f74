/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables: what their functions return, by tel_table(3). */
#include <fcntl.h>
#include <unistd.h>

#include "tap.h"
#include "tel.h"

static void
test_before_rows(tel_table *t)
{
	ok(tel_table_set_zstd(t, 0) == TEL_EINVAL, "no level 0");
	ok(tel_table_set_zstd(t, 20) == TEL_EINVAL, "no level 20");
	ok(tel_table_set_zstd(t, 1) == TEL_OK, "level 1");
	ok(tel_table_set_file(t, 1) == TEL_OK, "a file");
	ok(tel_table_set_metadata(t, "a", "b") == TEL_OK, "metadata");
	ok(tel_table_add_column(t, "number", TEL_COLUMN_UNSIGNED) == 0,
	    "the first column");
	ok(tel_table_add_column(t, "text", TEL_COLUMN_TEXT) == 1,
	    "the second column");
}

static void
test_rows(tel_table *t)
{
	ok(tel_table_put_u64(t, 0, 1) == TEL_OK, "a number");
	ok(tel_table_put_text(t, 0, "", 0) == TEL_EINVAL, "no text in it");
	ok(tel_table_put_u64(t, 1, 1) == TEL_EINVAL, "no number in a text");
	ok(tel_table_put_u64(t, 2, 1) == TEL_EINVAL, "no third column");
	ok(tel_table_add_column(t, "late", TEL_COLUMN_TEXT) == -1,
	    "a column comes before the first row");
	ok(tel_table_set_zstd(t, 1) == TEL_ESTATE, "so does the level");
	ok(tel_table_set_file(t, 0) == TEL_ESTATE, "so does the format");
	ok(tel_table_end_row(t) == TEL_OK, "a row");
	ok(tel_table_set_metadata(t, "c", "d") == TEL_OK,
	    "metadata comes before the first batch");
	ok(tel_table_flush(t) == TEL_OK, "a batch");
	ok(tel_table_set_metadata(t, "e", "f") == TEL_ESTATE,
	    "and not behind it");
	ok(tel_table_finish(t) == TEL_OK, "the end");
	ok(tel_table_put_u64(t, 0, 1) == TEL_OK &&
	        tel_table_end_row(t) == TEL_ESTATE,
	    "no row behind it");
	ok(tel_table_finish(t) == TEL_OK, "the end again");
}

int
main(void)
{
	int fd = open("/dev/null", O_WRONLY);
	tel_output *out = fd < 0 ? NULL : tel_output_new_fd(fd);
	tel_table *t = out == NULL ? NULL : tel_table_new(out);

	ok(t != NULL, "a table");
	if (t != NULL) {
		test_before_rows(t);
		test_rows(t);
	}
	tel_table_free(t);
	tel_output_free(out);
	close(fd);
	return done();
}
