# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What the tests in this folder share.

bats_require_minimum_version 1.5.0
load "${TEL_TOP:-$BATS_TEST_DIRNAME/../..}/tests/environment"
load "$TEL_TOP/tests/cli/status"

# The names of the functions that tel.h and its parts declare, sorted; with
# an argument such as 0_1 those that are there since that release.
declared_functions() {
	sed '/^#/d' "$TEL_TOP"/include/tel/*.h | tr '\n\t' '  ' |
	    grep -o "TEL_SINCE_${1-[0-9A-Z_]*} [^;]*;" |
	    sed 's/^[^(]*[ *]\(tel_[a-z0-9_]*\)(.*/\1/' | sort
}

# The commands that there are.
tools() {
	(cd "$TEL_TOP/cmd" && printf '%s\n' */main.c) | sed 's|/main.c||'
}
