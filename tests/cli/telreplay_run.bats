#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# telreplay runs traces with allocators, and reports.

load lib

MODEL=$TEL_TOP/tests/cli/telreplay_model.py

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
}

# Other mallocs cannot be loaded before that of a sanitizer.
needs_preload() {
	case ${CFLAGS-} in *-fsanitize*) skip "the sanitizer has malloc" ;; esac
}

# trace NAME SEED EVENTS THREADS: a trace that the model made.
trace() {
	python3 "$MODEL" make "$2" "$3" "$4" >"$1"
}

# figure TYPE ALLOCATOR NAME: of the report in csv on standard input.
figure() {
	awk -F, -v t="$1" -v a="$2" -v n="$3" \
	    '$1 == t && $2 == a && $4 == n { print $5 }'
}

@test "what a trace holds is what an independent count of it says" {
	for threads in 1 3; do
		trace t.txt "$threads" 20000 "$threads"
		clean telreplay -n -f json t.txt >report
		python3 "$MODEL" check report <t.txt
	done
}

@test "a trace recorded on Android holds what a count of its lines says" {
	zstd -dcq "$TEL_TOP/tests/data/alloc/surfaceflinger.android.zst" >t.txt
	clean telreplay -n -f json t.txt >report
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
		# which event it was depends on where it stands
		for log in sorted.txt x.log x.txt x.tel; do
			clean telreplay -n "$log" |
			    sed 's/at event [0-9,]*/at/; s/first: event [0-9]*//' \
			        >"$log.out"
			cmp sorted.txt.out "$log.out"
		done
		grep -q PoolFree x.txt
		run ! grep wrong x.log.out
		# what is selected may depend on others
		clean telreplay -n -e "Pool*" x.log >some.out
		run ! grep wrong some.out
	done
}

@test "what pools of an MPS hold is what its own tool says" {
	for log in "$TEL_TOP"/tests/data/mps/*.log.zst; do
		text=${log%.log.zst}.cnv.zst
		case $log in *-seg-trace.*) continue ;; esac
		test -f "$text" || continue
		echo "$log"
		release=${log##*/}
		clean telreplay -q -n -f json "$log" >report
		zstd -dqc "$text" | python3 \
		    "$TEL_TOP/tests/cli/telreplay_mps.py" "${release%%-*}" report
	done
	# a pool that has buffers before its creation is told is one, not two
	clean telreplay -n "$TEL_TOP/tests/data/mps/1.118.0-lii6ll-finalcv.log.zst" \
	    >report
	grep -q '^  pools         10, with 11 buffers' report
	grep -q '^  not told      what the buffers gave out' report
	run ! grep -E '^  (odd|wrong)' report
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
		clean telreplay -a glibc,bump,class -f "$form" t.txt >"t.$form"
		count=$(python3 "$MODEL" look "$form" <"t.$form")
		[ "$count" = 3 ]
	done
	clean telreplay -a glibc,class,bump,null,a=class,b=class,c=bump \
	    t.txt >report
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
		case ${CFLAGS-} in
		*-fsanitize*) ;;
		*) [ "$peak" -le 68500000 ] ;;
		esac
	done
	# what is not touched is not resident
	clean telreplay -a class -f csv --runs 1 --touch none t.txt >report
	[ "$(figure memory class peak_bytes <report)" -le 1000000 ]
}

@test "what is freed is given back by those that give it back" {
	for i in $(seq 64); do
		echo "1: malloc 0x${i}0000000 1048576"
	done >t.txt
	clean telreplay -a class -f csv --runs 1 t.txt >report
	[ "$(figure memory class end_bytes <report)" -ge 200000 ]
	[ "$(figure memory class freed_bytes <report)" -le 100000 ]
}

@test "a program that was kept is the trace" {
	trace t.txt 11 5000 3
	clean telreplay -n -f json -o t.prog t.txt >log
	clean telreplay -n -f json t.prog >kept
	clean telreplay -n -f json <t.prog >again
	# a pipe on purpose
	# shellcheck disable=SC2002
	clean bash -c 'cat t.prog | telreplay -n -f json' >piped
	cmp log kept
	cmp log again
	cmp log piped
	clean telreplay --runs 1 -f json t.prog >report
	python3 "$MODEL" check report <t.txt
}

@test "a program that is damaged is refused" {
	trace t.txt 11 2000 2
	clean telreplay -n -q -o t.prog t.txt >log
	size=$(wc -c <t.prog)
	head -c $((size / 2)) t.prog >cut.prog
	run -1 --separate-stderr telreplay cut.prog
	[ -n "$stderr" ]
	[ -z "$output" ]
}

@test "repeats do the same again" {
	trace t.txt 2 3000 2
	clean telreplay --repeat 5 --runs 1 -f csv t.txt >report
	[ "$(figure run glibc operations <report)" -eq 15000 ]
}

@test "each order and number of threads runs all operations" {
	trace t.txt 9 6000 5
	for order in edges total none; do
		clean telreplay --order $order --runs 1 -f csv t.txt >report
		[ "$(figure run glibc operations <report)" -eq 6000 ]
		[ "$(figure trace '' order <report)" = $order ]
	done
	clean telreplay --threads 1 --runs 1 -f csv t.txt >report
	[ "$(figure trace '' lanes <report)" = 1 ]
	[ "$(figure run glibc operations <report)" -eq 6000 ]
}

@test "the environment of a malloc is set, shown and heeded" {
	needs_preload
	trace t.txt 4 2000 1
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
	[ "$(figure run powers operations <report)" -eq 8000 ]
	[ "$(figure allocator powers errors <report)" = 0 ]
}

@test "a log of pools is run with pools and with malloc" {
	unpack 1.118.0-lii6gc-poolncv
	clean telreplay -a glibc,class,bump --runs 1 --verify -f csv mpsio.log \
	    >report
	for name in glibc class bump; do
		[ "$(figure allocator $name failed <report)" = 0 ]
		[ "$(figure allocator $name errors <report)" = 0 ]
	done
}

@test "recorded times are kept" {
	printf '1: malloc 0x1%02d0 64 %d %d\n' 1 0 10 2 200000000 200000010 \
	    3 400000000 400000010 >t.txt
	clean telreplay --pace --runs 1 -f csv t.txt >report
	[ "$(figure run glibc wall_ns <report | cut -d . -f 1)" -ge 390000000 ]
	expect 1 "*--pace: the log does not tell how fast its clock is" \
	    telreplay --pace <(echo "1: malloc 0x1000 16")
	# an hour and more of them, a hundred thousand times as fast
	printf '1: malloc 0x1%02d0 64 %d %d\n' 1 0 10 \
	    2 4000000000000 4000000000010 >t.txt
	clean timeout 600 telreplay --pace=100000 --runs 1 -f csv t.txt >report
	[ "$(figure run glibc wall_ns <report | cut -d . -f 1)" -ge 39000000 ]
}
