/* SPDX-License-Identifier: BSD-2-Clause */
/* Tokens of the metadata of CTF 1.8. */
#ifndef TEL_CTF_LEXER_H
#define TEL_CTF_LEXER_H

#include "format/ctf/class.h"

enum ctf_token_kind {
	TOKEN_END,
	TOKEN_WORD,
	TOKEN_INTEGER,
	TOKEN_STRING,
	TOKEN_ASSIGN_TYPE, /* := */
	TOKEN_ARROW,       /* -> */
	TOKEN_ELLIPSIS,    /* ... */
	TOKEN_PUNCTUATION, /* a single character, .character */
	TOKEN_INVALID
};

struct ctf_token {
	enum ctf_token_kind kind;
	char character;
	unsigned line;
	uint64_t value;
	const char *text; /* a word as it is in the input, a string decoded */
	size_t length;
};

struct ctf_lexer {
	const char *p, *end;
	unsigned line;
	struct tel__arena *arena; /* of decoded strings */
};

/* Takes the next token. */
void tel__ctf_token(struct ctf_lexer *l, struct ctf_token *t);

#endif
