# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# No status of a command gets lost.  A pipeline, a substitution and a process
# in the background give theirs to nobody, and bats does not look at it.  So
# the commands are functions here, in whatever subshell they are called: they
# note a status that is neither 0 nor expected, and teardown() fails the test.
# What runs under "run" or "exits" is expected to fail as those say.
#
# A reader that goes away ends a command by SIGPIPE, which is expected always.
# "exec telcat ... &" is for a test that needs the process itself.

telcat() { noted command telcat "$@"; }
telfilter() { noted command telfilter "$@"; }
telreplay() { noted command telreplay "$@"; }
telstat() { noted command telstat "$@"; }
# The checkers of the tests.
python3() { noted command python3 -S "$@"; }

# A file beside the folder of the test, or of the file for setup_file().
notes() {
	echo "${BATS_TEST_TMPDIR:-$BATS_FILE_TMPDIR}.statuses"
}

# noted COMMAND ...: runs it; a status that nobody expects is noted.
noted() {
	local status=0 notes=${BATS_TEST_TMPDIR:-$BATS_FILE_TMPDIR}.statuses
	case " ${FUNCNAME[*]} " in
	*' run '* | *' exits '*)
		"$@"
		return
		;;
	esac
	echo "start" >>"$notes"
	"$@" || status=$?
	case $status in
	0 | 141) echo "end" >>"$notes" ;;
	*) echo "end: status $status of ${*@Q}" >>"$notes" ;;
	esac
	return "$status"
}

# exits STATUSES COMMAND ...: succeeds if it ends with one of them, as in
# "exits 3 telcat cut.log | cmp - want", or with SIGPIPE.
exits() {
	local want=$1 got=0
	shift
	"$@" || got=$?
	case "|$want|141|" in
	*"|$got|"*) ;;
	*)
		printf 'start\nend: status %s, not %s, of %s\n' "$got" "$want" \
		    "${*@Q}" >>"$(notes)"
		return 1
		;;
	esac
}

# running FILE: whether a noted command has not ended.  No process counts: that
# took longer than many a test.
running() {
	local line started=0
	while read -r line; do
		case $line in
		start) ((started += 1)) ;;
		end*) ((started -= 1)) ;;
		esac
	done <"$1"
	((started != 0))
}

# Fails if any status was not expected.
check_statuses() {
	local notes=${BATS_TEST_TMPDIR:-$BATS_FILE_TMPDIR}.statuses i
	[ -e "$notes" ] || return 0
	# the last of a substitution may be a moment away from its end
	for ((i = 0; i < 100; i++)); do
		running "$notes" || break
		sleep 0.1
	done
	if running "$notes" || [[ $'\n'$(<"$notes") == *$'\nend:'* ]]; then
		grep '^end:' "$notes"
		echo "a command failed, or still runs; tests/cli/status.bash"
		return 1
	fi
}

teardown() {
	check_statuses
}
