#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Databases: what a script for sqlite3 makes, and telcat -f sqlite itself.

# "run --separate-stderr" sets stderr.
# shellcheck disable=SC2154

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	unpack 1.118.0-lii6gc-poolncv
}

# both LOG ...: a script makes the database script.db, telcat direct.db, and
# they are the same.
both() {
	exits '0|3' telcat -q -f sql "$@" >script
	sqlite3 -bail script.db <script
	exits '0|3' telcat -q -f sqlite -o direct.db "$@"
	sqlite3 script.db .dump | grep -av sqlite_sequence >want
	sqlite3 direct.db .dump | grep -av sqlite_sequence | diff want -
}

ask() {
	sqlite3 -bail "$@"
}

@test "-f sqlite writes the database that a script makes, of any log" {
	local log
	"$TEL_BUILD/tests/test_ets" --make \
	    "$TEL_TOP/tests/data/ets/good-boot.txt" boot.ets
	for log in $(printf '%s\n' "$DATA"/1.11[1458].0-*.log.zst | sample 4) \
	    "$TEL_TOP"/tests/data/hpm/v3be/HPM.[12].startup \
	    "$TEL_TOP"/tests/data/alloc/perl.heaptrack.zst \
	    "$TEL_TOP"/tests/data/inst/hfs.txt boot.ets; do
		echo "$log"
		rm -f ./*.db
		both "$log"
		[ "$(ask direct.db 'SELECT completed FROM event_log')" -gt 0 ]
	done
	# what is of no known type, and strings of any bytes
	rm -f ./*.db
	{
		head -c 3000 mpsio.log
		printf 'nonsense'
		tail -c +3001 mpsio.log
	} >bad.log
	both bad.log
	rm -f ./*.db
	# a float is the double that it is, as in expressions
	{
		printf '# teltools text 1\n# format: x\n# type: t 0 k f:double:32\n'
		printf '%016X t f=%s\n' 1 0.1 2 1.17549435e-38 3 inf 4 nan
	} >floats.text
	both floats.text
	[ "$(ask direct.db 'SELECT count(*) FROM EVENT_t WHERE f > 0.1')" = 2 ]
	rm -f ./*.db
	both "$TEL_TOP"/tests/data/mps/1.118.0-lii3gc-amcss.log.zst mpsio.log
	[ "$(ask direct.db 'SELECT count(*) FROM event_log')" -eq 2 ]
	# of no event, there are the tables that describe events
	rm -f ./*.db
	both -n 0 mpsio.log
	[ "$(ask direct.db 'SELECT count(*) FROM event_type, event_param')" = 0 ]
}

@test "events of unknown types, and rows longer than a buffer, are in the database" {
	# the last event has a code that no release has
	python3 - mpsio.log odd.log <<-'END'
		import struct, sys
		log = bytearray(open(sys.argv[1], "rb").read())
		places = [0]
		while places[-1] < len(log):
		    size = struct.unpack_from("<H", log, places[-1] + 2)[0]
		    places.append(places[-1] + size)
		struct.pack_into("<H", log, places[-2], 0x7f)
		open(sys.argv[2], "wb").write(log)
	END
	both odd.log
	[ "$(ask direct.db 'SELECT count(*) FROM EVENT_Unknown WHERE code = 127')" = 1 ]
	rm -f ./*.db
	long=$(printf '%050000d' 7)
	printf '%s\n' '# teltools text 1' '# type: a 1 K s:string t:string' \
	    "0000000000000001 a s=\"$long\" t=\"$long\"" >long.txt
	both long.txt
	[ "$(ask direct.db 'SELECT length(s) + length(t) FROM EVENT_a')" = 100000 ]
}

@test "events of all tables have one order, by their numbers" {
	local tables table query=
	telcat -f sqlite -o log.db mpsio.log
	tables=$(ask log.db "SELECT 'EVENT_'||name FROM event_type")
	for table in $tables; do
		query+=" UNION ALL SELECT event_number AS n, '${table#EVENT_}' AS t FROM $table"
	done
	ask log.db "SELECT t FROM (${query# UNION ALL }) ORDER BY n" >got
	telcat -H mpsio.log | cut -d ' ' -f 2 | diff - got
	# the numbers of another log go on
	unpack 1.118.0-lii6gc-amcss b.log
	telcat -f sqlite -o log.db b.log
	ask log.db "SELECT t FROM (${query# UNION ALL }) ORDER BY n" >got
	{
		telcat -H mpsio.log
		telcat -H b.log
	} | cut -d ' ' -f 2 | diff - got
}

@test "a database is added to, once by each log" {
	telcat -f sqlite -o log.db mpsio.log
	sqlite3 log.db .dump >before
	clean telcat -f sqlite -o log.db mpsio.log
	sqlite3 log.db .dump | cmp - before
	unpack 1.118.0-lii6gc-amcss b.log
	# of several files those that are new
	clean telcat -f sqlite -o log.db mpsio.log b.log
	[ "$(ask log.db 'SELECT name FROM event_log')" = $'mpsio.log\nb.log' ]
	telcat -f sql b.log mpsio.log | sqlite3 -bail log.db
	[ "$(ask log.db 'SELECT count(*) FROM event_log')" -eq 2 ]
	# shellcheck disable=SC2002 # a pipe on purpose
	cat mpsio.log | telcat -f sqlite -o log.db
	# shellcheck disable=SC2002
	cat mpsio.log | telcat -f sqlite -o log.db -
	[ "$(ask log.db "SELECT count(*) FROM event_log WHERE name = '-'")" -eq 2 ]
}

@test "a database has the size and the time of a file, but none of a merge" {
	unpack 1.118.0-lii6gc-amcss b.log
	for tool in telcat telfilter; do
		$tool -f sql mpsio.log | sqlite3 $tool.db
		[ "$(ask $tool.db 'SELECT size, modtime FROM event_log')" = \
		    "$(stat -c '%s|%Y' mpsio.log)" ]
	done
	telfilter -f sql mpsio.log b.log | sqlite3 merged.db
	[ "$(ask merged.db 'SELECT size, modtime FROM event_log')" = '0|0' ]
}

@test "a database that mpseventsql made is added to" {
	telcat -f sql mpsio.log | sed 's/, event_number INTEGER PRIMARY KEY//' |
	    sqlite3 old.db
	[ "$(ask old.db 'SELECT count(*) FROM EVENT_PoolAlloc')" -eq 16 ]
	run ! grep -q event_number <(sqlite3 old.db .schema)
	unpack 1.118.0-lii6gc-amcss b.log
	cp old.db other.db
	telcat -f sql b.log | sqlite3 -bail old.db
	telcat -f sqlite -o other.db b.log
	sqlite3 old.db .dump >want
	sqlite3 other.db .dump | diff want -
	[ "$(ask old.db 'SELECT count(*) FROM EVENT_PoolAlloc')" -eq \
	    $((16 + $(telcat -H -e PoolAlloc b.log | wc -l))) ]
}

@test "types of another release are refused, and nothing is changed" {
	telcat -f sqlite -o log.db mpsio.log
	sqlite3 log.db .dump >before
	unpack 1.111.0-lii6gc-poolncv old.log
	run -1 --separate-stderr telcat -f sqlite -o log.db old.log
	[ "$stderr" = "telcat: old.log: log.db: the database has event types of another release, which differ: nothing is loaded" ]
	sqlite3 log.db .dump | cmp - before
	# nor is anything loaded of the files beside it
	unpack 1.118.0-lii6gc-amcss b.log
	run -1 telcat -q -f sqlite -o log.db old.log b.log
	sqlite3 log.db .dump | cmp - before
	run -1 telcat -q -f sqlite -o log.db b.log old.log
	sqlite3 log.db .dump | cmp - before
	# and what was not there is not there then
	run -1 telcat -q -f sqlite -o new.db b.log old.log
	[ ! -e new.db ]
}

@test "a run that is killed leaves an empty database, which can be added to" {
	local tries=0 pid
	mkfifo pipe
	"$TEL_BUILD/bin/telcat" -q -f sqlite -o log.db pipe &
	pid=$!
	exec {to}>pipe
	# more than SQLite's cache: a part of it is in the file
	python3 -c '
print("# teltools text 1\n# type: a 1 K s:string")
for i in range(400):
    print("%016X a s=\"%s\"" % (i, "x" * 100000))' >&"$to"
	until [ -s log.db ]; do
		[ $((tries += 1)) -lt 600 ]
		sleep 0.1
	done
	kill -KILL $pid
	wait $pid || [ $? = 137 ]
	exec {to}>&-
	telcat -f sqlite -o log.db mpsio.log
	[ "$(ask log.db 'SELECT name FROM event_log')" = mpsio.log ]
	[ "$(ask log.db 'PRAGMA integrity_check')" = ok ]
}

@test "a file other than a database stays unchanged" {
	cp mpsio.log copy
	run -1 --separate-stderr telcat -f sqlite -o copy mpsio.log
	[[ $stderr == "telcat: mpsio.log: copy: file is not a database" ]]
	cmp copy mpsio.log
	run -1 --separate-stderr telcat -f sqlite -o none/log.db mpsio.log
	[[ $stderr == "telcat: mpsio.log: none/log.db: unable to open database file" ]]
	expect 2 'telcat: -f sqlite needs -o FILE' telcat -f sqlite mpsio.log
	expect 2 'telcat: -z cannot be combined with -f sqlite' \
	    telcat -f sqlite -z 3 -o x.db mpsio.log
	expect 2 'telcat: -F cannot be combined with -f sqlite' \
	    telcat -f sqlite -F size -o x.db mpsio.log
	[ ! -e x.db ]
}

@test "--index makes indexes on the columns named" {
	for format in sql sqlite; do
		rm -f log.db
		if [ $format = sql ]; then
			telcat -f sql --index pool --index time,size mpsio.log |
			    sqlite3 -bail log.db
		else
			telcat -f sqlite -o log.db --index pool,time \
			    --index size mpsio.log
		fi
		ask log.db 'EXPLAIN QUERY PLAN SELECT * FROM EVENT_PoolAlloc WHERE pool = 1' |
		    grep -q INDEX_PoolAlloc.pool
		ask log.db 'EXPLAIN QUERY PLAN SELECT * FROM EVENT_TraceStart WHERE time > 1' |
		    grep -q INDEX_TraceStart.time
		[ "$(ask log.db "SELECT count(*) FROM sqlite_master WHERE name GLOB '*.size'")" -gt 1 ]
	done
	# of several logs, one that has the column will do
	printf '%016d A n=1\n' 1 2 >n.text
	for files in 'n.text mpsio.log' 'mpsio.log n.text'; do
		rm -f log.db
		# shellcheck disable=SC2086
		telcat -f sqlite -o log.db --index n,pool $files
		[ "$(ask log.db "SELECT count(*) FROM sqlite_master
		    WHERE name = 'INDEX_A.n' OR name = 'INDEX_PoolAlloc.pool'")" = 2 ]
	done
	run -2 --separate-stderr telcat -f sqlite -o new.db --index bogus mpsio.log
	[ "$stderr" = "telcat: mpsio.log: no table has a column 'bogus'" ]
	[ ! -e new.db ]
	expect 2 'telcat: --index cannot be combined with -f csv' \
	    telcat -f csv --index pool mpsio.log
}

@test "a script has few statements, whatever the order of types" {
	# sort by address: types follow each other in any order
	zstd -dcq "$DATA/1.118.0-lii6gc-amcss.log.zst" >b.log
	[ "$(telcat -H b.log | wc -l)" -gt 1000 ]
	[ "$(telcat -f sql b.log | grep -c '^INSERT INTO "EVENT_')" -lt 120 ]
}

@test "a disk that is full is reported, and no database is left" {
	# shellcheck disable=SC2016
	run -1 --separate-stderr bash -c \
	    'ulimit -f 100; trap "" XFSZ; telcat -f sqlite -o full.db "$1"' \
	    bash "$DATA/1.118.0-lii6gc-amcss.log.zst"
	[[ $stderr == *"full.db: "* ]]
	[ ! -e full.db ]
}

@test "only -f sqlite loads SQLite's library, and says so where it is not there" {
	unpack 1.118.0-lii6gc-poolncv
	mkdir empty
	echo "no library" >empty/libsqlite3.so.0
	telcat mpsio.log >want
	libraries=empty${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	LD_LIBRARY_PATH=$libraries telcat mpsio.log | cmp - want
	LD_LIBRARY_PATH=$libraries run -1 --separate-stderr \
	    telcat -f sqlite -o log.db mpsio.log
	[[ $stderr == *"a database needs SQLite 3.20: "*libsqlite3* ]]
	[ ! -e log.db ]
}

@test "the tables of a release are those of its own mpseventsql" {
	zstd -dcq "$TEL_TOP/tests/data/mps/tables.psv.zst" >want
	for release in 1.111 1.112 1.113 1.114 1.115 1.116 1.117 1.118; do
		unpack "$release.0-lii6gc-poolncv"
		telcat -f sqlite -o "$release.db" mpsio.log
		for table in event_kind event_type event_param; do
			sqlite3 -header "$release.db" "SELECT '$release.0', * FROM $table ORDER BY 2,3,4" |
			    sed "1s/^.*0'/$table/"
		done
	done >got
	diff want got
	# which describe only the parameters of 1.118; all else is in event_doc
	for release in 1.111 1.117 1.118; do
		ask "$release.db" "SELECT count(*) FROM event_type LEFT JOIN event_doc ON type=code AND param_index=-1 WHERE ifnull(doc,'')=''" | grep -qx 0
		ask "$release.db" "SELECT count(*) FROM event_param AS p LEFT JOIN event_doc AS d USING (type,param_index) WHERE ifnull(d.doc,'')=''" | grep -qx 0
	done
	ask 1.118.db "SELECT count(*) FROM event_param AS p JOIN event_doc AS d USING (type,param_index) WHERE p.doc<>d.doc" | grep -qx 0
}

@test "values that mpseventsql loses are kept" {
	# as telcat(1) says: words, doubles, booleans and strings
	unpack 1.113.0-lii6gc-poolncv
	telcat -f sqlite -o log.db mpsio.log
	ask log.db "SELECT DISTINCT f3 FROM (SELECT isMutator AS f3 FROM EVENT_BufferInit UNION SELECT extendSelf FROM EVENT_PoolInitMFS)" |
	    sort >got
	run ! grep -qvx '[01]' got
	ask log.db "SELECT string FROM EVENT_Intern WHERE string LIKE '%product.mps%'" | grep -q '^@(#)Ravenbrook'
	telcat -H -f json mpsio.log | sed -n 's/.*"meanSquared":\([0-9.]*\).*/\1/p' | sort -n >want
	ask log.db "SELECT printf('%!.17g', meanSquared) FROM EVENT_MeterValues" | sort -n >got
	python3 -c 'import sys
a, b = ([float(x) for x in open(n)] for n in ("want", "got"))
sys.exit(a != b or not any(x != float("%.10G" % x) for x in b))'
	unpack 1.112.0-lii6gc-poolncv
	telcat -f sqlite -o words.db mpsio.log
	ask words.db "SELECT count(*) FROM EVENT_ArenaUseFreeZone WHERE zoneSet < 0" | grep -qvx 0
}

@test "JSON, CSV and databases have the same value of every field of every log" {
	ln -s "$TEL_TOP/tests/data" data
	# the limits of each data type
	cat >limits.txt <<-'END'
		# teltools text 1
		# format: toy-1
		# version: 1
		# type: All 1 A u:unsigned s:signed a:address p:pointer b:boolean d:double t:string z:set
		# type: None 2 A
		# type: Lists 9 C l:list:signed:16 o?:unsigned:16 q:list:boolean:8 s?:string t:list:string d?:double a?:address p?:pointer i?:signed b?:boolean z?:set
		# type: Same 3 B time:unsigned TIME:signed event_number:unsigned t:string
		0000000000000001 All u=18446744073709551615 s=-9223372036854775808 a=0xffffffffffffffff p=0x0 b=true d=1e300 t="a,\"b\"\n;'\r\xff é" z=0x8000000000000000
		0000000000000002 All u=9007199254740993 s=-9007199254740993 a=0x1 p=0x7fffffffffffffff b=false d=-0.1 t="" z=0x0
		FFFFFFFFFFFFFFFF All u=9007199254740992 s=-1 a=0x10 p=0x8000000000000000 b=true d=nan t="1" z=0xf
		0000000000000003 None
		0000000000000004 All u=9007199254740991 s=9223372036854775807 a=0x10 p=0x1 b=true d=inf t="0x10" z=0xf
		0000000000000004 All u=1 s=0 a=0x10 p=0x8 b=true d=-inf t="NULL" z=0xf
		0000000000000004 All u=1 s=0 a=0x10 p=0x8 b=true d=5e-324 t="\xc3" z=0xf
		0000000000000005 Same time=1 TIME=-2 event_number=3 t="x"
		0000000000000006 Lists l=[1,-32768] o=65535 q=[true,false] s="" t=["a","b c"] d=0.5 a=0x10 p=0x20["label"] i=-5 b=true z=0x0
		0000000000000007 Lists l=[] q=[false] t=[""]
		0000000000000008 Lists l=[-1] o=0 q=[] s="x" t=[] p=0xffffffffffffffff
	END
	# enums, the first and the last of the fields, some without a name
	mkdir enums
	cat >enums/metadata <<-'END'
		trace { major = 1; minor = 8; byte_order = le; };
		typealias integer { size = 8; } := b;
		stream { };
		event { name = e; fields := struct {
		    enum : b { red = 1, "g\"r" = 2, blue = 3 ... 5 } col; b n;
		    enum : b { on = 1 } sw; }; };
	END
	printf '\1\1\1\2\2\2\3\1\4\7\5\1' >enums/stream
	{
		printf '%s\n' data/alloc/* \
		    data/mps/*-{poolncv,finalcv,mpmss-object-only}.log.zst | sample 2
		printf '%s\n' limits.txt enums data/mps/1.1??.0-lii?gc-pools.dump.zst \
		    data/ets/boot.text data/hpm/v?be/HPM.[12].* data/inst/hfs.out \
		    data/{inst/cache,stat/classes}.inst
	} >logs
	xargs python3 "$TEL_TOP/tests/cli/values.py" <logs >got
	[ "$(grep -c '^[1-9]' got)" = "$(grep -c . got)" ]
	[ "$(grep -c . got)" -ge 30 ]
	for log in limits.txt enums; do
		rm -f ./*.db
		both "$log"
	done
}

@test "events of unknown types have their code and their bytes, in each format" {
	local bytes=0102030405060708ff00ff0011223344
	printf '%s\n' '# format: mps-1.118.0/lii6gc' \
	    '0000000000000001 Intern stringId=1 string="x"' \
	    "0000000000000002 0x01F4 bytes=$bytes" \
	    '0000000000000003 0x01F5 bytes=' \
	    '0000000000000004 0x01F4 bytes=aa00000000000000' >unknown.txt
	both unknown.txt
	[ "$(ask direct.db 'SELECT code, hex(bytes), time FROM EVENT_Unknown' |
	    xargs)" = "500|${bytes^^}|2 501||3 500|AA00000000000000|4" ]
	telcat -q -H unknown.txt | cmp - <(grep -v '^#' unknown.txt)
	telcat -q -f csv unknown.txt | sed '1,2d' | diff - <(cat <<-END
		2,Unknown,0x01F4,bytes=$bytes
		3,Unknown,0x01F5,bytes=
		4,Unknown,0x01F4,bytes=aa00000000000000
	END
	)
	telcat -q -f json unknown.txt | sed 1d | diff - <(cat <<-END
		{"clock":2,"type":"0x01F4","kind":"Unknown","code":500,"fields":{"bytes":"$bytes"}}
		{"clock":3,"type":"0x01F5","kind":"Unknown","code":501,"fields":{"bytes":""}}
		{"clock":4,"type":"0x01F4","kind":"Unknown","code":500,"fields":{"bytes":"aa00000000000000"}}
	END
	)
	telcat -q -f arrow unknown.txt >table
	python3 "$TEL_TOP/tests/cli/arrow_read.py" table | sed 1d | diff - <(cat <<-END
		{"clock": 2, "kind": "Unknown", "type": "0x01F4", "other": "bytes=$bytes"}
		{"clock": 3, "kind": "Unknown", "type": "0x01F5", "other": "bytes="}
		{"clock": 4, "kind": "Unknown", "type": "0x01F4", "other": "bytes=aa00000000000000"}
	END
	)
	telcat -q -f tel unknown.txt | telcat -q -H | cmp - <(grep -v '^#' unknown.txt)
}

@test "types whose names differ only in case have tables of their own" {
	cat >case.txt <<-'END'
		# teltools text 1
		# type: grab 1 A address:address size:unsigned
		# type: Grab 2 A x:unsigned
		# type: GRAB 7 A y:unsigned y_2:unsigned Y:string
		# type: grab_2 9 A z:unsigned
		# type: unknown 11 A q:unsigned
		0000000000000001 grab address=0x1000 size=1
		0000000000000002 Grab x=2
		0000000000000003 GRAB y=3 y_2=4 Y="abc"
		0000000000000004 grab_2 z=5
		0000000000000005 unknown q=6
	END
	both case.txt
	[ "$(ask direct.db 'SELECT address, size FROM EVENT_grab')" = "4096|1" ]
	[ "$(ask direct.db 'SELECT x FROM EVENT_Grab_3')" = 2 ]
	[ "$(ask direct.db 'SELECT y, y_2, Y_3 FROM EVENT_GRAB_4')" = "3|4|abc" ]
	[ "$(ask direct.db 'SELECT z FROM EVENT_grab_2')" = 5 ]
	[ "$(ask direct.db 'SELECT q FROM EVENT_unknown_2')" = 6 ]
	# the same schema again; a pipe is loaded whatever was loaded before
	telcat case.txt | telcat -f sqlite -o direct.db
	[ "$(ask direct.db 'SELECT group_concat(x) FROM EVENT_Grab_3')" = "2,2" ]
	# no other schema gets into these tables: fewer names, more, others
	for edit in '/ grab /d' '/ Grab /d' '2a # type: GRab 5 A a:unsigned' \
	    's/ grab / gRAB /'; do
		sed "$edit" case.txt >other.txt
		run -1 telcat -f sqlite -o direct.db other.txt
		[[ $output == *"of another release, which differ: nothing is loaded" ]]
		telcat -f sql other.txt >script
		run ! sqlite3 -bail direct.db <script
	done
	[ "$(ask direct.db 'SELECT count(*) FROM event_log')" = 2 ]
	# but one that lacks the last, or has one more at the end
	sed '/ GRAB /d' case.txt >fewer.txt
	telcat -f sqlite -o direct.db fewer.txt
	[ "$(ask direct.db 'SELECT group_concat(x) FROM EVENT_Grab_3')" = 2,2,2 ]
	rm direct.db
	telcat -f sqlite -o direct.db fewer.txt
	telcat -f sqlite -o direct.db case.txt
	[ "$(ask direct.db 'SELECT group_concat(x) FROM EVENT_Grab_3')" = 2,2 ]
	[ "$(ask direct.db 'SELECT y FROM EVENT_GRAB_4')" = 3 ]
	# nor one without the first, or whose new type has another's table
	rm -f ./*.db
	sed '/[gG]rab 2 /d; / GRAB /d; / Grab /d' case.txt >one.txt
	telcat -f sqlite -o direct.db one.txt
	sed '/ grab /d; / GRAB /d' case.txt >other.txt
	run -1 telcat -f sqlite -o direct.db other.txt
	rm -f ./*.db
	sed '/grab_2 /d' fewer.txt >one.txt
	sed 's/ GRAB 7 A y:unsigned y_2:unsigned Y:string/ grab_2 7 A x:unsigned/
	    s/ grab_2 9 / x 9 /; s/ GRAB .*/ grab_2 x=3/; s/grab_2 z/x z/' case.txt >other.txt
	telcat -f sqlite -o direct.db one.txt
	run -1 telcat -f sqlite -o direct.db other.txt
	# nor one whose type would have the table of a type that it lacks
	rm -f ./*.db
	sed 's/ z/ x/' fewer.txt >one.txt
	sed '/grab_2 /d' fewer.txt >other.txt
	telcat -f sqlite -o direct.db one.txt
	run -1 telcat -f sqlite -o direct.db other.txt
	rm -f ./*.db
	both --index x case.txt
}

@test "a log that finds types of one name later is a database, once" {
	python3 -c '
def line(i, rest):
    print("  app 100 [000] %.6f: sched:%s" % (1 + i / 1e5, rest))
for i in range(6000):
    line(i, "my_event: a=%d b=%d" % (i, i))
line(6000, "my_event: a=1 c=text")
line(6001, "my_other: a=1 c=text")' >trace
	# read in pieces, so that it has several schemas
	both trace
	[ "$(ask direct.db 'SELECT count(*) FROM EVENT_my_event')" = 6000 ]
	[ "$(ask direct.db 'SELECT a, c FROM EVENT_my_event_2')" = '1|text' ]
	telcat -f sqlite -o direct.db trace
	[ "$(ask direct.db 'SELECT count(*) FROM event_log')" = 1 ]
}

@test "no type's table or index has the name of another table" {
	cat >names.txt <<-'END'
		# teltools text 1
		# type: Type 1 A kind:address b_v:address
		# type: KIND 2 A v:address
		# type: param 3 A v:address
		# type: Doc 4 A v:address
		# type: log 5 A v:address
		# type: A 6 A b:address b_v:address
		# type: A_b 7 A v:address
		0000000000000001 Type kind=0x1 b_v=0x2
		0000000000000002 KIND v=0x3
		0000000000000003 param v=0x4
		0000000000000004 Doc v=0x5
		0000000000000005 log v=0x6
		0000000000000006 A b=0x7 b_v=0x8
		0000000000000007 A_b v=0x9
	END
	both --index b,v,b_v names.txt
	[ "$(ask direct.db 'SELECT kind, b_v FROM EVENT_Type_2')" = "1|2" ]
	[ "$(ask direct.db 'SELECT v FROM EVENT_log_2')" = 6 ]
	[ "$(ask direct.db "SELECT count(*) FROM sqlite_master WHERE name GLOB 'INDEX_*'")" = 8 ]
}

@test "a log none of whose types has a field" {
	printf '%s\n' '# type: A 1 K' '0000000000000001 A' >none.txt
	both none.txt
	[ "$(ask direct.db 'SELECT time FROM EVENT_A')" = 1 ]
	[ "$(ask direct.db 'SELECT count(*) FROM event_param')" = 0 ]
}

@test "a member of a struct and a field of its column have columns of their own" {
	mkdir trace
	cat >trace/metadata <<-'END'
		/* CTF 1.8 */
		trace { major = 1; minor = 8; byte_order = le; };
		typealias integer { size = 8; } := u8;
		event { name = "e"; id = 0; fields := struct {
			struct { u8 b; } a; u8 a_b; u8 a_b_2; struct { u8 B; } A; }; };
	END
	printf '\1\2\3\4' >trace/stream
	both trace
	[ "$(ask direct.db 'SELECT a_b, a_b_3, a_b_2, A_B_4 FROM EVENT_e')" = '1|2|3|4' ]
}

@test "names that differ only in case are numbered in no time" {
	python3 - >names.txt <<-'END'
		import itertools
		print("# teltools text 1")
		names = itertools.product(*zip("abcdefghi", "ABCDEFGHI"))
		names = ["".join(name) for name in names][:250]
		fields = " ".join(f"{name}:boolean" for name in names)
		for i in range(50):
		    print(f"# type: T{i} {i} K {fields}")
		values = " ".join(f"{name}=true" for name in names)
		print(f"{1:016X} T0 {values}")
	END
	run -0 timeout 5 telcat -q -f sql -o script names.txt
	sqlite3 -bail script.db <script
	[ "$(ask script.db 'SELECT abcdefghi, aBCDEFghI_250 FROM EVENT_T0')" = '1|1' ]
	python3 - >types.txt <<-'END'
		import itertools
		print("# teltools text 1")
		names = itertools.product(*zip("abcdefghijk", "ABCDEFGHIJK"))
		for i, name in enumerate(names):
		    print(f"# type: {''.join(name)} {i} K")
		print(f"{1:016X} ABCDEFGHIJK")
	END
	# the script grows with the types, not with their square
	run -0 timeout 5 telcat -q -f sql -o script types.txt
	[ "$(wc -c <script)" -lt 2000000 ]
	rm script.db
	sqlite3 -bail script.db <script
	[ "$(ask script.db 'SELECT count(*) FROM EVENT_ABCDEFGHIJK_2048')" = 1 ]
}

@test "the database of a small log is small" {
	telcat -f sqlite -o small.db mpsio.log
	[ "$(ask small.db 'PRAGMA page_size')" = 1024 ]
	# 98 tables, and a schema of 30 KB
	[ "$(wc -c <small.db)" -lt 200000 ]
	telfilter mpsio.log | telcat -f sqlite -o large.db
	[ "$(ask large.db 'PRAGMA page_size')" = 4096 ]
	both mpsio.log
}
