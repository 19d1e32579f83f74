#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# What telstat reads: the same events in any form, several logs, and what it
# has written itself.

# "run --separate-stderr" sets stderr
# shellcheck disable=SC2154,SC2094

load lib

STATS=(-s 'sizes=split(size,0,16,128,4k,1k) if name == "PoolAlloc"'
	-s 'who=tally(name,100,size)' -s 'log=log2(size,1)'
	-s 'q=quantiles(size)' -s 'total=growth(size)' -s 'now=mag(size)'
	-s 'life=dur(PoolInit,PoolFinish,pool)'
	-s 'lives=hist(dur(PoolInit,PoolFinish,pool),10us,500us,20us)'
	-s 'lin=loglin(size,10,0,3,10)' -s 'low=hist(size-100,-100,100,10)'
	--report)
FORMS='text csv json openmetrics prometheus svg inst'

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	unpack 1.118.0-lii6gc-poolncv
	unpack 1.118.0-lii6gc-awlut two.log
}

# The answer, without what is of the form of the input.
answer() {
	clean telstat "${STATS[@]}" --raw "$@" |
	    sed -e '/^mps-/d' -e '/^bytes /d'
}

@test "the events are the same from a log, from text and from cnv" {
	answer mpsio.log >want
	[ "$(wc -l <want)" -gt 100 ]
	telcat mpsio.log >text
	answer text | diff want -
	telcat -H mpsio.log | LC_ALL=C sort >sorted
	answer sorted | diff want -
	telcat -f mpscnv mpsio.log >cnv
	answer cnv | diff want -
	answer <mpsio.log | diff want -
	telcat mpsio.log | answer | diff want -
	zstd -qc mpsio.log | answer | diff want -
	tar cf log.tar mpsio.log
	answer log.tar | diff want -
}

@test "parts that were counted apart add up to the whole, exactly" {
	telstat -f inst "${STATS[@]}" mpsio.log >a
	telstat -f inst "${STATS[@]}" two.log >b
	cat a b >both
	telstat -f inst a b >sum
	for form in $FORMS; do
		clean telstat -f "$form" "${STATS[@]}" --no-merge mpsio.log \
		    two.log >want
		clean telstat -f "$form" --report a b >got
		cmp want got
		clean telstat -f "$form" --report both | cmp want -
		clean telstat -f "$form" --report <both | cmp want -
		clean telstat -f "$form" --report sum | cmp want -
		# shellcheck disable=SC2002 # a pipe on purpose
		cat a b | clean telstat -f "$form" --report --as inst |
		    cmp want -
	done
}

@test "what is compressed is known for what it is, from files and pipes" {
	telstat -f inst -s 'h=log2(size)' two.log >part
	telstat -f inst -s 'h=log2(size)' mpsio.log two.log |
	    telstat >both
	telstat part >alone
	for packer in gzip bzip2 xz lz4 zstd; do
		"$packer" -qc part >packed
		clean telstat packed | cmp alone -
		clean telstat <packed | cmp alone -
		# shellcheck disable=SC2002 # a pipe on purpose
		cat packed | clean telstat | cmp alone -
		# what comes bit by bit too
		{
			head -c 30 packed
			sleep 0.1
			tail -c +31 packed
		} | clean telstat | cmp alone -
		# and where a statistic is asked for it is added, no log
		clean telstat -s 'h=log2(size)' mpsio.log packed | cmp both -
		# shellcheck disable=SC2002
		cat packed | clean telstat -s 'h=log2(size)' mpsio.log - |
		    cmp both -
	done
	# a log is a log
	clean telstat mpsio.log >want
	for packer in gzip bzip2 xz lz4 zstd; do
		"$packer" -qc mpsio.log | clean telstat | cmp want -
	done
}

# The variance and its root, as python computes them from the values of a file,
# one on each line with its weight, must be those of each further file of csv.
check_variance() {
	python3 - "$@" <<-'END'
		import csv, sys
		from fractions import Fraction as F
		rows = [tuple(map(int, line.split())) for line in open(sys.argv[1])]
		n = sum(w for _, w in rows)
		mean = F(sum(v * w for v, w in rows), n)
		want = F(sum(w * (v - mean) ** 2 for v, w in rows), n)
		for name in sys.argv[2:]:
		    found = {r["stat"]: float(r["value"]) for r in csv.DictReader(open(name))
		             if r["stat"] in ("variance", "stddev")}
		    assert abs(F(found["variance"]) - want) <= want * F(1, 2**51), (name, found, float(want))
		    assert abs(F(found["stddev"]) ** 2 - want) <= want * F(1, 2**50), (name, found)
	END
}

@test "variance and standard deviation are exact, of parts as of the whole" {
	telcat -S -H -e PoolAlloc mpsio.log | sed 's/.*size=//; s/$/ 1/' >sizes
	[ "$(wc -l <sizes)" = 16 ]
	awk '{ print $1, $1 }' sizes >weighed
	awk '{ sum -= $1; print sum, 1 }' sizes >sums
	for spec in 'mag(size)' 'growth(size)' 'hist(size,0,64,16)' \
	    'split(size,0,16,128,4k,1k)' 'log2(size)' 'loglin(size,10,0,3,10)' \
	    'quantiles(size)'; do
		telstat -f csv -e PoolAlloc -s "x=$spec" mpsio.log >got
		check_variance sizes got
	done
	telstat -f csv -e PoolAlloc -s 'x=quantiles(size,7,size)' mpsio.log >got
	check_variance weighed got
	spec='x=magdelta(-size)'
	telstat -f csv -e PoolAlloc -s "$spec" mpsio.log >got
	check_variance sums got
	for part in '-n 5' '--skip 5 -n 4' '--skip 9'; do
		# shellcheck disable=SC2086 # words on purpose
		telstat -f inst -e PoolAlloc -s "$spec" $part mpsio.log \
		    >"part ${part: -1}"
	done
	telstat -f csv 'part 5' 'part 4' 'part 9' >merged
	check_variance sums merged
	diff <(cut -d, -f2- got | grep "^x,") \
	    <(cut -d, -f2- merged | grep "^x," | grep -v ^x,magdelta,approximate,)
	# the parts say that the order matters; of the last value it does not
	telstat 'part 4' 'part 9' 'part 5' >text
	grep -q 'its values depend on the order of the merged parts' text
	telstat -f inst 'part 9' 'part 4' 'part 5' >other
	telstat -f json other >json
	grep -q '"approximate":' json
	telstat -f json -j 2 -e PoolAlloc -s "$spec" mpsio.log >whole
	run ! grep '"approximate":' whole
	grep -o '"last":[^,]*' json | diff - <(grep -o '"last":[^,]*' whole)
	# of 64 bits, where a double would lose all of it
	telstat -f json -s 'x=mag(9007199254740993 + 2 * (code & 1))' mpsio.log |
	    grep -q '"variance":0\.[0-9]*,"stddev":0\.[0-9]*[,}]'
}

@test "variance is in every form, and unknown where a part does not have it" {
	telstat -f inst -s 'a=mag(size)' mpsio.log >a
	grep -q ' sum=198648 sq=10167294016 ' a
	telstat a | grep -q 'variance 271,863,796.7$'
	telstat a | grep -q '^  stddev 16,488.3$'
	telstat -f svg a | grep -q 'variance 271,863,796.7 · stddev 16,488.3<'
	telstat -f openmetrics a |
	    grep -qx 'inst_a_stddev_bytes{class="a"} 16488.29271684165'
	# as written before there were squares
	sed 's/ sq=[0-9]*//' a >old
	telstat old old | grep -q 'mean 6,019.6$'
	for form in $FORMS; do
		telstat -f "$form" a old >"got.$form"
		run ! grep 'stddev\| sq=' "got.$form"
	done
	sed 's/ sq=[0-9]*/ sq=-1/' a >bad
	run -3 telstat bad
	# a sum that such squares cannot have
	sed 's/ sq=[0-9]*/ sq=1/' a >less
	telstat less >got
	run ! grep stddev got
	# of one update, too
	telstat -q -f inst -s 'a=mag(size)' -w 'has(size)' -n 1 mpsio.log |
	    sed 's/ sq=[0-9]*//' >one
	grep -q ' n=1 ' one
	telstat a one >got
	grep -q 'mean ' got
	run ! grep stddev got
	# upper words
	sed 's/ sq=[0-9]*/ sq=5 sqm=6 sqh=7/' a >upper
	telstat -f inst upper | grep -q ' sq=5 sqm=6 sqh=7 '
}

@test "groups add up as well" {
	groups=(-s 'n=tally(name,99)' -s 'h=log2(size)' -g kind)
	telstat -f inst "${groups[@]}" mpsio.log >a
	telstat -f inst "${groups[@]}" two.log >b
	for form in $FORMS; do
		telstat -f "$form" "${groups[@]}" --no-merge mpsio.log \
		    two.log >want
		clean telstat -f "$form" a b >got
		cmp want got
	done
}

@test "the last snapshot of a part is what counts" {
	telstat -f inst -i 100us "${STATS[@]}" mpsio.log >a
	telstat "${STATS[@]}" mpsio.log >want
	telstat --report a | diff want -
}

@test "logs and parts are added to each other" {
	telstat -f inst -s 'h=log2(size)' two.log >b
	telstat --no-merge -s 'h=log2(size)' mpsio.log two.log >want
	telstat -s 'h=log2(size)' mpsio.log b | diff want -
	telstat -s 'h=log2(size)' b mpsio.log | diff want -
}

@test "where a sum is not exact, every form says so" {
	telstat -f inst -s 'few=tally(pool,2)' mpsio.log >a
	telstat -f inst -s 'few=tally(pool,2)' two.log >b
	clean telstat a b | grep -q '^  not exact: merged from parts'
	clean telstat -f csv a b | grep -q ',few,tally,approximate,,,,1,'
	clean telstat -f json a b | grep -q '"approximate":true'
	clean telstat -f openmetrics a b |
	    grep -qx 'inst_few_approximate{class="few"} 1'
	clean telstat -f svg a b | grep -q 'class="note">not exact'
	# of groups, each, in one family
	for log in mpsio.log two.log; do
		telstat -f inst -g kind -s 'few=tally(pool,2)' "$log" >"$log.part"
	done
	clean telstat -f openmetrics mpsio.log.part two.log.part >om
	python3 "$TEL_TOP/tests/cli/openmetrics.py" inst_few_approximate <om
	[ "$(grep -c '^inst_few_approximate{' om)" -gt 1 ]
	clean telstat -f inst a b >sum
	clean telstat sum | grep -q '^  not exact: merged from parts'
	# one part alone is exact
	clean telstat a >one
	run ! grep 'not exact' one
}

# same FORMAT STATUS: the parts are the same as the logs, except for their pools.
same() {
	[ $# -gt 2 ] || set -- "$@" --report=types
	exits "$2" telstat -q -f "$1" "${@:3}" --no-merge log.[1-4] >want 2>messages
	exits "$2" telstat -q -f "$1" "${@:3}" log.*.part 2>messages | diff want -
}

@test "parts of damaged and unreadable logs report it, in every form and step" {
	unpack 1.118.0-lii6gc-poolncv log.1
	unpack 1.116.0-lii6gc-poolncv log.2
	telcat -f tel -z 3 -o log.3 log.2
	printf 'XXXXXXXXXXXXXXXX' | dd of=log.2 bs=1 seek=1500 conv=notrunc 2>messages
	for spec in '' 'h=log2(size)'; do
		set -- ${spec:+-s "$spec"}
		rm -f log.4* log.?.part
		for i in 1 2 3; do
			exits '0|3' telstat -q "$@" -f inst -o log.$i.part log.$i
		done
		for form in text csv json openmetrics prometheus svg; do
			same $form 3 "$@"
		done
		exits 3 telstat -q log.*.part | grep -q ' damaged 1'
		# nothing could be read of this one, and its part says so
		: >log.4
		run -1 telstat "$@" -f inst -o log.4.part log.4
		for form in text csv json openmetrics prometheus svg; do
			same $form 1 "$@"
		done
		exits 1 telstat log.*.part 2>messages >got
		tail -n 1 got | grep -q 'incomplete 1$'
		grep -qx 'telstat: log.2.part: counted of damaged logs: 1 damaged place, [0-9]* bytes skipped' messages
		grep -qx 'telstat: log.4.part: incomplete: 1 of the runs that counted it could not read all of their input' messages
		# a step between adds nothing of its own
		run -1 telstat -f inst -o sum.a log.4.part log.1.part
		run -3 telstat -f inst -o sum.b log.2.part log.3.part
		run -1 telstat -f inst -o sum sum.a sum.b
		exits 1 telstat -q sum 2>messages | tail -n 1 | diff <(tail -n 1 got) -
		exits 1 telstat diff sum sum 2>messages >diffs
	done
}

@test "parts that do not fit are refused: exit 1" {
	telstat -f inst -s 'h=log2(size)' mpsio.log >a
	telstat -f inst -s 'h=log2(size,1)' mpsio.log >b
	run -1 --separate-stderr telstat a b
	[[ $stderr == "telstat: b: two statistics are named h: "* ]]
	run -1 --separate-stderr telstat -s 'h=mag(size)' mpsio.log a
	[[ $stderr == "telstat: a: two statistics are named h: "* ]]
	sed '1s/ inst 1/ inst 9/' a >newer
	run -1 --separate-stderr telstat newer
	[[ $stderr == "telstat: newer: the log has version 9.0.0; "*"(--force reads on)" ]]
	run -0 --separate-stderr telstat --force newer
	[[ $stderr == "telstat: newer: the log has version 9.0.0 and is read as 1.0.0" ]]
	[ "$output" = "$(telstat a)" ]
	telstat --force <newer 2>messages | diff - <(telstat a)
	# of another writer, with classes
	sed -e 's/ inst 1 / inst 3 /' -e '/ teltools /s/ writer="[^"]*"//' a >classes
	run -1 telstat classes
	run -0 --separate-stderr telstat --force classes
	[[ $output == *'h  (log2)'* ]]
	# shellcheck disable=SC2094
	run -1 --separate-stderr telstat --as inst mpsio.log
	[[ $stderr == "telstat: mpsio.log: "* ]]
}

@test "the report of blocks is the same whichever log has them" {
	printf '%s\n' '# teltools text 1' '# type: E 1 K size:unsigned' \
	    '0000000000000001 E size=1' >none.text
	cp "$TEL_TOP/tests/data/alloc/short.rep" .
	for j in 1 2; do
		clean telstat -j $j short.rep none.text >want
		grep -q '^lifetimes' want
		clean telstat -j $j none.text short.rep | diff want -
	done
}

@test "a part that is cut or damaged is reported: exit 3" {
	telstat -f inst -s 'h=log2(size)' mpsio.log >a
	sed '$d' a >"cut"
	run -3 --separate-stderr telstat cut
	[[ $stderr == "telstat: cut: offset "*"the log is truncated"* ]]
	[[ $output == *'  damaged 0'*'truncated 1'* ]]
	run -1 --separate-stderr telstat --strict cut
	run -3 --separate-stderr telstat -q cut
	[ -z "$stderr" ]
	# numbers that the report of a part lacks
	sed '/ R /s/ \(ticks\|ns\|first\|last\)=[0-9]*//g' a >few
	run -0 --separate-stderr telstat -f json few
	[ -z "$stderr" ]
	[[ $output == *'"events":144,'*',"span_ticks":0,"input_bytes":'* ]]
	sed '/ C id=3/s/type=/tpye=/' a >bad
	run -3 --separate-stderr telstat bad
	[[ $stderr == *"telstat: bad: offset "* ]]
}

@test "logs are merged by time where the order matters" {
	telcat --file-order -H mpsio.log | sed -n '1~2p' >odd
	telcat --file-order -H mpsio.log | sed -n '2~2p' >even
	order=(-s 'now=mag(size)' -s 'sum=magdelta(size)' -s 'n=growth(1)' --raw
	    --width 160)
	telstat "${order[@]}" mpsio.log | grep -v ^Totals >want
	# of several logs the time is not known, and so no rate
	telstat "${order[@]}" odd even | grep -v ^Totals |
	    diff <(sed 's/  rate .*//' want) -
	telstat "${order[@]}" --no-merge odd even | grep -v ^Totals >got
	run ! cmp want got
	telstat "${order[@]}" -i 100000ticks mpsio.log | grep -v ^Totals >want
	telstat "${order[@]}" -i 100000ticks odd even | grep -v ^Totals |
	    diff <(sed 's/  rate .*//' want) <(sed 's/  rate .*//')
	# starts and ends of different logs are not pairs
	telstat -s 'life=dur(PoolInit,PoolFinish,pool)' mpsio.log mpsio.log |
	    grep -q '  events 20  pairs 10  total 1.759204 ms '
	telstat --raw -s 'life=ticks(PoolInit,PoolFinish,pool)' odd even |
	    grep -q '  open 2  orphan 2'
}

@test "a report counts the events that telcat shows, of one log, several and a .tel" {
	unpack 1.116.0-lii6ll-finalcv
	mv mpsio.log a.log
	unpack 1.111.0-lii6gc-poolncv
	telfilter -f tel -o merged.tel mpsio.log a.log
	for logs in a.log mpsio.log 'mpsio.log a.log' 'a.log mpsio.log' \
	    merged.tel; do
		while read -r select; do
			# shellcheck disable=SC2086 # words
			set -- $select $logs
			telcat -H "$@" >shown
			[ "$(telcat -c "$@")" = "$(wc -l <shown)" ]
			[ "$(telstat -c "$@")" = "$(wc -l <shown)" ]
			telstat -f csv "$@" |
			    awk -F , '$4 == "events" && $3 == "totals" { print $8 }' |
			    diff - <(wc -l <shown)
		done <<-END
			-t 0,0x7000000000000
			-t 10000,20000000
			-t ,1000000
			-t 0s,1ms
			-t 10%,30%
			-w index<100
			-w time<=1ms
			--since type=="EventClockSync"
			--until type=="EventClockSync"
		END
	done
}

has_snapshots() {
	[ "$(grep -c '^== at' out)" -gt 3 ]
}

@test "a pipe is followed: each snapshot comes when it is due" {
	unpack 1.118.0-lii6gc-awlut
	mkfifo fifo
	telstat --live -i 1ms -s 'n=growth(1)' <fifo >out &
	{
		cat mpsio.log
		await has_snapshots
		cp out sofar
	} >fifo
	wait
	[ "$(grep -c '^== at' sofar)" -gt 3 ]
	run ! grep '^== end' sofar
	grep '^== end' out
}

@test "what lies between two events is counted in order of time" {
	unpack 1.118.0-lii6gc-amcss
	telcat -S mpsio.log >sorted.txt
	for log in mpsio.log sorted.txt; do
		telstat -f csv --since 'name == TraceFlipBegin' \
		    --until 'name == TraceFlipEnd' "$log" |
		    grep -v input_bytes >"$log.csv"
	done
	cmp mpsio.log.csv sorted.txt.csv
	grep -q ',,type,events,,,TraceFlipEnd,1' mpsio.log.csv
}

@test "blocks of finished pools are not live, as telreplay has it" {
	for log in "$TEL_TOP"/tests/data/mps/*-{poolncv,finalcv,awlut}.log.zst; do
		want=$(telreplay -q --dry-run "$log" | sed -n \
		    's/^  not freed  *\([0-9,]*\) .*bytes in \([0-9,]*\) .*/\2 \1/p')
		telstat -q "$log" >got
		[ "$(awk '/^live/ { print $2, $4 }' got)" = "$want" ]
		# also in parts that are added up
		telstat -q -f inst "$log" | telstat -q >sum
		[ "$(grep '^live' sum)" = "$(grep '^live' got)" ]
	done
}

@test "the current value of parts is the later one in time" {
	telcat -H -S -e PoolAlloc mpsio.log | head -n 9 | telstat -q -f inst -s 'm=mag(size)' >a
	telcat -H -S -e PoolAlloc mpsio.log | tail -n 9 | telstat -q -f inst -s 'm=mag(size)' >b
	telstat -q --raw b | grep -o 'current [0-9]*' >want
	telstat -q --raw a | grep -o 'current [0-9]*' >first
	run ! cmp want first
	for parts in 'a b' 'b a'; do
		# shellcheck disable=SC2086 # two names
		telstat -q --raw $parts | grep -o 'current [0-9]*' | diff want -
	done
}

@test "-g file: a group for each log, in whatever way it is read" {
	specs=(-s 'n=growth(1)' -s 'q=quantiles(size)' -g file)
	telstat --raw "${specs[@]}" mpsio.log two.log >both
	for log in mpsio.log two.log; do
		telstat --raw -s 'q=quantiles(size)' "$log" |
		    sed "/^q /,/^  p50/!d; s/^q /q{file=$log} /" >want
		sed -n "/^q{file=$log} /,/^  p50/p" both | diff want -
	done
	[ "$(grep -c '^[nq]{' both)" = 4 ]
	telstat --raw "${specs[@]}" --no-merge mpsio.log two.log >want
	telstat -f inst "${specs[@]}" mpsio.log >a
	telstat -f inst "${specs[@]}" two.log >b
	diff <(telstat --raw a b | grep -v rate) <(grep -v rate want)
	for jobs in 1 2; do
		telstat --raw "${specs[@]}" --no-merge -j $jobs mpsio.log two.log |
		    diff want -
	done
	# merged by time, of an archive, from standard input, with other groups
	telstat -g file -s 'now=mag(size)' mpsio.log two.log >got
	grep -q '^now{file=mpsio.log}' got
	grep -q '^now{file=two.log}' got
	tar cf both.tar mpsio.log two.log
	telstat -g file,kind -s 'n=growth(1)' both.tar >got
	grep -q '^n{file=both.tar:mpsio.log,kind=Arena}' got
	grep -q '^n{file=both.tar:two.log,kind=Seg}' got
	telstat -f json -g file -s 'n=growth(1)' <mpsio.log |
	    grep -q '"group":{"file":"-"}'
	# without a statistic, the events are counted, below the report
	telstat --raw --report=types mpsio.log two.log >want
	telstat --raw --report=types -g file mpsio.log two.log >got
	[ "$(diff want got | grep -c '^<')" = 0 ]
	for log in mpsio.log two.log; do
		printf '> events{file=%s}  (count)\n>   count(1)\n>   updates %d\n' \
		    "$log" "$(telfilter -c "$log")"
	done | diff - <(diff want got | grep '^> .')
	telstat -g file -f json mpsio.log | grep -q '"group":{"file":"mpsio.log"}'
	# a field of the name
	printf '# teltools text 1\n# type: T 1 K file:unsigned\n%s\n' \
	    '0000000000000001 T file=5' >text
	telstat -g .file -s 'n=growth(1)' text | grep -q '^n{.file=5}'
	telstat -g file -s 'n=growth(1)' text | grep -q '^n{file=text}'
}

@test "what is unknown in a role of a text is reported, once" {
	local format line want
	for format in '# format: one' '# teltools text 1'; do
		while IFS='|' read -r line want; do
			printf '%s\n' "$format" '# type: A 1 K p:address n:unsigned' \
			    '# type: B 2 K p:address' "# role: $line" \
			    '0000000000000001 A p=0x10 n=1' \
			    '0000000000000001 B p=0x10' >log
			telstat log 2>&1 >report | sed 's/^telstat: log: //' >got
			diff got - <<<"$want"
			grep -q 'events 2 .* damaged 0$' report
		done <<-'END'
			A alloc p bogus n|role of A: unknown field or part 'bogus'
			A alloc p n - odd=n|role of A: unknown field or part 'odd=n'
			A alloc p n x y|role of A: unknown field or part 'x'
			A alocc p n|role of A: unknown role 'alocc'
			C alloc p n|role of C: unknown type 'C'
			A start C p|role of A: unknown type 'C'
			A finish p as=C|role of A: unknown type 'C'
		END
		printf '%s\n' "$format" '# type: A 1 K p:address n:unsigned' \
		    '# role: A alloc p n - thread=n' '# role: A alloc p n' \
		    '0000000000000001 A p=0x10 n=1' >log
		clean telstat log >report
	done
}

@test "an event counts as its type, whichever the log has when it is read on" {
	local order
	cat >log <<-END
		# format: one
		# type: A 1 K x:unsigned
		# type: B 2 K x:unsigned
		# role: A alloc x - -
		# role: B free x - -
		0000000000000001 A x=1
		0000000000000002 A x=2
		# format: two
		# type: F 1 K x:unsigned
		# type: A 2 L x:unsigned
		# role: F free x - -
		# role: A alloc x - -
		0000000000000003 F x=1
		0000000000000004 A x=3
	END
	telcat log >want
	for order in -S --file-order; do
		telcat "$order" log | cmp want -
		telstat "$order" -f json log | grep -oE '"name":"[AFB].*"events":[0-9]+|_blocks":[0-9]+' |
			paste -sd ' ' >got
		diff got - <<-'END'
			"name":"A","kind":"K","code":1,"events":2 "name":"A","kind":"L","code":2,"events":1 "name":"F","kind":"K","code":1,"events":1 _blocks":0 _blocks":0 _blocks":3 _blocks":1 _blocks":2
		END
	done
}

# The members are read one after the other, or with -S merged.
@test "an archive has the metadata of its members" {
	cd "$BATS_TEST_TMPDIR" || exit
	printf '%s\n' '# teltools text 1' '# meta: host one' '# meta: run 7' \
		'# type: Grab 1 Alloc a:unsigned' '0000000000000001 Grab a=1' >one
	printf '%s\n' '# teltools text 1' '# meta: host two' '# meta: run 7' \
		'# type: Grab 1 Alloc a:unsigned' '0000000000000002 Grab a=1' >two
	tar cf both.tar one two
	telstat one two | grep -E '^(host|run) ' >want
	[ "$(wc -l <want)" -eq 3 ]
	telstat both.tar | grep -E '^(host|run) ' | cmp - want
	telstat -S both.tar | grep -E '^(host|run) ' | cmp - want
	tar cf one.tar one
	[ "$(telstat one.tar | grep -cE '^(host one|run 7)$')" -eq 2 ]
}

@test "a socket, as a pipe with a name, is opened once" {
	python3 - >ready <<-'EOF' &
		import socket
		server = socket.socket(socket.AF_UNIX)
		server.bind("socket")
		server.listen(1)
		print("ready", flush=True)
		client = server.accept()[0]
		server.close()
		client.sendall(open("mpsio.log", "rb").read())
	EOF
	await grep -q ready ready
	telstat socket | cmp - <(telstat mpsio.log)
}

@test "what only later logs have does not depend on the threads" {
	local form=$TEL_TOP/tests/data/alloc/perl.heaptrack.zst logs
	printf '%s\n' '# teltools text 1' '# type: a 1 K n:unsigned' \
	    '0000000000000001 a n=1' >other.log
	for logs in "other.log two.log" "other.log two.log $form mpsio.log" \
	    "two.log $form" "--no-merge $form two.log"; do
		# shellcheck disable=SC2086 # several words
		telstat -q -j 1 -f json $logs >one
		# shellcheck disable=SC2086
		telstat -q -j 2 -f json $logs | diff one -
		grep -Eq '"type":"(pauses|memory)"' one
	done
}

# The first of two logs has all its blocks in pools, and a collector.
@test "what a later log of an operand has does not depend on its place" {
	local operand
	zstd -dcqf "$TEL_TOP/tests/data/alloc/perl.heaptrack.zst" >heap.trace
	telstat -q heap.trace two.log >want
	grep -q '^GC  *pauses ' want
	grep -q '^peak ' want
	tar cf one.tar two.log heap.trace
	tar cf other.tar heap.trace two.log
	zstd -q one.tar
	for operand in 'two.log heap.trace' one.tar other.tar one.tar.zst; do
		# shellcheck disable=SC2086 # several words
		telstat -q $operand | cmp want -
	done
	telstat -q <one.tar | cmp want -
}

# The rate of the MPS's clock is known only after events of the other log.
@test "lifetimes of a .tel of several logs are those of the logs" {
	zstd -dcqf "$TEL_TOP/tests/data/alloc/perl.heaptrack.zst" >heap.trace
	telcat -q -f tel -o both.tel two.log heap.trace
	telstat -q two.log heap.trace | sed 's/read as .* events//' >want
	grep -q '^lifetimes ' want
	telstat -q both.tel | sed 's/read as .* events//' | cmp want -
	telstat -q --stacks -f csv two.log heap.trace | grep lifetime >want
	[ -s want ]
	telstat -q --stacks -f csv both.tel | grep lifetime | cmp want -
	telstat --file-order --stacks -f csv two.log | grep -q lifetime_max
}

# With an index, most blocks of the file are not read to find that.
@test "blocks of a log that begins late in a .tel file are found" {
	python3 - >early.text <<-'EOF'
		print("# teltools text 1\n# type: P 1 K p:address n:unsigned "
		    "pool:address\n# role: P alloc address=p size=n pool=pool")
		for i in range(1, 200001):
		    print("%016X P p=0x%x n=8 pool=0x1" % (i, 16 * i))
	EOF
	printf '%s\n' '# teltools text 1' '# type: A 1 K p:address n:unsigned' \
	    '# role: A alloc address=p size=n' '0FFFFFFFFFFFFFFE A p=0x7 n=8' \
	    >late.text
	telstat early.text late.text | grep '^peak ' >want
	telcat -f tel -o late.tel early.text late.text
	telstat late.tel | grep '^peak ' | cmp want -
	zstd -q late.tel -o late.tel.zst
	telstat late.tel.zst | grep '^peak ' | cmp want -
}

@test "histograms of an inst log take no more memory than there may be" {
	{
		echo '0000000000000000 H inst 1 0 0'
		for i in {1..40}; do
			echo "0000000000000001 C id=$i parent=0 type=hist lo=0 hi=65536 w=1 name=h$i"
		done
		echo '0000000000000003 Z'
	} >many.inst
	clean telstat -f csv --as inst many.inst >all
	[ "$(grep -c '^,h[0-9]*,hist,updates' all)" = 40 ]
	run -3 --separate-stderr telstat -f csv --max-memory 4M --as inst many.inst
	[ "$(grep -c '^,h[0-9]*,hist,updates' <<<"$output")" = 8 ]
	[[ $stderr == *'too many classes, or no memory for their buckets'* ]]
}

@test "a .tel without events has no types: no name is wrong, in its place or a later log" {
	printf '%s\n' '# teltools text 1' '# type: A 1 K n:unsigned' \
	    '# type: B 2 K n:unsigned' '0000000000000001 A n=7' >log
	telfilter -w 'n > 7' -f tel -o none.tel log
	[ "$(telcat --types none.tel | grep -vc '^#')" = 0 ]
	set -- -q -e 'A,B' -k K -w 'n > 1 && type == A' -s 's=sum(n)' -s 'd=dur(A,B)'
	clean telstat "$@" none.tel >out
	grep -qx '  updates 0  total 0' out
	clean telstat "$@" none.tel log >out
	grep -qx '  updates 1  total 7  mean 7' out
	# what the first cannot tell is wrong in the next one
	for wrong in '-e C' '-k L' '-w m>1' '-w type==C' '-s s=sum(m)' '-s s=dur(A,C)'; do
		# shellcheck disable=SC2086 # several words
		run -2 --separate-stderr telstat $wrong none.tel log
		[[ $stderr == *"log: "* || $stderr == *"column "* ]]
	done
	clean telfilter -c -w 'n > 1' none.tel >out
	[ "$(cat out)" = 0 ]
}

@test "an interrupt ends the log of a pipe, and a second one the report" {
	# a shell has its background ignore interrupts
	interrupted=(env --default-signal=INT)
	mkfifo fifo
	for options in '' '-o report'; do
		for interrupts in 1 2; do
			rm -f report
			# shellcheck disable=SC2086 # several options
			"${interrupted[@]}" telstat $options fifo >out 2>messages &
			exec 5>fifo
			cat "$TEL_TOP/tests/data/ftrace/hand.trace" >&5
			# it has read all that is there once it waits
			await grep -q '^State:.*sleeping' "/proc/$!/status"
			for ((i = 0; i < interrupts; i++)); do
				kill -INT $!
				sleep 0.2
			done
			exec 5>&-
			status=0
			wait $! || status=$?
			[ "$status" = 130 ]
			[ -z "$options" ] || [ ! -e report ] || mv report out
			[ "$(grep -c '^events' out)" = $((interrupts % 2)) ]
			[ "$(grep -c interrupted messages)" = $((interrupts % 2)) ]
		done
	done
	run ! compgen -G 'report*'
}
