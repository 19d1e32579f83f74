#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The tables of telreplay's report: their columns and rows in each format, and
# their figures, as far as they follow from the trace or from each other.

load telreplay

# Sizes, lifetimes and times with gaps between them; one of each operation.
small() {
	cat >t.txt <<-END
		1: malloc 0x1000 100 0 10
		2: calloc 0x2000 10 30 20 30
		1: memalign 0x3000 48 5000 40 50
		2: realloc 0x1010 0x1000 200 60 70
		1: free 0x2000 80 90
		2: malloc 0x4000 3 100 110
		1: free 0x0 112 113
		2: malloc 0x0 7 114 115
		1: realloc 0x5000 0x0 0 116 117
		1: free 0x4000 3990 3995
		1: free 0x3000 4000 4010
		1: thread_done 0x0 4020 4030
	END
}

@test "the report on a trace has these lines as text" {
	small
	clean telreplay --dry-run --details t.txt >report
	diff - report <<-'END'
		trace
		  operations    3 malloc, 1 calloc, 1 aligned, 2 realloc, 4 free,
		                1 thread end
		  threads       2; between them 2 frees, 1 reallocs
		  requested     5,603 (5.5 KiB) bytes in 6 requests of up to 5,000
		  peak live     5,500 (5.4 KiB) bytes in 3 blocks, at event 3
		  not freed     200 bytes in 2 blocks
		  anomaly       1 free of NULL; first: event 6, 0x0
		  anomaly       1 realloc of NULL; first: event 8, 0x5000
		  anomaly       1 allocation that failed; first: event 7, 0x0
		  anomaly       1 alignment that is not a power of 2; first: event 2, 0x3000
		  lifetimes     p50 61 ns  p90 3.96 us  p99 3.96 us  longest 3.96 us

		sizes in bytes                    requests   share     not freed
		  0                                      1  16.67%             1
		  1                                      0   0.00%             0
		  2..3                                   1  16.67%             0
		  4..7                                   0   0.00%             0
		  8..15                                  0   0.00%             0
		  16..31                                 0   0.00%             0
		  32..63                                 0   0.00%             0
		  64..127                                1  16.67%             0
		  128..255                               1  16.67%             1
		  256..511                               1  16.67%             0
		  512..1,023                             0   0.00%             0
		  1,024..2,047                           0   0.00%             0
		  2,048..4,095                           0   0.00%             0
		  4,096..8,191                           1  16.67%             0

		blocks near the peak, if rounded up to size classes
		                                     sizes         bytes     slack
		  powers of 2                            3       8.8 KiB     38.6%
		  2 for each power                       3       6.6 KiB     18.9%
		  4 for each power                       3       5.5 KiB      2.9%
		  8 for each power                       3       5.5 KiB      2.6%
		  16 for each power                      3       5.5 KiB      2.3%

		lifetimes in operations             blocks   share
		  2..3                                   1  33.33%
		  4..7                                   1  33.33%
		  8..15                                  1  33.33%

		lifetimes in time, up to            blocks   share
		  64 ns                                  2  50.00%
		  128 ns                                 0   0.00%
		  256 ns                                 0   0.00%
		  512 ns                                 0   0.00%
		  1.024 us                               0   0.00%
		  2.048 us                               0   0.00%
		  4.096 us                               2  50.00%
	END
}

@test "a report is one screen, and --details has the sections that it names" {
	small
	clean telreplay --idle 5ms -a class,null,bump t.txt >report
	[ "$(wc -l <report)" -le 24 ]
	[ "$(wc -L <report)" -le 80 ]
	grep -c '^[a-z]' report | grep '^3$'
	grep -c '^  \(class\|null\|bump\)  ' report | grep '^6$'
	grep 'too short for reliable times: --repeat 100 ' report
	for ((i = 1; i <= 1000; i++)); do
		printf '1: malloc 0x1000 8\n1: free 0x1000\n'
	done >long.txt
	clean telreplay --idle 5ms -a class --runs 1 --repeat 20 long.txt >report
	run ! grep 'too short' report
	for one in sizes:'sizes in bytes' lifetimes:lifetimes threads:throughput \
	    classes:'blocks near' slack:'slack by' time:latency memory:memory \
	    machine:machine; do
		clean telreplay --idle 5ms -a class,null --runs 1 --sample 1 --details="${one%:*}" \
		    t.txt >report
		grep "^${one#*:}" report
		[ "$(grep -c '^[a-z]' report)" -le 9 ]
	done
	# a size class has its memory, its time and its slack, in a row of each
	clean telreplay --idle 5ms -a class,bump --runs 1 --sample 1 --details=classes \
	    t.txt >report
	for one in resident nanoseconds slack; do
		sed -n "/^$one.* by requested size/,/^\$/p" report >table
		grep -E '^ +class +bump$' table
		grep -E '^  256\.\.511 +[0-9]' table
	done
	clean telreplay --dry-run --details=sizes,lifetimes t.txt >report
	grep -c '^\(sizes\|lifetimes\) in' report | grep '^3$'
	expect 2 "*--details*sizes, lifetimes*" telreplay --details=size t.txt
}

@test "lifetimes below the resolution of the clock are one figure" {
	for ((i = 1; i < 9; i++)); do
		echo "1: malloc 0x${i}000 10 $((i / 4))000 $((i / 4))000"
		echo "1: free 0x${i}000 $((i / 4))000 $((i / 4))000"
	done >t.txt
	clean telreplay --dry-run --details t.txt >report
	grep -c '^  lifetimes     longest < 1 us$' report |
	    grep '^1$'
	sed -n '/^lifetimes in time/,/^$/p' report | diff - <(
	    echo 'lifetimes in time, up to            blocks   share'
	    echo '  1.024 us                               8 100.00%')
	# if all are longer, the resolution is beside them
	{
		grep malloc t.txt
		sed -n '/free/s/ [0-9]* [0-9]*$/ 9000 9000/p' t.txt
	} >later.txt
	want='p50 8.191 us  p90 9 us  p99 9 us  longest 9 us  resolution 1 us'
	clean telreplay --dry-run --details later.txt >report
	grep -qx "  lifetimes     $want" report
	telstat later.txt >report
	grep -qx "lifetimes  $want" report
	clean telreplay --dry-run --details=lifetimes \
	    "$TEL_TOP/tests/data/alloc/perl.heaptrack.zst" >report
	grep -c '^  lifetimes     not in time: the log has no clocks$' report |
	    grep '^1$'
	run ! grep 'lifetimes in time' report
}

@test "the report on a trace has these rows as CSV, and as JSON" {
	small
	clean telreplay --dry-run -f csv t.txt >report
	diff - report <<-'END'
		type,allocator,item,figure,value
		trace,,,threads,2
		trace,,,replay_threads,2
		trace,,,order,edges
		trace,,,operations,9
		trace,,,by_new,0
		trace,,,by_delete,0
		trace,,,by_sized,0
		trace,,,waits,2
		trace,,,crossing_frees,2
		trace,,,crossing_reallocs,1
		trace,,,partial_frees,0
		trace,,,pools,0
		trace,,,buffers,0
		trace,,,requests,6
		trace,,,requested_bytes,5603
		trace,,,largest_bytes,5000
		trace,,,peak_bytes,5500
		trace,,,peak_bytes_blocks,3
		trace,,,peak_blocks,4
		trace,,,peak_event,3
		trace,,,live_bytes,200
		trace,,,live_blocks,2
		operation,,malloc,events,3
		operation,,calloc,events,1
		operation,,aligned,events,1
		operation,,realloc,events,2
		operation,,free,events,4
		operation,,thread end,events,1
		anomaly,,free of NULL,events,1
		anomaly,,realloc of NULL,events,1
		anomaly,,allocation that failed,events,1
		anomaly,,alignment that is not a power of 2,events,1
		anomaly event,,alignment that is not a power of 2,log,t.txt
		anomaly event,,alignment that is not a power of 2,event,2
		anomaly event,,alignment that is not a power of 2,address,12288
		anomaly event,,alignment that is not a power of 2,thread,1
		anomaly event,,free of NULL,log,t.txt
		anomaly event,,free of NULL,event,6
		anomaly event,,free of NULL,address,0
		anomaly event,,free of NULL,thread,1
		anomaly event,,allocation that failed,log,t.txt
		anomaly event,,allocation that failed,event,7
		anomaly event,,allocation that failed,address,0
		anomaly event,,allocation that failed,thread,2
		anomaly event,,realloc of NULL,log,t.txt
		anomaly event,,realloc of NULL,event,8
		anomaly event,,realloc of NULL,address,20480
		anomaly event,,realloc of NULL,thread,1
		size,,0,requests,1
		size,,0,not_freed,1
		size,,2,requests,1
		size,,2,not_freed,0
		size,,64,requests,1
		size,,64,not_freed,0
		size,,128,requests,1
		size,,128,not_freed,1
		size,,256,requests,1
		size,,256,not_freed,0
		size,,4096,requests,1
		size,,4096,not_freed,0
		what_if,,1,used,3
		what_if,,1,bytes,8960
		what_if,,1,slack,0.3861607142857143
		what_if,,2,used,3
		what_if,,2,bytes,6784
		what_if,,2,slack,0.18926886792452835
		what_if,,4,used,3
		what_if,,4,bytes,5664
		what_if,,4,slack,0.028954802259887003
		what_if,,8,used,3
		what_if,,8,bytes,5648
		what_if,,8,slack,0.02620396600566577
		what_if,,16,used,3
		what_if,,16,bytes,5632
		what_if,,16,slack,0.0234375
		lifetime,,2,blocks,1
		lifetime,,4,blocks,1
		lifetime,,8,blocks,1
		lifetime_ns,,32,blocks,2
		lifetime_ns,,2048,blocks,2
		live,,0,done,1
		live,,0,blocks,2
		live,,0,bytes,200
	END
	clean telreplay --dry-run -f json t.txt >objects
	python3 - objects <<-'END' | diff <(tail -n +2 report) -
		import json
		import sys
		for line in open(sys.argv[1], encoding="ascii"):
		    row = json.loads(line)
		    head = row.pop("type"), row.pop("allocator", ""), row.pop("item", "")
		    for name, value in row.items():
		        print(*head, name, value, sep=",")
	END
}

@test "bytes have a second unit from 1,024 on" {
	for size in 1023 1024; do
		echo "1: malloc 0x1000 $size" >t.txt
		clean telreplay --dry-run t.txt | grep '^  requested'
	done >lines
	diff - lines <<-'END'
		  requested     1,023 bytes in 1 requests of up to 1,023
		  requested     1,024 (1.0 KiB) bytes in 1 requests of up to 1,024
	END
}

@test "a report on runs has these rows, with these columns" {
	small
	for form in csv json; do
		clean telreplay -a class,null --runs 2 --sample 1 -f $form \
		    t.txt >report
		python3 "$MODEL" shape $form <report >is.$form
	done
	cmp is.csv is.json
	diff - is.csv <<-'END'
		trace: threads replay_threads order operations by_new by_delete
		by_sized waits crossing_frees crossing_reallocs partial_frees
		pools buffers requests requested_bytes largest_bytes peak_bytes
		peak_bytes_blocks peak_blocks peak_event live_bytes live_blocks
		operation: events
		anomaly: events
		anomaly event: log event address thread
		size: requests not_freed
		what_if: used bytes slack
		lifetime: blocks
		lifetime_ns: blocks
		live: done blocks bytes
		machine: kernel processors runs repeat touch verified pace
		think_ns think_log sampled_each
		allocator: path has_delete has_sized failed failed_allocations
		errors left_out
		cost: ns least_ns most_ns own_ns wall_ns process_ns page_faults
		p99_ns p99_least_ns p99_most_ns
		run: operations cpu_ns wall_ns process_ns p99_ns peak_bytes
		end_bytes minor_faults major_faults
		latency: operations samples p50 p90 p99 p99.9 max subtracted
		latency_range: from_ns to_ns samples
		thread: id threads operations cpu_ns wait_ns wall_ns blocked
		memory: peak_bytes peak_over_live end_bytes idle_bytes
		freed_bytes freed_lazy_bytes baseline_bytes asked_bytes
		given_bytes run_live_bytes huge_bytes freed_idle_bytes
		peak_least_bytes peak_most_bytes end_least_bytes end_most_bytes
		residency: resident_bytes room_bytes free_bytes free_share
		huge_share lazy_bytes
		slack: blocks asked_bytes given_bytes
		size_time: allocation_samples allocation_ns free_samples free_ns
		sample: done time_ns phase live_bytes run_live_bytes
		resident_bytes lazy_bytes huge_bytes room_bytes
	END
	# the machine is that of the kernel's files
	{
		uname -srm
		sed -n 's/^model name\t: //p' /proc/cpuinfo | head -n 1 |
		    grep . || echo null
		sed -n 's/.*\[\(.*\)\].*/\1/p' \
		    /sys/kernel/mm/transparent_hugepage/enabled || echo null
	} >machine
	jq -r 'select(.type == "machine") | .kernel, .processor, .huge_pages' \
	    report | diff machine -
}

@test "a report on runs has these tables as text" {
	small
	clean telreplay -a class,null --runs 2 --sample 1 --details t.txt >report
	# titles and heads of columns; and the rows of those by allocator
	sed '/^machine/,/^$/d; s/^comparison/&/; s/\(page faults\)  *[TLci].*/\1/' report |
	    awk '/^[^ ]/ { print; getline; print }' | sed 's/^ *//; s/   */  /g' >is
	diff - is <<-'END'
		comparison
		ns/op  p99 ns  peak  at the end
		allocators
		class  built in
		trace
		operations  3 malloc, 1 calloc, 1 aligned, 2 realloc, 4 free,
		sizes in bytes  requests  share  not freed
		0  1  16.67%  1
		blocks near the peak, if rounded up to size classes
		sizes  bytes  slack
		lifetimes in operations  blocks  share
		2..3  1  33.33%
		lifetimes in time, up to  blocks  share
		64 ns  2  50.00%
		CPU time, nanoseconds an operation; telreplay's own is subtracted
		median  least  most  own  CPU/op  M ops/s page faults
		latency in nanoseconds, of one operation in 1
		samples  p50  p90  p99  p99.9  max
		throughput by thread, M ops/s while it runs
		1  2
		memory, net of that before the first operation
		peak  peak/live at the end  then idle  all freed  slack
		largest sample of resident memory: in blocks, and in none
		resident  in blocks  in none  share huge pages freed lazily
		slack by requested size
		class
		resident pages by requested size, near the peak of live bytes
		class
		nanoseconds to allocate and to free, medians by requested size
		class  null
		resident memory during the run, and while idle after it
		(live)  class  null
		counters per 1,000 operations, telreplay's own included
		page faults
		system calls for memory
		mmap  munmap  mremap  brk  madvise  mprotect
	END
	for title in CPU "memory," "largest sample" throughput counters "system calls"; do
		sed -n "/^$title/,/^\$/p" report | grep -E '^  (class|null)  ' |
		    awk '{ print $1 }' | tr '\n' ' ' | grep '^class null $'
	done
	sed -n '/^resident memory/,$p' report | sed -n '3,18p' |
	    sed 's/^ *//; s/  .*//' | tr '\n' ' ' | grep '^10% 20% 30% 40% 50% 60% 70% 80% 90% 100% end +50 ms +100 ms freed +50 ms +100 ms $'
}

@test "the figures of runs follow from the trace, and from each other" {
	for threads in 1 4; do
		python3 "$MODEL" make $((threads + 70)) 1500 $threads >t.txt
		clean telreplay -a glibc,bump,class --runs $((threads % 2 + 2)) --sample 4 \
		    -f json t.txt >report
		python3 "$MODEL" check report <t.txt
	done
}

@test "samples have the live bytes of the trace, and of the run" {
	awk 'BEGIN { for (i = 1; i <= 100; i++) {
		if (i % 3 == 0) printf "1: free 0x%d000 ", i - 2
		else printf "1: malloc 0x%d000 %d ", i, i * 10
		print i * 2000000, i * 2000000 + 9 } }' >t.txt
	clean telreplay --pace --runs 1 --idle 0 -a class -f json t.txt >report
	python3 "$MODEL" paced report <t.txt
	# the same in the table, of the nearest sample to each tenth
	often nearest_samples
}

# often COMMAND: of five tries one is right; a busy machine samples late.
often() {
	local try
	for try in 1 2 3 4 5; do
		if "$1"; then
			return 0
		fi
		echo "try $try was wrong"
	done
	return 1
}

nearest_samples() {
	clean telreplay --pace --runs 1 --idle 0 --details -a class t.txt >report
	grep '^  100%  *17\.1 KiB ' report || return
	awk '/^resident memory/ { table = 1 }
	    table && $1 ~ /%$/ { n++; x = $1 + 0
		want = x <= 64 ? 7360 * x / 64 : 7360 + 10140 * (x - 64) / 36
		is = $3 == "B" ? $2 / 1024 : $2
		if ((is - want / 1024) ^ 2 > 2.5 ^ 2) { print; wrong = 1 } }
	    END { exit wrong || n != 10 }' report
}

@test "the throughput of threads adds up to that of the run" {
	python3 "$MODEL" make 5 6000 2 >t.txt
	often both_throughputs
}

both_throughputs() {
	clean telreplay -q --order none --repeat 3 --runs 1 --idle 0 --details \
	    -a class t.txt >report
	# a thread runs for a part of the time, on a busy machine for a small one
	awk '/^CPU time/ { table = 1 } /^throughput/ { table = 2 } /^$/ { table = 0 }
	    $1 == "class" && table == 1 { run = $7 }
	    $1 == "class" && table == 2 { print; threads = $2 + $3 }
	    END { print run, threads
		exit !(run > 0 && threads >= 0.9 * run && threads < 100 * run) }' report
}

@test "the throughput of up to eight threads is shown, of more that of eight" {
	for n in 1 2 8 9; do
		seq "$n" | sed 's/.*/&: malloc 0x&0 8/' >t.txt
		clean telreplay -q --order none --runs 1 --idle 0 -a null \
		    --details=threads t.txt | sed -n '/^throughput/,/^$/p' >table
		{
			head -n 1 table
			sed -n 's/  */ /g; s/ $//; 2p' table
			grep -c '^  null ' table
		} >"$n.is" || [ "$n" = 1 ]
	done
	[ "$(tail -n 1 1.is)" = 0 ]
	title='throughput by thread, M ops/s while it runs'
	printf '%s\n' "$title" ' 1 2' 1 | diff - 2.is
	printf '%s\n' "$title" ' 1 2 3 4 5 6 7 8' 1 | diff - 8.is
	printf '%s\n' "$title; the first eight" ' 1 2 3 4 5 6 7 8' 1 | diff - 9.is
}

@test "the throughput of a thread is that of the time that it runs" {
	# one has ten thousand times the operations of the other
	awk 'BEGIN { print "1: malloc 0x10 9"; print "1: free 0x10"
	    for (i = 0; i < 10000; i++)
		print "2: malloc 0x20 9\n2: free 0x20" }' >t.txt
	often busy_throughput
}

busy_throughput() {
	clean telreplay -q --order none --repeat 100 --runs 1 --idle 0 --details \
	    -a class t.txt >report
	# of the run's time a busy machine lets the thread have a small part
	awk '/^CPU time/ { table = 1 } /^throughput/ { table = 2 } /^$/ { table = 0 }
	    $1 == "class" && table == 1 { run = $7 }
	    $1 == "class" && table == 2 { print; busy = $3 }
	    END { print run, busy; exit !(busy > 0 && busy < 100 * run) }' report
}

@test "times that --verify is in are not shown as those of an allocator" {
	trace t.txt 5 40000 1
	clean telreplay -a class,bump,null --verify --runs 4 -f csv t.txt >report
	run ! grep -E '^cost,(class|bump),,(ns|least_ns|own_ns|process_ns),' report
	run ! grep -E '^ratio,bump,class,(ns|process_ns)' report
	[ -n "$(figure cost class p99_ns <report)" ]
	[ -n "$(figure run class cpu_ns <report)" ]
	clean telreplay -a class,bump --verify --runs 2 t.txt |
	    grep -q '^  no ns/op: --verify takes time, which is not known$'
}

@test "operations that were not timed have no latency" {
	echo "1: malloc 0x1000 100 0 10" >one.txt
	clean telreplay --runs 1 -a class --sample 0 -f csv one.txt >report
	[ "$(figure latency class samples <report)" = 0 ]
	run ! grep -E '^latency,class,malloc,(p50|p99|max),' report
}

@test "the memory of no bytes is no multiple of them" {
	echo "1: malloc 0x1000 0 0 10" >none.txt
	clean telreplay --runs 1 -a class -f csv none.txt >report
	[ -n "$(figure memory class peak_bytes <report)" ]
	[ -z "$(figure memory class peak_over_live <report)" ]
}

@test "the time of a few operations is not shown as less than nothing" {
	echo "1: malloc 0x1000 100 0 10" >one.txt
	for allocator in null glibc; do
		telreplay -q --runs 2 -a $allocator one.txt >report
		# the table ends with an empty line
		sed '/^$/q' report >table
		grep -q "^  $allocator " table
		run ! grep -E ' -[0-9]' table
	done
}
