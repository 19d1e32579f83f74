#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Allocations by stack: telcat -f folded --weight, telstat --stacks.

# "run --separate-stderr" sets stderr.
# shellcheck disable=SC2154,SC2094

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	ALLOC=$TEL_TOP/tests/data/alloc
	SCRIPT=$TEL_TOP/tests/cli/stacks.py
}

# A trace by hand.  1 is main, 2 work, 3 a helper that work called, 4 another
# function that main called.
by_hand() {
	cat <<-END
		v 10400 3
		t 1000 0
		t 2000 1
		t 3000 2
		t 4000 1
		c 0
		+ 64 3 aa00
		+ 10 4 bb00
		c 2
		- aa00
		+ 20 3 cc00
		+ 30 2 dd00
		c 5
		- dd00
		+ 8 0 ee00
		+ 30 3 aa00
		c a
		- aa00
		- ff00
	END
}

@test "a trace by hand, each weight" {
	by_hand >hand
	telcat -f folded --weight allocated hand >got
	cmp got - <<-END
		0x1000;0x2000 48
		0x1000;0x2000;0x3000 180
		0x1000;0x4000 16
		<none> 8
	END
	telcat -f folded hand | cmp got -
	# 0x64 + 0x10, before anything was freed
	telcat -f folded --weight peak hand >got
	cmp got - <<-END
		0x1000;0x2000;0x3000 100
		0x1000;0x4000 16
	END
	telcat -f folded --weight leaked hand >got
	cmp got - <<-END
		0x1000;0x2000;0x3000 32
		0x1000;0x4000 16
		<none> 8
	END
	telcat -f folded --weight count hand >got
	cmp got - <<-END
		0x1000;0x2000 1
		0x1000;0x2000;0x3000 3
		0x1000;0x4000 1
		<none> 1
	END
}

@test "what a log leaves counts at the peak of the next one" {
	by_hand >hand
	# more than the other leaves, and less than that had at its peak
	printf 'v 10400 3\nt 5000 0\n+ 60 1 aa00\n' >one
	for logs in "hand one" "one hand"; do
		# shellcheck disable=SC2086
		telstat --no-merge $logs >got
		live=$(awk '$1 == "live" { print $4 }' got)
		peak=$(awk '$1 == "peak" && $3 == "blocks" { print $4 }' got)
		((peak >= live)) || { cat got >&2; false; }
		# shellcheck disable=SC2086
		telcat -f folded --weight peak --no-merge $logs >got
		[ "$(awk '{ sum += $2 } END { print sum }' got)" -eq "$peak" ]
	done
}

@test "real traces, as another program adds them up" {
	for trace in "$ALLOC"/*.heaptrack.zst; do
		for weight in allocated peak leaked count; do
			echo "$trace $weight"
			zstd -dqc "$trace" | python3 "$SCRIPT" $weight >want
			telcat -f folded --weight $weight "$trace" >got
			cmp got want
			test -s got
		done
	done
}

@test "stacks come through text, .tel, filters and pipes" {
	trace=$ALLOC/perl.heaptrack.zst
	telcat -f folded --weight leaked "$trace" >want
	telcat "$trace" | telcat -f folded --weight leaked | cmp want -
	telcat -f tel "$trace" >perl.tel
	telcat -f folded --weight leaked perl.tel | cmp want -
	telcat -f folded --weight leaked -k Alloc perl.tel | cmp want -
	telcat -f folded --weight leaked -k Alloc "$trace" | cmp want -
	telfilter -k Alloc perl.tel | telcat -f folded --weight leaked |
	    cmp want -
	telcat "$trace" | telfilter -k Alloc |
	    telcat -f folded --weight leaked | cmp want -
	telfilter -k Alloc "$trace" | telcat -f folded --weight leaked |
	    cmp want -
	# two programs: addresses of one are not those of the other
	telcat -f folded --weight allocated "$trace" "$trace" >twice
	telcat -f folded --weight allocated "$trace" |
	    awk '{ print $1, 2 * $2 }' | cmp - twice
	telcat -f folded --weight leaked "$trace" "$trace" >twice
	awk '{ print $1, 2 * $2 }' want | cmp - twice
}

@test "names of frames: lines, inlined functions, separators" {
	cat >named <<-'END'
		# teltools text 1
		# type: malloc 1 Alloc address:address size:unsigned trace:unsigned
		# type: trace 2 Trace number:unsigned ip:address parent:unsigned
		# role: malloc alloc address size stack=trace
		# role: trace frame number ip parent
		0000000000000001 trace number=7 ip=0x10["main at m.c:3"] parent=0
		0000000000000002 trace number=9 ip=0x20["leaf at l.h:1 <- middle at l.h:2 <- work(a; b) at w.c:30"] parent=7
		0000000000000003 trace number=11 ip=0x24["work(a; b) at w.c:31"] parent=7
		0000000000000004 malloc address=0x1000 size=10 trace=9
		0000000000000005 malloc address=0x2000 size=20 trace=11
		0000000000000006 malloc address=0x3000 size=30 trace=7
		0000000000000007 malloc address=0x4000 size=40 trace=5
	END
	telcat -f folded --weight count named >got
	cmp got - <<-END
		<unknown> 1
		main 1
		main;work(a: b) 1
		main;work(a: b);middle;leaf 1
	END
	telstat --stacks -f json named | grep '"stack"' >got
	grep -q '"stack":"main at m.c:3;work(a: b) at w.c:30;middle at l.h:2;leaf at l.h:1","allocations":1,"allocated_bytes":10,' got
	[ "$(wc -l <got)" -eq 4 ]
	telstat --stacks named >text
	grep -A4 '^3\.  leaked 20 bytes in 1 block  peak 20 bytes in 1 block$' text >third
	grep -qx '    work(a: b) at w.c:31' third
	grep -qx '    main at m.c:3' third
}

@test "a frame that calls itself, and one that is not there" {
	cat >circle <<-'END'
		# teltools text 1
		# type: malloc 1 Alloc trace:unsigned address:address size:unsigned
		# type: trace 2 Trace number:unsigned ip:address parent:unsigned
		# role: malloc alloc address size stack=trace
		# role: trace frame number ip parent
		0000000000000001 trace number=1 ip=0x10 parent=2
		0000000000000002 trace number=2 ip=0x20 parent=3
		0000000000000002 trace number=3 ip=0x30 parent=1
		0000000000000003 trace number=4 ip=0x40 parent=4
		0000000000000003 trace number=5 ip=0x50 parent=99
		0000000000000004 malloc trace=1 address=0x1000 size=10
		0000000000000005 malloc trace=3 address=0x2000 size=10
		0000000000000006 malloc trace=4 address=0x3000 size=10
		0000000000000007 malloc trace=5 address=0x4000 size=10
	END
	telcat -f folded --weight count circle >got
	cmp got - <<-END
		0x30 1
		0x30;0x20;0x10 1
		0x40 1
		0x50 1
	END
}

@test "frames of a process are its own, whichever field has its number" {
	local fields
	for fields in 'pid:unsigned number:unsigned' 'number:unsigned pid:unsigned'; do
		cat >several <<-END
			# teltools text 1
			# type: malloc 1 Alloc address:address size:unsigned trace:unsigned pid:unsigned
			# type: trace 2 Trace $fields ip:address parent:unsigned
			# role: malloc alloc address size stack=trace process=pid
			# role: trace frame number ip parent process=pid
			0000000000000001 trace pid=1 number=1 ip=0x10["one"] parent=0
			0000000000000002 trace pid=2 number=1 ip=0x20["two"] parent=0
			0000000000000003 malloc address=0x1000 size=16 trace=1 pid=1
			0000000000000004 malloc address=0x2000 size=32 trace=1 pid=2
		END
		telcat -q -f folded several | diff -u - <(printf 'one 16\ntwo 32\n')
	done
}

@test "callers of mtrace are stacks of one frame" {
	# those of an object that exports no symbols have their addresses
	printf '%s\n' '@ ./a:[0x10] + 0x1000 0x5' '@ ./a:[0x20] + 0x2000 0x6' \
	    '@ ./b:[0x20] + 0x3000 0x7' '@ ./b:(f+0x8)[0x28] + 0x4000 0x8' |
	    telcat -f folded >got
	diff got - <<-'END'
		./a:[0x10] 5
		./a:[0x20] 6
		./b:(f+0x8) 8
		./b:[0x20] 7
	END
	telcat -f folded --weight leaked "$ALLOC/perl.mtrace.zst" >got
	telstat --stacks=leaked --top 1 -f json "$ALLOC/perl.mtrace.zst" >json
	grep -q '"stack":"perl:(Perl_safesysmalloc+26)".*"leaked_bytes":94678,' json
	grep -qx 'perl:(Perl_safesysmalloc+26) 94678' got
}

@test "telstat: order, limit, others, and how long blocks lived" {
	by_hand >hand
	telstat --stacks=allocated --top 1 -f csv hand |
	    sed -n 's/\r$//; s/^[^,]*,,stack,//p' >got
	# the last one of several keys is that of the report
	diff <(telstat --blocks size --blocks stack hand) <(telstat --stacks hand)
	# 0x64 lived for 2 ms, 0x30 for 5
	cmp got - <<-END
		allocations,,,0x1000;0x2000;0x3000,3,
		allocated_bytes,,,0x1000;0x2000;0x3000,180,
		peak_blocks,,,0x1000;0x2000;0x3000,1,
		peak_bytes,,,0x1000;0x2000;0x3000,100,
		leaked_blocks,,,0x1000;0x2000;0x3000,1,
		leaked_bytes,,,0x1000;0x2000;0x3000,32,
		freed,,,0x1000;0x2000;0x3000,2,
		temporary,,,0x1000;0x2000;0x3000,1,
		lifetime_min,,,0x1000;0x2000;0x3000,2000000,
		lifetime_0.5,,,0x1000;0x2000;0x3000,2031615,
		lifetime_0.9,,,0x1000;0x2000;0x3000,5000000,
		lifetime_0.99,,,0x1000;0x2000;0x3000,5000000,
		lifetime_max,,,0x1000;0x2000;0x3000,5000000,
		allocations,,,<other>,3,
		allocated_bytes,,,<other>,72,
		peak_blocks,,,<other>,1,
		peak_bytes,,,<other>,16,
		leaked_blocks,,,<other>,2,
		leaked_bytes,,,<other>,24,
		freed,,,<other>,1,
		temporary,,,<other>,1,
	END
	for weight in leaked peak allocated count; do
		telstat --stacks=$weight -f json hand | grep '"stack"' |
		    head -n 1 >got
		grep -q '"stack":"0x1000;0x2000;0x3000"' got
	done
	telstat --stacks --quantiles 0.25 -f json hand | grep -q '"lifetime_0.25":'
	telstat --stacks hand >text
	grep -qx 'Stacks by leaked bytes:  3' text
	grep -qx '    lived  0.5 < 3 ms  0.9 5 ms  0.99 5 ms  most 5 ms' text
	telstat --stacks -f svg hand >picture.svg
	grep -q '<svg' picture.svg
	for trace in "$ALLOC"/*.heaptrack.zst; do
		telstat --stacks -f json "$trace" | python3 -c '
import json, sys
for line in sys.stdin:
    row = json.loads(line)
    if row["type"] == "stack" and row["freed"] > 0 and "lifetime_min" in row:
        print(row["stack"], row["freed"], row["lifetime_min"],
              row["lifetime_max"])
' | LC_ALL=C sort >got
		zstd -dqc "$trace" | python3 "$SCRIPT" lives |
		    LC_ALL=C sort >want
		# those that leaked nothing are in one row
		LC_ALL=C comm -23 got want >wrong
		[ ! -s wrong ]
	done
}

@test "pools of MPS logs, as another program adds them up" {
	for log in 1.118.0-lii6gc-poolncv 1.118.0-lii6gc-awlut \
	    1.118.0-lii6gc-mpmss-object-only 1.114.0-lii6gc-poolncv \
	    1.111.0-lii6gc-poolncv; do
		unpack "$log"
		telcat -q -S -f json mpsio.log >events.json
		for weight in allocated peak leaked count; do
			echo "$log $weight"
			python3 "$TEL_TOP/tests/cli/stacks_pools.py" $weight \
			    <events.json >want
			telcat -q -f folded --weight $weight mpsio.log >got
			diff -u want got
		done
	done
	# a log without ranges has these by default: not one flat line
	unpack 1.118.0-lii6gc-poolncv
	clean telcat -f folded mpsio.log >got
	cmp got - <<-END
		MFSPool;CBSBlock 192
		MFSPool;pool 0x7f1d0b372160 120
		MFSPool;pool 0x7f1d0b372dc0 96
		MVFFPool;Control 728
	END
	# and so has a report; the pools were destroyed, with all in them
	run -0 --separate-stderr telstat --stacks=allocated --report mpsio.log
	[[ $output == *$'allocated 728 bytes in 6 blocks\n'*$'    Control\n    MVFFPool\n'* ]]
	[ -z "$stderr" ]
}

@test "pools by hand: buffers, two of one address, and one destroyed" {
	cat >hand <<-END
		# teltools text 1
		# format: toy-1
		# version: 1
		# type: PoolInit 1 Pool pool:pointer class:pointer
		# type: PoolEnds 2 Pool pool:pointer
		# type: BufferInit 3 Pool buffer:pointer pool:pointer
		# type: BufferEnds 4 Pool buffer:pointer
		# type: Commit 5 Object at:address size:unsigned buffer:pointer
		# type: Alloc 6 Object pool:pointer at:address size:unsigned
		# type: Free 7 Object pool:pointer at:address
		# role: PoolInit create-pool pool=pool
		# role: PoolEnds destroy-pool pool=pool
		# role: BufferInit create-buffer pool=pool buffer=buffer
		# role: BufferEnds destroy-buffer buffer=buffer
		# role: Commit commit at size buffer=buffer
		# role: Alloc alloc at size pool
		# role: Free free at - pool
		0000000000000001 PoolInit pool=0xa class=0xc["Copy;ing"]
		0000000000000002 BufferInit buffer=0xb pool=0xa
		0000000000000003 Commit at=0x10 size=100 buffer=0xb
		0000000000000004 Commit at=0x200 size=7 buffer=0xd
		0000000000000005 Alloc pool=0xe["lone"] at=0x300 size=5
		0000000000000006 BufferEnds buffer=0xb
		0000000000000007 Commit at=0x400 size=20 buffer=0xb
		0000000000000008 Alloc pool=0xa at=0x500 size=1000
		0000000000000009 Alloc pool=0xa at=0x600 size=2000
		000000000000000A Free pool=0xa at=0x500
		000000000000000B PoolEnds pool=0xa
		000000000000000C PoolInit pool=0xa class=0xf
		000000000000000D Alloc pool=0xa at=0x10 size=3
		000000000000000E PoolEnds pool=0x77
	END
	telcat -f folded --weight allocated hand >got
	diff -u - got <<-END
		<unknown> 27
		Copy:ing;pool 0xa 3100
		lone 5
		pool 0xa 3
	END
	telcat -f folded --weight leaked hand >got
	diff -u - got <<-END
		<unknown> 27
		lone 5
		pool 0xa 3
	END
	telcat -f folded --weight peak hand >got
	diff -u - got <<-END
		<unknown> 27
		Copy:ing;pool 0xa 3100
		lone 5
	END
}

@test "pools of logs of which many are read as one" {
	for i in $(seq 70); do
		zstd -dc "$TEL_TOP/tests/data/mps/1.118.0-lii6gc-poolncv.log.zst" \
		    >"$i.log"
	done
	# beyond 64 a log is closed once it has ended
	telstat --stacks ./*.log >all
	grep 'logs 70  events 10,080' all
	telstat -S -f json ./*.log >all
	[ "$(grep -c '"type":"pool","name":"MVFF Control"' all)" = 70 ]
}

@test "what is wrong with the options is said" {
	by_hand >hand
	run -2 telcat -f folded --weight most hand
	[[ $output == *"'most' is not one of: allocated, peak, leaked, count"* ]]
	run -2 telcat --weight count hand
	[[ $output == *'--weight cannot be combined with -f text'* ]]
	run -2 telstat --stacks=size hand
	[[ $output == *"'size' is not one of: leaked, peak, allocated, count"* ]]
	run -2 telstat --stacks -f inst hand
	[[ $output == *'--stacks cannot be combined with -f inst'* ]]
	run -1 telcat -f folded --weight count "$ALLOC/short.rep"
	[[ $output == *'records its stack, its caller or its pool'* ]]
	run -0 --separate-stderr telstat --stacks "$ALLOC/short.rep"
	[[ $stderr == *'records its stack, its caller or its pool'* ]]
	# a profile has stacks, but allocates nothing
	printf '%s\n' 'a 1 1.000001: 500 cycles: ' '	ffff0010 f+0x1 (a)' '' >profile
	run -0 --separate-stderr telstat --blocks=thread profile
	[[ $stderr == 'telstat: --blocks: no selected event allocates' ]]
	run -0 --separate-stderr telstat --stacks -w false profile
	[[ $stderr == 'telstat: --stacks: no selected event allocates, or is a sample of a stack' ]]
}

@test "who holds memory in a page is the innermost function that is no allocator" {
	python3 - >parts.txt <<-'END'
		print("# teltools text 1")
		print("# type: get 1 Alloc at:address size:unsigned trace:unsigned")
		print("# type: trace 2 Trace number:unsigned ip:address parent:unsigned")
		print("# role: get alloc at size stack=trace")
		print("# role: trace frame number ip parent")
		stacks = [["leaf"], ["main", "add(std::string, Alloc)"],
		    ["main", "std::map<int> add<int>(alloc<int>)"],
		    ["malloc", "Alloc"]] + [[f"f{i}", name] for i, name in
		    enumerate(("xalloc", "myAlloc", "operator new(int)", "_Znwm", "_Znam",
		        "std::x", "__gnu_cxx::y", "strdup", "strndup", "V::grow",
		        "V::resize", "V::reserve", "V::push_back", "V::emplace"))]
		number = 0
		for k, stack in enumerate(stacks):
		    parent = 0
		    for name in stack:
		        number += 1
		        print(f'{k:016X} trace number={number} ip={number:#x}["{name}"] '
		              f"parent={parent}")
		        parent = number
		    print(f"{k:016X} get at={64 * k + 64:#x} size={k + 1} trace={parent}")
	END
	telcat -f html parts.txt >page.html
	python3 - "$TEL_TOP/tests/page" <<-'END' >got
		import sys
		sys.path.insert(0, sys.argv[1])
		import read_page
		stacks = read_page.Page("page.html").memory()[0]
		print(*[s[1] for s in sorted(stacks, key=lambda s: s[2])])
	END
	[ "$(cat got)" = "leaf add(std::string, Alloc) std::map<int> add<int>(alloc<int>) Alloc $(seq -s ' ' -f f%.0f 0 13)" ]
}
