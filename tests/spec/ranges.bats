#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# What is read of a .tel for a part of its events, against a model of what
# tel(5) says of groups, names and summaries.

load "${TEL_TOP:-$BATS_TEST_DIRNAME/../..}/tests/environment"

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
}

@test "a selection has the events, labels and losses of all records, and no more is read" {
	seeds=(1)
	[ -z "${TEST_WHOLE-}" ] || seeds=({2..16})
	python3 "$TEL_TOP/tests/spec/ranges_compare.py" "${seeds[@]}"
}
