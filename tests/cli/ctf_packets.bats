#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Packets of CTF: their sizes, what they count, their clocks, and strings in them.

# "run --separate-stderr" sets stderr.
# shellcheck disable=SC2154

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	mkdir trace
}

# metadata ORDER BITS [HEADER FIELDS]: of packets with a magic number, their
# sizes in bits, and a count of discarded events of so many bits.
metadata() {
	cat >trace/metadata <<-END
		/* CTF 1.8 */
		trace { major = 1; minor = 8; byte_order = $1; packet.header :=
		    struct { integer { size = 32; align = 8; } magic; }; };
		clock { name = c; freq = 1000000000; offset_s = 1000; };
		typealias integer { size = 8; align = 8; } := b;
		typealias integer { size = 32; align = 8; } := u32;
		typealias integer { size = 8; align = 8; map = clock.c.value; } := t;
		stream { packet.context := struct { u32 packet_size;
		    u32 content_size;
		    integer { size = $2; align = 8; } events_discarded; };
		    event.header := struct { ${3-t t;} }; };
		event { name = e; fields := struct { ${4-b x;} }; };
	END
}

# packets ORDER BITS DISCARDED,BYTES ...: packets of five events, with ten bytes
# behind, and the size that they say they have, in bytes; 0: the right one.
packets() {
	python3 - "$@" >trace/stream <<-'END'
		import sys
		order = {"le": "little", "be": "big"}[sys.argv[1]]
		n = int(sys.argv[2]) // 8
		for p, packet in enumerate(sys.argv[3:], 1):
		    discarded, size = map(int, packet.split(","))
		    content = 12 + n + 10
		    head = b"".join(v.to_bytes(w, order) for v, w in (
		        (0xc1fc1fc1, 4), (8 * (size or content + 10), 4),
		        (8 * content, 4), (discarded, n)))
		    events = bytes(10 * p + i // 2 for i in range(10))
		    sys.stdout.buffer.write(head + events + 10 * b"\xee")
	END
}

@test "a count of discarded events that has an overflow, or starts again" {
	local bits lost counts
	while read -r bits lost counts; do
		metadata le "$bits"
		# shellcheck disable=SC2086 # several packets
		packets le "$bits" $counts
		run -0 --separate-stderr telcat -c trace
		[ "$stderr" = "telcat: trace: $lost events lost when the log was recorded" ]
	done <<-'END'
		8 266 200,0 250,0 4,0 10,0
		8 105 100,0 0,0 5,0
		8 266 200,0 10,0
		16 65540 65530,0 4,0
		32 4294967303 4294967280,0 5,0 5,0 7,0
		32 12 10,0 2,0 4,0
		64 12 10,0 2,0 4,0
	END
}

@test "the packet right behind one with a wrong size is found" {
	local order size events
	for order in le be; do
		metadata $order 32
		# each packet has 36 bytes, 26 of them with events or before
		while read -r size events; do
			packets $order 32 0,0 "0,$size" 0,0 0,0
			run -3 --separate-stderr telcat -c trace
			[ "$output" = "$events" ] || {
				echo "$size: $output, not $events"
				return 1
			}
		done <<-'END'
			5 15
			20 15
			30 20
			37 20
			100 20
			536870911 20
		END
	done
}

@test "a clock that contexts or payloads have alone has its offset" {
	local header fields
	while IFS='|' read -r header fields; do
		metadata le 32 "$header" "$fields"
		packets le 32 0,0
		babeltrace2 --clock-seconds --no-delta trace |
		    sed 's/\[\([0-9]*\)\.\([0-9]*\)\].*/\1\2/' >want
		grep -q '^1000000000011$' want
		telcat -q -f json trace |
		    sed -n 's/.*"clock":"*\([0-9]*\).*/\1/p' | diff want -
	done <<-'END'
		b y;|t x;
		t y;|b x;
	END
	metadata le 32 "b z;" " "
	sed -i 's/event.header/event.context := struct { t y; }; &/' \
	    trace/metadata
	telcat -q -H trace | grep -q "$(printf '%016X' 1000000000011).* y=12"
}

@test "times of headers that name no clock have that of the trace" {
	local clock
	for clock in 'clock { name = c; freq = 1000000000; offset_s = 7; };' ''; do
		cat >trace/metadata <<-END
			/* CTF 1.8 */
			trace { major = 1; minor = 8; byte_order = le; };
			$clock
			typealias integer { size = 8; align = 8; } := b;
			typealias integer { size = 16; align = 8; } := u16;
			stream { packet.context := struct { u16 timestamp_begin;
			    u16 timestamp_end; u16 packet_size; };
			    event.header := struct { enum : b { one = 0 ... 1 } id;
			    variant <id> { struct { b timestamp; } one; } v; }; };
			event { name = e; id = 0; fields := struct { b timestamp; }; };
			event { name = f; id = 1; fields := struct { b x; }; };
		END
		printf '\0\2\20\2\140\0\0\5\7\1\6\10\0\3\0\3\110\0\0\1\2' \
		    >trace/stream
		babeltrace2 --clock-seconds --no-delta trace |
		    sed 's/\[\([0-9]*\)\.\([0-9]*\)\].*/\1\2/' >want
		[ "$(sed -n '3s/.*0//p' want)" = 769 ]
		telcat -q -f json trace | jq -r 'select(.fields) | .clock' |
		    while read -r ns; do
			printf '%010d\n' "$ns"
		    done | diff want -
	done
}

# contexts ORDER [TEXT]: three packets, whose contexts have texts, lists, labels
# and an optional text, with an event of each of two types, twice.
contexts() {
	rm -rf trace
	mkdir trace
	cat >trace/metadata <<-END
		/* CTF 1.8 */
		trace { major = 1; minor = 8; byte_order = $1; packet.header :=
		    struct { integer { size = 32; align = 8; } magic; }; };
		typealias integer { size = 8; align = 8; } := b;
		typealias integer { size = 32; align = 8; } := u32;
		stream { packet.context := struct { u32 packet_size; u32 content_size;
		    u32 cpu_id; string name; enum : b { IDLE, WORK } state; b n;
		    u32 list[n]; string words[2]; integer { size = 8; align = 8;
		    encoding = ASCII; } comm[8]; enum : b { none, some } has;
		    variant <has> { struct {} none; string some; } opt; };
		    event.header := struct { b id; }; };
		event { name = e; id = 0; fields := struct { b x; string s; }; };
		event { name = f; id = 1; fields := struct { b x; b y; }; };
	END
	python3 - "$@" >trace/stream <<-'END'
		import struct, sys
		order = "<" if sys.argv[1] == "le" else ">"
		text = sys.argv[2] if len(sys.argv) > 2 else "worker"
		for p in range(3):
		    context = struct.pack(order + "I", p) + b"%s-%d\0%c%c" % (
		        text.encode(), p, p % 2, p)
		    context += struct.pack(order + "%dI" % p, *range(p, 2 * p))
		    context += b"one\0tw%do\0comm\0\0\0\0%c" % (p, p % 2)
		    context += p % 2 * b"option\0"
		    events = b"".join(b"\0%ctext%d\0\1%c%c" % (i, i, i, i + 1)
		                      for i in range(2))
		    bits = 8 * (12 + len(context) + len(events))
		    sys.stdout.buffer.write(struct.pack(
		        order + "III", 0xc1fc1fc1, bits, bits) + context + events)
	END
}

@test "texts, lists and labels in the context of a packet are its events'" {
	local order
	for order in le be; do
		contexts $order
		cat >want <<-'END'
			e cpu_id=1 name="worker-1" state=1["WORK"] n=1 list=[1] words=["one","tw1o"] comm="comm" has=1["some"] opt="option" x=0 s="text0"
			f cpu_id=1 name="worker-1" state=1["WORK"] n=1 list=[1] words=["one","tw1o"] comm="comm" has=1["some"] opt="option" x=0 y=1
			e cpu_id=1 name="worker-1" state=1["WORK"] n=1 list=[1] words=["one","tw1o"] comm="comm" has=1["some"] opt="option" x=1 s="text1"
			f cpu_id=1 name="worker-1" state=1["WORK"] n=1 list=[1] words=["one","tw1o"] comm="comm" has=1["some"] opt="option" x=1 y=2
		END
		telfilter -w 'state == 1' trace -o copy
		telcat -H copy | cut -d ' ' -f 2- | diff want -
		rm -r copy
		babeltrace2 trace >want 2>/dev/null
		telfilter trace -o copy
		babeltrace2 copy 2>/dev/null | cmp - want
		rm -r copy
		telcat trace >want
		telcat -f tel trace | telcat | cmp - want
		[ "$(grep -c 'list=\[2,3\] words=\["one","tw2o"\]' want)" = 4 ]
	done
	# each event would have them
	contexts le "$(printf '%09000d' 0)"
	run -0 --separate-stderr telcat trace
	[ "$stderr" = "telcat: trace: stream: the texts in the context of packets have more than 8192 bytes, and are empty here" ]
	grep -q ' f cpu_id=2 name="" state=0\[""\] n=2 list=\[\] words=\[\] comm="" has=0\[""\] x=1 y=2$' <<<"$output"
	contexts le "$(printf '%08150d' 0)"
	[ "$(telcat trace | grep -c ' name="0*-2" .* x=1 y=2$')" = 1 ]
}

@test "packets of another trace behind one of this, with --force" {
	cat >trace/metadata <<-'END'
		/* CTF 1.8 */
		typealias integer { size = 8; align = 8; } := b;
		typealias integer { size = 32; align = 8; } := u32;
		trace { major = 1; minor = 8; byte_order = le;
		    uuid = "00112233-4455-6677-8899-aabbccddeeff";
		    packet.header := struct { u32 magic; b uuid[16]; }; };
		stream { packet.context := struct { u32 packet_size;
		    u32 content_size; }; event.header := struct { b id; }; };
		event { name = e; id = 0; fields := struct { b x; }; };
	END
	python3 - >trace/stream <<-'END'
		import struct, sys
		own = bytes.fromhex("00112233445566778899aabbccddeeff")
		for i, uuid in enumerate((own, bytes(16), bytes(16))):
		    sys.stdout.buffer.write(struct.pack(
		        "<I16sII", 0xc1fc1fc1, uuid, 240, 240) + bytes((0, i)))
	END
	run -0 --separate-stderr telcat --force -H trace
	[ "$(cut -d ' ' -f 2- <<<"$output")" = $'e x=0\ne x=1\ne x=2' ]
	[ "$stderr" = "telcat: trace: stream: packets of a trace with another UUID are read" ]
}

@test "a folder inside a trace that may not be read is named" {
	[ "$(id -u)" = 0 ] || skip "only root may become another user"
	command -v setpriv >/dev/null || skip "there is no setpriv"
	place=$(mktemp -d)
	mkdir "$place/trace"
	zstd -dcq "$TEL_TOP/tests/data/ctf/all.ctf.tar.zst" |
	    tar -xf - -C "$place/trace"
	mkdir "$place/trace/secret"
	chmod -R a+rX "$place"
	chmod 700 "$place/trace/secret"
	run -1 --separate-stderr setpriv --reuid 65534 --clear-groups \
	    telcat "$place/trace"
	[ "$stderr" = "telcat: $place/trace: secret/: Permission denied" ]
	rm -r "$place"
}

@test "a string with a NUL does not end early in a trace" {
	{
		zstd -dc "$TEL_TOP/tests/data/alloc/calls.mtrace.zst"
		printf '%b\n' '@ ./\0t:[0x1285] + 0x11112a0 0xa' \
		    '@ ./t:[0x1285] + 0x22222a0 0xa'
	} >log
	for format in ctf ctf2; do
		telcat -q -f $format -o $format log
		telcat -H -n -2 $format | diff - <(telcat -H -n -2 log |
		    sed 's/ malloc/ Alloc:malloc/; s/x00/xc0\\x80/; s/size=/address_label="" size=/
		        s/\[\(.*\)\]$/ caller_label=\1/')
	done
	[ "$(babeltrace2 ctf | wc -l)" = "$(telcat -c log)" ]
}
