#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Makes the first inputs in tests/fuzz/corpus/reader from shipped logs: two
# bytes of options for fuzz_reader.c and the first 1,800 bytes of a log.
#
#	tests/fuzz/seed.sh LOG ...

set -eu

to=$(dirname "$0")/corpus/reader
mkdir -p "$to"
for log; do
	name=${log##*/}
	name=${name%.zst}
	{
		printf '\000\000'
		zstd -dcqf "$log" 2>/dev/null | head -c 1800
	} >"$to/${name%.log}"
done
