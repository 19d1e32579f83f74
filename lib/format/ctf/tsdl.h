/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The metadata of CTF 1.8: the trace stream description language, TSDL
 * (Common Trace Format 1.8.3, section 7 and appendix C), by recursive descent.
 * Functions that return int give 1, or 0 with t->error set; those that return
 * a pointer give NULL then.
 */
#ifndef TEL_CTF_TSDL_H
#define TEL_CTF_TSDL_H

#include "base/index.h"
#include "format/ctf/lexer.h"

/* The longest path, and the most dimensions of an array. */
#define STEPS_MAX 16u

/* A name of a type, in the scope where it was given. */
struct alias {
	const char *name;
	const struct ctf_class *class;
	unsigned scope;
};

struct tsdl {
	struct ctf_lexer lexer;
	struct ctf_token token; /* the next one */
	struct ctf_metadata *m;
	struct ctf_error *error;
	struct tel__index index; /* of aliases, by scope and name */
	struct alias *aliases;
	size_t naliases, alias_room;
	unsigned scopes[CTF_DEPTH_MAX + 2]; /* open ones, the outermost first */
	unsigned depth;
	unsigned nscopes; /* that there were */
	unsigned nested;  /* types around the one that is read */
	unsigned nstreams;
	struct ctf_attribute **last_attribute;
};

/* The declarator of a field or an alias: its name and lengths. */
struct declarator {
	const char *name;
	struct {
		uint64_t length;
		struct ctf_path path;
	} sizes[STEPS_MAX];
	unsigned nsizes;
};

/* What an attribute of a type is set to. */
struct attribute {
	const char *name;
	const char *word; /* or a string; NULL: a number */
	uint64_t number;
};

/* Takes the next token. */
void tel__tsdl_advance(struct tsdl *t);
/* Reports that another token was expected; gives 0, as the next does. */
int tel__tsdl_fail(struct tsdl *t, const char *expected);
int tel__tsdl_no_memory(struct tsdl *t);
/* Whether the next token is that character, or that word. */
int tel__tsdl_at(const struct tsdl *t, char c);
int tel__tsdl_is(const struct ctf_token *k, const char *word);
/* Takes it if it is. */
int tel__tsdl_accept(struct tsdl *t, char c);
int tel__tsdl_accept_word(struct tsdl *t, const char *word);
/* Takes that character. */
int tel__tsdl_expect(struct tsdl *t, char c);
/* A copy of n bytes. */
const char *tel__tsdl_copy(struct tsdl *t, const char *text, size_t n);
/* Takes a word or a string; words and dots, joined: "packet.header". */
const char *tel__tsdl_name(struct tsdl *t);
const char *tel__tsdl_dotted(struct tsdl *t);
/* Takes an integer, which may have a sign or be in parentheses. */
int tel__tsdl_integer(struct tsdl *t, uint64_t *value);
/* "= VALUE;" behind the name of an attribute: its word or number. */
int tel__tsdl_value(struct tsdl *t, struct attribute *a);
/* The alignment that an attribute declares, in bits. */
int tel__tsdl_align(struct tsdl *t, const struct attribute *a, uint32_t *align);
/* Sets a class's member of that name; digits: of a number with a point. */
int tel__tsdl_set(struct tsdl *t, struct ctf_class *c,
    const struct attribute *a, uint64_t digits[2]);
/* The byte order that an attribute declares. */
int tel__tsdl_order(struct tsdl *t, const struct attribute *a,
    enum ctf_order *order);
/* A scope of names of types; it ends with t->depth--. */
int tel__tsdl_open_scope(struct tsdl *t);
/* A type specifier, and the declarator behind one. */
const struct ctf_class *tel__tsdl_type(struct tsdl *t);
int tel__tsdl_declarator(struct tsdl *t, struct declarator *d);
/* An alias, if one comes: *matched; and the declarators of a typedef of c. */
int tel__tsdl_declaration(struct tsdl *t, int *matched);
int tel__tsdl_typedefs(struct tsdl *t, const struct ctf_class *c);

#endif
