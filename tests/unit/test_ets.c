/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ETS logs that are whole: entries, texts, names, messages, clocks, and every
 * way of cutting the input.
 *
 *	test_ets --make FILE OUTPUT
 *
 * writes what the text in FILE describes.
 */
#include "ets_read.h"

static const size_t read_sizes[] = { 1, 2, 7, 4096 };

/* Bytes as the guide to the format has them. */
static const unsigned char hook[48] = { 0x44, 0x16, 0x1f, 0xbd, 0xf3, 0x05, 0,
	0, 0x1e, 0x31, 0x34, 0, 0xd1, 0, 1, 0, 8, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0,
	0, 0x43, 0, 0, 0, 0x39, 1, 0, 0, 0x68, 0xe0, 0xc5, 5 };
static const unsigned char command[58] = { 0x88, 0x31, 0x65, 0x6c, 0xfb, 0, 0,
	0, 0, 0x10, 0x40, 0, 0x6c, 0, 5, 0, 5, 0, 1, 0, 10, [48] = 'n', 'e',
	't', 's', 't', 'a', 'c', 'k', ' ', '&' };

static void
test_maker(void)
{
	struct bytes b =
	    make_log("event 6544408122948 0x34311e 0xd1 1 0 8 7 67 313 "
	             "96854120\n");

	ok(b.size == 48 && memcmp(b.data, hook, 48) == 0,
	    "the words make the bytes of an entry");
	free(b.data);
	b = make_log("event 0xfb6c653188 0x401000 0x6c 5 0 5 1 | netstack &\n");
	ok(b.size == 58 && memcmp(b.data, command, 58) == 0,
	    "and those of a text");
	free(b.data);
}

/* Single records. */
static void
test_one(void)
{
	struct how how = { 0 };
	struct result res = read_log(hook, sizeof(hook), how);

	is_str(res.form, "ets", "one entry is a log");
	same(res.events,
	    "6544408122948 Endpoint/DeliverHook instruction=3420446 cpu=0 "
	    "tid=209 pid=1 MessageTag=67[96854120/Send67] ChannelId=313 "
	    "ContractTag=96854120\n",
	    "an entry");
	is_u64(res.count[TEL_COUNT_BYTES], 48, "its bytes");
	drop(res);
	res = read_log(command, sizeof(command), how);
	same(res.events,
	    "1079855362440 Shell/Command instruction=4198400 cpu=0 tid=108 "
	    "pid=5 Text='netstack &'\n",
	    "an entry with a text");
	drop(res);
	how.as = "ets";
	res = read_log("", 0, how);
	is_u64((uint64_t)res.status, (uint64_t)TEL_EFORMAT, "an empty log");
	drop(res);
}

static void
test_names(void)
{
	struct bytes b = fixture("good-boot.txt");
	char *contracts = strdup(data_path("contracts.tmf"));
	struct how how = { .contracts = contracts };
	struct result res = read_log(b.data, b.size, how);

	is_u64(res.count[TEL_COUNT_EVENTS], 35, "events");
	is_u64(res.count[TEL_COUNT_BYTES], b.size, "bytes");
	is_u64(res.count[TEL_COUNT_DAMAGED], 0, "nothing is damaged");
	is_u64((uint64_t)res.rate, 1800000000, "the speed of the processor");
	is_u64(res.origin, 6544408122900, "the log begins with a clock");
	has(res.events,
	    "0 SysInfo/ThreadInfo instruction=0 cpu=0 tid=0 pid=0 Id=108 "
	    "Pid=5[LegacyKeyboard]\n",
	    "a process has its name");
	has(res.events,
	    "6544408122948 Endpoint/DeliverHook instruction=3420446 cpu=0 "
	    "tid=209[kernel] pid=1[kernel] "
	    "MessageTag=67[KeyboardDeviceContract.Exp/SendAckKey] "
	    "ChannelId=313 ContractTag=96854120[KeyboardDeviceContract.Exp]\n",
	    "a message that is sent");
	has(res.events,
	    "MessageTag=2[DirectoryServiceContract.Imp/RecvSuccess] "
	    "ChannelId=139 ContractTag=96854200[DirectoryServiceContract.Imp]",
	    "one that is received; its contract is in a namespace");
	has(res.events, "MessageTag=4[96854592/Send4] ", "unknown, sent");
	has(res.events, "MessageTag=5[96854600/Recv5] ", "unknown, received");
	has(res.events,
	    "FromPID=5[LegacyKeyboard] DestPID=6[tty] ChannelIdFrom=313",
	    "fields that are processes");
	has(res.events, "Mutex/Mutex_Acquire", "a name of several providers");
	has(res.events, "Timeout=9223372036854775807 DestTID=2[kernel]",
	    "a long integer");
	is_str(strstr(res.notices, "I1827 35"),
	    "I1827 35 events, 0 dropped as far as the log shows, 1 unknown\n"
	    "I1827 unknown (provider, version, type): ('20', 0, 11) 1\n"
	    "I1827 Found 1 requests\n",
	    "the report at the end");
	drop(res);
	free(contracts);
	free(b.data);
}

/* Two logs in a row: what the second says of names holds from there on. */
static void
test_again(void)
{
	static const char text[] =
	    "speed 1000000\ncontract 7 OneContract.Imp\nprocess 3 one\n"
	    "thread 4 3\nevent 1000 5 4 3 0 8 6 1 2 7\n"
	    "contract 7 TwoContract.Imp\nprocess 3 two\n"
	    "event 2000 5 4 3 0 8 6 1 2 7\n";
	struct result res = read_words(text, (struct how){ 0 });

	has(res.events,
	    "1000 Endpoint/RetrieveHook instruction=5 cpu=0 tid=4[one] "
	    "pid=3[one] MessageTag=1[OneContract.Imp/Recv1] ChannelId=2 "
	    "ContractTag=7[OneContract.Imp]\n",
	    "the first names");
	has(res.events,
	    "2000 Endpoint/RetrieveHook instruction=5 cpu=0 tid=4[two] "
	    "pid=3[two] MessageTag=1[TwoContract.Imp/Recv1] ChannelId=2 "
	    "ContractTag=7[TwoContract.Imp]\n",
	    "the second ones");
	drop(res);
	res = read_words(text, (struct how){ .max_labels = 1 });
	has(res.notices, "W111 too many names: those beyond 1 are ignored\n",
	    "too many names");
	drop(res);
	res = read_words(text, (struct how){ .hertz = 5 });
	is_u64((uint64_t)res.rate, 5, "the user knows the rate better");
	drop(res);
}

/* All values of the length of a text. */
static void
test_texts(void)
{
	static const struct {
		const char *length, *text, *want;
	} cases[] = {
		{ "0", "", "''" },
		{ "257", "", "''" },
		{ "0x80001234", "", "''" },
		{ "0xfffffffc", "", "''" },
		{ "0xfffffffd", "", "''" },
		{ "0xfffffffe", "", "''" },
		{ "0xffffffff", "", "''" },
		{ "1", "x", "'x'" },
		{ "5", "a\\tb", "'a\\tb'" },
	};
	char text[400];
	struct result res;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(text, sizeof(text),
		    "event 1000 5 4 3 0 20 3 9\n"
		    "event 1000 5 4 3 0 5 1 | %.*s\nlength %s\n"
		    "event 1000 5 4 3 0 20 3 8\n",
		    (int)strlen(cases[i].text), cases[i].text, cases[i].length);
		/* the length is what it says where there is a text */
		if (i == 8)
			memcpy(strstr(text, "length 5"), "length 4", 8);
		res = read_words(text, (struct how){ 0 });
		snprintf(text, sizeof(text),
		    "1000 Thread/SwitchTo instruction=5 cpu=0 tid=4 pid=3 "
		    "DestTID=9\n"
		    "1000 Shell/Command instruction=5 cpu=0 tid=4 pid=3 "
		    "Text=%s\n"
		    "1000 Thread/SwitchTo instruction=5 cpu=0 tid=4 pid=3 "
		    "DestTID=8\n",
		    cases[i].want);
		same(res.events, text, cases[i].length);
		if (i >= 4 && i <= 6) {
			snprintf(text, sizeof(text),
			    "texts lost: %d overwritten, %d out of bounds, %d "
			    "overwritten while they were copied",
			    i == 6, i == 5, i == 4);
			has(res.notices, text, "and why it is lost");
		}
		drop(res);
	}
	res = read_words("event 1 5 4 3 0 5 1\nlength 256\nfill 256 yy\n"
	                 "event 2 5 4 3 0 20 3 8\n",
	    (struct how){ 0 });
	is_u64(count_of(res.events, 'y'), 256, "a text of 256 bytes");
	is_u64(count_of(res.events, '\n'), 2, "and what follows it");
	drop(res);
	res = read_words("event 1 5 4 3 0 5 1\nlength 3\nbytes 61 00 62\n",
	    (struct how){ 0 });
	has(res.events, "Text='a'\n", "a string ends at a NUL");
	has(res.notices, "1 texts contain a NUL", "reported");
	drop(res);
}

/* Every prefix is read, and only what is cut off is missing. */
static void
test_prefixes(const struct bytes *b, const char *all)
{
	struct result res;
	unsigned bad = 0, events = 0, last = 0;
	size_t i;

	for (i = 0; i < b->size; i++) {
		res = read_log(b->data, i, (struct how){ 0 });
		events = count_of(res.events, '\n');
		if (i < 48)
			bad += res.status != TEL_EFORMAT;
		else if (res.count[TEL_COUNT_REPAIRED] > 0)
			/* it is as if a process had no name */
			bad += res.status != TEL_END || events != last + 1;
		else
			bad += res.status != TEL_END || events < last ||
			    events > last + 1 ||
			    strncmp(res.events, all, strlen(res.events)) != 0 ||
			    res.count[TEL_COUNT_DAMAGED] > 1 ||
			    strstr(res.notices, "\nW") != NULL;
		if (res.count[TEL_COUNT_REPAIRED] == 0)
			last = events;
		if (bad == 1)
			diag("prefix %zu: %d %s%s", i, res.status, res.error,
			    res.notices);
		drop(res);
		if (bad > 0)
			break;
	}
	is_u64(bad, 0, "each prefix");
	is_u64(events, 34, "all but the last event come of the longest");
}

static void
test_cuts(void)
{
	struct bytes b = fixture("good-boot.txt");
	struct result all = read_log(b.data, b.size, (struct how){ 0 }), res;
	char what[64];
	unsigned i;

	test_prefixes(&b, all.events);
	for (i = 0; i < 4; i++) {
		res = read_log(b.data, b.size,
		    (struct how){ .piece = read_sizes[i] });
		snprintf(what, sizeof(what), "reads of %zu", read_sizes[i]);
		same(res.events, all.events, what);
		same(res.notices, all.notices, "and the messages");
		drop(res);
	}
	drop(all);
	free(b.data);
}

/* The description that is built in is one: nothing in it is overruled. */
static void
test_builtin(void)
{
	struct tmf tmf = { 0 };
	tel_schema *schema;
	unsigned n, i, j, same_names = 0;

	ok(tel__ets_describe_builtin(&tmf) == TEL_OK,
	    "what is built in is TMF");
	n = tmf.ntypes;
	tel__tmf_finish(&tmf);
	is_u64(tmf.ntypes, n, "and says nothing twice");
	is_u64(n, 63, "of so many types");
	tel__tmf_free(&tmf);
	ok(tel_schema_new("ets", &schema) == TEL_OK, "it is a schema");
	is_u64(tel_schema_type_count(schema), 64, "with these types");
	for (i = 0; i < 63; i++)
		for (j = 0; j < i; j++)
			same_names +=
			    strcmp(tel_type_name(tel_schema_type(schema, i)),
			        tel_type_name(tel_schema_type(schema, j))) == 0;
	is_u64(same_names, 0, "which have names of their own");
	tel_schema_free(schema);
}

int
main(int argc, char **argv)
{
	struct bytes b;
	char *text;
	FILE *f;

	if (argc == 4 && strcmp(argv[1], "--make") == 0) {
		text = read_text(argv[2]);
		if (text == NULL || (f = fopen(argv[3], "wb")) == NULL)
			return 1;
		b = make_log(text);
		argc = fwrite(b.data, 1, b.size, f) != b.size;
		argc |= fclose(f) != 0;
		free(b.data);
		free(text);
		return argc;
	}
	test_maker();
	test_one();
	test_names();
	test_again();
	test_texts();
	test_cuts();
	test_builtin();
	return done();
}
