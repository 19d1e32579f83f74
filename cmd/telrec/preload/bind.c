/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Binding the calls of all modules to functions of the library, where the order
 * of preloaded libraries does not: the dynamic linker has stored the addresses
 * of functions in the tables of each module, and they are replaced there.
 *
 * Another thread may be loading a module meanwhile.  So an address is replaced
 * only if it is one that the dynamic linker has finished, and only if it is
 * still the same.
 */
#define _GNU_SOURCE
#include "telrec/preload/bind.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Relocations that are the address of a function. */
#if defined(__x86_64__)
#define IS_ADDRESS(type) \
	((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT || \
	    (type) == R_X86_64_64)
#elif defined(__i386__)
#define IS_ADDRESS(type) \
	((type) == R_386_JMP_SLOT || (type) == R_386_GLOB_DAT || \
	    (type) == R_386_32)
#elif defined(__aarch64__)
#define IS_ADDRESS(type) \
	((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT || \
	    (type) == R_AARCH64_ABS64)
#else
#define IS_ADDRESS(type) 0
#endif
#if UINTPTR_MAX > 0xFFFFFFFFu
#define SYMBOL_OF(info) ELF64_R_SYM(info)
#define TYPE_OF(info) ELF64_R_TYPE(info)
#define SYMBOL_TYPE(info) ELF64_ST_TYPE(info)
#else
#define SYMBOL_OF(info) ELF32_R_SYM(info)
#define TYPE_OF(info) ELF32_R_TYPE(info)
#define SYMBOL_TYPE(info) ELF32_ST_TYPE(info)
#endif

/* The needed parts of an object's dynamic section. */
struct object {
	uintptr_t base, start, end;
	const char *strings;
	const ElfW(Sym) * symbols;
	const uint32_t *hash, *gnu_hash;
	struct table {
		uintptr_t at;
		size_t bytes, step;
	} tables[3];
	uintptr_t protected, protected_end; /* read-only once relocated */
};

/* The functions to be called instead, in several lists. */
#define LISTS 3
static struct list {
	const struct bind_hook *hooks;
	size_t count;
} lists[LISTS];

/* ---------------------------------------------------------------- objects */

/* An address of the dynamic section, which some linkers have relocated. */
static uintptr_t
address_of(const struct object *o, uintptr_t v)
{
	return v < o->base ? v + o->base : v;
}

static void
read_dynamic(struct object *o, const ElfW(Dyn) * d)
{
	for (; d->d_tag != DT_NULL; d++) {
		uintptr_t at = address_of(o, d->d_un.d_ptr);

		switch (d->d_tag) {
		case DT_STRTAB: o->strings = (const char *)at; break;
		case DT_SYMTAB: o->symbols = (const ElfW(Sym) *)at; break;
		case DT_HASH: o->hash = (const uint32_t *)at; break;
		case DT_GNU_HASH: o->gnu_hash = (const uint32_t *)at; break;
		case DT_JMPREL: o->tables[0].at = at; break;
		case DT_PLTRELSZ: o->tables[0].bytes = d->d_un.d_val; break;
		case DT_PLTREL:
			o->tables[0].step = d->d_un.d_val == DT_RELA ?
			    sizeof(ElfW(Rela)) :
			    sizeof(ElfW(Rel));
			break;
		case DT_RELA: o->tables[1].at = at; break;
		case DT_RELASZ: o->tables[1].bytes = d->d_un.d_val; break;
		case DT_REL: o->tables[2].at = at; break;
		case DT_RELSZ: o->tables[2].bytes = d->d_un.d_val; break;
		default: break;
		}
	}
	o->tables[1].step = sizeof(ElfW(Rela));
	o->tables[2].step = sizeof(ElfW(Rel));
}

/* Reads the needed parts of an object.  0: it has no symbols. */
static int
read_object(struct object *o, const struct dl_phdr_info *info)
{
	const ElfW(Dyn) *dynamic = NULL;
	const ElfW(Phdr) * p;

	memset(o, 0, sizeof(*o));
	o->base = info->dlpi_addr;
	o->start = UINTPTR_MAX;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		p = &info->dlpi_phdr[i];
		uintptr_t at = o->base + p->p_vaddr;
		if (p->p_type == PT_DYNAMIC)
			dynamic = (const ElfW(Dyn) *)at;
		if (p->p_type == PT_GNU_RELRO) {
			o->protected = at;
			o->protected_end = at + p->p_memsz;
		}
		if (p->p_type == PT_LOAD) {
			o->start = at < o->start ? at : o->start;
			o->end =
			    at + p->p_memsz > o->end ? at + p->p_memsz : o->end;
		}
	}
	/* the kernel's own has no relocations, and an address of its own */
	if (dynamic == NULL || strstr(info->dlpi_name, "vdso") != NULL)
		return 0;
	read_dynamic(o, dynamic);
	return o->strings != NULL && o->symbols != NULL;
}

static int
contains(const struct object *o, const void *p)
{
	return (uintptr_t)p >= o->start && (uintptr_t)p < o->end;
}

/* ---------------------------------------------------------------- finding */

/* How many symbols an object has, by the table that finds them. */
static uint32_t
count_symbols(const struct object *o)
{
	uint32_t n = 0, i;

	if (o->hash != NULL)
		return o->hash[1];
	if (o->gnu_hash == NULL)
		return 0;
	/* buckets, first symbol, words of the filter */
	const uint32_t *buckets = o->gnu_hash + 4 +
	    (size_t)o->gnu_hash[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
	const uint32_t *chains = buckets + o->gnu_hash[0];
	for (i = 0; i < o->gnu_hash[0]; i++)
		n = buckets[i] > n ? buckets[i] : n;
	if (n < o->gnu_hash[1])
		return 0;
	/* the last one of a chain has an odd hash */
	while ((chains[n - o->gnu_hash[1]] & 1) == 0)
		n++;
	return n + 1;
}

struct search {
	const void *address; /* in a module; NULL: the first that has one */
	struct bind_hook *hooks;
	size_t count, found;
};

static int
find_in_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *search = arg;
	const ElfW(Sym) * symbol;
	struct object o;

	(void)size;
	if (!read_object(&o, info) ||
	    (search->address != NULL && !contains(&o, search->address)))
		return 0;
	/* the program has no name */
	uint32_t n = info->dlpi_name[0] != '\0' ? count_symbols(&o) : 0;
	for (uint32_t i = 0; i < n; i++) {
		symbol = &o.symbols[i];
		if (symbol->st_shndx == SHN_UNDEF ||
		    SYMBOL_TYPE(symbol->st_info) != STT_FUNC)
			continue;
		/* all begin alike: few others do */
		const char *name = o.strings + symbol->st_name;
		if (strncmp(name, search->hooks[0].name, 2) != 0)
			continue;
		for (size_t k = 0; k < search->count; k++)
			if (strcmp(name, search->hooks[k].name) == 0) {
				search->hooks[k].before =
				    (void *)(o.base + symbol->st_value);
				search->found++;
			}
	}
	return search->address != NULL || search->found > 0;
}

size_t
bind_find(const void *address, struct bind_hook *hooks, size_t count)
{
	struct search search = { address, hooks, count, 0 };

	(void)dl_iterate_phdr(find_in_object, &search);
	return search.found;
}

void *
bind_definition(const char *name)
{
	struct bind_hook hook = { name, NULL, NULL };
	struct search search = { NULL, &hook, 1, 0 };
	void *const p = dlsym(RTLD_DEFAULT, name);
	ElfW(Sym) *symbol = NULL;
	Dl_info info;

	if (p != NULL &&
	    dladdr1(p, &info, (void **)&symbol, RTLD_DL_SYMENT) != 0 &&
	    symbol != NULL && symbol->st_shndx == SHN_UNDEF)
		(void)dl_iterate_phdr(find_in_object, &search);
	return hook.before != NULL ? hook.before : p;
}

/* ---------------------------------------------------------------- binding */

/* Replaces an address, also where the linker has made memory read-only. */
static void
preload_bind_replace(const struct object *o, void **place, void *seen,
    void *value)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE),
	                start = (uintptr_t)place & ~(page - 1);
	const int is_protected = (uintptr_t)place >= o->protected &&
	    (uintptr_t)place < o->protected_end;

	if (is_protected &&
	    mprotect((void *)start, page, PROT_READ | PROT_WRITE) != 0)
		return;
	(void)__atomic_compare_exchange_n(place, &seen, value, 0,
	    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
	if (is_protected)
		(void)mprotect((void *)start, page, PROT_READ);
}

static const struct bind_hook *
find_hook(const char *name)
{
	for (size_t i = 0; i < LISTS; i++)
		for (size_t k = 0; k < lists[i].count; k++)
			if (strcmp(lists[i].hooks[k].name, name) == 0)
				return lists[i].hooks[k].own != NULL ?
				    &lists[i].hooks[k] :
				    NULL;
	return NULL;
}

/* Whether an address is that of a function which the module has itself. */
static int
is_own(const struct object *o, const ElfW(Sym) * symbol, const void *p)
{
	return symbol->st_shndx != SHN_UNDEF &&
	    (uintptr_t)p == o->base + symbol->st_value;
}

static void
bind_table(const struct object *o, const struct table *t, int is_plt)
{
	const struct bind_hook *hook;
	const ElfW(Sym) * symbol;
	const ElfW(Rel) * r;
	size_t at;

	for (at = 0; t->step > 0 && at + t->step <= t->bytes; at += t->step) {
		/* Rela begins with the members of Rel */
		r = (const ElfW(Rel) *)(t->at + at);
		if (!IS_ADDRESS(TYPE_OF(r->r_info)) ||
		    SYMBOL_OF(r->r_info) == 0)
			continue;
		symbol = &o->symbols[SYMBOL_OF(r->r_info)];
		hook = find_hook(o->strings + symbol->st_name);
		if (hook == NULL)
			continue;
		void **place = (void **)(o->base + r->r_offset);
		void *seen = __atomic_load_n(place, __ATOMIC_ACQUIRE);
		/* one that was never called is code of the module itself */
		if (seen == hook->before ||
		    (is_plt && contains(o, seen) && !is_own(o, symbol, seen)))
			preload_bind_replace(o, place, seen, hook->own);
	}
}

/* The state of the modules. */
static struct {
	unsigned long long adds, subs;
	size_t seen;
} modules;

struct look {
	size_t at, from;
};

static int
bind_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct look *look = arg;
	struct object o;

	if (look->at == 0 &&
	    size >= offsetof(struct dl_phdr_info, dlpi_subs) +
	            sizeof(info->dlpi_subs)) {
		/* new ones are behind the others, unless one was removed */
		if (modules.subs != info->dlpi_subs)
			look->from = 0;
		modules.subs = info->dlpi_subs;
		if (look->from > 0 && modules.adds == info->dlpi_adds)
			return 1;
		modules.adds = info->dlpi_adds;
	}
	if (look->at++ < look->from)
		return 0;
	if (!read_object(&o, info) || contains(&o, &lists))
		return 0;
	for (int i = 0; i < 3; i++)
		if (o.tables[i].at != 0)
			bind_table(&o, &o.tables[i], i == 0);
	return 0;
}

/* Looks at all modules, or at new ones only. */
static void
bind_modules(int all)
{
	/* a child of a thread that looks binds nothing any more */
	static int looking, wanted;
	struct look look;

	__atomic_store_n(&wanted, all ? 2 : 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&wanted, __ATOMIC_SEQ_CST) != 0 &&
	    __atomic_exchange_n(&looking, 1, __ATOMIC_SEQ_CST) == 0) {
		all = __atomic_exchange_n(&wanted, 0, __ATOMIC_SEQ_CST);
		look.at = 0;
		look.from = all == 2 ? 0 : modules.seen;
		(void)dl_iterate_phdr(bind_object, &look);
		modules.seen = look.at > 0 ? look.at : modules.seen;
		__atomic_store_n(&looking, 0, __ATOMIC_SEQ_CST);
	}
}

/* --------------------------------------------------------- further modules */

static void *open_module(const char *name, int flags);
static struct bind_hook opener[] = { { "dlopen", NULL, NULL } };

/* Calls of dlopen that have not returned. */
static unsigned opening;

int
bind_is_found_anyway(const char *name, const void *caller)
{
	struct link_map *map = NULL;
	const ElfW(Dyn) * d;
	Dl_info info;

	if (name == NULL ||
	    (strchr(name, '/') != NULL && strchr(name, '$') == NULL))
		return 1;
	if (dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 ||
	    map == NULL || map->l_ld == NULL)
		return 0;
	for (d = map->l_ld; d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_RPATH || d->d_tag == DT_RUNPATH)
			return 0;
	return strchr(name, '$') == NULL;
}

static void *
open_counted(const char *name, int flags)
{
	bind_open_fn *next;

	*(void **)&next = opener[0].before;
	__atomic_fetch_add(&opening, 1, __ATOMIC_SEQ_CST);
	void *handle = next(name, flags);
	/* modules that others are loading come with the last of these */
	if (__atomic_sub_fetch(&opening, 1, __ATOMIC_SEQ_CST) == 0)
		bind_modules(0);
	return handle;
}

/* What opens a module for a caller. */
static __attribute__((noinline)) bind_open_fn *
bind_opener(const char *name, const void *caller)
{
	bind_open_fn *next;

	*(void **)&next = opener[0].before;
	return bind_is_found_anyway(name, caller) ? open_counted : next;
}

static void *
open_module(const char *name, int flags)
{
	/* a jump: to dlopen(), the caller is the module that called this */
	return bind_opener(name, __builtin_return_address(0))(name, flags);
}

void
bind_loaded(const struct bind_hook *hooks, size_t count)
{
	for (size_t i = 1; i < LISTS; i++)
		if (lists[i].hooks == NULL || lists[i].hooks == hooks) {
			lists[i].hooks = hooks;
			lists[i].count = count;
			break;
		}
	bind_modules(1);
}

void
bind_calls(const struct bind_hook *hooks, size_t count)
{
	if (opener[0].own == NULL) {
		opener[0].before = bind_definition("dlopen");
		if (opener[0].before != NULL)
			opener[0].own = (void *)(uintptr_t)open_module;
		lists[0].hooks = opener;
		lists[0].count = 1;
	}
	bind_loaded(hooks, count);
}
