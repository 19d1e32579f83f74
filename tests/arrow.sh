#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# "make check-arrow": two readers of Arrow from npm, apache-arrow and flechette,
# read what telcat on PATH writes of a log of each format, as a stream and as a
# file:
#
#	tests/arrow.sh FOLDER
#
# The readers are installed in FOLDER.

set -eu

if ! command -v npm >/dev/null || ! command -v node >/dev/null; then
	echo "check-arrow: npm and node are needed" >&2
	exit 1
fi
top=$PWD
mkdir -p "$1"
cd "$1"
if [ ! -d node_modules/apache-arrow ] || [ ! -d node_modules/@uwdata ]; then
	npm install --silent --no-audit --no-fund apache-arrow@21 \
	    @uwdata/flechette@1.1.2
fi
for log in "$top"/tests/data/mps/1.1*.log.zst \
    "$top"/tests/data/alloc/sqlite3.*.zst \
    "$top"/tests/data/alloc/threads.kdump \
    "$top"/tests/data/hpm/v3be/HPM.1.startup "$top"/tests/data/inst/hfs.txt; do
	name=$(basename "$log")
	telcat -q -f json "$log" >"$name.json"
	telcat -q -f arrow "$log" >"$name.arrows"
	telcat -q -f arrow -o "$name.arrow" "$log"
	node "$top/tests/arrow.mjs" "$name.arrows" "$name.json"
	node "$top/tests/arrow.mjs" "$name.arrow" "$name.json"
done
