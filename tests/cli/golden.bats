#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The bytes of each output format of logs of each format: checksums and sizes,
# as tests/data/golden/formats.txt has them.  Other tests say what an output
# means; this one says that it has changed.  TEST_GOLDEN=write renews the file.

load lib

@test "each output of logs of each format has the bytes that it had" {
	local log format golden=$TEL_TOP/tests/data/golden/formats.txt
	local is=$BATS_TEST_TMPDIR/is want=$BATS_TEST_TMPDIR/want
	cd "$TEL_TOP/tests/data"
	telcat --version | head -n 1 >"$is"
	for log in mps/1.118.0-lii6gc-poolncv.log.zst \
	    mps/1.112.0-lii3gc-amcss.log.zst ctf/all.ctf.tar.zst \
	    alloc/{short.rep,hand.kdump,threads.kdump} \
	    alloc/{perl.heaptrack,calls.mtrace}.zst ftrace/hand.trace \
	    ets/boot.text hpm/v3be/HPM.1.startup inst/hfs.txt \
	    stat/classes.inst jfr/serial-25.jfr.zst jfr/odd.text; do
		for format in text text,--color=always csv csv,--csv=wide json \
		    arrow perfetto chrome folded mpscnv mpstxt tracerpt \
		    tel tel,lines; do
			case $log,$format in
			mps/*) ;;
			*,mpscnv | *,mpstxt) continue ;;
			# without ranges, stacks and pools
			stat/*,folded | alloc/[sht]*,folded) continue ;;
			esac
			# shellcheck disable=SC2086 # an option of its own
			echo "$log $format" "$(set -o pipefail
				telcat -q -f ${format/,--/ --} "$log" | cksum)"
		done
	done >>"$is"
	[ "${TEST_GOLDEN-}" != write ] || cp "$is" "$golden"
	cp "$golden" "$want"
	# a .tel says which release wrote it
	[ "$(head -n 1 "$is")" = "$(head -n 1 "$want")" ] ||
		sed -i '1d; / tel[ ,]/d' "$is" "$want"
	diff "$want" "$is"
}
