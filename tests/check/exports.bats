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

@test "the exports carry the version of the library's interface" {
	nm -D --defined-only "$TEL_BUILD/libtel.so" |
	    awk '$2 == "T"' >"$BATS_TEST_TMPDIR/functions"
	run ! grep -v '@@TEL_0$' "$BATS_TEST_TMPDIR/functions"
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
