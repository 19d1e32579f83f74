#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# What telcat writes, and what becomes of it: other programs read it, disks
# are full, pipes close, terminals must stay safe.

# "run --separate-stderr" sets stderr; a word may be a file name elsewhere
# shellcheck disable=SC2154,SC2094

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	unpack 1.118.0-lii6gc-poolncv
}

# A log with bytes in a string that could steer a terminal.
hostile() {
	python3 - <<-'END'
		d = open('mpsio.log', 'rb').read()
		i = d.index(b'AbstractPool')
		s = b'\x1b[31m"\\\n\xff,'
		open('hostile.log', 'wb').write(d[:i] + s + d[i + len(s):])
	END
}

# On a terminal, what script(1) gives it.
terminal() {
	TERM=xterm noted script -qec "$*" /dev/null </dev/null
}

@test "python3 reads the CSV, and the values are those of the text" {
	for name in 1.111.0-lii6gc-poolncv 1.118.0-lii6gc-poolncv \
	    1.114.0-lii3gc-amcss; do
		unpack "$name"
		telcat -H -n 2000 mpsio.log >text
		telcat -f csv -n 2000 mpsio.log >csv
		telcat -f json -n 2000 mpsio.log >json
		python3 - <<-'END'
			import csv, json, re
			word = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*"|[^ \["]*)(\["(?:[^"\\]|\\.)*"\])?')
			def string(s):
			    return re.sub(r'\\x(..)|\\(.)', lambda m: chr(int(m[1], 16))
			        if m[1] else {'n': '\n', 't': '\t', 'r': '\r'}.get(m[2], m[2]), s[1:-1])
			lines = open('text').read().splitlines()
			rows = list(csv.reader(open('csv', newline='')))
			objects = [json.loads(l) for l in open('json')]
			assert rows.pop(0) == ['clock', 'kind', 'type', 'fields']
			assert len(lines) == len(rows) == len(objects) > 50
			assert open('csv', 'rb').read().count(b'\r') == 0
			for line, row, o in zip(lines, rows, objects):
			    clock, name, *rest = line.split(' ', 2)
			    rest = rest[0] if rest else ''
			    assert row == [str(int(clock, 16)), o['kind'], name, rest], (row, line)
			    assert int(clock, 16) == int(o['clock']) and o['type'] == name
			    assert isinstance(o['clock'], str) == (int(clock, 16) > 2**53)
			    fields = {}
			    for m in word.finditer(rest):
			        v, want = m[2], o['fields'][m[1]]
			        fields[m[1]] = want
			        if v.startswith('"'):
			            assert string(v) == want
			        elif v.startswith('0x'):
			            assert v == want
			        elif v in ('true', 'false'):
			            assert want == (v == 'true')
			        else:
			            assert float(v) == float(want)
			            assert int(want) == int(v) if v.isdigit() else True
			            if v.isdigit() and int(v) > 2**53 and not isinstance(want, float):
			                assert isinstance(want, str)
			        if m[3]:
			            assert o['labels'][m[1]] == string(m[3][1:-1])
			    assert list(fields) == list(o['fields'])
		END
	done
}

@test "the time of day of a clock with a fraction of ticks a second" {
	printf '%s\n' '# format: toy' '# tick rate: 2.5' \
	    '# origin: 1000000000000000000' '# type: a 1 A n:unsigned' \
	    '0000000000000005 a n=1' '0000000000000007 a n=2' >toy.txt
	run -0 telcat -H -T iso toy.txt
	[ "${lines[0]}" = '2001-09-09T01:46:42.000000000Z a n=1' ]
	[ "${lines[1]}" = '2001-09-09T01:46:42.800000000Z a n=2' ]
	# beyond the year 2262 there is none
	sed '$d; s/0000000000000005/FFFFFFFFFFFFFFFF/' toy.txt >late.txt
	run -0 telcat -H -T iso late.txt
	[ "$output" = 'FFFFFFFFFFFFFFFF a n=1' ]
}

@test "time in each form is what the clock says, in each format" {
	python3 - >toy.txt <<-'END'
		print("# format: toy\n# tick rate: 3000000000\n"
		      "# origin: 1500000000000000000\n# type: A 1 K u:unsigned")
		for clock in (1, 8, 2, 7294967296, 5, 3145728000000000, 5, 2**53 - 1):
		    print(f"{clock:016X} A u={clock}")
	END
	for form in ticks s ns relative delta iso; do
		for format in text csv json arrow; do
			telcat --file-order -q -T "$form" -f "$format" toy.txt \
			    >"$form.$format"
		done
		telcat --file-order -q -T "$form" -f csv -e A toy.txt >"$form.wide"
		telcat --file-order -q -T "$form" -f csv -F u toy.txt >"$form.fields"
	done
	python3 - "$TEL_TOP/tests/cli" <<-'END'
		import datetime, json, sys
		from fractions import Fraction
		sys.path.insert(0, sys.argv[1])
		import arrow_read
		def lines(name):
		    return open(name, encoding="ascii").read().splitlines()
		def nanoseconds(clock):
		    return round(Fraction(clock, 3))
		def seconds(clock):
		    return "%d.%09d" % divmod(nanoseconds(clock), 10**9)
		def iso(clock):
		    second, rest = divmod(15 * 10**17 + nanoseconds(clock), 10**9)
		    at = datetime.datetime.fromtimestamp(second, datetime.timezone.utc)
		    return f"{at:%Y-%m-%dT%H:%M:%S}.{rest:09d}Z"
		clocks = [json.loads(line)["fields"]["u"] for line in lines("ns.json")]
		clocks = [int(c) for c in clocks]
		assert len(clocks) == 8
		since = [c - clocks[0] for c in clocks]
		want = {
		    "ticks": clocks, "s": [seconds(c) for c in since],
		    "ns": [nanoseconds(c) for c in since], "relative": since,
		    "delta": [b - a for a, b in zip(clocks[:1] + clocks, clocks)],
		    "iso": [iso(c) for c in clocks]}
		for form, times in want.items():
		    texts = [str(t) for t in times]
		    cells = [line.split(",")[0] for line in lines(form + ".csv")[1:]]
		    assert cells == texts, (form, cells, texts)
		    for kind in "wide", "fields":
		        assert [line.split(",")[0] for line in
		                lines(f"{form}.{kind}")[1:]] == texts, (form, kind)
		    got = [line.split()[0] for line in lines(form + ".text")
		           if line[0] != "#"]
		    if form == "ticks":
		        texts = [f"{t:016X}" for t in times]
		    assert got == texts, (form, got)
		    got = [json.loads(line, parse_float=str) for line in
		           lines(form + ".json")]
		    got = [str(e["clock" if form == "ticks" else "time"]) for e in got]
		    assert got == [str(t) for t in times], (form, got)
		    with open(form + ".arrow", "rb") as file:
		        got = [row[0] for row in arrow_read.Reader(file.read()).rows()]
		    if form == "s":
		        times = want["ns"]
		    elif form == "iso":
		        times = [15 * 10**17 + nanoseconds(c) for c in clocks]
		    assert got == times, (form, got, times)
	END
}

@test "text of a pipe has the rate of the clock as soon as it is known" {
	local jobs
	unpack 1.118.0-lii6gc-amcss
	telcat -q --file-order <mpsio.log >text
	[ "$(grep -c '^# tick rate: [0-9.]*$' text)" = 1 ]
	grep -A 1 '^# tick rate' text | tail -n 1 | grep ' EventClockSync '
	grep -B 9 '^# tick rate' text | grep ' LabelPointer '
	for jobs in 1 4; do
		telcat -q -j "$jobs" --file-order <mpsio.log | cmp - text
	done
	telcat -q -T ns -H text >got
	telcat -q -T ns -H --file-order mpsio.log | sort -n | cmp - <(sort -n got)
}

@test "a label of one log is none of the next, however many threads print" {
	local name jobs
	for name in one two; do
		{
			printf '%s\n' '# format: mps-1.118.0/lii6gc' \
			    "0000000000000001 Intern stringId=1 string=\"$name\"" \
			    '0000000000000002 LabelPointer pointer=0x1000 stringId=1'
			seq -f '%016.0f PoolFree pool=0x1000 old=0x10 size=8' 3 9000
		} | telcat -q -f mps >"$name.log"
	done
	for jobs in 1 2 4; do
		telcat -q -H --no-merge -j "$jobs" -e PoolFree one.log two.log |
		    cut -d ' ' -f 3 | uniq -c >got
		diff got - <<-END
			   8998 pool=0x1000["one"]
			   8998 pool=0x1000["two"]
		END
	done
}

@test "wide CSV has a column for each field of the types that are selected" {
	unpack 1.118.0-lii6gc-poolncv
	for select in "" "-k User,Pool" "-e PoolAlloc,PoolFree" "-e PoolAlloc" \
	    "-w size>64" "-t ,0x1"; do
		echo "$select"
		# shellcheck disable=SC2086 # several words
		{
			telcat --csv=wide $select mpsio.log >csv
			telcat -f json $select mpsio.log >json
			telcat --types -f json $select mpsio.log >types
		}
		python3 - "$select" <<-'END'
			import csv, json, sys
			head, *rows = csv.reader(open('csv', newline=''))
			objects = [json.loads(l) for l in open('json')]
			assert head[:2] == ['clock', 'type'] and len(rows) == len(objects)
			assert len(set(head)) == len(head)
			# as the expression of a field that is called as another column
			head = [n.removeprefix('.') for n in head]
			seen = [n for o in objects for n in o['fields']]
			assert set(seen) <= set(head[2:])
			if sys.argv[1].startswith(('-k', '-e')):
			    assert set(seen) == set(head[2:]) or '-k' in sys.argv[1]
			    assert len(head) < 45, head
			for row, o in zip(rows, objects):
			    assert row[:2] == [str(o['clock']), o['type']]
			    cells = {n: c for n, c in zip(head[2:], row[2:]) if c}
			    want = {n: str(v).lower() if isinstance(v, bool) else str(v)
			            for n, v in o['fields'].items() if v != ''}
			    assert cells.keys() == want.keys(), (cells, want)
			    for n, c in cells.items():
			        assert c == want[n] or float(c) == float(want[n]), (n, c)
		END
	done
	telcat -H --csv=wide -e Intern mpsio.log | cmp - <(telcat --csv=wide \
	    -e Intern mpsio.log | tail -n +2)
	# the columns are known before the first event
	for option in -Fsize --types --split=size -fjson; do
		exits 2 telcat --csv=wide "$option" mpsio.log 2>err
		grep -q -- "--csv=wide cannot be combined with" err
	done
	exits 2 telcat --csv=narrow mpsio.log 2>err
	# fields that are called as the columns before them
	printf '%s\n' "# teltools text 1" "# type: a 1 K type:unsigned clock:unsigned" \
	    "0000000000000001 a type=2 clock=3" >own
	[ "$(telcat --csv=wide own | head -n 1)" = clock,type,.type,.clock ]
	[ "$(telcat -f csv -e a own | head -n 1)" = clock,type,.clock ]
	[ "$(telcat -f csv -T ns --tb-hz 1 -F clock,type own | head -n 1)" = \
	    time,type,clock,.type ]
	# too many names
	{
		echo "# teltools text 1"
		for ((i = 0; i < 1025; i++)); do
			echo "# type: T$i $i K f$i:unsigned"
		done
	} >many.txt
	exits 1 telcat --csv=wide many.txt 2>err
	cat err
	grep -q 'more than 1024 columns; select types' err
}

@test "columns of an archive, and of text, are those of each log in it" {
	printf '# teltools text 1\n# format: %s\n# type: %s\n%016X %s\n' \
	    p 'a 0 K x:unsigned:8 y:unsigned:8' 1 'a x=1 y=2' >p.txt
	printf '# teltools text 1\n# format: %s\n# type: %s\n%016X %s\n' \
	    q 'b 0 K z:unsigned:8 y:unsigned:8' 2 'b z=1 y=7' >q.txt
	printf '%s\n' clock,type,x,y,z 1,a,1,2, 2,b,,7,1 >want
	tar -cf logs.tar p.txt q.txt
	cat p.txt q.txt >both.txt
	telcat --csv=wide p.txt q.txt | diff want -
	telcat --csv=wide logs.tar | diff want -
	telcat --csv=wide --no-merge logs.tar | diff want -
	telcat --csv=wide both.txt | diff want -
	telcat --csv=wide -e b logs.tar >narrow
	[ "$(head -n 1 narrow)" = clock,type,z,y ]
	telcat -f arrow logs.tar >out
	python3 "$TEL_TOP/tests/cli/arrow_read.py" out >rows
	grep -q '"z": 1' rows
}

@test "CSV has a column for each field of a type" {
	telcat -f csv -e PoolAlloc mpsio.log >got
	[ "$(head -n 1 got)" = $'clock,pool,pReturn,size' ]
	[ "$(wc -l <got)" -eq 17 ]
	# also where several types have the name
	printf '%s\n' '# teltools text 1' '# format: p' '# type: A 0 K x:unsigned' \
	    '# type: A 1 K y:unsigned x:unsigned' '0000000000000001 A x=1' \
	    '0000000000000002 A y=2 x=3' >twice
	printf '%s\n' clock,x,y 1,1, 2,3,2 | diff - <(telcat -f csv -e A twice)
	hostile
	telcat -f csv -e Intern hostile.log >got
	python3 -c '
import csv
rows = list(csv.DictReader(open("got", newline="", encoding="latin-1")))
assert any("\x1b[31m\"\\\n\xff," in row["string"] for row in rows)'
}

@test "sqlite3 loads the SQL: one log, the same again, another" {
	unpack 1.118.0-lii6gc-amcss b.log
	telcat -f sql mpsio.log >sql
	sqlite3 log.db <sql
	count() { sqlite3 log.db "SELECT count(*), sum(size) FROM EVENT_PoolAlloc"; }
	[ "$(count)" = "16|1136" ]
	sqlite3 log.db <sql
	[ "$(count)" = "16|1136" ]
	telcat -f sql b.log | sqlite3 log.db
	[ "$(sqlite3 log.db 'SELECT count(*) FROM event_log')" -eq 2 ]
	[ "$(sqlite3 log.db "SELECT completed FROM event_log WHERE name = 'mpsio.log'")" -eq 144 ]
	[ "$(sqlite3 log.db "SELECT size FROM event_log WHERE name = 'mpsio.log'")" -eq \
	    "$(stat -c %s mpsio.log)" ]
	[ "$(sqlite3 log.db "SELECT modtime FROM event_log WHERE name = 'mpsio.log'")" -eq \
	    "$(stat -c %Y mpsio.log)" ]
	[ "$(sqlite3 log.db "SELECT count(*) FROM EVENT_PoolAlloc WHERE log_serial = 2")" -eq \
	    "$(telcat -H -e PoolAlloc b.log | wc -l)" ]
	[ "$(sqlite3 log.db 'SELECT string FROM EVENT_Intern ORDER BY time LIMIT 1')" = \
	    "$(telcat -H -S -e Intern b.log mpsio.log | LC_ALL=C sort |
		sed -n '1s/.*string="\(.*\)"/\1/p')" ]
	# two files in one run are two logs
	rm log.db
	telcat -f sql mpsio.log b.log | sqlite3 log.db
	[ "$(sqlite3 log.db 'SELECT count(*) FROM event_log')" -eq 2 ]
}

@test "a log of a release with other event types is loaded whole or not at all" {
	names=(1.118.0-lii6gc-poolncv 1.111.0-lii6gc-poolncv
	    1.112.0-lii6gc-poolncv 1.117.0-lii6gc-poolncv)
	for first in "${names[@]}"; do
		unpack "$first"
		rm -f first.db
		telcat -f sql mpsio.log | sqlite3 first.db
		sqlite3 first.db .dump >before
		for second in "${names[@]}"; do
			[ "$second" != "$first" ] || continue
			unpack "$second" b.log
			telcat -f sql b.log >sql
			cp first.db log.db
			if sqlite3 log.db <sql 2>messages; then
				[ "$(sqlite3 log.db 'SELECT completed FROM event_log WHERE serial = 2')" -eq \
				    "$(telcat -H b.log | wc -l)" ]
				[ ! -s messages ]
			else
				grep -q 'types of another release, which differ: nothing is loaded' messages
				sqlite3 log.db .dump | cmp - before
			fi
			cp first.db bail.db
			sqlite3 -bail bail.db <sql || sqlite3 bail.db .dump | cmp - before
		done
	done
	# releases that have the same types go together, in either order
	unpack 1.116.0-lii6gc-poolncv b.log
	telcat -f sql mpsio.log b.log | sqlite3 same.db
	telcat -f sql b.log mpsio.log | sqlite3 -bail same.db
	[ "$(sqlite3 same.db 'SELECT count(*) FROM event_log')" -eq 2 ]
}

@test "-o writes to a file, and replaces what is in it" {
	telcat mpsio.log >want
	printf 'x%.0s' {1..100000} >out
	telcat -o out mpsio.log
	cmp want out
	expect 1 'telcat: nowhere/out: No such file or directory' \
	    telcat -o nowhere/out mpsio.log
}

@test "an output that is an input is refused, and left as it is: exit 2" {
	cp mpsio.log copy
	ln mpsio.log other
	expect 2 'telcat: mpsio.log: the output would overwrite this input' \
	    telcat -o mpsio.log mpsio.log
	expect 2 'telcat: mpsio.log: the output would overwrite this input' \
	    telcat -o other copy mpsio.log
	expect 2 'telcat: standard input: the output would overwrite this input' \
	    telcat -o mpsio.log <mpsio.log
	run -2 bash -c 'telcat mpsio.log >>mpsio.log'
	cmp mpsio.log copy
}

@test "a full disk is reported: exit 1" {
	for format in text csv json sql mpscnv mpstxt perfetto chrome arrow; do
		run -1 --separate-stderr bash -c "telcat -f $format mpsio.log >/dev/full"
		[ "$stderr" = "telcat: standard output: No space left on device" ]
	done
	expect 1 'telcat: /dev/full: No space left on device' \
	    telcat -o /dev/full mpsio.log
	for option in --help --version --types -n0 -u; do
		run -1 --separate-stderr bash -c "telcat $option mpsio.log >/dev/full"
		[ "$stderr" = "telcat: standard output: No space left on device" ]
	done
	# no more than once, and nothing is read any more
	run -1 --separate-stderr bash -c 'telcat -u mpsio.log mpsio.log >/dev/full'
	[ "$stderr" = "telcat: standard output: No space left on device" ]
}

@test "an output that is closed is reported: exit 1" {
	run -1 --separate-stderr bash -c 'telcat mpsio.log >&-'
	[[ $stderr == 'telcat: standard output: '* ]]
	run -1 --separate-stderr bash -c 'telcat --help >&-'
	[[ $stderr == 'telcat: standard output: '* ]]
	# the log that is opened does not become standard error
	run -3 bash -c 'head -c 3001 mpsio.log >cut; telcat -H cut 2>&- >out'
	[ "$(wc -l <out)" -gt 20 ]
}

@test "nobody reads any more: the end, without a message" {
	zstd -dcq "$DATA/1.118.0-lii6gc-amcss.log.zst" >big.log
	run -0 --separate-stderr bash -c 'telcat big.log | head -n 1'
	[ "$output" = "# teltools text 1" ]
	[ -z "$stderr" ]
	run -0 --separate-stderr bash -c \
	    'trap "" PIPE; { telcat big.log; echo $? >status; } | head -n 1'
	[ -z "$stderr" ]
	[ "$(cat status)" -eq 1 ]
	run -0 --separate-stderr bash -c '{ telcat big.log; echo $? >status; } | head -n 1'
	[ "$(cat status)" -eq 141 ]
}

@test "text and JSON never hold a byte that steers a terminal" {
	hostile
	for format in text json; do
		telcat -f "$format" hostile.log >out
		grep -q '31m' out
		run ! env LC_ALL=C grep -q '[^ -~]' out
	done
	telcat -f csv hostile.log | tr -d '\r' >out
	run ! env LC_ALL=C grep -q '[^ -~]' out
}

@test "a name of an enum's value and a field have keys of their own in JSON" {
	cat >log <<-'END'
		# type: A 1 K x:enum:unsigned:8 x_label:boolean y:enum:unsigned:8
		0000000000000001 A x=7["seven"] x_label=true y=1["one"]
	END
	telcat -f json log | grep -qF \
	    '"fields":{"x":7,"x.label":"seven","x_label":true,"y":1,"y_label":"one"}'
}

@test "structs of one name in a context and in an event have keys of their own" {
	mkdir trace
	cat >trace/metadata <<-'END'
		/* CTF 1.8 */
		trace { major = 1; minor = 8; byte_order = le; };
		typealias integer { size = 8; } := u8;
		stream { event.context := struct { struct { u8 x; } s; u8 v; }; };
		event { name = "e"; fields := struct {
			struct { u8 y; } s; struct { struct { u8 b; } a; u8 c; } t; }; };
	END
	printf '\1\2\3\4\5' >trace/stream
	telcat -f json trace | grep -qF \
	    '"fields":{"s.x":1,"v":2,"s.y":3,"t":{"a":{"b":4},"c":5}}'
}

@test "on a terminal no format passes a control character on" {
	needs_terminal
	hostile
	for format in text csv json sql mpscnv mpstxt 'csv -e Intern'; do
		terminal "telcat --color=never -f $format hostile.log" | tr -d '\r' >out
		echo "$format"
		# SQL has it as hexadecimal digits
		[ "$format" = sql ] || grep -a -q '31m' out
		run ! env LC_ALL=C grep -a -q '[^ -~]' out
	done
}

@test "a terminal gets colour, unless NO_COLOR, TERM or --color say no" {
	needs_terminal
	terminal telcat -n 1 mpsio.log | grep -q $'\033'
	# shellcheck disable=SC2030
	(
		export NO_COLOR=1
		run ! grep -q $'\033' <(terminal telcat -n 1 mpsio.log)
		terminal telcat --color=always -n 1 mpsio.log | grep -q $'\033'
		export NO_COLOR=
		terminal telcat -n 1 mpsio.log | grep -q $'\033'
	)
	run ! grep -q $'\033' <(terminal TERM=dumb telcat -n 1 mpsio.log)
	run ! grep -q $'\033' <(terminal telcat --color=never -n 1 mpsio.log)
	telcat --color=always mpsio.log | sed 's/\x1b\[[0-9;]*m//g' |
	    cmp - <(telcat mpsio.log)
}

@test "the progress line leaves out what does not fit the terminal" {
	needs_terminal
	telcat mpsio.log >mpsio.txt
	for columns in 30 40 all 60 100; do
		# a line that is as long as the terminal is wide does not fit
		[ "$columns" != all ] || columns=$(wc -L <lines)
		run -0 timeout 60 script -qec \
		    "stty cols $columns; telcat --progress mpsio.log >out" /dev/null
		tr '\r' '\n' <<<"$output" | sed 's/\x1b\[[0-9]*K//g' |
		    grep '^telcat' >lines
		[ "$(wc -L <lines)" -lt "$columns" ]
		grep -q '100%, 0:00 left$' lines
		cmp out mpsio.txt
	done
	grep -qE '^telcat: [0-9.]+ MB, [0-9.]+ MB/s, [0-9.]+ M events/s, 100%' lines
}

@test "messages leave nothing of the progress line" {
	head -c 3001 mpsio.log >"cut"
	run -3 --separate-stderr telcat -H --progress cut
	[[ ${stderr_lines[0]} == 'telcat: cut: offset '* ]]
}

# Characters that turn the direction of text, in names and strings of a log.
@test "what turns the direction of text never reaches a terminal" {
	needs_terminal
	local rlo=$'\u202e' format
	{
		echo '# teltools text 1'
		echo "# type: Say 1 Kind size:unsigned text:string"
		printf '%s\n' '0000000000000001 Say size=1 text="a\xe2\x80\xaeb"'
	} >bidi.log
	telcat -q -f tel -o bidi.tel bidi.log
	# in a file, JSON has the character as it is
	telcat -q -f json bidi.log | grep -q "$rlo"
	for format in text csv json chrome sql; do
		run -0 timeout 60 script -qec "telcat -q -f $format bidi.tel" \
		    /dev/null
		[[ $output != *"$rlo"* ]] || { echo "$format"; false; }
	done
	for format in text csv json svg openmetrics; do
		run -0 timeout 60 script -qec \
		    "telstat -q -g text -f $format bidi.tel" /dev/null
		[[ $output != *"$rlo"* ]] || { echo "telstat $format"; false; }
	done
	run -0 timeout 60 script -qec "telcat -q -f json bidi.tel" /dev/null
	[[ $output == *'a\u202eb'* ]]
}

@test "clocks of any length are decimal numbers" {
	python3 - <<-'END'
		last = 10 ** 8 - 1
		clocks = sorted({c for n in (1, 2, 5, 2 ** 53 // 10 ** 8, 10 ** 11)
		                 for c in (n * 10 ** 8 + d for d in (-1, 0, 1, last))}
		                | {0, 7, 2 ** 53, 2 ** 53 + 1, 2 ** 63 - 1, 2 ** 63,
		                   2 ** 64 - 1})
		with open("log", "w") as log:
		    print("# teltools text 1\n# type: a 1 K x:unsigned", file=log)
		    for c in clocks:
		        print(f"{c:016x} a x={c}", file=log)
		form = {"csv": str, "json": lambda c: f'"{c}"' if c > 2 ** 53 else str(c),
		        "sql": lambda c: str(c - (c >> 63 << 64))}
		for name, of in form.items():
		    with open(name, "w") as want:
		        print("\n".join(map(of, clocks)), file=want)
	END
	clean telcat --no-header -f csv log | cut -d , -f 1 | diff csv -
	clean telcat -f json log | sed -n 's/.*"clock":\([^,]*\),.*/\1/p' |
	    diff json -
	clean telcat -f sql log | sed -n 's/^.*(-*[0-9]*,\(-*[0-9]*\),[0-9]*)[,);].*/\1/p' |
	    diff sql -
}
