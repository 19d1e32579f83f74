#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Starts and ends of ranges are paired by all that their roles name, and by
# every tool alike.

# "run --separate-stderr" sets stderr.
# shellcheck disable=SC2154

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
}

# requests: two ranges of one sector on two disks, one within the other.
requests() {
	cat <<-'END'
		# teltools text 1
		# format: disks
		# tick rate: 1000000000.0
		# type: Begin 1 Disk sector:unsigned disk:unsigned
		# type: End 2 Disk sector:unsigned disk:unsigned
		# type: Done 3 Disk sector:unsigned disk:unsigned
		# role: Begin start End sector disk
		# role: End finish sector disk
		0000000000000064 Begin sector=7 disk=1
		00000000000000C8 Begin sector=7 disk=2
		000000000000012C End sector=7 disk=1
		00000000000003E8 End sector=7 disk=2
	END
}

@test "telstat pairs by all fields of the role" {
	requests >log
	clean telstat --raw -s 'd=dur()' log >got
	grep -q 'pairs 2  total 1000  min 200  max 800' got
	clean telstat --raw -s 'd=dur(Begin)' log >got
	grep -q 'pairs 2  total 1000  min 200  max 800' got
	# as timelines and folded stacks do
	clean telcat -f chrome log | grep -o '"ph":"[BE]"[^}]*' >shown
	[ "$(grep -c '"ph":"E"' shown)" -eq 2 ]
}

@test "in text, the role of a start is enough" {
	requests | sed '/finish/d' >log
	clean telstat --raw -s 'd=dur()' log >got
	grep -q 'pairs 2  total 1000  min 200  max 800' got
	clean telstat --raw -s 'd=dur(Begin,End)' log >got
	grep -q 'pairs 2  total 1000  min 200  max 800' got
	clean telcat -H -F name,duration -w 'has(duration)' log >got
	printf '%s\n' '000000000000012C End name="End" duration=200' \
	    '00000000000003E8 End name="End" duration=800' | diff - got
	requests | diff - <(clean telcat log)
}

@test "an end without cpu and tid ends a range that has them" {
	cat >log <<-'END'
		0000000000000000 H inst 1 0 0 hz=1000000000
		0000000000000000 C id=1 type=trace name=t
		0000000000000064 E c=1 tag=1 p=1 tid=5
		00000000000000C8 E c=1 tag=1 p=2
		000000000000012C E c=1 tag=2 p=1
		00000000000003E8 E c=1 tag=2 p=2 tid=5
		00000000000003E8 Z
	END
	clean telstat --raw -s 'd=dur()' log >got
	grep -q 'pairs 2  total 800  min 100  max 700' got
	clean telstat --raw -s 'd=dur(StartOn)' log >got
	grep -q 'pairs 1  total 100 ' got
	# also from text, which says so
	clean telcat log >text
	clean telstat --raw -s 'd=dur()' text >got
	grep -q 'pairs 2  total 800  min 100  max 700' got
	clean telcat -f tel -o log.tel log
	clean telstat --raw -s 'd=dur()' log.tel >got
	grep -q 'pairs 2  total 800  min 100  max 700' got
	clean telcat -f chrome log >shown
	[ "$(grep -o '"ph":"E"' shown | wc -l)" -eq 2 ]
}

@test "collections of two processes are two" {
	# two processes that collect at once: 9 and 18 us
	cat >gc.txt <<-'END'
		speed 1000000
		event 100 0 1 1 0 25 3
		event 107 0 2 2 0 25 3
		event 109 0 1 1 0 25 4
		event 125 0 2 2 0 25 4
	END
	"$TEL_BUILD/tests/test_ets" --make gc.txt gc.ets
	clean telstat --raw -s 'd=dur(StartCollection)' gc.ets >got
	grep -q 'pairs 2  total 27000  min 9000  max 18000' got
}

@test "telstat warns of pairs without a role or a key" {
	requests >log
	run -0 --separate-stderr telstat -s 'd=dur(Begin,Done)' log
	[[ $stderr == *'d: Begin and Done have no common role and no KEY'* ]]
	run -0 --separate-stderr telstat -s 'd=dur(Begin,Done,sector)' log
	[[ $stderr != *'no common role'* ]]
	grep -v '^# role' log >bare
	run -0 --separate-stderr telstat -s 'd=dur()' bare
	[[ $stderr == *'d: no event type of disks starts a range'* ]]
	clean telstat -q -s 'd=dur()' bare
}

@test "middle events belong to their range" {
	log=$TEL_TOP/tests/data/inst/hfs.txt
	# two middles are in one of the ranges
	telstat -q -s 'd=dur()' -s 'named=dur(Start,End)' "$log" >got
	grep -A 2 '^d  ' got | grep -q '  events 6  pairs 2  '
	grep -A 2 '^named  ' got | grep -q '  events 4  pairs 1  '
	# MIDDLE or KEY say what belongs to a range instead
	telstat -q -s 'k=dur(Start,End,tag)' "$log" | grep -q '  events 2  pairs 1  '
	# the text and a .tel of it say the same
	for format in text tel; do
		telcat -q -f "$format" "$log" >copy
		telstat -q -s 'd=dur()' -s 'named=dur(Start,End)' copy |
		    sed -n '/^d  /,/^ *mean/p' | diff - <(sed -n '/^d  /,/^ *mean/p' got)
	done
	# they are points of the range, not of its kind
	telcat -q -f chrome "$log" >timeline
	python3 - <<-'END'
		import json
		events = json.load(open("timeline"))
		events = events if isinstance(events, list) else events["traceEvents"]
		block = [e for e in events if e.get("cat") == "Trace"
		         and e["name"] == "HFS:VSM:BlockAllocate"]
		begin = [e for e in block if e["ph"] == "B"]
		inside = [e for e in block if e["ph"] == "i" and e["tid"] == begin[0]["tid"]]
		assert len(begin) >= 1 and len(inside) == 2, block
	END
}

@test "the types of a pair may be those of one of several logs" {
	printf '%s\n' '# teltools text 1' '# tick rate: 1000000000' \
	    '# type: A 1 K n:unsigned' '# type: Z 2 K n:unsigned' \
	    '0000000000000001 A n=1' '0000000000000004 Z n=1' >az.txt
	sed 's/A/B/; s/Z/Y/; s/4 Y/6 Y/' az.txt >by.txt
	telfilter -f tel -o both.tel az.txt by.txt
	for names in 'az.txt by.txt' 'by.txt az.txt' both.tel \
	    '--no-merge by.txt az.txt'; do
		read -ra logs <<<"$names"
		run -0 telstat -s 'p=dur(A,Z)' -s 'q=dur(B,Y)' "${logs[@]}"
		[[ $output == *'pairs 1  total 3 ns'* ]]
		[[ $output == *'pairs 1  total 5 ns'* ]]
		run -2 --separate-stderr telstat -s 'p=dur(A,X)' "${logs[@]}"
		[[ $stderr == *"'p=dur(A,X)', column 9: text has no type X"* ]]
	done
	run -0 --separate-stderr telstat -s 'p=dur(A,Y)' az.txt by.txt
	[[ $stderr == *'no end was selected'*'of one log' ]]
	run -2 telstat -s 'p=dur(A,Z)' by.txt
}

@test "telstat says why there are no pairs" {
	requests >log
	run -0 --separate-stderr telstat -s 'd=dur(Begin)' -e Begin log
	[[ $stderr == *"d: no pairs: 2 starts, but no end was selected; -e, -w "* ]]
	run -0 --separate-stderr telstat -s 'd=dur(Begin,End,disk) if name == End' log
	[[ $stderr == *"d: no pairs: 2 ends, but no start was selected; "* ]]
	run -0 --separate-stderr telstat -s 'd=dur(Begin,End,clock)' log
	[[ $stderr == *"d: no pairs: the key of none of 2 ends is that of a "*" (2 starts)" ]]
	run -0 --separate-stderr telstat -s 'd=dur(Begin,End,disk) if name == End && disk == 2' log
	[[ $stderr == *"d: no pairs: 1 end, but no start was selected; "* ]]
	# groups are one, and one pair is enough
	run -0 --separate-stderr telstat -g disk -s 'd=dur(Begin)' -e Begin log
	[ "$(grep -c 'no pairs: 2 starts' <<<"$stderr")" -eq 1 ]
	clean telstat -w '!(name == End && disk == 2)' -s 'd=dur(Begin)' log >got
	grep -q 'pairs 1 .*' got
	# quietly none
	clean telstat -q -s 'd=dur(Begin)' -e Begin log >got
}

@test "a pair has all types of its names" {
	cat >log <<-'END'
		# teltools text 1
		# tick rate: 1000000000
		# type: A 1 K x:unsigned
		# type: A 2 K y:unsigned
		# type: B 3 K x:unsigned
		# type: B 4 K y:unsigned
		0000000000000001 A x=1
		0000000000000003 B y=1
		0000000000000004 A y=1
		0000000000000009 B x=1
		000000000000000a A y=1
		000000000000000b B y=1
	END
	clean telstat -q --raw -s 'd=dur(A,B)' -s 'i=dur(A,A)' log >got
	grep -q 'events 6  pairs 3  total 8  min 1  max 5' got
	grep -q 'events 3  pairs 2  total 9  min 3  max 6' got
}

@test "types of a pair have the names of any format" {
	cat >log <<-'END'
		# teltools text 1
		# tick rate: 1000000000
		# type: jdk.Start 1 K id:unsigned
		# type: shop:end 2 K of:unsigned
		0000000000000001 jdk.Start id=7
		0000000000000002 jdk.Start id=8
		0000000000000005 shop:end of=7
		0000000000000009 shop:end of=9
	END
	clean telstat --raw -s 'd=dur(jdk.Start,shop:end)' -q log >got
	grep -q 'pairs 2  total 11  min 3  max 8' got
	clean telstat --raw -q -s "d=dur('jdk.Start',\"shop:end\")" log >quoted
	diff got quoted
	# and of parts that are added up
	clean telstat -f inst -q -s 'd=dur(jdk.Start,shop:end)' log >part
	clean telstat --raw -q part >added
	diff got added
	for name in 'a b' 1a '"' '""' 'a=b'; do
		run -2 --separate-stderr telstat -s "d=dur(jdk.Start,$name)" log
		[[ $stderr == *"column 17: expected the name of a type" ]] ||
		    [[ $stderr == *"unterminated string"* ]]
	done
}

# switches: two threads of one processor, woken at 1 and 3 us.
switches() {
	cat <<-'END'
		a-1 [000] 0.000001: sched_wakeup: comm=b pid=2
		a-1 [000] 0.000003: sched_wakeup: comm=c pid=3
		a-1 [000] 0.000008: sched_switch: prev_pid=1 next_pid=2
		b-2 [000] 0.000020: sched_switch: prev_pid=2 next_pid=3
		c-3 [000] 0.000050: sched_switch: prev_pid=3 next_pid=2
	END
}

@test "the start and the end of a pair may have keys of their own" {
	switches >log
	clean telstat --raw log \
	    -s 'late=dur(sched_wakeup,sched_switch,pid:next_pid)' \
	    -s 'ran=dur(sched_switch,sched_switch,next_pid:prev_pid)' \
	    -s 'slept=dur(sched_switch,sched_switch,prev_pid:next_pid)' \
	    -s 'some=ticks(sched_wakeup,sched_switch,pid + 1:next_pid)' |
	    grep -o 'pairs .*' | sed 's/  mean.*//' >got
	diff - got <<-'END'
		pairs 2  total 24000  min 7000  max 17000
		pairs 2  total 42000  min 12000  max 30000
		pairs 1  total 30000  min 30000  max 30000
		pairs 1  total 19000  min 19000  max 19000
	END
	clean telstat -f inst -s 'd=dur(sched_wakeup,sched_switch,pid:next_pid)' \
	    log | telstat --raw >added
	grep -q 'dur(sched_wakeup,sched_switch,pid:next_pid)' added
	grep -q 'pairs 2  total 24000' added
	run -2 --separate-stderr telstat \
	    -s 'd=dur(sched_wakeup,sched_switch,pid:nxt_pid)' log
	[[ $stderr == *"column 37: no event type has a field 'nxt_pid'"* ]]
	run -2 --separate-stderr telstat \
	    -s 'd=dur(sched_wakeup,sched_switch,pid:)' log
	[[ $stderr == *"column 37: expected an operand"* ]]
	run -2 telstat -s 'd=dur(sched_wakeup,sched_switch,:pid)' log
	run -2 telstat -s 'd=dur(sched_wakeup,sched_switch,pid:pid:pid)' log
	# a colon in a string cuts nothing
	clean telstat -q -s 'd=dur(sched_wakeup,sched_switch,has("a:b"))' log \
	    >got
	grep -q 'pairs 2' got
	# of an interval no end need be absent
	run -0 --separate-stderr telstat -s 'd=dur(sched_switch,sched_switch,clock)' log
	[[ $stderr == *"both, which have the same key and are of one log" ]]
}

@test "the clock of a 32-bit program of the MPS starts anew" {
	{
		printf '# teltools text 1\n# format: mps-1.118.0/lii3gc\n'
		for ((i = 0; i < 6; i++)); do
			printf '%016X EventClockSync clock=%d\n' $((i * 1000000000)) \
			    $(((4292967296 + i * 1000000) % 4294967296))
			printf '%016X TraceFlip%s trace=0x1000 arena=0x2000\n' \
			    $((i * 1000000000 + 7000)) Begin $((i * 1000000000 + 9000)) End
		done
	} >log
	[ "$(telcat -H -e TraceFlipEnd -F time,duration log)" = "$(for ((i = 0; i < 6; i++)); do
		printf '%016X TraceFlipEnd time=%d duration=2000\n' \
		    $((i * 1000000000 + 9000)) $((i * 1000000000 + 9000))
	done)" ]
	telcat -f tel log | telstat | grep -q '^GC *pauses 6  total 12 us '
}

@test "a coarse clock: the first events have a time though it stands at first" {
	printf '%s\n' '# teltools text 1' '# format: mps-1.118.0/w3i6mv' \
	    '00000000000003E8 EventClockSync clock=7' \
	    '00000000000007D0 TraceFlipBegin trace=0x1000 arena=0x2000' \
	    '0000000000000BB8 EventClockSync clock=7' \
	    '0000000000000FA0 TraceFlipEnd trace=0x1000 arena=0x2000' \
	    '0000000000001388 EventClockSync clock=9' >log
	telcat -H -F time,duration log | cut -d ' ' -f 3- | diff - <(printf '%s\n' \
	    time=0 time=0 time=0 'time=1000 duration=1000' time=2000)
	telstat -q -f csv -s 'd=sum(duration)' log | grep -qx '[0-9]*,d,sum,sum,,,,1000,'
}
