#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# telrec -p: a running process.

# "enter" sets program.
# shellcheck disable=SC2154

load telrec

setup_file() {
	build_program
}

setup() {
	needs_preload
	needs_attach
	enter
}

teardown() {
	touch "$BATS_TEST_TMPDIR/end"
	[ -z "${pid-}" ] || kill "$pid" 2>/dev/null || true
}

# soon COMMAND ...: waits until it succeeds.
soon() {
	local i
	for ((i = 0; i < 2400; i++)); do
		if "$@"; then
			return 0
		fi
		sleep 0.025
	done
	return 1
}

# is_gone_or_named NAME: the process has executed it, or failed to.
is_gone_or_named() {
	[ ! -e "/proc/$pid/exe" ] || grep -qx "$1" "/proc/$pid/comm"
}

# has_events FILE: pairs were recorded.
has_events() {
	[ "$("$TEL_BUILD/bin/telcat" -w 'size == 100' -n 50 "$1" 2>/dev/null |
	    grep -vc '^#')" -ge 10 ]
}

# loaded: the process has the library, and is not stopped any more.
loaded() {
	[ ! -s message ] || return 0
	grep -q libtelrec "/proc/$pid/maps" || return 1
	grep -q '^TracerPid:.0$' "/proc/$pid/status"
}

# start_program [PATH]
start_program() {
	"${1-$program}" until end >output 3>&- &
	pid=$!
	soon grep -q ready output
}

# Records it until there are events.
attach() {
	"$TEL_BUILD/bin/telrec" -p "$pid" -o run.tel 2>message 3>&- &
	recorder=$!
	soon attached || return 1
	kill -TERM "$recorder"
	wait "$recorder"
}

attached() {
	[ -s message ] || has_events run.tel
}

ends_as_usual() {
	local status=0
	kill -0 "$pid"
	touch end
	wait "$pid" || status=$?
	pid=
	[ "$status" = 7 ]
	[ "$(cat output)" = "ready
done" ]
}

@test "a process that runs is recorded, and goes on" {
	start_program
	attach
	[[ $(<message) =~ ^"telrec: recorded "[0-9,]+" events in "[12]" process"(es)?"; telrec took "[0-9]+\.[0-9]+" s of CPU time"$ ]]
	has_events run.tel
	telcat -n 20000 run.tel |
	    python3 "$TEL_TOP/tests/cli/telrec.py" order late
	telcat -k Alloc -n 10 run.tel | grep -q 'pid=[0-9]*\["program"\]'
	# its frees of older blocks are no damage
	telcat run.tel | grep -q '^# meta: part attached$'
	telreplay --dry-run run.tel >report
	run ! grep damage report
	# once only
	run -125 telrec -p "$pid" -o again.tel
	[ "$output" = "telrec: process $pid: it was recorded before" ]
	[ ! -e again.tel ]
	ends_as_usual
}

@test "a process that ends is recorded to its end" {
	start_program
	"$TEL_BUILD/bin/telrec" -p "$pid" -s 4k -o run.tel 2>message 3>&- &
	recorder=$!
	soon attached
	ends_as_usual
	wait "$recorder"
	[[ $(<message) =~ ^"telrec: recorded "[0-9,]+" events in "[12]" process"(es)?"; telrec took "[0-9]+\.[0-9]+" s of CPU time"$ ]]
	telcat -n 20000 run.tel |
	    python3 "$TEL_TOP/tests/cli/telrec.py" order late
}

@test "a process whose main thread has ended goes on" {
	cat >mainless.c <<-'END'
		#include <pthread.h>
		#include <stdlib.h>
		#include <time.h>
		static void *rounds(void *arg)
		{
			const struct timespec pause = { 0, 300000000 };
			for (int i = 0; i < 10; i++) {
				for (int k = 0; k < 100; k++)
					free(malloc(70001));
				nanosleep(&pause, NULL);
			}
			exit(7);
			return arg;
		}
		int main(void)
		{
			pthread_t t;
			pthread_create(&t, NULL, rounds, NULL);
			pthread_exit(NULL);
		}
	END
	${CC:-cc} -O1 -fno-builtin -pthread -o mainless mainless.c
	run -7 telrec -o run.tel ./mainless
	[ "$(counts run.tel 'size == 70001')" = 1000 ]
	./mainless &
	pid=$!
	# not before its main thread has ended
	soon grep -q '^State:.Z' "/proc/$pid/status"
	telrec -q -p "$pid" -o part.tel
	pid=
	# several rounds
	[ "$(counts part.tel 'size == 70001')" -gt 200 ]
}

# has_size BYTES: a block of this size was recorded.
has_size() {
	"$TEL_BUILD/bin/telcat" -w "size == $1" -n 1 run.tel 2>/dev/null |
	    grep -qv '^#'
}

@test "a program at a fixed address, which has the addresses of functions" {
	cat >fixed.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#include <unistd.h>
		void *(*volatile allocate)(size_t);
		int main(void)
		{
			/* stubs in the program, which dlsym() finds */
			allocate = malloc;
			puts("ready");
			fflush(stdout);
			while (access("end", F_OK) != 0) {
				free(malloc(100));
				free(allocate(200));
				usleep(1000);
			}
			puts("done");
			return 7;
		}
	END
	${CC:-cc} -O0 -fno-builtin -fno-pie -no-pie -o fixed fixed.c ||
	    skip "no programs at a fixed address"
	start_program ./fixed
	attach
	has_size 200
	ends_as_usual
}

@test "modules that are loaded after telrec came are recorded" {
	cat >module.c <<-'END'
		#include <stdlib.h>
		void *volatile kept;
		void grab(void)
		{
			kept = malloc(5555);
			free(kept);
		}
	END
	${CC:-cc} -fno-builtin -shared -fPIC -o module.so module.c
	"$program" until_loaded end ./module.so >output 3>&- &
	pid=$!
	soon grep -q ready output
	"$TEL_BUILD/bin/telrec" -p "$pid" -o run.tel 2>message 3>&- &
	recorder=$!
	soon attached
	touch load
	soon has_size 5555
	ends_as_usual
	wait "$recorder"
	[[ $(<message) =~ ^"telrec: recorded "[0-9,]+" events in "[12]" process"(es)?"; telrec took "[0-9]+\.[0-9]+" s of CPU time"$ ]]
	telcat -n 20000 run.tel |
	    python3 "$TEL_TOP/tests/cli/telrec.py" order late
}

@test "a thread that computes, or waits in a call, goes on where it was" {
	cat >waits.c <<-'END'
		#define _GNU_SOURCE
		#include <errno.h>
		#include <linux/futex.h>
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <sys/syscall.h>
		#include <sys/time.h>
		#include <unistd.h>
		static volatile sig_atomic_t woken, ticks;
		static void on_signal(int signal)
		{
			if (signal == SIGALRM)
				ticks++;
			else
				woken = 1;
		}
		/* a function without calls, whose variables are in registers */
		static double compute(unsigned long n, unsigned long *out)
		{
			unsigned long i, h = 1;
			double x = 1, y = 3;
			for (i = 0; n != 0 ? i < n : !woken; i++) {
				h = h * 6364136223846793005u + i;
				x = x * 0.75 + (double)(h >> 40);
				y = y * 0.5 - x;
			}
			*out = n != 0 ? h : i;
			return x + y;
		}
		static int has_changed(void)
		{
			unsigned long n, h;
			double got = compute(0, &n);
			/* as often, without being attached to */
			return n != 0 && got != compute(n, &h);
		}
		int main(int argc, char **argv)
		{
			const struct itimerval often = { { 0, 1000 }, { 0, 1000 } };
			struct sigaction action = { .sa_handler = on_signal };
			sigset_t set, now;
			int fds[2], word = 0, i, bad = 0;
			char byte;
			if (argc < 2 || pipe(fds) != 0)
				return 1;
			sigemptyset(&set);
			sigaddset(&set, SIGUSR2);
			sigprocmask(SIG_BLOCK, &set, NULL);
			sigaction(SIGUSR1, &action, NULL);
			sigaction(SIGALRM, &action, NULL);
			printf("ready\n");
			fflush(stdout);
			switch (argv[1][0]) {
			case 'r':
				while (!woken)
					bad += read(fds[0], &byte, 1) != -1;
				break;
			case 'f':
				while (!woken)
					bad += syscall(SYS_futex, &word, FUTEX_WAIT, 0,
					    NULL, NULL, 0) != -1;
				break;
			default:
				setitimer(ITIMER_REAL, &often, NULL);
				errno = 4711;
				bad += has_changed();
				bad += errno != 4711;
				ticks = 0;
				while (ticks < 3)
					;
			}
			sigprocmask(SIG_BLOCK, NULL, &now);
			for (i = 1; i < 32; i++)
				bad += sigismember(&now, i) != (i == SIGUSR2);
			for (i = 0; i < 100; i++)
				free(malloc(100));
			return bad == 0 ? 7 : 8;
		}
	END
	${CC:-cc} -O1 -fno-builtin -o waits waits.c
	for how in read futex compute; do
		rm -f output
		./waits $how >output 3>&- &
		pid=$!
		soon grep -q ready output
		"$TEL_BUILD/bin/telrec" -q -p "$pid" -o run.tel 2>message 3>&- &
		recorder=$!
		soon loaded
		kill -USR1 "$pid"
		status=0
		wait "$pid" || status=$?
		echo "$how: $status"
		[ "$status" = 7 ]
		pid=
		wait "$recorder"
		[ "$(counts run.tel 'size == 100')" = 100 ]
	done
}

@test "a thread that is in no safe place is waited for" {
	cat >opens.c <<-'END'
		#include <fcntl.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <unistd.h>
		int main(void)
		{
			int i;
			printf("ready\n");
			fflush(stdout);
			(void)open("pipe", O_RDONLY);
			sleep(1);
			for (i = 0; i < 100; i++)
				free(malloc(100));
			return 7;
		}
	END
	${CC:-cc} -fno-builtin -o opens opens.c
	mkfifo pipe
	./opens >output 3>&- &
	pid=$!
	soon grep -q ready output
	"$TEL_BUILD/bin/telrec" -q -p "$pid" -o run.tel 2>message 3>&- &
	recorder=$!
	sleep 0.7
	: >pipe
	wait "$pid" || status=$?
	[ "$status" = 7 ]
	pid=
	wait "$recorder"
	[ "$(counts run.tel 'size == 100')" = 100 ]
}

@test "processes that cannot be attached to are reported" {
	sleep 0 &
	gone=$!
	wait "$gone"
	run -125 telrec -p "$gone" -o no.tel
	[[ $output == *"process $gone: "* ]]
	[ ! -e no.tel ]
	run -2 telrec -p 0 -o no.tel
	run -2 telrec -p x -o no.tel
	run -2 telrec -p 1 -o no.tel "$program" all
	run -2 telrec -p 1 -a jemalloc -o no.tel
	[ ! -e no.tel ]
}

@test "a process of another user cannot share the memory, and that is reported" {
	setpriv --reuid 65534 true 2>/dev/null || skip "not root"
	setpriv --reuid 65534 --clear-groups sleep 60 3>&- &
	pid=$!
	soon grep -q '^Uid:.65534' "/proc/$pid/status"
	soon grep -qx sleep "/proc/$pid/comm"
	run -125 telrec -p "$pid" -o no.tel
	[[ $output != *"cannot load the library" ]] || skip "$output"
	[ "$output" = "telrec: process $pid: it cannot open telrec's shared memory, as another user" ]
	[ ! -e no.tel ]
}

@test "a process in another root directory is reported as that" {
	mkdir root
	$CC -static -o root/wait -x c - <<-'END' || skip "no static C library"
		#include <unistd.h>
		int main(void) { return sleep(60) != 0; }
	END
	chroot root /wait </dev/null 3>&- &
	pid=$!
	soon is_gone_or_named wait
	[ -e "/proc/$pid/exe" ] || skip "chroot is not permitted"
	run -125 telrec -p "$pid" -o no.tel
	[ "$output" = "telrec: process $pid: it has another root directory than telrec" ]
	[ ! -e no.tel ]
}

@test "a process without a C library that can load, or of another user, is reported" {
	$CC -static -o wait -x c - <<-'END' || skip "no static C library"
		#include <unistd.h>
		int main(void) { return sleep(60) != 0; }
	END
	./wait </dev/null 3>&- &
	pid=$!
	soon is_gone_or_named wait
	run -125 telrec -p "$pid" -o no.tel
	[ "$output" = "telrec: process $pid: it has no C library that telrec knows" ]
	# it goes on
	[ "$(sed -n 's/^TracerPid:.//p' "/proc/$pid/status")" = 0 ]
	setpriv --reuid 65534 true 2>/dev/null || skip "not root"
	chmod 777 .
	run -125 setpriv --reuid 65534 --clear-groups \
	    "$TEL_BUILD/bin/telrec" -p "$pid" -o no.tel
	[ "$output" = "telrec: process $pid may not be attached to: Operation not permitted" ]
	[ ! -e no.tel ]
}

@test "a process that another one traces is reported with that one" {
	$CC -o trace -x c - <<-'END'
		#include <fcntl.h>
		#include <stdlib.h>
		#include <sys/ptrace.h>
		#include <unistd.h>
		int main(int n, char **args)
		{
			(void)n;
			return ptrace(PTRACE_SEIZE, atoi(args[1]), 0, 0) != 0 ||
			    creat("traced", 0600) < 0 || pause();
		}
	END
	sleep 60 3>&- &
	pid=$!
	./trace "$pid" 3>&- &
	tracer=$!
	soon test -e traced
	run -125 telrec -p "$pid" -o no.tel
	kill "$tracer"
	[ "$output" = "telrec: process $pid may not be attached to: process $tracer traces it" ]
	[ ! -e no.tel ]
}

@test "a process without events is said to have none, and why that may be" {
	sleep 60 3>&- &
	pid=$!
	soon grep -qx sleep "/proc/$pid/comm"
	run -125 telrec -p "$pid" --for 1ms -o run.tel
	[ "$output" = "telrec: process $pid: 0 events: it allocated nothing meanwhile, or has its own allocator" ]
}
