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

# The layer of a folder of lib: a format's folder is below the table of formats.
layer_of() {
	case $1 in
	lib/base/*) echo 1 ;;
	lib/io/*) echo 2 ;;
	lib/model/*) echo 3 ;;
	lib/reader/* | lib/render/*) echo 4 ;;
	lib/format/*/*) echo 5 ;;
	lib/format/*) echo 6 ;;
	lib/*/*) echo 7 ;;
	esac
}

@test "includes point down the layers" {
	for file in lib/**/*.[ch]; do
		sed -n 's|^#include "\([a-z_]*/.*\)".*|\1|p' "$file" |
		    while read -r header; do
			echo "$file includes $header"
			[ -f "lib/$header" ] || continue
			[ "${file%/*}" = "lib/${header%/*}" ] ||
			    [ "$(layer_of "lib/$header")" -lt \
			        "$(layer_of "$file")" ]
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
			[[ $header == tel?(_pool|_emit).h ]] || [ -f "${file%/*}/$header" ] ||
			    [ -f "cmd/$here/$header" ] ||
			    [[ $header == @(common|$here)/* && -f cmd/$header ]]
		done
	done
}

@test "no file is longer than 1,000 lines" {
	for file in {lib,cmd,tests}/**/*.{c,h,sh,bats,bash,py}; do
		count=$(wc -l <"$file")
		echo "$file: $count lines"
		[ "$count" -le 1000 ]
	done
}

@test "no line ends in blanks" {
	run ! grep -n '[[:blank:]]$' Makefile ./*.md .ci/run man/* \
	    lib/**/*.[ch] cmd/**/*.[ch] tests/**/*.{c,h,sh,bats,bash}
}
