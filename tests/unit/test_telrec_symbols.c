/* SPDX-License-Identifier: BSD-2-Clause */
/* Which module an address is in, of files without debug information. */
#include "telrec/symbols.c"

#include "tap.h"

/* A file that can be opened has 4 KiB, and no functions. */
struct dwarf *
dwarf_new(const char *path, const char *build)
{
	static char file;

	(void)build;
	return strcmp(path, "/has") == 0 ? (struct dwarf *)&file : NULL;
}

void
dwarf_free(struct dwarf *d)
{
	(void)d;
}

size_t
dwarf_name(struct dwarf *d, uint64_t address, char *out, size_t room)
{
	(void)d;
	(void)address;
	(void)out;
	(void)room;
	return 0;
}

int
dwarf_has(const struct dwarf *d, uint64_t address)
{
	(void)d;
	return address <= 0x1000;
}

int
dwarf_available(void)
{
	return 0;
}

/* All modules, in order of time. */
#define MODULES 200u
static struct {
	uint32_t pid;
	uint64_t clock, start, bias;
	int is_program;
	char path[16], build[8];
} made[MODULES];

static unsigned
below(unsigned n)
{
	static uint64_t seed = 1;

	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

static void
make_modules(struct telrec_symbols *s)
{
	unsigned i, name, bad = 0;

	for (i = 0; i < MODULES; i++) {
		name = below(9);
		made[i].pid = 1 + below(3);
		made[i].clock = 10 * i;
		made[i].start = 100 * (1 + below(30));
		made[i].bias = made[i].start - below(50);
		made[i].is_program = below(12) == 0;
		if (name > 0)
			snprintf(made[i].path, sizeof(made[i].path), "%sm%u",
			    name & 1 ? "in/" : "", name);
		snprintf(made[i].build, sizeof(made[i].build), "%s%u",
		    made[i].is_program ? "!" : "", name);
		bad += !telrec_symbols_module(s, made[i].pid, made[i].clock,
		    made[i].start, made[i].bias, made[i].path, made[i].build);
	}
	ok(bad == 0, "modules are added");
}

/* What an address is called, by all modules. */
static void
find_name(uint32_t pid, uint64_t clock, uint64_t address, char *out, size_t n)
{
	unsigned i, first = MODULES, end;
	const char *slash;

	/* of the last program until then, or of the first one */
	for (i = 0; i < MODULES; i++)
		if (made[i].pid == pid &&
		    (first == MODULES ||
		        (made[i].is_program && made[i].clock <= clock)))
			first = i;
	*out = '\0';
	if (first == MODULES)
		return;
	for (end = first + 1; end < MODULES; end++)
		if (made[end].pid == pid && made[end].is_program)
			break;
	for (i = first, first = MODULES; i < end; i++)
		if (made[i].pid == pid && made[i].path[0] != '\0' &&
		    made[i].start <= address &&
		    (first == MODULES || made[i].start >= made[first].start))
			first = i;
	if (first == MODULES)
		return;
	slash = strchr(made[first].path, '/');
	snprintf(out, n, "%s+0x%" PRIx64,
	    slash != NULL ? slash + 1 : made[first].path,
	    address - made[first].bias);
}

static void
test_modules(void)
{
	struct telrec_symbols *s = telrec_symbols_new();
	unsigned i, k, bad = 0, named = 0;
	uint64_t address;
	char want[64];
	const char *got;

	if (s == NULL)
		return;
	make_modules(s);
	for (i = 0; i < MODULES; i++)
		for (k = 0; k < 12; k++) {
			address = made[i].start - 1 + k % 3;
			find_name(1 + k % 4, made[i].clock - k / 6, address,
			    want, sizeof(want));
			got = telrec_symbols_name(s, 1 + k % 4,
			    made[i].clock - k / 6, address);
			named += *got != '\0';
			bad += strcmp(got, want) != 0;
		}
	ok(bad == 0 && named > MODULES, "names of addresses: %u of %u differ",
	    bad, named);
	telrec_symbols_free(s);
}

/* The lines that heaptrack has of modules. */
static void
test_notes(void)
{
	static const struct {
		const char *note, *name; /* of 0x5010 then */
	} notes[] = {
		{ "m 4 in/a zz", "" },
		{ "m 9 in/a 5000", "" },
		{ "m zz in/a 5000", "" },
		{ "m 4", "" },
		{ "y 4 in/a 5000", "" },
		{ "x 6 in/prg", "" },
		{ "m 1 x 5000 1 2", "prg+0x10" },
		{ "m 4 in/a 5001 1 2", "a+0xf" },
		{ "m 4 in/b 5011 1 2", "a+0xf" },
		{ "m 4 in/c 5010 1 2", "c+0x0" },
		{ "m 1 -", "" },
		{ "m 4 in/a 4000 1 2", "a+0x1010" },
		{ "m 4 /has 4010 1 2", "has+0x1000" },
		{ "m 1 -", "" },
		/* behind the file, as code that was made while it ran */
		{ "m 4 /has 400f 1 2", "" },
	};
	struct telrec_symbols *s = telrec_symbols_new();
	char text[5000];
	const char *got;
	unsigned i;
	size_t n;

	if (s == NULL)
		return;
	for (i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
		ok(take_note(s, notes[i].note, strlen(notes[i].note), i),
		    "\"%s\"", notes[i].note);
		got = telrec_symbols_name(s, 0, i, 0x5010);
		ok(strcmp(got, notes[i].name) == 0, "then it is \"%s\"", got);
	}
	/* paths have 4,095 bytes at most; longer ones are left out */
	for (i = 4094; i <= 4097; i++) {
		memset(text, 'p', sizeof(text));
		n = (size_t)snprintf(text, 20, "m %x ", i);
		text[n] = 'p';
		(void)snprintf(text + n + i, 20, " %x 1", 0x4000 + i);
		ok(take_note(s, text, strlen(text), 20), "a path of %u bytes",
		    i);
		got = strrchr(telrec_symbols_name(s, 0, 20, 0x5010), '+');
		ok(got != NULL &&
		        strcmp(got, i == 4094 ? "+0x12" : "+0x11") == 0,
		    "then it is \"%s\"", got != NULL ? got : "");
	}
	telrec_symbols_free(s);
}

int
main(void)
{
	test_modules();
	test_notes();
	return done();
}
