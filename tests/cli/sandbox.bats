#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# What a decoder can do to the system that it runs on: nothing; and that the
# tools still find all that they need.

# "run --separate-stderr" sets stderr
# shellcheck disable=SC2154,SC2030,SC2031

load lib

# Skips where the build does not confine itself, or the kernel has no Landlock
# that knows of truncation.
needs_landlock() {
	case ${CFLAGS-} in
	*-fsanitize* | *NO_SANDBOX*) skip "this build is not confined" ;;
	esac
	[ "$(python3 -c 'import ctypes
print(ctypes.CDLL(None).syscall(444, None, 0, 1))')" -ge 3 ] || skip "no Landlock"
}

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	mkdir in lib out private tmp
	unpack 1.118.0-lii6gc-poolncv in/log
	zstd -q in/log
	echo secret >private/file
	export TMPDIR=$PWD/tmp PRIVATE=$PWD/private/file
}

hostile() {
	# the folder of a library is readable
	[ -e lib/decoder.so ] ||
	    ${CC:-cc} -shared -fPIC -o lib/decoder.so \
	        "$TEL_TOP/tests/cli/sandbox.c" -ldl
	{ LD_PRELOAD=$PWD/lib/decoder.so "$@" >got; } 2>&1
}

@test "a hostile decoder reaches no file, program, socket or process" {
	needs_landlock
	cat >want <<-END
		read /etc/passwd: denied
		list /: denied
		read private: denied
		write private: denied
		mode of private: denied
		create: denied
		remove: No such file or directory
		run: denied
		socket: denied
		trace: denied
		type: denied
		memory: denied
		map: done
	END
	for tool in 'telcat' 'telfilter -f tel' 'telstat' 'telcat -f tel -o out/x' \
	    'telcat -c' 'telstat -f html -o out/x' 'telstat diff in/log' \
	    'telcat -f sqlite -o out/db' 'telcat -o out/%d.tel -f tel --split 1k'; do
		# shellcheck disable=SC2086
		hostile $tool in/log.zst | diff want -
	done
	[ ! -e private/file.other ]
	# a folder that is named may be a trace
	run -1 hostile telcat in in/log.zst
	[[ $output == *'read private: denied'* ]]
	# telcat still prints all events after it
	hostile telcat in/log.zst >/dev/null
	telcat in/log | sed 's/log$//' | cmp - <(sed 's/log.zst$//' got)
	# without the sandbox it has the rights of the user
	hostile telcat --no-sandbox in/log.zst | grep -c ': done' | grep -qx '1[012]'
	echo 'all --no-sandbox' >conf
	TELTOOLS_CONFIG=conf hostile telcat in/log.zst | grep -x 'socket: done'
	[ "$(cat private/file)" = secret ]
}

@test "the output's folder is the only one that can be changed" {
	needs_landlock
	# here, the files of the hostile decoder are beside the output
	PRIVATE=$PWD/out/file
	echo x >out/file
	hostile telcat -f tel -o out/x in/log.zst >did
	grep -qx 'create: denied' did
	grep -qx 'read private: denied' did
	grep -qx 'write private: denied' did
	hostile telcat -f sqlite -o out/db in/log.zst >did
	grep -qx 'create: done' did
	grep -qx 'list /: denied' did
}

@test "threads that count are confined as well" {
	needs_landlock
	hostile telstat -j 2 in/log.zst in/log.zst >did
	[ "$(grep -c '^read /etc/passwd: denied' did)" -ge 1 ]
	run ! grep -v -e denied -e 'No such file' -e '^map' did
}

@test "outputs: beside, through links, into databases, in pieces, as pages" {
	telcat --no-sandbox in/log >want
	telcat -o out/text in/log
	telcat -o out/text in/log
	cmp want out/text
	mkdir far
	: >far/file
	ln -s ../far/file out/link
	telcat -o out/link in/log
	[ -L out/link ]
	cmp want far/file
	ln -s ../far/new out/dangling
	telcat -o out/dangling in/log
	cmp want far/new
	(cd out && telcat -o here ../in/log && cmp ../want here)
	(cd out && telcat -f tel -o 'p%d.tel' --split 1k ../in/log)
	telcat -f csv -H in/log | cmp - <(telcat -f csv -H out/p*.tel)
	mkdir out/d{0,1,2,3,4,5,6,7,8,9}
	telcat -f tel -o 'out/d%d/x.tel' --split 16k in/log
	[ -e out/d0/x.tel ]
	# a database that exists has a journal
	unpack 1.118.0-lii6gc-amcss in/other
	for log in log other; do
		telcat -q -f sqlite -o out/db in/$log
		[ "$(ls out/db*)" = out/db ]
	done
	[ "$(sqlite3 out/db 'select count(*) from EVENT_PoolAlloc')" = \
	    "$(telcat -c -e PoolAlloc in/log in/other)" ]
	ln -s ../out/db far/db
	telcat -q -f sqlite -o far/db in/log
	telcat -f html -o out/page.html in/log
	telstat -i 100000ticks -f openmetrics -o out/metrics in/log
	grep -q '^# EOF' out/metrics
	[ -s out/page.html ]
	telcat -o /dev/null in/log
	telcat -o /dev/stdout in/log | cmp want -
	telstat --self-trace out/trace in/log >/dev/null
	telcat -c out/trace | grep -qx '[1-9][0-9]*'
	[ -z "$(ls tmp)" ]
}

@test "an output in a folder that cannot be written is opened again and again" {
	local without=()
	# root could write there
	[ "$(id -u)" != 0 ] || without=(setpriv --bounding-set=-dac_override)
	"${without[@]}" true || skip "setpriv cannot take a capability away"
	: >out/metrics
	chmod 555 out
	clean "${without[@]}" telstat -i 100000ticks -f openmetrics \
	    -o out/metrics in/log
	chmod 755 out
	[ "$(ls out)" = metrics ]
	grep -q '^# EOF' out/metrics
}

@test "inputs: pipes, descriptors, archives, packed files, many files" {
	telcat -H --no-sandbox in/log >want
	for pack in gzip bzip2 xz 'lz4 -q -m'; do
		# shellcheck disable=SC2086
		$pack -k in/log
	done
	rm -f in/log.zst
	for log in in/log*; do
		clean telcat -H "$log" | cmp want -
		clean telcat -H <"$log" | cmp want -
		# shellcheck disable=SC2002
		cat "$log" | clean telcat -H | cmp want -
		clean telcat -H <(cat "$log") | cmp want -
	done
	clean telcat -H /dev/fd/3 3<in/log | cmp want -
	clean telcat -H - <in/log | cmp want -
	mkfifo fifo
	cat in/log >fifo &
	clean telcat -H fifo | cmp want -
	wait $!
	tar -C in -czf two.tgz log log.gz
	(cd in && 7z a ../two.7z log >/dev/null && zip -q ../two.zip log)
	[ "$(telcat -c two.tgz)" = $((2 * $(telcat -c in/log))) ]
	# as one stream, so sorted
	telcat --no-sandbox -H two.zip >sorted
	clean telcat -H two.zip | cmp sorted -
	clean telcat -H two.7z | cmp sorted -
	# what must be sought in, and what is sorted, goes through a file
	# shellcheck disable=SC2002
	cat two.7z | clean telcat -H | cmp sorted -
	for ((i = 0; i < 300; i++)); do
		ln in/log "in/$i"
	done
	[ "$(telcat -c in/[0-9]*)" = $((300 * $(telcat -c in/log))) ]
	[ "$(telstat -c in/[0-9]*)" = $((300 * $(telcat -c in/log))) ]
	expect 1 'telcat: in: a folder that is not a CTF trace: *' telcat in
	expect 1 'telcat: none: No such file or directory' telcat none
	[ -z "$(ls tmp)" ]
}

@test "files beside the logs, and those that options name" {
	hpm=$TEL_TOP/tests/data/hpm/v3be
	cp "$hpm"/HPM.* in
	telcat --no-sandbox in/HPM.1.startup >want
	clean telcat in/HPM.1.startup | cmp want -
	(cd in && clean telcat HPM.1.startup) | sed 's,: HPM,: in/HPM,' | cmp want -
	mkdir far
	mv in/HPM.headerFile far/meta
	clean telcat -m far/meta in/HPM.1.startup | cmp want -
	gzip -c far/meta >in/HPM.headerFile.gz
	gzip in/HPM.1.startup
	clean telcat -H in/HPM.1.startup.gz | cmp - <(sed '/^#/d' want)
	ets=$TEL_TOP/tests/data/ets
	"$TEL_BUILD/tests/test_ets" --make "$ets/good-boot.txt" boot.ets
	cp "$ets/guide.tmf" far
	TEL_SCHEMA_PATH=$PWD/far telcat -d guide.tmf boot.ets |
	    cmp - <(telcat --no-sandbox -d far/guide.tmf boot.ets)
}

# refused ERRNO SIZE: builds a program that runs another one on a kernel that
# refuses rules of Landlock with ERRNO, of any SIZE, or of one.
refused() {
	${CC:-cc} -D ERRNO="$1" -D SIZE="$2" -o "refuse-$1" -x c - <<-'END'
		#define _GNU_SOURCE
		#include <errno.h>
		#include <linux/filter.h>
		#include <linux/seccomp.h>
		#include <stddef.h>
		#include <sys/prctl.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		int
		main(int argc, char **argv)
		{
			struct sock_filter code[] = {
				BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
				BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_landlock_create_ruleset, 0, 3),
				BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
				BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SIZE, 0, SIZE > 0),
				BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ERRNO),
				BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
			};
			struct sock_fprog program = { 6, code };

			(void)argc;
			prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
			if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
				return 1;
			execvp(argv[1], argv + 1);
			return 1;
		}
	END
}

@test "a kernel without it: the tool reads on, and --verbose reports why" {
	needs_landlock
	refused ENOSYS 0
	telcat --no-sandbox in/log >want
	clean ./refuse-ENOSYS telcat in/log | cmp want -
	run -0 --separate-stderr ./refuse-ENOSYS telcat --verbose in/log
	[ "$stderr" = 'telcat: not confined: Function not implemented' ]
}

@test "with too few descriptors for rules a tool reads on as well" {
	telcat --no-sandbox in/log >want
	for n in {4..12}; do
		run --separate-stderr bash -c \
		    "ulimit -n $n; exec telcat in/log" 3>&- 4>&-
		echo "$n: $stderr"
		[ "$output" = "$(cat want)" ] ||
		    [[ $stderr == *': Too many open files' ]]
	done
	[ "$status" = 0 ]
}

# As that of RHEL 9, which claims version 6.
@test "a kernel that lacks a part of what it claims confines by the rest" {
	needs_landlock
	refused E2BIG 24
	run -0 --separate-stderr ./refuse-E2BIG telcat --verbose in/log
	[[ $stderr != *'not confined'* ]]
	hostile telcat in/log.zst >want
	hostile ./refuse-E2BIG telcat in/log.zst | cmp want -
}

@test "folders of many files are looked into once, and of traces alone" {
	slow && skip "it starts slowly here"
	mkdir a b
	python3 - <<-'END'
		import os
		for folder in "ab":
		    for i in range(6000):
		        os.link("in/log.zst", f"{folder}/{i}")
	END
	unpack 1.118.0-lii6gc-poolncv a/log
	clean bash -c 'ulimit -t 5; telcat -q -c --no-merge {a,b}/{0..2999} a/log' |
	    grep -c ':144$' | grep -qx 6001
	# alternately
	# shellcheck disable=SC2016 # of the shell inside
	clean bash -c 'ulimit -t 5; for ((i = 0; i < 2500; i++)); do
	    logs+=(a/$i b/$i); done; telcat -q -c --no-merge "${logs[@]}"' |
	    grep -c ':144$' | grep -qx 5000
}
