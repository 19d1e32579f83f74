#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The worked example of tel-emit(3) is built and run.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	page=$TEL_TOP/man/tel-emit.3
	read -ra flags <<<"$CFLAGS $LDFLAGS"
}

# The displays of the page, one after the other.
displays() {
	awk '/^\.Ed/ { on = 0 } on { gsub(/\\e/, "\\"); print }
	    /^\.Bd -literal/ { on = 1 }' "$page"
}

@test "the example of tel-emit(3) compiles, runs, and does what it says" {
	displays | sed '/^\$/,$d' >shop.c
	grep -q TEL_EVENTS_DEFINE shop.c
	$CC "${flags[@]}" -Wall -Wextra -Wno-missing-field-initializers \
	    -Werror -std=c11 -I "$TEL_TOP/include" -o shop shop.c \
	    "$TEL_BUILD/libtel-emit.a" -pthread
	displays | sed -n 's/^\$ //p' >commands
	[ "$(wc -l <commands)" = 3 ]
	run -0 --separate-stderr bash -e commands
	echo "$output"
	[ -z "$stderr" ]
	[ "$(grep -c ',Ada' <<<"$output")" = 3 ]
	[ "$(grep -c ' Refill pieces=[0-9]* ' <<<"$output")" = 3 ]
	run -0 telcat -e Sale shop.tel
	[[ $output == *'["the first basket"] cents'* ||
	    $output == *'["the first basket"] price=200 customer="Ada"'* ]]
	run -0 telcat -e Refill shop.tel
	[[ $output != *pieces=10* ]]
}

@test "tel-emit(3) names every function of tel_emit.h" {
	tr '\n\t' '  ' <"$TEL_TOP/include/tel_emit.h" |
	    grep -oE 'TEL_EMIT_API [^;{]*;' |
	    grep -oE '\btel_[a-z][a-z_]*\(' | tr -d '(' | sort -u >functions
	[ "$(wc -l <functions)" -gt 35 ]
	while read -r name; do
		echo "$name"
		grep -q "^\.Fn $name\b" "$page"
	done <functions
}
