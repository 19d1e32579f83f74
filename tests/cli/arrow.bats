#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Tables of Arrow, read by arrow_read.py, an independent reader.

# "run --separate-stderr" sets stderr.
# shellcheck disable=SC2154

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	unpack 1.118.0-lii6gc-poolncv
	here=$TEL_TOP/tests/cli
}

# compared LOG ...: the table has what -f json prints.
compared() {
	exits '0|3' telcat -q -f arrow "$@" >got.arrows
	exits '0|3' telcat -q -f json "$@" >want.json
	python3 "$here/arrow_compare.py" got.arrows json want.json
}

# schema TABLE: its metadata; the names and types of its columns, and theirs.
schema() {
	python3 "$here/arrow_read.py" -s "$1" >schema
}

# says TABLE PATTERN: its schema does.
says() {
	schema "$1" || return
	grep -q -- "$2" schema
}

rows() {
	python3 "$here/arrow_read.py" "$1"
}

@test "-f arrow has the events that -f json prints, of any log" {
	local log
	"$TEL_BUILD/tests/test_ets" --make \
	    "$TEL_TOP/tests/data/ets/good-boot.txt" boot.ets
	telcat mpsio.log >mps.txt
	telcat -q -f mps:1.6.1/w3i3mv,be mpsio.log >big-endian.log
	for log in "$DATA"/1.118.0-lii3gc-amcss.log.zst \
	    "$TEL_TOP"/tests/data/alloc/sqlite3.heaptrack.zst \
	    "$TEL_TOP"/tests/data/alloc/times.android \
	    "$TEL_TOP"/tests/data/inst/hfs.txt \
	    "$TEL_TOP"/tests/data/hpm/v3be/HPM.1.startup boot.ets mps.txt \
	    big-endian.log mpsio.log; do
		echo "$log"
		compared "$log" >out
		[ "$(tail -n 1 out)" = "$(wc -l <want.json) rows" ]
	done
}

@test "lists are lists, and the names of enums a dictionary" {
	local log
	python3 "$TEL_TOP/tests/bench/jfr_make.py" odd >odd.jfr
	for log in odd.jfr "$TEL_TOP"/tests/data/ctf/all.ctf.tar.zst \
	    "$TEL_TOP"/tests/data/jfr/g1-17.jfr.zst \
	    "$TEL_TOP"/tests/data/mps/1.111.0-lii6gc-amcss.log.zst; do
		echo "$log"
		compared "$log" >out
		[ "$(tail -n 1 out)" = "$(wc -l <want.json) rows" ]
		[ -n "${TEST_WHOLE-}" ] || [ "$log" = odd.jfr ] || continue
		telcat -q -f arrow -z 3 "$log" >got.arrows
		python3 "$here/arrow_compare.py" got.arrows json want.json >out
		[ "$(tail -n 1 out)" = "$(wc -l <want.json) rows" ]
	done
	telcat -q -f arrow -e shop:texts "$TEL_TOP"/tests/data/ctf/all.ctf.tar.zst >got.arrows
	says got.arrows '^arr list<int32> '
	says got.arrows '^bytes list<uint8> '
	says got.arrows '^col_label utf8 dictionary '
	telcat -q -f arrow odd.jfr >got.arrows
	says got.arrows '^names list<utf8> '
	says got.arrows '^floats list<double> '
	# more booleans than a byte has bits, in lists of which some are empty
	{
		printf '# teltools text 1\n# format: x\n'
		printf '# type: t 0 k b:list:boolean:8 n?:list:unsigned:8 s:string\n'
		printf '%016X t b=[true,false,true] n=[7,255] s="x"\n' 1
		printf '%016X t b=[] s="x"\n' 2
		printf '%016X t b=[false,true,true,true,true,true,false,true,true] n=[] s="x"\n' 3
	} >lists.text
	compared lists.text
	says got.arrows '^b list<bool> '
	[ "$(rows got.arrows | sed -n 2p)" = '{"clock": 2, "kind": "k", "type": "t", "b": [], "s": "x"}' ]
	# of a text, too
	printf '# type: t 0 k n:unsigned e:enum:unsigned\n%016X t n=5 e=7["x"]\n' 1 >enum.text
	compared enum.text
	[ "$(rows got.arrows)" = '{"clock": 1, "kind": "k", "type": "t", "n": 5, "e": 7, "e_label": "x"}' ]
}

@test "one type has a column for each field, as in CSV" {
	local type
	for type in PoolAlloc Intern EventClockSync; do
		telcat -f arrow -e "$type" mpsio.log >got.arrows
		telcat -f csv -e "$type" mpsio.log >want.csv
		python3 "$here/arrow_compare.py" got.arrows csv want.csv
		[ "$(wc -l <want.csv)" -gt 1 ]
	done
	telcat -f arrow -e PoolAlloc mpsio.log >got.arrows
	says got.arrows '^size uint64 .*"tel.datatype": "unsigned"'
	telcat -f arrow -e PoolAlloc -F size,pool mpsio.log >got.arrows
	telcat -f csv -e PoolAlloc -F size,pool mpsio.log >want.csv
	python3 "$here/arrow_compare.py" got.arrows csv want.csv
	# of several types, the columns of those that are selected
	telcat -f arrow -e 'Arena*' mpsio.log >got.arrows
	says got.arrows '^grainSize '
	run ! says got.arrows '^pReturn '
	telcat -f arrow -F size mpsio.log >got.arrows
	schema got.arrows
	[ "$(grep -v = schema | cut -d ' ' -f 1 | xargs)" = \
	    "clock type size other" ]
}

@test "-o writes a file with a footer, and -z compresses its columns" {
	local log
	unpack 1.118.0-lii6gc-amcss long.log
	for log in mpsio.log long.log; do
		telcat -f arrow "$log" >stream
		rows stream >want
		telcat -f arrow -o run.arrow "$log"
		[ "$(head -c 6 run.arrow)" = ARROW1 ]
		[ "$(tail -c 6 run.arrow)" = ARROW1 ]
		rows run.arrow | cmp want -
		telcat -f arrow -z 3 -o run.arrow "$log"
		rows run.arrow | cmp want -
		telcat -f arrow -z 3 "$log" >packed
		rows packed | cmp want -
		[ "$(wc -c <packed)" -lt "$(wc -c <stream)" ]
		telcat -f arrow -o run.arrows "$log"
		cmp stream run.arrows
		mkfifo pipe
		telcat -f arrow -o pipe "$log" &
		cmp stream pipe
		wait $!
		rm pipe
	done
	# labels that came later were added to their dictionary
	telcat --file-order -f arrow "$DATA/1.118.0-lii6gc-awlut.log.zst" >stream
	python3 - "$here" stream <<-'END'
		import sys
		sys.path.insert(0, sys.argv[1])
		import arrow_read
		with open(sys.argv[2], "rb") as f:
		    r = arrow_read.Reader(f.read())
		assert r.deltas > 0 and len(r.batches) > 1
	END
}

@test "numbers, nulls and strings of any bytes" {
	cat >toy.txt <<-'END'
		# format: toy
		# type: A 1 K u:unsigned s:signed:16 b:boolean d:double t:string
		# type: B 2 K u:string s:signed:64 U:unsigned:8 clock:address
		0000000000000001 A u=18446744073709551615 s=-32768 b=true d=-0.5 t="\xe9\xff \xc3\xa9"
		FFFFFFFFFFFFFFFF B u="" s=-9223372036854775808 U=255 clock=0xffffffffffffffff
		0000000000000002 A u=0 s=32767 b=false d=nan t="a\"b\x01"
	END
	compared toy.txt
	rows got.arrows >out
	cat >want <<-'END'
		{"clock": 1, "kind": "K", "type": "A", "u": 18446744073709551615, "s": -32768, "b": true, "d": -0.5, "t": "\u00e9\u00ff \u00e9"}
		{"clock": 18446744073709551615, "kind": "K", "type": "B", "s": -9223372036854775808, "u_2": "", "U_3": 255, "clock_2": 18446744073709551615}
		{"clock": 2, "kind": "K", "type": "A", "u": 0, "s": 32767, "b": false, "d": NaN, "t": "a\"b\u0001"}
	END
	cat out
	diff <(python3 -c 'import json, sys
for line in sys.stdin: print(sorted(json.loads(line).items(), key=str))' <want) \
	    <(python3 -c 'import json, sys
for line in sys.stdin: print(sorted(json.loads(line).items(), key=str))' <out)
	telcat -f arrow -z 19 toy.txt >packed
	rows packed | cmp out -
	# what is of no known type
	{
		head -c 3000 mpsio.log
		printf 'nonsense'
		tail -c +3001 mpsio.log
	} >bad.log
	exits 3 telcat -q -f arrow bad.log >bad.arrows
	rows bad.arrows >out
	exits 3 telcat -q -f json bad.log >want.json
	[ "$(wc -l <out)" -eq "$(wc -l <want.json)" ]
}

@test "time is a duration, a timestamp or a number" {
	telcat -q -f arrow -T s mpsio.log >a
	says a '^time duration '
	rows a | python3 -c 'import json, sys
for line in sys.stdin: print(json.loads(line)["time"])' >got
	telcat -f csv -T ns mpsio.log | sed 1d | cut -d , -f 1 | cmp got -
	telcat -f arrow -T ns mpsio.log >b
	says b '^time int64 '
	cmp <(rows a) <(rows b)
	telcat -f arrow -T delta mpsio.log >a
	rows a | python3 -c 'import json, sys
for line in sys.stdin: print(json.loads(line)["time"])' >got
	telcat -f csv -T delta mpsio.log | sed 1d | cut -d , -f 1 | cmp got -
	telcat -q -f arrow mpsio.log >a
	schema a
	grep -qx tel.clock.unit=tick schema
	grep -qx tel.format=mps schema
	grep -qx tel.schema=mps-1.118.0/lii6gc schema
	grep -q '^tel.clock.hz=[0-9.]*$' schema
	printf '%s\n' '# format: toy' '# tick rate: 1000' \
	    '# origin: 1500000000000000000' '# meta: host box' \
	    '# type: A 1 K u:unsigned' '0000000000000001 A u=1' >toy.txt
	telcat -f arrow toy.txt >a
	schema a
	grep -qx tel.clock.epoch-ns=1500000000000000000 schema
	grep -qx tel.clock.hz=1000 schema
	grep -qx log.host=box schema
	telcat -f arrow -T iso toy.txt >a
	says a '^time timestamp\[UTC\] '
	[ "$(rows a)" = '{"time": 1500000000001000000, "kind": "K", "type": "A", "u": 1}' ]
}

@test "several logs are one table" {
	printf '%s\n' '# format: toy' '# type: A 1 K u:unsigned:8 s:string' \
	    '0000000000000001 A u=1 s="x"' '0000000000000009 A u=2 s="y"' >a.txt
	printf '%s\n' '# format: other' '# type: A 1 K u:unsigned v:string' \
	    '0000000000000005 A u=300 v="z"' >b.txt
	telcat -f arrow a.txt b.txt >both
	[ "$(rows both)" = '{"clock": 1, "kind": "K", "type": "A", "u": 1, "s": "x"}
{"clock": 5, "kind": "K", "type": "A", "u": 300, "v": "z"}
{"clock": 9, "kind": "K", "type": "A", "u": 2, "s": "y"}' ]
	# what the first one has no column for is text
	telcat --no-merge -f arrow a.txt b.txt >both
	[ "$(rows both | tail -n 1)" = '{"clock": 5, "kind": "K", "type": "A", "u": 300, "other": "v=\"z\""}' ]
	run -1 --separate-stderr telcat --no-merge -f arrow -e A a.txt b.txt
	[ "$stderr" = "telcat: b.txt: field 'v' has no column: the log before has another type of that name" ]
	unpack 1.117.0-lii6ll-finalcv old.log
	compared mpsio.log old.log
}

@test "an empty log, a log that is cut, and one that cannot be read" {
	telcat -f arrow -n 0 mpsio.log >none
	[ -z "$(rows none)" ]
	says none '^pReturn uint64 '
	telcat -f arrow -n 0 -o none.arrow mpsio.log
	[ -z "$(rows none.arrow)" ]
	telcat -f arrow -n 0 -z 3 -o none.arrow mpsio.log
	[ -z "$(rows none.arrow)" ]
	: >empty
	run -1 --separate-stderr telcat -f arrow --as mps-1.118.0 empty
	[ -z "$output" ]
	head -c 3001 mpsio.log >cut.log
	run -3 --separate-stderr bash -c 'telcat -f arrow cut.log >cut.arrows'
	[[ $stderr = 'telcat: cut.log: offset '* ]]
	[ "$(rows cut.arrows | wc -l)" -eq \
	    "$(exits 3 telcat -q -H cut.log | wc -l)" ]
	run -3 telcat -q -f arrow -o cut.arrow cut.log
	rows cut.arrow | cmp - <(rows cut.arrows)
	run -1 --separate-stderr telcat -f arrow missing.log
	[ -z "$output" ]
}

@test "a table goes to no terminal, and ends where its reader does" {
	if has_terminal; then
		run -2 script -qec 'telcat -f arrow mpsio.log' /dev/null
	fi
	telcat -f arrow -u -n 3 mpsio.log >three
	[ "$(rows three | wc -l)" -eq 3 ]
	for _ in {1..40}; do cat mpsio.log; done >long.log
	exits '0|1|141' telcat -q -f arrow long.log | head -c 100 >/dev/null
	exits '0|1|141' telcat -q -f arrow -z 1 long.log | head -c 100 >/dev/null
	expect 1 'telcat: /dev/full: No space left on device' \
	    telcat -f arrow -z 1 -o /dev/full mpsio.log
}
