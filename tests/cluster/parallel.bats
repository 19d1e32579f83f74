#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# examples/cluster/parallel.sh: GNU parallel on this machine.

# "run --separate-stderr" sets stderr
# shellcheck disable=SC2154
load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	# moreutils has another program of that name
	parallel --version 2>version </dev/null | grep -q '^GNU parallel' ||
	    skip "there is no GNU parallel"
}

@test "GNU parallel counts logs as one telstat does, though a worker is killed" {
	scenario 1
	export HOME=$PWD PARALLEL_HOME=$PWD
	# one log is empty, which is reported for each try
	run -1 "$CLUSTER/parallel.sh" list parts "${STATS[@]}"
	reduces
	# a log that was not counted is named
	rm parts/000005.part
	run -1 --separate-stderr "$CLUSTER/reduce.sh" list parts
	[[ $stderr == *"reduce.sh: $(sed -n 5p list): was not counted"* ]]
}
