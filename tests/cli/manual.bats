#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The examples of the manual pages do what the pages say.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	unpack 1.118.0-lii6gc-poolncv
	cp "$TEL_TOP"/tests/data/hpm/v3be/HPM.* .
	cp "$TEL_TOP/tests/data/ets/contracts.tmf" "$TEL_TOP/tests/data/inst/cache.inst" .
	"$TEL_BUILD/tests/test_ets" --make "$TEL_TOP/tests/data/ets/good-boot.txt" \
	    boot.ets
}

# examples PAGE MARK: the blocks of a page that are marked, as they are read.
examples() {
	awk -v mark=".\\\\\" $2" '
	    $0 == mark { marked = 1; next }
	    marked && /^\.Bd/ { inside = 1; next }
	    /^\.Ed/ { if (inside) print "."; inside = marked = 0 }
	    inside { gsub(/\\e/, "\\"); gsub(/\\&/, ""); gsub(/\\-/, "-"); print }
	' "$1"
}

# Runs the commands after "$ ", and prints a block as it should be.
run_block() {
	while IFS= read -r line; do
		case $line in
		'$ '*)
			echo "$line"
			# one shows a log that was cut off
			exits '0|3' bash -o pipefail -c "${line#\$ }" 2>>messages
			;;
		esac
	done
}

@test "each example that shows commands prints what it shows" {
	count=0
	for page in "$TEL_TOP"/man/*.[1578]; do
		examples "$page" test >blocks
		block=
		while IFS= read -r line; do
			if [ "$line" != . ]; then
				block+=$line$'\n'
				continue
			fi
			printf '%s' "$block" >want
			run_block <want >got
			echo "${page##*/}"
			cat messages
			diff -u want got
			block=
			count=$((count + 1))
		done <blocks
	done
	[ "$count" -ge 8 ]
}

@test "each question of a manual page is answered" {
	zstd -dqc "$TEL_TOP/tests/data/jfr/native-ap45.jfr.zst" |
	    telcat -q -f tel >run.tel
	count=0
	for page in "$TEL_TOP"/man/*.[17]; do
		{
			examples "$page" run
			if can_record; then
				examples "$page" 'run record'
			fi
		} | sed -n 's/^\$ //p' |
		    sed 's/-a glibc,jemalloc,mimalloc/-a glibc/
			s/| less/| head/; s/^telreplay/& --runs 1/' >commands
		while IFS= read -r command; do
			echo "${page##*/}: $command"
			run -0 --separate-stderr bash -c "$command"
			[[ $command == *' -o '* || $command == *' >'* ||
			    ${#lines[@]} -ge 2 ]]
			count=$((count + 1))
		done <commands
	done
	[ "$count" -ge 20 ]
}

@test "each example that is a program compiles and does what it says" {
	count=0
	for page in "$TEL_TOP"/man/*.3; do
		examples "$page" 'test compile' | sed '/^\.$/d' >example.c
		[ -s example.c ] || continue
		echo "${page##*/}"
		# shellcheck disable=SC2046,SC2086 # several words on purpose
		${CC:-cc} -std=c11 -Wall -Wextra -Werror ${CFLAGS-} \
		    -I"$TEL_TOP/include" -o example example.c \
		    "${TEL_BUILD}/libtel.a" -pthread ${LDFLAGS-} \
		    $(pkg-config --libs libzstd)
		./example mpsio.log | cmp - <(telcat --file-order mpsio.log)
		count=$((count + 1))
	done
	[ "$count" -ge 1 ]
}
