/* SPDX-License-Identifier: BSD-2-Clause */
/* Scripts of SQL, loaded by sqlite3 and asked about. */
#include "test_print.h"

#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/test_print_sql.XXXXXX";

/* A script of events; the log is called name, the file is of that size. */
static void
write_script(const char *file, const char *name, const char *release,
    uint64_t size, unsigned logs)
{
	static const char s[] = "it's\r\n\xff\x01";
	tel_printer *p = new_printer(TEL_FORMAT_SQL);
	struct made m;
	unsigned i, j;
	FILE *f;

	tel_printer_set_file(p, size, size == 0 ? 0 : -5);
	made_new(&m, release);
	m.log.name = name;
	for (i = 0; i < logs; i++) {
		m.log.number = i;
		for (j = 0; j < 600; j++) {
			made_alloc(&m, UINT64_MAX - j);
			print(p, &m);
		}
		made_intern(&m, UINT64_MAX, s, sizeof(s) - 1);
		print(p, &m);
		made_begin(&m, "MeterValues", 3);
		made_set(&m, "meter", (uint64_t)1 << 63);
		made_set(&m, "total", tel_double_bits(0.1));
		made_set(&m, "meanSquared", 0xfff0000000000000);
		print(p, &m);
		made_event(&m, must(tel__schema_unknown(m.log.schema, 500)), 3,
		    7);
		print(p, &m);
	}
	if (tel_printer_finish(p) != TEL_OK || tel_output_flush(sink) != TEL_OK)
		ok(0, "printing %s", file);
	tel_printer_free(p);
	f = must(fopen(file, "w"));
	fwrite(caught.text, 1, caught.length, f);
	ok(fclose(f) == 0, "%s is written", file);
	caught_clear(&caught);
	tel_schema_free(m.log.schema);
	made_free(&m);
}

/* Runs a command; its output, without the last line end, is as wanted. */
static void
is_said(const char *command, const char *want, const char *what)
{
	char text[4096];
	size_t n;
	FILE *f = must(popen(command, "r"));

	n = fread(text, 1, sizeof(text) - 1, f);
	text[n > 0 && text[n - 1] == '\n' ? n - 1 : n] = '\0';
	ok(pclose(f) == 0, "%s: exit status", what);
	is_str(text, want, "%s", what);
}

static void
is_answer(const char *query, const char *want, const char *what)
{
	char command[1024];

	snprintf(command, sizeof(command), "sqlite3 -bail db \"%s\" 2>&1",
	    query);
	is_said(command, want, what);
}

static void
load(const char *file, const char *what)
{
	char command[256];

	snprintf(command, sizeof(command), "sqlite3 -bail db <%s 2>&1", file);
	is_said(command, "", what);
}

static void
check_rows(void)
{
	is_answer("SELECT name,size,modtime,completed,serial FROM event_log",
	    "a'b.log|1000|-5|603|1", "the log");
	is_answer("SELECT count(*), min(time), max(time), sum(size), "
	          "max(log_serial), typeof(time) FROM EVENT_PoolAlloc",
	    "600|-600|-1|38400|1|integer", "rows of PoolAlloc");
	is_answer("SELECT stringId, hex(string), typeof(string), time "
	          "FROM EVENT_Intern",
	    "-1|697427730D0AFF01|text|1", "a string, byte for byte");
	is_answer("SELECT meter, total, meanSquared, typeof(total), count "
	          "FROM EVENT_MeterValues",
	    "-9223372036854775808|0.1|-Inf|real|0", "numbers at their ends");
	is_answer("SELECT code, hex(bytes), time, log_serial "
	          "FROM EVENT_Unknown",
	    "500|000000|7|1", "an unknown type");
	is_answer("SELECT count(*) FROM sqlite_master "
	          "WHERE name GLOB 'EVENT_*' AND name != 'EVENT_Unknown'",
	    "98", "a table for each type of 1.117");
}

static void
check_glue(void)
{
	is_answer("SELECT * FROM event_kind WHERE enum=5",
	    "Object|Per alloc or object|5", "a kind");
	is_answer("SELECT count(*) FROM event_kind", "7", "all kinds");
	is_answer("SELECT t.name, t.code, t.always, k.name FROM event_type t "
	          "JOIN event_kind k ON k.enum=t.kind WHERE code=0x17",
	    "PoolAlloc|23|0|Object", "a type");
	is_answer("SELECT * FROM event_param WHERE type=0x17",
	    "23|0|P|pool\n23|1|A|pReturn\n23|2|W|size", "its fields");
	is_answer("SELECT sum(n) FROM (SELECT count(*) AS n FROM event_param "
	          "GROUP BY type,param_index HAVING n > 1)",
	    "", "no field twice");
	is_answer("SELECT sql FROM sqlite_master WHERE name='EVENT_Intern'",
	    "CREATE TABLE \"EVENT_Intern\" (\"stringId\" INTEGER, "
	    "\"string\" TEXT, time INTEGER, log_serial INTEGER, "
	    "event_number INTEGER PRIMARY KEY)",
	    "columns");
}

static void
test_sql(void)
{
	write_script("one.sql", "a'b.log", "mps-1.117.0", 1000, 1);
	write_script("two.sql", "b.log", "mps-1.117.0", 2000, 2);
	write_script("pipe.sql", "-", "mps-1.117.0", 0, 1);
	load("one.sql", "loading a log");
	check_rows();
	check_glue();
	load("one.sql", "loading it again");
	is_answer("SELECT count(*) FROM event_log", "1", "no second log");
	is_answer("SELECT count(*) FROM EVENT_PoolAlloc", "600", "no rows");
	load("two.sql", "loading two more in one file");
	load("two.sql", "and again");
	is_answer("SELECT serial, completed FROM event_log",
	    "1|603\n2|603\n3|603", "three logs");
	is_answer("SELECT log_serial, count(*) FROM EVENT_PoolAlloc "
	          "GROUP BY log_serial",
	    "1|600\n2|600\n3|600", "rows of each");
	load("pipe.sql", "loading from standard input");
	load("pipe.sql", "and again");
	is_answer("SELECT count(*) FROM event_log WHERE size=0", "2",
	    "which is new each time");
	is_said("cat one.sql two.sql pipe.sql | sqlite3 -bail db2 2>&1", "",
	    "scripts one after the other");
	is_said("sqlite3 db2 'SELECT count(*) FROM EVENT_PoolAlloc'", "2400",
	    "load all");
}

static void
test_empty(void)
{
	tel_printer *p = new_printer(TEL_FORMAT_SQL);
	FILE *f = must(fopen("empty.sql", "w"));

	ok(tel_printer_finish(p) == TEL_OK && tel_output_flush(sink) == TEL_OK,
	    "a script of no events");
	tel_printer_free(p);
	fwrite(caught.text, 1, caught.length, f);
	fclose(f);
	is_said("sqlite3 -bail db3 <empty.sql 2>&1", "", "loading no log");
	is_said("sqlite3 db3 'SELECT count(*) FROM event_log'", "0", "no log");
}

static void
clean_up(void)
{
	static const char *const files[] = { "one.sql", "two.sql", "pipe.sql",
		"empty.sql", "db", "db2", "db3" };
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		unlink(files[i]);
	if (chdir("/") != 0 || rmdir(folder) != 0)
		diag("%s is left", folder);
}

int
main(void)
{
	if (system("sqlite3 -version >/dev/null 2>&1") != 0) {
		ok(1, "loading SQL # SKIP there is no sqlite3");
		return done();
	}
	if (mkdtemp(folder) == NULL || chdir(folder) != 0) {
		diag("no folder");
		return 1;
	}
	run(test_sql);
	run(test_empty);
	clean_up();
	return done();
}
