#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# telcat -f html: the page, read as its script does by tests/page/read_page.py.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	MPS=$TEL_TOP/tests/data/mps
	READ=$TEL_TOP/tests/page/read_page.py
}

page() { # COMMAND PAGE
	python3 "$READ" "$@"
}

# The events in lines of JSON, sorted, without what a page does not have.
sorted() {
	python3 -c '
import json, sys
for line in sys.stdin:
    e = json.loads(line)
    print(json.dumps([e["type"], e["kind"], e["fields"], e.get("labels")]))
' | sort
}

# The events of a page are those of telcat's JSON.
compare() { # PAGE LOG ...
	page events "$1" | sorted >events.page
	shift
	telcat -q --live -f json "$@" | sorted >events.telcat
	[ -s events.telcat ]
	cmp events.page events.telcat
}

@test "a page has all events of a log, value by value" {
	local log
	for log in "$MPS"/1.118.0-lii6gc-awlut.log.zst \
	    "$MPS"/1.112.0-lii3gc-amcss.log.zst \
	    "$TEL_TOP"/tests/data/alloc/perl.heaptrack.zst \
	    "$TEL_TOP"/tests/data/hpm/v3be/HPM.1.startup \
	    "$TEL_TOP"/tests/data/stat/classes.inst; do
		echo "$log"
		telcat -q -f html "$log" >page.html
		page check page.html
		compare page.html "$log"
	done
}

@test "sums over time count what telstat counts" {
	telcat -q -f html "$MPS/1.118.0-lii6gc-awlut.log.zst" >page.html
	page counts page.html | awk '{ print $2, $3 }' | sort >page.counts
	telstat -q -f csv "$MPS/1.118.0-lii6gc-awlut.log.zst" |
	    awk -F, '$3 == "type" && $4 == "events" { print $7, $8 }' |
	    sort | cmp - page.counts
}

@test "a page is never larger than --max-size" {
	local size
	for _ in 1 2 3; do
		zstd -dcq "$MPS/1.118.0-lii6gc-awlut.log.zst"
	done >log
	for size in 131072 200000 262144 300001 1048576 8388608; do
		telcat -q -f html --max-size "$size" log >page.html
		echo "$size: $(wc -c <page.html)"
		[ "$(wc -c <page.html)" -le "$size" ]
		page check page.html
	done
}

@test "a page of no events" {
	telcat -q -f html -w 'size == 12345' -e PoolAlloc \
	    "$MPS/1.118.0-lii6gc-poolncv.log.zst" >page.html
	page check page.html
	page head page.html >head.json
	grep -q '"events": 0,' head.json
}

# A log of text with strings that a page must not take as its own.
hostile() {
	python3 - <<'END'
names = ["</script><script>alert(1)</script>", "<!--<script>", "&amp;<b>",
         "a\\xe2\\x80\\xaeb", "\\xff\\xfe\\x01", "]]>", "'\\\"", "x" * 250000]
print("# teltools text 1")
print("# type: Say 1 Kind size:unsigned text:string")
for i, name in enumerate(names):
    print(f'{i * 10:016X} Say size={i} text="{name}"')
END
}

@test "strings of a log are no part of the page's HTML" {
	hostile >'<b>&<script>.log'
	telcat -q -f html '<b>&<script>.log' >page.html
	page check page.html
	page events page.html >list
	grep -q '</script><script>alert(1)' list
	run ! grep -q 'alert(1)' page.html
	[ "$(wc -c <page.html)" -lt 300000 ]
}

@test "a page of a damaged log is whole" {
	zstd -dcq "$MPS/1.118.0-lii6gc-awlut.log.zst" >whole
	head -c 500001 whole >cut.log
	{
		head -c 300000 whole
		head -c 1000 /dev/zero | tr '\0' '\377'
		tail -c +300001 whole
	} >damaged.log
	exits 3 telcat -q -f html cut.log >page.html
	page check page.html
	exits 3 telcat -q -f html damaged.log >page.html
	page check page.html
}

@test "a page that cannot be written is an error, a pipe that ends is none" {
	zstd -dcq "$MPS/1.118.0-lii6gc-awlut.log.zst" >log
	if [ -e /dev/full ]; then
		run -1 telcat -q -f html -o /dev/full log
	fi
	exits '0 1' telcat -q -f html log | head -c 10 >got
	[ "$(wc -c <got)" = 10 ]
}

@test "logs without a clock, with jumps, and several at once" {
	telcat -q -f html "$TEL_TOP/tests/data/alloc/gcc.mtrace.zst" >page.html
	page check page.html
	page head page.html >head.json
	grep -q '"unit": "events"' head.json
	for clock in '0 0 0 0' '5 18446744073709551615 7 3' \
	    '18446744073709551615 0 9223372036854775808 1'; do
		{
			echo '# teltools text 1'
			echo '# type: Say 1 Kind size:unsigned'
			for at in $clock; do
				printf '%016X Say size=1\n' "$at"
			done
		} >text.log
		telcat -q -f html text.log >page.html
		page check page.html
		page events page.html >list
		[ "$(wc -l <list)" = 4 ]
	done
	telcat -q -f html text.log "$MPS/1.118.0-lii6gc-poolncv.log.zst" \
	    "$TEL_TOP/tests/data/alloc/perl.heaptrack.zst" >page.html
	page check page.html
	telcat -q --no-merge -f html text.log \
	    "$MPS/1.118.0-lii6gc-poolncv.log.zst" >page.html
	page check page.html
}

# Waits until a page has so many events; every page that is seen is whole.
await_events() { # PAGE COUNT
	local _
	for _ in {1..600}; do
		if [ -e "$1" ]; then
			page check "$1"
			page head "$1" >head.json
			if grep -q "\"events\": $2,\$" head.json; then
				return 0
			fi
		fi
		sleep 0.1
	done
	return 1
}

@test "--live replaces the page while the log grows" {
	{
		echo '# teltools text 1'
		echo '# type: Say 1 Kind size:unsigned'
	} >start
	mkfifo fifo
	telcat -q -f html --live=1 -o live.html --as text fifo 3>&- &
	local pid=$!
	exec 4>fifo
	cat start >&4
	for i in 1 2 3; do
		printf '%016X Say size=%d\n' "$i" "$i" >&4
	done
	await_events live.html 3
	grep -q '"live": 1,' head.json
	printf '%016X Say size=4\n' 9 >&4
	await_events live.html 4
	exec 4>&-
	wait "$pid"
	page head live.html >head.json
	grep -q '"live": 0,' head.json
	grep -q '"events": 4,' head.json
	[ "$(echo live.html*)" = live.html ]
}

@test "--live=SECONDS needs a page and a file" {
	run -2 telcat --live=5 -f csv -o x /dev/null
	run -2 telcat --live=5 -f html /dev/null
	run -2 telcat --live=0 -f html -o x /dev/null
}

@test "a page has each file of its script, whole" {
	telcat -f html "$MPS"/1.118.0-lii6gc-awlut.log.zst >page.html
	python3 - page.html "$TEL_TOP"/lib/print/page/*.js <<-'END'
		import sys
		page = open(sys.argv[1], encoding="utf-8").read()
		assert len(sys.argv) > 3
		for name in sys.argv[2:]:
		    assert open(name, encoding="utf-8").read() in page, name
	END
}
