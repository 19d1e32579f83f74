#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The options of telstat: each does something; mistakes; exit statuses.

# "run --separate-stderr" sets stderr; a word may be a file name elsewhere
# shellcheck disable=SC2154,SC2094

load lib

SIZES='sizes=log2(size)'

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	unpack 1.118.0-lii6gc-poolncv
}

# differs OPTION ...: an option changes what is printed: of the report, or,
# after "--of ARGUMENTS ... --", of what the arguments ask for.
differs() {
	local base=()
	if [ "$1" = --of ]; then
		shift
		while [ "$1" != -- ]; do
			base+=("$1")
			shift
		done
		shift
	fi
	telstat "${base[@]}" mpsio.log >plain
	clean telstat "${base[@]}" "$@" mpsio.log >changed
	run ! cmp -s plain changed
}

# What the option must do, by its long name.
try() {
	case $1 in
	stat)
		differs --stat "$SIZES"
		grep -q '^sizes  (log2)  bytes$' changed
		;;
	groups)
		differs --of -s "$SIZES" -- --groups kind
		grep -q '^sizes{kind=Object}  (log2)' changed
		;;
	interval)
		differs --of -s "$SIZES" -- --interval 100us
		[ "$(grep -c '^== ' changed)" -eq 5 ]
		;;
	deltas) differs --of -i 100us -- --deltas ;;
	count) [ "$(telstat --count mpsio.log)" = 144 ] ;;
	sort) differs --of -s 'k=tally(size,2)' -- --sort ;;
	live)
		unpack 1.111.0-lii6gc-poolncv
		differs --of -s 'k=tally(size,2)' -- --live
		;;
	report)
		differs --of -s "$SIZES" -- --report
		grep -q '^type .*events/s$' changed
		;;
	rate)
		differs --rate=ms
		grep -q '/ms$' changed
		differs --of -s "$SIZES" -- --rate
		grep -q ' rate 72,355.3/s$' changed
		;;
	top)
		differs --top 3
		grep -q 'pool (3 of 4' changed
		differs --of --report=types -- --top 3
		grep -q '^<other> ' changed
		differs --of -s 'k=tally(size,9)' -- --top 2
		grep -q '^ *<other> ' changed
		;;
	key-order)
		differs --of -s 'k=tally(size,9)' -- --key-order=key
		sed -n 's/^ *\([0-9][0-9]*\)  .*|$/\1/p' changed | sort -cn
		differs --of -s 'k=tally(size,99)' -- --key-order count
		differs --of -s 'k=tally(size,99)' -- --key-order first
		clean telstat -s 'k=tally(size,99)' --key-order=-count mpsio.log |
		    cmp plain -
		;;
	quantiles)
		differs --of -s "$SIZES" -- --quantiles 0,0.25,.5,1
		grep -q '^  p0 <= 15  p25 <= 63  p50 <= 63  p100 <= 131071$' changed
		;;
	density) differs --of -s "$SIZES" -- --density ;;
	zeros) differs --of -s "$SIZES" -- --zeros ;;
	utf8) differs --of -s "$SIZES" -- --utf8 ;;
	log) differs --of -f svg -s 'h=hist(size,0,9k,1k)' -- --log ;;
	raw)
		differs --raw
		run ! grep -E '[0-9],[0-9]|KiB' changed
		;;
	width)
		differs --of -s "$SIZES" -- --width 60
		run ! grep -E '.{61}' changed
		;;
	prefix)
		differs --of -f openmetrics -- --prefix tel_
		run ! grep -E '^inst_' changed
		;;
	max-groups)
		differs --of -g size -s 'n=growth(1)' -- --max-groups 2
		grep -q '^n{<overflow>}  (growth)$' changed
		;;
	max-open)
		differs --of -s 'd=dur(PoolAlloc,PoolFree,pool)' -- --max-open 1
		grep -q ' over_limit [1-9]' changed
		;;
	max-memory)
		differs --of -s 'k=tally(index,1M)' -- --max-memory 4k
		grep -q ' overflow [1-9]' changed
		;;
	format) differs --format json ;;
	compress) telstat --compress 3 mpsio.log | zstd -dcq | cmp - <(telstat mpsio.log) ;;
	output)
		telstat --output out mpsio.log
		[ -s out ]
		;;
	as)
		telstat --as mps mpsio.log >/dev/null
		run -3 telstat --as text mpsio.log
		telstat -f inst mpsio.log >part
		telstat --report=types mpsio.log >plain
		gzip part
		telstat --report=types --as inst part.gz | cmp plain -
		;;
	kinds)
		differs --kinds pool
		grep -q '^Pool  *28  100.0%' changed
		;;
	events)
		differs --report=types --events PoolAlloc
		grep -q '^PoolAlloc .* 100.0%' changed
		;;
	range) differs --range ,50% ;;
	where) differs --where 'size > 100' ;;
	meta) run -1 telstat --meta /dev/null "$TEL_TOP/tests/data/hpm/v3be/HPM.1.startup" ;;
	description | contracts)
		"$TEL_BUILD/tests/test_ets" --make "$TEL_TOP/tests/data/ets/good-boot.txt" boot.ets
		printf '{\n' >bad.tmf
		run -0 telstat "--$1" /dev/null boot.ets
		run -1 telstat "--$1" bad.tmf boot.ets
		;;
	tb-hz) telstat --tb-hz 1000 "$TEL_TOP/tests/data/hpm/v3be/HPM.1.startup" | grep -q '^span.* s ' ;;
	each)
		run -0 telstat -s '@=mag(@)' --each 'siz*,poo?' mpsio.log
		[[ $output == *'pool  (mag)'* && $output == *'size  (mag)'* ]]
		printf '%016X Run code=7\n' 1 2 | telstat -f csv -s '@=mag(@)' \
		    --each code | grep -qx ',code,mag,sum,,,,14,'
		;;
	alloc) differs --alloc 'ArenaAlloc(ptr=base,size=size)' ;;
	free) differs --free 'ArenaAlloc(ptr=base,size=size)' ;;
	realloc) differs --realloc 'ArenaAlloc(ptr=base,old=base,size=size)' ;;
	since) differs --since 'name == PoolInit' ;;
	until) differs --until 'name == PoolInit' ;;
	jobs)
		# tests/cli/cores.bats compares what threads print
		telstat --jobs 3 mpsio.log >three
		telstat --jobs 1 mpsio.log | cmp - three
		;;
	limit)
		differs --limit 7
		grep -q '^events  7' changed
		;;
	skip)
		differs --skip 7
		grep -q '^events  137 ' changed
		;;
	strict)
		head -c 3001 mpsio.log >"cut"
		run -3 telstat cut
		run -1 --separate-stderr telstat --strict cut
		[ "$(grep -c 'inside an event' <<<"$stderr")" -eq 1 ]
		[[ $stderr == "telstat: cut: offset "* ]]
		run -1 --separate-stderr telstat --strict -q cut
		[[ $stderr == "telstat: cut: "*'inside an event'* ]]
		;;
	force)
		# EventInit is the first event, and major its first field
		printf '\011' | dd of=mpsio.log bs=1 seek=16 conv=notrunc status=none
		run -1 telstat mpsio.log
		run -0 telstat --force mpsio.log
		;;
	progress)
		run -0 --separate-stderr telcat --progress mpsio.log
		[[ $stderr == *'events/s'*100%* ]]
		;;
	color)
		differs --color
		differs --color=always
		grep -q $'\033' changed
		clean telstat --color=never mpsio.log | cmp plain -
		;;
	no-config)
		# tests/cli/config.bats has more
		echo "telstat --nonsense" >conf
		TELTOOLS_CONFIG=conf telstat --no-config mpsio.log >/dev/null
		;;
	no-sandbox)
		# tests/cli/sandbox.bats has more
		telstat --no-sandbox mpsio.log | cmp - <(telstat mpsio.log)
		;;
	file-order)
		telstat -w 'has(label)' mpsio.log >one
		telstat --file-order -w 'has(label)' mpsio.log >two 2>warning
		run ! cmp one two
		grep '^telstat: mpsio.log: labels, .* depend on the order' warning
		telstat --file-order mpsio.log 2>warning | sed -n 1p
		[ ! -s warning ]
		;;
	no-merge)
		telstat -n 50 mpsio.log mpsio.log >one
		telstat -n 50 --no-merge mpsio.log mpsio.log >two
		run ! cmp one two
		;;
	quiet)
		head -c 3001 mpsio.log >"cut"
		run -3 --separate-stderr telstat --quiet cut
		[ -z "$stderr" ]
		;;
	verbose)
		telcat -H mpsio.log >text
		clean telstat text >/dev/null
		run -0 --separate-stderr telstat --verbose text
		[ -n "$stderr" ]
		;;
	help)
		run -0 --separate-stderr telstat --help
		[ -z "$stderr" ]
		[ "${#lines[@]}" -le 60 ]
		run ! grep -E '.{80}' <<<"$output"
		;;
	version)
		run -0 --separate-stderr telstat --version
		[[ $output =~ ^telstat\ \(teltools\)\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
		;;
	stacks)
		# tests/cli/stacks.bats has more
		telstat -q --stacks "$TEL_TOP/tests/data/alloc/perl.mtrace.zst" |
		    grep -q 'Perl_safesysmalloc'
		;;
	blocks)
		# tests/spec/blocks.bats has more
		telstat --blocks=size -f csv \
		    "$TEL_TOP/tests/data/alloc/perl.mtrace.zst" |
		    grep -q '^[0-9]*,,key,allocations,,,[0-9]*,'
		;;
	min-age)
		run -2 telstat --min-age 1ms mpsio.log
		telstat --blocks=size --min-age 1000h --tb-hz 1000 -f json \
		    "$TEL_TOP/tests/data/alloc/perl.mtrace.zst" |
		    grep -q '"leaked_blocks":0,'
		;;
	self-trace)
		# tests/emit/self_trace.bats reads what it writes
		telstat --self-trace self.tel mpsio.log >/dev/null
		[ -s self.tel ]
		;;
	core) telstat --core mpsio.log >/dev/null ;;
	exe)
		# tests/emit/core.bats has cores with their programs
		printf '\177ELF\2\1' >"$BATS_TEST_TMPDIR/cut"
		run -1 telstat --exe "$BATS_TEST_TMPDIR/cut" --core \
		    "$BATS_TEST_TMPDIR/cut"
		;;
	*)
		echo "no test for --$1"
		return 1
		;;
	esac
}

@test "each option of --help does something" {
	telstat --help=all | grep -o -e '--[a-z][a-z0-9-]*' | sort -u >options
	[ "$(wc -l <options)" -gt 30 ]
	while read -r option; do
		echo "$option"
		unpack 1.118.0-lii6gc-poolncv
		try "${option#--}"
	done <options
	try color
}

@test "a usage error is reported, and nothing is read: exit 2" {
	expect 2 "telstat: unknown option '-x'" telstat -x mpsio.log
	expect 2 "telstat: -f: 'xml' is not one of: text, csv, json, arrow, openmetrics, prometheus, svg, html, inst" \
	    telstat -f xml mpsio.log
	expect 2 "telstat: -s: 'x', column 2: *" telstat -s x mpsio.log
	expect 2 "telstat: -s: 'x=histo(1)', column 3: expected a class: *; did you mean 'hist'?" \
	    telstat -s 'x=histo(1)' mpsio.log
	expect 2 "telstat: -s: 'x=avg(1)', column 3: expected a class: *; did you mean 'mean'?" \
	    telstat -s 'x=avg(1)'
	expect 2 "telstat: -s: 'x=p99(1)', column 3: expected a class: *; did you mean 'quantiles'?" \
	    telstat -s 'x=p99(1)'
	expect 2 "telstat: -s: 'x=foo(1)', column 3: expected a class: count, *" \
	    telstat -s 'x=foo(1)' mpsio.log
	expect 2 "telstat: -s: 'x=hist(size,0,10,0)', column 18: *" \
	    telstat -s 'x=hist(size,0,10,0)' mpsio.log
	expect 2 "telstat: -s: 'x=hist(size,0,65537,1)', *" \
	    telstat -s 'x=hist(size,0,65537,1)' mpsio.log
	expect 2 "telstat: -s: 'x=mag(size +)', column *" \
	    telstat -s 'x=mag(size +)' mpsio.log
	expect 2 "telstat: -s: *" telstat -s "$SIZES" -s "$SIZES" mpsio.log
	for class in count distinct tally log2 loglin; do
		expect 2 "telstat: -s: 'x=$class(real(size))', column *: $class() takes no real()" \
		    telstat -s "x=$class(real(size))" mpsio.log
	done
	expect 2 "telstat: -s: *: the high exponent must be above the low one" \
	    telstat -s 'x=loglin(size,10,2,2,10)' mpsio.log
	for option in -i1s -c --self-trace=x; do
		name=${option%%[1=]*}
		expect 2 "telstat: diff cannot be combined with $name" \
		    telstat diff "$option" mpsio.log mpsio.log
	done
	expect 2 "telstat: -g: 'size +', column 7: *" telstat -g 'size +'
	expect 2 "telstat: -g: *: at most 8 arguments are allowed" \
	    telstat -g "$(seq -s, 9)" mpsio.log
	expect 2 "telstat: 'x=mag(bogus)', column 7: no event type has a field 'bogus'" \
	    telstat -s 'x=mag(bogus)' mpsio.log
	run -2 --separate-stderr telstat -s 'x=mag(bogus)' mpsio.log mpsio.log
	[ "$stderr" = "telstat: 'x=mag(bogus)', column 7: no event type has a field 'bogus'" ]
	expect 2 "telstat: -w: 'bogus == 1', column 1: *" \
	    telstat -w 'bogus == 1' mpsio.log
	for time in 0 10 64k; do
		expect 2 "telstat: -i: '$time' has no unit; expected ${time}ms, or ${time}ticks of the log's clock" \
		    telstat -i "$time" mpsio.log
	done
	for time in 0ticks yticks 0s x -1s 1.2.3s; do
		expect 2 "telstat: -i: '$time': expected a time, such as 100ms, or a number of ticks, such as 100ticks" \
		    telstat -i "$time" mpsio.log
	done
	for form in openmetrics prometheus; do
		expect 2 "telstat: -i with -f $form requires -o FILE, which each interval replaces" \
		    telstat -i 1s -f "$form" mpsio.log
		expect 2 "telstat: --deltas cannot be combined with -f $form" \
		    telstat --deltas -i 1s -f "$form" -o x mpsio.log
	done
	expect 2 "telstat: --deltas requires -i" telstat --deltas mpsio.log
	expect 2 "telstat: --deltas cannot be combined with -f inst" \
	    telstat --deltas -i 1s -f inst mpsio.log
	expect 2 "telstat: --top: '0' is not a number of rows from 1 *" \
	    telstat --top 0
	expect 2 "telstat: --key-order: 'x' is not one of: -count, count, key, first" \
	    telstat --key-order x
	expect 2 "telstat: --rate: 'h' is not one of: s, ms" telstat --rate=h
	for list in 1.1 x '' '.5,,' .5x 2; do
		expect 2 "telstat: --quantiles: '$list': expected a list of at most 32 *" \
		    telstat --quantiles "$list"
	done
	expect 2 "telstat: --width: '39' is not a number of columns from 40 to 1000" \
	    telstat --width 39
	expect 2 "telstat: --prefix: 'a:b': expected letters, digits and '_'" \
	    telstat --prefix a:b
	expect 2 "telstat: --max-groups: '0' is not a number of groups *" \
	    telstat --max-groups 0
	expect 2 "telstat: --as: 'x' is not a format, release or platform" \
	    telstat --as x
	for option in -s=$SIZES -i=1s -g=kind --report --report=types --top=3 \
	    --deltas --rate --quantiles=0.5 --key-order=key --each=size \
	    --min-age=1s --stacks --blocks=size; do
		name=${option%%=*}
		value=()
		if [[ $option != --* ]]; then
			value=("${option#*=}")
			option=$name
		fi
		expect 2 "telstat: -c cannot be combined with $name" \
		    telstat -c "$option" "${value[@]}" mpsio.log
	done
	[ "$(telstat -c -f json mpsio.log)" = "$(telcat -c -f json mpsio.log)" ]
	expect 2 "telstat: --blocks: dt cannot be the key of blocks" \
	    telstat --blocks 'dt > 1ms' mpsio.log
	expect 2 "telstat: --min-age requires --stacks or --blocks" \
	    telstat --min-age 1s mpsio.log
	expect 2 "telstat: --each requires a spec with '@' in its name, and vice versa" \
	    telstat --each size mpsio.log
	expect 2 "telstat: --each requires a spec with '@' in its name, and vice versa" \
	    telstat -s '@=mag(@)' mpsio.log
	expect 2 "telstat: --each: no numeric field of the log matches 'zzz'" \
	    telstat --each zzz -s '@=mag(@)' mpsio.log
	for option in -o --self-trace; do
		expect 2 "telstat: mpsio.log: the output would overwrite this input" \
		    telstat "$option" mpsio.log mpsio.log
	done
	expect 2 "telstat: x: --self-trace: the report would overwrite the trace" \
	    telstat --self-trace x -o x mpsio.log
	[ ! -e x ]
	clean telstat --self-trace /dev/null -o /dev/null mpsio.log
	cp mpsio.log same.log
	for output in mpsio.log same.log; do
		expect 2 "telstat: $output: the output would overwrite this input" \
		    telstat diff -o "$output" mpsio.log same.log
	done
	cmp mpsio.log same.log
}

@test "-g and --each join their lists" {
	unpack 1.118.0-lii6gc-poolncv
	telstat -q -g kind -g name -s 'n=count()' mpsio.log |
	    cmp - <(telstat -q -g kind,name -s 'n=count()' mpsio.log)
	telstat -q --each size --each 'arena*' -s '@=max(@)' mpsio.log |
	    cmp - <(telstat -q --each 'size,arena*' -s '@=max(@)' mpsio.log)
}

@test "what cannot be read is reported, and the rest is counted: exit 1" {
	expect 1 "telstat: nosuch: No such file or directory" telstat nosuch
	telstat mpsio.log >want
	run -1 --separate-stderr telstat nosuch mpsio.log
	[ "$stderr" = "telstat: nosuch: No such file or directory" ]
	diff want <(sed '/^damage  1 incomplete run$/d; /^ *incomplete 1$/d' \
	    <<<"$output")
	[[ $output == *"damaged 0"*"incomplete 1" ]]
	: >empty
	expect 1 "telstat: empty: no events: the file is empty" telstat empty
	telcat -H -e '^EventClockSync' mpsio.log >text
	run -1 --separate-stderr telstat -i 1s -s "$SIZES" text
	[ "$stderr" = "telstat: -i: the log does not record the rate of its clock" ]
	[[ $output == *'weight 33 '* ]]
	# by ticks it can be done
	clean telstat -i 100kticks -s "$SIZES" text | grep -q '^== at 102,400 ticks'
	printf '%s\n' '# teltools text 1' '# type: m 1 K a:address s:unsigned' \
	    '# role: m alloc a s -' '0000000000000001 m a=0x10 s=8' >rateless.txt
	run -1 --separate-stderr telstat --blocks s --min-age 1ms rateless.txt
	[ "$stderr" = "telstat: --min-age: the log does not record the rate of its clock" ]
	clean telstat --blocks s --min-age 1ms --tb-hz 1000 rateless.txt
}

@test "an output that is full is reported, in every form: exit 1" {
	for form in text csv json openmetrics prometheus svg inst; do
		run -1 --separate-stderr bash -c \
		    "telstat -f $form mpsio.log >/dev/full"
		[ "$stderr" = "telstat: standard output: No space left on device" ]
		expect 1 "telstat: /dev/full: No space left on device" \
		    telstat -f "$form" -o /dev/full mpsio.log
	done
	# in the middle as well
	expect 1 "telstat: /dev/full: No space left on device" \
	    telstat -i 10us -o /dev/full mpsio.log
}

@test "a reader that goes away ends it without a message" {
	run -0 --separate-stderr bash -c \
	    'set -o pipefail; (trap "" PIPE; telstat -i 1us -f csv mpsio.log
	    echo $? >status) | head -n 1'
	[ -z "$stderr" ]
	[ "$(cat status)" -eq 1 ]
}

@test "damage is counted, reported and shown: exit 3" {
	{
		head -c 2000 mpsio.log
		head -c 100 /dev/zero
		tail -c +2001 mpsio.log
	} >bad
	for form in text csv json openmetrics prometheus svg inst; do
		run -3 --separate-stderr telstat -f "$form" bad
		[[ $stderr == *'damaged place'* ]]
	done
	run -3 --separate-stderr telstat bad
	grep -E '^damage  1 damaged place  [0-9]+ bytes skipped' <<<"$output"
	run -3 --separate-stderr telstat -f svg bad
	grep -q 'class="note".*damaged' <<<"$output"
	# what it counted is what telcat shows
	run -3 --separate-stderr telcat -H bad
	count=${#lines[@]}
	run -3 --separate-stderr telstat --raw bad
	[[ $output == *$'\n'"events  $count"* ]]
}

@test "a narrow page leaves out shares of bytes, then kinds, then bytes" {
	for width in 61 54 46 45; do
		telstat --report=types --width "$width" mpsio.log
	done | grep '^type ' | tr -s ' ' | diff -u - <(
		echo type kind events share bytes share events/s
		echo type kind events share bytes events/s
		echo type events share bytes events/s
		echo type events share events/s
	)
	# a column that is not shown makes no room
	printf '%016X Run n=1\n' 1 2 >runs
	sed '1i # teltools text 1\n# type: Run 5 AKindWithAVeryLongNameIndeed n:unsigned' \
	    runs | telstat --width 48 | grep '^kind' | tr -s ' ' |
	    grep -qx 'kind events share'
}

@test "the page is as wide as the terminal, within reason" {
	needs_terminal
	telstat -s "$SIZES" --width 100 mpsio.log >want
	COLUMNS=100 TERM=dumb noted script -qec "telstat -s '$SIZES' mpsio.log" \
	    /dev/null </dev/null | tr -d '\r' | cmp want -
	TERM=dumb noted script -qec "stty cols 100; telstat -s '$SIZES' mpsio.log" \
	    /dev/null </dev/null | tr -d '\r' | cmp want -
	telstat -s "$SIZES" --width 160 mpsio.log >want
	TERM=dumb noted script -qec "stty cols 999; telstat -s '$SIZES' mpsio.log" \
	    /dev/null </dev/null | tr -d '\r' | cmp want -
	# output that is not a terminal has 80 columns
	COLUMNS=100 telstat --report -s "$SIZES" mpsio.log >got
	run ! grep -E '.{81}' got
	grep -E '.{78}' got
}
