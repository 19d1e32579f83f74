/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What telrec needs of the binary interface of libdw.so.1, of elfutils 0.171
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
	DW_TAG_class_type = 0x02,
	DW_TAG_lexical_block = 0x0b,
	DW_TAG_structure_type = 0x13,
	DW_TAG_union_type = 0x17,
	DW_TAG_inlined_subroutine = 0x1d,
	DW_TAG_module = 0x1e,
	DW_TAG_subprogram = 0x2e,
	DW_TAG_namespace = 0x39,
	DW_AT_name = 0x03,
	DW_AT_abstract_origin = 0x31,
	DW_AT_specification = 0x47,
	DW_AT_call_file = 0x58,
	DW_AT_call_line = 0x59,
	DW_AT_linkage_name = 0x6e,
	DW_AT_MIPS_linkage_name = 0x2007
};

typedef struct Dwfl Dwfl;
typedef struct Dwfl_Module Dwfl_Module;
typedef struct Dwarf_Line_s Dwarf_Line;
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
	X(Dwarf_Die *, dwfl_module_nextcu, \
	    (Dwfl_Module *, Dwarf_Die * last, uint64_t * bias)) \
	X(int, dwfl_module_build_id, \
	    (Dwfl_Module *, const unsigned char **bits, uint64_t *address)) \
	X(void *, dwfl_module_getelf, (Dwfl_Module *, uint64_t * bias)) \
	X(void, dwfl_standard_find_debuginfo, (void)) \
	X(void, dwfl_build_id_find_elf, (void)) \
	X(void, dwfl_offline_section_address, (void)) \
	X(int, dwarf_cu_info, \
	    (void *unit, uint16_t *version, uint8_t *type, Dwarf_Die *, \
	        Dwarf_Die *split, uint64_t *number, uint8_t *address_bytes, \
	        uint8_t *offset_bytes)) \
	X(int, dwarf_srclang, (Dwarf_Die *)) \
	X(int, dwarf_tag, (Dwarf_Die *)) \
	X(int, dwarf_child, (Dwarf_Die *, Dwarf_Die * child)) \
	X(int, dwarf_siblingof, (Dwarf_Die *, Dwarf_Die * next)) \
	X(int, dwarf_haspc, (Dwarf_Die *, uint64_t pc)) \
	X(ptrdiff_t, dwarf_ranges, \
	    (Dwarf_Die *, ptrdiff_t at, uint64_t * base, uint64_t * start, \
	        uint64_t * end)) \
	X(Dwarf_Line *, dwarf_getsrc_die, (Dwarf_Die * unit, uint64_t pc)) \
	X(const char *, dwarf_linesrc, \
	    (Dwarf_Line *, uint64_t * mtime, uint64_t * length)) \
	X(int, dwarf_lineno, (Dwarf_Line *, int *line)) \
	X(Dwarf_Attribute *, dwarf_attr, \
	    (Dwarf_Die *, unsigned name, Dwarf_Attribute *)) \
	X(Dwarf_Attribute *, dwarf_attr_integrate, \
	    (Dwarf_Die *, unsigned name, Dwarf_Attribute *)) \
	X(Dwarf_Die *, dwarf_formref_die, (Dwarf_Attribute *, Dwarf_Die *)) \
	X(const char *, dwarf_formstring, (Dwarf_Attribute *)) \
	X(int, dwarf_formudata, (Dwarf_Attribute *, uint64_t *)) \
	X(int, dwarf_getsrcfiles, (Dwarf_Die *, Dwarf_Files **, size_t *)) \
	X(const char *, dwarf_filesrc, \
	    (Dwarf_Files *, size_t, uint64_t * mtime, uint64_t * length))

#define LIBDW_MEMBER(type, name, arguments) type(*name) arguments;
struct libdw {
	LIBDW_FUNCTIONS(LIBDW_MEMBER)
};
#undef LIBDW_MEMBER

#endif
