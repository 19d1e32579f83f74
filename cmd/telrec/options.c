/* SPDX-License-Identifier: BSD-2-Clause */
/* telrec's command line. */
#include "telrec.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>
#include "common/message.h"
#include "common/number.h"
#include "common/options.h"
#include "telrec/preload/stack.h"

enum {
	OPTION_CONTROL = OPTION_OWN,
	OPTION_MAPS,
	OPTION_PAUSED,
	OPTION_DELAY,
	OPTION_FOR,
	OPTION_SIZE,
	OPTION_RING,
	OPTION_TIMES,
	OPTION_SYMBOLS
};

static const struct option_row own[] = {
	{ OPTION_HEADING, "Recording", NULL, NULL, 0 },
	{ 'o', "output", "FILE", "write to FILE instead of telrec.tel; -: pipe",
	    0 },
	{ 'z', "compress", "LEVEL", "compress with zstd, 1 to 19", 0 },
	{ 'a', "allocator", "LIBRARY",
	    "preload jemalloc, mimalloc, tcmalloc or a file", 0 },
	{ 'g', "stacks", "[=HOW]", "record stacks: unwind, or fp", 0 },
	{ 's', "sample", "BYTES", "record a sample for every BYTES allocated",
	    0 },
	{ OPTION_TIMES, "times", "WHICH",
	    "read the clock now and then, or for each event: coarse, exact",
	    0 },
	{ OPTION_MAPS, "maps", NULL,
	    "also record mmap, munmap, mremap, sbrk, brk", OPTION_RARE },
	{ 'p', "process", "PID", "record a running process", 0 },
	{ OPTION_DELAY, "delay", "TIME", "start recording after TIME: 10s",
	    OPTION_RARE },
	{ OPTION_PAUSED, "paused", NULL,
	    "start paused; SIGUSR1 starts and stops", OPTION_RARE },
	{ OPTION_FOR, "for", "TIME", "stop recording after TIME", 0 },
	{ OPTION_SIZE, "size", "BYTES", "stop recording at BYTES of log", 0 },
	{ 'n', "limit", "N", "stop recording after N events", 0 },
	{ OPTION_RING, "ring", "BYTES",
	    "keep the last events in memory; write them at the end", 0 },
	{ OPTION_SYMBOLS, "symbols", "LOG",
	    "write LOG, a raw trace of heaptrack, with names of frames",
	    OPTION_RARE },
	{ OPTION_HEADING, "Control", NULL, NULL, 0 },
	{ OPTION_CONTROL, "control", "PROCESS",
	    "show what a program writes, or change it: +Pool,-Ref", 0 },
};

static int
take_time(const char *option, const char *value, int64_t *out)
{
	if (number_time(value, out) && *out > 0)
		return 1;
	return message_fail(STATUS_USAGE, NULL,
	    "%s: '%s' is not a time such as 500ms, 10s or 2m", option, value);
}

static int
telrec_options_take(void *arg, int id, const char *value)
{
	struct telrec *t = arg;
	uint64_t level;

	switch (id) {
	case 'o': t->output = value; return 1;
	case 'a': t->allocator = value; return 1;
	case 'g':
		t->stacks = value == NULL || strcmp(value, "unwind") == 0 ?
		    TELREC_UNWIND_TABLES :
		    strcmp(value, "fp") == 0 ? TELREC_UNWIND_FRAMES :
		                               TELREC_UNWIND_NONE;
		if (t->stacks != TELREC_UNWIND_NONE)
			return 1;
		return message_fail(STATUS_USAGE, NULL,
		    "-g: '%s': expected fp or unwind", value);
	case OPTION_SYMBOLS: t->symbols = value; return 1;
	case 'q': t->quiet = 1; return 1;
	case 'n':
		return number_option("-n", "number of events", value, 1,
		    UINT64_MAX, &t->limit);
	case OPTION_PAUSED: t->paused = 1; return 1;
	case OPTION_DELAY: return take_time("--delay", value, &t->delay);
	case OPTION_FOR: return take_time("--for", value, &t->duration);
	case OPTION_SIZE:
		return number_option("--size", "size", value, 1, INT64_MAX,
		    &t->size);
	case 's':
		return number_option("-s", "number of bytes", value, 1,
		    (uint64_t)1 << 40, &t->sample);
	case 'p':
		return number_option("-p", "process", value, 1, INT32_MAX,
		    &t->process);
	case OPTION_RING:
		return number_option("--ring", "size", value, 1, INT64_MAX,
		    &t->ring);
	case OPTION_TIMES:
		t->exact = strcmp(value, "exact") == 0;
		if (t->exact || strcmp(value, "coarse") == 0)
			return 1;
		return message_fail(STATUS_USAGE, NULL,
		    "--times: '%s': expected coarse or exact", value);
	case OPTION_MAPS: t->maps = 1; return 1;
	case 'z':
		if (!number_option("-z", "level", value, 1, 19, &level))
			return 0;
		t->compress = (int)level;
		return 1;
	default: break;
	}
	if (t->control == NULL) {
		t->control = value;
		return 1;
	}
	return message_fail(STATUS_USAGE, NULL, "--control was given twice");
}

static const struct tool tool = { "telrec", TOOL_TELREC, own,
	sizeof(own) / sizeof(own[0]), NULL, telrec_options_take,
	"PROGRAM [argument ...]",
	"Records the allocations of a program, and of those that it starts.",
	{ "telrec -o run.tel -- gcc -c x.c",
	    "telrec --control 4711 +Pool,-Ref" } };

/* The changes follow the process, and may begin with '-', as "-Ref" does. */
static int
is_change(const char *text)
{
	return text[0] != '-' ||
	    (isalnum((unsigned char)text[1]) &&
	        (text[2] != '\0' || strchr("hV", text[1]) == NULL));
}

int
telrec_options(struct telrec *t, int argc, char **argv)
{
	const char *value;

	memset(t, 0, sizeof(*t));
	while (
	    t->control == NULL || optind >= argc || !is_change(argv[optind])) {
		int id = options_next(&tool, argc, argv, &value);

		if (id == OPTION_END)
			break;
		if (id == OPTION_STOP || !telrec_options_take(t, id, value))
			return 0;
	}
	t->operands = argv + optind;
	t->noperands = argc - optind;
	if (t->symbols != NULL && t->noperands != 1)
		return message_fail(STATUS_USAGE, NULL,
		    "--symbols LOG: expected the file to write");
	if (t->paused && t->delay != 0)
		return message_fail(STATUS_USAGE, NULL,
		    "--delay cannot be combined with --paused");
	/* the log of a ring is written at the end */
	if (t->ring > 0 && t->size > 0)
		return message_fail(STATUS_USAGE, NULL,
		    "--size cannot be combined with --ring");
	if (t->process != 0 && (t->noperands > 0 || t->allocator != NULL))
		return message_fail(STATUS_USAGE, NULL,
		    "-p cannot be combined with a program or -a");
	if (t->control != NULL || t->noperands > 0 || t->process != 0)
		return 1;
	message_fail(STATUS_USAGE, NULL, "expected a program to record");
	message(NULL, "try 'telrec --help'");
	return 0;
}
