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
	    -o -type f -print >"$BATS_TEST_TMPDIR/files"
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
	# the first three lines of files without the licence
	xargs -d '\n' awk 'FNR == 1 { report(); file = FILENAME; licensed = 0 }
	    FNR > 3 { nextfile }
	    /SPDX-License-Identifier: BSD-2-Clause/ { licensed = 1 }
	    END { report() }
	    function report() { if (file && !licensed) print substr(file, 3) }' \
	    <"$BATS_TEST_TMPDIR/files" >"$BATS_TEST_TMPDIR/others"
	while read -r file; do
		echo "$file"
		found=
		while read -r path; do
			# shellcheck disable=SC2053 # a pattern
			[[ $file != $path ]] || found=$path
		done <"$BATS_TEST_TMPDIR/paths"
		[ -n "$found" ]
		echo "$found" >>"$BATS_TEST_TMPDIR/used"
	done <"$BATS_TEST_TMPDIR/others"
	# each is of use
	sort "$BATS_TEST_TMPDIR/paths" |
	    comm -23 - <(sort -u "$BATS_TEST_TMPDIR/used") >"$BATS_TEST_TMPDIR/idle"
	cat "$BATS_TEST_TMPDIR/idle"
	[ ! -s "$BATS_TEST_TMPDIR/idle" ]
}

@test "no file has more than 1 MB" {
	run -0 find . \( -name .git -o -path ./build \) -prune -o -type f -size +1M -print
	[ -z "$output" ]
}

# Prints those of "FROM TO NAME" whose files are in different folders of lib, and
# that do not point down the layers.  A format's folder is below the table of
# formats; folders of one layer do not know each other.
upward() {
	awk '
	    function layer(file) {
		if (file ~ /^lib\/base\//) return 1
		if (file ~ /^lib\/io\//) return 2
		if (file ~ /^lib\/wire\//) return 3
		if (file ~ /^lib\/model\//) return 4
		if (file ~ /^lib\/(reader|render)\//) return 5
		if (file ~ /^lib\/encoder\//) return 6
		if (file ~ /^lib\/format\/.*\//) return 7
		if (file ~ /^lib\/format\//) return 8
		if (file ~ /^lib\/(query|emit)\//) return 9
		return 10
	    }
	    function folder(file) {
		sub("/[^/]*$", "", file)
		return file
	    }
	    folder($1) != folder($2) && layer($2) >= layer($1)' "$@"
}

# "FROM TO SYMBOL" for each object of lib that refers to a symbol of another.
references() {
	printf '%s\n' lib/**/*.c | sed "s|\(.*\)c\$|$TEL_BUILD/\1o|" |
	    xargs -d '\n' nm -A |
	    awk -v build="$TEL_BUILD/" '
		{
			file = substr($0, length(build) + 1)
			sub(/\.o:.*/, ".c", file)
			kind = $(NF - 1)
			if (kind ~ /U$/)
				used[file, $NF] = 1
			else if (kind ~ /^[A-TV-Z]$/)
				defined[$NF] = file
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
	for header in lib/**/*.h; do
		echo "lib $header"
	done >"$BATS_TEST_TMPDIR/headers"
	awk 'NR == FNR { header[$2] = 1; next }
	    match($0, /^#include "[a-z_]*\/[^"]*"/) {
		split($0, part, "\"")
		if (("lib/" part[2]) in header)
			print FILENAME, "lib/" part[2], "included"
	    }' "$BATS_TEST_TMPDIR/headers" lib/**/*.[ch] \
	    >"$BATS_TEST_TMPDIR/includes"
	test "$(wc -l <"$BATS_TEST_TMPDIR/includes")" -gt 500
	run -0 upward "$BATS_TEST_TMPDIR/includes"
	echo "$output"
	[ -z "$output" ]
}

@test "calls point down the layers" {
	references >"$BATS_TEST_TMPDIR/references"
	test "$(wc -l <"$BATS_TEST_TMPDIR/references")" -gt 500
	run -0 upward "$BATS_TEST_TMPDIR/references"
	echo "$output"
	[ -z "$output" ]
	# each of these points up
	run -0 upward - <<-'END'
		lib/base/hash.c lib/io/input.c x
		lib/format/mps/read.c lib/format/registry.c x
		lib/format/mps/read.c lib/format/ets/read.c x
		lib/query/run.c lib/print/text.c x
		lib/stats/stat.c lib/query/run.c x
		lib/format/mps/read.c lib/format/mps/write.c x
	END
	[ "${#lines[@]}" = 4 ]
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

# A command includes the parts of tel.h that it needs: few change with statistics.
# Of lib, commands use hash tables and arrays, how strings are escaped, which
# blocks live and how long, which pauses there were, and the clocks of an index.
@test "commands see tel.h, cmd/common, lib/base, escapes, blocks, pauses, spans only" {
	grep '^#include "' cmd/**/*.[ch] >"$BATS_TEST_TMPDIR/includes"
	while IFS=:\" read -r file _ header _; do
		here=${file#cmd/}
		here=${here%%/*}
		echo "$file includes $header"
		[[ $header == tel?(_pool|_emit|/*).h && -f include/$header ]] || [ -f "${file%/*}/$header" ] ||
		    [ -f "cmd/$here/$header" ] ||
		    [[ $header == @(base/*|render/escape.h|model/live.h|model/lifetimes.h|model/collector.h|reader/span.h) && -f lib/$header ]] ||
		    [[ $header == @(common|$here)/* && -f cmd/$header ]]
	done <"$BATS_TEST_TMPDIR/includes"
}

@test "no file is longer than 1,000 lines" {
	wc -l {lib,cmd,tests}/**/*.{c,h,sh,bats,bash,py} |
	    awk '$2 != "total" && $1 > 1000 { print }' >"$BATS_TEST_TMPDIR/long"
	cat "$BATS_TEST_TMPDIR/long"
	[ ! -s "$BATS_TEST_TMPDIR/long" ]
}

# Every page carries those of its kind.
@test "scripts of pages have at most 123.6 and 42.2 KB, 151.4 in all" {
	cd lib/print/page || exit
	all=$(cat ./*.js | wc -c)
	log=$((all - $(cat chart.js report.js | wc -c)))
	report=$(cat page.js chart.js flame.js report.js | wc -c)
	echo "log: $log, report: $report, all: $all bytes"
	[ "$log" -le 123600 ]
	[ "$report" -le 42200 ]
	[ "$all" -le 151400 ]
}

# The page shows fields by the names in the column.
@test "what sums up a collection are fields of the event" {
	awk -F '\t' '!/^#/ && $9 != "" {
		rows++
		if ($9 !~ /^[a-z]*(\([A-Za-z,]+\))?$/)
			print $9
		sub(/^[a-z]*\(?/, "", $9)
		sub(/\)$/, "", $9)
		for (i = split($9, names, ","); i > 0; i--)
			if (index($7 " ", ":" names[i] " ") == 0)
				print $6, names[i]
	    } END { exit rows < 8 }' lib/format/mps/events.tsv \
	    >"$BATS_TEST_TMPDIR/wrong"
	cat "$BATS_TEST_TMPDIR/wrong"
	[ ! -s "$BATS_TEST_TMPDIR/wrong" ]
}

@test "no line ends in blanks" {
	run ! grep -n '[[:blank:]]$' Makefile ./*.md .ci/run man/* \
	    lib/**/*.[ch] cmd/**/*.[ch] tests/**/*.{c,h,sh,bats,bash}
}

@test "limits are named MAX and MIN" {
	grep -rnwE '[A-Z0-9_]+_(MOST|LEAST)|(MOST|LEAST)_[A-Z0-9_]+' \
	    lib cmd include --include='*.[ch]' |
	    grep -v TEL_QUANTILE_AT_ >"$BATS_TEST_TMPDIR/limits" || true
	cat "$BATS_TEST_TMPDIR/limits"
	[ ! -s "$BATS_TEST_TMPDIR/limits" ]
}

# A profile, a stack trace and a jump to a tag then name one function.
@test "static functions have different names" {
	awk 'FNR == 1 { static = 0 }
	    static && match($0, /^[a-z][a-z0-9_]*\(/) {
		print substr($0, 1, RLENGTH - 1), FILENAME
	    }
	    { static = /^static / }' lib/**/*.c cmd/**/*.c |
	    grep -v '^main ' | sort -u >"$BATS_TEST_TMPDIR/names"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/names")" -gt 3000 ]
	cut -d ' ' -f 1 "$BATS_TEST_TMPDIR/names" | uniq -d |
	    join - "$BATS_TEST_TMPDIR/names" >"$BATS_TEST_TMPDIR/often"
	cat "$BATS_TEST_TMPDIR/often"
	[ ! -s "$BATS_TEST_TMPDIR/often" ]
}

@test "CONTRIBUTING.md says where things are" {
	# each function of its table is in the file beside it
	# shellcheck disable=SC2016 # grave accents of Markdown
	sed -n 's/^| .* | `\([a-z_/]*\.c\)` | `\([a-z_]*\)()` |$/\1 \2/p' \
	    CONTRIBUTING.md >"$BATS_TEST_TMPDIR/places"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/places")" -ge 10 ]
	# and in no other, so that the first jump to a tag is right
	while read -r file name; do
		echo "$file: $name"
		[ "$(grep -l "^$name(" lib/**/*.c cmd/**/*.c)" = "$file" ]
	done <"$BATS_TEST_TMPDIR/places"
	# the map, drawn in two parts, names each folder, and none else
	sed -n '/^## Layers/,/^Where is/s/^    //p' CONTRIBUTING.md \
	    >"$BATS_TEST_TMPDIR/map"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/map")" -ge 40 ]
	for folder in */ lib/*/ tests/*/ examples/*/; do
		folder=${folder%/}
		case $folder in
		build | lib | tests | examples | cmd) continue ;;
		esac
		echo "$folder"
		grep -qE "(^|[^a-z/])($folder/|${folder#lib/}(/.*)? )" \
		    "$BATS_TEST_TMPDIR/map"
	done
	grep -oE '\b[a-z]+/([a-z]+/)*' "$BATS_TEST_TMPDIR/map" |
	    while read -r folder; do
		echo "$folder"
		[ -d "$folder" ] || [ -d "lib/$folder" ] || exit
	done
	# once: no line of the map starts as another one does
	# shellcheck disable=SC2016 # of awk
	run -0 awk '$1 ~ "/" && n[$1]++' "$BATS_TEST_TMPDIR/map"
	[ -z "$output" ]
}
