/* SPDX-License-Identifier: BSD-2-Clause */
/* Tokens of the language, and numbers as every option takes them. */
#ifndef TEL_QUERY_TOKEN_H
#define TEL_QUERY_TOKEN_H

#include "query/value.h"

/* The unit after a number. */
enum number_unit {
	NUMBER_PLAIN, /* nothing */
	NUMBER_SIZE,  /* k, M, G or T: 1024s */
	NUMBER_TIME   /* ns, us, ms or s: the value is nanoseconds */
};

struct number {
	struct value value; /* V_NATURAL or V_DOUBLE */
	enum number_unit unit;
};

/*
 * Reads the unsigned number at the start of text, and moves *end past it and
 * its suffix.  long_units: m and h are taken too, for minutes and hours.
 * Returns NULL, or a message.
 */
const char *tel__number_read(const char *text, const char **end, int long_units,
    struct number *out);

enum token_kind {
	T_END,
	T_NUMBER,
	T_STRING,
	T_NAME,  /* a bare word */
	T_FIELD, /* .word */
	T_LPAREN,
	T_RPAREN,
	T_LBRACKET,
	T_RBRACKET,
	T_COMMA,
	T_RANGE,     /* .. */
	T_NOT,       /* ! */
	T_TILDE,     /* ~ */
	T_AND,       /* && */
	T_OR,        /* || */
	T_MATCH_NOT, /* !~ */
	T_GLOB,      /* =* */
	T_GLOB_NOT,  /* !* */
	T_OPERATOR   /* any other, in token.op */
};

struct token {
	enum token_kind kind;
	enum value_op op;   /* of T_OPERATOR */
	unsigned column;    /* its first column, from 1 */
	const char *s;      /* T_NAME, T_FIELD: the word, NUL-terminated */
	struct value value; /* T_NUMBER, T_STRING; a NUL follows a string */
};

struct lexer {
	const char *text; /* all of it, NUL-terminated */
	const char *p;    /* the rest of the text */
	char *words;      /* room for strlen(text) + 2 bytes of words */
	unsigned error_column;
};

/* An operator as it is written. */
const char *tel__operator_text(enum value_op op);

/*
 * Reads the next token.  Returns NULL, or a message about
 * the text at lexer->error_column.  At the end of the text it gives T_END each time.
 */
const char *tel__lexer_next(struct lexer *l, struct token *t);

#endif
