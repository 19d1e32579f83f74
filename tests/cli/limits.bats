#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# What options take: the least, the most, and what lies beyond.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
}

@test "numbers of options: the least and the most are taken, those beyond are not" {
	python3 - <<-'END'
		import subprocess
		U64, I64 = 2**64 - 1, 2**63 - 1
		ROWS = """
		telcat --max-size size 131072 1073741824
		telcat -j number_of_threads 1 256
		telcat -z level 1 19
		telcat --max-labels number_of_labels 1 1073741824
		telfilter -A number_of_events 0 1048576
		telfilter -B number_of_events 0 1048576
		telfilter -C number_of_events 0 1048576
		telrec -s number_of_bytes 1 1099511627776
		telrec -p process 1 2147483647
		telrec -z level 1 19
		telreplay --runs number_of_runs 1 100
		telreplay --threads number_of_threads 1 1024
		telreplay --max-live number_of_blocks 1 2147483648
		telreplay --repeat number_of_times 1 1000000
		telreplay --sample number_of_operations 0 1048576
		telreplay --window number_of_operations 1 1099511627776
		telstat --width number_of_columns 40 1000
		telstat --max-groups number_of_groups 1 1048576
		telstat --max-open number_of_ranges 1 16777216
		"""
		rows = [(*x[:3], int(x[3]), int(x[4])) for x in
		        (line.split() for line in ROWS.split("\n")) if x]
		rows += [("telcat", "-n", "number_of_events", 0, U64),
		         ("telcat", "--skip", "number_of_events", 0, U64),
		         ("telcat", "--tb-hz", "number_of_hertz", 1, U64),
		         ("telcat", "--live=", "number_of_seconds", 1, 86400),
		         ("telfilter", "--every", "number_of_events", 1, U64),
		         ("telfilter", "--seed", "number", 0, U64),
		         ("telrec", "-n", "number_of_events", 1, U64),
		         ("telrec", "--size", "size", 1, I64),
		         ("telrec", "--ring", "size", 1, I64),
		         ("telstat", "--top", "number_of_rows", 1, U64),
		         ("telstat", "--max-memory", "number_of_bytes", 0, I64)]
		bad = 0
		for tool, option, what, least, most in rows:
		    what = what.replace("_", " ")
		    for value in least - 1, least, most, most + 1:
		        if value < 0:
		            continue
		        # a number that is refused ends the command line
		        words = [f"{option}{value}"] if option[-1] == "=" else \
		            [option, str(value)]
		        done = subprocess.run([tool, *words, "--no-such"],
		                              capture_output=True, text=True)
		        want = f"{tool}: unknown option '--no-such'"
		        if value > U64:
		            want = f"{tool}: {option}: '{value}' is not a {what}"
		        elif not least <= value <= most:
		            want = f"{tool}: {option.strip('=')}: '{value}' is " \
		                f"not a {what} from {least} to {most}"
		        got = done.stderr.split("\n")[0]
		        if done.returncode != 2 or done.stdout or \
		                not got.startswith(want):
		            print(f"# {words}: {got}\n# expected {want}")
		            bad = 1
		assert not bad
	END
}

# takes TOOL OPTION GOOD ... -- BAD ...: which values it takes, and which not.
takes() {
	local tool=$1 option=$2 good=1 value

	shift 2
	for value; do
		if [ "$value" = -- ]; then
			good=0
		elif [ $good = 1 ]; then
			# a value that is refused ends the command line
			expect 2 "$tool: unknown option '--no-such'*" \
			    "$tool" "$option=$value" --no-such
		else
			expect 2 "$tool: $option: *'$value'*" \
			    "$tool" "$option=$value" --no-such
		fi
	done
}

@test "times, shares and factors of options: the least and the most" {
	takes telreplay --think 0 1ns 1s log -- 1000000001ns 0s -1ns 1 x
	takes telreplay --pace 0.000001 1e6 1 0.5 -- 9e-7 1000001 0 -1 0x1 nan 1s
	takes telreplay --window 0.0000001% 100% none -- 0% 101% x -1
	takes telreplay --touch 0% 100% page page,free none -- 101% pag pages
	takes telrec --delay 1ns 1h -- 0s -1s 1
	takes telrec --for 1ns 2m -- 0ns 10
	takes telrec --times exact coarse -- fine
	takes telfilter --sample 0 1 0.5 100% 0% -- 1.1 101% -1 x
	takes telstat --quantiles 0 1 .5 0.9999999 -- 1.0000001 -1 x
	takes telstat --prefix a b_2 -- a:b a-b
	takes telcat --tb-hz 1.5 2.5e9 1e17 0x10 2k -- 0.5 -1 +1 2e x
	takes telcat --live 1 86400 -- 0 86401 1s
}
