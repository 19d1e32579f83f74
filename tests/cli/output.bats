#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# -o FILE: what a run that fails leaves, and what one that succeeds replaces.

# "run --separate-stderr" sets stderr
# shellcheck disable=SC2154,SC2030,SC2031
load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	unpack 1.118.0-lii6gc-poolncv
	zstd -dcq "$TEL_TOP/tests/data/alloc/calls.valgrind.zst" >calls
	mkdir out
	echo old >out/old
}

# Command lines that write to a file, of which FILE is the place.
COMMANDS='telcat -o FILE mpsio.log
telcat -f tel -z 1 -o FILE mpsio.log
telcat -f html -o FILE mpsio.log
telcat --types -o FILE mpsio.log
telcat -c -o FILE mpsio.log
telfilter -o FILE mpsio.log
telfilter -f json -n 3 -o FILE mpsio.log
telstat -o FILE mpsio.log
telstat -f inst -i 1ms -o FILE mpsio.log
telstat diff -o FILE mpsio.log mpsio.log
telreplay --dry-run --program FILE calls
telreplay --dry-run -f html -o FILE calls
telreplay -f rep -o FILE calls'

# each FUNCTION: calls it with each command line.
each() {
	local line
	while read -r line; do
		echo "$line"
		"$1" "$line"
	done <<<"$COMMANDS"
}

# The only files are these.
only() {
	[ "$(ls out)" = "$(printf '%s\n' "$@")" ]
}

replaces() {
	rm -f out/new
	noted eval "${1/FILE/out/new}"
	echo old >out/old
	chmod 640 out/old
	noted eval "${1/FILE/out/old}"
	[ -s out/new ]
	cmp out/new out/old
	[ "$(stat -c %a out/new)" = 644 ]
	[ "$(stat -c %a out/old)" = 640 ]
	only new old
}

@test "-o - is standard output" {
	to_standard_output() {
		[[ $1 == *" -o "* ]] || return 0 # --program
		eval "${1/FILE/-}" >both </dev/null
		[ -s both ]
		[ ! -e ./- ]
	}
	each to_standard_output
}

@test "a run that succeeds makes the file, or replaces it with its mode" {
	umask 022
	each replaces
}

fails() {
	# no such log, and a write that fails; every command has such an input
	run -1 eval "${1/FILE/out/old} nosuch"
	[ "$(<out/old)" = old ]
	run -1 eval "ulimit -f 0; ${1/FILE/out/old}"
	[[ $output == *'old: File too large'* ]]
	[ "$(<out/old)" = old ]
	run -1 eval "ulimit -f 0; ${1/FILE/out/new}"
	only old
}

@test "a run that fails leaves the old file, and no other" {
	# a trace for others needs a temporary file as well
	COMMANDS=$(grep -v -e '^telstat diff' -e '-f rep' <<<"$COMMANDS")
	each fails
	run -1 telreplay -f rep -o out/old nosuch
	run -1 telstat diff -o out/old mpsio.log nosuch
	run -2 telcat -f nosuch -o out/old mpsio.log
	run -2 telcat -o mpsio.log mpsio.log
	[ "$(<out/old)" = old ]
	only old
	unpack 1.118.0-lii6gc-poolncv same
	cmp mpsio.log same
}

@test "a part of a log that cannot be read is made, and replaces none" {
	run -1 telstat -q -f inst -o out/new nosuch
	run -1 telstat -q out/new
	[[ $output == *'incomplete 1'* ]]
	run -1 bash -c 'ulimit -f 0; telstat -q -f inst -o out/more nosuch'
	only new old
	telstat -f inst -o out/new mpsio.log
	cp out/new part
	run -1 telstat -q -f inst -o out/new nosuch
	cmp part out/new
}

@test "damage that is skipped is no failure" {
	head -c 3000 mpsio.log >short
	run -3 telcat -q -o out/old short
	[ "$(telcat -c -q out/old)" -gt 10 ]
	run -1 telcat --strict -o out/new short
	only old
}

@test "links are followed, and what is no file is written itself" {
	mkdir other
	ln -s ../out/old other/link
	telcat -o other/link mpsio.log
	[ -L other/link ]
	cmp out/old <(telcat mpsio.log)
	ln -s ../out/new other/nowhere
	telcat -o other/nowhere mpsio.log
	cmp out/old out/new
	telcat -o /dev/stdout mpsio.log >appended
	telcat -o /dev/stdout mpsio.log >>appended
	cat out/new out/new | cmp - appended
	mkfifo fifo
	telcat -o fifo mpsio.log &
	cmp out/new fifo
	wait $!
	[ -p fifo ]
	run -1 --separate-stderr telcat -o /dev/full mpsio.log
	[[ $stderr == 'telcat: /dev/full: No space left on device' ]]
	run -1 --separate-stderr telcat -o out/no/such mpsio.log
	[[ $stderr == 'telcat: out/no/such: No such file or directory' ]]
	run -1 --separate-stderr telcat -o out mpsio.log
	[[ $stderr == 'telcat: out: Is a directory' ]]
}

@test "a file in a folder of another user is written itself" {
	[ "$(id -u)" = 0 ] || skip "only root may become another user"
	command -v setpriv >/dev/null || skip "there is no setpriv"
	# the folder of the test is for its owner alone
	place=$(mktemp -d)
	chmod 755 "$place"
	cp mpsio.log out/old "$place"
	chmod 666 "$place/old"
	chmod 644 "$place/mpsio.log"
	cd "$place"
	noted setpriv --reuid 65534 --clear-groups telcat -o old mpsio.log
	cmp old <(telcat mpsio.log)
	run -1 setpriv --reuid 65534 --clear-groups telcat -o new mpsio.log
	[ "$(ls)" = "$(printf 'mpsio.log\nold')" ]
	rm -r "$place"
}

# as_other COMMAND ...: as a user who owns nothing but what they are given.
as_other() {
	setpriv --reuid 65534 --regid 65534 --groups 1 "$@"
}

@test "rights of the old file: protected, another owner's, another group's" {
	[ "$(id -u)" = 0 ] || skip "only root may become another user"
	command -v setpriv >/dev/null || skip "there is no setpriv"
	place=$(mktemp -d)
	chmod 777 "$place"
	cp mpsio.log out/old "$place"
	chmod 644 "$place/mpsio.log"
	cd "$place"
	telcat mpsio.log >want
	# a file that is protected against writing, in a folder that is not
	chown 65534 old
	chmod 444 old
	run -1 --separate-stderr as_other telcat -o old mpsio.log
	[ "$stderr" = 'telcat: old: Permission denied' ]
	[ "$(<old)" = old ]
	rights() { # OWNER MODE COMMAND ...
		chown "$1" old
		chmod "$2" old
		noted "${@:3}" telcat -o old mpsio.log
		cmp want old
		stat -c '%u:%g %a' old
	}
	[ "$(rights 65534:65534 640)" = '65534:65534 640' ]
	# a group that the user is in, and one whose members others must not be
	[ "$(rights 0:1 666 as_other)" = '65534:1 666' ]
	[ "$(rights 0:0 626 as_other)" = '65534:65534 626' ]
	[ "$(rights 0:0 662 as_other)" = '65534:65534 622' ]
	# in a folder as /tmp, the name of another's file is theirs
	chmod 1777 .
	[ "$(rights 0:0 666 as_other)" = '0:0 666' ]
	if touch mounted && mount --bind old mounted; then
		echo new >mounted
		telcat -o mounted mpsio.log
		umount mounted
		cmp want old
	fi
	rm -r "$place"
}

@test "a name that is as long as names may be" {
	name=$(printf 'ä%.0s' {1..127})x
	telcat -o "out/$name" mpsio.log
	cmp "out/$name" <(telcat mpsio.log)
	only old "$name"
}

@test "telrec replaces a log when it has another one" {
	case ${CFLAGS-} in *-fsanitize*) skip "the sanitizer has malloc" ;; esac
	ln -s out/old link
	run -127 telrec -o out/old gccc -c x.c
	run -125 telrec -o link -p 99999999
	run -125 telrec -o out/old true
	run -125 telrec -o out/old -a nosuchlib ls
	run ! bash -c 'ulimit -f 0; telrec -o out/old ls'
	run ! telrec --symbols nosuch out/old
	[ "$(<out/old)" = old ]
	only old
	umask 022
	telrec -q -o out/new ls
	[ "$(stat -c %a out/new)" = 600 ]
	chmod 644 out/old
	telrec -q -o link ls
	[ -L link ]
	[ "$(stat -c %a out/old)" = 644 ]
	[ "$(telcat -c out/old)" -gt 0 ]
	only new old
	# it has its name once there is an event, and not before
	echo old >out/old
	printf 'read -r line\nexec sort\n' >script
	starts telrec -o out/old bash script
	await grep -aqv old out/old
	exec {hold}>&-
	wait "$pid"
}

# starts COMMAND ...: in the background, with a standard input that stays open,
# and with the signals that a shell, or nohup, has others ignore.
starts() {
	mkfifo pipe
	(exec env --default-signal "$@") <pipe >/dev/null 2>&1 3>&- &
	pid=$!
	exec {hold}>pipe
	cat mpsio.log >&"$hold"
}

@test "a signal leaves the old file, and no other" {
	# PIPE: that of messages
	for signal in TERM INT QUIT HUP PIPE ALRM USR1 XCPU ABRT; do
		starts telcat -o out/old
		await test -e "out/old.new-$pid"
		kill -$signal "$pid"
		status=0
		wait "$pid" || status=$?
		exec {hold}>&-
		[ "$status" -gt 128 ]
		rm pipe
		[ "$(<out/old)" = old ]
		only old
	done
}

@test "with -u the file is there while it grows" {
	for command in 'telcat -u' 'telfilter -u' 'telcat -u -f tel'; do
		echo old >out/old
		read -ra words <<<"$command"
		starts "${words[@]}" -o out/old
		await grep -aqv old out/old
		exec {hold}>&-
		wait "$pid"
		rm pipe
		[ "$(telcat -c out/old)" = 144 ]
		only old
	done
}

@test "two runs at once leave the whole output of one" {
	for _ in 1 2 3; do
		telcat -o out/old mpsio.log &
		telcat -f json -o out/old mpsio.log &
		wait
		cmp out/old <(telcat mpsio.log) ||
		    cmp out/old <(telcat -f json mpsio.log)
		only old
	done
}

@test "pieces of a split are new files, too" {
	echo old >out/p1
	run -1 eval "ulimit -f 0; telcat --split 4k -o out/p%d mpsio.log"
	[ "$(cat out/p1)" = old ]
	only old p1
}
