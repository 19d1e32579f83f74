#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Counts the logs that are named on standard input, one on each line, and
# prints a part of each: for engines that run a filter on lines.
#
#	pipe.sh [OPTION of telstat ...] <NAMES >PARTS
#
# "telstat --as inst" adds the parts.  They report damage and logs that could
# not be read, so such logs do not fail the task, which would fail each time.
# A telstat that was killed leaves a truncated part, and ends this script with
# its status, for engines that then run the task again.

set -u
while read -r log; do
	status=0
	telstat -f inst "$@" "$log" </dev/null || status=$?
	case $status in
	0 | 1 | 3) ;;
	*) exit $status ;;
	esac
done
