#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The specification of the native format: tel_reader.py was written from
# tel(5), shares no code with libtel, and decodes what libtel writes.

# "run --separate-stderr" sets stderr.
# shellcheck disable=SC2154,SC2094
bats_require_minimum_version 1.5.0
load "${TEL_TOP:-$BATS_TEST_DIRNAME/../..}/tests/environment"

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
}

# log FILE ...: the .tel of logs, and what telcat reads in it.
logs=()
log() {
	local name=${#logs[@]}.log
	echo "$name: $*"
	telcat -q -f tel "$@" >"$name.tel"
	telcat -q --file-order -f json "$name.tel" >"$name.json"
	logs+=("$name")
}

# agree [ANNEX]: both decoders see the same in all logs.
agree() {
	run -0 python3 "$TEL_TOP/tests/spec/compare.py" \
	    "${1-$TEL_BUILD/schemas.tel.gz}" "${logs[@]}"
	diff -u <(echo "$output") <(for log in "${logs[@]}"; do
		wc -l <"$log.json"
	done)
}

@test "a decoder written from tel(5) reads every log of an MPS" {
	for log in $(printf '%s\n' "$TEL_TOP"/tests/data/mps/*.log.zst | sample 5); do
		log "$log"
	done
	[ "${#logs[@]}" -ge 6 ]
	agree
}

@test "it reads big-endian logs" {
	# a fault of byte order that is written and read alike shows here only
	for log in 1.118.0-lii6gc-poolncv 1.116.0-lii3gc-amcss; do
		zstd -dcq "$TEL_TOP/tests/data/mps/$log.log.zst" >little
		telcat -q -f mps,be little >big
		run ! cmp -s little big
		log big
	done
	agree
}

@test "it reads the logs of other formats" {
	cp "$TEL_TOP"/tests/data/hpm/v3be/HPM.* .
	for log in HPM.1.startup "$TEL_TOP"/tests/data/inst/hfs.txt \
	    "$TEL_TOP"/tests/data/ets/boot.text \
	    "$TEL_TOP"/tests/data/ctf/all.ctf.tar.zst \
	    $(printf '%s\n' "$TEL_TOP"/tests/data/{jfr/*.jfr.zst,alloc/*.*} |
	        sample 3); do
		log "$log"
	done
	[ "${#logs[@]}" -ge 14 ]
	agree
}

@test "schemas that files refer to by name do not change" {
	# when this fails: append the types, and add a line; change none
	run -0 python3 - "$TEL_BUILD/schemas.tel.gz" <<-'END'
		import gzip, os, sys
		sys.path.insert(0, os.environ["TEL_TOP"] + "/tests/spec")
		import tel_reader as tel
		annex = tel.read_annex(gzip.open(sys.argv[1]).read())
		for name in ("android", "heaptrack", "kdump", "logalloc", "ltrace",
		        "mtrace", "rep", "valgrind", "inst-1", "hpm-1.8/ppc",
		        "hpm-2.1/x86", "hpm-2.6-nomids/ppc", "hpm-3.8/x86"):
		    s = annex[name]
		    for n in {"inst-1": [46, 48]}.get(name, []) + [s.ntypes]:
		        print(name, n, s.digest(n).hex())
	END
	diff -u - <(echo "$output") <<-'END'
		android 7 01f9332e
		heaptrack 6 836382ec
		kdump 11 89fc9a56
		logalloc 11 9fda433f
		ltrace 16 b61ae442
		mtrace 3 5b486011
		rep 3 9722cdcb
		valgrind 17 f618d38b
		inst-1 46 02ff6f6e
		inst-1 48 f5249531
		inst-1 51 0c91426e
		hpm-1.8/ppc 6 ba772868
		hpm-2.1/x86 6 137e460d
		hpm-2.6-nomids/ppc 6 eb704413
		hpm-3.8/x86 6 4d0167b8
	END
}

@test "the example of tel(5) leads from a platform to types and their digest" {
	run -0 python3 - "$TEL_BUILD/schemas.tel.gz" <<-'END'
		import copy, gzip, os, sys
		sys.path.insert(0, os.environ["TEL_TOP"] + "/tests/spec")
		import tel_reader as tel
		annex = tel.read_annex(gzip.open(sys.argv[1]).read())
		def digest(name, key):
		    s = copy.copy(annex[key])
		    s.name = name
		    return s.digest(s.ntypes).hex(" ").upper()
		ll = "mps-1.117.0/lii6ll"
		assert ll + ",be" not in annex
		assert tel.layout_name(ll + ",be") == "mps-1.117.0/lii6gc,be"
		assert annex["mps-1.117.0/lii6gc,be"].ntypes == 98
		print(digest(ll, ll))
		print(digest(ll + ",be", tel.layout_name(ll + ",be")))
		print(digest("mps-1.117.0/lii6gc,be", "mps-1.117.0/lii6gc,be"))
		for release in range(111, 119):
		    for name in ("lii6ll", "lia6gc", "fri6ll", "w3i6pc", "xca6ll"):
		        assert "mps-1.%d.0/%s" % (release, name) in annex
	END
	[ "${#lines[@]}" -eq 3 ]
	for digest in "${lines[@]}"; do
		tr '\n' ' ' <"$TEL_TOP/man/tel.5" | grep -qF "$digest"
	done
	# and libtel gives a log of that platform this digest
	zstd -dcq "$TEL_TOP/tests/data/mps/1.117.0-lii6gc-poolncv.log.zst" |
	    telcat -q -f mps/lii6ll,be >log
	telcat -q --as mps-1.117.0/lii6ll,be -f tel log >log.tel
	hex=$(od -An -v -tx1 log.tel | tr -d ' \n')
	digest=${lines[1]// /}
	[[ $hex == *"${digest,,}"* ]]
}

# patch FILE OLD NEW: the records of a file with other bytes in their bodies.
patch_records() {
	PYTHONPATH=$TEL_TOP/tests/spec python3 - "$@" <<-'END'
		import sys
		import tel_reader as tel
		from tel_writer import Stream
		data = open(sys.argv[1], "rb").read()
		old, new = map(bytes.fromhex, sys.argv[2:])
		out = Stream.__new__(Stream)
		out.data, out.hash, found = b"", 0, 0
		for kind, needed, head, body, _, _ in tel.records(data):
		    if kind == tel.END:
		        break
		    found += old in body
		    out.record(kind, head, body.replace(old, new), needed)
		assert found
		out.events = int.from_bytes(head[16:24], "little")
		sys.stdout.buffer.write(out.end())
	END
}

@test "a schema that got more types since is found by its first types" {
	telcat -q -f tel "$TEL_TOP/tests/data/alloc/hand.kdump" >now.tel
	# the digest of all but the last one, free_sized
	first=$(python3 - "$TEL_BUILD/schemas.tel.gz" <<-'END'
		import gzip, os, sys
		sys.path.insert(0, os.environ["TEL_TOP"] + "/tests/spec")
		import tel_reader as tel
		s = tel.read_annex(gzip.open(sys.argv[1]).read())["kdump"]
		print(s.digest(s.ntypes - 1).hex())
	END
	)
	patch_records now.tel 89fc9a56 "$first" >then.tel
	telcat -q -H now.tel >now
	telcat -H then.tel | cmp - now
	telcat -q -f json then.tel >then.json
	logs=("then")
	agree
	# types that nobody knows
	patch_records now.tel 89fc9a56 01020304 >other.tel
	run -3 telcat -q -H other.tel
	[ -z "$output" ]
}

@test "a derived description has other names of fields, and nothing else" {
	cp "$TEL_TOP/tests/data/hpm/v3be"/HPM.* .
	telcat -q -f tel HPM.1.startup >now.tel
	run -0 telcat --types -q now.tel
	[[ $output == *PM_INST_CMPL:unsigned*PM_CYC:unsigned* ]]
	telcat -q -H HPM.1.startup >want
	telcat -q -H now.tel | cmp - want
	# a name that is not of the digest
	name=$(printf PM_INST_CMPL | od -An -tx1 | tr -d ' \n')
	other=$(printf PM_INST_XXXX | od -An -tx1 | tr -d ' \n')
	patch_records now.tel "$name" "$other" >other.tel
	run -3 --separate-stderr telcat -H other.tel
	[[ $stderr == *"9 events not read"*"newer version"* ]]
	# a field that there is not
	patch_records now.tel "120c$name" "7f0c$name" >other.tel
	run -3 telcat -q -H other.tel
}

@test "a small log is not larger than its input when compressed" {
	for log in "$TEL_TOP"/tests/data/{alloc/*,inst/*,stat/*.inst,mps/*.log.zst}; do
		case $log in *README.md) continue ;; esac
		zstd -qdcf "$log" >log
		size=$(wc -c <log)
		# a stream without events has some 200 bytes
		[ "$size" -ge 250 ] || continue
		telcat -q -f tel -z 3 log >log.tel
		echo "$log $size $(wc -c <log.tel)"
		[ "$(wc -c <log.tel)" -le "$size" ]
	done
	# of a trace, the names of counters, threads and methods are in its meta file
	for version in v1be v2be v3be; do
		cp "$TEL_TOP/tests/data/hpm/$version"/HPM.* .
		telcat -q -f tel HPM.1.startup >log.tel
		[ "$(wc -c <log.tel)" -le "$(cat HPM.1.startup HPM.headerFile | wc -c)" ]
	done
}

@test "it reads several logs in one stream, and several streams" {
	log "$TEL_TOP"/tests/data/alloc/perl.mtrace.zst \
	    "$TEL_TOP"/tests/data/inst/hfs.txt
	agree
	cat 0.log.tel 0.log.tel >two.tel
	telcat -q -f json two.tel >two.json
	logs=(two)
	agree -
}

@test "it finds the summaries and the directory of a long stream true" {
	zstd -qdc "$TEL_TOP/tests/data/mps/1.118.0-lii6gc-poolncv.log.zst" >seed.log
	python3 - <<-'END'
		import struct
		seed, events, at = open("seed.log", "rb").read(), [], 0
		while at < len(seed):
		    size, = struct.unpack_from("<H", seed, at + 2)
		    clock, = struct.unpack_from("<Q", seed, at + 8)
		    events.append((clock, seed[at:at + 8], seed[at + 16:at + size]))
		    at += size
		with open("long.log", "wb") as out:
		    for copy in range(8 * 131072 * 66 // 32 // len(seed)):
		        for clock, head, tail in events:
		            clock += copy * 3000000
		            out.write(head + struct.pack("<Q", clock) + tail)
	END
	telcat -q -f tel long.log >long.tel
	run -0 python3 - "$TEL_BUILD/schemas.tel.gz" <<-'END'
		import gzip, os, sys
		sys.path.insert(0, os.environ["TEL_TOP"] + "/tests/spec")
		import tel_reader as tel
		data, kinds = open("long.tel", "rb").read(), []
		# it checks each summary and directory against the blocks
		annex = tel.read_annex(gzip.open(sys.argv[1]).read())
		print(sum(1 for _ in tel.read(data, annex)))
		for kind, _, head, body, _, _ in tel.records(data):
		    kinds.append(kind)
		    if kind == tel.DIRECTORY:
		        b = tel.Bytes(body)
		        for _ in range(tel.Bytes(head).varint()):
		            entry = [b.varint() for _ in range(5)]
		            entry += [b.varint() for _ in range(6 if entry[4] else 5)]
		            b.take(8)
		            print(entry[3] > 0, entry[4] > 0)
		assert kinds.count(tel.SUMMARY) > 1
	END
	echo "$output"
	[ "${lines[0]}" = "$(telcat -c long.log)" ]
	[ "${lines[1]}" = "True False" ]
	[ "${lines[2]}" = "True True" ]
}

@test "all blocks of a short stream are in groups if any is" {
	# a group ends after 4096 events that define names; strings and labels get
	# others, labels also ones that were in force before, the clock has a drift
	awk 'BEGIN {
		print "# teltools text 1\n# format: mps-1.118.0/lii6gc"
		for (n = 1; n <= 15000; n++) {
			at = n % 20 == 7 ? n - 5000 * (n > 5000) : n
			printf "%016X ", at
			if (n % 1500 == 2)
				printf "EventClockSync clock=%d\n", n * n
			else if (n % 4 == 3)
				printf "Label address=0x%x stringId=%d\n", \
				    n % 1000, n % 4500
			else if (n % 9 == 4)
				printf "LabelPointer pointer=0x%x stringId=%d\n", \
				    n % 1000, n % 4500
			else
				printf "Intern stringId=%d string=\"s%d\"\n", \
				    n % 4500, n
		}
	}' >names.text
	log names.text
	agree
	# the last blocks are read by the directory as by all records
	telcat -q -H -t 0x3900, 0.log.tel >got
	telcat -q -H -t 0x3900, names.text | cmp - got
	[ -s got ]
}

# make NAME: what the independent encoder makes of a case of cases.py.
make_case() {
	python3 "$TEL_TOP/tests/spec/cases.py" "$1" >"$1.tel"
}

@test "the process, thread and processor of a block are fields of its events" {
	make_case source
	telcat -q -H source.tel >text
	diff -u - text <<-'END'
		00000000000003E8 Alloc addr=0x1000 size=16 tag="hi" pid=77 tid=5["worker"] cpu=1
		00000000000007D0 Start id=5 pid=77 tid=5["worker"] cpu=1
		00000000000009C4 Alloc addr=0x2000 size=32 tag="there" pid=77 tid=5["worker"] cpu=1
		0000000000000BB8 Stop id=5 pid=77 tid=5["worker"] cpu=1
		0000000000000FA0 Alloc addr=0x1000 size=16 tag="hi" tid=6
	END
	[ "$(telfilter -c -w 'tid == 5' source.tel 2>err)" = 4 ]
	[ "$(telfilter -c -w 'cpu == 1 && pid == 77' source.tel 2>err)" = 4 ]
	# they survive a filter, and text
	telfilter -w 'tid == 5' source.tel 2>err | telcat -q -H >got
	head -n 4 text | cmp - got
	telcat -q source.tel | telcat -q -H | cmp - text
	# logs that are merged have them, too
	telcat -q -H source.tel source.tel | cmp - <(sed p text)
	# a field of that name is the event's own
	make_case own
	[ "$(telcat -q -H own.tel)" = '0000000000000001 A pid=5 x=6 tid=8' ]
	# and make tracks, on which ranges are
	telcat -q -f chrome source.tel >tracks
	grep -q '"name":"thread 5 worker"' tracks
	grep -q '"name":"thread 6"' tracks
}

@test "numbers of each size, sign and byte order are loaded as tel(5) says" {
	make_case loads
	telcat -q -H loads.tel >text
	diff -u - text <<-'END'
		0000000000000001 Loads f0=8 f1=1800 f2=84281096 f3=72623859790382856 f4=1800 f5=84281096 f6=72623859790382856 f7=1800 f8=84281096 f9=1800 f10=84281096
		0000000000000002 Loads f0=254 f1=65534 f2=4294967294 f3=18446744073709551614 f4=65534 f5=4294967294 f6=18446744073709551614 f7=-2 f8=-2 f9=-2 f10=-2
	END
	log loads.tel
	agree
	[ "$(telfilter -c -w 'f4 == 1800 && f9 == 1800 || f10 == -2' loads.tel)" = 2 ]
}

@test "columns of each mode are decoded, for cells of each width" {
	make_case columns
	log columns.tel
	agree
	[ "$output" = "$(telcat -q -c columns.tel)" ]
}

# Each event is the earliest so far, from which the time of all logs counts.
@test "many logs of one time cost their sum, and not their product with events" {
	python3 - >log.tel <<-END
		import sys
		sys.path.insert(0, "$TEL_TOP/tests/spec")
		from tel_writer import Field, Schema, Stream, Type
		schema = Schema("s", [Type("S", [Field("x")])])
		out = Stream(rate=1e9)
		out.log(0, schema)
		schema.described = ()
		for number in range(1, 8000):
		    out.log(number, schema)
		for first in range(0, 196608, 32768):
		    out.block(0, schema, [(0, 196608 - first - i, (1,))
		                          for i in range(32768)], index=first)
		sys.stdout.buffer.write(out.end())
	END
	run -0 timeout 20 telcat -H -S -n 1 -T ns log.tel
	[ "$output" = '0 S x=1' ]
}

@test "what exceeds a limit of tel(5) costs its block, what does not is read" {
	python3 "$TEL_TOP/tests/spec/limits.py"
	run -0 --separate-stderr telcat -q -c ./*.good.tel
	# 6 around each block, the largest one, and 29 in the others
	[ "$output" = $((6 * 18 + 32768 + 29)) ]
	# it is not in a block with the events around it
	telcat -f tel -o rows.tel rows.good.tel
	[ "$(telcat -c rows.tel)" = 7 ]
	run -3 --separate-stderr telcat -c ./*.bad.tel
	# a LOG record costs no event
	[ "$output" = $((6 * 18 + 1)) ]
	diff -u - <(sed -n 's/, between.*//; s/; .*//; s/ of the format: its/:/
		s/^telcat: .\/\([a-z0-9]*\).bad.tel: .*\(damaged:\|version:\)/\1 \2/p' \
	    <<<"$stderr") <<-'END'
		alignment damaged: 1 events lost
		code damaged: 1 events lost
		distinct damaged: 2 events lost
		entries damaged: no event is lost
		events damaged: 32769 events lost
		fields version: 1 events are not read
		header damaged: 1 events lost
		list damaged: 1 events lost
		mode88 version: 2 events are not read
		mode98 version: 2 events are not read
		modec3 version: 2 events are not read
		moded0 version: 2 events are not read
		name damaged: 1 events lost
		number damaged: 1 events lost
		product damaged: 4096 events lost
		rows damaged: 1 events lost
		tenth damaged: 1 events lost
		word damaged: 1 events lost
	END
}

@test "a block whose body ends early is damaged, wherever that is" {
	make_case cut
	run -3 --separate-stderr telcat -c cut.tel
	[ "$output" -gt 200 ]
	[[ $stderr == *"cut.tel: $output damaged places, "* ]]
}

@test "descriptions of types at the limits of tel(5), and beyond" {
	python3 "$TEL_TOP/tests/spec/descriptions.py" types.tel >want
	[ "$(wc -l <want)" -gt 400 ]
	run -3 --separate-stderr telcat -H types.tel
	{
		sed -n 's/^\(0[0-9A-F]*\) .*/\1/p' <<<"$output"
		sed -n 's/.*: \(block [0-9]*\) needs a newer.*/\1/p' <<<"$stderr"
	} | sort | diff -u <(sort want) -
}

@test "blocks that each describe other types of one schema: little time" {
	PYTHONPATH=$TEL_TOP/tests/spec python3 - <<-'END'
		from tel_writer import Field, Schema, Stream, Type

		count = 10000
		schema = Schema("many", [Type(f"T{i}", [Field("x")], code=i + 1)
		                         for i in range(15)])
		digest = schema.digest()
		schema.digest = lambda: digest
		for kind in schema.types:
		    kind.describe = lambda text=kind.describe(): text
		stream = Stream()
		blocks = [stream.data]
		for k in range(1, count + 1):
		    schema.described = [0] + [i + 1 for i in range(14) if k >> i & 1]
		    stream.data = b""
		    stream.block(1, schema, [(0, k, (k,))], index=k - 1)
		    blocks.append(stream.data)
		open("many.tel", "wb").write(b"".join(blocks))
	END
	run -3 bash -c 'ulimit -t 4; telcat -q -f json many.tel >got'
	grep -c '"type":"T0",' got | grep -qx 10000
}

@test "of blocks that are lost, moved or repeated each is read once" {
	PYTHONPATH=$TEL_TOP/tests/spec python3 - <<-'END'
		import random
		from tel_writer import Field, Schema, Stream, Type
		s, out, draw = Schema("s", [Type("S", [Field("x")])]), Stream(), random.Random(1)
		out.log(0, s)
		at = [len(out.data)]
		for i in range(0, 80, 2):
		    out.block(0, s, [(0, i + k, (i + k,)) for k in range(2)], index=i)
		    at.append(len(out.data))
		blocks = [out.data[a:b] for a, b in zip(at, at[1:])]
		end = out.end()[at[-1]:]
		with open("want", "w") as want, open("want.lost", "w") as lost:
		    for n in range(40):
		        order = [i for i in range(40) if n % 2 or draw.random() > 0.05]
		        # few enough that each is reported
		        for _ in range(n % 3):
		            i = draw.randrange(len(order))
		            order.insert(min(i + draw.randrange(-1, 3), len(order) - 1),
		                         order.pop(i))
		        for _ in range(n % 5 // 2):
		            i = draw.randrange(len(order))
		            order.insert(i + draw.randrange(1, 4), order[i])
		        with open(f"{n:02}.tel", "wb") as file:
		            file.write(out.data[:at[0]] + b"".join(
		                blocks[i] for i in order) + end)
		        read = list(dict.fromkeys(order))
		        for i in read:
		            print(f"x={2 * i}\nx={2 * i + 1}", file=want)
		        print(f"{n:02}.tel", 80 - 2 * len(read), len(order) - len(read), file=lost)
	END
	telcat -q -H --no-merge --file-order ./*.tel | cut -d ' ' -f 3 | cmp - want
	# events that were reported as lost and came later are taken off
	run -3 --separate-stderr telcat -c --no-merge --file-order ./*.tel
	for log in *.tel; do
		sed -n "s/^telcat: .\/$log: //p" <<<"$stderr" | awk -v name="$log" '
		    / events lost/ { sub(/ events lost.*/, ""); lost += $NF }
		    / were reported as lost/ { lost -= 2 }
		    / occurs twice/ { twice++ }
		    END { print name, lost + 0, twice + 0 }'
	done >got.lost
	diff -u want.lost got.lost
}

@test "the types of a schema are described as blocks need them" {
	make_case parts
	log parts.tel
	agree
	[ "$output" = 8 ]
	telcat -q -H parts.tel >text
	head -n 4 text >first
	tail -n 4 text | cmp - first
	diff -u - first <<-'END'
		0000000000000001 Alloc addr=0x10 size=24 tag="x"
		0000000000000002 Alloc addr=0x30 size=8 tag="y"
		0000000000000003 Start id=5
		0000000000000004 Stop id=5
	END
}

@test "a range of a stream of 1.1.0 is found by its index" {
	make_case indexed
	# of 200 blocks, the one at 120,000 is damaged
	run -3 telcat -q -c indexed.tel
	[ "$output" = 59700 ]
	run -0 --separate-stderr telcat -H -t 0x2BF20,0x2BFFF indexed.tel
	[ -z "$stderr" ]
	[ "${#lines[@]}" = 224 ]
	[ "${lines[0]}" = "000000000002BF20 A x=180" ]
}

@test "a log that follows another one need not have the types selected" {
	PYTHONPATH=$TEL_TOP/tests/spec python3 - <<-'END'
		from tel_writer import Field, Schema, Stream, Type
		with open("two.tel", "wb") as file:
		    for i, name in enumerate(("Aaa", "Bbb")):
		        s = Schema(name, [Type(name, [Field("x" + name)])])
		        out = Stream(identifier=i + 1)
		        out.log(0, s)
		        out.block(0, s, [(0, 1, (1,)), (0, 2, (2,))])
		        file.write(out.end())
	END
	run -0 --separate-stderr telcat -H -e Aaa two.tel
	[ "${#lines[@]}" = 2 ]
	run -0 telfilter -c -w 'xAaa == 2' two.tel
	[ "$output" = 1 ]
	run -0 telfilter -c -v -e Aaa two.tel
	[ "$output" = 2 ]
	run -2 telcat -e Ccc two.tel
}

@test "events that were lost when a log was recorded are counted" {
	make_case source
	run -0 --separate-stderr telcat -H source.tel
	[ "$stderr" = "telcat: source.tel: 231 events lost when the log was recorded" ]
	run -0 telstat -q -f csv source.tel
	[[ $output == *lost*231* ]]
	# they survive a filter that keeps nothing
	telfilter -w 'addr == 1' source.tel >none.tel 2>err
	run -0 telstat none.tel
	[[ $output == *"231 events lost"* ]]
}

@test "the wall clock of a stream and of a log" {
	make_case source
	run -0 telcat -q -H -T iso -n 1 source.tel
	[[ $output == "2023-11-14T22:13:20.000001000Z Alloc "* ]]
	run -0 telcat -q -f json -T iso -n 1 source.tel
	[[ $output == '{"time":"2023-11-14T22:13:20.000001000Z",'* ]]
	# it survives a conversion
	telcat -q -f tel source.tel >again.tel
	run -0 telcat -q -H -T iso -n 1 again.tel
	[[ $output == "2023-11-14T22:13:20.000001000Z Alloc "* ]]
	# a log of its own origin and rate
	make_case clocks
	run -0 telcat -q -H -T iso clocks.tel
	[ "${lines[0]}" = "1969-12-31T23:59:59.500000000Z A x=1" ]
	[ "${lines[1]}" = "2000-02-29T00:00:00.250000000Z A x=2" ]
}

@test "names with control characters are spelled, and read back" {
	make_case names
	telcat -q names.tel >text
	run ! grep -q '[^ -~]' text
	grep -q 'Al\\x1b\\x5b31m\\x0ax addr=0x1000 si\\x1bze=16' text
	# a schema's name keeps what is printable, but has no blank
	grep -qx '# format: my\\x1b_app:(2)/1' text
	for option in '' --types '-f csv' '-f json'; do
		# shellcheck disable=SC2086
		telcat -q $option names.tel >out
		run ! grep -q $'\033' out
		# shellcheck disable=SC2086
		telcat -q $option text >again
		[ -n "$option" ] || cmp text again
	done
	telcat -q -f json names.tel >names.json
	telcat -q -f json text | cmp - names.json
	telcat -q -f tel names.tel | telcat -q | cmp - text
}

@test "a newer minor version is read, and reported" {
	make_case minor
	run -0 --separate-stderr telcat -c minor.tel
	[ "$output" = 1 ]
	[[ $stderr == *'version 1.1.99 of the native format; what is newer'* ]]
	[ "${#stderr_lines[@]}" = 1 ]
}

@test "reserved values need a newer version, and are not damage" {
	for case in load datatype fields median; do
		make_case "$case"
		run --separate-stderr telcat "$case.tel"
		echo "$case: $status $stderr"
		[[ $stderr == *"newer version"* || $stderr == *"version 1.2.0"* ]]
		[[ $stderr != *damage* ]]
		if [ "$case" = median ]; then
			[ "$status" = 1 ]
		else
			[ "$status" = 3 ]
			[[ $stderr == *"2 events not read"* ]]
		fi
	done
}

@test "kinds of records, and byte orders, that are not known" {
	make_case kinds
	run -1 --separate-stderr telcat -c kinds.tel
	[ "$output" = 2 ]
	[[ $stderr == "telcat: kinds.tel: "*"a record of kind 99, which the rest depends on, needs a newer version of the format"* ]]
	# with --force what does not depend on it is read
	[ "$(telcat -q -c --force kinds.tel)" = 3 ]
	make_case order
	run -1 --separate-stderr telcat -c order.tel
	[[ $stderr == *"the byte order of the stream, 3e, is not known"* ]]
}

@test "metadata is shown, set, and kept through conversions" {
	make_case source
	run -0 telcat --types -q source.tel
	[[ $output == *"# meta: host box"*"# meta: command app -x"* ]]
	telcat -q -f tel --meta-set host=other --meta-set run.id='a  b' source.tel \
	    >set.tel
	run -0 telstat -q set.tel
	[[ $output == *"host other"*"command app -x"*"run.id a  b"* ]]
	# through a filter, text, and both once more
	telfilter -n 1 set.tel 2>err | telcat -q | telcat -q -f tel >once.tel
	run -0 telcat -q once.tel
	[[ $output == *'# origin: 1700000000000000000'* ]]
	[[ $output == *'# meta: host other'*'# meta: run.id "a  b"'* ]]
	# logs that are merged keep their own
	telcat -q -f tel --meta-set host=third source.tel >third.tel
	telcat -q -f tel set.tel third.tel >both.tel
	run -0 telstat -q both.tel
	[[ $output == *"host other"*"host third"* ]]
	run -2 telcat -f tel --meta-set Host=x source.tel
	run -2 telcat -f tel --meta-set novalue source.tel
	telcat -q -f json set.tel >set.json
	logs=(set)
	agree -
}

@test "the example of tel(5) is what its explanation says" {
	python3 - "$TEL_TOP/man/tel.5" <<-'END' >example.tel
		import re, sys
		page = open(sys.argv[1]).read()
		text = page.split(".Sh EXAMPLES")[1].split(".Ed")[0]
		data = b""
		for line in text.split(".Bd -literal\n")[1].splitlines():
		    found = re.match(r"((?:[0-9A-F]{2} ?)+)(?:  |$)", line)
		    data += bytes.fromhex(found.group(1))
		sys.stdout.buffer.write(data)
	END
	run -0 --separate-stderr telcat -H -F size example.tel
	[ -z "$stderr" ]
	diff -u - <(echo "$output") <<-'END'
		0000000000000064 Alloc size=16
		0000000000000065 Alloc size=16
		000000000000006B Alloc size=24
	END
	telcat -f json example.tel >example.json
	logs=(example)
	agree -
	[ "$output" = 3 ]
}
