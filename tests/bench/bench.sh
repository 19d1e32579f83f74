#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# "make bench": measures the commands on PATH against md5sum, and what an
# event of libtel-emit costs.
#
#	[BENCHLOG=LOG] [BENCHMB=256] tests/bench/bench.sh FOLDER [quick|peers]
#
# Grows a shipped log by repetition to BENCHMB megabytes in FOLDER, and one of
# ETS, which a test program beside FOLDER makes.  "quick": what takes two
# minutes.  "peers": the same work by tools of others.

set -eu

log=${BENCHLOG:-tests/data/mps/1.118.0-lii6gc-awlut.log.zst}
folder=$1
part=${2-}

mkdir -p "$folder"
case $log in
*.zst) zstd -dcqf "$log" >"$folder/seed.log" ;;
*) cp "$log" "$folder/seed.log" ;;
esac
# one with events of every sort, in words
"$folder/../tests/test_ets" --make tests/data/ets/good-boot.txt \
    "$folder/seed.ets"
case $part in
quick) exec python3 tests/bench/bench.py "$folder" "${BENCHMB:-64}" quick ;;
peers) exec python3 tests/bench/peers.py "$folder" "${BENCHMB:-32}" ;;
esac
"$folder/../tests/bench_emit" "$folder"
tests/bench/lttng.sh "$folder"
python3 tests/bench/bench.py "$folder" "${BENCHMB:-256}"
python3 tests/bench/instructions.py "$folder"
python3 tests/bench/replay.py "$folder"
python3 tests/bench/alike.py "$folder"
python3 tests/bench/record.py "$folder/record"
exec python3 tests/bench/programs.py bench "$folder/programs"
