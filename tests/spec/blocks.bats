#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Blocks by a key, and the report of allocations, against a model of them.

load ../cli/lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	MODEL=$TEL_TOP/tests/spec/blocks_model.py
	COMPARE=$TEL_TOP/tests/spec/blocks_compare.py
}

@test "blocks by a key, their lifetimes and temporaries" {
	for seed in 1 2 3; do
		python3 "$MODEL" $seed log >model
		telcat -f tel -o log.tel log
		for file in log log.tel; do
			for by in size tid; do
				telstat --blocks=$by --stacks=allocated -f json $file |
				    python3 "$COMPARE" model $by 0
			done
			telstat --blocks=size --stacks=allocated --min-age 20us \
			    -f json $file |
			    python3 "$COMPARE" model size 20000
		done
	done
	telstat --blocks=thread --stacks=peak -f csv log | grep -q ',key,peak_bytes,'
	telstat --blocks='size * 2' --stacks=allocated log | grep -q '^    8192$'
	# of stacks it is --stacks
	telstat --blocks=stack "$TEL_TOP/tests/data/alloc/perl.mtrace.zst" >one
	telstat --stacks "$TEL_TOP/tests/data/alloc/perl.mtrace.zst" | cmp one -
}

@test "the report of allocations answers at once" {
	for seed in 4 5; do
		python3 "$MODEL" $seed log >model
		telstat -f json log | python3 "$COMPARE" model memory 0
		telstat -f json <(cat log) | python3 "$COMPARE" model memory 0
	done
	telstat log >text
	for line in allocated freed live peak unknown lifetimes temporary threads; do
		grep -q "^$line  " text
	done
	[ "$(wc -l <text)" -le 24 ]
	run ! grep -q '^malloc ' text
	telstat --report=types log >types
	grep -q '^malloc ' types
	run ! grep -Eq '^(allocated|freed|live|peak)' types
	# the largest stacks, the holder first
	telstat "$TEL_TOP/tests/data/alloc/perl.heaptrack.zst" >text
	grep -q '  stack (5 of [0-9]*; see --stacks)$' text
	[ "$(grep -c ' < ' text)" -ge 4 ]
	[ "$(wc -l <text)" -le 32 ]
}

@test "the report of allocations, and of an MPS, is one screen" {
	for log in "$TEL_TOP"/tests/data/{alloc/*,mps/*.log.zst} \
	    "$TEL_TOP"/tests/data/jfr/native-ap45.jfr.zst; do
		exits '0|3' telstat -q "$log" >text
		echo "$log: $(wc -lL <text)"
		# a table of generations is below it
		[ "$(sed '/^generation /,/^$/d' text | wc -l)" -le 24 ]
		[ "$(wc -l <text)" -le 31 ]
		[ "$(wc -L <text)" -le 80 ]
	done
	# a stack starts at its holder, and what is too long is cut
	telstat "$TEL_TOP/tests/data/jfr/native-ap45.jfr.zst" >text
	grep -q '  libjvm.so.LinearScan::build_intervals < \.\.\.$' text
	run ! grep -Eq '^ +[0-9.]+ KiB .*(alloc|Alloc)' text
	cat >deep <<-'END'
		# teltools text 1
		# type: trace 1 T number:unsigned ip:address parent:unsigned
		# type: get 2 A at:address size:unsigned by:unsigned
		# role: trace frame number ip parent
		# role: get alloc at size stack=by
		0000000000000001 trace number=1 ip=0x10["main"] parent=0
		0000000000000001 trace number=2 ip=0x20["hog"] parent=1
		0000000000000001 trace number=3 ip=0x30["xmalloc"] parent=2
		0000000000000001 trace number=4 ip=0x30["xmalloc"] parent=1
		0000000000000002 get at=0x1000 size=9000 by=3
		0000000000000003 get at=0x4000 size=8000 by=4
	END
	telstat deep | sed -n 's/.*  //; /^hog < main$/p; /^main$/p' >text
	diff text - <<-'END'
		hog < main
		main
	END
	# a stack of nothing but allocators keeps its frames
	sed '$d; s/hog/operator new(unsigned long)/; s/main/std::f/' deep |
	    telstat | grep '  xmalloc < operator new < std::f$'
	# nor does a block without a stack have less
	{
		cat deep
		echo '0000000000000004 get at=0x8000 size=7000 by=0'
	} | telstat | sed -n 's/.*  //; /^hog < main$/p; /^main$/p; /^<none>$/p' >text
	diff text - <<-'END'
		hog < main
		main
		<none>
	END
	# a function of C++ without its parameters and arguments
	while IFS='|' read -r name short; do
		sed "\$d; s|hog|$name|" deep | telstat | grep ' < ' >text
		echo "$name: $(cat text)"
		grep -qF "  $short < main" text
	done <<-'END'
		f(int, char*)|f
		a::B<C<int>, d(e)>::f<g>(h<i>) const|a::B::f const
		(anonymous namespace)::f(int)|(anonymous namespace)::f
		f[abi:cxx11](int)|f[abi:cxx11]
		A::operator()(int) const|A::operator() const
		operator<(A<b> const\&)|operator<
		operator->(A)|operator->
		operator<<(A<b>, c)|operator<<
		A::operator[](int)|A::operator[]
		f<decltype (a->b)>(int)|f
		f()::{lambda(int)#1}::operator()(int)|f::{lambda#1}::operator()
		A.<init>:2|A.<init>:2
		main.(*T).f|main.(*T).f
		<A<b> as C<d>>::f|<A as C>::f
		f(int|f
		f(int)::g<a(b)|f::g
		operator<=>(A)|operator<=>
	END
}

# shared SEED: a log of threads that read the clock for many events at once, and
# into model the time that nine of ten blocks were allocated before the next.
shared() {
	python3 - "$1" >shared.log 3>model <<-'END'
		import os, random, sys
		random.seed(int(sys.argv[1]))
		print("# format: toy\n# tick rate: 1000000000\n"
		      "# type: malloc 1 M addr:address size:unsigned tid:unsigned\n"
		      "# role: malloc alloc addr size thread=tid\n"
		      "# type: free 2 M addr:address tid:unsigned\n"
		      "# role: free free addr thread=tid")
		now, steps, last = 1000, [], {}
		for i in range(1, 3000):
		    tid = random.randrange(3)
		    now += random.choice((0, 30, 700))
		    if tid not in last or random.random() < 0.1:
		        if tid in last and last[tid][0] != now:
		            steps += [now - last[tid][0]] * last[tid][1]
		            del last[tid]
		        last.setdefault(tid, [now, 0])
		    last[tid][1] += 1
		    print(f"{last[tid][0]:016X} malloc addr={i * 64:#x} size=9 tid={tid}")
		    if i % 3:
		        print(f"{last[tid][0]:016X} free addr={i * 64:#x} tid={tid}")
		steps.sort()
		os.write(3, b"%d" % steps[-(-len(steps) * 9 // 10) - 1])
	END
}

@test "lifetimes below what the clocks of a log tell" {
	for seed in 1 2 3; do
		shared $seed
		for log in shared.log <(telcat -f tel shared.log); do
			telstat --file-order -f json "$log" | python3 -c '
import json, sys
got, = [json.loads(l) for l in sys.stdin if "\"memory\"" in l]
want = int(open("model").read())
# at most a sixteenth too long
assert want <= got["resolution_ns"] <= want + want // 16 + 1, (got, want)'
		done
		telstat --file-order shared.log |
		    grep -E '^lifetimes  (p90|p99|longest) < [0-9.]* us'
		telstat --file-order --blocks=tid shared.log >text
		[ "$(grep -c '^ *lived  \(0.9\|0.99\|most\) < ' text)" = 3 ]
		telstat --file-order shared.log | grep ^lifetimes >stat
		telreplay --file-order --dry-run --details=lifetimes shared.log |
		    grep '^  lifetimes  ' | tr -s ' ' |
		    diff - <(sed 's/^/ /' stat | tr -s ' ')
	done
	# a clock for each event, where a realloc ends a block, and none for any
	log=$TEL_TOP/tests/data/alloc/python3.mtrace.zst
	telreplay -q --dry-run --details=lifetimes "$log" |
	    grep '^  lifetimes  ' | tr -s ' ' |
	    diff - <(telstat "$log" | sed -n 's/^lifetimes/ &/p' | tr -s ' ')
	python3 "$MODEL" 4 log >model
	telstat -f json log >text
	run ! grep -q resolution text
	telstat log | run ! grep '^lifetimes.*<'
	telstat "$TEL_TOP/tests/data/alloc/perl.heaptrack.zst" >text
	run ! grep -E '^lifetimes|^peak  .* at ' text
}

@test "keys that cannot be" {
	python3 "$MODEL" 1 log >model
	run -2 telstat --blocks='size +' log
	[[ $output == *"--blocks: 'size +', column"* ]]
	run -2 telstat --blocks=siez log
	[[ $output == *"--blocks: 'siez'"* ]]
	run -2 telstat --blocks=size -g kind log
	[[ $output == *'--blocks cannot be combined with -g'* ]]
	run -2 telstat --stacks -g kind log
	[[ $output == *'--stacks cannot be combined with -g; --blocks=EXPR'* ]]
	run -2 telstat --min-age 5ms log
	run -2 telstat --stacks --min-age 5 log
	run -2 telstat --report=all log
}
