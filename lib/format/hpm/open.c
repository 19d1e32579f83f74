/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening an HPM trace: its header, its meta file, how its records lie. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "format/hpm/hpm.h"

/*
 * Bytes looked at to check a layout that is known; what the writer writes at
 * once, so that a trace that still grows is not waited for.
 */
#define KNOWN_SIZE ((size_t)4096)

static const char suffix[] = ".headerFile";
#define SUFFIX (sizeof(suffix) - 1)

/* Whether n bytes at p may be the name of a meta file. */
static int
hpm_open_is_name(const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] < ' ' || p[i] == 0x7f)
			return 0;
	while (n > 0 && p[n - 1] == ' ')
		n--;
	return n >= SUFFIX && memcmp(p + n - SUFFIX, suffix, SUFFIX) == 0;
}

/* Whether this may be the version of some trace, be it not known yet. */
static int
is_version(uint32_t version)
{
	return version >= 1 && version <= 255;
}

int
tel__hpm_probe(struct tel_reader *r)
{
	/* the first bytes show that this is another format */
	tel__reader_fill(r, 4);
	if (r->end - r->p < 4 || !is_version(tel_be32(r->p)))
		return 0;
	tel__reader_fill(r, 24);
	if (r->end - r->p < 8)
		return 0;
	uint32_t length = tel_be32(r->p + 4);
	if (length >= SUFFIX && length <= HPM_STRING_MAX) {
		tel__reader_fill(r, 8 + length);
		if ((size_t)(r->end - r->p) >= 8 + length &&
		    hpm_open_is_name(r->p + 8, length))
			return 100;
	}
	return tel__hpm_is_meta(r->p, (size_t)(r->end - r->p)) ? 90 : 0;
}

/* Steps over the header.  *name and *n: that of the meta file, which stays. */
static tel_status
hpm_open_take_header(struct tel_reader *r, uint32_t *version,
    const unsigned char **name, size_t *n)
{
	uint32_t length = 0;

	tel__reader_fill(r, 24);
	if (tel__hpm_is_meta(r->p, (size_t)(r->end - r->p)))
		return tel__reader_fail(r, TEL_EFORMAT,
		    "a meta file of HPM traces, not a log: name the traces "
		    "instead, and the meta file is found; --as hpm-meta lists "
		    "its names");
	if (r->end - r->p >= 8)
		length = tel_be32(r->p + 4);
	if (length <= HPM_STRING_MAX)
		tel__reader_fill(r, 8 + (size_t)length);
	if (r->end - r->p < 8 || length > HPM_STRING_MAX ||
	    (size_t)(r->end - r->p) < 8 + (size_t)length)
		return tel__reader_fail(r, TEL_EFORMAT,
		    "not an HPM trace: it has no header");
	*version = tel_be32(r->p);
	if (!is_version(*version))
		return tel__reader_fail(r, TEL_EFORMAT,
		    "not an HPM trace: its version is %lu",
		    (unsigned long)*version);
	if (*version > HPM_VERSION_MAX && !r->force)
		return tel__reader_fail(r, TEL_EVERSION,
		    "the trace has version %u; versions up to %u are supported",
		    (unsigned)*version, HPM_VERSION_MAX);
	if (*version > HPM_VERSION_MAX)
		*version = HPM_VERSION_MAX;
	*name = r->p + 8;
	*n = length;
	tel_reader_step(r, 8 + (size_t)length);
	/* it may have to be read again, if the trace is a member */
	r->back = 8 + (size_t)length;
	return TEL_OK;
}

/* Reads the meta file, if there is one that can be used. */
static tel_status
find_meta(struct tel_reader *r, struct hpm *h, uint32_t version,
    const unsigned char *name, size_t n)
{
	struct tel_input *in;

	h->meta.primordial_slot = h->meta.first_slot = -1;
	tel_status st = tel__hpm_meta_open(r, name, n, &in, &h->meta_path);
	if (st != TEL_OK || in == NULL)
		return st;
	st = tel__hpm_meta_read(r, in, h->meta_path, version, &h->meta);
	tel__input_free(in);
	h->meta_found = st == TEL_OK;
	if (st == TEL_OK || st == TEL_ENOMEM || st == TEL_EIO ||
	    tel__reader_sidecar(r, NULL, TEL_FILE_META) != NULL)
		return st;
	/* one that just lies there is no reason not to read the trace */
	h->refused = strdup(r->error);
	return h->refused != NULL ? TEL_OK : TEL_ENOMEM;
}

/*
 * Whether the n bytes at r->p contradict the layout of the meta file, and fit
 * *l.
 */
static int
is_better(const struct tel_reader *r, const struct hpm *h,
    const struct hpm_layout *l, size_t n, int eof)
{
	struct hpm_trial said = tel__hpm_try(&h->layout, r->p, n, eof);
	struct hpm_trial other = tel__hpm_try(l, r->p, n, eof);

	return said.bad && !other.bad && other.counters > 1;
}

/* Decides how the records lie. */
static void
choose_layout(struct tel_reader *r, struct hpm *h, uint32_t version)
{
	struct hpm_layout *l = &h->meta.layout, other;
	size_t most = h->meta_found ? KNOWN_SIZE : TEL_PROBE_SIZE, n;

	/* never more than was asked for, so that the answer is always same */
	tel__reader_fill(r, most);
	n = (size_t)(r->end - r->p);
	int eof = n <= most && r->eof;
	n = n < most ? n : most;
	l->version = version;
	l->mids = version > 1;
	if (!h->meta_found)
		tel__hpm_guess(l, r->p, n, eof);
	h->layout = other = *l;
	h->promised = l->counters;
	if (h->meta_found) {
		/* version 2 had no methods in its first two weeks */
		other.mids = 0;
		if (version != 2 || !is_better(r, h, &other, n, eof)) {
			other = *l;
			tel__hpm_guess(&other, r->p, n, eof);
		}
		if (is_better(r, h, &other, n, eof))
			h->layout = *l = other;
	}
	h->size = hpm_counter_size(l);
	struct hpm_trial trial = tel__hpm_try(l, r->p, n, eof);
	h->cpu = trial.cpu;
	/* records before the first counter have its time */
	h->one.clock = trial.start;
}

/* The traces of a run have one meta file, which may still grow. */
static void
say_run(struct tel_reader *r, const struct hpm *h)
{
	const char *log = r->log.name, *slash = strrchr(log, '/');
	uint64_t place = TEL__FNV;

	if (tel__reader_sidecar(r, NULL, TEL_FILE_META) == NULL &&
	    slash != NULL)
		place = tel__fnv(place, log, (size_t)(slash + 1 - log));
	r->log.run = h->meta.digest;
	r->log.run_place = tel__fnv(place, h->meta_path, strlen(h->meta_path));
}

/* The counter of cycles, from 1; 0: none has the name of one. */
static unsigned
find_cycles(const struct hpm_meta *meta)
{
	for (unsigned i = 1; i <= meta->layout.counters; i++)
		if (strcmp(meta->events[i], "PM_CYC") == 0 ||
		    strcmp(meta->events[i], "PAPI_TOT_CYC") == 0)
			return i;
	return 0;
}

tel_status
tel__hpm_open(struct tel_reader *r)
{
	struct hpm *h = r->state;
	const unsigned char *name = NULL;
	uint32_t version = 0;
	size_t n = 0;

	tel_status st = hpm_open_take_header(r, &version, &name, &n);
	if (st == TEL_OK) {
		memcpy(h->header, r->p - r->back, r->back);
		r->log.preamble = h->header;
		r->log.preamble_size = r->back;
		r->log.records = 1;
		st = find_meta(r, h, version, name, n);
	}
	if (st != TEL_OK)
		return st;
	choose_layout(r, h, version);
	if (h->meta_found)
		say_run(r, h);
	h->speeds.counter = find_cycles(&h->meta);
	struct tel_schema *schema = tel__hpm_schema_make(&h->meta);
	if (schema == NULL || tel__reader_adopt(r, schema) != TEL_OK)
		return TEL_ENOMEM;
	return TEL_OK;
}

/* Reports the meta file, or its absence. */
static void
report_meta(struct tel_reader *r, const struct hpm *h)
{
	const struct hpm_meta *m = &h->meta;

	if (h->meta_found)
		tel__reader_notice(r, TEL_INFO, 0,
		    "the meta file is %s: %s, %u counters, mode %d",
		    h->meta_path,
		    m->processor[0] != '\0' ? m->processor :
		                              "no processor name",
		    h->promised, (int)m->mode);
	else if (h->refused != NULL)
		tel__reader_notice(r, TEL_WARNING, 0,
		    "%s; ignored, and the trace is read with %u unnamed "
		    "counters",
		    h->refused, h->layout.counters);
	else
		tel__reader_notice(r, TEL_WARNING, 0,
		    "its meta file %s was not found; the trace is read with %u "
		    "unnamed counters",
		    h->meta_path, h->layout.counters);
	if (h->promised != h->layout.counters)
		tel__reader_notice(r, TEL_WARNING, 0,
		    "%s has %u counters, but the records have %u", h->meta_path,
		    h->promised, h->layout.counters);
	if (m->limited)
		tel__reader_notice(r, TEL_WARNING, 0,
		    "too many names in %s: those beyond %zu are ignored",
		    h->meta_path, r->max_labels);
	if (h->layout.version > 1 && !h->layout.mids)
		tel__reader_notice(r, TEL_INFO, 0,
		    "the records have no methods: they are of a version before "
		    "2.3.0");
}

tel_status
tel__hpm_report(struct tel_reader *r, struct hpm *h)
{
	h->reported = 1;
	r->back = 0;
	report_meta(r, h);
	if (!h->meta.damaged)
		return TEL_OK;
	return tel__reader_damage(r, 0, 0,
	    "%s is invalid from offset %llu on; names may be missing",
	    h->meta_path, (unsigned long long)h->meta.damaged_at);
}
