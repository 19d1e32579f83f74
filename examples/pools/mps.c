/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pools of the Memory Pool System, as a plug-in of telreplay; telreplay(1)
 * describes it.  Built from the source of an MPS:
 *
 *	make mps-pools MPS_SRC=/opt/mps/code
 *
 * A pool is of the class that the log names, or of the class that a parameter
 * names.  Arenas are created with their first pool, and destroyed with the last
 * one; size, grain size and class of an arena are those of the log.  Pools that
 * an MPS creates for itself are left out.
 *
 * It is one file, so that it can be copied and built by one command, with
 * tel_pool.h alone.
 */
#include <tel_pool.h>

#include <mps.h>
#include <mpsacl.h>
#include <mpsavm.h>
#include <mpscamc.h>
#include <mpscmfs.h>
#include <mpscmvff.h>
#include <mpscmvt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What tel_pool.h wants of blocks, and all classes can give. */
#define ALIGNMENT ((size_t)16)
/* What a log may say of a pool. */
#define ALIGNMENT_MIN ((size_t)8)
#define GRAIN_SIZE ((size_t)4096) /* unless the log has it */
/* Of class mfs without a size in the log: blocks up to this have pools. */
#define UNIT_MAX ((size_t)1024)
#define UNITS (UNIT_MAX / ALIGNMENT)
#define ARENA_MIN ((size_t)64 << 20)

enum class {
	CLASS_LOG, /* the one that the log names, or MVFF */
	CLASS_MVFF,
	CLASS_MVT,
	CLASS_MFS,
	CLASS_AMC,
	CLASS_AMCZ
};

/* The classes, by the events that an MPS logs for their pools. */
static const struct {
	const char *name; /* as a parameter */
	const char *event;
	enum class class;
} classes[] = {
	{ "mvff", "PoolInitMVFF", CLASS_MVFF },
	{ "mvt", "PoolInitMVT", CLASS_MVT },
	{ "mfs", "PoolInitMFS", CLASS_MFS },
	{ "amc", "PoolInitAMC", CLASS_AMC },
	{ "amcz", "PoolInitAMCZ", CLASS_AMCZ },
	{ "log", NULL, CLASS_LOG },
	/* the nearest ones to what is gone, and to other collected ones */
	{ "", "PoolInitMV", CLASS_MVFF },
	{ "", "PoolInitAMS", CLASS_AMC },
	{ "", "PoolInitAWL", CLASS_AMC },
	{ "", "PoolInitLO", CLASS_AMCZ },
	{ "", "PoolInitSNC", CLASS_AMC },
};
#define CLASSES (sizeof(classes) / sizeof(classes[0]))

struct arena {
	struct arena *next;
	uint64_t id; /* its address in the log; 0: none is known */
	unsigned pools;
	int has_control; /* its control pool was created */
	size_t created;  /* pools of the log, up to now */
	mps_arena_t arena;
	void *memory; /* of a client arena, or NULL */
	mps_thr_t thread;
	/* for collected pools, NULL until there is one */
	mps_fmt_t format;
	mps_root_t slots, held;
};

struct state {
	enum class class;
	size_t arena_size, extend;
	int size_given; /* .arena_size is a parameter */
	int all_mfs;    /* pools of class MFS are not taken for internal ones */
	uint64_t threads;
	struct arena *arenas;
	void **slots; /* the table of telreplay */
	size_t nslots;
	void *held[1]; /* an ambiguous root: what must not move now */
};

struct pool {
	struct state *state;
	enum class class;
	int internal;
	const char *description;
	struct arena *arena; /* NULL until the pool is used */
	mps_pool_t pool;     /* but for class MFS */
	mps_ap_t ap;         /* of classes that allocate with it */
	mps_pool_t rest;     /* MVFF, for what the class cannot have */
	size_t unit;         /* MFS: its size in the log, or 0 */
	mps_pool_t units[UNITS];
	size_t align; /* of all blocks, and of their sizes */
};

struct buffer {
	struct pool *pool;
	mps_ap_t ap; /* NULL: the class has none */
};

/* ------------------------------------------------------------ parameters */

/* A number of bytes, as 64k. */
static int
parse_size(const char *text, size_t *out)
{
	static const char suffixes[] = "kMG";
	unsigned long long n;
	const char *suffix;
	char *end;

	if (*text < '0' || *text > '9')
		return 0;
	n = strtoull(text, &end, 10);
	suffix = *end != '\0' ? strchr(suffixes, *end) : NULL;
	if (suffix != NULL) {
		n <<= 10 * (suffix - suffixes + 1);
		end++;
	}
	if ((*end != '\0' && *end != ',') || n < ALIGNMENT || n >> 46 != 0)
		return 0;
	*out = (size_t)n;
	return 1;
}

/* A word of the parameters that names a class. */
static int
parse_class(const char *text, enum class *out)
{
	size_t i, n = strcspn(text, ",");

	for (i = 0; i < CLASSES; i++) {
		if (n == 0 || strlen(classes[i].name) != n ||
		    memcmp(classes[i].name, text, n) != 0)
			continue;
		*out = classes[i].class;
		return 1;
	}
	return 0;
}

static const char *
parse(struct state *s, const char *text)
{
	while (*text != '\0') {
		if (strncmp(text, "class=", 6) == 0) {
			if (!parse_class(text + 6, &s->class))
				return "class is log, mvff, mvt, mfs, amc or "
				       "amcz";
		} else if (strncmp(text, "arena=", 6) == 0) {
			if (!parse_size(text + 6, &s->arena_size))
				return "arena is a number of bytes";
			s->size_given = 1;
		} else if (strncmp(text, "extend=", 7) == 0) {
			if (!parse_size(text + 7, &s->extend))
				return "extend is a number of bytes";
		} else if (strncmp(text, "mfs=all", 7) == 0) {
			s->all_mfs = 1;
		} else {
			return "parameters are class=CLASS, arena=BYTES, "
			       "extend=BYTES and mfs=all, with commas";
		}
		text += strcspn(text, ",");
		text += *text == ',';
	}
	return NULL;
}

static const char *
start(const char *parameters, const tel_pool_trace *trace, void **state)
{
	struct state *s = calloc(1, sizeof(*s));
	const char *wrong;

	if (s == NULL)
		return "no memory";
	/* room for fragmentation, and for a copying collection */
	s->arena_size = (size_t)trace->peak_bytes * 4;
	if (s->arena_size < ARENA_MIN)
		s->arena_size = ARENA_MIN;
	s->threads = trace->threads;
	wrong = parse(s, parameters);
	if (wrong == NULL && s->threads > 1 &&
	    (s->class == CLASS_AMC || s->class == CLASS_AMCZ))
		wrong = "AMC moves blocks: --threads 1 is needed";
	if (wrong != NULL)
		free(s);
	else
		*state = s;
	return wrong;
}

static void
end(void *state)
{
	free(state);
}

static void
roots(void *state, void **first, size_t count)
{
	struct state *s = state;

	s->slots = first;
	s->nslots = count;
}

/* ----------------------------------------------- the format of collected blocks */

/* Goes before each block of a collected pool: 16 bytes. */
struct header {
	uint64_t size; /* of both */
	uint64_t kind;
};
#define HEADER sizeof(struct header)
enum { KIND_BLOCK, KIND_MOVED, KIND_PADDING };

static struct header *
header_of(mps_addr_t block)
{
	return (struct header *)(void *)((char *)block - HEADER);
}

static mps_addr_t
format_skip(mps_addr_t block)
{
	return (char *)block + header_of(block)->size;
}

/* Blocks of a replay do not refer to each other. */
static mps_res_t
format_scan(mps_ss_t ss, mps_addr_t base, mps_addr_t limit)
{
	(void)ss;
	(void)base;
	(void)limit;
	return MPS_RES_OK;
}

static void
format_forward(mps_addr_t old, mps_addr_t now)
{
	header_of(old)->kind = KIND_MOVED;
	memcpy(old, &now, sizeof(now));
}

static mps_addr_t
format_is_forwarded(mps_addr_t block)
{
	mps_addr_t now;

	if (header_of(block)->kind != KIND_MOVED)
		return NULL;
	memcpy(&now, block, sizeof(now));
	return now;
}

/* Unlike the others, this gets the address of the header. */
static void
format_pad(mps_addr_t base, size_t size)
{
	struct header *h = base;

	h->size = size;
	h->kind = KIND_PADDING;
}

static mps_res_t
format_create(struct arena *a)
{
	mps_res_t res;

	MPS_ARGS_BEGIN(args)
	{
		MPS_ARGS_ADD(args, MPS_KEY_FMT_ALIGN, ALIGNMENT);
		MPS_ARGS_ADD(args, MPS_KEY_FMT_HEADER_SIZE, HEADER);
		MPS_ARGS_ADD(args, MPS_KEY_FMT_SCAN, format_scan);
		MPS_ARGS_ADD(args, MPS_KEY_FMT_SKIP, format_skip);
		MPS_ARGS_ADD(args, MPS_KEY_FMT_FWD, format_forward);
		MPS_ARGS_ADD(args, MPS_KEY_FMT_ISFWD, format_is_forwarded);
		MPS_ARGS_ADD(args, MPS_KEY_FMT_PAD, format_pad);
		res = mps_fmt_create_k(&a->format, a->arena, args);
	}
	MPS_ARGS_END(args);
	return res;
}

/* ---------------------------------------------------------------- arenas */

/* A number of the description, or another one. */
static size_t
number(const char *description, const char *name, size_t otherwise)
{
	size_t n = strlen(name);
	const char *p;

	for (p = description; p != NULL; p = strchr(p + 1, ' '))
		if (strncmp(p + (*p == ' '), name, n) == 0 &&
		    p[n + (*p == ' ')] == '=')
			return (
			    size_t)strtoull(p + n + 1 + (*p == ' '), NULL, 0);
	return otherwise;
}

/*
 * Creates an arena as the first pool in it describes it.  A size that was asked
 * for by a parameter, or that another class of pools may need, is one of virtual
 * memory: that of a client arena is fixed.
 */
static mps_res_t
arena_create(const struct state *s, struct arena *a, const char *d)
{
	size_t size = number(d, "userSize", 0);
	size_t client = number(d, "size", 0);
	size_t grain = number(d, "grainSize", GRAIN_SIZE);
	mps_res_t res;

	if (s->class != CLASS_LOG || s->size_given)
		size = client = 0;
	if (client > 0 && (a->memory = malloc(client)) == NULL)
		return MPS_RES_MEMORY;
	if (size == 0)
		size = client > 0 ? client : s->arena_size;
	MPS_ARGS_BEGIN(args)
	{
		MPS_ARGS_ADD(args, MPS_KEY_ARENA_SIZE, size);
		MPS_ARGS_ADD(args, MPS_KEY_ARENA_GRAIN_SIZE, grain);
		if (client > 0)
			MPS_ARGS_ADD(args, MPS_KEY_ARENA_CL_BASE, a->memory);
		res = mps_arena_create_k(&a->arena,
		    client > 0 ? mps_arena_class_cl() : mps_arena_class_vm(),
		    args);
	}
	MPS_ARGS_END(args);
	return res;
}

static void
arena_destroy(struct state *s, struct arena *a)
{
	struct arena **p = &s->arenas;

	while (*p != a)
		p = &(*p)->next;
	*p = a->next;
	if (a->held != NULL)
		mps_root_destroy(a->held);
	if (a->slots != NULL)
		mps_root_destroy(a->slots);
	if (a->format != NULL)
		mps_fmt_destroy(a->format);
	if (a->thread != NULL)
		mps_thread_dereg(a->thread);
	if (a->arena != NULL)
		mps_arena_destroy(a->arena);
	free(a->memory);
	free(a);
}

/* The arena that the log knows by an address. */
static struct arena *
arena_find(struct state *s, uint64_t id)
{
	struct arena *a;

	for (a = s->arenas; a != NULL; a = a->next)
		if (a->id == id)
			return a;
	a = calloc(1, sizeof(*a));
	if (a == NULL)
		return NULL;
	a->id = id;
	a->next = s->arenas;
	s->arenas = a;
	return a;
}

/*
 * What collected pools need: telreplay's table is an exact root, so that an
 * address in it follows its block.
 */
static mps_res_t
arena_collects(struct state *s, struct arena *a)
{
	mps_res_t res = MPS_RES_OK;

	if (a->format != NULL)
		return MPS_RES_OK;
	res = mps_thread_reg(&a->thread, a->arena);
	if (res == MPS_RES_OK)
		res = format_create(a);
	if (res == MPS_RES_OK && s->nslots > 0)
		res =
		    mps_root_create_area(&a->slots, a->arena, mps_rank_exact(),
		        0, s->slots, s->slots + s->nslots, mps_scan_area, NULL);
	if (res == MPS_RES_OK)
		res = mps_root_create_area(&a->held, a->arena, mps_rank_ambig(),
		    0, s->held, s->held + 1, mps_scan_area, NULL);
	return res;
}

/* ----------------------------------------------------------------- pools */

static enum class class_of(const char *description) {
	const char *p; size_t i, n;

	for (p = description; *p != '\0'; p += strspn(p, " ")){
	    n = strcspn(p, " ");
	    for (i = 0; i < CLASSES; i++) if (classes[i].event != NULL &&
	        strlen(classes[i].event) == n &&
	        memcmp(classes[i].event, p, n) == 0) return classes[i]
	        .class;
	    p += n; }
return CLASS_LOG;
}

/*
 * The first serial numbers of pools, from 1.118 on, are those of the arena's own
 * pools.  The log says how many after it has created some of them.
 */
#define SYSTEM_POOLS 4

/*
 * Whether an MPS has made a pool for itself: the control pool, which is the
 * first one of MVFF in an arena, and pools of MFS for what other pools keep of
 * free memory.  The latter are complete before the pool that they are in, which
 * has a lower serial number.  Without serial numbers all of MFS count as such,
 * because programs hardly have any.
 */
static int
is_internal(const struct state *s, struct arena *a, enum class class,
    const char *description)
{
	size_t serial = number(description, "serial", SIZE_MAX);
	int nested = serial > a->created, first = !a->has_control;

	a->created++;
	if (class == CLASS_MVFF)
		a->has_control = 1;
	if (serial < number(description, "systemPools", SYSTEM_POOLS))
		return 1;
	if (class == CLASS_MFS)
		return nested && !s->all_mfs;
	return class == CLASS_MVFF && first && serial == SIZE_MAX;
}

static mps_res_t
manual_create(const struct pool *p, mps_pool_class_t class, mps_pool_t *out)
{
	const char *d = p->description;
	size_t extend = number(d, "extendBy", p->state->extend);
	size_t mean = number(d, "avgSize", number(d, "meanSize", 0));
	mps_res_t res;

	MPS_ARGS_BEGIN(args)
	{
		MPS_ARGS_ADD(args, MPS_KEY_ALIGN, p->align);
		if (mean > 0)
			MPS_ARGS_ADD(args, MPS_KEY_MEAN_SIZE, mean);
		if (class == mps_class_mvt()) {
			size_t least = number(d, "minSize", 0);
			size_t most = number(d, "maxSize", 0);
			size_t depth = number(d, "reserveDepth", 0);
			size_t limit = number(d, "fragLimig", SIZE_MAX);

			if (least > 0)
				MPS_ARGS_ADD(args, MPS_KEY_MIN_SIZE, least);
			if (most > 0)
				MPS_ARGS_ADD(args, MPS_KEY_MAX_SIZE, most);
			if (depth > 0)
				MPS_ARGS_ADD(args, MPS_KEY_MVT_RESERVE_DEPTH,
				    depth);
			/* the log has it in percent, and misspells its name */
			if (limit <= 100)
				MPS_ARGS_ADD(args, MPS_KEY_MVT_FRAG_LIMIT,
				    (double)limit / 100);
		} else {
			if (extend > 0)
				MPS_ARGS_ADD(args, MPS_KEY_EXTEND_BY, extend);
			MPS_ARGS_ADD(args, MPS_KEY_MVFF_SLOT_HIGH,
			    (mps_bool_t)number(d, "slotHigh", 0));
			MPS_ARGS_ADD(args, MPS_KEY_MVFF_ARENA_HIGH,
			    (mps_bool_t)number(d, "arenaHigh", 0));
			MPS_ARGS_ADD(args, MPS_KEY_MVFF_FIRST_FIT,
			    (mps_bool_t)number(d, "firstFit", 1));
		}
		res = mps_pool_create_k(out, p->arena->arena, class, args);
	}
	MPS_ARGS_END(args);
	return res;
}

static mps_res_t
collected_create(struct pool *p)
{
	mps_res_t res = arena_collects(p->state, p->arena);

	if (res != MPS_RES_OK)
		return res;
	MPS_ARGS_BEGIN(args)
	{
		MPS_ARGS_ADD(args, MPS_KEY_FORMAT, p->arena->format);
		res = mps_pool_create_k(&p->pool, p->arena->arena,
		    p->class == CLASS_AMC ? mps_class_amc() : mps_class_amcz(),
		    args);
	}
	MPS_ARGS_END(args);
	return res;
}

static mps_res_t
unit_create(const struct pool *p, size_t size, mps_pool_t *out)
{
	size_t extend = number(p->description, "extendBy", p->state->extend);
	mps_res_t res;

	MPS_ARGS_BEGIN(args)
	{
		MPS_ARGS_ADD(args, MPS_KEY_MFS_UNIT_SIZE, size);
		if (extend > 0)
			MPS_ARGS_ADD(args, MPS_KEY_EXTEND_BY, extend);
		res = mps_pool_create_k(out, p->arena->arena, mps_class_mfs(),
		    args);
	}
	MPS_ARGS_END(args);
	return res;
}

static size_t
round_up(const struct pool *p, size_t size)
{
	return (size + p->align - 1) & ~(p->align - 1);
}

/* Whether the log says that a pool of MVFF is of its class with fences. */
static int
is_debug(const char *description)
{
	return strstr(description, "poolClass=MVFFDebugPool") != NULL;
}

/* Creates a pool, and its arena before the first one. */
static mps_res_t
use(struct pool *p)
{
	mps_res_t res = MPS_RES_OK;

	if (p->arena->arena == NULL)
		res = arena_create(p->state, p->arena, p->description);
	if (res != MPS_RES_OK || p->pool != NULL)
		return res;
	switch (p->class) {
	case CLASS_AMC:
	case CLASS_AMCZ: return collected_create(p);
	case CLASS_MVT: return manual_create(p, mps_class_mvt(), &p->pool);
	case CLASS_MFS:
		if (p->unit == 0 || p->units[0] != NULL)
			return MPS_RES_OK;
		return unit_create(p, round_up(p, p->unit), &p->units[0]);
	default:
		return manual_create(p,
		    p->state->class == CLASS_LOG && is_debug(p->description) ?
		        mps_class_mvff_debug() :
		        mps_class_mvff(),
		    &p->pool);
	}
}

/* Of a class that allocates with it: the allocation point without a buffer. */
static mps_ap_t
point_of(struct pool *p)
{
	if (p->ap == NULL &&
	    mps_ap_create_k(&p->ap, p->pool, mps_args_none) != MPS_RES_OK)
		return NULL;
	return p->ap;
}

/* The alignment of a pool: that of the log, for the class of the log. */
static size_t
align_of(const struct pool *p, enum class logged)
{
	size_t align = ALIGNMENT;
	size_t grain = number(p->description, "grainSize", GRAIN_SIZE);

	if (p->class != logged)
		return align;
	if (p->class == CLASS_MFS)
		return ALIGNMENT_MIN;
	if (p->class == CLASS_MVFF || p->class == CLASS_MVT)
		align = number(p->description, "align", ALIGNMENT);
	if (align < ALIGNMENT_MIN || (align & (align - 1)) != 0)
		return ALIGNMENT_MIN;
	return align < grain ? align : grain;
}

static void *
create_as(void *state, uint64_t number_of, const char *description)
{
	struct state *s = state;
	struct pool *p = calloc(1, sizeof(*p));
	enum class class = class_of(description);

	if (p == NULL)
		return NULL;
	p->state = s;
	p->description = description;
	p->arena = arena_find(s, number(description, "arena", 0));
	if (p->arena == NULL) {
		free(p);
		return NULL;
	}
	p->arena->pools++;
	p->internal = is_internal(s, p->arena, class, description);
	if (s->class != CLASS_LOG)
		p->class = s->class;
	else
		p->class = class == CLASS_LOG ? CLASS_MVFF : class;
	p->align = align_of(p, class);
	p->unit = class == CLASS_MFS && s->class == CLASS_LOG ?
	    number(description, "unitSize", 0) :
	    0;
	if (s->threads > 1 && !p->internal &&
	    (p->class == CLASS_AMC || p->class == CLASS_AMCZ)) {
		(void)fprintf(stderr,
		    "AMC moves blocks: --threads 1 is needed\n");
		free(p);
		return NULL;
	}
	/* that which no operation names has its pool when it is needed */
	if (number_of != 0 && !p->internal)
		(void)use(p);
	return p;
}

static int
internal(void *pool)
{
	return ((struct pool *)pool)->internal;
}

static void
destroy(void *pool)
{
	struct pool *p = pool;
	size_t i;

	if (p->ap != NULL)
		mps_ap_destroy(p->ap);
	for (i = 0; i < UNITS; i++)
		if (p->units[i] != NULL)
			mps_pool_destroy(p->units[i]);
	if (p->rest != NULL)
		mps_pool_destroy(p->rest);
	if (p->pool != NULL)
		mps_pool_destroy(p->pool);
	if (--p->arena->pools == 0)
		arena_destroy(p->state, p->arena);
	free(p);
}

/* ---------------------------------------------------------------- blocks */

/* The pool of MVFF for what another class does not have, or NULL. */
static mps_pool_t
rest_of(struct pool *p)
{
	if (p->class == CLASS_MVFF)
		return p->pool;
	if (p->rest == NULL &&
	    manual_create(p, mps_class_mvff(), &p->rest) != MPS_RES_OK)
		return NULL;
	return p->rest;
}

static void *
rest_alloc(struct pool *p, size_t size)
{
	mps_pool_t pool = rest_of(p);
	mps_addr_t block;

	if (pool == NULL || mps_alloc(&block, pool, size) != MPS_RES_OK)
		return NULL;
	return block;
}

/* Nonzero for a block that went to the pool of MVFF. */
static int
is_in_rest(const struct pool *p, void *block)
{
	mps_pool_t owner;

	return p->rest != NULL &&
	    mps_addr_pool(&owner, p->arena->arena, block) && owner == p->rest;
}

static void *
unit_alloc(struct pool *p, size_t size)
{
	size_t unit = round_up(p, p->unit > 0 ? p->unit : size);
	size_t i = p->unit > 0 ? 0 : unit / ALIGNMENT - 1;
	mps_addr_t block;

	if (size > unit || i >= UNITS)
		return rest_alloc(p, size);
	if (p->units[i] == NULL &&
	    unit_create(p, unit, &p->units[i]) != MPS_RES_OK)
		return NULL;
	if (mps_alloc(&block, p->units[i], unit) != MPS_RES_OK)
		return NULL;
	return block;
}

static void
unit_free(struct pool *p, void *block, size_t size)
{
	size_t unit = round_up(p, p->unit > 0 ? p->unit : size);
	size_t i = p->unit > 0 ? 0 : unit / ALIGNMENT - 1;

	if (is_in_rest(p, block))
		mps_free(p->rest, block, size);
	else
		mps_free(p->units[i], block, unit);
}

/* Without a header, for MVT.  ap: NULL if there was no memory for it. */
static void *
point_alloc(mps_ap_t ap, size_t size)
{
	mps_addr_t block;

	do {
		if (ap == NULL || mps_reserve(&block, ap, size) != MPS_RES_OK)
			return NULL;
	} while (!mps_commit(ap, block, size));
	return block;
}

/* A block, with its header, that is to be committed. */
static void *
collected_reserve(const struct pool *p, mps_ap_t ap, size_t size)
{
	size_t all = HEADER + round_up(p, size);
	struct header *h;
	mps_addr_t base;

	if (ap == NULL || mps_reserve(&base, ap, all) != MPS_RES_OK)
		return NULL;
	h = base;
	h->size = all;
	h->kind = KIND_BLOCK;
	return h + 1;
}

static void *
collected_alloc(const struct pool *p, mps_ap_t ap, size_t size)
{
	void *block;

	do {
		block = collected_reserve(p, ap, size);
		if (block == NULL)
			return NULL;
	} while (!mps_commit(ap, header_of(block), HEADER + round_up(p, size)));
	return block;
}

static void *
alloc(void *pool, size_t size)
{
	struct pool *p = pool;
	mps_addr_t block;

	if (p->pool == NULL && use(p) != MPS_RES_OK)
		return NULL;
	switch (p->class) {
	case CLASS_AMC:
	case CLASS_AMCZ: return collected_alloc(p, point_of(p), size);
	case CLASS_MVT: return point_alloc(point_of(p), round_up(p, size));
	case CLASS_MFS: return unit_alloc(p, size);
	default: break;
	}
	if (mps_alloc(&block, p->pool, size) != MPS_RES_OK)
		return NULL;
	return block;
}

/* Of a larger block the parts that are not needed are freed. */
static void *
aligned(void *pool, size_t alignment, size_t size)
{
	struct pool *p = pool;
	size_t before, after;
	mps_pool_t from;
	char *block;

	if (alignment <= ALIGNMENT)
		return alloc(pool, size);
	if ((p->pool == NULL && use(p) != MPS_RES_OK) ||
	    (from = rest_of(p)) == NULL ||
	    __builtin_add_overflow(round_up(p, size), alignment, &after))
		return NULL;
	block = rest_alloc(p, after);
	if (block == NULL)
		return NULL;
	before = (size_t)(-(uintptr_t)block & (alignment - 1));
	after -= before + round_up(p, size);
	if (before > 0)
		mps_free(from, block, before);
	block += before;
	if (after > 0)
		mps_free(from, block + round_up(p, size), after);
	return block;
}

static void
drop(void *pool, void *block, size_t size)
{
	struct pool *p = pool;

	switch (p->class) {
	case CLASS_MFS: unit_free(p, block, size); return;
	case CLASS_AMC:
	case CLASS_AMCZ:
		/* telreplay has dropped the reference, which is all */
		if (is_in_rest(p, block))
			mps_free(p->rest, block, size);
		return;
	default:
		mps_free(is_in_rest(p, block) ? p->rest : p->pool, block, size);
	}
}

static void
drop_part(void *pool, void *part, size_t size)
{
	struct pool *p = pool;

	if (p->class == CLASS_MFS) {
		(void)fprintf(stderr, "MFS does not free parts of blocks\n");
		abort();
	}
	/* a part at the end of a block has what its size was rounded up by */
	if (p->class == CLASS_MVFF || p->class == CLASS_MVT)
		mps_free(p->pool, part, round_up(p, size));
}

static void *
resize(void *pool, void *block, size_t from, size_t to)
{
	struct state *s = ((struct pool *)pool)->state;
	void *now;

	/* the collector must not move it meanwhile */
	s->held[0] = block;
	now = alloc(pool, to);
	s->held[0] = NULL;
	if (now == NULL)
		return NULL;
	memcpy(now, block, from < to ? from : to);
	drop(pool, block, from);
	return now;
}

/* ----------------------------------------------------- allocation points */

static void *
buffer_create(void *pool)
{
	struct pool *p = pool;
	struct buffer *b = calloc(1, sizeof(*b));

	if (b == NULL)
		return NULL;
	b->pool = p;
	if (use(p) == MPS_RES_OK &&
	    (p->class == CLASS_MFS ||
	        mps_ap_create_k(&b->ap, p->pool, mps_args_none) == MPS_RES_OK))
		return b;
	free(b);
	return NULL;
}

static void
buffer_destroy(void *buffer)
{
	struct buffer *b = buffer;

	if (b->ap != NULL)
		mps_ap_destroy(b->ap);
	free(b);
}

static void *
reserve(void *buffer, size_t size)
{
	struct buffer *b = buffer;
	mps_addr_t block;

	if (b->ap == NULL)
		return alloc(b->pool, size);
	if (b->pool->class == CLASS_AMC || b->pool->class == CLASS_AMCZ)
		return collected_reserve(b->pool, b->ap, size);
	if (mps_reserve(&block, b->ap, round_up(b->pool, size)) != MPS_RES_OK)
		return NULL;
	return block;
}

/* Nothing runs between the two, so that a commit cannot fail. */
static int
commit(void *buffer, void *block, size_t size)
{
	struct buffer *b = buffer;

	if (b->ap == NULL)
		return 1;
	if (b->pool->class == CLASS_AMC || b->pool->class == CLASS_AMCZ)
		return mps_commit(b->ap, header_of(block),
		    HEADER + round_up(b->pool, size));
	return mps_commit(b->ap, block, round_up(b->pool, size));
}

const tel_pool_table tel_pool_allocator = {
	.version = TEL_POOL_VERSION,
	.name = "mps",
	.start = start,
	.end = end,
	.destroy = destroy,
	.alloc = alloc,
	.aligned = aligned,
	.resize = resize,
	.free = drop,
	.free_part = drop_part,
	.buffer_create = buffer_create,
	.buffer_destroy = buffer_destroy,
	.reserve = reserve,
	.commit = commit,
	.create_as = create_as,
	.internal = internal,
	.roots = roots,
};
