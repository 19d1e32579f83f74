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
	telfilter --help | grep -q ' csv, json, arrow, sql,$'
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

@test "an option of another tool is answered with those that have it" {
	run -2 --separate-stderr telrec -S
	[ "${stderr_lines[0]}" = "telrec: unknown option '-S'; telcat, telfilter, telstat and telreplay have --sort" ]
	run -2 --separate-stderr telrec --count x
	[ "${stderr_lines[0]}" = "telrec: unknown option '--count'; telcat, telfilter, telstat and telreplay have --count" ]
	run -2 --separate-stderr telreplay --jobs=2 x
	[ "${stderr_lines[0]}" = "telreplay: unknown option '--jobs=2'; telcat, telfilter and telstat have --jobs" ]
	run -2 --separate-stderr telfilter -T s x
	[ "${stderr_lines[0]}" = "telfilter: unknown option '-T'; telcat has --time" ]
	run -2 --separate-stderr telcat -Q x
	[ "${stderr_lines[0]}" = "telcat: unknown option '-Q'" ]
}

@test "-n, -q, -c and -S are the same options in each tool that reads logs" {
	unpack 1.118.0-lii6gc-poolncv
	telcat mpsio.log >mpsio.txt
	for tool in telcat telfilter telstat telreplay; do
		[ "$("$tool" -c mpsio.log)" = 144 ]
		[ "$("$tool" -c <mpsio.txt)" = 144 ]
		[ "$("$tool" -c -n 7 mpsio.log)" = 7 ]
		[ "$("$tool" -c -k Pool --skip 2 mpsio.log)" = 26 ]
		[ "$("$tool" -c mpsio.log mpsio.txt)" = 288 ]
		"$tool" -c --no-merge mpsio.log mpsio.txt >got
		printf '%s:144\n' mpsio.log mpsio.txt | cmp - got
		[ "$("$tool" -S -c mpsio.log)" = 144 ]
		run -1 --separate-stderr "$tool" -c none
		[ "$output" = 0 ]
		head -c 3001 mpsio.log >cut.log
		run -3 --separate-stderr "$tool" -q -c cut.log
		[ -z "$stderr" ]
		[ "$output" -lt 144 ]
		status=0
		command "$tool" -c mpsio.log >/dev/full 2>messages || status=$?
		[ "$status" = 1 ]
	done
	run -2 telcat -c --types mpsio.log
	run -2 telcat -c --split 1s mpsio.log
	run -2 telstat -c -s 'sizes=log2(size)' mpsio.log
	run -2 telstat -c -g kind mpsio.log
	run -2 telstat diff -c mpsio.log mpsio.log
	run -2 telreplay -c --program x.prog mpsio.log
	[ ! -e x.prog ]
}

@test "telreplay -S sorts a log; a compiled program has an order" {
	cat >back.txt <<-'END'
		# teltools text 1
		# type: malloc 1 Alloc address:address size:unsigned thread:unsigned
		# type: free 2 Alloc address:address thread:unsigned
		# role: malloc alloc address size thread=thread
		# role: free free address thread=thread
		0000000000000002 free address=0x1000 thread=1
		0000000000000001 malloc address=0x1000 size=64 thread=1
	END
	telcat -S -f tel back.txt >there.tel
	# which event it was depends on its place
	telreplay --dry-run -S back.txt | sed 's/at event [01]/at/' >report
	telreplay --dry-run there.tel | sed 's/at event [01]/at/' |
	    cmp - report
	grep -q 'not freed  *0 bytes in 0 blocks' report
	run -3 telreplay --dry-run --file-order back.txt
	telreplay --dry-run --program x.prog there.tel >report
	for option in -S -c; do
		run -2 telreplay "$option" --dry-run x.prog
		[[ $output == *"x.prog: $option applies to logs: "* ]]
	done
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
	needs_terminal
	for tool in telcat telfilter telstat telreplay; do
		run -2 timeout 60 script -qec "$tool" /dev/null
		[[ $output == *"standard input is a terminal"* ]]
		[[ $output == *"usage: $tool "* ]]
	done
	run -0 timeout 60 script -qec 'telcat --types --as hpm' /dev/null
}
