#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The worked examples of tel-emit(3) and tel-class(3) are built and run.

bats_require_minimum_version 1.5.0
load "${TEL_TOP:-$BATS_TEST_DIRNAME/../..}/tests/environment"

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	page=$TEL_TOP/man/tel-emit.3
	read -ra flags <<<"$CFLAGS $LDFLAGS"
}

# The displays of the page, one after the other.
displays() {
	awk '/^\.Ed/ { on = 0 } on { gsub(/\\e/, "\\"); print }
	    /^\.Bd -literal/ { on = 1 }' "$page"
}

# The program that comes first in them, as ./NAME.
build_example() {
	displays | sed '/^\$/,$d' >"$1.c"
	$CC "${flags[@]}" -Wall -Wextra -Wno-missing-field-initializers \
	    -Werror -std=c11 -I "$TEL_TOP/include" -o "$1" "$1.c" \
	    "$TEL_BUILD/libtel-emit.a" -pthread
}

# The functions that a header declares, each once.
functions_of() {
	tr '\n\t' '  ' <"$TEL_TOP/include/$1" |
	    grep -oE 'TEL_EMIT_API [^;{]*;' |
	    grep -oE '\btel_[a-z][a-z_]*\(' | tr -d '(' | sort -u
}

@test "the example of tel-emit(3) compiles, runs, and does what it says" {
	build_example shop
	grep -q TEL_EVENTS_DEFINE shop.c
	displays | sed -n 's/^\$ //p' >commands
	[ "$(wc -l <commands)" = 3 ]
	run -0 --separate-stderr bash -e commands
	echo "$output"
	[ -z "$stderr" ]
	[ "$(grep -c ',Ada' <<<"$output")" = 3 ]
	[ "$(grep -c ' Refill pieces=[0-9]* ' <<<"$output")" = 3 ]
	run -0 telcat -e Sale shop.tel
	[[ $output == *'["the first basket"] cents'* ||
	    $output == *'["the first basket"] price=200 customer="Ada"'* ]]
	run -0 telcat -e Refill shop.tel
	[[ $output != *pieces=10* ]]
}

@test "a program loads two libraries that each have libtel-emit.a" {
	cat >load.c <<-'END'
		#include <dlfcn.h>
		#include <stdio.h>
		int main(int argc, char **argv)
		{
			for (int i = 1; i < argc; i++)
				if (dlopen(argv[i], RTLD_NOW) == NULL)
					return puts(dlerror());
			return 0;
		}
	END
	$CC "${flags[@]}" -o load load.c -ldl
	for i in 1 2; do
		$CC "${flags[@]}" -shared -fPIC -o "$i.so" -Wl,--whole-archive \
		    "$TEL_BUILD/libtel-emit.a" -Wl,--no-whole-archive -pthread
	done
	run -0 ./load ./1.so ./2.so
	# and may load one often: it has few keys of data of threads
	cat >often.c <<-'END'
		#include <dlfcn.h>
		#include <pthread.h>
		int main(void)
		{
			pthread_key_t key;
			for (int i = 0; i < 1100; i++) {
				void *l = dlopen("./1.so", RTLD_NOW);
				((const char *(*)(void))dlsym(l,
				    "tel_emit_error"))();
				dlclose(l);
			}
			return pthread_key_create(&key, NULL);
		}
	END
	$CC "${flags[@]}" -o often often.c -ldl -pthread
	run -0 ./often
}

@test "tel-emit(3) names every function of tel_emit.h" {
	functions_of tel_emit.h >functions
	[ "$(wc -l <functions)" -gt 35 ]
	while read -r name; do
		echo "$name"
		grep -q "^\.Fn $name\b" "$page"
	done <functions
}

@test "the example of tel-class(3) compiles, runs, and does what it says" {
	page=$TEL_TOP/man/tel-class.3
	build_example disk
	displays | sed -n 's/^\$ //p' >commands
	[ "$(wc -l <commands)" = 3 ]
	run -0 --separate-stderr bash -e commands
	echo "$output"
	[ -z "$stderr" ]
	grep -A1 '^Disk:Cache:Hits  (growth)$' <<<"$output" |
	    grep -q 'updates 750  total 750'
	grep -A2 '^Disk:Size  (hist)  bytes$' <<<"$output" | tr -d '\n' |
	    grep -q 'updates 1,000 .* over 180'
	grep -A2 '^Disk:Read  (dur)  ns$' <<<"$output" |
	    grep -q 'events 2,000  pairs 1,000'
	[ "$(grep -c ' Start path="Disk:Search" ' <<<"$output")" = 1 ]
	grep -q ' End path="Disk:Search" .* text="block 7 of swap" ' \
	    <<<"$output"
}

@test "tel-class(3) names every function of tel_class.h, and those of 1997" {
	page=$TEL_TOP/man/tel-class.3
	functions_of tel_class.h >functions
	[ "$(wc -l <functions)" = 28 ]
	while read -r name; do
		echo "$name"
		grep -qE "^\.Fn $name\b" "$page"
	done <functions
	# each of the 25 calls is a function of ours
	sed -n 's/^\.It Inst[A-Z][A-Za-z0-9]* Ta Fn //p' "$page" | sort >ours
	[ "$(wc -l <ours)" = 25 ]
	[ "$(sort -u ours | wc -l)" = 25 ]
	run -0 comm -23 ours functions
	[ -z "$output" ]
}

# A log of all classes, of which each tool shows something.
@test "telcat, telfilter and telstat show what classes wrote" {
	page=$TEL_TOP/man/tel-class.3
	build_example disk
	./disk
	# by kind, path and type
	run -0 telcat --no-header -k Snapshot -w 'path =* "*:Cache:*"' disk.tel
	[[ $output == *' Growth path="Disk:Cache:Hits" class=3 updates=750 '* ]]
	[ "${#lines[@]}" = 1 ]
	# a part of the tree, in the same format, and what is left of it
	telfilter -w 'path =* "Disk:S*" || kind == Class' disk.tel >part.tel
	telstat part.tel | grep '^[A-Z]' >got
	diff - got <<-END
		Disk:Cache:Hits  (growth)
		Disk:Size  (hist)  bytes
		Disk:Read  (dur)  ns
		$(tail -n 1 got)
	END
	telstat part.tel | grep -A1 Hits | grep -q 'updates 0'
	# definitions are kept
	telfilter -k Snapshot disk.tel >part.tel
	run -0 --separate-stderr telstat part.tel
	[[ $output == *'Disk:Size  (hist)  bytes'* ]]
	[ -z "$stderr" ]
	# snapshots without definitions, but for the bounds of a histogram
	telfilter --bare -k Snapshot disk.tel >part.tel
	run -0 --separate-stderr telstat part.tel
	[[ $output == *'Disk:Cache:Hits  (growth)'*'updates 750  total 750'* ]]
	[[ $output == *'Disk:Read  (dur)  ns'*'pairs 1,000'*'damaged 0' ]]
	[[ $output != *'(hist)'* ]]
	[[ $stderr == *'the definition of Disk:Size is missing'* ]]
	[ "$(wc -l <<<"$stderr")" = 1 ]
	# as text, whose rate of the clock has fewer digits, and back
	telstat -f csv disk.tel | grep 'Disk:' | cut -d , -f 2- |
	    grep -v 'rate\|share' >want
	[ "$(wc -l <want)" -gt 30 ]
	telcat disk.tel | telstat -f csv | grep 'Disk:' | cut -d , -f 2- |
	    grep -v 'rate\|share' | diff want -
	# with the classes of inst logs, and of another run
	cp disk.tel first.tel
	./disk
	telstat disk.tel first.tel | grep -q 'updates 1,500  total 1,500'
	cat >more.inst <<-END
		0000000000000001 H inst 1 0 0 hz=1000
		0000000000000001 C id=1 type=growth name="Disk:Cache:Hits"
		0000000000000002 S c=1 n=1 total=50 last=50 min=50 max=50
		0000000000000003 Z
	END
	telstat disk.tel more.inst | grep -q 'updates 751  total 800  last'
	# ranges of trace events are those of any log
	run -0 telstat -s 'time=dur(Start,End,range)' disk.tel
	[[ $output == *'events 2  pairs 1 '* ]]
	telcat disk.tel >text
	grep -q '^# role: Middle middle range as=End$' text
	run -0 telstat -f json disk.tel
	[[ $output == *'"name":"Disk:Cache:Hits","updates":750'* ]]
}
