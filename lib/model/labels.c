/* SPDX-License-Identifier: BSD-2-Clause */
/* Strings by their numbers, and addresses with the labels they had. */
#include "model/labels.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/getter.h"
#include "base/table.h"

/*
 * Labels of one address are kept in an array, so that a log that labels one
 * address over and over, backwards, would take quadratic time.
 */
#define PER_ADDRESS_MAX ((size_t)1 << 14)
/* On the average a string may have so many bytes. */
#define STRING_AVERAGE 64

struct mark {
	uint64_t clock;
	uint64_t id;
};

/* The labels of an address, in order of their clocks. */
struct history {
	struct mark *marks;
	size_t count, room;
};

struct string {
	char *bytes;
	uint32_t length;
	int plain;
};

/* The addresses of a space, which have labels. */
struct space {
	struct tel__table by_address; /* to a place in histories */
	struct history *histories;
	size_t count, room;
};

/*
 * What was found last for addresses of the same hash: a log names the same few
 * again and again.
 */
#define RECENT_BITS 6
#define RECENT ((size_t)1 << RECENT_BITS)

struct recent {
	uint64_t address;
	uint64_t from, until; /* the label's clock, and the last that it has */
	struct tel_label label;
	uint32_t space;   /* and 1; 0: nothing is here */
	uint32_t changes; /* of the table by then */
};

struct tel_labels {
	struct tel_signs signs;
	struct recent *recent;   /* RECENT of them; NULL without a label */
	uint32_t changes;        /* of any kind, so far */
	struct tel__table by_id; /* a string's number to its place in strings */
	struct string *strings;
	size_t count, room;
	struct space spaces[TEL_SPACES];
	size_t labels; /* in all spaces */
	size_t bytes;  /* of all strings */
	size_t most;   /* labels of one address */
	size_t max;
	struct tel__table by_frame; /* hash of a frame's number to its place */
	struct tel_frame *frames;
	size_t nframes, frame_room;
	tel_labels_fn *guard; /* called before a change, or NULL */
	void *guard_arg;
};

struct tel_labels *
tel__labels_new(size_t max)
{
	struct tel_labels *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return NULL;
	l->max = max;
	tel__table_init(&l->by_id);
	tel__table_init(&l->by_frame);
	for (unsigned i = 0; i < TEL_SPACES; i++)
		tel__table_init(&l->spaces[i].by_address);
	return l;
}

/* Many logs have no label at all.  0 when out of memory. */
static int
labels_make_recent(struct tel_labels *l)
{
	if (l->recent == NULL)
		l->recent = calloc(RECENT, sizeof(*l->recent));
	return l->recent != NULL;
}

void
tel__labels_free(struct tel_labels *l)
{
	struct space *s;

	if (l == NULL)
		return;
	if (l->guard != NULL)
		l->guard(l->guard_arg, 1);
	free(l->recent);
	tel__table_clear(&l->by_id);
	for (size_t i = 0; i < l->count; i++)
		free(l->strings[i].bytes);
	free(l->strings);
	tel__table_clear(&l->by_frame);
	for (size_t i = 0; i < l->nframes; i++)
		free((char *)(uintptr_t)l->frames[i].name);
	free(l->frames);
	for (s = l->spaces; s < l->spaces + TEL_SPACES; s++) {
		tel__table_clear(&s->by_address);
		for (size_t i = 0; i < s->count; i++)
			free(s->histories[i].marks);
		free(s->histories);
	}
	free(l);
}

int
tel__labels_guard(struct tel_labels *l, tel_labels_fn *fn, void *arg)
{
	if (fn != NULL && l->guard != NULL && l->guard_arg != arg)
		return 0;
	l->guard = fn;
	l->guard_arg = arg;
	return 1;
}

struct tel_labels *
tel__labels_view_new(void)
{
	struct tel_labels *view = tel__labels_new(0);

	if (view != NULL && !labels_make_recent(view)) {
		free(view);
		view = NULL;
	}
	return view;
}

void
tel__labels_view(struct tel_labels *view, const struct tel_labels *l,
    int others)
{
	struct recent *recent = view->recent;

	*view = *l;
	view->recent = recent;
	view->guard = NULL;
	/* what was found in these counts until they change */
	if (others)
		memset(recent, 0, RECENT * sizeof(*recent));
}

void
tel__labels_view_free(struct tel_labels *view)
{
	if (view != NULL)
		free(view->recent);
	free(view);
}

/* Nonzero when a string is plain, as tel_label.plain is defined. */
static int
model_labels_is_plain(const char *string, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (string[i] < 0x20 || string[i] > 0x7e || string[i] == '"' ||
		    string[i] == '\\')
			return 0;
	return 1;
}

/* The string number id; NULL when it was not interned. */
static struct string *
model_labels_find_string(const struct tel_labels *l, uint64_t id)
{
	const struct tel__entry *e = tel__table_find(&l->by_id, id);

	return e == NULL ? NULL : &l->strings[e->value];
}

/* Adds an empty string number id.  NULL: no memory. */
static struct string *
model_labels_add_string(struct tel_labels *l, uint64_t id)
{
	int fresh;

	if (!TEL__RESERVE(l->strings, l->room, l->count + 1))
		return NULL;
	struct tel__entry *e = tel__table_put(&l->by_id, id, &fresh);
	if (e == NULL)
		return NULL;
	e->value = l->count;
	memset(&l->strings[l->count], 0, sizeof(*l->strings));
	return &l->strings[l->count++];
}

tel_status
tel__labels_intern(struct tel_labels *l, uint64_t id, const char *string,
    size_t length)
{
	struct string *s = model_labels_find_string(l, id);

	if (length > UINT32_MAX || length > l->max * STRING_AVERAGE - l->bytes)
		return TEL_ELIMIT;
	if (s != NULL && s->length == length &&
	    memcmp(s->bytes, string, length) == 0)
		return TEL_OK;
	if (s == NULL && l->count >= l->max)
		return TEL_ELIMIT;
	if (l->guard != NULL)
		l->guard(l->guard_arg, 0);
	/* room for whole pieces, and for a NUL */
	char *copy = calloc(1, (length | (TEL_LABEL_PIECE - 1)) + 1);
	if (copy == NULL ||
	    (s == NULL && (s = model_labels_add_string(l, id)) == NULL)) {
		free(copy);
		return TEL_ENOMEM;
	}
	memcpy(copy, string, length);
	l->changes++;
	l->bytes += length - s->length;
	free(s->bytes);
	s->bytes = copy;
	s->length = (uint32_t)length;
	s->plain = model_labels_is_plain(string, length);
	return TEL_OK;
}

/* The number of marks that are not later than clock. */
static size_t
marks_until(const struct history *h, uint64_t clock)
{
	size_t lo = 0, hi = h->count, mid;

	TEL__BISECT(lo, hi, mid, h->marks[mid].clock <= clock);
	return lo;
}

/* The labels of an address; NULL when it has none. */
static struct history *
find_history(const struct space *s, uint64_t address)
{
	const struct tel__entry *e = tel__table_find(&s->by_address, address);

	return e == NULL ? NULL : &s->histories[e->value];
}

/* Adds an address without labels.  NULL: no memory. */
static struct history *
add_history(struct space *s, uint64_t address)
{
	int fresh;

	if (!TEL__RESERVE(s->histories, s->room, s->count + 1))
		return NULL;
	struct tel__entry *e = tel__table_put(&s->by_address, address, &fresh);
	if (e == NULL)
		return NULL;
	e->value = s->count;
	memset(&s->histories[s->count], 0, sizeof(*s->histories));
	return &s->histories[s->count++];
}

tel_status
tel__labels_add(struct tel_labels *l, enum tel_space space, uint64_t address,
    uint64_t clock, uint64_t id)
{
	struct space *s = &l->spaces[space];
	size_t word;
	const uint64_t sign =
	    tel__labels_sign(tel__labels_hash(address), &word);
	struct history *h = find_history(s, address);
	size_t at = h == NULL ? 0 : marks_until(h, clock);

	/* a log that holds the same events twice labels nothing anew */
	if (at > 0 && h->marks[at - 1].clock == clock &&
	    h->marks[at - 1].id == id)
		return TEL_OK;
	if (l->labels >= l->max || (h != NULL && h->count >= PER_ADDRESS_MAX))
		return TEL_ELIMIT;
	if (l->guard != NULL)
		l->guard(l->guard_arg, 0);
	if (!labels_make_recent(l) ||
	    (h == NULL && (h = add_history(s, address)) == NULL))
		return TEL_ENOMEM;
	/* most addresses have one label only */
	if (h->room == 0 && TEL__RESIZE(h->marks, 1))
		h->room = 1;
	if (!TEL__RESERVE(h->marks, h->room, h->count + 1))
		return TEL_ENOMEM;
	l->changes++;
	l->signs.words[word] |= sign;
	memmove(h->marks + at + 1, h->marks + at,
	    (h->count - at) * sizeof(*h->marks));
	h->marks[at].clock = clock;
	h->marks[at].id = id;
	h->count++;
	l->labels++;
	if (h->count > l->most)
		l->most = h->count;
	return TEL_OK;
}

int
tel__labels_use(const struct tel_labels *l, struct tel_label_use *use)
{
	use->strings += l->count;
	use->bytes += l->bytes;
	use->labels += l->labels;
	use->most += l->most;
	return use->strings < l->max && use->labels < l->max &&
	    use->bytes < l->max * STRING_AVERAGE && use->most < PER_ADDRESS_MAX;
}

size_t
tel__labels_count(const struct tel_labels *l)
{
	return l->labels + l->nframes;
}

/* The name of a frame as a label. */
static int
find_name(const struct tel_labels *l, uint64_t frame, struct tel_label *out)
{
	size_t place;

	if (!tel__labels_find_frame(l, 0, frame, &place))
		return 0;
	const struct tel_frame *f = &l->frames[place];
	out->id = frame;
	out->string = f->name;
	out->length = f->length;
	out->plain = 0;
	return f->name != NULL;
}

int
tel__labels_find(const struct tel_labels *l, enum tel_space space,
    uint64_t address, uint64_t clock, struct tel_label *out)
{
	const struct space *s = &l->spaces[space];
	const uint64_t hash = tel__labels_hash(address);
	size_t n;

	if (space == TEL_SPACE_STACK)
		return find_name(l, address, out);
	if (s->count == 0 || !tel__labels_could_have(l, address))
		return 0;
	struct recent *seen = &l->recent[hash >> (64 - RECENT_BITS)];
	if (seen->address == address && seen->space == space + 1u &&
	    seen->changes == l->changes && clock >= seen->from &&
	    clock <= seen->until) {
		*out = seen->label;
		return 1;
	}
	const struct history *h = find_history(s, address);
	if (h == NULL || (n = marks_until(h, clock)) == 0)
		return 0;
	out->id = h->marks[n - 1].id;
	out->string = NULL;
	out->length = 0;
	out->plain = 0;
	seen->space = space + 1u;
	seen->from = h->marks[n - 1].clock;
	seen->until = n < h->count ? h->marks[n].clock - 1 : UINT64_MAX;
	const struct string *string = model_labels_find_string(l, out->id);
	if (string != NULL) {
		out->string = string->bytes;
		out->length = string->length;
		out->plain = string->plain;
	}
	seen->address = address;
	seen->label = *out;
	seen->changes = l->changes;
	return 1;
}

/*
 * Each process has numbers of its own.  Those of one process never clash, as
 * a multiplication by an odd number is a permutation.
 */
static uint64_t
frame_key(uint64_t process, uint64_t id)
{
	return id ^ process * UINT64_C(0x9e3779b97f4a7c15);
}

tel_status
tel__labels_add_frame(struct tel_labels *l, uint64_t process, uint64_t id,
    const struct tel_frame *frame)
{
	struct tel__entry *e;
	char *name = NULL;
	int fresh;

	if (id == 0 ||
	    tel__table_find(&l->by_frame, frame_key(process, id)) != NULL)
		return TEL_OK;
	if (l->nframes / TEL_FRAMES_PER_LABEL >= l->max)
		return TEL_ELIMIT;
	if (l->guard != NULL)
		l->guard(l->guard_arg, 0);
	if (frame->name != NULL &&
	    (name = tel__copy_string(frame->name, frame->length)) == NULL)
		return TEL_ENOMEM;
	if (!TEL__RESERVE(l->frames, l->frame_room, l->nframes + 1) ||
	    (e = tel__table_put(&l->by_frame, frame_key(process, id),
	         &fresh)) == NULL) {
		free(name);
		return TEL_ENOMEM;
	}
	struct tel_frame *f = &l->frames[l->nframes];
	*f = *frame;
	f->name = name;
	e->value = l->nframes++;
	return TEL_OK;
}

TEL__GETTER(size_t, tel__labels_frames, struct tel_labels, nframes)

int
tel__labels_find_frame(const struct tel_labels *l, uint64_t process,
    uint64_t id, size_t *place)
{
	const struct tel__entry *e = id == 0 ?
	    NULL :
	    tel__table_find(&l->by_frame, frame_key(process, id));

	if (e == NULL)
		return 0;
	*place = (size_t)e->value;
	return 1;
}

const struct tel_frame *
tel__labels_frame(const struct tel_labels *l, size_t place)
{
	return &l->frames[place];
}

tel_status
tel__labels_intern_frame(struct tel_labels *l, struct tel__index *seen,
    const struct tel_frame *frame, uint64_t *id)
{
	const uint64_t hash = tel__hash_bytes(frame->name, frame->length,
	    seen->seed + frame->parent * UINT64_C(0x9e3779b97f4a7c15));
	struct tel__probe at;

	for (uint32_t i = tel__index_first(seen, hash, &at); i != TEL__NOWHERE;
	     i = tel__index_next(seen, &at)) {
		const struct tel_frame *f = tel__labels_frame(l, i);

		if (f->parent == frame->parent && f->length == frame->length &&
		    (f->length == 0 ||
		        memcmp(f->name, frame->name, f->length) == 0)) {
			*id = (uint64_t)i + 1;
			return TEL_OK;
		}
	}
	uint32_t i = (uint32_t)tel__labels_frames(l);
	tel_status st = tel__labels_add_frame(l, 0, (uint64_t)i + 1, frame);
	if (st == TEL_OK && !tel__index_add(seen, hash, i))
		st = TEL_ENOMEM;
	if (st == TEL_OK)
		*id = (uint64_t)i + 1;
	return st;
}
