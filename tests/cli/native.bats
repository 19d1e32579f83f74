#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The native format: what goes in comes out, smaller.

# "run --separate-stderr" sets stderr
# shellcheck disable=SC2154,SC2030,SC2031

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
}

# same OPTIONS ... FILE: the file and the .tel of it are shown alike.
same() {
	telcat -q -f tel "$@" >same.tel
	for format in text json csv; do
		telcat -q -f "$format" "$@" >want
		telcat -q -f "$format" same.tel >got
		echo "$format $*"
		cmp want got
	done
}

@test "MPS streams of all releases are what they were" {
	printf '%s\n' "$TEL_TOP"/tests/data/mps/*.log.zst | sample 6 >logs
	while read -r zst; do
		echo "$zst"
		same "$zst"
		for format in mpscnv mpstxt; do
			telcat -q -f "$format" "$zst" >want
			telcat -q -f "$format" same.tel >got
			cmp want got
		done
		telcat -q -f mps same.tel | telcat -q >got
		telcat -q "$zst" | cmp - got
	done <logs
}

@test "they are less than half as large, and pack better" {
	printf '%s\n' "$TEL_TOP"/tests/data/mps/*.log.zst | sample 6 >logs
	while read -r zst; do
		zstd -qdc "$zst" >log
		telcat -q -f tel log >log.tel
		telcat -q -f tel -z 3 log >log.tel.zst
		zstd -3 -q -f log -o log.zst
		zstd -qdc log.tel.zst | cmp - log.tel
		size=$(stat -c %s log)
		echo "${zst##*/} $size $(stat -c %s log.tel log.tel.zst log.zst)"
		[ $((2 * $(stat -c %s log.tel))) -le "$size" ]
		# of a few dozen events it is the frame that counts
		[ "$size" -lt 16384 ] ||
		    [ $((4 * $(stat -c %s log.tel.zst))) -le \
		    $((3 * $(stat -c %s log.zst))) ]
	done <logs
}

@test "text, traces and inst logs come out as they went in" {
	cp "$TEL_TOP"/tests/data/hpm/v3be/HPM.* .
	same HPM.1.startup
	telcat -q -f tel,lines HPM.1.startup >lines.tel
	telcat -q -f hpm lines.tel | cmp - HPM.1.startup
	telcat -q lines.tel >got
	telcat -q HPM.1.startup | cmp - got
	same HPM.1.startup HPM.2.startup
	same "$TEL_TOP/tests/data/inst/hfs.txt"
	telcat -q -f inst "$TEL_TOP/tests/data/inst/hfs.txt" >want
	telcat -q -f tel,lines "$TEL_TOP/tests/data/inst/hfs.txt" >lines.tel
	telcat -q -f inst lines.tel | cmp - want
	# a filter keeps the lines that a file has
	telfilter --quiet -e Header,UpdateAdd lines.tel | telcat -q -f inst >got
	run -0 grep -c . got
	telfilter --quiet -e Header,UpdateAdd "$TEL_TOP/tests/data/inst/hfs.txt" |
	    cmp - got
	unpack 1.114.0-lii6ll-finalcv
	telcat -q mpsio.log >text
	same text
	telcat -q -f text same.tel | cmp - text
	telcat -q -f mpscnv mpsio.log >cnv
	same --as cnv cnv
}

# into FILE COMMAND ...: its output is in the file, which no variable must hold.
into() {
	"${@:2}" >"$1" 2>/dev/null
}

# times FILE: what the log knows of time is in its .tel.  Sets known to what it
# is: s for a rate, iso for the wall clock.
times() {
	local line first last form
	telcat -q -f tel "$1" >times.tel
	known=
	for form in s iso; do
		run into want telcat -q -H -T "$form" "$1"
		[ "$status" -le 1 ]
		was=$status
		run into got telcat -q -H -T "$form" times.tel
		[ "$status" = "$was" ]
		cmp want got
		[ "$was" != 0 ] || known+=" $form"
	done
	# a range in the middle, by ticks and by the clock
	telcat -q -H "$1" | sort >lines
	first=$(sed -n "$(($(wc -l <lines) / 4 + 1))s/ .*//p" lines)
	last=$(sed -n "$(($(wc -l <lines) * 3 / 4 + 1))s/ .*//p" lines)
	for line in "$first,$last" "0x$first," ",0x$last" 0,1000; do
		telcat -q -H -t "$line" "$1" >want
		telcat -q -H -t "$line" times.tel | cmp - want
	done
}

@test "times of a long log are those between its points, however many it has" {
	awk 'BEGIN {
		for (i = 0; i < 90000; i++) {
			if (i % 900 == 0)
				printf "%016X EventClockSync clock=%d\n",
				    i * 1000 + 1, i + i / 900 % 3 * 50
			printf "%016X PoolAlloc pool=0x10 pReturn=%#x size=48\n",
			    i * 1000 + 2, 4096 + 64 * i
		}
	}' >long.txt
	telcat -q -f mps long.txt >long.log
	telcat -q -f tel long.log >long.tel
	telcat -H -S -T ns long.log | awk '$1 % 3 == 0 { n++ } END { print n }' >want
	for log in long.log long.tel; do
		telfilter -c -w 'time % 3 == 0' "$log" | diff want -
	done
}

@test "a conversion keeps the times that a log knows" {
	zstd -qdc "$TEL_TOP/tests/data/mps/1.118.0-lii6gc-poolncv.log.zst" >mps.log
	cp "$TEL_TOP"/tests/data/hpm/v3be/HPM.* .
	# the seconds that ltrace -ttt shows, and those of ltrace -r
	printf '%s\n' '9 1700000000.250000 malloc(8) = 0x1000' \
	    '9 1700000001.500000 free(0x1000) = <void>' >absolute.ltrace
	printf '%s\n' '9 0.250000 malloc(8) = 0x1000' \
	    '9 1.500000 free(0x1000) = <void>' >relative.ltrace
	printf '%s\n' '   812 100101 a 1.000000001 USER  0x1000 = malloc(64)' \
	    '   812 100101 a 2.500000000 USER  free(0x1000)' >elapsed.kdump
	while read -r file want; do
		case $file in */*) file=$TEL_TOP/tests/data/$file ;; esac
		times "$file"
		echo "$file:$known"
		[ "${known# }" = "$want" ]
	done <<-'END'
		mps.log s
		HPM.1.startup
		ets/boot.text s
		inst/hfs.txt s iso
		stat/report.inst s
		stat/snapshots.inst s
		alloc/times.android s
		alloc/surfaceflinger.android.zst
		alloc/perl.heaptrack.zst s
		alloc/perl.mtrace.zst
		alloc/perl.valgrind.zst
		alloc/perl.ltrace.zst
		alloc/times.ltrace.zst s
		absolute.ltrace s iso
		relative.ltrace s
		alloc/hand.kdump
		alloc/threads.kdump s iso
		elapsed.kdump s
		alloc/hand.logalloc
		alloc/short.rep
	END
	run -0 telcat -q -H -T iso absolute.ltrace
	[[ ${lines[1]} == "2023-11-14T22:13:21.500000000Z free "* ]]
}

@test "a wall clock that a log states later, or again, is in the .tel" {
	python3 - >late.inst <<-'END'
		print("0000000000000000 H inst 1 0 0 hz=1000")
		print("0000000000000000 C id=1 parent=0 type=mag name=\"a\"")
		for i in range(1, 40001):
		    print("%016X U c=1 op=abs v=%d" % (i, i))
		    if i == 30000:
		        print("%016X K wall=\"2024-02-29T12:00:00.5+01:00\"" % i)
		print("0000000000009C41 Z n=40002")
	END
	run -0 telcat -q -H -T iso -t 0x7531, -n 1 late.inst
	[[ $output == "2024-02-29T11:00:00.501000000Z "* ]]
	telcat -q -f tel late.inst >late.tel
	telcat -q -H -T iso -t 0x7531, late.inst | tail -n 1 >want
	telcat -q -H -T iso -t 0x9000, late.tel | tail -n 1 | cmp - want
	# an invalid time is not a wall clock
	for wall in 2024-02-29 2024-13-01T00:00:00Z 2024-01-01T00:00:00 \
	    2024-01-01T00:00:00+25:00 9999-01-01T00:00:00Z 2024-01-01T00:00:00.5; do
		{
			printf '0000000000000000 H inst 1 0 0 hz=9 wall="%s"\n' "$wall"
			echo '0000000000000000 Z n=0'
		} >wrong.inst
		run -1 --separate-stderr telcat -q -H -T iso wrong.inst
		[[ $stderr == *"does not record the wall clock"* ]]
	done
}

@test "lines are left out unless they are asked for" {
	local log=$TEL_TOP/tests/data/alloc/surfaceflinger.android.zst
	# those of a short run that are hardly more than names are not smaller
	for zst in $(printf '%s\n' \
	    "$TEL_TOP"/tests/data/alloc/{gcc,perl,python3,sqlite3}.*.zst |
	    grep -v -e -data.zst | sample 3) "$log"; do
		same "$zst"
		zstd -qdc "$zst" >log
		zstd -3 -q -f log -o log.zst
		telcat -q -f tel -z 3 "$zst" >z.tel
		size=$(stat -c %s log)
		echo "${zst##*/} $size $(stat -c %s same.tel z.tel log.zst)"
		[ $((5 * $(stat -c %s same.tel))) -le $((2 * size)) ]
		[ "$(stat -c %s z.tel)" -le "$(stat -c %s log.zst)" ]
	done
	[ $((4 * $(stat -c %s same.tel))) -le "$size" ]
	run ! grep -aq ': malloc ' same.tel
	telcat -q -f tel,lines "$log" >lines.tel
	[ "$(stat -c %s lines.tel)" -gt $((2 * $(stat -c %s same.tel))) ]
	telcat -q lines.tel >got
	telcat -q same.tel | cmp - got
	telfilter --quiet lines.tel | grep -aq ': malloc '
	# without them it does not become what it was
	telcat -q -f tel "$TEL_TOP/tests/data/inst/hfs.txt" >inst.tel
	run -1 --separate-stderr telcat -q -f inst inst.tel
	[[ $stderr == *"inst.tel: its events cannot be written as an inst log"* ]]
	[[ $stderr == *"-f tel,lines preserves them" ]]
	[ -z "$output" ]
}

@test "with -u, blocks grow while input is pending" {
	unpack 1.118.0-lii6gc-amcss
	size=$(stat -c %s mpsio.log)
	dd if=mpsio.log bs=4096 2>/dev/null | telcat -q -f tel -u >log.tel
	dd if=mpsio.log bs=4096 2>/dev/null | telfilter -f tel -u >filtered.tel
	echo "$size $(stat -c %s log.tel filtered.tel)"
	[ $((10 * $(stat -c %s log.tel))) -le $((12 * size)) ]
	[ $((10 * $(stat -c %s filtered.tel))) -le $((12 * size)) ]
	telcat -q mpsio.log >want
	telcat -q log.tel | cmp want -
	# of several logs, too
	telcat -q -f tel -u <(cat mpsio.log) <(cat mpsio.log) >log.tel
	telfilter --quiet -f tel -u mpsio.log <(cat mpsio.log) >filtered.tel
	for file in log.tel filtered.tel; do
		[ $((10 * $(stat -c %s "$file"))) -le $((24 * size)) ]
		run -0 telstat -q -f csv "$file"
		[[ $output == *",$((2 * $(telcat -q -H mpsio.log | wc -l)))"* ]]
	done
}

@test "the built-in schemas are described in a stream without events" {
	telcat --types -f tel >schemas.tel
	run -0 --separate-stderr telcat schemas.tel
	[ -z "$stderr" ]
	for name in mps-1.111.0/w3i3mv mps-1.118.0/liarll,be ets hpm inst; do
		grep -aq "$name" schemas.tel
	done
	# each version, byte order and number of counters of HPM; version 1 has
	# the methods always
	grep -aoE 'hpm-[.0-9]+(-nomids)?/(ppc|x86)' schemas.tel | sort -u >names
	printf '%s\n' hpm-{1.{1..8},{2,3}.{1..8}{,-nomids}}/{ppc,x86} |
		sort | diff - names
	run -2 telcat --types -f tel mpsio.log
	run -2 telcat --types -f mps
}

@test "streams behind each other are a log" {
	unpack 1.118.0-lii6gc-poolncv
	mv mpsio.log a.log
	unpack 1.111.0-lii6gc-poolncv
	telcat -q -f tel a.log >a.tel
	telcat -q -f tel mpsio.log >b.tel
	telcat -q -f tel -z 3 mpsio.log >b.zst
	telcat -q --file-order --no-merge a.log mpsio.log >want
	cat a.tel b.tel | telcat -q --file-order >got
	cmp want got
	telcat -q -f tel --no-merge a.log mpsio.log | telcat -q --file-order | cmp want -
	telcat -q a.tel b.tel >got
	telcat -q a.log mpsio.log | cmp - got
}

@test "logs in a .tel have the times that they had, merged or not" {
	# of several rates, that overlap or do not, and with events at once
	while read -r name start rate step n; do
		printf '%s\n' '# teltools text 1' "# tick rate: $rate" \
		    "# type: $name 1 K n:unsigned" >"$name"
		for ((i = 0; i < n; i++)); do
			half=$((i / 2))
			printf '%016X %s n=%d\n' $((start + half * step)) \
			    "$name" "$i"
		done >>"$name"
	done <<-END
		b 1400 500000000 3 900
		a 1000 1000000000 2 1200
		c 9000 1000000 5 40
	END
	tar -cf t.tar b a c
	for from in 'b a c' t.tar '--no-merge b a c' '--no-merge t.tar'; do
		read -ra logs <<<"$from"
		telfilter -f tel -o x.tel "${logs[@]}"
		for times in '-T ns' '-T relative -w time>500ns' \
		    '-T s -t 100ns,900ns'; do
			# no range of an archive that is not merged
			[[ $from != *merge\ t* || $times != *-t* ]] || continue
			read -ra options <<<"$times"
			telcat -H "${options[@]}" "${logs[@]}" >want
			[ -s want ]
			telcat -H "${options[@]}" x.tel | cmp want -
			telcat -H "${options[@]}" <x.tel | cmp want -
		done
	done
	# of events at once the first is that of the first log
	telfilter -f tel -o x.tel b a c
	telcat -H -S x.tel | cmp <(telcat -H b a c) -
}

@test "logs in a .tel wait for the points of their own clocks" {
	for log in 1.118.0-lii6gc-{amcss,poolncv} 1.111.0-lii6gc-poolncv; do
		unpack "$log"
		mv mpsio.log "$log"
	done
	for logs in '1.118.0-lii6gc-amcss 1.118.0-lii6gc-poolncv' \
	    '1.118.0-lii6gc-amcss 1.111.0-lii6gc-poolncv'; do
		read -ra both <<<"$logs"
		telfilter -f tel -o x.tel "${both[@]}"
		for times in '-T s' '-T ns -w time<40ms' \
		    '-S -T relative -e EventClockSync'; do
			read -ra options <<<"$times"
			telcat -H "${options[@]}" "${both[@]}" >want
			[ -s want ]
			telcat -H "${options[@]}" x.tel | cmp want -
			# nothing is before the first event of all
			run ! grep '^-' want
		done
		telstat -f csv -g type -s 's=sum(time)' -s 'm=max(time)' \
		    "${both[@]}" | grep -v ,totals, >want
		telstat -f csv -g type -s 's=sum(time)' -s 'm=max(time)' x.tel |
		    grep -v ,totals, | cmp want -
		# streams of their own, though the clock goes back
		telfilter --no-merge -f tel -o x.tel "${both[1]}" "${both[0]}"
		for time in s relative; do
			telcat --no-merge -H -T $time "${both[1]}" "${both[0]}" \
			    >want
			telcat -H -T $time x.tel >got 2>message
			cmp want got
			[ ! -s message ]
		done
	done
}

@test "events of a log that is read behind another one stay events of their own" {
	for log in perl python3; do
		zstd -dqo "$log" "$TEL_TOP/tests/data/alloc/$log.heaptrack.zst"
	done
	telfilter -f tel -o x.tel perl python3
	for order in --live --sort; do
		telstat "$order" --stacks perl python3 |
		    grep -v -e '^heaptrack' -e ^Totals >want
		grep -q '^others  leaked' want
		telstat "$order" --stacks x.tel |
		    grep -v -e '^heaptrack' -e ^Totals | cmp want -
	done
}

@test "copies in the order of the log have all events, of merged logs and behind a hole" {
	since='type=="EventClockSync"'
	for log in 1.116.0-lii6ll-finalcv 1.118.0-lii6gc-poolncv; do
		unpack "$log"
		mv mpsio.log "$log"
	done
	telfilter -f tel -o merged.tel 1.116.0-lii6ll-finalcv \
	    1.118.0-lii6gc-poolncv
	# as many lost events as none would wait for
	unpack 1.118.0-lii6gc-awlut
	for i in {1..10}; do
		cat mpsio.log
	done | telfilter -q -f tel -o whole.tel
	size=$(stat -c %s whole.tel)
	head -c $((size / 10)) whole.tel >hole.tel
	head -c $((size * 8 / 10)) /dev/zero >>hole.tel
	tail -c +$((size * 9 / 10 + 1)) whole.tel >>hole.tel
	for log in merged.tel hole.tel; do
		exits '0|3' telcat -q -H --since "$since" "$log" |
		    LC_ALL=C sort >want
		[ "$(wc -l <want)" -gt 4000 ]
		exits '0|3' telfilter -q -f tel --since "$since" "$log" >copy.tel
		telcat -q -H copy.tel | LC_ALL=C sort | comm -23 want - >missing
		[ ! -s missing ]
	done
}

@test "releases that no stream holds are one in the native format" {
	unpack 1.118.0-lii6gc-poolncv
	mv mpsio.log a.log
	unpack 1.112.0-lii3gc-amcss
	telfilter -f tel -e PoolAlloc,PoolFree a.log mpsio.log >both.tel
	telcat -q -H both.tel | grep -c ' Pool' >got
	telcat -q -H -e PoolAlloc,PoolFree a.log mpsio.log | wc -l >want
	diff want got
	telstat -q both.tel | grep -q 'mps-1.112.0/lii3gc'
}

@test "labels that are in force at an event are kept with it" {
	unpack 1.118.0-lii6gc-poolncv
	telfilter -f tel -w 'label ~ "MFS"' mpsio.log | telcat -q -H >got
	telfilter -w 'label ~ "MFS"' mpsio.log | telcat -q -H >want
	[ -s want ]
	cmp want got
	cp "$TEL_TOP"/tests/data/hpm/v3be/HPM.* .
	telfilter -f tel -n 1 HPM.1.startup >one.tel
	telcat -q one.tel | grep -q 'tid=1\["com.ibm'
}

@test "the clocks of lost events are those of one damaged block or more" {
	awk 'BEGIN {
		print "# teltools text 1\n# type: a 1 K x:unsigned"
		for (i = 1; i <= 60000; i++)
			printf "%016X a x=%d\n", 7 * i, (1 + sin(i)) * 2 ^ 40
	}' >text
	telcat -q -f tel text >log.tel
	size=$(stat -c %s log.tel)
	telcat -H log.tel | sort >all
	for places in 5 "5 6 7" "5 15"; do
		cp log.tel bad.tel
		for at in $places; do
			printf XYZ | dd of=bad.tel bs=1 seek=$((at * size / 20)) \
			    conv=notrunc status=none
		done
		exits 3 telcat -H bad.tel 2>messages | sort | comm -23 all - |
		    cut -d ' ' -f 1 >gone
		clocks=$(grep -o 'clocks .* and [0-9a-f]*' messages)
		echo "$clocks"
		read -r _ first _ <<<"$clocks"
		first=${first^^}
		last=${clocks##* }
		[ "$first" = "$(head -n 1 gone)" ]
		[ "${last^^}" = "$(tail -n 1 gone)" ]
	done
}

@test "times count from the first event that damage left" {
	awk 'BEGIN {
		print "# teltools text 1\n# tick rate: 1000000000.0"
		print "# type: a 1 K x:unsigned"
		for (i = 1; i <= 60000; i++)
			printf "%016X a x=%d\n", 10 ^ 9 + i, (1 + sin(i)) * 2 ^ 40
	}' >text
	telcat -q -f tel text >bad.tel
	printf XYZ | dd of=bad.tel bs=1 conv=notrunc status=none \
	    seek=$(($(stat -c %s bad.tel) / 20))
	exits 3 telcat -q bad.tel >left
	for options in '-t 0,20us' '-w time<=20us'; do
		# shellcheck disable=SC2086 # an option and its argument
		run -3 --separate-stderr telfilter -q -c $options bad.tel
		[ "$output" = 20001 ]
		# shellcheck disable=SC2086
		[ "$(telfilter -q -c $options left)" = 20001 ]
	done
}

@test "a log of a few blocks that is cut off has the events before" {
	zstd -qdc "$TEL_TOP/tests/data/mps/1.117.0-lii6ll-finalcv.log.zst" >long
	for options in '' '-z 3'; do
		# shellcheck disable=SC2086 # an option and its argument
		telfilter $options -f tel -o whole.tel long
		head -c $(($(stat -c %s whole.tel) * 2 / 3)) whole.tel >cut.tel
		run -3 --separate-stderr telcat -c cut.tel
		echo "$options: $output events"
		[ "$output" -gt 1200 ]
	done
}

@test "damage is reported, and costs little" {
	unpack 1.111.0-lii6gc-amcss
	telcat -q -f tel mpsio.log >log.tel
	all=$(telcat -q -H log.tel | grep -vc '^#')
	size=$(stat -c %s log.tel)
	head -c $((size - 100)) log.tel >cut.tel
	exits 3 telcat -H cut.tel 2>messages >/dev/null
	cat messages
	[[ $(<messages) == *'ends inside a record'*lost* ]]
	{
		head -c $((size / 2)) log.tel
		printf X
		tail -c +$((size / 2 + 2)) log.tel
	} >bad.tel
	exits 3 telcat -H bad.tel 2>messages >got
	cat messages
	lost=$(sed -n 's/.* \([0-9]*\) events lost, between clocks .*/\1/p' \
	    messages)
	left=$(grep -vc '^#' got)
	[ "$lost" -gt 0 ]
	[ $((left + lost)) -eq "$all" ]
	run -1 telcat -H --strict bad.tel
	# the first bytes say what it is, but not alone
	{
		printf X
		tail -c +2 log.tel
	} >first.tel
	exits 3 telcat -q -H first.tel >got
	[ "$(grep -vc '^#' got)" -eq "$all" ]
	run -3 telcat --as tel mpsio.log
}

@test "whoever waits for events gets them" {
	unpack 1.118.0-lii6gc-poolncv
	mkfifo pipe
	{ cat mpsio.log; await test -e shown; } 3>&- | exec telcat -q -f tel -u >pipe &
	background=$!
	# order of time needs what comes later
	telcat -q --file-order -H -n 100 <pipe >got
	: >shown
	telcat -q --file-order -H -n 100 mpsio.log >want
	cmp want got
	kill "$background" 2>/dev/null || true
}

@test "output that fails is reported" {
	unpack 1.118.0-lii6gc-poolncv
	run -1 --separate-stderr telcat -f tel -o /dev/full mpsio.log
	[[ $stderr == *'No space left'* ]]
	unpack 1.111.0-lii6gc-amcss
	# shellcheck disable=SC2016 # of the shell inside
	run -0 bash -c 'telcat -q -f tel mpsio.log | head -c 10 | wc -c; \
	    echo "${PIPESTATUS[0]}"'
	# it may have been done before the pipe was closed
	[[ $output == $'10\n'@(0|141) ]]
}

@test "events of a live stream are shown before the next ones come" {
	unpack 1.118.0-lii6gc-poolncv
	telcat -q -f tel mpsio.log >log.tel
	# all but the record that ends it
	head -c -42 log.tel >live.tel
	telcat -q --file-order -H mpsio.log >want
	mkfifo pipe
	exits 3 telcat -q --file-order -H -u <pipe >got 3>&- &
	exec {held}>pipe
	cat live.tel >&"$held"
	await cmp -s want got
	exec {held}>&-
	wait
	cmp want got
}

@test "telstat counts what it does not look at by the block" {
	printf '%s\n' "$DATA"/1.11{1,4,8}*.log.zst | sample 5 >logs
	while read -r zst; do
		echo "$zst"
		telcat -q -f tel "$zst" >log.tel
		for options in '' '-s s=log2(size,0)' '-k Seg' '-n 1000' \
		    '-s a=tally(code,4k)' '-w time>0.001'; do
			echo "$options"
			read -ra words <<<"$options"
			telstat -q -f json "${words[@]}" "$zst" >want
			telstat -q -f json "${words[@]}" log.tel >got
			sed -i 's/"form":"[a-z]*"//; s/"input_bytes":[0-9]*//' \
			    want got
			diff want got
		done
	done <logs
}

@test "a compressed stream loses the frame that is damaged, and says what" {
	unpack 1.118.0-lii6gc-awlut
	telcat -q -f tel -z 3 mpsio.log >log.tel
	all=$(telcat -q -H log.tel | wc -l)
	at=$(($(stat -c %s log.tel) / 4))
	{
		head -c "$at" log.tel
		printf XYZ
		tail -c +$((at + 4)) log.tel
	} >bad.tel
	exits 3 telcat -H bad.tel 2>messages >got
	cat messages
	left=$(wc -l <got)
	lost=$(sed -n 's/.* \([0-9]*\) events lost, between clocks .*/\1/p' \
	    messages)
	[ "$left" -gt $((all / 4)) ]
	[ $((left + lost)) -eq "$all" ]
	# the end is gone: what may be missing is said
	head -c $((at * 3)) log.tel >cut.tel
	exits 3 telcat -H cut.tel 2>messages >/dev/null
	cat messages
	grep -q 'breaks off: events after clock ' messages
}

@test "wherever a compressed stream is damaged, the other frames are read" {
	unpack 1.118.0-lii6gc-awlut
	telcat -q -f tel -z 3 mpsio.log >log.tel
	all=$(telcat -q -H log.tel | wc -l)
	size=$(stat -c %s log.tel)
	for i in $(seq 1 15 | sample 5); do
		at=$((size * i / 16))
		{
			head -c "$at" log.tel
			printf '\377\377\377\377\377\377\377\377'
			tail -c +$((at + 9)) log.tel
		} >bad.tel
		exits 3 telcat -H bad.tel 2>messages >got
		echo "$at: $(<messages)"
		[ "$(wc -l <got)" -gt $((all / 4)) ]
		# behind the blocks are records without events
		grep -q 'events lost\|may be lost' messages
	done
}

@test "damage in a compressed frame counts each lost event once" {
	zstd -qdc "$TEL_TOP/tests/data/mps/1.118.0-lii6gc-awlut.log.zst" >log
	all=$(telfilter -c log)
	telcat -q -f tel -z 3 log >log.tel
	size=$(wc -c <log.tel)
	steps=12
	if slow; then steps=3; fi
	for at in $(seq 2000 $(((size - 4000) / steps)) "$((size - 2000))"); do
		{
			head -c "$at" log.tel
			printf '\377\377\377\377'
			tail -c +$((at + 5)) log.tel
		} >bad.tel
		run -3 --separate-stderr telfilter -c bad.tel
		echo "$at: $output of $all; $stderr"
		lost=0
		while read -r n _; do
			lost=$((lost + n))
		done < <(grep -o '[0-9]* events lost' <<<"$stderr")
		[ $((output + lost)) = "$all" ]
	done
}

@test "a writer that is killed loses what its pipe held, and 64 KiB" {
	unpack 1.118.0-lii6gc-amcss
	telcat -q -f tel mpsio.log | telcat -q -f mps >whole.log
	seq 20 | sample 4 >rounds
	python3 - "$(wc -l <rounds)" <<-'END'
		import random, subprocess, sys, time
		data = open("mpsio.log", "rb").read()
		whole = open("whole.log", "rb").read()
		most = 0
		for i in range(int(sys.argv[1])):
		    with open("killed.tel", "wb") as out:
		        p = subprocess.Popen(["telcat", "-q", "-f", "tel"],
		                             stdin=subprocess.PIPE, stdout=out, bufsize=0)
		    sent, end = 0, time.monotonic() + random.uniform(0.05, 0.4)
		    while sent < len(data) and time.monotonic() < end:
		        sent += p.stdin.write(data[sent:][:random.randrange(1, 8192)])
		        time.sleep(0.001)
		    p.kill()
		    p.wait()
		    p.stdin.close()
		    kept = subprocess.run(["telcat", "-q", "-f", "mps", "killed.tel"],
		                          stdout=subprocess.PIPE,
		                          stderr=subprocess.DEVNULL).stdout
		    assert whole.startswith(kept)
		    most = max(most, sent - len(kept))
		    # what it has written is whole, but for what it read last
		    assert sent - len(kept) <= 2 * 65536, (sent, len(kept))
		print("at most", most, "bytes were lost")
	END
}

# Of a file whose columns are as long as they can be, blocks that are copied are
# seen by their length.
@test "blocks of which all events are written are copied, others encoded" {
	PYTHONPATH=$TEL_TOP/tests/spec python3 - <<-'END'
		import random
		from tel_writer import Field, Schema, Stream, Type
		random.seed(7)
		COUNT = 16384
		s = Schema("Long", [Type("One", [Field("a")], code=1),
		                    Type("Two", [Field("c", 3)], code=2)])
		out = Stream()
		out.log(0, s)
		for block in range(10):
		    start = block * COUNT
		    out.block(0, s, [
		        (0, start + i, (random.randrange(50) + block * 1000,))
		        if i % 3 == 0 else (1, start + i, (4096 * (i % 10),))
		        for i in range(COUNT)], index=start)
		with open("long.tel", "wb") as file:
		    file.write(out.end())
	END
	telcat -H long.tel >long.txt
	size=$(stat -c %s long.tel)
	while read -r least most expr; do
		clean telfilter -w "$expr" long.tel >some.tel
		part=$(($(stat -c %s some.tel) * 1000 / size))
		echo "$expr: $part of 1000"
		[ "$part" -ge "$least" ]
		[ "$part" -le "$most" ]
		clean telcat -H some.tel >got
		telfilter -w "$expr" long.txt | grep -v '^#' | cmp got -
		# event by event, and in order of time, it is the same
		clean telfilter -n 100000000 -w "$expr" long.tel | cmp some.tel -
		# what the summary says of values is true
		for test in 'a < 20' 'a > 5040' 'a == 3007' 'c == 8192' \
		    'index < 70000' 'clock > 90000'; do
			[ "$(telfilter -c -w "$test" some.tel)" = \
			    "$(telfilter -c -w "$test" <(cat some.tel))" ]
		done
	done < <(sample 2 <<-'END'
		950 1001 clock >= 0
		800 1001 clock != 5
		750 950 clock != 40000
		700 900 clock < 20000 || clock > 40000
		0 300 clock % 2 == 0
		0 300 a > 10
		0 300 c >= 0
		0 120 clock >= 16000 && clock < 33000
	END
	)
	# the summary has the least and the greatest value of each, too
	clean telfilter -w 'clock >= 0' long.tel >some.tel
	PYTHONPATH=$TEL_TOP/tests/spec python3 - <<-'END'
		from tel_reader import SUMMARY, Bytes, column
		data, at = open("some.tel", "rb").read(), 0
		while data[at + 4] != SUMMARY:
		    at += 18 + data[at + 5] + int.from_bytes(data[at + 6:at + 10], "little")
		b = Bytes(data[at + 18 + data[at + 5]:])
		for _ in range(b.varint()):
		    b.take(b.take(10)[1])
		assert b.varint() == 1 and b.string() == b"Long" and b.take(4)
		got = [[b.varint(), b.varint(), column(b, 10), b.varint(),
		        column(b, 10), column(b, 10)] for _ in range(b.varint())]
		assert sorted(got) == [
		    [0, 0, [5462] * 10, 1, list(range(0, 10000, 1000)), [49] * 10],
		    [0, 2, [10922] * 10, 1, [0] * 10, [4096 * 9] * 10]], got
	END
	# a block that is damaged is not copied, but reported
	cp long.tel bad.tel
	printf xxxxxxxx | dd of=bad.tel bs=1 seek=$((size / 2)) conv=notrunc status=none
	exits 3 telfilter -q -w 'clock >= 0' bad.tel >some.tel
	[ "$(telfilter -q -c some.tel)" -eq $((9 * 16384)) ]
	# nor one whose events are merged with those of another log
	clean telfilter -f tel long.tel long.tel >both.tel
	[ "$(clean telfilter -c both.tel)" -eq $((20 * 16384)) ]
}

@test "what is selected of blocks is what is selected of the text" {
	python3 - >log.text <<-'END'
		print("# teltools text 1\n# format: mps-1.118.0/lii6gc")
		for n in range(1, 40000):
		    print(f"{n:016X}", f'Intern stringId={n} string="s{n}"'
		          if n % 7 == 0 else f"PoolAlloc pool=0x{n % 5 + 1}000 "
		          f"pReturn=0x{16 * n:x} size={n // 100}")
	END
	telfilter -f tel log.text >plain.tel
	telfilter -f tel -z 3 log.text >frames.tel
	zstd -q plain.tel
	for select in '-w size>300' '-t 20000,21000' '-t 30%,40%' \
	    '-w stringId==700' '-t 39000, -k User'; do
		# shellcheck disable=SC2086
		telcat $select log.text >want
		[ "$(grep -vc '^#' want)" -gt 0 ]
		for log in plain.tel frames.tel plain.tel.zst; do
			# shellcheck disable=SC2086
			telcat $select $log | cmp - want
		done
	done
}

@test "events that are left out while a .tel is read change nothing else" {
	# the order of what is shown depends on events between, too
	zstd -qdc "$TEL_TOP/tests/data/mps/1.111.0-lii6gc-amcss.log.zst" >a.log
	zstd -qdc "$TEL_TOP/tests/data/mps/1.118.0-lii6gc-awlut.log.zst" >b.log
	for log in a b; do
		telcat -q -f tel -o $log.tel $log.log
		for select in '-e SegAlloc' '-w size<32' '-k Object' \
		    '-w index>100&&size>8' '-w code!=3'; do
			for tool in telcat 'telfilter -f text' telstat; do
				# shellcheck disable=SC2086
				$tool -q $select $log.log | sed /^mps-/d >want
				# shellcheck disable=SC2086
				$tool -q $select $log.tel | sed /^mps-/d >got
				cmp want got
			done
			# shellcheck disable=SC2086
			telfilter -q $select $log.log | telcat -q -H >want
			# shellcheck disable=SC2086
			telfilter -q $select $log.tel | telcat -q -H | cmp want -
		done
	done
	telfilter -q -f tel -e SegAlloc a.log b.log | telcat -q -H >want
	telfilter -q -f tel -e SegAlloc a.tel b.tel | telcat -q -H | cmp want -
}

@test "what is left of a log of own types is shown by what its blocks describe" {
	# each block describes its own types only: long runs of one, then the other
	awk 'BEGIN {
		print "# teltools text 1\n# type: a 1 K x:unsigned"
		print "# type: b 2 K y:unsigned z:string"
		for (i = 0; i < 100000; i++)
			printf(int(i / 20000) % 2 == 0 ? "%016x a x=%d\n" : \
			    "%016x b y=%d z=\"of b\"\n", i, i)
	}' >own.txt
	telcat -q -f tel -o own.tel own.txt
	telcat -q -H own.txt >all
	telstat -q --file-order -f json -s 'x=top(clock,9)' own.tel |
	    sed -n '/"top value"/s/"log":"[^"]*"//p' >places
	[ -s places ]
	local size part
	size=$(stat -c %s own.tel)
	for part in 1 2 3; do
		tail -c $((size * part / 4)) own.tel >rest.tel
		exits 3 telcat -q -H rest.tel >rest
		[ "$(wc -l <rest)" -gt $((100000 * (part - 1) / 4)) ]
		tail -n "$(wc -l <rest)" all | cmp - rest
		# and the places of events are what they were
		exits 3 telstat -q --file-order -f json -s 'x=top(clock,9)' rest.tel |
		    sed -n '/"top value"/s/"log":"[^"]*"//p' | cmp places -
	done
}

@test "the place of an event is that in the stream that the .tel was made of" {
	local log options

	for log in 1.111.0-lii6gc-amcss 1.118.0-lii6gc-poolncv; do
		unpack "$log" log
		telfilter -q -f tel -o log.tel log
		while read -ra options; do
			telstat -q --file-order -f json "${options[@]}" log |
			    sed -n '/"top value"/s/"log":"[^"]*"//p' >want
			telstat -q --file-order -f json "${options[@]}" log.tel |
			    sed -n '/"top value"/s/"log":"[^"]*"//p' | cmp - want
			[ -s want ]
		done <<-'END'
			-s x=top(clock,500)
			-s x=top(size,500)
			-s x=top(index,50)
			-t 60%, -s x=top(size,500)
			-t 90%, -s x=top(clock,50)
		END
	done
}

@test "names of deep stacks end a block before it is too long" {
	awk 'BEGIN { for (i = 0; i < 125; i++) y = y "deep_calls_of_long_names_";
	    for (i = 0; i < 1400; i++) {
	        printf "prog 1 %d.%06d: 1 cycles:u:\n", 1 + i / 1000, i % 1000
	        for (k = 0; k < 4; k++)
	            printf "\t%x %d.%d_%s+0x5 (prog)\n", 65536 + i * 4 + k, i, k, y
	        print "" } }' >deep.txt
	telcat -f tel deep.txt >deep.tel
	telcat -f folded deep.txt >want
	[ "$(wc -l <want)" = 1400 ]
	telcat -f folded deep.tel | cmp - want
}
