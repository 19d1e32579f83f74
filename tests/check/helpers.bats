#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The tests of the commands fail when a command does: tests/cli/status.bash.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	# commands that print what is right, and say that they failed
	mkdir broken
	for tool in $(tools); do
		printf '#!/bin/sh\n"%s" "$@"\nexit 1\n' \
		    "$TEL_BUILD/bin/$tool" >"broken/$tool"
		chmod +x "broken/$tool"
	done
}

# bats_on PATH OPTION ... FILE: what bats says of a file of tests.
bats_on() {
	(
		unset "${!BATS_@}"
		PATH=$1 bats --tap "${@:2}"
	)
}

# bodies <LINES: a test of each line.
bodies() {
	{
		printf 'load %q\n' "$TEL_TOP/tests/cli/lib"
		printf 'LOG=%q\n' "$DATA/1.118.0-lii6gc-poolncv.log.zst"
		awk '{ printf "@%s \"%d\" {\ncd \"$BATS_TEST_TMPDIR\"\n%s\n}\n", "test", NR, $0 }'
	} >x.bats
}

# verdicts PATH: "ok" or "not ok" of each of these tests.
verdicts() {
	bats_on "$1" x.bats >verdict || true
	cat verdict >&2
	sed -n 's/^\(\(not \)\{0,1\}ok\) [0-9]* .*/\1/p' verdict
}

# all N VERDICT PATH: N tests have the same verdict.
all() {
	verdicts "$3" | sort | uniq -c >got
	cat got
	diff <(printf '%7d %s\n' "$1" "$2") got
}

DATA=$TEL_TOP/tests/data/mps

@test "a status is not lost wherever a command is" {
	whole_only
	bodies <<-'END'
		telcat "$LOG" | wc -l >got; [ "$(cat got)" -gt 100 ]
		telcat "$LOG" | telfilter -k Pool | telcat -H | grep -q Pool
		[ "$(telcat "$LOG" | wc -l)" -gt 100 ]
		cmp <(telcat "$LOG") <(telcat -q "$LOG")
		telcat "$LOG" >out & wait; [ -s out ]
		for i in 1 2; do telcat "$LOG" | cat >out; done
		if telcat "$LOG" >out; then true; fi
		telcat "$LOG" >out || true
		true && telstat "$LOG" | grep -q events
		f() { telcat "$LOG" | grep Pool | sort; }; f >out; f | grep -q Pool
		clean telcat "$LOG" | cmp - <(telcat "$LOG")
		TZ=UTC telcat "$LOG" | cat >out
		exits 0 telcat "$LOG" | cat >out
		noted timeout 99 telcat "$LOG" | cat >out
	END
	all 14 ok "$PATH"
	all 14 'not ok' "$PWD/broken:$PATH"
}

@test "a status that is expected fails no test, another one does" {
	bodies <<-'END'
		exits 1 telcat missing 2>&1 | grep -q missing
		exits '0|1' telcat missing 2>&1 | grep -q missing
		run -1 telcat missing
		run ! telcat missing
		f() { telcat missing | cat; }; run -0 f
		telcat -f json "$LOG" | head -n 1 >out
	END
	all 6 ok "$PATH"
	bodies <<-'END'
		exits 3 telcat missing 2>&1 | grep -q missing
		exits 1 telcat "$LOG" | cat >out
		telcat missing 2>&1 | grep -q missing
		telcat -q missing | cat
		cat <(telcat missing)
	END
	all 5 'not ok' "$PATH"
}

@test "a command that fails is shown with its lines, also in functions" {
	cat >x.bash <<-'END'
		helper() {
			[ "$1" = 7 ]
		}
	END
	printf 'load %q\nload %q\n' "$TEL_TOP/tests/cli/lib" "$PWD/x" >x.bats
	cat >>x.bats <<-'END'
		setup() {
			[ "$BATS_TEST_NUMBER" -ne 6 ]
		}
	END
	# bats would take "@test" in this file for its own
	sed 's/^/@/' >>x.bats <<-'END'
		test "1" { true; false; }
		test "2" { true && [[ 1 == 2 ]]; true; }
		test "3" { for i in 7 8; do helper $i; done; }
		test "4" { true | false; }
		test "5" { run -1 true; }
		test "6" { true; }
	END
	run -1 bats_on "$PATH" x.bats
	sed 's/, expected.*//; s/in file .*x.bash/in file x.bash/; s/in test file .*x.bats/in x.bats/' <<<"$output" >got
	diff - got <<-'END'
		1..6
		not ok 1 1
		# (in x.bats, line 6)
		#   `@test "1" { true; false; }' failed
		not ok 2 2
		# (in x.bats, line 7)
		#   `@test "2" { true && [[ 1 == 2 ]]; true; }' failed
		not ok 3 3
		# (from function `helper' in file x.bash, line 2,
		#  in x.bats, line 8)
		#   `@test "3" { for i in 7 8; do helper $i; done; }' failed
		not ok 4 4
		# (in x.bats, line 9)
		#   `@test "4" { true | false; }' failed
		not ok 5 5
		# (in x.bats, line 10)
		#   `@test "5" { run -1 true; }' failed
		not ok 6 6
		# (from function `setup' in x.bats, line 4)
		#   `[ "$BATS_TEST_NUMBER" -ne 6 ]' failed
	END
	printf 'setup_file() {\n\t[ 1 = 2 ]\n}\n' | sed -i '2r /dev/stdin' x.bats
	run -1 bats_on "$PATH" x.bats
	grep -F "x.bats, line 4)" <<<"$output"
	grep -F "\`[ 1 = 2 ]' failed" <<<"$output"
}

@test "each test of a file fails with the command that it uses" {
	whole_only
	[ -z "${TEST_SLOW-}" ] || skip "it runs a file of tests twice"
	run -1 bats_on "$PWD/broken:$PATH" "$TEL_TOP/tests/cli/inst.bats"
	[ "$(grep -c '^not ok' <<<"$output")" -ge 13 ]
	run ! grep '^ok' <<<"$output"
	rm broken/telcat broken/telfilter
	run -1 bats_on "$PWD/broken:$PATH" -f '^(CSV, JSON|telstat shows classes)' \
	    "$TEL_TOP/tests/cli/inst.bats"
	grep -q '^not ok' <<<"$output"
	grep -q '^ok' <<<"$output"
}

@test "each file of tests loads what a test that runs by itself needs" {
	cd "$TEL_TOP" || exit
	grep -LE '^load (.*/)?(lib|live|page|telrec|telreplay|environment)"?$' tests/*/*.bats \
	    >"$BATS_TEST_TMPDIR/files" || true
	cat "$BATS_TEST_TMPDIR/files"
	[ ! -s "$BATS_TEST_TMPDIR/files" ]
}

@test "programs that bats files run are built for a file that runs by itself" {
	cd "$TEL_TOP" || exit
	sed -n 's/^HELPERS = //p' Makefile | tr ' ' '\n' | sort >"$BATS_TEST_TMPDIR/built"
	grep -hoE 'TEL_BUILD"?/tests/(test|fuzz|dies|lives)[a-z_]*' \
	    tests/*/*.bats tests/*/*.bash | sed 's/.*tests.//' | sort -u >"$BATS_TEST_TMPDIR/used"
	cd "$BATS_TEST_TMPDIR" || exit
	[ "$(wc -l <used)" -ge 3 ]
	comm -13 built used | diff /dev/null -
}

@test "a bats file alone is for the compiler and the flags of the build" {
	cp "$TEL_BUILD/.flags" "$BATS_TEST_TMPDIR"
	run -0 env -u TEL_TOP -u CC -u CFLAGS -u LDFLAGS TEL_BUILD="$TEL_BUILD" \
	    bats -f '^an option of one letter' "$TEL_TOP/tests/cli/help.bats"
	cmp "$TEL_BUILD/.flags" "$BATS_TEST_TMPDIR/.flags"
}

# bare COMMAND ...: without what bats sets, and without the part of it that needs
# functions of the other parts.
bare() (
	PATH=${PATH//"$BATS_LIBEXEC:"/}
	unset "${!BATS_@}" TEL_TOP TEL_BUILD
	"$@" </dev/null
)

@test "a test that fails prints a command that runs it alone" {
	# a case with what is special for a shell and in an expression; a program, a
	# target of a fuzzer and a test of pages; and one that crashes
	mkdir -p top/tests/page top/tests/data top/tests/fuzz/corpus/reader \
	    top/build/tests
	cp "$TEL_TOP"/tests/{suite.sh,run-test,environment.sh} top/tests
	# bats would take "@test" in this file for its own
	sed 's/^/@/' >top/tests/x.bats <<-'END'
		test "it's" { true; }
		test "it's (a) +.*" { false; }
	END
	printf '#!/bin/sh\necho "not ok 1 - $*"\nexit 1\n' >top/build/tests/test_x
	cp top/build/tests/test_x top/build/tests/fuzz_reader
	printf '#!/bin/sh\nkill -9 $$\n' >top/build/tests/test_dies
	chmod +x top/build/tests/*
	printf 'import sys\nprint("not ok 1", sys.argv[1])\nsys.exit(1)\n' \
	    >top/tests/page/x.py
	cd top || exit
	run -1 bare tests/suite.sh build tests/x.bats build/tests/test_x \
	    build/tests/fuzz_reader build/tests/test_dies tests/page/x.py
	sed -n 's/^# alone: //p' <<<"$output" >commands
	[ "$(wc -l <commands)" -eq 5 ]
	grep -Fx build/tests/test_x commands
	grep -Fx build/tests/test_dies commands
	while read -r line; do
		run bare bash -c "$line"
		[ "$status" -ne 0 ]
		printf '%s\n' "$output" >>all
	done <commands
	grep -Fx '1..1' all
	grep -F "not ok 1 it's (a) +.*" all
	run ! grep '^ok' all
	grep -Fx 'not ok 1 - tests/fuzz/corpus/reader -p 2 tests/data' all
	grep -Fx "not ok 1 $PWD/build/page" all
	# of another build
	mkdir other
	run -1 bare tests/suite.sh other tests/x.bats
	grep -F "# alone: TEL_BUILD=$PWD/other bats -f " <<<"$output"
}

@test "the Python that the benchmarks record is a program" {
	[ -x /usr/bin/python3 ] || skip "there is no Python of the system"
	# as a version manager does: it is found by the name of a script
	mkdir shims
	printf '#!/bin/bash\nexec -a python3 /usr/bin/python3 "$@"\n' >shims/python3
	chmod +x shims/python3
	env CC=cc PATH="$PWD/shims:/usr/bin:/bin" PYTHONPATH="$TEL_TOP/tests/bench" shims/python3 - >named <<-'END'
		import programs, record, sys
		assert sys.executable.endswith("shims/python3")
		for row in [*record.workloads("."), *programs.programs(".", 1)]:
		    if row[0] == "python3":
		        print(row[1][0])
	END
	[ "$(sort <named | uniq -c | xargs)" = '2 /usr/bin/python3' ]
}
