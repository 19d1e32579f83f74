/* SPDX-License-Identifier: BSD-2-Clause */
/* HPM traces and meta files that are strange or damaged. */
#include "hpm_read.h"

/* What is in a line between two words, as of "flags=0 end". */
static void
check_column(const char *events, const char *name, const char *want)
{
	char got[512] = "", what[32];
	const char *p = events;
	size_t n, used = 0;

	snprintf(what, sizeof(what), " %s=", name);
	while ((p = strstr(p, what)) != NULL) {
		p += strlen(what);
		n = strcspn(p, " \n");
		used += (size_t)snprintf(got + used, sizeof(got) - used,
		    "%s%.*s", used > 0 ? " " : "", (int)n, p);
	}
	is_str(got, want, "%s", name);
}

static void
test_flags(void)
{
	char *text = fixture("strange-flags.txt");
	struct result res = read_words(text, 1);

	check_column(res.events, "flags", "0 0 0 1 2 4 8 4 16 96 0 0 0");
	check_column(res.events, "yielded", "0 0 1 0 0 0 0 1 0 0 0 0 0");
	check_column(res.events, "duration",
	    "1000 1000 1000 0 -100 1000 400 400 1000 1000 1000 1000 1000");
	check_column(res.events, "gap",
	    "0 0 0 0 0 2100 -1500 1100 -400 -500 0 0 0");
	check_column(res.events, "tid",
	    "1[com.ibm.JikesRVM.VM_IdleThread] "
	    "-1[com.ibm.JikesRVM.VM_Thread] -1[com.ibm.JikesRVM.VM_Thread] "
	    "5[spec.jbb.Warehouse] 5[spec.jbb.Warehouse] "
	    "5[spec.jbb.Warehouse] 5[spec.jbb.Warehouse] "
	    "5[spec.jbb.Warehouse] 5[spec.jbb.Warehouse] "
	    "5[spec.jbb.Warehouse] 5[spec.jbb.Warehouse] "
	    "5[spec.jbb.Warehouse] 5[spec.jbb.Warehouse]");
	ok(strncmp(res.events, "1000 RunStart cpu=1 run=3 app=early\n", 36) ==
	        0,
	    "a marker before the first counter is as early as that");
	has(res.events,
	    "3000 Counter cpu=1 tid=5[spec.jbb.Warehouse] slot=6 "
	    "yielded=0 switched=1 buffer=1 flags=1 end=5000 ",
	    "a period that starts at 0 keeps its place in the file");
	has(res.events, "11500 Exit cpu=1 status=1\n",
	    "an exit has the clock of the last counter");
	has(res.notices,
	    "I0 the meta file is HPM.headerFile: no processor name, 2 "
	    "counters, mode 12\n",
	    "a slash before its name is left");
	has(res.notices,
	    " 1 records have no start time: their flags "
	    "have 0x1\n",
	    "flags are counted");
	is_u64(res.count[TEL_COUNT_DAMAGED], 0, "nothing is damaged");
	drop(res);
	free(text);
}

/* A message says what is ambiguous without the meta file. */
static void
test_ambiguous(void)
{
	static const char trace[] = "trace 1 x\n"
	                            "counter 1 1 1 1 10 20 0 0\n"
	                            "counter 2 1 1 1 20 30 0 0\n"
	                            "counter 1 -1 1 1 30 40 0 0\n";
	char text[512];
	struct result res;

	snprintf(text, sizeof(text), "meta 3 big 8 12\n%s", trace);
	res = read_words(text, 1);
	ok(res.status == TEL_EFORMAT, "the name must be one of a meta file");
	drop(res);
	snprintf(text, sizeof(text), "meta 3 big 8 12\n%s",
	    "trace 1 x.headerFile\n"
	    "counter 1 1 1 1 10 20 0 0\n"
	    "counter 2 1 1 1 20 30 0 0\n"
	    "counter 1 -1 1 1 30 40 0 0\n");
	res = read_words(text, 1);
	check_column(res.events, "flags", "128 0 128");
	check_column(res.events, "tid", "1 1 1");
	drop(res);
	res = read_words("meta 3 big 1 12\nthread 1 1 class A\n"
	                 "trace 1 HPM.headerFile\n"
	                 "counter 1 1 1 1 10 20 0 0\n"
	                 "counter 1 -1 1 1 20 30 0 0\n",
	    1);
	check_column(res.events, "flags", "0 0");
	check_column(res.events, "tid", "1[A] 1[A]");
	drop(res);
	res = read_words("meta 3 big 1 12\nthread 1 1 class A\n"
	                 "thread -1 1 class B\ntrace 1 HPM.headerFile\n"
	                 "counter 1 1 1 1 10 20 0 0\n",
	    1);
	check_column(res.events, "flags", "128");
	drop(res);
	/* the least number has no positive counterpart of its width */
	res = read_words("meta 3 big 1 12\ntrace 1 HPM.headerFile\n"
	                 "counter -1 -2147483648 1 1 10 20 0 0\n",
	    1);
	check_column(res.events, "tid", "2147483648");
	drop(res);
}

static void
test_damage(void)
{
	char *text = fixture("bad-middle.txt");
	struct set s = make_set(text);
	struct how how = { .strict = 1 };
	struct result res = read_words(text, 1);
	char *folder = make_folder(&s), path[512];

	snprintf(path, sizeof(path), "%s/%s", folder, s.name[1]);
	how.name = path;
	check_column(res.events, "PM_CYC",
	    "1000000001 1000000002 1000000003 1000000004 1000000005");
	has(res.events,
	    " PM_CYC_2=1000000002 _2nd_event=1000000003 counter4=1000000004\n",
	    "names become identifiers, each another one");
	is_str(res.notices,
	    "I0 the meta file is HPM.headerFile: no processor name, 4 "
	    "counters, mode 12\n"
	    "D150 invalid record; 15 bytes skipped\n"
	    "D304 padding that is not zero; 1 bytes skipped\n"
	    "D377 the trace ends inside a record; its first 34 bytes are left "
	    "out\n"
	    "W411 the trace has no exit record: it was cut or filtered, or "
	    "the virtual machine was killed, or is still running\n",
	    "messages");
	is_u64(res.count[TEL_COUNT_DAMAGED], 3, "damaged places");
	is_u64(res.count[TEL_COUNT_SKIPPED], 15 + 1 + 34, "bytes skipped");
	drop(res);
	res = read_trace(s.file[1].data, s.file[1].size, how);
	is_u64((uint64_t)-res.status, -TEL_EDAMAGED, "strict: stops");
	is_str(res.error, "invalid record; 15 bytes skipped",
	    "strict: says why");
	drop(res);
	remove_folder(folder, &s);
	free_set(&s);
	free(text);
}

/* A byte that is changed costs no more than what it belongs to. */
static void
test_changed(void)
{
	char *text = fixture("good-v3le.txt");
	struct set s = make_set(text);
	char *folder = make_folder(&s), path[512];
	struct how how = { .name = path };
	struct result res;
	unsigned worst = 9, n;
	size_t i;

	snprintf(path, sizeof(path), "%s/%s", folder, s.name[1]);
	for (i = 30; i < s.file[1].size; i++) {
		s.file[1].data[i] ^= 0xff;
		res = read_trace(s.file[1].data, s.file[1].size, how);
		n = count_of(res.events, '\n');
		if (n > 9)
			diag("byte %zu: %s", i, res.events);
		worst = n > 9 ? 0 : n < worst ? n : worst;
		drop(res);
		s.file[1].data[i] ^= 0xff;
	}
	/* a marker and its padding, and with them the next that is not sure */
	ok(worst >= 5, "at most 4 of 9 events are lost: %u", 9 - worst);
	remove_folder(folder, &s);
	free_set(&s);
	free(text);
}

static void
test_meta(void)
{
	struct how how = { 0 };
	struct result res;
	char *text, path[512], *folder;
	struct set s;

	text = fixture("good-nomids.txt");
	res = read_words(text, 1);
	is_str(res.schema, "hpm-2.3-nomids/ppc", "records without methods");
	check_column(res.events, "PM_CYC", "1000000001 1000000002 1000000003");
	ok(strstr(res.events, "caller") == NULL, "they have no such field");
	drop(res);
	free(text);

	text = fixture("good-v3be.txt");
	s = make_set(text);
	free(text);
	folder = make_folder(&s);
	snprintf(path, sizeof(path), "%s/HPM.headerFile", folder);
	res = read_trace(s.file[1].data, s.file[1].size, how);
	is_str(res.notices,
	    "W0 its meta file HPM.headerFile was not found; the trace is read "
	    "with 8 unnamed counters\n",
	    "what comes through a pipe has no meta file");
	drop(res);
	how.meta = path;
	res = read_trace(s.file[1].data, s.file[1].size, how);
	has(res.events, " PM_CYC=1081\n", "one that was named is read");
	drop(res);
	how.max_labels = 2;
	res = read_trace(s.file[1].data, s.file[1].size, how);
	has(res.notices, "too many names in ", "there are limits");
	drop(res);
	how.max_labels = 0;

	/* the rest of it is invalid */
	s.file[0].data[0x13 - 3 + 0x30 + 3] = 9;
	write_set(&s, folder);
	res = read_trace(s.file[1].data, s.file[1].size, how);
	has(res.notices,
	    "is invalid from offset 64 on; names may be "
	    "missing\n",
	    "a damaged meta file");
	has(res.events, " counter8=1081\n", "the trace is read all the same");
	is_u64(res.count[TEL_COUNT_DAMAGED], 1, "that is damage");
	drop(res);
	how.strict = 1;
	res = read_trace(s.file[1].data, s.file[1].size, how);
	is_u64((uint64_t)-res.status, -TEL_EDAMAGED, "strict: damage");
	drop(res);
	how.strict = 0;

	s.file[0].data[3] = 2;
	write_set(&s, folder);
	res = read_trace(s.file[1].data, s.file[1].size, how);
	is_u64((uint64_t)-res.status, -TEL_EFORMAT,
	    "one of another version, named, is an error");
	has(res.error, "a meta file of version 2, but the trace has version 3",
	    "and it says so");
	drop(res);
	how.meta = NULL;
	snprintf(path, sizeof(path), "%s/HPM.1.startup", folder);
	how.name = path;
	res = read_trace(s.file[1].data, s.file[1].size, how);
	has(res.notices,
	    "of version 2, but the trace has version 3; ignored, and the trace "
	    "is "
	    "read with 8 unnamed counters",
	    "found, it is left aside");
	is_u64(count_of(res.events, '\n'), 9, "and the trace is read");
	drop(res);
	how.meta = "/nonexistent/HPM.headerFile";
	res = read_trace(s.file[1].data, s.file[1].size, how);
	is_u64((uint64_t)-res.status, -TEL_EIO, "one that is not there");
	drop(res);
	how.meta = NULL;

	/* it says another number of counters */
	s.file[0].data[3] = 3;
	s.file[0].data[11] = 5;
	write_set(&s, folder);
	res = read_trace(s.file[1].data, s.file[1].size, how);
	has(res.notices, "has 4 counters, but the records have 8", "a lie");
	is_u64(count_of(res.events, '\n'), 9, "which is seen through");
	drop(res);
	remove_folder(folder, &s);
	free_set(&s);
}

/* What is an HPM trace, and what is none. */
static void
test_detection(void)
{
	struct how how = { 0 };
	char *text = fixture("good-v3be.txt");
	struct set s = make_set(text);
	unsigned char data[64] = { 0 };
	struct result res;

	res = read_trace(s.file[0].data, s.file[0].size, how);
	is_u64((uint64_t)-res.status, -TEL_EFORMAT, "a meta file is not a log");
	is_str(res.error,
	    "a meta file of HPM traces, not a log: name the traces instead, "
	    "and the meta file is found; --as hpm-meta lists its names",
	    "and what it is is reported");
	drop(res);
	s.file[1].data[3] = 4;
	res = read_trace(s.file[1].data, s.file[1].size, how);
	is_u64((uint64_t)-res.status, -TEL_EVERSION, "a newer version");
	is_str(res.error,
	    "the trace has version 4; versions up to 3 are supported",
	    "and it says so");
	drop(res);
	how.force = 1;
	res = read_trace(s.file[1].data, s.file[1].size, how);
	is_u64(count_of(res.events, '\n'), 9, "which may be read by force");
	drop(res);
	how.force = 0;
	how.as = "hpm";
	res = read_trace(data, sizeof(data), how);
	is_u64((uint64_t)-res.status, -TEL_EFORMAT, "zeros are not a trace");
	drop(res);
	res = read_trace(data, 3, how);
	is_u64((uint64_t)-res.status, -TEL_EFORMAT, "three bytes are none");
	drop(res);
	/* a name that no meta file has, but the user says what it is */
	s.file[1].data[3] = 3;
	s.file[1].data[21] = 'X';
	res = read_trace(s.file[1].data, s.file[1].size, how);
	is_u64(count_of(res.events, '\n'), 9, "--as hpm");
	drop(res);
	how.as = NULL;
	res = read_trace(s.file[1].data, s.file[1].size, how);
	is_u64((uint64_t)-res.status, -TEL_EFORMAT, "undetected without");
	drop(res);
	/* nothing but a header */
	s.file[1].data[21] = 'e';
	res = read_trace(s.file[1].data, 22, how);
	is_u64((uint64_t)res.status, TEL_END, "no records");
	is_u64(res.count[TEL_COUNT_DAMAGED], 0, "no damage");
	drop(res);
	free_set(&s);
	free(text);
}

int
main(void)
{
	test_flags();
	test_ambiguous();
	test_damage();
	test_changed();
	test_meta();
	test_detection();
	return done();
}
