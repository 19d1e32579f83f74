/* SPDX-License-Identifier: BSD-2-Clause */
/* What the forms of the report share. */
#include "report.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

const char *const report_kinds[RUN_KINDS] = { "malloc", "calloc", "aligned",
	"realloc", "free" };

const char *const report_operations[ALLOC_KINDS] = { "none", "malloc", "calloc",
	"aligned", "realloc", "free", "reserve", "commit", "pool create",
	"pool destroy", "buffer create", "buffer destroy", "thread end" };

const struct report_quantile report_quantiles[REPORT_QUANTILES] = {
	{ "p50", 0.5 }, { "p90", 0.9 }, { "p99", 0.99 }, { "p99.9", 0.999 }
};

double
report_latency(const struct result *r, enum run_kind kind, double share)
{
	const struct run_latency *l = &r->latency[kind];
	double max = (double)l->max * r->tick_ns, value;
	struct run_board scale;

	if (share >= 1)
		return max;
	memset(&scale, 0, sizeof(scale));
	scale.tick_ns = r->tick_ns;
	value = run_quantile(&scale, l, share);
	return value < max ? value : max;
}

/* What stands behind the colon of the line that begins so. */
static void
find_line(const char *path, const char *name, char *out, size_t size)
{
	char line[512], *at;
	FILE *file = fopen(path, "r");

	out[0] = '\0';
	if (file == NULL)
		return;
	while (fgets(line, sizeof(line), file) != NULL) {
		if (strncmp(line, name, strlen(name)) != 0)
			continue;
		line[strcspn(line, "\n")] = '\0';
		at = strchr(line, ':');
		at = at != NULL && name[0] != '\0' ? at + 1 : line;
		at += strspn(at, " \t");
		(void)snprintf(out, size, "%s", at);
		break;
	}
	(void)fclose(file);
}

void
report_machine(struct report_machine *m)
{
	char pages[128], *at, *end;
	struct utsname name;
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	memset(m, 0, sizeof(*m));
	if (uname(&name) >= 0)
		(void)snprintf(m->kernel, sizeof(m->kernel), "%s %s %s",
		    name.sysname, name.release, name.machine);
	m->processors = n > 0 ? (unsigned)n : 0;
	find_line("/proc/cpuinfo", "model name", m->processor,
	    sizeof(m->processor));
	/* "always [madvise] never": the one in brackets holds */
	find_line("/sys/kernel/mm/transparent_hugepage/enabled", "", pages,
	    sizeof(pages));
	at = strchr(pages, '[');
	end = at != NULL ? strchr(at, ']') : NULL;
	if (end != NULL)
		(void)snprintf(m->huge_pages, sizeof(m->huge_pages), "%.*s",
		    (int)(end - at - 1), at + 1);
}

const char *
report_order(const struct facts *f)
{
	switch (f->order) {
	case ORDER_EDGES: return "edges";
	case ORDER_TOTAL: return "total";
	case ORDER_NONE: return "none";
	default: return "";
	}
}

const char *
report_touch(enum run_touch touch)
{
	switch (touch) {
	case RUN_TOUCH_NONE: return "none";
	case RUN_TOUCH_FIRST: return "first";
	case RUN_TOUCH_PAGE: return "page";
	case RUN_TOUCH_ALL: return "all";
	}
	return "";
}

unsigned
report_last(const uint64_t *histogram)
{
	unsigned i = 64;

	while (i > 0 && histogram[i] == 0)
		i--;
	return i;
}

unsigned
report_first(const uint64_t *histogram)
{
	unsigned i = 0;

	while (i < 64 && histogram[i] == 0)
		i++;
	return i;
}

double
report_ratio(double a, double b)
{
	return b > 0 ? a / b : 0;
}
