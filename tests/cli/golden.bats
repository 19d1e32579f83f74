#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The bytes of each output format of logs of each format: checksums and sizes,
# as tests/data/golden/formats.txt has them.  Other tests say what an output
# means; this one says that it has changed.  TEST_GOLDEN=write renews the file.

load lib

# bytes FORMAT LOG: the output; of a page what it has, as the compression of it
# is that of a library.
bytes() {
	# shellcheck disable=SC2086 # an option of its own
	telcat -q -f ${1/,--/ --} "$2" >"$BATS_TEST_TMPDIR/out"
	[ "$1" = html ] || { cat "$BATS_TEST_TMPDIR/out" && return; }
	python3 - "$TEL_TOP/tests/page" "$BATS_TEST_TMPDIR/out" <<-END
		import sys
		sys.path.insert(0, sys.argv[1])
		import read_page
		page = read_page.Page(sys.argv[2])
		for name in page.parser.data:
		    sys.stdout.buffer.write(page.unpack(name))
	END
}

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
		    html tel tel,lines; do
			case $log,$format in
			mps/*) ;;
			*,mpscnv | *,mpstxt) continue ;;
			# without ranges, stacks and pools
			stat/*,folded | alloc/[sht]*,folded) continue ;;
			esac
			echo "$log $format" "$(bytes $format "$log" | cksum)"
		done
	done >>"$is"
	[ "${TEST_GOLDEN-}" != write ] || cp "$is" "$golden"
	cp "$golden" "$want"
	# a page and a .tel say which release wrote it
	[ "$(head -n 1 "$is")" = "$(head -n 1 "$want")" ] ||
		sed -i -E '1d; / (html|tel)[ ,]/d' "$is" "$want"
	diff "$want" "$is"
}
