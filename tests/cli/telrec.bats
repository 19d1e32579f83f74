#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# telrec records what programs allocate, exactly, whatever they do.

# The commands of sh are to be expanded by sh; "enter" sets program.
# shellcheck disable=SC2016,SC2154

load telrec

setup_file() {
	build_program
}

setup() {
	needs_preload
	enter
}

@test "every function of the allocator is recorded, with its arguments" {
	telrec -o run.tel "$program" all
	telcat -w 'size >= 70000 || count >= 3' run.tel | grep -v '^#' |
	    sed 's/^[^ ]* //; s/ pid=.*//; s/=0x[0-9A-Fa-f]*/=P/g' >got
	cat >want <<-'END'
		malloc address=P size=70001
		calloc address=P count=3 size=70002
		realloc address=P old=P size=70003
		realloc address=P old=P size=170004
		reallocarray address=P old=P count=5 size=70005
		memalign address=P alignment=256 size=70006
		posix_memalign address=P alignment=512 size=70007
		aligned_alloc address=P alignment=1024 size=71680
		valloc address=P alignment=4096 size=70009
		pvalloc address=P alignment=4096 size=70010
	END
	diff -u want got
	ordered run.tel
}

@test "the log is what valgrind sees of the same program" {
	command -v valgrind >/dev/null || skip "no valgrind"
	valgrind --trace-malloc=yes --run-libc-freeres=no "$program" some \
	    2>trace || skip "valgrind does not run the program"
	check_log trace calls 70707 >want
	[ "$(wc -l <want)" -gt 100 ]
	telrec -o run.tel "$program" some
	check_log run.tel calls 70707 >got
	diff -u want got
}

@test "the exit status is that of the program, or 128 and its signal" {
	run -5 telrec -o run.tel "$program" _exit 10
	run -137 telrec -o run.tel "$program" kill 10
	run -134 telrec -o run.tel "$program" abort 10
	run -127 telrec -o no.tel ./nonesuch
	[[ $output == "telrec: ./nonesuch: No such file"* ]]
	[ ! -e no.tel ]
	run -126 telrec -o no.tel "$TEL_TOP/Makefile"
	[ ! -e no.tel ]
	run -2 telrec -o no.tel
	run -2 telrec --no-such-option "$program"
	[ "$(telrec -o run.tel "$program" all -h --help -o x)" = "" ]
	[ ! -e x ]
}

@test "nothing is lost of a program that is killed, aborts, or exits at once" {
	for how in kill abort _exit; do
		telrec -o run.tel "$program" "$how" 4001 || true
		[ "$(counts run.tel 'size == 100')" = 4001 ]
		ordered run.tel
	done
}

@test "killed at any moment: what it did until then is in order" {
	for _ in 1 2 3 4 5 6 7 8; do
		run -137 telrec -o run.tel "$program" dying $((RANDOM % 1000))
		# or before its first allocation
		[ ! -e run.tel ] || ordered run.tel
		rm -f run.tel
	done
}

@test "children that are killed at any moment lose nothing of the others" {
	telrec -o run.tel "$program" victims 20
	ordered run.tel
	[ "$(counts run.tel 'size == 90001')" = 2000 ]
}

@test "threads: a block is freed after its allocation, whichever threads do it" {
	telrec -o run.tel "$program" threads 8 5000
	ordered run.tel >count
	cat count
	[ "$(sed 's/events //' count)" -gt 50000 ]
	run -0 --separate-stderr telstat run.tel
	[[ $output == *"lost 0"* ]]
}

@test "a thread has its name, and a process" {
	telrec -o run.tel "$program" named
	telcat -w 'size == 80001' run.tel | grep -v '^#' >events
	[ "$(wc -l <events)" = 10 ]
	[ "$(grep -c 'pid=[0-9]*\["program"\] thread=[0-9]*\["worker"\]' events)" = 10 ]
}

@test "a thread that names itself has that name, not one that it gives another" {
	telrec -q -o run.tel "$program" names
	telcat -H -w 'size == 80001' run.tel |
	    grep -o 'thread=.*' | sort | uniq -c >first
	[ "$(wc -l <first)" = 1 ]
	grep -q '^ *20 thread=[0-9]*\["one"\]$' first
	# by prctl(), of which the kernel takes 15 bytes
	telcat -H -w 'size == 80003' run.tel | grep -o 'thread=.*' | uniq -c >last
	grep -q '^ *10 thread=[0-9]*\["two, of 16 lett"\]$' last
}

@test "the end of a thread is recorded, behind what its destructors free" {
	telrec -o run.tel "$program" named
	telcat -k Thread run.tel | grep -v '^#' >ends
	[ "$(wc -l <ends)" = 1 ]
	grep -q ' thread_end pid=.* thread=[0-9]*\["worker"\]' ends
	# behind it, the C library frees no more than NULL
	telcat run.tel | grep 'worker' | sed -n '/ thread_end /,$p' |
	    sed '1d; / free address=0x0 /d' >behind
	[ ! -s behind ]
	telcat run.tel | grep worker >events
	address=$(sed -n 's/.* malloc address=\(0x[0-9a-f]*\) size=80002 .*/\1/p' events)
	sed '/ size=80002 /,$!d' events | grep -q " free address=$address "
	grep -c ' size=80003 ' events | grep -qx 2
}

@test "children, and children of children, are recorded in the same log" {
	telrec -o run.tel "$program" storm 3
	[ "$(counts run.tel 'size == 90001')" = 4000 ]
	[ "$(telcat -e process run.tel | grep -vc '^#')" = 40 ]
	telcat -w 'size == 90001' run.tel | grep -v '^#' |
	    sed 's/.* pid=\([0-9]*\).*/\1/' | sort | uniq -c | awk '{ print $1 }' |
	    sort -u >counts
	[ "$(cat counts)" = 100 ]
}

@test "children that fork() does not know of are recorded, from their first call" {
	for options in '' --times=exact '-s 1'; do
		# shellcheck disable=SC2086
		telrec -q $options -o run.tel "$program" cloned 6
		[ "$(counts run.tel 'size == 90001')" = 700 ]
		[ "$(counts run.tel 'size == 90002')" = 2 ]
		[ "$(telcat -c -e process run.tel)" = 7 ]
		ordered run.tel
	done
}

@test "programs that a program executes are recorded, each as a process" {
	telrec -o run.tel "$program" exec 3
	[ "$(counts run.tel 'size == 90001')" = 400 ]
	telcat -e process run.tel | grep -v '^#' |
	    sed 's/.* pid=\([0-9]*\).*/\1/' |
	    awk '{ print $1 % 4194304 }' | sort -u | wc -l >pids
	[ "$(cat pids)" = 1 ]
	ordered run.tel
	telrec -o run.tel sh -c '"$1" pairs 10; "$1" pairs 20 &
		wait' sh "$program"
	[ "$(counts run.tel 'size == 100')" = 30 ]
	# what is no call has the name of its process, too
	telcat -e process run.tel | grep -v '^#' |
	    sed 's/.* pid=[0-9]*\(.*\) thread=.*/\1/' | sort -u >names
	printf '["%s"]\n' sh "${program##*/}" | sort | diff - names
}

@test "what a process leaves ends with it, or with the program that it was" {
	# each of three programs leaves 1,800 blocks; one executes the last of them
	telrec -q -o one.tel "$program" sizes 600
	telrec -q -o run.tel sh -c '"$0" sizes 600; "$0" sizes 600
		exec "$0" sizes 600' "$program"
	ordered run.tel
	# once of each, behind all else that it does
	telcat run.tel | sed -En '/^#/d; s/^[0-9A-F]+ ([a-z_]+) .*pid=([0-9]+).*/\1 \2/p' |
	    awk '{ bad += ended[$2]; all[$2]; ended[$2] = $1 == "process_end" }
		END { for (pid in all) { n++; bad += !ended[pid] }; exit bad || n != 4 }'
	figure() {
		telstat -f json "$1" | sed -n "s/.*\"$2\":\([0-9]*\).*/\1/p"
	}
	[ "$(figure run.tel peak_bytes)" -lt $(($(figure one.tel peak_bytes) * 3 / 2)) ]
	[ "$(figure run.tel ended_blocks)" -ge 3600 ]
	[ "$(figure run.tel live_blocks)" = "$(figure one.tel live_blocks)" ]
	# it is not freed, either
	telstat --blocks 'size == 700' -f json run.tel |
	    grep '"key":"false"' | grep -q '"leaked_blocks":[4-9][0-9][0-9][0-9]'
}

@test "rings of threads and programs that have ended are used again" {
	telrec -q -o run.tel "$program" rings 16 >used
	# two at a time, of two of these programs
	[ "$(cat used)" -le 8 ]
	[ "$(counts run.tel 'type == "malloc" && size == 100')" = 170 ]
}

@test "a program that runs while thousands of processes come and go is one" {
	run telrec -o run.tel "$program" many
	[ "$status" = 0 ]
	# one place is skipped: that of the program
	[[ $output == *" in 65539 processes; "* ]]
	[ "$(counts run.tel 'type == "process"')" = 4 ]
	[ "$(counts run.tel 'type == "process_end"')" = 4 ]
	[ "$(counts run.tel 'type == "process" && pid > 4194303')" = 0 ]
	telstat run.tel >report
	run ! grep unknown.*blocks report
}

@test "a process ends behind those that it waited for, not those it left" {
	for ((i = 0; i < 12; i++)); do
		telrec -q -o run.tel sh -c 'sh -c "sh -c :; :"; :'
		telcat run.tel | sed -n 's/^[^#]* process_end pid=\([0-9]*\).*/\1/p' \
		    >ends
		[ "$(wc -l <ends)" = 3 ]
		# the numbers of processes rise
		sort -nr ends | diff - ends
	done
	# it ends once telrec has seen that its parent did
	telrec -q -o run.tel sh -c \
	    'sh -c "while kill -0 $$ 2>/dev/null; do sleep 0.02; done" & :'
	telcat run.tel | sed -n 's/^[^#]* process_end pid=\([0-9]*\).*/\1/p' >ends
	[ "$(tail -n 1 ends)" != "$(sort -n ends | head -n 1)" ]
}

@test "threads that end at once, and others, wait for rings: nothing is lost" {
	telrec -o run.tel "$program" successors 20
	[ "$(counts run.tel 'type == "thread_end"')" = 20 ]
}

@test "more threads than there are rings: the events of others are lost" {
	# one of them is that of the first thread
	rings=$(sed -n 's/^#define ARENA_RINGS \([0-9]*\)u/\1/p' \
	    "$TEL_TOP/cmd/telrec/arena.h" | sort -n)
	case $(od -An -tu1 -j4 -N1 "$TEL_BUILD/libtelrec.so") in
	*2) rings=${rings##*$'\n'} ;;
	*) rings=${rings%%$'\n'*} ;;
	esac
	run telrec -o run.tel "$program" crowd "$rings"
	[ "$status" != 77 ] || skip "not so many threads here"
	[ "$status" = 125 ]
	[ "${lines[0]}" = "telrec: 1 event was lost" ]
	[ "$(counts run.tel 'size == 80003')" = $((rings - 1)) ]
}

@test "a program that outlives its parent is recorded to its end" {
	telrec -o run.tel sh -c '(sleep 0.2; "$1" pairs 50) & exit 4' sh \
	    "$program" || [ $? = 4 ]
	[ "$(counts run.tel 'size == 100')" = 50 ]
}

@test "closed descriptors and another root do not matter" {
	telrec -o run.tel "$program" close
	[ "$(counts run.tel 'size == 100')" = 1000 ]
	[ "$(counts run.tel 'size == 90001')" = 300 ]
	mkdir root
	if telrec -o run.tel "$program" chroot root; then
		[ "$(counts run.tel 'size == 100')" = 1000 ]
		[ "$(counts run.tel 'size == 90001')" = 300 ]
	else
		[ $? = 77 ]
	fi
}

@test "without system calls nothing is lost" {
	run telrec -o run.tel "$program" strict
	[ "$status" != 77 ] || skip "no seccomp here"
	[ "$status" = 0 ]
	[ "$(counts run.tel 'size == 60')" = 200000 ]
}

@test "signal handlers may allocate" {
	telrec -o run.tel "$program" signals
	[ "$(telcat -e calloc -w 'size == 77' run.tel | grep -vc '^#')" = 1000 ]
	ordered run.tel
}

@test "the program sees no difference" {
	run -3 --separate-stderr "$program" look
	echo "$output" >want
	run -3 --separate-stderr telrec -o run.tel "$program" look
	echo "$output" | diff -u want -
	# shellcheck disable=SC2154 # bats sets it
	output=$stderr
	without_cost
	[ "$output" = "a message" ]
	# telrec has more files open than the program may
	ulimit -Sn 512
	[ "$(telrec -q -o run.tel bash -c 'ulimit -Sn')" = 512 ]
}

@test "a full disk stops the recording, not the program" {
	[ -w /dev/full ] || skip "no /dev/full"
	run -125 telrec -o /dev/full "$program" pairs 200000
	[ "$output" = "telrec: /dev/full: No space left on device" ]
	run -5 telrec -o /dev/full "$program" _exit 200000
}

@test "a disk that is soon full has the log up to then" {
	unshare -rm true 2>/dev/null || skip "no mounts"
	mkdir disk
	for option in '' '--ring 1M'; do
		# shellcheck disable=SC2086 # an option and its argument
		run -125 unshare -rm sh -c 'mount -t tmpfs -o size=100k none disk
			program=$1
			shift
			telrec "$@" -o disk/run.tel "$program" threads 4 60000
			status=$?
			cp disk/run.tel .
			exit $status' sh "$program" $option
		[ "$output" = "telrec: disk/run.tel: No space left on device" ]
		run -3 telcat -qc run.tel
		[ "$output" -gt 1000 ]
	done
	# without an event, the log of that name stays
	run -125 unshare -rm sh -c 'mount -t tmpfs -o size=20k none disk
		echo old >disk/run.tel
		telrec -o disk/run.tel "$1" threads 4 60000
		status=$?
		cp disk/run.tel .
		exit $status' sh "$program"
	[ "$(cat run.tel)" = old ]
}

@test "a limit of the size of files that is too low is named" {
	run -125 bash -c "ulimit -f 8; telrec -o run.tel $program threads 1 10"
	[[ $output == 'telrec: the shared memory: the limit of the size of files (ulimit -f) is less than '*' KiB' ]]
	[ ! -e run.tel ]
}

@test "too few descriptors are reported" {
	for n in {5..12}; do
		run bash -c "ulimit -n $n; exec telrec -o run.tel $program threads 1 10" \
		    3>&- 4>&-
		echo "$n: $status $output"
		[ "$status" = 0 ] || [[ $output == telrec:*': Too many open files' ]]
	done
	[ "$status" = 0 ]
}

@test "a program that is statically linked is reported, and leaves no log" {
	echo 'int main(void) { return 0; }' >static.c
	${CC:-cc} -static -o static static.c 2>/dev/null || skip "no static libc"
	run -125 telrec -o no.tel ./static
	[ "$output" = "telrec: ./static: 0 events: the program is statically linked" ]
	[ ! -e no.tel ]
	# also the interpreter of a script, and one that is found in PATH
	printf '#! %s\n' "$PWD/static" >script
	chmod +x script
	run -125 telrec -o no.tel ./script
	[ "$output" = "telrec: ./script: 0 events: the program is statically linked" ]
	PATH=$PWD:$PATH run -125 telrec -o no.tel static
	[ "$output" = "telrec: static: 0 events: the program is statically linked" ]
	# the shortest script that there is
	ln -s static s
	printf '#!./s' >script
	run -125 telrec -o no.tel ./script
	[ "$output" = "telrec: ./script: 0 events: the program is statically linked" ]
	# the first that can be executed
	: >second
	mkdir in
	mv static in/second
	PATH=$PWD:$PWD/in:$PATH run -125 telrec -o no.tel second
	[ "$output" = "telrec: second: 0 events: the program is statically linked" ]
}

@test "a program of another word size is reported" {
	bits=$(($(od -An -tu1 -j4 -N1 "$TEL_BUILD/libtelrec.so") * 32))
	other=$((96 - bits))
	echo 'int main(void) { return 0; }' >other.c
	if ! gcc "-m$other" -o other other.c 2>/dev/null || ! ./other; then
		skip "no programs of $other bits"
	fi
	run -125 telrec -o no.tel ./other
	[[ $output == *"telrec: ./other: 0 events: the program is of $other bits, telrec of $bits" ]]
	[ ! -e no.tel ]
}

@test "a set-user-ID program is reported" {
	cp "$program" setuid
	# of another user than the one who runs it
	chown 1 setuid 2>/dev/null || skip "not root"
	chmod 4755 setuid
	run telrec -o no.tel ./setuid pairs 10
	[ ! -e no.tel ] || skip "no set-user-ID programs here"
	[ "$status" = 125 ]
	[[ $output == *"./setuid: 0 events: the program is set-user-ID or set-group-ID" ]]
	# of another group
	chown 0:1 setuid
	chmod 2755 setuid
	run -125 telrec -o no.tel ./setuid pairs 10
	[[ $output == *"./setuid: 0 events: the program is set-user-ID or set-group-ID" ]]
	# another one that is found first, but cannot be executed
	mkdir first
	: >first/setuid
	PATH=$PWD/first::$PATH run -125 telrec -o no.tel setuid pairs 10
	[[ $output == *"setuid: 0 events: the program is set-user-ID or set-group-ID" ]]
}

@test "to a pipe: telstat shows it while the program runs" {
	telrec -o - "$program" pairs 1000 | telstat >report
	grep -q '^allocated' report
	telrec -z 3 -o run.tel "$program" pairs 1000
	[ "$(counts run.tel 'size == 100')" = 1000 ]
	telrec -o - "$program" look 2>both | telcat >/dev/null || true
	grep -q '^errno 4711' both
}

@test "to a pipe: events come before the program ends" {
	# it waits for what the reader shows
	exits 0 telrec -o - sh -c '"$1" pairs 10
		n=0
		until grep -q "size=100 " shown; do
			n=$((n + 1))
			[ $n -lt 1200 ] || exit 9
			sleep 0.05
		done
		"$1" pairs 20' sh "$program" | telcat -u >shown
	[ "$(grep -c 'size=100 ' shown)" = 30 ]
}

@test "to a file: what little a program did is there while it runs" {
	cat >few.sh <<-'END'
		"$1" pairs 10
		until [ -e end ]; do sleep 0.05; done
	END
	for compress in '' '-z 3'; do
		rm -f end few.tel
		# shellcheck disable=SC2086 # an option and its argument
		"$TEL_BUILD/bin/telrec" -q $compress -o few.tel sh few.sh \
		    "$program" 3>&- &
		recorder=$!
		n=0
		# its end, and a block that is not whole, are damage
		until [ "$(exits '0|1|3' telcat -q -c -w 'size == 100' few.tel)" = 10 ]; do
			n=$((n + 1))
			[ $n -lt 600 ]
			sleep 0.1
		done 2>/dev/null
		# the recorder is killed, and the log keeps what it has
		kill -KILL "$recorder"
		wait "$recorder" 2>/dev/null || true
		touch end
		run -3 --separate-stderr telcat -c -w 'size == 100' few.tel
		[ "$output" = 10 ]
		[[ $stderr == *'its writer was killed'* ||
		    $stderr == *'the stream breaks off'* ]]
	done
}

@test "when telrec is killed the program goes on, and its errno is its own" {
	for how in '' realloc; do
		# shellcheck disable=SC2086 # none is no argument
		run -137 telrec -q -o run.tel "$program" orphan "alive$how" $how
	done
	n=0
	until [ -e alive ] && [ -e aliverealloc ]; do
		n=$((n + 1))
		[ $n -lt 600 ]
		sleep 0.1
	done
}

@test "mappings are recorded with --maps" {
	telrec --maps -o run.tel "$program" maps
	telcat -k Map -w 'size == 12288 || old_size == 12288 || increment == 4096 || increment == 8192' \
	    run.tel | grep -v '^#' | sed 's/^[^ ]* //; s/ pid=.*//; s/=0x[0-9A-Fa-f]*/=P/g' >got
	cat >want <<-'END'
		mmap address=P size=12288
		mremap address=P old=P old_size=12288 size=20480
		brk address=P increment=4096
		brk address=P increment=8192
	END
	diff -u want got
	telrec -o run.tel "$program" maps
	[ "$(telcat -k Map run.tel | grep -vc '^#')" = 0 ]
}

@test "recording starts and stops when it is to" {
	run -125 telrec --paused -o run.tel "$program" pairs 1000
	[[ $output == *"0 events: it ended before recording started, "* ]]
	run -125 telrec --delay 1h -o run.tel "$program" pairs 1000
	# it starts by itself when the time has come
	rm -f run.tel
	telrec --delay 50ms -o run.tel sh -c 'until [ -s run.tel ]; do
		"$1" pairs 10; done' sh "$program"
	[ "$(counts run.tel 'size == 100')" -ge 1 ]
	# a signal starts recording when the program runs, and ends it
	rm run.tel
	telrec --paused -o run.tel sh -c 'kill -USR1 $PPID
		until "$1" pairs 10 && [ -s run.tel ]; do sleep 0.02; done' \
	    sh "$program"
	[ "$(counts run.tel 'size == 100')" -ge 10 ]
	# it sees that the recording has stopped, and goes on
	telrec --for 400ms -o run.tel "$program" stopped
	[ "$(counts run.tel 'size == 100')" -ge 10 ]
	[ "$(counts run.tel 'size == 90001')" = 0 ]
	telrec --size 20k -o run.tel "$program" stopped
	[ "$(wc -c <run.tel)" -gt 20000 ]
	# what the rings of many threads have then is not written
	telrec --size 20k -o run.tel "$program" threads 40 10000
	[ "$(wc -c <run.tel)" -gt 20000 ]
	[ "$(wc -c <run.tel)" -lt 140000 ]
	check_log run.tel calls >/dev/null
	[ "$(counts run.tel 'size == 90001')" = 0 ]
	for option in "--size 0" "--delay x" "--for -1s" "-n 0"; do
		# shellcheck disable=SC2086 # the two words
		run -2 telrec $option "$program"
	done
}

# of_program ARGUMENT ...: the events of a log that telrec itself has not made.
of_program() {
	telcat -H -k ^Stream -f csv -F address,size,number "$@"
}

@test "-n: the log has the first N events, and the program goes on" {
	telrec -q -o all.tel "$program" pairs 3000
	of_program all.tel >all
	[ "$(wc -l <all)" -gt 6000 ]
	for n in 1 2 77 5000; do
		telrec --quiet --limit "$n" -o run.tel "$program" pairs 3000
		[ "$(telcat -c -k ^Stream run.tel)" = "$n" ]
		of_program run.tel >got
		# addresses and times are others in each run
		cut -d , -f 2,4- got >sizes
		head -n "$n" all | cut -d , -f 2,4- | cmp - sizes
	done
	telrec -n 1000000 -o run.tel "$program" pairs 3000
	[ "$(of_program run.tel | wc -l)" = "$(wc -l <all)" ]
	# frames are events, too, and defined before they are used
	telrec -q -g -n 500 -o run.tel "$program" threads 4 500
	[ "$(telcat -c -k ^Stream run.tel)" = 500 ]
	clean telstat --stacks=count run.tel >/dev/null
	telrec -n 300 --ring 1M -o run.tel "$program" pairs 3000
	[ "$(telcat -c -k ^Stream run.tel)" = 300 ]
	# the program sees that recording has stopped, and goes on
	telrec -n 500 -o run.tel "$program" stopped
	[ "$(counts run.tel 'size == 90001')" = 0 ]
}

@test "what a program writes into the shared memory does not harm telrec" {
	for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do
		options=(-g --ring 1M)
		[ $((seed % 2)) = 0 ] || options=()
		[ $((seed % 3)) != 0 ] || options+=(-s 64)
		how=scribble
		[ "$seed" -le 6 ] || how=scramble
		# there may be lost events, and any events
		run -125 timeout 120 telrec "${options[@]}" -o run.tel \
		    "$program" $how "$seed"
		[[ $output == *"a program has overwritten the shared memory"* ]]
		# no more of them than there were nanoseconds
		telstat -q -f json run.tel >report.json
		lost=$(sed -n 's/.*"type":"totals".*"lost":\([0-9]*\).*/\1/p' \
		    report.json)
		echo "seed $seed: $lost lost: $output"
		[ -n "$lost" ]
		[ "${#lost}" -le 12 ]
		[[ $output != *[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]" events were lost"* ]]
	done
}
