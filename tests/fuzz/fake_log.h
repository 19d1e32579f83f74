/* SPDX-License-Identifier: BSD-2-Clause */
/* A log whose events are made on the way, for targets that read no log. */
#ifndef FAKE_LOG_H
#define FAKE_LOG_H

#include <stdlib.h>
#include <string.h>

#include "model/encode.h"
#include "model/clock.h"
#include "model/event.h"
#include "model/history.h"
#include "model/labels.h"

#define EVENT_SIZE 256

struct fake {
	struct tel_schema *schema;
	struct tel_log log;
	struct tel_event event;
	unsigned char data[EVENT_SIZE];
};

static inline void
must(int good)
{
	if (!good)
		abort();
}

static inline void
fake_begin(struct fake *f, const char *schema)
{
	struct tel_labels *l = tel__labels_new(10);

	memset(f, 0, sizeof(*f));
	must(tel_schema_new(schema, &f->schema) == TEL_OK);
	f->log.name = "fake.log";
	f->log.format = "mps";
	f->log.schema = f->schema;
	f->log.labels = l;
	f->log.clock = tel__clock_new();
	must(l != NULL && f->log.clock != NULL);
	tel__clock_set_rate(f->log.clock, 1e9);
	must(tel__labels_intern(l, 1, "heap", 4) == TEL_OK);
	must(tel__labels_add(l, TEL_SPACE_ADDRESS, 0x1000, 0, 1) == TEL_OK);
	must(tel__labels_add(l, TEL_SPACE_POINTER, 0x1002, 0, 1) == TEL_OK);
	f->event.log = &f->log;
	f->event.data = f->data;
}

static inline void
fake_end(struct fake *f)
{
	tel__history_free(f->log.history);
	tel__labels_free(f->log.labels);
	tel__clock_free(f->log.clock);
	tel_schema_free(f->schema);
}

/* Makes an event of a type, different for each seed. */
static inline const tel_event *
fake_event(struct fake *f, const struct tel_type *type, unsigned seed)
{
	const struct tel_field *field;
	unsigned i;

	memset(f->data, 0, sizeof(f->data));
	f->event.type = type;
	f->event.size = EVENT_SIZE;
	f->event.clock = seed * 1000u;
	f->event.index = seed;
	tel__encode_header(f->schema, f->data, type->code, EVENT_SIZE,
	    f->event.clock);
	for (i = 0; i < type->nfields; i++) {
		field = &type->fields[i];
		if (field->datatype == TEL_STRING)
			memcpy(f->data + field->offset, "heap \xff\"", 8);
		else
			tel_encode_field(field,
			    seed % 5 == 0 ? UINT64_MAX - seed :
			                    (uint64_t)0x1000 + seed % 3 + i,
			    f->data);
	}
	return &f->event;
}

#endif
