#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Recordings of Java Flight Recorder, compared with what the JDK's tool prints.

# "run --separate-stderr" sets stderr; a word may be a file name elsewhere
# shellcheck disable=SC2154,SC2094

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	DATA=$TEL_TOP/tests/data/jfr
}

# unpack NAME...: files of the data.
unpack() {
	local name
	for name; do
		zstd -dqf "$DATA/$name.zst" -o "$name"
	done
}

# summary NAME: types and their events, as `jfr summary` has them.
summary() {
	awk '$1 ~ /\./ && $2 ~ /^[0-9]+$/ && $2 > 0 &&
	    $1 != "jdk.Metadata" && $1 != "jdk.Checkpoint" { print $1, $2 }' \
	    "$DATA/$1.summary.txt" | LC_ALL=C sort
}

# unnumbered: text without the numbers of stacks, which are of one log.
unnumbered() {
	sed 's/ stackTrace=[0-9]*/ stackTrace=/'
}

# answers: of a report in JSON, what it says of pauses, heap and allocation.
answers() {
	sed -n '/"type":"pauses"/,/"totals"/p' | sed '$d'
}

@test "types have as many events as the summary says" {
	for name in g1-17 serial-25 native-ap45; do
		diff -u <(summary $name) <(telcat -H "$DATA/$name.jfr.zst" |
		    awk '{ n[$2]++ } END { for (t in n) print t, n[t] }' |
		    LC_ALL=C sort)
	done
}

@test "each value, time and stack is that of jfr print" {
	for name in g1-17 serial-25; do
		unpack $name.json
		telcat -f json "$DATA/$name.jfr.zst" |
		    python3 "$TEL_TOP/tests/cli/jfr_compare.py" $name.json
	done
}

@test "types and fields are what jfr metadata says, in .tel and SQL as well" {
	unpack g1-17.jfr g1-17.metadata
	telcat --types -f json g1-17.jfr >types
	python3 - <<-'END'
		import json, re
		UNITS = {'Timespan': 'ns', 'Timestamp': 'time', 'Percentage': 'fraction',
		         'Frequency': 'Hz', 'DataAmount("BYTES")': 'bytes',
		         'DataAmount("BITS")': 'bits'}
		want, notes = {}, []
		def doc(notes):
		    said = dict(re.findall(r'@(\w+)\("(.*)"\)', '\n'.join(notes)))
		    return said.get('Description', said.get('Label', ''))
		def unit(notes):
		    found = [UNITS[n] for note in notes
		        for n in (note[1:], note[1:].split('(')[0]) if n in UNITS]
		    rate = [u + '/s' for u in found if u != 'Hz'] if 'Hz' in found else []
		    return (rate or found or [''])[-1]
		for line in map(str.strip, open('g1-17.metadata')):
		    if line.startswith('@'):
		        notes.append(line)
		    elif line.startswith('class '):
		        fields = {}
		        name = re.search(r'@Name\("(.*?)"\)', ''.join(notes)).group(1)
		        want[name] = doc(notes), fields
		        notes = []
		    elif line.endswith(';'):
		        fields[line.split()[-1][:-1]] = doc(notes), unit(notes)
		        notes = []
		found = 0
		for one in map(json.loads, open('types')):
		    about, fields = want.pop(one['name'])
		    assert one.get('doc', '') == about, one
		    for f in one['fields']:
		        if f['name'] in fields:
		            said = f.get('doc', ''), f.get('unit', '')
		            assert said == fields[f['name']], (f, fields[f['name']])
		            found += 1
		assert not want and found > 300, (want, found)
	END
	telcat -f tel g1-17.jfr >g1.tel
	telcat --types -f json g1.tel | cmp types -
	telcat -f sqlite -o g1.db g1.tel
	sqlite3 g1.db 'SELECT doc FROM event_doc JOIN event_type ON type = code
	    WHERE name = "jdk.GarbageCollection" AND param_index = -1' |
	    grep -qx 'Garbage collection performed by the JVM'
}

@test "a killed recording is shown up to its last flush, with a warning" {
	run --separate-stderr telcat -H "$DATA/killed-25.jfr.zst"
	[ "$status" -eq 0 ]
	[[ $stderr == *'the recording was not ended'* ]]
	[ "$(grep -c ' jdk.GarbageCollection ' <<<"$output")" = 315 ]
	[ "$(grep -c ' shop.Order ' <<<"$output")" = 2 ]
	[ "$(grep -c ' shop.Tick ' <<<"$output")" = 2 ]
}

@test "pipes, archives and recordings that were concatenated" {
	unpack g1-17.jfr serial-25.jfr
	telcat -H g1-17.jfr >one
	telcat -H serial-25.jfr >two
	cmp one <(telcat -H <g1-17.jfr)
	# shellcheck disable=SC2002 # a pipe
	cmp one <(cat g1-17.jfr | telcat -H)
	tar cf both.tar g1-17.jfr serial-25.jfr
	cat one two >want
	cmp want <(telcat -H --no-merge both.tar)
	telcat -H g1-17.jfr serial-25.jfr | cmp - <(telcat -H both.tar)
	# one that starts in another, which was cut
	(head -c 9000 g1-17.jfr && cat serial-25.jfr) >cut.jfr
	tar cf cut.tar cut.jfr
	exits 3 telcat -q -H cut.jfr >want.cut
	exits 3 telcat -q -H cut.tar | cmp - want.cut
	cat g1-17.jfr serial-25.jfr >both.jfr
	cmp <(unnumbered <want) <(telcat -H both.jfr | unnumbered)
	# the later one first: still in order of time
	cat serial-25.jfr g1-17.jfr >other.jfr
	cmp <(unnumbered <want) <(telcat -H other.jfr | unnumbered)
	telcat -H other.jfr | LC_ALL=C sort -c -s -k1,1
	[ "$(telcat -c both.jfr)" = 11159 ]
	# types that the second one alone has, of a file and of a pipe
	unpack native-ap45.jfr
	cat g1-17.jfr native-ap45.jfr >late.jfr
	[ "$(telcat -c -e profiler.Free late.jfr)" = 4559 ]
	[ "$(telcat -c -e profiler.Free < <(cat late.jfr))" = 4559 ]
	run -2 telcat -c -e profiler.None late.jfr
	run -2 telcat -c -e profiler.None < <(cat late.jfr)
	cmp one <(telcat -H --as jfr g1-17.jfr)
}

@test "a chunk that was cut behind a byte of 68, as is before a copy of a header" {
	unpack g1-17.jfr serial-25.jfr
	head -c 7559 g1-17.jfr >cut.jfr
	[ "$(tail -c 1 cut.jfr)" = D ]
	cat serial-25.jfr cut.jfr g1-17.jfr >three.jfr
	[ "$(exits 3 telcat -q -c three.jfr)" = 11159 ]
	[ "$(exits 3 telcat -q -c - <three.jfr)" = 11159 ]
	# bytes that are cut out move the copies away from where they were
	local at n
	for at in 14450+143 76910+31 211963+107 283656+110; do
		n=${at#*+} at=${at%+*}
		{
			cat serial-25.jfr
			head -c "$at" g1-17.jfr
			tail -c +$((at + n + 1)) g1-17.jfr
			cat g1-17.jfr
		} >three.jfr
		[ "$(exits 3 telcat -q -H three.jfr | wc -l)" -ge 11159 ]
	done
}

@test "a chunk of version 0 between others costs itself" {
	unpack serial-25.jfr
	{
		cat serial-25.jfr
		head -c 4 serial-25.jfr
		printf '\0\0'
		tail -c +7 serial-25.jfr
		cat serial-25.jfr
	} >three.jfr
	run -3 --separate-stderr telcat -c three.jfr
	[ "$output" -eq $((2 * $(telcat -c serial-25.jfr))) ]
	local size
	size=$(stat -c %s serial-25.jfr)
	[[ $stderr == *": offset $size: a chunk of version 0, which is not supported"* ]]
	[[ $stderr == *": 2 damaged places, $size bytes skipped,"* ]]
	# nor is it one that is alone, as one of version 1 is
	tail -c "$size" three.jfr >one.jfr
	printf '\1' | dd of=one.jfr bs=1 seek=5 conv=notrunc status=none
	[ "$(telcat -c one.jfr)" = "$(telcat -c serial-25.jfr)" ]
	printf '\0' | dd of=one.jfr bs=1 seek=5 conv=notrunc status=none
	run -1 --separate-stderr telcat -c one.jfr
	[[ $stderr == *': the recording has version 0.'*'; versions 1 and 2 are supported'* ]]
}

@test "events in no order, most of them at once" {
	python3 "$TEL_TOP/tests/bench/jfr_make.py" bursts >bursts.jfr
	telcat -H bursts.jfr | sed 's/ .*=/ /' >got
	[ "$(wc -l <got)" -eq 20000 ]
	# those of the same time in their order in the file
	LC_ALL=C sort -c -k 1,1 -k 2,2n got
	# also where they are in several chunks
	python3 - "$TEL_TOP/tests/bench" >chunks.jfr <<-'END'
		import sys
		sys.path.insert(0, sys.argv[1])
		import jfr_make as j
		tick = ("shop.Tick", 1001, j.EVENT, [j.HEAD[0], ("n", j.INT, {})])
		for first in (1000, 2000, 3000):
		    sys.stdout.buffer.write(j.chunk(j.BASE + [tick], b"".join(
		        j.event(1001, j.varint(5000 + n * first % 41) +
		                j.integer(first + n, 32)) for n in range(200)),
		        [j.pools()]))
	END
	telcat -H chunks.jfr | sed 's/ .*=/ /' >got
	[ "$(wc -l <got)" -eq 600 ]
	LC_ALL=C sort -c -k 1,1 -k 2,2n got
}

@test "what is absent, in each output" {
	telcat -H -e jdk.StringFlag "$DATA/g1-17.jfr.zst" >text
	grep -q ' name="PrintIdealGraphFile" origin="Default"$' text
	grep -q ' name="CompileOnly" value="" origin="Default"$' text
	telcat -f json -e jdk.StringFlag "$DATA/g1-17.jfr.zst" |
	    grep -q '"name":"PrintIdealGraphFile","value":null,"origin":"Default"'
	telcat -f csv -e jdk.StringFlag -F name,value,origin "$DATA/g1-17.jfr.zst" >csv
	grep -q ',PrintIdealGraphFile,,Default$' csv
	telcat -f sql "$DATA/g1-17.jfr.zst" | sqlite3 db
	[ "$(sqlite3 db "SELECT value IS NULL FROM [EVENT_jdk.StringFlag] WHERE name = 'PrintIdealGraphFile'")" = 1 ]
	[ "$(sqlite3 db "SELECT value = '' FROM [EVENT_jdk.StringFlag] WHERE name = 'CompileOnly'")" = 1 ]
	telcat -f sqlite -o db2 "$DATA/g1-17.jfr.zst"
	[ "$(sqlite3 db2 "SELECT count(*) FROM [EVENT_jdk.StringFlag] WHERE value IS NULL")" = "$(grep -vc ' value=' text)" ]
	[ "$(sqlite3 db2 'SELECT max(heapSpace_committedSize) FROM [EVENT_jdk.GCHeapSummary]')" -gt 1000000 ]
}

@test "stacks are whole in JSON, CSV and databases" {
	local log=$DATA/g1-17.jfr.zst
	telcat -f json -e jdk.ObjectAllocationSample "$log" |
	    python3 -c 'import json, sys
for line in sys.stdin: print(json.dumps(json.loads(line)["fields"]["stackTrace"]))' >want
	[ "$(grep -c 'Shop.work:17' want)" -gt 100 ]
	telcat -f csv -e jdk.ObjectAllocationSample -F weight,stackTrace "$log" |
	    python3 -c 'import csv, json, sys
for row in list(csv.reader(sys.stdin))[1:]: print(json.dumps(json.loads(row[3])))' |
	    cmp - want
	# without one: nothing, and NULL
	telcat -f csv -e jdk.CPULoad -F stackTrace,machineTotal "$log" >csv
	run ! grep -q 'null\|,\[' csv
	telcat -f sql "$log" | sqlite3 db
	telcat -f sqlite -o db2 "$log"
	for db in db db2; do
		sqlite3 $db 'SELECT stackTrace FROM [EVENT_jdk.ObjectAllocationSample] ORDER BY time, event_number' |
		    sed 's/","/", "/g' | cmp - want
		[ "$(sqlite3 $db "SELECT sort FROM event_param WHERE ident = 'stackTrace' LIMIT 1")" = S ]
		sqlite3 $db 'SELECT count(*), count(stackTrace) FROM [EVENT_jdk.ThreadStart]'
	done >counts
	[ "$(sort -u counts | wc -l)" = 1 ]
	telcat -f json -e jdk.ThreadStart "$log" |
	    awk '/"stackTrace":\[/ { n++ } END { print NR "|" n + 0 }' | cmp - <(sort -u counts)
}

@test "expressions have the stack of every event that records one" {
	local log=$DATA/g1-17.jfr.zst
	telcat -f json "$log" | python3 -c '
import json, sys
n = 0
for line in sys.stdin:
    e = json.loads(line)
    stack = e["fields"].get("stackTrace")
    if stack is not None:
        n += any("Shop.work" in frame for frame in stack)
        if e["type"] == "jdk.JavaMonitorWait":
            print(";".join(reversed(stack)), e["fields"]["duration"])
print(n)' >want
	telfilter -c -w 'stack ~ "Shop.work"' "$log" | cmp - <(tail -n 1 want)
	[ "$(tail -n 1 want)" -gt 700 ]
	telcat -f csv -e jdk.JavaMonitorWait -F '(stack),.duration' "$log" |
	    python3 -c 'import csv, sys
for row in list(csv.reader(sys.stdin))[1:]: print(row[2], row[3])' |
	    cmp - <(sed '$d' want)
	[ "$(telfilter -c -w 'has(stack) && name == "jdk.CPULoad"' "$log")" = 0 ]
}

@test "pairs of an event that lasts by itself: the message names its field" {
	run -2 --separate-stderr telstat -s 'p=dur(jdk.GCPhasePause)' \
	    "$DATA/g1-17.jfr.zst"
	[[ $stderr == *"name a second type, or count its field 'duration'" ]]
}

@test "of stacks, text keeps the innermost frame" {
	local log=$DATA/g1-17.jfr.zst
	telcat -f folded "$log" | awk '{
		weight = $NF
		sub(/ [0-9]*$/, "")
		n = split($0, frames, ";")
		sums[frames[1] ";" frames[n]] += weight
	} END {
		for (name in sums)
			printf "%s %d\n", name, sums[name]
	}' | LC_ALL=C sort >want
	[ "$(wc -l <want)" -gt 5 ]
	telcat "$log" | telcat -f folded | LC_ALL=C sort | diff want -
	telcat "$log" | telstat --stacks | grep -q 'Shop.work:17'
}

@test "floats have the digits that they need" {
	telcat -H -e shop.Order "$DATA/g1-17.jfr.zst" >text
	grep -q ' f=0.1\| f=200 ' text
	run ! grep -q 'pc=0.5[0-9]' text
}

@test "telfilter writes .tel, and says so" {
	run -0 --separate-stderr telfilter -o gc.tel -e jdk.GarbageCollection \
	    "$DATA/serial-25.jfr.zst" "$DATA/serial-25.jfr.zst"
	[ "$stderr" = "telfilter: $DATA/serial-25.jfr.zst: its format is not written; the output is in the native format, .tel" ]
	run -0 --separate-stderr telfilter -q -z 3 -o gc.tel -e jdk.GarbageCollection \
	    "$DATA/serial-25.jfr.zst"
	[ "$stderr" = "" ]
	run -0 --separate-stderr telfilter -f tel -o packed.tel -e jdk.GarbageCollection \
	    "$DATA/serial-25.jfr.zst"
	[ "$stderr" = "" ]
	cmp <(telcat -H packed.tel) <(telcat -H gc.tel)
	telcat -H gc.tel >want
	cmp want <(telcat -H -e jdk.GarbageCollection "$DATA/serial-25.jfr.zst")
	for name in g1-17 serial-25 native-ap45; do
		telcat -f tel -o all.tel "$DATA/$name.jfr.zst"
		for format in text json csv; do
			cmp <(telcat -H -f $format "$DATA/$name.jfr.zst") \
			    <(telcat -H -f $format all.tel)
		done
		cmp <(telcat -f folded "$DATA/$name.jfr.zst") \
		    <(telcat -f folded all.tel)
	done
}

@test "native memory of async-profiler is allocations" {
	telcat -f folded "$DATA/native-ap45.jfr.zst" >folded
	grep -q 'libjvm.so.os::malloc;libasyncProfiler.so.malloc_hook [0-9]*$' folded
	telreplay --dry-run "$DATA/native-ap45.jfr.zst" >replay
	grep -q 'operations *13,858 malloc, 4,559 free' replay
	telreplay -q "$DATA/native-ap45.jfr.zst" >replay
	grep -q 'operations *13,858 malloc, 4,559 free' replay
	grep -q '^  glibc  *[0-9]' replay
}

@test "samples of stacks are added up, by weight" {
	telcat -f folded -e jdk.ObjectAllocationSample "$DATA/g1-17.jfr.zst" >folded
	[ "$(awk '{ n += $NF } END { print n }' folded)" = \
	    "$(telcat -f csv -e jdk.ObjectAllocationSample -F weight "$DATA/g1-17.jfr.zst" |
	    awk -F , 'NR > 1 { n += $3 } END { print n }')" ]
	# shellcheck disable=SC2016 # a name of Java
	grep -q 'Shop.lambda$main$0:11;Shop.work:17 [0-9]*$' folded
	telcat -f folded "$DATA/g1-17.jfr.zst" >folded
	[ "$(cut -d ';' -f 1 folded | sort -u | paste -sd ' ')" = \
	    'jdk.ExecutionSample jdk.NativeMethodSample jdk.ObjectAllocationSample' ]
}

@test "stacks of recordings one after the other are each their own" {
	local logs=("$DATA/g1-17.jfr.zst" "$DATA/serial-25.jfr.zst")
	for log in "${logs[@]}"; do
		telcat -f folded "$log"
	done | LC_ALL=C sort >want
	telcat --no-merge -f folded "${logs[@]}" | LC_ALL=C sort | diff want -
}

@test "what lasts and has a stack is below it" {
	local types=jdk.JavaMonitorWait,shop.Order
	telcat -f json -F '(name),stack,duration' -e $types "$DATA/g1-17.jfr.zst" |
	    python3 -c '
import collections, json, sys
lines = collections.Counter()
for line in sys.stdin:
    fields = json.loads(line)["fields"]
    lines[fields["stack"] + ";" + fields["(name)"]] += fields["duration"]
for line in sorted(lines):
    print(line, lines[line])' >want
	[ "$(wc -l <want)" -ge 4 ]
	telcat -f folded -e $types "$DATA/g1-17.jfr.zst" | diff want -
}

@test "every kind of value, structs, lists, and types that change" {
	python3 "$TEL_TOP/tests/bench/jfr_make.py" odd >odd.jfr
	telcat -H odd.jfr >text
	diff -u "$DATA/odd.text" text
	telcat -f tel -o odd.tel odd.jfr
	cmp text <(telcat -H odd.tel)
	telcat -f json odd.jfr >json
	cmp json <(telcat -f json odd.tel)
	python3 -c '
import json
events = [json.loads(line) for line in open("json")]
lists = [e["fields"] for e in events if e["type"] == "test.Lists"]
assert lists[0]["numbers"] == [1, -2, 3] and lists[1]["numbers"] == []
assert lists[0]["names"] == ["a \"b\"", ""]
assert lists[0]["floats"] == [0.5, 0.1]
structs = [e["fields"] for e in events if e["type"] == "test.Structs"]
assert structs[0]["box"]["corner"] == {"x": 1, "name": "c"}
all_ = [e["fields"] for e in events if e["type"] == "test.All"]
assert all_[0]["state"] is None and all_[1]["ever"] == str(-2**63)
'
	telcat -f csv -e test.Lists -F names,numbers odd.jfr >csv
	grep -q '"\["a \\""b\\""","""\]"\|"\[""a' csv
	telcat -f sqlite -o db -e test.Lists odd.jfr
	[ "$(sqlite3 db 'SELECT json_extract(numbers, "$[1]") FROM [EVENT_test.Lists] LIMIT 1')" = -2 ]
}

@test "the names of types of Oracle's JDK 9 and 10" {
	python3 - "$TEL_TOP/tests/bench" <<-'END'
		import sys
		sys.path.insert(0, sys.argv[1])
		import jfr_make as j
		of_now = j.BASE + [("jdk.ExecutionSample", 1000, j.EVENT, [
		    j.HEAD[0], ("sampledThread", j.THREAD, j.POOL), j.HEAD[3],
		    ("method", j.METHOD, j.POOL)])]
		was = [(name.replace("jdk.types.", "com.oracle.jfr.types.")
		        .replace("jdk.Ex", "com.oracle.jdk.Ex"), *rest)
		       for name, *rest in of_now]
		for path, kinds in ("now.jfr", of_now), ("was.jfr", was):
		    with open(path, "wb") as out:
		        out.write(j.chunk(kinds, j.event(1000, j.varint(5001) + b"\1\1\1"),
		                          [j.pools()]))
	END
	telcat -H was.jfr | grep 'ExecutionSample.*stackTrace=[0-9]*\["java/lang/String.charAt:15'
	for options in --types '-f json' '-f folded'; do
		# shellcheck disable=SC2086
		telcat $options now.jfr >now
		# shellcheck disable=SC2086
		telcat $options was.jfr | cmp now -
	done
}

@test "expressions of absent values, structs and lists" {
	python3 "$TEL_TOP/tests/bench/jfr_make.py" odd >odd.jfr
	while read -r want expression; do
		got=$(telcat -c -w "$expression" odd.jfr)
		[ "$got" = "$want" ] || { echo "$expression: $got, not $want"; return 1; }
	done <<-'END'
		7 has(t)
		1 t == ""
		2 has(.numbers)
		1 len(numbers) == 3
		1 len(names) == 2 && names[0] == 'a "b"'
		1 numbers[1] == -2
		0 numbers[3] == 1
		1 3 in numbers
		0 4 in numbers
		1 "Shop" in classes
		1 box.corner.x == 1
		1 point.x == -3 && box.corner.name == "c"
		1 has(state)
		1 eventThread.osThreadId == 4711
		14 !has(eventThread)
		1 0.5 in floats
	END
}

@test "expressions of members, and of what is absent, in a recording of a JVM" {
	unpack g1-17.json
	# as Python counts them in what the JDK's tool printed
	python3 - >want <<-'END'
		import json
		events = [e["values"] for e in json.load(open("g1-17.json"))["recording"]["events"]]
		def count(f):
		    n = 0
		    for e in events:
		        try:
		            n += bool(f(e))
		        except (IndexError, KeyError, TypeError):
		            pass
		    print(n)
		count(lambda e: e["heapSpace"]["committedSize"] > 1 << 20)
		count(lambda e: e["stackTrace"]["frames"])
		count(lambda e: e["n"] >= 0 and e["stackTrace"] is None)
		count(lambda e: e["eventThread"]["javaThreadId"] == 1)
		count(lambda e: e["eventThread"]["javaName"][:6] == "worker")
		count(lambda e: e["objectClass"]["name"] in ("[B", "[I"))
		count(lambda e: e["stackTrace"]["frames"][0]["method"]["name"] == "work")
		count(lambda e: len(e["cause"]) == 19)
	END
	while read -r expression; do
		telcat -q -c -w "$expression" "$DATA/g1-17.jfr.zst"
	done >got <<-'END'
		heapSpace.committedSize > 1M
		has(stackTrace)
		n >= 0 && !has(stackTrace)
		eventThread.javaThreadId == 1
		eventThread =* "worker*"
		objectClass in ("[B", "[I")
		label(stackTrace) ~ '[.]work(:|$)'
		len(cause) == 19
	END
	diff want got
	run ! grep -qx 0 want
}

@test "scales of time, structs in structs, and limits of metadata" {
	python3 "$TEL_TOP/tests/cli/jfr_limits.py" "$TEL_TOP/tests/bench" >want
	exits 3 telcat --no-merge v*.jfr d*.jfr 2>messages |
	    grep '^# type\|^[^#]' | diff -u want -
	[ "$(grep -c ' an event .*; some of its fields are missing$' messages)" = 5 ]
	run ! grep '^telcat: v' messages
	run -1 --separate-stderr telcat -c i*.jfr
	[ "$output" = 0 ]
	[ "$(grep -c ': the metadata are invalid; ' <<<"$stderr")" = 10 ]
	# a later major version
	printf '\003' | dd of=v00.jfr bs=1 seek=5 conv=notrunc status=none
	run -1 --separate-stderr telcat --as jfr -c v00.jfr
	[[ $stderr == *'v00.jfr: the recording has version 3.1; versions 1 and 2 are'* ]]
	run -1 --separate-stderr telcat -c v00.jfr
	[[ $stderr == *'(--force reads on)' ]]
}

@test "--force reads chunks of a later major version" {
	unpack serial-25.jfr
	telcat -q -H serial-25.jfr >want
	cp serial-25.jfr new.jfr
	printf '\003' | dd of=new.jfr bs=1 seek=5 conv=notrunc status=none
	run -0 --separate-stderr telcat --force -H new.jfr
	[ "$output" = "$(<want)" ]
	[ "${#stderr_lines[@]}" = 1 ]
	[[ $stderr == *'has version 3.1 and is read as version 2' ]]
	# also behind one of a known version, where it is damage without the option
	cat serial-25.jfr new.jfr new.jfr >three.jfr
	[ "$(telcat --force -c three.jfr 2>messages)" = $((3 * $(wc -l <want))) ]
	[ "$(wc -l <messages)" = 1 ]
	[ "$(exits 3 telcat -q -c three.jfr)" = "$(wc -l <want)" ]
}

@test "chunks of which the header, the metadata or many events are odd" {
	python3 - "$TEL_TOP/tests/bench" <<-'END'
		import struct
		import sys
		sys.path.insert(0, sys.argv[1])
		import jfr_make as j
		V = j.varint
		def at(i, rest=b"\7"):
		    return j.event(1000, V(5000 + i) + rest)
		def write(name, *chunks):
		    with open(name, "wb") as f:
		        f.write(b"".join(chunks))
		def kinds(fields, base=j.BASE):
		    return base + [("test.E", 1000, j.EVENT, fields)]
		ONE = kinds([j.HEAD[0], ("x", j.INT, {})])
		write("run.jfr", j.chunk(ONE, b"".join(
		    at(i, b"\7" if i in (0, 4) else b"") for i in range(6)), [[]]))
		# metadata behind the header, others that are invalid at the end
		events = at(1) + at(2)
		c = j.chunk(ONE, events, [])
		body = c[68 + len(events):] + events + j.event(0, b"\0\0\1\xff")
		write("first.jfr", c[:8] + struct.pack(
		    ">QQQ", 68 + len(body), 0, 68) + c[32:68] + body)
		# a size that is too large
		write("large.jfr", c[:8] + struct.pack(">Q", (1 << 30) + 1) + c[16:],
		      j.chunk(ONE, at(3), []))
		# frames without methods, and with what is none
		for name, fields in (("none", []), ("class", [("method", j.SYMBOL, j.POOL)]),
		                     ("value", [("method", j.METHOD, {})])):
		    base = [("jdk.types.StackFrame", j.FRAME, None, fields + [("line", j.INT, {})])
		            if c[1] == j.FRAME else c for c in j.BASE]
		    frame = V(101) * (3 if name == "value" else len(fields))
		    stack = j.pool(j.STACK, [(1, b"\0" + V(1) + frame + V(15))])
		    write("%s.jfr" % name, j.chunk(
		        kinds([j.HEAD[0], j.HEAD[3], ("x", j.INT, {})], base),
		        at(1, V(1) + V(7)), [j.pools()[:3] + [stack]]))
	END
	# each event that does not end is reported, at its own place
	exits 3 telcat -H run.jfr 2>messages >text
	[ "$(sed 's/.* //' text | paste -sd ' ')" = 'x=7 x=0 x=0 x=0 x=7 x=0' ]
	[ "$(sed -n 's/.*offset \([0-9]*\): an event whose .* fields are missing$/\1/p' messages |
	    paste -sd ' ')" = '74 79 84 95' ]
	[ "$(telcat -H first.jfr | sed 's/.* //' | paste -sd ' ')" = 'x=7 x=7' ]
	exits 3 telcat -H large.jfr 2>messages >text
	[ "$(wc -l <text)" = 3 ]
	run ! grep 'a chunk ends after' messages
	grep -q 'large.jfr: 1 damaged place, 0 bytes skipped' messages
	for name in none class value; do
		[ "$(telcat -H $name.jfr)" = '17979CFE362A0001 test.E x=7' ]
	done
}

@test "chunks of which bytes are wrong cost themselves" {
	unpack g1-17.jfr serial-25.jfr
	cat g1-17.jfr serial-25.jfr g1-17.jfr >three.jfr
	# of the second: its magic, its size, its metadata, an event
	for at in 0 10 9260 100000; do
		cp three.jfr bad.jfr
		printf '\377' | dd of=bad.jfr bs=1 seek=$((314965 + at)) conv=notrunc status=none
		exits 3 telcat -H bad.jfr 2>messages >text
		[ -s messages ]
		[ "$(wc -l <text)" -ge $((2 * 7468)) ]
	done
}

@test "the report answers: pauses, heap, allocation, as a model has them" {
	local name
	for name in g1-17 serial-25; do
		unpack $name.json $name.jfr
		telstat -f json $name.jfr >report
		python3 "$TEL_TOP/tests/cli/jfr_report.py" $name.json <report
		cmp report <(telstat -f json <$name.jfr)
		diff -u <(answers <report) \
		    <(telstat -f json "$DATA/$name.jfr.zst" | answers)
		telcat -f tel -o $name.tel $name.jfr
		diff -u <(answers <report) <(telstat -f json $name.tel | answers)
	done
	telstat g1-17.jfr >text
	grep -q '^GC      pauses 10  total 308.627242 ms  p50' text
	grep -q '^89.676888 ms  822.558136 ms  GC Pause  G1New ' text
	grep -q '^memory  allocated 150,101,120 (143.1 MiB)  124.8 MiB/s' text
	# what was read of two runtimes, one by one or joined, is not mixed up
	cat g1-17.jfr serial-25.jfr >both.jfr
	for run in 'both.jfr' 'g1-17.jfr serial-25.jfr' '-j 2 g1-17.jfr serial-25.jfr'; do
		# shellcheck disable=SC2086 # options
		telstat -f json $run >report
		[ "$(grep -c '"type":"collection"' report)" = 25 ]
		grep -q '"type":"pauses","count":25,"total_ns":743166544,' report
		grep '"duration_ns":87064608' report | grep -q '"collector":"DefNew"'
		grep '"duration_ns":89676888' report | grep -q '"collector":"G1New"'
	done
	# nor those of which events alternate
	telcat -f tel -o 3.tel serial-25.jfr serial-25.jfr serial-25.jfr
	telstat -f json 3.tel | grep '"type":"collection"' | sort | uniq -c |
	    sed -n 's/^ *3 //p' >three
	telstat -f json serial-25.jfr | grep '"type":"collection"' | cmp - three
	telstat -q "$DATA/killed-25.jfr.zst" >text
	grep -q '^GC      pauses 315 ' text
	grep -q '^Collections: the last 10 of 315' text
}

@test "the report has no times and sizes of what is not selected" {
	unpack g1-17.jfr
	telstat -e jdk.GarbageCollection g1-17.jfr >text
	grep -q '^ *at  collector  cause$' text
	grep -q '^ *0 ns  G1New  ' text
	telstat -f json -e jdk.GarbageCollection g1-17.jfr >json
	grep -q '"type":"collection","time_ns":0,"collector"' json
	run ! grep 'paused_ns' json
	telstat -f json -e jdk.GarbageCollection,jdk.GCPhasePause g1-17.jfr |
	    grep -q '"time_ns":0,"paused_ns":20020731,"collector"'
}

@test "samples of allocations by stack and by class" {
	telstat --stacks -f csv "$DATA/g1-17.jfr.zst" >csv
	[ "$(awk -F , '$3 == "stack" && $4 == "allocated_bytes" { n += $8 } END { print n }' csv)" = 150101120 ]
	telstat --blocks=objectClass "$DATA/g1-17.jfr.zst" >text
	grep -q '^Blocks by objectClass, in order of allocated bytes:  9$' text
	grep -q '^all  allocated 150,101,120 bytes in 360 blocks$' text
	run ! grep -q leaked text
	# native memory is blocks, although there could be samples
	telstat --stacks "$DATA/native-ap45.jfr.zst" | grep -q '^all  leaked 2,756,295 bytes'
}

@test "pauses are ranges, and gauges curves, in timelines" {
	telcat -f chrome -o chrome.json "$DATA/g1-17.jfr.zst"
	telcat -f json "$DATA/g1-17.jfr.zst" >events
	python3 -c '
import json
events = json.load(open("chrome.json"))
events = events.get("traceEvents", events) if isinstance(events, dict) else events
ours = [json.loads(line) for line in open("events")]
first = min(int(e["clock"]) for e in ours)
def of(name):
    return [(int(e["clock"]) - first, e["fields"]) for e in ours if e["type"] == name]
ranges = [(round(e["ts"] * 1000), round(e["dur"] * 1000)) for e in events
          if e["ph"] == "X" and e["name"] == "jdk.GCPhasePause"]
assert ranges == [(at, f["duration"]) for at, f in of("jdk.GCPhasePause")], ranges
counters = {}
for e in events:
    if e["ph"] == "C":
        counters.setdefault(e["name"], []).append((round(e["ts"] * 1000), e["args"]["value"]))
assert counters["jdk.GCHeapSummary heapUsed"] == [
    (at, f["heapUsed"]) for at, f in of("jdk.GCHeapSummary")]
assert counters["jdk.MetaspaceSummary metaspace.used"] == [
    (at, f["metaspace"]["used"]) for at, f in of("jdk.MetaspaceSummary")]
assert counters["jdk.CPULoad machineTotal %"] == [
    (at, round(f["machineTotal"] * 100)) for at, f in of("jdk.CPULoad")]
assert not [name for name in counters if "ThreadId" in name]
'
	telcat -f perfetto -o trace "$DATA/g1-17.jfr.zst"
	grep -aq 'jdk.GCHeapSummary heapUsed' trace
	# through .tel they are the same
	telcat -f tel -o all.tel "$DATA/g1-17.jfr.zst"
	cmp <(telcat -f chrome all.tel | tail -n +3) <(tail -n +3 chrome.json)
}

@test "flipped bits and cuts cost their chunk at most, and are counted" {
	local rounds=5
	[ -z "${TEST_WHOLE-}" ] || rounds=200
	unpack g1-17.jfr serial-25.jfr killed-25.jfr native-ap45.jfr
	python3 "$TEL_TOP/tests/cli/jfr_damage.py" serial-25.jfr g1-17.jfr \
	    $rounds 1 {g1-17,serial-25,killed-25,native-ap45}.jfr
}

@test "recordings that would cost much more than their bytes" {
	local name whole=(names strings twice list fields)
	local damaged=(structs clocks checkpoints headers ends)
	python3 "$TEL_TOP/tests/cli/jfr_hostile.py" "$TEL_TOP/tests/bench" \
	    "${whole[@]}" "${damaged[@]}"
	for name in "${whole[@]}"; do
		clean bash -c "ulimit -t 5 -s 1024; exec telcat -H $name.jfr" >"$name"
	done
	[ "$(cut -d ' ' -f 2- names strings twice)" = $'test.E\ntest.E\ntest.E' ]
	[ "$(tr ' ' '\n' <list | grep -c '^l\.f[0-9]*=\[7]$')" = 250 ]
	for name in "${damaged[@]}"; do
		exits 3 bash -c "ulimit -t 5; exec telcat -q -H $name.jfr" >"$name"
	done
	[ "$(wc -l <clocks)" = 60000 ]
	[ "$(cut -d ' ' -f 3- headers)" = x=7 ]
	[ "$(cut -d ' ' -f 2- ends)" = test.E ]
}

@test "recordings of many chunks cost no more than their bytes" {
	whole_only
	local name count
	python3 "$TEL_TOP/tests/cli/jfr_hostile.py" "$TEL_TOP/tests/bench" \
	    tiny cut abreast layouts
	while read -r name count; do
		clean bash -c "ulimit -t 5; exec telcat -H $name.jfr" >all
		[ "$(wc -l <all)" = "$count" ]
	done <<-'END'
		tiny 40000
		abreast 1200000
		layouts 25000
	END
	# memory does not grow with the log behind a chunk that was cut
	case ${CFLAGS-} in *-fsanitize*) return ;; esac
	python3 - <<-'END'
		import resource
		import subprocess
		done = subprocess.run(["telcat", "-q", "-c", "cut.jfr"], stdout=subprocess.PIPE)
		assert (done.returncode, done.stdout) == (3, b"12000000\n"), done
		most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
		assert most < 50000, most
	END
}

@test "events of chunks that are between each other's" {
	python3 "$TEL_TOP/tests/cli/jfr_hostile.py" "$TEL_TOP/tests/bench" between
	[ "$(telcat -c between.jfr)" = 6000 ]
	telcat -f tel between.jfr | telcat - >got
	telcat between.jfr | grep -v '^# \(format\|log\)' >want
	diff want <(grep -v '^# \(format\|log\)' got)
}
