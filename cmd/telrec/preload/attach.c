/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Starting in a program that runs already: telrec has it load the library, and
 * call telrec_attach().  The dynamic linker has bound the program's calls by
 * then: they are bound again, to the library, in the tables of all objects.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "telrec/preload/preload.h"

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
#else
#define SYMBOL_OF(info) ELF32_R_SYM(info)
#define TYPE_OF(info) ELF32_R_TYPE(info)
#endif

/* What is needed of an object's dynamic section. */
struct object {
	uintptr_t base;
	const char *strings;
	const ElfW(Sym) * symbols;
	struct table {
		uintptr_t at;
		size_t bytes, step;
	} tables[3];
	uintptr_t protected, protected_end; /* read-only once relocated */
};

/* The functions of the library, and those that the program has. */
static struct hook {
	const char *name;
	void *own, *before;
} hooks[] = { { "malloc", NULL, NULL }, { "free", NULL, NULL },
	{ "calloc", NULL, NULL }, { "realloc", NULL, NULL },
	{ "reallocarray", NULL, NULL }, { "memalign", NULL, NULL },
	{ "aligned_alloc", NULL, NULL }, { "posix_memalign", NULL, NULL },
	{ "valloc", NULL, NULL }, { "pvalloc", NULL, NULL },
	{ "mmap", NULL, NULL }, { "mmap64", NULL, NULL },
	{ "munmap", NULL, NULL }, { "mremap", NULL, NULL },
	{ "sbrk", NULL, NULL }, { "brk", NULL, NULL },
	{ "pthread_setname_np", NULL, NULL }, { "prctl", NULL, NULL } };
#define NHOOKS (sizeof(hooks) / sizeof(hooks[0]))

/* An address of the dynamic section, which some linkers have relocated. */
static uintptr_t
address_of(const struct object *o, uintptr_t v)
{
	return v < o->base ? v + o->base : v;
}

static void
read_dynamic(struct object *o, const ElfW(Dyn) * d)
{
	for (; d->d_tag != DT_NULL; d++)
		switch (d->d_tag) {
		case DT_STRTAB:
			o->strings = (const char *)address_of(o, d->d_un.d_ptr);
			break;
		case DT_SYMTAB:
			o->symbols =
			    (const ElfW(Sym) *)address_of(o, d->d_un.d_ptr);
			break;
		case DT_JMPREL:
			o->tables[0].at = address_of(o, d->d_un.d_ptr);
			break;
		case DT_PLTRELSZ: o->tables[0].bytes = d->d_un.d_val; break;
		case DT_PLTREL:
			o->tables[0].step = d->d_un.d_val == DT_RELA ?
			    sizeof(ElfW(Rela)) :
			    sizeof(ElfW(Rel));
			break;
		case DT_RELA:
			o->tables[1].at = address_of(o, d->d_un.d_ptr);
			break;
		case DT_RELASZ: o->tables[1].bytes = d->d_un.d_val; break;
		case DT_REL:
			o->tables[2].at = address_of(o, d->d_un.d_ptr);
			break;
		case DT_RELSZ: o->tables[2].bytes = d->d_un.d_val; break;
		default: break;
		}
	o->tables[1].step = sizeof(ElfW(Rela));
	o->tables[2].step = sizeof(ElfW(Rel));
}

/* Stores an address where the linker may have made memory read-only. */
static void
store(const struct object *o, void **place, void *value)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE),
	                start = (uintptr_t)place & ~(page - 1);
	const int is_protected = (uintptr_t)place >= o->protected &&
	    (uintptr_t)place < o->protected_end;

	if (is_protected &&
	    mprotect((void *)start, page, PROT_READ | PROT_WRITE) != 0)
		return;
	__atomic_store_n(place, value, __ATOMIC_SEQ_CST);
	if (is_protected)
		(void)mprotect((void *)start, page, PROT_READ);
}

static void
bind_table(const struct object *o, const struct table *t, int is_plt)
{
	const ElfW(Rel) * r;
	const char *name;
	void **place;
	size_t at;
	unsigned i;

	for (at = 0; t->step > 0 && at + t->step <= t->bytes; at += t->step) {
		/* Rela begins with the members of Rel */
		r = (const ElfW(Rel) *)(t->at + at);
		if (!IS_ADDRESS(TYPE_OF(r->r_info)) ||
		    SYMBOL_OF(r->r_info) == 0)
			continue;
		name = o->strings + o->symbols[SYMBOL_OF(r->r_info)].st_name;
		for (i = 0; i < NHOOKS; i++)
			if (strcmp(hooks[i].name, name) == 0)
				break;
		if (i == NHOOKS || hooks[i].own == NULL)
			continue;
		place = (void **)(o->base + r->r_offset);
		/* one that was never called is not bound yet */
		if (is_plt || *place == hooks[i].before)
			store(o, place, hooks[i].own);
	}
}

static int
bind_object(struct dl_phdr_info *info, size_t size, void *own)
{
	struct object o = { .base = info->dlpi_addr };
	const ElfW(Dyn) *dynamic = NULL;
	const ElfW(Phdr) * p;
	const uintptr_t self = (uintptr_t)own;
	int i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		p = &info->dlpi_phdr[i];
		if (p->p_type == PT_DYNAMIC)
			dynamic = (const ElfW(Dyn) *)(o.base + p->p_vaddr);
		if (p->p_type == PT_GNU_RELRO) {
			o.protected = o.base + p->p_vaddr;
			o.protected_end = o.protected + p->p_memsz;
		}
		if (p->p_type == PT_LOAD && self >= o.base + p->p_vaddr &&
		    self < o.base + p->p_vaddr + p->p_memsz)
			return 0;
	}
	/* the kernel's own has no relocations, and an address of its own */
	if (dynamic == NULL || strstr(info->dlpi_name, "vdso") != NULL)
		return 0;
	read_dynamic(&o, dynamic);
	if (o.strings == NULL || o.symbols == NULL)
		return 0;
	for (i = 0; i < 3; i++)
		if (o.tables[i].at != 0)
			bind_table(&o, &o.tables[i], i == 0);
	return 0;
}

int
telrec_attach(const char *path)
{
	void *const self = (void *)(uintptr_t)&telrec_attach;
	Dl_info info;
	void *handle;
	unsigned i;

	if (dladdr(self, &info) == 0 ||
	    (handle = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD)) == NULL)
		return 1;
	for (i = 0; i < NHOOKS; i++) {
		hooks[i].own = dlsym(handle, hooks[i].name);
		hooks[i].before = dlsym(RTLD_DEFAULT, hooks[i].name);
	}
	hooks_late();
	if (!process_attach(path))
		return 2;
	(void)dl_iterate_phdr(bind_object, self);
	return 0;
}
