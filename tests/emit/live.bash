# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# A program that emits events while a test asks for them: lives.c.

load "${TEL_TOP:-$BATS_TEST_DIRNAME/../..}/tests/cli/lib"

# shellcheck disable=SC2034 # the tests use them
pid='' reader='' answer=''

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
}

teardown() {
	[ -z "${pid-}" ] || kill "$pid" 2>/dev/null || true
}

# live ARGUMENT ...: starts it, with its input at 8 and its output at 9.  pid:
# its process.
live() {
	rm -f to_program from_program
	mkfifo to_program from_program
	"$TEL_BUILD/tests/lives" "$@" <to_program >from_program \
	    3>&- 8>&- 9>&- &
	pid=$!
	exec 8>to_program 9<from_program
	read -r answer <&9
	[ "$answer" = ready ]
}

# emit N: it emits so many events; answer: how many it has by then.
emit() {
	echo "$1" >&8
	read -r answer <&9
}

# reading FILE COMMAND ...: a command in the background, which reads what the
# program emits, and whose output goes to FILE.  reader: its process.
reading() {
	local file=$1
	shift
	# what an earlier command wrote must be gone before anybody waits for more
	: >"$file"
	"$@" >"$file" 2>messages 3>&- 8>&- 9>&- &
	# shellcheck disable=SC2034
	reader=$!
}

# leave: it closes and ends.
leave() {
	exec 8>&-
	wait "$pid"
	pid=
}
