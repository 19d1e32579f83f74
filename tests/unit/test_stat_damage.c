/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inst streams of which one word of one record is missing or has another value:
 * which are accepted and which are damage, as tests/data/stat/words has it, and
 * what is accepted is written so that it reads back the same.
 */
#include "stat_log.h"

#define WORDS "tests/data/stat/words"

/* The values that a word gets. */
static const char *const values[] = { NULL, "", "0", "-1", "1",
	"18446744073709551615", "18446744073709551616" };
/* Those that a list of buckets gets as well. */
static const char *const buckets[] = { "0:1,0:1", "1:1,0:1", "0:0", "1:2,0:3",
	"0:18446744073709551615,1:1", "99999:1", "0:1,", "0:", ":1", "-1:1" };

enum { MAX_KEYS = 512, MAX_KEY = 64, MAX_IDS = 64 };

struct table {
	char keys[MAX_KEYS][MAX_KEY];
	size_t count;
	struct sink out;
	unsigned unstable; /* values that were not written as they were read */
};

/* A stream, and the types of the classes that it has defined. */
struct stream {
	const char *text;
	size_t size;
	char *written; /* what is written of it */
	char types[MAX_IDS][16];
};

static char *
load_text(const char *name, size_t *size)
{
	const char *top = getenv("TEL_TOP");
	char path[512], *text;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", top == NULL ? "." : top, name);
	f = must(fopen(path, "r"));
	text = must(calloc(1, 1 << 20));
	*size = fread(text, 1, (1 << 20) - 1, f);
	fclose(f);
	return text;
}

/* Whether a text that was written is written the same when it was read. */
static int
reads_back(const char *text)
{
	tel_stats *s = must(tel_stats_new());
	int same = read_inst(s, text, strlen(text)) == TEL_OK;
	char *again = same ? write_inst(s, 1) : NULL;

	same = same && strcmp(again, text) == 0;
	free(again);
	tel_stats_free(s);
	return same;
}

/*
 * What is made of a stream: '=' what is made of in, '.' something else, '!'
 * damage, '-' nothing.
 */
static char
outcome(struct table *t, const struct stream *in, const char *text, size_t size)
{
	tel_stats *s = must(tel_stats_new());
	tel_status st = read_inst(s, text, size);
	char *out, c = st == TEL_EDAMAGED ? '!' : '-';

	if (st == TEL_OK) {
		out = write_inst(s, 1);
		c = strcmp(out, in->written) == 0 ? '=' : '.';
		if (c == '.' && !reads_back(out)) {
			t->unstable++;
			diag("%.*s", (int)size, text);
		}
		free(out);
	}
	tel_stats_free(s);
	return c;
}

/* Tries a value in place of the word " NAME=..." from at to end. */
static void
try_value(struct table *t, const struct stream *in, size_t at, size_t end,
    const char *value)
{
	size_t name = strcspn(in->text + at, "=") + 1;
	struct sink text = { NULL, 0 };
	char c;

	take_bytes(&text, in->text, at);
	if (value != NULL) {
		take_bytes(&text, in->text + at, name);
		take_bytes(&text, value, strlen(value));
	}
	take_bytes(&text, in->text + end, in->size - end);
	c = outcome(t, in, text.bytes, text.count);
	take_bytes(&t->out, &c, 1);
	free(text.bytes);
}

/* Tries all values of a word, unless another one of its name was. */
static void
try_word(struct table *t, const struct stream *in, const char *sort,
    const char *type, size_t at, size_t end)
{
	const int name = (int)strcspn(in->text + at + 1, "=");
	char *key = t->keys[t->count];
	size_t i;

	if (t->count + 1 >= MAX_KEYS)
		abort();
	snprintf(key, MAX_KEY, "%s %s %.*s ", sort, type, name,
	    in->text + at + 1);
	for (i = 0; strcmp(t->keys[i], key) != 0; i++)
		continue;
	if (i < t->count)
		return;
	t->count++;
	take_bytes(&t->out, key, strlen(key));
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		try_value(t, in, at, end, values[i]);
	for (i = 0; i < sizeof(buckets) / sizeof(buckets[0]) && name == 1 &&
	     in->text[at + 1] == 'b';
	     i++)
		try_value(t, in, at, end, buckets[i]);
	take_bytes(&t->out, "\n", 1);
}

/* Where the word that starts with a blank at p ends. */
static const char *
word_end(const char *p)
{
	for (p++; *p != ' ' && *p != '\n'; p++)
		if (*p == '"')
			for (p++; *p != '"'; p++)
				p += *p == '\\';
	return p;
}

/* The class that a record is of. */
static unsigned
class_of(const char *line, int defines)
{
	const char *p = strstr(line, defines ? " id=" : " c=");
	unsigned id;

	if (p == NULL || p > strchr(line, '\n'))
		return 0;
	id = (unsigned)atoi(strchr(p, '=') + 1);
	if (id >= MAX_IDS)
		abort();
	return id;
}

static void
try_record(struct table *t, struct stream *in, const char *line)
{
	const char *p = line + 17, *end;
	char sort[8];
	unsigned id;

	snprintf(sort, sizeof(sort), "%.*s", (int)strcspn(p, " \n"), p);
	id = class_of(line, strcmp(sort, "C") == 0);
	if (strcmp(sort, "C") == 0) {
		p = strstr(line, " type=") + 6;
		snprintf(in->types[id], sizeof(in->types[id]), "%.*s",
		    (int)strcspn(p, " \n"), p);
	}
	for (p = line + 16; *p != '\n'; p = end) {
		end = word_end(p);
		if (memchr(p, '=', (size_t)(end - p)) != NULL)
			try_word(t, in, sort, id == 0 ? "-" : in->types[id],
			    (size_t)(p - in->text), (size_t)(end - in->text));
	}
}

static void
try_file(struct table *t, const char *name)
{
	struct stream in = { 0 };
	char *text = load_text(name, &in.size);
	const char *line;
	tel_stats *s = must(tel_stats_new());

	in.text = text;
	must_ok(read_inst(s, text, in.size));
	in.written = write_inst(s, 1);
	t->unstable += !reads_back(in.written);
	for (line = text; *line != '\0'; line = strchr(line, '\n') + 1)
		try_record(t, &in, line);
	tel_stats_free(s);
	free(in.written);
	free(text);
}

int
main(void)
{
	struct table *t = must(calloc(1, sizeof(*t)));
	const char *golden = getenv("TEST_GOLDEN");
	size_t size;
	char *want;
	FILE *f;

	try_file(t, "tests/data/stat/classes.inst");
	try_file(t, "tests/data/stat/numbers.inst");
	try_file(t, "tests/data/stat/groups.inst");
	if (golden != NULL && strcmp(golden, "write") == 0) {
		f = must(fopen(WORDS, "w"));
		fwrite(t->out.bytes, 1, t->out.count, f);
		fclose(f);
	}
	want = load_text(WORDS, &size);
	is_str(t->out.bytes, want, "words that are missing or wrong");
	is_u64(t->unstable, 0, "what is accepted reads back");
	free(want);
	free(t->out.bytes);
	free(t);
	return done();
}
