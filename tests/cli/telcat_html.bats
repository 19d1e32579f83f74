#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# telcat -f html: the page, read as its script does by tests/page/read_page.py.

load page

# The events of a page are those of telcat's JSON, as text: a page has no clocks.
compare() { # PAGE LOG ...
	local page=$1
	shift
	telcat -q --live -f json "$@" >events.json
	compare_with "$page" events.json <<-'END'
		types = page.head["types"]
		got = sorted(json.dumps([types[e["type"]]["name"], types[e["type"]]["kind"],
		                         e["fields"], e["labels"]]) for e in page.events())
		want = sorted(json.dumps([e["type"], e["kind"], e["fields"],
		                          e.get("labels", {})]) for e in events)
		assert want and got == want, [x for x in zip(got, want) if x[0] != x[1]][:1]
	END
}

@test "a page has all events of a log, value by value" {
	local log
	for log in "$MPS"/1.118.0-lii6gc-awlut.log.zst \
	    "$MPS"/1.112.0-lii3gc-amcss.log.zst \
	    "$TEL_TOP"/tests/data/alloc/perl.heaptrack.zst \
	    "$TEL_TOP"/tests/data/hpm/v3be/HPM.1.startup \
	    "$TEL_TOP"/tests/data/stat/classes.inst; do
		echo "$log"
		telcat -q -f html "$log" >page.html
		page check page.html
		compare page.html "$log"
	done
}

@test "sums over time count what telstat counts" {
	telcat -q -f html "$MPS/1.118.0-lii6gc-awlut.log.zst" >page.html
	page counts page.html | awk '{ print $2, $3 }' | sort >page.counts
	telstat -q -f csv "$MPS/1.118.0-lii6gc-awlut.log.zst" |
	    awk -F, '$3 == "type" && $4 == "events" { print $7, $8 }' |
	    sort | cmp - page.counts
}

# Names of the tracks of a page that have a member, and its value.
tracks() { # MEMBER PAGE
	page head "$2" | python3 -c '
import json, sys
for t in json.load(sys.stdin)["tracks"]:
    if sys.argv[1] in t:
        print(t["name"] + ":", t[sys.argv[1]])
' "$1" | sort -u
}

@test "the counter of cycles is told by what it counts" {
	telcat -q -f html "$TEL_TOP"/tests/data/hpm/v3be/HPM.1.startup >page.html
	[ "$(tracks cycles page.html)" = "PM_CYC: True" ]
	cat >log <<-'END'
		# teltools text 1
		# type: Period 0 Work cpu:unsigned duration:unsigned WORK_CYC:unsigned PM_CYC_GRP3:unsigned
		0000000000000010 Period cpu=1 duration=5 WORK_CYC=7 PM_CYC_GRP3=9
		0000000000000020 Period cpu=1 duration=5 WORK_CYC=9 PM_CYC_GRP3=14
	END
	telcat -q -f html log >page.html
	page head page.html | grep -q WORK_CYC
	[ "$(tracks cycles page.html)" = "PM_CYC_GRP3: True" ]
}

@test "counters have the units of their fields" {
	telcat -q -f html "$TEL_TOP"/tests/data/jfr/g1-17.jfr.zst >page.html
	tracks unit page.html >units
	grep -qx 'jdk.GCHeapSummary heapUsed: bytes' units
	grep -qx 'jdk.MetaspaceSummary metaspace.used: bytes' units
	run ! grep -q % units
}

@test "numbers of a text by hand are shown as numbers, but for those that identify" {
	printf '%s\n' '# teltools text 1' '# tick rate: 1000000000' \
	    '# type: Take 1 K size:unsigned next:signed pid:unsigned' \
	    '0000000000000001 Take size=4096 next=-7 pid=12' >log.text
	telcat -q -f html log.text >page.html
	page head page.html | python3 -c '
import json, sys
[type] = json.load(sys.stdin)["types"]
assert {f["name"]: f.get("unit") for f in type["fields"]} == {
    "size": None, "next": None, "pid": "id"}, type
'
}

@test "the page of a pipe says where it comes from" {
	printf '# teltools text 1\n0000000000000001 a\n' | telcat -f html >page
	grep -q '<title>standard input</title>' page
}

@test "a list of a log is text on its page" {
	printf '%s\n' '# teltools text 1' '# tick rate: 1000000000' \
	    '# type: T 1 K l:list:unsigned m?:list:string n:unsigned' \
	    '0000000000000001 T l=[1,2,3] m=["x","y"] n=7' \
	    '0000000000000002 T l=[] n=8' >log.text
	telcat -q -f html log.text >page.html
	page events page.html | jq -c .fields | diff - <(
		printf '%s\n' '{"l":"[1,2,3]","m":"[\"x\",\"y\"]","n":7}' \
		    '{"l":"[]","m":null,"n":8}'
	)
}

@test "a page of a collector is made whatever the clocks are" {
	printf '%s\n' '# teltools text 1' '# format: mps-1.118.0/lii6gc' \
	    '0000000000000001 PoolAlloc pool=0x1 pReturn=0x10 size=40' \
	    'FFFFFFFFFFFFFFFF PoolAlloc pool=0x1 pReturn=0x20 size=40' >log.text
	run -0 timeout 5 telcat -q -f html -o page.html log.text
	page head page.html | jq -c '.collector.mutator | length' >got
	[ "$(<got)" = 49 ]
}

@test "the events of very many threads are all counted" {
	# ranges, their ends and other events, of more threads and types than series
	python3 - <<-'END' >threads.txt
		print("# teltools text 1\n# tick rate: 1000000000")
		for t in range(4):
		    print(f"# type: T{t} {t} k tid:unsigned")
		print("# type: S 4 k id:unsigned tid:unsigned\n# type: F 5 k id:unsigned")
		print("# role: S start F id\n# role: F finish id")
		for i in range(3000):
		    for t in range(4):
		        print(f"{100 * i + t:016X} T{t} tid={i}")
		    print(f"{100 * i + 9:016X} S id={i} tid={i}")
		    print(f"{100 * i + 10:016X} F id={i}")
	END
	telcat -q -f html -o page.html threads.txt
	page check page.html
	page counts page.html | sort >got
	printf 'k %s 3000\n' F S T0 T1 T2 T3 | cmp - got
}

@test "a collection has the numbers of its own log" {
	local numbers='[.collector.collections.list[][2] | length]'
	zstd -dqo a.log "$MPS/1.118.0-lii6ll-finalcv.log.zst"
	# as of two processes that forked: with the same addresses
	cp a.log b.log
	telcat -q -f html -o one.html a.log
	telcat -q -f html -o two.html a.log b.log
	page head one.html | jq -c "$numbers | . + . | sort" >want
	page head two.html | jq -c "$numbers | sort" | cmp want -
}

# A log of 5 copies of another one, each later than the one before.
grow() { # LOG
	python3 - "$1" <<'END'
import array, sys
words = array.array("Q", open(sys.argv[1], "rb").read())
clocks, at = [], 0
while at + 2 <= len(words):
    clocks.append(at + 1)
    at += (words[at] >> 16 & 0xffff) + 7 >> 3
span = max(words[i] for i in clocks) - min(words[i] for i in clocks) + 1000
sys.stdout.buffer.write(words)
for _ in range(4):
    for i in clocks:
        words[i] += span
    sys.stdout.buffer.write(memoryview(words)[clocks[1] - 1:])
END
}

# Two pages of a log have the same sums, and one of them few exact events.
compare_sums() { # LOG
	telcat -q -f html --max-size 64M "$1" >all.html
	telcat -q -f html --max-size 138k "$1" >few.html
	page check few.html
	python3 - "$TEL_TOP/tests/page" all.html few.html <<'END'
import sys
sys.path.insert(0, sys.argv[1])
from read_page import Page

def sums(page):
    """Of each series what does not depend on how wide its buckets are."""
    paths = page.paths()
    return {
        (paths[s["track"]], s["type"], s.get("row")): (
            sum(c["count"]), sum(c.get("busy", [])),
            min(c.get("min", [0])), max(c.get("max", [0])),
            c.get("last", [0])[-1])
        for s, c in page.series()}

def exact(page):
    return {(e["type"], e["time"], e["track"], e["length"], e["name"],
             repr(e["fields"]), repr(e["labels"])) for e in page.events()}

whole, part = (Page(name) for name in sys.argv[2:])
assert whole.head["exact"] == whole.head["events"] == part.head["events"]
assert part.head["exact"] < part.head["events"] / 2, part.head["exact"]
a, b = sums(whole), sums(part)
assert len(a) > 10 and a == b, [(k, a.get(k), b.get(k)) for k in {*a, *b}
                                if a.get(k) != b.get(k)]
assert exact(part) <= exact(whole)
END
	page counts few.html | awk '{ print $2, $3 }' | sort >page.counts
	telstat -q -f csv "$1" |
	    awk -F, '$3 == "type" && $4 == "events" { print $7, $8 }' |
	    sort | cmp - page.counts
}

@test "what is in a page as sums only is counted as what is exact is" {
	zstd -dcq "$MPS/1.118.0-lii6gc-awlut.log.zst" >once
	if [ "$(od -An -tu2 -N2 once | tr -d ' ')" != 29 ]; then
		skip "the log is not of this machine's byte order"
	fi
	grow once >log
	compare_sums log
}

@test "so it is for threads, messages and processors" {
	# numbers that do not compress, again and again: the clock goes back, too
	python3 - "$TEL_TOP/tests/bench" "$TEL_BUILD/tests/test_ets" <<'END'
import random, subprocess, sys
sys.path.insert(0, sys.argv[1])
import bench
draw = random.Random(1).randrange
with open("boot.txt", "w", encoding="ascii") as out:
    print("speed 1000000000\nprocess 1 Kernel\nprocess 5 Keyboard\n"
          "thread 0x1c 1\nthread 0x6c 5", file=out)
    for i in range(2000):
        at, cpu = 6544408122900 + i * 1000, i % 2
        for more, what in (
                (0, f"0x1c 1 {cpu} 8 7 67 {300 + i % 3} 1"),
                (10, f"0x1c 1 {cpu} 21 2 {draw(2**31)} {draw(2**31)} 1 {i}"),
                (50, f"0x1c 1 {cpu} 20 3 0x6c"),
                (70, f"0x6c 5 {cpu} 8 6 67 {300 + i % 3} 1"),
                (90, f"0x6c 5 {cpu} 21 2 {draw(2**31)} {draw(2**31)} 1 {i}"),
                (99, f"0x6c 5 {cpu} 30 2 14")):
            print("event", at + more + draw(9), hex(draw(2**31)), what, file=out)
subprocess.run([sys.argv[2], "--make", "boot.txt", "boot.ets"], check=True)
with open("boot.ets", "rb") as file:
    seed = file.read()
bench.grow_ets(seed, "boots.ets", 3 * len(seed))
END
	compare_sums boots.ets
}

@test "a page is the same of a log, of its text and of a .tel of it" {
	local log
	# readers find one event at a time, or many
	for log in mps/1.118.0-lii6gc-awlut.log.zst mps/1.111.0-lii6gc-amcss.log.zst \
	    alloc/gcc.heaptrack.zst hpm/v3be/HPM.1.startup; do
		telcat -q "$TEL_TOP/tests/data/$log" >log.text
		telcat -q -f tel "$TEL_TOP/tests/data/$log" >log.tel
		telcat -q -f html "$TEL_TOP/tests/data/$log" >log.html
		telcat -q -f html log.text >text.html
		telcat -q -f html log.tel >tel.html
		python3 - "$TEL_TOP/tests/page" log.html text.html tel.html \
		    "$log" <<'END'
import sys
from collections import Counter
sys.path.insert(0, sys.argv[1])
from read_page import Page

def contents(page):
    paths, types = page.paths(), page.head["types"] + [{"name": ""}]
    series = sorted(repr((
        paths[s["track"]][1:], types[s["type"]]["name"], s.get("row"),
        s["width"], columns)) for s, columns in page.series())
    events = sorted(repr((
        types[e["type"]]["name"], e["time"], paths[e["track"]][1:],
        e["length"], e["name"], e["fields"], e["labels"])) for e in page.events())
    memory = "memory" in page.head and [page.head["memory"], page.memory()]
    collector = page.head.get("collector", {"collections": {"list": []},
                                            "columns": []})
    collector["columns"] = [f'{types[t]["name"]} {types[t]["fields"][f]["name"]}'
                            for t, f in collector["columns"]]
    for what in ("collections", "pauses"):
        of = collector.get(what, {"list": []})
        lengths = [entry[1] for entry in of["list"]]
        assert len(lengths) == of.get("count", 0), of
        assert sum(lengths) == of.get("total", 0), of
        rows = Counter(length.bit_length() for length in lengths)
        assert sorted(rows.items()) == [(*row,) for row in of.get("rows", [])]
    for entry in collector["collections"]["list"]:
        entry[2] = sorted([types[f[0]]["name"], *f[1:]] for f in entry[2])
    sizes = sorted((t["name"], f["name"]) for t in types
                   for f in t.get("fields", []) if f.get("unit") == "bytes")
    return (series, events, memory, page.head["span"], page.head["unit"],
            collector, sizes)

log, text, tel = (contents(Page(name)) for name in sys.argv[2:5])
assert len(log[0]) > 4 and len(log[1]) > 4
# what the format says of its events
if "1.118" in sys.argv[5]:
    assert ("TraceStart", "condemned") in log[6], log[6]
    assert sorted(log[5]["columns"]) == [
        "TraceEndGen mortalityTrace", "TraceStart condemned",
        "TraceStart mortality", "TraceStatFix forwardedSize",
        "TraceStatFix preservedInPlaceSize",
        "TraceStatReclaim reclaimSize"], log[5]["columns"]
    for _, length, _, phases in log[5]["collections"]["list"]:
        assert [p[0] for p in phases] == ["condemn", "flip", "scan", "reclaim"]
        assert all(a[1] + a[2] <= b[1] for a, b in zip(phases, phases[1:]))
        assert phases[-1][1] + phases[-1][2] <= length
for other in text, tel:
    for a, b in zip(log, other):
        assert a == b, (sys.argv[2:], [x for x in zip(a, b) if x[0] != x[1]][:1])
END
	done
}

@test "the thread of an allocation is what its role says" {
	cat >role.txt <<-'END'
		# teltools text 1
		# format: toy-1
		# version: 1
		# type: grab 1 A where:address n:unsigned who:unsigned
		# role: grab alloc where n thread=who
		0000000000000010 grab where=0x1000 n=5 who=7
		0000000000000020 grab where=0x2000 n=5 who=9
	END
	telcat -q -f html role.txt >page.html
	tracks name page.html | grep -x 'thread [79]: thread [79]' >threads
	[ "$(wc -l <threads)" = 2 ]
}

@test "pools are below their arena, threads below their process" {
	local log=$MPS/1.118.0-lii6gc-awlut.log.zst
	telcat -q -f html "$log" >page.html
	page check page.html
	telcat -q --live -f json "$log" >log.json
	compare_with page.html log.json <<'END'
arenas = {e["fields"]["pool"]: e["fields"]["arena"] for e in events
          if e["type"] == "PoolInit"}
got = {path[-1].split()[-1]: path[-2] for path in paths.values()
       if path and path[-1].startswith("live bytes of ")}
assert len(got) > 3 and got == {
    pool: "arena " + arenas[pool] for pool in got}, (got, arenas)
assert [p[-2] for p in paths.values() if p and p[-1] == "Arena bytes"] == \
    ["arena " + next(iter(arenas.values()))], paths
END
	make_boot
	compare_with page.html boot.json <<'END'
threads = {f'thread {e["fields"]["tid"]}': " ".join(
    ["process", str(e["fields"]["pid"]), *e.get("labels", {}).get("pid", "")
     .split()]) for e in events if "pid" in e["fields"]}
got = {" ".join(path[-1].split()[:2]): path[-2] for path in paths.values()
       if path and path[-1].startswith("thread ") and
       path[-1].split()[1].isdigit()}
assert len(got) > 1 and got == {t: threads[t] for t in got}, (got, threads)
END
}

@test "a pool with a long label, of a type with a long name, has a track" {
	local class label
	class=$(printf 'c%.0s' {1..250})
	label=$(printf 'l%.0s' {1..250})
	cat >pools.txt <<-END
		# teltools text 1
		# tick rate: 1000000000
		# type: Make 1 K pool:address
		# type: Make$class 2 K pool:address
		# type: SegAlloc 3 K base:address size:unsigned pool:address
		# type: SegFree 4 K base:address size:unsigned pool:address
		# role: Make create-pool pool=pool
		# role: Make$class create-pool pool=pool
		0000000000000001 Make$class pool=0x1000
		0000000000000002 SegAlloc base=0x2000 size=64 pool=0x1000["$label"]
	END
	telcat -q -f html pools.txt >page.html
	page check page.html
	telcat -q -f json pools.txt >pools.json
	compare_with page.html pools.json <<-'END'
		names = [p[-1] for p in paths.values() if p]
		want = "Seg bytes of " + 128 * "c" + " " + 250 * "l" + " 0x1000"
		assert want in names, names
	END
}

@test "a page is never larger than --max-size" {
	local size
	for _ in 1 2 3; do
		zstd -dcq "$MPS/1.118.0-lii6gc-awlut.log.zst"
	done >log
	for size in $(printf '%s\n' 131072 200000 262144 300001 1048576 8388608 |
	    sample 2); do
		telcat -q -f html --max-size "$size" log >page.html
		echo "$size: $(wc -c <page.html)"
		[ "$(wc -c <page.html)" -le "$size" ]
		page check page.html
	done
}

@test "where a page has many names they are cut, to whole characters" {
	local size least
	python3 - >names.txt <<'END'
import random
draw = random.Random(1)
print("# teltools text 1\n# tick rate: 1000000000")
events = []
for i in range(1500):
    label = "".join(chr(draw.choice((97, 0xa1, 0x4e00, 0x10300)) +
                        draw.randrange(24)) for _ in range(60))
    one = [f"{c}{draw.getrandbits(60):x}" for c in "TKf"]
    print(f"# type: {one[0]} {i} {one[1]} tid:address {one[2]}:unsigned")
    events.append(f'{i:016X} {one[0]} tid=0x{i:x}["' + "".join(
        f"\\x{b:02x}" for b in label.encode()) + f'"] {one[2]}=1')
print(*events, sep="\n")
END
	telcat -q -f json names.txt >names.json
	telcat -q -f html -n 0 names.txt >page.html
	least=$(wc -c <page.html)
	for size in 44000 76000 106000 136000 281000; do
		size=$((least + size))
		telcat -q -f html --max-size "$size" names.txt >page.html
		[ "$(wc -c <page.html)" -le "$size" ]
		page check page.html
		compare_with page.html names.json <<'END'
import bisect
names = sorted({"names.txt"} | {e["type"] for e in events} | {
    f"thread {int(e['fields']['tid'], 16)} {e['labels']['tid']}"
    for e in events})
got = [t["name"] for t in page.head["tracks"] + page.head["types"]]
longest = max(len(n.encode()) for n in got)
print(longest)
for name in got:
    whole = names[bisect.bisect_left(names, name)]
    assert whole.startswith(name) and (
        whole == name or len(name.encode()) > longest - 4), name
END
	done >cuts
	[ "$(sed 's/^6[1-4]$/64/; s/^2[1-4]$/24/; s/^[1-5]..$/whole/' cuts | xargs)" = "0 8 24 64 whole" ]
	expect 1 'telcat: names.txt: the page needs more than 131072 bytes' \
	    telcat -q -f html --max-size 128K names.txt
}

@test "of more than 4096 types, those past them are counted as the last one" {
	python3 - <<'END'
for n in 0, 1500, 1501:
    with open(f"{n}.txt", "w", encoding="ascii") as file:
        print("# teltools text 1", file=file)
        for i in range(n, n + 3000):
            print(f"# type: T{i} {i} K a:unsigned", file=file)
        for i in range(n, n + 3000):
            print(f"{i:016X} T{i} a=1", file=file)
END
	telcat -q -f html 0.txt 1500.txt 1501.txt >page.html
	page check page.html
	page counts page.html | awk '{ print $3 }' | sort | uniq -c | sort -n >got
	diff got - <<-END
		      1 811
		   1096 2
		   1499 3
		   1500 1
	END
	# their bytes are not taken for fields of the type that stands for them
	page head page.html >head.json
	jq -c '.types | [(.[:-1] | all(.fields | length == 1)), .[-1].fields]' \
	    head.json >got
	[ "$(<got)" = '[true,[]]' ]
}

@test "numbers of a page and of a table have a point in any locale" {
	localedef -i de_DE -f UTF-8 ./de_DE.UTF-8 || skip "no locale with a comma"
	cat >german.c <<-'END'
		#include <locale.h>
		__attribute__((constructor)) static void
		german(void)
		{
			if (setlocale(LC_ALL, "de_DE.UTF-8") == 0)
				__builtin_abort();
		}
	END
	${CC:-cc} -shared -fPIC -o german.so german.c
	for format in html arrow; do
		telcat -q -f "$format" "$MPS/1.118.0-lii6gc-awlut.log.zst" >want
		LOCPATH=$PWD LD_PRELOAD=./german.so telcat -q -f "$format" \
		    "$MPS/1.118.0-lii6gc-awlut.log.zst" | cmp - want
	done
}

@test "a page of no events" {
	telcat -q -f html -w 'size == 12345' -e PoolAlloc \
	    "$MPS/1.118.0-lii6gc-poolncv.log.zst" >page.html
	page check page.html
	page head page.html >head.json
	grep -q '"events": 0,' head.json
}

# A log of text with strings that a page must not take as its own.
hostile() {
	python3 - <<'END'
names = ["</script><script>alert(1)</script>", "<!--<script>", "&amp;<b>",
         "a\\xe2\\x80\\xaeb", "\\xff\\xfe\\x01", "]]>", "'\\\"", "x" * 250000]
print("# teltools text 1")
print("# type: Say 1 Kind size:unsigned text:string")
for i, name in enumerate(names):
    print(f'{i * 10:016X} Say size={i} text="{name}"')
END
}

@test "strings of a log are not part of the page's HTML" {
	hostile >'<b>&<script>.log'
	telcat -q -f html '<b>&<script>.log' >page.html
	page check page.html
	page events page.html >list
	grep -q '</script><script>alert(1)' list
	run ! grep -q 'alert(1)' page.html
	[ "$(wc -c <page.html)" -lt 300000 ]
}

@test "a page of a damaged log is whole" {
	zstd -dcq "$MPS/1.118.0-lii6gc-awlut.log.zst" >whole
	head -c 500001 whole >cut.log
	{
		head -c 300000 whole
		head -c 1000 /dev/zero | tr '\0' '\377'
		tail -c +300001 whole
	} >damaged.log
	exits 3 telcat -q -f html cut.log >page.html
	page check page.html
	page head page.html >cut.json
	exits 3 telcat -q -f html damaged.log >page.html
	page check page.html
	# in time it is between the last event before it and the next one
	exits 3 telcat -q --file-order -T ns cut.log >cut.txt
	exits 3 telcat -q --file-order -T ns damaged.log >damaged.txt
	before=$(head -c 300032 damaged.log | telstat -q --count)
	page head page.html | python3 -c '
import json, sys
cut, damaged = ([int(line.split()[0]) for line in open(name) if line[0].isdigit()]
                for name in ("cut.txt", "damaged.txt"))
n = int(sys.argv[1])
assert json.load(sys.stdin)["damage"] == [sorted(damaged[n - 1 : n + 1])]
assert json.load(open("cut.json"))["damage"] == [[cut[-1]] * 2]
' "$before"
}

@test "a page that cannot be written is an error, a pipe that ends is none" {
	zstd -dcq "$MPS/1.118.0-lii6gc-awlut.log.zst" >log
	if [ -e /dev/full ]; then
		run -1 telcat -q -f html -o /dev/full log
	fi
	exits '0 1' telcat -q -f html log | head -c 10 >got
	[ "$(wc -c <got)" = 10 ]
}

@test "logs without a clock, with jumps, and several at once" {
	telcat -q -f html "$TEL_TOP/tests/data/alloc/gcc.mtrace.zst" >page.html
	page check page.html
	page head page.html >head.json
	grep -q '"unit": "events"' head.json
	for clock in '0 0 0 0' '5 18446744073709551615 7 3' \
	    '18446744073709551615 0 9223372036854775808 1'; do
		{
			echo '# teltools text 1'
			echo '# type: Say 1 Kind size:unsigned'
			for at in $clock; do
				printf '%016X Say size=1\n' "$at"
			done
		} >text.log
		telcat -q -f html text.log >page.html
		page check page.html
		page events page.html >list
		[ "$(wc -l <list)" = 4 ]
	done
	telcat -q -f html text.log "$MPS/1.118.0-lii6gc-poolncv.log.zst" \
	    "$TEL_TOP/tests/data/alloc/perl.heaptrack.zst" >page.html
	page check page.html
	telcat -q --no-merge -f html text.log \
	    "$MPS/1.118.0-lii6gc-poolncv.log.zst" >page.html
	page check page.html
}

# The rate of the MPS's clock is known only after events of the other log.
@test "the time of a .tel of several logs is that of the logs" {
	local trace=$TEL_TOP/tests/data/alloc/gcc.mtrace.zst
	zstd -dcqf "$MPS/1.118.0-lii6gc-awlut.log.zst" >two.log
	telcat -q -f tel -o both.tel "$trace" two.log
	telcat -q -f html "$trace" two.log >want.html
	telcat -q -f html both.tel >got.html
	page head want.html | grep '"span"' >want
	page head got.html | grep '"span"' | cmp want -
	[ "$(telstat -q -f json both.tel | grep -o '"span_ns":[0-9]*')" = \
	    "$(sed -n '1s/ "span": \([0-9]*\),/"span_ns":\1/p' want)" ]
}

@test "the longest silence is the first of those, and has its place" {
	local clocks want at
	while IFS='|' read -r clocks want; do
		{
			echo '# teltools text 1'
			echo '# tick rate: 500000000'
			echo '# type: Say 1 Kind size:unsigned'
			for at in $clocks; do
				printf '%016X Say size=1\n' "$at"
			done
		} >log
		telcat -q -f html log >page.html
		page head page.html | jq -c '.overview | [.span, .silence]' >got
		[ "$(cat got)" = "$want" ]
	done <<-END
		5 9 73 89|[168,[8,128]]
		100 107 110 117|[34,[0,14]]
		7 8 9 50 50|[86,[4,82]]
		7 7|[0,null]
	END
}

# Waits until a page has so many events; every page that is seen is whole.
await_events() { # PAGE COUNT
	local _
	for _ in {1..600}; do
		if [ -e "$1" ]; then
			page check "$1"
			page head "$1" >head.json
			if grep -q "\"events\": $2,\$" head.json; then
				return 0
			fi
		fi
		sleep 0.1
	done
	return 1
}

@test "--live replaces the page while the log grows" {
	local i n=0
	{
		echo '# teltools text 1'
		echo '# type: Say 1 Kind size:unsigned'
	} >start
	mkfifo fifo
	exits 3 telcat -q -f html --live=1 -o live.html --as text fifo 3>&- &
	local pid=$!
	exec 4>fifo
	cat start >&4
	for i in 1 2 x 3; do
		printf '%016X Say size=%s\n' "$((++n))" "$i" >&4
	done
	await_events live.html 3
	grep -q '"live": 1,' head.json
	grep -q '"damaged": 1,' head.json
	printf '%016X Say size=4\n' 9 >&4
	await_events live.html 4
	exec 4>&-
	wait "$pid"
	page head live.html >head.json
	grep -q '"live": 0,' head.json
	grep -q '"events": 4,' head.json
	[ "$(echo live.html*)" = live.html ]
}

@test "a page has the damage of all its logs" {
	local log=$MPS/1.118.0-lii6gc-awlut.log.zst
	zstd -dcq "$log" | head -c 100001 >short
	{ zstd -dcq "$log" | head -c 50007; zstd -dcq "$log"; } >two
	for merge in '' --no-merge; do
		run -3 --separate-stderr telcat $merge -f html -o page.html short \
		    "$log" two
		# shellcheck disable=SC2154 # bats sets stderr
		page head page.html | python3 -c '
import json, re, sys
head = json.load(sys.stdin)
told = re.findall(r"(\d+) damaged places?, (\d+) bytes? skipped", sys.argv[1])
assert len(told) == 2, told
assert [head["damaged"], head["skipped"]] == [
    sum(int(n) for n in column) for column in zip(*told)], head
' "$stderr"
	done
}

@test "the last page of --live is that of the log, with ranges that have no end" {
	cat >start.txt <<-END
		# teltools text 1
		# type: Go 1 Kind id:unsigned
		# type: Stop 2 Kind id:unsigned
		# role: Go start Stop id
		# role: Stop finish id
	END
	printf '%016X Go id=%d\n' 1 1 7 2 | cat start.txt - >log.txt
	for log in start.txt log.txt; do
		telcat -q -f html --live=1 -o live.html "$log"
		telcat -f html "$log" | cmp - live.html
	done
}

@test "--live=SECONDS needs a page and a file" {
	mkfifo page.fifo
	expect 2 'telcat: page.fifo: not a regular file, which each interval could replace' \
	    telcat --live=1 -f html -o page.fifo -
	run -2 telcat --live=5 -f csv -o x /dev/null
	run -2 telcat --live=5 -f html /dev/null
	run -2 telcat --live=0 -f html -o x /dev/null
}

@test "a page has each file of its script, whole" {
	telcat -f html "$MPS"/1.118.0-lii6gc-awlut.log.zst >page.html
	telstat -f html "$MPS"/1.118.0-lii6gc-awlut.log.zst >report.html
	python3 - page.html report.html "$TEL_TOP"/lib/print/page/*.js <<-'END'
		import os, re, sys
		texts = [open(name, encoding="utf-8").read()
		    for name in sys.argv[1:]]
		assert len(texts) > 4
		for name, text in zip(sys.argv[3:], texts[2:]):
		    # but for indentation, comments of their own line, and blanks
		    # around some signs
		    lines = [line.lstrip() for line in text.splitlines()]
		    text = "\n".join("" if line.startswith("//") else line
		        for line in lines)
		    text = re.sub(r" (=>|===|!==|&&|\|\||\?\?|=) ", r"\1", text)
		    report = os.path.basename(name) in ("chart.js",
		        "report.js")
		    shared = os.path.basename(name) in ("flame.js", "page.js")
		    assert (text in texts[0]) == (shared or not report), name
		    assert (text in texts[1]) == (shared or report), name
	END
}

# A boot with three threads on two processors, and messages.
make_boot() {
	{
		echo 'speed 1000000000'
		echo 'process 1 Kernel'
		echo 'process 5 Keyboard'
		echo 'thread 0x1c 1'
		echo 'thread 0x6c 5'
		for i in $(seq 1 40); do
			set -- $((6544408122900 + i * 1000)) $((i % 2))
			echo "event $1 0x1000 0x1c 1 $2 8 7 67 $((300 + i % 3)) 1"
			echo "event $(($1 + 50)) 0x1000 0x1c 1 $2 20 3 0x6c"
			if [ "$i" -gt 5 ]; then
				echo "event $(($1 + 70)) 0x1000 0x6c 5 $2" \
				    "8 6 67 $((300 + (i - 5) % 3)) 1"
			fi
			echo "event $(($1 + 90)) 0x1000 0x6c 5 $2" \
			    "12 3 $(((i - 1) % 40 + 1)) 0x6c"
			echo "event $(($1 + 95)) 0x1000 0x6c 5 $2" \
			    "12 2 $(((i - 1) % 40 + 1)) 0x6c"
			echo "event $(($1 + 99)) 0x1000 0x6c 5 $2 30 2 14"
		done
	} >boot.txt
	"$TEL_BUILD/tests/test_ets" --make boot.txt boot.ets
	telcat -q -f json boot.ets >boot.json
	telcat -q -f html boot.ets >page.html
	page check page.html
}

@test "messages are links from where they were sent" {
	make_boot
	compare_with page.html boot.json <<'END'
first = next(e["clock"] for e in events if e["clock"])
sent, expected = collections.defaultdict(list), []
for e in events:
    channel, at = e["fields"].get("ChannelId"), e["clock"] - first
    who = f'thread {e["fields"]["tid"]} {e["labels"]["tid"]}' \
        if "tid" in e.get("labels", {}) else None
    if e["type"] == "DeliverHook":
        sent[channel].append((at, who))
    elif e["type"] == "RetrieveHook" and sent[channel]:
        expected.append((*sent[channel].pop(0), at, who, e["type"]))
got = [(a, paths[b][-1], c, paths[d][-1], page.head["types"][t]["name"])
       for a, b, c, d, t in page.links()]
assert len(expected) > 30 and sorted(got) == sorted(expected), (got, expected)
# and how many are in each channel
waiting = {paths[s["track"]][-1]: columns["last"][-1]
           for s, columns in page.series() if "channels" in paths[s["track"]]}
assert waiting == {f"messages in channel {c}": len(left)
                   for c, left in sent.items()}, waiting
END
}

@test "a page shows which thread ran on which processor" {
	make_boot
	compare_with page.html boot.json <<'END'
first = next(e["clock"] for e in events if e["clock"])
span = events[-1]["clock"] - first
runs, expected = {}, []
for e in events:
    if e["type"] != "SwitchTo":
        continue
    cpu, at = e["fields"]["cpu"], e["clock"] - first
    if cpu in runs:
        expected.append((f"cpu {cpu}", runs[cpu], at))
    runs[cpu] = at
expected += [(f"cpu {cpu}", at, span) for cpu, at in runs.items()]
got = [(paths[e["track"]][-2], e["time"], e["time"] + e["length"])
       for e in page.events() if e["name"] == "thread 108 Keyboard" and
       page.head["types"][e["type"]]["name"] == "SwitchTo"]
assert len(got) == 40 and sorted(got) == sorted(expected), (got, expected)
# interrupts have tracks, and handles that are waited for
irqs = [paths[e["track"]] for e in page.events()
        if page.head["types"][e["type"]]["name"] == "Interrupt"]
assert irqs == [("boot.ets", "interrupts", "interrupt 14")] * 40, irqs
waits = {paths[s["track"]][-1]: (max(c["max"]), c["last"][-1])
         for s, c in page.series() if "wait handles" in paths[s["track"]]}
assert waits == {f"threads that wait for handle {i}": (1, 0)
                 for i in range(1, 41)}, waits
END
}

@test "channels, handles, processors, interrupts and classes of a log by hand" {
	# fields of which any may be the first
	python3 - >log.text <<'END'
import random
draw = random.Random(1)
TYPES = ("DeliverHook ChannelId", "RetrieveHook ChannelId x",
         "Enqueue x HandleID", "Acquire HandleID", "SwitchTo cpu DestTID",
         "SwitchTo DestTID cpu", "Int Irq", "UpdateSet class value path",
         "UpdateAdd path value class", "UpdateGrowth value path class",
         "Magnitude path class current", "UpdateHistogram weight class path value")
print("# teltools text 1\n# tick rate: 1000000000")
for i, (name, *fields) in enumerate(t.split() for t in TYPES):
    name = f"t{i}_{name}"
    print(f"# type: {name} {i} K", *(
        f + {"path": ":string", "value": ":signed", "current": ":signed"}.get(
            f, ":unsigned") for f in fields))
for at in range(2000):
    i = draw.randrange(len(TYPES))
    name, *fields = TYPES[i].split()
    value = {"path": f'"a:b{i}"' if i < 9 else f'"c{i}"', "class": i,
             "value": draw.randrange(-9 if i != 9 else 0, 99), "weight": 3,
             "current": draw.randrange(9)}
    print(f"{1000 * at:016X} t{i}_{name}", *(
        f"{f}={value.get(f, draw.randrange(3))}" for f in fields))
END
	telcat -q -f html log.text >page.html
	page check page.html
	telcat -q -f json log.text >log.json
	compare_with page.html log.json <<'END'
values, grown, rows, runs = {}, collections.Counter(), collections.Counter(), {}
def put(path, value):
    low, high, _ = values.get(path, (value, value, 0))
    values[path] = min(low, value), max(high, value), value
for e in events:
    name, f, time = e["type"].split("_")[1], e["fields"], e["clock"]
    path = tuple(f.get("path", "").split(":")) + ("value",)
    if name in ("DeliverHook", "RetrieveHook"):
        path = "channels", f"messages in channel {f['ChannelId']}"
    elif name in ("Enqueue", "Acquire"):
        path = "wait handles", f"threads that wait for handle {f['HandleID']}"
    now = values.get(path, (0, 0, 0))[2]
    if name in ("DeliverHook", "Enqueue"):
        put(path, now + 1)
    elif name in ("RetrieveHook", "Acquire") and now:
        put(path, now - 1)
    elif name in ("UpdateSet", "Magnitude"):
        put(path, f.get("value", f.get("current")))
    elif name == "UpdateAdd":
        put(path, now + f["value"])
    elif name == "UpdateGrowth":
        grown[path[:-1]] += f["value"]
    elif name == "UpdateHistogram":
        rows[path[:-1], max(f["value"], 0).bit_length()] += f["weight"]
    elif name == "SwitchTo":
        cpu = f"cpu {f['cpu']}"
        runs.setdefault(cpu, time)
end = events[-1]["clock"]
runs = {cpu: end - first for cpu, first in runs.items()}
got, ran, heat, rates = {}, collections.Counter(), collections.Counter(), {}
for s, columns in page.series():
    path = paths[s["track"]][1:]
    if "row" in s:
        heat[path[:-1], s["row"]] = sum(columns["count"])
    elif path[-1] == "thread that runs":
        ran[path[0]] += sum(columns["busy"])
    elif path[-1] == "rate":
        rates[path[:-1]] = round(sum(columns["last"]) * s["width"] / 1e9)
    elif "last" in columns:
        got[path] = min(columns["min"]), max(columns["max"]), columns["last"][-1]
assert len(values) > 8 and got == values, (got, values)
assert len(runs) == 3 and ran == runs, (ran, runs)
assert rows and heat == rows, (heat, rows)
assert grown and rates == grown, (rates, grown)
for e in page.events():
    if e["fields"].keys() == {"Irq"}:
        assert paths[e["track"]][1:] == (
            "interrupts", f"interrupt {e['fields']['Irq']}")
END
}

@test "of very many messages every fourth is a link, of ranges in ranges 64" {
	python3 - >log.text <<'END'
print("# teltools text 1\n# tick rate: 1000000000\n"
      "# type: MsgSend 1 K id:unsigned\n# type: MsgReceive 2 K id:unsigned\n"
      "# type: OpBegin 3 K key:unsigned\n# type: OpEnd 4 K key:unsigned\n"
      "# role: OpBegin start OpEnd key\n# role: OpEnd finish key")
for i in range(40000):
    print(f"{10 * i:016X} MsgSend id={i % 7}")
    print(f"{10 * i + 4:016X} MsgReceive id={i % 7}")
for i in range(70):
    print(f"{400000 + i:016X} OpBegin key=1")
for i in range(70):
    print(f"{401000 + i:016X} OpEnd key=1")
END
	telcat -q -f html log.text >page.html
	compare_with page.html /dev/null <<'END'
assert [(a, b) for a, _, b, _, _ in page.links()] == [
    (40 * i, 40 * i + 4) for i in range(10000)]
ends = sorted((e["time"], e["length"]) for e in page.events()
              if e["length"] is not None)
# the innermost six have no room, and end first
assert ends == [(400000 + i, 1069 - 2 * i) for i in range(64)], ends
END
}

@test "classes of an inst log have tracks with their values" {
	# names of one letter, and a path of one name, too
	sed 's/HFS:Latency/HFS:Latency:L/; s/"HFS:Error/"E/' \
	    "$TEL_TOP/tests/data/inst/hfs.out" >hfs.out
	telcat -q -f html hfs.out >page.html
	telcat -q --live -f json hfs.out >hfs.json
	page check page.html
	compare_with page.html hfs.json <<'END'
last, grown, rows = {}, collections.Counter(), collections.Counter()
for e in events:
    f = e["fields"]
    path = tuple(f.get("path", "").split(":"))
    if e["type"] == "UpdateSet":
        last[path] = f["value"]
    elif e["type"] == "Magnitude":
        last[path] = f["current"]
    elif e["type"] == "UpdateAdd":
        last[path] = last.get(path, 0) + f["value"]
    elif e["type"] == "UpdateGrowth":
        grown[path] += f["value"]
    elif e["type"] == "UpdateHistogram":
        rows[path, max(f["value"], 0).bit_length()] += f["weight"]
values, rates, heat = {}, {}, {}
for s, columns in page.series():
    path = paths[s["track"]]
    if "row" in s:
        heat[path[1:-1], s["row"]] = sum(columns["count"])
    elif path[-1] == "value":
        values[path[1:-1]] = columns["last"][-1]
    elif path[-1] == "rate":
        rates[path[1:-1]] = round(sum(columns["last"]) * s["width"] / 1e9)
assert last and values == last, (values, last)
assert rows and heat == rows, (heat, rows)
assert grown and rates == grown, (rates, grown)
# the events of a class are on its track
for e in page.events():
    path = e["fields"].get("path")
    if path:
        assert paths[e["track"]][1:][:path.count(":") + 1] == \
            tuple(path.split(":")), (paths[e["track"]], path)
END
}
