#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Samples of stacks in telstat: its report, and --stacks, beside telcat -f folded.

# "run --separate-stderr" sets stderr.
# shellcheck disable=SC2154,SC2094

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	SCRIPT=$TEL_TOP/tests/cli/samples.py
	JFR=$TEL_TOP/tests/data/jfr
}

# Compares what telstat has of samples with the folded stacks: OPTIONS LOGS.
compare() {
	telcat -q -f folded "$@" >folded
	telstat -q -f json "$@" >report
	telstat -q -f json --stacks "$@" >stacks
	telstat -q -f csv --stacks "$@" >csv
	python3 "$SCRIPT" compare
}

@test "stacks of samples are those of the folded output, and so are their functions" {
	local both=jdk.ExecutionSample,jdk.NativeMethodSample seed

	for name in g1-17 serial-25; do
		compare -e $both "$JFR/$name.jfr.zst"
		compare -e jdk.ExecutionSample "$JFR/$name.jfr.zst"
	done
	compare -e jdk.ExecutionSample "$JFR/killed-25.jfr.zst"
	compare -e $both "$JFR/g1-17.jfr.zst" "$JFR/serial-25.jfr.zst"
	compare -e cpu_clock "$TEL_TOP/tests/data/ftrace/chains.perf.zst"
	compare -w 'name !~ "^k|^mm_"' "$TEL_TOP/tests/data/ftrace/chains.perf.zst"
	for seed in 1 2 3; do
		python3 "$SCRIPT" make $seed >perf
		compare perf
		compare -e cycles perf
		compare -w 'stack ~ "f"' perf
		compare -t 100us,300us perf
		telcat -f tel -o perf.tel perf
		compare perf.tel
	done
	# a recording of several chunks, most events of which are only counted
	zstdcat "$JFR/serial-25.jfr.zst" "$JFR/serial-25.jfr.zst" >chunks.jfr
	compare -e $both chunks.jfr
	telstat chunks.jfr >out
	grep -q '^samples 14 of jdk.ExecutionSample  stacks 7$' out
}

# Samples of a program, whose function f calls itself.
recursive() {
	printf '%s\n' 'a 1 1.000001: 500 cycles: ' '	ffff0010 f+0x1 (a)' \
	    '	ffff0020 main+0x1 (a)' '' 'a 1 1.000002: 300 cycles: ' \
	    '	ffff0010 f+0x1 (a)' '	ffff0010 f+0x1 (a)' \
	    '	ffff0020 main+0x1 (a)' '' 'a 1 2.000001: 200 cycles: ' \
	    '	ffff0030 g+0x1 (a)' '	ffff0010 f+0x1 (a)' \
	    '	ffff0020 main+0x1 (a)' ''
}

@test "samples as text: a function that calls itself counts once a sample" {
	recursive >perf
	telstat perf | sed -n '/^samples/,/^$/p; /^self/,/^$/p' >got
	cat >want <<-'END'
		samples 3 of cycles  stacks 3  weight 1,000

		self  share  total   share  function (2 of 3; see --stacks)
		   2  80.0%      3  100.0%  f
		   1  20.0%      1   20.0%  g

	END
	diff want got
	telstat --stacks perf | sed -n '/^Stacks/,/^Totals/p' | sed '$d' >got
	cat >want <<-'END'
		Stacks by weight of samples:  3

		all  3 samples  weight 1,000

		1.  1 sample  weight 500  50.0%
		    f
		    main

		2.  1 sample  weight 300  30.0%
		    f
		    f
		    main

		3.  1 sample  weight 200  20.0%
		    g
		    f
		    main

	END
	diff want got
	telstat --stacks=count --top 1 perf | grep -A8 '^Stacks' >got
	grep -q '^Stacks by number of samples:  1 of 3$' got
	telstat --stacks --top 1 perf >got
	grep -q '^others  2 samples  weight 500  50.0%$' got
	telstat --stacks -f svg perf >got
	grep -q '3 stacks, by the functions that ran' got
}

@test "samples of weight 0 are in order of their number, and no sum of weights wraps" {
	local huge=9223372036854775807

	recursive | sed -E 's/(500|300|200) cycles/0 cycles/' >perf
	telstat perf >got
	grep -q '^   2   0.0%      3   0.0%  f$' got
	telstat --stacks perf >got
	grep -q '^Stacks by number of samples:  3$' got
	recursive | sed -E "s/(500|300|200) cycles/$huge cycles/" >perf
	telstat -f json perf >got
	grep -q '"samples":3,"stacks":3,"weight":"18446744073709551615"}' got
	grep -q '"self_samples":2,"self_weight":"18446744073709551614",.*"function":"f"}' got
	grep -q '"total_samples":3,"total_weight":"18446744073709551615","total_share":1,' got
	printf 'a 1 2.100000: 5 cycles: \n\tffff0040 h+0x1 (a)\n\n' >>perf
	telstat --stacks --top 3 perf >got
	grep -q '^others  1 sample  weight 0  0.0%$' got
	telstat diff --stacks perf perf@,1100ms >got
	grep -q ' weight: 18,446,744,073,709,551,615 before, ' got
}

@test "a type of samples that comes late, alone, merged, from a pipe, or in pieces" {
	local options
	for ((i = 0; i < 9000; i++)); do
		echo 'a 1 [000] 1.000000: sched:sched_waking: comm=a pid=1 prio=120 target_cpu=001'
	done >late
	recursive | sed 's/^a 1 [12]/a 1 3/' >perf
	cat perf >>late
	telcat -f tel -o late.tel late
	for options in '-j 1 late' '-j 4 late' late.tel '- <late' 'late perf' \
	    '--no-merge perf late' '--stacks late' '--stacks late.tel'; do
		echo "$options"
		eval "telstat $options" >got
		grep -qE '^samples [2-6] of cycles |^Stacks by weight of samples:' got
	done
}

@test "stacks of samples over time, and their difference" {
	recursive >perf
	telstat --stacks -i 500ms -f json perf | grep '"type":"stack"' >got
	[[ $(grep -c '"t":500000000,' got) == 2 ]]
	[[ $(tail -n 3 got | grep -c '"samples":1') == 3 ]]
	telstat diff --stacks -f json perf@,500ms perf@500ms, |
	    grep '"stack":"main;f;g"' >got
	grep -q '"before_weight":0,"after_weight":200,"change_weight":200,"before_samples":0,"after_samples":1,' got
	telstat diff --stacks perf@,500ms perf@500ms, >got
	grep -q '^Changes of weight of samples by stack:$' got
	grep -q '^    +200 weight: 0 before, 200 after$' got
}

@test "allocations have the stacks of a log, where it has samples, too" {
	local chains=$TEL_TOP/tests/data/ftrace/chains.perf.zst

	telstat --stacks "$chains" >got
	grep -q '^Stacks by leaked bytes:' got
	telstat --stacks -e cpu_clock "$chains" >got
	grep -q '^Stacks by weight of samples:' got
	# samples of allocations are by what was allocated, in any snapshot
	telstat --stacks -i 200ms "$JFR/g1-17.jfr.zst" | grep '^Stacks by' | sort -u >got
	[[ $(<got) == 'Stacks by allocated bytes:'* ]]
	[[ $(grep -c leaked got) == 0 ]]
	telstat diff --stacks "$JFR/g1-17.jfr.zst" "$JFR/serial-25.jfr.zst" >got
	grep -q '^Changes of allocated bytes by stack:' got
}
