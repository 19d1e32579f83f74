#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# ETS logs of Singularity through the commands, and descriptions of events.

# "run --separate-stderr" sets stderr; a word may be a file name elsewhere
# shellcheck disable=SC2154,SC2094

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	ETS=$TEL_TOP/tests/data/ets
	"$TEL_BUILD/tests/test_ets" --make "$ETS/good-boot.txt" boot.ets
}

# words NAME: the log that standard input describes.
words() {
	cat >"$1.txt"
	"$TEL_BUILD/tests/test_ets" --make "$1.txt" "$1"
}

@test "text, CSV, JSON and the table of tracerpt are as they were" {
	clean telcat --contracts "$ETS/contracts.tmf" boot.ets >text
	diff -u "$ETS/boot.text" text
	clean telcat -f csv boot.ets >csv
	diff -u "$ETS/boot.csv" csv
	clean telcat -f json -d "$ETS/guide.tmf" boot.ets >json
	diff -u "$ETS/boot.json" json
	clean telcat -f tracerpt boot.ets >tracerpt
	diff -u "$ETS/boot.tracerpt" tracerpt
}

@test "the published row comes out" {
	words hook <<-'END'
		event 6544408122948 0x34311e 0xd1 1 0 8 7 67 313 96854120
	END
	telcat -f tracerpt hook | diff - <(printf '%s\n' \
	    '#timestamp,EIP,CPU,TID,PID,Provider,Type,UserData' \
	    '6544408122948,34311e,0,d1,1,endpoint,DeliverHook,ChannelId=313,MessageTag=67,ContractTag=96854120')
	telcat -H -f tracerpt hook | diff - <(telcat -f tracerpt hook | sed 1d)
	telcat -f tracerpt -e Select hook | diff - <(telcat -f tracerpt hook | sed 2d)
	# an event of a type that the log does not describe
	(telcat hook && echo '0000000000000999 0x0FFF bytes=0102') |
	    telcat -f tracerpt | grep -qx '2457,,,,,unknown,0x0FFF,bytes=0102'
}

@test "python reads each table and each object, sqlite3 each column" {
	telcat -f json boot.ets | python3 -c '
import json, sys
events = [json.loads(line) for line in sys.stdin]
assert len(events) == 35, len(events)
hook = [e for e in events if e["type"] == "DeliverHook"][0]
assert hook["kind"] == "Endpoint" and hook["code"] == 8 * 65536 + 7
assert hook["fields"]["instruction"] == "0x34311e"
assert hook["labels"]["MessageTag"] == "KeyboardDeviceContract.Exp/Send67"
assert hook["labels"]["tid"] == "kernel"
'
	telcat -f tracerpt boot.ets | python3 -c '
import csv, sys
rows = list(csv.reader(sys.stdin))
assert rows[20][8 - 1] == "Name=/dev/nic0, \"first\"", rows[20]
assert len(rows) == 36
'
	telcat -f sql boot.ets | sqlite3 db
	[ "$(sqlite3 db 'SELECT tid, pid, PID_2, ParentPID FROM EVENT_CreateUserProcess')" = '108|5|27|5' ]
	[ "$(sqlite3 db 'SELECT TID_2 FROM EVENT_AutoResetEvent_Acquire')" = 108 ]
	[ "$(sqlite3 db 'SELECT Pid_2 FROM EVENT_ThreadInfo WHERE Id = 209')" = 1 ]
	[ "$(sqlite3 db "SELECT ident FROM event_param WHERE type = 1245186 AND param_index = 4")" = PID_2 ]
	[ "$(sqlite3 db 'SELECT completed FROM event_log')" = 35 ]
}

@test "text is read back as the same events, by every tool" {
	telcat --contracts "$ETS/contracts.tmf" boot.ets >text
	cmp text <(telcat text)
	for option in '-f json' '-f csv' '-f tracerpt' '-T s' '-T relative' '-T delta' -S; do
		# shellcheck disable=SC2086 # words on purpose
		cmp <(telcat --contracts "$ETS/contracts.tmf" $option boot.ets) \
		    <(telcat $option text)
	done
	telstat -f csv boot.ets | grep ',type,events,' >want
	telstat -f csv text | grep ',type,events,' | cmp want -
	cmp <(telfilter -f text -e '*Hook' boot.ets | telcat -H) \
	    <(telcat -H -e '*Hook' boot.ets)
	[ "$(telcat text | telfilter -c -k Endpoint)" = 7 ]
}

@test "types, kinds, expressions and labels select" {
	[ "$(telfilter --bare -c -e DeliverHook boot.ets)" = 2 ]
	[ "$(telfilter --bare -c -e 'Mutex_*,StopRead' boot.ets)" = 1 ]
	[ "$(telfilter --bare -c -k endpoint boot.ets)" = 7 ]
	[ "$(telfilter --bare -c -e 0x80007 boot.ets)" = 2 ]
	[ "$(telfilter --bare -c -w 'cpu == 1' boot.ets)" = 1 ]
	[ "$(telfilter --bare -c -w 'label(pid) == "LegacyKeyboard" && tid == 108' boot.ets)" = 14 ]
	[ "$(telfilter --bare -c -w 'label(MessageTag) ~ "/Recv"' boot.ets)" = 3 ]
	[ "$(telfilter --bare -c -w 'kind == SysInfo && has(time)' boot.ets)" = 0 ]
	printf '40 Dotted.Name\n#type A.B 1\n{\nC.D, ItemLong\n}\n' >dots.tmf
	words dots <<-'END'
		event 1000 5 4 3 0 40 1 77
		event 1001 5 4 3 0 40 1 78
	END
	[ "$(telfilter -d dots.tmf --bare -c -e A.B dots)" = 2 ]
	[ "$(telfilter -d dots.tmf --bare -c -k Dotted.Name dots)" = 2 ]
	[ "$(telfilter -d dots.tmf --bare -c -w 'name == "A.B" && field("C.D") == 78' dots)" = 1 ]
}

@test "telfilter writes records as they were, and what names things" {
	telfilter boot.ets | cmp - boot.ets
	telfilter -e DeliverHook boot.ets >hooks
	cmp <(telcat -H -e DeliverHook boot.ets) <(telcat -H -e DeliverHook hooks)
	[ "$(telcat -H hooks | wc -l)" = 12 ]
	telfilter --bare -e DeliverHook boot.ets >bare
	[ "$(wc -c <bare)" = 96 ]
	# fields that are not as they are in the record
	printf '5 Shell\n#type Command 1\n{\na, ItemGuid\nb, ItemWString\n}\n' >wide.tmf
	telfilter -d wide.tmf boot.ets | cmp - boot.ets
	[ "$(telcat -H -d wide.tmf -e Command -F a boot.ets)" = \
	    '000005F3BD3E08BC Command a="00000000-0000-0000-0000-000000000000"' ]
	telcat -f ets boot.ets | cmp - boot.ets
	unpack 1.118.0-lii6gc-poolncv
	run -1 telcat -f ets mpsio.log
}

@test "text becomes the log that it was printed from" {
	telcat --contracts "$ETS/contracts.tmf" boot.ets | telcat -f ets | cmp - boot.ets
	telcat boot.ets | telcat -f tel | telcat -f ets | cmp - boot.ets
	telcat boot.ets | grep -v Irq= | sort | telcat -S -f ets | telcat -H | sort >got
	telcat -H boot.ets | grep -v Irq= | sort | diff - got
	# the numbers of a type that is not known are in the code of no type
	printf '40 P\n#version 0\n#type A 1\n#version 1\n#type B 1\n{\nX, ItemLong\n}\n' >two.tmf
	words two <<-'END'
		event 1000 5 4 3 0 40 1
		version 1 1001 5 4 3 0 40 1 7
	END
	telcat -d two.tmf two >text
	run -0 --separate-stderr telcat -f json -d two.tmf <(telcat -f ets text 2>messages)
	[ "${#lines[@]}" = 1 ]
	grep -q 'B' messages
	run -1 --separate-stderr telcat --strict -f ets text
	unpack 1.118.0-lii6gc-poolncv
	expect 1 'telcat: -: mps-1.118.0/lii6gc cannot be written as an ETS log' \
	    telcat -f ets - < <(telcat mpsio.log)
}

@test "time begins with the first event that has one" {
	telcat -H -T s boot.ets | cut -d' ' -f1,2 >got
	[ "$(sed -n 10p got)" = '0.000000000 ProcessInfo' ]
	[ "$(sed -n 11p got)" = '0.000000000 SwitchTo' ]
	[ "$(sed -n 12p got)" = '0.000000027 DeliverHook' ]
	[ "$(telcat -H -T relative boot.ets | sed -n 12p | cut -d' ' -f1)" = 48 ]
	[ "$(telcat -H -T delta boot.ets | sed -n '11,12p' | cut -d' ' -f1 | xargs)" = '0 48' ]
	[ "$(telcat -H -T s -S boot.ets | cut -d' ' -f1 | tail -n 1)" = 0.001128000 ]
	[ "$(telfilter --bare -c -t 1ms, boot.ets)" = 20 ]
	[ "$(telfilter --bare -c -t 99%, boot.ets)" = 20 ]
	telstat boot.ets | grep -q '^span .*1.128 ms'
	telstat <(telcat boot.ets) | grep -q '^span .*1.128 ms'
}

@test "--verbose tells of events, dropped and unknown ones" {
	run -0 --separate-stderr telcat --verbose boot.ets
	printf '%s\n' "${stderr_lines[@]}" | diff - <(printf 'telcat: boot.ets: %s\n' \
	    "Found Shell event: 'netstack &' at time: 6544410151100" \
	    '35 events, 0 dropped as far as the log shows, 1 unknown' \
	    "unknown (provider, version, type): ('20', 0, 11) 1" \
	    'Found 1 requests')
	telcat --verbose -d "$ETS/guide.tmf" boot.ets 2>&1 >/dev/null | grep -q ' 0 unknown$'
}

@test "an event that nothing describes has its context, its words and its text" {
	words odd <<-'END'
		event 1000 5 108 3 1 20 3 7
		version 3 1001 0x401000 108 5 1 20 3 7 8 9 10 11 | some text
		event 1002 6 108 3 1 40 9
		event 1003 5 108 3 1 20 3 7
	END
	run -0 --separate-stderr telcat --as ets -f tracerpt odd
	[ -z "$stderr" ]
	[ "${lines[2]}" = '1001,401000,1,6c,5,20,3,version=3,arg0=7,arg1=8,arg2=9,arg3=10,arg4=11,text=some text' ]
	[ "$(telcat -H --as ets -w 'tid == 108 && field("provider") == 40' -F pid,type odd)" = \
	    '00000000000003EA Undescribed pid=3 type=9' ]
	[ "$(telfilter --as ets -c -k Unknown odd)" = 2 ]
	for f in '' '-f tel'; do
		# shellcheck disable=SC2086 # words on purpose
		telcat --as ets $f odd | telstat | grep -q ' unknown 2 '
	done
}

@test "tracerpt: names as declared, in the order of the guide's program" {
	printf '%s\n' '40 Twice' '#type Same 1' '{' 'B, ItemULong' '}' \
	    '#type Same 2' '#type Twice_Own 3' '{' '}' '41 Once' '#type SAME 1' '{' \
	    'Sector, ItemUShort' 'Length, ItemUShort' 'DiskId, ItemUShort' \
	    'BufferAddr, ItemUShort' 'PID, ItemUShort' 'Id, ItemUShort' '}' >same.tmf
	words same <<-'END'
		event 1000 5 4 3 0 40 1 77
		event 1001 5 4 3 0 40 2
		event 1002 5 4 3 0 40 3
		event 1003 5 4 3 0 41 1
	END
	telcat -H -d same.tmf -f tracerpt same | cut -d, -f6- | diff - <(printf '%s\n' \
	    twice,Same,B=77 twice,Same twice,Twice_Own \
	    once,SAME,Sector=0,PID=0,Length=0,BufferAddr=0,Id=0,DiskId=0)
}

@test "fields of one name have numbers, however many there are" {
	{
		echo '40 Twice'
		for i in {1..2000}; do
			echo "#type t$i $i"
		done
		echo '{'
		printf 'pid, ItemUChar\na, ItemUChar\n%.0s' {1..100}
		echo '}'
	} >same.tmf
	words same <<<"event 1000 5 4 3 0 40 1 770 | $(printf 'x%.0s' {1..178})yz"
	run -0 timeout 20 telcat -H -d same.tmf -F pid,pid_2,a,pid_101,a_100 same
	[[ $output == *' t1 pid=3 pid_2=2 a=3 pid_101=121 a_100=122' ]]
}

@test "a complete text in UTF-16 holds no NUL that is worth a word" {
	printf '5 Shell\n#type Command 1\n{\na, ItemGuid\nx, ItemULong\nb, ItemWString\n}\n' >wide.tmf
	{
		echo 'event 1000 5 4 3 0 5 1 1 2 3 4 5 | aXbX'
		echo 'event 1001 5 4 3 0 5 1 1 2 3 4 5 | aXbX'
	} >wide.txt
	"$TEL_BUILD/tests/test_ets" --make wide.txt wide
	python3 -c 'd = open("wide", "rb").read(); open("wide", "wb").write(d.replace(b"aXbX", b"a\0b\0"))'
	telcat --verbose -H -d wide.tmf wide >got 2>messages
	run ! grep NUL messages
	[ "$(grep -c 'b="ab"' got)" = 2 ]
	# what is behind its end is the next field
	sed -i '/^b/a c, ItemULong' wide.tmf
	sed -i 's/aXbX/aXbXNN7ZZZ/' wide.txt
	"$TEL_BUILD/tests/test_ets" --make wide.txt wide
	python3 -c 'd = open("wide", "rb").read(); open("wide", "wb").write(d.replace(b"aXbXNN7ZZZ", b"a\0b\0\0\0007\0\0\0"))'
	telcat -q -H -d wide.tmf wide >got
	[ "$(grep -c 'b="ab" c=55$' got)" = 2 ]
}

@test "several descriptions: later ones hold; TEL_SCHEMA_PATH finds them" {
	mkdir -p far/one far/two
	printf '20 Thread\n#type First 3\n{\n}\n' >far/one/first.tmf
	printf '20 Thread\n#type Second 3\n{\n}\n' >far/two/second.tmf
	[ "$(telcat -H -d far/one/first.tmf -d far/two/second.tmf -k Thread -n 1 boot.ets | cut -d' ' -f2)" = Second ]
	export TEL_SCHEMA_PATH=nowhere:far/one:$PWD/far/two
	[ "$(telcat -H -d second.tmf -d first.tmf -k Thread -n 1 boot.ets | cut -d' ' -f2)" = First ]
	expect 1 'telcat: third.tmf: No such file or directory' telcat -d third.tmf boot.ets
	printf '20 Thread\n#type First 3\n' >cut.tmf
	expect 1 'telcat: boot.ets: cut.tmf:2: it ends before the block of the type of line 2' \
	    telcat -d cut.tmf boot.ets
	# here is before there, and packed ones are taken
	gzip -c far/two/second.tmf >first.tmf
	[ "$(telcat -H -d first.tmf -k Thread -n 1 boot.ets | cut -d' ' -f2)" = Second ]
}

@test "packed, in archives, from pipes: the same" {
	telcat boot.ets >want
	for pack in gzip bzip2 xz zstd lz4; do
		"$pack" -c <boot.ets >packed
		cmp <(telcat packed) want
		cmp <(telcat <packed) want
	done
	tar cf logs.tar boot.ets "$ETS/guide.tmf" 2>/dev/null
	cmp <(telcat logs.tar) want
	{
		head -c 500 boot.ets
		sleep 0.2
		tail -c +501 boot.ets
	} | telcat | cmp - want
}

@test "what comes through a pipe is shown as it comes" {
	mkfifo pipe
	telcat -u -H <pipe >got &
	{
		cat boot.ets
		await has_lines 34 got
		touch came
	} >pipe
	wait
	[ -e came ]
}

@test "damage, a full disk and a closed pipe" {
	head -c 1800 boot.ets >short
	run -3 --separate-stderr telcat -H short
	[ "${#lines[@]}" = 34 ]
	[[ ${stderr_lines[0]} == *'offset 1768: the log ends inside a record; its first 32 bytes are left out' ]]
	run -1 telcat --strict short
	run -1 --separate-stderr bash -c 'telcat -f tracerpt boot.ets >/dev/full'
	[[ $stderr == *'No space left'* ]]
	for _ in 1 2 3; do cat boot.ets; done >long
	telcat -f tracerpt long | head -n 1 >/dev/null
}

@test "--types lists what is built in, and what a log holds" {
	telcat --types --as ets >list
	[ "$(grep -vc '^#' list)" = 64 ]
	telcat --types | grep -q '^ets .*0x80007 Endpoint DeliverHook .*MessageTag:signed'
	telcat --types -f json -d "$ETS/guide.tmf" boot.ets | grep -q '"name":"Old"'
}
