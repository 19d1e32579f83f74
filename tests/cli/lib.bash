# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What the tests of the commands share.  Each test runs in a folder of its
# own; shipped logs are unpacked into it.

# "run --separate-stderr" sets stderr.
# shellcheck disable=SC2154
bats_require_minimum_version 1.5.0
load "${TEL_TOP:-$BATS_TEST_DIRNAME/../..}/tests/environment"
load "$TEL_TOP/tests/cli/status"

DATA=$TEL_TOP/tests/data/mps

# unpack NAME [AS]: an uncompressed copy of a shipped log.
unpack() {
	zstd -dcq "$DATA/$1.log.zst" >"${2:-mpsio.log}"
}

# Whether script(1) can run a command at a terminal: without /dev/pts it cannot.
has_terminal() {
	command -v script >/dev/null || return
	run script -qec true /dev/null </dev/null
	[ "$status" -eq 0 ]
}

needs_terminal() {
	has_terminal || skip "script(1) cannot make a terminal here"
}

# Nonzero where each command takes long to start: a test then takes samples.
slow() {
	[ -n "${TEST_SLOW-}" ] || case ${CFLAGS-} in *-fsanitize*) ;; *) false ;; esac
}

# await COMMAND ...: until it succeeds; two minutes, as machines may be slow.
await() {
	local i
	for ((i = 0; i < 1200; i++)); do
		"$@" && return
		sleep 0.1
	done
	return 1
}

# has_lines N FILE: at least so many.
has_lines() {
	[ "$(wc -l <"$2")" -ge "$1" ]
}

# flows LINES INPUT COMMAND ...: it prints as many lines of an input while its
# standard input is still open.
flows() {
	local lines=$1 input=$2 hold
	shift 2
	rm -f flows.fifo
	mkfifo flows.fifo
	"$@" <flows.fifo >flows.out 3>&- &
	exec {hold}>flows.fifo
	cat "$input" >&"$hold"
	await has_lines "$lines" flows.out
	exec {hold}>&-
	wait $!
}

# writes COMMAND ...: how many times it writes; a test for what is written at
# once, as without -u events are, too, whenever there is no more input for now.
writes() {
	# shellcheck disable=SC2016 # of the shell inside
	noted bash -c '"$@" >/dev/null || exit; while read -r key n; do
	    [ "$key" != syscw: ] || echo "$n"; done </proc/$$/io' bash "$@"
}

# expect STATUS MESSAGE COMMAND ...: no output, and one line that matches.
expect() {
	local status=$1 message=$2
	shift 2
	run "-$status" --separate-stderr "$@"
	echo "output: $output"
	echo "stderr: $stderr"
	[ -z "$output" ]
	# shellcheck disable=SC2053 # a pattern on purpose
	[[ ${stderr_lines[0]} == $message ]]
}

# clean COMMAND ...: succeeds and says nothing on standard error.
clean() {
	noted "$@" 2>messages
	if [ -s messages ]; then
		cat messages >&2
		return 1
	fi
}
