/* SPDX-License-Identifier: BSD-2-Clause */
/* The event types of a recording: their kinds, fields and roles. */
#include "telrec/types.h"

#include <stdio.h>

#include "tel_emit.h"
#include "telrec/arena.h"

enum { KIND_ALLOC, KIND_MAP, KIND_TRACE, KIND_PROCESS, KIND_THREAD, KINDS };
static const tel_emit_kind kinds[KINDS] = {
	{ "Alloc", KIND_ALLOC, "calls of the allocator" },
	{ "Map", KIND_MAP, "mappings, and the break" },
	{ "Trace", KIND_TRACE, "backtraces" },
	{ "Process", KIND_PROCESS, "processes" },
	{ "Thread", KIND_THREAD, "threads" },
};

/* A field, as libtel-emit has it, with the part of the role. */
struct field {
	const char *letter, *name, *part, *doc;
};

/* clang-format off */
#define FIELDS(FIELD) \
	FIELD(ADDRESS, "A", "address", "address", "of the block") \
	FIELD(OLD, "A", "old", "old", "the block that it replaces") \
	FIELD(SIZE, "W", "size", "size", "in bytes") \
	FIELD(COUNT, "W", "count", "count", "elements of that size") \
	FIELD(ALIGNMENT, "W", "alignment", "alignment", "in bytes") \
	FIELD(PLACE, "A", "address", "", "of the mapping") \
	FIELD(OLD_PLACE, "A", "old", "", "where it was") \
	FIELD(OLD_BYTES, "W", "old_size", "", "in bytes") \
	FIELD(BYTES, "W", "size", "", "in bytes") \
	FIELD(BREAK, "A", "address", "", "the break") \
	FIELD(INCREMENT, "I64", "increment", "", "in bytes") \
	FIELD(NUMBER, "U32", "number", "0", "of the backtrace, from 1") \
	FIELD(IP, "A", "ip", "1", "the instruction") \
	FIELD(CALLER, "U32", "parent", "2", "the backtrace of its caller") \
	FIELD(REASON, "U32", "reason", "", "1: environment, 2: file, 3: other") \
	FIELD(PROGRAM, "A", "program", "", "from 1, labelled with its path") \
	FIELD(PARENT, "U32", "parent", "", "the process that started it")
/* clang-format on */
enum {
	NO_FIELD,
#define FIELD(number, ...) number,
	FIELDS(FIELD)
#undef FIELD
};
static const struct field own_fields[] = {
#define FIELD(number, ...) [number] = { __VA_ARGS__ },
	FIELDS(FIELD)
};

/* A type: its role, own fields, up to 0, and whether it allocates. */
struct row {
	const char *name;
	unsigned kind;
	const char *role;
	int allocates;
	const char *doc;
	unsigned char fields[5];
};

static const struct row rows[TYPES] = {
	[TYPE_MALLOC] = { "malloc", KIND_ALLOC, "alloc", 1, "",
	    { ADDRESS, SIZE } },
	[TYPE_FREE] = { "free", KIND_ALLOC, "free", 0, "", { ADDRESS } },
	[TYPE_CALLOC] = { "calloc", KIND_ALLOC, "alloc", 1, "",
	    { ADDRESS, COUNT, SIZE } },
	[TYPE_REALLOC] = { "realloc", KIND_ALLOC, "realloc", 1, "",
	    { ADDRESS, OLD, SIZE } },
	[TYPE_REALLOCARRAY] = { "reallocarray", KIND_ALLOC, "realloc", 1, "",
	    { ADDRESS, OLD, COUNT, SIZE } },
	[TYPE_MEMALIGN] = { "memalign", KIND_ALLOC, "alloc", 1, "",
	    { ADDRESS, ALIGNMENT, SIZE } },
	[TYPE_POSIX_MEMALIGN] = { "posix_memalign", KIND_ALLOC, "alloc", 1, "",
	    { ADDRESS, ALIGNMENT, SIZE } },
	[TYPE_ALIGNED_ALLOC] = { "aligned_alloc", KIND_ALLOC, "alloc", 1, "",
	    { ADDRESS, ALIGNMENT, SIZE } },
	[TYPE_VALLOC] = { "valloc", KIND_ALLOC, "alloc", 1, "",
	    { ADDRESS, ALIGNMENT, SIZE } },
	[TYPE_PVALLOC] = { "pvalloc", KIND_ALLOC, "alloc", 1, "",
	    { ADDRESS, ALIGNMENT, SIZE } },
	[TYPE_MMAP] = { "mmap", KIND_MAP, "", 0, "", { PLACE, BYTES } },
	[TYPE_MUNMAP] = { "munmap", KIND_MAP, "", 0, "", { PLACE, BYTES } },
	[TYPE_MREMAP] = { "mremap", KIND_MAP, "", 0, "",
	    { PLACE, OLD_PLACE, OLD_BYTES, BYTES } },
	[TYPE_BRK] = { "brk", KIND_MAP, "", 0, "the break was moved",
	    { BREAK, INCREMENT } },
	[TYPE_TRACE] = { "trace", KIND_TRACE, "frame", 0,
	    "a frame of backtraces", { NUMBER, IP, CALLER } },
	[TYPE_PROCESS] = { "process", KIND_PROCESS, "", 0,
	    "a process, or a program that it executes", { PARENT } },
	[TYPE_UNRECORDED] = { "unrecorded", KIND_PROCESS, "", 0,
	    "a program that was executed, but not recorded",
	    { REASON, PROGRAM } },
	[TYPE_THREAD_END] = { "thread_end", KIND_THREAD, "end-thread", 0,
	    "a thread ends", { NO_FIELD } },
	[TYPE_PROCESS_END] = { "process_end", KIND_PROCESS, "end-process", 0,
	    "a process ends, or executes another program", { NO_FIELD } },
};

/* What the list for libtel-emit points to. */
static tel_emit_param params[TYPES][TYPE_FIELDS];
static char roles[TYPES][TYPE_FIELDS][32];

/* Adds a field to a type. */
static void
add_param(tel_emit_type *to, enum type type, const struct field *field)
{
	tel_emit_param *param = &params[type][to->count];

	param->letter = field->letter;
	param->name = field->name;
	param->unit = "";
	param->doc = field->doc;
	param->role = "";
	if (field->part[0] != '\0') {
		snprintf(roles[type][to->count], sizeof(roles[type][0]),
		    "%s:%s", rows[type].role, field->part);
		param->role = roles[type][to->count];
	}
	to->count++;
}

/* Describes the types of a recording with these options. */
static void
telrec_types_describe(uint32_t options, tel_emit_type *list)
{
	static const struct field weight = { "U64", "weight", "weight",
		"the bytes that this sample stands for" };
	static const struct field trace = { "U32", "trace", "stack",
		"the backtrace" };
	static const struct field pid = { "U32", "pid", "process",
		"the process" };
	static const struct field thread = { "U32", "thread", "thread",
		"the thread" };
	const unsigned char *own;

	for (enum type type = 0; type < TYPES; type++) {
		list[type].name = rows[type].name;
		list[type].code = type + 1u;
		list[type].always = 1;
		list[type].kind = rows[type].kind;
		list[type].doc = rows[type].doc;
		list[type].params = params[type];
		list[type].count = 0;
		for (own = rows[type].fields; *own != 0; own++)
			add_param(&list[type], type, &own_fields[*own]);
		if (rows[type].allocates && options & ARENA_SAMPLES)
			add_param(&list[type], type, &weight);
		if (rows[type].allocates && options & ARENA_STACKS)
			add_param(&list[type], type, &trace);
		add_param(&list[type], type, &pid);
		add_param(&list[type], type, &thread);
	}
}

unsigned
types_fields(enum type type, uint32_t options)
{
	unsigned n = 0;

	while (rows[type].fields[n] != 0)
		n++;
	if (rows[type].allocates && options & ARENA_SAMPLES)
		n++;
	if (rows[type].allocates && options & ARENA_STACKS)
		n++;
	return n;
}

int
types_open(uint32_t recording, uint32_t clock)
{
	tel_emit_type types[TYPES];
	const tel_emit_list list = { "alloc", 1, 0, 0, kinds, KINDS, types,
		TYPES };
	tel_emit_options options = { 0 };

	options.flags = TEL_EMIT_NO_THREAD;
	options.control_env = "TELREC_CONTROL";
	options.rings = 4;
	options.ring_bytes = 65536;
	options.clock = clock == ARENA_CLOCK_CPU ? TEL_EMIT_CLOCK_CPU :
	                                           TEL_EMIT_CLOCK_MONOTONIC;
	telrec_types_describe(recording, types);
	return tel_emit_open(&options, &list);
}
