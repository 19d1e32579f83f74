#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Counts the logs in LIST with GNU parallel, on this machine or on others:
#
#	[MACHINES=HOST,8/HOST ...] parallel.sh LIST FOLDER [OPTION of telstat ...]
#
# Other machines are reached by ssh; this folder, the logs and FOLDER must have
# the same absolute names there.  8/HOST runs at most 8 telstat at a time.

set -eu
list=$1
folder=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)

mkdir -p "$folder"
parallel --quote --retries 3 --env PATH ${MACHINES:+--workdir "$PWD"} \
    ${MACHINES:+-S "$MACHINES"} \
    "$here/map.sh" "$folder" '{#}' '{}' "$@" <"$list"
