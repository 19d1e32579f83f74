#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# telcat --split: pieces that are logs, and make the whole again.

# "run --separate-stderr" sets stderr
# shellcheck disable=SC2154

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	unpack 1.118.0-lii6gc-poolncv
}

@test "pieces by size make the log again, with its labels" {
	unpack 1.118.0-lii6gc-awlut long.log
	telcat -q --split 64k -f tel -o 'part-%03d.tel' long.log
	[ -e part-001.tel ]
	telcat --file-order -H long.log >want
	telcat -q -H --file-order --no-merge part-*.tel | cmp want -
	# by itself, each has the labels that it shows, and the rate
	telcat -q --file-order -H part-001.tel | cmp - <(tail -n \
	    "$(telcat -q -H part-001.tel | wc -l)" want)
	telcat -q part-001.tel | grep -q '^# tick rate: '
	telcat -q -H part-001.tel | grep -q '\["'
	# what adds up events is the same
	telstat -f csv long.log | grep ,kind, | cut -d , -f 2- >want
	telstat -q -f csv part-*.tel | grep ,kind, | cut -d , -f 2- | cmp want -
	# of other formats
	telcat --split 500k -f csv -o 'part-%03d.csv' long.log
	{
		head -n 1 part-000.csv
		for piece in part-*.csv; do
			sed 1d "$piece"
		done
	} | cmp - <(telcat -f csv long.log)
	telcat --split 500k -f arrow -o 'part-%03d.arrow' long.log
	for piece in part-*.arrow; do
		python3 "$TEL_TOP/tests/cli/arrow_read.py" "$piece"
	done >rows
	[ "$(wc -l <rows)" -eq "$(telcat -H long.log | wc -l)" ]
}

@test "pieces by time and by a field make the log again" {
	telcat -S -H mpsio.log >want
	telcat -q -S --split 10us -f tel -o 'time-%d.tel' mpsio.log
	[ -e time-1.tel ]
	telcat -q -H time-*.tel | cmp want -
	# from the first event on
	{
		printf '%s\n' '# teltools text 1' '# tick rate: 1000000000'
		printf '%016X Run n=1\n' 9000 12000 20000
	} | telcat --split 10us -f text -o 'at-%d.txt'
	[ "$(grep -c ^0 at-0.txt)" = 2 ]
	# an event at the start of a step is in it, whatever the rate
	for rate in 1000000000 1000000 1000; do
		{
			printf '%s\n' '# teltools text 1' "# tick rate: $rate"
			seq 9000 9999 | awk '{ printf "%016X Run n=1\n", $1 }'
		} | telcat -H --split $((10000000000 / rate))ns -f text -o 'ten-%d.txt'
		for ((i = 0; i < 100; i++)); do
			[ "$(wc -l <ten-$i.txt)" = 10 ]
		done
	done
	telcat -q -S --split pool -f tel -z 1 -o 'pool-%02d.tel' mpsio.log
	[ -e pool-02.tel ]
	LC_ALL=C sort want >sorted
	telcat -q -H pool-*.tel | LC_ALL=C sort | cmp sorted -
	# each but the first, of events without a pool, has one pool
	[ "$(telcat -q -H -f csv -F pool pool-01.tel | cut -d , -f 3 |
	    sort -u | wc -l)" -eq 1 ]
	telcat -q -S --split pool -e PoolAlloc -f text -o 'pool-%018d.txt' mpsio.log
	[ -e pool-000000000000000001.txt ]
	cat pool-*.txt | grep -v '^#' | LC_ALL=C sort |
	    cmp <(telcat -S -H -e PoolAlloc mpsio.log | LC_ALL=C sort) -
	# as printf() has them
	for pattern in %d %00d %01d %010d %012d %018d; do
		telcat -n 1 --split 1M -f text -o "$pattern.one" mpsio.log
		# shellcheck disable=SC2059 # the format is what is tested
		[ -s "$(printf "$pattern" 0).one" ]
	done
	[ "$(find . -name '*.one' | wc -l)" -eq 4 ]
}

@test "pieces by process and thread: other names of the fields, and none" {
	# piece NUMBER CLOCK ...: it has these events.
	piece() {
		printf '%s\n' "${@:2}" |
		    diff - <(grep -v '^#' "piece-$1" | cut -c 16)
		rm "piece-$1"
	}
	printf '%s\n' '# teltools text 1' '# format: disks' \
	    '# type: A 1 K pid:unsigned' \
	    '# type: B 2 K process:unsigned tid:unsigned' '# type: C 3 K' \
	    '0000000000000001 A pid=0' '0000000000000002 C' \
	    '0000000000000003 B process=7 tid=0' '0000000000000004 A pid=7' \
	    '0000000000000005 C' >log
	telcat --split process -f text -o 'piece-%d' log
	piece 0 1
	piece 1 2 5
	piece 2 3 4
	telcat --split thread -f text -o 'piece-%d' log
	piece 0 1 2 4 5
	piece 1 3
	telcat --split pid -f text -o 'piece-%d' log
	piece 0 1
	piece 1 2 3 5
	piece 2 4
	[ "$(echo piece-*)" = 'piece-*' ]
}

@test "a pattern without one number, and formats without pieces, are refused" {
	for name in x %s.tel 'a%d%d' 'a%5d' 'a%' '%n' 'a%019d' 'a%099d' %%d; do
		expect 2 'telcat: --split: expected -o with a name that has one number*' \
		    telcat --split 1M -f tel -o "$name" mpsio.log
	done
	expect 2 'telcat: --split: expected -o *' telcat --split 1M mpsio.log
	for by in '' 0 -1s; do
		expect 2 "telcat: --split: '$by': expected a size*" \
		    telcat --split "$by" -o %d mpsio.log
	done
	for format in mps sql perfetto folded; do
		expect 2 "telcat: --split cannot be combined with -f $format" \
		    telcat --split 1M -f "$format" -o %d mpsio.log
	done
	expect 1 "telcat: --split: the field 'string' is a string" \
	    telcat -q --split string -f tel -o 'x%d' mpsio.log
	printf '# teltools text 1\n# type: T 1 K\n%s\n' \
	    '0000000000000001 T' >timeless.txt
	expect 1 'telcat: timeless.txt: the log does not record the rate of its clock; set --tb-hz' \
	    telcat --split 10us -f tel -o 'x%d' timeless.txt
	expect 1 'telcat: no/0: No such file or directory' \
	    telcat --split 1M -f tel -o 'no/%d' mpsio.log
	head -c 3001 mpsio.log >cut.log
	run -3 telcat -q --split 1M -f tel -o 'cut%d.tel' cut.log
	telcat -H cut0.tel | cmp - <(exits 3 telcat -q -H cut.log)
}

@test "a field has up to 256 values" {
	# values N: a log of so many.
	values() {
		printf '# teltools text 1\n# type: T 1 K x:unsigned\n'
		seq "$1" | awk '{ printf "%016X T x=%d\n", $1, $1 * 77 % 1009 }'
	}
	values 257 >many.txt
	expect 1 "telcat: --split: the field 'x' has more than 256 values" \
	    telcat --split x -f text -o 'piece-%d' many.txt
	# what failed leaves no files
	[ "$(echo piece-*)" = 'piece-*' ]
	values 256 >few.txt
	telcat --split x -f text -o 'piece-%d' few.txt
	[ "$(find . -name 'piece-*' | wc -l)" = 256 ]
}

@test "events that lack a field have a file of their own, and no list has one" {
	{
		printf '%s\n' '# teltools text 1' \
		    '# type: T 1 K x?:unsigned l:list:unsigned'
		printf '%016X T%s l=[]\n' 1 ' x=0' 2 '' 3 ' x=0' 4 ''
	} >lacks.txt
	telcat --split x -f text -o 'piece-%d' lacks.txt
	[ "$(grep -ch '^0' piece-0 piece-1 | tr '\n' ' ')" = '2 2 ' ]
	[ "$(grep -c x=0 piece-0)" = 2 ]
	expect 1 "telcat: --split: the field 'l' is a list" \
	    telcat --split l -f text -o 'list-%d' lacks.txt
}

@test "a field that no type has is an error, not one file" {
	unpack 1.118.0-lii6gc-poolncv
	expect 2 "telcat: mpsio.log: --split: no event type has a field '64X'" \
	    telcat --split 64X -f text -o 'none%d' mpsio.log
	[ ! -e none0 ]
}

# The disk has room for little.
in_2k() { # COMMAND ...
	ulimit -f 2
	"$@"
}

@test "a piece that cannot be written is a failure, and no file" {
	local format
	unpack 1.118.0-lii6gc-awlut long.log
	for format in text csv; do
		run -1 --separate-stderr in_2k telcat --split 64M -f "$format" \
		    -o 'part-%d' long.log
		[ "$stderr" = 'telcat: part-0: File too large' ]
		run ! ls part-*
	done
}
