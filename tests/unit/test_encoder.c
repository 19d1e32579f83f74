/* SPDX-License-Identifier: BSD-2-Clause */
/* What encoders share: rows of losses, and numbers of strings of several logs. */
#include <stdlib.h>

#include "encoder/losses.h"
#include "encoder/numbering.h"
#include "tap.h"

static void
test_losses(void)
{
	static const struct {
		tel_loss_kind kind;
		const char *schema, *type, *field;
	} rows[] = {
		{ TEL_LOSS_FIELD, "s", "t", "f" },
		{ TEL_LOSS_VALUE, "s", "t", "f" },
		{ TEL_LOSS_FIELD, "S", "t", "f" },
		{ TEL_LOSS_FIELD, "s", "T", "f" },
		{ TEL_LOSS_FIELD, "s", "t", "F" },
		{ TEL_LOSS_FIELD, "s", "t", NULL },
	};
	struct losses l = { 0 };
	struct loss *row;
	char name[16];
	size_t i, n = sizeof(rows) / sizeof(rows[0]);
	int again;

	for (again = 0; again < 2; again++)
		for (i = 0; i < n; i++) {
			row = tel__losses_row(&l, rows[i].kind, rows[i].schema,
			    rows[i].type, rows[i].field);
			ok(row == l.rows[i] && row->kind == rows[i].kind,
			    "row %d has its place", (int)i);
		}
	is_u64(l.count, n, "each part tells rows apart");
	is_str(l.rows[n - 1]->field, "", "no field");
	for (i = n; i < LOSSES_MAX + 10; i++) {
		snprintf(name, sizeof(name), "%d", (int)i);
		row = tel__losses_row(&l, TEL_LOSS_TYPE, "s", name, NULL);
	}
	is_u64(l.count, LOSSES_MAX - 4 + 1, "further ones share a row");
	ok(strcmp(row->type, "...") == 0 && strcmp(row->schema, "...") == 0 &&
	        row->field[0] == '\0',
	    "which has no names");
	row = tel__losses_row(&l, TEL_LOSS_FIELD, "s", "new", "f");
	ok(l.count == LOSSES_MAX - 4 + 2 && strcmp(row->field, "...") == 0,
	    "fields another");
	ok(tel__losses_row(&l, rows[0].kind, "s", "t", "f") == l.rows[0],
	    "earlier ones remain");
	tel__losses_free(&l);
	is_u64(l.count, 0, "freed");
}

/* A step: a log has a string, or a label (NULL), of a number. */
static const struct step {
	unsigned log;
	uint64_t id;
	const char *text;
	tel_status status;
	uint64_t out;
	int same;
} steps[] = {
	{ 0, 1, "a", TEL_OK, 1, 0 }, { 0, 1, "a", TEL_OK, 1, 1 },
	{ 1, 1, "a", TEL_OK, 1, 1 },  /* the same string: shared */
	{ 1, 2, "b", TEL_OK, 2, 0 },  /* a number that is free */
	{ 0, 2, "c", TEL_OK, 3, 0 },  /* and one that is not */
	{ 0, 2, NULL, TEL_OK, 3, 0 }, /* a label follows its log's string */
	{ 1, 2, NULL, TEL_OK, 2, 0 }, /* each its own */
	{ 0, 2, "d", TEL_OK, 3, 0 },  /* another string, its own alone */
	{ 0, 2, "d", TEL_OK, 3, 1 },  /* which is remembered */
	{ 0, 1, "e", TEL_OK, 4, 0 },  /* a shared one is not changed */
	{ 0, 1, NULL, TEL_OK, 4, 0 }, /* whose labels now have that number */
	{ 1, 1, NULL, TEL_OK, 1, 0 }, /* for the other log */
	{ 1, 7, NULL, TEL_OK, 7, 0 }, /* a label before its string */
	{ 1, 7, "f", TEL_OK, 7, 0 },
	{ 0, 7, "g", TEL_OK, 8, 0 }, /* after the largest */
	{ 0, 8, "h", TEL_OK, 5, 0 }, /* up to the limit, then in a gap */
	{ 0, 5, "ii", TEL_OK, 6, 0 },
	{ 1, 6, "i", TEL_ELIMIT, 6, 0 }, /* no number is left */
};

static void
test_numbering(void)
{
	struct tel__table maps[2];
	struct numbering ids = { 0 };
	const struct step *s;
	uint64_t out;
	tel_status st;
	size_t i;
	int same;

	tel__numbering_begin(&ids, 100);
	tel__table_init(&maps[0]);
	tel__table_init(&maps[1]);
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		s = &steps[i];
		st = tel__numbering_map(&ids, &maps[s->log], s->log, 8, s->id,
		    s->text, s->text != NULL ? strlen(s->text) : 0, &out,
		    &same);
		ok(st == s->status && out == s->out && same == s->same,
		    "step %d: status %d, number %d, same %d", (int)i, (int)st,
		    (int)out, same);
	}
	is_u64((uint64_t)ids.full, 0, "the table is not full");
	tel__table_clear(&maps[0]);
	tel__table_clear(&maps[1]);
	tel__numbering_free(&ids);

	tel__numbering_begin(&ids, 2);
	tel__table_init(&maps[0]);
	for (i = 1; i <= 3; i++)
		st = tel__numbering_map(&ids, &maps[0], 0, 8, i, "a", 1, &out,
		    &same);
	ok(st == TEL_ELIMIT && ids.full == 1 && ids.count == 2,
	    "two strings at most");
	tel__table_clear(&maps[0]);
	tel__numbering_free(&ids);
}

int
main(void)
{
	test_losses();
	test_numbering();
	return done();
}
