#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Each tool with each format of logs and of output, once.  What sanitizers see
# of the tools in .ci/run.

load lib

# all_formats TOOL: matrix.py finds nothing wrong.  Sanitizers see all.
all_formats() {
	if [ -n "${TEST_WHOLE-}" ] || slow; then
		export MATRIX_WHOLE=1
	fi
	run -0 python3 "$TEL_TOP/tests/cli/matrix.py" "$1" "$BATS_TEST_TMPDIR"
	echo "$output"
	[ -z "$output" ]
}

@test "telcat shows every log in every format" {
	all_formats telcat
}

@test "telfilter selects from every log" {
	all_formats telfilter
}

@test "telstat counts every log, and reports in every format" {
	all_formats telstat
}

@test "telreplay compiles every log" {
	all_formats telreplay
}
