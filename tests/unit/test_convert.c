/* SPDX-License-Identifier: BSD-2-Clause */
/* Writers with a target: what is converted, what is lost, what is begun. */
#include "write_log.h"

static tel_schema *schema, *old;

/* Converts a log.  The status of the first call that failed. */
static tel_status
convert(const struct bytes *in, const char *as, const char *target, int strict,
    struct bytes *out, char *losses, size_t size)
{
	tel_reader *r = open_bytes(in->data, in->size, as, "in");
	tel_output *o = tel_output_new_callback(put_bytes, out);
	tel_writer *w = tel_writer_new(o);
	const tel_event *ev;
	tel_status st = TEL_OK;
	tel_loss l;
	size_t i, n = 0;

	out->size = 0;
	if (tel_writer_set_target(w, target) != TEL_OK ||
	    tel_writer_set(w, TEL_WRITE_STRICT, strict) != TEL_OK)
		abort();
	while (st == TEL_OK && tel_reader_next(r, &ev) == TEL_OK)
		st = tel_writer_event(w, ev);
	losses[0] = '\0';
	if (st != TEL_OK)
		snprintf(losses, size, "%s", tel_writer_error(w));
	else if (tel_writer_end_file(w, r) != TEL_OK ||
	    tel_writer_finish(w) != TEL_OK || tel_output_flush(o) != TEL_OK)
		abort();
	for (i = 0; st == TEL_OK && tel_writer_loss(w, i, &l, sizeof(l)); i++)
		if (l.events > 0)
			n += (size_t)snprintf(losses + n, size - n,
			    "%d:%s>%s:%s.%s:%llu ", l.kind, l.from, l.to,
			    l.type, l.field, (unsigned long long)l.events);
	tel_writer_free(w);
	tel_output_free(o);
	tel_reader_free(r);
	return st;
}

static void
check_names(void)
{
	static const char *const good[] = { "mps", "mps,be", "mps:2.0.0",
		"mps:1.6.1/lii3gc", "mps:1.4.0,be", "mps:1.112", "mps:1.112.0",
		"mps-1.117.0/lii6gc,le", "mps-1.111.0", "inst", "hpm", "tel" };
	static const char *const bad[] = { "", "mp", "mpsx", "mps:", "mps-",
		"mps:3.0.0", "mps-2.0.0", "mps:1.6.1/", "mps:1.6.1/lii6gcxxx",
		"mps:1.6.1/zzi6gc", "mps:1.6.1,", "mps:1.6.1,be,le", "cnv",
		"text", "mps:1.6.1 " };
	tel_output *o = tel_output_new_fd(1);
	tel_writer *w = tel_writer_new(o);
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ok(tel_writer_set_target(w, good[i]) == TEL_OK, "%s is one",
		    good[i]);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(tel_writer_set_target(w, bad[i]) == TEL_EINVAL,
		    "'%s' is none", bad[i]);
	ok(tel_writer_set_target(w, NULL) == TEL_OK, "as it came");
	tel_writer_free(w);
	tel_output_free(o);
}

static void
check_losses(void)
{
	static struct bytes in, out;
	char losses[600];

	add(&in, schema, "PoolInit", 5, (uint64_t[]){ 1, 2, 3, 4 }, "");
	add(&in, schema, "GenInit", 6, (uint64_t[]){ 1, 2, 3, 4, 5 }, "");
	add_free(&in, schema, 7, 0x1000);
	add_free(&in, schema, 8, 0x100000000);
	add(&in, schema, "PoolFinish", 9, (uint64_t[]){ 1, 2 }, "");
	ok(convert(&in, AS, "mps:1.6.1/lii3gc", 0, &out, losses,
	       sizeof(losses)) == TEL_OK,
	    "to 32 bits");
	is_str(losses,
	    "2:mps-1.118.0/lii6gc>mps-1.117.0/lii3gc:PoolInit.serial:1 "
	    "0:mps-1.118.0/lii6gc>mps-1.117.0/lii3gc:GenInit.:1 "
	    "1:mps-1.118.0/lii6gc>mps-1.117.0/lii3gc:PoolFree.old:1 "
	    "2:mps-1.118.0/lii6gc>mps-1.117.0/lii3gc:PoolFinish.arena:1 ",
	    "what does not fit is reported");
	ok(convert(&in, AS, "mps:1.6.1", 1, &out, losses, sizeof(losses)) ==
	        TEL_EINVAL,
	    "strict");
	is_str(losses,
	    "in: offset 0: field serial of an event of type PoolInit does not "
	    "exist in mps-1.117.0/lii6gc",
	    "and where");
	in.size = 0;
	add(&in, old, "PoolInit", 5, (uint64_t[]){ 1, 2, 3 }, "");
	ok(convert(&in, "mps-1.117.0/lii6gc", "mps:2.0.0", 1, &out, losses,
	       sizeof(losses)) == TEL_OK,
	    "what only the target has is not a loss");
	is_str(losses,
	    "3:mps-1.117.0/lii6gc>mps-1.118.0/lii6gc:PoolInit.serial:1 ",
	    "but reported");
}

/* A stream whose events are not in one flush says what it is all the same. */
static void
check_begin(void)
{
	static struct bytes in, out;
	char losses[600], *got;
	unsigned i;

	add_free(&in, old, 20, 0x1000);
	add(&in, old, "EventInit", 10, (uint64_t[]){ 1, 6, 1, 1, 1, 64, 9 },
	    "");
	add_free(&in, old, 21, 0x1000);
	ok(convert(&in, "mps-1.117.0/lii6gc", AS, 0, &out, losses,
	       sizeof(losses)) == TEL_OK,
	    "a stream that says its version, but no release");
	got = outline(&out);
	is_str(got,
	    "I10=@(#)Ravenbrook MPS, product.mps, release/1.118.0, "
	    "platform.lii6gc, written by teltools " TEL_VERSION " F20 E10 F21",
	    "is given the release, at the earliest time");
	free(got);
	in.size = 0;
	/* more than are held */
	for (i = 0; i < 1200; i++)
		add_free(&in, old, 100 + i, 0x1000);
	add(&in, old, "EventInit", 10, (uint64_t[]){ 1, 6, 1, 1, 1, 64, 9 },
	    "");
	add(&in, old, "EventInit", 11,
	    (uint64_t[]){ 1, 6, 1, 1, 1, 64, 1000000 }, "");
	ok(convert(&in, "mps-1.117.0/lii6gc", AS, 0, &out, losses,
	       sizeof(losses)) == TEL_OK,
	    "a stream that says its version late");
	got = outline(&out);
	ok(strncmp(got, "E100 I100=@(#)", 14) == 0, "is given one");
	ok(strcmp(got + strlen(got) - 10, " F1299 E10") == 0,
	    "and its own, if it says something else");
	free(got);
	ok(convert(&in, "mps-1.117.0/lii6gc", "mps", 0, &out, losses,
	       sizeof(losses)) == TEL_OK &&
	        out.size == in.size && memcmp(out.data, in.data, in.size) == 0,
	    "the same release stays as it is");
}

static void
check_labels(void)
{
	static struct bytes in, out, back;
	char losses[600], *got;

	add_intern(&in, old, 1, 7, "name");
	add_label(&in, old, 2, 0x1000, 7);
	add_free(&in, old, 3, 0x1000);
	ok(convert(&in, "mps-1.117.0/lii6gc", AS, 1, &out, losses,
	       sizeof(losses)) == TEL_OK,
	    "a label");
	got = outline(&out);
	ok(strstr(got, " I1=name L2[name] LabelPointer2 F3[name]") != NULL,
	    "becomes one of an address and of a pointer");
	free(got);
	ok(convert(&out, AS, "mps:1.6.1", 1, &back, losses, sizeof(losses)) ==
	            TEL_OK &&
	        back.size > in.size &&
	        memcmp(back.data + back.size - in.size, in.data, in.size) == 0,
	    "and one again");
	/* other labels of a pointer stay */
	in.size = 0;
	add(&in, schema, "LabelPointer", 2, (uint64_t[]){ 0x1000, 7 }, "");
	add_label(&in, schema, 2, 0x1000, 7);
	add(&in, schema, "LabelPointer", 2, (uint64_t[]){ 0x1008, 7 }, "");
	ok(convert(&in, AS, "mps-1.118.0/w3i6mv", 1, &out, losses,
	       sizeof(losses)) == TEL_OK &&
	        convert(&in, AS, "mps:1.6.1", 1, &back, losses,
	            sizeof(losses)) == TEL_OK &&
	        out.size == back.size,
	    "as many as there were");
}

static void
check_state(void)
{
	static struct bytes in, out;
	tel_output *o = tel_output_new_callback(put_bytes, &out);
	tel_writer *w = tel_writer_new(o);
	const tel_event *ev;
	tel_reader *r;
	tel_loss loss;

	add_free(&in, schema, 1, 0x1000);
	r = open_bytes(in.data, in.size, AS, "in");
	ok(tel_writer_binary(w, r) == 1, "a stream is nothing to look at");
	ok(tel_writer_set_target(w, "inst") == TEL_OK &&
	        tel_writer_binary(w, r) == 0,
	    "an inst log is");
	ok(tel_reader_next(r, &ev) == TEL_OK &&
	        tel_writer_event(w, ev) == TEL_EINVAL,
	    "but this is none");
	is_str(tel_writer_error(w), "in: mps cannot be written as an inst log",
	    "reported");
	ok(tel_writer_set_target(w, "mps:1.6.1") == TEL_OK &&
	        tel_writer_set(w, TEL_WRITE_BARE, 1) == TEL_OK &&
	        tel_writer_event(w, ev) == TEL_OK,
	    "it may be something else");
	ok(tel_writer_set_target(w, "mps") == TEL_ESTATE &&
	        tel_writer_set(w, TEL_WRITE_STRICT, 1) == TEL_ESTATE,
	    "until the first event");
	ok(tel_writer_flush(w) == TEL_OK && out.size == in.size,
	    "a bare stream has what was written, and at once");
	ok(tel_writer_loss(w, 0, &loss, sizeof(loss)) == 0, "nothing was lost");
	out.size = sizeof(out.data);
	while (tel_writer_event(w, ev) == TEL_OK)
		continue;
	ok(tel_writer_event(w, ev) == TEL_EIO, "a full disk");
	tel_writer_free(w);
	tel_output_free(o);
	tel_reader_free(r);
}

int
main(void)
{
	if (tel_schema_new(AS, &schema) != TEL_OK ||
	    tel_schema_new("mps-1.117.0/lii6gc", &old) != TEL_OK)
		abort();
	check_names();
	check_losses();
	check_begin();
	check_labels();
	check_state();
	tel_schema_free(schema);
	tel_schema_free(old);
	return done();
}
