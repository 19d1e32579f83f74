#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# telrec --ring: only the last events, kept in memory.

# The commands of sh are to be expanded by sh; "enter" sets program.
# shellcheck disable=SC2016,SC2154

load telrec

setup_file() {
	build_program
}

setup() {
	needs_preload
	enter
}

# total NAME: a total of run.tel.
total() {
	telstat -f json run.tel 2>/dev/null |
	    sed -n "s/.*\"type\":\"totals\".*\"$1\":\([0-9]*\).*/\1/p"
}

@test "a ring with room for all is the whole log" {
	telrec -o run.tel "$program" some
	check_log run.tel calls >want
	telrec --ring 64M -o run.tel "$program" some
	check_log run.tel calls >got
	[ "$(wc -l <want)" -gt 100 ]
	diff -u want got
	telrec --ring 64M -o run.tel "$program" threads 4 2000
	ordered run.tel
}

@test "the last events are kept, in order, and what came before is counted" {
	telrec -o run.tel "$program" threads 4 10000
	all=$(total events)
	telrec --ring 100k -o run.tel "$program" threads 4 10000
	[ "$(total events)" -lt "$all" ]
	[ "$(total lost)" -gt 0 ]
	telcat run.tel 2>message |
	    python3 "$TEL_TOP/tests/cli/telrec.py" order late
	grep 'events lost when the log was recorded' message
	grep -q '^# meta: part ring$' <(telcat run.tel 2>/dev/null)
	telreplay -q --dry-run run.tel | grep 'anomaly .* free of an unknown'
	telcat -q run.tel | telreplay -q --dry-run | grep 'anomaly .* free of an unknown'
	# blocks that were allocated before are not errors
	telstat run.tel 2>/dev/null >report
	grep '^unknown .*blocks freed, but not allocated in the log' report
	# the main thread frees the blocks that are left, at the end
	telcat -e free run.tel 2>/dev/null | tail -1 | grep -q 'pid=[0-9]*\["program"\]'
	[ "$(telcat -e process run.tel 2>/dev/null | grep -vc '^#')" = 1 ]
}

@test "a program that is killed has its last events in the log" {
	run -137 telrec --ring 40k -o run.tel "$program" kill 100000
	[ "$(telcat -w 'size == 100' run.tel 2>/dev/null | grep -vc '^#')" -ge 100 ]
	[ "$(total lost)" -gt 100000 ]
	telcat run.tel 2>/dev/null |
	    python3 "$TEL_TOP/tests/cli/telrec.py" order late
}

@test "processes and frames of stacks are kept as long as they are needed" {
	telrec --ring 40k -o run.tel sh -c '"$1" pairs 10; "$1" pairs 60000' \
	    sh "$program"
	[ "$(telcat -e process run.tel 2>/dev/null | grep -vc '^#')" -ge 2 ]
	needs_frames
	telrec --stacks=fp --ring 40k -o run.tel "$program" pairs 60000 \
	    2>/dev/null
	telcat run.tel 2>/dev/null | grep -v '^#' >events
	sed -n 's/.* trace number=\([0-9]*\).*/\1/p' events | sort -u >defined
	sed -n 's/.* size=100 trace=\([0-9]*\).*/\1/p' events | sort -u >used
	# 0 is none
	grep -vx 0 used >numbers || true
	[ "$(comm -23 numbers defined)" = "" ]
	[ "$(wc -l <used)" -ge 1 ]
	[ "$(total lost)" -gt 0 ]
}

@test "a signal writes what is kept, and the program goes on" {
	telrec --ring 1M -o run.tel sh -c '"$1" pairs 500
		n=0
		until [ "$(telcat -w "size == 100" run.tel 2>/dev/null |
		    grep -vc "^#")" = 500 ]; do
			n=$((n + 1))
			[ $n -lt 2000 ] || exit 9
			kill -USR2 $PPID
			sleep 0.03
		done
		"$1" pairs 300' sh "$program"
	[ "$(telcat -w 'size == 100' run.tel | grep -vc '^#')" = 800 ]
}

@test "signals control telrec that was started with them ignored or blocked" {
	cat >inherit.py <<-'END'
		import os
		import signal
		import sys
		signals = {signal.SIGUSR1, signal.SIGUSR2}
		if sys.argv[1] == "blocked":
		    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
		else:
		    for number in signals:
		        signal.signal(number, signal.SIG_IGN)
		os.execvp(sys.argv[2], sys.argv[2:])
	END
	for how in ignored blocked; do
		rm -f run.tel
		python3 inherit.py $how telrec --ring 1M -o run.tel sh -c '
			kill -USR2 $PPID
			n=0
			until [ -s run.tel ]; do
				n=$((n + 1))
				[ $n -lt 500 ] || exit 9
				"$1" pairs 10
				kill -USR2 $PPID
				sleep 0.02
			done' sh "$program"
		rm run.tel
		python3 inherit.py $how telrec --paused -o run.tel sh -c '
			kill -USR1 $PPID
			n=0
			until "$1" pairs 10 && [ -s run.tel ]; do
				n=$((n + 1))
				[ $n -lt 500 ] || exit 9
				sleep 0.02
			done' sh "$program"
		# the program has them as they were, and others below 9 as it may
		python3 inherit.py $how telrec -q -o run.tel grep \
		    '^Sig\(Blk\|Ign\):' /proc/self/status >status
		grep -q 'a0.$' status
	done
}

@test "numbers of 64 bits are in a ring as in a log" {
	for options in "-q" "-q --ring 1M"; do
		# shellcheck disable=SC2086 # several options
		telrec $options -o run.tel "$program" huge
		telcat -H -k Alloc -w 'size > 1e15 || count > 1e15' run.tel |
		    sed 's/^[^ ]* //; s/ pid=.*//; s/old=0x[0-9A-Fa-f]*/old=P/' >got
		diff -u - got <<-'END'
			malloc address=0x0 size=18446744073709551615
			malloc address=0x0 size=9223372036854775807
			calloc address=0x0 count=18446744073709551615 size=18446744073709551615
			realloc address=0x0 old=P size=18446744073709551608
			reallocarray address=0x0 old=P count=18446744073709551615 size=3
		END
	done
}

@test "options of rings" {
	for bytes in 0 x -1; do
		run -2 telrec --ring "$bytes" -o no.tel "$program" all
		[ ! -e no.tel ]
	done
}
