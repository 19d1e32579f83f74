/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the report of a log of allocations answers at once: live bytes, the
 * peak, how long blocks lived, and which stacks allocated most.
 */
#include "show.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/function.h"
#include "common/page.h"
#include "common/report/lifetimes.h"
#include "model/live.h"

/* Stacks in the report, and frames of each. */
#define STACKS_SHOWN 5
#define FRAMES_SHOWN 3
#define POOLS_SHOWN 5
/* Columns of a report of one screen. */
#define WIDTH 80

int
answers_asked(const struct telstat *t)
{
	return !t->given && t->groups == NULL && t->stacks == NULL &&
	    t->interval == 0 && !t->types && !t->as_inst;
}

int
answers_wanted(const struct telstat *t)
{
	return answers_asked(t) &&
	    (t->format->report == &report_as_text ||
	        t->format->report == &report_as_json ||
	        t->format->report == &report_as_html);
}

int
answers_have_blocks(const tel_schema *schema)
{
	unsigned i, n = schema == NULL ? 0 : tel_schema_type_count(schema);

	/* they may come later */
	if (schema != NULL && schema->grows)
		return 1;
	for (i = 0; i < n; i++) {
		const tel_type *t = tel_schema_type(schema, i);

		if (strcmp(tel_type_role(t), "alloc") == 0 &&
		    tel_type_role_field(t, "pool") < 0 &&
		    tel_type_role_field(t, "buffer") < 0)
			return 1;
	}
	return 0;
}

int
answers_begin(struct telstat *t, const tel_schema *schema)
{
	return runtime_begin(t, schema) &&
	    (!t->answers || t->heap != NULL || !answers_have_blocks(schema) ||
	        telstat_add_heap(t, 0));
}

/* What a log of the schema and rate adds.  1, or 0 after a message. */
static int
answers_look_into(struct telstat *t, const tel_schema *schema, double rate)
{
	t->sets_rate |= schema->sets_clock && rate <= 0;
	return answers_begin(t, schema);
}

/*
 * What logs add that come after the first one of an archive or of a .tel file.
 * Most of their events are only counted, or left out by the index.
 */
static void
answers_look_on(struct telstat *t, tel_reader *r)
{
	const tel_schema *schema = NULL;
	uint64_t events = 0;
	tel_run *run = NULL;
	tel_status st = TEL_OK;

	tel_reader_set_range(r, UINT64_MAX, 0);
	tel_reader_set_total(r, &events);
	while ((st == TEL_OK || st == TEL_LOG) &&
	    (t->heap == NULL || t->runtime == NULL || !t->sets_rate)) {
		st = tel_reader_run(r, SIZE_MAX, &run);
		/* all events of a member may only be counted */
		if (st == TEL_LOG &&
		    !answers_look_into(t, tel_reader_schema(r),
		        tel_reader_tick_rate(r)))
			return;
		if (st != TEL_OK)
			continue;
		const tel_event *ev = tel_run_event(run, 0);
		if (ev->type->schema == schema)
			continue;
		schema = ev->type->schema;
		if (!answers_look_into(t, schema, tel_event_tick_rate(ev)))
			return;
	}
}

/* What the logs of an operand add, unless it is a pipe. */
static void
answers_look_at(struct telstat *t, const char *name)
{
	const int input = strcmp(name, "-") == 0;
	struct stat st;
	int fd = -1;

	if ((input ? fstat(STDIN_FILENO, &st) : stat(name, &st)) != 0)
		return;
	const int folder = S_ISDIR(st.st_mode) && !input;
	if (!S_ISREG(st.st_mode) && !folder)
		return;
	tel_reader *r = tel_reader_new();
	if (r != NULL)
		fd = input ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
	/* of standard input some was read */
	const int64_t start =
	    input ? lseek(fd, 0, SEEK_CUR) - (int64_t)t->settings.nahead : 0;
	if (fd >= 0 &&
	    (folder ? tel_reader_open_fd(r, fd, name) :
	              tel_reader_open_part(r, fd, start, st.st_size - start,
	                  name)) == TEL_OK &&
	    answers_look_into(t, tel_reader_schema(r),
	        tel_reader_tick_rate(r)) &&
	    (tel_reader_archive(r) || strcmp(tel_reader_format(r), "tel") == 0))
		answers_look_on(t, r);
	tel_reader_free(r);
	if (fd >= 0 && !input)
		(void)close(fd);
}

void
answers_look(struct telstat *t)
{
	/* any of them may have blocks, whatever their order */
	for (int i = 0;
	     (t->answers || t->heap != NULL) && i < t->settings.noperands; i++)
		answers_look_at(t, t->settings.operands[i]);
}

int
answers_some(const struct show *show)
{
	return show->options->answers && show->options->heap != NULL &&
	    tel_heap_count(show->options->heap) > 0;
}

/* A number of blocks and their bytes. */
static void
answers_put_blocks(struct report *r, const struct show *show, const char *what,
    tel_int128 blocks, tel_int128 bytes, const char *when)
{
	const int raw = show->options->raw;
	char a[FORMAT_TEXT], b[FORMAT_TEXT], size[FORMAT_TEXT];

	(void)format_size(tel_int128_double(bytes), size);
	if (raw)
		size[0] = '\0';
	report_line(r, what, "  %10s blocks  %15s bytes%s%s%s",
	    format_count(blocks, raw, a), format_count(bytes, raw, b),
	    size[0] != '\0' ? "  " : "", size, when);
}

/* A time of the heap for people. */
static const char *
answers_heap_time(const struct show *show, uint64_t v, char *text)
{
	const char *unit = tel_heap_ticks(show->options->heap) ? "ticks" : "ns";
	const int raw = show->options->raw;
	char figure[FORMAT_TEXT];

	(void)format_value(int128_u64(v), unit, raw, figure);
	(void)snprintf(text, 2 * FORMAT_TEXT, "%s%s%s", figure, raw ? " " : "",
	    raw ? unit : "");
	return text;
}

static void
answers_put_lifetimes(struct report *r, const struct show *show)
{
	const tel_heap *heap = show->options->heap;
	uint64_t times[REPORT_LIFETIMES], step;

	if (!tel_heap_resolution(heap, &step))
		step = 0;
	for (size_t i = 0; i < REPORT_LIFETIMES; i++)
		if (!tel_heap_lifetime_of_all(heap, report_lifetimes[i].share,
		        &times[i]))
			return;
	/* a log without times has no lifetimes */
	if (step > 0 || times[REPORT_LIFETIMES - 1] > 0)
		report_line(r, "lifetimes", "  %s",
		    report_lifetimes_text(r, times, step,
		        tel_heap_ticks(heap) ? "ticks" : "ns",
		        show->options->raw));
}

int
answers_samples(const tel_stats *stats)
{
	tel_int128 n;

	return tel_stats_total(stats, TEL_TOTAL_SAMPLES, &n);
}

/* What the heap knows of all blocks. */
static void
put_heap(struct report *r, const struct show *show, const tel_heap_stack *all)
{
	const tel_heap *heap = show->options->heap;
	const int raw = show->options->raw;
	char text[2 * FORMAT_TEXT], a[FORMAT_TEXT];
	const double share = all->allocations > 0 ?
	    (double)all->temporary / (double)all->allocations * 100 :
	    0;
	uint64_t at;

	if (!tel_heap_peak_time(heap, &at))
		at = 0;
	if (all->peak_bytes > 0)
		answers_put_blocks(r, show, "peak",
		    int128_u64(all->peak_blocks), int128_u64(all->peak_bytes),
		    at == 0 ? "" :
		              report_text(r, "  at %s",
		                  answers_heap_time(show, at, text)));
	answers_put_lifetimes(r, show);
	if (!answers_samples(show->stats))
		report_line(r, "temporary",
		    "  %10s blocks, %.1f%%, freed before the thread "
		    "allocated again",
		    format_count(int128_u64(all->temporary), raw, a), share);
	report_line(r, "threads", "  %10s allocated",
	    format_count(int128_u64(tel_heap_threads(heap)), raw, a));
}

/* What was allocated and freed, where the log records it. */
static void
answers_put_memory(struct report *r, const struct show *show)
{
	static const struct {
		const char *name;
		tel_total blocks, bytes;
		const char *how;
	} rows[] = { { "allocated", TEL_TOTAL_ALLOCS, TEL_TOTAL_ALLOC_BYTES,
		         "" },
		{ "freed", TEL_TOTAL_FREES, TEL_TOTAL_FREE_BYTES, "" },
		{ "ended", TEL_TOTAL_ENDED, TEL_TOTAL_ENDED_BYTES,
		    "  without a free" },
		{ "live", TEL_TOTAL_LIVE, TEL_TOTAL_LIVE_BYTES, "" } };
	struct report_section *s = report_section(r, REPORT_TEXT, "");
	const int raw = show->options->raw;
	tel_heap_stack all;
	char blocks[FORMAT_TEXT];
	tel_int128 n, b;

	s->apart = 1;
	s->label_width = 9;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!tel_stats_total(show->stats, rows[i].blocks, &n) ||
		    !tel_stats_total(show->stats, rows[i].bytes, &b))
			continue;
		answers_put_blocks(r, show, rows[i].name, n, b, rows[i].how);
	}
	if (tel_stats_total(show->stats, TEL_TOTAL_SAMPLES, &n))
		report_line(r, "samples",
		    "  %10s allocations, from which these are estimated",
		    format_count(n, raw, blocks));
	if (tel_stats_total(show->stats, TEL_TOTAL_STRAYS, &n))
		report_line(r, "unknown",
		    "  %10s blocks freed, but not allocated in the log",
		    format_count(n, raw, blocks));
	if (tel_stats_total(show->stats, TEL_TOTAL_INHERITED, &n))
		report_line(r, "inherited",
		    "  %10s blocks of a parent process freed",
		    format_count(n, raw, blocks));
	if (answers_some(show)) {
		tel_heap_total(show->options->heap, &all);
		put_heap(r, show, &all);
	}
	if (s->lines != NULL)
		report_put(r);
}

/* The same for programs. */
static void
answers_put_data(struct report *r, const struct show *show)
{
	const tel_heap *heap = show->options->heap;
	tel_heap_stack all;
	uint64_t v;

	tel_heap_total(heap, &all);
	(void)report_section(r, REPORT_JSON, "memory");
	report_data(r, "peak_blocks", report_count(all.peak_blocks));
	report_data(r, "peak_bytes", report_count(all.peak_bytes));
	if (tel_heap_peak_time(heap, &v))
		report_data(r, tel_heap_ticks(heap) ? "peak_ticks" : "peak_ns",
		    report_count(v));
	for (size_t i = 0; i < REPORT_LIFETIMES; i++)
		if (tel_heap_lifetime_of_all(heap, report_lifetimes[i].share,
		        &v))
			report_data(r, report_lifetimes[i].name,
			    report_count(v));
	if (tel_heap_resolution(heap, &v))
		report_data(r,
		    tel_heap_ticks(heap) ? "resolution_ticks" : "resolution_ns",
		    report_count(v));
	if (!answers_samples(show->stats))
		report_data(r, "temporary_blocks", report_count(all.temporary));
	report_data(r, "threads", report_count(tel_heap_threads(heap)));
	report_put(r);
}

/* Where the innermost of n bytes of frames starts. */
static size_t
frame_start(const char *frames, size_t n)
{
	while (n > 0 && frames[n - 1] != ';')
		n--;
	return n;
}

const char *
answers_frames(struct report *r, const char *frames, unsigned column)
{
	size_t end = strlen(frames), start, n;
	const char *text = "";

	for (unsigned i = 0; i < FRAMES_SHOWN && end > 0; i++) {
		start = frame_start(frames, end);
		char *name = strndup(frames + start, end - start);
		if (name == NULL) {
			r->failed = 1;
			break;
		}
		n = tel__function_shorten(name, end - start, name, end - start);
		text = report_text(r, "%s%s%.*s", text, i > 0 ? " < " : "",
		    (int)n, name);
		free(name);
		end = start > 0 ? start - 1 : 0;
	}
	n = strlen(text);
	if (column + n <= WIDTH)
		return text;
	/* not inside of a character */
	for (n = WIDTH - column - 3; (text[n] & 0xc0) == 0x80; n--)
		continue;
	return report_text(r, "%.*s...", (int)n, text);
}

/* Small pools and stacks have sizes, too. */
static const char *
answers_size(struct report *r, const struct show *show, tel_int128 bytes)
{
	char text[FORMAT_TEXT];

	if (show->options->raw ||
	    format_size(tel_int128_double(bytes), text)[0] == '\0')
		(void)format_count(bytes, show->options->raw, text);
	return report_text(r, "%s", text);
}

/* The largest stacks, a line each. */
static void
answers_put_stacks(struct report *r, const struct show *show)
{
	tel_heap *heap = show->options->heap;
	const size_t n = tel_heap_count(heap);
	char count[FORMAT_TEXT];
	tel_heap_stack s;
	size_t i;

	if (tel_heap_sort(heap, TEL_HEAP_PEAK) != TEL_OK) {
		r->failed = 1;
		return;
	}
	report_section(r, REPORT_TEXT, "")->apart = 1;
	report_line(r, "", "%10s  %10s  %11s  stack (%s; see --stacks)", "peak",
	    "leaked", "allocations",
	    report_part(r, n < STACKS_SHOWN ? n : STACKS_SHOWN, n));
	for (i = 0; i < STACKS_SHOWN && tel_heap_stack_at(heap, i, &s); i++) {
		const char *frames = tel_heap_holder(heap, i);

		if (frames == NULL) {
			r->failed = 1;
			return;
		}
		report_line(r, "", "%10s  %10s  %11s  %s",
		    answers_size(r, show, int128_u64(s.peak_bytes)),
		    answers_size(r, show, int128_u64(s.leaked_bytes)),
		    format_count(int128_u64(s.allocations), show->options->raw,
		        count),
		    answers_frames(r, frames, 37));
	}
	report_put(r);
}

/* ---------------------------------------------------------------- pools */

/* The pool that comes after one: smaller, or as large and later. */
static int
next_pool(const struct show *show, size_t *at, tel_pool_use *out)
{
	tel_pool_use last = { .peak_bytes = UINT64_MAX }, p;
	size_t i, best = SIZE_MAX;

	if (*at != SIZE_MAX)
		(void)tel_stats_pool(show->stats, *at, &last);
	for (i = 0; tel_stats_pool(show->stats, i, &p); i++)
		if (p.allocations > 0 &&
		    (p.peak_bytes < last.peak_bytes ||
		        (p.peak_bytes == last.peak_bytes &&
		            (*at == SIZE_MAX || i > *at))) &&
		    (best == SIZE_MAX || p.peak_bytes > out->peak_bytes)) {
			best = i;
			*out = p;
		}
	*at = best;
	return best != SIZE_MAX;
}

int
answers_pools(const struct show *show)
{
	size_t at = SIZE_MAX;
	tel_pool_use p;

	return show->options->answers && next_pool(show, &at, &p);
}

/* As it is called in the log: by what created it, its label or its address. */
static const char *
pool_name(struct report *r, const tel_pool_use *p)
{
	const char *kind =
	    p->kind[0] != '\0' ? report_text(r, "%s ", p->kind) : "";

	if (p->address == 0)
		return "others";
	return p->label[0] != '\0' ?
	    report_text(r, "%s%s", kind, p->label) :
	    report_text(r, "%s0x%" PRIx64, kind, p->address);
}

static void
put_pool(struct report *r, const struct show *show, const tel_pool_use *p)
{
	char count[FORMAT_TEXT], name[1024];

	/* a label may have more lines, which a line of a report would show */
	report_line(r, "", "%10s  %10s  %10s  %11s  %s",
	    answers_size(r, show, int128_u64(p->peak_bytes)),
	    answers_size(r, show, int128_u64(p->live_bytes)),
	    answers_size(r, show, p->allocated_bytes),
	    format_count(int128_u64(p->allocations), show->options->raw, count),
	    page_escape(name, sizeof(name) - 1, pool_name(r, p)));
}

/* The pools with the largest peaks; data has all of them. */
static void
put_pools(struct report *r, const struct show *show)
{
	const int text = report_is(r, REPORT_TEXT);
	size_t i, at = SIZE_MAX, n = 0, shown = POOLS_SHOWN;
	tel_pool_use p;

	for (i = 0; tel_stats_pool(show->stats, i, &p); i++)
		n += p.allocations > 0;
	if (show->options->top != 0)
		shown = (size_t)show->options->top;
	if (text) {
		report_section(r, REPORT_TEXT, "")->apart = 1;
		report_line(r, "",
		    "%10s  %10s  %10s  %11s  pool (%s; see --stacks)", "peak",
		    "live", "allocated", "allocations",
		    report_part(r, n < shown ? n : shown, n));
		for (i = 0; i < shown && next_pool(show, &at, &p); i++)
			put_pool(r, show, &p);
		report_put(r);
		return;
	}
	for (i = 0; tel_stats_pool(show->stats, i, &p); i++) {
		if (p.allocations == 0)
			continue;
		const struct report_figure item = { "name",
			report_string(pool_name(r, &p)) };
		const struct report_figure figures[] = {
			{ "address",
			    report_string(
			        report_text(r, "0x%" PRIx64, p.address)) },
			{ "allocations", report_count(p.allocations) },
			{ "allocated_bytes", report_int128(p.allocated_bytes) },
			{ "live_blocks", report_count(p.live_blocks) },
			{ "live_bytes", report_count(p.live_bytes) },
			{ "peak_bytes", report_count(p.peak_bytes) },
		};
		report_record(r, REPORT_JSON, "pool", item, figures,
		    sizeof(figures) / sizeof(figures[0]));
	}
}

void
answers_put(struct report *r, const struct show *show)
{
	answers_put_memory(r, show);
	if (answers_pools(show) && report_is(r, REPORT_TEXT | REPORT_JSON))
		put_pools(r, show);
	if (!answers_some(show))
		return;
	if (report_is(r, REPORT_JSON))
		answers_put_data(r, show);
	if (report_is(r, REPORT_TEXT) && tel_heap_recorded(show->options->heap))
		answers_put_stacks(r, show);
}
