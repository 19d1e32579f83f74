#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Rules of CONTRIBUTING.md that a machine can check.

load lib

setup() {
	cd "$TEL_TOP" || exit
	shopt -s globstar nullglob
}

# What cannot name it is listed in REUSE.toml.
@test "every file names the licence in its first lines, or REUSE.toml does" {
	find . \( -name .git -o -path ./build -o -name __pycache__ \) -prune \
	    -o -type f -print | sed 's|^\./||' >"$BATS_TEST_TMPDIR/files"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/files")" -gt 500 ]
	# the paths of annotations that have a licence; * and ** are * here
	awk '/^\[\[/ { print_all() }
	    /^path = "/ || /^    "/ { gsub(/^[^"]*"|",?$/, ""); path[n++] = $0 }
	    /^SPDX-License-Identifier = / { licensed = 1 }
	    END { print_all() }
	    function print_all() {
		for (i = 0; i < n && licensed; i++)
			print path[i]
		n = licensed = 0
	    }' REUSE.toml | sed 's|\*\**|*|g' >"$BATS_TEST_TMPDIR/paths"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/paths")" -ge 5 ]
	while read -r file; do
		head -n 3 "$file" |
		    grep -aq 'SPDX-License-Identifier: BSD-2-Clause' && continue
		echo "$file"
		found=
		while read -r path; do
			# shellcheck disable=SC2053 # a pattern
			[[ $file != $path ]] || found=$path
		done <"$BATS_TEST_TMPDIR/paths"
		[ -n "$found" ]
		echo "$found" >>"$BATS_TEST_TMPDIR/used"
	done <"$BATS_TEST_TMPDIR/files"
	# each is of use
	sort "$BATS_TEST_TMPDIR/paths" |
	    comm -23 - <(sort -u "$BATS_TEST_TMPDIR/used") >"$BATS_TEST_TMPDIR/idle"
	cat "$BATS_TEST_TMPDIR/idle"
	[ ! -s "$BATS_TEST_TMPDIR/idle" ]
}

# The layer of a folder of lib: a format's folder is below the table of formats.
# Folders of one layer do not know each other.
layer_of() {
	case $1 in
	lib/base/*) echo 1 ;;
	lib/io/*) echo 2 ;;
	lib/wire/*) echo 3 ;;
	lib/model/*) echo 4 ;;
	lib/reader/* | lib/render/*) echo 5 ;;
	lib/encoder/*) echo 6 ;;
	lib/format/*/*) echo 7 ;;
	lib/format/*) echo 8 ;;
	lib/query/* | lib/emit/*) echo 9 ;;
	lib/*/*) echo 10 ;;
	esac
}

# "FROM TO SYMBOL" for each object of lib that refers to a symbol of another.
references() {
	for file in lib/**/*.c; do
		printf '%s ' "$file"
		nm "$TEL_BUILD/${file%.c}.o" | awk '{ printf "%s %s ", $(NF - 1), $NF }'
		echo
	done | awk '
		{
			for (i = 2; i < NF; i += 2)
				if ($i == "U")
					used[$1, $(i + 1)] = 1
				else if ($i ~ /[A-TV-Z]/)
					defined[$(i + 1)] = $1
		}
		END {
			for (key in used) {
				split(key, part, SUBSEP)
				to = defined[part[2]]
				if (to != "" && to != part[1])
					print part[1], to, part[2]
			}
		}'
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

@test "calls point down the layers" {
	references >"$BATS_TEST_TMPDIR/references"
	test "$(wc -l <"$BATS_TEST_TMPDIR/references")" -gt 500
	while read -r from to symbol; do
		[ "${from%/*}" = "${to%/*}" ] && continue
		echo "$from refers to $symbol of $to"
		[ "$(layer_of "$to")" -lt "$(layer_of "$from")" ]
	done <"$BATS_TEST_TMPDIR/references"
}

# The files of a format's folder may know each other, and those of lib/emit, a
# library that writes one.
@test "no cycle of files outside of a format's folder" {
	references | sed -e 's|lib/format/\([a-z]*\)/[a-z_]*\.c|lib/format/\1|g' \
	    -e 's|lib/emit/[a-z_]*\.c|lib/emit|g' |
	    awk '$1 != $2 { print $1, $2 }' | sort -u >"$BATS_TEST_TMPDIR/edges"
	tsort "$BATS_TEST_TMPDIR/edges" >"$BATS_TEST_TMPDIR/order"
	test -s "$BATS_TEST_TMPDIR/order"
}

# Of lib, commands use hash tables and arrays, how strings are escaped, and which
# blocks live.
@test "commands see tel.h, cmd/common, lib/base, escapes and live blocks only" {
	for file in cmd/**/*.[ch]; do
		here=${file#cmd/}
		here=${here%%/*}
		sed -n 's|^#include "\(.*\)".*|\1|p' "$file" |
		    while read -r header; do
			echo "$file includes $header"
			[[ $header == tel?(_pool|_emit).h ]] || [ -f "${file%/*}/$header" ] ||
			    [ -f "cmd/$here/$header" ] ||
			    [[ $header == @(base/*|render/escape.h|model/live.h) && -f lib/$header ]] ||
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

# Every page carries them.
@test "scripts of pages have at most 68.5 and 40 KB" {
	cd lib/print/page || exit
	all=$(cat ./*.js | wc -c)
	report=$(cat chart.js flame.js report.js | wc -c)
	shell=$(wc -c <page.js)
	echo "log: $((all - report)), report: $((report + shell)) bytes"
	[ $((all - report)) -le 68500 ]
	[ $((report + shell)) -le 40000 ]
}

@test "no line ends in blanks" {
	run ! grep -n '[[:blank:]]$' Makefile ./*.md .ci/run man/* \
	    lib/**/*.[ch] cmd/**/*.[ch] tests/**/*.{c,h,sh,bats,bash}
}
