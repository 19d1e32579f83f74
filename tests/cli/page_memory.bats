#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# telcat -f html: memory in the page, read as its script does by
# tests/page/read_page.py.

load page

@test "a page shows how large blocks are over time" {
	telcat -q -f html "$MPS/1.118.0-lii6gc-awlut.log.zst" >page.html
	telcat -q --live -f json -e PoolAlloc \
	    "$MPS/1.118.0-lii6gc-awlut.log.zst" >allocs.json
	compare_with page.html allocs.json <<'END'
rows = collections.Counter(e["fields"]["size"].bit_length() for e in events)
got = {s["row"]: sum(columns["count"]) for s, columns in page.series()
       if "row" in s and paths[s["track"]][-1] == "sizes of blocks"}
assert len(got) > 2 and got == rows, (got, rows)
END
}

@test "a page says who holds memory, at each moment" {
	local log
	# blocks of all sizes, half of which live less than a millisecond
	python3 - >blocks.txt <<'END'
import random
draw = random.Random(1)
print("# teltools text 1\n# tick rate: 1000000000\n"
      "# type: get 1 A address:address size:unsigned\n"
      "# type: free 2 A address:address\n# role: get alloc address size\n"
      "# role: free free address")
live, clock = [], 1000
for i in range(3000):
    clock += draw.choice((10, 1000, 100000, 3000000))
    if live and draw.random() < .45:
        print(f"{clock:016X} free address={live.pop(draw.choice((0, -1)))}")
    else:
        live.append(hex(16 * i + 16))
        print(f"{clock:016X} get address={live[-1]} size={2**draw.randrange(20) * (draw.random() > .3)}")
END
	# the same by a clock that is read every 10 ms
	awk '/^#/ { print; next }
	    { clock = sprintf("%d", int(++n / 30) * 10000000)
	      printf "%016X", clock; $1 = ""; print }' blocks.txt >coarse.txt
	for log in blocks.txt coarse.txt \
	    "$TEL_TOP"/tests/data/alloc/perl.mtrace.zst \
	    "$TEL_TOP"/tests/data/alloc/gcc.heaptrack.zst \
	    "$TEL_TOP"/tests/data/alloc/surfaceflinger.android.zst; do
		telcat -q -f html "$log" >page.html
		page check page.html
		telcat -q -f json "$log" >log.json
		compare_with page.html log.json <<'END'
head, moments = page.head["memory"], page.memory()[2]
live, sizes, lives, last = {}, [], [], {}
# bytes and blocks that live; bytes and calls so far
sums, most, want, got = [0, 0, 0, 0], [0, 0], {}, {}
for e in events:
    f, time = e["fields"], e["clock"] - events[0]["clock"]
    gone = None
    if "old" in f or e["type"] == "free":
        gone = live.pop(f.get("old", f.get("address")), None)
    if gone:
        sums[0] -= gone[0]
        sums[1] -= 1
        lives.append(time - gone[1])
    if "size" in f:
        size = f["size"] * f.get("count", 1)
        live[f["address"]] = size, time
        sums = [a + b for a, b in zip(sums, (size, 1, size, 1))]
        sizes.append(size)
    most = max(most, sums[:2])
    want[time // head["width"]] = sums[:]
for k, rows in enumerate(moments):
    last.update({stack: row for stack, *row in rows})
    got[k] = [sum(column) for column in zip(*last.values())]
assert len(want) > 1 and want == {k: got[k] for k in want}
assert most == [head["peak"], head["peak_blocks"]]
assert head["freed"] == len(lives) and head["largest"] == max(sizes)
median = sorted(sizes)[len(sizes) // 2]
assert head["median_below"] // 2 <= median < head["median_below"], median
assert head["within"] == 1000000 or 10**7 <= head["within"] < 11 * 10**6
assert (head["within"] > 1000000) == page.head["title"].startswith("coarse")
share = sum(l <= head["within"] for l in lives) / len(lives)
assert head["freed_within"] == (page.head["unit"] == "ns" and
                                int(share * 10**9)), (head, share)
END
	done
	# with little room the moments are left out, and then all of it
	for log in surfaceflinger.android gcc.heaptrack; do
		telcat -q -f html --max-size 128K \
		    "$TEL_TOP/tests/data/alloc/$log.zst" >small.html
		page check small.html
		compare_with small.html /dev/null <<'END'
if "memory" in page.head:
    print(len(page.memory()[0]), len(page.memory()[2]))
END
	done >got
	[ "$(cat got)" = "5 0" ]
}

@test "live bytes are those of telstat, where frees say how much they free" {
	# each block twice: nothing says that the first one had been freed
	telcat -q -e PoolInit,PoolAlloc "$MPS/1.118.0-lii6gc-awlut.log.zst" |
	    sed '/ PoolAlloc /p' >twice.txt
	telcat -q -f html twice.txt >page.html
	telstat -q -f json twice.txt | grep '"totals"' >totals.json
	compare_with page.html totals.json <<'END'
got = [columns["last"][-1] for s, columns in page.series()
       if paths[s["track"]][-1] == "live bytes"]
assert got == [events[0]["live_bytes"]] and got[0] > 0, (got, events)
END
}

@test "memory of a type is that of its pools, whatever field names them" {
	local fields
	for fields in 'pool:pointer base:address' 'base:address pool:pointer'; do
		cat >chunks.txt <<-END
			# teltools text 1
			# tick rate: 1000000000
			# type: ChunkAlloc 1 Seg $fields size:unsigned
			# type: ChunkFree 2 Seg $fields size:unsigned
			0000000000000001 ChunkAlloc pool=0xc base=0x9000 size=100
			0000000000000002 ChunkAlloc pool=0xd base=0xa000 size=30
			0000000000000003 ChunkFree pool=0xc base=0x9000 size=40
		END
		telcat -q -f html chunks.txt >page.html
		compare_with page.html /dev/null <<'END'
got = {paths[s["track"]][-1]: columns["last"][-1]
       for s, columns in page.series() if "last" in columns}
assert got == {"Chunk bytes": 90, "Chunk bytes of pool 0xc": 60,
               "Chunk bytes of pool 0xd": 30}, got
got = {(t["name"], t["memory"], t.get("owner"))
       for t in page.head["tracks"] if "memory" in t}
assert got == {("Chunk bytes", "held", None),
               ("Chunk bytes of pool 0xc", "held", "pool 0xc"),
               ("Chunk bytes of pool 0xd", "held", "pool 0xd")}, got
END
	done
}

@test "live bytes of a log are counted when pools leave no room for another" {
	# the first log has more pools than there are counters, the other is later
	python3 - <<'END'
for name, count, start, step in ("a", 30000, 0, 10), ("b", 2000, 100001, 100):
    with open(name + ".txt", "w", encoding="ascii") as out:
        for i in range(count):
            pool = 64 * (i if i < 5000 else i % 4) + 0x10000
            print(f"{0x1000000 + start + step * i:016X} PoolAlloc "
                  f"pool={pool:#x} pReturn={64 * i + 0x7000000:#x} size=48",
                  file=out)
END
	telcat -q -f mps a.txt >a.log
	telcat -q -f mps b.txt >b.log
	telcat -q -f html --max-size 128k a.log b.log >page.html
	telstat -q -f json a.log | grep '"totals"' >totals.json
	compare_with page.html totals.json <<'END'
got = [(sum(columns["count"]), columns["last"][-1])
       for s, columns in page.series()
       if paths[s["track"]][-1] == "live bytes"]
assert got == [(30000, events[0]["live_bytes"])], (got, events)
END
}

@test "callers hold what functions of --holder allocate" {
	local log=$TEL_TOP/tests/data/alloc/gcc.heaptrack.zst
	telcat -q -f html "$log" >plain.html
	# the second one has callers of what the first one has
	telcat -q -f html --holder '^0x19d(bc|b5)' --holder 'aa$|^0x7f1ca1[^e]|50f$' \
	    "$log" >page.html
	page memory plain.html >plain.json
	page memory page.html >page.json
	run ! cmp -s plain.json page.json
	python3 -c '
import json, re
known = re.compile(r"[aA]lloc|operator new|_Zn[wa]|std::|__gnu_cxx|strn?dup|"
                   r"::(grow|resize|reserve|push_back|emplace)")
more = re.compile(r"^0x19d(bc|b5)|aa$|^0x7f1ca1[^e]|50f$")
def holder(frames, *sets):
    own = [f for f in frames if not any(s.search(f) for s in sets)]
    return (own or frames)[-1]
lines = [[json.loads(line) for line in open(name)]
         for name in ("plain.json", "page.json")]
moved = 0
for plain, page in zip(*lines, strict=True):
    assert plain[:1] + plain[2:] == page[:1] + page[2:]
    frames = plain[0].split(";")
    assert plain[1] == holder(frames, known), plain
    assert page[1] == holder(frames, known, more), page
    moved += page[1] != plain[1]
assert moved > 10, moved
'
}

@test "a page says what is missing to see who holds memory" {
	local count
	telcat -q -f html "$TEL_TOP/tests/data/alloc/surfaceflinger.android.zst" \
	    >page.html
	page head page.html | grep -q '"hint": "Record with .telrec -g. '
	# of 16 frames, 3 are addresses, and 4
	for count in 3 4; do
		python3 - "$count" >log.txt <<'END'
import sys
names = ["main", "0xzz", "0x12-0x12", "f+0x1]", "[0x1", "(f+0x1)", "std::g",
         "x0x1", "-0x1", "0x1g", "0x", "0x1f", "a.so+0x1f",
         "/l.so:[0x1f]", "0X1", "0x1F"]
addresses = names[11:14] + ["0xf"][:int(sys.argv[1]) - 3]
names = [n for n in names if n not in ("0x", *addresses)]
names = addresses + names[:16 - len(addresses)]
names += [f"f{i}" for i in range(16 - len(names))]
assert len(set(names)) == 16
print("""# teltools text 1
# format: mtrace
# type: malloc 0 Alloc address:address size:unsigned caller:address
# role: malloc alloc address size stack=caller""")
for i, name in enumerate(names, 1):
    print(f"{i:016X} malloc address={i:#x} size=8 caller={i:#x}[\"{name}\"]")
END
		telcat -q -f html log.txt >page.html
		page head page.html | grep '"hint": ' >"hint$count"
		cat "hint$count"
	done
	[ "$(cat hint3)" = '  "hint": "",' ]
	[[ $(cat hint4) == *'"4 of 16 functions have no name; '* ]]
}
