# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# For a bats file that is run by itself, "bats tests/cli/x.bats", what
# tests/suite.sh sets for all.  What such a file needs besides "make" is built
# once, when its first test is read.

if [ -z "${TEL_TOP-}" ]; then
	TEL_TOP=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	TEL_BUILD=${TEL_BUILD:-$TEL_TOP/build}
	# the compiler and the flags of the build that is there
	# shellcheck source=/dev/null
	[ ! -e "$TEL_BUILD/.environment" ] || . "$TEL_BUILD/.environment"
	if [ ! -e "$BATS_RUN_TMPDIR/built" ]; then
		unset MAKEFLAGS MFLAGS MAKELEVEL
		# as "make" names it: the dependencies are of files so named
		build=${TEL_BUILD#"$TEL_TOP"/}
		make -s -C "$TEL_TOP" BUILD="$build" helpers >&2 || exit
		# the installation is what tests/check is about
		case $BATS_TEST_DIRNAME in
		*/check) make -s -C "$TEL_TOP" BUILD="$build" \
		    "$build/stage/.done" >&2 || exit ;;
		esac
		: >"$BATS_RUN_TMPDIR/built"
		# shellcheck source=/dev/null
		. "$TEL_BUILD/.environment"
	fi
	# shellcheck source=/dev/null
	. "$TEL_TOP/tests/environment.sh"
fi

# No test waits for what is typed, or sent to, whoever starts it.
exec </dev/null

# bats notes where it is before each command, in functions and subshells too, which
# takes longer than many a command.  What failed is known without: bash runs the trap
# of errors where it is.
set +T
bats_debug_trap() { :; }
bats_error_trap() {
	bats_check_status_from_trap
	[ -n "$BATS_DEBUG_LAST_STACK_TRACE_IS_VALID" ] || bats_capture_stack_trace
	BATS_DEBUG_LAST_STACK_TRACE_IS_VALID=1
}

# Processes that bats starts: date for each test, mktemp for "run --separate-stderr".
get_mills_since_epoch() { echo $((${EPOCHREALTIME/[.,]/} / 1000)); }
mktemp() {
	case ${1-} in
	*/separate-stderr-XXXXXX)
		set -- "${1%XXXXXX}$BASHPID.$EPOCHREALTIME"
		: >"$1"
		echo "$1"
		;;
	*) command mktemp "$@" ;;
	esac
}

# Tests need Python's own modules only: without site it starts in two thirds of the time.
python3() { command python3 -S "$@"; }

# What only "make check-slow" runs.
whole_only() { [ -n "${TEST_WHOLE-}" ] || skip "runs with TEST_WHOLE=1"; }

# sample N: each Nth line of standard input; "make check-slow" has all of them.
sample() {
	if [ -n "${TEST_WHOLE-}" ]; then cat; else sed -n "1~$1p"; fi
}

# Whether telrec can record what gcc and ls do here.
can_record() {
	case ${CFLAGS-} in *-fsanitize*) return 1 ;; esac
	[ -z "${TEST_VALGRIND-}" ] || return 1
	# byte 4 of a program says how many bits its addresses have
	[ "$(od -An -tu1 -j4 -N1 "$TEL_BUILD/bin/telrec")" -eq \
	    "$(od -An -tu1 -j4 -N1 "$(type -P gcc)")" ]
}
