#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# telreplay runs traces with allocators, and reports.

load telreplay

# A share of a block, of pages or of all has at least a factor of two to the
# next value that it could be taken for; sanitizers, which have a byte for each
# eight, and what the kernel counts in steps, take less than this beside it.
SLOP=$((14 << 20))

@test "what a trace holds is what an independent count of it says" {
	for threads in 1 3; do
		trace t.txt "$threads" 20000 "$threads"
		clean telreplay --dry-run -f json t.txt >report
		python3 "$MODEL" check report <t.txt
	done
}

@test "a trace recorded on Android holds what a count of its lines says" {
	zstd -dcq "$TEL_TOP/tests/data/alloc/surfaceflinger.android.zst" >t.txt
	clean telreplay --dry-run -f json t.txt >report
	python3 "$MODEL" check report <t.txt
	clean telreplay --runs 1 -a glibc,class --verify -f csv t.txt >report
	[ "$(figure allocator glibc errors <report)" = 0 ]
	[ "$(figure allocator class errors <report)" = 0 ]
}

@test "what an MPS wrote newest first is done in order of time" {
	for name in 1.118.0-lii6gc-poolncv 1.112.0-lii3gc-amcss; do
		zstd -dcqf "$TEL_TOP/tests/data/mps/$name.log.zst" >x.log
		telcat -S x.log >sorted.txt
		telcat x.log >x.txt
		telcat -f tel x.log >x.tel
		# which event it was depends on its place
		for log in sorted.txt x.log x.txt x.tel; do
			clean telreplay --dry-run "$log" |
			    sed 's/at event [0-9,]*/at/; s/first: event [0-9]*//' \
			        >"$log.out"
			cmp sorted.txt.out "$log.out"
		done
		grep -q PoolFree x.txt
		run ! grep wrong x.log.out
		# what is selected may depend on others
		clean telreplay --dry-run -e "Pool*" x.log >some.out
		run ! grep wrong some.out
	done
}

@test "what pools of an MPS hold is what its own tool says" {
	for log in "$TEL_TOP"/tests/data/mps/*.log.zst; do
		text=${log%.log.zst}.cnv.zst
		case $log in *-seg-trace.*) continue ;; esac
		test -f "$text" || continue
		name=$(basename "$log" .log.zst)
		clean telreplay -q --dry-run -f json "$log" >"$name.json"
		zstd -dqc "$text" >"$name.cnv"
	done
	set -- *.cnv
	[ $# -ge 24 ]
	python3 "$TEL_TOP/tests/cli/telreplay_mps.py" "${@%.cnv}"
	# a pool that has buffers before its creation is logged is one, not two
	clean telreplay --dry-run "$TEL_TOP/tests/data/mps/1.118.0-lii6ll-finalcv.log.zst" \
	    >report
	grep -q '^  pools         10, with 11 buffers' report
	grep -q '^  not logged    blocks of buffers: the log has no commits' report
	run ! grep -E '^  (anomaly|damage)' report
}

@test "a run does each operation once, and asks for each byte" {
	trace t.txt 7 20000 4
	clean telreplay -a glibc,bump,class -f json --runs 2 --sample 8 t.txt \
	    >report
	python3 "$MODEL" check report <t.txt
	[ "$(grep -c '"type":"run"' report)" -eq 6 ]
}

@test "Debian's allocators run, and are what serves malloc" {
	needs_preload
	trace t.txt 3 20000 3
	clean telreplay -a glibc,jemalloc,mimalloc,tcmalloc --runs 1 --verify \
	    -f csv t.txt >report
	while read -r name library; do
		figure allocator "$name" path <report | grep -F "$library"
		[ "$(figure allocator "$name" errors <report)" = 0 ]
		figure allocator "$name" version <report | grep '[0-9]\.[0-9]'
		[ "$(figure memory "$name" peak_bytes <report)" -gt 65536 ]
	done <<-END
		glibc libc.so
		jemalloc libjemalloc.so
		mimalloc libmimalloc.so
		tcmalloc libtcmalloc
	END
}

@test "each form of the report is read by the tools for it" {
	trace t.txt 5 5000 2
	for form in csv json svg; do
		clean telreplay --runs 1 --idle 0 -a glibc,bump,class -f "$form" t.txt \
		    >"t.$form"
		count=$(python3 "$MODEL" look "$form" <"t.$form")
		[ "$count" = 3 ]
	done
	clean telreplay --runs 1 --idle 0 --sample 4 --details \
	    -a glibc,class,bump,null,a=class,b=class,c=bump t.txt >report
	for part in trace sizes lifetimes machine allocators CPU latency \
	    throughput memory resident system; do
		echo "$part"
		grep "^$part" report
	done
	# but for what the machine says of itself, it fits a terminal
	grep -Ev "^  (kernel|processors) " report >rest
	awk 'length > 80 { print; long = 1 } END { exit long }' rest
}

@test "memory is that of the blocks: a trace that holds 64 MB" {
	for i in $(seq 64); do
		echo "1: malloc 0x${i}0000000 1048576"
	done >t.txt
	clean telreplay -a glibc,class,bump -f csv --runs 1 --touch all t.txt \
	    >report
	[ "$(figure trace '' peak_bytes <report)" -eq 67108864 ]
	for name in glibc class bump; do
		peak=$(figure memory $name peak_bytes <report)
		echo "$name: $peak"
		[ "$peak" -ge 67108864 ]
		[ "$peak" -le $((67108864 + SLOP)) ]
	done
	# what is not touched is not resident
	clean telreplay -a class -f csv --runs 1 --touch none t.txt >report
	[ "$(figure memory class peak_bytes <report)" -le $SLOP ]
}

# lives THREADS: a trace of many threads, of which four or five run at a time.
lives() {
	python3 - <<-END
		import random
		rng, address, alive = random.Random(5), 0, []
		for thread in range(1, $1 + 1):
		    alive.append((thread, []))
		    for _ in range(4 * $1):
		        who, live = rng.choice(alive)
		        address += 4096
		        size = rng.choice([24, 64, 200, 1000, 5000, 20000])
		        print(f"{who}: malloc 0x{address:x} {size}")
		        live.append(address)
		        if len(live) > 60:
		            gone = live.pop(rng.randrange(len(live)))
		            print(f"{who}: free 0x{gone:x}")
		    if len(alive) > 4:
		        who, live = alive.pop(0)
		        for gone in live:
		            print(f"{who}: free 0x{gone:x}")
		        print(f"{who}: thread_done 0x0")
	END
}

# near PEAK LIBRARY TRACE: whether the judge finds about the same.
near() {
	LD_PRELOAD=$2 ./judge "$3" >peak
	echo "$*, should be $(cat peak)"
	# the kernel counts in steps, for each processor
	awk -v a="$1" -v b="$(cat peak)" 'BEGIN {
		d = a > b ? a - b : b - a
		exit d > b * 0.3 && d > 1048576 }'
}

@test "memory is that of a plain replay with real threads in the log's order" {
	needs_preload
	[ -z "${TEST_VALGRIND-}" ] || skip "valgrind has malloc"
	${CC:-cc} -O2 -pthread -o judge "$TEL_TOP/tests/cli/telreplay_judge.c"
	lives $((TENTH == 1 ? 100 : 25)) >lives.txt
	# what thread 2 frees, thread 1 should get again
	for i in $(seq $((TENTH == 1 ? 20000 : 4000))); do
		[ "$i" -le 400 ] || echo "2: free 0x$((i - 400))000"
		echo "1: malloc 0x${i}000 $((i % 2300 + 160))"
	done >queue.txt
	zstd -dcq "$TEL_TOP/tests/data/alloc/surfaceflinger.android.zst" >sf.txt
	./judge sf.txt >peak || skip "the kernel does not forget peaks"
	for trace in lives queue sf; do
		while read -r name library; do
			tries=0
			# on a busy machine, threads that wait hold more now and then
			until clean telreplay -a "$name" --runs 1 --idle 0 \
			    -f csv $trace.txt >report &&
			    near "$(figure memory "$name" peak_bytes <report)" \
			        "$library" $trace.txt; do
				tries=$((tries + 1))
				[ "$tries" -lt 5 ]
			done
		done <<-END
			glibc
			jemalloc libjemalloc.so.2
			mimalloc libmimalloc.so.2.0
			tcmalloc libtcmalloc_minimal.so.4
		END
	done
}

@test "memory ranks mallocs as perl, python3, sqlite3 and cc1 do" {
	needs_preload
	[ -z "${TEST_VALGRIND-}" ] || skip "valgrind has malloc"
	whole_only
	# byte 4 of a program says how many bits its addresses have
	[ "$(od -An -tu1 -j4 -N1 "$(type -P telreplay)")" -eq \
	    "$(od -An -tu1 -j4 -N1 "$(type -P python3)")" ] ||
		skip "the programs of this machine have another word size"
	echo 'void *__libc_memalign(unsigned long, unsigned long);
	    int main(void) { return __libc_memalign(8, 8) == 0; }' >x.c
	${CC:-cc} -o x x.c 2>/dev/null || skip "it is recorded over glibc"
	status=0
	python3 "$TEL_TOP/tests/bench/programs.py" check . || status=$?
	[ "$status" != 77 ] || skip "the kernel does not forget peaks"
	[ "$status" = 0 ]
}

@test "memory that an allocator shares with itself counts as its memory" {
	small_plugin shares <<-END
		static char *at;
		static const char *start(const char *p, const tel_pool_trace *t,
		    void **s) {
			int fd = memfd_create("heap", 0);
			(void)p; (void)t;
			if (fd < 0 || ftruncate(fd, 100 << 20) != 0)
				return "no memory";
			at = mmap(NULL, 100 << 20, PROT_READ | PROT_WRITE,
			    MAP_SHARED, fd, 0);
			*s = at;
			return at == MAP_FAILED ? "no mapping" : NULL; }
		static void *get(void *p, size_t n) { char *b = at;
			(void)p; at += (n + 15) & ~(size_t)15; return b; }
	END
	for i in $(seq 64); do
		echo "1: malloc 0x${i}0000000 1048576"
	done >t.txt
	clean telreplay -a ./shares.so -f csv --runs 1 t.txt >report
	peak=$(figure memory shares peak_bytes <report)
	[ "$peak" -ge 67108864 ]
	[ "$peak" -le $((67108864 + SLOP)) ]
}

@test "the stacks of threads are not the memory of an allocator" {
	needs_preload
	for i in $(seq 200); do
		echo "$i: malloc 0x${i}000 16"
	done >t.txt
	clean telreplay -a class --runs 1 --idle 0 -f csv t.txt >report
	peak=$(figure memory class peak_bytes <report)
	[ "$peak" -lt $((200 * 4096)) ]
	for moment in peak end; do
		most=$(figure memory class ${moment}_most_bytes <report)
		[ "$most" -lt $((200 * 4096)) ]
	done
}

@test "an allocator does not hang while telreplay is stopped" {
	# which is traced, so that it waits in nearly all of its calls
	small_plugin calls <<-END
		static char room[8192];
		static const char *start(const char *p, const tel_pool_trace *t,
		    void **s) { (void)p; (void)t; *s = room; return NULL; }
		static void *get(void *p, size_t n) { (void)n;
			for (int i = 0; i < 8000; i++)
				(void)madvise((void *)(((long)p + 4095) & -4096L),
				    4096, MADV_NORMAL);
			return p; }
	END
	for i in $(seq 20); do
		echo "1: malloc 0x${i}000 16"
	done >t.txt
	# the process itself, and not a shell that waits for it
	exec telreplay -a ./calls.so --timeout 2s --touch none --runs 1 t.txt \
	    >report 2>errors &
	pid=$!
	sleep 0.7
	kill -STOP $pid
	sleep 2.5
	kill -CONT $pid
	wait $pid
	[ ! -s errors ]
}

@test "time counts the threads that an allocator has beside" {
	small_plugin burns <<-END
		static volatile int n;
		static void *burn(void *p) { for (;;) n++; return p; }
		static const char *start(const char *p, const tel_pool_trace *t,
		    void **s) { static pthread_t id; (void)p; (void)t; *s = &id;
			return pthread_create(&id, NULL, burn, NULL) == 0 ?
			    NULL : "no thread"; }
		static void *get(void *p, size_t n) { (void)p; usleep(1000);
			return malloc(n); }
	END
	for i in $(seq 50); do
		echo "1: malloc 0x${i}0000 100"
	done >t.txt
	clean telreplay -a ./burns.so -f csv --runs 1 t.txt >report
	# a millisecond for each, and less than a tenth of it in the allocator; the
	# bounds are wide, as the machine may be busy
	awk -v a="$(figure cost burns process_ns <report)" \
	    -v b="$(figure cost burns ns <report)" \
	    'BEGIN { print a, b; exit !(a > 20000 && b < a / 2) }'
}

@test "memory is sampled by time, at the recorded pace, and when idle" {
	for i in $(seq 20); do
		echo "$i malloc 0x${i}00000 65536 $((i * 10000000)) $((i * 10000000 + 5))"
	done | sed 's/^[0-9]*/1:/' >t.txt
	clean telreplay --pace --runs 1 -f csv t.txt >report
	grep '^sample,glibc,.*,time_ns,' report | cut -d , -f 5 >stamps
	# two tenths of a second, up to a sample each millisecond
	[ "$(wc -l <stamps)" -ge 5 ]
	[ "$(sort -n stamps | tail -n 1)" -ge 150000000 ]
	[ -n "$(figure memory glibc idle_bytes <report)" ]
	clean telreplay --idle 0 --runs 1 -f csv t.txt >report
	[ -z "$(figure memory glibc idle_bytes <report)" ]
	needs_preload
	for i in $(seq 64); do
		echo "1: malloc 0x${i}0000000 65536"
		echo "1: free 0x${i}0000000"
	done >t.txt
	# on a busy machine its thread may have to wait for its turn, or memory
	# may be given back before the last event
	for idle in 300ms 3s 30s 60s; do
		clean telreplay --idle "$idle" --runs 1 -f csv -a 'jemalloc:MALLOC_CONF=dirty_decay_ms:50,muzzy_decay_ms:0,background_thread:true' \
		    t.txt >report
		[ "$(figure memory jemalloc idle_bytes <report)" -ge \
		    "$(figure memory jemalloc peak_bytes <report)" ] ||
			break
	done
	[ "$(figure memory jemalloc idle_bytes <report)" -lt \
	    "$(figure memory jemalloc peak_bytes <report)" ]
}

@test "what is written of a block: a share of it, and again before its free" {
	for i in $(seq 64); do
		echo "1: malloc 0x${i}0000000 1048576"
	done >t.txt
	clean telreplay -a class -f csv --runs 1 --touch 25% t.txt >report
	peak=$(figure memory class peak_bytes <report)
	echo "$peak"
	[ "$peak" -ge 16777216 ]
	[ "$peak" -le $((16777216 + SLOP)) ]
	expect 2 "*--touch: expected 'free' behind the comma*" \
	    telreplay --touch page,x t.txt
	expect 2 "*--touch: expected none, first, page, all or a share such as 25%, found '101%'*" telreplay --touch 101% t.txt
}

@test "before each operation it computes: for a time, or as the log has it" {
	for i in $(seq 50); do
		echo "1: malloc 0x${i}0000 100 $((i * 2000000)) $((i * 2000000 + 50))"
	done >t.txt
	for think in 200us log; do
		clean telreplay -a glibc --runs 1 --think "$think" -f csv t.txt >report
		own=$(figure cost glibc own_ns <report)
		echo "$think: $own"
		# far less than it should be: the machine may be busy
		awk -v a="$own" 'BEGIN { exit !(a > 5000) }'
	done
	expect 2 "*--think: expected a time up to 1s*" telreplay --think x t.txt
	expect 2 "*--think: with --pace*" telreplay --think log --pace t.txt
	echo "1: malloc 0x1000 8" >n.txt
	expect 1 "*--think: the log does not record*" telreplay --think log n.txt
}

@test "the first table compares the allocators, with ratios to the first" {
	trace t.txt 5 20000 2
	# more than the least: where the machine is busy, a pair may not count
	clean telreplay --idle 5ms -a glibc,class,bump --runs 10 t.txt >report
	[ "$(head -n 1 report)" = comparison ]
	[ "$(sed -n '3p;4p;5p' report | awk '{ printf "%s ", $1 }')" = "glibc class bump " ]
	[ "$(sed -n '4p;5p' report | grep -oE '([x~][0-9.]+|=)( |$)' | wc -l)" -ge 7 ]
	grep 'x: ratio to glibc; by chance alone' report
	clean telreplay --idle 5ms -a glibc,class --runs 2 t.txt >report
	# two runs have no interval
	[ "$(sed -n 4p report | grep -oE '~[0-9.]+( |$)' | wc -l)" -ge 3 ]
	grep '~: 2 runs show neither a difference nor equality.*; try --runs auto' report
	clean telreplay --idle 5ms -a glibc,class --runs 1 t.txt |
	    grep '~: 1 run shows neither a difference'
	clean telreplay --idle 5ms -a glibc,class --runs 2 -f csv t.txt >report
	[ "$(grep -cE '^ratio,class,glibc,[a-z0-9_]+_(different|equal),0$' report)" -ge 6 ]
	clean telreplay -a glibc,class -f json t.txt | grep '"type":"ratio"' |
	    grep '"allocator":"class","item":"glibc"'
	clean telreplay -a glibc --sample 16 -f csv t.txt >report
	[ "$(grep -c '^latency_range,glibc,malloc .*,samples,' report)" -ge 2 ]
}

@test "an allocator that takes twice the memory is told from one that does not" {
	trace t.txt 5 20000 1
	clean telreplay -a glibc,again=glibc,class,bump -f csv t.txt >report
	[ "$(grep '^ratio,bump,glibc,peak_bytes_different,' report)" = \
	    ratio,bump,glibc,peak_bytes_different,1 ]
	[ "$(grep '^ratio,again,glibc,peak_bytes_different,' report)" = \
	    ratio,again,glibc,peak_bytes_different,0 ]
	[ "$(grep '^ratio,bump,glibc,peak_bytes_equal,' report)" = \
	    ratio,bump,glibc,peak_bytes_equal,0 ]
	# six pairs need five runs of each, with intervals
	[ "$(grep -c '^run,glibc,.*,operations,' report)" = 5 ]
	grep '^ratio,bump,again,ns_low,' report
	grep '^ratio,bump,again,p99_ns_high,' report
	# until the comparison is decided, or a minute has passed
	clean telreplay -a glibc,null --runs auto -f csv t.txt >report
	n=$(grep -c '^run,glibc,.*,operations,' report)
	[ "$n" -ge 4 ]
	[ "$n" -le 100 ]
	grep '^ratio,null,glibc,ns_different,1$' report
}

@test "two versions of a library are compared, with the verdict" {
	for times in 1 2; do
		small_plugin "v$times" <<-END
			static const char *start(const char *p,
			    const tel_pool_trace *t, void **s)
			{ (void)p; (void)t; *s = 0; return NULL; }
			static void *get(void *p, size_t n)
			{ (void)p; (void)n; return mmap(NULL, $times * 12288,
			    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS |
			    MAP_POPULATE, -1, 0); }
		END
	done
	for ((i = 1; i < 1500; i++)); do
		echo "1: malloc 0x${i}000 100"
	done >t.txt
	clean telreplay -a old=./v1.so,new=./v2.so t.txt >report
	# nothing but memory that differs surely: twice of it
	grep -E '^  new +[0-9.]+ .* [0-9.]+ MiB +x(1\.9|2\.0)[0-9] ' report
	grep -E '^  old +[0-9.]+ +([0-9.]+ +)?[0-9.]+ MiB +[0-9.]+ MiB$' report
	grep 'x: ratio to old' report
	clean telreplay -f csv -a old=./v1.so,new=./v2.so t.txt >report
	grep -x 'ratio,new,old,peak_bytes_different,1' report
	clean telreplay -f csv -a old=./v1.so,new=./v1.so t.txt >report
	grep -x 'ratio,new,old,peak_bytes_different,0' report
	grep -x 'ratio,new,old,peak_bytes_equal,1' report
}

# ranged TYPE FIGURE LEAST MOST RUNS: each is that of the report, of class.
ranged() {
	figure "$1" class "$2" <report >is
	figure run class "$5" <report | cat - is | sort -g >all
	[ "$(figure "$1" class "$3" <report)" = "$(head -n 1 all)" ]
	[ "$(figure "$1" class "$4" <report)" = "$(tail -n 1 all)" ]
}

# A library takes other memory in each of its processes.
@test "memory that is compared is the median of the timed runs" {
	small_plugin varies <<-END
		#include <stdio.h>
		static const char *start(const char *p,
		    const tel_pool_trace *t, void **s)
		{ FILE *f = fopen(p, "a"); (void)t;
			fputc('x', f); *s = (void *)ftell(f); fclose(f);
			return NULL; }
		static void *get(void *p, size_t n)
		{ size_t k = (size_t)p; n = 1;
			while (k-- > 0) n = n * 3 % 17;
			return mmap(NULL, (n + 1) << 20,
			    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS |
			    MAP_POPULATE, -1, 0); }
	END
	echo '1: malloc 0x1000 100' >t.txt
	for runs in 3 4; do
		rm -f n.txt
		clean telreplay -f csv --runs $runs --idle 0 -a ./varies.so:n.txt \
		    t.txt >report
		rm n.txt
		clean telreplay --runs $runs --idle 0 -a ./varies.so:n.txt t.txt |
		    grep -o '[0-9.]* MiB' | head -n 2 >is
		for name in peak end; do
			figure run varies ${name}_bytes <report | sort -n | awk '
				{ v[NR] = $1 / 1048576 }
				END { a = v[int((NR + 1) / 2)]
				    print (a + v[int(NR / 2) + 1]) / 2 }'
		done | paste is - | awk '
			{ print; bad = bad || ($1 - $3) ^ 2 > 0.09 }
			END { exit bad || NR != 2 }'
	done
}

@test "each figure that is compared has the range of the runs" {
	trace t.txt 5 20000 2
	clean telreplay -a glibc,class --runs 4 --sample 16 -f csv t.txt >report
	[ "$(figure run class p99_ns <report | wc -l)" = 4 ]
	ranged cost p99_ns p99_least_ns p99_most_ns p99_ns
	ranged memory peak_bytes peak_least_bytes peak_most_bytes peak_bytes
	ranged memory end_bytes end_least_bytes end_most_bytes end_bytes
}

@test "threads have the numbers of the log, and run where it has them" {
	{
		echo "501: malloc 0x1000 100"
		for i in $(seq 20); do
			echo "$((i + 600)): malloc 0x${i}00000 100"
			echo "$((i + 600)): thread_done 0x0"
		done
		echo "501: free 0x1000"
	} >t.txt
	clean telreplay --runs 1 -f csv t.txt >report
	[ "$(figure trace '' replay_threads <report)" = 2 ]
	[ "$(figure thread glibc id <report | tr '\n' ' ')" = "501 601 " ]
	[ "$(figure thread glibc threads <report | tr '\n' ' ')" = "1 20 " ]
	[ "$(figure run glibc operations <report)" = 22 ]
}

@test "the programs that a process executes are one thread after the other" {
	{
		cat <<-'END'
			# teltools text 1
			# type: malloc 1 Alloc at:address size:unsigned pid:unsigned:32 tid:unsigned:32
			# type: free 2 Alloc at:address pid:unsigned:32 tid:unsigned:32
			# role: malloc alloc at size thread=tid process=pid
			# role: free free at thread=tid process=pid
		END
		# of two processes, the programs that each of them is
		for image in 0 1 2 3; do
			for tid in 7 8; do
				pid=$((tid + (image << 22)))
				echo "malloc at=0x1000 size=$((tid + image)) pid=$pid tid=$tid"
				echo "free at=0x1000 pid=$pid tid=$tid"
			done
			# what it has left ends with the program
			echo "malloc at=0x9000 size=$((90 + image)) pid=$((pid - 1)) tid=7"
		done | awk '{ printf "%016X %s\n", NR, $0 }'
	} >t.txt
	clean telreplay -q --runs 1 --idle 0 -a null -f csv t.txt >report
	[ "$(figure trace '' threads <report)" = 2 ]
	[ "$(figure thread null operations <report | tr '\n' ' ')" = "15 8 " ]
	[ "$(figure trace '' live_blocks <report)" = 1 ]
	[ "$(figure trace '' live_bytes <report)" = 93 ]
	run ! grep ^anomaly report
}

@test "the thread of a process that ends frees what that left, and ends" {
	{
		cat <<-'END'
			# teltools text 1
			# type: malloc 1 Alloc at:address size:unsigned pid:unsigned:32 tid:unsigned:32
			# type: gone 2 Process pid:unsigned:32 tid:unsigned:32
			# role: malloc alloc at size thread=tid process=pid
			# role: gone end-process thread=tid process=pid
		END
		for pid in {100..399}; do
			echo "malloc at=0x1000 size=$pid pid=$pid tid=$pid"
			echo "gone pid=$pid tid=$pid"
		done | awk '{ printf "%016X %s\n", NR, $0 }'
	} >t.txt
	clean telreplay -q --runs 1 --idle 0 -f csv t.txt >report
	[ "$(figure trace '' threads <report)" = 300 ]
	# one after the other, and the first one, which goes on
	[ "$(figure trace '' replay_threads <report)" = 2 ]
	[ "$(figure trace '' crossing_frees <report)" = 0 ]
	[ "$(figure trace '' peak_bytes <report)" = 399 ]
	[ "$(figure trace '' live_bytes <report)" = 399 ]
	[ "$(figure run glibc operations <report)" = 599 ]
	# one that did nothing has no thread; of one whose thread has ended before
	# it, the first thread frees what is left
	awk '/^#/ || !/gone/ { print; next }
	    { idle = $0; sub(/pid=/, "pid=9", idle); sub(/tid=/, "tid=9", idle)
	      over = $0; sub(/gone/, "over", over); print idle; print over; print }' \
	    t.txt >i.txt
	{
		echo "# teltools text 1"
		echo "# type: over 3 Thread pid:unsigned:32 tid:unsigned:32"
		echo "# role: over end-thread thread=tid process=pid"
		sed 1d i.txt
	} >idle.txt
	clean telreplay -q --runs 1 --idle 0 -f csv idle.txt >report
	[ "$(figure trace '' threads <report)" = 300 ]
	[ "$(figure trace '' replay_threads <report)" = 2 ]
	[ "$(figure trace '' peak_bytes <report)" = 399 ]
	[ "$(figure run glibc operations <report)" = 599 ]
}

@test "all threads of a process end with it, and with the program it executes" {
	{
		cat <<-'END'
			# teltools text 1
			# type: malloc 1 Alloc at:address size:unsigned pid:unsigned:32 tid:unsigned:32
			# type: gone 2 Process pid:unsigned:32 tid:unsigned:32
			# role: malloc alloc at size thread=tid process=pid
			# role: gone end-process thread=tid process=pid
		END
		for pid in {100..399}; do
			echo "malloc at=0x1000 size=$pid pid=$pid tid=$pid"
			for thread in {1..3}; do
				echo "malloc at=0x${thread}000$pid size=8 pid=$pid tid=$((thread * 1000 + pid))"
			done
			echo "gone pid=$pid tid=$pid"
		done | awk '{ printf "%016X %s\n", NR, $0 }'
	} >t.txt
	clean telreplay -q --runs 1 --idle 0 -f csv t.txt >report
	[ "$(figure trace '' threads <report)" = 1200 ]
	# those of one process, and the first one, which goes on
	[ "$(figure trace '' replay_threads <report)" = 5 ]
	[ "$(figure trace '' peak_bytes <report)" = 423 ]
	[ "$(figure trace '' live_bytes <report)" = 423 ]
	[ "$(figure run glibc operations <report)" = 2396 ]
	# 4,194,304 is a program that the process executes
	awk '/^#/ { print; next } /gone/ { next }
	    { split($5, p, "="); split($6, t, "="); $5 = "pid=" (p[2] - 100) * 4194304 + 100
	      if (t[2] < 1000) $6 = "tid=100"; print }' t.txt >e.txt
	clean telreplay -q --runs 1 --idle 0 -f csv e.txt >report
	[ "$(figure trace '' replay_threads <report)" = 4 ]
	[ "$(figure trace '' peak_bytes <report)" = 423 ]
	[ "$(figure run glibc operations <report)" = 2396 ]
}

@test "a process that runs while 65,536 others come and go keeps its thread" {
	# so does the second one
	seq 70000 | awk '
	    BEGIN {
		print "# teltools text 1"
		print "# type: malloc 1 Alloc at:address size:unsigned pid:unsigned:32 tid:unsigned:32"
		print "# type: free 2 Alloc at:address pid:unsigned:32 tid:unsigned:32"
		print "# type: gone 3 Process pid:unsigned:32 tid:unsigned:32"
		print "# role: malloc alloc at size thread=tid process=pid"
		print "# role: free free at thread=tid process=pid"
		print "# role: gone end-process thread=tid process=pid"
		for (pid = 1; pid <= 2; pid++)
			printf "%016X malloc at=0x10 size=8 pid=%d tid=%d\n", pid, pid, pid
	    }
	    { printf "%016X malloc at=0x10 size=1 pid=%d tid=%d\n", 2 * NR + 1, NR + 2, NR + 2
	      printf "%016X gone pid=%d tid=%d\n", 2 * NR + 2, NR + 2, NR + 2 }
	    END { for (pid = 1; pid <= 2; pid++)
		printf "%016X free at=0x10 pid=%d tid=%d\n", 2 * NR + 2 + pid, pid, pid }' >t.txt
	clean telreplay --dry-run -f csv t.txt >report
	[ "$(figure trace '' threads <report)" = 70002 ]
	[ "$(figure trace '' replay_threads <report)" = 3 ]
	[ "$(figure trace '' crossing_frees <report)" = 0 ]
}

@test "processes that end beside one of many threads take no time for each" {
	seq 100000 | awk '
	    BEGIN {
		print "# teltools text 1"
		print "# type: malloc 1 Alloc at:address size:unsigned pid:unsigned:32 tid:unsigned:32"
		print "# type: gone 2 Process pid:unsigned:32 tid:unsigned:32"
		print "# role: malloc alloc at size thread=tid process=pid"
		print "# role: gone end-process thread=tid process=pid"
	    }
	    { printf "%016X malloc at=0x%x0 size=8 pid=1 tid=%d\n", NR, NR, NR
	      gone[NR] = sprintf("malloc at=0x10 size=8 pid=%d tid=1\n%016X " \
	          "gone pid=%d tid=1", NR + 1, NR + 100000, NR + 1) }
	    END { for (i = 1; i <= NR; i++)
		printf "%016X %s\n", i + 100000, gone[i] }' >t.txt
	clean timeout 30 telreplay --dry-run -f csv t.txt >report
	[ "$(figure trace '' threads <report)" = 200000 ]
	[ "$(figure trace '' largest_bytes <report)" = 8 ]
}

@test "a wait is for later operations, too, but for none that the log has later" {
	seq 4096 6095 | awk '{ printf "1: malloc 0x%x0000 48\n", $1 }' >a.txt
	seq 4096 6095 | awk '{ printf "2: free 0x%x0000\n", $1 }' >f.txt
	# a thread that has been started has no need to wait for what was before
	(echo "2: malloc 0x10 8" && cat a.txt f.txt) >t.txt
	clean telreplay --dry-run --window none -f csv t.txt >report
	# 2,000 operations, 32 at a time
	[ "$(figure trace '' waits <report)" = 63 ]
	clean telreplay -q --runs 1 -a null --window none -f csv t.txt >report
	[ "$(figure run null operations <report)" = 4001 ]
	# where each block is freed at once, each free waits
	(echo "2: malloc 0x10 8" && paste -d '\n' a.txt f.txt) >t.txt
	clean telreplay --dry-run --window none -f csv t.txt >report
	[ "$(figure trace '' waits <report)" = 2000 ]
	clean telreplay -q --runs 1 -a null --window none -f csv t.txt >report
	[ "$(figure run null operations <report)" = 4001 ]
}

@test "threads run ahead as far as the window lets them, and no further" {
	for i in $(seq $((3000 / TENTH))); do
		[ "$i" -le 30 ] || echo "2: free 0x$((i - 30))000"
		echo "1: malloc 0x${i}000 20000"
	done >t.txt
	clean telreplay --runs 1 -f csv t.txt >report
	[ "$(figure memory glibc run_live_bytes <report)" -le 640000 ]
	# a window has 16 KiB, however few bytes are live
	sed 's/ 20000$/ 1000/' t.txt >small.txt
	clean telreplay --runs 1 -f csv small.txt >report
	[ "$(figure memory glibc run_live_bytes <report)" -le 64000 ]
	clean telreplay -q --runs 1 --window 4 -f csv small.txt >report
	[ "$(figure memory glibc run_live_bytes <report)" -le 36000 ]
	clean telreplay --dry-run -q --program t.prog small.txt >report
	clean telreplay --dry-run -q --program all.prog --window 1 small.txt >report
	[ "$(wc -c <t.prog)" -lt $(($(wc -c <all.prog) * 3 / 4)) ]
	expect 2 "*--window: expected a number of operations, a percentage*" \
	    telreplay --window 2x% t.txt
	clean telreplay --dry-run -q --program t.prog t.txt >report
	expect 2 "*--window applies to logs: a compiled program is fixed" \
	    telreplay --window 4 t.prog
}

@test "what is freed is given back by those that give it back" {
	for i in $(seq 64); do
		echo "1: malloc 0x${i}0000000 1048576"
	done >t.txt
	clean telreplay -a class -f csv --runs 1 t.txt >report
	[ "$(figure memory class end_bytes <report)" -ge 67108864 ]
	[ "$(figure memory class freed_bytes <report)" -le $SLOP ]
}

@test "a program that was kept is the trace" {
	trace t.txt 11 5000 3
	clean telreplay --dry-run -f json --program t.prog t.txt >log
	clean telreplay --dry-run -f json t.prog >kept
	clean telreplay --dry-run -f json <t.prog >again
	# a pipe on purpose
	# shellcheck disable=SC2002
	clean bash -c 'cat t.prog | telreplay --dry-run -f json' >piped
	cmp log kept
	cmp log again
	cmp log piped
	clean telreplay --runs 1 -f json t.prog >report
	python3 "$MODEL" check report <t.txt
	# that of a run in which an operand failed is run, but not kept
	trace more.txt 12 9000 4
	cp t.prog old.prog
	exits 1 telreplay --program t.prog -f rep nosuch more.txt >failed
	clean telreplay -f rep more.txt | cmp - failed
	cmp t.prog old.prog
	exits 1 telreplay --program new.prog -f rep nosuch more.txt | cmp - failed
	[ ! -e new.prog ]
}

@test "a program of a log with damage is damaged, too" {
	printf '1: malloc 0x10 8\n1: free 0x20\n' >t.txt
	run -3 --separate-stderr telreplay --dry-run --program t.prog t.txt
	# shellcheck disable=SC2154 # "run --separate-stderr" sets it
	local log=$output$stderr
	run -3 --separate-stderr telreplay --dry-run t.prog
	[ "$output$stderr" = "$log" ]
	run -1 --separate-stderr telreplay --strict --dry-run t.prog
	[ "$output$stderr" = "telreplay: t.prog: 1 operations of the log are inconsistent" ]
}

@test "a named pipe is opened once: its writer would end with a first reader" {
	mkfifo named.fifo
	for _ in 1 2 3; do
		# it writes as soon as the pipe is open, and closes it
		python3 -c 'import os
fd = os.open("named.fifo", os.O_WRONLY)
os.write(fd, b"1: malloc 0x1000 64\n")
os.close(fd)' &
		run -0 timeout 60 telreplay -q -c named.fifo
		wait
		[ "$output" = 1 ]
	done
}

@test "a program to be paced has the times of events before the rate is measured" {
	DATA=$TEL_TOP/tests/data/mps unpack 1.118.0-lii6gc-awlut
	telcat -q -S -f mps mpsio.log >sorted.log
	for option in --pace '--think log'; do
		for order in --file-order --dry-run; do
			# shellcheck disable=SC2086 # words
			telreplay -q $option $order --dry-run --program \
			    ./$order.prog sorted.log >report
		done
		cmp ./--file-order.prog ./--dry-run.prog
	done
}

@test "a program that is damaged is refused" {
	trace t.txt 11 2000 2
	clean telreplay --dry-run -q --program t.prog t.txt >log
	size=$(wc -c <t.prog)
	head -c $((size / 2)) t.prog >cut.prog
	run -1 --separate-stderr telreplay cut.prog
	# shellcheck disable=SC2154 # run sets it
	[ "$stderr" = "telreplay: cut.prog: the compiled program is truncated, or damaged at its end" ]
	[ -z "$output" ]
	# the first part of it is behind the 16 bytes of its head
	cp t.prog bad.prog
	printf '\377' | dd of=bad.prog bs=1 seek=40 conv=notrunc status=none
	run -1 --separate-stderr telreplay --dry-run bad.prog
	[[ $stderr == "telreplay: bad.prog: offset 16: a part of the compiled program does not have"* ]]
	[ -z "$output" ]
	for files in 't.prog t.txt' 't.txt t.prog' 't.prog t.prog'; do
		# shellcheck disable=SC2086 # words
		run -2 --separate-stderr telreplay --dry-run $files
		[ "$stderr" = 'telreplay: t.prog: a compiled program cannot be combined with other files' ]
	done
}

@test "repeats do the same again" {
	trace t.txt 2 3000 2
	clean telreplay --repeat 5 --runs 1 -f csv t.txt >report
	[ "$(figure run glibc operations <report)" -eq $((15000 / TENTH)) ]
}

@test "each order and number of threads runs all operations" {
	trace t.txt 9 6000 5
	for order in edges total none; do
		clean telreplay --order "$order" --runs 1 -f csv t.txt >report
		[ "$(figure run glibc operations <report)" -eq $((6000 / TENTH)) ]
		[ "$(figure trace '' order <report)" = "$order" ]
	done
	clean telreplay --threads 1 --runs 1 -f csv t.txt >report
	[ "$(figure trace '' replay_threads <report)" = 1 ]
	[ "$(figure run glibc operations <report)" -eq $((6000 / TENTH)) ]
}

@test "the environment of a malloc is set, shown and heeded" {
	needs_preload
	trace t.txt 4 $((2000 * TENTH)) 1
	clean telreplay -f csv --runs 1 t.txt -a glibc \
	    -a 'mine=glibc:GLIBC_TUNABLES=glibc.malloc.mmap_threshold=1024' \
	    >report
	figure setting mine assignment <report |
	    grep 'glibc.malloc.mmap_threshold=1024'
	[ -z "$(figure setting glibc assignment <report)" ]
	# system calls are not counted where nothing may be traced
	calls=$(figure calls mine mmap <report)
	[ -z "$calls" ] || [ "$calls" -gt "$(figure calls glibc mmap <report)" ]
}

@test "LD_PRELOAD of the user is not taken for the allocator" {
	needs_preload
	trace t.txt 4 500 1
	LD_PRELOAD=libjemalloc.so.2 telreplay --runs 1 -f csv t.txt >report
	figure allocator glibc path <report | grep libc.so
}

@test "a plug-in is compiled and run, with names that need quoting" {
	needs_preload
	trace t.txt 6 8000 3
	mkdir "a b:c"
	# shellcheck disable=SC2086 # several words on purpose
	${CC:-cc} -std=c11 -Wall -Wextra -Werror -shared -fPIC \
	    -I"$TEL_TOP/include" -o "a b:c/powers.so" \
	    "$TEL_TOP/tests/consumer/pool.c"
	clean telreplay -a "./a b:c/powers.so" --runs 1 --verify -f csv t.txt \
	    >report
	[ "$(figure allocator powers pool <report)" = powers ]
	[ "$(figure allocator powers path <report)" = "./a b:c/powers.so" ]
	[ "$(figure run powers operations <report)" -eq $((8000 / TENTH)) ]
	[ "$(figure allocator powers errors <report)" = 0 ]
}

@test "a log of pools is run with pools and with malloc" {
	unpack 1.118.0-lii6gc-poolncv
	clean telreplay -a glibc,class,bump --runs 1 --verify -f csv mpsio.log \
	    >report
	for name in glibc class bump; do
		[ "$(figure allocator "$name" failed <report)" = 0 ]
		[ "$(figure allocator "$name" errors <report)" = 0 ]
	done
}

@test "recorded times are kept" {
	printf '1: malloc 0x1%02d0 64 %d %d\n' 1 0 10 2 200000000 200000010 \
	    3 400000000 400000010 >t.txt
	clean telreplay --pace --runs 1 -f csv t.txt >report
	[ "$(figure run glibc wall_ns <report | cut -d . -f 1)" -ge 390000000 ]
	expect 1 "*--pace: the log does not record the rate of its clock" \
	    telreplay --pace <(echo "1: malloc 0x1000 16")
	# an hour and more of them, a hundred thousand times as fast
	printf '1: malloc 0x1%02d0 64 %d %d\n' 1 0 10 \
	    2 4000000000000 4000000000010 >t.txt
	clean timeout 600 telreplay --pace=100000 --runs 1 -f csv t.txt >report
	[ "$(figure run glibc wall_ns <report | cut -d . -f 1)" -ge 39000000 ]
}

@test "operators of C++ and sized frees are replayed by those of the allocator" {
	needs_preload
	cat >cxx.c <<-'END'
		#include <stddef.h>
		#include <stdint.h>
		#include <stdlib.h>
		#include <string.h>
		static _Alignas(4096) unsigned char arena[1 << 28];
		static size_t used;
		struct head { size_t size; char by; _Alignas(16) char block[]; };
		static void *get(size_t alignment, size_t n, char by) {
			size_t at = __atomic_fetch_add(&used, n + alignment + 48, 0);
			unsigned char *p = arena + at + 32;
			struct head *h;
			if (at + n > sizeof(arena) - 8192) return NULL;
			p += -(uintptr_t)p & (alignment - 1);
			h = (void *)(p - offsetof(struct head, block));
			h->size = n; h->by = by;
			return p; }
		static struct head *head(void *p) {
			return (void *)((char *)p - offsetof(struct head, block)); }
		void *malloc(size_t n) { return get(16, n, 'm'); }
		void *calloc(size_t c, size_t n) { return get(16, c * n, 'm'); }
		void *memalign(size_t a, size_t n) { return get(a, n, 'a'); }
		void *realloc(void *b, size_t n) {
			void *p = malloc(n);
			if (b != NULL && p != NULL)
				memcpy(p, b, head(b)->size < n ? head(b)->size : n);
			return p; }
		#define CHECK(ok) if (p != NULL && !(ok)) abort()
		void free(void *p) { CHECK(head(p)->by == 'm'); }
		void free_sized(void *p, size_t n) {
			CHECK(head(p)->by == 'm' && head(p)->size == n); }
		void *NEW(size_t n) { return get(16, n, 'n'); }
		/* those of 72 bytes are freed by a delete that says so */
		void _ZdlPv(void *p) {
			CHECK(head(p)->by != 'm' && head(p)->size != 72); }
		void SIZED(void *p, size_t n) {
			CHECK(head(p)->by == 'n' && head(p)->size == n && n == 72); }
	END
	cat >cxx.txt <<-'END'
		--7-- _Znwm(72) = 0x1000
		--7-- _Znam(10) = 0x2000
		--7-- _ZdlPvm(0x1000)
		--7-- _ZdaPv(0x2000)
		--7-- malloc(5) = 0x3000
		--7-- free_sized(0x3000, 5)
		--7-- memalign(al 64, size 100) = 0x4000
		--7-- _ZdlPvmSt11align_val_t(0x4000)
		--7-- malloc(6) = 0x5000
		--7-- realloc(0x5000,7) = 0x5000
		--7-- free_sized(0x5000, 7)
		--7-- calloc(2,8) = 0x6000
		--7-- free(0x6000)
	END
	letter=m
	[ "$(od -An -tu1 -j4 -N1 "$(type -P telreplay)")" -ne 1 ] || letter=j
	${CC:-cc} -std=gnu11 -O1 -shared -fPIC -fno-builtin -DNEW="_Znw$letter" \
	    -DSIZED="_ZdlPv$letter" -o cxx.so cxx.c
	clean telreplay -a ./cxx.so --runs 1 --sample 1 -f csv cxx.txt >report
	[ "$(figure allocator cxx failed <report)" = 0 ]
	[ "$(figure allocator cxx has_sized <report)" = 1 ]
	grep '^trace,,,by_new,2$' report
	grep '^trace,,,by_delete,3$' report
	grep '^trace,,,by_sized,4$' report
	grep '^latency,cxx,new,operations,2$' report
	# which of them there are is what the program says that is kept
	clean telreplay -q --dry-run --program cxx.prog cxx.txt >/dev/null
	clean telreplay -a ./cxx.so --runs 1 --verify -f csv cxx.prog |
	    grep '^latency,cxx,delete,operations,4$'
	# one that has none is asked for malloc and free, and that is shown
	clean telreplay -a glibc --runs 1 cxx.txt >report
	grep 'malloc and free in place of new and delete' report
	grep 'no free is given the size' report
	# text of telcat has the functions, too
	telcat cxx.txt >text
	grep '^# role: delete_sized delete-sized address' text
	clean telreplay --dry-run -f csv text | grep '^trace,,,by_sized,4$'
	telcat -f tel cxx.txt | telreplay --dry-run -f csv | grep '^trace,,,by_new,2$'
}
