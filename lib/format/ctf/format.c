/* SPDX-License-Identifier: BSD-2-Clause */
/* The format "ctf", and what types of programs that are known mean. */
#include <string.h>

#include "encoder/encoder.h"
#include "format/ctf/ctf.h"
#include "model/role.h"

/*
 * Events of allocators.  LTTng-UST names the parts of liblttng-ust-libc-wrapper
 * (lttng-ust, liblttng-ust-libc-wrapper/ust_libc.h); the kernel those of its
 * slab allocator and of pages (include/trace/events/kmem.h).
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

/* Sets those of the parts whose fields the type has. */
static void
set_parts(struct tel_type *t, const char *text)
{
	size_t n;

	for (; *text != '\0'; text += n + (text[n] == ' ')) {
		n = strcspn(text, " ");
		(void)tel__role_set(t, 0, text, n);
	}
}

void
tel__ctf_set_roles(struct tel_type *t)
{
	size_t i;

	for (i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		if (strcmp(t->name, roles[i].name) != 0)
			continue;
		t->role = (uint8_t)tel__role_find(roles[i].role,
		    strlen(roles[i].role));
		set_parts(t, roles[i].fields);
		set_parts(t, who);
		if (t->role_field[TEL_PART_ADDRESS] < 0)
			t->role = TEL_ROLE_NONE;
		return;
	}
}

const struct tel_format_ops tel__format_ctf = {
	.name = "ctf",
	.claims = tel__ctf_claims,
	.probe = tel__ctf_probe,
	.open = tel__ctf_open,
	.next = tel__ctf_next,
	.more = tel__ctf_more,
	.close = tel__ctf_close,
	.encoder = &tel__ctf_encoder,
};
