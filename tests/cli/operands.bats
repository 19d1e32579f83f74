#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Operands with a range of time of their own, FILE@FROM,TO, and what changed
# from one time to another by stack.

# "run --separate-stderr" sets stderr
# shellcheck disable=SC2154

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	SCRIPT=$TEL_TOP/tests/cli/changes.py
	python3 "$SCRIPT" make 1 >app
}

@test "a range of an operand selects what -t does, in every tool" {
	local range

	for range in ,300ms '100ms,' 100ms,200ms 0x1000000,0x2000000 20%,60%; do
		telcat -t "$range" app >want
		telcat "app@$range" | cmp - want
		[ "$(telcat -c "app@$range")" = "$(telcat -c -t "$range" app)" ]
		telfilter -t "$range" app >want
		telfilter "app@$range" | cmp - want
		[ -n "$(telstat -f json -s 'n=count()' -t "$range" app)" ]
		[ "$(telstat -f json -s 'n=count()' "app@$range")" = \
			"$(telstat -f json -s 'n=count()' -t "$range" app)" ]
	done
	telcat -t 100ms,200ms app >want
	telcat -- -@100ms,200ms <app | cmp - want
	tar cf app.tar app
	telcat --no-header app.tar@100ms,200ms >got
	telcat --no-header -t 100ms,200ms app.tar | cmp - got
	[ -s got ]
	# both are to hold
	telcat -t 150ms,200ms app >want
	telcat -t 100ms,200ms app@150ms,300ms | cmp - want
	telreplay --dry-run -c app@,200ms >got
	telreplay --dry-run -c -t ,200ms app | cmp - got
}

@test "ranges of one file add up, those of several are their own" {
	telcat --no-header -w 'time <= 50ms || time >= 400ms' app >want
	[ -s want ]
	telcat --no-header app@,50ms app@400ms, | cmp - want
	telcat --no-header app@400ms, app@,50ms | cmp - want
	# each event once
	telcat --no-header app@,50ms app@,50ms app@20ms,40ms |
		cmp - <(telcat --no-header -t ,50ms app)
	python3 "$SCRIPT" make 2 >other
	# shellcheck disable=SC2094 # the words are ranges of one file
	telstat -j 4 -s 'n=sum(1)' -f json app@,50ms 'other@100ms,' >json
	[ "$(jq 'select(.name == "n").sum' json)" = \
		$(($(telcat -c -t ,50ms app) + $(telcat -c -t 100ms, other))) ]
	[ "$(telcat -c app@,50ms other)" = \
		$(($(telcat -c -t ,50ms app) + $(telcat -c other))) ]
	[ "$(telcat -c --no-merge app@,50ms other@60ms,70ms)" = \
		"$(printf 'app:%s\nother:%s' "$(telcat -c -t ,50ms app)" \
			"$(telcat -c -t 60ms,70ms other)")" ]
}

@test "a file of the name comes first, and mistakes are reported" {
	cp app app@,1ms
	telcat app@,1ms | cmp - <(telcat app)
	run -2 --separate-stderr telcat app@5
	[ "$stderr" = "telcat: app: '5', column 2: expected a range FROM,TO" ]
	run -2 --separate-stderr telcat app@20%,10%
	[ "$stderr" = "telcat: app: '20%,10%': the range ends before it starts" ]
	run -2 --separate-stderr telcat -t 20%,10% app
	[ "$stderr" = "telcat: -t: '20%,10%': the range ends before it starts" ]
	run -2 --separate-stderr telcat -@,1ms
	[[ $stderr == *"a part of standard input is '-- -@FROM,TO'"* ]]
	run -2 --separate-stderr telcat app@1ms,x other
	run -2 --separate-stderr telcat app app@2ms,3ms
	[ "$stderr" = "telcat: app: given with a range and without one" ]
	run -2 --separate-stderr telcat -t 1ms, app@10%,20%
	[[ $stderr == *"a range in percent must be that of all operands"* ]]
	run -1 --separate-stderr telcat none@,1ms
	[ "$stderr" = "telcat: none@,1ms: No such file or directory" ]
}

@test "telstat diff --stacks of two times, as a model has it" {
	local seed

	for seed in $(seq 6 | sample 3); do
		python3 "$SCRIPT" make "$seed" >app
		telcat app >text
		python3 "$SCRIPT" model 100 300 <text >want
		[ -s want ]
		# shellcheck disable=SC2094
		telstat diff --stacks -f json app@,100ms app@,300ms >json
		jq -r 'select(.type == "stack") | "\(.stack) \(.before_bytes) \(
			.after_bytes) \(.change_bytes) \(.before_blocks) \(
			.after_blocks) \(.change_blocks)"' json |
			grep -v '\( 0\)\{6\}$' | LC_ALL=C sort >got
		LC_ALL=C sort want | cmp - got
		# the largest change first
		jq 'select(.type == "stack").change_bytes | fabs' json >order
		sort -rg order | cmp - order
		telstat diff --stacks -f csv app@,100ms app@,300ms |
			grep -c ',stack,change_bytes,' >rows
		[ "$(<rows)" = "$(grep -c . order)" ]
	done
	# two runs, and a key
	python3 "$SCRIPT" make 7 >other
	telstat diff --stacks -f json app other |
		jq -s 'map(select(.type == "stack").change_bytes) | add' >got
	telstat --stacks -f json app |
		jq -s 'map(select(.type == "stack").leaked_bytes) | add' >a
	telstat --stacks -f json other |
		jq -s 'map(select(.type == "stack").leaked_bytes) | add' >b
	[ "$(<got)" = $(($(<b) - $(<a))) ]
	telstat diff --blocks=size -f json app@,100ms app@,300ms |
		jq -e -s 'map(select(.type == "key")) | length > 3' >/dev/null
	telstat diff --stacks app@,100ms app@,300ms >got
	grep -q '^Changes of leaked bytes by stack:' got
	grep -Eq '^    [+-][0-9,]+ bytes: [0-9,]+ before, [0-9,]+ after$' got
}

# A count needs no order, and --file-order wants another: only the rate of the
# clock is looked for ahead.
@test "counts of a range do not warn of the order of the file" {
	local log tool t
	log=$BATS_TEST_DIRNAME/../data/mps/1.118.0-lii6gc-awlut.log.zst
	for t in 5ms,10ms '10ms,' ',20ms'; do
		telcat -H "$log@$t" >want
		for tool in telcat telfilter telstat; do
			[ "$(clean $tool -c "$log@$t")" = "$(wc -l <want)" ]
			[ "$(clean $tool -c -t "$t" "$log")" = "$(wc -l <want)" ]
		done
		clean telcat -H --file-order -t "$t" "$log" >got
		run ! cmp -s want got
		sort got | cmp - <(sort want)
	done
}

# Logs of two systems have no name in common.
@test "a name may be that of any of the logs" {
	local names order tool n=0

	printf '%s\n' '# teltools text 1' '# type: Grab 1 Alloc a:unsigned size:unsigned' \
		'0000000000000001 Grab a=1 size=8' '0000000000000003 Grab a=2 size=8' >one
	printf '%s\n' '# teltools text 1' '# type: Scan 2 Trace b:unsigned word:string' \
		'0000000000000002 Scan b=1 word="x"' >two
	tar cf both.tar one two
	tar cf turned.tar two one
	telcat -f tel one two >both.tel
	telcat -f tel two one >turned.tel
	for order in 'one two' 'two one' {both,turned}.{tar,tel}; do
		# shellcheck disable=SC2086 # one operand or two
		for tool in telcat telfilter telreplay 'telstat -j 1' 'telstat -j 2'; do
			while read -r -a names; do
				n=$((n + 1))
				[ -n "${TEST_WHOLE-}" ] || [ $((n % 5)) = 1 ] ||
				    continue
				echo "$tool ${names[*]} $order"
				[ "$($tool -c "${names[@]:1}" $order)" = "${names[0]}" ]
			done <<-'EOF'
				2 -e Grab
				1 -e Scan
				3 -e Grab,Scan
				1 -k Trace
				3 -k trace,alloc
				1 -e ^Grab
				1 -w a==2
				2 -w a==2||b==1
				1 -w word=="x"
				2 -w name==Grab
				2 -w kind!=Trace
				1 --since b==1
				0 --until a==9 -e Scan --skip 1
			EOF
			run -2 --separate-stderr $tool -c -e Grab,Skan $order
			[[ $stderr == *"unknown event type 'Skan'"* ]]
			run -2 --separate-stderr $tool -c -w 'a > 1 || c > 1' $order
			[[ $stderr == *"no event type has a field 'c'"* ]]
		done
		# shellcheck disable=SC2086
		[[ $order == *.tel ]] ||
			[ "$(telcat -f csv -H -F a,b $order)" = $'1,Grab,1,\n2,Scan,,1\n3,Grab,2,' ]
		# shellcheck disable=SC2086
		run -2 telcat -F c $order
		# shellcheck disable=SC2086
		[ "$(telstat -f csv -s 'a=sum(a + 1)' $order | grep -c '^,a,sum,sum,,,,5,$')" -eq 1 ]
		# shellcheck disable=SC2086
		run -2 telstat -s 'a=sum(c)' $order
	done
	for tool in telcat telfilter telstat; do
		[ "$($tool --no-merge -c -e Scan one two)" = $'one:0\ntwo:1' ]
		[ "$($tool --no-merge -c -e Scan two one)" = $'two:1\none:0' ]
	done
	telcat one two >both.text
	[ "$(telcat -c -w 'b == 1' both.text)" -eq 1 ]
	run -2 telcat -c -w 'c == 1' both.text
	# the pipe's names are those of a log that is merged with the file
	[ "$(telcat -H -e Scan one - <two)" = '0000000000000002 Scan b=1 word="x"' ]
	[ "$(telcat -H -e Scan - one <two)" = '0000000000000002 Scan b=1 word="x"' ]
}

@test "a message about a long expression ends with what is wrong" {
	local long

	long=$(printf 'size == 1 || %.0s' {1..600})
	run -2 --separate-stderr telfilter -w "${long}size == == ${long}1" app
	[[ $stderr == "telfilter: -w: '...size == 1"*"size == == size"*"...', column 7809: expected "* ]]
	[ "${#stderr}" -lt 300 ]
	run -2 --separate-stderr telstat -s "n=sum(${long}1" app
	[[ $stderr == "telstat: -s: '..."*" size == 1 || 1', column 7808: expected "* ]]
	[ "${#stderr}" -lt 300 ]
	# it is shown whole if there is room
	run -2 --separate-stderr telfilter -w "${long:0:194}" app
	[[ $stderr == "telfilter: -w: '${long:0:194}', column 195: "* ]]
}

# two_rates FILE HERTZ ADDRESS: a text of an allocation and its free.
two_rates() {
	cat >"$1" <<-END
		# teltools text 1
		# format: heaptrack
		# tick rate: $2
		# type: free 12 Alloc address:address
		# type: malloc 16 Alloc address:address size:unsigned
		# role: free free address
		# role: malloc alloc address size
		00000000000003E8 malloc address=0x$3 size=32
		00000000000007D0 free address=0x$3
	END
}

@test "logs whose clocks have different rates are not merged silently" {
	two_rates a.txt 1000.0 10
	two_rates b.txt 1000000000.0 20
	two_rates c.txt 1000000001.0 30
	tar cf ab.tar a.txt b.txt
	run -0 --separate-stderr telcat b.txt a.txt
	[ "$stderr" = 'telcat: a.txt: its clock has 1000 ticks a second, and that of b.txt 1000000000, but they are merged by ticks; --no-merge reads one after the other' ]
	run -0 --separate-stderr telstat -S ab.tar
	[[ $stderr == 'telstat: ab.tar:b.txt: its clock has 1000000000 ticks a second, and that of ab.tar:a.txt 1000,'* ]]
	clean telcat b.txt c.txt >/dev/null
	clean telcat --no-merge a.txt b.txt >/dev/null
	# the rate of a short MPS log is measured, and means little
	unpack 1.118.0-lii6gc-poolncv one.log
	unpack 1.117.0-lii6ll-finalcv two.log
	clean telcat one.log two.log >/dev/null
}

@test "the rate of --tb-hz replaces that of a text as it does that of its .tel" {
	two_rates a.txt 1000.0 10
	telcat -f tel -o a.tel a.txt
	for file in a.txt a.tel; do
		telcat -T s --tb-hz 500 --no-header "$file" | tail -1 >got
		grep '^2\.000000000 free' got
		telstat -f json --tb-hz 500 "$file" | grep '"span_ns":"\?2000000000'
	done
}

@test "lifetimes of logs of which not all have a rate are missed, and it is said" {
	two_rates a.txt 1000.0 10
	two_rates b.txt 1000.0 20
	sed -i '/tick rate/d' b.txt
	for files in 'a.txt b.txt' 'b.txt a.txt'; do
		# shellcheck disable=SC2086 # two words
		run -0 --separate-stderr telstat $files
		[ "$stderr" = 'telstat: no lifetimes and no time of the peak: not all logs record the rate of their clock; set --tb-hz' ]
		[[ $output != *lifetimes* ]]
		# shellcheck disable=SC2086
		clean telstat --tb-hz 1000 $files >got
		grep -q '^lifetimes  p50 1 s ' got
	done
	clean telstat a.txt >/dev/null
	clean telstat b.txt >/dev/null
}

@test "the span of merged logs has no time if that of one does not fit" {
	two_rates a.txt 1000.0 10
	two_rates b.txt 1000.0 20
	sed -i 's/^00000000000007D0/FFFFFFFFFFFFFFFA/' b.txt
	for files in 'a.txt b.txt' 'b.txt a.txt'; do
		# shellcheck disable=SC2086 # two words
		telstat $files >got
		grep -qx 'span    18,446,744,073,709,550,610 ticks  00000000000003E8 to FFFFFFFFFFFFFFFA' got
		grep -qx 'events  4' got
	done
}

# A decoder must not depend on the format of the member before.
@test "members of an archive are read alike behind those of any other format" {
	local data=$TEL_TOP/tests/data log other sum
	zstd -dcqf "$data/mps/1.118.0-lii6gc-awlut.log.zst" >a.mps
	zstd -dcqf "$data/alloc/perl.heaptrack.zst" >b.heaptrack
	zstd -dcqf "$data/alloc/sqlite3.valgrind.zst" >c.valgrind
	zstd -dcqf "$data/jfr/g1-17.jfr.zst" >d.jfr
	cp "$data/alloc/hand.kdump" e.kdump
	telcat -q -f tel -o f.tel a.mps
	telcat -q -f tel -o g.tel e.kdump
	telcat -q b.heaptrack >h.text
	for log in [a-h].*; do
		for other in a.mps b.heaptrack d.jfr e.kdump f.tel g.tel; do
			[ "$log" = "$other" ] || echo "$log $other"
		done
	done | sample 4 >pairs
	while read -r log other; do
		tar cf both.tar "$other" "$log"
		echo "$other $log"
		sum=$(($(telcat -c "$log") + $(telcat -c "$other")))
		[ "$(telcat -c --no-merge both.tar)" = "$sum" ]
		[ "$(telcat -c -S both.tar)" = "$sum" ]
		[ "$(telfilter -c -w true both.tar)" = "$sum" ]
	done <pairs
}

# What opening a log finds is found again in the copy that is merged.
@test "damage at the start of a member of an archive is counted and told once" {
	zstd -dcqf "$TEL_TOP/tests/data/alloc/perl.heaptrack.zst" >perl
	telcat -q -f tel -o good perl
	local at
	for at in 2 30 200; do
		cp good a.tel
		printf 'XXXX' | dd of=a.tel bs=1 seek=$at conv=notrunc status=none
		tar cf a.tar a.tel
		run -3 --separate-stderr telstat -f json a.tel
		grep '"totals"' <<<"$output" | sed 's/"input_bytes":[0-9]*,//' >want
		echo "${stderr//telstat: a.tel/telstat: a.tar}" >want.err
		run -3 --separate-stderr telstat -f json a.tar
		grep '"totals"' <<<"$output" | sed 's/"input_bytes":[0-9]*,//' |
			cmp want -
		echo "${stderr//a.tar:a.tel/a.tar}" | diff -u want.err -
	done
}

# libarchive tries block after block for a header; the bytes are one place.
@test "a damaged header of a tar is one damaged place, and costs its member alone" {
	unpack 1.118.0-lii6gc-awlut a
	cp a b
	cp a c
	tar cf all.tar a b c
	local at=$((512 + ($(stat -c %s a) + 511) / 512 * 512 + 100))
	printf XXXX | dd of=all.tar bs=1 seek="$at" conv=notrunc status=none
	for how in --no-merge -S; do
		run -3 --separate-stderr telcat -c "$how" all.tar
		[ "$output" = 45452 ]
		[[ $stderr == *'telcat: all.tar: 1 damaged place, 0 bytes'* ]]
	done
}

@test "a member that cannot be unpacked or is too new is one damaged place, and costs itself alone" {
	unpack 1.118.0-lii6gc-awlut a
	cp a c
	{
		printf '\37\213\10\0\0\0\0\0\0\3\377'
		head -c 3000 a
	} >b.gz
	for members in 'a b.gz c' 'b.gz a c' 'a c b.gz'; do
		# shellcheck disable=SC2086 # several members
		tar cf all.tar $members
		for how in --no-merge -S; do
			run -3 --separate-stderr telstat -c "$how" all.tar
			[ "$output" = 45452 ]
			[[ $stderr == 'telstat: all.tar:b.gz: offset 0: gzip: '* ]]
			[[ $stderr == *'telstat: all.tar: 1 damaged place, 0 bytes'* ]]
		done
	done
	run -1 --separate-stderr telstat -c --strict all.tar
	[ "$output" = 45452 ]
	# so does one of a version that is newer than what the tools know
	zstd -dcqf "$TEL_TOP/tests/data/jfr/g1-17.jfr.zst" >d.jfr
	printf '\0\011' | dd of=d.jfr bs=1 seek=4 conv=notrunc status=none
	tar cf all.tar a d.jfr c
	run -3 --separate-stderr telstat -c all.tar
	[ "$output" = 45452 ]
	[[ $stderr == 'telstat: all.tar:d.jfr: offset 0: '*version* ]]
	tar cf none.tar b.gz
	run -1 telstat none.tar
	[[ $output == *'no member of the archive is a log'* ]]
}

# Its files are read from the archive once, its packets again in the copy.
@test "damage of an archive that is a trace is counted alike by all tools" {
	local trace=$TEL_TOP/tests/data/ctf/snapshot.ctf.tar.zst at
	zstd -dcq "$trace" >trace.tar
	at=$(grep -abo 'ustar' trace.tar | tail -1 | cut -d: -f1)
	printf XXXX | dd of=trace.tar bs=1 seek="$((at - 150))" conv=notrunc \
		status=none
	run -3 --separate-stderr telstat trace.tar
	[[ $stderr == *'telstat: trace.tar: 1 damaged place, '* ]]
	run -3 --separate-stderr telcat trace.tar
	[[ $stderr == *'telcat: trace.tar: 1 damaged place, '* ]]
}

# The last member tells nothing of the order or the types of the others.
@test "a selection from an archive whose last member is no log" {
	unpack 1.118.0-lii6gc-awlut a
	echo 'What these logs are' >README
	tar cf log.tar a
	tar cf all.tar a README
	local command
	while read -r command; do
		echo "$command"
		# shellcheck disable=SC2086 # several words
		$command log.tar >want
		[ -s want ]
		# shellcheck disable=SC2086
		$command all.tar | cmp want -
	done <<-'END'
		telfilter --every 3
		telfilter -k Pool
		telfilter -c -w size>16
		telcat -H -k Pool,Seg
		telcat -H --file-order -n 9
		telcat -H -t 10%,60%
		telcat -f csv --csv wide -e PoolAlloc
		telstat --stacks -w size>16
		telstat diff a
	END
}
