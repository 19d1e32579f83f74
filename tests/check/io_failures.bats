#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Reads, writes and other calls that fail end a tool with status 1 and a message
# that names the file, or change nothing; interrupted and short ones change
# nothing.  "make check-faults" tries every call, the tests samples of them.

load lib

# The library of failures, and the logs.
setup_file() {
	cd "$BATS_FILE_TMPDIR" || exit
	# shellcheck disable=SC2086
	$CC -O1 -shared -fPIC -o fail.so "$TEL_TOP/tests/check/fail_io.c" -ldl
	data=$TEL_TOP/tests/data
	cp "$data"/hpm/v3be/HPM.* .
	cp "$data"/alloc/{short.rep,hand.kdump,hand.logalloc,old.android} .
	cp "$data"/alloc/{calls.ltrace,calls.mtrace,calls.valgrind}.zst .
	cp "$data/ftrace/hand.trace" "$data/jfr/serial-25.jfr.zst" .
	cp "$data"/alloc/perl.heaptrack.zst "$data"/inst/{hfs.txt,cache.inst} .
	cp "$data"/ets/{boot.text,guide.tmf,contracts.tmf} .
	cp "$data"/stat/{report,classes}.inst .
	"$TEL_BUILD/tests/test_ets" --make "$data/ets/good-boot.txt" boot.ets
	cp "$data/mps/1.118.0-lii6gc-poolncv.cnv.zst" cnv.zst
	cp "$data/mps/1.118.0-lii6gc-poolncv.txt.zst" txt.zst
	zstd -qdc "$data/mps/1.118.0-lii6gc-poolncv.log.zst" >log
	zstd -qdc "$data/mps/1.117.0-lii6ll-finalcv.log.zst" >long
	telfilter -f tel -o log.tel log
	telfilter -z 3 -f tel -o long.tel long
	telreplay --dry-run --program program long >/dev/null
	tar cf two.tar log long
	tar czf hpm.tgz HPM.*
	7z a two.7z log long >/dev/null
	zip -q two.zip log long
	for pack in gzip bzip2 xz 'lz4 -q -m' 'zstd -q'; do
		# shellcheck disable=SC2086
		$pack -k log
	done
}

setup() {
	[ -z "$TEST_VALGRIND" ] || skip "each run would take a second"
	# of each command, every second fault
	[ -n "${TEST_FAULTS-}${TEST_WHOLE-}" ] || half=/
	cd "$BATS_TEST_TMPDIR" || exit
	preload=./fail.so
	points=${TEST_FAULTS:-${TEST_WHOLE:+4}}
	points=${points:-1}
	case $CFLAGS in
	*-fsanitize=address*)
		# the sanitizer's functions are asked first, and call these
		preload="$($CC -print-file-name=libasan.so) $preload"
		points=${TEST_FAULTS:-2}
		;;
	*-fsanitize*) skip "the sanitizer has functions of its own" ;;
	esac
	cp "$BATS_FILE_TMPDIR"/* .
}

# sweep FAULT ... -- COMMAND ...
sweep() {
	local faults=$1
	shift
	while [ "$1" != -- ]; do
		faults+=,$1
		shift
	done
	python3 "$TEL_TOP/tests/check/io_failures.py" "$preload" \
	    "$points" "${half-}$faults" "${@:2}"
}

@test "reads: every format, compressed, in archives, from pipes" {
	sweep read read-on short interrupted -- 'telcat log' 'telcat log.tel' \
	    'telcat |log' 'telcat <log' 'telcat long.tel' 'telcat |long.tel' \
	    'telcat log.gz' 'telcat log.bz2' 'telcat |log.xz' 'telcat log.lz4' \
	    'telcat log.zst' 'telcat two.tar' 'telcat --no-merge |two.tar' \
	    'telcat two.zip' 'telcat two.7z' 'telcat |two.7z' 'telcat cnv.zst' \
	    'telcat txt.zst' 'telcat boot.text' 'telcat hfs.txt' \
	    'telcat report.inst' 'telcat calls.ltrace.zst' \
	    'telcat calls.mtrace.zst' 'telcat calls.valgrind.zst' \
	    'telcat perl.heaptrack.zst' 'telcat hand.kdump' \
	    'telcat hand.trace' 'telcat serial-25.jfr.zst' \
	    'telcat hand.logalloc' 'telcat old.android' 'telcat short.rep'
}

# Half of the files are copied: each call, as the last ones are those of copies.
@test "reads, writes, other calls: more files than may be open" {
	local n
	for n in {10..24}; do
		printf '%016X Alloc ptr=0x10 size=16\n' "$n" "$((200 - n))" >"m$n"
	done
	points=0 sweep read read-on write write-on other short interrupted -- \
	    "prlimit --nofile=20 telcat $(echo m??)" \
	    "prlimit --nofile=20 telfilter -f tel -o {out} $(echo m??)"
}

# The events of a chunk that is cut off come before the failure.
@test "reads: the first events of a chunk" {
	points=${TEST_FAULTS:-8} sweep read -- 'telcat -n 9 serial-25.jfr.zst'
}

@test "reads: files beside a log, a log that is read twice, what counts" {
	sweep read read-on short interrupted -- \
	    'telcat HPM.1.startup HPM.2.startup' 'telcat hpm.tgz' \
	    'telcat -m HPM.headerFile <HPM.1.startup' \
	    'telcat -d guide.tmf --contracts contracts.tmf boot.ets' \
	    'telcat -t 10%,20% log' 'telfilter -t 40%,90% long.tel' \
	    'telcat -S -n 20 |long' 'telcat -n 20 |long log' \
	    "telfilter -f tel -w 'size>40' long" 'telfilter -c two.tar' \
	    'telstat long' 'telstat |long' 'telstat hfs.txt' \
	    'telstat report.inst classes.inst' 'telstat <report.inst' \
	    'telstat |report.inst' 'telstat -i 10ms long' \
	    'telstat -f csv long.tel' 'telreplay --dry-run long' \
	    'telreplay --dry-run program' 'telreplay --dry-run |program' \
	    'telreplay --dry-run --program {out} two.zip'
}

@test "writes: every format of events" {
	sweep write write-on pipe short interrupted -- 'telcat log' \
	    'telcat -o {out} long' 'telcat -u -n 40 long' \
	    'telcat -f csv -o {out} log' 'telcat -f json log' \
	    'telcat -f sql log' 'telcat -f sqlite -o {out} log' \
	    'telcat -f mpscnv log' 'telcat -f mpstxt log' \
	    'telcat -f arrow log' 'telcat -f arrow -z 1 -o {out} long' \
	    'telcat -f perfetto log' 'telcat -f chrome log' \
	    'telcat -f folded hfs.txt' 'telcat -z 3 -o {out} long' \
	    'telcat -f tel -z 3 -o {out} long' 'telcat --types -f tel' \
	    'telcat -f mps -o {out} log' 'telcat -f hpm HPM.1.startup' \
	    'telcat -f ets boot.text' \
	    'telcat -f tracerpt -d guide.tmf boot.ets' 'telcat -S long' \
	    'telcat |two.7z' 'telfilter -o {out} long' \
	    'telfilter -f mps:1.112.0 -o {out} log' 'telfilter hfs.txt' \
	    'telfilter -o {out} HPM.1.startup' \
	    'telfilter -n 9 -o {out} serial-25.jfr.zst'
}

@test "writes: every report, and programs" {
	sweep write write-on pipe short interrupted -- 'telstat long' \
	    'telstat -o {out} hfs.txt' 'telstat -f csv long' \
	    'telstat -f json long' 'telstat -f svg long' \
	    'telstat -f openmetrics long' 'telstat -f inst -z 3 -o {out} long' \
	    'telstat -f inst -i 10ms -o {out} long' \
	    'telstat -f prometheus -i 10ms -o {out} long' \
	    'telreplay --dry-run long' \
	    'telreplay --dry-run -f csv long' 'telreplay --dry-run -f json long' \
	    'telreplay --dry-run -f svg long' 'telreplay --dry-run --program {out} long' \
	    'telreplay -f rep log' \
	    'telreplay --dry-run |program'
}

@test "other calls: opening, seeking, closing" {
	sweep other -- 'telcat log' 'telcat |two.7z' 'telcat hpm.tgz' \
	    'telcat -d guide.tmf boot.ets' 'telcat -t 10%,20% log' \
	    'telcat -f tel -o {out} log' 'telcat -f sqlite -o {out} log' \
	    'telcat -z 3 -o {out} long' 'telfilter -o {out} long' \
	    'telstat -o {out} report.inst' 'telstat |hfs.txt' \
	    'telstat -f prometheus -i 10ms -o {out} long' \
	    'telreplay --dry-run --program {out} long' 'telreplay --dry-run program'
}

@test "replays" {
	[ "$preload" = ./fail.so ] || skip "the sanitizer replaces malloc"
	points=$((points == 0 ? 0 : 2 * points))
	sweep write read pipe other short interrupted -- \
	    '~telreplay -a glibc --runs 1 --idle 5ms long' \
	    '~telreplay -a glibc,bump --runs 1 --idle 5ms program' \
	    '~telreplay -a glibc --runs 1 --idle 5ms -f svg -o {out} long'
}
