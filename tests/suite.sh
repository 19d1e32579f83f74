#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Runs tests under prove, which prints one total for all of them:
#
#	tests/suite.sh BUILD TEST ...
#
# BUILD is the folder of a finished build.  The tests see the commands first
# on PATH and these variables: TEL_TOP, the folder with the Makefile; TEL_BUILD;
# TEL_STAGE, an installation of the build; TEST_SLOW, set when every process
# takes about a second to start: a test with a long loop then takes samples.

set -eu

cd "$(dirname "$0")/.."
TEL_TOP=$PWD
TEL_BUILD=$(cd "$1" && pwd)
TEL_STAGE=$TEL_BUILD/stage
TEST_LOGS=$TEL_BUILD/logs
TEST_OUTPUT=$TEL_BUILD/output
shift
if [ $# = 0 ]; then
	echo "$0: no tests" >&2
	exit 2
fi
rm -rf "$TEST_LOGS" "$TEST_OUTPUT"
mkdir -p "$TEST_LOGS" "$TEST_OUTPUT"
PATH=$TEL_BUILD/bin:$PATH

if [ -n "${TEST_VALGRIND-}" ]; then
	TEST_SLOW=1
	wrap=$TEL_BUILD/wrap
	rm -rf "$wrap"
	mkdir "$wrap"
	for tool in "$TEL_BUILD"/bin/*; do
		# valgrind would open a log as fd 1 where that is closed
		cat >"$wrap/${tool##*/}" <<-END
			#!/bin/sh
			exec valgrind -q --error-exitcode=99 \\
			    --leak-check=full --log-fd=9 '$tool' "\$@" \\
			    9>'$TEST_LOGS/'\$\$
		END
		chmod +x "$wrap/${tool##*/}"
	done
	PATH=$wrap:$PATH
	export TEST_SLOW TEST_VALGRIND
fi

# A sanitizer's report must not pass for the failure that a test expects, nor
# get lost with the standard error of a command that may fail.
options=exitcode=99:log_path=$TEST_LOGS/san
ASAN_OPTIONS=$options:allocator_may_return_null=1
UBSAN_OPTIONS=$options:print_stacktrace=1
TSAN_OPTIONS=$options
LC_ALL=C.UTF-8
TZ=UTC
export TEL_TOP TEL_BUILD TEL_STAGE TEST_LOGS TEST_OUTPUT PATH LC_ALL TZ
export ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS
unset NO_COLOR TELTOOLS_CONFIG TELTOOLS_PAGER MAKEFLAGS MFLAGS MAKELEVEL

status=0
prove -j"${JOBS:-1}" -e tests/run-test "$@" </dev/null || status=$?

# Why tests failed: the line of each with the comments that come after it.
if [ "$status" != 0 ]; then
	for output in "$TEST_OUTPUT"/*; do
		awk -v name="${output##*/}" '
		    /^not ok/ && !/# (TODO|SKIP)/ {
			if (!shown++)
				print "\n" name ":"
			failed = 1
			print
			next
		    }
		    /^(ok|[0-9]+\.\.)/ { failed = 0 }
		    failed' "$output" >&2
	done
fi
for log in "$TEST_LOGS"/*; do
	if [ -s "$log" ]; then
		echo "$log:" >&2
		cat "$log" >&2
		status=1
	fi
done
exit "$status"
