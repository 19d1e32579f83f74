/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs as they are: what traces are compiled to, word by word, and which
 * numbers of a program's file may have other values, as tests/data/telreplay
 * has both.
 */
#include <unistd.h>

#include "golden.h"
#include "program_make.h"
#include "telreplay/compile/program_file.h"
#include "trace_write.h"

static char folder[] = "/tmp/telreplay-XXXXXX";
static char output[64];

/* ---------------------------------------------------------------- listing */

static void
list_word(FILE *f, const uint64_t *p)
{
	static const char names[] = "mfrcwuxo";
	unsigned i;

	fprintf(f, " %c%" PRIu32 ":%" PRIx32, names[*p & WORD_KIND],
	    WORD_SLOT(*p), WORD_SIZE(*p));
	for (i = 0; i < word_operands(*p); i++)
		fprintf(f, ",%" PRIx64, p[1 + i]);
	fputs((*p & WORD_PUBLISH) != 0 ? "!" : "", f);
}

/* The words of a thread, its times, and the events of its operations. */
static void
list_thread(FILE *f, struct program *p, uint64_t chunk, unsigned number,
    const struct program_thread *t)
{
	uint64_t event = 0;
	const char *log = "";
	uint32_t i;

	fprintf(f, "%u.%u", (unsigned)chunk, number);
	for (i = 0; i < t->word_count; i += 1 + word_operands(t->words[i])) {
		list_word(f, &t->words[i]);
		if (program_origin(p, chunk, number, i, &log, &event) == TEL_OK)
			fprintf(f, "@%" PRIu64 "%s", event, log);
	}
	fputs("\n", f);
	for (i = 0; i < t->time_count; i++)
		fprintf(f, "%s%" PRIu64 "=%" PRIu64, i > 0 ? " " : "  ",
		    t->times[2 * i], t->times[2 * i + 1]);
	fputs(t->time_count > 0 ? "\n" : "", f);
}

static void
list_facts(FILE *f, const struct facts *facts)
{
	const uint64_t *n = facts->operations;
	const struct anomaly_event *a;
	uint64_t i;

	for (i = 0; i < FACTS_NUMBERS; i++)
		if (n[i] != 0)
			fprintf(f, " %u=%" PRIx64, (unsigned)i, n[i]);
	fputs("\n", f);
	for (i = 0; i < facts->threads; i++)
		fprintf(f, " %" PRIu64 "*%" PRIu64, facts->lives[i].id,
		    facts->lives[i].hosted);
	fputs("\n", f);
	for (i = 0; i < facts->anomaly_event_count; i++) {
		a = &facts->anomaly_events[i];
		fprintf(f, " %d.%u@%" PRIu64 ":%" PRIx64 ",%" PRIu64,
		    (int)a->anomaly, (unsigned)a->log, a->event, a->address,
		    a->thread);
	}
	fputs("\n", f);
	for (i = 0; i < facts->curve_points; i++)
		fprintf(f,
		    " %" PRIu64 "=%" PRIu64 ",%" PRIu64 ",%" PRIx64 ",%" PRIx64,
		    facts->curve[i].done, facts->curve[i].clock,
		    facts->curve[i].blocks, facts->curve[i].bytes,
		    facts->curve[i].peak);
	fputs("\n", f);
}

static void
list_program(FILE *f, struct program *p)
{
	const struct facts *facts = program_facts(p);
	struct program_thread threads[PROGRAM_THREADS];
	uint64_t i, *room = malloc((size_t)facts->largest_chunk * 8 + 8);
	unsigned k;

	list_facts(f, facts);
	for (i = 0; i <= facts->pools; i++)
		if (program_pool(p, i)[0] != '\0')
			fprintf(f, "pool %" PRIu64 ": %s\n", i,
			    program_pool(p, i));
	for (i = 0; i < facts->chunks; i++) {
		if (program_load(p, i, room, threads) != TEL_OK)
			fputs("not loaded\n", f);
		else
			for (k = 0; k < facts->threads; k++)
				list_thread(f, p, i, k, &threads[k]);
	}
	free(room);
}

/* ------------------------------------------------------------------ cases */

struct listed {
	unsigned threads, processes;
	int pools, strict;
	enum program_order order;
	unsigned run_by;
	double share;
	uint64_t window;
	size_t operations;
	size_t chunk;
	unsigned stay; /* a thread has so many operations at a time */
};

static const struct listed listed[] = {
	{ 1, 1, 0, 0, ORDER_EDGES, 8, 0.02, 0, 160, 1024, 0 },
	{ 1, 1, 1, 0, ORDER_EDGES, 8, 0.02, 0, 160, 1024, 0 },
	{ 4, 1, 1, 0, ORDER_EDGES, 8, 0.02, 0, 160, 1024, 0 },
	{ 4, 1, 0, 0, ORDER_EDGES, 8, 0, 0, 160, 1024, 0 },
	{ 4, 2, 1, 0, ORDER_TOTAL, 8, 0.02, 0, 160, 1024, 0 },
	{ 5, 1, 1, 0, ORDER_NONE, 3, 0.02, 0, 160, 1024, 0 },
	{ 6, 3, 0, 0, ORDER_EDGES, 2, 0, 9, 160, 1024, 0 },
	{ 3, 1, 1, 1, ORDER_EDGES, 8, 0.02, 0, 160, 1024, 0 },
	/* of these the sums alone */
	{ 3, 1, 0, 0, ORDER_EDGES, 8, 0.02, 0, 6000, 1024, 0 },
	{ 9, 3, 1, 0, ORDER_EDGES, 16, 0.02, 0, 6000, 1024, 0 },
	{ 9, 1, 1, 0, ORDER_EDGES, 4, 0.5, 0, 6000, 2048, 0 },
	{ 9, 2, 1, 0, ORDER_TOTAL, 4, 0.02, 0, 6000, 1500, 0 },
	{ 9, 2, 1, 0, ORDER_NONE, 16, 0.02, 0, 6000, 1500, 0 },
	{ 20, 1, 0, 0, ORDER_EDGES, 8, 0, 30, 6000, 3000, 0 },
	{ 1, 1, 1, 0, ORDER_EDGES, 1, 0.02, 0, 40000, 4000, 0 },
	{ 3, 1, 0, 0, ORDER_EDGES, 8, 0.02, 0, 6000, 1024, 300 },
	{ 3, 1, 1, 0, ORDER_EDGES, 8, 0, 25, 6000, 1024, 90 },
};

static void
describe(struct compiler *c, uint64_t i)
{
	static const char *const texts[] = { "A a=1", "B b=2", "A a=3", "C" };

	if (compiler_describe(c, 0x100 * (1 + i % 4), texts[i / 7 % 4]) !=
	    TEL_OK)
		abort();
}

/* Compiles a trace; its logs take turns. */
static tel_status
listed_make(const struct listed *l, size_t number, struct bytes *to,
    char *error, size_t room)
{
	tel_output *out = tel_output_new_callback(bytes_write, to);
	struct compiler_settings set = compiler_defaults;
	struct writer w = { .random = 99 + number,
		.threads = l->threads,
		.processes = l->processes,
		.pools = l->pools,
		.large = 1 };
	struct compiler *c;
	tel_status st;
	tel_alloc op;
	size_t i;

	set.order = l->order;
	set.strict = l->strict;
	set.threads = l->run_by;
	set.window_share = l->share;
	set.window_min = 0;
	set.window_operations = l->window;
	set.chunk = l->chunk;
	c = compiler_new(out, &set);
	if (out == NULL || c == NULL)
		abort();
	st = compiler_set_tick_rate(c, number % 2 > 0 ? 1e6 : 0);
	for (i = 0; i < l->operations && st == TEL_OK; i++) {
		/* the first one is a log without a name */
		if (number > 0 && i % 50 == 0)
			st = compiler_set_log(c, i / 50 % 3 > 0 ? "b" : "");
		op = write_operation(&w);
		if (l->stay > 0)
			op.thread = 1 + i / l->stay % l->threads;
		if (st == TEL_OK)
			st = compiler_add(c, &op, i + (i / 90 % 2) * 1000);
		if (st == TEL_OK && l->pools && i % 5 == 0)
			describe(c, i);
	}
	if (st == TEL_OK)
		st = compiler_finish(c);
	(void)snprintf(error, room, "%s", compiler_error(c));
	compiler_free(c);
	tel_output_free(out);
	return st;
}

/* Rates of a clock that a compiler takes. */
static void
list_rates(FILE *f)
{
	static const double rates[] = { -1, -1e-9, 0, 1e-9, 1e300, 1.1e300 };
	struct compiler *c = compiler_new(NULL, &compiler_defaults);
	size_t i;

	if (c == NULL)
		abort();
	for (i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		fprintf(f, "rate %g: %d\n", rates[i],
		    (int)compiler_set_tick_rate(c, rates[i]));
	compiler_free(c);
}

static void
test_listing(void)
{
	struct bytes b = { 0 };
	struct program *p;
	char error[192];
	FILE *f = fopen(output, "w");
	tel_status st;
	size_t i;

	for (i = 0; i < sizeof(listed) / sizeof(listed[0]) && f != NULL; i++) {
		b.size = 0;
		st = listed_make(&listed[i], i, &b, error, sizeof(error));
		fprintf(f, "program %u: %d %s", (unsigned)i, (int)st, error);
		if (st != TEL_OK) {
			fputs("\n", f);
			continue;
		}
		fprintf(f, "%u bytes, %016" PRIx64 "\n", (unsigned)b.size,
		    program_sum(0, b.data, b.size));
		if (!ok(program_open_memory(b.data, b.size, &p) == TEL_OK,
		        "program %u can be read", (unsigned)i))
			continue;
		ok(program_check(p) == TEL_OK, "and run");
		if (listed[i].operations < 1000)
			list_program(f, p);
		program_free(p);
	}
	if (f == NULL)
		abort();
	list_rates(f);
	if (fclose(f) != 0)
		abort();
	is_golden("programs.text", output, NULL);
	free(b.data);
}

/* --------------------------------------------------------- other numbers */

/* Makes the sums of a program right again, with parts where they were. */
static void
seal(struct bytes *b, const uint64_t *index, uint64_t chunks, uint64_t at)
{
	unsigned char *tail = b->data + b->size - PROGRAM_TRAILER;
	uint64_t i;

	for (i = 0; i < chunks; i++)
		tel_store_le64(b->data + index[2 * i] + index[2 * i + 1] - 8,
		    program_sum(0, b->data + index[2 * i],
		        (size_t)index[2 * i + 1] - 8));
	tel_store_le64(tail + 16,
	    program_sum(0, b->data + at,
	        b->size - PROGRAM_TRAILER - (size_t)at));
}

/* What a program comes to: a letter. */
static char
verdict(const struct bytes *b)
{
	struct program *p;
	const char *log;
	uint64_t event;
	tel_status st = program_open_memory(b->data, b->size, &p);
	char letter = '.';

	if (st != TEL_OK)
		return st == TEL_EDAMAGED ? 'd' :
		    st == TEL_EVERSION    ? 'v' :
		    st == TEL_EFORMAT     ? 'f' :
		                            'n';
	st = program_check(p);
	if (st != TEL_OK)
		letter = 'r';
	else if (program_origin(p, 0, 0, 0, &log, &event) != TEL_OK)
		letter = 'e';
	program_free(p);
	return letter;
}

#define VALUES 15 /* of each number */

static void
test_numbers(void)
{
	static const struct listed small = { 3, 1, 1, 0, ORDER_EDGES, 8, 0.02,
		0, 120, 1024, 0 };
	static const uint64_t more[] = { 1, -UINT64_C(1), 8, 32,
		UINT64_C(1) << 32, -(UINT64_C(1) << 32) };
	char before[VALUES + 1] = "", is[VALUES + 1], error[192];
	struct bytes b = { 0 };
	FILE *f = fopen(output, "w");
	uint64_t at, was, now, index[2], most;
	struct program *p;
	size_t i, k;

	if (f == NULL ||
	    listed_make(&small, 60, &b, error, sizeof(error)) != TEL_OK ||
	    program_open_memory(b.data, b.size, &p) != TEL_OK)
		abort();
	ok(program_facts(p)->chunks == 1, "it is one chunk");
	index[0] = p->index[0];
	index[1] = p->index[1];
	program_free(p);
	at = tel_le64(b.data + b.size - PROGRAM_TRAILER);
	/* there are as many words in the file, and slots for each thread */
	most = b.size / 8;
	const uint64_t values[] = { 0, 1, 0x100, UINT64_MAX >> 1, UINT64_MAX,
		most, most + 1, most + 64 * 3, most + 64 * 3 + 1 };
	for (i = 0; i < b.size / 8; i++) {
		was = tel_le64(b.data + 8 * i);
		for (k = 0; k < VALUES; k++) {
			now = k < 6 ? was + more[k] : values[k - 6];
			tel_store_le64(b.data + 8 * i, now);
			/* a sum that is wrong itself stays so */
			if (8 * i != index[0] + index[1] - 8 &&
			    8 * i + 16 != b.size)
				seal(&b, index, 1, at);
			is[k] = verdict(&b);
			tel_store_le64(b.data + 8 * i, was);
			seal(&b, index, 1, at);
		}
		is[k] = '\0';
		if (strcmp(is, before) != 0)
			fprintf(f, "%u %s\n", (unsigned)i, is);
		(void)strcpy(before, is);
	}
	if (fclose(f) != 0)
		abort();
	is_golden("numbers.text", output, NULL);
	free(b.data);
}

int
main(void)
{
	if (mkdtemp(folder) == NULL)
		return 1;
	(void)snprintf(output, sizeof(output), "%s/output", folder);
	test_listing();
	test_numbers();
	(void)unlink(output);
	(void)rmdir(folder);
	return done();
}
