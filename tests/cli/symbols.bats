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
	telrec --symbols trace - >to-a-pipe.tel
	cmp named.tel to-a-pipe.tel
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

@test "debug information in a file of its own, .dwo" {
	has_libdw || skip "no libdw"
	telcat -f folded named.tel >want
	for version in 4 5; do
		build -g -gsplit-dwarf "-gdwarf-$version"
		./program >trace
		telrec --symbols trace named.tel
		telcat -f folded named.tel | diff want -
		telcat named.tel | grep -q "inlined at [^ ]*symbols.c:$(line inlined) <- outer at [^ ]*symbols.c:$(line outer)\""
	done
	rm ./*.dwo
	telrec --symbols trace named.tel
	telcat -f folded named.tel >got
	grep -qx 'outer 100' got
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

# described: a library of two pages at 0x10000, called f, with the debug
# information whose abbreviations, entries and ranges standard input has, and a
# trace in which it called.
described() {
	{
		printf '%s\n' .text '.globl f' '.type f,%function' 'f: .space 8192' \
		    '.size f,8192' '.section .debug_abbrev,"",%progbits' \
		    '.uleb128 1,0x11,1,0x11,1,0x12,7,0,0'
		cat
	} >described.s
	cc -shared -nostdlib -Wl,-Ttext=0x10000 -o described described.s
	printf '%s\n' 'v 10400 3' "x ${#PWD} $PWD" 'm 1 -' \
	    "m $(printf %x $((${#PWD} + 10))) $PWD/described 0 0 1" \
	    't 10002 0' '+ 64 1 1000' >trace
}

# unit: the head of the entries, and that of a unit of the library.
unit() {
	printf '%s\n' '.byte 0' '.section .debug_info,"",%progbits' \
	    '.Lcu: .long .Lend-.Lb' '.Lb: .short 4' '.long 0' '.byte 8' \
	    '.uleb128 1' '.quad 0x10000,8192'
}

@test "debug information that leads in circles, or to more than there is room for" {
	has_libdw || skip "no libdw"
	# the one behind each is in it
	{
		echo '.uleb128 2,0x39,1,1,0x13,0,0'
		unit
		for i in {1..80}; do
			printf '%s\n' '.uleb128 2' ".long .L$i-.Lcu" ".L$i:"
		done
		printf '%s\n' '.space 81' .Lend:
	} | described
	run -0 timeout 20 telrec --symbols trace named.tel
	telcat -f folded named.tel >got
	grep -qx 'f 100' got
	# each of 6,000 functions has 2,000 ranges
	{
		echo '.uleb128 2,0x2e,0,0x55,0x17,0,0'
		unit
		printf '%s\n' '.rept 6000' '.uleb128 2' '.long 0' .endr '.byte 0' \
		    .Lend: '.section .debug_ranges,"",%progbits' \
		    '.rept 2000' '.quad 1,2' .endr '.quad 0,0'
	} | described
	python3 -c 'import resource, subprocess
subprocess.run(["telrec", "--symbols", "trace", "named.tel"], check=True)
assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 600000'
	telcat -f folded named.tel >got
	grep -qx 'f 100' got
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
