#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# What users ask of such tools: each question in one command, its figure compared
# with that of a loop in Python.

bats_require_minimum_version 1.5.0
load "${TEL_TOP:-$BATS_TEST_DIRNAME/../..}/tests/environment"

# Those that no command answers yet.
UNANSWERED=

@test "each question is answered by one command, with the right figure" {
	run python3 "$TEL_TOP/tests/spec/questions.py" \
	    "$TEL_TOP/tests/data/mps" "$BATS_TEST_TMPDIR" "$UNANSWERED"
	echo "$output"
	[ "$status" = 0 ]
}

@test "each command of the manuals' answers has the figure of a loop" {
	run python3 "$TEL_TOP/tests/spec/commands.py" \
	    "$TEL_TOP/tests/data/mps" "$BATS_TEST_TMPDIR"
	echo "$output"
	[ "$status" = 0 ]
}
