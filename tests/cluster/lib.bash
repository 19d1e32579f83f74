# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What the tests of examples/cluster share.  The scenario: logs of several
# releases in several forms, of which one is damaged, one is empty, and one
# kills the worker that counts it, once.

# "run --separate-stderr" sets stderr.
# shellcheck disable=SC2154
load "${TEL_TOP:-$BATS_TEST_DIRNAME/../..}/tests/cli/lib"

CLUSTER=$TEL_TOP/examples/cluster
# In the logs, the keys and their order, the edges and the losses are many.
STATS=(-s 'size=quantiles(size)' -s 'type=tally(name,99,size)'
    -s 'pool=dur(PoolInit,PoolFinish,pool)' -s 'var=var(size)')

# needs COMMAND ...: skips the test where one is missing.
needs() {
	local command
	for command; do
		command -v "$command" >/dev/null || skip "there is no $command"
	done
}

# gone PID: it has ended, or waits for its parent to hear of it.
gone() {
	[ ! -e "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status"
}

# A port that nothing listens on, and another one.
ports() {
	python3 -c 'import socket
all = [socket.socket() for _ in range(2)]
[s.bind(("127.0.0.1", 0)) for s in all]
print(*(s.getsockname()[1] for s in all))'
}

# scenario KILLED: the logs, their names in list, what one telstat reports of
# them in want, and a telstat, first on PATH, that kills its ancestor number
# KILLED in the middle of one log, once.
scenario() {
	local logs=${TEST_WHOLE:+200} i=0 log name file
	logs=${logs:-50}
	mkdir logs
	while [ $i -lt "$logs" ]; do
		for log in "$DATA"/*.log.zst; do
			[ $i -lt "$logs" ] || break
			name=logs/$(printf %03d $i)
			case $((i % 5)) in
			0) zstd -dcq "$log" >"$name.log" ;;
			1) cp "$log" "$name.log.zst" ;;
			2) zstd -dcq "$log" | gzip -1 >"$name.log.gz" ;;
			3) telcat -q -f tel -o "$name.tel" "$log" ;;
			4) telcat -q -f tel -z 1 -o "$name.tel" "$log" ;;
			esac
			i=$((i + 1))
		done
	done
	printf 'XXXXXXXXXXXXXXXX' |
	    dd of=logs/010.log bs=1 seek=20000 conv=notrunc 2>messages
	: >logs/020.log
	printf '%s\n' "$PWD"/logs/* >list
	[ "$(wc -l <list)" = "$logs" ]
	mapfile -t file <list
	exits 1 telstat -q -f json --no-merge --report "${STATS[@]}" \
	    "${file[@]}" 2>messages >want
	killer "$1"
}

killer() {
	local real
	real=$(type -P telstat)
	mkdir bin
	cat >bin/telstat <<-END
		#!/bin/sh
		case "\$*" in
		*/030.log)
		    if mkdir '$PWD/killed' 2>/dev/null; then
		        '$real' "\$@" | head -c 999
		        for file; do
		            case \$file in *.part.*) head -c 999 "\$file" >"\$file.new"
		                mv "\$file.new" "\$file" ;; esac
		        done
		        pid=\$\$
		        for i in \$(seq $1); do
		            pid=\$(awk '/^PPid:/ { print \$2 }' "/proc/\$pid/status")
		        done
		        kill -KILL "\$pid" \$\$
		    fi ;;
		esac
		exec '$real' "\$@"
	END
	chmod +x bin/telstat
	PATH=$PWD/bin:$PATH
}

# reduces: the parts come to what one telstat reports, losses included, and the
# worker was killed on the way to them.
reduces() {
	[ -d killed ]
	run -1 --separate-stderr "$CLUSTER/reduce.sh" list parts -f json --report
	diff want <(printf '%s\n' "$output")
	[[ $output == *'"damaged":1,'* ]]
	[[ $output == *'"incomplete":1'* ]]
	grep -q '/000021.part: incomplete: 1 of the runs' <<<"$stderr"
	grep -q '/000011.part: counted of damaged logs: 1 damaged place' \
	    <<<"$stderr"
	run ! grep 'was not counted' <<<"$stderr"
}
