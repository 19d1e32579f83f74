#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# -n -N: the last N of the events that are selected, of files, archives and
# pipes, in every tool.

# "run --separate-stderr" sets stderr.
# shellcheck disable=SC2154

load lib

setup_file() {
	cd "$BATS_FILE_TMPDIR" || exit
	unpack 1.118.0-lii6ll-finalcv log
	telcat -f tel -o log.tel log
	telcat -H log >all
	[ "$(wc -l <all)" -gt 2000 ]
}

setup() {
	cd "$BATS_FILE_TMPDIR" || exit
}

@test "the last events are those at the end of all, in files and pipes" {
	for n in 1 20 1999; do
		tail -n "$n" all >want
		for log in log log.tel; do
			telcat -H -n "-$n" "$log" | cmp - want
			telcat -H -n "-$n" <"$log" | cmp - want
			# shellcheck disable=SC2002
			cat "$log" | telcat -H -n "-$n" | cmp - want
		done
		[ "$(telcat -c -n "-$n" log)" = "$n" ]
		[ "$(telfilter -c -n "-$n" log)" = "$n" ]
	done
	telcat -H -n -99999999 log | cmp - all
	[ "$(telcat -c -n -0 log)" = 0 ]
}

@test "the last events are counted after the selection" {
	telcat -H -e PoolAlloc -w 'size > 10' log | tail -n 5 >want
	[ "$(wc -l <want)" = 5 ]
	telcat -H -n -5 -e PoolAlloc -w 'size > 10' log | cmp - want
	# those just before a time
	clock=$(sed -n '1500s/ .*//p' all)
	telcat -H -t ",0x$clock" log | tail -n 20 >want
	telcat -H -n -20 -t ",0x$clock" log | cmp - want
	telcat -H -n -20 -t ",0x$clock" log.tel | cmp - want
	# of the events behind the first ones that --skip leaves out
	[ "$(telcat -c --skip "$(($(wc -l <all) - 3))" -n -20 log)" = 3 ]
	# the later -n counts
	[ "$(telcat -c -n -20 -n 2 log)" = 2 ]
	telcat -H -n -20 -n 2 log | cmp - <(head -n 2 all)
}

@test "the last events of each format, and before a time" {
	local log name ranges file n=0
	while read -r name ranges; do
		log=$TEL_TOP/tests/data/$name
		if ! zstd -dcq "$log" >one.log 2>/dev/null; then
			cp "$log" one.log
		fi
		tar cf one.tar one.log
		gzip -kf one.log
		telcat -q -H one.log >every
		tail -n 20 every >want
		[ -s want ]
		for file in "$log" one.log one.log.gz one.tar; do
			telcat -q -H -n -20 "$file" | cmp - want
			n=$((n + 1))
			[ -n "${TEST_WHOLE-}" ] || [ $((n % 3)) = 1 ] || continue
			telcat -q -H -n -20 <"$file" | cmp - want
		done
		# shellcheck disable=SC2002
		cat one.tar | telcat -q -H -n -20 | cmp - want
		[ "$(telfilter -q -c -n -20 one.tar)" = "$(wc -l <want)" ]
		[ "$ranges" = seconds ] || continue
		at=$(telcat -q -H -T s one.log |
		    awk '{ t[NR] = $1 } END { print t[int(NR / 2)] }')
		telcat -q -H -t ",${at}s" one.log | tail -n 20 >want
		[ "$(wc -l <want)" -gt 1 ]
		run ! cmp want <(tail -n 20 every)
		for file in one.log one.log.gz one.tar; do
			telcat -q -H -t ",${at}s" -n -20 "$file" | cmp - want
			n=$((n + 1))
			[ -n "${TEST_WHOLE-}" ] || [ $((n % 3)) = 1 ] || continue
			telcat -q -H -t ",${at}s" -n -20 <"$file" | cmp - want
		done
		for tool in 'telfilter -c' 'telcat -c' 'telstat -c'; do
			[ "$($tool -q -t "0,${at}s" one.log)" = \
			    "$($tool -q -t "0,${at}s" one.tar)" ]
		done
	done <<-'END'
		mps/1.118.0-lii6gc-poolncv.log.zst seconds
		mps/1.111.0-lii6gc-poolncv.log.zst seconds
		jfr/g1-17.jfr.zst seconds
		ftrace/chains.perf.zst seconds
		inst/cache.inst seconds
		ets/boot.text
		alloc/sqlite3.heaptrack.zst
		alloc/calls.valgrind.zst
		alloc/times.ltrace.zst seconds
		alloc/perl.mtrace.zst
		alloc/times.android seconds
		alloc/threads.kdump seconds
		alloc/hand.logalloc
		alloc/short.rep
	END
}

@test "copies of the last events have the names that these need" {
	telcat -H -w 'label(pool) != ""' log | tail -n 5 >want
	[ "$(wc -l <want)" = 5 ]
	for log in log log.tel; do
		telfilter -n -5 -w 'label(pool) != ""' "$log" >part
		telcat -H -w 'label(pool) != ""' part | cmp - want
	done
	telcat -f tel -n -20 log | telcat -H | tail -n 20 |
	    cmp - <(tail -n 20 all)
}

@test "values of what began before the last events are right" {
	cat >alloc <<-'END'
	malloc(10) = 0x1000
	malloc(20) = 0x2000
	free(0x1000) = <void>
	malloc(30) = 0x1000
	free(0x2000) = <void>
	free(0x1000) = <void>
	END
	telfilter -n -1 -w 'frees && start.size == 20' alloc |
	    diff - <(echo 'free(0x2000) = <void>')
	telstat -f csv -s 's=sum(start.size) if frees' -n -2 alloc >out
	grep 's,sum,sum,.*,50,' out
}

@test "the last events of several logs are the last of all" {
	sed -n '1,1000p' all >one
	sed -n '1001,$p' all >two
	cat <(telcat -n 0 log) one >one.txt
	cat <(telcat -n 0 log) two >two.txt
	telcat -H one.txt two.txt | tail -n 1200 >want
	telcat -H -n -1200 one.txt two.txt | cmp - want
	telcat -H -n -1200 one.txt - <two.txt | cmp - want
	telcat -H --no-merge one.txt two.txt | tail -n 1200 >want
	telcat -H -n -1200 --no-merge one.txt two.txt | cmp - want
}

@test "the last events are those of the last stream, and behind a late block" {
	awk 'BEGIN { for (i = 0; i < 60000; i++)
	    printf "%016x Move size=%d\n", 1000 + i, i }' >long.txt
	telcat -f tel -o long.tel long.txt
	cat long.tel long.tel >twice.tel
	telcat -f tel -o twice.zst -z 1 --no-merge long.txt long.txt
	{
		cat long.txt
		sed -n '1,50000p' long.txt
	} | telcat -q -f tel --file-order -o late.tel
	for log in twice.tel twice.zst late.tel; do
		telcat -q -H "$log" | tail -n 20 >want
		telcat -q -H -n -20 "$log" | cmp - want
	done
}

@test "damage at the end is reported once, as without -n" {
	head -c -5 log >cut.log
	run -3 --separate-stderr telcat -H cut.log
	message=$stderr
	printf '%s\n' "$output" | tail -n 3 >want
	run -3 --separate-stderr telcat -H -n -3 cut.log
	[ "$stderr" = "$message" ]
	[ "$output" = "$(cat want)" ]
}

@test "what cannot be the last events is refused" {
	run -2 --separate-stderr telcat -n -x log
	[[ $stderr == *"-n: '-x' is not a number of events"* ]]
	run -2 --separate-stderr telfilter -n -1 --every 2 log
	[[ $stderr == *"the last events of a sample"* ]]
	[ -z "$output" ]
	mkfifo fifo
	cat log >fifo 3>&- &
	run -2 --separate-stderr telcat -n -3 fifo
	[[ $stderr == *"-n: the last events of a pipe can be found in standard "*  ]]
	TMPDIR=/nonexistent run -1 --separate-stderr telcat -n -3 < <(cat log)
	[[ $stderr == *"/nonexistent: no temporary file for standard input: No such "* ]]
}
