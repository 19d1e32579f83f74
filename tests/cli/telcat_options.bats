#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The options of telcat: each does something.

# "run --separate-stderr" sets stderr; a word may be a file name elsewhere
# shellcheck disable=SC2154,SC2094

load lib

ETS=$TEL_TOP/tests/data/ets

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	unpack 1.118.0-lii6gc-poolncv
}

# differs OPTION ...: the option changes what is printed of a log.
differs() {
	telcat mpsio.log >plain
	clean telcat "$@" mpsio.log >changed
	run ! cmp -s plain changed
}

# What the option must do, by its long name.
try() {
	case $1 in
	count) [ "$(telcat --count mpsio.log)" = 144 ] ;;
	sort)
		unpack 1.111.0-lii6gc-amcss
		telcat -q mpsio.log >plain
		telcat -q --sort mpsio.log >changed
		run ! cmp -s plain changed
		sed /^#/d changed | LC_ALL=C sort -c
		unpack 1.118.0-lii6gc-poolncv
		;;
	live)
		# the default of logs of the MPS
		telcat --live mpsio.log | cmp - <(telcat mpsio.log)
		run ! cmp -s <(telcat --file-order mpsio.log) \
		    <(telcat --live --file-order mpsio.log)
		;;
	fields) differs --fields pool,size ;;
	no-header)
		differs --no-header
		run ! grep '^#' changed
		;;
	types) differs --types ;;
	meta-set)
		telcat -f tel --meta-set host=box mpsio.log >meta.tel
		telcat meta.tel >meta.txt
		grep -q '^# meta: host box$' meta.txt
		;;
	index)
		telcat -f sql --index pool,time mpsio.log | sqlite3 index.db
		sqlite3 index.db .indexes | grep -q INDEX_PoolAlloc.pool
		;;
	max-labels)
		run -0 --separate-stderr telcat --max-labels 3 mpsio.log
		[[ $stderr == *'too many strings or labels'* ]]
		;;
	format) differs --format json ;;
	compress) telcat --compress 3 mpsio.log | zstd -dcq | cmp - <(telcat mpsio.log) ;;
	output)
		telcat --output out mpsio.log
		[ -s out ]
		;;
	as) run ! telcat --as text mpsio.log ;;
	kinds) differs --kinds pool ;;
	events) differs --events PoolAlloc ;;
	range) differs --range 0x64613F00000, ;;
	where) differs --where 'name == PoolAlloc' ;;
	no-config)
		# tests/cli/config.bats has more
		echo "telcat --nonsense" >conf
		TELTOOLS_CONFIG=conf telcat --no-config mpsio.log >/dev/null
		;;
	no-sandbox)
		# tests/cli/sandbox.bats has more
		telcat --no-sandbox mpsio.log | cmp - <(telcat mpsio.log)
		;;
	file-order)
		telcat -H -w 'has(label)' mpsio.log >one
		telcat -H --file-order -w 'has(label)' mpsio.log >two
		run ! cmp -s one two
		;;
	no-merge)
		unpack 1.117.0-lii6gc-poolncv two.log
		telcat -H mpsio.log two.log >merged
		telcat -H --no-merge mpsio.log two.log >both
		cmp both <(telcat -H mpsio.log && telcat -H two.log)
		run ! cmp -s merged both
		# in order of time more labels are in force
		cmp <(sed 's/\["[^]]*\]//g' merged | sort) \
		    <(sed 's/\["[^]]*\]//g' both | sort)
		;;
	meta)
		cp "$TEL_TOP/tests/data/hpm/v3be/HPM.1.startup" trace
		telcat --meta "$TEL_TOP/tests/data/hpm/v3be/HPM.headerFile" trace \
		    >named
		grep -q 'caller=345\["' named
		;;
	tb-hz)
		telcat -H -T s --tb-hz 1000 -n 2 \
		    "$TEL_TOP/tests/data/hpm/v3be/HPM.1.startup" >seconds
		grep -q '^0\.000000000 ' seconds
		;;
	description)
		"$TEL_BUILD/tests/test_ets" --make "$ETS/good-boot.txt" boot.ets
		telcat --description "$ETS/guide.tmf" boot.ets >described
		grep -q ' Old ' described
		telcat boot.ets >plain
		run ! cmp -s described plain
		;;
	contracts)
		"$TEL_BUILD/tests/test_ets" --make "$ETS/good-boot.txt" boot.ets
		telcat --contracts "$ETS/contracts.tmf" boot.ets >named
		grep -q 'MessageTag=67\["KeyboardDeviceContract.Exp/SendAckKey"\]' named
		;;
	jobs)
		# tests/cli/cores.bats compares what threads print
		telcat --jobs 3 mpsio.log >three
		telcat --jobs 1 mpsio.log | cmp - three
		;;
	limit) differs --limit 1 ;;
	alloc | free | realloc)
		# counters of live bytes follow them
		telcat -q -f chrome mpsio.log >plain
		case $1 in
		alloc) role='ptr=base,size=size' ;;
		free) role='ptr=base' ;;
		realloc) role='ptr=base,old=baseTract,size=size' ;;
		esac
		telcat -q -f chrome "--$1" "ArenaAlloc($role)" mpsio.log >changed
		run ! cmp -s plain changed
		;;
	weight)
		telcat -f folded --weight count \
		    "$TEL_TOP/tests/data/alloc/perl.mtrace.zst" >weighted
		grep -q ':(Perl_safesysmalloc+26) 173$' weighted
		;;
	split)
		telcat --split 1k -f csv -o 'part-%02d.csv' mpsio.log
		[ -s part-00.csv ]
		;;
	max-size)
		telcat -f html --max-size 128k -o small.html mpsio.log
		[ "$(wc -c <small.html)" -le 131072 ]
		;;
	holder)
		log=$TEL_TOP/tests/data/alloc/gcc.heaptrack.zst
		telcat -q -f html "$log" >plain
		telcat -q -f html --holder ^0x19d "$log" >changed
		run ! cmp -s plain changed
		;;
	csv) differs --csv wide ;;
	skip) differs --skip 1 ;;
	time) differs --time relative ;;
	unbuffered)
		events=$(telcat -H mpsio.log | wc -l)
		flows "$events" mpsio.log telcat -H --unbuffered
		# of what -u writes at once no other option is the cause
		for options in -H '-f json' '-f mps' '-S -H'; do
			read -ra words <<<"$options"
			count=$(writes telcat -u "${words[@]}" mpsio.log)
			echo "$options: $count"
			[ "$count" -ge "$events" ]
			[ "$(writes telcat "${words[@]}" mpsio.log)" -lt "$events" ]
		done
		# of the native format, a block when no more input is pending
		telcat -f tel -u mpsio.log >blocks
		telcat -f tel mpsio.log | cmp - blocks
		;;
	strict)
		head -c 3001 mpsio.log >"cut"
		run -3 telcat cut
		run -1 --separate-stderr telcat --strict cut
		[ "$(grep -c 'inside an event' <<<"$stderr")" -eq 1 ]
		[[ $stderr == "telcat: cut: offset "* ]]
		run -1 --separate-stderr telcat --strict -q cut
		[[ $stderr == "telcat: cut: "*'inside an event'* ]]
		;;
	force)
		# EventInit is the first event, and major its first field
		printf '\011' | dd of=mpsio.log bs=1 seek=16 conv=notrunc status=none
		run -1 telcat mpsio.log
		run -0 telcat --force mpsio.log
		;;
	progress)
		run -0 --separate-stderr telcat --progress mpsio.log
		[[ $stderr == *'events/s'*100%* ]]
		;;
	color)
		differs --color
		differs --color=always
		grep -q $'\033' changed
		clean telcat --color=never mpsio.log >changed
		cmp plain changed
		;;
	quiet)
		head -c 3001 mpsio.log >"cut"
		run -3 --separate-stderr telcat --quiet cut
		[ -z "$stderr" ]
		;;
	verbose)
		telcat -H mpsio.log >text
		clean telcat text >/dev/null
		run -0 --separate-stderr telcat --verbose text
		[ -n "$stderr" ]
		;;
	since) differs --since 'name == PoolInit' ;;
	until) differs --until 'name == PoolInit' ;;
	help)
		run -0 --separate-stderr telcat --help
		[ -z "$stderr" ]
		[ "${#lines[@]}" -le 50 ]
		run ! grep -E '.{80}' <<<"$output"
		;;
	version)
		run -0 --separate-stderr telcat --version
		[[ $output =~ ^telcat\ \(teltools\)\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
		;;
	core) telcat --core mpsio.log >/dev/null ;;
	exe)
		# tests/emit/core.bats has cores with their programs
		printf '\177ELF\2\1' >"$BATS_TEST_TMPDIR/cut"
		run -1 telcat --exe "$BATS_TEST_TMPDIR/cut" --core \
		    "$BATS_TEST_TMPDIR/cut"
		;;
	*)
		echo "no test for --$1"
		return 1
		;;
	esac
}

@test "each option of --help does something" {
	telcat --help=all | grep -o -e '--[a-z][a-z0-9-]*' | sort -u >options
	[ "$(wc -l <options)" -gt 20 ]
	while read -r option; do
		echo "$option"
		unpack 1.118.0-lii6gc-poolncv
		try "${option#--}"
	done <options
}

@test "each letter is the same option as its long name" {
	telcat --help=all | sed -n 's/^  -\(.\), --\([a-z-]*\)[ [].*/\1 \2/p' >letters
	[ "$(wc -l <letters)" -ge 12 ]
	while read -r letter name; do
		echo "-$letter --$name"
		value=()
		case $name in
		fields) value=(pool) ;;
		format) value=(csv) ;;
		output) value=(out) ;;
		compress) value=(3) ;;
		kinds) value=(Pool) ;;
		events) value=('Pool*') ;;
		range) value=('10%,20%') ;;
		where) value=('name == PoolAlloc') ;;
		meta | description) value=(/dev/null) ;;
		limit) value=(7) ;;
		jobs) value=(2) ;;
		time) value=(delta) ;;
		esac
		telcat "-$letter" "${value[@]}" mpsio.log >one
		telcat "--$name" "${value[@]}" mpsio.log >two
		cmp one two
	done <letters
}

@test "options may follow operands, and -- ends them" {
	telcat -f json mpsio.log >want
	telcat mpsio.log -f json >got
	cmp want got
	cp mpsio.log ./-f
	telcat -f json -- -f >got
	cmp want got
}

@test "similar words are suggested: exit 2" {
	expect 2 "telcat: -T: 'tcks' is not one of: *; did you mean 'ticks'?" \
	    telcat -T tcks mpsio.log
	expect 2 "telcat: --help: 'al' is not one of: all, table; did you mean 'all'?" \
	    telcat --help=al
	expect 2 "telcat: --as: 'hmp' is not a format, release or platform; did you mean 'hpm'?" \
	    telcat --as hmp mpsio.log
	expect 2 "telcat: --weight: 'peek' is not one of: *; did you mean 'peak'?" \
	    telcat -f folded --weight peek mpsio.log
	expect 2 "telreplay: --order: 'egdes' is not one of: *; did you mean 'edges'?" \
	    telreplay --order egdes mpsio.log
	expect 2 "telreplay: -a: 'jmalloc' is not one of: *; did you mean 'jemalloc'*" \
	    telreplay -a jmalloc mpsio.log
	expect 2 "telreplay: -f: 'jsn' is not one of: *; did you mean 'json'?" \
	    telreplay -f jsn mpsio.log
	expect 2 "telstat: -f: 'svgg' is not one of: *; did you mean 'svg'?" \
	    telstat -f svgg mpsio.log
	expect 2 "telstat: *no type PoolInt; did you mean 'PoolInit'?" \
	    telstat -s 'a=dur(PoolInt,PoolFinish)' mpsio.log
	expect 2 "telcat: mpsio.log: no event type has a field 'siz'; did you mean 'size'?" \
	    telcat -F siz mpsio.log
	expect 2 "telcat: 0.csv: no event type has a field 'siz'; did you mean 'size'?" \
	    telcat --split 1k -f csv -o %d.csv -F siz mpsio.log
	# a log that has no times is not a mistake in the name of a field
	printf '%016d A n=1\n' 1 2 >n.text
	for form in s ns iso; do
		for options in '' '-F n' '-f arrow -F n' '--split 1k -f csv -o %d.csv -F n'; do
			# shellcheck disable=SC2086
			run -1 telcat -T $form $options n.text
		done
	done
	# a single letter is near to any other
	expect 2 "telcat: --holder cannot be combined with -f csv" \
	    telcat -f csv --holder x mpsio.log
	expect 2 "telcat: --holder: *" \
	    telcat -f html --holder '(' mpsio.log
	expect 2 "telcat: -T: 'x' is not one of: ticks, s, ns, relative, delta, iso" \
	    telcat -T x mpsio.log
	printf 'telcat --sort\ntelcta --quiet\n' >conf
	TELTOOLS_CONFIG=conf expect 2 \
	    "telcat: conf: line 2: expected all, telcat, telfilter, telstat or telreplay" \
	    telcat mpsio.log
}

@test "a usage error is reported, and nothing is read: exit 2" {
	expect 2 "telcat: unknown option '-x'" telcat -x mpsio.log
	expect 2 "telcat: unknown option '-x'" telcat --strict -xS mpsio.log
	expect 2 "telcat: unknown option '--nonsuch'" telcat --nonsuch
	expect 2 "telcat: ambiguous option '--s': --split, --since, --skip, --sort, --strict" \
	    telcat --s
	expect 2 "telcat: ambiguous option '--no=x': --no-header, *" telcat --no=x
	expect 2 "telcat: option '-n' needs an argument" telcat -n
	expect 2 "telcat: option '--limit' needs an argument" telcat --limit
	expect 2 "telcat: option takes no argument: '--sort=x'" telcat --sort=x
	for pair in x =x ''; do
		expect 2 "telcat: --meta-set: expected KEY=VALUE, found '$pair'" \
		    telcat --meta-set "$pair" -f tel mpsio.log
	done
	for pair in A=x 'a b=x' a_b=x "$(printf 'k%.0s' {1..256})=x"; do
		expect 2 "telcat: --meta-set $pair: a key consists of *" \
		    telcat --meta-set "$pair" -f tel mpsio.log
	done
	expect 2 "telcat: -n: '12x' is not a number of events" \
	    telcat -n 12x mpsio.log
	expect 2 "telcat: -n: '--1' is not a number of events" telcat -n --1
	expect 2 "telcat: -n: '' is not a number of events" telcat -n ''
	expect 2 "telcat: -n: '0x' is not a number of events" telcat -n 0x
	expect 2 "telcat: -n: '18446744073709551616' is not a number*" \
	    telcat -n 18446744073709551616
	expect 2 "telcat: -n: '18014398509481984k' is not a number*" \
	    telcat -n 18014398509481984k
	expect 2 "telcat: --max-labels: '0' is not a number of labels from 1 to 1073741824" \
	    telcat --max-labels 0
	expect 2 "telcat: -f: 'xml' is not one of: text, csv, json, sql, mpscnv, mpstxt, tracerpt, perfetto, chrome, folded, sqlite, arrow, html, ctf, ctf2, mps:VERSION, inst, hpm, ets, tel, tel,lines" \
	    telcat -f xml
	expect 2 "telcat: --max-size cannot be combined with -f csv" \
	    telcat -f csv --max-size 1M mpsio.log
	expect 2 "telcat: -T: 'x' is not one of: ticks, s, ns, relative, delta, iso" \
	    telcat -T x
	expect 2 "telcat: --color: 'x' is not one of: auto, always, never" \
	    telcat --color=x
	expect 2 "telcat: --as: 'x' is not a format, release or platform" \
	    telcat --as x
	expect 2 "telcat: -k: 'Bogus', column 1: unknown kind 'Bogus'" \
	    telcat -k Bogus mpsio.log
	expect 2 "telcat: -e: 'PoolAllok', column 1: unknown event type 'PoolAllok'; did you mean 'PoolAlloc'?" telcat -e PoolAllok mpsio.log
	expect 2 "telcat: -w: 'sizes > 1', column 1: no event type has a field \
'sizes'; did you mean 'size'*" telcat -w 'sizes > 1' mpsio.log
	expect 2 "telcat: -w: '1 +', column 4: *" telcat -w '1 +'
	expect 2 "telcat: -e: *" telcat -e ,
	for range in 5 1,2,3 'x,' ,1.2.3s '101%,' '1%2,' '1d,' ,1e3 '.s,' '-5%,'; do
		expect 2 "telcat: -t: '$range'*" telcat -t "$range"
	done
	for format in sql mpscnv mpstxt perfetto chrome folded html; do
		expect 2 "telcat: -F cannot be combined with -f $format" \
		    telcat -F pool -f "$format" mpsio.log
		expect 2 "telcat: -T cannot be combined with -f $format" \
		    telcat -T ns -f "$format" mpsio.log
		expect 2 "telcat: --types cannot be combined with -f $format" \
		    telcat --types -f "$format" mpsio.log
	done
	for option in -H --types; do
		expect 2 "telcat: $option cannot be combined with -f arrow" \
		    telcat "$option" -f arrow mpsio.log
	done
}

@test "-k selects kinds by name in any case, by bits, and all but some" {
	telcat -H mpsio.log >all
	telcat -H -k Pool mpsio.log >pool
	[ -s pool ]
	telcat -H -k 'pOOL' mpsio.log | cmp pool -
	telcat -H -k 2 mpsio.log | cmp pool -
	telcat -H -k 0x2 mpsio.log | cmp pool -
	telcat -H -k ALL mpsio.log | cmp all -
	telcat -H -k ^Pool mpsio.log >rest
	sort pool rest | cmp <(sort all) -
	telcat -H -k 'Pool Object' mpsio.log >both
	telcat -H -k 34 mpsio.log | cmp both -
	telcat -H -k Pool,Object mpsio.log | cmp both -
}

@test "-e selects types by name, pattern and code, and all but some" {
	telcat -H mpsio.log >all
	grep ' PoolAlloc ' all >want
	telcat -H -e PoolAlloc mpsio.log | cmp want -
	telcat -H -e 0x2A mpsio.log | cmp want -
	telcat -H -e 42 mpsio.log | cmp want -
	grep -E ' (Pool|Gen)' all >want
	telcat -H -e 'Pool*,Gen*' mpsio.log | cmp want -
	grep -vE ' (Pool|Gen)' all >want
	telcat -H -e '^Pool*,Gen*' mpsio.log | cmp want -
	# a code that is in no table may well be in a log
	clean telcat -H -e 0x1F4 mpsio.log >none
	[ ! -s none ]
}

@test "-t takes a clock, ticks, time and percent, both ends included" {
	telcat -H mpsio.log >all
	awk '$1 >= "0000064613F15000" && $1 <= "0000064613F28A38"' all >want
	[ "$(wc -l <want)" -gt 10 ]
	telcat -H -t 0000064613F15000,0000064613F28A38 mpsio.log | cmp want -
	telcat -H -t 0x64613F15000,0x64613F28A38 mpsio.log | cmp want -
	# ticks count from the first event, by default in order of time
	telcat -H -t 0x64613E2FE98,0x64613F28A38 mpsio.log >want
	telcat -H -t 0,1018784 mpsio.log | cmp want -
	telcat -H -t ,1018784 mpsio.log | cmp want -
	telcat --file-order -H -t 0x64613E31BF2,0x64613F28A38 mpsio.log >want
	telcat --file-order -H -t 0,1011270 mpsio.log | cmp want -
	telcat --file-order -H -t ,1011270 mpsio.log >got
	grep -c Intern got
	[ "$(wc -l <got)" -gt "$(wc -l <want)" ]
	telcat --file-order -H -t -7514,1011270 mpsio.log | cmp got -
	# the whole is its halves
	telcat -H -t 0%,100% mpsio.log | cmp all -
	telcat -H -t , mpsio.log | cmp all -
	telcat -H -t ,50% mpsio.log >half
	[ "$(wc -l <half)" -lt 144 ]
	[ "$(wc -l <half)" -gt 10 ]
	# from the file's descriptor, whatever precedes it
	telcat -H -t ,50% <mpsio.log | cmp half -
}

@test "-t in seconds selects what -T shows" {
	telcat -H -S -T ns mpsio.log >all
	awk '$1 >= 100000 && $1 <= 250000' all >want
	telcat -H -S -T ns -t 100us,250us mpsio.log | cmp want -
	telcat -H -S -T ns -t 0.0001s,.00025s mpsio.log | cmp want -
	telcat -H -S -T ns -t 100000ns,0.25ms mpsio.log | cmp want -
}

@test "-t in percent needs a file, -t in seconds a clock" {
	run -1 --separate-stderr bash -c 'cat mpsio.log | telcat -t 1%,'
	[ "$stderr" = "telcat: standard input: -t in percent requires a file that can be read twice" ]
	telcat -H -e '^EventClockSync' mpsio.log >text
	expect 1 "telcat: text: -t: the log does not record the rate of its clock" \
	    telcat -H -t 1s, text
	# the next file is read all the same
	run -1 --separate-stderr telcat -H --no-merge -t 0s, text mpsio.log
	[ "${#lines[@]}" -gt 100 ]
	# merged, it is none that is left out silently, whichever comes first
	telfilter --no-merge -f tel mpsio.log text >two.tel
	for tool in telcat telstat; do
		for logs in 'mpsio.log text' 'text mpsio.log'; do
			read -ra logs <<<"$logs"
			run -1 --separate-stderr "$tool" -t 0s, "${logs[@]}"
			[ "$stderr" = "$tool: -t: one of the logs does not record the rate of its clock" ]
		done
		run -1 --separate-stderr "$tool" -t 0s, two.tel
		[ "$stderr" = "$tool: two.tel: -t: the log does not record the rate of its clock" ]
	done
}

@test "--skip and -n count what is selected" {
	telcat -H -k Object mpsio.log | sed -n 3,5p >want
	telcat -H -k Object --skip 2 -n 3 mpsio.log | cmp want -
	telcat -H -n 0 mpsio.log >none
	[ ! -s none ]
	[ "$(telfilter -c --skip 2 -n 0 mpsio.log)" = 0 ]
	telstat -q --skip 2 -n 0 -s 'n=count()' mpsio.log | grep -x '  updates 0'
	# over all files
	telcat -H -n 200 mpsio.log mpsio.log | wc -l | grep -x 200
	telcat -H --skip 200 mpsio.log mpsio.log | wc -l | grep -x 88
	telcat -H -n 1k mpsio.log | wc -l | grep -x 144
}

@test "-T shows time in each of its forms" {
	telcat -H -T ticks mpsio.log >ticks
	telcat -H mpsio.log | cmp ticks -
	# events that are held back know labels that come later in the log
	unlabel() { cut -d' ' -f2- "$1" | sed 's/\["[^]]*"\]//g'; }
	for form in s ns relative delta; do
		clean telcat -H -T "$form" mpsio.log >"$form"
		# nothing but the time has changed
		unlabel ticks >want
		unlabel "$form" | cmp want -
	done
	[[ $(head -n 1 s) == '0.000000000 Intern '* ]]
	[[ $(sed -n 2p s) == '0.000002862 EventInit '* ]]
	[[ $(head -n 1 ns) == '0 Intern '* ]]
	[[ $(head -n 1 relative) == '0 Intern '* ]]
	[[ $(sed -n 2p relative) == '7514 EventInit '* ]]
	[[ $(telcat --file-order -H -T relative mpsio.log | sed -n 2p) == '-7514 Intern '* ]]
	[[ $(sed -n 3p delta) == '116090 EventClockSync '* ]]
	# 2,625,237,164 ticks are a second
	awk '{ getline r <"relative"; split(r, a, " ")
	    d = $1 - a[1] / 2.6252371638
	    if (d > 1 || d < -1) exit 1 }' ns
	expect 1 "telcat: mpsio.log: the log does not record the wall clock" \
	    telcat -T iso mpsio.log
}

@test "-S puts any log into order of time, and loses nothing" {
	for name in 1.111.0-lii6gc-poolncv 1.111.0-lii6gc-amcss \
	    1.115.0-lii3gc-amcss 1.118.0-lii6gc-poolncv; do
		unpack "$name"
		telcat -H -f mpscnv mpsio.log | LC_ALL=C sort -s -k1,1 >want
		telcat -S -f mpscnv mpsio.log >got
		cmp want got
	done
}

@test "--live gives the same events, in order of time but for a few" {
	unpack 1.117.0-lii6gc-poolncv
	telcat -H -S -f mpscnv mpsio.log | LC_ALL=C sort >want
	telcat -H --live -f mpscnv mpsio.log | LC_ALL=C sort | cmp want -
}

@test "-F shows the fields that are asked for, in their order" {
	telcat --file-order -H -e PoolAlloc -F size,pool -n 1 mpsio.log >got
	echo '0000064613F33DE2 PoolAlloc size=32 pool=0x7f1d0b372dc0' | cmp - got
	telcat --file-order -f csv -e PoolAlloc,PoolFree -F old,size -n 2 mpsio.log >got
	printf '%s\n' clock,type,old,size \
	    6898052206110,PoolFree,0x7f1d0b043010,32 \
	    6898052185570,PoolAlloc,,32 | cmp - got
}

@test "--types counts types of one code in several logs each by itself" {
	printf '%s\n' '# teltools text 1' '# format: x' '# type: A 1 K u:unsigned' \
	    '0000000000000001 A u=1' '0000000000000002 A u=1' >one.txt
	sed 's/ A/ B/' one.txt >two.txt
	sed 's/u:unsigned/u:string/; s/u=1/u="a"/' one.txt >three.txt
	cp one.txt four.txt
	tar cf logs.tar one.txt two.txt three.txt four.txt
	cat one.txt two.txt three.txt one.txt >all.txt
	for logs in 'three.txt two.txt one.txt one.txt' logs.tar all.txt; do
		# shellcheck disable=SC2086 # several names
		telcat -H --types $logs | awk '{ print $2, $5, $6 }' |
		    diff - <(printf '%s\n' '2 A u:string' '4 A u:unsigned' \
		        '2 B u:unsigned')
	done
}

@test "--types keeps to the width of a terminal" {
	needs_terminal
	telcat --types --verbose mpsio.log >want
	for columns in 40 80 100 400; do
		run -0 timeout 60 script -qec \
		    "stty cols $columns; telcat --types --verbose mpsio.log" \
		    /dev/null
		tr -d '\r' <<<"$output" >got
		# the same words, and of the columns none is cut
		diff <(tr -s '[:space:]' '\n' <want) <(tr -s '[:space:]' '\n' <got)
		grep -v '^#' got >rows
		run ! grep -q ' $' got
		# the first field of a line has no room in the one before
		awk -v n="$columns" '/^    / && was && was + 1 + length($1) <= n {
		    exit 1 } { was = /^    / ? length($0) : 0 }' rows
		[ "$columns" = 40 ] ||
		    [ "$(wc -L <rows)" -le "$columns" ]
	done
	# wide enough: as in a file
	diff want got
}

@test "--types lists each release, one release, or what a log holds" {
	telcat --types >all
	telcat --types -f csv --verbose | run ! grep $'\r'
	for release in 1.111.0 1.112.0 1.113.0 1.114.0 1.115.0 1.116.0 \
	    1.117.0 1.118.0; do
		telcat --types -H --as "mps-$release" >one
		grep -F "mps-$release " all | cmp - one
		[ "$(wc -l <one)" -gt 50 ]
	done
	telcat --types -H -k Trace --as mps-1.118.0 >one
	run ! grep -v ' Trace ' one
	telcat --types -H mpsio.log >got
	telcat -H mpsio.log | cut -d' ' -f2 | sort | uniq -c |
	    awk '{ print $2, $1 }' >want
	awk '{ print $5, $2 }' got | sort | cmp want -
	grep -qx 'mps-1.118.0/lii6gc  *16 0x002A Object PoolAlloc  *pool:pointer pReturn:address size:unsigned' got
	# two logs of one release are counted together
	# standard input, if it is a log; else all that is built in
	telcat --types -H <mpsio.log | cmp - got
	zstd -qc mpsio.log | telcat --types -H | cmp - got
	: | telcat --types | cmp - all
	telcat --types </dev/null | cmp - all
	telcat --types -H --as mps-1.118.0 <mpsio.log | wc -l | grep -qx 92
	telcat --types -H -e PoolAlloc mpsio.log mpsio.log |
	    awk '{ print $2 }' | grep -x 32
}

@test "-F takes names with blanks around them" {
	for format in text csv json arrow; do
		telcat -f $format -e PoolAlloc -F pool,size mpsio.log >want
		telcat -f $format -e PoolAlloc -F ' pool , size' mpsio.log | cmp - want
	done
	[ "$(telcat -f csv -n 1 -F 'size, size / 2' mpsio.log | head -n 1)" = \
	    'clock,type,size,size / 2' ]
	expect 2 'telcat: -F: empty field name' telcat -F 'pool, ,size' mpsio.log
	expect 2 'telcat: -F: duplicate field name' telcat -F 'size, size' mpsio.log
}

@test "--types --verbose describes types and fields of every release" {
	telcat --types -H --verbose --as mps-1.118.0 -e ArenaPollEnd >got
	printf '%s\n' '#   an arena has been polled for work to do' \
	    '#     arena                arena that was polled' \
	    '#     workWasDone          any collection work done in poll?' |
	    diff - <(tail -n +2 got)
	telcat --types -H --as mps-1.118.0 -e ArenaPollEnd | diff - <(head -n 1 got)
	# what the codes mean
	telcat --types -H --verbose --as mps-1.116.0 -e AMCTraceEnd |
	    grep -q '^#  *why  *why the trace started: generation 0 .*, extension$'
	telcat --types -f csv --verbose --as mps-1.111.0 -e AMCInit |
	    grep -qx 'mps-1.111.0,0x0003,Pool,AMCInit,pool:pointer amc:pointer,"an AMC pool is initialised; pool: the pool; amc: the AMC pool, which it is part of"'
	# of a type that has none, those of the fields
	telcat --types -f csv --verbose -e shop.Tick \
	    "$TEL_TOP/tests/data/jfr/g1-17.jfr.zst" | grep -q ',duration: Duration'
	# no type of the MPS and no field of one is without
	telcat --types -f json | grep '"schema":"mps-' >types
	python3 -c 'import json, sys
for line in open("types"):
    t = json.loads(line)
    assert t["doc"], line
    assert all(f["doc"] for f in t["fields"]), line'
}

@test "--types shows metadata, escaped" {
	telcat --meta-set $'host=a \x01\x7f\xc3\xa9~' -f tel mpsio.log >meta.tel
	# shellcheck disable=SC1003
	[ "$(telcat --types meta.tel | head -n 1)" = \
	    '# meta: host a \x01\x7f\xc3\xa9~' ]
	telcat --types -H meta.tel | run ! grep meta
}

@test "--types as CSV and JSON" {
	telcat --types -f csv mpsio.log >csv
	telcat --types -f json mpsio.log >json
	python3 - <<-'END'
		import csv, json
		rows = list(csv.DictReader(open('csv', newline='')))
		objects = [json.loads(line) for line in open('json')]
		assert len(rows) == len(objects) > 10
		for row, o in zip(rows, objects):
		    assert row['name'] == o['name'] and row['kind'] == o['kind']
		    assert int(row['count']) == o['count']
		    assert int(row['code'], 16) == o['code']
		    assert row['fields'] == ' '.join(
		        f['name'] + ':' + f['datatype'] for f in o['fields'])
	END
}

@test "--types quotes what a log calls its schema, kinds and fields" {
	cat >named.text <<-'END'
		# teltools text 1
		# format: x"y,z
		# version: 1.0.0
		# type: ab 1 Al"l,oc x\x3ay:unsigned z:string
		0000000000000001 ab x\x3ay=1 z="q"
	END
	telcat -f tel named.text >named.tel
	telcat --types -f csv --verbose named.tel >csv
	telcat --types -f json named.tel >json
	python3 - <<-'END'
		import csv, json
		row, = csv.DictReader(open('csv', newline=''))
		line, = map(json.loads, open('json'))
		assert row['schema'] == line['schema'] == 'x"y,z', line
		assert row['kind'] == line['kind'] == 'Al"l,oc', line
		assert row['fields'] == 'x\\x3ay:unsigned z:string', row
		assert [f['name'] for f in line['fields']] == ['x\\x3ay', 'z'], line
		assert row['doc'] == ''
	END
}

@test "--force: a newer major version stops, or is reported once" {
	printf '\011' | dd of=mpsio.log bs=1 seek=16 conv=notrunc status=none
	run -1 --separate-stderr telcat -H mpsio.log
	[[ $stderr == 'telcat: mpsio.log: '*'version 9.0.0'*'(--force reads on)' ]]
	run -0 --separate-stderr telcat --force -H mpsio.log
	[ "${#lines[@]}" -eq 144 ]
	[ "${#stderr_lines[@]}" -eq 1 ]
}

@test "--max-labels bounds what is held" {
	run -0 --separate-stderr telcat -S -H --max-labels 1 mpsio.log
	[ "${#lines[@]}" -eq 144 ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ $stderr == 'telcat: mpsio.log: too many strings or labels'* ]]
}

@test "-c prints no number where the log lacks a name" {
	zstd -dcq "$TEL_TOP/tests/data/jfr/g1-17.jfr.zst" >log
	for tool in telcat telfilter telstat; do
		for option in '-e Foo' '-w foo' '-k Foo' '-n 3 -w foo'; do
			# shellcheck disable=SC2086
			run -2 --separate-stderr $tool -c $option log
			[ -z "$output" ]
			[[ $stderr == *"oo'"* ]]
		done
		[ "$($tool -c -e jdk.GarbageCollection log)" = 10 ]
	done
}

@test "-k takes kinds that have blanks" {
	cat >log <<-'END'
		# teltools text 1
		# type: A 1 "Java Application" n:unsigned
		# type: B 2 "Java VM/GC" n:unsigned
		# type: C 3 "Java VM/GC/Phases" n:unsigned
		# type: D 4 VM n:unsigned
		0000000000000001 A n=1
		0000000000000002 B n=1
		0000000000000003 C n=1
		0000000000000004 D n=1
	END
	while IFS='|' read -r kinds want; do
		[ "$(telcat -H -k "$kinds" log | cut -d' ' -f2 |
		    tr -d '\n')" = "$want" ]
	done <<-'END'
		Java Application|A
		java application|A
		^Java Application|BCD
		Java Application,VM|AD
		 Java VM/GC , Java Application|AB
		Java VM/GC*|BC
		*GC*|BC
		VM|D
	END
	[ "$(telfilter -c -k 'Java Application' -k VM log)" = 2 ]
	# words of several kinds are several kinds
	printf '# teltools text 1\n# type: A 1 X\n# type: B 2 Y\n%s\n' \
	    '0000000000000001 A' '0000000000000002 B' >two
	[ "$(telcat -c -k 'X Y' two)" = 2 ]
	run -2 --separate-stderr telcat -k 'Java Aplication' log
	[[ $stderr == *"column 1: unknown kind 'Java'"* ]]
	# also where a later log alone has it
	[ "$(telcat -c -k 'Java Application' two log)" = 1 ]
}
