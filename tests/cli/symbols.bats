#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# telrec --symbols: names of frames.

# "run --separate-stderr" sets stderr.
# shellcheck disable=SC2154

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
}

# has_libdw: telrec can read symbols here.
has_libdw() {
	build -g
	./program >trace
	run -0 telrec --symbols trace named.tel
	find /lib /usr/lib -name libdw.so.1 2>/dev/null | grep -q . || return 1
	[ "$output" = "" ] || exit
}

# build FLAG ...: the program that prints its trace.
build() {
	cc -O2 "$@" -o program "$TEL_TOP/tests/cli/symbols.c"
}

line() {
	grep -n "line of $1 " "$TEL_TOP/tests/cli/symbols.c" | cut -d : -f 1
}

@test "functions, lines and inlined functions" {
	has_libdw || skip "no libdw"
	telcat -f folded --weight allocated named.tel >got
	grep -qx 'outer;inlined 100' got
	grep -qx 'outer;inlined;0x10 16' got
	telstat --stacks -f json named.tel >stacks
	grep -q "\"stack\":\"outer at [^;]*symbols.c:$(line outer);inlined at [^;]*symbols.c:$(line inlined)\"" stacks
	# the label of an address, in every format
	telcat named.tel >text
	grep -q "trace number=1 ip=0x[0-9a-f]*\[\"inlined at [^ ]*symbols.c:$(line inlined) <- outer at [^ ]*symbols.c:$(line outer)\"\] parent=0" text
	# what was not a frame is as it was
	telcat -H -e malloc trace | cut -d ' ' -f 2- >want
	telcat -H -e malloc named.tel | cut -d ' ' -f 2- | cmp want -
	telcat -f folded text | cmp <(telcat -f folded named.tel) -
}

@test "without debug information, symbols; without these, modules" {
	has_libdw || skip "no libdw"
	build
	# all symbols, then one that has a size
	for _ in 1 2; do
		./program >trace
		telrec --symbols trace named.tel
		telcat -f folded named.tel >got
		grep -qx 'outer 100' got
		strip -K outer program
	done
	strip program
	./program >trace
	telrec --symbols trace named.tel
	telcat -f folded named.tel >got
	grep -qE '^program\+0x[0-9a-f]+ 100$' got
}

@test "files that are gone, and other files in their place" {
	has_libdw || skip "no libdw"
	rm program
	telrec --symbols trace named.tel
	telcat -f folded named.tel >got
	grep -qE '^program\+0x[0-9a-f]+ 100$' got
	grep -qE '^program\+0x[0-9a-f]+;0x10 16$' got
	telrec --symbols "$TEL_TOP/tests/data/alloc/perl.heaptrack.zst" perl.tel
	[ "$(telcat -H perl.tel | wc -l)" -eq 1500 ]
}

@test "what is wrong is said" {
	run -2 telrec --symbols trace
	[[ $output == *'expected the file to write'* ]]
	run -1 telrec --symbols none named.tel
	[[ $output == *'none: No such file or directory'* ]]
	echo 'v 10400 3' >trace
	run -1 telrec --symbols trace /nowhere/named.tel
	[[ $output == *'/nowhere/named.tel: No such file or directory'* ]]
	# without the library
	mkdir none
	: >none/libdw.so.1
	cp "$TEL_TOP/tests/data/alloc/perl.heaptrack.zst" perl.zst
	LD_LIBRARY_PATH=none:${LD_LIBRARY_PATH-} run -0 \
	    telrec --symbols perl.zst named.tel
	[ "$output" = "telrec: perl.zst: frames have no names: telrec needs libdw.so.1 of elfutils (Debian: libdw1)" ]
}

@test "no header of elfutils decides at build time whether frames have names" {
	dependencies=$TEL_BUILD/cmd/telrec/dwarf.d
	[ -e "$dependencies" ] || skip "not where it was built"
	grep -q 'telrec/libdw\.h' "$dependencies"
	run ! grep -q '/elfutils/\|include/dwarf\.h' "$dependencies"
}
