#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# -f mps:VERSION: streams of one release out of those of another, and of text.

# "run --separate-stderr" sets stderr; a word may be a file name elsewhere;
# lists of words are split
# shellcheck disable=SC2154,SC2094,SC2086

load lib

# patch_bytes FILE FROM TO: other bytes in their place, as many.
patch_bytes() {
	python3 -c 'import sys
path, old, new = sys.argv[1], eval(sys.argv[2]), eval(sys.argv[3])
data = open(path, "rb").read()
assert old in data and len(old) == len(new)
open(path, "wb").write(data.replace(old, new))' "$@"
}

@test "a newer median version is read with status 3, a minor one with a warning" {
	unpack 1.117.0-lii6gc-poolncv
	# EventInit begins with the versions: 1.6.1
	cp mpsio.log minor
	patch_bytes minor 'b"\1\0\0\0\6\0\0\0\1\0\0\0"' 'b"\1\0\0\0\6\0\0\0\7\0\0\0"'
	run -0 --separate-stderr telcat minor
	[[ $stderr == *'has version 1.6.7'* ]]
	cp mpsio.log median
	patch_bytes median 'b"\1\0\0\0\6\0\0\0\1\0\0\0"' 'b"\1\0\0\0\7\0\0\0\1\0\0\0"'
	telcat -H mpsio.log >want
	run -3 --separate-stderr telcat -H median
	[ "${#lines[@]}" -eq "$(wc -l <want)" ]
	[[ $stderr == 'telcat: median: offset 0: the stream has version 1.7.1 and is read as 1.6.1 '* ]]
	run -1 --separate-stderr telcat --strict median
	run -0 --separate-stderr telcat --force median
	[[ $stderr == *'has version 1.7.1'* ]]
	# its text says the same
	telcat --force -f mpscnv median 2>/dev/null >text
	run -3 --separate-stderr telcat text
	[[ $stderr == *'has version 1.7.1'* ]]
	# a later major one is refused
	patch_bytes median 'b"\1\0\0\0\7\0\0\0\1\0\0\0"' 'b"\3\0\0\0\1\0\0\0\0\0\0\0"'
	run -1 --separate-stderr telcat median
	[[ $stderr == *'has version 3.1.0'*'(--force reads on)' ]]
}

@test "a patch release keeps its number in a conversion to its release" {
	# a log of 1.113.1, which has the events of 1.113.0
	unpack 1.113.0-lii6gc-poolncv
	grep -aq 'release/1.113.1, platform.lii6gc' mpsio.log
	telcat -f mps/lii3gc mpsio.log 2>messages >small
	grep -aq 'release/1.113.1, platform.lii3gc' small
	telcat -f mps:1.114.0 mpsio.log 2>messages >other
	grep -aq 'release/1.114.0' other
}

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	zstd -dcq "$DATA/events.tsv.zst" >events
}

RELEASES='mps-1.111.0 mps-1.112.0 mps-1.113.0 mps-1.114.0 mps-1.115.0
    mps-1.116.0 mps-1.117.0 mps-1.118.0'
PLATFORMS='/lii6gc /lii3gc /w3i3mv /w3i6mv /lii6gc,be /lii3gc,be'

streams() {
	python3 "$TEL_TOP/tests/cli/mps_streams.py" events "$@"
}

# one N WORD ...: one of the words.
one() {
	local n=$1
	shift
	shift $((n % $#))
	echo "$1"
}

# schema LOG: what it is.
schema() {
	telcat -q -n 1 "$1" | sed -n 's/^# format: //p'
}

# turn LOG SCHEMA TARGET: a line for "streams check", of what -f TARGET made.
turns=0
turn() {
	turns=$((turns + 1))
	telcat --as "$2" -f "$3" "$1" >"$turns.log" 2>"$turns.txt"
	echo "$1 $2 $turns.log $3 $turns.txt"
}

@test "every release becomes every other, and each loss is reported" {
	for log in "$DATA"/*-poolncv.log.zst; do
		name=$(basename "$log" .log.zst)
		unpack "$name" "$name.log"
		from=$(schema "$name.log")
		for release in $RELEASES; do
			turn "$name.log" "$from" "$release/lii6gc"
			if slow; then break; fi
		done
		turn "$name.log" "$from" mps-1.116.0/lii3gc
		turn "$name.log" "$from" mps-1.118.0/lii6gc,be
	done >turned
	streams check <turned
}

@test "so do events of every type with any values, on every platform" {
	seed=0
	for from in $RELEASES; do
		for platform in $PLATFORMS; do
			seed=$((seed + 1))
			echo "$seed $from $platform"
		done
	done | sample 9 >froms
	while read -r seed from platform; do
		if [ "$seed" -gt 16 ] && slow; then break; fi
		streams make "$from$platform" "$seed" >"from$seed"
		# the other releases and platforms take turns
		for n in 1 2 3; do
			release=$(one $((seed * 5 + n * 3)) $RELEASES)
			to=$(one $((seed + n)) $PLATFORMS)
			turn "from$seed" "$from$platform" "$release$to"
		done
	done <froms >turned
	[ "$(wc -l <turned)" -gt 6 ]
	streams check <turned
}

@test "large logs, and those that do not say what they are" {
	while read -r name to; do
		unpack "$name" "$name.log"
		turn "$name.log" "$(schema "$name.log")" "$to"
	done >turned <<-END
		1.111.0-lii6gc-amcss mps-1.118.0/lii6gc
		1.112.0-lii3gc-amcss mps-1.113.0/lii6gc
		1.118.0-lii6gc-amcss mps-1.111.0/lii6gc,be
		1.118.0-lii6gc-mpmss-object-only mps-1.117.0/lii6gc
		1.117.0-lii6gc-amcss-seg-trace mps-1.118.0/lii6gc
		1.117.0-lii6gc-amcss-seg-trace mps-1.112.0/w3i6mv
		1.117.0-lii6gc-amcss-seg-trace mps-1.117.0/lii6gc
	END
	streams check <turned
	# what was made says what it is
	telcat -f mps:1.114.0 1.118.0-lii6gc-mpmss-object-only.log -q >new.log
	clean telcat -n 1 new.log | grep -qx '# format: mps-1.114.0/lii6gc'
}

@test "the same release stays as it is, but for bytes that nobody reads" {
	printf '%s\n' "$DATA"/*.log.zst | sample 6 >logs
	while read -r log; do
		echo "$log"
		zstd -dcq "$log" >log
		telcat -q -f mps log >new
		[ "$(wc -c <log)" -eq "$(wc -c <new)" ]
		telcat -q -f mps new | cmp new -
		telcat -q -f mpscnv log >log.cnv
		telcat -q -f mpscnv new | cmp log.cnv -
		telfilter --quiet -f mps log | cmp new -
		if slow; then break; fi
	done <logs
}

@test "to other words and byte orders and back is the same" {
	for name in 1.112.0-lii3gc-amcss 1.118.0-lii3gc-amcss; do
		unpack $name
		release=mps-${name%-amcss}
		clean telcat -f mps mpsio.log >want
		clean telcat -f "${release%-*}/w3i6mv" mpsio.log >wide
		clean telcat -f "${release%-*}/lii3gc" wide | cmp want -
		clean telcat -f mps,be mpsio.log >big
		run ! cmp -s want big
		clean telcat -n 1 big | grep -q '^# format: .*/lii3gc,be$'
		clean telcat -f mps,le big | cmp want -
	done
}

@test "text becomes the stream that it was printed from" {
	for log in "$DATA"/1.11[28]*-poolncv.log.zst "$DATA"/*finalcv.log.zst; do
		echo "$log"
		telcat -q -f mps "$log" >want
		telcat -q --file-order "$log" | clean telcat -f mps | cmp want -
		telcat -q -f mpscnv "$log" >log.cnv
		clean telcat -f mps --as cnv log.cnv >got
		telcat -f mpscnv got | cmp log.cnv -
		if slow; then break; fi
	done
	# what grep took away is put back, so that it says what it is
	unpack 1.113.0-lii6gc-poolncv
	telcat mpsio.log | grep -E '^#|PoolAlloc' | clean telcat -f mps >got
	clean telcat got >text
	sed -n 2p text | grep -qx '# format: mps-1.113.0/lii6gc'
	[ "$(grep -vc '^#' text)" -eq $((2 + $(telcat -H -e PoolAlloc mpsio.log | wc -l))) ]
	# and so are labels that are only shown beside addresses
	unpack 1.117.0-lii6ll-finalcv
	telcat mpsio.log | grep -E '^#|MeterVal|TraceCreatePool' >text
	for target in mps mps:2.0.0; do
		telcat -q -f $target text >got
		telcat -H -F meter,pool -e MeterVal*,TraceCreatePool* got >shown
		grep -q '\["' shown
		telcat -H -F meter,pool text | cmp shown -
		[ "$(telcat -H -e Intern got | cut -d = -f 3 | sort | uniq -d | wc -l)" -eq 0 ]
	done
	# an event that is not known stays what it was
	unpack 1.113.0-lii6gc-poolncv
	telcat mpsio.log >text
	line='0000000000000005 0x0FFF bytes=0102030405060708'
	echo "$line" >>text
	telcat -f mps text | telcat | tail -n 1 >got
	echo "$line" | cmp - got
}

@test "from the native format comes what it was made from" {
	printf '%s\n' "$DATA"/*.log.zst | sample 6 >logs
	while read -r log; do
		echo "$log"
		telcat -q -f mps "$log" >want
		telcat -q -f tel "$log" >tel
		telcat -q -f mps tel | cmp want -
		# and another release from it as from the log
		telcat -q -f mps:1.4.0/w3i6mv "$log" >want
		telcat -q -f mps:1.4.0/w3i6mv tel | cmp want -
		if slow; then break; fi
	done <logs
	telcat -q -f tel,lines "$TEL_TOP/tests/data/inst/hfs.txt" >tel
	telfilter --quiet "$TEL_TOP/tests/data/inst/hfs.txt" >want
	telcat -q -f inst tel | cmp want -
	for trace in "$TEL_TOP"/tests/data/hpm/v?be/HPM.1.startup; do
		telcat -q -f tel,lines "$trace" >tel
		telcat -q -f hpm tel | cmp "$trace" -
	done
	expect 1 'telcat: tel: hpm cannot be written as an inst log' \
	    telcat -f inst tel
	# text is not a log of the format that it shows
	telcat -q "$TEL_TOP/tests/data/inst/hfs.txt" | telcat -q -f tel >tel
	expect 1 'telcat: tel: text cannot be written as an inst log' \
	    telcat -f inst tel
}

@test "labels are shown after a conversion as they were before" {
	unpack 1.117.0-lii6ll-finalcv
	shown() { telcat -H -e MeterValues,PoolFinish,ArenaDestroy "$@"; }
	shown -F meter,pool,arena mpsio.log >want
	grep -q '\["' want
	telcat -q -f mps:2.0.0 mpsio.log >new
	telcat -H -e MeterValues,ArenaDestroy,PoolFinish -F meter,pool new |
	    grep -v '^.* ArenaDestroy' >got
	grep -v ' ArenaDestroy' want | cmp got -
	[ "$(telcat -H -e Label new | wc -l)" -eq \
	    "$(telcat -H -e LabelPointer new | wc -l)" ]
	# and those that only one event needs
	telfilter --quiet -f mps:2.0.0 -e MeterValues -n 1 mpsio.log >one
	[ "$(telcat -H -e LabelPointer one | wc -l)" -eq 1 ]
	telcat -H -e MeterValues one >got
	telcat -H -e MeterValues -n 1 mpsio.log | cmp got -
	# back again they are as many as they were
	telcat -q -f mps:1.6.1 new >back
	telcat -H -e Label,Intern mpsio.log >want
	telcat -H -e Label,Intern back | cmp want -
}

@test "a large event of an unknown type among the first ones" {
	python3 - >log.txt <<-'END'
		print("# format: mps-1.118.0/lii6gc")
		for i in range(100):
		    print(f"{i:016X} Intern stringId={i} string=\"{200 * 'a'}\"")
		print(f"{100:016X} 0x0FFF bytes={60000 * '00'}")
		print(f"{101:016X} Intern stringId=101 string=\"b\"")
	END
	telcat -q -f mps log.txt >stream
	telcat -q -H stream | grep -v '^0000000000000000 EventInit\|written by' |
	    cmp - <(sed 1d log.txt)
}

@test "logs of several releases become one stream" {
	unpack 1.111.0-lii6gc-poolncv a.log
	unpack 1.118.0-lii6gc-poolncv b.log
	for how in --merge --no-merge; do
		case $how in --merge) how=-S ;; esac
		clean telcat -f mps:1.6.1 -q $how a.log b.log >both
		clean telcat --file-order both >text
		[ "$(grep -c ' EventInit ' text)" -eq 1 ]
		for type in Intern PoolAlloc ArenaCreateVM; do
			[ "$(grep -c " $type " text)" -eq \
			    "$(telcat -q a.log b.log | grep -c " $type ")" ] ||
			    [ $type = Intern ]
		done
		# with the labels of each
		telcat -H -e PoolAlloc a.log b.log -S >want
		telcat -H -e PoolAlloc -S both | cmp want -
	done
	clean telfilter --quiet -f mps a.log b.log | clean telcat >text
	grep -qx '# format: mps-1.11[18].0/lii6gc' text
}

@test "what is asked for: versions, releases, platforms" {
	unpack 1.116.0-lii6gc-poolncv
	while read -r target want; do
		telcat -q -f "$target" mpsio.log >new
		echo "$target"
		[ "$(schema new)" = "$want" ]
	done <<-END
		mps mps-1.116.0/lii6gc
		mps,be mps-1.116.0/lii6gc,be
		mps/lii6ll mps-1.116.0/lii6ll
		mps/w3i6mv,be mps-1.116.0/w3i6mv,be
		mps:1.6.1 mps-1.116.0/lii6gc
		mps:1.6.1/lii6ll mps-1.116.0/lii6ll
		mps:1.117.0 mps-1.117.0/lii6gc
		mps:1.117 mps-1.117.0/lii6gc
		mps-1.117.0 mps-1.117.0/lii6gc
		mps:1.1.6 mps-1.113.0/lii6gc
		mps:1.1.3/fri6gc mps-1.111.0/fri6gc
		mps:1.6.0/w3i6mv mps-1.115.0/w3i6mv
		mps:2.0.0,be mps-1.118.0/lii6gc,be
		mps-1.112.0/xci6ll,be mps-1.112.0/xci6ll,be
	END
	# the manual has them all
	for release in $RELEASES; do
		grep -q "^\.It .* mps:${release#mps-}" "$TEL_TOP/man/telcat.1"
	done
	# 1.6.1 is 1.117 too
	unpack 1.117.0-lii6gc-poolncv
	telcat -q -f mps:1.6.1 mpsio.log >new
	[ "$(schema new)" = mps-1.117.0/lii6gc ]
	for tool in telcat telfilter; do
		for target in mps: mps:9.9.9 mps:1.6 mps-1.6.1 mps:/lii6gc; do
			expect 2 "$tool: -f: '$target': unknown release of the MPS; the releases are mps:1.1.3 (1.111.0), mps:1.1.6 (1.112.0, 1.113.0), mps:1.4.0 \
(1.114.0), mps:1.6.0 (1.115.0), mps:1.6.1 (1.116.0, 1.117.0), mps:2.0.0 \
(1.118.0)" $tool -f "$target" mpsio.log
		done
		for target in mps:1.6.1/ mps:1.6.1/vax mps/vax mps-1.118.0/vax,be; do
			expect 2 "$tool: -f: '$target': expected a platform of the MPS: li, fr, xc, w3 or an; i3, i6, ar or a6; and a compiler, such as lii6gc" \
			    $tool -f "$target" mpsio.log
		done
		for target in mps:1.6.1,middle "mps," "mps:1.6.1/lii6gc,"; do
			expect 2 "$tool: -f: '$target': expected ,be or ,le as the byte order" \
			    $tool -f "$target" mpsio.log
		done
		for target in mpsx ,be ''; do
			expect 2 "$tool: -f: '$target' is not one of: *" \
			    $tool -f "$target" mpsio.log
		done
	done
}

@test "--strict stops at the first loss; --quiet says nothing of them" {
	unpack 1.117.0-lii6gc-poolncv
	for tool in telcat telfilter; do
		run -0 --separate-stderr $tool -f mps:2.0.0 -o new mpsio.log
		[[ $stderr == *"$tool: mpsio.log: 1 event of type \
ArenaWriteFaults dropped: not in mps-1.118.0/lii6gc"* ]]
		[[ $stderr == *"$tool: mpsio.log: 2 events of type \
PoolInitMFS without field arena: not in mps-1.118.0/lii6gc"* ]]
		[[ $stderr == *"$tool: mpsio.log: 1 event of type \
ArenaCreateVM with 0 for fields grainSize, arenaClass, systemPools, serial: \
only in mps-1.118.0/lii6gc"* ]]
		clean $tool --quiet -f mps:2.0.0 -o quiet mpsio.log
		cmp new quiet
		run -1 --separate-stderr $tool --strict -f mps:2.0.0 -o strict \
		    mpsio.log
		[[ $stderr == "$tool: mpsio.log: offset 1072: field arena of an \
event of type PoolInitMVFF does not exist in mps-1.118.0/lii6gc"* ]]
		run -1 --separate-stderr $tool --strict -f mps:1.6.1/lii3gc \
		    -e PoolAlloc -o strict mpsio.log
		[[ $stderr == "$tool: mpsio.log: offset "*": field pool of an \
event of type PoolAlloc does not exist in mps-1.117.0/lii3gc" ]]
		# nothing is lost here
		clean $tool --strict -f mps:1.6.1 -e PoolAlloc -o strict mpsio.log
		clean $tool --strict -f mps:2.0.0 -e PoolAlloc -o strict mpsio.log
	done
	run -0 --separate-stderr telcat -f mps:2.0.0 -o new <mpsio.log
	[[ $stderr == *"telcat: standard input: 1 event of type ArenaW"* ]]
	# of several logs they are added up
	cp mpsio.log other.log
	run -0 --separate-stderr telcat -f mps:2.0.0 -o new mpsio.log other.log
	[[ $stderr == *"telcat: 2 events of type ArenaWriteFaults dropped"* ]]
}

@test "losses of more types than there are rows share a row of their kind" {
	{
		echo '# format: mine'
		seq 0 4093 | sed 's/.*/# type: T& & K/'
		echo '# type: PoolFree 4094 K pool:address more:unsigned'
		seq 0 4093 | sed 's/.*/0000000000000001 T&/'
		echo '0000000000000002 PoolFree pool=0x1 more=2'
	} >text
	telcat -f mps:2.0.0 -o new text 2>messages
	seq 0 4091 | sed 's/.*/1 event of type T& dropped/' >want
	cat >>want <<-'END'
		2 events of type ... dropped
		1 event of type ... without field ...
		2 events of type ... with 0 for field ...
	END
	sed 's/^telcat: text: //; s/: .*//' messages | diff want -
}

@test "a log of another format needs a release, and has few events" {
	trace=$TEL_TOP/tests/data/hpm/v2be/HPM.1.startup
	run -1 --separate-stderr telcat -q -f mps "$trace"
	[ -z "$output" ]
	[[ $stderr == "telcat: $trace: hpm"*" is not an MPS release: name one, such as mps:2.0.0" ]]
	telcat -f mps:2.0.0 "$trace" >new 2>messages
	grep -q "dropped: not in mps-1.118.0/lii6gc" messages
	[ "$(telcat -H new | wc -l)" -eq 2 ]
	run -1 --separate-stderr telcat --strict -q -f mps:2.0.0 "$trace"
	[[ $stderr == *"offset "*" does not exist in mps-1.118.0/lii6gc" ]]
	# types of that name are taken, however they came
	cat >text <<-END
		# teltools text 1
		0000000000000001 PoolAlloc pool=0x1 pReturn=0x2 size=3
		0000000000000002 Unheard of=4
		0000000000000003 PoolFree pool=0x1 old=-2 size=3
	END
	exits 3 telcat -f mps:2.0.0 text 2>messages | telcat -H >got
	grep -q 'PoolAlloc pool=0x1 pReturn=0x2 size=3$' got
	grep -q 'Unheard' messages
	# a list is not a number
	cat >text <<-END
		# format: x
		# type: PoolFree 1 K pool:address old:list:address size:unsigned
		0000000000000001 PoolFree pool=0x1 old=[0x4,0x5] size=6
	END
	telcat -f mps:2.0.0 text 2>messages | telcat -H >got
	grep -q 'PoolFree pool=0x1 old=0x0 size=6$' got
	grep -q 'without field old' messages
}

@test "a string of any length fits, or is reported" {
	for n in 0 1 250 255 256 1000; do
		{
			printf '# teltools text 1\n# format: other-1\n'
			printf '0000000000000001 Intern stringId=1 string="%s"\n' \
			    "$(head -c $n /dev/zero | tr '\0' x)"
		} >text
		echo $n
		telcat -f mps:1.4.0 text >new 2>messages
		if [ $n -le 255 ]; then
			[ ! -s messages ]
			[ "$(telcat -H new | tail -n 1)" = "$(tail -n 1 text)" ]
		else
			grep -q '1 event of type Intern dropped: field string too large' messages
			[ "$(telcat -H new | wc -l)" -eq 2 ]
		fi
	done
}

@test "output that cannot be written, and that goes on" {
	unpack 1.118.0-lii6gc-amcss
	run -1 --separate-stderr telcat -q -f mps:1.6.1 -o /dev/full mpsio.log
	[[ $stderr == 'telcat: /dev/full: No space left on device' ]]
	run -1 --separate-stderr telcat -q -f mps:1.6.1 -n 3 -o /dev/full mpsio.log
	[[ $stderr == 'telcat: /dev/full: No space left on device' ]]
	# a closed pipe ends it quietly
	telcat -q -f mps:1.6.1 mpsio.log 2>messages | head -c 1 >one
	[ ! -s messages ]
	# a stream that is cut in any way gives the same
	telcat -q -f mps:1.6.1 mpsio.log >want
	dd if=mpsio.log bs=997 status=none | telcat -q -f mps:1.6.1 | cmp want -
	for size in 1 999 19999; do
		head -c "$size" mpsio.log >"cut"
		run --separate-stderr telcat -q --as mps-1.118.0 -f mps:1.6.1 \
		    -o got "cut"
		[ "$status" -eq 3 ]
	done
	# and flows: an event is there before the input ends
	mkfifo in out
	noted timeout 300 telcat -q -u -f mps:1.4.0 <in >out &
	exec 8>in 9<out
	head -c 40000 mpsio.log >&8
	timeout 300 head -c 20000 <&9 >got
	exec 8>&- 9<&-
	wait
	[ "$(wc -c <got)" -eq 20000 ]
}

@test "options that print text do not go with it" {
	unpack 1.118.0-lii6gc-poolncv
	for option in '-T s' '-F size' -H --types; do
		expect 2 "telcat: ${option% *} cannot be combined with -f mps:2.0.0" \
		    telcat -f mps:2.0.0 $option mpsio.log
	done
	# the others do
	telcat -f mps -S -n 5 -k Object mpsio.log | telcat -H -k Object >got
	telcat -H -S -n 5 -k Object mpsio.log | cmp - got
	telcat -f mps -w 'size > 40' --skip 1 mpsio.log | telcat -H -w 'size > 40' >got
	telcat -H -w 'size > 40' --skip 1 mpsio.log | cmp - got
}

@test "a stream is not written to a terminal" {
	needs_terminal
	unpack 1.118.0-lii6gc-poolncv
	for tool in "telcat -f mps:1.6.1" "telfilter -f mps:1.6.1" \
	    "telcat -f tel" "telfilter -f tel"; do
		run script -qec "$tool mpsio.log" /dev/null
		[ "$status" -eq 2 ]
		# and nothing else, such as the frame of an empty log
		[[ $output == "${tool%% *}: mpsio.log: refusing to write binary output to a terminal; see -f and -o"?($'\r') ]]
	done
}

# Fields that are absent, lists, enums, nested names, strings of any bytes.
@test "text of recordings and traces reads back, with its header and without" {
	printf '%s\n' "$TEL_TOP"/tests/data/{ctf/*.tar,jfr/*.jfr}.zst >logs
	sample 5 <logs >some
	while read -r log; do
		for header in '' -H; do
			telcat -q $header "$log" >text
			telcat -q $header text >again
			# a text has one set of metadata
			diff <(grep -v '^# meta: ' text) <(grep -v '^# meta: ' again)
		done
		[ "$(wc -l <text)" -gt 100 ]
		# the values, too: stacks are numbers of frames in text, and the
		# names of enums are labels
		grep -qxF "$log" some || continue
		telcat -q -f json "$log" >want
		telcat -q "$log" | telcat -q -f json >got
		python3 - want got <<-'END'
			import json, sys
			want, got = ([json.loads(line) for line in open(path)]
			             for path in sys.argv[1:])
			assert len(want) == len(got) > 100
			def flat(fields, prefix=""):
			    for k, v in fields.items():
			        if isinstance(v, dict):
			            yield from flat(v, prefix + k + ".")
			        elif not k.endswith("_label") and k != "stackTrace":
			            yield prefix + k, v
			for a, b in zip(want, got):
			    f, g = dict(flat(a["fields"])), dict(flat(b["fields"]))
			    assert (a["type"], a["clock"], f) == (b["type"], b["clock"], g), (a, b)
		END
	done <logs
}

@test "the release and the platform that a stream says it is of" {
	streams identity >want
	[ "$(wc -l <want)" -gt 100 ]
	# a version of later events than the release has counts as damage
	exits 3 telcat -q --no-merge [0-9]*.log >text
	sed -n 's/^# format: //p' text | paste -d ' ' <(cut -d ' ' -f 1 want) - |
	    diff want -
	# what starts as a text is one, unless it is said to be a stream
	{
		printf '%080d' 0
		cat 000.log
	} >text.log
	run -1 telcat text.log
	[ "$(exits 3 telcat -q -c --as mps text.log)" = "$(telcat -c 000.log)" ]
}

@test "of two texts of mpseventcnv, strings whose numbers clash get others" {
	unpack 1.118.0-lii6gc-poolncv
	telcat -f mpscnv mpsio.log >a.cnv
	sed 's/"MFSPool"/"XFSPool"/' a.cnv >b.cnv
	telfilter a.cnv b.cnv | telcat -H >got
	grep -q 'Intern stringId=11 string="XFSPool"' got
	grep -q '^[0-9A-F]* LabelPointer .* stringId=11$' got
	# as in binary logs, where the numbers have a place of their own
	telfilter -f mps a.cnv >a.log
	telfilter -f mps b.cnv >b.log
	telfilter a.log b.log | telcat -H | cmp got -
}

@test "two logs of a name that differ in one part of a type stay two" {
	local name first second type='# type: A 1 K x:unsigned'
	local pair='\n# type: B 2 K x:unsigned\n# type: C 3 K x:unsigned\n# role: A start'
	while IFS='|' read -r name first second; do
		printf '# format: %s\n%b\n0000000000000001 A x=99\n' "$name" "$first" >>1.txt
		printf '# format: %s\n%b\n0000000000000002 A x=999\n' "$name" "$second" >>2.txt
	done <<-END
		width|$type:8|$type:16
		kind|$type|# type: A 1 L x:unsigned
		version|# version: 1.0.0\n$type|# version: 2.0.0\n$type
		role|$type\n# role: A free - x -|$type\n# role: A alloc - x -
		part|$type\n# role: A free - x -|$type\n# role: A free - - x
		partner|$type$pair B|$type$pair C
		order|$type${pair/ A / B } C|$type${pair/ A / C } B
	END
	clean telcat 1.txt >want
	clean telcat 2.txt >>want
	clean telcat -f tel 1.txt 2.txt | clean telcat | diff want -
}

@test "messages show control characters of a file name, and no part of one" {
	local name
	unpack 1.118.0-lii6gc-poolncv
	for name in '' x xy; do
		name=$(printf 'é%.0s' {1..50})$name$'\e.log'
		cp mpsio.log "$name"
		run -1 --separate-stderr telcat -f ets "$name"
		echo "$stderr"
		[[ $stderr =~ ^telcat:\ (\\xc3\\xa9){8,}x?y?\\x1b\.log:\ mps.*\ cannot ]]
	done
	run -1 --separate-stderr telcat -d $'no\e\xff.tmf' mpsio.log
	[[ $stderr == *'no\x1b\xff.tmf: '* ]]
}

@test "messages show the end of a long file name" {
	folder=$(printf 'f%.0s' {1..150})
	mkdir "$folder"
	unpack 1.118.0-lii6gc-poolncv
	cp mpsio.log "$folder"
	zstd -dq -o "$folder/run.valgrind" \
	    "$TEL_TOP/tests/data/alloc/gcc.valgrind.zst"
	while read -r format file message; do
		# shellcheck disable=SC2086 # several files
		run -1 --separate-stderr telcat --no-merge -f "$format" \
		    ${file//@/$folder}
		echo "$stderr"
		[[ $stderr == *"f/${file##*/}$message"* ]]
	done <<-'END'
		ets @/mpsio.log : mps-1.118.0/lii6gc cannot be written as
		inst @/mpsio.log : mps cannot be written as
		mps @/run.valgrind : valgrind is not an MPS release
	END
	run -1 --separate-stderr telfilter --no-merge "$folder/mpsio.log" \
	    "$folder/run.valgrind"
	[[ $stderr == *"f/run.valgrind is not "*" like "*"f/mpsio.log; they "* ]]
	(ulimit -f 1; exits 1 telcat -f sqlite -o "$folder/log.db" mpsio.log 2>&1) |
	    grep -q 'f/log.db: disk I/O error$'
}
