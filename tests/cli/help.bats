#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# --help, and what the tools say to those who do not know their options.

# "run --separate-stderr" sets stderr
# shellcheck disable=SC2154

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
}

TOOLS=(telcat telfilter telstat telreplay telrec)

@test "--help has a purpose, two examples, and groups with an option a line" {
	for tool in "${TOOLS[@]}"; do
		run -0 --separate-stderr "$tool" --help
		[ -z "$stderr" ]
		[[ ${lines[0]} == "usage: $tool [option ...] "* ]]
		[[ ${lines[1]} == [A-Z]*. ]]
		[[ ${lines[2]} == "  "*"$tool "* ]]
		[[ ${lines[3]} == "  "*"$tool "* ]]
		[ "${lines[4]}" != "" ]
		grep -qx 'General:' <<<"$output"
		run ! grep -E '.{80}' <<<"$output"
		"$tool" -h | cmp - <("$tool" --help)
	done
}

@test "--help=all lists each option once, and the table has the same ones" {
	for tool in "${TOOLS[@]}"; do
		"$tool" --help=all |
		    sed -n 's/^  [ -][^-]*--\([a-z0-9-]*\).*/\1/p' | sort >all
		"$tool" --help | sed -n 's/^  [ -][^-]*--\([a-z0-9-]*\).*/\1/p' |
		    sort >usual
		"$tool" --help=table | cut -f 2 | sort >table
		cmp all table
		[ -z "$(uniq -d all)" ]
		[ -z "$(comm -23 usual all)" ]
	done
	[ "$(telcat --help | wc -l)" -lt "$(telcat --help=all | wc -l)" ]
	run -2 --separate-stderr telcat --help=some
	[ "$stderr" = "telcat: --help: 'some' is not one of: all, table" ]
}

@test "an option of one letter means the same in all tools" {
	for tool in "${TOOLS[@]}"; do
		"$tool" --help=table | cut -f 1,2 | grep '^[a-zA-Z]'
	done | sort -u >letters
	# an address, or the allocators of a replay; groups, or stacks; a
	# statistic, or samples
	[ "$(cut -f 1 letters | uniq -d)" = $'a\ng\ns' ]
	grep -qx $'n\tlimit' letters
	grep -qx $'q\tquiet' letters
	grep -qx $'S\tsort' letters
	grep -qx $'c\tcount' letters
}

@test "an unknown option or format is answered with those near to it" {
	run -2 --separate-stderr telcat --fromat=csv x
	[[ $stderr == *"'--fromat=csv'; did you mean '--format'?"* ]]
	run -2 --separate-stderr telstat --quantile=1 x --quantilse=2
	[[ $stderr == *"did you mean '--quantiles'?"* ]]
	run -2 --separate-stderr telcat -f jsn x
	[[ $stderr == *"; did you mean 'json'?" ]]
	run -2 --separate-stderr telcat --zzzzzzzzzz x
	[[ $stderr != *mean* ]]
}

@test "at a terminal a tool without a file says how to use it" {
	command -v script >/dev/null || skip "no script(1)"
	for tool in telcat telfilter telstat telreplay; do
		run -2 timeout 60 script -qec "$tool" /dev/null
		[[ $output == *"standard input is a terminal"* ]]
		[[ $output == *"usage: $tool "* ]]
	done
	run -0 timeout 60 script -qec 'telcat --types --as hpm' /dev/null
}
