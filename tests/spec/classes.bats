#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Classes of statistics, by a model in Python that was written from the manual,
# on random logs; TEST_SEED is another one for these.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
}

# agree WHAT: telstat and the model do.
agree() {
	python3 "$TEL_TOP/tests/spec/class_compare.py" "$1" "${TEST_SEED:-28}"
}

@test "classes agree with their model in groups" {
	agree groups
}

@test "classes agree with their model in intervals" {
	agree intervals
}

@test "parts of classes merge to one run, in any order, and threads do" {
	agree parts
}

@test "every output has the numbers of a class" {
	agree outputs
}
