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

top=$PWD
tests/npm.sh "$1" apache-arrow@21.1.0 @uwdata/flechette@1.1.2
cd "$1"
for log in "$top"/tests/data/mps/1.1*.log.zst \
    "$top"/tests/data/alloc/sqlite3.*.zst \
    "$top"/tests/data/alloc/threads.kdump \
    "$top"/tests/data/hpm/v3be/HPM.1.startup "$top"/tests/data/inst/hfs.txt \
    "$top"/tests/data/jfr/g1-17.jfr.zst "$top"/tests/data/jfr/native-ap45.jfr.zst \
    "$top"/tests/data/ctf/all.ctf.tar.zst; do
	name=$(basename "$log")
	telcat -q -f json "$log" >"$name.json"
	telcat -q -f arrow "$log" >"$name.arrows"
	telcat -q -f arrow -o "$name.arrow" "$log"
	node "$top/tests/arrow.mjs" "$name.arrows" "$name.json"
	node "$top/tests/arrow.mjs" "$name.arrow" "$name.json"
done
