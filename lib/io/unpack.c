/* SPDX-License-Identifier: BSD-2-Clause */
/* Unpack: from a raw input to its content. */
#include <stdlib.h>

#include "io/source.h"

/* An input of the content of in, which is compressed, and taken over. */
static tel_status
unpack_decode(struct tel_input *in, enum tel_packing packing,
    struct tel_input **out)
{
	size_t read_size = in->read_size;
	int one_thread = in->one_thread;
	struct tel_source source;
	tel_status st = tel__source_codec(in, packing, &source);

	if (st != TEL_OK)
		return st;
	return one_thread ? tel__input_new(source, read_size, out) :
	                    tel__input_ahead(source, read_size, out);
}

void
tel__input_one_thread(struct tel_input *raw)
{
	raw->one_thread = 1;
}

/* All functions that ask for its bytes are led to the members. */
static uint64_t
no_bytes(const void *self)
{
	(void)self;
	return 0;
}

static void
free_nothing(void *self)
{
	(void)self;
}

static const struct tel_source_ops archive_ops = {
	.taken = no_bytes,
	.free = free_nothing,
};

/* Opens the archive in in, which is taken over. */
static tel_status
enter(struct tel_input *in, enum tel_packing packing, struct tel_input **out)
{
	struct tel_input *archive = calloc(1, sizeof(*archive));

	if (archive == NULL) {
		tel__input_free(in);
		return TEL_ENOMEM;
	}
	archive->source.ops = &archive_ops;
	archive->archive = &tel__members_ops;
	tel_status st = tel__members_new(in, packing, &archive->members);
	if (st != TEL_OK)
		tel__input_free(archive);
	else
		*out = archive;
	return st;
}

tel_status
tel__input_unpack(struct tel_input *raw, struct tel_input **out)
{
	enum tel_packing packing;
	struct tel_input *in = raw;

	packing = tel__input_detect(in, TEL_CODECS | TEL_ARCHIVES);
	/* gzip can hold itself without an end */
	for (int n = 1; packing != TEL_PLAIN && packing < TEL_TAR; n++) {
		tel_status st = unpack_decode(in, packing, &in);

		if (st != TEL_OK)
			return st;
		packing = tel__input_detect(in,
		    n < TEL_LAYERS_MAX ? TEL_CODECS | TEL_ARCHIVES :
		                         TEL_ARCHIVES);
	}
	if (packing != TEL_PLAIN)
		return enter(in, packing, out);
	tel__input_limit_layers(in);
	*out = in;
	return TEL_OK;
}
