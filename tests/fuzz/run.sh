#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Runs fuzz targets, each for some seconds, from its corpus:
#
#	tests/fuzz/run.sh BUILD SECONDS fuzz_NAME ...
#
# New inputs are kept in BUILD/corpus/NAME; an input that fails, in
# BUILD/found.  To keep one as a test, copy it to tests/fuzz/corpus/NAME.

set -eu

build=$1
seconds=$2
shift 2

# many small allocations: a short memory of them makes twice the speed
ASAN_OPTIONS=malloc_context_size=4:quarantine_size_mb=16
export ASAN_OPTIONS
mkdir -p "$build/found"
for target; do
	name=${target#fuzz_}
	# schemas that are kept for more inputs are no leaks, which "make check"
	# looks for; a choice of inputs by entropy takes a third of the time
	fast=
	[ "$name" != reader ] || fast='-detect_leaks=0 -entropic=0'
	mkdir -p "$build/corpus/$name"
	echo "$target: $seconds s"
	# shellcheck disable=SC2086 # two options
	"$build/fuzz/$target" $fast -max_total_time="$seconds" -max_len=8192 \
	    -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 \
	    -artifact_prefix="$build/found/" -verbosity=0 \
	    "$build/corpus/$name" "tests/fuzz/corpus/$name"
done
