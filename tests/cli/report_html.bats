#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# -f html of telstat, telstat diff and telreplay: the page has the objects of
# -f json.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	MPS=$TEL_TOP/tests/data/mps
	ALLOC=$TEL_TOP/tests/data/alloc
	LOG=$MPS/1.118.0-lii6gc-amcss.log.zst
	READ=$TEL_TOP/tests/page/read_page.py
}

# The page of a command has what the command prints as JSON.
compare() { # COMMAND [OPTION ...]: with {} for the format
	local command=("$@")
	"${command[@]/#{\}/html}" >page.html
	"${command[@]/#{\}/json}" >want.json
	[ -s want.json ]
	python3 "$READ" check page.html
	python3 "$READ" report page.html >got.json
	python3 - got.json want.json <<-'END'
		import json, sys
		got, want = [[json.loads(line) for line in open(name)]
		    for name in sys.argv[1:]]
		assert got == want
	END
}

@test "a page has all objects of the JSON of telstat" {
	compare telstat -f {} "$LOG"
	compare telstat -f {} --report -g kind -s 'h=log2(size)' \
	    -s 'now=mag(size)' -s 't=tally(size,8)' -s 'q=quantiles(size)' "$LOG"
	compare telstat -f {} -i 500us -s 'h=hist(size,0,1k,64)' "$LOG"
	compare telstat -f {} -i 500us --deltas -s 'h=log2(size)' "$LOG"
	compare telstat -f {} --stacks=allocated "$ALLOC"/gcc.heaptrack.zst
	compare telstat -q -f {} "$TEL_TOP"/tests/data/stat/classes.inst
	compare telstat diff -f {} --report -s 'h=log2(size)' \
	    "$ALLOC"/gcc.mtrace.zst "$ALLOC"/perl.mtrace.zst
}

@test "a page says which options of text its script follows" {
	compare telstat -f {} --zeros -s 'h=hist(size,0,1k,64)' "$LOG"
	grep -q '"count": 0}' got.json
	telstat -f html --raw --density --log "$LOG" >page.html
	python3 "$READ" head page.html >head.json
	for option in raw density log; do
		grep -q "^ \"$option\": true,$" head.json
	done
	telstat -f html "$LOG" >page.html
	python3 "$READ" head page.html >head.json
	run ! grep -q -e '^ "raw"' -e '^ "density"' -e '^ "log"' head.json
}

@test "a page has all objects of the JSON of telreplay" {
	compare telreplay -f {} --dry-run "$ALLOC"/perl.mtrace.zst
	telreplay -q --runs 1 -a bump,null -f html "$ALLOC"/perl.mtrace.zst \
	    >page.html
	python3 "$READ" check page.html
	python3 "$READ" report page.html >got.json
	[ "$(grep -c '"type": "cost", "allocator": ' got.json)" = 2 ]
}

@test "a report's page is named for its logs, and from standard input" {
	telstat -f html "$LOG" >page.html
	grep -q '<title>telstat: 1.118.0-lii6gc-amcss.log.zst</title>' page.html
	telstat diff -f html "$LOG" "$ALLOC"/gcc.mtrace.zst >page.html
	grep -q '<title>telstat: 1.118.0-lii6gc-amcss.log.zst, gcc.mtrace.zst</' \
	    page.html
	telreplay -f html --dry-run "$ALLOC"/gcc.mtrace.zst >page.html
	grep -q '<title>telreplay: gcc.mtrace.zst</title>' page.html
	zstd -dcq "$LOG" >'<b>&.log'
	telstat -f html '<b>&.log' >page.html
	grep -q '<title>telstat: &lt;b&gt;&amp;.log</title>' page.html
	telstat -f html <'<b>&.log' >page.html
	grep -q '<title>telstat</title>' page.html
}

@test "markup in a log reaches a report's page as data only" {
	printf '%s\n' '= Start' '@ </script><b>:[0x1] + 0x100 0x10' '= End' \
	    >hostile.mtrace
	telstat -f html --stacks hostile.mtrace >page.html
	python3 "$READ" check page.html
	python3 "$READ" report page.html >got.json
	grep -q '</script><b>' got.json
	run -1 grep -q '</script><b>' page.html
}

@test "of very many snapshots a page has some, and the last one" {
	telstat -q -f html -i 1us -s 'h=log2(size)' "$LOG" >page.html
	telstat -q -f json -i 1us -s 'h=log2(size)' "$LOG" >want.json
	python3 "$READ" head page.html >head.json
	python3 - <<-'END'
		import json
		head = json.load(open("head.json"))
		want = [json.loads(line) for line in open("want.json")]
		times = list(dict.fromkeys(row["t"] for row in want))
		each, got = head["each"], [r["t"] for r in head["reports"]]
		assert len(times) > 1000 and each > 1, (len(times), each)
		assert 256 <= len(got) <= 513, len(got)
		kept = times[::each]
		assert got == kept + times[-1:] * (kept[-1] != times[-1])
		for report in head["reports"]:
		    assert report["sections"] == \
		        [row for row in want if row["t"] == report["t"]]
	END
}

@test "a report's page is not written to a terminal" {
	needs_terminal
	run -2 script -qec "telstat -f html '$LOG'" /dev/null
	[[ $output == *'refusing to write '* ]]
	# before the replay
	run -2 script -qec \
	    "telreplay -a null -f html '$ALLOC/gcc.heaptrack.zst'" /dev/null
	[[ $output == *'refusing to write a page to a terminal'* ]]
}
