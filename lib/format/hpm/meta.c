/* SPDX-License-Identifier: BSD-2-Clause */
/* Meta files of HPM traces: tel-hpm(5), "The meta file". */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "format/hpm/hpm.h"

enum { PROCESSOR = 1, EVENT = 2, THREAD = 3, METHOD = 4 };

/* A meta file that is being read. */
struct file {
	struct tel_reader *reader;
	struct tel_input *in;
	struct hpm_meta *meta;
	const unsigned char *p; /* the record that is looked at */
	size_t avail;
	size_t size; /* of it, as far as it was looked at */
	tel_status status;
};

/* The header's length; its byte order goes to *big.  0: invalid. */
static size_t
look_header(const unsigned char *p, size_t n, int *big, uint32_t *values)
{
	if (n < 12)
		return 0;
	uint32_t version = tel_be32(p);
	*big = 1;
	*values = tel_be32(p + 4);
	if (version == 1 || version == 2)
		return *values <= HPM_COUNTERS_MAX ? 12 : 0;
	if (version != 3 || n < 16)
		return 0;
	uint32_t flag = tel_be32(p + 4);
	*big = flag == 0;
	*values = hpm_load32(p + 8, *big);
	return flag <= 1 && *values >= 1 && *values <= HPM_COUNTERS_MAX + 1 ?
	    16 :
	    0;
}

int
tel__hpm_is_meta(const unsigned char *p, size_t n)
{
	uint32_t values, type;
	int big;
	size_t size = look_header(p, n, &big, &values);

	if (size == 0)
		return 0;
	if (n < size + 8)
		return n == size;
	type = hpm_load32(p + size, big);
	/* a name is not long; the numbers of events and threads are any */
	return (type == PROCESSOR &&
	           hpm_load32(p + size + 4, big) <= HPM_NAME_MAX) ||
	    (type == EVENT &&
	        hpm_load32(p + size + 4, big) <= HPM_COUNTERS_MAX) ||
	    type == THREAD || type == METHOD;
}

/* Makes n bytes of the record available at f->p.  0: there are fewer. */
static int
meta_need(struct file *f, size_t n)
{
	if (f->avail >= n)
		return 1;
	tel_status st = tel__input_peek(f->in, n, &f->p, &f->avail);
	if (st != TEL_OK)
		f->status = st;
	return f->avail >= n;
}

/* Steps over n bytes that were looked at, and takes them into the digest. */
static void
consume(struct file *f, size_t n)
{
	f->meta->digest = tel__fnv(f->meta->digest, f->p, n);
	tel__input_consume(f->in, n);
}

/* The next word of the record.  0: the file ends. */
static int
take_word(struct file *f, uint32_t *word)
{
	if (!meta_need(f, f->size + 4))
		return 0;
	*word = hpm_load32(f->p + f->size, f->meta->layout.big);
	f->size += 4;
	return 1;
}

/*
 * The next string of the record: *at is where in it.  0: the file ends, or the
 * string's length is invalid.
 */
static int
take_string(struct file *f, size_t *at, uint32_t *length)
{
	if (!take_word(f, length) || *length > HPM_NAME_MAX ||
	    !meta_need(f, f->size + *length))
		return 0;
	*at = f->size;
	f->size += *length;
	return 1;
}

/* Interns a name and gives it to value. */
static tel_status
meta_add_label(struct file *f, enum tel_space space, uint64_t value,
    const char *name, size_t n)
{
	struct tel_labels *labels = f->reader->log.labels;
	uint64_t id = (uint64_t)space << 32 | (uint32_t)value;
	tel_status st = tel__labels_intern(labels, id, name, n);

	if (st == TEL_OK)
		st = tel__labels_add(labels, space, value, 0, id);
	if (st == TEL_ELIMIT) {
		f->meta->limited = 1;
		return TEL_OK;
	}
	return st;
}

/* The name of an event: blanks around it fill it up. */
static void
meta_add_event(struct file *f, uint32_t number, const unsigned char *s,
    size_t n)
{
	if (number > f->meta->layout.counters)
		return;
	while (n > 0 && s[n - 1] <= ' ')
		n--;
	while (n > 0 && *s <= ' ') {
		s++;
		n--;
	}
	if (n > HPM_EVENT_NAME_MAX)
		n = HPM_EVENT_NAME_MAX;
	char *name = f->meta->events[number];
	memcpy(name, s, n);
	name[n] = '\0';
}

/* Threads are known by their classes: "class com.ibm.JikesRVM.MainThread". */
static tel_status
add_thread(struct file *f, int32_t tid, int32_t slot, const unsigned char *s,
    size_t n)
{
	if (tid == -1)
		f->meta->primordial_slot = slot;
	else if (tid == 1)
		f->meta->first_slot = slot;
	if (n > 6 && memcmp(s, "class ", 6) == 0) {
		s += 6;
		n -= 6;
	}
	return meta_add_label(f, TEL_SPACE_THREAD, (uint64_t)(int64_t)tid,
	    (const char *)s, n);
}

/* Reads the rest of a method: its class, its name, its descriptor. */
static int
take_method(struct file *f, tel_status *st)
{
	char name[3 * HPM_NAME_MAX + 1];
	uint32_t mid, length[3];
	size_t at[3], n = 0, i;

	if (!take_word(f, &mid))
		return 0;
	for (i = 0; i < 3; i++)
		if (!take_string(f, &at[i], &length[i]))
			return 0;
	for (i = 0; i < 3; i++) {
		memcpy(name + n, f->p + at[i], length[i]);
		n += length[i];
		if (i == 0)
			name[n++] = '.';
	}
	*st = meta_add_label(f, TEL_SPACE_METHOD, (uint64_t)(int32_t)mid, name,
	    n);
	return 1;
}

/*
 * Reads the record at f->p.  0: the record is not complete.  The order of
 * records is not specified, and a later one of a key wins.
 */
static int
meta_take_record(struct file *f, tel_status *st)
{
	uint32_t type, a, b, length;
	size_t at;

	*st = TEL_OK;
	if (!take_word(f, &type))
		return 0;
	switch (type) {
	case PROCESSOR:
		if (!take_string(f, &at, &length))
			return 0;
		snprintf(f->meta->processor, sizeof(f->meta->processor), "%.*s",
		    (int)length, (const char *)f->p + at);
		return 1;
	case EVENT:
	case THREAD:
		if (!take_word(f, &a) || !take_word(f, &b) ||
		    !take_string(f, &at, &length))
			return 0;
		if (type == EVENT)
			meta_add_event(f, a, f->p + at, length);
		else
			*st = add_thread(f, (int32_t)a, (int32_t)b, f->p + at,
			    length);
		return 1;
	case METHOD: return take_method(f, st);
	default: return 0;
	}
}

/* Reads the header and checks that it goes with traces of that version. */
static tel_status
take_header(struct file *f, const char *path, uint32_t version)
{
	struct tel_reader *r = f->reader;
	struct hpm_layout *l = &f->meta->layout;
	uint32_t values, found;

	meta_need(f, 16);
	size_t size = look_header(f->p, f->avail, &l->big, &values);
	if (f->status < 0 && f->status != TEL_EDAMAGED)
		return tel__reader_fail(r, f->status, "%s: %s", path,
		    tel__input_error(f->in));
	if (size == 0)
		return tel__reader_fail(r, TEL_EFORMAT,
		    "%s: not the meta file of an HPM trace", path);
	found = tel_be32(f->p);
	if (found != version)
		return tel__reader_fail(r, TEL_EFORMAT,
		    "%s: a meta file of version %u, but the trace has version "
		    "%u",
		    path, (unsigned)found, (unsigned)version);
	l->version = version;
	l->mids = version > 1;
	/* from version 3 on the time counts as one of the values */
	l->counters = version == 3 ? values - 1 : values;
	f->meta->mode = (int32_t)hpm_load32(f->p + size - 4, l->big);
	consume(f, size);
	return TEL_OK;
}

/* Reads the records until the file ends or one is invalid. */
static tel_status
meta_take_records(struct file *f, const char *path)
{
	struct tel_reader *r = f->reader;
	tel_status st;

	for (;;) {
		f->size = f->avail = 0;
		if (!meta_need(f, 1) && f->status == TEL_OK)
			return TEL_OK;
		if (!meta_take_record(f, &st))
			break;
		if (st != TEL_OK)
			return tel__reader_fail(r, st, "out of memory");
		consume(f, f->size);
	}
	if (f->status == TEL_EIO || f->status == TEL_ENOMEM)
		return tel__reader_fail(r, f->status, "%s: %s", path,
		    tel__input_error(f->in));
	f->meta->damaged = 1;
	f->meta->damaged_at = tel__input_offset(f->in);
	return TEL_OK;
}

tel_status
tel__hpm_meta_read(struct tel_reader *r, struct tel_input *in, const char *path,
    uint32_t version, struct hpm_meta *meta)
{
	struct file f = { .reader = r, .in = in, .meta = meta };

	memset(meta, 0, sizeof(*meta));
	meta->primordial_slot = meta->first_slot = -1;
	meta->digest = TEL__FNV;
	tel_status st = take_header(&f, path, version);
	if (st == TEL_OK) {
		f.avail = 0;
		st = meta_take_records(&f, path);
	}
	return st;
}
