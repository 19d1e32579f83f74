#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Pairs of telrec's options, and how it reports the end of a program.

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

teardown() {
	touch "$BATS_TEST_TMPDIR/end"
}

# record_pair LOG OPTION ...: the program is as usual, and so are messages.
record_pair() {
	local log=$1 status=0
	shift
	TELREC_SEED=1 telrec -o "$log" "$@" >out 2>messages </dev/null ||
	    status=$?
	if [ $status = 0 ] && [ ! -s messages ]; then
		return
	fi
	# it may end before
	if [[ $* == *--delay* ]] && {
		[ $status = 0 ] || grep -q ': 0 events: it ended' messages
	}; then
		return
	fi
	echo "telrec $*: status $status"
	cat messages
	return 1
}

@test "every pair of options records every program" {
	library=libc.so.6
	[[ $(ldconfig -p 2>/dev/null) != *libjemalloc.so.2* ]] ||
	    library=jemalloc
	options=("-g" "--stacks=fp" "-s 512" "--delay 1ms" "-n 10" "--ring 1M"
	    "-z 1" "-a $library")
	n=0
	echo x=1 >script
	for ((i = 0; i < ${#options[@]}; i++)); do
		for ((k = i + 1; k < ${#options[@]}; k++)); do
			# shellcheck disable=SC2206 # an option and its argument
			pair=(${options[i]} ${options[k]})
			n=$((n + 1))
			# all with TEST_WHOLE: each pair, and by default one of these
			for run in 1 2 3; do
				[ -n "${TEST_WHOLE-}" ] ||
				    [ $(((i + k) % 3 + 1)) = $run ] || continue
				case $run in
				1) record_pair c$n.tel -q "${pair[@]}" "$program" threads 2 20 ;;
				2) record_pair sh$n.tel -q "${pair[@]}" sh script ;;
				3) record_pair bash$n.tel -q "${pair[@]}" bash script ;;
				esac
			done
			# those that take longer
			[ -n "${TEST_WHOLE-}" ] || [ $((n % 9)) = 1 ] || continue
			record_pair long1.tel -q "${pair[@]}" python3 -c 'print(1)'
			telcat -c -w 'live >= 0' long1.tel >count
			record_pair long2.tel -q "${pair[@]}" perl -e 'print 1'
			record_pair long3.tel -q "${pair[@]}" git --version
		done
	done
	[ "$n" = 28 ]
	# where --delay was shorter than the program, there is a log, too
	ls c*.tel sh*.tel bash*.tel >logs
	least=21
	[ -z "${TEST_WHOLE-}" ] || least=63
	[ "$(wc -l <logs)" -ge $least ]
	# shellcheck disable=SC2046 # their names are words
	telcat -c $(cat logs) >count
}

@test "every option records a running process" {
	needs_attach
	options=("-g" "--stacks=fp" "-s 512" "--delay 1ms" "--ring 1M" "-z 1")
	for option in "${options[@]}"; do
		rm -f end
		"$program" until end >output 3>&- &
		pid=$!
		until grep -q ready output; do sleep 0.01; done
		# shellcheck disable=SC2086 # an option and its argument
		run telrec -q -p "$pid" -n 5 -o run.tel $option
		touch end
		echo "$option: $output"
		[ "$status" = 0 ]
		[ "$output" = "" ]
		status=0
		wait "$pid" || status=$?
		[ "$status" = 7 ]
		[ "$(telcat -c -k ^Stream run.tel)" = 5 ]
	done
}

@test "a program that a signal killed is reported first" {
	run -137 telrec -o run.tel "$program" kill 10
	without_cost
	[ "$output" = "telrec: $program: killed by signal 9: Killed" ]
	run -137 telrec -s 1G -o run.tel "$program" kill 1
	[ "${#lines[@]}" = 2 ]
	[ "${lines[0]}" = "telrec: $program: killed by signal 9: Killed" ]
	[ "${lines[1]}" = "telrec: $program: 0 events: it was killed before anything was recorded" ]
	run -137 telrec -q -o run.tel "$program" kill 10
	[ "$output" = "" ]
}

@test "programs that were executed, but not recorded, are named, and why" {
	# by execve, by posix_spawn, by a function with a search in PATH
	cat >execute.c <<-'END'
		#define _GNU_SOURCE
		#include <fcntl.h>
		#include <spawn.h>
		#include <stdlib.h>
		#include <sys/wait.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			char *none[] = { NULL }, **p = argv + 2;
			pid_t pid;
			(void)argc;
			free(malloc(10));
			switch (argv[1][0]) {
			case 'e': execve(p[0], p, none); break;
			case 'v': execv(p[0], p); break;
			case 'p': execvp(p[0], p); break;
			case 'l': execl(p[0], p[0], p[1], (char *)NULL); break;
			case 'q': execlp(p[0], p[0], p[1], (char *)NULL); break;
			case 'm': execle(p[0], p[0], p[1], (char *)NULL, none); break;
			case 'f': fexecve(open(p[0], O_RDONLY), p, none); break;
			case 's':
				if (posix_spawn(&pid, p[0], NULL, NULL, p, none) == 0)
					wait(NULL);
				return 9;
			case 't':
				if (posix_spawnp(&pid, p[0], NULL, NULL, p, environ) == 0)
					wait(NULL);
				return 9;
			}
			return 8;
		}
	END
	${CC:-cc} -o execute execute.c
	ln -s execute missing
	: >nothing
	chmod +x nothing
	why="not recorded: its environment lacks LD_PRELOAD or TELREC_ARENA"
	for how in e m f s; do
		case $how in s) want=9 ;; *) want=8 ;; esac
		run -$want telrec -o run.tel ./execute $how ./missing x
		without_cost
		echo "$how: $output"
		[ "$output" = "telrec: ./missing: $why" ]
		[ "$(counts run.tel 'size == 10')" = 1 ]
		# the thread has its name, also where the other program has its number
		telcat -w 'size == 10' run.tel |
		    grep -q 'pid=[0-9]*\["execute"\] thread=[0-9]*\["execute"\]'
	done
	# of a long path, as much as there is room for
	long=./$(printf 'long%.0s' {1..50})
	ln -s execute "$long"
	run -8 telrec -o run.tel ./execute e "$long" x
	without_cost
	[ "$output" = "telrec: ${long:0:115}: $why" ]
	# what was recorded is not named, nor what could not be executed
	for how in v p l q t; do
		case $how in
		t) missing=9 nothing=9 ;;
		p | q) missing=8 nothing=0 ;;
		*) missing=8 nothing=8 ;;
		esac
		run -$missing telrec -o run.tel ./execute $how ./missing x
		without_cost
		[ "$output" = "" ]
		[ "$(counts run.tel 'size == 10')" = 2 ]
		run -$nothing telrec -o run.tel ./execute $how ./nothing x
		without_cost
		[ "$output" = "" ]
		[ "$(counts run.tel 'size == 10')" = 1 ]
	done
	run -4 telrec -q -o run.tel sh -c 'env -i ./missing x; exit 4'
	[ "$output" = "" ]
	run -4 telrec -o run.tel sh -c 'env -i ./missing x
		env -i ./missing x; exit 4'
	without_cost
	[ "$output" = "telrec: ./missing: ${why/recorded/recorded, 2 times}" ]
	telstat --report=types run.tel | grep -q '^unrecorded  *Process  *2 '
	telstat run.tel | grep -qx 'not recorded: 2 programs'
	# in a ring of memory, too, and with the names of frames
	telrec -q -g -z 1 --ring 1M -o run.tel sh -c 'env -i ./missing x; true'
	telcat -H -e unrecorded run.tel | cut -d ' ' -f 2- |
	    sed 's/pid=[0-9]*/pid=N/; s/thread=[0-9]*/thread=N/' >got
	# which have those of the process and the thread, too
	echo 'unrecorded reason=1 program=0x1["./missing"] pid=N["./missing"] thread=N["env"]' |
	    diff -u - got
	telstat run.tel | grep -qx 'not recorded: 1 program'
	# a child that is set-user-ID, of another user
	cp execute setuid
	if chown 1 setuid 2>/dev/null; then
		chmod 4755 setuid
		run -0 telrec -o run.tel sh -c './setuid x; true'
		without_cost
		[ "$output" = "" ] ||
		    [ "$output" = "telrec: ./setuid: not recorded: the program is set-user-ID or set-group-ID" ]
		telstat run.tel >report
		# where the file system ignores the bit, it is recorded
		[ "$output" = "" ] || grep -qx 'not recorded: 1 program' report
	fi
	# 16 names at most
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18; do
		ln -s execute "missing$i"
	done
	run -0 telrec -o run.tel sh -c 'for p in ./missing?*; do
		env -i $p x; done; true'
	without_cost
	[ "${#lines[@]}" = 17 ]
	[ "${lines[16]}" = "telrec: 2 other programs were not recorded" ]
	[ "$(telcat -c -e unrecorded run.tel)" = 18 ]
	echo 'int main(void) { return 0; }' >static.c
	${CC:-cc} -static -o static static.c 2>/dev/null || skip "no static libc"
	run -0 telrec -o run.tel sh -c './static; true'
	without_cost
	[ "$output" = "telrec: ./static: not recorded: the program is statically linked" ]
	# also where telrec would not find it
	mkdir in
	mv static in
	run -0 telrec -o run.tel sh -c 'cd in && ./static; true'
	without_cost
	[ "$output" = "telrec: ./in/static: not recorded: the program is statically linked" ]
}

@test "programs that are executed after a change of user are recorded" {
	setpriv --reuid 65534 true 2>/dev/null || skip "not root"
	run -0 telrec -o run.tel setpriv --reuid 65534 --clear-groups \
	    sh -c 'sh -c "id -u; true"; id -u'
	without_cost
	[ "$output" = "65534
65534" ]
	# setpriv, sh, sh, id, id
	telcat -H -k Alloc run.tel | grep -o 'pid=[0-9]*\["[a-z]*"\]' |
	    sort -u | sed 's/.*\["\(.*\)"\]/\1/' | sort | tr '\n' ' ' >names
	cat names
	[ "$(cat names)" = "id id setpriv sh sh " ]
	# by each of the functions
	cat >user.c <<-'END'
		#define _GNU_SOURCE
		#include <stdlib.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			int failed = argv[1][0] == 'u' ? setuid(65534) :
			    /* programs of another effective user are secure */
			    argv[1][0] == 'e' ?
			    seteuid(65534) || setreuid(65534, 65534) :
			    argv[1][0] == 'r'          ? setreuid(65534, 65534) :
			                                 setresuid(65534, 65534, 65534);
			(void)argc;
			free(malloc(10));
			if (!failed)
				execlp("id", "id", "-u", (char *)NULL);
			return 9;
		}
	END
	${CC:-cc} -o user user.c
	for how in u e r s; do
		telrec -q -o run.tel ./user $how >got
		[ "$(cat got)" = 65534 ]
		telcat -H -k Alloc run.tel | grep -q 'thread=[0-9]*\["id"\]'
	done
	# by the C library itself, too, which leaves the environment as it was
	cat >shell.c <<-'END'
		#define _GNU_SOURCE
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <unistd.h>
		int main(void)
		{
			char *before = getenv("TELREC_ARENA");
			if (setuid(65534) != 0 || system("id -u; true") != 0)
				return 9;
			FILE *f = popen("cat; true", "w");
			if (f == NULL || fputs("one\n", f) < 0 || pclose(f) != 0)
				return 8;
			return getenv("TELREC_ARENA") != before;
		}
	END
	${CC:-cc} -o shell shell.c
	telrec -q -o run.tel ./shell >got
	[ "$(cat got)" = "65534
one" ]
	telcat -H -k Alloc run.tel | grep -q 'thread=[0-9]*\["id"\]'
	telcat -H -k Alloc run.tel | grep -q 'thread=[0-9]*\["cat"\]'
	# of threads that do so at once none takes the descriptor from another
	cat >threads.c <<-'END'
		#include <pthread.h>
		#include <spawn.h>
		#include <stdlib.h>
		#include <sys/wait.h>
		#include <unistd.h>
		static void *spawn(void *arg)
		{
			char *arguments[] = { "cat", "/dev/null", NULL };
			pid_t pid;
			for (int i = 0; i < 100; i++)
				if (posix_spawnp(&pid, "cat", NULL, NULL, arguments, environ) == 0)
					waitpid(pid, NULL, 0);
			return arg;
		}
		static void *shell(void *arg)
		{
			for (int i = 0; i < 100; i++)
				if (system("exec cat /dev/null") != 0)
					exit(8);
			return arg;
		}
		int main(void)
		{
			char *before = getenv("TELREC_ARENA");
			pthread_t t[8];
			if (setuid(65534) != 0)
				return 9;
			for (int i = 0; i < 8; i++)
				pthread_create(t + i, NULL, i < 4 ? spawn : shell, NULL);
			for (int i = 0; i < 8; i++)
				pthread_join(t[i], NULL);
			return getenv("TELREC_ARENA") != before;
		}
	END
	${CC:-cc} -D_GNU_SOURCE -pthread -o threads threads.c
	telrec -q -o run.tel ./threads
	telcat -H -k Alloc run.tel | grep -o 'thread=[0-9]*\["cat"\]' | sort -u >got
	[ "$(wc -l <got)" -eq 800 ]
	# a program that is not recorded has no descriptor of telrec's
	cat >leave.c <<-'END'
		#include <spawn.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <sys/wait.h>
		#include <unistd.h>
		int main(void)
		{
			char *none[] = { NULL }, *arguments[] = { "id", NULL };
			pid_t pid;
			free(malloc(10));
			if (setuid(65534) != 0)
				return 9;
			execl("/nonesuch", "x", (char *)NULL);
			perror("execl");
			if (posix_spawnp(&pid, "id", NULL, NULL, arguments, environ))
				return 8;
			wait(NULL);
			execle("/bin/ls", "ls", "/proc/self/fd", (char *)NULL, none);
			return 7;
		}
	END
	${CC:-cc} -D_GNU_SOURCE -o leave leave.c
	./leave 2>said >want
	telrec -q -o run.tel ./leave 2>got.said >got
	diff want got
	diff said got.said
	telcat -H -k Alloc run.tel | grep -q 'thread=[0-9]*\["id"\]'
}

@test "the types of events, their fields and roles" {
	cat >own <<-'END'
		malloc 1 Alloc address:address size:unsigned
		free 2 Alloc address:address
		calloc 3 Alloc address:address count:unsigned size:unsigned
		realloc 4 Alloc address:address old:address size:unsigned
		reallocarray 5 Alloc address:address old:address count:unsigned size:unsigned
		memalign 6 Alloc address:address alignment:unsigned size:unsigned
		posix_memalign 7 Alloc address:address alignment:unsigned size:unsigned
		aligned_alloc 8 Alloc address:address alignment:unsigned size:unsigned
		valloc 9 Alloc address:address alignment:unsigned size:unsigned
		pvalloc 10 Alloc address:address alignment:unsigned size:unsigned
		mmap 11 Map address:address size:unsigned
		munmap 12 Map address:address size:unsigned
		mremap 13 Map address:address old:address old_size:unsigned size:unsigned
		brk 14 Map address:address increment:signed
		trace 15 Trace number:unsigned:32 ip:address parent:unsigned:32
		process 16 Process parent:unsigned:32
		unrecorded 17 Process reason:unsigned:32 program:address
		thread_end 18 Thread
		process_end 19 Process
		malloc alloc address size
		free free address
		calloc alloc address size count=count
		realloc realloc address size old=old
		reallocarray realloc address size old=old count=count
		memalign alloc address size alignment=alignment
		posix_memalign alloc address size alignment=alignment
		aligned_alloc alloc address size alignment=alignment
		valloc alloc address size alignment=alignment
		pvalloc alloc address size alignment=alignment
		trace frame number ip parent
		thread_end end-thread
		process_end end-process
	END
	thread="pid:unsigned:32 thread:unsigned:32"
	for options in '' '-s 1' -g '-s 1 -g --maps'; do
		# the fields that options add to those of an allocation
		fields='' roles=''
		case $options in *-g*)
			fields="$fields trace:unsigned:32" roles="$roles stack=trace" ;;
		esac
		case $options in *-s*)
			fields=" weight:unsigned$fields" roles="$roles weight=weight" ;;
		esac
		sed -E "/^(free|.* (free|frame|end-[a-z]+)( |\$))/!{
			s/ Alloc .*/&$fields/
			s/ (alloc|realloc) .*/& thread=thread process=pid$roles/
		}
		s/ (free|frame|end-[a-z]+)( .*|)\$/& thread=thread process=pid/
		s/^[a-z_]+ [0-9]+ .*/& $thread/" own >want
		# shellcheck disable=SC2086
		telrec -q $options -o run.tel "$program" pairs 10
		telcat run.tel | sed -n 's/^# type: \([a-z].*\)/\1/p
			s/^# role: //p' | diff want -
		telcat run.tel | grep -qx '# meta: command program'
	done
}

@test "the values that options refuse, and the least and largest they take" {
	cat >refused <<-'END'
		-z 0|-z: '0' is not a level from 1 to 19
		-z 20|-z: '20' is not a level from 1 to 19
		-s 0|-s: '0' is not
		-s 1099511627777|-s: '1099511627777' is not
		-n 0|-n: '0' is not
		--ring 0|--ring: '0' is not
		--size 0|--size: '0' is not
		--delay 0|--delay: '0' is not a time such as 500ms, 10s or 2m
		--for 0s|--for: '0s' is not a time such as 500ms, 10s or 2m
		--stacks=x|-g: 'x': expected fp or unwind
		-p 2147483648|-p: '2147483648' is not
		--control 1 --control 2|--control was given twice
		--symbols log|--symbols LOG: expected the file to write
		-p 1|-p cannot be combined with a program or -a
		--paused --delay 1s|--delay cannot be combined with --paused
		--ring 1M --size 1M|--size cannot be combined with --ring
	END
	while IFS='|' read -r option message; do
		# shellcheck disable=SC2086 # options and their arguments
		case $option in
		--symbols*) run -2 telrec $option one two ;;
		--control*) run -2 telrec $option ;;
		*) run -2 telrec $option -o no.tel "$program" pairs 1 ;;
		esac
		echo "$option: $output"
		[[ $output == "telrec: $message"* ]]
		[ ! -e no.tel ]
	done <refused
	for option in "-z 19" "-s 1" "-n 18446744073709551615" \
	    "--size 9223372036854775807" "--delay 1ns" "--for 1h" "--stacks=fp"; do
		# shellcheck disable=SC2086 # an option and its argument
		telrec -q $option -o run.tel "$program" pairs 3000 ||
		    [ "$option" = "--delay 1ns" ]
	done
	# the zstd seekable format, and a log
	telrec -o plain.tel "$program" pairs 3000
	telrec -z 19 -o run.tel "$program" pairs 3000
	[ "$(od -An -tx1 -N4 run.tel)" = " 28 b5 2f fd" ]
	[ "$(wc -c <run.tel)" -lt "$(wc -c <plain.tel)" ]
	[ "$(counts run.tel 'size == 100')" = 3000 ]
}

@test "a recording of one event, and one whose frames have no names" {
	run -0 telrec -n 1 -o run.tel "$program" pairs 10
	[[ $output == "telrec: recorded 1 event in 1 process; "* ]]
	mkdir none
	: >none/libdw.so.1
	# without the library that names them
	lacks="telrec: run.tel: frames have no names: telrec needs libdw.so.1 of elfutils (Debian: libdw1)"
	export LD_LIBRARY_PATH=none:${LD_LIBRARY_PATH-}
	for options in '-g -n 1' '--stacks=fp' '-q -g' ''; do
		# shellcheck disable=SC2086
		run -0 telrec $options -o run.tel "$program" pairs 10
		case $options in
		-q*) [ "$output" = "" ] ;;
		*)
			without_cost
			[ "$output" = "${options:+$lacks}" ]
			;;
		esac
	done
}

@test "signals are passed on to the program, and end the recording after it" {
	for signal in TERM HUP; do
		run -41 telrec -o run.tel sh -c 'trap "exit 41" '$signal'
			kill -'$signal' $PPID
			while :; do sleep 0.01; done'
		without_cost
		[ "$output" = "" ]
	done
	# also two at once
	run -42 telrec -o run.tel sh -c 'trap "hup=2" HUP
		trap "term=40" TERM
		kill -HUP $PPID
		kill -TERM $PPID
		until [ $((hup + term)) = 42 ]; do
			n=$((n + 1))
			[ $n -lt 1000 ] || exit 9
			sleep 0.01
		done
		exit 42'
	# one that is none of telrec's without --ring
	run -140 telrec -o run.tel sh -c 'kill -USR2 $PPID
		sleep 0.2'
	# the terminal sends this one to both
	run -5 telrec -o run.tel sh -c 'trap "exit 43" INT
		kill -INT $PPID
		sleep 0.1
		exit 5'
	for signal in TERM INT; do
		run -6 timeout 50 telrec -o run.tel sh -c '(
			trap "" TERM INT
			# until telrec has seen that the program ended
			while kill -0 $$ 2>/dev/null; do sleep 0.01; done
			kill -'$signal' $PPID
			exec sleep 60 >/dev/null 2>&1 3>&-) & echo $! >pid
			exit 6'
		kill -9 "$(cat pid)"
		without_cost
		echo "$signal: $output"
		[ "$output" = "" ]
	done
}

@test "--times=exact reads the clock for each event" {
	for times in coarse exact; do
		telrec -q --times=$times -o $times.tel "$program" pairs 1000
		telcat -H -w 'size == 100 || frees' $times.tel |
		    cut -d ' ' -f 1 >clocks
		all=$(wc -l <clocks)
		[ "$all" -ge 2000 ]
		different=$(uniq clocks | wc -l)
		echo "$times: $different of $all"
		case $times in
		coarse) [ "$different" -lt $((all / 10)) ] ;;
		exact) [ "$different" -gt $((all * 9 / 10)) ] ;;
		esac
		telstat $times.tel | grep -qx "times $times"
	done
	run -2 telrec --times=often -o run.tel "$program" pairs 10
	[[ $output == *"--times: 'often': expected coarse or exact"* ]]
}

@test "what a recording cost is reported at its end" {
	run -0 telrec -o run.tel sh -c "\"$program\" pairs 2000; \"$program\" pairs 3000; true"
	echo "$output"
	events=$(telcat -c -k ^Stream run.tel | sed ':a; s/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/; ta')
	processes=$(telcat -c -e process run.tel)
	[ "$processes" -ge 3 ]
	[[ $output =~ ^"telrec: recorded $events events in $processes processes; "([0-9]+)\.[0-9]"% of the CPU time was telrec's"$ ]]
	[ "${BASH_REMATCH[1]}" -lt 100 ]
	run -0 telrec -q -o run.tel "$program" pairs 10
	[ "$output" = "" ]
}

@test "a terminal gets no log" {
	needs_terminal
	run -125 script -qec "telrec -o - $program some" /dev/null
	[ "${output//$'\r'/}" = "telrec: refusing to write a log to a terminal; see -o" ]
	run -2 script -qec 'telrec --symbols trace -' /dev/null
	[ "${output//$'\r'/}" = "telrec: refusing to write a log to a terminal" ]
	[ ! -e ./- ]
}
