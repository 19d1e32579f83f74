/* SPDX-License-Identifier: BSD-2-Clause */
/* The runs: interleaved, so that a disturbance affects all alike. */
#include "telreplay/run/benchmark.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "telreplay/run/collect.h"
#include "common/message.h"
#include "common/page.h"
#include "common/progress.h"

#define SECOND 1000000000ULL
/* When the progress line first appears, and how often it changes. */
#define DELAY SECOND
#define INTERVAL (SECOND / 5)
/* --runs auto starts no more runs after this time. */
#define AUTO_NS (60 * SECOND)

static char malloc_name[] = "null";
static char pool_name[] = "null pool";

/* The current run, for the progress line. */
struct progress_line {
	struct benchmark *benchmark;
	const struct result *result;
	const char *what;
};

static void
show_progress(void *arg, struct shared *sh)
{
	const struct progress_line *shown = arg;
	struct benchmark *c = shown->benchmark;
	const struct settings *s = &c->telreplay->settings;
	uint64_t t = progress_now();
	char line[160];
	double share;

	if (!s->progress &&
	    (s->quiet || !isatty(STDERR_FILENO) || t - c->begun < DELAY))
		return;
	if (t - c->shown < INTERVAL)
		return;
	c->shown = t;
	share = run_progress(shared_run_stats(sh), c->trace->facts, NULL);
	(void)snprintf(line, sizeof(line), "%s: %.40s, %s: %.0f%%",
	    message_program(), shown->result->allocator->name, shown->what,
	    share * 100);
	message_transient(line);
}

/* Writes the request to the shared memory. */
static void
request(struct benchmark *c, const struct result *r, enum job job)
{
	const struct allocator *k = r->allocator;
	struct shared *sh = c->stage.shared;

	stage_clear(&c->stage);
	sh->job = job;
	sh->program = c->trace != NULL ? c->trace->fd : -1;
	sh->traced = job == JOB_WATCH;
	sh->builtin = k->builtin;
	(void)snprintf(sh->parameters, sizeof(sh->parameters), "%s",
	    k->parameters);
	sh->options = c->telreplay->run;
	sh->options.check = r->own != NULL && r->own != r;
	sh->options.verify = r->verified;
	if (job == JOB_WATCH) {
		sh->options.sample = 0;
		sh->idle_ns = c->telreplay->idle;
	}
}

/* Keeps its name and version; the strings of a library are not trusted. */
static void
take_name(struct result *r, struct shared *sh)
{
	const struct allocator *a = r->allocator;

	/* one that only a descriptor can name has another name there */
	(void)page_escape(r->path, sizeof(r->path) - 1,
	    a->fd >= 0 ? a->path[0] : sh->path);
	(void)page_escape(r->release, sizeof(r->release) - 1, sh->release);
	(void)page_escape(r->called, sizeof(r->called) - 1, sh->name);
	r->plugin = sh->plugin != 0;
	r->has_delete = sh->has_delete != 0;
	r->has_sized = sh->has_sized != 0;
	/* two NULs end it in any case */
	memcpy(r->settings, sh->settings, sizeof(r->settings) - 2);
}

/* Nonzero when malloc is that of the requested library. */
static int
is_served(const struct allocator *k, struct shared *sh)
{
	const char *path = sh->path, *base = strrchr(k->library, '/');
	struct stat asked, served;

	if (k->builtin != BUILTIN_NONE || k->library[0] == '\0' || sh->plugin)
		return 1;
	if (base == NULL) {
		const char *name = strrchr(path, '/');

		return strcmp(name != NULL ? name + 1 : path, k->library) == 0;
	}
	return stat(k->library, &asked) == 0 && stat(path, &served) == 0 &&
	    asked.st_dev == served.st_dev && asked.st_ino == served.st_ino;
}

/* Starts a process only to find out which library serves malloc. */
static int
probe(struct benchmark *c, struct result *r, struct outcome *out)
{
	struct spawn spawn = { 10 * SECOND, NULL, NULL, NULL };

	request(c, r, JOB_PROBE);
	if (!spawn_run(&spawn, r->allocator, &c->stage, out))
		return -1;
	return out->ending == ENDED_WELL &&
	    is_served(r->allocator, c->stage.shared);
}

/* The library was not found: malloc is that of another one. */
static void
show_absent(const struct benchmark *c, const struct result *r,
    const struct outcome *out)
{
	const struct allocator *k = r->allocator;

	if (k->package != NULL)
		message_fail(STATUS_FAILED, k->name,
		    "the loader cannot find %s (Debian: %s)", k->libraries[0],
		    k->package);
	else
		message_fail(STATUS_FAILED, k->name,
		    "malloc is still that of %s%s%s", c->stage.shared->path,
		    out->said[0] != '\0' ? ": " : "", out->said);
}

/* Finds the first of a allocator's libraries that loads. */
static int
benchmark_find(struct benchmark *c, struct result *r)
{
	struct allocator *k = r->allocator;
	struct outcome out;
	int good = 0;
	size_t i = 0;

	do {
		if (k->libraries != NULL && k->libraries[i] != NULL &&
		    !allocator_use(k, k->libraries[i]))
			return 0;
		good = probe(c, r, &out);
		if (good < 0)
			return 0;
	} while (!good && k->libraries != NULL && k->libraries[i] != NULL &&
	    k->libraries[++i] != NULL);
	if (good) {
		take_name(r, c->stage.shared);
		return r->plugin || k->builtin != BUILTIN_NONE ||
		    allocator_check_settings(k);
	}
	if (out.ending != ENDED_WELL) {
		collect_fail(c, r, &out, "before it was used");
		return 1;
	}
	show_absent(c, r, &out);
	return 0;
}

/* The null allocator that measures the own cost: malloc or pool. */
static const struct result *
own_of(struct benchmark *c, const struct result *r)
{
	int pool = r->plugin || r->allocator->builtin != BUILTIN_NONE;
	enum builtin built = pool ? BUILTIN_NULL : BUILTIN_NULL_MALLOC;

	/* what it takes is what telreplay takes */
	if (r->allocator->builtin == BUILTIN_NULL_MALLOC)
		return r;
	for (size_t i = 0; i < c->nown; i++)
		if (c->own[i].allocator->builtin == built)
			return &c->own[i];
	struct result *own = &c->own[c->nown];
	own->allocator = &c->null[c->nown++];
	own->allocator->builtin = built;
	own->allocator->name = pool ? pool_name : malloc_name;
	own->allocator->parameters = "";
	return own;
}

int
benchmark_open(struct benchmark *c, struct telreplay *t)
{
	memset(c, 0, sizeof(*c));
	c->telreplay = t;
	c->n = t->allocators.n;
	c->pairs = c->n * (c->n - 1) / 2;
	c->results = calloc(c->n, sizeof(*c->results));
	c->own = calloc(2, sizeof(*c->own));
	c->verdicts = calloc(METRICS * c->pairs + 1, sizeof(*c->verdicts));
	if (c->results == NULL || c->own == NULL || c->verdicts == NULL)
		return message_no_memory();
	if (!stage_open(&c->stage, 0))
		return 0;
	for (size_t i = 0; i < c->n; i++) {
		c->results[i].allocator = &t->allocators.list[i];
		if (!benchmark_find(c, &c->results[i]))
			return 0;
		c->results[i].own = own_of(c, &c->results[i]);
		c->results[i].verified =
		    t->run.verify && c->results[i].own != &c->results[i];
	}
	stage_close(&c->stage);
	return 1;
}

/* One run of one allocator. */
static int
run_one(struct benchmark *c, struct result *r, enum job job, const char *what)
{
	struct progress_line shown = { c, r, what };
	struct spawn spawn = { c->telreplay->timeout, show_progress, &shown,
		job == JOB_WATCH ? c->trace->facts : NULL };
	struct outcome out;

	if (r->failed)
		return 1;
	request(c, r, job);
	if (!spawn_run(&spawn, r->allocator, &c->stage, &out))
		return 0;
	collect_run(c, r, job, &out);
	return 1;
}

/* One run of each allocator. */
static int
run_round(struct benchmark *c, enum job job, size_t round, const char *what)
{
	size_t own = job == JOB_TIME ? c->nown : 0, n = own + c->n, i, k;

	/* the first of a round may profit from an idle machine: it changes */
	for (i = 0; i < n; i++) {
		k = (i + round) % n;
		if (!run_one(c, k < own ? &c->own[k] : &c->results[k - own],
		        job, what))
			return 0;
	}
	return 1;
}

/*
 * Nonzero when more runs would not change what --runs auto is to find out: each
 * allocator's time differs from that of the first, or is known to be equal.
 */
static int
is_decided(const struct benchmark *c)
{
	const struct verdict *v;

	for (size_t i = 1; i < c->n; i++) {
		v = benchmark_verdict(c, METRIC_COST, i, 0);
		if (v->known && !v->different && !v->equal)
			return 0;
	}
	return 1;
}

/* The timed runs. */
static int
run_timed(struct benchmark *c)
{
	uint64_t i, n = c->telreplay->runs;
	uint64_t look = verdict_runs(c->pairs, benchmark_looks(c));
	uint64_t end = progress_now() + AUTO_NS;
	int automatic = n == RUNS_AUTO, good = 1;
	char what[64];

	if (automatic || n == 0)
		n = automatic ? RUNS_MAX : look;
	for (i = 0; i < n && good; i++) {
		(void)snprintf(what, sizeof(what),
		    "run %" PRIu64 " of %s%" PRIu64, i + 1,
		    automatic ? "at most " : "", n);
		good = run_round(c, JOB_TIME, (size_t)i, what);
		c->rounds = i + 1;
		if (automatic && c->rounds == look) {
			benchmark_judge(c);
			if (is_decided(c))
				return good;
			look *= 2;
		}
		if (automatic && progress_now() > end)
			break;
	}
	benchmark_judge(c);
	return good;
}

int
benchmark_run(struct benchmark *c, const struct trace *trace)
{
	size_t threads = (size_t)trace->facts->threads, j;

	c->trace = trace;
	c->begun = progress_now();
	if (!stage_open(&c->stage, threads))
		return 0;
	for (j = 0; j < c->n; j++) {
		c->results[j].threads =
		    calloc(threads, sizeof(struct run_times));
		if (c->results[j].threads != NULL)
			continue;
		return message_no_memory();
	}
	/* memory first: a crash is then shown once, before timings */
	int good = run_round(c, JOB_WATCH, 0, "memory") && run_timed(c);
	if (c->shown != 0)
		message_transient(NULL);
	return good;
}

void
benchmark_close(struct benchmark *c)
{
	for (size_t i = 0; i < c->n && c->results != NULL; i++)
		free(c->results[i].threads);
	free(c->results);
	free(c->own);
	free(c->verdicts);
	stage_close(&c->stage);
}
