#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# What telfilter passes on: the same bytes, and what is needed to read them.

# "run --separate-stderr" sets stderr; a word may be a file name elsewhere
# shellcheck disable=SC2154,SC2094

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
}

# Lines of the text on standard input but for what is kept as context.
no_context() {
	grep -vE '^#|^.{16} (EventInit|EventClockSync|Intern|Label|LabelPointer) ' || :
}

logs() {
	if slow; then
		echo "$DATA"/1.11[158]*-poolncv.log.zst
	else
		echo "$DATA"/*.log.zst
	fi
}

@test "-w true is the same bytes, of each log and its texts" {
	for log in $(logs | tr ' ' '\n' | sample 6); do
		echo "$log"
		zstd -dcq "$log" >log
		telfilter --quiet -w true log | cmp log -
		telcat -q log >text
		clean telfilter -w true text | cmp text -
		zstd -dcq "$log" | telfilter --quiet | cmp log -
	done
	for cnv in "$DATA"/1.118*poolncv.cnv.zst "$DATA"/1.111*poolncv.cnv.zst; do
		zstd -dcq "$cnv" >cnv
		telfilter --quiet -w true cnv | cmp cnv -
	done
	# a log that was repeated names its release again
	zstd -dcq "$DATA/1.118.0-lii6gc-poolncv.log.zst" >log
	cat log log >twice
	telfilter twice | cmp twice -
}

# In order of time one is behind others in a run, and not its first event.
@test "a wrong size is repaired amid events that are copied together" {
	zstd -dcq "$DATA/1.118.0-lii6gc-awlut.log.zst" | telfilter -S >log
	python3 - log >bad <<-'END'
		import struct, sys
		with open(sys.argv[1], "rb") as file:
		    log = bytearray(file.read())
		at = 0
		for i in range(9000):
		    size, = struct.unpack_from("<H", log, at + 2)
		    if i > 5000 and i % 37 == 0:
		        struct.pack_into("<H", log, at + 2, size + 8)
		    at += size
		sys.stdout.buffer.write(log)
	END
	exits 3 telfilter -q --live bad | cmp log -
}

# With -n, events are written one by one.
@test "runs of events are written as each is" {
	local file
	zstd -dcq "$DATA/1.118.0-lii6gc-awlut.log.zst" >log
	zstd -dcq "$DATA/1.111.0-lii6gc-poolncv.log.zst" >old
	telcat -f tel log >log.tel
	zstd -dcq "$TEL_TOP/tests/data/alloc/gcc.heaptrack.zst" >trace
	awk 'BEGIN { for (i = 0; i < 40000; i++)
	    printf "%016x %s a=%d b=%d\n", i * i % 99991, i % 5 ? "One" : "Two",
	        i % 77, i * 12345 }' >lines
	for file in log log.tel old trace lines; do
		while read -ra options; do
			echo "$file ${options[*]}"
			telfilter -q "${options[@]}" -n 100000000 $file >want
			telfilter -q "${options[@]}" $file | cmp want -
		done <<-'END'
			-f tel
			-f tel,lines
			-f tel -w index%3>0
			-f tel -w index/1000%2==0
			-f tel --bare -w index>100
			-f tel -v -w index==20
			-f tel -t 0x1,
		END
	done
	# -u writes a block of .tel when there is no more input, not for each event
	[ "$(telfilter -u -f tel -k Pool old | wc -c)" -eq \
	    "$(telfilter -f tel -k Pool old | wc -c)" ]
}

@test "a filtered stream decodes to what filtering the text gives" {
	local last=
	for log in $(logs); do
		while IFS= read -r filter; do
			echo "$log $filter"
		done <<-'END'
			-k Pool
			-k ^User
			-k Seg,Arena
			-e '*Alloc,*Init*'
			-w 'has(size) && size >= 64'
			-w 'has(pool) && label(pool) ~ "A"'
			-e 'Intern,Label*'
		END
	done >all
	# each filter has logs, as 7 does not divide 12
	sample 12 <all >some
	while read -r log filter; do
		echo "$log $filter"
		if [ "$log" != "$last" ]; then
			zstd -dcq "$log" >log
			telcat -q log >text
			release=$(sed -n 's/^# format: //p' text)
			last=$log
		fi
		eval "words=($filter)"
		telfilter --quiet "${words[@]}" log >out.log
		telcat -q --as "$release" out.log | no_context >got
		telfilter "${words[@]}" text | no_context | cmp - got
		telcat -q -H "${words[@]}" log | no_context | cmp - got
		# whatever order it is read in
		telcat -q -H -S --as "$release" "${words[@]}" out.log >got
		telcat -q -H -S "${words[@]}" log | cmp - got
		# and once it is filtered, it is
		telfilter --quiet --as "$release" "${words[@]}" out.log |
		    cmp out.log -
	done <some
}

@test "a filter of names is grep" {
	unpack 1.118.0-lii6gc-poolncv
	telcat mpsio.log >text
	grep ' PoolAlloc ' text >want
	telfilter --bare -e PoolAlloc text | sed /^#/d | cmp want -
	telfilter --bare -e PoolAlloc mpsio.log | telcat -H --as mps-1.118.0 |
	    sed 's/\["[^]]*"\]//g' >got
	sed 's/\["[^]]*"\]//g' want | cmp - got
	# any mix of them
	telcat mpsio.log | grep -v Label | sort -r | telfilter --bare -k Object |
	    sed /^#/d >got
	sed /^#/d text | sort -r | grep -E ' (Pool|Buffer)[A-Z][a-z]* ' |
	    grep -E ' (PoolAlloc|PoolFree|BufferReserve|BufferCommit) ' | cmp - got
}

@test "empty lines between events are copied" {
	printf '%s\n' '# teltools text 1' '# type: A 1 K x:unsigned' \
	    '0000000000000001 A x=1' '' '0000000000000002 A x=2' >blank.txt
	telfilter -k K blank.txt | cmp - blank.txt
}

@test "what is kept, and that --bare keeps nothing" {
	unpack 1.118.0-lii6gc-poolncv
	telfilter -e PoolFinish mpsio.log | telcat -H >got
	[ "$(grep -c ' EventInit ' got)" -eq 1 ]
	[ "$(grep -c ' EventClockSync ' got)" -eq "$(telfilter -c -e EventClockSync mpsio.log)" ]
	grep -q ' Intern .*release/1.118.0' got
	grep -c ' PoolFinish ' got >finishes
	telfilter --bare -e PoolFinish mpsio.log | telfilter -c --as mps-1.118.0 |
	    cmp - finishes
}

@test "it works anywhere in a pipe" {
	zstd -dcq "$DATA/1.118.0-lii6gc-poolncv.log.zst" >mpsio.log
	telfilter -k Object mpsio.log | telcat -H -k Object >want
	telfilter -k Object <"$DATA/1.118.0-lii6gc-poolncv.log.zst" |
	    telcat -H -k Object | cmp want -
	telcat -f mpscnv mpsio.log | telfilter -k Object |
	    telcat -H -k Object | cmp want -
	telcat mpsio.log | telfilter -k Object | telcat -H -k Object | cmp want -
	# the first is there before the input ends
	{
		cat mpsio.log
		await test -e shown
	} | telfilter -k Pool | {
		telcat -H -n 1 -k Pool -u >one
		: >shown
	}
	[ -s one ]
}

@test "several logs of one release become one stream" {
	unpack 1.118.0-lii6gc-poolncv a.log
	unpack 1.118.0-lii6gc-amcss b.log
	telfilter a.log b.log >both.log
	clean telcat both.log | sed '/^#/d; s/stringId=[0-9]*//' >got
	# the second has its own begin, which is the same
	telcat -H a.log b.log | grep -v -e ' EventInit ' -e ' Intern .*release/' |
	    sed 's/stringId=[0-9]*//' >want
	grep -v -e ' EventInit ' -e ' Intern .*release/' got | cmp want -
	[ "$(grep -c ' EventInit ' got)" -eq 1 ]
	[ "$(grep -c ' Intern .*release/' got)" -eq 1 ]
	# each number stands for one string
	telcat -H -e Intern both.log |
	    sed 's/.*stringId=\([0-9]*\) string=\(.*\)/\1 \2/' | sort -u |
	    cut -d ' ' -f 1 | uniq -d >clashes
	[ ! -s clashes ]
	# texts that start alike do so once
	printf '# type: a 1 A x:unsigned\n%s\n' '0000000000000001 a x=1' >text
	telfilter text text | cmp - <(cat text; tail -n 1 text)
	# and one after the other
	telfilter --no-merge a.log b.log | telcat -H | grep -c . >count
	[ "$(cat count)" -eq "$(wc -l <got)" ]
	# members of an archive, too
	tar -cf logs.tar a.log b.log
	telfilter logs.tar | telcat -H | grep -c . | cmp - count
}

@test "logs of several releases cannot be one stream" {
	unpack 1.117.0-lii6gc-poolncv a.log
	unpack 1.118.0-lii6gc-poolncv b.log
	run -1 --separate-stderr telfilter -o out a.log b.log
	[[ $stderr == 'telfilter: '*.log' is mps-1.11'*' cannot hold both; -f tel can, and -f mps '* ]]
	run -1 --separate-stderr telfilter --no-merge -o out a.log b.log
	[ ! -e out ]
	run -1 --separate-stderr telfilter --no-merge -o out a.log \
	    <(telcat b.log)
	[[ $stderr == *' is not an MPS stream like a.log; '* ]]
	# the next one is written, unless the first failure ends it
	exits 1 telfilter -q --no-merge a.log b.log a.log >got
	cmp <(telfilter --no-merge a.log a.log) got
	exits 1 telfilter -q --strict --no-merge a.log b.log a.log >got
	cmp <(telfilter a.log) got
	# but text can
	telcat a.log >a.txt
	telcat b.log >b.txt
	# (what is sorted shows labels that the lines did not have)
	telfilter a.txt b.txt | clean telcat -H | sed 's/\["[^]]*"\]//g' >got
	telcat -H a.txt b.txt | sed 's/\["[^]]*"\]//g' | cmp - got
	clean telfilter -f text a.log b.log >got
}

@test "damage: whole events only, and status 3" {
	unpack 1.118.0-lii6gc-poolncv
	telcat --file-order -H mpsio.log >all
	head -c 3001 mpsio.log >"cut"
	exits 3 telfilter "cut" >out 2>messages
	grep -q 'damaged place' messages
	clean telcat --file-order -H out >got
	[ "$(wc -l <got)" -gt 50 ]
	head -n "$(wc -l <got)" all | cmp - got
	# a size that is wrong is put right
	cp mpsio.log size.log
	printf '\377\377' | dd of=size.log bs=1 seek=2 conv=notrunc status=none
	exits 3 telfilter size.log >out 2>messages
	cmp out mpsio.log
	# invalid bytes are left out
	{
		head -c 72 mpsio.log
		printf 'xxxxxxxxxxx'
		tail -c +73 mpsio.log
	} >more.log
	exits 3 telfilter more.log >out 2>messages
	clean telcat out >/dev/null
	run -3 telfilter -o out more.log
}

@test "failures are reported" {
	unpack 1.118.0-lii6gc-poolncv
	expect 1 'telfilter: none: *' telfilter none
	expect 2 "telfilter: -w: 'sise > 1', column 1: *" telfilter -w 'sise > 1' mpsio.log
	expect 2 "telfilter: -k: 'Poll', column 1: *" telfilter -k Poll mpsio.log
	expect 2 'telfilter: mpsio.log: the output would overwrite this input' \
	    telfilter -o mpsio.log mpsio.log
	expect 1 'telfilter: standard output: *' bash -c 'telfilter mpsio.log >/dev/full'
	expect 1 'telfilter: standard output: *' bash -c 'telfilter -c mpsio.log >/dev/full'
	expect 1 'telfilter: standard output: *' bash -c 'telfilter mpsio.log >&-'
	run -0 bash -c "set -o pipefail; cat mpsio.log | { telfilter -k Pool; true; } | head -c 10 | wc -c"
	[ "$output" -eq 10 ]
}

@test "a terminal gets no binary and no control characters" {
	needs_terminal
	unpack 1.118.0-lii6gc-poolncv
	run script -qec "telfilter mpsio.log" /dev/null
	[ "$status" -eq 2 ]
	[[ $output == *'refusing to write binary output to a terminal'* ]]
	{
		telcat -n 1 mpsio.log
		printf '# \033[31m\n'
		telcat -H --skip 1 -n 1 mpsio.log
	} >text
	run script -qec "telfilter text" /dev/null
	[ "$status" -eq 0 ]
	[[ $output == *'# \x1b[31m'* ]]
	[[ $output != *$'\033'* ]]
	run script -qec "telfilter -f text -n 1 mpsio.log" /dev/null
	[ "$status" -eq 0 ]
}
