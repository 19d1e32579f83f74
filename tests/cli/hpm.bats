#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Jikes RVM HPM traces through telcat: as the historical readers have them.

# "run --separate-stderr" sets stderr; a word may be a file name elsewhere
# shellcheck disable=SC2154,SC2094

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	SETS=$TEL_TOP/tests/data/hpm
}

# words NAME: the files that a fixture describes, in this folder.
words() {
	"$TEL_BUILD/tests/test_hpm" --make "$SETS/$1.txt" .
}

# The line that TraceFileReader prints for each event; ST counts from the
# first event, but where it is 0 the reader prints the time itself.
reader_lines() {
	awk -v version="$1" '
	/^#/ { next }
	{
		delete f
		n = 0
		for (i = 3; i <= NF; i++) {
			at = index($i, "=")
			value = substr($i, at + 1)
			sub(/\[.*/, "", value)
			gsub(/"/, "", value)
			f[substr($i, 1, at - 1)] = value
			if ($i ~ /^PM_/)
				counter[++n] = value
		}
		vp = "VP " f["cpu"]
	}
	$2 == "Counter" {
		start = f["end"] - f["duration"]
		if (origin == "")
			origin = start
		if (start != origin)
			start -= origin
		line = version == 1 ? "" : f["switched"] == "true" ? " " : "*"
		line = line vp " TID "
		if (f["yielded"] != "true")
			line = line " "
		if (f["tid"] + 0 < 10)
			line = line " "
		if (f["yielded"] == "true")
			line = line "-"
		line = line f["tid"] sprintf(" ST %.0f RT ", start) f["duration"]
		for (i = 1; i <= n; i++)
			line = line " " i ": " counter[i]
		if (version > 1)
			line = line " " f["caller"] " " f["callee"]
		print line
	}
	$2 == "AppStart" { print vp " Start application " f["app"] }
	$2 == "AppComplete" { print vp " Complete application " f["app"] }
	$2 == "RunStart" {
		print vp " Start application " f["app"] " run " f["run"]
	}
	$2 == "RunComplete" {
		print vp " Complete application " f["app"] " run " f["run"]
	}
	$2 == "Exit" { print vp " Exit RVM " f["status"] }'
}

# readers_trace FILE: the lines under "Trace:", without the padding.
readers_trace() {
	sed -n '/^Trace:/,/^$/p' "$1" | sed -e 1d -e '/^$/d' -e '/ Padding /d'
}

@test "two traces merge as the readers of 2.2.2, 2.3.0 and 2.4.6 merge them" {
	for set in v1be.ref-2.2.2.all v2be.ref-2.3.0.all v3be.ref-2.4.6.trace; do
		version=${set:1:1}
		readers_trace "$SETS/$set.txt" >want
		[ "$(wc -l <want)" = 18 ]
		clean telcat "$SETS/${set%%.*}"/HPM.[12].startup |
		    reader_lines "$version" | diff -u want -
	done
}

@test "a rate as it is measured; what seconds need; a missing exit record" {
	[ "$(telcat --tb-hz 1e8 -T s -H "$SETS/v3be/HPM.1.startup")" = \
	    "$(telcat --tb-hz 100000000 -T s -H "$SETS/v3be/HPM.1.startup")" ]
	[ "$(telcat --tb-hz 1.0 -T s "$SETS/v3be/HPM.1.startup" | head -50)" = \
	    "$(telcat --tb-hz 1 -T s "$SETS/v3be/HPM.1.startup" | head -50)" ]
	run -2 telcat --tb-hz 0.9 "$SETS/v3be/HPM.1.startup"
	run -2 telcat --tb-hz 1e "$SETS/v3be/HPM.1.startup"
	run -2 telcat --tb-hz 1e99 "$SETS/v3be/HPM.1.startup"
	run -1 --separate-stderr telcat -T s "$SETS/v3be/HPM.1.startup"
	[[ $stderr == *'set --tb-hz'* ]]
	mkdir cut
	cp "$SETS"/v3be/HPM.headerFile cut
	head -c -8 "$SETS/v3be/HPM.1.startup" >cut/HPM.1.startup
	run -0 --separate-stderr telcat cut/HPM.1.startup
	[[ $stderr == *'the trace has no exit record'* ]]
	run -0 --separate-stderr telcat -q cut/HPM.1.startup
	[ -z "$stderr" ]
}

@test "traces of different runs are not merged" {
	mkdir one two
	cp "$SETS"/v3be/HPM.* one
	cp "$SETS"/v3be/HPM.* two
	# another thread was created in the second run
	printf '\0\0\0\3\0\0\0\143\0\0\0\62\0\0\0\7class X' >>two/HPM.headerFile
	run -1 --separate-stderr telcat -H one/HPM.1.startup two/HPM.2.startup
	[ -z "$output" ]
	[[ $stderr == 'telcat: two/HPM.2.startup: it and one/HPM.1.startup are of different runs,'*--no-merge* ]]
	clean telcat --no-merge -H one/HPM.1.startup two/HPM.2.startup >got
	[ "$(wc -l <got)" = 18 ]
	# nor as members of an archive, and by what needs the order of events
	tar cf both.tar one two
	run -1 telcat both.tar
	run -1 telstat -S one/HPM.1.startup two/HPM.2.startup
	# one run is one, wherever its files are
	cp one/HPM.headerFile two
	clean telcat one/HPM.1.startup two/HPM.2.startup |
	    cmp - <(telcat "$SETS"/v3be/HPM.[12].startup)
	# and while its meta file grows
	clean telcat one/HPM.1.startup one/HPM.2.startup >/dev/null
}

@test "little-endian traces are the same but for the name of the schema" {
	words good-v3le
	clean telcat HPM.1.startup HPM.2.startup >little
	clean telcat "$SETS"/v3be/HPM.[12].startup >big
	[ "$(sed -n 2p little)" = '# format: hpm-3.8/x86' ]
	[ "$(sed -n 2p big)" = '# format: hpm-3.8/ppc' ]
	diff -u <(grep -v '^#' big) <(grep -v '^#' little)
}

@test "text, CSV, JSON and SQL" {
	telcat -n 2 "$SETS/v3be/HPM.1.startup" |
	    grep -v '^# \(type\|role\): ' >shown
	diff -u - shown <<-'END'
		# teltools text 1
		# format: hpm-3.8/ppc
		# version: 3
		0000001234560025 Counter cpu=1 tid=1["com.ibm.JikesRVM.VM_IdleThread"] slot=2 yielded=false switched=true buffer=1 flags=0x0 end=78187463693 duration=1000 gap=0 caller=345["Lcom/ibm/JikesRVM/VM_Thread;.yield()V"] callee=1201["Lspec/jbb/Warehouse;.run()V"] PM_LSU_SRQ_S0_VALID=1011 PM_LSU_SRQ_S0_ALLOC=1021 PM_LSU0_BUSY=1031 PM_LSU1_BUSY=1041 PM_LSU_LRQ_S0_VALID=1051 PM_LSU_LRQ_S0_ALLOC=1061 PM_INST_CMPL=1071 PM_CYC=1081
		0000001234560025 AppStart cpu=1 app="pseudojbb"
	END
	telcat -f csv -e Counter -n 3 "$SETS/v1be/HPM.1.startup" >table
	diff -u - table <<-'END'
		clock,cpu,tid,slot,yielded,buffer,flags,end,duration,gap,PM_LSU_SRQ_S0_VALID,PM_LSU_SRQ_S0_ALLOC,PM_LSU0_BUSY,PM_LSU1_BUSY,PM_LSU_LRQ_S0_VALID,PM_LSU_LRQ_S0_ALLOC,PM_INST_CMPL,PM_CYC
		78187462693,1,1,2,false,1,0x0,78187463693,1000,0,1011,1021,1031,1041,1051,1061,1071,1081
		78187463703,1,9,7,false,1,0x0,78187467703,4000,10,2011,2021,2031,2041,2051,2061,2071,2081
		78187467713,1,9,7,true,2,0x0,78187469713,2000,10,3011,3021,3031,3041,3051,3061,3071,3081
	END
	run -0 telcat -f json -e Exit "$SETS/v2be/HPM.2.startup"
	[ "$output" = '{"clock":78187469760,"type":"Exit","kind":"Exit","code":6,"fields":{"cpu":2,"status":0}}' ]
	telcat -f sql "$SETS"/v3be/HPM.[12].startup >statements
	grep -q '^CREATE TABLE IF NOT EXISTS "EVENT_Counter" ("cpu" INTEGER, ' statements
}

@test "a counter of a name comes before one that starts so" {
	printf '# teltools text 1\n# type: E 1 K PM_CYC_GRP1:unsigned PM_CYC:unsigned\n%s\n' \
	    '0000000000000001 E PM_CYC_GRP1=5 PM_CYC=7' |
	    telstat -f json -s 's=sum(cycles)' | grep -q '"sum":7,'
}

@test "kinds, types, expressions and names select" {
	clean telcat -H -k Marker "$SETS"/v3be/HPM.[12].startup >got
	[ "$(wc -l <got)" = 8 ]
	clean telcat -H -e 'Run*' "$SETS"/v3be/HPM.[12].startup >got
	[ "$(wc -l <got)" = 4 ]
	clean telcat -H -w 'cpu == 2 && tid == 9 && yielded' \
	    "$SETS"/v3be/HPM.[12].startup >got
	[ "$(cut -d' ' -f1-4 got)" = '00000012345613E6 Counter cpu=2 tid=9["com.ibm.JikesRVM.MainThread"]' ]
	clean telcat -H -w 'PM_CYC / duration > 2 || duration > 3999' \
	    "$SETS/v3be/HPM.1.startup" >got
	[ "$(wc -l <got)" = 2 ]
	clean telcat -H -w 'label(caller) ~ "Warehouse"' \
	    "$SETS/v3be/HPM.1.startup" >got
	[ "$(wc -l <got)" = 1 ]
	clean telcat -H -w 'label == "com.ibm.JikesRVM.VM_IdleThread"' \
	    "$SETS/v3be/HPM.1.startup" >got
	[ "$(wc -l <got)" = 1 ]
	clean telcat -H -w 'app == "pseudojbb" && run == 0' \
	    "$SETS/v3be/HPM.1.startup" >got
	[ "$(wc -l <got)" = 2 ]
}

@test "archives and packed files: the meta file is found beside the trace" {
	mkdir run
	cp "$SETS"/v3be/HPM.* run
	clean telcat run/HPM.1.startup run/HPM.2.startup >want
	tar cf run.tar run
	tar czf run.tgz -C run HPM.1.startup HPM.2.startup HPM.headerFile
	for archive in run.tar run.tgz; do
		clean telcat "$archive" >got
		cmp want got
	done
	gzip run/HPM.*
	clean telcat run/HPM.1.startup.gz run/HPM.2.startup.gz >got
	cmp want got
}

# long TRACE ...: fixtures of two traces, each longer than what is looked at.
long() {
	awk 'BEGIN {
		print "meta 3 big 2 12"
		for (cpu = 1; cpu <= 2; cpu++) {
			print "trace " cpu " HPM.headerFile"
			for (i = 1; i <= 3000; i++)
				print "counter 2 " 1 + i % 7 " 1 1 " i * 1000 + cpu,
				    i * 1000 + 900, 0, 0, i
			print "exit 0"
		}
	}' >long.txt
	"$TEL_BUILD/tests/test_hpm" --make long.txt .
}

@test "traces longer than what is looked at are whole in an archive" {
	long
	clean telcat HPM.1.startup HPM.2.startup >want
	[ "$(wc -l <want)" -gt 6000 ]
	tar cf run.tar HPM.1.startup HPM.2.startup HPM.headerFile
	clean telcat run.tar | cmp want -
	mkdir bare
	tar cf bare/run.tar HPM.1.startup HPM.2.startup
	telcat bare/run.tar >got 2>messages
	[ "$(grep -c 'was not found' messages)" = 2 ]
	cmp want got
}

@test "telfilter writes traces: all of one is the same bytes" {
	for set in v1be v2be v3be; do
		for cpu in 1 2; do
			clean telfilter "$SETS/$set/HPM.$cpu.startup" |
			    cmp - "$SETS/$set/HPM.$cpu.startup"
		done
	done
	clean telcat -f hpm "$SETS/v3be/HPM.1.startup" |
	    cmp - "$SETS/v3be/HPM.1.startup"
	for fixture in good-nomids good-v3le strange-flags; do
		words "$fixture"
		clean telfilter HPM.1.startup | cmp - HPM.1.startup
		telfilter <HPM.1.startup | cmp - HPM.1.startup
		rm HPM.*
	done
}

@test "what telfilter writes decodes with the same meta file" {
	cp "$SETS/v3be/HPM.headerFile" .
	# of two processors one is wanted
	clean telfilter -w 'cpu == 2 && tid == 9' "$SETS"/v3be/HPM.[12].startup \
	    >HPM.2.startup
	diff <(telcat -H "$SETS/v3be/HPM.2.startup" | grep 'tid=9' |
	    sed 's/gap=[0-9]*//') <(telcat -H HPM.2.startup | sed 's/gap=[0-9]*//')
	# padding goes with its marker
	clean telfilter -k Marker "$SETS/v1be/HPM.1.startup" >HPM.1.startup
	[ "$(stat -c %s HPM.1.startup)" = \
	    "$((22 + 17 + 21 + 21 + 17 + 4 * (8 + 3)))" ]
	# context, and what is written of nothing
	clean telfilter -B 1 -e Exit "$SETS/v3be/HPM.1.startup" >HPM.1.startup
	[ "$(telcat -q HPM.1.startup | grep -cv '^#')" = 2 ]
	clean telfilter -w 'tid == 77' "$SETS/v3be/HPM.1.startup" |
	    cmp - <(head -c 22 "$SETS/v3be/HPM.1.startup")
}

@test "several traces are written as one, which has the same events" {
	cat >early.txt <<-'END'
		meta 3 little 2 12
		thread 1 2 class IdleThread
		trace 1 HPM.headerFile
		runstart 1 abc
		counter 6 5 1 1 1000 2000 0 0 1 2
		counter 6 5 1 1 3000 3500 0 0 1 2
		runcomplete 1 abc
		counter 6 5 1 1 9000 9500 0 0 1 2
		exit 0
		trace 2 HPM.headerFile
		appstart abcd
		runstart 1 abc
		counter 6 6 1 1 1500 1600 0 0 1 2
		counter 6 5 1 1 1700 1800 0 0 1 2
		counter 6 6 1 1 0 5000 0 0 1 2
		exit 0
		trace 700 HPM.headerFile
		runstart 1 abc
		counter 6 7 1 1 1000 1950 0 0 1 2
		counter 7 5 1 1 2999 3050 0 0 1 2
		counter 7 8 1 1 2999 4050 0 0 1 2
	END
	sed 's/^trace 2 /trace 0 /' early.txt >zero.txt
	for set in v1be v2be v3be early zero; do
		mkdir $set
		cd $set
		if [ -e ../$set.txt ]; then
			"$TEL_BUILD/tests/test_hpm" --make ../$set.txt .
		else
			cp "$SETS/$set"/HPM.* .
		fi
		clean telcat -q HPM.*.startup >want
		clean telcat -q -f hpm HPM.*.startup >merged
		clean telcat -q merged | diff want -
		# what was merged stays as it is, and so do parts of it
		clean telfilter -q merged | cmp - merged
		clean telfilter -q -S merged | cmp - merged
		clean telcat -q -f tel,lines HPM.*.startup | telcat -q -f hpm |
		    cmp - merged
		clean telfilter -q -w 'cpu == 2' merged | cmp - \
		    <(telfilter -q -w 'cpu == 2' HPM.*.startup)
		clean telfilter -q -k Counter merged >counters
		cmp <(telcat -q -k Counter -F cpu,tid,end merged) \
		    <(telcat -q -F cpu,tid,end counters)
		clean telfilter -q -k Marker,Exit merged >markers
		diff <(telcat -q -H -k Marker,Exit merged | cut -d' ' -f2-) \
		    <(telcat -q -H markers | cut -d' ' -f2-)
		cd "$BATS_TEST_TMPDIR" || exit
	done
	run -0 --separate-stderr telcat early/merged
	[[ $stderr == *'has 3 processors and 2 exit records'* ]]
	# damage costs what is damaged
	(
		head -c 300 v3be/merged
		printf 'xxxxxxxxxxxxxxxxxxxxxxxxx'
		tail -c +301 v3be/merged
	) >v3be/HPM.9.startup
	telcat -H v3be/merged >all
	exits 3 telcat -q -H v3be/HPM.9.startup >left
	[ "$(wc -l <left)" -ge $(($(wc -l <all) - 3)) ]
}

@test "the first marker of a processor: its clock depends on no more than the trace" {
	# far KB: a merged trace whose marker is so far before its processor's
	far() {
		python3 - "$1" <<-'END'
			import struct, sys

			def counter(cpu, clock):
			    return struct.pack(">IiQQ", cpu << 4 | 1, 7, clock, clock + 1) + bytes(72)

			def switch(cpu):
			    return struct.pack(">II", 10, 16 + cpu) + bytes(16 + cpu)

			sys.stdout.buffer.write(
			    struct.pack(">II", 2, 17) + b"trace1.headerFile" + counter(0, 100) * 9
			    + switch(5) + struct.pack(">II", 2, 2) + b"go" + switch(0)
			    + counter(0, 200) * 10 * int(sys.argv[1]) + switch(5) + counter(5, 300))
		END
	}
	far 11 >near
	far 90 >far
	[ "$(telcat -q -H -k Marker near)" = '000000000000012C AppStart cpu=5 app="go"' ]
	[ "$(telcat -q -H -k Marker far)" = '0000000000000000 AppStart cpu=5 app="go"' ]
}

@test "what one trace cannot hold, and damage, is not written" {
	run -1 --separate-stderr telfilter -k Counter --no-merge \
	    "$SETS"/v3be/HPM.[12].startup
	[[ $stderr == *'HPM.2.startup: not to be written to the same HPM trace: traces are one only as they merge'* ]]
	# of a long path, the end
	mkdir -p "$PWD/$(printf 'a%.0s' {1..100})"
	cp "$SETS"/v3be/HPM.* "$PWD"/aaa*/
	run -1 --separate-stderr telfilter -k Counter --no-merge \
	    "$PWD"/aaa*/HPM.[12].startup
	[[ $stderr == *'aaa/HPM.2.startup: not to be written'* ]]
	run -1 --separate-stderr telcat -f hpm "$SETS"/v2be/HPM.1.startup \
	    "$SETS"/v3be/HPM.2.startup
	words bad-middle
	run -3 telfilter -o good HPM.7.startup
	clean telcat -q -H good >got
	diff <(exits 3 telcat -q -H HPM.7.startup) got
	run -1 --separate-stderr telfilter -o /dev/full HPM.7.startup
}

@test "--types lists what a trace may hold" {
	telcat --types --as hpm >list
	[ "$(awk '!/^#/ { print $4 }' list | tr '\n' ' ')" = \
	    'Counter AppStart AppComplete RunStart RunComplete Exit ' ]
	grep -q '^hpm  *0x0001 Counter Counter .* caller:signed .* counter8:unsigned$' \
	    list
	telcat --types | grep -c '^hpm ' | grep -qx 6
	# a name alone does not say what the types of a text are
	printf '# teltools text 1\n# format: %s\n%s\n' hpm \
	    '0000000000000001 Exit status=1' >text
	telcat text | grep -qx '# type: Exit 0 Text status:unsigned'
}

@test "an event is as large as its record" {
	telstat -f csv "$SETS/v3be/HPM.1.startup" >got
	grep -q ',type,bytes,,,Counter,384,' got
	[ "$(telcat -H -w 'sizeof == 96' "$SETS/v3be/HPM.1.startup" | wc -l)" = 4 ]
	[ "$(telcat -H -w 'sizeof in (17, 21, 8)' "$SETS/v3be/HPM.1.startup" |
	    wc -l)" = 5 ]
}

# figures GROUP FILE ...: "GROUP COUNTER SUM" and "GROUP CPI RATIO" a line.
figures() {
	local group=$1
	shift
	telstat -f csv -g "$group" -s '@=growth(@)' --each 'duration,PM_*' \
	    -s 'CPI=ratio(PM_CYC,PM_INST_CMPL)' -k Counter "$@" |
	    awk -F, -v name="${group##*,}" '
	    $4 == "sum" && $3 == "growth" || $4 == "ratio" {
		sub(/.*=/, "", $9)
		printf $3 == "ratio" ? "%s %s %.3f\n" : "%s %s %s\n", $9, $2, $8
	    }' | sed 's/ duration / REAL_TIME /' | sort
}

# readers_figures FROM TO WORD FILE: the same of blocks that the reader prints.
readers_figures() {
	sed -n "/$1/,/$2/{/$2/q;p}" "$4" | awk -v word="$3" '
	$1 == word { key = $2; cpi[key] = $NF; print key, "CPI", $NF }
	/^[0-9]:/ && key != "" {
		sub(/^[0-9]:/, "")
		gsub(/[ ,]/, "")
		split($0, part, ":")
		print key, part[1], part[2]
	}' | sort
}

@test "sums by processor and by thread are those of the readers" {
	for set in v1be.ref-2.2.2 v2be.ref-2.3.0; do
		traces=("$SETS/${set%%.*}"/HPM.[12].startup)
		readers_figures '^Dump HPM counter values for VPIDs' \
		    '^Dump aggregate HPM counter values for VPIDs' VPID: \
		    "$SETS/$set.all.txt" >want
		[ "$(wc -l <want)" = 20 ]
		figures cpu "${traces[@]}" | diff want -
		readers_figures '^Dump aggregate HPM counter values per thread' \
		    '^Aggregate .* across' ThreadIndex: "$SETS/$set.all.txt" >want
		[ "$(wc -l <want)" = 30 ]
		figures .tid "${traces[@]}" | diff want -
	done
}

@test "sums by method, and of what lies between markers" {
	traces=("$SETS"/v3be/HPM.[12].startup)
	telcat -f json -k Counter "${traces[@]}" | python3 -c '
import json, sys
sums = {}
for line in sys.stdin:
    event = json.loads(line)
    name = event["labels"].get("caller")
    if name is not None:
        sums[name] = sums.get(name, 0) + event["fields"]["PM_CYC"]
for name in sorted(sums):
    print(name, sums[name])' >want
	[ "$(wc -l <want)" = 2 ]
	telstat -f json -s 'cycles=tally(label(caller),100,PM_CYC)' \
	    "${traces[@]}" | python3 -c '
import json, sys
for line in sys.stdin:
    buckets = json.loads(line).get("buckets", [])
    # what has no label is a key, too
    named = [b for b in buckets if b["key"] is not None]
    for key in sorted(named, key=lambda k: k["key"]):
        print(key["key"], key["count"])' | diff want -
	# of each processor what lies between its own markers
	for log in "${traces[@]}"; do
		telcat -H "$log" | awk '/ RunStart /{in_run = 1}
		    in_run; / RunComplete /{in_run = 0}'
	done | sort -s -k1,1 >want
	[ "$(wc -l <want)" = 8 ]
	clean telcat -H --since 'name == RunStart' \
	    --until 'name == RunComplete' "${traces[@]}" |
	    sed 's/ flags=0x20 / flags=0x0 /' | sort -s -k1,1 | diff want -
	run -0 telstat -s 'n=growth(duration)' -k Counter \
	    --since 'name == RunStart && run == 0' \
	    --until 'name == RunComplete && run == 0' "${traces[@]}"
	[[ $output == *'updates 4  total 12,000 '* ]]
	telfilter -c -k Counter --until 'name == RunStart' "${traces[@]}" >got
	telfilter -c -k Counter --since 'name == RunComplete' "${traces[@]}" >>got
	[ "$(cat got)" = $'2\n2' ]
}

@test "a ratio adds up, and --each wants a field and a spec" {
	telstat -f inst -s 'cpi=ratio(PM_CYC,PM_INST_CMPL)' \
	    "$SETS/v2be/HPM.1.startup" >part
	telstat -s 'cpi=ratio(PM_CYC,PM_INST_CMPL)' part \
	    "$SETS/v2be/HPM.2.startup" | grep -v '^Totals' >got
	telstat -s 'cpi=ratio(PM_CYC,PM_INST_CMPL)' \
	    "$SETS"/v2be/HPM.[12].startup | grep -v '^Totals' >want
	diff want got
	grep -q 'by 20,572  total 20,652  ratio 1.004$' got
	run -0 telstat -f openmetrics -s 'cpi=ratio(PM_CYC,PM_INST_CMPL)' \
	    "$SETS/v2be/HPM.1.startup"
	[[ $output == *$'inst_cpi{class="cpi"} 10324\n'* ]]
	[[ $output == *$'inst_cpi_by_total{class="cpi"} 10284\n'* ]]
	log=$SETS/v2be/HPM.1.startup
	expect 2 'telstat: --each requires a spec *' telstat --each 'PM_*' "$log"
	expect 2 'telstat: --each requires a spec *' telstat -s '@=mag(@)' "$log"
	expect 2 "telstat: --each: *matches 'PMX_*'" \
	    telstat -s '@=mag(@)' --each 'PMX_*' "$log"
	expect 2 "telstat: -s: '@=mug(@)': expected a class: *" \
	    telstat -s '@=mug(@)' --each 'PM_*' "$log"
	expect 2 "telstat: -s: 'x=ratio(PM_CYC)': ratio() requires 1 more" \
	    telstat -s 'x=ratio(PM_CYC)' "$log"
	run -0 telstat -s '@=mag(@)' --each 'c*' "$log"
	[[ $output == *$'cpu  (mag)\n  mag(.cpu)\n'*$'caller  (mag)'* ]]
}

@test "counters, threads and methods as lists" {
	for set in v1be.ref-2.2.2 v2be.ref-2.3.0; do
		meta=$SETS/${set%%.*}/HPM.headerFile
		# as the readers print them
		sed -n '/ events:$/,/^$/s/^\([0-9]*\): *\([^: ]*\) *: *\(-*[0-9]*\)$/\1 \2 \3/p' \
		    "$SETS/$set.all.txt" | sort >want
		clean telcat --as hpm-meta -f csv -e Counter "$meta" |
		    tr -d '\r' | awk -F, 'NR > 1 { print $2, $4, $3 }' | sort >got
		[ "$(wc -l <got)" = 9 ]
		[ ! -s want ] || diff want got
		[ "$(telcat --as hpm-meta -e Thread "$meta" | grep -c class=)" = 0 ]
		[ "$(telfilter -c --as hpm-meta -k Thread "$meta")" = 4 ]
	done
	telcat --as hpm-meta -H -e Method "$SETS/v3be/HPM.headerFile" >got
	diff -u - got <<-'END'
		0000000000000000 Method method=1201 name="Lspec/jbb/Warehouse;.run()V"
		0000000000000000 Method method=345 name="Lcom/ibm/JikesRVM/VM_Thread;.yield()V"
	END
	words good-v3le
	cmp <(telcat --as hpm-meta -k Meta,Thread,Counter HPM.headerFile) \
	    <(telcat --as hpm-meta -k Meta,Thread,Counter \
	    "$SETS/v3be/HPM.headerFile")
	cmp <(telcat --as hpm-meta HPM.headerFile) \
	    <(telcat --as hpm-meta -f tel HPM.headerFile | telcat)
	head -c 300 HPM.headerFile >half
	run -3 --separate-stderr telcat --as hpm-meta half
	[[ $stderr == *'invalid record in the meta file'* ]]
	run -1 telcat --as hpm-meta "$SETS/v3be/HPM.1.startup"
	run -1 telfilter --as hpm-meta HPM.headerFile
}

@test "cycles, instructions and cpi, whatever the processor calls them" {
	traces=("$SETS"/v3be/HPM.[12].startup)
	cmp <(telcat -w 'cpi > 1.003' "${traces[@]}") \
	    <(telcat -w 'PM_CYC * 1.0 / PM_INST_CMPL > 1.003' "${traces[@]}")
	[ "$(telfilter -c -w 'cpi > 1.003' "${traces[@]}")" = 6 ]
	[ "$(telfilter -c -w 'cycles > 3000 && instructions < 4000' \
	    "${traces[@]}")" = 2 ]
	cmp <(telstat -s 'x=ratio(cycles,instructions)' "${traces[@]}" |
	    grep updates) \
	    <(telstat -s 'x=ratio(PM_CYC,PM_INST_CMPL)' "${traces[@]}" |
	    grep updates)
	telstat -f csv -s 'c=mag(cpi)' -s 'y=growth(cycles)' "${traces[@]}" |
	    grep -qx ',c,mag,updates,,,,8,'
	cmp <(telstat -f csv -s 'x=growth(cycles)' "${traces[@]}") \
	    <(telstat -f csv -s 'x=growth(PM_CYC)' "${traces[@]}")
	# a field of the name comes first, and what has no such counters says so
	printf '# teltools text 1\n%s cycles=%d cpi=%d\n' \
	    '0000000000000001 Other' 1 7 >text
	[ "$(telfilter -c -w 'cpi == 7 && cycles == 1' text)" = 1 ]
	run -2 telcat -w 'cpi > 1' "$TEL_TOP/tests/data/inst/hfs.txt"
	# also if they are the first fields, and of another log
	printf '# teltools text 1\n%s PM_CYC=%d PM_INST_CMPL=%d\n' \
	    '0000000000000001 Other' 300 100 >text
	[ "$(telfilter -c -w 'cycles == 300 && cpi == 3' text)" = 1 ]
	# a column is one of these, too
	names=cycles,instructions,cpi,thread,type
	telcat -f csv -F "$names" "${traces[@]}" >got
	telcat -f csv -F "(${names//,/),(})" "${traces[@]}" >want
	diff <(tail -n +2 got) <(tail -n +2 want)
	grep -q ',Counter,1081,1071,1.0093370681605975,1,Counter$' got
	printf '# teltools text 1\n%s A thread=%d cpi=%d\n%s B tid=%d type=%d\n' \
	    0000000000000001 1 7 0000000000000002 9 8 >text
	telcat -H -F thread,cpi,type text | diff - <(printf '%s\n' \
	    '0000000000000001 A thread=1 cpi=7' \
	    '0000000000000002 B thread=9 type=8')
	run -2 telcat -F cyclez "${traces[@]}"
	run -2 telcat -F cpi "$TEL_TOP/tests/data/inst/hfs.txt"
}

@test "statistics of cpi have decimals, and add up exactly" {
	traces=("$SETS"/v3be/HPM.[12].startup)
	specs=(-s 'm=mag(cpi)' -s 'd=magdelta(real(-1*cpi,3))' -s 'g=growth(cpi)'
	    -s 'h=hist(cpi,1,1.01,0.001)' -s 's=split(real(cpi,4),.5,.1,1,2,0.25)'
	    -s 'q=quantiles(cpi)' -s 'r=ratio(cpi,1)')
	telcat -H "${traces[@]}" |
	    sed -n 's/.*PM_INST_CMPL=\([0-9]*\).*PM_CYC=\([0-9]*\).*/\2 \1/p' >counts
	[ "$(wc -l <counts)" = 8 ]
	telstat -f csv "${specs[@]}" "${traces[@]}" >whole
	python3 - <<-'END'
		import csv
		from fractions import Fraction as F
		def units(x, d):
		    x *= 10 ** d
		    return int(x + F(1, 2)) if x >= 0 else -int(-x + F(1, 2))
		cpi = [F(float(F(*map(int, line.split())))) for line in open("counts")]
		sums = {}
		for r in csv.DictReader(open("whole")):
		    if r["stat"] == "sum" and r["type"]:
		        sums[r["class"]] = F(r["value"])
		want = F(sum(units(x, 6) for x in cpi), 10 ** 6)
		for name in "mghqr":
		    assert sums[name] == want, (name, sums[name], want)
		assert sums["s"] == F(sum(units(x, 4) for x in cpi), 10 ** 4)
		edges = {(r["lo"], r["hi"]) for r in csv.DictReader(open("whole"))
		         if r["stat"] == "bucket" and r["class"] == "h"}
		assert edges == {("1.002", "1.003"), ("1.003", "1.004"),
		                 ("1.004", "1.005"), ("1.009", "1.01")}, edges
	END
	# the marks of a magdelta say that the order of the parts matters
	specs=("${specs[@]:0:2}" "${specs[@]:4}")
	for i in 0 1; do
		telstat -f inst "${specs[@]}" "${traces[$i]}" >"part$i"
	done
	for form in text csv json openmetrics svg inst; do
		telstat -f "$form" "${specs[@]}" --no-merge "${traces[@]}" >want
		telstat -f "$form" part0 part1 | cmp want -
	done
	telstat -f openmetrics part0 part1 | python3 "$TEL_TOP/tests/cli/openmetrics.py"
	telstat -f text part0 part1 | grep -q '  hist(cpi,1,1.01,0.001)$'
	telstat part0 part1 | grep -q '  split(real(cpi,4),0.5,0.1,1,2,0.25)$'
	telstat -f inst -s 'm=mag(real(cpi,3))' "${traces[0]}" >other
	run -1 --separate-stderr telstat part0 other
	[[ $stderr == *'their decimals differ'* ]]
	for wrong in 'm=mag(real(cpi,0))' 'm=mag(real(cpi,10))' \
	    'm=mag(real(cpi,3)+1)' 'm=mag(real())' 'm=log2(real(cpi))' \
	    'm=tally(real(cpi),9)' 'm=hist(cpi,0,1,0.0000001)' \
	    'm=hist(PM_CYC,0,1,0.5)' 'm=mag(real(cpi)' 'm=mag(real(cpi,1,2))'; do
		run -2 telstat -s "$wrong" "${traces[@]}"
	done
	# a fraction that is rounded down is reported
	printf '# teltools text 1\n# type: T 1 K x:double\n%s\n' \
	    '0000000000000001 T x=-1.5' '0000000000000002 T x=0.25' \
	    '0000000000000003 T x=1e30' >text
	run -0 --separate-stderr telstat -s 'x=mag(x)' text
	[[ $stderr == *"'x' may have a fraction, and is rounded down; real(x) counts it" ]]
	[[ $output == *' min -2  max 0 '*' invalid 1'* ]]
	run -0 --separate-stderr telstat -s 'x=mag(real(x))' text
	[ -z "$stderr" ]
	[[ $output == *' min -1.5  max 0.25  total -1.25'*' invalid 1'* ]]
}

@test "clock and cycles that disagree are reported" {
	awk -v slow=2 'BEGIN {
		print "meta 3 big 2 12\nevent 1 1 PM_CYC\nevent 2 2 PM_X"
		print "trace 1 HPM.headerFile"
		for (i = 1; i <= 50; i++)
			print "counter 2 2 1 1 " i * 1000, i * 1000 + 900, 0, 0,
			    i % 20 == 0 ? 3000 : 8000 + i, i
		print "exit 0"
	}' >slow.txt
	"$TEL_BUILD/tests/test_hpm" --make slow.txt .
	run -0 --separate-stderr telcat HPM.1.startup
	[[ $stderr == *'clock and cycles disagree: 2 of 50 periods '* ]]
	telfilter -w 'cycles > 8000' HPM.1.startup >HPM.2.startup
	run -0 --separate-stderr telcat HPM.2.startup
	[[ $stderr != *disagree* ]]
}

@test "the meta files of many traces are closed" {
	local traces=()
	cp "$SETS"/v3be/HPM.* .
	for _ in {1..60}; do traces+=(HPM.1.startup); done
	(ulimit -n 24 && telcat --no-merge "${traces[@]}") >got 2>messages
	[ "$(grep -c '^# format' got)" = 60 ]
	run ! grep 'Too many' messages
}

@test "a meta file is not a log" {
	expect 1 '*HPM.headerFile: a meta file of HPM traces, not a log: name the traces*' \
	    telcat "$SETS/v3be/HPM.headerFile"
	# also where its start comes in pieces
	run -1 telcat --as hpm < <(head -c 23 "$SETS/v3be/HPM.headerFile"
		sleep 0.1
		tail -c +24 "$SETS/v3be/HPM.headerFile")
	[[ $output == *': a meta file of HPM traces, not a log: name the traces'* ]]
}

@test "without a meta file the layout is guessed, and that is said" {
	# but one that is named must be there, whatever the log
	expect 1 'telcat: nowhere: No such file or directory' \
	    telcat -m nowhere "$SETS/v1be/HPM.1.startup"
	for version in v1be v2be v3be; do
		telcat -H <"$SETS/$version/HPM.1.startup" >got 2>messages
		[ "$(cat messages)" = 'telcat: standard input: its meta file HPM.headerFile was not found; the trace is read with 8 unnamed counters' ]
		diff -u <(telcat -H "$SETS/$version/HPM.1.startup" |
		    sed -e 's/\["[^"]*"\]//g' -e 's/PM_[A-Z0-9_]*/counter/g') \
		    <(sed -e 's/counter[0-9]/counter/g' got)
	done
}

@test "what is strange has flags, and --verbose says what they mean" {
	words strange-flags
	clean telcat -H -w 'flags != 0' HPM.1.startup >got
	grep -o 'flags=0x[0-9a-f]*' got | diff -u - <(printf 'flags=0x%s\n' \
	    1 2 4 8 4 10 60)
	telcat --verbose HPM.1.startup 2>messages >/dev/null
	grep -q '1 records have no start time: their flags have 0x1$' messages
}

# shown LINE ...: clock, processor, thread and flags of counter events.
shown() {
	sed -n 's/^0*\([0-9A-F]*\) Counter \(cpu=[0-9]*\) tid=\([-0-9]*\)[^ ]* flags=/\1 \2 \3 /p'
}

@test "a thread that runs in two traces at once is flagged where they merge" {
	cat >twice.txt <<-'END'
		meta 3 big 1 12
		thread 1 2 class IdleThread
		trace 1 HPM.headerFile
		counter 6 5 1 1 1000 2000 0 0 1
		counter 7 6 1 1 2000 3000 0 0 1
		counter 6 5 1 1 3000 3500 0 0 1
		counter 6 5 1 1 4100 4200 0 0 1
		counter 2 1 1 1 4200 4500 0 0 1
		counter 6 5 1 1 0 5000 0 0 1
		trace 2 HPM.headerFile
		counter 6 5 1 1 1500 1600 0 0 1
		counter 6 5 1 1 1700 1800 0 0 1
		counter 7 6 1 1 3000 3100 0 0 1
		counter 6 5 1 1 3200 4150 0 0 1
		counter 1 1 1 1 4250 4400 0 0 1
		trace 3 HPM.headerFile
		counter 6 5 1 1 1900 1950 0 0 1
		counter 7 6 1 1 2999 3050 0 0 1
		exit 0
	END
	"$TEL_BUILD/tests/test_hpm" --make twice.txt .
	# alone none is
	for log in HPM.?.startup; do
		run -0 telcat -q -H -w 'flags & 0x20 != 0' "$log"
		[ "$output" = '' ]
	done
	# those that begin while the thread runs in any other of the traces,
	# and not the one whose begin is not known, nor thread 1, which may be
	# another: the primordial one
	cat >want <<-'END'
		3E8 cpu=1 5 0x0
		5DC cpu=2 5 0x20
		6A4 cpu=2 5 0x20
		76C cpu=3 5 0x20
		7D0 cpu=1 6 0x0
		BB7 cpu=3 6 0x20
		BB8 cpu=1 5 0x0
		BB8 cpu=2 6 0x20
		C80 cpu=2 5 0x20
		1004 cpu=1 5 0x20
		1068 cpu=1 1 0x0
		1068 cpu=1 5 0x1
		109A cpu=2 1 0x80
	END
	telcat -F cpu,tid,flags --verbose HPM.?.startup 2>messages |
	    shown | sed 's/0x24$/0x20/' >got
	diff -u want got
	[ "$(grep -c ' also ran on another processor, in another log: ' \
	    messages)" = 3 ]
	grep -q 'HPM.2.startup: 4 records are of a thread that also ran ' messages
	# so it is in an archive, and in order of time a trace alone
	tar cf run.tar HPM.?.startup HPM.headerFile
	telcat -F cpu,tid,flags run.tar | shown | sed 's/0x24$/0x20/' |
	    diff want -
	[ "$(telfilter -c -w 'flags & 0x20 != 0' HPM.?.startup)" = 7 ]
	[ "$(telfilter -c -w 'flags & 0x20 != 0' --no-merge HPM.?.startup |
	    grep -c ':0$')" = 3 ]
	run -0 telstat -S -s 'n=tally(tid,9)' -w 'flags & 0x20 != 0' \
	    HPM.?.startup
	[[ $output == *'updates 7 '* ]]
	# what is written has the flag, and the traces' own bytes do not
	telcat -f tel HPM.?.startup | telcat -F cpu,tid,flags | shown |
	    sed 's/0x24$/0x20/' | diff want -
	clean telfilter -w 'cpu == 2' HPM.?.startup | cmp - HPM.2.startup
}

@test "damage costs what is damaged" {
	words bad-middle
	run -3 --separate-stderr telcat -H HPM.7.startup
	[ "${#lines[@]}" = 6 ]
	[[ ${stderr_lines[0]} == *'offset 150: invalid record; 15 bytes skipped' ]]
	[[ ${stderr_lines[1]} == *'offset 304: padding that is not zero; 1 bytes skipped' ]]
	[[ ${stderr_lines[2]} == *'offset 377: the trace ends inside a record; its first 34 bytes are left out' ]]
	run -1 --separate-stderr telcat --strict HPM.7.startup
}

@test "no trace of this form is taken for another, nor the other way round" {
	for file in "$SETS"/v?be/HPM.?.startup; do
		cmp <(telcat "$file") <(telcat --as hpm "$file")
	done
	for log in "$DATA"/*.log.zst; do
		run -1 --separate-stderr telcat --as hpm "$log"
		[[ $stderr == *'not an HPM trace'* ]]
	done
}

@test "traces and meta files are what a model has that was written from tel-hpm(5)" {
	python3 "$TEL_TOP/tests/spec/hpm_model.py" "${TEST_SEED:-7}"
}
