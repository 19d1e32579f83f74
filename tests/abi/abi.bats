#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# What programs that were compiled with the headers of the last release rely on.
# "make abi-release" makes the reference of a release.

bats_require_minimum_version 1.5.0
load "${TEL_TOP:-$BATS_TEST_DIRNAME/../..}/tests/environment"

setup() {
	cd "$TEL_TOP" || exit
}

@test "symbols and structures of the last release are as they were" {
	zstd -qdc tests/abi/libtel.abi.zst >"$BATS_TEST_TMPDIR/libtel.abi"
	# additions are no change
	abidiff --no-added-syms --suppr tests/abi/libtel.suppr \
	    "$BATS_TEST_TMPDIR/libtel.abi" "$TEL_BUILD/libtel.so"
}

@test "a program compiled with the last release's headers runs with this library" {
	mkdir "$BATS_TEST_TMPDIR/old"
	zstd -qdc tests/abi/include.tar.zst | tar -xf - -C "$BATS_TEST_TMPDIR/old"
	ln -s "$TEL_BUILD/libtel.so" "$BATS_TEST_TMPDIR/old/libtel.so.0"
	n=0
	for headers in "$BATS_TEST_TMPDIR/old/include" include; do
		$CC -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror \
		    -I"$headers" -o "$BATS_TEST_TMPDIR/program" \
		    tests/abi/program.c -L"$TEL_BUILD" -ltel
		n=$((n + 1))
		LD_LIBRARY_PATH=$BATS_TEST_TMPDIR/old "$BATS_TEST_TMPDIR/program" \
		    tests/data/alloc/calls.ltrace.zst \
		    tests/data/mps/1.112.0-lii3gc-amcss.log.zst mps-1.111.0 'size + 1' \
		    >"$BATS_TEST_TMPDIR/$n" 2>/dev/null
	done
	[ "$(grep -c ' op ' "$BATS_TEST_TMPDIR/1")" -gt 20 ]
	grep -q '^loss ' "$BATS_TEST_TMPDIR/1"
	run ! grep OVERRUN "$BATS_TEST_TMPDIR/1"
	cmp "$BATS_TEST_TMPDIR/1" "$BATS_TEST_TMPDIR/2"
}
