#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# "make demo": shows each command line and runs it.  The log is one that MPS
# 1.118.0 wrote about its own test program awlut.

set -eu

cd "$(dirname "$0")/data/mps"
LC_ALL=C
export LC_ALL

status=0
while read -r line; do
	case $line in
	'#'*)
		printf '\n%s\n' "$line"
		;;
	?*)
		printf '$ %s\n' "$line"
		# head ends early on purpose, and then telcat does so quietly
		sh -c "$line" || status=1
		;;
	esac
done <<'END'
# Each event of a log is printed on a line; compression is detected.
telcat 1.118.0-lii6gc-awlut.log.zst | head -n 7
# Events of some types only, in order of time, with time in seconds.
telcat -S -T s -e 'PoolInit*' 1.118.0-lii6gc-awlut.log.zst | tail -n 3
# Allocations by pool; addresses are shown with the names that the program gave them.
telcat -SH -e PoolAlloc -F pool 1.118.0-lii6gc-awlut.log.zst | cut -d ' ' -f 3 | sort | uniq -c
# Filter large allocations into a smaller log of the same format.
telfilter -w 'size >= 64k && name == ArenaAlloc' 1.118.0-lii6gc-awlut.log.zst | telcat -H -e ArenaAlloc -n 2
# List the types of events in the log, with their counts.
telcat --types 1.118.0-lii6gc-awlut.log.zst | head -n 5
# Output of grep is still a valid log: convert it to CSV.
telcat 1.118.0-lii6gc-awlut.log.zst | grep -v size=40 | telcat -f csv -e PoolAlloc -n 2
# Print one JSON object on each line.
telcat -f json -k Trace -n 2 1.118.0-lii6gc-awlut.log.zst
# Print exactly what mpseventtxt prints.
telcat -f mpstxt -e ArenaPollEnd -n 2 1.118.0-lii6gc-awlut.log.zst
# Load the tables of mpseventsql into sqlite3, and count allocations by size.
(telcat -f sql 1.118.0-lii6gc-awlut.log.zst; echo 'SELECT size, count(*) FROM EVENT_PoolAlloc GROUP BY 1 HAVING count(*) > 9;') | sqlite3
END
exit "$status"
