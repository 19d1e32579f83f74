#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Several threads print what one prints, byte for byte: output, messages and
# exit status.

# "run --separate-stderr" sets stderr
# shellcheck disable=SC2154

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
}

# ended COMMAND ...: prints its status behind its output.
ended() {
	local status=0
	"$@" || status=$?
	echo "status $status"
	return "$status"
}

# alike TOOL ARG ...: the same with each number of threads, and by default.
alike() {
	local j tool=$1
	shift
	exits '0|1|2|3' ended "$tool" -j 1 "$@" >want 2>want.err
	for j in '' ${THREADS-$(printf '%s\n' 3 2 8 | sample 3)}; do
		exits '0|1|2|3' ended "$tool" ${j:+-j "$j"} "$@" >got 2>got.err
		if ! cmp want got || ! cmp want.err got.err; then
			echo "$tool -j $j $*"
			return 1
		fi
	done
}

# A log of 4 MB, with the end of one, and the start of the next, in its middle.
grown() {
	unpack 1.118.0-lii6gc-awlut one.log
	cat one.log one.log one.log one.log >whole.log
}

# Copies of it that are damaged in the middle of pieces, and where they meet.
damaged() {
	{
		head -c 700001 whole.log
		tail -c +700100 whole.log | head -c 1300000
		head -c 99999 "$(type -P bash)"
		tail -c +2100000 whole.log | head -c 1234567
		tail -c +3350003 whole.log
	} >damaged.log
	head -c 3500001 whole.log >cut.log
}

@test "telstat: one log in pieces" {
	grown
	damaged
	for log in whole damaged cut; do
		alike telstat $log.log
		alike telstat -s 'sizes=log2(size)' -s 'who=tally(name,100)' \
		    -g kind --report -f csv $log.log
		alike telstat -k Pool,Seg -f json $log.log
	done
	# what depends on other events
	alike telstat -s 'd=dur(PoolInit,PoolFinish,pool)' -s 'm=mag(size)' \
	    whole.log
	alike telstat -s 'l=tally(label(pool),10)' damaged.log
	alike telstat -w 'index % 7 == 0' -s 'n=log2(index)' damaged.log
	# labels of generations, which only the first piece has
	telcat one.log | sed 's/\["[^]]*\]//g' | telcat -f mps-1.118.0 >bare.log
	telfilter -w 'kind != Trace && name !~ "GenInit|GenFinish"' one.log >some.log
	cat some.log some.log bare.log bare.log >labelled.log
	telstat labelled.log | grep -q '^DefGen-1 .* 2 '
	alike telstat -f json labelled.log
	# limits
	alike telstat -s 'a=tally(addr,20)' --max-groups 3 -g name damaged.log
	alike telstat --max-memory 20k -g pool -s 's=log2(size)' whole.log
	alike telstat --strict damaged.log
	alike telstat --verbose damaged.log
	alike telstat -q damaged.log
	alike telstat -n 1000 damaged.log
}

@test "telfilter -c: one log in pieces" {
	grown
	damaged
	for log in whole damaged cut; do
		alike telfilter -c $log.log
		alike telfilter -c -w 'size > 64' -v $log.log
		alike telfilter -c -t 1000000,90000000 -e 'Pool*' $log.log
	done
	alike telfilter -c --every 3 damaged.log
	alike telfilter -c --since 'name == "PoolInit"' damaged.log
	alike telfilter -c -w 'label ~ "a"' damaged.log
	alike telfilter -c -w 'no_such_field > 1' damaged.log
}

@test "a compressed log in pieces" {
	grown
	damaged
	telfilter -z 3 -o whole.log.zst whole.log
	cat whole.log.zst whole.log.zst whole.log.zst >three.zst
	{
		head -c 200000 three.zst
		tail -c +200500 three.zst
	} >broken.zst
	alike telstat three.zst
	alike telstat broken.zst
	alike telfilter -c three.zst
}

# read_by COMMAND ...: how many bytes it reads.
read_by() {
	# shellcheck disable=SC2016 # of the shell inside
	noted bash -c '"$@" >/dev/null || exit; while read -r key n; do
	    [ "$key" != rchar: ] || echo "$n"; done </proc/$$/io' bash "$@"
}

@test "a .tel in pieces" {
	grown
	telcat -f tel -o one.tel one.log
	for ((i = 0; i < 24; i++)); do cat one.log; done |
	    telcat -f tel -o long.tel
	[ "$(wc -c <long.tel)" -gt 2097152 ]
	alike telstat long.tel
	alike telstat -s 's=log2(size)' -g kind long.tel
	alike telfilter -c long.tel
	{
		head -c 1000001 long.tel
		echo damage
		tail -c +1000100 long.tel
	} >broken.tel
	head -c 2200000 long.tel >cut.tel
	cat long.tel one.tel >two.tel
	# what is left out of a selection is read by none of the threads
	if [ -r /proc/self/io ]; then
		one=$(read_by telstat -j 1 -t 1000,2000 long.tel long.tel)
		three=$(read_by telstat -j 3 -t 1000,2000 long.tel long.tel)
		echo "$one $three"
		[ "$three" -lt $((one + 262144)) ]
	fi
	THREADS=3
	alike telstat -t 1000,2000 long.tel one.tel
	alike telstat -k Pool -w 'size > 64' long.tel one.log
	alike telstat broken.tel
	alike telstat cut.tel
	alike telstat two.tel
	alike telstat -k Pool broken.tel
	# a later piece has what the first one does not know: metadata, a log, its
	# types, its labels
	telfilter -f tel --meta-set step=two -o more.tel one.log
	cat long.tel more.tel >meta.tel
	alike telstat meta.tel
	telstat meta.tel | grep -q '^step two$'
	telfilter -q --no-merge -f tel -o logs.tel long.tel \
	    "$TEL_TOP/tests/data/alloc/hand.kdump" one.log
	alike telstat logs.tel
	alike telstat -s 'l=tally(label(pool),10)' -g name logs.tel
}

@test "several files" {
	unpack 1.118.0-lii6gc-poolncv a.log
	unpack 1.111.0-lii6gc-amcss b.log
	unpack 1.116.0-lii3gc-amcss c.log
	head -c 30001 b.log >cut.log
	telcat -f tel -o a.tel a.log
	telcat -o a.txt a.log
	gzip -k c.log
	tar cf all.tar a.log b.log cut.log
	: >empty.log
	echo "not a log" >other
	files=(a.log b.log c.log cut.log a.tel a.txt c.log.gz all.tar)
	alike telstat "${files[@]}"
	alike telstat -s 's=log2(size)' -g kind -f json "${files[@]}"
	alike telstat b.log empty.log cut.log no_such_file other . c.log
	alike telstat -k Pool "${files[@]}"
	alike telstat -s 'f=log2(nosuch)' "${files[@]}"
	alike telstat --each 'size' -s '@=growth(@)' "${files[@]}"
	alike telstat -s 'd=dur(PoolInit,PoolFinish,pool)' "${files[@]}"
	alike telfilter -c "${files[@]}"
	alike telfilter -c --no-merge "${files[@]}"
	alike telfilter -c --no-merge b.log empty.log nosuch cut.log
	alike telfilter -c -w 'label ~ "a"' "${files[@]}"
	alike telfilter -c -t 10%,20% a.log b.log
	# standard input, which is read once
	for j in 1 3; do
		telstat -j $j a.log - b.log <c.log >got.$j
	done
	cmp got.1 got.3
}

# lines FILE: a text whose labels change all the time.
lines() {
	telcat whole.log | awk '
		/^#/ { print; next }
		{ print }
		NR % 7 == 0 {
			printf "%s Intern stringId=%d string=\"name %d\"\n",
			    $1, NR % 50 + 100, NR
			if (match($0, / pool=0x[0-9a-f]+/))
				printf "%s LabelPointer pointer=%s stringId=%d\n",
				    $1, substr($0, RSTART + 6, RLENGTH - 6),
				    NR % 50 + 100
		}' >"$1"
}

@test "telcat: formats that show each event by itself" {
	grown
	damaged
	telcat -f tel -o whole.tel whole.log
	lines changing.txt
	mkdir logs
	cp one.log cut.log logs
	tar cf all.tar logs
	printf '%s\n' {text,json,csv}\ {whole.log,damaged.log,whole.tel,changing.txt} |
	    sample 5 >some
	while read -r format log; do
		alike telcat -f "$format" "$log"
	done <some
	for format in mpstxt mpscnv; do
		alike telcat -f $format damaged.log
	done
	{
		for format in text json csv; do
			echo "telcat -f $format --no-merge one.log cut.log all.tar"
			echo "telcat -f $format one.log cut.log"
			echo "telcat -f $format --no-merge all.tar"
			echo "telfilter -f $format -k Pool,Seg damaged.log"
		done
		for format in mpstxt mpscnv; do
			echo "telcat -f $format whole.tel"
			echo "telcat -f $format --no-merge one.log cut.log"
		done
		cat <<-'END'
			telcat -f csv -e PoolAlloc whole.log
			telcat --fields pool,size -f json whole.log
			telcat -n 30000 whole.log
			telcat -T delta one.log
			telcat -T s -f json one.log
			telcat -S one.log
			telcat -w label~"AMC" changing.txt
			telcat --strict damaged.log
			telcat -f chrome one.log
		END
	} | sample 3 >some
	THREADS=3
	while read -r line; do
		# shellcheck disable=SC2086 # a command and its arguments
		alike $line
	done <some
}

@test "telcat: an ETS log" {
	local source=$TEL_TOP/tests/data/ets/good-boot.txt
	{
		grep -v ^event "$source"
		for ((i = 0; i < 300; i++)); do grep ^event "$source"; done
	} >many.txt
	"$TEL_BUILD/tests/test_ets" --make many.txt many.ets
	[ "$(wc -c <many.ets)" -gt 262144 ]
	THREADS='2 3'
	for format in tracerpt text json; do
		alike telcat -f $format many.ets
	done
}

@test "telcat: an output that fails, or is not read to the end" {
	grown
	for j in 1 3; do
		run -1 --separate-stderr telcat -j $j -o /dev/full whole.log
		echo "$stderr" >got.$j
		telcat -j $j whole.log | head -n 30000 >head.$j
	done
	grep -q 'No space' got.1
	cmp got.1 got.3
	cmp head.1 head.3
	# a pipe that pauses is written as far as it was read
	flows 2000 one.log telcat -j 3
	head -n 2000 flows.out >first
	telcat -j 1 one.log | head -n 2000 | cmp - first
}

# threads PID: how many a process has.
threads() {
	sed -n 's/^Threads:[[:space:]]*//p' "/proc/$1/status"
}

@test "telcat: a thread for each processor that it may use, or as many as -j says" {
	[ -r /proc/self/status ] || skip 'no /proc that counts threads'
	grown
	mkfifo pipe
	for args in '' '-j 3' '-j 1'; do
		# shellcheck disable=SC2086 # no argument, or two
		exec telcat -f json $args whole.log >pipe 3>&- &
		exec 9<pipe
		# by now it has rendered more than what it renders alone
		head -c 10000000 <&9 >got
		case $args in
		'')
			# the variable would set what it prints
			want=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)
			want=$((want < 8 ? want : 8))
			;;
		*) want=${args#-j } ;;
		esac
		[ "$(threads $!)" = "$want" ]
		cat <&9 >>got
		wait $!
		exec 9<&-
		telcat -f json -j 1 whole.log | cmp - got
	done
}

@test "-j takes a number from 1 to 256" {
	for n in 0 257 x -1; do
		run -2 --separate-stderr telstat -j "$n" /dev/null
	done
}

@test "as many threads as -j says count" {
	case ${CFLAGS-} in *-fsanitize*) skip "the sanitizer makes threads" ;; esac
	[ -z "${TEST_VALGRIND-}" ] || skip "valgrind makes threads"
	unpack 1.112.0-lii3gc-amcss one.log
	cat >threads.c <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <pthread.h>
		#include <unistd.h>
		int pthread_create(pthread_t *id, const pthread_attr_t *attributes,
		    void *(*start)(void *), void *arg) {
			int (*next)(pthread_t *, const pthread_attr_t *,
			    void *(*)(void *), void *);
			*(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
			if (write(2, "thread\n", 7) != 7) return 1;
			return next(id, attributes, start, arg); }
	END
	${CC:-cc} -shared -fPIC -o threads.so threads.c -ldl
	LD_PRELOAD=./threads.so telcat -c -j 3 one.log one.log one.log 2>messages
	[ "$(grep -c '^thread$' messages)" = 3 ]
	LD_PRELOAD=./threads.so telcat -c -j 1 one.log one.log one.log 2>messages
	[ ! -s messages ]
}
