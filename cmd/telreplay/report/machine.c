/* SPDX-License-Identifier: BSD-2-Clause */
/* The machine, and how it was used. */
#include "show.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "common/page.h"
#include "telreplay/run/memory.h"

/* What the machine is: a line of words each, or "". */
struct machine {
	char kernel[256];
	char processor[128];
	unsigned processors;
	char huge_pages[64];
};

/* What follows a name in its line of a file. */
static void
machine_find_line(const char *path, const char *name, char *out, size_t size)
{
	char text[4096], *at = NULL;

	if (memory_read_file(path, text, sizeof(text)))
		at = strstr(text, name);
	out[0] = '\0';
	if (at == NULL)
		return;
	at += strlen(name);
	(void)snprintf(out, size, "%.*s", (int)strcspn(at, "\n"), at);
}

static void
machine_look(struct machine *m)
{
	char pages[128], *at, *end;
	struct utsname name;
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	memset(m, 0, sizeof(*m));
	if (uname(&name) >= 0)
		(void)snprintf(m->kernel, sizeof(m->kernel), "%s %s %s",
		    name.sysname, name.release, name.machine);
	m->processors = n > 0 ? (unsigned)n : 0;
	machine_find_line("/proc/cpuinfo", "model name\t: ", m->processor,
	    sizeof(m->processor));
	/* "always [madvise] never": the one in brackets holds */
	machine_find_line("/sys/kernel/mm/transparent_hugepage/enabled", "",
	    pages, sizeof(pages));
	at = strchr(pages, '[');
	end = at != NULL ? strchr(at, ']') : NULL;
	if (end != NULL)
		(void)snprintf(m->huge_pages, sizeof(m->huge_pages), "%.*s",
		    (int)(end - at - 1), at + 1);
}

static const char *
touch_name(struct report *r, const struct run_options *o)
{
	static const char *const names[] = { "none", "first", "page", "all" };
	const char *again = o->touch_again ? ",free" : "";

	if (o->touch == RUN_TOUCH_SHARE)
		return report_text(r, "%g%%%s", o->touch_share * 100, again);
	return report_text(r, "%s%s", names[o->touch], again);
}

static void
machine_put_facts(struct report *r, const struct show *show,
    const struct machine *m)
{
	const struct telreplay *t = show->telreplay;

	(void)report_section(r, REPORT_DATA, "machine");
	report_data(r, "kernel", report_optional(m->kernel));
	report_data(r, "processor", report_optional(m->processor));
	report_data(r, "processors", report_count(m->processors));
	report_data(r, "huge_pages", report_optional(m->huge_pages));
	report_data(r, "runs", report_count(show->benchmark->rounds));
	report_data(r, "repeat", report_count(t->run.repeat));
	report_data(r, "touch", report_string(touch_name(r, &t->run)));
	report_data(r, "verified", report_count(t->run.verify != 0));
	report_data(r, "pace", report_real(t->run.pace));
	report_data(r, "think_ns", report_real(t->run.think_ns));
	report_data(r, "think_log", report_count(t->run.think_log != 0));
	report_data(r, "sampled_each", report_count(t->run.sample));
	report_put(r);
}

void
show_machine(struct report *r, const struct show *show)
{
	const struct telreplay *t = show->telreplay;
	struct machine m;
	char text[256];

	machine_look(&m);
	machine_put_facts(r, show, &m);
	show_section(r, show_text(show, DETAILS_MACHINE), "machine",
	    "machine and runs")
	    ->label_width = 14;
	report_line(r, "kernel", "%s", page_escape(text, 200, m.kernel));
	report_line(r, "processors", "%u%s%s", m.processors,
	    m.processor[0] != '\0' ? ", " : "",
	    page_escape(text, 120, m.processor));
	if (m.huge_pages[0] != '\0')
		report_line(r, "huge pages", "%s",
		    page_escape(text, 40, m.huge_pages));
	text[0] = '\0';
	if (t->run.repeat > 1)
		(void)snprintf(text, sizeof(text),
		    ", the trace %u times in each", t->run.repeat);
	report_line(r, "runs", "%" PRIu64 " of each allocator%s",
	    show->benchmark->rounds, text);
	report_line(r, "order", "%s", show_order(show->facts));
	report_line(r, "touched", "%s%s", touch_name(r, &t->run),
	    t->run.verify ? ", and all of it verified" : "");
	if (t->run.think_ns > 0)
		report_line(r, "computed", "%g ns before each operation",
		    t->run.think_ns);
	if (t->run.think_log)
		report_line(r, "computed", "as long as the log has");
	if (t->run.pace > 0)
		report_line(r, "pace", "%g times the recorded one",
		    t->run.pace);
	report_put(r);
}
