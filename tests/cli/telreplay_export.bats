#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Traces that telreplay writes for other replayers, read back by the tools and
# by what else reads them.

# "run --separate-stderr" sets stderr.
# shellcheck disable=SC2154

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	python3 "$TEL_TOP/tests/cli/telreplay_model.py" make 7 4000 3 >t.txt
}

# What is the same in a trace, however it is written.
facts() {
	clean telreplay --dry-run -f csv "$1" | grep -E \
	    '^size,|^trace,,,(requests|requested_bytes|largest_bytes|peak_bytes|peak_bytes_blocks|peak_blocks|live_bytes|live_blocks),'
}

# operations FILE: thread, what and size of each line of an Android trace.
operations() {
	sed 's/:/ /' "$1" | awk '
	    $2 == "calloc" { print $1, $2, $4 * $5; next }
	    $2 == "free" { print $1, $2; next }
	    { print $1, $2, $4, $5 * ($2 == "memalign"), $5 * ($2 == "realloc") }' |
	    sed 's/realloc 0x[^ ]*/realloc/'
}

@test "a trace that is written for others holds what the trace held" {
	facts t.txt >was
	[ -s was ]
	for format in android mtrace rep; do
		telreplay -q -f $format t.txt >"t.$format"
		telcat "t.$format" | grep "^# format: $format$"
		facts "t.$format" | diff was -
	done
	clean telreplay --dry-run -f csv t.android | grep '^trace,,,threads,3$'
}

@test "threads and their order are those of the log" {
	clean telreplay -f android t.txt >t.android
	operations t.txt | grep -v thread_done >was
	[ "$(wc -l <was)" -ge 2000 ]
	operations t.android | grep -v thread_done | diff was -
	clean telreplay -q --dry-run --program t.prog --order total t.txt >/dev/null
	clean telreplay -f android t.prog | cmp t.android -
	{
		echo "7: malloc 0x10 5"
		echo "7: thread_done 0x0"
		echo "8: free 0x10"
		echo "8: thread_done 0x0"
	} >end.txt
	clean telreplay -f android end.txt | operations /dev/stdin |
	    diff <(operations end.txt) -
	# two logs have a thread 7 each
	echo "7: malloc 0x10 5" | tee one.txt >other.txt
	clean telreplay -f android one.txt other.txt | cut -d ' ' -f 1,2 |
	    LC_ALL=C sort >is
	diff is - <<-END
		1: malloc
		1: thread_done
		2: malloc
		2: thread_done
	END
}

@test "the mtrace of the C library finds the blocks that are left" {
	command -v mtrace >/dev/null || skip "there is no mtrace"
	telreplay -q -f mtrace t.txt >t.mtrace
	left=$(facts t.txt | sed -n 's/^trace,,,live_blocks,//p')
	[ "$left" -gt 0 ]
	[ "$(mtrace t.mtrace | grep -c '^0x')" = "$left" ]
	run ! grep -E 'Realloc .* was never|Free .* was never' <(mtrace t.mtrace)
	# of a trace that frees all nothing is left
	printf '1: %s\n' 'malloc 0x10 5' 'realloc 0x20 0x10 9' 'free 0x20' |
	    telreplay -q -f mtrace >none.mtrace
	mtrace none.mtrace | grep 'No memory leaks'
}

@test "the head of a rep counts its blocks and operations" {
	telreplay -q -f rep t.txt >t.rep
	awk 'NR == 2 { blocks = $1 } NR == 3 { operations = $1 }
	    NR > 4 { n++ }
	    # a realloc of other numbers fails in the driver of the labs
	    int($2 / 128) % 2 { exit 1 }
	    $1 == "a" {
		if (next_id % 256 == 128) next_id += 128
		if ($2 != next_id++ || $3 < 1) exit 1
		live[$2] = 1 }
	    $1 == "r" || $1 == "f" { if (!live[$2]) exit 1 }
	    $1 == "f" { live[$2] = 0 }
	    END { exit !(n == operations && next_id == blocks && n == 4000 &&
		next_id > 256) }' t.rep
	# without reallocs each number is used
	seq 300 | awk '{ printf "1: malloc 0x%d000 8\n", $1 }' |
	    telreplay -q -f rep | sed -n '2p;$p' | tr '\n' ' ' |
	    grep '^300 a 299 8 $'
	# with a single realloc half of the numbers are
	seq 300 | awk '{ printf "1: malloc 0x%d000 8\n", $1 }
	    END { print "1: realloc 0x10 0x1000 9" }' |
	    telreplay -q -f rep | tail -n 2 | tr '\n' ' ' |
	    grep '^a 555 8 r 0 9 $'
	printf '1: malloc 0x10 0\n' | telreplay -q -f rep | tail -n 1 |
	    grep '^a 0 1$'
}

@test "what a log has wrong is not passed on, and what is lost is reported" {
	{
		echo "1: free 0x77"
		echo "1: malloc 0x10 5"
		echo "2: malloc 0x10 6"
		echo "2: memalign 0x5000 64 7"
	} >odd.txt
	run -3 --separate-stderr telreplay -f rep odd.txt
	[ "${#lines[@]}" = 8 ]
	[ "${lines[7]}" = "f 0" ]
	[[ $stderr == *"1 alignments are skipped: rep has none"* ]]
	unpack 1.118.0-lii6gc-poolncv
	telreplay -q -f android mpsio.log >mps.android
	facts mps.android >is
	grep '^trace,,,live_blocks,0$' is
}

@test "a disk that is full is an error there, too" {
	run -1 --separate-stderr bash -c 'telreplay -f rep t.txt >/dev/full'
	[[ $stderr == *"No space left"* ]]
	run -1 --separate-stderr telreplay -f rep missing.txt
}

@test "garbage, a log that is cut, and a reader that has left are distinguished" {
	head -c 4096 /dev/urandom >garbage
	head -c $(($(wc -c <t.txt) / 2 + 3)) t.txt >cut.txt
	for format in android mtrace rep; do
		run -1 --separate-stderr telreplay -f $format garbage
		[ -z "$output" ]
		# the part that is there is written, and can be read back
		exits 3 telreplay -q -f $format cut.txt >"cut.$format"
		facts "cut.$format" >is
		[ "$(sed -n 's/^trace,,,requests,//p' is)" -gt 500 ]
		exits 0 telreplay -q -f $format t.txt | head -n 1 >one
		[ "$(wc -l <one)" = 1 ]
	done
}
