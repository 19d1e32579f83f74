#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The forms of telstat's output, read by what others would read them with.

# a word may be a file name elsewhere
# shellcheck disable=SC2094

load lib

STATS=(-s 'sizes=split(size,0,16,128,4k,1k) if name == "PoolAlloc"'
	-s 'who=tally(name,4,size)' -s 'log=log2(size,1)'
	-s 'q=quantiles(size)' -s 'total=growth(size)' -s 'now=mag(size)'
	-s 'life=dur(PoolInit,PoolFinish,pool)'
	-s 'low=hist(size-100,-100,100,10)' -s 'high=hist(size,5000,60000,500)'
	-s 'none=hist(size,0,9,1) if false'
	--report)

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	unpack 1.118.0-lii6gc-poolncv
}

@test "csv and json hold the same numbers, and those of the log" {
	for options in '' '-g kind' '-i 100us --deltas'; do
		# shellcheck disable=SC2086 # several words
		telstat -f csv "${STATS[@]}" $options mpsio.log >csv
		# shellcheck disable=SC2086
		telstat -f json "${STATS[@]}" $options mpsio.log >json
		run ! grep -q $'\r' csv
		python3 - <<-'END'
			import csv, json
			names = "updates weight sum last min max under over keys overflow open orphan".split()
			rows, objects = {}, {}
			with open("csv", newline="", encoding="utf-8") as f:
			    reader = csv.reader(f)
			    head = next(reader)
			    assert head == "time class type stat lo hi key value group".split()
			    for row in reader:
			        assert len(row) == 9, row
			        r = dict(zip(head, row))
			        if not r["class"]:
			            continue
			        k = (r["time"], r["class"], r["group"])
			        if r["stat"] == "bucket":
			            rows.setdefault(k, {})[("b", r["lo"], r["hi"], r["key"])] = r["value"]
			        elif r["stat"] == "quantile":
			            rows.setdefault(k, {})["q", r["key"]] = r["lo"], r["hi"], r["value"]
			        elif r["stat"] in names:
			            rows.setdefault(k, {})[r["stat"]] = r["value"]
			last = None
			for line in open("json", encoding="utf-8"):
			    o = last = json.loads(line)
			    if o["type"] in ("totals", "kind", "event", "origin"):
			        continue
			    group = ",".join(f"{a}={b}" for a, b in o.get("group", {}).items())
			    d = objects.setdefault((str(o["t"]), o["name"], group), {})
			    for n in names:
			        if n in o:
			            d[n] = str(o[n])
			    for b in o.get("buckets", []):
			        key = ("b", str(b.get("lo", "")), str(b.get("hi", "")), str(b.get("key", "")))
			        d[key] = str(b["count"])
			    for q in o.get("quantiles", []):
			        d["q", f"p{100 * q['q']:g}"] = tuple(
			            str(q.get(n, "")) for n in ("at_least", "below", "at_most"))
			assert last["type"] == "totals", last
			assert rows == objects
			assert len(rows) >= 9
		END
	done
	python3 - <<-'END'
		import json
		total = sum(json.loads(line).get("events", 0) for line in open("json")
		            if '"type":"event"' in line)
		assert total == 144, total
	END
}

@test "integers that a double would spoil are strings in json" {
	telstat -f json -s 'big=mag(9007199254740993)' -n 1 mpsio.log >json
	python3 - <<-'END'
		import json
		o = json.loads(open("json").readline())
		assert o["last"] == "9007199254740993", o
		assert o["updates"] == 1, o
	END
	telstat -f csv -s 'big=growth(18446744073709551615)' mpsio.log |
	    grep -q 'big,growth,sum,,,,2656331146614175432560,'
}

@test "openmetrics keeps the rules of OpenMetrics 1.0" {
	check=$TEL_TOP/tests/cli/openmetrics.py
	telstat -f openmetrics mpsio.log |
	    python3 "$check" inst_log_events inst_type_events
	telstat -f openmetrics "${STATS[@]}" mpsio.log >om
	python3 "$check" inst_sizes_bytes inst_who inst_who_overflow inst_total_bytes \
	    inst_now_bytes inst_now_cumulative_bytes inst_life_seconds inst_life_open \
	    inst_low inst_none_bytes <om
	# a bucket's upper edge belongs to it; a sum needs values from 0 on
	grep -qx 'inst_sizes_bytes_bucket{class="sizes",le="15.0"} 1' om
	grep -qx 'inst_sizes_bytes_sum{class="sizes"} 1136' om
	run ! grep 'inst_low_\(sum\|count\)' om
	[ "$(tail -n 1 om)" = '# EOF' ]
	# labels of every kind of expression
	telstat -f openmetrics "${STATS[@]}" -g 'kind,size & 8,.size & 8,code / 3' \
	    mpsio.log >om
	python3 "$check" inst_sizes_bytes <om
	telstat -f openmetrics -s 'h=log2(size)' -g 'label(pool),size' -S \
	    --max-groups 3 mpsio.log >om
	python3 "$check" inst_h_bytes <om
	grep -q '="<overflow>"' om
}

@test "openmetrics counts hits of buckets where the side of the others is unknown" {
	printf '%016d %s\n' 0 'H inst 1 0 0 hz=1000' \
	    1 'C id=1 parent=0 type=hist lo=0 hi=10 w=5 name=h' \
	    2 'S c=1 n=5 ovf=2 b=0:2,1:1' 3 Z >outside.inst
	telstat -f openmetrics outside.inst >om
	python3 "$TEL_TOP/tests/cli/openmetrics.py" inst_h_hits inst_h_overflow <om
	grep '^inst_h_[ho]' om | diff - <(printf '%s\n' \
	    'inst_h_hits_total{class="h",lo="0",hi="5"} 2' \
	    'inst_h_hits_total{class="h",lo="5",hi="10"} 1' \
	    'inst_h_overflow_total{class="h"} 2')
}

@test "buckets of a weight that wraps around do not fall" {
	{
		printf '# teltools text 1\n# type: A 1 U x:unsigned w:unsigned\n'
		printf '%016X A x=%d w=%s\n' 1 5 18446744073709551615 \
		    2 15 18446744073709551615 3 100 7
	} >wrap.txt
	telstat -q -f openmetrics -s 'h=hist(x,0,20,10,w)' -s 'g=log2(x,0,w)' wrap.txt |
	    tee om | python3 "$TEL_TOP/tests/cli/openmetrics.py" inst_h inst_g
	[ "$(grep -c '"+Inf"} 36893488147419103237$' om)" = 2 ]
	telstat -q -f prometheus -s 'h=hist(x,0,20,10,w)' wrap.txt |
	    grep '^inst_h_count{.*} 36893488147419103237$'
}

@test "openmetrics has times in seconds, and says so" {
	life='PoolInit,PoolFinish,pool'
	telstat -f openmetrics -s "h=hist(dur($life),0,1ms,100us)" \
	    -s "d=dur($life)" -s "m=mag(dur($life))" -s "g=growth(dur($life))" \
	    mpsio.log >om
	python3 "$TEL_TOP/tests/cli/openmetrics.py" inst_h_seconds \
	    inst_d_seconds inst_m_seconds inst_m_min_seconds inst_g_seconds <om
	grep -qx '# UNIT inst_h_seconds seconds' om
	grep -qx 'inst_h_seconds_bucket{class="h",le="0.000199999"} 3' om
	grep -qx 'inst_h_seconds_sum{class="h"} 0.000879602' om
	grep -qx 'inst_m_min_seconds{class="m"} 0.000005516' om
	grep -qx 'inst_g_seconds_total{class="g"} 0.000879602' om
	# counts are in no unit
	run ! grep 'in ns' om
}

@test "openmetrics names families by their unit, and states it" {
	telstat -f openmetrics -s 'g=growth(size)' -s 'h=log2(size)' \
	    -s 'd=ticks(PoolInit,PoolFinish,pool)' -s 'n=growth(1)' mpsio.log >om
	python3 "$TEL_TOP/tests/cli/openmetrics.py" inst_g_bytes \
	    inst_g_increment_max_bytes inst_h_bytes inst_d_ticks inst_n <om
	grep -qx '# UNIT inst_g_bytes bytes' om
	grep -qx '# UNIT inst_h_bytes bytes' om
	grep -qx '# UNIT inst_d_ticks ticks' om
	run ! grep -E 'UNIT inst_(n|g_updates)|, in ' om
}

@test "frees of blocks from before the log leave no fewer than 0" {
	printf '%s\n' '# teltools text 1' '# format: mps-1.118.0/lii6gc' \
	    '0000000000000001 PoolFree pool=0x1 old=0x10 size=7429' >late
	telstat late >text
	grep -qE '^freed +0 blocks +0 bytes$' text
	grep -qE '^live +0 blocks +0 bytes$' text
	grep -qE '^unknown +1 blocks freed, but not allocated in the log$' text
}

@test "svg draws each class, and its axes have names and units" {
	telstat -f svg -s 'now=mag(size)' -s 'sum=magdelta(size)' \
	    -s 'grow=growth(size)' -s 'rat=ratio(size,1)' \
	    -s 'life=dur(PoolInit,PoolFinish,pool)' -s 'h=hist(size,0,9k,1k)' \
	    -s 'k=tally(name,9)' -s 'b=tally(name,9,size)' mpsio.log >svg
	python3 - <<-'END'
		import xml.etree.ElementTree as tree
		ns = "{http://www.w3.org/2000/svg}"
		titles = {"now": "now (bytes)", "sum": "sum (bytes)",
		          "grow": "grow: increment (bytes)", "rat": "rat",
		          "life": "life (time)", "h": "h (bytes); grey: outside",
		          "k": "updates", "b": "weight"}
		for g in tree.parse("svg").getroot().findall(ns + "g"):
		    name = g.find(ns + "title").text
		    assert any(e.get("class") == "bar" for e in g.iter(ns + "rect")), name
		    texts = [e.text for e in g.iter(ns + "text")]
		    assert titles.pop(name) in texts, (name, texts)
		    assert name != "h" or "updates" in texts
		    assert name != "now" or "current 32" in texts and "mean 6,019.6" in texts
		assert not titles, titles
	END
}

@test "names that would clash in openmetrics are made distinct" {
	clash=(-s 'a.b=log2(size)' -s 'a-b=growth(size)' -s 'A_b=mag(size)'
		-s 'a.b.min=mag(size)' -s 'log.events=tally(name,9)')
	telstat -f openmetrics "${clash[@]}" mpsio.log >om
	python3 "$TEL_TOP/tests/cli/openmetrics.py" inst_a_b_bytes \
	    inst_a_b_2_bytes inst_a_b_3_bytes <om
	run -1 --separate-stderr telstat -f openmetrics --strict "${clash[@]}" \
	    mpsio.log
	# shellcheck disable=SC2154
	[[ ${stderr_lines[0]} == "telstat: -f openmetrics: the name of 'a-b' "* ]]
}

@test "no statistic has the name of a family of another one" {
	local class family stats
	for class in 'mag(size)' 'mag(code)' 'magdelta(size)' 'growth(size)' 'ratio(size,code)' \
	    'tally(name,9)' 'sum(size)' 'var(size)' 'min(clock)' 'distinct(size)' \
	    'top(size,2)' 'top(code,2)' 'log2(size)' 'hist(clock,0,9,1)' \
	    'dur(PoolInit,PoolFinish)' 'hist(dur(PoolInit,PoolFinish),0,9,1)'; do
		stats=(-s "a=$class")
		for family in $(telstat -q -f openmetrics "${stats[@]}" mpsio.log |
		    sed -n 's/^# TYPE inst_\(a_[a-z_]*\) .*/\1/p'); do
			stats+=(-s "$family=$class")
		done
		echo "${stats[@]}"
		telstat -q -f openmetrics "${stats[@]}" mpsio.log |
		    python3 "$TEL_TOP/tests/cli/openmetrics.py"
	done
}

@test "svg is XML that needs nothing from elsewhere, in light and dark" {
	for options in '' '-g kind' '--density' '--log' '--zeros' '-n 0'; do
		# shellcheck disable=SC2086
		telstat -f svg "${STATS[@]}" $options mpsio.log >svg
		python3 - <<-'END'
			import re, xml.etree.ElementTree as tree
			root = tree.parse("svg").getroot()
			ns = "{http://www.w3.org/2000/svg}"
			assert root.tag == ns + "svg"
			height, width = float(root.get("height")), float(root.get("width"))
			for e in root.iter():
			    assert not any("href" in a for a in e.attrib), e.attrib
			    if e.tag == ns + "rect":
			        w, h = float(e.get("width")), float(e.get("height"))
			        assert w >= 0 and h >= 0, e.attrib
			        assert float(e.get("x", 0)) + w <= width + 1, e.attrib
			        assert float(e.get("y", 0)) + h <= height + 1, e.attrib
			for g in root.findall(ns + "g"):
			    assert g.get("role") == "img"
			    assert g.find(ns + "title").text and g.find(ns + "desc").text
			style = root.find(ns + "style").text
			assert "prefers-color-scheme:dark" in style
			assert "url(" not in style and "@import" not in style
		END
	done
}

@test "a log cannot write to the terminal, nor out of a form" {
	{
		echo '# teltools text 1'
		echo '# format: mps-1.118.0/lii6gc'
		# shellcheck disable=SC2028 # literal
		echo '0000000000000001 Intern stringId=1 string="\x1b[31m<&\"]]>\n,\xff=}\xc3\xa9"'
		echo '0000000000000002 Intern stringId=2 string="plain"'
	} >events
	for form in text csv json openmetrics svg inst; do
		clean telstat -f "$form" -s 'k=tally(string,9)' -g string \
		    events >"$form"
	done
	for form in text json openmetrics svg inst; do
		run ! grep $'\033' "$form"
	done
	grep -qF '\x1b[31m<&' text
	python3 - <<-'END'
		import csv, json, xml.etree.ElementTree as tree
		with open("csv", newline="", encoding="latin-1") as f:
		    rows = list(csv.reader(f))
		assert all(len(r) == 9 for r in rows)
		keys = [r[6] for r in rows if r[3] == "bucket"]
		assert '\x1b[31m<&"]]>\n,\xff=}\xc3\xa9' in keys, keys
		keys = [b["key"] for line in open("json", encoding="utf-8")
		        for b in json.loads(line).get("buckets", [])]
		assert '\x1b[31m<&"]]>\n,\xff=}\xe9' in keys, keys
		tree.parse("svg")
	END
	python3 "$TEL_TOP/tests/cli/openmetrics.py" inst_k <openmetrics
	# statistics of a name that is hostile
	sed 's/name="k"/name="\\u001b[2Jk<"/' inst >hostile
	cmp -s inst hostile || for form in text openmetrics svg json; do
		telstat -f "$form" hostile >out
		run ! grep $'\033' out
	done
}

# Frames and pools are lines of the report, not cells of a table.
@test "frames, and the labels of pools, cannot write to the terminal" {
	local evil='\x1b[31m\xc2\x9b2J\ny' options
	printf 'a 1 1.000001: 500 cycles: \n\tffff0010 b%bx+0x1 (a)\n\n' \
	    '\x1b[31m\xc2\x9b2J' >stack
	telcat mpsio.log | sed "s/\"Control\"/\"${evil//\\/\\\\}\"/" >pool
	sed 's/b//' stack >other
	for options in stack '--stacks stack' 'diff --stacks stack other' pool; do
		# shellcheck disable=SC2086 # words
		telstat $options >out
		grep -qF '[31m\xc2\x9b2J' out
		run ! env LC_ALL=C grep '[^ -~]' out
		if has_terminal; then
			TERM=dumb run -0 script -qec "telstat $options" /dev/null
			tr -d '\r' <<<"$output" | cmp - out
		fi
	done
	# and the label's second line is none of the report
	grep -qF 'MVFF \x1b[31m\xc2\x9b2J\x0ay' out
}

@test "count, sum, mean, min, max and var, in every form, as whole and parts" {
	specs=(-s 'n=count()' -s 'k=count(size) if kind == Object'
	    -s 's=sum(size)' -s 'm=mean(size)' -s 'lo=min(size)' -s 'hi=max(size)'
	    -s 'v=var(size)' -s 'r=sum(real(size/3.0,2))' -s 'd=max(dur())'
	    -s 'neg=max(-1*size)' -s 'none=min(size) if false')
	telstat -f csv "${specs[@]}" mpsio.log | tr -d '\r' >got
	for row in 'n,count,updates,,,,144,' 'k,count,updates,,,,27,' \
	    's,sum,sum,,,,198648,' 'm,mean,mean,,,,6019.636363636364,' \
	    'lo,min,min,,,,8,' 'hi,max,max,,,,65536,' 'r,sum,sum,,,,66216.01,' \
	    'v,var,variance,,,,271863796.71625346,' 'neg,max,max,,,,-8,'; do
		grep -q ",$row\$" got
	done
	run ! grep ',none,min,min,\|,lo,min,max,\|,hi,max,min,' got
	for form in text csv json openmetrics svg inst; do
		telstat -f "$form" "${specs[@]}" mpsio.log >want
		telstat -f inst "${specs[@]}" mpsio.log >part
		telstat -f "$form" part | cmp want -
	done
	telstat part part >twice
	grep -q '^  updates 66  min 8$' twice
	grep -q '^  updates 66  max -8$' twice
	telstat -f openmetrics "${specs[@]}" -g kind mpsio.log |
	    python3 "$TEL_TOP/tests/cli/openmetrics.py" inst_s_cumulative_bytes \
	        inst_lo_min_bytes inst_n_updates
	[ "$(telstat -s 'n=count( ) if name == PoolAlloc' mpsio.log |
	    grep updates)" = '  updates 16' ]
	run -2 telstat -s 'n=sum()' mpsio.log
	run -2 telstat -s 'n=count(size,2)' mpsio.log
}

@test "-f arrow is the table of csv" {
	local options
	for options in '' '-g kind' '-i 100us --deltas' '--stacks'; do
		# shellcheck disable=SC2086 # several words
		telstat -q -f csv "${STATS[@]}" $options mpsio.log >csv
		# shellcheck disable=SC2086
		telstat -q -f arrow "${STATS[@]}" $options mpsio.log >stream
		# shellcheck disable=SC2086
		telstat -q -f arrow -z 3 -o file.arrow "${STATS[@]}" $options \
		    mpsio.log
		python3 - "$TEL_TOP/tests/cli" <<-'END'
			import csv, sys
			sys.path.insert(0, sys.argv[1])
			import arrow_read
			def number(text):
			    try:
			        return float(text)
			    except ValueError:
			        return None
			with open("csv", newline="", encoding="utf-8") as f:
			    want = list(csv.DictReader(f))
			for name in "stream", "file.arrow":
			    with open(name, "rb") as f:
			        r = arrow_read.Reader(f.read())
			    assert r.is_file == (name == "file.arrow")
			    names = [f.name for f in r.fields]
			    assert names == list(want[0]) + ["number"]
			    rows = [dict(zip(names, row)) for row in r.rows()]
			    assert len(rows) == len(want) > 10
			    for a, b in zip(rows, want):
			        assert a["number"] == number(b["value"]), (a, b)
			        for c in b:
			            if c in ("lo", "hi"):
			                assert a[c] == number(b[c]), (a, b)
			            else:
			                have = "" if a[c] is None else str(a[c])
			                assert have == b[c], (a, b)
		END
	done
	run -1 bash -c 'telstat -f arrow mpsio.log >/dev/full'
	if has_terminal; then
		run -2 script -qec 'telstat -f arrow mpsio.log' /dev/null
	fi
}

# In an SVG: numbers of charts and curves, their points, and texts that are
# within the page, by a width of characters that is at least that of fonts.
svg_check() {
	python3 "$TEL_TOP/tests/cli/svg.py" "$@"
}

@test "svg with -i draws curves over time" {
	telstat -f svg -i 20us --report --rate -s 'now=mag(size)' \
	    -s 'gr=growth(size)' -s 'q=quantiles(size)' mpsio.log >svg
	snapshots=$(telstat -f json -i 20us -s 'g=growth(size)' mpsio.log |
		grep -c '"name":"g"')
	((snapshots > 2))
	svg_check svg 'Events over time' 1 "$snapshots" \
	    'Live bytes over time' 1 '*' 'now over time' 1 '*' \
	    'now: rate over time' 1 '*' 'gr over time' 1 '*' \
	    'q over time' 3 '*' 'q: distribution' 1 '*'
	grep -q '>time since the first event<' svg
	grep -q '>total (bytes)<' svg
	grep -q '>bytes/s<' svg
	# each interval by itself: nothing of what there is at the end
	telstat -f svg -i 20us --deltas -s 'gr=growth(size)' \
	    -s 'h=log2(size)' mpsio.log >svg
	svg_check svg 'gr over time' 1 '*' 'h over time' 3 '*'
	run ! grep -q '<title>h</title>' svg
	# numbers below 0, and of more digits than a mark has otherwise
	printf '%s\n' '# teltools text 1' '# tick rate: 1000000000' \
	    '# type: a 1 K x:signed' '0000000000000000 a x=-20' \
	    '00000000000003E8 a x=0' '00000000000007D0 a x=20' |
	    telstat -f svg -i 1us --deltas -s 'r=ratio(x,2000)' |
	    grep -o '>-*[0-9.]*<' | head -n 5 | paste -sd ' ' >marks
	[ "$(<marks)" = '>-0.01< >-0.005< >0< >0.005< >0.01<' ]
}

@test "svg with -i has a curve for each group, and at most 1,024 points" {
	telstat -f svg -i 20us -g pool -s 'gr=growth(size)' -w 'has(pool)' \
	    mpsio.log >svg
	groups=$(telstat -f json -g pool -s 'gr=growth(size)' -w 'has(pool)' \
	    mpsio.log | grep -c '"name":"gr"')
	((groups > 1 && groups <= 16))
	svg_check svg 'gr over time' "$groups" '*'
	telstat -f svg -i 1ticks -s 'gr=growth(size)' -n 200 mpsio.log >svg
	svg_check svg 'gr over time' 1 '*'
	python3 - <<-'END' >long
		print("# teltools text 1\n# format: mps-1.118.0/lii6gc")
		for i in range(5000):
		    print(f"{i * 16 + 1:016X} PoolAlloc pool=0x1 pReturn=0x10 size={i}")
	END
	telstat -f svg -i 16ticks -s 'gr=growth(size)' long >svg
	svg_check svg 'gr over time' 1 '<=1024'
	# the last point is the total: 4,999 * 5,000 / 2
	grep -q '12 MiB' svg || grep -q '10 MiB' svg
	# what is always 0 has a scale
	telstat -f svg -i 16ticks -s 'n=sum(size * 0)' long >svg
	[ "$(grep -o '"end"[^>]*>[^<]*' svg | sed 's/.*>//' | paste -sd ' ')" = \
	    '0 0.2 0.4 0.6 0.8 1' ]
	# what grows evenly is a straight line, from the first step to the last
	telstat -f svg -i 16ticks -s 'n=growth(1)' long >svg
	python3 - <<-'END'
		import re
		path, = re.findall(r'class="curve c0" d="M([^"]*)"', open("svg").read())
		points = [tuple(map(float, p.split())) for p in
		          re.sub(r"h[-0-9.]*", "", path).split("L")]
		(x0, y0), (x1, y1) = points[0], points[-1]
		assert len(points) > 500, len(points)
		for x, y in points:
		    assert abs(y0 + (x - x0) / (x1 - x0) * (y1 - y0) - y) < 0.3, (x, y)
	END
}

@test "svg with -i draws the number that each class is about" {
	telstat -f svg -i 100us -s 'n=count()' -s 's=sum(size)' \
	    -s 'e=mean(size)' -s 'lo=min(size)' -s 'hi=max(size)' \
	    -s 'v=var(size)' -s 'r=ratio(size,2)' -s 't=tally(name,9)' \
	    mpsio.log >svg
	svg_check svg 'n over time' 1 '*' 's over time' 1 '*' \
	    'e over time' 1 '*' 'lo over time' 1 '*' 'hi over time' 1 '*' \
	    'v over time' 1 '*' 'r over time' 1 '*' 't over time' 1 '*'
	for title in count 'total (bytes)' 'mean (bytes)' 'minimum (bytes)' \
	    'maximum (bytes)' 'standard deviation (bytes)' ratio; do
		grep -qF ">$title<" svg
	done
	# each has points: a line to somewhere, but for what is empty
	[ "$(grep -c '<path class="curve c0" d="M[^"]*L' svg)" -eq 8 ]
	# a chart with one curve has no legend
	run ! grep -q '<path class="curve c0" d="M96 [0-9.]*h26"' svg
	telstat -f svg -i 100us -g kind -s 'n=count()' mpsio.log >svg
	grep -q '<path class="curve c0" d="M96 [0-9.]*h26"' svg
}

@test "svg draws groups of a number as bars of one chart, the largest first" {
	unpack 1.118.0-lii3gc-amcss
	while read -r spec figure; do
		telstat -f svg -g kind -s "x=$spec" -w 'has(size)' mpsio.log >svg
		telstat -f csv -g kind -s "x=$spec" -w 'has(size)' mpsio.log >csv
		[ "$(grep -c '<title>x</title>' svg)" = 1 ]
		python3 - "$figure" <<-'END'
			import csv, sys, xml.etree.ElementTree as tree
			groups = {row["group"] for row in csv.DictReader(open("csv")) if row["group"]}
			root = tree.parse("svg").getroot()
			bars = [float(e.get("width")) for e in root.iter() if e.get("class") == "bar"]
			assert len(bars) == len(groups) > 1, (bars, groups)
			assert bars == sorted(bars, reverse=True), bars
			texts = [e.text for e in root.iter() if e.text]
			assert groups <= set(texts), (groups, texts)
			assert sys.argv[1] in texts, (sys.argv, texts)
		END
	done <<-'END'
		count() count
		sum(size) total (bytes)
		mean(size) mean (bytes)
		min(size) minimum (bytes)
		max(size) maximum (bytes)
		var(size) standard deviation (bytes)
		ratio(size,1) ratio
	END
	telstat -f svg --top 2 -g kind -s 'x=count()' mpsio.log >svg
	[ "$(grep -c 'class="bar"' svg)" = 2 ]
	grep -q '2 of 7 groups' svg
}

@test "svg draws groups on one scale, the largest first" {
	telstat -f svg -g kind -s 'h=log2(size)' -s 'now=mag(size)' mpsio.log >svg
	python3 - <<-'END'
		import re, xml.etree.ElementTree as tree
		ns = "{http://www.w3.org/2000/svg}"
		axes, updates = {}, {}
		for g in tree.parse("svg").getroot().findall(ns + "g"):
		    name = g.find(ns + "title").text.split("{")[0]
		    texts = [e.text for e in g.iter(ns + "text")]
		    marks = [t for t in texts if re.fullmatch(r"[\d.,]+( KiB| MiB)?", t)]
		    axes.setdefault(name, set()).add(tuple(marks))
		    n = next(re.match(r"updates ([\d,]+)", t) for t in texts
		             if t.startswith("updates "))
		    updates.setdefault(name, []).append(int(n[1].replace(",", "")))
		assert set(axes) == {"h", "now"}, axes
		for name in axes:
		    assert len(axes[name]) == 1, axes[name]
		    assert len(updates[name]) > 1
		    assert updates[name] == sorted(updates[name], reverse=True)
	END
}

@test "svg draws quantiles as a distribution function that rises to 1" {
	telstat -f svg -g kind -s 'q=quantiles(size)' mpsio.log >svg
	python3 - <<-'END'
		import re, xml.etree.ElementTree as tree
		ns = "{http://www.w3.org/2000/svg}"
		(g,) = tree.parse("svg").getroot().findall(ns + "g")
		texts = [e.text for e in g.iter(ns + "text")]
		assert "0%" in texts and "100%" in texts, texts
		curves = [p for p in g.iter(ns + "path") if p.find(ns + "title") is not None]
		assert len(curves) > 1
		for p in curves:
		    points = [tuple(map(float, q.split())) for q in re.findall(r"[\d.]+ [\d.]+", p.get("d"))]
		    assert [x for x, _ in points] == sorted(x for x, _ in points)
		    assert [y for _, y in points] == sorted((y for _, y in points), reverse=True)
		ends = {(re.match(r"M([\d.]+ [\d.]+)", p.get("d"))[1],
		         p.get("d").rsplit("L", 1)[1]) for p in curves}
		assert len(ends) == 1, ends
	END
}

@test "svg shows a quantile of the last bucket as at least, as text does" {
	printf '%s\n' '# teltools text 1' '# type: a 1 K x:unsigned' \
	    '0000000000000001 a x=1' \
	    '0000000000000002 a x=18446744073709551615' >far.text
	telstat -q -s 'q=quantiles(x)' far.text >text
	grep -q 'p50 <= 1  p75 >= 9187343239835811840  p90 >= ' text
	telstat -q -f svg -s 'q=quantiles(x)' far.text >svg
	grep -q 'updates, p50 ≤ 1, p90 ≥ 9187343239835811840, p99 ≥ ' svg
}

@test "svg marks bytes by powers of 2, and other numbers by powers of 10" {
	python3 - <<-'END' >wide
		print("# teltools text 1\n# format: mps-1.118.0/lii6gc")
		for i in range(40):
		    print(f"{i + 1:016X} Intern stringId={3 ** (i % 20)} string=\"a\"")
	END
	telstat -f svg -s 'h=log2(stringId)' -s 'q=quantiles(stringId)' wide >svg
	grep -q '>100,000\(,000\)*<\|>1000000*<' svg
	run ! grep -E '>(1024|65536|[0-9]+ [KMG]iB)<' svg
	telstat -f svg -s 'h=log2(size)' -s 'q=quantiles(size)' mpsio.log >svg
	grep -qE '>(4|16|64) KiB<' svg
}

@test "svg has one unit on each axis, and no room below 0 for sizes" {
	printf '%s\n' 4096 3 3 1 'a 0 1000000' 'a 1 1000000' 'a 2 700000' >rep
	telstat -f svg -i 1ticks rep >svg
	for mark in 0 '0.5 MiB' '1 MiB' '1.5 MiB' '2 MiB' '2.5 MiB'; do
		grep -q ">$mark<" svg
	done
	run ! grep 'KiB<' svg
	telstat -f svg -s 'h=hist(size,0,4M,4M)' rep >svg
	grep -q '>2 MiB<' svg
	run ! grep '>-' svg
}

@test "svg cuts nothing that is long, and stays within the page" {
	long=a_name_that_goes_on_and_on
	for _ in 1 2; do long=${long}_${long}; done
	text=$(printf 'WWWW mmmm;%.0s' 1 2 3 4 5 6 7 8 9)
	{
		printf '%s\n' '# teltools text 1' '# format: mps-1.118.0/lii6gc'
		for i in 1 2 3; do
			echo "000000000000000$i Intern stringId=$i string=\"$i $text\""
		done
	} >wide
	telstat -f svg -g string -s "$long=log2(stringId)" \
	    -s 'k=tally(string,9)' -s 'q=quantiles(stringId)' wide >svg
	run ! grep $'\xe2\x80\xa6' svg
	svg_check svg
	telstat -f svg -i 1ticks -g string -s "$long=growth(stringId)" wide >svg
	run ! grep $'\xe2\x80\xa6' svg
	svg_check svg "$(printf '%s over time' "$long")" 3 '*'
	telstat -f svg "${STATS[@]}" mpsio.log >svg
	svg_check svg
	telreplay --dry-run -f svg mpsio.log >svg
	svg_check svg
}

@test "a field has its unit, and durations have theirs" {
	jfr=$TEL_TOP/tests/data/jfr/g1-17.jfr.zst
	mps=$TEL_TOP/tests/data/mps/1.118.0-lii6gc-awlut.log.zst
	clean telstat -s 'q=quantiles(sumOfPauses)' -s 'd=max(duration)' \
	    -s 'b=max(heapUsed)' -s 'c=sum(gcId)' -s 'm=max(duration * 2)' \
	    "$jfr" >got
	grep -q '^q  (quantiles)  ns$' got
	grep -q 'p50 <= 15.925247 ms ' got
	grep -q '^d  (max)  ns$' got
	grep -q '^b  (max)  bytes$' got
	grep -q '^c  (sum)$' got
	grep -q '^m  (max)$' got
	# a duration that is no field; what a log lacks has no unit
	clean telstat -s 'l=max(duration) if frees' -s 's=max(start.size) if frees' \
	    -s 'c=max(condemned)' "$mps" >got
	grep -q '^l  (max)  ns$' got
	grep -q '^s  (max)  bytes$' got
	grep -q '^c  (max)  bytes$' got
	# whichever log has the field, on any number of threads, in parts
	for logs in "$jfr $mps" "$mps $jfr"; do
		for jobs in 1 2; do
			# shellcheck disable=SC2086
			clean telstat -j $jobs -s 'b=sum(heapUsed)' $logs >got
			grep -q '^b  (sum)  bytes$' got
			grep -q 'updates 20  total 594,382,688 (566.8 MiB)' got
		done
	done
	clean telstat -f inst -o one -s 'b=sum(field("heapUsed"))' "$jfr"
	clean telstat -f inst -o two -s 'b=sum(field("heapUsed"))' "$mps"
	clean telstat two one | grep -q '^b  (sum)  bytes$'
	clean telstat one two | grep -q '^b  (sum)  bytes$'
	clean telstat -f openmetrics -s 'pause=sum(sumOfPauses)' "$jfr" |
	    grep -q '^inst_pause_cumulative_seconds{class="pause"} 0.308627242$'
	# a field of the name need not be in nanoseconds
	printf '# teltools text 1\n# type: A 1 K duration:unsigned\n%s\n' \
	    '0000000000000001 A duration=5000' >log
	clean telstat -s 'd=max(duration)' log | grep -q '^d  (max)$'
}

@test "names that are too long differ by their ends" {
	jfr=$TEL_TOP/tests/data/jfr/g1-17.jfr.zst
	kinds() {
		telstat --report=types "$@" "$jfr" | sed '1,/^kind/d; /^$/,$d' |
		    sed 's/  .*//'
	}
	[ "$(kinds | wc -l)" -gt 20 ]
	[ "$(kinds | sort -u | wc -l)" = "$(kinds | wc -l)" ]
	[ "$(kinds | head -n 1)" = 'Java Vir...ine/GC/Detailed' ]
	[ "$(kinds --width 120 | head -n 1)" = 'Java Virtual Machine/GC/Detailed' ]
	[ "$(kinds --raw | head -n 1)" = 'Java Virtual Machine/GC/Detailed' ]
	# what is escaped is never cut in two
	for n in {20..60}; do
		name=$(printf 'a%.0s' $(seq "$n"))éé$(printf 'b%.0s' $(seq 10))é
		printf '# teltools text 1\n# type: A 1 K s:string\n%s "%s"\n' \
		    '0000000000000001 A s=' "$name" | sed 's/s= /s=/' >log
		telstat -s 's=tally(s,3)' log >got
		sed -n '4s/^ *//; 4s/  .*//; 4p' got >key
		[ "$(wc -c <key)" -le 42 ]
		sed 's/\\x[0-9a-f][0-9a-f]//g' key | grep -q '^a[ab.]*b$'
	done
}

@test "--raw has long keys in full, and text their ends" {
	key=$(printf '%0899dZ' 0)
	printf '%s\n' '# teltools text 1' '# type: a 1 K s:string' \
	    "0000000000000001 a s=\"$key\"" >log
	clean telstat --raw -s 't=tally(s,9)' -s 'o=top(1,1,s)' -g s log >got
	[ "$(grep -c -F "$key" got)" -eq 4 ]
	clean telstat -s 't=tally(s,9)' -s 'o=top(1,1,s)' log >got
	[ "$(grep -Ec ' 0+\.\.\.0+Z ' got)" -eq 2 ]
	run ! grep -E '.{81}' got
}
