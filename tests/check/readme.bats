#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The examples in the README show what comes out.

load lib

@test "examples in the README print what the README says" {
	ln -s "$TEL_TOP/tests/data/mps/1.118.0-lii6gc-awlut.log.zst" \
	    "$BATS_TEST_TMPDIR/mpsio.log"
	cd "$BATS_TEST_TMPDIR"
	local command='' want=() i count=0
	while IFS= read -r line; do
		case $line in
		'    $ '*)
			command=${line#*$ }
			want=()
			;;
		'    '*)
			want+=("${line#    }")
			;;
		*)
			[ -n "$command" ] || continue
			run -0 sh -c "$command"
			[ "${#lines[@]}" = "${#want[@]}" ]
			for i in "${!want[@]}"; do
				echo "$command: ${want[i]}"
				# what is too long for a line there ends in ...
				[[ ${lines[i]} == "${want[i]%...}"* ]]
				[[ ${want[i]} == *... ||
				    ${lines[i]} == "${want[i]}" ]]
			done
			command=
			count=$((count + 1))
			;;
		esac
	done <"$TEL_TOP/README.md"
	[ "$count" -ge 2 ]
}

@test "the two commands that the README starts with are targets" {
	for target in demo check; do
		grep -q "^    make $target " "$TEL_TOP/README.md"
		grep -q "^$target:" "$TEL_TOP/Makefile"
	done
}
