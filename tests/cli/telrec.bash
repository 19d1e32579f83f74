# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What the tests of telrec share: programs to record, and what is asked of
# recordings.

load lib

# build_program: the programs to record, once for all files; for setup_file().
build_program() {
	local kept=$TEL_BUILD/tests/telrec source
	case ${CFLAGS-} in *-fsanitize*) return ;; esac
	for source in tests/cli/telrec_program.c cmd/telrec/arena.h; do
		[ "$kept/program" -nt "$TEL_TOP/$source" ] || rm -f "$kept/program"
	done
	if [ ! -x "$kept/program" ]; then
		${CC:-cc} -std=gnu11 -O1 -fno-builtin -pthread \
		    -I"$TEL_TOP/cmd" -o "$BATS_FILE_TMPDIR/program" \
		    "$TEL_TOP/tests/cli/telrec_program.c" -ldl || return
		# others may do the same at this time
		mkdir -p "$kept"
		cp "$BATS_FILE_TMPDIR/program" "$kept/program.$$"
		mv "$kept/program.$$" "$kept/program"
	else
		cp "$kept/program" "$BATS_FILE_TMPDIR/program"
	fi
}

# A preloaded library and a sanitizer both want to be first.
needs_preload() {
	case ${CFLAGS-} in *-fsanitize*) skip "the sanitizer has malloc" ;; esac
	[ -z "${TEST_VALGRIND-}" ] || skip "valgrind has malloc"
}

# is_64: the library is of 64 bits.
is_64() {
	[ "$(od -An -tu1 -j4 -N1 "$TEL_BUILD/libtelrec.so")" -eq 2 ]
}

# needs_attach: skips where no process can be attached to.  What telrec says
# does not tell: a fault may be behind it.
needs_attach() {
	local none=$BATS_FILE_TMPDIR/no_attach traced
	if [ ! -e "$none" ]; then
		sleep 60 3>&- &
		traced=$!
		{
			[ "$(uname -m)" = x86_64 ] && is_64 || echo "not x86-64"
			# PTRACE_SEIZE
			python3 -c 'import ctypes, sys
if ctypes.CDLL(None).ptrace(0x4206, int(sys.argv[1]), None, None):
    print("ptrace is not permitted")' "$traced"
		} >"$none"
		kill "$traced"
	fi
	[ ! -s "$none" ] || skip "$(cat "$none")"
}

# needs_frames: skips where stacks cannot be taken by frame pointers.
needs_frames() {
	is_64 || skip "libtelrec.so is of 32 bits"
	case $(uname -m) in
	x86_64 | aarch64) ;;
	*) skip "no frame pointers are known" ;;
	esac
}

# enter: the test's own folder; sets program.
enter() {
	cd "$BATS_TEST_TMPDIR" || exit
	# shellcheck disable=SC2034 # of the tests
	program=$BATS_FILE_TMPDIR/program
}

# counts FILE CONDITION: how many events there are.
counts() {
	telcat -w "$2" "$1" | grep -vc '^#'
}

# check_log FILE HOW ...: what telrec.py checks.
check_log() {
	local file=$1
	shift
	telcat "$file" | python3 "$TEL_TOP/tests/cli/telrec.py" "$@"
}

# ordered FILE: every event is in its place.
ordered() {
	check_log "$1" order
}

# without_cost: takes what a recording cost from the output of run, which it
# ends with.
# shellcheck disable=SC2034,SC2154 # bats sets and reads them
without_cost() {
	[[ $output == *"telrec: recorded "*" of the CPU time was telrec's" ]]
	output=$(sed '$d' <<<"$output")
	lines=()
	[ -z "$output" ] || mapfile -t lines <<<"$output"
}
