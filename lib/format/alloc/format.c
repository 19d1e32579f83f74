/* SPDX-License-Identifier: BSD-2-Clause */
/* The formats of traces of allocators: one a dialect. */
#include "format/alloc/alloc.h"

#define DECODER \
	.probe = tel__al_probe, .open = tel__al_open, .next = tel__al_next, \
	.close = tel__al_close

const struct tel_format_ops tel__format_android = {
	.name = "android",
	.dialect = &tel__al_android,
	DECODER,
};

const struct tel_format_ops tel__format_heaptrack = {
	.name = "heaptrack",
	.dialect = &tel__al_heaptrack,
	DECODER,
};

const struct tel_format_ops tel__format_kdump = {
	.name = "kdump",
	.dialect = &tel__al_kdump,
	DECODER,
};

const struct tel_format_ops tel__format_logalloc = {
	.name = "logalloc",
	.dialect = &tel__al_logalloc,
	DECODER,
};

const struct tel_format_ops tel__format_ltrace = {
	.name = "ltrace",
	.dialect = &tel__al_ltrace,
	DECODER,
};

const struct tel_format_ops tel__format_mtrace = {
	.name = "mtrace",
	.dialect = &tel__al_mtrace,
	DECODER,
};

const struct tel_format_ops tel__format_rep = {
	.name = "rep",
	.dialect = &tel__al_rep,
	DECODER,
};

const struct tel_format_ops tel__format_valgrind = {
	.name = "valgrind",
	.dialect = &tel__al_valgrind,
	DECODER,
};
