#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Adds the parts that map.sh made of the logs in LIST, one name on each line:
#
#	reduce.sh LIST FOLDER [OPTION of telstat ...]
#
# Prints the report of all.  Status: as that of one telstat over all logs; 1 if
# a log has no part, with its name on standard error.

set -u
list=$1
folder=$2
shift 2

status=0
telstat "$@" "$folder"/*.part || status=$?
number=0
while read -r log; do
	number=$((number + 1))
	if [ ! -e "$folder/$(printf %06d $number).part" ]; then
		echo "reduce.sh: $log: was not counted" >&2
		status=1
	fi
done <"$list"
exit $status
