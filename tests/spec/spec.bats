#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The specification of the native format: tel_reader.py was written from
# tel(5), shares no code with libtel, and decodes what libtel writes.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
}

# check FILE: both decoders agree on the .tel of a log.
check() {
	telcat -q -f tel "$@" >log.tel
	telcat -q -f json log.tel >log.json
	echo "$*"
	run python3 "$TEL_TOP/tests/spec/compare.py" - log.json <log.tel
	echo "$output"
	# a built-in schema is not described in a short stream
	if [[ $output == *"nothing describes the schema mps-"* ]]; then
		[ "$(stat -c %s log.tel)" -lt 65536 ]
		short=$((short + 1))
	else
		[ "$status" = 0 ]
		[ "$output" = "$(wc -l <log.json)" ]
		whole=$((whole + 1))
	fi
}

@test "a decoder written from tel(5) reads every log of an MPS" {
	short=0 whole=0
	for log in "$TEL_TOP"/tests/data/mps/*.log.zst; do
		check "$log"
	done
	[ "$whole" -ge 10 ]
}

@test "it reads the logs of other formats" {
	short=0 whole=0
	cp "$TEL_TOP"/tests/data/hpm/v3be/HPM.* .
	for log in HPM.1.startup "$TEL_TOP"/tests/data/inst/hfs.txt \
	    "$TEL_TOP"/tests/data/ets/boot.text \
	    "$TEL_TOP"/tests/data/alloc/*.{zst,android,kdump,logalloc,rep}; do
		case $log in */README.md) continue ;; esac
		check "$log"
	done
	[ "$short" = 0 ]
	[ "$whole" -ge 20 ]
}

@test "it reads several logs in one stream, and several streams" {
	short=0 whole=0
	check "$TEL_TOP"/tests/data/alloc/perl.mtrace.zst \
	    "$TEL_TOP"/tests/data/inst/hfs.txt
	cat log.tel log.tel >two.tel
	telcat -q -f json two.tel >two.json
	python3 "$TEL_TOP/tests/spec/compare.py" - two.json <two.tel
}
