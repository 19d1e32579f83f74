/* SPDX-License-Identifier: BSD-2-Clause */
/* Roles that the user gives to types: "GrabBlock(ptr=p,size=n)". */
#include "model/role.h"
#include "reader/reader.h"

#include <stdlib.h>
#include <string.h>

/* The most characters of such a text. */
#define TEXT_MAX ((size_t)1000)

struct reader_role {
	struct reader_role *next;
	enum tel_role role;
	int found; /* a log had the type */
	size_t name_length;
	char text[]; /* the name of the type, and the text in parentheses */
};

/* The reader that the user knows, of those in an archive that was split. */
static struct tel_reader *
root(struct tel_reader *r)
{
	while (r->parent != NULL)
		r = r->parent;
	return r;
}

/* The end of the part of a role at p, up to a comma or parenthesis. */
static const char *
part_end(const char *p)
{
	return p + strcspn(p, ",)");
}

/* Whether text, behind the name, is "(PART=FIELD,...)" of parts that are. */
static int
is_list(const char *p, enum tel_role role)
{
	unsigned have = 0;

	if (*p != '(')
		return 0;
	do {
		const char *end = part_end(++p);
		const char *field = memchr(p, '=', (size_t)(end - p));

		if (field == NULL || end - field < 2)
			return 0;
		int part = tel__part_find(p, (size_t)(field - p));
		if (part < 0 || (have >> part & 1) != 0)
			return 0;
		have |= 1u << part;
		p = end;
	} while (*p == ',');
	if (p[0] != ')' || p[1] != '\0')
		return 0;
	/* a block that has no address means nothing */
	return (role > TEL_ROLE_COMMIT && role < TEL_ROLE_NEW) ||
	    (have >> TEL_PART_ADDRESS & 1) != 0;
}

tel_status
tel_reader_add_role(tel_reader *r, const char *role, const char *text)
{
	struct reader_role *new, **end = &r->roles;
	enum tel_role which = tel__role_find(role, strlen(role));
	size_t n = strcspn(text, "("), length = strlen(text);

	if (r->at != READER_NEW)
		return TEL_ESTATE;
	if (which < TEL_ROLE_ALLOC || which == TEL_ROLE_START ||
	    which == TEL_ROLE_FINISH || which >= TEL_ROLE_MIDDLE || n == 0 ||
	    length > TEXT_MAX || !is_list(text + n, which))
		return TEL_EINVAL;
	new = calloc(1, sizeof(*new) + length + 1);
	if (new == NULL)
		return TEL_ENOMEM;
	new->role = which;
	new->name_length = n;
	memcpy(new->text, text, length);
	while (*end != NULL)
		end = &(*end)->next;
	*end = new;
	return TEL_OK;
}

void
tel__reader_free_roles(struct tel_reader *r)
{
	struct reader_role *role;

	while ((role = r->roles) != NULL) {
		r->roles = role->next;
		free(role);
	}
}

/* Gives a type the role. */
static void
reader_role_give(struct tel_reader *r, const struct reader_role *role,
    struct tel_type *t)
{
	const char *p = role->text + role->name_length, *end;

	if (tel_type_is_followed(t)) {
		tel__reader_notice(r, TEL_WARNING, r->offset,
		    "%s is stream metadata; its role cannot be changed",
		    t->name);
		return;
	}
	t->role = (uint8_t)role->role;
	t->partner = -1;
	memset(t->role_field, -1, sizeof(t->role_field));
	do {
		end = part_end(++p);
		if (!tel__role_set(t, 0, p, (size_t)(end - p)))
			tel__reader_notice(r, TEL_WARNING, r->offset,
			    "%s has no field %.*s", t->name, (int)(end - p), p);
		p = end;
	} while (*p == ',');
}

void
tel__reader_give_roles(struct tel_reader *r, struct tel_schema *s)
{
	struct reader_role *role;

	s->given = 1;
	for (role = root(r)->roles; role != NULL; role = role->next) {
		for (unsigned i = 0; i < s->ntypes; i++) {
			if (s->types[i].name_length != role->name_length ||
			    memcmp(s->types[i].name, role->text,
			        role->name_length) != 0)
				continue;
			role->found = 1;
			reader_role_give(r, role, &s->types[i]);
		}
	}
	s->sets_clock = tel__schema_sets_clock(s);
}

void
tel__reader_report_roles(struct tel_reader *r)
{
	struct reader_role *role;

	for (role = root(r)->roles; role != NULL; role = role->next) {
		if (!role->found)
			tel__reader_notice(r, TEL_WARNING, 0,
			    "unknown event type %.*s", (int)role->name_length,
			    role->text);
		role->found = 1;
	}
}
