# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What the tests of telreplay share: traces, plug-ins, figures of a report.

load lib

MODEL=$TEL_TOP/tests/cli/telreplay_model.py

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
}

# Other mallocs cannot be loaded before that of a sanitizer.
needs_preload() {
	case ${CFLAGS-} in *-fsanitize*) skip "the sanitizer has malloc" ;; esac
}

# Waits between threads, which take most of the time, grow with a trace.
TENTH=10
[ -z "${TEST_WHOLE-}" ] || TENTH=1

# trace NAME SEED EVENTS THREADS: a trace that the model made, of a tenth of the
# events unless TEST_WHOLE is set.
trace() {
	python3 "$MODEL" make "$2" $(($3 / TENTH)) "$4" >"$1"
}

# figure TYPE ALLOCATOR NAME: of the report in csv on standard input.
figure() {
	awk -F, -v t="$1" -v a="$2" -v n="$3" \
	    '$1 == t && $2 == a && $4 == n { print $5 }'
}

# small_plugin NAME: a pool allocator of start() and get() on standard input; it
# keeps all blocks.
small_plugin() {
	needs_preload
	{
		cat <<-END
			#define _GNU_SOURCE
			#include <pthread.h>
			#include <stdlib.h>
			#include <sys/mman.h>
			#include <tel_pool.h>
			#include <unistd.h>
		END
		cat
		cat <<-END
			static void drop(void *p, void *b, size_t n)
			{ (void)p; (void)b; (void)n; }
			const tel_pool_table tel_pool_allocator = {
				.version = TEL_POOL_VERSION, .name = "$1",
				.start = start, .alloc = get, .free = drop };
		END
	} >"$1.c"
	${CC:-cc} -std=gnu11 -shared -fPIC -pthread -I"$TEL_TOP/include" \
	    -o "$1.so" "$1.c"
}
