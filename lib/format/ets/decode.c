/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records whose fields are not what an event can refer to in place: the
 * strings of Event Tracing for Windows, addresses, GUIDs, signed bytes.
 */
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "format/ets/ets.h"

/* A record while it is laid out anew. */
struct layout {
	const unsigned char *p; /* unread bytes of it */
	size_t n;
	unsigned char *data;
	size_t used; /* of data: behind the fields, and the strings so far */
};

static void
ets_decode_put(struct layout *l, const void *bytes, size_t n)
{
	memcpy(l->data + l->used, bytes, n);
	l->used += n;
}

/* n bytes of UTF-16; half of a pair becomes U+FFFD. */
static void
put_wide(struct layout *l, const unsigned char *p, size_t n)
{
	unsigned char *q = l->data + l->used;
	uint32_t c, low;

	for (; n >= 2; p += 2, n -= 2) {
		c = tel_le16(p);
		if (c >> 10 == 0x36 && n >= 4 &&
		    (low = tel_le16(p + 2)) >> 10 == 0x37) {
			c = tel__utf16_pair(c, low);
			p += 2;
			n -= 2;
		} else if (c >> 11 == 0x1b) {
			c = 0xfffd;
		}
		q = tel__utf8_put(q, c);
	}
	l->used = (size_t)(q - l->data);
}

/* Bytes up to the unit of zeros, of width bytes; all where there is none. */
static size_t
ets_decode_length_of(const struct layout *l, size_t width)
{
	size_t i;

	for (i = 0; i + width <= l->n; i += width)
		if (l->p[i] == 0 && (width == 1 || l->p[i + 1] == 0))
			break;
	return i;
}

/* A string.  Returns the bytes that it takes in the record. */
static size_t
ets_decode_put_string(struct layout *l, enum tmf_shape shape)
{
	const unsigned char *p = l->p;
	int wide = shape == TMF_WIDE || shape == TMF_COUNTED_WIDE;
	size_t n, before = 0, taken;

	if (shape == TMF_COUNTED || shape == TMF_COUNTED_WIDE) {
		before = 2;
		n = tel_le16(p);
		if (n > l->n - 2)
			n = l->n - 2;
		taken = n;
	} else {
		n = ets_decode_length_of(l, wide ? 2 : 1);
		taken = n + (wide ? 2 : 1);
	}
	if (wide)
		put_wide(l, p + before, n);
	else
		ets_decode_put(l, p + before, n);
	taken += before;
	return taken < l->n ? taken : l->n;
}

static void
put_guid(struct layout *l, const unsigned char *p)
{
	char text[40];

	snprintf(text, sizeof(text),
	    "%08lx-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x",
	    (unsigned long)tel_le32(p), tel_le16(p + 4), tel_le16(p + 6), p[8],
	    p[9], p[10], p[11], p[12], p[13], p[14], p[15]);
	ets_decode_put(l, text, strlen(text));
}

static void
put_ip(struct layout *l, const unsigned char *p)
{
	char text[16];

	snprintf(text, sizeof(text), "%u.%u.%u.%u", p[0], p[1], p[2], p[3]);
	ets_decode_put(l, text, strlen(text));
}

/* The value of a number at p as 64 bits. */
static uint64_t
ets_decode_number(const struct tmf_item *item, const unsigned char *p)
{
	struct tel_field f = { 0 };

	if (item->shape == TMF_CHAR)
		return (uint64_t)(int8_t)p[0];
	f.load = (enum tel_load)item->load;
	return tel_load(&f, p);
}

uint32_t
tel__ets_decode(struct ets *h, const struct ets_type *t, const unsigned char *p,
    size_t size)
{
	struct layout l = { p + ETS_AT_ARGS, size - ETS_AT_ARGS, h->data,
		t->type->size };
	unsigned char *at = h->data + ETS_AT_ARGS;

	memset(h->data, 0, t->type->size);
	memcpy(h->data, p, ETS_AT_ARGS);
	for (unsigned i = 0; i < t->block->nfields; i++) {
		const struct tmf_item *item = t->block->fields[i].item;
		size_t taken = item->size;

		if (l.n < taken)
			return 0;
		switch (item->shape) {
		case TMF_PLAIN:
		case TMF_CHAR:
			tel_store_le64(at, ets_decode_number(item, l.p));
			break;
		case TMF_PADDING: break;
		default:
			tel_store(at, l.used, 4, 0);
			if (item->shape == TMF_GUID)
				put_guid(&l, l.p);
			else if (item->shape == TMF_IP)
				put_ip(&l, l.p);
			else
				taken = ets_decode_put_string(&l, item->shape);
			h->data[l.used++] = 0;
		}
		if (item->shape != TMF_PADDING)
			at += 8;
		l.p += taken;
		l.n -= taken;
	}
	return (uint32_t)l.used;
}
