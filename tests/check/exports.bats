#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# What libtel gives to a program and what it asks of one.

load lib

# For tests that a sanitizer's own code in the library would fail.
skip_sanitized() {
	case $CFLAGS in *-fsanitize*) skip "sanitizers add their own" ;; esac
}

@test "libtel.so exports what tel.h declares, and nothing else" {
	nm -D --defined-only "$TEL_BUILD/libtel.so" |
	    awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
	    sort >"$BATS_TEST_TMPDIR/exported"
	declared_functions >"$BATS_TEST_TMPDIR/declared"
	test "$(wc -l <"$BATS_TEST_TMPDIR/declared")" -gt 50
	diff -u "$BATS_TEST_TMPDIR/declared" "$BATS_TEST_TMPDIR/exported"
}

@test "each release's node of the symbol map lists what came with it" {
	nodes=0
	# shellcheck disable=SC2013 # the words of a line are the releases
	for since in $(grep -oh '^#define TEL_SINCE_[0-9A-Z_]*' \
	    "$TEL_TOP/include/tel/base.h" | sed 's/.*SINCE_//'); do
		node=TEL_${since//_/.}
		nm -D --defined-only "$TEL_BUILD/libtel.so" |
		    sed -n "s/.* T \(.*\)@@$node\$/\1/p" | sort \
		    >"$BATS_TEST_TMPDIR/exported"
		declared_functions "$since" >"$BATS_TEST_TMPDIR/declared"
		sed -n "/^$node {/,/^}/s/^\t\(tel_[a-z0-9_]*\);/\1/p" \
		    "$TEL_TOP/lib/libtel.map" >"$BATS_TEST_TMPDIR/listed"
		test -s "$BATS_TEST_TMPDIR/declared"
		diff -u "$BATS_TEST_TMPDIR/declared" \
		    "$BATS_TEST_TMPDIR/exported"
		sort -c "$BATS_TEST_TMPDIR/listed"
		diff -u "$BATS_TEST_TMPDIR/declared" "$BATS_TEST_TMPDIR/listed"
		nodes=$((nodes + 1))
	done
	test "$nodes" -eq "$(grep -c '^TEL_.*{' "$TEL_TOP/lib/libtel.map")"
}

@test "every global symbol of libtel.a begins with tel_, internal ones with tel__" {
	skip_sanitized
	nm -g --defined-only "$TEL_BUILD/libtel.a" 2>/dev/null |
	    awk 'NF == 3 { print $3 }' | sort -u >"$BATS_TEST_TMPDIR/globals"
	test "$(wc -l <"$BATS_TEST_TMPDIR/globals")" -gt 500
	declared_functions >"$BATS_TEST_TMPDIR/declared"
	# the compiler adds functions of its own for i386
	grep -v -e '^tel__' -e '^__x86\.' "$BATS_TEST_TMPDIR/globals" |
	    diff -u "$BATS_TEST_TMPDIR/declared" -
}

@test "each part of tel.h compiles alone, as C and as C++" {
	for header in "$TEL_TOP"/include/tel/*.h "$TEL_TOP"/include/*.h; do
		name=${header#"$TEL_TOP/include/"}
		printf '#include "%s"\n' "$name" >"$BATS_TEST_TMPDIR/alone.c"
		$CC -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only \
		    -DTEL_EXPERIMENTAL -I"$TEL_TOP/include" \
		    "$BATS_TEST_TMPDIR/alone.c"
		$CXX -x c++ -Wall -Wextra -Werror -fsyntax-only \
		    -DTEL_EXPERIMENTAL -I"$TEL_TOP/include" \
		    "$BATS_TEST_TMPDIR/alone.c"
	done
}

@test "tel.h declares what may change only if TEL_EXPERIMENTAL is defined" {
	printf '#include <tel.h>\n' >"$BATS_TEST_TMPDIR/all.c"
	for flag in -UTEL_EXPERIMENTAL -DTEL_EXPERIMENTAL; do
		$CC -std=c11 -Wall -Wextra -Wpedantic -Werror -E -P $flag \
		    -I"$TEL_TOP/include" "$BATS_TEST_TMPDIR/all.c" |
		    tr '\n' ' ' | grep -oE '[a-z0-9_]+\(' | tr -d '(' |
		    grep '^tel_' | sort -u >"$BATS_TEST_TMPDIR/seen$flag"
	done
	declared_functions EXPERIMENTAL >"$BATS_TEST_TMPDIR/declared"
	declared_functions >"$BATS_TEST_TMPDIR/all"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/declared")" -gt 50 ]
	comm -23 "$BATS_TEST_TMPDIR/all" "$BATS_TEST_TMPDIR/seen-DTEL_EXPERIMENTAL" |
	    diff /dev/null -
	comm -12 "$BATS_TEST_TMPDIR/declared" \
	    "$BATS_TEST_TMPDIR/seen-UTEL_EXPERIMENTAL" | diff /dev/null -
	comm -23 "$BATS_TEST_TMPDIR/all" "$BATS_TEST_TMPDIR/seen-UTEL_EXPERIMENTAL" |
	    diff "$BATS_TEST_TMPDIR/declared" -
	# a part of it alone says what to do
	for header in heap run stats table; do
		printf '#include <tel/%s.h>\n' "$header" >"$BATS_TEST_TMPDIR/all.c"
		# shellcheck disable=SC2086 # may be two words
		run -1 $CC -fsyntax-only -I"$TEL_TOP/include" \
		    "$BATS_TEST_TMPDIR/all.c"
		[[ $output == *'define TEL_EXPERIMENTAL'* ]]
	done
}

@test "the version as text and as numbers is the same" {
	cat >"$BATS_TEST_TMPDIR/version.c" <<-'END'
		#include <stdio.h>
		#include "tel/base.h"
		#if TEL_VERSION_NUMBER < TEL_VERSION_CODE(0, 1, 0)
		#error "too old"
		#endif
		int
		main(void)
		{
			printf("%d.%d.%d", TEL_VERSION_MAJOR,
			    TEL_VERSION_MINOR, TEL_VERSION_PATCH);
			return 0;
		}
	END
	$CC -I"$TEL_TOP/include" -o "$BATS_TEST_TMPDIR/version" \
	    "$BATS_TEST_TMPDIR/version.c"
	test "$("$BATS_TEST_TMPDIR/version")" = "$VERSION"
}

@test "libtel never prints, ends the process, or touches signals" {
	skip_sanitized
	nm -D -u "$TEL_BUILD/libtel.so" |
	    awk '{ sub(/@.*/, "", $NF); print $NF }' \
	    >"$BATS_TEST_TMPDIR/needed"
	grep -qx malloc "$BATS_TEST_TMPDIR/needed"
	run ! grep -Ex "$(tr -d ' \n' <<-END
		stdin|stdout|stderr|_exit|_Exit|exit|quick_exit|abort|
		__assert_fail|atexit|(__)?v?f?printf(_chk)?|(__)?v?dprintf(_chk)?|
		f?puts|putchar|f?putc|perror|psignal|err|errx|warn|warnx|
		signal|sigaction|sigprocmask|raise|kill|alarm|
		fork|vfork|system|popen|exec.*|posix_spawnp?|setlocale
	END
	)" "$BATS_TEST_TMPDIR/needed"
}

@test "libtel has no variables of its own" {
	skip_sanitized
	size -A "$TEL_BUILD/libtel.a" |
	    awk '$1 ~ /^\.t?(data|bss)(\.|$)/ && $1 !~ /^\.data\.rel\.ro/ &&
	        $2 > 0 { print; bad = 1 } END { exit bad }'
}

@test "libtel.so has a soname of its major version" {
	objdump -p "$TEL_BUILD/libtel.so" | grep -q 'SONAME *libtel.so.0$'
}

@test "libtel-emit.so exports what its headers declare, and nothing else" {
	nm -D --defined-only "$TEL_BUILD/libtel-emit.so" |
	    awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
	    sort >"$BATS_TEST_TMPDIR/exported"
	sed '/^#/d' "$TEL_TOP"/include/tel_{emit,class}.h | tr '\n\t' '  ' |
	    grep -oE 'TEL_EMIT_API [^;{]*[;{]' |
	    sed -E 's/__attribute__\(\([^;]*\)\)//
	        s/^[^(]*[ *](tel_[a-z0-9_]*)\(.*/\1/
	        s/^.*[ *](tel__[a-z0-9_]*) *[;{]$/\1/' |
	    sort >"$BATS_TEST_TMPDIR/declared"
	test "$(wc -l <"$BATS_TEST_TMPDIR/declared")" -gt 40
	diff -u "$BATS_TEST_TMPDIR/declared" "$BATS_TEST_TMPDIR/exported"
}

# Each has its own copy of lib/wire.
@test "libtel and libtel-emit share no dynamic symbol" {
	for lib in libtel libtel-emit; do
		nm -D --defined-only "$TEL_BUILD/$lib.so" |
		    awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
		    sort >"$BATS_TEST_TMPDIR/$lib"
		[ "$(wc -l <"$BATS_TEST_TMPDIR/$lib")" -gt 30 ]
		nm "$TEL_BUILD/$lib.so" | grep -q ' t tel__column_encode$'
	done
	comm -12 "$BATS_TEST_TMPDIR/libtel" "$BATS_TEST_TMPDIR/libtel-emit" \
	    >"$BATS_TEST_TMPDIR/both"
	cat "$BATS_TEST_TMPDIR/both"
	[ ! -s "$BATS_TEST_TMPDIR/both" ]
}

@test "libtel-emit needs the C library alone" {
	skip_sanitized
	objdump -p "$TEL_BUILD/libtel-emit.so" |
	    sed -n 's/.*NEEDED *//p' >"$BATS_TEST_TMPDIR/needed"
	run ! grep -v '^libc\.so\|^ld-linux\|^libpthread\.so' \
	    "$BATS_TEST_TMPDIR/needed"
}

@test "programs and libraries are hardened, unless HARDEN says otherwise" {
	skip_sanitized
	command -v readelf >/dev/null || skip "there is no readelf"
	for file in "$TEL_BUILD"/bin/* "$TEL_BUILD"/libtel.so \
	    "$TEL_BUILD"/libtel-emit.so "$TEL_BUILD"/libtelrec.so; do
		echo "$file"
		readelf -lW "$file" | grep -q GNU_RELRO
		readelf -dW "$file" | grep -Eq 'BIND_NOW|FLAGS_1.*NOW'
	done
	for file in "$TEL_BUILD"/bin/* "$TEL_BUILD"/libtel.so; do
		readelf -W --dyn-syms "$file" | grep -q __stack_chk_fail
		case ${CFLAGS-} in *-O[123s]*) ;; *) continue ;; esac
		readelf -W --dyn-syms "$file" | grep -q '_chk@'
	done
}

# fortified FLAGS: whether an object has functions that check sizes.
fortified() {
	make -s -C "$TEL_TOP" BUILD="$BATS_TEST_TMPDIR/flags" CFLAGS="$1" \
	    "$BATS_TEST_TMPDIR/flags/cmd/common/message.o" >/dev/null ||
	    return 2
	nm -u "$BATS_TEST_TMPDIR/flags/cmd/common/message.o" >symbols
	grep -q __stack_chk_fail symbols || return 2
	grep -q '_chk$' <(grep -v __stack_chk symbols)
}

@test "CFLAGS override what hardens: other levels, and without _FORTIFY_SOURCE" {
	whole_only
	skip_sanitized
	command -v nm >/dev/null || skip "there is no nm"
	cd "$BATS_TEST_TMPDIR"
	unset MAKEFLAGS MFLAGS
	fortified '-O2 -Werror'
	# as packages of some systems have it
	fortified '-O2 -Werror -D_FORTIFY_SOURCE=3'
	CPPFLAGS=-D_FORTIFY_SOURCE=3 fortified '-O2 -Werror'
	for flags in -O0 '-O2 -U_FORTIFY_SOURCE -Werror'; do
		run -1 fortified "$flags"
		[ "$output" = "" ]
	done
}

@test "RUN runs each program that a build for another machine starts" {
	unset MAKEFLAGS MFLAGS
	make -C "$TEL_TOP" -n -B BUILD=build/other RUN="qemu -L root" \
	    all >"$BATS_TEST_TMPDIR/commands"
	grep -q '^qemu -L root build/other/bin/telcat' "$BATS_TEST_TMPDIR/commands"
	run -1 grep -E '(^|&& )build/other/bin/' "$BATS_TEST_TMPDIR/commands"
}
