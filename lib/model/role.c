/* SPDX-License-Identifier: BSD-2-Clause */
/* Roles by name, and what an event of a role means to an allocator. */
#include "model/role.h"

#include <string.h>

#include "base/sized.h"
#include "model/event.h"

#define NAME(number, name) name,
static const char *const roles[] = { TEL_ROLES(NAME) };
#define NROLES (sizeof(roles) / sizeof(roles[0]))
static const char *const parts[TEL_ROLE_PARTS] = { TEL_ROLE_PART_LIST(NAME) };

const char *
tel__role_name(enum tel_role role)
{
	return roles[role];
}

static int
model_role_find(const char *const *names, size_t count, const char *name,
    size_t n)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(names[i]) == n && memcmp(names[i], name, n) == 0)
			return (int)i;
	return -1;
}

enum tel_role
tel__role_find(const char *name, size_t n)
{
	int i = model_role_find(roles, NROLES, name, n);

	return i < 0 ? TEL_ROLE_NONE : (enum tel_role)i;
}

const char *
tel__part_name(enum tel_role_part part)
{
	return parts[part];
}

int
tel__part_find(const char *name, size_t n)
{
	if (n == 3 && memcmp(name, "ptr", 3) == 0)
		return TEL_PART_ADDRESS;
	return model_role_find(parts, TEL_ROLE_PARTS, name, n);
}

int
tel__role_set(struct tel_type *t, unsigned i, const char *text, size_t n)
{
	const char *field = memchr(text, '=', n);
	int part = (int)i, at;

	if (n == 1 && *text == '-')
		return 1;
	if (field != NULL) {
		part = tel__part_find(text, (size_t)(field - text));
		n -= (size_t)(++field - text);
		text = field;
	}
	if (part < 0 || part >= TEL_ROLE_PARTS)
		return 0;
	for (at = 0; at < t->nfields && at <= INT8_MAX; at++) {
		if (t->fields[at].name_length == n &&
		    memcmp(t->fields[at].name, text, n) == 0) {
			t->role_field[part] = (int8_t)at;
			return 1;
		}
	}
	return 0;
}

void
tel__role_set_all(struct tel_type *t, const char *text)
{
	size_t n;

	for (; *text != '\0'; text += n + (text[n] == ' ')) {
		n = strcspn(text, " ");
		(void)tel__role_set(t, 0, text, n);
	}
}

const char *
tel_type_role(const tel_type *type)
{
	return type->role < TEL_ROLE_FRAME ? "" : roles[type->role];
}

const char *
tel_type_range(const tel_type *type)
{
	return type->range == 0 ? "" : roles[type->range];
}

int
tel_type_role_field(const tel_type *type, const char *part)
{
	int i = model_role_find(parts, TEL_ROLE_PARTS, part, strlen(part));

	return i < 0 ||
	        (!tel_type_is_alloc(type) && type->role < TEL_ROLE_SAMPLE &&
	            type->range == 0) ?
	    -1 :
	    type->role_field[i];
}

/* What the field that is a part of the role holds; 0 when there is none. */
static inline uint64_t
model_role_load(const struct tel_type *t, const unsigned char *data,
    enum tel_role_part part)
{
	int i = t->role_field[part];

	return i < 0 ? 0 : tel__load_mostly(&t->fields[i], data);
}

/*
 * The address of a block.  Where the log numbers its blocks instead, number 0
 * is a block and not NULL.
 */
static inline uint64_t
load_block(const struct tel_type *t, const unsigned char *data,
    enum tel_role_part part)
{
	int i = t->role_field[part];

	if (i < 0)
		return 0;
	const struct tel_field *f = &t->fields[i];
	return tel__load_mostly(f, data) +
	    (f->datatype == TEL_UNSIGNED || f->datatype == TEL_SIGNED);
}

uint64_t
tel__alloc_block(const struct tel_type *t, const unsigned char *data,
    uint64_t *process)
{
	const int i = t->role_field[TEL_PART_PROCESS];

	*process = i < 0 ? 0 : tel__load_mostly(&t->fields[i], data);
	return load_block(t, data,
	    t->role == TEL_ROLE_REALLOC ? TEL_PART_OLD : TEL_PART_ADDRESS);
}

/* The size and the count of a block that is allocated. */
static inline void
load_new(const struct tel_type *t, const unsigned char *data, tel_alloc *out)
{
	out->address = load_block(t, data, TEL_PART_ADDRESS);
	out->size = model_role_load(t, data, TEL_PART_SIZE);
	out->weight = model_role_load(t, data, TEL_PART_WEIGHT);
	out->failed = out->address == 0;
}

/* Field by field, as a memset() of so much is a slow instruction for some. */
static inline void
model_role_clear(tel_alloc *out)
{
	out->kind = TEL_ALLOC_NONE;
	out->failed = out->sized = 0;
	out->address = out->old = out->size = out->count = 0;
	out->alignment = out->buffer = out->clock = out->weight = 0;
	out->thread = out->process = out->pool = 0;
	out->call = TEL_CALL_C;
}

int
tel__alloc_load(const struct tel_type *t, const unsigned char *data,
    uint64_t clock, tel_alloc *out)
{
	model_role_clear(out);
	switch ((enum tel_role)t->role) {
	case TEL_ROLE_NEW:
		out->call = TEL_CALL_CXX;
		/* FALLTHROUGH */
	case TEL_ROLE_ALLOC:
		load_new(t, data, out);
		out->kind = TEL_ALLOC_MALLOC;
		if (t->role_field[TEL_PART_ALIGNMENT] >= 0) {
			out->kind = TEL_ALLOC_ALIGNED;
			out->alignment =
			    model_role_load(t, data, TEL_PART_ALIGNMENT);
		} else if (t->role_field[TEL_PART_COUNT] >= 0) {
			out->kind = TEL_ALLOC_CALLOC;
			out->count = model_role_load(t, data, TEL_PART_COUNT);
		}
		break;
	case TEL_ROLE_DELETE:
	case TEL_ROLE_DELETE_SIZED:
	case TEL_ROLE_FREE_SIZED:
		out->call = t->role == TEL_ROLE_DELETE ? TEL_CALL_CXX :
		    t->role == TEL_ROLE_FREE_SIZED     ? TEL_CALL_C_SIZED :
		                                         TEL_CALL_CXX_SIZED;
		/* FALLTHROUGH */
	case TEL_ROLE_FREE:
		out->kind = TEL_ALLOC_FREE;
		out->address = load_block(t, data, TEL_PART_ADDRESS);
		out->size = model_role_load(t, data, TEL_PART_SIZE);
		out->sized = t->role_field[TEL_PART_SIZE] >= 0;
		break;
	case TEL_ROLE_REALLOC:
		load_new(t, data, out);
		out->kind = TEL_ALLOC_REALLOC;
		out->old = load_block(t, data, TEL_PART_OLD);
		if (t->role_field[TEL_PART_COUNT] >= 0 &&
		    __builtin_mul_overflow(out->size,
		        model_role_load(t, data, TEL_PART_COUNT), &out->size))
			out->size = UINT64_MAX;
		out->failed &= out->size != 0 || out->old == 0;
		break;
	case TEL_ROLE_RESERVE:
	case TEL_ROLE_COMMIT:
		load_new(t, data, out);
		out->kind = t->role == TEL_ROLE_COMMIT ? TEL_ALLOC_COMMIT :
		                                         TEL_ALLOC_RESERVE;
		out->buffer = model_role_load(t, data, TEL_PART_BUFFER);
		break;
	case TEL_ROLE_POOL_CREATE: out->kind = TEL_ALLOC_POOL_CREATE; break;
	case TEL_ROLE_POOL_DESTROY: out->kind = TEL_ALLOC_POOL_DESTROY; break;
	case TEL_ROLE_BUFFER_CREATE:
	case TEL_ROLE_BUFFER_DESTROY:
		out->kind = t->role == TEL_ROLE_BUFFER_CREATE ?
		    TEL_ALLOC_BUFFER_CREATE :
		    TEL_ALLOC_BUFFER_DESTROY;
		out->buffer = model_role_load(t, data, TEL_PART_BUFFER);
		break;
	case TEL_ROLE_THREAD_END: out->kind = TEL_ALLOC_THREAD_END; break;
	case TEL_ROLE_PROCESS_END: out->kind = TEL_ALLOC_PROCESS_END; break;
	case TEL_ROLE_POOL_DESCRIBE: out->kind = TEL_ALLOC_POOL_DESCRIBE; break;
	default: return 0;
	}
	out->pool = model_role_load(t, data, TEL_PART_POOL);
	out->thread = model_role_load(t, data, TEL_PART_THREAD);
	out->process = model_role_load(t, data, TEL_PART_PROCESS);
	out->clock = clock;
	return 1;
}

/* Parts that vary among events of a type; those of some kinds alone are last. */
static const struct {
	enum tel_role_part part;
	tel_alloc_kind kind; /* TEL_ALLOC_NONE: of all kinds */
	uint16_t to;
} varying[] = {
	{ TEL_PART_ADDRESS, TEL_ALLOC_NONE, offsetof(tel_alloc, address) },
	{ TEL_PART_SIZE, TEL_ALLOC_NONE, offsetof(tel_alloc, size) },
	{ TEL_PART_POOL, TEL_ALLOC_NONE, offsetof(tel_alloc, pool) },
	{ TEL_PART_THREAD, TEL_ALLOC_NONE, offsetof(tel_alloc, thread) },
	{ TEL_PART_PROCESS, TEL_ALLOC_NONE, offsetof(tel_alloc, process) },
	{ TEL_PART_COUNT, TEL_ALLOC_CALLOC, offsetof(tel_alloc, count) },
	{ TEL_PART_ALIGNMENT, TEL_ALLOC_ALIGNED,
	    offsetof(tel_alloc, alignment) },
};

/*
 * Adds the parts that are loaded like that.  0: one is loaded otherwise, and
 * the plan has none then.
 */
static int
plan_loads(struct tel__alloc_plan *p, const struct tel_type *t,
    enum tel_load load)
{
	for (size_t i = 0; i < sizeof(varying) / sizeof(varying[0]); i++) {
		const int at = t->role_field[varying[i].part];

		if (at < 0 ||
		    (varying[i].kind != TEL_ALLOC_NONE &&
		        varying[i].kind != p->common.kind))
			continue;
		const struct tel_field *f = &t->fields[at];
		if (f->load != TEL_LOAD_LE64 && f->load != TEL_LOAD_LE32) {
			p->loads = 0;
			return 0;
		}
		if (f->load != load)
			continue;
		p->load[p->loads].from = f->offset;
		p->load[p->loads++].to = varying[i].to;
	}
	return 1;
}

void
tel__alloc_plan(struct tel__alloc_plan *p, const struct tel_type *t,
    const unsigned char *data)
{
	tel_alloc_kind kind;

	p->type = t;
	p->loads = 0;
	kind = tel__alloc_load(t, data, 0, &p->common) ? p->common.kind :
	                                                 TEL_ALLOC_NONE;
	p->allocates = kind != TEL_ALLOC_FREE;
	if ((kind != TEL_ALLOC_MALLOC && kind != TEL_ALLOC_CALLOC &&
	        kind != TEL_ALLOC_ALIGNED && kind != TEL_ALLOC_FREE) ||
	    t->role_field[TEL_PART_WEIGHT] >= 0)
		return;
	if (!plan_loads(p, t, TEL_LOAD_LE64))
		return;
	p->wide = p->loads;
	if (!plan_loads(p, t, TEL_LOAD_LE32))
		return;
	int at = t->role_field[TEL_PART_ADDRESS];
	p->numbered = at >= 0 &&
	    (t->fields[at].datatype == TEL_UNSIGNED ||
	        t->fields[at].datatype == TEL_SIGNED);
}

/* For a program of another release, whose structure has another size. */
__attribute__((noinline)) static int
model_role_alloc_sized(const tel_event *event, tel_alloc *out, size_t size)
{
	tel_alloc all;
	int is_alloc = tel__event_alloc(event, &all);

	tel__sized_copy(out, size, &all, sizeof(all));
	return is_alloc;
}

int
tel_event_alloc(const tel_event *event, tel_alloc *out, size_t size)
{
	return size == sizeof(*out) ? tel__event_alloc(event, out) :
	                              model_role_alloc_sized(event, out, size);
}

uint64_t
tel__alloc_blocks(const tel_alloc *a, uint64_t size, uint32_t *rest)
{
	if (size == 0)
		size = 1;
	uint64_t blocks = a->weight / size;
	uint64_t part = a->weight % size;
	/* in parts of 2^16 */
	*rest += (uint32_t)(part >> 47 == 0 ? (part << 16) / size : 0);
	blocks += *rest >> 16;
	*rest &= 0xFFFF;
	return blocks;
}
