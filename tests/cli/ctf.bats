#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Traces of CTF: their events are those that babeltrace2 prints.

# "run --separate-stderr" sets stderr.
# shellcheck disable=SC2154

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	TRACES=$TEL_TOP/tests/data/ctf
}

# trace NAME: the folder of a shipped trace, in this one, as "trace".
trace() {
	mkdir trace
	zstd -dcq "$TRACES/$1.tar.zst" | tar -x -C trace
}

# same NAME TRACE COUNT [SPREAD]: its events are those of the shipped text.
same() {
	zstd -dcq "$TRACES/$1.cycles.txt.zst" >want
	telcat -q -f json "$2" >got
	python3 "$TEL_TOP/tests/cli/ctf_compare.py" want got "${4-0}" >count
	[ "$(cat count)" = "$3" ]
}

# packets TRACE: the clocks at which its packets begin and end.
packets() {
	babeltrace2 "$1" --component=sink.text.details |
	    grep -B 2 '^Packet \(beginning\|end\)' | grep '^\[' | sort
}

@test "events of a folder, as babeltrace2 prints them" {
	local name count spread
	sample 2 >some <<-END
		all 2020 0
		rotation 2002 0
		discarded 1740 0
		tracefiles 4527 0
		malloc 854 0
		snapshot 727 0
		two-pids 228 32
		wrappers 328 0
	END
	while read -r name count spread; do
		trace "$name.ctf"
		same "$name" trace "$count" "$spread"
		rm -r trace
	done <some
}

@test "the callers that contexts of allocations have are stacks" {
	trace malloc.ctf
	zstd -dcq "$TRACES/malloc.cycles.txt.zst" |
	    sed -nE 's/.*:(m|c|re)alloc: .* ip = ([0-9]+) .*/\2/p' |
	    xargs printf '0x%x\n' | sort | uniq -c |
	    awk '{ print $2, $1 }' >want
	[ "$(wc -l <want)" -gt 40 ]
	telcat -q -f folded --weight count trace | sort | diff want -
	telcat -q -f ctf -o copy trace
	telcat -q -f folded --weight count copy | sort | diff want -
}

@test "the environment of a trace is metadata of the log" {
	trace all.ctf
	telcat -q trace | sed -n 's/^# meta: //p' >meta
	diff <(sed 's/datetime .*/datetime/' meta) - <<-END
		domain ust
		tracer-name lttng-ust
		tracer-major 2
		tracer-minor 13
		tracer-buffering-scheme uid
		tracer-buffering-id 0
		architecture-bit-width 64
		trace-name t1
		trace-creation-datetime
		hostname vm
	END
}

@test "events of an archive, from a file and from a pipe" {
	same all "$TRACES/all.ctf.tar.zst" 2020
	[ "$(zstd -dcq "$TRACES/snapshot.ctf.tar.zst" | telcat -c)" = 727 ]
	[ "$(telfilter -c "$TRACES/rotation.ctf.tar.zst")" = 2002 ]
	trace all.ctf
	(cd trace && zip -qr ../all.zip .)
	[ "$(telcat -c all.zip)" = 2020 ]
	# files beside each, as an archive of macOS has them
	find trace -type f | while read -r file; do
		echo Mac >"${file%/*}/._${file##*/}"
	done
	tar -cf all.tar trace
	[ "$(clean telcat -c all.tar)" = 2020 ]
	[ "$(clean telcat -c trace)" = 2020 ]
}

@test "an archive that no temporary file can hold" {
	run -1 --separate-stderr env TMPDIR=missing \
	    telcat "$TRACES/all.ctf.tar.zst"
	[[ $stderr == *": keeping the archive in missing: No such file or "* ]]
	(ulimit -f 0; exits 1 telcat "$TRACES/all.ctf.tar.zst" 2>&1) |
	    grep -q ": keeping the archive in .*: File too large$"
	# logs that are read side by side
	echo 'a-1 [000] 1.000000: sched_wakeup: comm=x pid=3' >one
	tar -cf two.tar one
	TMPDIR=missing run -1 --separate-stderr telcat two.tar
	[[ $stderr == *": keeping the archive in missing: No such file or "* ]]
}

@test "events that are only counted are those that are read one by one" {
	# four streams of two types, the events of which alternate
	python3 "$TEL_TOP/tests/bench/ctf_trace.py" made 4 5 1000
	[ "$(telcat -c made)" = 20000 ]
	telstat --report=types -f json -w 'clock >= 0' made >want
	telstat --report=types -f json made | diff want -
}

@test "a stream that comes before its metadata in an archive" {
	trace all.ctf
	cd trace/ust/uid/0/64-bit
	tar -cf "$BATS_TEST_TMPDIR/late.tar" index c1_0 c1_1 c2_0 c2_1 metadata
	cd "$BATS_TEST_TMPDIR"
	[ "$(telcat -c late.tar)" = 2020 ]
	# the log is the archive
	telcat -f chrome late.tar | grep -q '"process_name".*"late.tar"'
}

@test "any file of a trace names it, and so does standard input" {
	trace all.ctf
	local folder=trace/ust/uid/0/64-bit
	[ "$(telcat -c $folder/metadata)" = 2020 ]
	[ "$(telcat -c $folder/c2_1)" = 2020 ]
	[ "$(telcat -c - <$folder)" = 2020 ]
	[ "$(cd $folder && telcat -c metadata)" = 2020 ]
	[ "$(telcat --as ctf -c trace)" = 2020 ]
	# alone, the number at its start tells what it is
	for magic in '\301\037\374\301' '\301\374\037\301'; do
		# shellcheck disable=SC2059 # bytes
		printf "$magic" >stream
		run -1 --separate-stderr telcat stream
		[ "$stderr" = "telcat: stream: a file of a CTF trace; metadata: No such file or directory" ]
		run -1 --separate-stderr telcat "$PWD/stream"
		[[ $stderr == *" trace; $PWD/metadata: No such file or directory" ]]
	done
	printf '\301\037\374' >stream
	run -1 --separate-stderr telcat stream
	[[ $stderr != *CTF* ]]
}

@test "metadata of CTF 2" {
	same all "$TRACES/all.ctf2.tar.zst" 2020
}

@test "events that were discarded, and packets that are missing" {
	run -0 --separate-stderr telcat -c "$TRACES/discarded.ctf.tar.zst"
	[[ $stderr == *'7676 events lost when the log was recorded'* ]]
	run -0 --separate-stderr telcat -c "$TRACES/tracefiles.ctf.tar.zst"
	[[ $stderr == *'3935 events lost when the log was recorded'* ]]
	[ "$(telstat -f json "$TRACES/discarded.ctf.tar.zst" 2>/dev/null |
	    grep -c '"lost":7676')" = 1 ]
	# the second packet, or the second and third, of a stream
	for missing in 1 2; do
		trace discarded.ctf
		python3 - "$missing" <<-END
			import sys
			sys.path.insert(0, "$TEL_TOP/tests/cli")
			import ctf_damage
			for path in ctf_damage.streams("trace"):
			    data = open(path, "rb").read()
			    parts = list(ctf_damage.packets(data))
			    if len(parts) > 3:
			        to = parts[int(sys.argv[1])][2]
			        open(path, "wb").write(data[:parts[0][2]] + data[to:])
			        break
		END
		run -0 --separate-stderr telcat -c trace
		[[ $stderr == *": $missing packet"*" missing before packet $((missing + 1))"* ]] || {
			echo "$stderr"
			return 1
		}
		rm -r trace
	done
}

@test "a folder without a trace, and metadata that are invalid" {
	mkdir empty
	run -1 --separate-stderr telcat empty
	[[ $stderr == *'a folder that is not a CTF trace'* ]]
	mkdir bad
	echo 'trace { major = 1; minor = 8; byte_order = ]; };' >bad/metadata
	run -1 --separate-stderr telcat bad
	[[ $stderr == *'metadata, line 1: '*expected* ]]
	# what was found is named: a word, a number, a mark, the end
	while IFS='|' read -r text found; do
		printf '%s' "$text" >bad/metadata
		run -1 --separate-stderr telcat bad
		[[ $stderr == *"metadata, line 1: expected $found"* ]]
	done <<-'END'
		event foo|'{', found foo
		event { name "e"; };|'=', found e
		event { name 5; };|'=', found a number
		trace { major = 1 }|';', found '}'
		typealias integer { size = 8; } := ;|the name of a type, found ';'
		event {|a name, found the end
	END
	echo 'trace { major = 1; minor = 8; byte_order = ]; };' >bad/metadata
	trace all.ctf
	mv bad trace
	run -3 --separate-stderr telcat -c trace
	[ "$output" = 2020 ]
	[[ $stderr == *'bad/metadata, line 1: expected'* ]]
	# the end of a long name is in the message
	local long
	long=$(printf 'd%.0s' {1..91})
	mkdir -p "large/dddd$long"
	truncate -s $((64 * 1024 * 1024 + 1)) "large/dddd$long/metadata"
	run -1 --separate-stderr telcat large
	[[ $stderr == *": $long/metadata: File too large" ]]
	# how it is compressed, encrypted, and its checksum
	for at in 32 33 34; do
		mkdir "packet$at"
		cp "$(find trace -name metadata | grep -v bad | head -n 1)" \
		    "packet$at"
		printf '\1' | dd of="packet$at/metadata" bs=1 "seek=$at" \
		    conv=notrunc status=none
		run -1 --separate-stderr telcat "packet$at"
		[[ $stderr == *"metadata that are compressed, encrypted or"* ]]
	done
}

@test "names with blanks, line feeds and escapes are spelled, and read back" {
	mkdir trace
	cat >trace/metadata <<-'END'
		env { tool = "\x1b[1m\n"; };
		trace { major = 1; minor = 8; byte_order = le; };
		stream { event.header := struct { integer { size = 8; } id; }; };
		event { name = "Simple Event"; id = 0;
		    fields := struct { integer { size = 8; } x; }; };
		event { name = "\x1b[1m:\nb=1"; id = 1;
		    fields := struct { integer { size = 8; } x; }; };
	END
	printf '\0\1\1\2' >trace/stream
	for format in text csv json chrome html; do
		clean telcat -q -f $format -o out trace
		run -1 grep -q $'\e' out
	done
	[ "$(clean telcat -H -e 'Simple\x20Event' trace)" = \
	    '0000000000000000 Simple\x20Event x=1' ]
	[ "$(clean telcat -H -w 'x == 2' trace)" = \
	    '0000000000000000 \x1b\x5b1m:\x0ab\x3d1 x=2' ]
	clean telcat trace >text
	clean telcat -H text | diff <(clean telcat -H trace) -
	# a name of as many bytes as a .tel has room for
	sed -i "s/Simple Event/$(printf '%0255d' 0 | tr 0 ' ')/" trace/metadata
	clean telcat -f tel -o long.tel trace
	clean telcat -H long.tel | diff <(clean telcat -H trace) -
}

@test "metadata of the last draft of CTF 2" {
	mkdir trace
	zstd -dcq "$TRACES/all.ctf2.tar.zst" | tar -x -C trace
	metadata=$(find trace -name metadata)
	python3 - "$metadata" <<-'END'
		import json, sys
		def draft(v):
		    if isinstance(v, list):
		        return [draft(i) for i in v]
		    if not isinstance(v, dict):
		        return v
		    v = {k: draft(i) for k, i in v.items()}
		    if "mappings" in v:
		        v["type"] = v["type"].replace("integer", "enumeration")
		    if v.get("type") == "clock-class":
		        v["name"] = v.pop("id")
		    if "default-clock-class-id" in v:
		        v["default-clock-class-name"] = v.pop("default-clock-class-id")
		    for k in v:
		        if k.endswith("-location"):
		            v[k] = [v[k].get("origin", 0)] + v[k]["path"]
		    return v
		text = open(sys.argv[1]).read().split("\x1e")[1:]
		text = [json.dumps(draft(json.loads(t))) for t in text]
		for word in ("unsigned-enumeration", "clock-class-name",
		             '"selector-field-location": ["event-record-'):
		    assert word in str(text), word
		open(sys.argv[1], "w").write("".join("\x1e%s\n" % t for t in text))
	END
	same all trace 2020
	sed 's/-field-location": \[[^]]*]/-field-location": ["packet-header"]/' \
	    "$metadata" >short
	cp short "$metadata"
	run -1 telcat -c trace
	[[ $output = *"an invalid path of a field"* ]]
}

@test "types of CTF 2, and metadata at the limits of what is valid" {
	python3 "$TEL_TOP/tests/cli/ctf_fragments.py" >want
	run -1 --separate-stderr telcat -c [0-9]*
	[ "$output" = 0 ]
	sed -n 's/ $//; s/^telcat: \([0-9]*\): metadata, /\1 /p' <<<"$stderr" |
	    diff -u <(grep '^[0-9]' want) -
	[ "$(grep -c '^[0-9]' want)" -lt "$(find [0-9]* -type f | wc -l)" ]
	clean telcat -H --no-merge v* | cut -d ' ' -f 2- |
	    diff -u <(grep '^v' want) -
}

@test "types of TSDL, and metadata in it that are invalid" {
	python3 "$TEL_TOP/tests/cli/ctf_tsdl.py" >want
	run -0 --separate-stderr timeout 60 "$TEL_BUILD/bin/telcat" -H --no-merge v*
	[ -z "$stderr" ]
	cut -d ' ' -f 2- <<<"$output" | diff -u <(grep '^v' want) -
	run -3 --separate-stderr telcat -c f*
	[ "$output" = 0 ]
	[ "$(grep -c 'a packet of a trace with another UUID' <<<"$stderr")" = 16 ]
	run -0 --separate-stderr telcat --force -H --no-merge f*
	[ "$(cut -d ' ' -f 2- <<<"$output" | uniq -c | tr -s ' ')" = ' 16 e x=7' ]
	[ "$(grep -c ': stream: packets of a trace with another UUID are read$' <<<"$stderr")" = 16 ]
	run -0 --separate-stderr telfilter --force -w true -o copy f00
	[[ $stderr == *'another UUID are read' ]]
	cmp f00/stream copy/stream
	run -1 --separate-stderr telcat -c i*
	[ "$output" = 0 ]
	grep ': metadata, line' <<<"$stderr" | grep -v ': offset 0: ' |
	    diff -u <(grep '^telcat' want) -
	run -1 --separate-stderr timeout 60 "$TEL_BUILD/bin/telcat" -c d*
	[ "$output" = 6 ]
	sed -n '/damaged place/d; s/^telcat: \(d[0-9]\)/\1/p' <<<"$stderr" |
	    diff -u <(grep '^d' want) -
}

@test "allocations of LTTng's wrapper of malloc" {
	run -0 --separate-stderr telreplay --dry-run "$TRACES/malloc.ctf.tar.zst"
	[[ $output == *'532 malloc, 28 calloc, 13 realloc, 281 free'* ]]
}

@test "allocations of DPDK, of which zmalloc is one with its malloc" {
	mkdir trace
	cat >trace/metadata <<-'END'
		typealias integer { size = 64; align = 8; base = x; } := u64;
		trace { major = 1; minor = 8; byte_order = le; };
		stream { event.header := struct { integer { size = 8; } id; }; };
		event { name = "lib.eal.mem.malloc"; id = 0; fields := struct {
		    string type; u64 size; u64 align; u64 ptr; }; };
		event { name = "lib.eal.mem.zmalloc"; id = 1; fields := struct {
		    string type; u64 size; u64 align; u64 ptr; }; };
		event { name = "lib.eal.mem.free"; id = 2;
		    fields := struct { u64 ptr; }; };
	END
	python3 - <<-'END'
		import struct
		block = lambda id, ptr, size: struct.pack("<B4sQQQ", id, b"rte", size,
		                                          64, ptr)
		open("trace/stream", "wb").write(
		    block(0, 0x1000, 100) + block(0, 0x2000, 1000) +
		    block(1, 0x2000, 1000) + struct.pack("<BQ", 2, 0x1000))
	END
	telstat trace | grep -E '^(allocated|freed|live)' | tr -s ' ' >got
	printf '%s\n' 'allocated 2 blocks 1,100 bytes 1.1 KiB' \
	    'freed 1 blocks 100 bytes' 'live 1 blocks 1,000 bytes' | diff - got
	telreplay --dry-run trace | grep -q ' 2 aligned, 1 free$'
}

@test "flipped bits and cut files lose the packets that they are in" {
	local name rounds=6
	[ -z "${TEST_WHOLE-}" ] || rounds=200
	for name in all discarded malloc rotation tracefiles wrappers; do
		trace $name.ctf
		python3 "$TEL_TOP/tests/cli/ctf_damage.py" trace $rounds 1
		rm -r trace
	done
}

# shown TRACE: what babeltrace2 prints of it, less the time between events.
shown() {
	babeltrace2 --no-delta "$1"
}

# fields [OPTION ...] TRACE: its events with selected, as JSON.
fields() {
	telfilter -q -f json "$@" | sed -n '/"fields"/s/"code":[0-9]*//p'
}

@test "a filtered trace is a trace, with the selected events" {
	trace all.ctf
	local options
	while read -ra options; do
		telfilter -q "${options[@]}" -o out trace
		fields "${options[@]}" trace >want
		fields out >got
		cmp want got
		[ "$(shown out | wc -l)" = "$(wc -l <want)" ]
		rm -r out
	done <<-END
		-e shop:ints
		-e shop:texts -B 2
		-w size>3000
		--every 700
		-n 5
		-e nosuch*
	END
}

@test "all of a trace, filtered, is what babeltrace2 shows of it" {
	local name
	for name in all malloc rotation snapshot tracefiles wrappers; do
		trace $name.ctf
		telfilter -q -o out trace
		shown trace >want
		shown out >got
		cmp want got
		packets trace >want
		packets out >got
		# packets without events are left out
		comm -13 want got | diff /dev/null -
		cmp "$(find trace -name metadata | sort | head -n 1)" \
		    "$(find out -name metadata | sort | head -n 1)"
		rm -r trace out
	done
}

@test "losses stay in a filtered trace" {
	trace discarded.ctf
	telfilter -q -e shop:mem_free -o out trace
	run -0 --separate-stderr telcat -c out
	[[ $stderr == *'7676 events lost when the log was recorded'* ]]
}

@test "a filter that leaves more out than the clocks of headers count" {
	python3 "$TEL_TOP/tests/bench/ctf_trace.py" trace 2 20 100
	telfilter -q --every 250 -o out trace
	fields --every 250 trace >want
	fields out >got
	cmp want got
	babeltrace2 --clock-seconds --no-delta out |
	    sed 's/\[\([0-9]*\)\.\([0-9]*\)\].*/\1\2/' >clocks
	sed 's/.*"clock":"\([0-9]*\)".*/\1/' want | cmp - clocks
}

@test "a filter of headers that do not start with a number, or are big-endian" {
	local order id
	while read -r order id; do
		mkdir trace
		cat >trace/metadata <<-END
			trace { major = 1; minor = 8; byte_order = $order; };
			typealias integer { size = 8; } := u8;
			clock { name = c; };
			stream { packet.context := struct {
			    integer { size = 64; } content_size;
			    integer { size = 64; map = clock.c.value; } timestamp_begin; };
			    event.header := struct { $id
			    integer { size = 8; map = clock.c.value; } t; }; };
			event { name = e; fields := struct { u8 x; }; };
		END
		# ten events, 200 ns after one another
		python3 - "$order" "$id" >trace/stream <<-'END'
			import sys
			id = b"\0" if sys.argv[2] else b""
			events = b"".join(id + bytes([200 * i % 256, i]) for i in range(10))
			size = (8 * (16 + len(events))).to_bytes(8, "big")
			sys.stdout.buffer.write(size if sys.argv[1] == "be" else size[::-1])
			sys.stdout.buffer.write(bytes(8) + events)
		END
		telfilter -w 'x == 1 || x == 6 || x == 7' -o out trace
		clean telcat -H out | diff - <(printf '%016X e x=%d\n' 200 1 1200 6 1400 7)
		rm -r trace out
	done <<-'END'
		le
		be u8 id;
		be
	END
}

@test "clocks of packets and events that have few bits" {
	local range context
	mkdir trace short
	for context in trace short; do
		cat >$context/metadata <<-'END'
			trace { major = 1; minor = 8; byte_order = le; };
			clock { name = c; freq = 1000000; };
			typealias integer { size = 32; } := u32;
			typealias integer { size = 32; map = clock.c.value; } := c32;
			stream { packet.context := struct { c32 timestamp_begin;
			    c32 timestamp_end; u32 content_size; };
			    event.header := struct { c32 t; }; };
			event { name = e; fields := struct { u32 x; }; };
		END
	done
	sed -i 's/c32 timestamp_begin/u32 a/; s/c32 timestamp_end/u32 b/' \
	    short/metadata
	# 60 packets of 40 events, 40 s after one another; 2^32 us are 71 minutes
	python3 - >trace/stream <<-'END'
		import struct
		import sys
		for p in range(60):
		    clocks = [40000000 * (40 * p + i) % (1 << 32)
		              for i in range(1, 41)]
		    sys.stdout.buffer.write(struct.pack(
		        "<III", 1600000000 * p % (1 << 32), clocks[-1], 8 * 332))
		    for i, c in enumerate(clocks):
		        sys.stdout.buffer.write(struct.pack("<II", c, 40 * p + i))
	END
	cp trace/stream short
	for range in 6000,20000 50000,60000; do
		[ "$(clean telcat -c -t "${range//,/000000000,}000000000" trace)" = \
		    "$(telcat -q -c -w "clock >= ${range%,*}s &&
		        clock <= ${range#*,}s" trace)" ]
	done
	[ "$(clean telcat -c -t 0%,100% trace)" = 2400 ]
	# packets without events lead over what the clock of one does not show
	telfilter -w 'x % 700 == 0' -o out trace
	clean telcat -H out | diff <(clean telcat -H -w 'x % 700 == 0' trace) -
	# there, no packet has the clock
	run -1 --separate-stderr telfilter -w 'x % 700 == 0' -o none short
	[ "$stderr" = "telfilter: none: the bits of an event's clock do not show \
the time since the event before it; -f tel writes a file" ]
	[ ! -e none ]
	telfilter -w 'x % 30 == 0' -o some short
	clean telcat -H some | diff <(clean telcat -H -w 'x % 30 == 0' short) -
}

@test "a trace without events, filtered" {
	mkdir trace
	cat >trace/metadata <<-'END'
		trace { major = 1; minor = 8; byte_order = le; };
		stream { event.header := struct { integer { size = 8; } id; }; };
		event { name = e; id = 0; fields := struct { }; };
	END
	: >trace/stream
	clean telfilter -o out trace
	cmp trace/metadata out/metadata
	[ "$(clean telcat -c out)" = 0 ]
}

@test "a large packet without clocks becomes several" {
	mkdir trace
	cat >trace/metadata <<-'END'
		trace { major = 1; minor = 8; byte_order = le; };
		typealias integer { size = 64; align = 8; } := u64;
		clock { name = c; };
		stream { packet.context := struct { u64 content_size; };
		    event.header := struct { integer { size = 8; } id;
		    integer { size = 64; map = clock.c.value; align = 8; } t; }; };
		event { name = e; fields := struct { u64 x[12500]; }; };
	END
	# 8 bytes, and 12 events of 100,009
	printf '\240\177\222\0\0\0\0\0' >trace/stream
	head -c 1200108 /dev/zero >>trace/stream
	telfilter -o out trace
	[ "$(clean telcat -c out)" = 12 ]
	[ "$(wc -c <out/stream)" = 1200124 ]
}

@test "a filter of a hundred streams, of which one has more than a window" {
	mkdir trace
	python3 - <<-'END'
		import struct
		open("trace/metadata", "w").write("""/* CTF 1.8 */
		clock { name = c; };
		typealias integer { size = 64; align = 8; map = clock.c.value; } := t;
		trace { major = 1; minor = 8; byte_order = le; packet.header := struct {
		    integer { size = 32; align = 8; } magic; }; };
		stream { event.header := struct { t clock; }; };
		event { name = e; fields := struct {
		    integer { size = 32; align = 8; } x; }; };
		""")
		def stream(name, events):
		    with open("trace/%s" % name, "wb") as f:
		        f.write(struct.pack("<I", 0xc1fc1fc1))
		        for at, x in events:
		            f.write(struct.pack("<QI", at, x))
		stream("long", [(1, 0)] + [(1000 + i, i) for i in range(50000)])
		for i in range(100):
		    stream("b%d" % i, [(2 + i, i)])
	END
	MALLOC_PERTURB_=165 telfilter -w 'x % 5 == 0' -o out trace
	clean telcat -H out | diff <(clean telcat -H -w 'x % 5 == 0' trace) -
}

@test "sizes of packets as CTF 2 may have them, in a filtered trace" {
	mkdir trace
	printf '\36%s\n' '{"type":"preamble","version":2}' \
	    '{"type":"data-stream-class","packet-context-field-class":{
	    "type":"structure","member-classes":[{"name":"a","field-class":{
	    "type":"variable-length-unsigned-integer",
	    "roles":["packet-total-length"]}},
	    {"name":"b","field-class":{"type":"fixed-length-unsigned-integer",
	    "byte-order":"little-endian","bit-order":"last-to-first",
	    "length":16,"alignment":8,"roles":["packet-content-length"]}}]}}' \
	    '{"type":"event-record-class","name":"e","payload-field-class":{
	    "type":"structure","member-classes":[{"name":"x","field-class":{
	    "type":"fixed-length-unsigned-integer","byte-order":"little-endian",
	    "length":8}}]}}' >trace/metadata
	# 20 bytes, 16 of them events; 5 bytes of one event
	printf '\240\1\0\5\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17\20' >trace/stream
	[ "$(clean telcat -c trace)" = 16 ]
	telfilter -w 'x == 3' -o out trace
	printf '\250\0\0\24\3' | cmp - out/stream
	[ "$(clean telcat -c out)" = 1 ]
}

@test "a filter of events of one type, whose bits lie in different ways" {
	mkdir trace
	cat >trace/metadata <<-'END'
		trace { major = 1; minor = 8; byte_order = le; };
		typealias integer { size = 8; } := u8;
		stream { event.header := struct { u8 id; }; };
		event { name = e; id = 0; fields := struct { u8 x; }; };
		event { name = e; id = 1; fields := struct {
		    integer { size = 5; align = 32; } x; }; };
	END
	printf '\0\7\1\0\10\0\11' >trace/stream
	telfilter -w 'x > 7' -o out trace
	clean telcat -H out | cut -d ' ' -f 2- | diff - <(printf 'e x=%d\n' 8 9)
	# a packet of one byte
	mkdir short
	sed '/^stream/d; s/ id = [01];//; /x; }; };/q' trace/metadata >short/metadata
	printf '\7' >short/stream
	telfilter -o copy short
	cmp short/stream copy/stream
}

@test "a trace that is written, of any log, in both versions" {
	unpack 1.117.0-lii6gc-poolncv log
	telcat -q -f ctf -o out log
	telcat -q -f ctf2 -o out2 log
	[ "$(shown out | wc -l)" = "$(telcat -c log)" ]
	[[ "$(shown out)" == *'Arena:EventInit: { major = 1, median = 6,'* ]]
	telcat -q -H out | cut -d ' ' -f 2- >got
	telcat -q -H out2 | cut -d ' ' -f 2- | cmp - got
	[ "$(cut -d ' ' -f 1 got | cut -d : -f 2)" = \
	    "$(telcat -q -S -H log | cut -d ' ' -f 2)" ]
	local name count spread
	while read -r name count spread; do
		telcat -q -f ctf -o "$name" "$TRACES/$name.ctf.tar.zst"
		telcat -q -f ctf2 -o "$name.2" "$TRACES/$name.ctf.tar.zst"
		same "$name" "$name" "$count" "$spread"
		same "$name" "$name.2" "$count" "$spread"
		[ "$(shown "$name" | wc -l)" = "$count" ]
	done <<-END
		all 2020 0
		two-pids 228 32
		wrappers 328 0
	END
}

@test "no two members of a struct that is written have one name" {
	zstd -dq "$TEL_TOP/tests/data/jfr/g1-17.jfr.zst" -o java.jfr
	telcat -q -f ctf -o java java.jfr
	[ "$(shown java | wc -l)" = "$(telcat -q -c java.jfr)" ]
	cat >log <<-'END'
		# teltools text 1
		# type: A 1 K x:enum:unsigned:8 x_label:boolean a.b:boolean a_b:boolean
		0000000000000001 A x=7["seven"] x_label=true a.b=true a_b=false
		0000000000000002 A x=8[""] x_label=true a.b=true a_b=false
	END
	telcat -q -f ctf -o out log
	telcat -q -f ctf2 -o out2 log
	shown out | sed 's/.*K:A: //; s/( "\([a-z]*\)" : container = . )/\1/g' |
	    diff - <(cat <<-'END'
		{ x = 7, has_x_label = some, x_label = { "seven" }, x_label_2 = true, a_b = true, a_b_2 = false }
		{ x = 8, has_x_label = some, x_label = { "" }, x_label_2 = true, a_b = true, a_b_2 = false }
	END
	)
	telcat -q -H out2 | sed 's/.* K:A //' | diff - <(cat <<-'END'
		x=7 has_x_label=true x_label="seven" x_label_2=true a_b=true a_b_2=false
		x=8 has_x_label=true x_label="" x_label_2=true a_b=true a_b_2=false
	END
	)
}

@test "a long name and the bits of a NaN, as they are written" {
	local name
	name=$(printf 'n%.0s' {1..220})
	mkdir trace
	cat >trace/metadata <<-END
		trace { major = 1; minor = 8; byte_order = be; };
		event { name = e; fields := struct { integer { size = 8; } $name;
		    floating_point { exp_dig = 11; mant_dig = 53; } x; }; };
	END
	printf '\7\377\370\0\0\0\0\1\43' >trace/stream
	clean telcat -H trace | grep -q "e $name=7 x="
	telcat -q -f ctf -o out trace
	tail -c 8 out/stream | cmp - <(printf '\43\1\0\0\0\0\370\377')
	[ "$(grep -o '_nn*;' out/metadata | wc -c)" -eq 202 ]
}

@test "a folder may be named with slashes behind it, as a shell completes one" {
	trace all.ctf
	telcat -q -f ctf -o made/ trace
	telfilter -o kept// trace/
	[ -e made/metadata ]
	diff <(telcat -H trace) <(telcat -H kept/)
}

@test "a folder that is there is kept, and a failure leaves none" {
	trace all.ctf
	mkdir old
	run -1 --separate-stderr telcat -f ctf -o old trace
	[[ $stderr == *'old: File exists'* ]]
	run -1 --separate-stderr telfilter -o old trace
	[[ $stderr == *'old: File exists'* ]]
	exits 1 telcat -q -f ctf -o new trace missing
	exits 1 telfilter -q -o new trace missing
	run -2 --separate-stderr telcat -f ctf trace
	echo ./*
	[ "$(echo ./[!s]*)" = "./old ./trace" ]
}

@test "strings in units of 2 and 4 bytes are what Python decodes" {
	cat >units.py <<-'END'
		import json, os, random, sys
		names = [f"utf-{n}{order}" for n in (16, 32) for order in ("le", "be")]
		limits = [65, 0x7ff, 0x800, 0xd7ff, 0xd800, 0xd801, 0xdbff, 0xdc00,
		          0xdfff, 0xe000, 0xffff]
		wide = [0x10000, 0x10ffff, 0x110000, 0xffffffff]
		rnd = random.Random(1)
		events = [[b"".join(rnd.choice(limits + wide * (name[4] == "3")).to_bytes(
		    int(name[4:6]) // 8, {"l": "little", "b": "big"}[name[6]])
		    for _ in range(rnd.randrange(9))) for name in names] for _ in range(60)]
		os.mkdir("trace")
		with open("trace/metadata", "w") as file:
		    for fragment in ({"type": "preamble", "version": 2},
		                     {"type": "data-stream-class"},
		                     {"type": "event-record-class", "name": "e",
		                      "payload-field-class": {
		        "type": "structure", "member-classes": [{"name": name, "field-class": {
		            "type": "null-terminated-string", "encoding": name}}
		            for name in names]}}):
		        file.write("\x1e" + json.dumps(fragment) + "\n")
		with open("trace/stream", "wb") as file:
		    for texts in events:
		        for name, text in zip(names, texts):
		            file.write(text + bytes(int(name[4:6]) // 8))
		for texts in events:
		    print([text.decode(name[:6] + "-" + name[6:], "replace")
		           for name, text in zip(names, texts)])
	END
	python3 units.py >want
	clean telcat -f json trace | python3 -c '
import json, sys
for line in sys.stdin:
	print(list(json.loads(line)["fields"].values()))' >got
	[ "$(wc -l <want)" -eq 60 ]
	cmp want got
}

@test "types of CTF that LTTng does not write" {
	local name
	for name in types types_big; do
		python3 - "$TEL_TOP/tests/fuzz/corpus/ctf/$name" "$name" <<-'END'
			import os, sys
			data = open(sys.argv[1], "rb").read()
			n = 3 + int.from_bytes(data[1:3], "big")
			os.mkdir(sys.argv[2])
			open(sys.argv[2] + "/metadata", "wb").write(data[3:n])
			open(sys.argv[2] + "/stream", "wb").write(data[n:])
		END
		telcat -H "$name" | cut -d ' ' -f 2- >got
		cat >want <<-'END'
			e t=5["c"] v.c.n=2 v.c.list=[7,8] pairs="[{\"x\":1,\"y\":2},{\"x\":3,\"y\":4}]" five=18 eleven=0x345 f=1.5 d=2.5 count=2 names=["one","two"] text="abc" grid="[[0,1,2],[3,4,5]]"
			f
			e t=3["b"] v.b="second" pairs="[{\"x\":0,\"y\":0},{\"x\":0,\"y\":0}]" five=0 eleven=0x0 f=-0.25 d=1e+300 count=0 names=[] text="abcd" grid="[[0,0,0],[0,0,0]]"
		END
		cmp want got
		telfilter -e e -o "$name.out" "$name"
		shown "$name" | grep -v '^f: ' >want
		shown "$name.out" | cmp want -
	done
}

@test "packets without a header, with a long context; enums in lists of lists" {
	mkdir trace
	cat >trace/metadata <<-'END'
		trace { major = 1; minor = 8; byte_order = le; };
		typealias integer { size = 8; } := b;
		stream { id = 0; packet.context := struct { integer { size = 8;
		    encoding = ASCII; } pad[600]; }; };
		stream { id = 1; };
		event { name = e; stream_id = 0; fields := struct {
		    enum : b { A = 1, B = 2 ... 3 } grid[2][2]; b n; }; };
		event { name = f; stream_id = 1; fields := struct { b n; }; };
	END
	{
		head -c 600 /dev/zero
		printf '\1\2\3\4\7\2\2\1\1\10'
	} >trace/stream
	clean telcat -H trace | cut -d ' ' -f 2- >got
	diff - got <<-'END'
		e pad="" grid="[[\"A\",\"B\"],[\"B\",4]]" n=7
		e pad="" grid="[[\"B\",\"B\"],[\"A\",\"A\"]]" n=8
	END
	timeout 60 "$TEL_BUILD/bin/telfilter" -w 'n == 7' -o out trace
	clean telcat -H out | cut -d ' ' -f 2- | cmp - <(head -n 1 got)
}

@test "times before 1970 and after 2262 are reported" {
	local offset want
	mkdir trace
	# the clocks of three events: 0, 1 s, 3 s
	printf '\0\0\0\0\0\0\0\0\0\312\232\73\0\0\0\0\0\136\320\262\0\0\0\0' \
	    >trace/stream
	while read -r offset want; do
		cat >trace/metadata <<-END
			trace { major = 1; minor = 8; byte_order = le; };
			clock { name = c; $offset; };
			stream { event.header := struct {
			    integer { size = 64; map = clock.c.value; } t; }; };
			event { name = e; fields := struct { }; };
		END
		run -0 --separate-stderr telcat -H trace
		[ "$(cut -d ' ' -f 1 <<<"$output" | tr '\n' ' ')" = "${want%%|*} " ]
		if [ "${want#*|}" = none ]; then
			[ -z "$stderr" ]
		else
			[[ $stderr == *": the clock is ${want#*|} than "* ]]
		fi
	done <<-'END'
		freq=1000000000 0000000000000000 000000003B9ACA00 00000000B2D05E00|none
		offset_s=-1 0000000000000000 0000000000000000 0000000077359400|earlier
		offset_s=-9223372037 0000000000000000 0000000000000000 0000000000000000|earlier
		freq=500000000;offset_s=-9223372037 0000000000000000 0000000000000000 0000000000000000|earlier
		offset_s=9223372035 7FFFFFFF91725E00 7FFFFFFFCD0D2800 7FFFFFFFFFFFFFFF|later
		freq=500000000;offset_s=-1 0000000000000000 000000003B9ACA00 000000012A05F200|earlier
		freq=500000000;offset_s=9223372035 7FFFFFFF91725E00 7FFFFFFFFFFFFFFF 7FFFFFFFFFFFFFFF|later
		freq=40000000000 0000000000000000 00000000017D7840 00000000047868C0|none
		offset=-500000000 0000000000000000 000000001DCD6500 000000009502F900|earlier
		offset_s=1;offset=250000000 000000004A817C80 00000000861C4680 00000000FD51DA80|none
		offset_s=-1;offset=500000000 0000000000000000 000000001DCD6500 000000009502F900|earlier
		offset=9223372034854775808 7FFFFFFF88CA6C00 7FFFFFFFC4653600 7FFFFFFFFFFFFFFF|later
		freq=500000000;offset=-250000000 0000000000000000 0000000059682F00 0000000147D35700|earlier
		freq=500000000;offset_s=3;offset=125000000 00000000C1B71080 0000000138ECA480 000000022757CC80|none
		freq=500000000;offset_s=-7;offset=1000000000 0000000000000000 0000000000000000 000000003B9ACA00|earlier
		freq=500000000;offset_s=3;offset=-125000000 00000000A3E9AB80 000000011B1F3F80 00000002098A6780|none
		freq=3;offset_s=2;offset=-1 00000000635750AA 04A03CE6F078A600 0DE0B6B40ABB50AA|none
		freq=3;offset_s=2 0000000077359400 04A03CE70456E955 0DE0B6B41E999400|none
		freq=9223372036854775808;offset_s=7;offset=4611686018427387903 00000001BF08EAFF 00000001BF08EB00 00000001BF08EB00|none
	END
}

@test "lists as long as the number of their event, and clocks in structs of headers" {
	local header
	printf '\1\0\0\0\0\7\3\10\0\0\0\1\2\3' >stream
	for header in '%s' 'struct { struct { %s } inner; } t;'; do
		mkdir trace
		cp stream trace
		# shellcheck disable=SC2059 # the place of the clock
		header=$(printf "$header" \
		    'integer { size = 32; map = clock.c.value; } t;')
		cat >trace/metadata <<-END
			trace { major = 1; minor = 8; byte_order = le; };
			typealias integer { size = 8; } := b;
			clock { name = c; freq = 1000; };
			stream { event.header := struct { b id; $header }; };
			event { name = e; id = 1; fields := struct {
			    b list[stream.event.header.id]; }; };
			event { name = f; id = 3; fields := struct {
			    b list[stream.event.header.id]; }; };
		END
		clean telcat -H trace >got
		diff - got <<-'END'
			0000000000000000 e list=[7]
			00000000007A1200 f list=[1,2,3]
		END
		rm -r trace
	done
}

@test "bases of integers, each by all of its words, are data types" {
	mkdir trace
	local base n=0
	{
		echo 'trace { major = 1; minor = 8; byte_order = le; }; stream {};'
		echo 'typealias integer { size = 8; } := b;'
		echo 'event { name = e; fields := struct { b f;'
		for base in hexadecimal hex x X p 16 octal oct o 8 binary b 2 \
		    decimal dec d i u 10; do
			echo "integer { size = 8; base = $base; } f$((n++));"
		done
		for base in hex 16 oct 10; do
			echo "integer { size = 64; align = 8; base = $base; } f$((n++));"
		done
		echo '}; };'
	} >trace/metadata
	head -c 52 /dev/zero >trace/stream
	clean telcat trace | grep '^# type:' | grep -o ':set\|:unsigned\|:address' >got
	{
		echo :unsigned
		printf ':set\n%.0s' {1..13}
		printf ':unsigned\n%.0s' {1..6}
		printf '%s\n' :address :address :set :unsigned
	} | cmp - got
}

@test "a range of time reads the packets that it needs" {
	python3 "$TEL_TOP/tests/bench/ctf_trace.py" trace 3 40 50
	local first
	first=$(fields -n 1 trace | sed 's/.*"clock":"\([0-9]*\)".*/\1/')
	telcat -q -f json -t 400ms,1s trace | grep '"fields"' >got
	telcat -q -f json trace -w "clock >= $((first + 400000000)) &&
	    clock <= $((first + 1000000000))" | grep '"fields"' >want
	cmp want got
	[ "$(wc -l <got)" -gt 40 ]
	[ "$(telcat -q -c -t 0%,100% trace)" = "$(telcat -c trace)" ]
}

@test "expressions of enums by their names, of lists and of what is absent" {
	local log want expression got
	telcat -q -o all.text "$TRACES/all.ctf.tar.zst"
	telcat -q -f tel -o all.tel "$TRACES/all.ctf.tar.zst"
	telcat -q -f json "$TRACES/all.ctf.tar.zst" >all.json
	for log in all.text all.tel; do
		cmp all.json <(telcat -q -f json $log)
	done
	for log in "$TRACES/all.ctf.tar.zst" all.text all.tel; do
		while read -r want expression; do
			got=$(clean telcat -q -c -w "$expression" "$log")
			[ "$got" = "$want" ] ||
			    { echo "$log: $expression: $got, not $want"; return 1; }
		done <<-'END'
			72 col == "blue"
			72 label(col) == "blue"
			72 "blue" == col
			228 col != "blue"
			192 label(col) != "blue"
			36 col == ""
			36 has(col) && !has(col.label)
			159 col ~ "blue"
			141 col !~ "blue"
			159 label ~ "^blue"
			36 col in ("red", "after")
			18 col == 5
			18 col == 5 && col == "blue,overlap"
			12 col == cpu_id && col == "green"
			264 has(label(col))
			300 has(col)
			300 3 in arr
			0 4 in arr
			300 len(arr) == 3 && arr[2] == 3 && !has(arr[3])
			1720 !has(arr)
		END
	done
	# a value without a name is shown alone
	[ "$(grep -c ' col=-2 ' all.text)" = 18 ]
	[ "$(grep -c '"col":-2,"col_label":null,' all.json)" = 18 ]
	telcat -q -f csv -F col,col.label -w 'col == -2' all.tel >names
	[ "$(grep -c ',-2,$' names)" = 18 ]
	# names are groups and keys
	telstat -q -g 'label(col)' -s 'n=count()' -f csv all.tel |
	    grep -c 'label(col)=blue,overlap'
	telstat -q -s 'n=tally(label(col),8)' all.tel | grep -q ' blue  *72 '
}

@test "ranges of events that begin and end, by thread" {
	trace all.ctf
	[ "$(telcat -f folded trace | grep -c '^shop:gc w[0-9] ')" = 3 ]
	mkdir pairs
	{
		echo 'trace { major = 1; minor = 8; byte_order = le; };
		    typealias integer { size = 8; } := b; clock { name = c; };
		    stream { packet.context := struct { b cpu_id; };
		    event.header := struct { b id;
		    integer { size = 8; map = clock.c.value; } t; }; };'
		local name n=0
		for name in a_entry a_exit b_begin b_end c_start c_stop d_req \
		    d_acq syscall_entry_e syscall_exit_e; do
			echo "event { name = $name; id = $((n++));"
			echo 'fields := struct { }; };'
		done
	} >pairs/metadata
	# each is longer than those before
	printf '\0\0\1\1\2\2\3\3\5\4\10\5\15\6\25\7\42\10\67\11\131' \
	    >pairs/stream
	telcat -q -f folded pairs |
	    diff - <(printf '%s %d\n' a 1 b 2 c 5 d 13 syscall_e 34)
}

# Such a trace stays open, however many members are before it.
@test "a trace behind 70 logs in an archive is merged with them" {
	local i
	trace malloc.ctf
	mv trace/* .
	rmdir trace
	for i in $(seq 100 170); do
		printf '%016X ArenaDestroy arena=0x%x\n' "$i" "$i" >"0$i.txt"
	done
	tar -cf all.tar 0*.txt ust
	telcat all.tar | grep -v '^#' >merged
	[ "$(grep -c ArenaDestroy merged)" = 71 ]
	telcat ust | grep -v '^#' >want
	grep -v ArenaDestroy merged | cmp - want
	[ "$(telcat -c all.tar)" = 925 ]
}
