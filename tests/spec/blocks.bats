#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Blocks by a key, and the report of allocations, against a model of them.

load ../cli/lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	MODEL=$TEL_TOP/tests/spec/blocks_model.py
	COMPARE=$TEL_TOP/tests/spec/blocks_compare.py
}

@test "blocks by a key, their lifetimes and temporaries" {
	for seed in 1 2 3; do
		python3 "$MODEL" $seed log >model
		telcat -f tel -o log.tel log
		for file in log log.tel; do
			for by in size tid; do
				telstat --blocks=$by --stacks=allocated -f json $file |
				    python3 "$COMPARE" model $by 0
			done
			telstat --blocks=size --stacks=allocated --min-age 20us \
			    -f json $file |
			    python3 "$COMPARE" model size 20000
		done
	done
	telstat --blocks=thread --stacks=peak -f csv log | grep -q ',key,peak_bytes,'
	telstat --blocks='size * 2' --stacks=allocated log | grep -q '^    8192$'
	# of stacks it is --stacks
	telstat --blocks=stack "$TEL_TOP/tests/data/alloc/perl.mtrace.zst" >one
	telstat --stacks "$TEL_TOP/tests/data/alloc/perl.mtrace.zst" | cmp one -
}

@test "the report of allocations answers at once" {
	for seed in 4 5; do
		python3 "$MODEL" $seed log >model
		telstat -f json log | python3 "$COMPARE" model memory 0
		telstat -f json <(cat log) | python3 "$COMPARE" model memory 0
	done
	telstat log >text
	for line in allocated freed live peak unknown lifetimes temporary threads; do
		grep -q "^$line  " text
	done
	[ "$(wc -l <text)" -le 24 ]
	run ! grep -q '^malloc ' text
	telstat --report=types log >types
	grep -q '^malloc ' types
	run ! grep -q '^peak' types
	# the largest stacks, innermost frame first
	telstat "$TEL_TOP/tests/data/alloc/perl.heaptrack.zst" >text
	grep -q '  stack (5 of [0-9]*; see --stacks)$' text
	[ "$(grep -c ' < ' text)" -ge 4 ]
	[ "$(wc -l <text)" -le 32 ]
}

@test "keys that cannot be" {
	python3 "$MODEL" 1 log >model
	run -2 telstat --blocks='size +' log
	[[ $output == *"--blocks: 'size +', column"* ]]
	run -2 telstat --blocks=siez log
	[[ $output == *"--blocks: 'siez'"* ]]
	run -2 telstat --blocks=size -g kind log
	[[ $output == *'--blocks cannot be combined with -g'* ]]
	run -2 telstat --stacks -g kind log
	[[ $output == *'--stacks cannot be combined with -g; --blocks=EXPR'* ]]
	run -2 telstat --min-age 5ms log
	run -2 telstat --stacks --min-age 5 log
	run -2 telstat --report=all log
}
