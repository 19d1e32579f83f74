#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Rules of CONTRIBUTING.md that a machine can check.

load lib

setup() {
	cd "$TEL_TOP" || exit
	shopt -s globstar nullglob
}

@test "every source file names the licence in its first lines" {
	for file in Makefile {lib,cmd,tests}/**/*.{c,h,sh,bats,bash,py} \
	    tests/run-test .ci/run; do
		echo "$file"
		head -n 3 "$file" |
		    grep -q 'SPDX-License-Identifier: BSD-2-Clause'
	done
}

@test "includes point down the layers" {
	local -A layer=([io]=1 [model]=2 [formats]=3 [query]=4 [stats]=4
	    [print]=4 [write]=4 [alloc]=4)
	for file in lib/*/*.[ch]; do
		here=${file#lib/}
		here=${here%%/*}
		sed -n 's|^#include "\([a-z]*\)/.*|\1|p' "$file" |
		    while read -r there; do
			echo "$file includes $there/"
			[ "$there" = "$here" ] ||
			    [ "${layer[$there]}" -lt "${layer[$here]}" ]
		done
	done
}

@test "commands see tel.h and cmd/common only" {
	for file in cmd/**/*.[ch]; do
		here=${file#cmd/}
		here=${here%%/*}
		sed -n 's|^#include "\(.*\)".*|\1|p' "$file" |
		    while read -r header; do
			echo "$file includes $header"
			[[ $header == tel?(_pool).h ]] || [ -f "${file%/*}/$header" ] ||
			    [ -f "cmd/$here/$header" ] ||
			    [[ $header == @(common|$here)/* && -f cmd/$header ]]
		done
	done
}

@test "no file is longer than 600 lines, the public header apart" {
	for file in {lib,cmd,tests}/**/*.{c,h,sh,bats,bash,py}; do
		[ "$file" = lib/include/tel.h ] && continue
		count=$(wc -l <"$file")
		echo "$file: $count lines"
		[ "$count" -le 600 ]
	done
}

@test "no line ends in blanks" {
	run ! grep -n '[[:blank:]]$' Makefile ./*.md .ci/run man/* \
	    lib/**/*.[ch] cmd/**/*.[ch] tests/**/*.{c,h,sh,bats,bash}
}
