/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of instructions.  elfutils' libdw is loaded when it is needed, so that
 * telrec runs without it; and C++'s library, which has the function that reads
 * its names.
 */
#define _GNU_SOURCE
#include "telrec/dwarf.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "telrec/libdw.h"
#include "telrec/rust.h"
#include "telrec/scopes.h"
#include "telrec/symtab.h"

/* Bytes of the name of a function. */
#define FUNCTION_MAX 1000
/* The same, as the linker has it. */
#define SYMBOL_MAX 4096
/* Namespaces, types and functions in each other that a name has, at most. */
#define HOLDERS_MAX 32

struct dwarf {
	void *library, *cxx;
	char *(*demangle)(const char *, char *, size_t *, int *);
	struct libdw f;
	Dwfl_Callbacks callbacks;
	Dwfl *dwfl;
	Dwfl_Module *module;
	uint64_t start, end; /* of its addresses */
	struct scopes scopes;
	struct scope scope; /* of the address whose name is asked for */
	struct symtab symbols;
	int sorted;  /* they are all there: 1; -1: there was no memory */
	char *paths; /* where debug information is looked for: the default */
};

/* Finds the functions.  1, or 0. */
static int
dwarf_load(struct dwarf *d)
{
	d->library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
	if (d->library == NULL)
		return 0;
#define FIND(type, name, arguments) \
	*(void **)&d->f.name = dlsym(d->library, #name); \
	if (d->f.name == NULL) \
		return 0;
	LIBDW_FUNCTIONS(FIND)
#undef FIND
	d->cxx = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
	if (d->cxx != NULL)
		*(void **)&d->demangle = dlsym(d->cxx, "__cxa_demangle");
	return 1;
}

void
dwarf_free(struct dwarf *d)
{
	if (d == NULL)
		return;
	scopes_clear(&d->scopes);
	symtab_clear(&d->symbols);
	if (d->dwfl != NULL)
		d->f.dwfl_end(d->dwfl);
	if (d->library != NULL)
		dlclose(d->library);
	if (d->cxx != NULL)
		dlclose(d->cxx);
	free(d);
}

/* Whether a module is the one that was recorded. */
static int
is_build(struct dwarf *d, const char *build)
{
	const unsigned char *bits;
	char text[130] = "";
	uint64_t address, bias;

	/* the identifier is read with the file */
	if (d->f.dwfl_module_getelf(d->module, &bias) == NULL)
		return 0;
	int n = d->f.dwfl_module_build_id(d->module, &bits, &address);
	for (int i = 0; i < n && 2 * i + 2 < (int)sizeof(text); i++)
		(void)snprintf(text + 2 * i, 3, "%02x", bits[i]);
	/* of a longer one, there are the first 32 bytes */
	return strncmp(text, build, strlen(build)) == 0;
}

/* Opens the file.  1, or 0. */
static int
report(struct dwarf *d, const char *path, const char *build)
{
	d->callbacks.find_elf = d->f.dwfl_build_id_find_elf;
	d->callbacks.find_debuginfo = d->f.dwfl_standard_find_debuginfo;
	d->callbacks.section_address = d->f.dwfl_offline_section_address;
	d->callbacks.debuginfo_path = &d->paths;
	d->dwfl = d->f.dwfl_begin(&d->callbacks);
	if (d->dwfl == NULL)
		return 0;
	d->f.dwfl_report_begin_add(d->dwfl);
	d->module = d->f.dwfl_report_elf(d->dwfl, path, path, -1, 0, true);
	(void)d->f.dwfl_report_end(d->dwfl, NULL, NULL);
	if (d->module == NULL || !is_build(d, build))
		return 0;
	(void)d->f.dwfl_module_info(d->module, NULL, &d->start, &d->end, NULL,
	    NULL, NULL, NULL);
	return 1;
}

struct dwarf *
dwarf_new(const char *path, const char *build)
{
	struct dwarf *d = calloc(1, sizeof(*d));

	if (d != NULL && access(path, R_OK) == 0 && dwarf_load(d) &&
	    report(d, path, build))
		return d;
	dwarf_free(d);
	return NULL;
}

int
dwarf_has(const struct dwarf *d, uint64_t address)
{
	return address > d->start && address <= d->end;
}

int
dwarf_available(void)
{
	struct dwarf *d = calloc(1, sizeof(*d));
	const int loaded = d != NULL && dwarf_load(d);

	dwarf_free(d);
	return loaded;
}

/* Text that is made, never longer than its room. */
struct text {
	char *at;
	size_t used, room;
};

__attribute__((format(printf, 2, 3))) static void
dwarf_put(struct text *t, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	int n = vsnprintf(t->at + t->used, t->room - t->used, format, ap);
	va_end(ap);
	if (n > 0)
		t->used += (size_t)n < t->room - t->used ?
		    (size_t)n :
		    t->room - t->used - 1;
}

static void
put_function(const struct dwarf *d, struct text *t, const char *name)
{
	char rust[FUNCTION_MAX + 1], *plain = NULL;
	int status = -1;

	if (rust_demangle(name, rust, sizeof(rust)) > 0)
		name = rust;
	else if (d->demangle != NULL && name[0] == '_' && name[1] == 'Z')
		plain = d->demangle(name, NULL, NULL, &status);
	dwarf_put(t, "%.*s", FUNCTION_MAX, plain != NULL ? plain : name);
	free(plain);
}

/* The name of a function, as the linker has it; NULL: it has none. */
static const char *
function_name(const struct dwarf *d, Dwarf_Die *die)
{
	static const unsigned names[] = { DW_AT_linkage_name,
		DW_AT_MIPS_linkage_name, DW_AT_name };
	const char *name = NULL;
	Dwarf_Attribute attribute;
	size_t i;

	for (i = 0; name == NULL && i < sizeof(names) / sizeof(names[0]); i++)
		if (d->f.dwarf_attr_integrate(die, names[i], &attribute) !=
		    NULL)
			name = d->f.dwarf_formstring(&attribute);
	return name;
}

/*
 * Whether a symbol has a name, and is of code or data of the file.  The names of
 * versions are at 0, as if all of the file were behind them.
 */
static int
is_named_code(const char *name, const Elf64_Sym *s)
{
	const int type = ELF64_ST_TYPE(s->st_info);

	return name != NULL && name[0] != '\0' && s->st_shndx != SHN_UNDEF &&
	    (s->st_shndx != SHN_ABS || s->st_size > 0) && type != STT_SECTION &&
	    type != STT_FILE && type != STT_TLS;
}

/* Takes all symbols of the module.  1, or 0 without memory. */
static int
take_symbols(struct dwarf *d)
{
	const int n = d->f.dwfl_module_getsymtab(d->module);
	struct symbol symbol;
	Elf64_Sym s;

	for (int i = 1; i < n; i++) {
		memset(&symbol, 0, sizeof(symbol));
		symbol.name = d->f.dwfl_module_getsym_info(d->module, i, &s,
		    &symbol.start, NULL, NULL, NULL);
		if (!is_named_code(symbol.name, &s))
			continue;
		int binding = ELF64_ST_BIND(s.st_info);
		symbol.size = s.st_size;
		symbol.local = binding == STB_LOCAL;
		symbol.strength = binding == STB_WEAK ? 1 : 2;
		if (!symtab_add(&d->symbols, &symbol))
			return 0;
	}
	symtab_sort(&d->symbols);
	return 1;
}

/* The name of the symbol that an address is in; NULL: it is in none. */
static const char *
symbol_name(struct dwarf *d, uint64_t pc)
{
	const char *name = NULL;
	int labelled = 1;
	uint64_t offset;
	Elf64_Sym symbol;

	if (d->sorted == 0)
		d->sorted = take_symbols(d) ? 1 : -1;
	if (d->sorted > 0)
		name = symtab_find(&d->symbols, pc, &labelled);
	/* whether a label is of the same section, libdw knows */
	return name == NULL && labelled ?
	    d->f.dwfl_module_addrinfo(d->module, pc, &offset, &symbol, NULL,
	        NULL, NULL) :
	    name;
}

/* Appends the name of what a function is in, or what else has the name inner. */
static void
put_holder(struct dwarf *d, struct text *t, Dwarf_Die *die, const char *inner)
{
	const int tag = d->f.dwarf_tag(die);
	const char *name = function_name(d, die);

	if (name == NULL)
		name = tag == DW_TAG_namespace ? "(anonymous namespace)" :
		    inner != NULL && strncmp(inner, "operator()", 10) == 0 ?
		                                 "{lambda}" :
		                                 "{unnamed}";
	/* this has all that the function is in */
	if (strncmp(name, "_Z", 2) == 0)
		t->used = 0;
	put_function(d, t, name);
	dwarf_put(t,
	    tag == DW_TAG_subprogram && name[0] != '_' ? "()::" : "::");
}

/* The name of a function behind those of what it is in. */
static const char *
qualified_name(struct dwarf *d, const Dwarf_Die *function, const char *name,
    char out[SYMBOL_MAX])
{
	size_t at, within[HOLDERS_MAX], n = 0;
	struct text t = { out, 0, SYMBOL_MAX };
	Dwarf_Die die = *function, next;
	Dwarf_Attribute attribute;

	/* it is declared there, if code of it is elsewhere */
	for (int i = 0; i < 4; i++) {
		if (d->f.dwarf_attr(&die, DW_AT_abstract_origin, &attribute) ==
		        NULL &&
		    d->f.dwarf_attr(&die, DW_AT_specification, &attribute) ==
		        NULL)
			break;
		if (d->f.dwarf_formref_die(&attribute, &next) == NULL)
			break;
		die = next;
	}
	const struct unit *u =
	    scopes_unit_of(&d->scopes, &d->f, d->scope.in, &die);
	for (at = scopes_outer(u, &die); at != NO_HOLDER && n < HOLDERS_MAX;
	     at = u->holders[at].outer)
		within[n++] = at;
	while (n-- > 0) {
		die = u->holders[within[n]].die;
		if (n > 0)
			next = u->holders[within[n - 1]].die;
		put_holder(d, &t, &die, n > 0 ? function_name(d, &next) : name);
	}
	dwarf_put(&t, "%s", name);
	return out;
}

/*
 * The complete name of a function of C++: GCC has no more than "operator()" for
 * lambdas, and likewise within unnamed namespaces.  That of the outermost one is
 * the symbol at the address.
 */
static const char *
complete_name(struct dwarf *d, const Dwarf_Die *die, const char *name,
    char out[SYMBOL_MAX])
{
	const char *symbol = NULL;
	size_t n;

	if (strncmp(name, "_Z", 2) == 0 || !scopes_is_cxx(&d->f, d->scope.unit))
		return name;
	if (die == &d->scope.functions[0])
		symbol = symbol_name(d, d->scope.pc);
	/* compilers append ".isra.0" and the like */
	if (symbol == NULL || strncmp(symbol, "_Z", 2) != 0 ||
	    (n = strcspn(symbol, ".")) >= SYMBOL_MAX)
		return qualified_name(d, die, name, out);
	memcpy(out, symbol, n);
	out[n] = '\0';
	return out;
}

/* Where an inlined function is called, in the function around it. */
static void
find_call(const struct dwarf *d, Dwarf_Die *unit, Dwarf_Die *die,
    const char **file, int *line)
{
	Dwarf_Attribute attribute;
	uint64_t number;
	Dwarf_Files *files;
	size_t n;

	*file = NULL;
	*line = 0;
	if (d->f.dwarf_attr(die, DW_AT_call_file, &attribute) != NULL &&
	    d->f.dwarf_formudata(&attribute, &number) == 0 &&
	    d->f.dwarf_getsrcfiles(unit, &files, &n) == 0 && number < n)
		*file = d->f.dwarf_filesrc(files, (size_t)number, NULL, NULL);
	if (d->f.dwarf_attr(die, DW_AT_call_line, &attribute) != NULL &&
	    d->f.dwarf_formudata(&attribute, &number) == 0)
		*line = (int)number;
}

static void
dwarf_put_line(struct text *t, const char *file, int line)
{
	if (file != NULL && line > 0)
		dwarf_put(t, " at %s:%d", file, line);
	else if (file != NULL)
		dwarf_put(t, " at %s", file);
}

/* Where the instruction at an address is in the source; NULL: unknown. */
static const char *
find_source_line(const struct dwarf *d, int *line)
{
	Dwarf_Line *source = d->scope.unit == NULL ?
	    NULL :
	    d->f.dwarf_getsrc_die(d->scope.unit, d->scope.pc);

	*line = 0;
	if (source == NULL)
		return NULL;
	(void)d->f.dwarf_lineno(source, line);
	return d->f.dwarf_linesrc(source, NULL, NULL);
}

/*
 * Names the functions around an address by debug information, the innermost
 * first.  How many there were.
 */
static unsigned
put_scopes(struct dwarf *d, struct text *t)
{
	int line;
	unsigned count = 0;
	const char *file = find_source_line(d, &line);
	char symbol[SYMBOL_MAX];

	for (size_t i = d->scope.count; i-- > 0;) {
		Dwarf_Die *die = &d->scope.functions[i];
		const char *name = function_name(d, die);

		if (name == NULL)
			continue;
		name = complete_name(d, die, name, symbol);
		if (count++ > 0)
			dwarf_put(t, " <- ");
		put_function(d, t, name);
		dwarf_put_line(t, file, line);
		find_call(d, d->scope.unit, die, &file, &line);
	}
	return count;
}

size_t
dwarf_name(struct dwarf *d, uint64_t address, char *text, size_t room)
{
	struct text t = { text, 0, room };
	/* a call is before its return address */
	const uint64_t pc = address - 1;
	int line;

	scopes_find(&d->scopes, &d->f, d->module, pc, &d->scope);
	if (put_scopes(d, &t) > 0)
		return t.used;
	const char *name = symbol_name(d, pc);
	if (name == NULL || name[0] == '\0')
		return 0;
	put_function(d, &t, name);
	const char *file = find_source_line(d, &line);
	dwarf_put_line(&t, file, line);
	return t.used;
}
