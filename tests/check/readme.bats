#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The commands of the README can be typed in a clone, and print what it shows;
# commands in CONTRIBUTING.md run.

# "run --separate-stderr" sets stderr.
# shellcheck disable=SC2154

load lib

# The commands of the README that can be typed as they are, as one script, from
# the first "export" on, without those that build or install.  The output of
# "$ COMMAND" is in out.N, and want.N what the README shows of it.
readme_commands() {
	awk '
		/^    export PATH/ { begun = 1 }
		/^## Where things are/ { exit }
		!begun || !/^    / { want = 0; next }
		/^    make/ { next }
		/^    [$] / { want = 1; print substr($0, 7) " >out." ++n; next }
		want { print substr($0, 5) >("want." n); next }
		{ print substr($0, 5) }' "$TEL_TOP/README.md"
	# the commands of the table of formats
	# shellcheck disable=SC2016 # backquotes of Markdown
	sed -n '/^| log | how/,/^$/p' "$TEL_TOP/README.md" |
	    sed -n 's/.* | `\(tel.*\)` |$/\1/p'
}

@test "a newcomer types what the README says" {
	can_record || skip "programs of this build cannot be recorded or linked"
	cd "$BATS_TEST_TMPDIR"
	mkdir clone work
	# nothing is there that a clone that was built does not have
	for file in include man python share tests; do
		ln -s "$TEL_TOP/$file" "clone/$file"
	done
	ln -sfn "$TEL_BUILD" clone/build
	readme_commands >commands
	[ "$(wc -l <commands)" -ge 40 ]
	# allocators that are not installed are not replayed
	echo "1: malloc 0x1000 8 0 1" >one.txt
	installed=glibc
	for allocator in jemalloc mimalloc tcmalloc; do
		run telreplay -q -a "$allocator" --runs 1 one.txt
		[ "$status" != 0 ] || installed+=,$allocator
	done
	sed "s|^cd /tmp$|cd '$BATS_TEST_TMPDIR/work'|
		s/^telreplay -a [a-z,]*/telreplay --runs 1 -a $installed/" \
	    commands >script
	grep -q "^telreplay .*-a $installed cc.tel" script
	cd clone
	run --separate-stderr sh -e ../script
	echo "$output" "$stderr"
	[ "$status" = 0 ]
	cd ../work
	[ "$(find ../want.* | wc -l)" -ge 3 ]
	for want in ../want.*; do
		# what is too long for a line there ends in ...
		python3 - "$want" "out.${want##*.}" <<-'END'
			import sys
			want, got = (open(f).read().splitlines() for f in sys.argv[1:])
			assert len(want) == len(got), (want, got)
			for w, g in zip(want, got):
			    assert g.startswith(w[:-3]) if w.endswith("...") else g == w, (w, g)
		END
	done
	# the figures of what was recorded are those of a model of live blocks
	telcat -q cc.tel | python3 -c '
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
		grep -q "^  $allocator  *[0-9.-]* " <<<"$output"
	done
	[ "$(telcat -e process cc.tel | grep -vc '^#')" -ge 3 ]
	for page in java cc; do
		head -c 200 $page.html | grep -qi '<!doctype html>'
		tail -c 200 $page.html | grep -q '</html>'
	done
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

@test "the demo shows each tool, and says where the page is" {
	can_record || skip "programs of this build cannot be recorded"
	export TMPDIR=$BATS_TEST_TMPDIR
	run -0 --separate-stderr "$TEL_TOP/tests/demo.sh"
	[[ $stderr =~ ^"telrec: recorded "[^$'\n']*$ ]]
	for tool in telrec telstat telcat telfilter telreplay; do
		grep -q "^[$] .*$tool " <<<"$output"
	done
	folder=$(sed -n 's/^What was made is in \(.*\): look at cc.html.*/\1/p' \
	    <<<"$output")
	tail -c 200 "$folder/cc.html" | grep -q '</html>'
	# what comes next can be typed
	sed -n '/^Next/,$s/^    \(export .*\)/\1/p' <<<"$output" >"$folder/next"
	PATH=/usr/bin:/bin run -0 sh -c ". '$folder/next'; telcat --version"
}
