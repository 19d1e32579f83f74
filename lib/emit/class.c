/* SPDX-License-Identifier: BSD-2-Clause */
/* The tree of classes: creating, finding, enabling and ending them. */
#define _GNU_SOURCE
#include "class.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct tel__classes tel__classes;
static tel_emit_class root = { .on = 1, .own = 1, .path = "" };

static void
lock(void)
{
	pthread_mutex_lock(&tel__emit_state.classes);
}

static void
unlock(void)
{
	pthread_mutex_unlock(&tel__emit_state.classes);
}

static void *
fail_null(int error)
{
	errno = error;
	return NULL;
}

/* -------------------------------------------------------- open and close */

void *
tel__class_room(size_t bytes)
{
	struct tel__classes *all = &tel__classes;
	const size_t size = (bytes + 63) & ~(size_t)63;
	size_t at = atomic_load(&all->class_used);

	do {
		if (size < bytes || size > CLASS_BYTES - at)
			return NULL;
	} while (
	    !atomic_compare_exchange_weak(&all->class_used, &at, at + size));
	return all->memory + TABLE_BYTES + all->parts_bytes + at;
}

/* Maps the memory again, at the same address if the size is the same. */
static int
map_memory(size_t parts_bytes)
{
	struct tel__classes *all = &tel__classes;
	const size_t bytes = TABLE_BYTES + parts_bytes + CLASS_BYTES;
	/* a thread may still write to the old mapping, which then remains */
	void *at = all->bytes == bytes ? all->memory : NULL;

	at = tel__emit_memory(at, bytes, -1, 0);
	if (at == NULL)
		return -1;
	all->memory = at;
	all->bytes = bytes;
	all->parts_bytes = parts_bytes;
	return 0;
}

/* Takes due snapshots; called by the drain thread. */
static void
emit_class_tick(void)
{
	struct tel__classes *all = &tel__classes;
	uint64_t now = tel__emit_gettime();

	if (now < __atomic_load_n(&all->due, __ATOMIC_RELAXED))
		return;
	lock();
	if (all->open && all->interval > 0) {
		tel__class_write(&root,
		    ++all->rounds % 32 != 0 ? WRITE_CHANGED : 0);
		SET(all->due, now + all->interval);
	}
	unlock();
}

/*
 * A child starts with the classes of its parent, but without their counts:
 * these are in the parent's log.
 */
static void
emit_class_in_child(void)
{
	struct tel__classes *all = &tel__classes;

	if (!all->open)
		return;
	tel__class_forget_parts();
	for (uint32_t i = 0; i < all->count; i++) {
		tel_emit_class *c = all->list[i];

		c->written = c->over_limit = 0;
		if (c->shared != NULL)
			tel__class_part_init(c, c->shared, c->words);
		if (c->ranges != NULL)
			memset(c->ranges, 0, RANGE_SLOTS * sizeof(*c->ranges));
	}
	if (all->interval > 0)
		(void)tel__emit_start_thread();
}

static const struct tel__emit_hooks hooks = { emit_class_tick, tel_class_close,
	emit_class_in_child };

void
tel__class_drain(void)
{
	pthread_mutex_lock(&tel__emit_state.drain);
	tel__emit_drain(0);
	pthread_mutex_unlock(&tel__emit_state.drain);
}

/* Adds the start of a session, at which a reader forgets earlier classes. */
static int
add_header(void)
{
	char host[256] = "";
	tel_emit_value v[9];

	if (gethostname(host, sizeof(host) - 1) != 0)
		host[0] = '\0';
	memset(v, 0, sizeof(v));
	v[0].u = 1;
	v[5].s = PAGE->program;
	v[6].u = PAGE->pid;
	v[7].s = host;
	tel__class_drain();
	return tel__class_add_event(E_HEADER, v);
}

/* Under the lock. */
static int
open_classes(const tel_class_options *given)
{
	struct tel__classes *all = &tel__classes;
	const tel_class_options none = { 0, 0, 0 };
	const tel_class_options *o = given != NULL ? given : &none;
	const size_t memory =
	    o->memory != 0 ? (o->memory + 65535) & ~(size_t)65535 : PARTS_BYTES;
	int st = 0;

	if (!tel__emit_state.open)
		return tel__emit_result(EBADF);
	if (all->open)
		return tel__emit_result(EBUSY);
	if (o->interval_ms > 86400000 || memory < o->memory ||
	    memory > SIZE_MAX / 4)
		return tel__emit_wrong("an interval above a day, or more "
		                       "memory than there are addresses");
	if (map_memory(memory) != 0 || tel__class_add_types() != 0 ||
	    add_header() != 0)
		return -1;
	all->count = 0;
	all->rounds = 0;
	atomic_store(&all->class_used, 0);
	memset(all->by_path, 0, sizeof(all->by_path));
	tel__class_forget_parts();
	root.own = 1;
	__atomic_store_n(&root.on, 1, __ATOMIC_RELAXED);
	all->interval = o->on_demand ? 0 :
	    o->interval_ms > 0       ? (uint64_t)o->interval_ms * 1000000 :
	                               1000000000;
	SET(all->due,
	    all->interval > 0 ? tel__emit_gettime() + all->interval :
	                        UINT64_MAX);
	if (all->interval > 0) {
		pthread_mutex_lock(&tel__emit_state.drain);
		st = tel__emit_start_thread();
		pthread_mutex_unlock(&tel__emit_state.drain);
	}
	if (st != 0)
		return -1;
	tel__emit_state.hooks = &hooks;
	all->open = 1;
	(void)tel_control_set(TEL_CLASS_KIND_CLASS | TEL_CLASS_KIND_TRACE |
	    TEL_CLASS_KIND_SNAPSHOT);
	return 0;
}

int
tel_class_open(const tel_class_options *options)
{
	lock();
	int st = open_classes(options);
	unlock();
	return st;
}

void
tel_class_close(void)
{
	struct tel__classes *all = &tel__classes;

	lock();
	if (all->open) {
		tel__class_write(&root, 0);
		all->open = 0;
		SET(all->due, UINT64_MAX);
		for (uint32_t i = 0; i < all->count; i++) {
			__atomic_store_n(&all->list[i]->on, 0,
			    __ATOMIC_RELAXED);
			all->list[i]->dead = 1;
		}
	}
	unlock();
}

/* ------------------------------------------------------------ the tree */

/* The class of a handle. */
static tel_emit_class *
emit_class_class_of(tel_emit_class *c)
{
	return c == TEL_CLASS_ROOT ? &root : c;
}

/* Computes which classes are on.  Parents precede children in the list. */
static void
update_switches(void)
{
	struct tel__classes *all = &tel__classes;
	tel_emit_class *c;

	__atomic_store_n(&root.on, root.own, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < all->count; i++) {
		c = all->list[i];
		c->dead = c->disposed || c->parent->dead;
		__atomic_store_n(&c->on, c->own && !c->dead && c->parent->on,
		    __ATOMIC_RELAXED);
	}
}

/* The slot of a path: of a class not disposed of, or a free one. */
static uint16_t *
emit_class_find_slot(const char *path, size_t n)
{
	struct tel__classes *all = &tel__classes;
	const size_t mask = sizeof(all->by_path) / sizeof(uint16_t) - 1;
	size_t i = tel__native_xxh64(path, n) & mask;

	for (; all->by_path[i] != 0; i = (i + 1) & mask) {
		const tel_emit_class *c = all->list[all->by_path[i] - 1];

		if (!c->dead && c->path_length == n &&
		    memcmp(c->path, path, n) == 0)
			break;
	}
	return &all->by_path[i];
}

const char *
tel__class_keep(const char *s, size_t n)
{
	char *text = tel__class_room(n + 1);

	if (text != NULL && n > 0)
		memcpy(text, s, n);
	return text;
}

/* Allocates the counters of a class.  0; -1: no room. */
static int
make_counters(tel_emit_class *c)
{
	uint64_t *key;

	if (c->type == CLASS_TRACE)
		return tel__class_make_events(c);
	if (c->type == CLASS_PATH)
		return 0;
	if (c->type == CLASS_TALLY) {
		c->keys =
		    tel__class_room(((size_t)c->mask + 2) * sizeof(uint64_t));
		if (c->keys == NULL)
			return -1;
		for (key = c->keys; key <= c->keys + c->mask + 1; key++)
			*key = TALLY_FREE;
	}
	if (c->type == CLASS_SUMMARY) {
		c->ranges = tel__class_room(RANGE_SLOTS * sizeof(*c->ranges));
		if (c->ranges == NULL)
			return -1;
	}
	c->shared = tel__class_room(c->words * sizeof(uint64_t));
	if (c->shared == NULL)
		return -1;
	tel__class_part_init(c, c->shared, c->words);
	return 0;
}

/* Adds a class with the type and bounds of like, at a path of n bytes. */
static tel_emit_class *
add_class(const tel_emit_class *like, tel_emit_class *parent, const char *path,
    size_t n)
{
	struct tel__classes *all = &tel__classes;
	tel_emit_class *c = NULL;

	if (all->count < TEL_CLASS_MAX)
		c = tel__class_room(sizeof(*c));
	if (c == NULL)
		goto no_room;
	*c = *like;
	c->index = all->count;
	c->parent = parent;
	c->path = tel__class_keep(path, n);
	c->path_length = (uint32_t)n;
	c->component =
	    tel__class_keep(like->component, strlen(like->component));
	c->unit = tel__class_keep(like->unit, strlen(like->unit));
	c->on = c->own && parent->on;
	if (c->path == NULL || c->component == NULL || c->unit == NULL ||
	    make_counters(c) != 0 || tel__class_define(c) != 0)
		goto no_room;
	*emit_class_find_slot(path, n) = (uint16_t)(all->count + 1);
	all->list[all->count++] = c;
	return c;
no_room:
	return fail_null(ENOSPC);
}

/* Finds or adds the class at a path, and the paths above it. */
static tel_emit_class *
create_path(tel_emit_class *parent, const tel_emit_class *like,
    const char *path, size_t start, size_t n)
{
	static const tel_emit_class way = { .type = CLASS_PATH,
		.own = 1,
		.component = "",
		.unit = "" };
	const struct tel__classes *all = &tel__classes;
	tel_emit_class *c = parent;
	size_t at = start, end;

	for (; at < n; at = end + 1) {
		for (end = at; end < n && path[end] != ':';)
			end++;
		if (end == at || end + 1 == n)
			return fail_null(EINVAL);
		uint16_t *slot = emit_class_find_slot(path, end);
		if (*slot == 0) {
			c = add_class(end == n ? like : &way, c, path, end);
			if (c == NULL)
				return NULL;
			continue;
		}
		c = all->list[*slot - 1];
		if (end < n && c->type != CLASS_PATH)
			return fail_null(ENOTDIR);
	}
	if (c->type == like->type && c->text == like->text)
		return c;
	return fail_null(EEXIST);
}

static tel_emit_class *
create_locked(tel_emit_class *parent, const char *name,
    const tel_emit_class *like)
{
	char path[TEL_CLASS_PATH_MAX + 1];

	if (!tel__classes.open && open_classes(NULL) != 0)
		return NULL;
	if (parent == NULL || name == NULL || name[0] == '\0' ||
	    parent->type != CLASS_PATH)
		return fail_null(EINVAL);
	if (parent->dead)
		return fail_null(ENOENT);
	size_t start = parent->path_length > 0 ? parent->path_length + 1u : 0;
	size_t n = strnlen(name, sizeof(path));
	if (n > TEL_CLASS_PATH_MAX - start || strlen(like->component) > 31 ||
	    strlen(like->unit) > 31)
		return fail_null(ENAMETOOLONG);
	if (start > 0)
		memcpy(path, parent->path, start - 1);
	if (start > 0)
		path[start - 1] = ':';
	memcpy(path + start, name, n);
	return create_path(parent, like, path, start, start + n);
}

/* Creates a class with the type and bounds of like. */
static tel_emit_class *
emit_class_create(tel_emit_class *parent, const char *name,
    tel_emit_class *like, const char *unit, unsigned options)
{
	tel_emit_class *c;

	like->unit = unit != NULL ? unit : "";
	if (like->component == NULL)
		like->component = "";
	like->own = (options & TEL_CLASS_ENABLE) != 0;
	lock();
	c = create_locked(emit_class_class_of(parent), name, like);
	unlock();
	return c;
}

/* ------------------------------------------------------------- creating */

tel_emit_class *
tel_class_create_path(tel_emit_class *parent, const char *name)
{
	tel_emit_class like = { .type = CLASS_PATH };

	return emit_class_create(parent, name, &like, "", TEL_CLASS_ENABLE);
}

tel_emit_class *
tel_class_create_trace(tel_emit_class *parent, const char *name,
    const char *component, unsigned options)
{
	tel_emit_class like = { .type = CLASS_TRACE, .words = W_HEAD };

	like.component = component;
	if (!(options & TEL_CLASS_SUMMARY))
		return emit_class_create(parent, name, &like, "", options);
	like.type = CLASS_SUMMARY;
	return emit_class_create(parent, name, &like, "ns", options);
}

tel_emit_class *
tel_class_create_magnitude(tel_emit_class *parent, const char *name,
    const char *unit, unsigned options)
{
	tel_emit_class like = { .type = CLASS_MAGNITUDE, .words = W_HEAD };

	return emit_class_create(parent, name, &like, unit, options);
}

tel_emit_class *
tel_class_create_growth(tel_emit_class *parent, const char *name,
    const char *unit, unsigned options)
{
	tel_emit_class like = { .type = CLASS_GROWTH, .words = W_HEAD };

	return emit_class_create(parent, name, &like, unit, options);
}

/* Adds the buckets of a range; 0: they are invalid, or too many. */
static int
add_buckets(tel_emit_class *like, int64_t lo, int64_t hi, uint64_t width)
{
	const uint64_t span = (uint64_t)hi - (uint64_t)lo;

	if (hi <= lo || width == 0 || width > INT64_MAX)
		return 0;
	uint64_t count = span / width + (span % width != 0);
	if (count > TEL_CLASS_BUCKETS_MAX - (like->words - W_HEAD))
		return 0;
	like->words += (uint32_t)count;
	return 1;
}

/* Creates a histogram of one range, or of two that meet at the knee. */
static tel_emit_class *
emit_class_create_histogram(tel_emit_class *parent, const char *name,
    tel_emit_class *like, const char *unit, unsigned options)
{
	int valid = add_buckets(like, like->lo, like->knee, like->width[0]);

	if (like->type == CLASS_SPLIT) {
		like->first = like->words - W_HEAD;
		valid = valid &&
		    add_buckets(like, like->knee, like->hi, like->width[1]);
	}
	if (valid)
		return emit_class_create(parent, name, like, unit, options);
	(void)tel__emit_wrong("a histogram of no, or of more than 65536 "
	                      "buckets");
	return NULL;
}

tel_emit_class *
tel_class_create_histogram(tel_emit_class *parent, const char *name,
    int64_t lower, int64_t upper, uint64_t width, const char *unit,
    unsigned options)
{
	tel_emit_class like = { .type = CLASS_HISTOGRAM,
		.words = W_HEAD,
		.lo = lower,
		.knee = upper,
		.hi = upper,
		.width = { width, width } };

	return emit_class_create_histogram(parent, name, &like, unit, options);
}

tel_emit_class *
tel_class_create_split_histogram(tel_emit_class *parent, const char *name,
    int64_t lower, uint64_t width1, int64_t knee, int64_t upper,
    uint64_t width2, const char *unit, unsigned options)
{
	tel_emit_class like = { .type = CLASS_SPLIT,
		.words = W_HEAD,
		.lo = lower,
		.knee = knee,
		.hi = upper,
		.width = { width1, width2 } };

	return emit_class_create_histogram(parent, name, &like, unit, options);
}

tel_emit_class *
tel_class_create_tally(tel_emit_class *parent, const char *name, unsigned max,
    unsigned options)
{
	tel_emit_class like = { .type = CLASS_TALLY };
	uint32_t slots = 2;

	if (max == 0 || max > TEL_CLASS_BUCKETS_MAX) {
		(void)tel__emit_wrong("a tally of no, or of more than 65536 "
		                      "keys");
		return NULL;
	}
	while (slots < max + max / 2)
		slots *= 2;
	/* the last slot is for TALLY_FREE as a key */
	like.words = W_HEAD + slots + 1;
	like.mask = slots - 1;
	like.max = max;
	like.text = (options & TEL_CLASS_TEXT) != 0;
	return emit_class_create(parent, name, &like, "", options);
}

/* ------------------------------------------------------------ switching */

static int
emit_class_change(tel_emit_class *c, int on)
{
	int st = 0;

	lock();
	c = emit_class_class_of(c);
	if (!tel__classes.open)
		st = tel__emit_result(EBADF);
	else if (c == NULL)
		st = tel__emit_result(EINVAL);
	else if (c->dead)
		st = tel__emit_result(ENOENT);
	if (st == 0 && c->own != on) {
		c->own = (uint8_t)on;
		update_switches();
		if (!on)
			tel__class_write(c, WRITE_CHANGED | WRITE_OFF);
		tel__class_write_change(c, on ? E_ENABLE : E_DISABLE);
	}
	unlock();
	return st;
}

int
tel_class_enable(tel_emit_class *c)
{
	return emit_class_change(c, 1);
}

int
tel_class_disable(tel_emit_class *c)
{
	return emit_class_change(c, 0);
}

void
tel_class_dispose(tel_emit_class *c)
{
	tel_emit_value v[2];

	if (c == NULL || c == TEL_CLASS_ROOT)
		return;
	lock();
	if (tel__classes.open && !c->dead) {
		c->disposed = 1;
		update_switches();
		tel__class_write(c, WRITE_CHANGED | WRITE_OFF);
		tel__class_drain();
		v[0].s = c->path;
		v[1].u = c->index + 1;
		(void)tel__class_add_event(E_DISPOSE, v);
	}
	unlock();
}

int
tel_class_snapshot(tel_emit_class *top)
{
	int st = 0;

	lock();
	top = emit_class_class_of(top);
	if (!tel__classes.open)
		st = tel__emit_result(EBADF);
	else if (top == NULL)
		st = tel__emit_result(EINVAL);
	else
		tel__class_write(top, 0);
	unlock();
	return st;
}
