/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What telrec needs of the binary interface of libdw.so.1, of elfutils 0.160
 * and later.  With declarations of its own, a build needs no headers, and each
 * telrec can have names of frames where the library is installed.
 */
#ifndef TELREC_LIBDW_H
#define TELREC_LIBDW_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of DWARF, section 7.5. */
enum {
	DW_TAG_inlined_subroutine = 0x1d,
	DW_TAG_subprogram = 0x2e,
	DW_AT_name = 0x03,
	DW_AT_call_file = 0x58,
	DW_AT_call_line = 0x59,
	DW_AT_linkage_name = 0x6e,
	DW_AT_MIPS_linkage_name = 0x2007
};

typedef struct Dwfl Dwfl;
typedef struct Dwfl_Module Dwfl_Module;
typedef struct Dwfl_Line Dwfl_Line;
typedef struct Dwarf_Files_s Dwarf_Files;

typedef struct {
	void *address, *unit, *abbreviation;
	long reserved;
} Dwarf_Die;

typedef struct {
	unsigned code, form;
	unsigned char *value;
	void *unit;
} Dwarf_Attribute;

/* Functions of the library itself, which nothing else calls. */
typedef struct {
	void (*find_elf)(void);
	void (*find_debuginfo)(void);
	void (*section_address)(void);
	char **debuginfo_path;
} Dwfl_Callbacks;

/* X(result, name, arguments): the functions that are called. */
#define LIBDW_FUNCTIONS(X) \
	X(Dwfl *, dwfl_begin, (const Dwfl_Callbacks *)) \
	X(void, dwfl_end, (Dwfl *)) \
	X(void, dwfl_report_begin_add, (Dwfl *)) \
	X(int, dwfl_report_end, (Dwfl *, void (*)(void), void *)) \
	X(Dwfl_Module *, dwfl_report_elf, \
	    (Dwfl *, const char *name, const char *file, int fd, \
	        uint64_t base, bool add_p_vaddr)) \
	X(const char *, dwfl_module_addrinfo, \
	    (Dwfl_Module *, uint64_t address, uint64_t * offset, Elf64_Sym *, \
	        uint32_t * section, void **elf, uint64_t *bias)) \
	X(const char *, dwfl_module_info, \
	    (Dwfl_Module *, void ***user, uint64_t *start, uint64_t *end, \
	        uint64_t *dwarf_bias, uint64_t *symbol_bias, \
	        const char **file, const char **debug_file)) \
	X(int, dwfl_module_getsymtab, (Dwfl_Module *)) \
	X(const char *, dwfl_module_getsym_info, \
	    (Dwfl_Module *, int number, Elf64_Sym *, uint64_t *address, \
	        uint32_t *section, void **elf, uint64_t *bias)) \
	X(Dwarf_Die *, dwfl_module_addrdie, \
	    (Dwfl_Module *, uint64_t address, uint64_t * bias)) \
	X(Dwfl_Line *, dwfl_module_getsrc, (Dwfl_Module *, uint64_t address)) \
	X(int, dwfl_module_build_id, \
	    (Dwfl_Module *, const unsigned char **bits, uint64_t *address)) \
	X(void *, dwfl_module_getelf, (Dwfl_Module *, uint64_t * bias)) \
	X(const char *, dwfl_lineinfo, \
	    (Dwfl_Line *, uint64_t * address, int *line, int *column, \
	        uint64_t *mtime, uint64_t *length)) \
	X(void, dwfl_standard_find_debuginfo, (void)) \
	X(void, dwfl_build_id_find_elf, (void)) \
	X(void, dwfl_offline_section_address, (void)) \
	X(int, dwarf_getscopes, (Dwarf_Die *, uint64_t pc, Dwarf_Die **)) \
	X(int, dwarf_getscopes_die, (Dwarf_Die *, Dwarf_Die **)) \
	X(int, dwarf_tag, (Dwarf_Die *)) \
	X(Dwarf_Attribute *, dwarf_attr, \
	    (Dwarf_Die *, unsigned name, Dwarf_Attribute *)) \
	X(Dwarf_Attribute *, dwarf_attr_integrate, \
	    (Dwarf_Die *, unsigned name, Dwarf_Attribute *)) \
	X(const char *, dwarf_formstring, (Dwarf_Attribute *)) \
	X(int, dwarf_formudata, (Dwarf_Attribute *, uint64_t *)) \
	X(int, dwarf_getsrcfiles, (Dwarf_Die *, Dwarf_Files **, size_t *)) \
	X(const char *, dwarf_filesrc, \
	    (Dwarf_Files *, size_t, uint64_t * mtime, uint64_t * length))

#endif
