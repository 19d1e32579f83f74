/* SPDX-License-Identifier: BSD-2-Clause */
/* The file of metadata of a CTF trace: text, packets of it, or JSON. */
#include "format/ctf/class.h"
#include "base/bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PACKET_MAGIC UINT32_C(0x75d11d57)
#define PACKET_HEADER 37u

int
tel__ctf_error(struct ctf_error *e, unsigned line, const char *format, ...)
{
	va_list args;

	if (e->text[0] == '\0') {
		e->line = line;
		va_start(args, format);
		vsnprintf(e->text, sizeof(e->text), format, args);
		va_end(args);
	}
	return 0;
}

struct ctf_class *
tel__ctf_class(struct ctf_metadata *m, enum ctf_kind kind)
{
	struct ctf_class *c = tel__arena_alloc(&m->arena, sizeof(*c));

	if (c != NULL) {
		c->kind = kind;
		c->order = CTF_NATIVE;
		c->align = 1;
		c->base = 10;
		c->encoding = 8;
	}
	return c;
}

struct ctf_class *
tel__ctf_array(struct ctf_metadata *m, const struct ctf_class *element,
    uint64_t length, const struct ctf_path *path)
{
	int is_text = element->kind == CTF_INTEGER && element->is_text &&
	    element->size == 8 && element->align == 8;
	struct ctf_class *c =
	    tel__ctf_class(m, is_text ? CTF_BYTES : CTF_ARRAY);

	if (c != NULL) {
		c->is_text = (uint8_t)is_text;
		c->align = element->align;
		c->element = is_text ? NULL : element;
		c->length = length;
		c->path = *path;
	}
	return c;
}

int
tel__ctf_in_range(const struct ctf_label *list, uint64_t value, int is_signed)
{
	while (list != NULL && !ctf_is_within(&list->range, value, is_signed))
		list = list->next;
	return list != NULL;
}

static int
is_packet(const unsigned char *p, size_t n)
{
	return n >= 4 &&
	    (tel_le32(p) == PACKET_MAGIC || tel_be32(p) == PACKET_MAGIC);
}

int
tel__ctf_is_metadata(const unsigned char *p, size_t n)
{
	static const char *const words[] = { "typealias", "typedef", "trace",
		"struct", "enum", "variant", "clock", "env", "stream", "event",
		"integer" };
	size_t i, length;

	if (is_packet(p, n) || (n >= 2 && p[0] == 0x1e && p[1] == '{'))
		return 1;
	if (n >= 7 && memcmp(p, "/* CTF ", 7) == 0)
		return 1;
	while (n > 0 && *p != '\0' && strchr(" \t\r\n", *p) != NULL) {
		p++;
		n--;
	}
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		length = strlen(words[i]);
		if (n > length && memcmp(p, words[i], length) == 0)
			break;
	}
	if (i == sizeof(words) / sizeof(words[0]))
		return 0;
	/* a word of the language, and what can only come behind such a one */
	for (p += length, n -= length; n > 0; p++, n--)
		if (*p == '{' || memcmp(p, ":=", n < 2 ? 1 : 2) == 0)
			return 1;
		else if (*p == '\0' ||
		    strchr(" \t\r\n_abcdefghijklmnopqrstuv"
		           "wxyz0123456789",
		        *p) == NULL)
			return 0;
	return 0;
}

/*
 * Joins the texts of packets.  Returns the text, which the caller frees, or
 * NULL with *e set.
 */
static char *
join_packets(struct ctf_metadata *m, const unsigned char *p, size_t size,
    size_t *length, struct ctf_error *e)
{
	const unsigned char *const end = p + size;
	char *text = malloc(size + 1);
	size_t content, packet;
	unsigned number = 0;

	*length = 0;
	if (text == NULL)
		tel__ctf_error(e, 0, "out of memory");
	while (text != NULL && p < end) {
		number++;
		if ((size_t)(end - p) < PACKET_HEADER ||
		    !is_packet(p, (size_t)(end - p))) {
			tel__ctf_error(e, number,
			    "invalid packet of metadata, or cut short");
			break;
		}
		m->big = tel_be32(p) == PACKET_MAGIC;
		content = (m->big ? tel_be32(p + 24) : tel_le32(p + 24)) / 8;
		packet = (m->big ? tel_be32(p + 28) : tel_le32(p + 28)) / 8;
		if (content < PACKET_HEADER || packet < content ||
		    packet > (size_t)(end - p)) {
			tel__ctf_error(e, number,
			    "a packet of metadata of %zu bytes, %zu of them "
			    "used, where %zu are left",
			    packet, content, (size_t)(end - p));
			break;
		}
		if (p[32] != 0 || p[33] != 0 || p[34] != 0) {
			tel__ctf_error(e, number,
			    "metadata that are compressed, encrypted or have a "
			    "checksum");
			break;
		}
		memcpy(m->uuid, p + 4, sizeof(m->uuid));
		memcpy(text + *length, p + PACKET_HEADER,
		    content - PACKET_HEADER);
		*length += content - PACKET_HEADER;
		p += packet;
	}
	if (p == end)
		return text;
	free(text);
	return NULL;
}

int
tel__ctf_metadata(struct ctf_metadata *m, const unsigned char *p, size_t size,
    struct ctf_error *e)
{
	const char *text = (const char *)p;
	char *joined = NULL;

	e->text[0] = '\0';
	e->line = 0;
	m->arena.max = CTF_MEMORY_MAX;
	if (is_packet(p, size)) {
		text = joined = join_packets(m, p, size, &size, e);
		if (joined == NULL)
			return 0;
	}
	int good = size > 0 && text[0] == '\x1e' ?
	    tel__ctf_fragments(m, text, size, e) :
	    tel__ctf_tsdl(m, text, size, e);
	free(joined);
	return good;
}

void
tel__ctf_metadata_free(struct ctf_metadata *m)
{
	tel__arena_clear(&m->arena);
	memset(m, 0, sizeof(*m));
}
