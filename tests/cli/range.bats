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
}

# same ARGUMENT ...: one command line gives the same of each file.
same() {
	local file
	# what stands in a pipe is read from its begin to its end
	clean "$@" <(cat long.tel) | grep -v input_bytes >"$BATS_TEST_TMPDIR/want"
	for file in long.tel long.tel.zst; do
		echo "$* $file"
		clean "$@" "$file" | grep -v input_bytes |
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
	for range in "$(clock 500),$(clock 510)" "$(clock 990)," ",$(clock 5)" \
	    "$(clock 700),$(clock 701)" "$(clock 800),$(clock 800)" \
	    "0x1,0x2" "0xFFFFFFFFFFFFFFF0," "9000000000,9030000000" \
	    "-5,5000000" "10700000000,"; do
		telcat -t "$range" long.log >"$BATS_TEST_TMPDIR/want"
		telcat -t "$range" long.tel | cmp - "$BATS_TEST_TMPDIR/want"
		same telcat -t "$range"
		same telfilter -f mps -t "$range"
		same telstat -f csv -t "$range"
	done
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
		run -3 telcat -H -t "$range" bad.tel
		exits 3 telcat -H -t "$range" bad.tel 2>&- | cmp - want
		cp "$file" bad.tel
		printf '\377' | dd of=bad.tel bs=1 seek=$((size - cut)) conv=notrunc status=none
		exits "0|3" telcat -H -t "$range" bad.tel >got
	done
	# in the middle of what is wanted
	cp "$file" bad.tel
	printf 'xxxxxxxx' | dd of=bad.tel bs=1 seek=$((size * 95 / 100)) conv=notrunc status=none
	run -3 --separate-stderr telcat -H -t "$range" bad.tel
	[[ $stderr == *' events lost, between clocks '* ]]
	[ "${#lines[@]}" -lt "$(wc -l <want)" ]
	[ "${#lines[@]}" -gt $(($(wc -l <want) / 2)) ]
}

# Writes false.tel: of one block in the middle, the index says another time.
make_false() {
	PYTHONPATH=$TEL_TOP/tests/spec python3 - <<-'END'
		import struct
		from tel_reader import Bytes, xxh64
		data, records, at = open("long.tel", "rb").read(), [], 0
		while at < len(data):
		    nhead, (nbody,) = data[at + 5], struct.unpack_from("<I", data, at + 6)
		    records.append((at, data[at + 4] & 127, nhead, nbody))
		    at += 18 + nhead + nbody
		def varint(v):
		    out = b""
		    while v > 127:
		        out, v = out + bytes([v & 127 | 128]), v >> 7
		    return out + bytes([v])
		def seal(kind, head, body):
		    start = b"\xf1tel" + bytes([kind, len(head)]) + struct.pack(
		        "<II", len(body), xxh64(body) & 0xFFFFFFFF)
		    check = struct.pack("<I", xxh64(start + head) & 0xFFFFFFFF)
		    return start + check + head + body
		at, kind, nhead, nbody = records[-2]
		assert kind == 5
		head = data[at + 18:at + 18 + nhead]
		b, body, blocks = Bytes(data[at + 18 + nhead:][:nbody]), b"", 0
		shift = 0
		while b.left():
		    kind = b.varint()
		    entry = [kind, b.varint(), b.varint()]
		    if kind in (3, 4):
		        entry += [b.varint(), b.varint(), b.varint()]
		        blocks += kind == 3
		        delta = entry[4] >> 1 ^ -(entry[4] & 1)
		        delta += (1 << 40 if blocks == 11 and kind == 3 else 0) + shift
		        shift = -(1 << 40) if blocks == 11 and kind == 3 else 0
		        entry[4] = delta << 1 if delta >= 0 else ~(delta << 1)
		    if kind == 4:
		        entry.append(b.varint())
		    body += b"".join(varint(v) for v in entry)
		index = seal(data[at + 4], head, body)
		end = bytearray(data[records[-1][0] + 18:])
		length = at + len(index) + len(end) + 18
		struct.pack_into("<QQ", end, 0, length, len(index))
		with open("false.tel", "wb") as out:
		    out.write(data[:at] + index + seal(
		        data[records[-1][0] + 4], bytes(end), b""))
	END
}

@test "an index that is not true is reported, and no block is lost by it" {
	make_false
	count=$(wc -l <clocks)
	from=$(sed -n "$((count / 4))p" clocks)
	to=$(sed -n "$((count * 3 / 4))p" clocks)
	telcat -q -H -t "0x$from,0x$to" long.tel >want
	run -3 --separate-stderr telcat -H -t "0x$from,0x$to" false.tel
	[[ $stderr == *"the index does not agree with the record here"* ]]
	[ "$output" = "$(cat want)" ]
}
