#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Counts one log into a part, FOLDER/NUMBER.part:
#
#	map.sh FOLDER NUMBER LOG [OPTION of telstat ...]
#
# The part gets its name when it is complete, so one that a killed worker has
# begun does not count.  Status 0: the log was counted; what was damaged in it
# is in the part.  Status 1: it could not be read, which is in the part as
# well; another try may succeed.  Any other status: there is no part.

set -u
part=$1/$(printf %06d "$2").part
log=$3
shift 3
new=$part.$(uname -n).$$

status=0
telstat -f inst -o "$new" "$@" "$log" || status=$?
case $status in
0 | 3) mv "$new" "$part" ;;
1) mv "$new" "$part" && exit 1 ;;
*) rm -f "$new" && exit "$status" ;;
esac
