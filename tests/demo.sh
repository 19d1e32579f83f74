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
# A log is read as it is, compressed or not; each event becomes a line.
telcat 1.118.0-lii6gc-awlut.log.zst | head -n 7
# In order of time, with time in seconds, and only some types of events.
telcat -S -T s -e 'PoolInit*' 1.118.0-lii6gc-awlut.log.zst | tail -n 3
# Pools by allocations; addresses carry the labels that the program gave them.
telcat -SH -e PoolAlloc -F pool 1.118.0-lii6gc-awlut.log.zst | cut -d ' ' -f 3 | sort | uniq -c
# A smaller log: large allocations, written in the format of the log itself.
telfilter -w 'size >= 64k && name == ArenaAlloc' 1.118.0-lii6gc-awlut.log.zst | telcat -H -e ArenaAlloc -n 2
# Which types of events are in it, and how many of each?
telcat --types 1.118.0-lii6gc-awlut.log.zst | head -n 5
# What grep leaves of the text reads back, here to become CSV.
telcat 1.118.0-lii6gc-awlut.log.zst | grep -v size=40 | telcat -f csv -e PoolAlloc -n 2
# A JSON object a line.
telcat -f json -k Trace -n 2 1.118.0-lii6gc-awlut.log.zst
# Just what mpseventtxt prints.
telcat -f mpstxt -e ArenaPollEnd -n 2 1.118.0-lii6gc-awlut.log.zst
# A script for sqlite3 with the tables that mpseventsql makes: sizes asked for.
(telcat -f sql 1.118.0-lii6gc-awlut.log.zst; echo 'SELECT size, count(*) FROM EVENT_PoolAlloc GROUP BY 1 HAVING count(*) > 9;') | sqlite3
END
exit "$status"
