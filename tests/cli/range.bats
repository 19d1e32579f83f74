#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# A range of time of a file in the native format: what is read of it, and that
# nothing else comes out than when all of it is read.

# "run --separate-stderr" sets stderr.
# shellcheck disable=SC2154

load lib

# The files are the same for all tests.
setup_file() {
	cd "$BATS_FILE_TMPDIR" || exit
	unpack 1.118.0-lii6gc-poolncv seed.log
	python3 - <<'END'
import random, struct
random.seed(1)
# copies of a log, each a second later; names and clock points in few of them,
# and none in the first
INIT, SYNC, INTERN, LABEL, LABEL_P = 0x1D, 0x1C, 0x21, 0x22, 0x23
seed, events, at = open("seed.log", "rb").read(), [], 0
while at < len(seed):
    code, size = struct.unpack_from("<HH", seed, at)
    clock, = struct.unpack_from("<Q", seed, at + 8)
    events.append((code, clock, seed[at:at + 8], seed[at + 16:at + size]))
    at += size
with open("long.log", "wb") as out:
    for copy in range(3600):
        for code, clock, head, tail in events:
            if code == INIT and copy > 0 or code == SYNC and copy % 400 > 0:
                continue
            if code in (INTERN, LABEL, LABEL_P) and copy not in (2000, 3100):
                continue
            if code == INTERN and copy == 3100:
                tail = tail.replace(b"Control", b"Renewed")
            if code == SYNC: # in us of a clock of 2,625 MHz
                us, = struct.unpack("<Q", tail)
                tail = struct.pack("<Q", us + copy * 1143)
            if copy % 2 and len(tail) > 8 and code not in (INIT, SYNC, INTERN):
                # a log that cannot be made very small
                tail = tail[:-6] + random.randbytes(4) + tail[-2:]
            out.write(head + struct.pack("<Q", clock + copy * 3000000) + tail)
END
	telcat -f tel long.log >long.tel
	telcat -f tel -z 1 long.log >long.tel.zst
	telcat -H long.log | cut -c 1-16 >clocks
	check_statuses
}

setup() {
	cd "$BATS_FILE_TMPDIR" || exit
	# this log has too few points for order of time
	export TELTOOLS_CONFIG=$BATS_TEST_TMPDIR/config
	for tool in telcat telfilter telstat; do
		echo "$tool --file-order"
	done >"$TELTOOLS_CONFIG"
}

teardown() {
	local pid
	if [ -s "$BATS_TEST_TMPDIR/server.pid" ]; then
		pid=$(<"$BATS_TEST_TMPDIR/server.pid")
		kill "$pid"
		wait "$pid" || true
	fi
	check_statuses
}

# same ARGUMENT ...: one command line gives the same of each file.
same() {
	local file
	# a pipe is read from start to end
	clean "$@" <(cat long.tel) | grep -av input_bytes >"$BATS_TEST_TMPDIR/want"
	for file in long.tel long.tel.zst; do
		echo "$* $file"
		clean "$@" "$file" | grep -av input_bytes |
		    cmp - "$BATS_TEST_TMPDIR/want"
	done
}

# How many bytes a command reads, in thousandths of the size of a file.
share() {
	local file=$1
	shift
	[ -r /proc/self/io ] || return 1
	# shellcheck disable=SC2016 # of the shell inside
	noted bash -c '"$@" >/dev/null || exit; while read -r key n; do
	    [ "$key" != rchar: ] || echo "$n"; done </proc/$$/io' bash "$@" "$file" \
	    >"$BATS_TEST_TMPDIR/read"
	echo $(($(cat "$BATS_TEST_TMPDIR/read") * 1000 / $(stat -c %s "$file")))
}

clock() {
	sed -n "$(($(wc -l <clocks) * $1 / 1000 + 1))p" clocks
}

@test "a range gives what it gives of the whole log" {
	printf '%s\n' "$(clock 500),$(clock 510)" 0x1,0x2 "$(clock 990)," \
	    "$(clock 700),$(clock 701)" ",$(clock 5)" 0xFFFFFFFFFFFFFFF0, \
	    "$(clock 800),$(clock 800)" 9000000000,9030000000 \
	    -5,5000000 10700000000, | sample 2 >"$BATS_TEST_TMPDIR/ranges"
	while read -r range; do
		telcat -t "$range" long.log >"$BATS_TEST_TMPDIR/want"
		telcat -t "$range" long.tel | cmp - "$BATS_TEST_TMPDIR/want"
		same telcat -t "$range"
		same telfilter -f mps -t "$range"
		same telstat -f csv -t "$range"
	done <"$BATS_TEST_TMPDIR/ranges"
	same telcat -t 1s,2s
	same telcat -T s -t "$(clock 900),$(clock 901)"
	same telcat -S -t "$(clock 900),$(clock 902)"
	same telcat -t "$(clock 900),$(clock 903)" -w 'dt > 100'
	same telfilter -f text -v -t "$(clock 1),$(clock 999)"
	same telfilter -f text -C 3 -t "$(clock 800),$(clock 801)"
	for range in 50%,51% '99%,' ',1%' 30%,30%; do
		telcat -t "$range" long.log >"$BATS_TEST_TMPDIR/want"
		for file in long.tel long.tel.zst; do
			echo "$range $file"
			telcat -t "$range" "$file" | cmp - "$BATS_TEST_TMPDIR/want"
		done
	done
}

@test "labels hold whose events are in blocks that are not read" {
	telcat -H -t "$(clock 700)," long.tel.zst >"$BATS_TEST_TMPDIR/out"
	grep -q '\["Control' "$BATS_TEST_TMPDIR/out"
	grep -q '\["Renewed' "$BATS_TEST_TMPDIR/out"
	run ! grep -q '\["' <(telcat -H -t "$(clock 300),$(clock 400)" long.tel)
	# and in what is written
	telfilter -t "$(clock 990)," -f tel long.tel >"$BATS_TEST_TMPDIR/part.tel"
	telcat -H -t "$(clock 990)," "$BATS_TEST_TMPDIR/part.tel" | grep -q '\["Renewed'
}

@test "little is read for a range" {
	[ -r /proc/self/io ] || skip "no /proc/self/io"
	all=$(share long.tel telcat)
	[ "$all" -ge 1000 ]
	for range in '99%,' "$(clock 990)," '10790000000,'; do
		for file in long.tel long.tel.zst; do
			part=$(share "$file" telcat -t "$range")
			echo "$range of $file: $part of $all"
			# what an order of time may be held back for, and a window
			[ "$file" = long.tel.zst ] || [ "$part" -lt 700 ]
		done
	done
	# an end is read to count and to show, with the start and the index
	for file in long.tel long.tel.zst; do
		part=$(share "$file" telcat --no-config -n -20)
		echo "the end of $file: $part of $all"
		[ "$file" = long.tel.zst ] || [ "$part" -lt "$((all * 3 / 2))" ]
	done
	telcat --no-config -qH long.log | tail -n 20 >"$BATS_TEST_TMPDIR/want"
	for file in long.tel long.tel.zst; do
		telcat --no-config -qH -n -20 "$file" |
		    cmp - "$BATS_TEST_TMPDIR/want"
	done
}

@test "one log behind another: each is counted from its own begin" {
	cd "$BATS_TEST_TMPDIR"
	cat "$BATS_FILE_TMPDIR"/long.tel "$BATS_FILE_TMPDIR"/long.tel >two.tel
	cat "$BATS_FILE_TMPDIR"/long.tel.zst "$BATS_FILE_TMPDIR"/long.tel.zst >two.tel.zst
	cd "$BATS_FILE_TMPDIR"
	for range in 9000000000,9010000000 "$(clock 700),$(clock 701)"; do
		telcat -t "$range" <(cat "$BATS_TEST_TMPDIR/two.tel") \
		    >"$BATS_TEST_TMPDIR/want"
		[ "$(wc -l <"$BATS_TEST_TMPDIR/want")" -gt 20 ]
		for file in two.tel two.tel.zst; do
			echo "$range $file"
			telcat -t "$range" "$BATS_TEST_TMPDIR/$file" |
			    cmp - "$BATS_TEST_TMPDIR/want"
		done
	done
}

@test "a damaged index is none, and a damaged block costs its events" {
	cd "$BATS_TEST_TMPDIR"
	file=$BATS_FILE_TMPDIR/long.tel
	size=$(stat -c %s "$file")
	range="$(cd "$BATS_FILE_TMPDIR" && clock 900),"
	telcat -H -t "$range" "$file" >want
	for cut in 1 30 50 100 1000; do
		head -c $((size - cut)) "$file" >bad.tel
		exits 3 telcat -H -t "$range" bad.tel 2>messages | cmp - want
		[ -s messages ]
		exits 3 telcat -H -t "$range" bad.tel 2>&- | cmp - want
		cp "$file" bad.tel
		printf '\377' | dd of=bad.tel bs=1 seek=$((size - cut)) conv=notrunc status=none
		exits "0|3" telcat -H -t "$range" bad.tel >got
	done
	# in the middle of what is wanted
	cp "$file" bad.tel
	printf 'xxxxxxxx' | dd of=bad.tel bs=1 seek=$((size * 95 / 100)) conv=notrunc status=none
	exits 3 telcat -H -t "$range" bad.tel >got 2>messages
	grep -q ' events lost, between clocks ' messages
	[ "$(wc -l <got)" -lt "$(wc -l <want)" ]
	[ "$(wc -l <got)" -gt $(($(wc -l <want) / 2)) ]
}

# make_false WHAT: writes false.tel, of which something about a block in the
# middle is not true, in records that are valid.
make_false() {
	PYTHONPATH=$TEL_TOP/tests/spec python3 - "$1" <<-'END'
		import struct, sys
		from tel_reader import Bytes, records, unzigzag, xxh64
		from tel_writer import varint, zigzag
		BLOCK, END, SUMMARY, DIRECTORY = 3, 6, 7, 8
		def seal(kind, head, body):
		    start = b"\xf1tel" + bytes([kind, len(head)]) + struct.pack(
		        "<II", len(body), xxh64(body) & 0xFFFFFFFF)
		    check = struct.pack("<I", xxh64(start + head) & 0xFFFFFFFF)
		    return start + check + head + body
		def directory(body):
		    b, out, groups, shift = Bytes(body), b"", 0, 0
		    while b.left():
		        entry = [b.varint() for _ in range(5)]
		        if entry[4]:
		            entry.append(b.varint())
		        entry += [b.varint(), b.varint()]
		        groups += 1
		        delta = unzigzag(b.varint()) - shift
		        shift = 1 << 40 if groups == 2 else 0
		        entry += [zigzag(delta + shift), b.varint(), b.varint()]
		        out += b"".join(map(varint, entry)) + b.take(8)
		    assert groups > 1
		    return out
		def summary(body):
		    b, blocks = Bytes(body), 0
		    for _ in range(b.varint()):
		        start = b.at
		        header = b.take(10)
		        blocks += header[0] == BLOCK
		        head = Bytes(b.take(header[1]))
		        if blocks == 20:
		            place, before, count, first = (head.varint() for _ in range(4))
		            new = varint(place) + varint(before) + varint(count) + \
		                varint(first - (1 << 20)) + head.take(head.left())
		            assert len(new) == header[1]
		            return body[:start + 10] + new + body[b.at:]
		    assert False
		what, data = sys.argv[1], open("long.tel", "rb").read()
		out, chain, summaries = b"", 0, 0
		for kind, critical, head, body, _, _ in records(data):
		    summaries += kind == SUMMARY
		    if kind == DIRECTORY and what == "directory":
		        body = directory(body)
		    if kind == SUMMARY and summaries == 2 and what == "summary":
		        body = summary(body)
		    if kind == END:
		        old = struct.unpack("<6Q", head)
		        head = struct.pack("<6Q", len(out) + 66, 0, old[2], chain,
		                           old[4] + len(out) + 66 - len(data), old[5])
		    record = seal(kind | critical << 7, head, body)
		    chain = xxh64(struct.pack("<Q", chain) + record[14:18])
		    out += record
		with open("false.tel", "wb") as file:
		    file.write(out)
	END
}

@test "an index that is not true is reported, and no block is lost by it" {
	count=$(wc -l <clocks)
	from=$(sed -n "$((count / 4))p" clocks)
	to=$(sed -n "$((count * 3 / 4))p" clocks)
	telcat -q -H -t "0x$from,0x$to" long.tel >want
	for what in directory summary; do
		make_false "$what"
		exits 3 telcat -H -t "0x$from,0x$to" false.tel 2>messages | cmp - want
		cat messages
		grep -q "the index does not agree with the record here" messages
	done
}

@test "blocks without events that are wanted are not read" {
	local options file
	while read -ra options; do
		same telcat "${options[@]}"
		same telstat -f csv "${options[@]}"
		telfilter "${options[@]}" long.tel | telcat >"$BATS_TEST_TMPDIR/want"
		telfilter "${options[@]}" <(cat long.tel) | telcat |
		    cmp - "$BATS_TEST_TMPDIR/want"
	done < <(sample 3 <<-'END'
		-e Intern,EventInit
		-e ^PoolAlloc,PoolFree
		-k User,Pool
		-w size==0x1000||addr<0x1000
		-w !(size<4096)
		-w index>400000&&size>64
		-w time>9s&&time<9020ms
		-t 9s,9020ms
		-w size*2-7>0x800||addr/16<0x100
		-w size>4096.5||(size&0xff000)==0x1000
		-w label~"Control"
		-w dt>1000
	END
	)
	same telfilter -f text -v -e PoolAlloc,PoolFree
	same telfilter -f mps -e PoolInit
	same telfilter -c -w 'size > 4096'
	[ -r /proc/self/io ] || return 0
	all=$(share long.tel telcat)
	part=$(share long.tel telcat -e Intern)
	echo "$part of $all"
	[ "$part" -lt 700 ]
}

# fetches FILE [RANGE]: the example program prints what telcat does; sets
# fetched.
fetches() {
	local url
	url=http://127.0.0.1:$(<"$BATS_TEST_TMPDIR/port")/$1
	"$BATS_TEST_TMPDIR/ranged" "$url" "${@:2}" >"$BATS_TEST_TMPDIR/got" \
	    2>"$BATS_TEST_TMPDIR/bytes"
	telcat ${2:+-t "$2"} "$1" | cmp - "$BATS_TEST_TMPDIR/got"
	cat "$BATS_TEST_TMPDIR/bytes"
	read -r _ _ fetched _ <"$BATS_TEST_TMPDIR/bytes"
}

@test "a range of a file behind a web server: few of its bytes are fetched" {
	local flags libs fetched all
	read -ra flags <<<"$CFLAGS $LDFLAGS -Wall -Wextra -Werror"
	read -ra libs <<<"$($PKG_CONFIG --libs libzstd)"
	$CC -std=c11 -D_POSIX_C_SOURCE=200809L -D_FILE_OFFSET_BITS=64 \
	    "${flags[@]}" -I"$TEL_TOP/include" -pthread \
	    -o "$BATS_TEST_TMPDIR/ranged" "$TEL_TOP/examples/ranged/ranged.c" \
	    "$TEL_BUILD/libtel.a" "${libs[@]}" -ldl
	command python3 "$TEL_TOP/tests/cli/ranges.py" "$BATS_TEST_TMPDIR/port" \
	    "$BATS_TEST_TMPDIR/served" >"$BATS_TEST_TMPDIR/server.out" 2>&1 3>&- &
	echo $! >"$BATS_TEST_TMPDIR/server.pid"
	await [ -s "$BATS_TEST_TMPDIR/port" ]
	fetches long.tel
	all=$fetched
	[ "$all" -ge "$(stat -c %s long.tel)" ]
	for range in "$(clock 990)," "$(clock 10),$(clock 11)" '10700000000,'; do
		fetches long.tel "$range"
		[ "$fetched" -lt $((all / 2)) ]
		fetches long.tel.zst "$range"
	done
	# a server without ranges, and no such file
	ln -sf long.tel whole.tel
	for file in whole.tel none.tel; do
		run -1 "$BATS_TEST_TMPDIR/ranged" \
		    "http://127.0.0.1:$(<"$BATS_TEST_TMPDIR/port")/$file"
		[[ $output == "ranged: "*"Protocol error" ]]
	done
	run -1 "$BATS_TEST_TMPDIR/ranged" ftp://127.0.0.1/long.tel
}

@test "blocks that are not wanted are not read of several files, either" {
	[ -r /proc/self/io ] || skip "no counts of what is read"
	local all command one two apart look
	all=$(share long.tel telcat)
	while read -ra command; do
		one=$(share long.tel "${command[@]}")
		two=$(share long.tel "${command[@]}" long.tel)
		apart=$(share long.tel "${command[@]}" --no-merge long.tel)
		echo "${command[*]}: $one, $two and $apart of $all"
		# windows are large compared with these files; the first 80 blocks
		# of each, half of it, are read once more by telstat, which looks
		# for logs with blocks
		look=0
		[ "${command[0]}" != telstat ] || look=$((all / 2))
		[ "$one" -lt $((all * 3 / 4 + look)) ]
		[ "$two" -lt $((all * 3 / 2 + 2 * look)) ]
		[ "$apart" -lt $((all * 5 / 3 + 2 * look)) ]
	done <<-'END'
		telcat -w size>0x10000000000000
		telcat -w size-1>0x10000000000000||0x10000000000000<size/2
		telcat -w !(4503599627370496.5>=size)&&addr>=0
		telcat -w (size>>40)in(4096..8192,1e6)
		telstat -j 1 -w size>0x10000000000000
		telfilter -j 1 -c -w size>0x10000000000000
		telcat -t 50%,51%
		telstat -j 1 -t 50%,51%
		telfilter -j 1 -c -t 50%,51%
	END
}

@test "blocks are chosen by signed numbers and doubles, too" {
	awk 'BEGIN { for (i = 0; i < 40000; i++)
	    printf "%016x Move delta=%d ratio=%.3f\n", 1000 + i, i - 20000,
	        (i - 20000) / 4 + 0.125 }' >moves.txt
	telcat -f tel moves.txt >moves.tel
	while read -r expr; do
		want=$(telfilter -c -w "$expr" <(cat moves.tel))
		echo "$expr: $want"
		[ "$(telfilter -c -w "$expr" moves.tel)" = "$want" ]
		[ "$(telfilter -c -w "$expr" moves.txt)" = "$want" ]
		[ "$want" -gt 0 ]
	done <<-'END'
		delta < -19000
		delta >= -5 && delta < 5
		delta == -19999 || delta == 19998
		delta * 2 - 7 > 39000
		ratio < -4990
		ratio > 4990.5 || ratio in (0.125, -1.5..1)
		delta < ratio * 0 - 19990
	END
}

@test "blocks are chosen by signed numbers of fewer than 64 bits" {
	python3 - <<-'END'
		import os, struct
		os.mkdir("trace")
		with open("trace/metadata", "w") as f:
		    f.write("""/* CTF 1.8 */
		trace { major = 1; minor = 8; byte_order = le; };
		event { name = "Move"; id = 0; fields := struct {
		integer { size = 16; signed = true; } s;
		integer { size = 32; signed = true; } l; }; };
		stream { };
		""")
		with open("trace/stream", "wb") as f:
		    for i in range(400000):
		        f.write(struct.pack("<hi", 25000 - i // 8, 900000000 - i * 4500))
	END
	telcat -f tel trace >trace.tel
	while read -r want expr; do
		echo "$expr"
		[ "$(telfilter -c -w "$expr" trace.tel)" = "$want" ]
		[ "$(telfilter -c -w "$expr" <(cat trace.tel))" = "$want" ]
	done <<-'END'
		8000 s >= -7000 && s < -6000
		80 s >= -5 && s < 5
		8 s == -6001
		222 l > -200000000 && l < -199000000
		200000 l > 0
		1 l == -180000000
	END
}

@test "blocks are chosen by the values of all logs that have events in them" {
	awk 'BEGIN { srand(3); for (i = 0; i < 100000; i++)
	    printf "%016x Move size=%d\n", 1000 + i,
	        (i % 2 ? 2^30 : 2^20) * (1 + rand()) >(i % 2 ? "great" : "small") }'
	for order in "great small" "small great"; do
		# shellcheck disable=SC2086 # two names
		telcat -f tel $order >both.tel
		[ "$(telfilter -c -w 'size > 1e9' both.tel)" = 50000 ]
		[ "$(telfilter -c -w 'size < 1e9' both.tel)" = 50000 ]
	done
}

@test "blocks are chosen by the number of events and their time" {
	local file
	awk 'BEGIN { srand(3); for (i = 0; i < 400000; i++)
	    printf "%016x Move delta=%d\n", 1000 + i * 3, rand() * 2^31 }' >places.txt
	telcat -f tel places.txt >places.tel
	telcat -f tel -z 1 places.txt >places.tel.zst
	all=$(stat -c %s places.tel)
	while read -ra options; do
		want=$(telfilter -c "${options[@]}" places.txt)
		echo "${options[*]}: $want"
		[ "$want" -gt 0 ]
		telcat -H "${options[@]}" places.txt >"$BATS_TEST_TMPDIR/want"
		telstat -f csv "${options[@]}" <(cat places.tel) |
		    grep -av input_bytes >"$BATS_TEST_TMPDIR/stat"
		for file in places.tel places.tel.zst; do
			[ "$(telfilter -c "${options[@]}" "$file")" = "$want" ]
			telcat -H "${options[@]}" "$file" |
			    cmp - "$BATS_TEST_TMPDIR/want"
			telstat -f csv "${options[@]}" "$file" |
			    grep -av input_bytes | cmp - "$BATS_TEST_TMPDIR/stat"
		done
		telfilter "${options[@]}" places.tel | telcat -H |
		    cut -d ' ' -f 1-3 >"$BATS_TEST_TMPDIR/got"
		cut -d ' ' -f 1-3 "$BATS_TEST_TMPDIR/want" |
		    cmp - "$BATS_TEST_TMPDIR/got"
		[ -r /proc/self/io ] || continue
		part=$(share places.tel telfilter -j 1 -c "${options[@]}")
		echo "$part of 1000"
		[ "$part" -lt 800 ]
	done < <(sample 5 <<-'END'
		-w index>390000
		-w index<100
		-w index>=200000&&index<200010
		-w index/1000==250
		-w index==70000||index==399999
		--tb-hz 1000 -w time>1100s
		--tb-hz 1000 -w time<1s
		--tb-hz 1000 -w time>=600s&&time<601s
		--tb-hz 1000 -t 600s,601s
	END
	)
	# what is counted from an event that comes later, or not at all
	while read -ra options; do
		echo "${options[*]}"
		telcat -H "${options[@]}" places.txt >"$BATS_TEST_TMPDIR/want"
		telcat -H "${options[@]}" places.tel | cmp - "$BATS_TEST_TMPDIR/want"
	done < <(sample 2 <<-'END'
		--tb-hz 1000 -S -w time>1100s
		-w time>1100s||index>399000
		--tb-hz 1000 -T s -w time>1100s
		-w dt>2&&index>399000
		--since index==200000 --until index==200010 -w index>10
	END
	)
	# several streams: each counts its own events
	cat places.tel places.tel >two.tel
	for file in two.tel places.tel; do
		telcat -H -w 'index > 399990' <(cat $file) >"$BATS_TEST_TMPDIR/want"
		telcat -H -w 'index > 399990' $file | cmp - "$BATS_TEST_TMPDIR/want"
		telcat -H --tb-hz 1000 -w 'time > 1199s' <(cat $file) \
		    >"$BATS_TEST_TMPDIR/want"
		telcat -H --tb-hz 1000 -w 'time > 1199s' $file |
		    cmp - "$BATS_TEST_TMPDIR/want"
	done
	telcat -H --tb-hz 1000 -w 'time > 1199s' places.tel two.tel \
	    >"$BATS_TEST_TMPDIR/got"
	telcat -H --tb-hz 1000 -w 'time > 1199s' <(cat places.tel) <(cat two.tel) |
	    cmp - "$BATS_TEST_TMPDIR/got"
}
