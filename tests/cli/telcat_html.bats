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
