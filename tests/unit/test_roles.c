/* SPDX-License-Identifier: BSD-2-Clause */
/* Roles that users give to types, and names that they give to frames. */
#include "model/event.h"
#include "tap.h"
#include "tel.h"

#include <stdlib.h>
#include <string.h>

static tel_status
add_role(const char *role, const char *text)
{
	tel_reader *r = tel_reader_new();
	tel_status st = tel_reader_add_role(r, role, text);

	tel_reader_free(r);
	return st;
}

/* Which roles users may give, and which of them need an address. */
static void
test_roles(void)
{
	static const char *const blocks[] = { "alloc", "free", "realloc",
		"reserve", "commit", "new", "delete", "delete-sized",
		"free-sized" };
	static const char *const others[] = { "create-pool", "destroy-pool",
		"create-buffer", "destroy-buffer", "end-thread", "end-process",
		"describe-pool" };
	static const char *const none[] = { "start", "finish", "middle",
		"frame", "", "all", "allocs" };
	unsigned i;

	for (i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
		ok(add_role(blocks[i], "T(size=n,ptr=p)") == TEL_OK &&
		        add_role(blocks[i], "T(size=n)") == TEL_EINVAL,
		    "%s needs an address", blocks[i]);
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		ok(add_role(others[i], "T(pool=n,address=p)") == TEL_OK &&
		        add_role(others[i], "T(pool=n)") == TEL_OK,
		    "%s needs none", others[i]);
	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		ok(add_role(none[i], "T(ptr=p)") == TEL_EINVAL,
		    "'%s' is no role to give", none[i]);
}

/* What a text may be. */
static void
test_texts(void)
{
	static const struct {
		const char *text;
		tel_status want;
	} texts[] = { { "T(ptr=p)", TEL_OK }, { "T(ptr=p,size=n)", TEL_OK },
		{ "T(size=n,ptr=p,pool=p,old=p,count=n,alignment=n,buffer=p,"
		  "thread=t)",
		    TEL_OK },
		{ "T", TEL_EINVAL }, { "(ptr=p)", TEL_EINVAL },
		{ "", TEL_EINVAL }, { "T()", TEL_EINVAL },
		{ "T(ptr)", TEL_EINVAL }, { "T(ptr=)", TEL_EINVAL },
		{ "T(=p)", TEL_EINVAL }, { "T(p=ptr)", TEL_EINVAL },
		{ "T(ptr=p", TEL_EINVAL }, { "T(ptr=p))", TEL_EINVAL },
		{ "T(ptr=p) ", TEL_EINVAL }, { "T(ptr=p,)", TEL_EINVAL },
		{ "T(,ptr=p)", TEL_EINVAL }, { "T(ptr=p,ptr=q)", TEL_EINVAL },
		{ "T(ptr=p,address=q)", TEL_EINVAL },
		{ "T(ptr=p,,size=n)", TEL_EINVAL } };
	char text[1002];
	unsigned i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		ok(add_role("alloc", texts[i].text) == texts[i].want,
		    "a role of %s", texts[i].text);
	memset(text, 'T', sizeof(text));
	memcpy(text + 993, "(ptr=p)", 8);
	ok(add_role("alloc", text) == TEL_OK, "a text of 1000 bytes");
	memcpy(text + 994, "(ptr=p)", 8);
	ok(add_role("alloc", text) == TEL_EINVAL, "a text of 1001 bytes");
}

/* -------------------------------------------------------- names of frames */

/* The address in names[], of each call. */
static const char *names[4];
static unsigned asked;

static const char *
name_frame(void *arg, const tel_event *frame, uint64_t address, size_t *length)
{
	const char *name = names[address & 3];

	(void)arg;
	asked += tel_event_u64(frame, 1) == address;
	*length = name != NULL ? strlen(name) : 0;
	return name;
}

/*
 * Labels of addresses at each event: F is a frame, at whose address it asks for a
 * name; E has that address.  The first name holds from the start of the log,
 * others from the frame on.
 */
static void
test_frames(void)
{
	static const char log[] =
	    "# format: frames\n"
	    "# type: F 1 K n:unsigned a:address p:unsigned\n"
	    "# type: E 2 K n:unsigned a:address\n"
	    "# role: F frame n a p\n"
	    "0000000000000005 F n=1 a=0x11 p=0\n"
	    "0000000000000005 F n=2 a=0x12 p=1\n"
	    "0000000000000005 F n=3 a=0x13 p=1\n"
	    "0000000000000003 E n=0 a=0x11\n" /* of one */
	    "0000000000000006 E n=0 a=0x12\n"
	    "0000000000000006 E n=0 a=0x13\n"
	    "0000000000000008 F n=4 a=0x11 p=2\n" /* still one */
	    "0000000000000008 F n=5 a=0x12 p=2\n" /* of another length */
	    "0000000000000009 E n=0 a=0x11\n"
	    "0000000000000009 E n=0 a=0x12\n"
	    "0000000000000007 E n=0 a=0x12\n"
	    "000000000000000A F n=6 a=0x11 p=2\n" /* of the same length */
	    "000000000000000B E n=0 a=0x11\n"
	    "0000000000000009 E n=0 a=0x11\n";
	static const char *const want[] = { "one", "two", "", "one", "two", "",
		"one", "longer", "one", "longer", "two", "won", "won", "one" };
	tel_reader *r = tel_reader_new();
	const tel_event *ev;
	struct tel_label label;
	unsigned i, parts = 0;

	names[1] = "one";
	names[2] = "two";
	names[3] = NULL;
	if (tel_reader_set_frame_names(r, name_frame, NULL) != TEL_OK ||
	    tel_reader_open_memory(r, log, sizeof(log) - 1, "frames") != TEL_OK)
		diag("%s", tel_reader_error(r));
	for (i = 0; i < 14 && tel_reader_next(r, &ev) == TEL_OK; i++) {
		const tel_type *t = tel_event_type(ev);
		parts += tel_type_role_field(t, "address") >= 0 ||
		    tel_type_role_field(t, "size") >= 0;
		/* those that a line does not show are the log's all the same */
		label = (struct tel_label){ 0 };
		(void)tel__labels_find(ev->log->labels, TEL_SPACE_ADDRESS,
		    tel_event_u64(ev, 1), ev->clock, &label);
		ok(label.length == strlen(want[i]) &&
		        (label.length == 0 ||
		            memcmp(label.string, want[i], label.length) == 0),
		    "event %u is of '%s'", i, want[i]);
		if (i == 5)
			names[2] = "longer";
		if (i == 10)
			names[1] = "won";
	}
	is_u64(i, 14, "all events");
	is_u64(parts, 0, "none has a part of an operation");
	is_u64(asked, 6, "each frame is asked for by its address");
	tel_reader_free(r);
}

int
main(void)
{
	test_roles();
	test_texts();
	test_frames();
	return done();
}
