#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The examples in the README show what comes out, and commands in
# CONTRIBUTING.md run.

# "run --separate-stderr" sets stderr.
# shellcheck disable=SC2154

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

@test "the commands beside those of other tools run" {
	cd "$BATS_TEST_TMPDIR"
	zstd -dqo after.log "$TEL_TOP/tests/data/mps/1.118.0-lii6gc-poolncv.log.zst"
	zstd -dqo mpsio.log "$TEL_TOP/tests/data/mps/1.118.0-lii6gc-awlut.log.zst"
	echo 'telcat -f csv' >conf
	# the last column of the table, and in it what calls a tool
	# shellcheck disable=SC2016 # backquotes of Markdown
	sed -n '/^| what | jq/,/^$/p' "$TEL_TOP/CONTRIBUTING.md" |
	    sed 's/ |$//; s/.* | //' | grep -o '`[^`]*`' | tr -d '`' |
	    grep '^\([A-Z_]*=[^ ]* \)\?tel' >commands
	[ "$(wc -l <commands)" -ge 15 ]
	while IFS= read -r command; do
		echo "$command"
		run --separate-stderr sh -c "$command"
		case $command in
		*--frmat*)
			[ "$status" = 2 ]
			[[ $stderr == *"did you mean '--format'"* ]]
			;;
		*)
			[ "$status" = 0 ]
			[[ -n $output || $command == *' -o '* ]]
			;;
		esac
	done <commands
	grep -q '<svg' sizes.svg
	grep -q '<title>' run.html
}

@test "the two commands that the README starts with are targets" {
	for target in demo check; do
		grep -q "^    make $target " "$TEL_TOP/README.md"
		grep -q "^$target:" "$TEL_TOP/Makefile"
	done
}

@test "the README's circle: a compiler is recorded, counted, replayed and shown" {
	case ${CFLAGS-} in *-fsanitize*) skip "the sanitizer has malloc" ;; esac
	[ -z "${TEST_VALGRIND-}" ] || skip "valgrind has malloc"
	command -v gcc >/dev/null || skip "no gcc"
	# byte 4 of a program says how many bits its addresses have
	[ "$(od -An -tu1 -j4 -N1 "$TEL_BUILD/bin/telrec")" -eq \
	    "$(od -An -tu1 -j4 -N1 "$(type -P gcc)")" ] ||
		skip "the programs of this machine have another word size"
	cd "$BATS_TEST_TMPDIR"
	echo 'int f(int x) { return x * 3; }' >x.c
	sed -n '/^    telrec -o cc.tel/,/^$/p' "$TEL_TOP/README.md" |
	    sed 's/^ *//; s/^telreplay/& --runs 1/' >circle
	grep -q '^telreplay' circle
	# allocators that are not installed are not replayed
	telrec -o small.tel gcc --version >version
	installed=glibc
	for allocator in jemalloc mimalloc tcmalloc; do
		run telreplay -a "$allocator" --runs 1 small.tel
		[ "$status" != 0 ] || installed+=,$allocator
	done
	sed -i "s/-a glibc,jemalloc,mimalloc,tcmalloc/-a $installed/" circle
	grep -q "^telreplay .*-a $installed cc.tel" circle
	run -0 --separate-stderr sh -e circle
	# the figures of telstat are those of a model of live blocks
	telcat -q -S cc.tel | python3 -c '
import sys
sys.path.insert(0, sys.argv[1])
from live_model import live
n = live(sys.stdin)
print("sizes  (log2)", "updates {allocated_blocks:,}  ".format(**n),
      "total {allocated_bytes:,}  ".format(**n), "life  (quantiles)",
      "updates {freed_blocks:,}  ".format(**n), sep="\n")' \
	    "$TEL_TOP/tests/spec" >figures
	cat figures
	while read -r figure; do
		[[ $output == *"$figure"* ]]
	done <figures
	for allocator in ${installed//,/ }; do
		grep -q "^  $allocator  *[0-9.]* " <<<"$output"
	done
	[ "$(telcat -e process cc.tel | grep -vc '^#')" -ge 3 ]
	# the page is whole
	grep -q '^telcat -f html' circle
	head -c 200 cc.html | grep -qi '<!doctype html>'
	tail -c 200 cc.html | grep -q '</html>'
}
