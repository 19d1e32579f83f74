/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of Rust: of the "v0" mangling (RFC 2603), a grammar whose paths and types
 * may refer back to what was read before; and of the older one, a path of C++
 * whose parts have escapes and end with a hash.
 */
#include "telrec/rust.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/digit.h"

/* Paths and types within another; compilers make some tens. */
#define RUST_DEPTH_MAX 200

struct rust {
	const char *start, *p, *end; /* of what follows "_R" */
	char *text;
	size_t used, room;
	uint64_t lifetimes; /* that "for<'a>" binds here */
	unsigned depth;
	int open;   /* the list of generics of the last path is not closed */
	int silent; /* parses without printing */
	int old;    /* the older mangling */
	int full;   /* the text is longer than the room */
	int failed;
};

static void rust_path(struct rust *d, int in_value);
static void rust_type(struct rust *d);
static void rust_const(struct rust *d);

__attribute__((format(printf, 2, 3))) static void
rust_put(struct rust *d, const char *format, ...)
{
	va_list ap;

	if (d->silent || d->failed)
		return;
	va_start(ap, format);
	int n = vsnprintf(d->text + d->used, d->room - d->used, format, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= d->room - d->used) {
		d->used = d->room - 1;
		d->full = d->failed = 1;
	} else {
		d->used += (size_t)n;
	}
}

static int
rust_peek(const struct rust *d)
{
	return d->failed || d->p == d->end ? 0 : (unsigned char)*d->p;
}

static int
rust_next(struct rust *d)
{
	const int c = rust_peek(d);

	if (c == 0)
		d->failed = 1;
	else
		d->p++;
	return c;
}

static int
rust_eat(struct rust *d, int c)
{
	if (rust_peek(d) != c)
		return 0;
	d->p++;
	return 1;
}

/* A number to the base of 62, which ends with "_"; that alone is 0. */
static uint64_t
rust_number(struct rust *d)
{
	uint64_t n = 0;

	if (rust_eat(d, '_'))
		return 0;
	while (!d->failed && !rust_eat(d, '_')) {
		const int c = rust_next(d);
		const unsigned digit = tel_is_digit(c) ? (unsigned)c - '0' :
		    c >= 'a' && c <= 'z' ? (unsigned)c - 'a' + 10 :
		    c >= 'A' && c <= 'Z' ? (unsigned)c - 'A' + 36 :
		                           62;
		if (digit == 62 || n > UINT64_MAX / 62 - 2)
			d->failed = 1;
		n = n * 62 + digit;
	}
	return n + 1;
}

/* The same behind a tag; 0: there is none. */
static uint64_t
rust_tagged(struct rust *d, int tag)
{
	return rust_eat(d, tag) ? rust_number(d) + 1 : 0;
}

/* A name, in the symbol; one that is not ASCII is shown as its punycode. */
struct rust_word {
	const char *at;
	size_t n;
	int punycode;
};

static struct rust_word
rust_word(struct rust *d)
{
	struct rust_word w = { NULL, 0, rust_eat(d, 'u') };

	if (!tel_is_digit(rust_peek(d)))
		d->failed = 1;
	else if (!rust_eat(d, '0'))
		while (tel_is_digit(rust_peek(d)) && w.n < 100000)
			w.n = w.n * 10 + (size_t)(rust_next(d) - '0');
	if (!d->old)
		(void)rust_eat(d, '_');
	w.at = d->p;
	if (w.n > (size_t)(d->end - d->p))
		d->failed = 1;
	if (d->failed)
		w.n = 0;
	d->p += w.n;
	return w;
}

static void
rust_put_word(struct rust *d, struct rust_word w)
{
	rust_put(d, w.punycode ? "punycode{%.*s}" : "%.*s", (int)w.n, w.at);
}

/* Reads, with one of the functions, what was there before. */
static void
rust_back(struct rust *d, void (*read)(struct rust *))
{
	const uint64_t at = rust_number(d);
	const char *const after = d->p;

	if (at >= (uint64_t)(after - d->start) || d->depth >= RUST_DEPTH_MAX)
		d->failed = 1;
	if (d->silent || d->failed)
		return;
	d->depth++;
	d->p = d->start + at;
	read(d);
	d->p = after;
	d->depth--;
}

static void
rust_value_path(struct rust *d)
{
	rust_path(d, 1);
}

static void
rust_type_path(struct rust *d)
{
	rust_path(d, 0);
}

static void
rust_lifetime(struct rust *d, uint64_t n)
{
	if (n == 0)
		rust_put(d, "'_");
	else if (n > d->lifetimes)
		d->failed = 1;
	else if (d->lifetimes - n < 26)
		rust_put(d, "'%c", (int)('a' + (d->lifetimes - n)));
	else
		rust_put(d, "'_%" PRIu64, d->lifetimes - n);
}

/* "for<'a, 'b> ", which the caller ends by restoring the lifetimes. */
static void
rust_binder(struct rust *d)
{
	const uint64_t n = rust_tagged(d, 'G');

	for (uint64_t i = 0; i < n && !d->failed; i++) {
		d->lifetimes++;
		rust_put(d, i == 0 ? "for<" : ", ");
		rust_lifetime(d, 1);
		/* each is printed, unless none is: then this would not end */
		d->failed |= i > 1000;
	}
	if (n > 0)
		rust_put(d, "> ");
}

static void
rust_generic(struct rust *d)
{
	if (rust_eat(d, 'L'))
		rust_lifetime(d, rust_number(d));
	else if (rust_eat(d, 'K'))
		rust_const(d);
	else
		rust_type(d);
}

/* Reads up to "E" with a separator; how many. */
static unsigned
rust_list(struct rust *d, const char *separator, void (*read)(struct rust *))
{
	unsigned n = 0;

	while (!d->failed && !rust_eat(d, 'E')) {
		rust_put(d, "%s", n++ > 0 ? separator : "");
		read(d);
	}
	return n;
}

/* "N": a name in a path, or something without a name, as a closure. */
static void
rust_nested(struct rust *d, int in_value)
{
	const int space = rust_next(d);

	rust_path(d, in_value);
	const uint64_t number = rust_tagged(d, 's');
	const struct rust_word w = rust_word(d);
	if (space >= 'a' && space <= 'z') {
		if (w.n > 0) {
			rust_put(d, "::");
			rust_put_word(d, w);
		}
		return;
	}
	d->failed |= space < 'A' || space > 'Z';
	rust_put(d, "::{");
	if (space == 'C' || space == 'S')
		rust_put(d, "%s", space == 'C' ? "closure" : "shim");
	else
		rust_put(d, "%c", space);
	if (w.n > 0)
		rust_put(d, ":");
	rust_put_word(d, w);
	rust_put(d, "#%" PRIu64 "}", number);
}

/* "<TYPE as TRAIT>", where M and X begin with the path of the impl. */
static void
rust_impl(struct rust *d, int tag)
{
	if (tag != 'Y') {
		const int silent = d->silent;

		(void)rust_tagged(d, 's');
		d->silent = 1;
		rust_path(d, 0);
		d->silent = silent;
	}
	rust_put(d, "<");
	rust_type(d);
	if (tag != 'M') {
		rust_put(d, " as ");
		rust_path(d, 0);
	}
	rust_put(d, ">");
}

static void
rust_path(struct rust *d, int in_value)
{
	const int tag = rust_next(d);

	d->failed |= ++d->depth > RUST_DEPTH_MAX;
	switch (d->failed ? 0 : tag) {
	case 'C':
		(void)rust_tagged(d, 's');
		rust_put_word(d, rust_word(d));
		break;
	case 'N': rust_nested(d, in_value); break;
	case 'M':
	case 'X':
	case 'Y': rust_impl(d, tag); break;
	case 'I':
		rust_path(d, in_value);
		rust_put(d, in_value ? "::<" : "<");
		rust_list(d, ", ", rust_generic);
		rust_put(d, ">");
		break;
	case 'B':
		rust_back(d, in_value ? rust_value_path : rust_type_path);
		break;
	default: d->failed = 1;
	}
	d->depth--;
}

/* "fn" of a type. */
static void
rust_function(struct rust *d)
{
	const uint64_t lifetimes = d->lifetimes;

	rust_binder(d);
	if (rust_eat(d, 'U'))
		rust_put(d, "unsafe ");
	if (rust_eat(d, 'K')) {
		rust_put(d, "extern \"");
		if (rust_eat(d, 'C')) {
			rust_put(d, "C");
		} else {
			const struct rust_word w = rust_word(d);

			for (size_t i = 0; i < w.n; i++)
				rust_put(d, "%c",
				    w.at[i] == '_' ? '-' : w.at[i]);
		}
		rust_put(d, "\" ");
	}
	rust_put(d, "fn(");
	rust_list(d, ", ", rust_type);
	rust_put(d, ")");
	if (!rust_eat(d, 'u')) {
		rust_put(d, " -> ");
		rust_type(d);
	}
	d->lifetimes = lifetimes;
}

/* A path whose last list of generics, if it has one, is not closed. */
static void
rust_open_path(struct rust *d)
{
	int open = 0;

	if (rust_eat(d, 'B')) {
		rust_back(d, rust_open_path);
		return;
	}
	if (rust_eat(d, 'I')) {
		open = 1;
		rust_path(d, 0);
		rust_put(d, "<");
		rust_list(d, ", ", rust_generic);
	} else {
		rust_path(d, 0);
	}
	d->open = open;
}

/* A trait of "dyn", with the types that it is associated with. */
static void
rust_trait(struct rust *d)
{
	rust_open_path(d);
	int open = d->open;
	while (rust_eat(d, 'p')) {
		rust_put(d, open ? ", " : "<");
		open = 1;
		rust_put_word(d, rust_word(d));
		rust_put(d, " = ");
		rust_type(d);
	}
	if (open)
		rust_put(d, ">");
}

static void
rust_object(struct rust *d)
{
	const uint64_t lifetimes = d->lifetimes;

	rust_put(d, "dyn ");
	rust_binder(d);
	rust_list(d, " + ", rust_trait);
	d->lifetimes = lifetimes;
	if (!rust_eat(d, 'L'))
		d->failed = 1;
	const uint64_t n = rust_number(d);
	if (n > 0) {
		rust_put(d, " + ");
		rust_lifetime(d, n);
	}
}

static void
rust_reference(struct rust *d, int tag)
{
	uint64_t n = 0;

	if (rust_eat(d, 'L'))
		n = rust_number(d);
	rust_put(d, "&");
	if (n > 0) {
		rust_lifetime(d, n);
		rust_put(d, " ");
	}
	rust_put(d, tag == 'Q' ? "mut " : "");
	rust_type(d);
}

/* The types of one letter, from a to z. */
static const char *const rust_basic[26] = { "i8", "bool", "char", "f64", "str",
	"f32", NULL, "u8", "isize", "usize", NULL, "i32", "u32", "i128", "u128",
	"_", NULL, NULL, "i16", "u16", "()", "...", NULL, "i64", "u64", "!" };

static void
rust_type(struct rust *d)
{
	const int tag = rust_next(d);

	d->failed |= ++d->depth > RUST_DEPTH_MAX;
	switch (d->failed ? 0 : tag) {
	case 'R':
	case 'Q': rust_reference(d, tag); break;
	case 'P':
	case 'O':
		rust_put(d, tag == 'P' ? "*const " : "*mut ");
		rust_type(d);
		break;
	case 'A':
	case 'S':
		rust_put(d, "[");
		rust_type(d);
		if (tag == 'A') {
			rust_put(d, "; ");
			rust_const(d);
		}
		rust_put(d, "]");
		break;
	case 'T':
		rust_put(d, "(");
		rust_put(d, rust_list(d, ", ", rust_type) == 1 ? ",)" : ")");
		break;
	case 'F': rust_function(d); break;
	case 'D': rust_object(d); break;
	case 'B': rust_back(d, rust_type); break;
	default:
		if (tag >= 'a' && tag <= 'z' && rust_basic[tag - 'a'] != NULL) {
			rust_put(d, "%s", rust_basic[tag - 'a']);
		} else if (!d->failed) {
			d->p--;
			rust_path(d, 0);
		}
	}
	d->depth--;
}

/* A value of a type of one letter, in hexadecimal digits. */
static void
rust_const(struct rust *d)
{
	const int tag = rust_next(d);
	uint64_t value = 0;
	int c;

	if (tag == 'B') {
		rust_back(d, rust_const);
		return;
	}
	if (tag == 'p') {
		rust_put(d, "_");
		return;
	}
	if (memchr("htmyojaslxnibc", tag, 14) == NULL)
		d->failed = 1;
	if (rust_eat(d, 'n'))
		rust_put(d, "-");
	const char *const digits = d->p;
	while (!d->failed && (c = rust_next(d)) != '_') {
		d->failed |= !tel_is_digit(c) && (c < 'a' || c > 'f');
		value = value << 4 |
		    (unsigned)(tel_is_digit(c) ? c - '0' : c - 'a' + 10);
	}
	if (d->failed)
		return;
	const int n = (int)(d->p - 1 - digits);
	if (n > 16)
		rust_put(d, "0x%.*s", n, digits);
	else if (tag == 'b')
		rust_put(d, value == 0 ? "false" : "true");
	else if (tag == 'c')
		rust_put(d, value >= ' ' && value < 127 ? "'%c'" : "'\\u{%x}'",
		    (unsigned)value);
	else
		rust_put(d, "%" PRIu64, value);
}

/* -------------------------------------------------------- the older mangling */

/* "$LT$" and the like, at text[1] on; what it stands for, and its length. */
static char
rust_escape(const char *text, const char *end, size_t *length)
{
	static const struct {
		const char *code;
		char c;
	} codes[] = { { "SP", '@' }, { "BP", '*' }, { "RF", '&' },
		{ "LT", '<' }, { "GT", '>' }, { "LP", '(' }, { "RP", ')' },
		{ "C", ',' } };
	unsigned c;
	const char *close = memchr(text + 1, '$', (size_t)(end - text - 1));

	if (close == NULL)
		return 0;
	*length = (size_t)(close + 1 - text);
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (strlen(codes[i].code) == *length - 2 &&
		    memcmp(codes[i].code, text + 1, *length - 2) == 0)
			return codes[i].c;
	if (sscanf(text, "$u%2x$", &c) == 1 && *length == 5 && c >= ' ' &&
	    c < 127)
		return (char)c;
	return 0;
}

/* A part of a path, of which ".." is "::". */
static void
rust_old_word(struct rust *d, struct rust_word w)
{
	const char *p = w.at, *const end = w.at + w.n;
	size_t length;

	if (w.n > 1 && p[0] == '_' && p[1] == '$')
		p++;
	for (; p < end && !d->failed; p += length) {
		char c = *p;

		length = 1;
		if (c == '$' && (c = rust_escape(p, end, &length)) == 0) {
			d->failed = 1;
		} else if (c == '.' && p + 1 < end && p[1] == '.') {
			rust_put(d, ":");
			c = ':';
			length = 2;
		}
		rust_put(d, "%c", c);
	}
}

/* "h" and 16 digits. */
static int
rust_is_hash(struct rust_word w)
{
	return w.n == 17 && w.at[0] == 'h' &&
	    strspn(w.at + 1, "0123456789abcdef") == 16;
}

static void
rust_old_path(struct rust *d)
{
	struct rust_word w = rust_word(d);

	rust_old_word(d, w);
	while (!d->failed && rust_peek(d) != 'E') {
		w = rust_word(d);
		/* the hash is what tells these names from those of C++ */
		if (rust_peek(d) == 'E' && rust_is_hash(w))
			return;
		rust_put(d, "::");
		rust_old_word(d, w);
	}
	d->failed = 1;
}

size_t
rust_demangle(const char *symbol, char *text, size_t room)
{
	struct rust d = { .text = text, .room = room };

	d.old = strncmp(symbol, "_ZN", 3) == 0;
	if (!d.old && strncmp(symbol, "_R", 2) != 0)
		return 0;
	d.start = d.p = symbol + (d.old ? 3 : 2);
	/* compilers append ".llvm.123" and the like */
	d.end = d.p + (d.old ? strlen(d.p) : strcspn(d.p, "."));
	if (d.old) {
		rust_old_path(&d);
	} else {
		rust_path(&d, 1);
		/* the crate that has this instance of a generic function */
		d.silent = 1;
		if (rust_peek(&d) != 0)
			rust_path(&d, 0);
		d.failed |= d.p != d.end;
	}
	return d.failed && !d.full ? 0 : d.used;
}
