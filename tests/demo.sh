#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# "make demo": shows each command line and runs it, in a folder of its own, on
# what a compiler allocates and on a log that MPS 1.118.0 wrote about its own
# test program awlut.

set -eu

teltools=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d "${TMPDIR:-/tmp}/teltools-demo.XXXXXX")
LC_ALL=C
export LC_ALL teltools
cd "$folder"
cp "$teltools/tests/data/mps/1.118.0-lii6gc-awlut.log.zst" awlut.log
cp "$teltools/tests/consumer/pool.c" .

status=0
while read -r line; do
	case $line in
	'#'*)
		printf '\n%s\n' "$line"
		;;
	?*)
		printf '$ %s\n' "$line"
		# head ends early on purpose, and then the tools do so quietly
		sh -c "$line" || status=1
		;;
	esac
done <<'END'
# Record what a compiler allocates, in all of its processes.
telrec -o cc.tel gcc -O2 -I "$teltools/include" -c pool.c
# What lives, when was the peak, how long do blocks live?
telstat cc.tel
# How large are the blocks?
telstat -s 'sizes=log2(bytes) if allocates' cc.tel | head -n 24
# Which blocks lived longest?
telstat -s 'old=top(duration,3,bytes,thread) if frees' cc.tel
# Each event is a line; the output of grep is still a log.
telcat -T s -e calloc -n 3 -H cc.tel
telcat cc.tel | grep -v calloc | telfilter -w 'allocates && bytes >= 64k' | telcat -f csv -F bytes -n 3
# What would the program take with this allocator? With -a, others beside it.
telreplay --runs 3 cc.tel
# All of it, as a page for a browser.
telcat -f html -o cc.html cc.tel
# A log of the Memory Pool System: compression and release are detected.
telstat awlut.log
# Allocations by pool; addresses are shown with the names that the program gave them.
telcat -H -e PoolAlloc -F pool awlut.log | cut -d ' ' -f 3 | sort | uniq -c
# Print exactly what mpseventtxt prints.
telcat -f mpstxt -e ArenaPollEnd -n 2 awlut.log
# Load the tables of mpseventsql into sqlite3, and count allocations by size.
(telcat -f sql awlut.log; echo 'SELECT size, count(*) FROM EVENT_PoolAlloc GROUP BY 1 HAVING count(*) > 9;') | sqlite3
END

cat <<END

What was made is in $folder: look at cc.html in a browser.
Next, in this shell:

    export PATH=$(dirname "$(command -v telcat)"):\$PATH
    telrec -o my.tel PROGRAM    # a program of yours
    telstat my.tel
    man $teltools/man/teltools.7

README.md has more, with logs of other formats.
END
exit "$status"
