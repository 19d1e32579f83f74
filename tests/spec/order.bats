#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Events are shown and selected in order of time; copies keep that of the file.

load ../cli/lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	ORDER=$TEL_TOP/tests/spec/order.py
}

# late LOG: nonzero when a window cannot put a log in order.
late() {
	telcat -c "$1" >count
	telcat -H "$1" 2>&1 >/dev/null | grep -q 'after later ones'
}

@test "events are shown in order of time" {
	sorted=0
	while read -r name; do
		zstd -dqc "$name" >log
		echo "$name"
		telcat -q -H --file-order log >file
		telcat -q -H log >shown
		python3 "$ORDER" same file shown
		if late log; then
			# one of those that only -S puts in order
			[[ $name == */1.111.0-* ]]
			telcat -q -H -S log >shown
		else
			telcat -H -S log | cmp shown -
			sorted=$((sorted + 1))
		fi
		python3 "$ORDER" sorted file shown
		# JSON and CSV, too
		telcat -q -H -f json log | sed 's/^{"clock":\([0-9]*\),.*/\1/' >clocks
		late log || sort -nc clocks
	done < <(printf '%s\n' "$TEL_TOP"/tests/data/mps/*.log.zst | sample 5)
	[ "$sorted" -gt 0 ]
}

@test "the output of the MPS's own tools has the order of the file" {
	unpack 1.118.0-lii6gc-awlut
	telcat -f mpscnv mpsio.log | cmp - <(telcat --file-order -f mpscnv mpsio.log)
	run ! cmp -s <(telcat -f mpscnv -S mpsio.log) <(telcat -f mpscnv mpsio.log)
	telfilter mpsio.log | cmp - mpsio.log
	unpack 1.118.0-lii6gc-poolncv
	telcat -f mps mpsio.log | cmp - mpsio.log
	telcat -f tel mpsio.log | telcat -f mps | cmp - mpsio.log
}

@test "a copy keeps the order of the file, of what is selected by time" {
	unpack 1.118.0-lii6gc-awlut
	telcat -H --file-order mpsio.log >file
	for where in 'has(label)' 'label(pool) != ""' 'live > 20000' \
	    'frees && start.size > 100'; do
		echo "$where"
		telfilter -w "$where" -o copy mpsio.log
		# the writer adds names and points of time
		telcat -H --file-order -e '^Intern,Label*,Event*' copy >part
		python3 "$ORDER" part file part
		telcat -q -H -S -e '^Intern,Label*,Event*' -w "$where" mpsio.log >want
		telcat -H -e '^Intern,Label*,Event*' copy >got
		python3 "$ORDER" same want got
		[ -s got ]
	done
	# the first and every other of them, by time
	telfilter -e PoolAlloc -n 1000 mpsio.log >copy
	telcat -H --file-order -e PoolAlloc copy >part
	python3 "$ORDER" part file part
	telcat -H -S -e PoolAlloc mpsio.log | head -n 1000 >want
	python3 "$ORDER" same want part
	telfilter -e PoolAlloc --every 3 --skip 7 mpsio.log >copy
	telcat -H --file-order -e PoolAlloc copy >part
	python3 "$ORDER" part file part
	telcat -H -S -e PoolAlloc mpsio.log | awk 'NR % 3 == 1' | tail -n +8 >want
	python3 "$ORDER" same want part
}

@test "late events are counted, and -S puts them in order" {
	unpack 1.111.0-lii6gc-amcss
	local late
	run -0 --separate-stderr telcat -H mpsio.log
	[[ $stderr =~ ([0-9]+)' events are shown after later ones, which -S puts in order' ]]
	late=${BASH_REMATCH[1]}
	# as many are before the latest clock so far
	[ "$(printf '%s\n' "$output" | python3 -c '
import sys
horizon = late = 0
for line in sys.stdin:
    clock = int(line[:16], 16)
    late += clock < horizon
    horizon = max(horizon, clock)
print(late)')" -eq "$late" ]
	# times are those since the earliest event, which is not read first
	[[ $(telcat -q -f csv -T relative mpsio.log | sed -n 2p) == 0,* ]]
	# and those of many files, which are closed at their ends
	for i in {1..70}; do ln mpsio.log "$i.log"; done
	run -0 --separate-stderr telcat -H -o all {1..70}.log
	[[ $stderr == "telcat: $((70 * late)) events are shown after"* ]]
	run -0 --separate-stderr telcat -q -H mpsio.log
	[ -z "$stderr" ]
	run -0 --separate-stderr telcat -S -H mpsio.log
	[ -z "$stderr" ]
}

@test "-S sorts events that are longer than its buffer" {
	python3 -c "
print('# teltools text 1')
print('# type: Long 1 K s:string')
for i in range(30):
    print(f'{i:016X} Long s=\"{i}{\"x\" * 80000}\"')" >want
	{ head -n 2 want; tail -n +3 want | tac; } >log
	timeout 60 "$TEL_BUILD/bin/telcat" -H -S log | cmp <(tail -n +3 want) -
}

@test "blocks and pairs are computed in order of time" {
	unpack 1.118.0-lii6gc-awlut
	telcat -S mpsio.log >sorted.txt
	for spec in 'd=quantiles(dur(TraceFlipBegin,TraceFlipEnd,trace))' \
	    'p=tally(label(pool),16)' 'l=quantiles(live)' 's=quantiles(duration)'; do
		telstat -s "$spec" mpsio.log >got
		telstat -s "$spec" sorted.txt >want
		# the formats differ in what follows
		diff <(grep -v Totals want) <(grep -v Totals got)
	done
	roles=(--alloc 'SegAlloc(ptr=seg,size=size)' --free 'SegFree(ptr=seg)')
	telstat "${roles[@]}" mpsio.log | grep -E '^(allocated|freed|live) ' >got
	telstat -S "${roles[@]}" mpsio.log | grep -E '^(allocated|freed|live) ' |
	    diff - got
}

@test "telstat has the blocks of text whose lines are in any order" {
	local line=('000000000000000A A p=0x10 size=100' \
	    '0000000000000014 F p=0x10' '000000000000001E A p=0x20 size=50' \
	    '0000000000000028 F p=0x20')
	{
		printf '%s\n' '# teltools text 1' '# tick rate: 1000000000' \
		    '# type: A 1 M p:address size:unsigned' \
		    '# type: F 2 M p:address' '# role: A alloc p size -' \
		    '# role: F free p - -'
		printf '%s\n' "${line[1]}" "${line[2]}" "${line[0]}" "${line[3]}"
	} >log
	for option in --verbose --blocks=size '-wlive >= 0' -n4 -fcsv \
	    -fopenmetrics -fprometheus; do
		echo "$option"
		telstat -q "$option" log >got
		telstat -q -S "$option" log | diff - got
	done
	# those of a log that is read in pieces, too
	{
		grep '#' log
		for ((i = 1; i <= 40000; i++)); do
			printf '%016X F p=0x%x\n%016X A p=0x%x size=99\n' \
			    $((2 * i)) "$i" $((2 * i - 1)) "$i"
		done
	} >long
	telstat -q -j 2 -f csv long >got
	grep -q 'totals,freed_blocks,,,,40000,' got
	run ! grep freed_unknown got
	# where a block is on both sides of a full window, too
	sed '0,/^0/s/^0/0000000000000000 A p=0xfffff size=9\n0/' long >odd
	run -0 --separate-stderr telstat -j 1 -f csv odd
	[[ $output == *totals,freed_blocks,,,,40000,* && $stderr == "" ]]
	run ! grep freed_unknown <<<"$output"
	telstat log | grep -Eq '^peak +1 blocks +100 bytes'
	telstat <(cat log) | diff - <(telstat log)
	# so does a native file of that text
	telcat -f tel log >log.tel
	telstat log | sed 1d >want
	telstat log.tel | sed 1d | diff want -
	telcat -f tel log.tel | telstat | sed 1d | diff want -
	telcat -H log.tel | diff - <(grep -v '#' log)
}

@test "conditions on the order see lines of text in order of time" {
	printf '%s\n' '# teltools text 1' '# tick rate: 1000000000' \
	    '# type: A 1 M p:address size:unsigned' \
	    '# type: F 2 M p:address' '# role: A alloc p size -' \
	    '# role: F free p - -' '0000000000000014 F p=0x10' \
	    '000000000000001E A p=0x20 size=50' \
	    '000000000000000A A p=0x10 size=100' >log
	telcat -f tel log >log.tel
	for log in log log.tel; do
		telcat -H -w 'live == 100' $log >got
		[ "$(<got)" = '000000000000000A A p=0x10 size=100' ]
		telcat -H -w 'dt == 10' $log | cut -c 1-16 >got
		diff got - <<<$'0000000000000014\n000000000000001E'
		# a copy keeps the order of the lines
		telfilter -w 'live >= 50' $log | telcat -H >got
		sed -n '8,9p' log | diff got -
		# the others are in the order of the text
		telcat -H -n 1 $log >got
		[ "$(<got)" = '0000000000000014 F p=0x10' ]
		telcat -H --file-order -w 'live == 150' $log >got
		[ "$(<got)" = '000000000000000A A p=0x10 size=100' ]
	done
	# columns, a page and a replay see the same
	telcat -H -F live log | cut -c 18- >got
	diff got - <<<$'A live=100\nF live=0\nA live=50'
	(grep '#' log && grep -v '#' log | sort) >sorted
	telcat -f html <sorted >want
	telcat -f html <log | diff want -
	for format in csv openmetrics; do
		telstat -f $format <sorted >want
		telstat -f $format <log | diff want -
	done
	telreplay --dry-run <sorted | sed 's/, at event.*//' >want
	telreplay --dry-run <log | sed 's/, at event.*//' | diff want -
	# lines that are being written are shown at once
	mkfifo pipe
	telcat -H -u -w 'live == 50' pipe >got &
	exec {hold}>pipe
	cat log >&"$hold"
	await has_lines 1 got
	exec {hold}>&-
	wait $!
}

@test "telstat follows the blocks of several folders as one" {
	local name=lttng_ust_libc i
	for i in 1 2; do
		printf '%s\n' '# teltools text 1' '# tick rate: 1000000000' \
		    "# type: $name:malloc 1 M ptr:address size:unsigned" \
		    "# type: $name:free 2 M ptr:address" \
		    "000000000000001$i $name:malloc ptr=0x${i}0 size=${i}00" \
		    "000000000000002$i $name:free ptr=0x${i}0" >log$i
		telcat -o trace$i -f ctf log$i
	done
	telstat trace1 trace2 | grep -Eq '^peak +2 blocks +300 bytes'
}

@test "what is selected is sorted, not the log" {
	python3 - >log.txt <<-'END'
		import random
		rng = random.Random(7)
		print("# teltools text 1\n# tick rate: 1000000000\n"
		      "# type: begin 1 A key:unsigned\n# type: end 2 A key:unsigned\n"
		      "# type: other 3 B size:unsigned")
		rows = []
		for key in range(500):
		    at = rng.randrange(10**9)
		    rows += [(at, f"begin key={key}"), (at + key + 1, f"end key={key}")]
		rows += [(rng.randrange(10**9), f"other size={i}") for i in range(120000)]
		rng.shuffle(rows)
		for at, text in rows:
		    print(f"{at:016X} {text}")
	END
	telcat -f tel -o log.tel log.txt
	for log in log.txt log.tel; do
		# there is no folder for a temporary file
		TMPDIR=$PWD/none run -0 telstat -q -S -f json -e begin,end \
		    -s 'd=sum(dur(begin,end,key))' $log
		[[ "$output" == *'"pairs":500,'*"\"sum\":$((500 * 501 / 2)),"* ]]
		TMPDIR=$PWD/none run -0 telcat -q -S -H -w 'key < 3' $log
		[ "${#lines[@]}" = 6 ]
		# what depends on other events sorts all of them
		TMPDIR=$PWD/none run -1 telcat -q -S -H -w 'dt > 1 && key < 3' $log
		[[ $output == *": sorting in $PWD/none: No such file or directory" ]]
		TMPDIR=$PWD/none run -1 telstat -q -S -s 'n=count()' -f json $log
	done
}

@test "kernel traces of processors one after the other are in order of time" {
	local event='call_site=f+0x1 ptr=0xffff88810000'
	printf 'app 7 [%03d] %s: kmem:%s %s%s\n' \
	    0 1.000001 'kmalloc:' "$event" \
	    '0040 bytes_req=60 bytes_alloc=64 gfp_flags=GFP_KERNEL' \
	    0 1.000004 'kfree:' "$event" 0080 1 1.000002 'kfree:' "$event" 0040 \
	    1 1.000003 'kmalloc:' "$event" \
	    '0080 bytes_req=50 bytes_alloc=64 gfp_flags=GFP_KERNEL' >log
	sort -k 4 log >sorted
	for command in "telstat" "telstat -f csv" "telcat -f csv -F live" \
	    "telcat -f html" "telreplay --dry-run"; do
		$command <sorted >want
		$command <log >got
		sed -i 's/, at event.*//' want got
		diff want got
	done
	telcat -f csv -F live log | cut -d , -f 3 | diff - <(printf '%s\n' live 60 0 50 0)
}

@test "telstat says where labels and pairs may depend on late events" {
	local log=$TEL_TOP/tests/data/mps/1.111.0-lii6gc-amcss.log.zst
	for spec in 'l=tally(label(pool),4)' 'd=sum(dt)' 'n=sum(live)'; do
		run -0 --separate-stderr telstat -s "$spec" "$log"
		[[ "$stderr" == *" events are shown after later ones, which -S puts in order" ]]
		run -0 --separate-stderr telstat -S -s "$spec" "$log"
		[ -z "$stderr" ]
	done
}
