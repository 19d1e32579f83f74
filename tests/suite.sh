#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Runs tests under prove, which prints one total for all of them:
#
#	tests/suite.sh BUILD TEST ...
#
# BUILD is the folder of a finished build.  The tests see what
# tests/environment.sh sets, and TEST_SLOW, set when every process takes about a
# second to start: a test with a long loop then takes samples.  With TEST_WHOLE,
# loops of which others take samples go from their start to their end.

set -eu

cd "$(dirname "$0")/.."
TEL_TOP=$PWD
TEL_BUILD=$(cd "$1" && pwd)
shift
if [ $# = 0 ]; then
	echo "$0: no tests" >&2
	exit 2
fi
rm -rf "$TEL_BUILD/logs" "$TEL_BUILD/output"
# shellcheck source=tests/environment.sh
. tests/environment.sh

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

status=0
jobs=${JOBS:-1}
# some wait for a time rather than for a processor
prove -j"$((jobs + jobs / 2))" -e tests/run-test "$@" </dev/null || status=$?

# Why tests failed: the line of each, the comments that come after it, and how
# to run it alone.
if [ "$status" != 0 ]; then
	build=
	[ "$TEL_BUILD" = "$TEL_TOP/build" ] || build="TEL_BUILD=$TEL_BUILD "
	for test in "$@"; do
		awk -v name="$test" -v build="$build" '
		    function alone(title,    how) {
			how = build (name ~ /\.bats$/ ? "bats " : \
			    name ~ /\/fuzz_|^tests\/page\// ? "tests/run-test " : "")
			if (name ~ /\.bats$/ && title !~ /^ended with status /) {
				gsub(/[][\\.*^$+?(){}|]/, "\\\\&", title)
				gsub(/\047/, "\047\\\047\047", title)
				how = how "-f \047^" title "$\047 "
			}
			print "# alone: " how name
		    }
		    /^not ok/ && !/# (TODO|SKIP)/ {
			if (!shown++)
				print "\n" name ":"
			failed = 1
			print
			sub(/^not ok [0-9]* ?(- )?/, "")
			alone($0)
			next
		    }
		    /^(ok|[0-9]+\.\.)/ { failed = 0 }
		    failed' "$TEST_OUTPUT/$(echo "$test" | tr / _)" >&2
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
