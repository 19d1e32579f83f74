#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Expressions of values that events may lack, of lists, and of places.
# shellcheck disable=SC2086 # several logs

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	{
		printf '%s\n' '# teltools text 1' '# tick rate: 1000000000' \
		    '# type: a 1 K x:unsigned l:list:unsigned s:string' \
		    '# type: b 2 K x:unsigned l:unsigned' \
		    '# type: c 3 K PM_CYC:unsigned PM_INST_CMPL:unsigned'
		printf '%016x %s\n' 1 'a x=1 l=[1,2,3] s="abc"' 2 'a x=3 l=[] s=""' \
		    3 'b x=7 l=9' 4 'c PM_CYC=8 PM_INST_CMPL=4' \
		    5 'c PM_CYC=8 PM_INST_CMPL=0'
	} >log.txt
	grep -v ' b ' log.txt >lists.txt
	telcat -f tel -o log.tel log.txt
}

@test "an item of a list may be whether another list has a number" {
	for log in log.txt log.tel; do
		[ "$(telcat -c -w 'x in ((2 in l), 5)' $log)" = 1 ]
		[ "$(telcat -c -w 'x in ((3 in l)..(3 in l), 8)' $log)" = 1 ]
		[ "$(telcat -c -w 'x in ((3 in l), 3)' $log)" = 2 ]
		# a condition is shown as any other
		[ "$(telcat -H -e a -F '(3 in l),(x in (1, 2))' $log | cut -d ' ' -f 3-)" = \
		    "(3 in l)=true (x in (1, 2))=true
(3 in l)=false (x in (1, 2))=false" ]
	done
}

@test "a list is not a number, and has a length" {
	for log in log.txt log.tel; do
		# the type in which it is a number remains
		[ "$(telcat -c -w 'l > 1' $log)" = 1 ]
		[ "$(telcat -c -w 'has(l)' $log)" = 3 ]
		[ "$(telcat -c -w 'has(start.l)' $log)" = 0 ]
		[ "$(telcat -c -w 'len(l) >= 0' $log)" = 2 ]
		[ "$(telcat -c -w 'len(s) == 3' $log)" = 1 ]
		telstat -f csv -s 's=sum(l)' $log | grep ',s,sum,sum,,,,9,'
	done
	expect 2 "telcat: *: 'l' is a list; use len(l), *" telcat -w 'l > 1' lists.txt
	expect 2 "telstat: *: 'l' is a list; use len(l), *" \
	    telstat -s 's=sum(l)' lists.txt
	expect 2 "telcat: *: len() takes a list or a string, and 'x' is an integer" \
	    telcat -w 'len(x) > 1' lists.txt
	telstat -q -s '@=sum(@)' --each '[lx]' lists.txt >got
	run ! grep '^l ' got
	grep '^x ' got
}

@test "a dot makes a word a field, also start and a member of it" {
	printf '%s\n' '# teltools text 1' '# type: a 1 K start.x:unsigned x:unsigned' \
	    '0000000000000001 a start.x=4 x=1' '0000000000000002 a start.x=2 x=5' >members
	[ "$(telcat -c -w '.start.x > 3' members)" = 1 ]
	[ "$(telcat -c -w 'has(.start.x) && .x > 3' members)" = 1 ]
	# the event that began what this one ends
	[ "$(telcat -c -w 'has(start.x)' members)" = 0 ]
	telstat -q -f csv --each 'start*' -s '@=sum(@)' members | grep ',start.x,sum,sum,,,,6,'
}

@test "cycles per instruction are there if there are instructions" {
	for log in log.txt log.tel; do
		[ "$(telcat -c -w 'has(cpi)' $log)" = 1 ]
		[ "$(telcat -c -w '!has(cpi)' $log)" = 4 ]
	done
}

@test "the number of an event is that of its place, in each format" {
	for log in log.txt log.tel; do
		telcat -H -f csv -F '(index),(start.index)' $log | cut -d , -f 3 |
		    diff - <(seq 0 4)
		telcat -H -F index $log | cut -d ' ' -f 3 |
		    diff - <(seq -f index=%g 0 4)
		telcat -f json -F index -w 'clock > 1' $log | grep -o 'index":[0-9]' |
		    diff - <(seq -f 'index":%g' 1 4)
	done
}

@test "dt counts from the event before, whatever a statistic takes of that" {
	printf '%s\n' '# teltools text 1' '# tick rate: 1000000000' \
	    '# type: a 1 K x:double' '# type: b 2 K y:unsigned' \
	    '0000000000000001 b y=1' '0000000000000003 a x=1' '0000000000000007 b y=1' \
	    '000000000000000f a x=nan' '000000000000001f a x=2' >log
	telstat -q -f csv -s 'r=ratio(x,dt)' -s 'h=hist(x,0,9,1,dt)' -s 't=top(x,1,dt)' \
	    -s 's=sum(dt) if has(x)' log >got
	grep ',r,ratio,weight,,,,18,' got
	grep ',h,hist,weight,,,,18,' got
	grep ',t,top value,key,.*,16,' got
	grep ',s,sum,sum,,,,26,' got
	# from one that is selected to the next
	telstat -q -f csv -e b -s 's=sum(dt)' log | grep ',s,sum,sum,,,,6,'
	[ "$(telcat -c -e b -w 'dt == 4ns' log)" = 1 ]
}

@test "dt is in order of time, also where logs are merged or copied" {
	for i in 1 2; do
		printf '%s\n' '# teltools text 1' '# tick rate: 1000000000' \
		    '# type: a 1 K x:unsigned' "000000000000000$i a x=$i" \
		    "000000000000000$((i + 4)) a x=$i" >$i
		telcat -f tel -o $i.tel $i
	done
	for logs in '1 2' '1.tel 2.tel'; do
		[ "$(telcat -H -f csv -F '(dt)' $logs | cut -d , -f 3 | xargs)" = '1 3 1' ]
		[ "$(telfilter -c -w 'dt == 3' $logs)" = 1 ]
		telstat -q -f csv -s 's=sum(dt)' $logs | grep ',s,sum,sum,,,,5,'
		# not from one log to the next
		[ "$(telcat -H -f csv -F '(dt)' --no-merge $logs | cut -d , -f 3 |
		    xargs)" = '4 4' ]
		[ "$(telfilter --no-merge -w 'has(dt)' $logs | telcat -c)" = 2 ]
		telstat -q -f csv --no-merge -s 's=sum(dt)' $logs |
		    grep ',s,sum,sum,,,,8,'
	done
	# those of the MPS are not in order of time in the file
	unpack 1.113.0-lii6gc-poolncv p.log
	telcat -H -f csv -F '(dt)' p.log | awk -F , '$3 > 5000' >want
	[ -s want ]
	[ "$(telfilter -c -w 'dt > 5us' p.log)" = "$(wc -l <want)" ]
	[ "$(telcat -H -w 'dt > 5us' p.log | wc -l)" = "$(wc -l <want)" ]
	[ "$(telfilter -c -w 'dt < 0' p.log)" = 0 ]
	telfilter --bare -S -f csv -w 'dt > 5us' p.log | grep -v ^clock |
	    cut -d , -f 1 | diff - <(cut -d , -f 1 want)
	telfilter --bare -w 'dt > 5us' p.log >part
	[ "$(telcat --as mps-1.113.0/lii6gc -c part)" = "$(wc -l <want)" ]
}

@test "a field may be a string in one log and a number in another" {
	printf '%s\n' '# teltools text 1' '# type: a 1 K x:string' '0000000000000001 a x="q"' >text
	printf '%s\n' '# teltools text 1' '# type: b 1 K x:unsigned' \
	    '0000000000000002 b x=7' >numbers
	for logs in 'text numbers' 'numbers text' '--no-merge text numbers' \
	    '--no-merge numbers text'; do
		telcat -H -w 'x > 5' $logs | diff - <(echo 0000000000000002 b x=7)
		telcat -H -w 'x ~ "q"' $logs | diff - <(echo '0000000000000001 a x="q"')
		telstat -q -f csv -s 's=sum(x*2)' $logs | grep ',s,sum,sum,,,,14,'
	done
	expect 2 "telcat: *cannot compare a string with an integer" telcat -w 'x > 5' text
}

@test "a field called dt may be a key" {
	printf '%s\n' '# teltools text 1' '# tick rate: 1000000000' \
	    '# type: a 1 K dt:unsigned x.dt:unsigned' '0000000000000001 a dt=7 x.dt=1' \
	    '0000000000000005 a dt=7 x.dt=1' '0000000000000006 a dt=8 x.dt=2' >log
	telstat -q --raw -s 'd=dur(a,a,.dt)' -s 'e=dur(a,a,x.dt)' -g .dt,x.dt log >got
	grep -F 'd{.dt=7,x.dt=1}' got
	[ "$(grep -c 'pairs 1  total 4 ' got)" = 2 ]
	expect 2 "telstat: -g: 'dt', column 1: dt cannot define groups" telstat -g dt log
	expect 2 "telstat: -s: *: dt cannot be combined with pairs" \
	    telstat -s 'd=dur(a,a) if x.dt in (1..dt)' log
}

@test "cpu, tid and pid are those of LTTng, and tid that of Java" {
	log=$TEL_TOP/tests/data/ctf/all.ctf.tar.zst
	telcat -f json "$log" | jq -r '.fields |
	    "\(.cpu_id) \(.vtid // "") \(.vpid // "")"' | sort | uniq -c |
	    awk '{ print $1 "|" $2 "|" $3 "|" $4 }' | LC_ALL=C sort >want
	telstat -f csv -g cpu,tid,pid -s 'n=count()' "$log" |
	    python3 -c '
import csv, sys
for row in csv.DictReader(sys.stdin):
    if row["stat"] == "updates":
        group = dict(part.split("=") for part in row["group"].split(","))
        print(row["value"], *(group[name].strip("-") for name in ("cpu", "tid", "pid")),
              sep="|")' | LC_ALL=C sort | diff want -
	[ "$(wc -l <want)" -ge 4 ]
	telcat -f csv -F cpu_id,vtid,vpid "$log" | sed 1d >want
	telcat -f csv -F cpu,tid,pid "$log" | sed 1d | cmp - want
	[ "$(telfilter -c -w 'thread == 3407' "$log")" = "$(telfilter -c -w 'vtid == 3407' "$log")" ]
	log=$TEL_TOP/tests/data/jfr/g1-17.jfr.zst
	n=$(telcat -f json "$log" | jq -s 'map(select(.fields["eventThread.osThreadId"] == 22008 or
	    .fields["sampledThread.osThreadId"] == 22008)) | length')
	[ "$n" -gt 300 ]
	[ "$(telfilter -c -w 'tid == 22008' "$log")" = "$n" ]
}
