#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# examples/cluster/pipe.sh, as engines run it that are not here: on a part of
# the lines each, with the output of each in a file of its own.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# sum: what the parts come to.
sum() {
	sed 's/	$//' part.* | telstat -q --as inst -f json --report
}

@test "a filter on lines counts logs as one telstat does, though it is killed" {
	local part again status
	scenario 0
	split -n l/7 list lines.
	for part in lines.*; do
		status=0
		"$CLUSTER/pipe.sh" "${STATS[@]}" <"$part" 2>messages \
		    >"part.${part#*.}" || status=$?
		[ $status != 0 ] || continue
		again=$part
		# the engine ends the line
		echo >>"part.${part#*.}"
	done
	[ -d killed ]
	# one that ignores it has a truncated part, which is reported
	exits 1 sum 2>messages | grep -q '"truncated":1,'
	"$CLUSTER/pipe.sh" "${STATS[@]}" <"$again" 2>messages >"part.${again#*.}"
	exits 1 sum 2>messages | diff want -
	# Hadoop ends each line with a tab
	sed -i 's/$/	/' part.*
	exits 1 sum 2>messages | diff want -
	run -2 "$CLUSTER/pipe.sh" -s 'x=nonsense(size)' <list
}
