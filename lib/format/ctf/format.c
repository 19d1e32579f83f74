/* SPDX-License-Identifier: BSD-2-Clause */
/* The format "ctf", and what types of programs that are known mean. */
#include <stdio.h>
#include <string.h>

#include "encoder/encoder.h"
#include "format/ctf/ctf.h"
#include "model/role.h"

/*
 * Events of allocators.  LTTng-UST names the parts of liblttng-ust-libc-wrapper
 * (lttng-ust, liblttng-ust-libc-wrapper/ust_libc.h); the kernel those of its
 * slab allocator and of pages (include/trace/events/kmem.h); DPDK those of
 * rte_malloc() (lib/eal/include/eal_trace_internal.h), by which rte_zmalloc() and
 * rte_realloc() allocate and free, too.
 */
static const struct {
	const char *name; /* of the event, behind the provider */
	const char *role;
	const char *fields; /* "PART=FIELD ..." */
} roles[] = {
	{ "lttng_ust_libc:malloc", "alloc", "address=ptr size=size" },
	{ "lttng_ust_libc:calloc", "alloc",
	    "address=ptr size=size count=nmemb" },
	{ "lttng_ust_libc:realloc", "realloc",
	    "address=ptr size=size old=in_ptr" },
	{ "lttng_ust_libc:memalign", "alloc",
	    "address=ptr size=size alignment=alignment" },
	{ "lttng_ust_libc:posix_memalign", "alloc",
	    "address=out_ptr size=size alignment=alignment" },
	{ "lttng_ust_libc:free", "free", "address=ptr" },
	{ "lib.eal.mem.malloc", "alloc",
	    "address=ptr size=size alignment=align" },
	{ "lib.eal.mem.free", "free", "address=ptr" },
	{ "kmem_kmalloc", "alloc", "address=ptr size=bytes_alloc" },
	{ "kmem_kmalloc_node", "alloc", "address=ptr size=bytes_alloc" },
	{ "kmem_cache_alloc", "alloc", "address=ptr size=bytes_alloc" },
	{ "kmem_cache_alloc_node", "alloc", "address=ptr size=bytes_alloc" },
	{ "kmem_kfree", "free", "address=ptr" },
	{ "kmem_cache_free", "free", "address=ptr" },
};

/* Who did something, in the contexts of all events. */
static const char who[] = "thread=vtid thread=tid process=vpid process=pid "
                          "stack=ip";

void
tel__ctf_set_roles(struct tel_type *t)
{
	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		if (strcmp(t->name, roles[i].name) != 0)
			continue;
		t->role = (uint8_t)tel__role_find(roles[i].role,
		    strlen(roles[i].role));
		tel__role_set_all(t, roles[i].fields);
		tel__role_set_all(t, who);
		if (t->role_field[TEL_PART_ADDRESS] < 0)
			t->role = TEL_ROLE_NONE;
		/* LTTng has the caller's address in decimal */
		const int stack = t->role_field[TEL_PART_STACK];
		if (stack >= 0 && t->fields[stack].datatype == TEL_UNSIGNED)
			t->fields[stack].datatype = TEL_ADDRESS;
		return;
	}
}

/* How the names of events that start and end a range of time differ. */
static const struct {
	const char *start, *end;
} pairs[] = { { "_entry", "_exit" }, { "_begin", "_end" },
	{ "_start", "_stop" }, { "_req", "_acq" },
	{ "syscall_entry_", "syscall_exit_" } };

/*
 * The name of the event that ends the range which one of this name starts; 0:
 * it starts none.  A part of the name is replaced: at its end, or its start.
 */
static int
name_of_end(const char *name, unsigned i, char *to, size_t size)
{
	const size_t n = strlen(name), k = strlen(pairs[i].start);
	const int first = pairs[i].start[0] != '_';

	if (n < k)
		return 0;
	if (first && strncmp(name, pairs[i].start, k) == 0)
		snprintf(to, size, "%s%s", pairs[i].end, name + k);
	else if (!first && strcmp(name + n - k, pairs[i].start) == 0)
		snprintf(to, size, "%.*s%s", (int)(n - k), name, pairs[i].end);
	else
		return 0;
	return 1;
}

/* The field that identifies a range: the thread, or the processor. */
static int
ctf_key_of(const struct tel_type *t)
{
	static const char *const names[] = { "vtid", "tid", "cpu_id" };
	int at = -1;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && at < 0; i++)
		at = tel_type_find_field(t, names[i]);
	return at <= INT8_MAX ? at : -1;
}

void
tel__ctf_pair_types(struct tel_schema *schema)
{
	char name[256];
	unsigned i, n;

	for (n = 0; n < schema->ntypes; n++) {
		struct tel_type *start = &schema->types[n];

		for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
			if (start->role != TEL_ROLE_NONE ||
			    !name_of_end(start->name, i, name, sizeof(name)))
				continue;
			struct tel_type *end = (struct tel_type *)(uintptr_t)
			    tel_schema_find_type(schema, name);
			if (end == NULL || end->role != TEL_ROLE_NONE ||
			    ctf_key_of(start) < 0 || ctf_key_of(end) < 0)
				continue;
			/* a range of its own, as of function_graph */
			if (tel_type_find_field(end, "start") >= 0 &&
			    tel_type_find_field(end, "duration") >= 0)
				continue;
			start->role = TEL_ROLE_START;
			end->role = TEL_ROLE_FINISH;
			start->role_field[0] = (int8_t)ctf_key_of(start);
			end->role_field[0] = (int8_t)ctf_key_of(end);
			start->partner = (int32_t)end->index;
		}
	}
}

/* A program may run with its tracer from the start, but no kernel does. */
static int
ctf_starts_late(const struct tel_log *log)
{
	const char *domain = log->metadata == NULL ?
	    NULL :
	    tel__metadata_get(log->metadata, "domain");

	return domain != NULL && strcmp(domain, "kernel") == 0;
}

const struct tel_format_ops tel__format_ctf = {
	.name = "ctf",
	.starts_late = ctf_starts_late,
	.claims = tel__ctf_claims,
	.probe = tel__ctf_probe,
	.state_size = sizeof(struct ctf),
	.open = tel__ctf_open,
	.next = tel__ctf_next,
	.decode_batch = tel__ctf_decode_batch,
	.close = tel__ctf_close,
	.encoder = &tel__ctf_encoder,
};
