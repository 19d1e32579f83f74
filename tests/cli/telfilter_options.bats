#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The options of telfilter: each does something, and what it should.

# "run --separate-stderr" sets stderr; a word may be a file name elsewhere
# shellcheck disable=SC2154,SC2094

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	unpack 1.118.0-lii6gc-poolncv
	telcat mpsio.log >mpsio.txt
}

# differs OPTION ...: the option changes what is passed on of a log.
differs() {
	clean telfilter "$@" mpsio.log >changed
	run ! cmp -s mpsio.log changed
}

# types: the names of the types in the text on standard input.
types() {
	sed '/^#/d' | cut -d ' ' -f 2 | sort -u | tr '\n' ' '
}

# What the option must do, by its long name.
try() {
	case $1 in
	address) differs --address 0x7f1d0b043010 ;;
	label) differs --quiet --label 'CBS*' ;;
	invert) differs --invert -k Pool ;;
	count) [ "$(telfilter --count mpsio.log)" = 144 ] ;;
	any)
		run -0 telfilter --any -k Pool mpsio.log
		[ -z "$output" ]
		run -1 telfilter --any -e TraceStart mpsio.log
		;;
	sort) differs --sort ;;
	live) differs --live ;;
	after) differs --quiet --after 1 -e ArenaDestroy ;;
	before) differs --quiet --before 1 -e ArenaDestroy ;;
	context) differs --quiet --context 1 -e ArenaDestroy ;;
	every) differs --every 2 ;;
	sample) differs --sample 0.5 ;;
	seed)
		telfilter --sample 50% mpsio.log >one
		telfilter --sample 50% --seed 2 mpsio.log >two
		run ! cmp -s one two
		;;
	bare) differs --bare -k Pool ;;
	meta-set)
		telfilter -f tel --meta-set host=box mpsio.log >meta.tel
		telcat meta.tel >meta.txt
		grep -q '^# meta: host box$' meta.txt
		;;
	max-labels)
		telfilter -k Trace mpsio.log >few.log
		telfilter -k Trace --max-labels 3 mpsio.log >more.log 2>messages
		[ "$(wc -c <more.log)" -gt "$(wc -c <few.log)" ]
		;;
	format)
		differs --format json
		grep -q '"type":"PoolAlloc"' changed
		;;
	compress) telfilter --compress 3 mpsio.log | zstd -dcq | cmp - mpsio.log ;;
	output)
		telfilter --output out mpsio.log
		cmp out mpsio.log
		;;
	as) run ! telfilter --as text mpsio.log ;;
	kinds) differs --kinds pool ;;
	events) differs --events PoolAlloc ;;
	range) differs --range 0x64613F00000, ;;
	where) differs --where 'size > 64' ;;
	since) differs --since 'name == PoolInit' ;;
	until) differs --until 'name == PoolInit' ;;
	meta) run -1 telfilter -f text --meta /dev/null "$TEL_TOP/tests/data/hpm/v3be/HPM.1.startup" ;;
	description | contracts)
		"$TEL_BUILD/tests/test_ets" --make "$TEL_TOP/tests/data/ets/good-boot.txt" boot.ets
		printf '{\n' >bad.tmf
		run -0 telfilter "--$1" /dev/null boot.ets
		run -1 telfilter "--$1" bad.tmf boot.ets
		;;
	tb-hz)
		[ "$(telfilter -f text --bare -c --tb-hz 1000 -t ,1s "$TEL_TOP/tests/data/hpm/v3be/HPM.1.startup")" -lt \
		    "$(telfilter -f text --bare -c "$TEL_TOP/tests/data/hpm/v3be/HPM.1.startup")" ]
		;;
	jobs)
		# tests/cli/cores.bats compares what threads print
		telfilter --jobs 3 mpsio.log >three
		telfilter --jobs 1 mpsio.log | cmp - three
		;;
	limit) differs --limit 1 ;;
	skip) differs --skip 9 ;;
	unbuffered)
		flows 144 mpsio.txt telfilter --unbuffered
		for log in mpsio.log mpsio.txt; do
			count=$(writes telfilter -u "$log")
			echo "$log: $count"
			[ "$count" -ge 144 ]
			[ "$(writes telfilter "$log")" -lt 144 ]
		done
		;;
	strict)
		head -c 3001 mpsio.log >"cut"
		run -3 telfilter "cut"
		run -1 telfilter --strict "cut"
		;;
	force)
		# EventInit is the first event, and major its first field
		printf '\011' | dd of=mpsio.log bs=1 seek=16 conv=notrunc status=none
		run -1 telfilter mpsio.log
		telfilter --force mpsio.log 2>messages | cmp - mpsio.log
		;;
	progress)
		telfilter --progress mpsio.log 2>messages >out
		grep -q 'events/s.*100%' messages
		;;
	no-config)
		# tests/cli/config.bats has more
		echo "telfilter --nonsense" >conf
		TELTOOLS_CONFIG=conf telfilter --no-config mpsio.log >/dev/null
		;;
	no-sandbox)
		# tests/cli/sandbox.bats has more
		telfilter --no-sandbox mpsio.log | cmp - <(telfilter mpsio.log)
		;;
	file-order)
		[ "$(telfilter --file-order -c -l Control mpsio.log)" -lt \
		    "$(telfilter -c -l Control mpsio.log)" ]
		;;
	no-merge)
		telfilter -n 200 mpsio.log mpsio.log >one
		telfilter --no-merge -n 200 mpsio.log mpsio.log >two
		run ! cmp -s one two
		;;
	quiet)
		head -c 3001 mpsio.log >"cut"
		run -3 --separate-stderr telfilter --quiet --output out "cut"
		[ -z "$stderr" ]
		;;
	verbose)
		telcat -H mpsio.log >text
		clean telfilter text >/dev/null
		telfilter --verbose text 2>messages >out
		[ -s messages ]
		;;
	help)
		run -0 --separate-stderr telfilter --help
		[ -z "$stderr" ]
		[ "${#lines[@]}" -le 60 ]
		run ! grep -E '.{80}' <<<"$output"
		;;
	version)
		run -0 --separate-stderr telfilter --version
		[[ $output =~ ^telfilter\ \(teltools\)\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
		;;
	core) telfilter -f text --core mpsio.log >/dev/null ;;
	exe)
		# tests/emit/core.bats has cores with their programs
		printf '\177ELF\2\1' >"$BATS_TEST_TMPDIR/cut"
		run -1 telfilter -f text --exe "$BATS_TEST_TMPDIR/cut" --core \
		    "$BATS_TEST_TMPDIR/cut"
		;;
	*)
		echo "no test for --$1"
		return 1
		;;
	esac
}

@test "each option of --help does something" {
	telfilter --help=all | grep -o -e '--[a-z][a-z0-9-]*' | sort -u >options
	[ "$(wc -l <options)" -ge 28 ]
	while read -r option; do
		echo "$option"
		unpack 1.118.0-lii6gc-poolncv
		try "${option#--}"
	done <options
}

@test "each letter is the same option as its long name" {
	telfilter --help=all | grep -o -e '-[A-Za-z], --[a-z-]*' |
	    sed 's/^-\(.\), --/\1 /' >letters
	[ "$(wc -l <letters)" -ge 18 ]
	while read -r letter name; do
		echo "-$letter --$name"
		value=()
		case $name in
		address) value=(0x7f1d0b043010) ;;
		label) value=('CBS*') ;;
		format) value=(csv) ;;
		output) value=(out) ;;
		compress) value=(3) ;;
		kinds) value=(Pool) ;;
		events) value=(Pool*) ;;
		range) value=("0x64613F00000,") ;;
		where) value=('size > 64') ;;
		meta | description) value=(/dev/null) ;;
		after | before | context) value=(2 -e ArenaDestroy) ;;
		limit) value=(3) ;;
		jobs) value=(2) ;;
		esac
		telfilter "-$letter" "${value[@]}" mpsio.log >short.out
		telfilter "--$name" "${value[@]}" mpsio.log >long.out
		cmp short.out long.out
	done <letters
}

@test "-a takes an address, a length or a range, again and again" {
	telcat -H mpsio.log | grep '0x7f1d0b043010\b' >want
	telfilter --bare -a 0x7f1d0b043010 mpsio.txt | sed /^#/d | cmp want -
	telfilter --bare -a 0x7f1d0b043010,+1 mpsio.txt | sed /^#/d | cmp want -
	telfilter --bare -a 0x7f1d0b043010,0x7f1d0b043010 mpsio.txt |
	    sed /^#/d | cmp want -
	telcat -H mpsio.log | grep -e '0x7f1d0b043010\b' -e '0x7f1d0b048010\b' >want
	telfilter --bare -a 0x7f1d0b043010 -a 0x7f1d0b048010 mpsio.txt |
	    sed /^#/d | cmp want -
	expect 2 "telfilter: -a: 'x'*" telfilter -a x mpsio.log
}

@test "-l finds addresses by their labels" {
	unpack 1.118.0-lii6gc-amcss
	telcat -S mpsio.log >text
	grep '\["Control"\]' text >want
	[ "$(wc -l <want)" -gt 100 ]
	telfilter --bare -l Control text | sed /^#/d | cmp want -
	grep '\["C' text >want
	telfilter --bare -l 'C*' text | sed /^#/d | cmp want -
	[ "$(telfilter -c -l 'C*' mpsio.log)" -eq "$(wc -l <want)" ]
}

# same OPTIONS ... // OPTIONS ...: both select the same events, and some.
same() {
	local one=()
	while [ "$1" != // ]; do
		one+=("$1")
		shift
	done
	shift
	clean telfilter -f text "${one[@]}" mpsio.log >one
	clean telfilter -f text "$@" mpsio.log >two
	diff one two
	[ "$(grep -vc '^#' one)" -gt 0 ]
}

@test "labels are tested in order of time, also in logs that are not" {
	local options

	# the quotes are for the tool
	# shellcheck disable=SC2089
	for options in '-l Control' '-w label(pool)=="Control"' \
	    '-v --since label=="Control"'; do
		# shellcheck disable=SC2086,SC2090
		run -0 telfilter -c $options mpsio.log
		# shellcheck disable=SC2086,SC2090
		[ "$output" = "$(telfilter -S -c $options mpsio.log)" ]
		# shellcheck disable=SC2086,SC2090
		[ "$output" != "$(telfilter --file-order -c $options mpsio.log)" ]
	done
	[ "$(telfilter -c -l Control mpsio.log)" = 17 ]
	[ "$(telcat -H -w 'label == "Control"' mpsio.log | wc -l)" = 17 ]
	[ "$(telstat -w 'label == "Control"' mpsio.log |
	    sed -n 's/^events *\([0-9]*\).*/\1/p')" = 17 ]
	telfilter -l Control mpsio.log >control.log
	telcat -S -H control.log | grep '\["Control"\]' | grep ' Pool' >one
	telcat -S -H mpsio.log | grep '\["Control"\]' | grep ' Pool' | cmp one -
	telcat -S mpsio.log >sorted.txt
	[ "$(telfilter -c -l Control sorted.txt)" = 17 ]
	# a text whose lines come in another order
	printf '%016X %s\n' 3 'PoolFinish pool=0x10' \
	    1 'Intern stringId=1 string="foo"' \
	    2 'Label address=0x10 stringId=1' >late.txt
	[ "$(telcat -H late.txt | tail -n 1)" = \
	    '0000000000000003 PoolFinish pool=0x10["foo"]' ]
}

@test "-w again narrows, -e -k -l and -F again add up" {
	same -w 'size >= 40' -w 'name == PoolAlloc || name == PoolFree' // \
	    -w '(name == PoolAlloc || name == PoolFree) && size >= 40'
	same -w 'name == PoolAlloc || name == PoolFree' -w 'size >= 40' \
	    -w 'size < 100' // -w 'size >= 40 && size < 100' -e PoolAlloc,PoolFree
	same -e PoolAlloc -e PoolFree // -e PoolAlloc,PoolFree
	same -e ^PoolAlloc -e ^PoolFree // -e ^PoolAlloc,PoolFree
	same -k Pool -k Seg // -k Pool,Seg
	same -k ' ^Pool' -k ^Seg // -k '^Pool Seg'
	same -S -l 'CBS*' -l 'MF*' // -S -w 'label =* "CBS*" || label =* "MF*"'
	expect 2 "telfilter: -k: '^Seg' cannot be combined with 'Pool': *" \
	    telfilter -k Pool -k ^Seg mpsio.log
	expect 2 "telfilter: -w: 'size >', column 7: *" \
	    telfilter -w 'size > 3' -w 'size >' mpsio.log
	telcat -e PoolAlloc -F size,pool mpsio.log >want
	telcat -e PoolAlloc -F size -F pool mpsio.log | diff want -
}

# Of a run of events an expression is evaluated part by part; with -n, event by
# event.
@test "-w comes to the same for runs of events and for each" {
	local file
	unpack 1.118.0-lii6gc-awlut log
	awk 'BEGIN { for (i = 0; i < 3000; i++)
	    printf "%016x Move delta=%d ratio=%.3f who=\"n%d\" at=%08x[\"L%d\"]\n",
	        1000 + i, i - 1500, (i - 1500) / 8, i % 7, 4096 + i % 5, i % 5
	    }' >moves
	for file in log moves; do
		telcat -f tel $file >$file.tel
		while read -r expr; do
			want=$(telfilter -c --tb-hz 1000 -w "$expr" -n 100000000 $file.tel)
			got=$(telfilter -c -j 1 --tb-hz 1000 -w "$expr" $file.tel)
			echo "$file: $expr: $want, $got"
			[ "$got" = "$want" ]
			[ "$want" -gt 0 ]
		done < <(sed -n "s/^$file //p" <<-'END'
			log size / 1024 >= 4
			log size % 24 == 0 && index % 3 == 1
			log size >> 12 == 1 || size << 2 == 64
			log size ^ 1 == 33 || ~size > 5
			log pool - size < 0 || -size > -100
			log time > 1ms && index > 100
			log label ~ "C.n"
			log label !~ "C.n"
			log label(pool) == "Control" || size == 32
			log has(label) && label != "Control"
			log 1000000 / (size - 4096) < 0
			log sizeof > 40
			moves delta < 0 && delta % 7 == -3
			moves delta / 2 > -10 && delta * delta < 100000
			moves ratio > 12 || ratio / 0 < 1 || -ratio > 100.5
			moves ratio in (0.125, 1.25..4, -3..-1)
			moves delta in (-5..5, 100, ratio * 8)
			moves delta == ratio * 8
			moves who =* "*3" || who ~ "^n[45]$"
			moves who in ("n1", "n5".."n6")
			moves label(at) == "L3" && delta > 0
			moves label ~ "L[12]" && !(who == "n1")
			moves time > 1s && time / 1000000 % 2 == 0
		END
		)
	done
}

@test "--verbose lists the program of each type" {
	local w='size >= 64k && label(pool) ~ "^C" || size % 24 == 0 &&'
	w+=' (index in (1, 3..5) || -pool in (-1, 2.5) || time <= 1s)'
	telfilter -j 1 --verbose -c -w "$w" mpsio.log 2>messages
	sed -n 's/^telfilter: mpsio.log: PoolAlloc: //p' messages >got
	cat >want <<-'EOF'
		0: span size in 65536..18446744073709551615 ? 1 : 2
		1: label pool is as in column 28 ? accept : 2
		2: span size % 24 in 0..0 ? 3 : reject
		3: load index
		4: in set in 1..1, 3..5
		5: test is true ? accept : 6
		6: load pool
		7: compute -
		8: constant 0
		9: constant -1
		10: item
		11: constant 2.5
		12: item
		13: end of list
		14: test is true ? accept : 15
		15: span time in -9223372036854775808..1000000000 ? accept : reject
	EOF
	diff -u want got
	grep -q ' 0 types are selected, [0-9]* are not, [0-9]* have a program$' \
	    messages
	# what the type decides needs none
	telfilter -j 1 --verbose -c -w '(name == PoolAlloc || size > 3) == 1' mpsio.log \
	    2>&1 >/dev/null |
	    grep -q ' 1 types are selected, [0-9]* are not, 13 have a program$'
	telfilter -j 1 --verbose -c -w '(name != PoolAlloc && size > 3) == 1' mpsio.log \
	    2>&1 >/dev/null | grep -q ' 0 types .*, 13 have a program$'
	# by all tools, and by threads, which bind copies
	telcat --verbose -w "$w" mpsio.log 2>&1 >/dev/null |
	    sed -n 's/^telcat: mpsio.log: PoolAlloc: //p' | diff -u want -
	telstat -j 2 --verbose -w "$w" mpsio.log 2>&1 >/dev/null |
	    sed -n 's/^telstat: mpsio.log: PoolAlloc: //p' | diff -u want -
	telfilter --verbose -c --since 'size > 1' -l '*a*' mpsio.log \
	    2>messages >/dev/null
	grep -qx 'telfilter: mpsio.log: since: PoolAlloc: 0: span size in 2.*' \
	    messages
	grep -q ': PoolAlloc: 0: label pool is like "\*a\*" ? accept : ' messages
	telfilter -c -w "$w" mpsio.log 2>&1 >/dev/null | run ! grep PoolAlloc
}

@test "a range of time that ends before it starts is refused" {
	local range
	for range in 2s,1s 100,20 60%,20% 0000064613E31BF2,0000064613E31BF1; do
		expect 2 "telfilter: -t: '$range': the range ends before*" \
		    telfilter -t $range mpsio.log
	done
	telfilter -t 100,100 mpsio.log >out
}

@test "standard input is read once" {
	expect 2 "telfilter: standard input, '-', can be read only once" \
	    telfilter -c - - <mpsio.log
}

@test "-S writes events in order of time, in the format of the log" {
	telcat -S mpsio.log | grep -v '^# tick' >want
	clean telfilter -S mpsio.log >sorted.log
	telcat sorted.log | grep -v '^# tick' | diff want -
	telcat -f tel -o mpsio.tel mpsio.log
	clean telfilter -S mpsio.tel | telcat | grep -v '^# tick' | diff want -
	clean telfilter -S mpsio.txt | grep -v '^#' >sorted
	LC_ALL=C sort -c -k1,1 sorted
	[ "$(wc -l <sorted)" -eq 144 ]
}

@test "context that runs backward in time is reported" {
	run -0 --separate-stderr telfilter --file-order -f text -C 2 -e 'PoolInit*' mpsio.log
	[ "$stderr" = 'telfilter: mpsio.log: the log is not in order of time, so neither is the context; -S sorts the log' ]
	clean telfilter --file-order --quiet -f text -C 2 -e 'PoolInit*' mpsio.log
	clean telfilter -f text -C 2 -e 'PoolInit*' mpsio.log >sorted
	grep -v '^[#-]' sorted | LC_ALL=C sort -c -k1,1
	telfilter -S mpsio.log >sorted.log
	clean telfilter -f text -C 2 -e 'PoolInit*' sorted.log
	# of each log, once
	printf '%s\n' '# teltools text 1' '# format: x' '# type: A 1 K' \
	    '# type: B 2 K' '0000000000000001 A' '0000000000000003 B' \
	    '0000000000000002 A' >back.txt
	sed 's/3 B/2 B/' back.txt >equal.txt
	run -0 --separate-stderr telfilter --file-order --no-merge -f text -C 1 \
	    -e 'A,B' back.txt equal.txt back.txt
	[ "${#stderr_lines[@]}" = 2 ]
	[[ ${stderr_lines[1]} == 'telfilter: back.txt: the log is not in order '* ]]
}

@test "-v is the complement" {
	for filter in '-k Pool' '-e Pool*' '-a 0x7f1d0b043010' '-l CBS*' \
	    '-t 0x64613F00000,' '-w size>64' '-k Pool -e *Init*'; do
		echo "$filter"
		# shellcheck disable=SC2086
		{
			telfilter --bare $filter mpsio.txt
			telfilter --bare -v $filter mpsio.txt
		} | sed /^#/d | sort >both
		sed /^#/d mpsio.txt | sort | cmp - both
	done
}

@test "one filter after another is both" {
	for p in '-k Pool' '-e Pool*' '-w size>64' '-w index%2==0'; do
		for q in '-k Object,Pool' '-w size<1k' '-l CBS*'; do
			echo "$p, $q"
			# shellcheck disable=SC2086
			telfilter --bare $q mpsio.txt | telfilter --bare $p >want
			# an index counts what is read
			case $p in *index*) continue ;; esac
			[[ ${p%% *} != "${q%% *}" || $p == -w* ]] || continue
			if [[ $p == -w* && $q == -w* ]]; then
				telfilter --bare -w "(${p#-w }) && (${q#-w })" mpsio.txt
			else
				# shellcheck disable=SC2086
				telfilter --bare $p $q mpsio.txt
			fi | cmp want -
		done
	done
}

@test "samples" {
	sed /^#/d mpsio.txt >all
	telfilter --every 10 --bare mpsio.txt | sed /^#/d >got
	awk 'NR % 10 == 1' all | cmp - got
	grep ' PoolAlloc ' all | awk 'NR % 3 == 1' | sed -n 2,4p >want
	telfilter --every 3 --skip 1 -n 3 --bare -e PoolAlloc mpsio.txt |
	    sed /^#/d | cmp want -
	# at random, but the same each time, and about as many
	unpack 1.118.0-lii6gc-amcss big.log
	all=$(telfilter -c big.log)
	some=$(telfilter -c --sample 0.25 big.log)
	[ "$some" -gt $((all / 5)) ]
	[ "$some" -lt $((all * 3 / 10)) ]
	[ "$(telfilter -c --sample 25% big.log)" = "$some" ]
	[ "$(telfilter -c --sample 25% --seed 1 big.log)" = "$some" ]
	[ "$(telfilter -c --sample 1 big.log)" = "$all" ]
	[ "$(telfilter -c --sample 100% big.log)" = "$all" ]
	[ "$(telfilter -c --sample 0 big.log)" = 0 ]
	expect 2 "telfilter: --sample: '2': expected a number*" telfilter --sample 2
	expect 2 "telfilter: --every: '0' is not a number*" telfilter --every 0
}

@test "context is as grep has it" {
	sed /^#/d mpsio.txt >all
	for options in '-A 2' '-B 3' '-C 1' '-A 1 -B 4' '-C 0' '-B 200' '-A 200'; do
		for type in PoolAlloc VMInit ArenaDestroy PoolFree Intern; do
			echo "$options $type"
			# shellcheck disable=SC2086
			grep $options " $type " all >want
			# shellcheck disable=SC2086
			telfilter --bare $options -e "$type" all >got
			diff -u want got
		done
	done
	# in a stream without the lines between groups
	grep -C 1 ' PoolAlloc ' all | grep -v '^--' >want
	telfilter --bare -C 1 -e PoolAlloc mpsio.log >out.log
	telcat --as mps-1.118.0 -H out.log | sed 's/\["[^]]*"\]//g' |
	    diff -u <(sed 's/\["[^]]*"\]//g' want) -
	# after the last that is asked for
	grep -m 2 -A 2 ' PoolAlloc ' all >want
	telfilter --bare -n 2 -A 2 -e PoolAlloc all | diff -u want -
	# separators of grep and telfilter are not damage
	telfilter -C 1 -e PoolAlloc mpsio.txt | clean telcat >/dev/null
}

@test "context ends with each log of an archive, as with each file of grep" {
	sed /^#/d mpsio.txt | split -l 40 - m.
	tar cf all.tar m.*
	for options in '-A 2' '-B 3' '-C 1' '-A 1 -B 4' '-B 200' '-A 200'; do
		for type in PoolAlloc VMInit PoolFree Intern; do
			echo "$options $type"
			# grep has a line between files, too, where no line is missing
			# shellcheck disable=SC2086
			grep -h $options " $type " m.* | sed /^--/d >want
			# shellcheck disable=SC2086
			telfilter --no-merge --bare $options -e "$type" all.tar |
			    sed '/^--/d; /^#/d' | diff -u want -
		done
	done
	# so does the order of events that are selected in that of time
	unpack 1.116.0-lii3gc-amcss one
	head -c 150000 one >two
	tar cf both.tar one two
	telfilter -q --no-merge -w 'live > 1000' one two |
	    cmp - <(telfilter -q --no-merge -w 'live > 1000' both.tar)
	# and what is left out at the end of a log is between groups
	telfilter --no-merge --bare -B 40 -e PoolAlloc all.tar | sed /^#/d >got
	awk 'NR % 40 == 1 { held = ""; if (lost) gap = "--\n"; lost = 0 }
	{ held = held $0 "\n"; lost = 1 }
	/ PoolAlloc / { if (shown) printf "%s", gap; printf "%s", held
		held = gap = ""; shown = 1; lost = 0 }' <(sed /^#/d mpsio.txt) |
	    diff -u - got
	# what is held of a log that cannot be written goes with it
	telfilter --no-merge -B 2 -e PoolAlloc mpsio.log >want
	for log in gcc.heaptrack gcc.ltrace; do
		zstd -dqc "$TEL_TOP/tests/data/alloc/$log.zst" >"$log"
		echo "telfilter: $log is not an MPS stream like mpsio.log; they cannot be written as one log"
	done >messages
	exits 1 telfilter --no-merge -B 2 -e PoolAlloc,malloc mpsio.log \
	    gcc.heaptrack gcc.ltrace 2>got >out
	diff messages got
	cmp want out
}

@test "-c counts" {
	pools=$(telcat -H -k Pool mpsio.log | wc -l)
	[ "$(telfilter -c -k Pool mpsio.log)" = "$pools" ]
	[ "$(telfilter -c -k Pool -n 3 mpsio.log)" = 3 ]
	[ "$(telfilter -c -k Pool mpsio.log mpsio.txt)" = $((2 * pools)) ]
	run -0 telfilter -c --no-merge -k Pool mpsio.log mpsio.txt
	[ "$output" = "mpsio.log:$pools"$'\n'"mpsio.txt:$pools" ]
	run -0 telfilter -c --no-merge -k Pool mpsio.log
	[ "$output" = "$pools" ]
	[ "$(telfilter -c -e TraceStart mpsio.log)" = 0 ]
}

@test "-q only answers" {
	run -0 telfilter --any mpsio.log
	run -1 telfilter --any -e TraceStart mpsio.log
	[ -z "$output" ]
	# found counts for more than what failed, as with grep
	run -0 telfilter --any -k Pool none mpsio.log
	run -1 telfilter --any -e TraceStart none mpsio.log
	run -2 telfilter --any -w '1 +' mpsio.log
	head -c 3001 mpsio.log >"cut"
	run -3 telfilter --any -e TraceStart "cut"
	# the rest is not read
	for one in '-k Pool' '-e PoolInitMVFF'; do
		rm -f found
		{
			cat mpsio.log
			await test -e found
		} | {
			# shellcheck disable=SC2086
			telfilter --any $one
			: >found
		}
	done
}

@test "-f shows events as telcat does" {
	for format in text csv json sql mpscnv mpstxt; do
		echo "$format"
		telfilter -f "$format" -k Pool <mpsio.log | sed 's/mpsio.log/-/g' >got
		telcat -f "$format" -k Pool <mpsio.log | sed 's/mpsio.log/-/g' | cmp - got
	done
	expect 2 "telfilter: -f: 'xml' is not one of: *" telfilter -f xml mpsio.log
	# files that it does not make
	for format in sqlite ctf ctf2; do
		expect 2 "telfilter: -f: '$format' is not one of: *" \
		    telfilter -f $format -o out mpsio.log
	done
}

@test "--since and --until: what lies between two events, again and again" {
	unpack 1.118.0-lii6gc-poolncv
	telcat -H -S mpsio.log >all
	awk '/ PoolInit /{open = 1}; open; / PoolFinish /{open = 0}' all >want
	[ "$(wc -l <want)" -gt 5 ]
	[ "$(wc -l <want)" -lt "$(wc -l <all)" ]
	since=(--since 'name == PoolInit')
	clean telcat -H "${since[@]}" --until 'name == PoolFinish' mpsio.log |
	    diff want -
	# not in order of the options, and what is left over by -v
	clean telfilter -v --until 'name == PoolFinish' "${since[@]}" -f text \
	    mpsio.log | grep -v '^#' >got
	sort got want | diff <(sort all) -
	# the other options choose among these
	[ "$(telfilter -c "${since[@]}" -e PoolFinish mpsio.log)" = \
	    "$(sed -n '/ PoolInit /,$p' all | grep -c ' PoolFinish ')" ]
	[ "$(telfilter -c --until 'name == PoolInit' mpsio.log)" = \
	    "$(sed '/ PoolInit /q' all | wc -l)" ]
	# one event that is both is a stretch of its own
	[ "$(telfilter -c "${since[@]}" --until 'kind == Pool' mpsio.log)" = \
	    "$(grep -c ' PoolInit ' all)" ]
	# each member of an archive begins anew
	cp mpsio.log other.log
	tar cf both.tar mpsio.log other.log
	[ "$(telfilter --no-merge -c --until 'name == PoolInit' both.tar)" = \
	    "$((2 * $(sed '/ PoolInit /q' all | wc -l)))" ]
	# and so does each of several files
	[ "$(telfilter --no-merge -f text --until 'name == PoolInit' mpsio.log other.log |
	    grep -vc '^#')" = "$((2 * $(sed '/ PoolInit /q' all | wc -l)))" ]
	[ "$(telfilter --no-merge --since 'name == PoolFinish' -f text mpsio.log other.log |
	    grep -vc '^#')" = "$((2 * $(sed -n '/ PoolFinish /,$p' all | wc -l)))" ]
	[ "$(telfilter -c --until 'name == PoolInit' mpsio.log other.log)" = \
	    "$(telcat -HS --until 'name == PoolInit' mpsio.log other.log | wc -l)" ]
	expect 2 "telfilter: --since: 'name =', column 6: *" telfilter --since 'name =' mpsio.log
	expect 2 "telfilter: --until: 'name =', column 6: *" \
	    telfilter --since 'index == 1' --until 'name =' mpsio.log
	# known when the log is read
	expect 2 "telfilter: *--until: 'nosuch == 1', column 1: *" \
	    telfilter --since 'index == 1' --until 'nosuch == 1' mpsio.log
	expect 2 "telfilter: *--since: 'nosuch == 1', column 1: *" \
	    telfilter --since 'nosuch == 1' --until 'index == 1' mpsio.log
	expect 2 "telfilter: --until: 'name == Foo', column 9: *" \
	    telfilter --until 'name == Foo' mpsio.log
}

@test "options for which the order of events matters count as they write" {
	local option
	unpack 1.118.0-lii6gc-poolncv
	unpack 1.117.0-lii6gc-poolncv other.log
	while read -r option; do
		# shellcheck disable=SC2086 # the words of an option
		set -- -q $option -k Pool,Seg mpsio.log
		clean telfilter -u -f text "$@" >each
		clean telfilter -f text "$@" | cmp each -
		if [[ $option != -[ABC]* ]]; then
			clean telfilter "$@" | telcat -k Pool,Seg |
			    grep -v '^#' | cmp <(grep -v '^#' each) -
			[ "$(telfilter -c "$@")" = "$(grep -vc '^#' each)" ]
		fi
		telfilter --any "$@"
		# by file, too, if they are not merged
		# shellcheck disable=SC2086
		if [[ $option != *-n* && $option != *-s* ]]; then
			telfilter -c --no-merge $option -k Pool,Seg mpsio.log \
			    other.log >counts
			for log in mpsio.log other.log; do
				printf '%s:%d\n' $log "$(telfilter -c $option \
				    -k Pool,Seg $log)"
			done | diff - counts
		fi
	done <<-'END'
		-n 7
		--skip 7
		--skip 3 -n 9
		--every 3
		--sample 0.3 --seed 5
		-A 1
		-B 2
		-C 1 -n 5
		--since name==PoolInit --until name==PoolFinish
	END
}

@test "-k: bits of a number are the first 64 kinds" {
	{
		echo '# teltools text 1'
		for i in {0..66}; do echo "# type: T$i $i K$i"; done
		for i in {0..66}; do echo "000000000000000$((i % 9)) T$i"; done
	} >kinds
	while read -r number names; do
		telfilter --bare -k "$number" kinds | sed -n 's/^0[^ ]* //p' |
		    sort -V | paste -sd ' ' | diff - <(echo "$names")
	done <<-'END'
		1 T0
		2 T1
		6 T1 T2
		0x8000000000000001 T0 T63
	END
}

@test "-w: many patterns of one label, of which each has its own result" {
	unpack 1.118.0-lii6gc-poolncv log
	local e='has(label(pool))' i
	want=$(telfilter -c -w "$e" log)
	[ "$want" -gt 20 ]
	# more than there is room for results
	for i in {1..40}; do
		e+=" && label(pool) ~ \"C|x$i\" && !(label(pool) ~ \"z$i\")"
	done
	[ "$(telfilter -c -w "$e" log)" = "$want" ]
}
