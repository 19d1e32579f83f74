/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program over what is meant to last of libtel: it prints the events of a log,
 * their values and operations, and what another format cannot represent.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <tel.h>

static void
check(tel_status st, const char *what)
{
	if (st == TEL_OK)
		return;
	fprintf(stderr, "%s: %s\n", what, tel_status_text(st));
	exit(1);
}

static void
show_event(const tel_event *ev, tel_expr *x)
{
	struct {
		tel_alloc op;
		uint64_t guard;
	} a = { .guard = 0x5A5A5A5A5A5A5A5A };
	tel_value v;
	char text[64];

	printf("%s %" PRIu64, tel_type_name(tel_event_type(ev)),
	    tel_event_clock(ev));
	if (tel_event_alloc(ev, &a.op, sizeof(a.op)))
		printf(" op %d address %" PRIx64 " size %" PRIu64,
		    (int)a.op.kind, a.op.address, a.op.size);
	check(tel_expr_eval(x, ev, &v), "eval");
	(void)tel_value_text(&v, text, sizeof(text));
	printf(" %s%s\n", text,
	    a.guard == 0x5A5A5A5A5A5A5A5A ? "" : " OVERRUN");
}

static void
convert(const char *path, const char *format)
{
	tel_output *out = tel_output_new_fd(2);
	tel_writer *w = tel_writer_new(out);
	tel_reader *r = tel_reader_new();
	const tel_event *ev;
	tel_loss loss;
	size_t i;

	check(tel_writer_set_target(w, format), format);
	check(tel_reader_open_file(r, path), path);
	while (tel_reader_next(r, &ev) == TEL_OK)
		check(tel_writer_event(w, ev), "write");
	check(tel_writer_finish(w), "finish");
	for (i = 0; tel_writer_loss(w, i, &loss, sizeof(loss)); i++)
		printf("loss %d %s %s %s: %" PRIu64 "\n", (int)loss.kind,
		    loss.to, loss.type, loss.field, loss.events);
	tel_writer_free(w);
	tel_reader_free(r);
	tel_output_free(out);
}

int
main(int argc, char **argv)
{
	tel_reader *r = tel_reader_new();
	tel_expr *x = tel_expr_new();
	const tel_event *ev;

	if (argc != 5)
		return 2;
	check(tel_expr_set(x, argv[4]), argv[4]);
	check(tel_reader_open_file(r, argv[1]), argv[1]);
	while (tel_reader_next(r, &ev) == TEL_OK)
		show_event(ev, x);
	tel_expr_free(x);
	tel_reader_free(r);
	convert(argv[2], argv[3]);
	return 0;
}
