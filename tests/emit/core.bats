#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Events out of the core of a program that died.

bats_require_minimum_version 1.5.0
load "${TEL_TOP:-$BATS_TEST_DIRNAME/../..}/tests/environment"

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	case $CFLAGS in *-fsanitize*) skip "a sanitizer's core is huge" ;; esac
	log=$BATS_TEST_TMPDIR/log
	zstd -q -d -c "$TEL_TOP/tests/data/mps/1.118.0-lii6gc-amcss.log.zst" \
	    >"$log"
}

# Runs a program that dies, and names its core.
die() {
	rm -f core core.*
	run ! bash -c 'ulimit -c unlimited && exec "$@"' - "$@"
	core=$(find . -name 'core*' | head -n 1)
	[ -n "$core" ] || skip "no core is made here"
}

@test "rings of libtel-emit in a core" {
	die "$TEL_BUILD/tests/dies"
	run -0 --separate-stderr telcat "$core"
	[ -z "$stderr" ]
	[ "$(grep -c '^[0-9A-F]* Number ' <<<"$output")" = 600 ]
	grep -q 'Number who=1 n=299 .*\["counter"\]$' <<<"$output"
	grep -q 'Give block=0x[0-9a-f]*\["a thread"\]' <<<"$output"
	grep -v '^#' <<<"$output" | LC_ALL=C sort -c
	telstat --report=types "$core" | grep -q '^Number *Count *600 '
}

@test "a core from a pipe, and compressed" {
	die "$TEL_BUILD/tests/dies"
	telcat "$core" >want
	telcat --core - <"$core" >got
	cmp want got
	zstd -q -c "$core" | telcat >got
	cmp want got
}

@test "the event buffers of an MPS in a core, by symbols" {
	die "$TEL_BUILD/tests/dies_mps" "$log"
	telcat --as mps-1.118.0 --core "$core" \
	    --exe "$TEL_BUILD/tests/dies_mps" -f mpscnv >got
	telcat -f mpscnv "$log" >want
	[ "$(wc -l <got)" -gt 200 ]
	LC_ALL=C sort want >want.sorted
	LC_ALL=C sort -c got
	run -0 comm -13 want.sorted <(LC_ALL=C sort got)
	[ -z "$output" ]
	# the newest is there
	cmp <(tail -n 1 want.sorted) <(tail -n 1 got)
}

@test "the same by a search, whatever was in the buffers" {
	telcat -f mpscnv "$log" | LC_ALL=C sort >want.sorted
	for events in 30 100 317 2900; do
		die "$TEL_BUILD/tests/dies_mps" "$log" $events
		telcat --as mps-1.118.0 "$core" -f mpscnv >got
		telcat --as mps-1.118.0 "$core" -f mpscnv \
		    --exe "$TEL_BUILD/tests/dies_mps" | cmp - got
		[ "$(wc -l <got)" -ge 20 ]
		run -0 comm -13 want.sorted <(LC_ALL=C sort got)
		[ -z "$output" ]
	done
}

@test "a core of a program without events, and one that is cut" {
	die perl -e 'kill ABRT => $$; sleep 9'
	run -1 telcat "$core"
	[[ $output == *"without rings of libtel-emit"* ]]
	head -c 3000 <"$core" >short
	run -1 telcat short
	head -c 40 <"$core" >short
	run -1 telcat short
	[[ $output == *"damaged core"* ]]
	printf '\177ELF' | run -1 telcat
}

@test "the event buffers of an MPS on other machines" {
	zstd -q -d -c "$TEL_TOP/tests/data/mps/events.tsv.zst" >events
	while read -r name bits order machine; do
		echo "$name"
		python3 "$TEL_TOP/tests/cli/mps_streams.py" events make "$name" 7 \
		    >stream
		python3 "$TEL_TOP/tests/emit/core.py" stream "$bits" "$order" \
		    "$machine" core exe
		telcat -q --as "$name" -f mpscnv stream | LC_ALL=C sort >want
		telcat -q --as "$name" -f mpscnv core >got
		[ "$(wc -l <got)" -ge 50 ]
		telcat -q --as "$name" --exe exe -f mpscnv core | cmp - got
		# where only symbols of a program that was moved find them
		python3 "$TEL_TOP/tests/emit/core.py" stream "$bits" "$order" \
		    "$machine" moved moved.exe 65536
		telcat -q --as "$name" --exe moved.exe -f mpscnv moved |
		    cmp - got
		run -1 telcat -q --as "$name" moved
		LC_ALL=C sort got >got.sorted
		run -0 comm -13 want got.sorted
		[ -z "$output" ]
	done <<-'END'
		mps-1.118.0/lii6gc 64 little 62
		mps-1.118.0/lii6gc,be 64 big 22
		mps-1.118.0/lii3gc 32 little 3
		mps-1.118.0/liarll 32 little 40
		mps-1.118.0/liarll,be 32 big 8
	END
}

@test "rings of libtel-emit in cores of other machines" {
	run ! "$TEL_BUILD/tests/dies" shop.ring
	telcat shop.ring | grep -v '^# tick rate:' >want
	[ "$(grep -c ' Number who=' want)" = 600 ]
	grep -q ' All .* u=88 d=-2.5 b=true u8=200 .* i16=-300 ' want
	grep -q ' Sale .* name="a customer" ' want
	grep -q ' Intern stringId=1 string="a thread"' want
	grep -q ' Give block=0x[0-9a-f]*\["a thread"]' want
	grep '^[0-9A-F]' want >events
	while read -r bits order machine; do
		echo "$bits $order $machine"
		python3 "$TEL_TOP/tests/emit/core_rings.py" shop.ring "$bits" \
		    "$order" "$machine" core
		telcat core | grep -v '^# tick rate:' | cmp - want
		# a pipe is copied to a file, to be sought in
		# shellcheck disable=SC2002 # a pipe on purpose
		cat core | telcat | grep -v '^# tick rate:' | cmp - want
		telcat -f tel core | telcat | grep '^[0-9A-F]' | cmp - events
		telstat --report=types core | grep -q '^Number *Count *600 '
		# the rings alone, as a file
		tail -c +4097 core >other.ring
		telcat other.ring | grep -v '^# tick rate:' | cmp - want
	done <<-'END'
		32 little 3
		64 little 183
		32 big 8
		64 big 22
	END
}

@test "cores with other segments, and pages that are none" {
	run ! "$TEL_BUILD/tests/dies" shop.ring
	python3 "$TEL_TOP/tests/emit/core_rings.py" shop.ring 64 little 62 core
	python3 "$TEL_TOP/tests/emit/core_changed.py" core
}

@test "event buffers of an MPS that differ, their pointers, symbols and notes" {
	python3 "$TEL_TOP/tests/emit/core_mps_changed.py"
}

@test "many segments of a byte each do not take long" {
	python3 - 20000 >core <<-'END'
		import struct
		import sys
		n, base = int(sys.argv[1]), 1 << 28
		data = b"".join(struct.pack("<Q", base + 4096 + 4096 * k)
		                for k in range(7)) * 64
		at = 64 + 56 * (n + 1)
		def segment(flags, address, size):
		    return struct.pack("<IIQQQQQQ", 1, flags, at, address, 0, size, size, 0)
		sys.stdout.buffer.write(
		    b"\177ELF\2\1\1" + bytes(9) + struct.pack(
		        "<HHIQQQIHHHHHH", 4, 62, 1, 0, 64, 0, 0, 64, 56, n + 1, 0, 0, 0) +
		    segment(6, 0x500000, len(data)) + b"".join(
		        segment(4, base + i, 1) for i in reversed(range(n))) + data)
	END
	run -1 --separate-stderr bash -c 'ulimit -t 5; exec telcat -c core'
	[[ $stderr == *': a core without rings of libtel-emit, and without '* ]]
}
