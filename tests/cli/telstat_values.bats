#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Values in telstat's reports: of data types and signs that few logs have.

# "run --separate-stderr" sets stderr; options are not files that are written.
# shellcheck disable=SC2154,SC2094

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
}

@test "booleans are words, as keys and as groups, in each format" {
	{
		echo '# teltools text 1'
		echo '# type: a 1 K yes:boolean'
		printf '%016x a yes=%s\n' 1 true 2 false 3 true 4 true
	} >b.txt
	telstat -q -f inst -s 't=tally(yes,3)' -g yes b.txt >b.inst
	for log in "b.txt -st=tally(yes,3) -gyes" b.inst; do
		# shellcheck disable=SC2086 # several words on purpose
		set -- -q $log
		clean telstat "$@" | grep -E '^t\{|^ +(true|false) ' |
		    awk '{ print $1, $2 }' | diff - <(printf '%s\n' \
		        't{yes=true} (tally)' 'true 3' \
		        't{yes=false} (tally)' 'false 1')
		clean telstat -f csv "$@" | grep ,bucket, | cut -d , -f 7- |
		    diff - <(printf '%s\n' true,3,yes=true false,1,yes=false)
		clean telstat -f json "$@" | grep '"tally"' |
		    grep -oE '"group":\{[^}]*\}|"buckets":.*' |
		    diff - <(printf '%s\n' '"group":{"yes":true}' \
		        '"buckets":[{"key":true,"count":3,"updates":3}]}' \
		        '"group":{"yes":false}' \
		        '"buckets":[{"key":false,"count":1,"updates":1}]}')
		clean telstat -f openmetrics "$@" | grep '^inst_t_total' |
		    diff - <(printf 'inst_t_total{class="t",yes="%s",key="%s"} %d\n' \
		        true true 3 false false 1)
	done
}

@test "values of a field that are taken together are those taken one by one" {
	local class
	unpack 1.118.0-lii6gc-poolncv
	for class in sum min max mean distinct log2 quantiles 'tally(V,9)' \
	    'hist(V,0,4096,64)'; do
		[[ $class == *V* ]] || class="$class(V)"
		# only what is no field by itself is taken event by event
		telstat -q -f csv -s "x=${class/V/size}" mpsio.log >together
		telstat -q -f csv -s "x=${class/V/size+0}" mpsio.log >single
		grep -q '^[0-9]*,x,.*,updates,,,,[1-9]' together
		cmp together single
	done
}

@test "keys have the order and the data types of their events" {
	{
		printf '%s\n' '# teltools text 1' '# type: a 1 K x:unsigned' \
		    '# type: b 2 K x:pointer' '# type: c 3 K x:signed'
		printf '%016x %s x=%s\n' 1 a 1 2 b 0x2 3 a 3 4 c -4 5 a 5 6 b 0x3
	} | clean telcat -f tel -o keys.tel
	clean telstat -q -f inst -s 't=tally(x,4)' keys.tel | clean telcat -q |
	    sed -n 's/.* Bucket path="t" .* key="\(.*\)" .*/\1/p' |
	    diff - <(printf '%s\n' 1 2 3 -4)
	clean telstat -q -f json -s 't=tally(x,4)' keys.tel |
	    grep -oE '"key":[^,]*' |
	    diff - <(printf '"key":%s\n' 3 -4 1 '"0x2"')
}

# ratio X: that of events of which each has x=X and y=4, as a picture.
ratio() {
	{
		echo '# teltools text 1'
		echo '# type: a 1 K x:signed y:signed'
		printf '%016x a x=%d y=4\n' 1 "$1" 2 "$1"
	} >r.txt
	clean telstat -q -f svg -s 'r=ratio(x,y)' r.txt >r.svg
	sed -n 's/.*class="bar".*<title>\(.*\)<\/title>.*/\1/p
	    s/.*text-anchor="middle">\([-0-9.]*\)<.*/\1/p' r.svg | tr '\n' ' '
}

@test "0.0 and -0.0 are one distinct value, other signs are not" {
	{
		printf '# teltools text 1\n# type: a 1 K x:double\n'
		printf '%016x a x=%s\n' 1 -0.0 2 0.0 3 0.5 4 -0.5 5 0.5
	} >zero.txt
	run -0 clean telstat -s "d=distinct(x)" zero.txt
	grep -q "distinct 3$" <<<"$output"
	# more than are kept are estimated, by their bits
	for i in {1..1000}; do
		printf '%016x a x=%s.5\n' 6 "$i"
	done >>zero.txt
	run -0 clean telstat -s "d=distinct(x,16)" zero.txt
	[[ $output =~ distinct\ ([0-9,]+)\ \ error ]]
	n=${BASH_REMATCH[1]/,/}
	[ "$n" -gt 900 ]
	[ "$n" -lt 1110 ]
}

@test "all NaNs are one key, and one series of metrics" {
	local name='nan(0x7ff8dead00000001)'
	{
		printf '# teltools text 1\n# type: a 1 K x:double\n'
		printf '%016x a x=%s\n' 1 nan 2 "$name" 3 'nan(0xfff8000000000000)' \
		    4 1.5
	} >nan.txt
	run -0 clean telstat -s 'd=distinct(x)' -s 'e=distinct(x,0)' nan.txt
	grep -q 'distinct 2$' <<<"$output"
	grep -q 'distinct 2  error 1$' <<<"$output"
	telstat -f openmetrics -s 't=tally(x,9)' nan.txt | grep '^inst_t_total' |
	    diff - <(printf 'inst_t_total{class="t",key="%s"} %d\n' nan 3 1.5 1)
}

@test "a number is one key and one group, as an integer and as a double" {
	local type
	for type in unsigned double; do
		printf '# teltools text 1\n# type: a 1 K x:%s\n' "$type"
		printf '%016x a x=%s\n' 1 8 2 18446744073709549568
	done | csplit -z -q - 5
	printf '%016x a x=%s\n' 3 8.5 4 -3.0 5 nan 6 -1e300 >>xx01
	run -0 clean telstat --key-order key -f openmetrics -s 't=tally(x,9)' xx0?
	grep '^inst_t_total' <<<"$output" |
	    diff - <(printf 'inst_t_total{class="t",key="%s"} %d\n' -1e+300 1 -3 1 \
	        8 2 8.5 1 18446744073709549568 2 nan 1)
	telstat -q -f inst -s 'd=distinct(x)' xx00 >d.inst
	clean telstat -s 'd=distinct(x)' d.inst xx01 | grep 'distinct 6$'
	run -0 clean telstat -s 'd=distinct(x,1)' xx0?
	grep 'distinct 6  error 1$' <<<"$output"
	run -0 clean telstat -f csv -g x -s 'n=count()' xx0?
	grep -c ',updates,,,,2,x=' <<<"$output" | grep -x 2
}

@test "of -s and -g without an event there is no report" {
	unpack 1.118.0-lii6gc-poolncv
	for format in text csv json; do
		telstat -f $format -g pool -s 's=sum(size)' -w 'size == 0' \
		    mpsio.log >got.$format
	done
	[[ $(cat got.text) = "Totals: logs 0 "* ]]
	telstat -f inst -g pool -s 's=sum(size) if size == 0' mpsio.log >part
	[[ $(telstat part part) = "Totals: logs 2  events 288 "* ]]
	[ "$(cut -d , -f 3 got.csv | sort -u)" = "$(printf 'totals\ntype')" ]
	[ "$(wc -l <got.json)" = 1 ]
}

@test "a ratio is drawn from 0, to either side" {
	[ "$(ratio 4)" = "[0, 1] 0 0.2 0.4 0.6 0.8 1 " ]
	[ "$(ratio -4)" = "[-1, 0] -1 -0.8 -0.6 -0.4 -0.2 0 " ]
	[ "$(ratio -2)" = "[-0.5, 0] -0.5 -0.4 -0.3 -0.2 -0.1 0 " ]
	clean telstat -q -s 'r=ratio(x,y)' r.txt | grep ' total -4  ratio -0\.5$'
	clean telstat -q -f json -s 'r=ratio(x,y)' r.txt | grep '"ratio":-0\.5}'
}

@test "JSON has integers up to 2^53 as numbers, of either sign" {
	{
		printf '# teltools text 1\n# type: a 1 K x:signed\n'
		printf '%016x a x=%s\n' 1 9007199254740992 2 9007199254740993 \
		    3 -9007199254740992 4 -9007199254740993
	} >large.txt
	clean telstat -q -f json -s 't=tally(x,4)' large.txt |
	    grep -oE '"key":[^,]*' | LC_ALL=C sort >got
	diff - got <<-'END'
		"key":"-9007199254740993"
		"key":"9007199254740993"
		"key":-9007199254740992
		"key":9007199254740992
	END
}

@test "metrics keep the first and last letters and digits of names" {
	printf '%s\n' '# teltools text 1' '# type: a 1 K x:unsigned' \
	    '0000000000000001 a x=5' >names.txt
	clean telstat -q -f openmetrics -s 'az_09=mag(x)' names.txt |
	    grep -Fx 'inst_az_09{class="az_09"} 5'
}

@test "times of events before the clock's rate is known are counted" {
	unpack 1.118.0-lii6gc-poolncv
	for order in -S --file-order; do
		run -0 telstat -q -f csv $order -s 's=sum(time)' mpsio.log
		[[ $output == *",updates,,,,144,"* ]]
		[[ $output == *",sum,,,,39597777,"* ]]
		# of one event alone
		run -0 telstat -q -f csv $order -e PoolInitMVFF -s 's=sum(time)' \
		    mpsio.log
		[[ $output == *",updates,,,,1,"* && $output == *",sum,,,,297789,"* ]]
	done
}

@test "each interval of --deltas has what its events alone come to" {
	local specs=() spec i
	for spec in 'tally(u,8)' 'tally(one,8)' 'hist(u,0,4,1)' 'split(u,1,2,2,9,3)' \
	    'log2(u)' 'loglin(u,10,0,2,10)' 'quantiles(u)' 'mag(u)' 'distinct(u)' 'sum(u)' \
	    'var(u)' 'growth(u)' 'top(u,2)' 'ratio(u,one)' 'count(u>2)'; do
		specs+=(-s "s${#specs[@]}=$spec")
	done
	awk 'BEGIN {
		srand(1)
		print "# teltools text 1\n# tick rate: 1000"
		print "# type: A 1 K u:unsigned one:unsigned"
		for (at = 1000; at < 4000; at += 1 + int(rand() * 99))
			printf "%016X A u=%d one=7\n", at, rand() * 6
	}' >log
	# a key keeps its place in later intervals, and rates are those of a span
	figures() {
		python3 -c '
import json, sys
for line in sys.stdin:
	e = json.loads(line)
	if e["type"] == "totals":
		continue
	for name in "t", "keys", "rate", "rate_per":
		e.pop(name, None)
	if "buckets" in e:
		e["buckets"] = [b for b in e["buckets"] if b["count"] > 0]
	print(e)'
	}
	telstat -q -i 1s --deltas -f json "${specs[@]}" log | figures >got
	for i in 1000 2000 3000; do
		telstat -q -f json "${specs[@]}" \
		    -w "clock >= $i && clock < $i + 1000" log
	done | figures >want
	[ "$(grep -c "'key': 7" want)" = 3 ]
	diff want got
}

@test "the last interval of --deltas ends with the last event" {
	for clocks in '1000 1500 4600' '1000 2500 4100 4600'; do
		{
			printf '%s\n' '# teltools text 1' '# tick rate: 1000000000' \
			    '# type: a 1 K u:unsigned'
			# shellcheck disable=SC2086 # several numbers
			printf '%016X a u=6\n' $clocks
		} >log.txt
		telstat -i 1us --deltas -s 'n=count()' log.txt |
		    grep '^== end, 3.6 us, since'
		telstat -i 1000ticks --deltas -f csv -s 'n=count()' log.txt |
		    grep '^3600,n,count,updates,,,,[12],'
		telstat -i 1us --deltas --rate=ms -s 'g=growth(u)' log.txt |
		    awk '/^== end/ { end = 1 } end && $1 == "rate" { print $2 }' |
		    grep -Ex '10,000/ms|20,000/ms'
	done
}

@test "with --deltas the intervals of a log have nothing of the log before" {
	local name
	for name in one two; do
		printf '# teltools text 1\n# tick rate: 1000000000\n'
		printf '# type: a 1 K u:unsigned\n'
		[ $name = one ] && set -- 0 5 10 25 || set -- 100 105 113 116
		printf '%016X a u=6\n' "$@"
	done | csplit -z -q -f n - 8
	clean telstat -q --no-merge -i 10ns --deltas --rate -f csv -s 'n=count()' n0? |
	    grep -E ',(updates|rate),' | cut -d , -f 1,4,8 |
	    diff - <(printf '%s\n' 10,updates,2 10,rate,200000000 20,updates,1 \
	        20,rate,100000000 25,updates,1 25,rate,200000000 \
	        10,updates,2 10,rate,200000000 16,updates,2 \
	        16,rate,333333333.3333333)
}

@test "the label of a field is the same however the field is written" {
	unpack 1.118.0-lii6gc-poolncv log
	for field in pool .pool '"pool"' "'pool'" ' "pool" ' ' pool '; do
		telstat -s "t=tally(label($field),9)" log |
		    sed -n '/^  updates /,/^$/p' >got
		grep -q '^  updates 47 ' got
		[ -e want ] || cp got want
		cmp want got
	done
}

@test "of equal values in top(), those of the lower clock and log come first" {
	printf '%s\n' '# teltools text 1' '# type: A 1 K x:unsigned s:string' \
	    '0000000000000020 A x=5 s="late"' '0000000000000010 A x=5 s="2"' \
	    '0000000000000010 A x=5 s="1"' '0000000000000005 A x=4 s="small"' \
	    '0000000000000030 A x=6 s="large"' >a
	grep -v 'late\|small\|large' a | sed 's/s="/&b/' >b
	for files in 'a b' 'b a'; do
		# shellcheck disable=SC2086 # names
		telstat --file-order --no-merge -f csv -s 't=top(x,6,s)' $files |
		    grep 'top value,key' | cut -d , -f 8 | paste -sd ' ' >got
		[ "$(<got)" = 'large 2 1 b2 b1 late' ]
	done
	telstat --file-order -s 't=top(x,1,s)' a | grep -q '^ *1  *6  large '
	telstat -f csv -s 't=top(x,1)' a | grep -qx ',t,top value,value,,,1,6,'
}

@test "all that an estimate of distinct values counted is merged" {
	for part in few:7 many:60000; do
		printf '%s\n' '# teltools text 1' '# type: a 1 K x:unsigned' \
		    >"${part%:*}.txt"
		seq -f '0000000000000001 a x=%.0f' "${part#*:}" >>"${part%:*}.txt"
		telstat -q -f inst -s 'd=distinct(x,0)' "${part%:*}.txt" >"${part%:*}"
	done
	for parts in 'few many' 'many few'; do
		# shellcheck disable=SC2086 # two words
		diff <(telstat -f inst $parts | grep -o ' dist=.*') \
		    <(grep -o ' dist=.*' many)
	done
}

@test "pauses of two arenas that overlap stop the program once" {
	cat >two <<-'END'
		# teltools text 1
		# format: mps-1.118.0/lii6gc
		# tick rate: 1000000000
		0000000000002710 TraceFlipBegin trace=0x1 arena=0xa
		0000000000003A98 TraceFlipBegin trace=0x2 arena=0xb
		0000000000004E20 TraceFlipEnd trace=0x1 arena=0xa
		0000000000005208 TraceFlipEnd trace=0x2 arena=0xb
		0000000000009C40 TraceFlipBegin trace=0x1 arena=0xa
		0000000000009C54 TraceFlipEnd trace=0x1 arena=0xa
	END
	# of 20 us, 11 in pauses
	telstat -f json two | grep '"mutator"' | tail -n 2 | diff -u - <(
		echo '{"t":30020,"type":"mutator","window_ns":10000,"share":0}'
		echo '{"t":30020,"type":"mutator","window_ns":20000,"share":0.44999999999999996}'
	)
}

@test "times of pauses have one unit, or are left out" {
	printf '%s\n' '# teltools text 1' '# format: mps-1.118.0/lii6gc' \
	    '0000000000002710 TraceStart arena=0xa trace=0x1 mortality=0.5 finishingTime=0 condemned=0 notCondemned=0 foundation=0 white=0x0 quantumWork=0' \
	    '0000000000003A98 TraceFlipBegin trace=0x1 arena=0xa' \
	    '0000000000004E20 TraceFlipEnd trace=0x1 arena=0xa' \
	    '0000000000005208 TraceDestroy arena=0xa trace=0x1' >ticks
	telstat ticks | grep -q 'pauses 1  total 5,000 ticks  p50 5,000 ticks  p99 5,000 ticks$'
	telstat -f json ticks >json
	grep -q '"collections","count":1,"total_ticks":11000,.*"longest_time_ticks":0}$' json
	grep -q '"type":"pause","duration_ticks":5000,"time_ticks":5000}$' json
	run ! grep '_ns' json
	sed '2a # tick rate: 1000000000' ticks >rate
	telstat rate | grep -q 'pauses 1  total 5 us  p50 5 us '
	telstat diff ticks ticks | grep -q '^  total_ticks  *5,000 ticks  *5,000 ticks '
	# of one that has no rate, and one that has it, only how many there were
	telstat ticks rate >both
	grep -q '^GC *pauses 2$' both
	telstat diff ticks rate >both
	[ "$(grep -c '^  count ' both)" = 2 ]
	run ! grep 'total_' both
}

@test "times of blocks have one unit, or are left out" {
	local form='# type: m 1 Alloc p:address size:unsigned
# role: m alloc address=p size
# type: f 2 Alloc p:address
# role: f free address=p'
	printf '%s\n' '# teltools text 1' "$form" '00000000000F4240 m p=0x10 size=5' \
	    '00000000002DC6C0 m p=0x20 size=6' >ticks
	telstat -f json ticks | grep -q '"peak_bytes":11,"peak_ticks":2000000,'
	printf '%s\n' '# teltools text 1' '# tick rate: 1000000' "$form" \
	    '00000000000F4240 m p=0x10 size=50' '00000000002DC6C0 f p=0x10' >ns
	telstat -f json ns |
	    grep -q '"peak_ns":0,.*"lifetime_max":2000000000,'
	echo '00000000002DC8B4 f p=0x20' >>ticks
	telstat -f json ticks | grep -q '"peak_ticks":.*"lifetime_max":500,'
	# 500 ticks and 2 s would be neither
	telstat -f json ns ticks >both
	grep -q '"freed_blocks":2' both
	run ! grep -Eq 'peak_(ns|ticks)|lifetime_' both
	telstat ns ticks | grep -q '^peak  *[1-9] blocks *[0-9]* bytes$'
}

@test "the span of merged logs is that to the latest event, by its own clock" {
	printf '%s\n' '# teltools text 1' '# tick rate: 1000000' \
	    '# type: a 1 K n:unsigned' '00000000000F4240 a n=1' \
	    '00000000002DC6C0 a n=2' >slow
	sed 's/1000000$/&000/; s/ a / b /; s/a 1 K/b 1 K/; $d' slow >fast
	echo '000000001DDCA740 b n=2' >>fast
	for logs in 'slow fast' 'fast slow'; do
		# 2 s from the first event to the last of slow, and 0.5 s of fast
		# shellcheck disable=SC2086 # two names
		telfilter -f tel $logs | telstat -f json >got
		grep -q '"span_ticks":500000000,"span_ns":2000000000,' got
		# shellcheck disable=SC2086
		telcat -T s $logs | grep -q '^2.000000000 a'
	done
	# none is known where it would be more than 2^63 ns, also from tick 0 on
	printf '%s\n' '# tick rate: 0.001' '0000000000000000 a n=1' \
	    '7FFFFFFFFFFFFFFF a n=2' >absurd
	telstat -f json absurd >got
	grep -q '"span_ticks":"9223372036854775807",' got
	run ! grep -q span_ns got
}

@test "what an event lacks counts nowhere, and strings count" {
	{
		printf '%s\n' '# teltools text 1' \
		    '# type: a 1 K x?:unsigned y?:signed:16 z?:boolean s?:string'
		printf '%016x a%s\n' 1 ' x=5 y=-3 z=true s="b"' 2 '' 3 ' x=7' \
		    4 ' x=7 y=-5 z=false s=""'
	} >some.txt
	telcat -f tel -o some.tel some.txt
	for log in some.txt some.tel; do
		telstat -q -f csv -s 'a=min(x)' -s 'b=sum(y)' -s 'c=count(z)' \
		    -s 'd=count(s)' -s 'e=hist(x,0,10,5)' -s 'f=tally(y,9)' \
		    -s 'g=max(y)' -s 'h=distinct(x)' $log |
		    cut -d , -f 2,4-8 |
		    grep -E '^.,(updates|min|max|sum|bucket|distinct|invalid),' |
		    diff - <(printf '%s\n' a,updates,,,,3 a,min,,,,5 \
		        a,invalid,,,,0 b,updates,,,,2 b,sum,,,,-8 \
		        b,invalid,,,,0 c,updates,,,,2 c,invalid,,,,0 \
		        d,updates,,,,2 d,invalid,,,,0 e,updates,,,,3 \
		        e,sum,,,,19 e,invalid,,,,0 e,bucket,5,10,,3 \
		        f,updates,,,,2 f,invalid,,,,0 f,bucket,,,-5,1 \
		        f,bucket,,,-3,1 g,updates,,,,2 g,max,,,,-3 \
		        g,invalid,,,,0 h,updates,,,,3 h,distinct,,,,2 \
		        h,invalid,,,,0)
		telstat -q -g x -s 'n=count(x)' -f csv $log | grep ',updates,' |
		    cut -d , -f 8- | diff - <(printf '%s\n' 1,x=5 2,x=7)
	done
}

@test "a number that is not 0 is not shown as 0" {
	{
		printf '%s\n' '# teltools text 1' '# tick rate: 1000000000' \
		    '# type: a 1 K x:signed'
		echo '0000000000000000 a x=-1'
		# a day later
		yes '00004E94914F0000 a x=0' | head -n 3999
	} >log
	clean telstat -s 'm=mean(x)' --rate log >got
	grep -q 'total -1  mean -0.00025  rate 0.046/s' got
	clean telstat -n 3 --report=types log >got
	grep -q '^events  3  3.47e-05/s$' got
	grep -q '^a .* 0.000035$' got
}

@test "a fraction that is rounded down is reported, also of a weight" {
	{
		printf '%s\n' '# teltools text 1' '# type: a 1 K x:unsigned d:double'
		printf '%016x a x=%d d=%s\n' 1 1 0.5 2 2 1.5
	} >log
	for stat in 'ratio(x,d)' 'log2(x,0,d)' 'tally(x,9,d)' 'log2(d)' \
	    'loglin(d,2,0,3,4)' 'ratio(real(d),d)'; do
		echo "$stat"
		run -0 --separate-stderr telstat -s "n=$stat" log
		[ "$stderr" = "telstat: n: 'd' may have a fraction, and is rounded down" ]
	done
	for stat in 'tally(d,9)' 'distinct(d)' 'top(x,9,d)' 'count(d)'; do
		clean telstat -s "n=$stat" log >got
	done
}

@test "stacks of less than 1 KiB have sizes in the report" {
	cat >log <<-'END'
		# teltools text 1
		# type: A 1 M p:address size:unsigned stack:address
		# type: F 2 M p:address
		# role: A alloc p size - stack=stack
		# role: F free p - -
		0000000000000001 A p=0x10 size=1000 stack=0x77["leaks"]
		0000000000000002 A p=0x20 size=2048 stack=0x78["frees"]
		0000000000000003 F p=0x20
	END
	clean telstat log | grep -A 2 'leaked  alloc' | tail -n 2 | diff - <(
		echo '   2.0 KiB           0            1  frees'
		echo '     1,000       1,000            1  leaks'
	)
	clean telstat --raw log | grep -q '^      2048           0            1  frees'
}
