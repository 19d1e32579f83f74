#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Intervals between events of one type, dur(X,X,KEY), against a model.

# "run --separate-stderr" sets stderr
# shellcheck disable=SC2154

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
}

# made SEED: a log of 300 events of X and Y at random times.
made() {
	awk -v seed="$1" 'BEGIN {
		srand(seed)
		print "# teltools text 1\n# format: Made\n# tick rate: 1000.0"
		print "# type: X 1 K key:unsigned\n# type: Y 2 K key:unsigned"
		for (i = 0; i < 300; i++) {
			at += int(rand() * 50)
			printf "%016X %s key=%d\n", at, rand() < 0.6 ? "X" : "Y",
			    rand() * 7
		}
	}'
}

# model KEYED: the number of intervals of X, their sum, least and most, in
# ticks, the events, and how many are open.
model() {
	python3 -c 'import sys
keyed, last, spans, events = sys.argv[1] == "1", {}, [], 0
for line in sys.stdin:
	words = line.split()
	if line[0] == "#" or words[1] != "X":
		continue
	events += 1
	key, at = words[2] if keyed else "", int(words[0], 16)
	if key in last:
		spans.append(at - last[key])
	last[key] = at
print(len(spans), sum(spans), min(spans), max(spans), events, len(last))' "$1"
}

figures() {
	jq -r 'select(.name == "gap") |
		"\(.pairs) \(.sum) \(.min) \(.max) \(.events) \(.open)"'
}

@test "dur(X,X) and ticks(X,X,KEY) are those of a model" {
	local seed

	for seed in 1 2 3 4 5; do
		made $seed >log
		telstat -f json -s 'gap=ticks(X,X)' log 2>warnings | figures >got
		model 0 <log | cmp - got
		# nothing is paired by chance
		[ ! -s warnings ]
		telstat -f json -s 'gap=ticks(X,X,key)' log | figures >got
		model 1 <log | cmp - got
		telcat -f tel -o log.tel log
		telstat -j 4 -f json -s 'gap=ticks(X,X,key)' log.tel |
			figures | cmp - got
		telstat --file-order -f json -s 'gap=dur(X,X,key)' log |
			figures >ns
		[ "$(cut -d' ' -f2 ns)" = \
			$(($(cut -d' ' -f2 got) * 1000000)) ]
	done
	# as a value, and the interval before the longest
	telstat -f json -s 'gap=hist(ticks(X,X),0,100,10)' log >got
	[ "$(jq 'select(.name == "gap").updates' got)" = \
		"$(model 0 <log | cut -d' ' -f1)" ]
}

@test "words of other languages for operators are answered with ours" {
	made 1 >log
	run -2 --separate-stderr telcat -w 'key == 1 and key == 2' log
	[[ $stderr == *"expected an operator: 'and' is written &&" ]]
	run -2 --separate-stderr telcat -w 'key == 1 or key == 2' log
	[[ $stderr == *"expected an operator: 'or' is written ||" ]]
	run -2 --separate-stderr telcat -w 'not key == 1' log
	[[ $stderr == *"expected an operator: 'not' is written !" ]]
	run -2 --separate-stderr telcat -w 'key == 1 && not key' log
	[[ $stderr == *"expected an operator: 'not' is written !" ]]
	run -2 --separate-stderr telcat -w 'notkey key' log
	[[ $stderr == *"expected an operator" ]]
	run -2 --separate-stderr telcat -w 'key key' log
	[[ $stderr == *"expected an operator" ]]
}

@test "type is the name of an event's type, in logs without such a field" {
	local log=$BATS_TEST_DIRNAME/../data/mps/1.117.0-lii6ll-finalcv.log.zst
	local named typed
	for named in 'name == TraceCreate' 'SegAlloc == name || name ~ "^Pool"' \
	    'name in (SegAlloc, "PoolFree") && size > 64' 'has(name)' \
	    'duration > 1us && start.name == TraceFlipBegin'; do
		typed=${named//name/type}
		clean telcat -F size -w "$named" "$log" >want
		clean telcat -F size -w "$typed" "$log" | cmp want -
		[ -s want ]
	done
	for named in 'x=tally(name,4)' 'x=top(size,3,name) if name != PoolFree' \
	    'x=distinct(name)'; do
		clean telstat -f csv -s "$named" "$log" |
			sed 's/type/name/g' >want
		clean telstat -f csv -s "${named//name/type}" "$log" |
			sed 's/type/name/g' | cmp want -
	done
	[ "$(telstat -g type -s 'n=sum(size)' "$log" "$log" | grep -c '{type=')" \
		-gt 3 ]
	run -2 --separate-stderr telcat -w 'type == X' "$log"
	[[ $stderr == *"unknown event type 'X'"* ]]
	# a field comes first
	made 1 | sed 's/key=\([0-9]\)/type=\1/; s/ key:/ type:/' >field
	made 1 >none
	[ "$(telcat -q -c -w 'type == 1' field)" = \
		"$(telcat -q -c -w 'key == 1' none)" ]
	[ "$(telcat -q -c -w 'type == 1' field)" -gt 0 ]
	run -2 --separate-stderr telcat -c -w 'type == X' field
	[[ $stderr == *"no event type has a field 'X'"* ]]
}

@test "a number is not a condition" {
	local tool number

	made 1 >log
	for tool in telcat telfilter telstat; do
		run -2 --separate-stderr "$tool" --since 1s log
		[ "$stderr" = "$tool: --since: '1s' is a number, and not a condition; did you mean 'time > 1s'?" ]
		run -2 --separate-stderr "$tool" --until 0x10 log
		for number in 5 '(5)' -5 '3 + 4 * 2k'; do
			run -2 --separate-stderr "$tool" -w "$number" log
			[[ $stderr == *"-w: '$number' is a number"*"'time > $number'?" ]]
		done
	done
	[ "$(telcat -c --since 'time > 1s' log)" -gt 0 ]
	[ "$(telcat -c -w true log)" = 300 ]
}

@test "a rate of several logs behind each other is that of their time" {
	for i in 1 2; do
		printf '%s\n' '# teltools text 1' '# tick rate: 1000' '# type: A 1 K x:unsigned' \
		    '00000000000003E8 A x=1' '00000000000007D0 A x=1' \
		    '0000000000000BB8 A x=1' >$i
	done
	telstat -q -f csv -i 1s --no-merge -s 'g=growth(x)' 1 2 >got
	# 5 in 2 s and 1 s, to the last event before the second one of the other log
	grep ',rate,' got | cut -d , -f 1,8 |
	    diff - <(printf '%s,%s\n' 1000000000 1 2000000000 1 1000000000 2 2000000000 \
	        1.6666666666666667 4000000000 1.5)
}

@test "of more than 10000 intervals between two events, two are printed" {
	for last in 10000 10001; do
		printf '%s\n' '# teltools text 1' '# type: a 1 K x:unsigned'
		printf '%016X a x=1\n' 0 "$last"
	done >two
	head -n 4 two | clean telstat -i 1ticks -f csv -s 'n=count()' >got
	[ "$(grep -c ',updates,' got)" -eq 10001 ]
	tail -n 4 two | clean telstat -i 1ticks -f csv -s 'n=count()' >got
	grep ',updates,' got | cut -d, -f1 | tr '\n' ' ' | grep -qx '1 10001 10001 '
}

@test "at multiples of an interval in ticks rates are unknown" {
	printf '%s\n' '# teltools text 1' '# tick rate: 1000' \
	    '# type: a 1 K x:unsigned' >log
	printf '%016X a x=1\n' 0 5 8 >>log
	clean telstat -i 5ticks --rate -s 'n=count()' log >got
	grep -o 'rate .*' got | diff -u - <(
		echo rate unknown
		echo rate 375/s
	)
}

@test "of an interval by itself, live blocks are those that it added" {
	printf '%s\n' '# teltools text 1' '# type: A 1 K p:address n:unsigned' \
	    '# type: F 2 K p:address' '# role: A alloc p n -' \
	    '# role: F free p - -' '0000000000000000 A p=0x10 n=7' \
	    '0000000000000006 F p=0x10' >log
	clean telstat -i 5ticks --deltas -f csv log >got
	grep ',live_' got | cut -d, -f1,4,8 | diff -u - <(
		printf '%s\n' 5,live_blocks,1 5,live_bytes,7 \
		    6,live_blocks,-1 6,live_bytes,-7
	)
}
