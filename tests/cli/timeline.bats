#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Events as ranges of time: for Perfetto's viewer, and as folded stacks.

# "run --separate-stderr" sets stderr
# shellcheck disable=SC2154

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	cp "$TEL_TOP"/tests/data/hpm/v3be/HPM.* .
	read_trace=$TEL_TOP/tests/cli/perfetto.py
}

# What begins, ends and goes wrong, and strings that have to be escaped.
toy() {
	cat <<-'END'
		# teltools text 1
		# format: toy-1
		# version: 1
		# tick rate: 1000000000.0
		# type: LoadBegin 1 Load key:unsigned what:string
		# type: LoadEnd 2 Load key:unsigned
		# type: Malloc 3 Heap at:address size:unsigned
		# type: Free 4 Heap at:address
		# type: Note 5 Note text:string
		# role: LoadBegin start LoadEnd key
		# role: LoadEnd finish key
		# role: Malloc alloc at size
		# role: Free free at
		00000000000003E8 Note text="a \"quoted\" \x01\xff\n;"
		0000000000000800 LoadEnd key=2
		00000000000007D0 LoadBegin key=1 what="x;y"
		00000000000007E0 LoadBegin key=2 what="b"
		00000000000007F0 LoadEnd key=1
		00000000000007E8 LoadBegin key=2 what="c"
		0000000000000808 LoadEnd key=2
		0000000000000809 LoadEnd key=9
		0000000000000810 Malloc at=0x10 size=5000000000
		0000000000000811 Malloc at=0x20 size=100
		0000000000000812 Free at=0x20
		0000000000000813 Free at=0x30
		0000000000000820 LoadBegin key=7 what=""
		0000000000000830 Note text=""
	END
}

@test "ranges, counters and instants of a log that is not in order" {
	toy >toy.txt
	clean telcat -f perfetto toy.txt >toy.trace
	python3 "$read_trace" toy.trace | cut -d '|' -f 1-4 |
	    tr '\001' '!' | sed 's/ *$//' >got
	diff -u - got <<-'END'
		toy.txt/Note | 0 | instant | a "quoted" !?
		; | text=a "quoted" !?
		;
		toy.txt/Load/Load | 1000 | begin | Load x;y
		toy.txt/Load/Load | 1016 | begin | Load b
		toy.txt/Load/Load | 1024 | begin | Load c
		toy.txt/Load/Load | 1032 | end |
		toy.txt/Load/Load | 1048 | end |
		toy.txt/Load/Load | 1056 | end |
		toy.txt/live bytes | 1064 | counter | 5000000000
		toy.txt/live bytes | 1065 | counter | 5000000100
		toy.txt/live bytes | 1066 | counter | 5000000000
		toy.txt/frees of blocks from before the log | 1067 | counter | 1
		toy.txt/live bytes | 1067 | counter | 5000000000
		toy.txt/Load/Load | 1080 | begin | Load
		toy.txt/Note | 1096 | instant | Note
		open: 1
	END
	clean telcat -f folded toy.txt >got
	diff -u - got <<-'END'
		Load 16
		Load b 8
		Load b;Load c 16
		Load x:y 16
		Load x:y;Load b 8
		Load x:y;Load b;Load c 8
	END
}

@test "a range without an end lasts up to the end of its own log" {
	printf '%s\n' '# teltools text 1' '# tick rate: 1000000000' \
	    '# type: S 1 k id:unsigned tid:unsigned' '# type: F 2 k id:unsigned' \
	    '# role: S start F id' '# role: F finish id' \
	    '0000000000000001 S id=1 tid=1' '0000000000000005 S id=2 tid=2' \
	    '0000000000000009 F id=2' >one.txt
	sed 's/tid=1$/tid=3/' one.txt >two.txt
	telcat -f folded --no-merge one.txt two.txt |
	    cmp - <(printf 'thread %d;S 8\n' 1 2 3)
}

@test "JSON says the same as packets do" {
	toy >toy.txt
	unpack 1.118.0-lii6gc-awlut
	for log in toy.txt HPM.1.startup mpsio.log; do
		telcat -q --tb-hz 1000 -f perfetto "$log" >a.trace
		# an end says its name again, which packets need not
		telcat -q --tb-hz 1000 -f chrome "$log" |
		    sed '/"ph":"E"/s/,"name":.*}/}/' >b.trace
		for form in a b; do
			# a track of JSON has its thread in its own name
			python3 "$read_trace" $form.trace | cut -d '|' -f 1-4 |
			    sed -E 's,/(cpu 1|thread [^/|]*)/,/\1 ,; s,/(Arena|Trace|Load)/,/,' >$form
		done
		if [ "$log" != toy.txt ]; then
			diff a b
		fi
		grep -q '^open: [01]$' b
		[ "$(wc -l <b)" -gt 14 ]
	done
}

@test "a trace has what its log has, event by event and field by field" {
	local log form
	python3 "$TEL_TOP/tests/cli/timeline_log.py" >all.txt
	"$TEL_BUILD/tests/test_ets" --make "$TEL_TOP/tests/data/ets/good-boot.txt" boot.ets
	cp "$TEL_TOP"/tests/data/ftrace/{switches,chains}.perf.zst \
	    "$TEL_TOP/tests/data/inst/hfs.txt" "$TEL_TOP/tests/data/stat/classes.inst" .
	for log in all.txt HPM.1.startup boot.ets switches.perf.zst chains.perf.zst \
	    hfs.txt classes.inst; do
		telcat -q -f text "$log" | grep '^#' >types
		telcat -q --tb-hz 1000000000 -T ns -f json "$log" >events
		for form in perfetto chrome; do
			telcat -q --tb-hz 1000000000 -f $form "$log" >trace
			python3 "$TEL_TOP/tests/cli/timeline_model.py" \
			    $form trace types events "$log" >out ||
			    { head out; return 1; }
			echo "$form of $log: $(tail -n 1 out)"
		done
	done
}

@test "times are whole nanoseconds after 104 days, too" {
	local rate
	for rate in 1000000000 1000000; do
		printf '%s\n' '# teltools text 1' "# tick rate: $rate" \
		    '# type: a 1 K x:unsigned' '0000000000000000 a x=1' \
		    '0020000000000001 a x=2' '0020000000000003 a x=3' >long.txt
		telcat -f tel -o long.tel long.txt
		for log in long.txt long.tel; do
			telcat -H -T ns $log | cut -d ' ' -f 1 |
			    diff - <(python3 -c "
for t in 0, 2 ** 53 + 1, 2 ** 53 + 3:
    print(min(t * (1000000000 // $rate), 2 ** 63 - 1))")
			[ "$(telcat -c -w 'time == 9007199254740993' $log)" = \
			    $((rate / 1000000000)) ]
		done
	done
	telcat -q --tb-hz 1000000000 -f chrome long.txt | grep -F '"ts":9007199254740.995'
}

@test "logs of any rate have one time, files one after the other each their own" {
	printf '%s\n' '# teltools text 1' '# format: t' '# tick rate: 1000000000' \
	    '# type: A 1 K u:unsigned' '0000000000001005 A u=1' \
	    '0000000000001009 A u=2' >a.txt
	sed 's/^0000000000001/0000000000008/' a.txt >b.txt
	sed 's/rate: 1/rate: 2/; s/^0000000000001/0000000000009/' a.txt >c.txt
	sed 's/rate: .*/rate: 1/; s/^0/8/' a.txt >d.txt
	# times FILE ...: of events, in nanoseconds
	times() {
		telcat -q -f chrome "$@" | sed -n 's/.*"ph":"i".*"ts":\([0-9]*\)[.]\([0-9]*\).*/\1\2/p' |
		    sed 's/^0*\(.\)/\1/' | xargs
	}
	[ "$(times a.txt b.txt c.txt)" = "0 4 28672 28676 16384 16386" ]
	[ "$(times -w 'u == 2' a.txt b.txt c.txt)" = "0 28672 16384" ]
	[ "$(times --no-merge a.txt b.txt c.txt)" = "0 4 0 4 0 2" ]
	[ "$(times d.txt)" = "0 4000000000" ]
	# a rate that is not known is that of nanoseconds; far away is the end
	[ "$(sed '/rate/d' d.txt | times)" = "0 4" ]
	[ "$(times a.txt d.txt)" = "0 4 9223372036854775807 9223372036854775807" ]
}

@test "ranges are those that their events say, in any order of the log" {
	unpack 1.118.0-lii6gc-awlut
	telcat -f json -k Arena,Trace mpsio.log | python3 -c '
import json, sys
events = sorted((json.loads(line) for line in sys.stdin),
                key=lambda e: int(str(e["clock"])))
opened, found = {}, []
for e in events:
    name = e["type"]
    if name.endswith("Begin"):
        key = name[:-5], e["fields"].get("trace", e["fields"]["arena"])
        opened.setdefault(key, []).append(e)
    elif name.endswith("End") and name[:-3] + "Begin" in (
            "ArenaPollBegin", "TraceFlipBegin", "ArenaAccessBegin"):
        key = name[:-3], e["fields"].get("trace", e["fields"]["arena"])
        begin = opened[key].pop()
        found.append((key[0], int(str(e["clock"])) - int(str(begin["clock"]))))
    elif name == "TraceStart":
        opened["Trace", e["fields"]["trace"]] = e
    elif name == "TraceDestroy":
        begin = opened["Trace", e["fields"]["trace"]]
        found.append(("Trace", int(str(e["clock"])) - int(str(begin["clock"]))))
print(len(found), len(set(name for name, _ in found)))
for name, ticks in sorted(found):
    print(name, ticks)' >want
	read -r count names <want
	[ "$count" -gt 90 ]
	[ "$names" -ge 3 ]
	# with a clock of which each tick is a nanosecond
	telcat mpsio.log | grep -v 'EventClockSync\|^# tick rate' |
	    telcat --tb-hz 1000000000 -f chrome >got.json
	python3 - got.json want <<-'END'
		import json, sys
		opened, found = {}, []
		for e in json.load(open(sys.argv[1]))["traceEvents"]:
		    if e["ph"] == "B":
		        opened.setdefault(e["tid"], []).append(e)
		    elif e["ph"] == "E":
		        begin = opened[e["tid"]].pop()
		        assert e["name"] == begin["name"]
		        ticks = round((e["ts"] - begin["ts"]) * 1000)
		        found.append(f"{begin['name']} {ticks}")
		assert not any(opened.values())
		want = open(sys.argv[2]).read().splitlines()[1:]
		assert sorted(found) == sorted(want)
	END
}

# Pools, memory that one type takes and another gives back, and blocks that
# come again, are large, or were there before.
memory() {
	cat <<-'END'
		# teltools text 1
		# format: toy-1
		# version: 1
		# tick rate: 1000000000.0
		# type: Take 1 Heap pool:pointer at:address size:unsigned
		# type: Give 2 Heap pool:pointer at:address
		# type: GivePart 3 Heap pool:pointer at:address size:unsigned
		# type: PoolEnds 4 Pool pool:pointer
		# type: SegAlloc 5 Seg seg:pointer base:address size:unsigned
		# type: SegFree 6 Seg seg:pointer
		# type: VMMap 7 Seg vm:pointer base:address limit:address
		# type: VMUnmap 8 Seg vm:pointer base:address limit:address
		# type: Alloc 9 Seg base:address size:unsigned
		# role: Take alloc at size pool
		# role: Give free at - pool
		# role: GivePart free at size pool
		# role: PoolEnds destroy-pool - - pool
		0000000000000001 Take pool=0xa at=0x10 size=100
		0000000000000002 Take pool=0xb["blue"] at=0x18 size=7
		0000000000000003 Take pool=0xa at=0x20 size=5000000000
		0000000000000004 Take pool=0xa at=0x10 size=50
		0000000000000005 Give pool=0xa at=0x20
		0000000000000006 GivePart pool=0xa at=0x10 size=20
		0000000000000007 GivePart pool=0xb["blue"] at=0x18 size=1000
		0000000000000008 Take pool=0xb["blue"] at=0x30 size=9
		0000000000000009 PoolEnds pool=0xa
		000000000000000A Take pool=0xa at=0x20 size=3
		000000000000000B Give pool=0xa at=0x10
		000000000000000C Take pool=0xa at=0x50 size=4611686018427387904
		0000000000000010 SegAlloc seg=0x1 base=0x1000 size=4096
		0000000000000011 VMMap vm=0x5 base=0x1000 limit=0x4000
		0000000000000012 SegAlloc seg=0x2 base=0x2000 size=8192
		0000000000000013 SegFree seg=0x1
		0000000000000014 VMUnmap vm=0x5 base=0x3000 limit=0x4000
		0000000000000015 SegFree seg=0x1
		0000000000000016 VMMap vm=0x5 base=0x1000 limit=0x0
		0000000000000017 Alloc base=0x1000 size=16
	END
}

@test "the bytes that live, by pools, and what an allocator takes itself" {
	memory >memory.txt
	clean telcat -f perfetto memory.txt >memory.trace
	python3 "$read_trace" memory.trace >got
	grep '| counter |' got | cut -d '|' -f 1,2,4 | sed 's,^memory.txt/,,; s/ *$//' |
	    diff -u - <(cat <<-'END'
		live bytes of pool 0xa | 0 | 100
		live bytes | 0 | 100
		live bytes of blue 0xb | 1 | 7
		live bytes | 1 | 107
		live bytes of pool 0xa | 2 | 5000000100
		live bytes | 2 | 5000000107
		live bytes of pool 0xa | 3 | 5000000050
		live bytes | 3 | 5000000057
		live bytes of pool 0xa | 4 | 50
		live bytes | 4 | 57
		live bytes of pool 0xa | 5 | 30
		live bytes | 5 | 37
		live bytes of blue 0xb | 6 | 0
		live bytes | 6 | 30
		live bytes of blue 0xb | 7 | 9
		live bytes | 7 | 39
		live bytes of pool 0xa | 8 | 0
		live bytes | 8 | 9
		live bytes of pool 0xa | 9 | 3
		live bytes | 9 | 12
		frees of blocks from before the log | 10 | 1
		live bytes of pool 0xa | 10 | 3
		live bytes | 10 | 12
		live bytes of pool 0xa | 11 | 3
		live bytes | 11 | 12
		Seg bytes | 15 | 4096
		VM bytes | 16 | 12288
		Seg bytes | 17 | 12288
		Seg bytes | 18 | 8192
		VM bytes | 19 | 8192
		Seg bytes | 20 | 8192
		VM bytes | 21 | 8192
	END
	    )
	# they are shown by themselves, too
	[ "$(grep -c '/Seg | [0-9]* | instant | ' got)" -eq 8 ]
	# counters of JSON are the same
	telcat -f chrome memory.txt >memory.json
	python3 "$read_trace" memory.json | grep '| counter |' |
	    diff - <(grep '| counter |' got)
	# a block of one process is none of another's
	sed 's/:pointer at/:unsigned at/; s/size pool$/size process=pool/
	    s/at - pool$/at process=pool/; s/0xa /1 /; s/0xb\["blue"\] /2 /' memory.txt |
	    sed '/PoolEnds/d' | telcat -q -f perfetto >two.trace
	python3 "$read_trace" two.trace | grep '| counter |' |
	    cut -d '|' -f 1,2,4 | sed 's,^[^/]*/,,; s/ *$//' | head -n 8 |
	    diff -u - <(cat <<-'END'
		live bytes of process 1 | 0 | 100
		live bytes | 0 | 100
		live bytes of process 2 | 1 | 7
		live bytes | 1 | 107
		live bytes of process 1 | 2 | 5000000100
		live bytes | 2 | 5000000107
		live bytes of process 1 | 3 | 5000000050
		live bytes | 3 | 5000000057
	END
	    )
	# what took memory has given all of it back at the end of a real log
	unpack 1.118.0-lii6gc-awlut
	telcat -f perfetto mpsio.log >t.trace
	python3 "$read_trace" t.trace | grep '| counter |' >got
	for name in 'Arena bytes' 'Seg bytes' 'VM bytes' 'live bytes' \
	    'live bytes of CBSBlock 0x7fe81763d490'; do
		grep "/$name |" got | tail -n 1 | grep -q '| counter | 0 | $'
		[ "$(grep -c "/$name |" got)" -gt 10 ]
	done
	# the most that was taken of the machine, added up by other means
	telcat -f json -S -e VMMap,VMUnmap mpsio.log | python3 -c '
import json, sys
sum = most = 0
for e in map(json.loads, sys.stdin):
    base, limit = (int(e["fields"][f], 16) for f in ("base", "limit"))
    sum += (limit - base) * (1 if e["type"] == "VMMap" else -1)
    most = max(most, sum)
print(most)' >want
	grep '/VM bytes |' got | cut -d '|' -f 4 | sort -n | tail -n 1 |
	    tr -d ' ' | cmp - want
}

@test "a free of NULL ends no block" {
	toy | grep '^#' >null.txt
	cat >>null.txt <<-'END'
		0000000000000001 Malloc at=0x1 size=100
		0000000000000002 Free at=0x0
		0000000000000003 Free at=0x1
	END
	clean telcat -f chrome null.txt >got
	grep -o '"bytes":[0-9]*' got | diff -u - <(cat <<-'END'
		"bytes":100
		"bytes":100
		"bytes":0
	END
	)
}

@test "ranges of threads are named by what their types share" {
	"$TEL_BUILD/tests/test_ets" --make "$TEL_TOP/tests/data/ets/good-boot.txt" boot.ets
	clean telcat -f perfetto boot.ets >boot.trace
	python3 "$read_trace" boot.trace | grep -v 'instant\|send' | cut -d '|' -f 1,2,3,4 |
	    sed 's/ *$//' >got
	# what has no time does not count as the first event
	diff -u - got <<-'END'
		boot.ets/thread 108 LegacyKeyboard/DiskIo Read | 1127111 | begin | DiskIo Read
		boot.ets/thread 108 LegacyKeyboard/DiskIo Read | 1127167 | end |
		boot.ets/thread 108 LegacyKeyboard/GC Collection | 1127389 | begin | GC Collection
		boot.ets/thread 108 LegacyKeyboard/GC Collection | 1127778 | end |
		boot.ets/thread 2 kernel/Iso9660 Read | 1127944 | begin | Iso9660 Read
		open: 1
	END
	clean telcat -f folded boot.ets >got
	diff -u - got <<-'END'
		thread 108 LegacyKeyboard;DiskIo Read 56
		thread 108 LegacyKeyboard;GC Collection 389
		thread 2 kernel;Iso9660 Read 56
	END
	# words of names
	sed 's/DiskIo_StartRead/gc_begin/; s/EndRead/gc_end/' \
	    <(telcat boot.ets) | telcat -f folded |
	    grep -q '^thread 108 LegacyKeyboard;gc 56$'
	sed 's/DiskIo_StartRead/io_start_read/; s/EndRead/io_stop_read/' \
	    <(telcat boot.ets) | telcat -f folded |
	    grep -q '^thread 108 LegacyKeyboard;io_read 56$'
}

@test "a collection of the MPS is a range, and scans follow each other" {
	unpack 1.118.0-lii6gc-amcss
	clean telcat -f folded mpsio.log >got
	diff -u - <(sed 's/ [0-9]*$//' got) <<-'END'
		ArenaPoll
		ArenaPoll;Trace
		ArenaPoll;Trace;TraceFlip
	END
	# scans that return early have no end: only the others count
	for log in 1.114.0-lii3gc-amcss 1.117.0-lii6gc-amcss-seg-trace; do
		unpack "$log"
		telcat -q -f folded mpsio.log >got
		[ "$(sed 's/ .*//' got | tr '\n' ' ')" = "Trace Trace;AMCScan Trace;TraceFlip " ]
		telstat -q --raw -s 'd=sum(dur(AMCScanBegin,AMCScanEnd))' mpsio.log |
		    grep -q " total $(sed -n 's/.*AMCScan //p' got) "
	done
}

@test "a range that has lost its end takes no time in stacks" {
	head='# teltools text 1
# format: toy-1
# version: 1
# tick rate: 1000000000.0
# type: ABegin 1 A key:unsigned
# type: AEnd 2 A key:unsigned
# type: BBegin 3 B key:unsigned
# type: BEnd 4 B key:unsigned
# role: ABegin start AEnd key
# role: AEnd finish key
# role: BBegin start BEnd key
# role: BEnd finish key'
	# at TIME EVENT KEY ...: one event after the other
	at() {
		echo "$head"
		printf '%016d %s key=%d\n' "$@"
	}
	# A of key 1 has no end, nor have 3 and 5; B is around and inside of them
	at 10 ABegin 1  20 BBegin 1  30 BEnd 1  40 ABegin 2  50 AEnd 2 \
	    60 BBegin 2  70 ABegin 3  80 BEnd 2  90 ABegin 4  95 AEnd 4 \
	    96 ABegin 5  99 BEnd 9 >lost.txt
	clean telcat -f folded lost.txt >got
	# the digits are hexadecimal
	diff -u - got <<-'END'
		A 21
		B 48
	END
	# what ends later was parallel, and counts up to the next one
	at 10 ABegin 1  20 ABegin 2  30 AEnd 1  40 AEnd 2 >parallel.txt
	clean telcat -f folded parallel.txt >got
	[ "$(cat got)" = "A 48" ]
	# B, too, has lost its end: it moves out of what A was taken out of
	at 10 ABegin 1  20 BBegin 1  30 ABegin 2  40 BBegin 2  50 BEnd 2 \
	    60 AEnd 2 >both.txt
	clean telcat -f folded both.txt >got
	diff -u - got <<-'END'
		A 32
		A;B 16
	END
	# more than are waited for, and in more stacks than are taken apart
	python3 - >many.txt <<-'END'
		print(open("lost.txt").read().split("\n0")[0])
		for i in range(600):
		    print("%016X ABegin key=%d" % (16 * i, i))
		print("%016X ABegin key=600" % 9600)
		print("%016X AEnd key=600" % 9605)
	END
	clean telcat -f folded many.txt >got
	[ "$(cat got)" = "A 5" ]
	python3 - >stacks.txt <<-'END'
		print("# teltools text 1\n# format: toy-1\n# version: 1")
		print("# tick rate: 1000000000.0")
		for i in range(101):
		    print(f"# type: T{i}Begin {2 * i} K key:unsigned")
		    print(f"# type: T{i}End {2 * i + 1} K key:unsigned")
		    print(f"# role: T{i}Begin start T{i}End key")
		    print(f"# role: T{i}End finish key")
		print("%016X T0Begin key=1" % 1)
		for i in range(1, 101):
		    print("%016X T%dBegin key=1" % (10 * i, i))
		    print("%016X T%dEnd key=1" % (10 * i + 5, i))
		print("%016X T0Begin key=2" % 2000)
		print("%016X T0End key=2" % 2001)
	END
	clean telcat -f folded stacks.txt >got
	[ "$(grep -c '^T0;T' got)" = 100 ]
	# the first one has so many stacks that it stays where it is
	[ "$(awk '{ n += $NF } END { print n }' got)" = 2000 ]
}

@test "the weight of a stack goes up to the largest number" {
	{
		printf '%s\n' '# teltools text 1' '# tick rate: 1000000000' \
		    '# type: D 5 K duration:unsigned'
		printf '%016X D duration=4611686018427387904\n' 0 1 2 3 4
	} >long.txt
	[ "$(telcat -q -f folded long.txt)" = 'D 18446744073709551615' ]
}

@test "an arrow goes from each message sent to where it is received" {
	cat >sent.txt <<-'END'
		# teltools text 1
		# format: toy-1
		# version: 1
		# tick rate: 1000000000.0
		# type: MsgSend 1 Net tid:unsigned channel:unsigned
		# type: MsgReceive 2 Net tid:unsigned channel:unsigned
		# type: Send 3 Other x:unsigned
		# type: Receive 4 Other x:unsigned
		0000000000000001 MsgReceive tid=2 channel=5
		0000000000000002 MsgSend tid=1 channel=5
		0000000000000003 MsgSend tid=1 channel=6
		0000000000000004 MsgSend tid=1 channel=5
		0000000000000005 MsgReceive tid=2 channel=5
		0000000000000006 Send x=1
		0000000000000007 MsgReceive tid=3 channel=5
		0000000000000008 MsgReceive tid=3 channel=5
		0000000000000009 MsgReceive tid=2 channel=6
		000000000000000A Receive x=1
	END
	for form in perfetto chrome; do
		clean telcat -f $form sent.txt >sent.trace
		python3 "$read_trace" sent.trace >all
		grep '| \(send\|receive\) |' all >got
		# each number, in the order of its first use
		awk -F ' [|] ' '{ if (!($4 in n)) n[$4] = ++count
		    print $1, $2, $3, n[$4] }' got | diff -u - <(cat <<-'END'
			sent.txt/thread 1 1 send 1
			sent.txt/thread 1 2 send 2
			sent.txt/thread 1 3 send 3
			sent.txt/thread 2 4 receive 1
			sent.txt/thread 3 6 receive 3
			sent.txt/thread 2 8 receive 2
		END
		    )
		cp got $form.got
	done
	cmp perfetto.got chrome.got
	# what one process sends, none of another file receives
	grep -v '^0.*MsgReceive' sent.txt >a.txt
	grep -v '^0.*MsgSend' sent.txt >b.txt
	clean telcat -f perfetto a.txt b.txt >sent.trace
	python3 "$read_trace" sent.trace >all
	[ "$(grep -c '| send |' all)" = 3 ]
	run ! grep '| receive |' all
	# messages of Singularity's channels
	"$TEL_BUILD/tests/test_ets" --make "$TEL_TOP/tests/data/ets/good-boot.txt" boot.ets
	telcat boot.ets | sed 's/ChannelId=312/ChannelId=313/' >boot.txt
	clean telcat -f perfetto boot.txt >sent.trace
	python3 "$read_trace" sent.trace >all
	[ "$(grep -c '| send |' all)" = 2 ]
	[ "$(grep -c '| receive |' all)" = 1 ]
	# most types have a colour of their own
	telcat -f chrome boot.txt | grep -o '"cname":"[a-z_]*"' | sort -u >got
	[ "$(wc -l <got)" -ge 5 ]
}

@test "periods of a processor are ranges, and each has counters" {
	clean telcat --tb-hz 1000000000 -f perfetto HPM.[12].startup >hpm.trace
	python3 "$read_trace" hpm.trace | cut -d '|' -f 1-4 |
	    grep -v 'PM_[^C]' | sed 's/ *$//' >got
	diff -u - <(grep '^HPM.1\|open' got) <<-'END'
		HPM.1.startup/cpu 1/Counter | 0 | begin | com.ibm.JikesRVM.VM_IdleThread
		HPM.1.startup/cpu 1/Counter | 1000 | end |
		HPM.1.startup/cpu 1/PM_CYC | 0 | counter | 1081
		HPM.1.startup/cpu 1/App | 0 | begin | App pseudojbb
		HPM.1.startup/cpu 1/Run | 0 | begin | Run pseudojbb
		HPM.1.startup/cpu 1/Counter | 1010 | begin | com.ibm.JikesRVM.MainThread
		HPM.1.startup/cpu 1/Counter | 5010 | end |
		HPM.1.startup/cpu 1/PM_CYC | 1010 | counter | 2081
		HPM.1.startup/cpu 1/Counter | 5020 | begin | com.ibm.JikesRVM.MainThread
		HPM.1.startup/cpu 1/Counter | 7020 | end |
		HPM.1.startup/cpu 1/PM_CYC | 5020 | counter | 3081
		HPM.1.startup/cpu 1/Run | 5020 | end |
		HPM.1.startup/cpu 1/App | 5020 | end |
		HPM.1.startup/cpu 1/Counter | 7030 | begin | com.ibm.JikesRVM.VM_TraceWriter
		HPM.1.startup/cpu 1/Counter | 7530 | end |
		HPM.1.startup/cpu 1/PM_CYC | 7030 | counter | 4081
		HPM.1.startup/cpu 1 | 7030 | instant | Exit
		open: 0
	END
	[ "$(grep -c '^HPM.2' got)" = 17 ]
	# and so has each thread a track, whatever processor it ran on
	diff -u - <(grep '^threads/thread 9' got) <<-'END'
		threads/thread 9 com.ibm.JikesRVM.MainThread/Counter | 1010 | begin | cpu 1
		threads/thread 9 com.ibm.JikesRVM.MainThread/Counter | 5010 | end |
		threads/thread 9 com.ibm.JikesRVM.MainThread/Counter | 1047 | begin | cpu 2
		threads/thread 9 com.ibm.JikesRVM.MainThread/Counter | 5047 | end |
		threads/thread 9 com.ibm.JikesRVM.MainThread/Counter | 5020 | begin | cpu 1
		threads/thread 9 com.ibm.JikesRVM.MainThread/Counter | 7020 | end |
		threads/thread 9 com.ibm.JikesRVM.MainThread/Counter | 5057 | begin | cpu 2
		threads/thread 9 com.ibm.JikesRVM.MainThread/Counter | 7057 | end |
	END
	python3 "$read_trace" hpm.trace >got
	grep -q 'instant | Exit | cpu=1 status=0$' got
	grep -q 'begin | App pseudojbb | cpu=2 app=pseudojbb$' got
	clean telcat --tb-hz 1000000000 -f folded HPM.1.startup >got
	diff -u - got <<-'END'
		cpu 1;App pseudojbb;Run pseudojbb 20
		cpu 1;App pseudojbb;Run pseudojbb;com.ibm.JikesRVM.MainThread;Lcom/ibm/JikesRVM/VM_Thread:.yield()V 4000
		cpu 1;App pseudojbb;Run pseudojbb;com.ibm.JikesRVM.MainThread;Lspec/jbb/Warehouse:.run()V 2000
		cpu 1;com.ibm.JikesRVM.VM_IdleThread;Lcom/ibm/JikesRVM/VM_Thread:.yield()V 1000
		cpu 1;com.ibm.JikesRVM.VM_TraceWriter 500
	END
}

@test "events of threads without names, one after the other, have their threads" {
	mkdir trace
	cat >trace/metadata <<-'END'
		trace { major = 1; minor = 8; byte_order = le; };
		typealias integer { size = 8; } := b;
		stream { };
		event { name = e; fields := struct { b tid; b n; }; };
	END
	printf '\1\1\2\2\2\3\1\4\3\5\2\6' >trace/stream
	clean telcat -f chrome trace | python3 -c '
import json, sys
events = json.load(sys.stdin)
events = events["traceEvents"] if isinstance(events, dict) else events
names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events
         if e.get("name") == "thread_name"}
for e in events:
    if e["ph"] == "i":
        print(e["args"]["n"], names[e["pid"], e["tid"]])' >got
	diff - got <<-'END'
		1 thread 1
		2 thread 2
		3 thread 2
		4 thread 1
		5 thread 3
		6 thread 2
	END
}

@test "ranges that overlap have tracks of their own" {
	"$TEL_BUILD/tests/test_hpm" --make \
	    "$TEL_TOP/tests/data/hpm/strange-flags.txt" .
	telcat -q -f chrome HPM.1.startup >strange.trace
	python3 "$read_trace" strange.trace >/dev/null
	python3 - strange.trace <<-'END'
		import json, sys
		busy, tracks = {}, set()
		for e in json.load(open(sys.argv[1]))["traceEvents"]:
		    if e["ph"] == "X":
		        assert e["ts"] >= busy.get(e["tid"], 0)
		        busy[e["tid"]] = round(e["ts"] + e["dur"], 3)
		        tracks.add(e["tid"])
		assert len(tracks) >= 2
	END
	# more at once than there are tracks for
	toy | sed '/^0/d' >many.txt
	for i in $(seq 300); do
		printf '%016X LoadBegin key=%d what="x"\n' "$i" "$((i + 10))"
	done >>many.txt
	clean telcat -f perfetto many.txt >many.trace
	python3 "$read_trace" many.trace >got
	[ "$(grep -c '| instant | Load x |' got)" = "$((300 - 256))" ]
	grep -q '^open: 256$' got
}

@test "start, middle and end of an inst log, by the path of their class" {
	telcat -q -f perfetto "$TEL_TOP/tests/data/inst/hfs.txt" >hfs.trace
	python3 "$read_trace" hfs.trace >got
	grep -q '/HFS:VSM:BlockAllocate | [0-9]* | begin | HFS:VSM:BlockAllocate | ' got
	grep -q '| instant | HFS:VSM:BlockAllocate | ' got
	telcat -q -f folded "$TEL_TOP/tests/data/inst/hfs.txt" >got
	grep -q '^HFS:VSM:BlockAllocate [1-9][0-9]*$' got
}

@test "what a timeline cannot show is reported" {
	unpack 1.118.0-lii6gc-poolncv
	expect 1 'telcat: *no selected event is the start or end*' \
	    telcat -f folded -k Pool mpsio.log
	run -0 --separate-stderr telcat -f chrome HPM.1.startup
	[ "$stderr" = 'telcat: HPM.1.startup: the log does not record the rate of its clock: assuming 1 tick = 1 ns; set --tb-hz' ]
	run -0 --separate-stderr telcat -q -f chrome HPM.1.startup
	[ -z "$stderr" ]
	# nothing to show is a trace all the same
	clean telcat -f chrome -n 0 mpsio.log >none
	python3 -m json.tool none >/dev/null
	clean telcat -f perfetto -n 0 mpsio.log | cmp - /dev/null
	telcat -f chrome mpsio.log | head -c 100 >/dev/null
	run -1 --separate-stderr bash -c 'telcat -q -f folded HPM.1.startup >/dev/full'
	[ "$stderr" = 'telcat: standard output: No space left on device' ]
	if has_terminal; then
		run -2 script -qec 'telcat -f perfetto mpsio.log' /dev/null
		[[ $output == *'refusing to write binary output to a terminal'* ]]
	fi
	# by a pipe, and one file after the other
	telcat -f perfetto mpsio.log >one.trace
	telcat -f perfetto <mpsio.log >two.trace
	diff <(python3 "$read_trace" one.trace | sed 's,^[^/|]*,,') \
	    <(python3 "$read_trace" two.trace | sed 's,^[^/|]*,,')
	clean telcat -f chrome --no-merge mpsio.log mpsio.log >two.json
	[ "$(grep -c process_name two.json)" = 2 ]
	python3 "$read_trace" two.json | sed '$d' >got
	python3 "$read_trace" <(telcat -f chrome mpsio.log) | sed '$d' >want
	cat want want | diff - got
}

@test "counters of an MPS log have the names of pools, and the sums of events" {
	for name in 1.118.0-lii6gc-poolncv 1.113.0-lii6gc-poolncv; do
		unpack "$name"
		telcat -q -S -f json mpsio.log |
		    python3 "$TEL_TOP/tests/cli/timeline_sums.py" >want
		[ "$(wc -l <want)" -ge 7 ]
		for form in perfetto chrome; do
			telcat -q -f $form mpsio.log >t.trace
			python3 "$read_trace" t.trace | awk -F ' [|] ' '
			    $3 == "counter" { sub(".*/", "", $1); v[$1] = v[$1] " " $4 }
			    END { for (n in v) print n v[n] }' | LC_ALL=C sort | diff want -
		done
	done
}
