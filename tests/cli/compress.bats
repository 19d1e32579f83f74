#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Compressed output: -z, and what reads it.

# "run --separate-stderr" sets stderr; a word may be a file name elsewhere
# shellcheck disable=SC2154,SC2094

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	unpack 1.118.0-lii6gc-poolncv
}

# Reads the table of a file as the published format has it, and checks that
# it tells where each frame begins: zstd decodes each by itself.  Prints the
# number of frames.
frames() {
	python3 - "$1" <<'END'
import struct, subprocess, sys
data = open(sys.argv[1], "rb").read()
count, flags, magic = struct.unpack("<IBI", data[-9:])
assert magic == 0x8F92EAB1 and flags == 0
table = len(data) - 17 - 8 * count
head, size = struct.unpack_from("<II", data, table)
assert head == 0x184D2A5E and size == 8 * count + 9
at = 0
for i in range(count):
    packed, content = struct.unpack_from("<II", data, table + 8 + 8 * i)
    frame = data[at:at + packed]
    assert frame[:4] == b"\x28\xb5\x2f\xfd"
    got = subprocess.run(["zstd", "-dcq"], input=frame, check=True,
                         stdout=subprocess.PIPE).stdout
    assert len(got) == content, (len(got), content)
    at += packed
assert at == table
print(count)
END
}

@test "compressed output decompresses to what it is without" {
	for level in 1 3 19; do
		telfilter -z "$level" mpsio.log >packed
		zstd -dcq packed | cmp - mpsio.log
		zstd -tq packed
		telcat -z "$level" mpsio.log | zstd -dcq | cmp - <(telcat mpsio.log)
	done
	for format in csv json sql mpscnv mpstxt; do
		telcat -z 3 -f "$format" mpsio.log | zstd -dcq |
		    cmp - <(telcat -f "$format" mpsio.log)
	done
	telfilter -z 3 -o packed mpsio.log
	[ "$(stat -c %s packed)" -lt "$(stat -c %s mpsio.log)" ]
	telcat packed | cmp - <(telcat mpsio.log)
}

@test "every tool and every form of output is compressed, and zstd reads it" {
	# form COMMAND ...: the same with -z as without.
	form() {
		"$@" mpsio.log >plain
		"$@" -z 5 mpsio.log >packed
		"$@" --compress=5 -o named mpsio.log
		cmp packed named
		zstd -tq packed
		zstd -l packed | grep -q 'XXH64'
		zstd -dcq packed | cmp - plain
	}
	for format in perfetto chrome mps:1.6.1 mps,be tel; do
		form telcat -q -f "$format"
	done
	for format in mps:1.6.1/w3i6mv tel csv; do
		form telfilter --quiet -f "$format"
	done
	for format in text csv json openmetrics svg; do
		form telstat -f "$format" -s 'n=hist(size,0,64,8)'
	done
	telcat --types -z 1 mpsio.log | zstd -dcq | cmp - <(telcat --types mpsio.log)
	# what was converted reads as it does without
	telcat -q -f mps:1.6.1 -z 19 mpsio.log | telcat |
	    cmp - <(telcat -q -f mps:1.6.1 mpsio.log | telcat)
}

@test "the table of frames is that of the seekable format" {
	telfilter -z 3 mpsio.log >packed
	[ "$(frames packed)" -eq 1 ]
	cp mpsio.log long.log
	for _ in {1..11}; do
		cat long.log long.log >longer.log
		mv longer.log long.log
	done
	telcat long.log >long.text
	telcat -z 1 long.log >packed
	[ "$(frames packed)" -gt 2 ]
	zstd -dcq packed | cmp - long.text
	telcat packed | cmp - long.text
}

@test "no events are a file of zstd, too" {
	telfilter -z 3 -n 0 mpsio.log >packed
	[ "$(frames packed)" -eq 1 ]
	[ "$(zstd -dcq packed | wc -c)" -eq 0 ]
}

@test "compressed files one behind the other are one log" {
	telfilter -z 3 mpsio.log >one
	cat one one >both
	cat mpsio.log mpsio.log | telcat | cmp - <(telcat both)
	# shellcheck disable=SC2002 # a pipe on purpose
	cat both | telcat | cmp - <(telcat both)
}

@test "a .tel that is compressed inside is read when it is compressed once more" {
	telfilter -f tel -z 3 mpsio.log >packed.tel
	gzip -k packed.tel
	zstd -qk packed.tel
	tar czf packed.tgz packed.tel.zst
	for log in packed.tel.{gz,zst} packed.tgz; do
		clean telcat "$log" | cmp - <(telcat mpsio.log)
		clean telstat -j 2 -c "$log" | cmp - <(telstat -c mpsio.log)
	done
}

@test "what is compressed three times is refused by name" {
	gzip <mpsio.log | zstd -q | xz >three.xz
	tar cf three.tar three.xz
	for log in three.xz three.tar; do
		for tool in telcat telfilter telstat 'telreplay --dry-run'; do
			# shellcheck disable=SC2086
			run -1 --separate-stderr $tool "$log"
			[[ $stderr == "${tool%% *}: $log: "*"gzip inside 2 layers"* ]]
		done
	done
}

@test "an output that was cut off reads but for its end" {
	telfilter -u -z 3 mpsio.log >packed
	size=$(stat -c %s packed)
	head -c $((size * 2 / 3)) packed >short
	run -3 --separate-stderr telcat --file-order -H short
	[ "${#lines[@]}" -gt 40 ]
	telcat --file-order -H mpsio.log | head -n "${#lines[@]}" |
	    cmp - <(exits 3 telcat --file-order -H short 2>&-)
	[[ $stderr == *'zstd: input ends inside a frame'* ]]
}

@test "a file that is cut inside its first frame ends with status 3" {
	telcat -f tel -z 3 -o native mpsio.log
	telcat -z 3 -o text mpsio.log
	telfilter -z 3 -o mps mpsio.log
	for file in native text mps; do
		size=$(stat -c %s $file)
		for n in 240 $((size / 2)) $((size - 30)); do
			head -c "$n" $file >part
			run -3 --separate-stderr telcat part
			[[ $stderr == *'zstd: input ends inside a frame'* ]]
		done
	done
	# a block of its own for the start costs few bytes
	telcat -f tel mpsio.log | zstd -3 -c >plain
	[ "$(stat -c %s native)" -lt $(($(stat -c %s plain) + 80)) ]
}

@test "damage in a frame costs that frame, with a table and without" {
	telfilter -z 3 mpsio.log >one
	size=$(stat -c %s one)
	for _ in 1 2 3 4 5; do cat one; done >five
	cp five bad
	# the header of a block, in the third
	printf '\377\377\377' | dd of=bad bs=1 seek=$((size * 2 + 6)) conv=notrunc status=none
	events=$(telcat -H mpsio.log | wc -l)
	run -3 --separate-stderr telcat --file-order -H bad
	[ "${#lines[@]}" -eq $((events * 4)) ]
	content=$(stat -c %s mpsio.log)
	[[ ${stderr_lines[0]} == "telcat: bad: offset $((content * 2)): zstd: "*"; $content bytes are lost" ]]
	[[ ${stderr_lines[1]} == "telcat: bad: 1 damaged place, $content bytes skipped, "* ]]
	# in the first, too, before the format is known
	cp five start
	printf '\377\377\377' | dd of=start bs=1 seek=6 conv=notrunc status=none
	run -3 --separate-stderr telcat --file-order -H start
	[ "${#lines[@]}" -eq $((events * 4)) ]
	[[ ${stderr_lines[0]} == "telcat: start: offset 0: zstd: "*"; $content bytes are lost" ]]
	cat bad - </dev/null | exits 3 telcat -H 2>&- |
	    cmp - <(exits 3 telcat -H bad 2>&-)
	head -c $((size * 5 - 3)) bad >'short'
	exits 3 telcat -H short 2>&- | cmp - <(exits 3 telcat -H bad 2>&-)
	run -1 telcat --strict bad
	# events keep numbers of their own
	events=$(telcat -H mpsio.log | grep -c '^[^#]')
	for n in $((events * 2 - 1)) $((events * 2)); do
		[ "$(exits 3 telcat -H -w "index == $n" bad 2>&- | grep -c '^[^#]')" -eq 1 ]
	done
	# text goes on, too
	telcat mpsio.log | tee text | zstd -q >one
	size=$(stat -c %s one)
	cat one one one >bad
	printf '\377\377\377' | dd of=bad bs=1 seek=$((size + 6)) conv=notrunc status=none
	run -3 telcat -H bad
	cat text text | telcat -H | cmp - <(exits 3 telcat -H bad 2>&-)
}

@test "damage before the format is known, of an unknown number of bytes" {
	for codec in gzip bzip2 xz lz4 zstd; do
		command -v "$codec" || continue
		"$codec" -c mpsio.log >one
		printf 'aaaaaa' | "$codec" -c >bad
		# the last byte is of the checksum, or of the end
		head -c -1 bad | cat - one >two
		run -3 --separate-stderr telcat two
		[ "$output" = "$(telcat mpsio.log)" ]
		[[ ${stderr_lines[0]} == "telcat: two: offset 0: $codec: "* ]]
		[[ ${stderr_lines[0]} != *"0 bytes"* ]]
		run -1 --separate-stderr telcat --strict two
	done
}

@test "a compressed pipe flows" {
	mkfifo in packed
	telfilter -z 3 -u in >packed &
	telcat --file-order -H packed >out &
	reader=$!
	{
		head -c 2000 mpsio.log
		await has_lines 21 out
		touch came
		tail -c +2001 mpsio.log
	} >in
	wait $reader
	[ -e came ]
	cmp <(telcat --file-order -H mpsio.log) out
}

@test "failures of a compressed output are reported" {
	expect 2 "telcat: -z: '0' is not a level from 1 to 19" telcat -z 0 mpsio.log
	expect 2 "telcat: -z: '20' is not a level from 1 to 19" telcat -z 20 mpsio.log
	expect 2 "telcat: -z: 'x' is not a level" telcat -z x mpsio.log
	[ -c /dev/full ] || skip "no /dev/full"
	expect 1 'telfilter: standard output: *' bash -c 'telfilter -z 3 mpsio.log >/dev/full'
	expect 1 'telfilter: standard output: *' bash -c 'telfilter -z 3 -u mpsio.log >/dev/full'
	expect 1 'telfilter: standard output: *' bash -c 'telfilter -z 3 mpsio.log >&-'
	run -0 --separate-stderr bash -c 'telfilter -u -z 3 mpsio.log | head -c 10 | wc -c'
	[ "$output" -eq 10 ]
	[ -z "$stderr" ]
}

@test "a terminal gets nothing compressed" {
	needs_terminal
	run -2 script -qec 'telcat -z 3 mpsio.log' /dev/null
	[[ ${lines[0]} == *'to a terminal'* ]]
}

@test "plain streams after compressed ones are read; after plain ones, compressed ones are reported" {
	telcat -q -f tel mpsio.log >plain.tel
	telcat -q -f tel -z 3 mpsio.log >packed.tel
	telcat -q -H mpsio.log >want
	# of one kind they are a log
	for file in plain.tel packed.tel; do
		cat "$file" "$file" >both
		telcat -q -H both | cmp - <(cat want want)
		telcat -q -H <both | cmp - <(cat want want)
	done
	for file in packed.tel many.tel; do
		zstd -q -c -3 --no-check plain.tel >many.tel
		cat "$file" plain.tel plain.tel >mixed
		telcat -H mixed | cmp - <(cat want want want)
		telcat -H <mixed | cmp - <(cat want want want)
	done
	# what is cut off there, or follows, is damage
	head -c -10 mixed >"cut"
	run -3 --separate-stderr telcat -H cut
	[[ $stderr == *"ends inside a record"* ]]
	cat packed.tel <(echo "no stream") >mixed
	run -3 --separate-stderr telcat -H mixed
	[ "$output" = "$(cat want)" ]
	[[ $stderr == *"Unknown frame descriptor"* ]]
	cat plain.tel packed.tel >mixed
	run -3 --separate-stderr telcat -H mixed
	[ "$output" = "$(cat want)" ]
	[[ $stderr == *"bytes skipped"* ]]
}
