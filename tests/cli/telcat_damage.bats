#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Damaged logs: intact events are shown, lost ones reported and counted.

# "run --separate-stderr" sets stderr; a word may be a file name elsewhere
# shellcheck disable=SC2154,SC2094

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
}

# poke FILE OFFSET BYTES: overwrites bytes, given as for printf.
poke() {
	# shellcheck disable=SC2059 # escapes on purpose
	printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

@test "a log that is cut anywhere is shown up to the cut" {
	unpack 1.111.0-lii6gc-poolncv
	telcat -H mpsio.log >all
	size=$(stat -c %s mpsio.log)
	step=41
	if [ -n "${TEST_WHOLE-}" ]; then step=7; fi
	slow && step=211
	python3 - $step <<-'END'
		import struct, subprocess, sys
		d, step = open('mpsio.log', 'rb').read(), int(sys.argv[1])
		# where events end: the second column of the reference text, summed up
		ends, at = [], 0
		while at < len(d):
		    at += struct.unpack_from('<H', d, at + 2)[0]
		    ends.append(at)
		cut = ends[0]
		while cut < len(d):
		    got = subprocess.run(["telcat", "-H"], input=d[:cut], timeout=300,
		                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
		    what = cut, got.returncode, got.stderr
		    assert got.returncode == (0 if cut in ends else 3), what
		    assert got.stdout.count(b"\n") == sum(end <= cut for end in ends), what
		    assert cut in ends or \
		        b": 1 damaged place, " in got.stderr.splitlines()[-1], what
		    cut += 1 + step // 100 if cut < 200 else step
	END
	# before the first whole event there is nothing that could be a log
	expect 1 'telcat: standard input: unknown format*' \
	    bash -c "head -c 10 mpsio.log | telcat"
}

@test "the summary says what was lost" {
	unpack 1.118.0-lii6gc-poolncv
	head -c 3001 mpsio.log >"cut"
	run -3 --separate-stderr telcat -H cut
	[[ ${stderr_lines[0]} =~ ^telcat:\ cut:\ offset\ ([0-9]+):\  ]]
	lost=$((3001 - BASH_REMATCH[1]))
	[ "${stderr_lines[1]}" = "telcat: cut: 1 damaged place, $lost bytes skipped, 0 events repaired" ]
}

@test "a wrong size loses nothing, a wrong code one event" {
	unpack 1.118.0-lii6gc-poolncv
	telcat -H mpsio.log >all
	cp mpsio.log size.log
	# the fourth event: a code of 2 bytes, then a size of 2
	offset=$(python3 - <<-'END'
		import struct
		d = open('mpsio.log', 'rb').read()
		at = 0
		for i in range(3):
		    at += struct.unpack_from('<H', d, at + 2)[0]
		print(at)
	END
	)
	poke size.log $((offset + 2)) '\377\377'
	run -3 --separate-stderr telcat -H size.log
	[ "${#lines[@]}" -eq 144 ]
	printf '%s\n' "$output" | cmp all -
	[[ ${stderr_lines[1]} == *' 1 event repaired' ]]
	cp mpsio.log code.log
	poke code.log "$offset" '\350\003'
	telcat -H code.log >got 2>messages
	[ "$(diff all got | grep -c '^<')" -le 2 ]
}

@test "bytes in the middle of a log are skipped" {
	unpack 1.118.0-lii6gc-poolncv
	telcat -H mpsio.log >all
	cp mpsio.log bad.log
	poke bad.log 2400 "$(printf '\\377%.0s' {1..512})"
	run -3 --separate-stderr telcat -H bad.log
	printf '%s\n' "$output" | grep -Fxf - all >kept
	[ "$(wc -l <kept)" -gt 110 ]
	[[ ${stderr_lines[-1]} == 'telcat: bad.log: '*' damaged place'*' skipped, '* ]]
	# nothing is made up
	[ "${#lines[@]}" -le 144 ]
}

@test "ten places are reported one by one, and all are counted" {
	unpack 1.118.0-lii6gc-poolncv
	telcat --file-order mpsio.log | sed '20,50s/=/:/' >text
	run -3 --separate-stderr telcat -H text
	[ "${#stderr_lines[@]}" -eq 11 ]
	[[ ${stderr_lines[9]} == 'telcat: text: offset '* ]]
	[[ ${stderr_lines[10]} == 'telcat: text: 31 damaged places, '* ]]
	# the order of the worst: 1 is worse than 3
	run -1 telcat -q text missing
	run -1 telcat -q missing text
	run -3 telcat -q text mpsio.log
}

@test "--strict stops at the first damage: exit 1" {
	unpack 1.118.0-lii6gc-poolncv
	telcat --file-order mpsio.log | sed '20,50s/=/:/' >text
	run -1 --separate-stderr telcat --file-order --strict -H text
	[ "${#lines[@]}" -eq 15 ]
}

@test "compressed input that is cut is shown up to the cut: exit 1 or 3" {
	unpack 1.118.0-lii6gc-amcss
	telcat --file-order -H mpsio.log >all
	for tool in gzip bzip2 xz 'lz4 -q' 'zstd -q'; do
		$tool -c mpsio.log >log
		head -c $(($(stat -c %s log) / 2)) log >"cut"
		echo "$tool"
		exits "1|3" telcat --file-order -H cut >got 2>messages
		cat messages
		[ -s messages ]
		cmp -n "$(stat -c %s got)" got all
	done
}

@test "checksums of gzip files that were put together are checked" {
	unpack 1.111.0-lii6gc-poolncv
	python3 - <<-'END'
		import zlib
		log = open('mpsio.log', 'rb').read()
		def pack(content):
		    c = zlib.compressobj(0, wbits=31)
		    return c.compress(content) + c.flush()
		good = b''.join(pack(log[i:i + 800]) for i in range(0, len(log), 800))
		open('good.gz', 'wb').write(good)
		# the last byte of what the second member has
		at = 2 * len(pack(log[:800])) - 9
		open('bad.gz', 'wb').write(good[:at] + b'\xaa' + good[at + 1:])
	END
	telcat -H good.gz | cmp - <(telcat -H mpsio.log)
	run -3 --separate-stderr telcat -c bad.gz
	[[ $stderr == *': gzip: incorrect data check'* ]]
	# which costs the event that ends in the next member at most
	[ "$output" -ge $(($(telcat -c mpsio.log) - 1)) ]
}

@test "gzip and xz are read up to where they were cut, as by their tools" {
	local size
	unpack 1.118.0-lii6gc-amcss
	for tool in gzip xz; do
		$tool -c mpsio.log >packed
		size=$(stat -c %s packed)
		for at in 29 1000 $((size / 3)) $((size - 9)) $((size - 1)); do
			head -c "$at" packed >"cut"
			run -1 --separate-stderr $tool -dc <"cut"
			$tool -dc <"cut" >cut.log 2>messages || :
			exits "0|1|3" telcat -q --file-order -H cut.log >want
			exits "1|3" telcat --file-order -H "cut" 2>messages | cmp want -
			grep -q "$tool: the input ends inside a member" messages
		done
	done
	gzip -c mpsio.log | head -c 3 >"cut"
	expect 1 '*: gzip: the input ends inside a member' telcat "cut"
}

@test "what is appended to a compressed log that was cut is read" {
	unpack 1.118.0-lii6gc-amcss
	telcat --file-order mpsio.log >text
	{
		grep '^#' text
		tail -n 9000 text
	} >appended
	telcat --file-order -H appended | sort -u >want
	for tool in gzip 'bzip2 -1' xz 'lz4 -q'; do
		echo "$tool"
		head -n 20000 text | $tool -c >packed
		for part in 5 2; do
			{
				head -c $(($(stat -c %s packed) / part)) packed
				$tool -c appended
			} >log
			exits 3 telcat --file-order -H log 2>messages >got
			[ -z "$(sort -u got | comm -13 - want)" ]
		done
	done
}

@test "a compressed stream that is damaged costs none of the next" {
	unpack 1.118.0-lii6gc-amcss
	telcat --file-order -H mpsio.log >whole
	gzip -n mpsio.log
	# a block of no type
	printf '\37\213\10\0\0\0\0\0\0\3\377' >bad.gz
	cat bad.gz mpsio.log.gz >two.gz
	exits 3 telcat --file-order -H two.gz 2>messages | cmp - whole
	cat messages
	grep -q 'offset 0: gzip: ' messages
	cat mpsio.log.gz bad.gz bad.gz mpsio.log.gz >four.gz
	zstd -dcf mpsio.log.gz mpsio.log.gz | telcat --file-order -H >twice
	exits 3 telcat --file-order -H four.gz 2>messages | cmp - twice
	[ "$(grep -c 'gzip: invalid block type' messages)" = 2 ]
}

@test "a member that an archive does not have whole costs none of the others" {
	unpack 1.111.0-lii6gc-poolncv
	truncate -s 5G huge
	printf x >>huge
	tar -cSf all.tar huge mpsio.log
	rm huge
	run -3 --separate-stderr telcat -c all.tar
	[ "$output" = "$(telcat -c mpsio.log)" ]
	[ "${stderr_lines[0]}" = "telcat: all.tar: offset 0: huge: tar: holes of more than 2^30 bytes" ]
	[ "${#stderr_lines[@]}" = 2 ]
}

@test "random bytes never crash, hang or succeed" {
	n=40
	slow && n=4
	python3 - $n <<-'END'
		import random, subprocess, sys
		for i in range(int(sys.argv[1])):
		    random.seed(i)
		    with open("random", "wb") as f:
		        f.write(random.randbytes(random.randrange(1, 9000)))
		    got = subprocess.run(["telcat", "random"], timeout=300,
		                         stdout=subprocess.DEVNULL,
		                         stderr=subprocess.DEVNULL)
		    assert got.returncode in (1, 3), (i, got.returncode)
	END
}

@test "a flipped byte anywhere costs little" {
	unpack 1.117.0-lii6gc-poolncv
	total=$(telcat -H mpsio.log | wc -l)
	step=97
	slow && step=1009
	size=$(stat -c %s mpsio.log)
	for ((i = 200; i < size; i += step)); do
		cp mpsio.log bad.log
		poke bad.log "$i" '\245'
		exits "0|3" telcat -q -H bad.log >got
		[ "$(wc -l <got)" -ge $((total - 3)) ] || {
			echo "byte $i: $(wc -l <got) events of $total"
			false
		}
		[ "$(wc -l <got)" -le "$total" ]
	done
}

@test "--strict fails with what the first damage is, whatever the format" {
	local bad found
	unpack 1.118.0-lii6gc-poolncv
	{
		head -c 3000 mpsio.log
		printf 'nonsense'
		tail -c +3001 mpsio.log
	} >bad.log
	printf '%s\n' '# format: toy' '# type: A 1 K u:unsigned' \
	    '0000000000000001 A u=1' '0000000000000002 A u=-' >bad.txt
	printf '%s\n' '= Start' '+ 0x10' >bad.mtrace
	telcat -q -f tel mpsio.log >bad.tel
	poke bad.tel 5000 'xxxx'
	for bad in bad.log bad.txt bad.mtrace bad.tel; do
		found=$(exits 3 telcat "$bad" 2>&1 >all |
		    sed -n '1s/^telcat: [^:]*: \(offset [0-9]*: .\)/\1/p')
		[ -n "$found" ]
		run -1 --separate-stderr telcat --strict -c "$bad"
		[ "$(grep -cF "${found#*: }" <<<"$stderr")" = 1 ]
		grep -qxF "telcat: $bad: $found" <<<"$stderr"
		run -1 --separate-stderr telcat -q --strict -c "$bad"
		[ "$stderr" = "telcat: $bad: ${found#*: }" ]
	done
}

@test "--strict names the log that is damaged, of those that are merged" {
	unpack 1.118.0-lii6gc-poolncv good
	{
		head -c 3000 good
		printf '\377%.0s' {1..64}
		tail -c +3001 good
	} >bad
	for tool in telcat telstat telfilter; do
		for order in 'good bad' 'bad good'; do
			# shellcheck disable=SC2086
			run -1 --separate-stderr $tool --strict -o none $order
			[[ $stderr == *"$tool: bad: offset "*": invalid event"* ]]
			[[ $stderr != *"$tool: good: "* ]]
		done
	done
}

@test "garbage in the place of an EventInit does not end the log" {
	unpack 1.118.0-lii6gc-poolncv
	# what a damaged gzip may leave: the code and the size, and other bytes
	{
		head -c 3152 mpsio.log
		printf '\035\0\060\0\0\0\0\0\0\0\0\0\0\006\0\0'
		printf '\177%.0s' {1..32}
		tail -c +3153 mpsio.log
	} >bad
	run -3 --separate-stderr telcat -c bad
	[ "$output" = $(($(telcat -c mpsio.log) + 1)) ]
	[[ ${stderr_lines[0]} == "telcat: bad: offset 3152: an EventInit with words of 2139062143 bits" ]]
	telcat mpsio.log | cmp - <(exits 3 telcat bad 2>&- | grep -v '127$\|2139062143')
}
