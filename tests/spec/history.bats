#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# What expressions say of the events before: start.x, duration, bytes, live,
# allocates, frees, against history_model.py, event by event.

bats_require_minimum_version 1.5.0
load "${TEL_TOP:-$BATS_TEST_DIRNAME/../..}/tests/environment"

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
}

model() {
	python3 "$TEL_TOP/tests/spec/history_model.py" "$1" "$2" >log.txt 2>want
}

# What telstat says of each event, as the model writes it.
said() {
	telstat -q -f json -g index --max-groups 65536 \
	    -s 'start=sum(start.index)' -s 'duration=sum(duration)' \
	    -s 'bytes=sum(bytes)' -s 'live=sum(live)' -s 'by=sum(start.who)' \
	    -s 'allocates=sum(allocates)' -s 'frees=sum(frees)' "$@" |
	    python3 -c '
import json, sys
events = {}
for line in sys.stdin:
    row = json.loads(line)
    if row["type"] == "sum" and row["updates"]:
        events.setdefault(row["group"]["index"], {})[row["name"]] = row["sum"]
for index in sorted(events):
    print(json.dumps({"index": index, **events[index]}, sort_keys=True))'
}

sorted_keys() {
	python3 -c '
import json, sys
for line in sys.stdin:
    row = json.loads(line)
    del row["extents"]
    print(json.dumps(row, sort_keys=True))' <"$1"
}

@test "each event of random logs, in text and in .tel" {
	for seed in 1 2 3; do
		model $seed 4000
		sorted_keys want >want.json
		said log.txt >got.json
		cmp want.json got.json
		telcat -f tel log.txt >log.tel
		said log.tel >got.json
		cmp want.json got.json
	done
	[ "$(grep -c '"start"' want.json)" -gt 1000 ]
}

@test "a selection sees all events, and so do statistics of what it selects" {
	model 4 3000
	grep '"frees": 1' want | grep -c '"start"' >frees
	n=$(cat frees)
	[ "$n" -gt 300 ]
	[ "$(telfilter -c -w 'frees && has(start.time)' log.txt)" = "$n" ]
	# none of the events that began one is selected
	run -0 telstat -q -f json -w 'name == put' -s 'n=sum(start.index)' log.txt
	want=$(python3 - <<-'END'
		import json
		puts = [i for i, line in enumerate(
		    line for line in open("log.txt") if line[0] != "#")
		    if line.split()[1] == "put"]
		rows = [json.loads(line) for line in open("want")]
		print(sum(rows[i].get("start", 0) for i in puts))
	END
	)
	[[ "$output" == *"\"sum\":$want,"* ]]
	# by two threads, by pieces, and by a filter before
	[ "$(telfilter -j 2 -c -w 'frees && has(start.time)' log.txt log.txt)" = \
	    $((2 * n)) ]
	telfilter -w 'frees && has(start.time)' log.txt | telcat -c >some
	[ "$(cat some)" = "$n" ]
	telfilter -v -w 'frees && has(start.time)' log.txt | telcat -c >others
	[ "$(cat others)" = $((3000 - n)) ]
}

@test "logs that are merged have a history each" {
	model 5 2000
	mv log.txt a.txt
	sorted_keys want >want.json
	n=$(grep -c '"start"' want)
	cp a.txt b.txt
	[ "$(telfilter -c -w 'has(start.time)' a.txt b.txt)" = $((2 * n)) ]
	[ "$(telfilter --no-merge -c -w 'has(start.time)' a.txt b.txt)" = \
	    $'a.txt:'"$n"$'\nb.txt:'"$n" ]
	tar cf both.tar a.txt b.txt
	[ "$(telfilter -c -w 'has(start.time)' both.tar)" = $((2 * n)) ]
	telcat -f tel a.txt b.txt >both.tel
	[ "$(telfilter -c -w 'has(start.time)' both.tel)" = $((2 * n)) ]
}

@test "a log that is not in order of time is put in order first" {
	model 6 2000
	# as the MPS writes its buffers: the newest event first
	{
		grep '^#' log.txt
		grep -v '^#' log.txt | tac
	} >back.txt
	zstd -dcq "$TEL_TOP"/tests/data/mps/1.118.0-lii6gc-awlut.log.zst >mps.log
	for x in 'start.clock > clock' 'duration < 0'; do
		[ "$(telfilter -c -w "$x" mps.log)" = 0 ]
	done
	[ "$(telfilter -c -w 'has(start.clock)' mps.log)" = \
	    "$(telfilter -S -c -w 'has(start.clock)' mps.log)" ]
	[ "$(telfilter -c -w 'has(start.clock)' mps.log)" -gt 4000 ]
	[ "$(telfilter -S -c -w 'frees' back.txt)" = \
	    "$(grep -c '"frees": 1' want)" ]
}

# columns FIELDS ...: what telcat shows of them, as the model writes it.
columns() {
	telcat -q -f json -F index,start.index,duration,bytes,live,start.who \
	    -F allocates,frees "$@" | python3 -c '
import json, sys
names = {"start.index": "start", "start.who": "by"}
for line in sys.stdin:
    row = json.loads(line)["fields"].items()
    row = {names.get(k, k): int(v) for k, v in row if v is not None}
    print(json.dumps(row, sort_keys=True))'
}

@test "columns of values, in JSON, CSV and text" {
	for seed in 10 11; do
		model $seed 3000
		telcat -f tel log.txt >log.tel
		sorted_keys want >want.json
		columns log.txt | cmp want.json
		columns log.tel | cmp want.json
		columns -j 2 log.txt | cmp want.json
		# what is not shown counts all the same
		grep '"frees": 1' want.json >frees.json
		columns -w frees log.tel | cmp frees.json
		columns -w 'frees' -n 20 log.txt | cmp <(head -n 20 frees.json)
		telcat -q -f json --split 64k -o 'part%d' \
		    -F index,duration,frees -w frees log.txt
		cat part? | python3 -c '
import json, sys
want = [json.loads(line) for line in open("frees.json")]
got = [json.loads(line)["fields"] for line in sys.stdin]
assert [(w["index"], w.get("duration")) for w in want] == [
    (g["index"], g["duration"]) for g in got] and len(got) > 500'
		rm part*
		telcat -H -f csv -F '(name),duration,start.who * 2' -w frees \
		    log.txt >got.csv
		telcat -H -F '(name),duration,start.who * 2' -w frees log.txt |
		    sed 's/"//g' >got.text
		python3 - <<-'END'
			import csv, json
			want = [json.loads(line) for line in open("frees.json")]
			rows, lines = list(csv.reader(open("got.csv"))), list(open("got.text"))
			assert len(want) == len(rows) == len(lines) > 500
			for w, row, line in zip(want, rows, lines):
			    twice = 2 * w["by"] if "by" in w else None
			    given = [("(name)", row[1]), ("duration", w.get("duration")),
			             ("start.who * 2", twice)]
			    assert row[2:] == ["" if v is None else str(v) for _, v in given]
			    assert line.split(" ", 2)[2].strip() == " ".join(
			        f"{k}={v}" for k, v in given if v is not None)
		END
	done
	[ "$(telcat -f csv -F 'bytes,"a,b",has(at)' log.txt | head -n 1)" = \
	    'clock,type,bytes,"""a,b""",has(at)' ]
	run -2 telcat -F 'who +' log.txt
	[[ "$output" == *"'who +', column 6: expected an operand"* ]]
	run -2 telcat -F start.whom log.txt
	[[ "$output" == *"'start.whom': no event type has a field 'whom'"* ]]
	run -2 telcat -f arrow -F duration log.txt
	[[ "$output" == *"no event type has a field 'duration'"* ]]
	# strings of the log are escaped, and large numbers quoted in JSON
	printf '%s\n' '# teltools text 1' '# type: x 1 X s:string n:unsigned' \
	    '0000000000000001 x s="a\x1b\"b,\n" n=9007199254740993' >s.txt
	[ "$(telcat -H -F '(s),n + 0,n / 0.0,1.5' s.txt)" = \
	    '0000000000000001 x (s)="a\x1b\"b,\n" n + 0=9007199254740993 1.5=1.5' ]
	telcat -f json -F '(s),n + 0,n / 0.0,1.5' s.txt | python3 -c '
import json, sys
row = json.load(sys.stdin)["fields"]
assert row == {"(s)": "a\x1b\"b,\n", "n + 0": "9007199254740993",
               "n / 0.0": None, "1.5": 1.5}, row'
	telcat -H -f csv -F '(s),n' s.txt | python3 -c '
import csv, sys
assert list(csv.reader(sys.stdin, strict=True))[0][2] == "a\x1b\"b,\n"'
}

@test "-a finds what holds an address, in any order of the log" {
	for seed in 1 ${TEST_WHOLE:+2 3}; do
		model "$seed" 3000
		# a time for each, so that sorting has one result
		awk '!/^#/ { $1 = sprintf("%016X", ++n) } { print }' log.txt >once.txt
		mv once.txt log.txt
		telcat -f tel log.txt >log.tel
		{
			grep '^#' log.txt
			grep -v '^#' log.txt | tac
		} >back.txt
		for a in 0x1000 0x1fff 0x3a01,+0x200 0xb801,0xcccc; do
			python3 - "$a" >want.index <<-'END'
				import json, re, sys
				lo, plus, hi = re.match(r"(\w+),?(\+?)(\w*)$", sys.argv[1]).groups()
				lo, hi = int(lo, 0), int(hi or lo, 0)
				hi = lo + hi - 1 if plus else hi
				for line in open("want"):
				    row = json.loads(line)
				    if any(at <= hi and lo < at + size for at, size in row["extents"]):
				        print(row["index"])
			END
			[ "$(wc -l <want.index)" -gt 30 ]
			telcat -H log.txt |
			    awk 'NR==FNR {want[$1 + 1]; next} FNR in want' want.index - >want.txt
			for log in log.txt log.tel "-S back.txt"; do
				# shellcheck disable=SC2086
				telfilter -a "$a" $log | telcat -H | cmp want.txt
				# shellcheck disable=SC2086
				[ "$(telfilter -v -c -a "$a" $log)" = \
				    $((3000 - $(wc -l <want.txt))) ]
			done
			[ "$(telfilter -j 2 -c -a "$a" log.txt log.tel)" = \
			    $((2 * $(wc -l <want.txt))) ]
		done
	done
	# no field has this one
	run ! grep -q '=0x1fff\b' log.txt
	# a pool frees a part; the bytes of a sample are not those of its block
	cat >log.txt <<-'END'
		# teltools text 1
		# type: get 1 Alloc at:address size:unsigned pool:address
		# type: put 2 Alloc at:address size:unsigned pool:address
		# type: one 3 Alloc at:address size:unsigned weight:unsigned
		# type: end 4 Alloc at:address
		# role: get alloc at size pool=pool
		# role: put free at size pool=pool
		# role: one alloc at size weight=weight
		# role: end free at
		0000000000000001 get at=0x1000 size=96 pool=0x1
		0000000000000002 put at=0x1000 size=32 pool=0x1
		0000000000000003 put at=0x1040 size=32 pool=0x1
		0000000000000004 put at=0x1020 size=32 pool=0x1
		0000000000000005 one at=0x2000 size=16 weight=4096
		0000000000000006 end at=0x2000
	END
	for pair in 0x1001:12 0x1041:13 0x1021:14 0x2001:56 0x200f:56 0x2010: \
	    0x1041,0x1041:13 0xfff,0x1000:12 0x105f,0x1060:13 0x1060,0x1fff: \
	    0x1060,0x2000:56 0x1060,+0xfa0: 0x1060,+0xfa1:56; do
		[ "$(telfilter -a "${pair%:*}" log.txt | telcat -H |
		    sed 's/ .*//; s/^0*//' | tr -d '\n')" = "${pair#*:}" ]
	done
}

@test "durations are those of dur()" {
	model 7 3000
	run -0 telstat -q -f json -s 'd=sum(dur(open))' \
	    -s 'e=sum(duration) if name == close' log.txt
	python3 - "${lines[@]}" <<-'END'
		import json, sys
		d, e = [json.loads(line)["sum"] for line in sys.argv[1:3]]
		assert d == e > 0, (d, e)
	END
}

@test "names of events, kinds, labels and stacks of the event that began it" {
	cat >log.txt <<-'END'
		# teltools text 1
		# tick rate: 1000000000
		# type: Label 1 User a:address s:string
		# type: trace 2 Trace number:unsigned ip:address parent:unsigned
		# type: get 3 Alloc at:address size:unsigned by:unsigned pool:address
		# type: put 4 Alloc at:address
		# role: Label label a s
		# role: trace frame number ip parent
		# role: get alloc at size stack=by
		# role: put free at
		0000000000000001 trace number=1 ip=0x10["main"] parent=0
		0000000000000001 trace number=2 ip=0x20["hog"] parent=1
		0000000000000002 get at=0x1000 size=8 by=2 pool=0x50["big"]
		0000000000000002 get at=0x2000 size=9 by=1 pool=0x51["small"]
		0000000000000003 put at=0x1000
		0000000000000004 put at=0x2000
		0000000000000005 put at=0x3000
	END
	expect() { [ "$(telfilter -c -w "$1" log.txt)" = "$2" ]; }
	expect 'start.name == get' 2
	expect 'start.name == put' 0
	expect 'start.kind == alloc' 2
	expect 'label(start.pool) == "big"' 1
	expect 'start.stack ~ "hog"' 1
	# of a free that records none it is the block's
	expect 'stack =* "main"' 2
	expect 'stack == "main;hog"' 2
	expect 'frees && stack == "main;hog"' 1
	expect 'has(stack)' 4
	expect 'name == trace && has(stack)' 0
	expect '!has(start.name)' 5
	expect 'frees && !has(start.name)' 1
	expect 'start.size == 9' 1
	expect 'duration == 1' 1
	expect 'start.by == 2 && start.code == 3 && start.clock == 2' 1
	run -2 telfilter -w 'start.none == 1' log.txt
	[[ "$output" == *"column 6: no event type has a field 'none'"* ]]
	run -2 telfilter -w 'start.dt == 1' log.txt
	[[ "$output" == *"column 6: start has no dt"* ]]
	run -2 telfilter -w 'start.label == "a"' log.txt
	[[ "$output" == *"start has no label; expected label(start.field)"* ]]
	run -2 telfilter -w 'stack > 1' log.txt
	# what resizes has its own, and so has a free that records one
	{
		sed 's/^\(# type: put.*\)/\1 by:unsigned/;s/^\(# role: put.*\)/\1 stack=by/
		    s/put at=0x1000/& by=1/;s/\(put at=0x[23].*\)/\1 by=0/
		    s/^# role: Label.*/# type: change 5 Alloc at:address old:address size:unsigned by:unsigned\n&\n# role: change realloc at size old=old stack=by/' log.txt
		echo '0000000000000006 get at=0x4000 size=9 by=2'
		echo '0000000000000007 change at=0x5000 old=0x4000 size=9 by=1'
		echo '0000000000000008 change at=0x6000 old=0x5000 size=9 by=0'
	} | sed '/get at/s/\(by=.\)$/\1 pool=0x52/' >frees.txt
	[ "$(telcat -H -w 'frees' -F stack,start.stack frees.txt |
	    sed 's/^0* *//;s/put //;s/change //')" = '3 stack="main" start.stack="main;hog"
4 stack="main" start.stack="main"
5 stack="<none>"
7 stack="main" start.stack="main;hog"
8 stack="main" start.stack="main"' ]
	# a field of that name comes first
	sed 's/ size:/ duration:/;s/alloc at size/alloc at duration/;s/ size=/ duration=/' \
	    log.txt >own.txt
	[ "$(telfilter -c -w 'duration == 9' own.txt)" = 1 ]
	[ "$(telfilter -c -w 'name == get && .duration == 8' own.txt)" = 1 ]
	[ "$(telfilter -c -w 'duration == 1 && name == put' own.txt)" = 1 ]
}

@test "fields of each data type of the event that began it" {
	cat >log.txt <<-'END'
		# teltools text 1
		# tick rate: 1000000000
		# type: open 1 R key:unsigned why:enum:unsigned s:string d:double n:signed b:boolean p:pointer a.x:unsigned a.why:enum:unsigned l:list:unsigned o?:unsigned
		# type: close 2 R key:unsigned why:enum:unsigned
		# type: get 3 A at:address size:unsigned why:enum:unsigned s:string a.x:unsigned
		# type: put 4 A at:address
		# role: open start close key
		# role: close finish key
		# role: get alloc at size
		# role: put free at
		0000000000000001 open key=1 why=3["slow"] s="one\n" d=1.5 n=-7 b=true p=0x50["big"] a.x=9 a.why=2["in"] l=[4,5] o=6
		0000000000000002 open key=2 why=4["fast"] s="" d=-0.25 n=8 b=false p=0x51 a.x=18446744073709551615 a.why=3["out"] l=[]
		0000000000000003 get at=0x1000 size=8 why=3["slow"] s="three" a.x=5
		0000000000000010 close key=1 why=4["fast"]
		0000000000000020 close key=2 why=4["fast"]
		0000000000000030 put at=0x1000
		0000000000000040 close key=3 why=3["slow"]
	END
	telcat -f tel log.txt >log.tel
	for log in log.txt log.tel; do
		# the clock of each event that it is true for
		while IFS='|' read -r x want; do
			got=$(telfilter -w "$x" $log | telcat -H | sed 's/ .*//; s/^0*//')
			echo "$x: ${got//$'\n'/ }, want $want"
			[ "${got//$'\n'/ }" = "$want" ]
		done <<-'END'
			start.why == "slow"|10 30
			start.why == 3|10 30
			label(start.why) == "slow"|10 30
			start.why in ("fast","x")|20
			start.why ~ "^s"|10 30
			start.why == why|20
			start.why != why|10
			start.s == "one\n"|10
			start.s =* ""|20
			start.s > "p"|30
			start.d < 0|20
			start.d == 1.5|10
			start.n == -7|10
			start.b|10
			!start.b|20
			start.p == 0x51|20
			label(start.p) == "big"|10
			start.a.x == 9|10
			start.a.x > 1T|20
			start.a.x == 5|30
			start.a.why == "in"|10
			label(start.a.why) == "out"|20
			has(start.o)|10
			start.o == 6|10
			has(start.l)|10 20
			!has(start.why) && name in (close, put)|40
		END
		telcat -H -w 'has(start.why)' -F start.why,start.s,start.d,start.n \
		    -F 'start.b,start.p,start.a.x,label(start.a.why),start.o' \
		    $log >got
		diff - got <<-'END'
			0000000000000010 close start.why=3 start.s="one\n" start.d=1.5 start.n=-7 start.b=true start.p=0x50 start.a.x=9 label(start.a.why)="in" start.o=6
			0000000000000020 close start.why=4 start.s="" start.d=-0.25 start.n=8 start.b=false start.p=0x51 start.a.x=18446744073709551615 label(start.a.why)="out"
			0000000000000030 put start.why=3 start.s="three" start.a.x=5
		END
		telstat -q -f json -g 'label(start.why)' $log \
		    -s 't=top(duration,3,start.a.x,start.s,label(start.why))' |
		    top_rows >got
		sort got | diff - <(printf '%s\n' ' slow' 't 15 9 one' \
		    't 30 18446744073709551615  fast' 't 45 5 three slow')
	done
}

# top_rows: of each of the largest values, the value and what is shown.
top_rows() {
	python3 -c '
import json, sys
for line in sys.stdin:
    row = json.loads(line)
    if row["type"] == "top value":
        print(row["name"], row["value"], *map(row.get, ("key", "key2", "key3")))'
}

@test "the largest joined values, with joined values beside them" {
	model 8 4000
	python3 - <<-'END' >want.rows
		import json
		rows = [json.loads(line) for line in open("want")]
		for name, given in {"longest": "duration", "peak": "live"}.items():
		    some = [row for row in rows if row["frees"] and given in row]
		    some.sort(key=lambda row: (-row[given], row["index"]))
		    for row in some[:20]:
		        print(name, row[given], *map(row.get, ("start", "bytes", "index")))
	END
	[ "$(wc -l <want.rows)" = 40 ]
	set -- -s 'longest=top(duration,20,start.index,bytes,index) if frees' \
	    -s 'peak=top(live,20,start.index,bytes,index) if frees'
	telcat -f tel log.txt >log.tel
	for log in log.txt log.tel; do
		telstat -q -f json "$@" "$log" | top_rows | cmp want.rows
		telstat -f inst "$@" "$log" >"$log.inst"
		telstat -q -f json "$log.inst" | top_rows | cmp want.rows
	done
}

@test "strings that are shown side by side keep their bytes" {
	telstat -q -f json -s 'a=top(size,9,stack)' \
	    "$TEL_TOP/tests/data/alloc/perl.heaptrack.zst" | top_rows |
	    sed 's/None None$//; s/^a \([0-9]*\) \(.*\) $/\1 \2 \2/' >want.rows
	grep -c ';' want.rows
	telstat -q -f json -s 'a=top(size,9,stack,stack)' \
	    "$TEL_TOP/tests/data/alloc/perl.heaptrack.zst" | top_rows |
	    sed 's/ None$//; s/^a //' | diff want.rows -
}
