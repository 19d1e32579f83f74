/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * HTML: the reports of a run as one page, whose script shows them.  The page
 * has the objects that JSON has, and is written when all are known.
 *
 * When there are too many reports, every second one is dropped, and from then
 * on only every second is kept, and so on; the last one always is.
 */
#include "report.h"

#include <stdlib.h>
#include <string.h>
#include "base/buffer.h"
#include "common/message.h"
#include "common/page.h"
#include "tel/printer.h"

/* The most reports of a page, and the most bytes of them. */
#define KEPT 512
#define KEPT_BYTES (64u << 20)

struct report_page {
	tel_output *json;         /* appends to now */
	struct tel__buffer now;   /* the report that is being made */
	struct tel__buffer *kept; /* room for KEPT and the last one */
	size_t nkept, bytes;
	uint64_t stride, number; /* of the report that comes */
};

static ptrdiff_t
report_html_append(void *arg, const void *data, size_t size)
{
	struct tel__buffer *b = arg;

	tel__buffer_put(b, data, size);
	return b->failed ? -1 : (ptrdiff_t)size;
}

static void
page_free(struct report_page *p)
{
	if (p == NULL)
		return;
	for (size_t i = 0; p->kept != NULL && i < p->nkept; i++)
		tel__buffer_clear(&p->kept[i]);
	free(p->kept);
	tel__buffer_clear(&p->now);
	tel_output_free(p->json);
	free(p);
}

static void
report_html_begin(struct report *r)
{
	struct report_page *p = calloc(1, sizeof(*p));

	if (p != NULL) {
		p->stride = 1;
		p->json = tel_output_new_callback(report_html_append, &p->now);
		p->kept = calloc(KEPT + 1, sizeof(*p->kept));
	}
	if (p != NULL && p->json != NULL && p->kept != NULL) {
		r->page = p;
		return;
	}
	page_free(p);
	r->failed = 1;
}

static void
report_html_drop(struct report_page *p, size_t i)
{
	p->bytes -= p->kept[i].used;
	tel__buffer_clear(&p->kept[i]);
	memmove(&p->kept[i], &p->kept[i + 1],
	    (p->nkept - i - 1) * sizeof(p->kept[0]));
	memset(&p->kept[--p->nkept], 0, sizeof(p->kept[0]));
}

/* Makes room: drops the last report, if its number has no place any more. */
static void
report_html_thin(struct report_page *p)
{
	if (p->nkept > 0 && (p->number - 1) % p->stride != 0)
		report_html_drop(p, p->nkept - 1);
	while (p->nkept > 1 && (p->nkept >= KEPT || p->bytes > KEPT_BYTES)) {
		for (size_t i = 1; i < p->nkept; i++)
			report_html_drop(p, i);
		p->stride *= 2;
	}
}

static void
open_report(struct report *r)
{
	struct report_page *p = r->page;

	if (p == NULL)
		return;
	report_html_thin(p);
	put(p->json, "{\"t\":");
	if (r->time_known)
		putf(p->json, "%llu", (unsigned long long)r->time);
	else
		put(p->json, "null");
	put(p->json, ",\"sections\":[");
}

static void
section(struct report *r, const struct report_section *s)
{
	tel_output *out = r->out;

	if (r->page == NULL)
		return;
	r->out = r->page->json;
	report_as_json.section(r, s);
	r->out = out;
}

/* Each object of JSON ends a line, and has no other newline. */
static void
close_report(struct report *r)
{
	struct report_page *p = r->page;
	size_t i;

	if (p == NULL)
		return;
	r->failed |= tel_output_flush(p->json) != TEL_OK;
	for (i = 0; i < p->now.used; i++)
		if (p->now.bytes[i] == '\n')
			p->now.bytes[i] = ',';
	if (i > 0 && p->now.bytes[i - 1] == ',')
		p->now.used--;
	put(p->json, "]}");
	r->failed |= tel_output_flush(p->json) != TEL_OK;
	p->bytes += p->now.used;
	p->kept[p->nkept++] = p->now;
	memset(&p->now, 0, sizeof(p->now));
	p->number++;
}

/* What the page is called: the tool, and what it has read. */
static const char *
title_of(struct report *r)
{
	const char *text = report_text(r, "%s", r->tool->title);

	for (int i = 0; i < r->noperands && strlen(text) < 1024; i++) {
		const char *slash = strrchr(r->operands[i], '/');

		text = report_text(r, "%s%s %.200s", text, i > 0 ? "," : ":",
		    slash != NULL && slash[1] != '\0' ? slash + 1 :
		                                        r->operands[i]);
	}
	return text;
}

static void
report_html_end(struct report *r)
{
	struct report_page *p = r->page;

	if (p == NULL)
		return;
	const char *title = title_of(r);
	put(p->json,
	    "{\"version\":1,\"page\":\"report\",\"generator\":\"teltools ");
	put(p->json, tel_version());
	put(p->json, "\",\"tool\":");
	put_json(p->json, r->tool->title);
	put(p->json, ",\"title\":");
	put_json(p->json, title);
	put(p->json, r->options.raw ? ",\"raw\":true" : "");
	put(p->json, r->options.density ? ",\"density\":true" : "");
	put(p->json, r->options.log ? ",\"log\":true" : "");
	putf(p->json, ",\"each\":%llu,\"reports\":[",
	    (unsigned long long)p->stride);
	for (size_t i = 0; i < p->nkept; i++) {
		put(p->json, i > 0 ? "," : "");
		(void)tel_output_write(p->json, p->kept[i].bytes,
		    p->kept[i].used);
		tel__buffer_clear(&p->kept[i]);
	}
	put(p->json, "]}");
	tel_status st = tel_output_flush(p->json);
	if (st != TEL_OK || r->failed)
		r->failed = 1;
	else if (p->nkept > 0)
		st = tel_page_write(r->out, title, (const char *)p->now.bytes,
		    p->now.used);
	if (st == TEL_EINVAL)
		message_fail(STATUS_FAILED, NULL,
		    "-f html: zlib is needed to compress a page");
	else if (st == TEL_ENOMEM)
		r->failed = 1;
	page_free(p);
	r->page = NULL;
}

const struct report_format report_as_html = { .name = "html",
	.is = REPORT_JSON,
	.begin = report_html_begin,
	.open = open_report,
	.section = section,
	.close = close_report,
	.end = report_html_end };
