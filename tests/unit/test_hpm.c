/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * HPM traces that are whole: versions, byte orders, names, the meta file and
 * its absence, and every way of cutting the input.
 *
 *	test_hpm --make FILE FOLDER
 *
 * writes what the text in FILE describes into FOLDER.
 */
#include "hpm_read.h"

static const size_t read_sizes[] = { 1, 2, 7, 4096 };

static const char v3_events[] =
    "78187462693 Counter cpu=1 tid=1[com.ibm.JikesRVM.VM_IdleThread] slot=2 "
    "yielded=0 switched=1 buffer=1 flags=0 end=78187463693 duration=1000 "
    "gap=0 caller=345[Lcom/ibm/JikesRVM/VM_Thread;.yield()V] "
    "callee=1201[Lspec/jbb/Warehouse;.run()V] PM_LSU_SRQ_S0_VALID=1011 "
    "PM_LSU_SRQ_S0_ALLOC=1021 PM_LSU0_BUSY=1031 PM_LSU1_BUSY=1041 "
    "PM_LSU_LRQ_S0_VALID=1051 PM_LSU_LRQ_S0_ALLOC=1061 PM_INST_CMPL=1071 "
    "PM_CYC=1081\n"
    "78187462693 AppStart cpu=1 app=pseudojbb\n"
    "78187462693 RunStart cpu=1 run=0 app=pseudojbb\n"
    "78187463703 Counter cpu=1 tid=9[com.ibm.JikesRVM.MainThread] slot=7 "
    "yielded=0 switched=0 buffer=1 flags=0 end=78187467703 duration=4000 "
    "gap=10 caller=345[Lcom/ibm/JikesRVM/VM_Thread;.yield()V] "
    "callee=1201[Lspec/jbb/Warehouse;.run()V] PM_LSU_SRQ_S0_VALID=2011 "
    "PM_LSU_SRQ_S0_ALLOC=2021 PM_LSU0_BUSY=2031 PM_LSU1_BUSY=2041 "
    "PM_LSU_LRQ_S0_VALID=2051 PM_LSU_LRQ_S0_ALLOC=2061 PM_INST_CMPL=2071 "
    "PM_CYC=2081\n"
    "78187467713 Counter cpu=1 tid=9[com.ibm.JikesRVM.MainThread] slot=7 "
    "yielded=1 switched=1 buffer=2 flags=0 end=78187469713 duration=2000 "
    "gap=10 caller=1201[Lspec/jbb/Warehouse;.run()V] "
    "callee=345[Lcom/ibm/JikesRVM/VM_Thread;.yield()V] "
    "PM_LSU_SRQ_S0_VALID=3011 PM_LSU_SRQ_S0_ALLOC=3021 PM_LSU0_BUSY=3031 "
    "PM_LSU1_BUSY=3041 PM_LSU_LRQ_S0_VALID=3051 PM_LSU_LRQ_S0_ALLOC=3061 "
    "PM_INST_CMPL=3071 PM_CYC=3081\n"
    "78187467713 RunComplete cpu=1 run=0 app=pseudojbb\n"
    "78187467713 AppComplete cpu=1 app=pseudojbb\n"
    "78187469723 Counter cpu=1 tid=2[com.ibm.JikesRVM.VM_TraceWriter] slot=3 "
    "yielded=1 switched=1 buffer=2 flags=0 end=78187470223 duration=500 "
    "gap=10 caller=-1 callee=345[Lcom/ibm/JikesRVM/VM_Thread;.yield()V] "
    "PM_LSU_SRQ_S0_VALID=4011 PM_LSU_SRQ_S0_ALLOC=4021 PM_LSU0_BUSY=4031 "
    "PM_LSU1_BUSY=4041 PM_LSU_LRQ_S0_VALID=4051 PM_LSU_LRQ_S0_ALLOC=4061 "
    "PM_INST_CMPL=4071 PM_CYC=4081\n"
    "78187469723 Exit cpu=1 status=0\n";

/* The words make the bytes that another generator made. */
static void
test_maker(const char *version)
{
	char path[512], name[32];
	const char *top = getenv("TEL_TOP");
	unsigned char want[1024];
	struct set s;
	char *text;
	unsigned i;
	size_t n;
	FILE *f;

	snprintf(name, sizeof(name), "good-%s.txt", version);
	text = fixture(name);
	s = make_set(text);
	for (i = 0; i <= s.count; i++) {
		snprintf(path, sizeof(path), "%s/tests/data/hpm/%s/%s",
		    top != NULL ? top : ".", version, s.name[i]);
		f = fopen(path, "rb");
		n = f == NULL ? 0 : fread(want, 1, sizeof(want), f);
		ok(n == s.file[i].size && memcmp(want, s.file[i].data, n) == 0,
		    "%s: %s is as shipped", name, s.name[i]);
		if (f != NULL)
			fclose(f);
	}
	free_set(&s);
	free(text);
}

static void
test_versions(void)
{
	static const char *const versions[] = { "v1be", "v2be", "v3be",
		"v3le" };
	static const char *const schemas[] = { "hpm-1.8/ppc", "hpm-2.8/ppc",
		"hpm-3.8/ppc", "hpm-3.8/x86" };
	struct result res;
	char name[32], *text;
	unsigned i;

	for (i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "good-%s.txt", versions[i]);
		text = fixture(name);
		if (text == NULL)
			continue;
		res = read_words(text, 1);
		is_str(res.schema, schemas[i], "%s: the schema", name);
		if (i == 0)
			has(res.events,
			    "78187467713 Counter cpu=1 "
			    "tid=9[com.ibm.JikesRVM.MainThread] slot=7 "
			    "yielded=1 buffer=2 flags=0 end=78187469713 "
			    "duration=2000 gap=10 PM_LSU_SRQ_S0_VALID=3011 ",
			    "version 1: no methods, no switch");
		else
			same(res.events, v3_events, name);
		is_str(res.notices,
		    "I0 the meta file is HPM.headerFile: POWER4, 8 counters, "
		    "mode 13\n",
		    "%s: messages", name);
		is_u64(res.count[TEL_COUNT_EVENTS], 9, "%s: events", name);
		/* all but the header and four records of padding */
		is_u64(res.count[TEL_COUNT_BYTES], 534 - 22 - 4 * 11,
		    "%s: bytes", name);
		drop(res);
		free(text);
	}
}

/* Whether there is a warning, but that the exit record is missing. */
static int
warns(const char *notices)
{
	static const char text[] = " the trace has no exit record";
	const char *p = notices;

	while ((p = strstr(p, "\nW")) != NULL) {
		p += 2 + strspn(p + 2, "0123456789");
		if (strncmp(p, text, sizeof(text) - 1) != 0)
			return 1;
	}
	return 0;
}

/* Every prefix is read, and only what is cut off is missing. */
static void
test_prefixes(const struct set *s, const char *path)
{
	struct how how = { .name = path };
	struct result res;
	unsigned bad = 0, events = 0, last = 0;
	size_t i;

	for (i = 0; i < s->file[1].size; i++) {
		res = read_trace(s->file[1].data, i, how);
		if (i < 22) {
			bad += res.status != TEL_EFORMAT;
		} else {
			events = count_of(res.events, '\n');
			bad += res.status != TEL_END || events < last ||
			    events > last + 1 ||
			    strncmp(res.events, v3_events,
			        strlen(res.events)) != 0 ||
			    warns(res.notices);
			/* cut inside a record, or between two */
			bad += (res.count[TEL_COUNT_DAMAGED] > 1);
			last = events;
		}
		if (bad == 1)
			diag("prefix %zu: %d %s%s", i, res.status, res.error,
			    res.notices);
		drop(res);
		if (bad > 0)
			break;
	}
	is_u64(bad, 0, "each prefix");
	is_u64(events, 8, "all but the last event come of the longest");
}

static void
test_read_sizes(const struct set *s, const char *path)
{
	struct how how = { .name = path };
	struct result res;
	char what[64];
	unsigned i;

	for (i = 0; i < 4; i++) {
		how.piece = read_sizes[i];
		res = read_trace(s->file[1].data, s->file[1].size, how);
		snprintf(what, sizeof(what), "reads of %zu", how.piece);
		same(res.events, v3_events, what);
		drop(res);
		/* and without names, where more is looked at */
		how.name = NULL;
		res = read_trace(s->file[1].data, s->file[1].size, how);
		is_u64(count_of(res.events, '\n'), 9, "%s, no meta file", what);
		drop(res);
		how.name = path;
	}
}

static void
test_cuts(void)
{
	char *text = fixture("good-v3be.txt"), path[512], *folder;
	struct set s = make_set(text);

	folder = make_folder(&s);
	snprintf(path, sizeof(path), "%s/%s", folder, s.name[1]);
	test_prefixes(&s, path);
	test_read_sizes(&s, path);
	remove_folder(folder, &s);
	free_set(&s);
	free(text);
}

/* Without a meta file the layout is guessed, whatever it is. */
static void
test_guess(void)
{
	static const char *const orders[] = { "big", "little" };
	static const char form[] =
	    "meta %u %s %u 13\ntrace 3 HPM.headerFile\n"
	    "appstart go\npadding 2\n"
	    "counter 2 4 1 1 1000 2000 5 6\ncounter 2 -4 1 1 2000 3000 5 6\n"
	    "counter 2 4 1 1 3000 4000 5 6\nexit 2\n";
	struct how how = { 0 };
	struct result res;
	char text[400], want[48];
	unsigned version, order, e, bad = 0;
	struct set s;

	for (version = 1; version <= 3; version++)
		for (order = 0; order <= (version == 3); order++)
			for (e = 0; e <= 64; e++) {
				snprintf(text, sizeof(text), form, version,
				    orders[order], e);
				snprintf(want, sizeof(want), "hpm-%u.%u/%s",
				    version, e, order ? "x86" : "ppc");
				s = make_set(text);
				res = read_trace(s.file[1].data, s.file[1].size,
				    how);
				if (strcmp(res.schema, want) != 0 ||
				    count_of(res.events, '\n') != 5 ||
				    res.count[TEL_COUNT_DAMAGED] != 0) {
					bad++;
					diag("%s is read as %s", want,
					    res.schema);
				}
				drop(res);
				free_set(&s);
			}
	is_u64(bad, 0, "the layout of any trace is guessed");
}

/* The time base has the rate that the user gives. */
static void
test_rate(void)
{
	char *text = fixture("good-v3be.txt");
	struct set s = make_set(text);
	tel_reader *r = tel_reader_new();
	const tel_event *ev;
	unsigned i;

	if (r == NULL || tel_reader_set_tick_rate(r, 1e6) != TEL_OK ||
	    tel_reader_open_memory(r, s.file[1].data, s.file[1].size, NULL) !=
	        TEL_OK)
		exit(1);
	is_u64((uint64_t)tel_reader_tick_rate(r), 1000000, "the rate");
	for (i = 0; i < 4; i++)
		if (tel_reader_next(r, &ev) != TEL_OK)
			exit(1);
	is_u64((uint64_t)tel__clock_ns(ev->log->clock, ev->clock), 1010000,
	    "nanoseconds since the first event");
	tel_reader_free(r);
	free_set(&s);
	free(text);
}

int
main(int argc, char **argv)
{
	struct set s;
	char *text;

	if (argc == 4 && strcmp(argv[1], "--make") == 0) {
		text = read_text(argv[2]);
		if (text == NULL)
			return 1;
		s = make_set(text);
		argc = !write_set(&s, argv[3]);
		free_set(&s);
		free(text);
		return argc;
	}
	test_maker("v1be");
	test_maker("v2be");
	test_maker("v3be");
	test_versions();
	test_cuts();
	test_guess();
	test_rate();
	return done();
}
