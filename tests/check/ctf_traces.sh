#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Compares telcat with babeltrace2 on a folder of traces of CTF, such as those
# that babeltrace tests itself with:
#
#	tests/check/ctf_traces.sh FOLDER
#
# FOLDER/succeed/* must be read with as many events, and their copy by telfilter
# must be shown alike.  FOLDER/fail/* end with status 1 or 3, and with no fewer
# events than babeltrace2 shows.

set -u

folder=${1:?a folder of traces}
copy=$(mktemp -d) || exit
trap 'rm -rf "$copy"' EXIT
failed=0

wrong() {
	echo "$*"
	failed=1
}

# shown TRACE: as babeltrace2 prints its events.
shown() {
	babeltrace2 --no-delta "$1" 2>/dev/null
}

for trace in "$folder"/succeed/*; do
	want=$(shown "$trace" | wc -l)
	got=$(telcat -q -c "$trace" 2>/dev/null)
	[ "$got" = "$want" ] || wrong "$trace: $got events of $want"
	[ "$want" = 0 ] && continue
	telfilter -q -o "$copy/x" "$trace" || wrong "$trace: not copied"
	shown "$trace" >"$copy/want"
	shown "$copy/x" | cmp -s "$copy/want" - || wrong "$trace: its copy differs"
	rm -rf "$copy/x"
done
for trace in "$folder"/fail/*; do
	want=$(shown "$trace" | wc -l)
	got=$(telcat -q -c "$trace" 2>/dev/null)
	status=$?
	[ "$status" = 1 ] || [ "$status" = 3 ] ||
	    wrong "$trace: status $status"
	[ "$got" -ge "$want" ] || wrong "$trace: $got events of $want"
done
exit "$failed"
