/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Symbols: which modules a process had when a frame was recorded, the names of
 * frames, and a copy of a log with them.  Each address is looked up once.
 */
#define _GNU_SOURCE
#include "telrec/symbols.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/table.h"
#include "common/message.h"
#include "common/streams.h"
#include "telrec/dwarf.h"

/* Bytes of a name, and names that a log may have. */
#define NAME_BYTES 16384
#define NAMES_MAX ((size_t)1 << 22)

/* A file that was mapped, by any process. */
struct file {
	char *path, *build;
	struct dwarf *dwarf; /* NULL: it is not open, or cannot be */
	int tried;
	struct tel__table names; /* by their addresses, char * */
};

struct module {
	uint64_t start, bias;
	uint32_t file;
};

/* The modules of a process, from its start or exec on. */
struct set {
	uint32_t pid;
	uint64_t clock;
	struct module *modules;
	size_t nmodules, module_room;
};

struct telrec_symbols {
	struct set *sets;
	size_t nsets, set_room;
	struct file *files;
	size_t nfiles, file_room;
	char exe[4096]; /* heaptrack: the program */
	char name[NAME_BYTES];
};

struct telrec_symbols *
telrec_symbols_new(void)
{
	return calloc(1, sizeof(struct telrec_symbols));
}

static void
symbols_free_names(struct tel__table *names)
{
	for (size_t i = 0; names->count > 0 && i <= names->mask + 1; i++)
		free((char *)(uintptr_t)names->entries[i].value);
	tel__table_clear(names);
}

void
telrec_symbols_free(struct telrec_symbols *s)
{
	if (s == NULL)
		return;
	for (size_t i = 0; i < s->nsets; i++)
		free(s->sets[i].modules);
	for (size_t i = 0; i < s->nfiles; i++) {
		dwarf_free(s->files[i].dwarf);
		symbols_free_names(&s->files[i].names);
		free(s->files[i].path);
		free(s->files[i].build);
	}
	free(s->sets);
	free(s->files);
	free(s);
}

/* The newest set of a process at a clock, or its first; NULL: it has none. */
static struct set *
find_set(struct telrec_symbols *s, uint32_t pid, uint64_t clock)
{
	struct set *first = NULL;

	for (size_t i = s->nsets; i-- > 0;) {
		if (s->sets[i].pid != pid)
			continue;
		first = &s->sets[i];
		if (first->clock <= clock)
			break;
	}
	return first;
}

/* The place of a file; UINT32_MAX: no memory. */
static uint32_t
find_file(struct telrec_symbols *s, const char *path, const char *build)
{
	for (size_t i = 0; i < s->nfiles; i++)
		if (strcmp(s->files[i].path, path) == 0 &&
		    strcmp(s->files[i].build, build) == 0)
			return (uint32_t)i;
	if (!TEL__RESERVE(s->files, s->file_room, s->nfiles + 1))
		return UINT32_MAX;
	struct file *f = &s->files[s->nfiles];
	memset(f, 0, sizeof(*f));
	tel__table_init(&f->names);
	f->path = strdup(path);
	f->build = strdup(build);
	if (f->path == NULL || f->build == NULL) {
		free(f->path);
		free(f->build);
		return UINT32_MAX;
	}
	return (uint32_t)s->nfiles++;
}

int
telrec_symbols_module(struct telrec_symbols *s, uint32_t pid, uint64_t clock,
    uint64_t start, uint64_t bias, const char *path, const char *build)
{
	struct set *set = find_set(s, pid, clock);

	if (set == NULL || build[0] == '!') {
		if (!TEL__RESERVE(s->sets, s->set_room, s->nsets + 1))
			return 0;
		set = &s->sets[s->nsets++];
		memset(set, 0, sizeof(*set));
		set->pid = pid;
		set->clock = clock;
	}
	if (path[0] == '\0')
		return 1;
	uint32_t file = find_file(s, path, build + (build[0] == '!'));
	if (file == UINT32_MAX ||
	    !TEL__RESERVE(set->modules, set->module_room, set->nmodules + 1))
		return 0;
	struct module *m = &set->modules[set->nmodules++];
	m->start = start;
	m->bias = bias;
	m->file = file;
	return 1;
}

/* -------------------------------------------------------------- addresses */

/* The module that an address is in; NULL: none. */
static const struct module *
find_module(const struct set *set, uint64_t address)
{
	const struct module *best = NULL;

	for (size_t i = 0; i < set->nmodules; i++)
		if (set->modules[i].start <= address &&
		    (best == NULL || set->modules[i].start >= best->start))
			best = &set->modules[i];
	return best;
}

/* The name of an address in a file, "" if it is behind it; NULL: no memory. */
static char *
make_name(struct telrec_symbols *s, struct file *f, uint64_t address)
{
	const char *slash = strrchr(f->path, '/');
	size_t n = 0;

	if (!f->tried && f->path[0] == '/')
		f->dwarf = dwarf_new(f->path, f->build);
	f->tried = 1;
	if (f->dwarf != NULL && !dwarf_has(f->dwarf, address))
		return strdup("");
	if (f->dwarf != NULL)
		n = dwarf_name(f->dwarf, address, s->name, sizeof(s->name));
	if (n > 0)
		return strndup(s->name, n);
	(void)snprintf(s->name, sizeof(s->name), "%s+0x%" PRIx64,
	    slash != NULL ? slash + 1 : f->path, address);
	return strdup(s->name);
}

const char *
telrec_symbols_name(struct telrec_symbols *s, uint32_t pid, uint64_t clock,
    uint64_t address)
{
	const struct set *set = find_set(s, pid, clock);
	const struct module *m = set == NULL ? NULL : find_module(set, address);
	struct tel__entry *name;
	int fresh;

	if (m == NULL)
		return "";
	struct file *f = &s->files[m->file];
	name = tel__table_put(&f->names, address - m->bias, &fresh);
	if (name == NULL)
		return "";
	if (fresh)
		name->value = (uintptr_t)make_name(s, f, address - m->bias);
	return name->value != 0 ? (char *)(uintptr_t)name->value : "";
}

void
telrec_symbols_check(const char *log)
{
	if (!dwarf_available())
		message(log,
		    "frames have no names: telrec needs libdw.so.1 of elfutils "
		    "(Debian: libdw1)");
}

/* A tel_frame_name_fn. */
static const char *
symbols_name_frame(void *arg, const tel_event *frame, uint64_t address,
    size_t *length)
{
	const int pid = tel_type_find_field(tel_event_type(frame), "pid");
	const char *name = telrec_symbols_name(arg,
	    pid < 0 ? 0 : (uint32_t)tel_event_u64(frame, (unsigned)pid),
	    tel_event_clock(frame), address);

	*length = strlen(name);
	return *length > 0 ? name : NULL;
}

/* -------------------------------------------------------------- heaptrack */

/*
 * "x LENGTH PATH": the program; "m LENGTH PATH START ...": a module, "x" being
 * the program; "m 1 -": all are gone.
 */
static int
take_note(struct telrec_symbols *s, const char *text, size_t n, uint64_t clock)
{
	char line[4200], path[4096] = "";
	unsigned length;
	uint64_t bias;
	int at = 0;

	if (n >= sizeof(line) || (text[0] != 'x' && text[0] != 'm'))
		return 1;
	memcpy(line, text, n);
	line[n] = '\0';
	if (sscanf(line + 1, " %x %n", &length, &at) < 1 || at == 0 ||
	    length >= sizeof(path) || strlen(line + 1 + at) < length)
		return 1;
	memcpy(path, line + 1 + at, length);
	path[length] = '\0';
	if (text[0] == 'x') {
		memcpy(s->exe, path, length + 1);
		return 1;
	}
	if (sscanf(line + 1 + (size_t)at + length, " %" SCNx64, &bias) < 1)
		return strcmp(path, "-") != 0 ||
		    telrec_symbols_module(s, 0, clock, 0, 0, "", "!");
	return telrec_symbols_module(s, 0, clock, bias, bias,
	    strcmp(path, "x") == 0 ? s->exe : path, "");
}

/* ------------------------------------------------------------------ a log */

/* Copies all events.  TEL_END, or what failed. */
static tel_status
copy_events(struct telrec_symbols *s, tel_reader *r, tel_writer *w)
{
	const tel_event *ev;
	const tel_type *type = NULL;
	const char *text;
	tel_status st;
	int is_note = 0;
	size_t n;

	while ((st = tel_reader_next(r, &ev)) == TEL_OK) {
		if (tel_event_type(ev) != type) {
			type = tel_event_type(ev);
			is_note = strcmp(tel_type_name(type), "note") == 0;
		}
		if (is_note && (text = tel_event_string(ev, 0, &n)) != NULL &&
		    n > 0 && !take_note(s, text, n, tel_event_clock(ev)))
			return TEL_ENOMEM;
		st = tel_writer_event(w, ev);
		if (st != TEL_OK)
			return st;
	}
	if (st != TEL_END)
		return st;
	st = tel_writer_end_file(w, r);
	if (st == TEL_OK)
		st = tel_writer_finish(w);
	return st == TEL_OK ? TEL_END : st;
}

/* The same, of an input that is open, to an output. */
static tel_status
copy_log(struct telrec_symbols *s, tel_reader *r, tel_output *out)
{
	tel_writer *w = tel_writer_new(out);
	tel_status st = w == NULL ? TEL_ENOMEM : TEL_OK;

	if (st == TEL_OK)
		st = tel_writer_set(w, TEL_WRITE_MAX_LABELS, NAMES_MAX);
	if (st == TEL_OK)
		st = tel_writer_set_target(w, "tel");
	if (st == TEL_OK)
		st = copy_events(s, r, w);
	tel_writer_free(w);
	return st == TEL_END ? tel_output_finish(out) : st;
}

/*
 * Writes the log at from to the file to, with names of its frames.  Modules
 * in a trace of heaptrack are used as well.
 */
static void
symbols_write(struct telrec_symbols *s, const char *from, const char *to)
{
	struct settings settings = { 0 };
	tel_reader *r = tel_reader_new();
	tel_status st = r == NULL ? TEL_ENOMEM : TEL_OK;
	struct sink sink;

	settings.output = strcmp(to, "-") == 0 ? NULL : to;
	settings.secret = 1;
	if (settings.output == NULL && isatty(STDOUT_FILENO)) {
		message_fail(STATUS_USAGE, NULL,
		    "refusing to write a log to a terminal");
		tel_reader_free(r);
		return;
	}
	if (!output_open(&sink, &settings)) {
		tel_reader_free(r);
		return;
	}
	if (st == TEL_OK)
		st = tel_reader_set(r, TEL_READ_MAX_LABELS, NAMES_MAX);
	if (st == TEL_OK)
		st = tel_reader_set_frame_names(r, symbols_name_frame, s);
	if (st == TEL_OK)
		st = tel_reader_open_file(r, from);
	if (st == TEL_OK)
		st = copy_log(s, r, sink.out);
	if (tel_output_errno(sink.out) != 0)
		sink_failed(&sink);
	else if (st != TEL_OK)
		message_fail(STATUS_FAILED, from, "%s",
		    r != NULL && tel_reader_error(r)[0] != '\0' ?
		        tel_reader_error(r) :
		        tel_status_text(st));
	else
		telrec_symbols_check(from);
	if (st != TEL_OK || sink.failed)
		sink_discard(&sink);
	tel_reader_free(r);
	sink_close(&sink);
}

void
telrec_symbols_copy(const char *from, const char *to)
{
	struct telrec_symbols *s = telrec_symbols_new();

	if (s == NULL)
		(void)message_no_memory();
	else
		symbols_write(s, from, to);
	telrec_symbols_free(s);
}
