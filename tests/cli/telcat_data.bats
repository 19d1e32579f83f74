#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The shipped logs of each release and platform, against what the same
# release's own tools printed of them.

# "run --separate-stderr" sets stderr; a word may be a file name elsewhere
# shellcheck disable=SC2154,SC2094

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
}

# as_reference FOLDER: decodes each log there as the reference tools.
as_reference() {
	local log name size count=0
	for log in "$1"/*.log.zst; do
		name=${log%.log.zst}
		echo "# ${name##*/}"
		# one that says nothing of its writer is reported as guessed
		if [ -e "$name.cnv.zst" ]; then
			zstd -dcq "$name.cnv.zst" >want
			telcat -q -f mpscnv "$log" >got
			cmp want got
		fi
		if [ -e "$name.txt.zst" ]; then
			zstd -dcq "$name.txt.zst" >want
			telcat -q -f mpstxt "$log" >got
			# the tools of 1.112 and 1.113 crash on some of their
			# own logs; what they printed before still counts
			size=$(stat -c %s want)
			case ${name##*/} in
			1.11[23].*) [ "$size" -le "$(stat -c %s got)" ] ;;
			*) [ "$size" -eq "$(stat -c %s got)" ] ;;
			esac
			cmp -n "$size" want got
		fi
		count=$((count + 1))
	done
	[ "$count" -gt 0 ]
}

# reads_back FOLDER: text and .cnv text of each log give the same again.
reads_back() {
	local log
	for log in "$1"/*.log.zst; do
		echo "# ${log##*/}"
		telcat -q --file-order "$log" >text
		clean telcat --file-order text >again
		cmp text again
		if [ -e "${log%.log.zst}.cnv.zst" ]; then
			telcat -q -f mpscnv "${log%.log.zst}.cnv.zst" >again
			zstd -dcq "${log%.log.zst}.cnv.zst" | cmp - again
		fi
	done
}

@test "each shipped log decodes as mpseventcnv and mpseventtxt have it" {
	as_reference "$DATA"
}

@test "each shipped log reads back from its text, and from .cnv text" {
	reads_back "$DATA"
}

# The names of mps.h and mpmtypes.h: where a code is the bits of a mode, and
# reasons from 1 to release 1.117.
@test "codes of each release have the names that its headers give them" {
	local log file seen=0 name
	printf '%s\n' "$DATA"/*.log.zst | sample 3 >logs
	while read -r log; do
		name=${log##*/}
		telcat -q --file-order -f tel "$log" >log.tel
		telcat -q --file-order "$log" >log.text
		telcat -q --file-order -f json "$log" >log.json
		telcat -q --file-order -f json log.tel | cmp - log.json
		telcat -q --file-order -f json log.text | cmp - log.json
		python3 - "${name:2:3}" log.json >names <<-'END'
			import json, sys
			why = ["gen 0 capacity", "dynamic criterion", "opportunism",
			       "full incremental", "full", "walk", "extension"]
			res = ["ok", "fail", "resource", "memory", "limit", "unimpl",
			       "io", "commit limit", "param"]
			names = {"why": why if sys.argv[1] >= "118" else [None] + why,
			         "res": res, "OK": res,
			         "rank": ["ambig", "exact", "final", "weak"],
			         "mode": [None, "read", "write", "read+write"]}
			for line in open(sys.argv[2]):
			    event = json.loads(line)
			    labels = event.get("labels", {})
			    for field in names.keys() & event["fields"].keys():
			        want = names[field][event["fields"][field]]
			        assert labels.get(field) == want, event
			        if want:
			            print(field, want)
		END
		seen=$((seen + $(wc -l <names)))
		for file in "$log" log.tel log.text; do
			[ "$(telcat -q -c -w 'rank == "exact"' "$file")" = \
			    "$(grep -c '^rank exact$' names)" ]
		done
	done <logs
	least=5000
	[ -z "${TEST_WHOLE-}" ] || least=20000
	[ "$seen" -gt $least ]
	log=$DATA/1.117.0-lii6ll-finalcv.log.zst
	[ "$(telcat -q -c -w 'why == "gen 0 capacity"' "$log")" = 5 ]
	[ "$(telcat -q -c -w 'why != "full"' "$log")" = 5 ]
	[ "$(telcat -q -c -w 'why in ("walk", "gen 0 capacity")' "$log")" = 5 ]
	[ "$(telcat -q -c -w 'why ~ "^full"' "$log")" = 0 ]
	[ "$(telcat -q -c -w 'why == 1 && label ~ "gen 0"' "$log")" = 5 ]
	telstat -q -s 'w=tally(label(why),4)' "$log" |
	    grep -q '^ *gen 0 capacity *5 '
	# a code without a name is an empty string
	telcat -q -e TraceCreate "$log" | sed 's/why=1\[.*/why=99/' >text
	[ "$(telcat -c -w 'why == "" && !has(label(why))' text)" = 5 ]
	# 1.118 counts reasons from 0
	telcat -q -f mps:1.118.0 "$log" >other
	[ "$(telcat -q -c -w 'why == 0 && why == "gen 0 capacity"' other)" = 5 ]
	[ "$(telcat -q -f mps:1.117.0 other | telcat -q -c -w 'why == 1')" = 5 ]
}

@test "each log of TEL_DATA decodes and reads back" {
	[ -n "${TEL_DATA-}" ] || skip "TEL_DATA names no folder"
	as_reference "$TEL_DATA"
	reads_back "$TEL_DATA"
}

@test "a log names its release and platform" {
	for log in "$DATA"/*.log.zst; do
		name=${log##*/}
		name=${name%-*}
		case $log in
		*-object-only* | *-seg-trace*) continue ;;
		esac
		release=${name%%-*}
		platform=${name#*-}
		telcat -n 1 "$log" >out
		echo "$log: $(sed -n 2p out)"
		grep -qx "# format: mps-$release/${platform%%-*}" out
	done
}

@test "a log that says nothing of its writer is inferred, and that is reported" {
	run -0 --separate-stderr telcat -n 1 \
	    "$DATA/1.118.0-lii6gc-mpmss-object-only.log.zst"
	[[ ${lines[1]} == '# format: mps-1.118.0/lii6gc' ]]
	[[ $stderr == *'mps-1.118.0/lii6gc'* ]]
	[ "${#stderr_lines[@]}" -eq 1 ]
	clean telcat -n 1 --as mps-1.118.0/lii6gc \
	    "$DATA/1.118.0-lii6gc-mpmss-object-only.log.zst"
}

@test "--as wins over what the log says: a platform that is not the log's" {
	unpack 1.118.0-lii6gc-poolncv
	run -0 telcat --types -H --as mps-1.118.0/lii6ll mpsio.log
	[[ ${lines[0]} == mps-1.118.0/lii6ll* ]]
}

@test "a text of mpseventcnv without EventInit is looked at as far as a stream" {
	# events of kinds Pool and Trace of 1.114, which 1.115 has, too, but for a
	# name; and two that it has not, behind what is looked at and before
	zstd -dcq "$DATA/1.114.0-lii3gc-amcss.cnv.zst" |
	    awk '{ code = substr($0, 18, 4) } code ~ /^ *(1C|1D|1E|3E|67)$/' >part
	[ -s part ]
	merge='000013A1C3A3F6A0   68 F7B0A000 F7B0A100 1'
	grep -c . part
	for size in 70000 400000; do
		awk -v n="$size" '{ l[NR] = $0 } END {
			for (i = 1; s < n; i = i % NR + 1) {
				print l[i]
				s += length(l[i]) + 1
			}
		}' part >text
		printf '%s\n' "$merge" "$merge" >>text
		run -0 --separate-stderr telcat -f mpscnv text
		printf '%s\n' "${lines[@]}" | cmp - text
		[[ ${stderr_lines[0]} == *'the stream does not identify its writer; read as '* ]]
	done
	# what is read under another name is reported by both names
	[[ ${stderr_lines[0]} == *'quantumWork is rate in mps-1.114.0'* ]]
	telcat text 2>/dev/null >both
	[ "$(grep -c '^# format' both)" -ge 1 ]
	grep -q 'SegMerge .*withReservoirPermit=true' both
}

@test "a stream without its start is read by what fits, and other names are reported" {
	zstd -dcq "$DATA/1.114.0-lii6gc-poolncv.log.zst" | tail -c +401 >mpsio.log
	run -3 --separate-stderr telcat -c mpsio.log
	[[ $stderr == *'fits best; LandInit is CBSInit in mps-1.113.0; LandInit.land is cbs in mps-1.113.0; VMInit is VMCreate in mps-1.113.0'* ]]
	[ "$(grep -o ' is CBSInit in ' <<<"$stderr" | wc -l)" = 1 ]
}

# One byte before its events, a stream has the codes of the other byte order.
@test "a log cut anywhere is not read in the other byte order" {
	unpack 1.118.0-lii6gc-awlut whole.log
	run -3 --separate-stderr telcat -c <(tail -c +3001 whole.log)
	[[ $stderr == *'read as mps-1.118.0/lii6gc, which fits best'* ]]
	for at in 2994 2997 3000 40008; do
		tail -c "+$at" whole.log >cut.log
		run -1 --separate-stderr telcat -c cut.log
		[[ $stderr == 'telcat: cut.log: unknown format: '* ]]
	done
}

@test "the text of mpseventtxt is read back, each line of it, by every tool" {
	for log in "$DATA"/*.txt.zst; do
		case $log in
		# the tool printed no clocks there: FFFFFFFF
		*1.112.0-lii3gc* | *1.113.0-lii3gc*) continue ;;
		*amcss.txt*) slow && continue ;;
		esac
		zstd -dcq "$log" >text
		# where the tool crashed, its last line is cut off
		[ -z "$(tail -c 1 text)" ] || sed -i '$d' text
		exits '0|3' telcat -f mpstxt text 2>messages >got
		cmp got text || { echo "$log"; head -n 3 messages; false; }
	done
	name=1.118.0-lii6gc-poolncv
	zstd -dcq "$DATA/$name.txt.zst" >text
	unpack "$name"
	telcat -H -w 'kind != "User" && name != MeterValues' mpsio.log | sed 's/ *\[[^]]*\]//g' >want
	telcat -H -w 'kind != "User" && name != MeterValues' text | sed 's/ *\[[^]]*\]//g' | cmp - want
	[ "$(grep PoolAlloc text | sort -r | telfilter -c)" = 16 ]
	telfilter -e PoolAlloc --bare text | cmp - <(grep PoolAlloc text)
	telcat -f mps text 2>messages | telcat -H -e 'Pool*' | cmp - <(telcat -H -e 'Pool*' text)
	# damage costs a line
	sed '5s/:/;/' text >bad
	run -3 --separate-stderr telcat -f mpstxt bad
	[ "${#lines[@]}" = "$(($(wc -l <text) - 1))" ]
}

@test "what EventDump prints in a debugger is read, by every tool" {
	for dump in "$DATA"/*.dump.zst; do
		zstd -dcq "$dump" >text
		zstd -dcq "${dump%.dump.zst}.dumped.zst" >want
		clean telcat -f mpscnv text >got
		diff want got
		# what release and machine it was, it says itself
		platform=${dump##*/}
		telcat --types -H text | cut -d ' ' -f 1 | sort -u |
		    grep -qx "mps-$(sed 's/-\([^-]*\)-.*/\/\1/' <<<"$platform")"
		# any line, in any order, is read as in the whole
		tac text | telcat --as "mps-${platform%%-*}" -f mpscnv 2>messages | tac | head -n 5 >got
		[ -s messages ] || head -n 5 want | diff - got
	done
	# a debugger has lines around it; strings are what is left of a line
	zstd -dcq "$DATA/1.118.0-lii6gc-pools.dump.zst" >text
	{ echo '(gdb) print EventDump(mps_lib_get_stdout())'; cat text; echo "\$1 = void"; } >session
	run -3 --separate-stderr telcat -f mpscnv session
	diff <(zstd -dcq "$DATA/1.118.0-lii6gc-pools.dumped.zst") <(echo "$output")
	telcat -H -e Intern text | grep -qF 'string="a label \"x\""'
	# without EventInit and the build, the names and values say the release
	grep -v 'EventInit\|product.mps' text | telcat --types -H - 2>messages |
	    cut -d ' ' -f 1 | sort -u | grep -qx mps-1.118.0/lii6gc
	zstd -dcq "$DATA/1.114.0-lii3gc-pools.dump.zst" | grep -v 'EventInit\|product.mps' |
	    telcat --types -H - 2>messages | cut -d ' ' -f 1 | sort -u | grep -q '^mps-1.11[1-7].0/lii3gc$'
	# a selection is lines of it again
	telfilter -e PoolAlloc --bare text | cmp - <(grep PoolAlloc text)
	[ "$(telstat text | awk '$1 == "events" { print $2; exit }')" = "$(wc -l <text)" ]
	# damage costs a line
	sed '5s/[0-9A-F]$/x/' text >bad
	run -3 --separate-stderr telcat -f mpscnv bad
	[ "${#lines[@]}" = "$(($(wc -l <text) - 1))" ]
	echo '000000000000219B0000219B6E693E7D <unknown code 499>' | cat - text | telcat | grep -q ' 0x01F3'
}

@test "the unit of an MPS's own clock is what its stream says" {
	local at
	unpack 1.118.0-lii6gc-poolncv
	# clocksPerSec, of which an MPS of Windows has 1000
	at=$(LC_ALL=C grep -obUaP -m 1 '\x40\x42\x0f\x00' mpsio.log | head -n 1)
	cp mpsio.log slow.log
	printf '\xe8\x03\0\0' | dd of=slow.log bs=1 seek="${at%%:*}" conv=notrunc \
	    status=none
	telcat -q slow.log | grep -q 'EventInit .*clocksPerSec=1000$'
	telcat -q -H -T ns mpsio.log | tail -n 1 | cut -d ' ' -f 1 >fast
	telcat -q -H -T ns slow.log | tail -n 1 | cut -d ' ' -f 1 >slow
	awk 'NR == 1 { fast = $1 } END {
	    exit fast < 1000 || $1 < 999 * fast || $1 > 1001 * fast }' fast slow
}
