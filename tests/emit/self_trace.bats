#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# telstat --self-trace: what telstat does, as a log that telstat reads.

load "${TEL_TOP:-$BATS_TEST_DIRNAME/../..}/tests/cli/lib"

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	unpack 1.118.0-lii6gc-amcss a.log
	unpack 1.118.0-lii6gc-poolncv b.log
}

@test "a trace has the phases, the logs, their blocks, and the output" {
	telstat a.log b.log >want
	TEL_CONTROL=other clean telstat --self-trace self.tel a.log b.log >got
	cmp want got
	clean telcat -H self.tel >trace
	[ "$(grep -c -e ' PhaseStart ' -e ' PhaseEnd ' trace)" = 4 ]
	grep -q ' FileEnd file=1 events=6605 input=249992 damaged=0 ' trace
	grep -q ' FileEnd file=2 events=144 input=5792 ' trace
	# a block ends with the run of events in which the 4,096th is
	events=$(sed -n 's/.* Block events=\([0-9]*\) .*/\1/p' trace)
	[ "$events" -ge 4096 ]
	[ "$events" -lt 6605 ]
	grep -q " Written output=$(wc -c <want) " trace
	LC_ALL=C sort -c trace
}

@test "telstat reads its own trace, while it traces itself" {
	telstat --self-trace self.tel a.log >/dev/null
	clean telstat --self-trace again.tel -s 'phases=dur(PhaseStart)' \
	    self.tel >got
	grep -q '^  events 4  pairs 2 ' got
	grep -q ' name="self.tel" ' <(telcat again.tel)
	telstat self.tel again.tel | grep -q '^PhaseEnd *Phase *4 '
}

@test "snapshots, damage and kinds" {
	head -c 100000 a.log >damaged.log
	head -c 1000 /dev/zero >>damaged.log
	tail -c +100001 a.log >>damaged.log
	TELSTAT_CONTROL=Input,Output exits 3 telstat -q --self-trace self.tel \
	    -i 100us damaged.log >/dev/null
	telcat -H self.tel >trace
	grep -q ' damaged=[1-9]' trace
	[ "$(grep -c ' Snapshot number=' trace)" -gt 2 ]
	run ! grep -q ' Phase' trace
}

@test "a trace that cannot be written is an error" {
	expect 1 '*nowhere/self.tel: No such file*' \
	    telstat --self-trace nowhere/self.tel a.log
	[ ! -e /dev/full ] || {
		run -1 telstat -o out --self-trace /dev/full a.log
		[[ $output == *'events of the trace were lost'* ]]
	}
	TELSTAT_CONTROL=Nothing expect 1 "*unknown kind 'Nothing'*" \
	    telstat --self-trace self.tel a.log
}
