#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Traces of the Linux kernel as text, tel-ftrace(5).

# "run --separate-stderr" sets stderr.
# shellcheck disable=SC2154

load lib

FTRACE=$TEL_TOP/tests/data/ftrace

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
}

# field NAME: its values in a trace of perf, from standard input.
field() {
	sed -n "s/.* $1=\([^ ]*\).*/\1/p"
}

@test "a trace of perf is found, and has an event for each of its lines" {
	for name in switches chains; do
		zstd -dqo $name "$FTRACE/$name.perf.zst"
		clean telcat $name >text
		grep -qx '# format: ftrace' text
		# callers are indented
		grep -v '^	\|^$' $name >lines
		grep -v '^#' text >events
		[ "$(wc -l <lines)" -gt 50 ]
		[ "$(wc -l <events)" -eq "$(wc -l <lines)" ]
		# the time and the name of each
		sed 's/.* \([0-9]*\)\.\([0-9]*\): .*/\1\2000/' lines |
		    while read -r ns; do
			printf '%016X\n' "$ns"
		    done >want
		cut -d ' ' -f 1 events | cmp - want
		sed -n 's/.*[0-9]: *\([0-9]* \)*[a-z]*[:-]\([a-z_]*\):.*/\2/p' \
		    lines >want
		cut -d ' ' -f 2 events | sed s/cpu_// | cmp - want
	done
}

@test "values of perf are fields" {
	zstd -dqo log "$FTRACE/switches.perf.zst"
	grep -E 'kmem:(kmalloc|kmem_cache_alloc):' log >lines
	field bytes_req <lines >want
	telcat -q --no-header -w 'name == kmalloc || name == kmem_cache_alloc' \
	    log >events
	field bytes_req <events | cmp - want
	field ptr <lines | cmp - <(field ptr <events)
	field call_site <lines >want
	sed -n 's/.*call_site=0x[0-9a-f]*\["\([^"]*\)"\].*/\1/p' events |
	    cmp - want
	# fields may be separated by tabs
	sed 's/ \(bytes_alloc\|gfp_flags\)=/\t\1=/g' lines >tabbed
	telcat -q --no-header lines >want
	telcat -q --no-header tabbed | cmp - want
	# from "==>"
	grep sched_switch: log | field next_pid >want
	telcat -f json -k sched -w 'name == sched_switch' log |
	    jq -r '.fields.next_pid' | cmp - want
	# "prev_comm=a b" would end at the next name
	sed -i 's/prev_comm=sh /prev_comm=s h=1 2 /' log
	telcat -q -w 'name == sched_switch' log | grep -q 'prev_comm="s" h="1 2"'
	# what a system call has: "KEY: VALUE, KEY: VALUE"
	telcat -f json -w 'name == sys_enter_openat' log >calls
	[ "$(jq -sr '.[0].fields | keys_unsorted | join(" ")' calls)" = \
	    'cpu tid dfd filename flags mode' ]
	[ "$(jq -sr '.[0].fields.dfd' calls)" = 0xffffff9c ]
}

@test "allocations of the kernel are counted and replayed" {
	zstd -dqo log "$FTRACE/switches.perf.zst"
	grep -E 'kmem:(kmalloc|kmem_cache_alloc):' log | field bytes_req |
	    awk '{ n++; sum += $1 } END { print n, sum }' >want
	telstat -w 'name == kmalloc || name == kmem_cache_alloc' log |
	    sed -n 's/,//g; s/^allocated *\([0-9]*\) blocks *\([0-9]*\) .*/\1 \2/p' |
	    cmp - want
	# pages, by their number and their order
	telcat -q --no-header -n 1 -w 'name == mm_page_alloc' log >event
	[ $(($(field address <event))) -eq $(($(field pfn <event) << 12)) ]
	[ "$(field size <event)" -eq $((4096 << $(field order <event))) ]
	# what was allocated before the trace began is freed in it
	run -0 telreplay -q --dry-run -w 'kind == kmem' log
	[[ $output =~ operations\ *1,[0-9]*\ malloc,\ [0-9]*\ free ]]
	# by caller
	telstat --stacks -w 'name == kmalloc' log >stacks
	grep -q '+0x' stacks
}

@test "threads have the names of their commands" {
	run -3 --separate-stderr telcat -f json "$FTRACE/hand.trace-cmd"
	echo "$output" >json
	jq -r 'select(.type == "sched_switch") | .labels |
	    [.tid, .prev_pid, .next_pid] | join(" ")' json >got
	printf '%s\n' '<idle> swapper/0 kworker/0:1-ev' \
	    'bash bash swapper/2' | cmp - got
	jq -r 'select(.type == "sched_switch") | .fields |
	    [.prev_prio, .prev_state, .next_prio] | join(" ")' json >got
	printf '%s\n' '120 R 120' '120 S 120' | cmp - got
	# a thread that is not known
	echo ':-1    -1 [000]  5.000001:  kmem:kfree: ptr=0x10 name=""' |
	    telcat -f json | jq -c '[.fields.tid, .labels.tid, .fields.name]' >got
	echo '[-1,":-1",""]' | cmp - got
	# a command with blanks, digits and brackets
	jq -r 'select(.type == "kfree").labels.tid' json |
	    grep -qx 'my prog \[1\]'
	telcat -f chrome "$FTRACE/hand.trace" |
	    jq -e '[.. | .args?.name? | strings] | any(contains("sh"))'
}

@test "what trace-cmd prints besides events is passed over or reported" {
	run -3 --separate-stderr telcat -q --no-header "$FTRACE/hand.trace-cmd"
	[ "${#lines[@]}" -eq 13 ]
	run -3 --separate-stderr telcat --no-header "$FTRACE/hand.trace-cmd"
	[[ $stderr == *'expected a time'*'found "my prog [1]-4242'* ]]
	[[ $stderr == *'13 events lost when the log was recorded'* ]]
	[[ $stderr == *'1 damaged place, 56 bytes skipped'* ]]
	[[ $output == *'text="(alloc_pipe_info+0x46)" call_site=0xffffffff81222333'* ]]
	[[ $output == *'bprint '*' text="my_function: x=1 and y=2"'* ]]
	[[ $output == *'path="/tmp/a b=c" mode="0644" ret=-2'* ]]
	[[ $output == *'0000011F6DEFB5BB sched_wakeup'* ]]
	[[ $output == *'fd=0x1 buf=0x55d0c0 count=0x6'* ]]
	run -1 telcat --strict "$FTRACE/hand.trace-cmd"
	run -3 telstat -q "$FTRACE/hand.trace-cmd"
	[[ $output == *'  lost 13  unknown 0  damaged 1'* ]]
	exits 3 telcat -q -f tel -o lost.tel "$FTRACE/hand.trace-cmd"
	run -0 telstat -q lost.tel
	[[ $output == *'  lost 13  unknown 0  damaged 0' ]]
}

@test "the kernel's own trace is read, with its processes and stacks" {
	clean telcat --no-header "$FTRACE/hand.trace" >text
	[ "$(wc -l <text)" -eq 6 ]
	grep -q 'kmalloc .*call_site=.*"do_it+0x10/0x40".* ptr=0xa1b2c3d4 .* stack=2\["do_it"\]' text
	telcat -f folded "$FTRACE/hand.trace" | grep -qx 'do_syscall_64;do_it 8'
	grep -q 'irq_handler_entry cpu=1 context="d.h1." tid=1995\["sh"\] pid=1990 irq=1 name="i8042"' text
	grep -q 'softirq_raise .* vec=1 action="TIMER"' text
	[ "$(telstat "$FTRACE/hand.trace" | grep -c '^live *0 blocks')" -eq 1 ]
}

@test "a filter keeps lines as they are, each with its callers" {
	zstd -dqo log "$FTRACE/chains.perf.zst"
	telfilter -w true log | cmp - log
	telfilter -w 'name == kfree' log >kept
	awk '/^[^\t]/ { on = /kmem:kfree:/ } on' log | cmp - kept
	telfilter -w true "$FTRACE/hand.trace" | cmp - "$FTRACE/hand.trace"
}

@test "call chains are stacks: of samples by period, of allocations by bytes" {
	zstd -dqo log "$FTRACE/chains.perf.zst"
	telcat -f folded -w 'name == cpu_clock' log | LC_ALL=C sort >samples
	telcat -f folded --weight allocated log | LC_ALL=C sort >bytes
	python3 - <<-'END'
		import collections, re
		sums = collections.Counter(), collections.Counter()
		for event in open('log').read().split('\n\n'):
		    line, *chain = event.strip().split('\n')
		    names = []
		    for c in chain:
		        name, file = re.fullmatch(r'\s*[0-9a-f]+ (.*) \((.*)\)', c).groups()
		        name = re.sub(r'\+0x[0-9a-f]+$', '', name)
		        if name == '[unknown]' and not file.startswith('['):
		            name = file.split('/')[-1]
		        names.append(name)
		    stack = ';'.join(reversed(names))
		    if 'cpu-clock:' in line:
		        sums[0][stack] += int(line.split()[-2])
		    elif 'kmalloc:' in line:
		        sums[1][stack] += int(re.search(r'bytes_req=(\d+)', line).group(1))
		for of, path in zip(sums, ('samples', 'bytes')):
		    got = [line.rsplit(' ', 1) for line in open(path).read().splitlines()]
		    assert {k: int(v) for k, v in got} == of and of, path
	END
	telcat -f tel log | telcat -f folded --weight allocated | LC_ALL=C sort | cmp bytes -
	# names of functions, and of files of code without one
	printf '%s\n' 'a 1 1.000000: 7 cycles: ' $'\t7f10 f(int (*)(char)) const+0x1f (/x/a b.so)' \
	    $'\t7f11 [unknown] (/x/lib c.so)' $'\t7f12 [unknown] ([unknown])' \
	    $'\t7f13 g (inlined)' $'\t7f14 h+0x10' $'\t7f15 +0x1 (/x/y)' \
	    $'\t7f16 k+0x1 (/x/l.so (deleted))' $'\t7f17 [unknown] (/x/m.so (deleted))' '' >names
	[ "$(telcat -f folded names)" = \
	    'm.so (deleted);k;+0x1;h;g;[unknown];lib c.so;f(int (*)(char)) const 7' ]
	# as simpleperf of Android has them, with tabs
	printf '%s\n' $'my app\t9 [007] 5.936601:\t\t70 task-clock:u:' \
	    $'        b3cea6c4\tLock::unlock() (/x/libc.so)' \
	    $'        b3d185b1\tlock(int *) (/x/libc.so)' '' >simple
	[ "$(clean telcat -f folded simple)" = 'lock(int *);Lock::unlock() 70' ]
	clean telcat simple | grep -q ' task_clock cpu=7 tid=9\["my app"\] period=70 '
	# chains that come late; the innermost frames of too many
	python3 - >late <<-'END'
		for i in range(9000):
		    print(f'a 1 {i}.000000: 5 cycles: ')
		for k in (1024, 1025):
		    print(f'a 1 9{k}.000000: {k} cycles: ')
		    for i in range(k):
		        print(f'\t7f {"f" if i < 1024 else "g"} (/x)')
		    print()
	END
	telcat -f folded -w 'period > 1024' late >got
	[ "$(tr ';' '\n' <got | grep -c '^f')" -eq 1024 ]
	run ! grep -q g got
	telcat -H -w 'period == 1024' late | grep -q ' stack='
}

@test "any input and output of a trace is the same trace" {
	for file in "$FTRACE"/*.zst "$FTRACE/hand.trace"; do
		telcat -q "$file" >text
		telcat -q text | cmp - text
		telcat -f tel "$file" >log.tel
		telcat -q log.tel | cmp - text
		zstd -dqcf "$file" | telcat -q | cmp - text
	done
}

@test "values and orders at the limits of their forms" {
	{
		printf ' a-1 [000] .... 1.00000%d: mm_page_alloc: pfn=%s order=%d\n' \
		    1 0x10 0 2 0x10 32 3 0x10 33 4 -1 1
		echo ' a-1 [000] .... 1.000005: rcu: vec: [act=RCU] k=5'
		echo ' a-1 [000] .... 1.000006: rcu: vec=9 [act=RCU] k=[b=5'
	} >log
	clean telcat -H log | cut -d ' ' -f 2,6- | diff - <(cat <<-'END'
		mm_page_alloc pfn=0x10 order=0 address=0x10000 size=4096
		mm_page_alloc pfn=0x10 order=32 address=0x10000 size=17592186044416
		mm_page_alloc pfn=0x10 order=33
		mm_page_alloc pfn=0xffffffffffffffff order=1 address=0x0 size=8192
		rcu text="vec: [act=RCU]" k=5
		rcu vec=9 act="RCU" k="[b=5"
	END
	)
}

@test "types that come late, or turn out to be text, are known from then on" {
	{
		for i in $(seq 3000); do
			printf ' a-1 [000] .... 1.%06d: one: v=%d pad=%060d\n' \
			    "$i" "$i" 0
		done
		echo ' a-1 [000] .... 2.000001: two: w=1'
		echo ' a-1 [000] .... 2.000002: one: v=none pad=1'
		echo ' a-1 [000] .... 2.000003: one: v=5 pad=1'
		echo ' a-1 [000] .... 2.000004: one: other=-1'
	} >log
	clean telcat -q log >text
	[ "$(grep -c '^# type: one ' text)" -gt 1 ]
	grep -q 'two cpu=0 context="...." tid=1\["a"\] w=1' text
	grep -q 'one .* v="none" ' text
	grep -q 'one .* v="5" ' text
	grep -q 'one .* other=-1' text
	telcat -q text | cmp - text
	telcat -f tel log | telcat -q | grep -v '^#' |
	    cmp - <(grep -v '^#' text)
	[ "$(telstat -f json log | jq -s '[.[] | .. | .damaged? | numbers] | add')" = 0 ]
	# more kinds of events than are kept
	for i in $(seq 1500); do
		echo " a-1 [000] .... 3.000001: type$i: v=$i"
	done >many
	clean telcat -q --no-header many >text
	[ "$(wc -l <text)" -eq 1500 ]
	tail -n 1 text | grep -q 'other event="type1500: v=1500"'
}

@test "names of events and systems are spelled, roles are of all their types" {
	{
		echo ' a-1 [000] .... 1.000001: kmem:kmalloc: ptr=0x10 bytes_req=8'
		printf ' a-1 [000] .... 1.000002: k\33m:kfree: call_site=1 x=1\n'
		echo ' a-1 [000] .... 1.000003: kmem:kfree: ptr=0x10'
		echo ' a-1 [000] .... 1.000004: kmem:kfree: ptr=0x20 y=1'
		echo ' a-1 [000] .... 1.000005: cpu-clock:pppH: ptr=0x20'
	} >log
	clean telcat -q log >text
	grep -q '^# type: kfree 2 k_m ' text
	grep -q '^# type: cpu_clock 5 event ' text
	[ "$(grep -c '^# role: kfree free ptr thread=tid$' text)" -eq 2 ]
	telcat -q text | cmp - text
	for log in log text; do
		telstat $log | grep -q '^freed *1 blocks'
		telstat $log | grep -q '^unknown *1 blocks'
	done
}

@test "the name of a place in the code has its first 255 bytes" {
	name=$(printf '%0300d' 0 | tr 0 n)
	printf 'a 1 1.000001: kmem:kfree: call_site=%s ptr=0x10\n' "$name" \
	    "${name:0:255}" >log
	clean telcat -f json log >got
	python3 - <<-'END'
		import json
		labels = [json.loads(line)["labels"]["call_site"] for line in open("got")]
		assert labels == ["n" * 255] * 2, labels
	END
}

@test "samples without times are in their order, with their stacks" {
	{
		echo 'node-v1 31912 cpu-clock: '
		printf '\t%s\n' '13a80b608e0a RegExp:[&<>] (/tmp/perf-7.map)' \
		    'c6d7895aac9 main (/bin/node)' ''
		echo 'Web Content 12/13 [001] 250000 cycles:u: '
		# as they are once blanks at the start of lines are gone
		echo 'ffffffff8103d0ca write ([kernel.kallsyms])'
		echo
		printf '%s\n' '       dd 7    cycles:  ffffffff8134315f flush+0x1 (x)' \
		    '       dd 7     5 cycles:      400577 b'
	} >log
	for log in log <(cat log); do
		clean telcat -H "$log" >got
		diff - got <<-'END'
			0000000000000001 cpu_clock tid=31912["node-v1"] stack=2["RegExp:[&<>]"]
			0000000000000002 cycles cpu=1 tid=13["Web Content"] pid=12 period=250000 stack=3["write"]
			0000000000000003 cycles tid=7["dd"] stack=4["flush"]
			0000000000000004 cycles tid=7["dd"] period=5 stack=5["b"]
		END
	done
	run -1 telcat -T s log
	# in expressions all of it, and not the number of a frame
	[ "$(telfilter -c -w 'stack ~ "^main;"' log)" = 1 ]
	[ "$(telfilter -c -w 'stack == "main;RegExp:[&<>]"' log)" = 1 ]
	[ "$(telfilter -c -w '.stack == 4 || stack == "b"' log)" = 2 ]
	run -2 telfilter -c -w 'stack > 1' log
	telstat --raw -g stack -s 'n=sum(period)' log | grep -A2 stack=write |
	    grep -q 'total 250000'
	telcat -q -f folded log | sort | diff - <(printf '%s\n' \
	    'cpu_clock;main;RegExp:[&<>] 1' 'cycles;b 5' 'cycles;flush 1' \
	    'cycles;write 250000')
	# a line that only looks like one
	printf 'chapter 12 introduction:\n' >other
	run -1 telcat other
	[ "$(clean telcat --as ftrace -c other)" = 1 ]
	# in a log with times, it has none
	{ printf 'a 1 [000] 1.000001: cycles: \n\t400577 b\n\n'; cat log; } >mixed
	[ "$(clean telcat -H mixed | cut -d ' ' -f 1 | sort -u)" = 000000003B9ACDE8 ]
}

@test "the places of frames in the source go with them" {
	printf '%s\n' 'sh 7 1.000001: 5 cycles:' $'\t  400577 leaf+0x1 (/bin/sh)' \
	    '  my file.c:12' $'\t  400588 middle+0x1 (/bin/sh)' '  middle+513' \
	    $'\tffffffff821f26e7 fault ([kernel.kallsyms])' \
	    '  [kernel.kallsyms][ffffffff821f26e7]' $'\t  400599 main (/bin/sh)' \
	    '  :0' '' 'sh 7 1.000002: 1 cycles:' '   three.c:12' '  none' >log
	run -3 --separate-stderr telcat -f folded log
	[ "$output" = $'<none> 1\nmain;fault;middle;leaf 5' ]
	[[ $stderr == *'found "three.c:12"'*'found "none"'*' 2 damaged places, '* ]]
}

@test "times of the scheduler are numbers, in nanoseconds" {
	printf 'sh 7 [000]  1.00000%d: sched:sched_stat_runtime: %s\n' \
	    1 'comm=sh pid=7 runtime=97640 [ns] vruntime=12 [ns]' \
	    2 'comm=sh pid=7 runtime=2360 [ns] vruntime=none [ns]' >log
	telcat --types -f json log >types
	jq -e '.fields | map(select(.unit == "ns").name) == ["runtime"]' types
	telcat -f json log | jq -s 'map(.fields | .runtime, .vruntime)' -c >got
	diff - got <<<'[97640,"12 [ns]",2360,"none [ns]"]'
	[[ $(telstat -s 's=sum(runtime)' log) == *'total 100 us '* ]]
}

@test "records of perf have their names, are no samples, and count what was lost" {
	cat >log <<-'END'
		sh     0     0.000000: PERF_RECORD_COMM: sh:7/7
		sh 7/7 [000]  1.000001: PERF_RECORD_FORK(7:7):(6:6)
		sh 7/7 [000]  1.000002: PERF_RECORD_LOST lost 17
		sh 7/7 [000]  1.000003: PERF_RECORD_LOST_SAMPLES lost 3
		sh 7/7 [000]  1.000004:  5 cycles:
		        400577 main+0x1 (/bin/sh)

		sh 7/7 [000]  1.000005: PERF_RECORD_LOST
	END
	run -0 --separate-stderr telcat -H -T s -F text log
	diff - <(echo "$output") <<-'END'
		0.000000000 PERF_RECORD_COMM text="sh:7/7"
		1.000001000 PERF_RECORD_FORK text="(7:7):(6:6)"
		1.000004000 cycles
		1.000005000 PERF_RECORD_LOST text=""
	END
	[[ $stderr == *': 20 events lost when the log was recorded' ]]
	[ "$(telcat -q -f folded log)" = 'main 5' ]
}

@test "the function behind a sample's address is its stack" {
	printf 'a 1 1.00000%d: 5 cycles: %s\n' 1 '  400577 b+0x1 (/bin/a)' \
	    2 '7fe21088669e [unknown] (/lib/c.so)' 3 '12 c' >log
	clean telcat -H log | cut -d ' ' -f 5- | diff - <(printf '%s\n' \
	    'stack=1["b"]' 'stack=2["c.so"]' 'text="12 c" stack=0')
	# behind lines that have none, and without its end
	{
		for i in $(seq 6000); do
			printf ' a-1 [000] .... 1.%06d: one: pad=%040d\n' "$i" 0
		done
		printf 'a 1 2.000001: cycles: 400577 b+0x1'
	} >late
	telcat -q -H late | tail -n 1 | grep -q ' cycles tid=1\["a"\] stack=1\["b"\]$'
}

@test "files of perf and trace-cmd are not logs, but what prints them is named" {
	while read -r magic tool; do
		# with content, and without
		for rest in '\0\1%.0s' ''; do
			# shellcheck disable=SC2059
			printf "$magic$rest" {1..5000} >own
			expect 1 "telcat: own: not a log, but what '$tool' prints of it is one" \
			    telcat own
		done
		# shellcheck disable=SC2059
		printf "${magic%?}" >own
		expect 1 'telcat: own: unknown format: *' telcat own
	done <<-'END'
		PERFILE2 perf script
		\x17\x08\x44tracing trace-cmd report
	END
}

@test "fields of perf script are optional" {
	clock=000000310036F8E0
	check() {
		printf '%s\n' "$1" >log
		[ "$(clean telcat -H log)" = "$clock $2" ]
	}
	check '210.457000160: cpu-clock: ' 'cpu_clock'
	check '210.457000160:  250000 cpu-clock:' 'cpu_clock period=250000'
	check '  27 210.457000160: cpu-clock: ' 'cpu_clock tid=27'
	check '9/27 [001] 210.457000160: cpu-clock:' 'cpu_clock cpu=1 tid=27 pid=9'
	check 'Web C 210.457000160: cpu-clock:' 'cpu_clock comm="Web C"'
	check 'deadbeef 210.457000160: 5 cpu-clock:' \
	    'cpu_clock comm="deadbeef" period=5'
	check '  sh  27 UM    210.457000160: 5 cpu-clock:' \
	    'cpu_clock context="UM" tid=27["sh"] period=5'
	check '27 K     210.457000160: cpu-clock:' 'cpu_clock context="K" tid=27'
	check 'sh 27 [000] 2026-11-30 08:10:19.046836 210.457000160: cpu-clock:' \
	    'cpu_clock date="2026-11-30 08:10:19.046836" cpu=0 tid=27["sh"]'
	# logs of others, as of the virtual machine of Java
	for line in '0.123: [GC pause' '12.345: one: two' 'a 12.345: one: two' \
	    '12.345678: one two' '12.345678: [GC: 1'; do
		echo "$line" >log
		run -1 telcat log
	done
}

@test "what perf shows beside a sample's address is not its stack" {
	printf 'a 1 1.00000%d: 5 cycles: %s\n' \
	    1 '       0 400577 b+0x1 (/bin/a)' \
	    2 '7ff19c48e408 d (//anon) ffffffff81000002 c (/bin/a)' \
	    3 '1e05080021 |OP N/A|LVL N/A or N/A|BLK  N/A 400577 b+0x1 (/bin/a)  3' \
	    4 '400577 (an f)::b(int)+0x1 (/bin/a) ABI:2    AX:0x1    BX:0x219c07a' \
	    5 '400577 b+0x1 (/bin/a) => ffffffff81000002 c (/bin/a)' \
	    6 '400577 (/bin/a)' 7 '12 facade' >log
	clean telcat -H -F text,text_2,stack log | cut -d ' ' -f 3- >got
	diff - got <<-'END'
		text="0" stack=1["b"]
		text="7ff19c48e408 d (//anon)" stack=2["c"]
		text="1e05080021 |OP N/A|LVL N/A or N/A|BLK  N/A" text_2=3 stack=1["b"]
		text="ABI:2    AX:0x1    BX:0x219c07a" stack=3["(an f)::b(int)"]
		text="=> ffffffff81000002 c (/bin/a)" stack=1["b"]
		stack=4["(/bin/a)"]
		text="12 facade" stack=0
	END
	# behind a call chain; its own address is one of data
	{
		printf 'a 1 1.000001: 5 faults: 7ff19c48e408 d (//anon)\n'
		printf '\t%16s %s\n' 400577 'b+0x1 (/bin/a)' 400588 'main (/bin/a)'
		printf '%s\n' '  main.c:12' ' 0x400577/0x400588/P/-/-/0  ' \
		    ' ABI:2    AX:0x1' ' insn: 90' '            4000' ' N/A' ' 2M' ''
		printf 'a 1 1.000002: 5 faults: \n insn: 90\n\nPERF_RECORD_FINISHED_ROUND\n'
		printf 'a 1 1.000003: PERF_RECORD_NAMESPACES 1/1 - nr_namespaces: 2\n'
		printf '\t\t[0/net: 0/0, 1/uts: 4/0xeffffff9, \n\t\t 4/user: 0/0]\n'
		printf 'a 1 1.000004: 5 faults: 7ff19c48e408 d (//anon)\n'
		printf '\t400577 b\n'
	} >log
	for log in log <(cat log); do
		[ "$(clean telcat -f folded "$log" | sort)" = \
		    $'<none> 5\nb 5\nmain;b 5' ]
	done
	clean telcat -H -F text log | cut -d ' ' -f 2- | diff - <(printf '%s\n' \
	    'faults text="7ff19c48e408 d (//anon)"' 'faults' \
	    'PERF_RECORD_NAMESPACES text="1/1 - nr_namespaces: 2"' \
	    'faults text="7ff19c48e408 d (//anon)"')
	telfilter -w true log | cmp - log
}

@test "the options of the kernel's own trace file" {
	cat >log <<-'END'
		    sh-7     (     7) [000] ..... 1.000001: sys_openat(dfd: 0xffffff9c, filename: 0x5642f05326b0, flags: 0x241)
		    sh-7     (     7) [000] ..... 1.000002: sys_openat -> 0xfffffffffffffffe
		    sh-7     (     7) [000] ..... 1.000003: sys_getpid()
		    sh-7     (     7) [000] ..... 1.000004: kmalloc: call_site=f+0x1/0x2 ptr=0xffff8881b813a2e0 (-131384256257312) bytes_req=0xb (11) node=0xffffffff (-1)
		    sh-7     (     7) [000] ..... 1.000005: <stack trace>
		 => f+0x1/0x2 <ffffffff815c6efa>
		 => main+0x26b/0x340
		    sh-7     (     7) [000] ..... 1.000006: <user stack trace>
		 => /usr/bin/sh[+0xd2aa7] <00007fd7afd81aa7>
		 =>  <00007fbe6d669109>
		    sh-7     (     7) [000] ..... 1.000007: sys_close -> 0x0
	END
	clean telcat -H log | cut -d ' ' -f 2,7- | diff - <(cat <<-'END'
		sys_enter_openat dfd=0xffffff9c filename=0x5642f05326b0 flags=0x241 stack=0
		sys_exit_openat ret=0xfffffffffffffffe stack=0
		sys_enter_getpid stack=0
		kmalloc call_site=0x387361b7687b9904["f+0x1/0x2"] ptr=0xffff8881b813a2e0 bytes_req=11 node=-1 stack=4["f"]
		sys_exit_close ret=0x0 stack=0
	END
	)
	[ "$(telcat -f folded log)" = \
	    '<00007fbe6d669109>;/usr/bin/sh[+0xd2aa7];main;f 11' ]
	# of other clocks, and in microseconds from the start
	cat >ticks <<-'END'
		    kworker/0:1-7    [000] ..... 132864225182673: kfree: ptr=1
		    sh-7    [001]  132864225182674: kfree: ptr=1
	END
	run -0 --separate-stderr telcat ticks
	[[ $output != *'tick rate'* ]]
	grep -v '^#' <<<"$output" | diff - <(cat <<-'END'
		000078D6DCF203D1 kfree cpu=0 context="....." tid=7["kworker/0:1"] ptr=1
		000078D6DCF203D2 kfree cpu=1 tid=7["sh"] ptr=1
	END
	)
	cat >latency <<-'END'
		# irqsoff latency trace v1.1.5 on 6.18.0
		  sh-7         1d.h4.    0us!: kfree: ptr=1
		  <idle>-0    12.....  381us : _raw_spin_lock <-flush
	END
	clean telcat -H latency | diff - <(cat <<-'END'
		0000000000000000 kfree cpu=1 context="d.h4." tid=7["sh"] ptr=1
		000000000005D048 function cpu=12 context="....." tid=0["<idle>"] func="_raw_spin_lock" caller="flush"
	END
	)
}

@test "the options of trace-cmd report" {
	# of an instance; with -l; with --ts-diff; with --raw-ts
	cat >log <<-'END'
		one:               sh-7     [000] 1.000001: kfree:   ptr=(nil)
		    sh-7       1dNh3. 1.000002: kfree:   ptr=(nil)
		    sh-7     [000] 1.000003: (+1)    kfree:   ptr=(nil)
		nginx: worker 2-7     [000] 1.000004: kfree:   ptr=(nil)
	END
	clean telcat -H log | cut -d ' ' -f 3- | diff - <(cat <<-'END'
		cpu=0 buffer="one" tid=7["sh"] ptr=0x0
		cpu=1 context="dNh3." tid=7["sh"] ptr=0x0
		cpu=0 tid=7["sh"] ptr=0x0
		cpu=0 tid=7["nginx: worker 2"] ptr=0x0
	END
	)
	echo '    sh-7     [000]54565785385711: kfree:   ptr=(nil)' >log
	[ "$(telcat -H log)" = '000031A096413AEF kfree cpu=0 tid=7["sh"] ptr=0x0' ]
}

@test "a stack behind an event of another processor is an event" {
	cat >log <<-'END'
		    sh-7     (     7) [000] ..... 1.000004: kfree: ptr=0x1
		    ls-8     (     8) [001] ..... 1.000004: kfree: ptr=0x2
		    sh-7     (     7) [000] ..... 1.000005: <stack trace>
		 => f+0x1/0x2
		 => main+0x26b/0x340
		    ls-8     (     8) [001] ..... 1.000006: <stack trace>
		 => g+0x1/0x2
		    ls-8     (     8) [001] ..... 1.000006: <user stack trace>
		 => main+0x1/0x2
		    sh-7     (     7) [000] ..... 1.000006: <user stack trace>
		 => main+0x1/0x2
	END
	clean telcat -H log | cut -d ' ' -f 2,5,7- | diff - <(cat <<-'END'
		kfree tid=7["sh"] ptr=0x1 stack=0
		kfree tid=8["ls"] ptr=0x2 stack=0
		kernel_stack tid=7["sh"] text="<stack trace>" stack=2["f"]
		kernel_stack tid=8["ls"] text="<stack trace>" stack=3["g"]
		user_stack tid=7["sh"] text="<user stack trace>" stack=1["main"]
	END
	)
	telcat -f folded log | diff - <(printf '%s\n' 'kernel_stack;main;f 1' \
	    'kernel_stack;main;g 1' 'user_stack;main 1')
}

@test "latencies and lost events of trace-cmd report" {
	cat >log <<-'END'
		          <idle>-0     [000]  1.500000: sched_switch:         swapper/0:0 [120] R ==> bash:77 [120] Latency: 12.345 usecs
		            bash-77    [000]  1.500010: sched_switch:         prev_pid=77 next_pid=0 next_prio=120 Latency: 5.001 usecs
		            bash-77    [000]  1.500011: sched_switch:         prev_pid=77 next_pid=0 next_prio=120
		CPU:1 [12 EVENTS DROPPED]
		CPU:1 [EVENTS DROPPED]

		Average wakeup latency: 8.673 usecs
		Maximum Latency: 12.345 usecs at timestamp: 1.500000
		Minimum Latency: 5.001 usecs at timestamp: 1.500010

		RT task timings:
	END
	run -0 --separate-stderr telcat -H log
	[[ $stderr == *'13 events lost when the log was recorded' ]]
	[ "${#lines[@]}" -eq 3 ]
	[[ ${lines[0]} == *' next_prio=120 latency=12345' ]]
	[[ ${lines[1]} == *' next_prio=120 latency=5001' ]]
	[[ ${lines[2]} == *' next_prio=120' ]]
}

@test "what a system call gives has one name" {
	cat >log <<-'END'
		  sh     7 [000]  1.000001: syscalls:sys_exit_openat: 0xfffffffffffffffe
		    sh-7     [000] 1.000002: sys_exit_openat:      0xfffffffffffffffe
		    sh-7     (     7) [000] ..... 1.000003: sys_openat -> 0xfffffffffffffffe
	END
	[ "$(clean telcat -H log | grep -c ' ret=0xfffffffffffffffe$')" -eq 3 ]
}

@test "lines of perf trace" {
	cat >log <<-'END'
		         ? (         ): cat/77  ... [continued]: execve())                = 0
		     0.018 ( 0.003 ms): cat/77 brk()                                      = 0x55d9e5a44000
		                                       access (/lib/ld.so)
		                                       main (/bin/cat)
		     0.062 ( 0.006 ms): cat/77 access(filename: "/a (b) = c", mode: R)    = -1 ENOENT (No such file or directory)
		     0.100 (         ): Web Content/78 poll(ufds: 0x7f, nfds: 2)          ...
		  1500.101 (1500.001 ms): Web Content/78  ... [continued]: poll())        = 1
		  1500.102 ( 0.002 ms): close(fd: 3)                                      = 0
		  1500.103 (         ): cat/77 exit_group()                               = ?
		  1500.104 cat/77 sched:sched_process_exit(comm: "cat", prio: 120)
		  1500.105 ( 0.000 ms): cat/77 minfault [f+0x2] => 0x55d0cda785c0 (?k)
		         ? (         ): cat/77  ... [continued]: clone())                 =
	END
	clean telcat -H log | diff - <(cat <<-'END'
		0000000000000000 execve tid=77["cat"] ret=0 stack=0
		0000000000004650 brk tid=77["cat"] duration=3000 ret=0x55d9e5a44000 stack=2["access"]
		000000000000F230 access tid=77["cat"] duration=6000 filename="/a (b) = c" mode="R" ret=-1 text="ENOENT (No such file or directory)" stack=0
		00000000000186A0 poll tid=78["Web Content"] ufds=0x7f nfds=2 stack=0
		000000005969B988 poll tid=78["Web Content"] duration=1500001000 ufds=0x7f nfds=2 ret=1 stack=0
		000000005969BD70 close duration=2000 fd=3 ret=0 stack=0
		000000005969C158 exit_group tid=77["cat"] ret="?" stack=0
		000000005969C540 sched_process_exit tid=77["cat"] comm="cat" prio=120 stack=0
		000000005969C928 minfault tid=77["cat"] duration=0 text="[f+0x2] => 0x55d0cda785c0 (?k)" stack=0
		000000005969C928 clone tid=77["cat"] stack=0
	END
	)
	[ "$(telcat -f folded -w 'name == brk' log)" = 'main;access 1' ]
	telfilter -w true log | cmp - log
	printf '%s\n' '0.000 (' '1.000 (): ' '1.000 ( ms): a()' '1.000 b()' '? a()' \
	    '1.00 ( ): a()' '1.000 ( ): a) = 3' >bad
	run -3 --separate-stderr telcat -H --as ftrace bad
	[ -z "$output" ]
}

@test "frames in lines that end as those of Windows have no such end" {
	printf '%s\n' 'a 1/1 [000] 1.000000: 1 cycles:' \
	    $'\tffffffff81000000 foo+0x10 (bar)' $'\tffffffff81000001 main (bar)' \
	    '' >log
	sed 's/$/\r/' log >crlf
	telcat -f folded log >want
	grep -q '^main;foo ' want
	telcat -f folded crlf | diff want -
}

@test "samples that have neither times nor names" {
	local blank=' '
	# -F comm,tid,period,ip,sym of a profile with call chains
	cat >chains <<-END
		sh    12     500000$blank
		$(printf '\tffffffff8161f1de alloc_pages')
		  main.c:12
		$(printf '\tffffffff81658996 do_wp_page')

		a b 19885     250000$blank
		$(printf '\tffffffff8161f1de alloc_pages')

	END
	clean telcat -H --tb-hz 1e9 chains | diff - <(cat <<-'END'
		0000000000000001 sample tid=12["sh"] period=500000 stack=2["alloc_pages"]
		0000000000000002 sample tid=19885["a b"] period=250000 stack=3["alloc_pages"]
	END
	)
	[ "$(telcat -f folded --tb-hz 1e9 chains)" = 'alloc_pages 250000
do_wp_page;alloc_pages 500000' ]
	clean telfilter -w 'period < 300000' chains | cmp - <(tail -n +6 chains)
	# -F ip,sym: a blank line is the place of what comes before a chain
	sed 's/^[as].*//; /main.c/d' chains >ips
	[ "$(telcat -f folded --tb-hz 1e9 ips)" = 'alloc_pages 1
do_wp_page;alloc_pages 1' ]
	sed 's/$/\r/' ips >crlf
	[ "$(telcat -f folded --tb-hz 1e9 crlf)" = 'alloc_pages 1
do_wp_page;alloc_pages 1' ]
	clean telfilter -w true ips | cmp - ips
	# without call chains: comm,ip,sym; tid,ip,sym,dso; ip
	cat >flat <<-'END'
		              cc      7f90b981b0c0 do_lookup_x
		      my program  ffffffff815ca36a kvfree_call_rcu
		           a.out            401136 main
		19919  ffffffff8158c221 next_uptodate (deleted) ([kernel.kallsyms])
		     7f90b981b0c0
	END
	clean telcat -H --tb-hz 1e9 flat | cut -d ' ' -f 2- | diff - <(cat <<-'END'
		sample comm="cc" stack=1["do_lookup_x"]
		sample comm="my program" stack=2["kvfree_call_rcu"]
		sample comm="a.out" stack=3["main"]
		sample tid=19919 stack=4["next_uptodate (deleted)"]
		sample stack=5["7f90b981b0c0"]
	END
	)
	# a table is something else
	printf '%-14s %12d x\n' one 123456 two 12345678 >table
	run -1 telcat table
}

@test "calls of perf trace in two lines, and its summaries" {
	cat >log <<-'END'
		     3.801 (         ): sleep/8106 clock_nanosleep(rqtp: 0x7ffe, rmtp: 0x7fff)        ...
		     3.950 (         ): sleep/8105 clock_nanosleep(rqtp: 0x7ffc, rmtp: 0x7ffd)        ...
		18446744073709.551 (         ): sh/8104 poll(nfds: 2)                         ...
		     3.960 ( 0.100 ms): sh/8103 read(fd: 3)                                           = 7
		     3.801 (100.124 ms): sleep/8106  ... [continued]: clock_nanosleep())              = 0
		     3.801 (100.124 ms): sleep/8106  ... [continued]: clock_nanosleep())              = 0
		     3.950 (         ): sh/8104  ... [continued]: wait4())                            = 8106 (sleep)
		     3.950 (300.167 ms): sleep/8105  ... [continued]: clock_nanosleep())              = -1 EINTR (Interrupted system call)

		 Summary of events:

		 sleep (8106), 218 events, 97.3%

		   syscall            calls  errors  total       min       avg       max       stddev
		                                     (msec)    (msec)    (msec)    (msec)        (%)
		   --------------- --------  ------ -------- --------- --------- ---------     ------
		   clock_nanosleep        1      0   100.396   100.396   100.396   100.396      0.00%
		   access                30     13     0.554     0.015     0.018     0.030      3.42%
	END
	clean telcat -H log | diff - <(cat <<-'END'
		000000000039FFA8 clock_nanosleep tid=8106["sleep"] rqtp=0x7ffe rmtp=0x7fff
		00000000003C45B0 clock_nanosleep tid=8105["sleep"] rqtp=0x7ffc rmtp=0x7ffd
		00000000003C45B0 poll tid=8104["sh"] nfds=2
		00000000003C6CC0 read tid=8103["sh"] duration=100000 fd=3 ret=7
		000000000039FFA8 clock_nanosleep tid=8106["sleep"] duration=100124000 rqtp=0x7ffe rmtp=0x7fff ret=0
		000000000039FFA8 clock_nanosleep tid=8106["sleep"] duration=100124000 ret=0
		00000000003C45B0 wait4 tid=8104["sh"] ret=8106 text="(sleep)"
		00000000003C45B0 clock_nanosleep tid=8105["sleep"] duration=300167000 rqtp=0x7ffc rmtp=0x7ffd ret=-1 text="EINTR (Interrupted system call)"
	END
	)
	clean telfilter -w true log | cmp - log
	sed 's/$/\r/' log >crlf
	clean telcat -H crlf | diff - <(telcat -H log)
	# perf trace -s prints them alone
	sed -n '/Summary/,$p' log >sums
	run -3 --separate-stderr telcat -H sums
	[ -z "$output" ]
	[[ $stderr == *'expected events, which perf trace prints without -s, found'* ]]
	[[ $stderr == *' 1 damaged place,'* ]]
}

@test "calls in two lines that are too long for one are two" {
	begun() {
		printf '     0.000 (         ): a/12 read(s: "%s") ...\n' "$1"
	}
	ends() {
		printf '     3.000 ( 3.010 ms): a/12  ... [continued]: read()) = 7 %s\n' "$1"
	}
	{
		begun "$(printf '%04000d' 0)"
		ends "$(printf '%065400d' 0)"
		begun x
		ends 'of it'
	} >log
	clean telcat -H log | cut -c 1-60 | diff - <(cat <<-'END'
		0000000000000000 read tid=12["a"] s="00000000000000000000000
		00000000002DC6C0 read tid=12["a"] duration=3010000 ret=7 tex
		0000000000000000 read tid=12["a"] s="x"
		00000000002DC6C0 read tid=12["a"] duration=3010000 s="x" ret
	END
	)
	# the first part of the log, where its types are found, has longer lines
	{
		begun x
		ends "$(printf '%0240000d' 0)"
	} >log
	run -3 --separate-stderr telcat -H log
	[[ $stderr == *'at most 65535 are allowed'* ]]
}

@test "branches, instructions and errors of perf script" {
	local tab=$'\t'
	cat >log <<-END
		            true 11 [000] 123.456789:     100003 cycles:u:      401136 main+0x4 (/tmp/a)  0x4005a0/0x4005b0/P/-/-/0  0x4005c0/0x4005d0/M/-/-/12
		            true 11 [000] 123.456799:     100003 cycles:u:   main+0x10/foo+0x0/P/-/-/0
		            true 11 [000] 123.456889:     100003 cycles:u:      401136 main+0x4 (/tmp/a)
		${tab}foo:
		${tab}0000000000401136${tab}insn: 55 48 89 e5
		${tab}000000000040113a${tab}insn: e8 c1 ff ff ff ${tab}# PRED 5 cycles [5] 0.20 IPC
		${tab}main:
		${tab}0000000000401100${tab}insn: c3 ${tab}# MISPRED
		            true 11 [000] 123.456899:          1   branches:uH:      7f12aabbcc00 _start+0x3 (/lib/ld.so) =>     7f12aabbdd00 _dl_start+0x0 (/lib/ld.so)
		 instruction trace error type 1 time 123.456894 cpu 0 pid 11 tid 11 ip 0x7f12aabbcc00 code 7: Overflow packet
		            true 11 [000] 123.456899:                    psb:  psb offs: 0                                          0 [unknown] ([unknown])
	END
	telcat -H log 2>err | cut -d ' ' -f 2- | diff - <(cat <<-'END'
		cycles cpu=0 tid=11["true"] period=100003 text="0x4005a0/0x4005b0/P/-/-/0  0x4005c0/0x4005d0/M/-/-/12" stack=1["main"]
		cycles cpu=0 tid=11["true"] period=100003 text="main+0x10/foo+0x0/P/-/-/0" stack=0
		cycles cpu=0 tid=11["true"] period=100003 stack=1["main"]
		branches cpu=0 tid=11["true"] period=1 text="=>     7f12aabbdd00 _dl_start+0x0 (/lib/ld.so)" stack=2["_start"]
		psb cpu=0 tid=11["true"] text="psb offs: 0                                          0 [unknown] ([unknown])" stack=0
	END
	)
	[ "$(cat err)" = "telcat: log: 1 event lost when the log was recorded" ]
	telfilter -w 'stack == "main"' log >got 2>err
	[ "$(grep -c insn: got)" -eq 3 ]
}

@test "the kernel's trace file before its first event is a log without any" {
	cat >trace <<-'END'
		# tracer: nop
		#
		# entries-in-buffer/entries-written: 0/0   #P:2
		#
		#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
		#              | |         |   |||||     |         |
	END
	[ "$(clean telcat -c trace)" = 0 ]
	clean telfilter -w true trace | cmp - trace
	# lines of a log that is not known are not one
	seq 3 >>trace
	run -1 telcat -c trace
}

# kernel_line SECONDS EVENT: a line of the kernel's trace_pipe.
kernel_line() {
	printf '          <idle>-0       [001] d..1. %s: %s\n' "$1" "$2"
}

@test "each line of a slow pipe is shown before the next one comes" {
	mkfifo fifo
	for command in 'telcat -e kmalloc,page' 'telfilter -e kmalloc,page' \
	    'telcat -T s -w live>1' 'telcat -f json' \
	    'telstat -i 1s -f csv -s n=sum(ptr)'; do
		$command fifo >out &
		exec 5>fifo
		kernel_line 1.000001 'kmalloc: ptr=ffff888000000010 bytes_req=8' >&5
		[[ $command == telstat* ]] || await grep -q 'kmalloc.*=8\|:8' out
		# its type is new
		kernel_line 3.000001 'page: ptr=ffff888000000020' >&5
		await grep -q 'page.*20\|^2000000000' out
		exec 5>&-
		wait $!
	done
}

@test "lines of a slow pipe are shown before the rest of the last one comes" {
	local ptr='ptr=ffff888000000010 bytes_req=8'

	mkfifo fifo
	telcat -H -T s -w 'live>1' fifo >out &
	exec 5>fifo
	kernel_line 1.000001 "kmalloc: $ptr" >&5
	await grep -q kmalloc out
	kernel_line 2.000001 "kmalloc: $ptr" >&5
	sleep 0.05
	{
		kernel_line 2.000002 "kmalloc: $ptr"
		printf '   <idle>-0 '
	} >&5
	await has_lines 3 out
	printf '[001] d..1. 2.000003: %s\n' "kmalloc: $ptr" >&5
	exec 5>&-
	wait $!
}

@test "a type that comes late in a trace can be selected" {
	for i in {1..3000}; do
		kernel_line "1.$((100000 + i))" "a_name_that_is_longer: n=$i text=$i more=$i of=it"
	done >log
	kernel_line 2.000001 'kmalloc: ptr=ffff888000000010 bytes_req=8' >>log
	[ "$(wc -c <log)" -gt 262144 ]
	for option in '-e kmalloc' '-w bytes_req==8'; do
		# shellcheck disable=SC2086 # an option and its argument
		telcat -H $option log >want
		[ "$(wc -l <want)" -eq 1 ]
		# shellcheck disable=SC2086
		telcat -H $option < <(cat log) | cmp - want
	done
	# text of it names the new type alone
	telcat log >text
	[ "$(grep -c '^# teltools' text)" = 1 ]
	[ "$(grep -c '^# type: ' text)" = 3 ]
	[ "$(grep -c '^# role: ' text)" = 1 ]
	telcat text | cmp - text
	# so the log is in each format, its block with a peak, and in statistics
	telcat -f tel log >log.tel
	for input in log text log.tel; do
		run -0 telstat $input
		[[ $output == *$'\npeak                1 block'* ]]
		telcat -H -e kmalloc < <(cat $input) | cmp - want
		telstat -f csv -s 'n=sum(bytes_req)' < <(cat $input) >got
		grep -q ',n,sum,sum,.*,8,$' got
		run -2 telstat -s 'n=sum(bytes_reqs)' < <(cat $input)
		run -2 --separate-stderr telcat -H -e kmaloc < <(cat $input)
		[[ $stderr == *"unknown event type 'kmaloc'"* ]]
	done
	run -2 telcat -e kmaloc log
	# and so does a column that none has; of one that comes late there is a value
	run -2 --separate-stderr telcat -H -F n,bytes_rek < <(cat log)
	[[ $stderr == *"no event type has a field 'bytes_rek'"* ]]
	telcat -H -F n,bytes_req < <(cat log) | tail -n 1 | grep ' bytes_req=8$'
}
