#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# An allocation that fails ends a tool with status 1 and a message, or changes
# nothing: no crash, and no output that only looks whole.

load lib

setup_file() {
	cd "$BATS_FILE_TMPDIR" || exit
	# shellcheck disable=SC2086
	$CC -O1 -shared -fPIC -o fail.so "$TEL_TOP/tests/check/fail_alloc.c" \
	    -ldl
	data=$TEL_TOP/tests/data
	zstd -qdc "$data/mps/1.118.0-lii6gc-poolncv.log.zst" >mps.log
	telfilter -f tel -o mps.tel mps.log
	cp "$data"/hpm/v3be/HPM.* .
	cp "$data"/alloc/{short.rep,hand.kdump,hand.logalloc,old.android} .
	cp "$data"/alloc/{calls.ltrace,calls.mtrace,calls.valgrind}.zst .
	cp "$data/ftrace/hand.trace" "$data/jfr/serial-25.jfr.zst" .
	cp "$data"/alloc/perl.heaptrack{,-data}.zst "$data/inst/hfs.txt" .
	zstd -qdc "$data/ftrace/chains.perf.zst" >chains.perf
	cp "$data/ets/boot.text" "$data"/stat/{report,classes}.inst .
	cp "$data/mps/1.118.0-lii6gc-poolncv.cnv.zst" mps.cnv.zst
	cp "$data/mps/1.111.0-lii6gc-poolncv.log.zst" old.log.zst
	for n in {1..40}; do
		printf '# teltools text 1\n# type: E%d 1 K size:unsigned\n%016X E%d size=1\n' \
		    "$n" "$n" "$n" >"e$n.text"
	done
	echo 100 | "$TEL_BUILD/tests/lives" shop.ring >/dev/null
	tar -cf types.tar --remove-files e*.text
}

setup() {
	case $CFLAGS in *-fsanitize*) skip "sanitizers have a malloc of their own" ;; esac
	[ -z "$TEST_VALGRIND" ] || skip "valgrind has a malloc of its own"
	cd "$BATS_TEST_TMPDIR" || exit
	cp "$BATS_FILE_TMPDIR"/* .
}

# sweep N COMMAND ...: at most N allocations of each fail, all if N is 0.
sweep() {
	local points=${TEST_FAULTS:-$1}
	[ -n "${TEST_WHOLE-}${TEST_FAULTS-}" ] || points=$(((points + 7) / 8))
	python3 "$TEL_TOP/tests/check/alloc_failures.py" ./fail.so \
	    "$points" "${@:2}"
}

@test "telcat without memory: every format, every output" {
	sweep 40 'telcat mps.log' 'telcat mps.tel' 'telcat mps.cnv.zst' \
	    'telcat old.log.zst mps.log' 'telcat hfs.txt' 'telcat boot.text' \
	    'telcat HPM.1.startup' 'telcat calls.ltrace.zst' \
	    'telcat calls.mtrace.zst' 'telcat calls.valgrind.zst' \
	    'telcat perl.heaptrack.zst' 'telcat perl.heaptrack-data.zst' \
	    'telcat hand.kdump' 'telcat hand.trace' 'telcat serial-25.jfr.zst' \
	    'telcat hand.logalloc' 'telcat old.android' 'telcat short.rep' \
	    'telcat -S -f csv mps.log' 'telcat -f json mps.log' \
	    'telcat -f sql mps.log' 'telcat -f mpscnv mps.log' \
	    'telcat -f arrow mps.log' 'telcat -f arrow -z 1 mps.log' \
	    'telcat -f perfetto mps.log' 'telcat -f chrome mps.log' \
	    'telcat -f folded mps.log' 'telcat --types mps.log'
	sweep 0 'telcat shop.ring'
}

@test "a page without memory" {
	printf '%s\n' '# teltools text 1' '# tick rate: 1000000000' \
	    '# type: Go 1 K id:unsigned' '# type: Stop 2 K id:unsigned' \
	    '# type: Alloc 3 K at:pointer size:unsigned' \
	    '# role: Go start Stop id' '# role: Stop finish id' \
	    '# role: Alloc alloc at size -' '0000000000000001 Go id=1' \
	    '0000000000000005 Stop id=1' '0000000000000007 Alloc at=0x10 size=8' \
	    >page.txt
	sweep 200 'telcat -f html page.txt'
}

@test "telfilter without memory: every format that is written" {
	sweep 60 'telfilter -k Pool,Object mps.log' 'telfilter -f tel mps.log' \
	    "telfilter -w 'size>40' mps.tel" 'telfilter -z 3 mps.log' \
	    'telfilter -f mps:1.112.0 mps.log' 'telfilter -f tel hfs.txt' \
	    'telfilter -f tel HPM.1.startup' "telfilter -c -w 'size>40' mps.log" \
	    'telfilter -f tel mps.cnv.zst old.log.zst' \
	    'telfilter -n 9 serial-25.jfr.zst'
}

@test "the index of a .tel without memory: writing and using it" {
	for i in 1 2 3 4 5 6 7 8 9; do
		cp mps.log "many$i.log"
	done
	telfilter --no-merge -f tel many?.log >many.tel
	{
		printf '# teltools text 1\n# format: mps-1.118.0/lii6gc\n'
		for n in $(seq 9000); do
			printf '%016X Intern stringId=%d string="s%d"\n' "$n" "$n" "$n"
		done
	} >names.text
	telfilter -f tel names.text >names.tel
	# summaries, a directory, names records, and a cumulative one
	sweep 120 "telfilter --no-merge -f tel $(echo many?.log)" \
	    'telfilter -f tel names.text' "telfilter -w 'size>40' many.tel" \
	    'telfilter -k Pool many.tel' 'telfilter -t 0x2000, names.tel' \
	    "telfilter -w 'stringId==8999' names.tel"
}

@test "an archive of many types without memory" {
	sweep 60 'telcat types.tar' 'telcat -f tel types.tar' \
	    'telcat -f sql types.tar' 'telcat -f chrome types.tar' \
	    'telstat -f json types.tar'
}

@test "more files than may be open without memory" {
	for n in {10..24}; do
		printf '%016X Alloc ptr=0x10 size=16\n' "$n" >"m$n"
	done
	sweep 120 "prlimit --nofile=20 telcat $(echo m??)"
}

@test "telreplay without memory: logs, programs, replays" {
	telreplay --dry-run --program program mps.log >/dev/null
	sweep 60 'telreplay --dry-run -f csv perl.heaptrack.zst' \
	    'telreplay --dry-run -f json mps.log' 'telreplay --dry-run short.rep' \
	    'telreplay -f rep mps.log' \
	    'telreplay --dry-run --program copy mps.log' 'telreplay --dry-run program' \
	    '~telreplay --runs 1 -a glibc -f csv mps.log' \
	    '~telreplay --runs 1 -a bump -f csv program'
}

@test "telstat without memory: every report" {
	sweep 60 'telstat mps.log' 'telstat serial-25.jfr.zst' \
	    'telstat -f csv mps.tel' \
	    'telstat -f json HPM.1.startup' 'telstat -f svg mps.log' \
	    'telstat -f html mps.log' \
	    'telstat -f inst mps.log' 'telstat -f openmetrics mps.log' \
	    "telstat -f inst -s 't=tally(name,9)' -s 'h=log2(size)' -g kind mps.log" \
	    "telstat -s 't=tally(name,32)' -s 'd=dur()' -g kind mps.log" \
	    'telstat perl.heaptrack.zst' 'telstat hfs.txt' \
	    'telstat report.inst' 'telstat classes.inst' \
	    'telstat chains.perf' 'telstat --stacks chains.perf'
}

@test "statistics that are saved without memory" {
	# each allocation: the last ones are those of the end of a log
	printf '%s\n' '# teltools text 1' '# type: a 1 K b:boolean n:unsigned' \
	    '0000000000000001 a b=true n=700' '0000000000000002 a b=false n=5' \
	    >small.txt
	sweep 0 "telstat -f inst -s 't=tally(name,9)' small.txt" \
	    "telstat -f inst -s 'd=distinct(n)' small.txt" \
	    "telstat -f inst -g b small.txt"
}

@test "telrec without memory says so" {
	local n step=3
	[ -z "${TEST_WHOLE-}" ] || step=1
	for ((n = 1; n < 180; n += step)); do
		LD_PRELOAD=./fail.so FAIL_AT=$n telrec -o out.tel true \
		    >/dev/null 2>messages || [ -s messages ]
	done
}
