/* SPDX-License-Identifier: BSD-2-Clause */
/* The event of bench_emit.c as a tracepoint of LTTng-UST: see lttng-ust(3). */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng.h"

#if !defined(BENCH_LTTNG_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_LTTNG_H

#include <lttng/tracepoint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(bench, turn,
	LTTNG_UST_TP_ARGS(const void *, pointer, const void *, address,
	    unsigned long, number),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer_hex(unsigned long, pointer,
		    (unsigned long)pointer)
		lttng_ust_field_integer_hex(unsigned long, address,
		    (unsigned long)address)
		lttng_ust_field_integer(unsigned long, number, number)))
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
