#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Classes of statistics, by a model in Python that was written from the manual,
# on random logs; TEST_SEED is another one for these.

bats_require_minimum_version 1.5.0
load "${TEL_TOP:-$BATS_TEST_DIRNAME/../..}/tests/environment"

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
}

# agree WHAT: telstat and the model do.
agree() {
	python3 "$TEL_TOP/tests/spec/class_compare.py" "$1" "${TEST_SEED:-28}"
}

@test "classes agree with their model in groups" {
	agree groups
}

@test "classes agree with their model in intervals" {
	agree intervals
}

@test "classes without buckets agree with their model" {
	agree plain
}

@test "parts of classes merge to one run, in any order, and threads do" {
	agree parts
}

@test "every output has the numbers of a class" {
	agree outputs
}

# facts: of each object, what is compared.
facts() {
	python3 -c 'import json, sys
for line in sys.stdin:
    row = json.loads(line)
    print(*map(row.get, ("name", "updates", "distinct", "value", "log", "key",
          "key2", "key3", "damaged")))'
}

@test "invalid specs of distinct and top are refused" {
	printf '# teltools text 1\n# type: item 1 User v:signed\n' >log
	while IFS='|' read -r spec why; do
		run -2 telstat -s "x=$spec" log
		echo "$spec: $output"
		[[ $output == *"$why"* ]]
	done <<-'END'
		distinct(v,-1)|from 0 to 2^24
		distinct(v,16777217)|from 0 to 2^24
		distinct(v,4,v)|at most 2 arguments
		distinct(real(v))|distinct() takes no real()
		top(v)|top() requires 1 more
		top(v,0)|from 1 to 4096
		top(v,4097)|from 1 to 4096
		top(v,4,1,2,3,4,5,6,7,8,9)|at most 10 arguments
		top(v,4,v,nope(v))|nope
		top(v,4,)|expected an expression
		tip(v,4)|did you mean 'top'?
	END
}

@test "invalid records of distinct and top are reported, and others count" {
	while read -r _ record; do
		echo "0000000000000001 $record"
	done >log.inst <<-'END'
		- H inst 1 0 0 hz=1000
		- C id=1 parent=0 type=top name="t" n=2 expr="v" weight="w,label(x),y"
		- S c=1 n=3 max=9
		- SB c=1 v=8 at=1 pos=5 log="a" k=7 k3="z"
		- SB c=1 v=9 at=1 pos=5 log="b" k4=5
		- SB c=1 v=6 at=1 pos=5 log="c"
		bad SB c=1 v=9 at=1 pos=5
		bad SB c=1 at=1 pos=5 log="a"
		bad SB c=1 v=9 pos=5 log="a"
		bad SB c=1 v=9 at=1 log="a"
		bad SB c=1 v=9 at=-1 pos=5 log="a"
		bad SB c=1 v=9 k=5
		bad SB c=1 v=9 at=1 pos=5 log="a" k2=18446744073709551616
		bad SB c=1 b=1:2
		- C id=2 parent=0 type=distinct name="d" max=3 expr="v"
		bad S c=2 n=9 dist=7 err=1 b=16384:3
		bad S c=2 n=9 dist=7 err=1 b=5:52
		- S c=2 n=9 dist=7 err=1 b=16383:51,5:50
		- SB c=2 k=5 v=1
		bad SB c=2 pos=3 v=1 at=1 log="x"
		bad C id=3 parent=0 type=distinct name="e" expr="v"
		bad C id=4 parent=0 type=top name="f" n=4097 expr="v"
		bad C id=5 parent=0 type=top name="g" n=0 expr="v"
		- Z
	END
	run -3 --separate-stderr telstat -q -f json log.inst
	diff - <(facts <<<"$output") <<-'END'
		t 3 None None None None None None None
		t None None 9 b None None None None
		t None None 8 a 7 None z None
		d 9 3 None None None None None None
		None None None None None None None None 14
	END
}

@test "pairs and queues agree with their model, also without room" {
	python3 "$TEL_TOP/tests/spec/queue_model.py" "${TEST_SEED:-28}"
}
