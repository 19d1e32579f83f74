#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# telreplay on what goes wrong: allocators, traces, outputs, command lines.

# "run --separate-stderr" sets stderr_lines.
# shellcheck disable=SC2154
load lib

# The library with a malloc that goes wrong at event 101, as $BROKEN says.
setup_file() {
	${CC:-cc} -std=c11 -O1 -shared -fPIC -o "$BATS_FILE_TMPDIR/broken.so" \
	    "$TEL_TOP/tests/cli/telreplay_broken.c"
}

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	{
		seq 100 | awk '{ printf "1: malloc 0x%d000 %d\n", $1, $1 }'
		echo "1: malloc 0x9000000 54320"
		echo "1: malloc 0x9100000 54321"
		echo "1: free 0x9100000"
		echo "1: free 0x9000000"
	} >t.txt
}

broken() {
	case ${CFLAGS-} in *-fsanitize*) skip "the sanitizer has malloc" ;; esac
	ln "$BATS_FILE_TMPDIR/broken.so" .
}

# fails HOW MESSAGE ...: each is named with its event, in one report; the other
# allocator has a report.
fails() {
	local allocators=() how
	for ((how = 1; how < $#; how += 2)); do
		allocators+=(-a "${!how}=./broken.so:BROKEN=${!how}")
	done
	run -1 --separate-stderr telreplay --timeout "${patience:-60s}" --runs 1 \
	    --verify "${allocators[@]}" -a class -f csv t.txt
	echo "$stderr"
	[[ $output == *"run,class,1,operations,104"* ]]
	while [ $# -gt 0 ]; do
		echo "$1"
		[[ $output == *"allocator,$1,,failure,"* ]]
		# shellcheck disable=SC2053,SC2154 # a pattern on purpose
		[[ $(grep -m 1 "^telreplay: $1: " <<<"$stderr") == $2 ]]
		shift 2
	done
}

@test "an allocator that fails is named with the event, and how" {
	broken
	fails crash "telreplay: crash: crashed at event 101 of t.txt: Seg*" \
	    abort "*crashed at event 101 of t.txt: Abort*\\\\x1b*cannot be" \
	    kill "telreplay: kill: was killed at event 101 of t.txt: *memory*" \
	    exit "*ended the process at event 101 of t.txt, with status 7" \
	    null "*at event 101 of t.txt: returned NULL*" \
	    spoil "*at event 103 of t.txt: a block does not hold what was*" \
	    early "*crashed before it was used: Seg*" \
	    late "*crashed after the last event, when what was left was*: Seg*" \
	    deep "telreplay: deep: crashed at event 101 of t.txt: Seg*"
}

@test "how one ends is known to who was started with SIGCHLD ignored, too" {
	broken
	run -1 --separate-stderr python3 -c '
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execvp(sys.argv[1], sys.argv[1:])' \
	    telreplay -a ./broken.so:BROKEN=early t.txt
	echo "$stderr"
	[[ $stderr == "telreplay: broken: crashed before it was used: Seg"* ]]
}

@test "without a figure there is no comparison; null has none that is lost" {
	broken
	exits 1 telreplay -q -a broken=./broken.so:BROKEN=crash t.txt 2>/dev/null |
	    grep -v '^ ' | paste -s -d ' ' | grep -x 'allocators  trace'
	clean telreplay -q --runs 1 -a null t.txt | head -n 2 | grep comparison
	clean telreplay -q --runs 1 -a null t.txt >report
	run ! grep 'no ns/op' report
}

@test "one that hangs is" {
	broken
	# which a machine under load may be for a while, too
	patience=3s fails hang "telreplay: hang: hung at event 101 of t.txt"
}

@test "what was found before a crash is not lost" {
	broken
	run -1 --separate-stderr telreplay --runs 1 --verify \
	    -a "broken=./broken.so:BROKEN=both" -f csv t.txt
	echo "$stderr"
	[[ ${stderr_lines[0]} == *"at event 103 of t.txt: a block does not hold"* ]]
	[[ $stderr == *"crashed after the last event"* ]]
	[[ $output == *"allocator,broken,,errors,1"* ]]
}

@test "blocks that overlap are named as such" {
	broken
	{
		echo "1: malloc 0x9000000 54320"
		echo "1: malloc 0x9100000 54321"
		echo "1: free 0x9000000"
		echo "1: free 0x9100000"
	} >t.txt
	run -1 --separate-stderr telreplay --runs 1 --verify \
	    -a "broken=./broken.so:BROKEN=overlap" -f csv t.txt
	echo "$stderr"
	[[ $stderr == *"at event 2 of t.txt: blocks overlap (block 0x"*", offset 64, in the block 0x"* ]]
}

@test "of blocks one in 64 is checked, and equal errors are one line" {
	broken
	seq 200 | awk '{ printf "1: calloc 0x%d000 1 %d\n", $1, $1 + 10 }' >t.txt
	run -1 --separate-stderr telreplay --runs 1 \
	    -a "broken=./broken.so:BROKEN=dirty" -a glibc,class -f csv t.txt
	echo "$stderr"
	[[ ${stderr_lines[0]} == *"at event 0 of t.txt: memory of calloc is not zero (block "*", offset 5); 3 more like it" ]]
	[ "${#stderr_lines[@]}" = 1 ]
	[[ $output == *"allocator,broken,,errors,4"* ]]
	[[ $output == *"allocator,glibc,,errors,0"* ]]
	# the text counts those of all runs, three that are timed and one, as figures do
	run -1 --separate-stderr telreplay --runs 3 --idle 0 --verify \
	    -a "broken=./broken.so:BROKEN=dirty" -f csv t.txt
	[ "${#stderr_lines[@]}" = 1 ]
	[[ $output == *"allocator,broken,,errors,800"* ]]
	[[ $output == *'allocator,broken,,failure,"800 errors, 0 failed allocations"'* ]]
	run -1 --separate-stderr telreplay --runs 1 --verify \
	    -a "broken=./broken.so:BROKEN=dirty" -f csv t.txt
	[[ ${stderr_lines[0]} == *"; 199 more like it" ]]
	printf '1: malloc 0x1000 100\n1: realloc 0x2000 0x1000 200\n' >t.txt
	run -1 --separate-stderr telreplay --runs 1 \
	    -a "broken=./broken.so:BROKEN=nocopy" -f csv t.txt
	[[ $stderr == *"at event 1 of t.txt: a block does not hold what was written"* ]]
}

@test "a stack that overflows is named with the event, in each thread" {
	broken
	{
		echo "7: malloc 0xa000000 10"
		sed 's/^1/2/' t.txt
	} >two.txt
	mv two.txt t.txt
	run -1 --separate-stderr telreplay --runs 1 \
	    -a "broken=./broken.so:BROKEN=deep" -f csv t.txt
	echo "$stderr"
	[[ ${stderr_lines[0]} == *"crashed at event 102 of t.txt: Seg"* ]]
}

@test "a hang names the threads that are in the allocator, and counts others" {
	broken
	{
		echo "7: malloc 0xa000000 10"
		echo "8: malloc 0xb000000 10"
		echo "7: thread_done 0x0"
		sed 's/^1/2/' t.txt
		# waits for the block that is never there
		echo "8: free 0x9100000"
	} | grep -v "2: free 0x9100000" >few.txt
	run -1 --separate-stderr telreplay --timeout 3s --runs 1 \
	    -a "broken=./broken.so:BROKEN=hang" few.txt
	echo "$stderr"
	[[ $stderr == *"hung at event 104 of few.txt (1 wait for other threads, 1 finished)"* ]]
}

@test "what an allocator that works writes is shown, and in the report" {
	broken
	run -0 --separate-stderr telreplay --runs 1 \
	    -a "broken=./broken.so:BROKEN=warn" t.txt
	echo "$stderr"
	[[ $stderr == "telreplay: broken: careful" ]]
	[[ $output == *"says: careful"* ]]
	run -0 --separate-stderr telreplay --runs 1 -q -f csv \
	    -a "broken=./broken.so:BROKEN=warn" t.txt
	[ -z "$stderr" ]
	[[ $output == *"allocator,broken,,message,careful"* ]]
}

# A pool allocator that writes a line to the file of its parameters in the end.
last_words() {
	case ${CFLAGS-} in *-fsanitize*) skip "the sanitizer has malloc" ;; esac
	cat >words.c <<-END
		#include <fcntl.h>
		#include <stdlib.h>
		#include <tel_pool.h>
		#include <unistd.h>
		static int fd;
		static const char *start(const char *p, const tel_pool_trace *t,
		    void **s) { *s = &fd; (void)t;
			fd = open(p, O_WRONLY | O_CREAT, 0666);
			return fd < 0 ? "no file" : NULL; }
		static void end(void *s) { (void)!write(*(int *)s, "end\\n", 4); }
		static void *get(void *p, size_t n) { (void)p; return malloc(n); }
		static void put(void *p, void *b, size_t n) { (void)p; (void)n;
			free(b); }
		const tel_pool_table tel_pool_allocator = {
			.version = TEL_POOL_VERSION, .name = "words",
			.start = start, .end = end, .alloc = get, .free = put };
	END
	${CC:-cc} -std=gnu11 -shared -fPIC -I"$TEL_TOP/include" -o words.so words.c
}

@test "a pool allocator is ended, and its parameters may be a path" {
	last_words
	clean telreplay --runs 1 -a "./words.so:$PWD/said" -f csv t.txt >report
	[ "$(head -n 1 said)" = end ]
	grep "^allocator,words,,parameters,$PWD/said" report
}

@test "the null allocator takes what telreplay takes: nothing beside" {
	clean telreplay -a null --runs 3 -f csv t.txt >report
	grep "^cost,null,,ns,0$" report
	run ! grep "^cost,null,,own_ns,0$" report
}

@test "each allocator aligns blocks to what the log asks for" {
	for power in 12 17 18 19 24; do
		for size in 1 70000 3000000; do
			echo "1: memalign 0x$power$size $((1 << power)) $size"
			echo "1: memalign 0x10 $((1 << power)) $size"
			echo "1: realloc 0x10 0x10 $((size * 2))"
			echo "1: free 0x10"
		done
	done >aligned.txt
	clean telreplay --runs 1 --idle 0 --verify -a glibc,bump,class \
	    aligned.txt >report
}

@test "impossible alignments and sizes are reported as they are" {
	{
		echo "1: memalign 0x10000 3 100"
		echo "1: memalign 0x20000 48 100"
		echo "1: memalign 0x30000 64 100"
		echo "1: memalign 0x40000 9223372036854775808 100"
		echo "1: malloc 0x50000 18446744073709551615"
		echo "1: realloc 0x60000 0x30000 18446744073709551615"
	} >odd.txt
	run -3 --separate-stderr telreplay --dry-run -f csv odd.txt
	echo "$output"
	[[ $output == *"anomaly,,alignment that is not a power of 2,events,2"* ]]
	[[ $output == *"damage,,impossible alignment,events,1"* ]]
	[[ $output == *"damage,,impossible size,events,2"* ]]
	[[ $output == *"trace,,,live_bytes,300"* ]]
}

@test "a picture names the allocators that failed" {
	broken
	run -1 --separate-stderr telreplay --runs 1 -a class \
	    -a "broken=./broken.so:BROKEN=crash" -f svg t.txt
	[[ $output == *"broken: FAILED, crashed at event 101"* ]]
}

@test "a report with a failure is a new file, and replaces none" {
	broken
	for _ in 1 2; do
		run -1 telreplay --runs 1 -o report -a class \
		    -a "broken=./broken.so:BROKEN=crash" t.txt
		grep 'FAILED: crashed at event 101' report
		# the next one is not to be there
		sed 's/FAILED: /was &/' report >was
		cp was report
	done
	cmp was report
}

@test "a full disk is the output's fault, and leaves no part of a program" {
	[ -w /dev/full ] || skip "no /dev/full"
	ln -s /dev/full full.prog
	run -1 --separate-stderr telreplay --dry-run --program full.prog t.txt
	echo "$stderr"
	[[ $stderr == "telreplay: full.prog: No space left on device" ]]
	seq 40000 | awk '{ printf "1: malloc 0x%x000 %d\n", $1, $1 }' >big.txt
	run -1 --separate-stderr bash -c \
	    'trap "" XFSZ; ulimit -f 8; exec telreplay --dry-run --program part.prog big.txt'
	echo "$stderr"
	[[ $stderr == "telreplay: part.prog: File too large" ]]
	[ ! -e part.prog ]
}

@test "what an allocator starts goes with it" {
	broken
	BROKEN=fork clean telreplay --verify -a ./broken.so --runs 1 t.txt >log
	# a process that was ended and that nobody waits for may still be named
	for status in /proc/[0-9]*/status; do
		environ=${status%/status}/environ
		grep -q '^State:.[ZX]' "$status" 2>/dev/null ||
		    run ! grep -q "$BATS_TEST_TMPDIR" "$environ" 2>/dev/null
	done
}

@test "one that is slow fails in nothing" {
	broken
	BROKEN=slow clean telreplay --verify -a ./broken.so --runs 1 t.txt
	# blocks that are left are freed between two replays, where nothing counts
	sed -i '/free/d' t.txt
	BROKEN=slow clean telreplay -a ./broken.so --runs 1 --touch none \
	    --repeat 2 -f csv t.txt >report
	run ! grep -E '^counters,.*page_faults,([1-9]|0?\.[1-9])' report
}

@test "an allocator that is not there is no other" {
	expect 1 "telreplay: ./none.so: No such file or directory" \
	    telreplay -a ./none.so t.txt
	expect 2 "*'foo' is not one of: glibc, jemalloc, *" telreplay -a foo t.txt
	expect 2 "*two allocators are named 'glibc'*" telreplay -a glibc,glibc t.txt
	expect 2 "*has no allocator" telreplay -a glibc,, t.txt
	: >empty.so
	expect 1 "telreplay: empty: malloc is still that of *" \
	    telreplay -a ./empty.so t.txt
}

@test "wrong operations are named, counted, and repaired" {
	{
		echo "1: free 0x7000"
		echo "1: malloc 0x8000 10"
		echo "2: malloc 0x8000 20"
		echo "1: realloc 0x9000 0x6000 30"
	} >bad.txt
	run -3 --separate-stderr telreplay --runs 1 -f csv bad.txt
	echo "$stderr"
	[[ $stderr == *"bad.txt: event 0: "*"0x7000, thread 1"* ]]
	[[ $stderr == *"bad.txt: event 2: "*"0x8000, thread 2"* ]]
	[[ $stderr == *"bad.txt: event 3: "*"0x6000, thread 1"* ]]
	[[ $output == *"trace,,,live_bytes,50"* ]]
	expect 1 "telreplay: bad.txt: *" telreplay --strict bad.txt
	run -3 --separate-stderr telreplay -q --dry-run bad.txt
	[ -z "$stderr" ]
}

@test "anomalies have the log and the place of each, of pools as well" {
	printf '1: free 0x7000\n1: malloc 0x8000 10\n' >a.txt
	printf '1: malloc 0x1 1\n1: free 0x9000\n' >b.txt
	run -3 --separate-stderr telreplay --dry-run -f csv --no-merge \
	    a.txt b.txt a.txt
	sed -n 's/^anomaly event,,.*,\(log\|event\),//p' <<<"$output" |
	    paste -d ' ' - - |
	    diff - <(printf '%s\n' 'a.txt 0' 'b.txt 1' 'a.txt 0')
	cat >pools.txt <<-'END'
		# teltools text 1
		# type: make 1 Heap pool:address
		# type: end 2 Heap pool:address
		# type: get 3 Heap at:address size:unsigned pool:address
		# role: make create-pool pool=pool
		# role: end destroy-pool pool=pool
		# role: get alloc at size pool
		0000000000000001 make pool=0x1
		0000000000000002 make pool=0x2
		0000000000000003 get at=0x1000 size=100 pool=0x1
		0000000000000004 end pool=0x2
		0000000000000005 end pool=0x7
		0000000000000006 end pool=0x8
	END
	telreplay --dry-run -f csv pools.txt >report
	sed -n 's/^anomaly event,,pool or buffer without its creation,//p' report |
	    grep -E '^(event|address)' | paste -s -d ' ' |
	    diff - <(echo event,4 address,7 event,5 address,8)
}

@test "logs have blocks and threads of their own, as in telstat" {
	cd "$BATS_TEST_TMPDIR"
	printf '1: malloc 0x1000 %s\n2: free 0x1000\n1: malloc 0x1000 5\n' 100 >a.txt
	sed s/100/40/ a.txt >b.txt
	for logs in 'a.txt b.txt' '--no-merge a.txt b.txt a.txt' both.tel; do
		telcat -f tel -o a.tel a.txt
		telcat -f tel -o b.tel b.txt
		cat a.tel b.tel >both.tel
		# shellcheck disable=SC2086 # words
		clean telreplay --strict --dry-run -f csv $logs >report
		# shellcheck disable=SC2086 # words
		telstat -q -f json $logs >totals
		for figure in live_blocks live_bytes; do
			grep -q ",$figure,$(sed -n "s/.*\"$figure\":\([0-9]*\).*/\1/p" totals)$" report
		done
		grep -x 'trace,,,crossing_frees,[23]' report
		grep -x 'trace,,,threads,[46]' report
	done
	printf '7: malloc 0x1000 %s\n7: realloc 0x2000 0x1000 8\n' 8 >c.txt
	for order in edges total none; do
		clean telreplay --runs 1 --verify --order "$order" c.txt a.txt c.txt >report
	done
	# also if the number of a process is that by which logs are told apart
	for pid in 0 15485907386658061715; do
		printf '%s\n' '# teltools text 1' \
		    '# type: get 1 Heap at:address size:unsigned pid:unsigned' \
		    '# role: get alloc at size process=pid' \
		    "0000000000000001 get at=0x1000 size=7 pid=$pid" >$pid.txt
	done
	clean telreplay --strict --dry-run -f csv 0.txt 15485907386658061715.txt >report
	grep -x 'trace,,,live_blocks,2' report
	grep -x 'trace,,,threads,2' report
	# pools, too, and what a process that executes another program had
	cat >pools.txt <<-'END'
		# teltools text 1
		# type: make 1 Heap pool:address pid:unsigned
		# type: end 2 Heap pool:address pid:unsigned
		# type: get 3 Heap at:address size:unsigned pool:address pid:unsigned
		# role: make create-pool pool=pool process=pid
		# role: end destroy-pool pool=pool process=pid
		# role: get alloc at size pool process=pid
		0000000000000001 make pool=0x1 pid=9
		0000000000000002 get at=0x1000 size=300000 pool=0x1 pid=9
		0000000000000004 end pool=0x1 pid=9
		0000000000000005 get at=0x1000 size=300000 pool=0x0 pid=9
		0000000000000006 get at=0x1000 size=5 pool=0x0 pid=4194313
	END
	clean telreplay --strict --dry-run -f csv pools.txt pools.txt >report
	grep -x 'trace,,,pools,2' report
	grep -x 'trace,,,requests,6' report
	clean telreplay --runs 1 --verify -a class pools.txt pools.txt >report
}

@test "more frees that may be early than the reorder buffer holds are counted" {
	{
		echo "2: malloc 0x10 8"
		seq 3000 | sed 's/.*/1: free 0x&000/'
		# these were early: the last that it holds, and the first of all
		echo "2: malloc 0x3000000 8"
		echo "2: malloc 0x1000 8"
		echo "2: malloc 0x3000000 8"
		echo "2: malloc 0x1000 8"
	} >early.txt
	run -3 --separate-stderr telreplay --dry-run -f csv early.txt
	[[ $output == *"damage,,free of an unknown address,events,2999"* ]]
	[[ $output == *"damage,,free in the wrong place,events,1"* ]]
	[[ $stderr == *"early.txt: event 1: free of an unknown address: 0x1000, thread 1"* ]]
}

@test "failed allocations and blocks freed by realloc are not anomalies" {
	{
		echo "1: malloc 0x8000 10"
		echo "1: malloc 0x0 1000000000000"
		echo "1: realloc 0x0 0x8000 0"
		echo "1: free 0x0"
	} >odd.txt
	clean telreplay --runs 1 -f csv odd.txt >report
	grep '^trace,,,live_blocks,0$' report
}

@test "a part of a log may free blocks from before it" {
	printf '1: %s\n' "malloc 0x1000 8" "malloc 0x2000 8" "free 0x1000" \
	    "realloc 0x3000 0x2000 9" "free 0x9000" >t.txt
	exits 3 telreplay -q --dry-run t.txt | grep 'damage  *1 free of an unknown'
	for option in --skip=2 -n-3 '--since=size == 9 || address == 0x1000'; do
		clean telreplay --strict --dry-run "$option" t.txt >report
		grep -E 'anomaly  *[12] free of an unknown address' report
	done
	# also of one that was written before, unless all of it was
	for tool in telfilter telcat; do
		for option in --skip=2 -n-3 -t3,5 '--since=size == 9 || address == 0x1000'; do
			"$tool" -f tel -o part.tel "$option" t.txt
			telcat part.tel | grep -qx '# meta: part selected'
			clean telreplay --strict --dry-run part.tel >report
			grep -E 'anomaly  *[12] free of an unknown address' report
		done
		"$tool" -f tel -o all.tel t.txt
		exits 3 telreplay -q --dry-run all.tel | grep 'damage  *1 free of an unknown'
	done
	# one of several, and a text
	echo '1: malloc 0x5000 8' >o.txt
	telcat part.tel >part.txt
	telcat -f tel -o three.tel --no-merge o.txt part.tel o.txt
	for logs in part.txt 'part.txt o.txt' 'o.txt part.txt' 'o.txt part.tel' three.tel; do
		# shellcheck disable=SC2086 # words
		clean telreplay --strict --dry-run $logs >report
	done
	# also an allocation at an address whose free was not selected
	printf '1: %s\n' "malloc 0x1000 8" "free 0x1000" "malloc 0x1000 9" >u.txt
	clean telreplay --strict --dry-run -e malloc u.txt |
	    grep 'anomaly  *1 allocation of a live address'
	clean telfilter -f tel -e malloc u.txt | telreplay --strict --dry-run >report
	telfilter --every 2 all.tel | telcat | grep -qx '# meta: part selected'
	telcat -f tel --meta-set part=mine -w true all.tel | telcat | grep -qx '# meta: part mine'
	# the first events are none
	telfilter -n 4 all.tel | telcat >first
	run ! grep '^# meta: part' first
	clean telreplay --dry-run --skip=2 --program t.prog t.txt >/dev/null
	clean telreplay --dry-run t.prog | grep 'anomaly  *1 realloc of an unknown'
}

@test "a log of what runs already frees blocks from before it" {
	printf '%s\n' '# teltools text 1' '# format: ctf' '# meta: domain kernel' \
	    '# type: kmem_kfree 0 kmem ptr:address' '# role: kmem_kfree free ptr' \
	    '0000000000000001 kmem_kfree ptr=0x10' >kernel.txt
	for log in kernel.txt "$TEL_TOP/tests/data/jfr/native-ap45.jfr.zst" \
	    "$TEL_TOP/tests/data/ftrace/chains.perf.zst" "$TEL_TOP/tests/data/ftrace/switches.perf.zst"; do
		clean telreplay --strict --dry-run "$log" | grep 'anomaly .*free of an unknown'
		telfilter -f tel -o all.tel "$log"
		telcat -o all.txt "$log"
		clean telreplay --strict --dry-run all.tel | grep 'anomaly .*free of an unknown'
		clean telreplay --strict --dry-run all.txt | grep 'anomaly .*free of an unknown'
	done
	# a program may be traced from its start
	sed 's/domain kernel/domain ust/' kernel.txt >ust.txt
	exits 3 telreplay -q --dry-run ust.txt | grep 'damage .*free of an unknown'
}

@test "a trace that has more bytes than the machine is not written to" {
	# byte 4 of a program is 1 where addresses have 32 bits
	[ "$(od -An -tu1 -j4 -N1 "$(type -P telreplay)")" -ne 1 ] ||
	    skip "no such sizes"
	echo "1: malloc 0x10000 70000000000000" >large.txt
	for option in --touch=page --touch=all --touch=1% '--verify --touch=none'; do
		# shellcheck disable=SC2086
		expect 1 "*70000000000000 bytes are live at the peak*--touch first*" \
		    telreplay -a null $option large.txt
	done
	clean telreplay -a null --touch first --runs 1 -f csv large.txt |
	    grep -q '^run,null,1,operations,1$'
}

@test "a block that is larger than the address space is not made a smaller one" {
	printf '1: malloc 0x%d000 %d\n' 1 100 2 5000000000 >large.txt
	clean telreplay --dry-run large.txt | grep "requests of up to 5,000,000,000"
	# byte 4 of a program is 1 where addresses have 32 bits
	if [ "$(od -An -tu1 -j4 -N1 "$(type -P telreplay)")" -eq 1 ]; then
		expect 1 "*5000000000 bytes is larger than the address space*" \
		    telreplay -a null large.txt
	else
		clean telreplay -a null --touch none --runs 1 -f csv large.txt |
		    grep "^run,null,1,operations,2$"
	fi
}

@test "a log without operations of an allocator is an error" {
	telcat -f text "$DATA/1.118.0-lii6gc-poolncv.log.zst" |
	    telfilter -e EventInit >none.txt
	expect 1 "*no event allocates or frees*" telreplay none.txt
	expect 1 "*no events: the file is empty*" telreplay /dev/null
	expect 1 "*No such file*" telreplay missing.log
	expect 1 "*unknown format*" telreplay "$TEL_TOP/Makefile"
}

@test "outputs that fail are errors" {
	run -1 --separate-stderr bash -c 'telreplay --dry-run t.txt >/dev/full'
	[[ $stderr == *"No space left"* ]]
	run -1 --separate-stderr telreplay --dry-run --program /dev/full t.txt
	[[ $stderr == *"No space left"* ]]
	run -1 --separate-stderr telreplay --dry-run --program none/t.prog t.txt
	[[ $stderr == *"No such file"* ]]
	run -0 --separate-stderr bash -c 'telreplay --dry-run t.txt | head -n 1'
	[ "$output" = trace ]
	[ -z "$stderr" ]
	cp t.txt same.txt
	expect 2 "*overwrite this input" telreplay --program same.txt same.txt
	cmp t.txt same.txt
}

@test "usage errors are reported before anything is read" {
	expect 2 "*--order: 'x' is not one of: edges, total, none" \
	    telreplay --order x t.txt
	expect 2 "*--touch: expected none, first, page, all or a share such as 25%, found 'x'" \
	    telreplay --touch x t.txt
	expect 2 "*--pace: expected a factor*found 'x'" telreplay --pace=x t.txt
	expect 2 "*--pace: expected a factor*found '-1'" telreplay --pace=-1 t.txt
	expect 2 "*--pace: expected a factor*found 'nan'" telreplay --pace=nan t.txt
	expect 2 "*--timeout: expected a time*found 'x'" telreplay --timeout x t.txt
	expect 2 "*-f: 'x' is not one of: text, csv, json, svg, html, android, mtrace, rep" \
	    telreplay -f x t.txt
	for option in runs repeat threads max-live; do
		expect 2 "*--$option: *" telreplay "--$option" 0 t.txt
	done
	expect 2 "*--runs: *" telreplay --runs 101 t.txt
	expect 2 "*--sample: *" telreplay --sample x t.txt
	# a sanitizer's malloc takes the place of another library's
	libraries=(glibc)
	slow || libraries+=(tcmalloc)
	for library in "${libraries[@]}"; do
		for setting in FOO =x 'A=b FOO'; do
			expect 2 "telreplay: x: -a: expected environment variables*'${setting##* }'" \
			    telreplay -a "glibc,x=$library:$setting" t.txt
		done
	done
	clean telreplay -a 'x=glibc: A=b  C= ' --runs 1 t.txt >report
}

@test "the program of --program is a file of its own" {
	mkfifo program.fifo
	for file in - program.fifo /dev/null; do
		expect 2 "telreplay: --program: expected a file*found '$file'" \
		    timeout 60 telreplay --program "$file" -o report t.txt
	done
	[ ! -e ./- ]
	echo old >both
	ln both hard
	for file in both new; do
		expect 2 "telreplay: $file: --program: the report would overwrite*" \
		    telreplay --program "$file" -o "$file" t.txt
	done
	expect 2 "telreplay: hard: --program: the report would*" \
	    telreplay -f rep --program hard -o both t.txt
	exits 2 telreplay --program both --dry-run t.txt >>hard
	exits 2 telreplay --program /dev/stdout --dry-run t.txt | cat
	[ "$(cat both)" = old ]
	[ ! -e new ]
	clean telreplay --dry-run --program /dev/stdout -o report t.txt >x.prog
	clean telreplay --dry-run --program /dev/null -o /dev/null t.txt
	timeout 60 cat program.fifo >y.prog &
	clean telreplay --dry-run --program program.fifo t.txt >report
	wait
	cmp x.prog y.prog
	clean telreplay --program z.prog --runs 1 t.txt >report
	cmp x.prog z.prog
}

@test "options take what is in their limits, and no more" {
	echo '1: malloc 0x1000 10' >one.txt
	while read -r option good; do
		for value in $good; do
			clean telreplay --dry-run "$option=$value" one.txt >report
		done
	done <<-'END'
		--runs 1 100 auto
		--repeat 1 1000000
		--threads 1 1024
		--max-live 1 2147483648
		--sample 0 1048576
		--window 1 1099511627776 none 0.0000001% 100%
		--think 0 1ns 1s log
		--pace 0.000001 1000000
		--touch none first,free 0% 100%,free
		--timeout 0 1ns
		--idle 0 1s
	END
	while read -r option bad; do
		for value in $bad; do
			expect 2 "telreplay: $option: *'$value'*" \
			    telreplay --dry-run "$option=$value" one.txt
		done
	done <<-'END'
		--repeat 1000001
		--threads 1025
		--max-live 2147483649
		--sample 1048577
		--window 0 1099511627777 0% 101%
		--think -1ns 1000000001ns
		--pace 0 0.0000009 1000001 0x10 inf 1y
		--touch 101% abcdefghijklmno
		--timeout -1s
		--idle -1ns
	END
	# what was asked for is what the report says
	while read -r figure value options; do
		# shellcheck disable=SC2086 # several words on purpose
		clean telreplay -a null --runs 1 --idle 0 -f csv $options \
		    one.txt | grep -qx "machine,,,$figure,$value"
	done <<-'END'
		touch page
		touch none --touch none
		touch first --touch=first
		touch all --touch all
		touch 12.5% --touch 12.5%
		touch 0% --touch 0%
		repeat 7 --repeat 7
		sampled_each 512
		sampled_each 0 --sample 0
		sampled_each 3 --sample 3
		think_ns 0 --think 0
		think_ns 150 --think 150ns
		verified 1 --verify
		pace 0 --threads 2
	END
}

@test "without memory that processes share there is no replay" {
	# a sanitizer and valgrind have files of their own
	slow && skip "files are needed for what watches telreplay"
	echo '1: malloc 0x1000 10' >t.txt
	run -1 --separate-stderr bash -c 'exec 3>&- 4>&-; ulimit -n 4; "$@"' bash \
	    "$TEL_BUILD/bin/telreplay" --runs 1 -a class t.txt
	[ "$stderr" = "telreplay: shared memory: Too many open files" ]
}

@test "what a program has already cannot be asked for again" {
	clean telreplay --dry-run -q --program t.prog t.txt >/dev/null
	expect 2 "*--dry-run cannot be combined with -f rep" \
	    telreplay -f rep --dry-run t.txt
	expect 2 "*-c cannot be combined with --program" \
	    telreplay -c --program x t.txt
	[ ! -e x ]
	expect 2 "*--program applies to logs*" telreplay --program x t.prog
	expect 2 "*--threads applies to logs*" telreplay --threads 1 t.prog
	expect 2 "*--order applies to logs*" telreplay --order none t.prog
	expect 2 "*the selection of events applies to logs*" telreplay -k Alloc t.prog
}

# children PID: the number of its child.
children() {
	sed -n "/^PPid:[[:blank:]]*$1\$/{F;q}" /proc/[0-9]*/status 2>/dev/null |
	    cut -d / -f 3 | head -n 1
}

@test "a thread that cannot be started fails the run, with the reason" {
	case ${CFLAGS-} in *-fsanitize*) skip "the sanitizer has malloc" ;; esac
	cat >few.c <<-END
		#include <errno.h>
		#include <pthread.h>
		int pthread_create(pthread_t *t, const pthread_attr_t *a,
		    void *(*f)(void *), void *p)
		{ (void)t, (void)a, (void)f, (void)p; return EAGAIN; }
	END
	${CC:-cc} -shared -fPIC -o few.so few.c \
	    "$TEL_TOP/tests/cli/telreplay_broken.c"
	echo "2: malloc 0xa000000 1" >>t.txt
	run -1 --separate-stderr telreplay --runs 1 -f csv -a ./few.so t.txt
	echo "$stderr"
	[[ ${stderr_lines[0]} == *" could not be started: Resource temporarily"* ]]
	[[ $output == *"allocator,few,,errors,0"* ]]
}

@test "a parent that is killed takes its children along" {
	broken
	# the process itself, and not a shell that waits for it
	exec telreplay --timeout 0 -a "./broken.so:BROKEN=hang" t.txt &
	pid=$!
	for _ in $(seq 1200); do
		child=$(children $pid)
		[ -z "$child" ] || break
		sleep 0.1
	done
	sleep 0.3
	child=$(children $pid)
	[ -d "/proc/$child" ]
	kill -9 $pid
	for _ in $(seq 1200); do
		[ -d "/proc/$child" ] || return 0
		grep -q '^State:.Z' "/proc/$child/status" && return 0
		sleep 0.1
	done
	false
}

@test "a parent that is killed before its child asks for it takes that along" {
	case ${CFLAGS-} in *-fsanitize*) skip "the sanitizer is not preloaded" ;; esac
	# the parent is killed between fork() and the request for its signal
	cat >late.c <<-END
		#define _GNU_SOURCE
		#include <fcntl.h>
		#include <signal.h>
		#include <stdio.h>
		#include <sys/prctl.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		int prctl(int option, ...)
		{
			const pid_t parent = getppid();
			FILE *f = fopen("child", "w");
			fprintf(f, "%d\n", (int)getpid());
			fclose(f);
			kill(parent, SIGKILL);
			while (getppid() == parent)
				usleep(1000);
			return (int)syscall(SYS_prctl, option, SIGKILL, 0, 0, 0);
		}
		int execv(const char *path, char *const arguments[])
		{
			(void)path, (void)arguments;
			(void)!open("goes-on", O_CREAT | O_WRONLY, 0600);
			_exit(0);
		}
	END
	${CC:-cc} -shared -fPIC -o late.so late.c
	LD_PRELOAD=./late.so run -137 telreplay t.txt
	for _ in $(seq 1200); do
		[ -d "/proc/$(cat child)" ] || break
		sleep 0.1
	done
	[ ! -e goes-on ]
}

@test "without the null allocator its cost is not known, and none is shown" {
	case ${CFLAGS-} in *-fsanitize*) skip "the sanitizer has malloc" ;; esac
	cat >fake.c <<-END
		#include <tel_pool.h>
		static char room[4096];
		static const char *start(const char *p, const tel_pool_trace *t,
		    void **s) { (void)p; (void)t; *s = room; return NULL; }
		static void *get(void *p, size_t n) { (void)n; return p; }
		static void put(void *p, void *b, size_t n)
		{ (void)p; (void)b; (void)n; }
		const tel_pool_table tel_pool_allocator = {
			.version = TEL_POOL_VERSION, .name = "fake",
			.start = start, .alloc = get, .free = put };
	END
	${CC:-cc} -shared -fPIC -I"$TEL_TOP/include" -o fake.so fake.c
	# the null allocator maps the largest block, the other one maps nothing
	large=130000000000000
	[ "$(od -An -tu1 -j4 -N1 "$(type -P telreplay)")" -ne 1 ] ||
		large=3000000000
	echo "1: malloc 0xa000000 $large" >>t.txt
	run -1 --separate-stderr telreplay --runs 2 --details --touch none \
	    -a ./fake.so t.txt
	echo "$output" "$stderr"
	[[ $stderr == "telreplay: null pool: "*"large"* ||
	    $stderr == "telreplay: null pool: no memory" ]]
	# time is unknown in the first table, and left out, and the rest is there
	echo "$output" | sed -n 2p | grep -E '^ *(p99 ns)? *peak'
	# gross times would be taken for net ones
	echo "$output" | grep -A 1 '^CPU time' | grep '^ *M ops/s *page faults$'
	run -1 --separate-stderr telreplay --runs 2 --touch none -a ./fake.so \
	    -f csv t.txt
	[[ $output == *"run,fake,2,cpu_ns,"* ]]
	[[ $output != *"cost,fake,,own_ns"* ]]
	[[ $output != *"cost,fake,,ns,"* ]]
}

@test "of a library of malloc, what it has is used, and what it lacks is made" {
	case ${CFLAGS-} in *-fsanitize*) skip "the sanitizer has malloc" ;; esac
	# headers of other sizes move blocks to where they are aligned by chance
	if [ "$(od -An -tu1 -j4 -N1 "$TEL_BUILD/bin/telreplay")" -ne 2 ]; then
		skip "the places of blocks are those of 64 bits"
	fi
	cat >lib.c <<-'END'
		#include <stddef.h>
		#include <stdint.h>
		#include <stdlib.h>
		#include <string.h>
		static _Alignas(4096) unsigned char arena[1 << 24];
		static size_t used;
		static void *get(size_t alignment, size_t n) {
			size_t at = __atomic_fetch_add(&used, n + alignment + 96, 0);
			unsigned char *p = arena + at + 16;
			if (n > 1 << 20 || at + n > sizeof(arena) - 8192) return NULL;
			p += -(uintptr_t)p & (alignment - 1);
			/* malloc aligns to 16, and by no chance to more */
			if (alignment == 16) p += (80 - (uintptr_t)p % 64) % 64;
			memcpy(p - 16, &n, sizeof(n));
			return memset(p, 0xaa, n); }
		#ifdef NO_FREE
		void *__libc_malloc(size_t);
		void *malloc(size_t n) { return __libc_malloc(n); }
		#else
		void *malloc(size_t n) { return get(16, n); }
		void free(void *p) { (void)p; }
		#endif
		#ifndef NO_REALLOC
		void *realloc(void *p, size_t n) {
			void *now = malloc(n);
			size_t was = 0;
			if (p == NULL || now == NULL) return now;
			memcpy(&was, (char *)p - 16, sizeof(was));
			return memcpy(now, p, was < n ? was : n); }
		#endif
		#ifdef CALLOC
		void *calloc(size_t k, size_t n) { return memset(malloc(k * n), 0, k * n); }
		#endif
		#ifdef POSIX
		int posix_memalign(void **p, size_t a, size_t n) {
			if (a < sizeof(void *) || n == 13) return 22;
			return (*p = get(a, n)) == NULL; }
		#endif
		#ifdef MEMALIGN
		void *memalign(size_t a, size_t n) { return get(a, n); }
		#endif
		#ifdef ALIGNED
		void *aligned_alloc(size_t a, size_t n) { return get(a, n); }
		#endif
		#ifdef USABLE
		size_t malloc_usable_size(void *p) { size_t n;
			memcpy(&n, (char *)p - 16, sizeof(n)); return n + 8; }
		#endif
		#ifdef MI
		int mi_version(void) { return atoi(getenv("MI")); }
		#endif
		#ifdef TC
		const char *tc_version(int *a, int *b, const char **c)
		{ if (c == NULL) *a = *b = 1; return "4.5"; }
		#endif
		#ifdef CTL
		int mallctl(const char *name, void *out, size_t *size, void *in, size_t n) {
			if (getenv("NONE") || strcmp(name, "version") != 0 || *size != sizeof(char *) ||
			    in != NULL || n != 0) return 1;
			*(const char **)out = "6-x"; return 0; }
		#endif
	END
	{
		seq 50 | awk '{ printf "1: malloc 0x%d0 %d\n", $1, $1 + 20
		    printf "1: calloc 0x%d1 3 %d\n", $1, $1
		    printf "1: realloc 0x%d2 0x%d0 60\n", $1, $1 }'
		echo "1: memalign 0x9000 64 100"
		echo "1: memalign 0x9100 2 100"
	} >t.txt
	local list=()
	# name, version, errors with an alignment of 64, library, a variable, flags
	while read -r name version errors library variable flags; do
		# shellcheck disable=SC2086 # several words on purpose
		[ -e "$library.so" ] || ${CC:-cc} -std=gnu11 -w -shared -fPIC \
		    -fno-builtin $flags -o "$library.so" lib.c
		echo "$name $version $errors" >>want
		list+=(-a "$name=./$library.so:$variable")
	done <<-'END'
		least - 1 least X=1
		posix 4.5 0 posix X=1 -DPOSIX -DTC
		aligned 6-x 0 aligned X=1 -DALIGNED -DUSABLE -DCTL
		none - 0 aligned NONE=1
		mi100 1.0.0 0 memalign MI=100 -DMEMALIGN -DCALLOC -DMI
		mi999 9.9.9 0 memalign MI=999
		mi99 99 0 memalign MI=99
		mi1000 1000 0 memalign MI=1000
		nofree - - nofree X=1 -DNO_FREE -DNO_REALLOC
		norealloc - - norealloc X=1 -DNO_REALLOC
	END
	run -1 --separate-stderr telreplay --runs 1 --idle 0 --verify -f csv \
	    "${list[@]}" t.txt
	echo "$stderr"
	awk -F, '$1 == "allocator" && $4 == "failed" { names[n++] = $2 }
	    $1 == "allocator" { v[$2, $4] = $5 }
	    END { for (i = 0; i < n; i++) { a = names[i]
		print a, v[a, "version"] == "" ? "-" : v[a, "version"],
		    v[a, "failed"] ? "-" : v[a, "errors"] / 2 } }' <<<"$output" |
	    diff want -
	grep -qx 'telreplay: nofree: it defines malloc but not free' <<<"$stderr"
	grep -qx 'telreplay: norealloc: it defines malloc but not realloc' \
	    <<<"$stderr"
	# 8 more of each block
	grep '^slack,aligned,' <<<"$output" | awk -F, '{ v[$4] += $5 }
	    END { print v["blocks"], v["asked_bytes"], v["given_bytes"]
		exit !(v["blocks"] > 150 &&
		v["given_bytes"] == v["asked_bytes"] + 8 * v["blocks"]) }'
	run ! grep '^slack,posix,' <<<"$output"
}

@test "a stack of 80 KiB is enough" {
	case ${CFLAGS-} in *-fsanitize*) skip "the sanitizer needs more" ;; esac
	local form=$TEL_TOP/tests/data/alloc/perl.mtrace.zst
	# shellcheck disable=SC2016 # the inner shell's
	run -0 bash -c 'ulimit -s 80; telreplay --dry-run "$1" &&
	    telreplay -a null --runs 1 --idle 0 "$1"' bash "$form"
}
