#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The memory of replays, compared with that of the programs.

load lib

@test "a replay has the memory of the program, at its peak and at its end" {
	for library in libjemalloc.so.2 libmimalloc.so.2.0 \
	    libtcmalloc_minimal.so.4; do
		LD_PRELOAD=$library /bin/true 2>&1 | grep -q . &&
		    skip "no $library"
	done
	grep -q Anonymous: /proc/self/smaps_rollup || skip "no smaps_rollup"
	for program in python3 perl sqlite3 gcc; do
		[ -x /usr/bin/$program ] || skip "no $program"
	done
	cc -O2 -shared -fPIC -o "$BATS_TEST_TMPDIR/memory.so" \
	    "$TEL_TOP/tests/cli/telreplay_memory.c"
	cc -O2 -pthread -o "$BATS_TEST_TMPDIR/threads" \
	    "$TEL_TOP/tests/cli/telreplay_threads.c"
	for ((i = 0; i < 15000; i++)); do
		echo "f$i: movl \$$i, %eax; ret; .globl f$i"
	done >"$BATS_TEST_TMPDIR/many.s"
	/usr/bin/gcc -c -o /dev/null "$BATS_TEST_TMPDIR/many.s" ||
	    skip "an assembler for another processor"
	printf '%s\n' 'sh python3' 'env python3' 'direct perl' \
	    'env perl' 'env sqlite3' 'sh perl' 'direct sqlite3' \
	    'sh sqlite3' 'direct gcc' 'env gcc' 'sh gcc' 'direct python3' |
	    sample 4 >"$BATS_TEST_TMPDIR/programs"
	printf '%s\n' 'direct threads' 'sh threads' 'inside perl' |
	    sample 3 >>"$BATS_TEST_TMPDIR/programs"
	python3 "$TEL_TOP/tests/cli/telreplay_memory.py" \
	    "$BATS_TEST_TMPDIR/memory.so" "$BATS_TEST_TMPDIR/many.s" \
	    "$BATS_TEST_TMPDIR" <"$BATS_TEST_TMPDIR/programs"
}
