#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# What users set for all their commands: TELTOOLS_CONFIG and TELTOOLS_PAGER.

# "run --separate-stderr" sets stderr
# shellcheck disable=SC2154,SC2030,SC2031

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	unpack 1.118.0-lii6gc-poolncv
	export TELTOOLS_CONFIG=$BATS_TEST_TMPDIR/conf
}

@test "the options of the file come before those of the command line" {
	printf '# mine\n\n telcat  --format=csv \r\ntelcat -n2\nall --quiet' >conf
	telcat mpsio.log >got
	telcat --no-config -f csv -n 2 -q mpsio.log >want
	cmp want got
	telcat -f json -n 3 mpsio.log >got
	[ "$(wc -l <got)" = 3 ]
	telcat --no-config mpsio.log >got
	grep -q '^# teltools text' got
	TELTOOLS_CONFIG='' telcat mpsio.log >got
	grep -q '^# teltools text' got
	head -c 3001 mpsio.log >cut.log
	run -3 --separate-stderr telstat cut.log
	[ -z "$stderr" ]
}

@test "the argument of an option is the rest of the line, as it is" {
	printf 'telstat -s sizes=log2(size) if name == "PoolAlloc" \n' >conf
	telstat mpsio.log >got
	telstat --no-config -s 'sizes=log2(size) if name == "PoolAlloc"' \
	    mpsio.log >want
	cmp want got
	echo 'telcat --sort mpsio.log' >conf
	expect 2 "telcat: $PWD/conf: line 1: the option takes no argument *" \
	    telcat mpsio.log
}

@test "an option for all tools is left out where a tool does not have it" {
	printf 'all --quantiles=0.25\nall -H\n' >conf
	telcat mpsio.log >got
	[ "$(head -c 1 got)" != '#' ]
	telstat -s 's=quantiles(size)' mpsio.log | grep -q '25'
}

@test "an option of the file is left out where the command line has no place for it" {
	printf 'telcat %s\n' '-T s' -H '--csv wide' '--max-size 1M' '--holder a' \
	    '-F size' '--index size' '--weight peak' >conf
	local format options
	while read -r format options; do
		telcat -f "$format" mpsio.log >got
		# shellcheck disable=SC2086 # a list of options
		telcat --no-config -f "$format" $options mpsio.log >want
		cmp want got
	done <<-END
		tel
		perfetto
		html --max-size=1M --holder=a
		folded --weight=peak
		json -T s -H -F size
	END
	expect 2 "telcat: -H cannot be combined with -f tel" telcat -H -f tel mpsio.log
	printf 'telstat --top 3\ntelstat --quantiles 0.5' >conf
	[ "$(telstat -c mpsio.log)" = "$(telcat --no-config -c mpsio.log)" ]
	expect 2 "telstat: -c cannot be combined with --top" telstat -c --top 4 mpsio.log
	expect 2 "telstat: -c cannot be combined with -g" telstat -c -g size mpsio.log
}

@test "after -- everything is a file, --no-config too" {
	echo 'telcat -f csv' >conf
	cp mpsio.log ./--no-config
	telcat -- --no-config | head -n 1 | grep -q '^clock,kind,type,fields'
}

@test "mistakes in the file are reported with its line, and nothing is read" {
	printf '\ntelcat sort\n' >conf
	expect 2 "telcat: $PWD/conf: line 2: expected a tool and an option, *" \
	    telcat mpsio.log
	echo 'telcat --sorted' >conf
	expect 2 "telcat: unknown option '--sorted'; did you mean '--sort', *" \
	    telcat mpsio.log
	TELTOOLS_CONFIG=nowhere expect 2 \
	    'telcat: nowhere: TELTOOLS_CONFIG: No such file or directory' \
	    telcat mpsio.log
	TELTOOLS_CONFIG=. expect 2 'telcat: .: TELTOOLS_CONFIG: *' \
	    telcat mpsio.log
	printf 'telcat -H\0\n' >conf
	expect 2 "telcat: $PWD/conf: TELTOOLS_CONFIG: *" telcat mpsio.log
	for ((i = 0; i < 257; i++)); do echo 'telcat -H'; done >conf
	expect 2 "telcat: $PWD/conf: line 257: more options than 256" telcat mpsio.log
	head -c 70000 /dev/zero | tr '\0' '#' >conf
	expect 2 "telcat: $PWD/conf: TELTOOLS_CONFIG: *" telcat mpsio.log
	# a pipe is read, unless nobody writes to it
	[ "$(TELTOOLS_CONFIG=<(sleep 0.1; echo telcat -c) telcat mpsio.log)" = \
	    "$(telcat --no-config -c mpsio.log)" ]
	mkfifo pipe
	TELTOOLS_CONFIG=pipe expect 2 "telcat: pipe: TELTOOLS_CONFIG: *" \
	    timeout 20 telcat mpsio.log
}

@test "on a terminal the pager shows what a tool prints, in colour" {
	needs_terminal
	export TELTOOLS_CONFIG='' TELTOOLS_PAGER='sed s/^/P:/' TERM=xterm
	run -0 timeout 60 script -qec 'telcat -n 2 mpsio.log' /dev/null
	[[ ${lines[0]} == 'P:# teltools text'* ]]
	[[ $output == *$'\033'* ]]
	run -0 timeout 60 script -qec 'telstat mpsio.log' /dev/null
	[[ ${lines[0]} == P:* ]]
	# a user who leaves the pager early makes no error message
	TELTOOLS_PAGER='head -n 1' run timeout 60 \
	    script -qec 'telcat -H mpsio.log' /dev/null
	[ "${#lines[@]}" = 1 ]
	TELTOOLS_PAGER=/nonexistent/pager run -1 timeout 60 \
	    script -qec 'telcat -n 1 mpsio.log' /dev/null
	[[ $output == *'the pager could not be run'* ]]
}

@test "without a terminal there is no pager" {
	export TELTOOLS_CONFIG='' TELTOOLS_PAGER='sed s/^/P:/'
	telcat mpsio.log >got
	run ! grep -q '^P:' got
	telcat -o got mpsio.log
	run ! grep -q '^P:' got
}
