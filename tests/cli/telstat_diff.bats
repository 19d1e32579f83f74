#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# telstat diff: what differs, and which differences are marked.

# "run --separate-stderr" sets stderr
# shellcheck disable=SC2154

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
}

# made SPAN TYPE=COUNT ...: a log of a second each 1000 ticks; the events of a
# type have the values of x from 0 on.
made() {
	awk -v span="$1" -v what="${*:2}" 'BEGIN {
		print "# teltools text 1\n# format: Made\n# tick rate: 1000.0"
		n = split(what, list, " ")
		print "# type: Edge 99 K"
		for (i = 1; i <= n; i++) {
			split(list[i], pair, "=")
			print "# type: " pair[1] " " i " K x:unsigned"
		}
		printf "%016X Edge\n", 1
		for (i = 1; i <= n; i++) {
			split(list[i], pair, "=")
			for (j = 0; j < pair[2]; j++)
				printf "%016X %s x=%d\n", 2, pair[1], j
		}
		printf "%016X Edge\n", 1 + span
	}'
}

# row NAME: the columns of a row of the table that was printed.
row() {
	awk -v name="$1" '$1 == name { $1 = ""; print substr($0, 2) }' <<<"$output"
}

@test "rates of types, over times that differ" {
	made 10000 A=100 B=1000 C=7 >a
	made 20000 A=200 B=1000 D=1 >b
	run -0 clean telstat diff a b
	[ "${lines[0]}" = events ]
	[ "$(row all)" = '1,109 1,203 110.9 60.15 -45.8% **' ]
	[ "$(row A)" = '100 200 10 10 0.0%' ]
	[ "$(row B)" = '1,000 1,000 100 50 -50.0% **' ]
	[ "$(row C)" = '7 0 0.7 0 -100.0% **' ]
	[ "$(row D)" = '0 1 0 0.05 -' ]
	run -0 clean telstat diff a a
	[[ $output != *'%  *'* ]]
	run -0 clean telstat diff --top 1 a b
	[ -z "$(row A)$(row C)" ]
	# the same numbers for programs
	telstat diff -f json a b | python3 -c '
import json, sys
rows = [json.loads(line) for line in sys.stdin]
b, = [r for r in rows if r["figure"] == "B"]
assert b["before"] == b["after"] == 1000 and b["change"] == -0.5, b
assert b["significance"] == "**" and b["before_per_s"] == 100, b
assert not any("significance" in r for r in rows if r["figure"] == "A")'
	telstat diff -f csv a b | grep -q '^,events,difference,change,,,B,-0.5,'
}

# The exact test below 200 events, and the normal one above, at their limits:
# two-sided chances by R: binom.test(10, 35) 0.0167, (10, 40) 0.0022,
# (10, 45) 0.00025; by z with the correction 1.91, 3.10 and 3.66.
@test "counts: no mark, one and two" {
	for row in '10 25' '10 30 *' '10 35 **' '100 130' '100 150 *' \
	    '100 160 **' '3 0' '0 8 *' '0 11 **'; do
		read -r x y mark <<<"$row"
		made 1000 A="$x" >a
		made 1000 A="$y" >b
		run -0 clean telstat diff -s 'n=growth(1) if name == A' a b
		[ "$(row updates | sed 's/.*[%-] *//')" = "$mark" ]
		run -0 clean telstat diff -s 'n=growth(1) if name == A' b a
		[ "$(row updates | sed 's/.*[%-] *//')" = "$mark" ]
	done
}

# Ten values and the same ten, moved: t is moved / 1.3540, with 18 degrees of
# freedom, where qt() of R has 2.8784 and 3.9216.
@test "means: no mark, one and two" {
	made 1000 A=10 >a
	cp a b
	for row in '3.8' '3.9 *' '5.3 *' '5.4 **'; do
		read -r by mark <<<"$row"
		telstat -f inst -s 'x=mag(real(x,1))' a >before
		telcat b | sed '/ A /!b' | awk -v by="$by" '
		    /^# type: A/ { sub("x:unsigned", "x:double") }
		    $2 == "A" { split($3, f, "="); $3 = "x=" f[2] + by }
		    { print }' >moved
		telstat -f inst -s 'x=mag(real(x,1))' moved >after
		run -0 clean telstat diff before after
		[ "$(row mean | sed 's/.*% *//')" = "$mark" ]
	done
	# of values that do not vary
	made 1000 A=1 >one
	run -0 clean telstat diff -s 'x=mag(7)' a a
	[ "$(row mean)" = '7 7 0.0%' ]
	run -0 clean telstat diff -s 'x=mag(8 - (clock & 1)) if name == A' a one
	[ "$(row mean)" = '8 8 0.0%' ]
}

@test "quantiles and the shape of distributions" {
	made 1000 A=100 >a
	made 1000 A=200 >b
	spec='x=hist(x,0,1000,1)'
	run -0 clean telstat diff -s "$spec" a b
	[ "$(row p50)" = '49 99 102.0% **' ]
	[ "$(row p90)" = '89 179 101.1% **' ]
	[ "$(row shape)" = '- - - **' ]
	run -0 clean telstat diff -s "$spec" --quantiles 0.25 a a
	[ "$(row p25)" = '24 24 0.0%' ]
	[ "$(row shape)" = '- - -' ]
	[ -z "$(row p50)" ]
	# more than half of few values below the median of all: the shares, 0.48
	# and 0.68, 0.72 or 0.8, differ by 2.3, 3.0 or 4.0 deviations of 0.083
	made 1000 A=400 >a
	for row in '27 0.0%' '29 0.0% *' '32 0.0% **'; do
		read -r low mark <<<"$row"
		made 1000 A=40 | awk -v low="$low" '
		    $2 == "A" { $3 = "x=" (n++ < low ? 0 : 399) } { print }' >b
		run -0 clean telstat diff -s "$spec" --quantiles 0.5 a b
		[ "$(row p50 | sed 's/.*%//')" = "${mark#0.0%}" ]
	done
	made 1000 A=100 >a
	made 1000 A=200 >b
	# values with weights have no test
	run -0 clean telstat diff -s 'x=hist(x,0,1000,1,2)' a b
	[ "$(row p50)" = '49 99 102.0%' ]
	# D is 0.15: sqrt(100 * 100 / 200) * D is 1.06; of 0.24 1.70, 0.28 1.98
	for row in '15' '24 *' '28 **'; do
		read -r by mark <<<"$row"
		run -0 clean telstat diff -s "y=hist(x,0,1000,1)" \
		    <(telcat a | sed 's/^# tick.*//') \
		    <(telcat a | awk -v by="$by" '
		    $2 == "A" { split($3, f, "="); $3 = "x=" f[2] + by } { print }')
		[ "$(row shape | sed 's/.*- *//')" = "$mark" ]
	done
}

@test "of too few values nothing is marked, whatever they are" {
	for n in '20 20 **' '19 20' '20 19' '19 19' '20 200 **'; do
		read -r x y mark <<<"$n"
		made 1000 A="$x" >a
		made 1000 A="$y" | sed '/ A x/s/x=/x=9/' >b
		for pair in 'a b' 'b a'; do
			# shellcheck disable=SC2086
			run -0 clean telstat diff -s 'x=hist(x,0,1000,1)' \
			    --quantiles 0.5 $pair
			[ "$(row shape | sed 's/.*- *//')" = "$mark" ]
			[ "$(row p50 | sed 's/.*% *//')" = "$mark" ]
		done
	done
	for n in '5 5 **' '4 5' '5 4' '4 4' '5 50 **'; do
		read -r x y mark <<<"$n"
		made 1000 A="$x" >a
		made 1000 A="$y" | sed '/ A x/s/x=/x=99/' >b
		for spec in 'x=quantiles(x)' 'x=mag(x)'; do
			telstat -f inst -s "$spec" a >before
			telstat -f inst -s "$spec" b >after
			run -0 clean telstat diff before after
			[ "$(row mean | sed 's/.*% *//')" = "$mark" ]
		done
	done
}

@test "tallies, groups, parts, and what only one side has" {
	unpack 1.118.0-lii6gc-poolncv
	unpack 1.118.0-lii6gc-awlut two.log
	specs=(-s 'n=tally(name,99)' -s 'q=quantiles(size)'
	    -s 'l=dur(PoolInit,PoolFinish,pool)')
	clean telstat diff "${specs[@]}" mpsio.log two.log >want
	telstat -f inst "${specs[@]}" mpsio.log >a
	telstat -f inst "${specs[@]}" two.log >b
	clean telstat diff a b | cmp want -
	clean telstat diff - b <a | cmp want -
	clean telstat diff mpsio.log b "${specs[@]}" | cmp want -
	grep -q '^  PoolAlloc  *16  *4,384 ' want
	grep -q '^  pairs  *5  *6 ' want
	run -0 clean telstat diff -s 'n=growth(1)' -g kind mpsio.log two.log
	[[ $output == *'n{kind=Trace}  (growth)'* ]]
	[ "$(grep -c '^n{' <<<"$output")" = 7 ]
	telstat -f inst -s 'other=mag(size)' two.log >c
	run -0 clean telstat diff a c
	[[ $output == *$'other  (mag)\n'* ]]
	[[ "$(row updates | tail -n 1)" == '0 16,020 '* ]]
	# where the time of one is not known, shares of all events are compared
	telcat two.log | grep -v '^# tick rate\|EventClockSync' >untimed
	run -0 --separate-stderr telstat diff mpsio.log untimed
	[[ $output != *'before/s'* ]]
	[[ $output == *'changes are of shares of all events'* ]]
}

@test "memory: what the reports of both have" {
	python3 "$TEL_TOP/tests/spec/blocks_model.py" 1 before >model
	python3 "$TEL_TOP/tests/spec/blocks_model.py" 2 after >model
	telcat -f tel -o after.tel after
	for side in before after; do
		telstat -f json $side >$side.json
	done
	telstat diff -f json before after.tel >got.json
	python3 - <<-'END'
		import json
		def rows(name):
		    return [json.loads(line) for line in open(name)]
		def wanted(name):
		    report = {}
		    for r in rows(name):
		        report.update(r if r["type"] in ("memory", "totals") else {})
		    return {k: v for k, v in report.items() if k == "lifetime_max" or
		            k.endswith("_blocks") or k.endswith("_bytes") and
		            k not in ("input_bytes", "skipped_bytes")}
		before, after = wanted("before.json"), wanted("after.json")
		got = {r["figure"]: r for r in rows("got.json")
		       if r["name"] == "memory"}
		assert len(before) >= 10, before
		for k, v in before.items():
		    row = got[k]
		    assert (row["before"], row["after"]) == (v, after[k]), (k, row, v)
		    assert abs(row["change"] - (after[k] - v) / v) < 1e-9, row
	END
	# neither of types alone, nor of statistics, nor of a log without blocks
	for options in --report=types '-s n=count()'; do
		# shellcheck disable=SC2086
		telstat diff $options before after >text
		run ! grep -q '^memory' text
	done
	made 1000 A=3 >one
	telstat diff one one >text
	run ! grep -q '^memory' text
	# of one side alone, the other has no figures
	telstat diff one before | grep -q '^  peak_bytes  *-  '
	# lifetimes of a clock without a rate are those of such clocks alone
	sed '/^# tick rate/d' before >ticks
	telstat diff ticks ticks | grep -q '^  lifetime_max .* ticks '
	# programs read which of the two it is
	for pair in 'before ns' 'ticks ticks'; do
		read -r log unit <<<"$pair"
		telstat diff -f json "$log" "$log" >rows
		grep -q "\"lifetime_max\".*\"unit\":\"$unit\"" rows
		grep -q '"peak_bytes".*"unit":"bytes"' rows
		run ! grep -q '"peak_blocks".*"unit"' rows
	done
	telstat diff ticks after >text
	grep -q '^  peak_bytes' text
	run ! grep -q lifetime text
}

@test "pauses and collections: what the reports of both have" {
	local before=$TEL_TOP/tests/data/mps/1.112.0-lii6ll-finalcv.log.zst
	local after=$TEL_TOP/tests/data/mps/1.118.0-lii6gc-awlut.log.zst
	telstat -q -f json "$before" >before.json
	telstat -q -f json "$after" >after.json
	telstat diff -q -f json "$before" "$after" >got.json
	python3 - <<-'END'
		import json
		def rows(name):
		    return [json.loads(line) for line in open(name)]
		names = "count", "total_ns", "p50_ns", "p99_ns", "longest_ns"
		for what in "pauses", "collections":
		    [before], [after] = ([r for r in rows(f"{side}.json")
		                          if r["type"] == what]
		                         for side in ("before", "after"))
		    got = [[r["figure"], r["before"], r["after"]]
		           for r in rows("got.json") if r["name"] == what]
		    assert before["count"] > 1, before
		    assert got == [[k, before[k], after[k]] for k in names], got
	END
	# of one side alone, the other has no figures
	made 1000 A=3 >one
	telstat diff -q one "$after" | grep -q '^  p99_ns  *-  '
}

@test "a key that a tally has no room for is unknown, not 0" {
	for first in 0 7; do
		printf '# teltools text 1\n# type: a 1 K x:unsigned\n'
		printf '%016X a x=%d\n' 1 $first 2 8 3 0 4 0 5 5
	done | csplit -z -q - 8
	clean telstat diff -s 't=tally(x,3)' -f json xx00 xx01 |
	    python3 -c '
import json, sys
for row in map(json.loads, sys.stdin):
    if row["name"] == "t":
        print(*map(row.get, ("figure", "before", "after")), str(row.get("change"))[:5])' |
	    diff - <(printf '%s\n' 'updates 5 5 0' 'keys 3 3 0' '0 3 2 -0.33' \
	        '5 1 None None' '8 1 1 0' '7 0 1 None')
	clean telstat diff -s 't=tally(x,2)' xx00 xx01 | grep -E '^  0 +3 +- +-$'
	# a group is such a key
	clean telstat diff --max-groups 3 -g x -s 'n=count()' -f csv xx00 xx01 |
	    grep -E ',(before|after),' | cut -d , -f 2,4,8 |
	    diff - <(printf 'n{%s},%s,%s\n' x=0 before 3 x=0 after 2 x=8 before 1 \
	        x=8 after 1 x=5 before 1 x=7 before 0 x=7 after 1 \
	        '<overflow>' before 0 '<overflow>' after 1)
}

@test "of two parts of a log, a group by file is compared" {
	unpack 1.118.0-lii6gc-poolncv
	telstat diff -q -g file -s 'n=count()' -f csv mpsio.log@,100us mpsio.log |
	    grep -E ',(before|after),' | cut -d , -f 2,7- |
	    diff - <(printf 'n{file=mpsio.log},updates,%d,\n' 18 144)
}

@test "mistakes" {
	unpack 1.118.0-lii6gc-poolncv
	run -2 telstat diff mpsio.log
	[[ $output == *'expected two logs'* ]]
	run -2 telstat diff mpsio.log mpsio.log mpsio.log
	for form in svg openmetrics inst; do
		run -2 telstat diff -f "$form" mpsio.log mpsio.log
		[[ $output == *"diff cannot be combined with -f $form"* ]]
	done
	run -2 telstat diff -i 1ms mpsio.log mpsio.log
	run -1 telstat diff mpsio.log missing
	run -2 telstat diff - -
	cp mpsio.log diff
	telstat ./diff >/dev/null
}

@test "a log without allocations is named, as its zeros look like an answer" {
	printf '%s\n' '# teltools text 1' '# type: a 1 K x:unsigned' \
	    '0000000000000001 a x=1' >none
	printf '%s\n' '# teltools text 1' '# type: A 1 K p:address n:unsigned' \
	    '# role: A alloc p n -' '0000000000000001 A p=0x10 n=7' >some
	for option in --blocks=n --stacks; do
		run -0 --separate-stderr telstat diff "$option" none some
		[[ $stderr == "telstat: none: ${option%%=*}: no selected event allocates"* ]]
	done
	run -0 --separate-stderr telstat diff --blocks=n some some
	[ -z "$stderr" ]
}
