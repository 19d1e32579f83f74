#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# "make mutate", tests/mutation, on a source of three faults that compile.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	mkdir -p lib/base tests
	cp "$TEL_TOP"/tests/{environment.sh,run-test} tests
	cat >lib/base/order.c <<-'END'
		int below(int a, int b) { return a < b; }
		int next(int n) { return n + 1; }
		int same(int a, int b) { return a == b; }
		int room(void) { char text[8]; return (int)sizeof text; }
	END
	# a program, and a tool that ends without its exit handlers
	cat >tests/test_order.c <<-'END'
		int below(int a, int b);
		int main(void) { return !below(1, 2) || below(2, 1); }
	END
	cat >tests/tool.c <<-'END'
		void _exit(int status);
		int next(int n);
		int main(int argc, char **argv) { (void)argv; _exit(next(argc)); }
	END
	# bats would take "@test" in this file for its own
	sed 's/^/@/' >tests/tool.bats <<-'END'
		test "nothing" { echo >>../runs; }
		test "adds (1)" { run env build/tests/tool; [ "$status" = 2 ]; }
		test "fails always" { run env build/tests/tool; false; }
	END
	# shellcheck disable=SC2016 # of make
	printf '%s\n' 'programs: build/tests/test_order build/tests/tool' \
	    'build/tests/%: tests/%.c lib/base/order.c lib/base/mutant.c' \
	    '	mkdir -p $(@D) && $(CC) -o $@ $^' \
	    'build/stage/.done: ; mkdir -p $(@D) && touch $@' >Makefile
}

mutate() (
	# bats itself, not the part of it that needs functions of the other parts
	PATH=${PATH//"$BATS_LIBEXEC:"/}
	unset "${!BATS_@}"
	"$TEL_TOP/tests/mutation/mutate.py" -s 1 -n 9 \
	    build/tests/test_order tests/tool.bats
)

@test "a fault that a test notices, and faults that none notices or reaches" {
	whole_only
	mkdir -p build
	mutate >build/got
	cat build/got build/mutate/log
	grep -Eq '^lib/base +1 +0 +3 +33 %$' build/got
	grep -Eq '^all +1 +0 +3 +33 %$' build/got
	# one for each, in random order
	[ "$(grep -c 'not noticed' build/got)" -eq 2 ]
	grep -Fq 'order.c:1: comparison flipped, not noticed; fault ' build/got
	grep -Fqx -- '-int below(int a, int b) { return a < b; }' build/got
	grep -Fqx -- '+int below(int a, int b) { return a <= b; }' build/got
	grep -Fq 'order.c:3: comparison flipped, not noticed; fault ' build/got
	[ "$(grep -c 'ran 1 of 1 cases that reach it' build/got)" -eq 1 ]
	[ "$(grep -c 'ran 0 of 0 cases that reach it' build/got)" -eq 1 ]
	grep -q 'order.c:2: constant off by one: 1 of 1: .*adds (1)' \
	    build/mutate/log
	# a fault that is judged is counted apart; a line that is not there is named
	mkdir tests/mutation
	cat >tests/mutation/equivalent <<-'END'
		# of these sources

		lib/base/order.c: nobody calls it with equal numbers
		-int below(int a, int b) { return a < b; }
		+int below(int a, int b) { return a <= b; }

		lib/base/order.c: is gone
		-int gone(int a) { return a < 0; }
		+int gone(int a) { return a <= 0; }
	END
	mutate >build/judged 2>build/stale
	cat build/judged build/stale
	grep -Eq '^all +1 +1 +3 +50 %$' build/judged
	[ "$(grep -c 'not noticed' build/judged)" -eq 1 ]
	grep -q 'order.c has no such line' build/stale
	rm -r tests/mutation
	# the sources are as they were
	run ! grep -r mutant_is lib tests
	# what the journal has is not run again, until a test is another one
	mutate | diff build/got -
	[ "$(wc -l <build/mutate/runs)" -eq 1 ]
	echo '# more' >>tests/tool.bats
	mutate | diff build/got -
	[ "$(wc -l <build/mutate/runs)" -eq 2 ]
}
