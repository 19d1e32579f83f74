# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What the tests in this folder share.

bats_require_minimum_version 1.5.0

# The names of the functions that tel.h declares, sorted.
declared_functions() {
	sed '/^#/d' "$TEL_TOP/include/tel.h" | tr '\n\t' '  ' |
	    grep -o 'TEL_API [^;]*;' |
	    sed 's/^[^(]*[ *]\(tel_[a-z0-9_]*\)(.*/\1/' | sort
}

# The commands that there are.
tools() {
	(cd "$TEL_TOP/cmd" && printf '%s\n' */main.c) | sed 's|/main.c||'
}
