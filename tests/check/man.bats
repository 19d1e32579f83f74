#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The manual: complete, and without loose ends.

load lib

@test "mandoc finds nothing to complain of" {
	run -0 mandoc -Tlint -Wwarning "$TEL_TOP"/man/*.[1-8]
	[ -z "$output" ]
}

@test "each function of tel.h is in the synopsis of a page, and no other" {
	declared_functions >"$BATS_TEST_TMPDIR/declared"
	sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESCRIPTION/s/^\.F[no] "\{0,1\}\(tel_[a-z0-9_]*\).*/\1/p' \
	    "$TEL_TOP"/man/*.3 | sort -u >"$BATS_TEST_TMPDIR/documented"
	diff -u "$BATS_TEST_TMPDIR/declared" "$BATS_TEST_TMPDIR/documented"
}

@test "references to pages of ours lead to pages that there are" {
	sed -n 's/^\.Xr \(\(lib\)\{0,1\}tel[^ ]*\) \([1-8]\).*/\1.\3/p' \
	    "$TEL_TOP"/man/*.[1-8] | sort -u >"$BATS_TEST_TMPDIR/targets"
	test -s "$BATS_TEST_TMPDIR/targets"
	while read -r page; do
		echo "$page"
		test -f "$TEL_TOP/man/$page"
	done <"$BATS_TEST_TMPDIR/targets"
}

@test "each command has a page with exit status and examples" {
	for tool in $(tools); do
		echo "$tool"
		grep -q '^\.Sh EXIT STATUS' "$TEL_TOP/man/$tool.1"
		grep -q '^\.Sh EXAMPLES' "$TEL_TOP/man/$tool.1"
	done
}

@test "each option that a command offers is in its page or teltools(7)" {
	for tool in $(tools); do
		mandoc -Tascii "$TEL_TOP/man/$tool.1" \
		    "$TEL_TOP/man/teltools.7" | sed 's/.\x08//g' \
		    >"$BATS_TEST_TMPDIR/page"
		"$tool" --help=all | grep -o -e '--[a-z][a-z0-9-]*' | sort -u \
		    >"$BATS_TEST_TMPDIR/options"
		test -s "$BATS_TEST_TMPDIR/options"
		while read -r option; do
			echo "$tool $option"
			grep -q -e "$option\>" "$BATS_TEST_TMPDIR/page"
		done <"$BATS_TEST_TMPDIR/options"
	done
}
