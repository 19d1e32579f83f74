#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Logs of Mac OS Instrumentation, tel-inst(5), and texts of any types.

# "run --separate-stderr" sets stderr.
# shellcheck disable=SC2030,SC2031,SC2154,SC2094

load lib

INST=$TEL_TOP/tests/data/inst

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
}

@test "an inst log is shown as it should be" {
	telcat -q "$INST/hfs.txt" >got
	cmp "$INST/hfs.out" got
	zstd -qc "$INST/hfs.txt" | telcat -q >got
	cmp "$INST/hfs.out" got
	telcat -q --as inst "$INST/hfs.txt" | cmp "$INST/hfs.out" -
}

@test "warnings are reported" {
	run -0 --separate-stderr telcat "$INST/hfs.txt"
	[ "${#stderr_lines[@]}" -eq 4 ]
	[[ $stderr == *'17 records were lost'* ]]
	[[ $stderr == *'format of descriptor 4 is invalid'* ]]
}

@test "classes are selected by their paths" {
	telcat -q --no-header -w 'path =* "HFS:VSM:*"' -k trace \
	    "$INST/hfs.txt" >got
	[ "$(wc -l <got)" -eq 12 ]
	run ! grep -v 'path="HFS:VSM:' got
}

@test "kinds, types and expressions select" {
	telcat -q --no-header -k update "$INST/hfs.txt" >got
	[ "$(wc -l <got)" -eq 9 ]
	telcat -q --no-header -e 'Start,End' "$INST/hfs.txt" >got
	[ "$(wc -l <got)" -eq 2 ]
	telcat -q --no-header -w 'text ~ "parID: 0+2"' "$INST/hfs.txt" >got
	[ "$(wc -l <got)" -eq 1 ]
	telcat -q --no-header -w 'tid == 99' "$INST/hfs.txt" >got
	[ "$(cut -d ' ' -f 2 got)" = TraceOn ]
}

@test "CSV, JSON and seconds" {
	telcat -q -f csv -e UpdateTally "$INST/hfs.txt" >got
	grep -qF '797203,HFS:Opens by type,8,TEXT,3,0' got
	telcat -q -f json -e Middle "$INST/hfs.txt" >got
	grep -qF '"fields":{"path":"HFS:VSM:BlockAllocate","class":3,"tag":1,"range":"0x300000001","component":"hfs+","text":"fileID:' got
	telcat -q --no-header -T s -e Sync "$INST/hfs.txt" >got
	grep -q '^0\.000[0-9]* Sync' got
}

@test "a log without its end is damaged, and its events are shown" {
	sed '$d' "$INST/hfs.txt" >cut.inst
	run -3 --separate-stderr telcat cut.inst
	[ "${lines[-1]}" = '00000000025BF646 Other record="QQ future=1"' ]
	[[ $stderr == *'the log is truncated'* ]]
}

@test "two logs in one file are two sessions" {
	cat "$INST/hfs.txt" "$INST/hfs.txt" >two
	run -0 --separate-stderr telcat --no-header two
	run -0 telcat -q --no-header "$INST/hfs.txt"
	telcat -q --no-header two >got
	[ "$(wc -l <got)" -eq $((2 * ${#lines[@]})) ]
	[[ $stderr == *'34 records were lost'* ]]
	# each ends where the next one starts, in a .tel as well
	for i in 1 2; do
		echo '0000000000000000 H inst 1 0 0 hz=1000'
		echo '0000000000000000 C id=1 type=growth name=g'
		echo "000000000000000$i S c=1 n=2 total=30 last=20 min=10 max=20"
	done >two
	echo '0000000000000009 Z' >>two
	run -3 telcat -q -f tel -o two.tel two
	run -0 --separate-stderr telstat two.tel
	[ -z "$stderr" ]
	[[ $output == *'updates 4  total 60 '* ]]
}

@test "text of types that are not built in reads back, sorted and cut" {
	telcat -q "$INST/hfs.txt" >text
	clean telcat text >again
	cmp text again
	# events of one clock in the order of their lines
	LC_ALL=C sort text >sorted
	clean telcat sorted >once
	clean telcat once | cmp once -
	[ "$(grep -vc '^#' once)" -eq "$(grep -vc '^#' text)" ]
	grep '^# type' text >types
	grep '^# type' once | cmp types -
	grep -v Update text | head -n 80 >less
	clean telcat less | cmp less -
	grep -v '^#' text >bare
	telcat -q bare >once
	clean telcat once | cmp once -
	grep -v '^#' once | cmp bare -
}

@test "members of an archive whose types differ in a role have their own" {
	for size in x y; do
		cat >$size.text <<-END
			# teltools text 1
			# type: A 1 K p:pointer x:unsigned y:unsigned
			# role: A alloc p $size -
			0000000000000001 A p=0x10 x=1 y=2
		END
	done
	tar -cf both.tar x.text y.text
	telstat -f json both.tar | grep -q '"allocated_bytes":3,'
}

@test "a bare text says how it is read" {
	telcat -q "$INST/hfs.txt" | grep -v '^#' >bare
	run -0 --separate-stderr telcat --verbose bare
	[[ $stderr == *'event types are inferred'* ]]
}

@test "telfilter keeps events, and what the others need" {
	telfilter -k trace "$INST/hfs.txt" 2>messages >got
	telcat -q -H -k trace got >have
	telcat -q -H -k trace "$INST/hfs.txt" | cmp - have
	run ! grep ' U c=' got
	# each line is unchanged
	run ! grep -vxFf "$INST/hfs.txt" got
	telfilter -w 'path =* "HFS:VSM:*"' "$INST/hfs.out" >got
	telcat -q -w 'path =* "HFS:VSM:*"' "$INST/hfs.out" | cmp - \
	    <(telcat -q -w 'path =* "HFS:VSM:*"' got)
}

@test "telfilter keeps the definitions of classes, in text and in .tel, too" {
	telstat "$INST/cache.inst" | sed -n '/HFS:/,/rate/p' >want
	[ -s want ]
	telcat "$INST/cache.inst" >cache.txt
	telcat -f tel cache.txt >cache.tel
	for log in cache.txt cache.tel; do
		for format in text tel; do
			telcat -f "$format" "$log" | telfilter -k Update >got
			telstat got | sed -n '/HFS:/,/rate/p' | diff want -
			telcat -H got | cut -d ' ' -f 2 | uniq -c | sed "s|^ *||" >types
			diff - types <<-END
				1 Header
				1 PathClass
				2 TraceClass
				1 GrowthClass
				3 UpdateGrowth
				1 Finish
			END
		done
	done
	telfilter -f tel -k Update cache.txt | telstat |
	    sed -n '/HFS:/,/rate/p' | diff want -
	telfilter --bare -k Update cache.txt | grep -v '^#' >got
	run ! grep Class got
	# types of the same names with other fields are no records
	printf '%s\n' '# teltools text 1' '# type: Header 1 Log x:unsigned' \
	    '# type: Use 2 Mine x:unsigned' '0000000000000001 Header x=1' \
	    '0000000000000002 Use x=1' >other
	telfilter -k Mine other | grep -v '^#' >got
	[ "$(<got)" = '0000000000000002 Use x=1' ]
}

@test "--types lists the types of records" {
	telcat --types --as inst | grep -v '^#' | awk '{ print $4 }' >got
	telcat "$INST/hfs.txt" 2>messages | sed -n 's/^# type: \([^ ]*\).*/\1/p' |
	    diff - got
	[ "$(telcat --types | grep -c '^inst ')" = "$(wc -l <got)" ]
}

@test "telstat shows classes, or counts events where some are selected" {
	exits "0|3" telstat -q "$INST/hfs.txt" >classes
	[ "$(head -n 1 classes)" = 'HFS:VSM:BlockAllocate size  (split)  bytes' ]
	zstd -qc "$INST/hfs.txt" | exits "0|3" telstat -q >got
	cmp classes got
	# one with comments before it
	{
		echo '# a comment'
		cat "$INST/hfs.txt"
	} | exits "0|3" telstat -q >got
	cmp classes got
	# what is selected are events, from whatever file
	n=$(telcat -q -H -k Trace "$INST/hfs.txt" | wc -l)
	zstd -qc "$INST/hfs.txt" >packed
	for log in "$INST/hfs.txt" packed; do
		for option in "-k Trace" "-e Trace,Start,End,Middle,*On" \
		    "-w kind==Trace"; do
			# shellcheck disable=SC2086 # an option and its argument
			run -0 telstat -q $option "$log"
			[[ ${lines[1]} == "events  $n "* ]]
		done
		run -0 telstat -q -n 7 "$log"
		[[ ${lines[1]} == 'events  7 '* ]]
		for as in '' --as=inst; do
			# shellcheck disable=SC2086
			run -0 telstat -q $as -s 'n=tally(kind,9)' "$log"
			[[ $output == *$'\n'*" Trace  "*" $n "* ]]
			[[ $output != *'(split)'* ]]
		done
	done
	# the classes of a part
	telfilter --quiet -w 'path =* "*:Cache Hits"' "$INST/hfs.txt" |
	    exits "0|3" telstat -q >got
	grep -A1 'HFS:Cache Hits' classes | diff <(grep -A1 'HFS:Cache Hits' got) -
	grep -A1 'HFS:Free Blocks' got | grep -q 'updates 0 '
}

@test "inst logs are written one after the other, and not merged" {
	telfilter --no-merge "$INST/hfs.txt" "$INST/hfs.txt" 2>messages >got
	grep -v '^#' "$INST/hfs.txt" >once
	cat once once | cmp - got
	run -1 --separate-stderr telfilter "$INST/hfs.txt" "$INST/hfs.txt"
	[[ $stderr == *'--no-merge'* ]]
}

# values TYPE: the fields of the only event of a type in the file "json".
values() {
	grep -F "\"type\":\"$1\"" json | sed 's/.*"fields":{\(.*\)}.*/\1/' |
	    grep -v '"path":"telstat report'
}

@test "each class of statistics that telstat writes reads back right" {
	local rows=(
	    'mag(size)|Magnitude|"updates":3,"current":30,"min":-5,"max":30,"sum":35'
	    'magdelta(size)|Magnitude|"updates":3,"current":35,"min":5,"max":35,"sum":50'
	    'growth(.code)|Growth|"updates":3,"total":9,"last":3,"min":3,"max":3'
	    'hist(size,0,20,10)|Histogram|"updates":3,"weight":3,"sum":35,"under":1,"over":1,"overflow":2,"buckets":"1:1"'
	    'split(size,0,8,16,32,16)|Histogram|"updates":3,"weight":3,"sum":35,"under":1,"over":0,"overflow":1,"buckets":"1:1,2:1"'
	    'log2(size)|Histogram|"updates":3,"weight":3,"sum":35,"under":0,"over":0,"overflow":0,"buckets":"60:1,67:1,68:1"'
	    'loglin(size,10,0,1,10)|Histogram|"updates":3,"weight":3,"sum":35,"under":1,"over":0,"overflow":1,"buckets":"9:1,11:1"'
	    'quantiles(size,2)|Histogram|"updates":3,"weight":3,"sum":35,"under":0,"over":0,"overflow":0,"buckets":"242:1,256:1,262:1"'
	    'tally(size,2)|Tally|"updates":3,"overflow":1,"overflow_updates":1'
	    'ratio(size,.code)|Ratio|"updates":3,"weight":9,"total":35'
	    'dur(Begin,End)|Summary|"events":4,"pairs":2,"total":7,"last":4,"min":3,"max":4,"open":0,"orphan":0'
	)
	local row spec type want
	cat >log <<-'END'
		# teltools text 1
		# format: mine
		# tick rate: 1000000000.0
		# type: Thing 3 Kind size:signed code:unsigned
		# type: Begin 4 Kind
		# type: End 5 Kind
		0000000000000001 Thing size=10 code=3
		0000000000000002 Begin
		0000000000000003 Thing size=-5 code=3
		0000000000000005 End
		0000000000000006 Begin
		000000000000000A End
		000000000000000B Thing size=30 code=3
	END
	for row in "${rows[@]}"; do
		IFS='|' read -r spec type want <<<"$row"
		telstat -q -f inst -s "x=$spec" log >x.inst
		telcat -q -f json x.inst >json
		values "$type" >got
		grep -qF "$want" got || { echo "$row"; cat json log; false; }
		# and telstat reads it as it was, by itself and twice over
		telstat -q -f inst x.inst | cmp x.inst -
		# a tally that had no room for a key says that it is not exact
		telstat -q -f inst x.inst x.inst | sed 's/ approx=1$//' >two
		telstat -q --no-merge -f inst -s "x=$spec" \
		    log log >want
		diff want two
	done
}

@test "a ninth expression of groups in an inst log is unknown" {
	telstat -f inst -s 'n=count()' -g \
	    'kind,type,code,index%2,index%3,index%4,index%5,index%6' \
	    "$TEL_TOP/tests/data/mps/1.118.0-lii6gc-poolncv.log.zst" >8.inst
	sed 's/ gk8=/ gk9="9" gk8=/' 8.inst >9.inst
	telstat -f json 8.inst | grep -v input_bytes >want
	telstat -f json 9.inst | grep -v input_bytes | cmp - want
}

# snapshots: a log of three snapshots, by clock, of two classes.
snapshots() {
	cat <<-'END'
		0000000000000000 H inst 1 0 0 hz=1000000000
		0000000000000000 C id=1 type=growth name=g
		0000000000000000 C id=2 type=hist lo=0 hi=10 w=5 name=h
		00000000000F4240 S c=1 n=2 total=30 last=20 min=10 max=20
		00000000000F4240 S c=2 n=2 w=2 sum=5 under=0 over=0 b=0:1,1:1
		00000000004C4B40 S c=1 n=5 total=100 last=40 min=5 max=40
		00000000004C4B40 S c=2 n=5 w=5 sum=25 under=0 over=1 b=0:1,1:3
		0000000000895440 S c=1 n=6 total=110 last=10 min=5 max=40
		0000000000895440 S c=2 n=6 w=6 sum=25 under=0 over=1 b=0:2,1:3
		0000000000A00000 Z
	END
}

@test "telstat -i shows an inst log over time" {
	snapshots >log
	clean telstat -i 4ms -f csv log >got
	grep -E ',(g|h),(growth|hist),(sum|updates),' got | cut -d, -f 1-4,8 >have
	diff - have <<-'END'
		4000000,g,growth,updates,2
		4000000,g,growth,sum,30
		4000000,h,hist,updates,2
		4000000,h,hist,sum,5
		8000000,g,growth,updates,5
		8000000,g,growth,sum,100
		8000000,h,hist,updates,5
		8000000,h,hist,sum,25
		10485760,g,growth,updates,6
		10485760,g,growth,sum,110
		10485760,h,hist,updates,6
		10485760,h,hist,sum,25
	END
	# an inst log of these is what the log comes to
	clean telstat -f inst -i 4ms log >again
	[ "$(grep -c ' H inst ' again)" -eq 1 ]
	[ "$(grep -c ' S c=3 ' again)" -eq 3 ]
	clean telstat again >got
	clean telstat log | diff - got
}

@test "telstat -i shows each multiple once, of sessions that follow each other, too" {
	for ((i = 0; i < 6; i++)); do
		printf '%016X H inst 1 0 0 hz=1000\n%016X C id=1 type=growth name=g\n' \
		    $((i * 150)) $((i * 150))
		printf '%016X U c=1 op=inc v=1\n%016X Z\n' $((i * 150 + 149)) \
		    $((i * 150 + 149))
	done >log
	telstat -i 200ms log | grep -E '^==|updates' | paste -d ' ' - - |
	    sed 's/ *total.*//' >got
	diff got - <<-END
		== at 200 ms ==   updates 1
		== at 400 ms ==   updates 2
		== at 600 ms ==   updates 4
		== at 800 ms ==   updates 5
		== end, 894 ms ==   updates 6
	END
	telstat -i 200ms --deltas -f csv log | grep ',g,growth,updates,' |
	    awk -F, '{ n += $NF == "" ? $(NF - 1) : $NF } END { print n }' >got
	[ "$(<got)" = 6 ]
}

@test "telstat --deltas shows what each interval of an inst log came to" {
	snapshots >log
	clean telstat -i 4ms --deltas --rate log >got
	grep -E '^==|updates|\|' got >have
	diff - have <<-'END'
		== at 4 ms, since the one before ==
		  updates 2  total 30  last 20  min 10  max 20  mean 15  rate 7,500/s
		  updates 2  weight 2  total 5  mean 2.5  under 0  over 0  rate 500/s
		          [0, 5)        1   50.0% |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
		         [5, 10)        1  100.0% |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
		== at 8 ms, since the one before ==
		  updates 3  total 70  last 40  mean 23.333  rate 17,500/s
		  updates 3  weight 3  total 20  mean 6.667  under 0  over 1  rate 750/s
		          [0, 5)        0    0.0% |                                            |
		         [5, 10)        2   66.7% |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
		      [10, +inf)        1  100.0% |@@@@@@@@@@@@@@@@@@@@@@                      |
		== end, 10.48576 ms, since the one before ==
		  updates 1  total 10  last 10  mean 10  rate 4,022.9/s
		  updates 1  weight 1  total 0  mean 0  under 0  over 0  rate 402.29/s
		          [0, 5)        1  100.0% |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
		         [5, 10)        0  100.0% |                                            |
	END
}

@test "with --deltas an update counts once, also where a snapshot follows it" {
	cat >log <<-'END'
		0000000000000000 H inst 1 0 0 hz=1000000
		0000000000000000 C id=1 type=growth name=g
		0000000000000001 U c=1 op=inc v=1
		0000000000000003 S c=1 n=1 total=1 last=1 min=1 max=1
		0000000000000065 U c=1 op=inc v=5
		00000000000000C9 S c=1 n=2 total=6 last=5 min=1 max=5
		00000000000000CA U c=1 op=inc v=7
		0000000000000130 U c=1 op=inc v=2
		0000000000000192 S c=1 n=4 total=15 last=2 min=1 max=7
		0000000000000200 Z
	END
	clean telcat -o text log
	for file in log text; do
		clean telstat -f csv -i 100us --deltas $file | grep ',g,growth,sum,' |
		    cut -d , -f 8 | paste -sd ' ' | diff - <(echo 1 5 7 2 0 0)
	done
}

@test "telstat counts the events of an inst log beside its classes" {
	cat >log <<-'END'
		0000000000000000 H inst 1 0 0 hz=1000
		0000000000000000 C id=1 type=trace name=t
		0000000000000001 E c=1 tag=1 p=1
		0000000000000005 E c=1 tag=1 p=2
		0000000000000009 Z
	END
	run -0 telstat -q log
	[[ $output == *'events  5 '* ]]
	[[ $output == *'Start'* ]]
	run -3 telstat -q -f json --report "$INST/hfs.txt"
	n=$(telcat -q -H "$INST/hfs.txt" | wc -l)
	[[ $output == *"\"events\":$n,"*'"input_bytes":'[1-9]* ]]
	[[ $output == *'"lost":17,'* ]]
}

@test "short ranges of a summary trace add up" {
	{
		echo '0000000000000000 H inst 1 0 0 hz=1000000000'
		echo '0000000000000000 C id=1 type=strace name=s'
		for ((i = 1; i <= 1000; i++)); do
			printf '%016X E c=1 tag=1 p=1\n' $((i * 1000))
			printf '%016X E c=1 tag=1 p=2\n' $((i * 1000 + 900))
		done
		echo '0000000000F42400 Z'
	} >log
	clean telstat --raw log >got
	grep -q 'pairs 1000  total 900 ' got
}

@test "--tb-hz sets the rate of the clock, whether the log has one or not" {
	for hz in '' ' hz=60'; do
		cat >log <<-END
			0000000000000000 H inst 1 0 0$hz
			0000000000000000 C id=1 type=strace name=s
			0000000000000000 E c=1 p=1
			00000000000003E8 E c=1 p=2
			00000000000003E8 Z
		END
		[ "$(clean telcat -H -T s --tb-hz 1000 -e End -F clock log)" = '1.000000000 End clock=1000' ]
		clean telstat --tb-hz 1000 log >got
		grep -q 'pairs 1  total 1,000,000 us' got
		clean telstat --as inst --tb-hz 1000 - <log | diff - got
	done
}

@test "a key of a tally needs quotes only where it has blanks" {
	cat >keys <<-'END'
		0000000000000000 H inst 1 0 0 hz=1000
		0000000000000000 C id=1 type=tally max=3 name=Types
		0000000000000001 U c=1 op=tally v=TEXT n=2
		0000000000000002 U c=1 op=tally v="TEXT"
		0000000000000003 U c=1 op=tally v=-5x
		0000000000000004 U c=1 op=tally v=-5
		0000000000000009 Z
	END
	clean telstat -f csv keys >csv
	grep ',bucket,' csv | cut -d, -f 7,8 >got
	diff - got <<-'END'
		TEXT,3
		-5,1
		-5x,1
	END
	sed -i 's/U .* n=2$/SB c=1 k=APPL v=9/' keys
	clean telstat -f csv keys >csv
	grep -q ',APPL,9,$' csv
}

@test "a histogram begins at the least number of 64 bits" {
	cat >least <<-'END'
		0000000000000000 H inst 1 0 0 hz=1000
		0000000000000000 C id=1 type=hist name=h lo=-9223372036854775808 hi=0 w=9223372036854775807
		0000000000000001 U c=1 op=hist v=-9223372036854775808
		0000000000000001 U c=1 op=hist v=-1 n=2
		0000000000000009 Z
	END
	clean telstat -f csv least >csv
	grep ',bucket,' csv | cut -d, -f 5,6,8 >got
	diff - got <<-'END'
		-9223372036854775808,-1,1
		-1,0,2
	END
}

@test "classes of one name and other definitions are kept apart" {
	cat >anew <<-'END'
		0000000000000000 H inst 1 0 0 hz=1000
		0000000000000000 C id=1 type=mag name=x
		0000000000000001 U c=1 op=abs v=5
		0000000000000002 X c=1 op=dispose
		0000000000000003 C id=2 type=growth name=x
		0000000000000004 U c=2 op=inc v=7
		0000000000000009 Z
	END
	clean telstat anew >got
	grep -qx 'x  (mag)' got
	grep -qx 'x#2  (growth)' got
	grep -q 'total 7 ' got
	for hi in 10 20 10; do
		echo '0000000000000000 H inst 1 0 0 hz=1000'
		echo "0000000000000000 C id=1 type=hist lo=0 hi=$hi w=5 name=h"
		echo '0000000000000001 U c=1 op=hist v=3'
		echo '0000000000000002 Z'
	done >bounds
	clean telstat -f csv bounds | grep ',updates,' | cut -d, -f 2,8 >got
	diff - got <<-'END'
		h,2
		h#2,1
	END
}

@test "each trace event has the component of its class" {
	telcat -q -f json -e Trace,Start,End,Middle "$INST/hfs.txt" |
	    grep -c '"component":"hfs+"' >got
	[ "$(cat got)" -gt 4 ]
}

@test "every tool reports that the log is of a newer version" {
	snapshots | sed '1s/ 1 0 0/ 1 4 0/' >log
	for tool in telcat telfilter telstat; do
		run -0 --separate-stderr "$tool" log
		echo "$tool: $stderr"
		[[ $stderr == "$tool: "*'version 1.4.0 '* ]]
	done
}

# What telstat shows of a log, but for what its file is; STATUS FILE ...
shown() {
	local status=$1
	shift
	run -"$status" --separate-stderr telstat "$@"
	grep -v '^Totals: ' <<<"$output"
	grep -o 'lost [0-9,]*  unknown.*' <<<"$output"
}

@test "telstat shows the classes of an inst log in any format" {
	for log in hfs.txt cache.inst; do
		status=$([ $log = hfs.txt ] && echo 3 || echo 0)
		shown "$status" "$INST/$log" >want
		grep -q '^HFS:' want
		for format in tel tel,lines text; do
			telcat -q -f "$format" "$INST/$log" >got.log
			shown "$status" got.log | diff want -
			shown "$status" - <got.log | diff want -
			zstd -qc got.log >got.zst
			shown "$status" <got.zst | diff want -
		done
	done
	# a class that is disabled counts nothing
	printf '%s\n' '0000000000000001 H inst 1 0 0 hz=1000' \
	    '0000000000000002 C id=1 type=mag name=M en=0' \
	    '0000000000000003 U c=1 op=abs v=4' '0000000000000004 Z' >off
	telstat off >want
	grep -q 'updates 0 ' want
	telcat -f tel off | telstat | diff want -
	telcat -q -f tel "$INST/hfs.txt" >hfs.tel
	run -3 --separate-stderr telstat hfs.tel
	[[ $output == *'lost 17  unknown 0  damaged 5' ]]
	[[ $stderr == *'type of the class is unknown, and more'* ]]
	# where events are asked for, they are counted
	run -0 telstat -q -k class hfs.tel
	[[ $output != *HFS:* ]]
	# two logs add up
	telstat "$INST/cache.inst" "$INST/cache.inst" | grep updates >want
	telcat -f tel "$INST/cache.inst" >cache.tel
	telstat cache.tel cache.tel | grep updates | diff want -
	telstat cache.tel "$INST/cache.inst" | grep updates | diff want -
	grep -q 'updates 6  total 120' want
}

@test "telstat -i shows classes in a .tel over time" {
	cat >snap.inst <<-END
		0000000000000000 H inst 1 0 0 hz=1000
		0000000000000000 C id=1 type=growth name="A:hits" unit=bytes
		0000000000000000 C id=2 type=tally max=3 name="A:t"
		0000000000000000 C id=3 type=hist lo=0 hi=10 w=2 name="A:h"
		0000000000000000 C id=4 type=mag name="A:m"
		0000000000000100 S c=1 n=3 total=30 last=10 min=5 max=15
		0000000000000100 S c=2 n=3 ovf=0 ovfn=0
		0000000000000100 SB c=2 k="a b" v=2
		0000000000000100 SB c=2 k=7 v=1
		0000000000000500 S c=1 n=6 total=90 last=1 min=1 max=15
		0000000000000500 S c=3 n=2 w=2 sum=9 under=0 over=1 b=0:1
		0000000000000500 S c=4 n=2 cur=-5 min=-5 max=3 sum=-2
		0000000000000900 S c=1 n=7 total=91 last=1 min=1 max=15
		0000000000000A00 Z
	END
	telcat -f tel snap.inst >snap.tel
	for options in '-i 500ms' '-i 500ms --deltas' '-i 1s -f csv' \
	    '-i 1s -f json'; do
		read -ra list <<<"$options"
		telstat "${list[@]}" snap.inst | grep -v input_bytes >want
		telstat "${list[@]}" snap.tel | grep -v input_bytes |
		    diff want -
	done
	telstat -i 1s snap.tel | grep -E '^==|updates 3  total|total 90' >got
	diff - got <<-END
		== at 1 s ==
		  updates 3  total 30  last 10  min 5  max 15  mean 10  rate 30/s
		== at 2 s ==
		  updates 6  total 90  last 1  min 1  max 15  mean 15  rate 45/s
		== end, 2.56 s ==
	END
	# what it writes at each time reads back
	telstat -i 1s -f inst snap.tel >parts.inst
	telstat snap.inst | grep -v Totals >want
	telstat parts.inst | grep -v Totals | diff want -
}

@test "events that look like records may say anything" {
	cat >hostile <<-'END'
		# teltools text 1
		# format: x
		# version: 1.0.0
		# type: Header 1 Log major:unsigned median:unsigned minor:unsigned hz:unsigned wall:string proc:string pid:unsigned host:string tz:string
		# type: GrowthClass 2 Class path:string class:unsigned id:unsigned enabled:boolean unit:string help:string
		# type: OtherClass 3 Class path:string class:unsigned id:unsigned enabled:boolean unit:string help:string type:string
		# type: HistogramClass 4 Class path:string class:unsigned id:unsigned enabled:boolean unit:string help:string lo:signed hi:signed w:unsigned
		# type: Growth 5 Snapshot path:string class:unsigned updates:unsigned total:unsigned last:unsigned min:unsigned max:unsigned
		# type: Histogram 6 Snapshot path:string class:unsigned updates:unsigned weight:unsigned sum:signed under:unsigned over:unsigned overflow:unsigned buckets:string
		# type: Bucket 7 Snapshot path:string class:unsigned key:string count:unsigned
		# type: Other 8 Log record:string
		# type: Magnitude 9 Snapshot path:string class:unsigned updates:unsigned
		0000000000000001 Header major=1 median=0 minor=0 hz=10 wall="x\ny" proc="\"" pid=1 host="" tz=""
		0000000000000002 GrowthClass path="a\nb \"c\"\\:d" class=1 id=1 enabled=true unit="\x1b[1m" help="Z"
		0000000000000002 OtherClass path="o" class=2 id=2 enabled=true unit="" help="" type="growth\n0000000000000003 Z"
		0000000000000002 HistogramClass path="h" class=3 id=3 enabled=true unit="" help="" lo=5 hi=-5 w=0
		0000000000000002 HistogramClass path="i" class=4 id=4 enabled=true unit="" help="" lo=0 hi=5 w=1
		0000000000000003 Growth path="anything" class=1 updates=18446744073709551615 total=18446744073709551615 last=1 min=9 max=2
		0000000000000003 Histogram path="i" class=4 updates=1 weight=1 sum=1 under=0 over=0 overflow=0 buckets="0:1\n0000000000000003 Z"
		0000000000000003 Histogram path="i" class=4 updates=1 weight=1 sum=1 under=0 over=0 overflow=0 buckets="4:1,5:1"
		0000000000000003 Histogram path="j" class=99 updates=1 weight=1 sum=1 under=0 over=0 overflow=0 buckets="0:1"
		0000000000000003 Bucket path="i" class=4 key="k" count=1
		0000000000000003 Other record="S c=1 n=1 total=5\n0000000000000003 H inst 9 0 0"
		0000000000000003 Magnitude path="m" class=1 updates=1
	END
	run -3 --separate-stderr telstat hostile
	[[ $output == *'"c"'*'(growth)'*'updates 1  total 5'* ]]
	[[ $output == *'damaged 5' ]]
	run ! grep $'\033' <<<"$output"
	[[ $stderr == *'the definition of j is missing'* ]]
	# the events are those of any log
	run -0 telstat -q -k snapshot hostile
	[[ $output == *'events  6'* ]]
}

@test "time of many sessions, and of many logs with classes, is linear" {
	if slow; then
		skip "it is a matter of seconds"
	fi
	python3 - 40000 >sessions.inst <<-'END'
		import sys
		for i in range(int(sys.argv[1])):
		    print(f"{i:016X} H inst 1 0 0 hz=1000\n"
		          f"{i:016X} C id=1 type=growth name=c{i}\n"
		          f"{i:016X} U c=1 op=inc v=2\n{i:016X} Z")
	END
	# seconds of the processor: 20 in quadratic time, and 12 for the logs
	(ulimit -t 8 && telstat sessions.inst) >got
	[ "$(grep -c 'updates 1  total 2 ' got)" = 40000 ]
	mkdir logs
	head -n 12000 sessions.inst | split -l 4 -a 4 - logs/
	tar -cf logs.tar logs
	telcat -q --no-merge -f tel -o logs.tel logs.tar
	(ulimit -t 8 && telstat logs.tel) >got
	[ "$(grep -c 'updates 1  total 2 ' got)" = 3000 ]
}

@test "what adds to no class is damage where classes are added up" {
	head='0000000000000001 H inst 1 0 0 hz=1000'
	class='0000000000000002 C id=2 type=growth name="G"'
	end='0000000000000004 Z'
	for record in 'U c=9 op=inc v=3' 'U c=2 op=abs v=3' 'S c=9 n=1 total=3' \
	    'E c=2' 'U c=2 op=inc v=18446744073709551616'; do
		printf '%s\n' "$head" "$class" "0000000000000003 $record" "$end" >log
		run -3 telstat log
		run -0 telcat log
	done
	printf '%s\n' "$head" "$class" '0000000000000003 X c=2 op=disable' \
	    '0000000000000003 U c=2 op=inc v=3' "$end" >log
	run -0 telstat log
}

@test "-T iso starts at the wall clock of H; .tel has that of the first K" {
	printf '%s\n' '0000000000000000 H inst 1 0 0 hz=1000' \
	    '0000000000000064 K wall=2026-01-01T00:00:00Z' \
	    '0000000000000065 Z' >log
	run -1 telcat -T iso log
	telfilter -f tel log | telcat -H -T iso | grep -q '^2026-01-01T00:00:00.0010'
	sed -i '1s/$/ wall=2025-01-01T00:00:00Z/' log
	telcat -H -T iso log | grep -q '^2025-01-01T00:00:00.1010'
}
