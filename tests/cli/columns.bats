#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# examples/columns: a program that reads runs and columns through libtel.

load lib

setup_file() {
	local flags libs
	cd "$BATS_FILE_TMPDIR" || exit
	read -ra flags <<<"$CFLAGS $LDFLAGS -Wall -Wextra -Werror"
	read -ra libs <<<"$($PKG_CONFIG --libs libzstd)"
	$CC -std=c11 -D_POSIX_C_SOURCE=200809L -D_FILE_OFFSET_BITS=64 \
	    "${flags[@]}" -I"$TEL_TOP/include" -pthread -o columns \
	    "$TEL_TOP/examples/columns/columns.c" "$TEL_BUILD/libtel.a" \
	    "${libs[@]}" -ldl
	unpack 1.118.0-lii6gc-amcss mps.log
	telcat -f tel mps.log >mps.tel
	telcat mps.log >mps.txt
	check_statuses
}

setup() {
	cd "$BATS_FILE_TMPDIR" || exit
}

teardown() {
	check_statuses
}

# expected TYPE FIELD [OPTION ...]: what the program should print, by awk.
expected() {
	telcat -H -e "$1" -f json "${@:3}" mps.log |
	    sed -n "s/.*\"$2\":\"\\{0,1\\}\\([0-9]*\\).*/\\1/p" |
	    awk 'NR == 1 || $1 < least { least = $1 }
	        NR == 1 || $1 > most { most = $1 }
	        { sum += $1 }
	        END { if (NR == 0) print "0 values"
	            else printf "%d values, from %d to %d, mean %.2f\n", NR,
	                least, most, sum / NR }'
}

@test "columns of a field are its values in all events of a type" {
	for log in mps.log mps.tel; do
		./columns $log PoolAlloc size | cmp - <(expected PoolAlloc size)
		./columns $log SegAlloc size | cmp - <(expected SegAlloc size)
		[ "$(./columns $log PoolAlloc nothing)" = "0 values" ]
		[ "$(./columns $log Nothing size)" = "0 values" ]
	done
	[ "$(./columns mps.log PoolAlloc size)" = \
	    "$(./columns mps.txt PoolAlloc size)" ]
	[[ $(./columns mps.log PoolAlloc size) != "0 values" ]]
}

@test "columns of the events that an expression selects" {
	local expr
	for expr in 'size > 64' 'size * 2 - 7 > 100 && index % 3 == 1' \
	    'size == 1' 'clock > 0 && size in (8..100, 4096)'; do
		for log in mps.log mps.tel; do
			echo "$expr $log"
			./columns $log PoolAlloc size "$expr" |
			    cmp - <(expected PoolAlloc size -w "$expr")
		done
	done
}

@test "the example reports what fails" {
	run -1 ./columns
	run -1 ./columns nothing.log PoolAlloc size
	[[ $output == "columns: nothing.log: "* ]]
	run -1 ./columns mps.log PoolAlloc size 'size >'
	[[ $output == "columns: size >: "* ]]
	run -1 ./columns mps.log PoolAlloc size 'sizes > 5'
	[[ $output == *"no event type has a field 'sizes'"* ]]
}
