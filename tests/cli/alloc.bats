#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Traces of allocators that other tools wrote, tel-alloc(5).

# "run --separate-stderr" sets stderr.
# shellcheck disable=SC2154,SC2094

load lib

ALLOC=$TEL_TOP/tests/data/alloc
SCRIPT=$TEL_TOP/tests/cli/alloc.py

# Each trace, with what the other reader sees of it.
setup_file() {
	cd "$BATS_FILE_TMPDIR" || exit
	for trace in "$ALLOC"/*.*; do
		case $trace in *.md) continue ;; esac
		zstd -dqcf "$trace" >"$(basename "$trace" .zst)"
		echo "$trace" >>traces
	done
	[ "$(wc -l <traces)" -ge 30 ]
	python3 "$SCRIPT" ./*.*
}

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
}

# form FILE: what the name of a trace says that it is.
form() {
	local name=${1##*/}
	name=${name%.zst}
	echo "${name##*.}"
}

# Events without their clocks, which count lines.
bare() {
	telcat -q --no-header "$@" | cut -d ' ' -f 2-
}

@test "each trace is found, and its events are those that another reader sees" {
	while read -r trace; do
		echo "$trace"
		clean telcat "$trace" >text
		grep -qx "# format: $(form "$trace")" text
		grep -v '^#' text |
		    cmp "$BATS_FILE_TMPDIR/$(basename "$trace" .zst).text" -
	done <"$BATS_FILE_TMPDIR/traces"
}

@test "a trace comes through a pipe, and is called by its name" {
	for trace in "$ALLOC"/calls.* "$ALLOC"/hand.*; do
		telcat -q "$trace" >want
		zstd -dqcf "$trace" >plain
		telcat -q <plain | cmp want -
		telcat -q --as "$(form "$trace")" plain | cmp want -
	done
}

@test "the text of telcat is read back, with its roles" {
	for trace in "$ALLOC"/sqlite3.* "$ALLOC"/calls.* "$ALLOC"/short.rep; do
		telcat -q "$trace" >text
		clean telcat text | cmp text -
	done
	grep -qx '# role: malloc alloc id size' text
	grep -qx '# role: realloc realloc id size old=id' text
	telcat "$ALLOC/times.android" | grep -qx '# tick rate: 1000000000.0'
}

@test "telfilter writes the lines unchanged" {
	for trace in "$ALLOC"/*.android* "$ALLOC"/*.mtrace.zst \
	    "$ALLOC"/*.heaptrack*.zst "$ALLOC"/*.rep "$ALLOC"/hand.logalloc; do
		zstd -dqcf "$trace" >plain
		telfilter plain | cmp plain -
	done
	for trace in "$ALLOC"/*.ltrace.zst "$ALLOC"/*.valgrind.zst \
	    "$ALLOC"/*.kdump; do
		telfilter "$trace" >got
		bare got >have
		bare "$trace" | cmp - have
	done
}

@test "telfilter keeps events of some types, and what they need" {
	for trace in "$ALLOC"/calls.* "$ALLOC"/sqlite3.heaptrack.zst; do
		telfilter -w 'size >= 100' "$trace" >got
		telcat -q -H -w 'size >= 100' "$trace" |
		    cut -d ' ' -f 2- >want
		telcat -q -H -w 'size >= 100' got | cut -d ' ' -f 2- |
		    cmp want -
		test -s want
	done
	# the last one: what says which backtrace an event has
	run -0 telcat -q --no-header got
	[[ $output == *' trace number='*' ip='* ]]
}

@test "traces whose numbers are their own are not written as one" {
	cp "$ALLOC/short.rep" a.rep
	run -1 --separate-stderr telfilter a.rep a.rep
	[[ $stderr == *'cannot be written as one'* ]]
	telfilter "$ALLOC/old.android" "$ALLOC/old.android" >two
	[ "$(telcat -q -H two | wc -l)" -eq 12 ]
}

@test "a broken line is damage, what the program says is none" {
	{ cat "$ALLOC/old.android"; echo '12: malloc 0x10'; } >bad
	run -3 --separate-stderr telcat -H bad
	[ "${#lines[@]}" -eq 6 ]
	[[ $stderr == *'expected a blank and a number'* ]]
	run -1 telcat --strict bad
	{ echo hello; zstd -dqc "$ALLOC/calls.valgrind.zst"; } >mixed
	clean telcat -H mixed >got
	[ "$(wc -l <got)" -eq 161 ]
	run -0 --separate-stderr telcat --verbose -H mixed
	[[ $stderr == *'17 lines of '*'are not operations of an allocator'* ]]
	{ cat mixed; echo '--7-- malloc(5) = 0xZ'; } >bad
	run -3 telcat -q -H bad
	[ "${#lines[@]}" -eq 161 ]
}

@test "an argument that is no number, half of a realloc, and a symbol with a version" {
	printf '7 7 %s\n' 'malloc(42)=#1' 'free(#x)' 'free(#1)' >slots
	run -3 --separate-stderr telcat -H --as logalloc slots
	[ "${#lines[@]}" -eq 2 ]
	[[ $stderr == *'expected a number, found "#x)"'* ]]
	# the second line of a realloc
	printf '@ ./a:[0x1] %s\n' '< 0x1000' '+ 0x2000 0x10' >half
	run -3 --separate-stderr telcat -c --as mtrace half
	[ "$output" = 1 ]
	[[ $stderr == *'expected another line that continues it, found the end of the line'* ]]
	printf 't->%s\n' 'malloc@libc.so.6(513) = 0x5600' \
	    'free@@GLIBC_2.2.5(0x5600) = <void>' 'malloc@libc.so.6 = 0x5600' >versions
	clean bare versions | diff - <(printf '%s tid=0\n' \
	    'malloc address=0x5600 size=513' 'free address=0x5600')
}

@test "the data of heaptrack have the figures of the raw trace that they are made of" {
	for log in perl.heaptrack perl.heaptrack-data; do
		telstat "$ALLOC/$log.zst" >report
		sed -n '/^allocated/,/^threads/p' report >$log.blocks
		# totals by size, whatever a backtrace is called
		telstat -f csv -s 'n=tally(size,4096) if allocates' "$ALLOC/$log.zst" |
		    grep -v totals | sed 's/^[^,]*,//' | sort >$log.sizes
	done
	[ "$(wc -l <perl.heaptrack.blocks)" -ge 5 ]
	diff perl.heaptrack.blocks perl.heaptrack-data.blocks
	diff perl.heaptrack.sizes perl.heaptrack-data.sizes
	# as heaptrack_print has it: calls, temporary, peak of 223.54K
	grep -q '^allocated  *564 blocks' report
	grep -q '^temporary  *84 blocks' report
	grep -q '^peak .* 223,5[0-9][0-9] bytes' report
	telcat -f folded "$ALLOC/perl.heaptrack-data.zst" >folded
	grep -qx '_start;.*;main;perl_construct;Perl_hv_scalar;Perl_die_nocontext 32768' folded
}

@test "the data of heaptrack, line by line" {
	# strings have their length from format 3 on
	cat >new <<-'END'
		v 10400 3
		X ./a b
		I 1000 5e2922
		s 6 /bin/a
		s 4 main
		s 5 /s/a.c
		s 5 inner
		i 10 1
		t 1 0
		i 2f 1 2 3 1f
		t 2 1
		i 3f 1 4 3 2 2 3 a
		t 3 2
		i 4f 1 2
		t 4 0
		a 8 3
		a 40 4
		+ 0
		+ 0
		+ 1
		c 5
		- 0
		+ 0
		- 0
		- 0
		- 0
		R 3ff

		# strings: 4
	END
	telcat -H new | grep -v ' note ' | sed 's/^[0-9A-F]* //' >text
	diff text - <<-'END'
		trace number=1 ip=0x10["/bin/a"] parent=0
		trace number=2 ip=0x2f["main at /s/a.c:31"] parent=1
		trace number=3 ip=0x3f["inner at /s/a.c:2 <- main at /s/a.c:10"] parent=2
		trace number=4 ip=0x4f["main"] parent=0
		malloc id=1 size=8 trace=3
		malloc id=2 size=8 trace=3
		malloc id=4294967297 size=64 trace=4
		clock milliseconds=5
		free id=2
		malloc id=2 size=8 trace=3
		free id=2
		free id=1
		free id=0
		resident pages=1023
	END
	sed -E 's/^s [0-9] /s /; s/^v .*/v 10250 2/' new >old
	diff <(telcat -H new | grep -v ' note ') <(telcat -H old | grep -v ' note ')
	telstat new >report
	grep -q '^live  *1 blocks  *64 bytes' report
	grep -q '^unknown  *1 blocks freed' report
	telcat -f tel -o new.tel new
	cmp <(telcat -H new) <(telcat -H new.tel)
	# suppressions and times are before the first allocation
	{ head -n 3 new; printf '%s\n' S\ leak:{a..f} c\ {1..3} 'R 3' A; sed 1,3d new; } >late
	diff <(bare -e trace,malloc,free new) <(bare -e trace,malloc,free late)
	telcat -H <late | cmp - <(telcat -H late)
	# the names of functions that are inlined are all there
	long=$(printf '%03000d' 0)
	sed "s/^s 5 inner/s bb9 x$long/" new >inlined
	telcat -f folded inlined >folded
	grep -qx "/bin/a;main;main;x$long 24" folded
	# of 10,000 long ones those that have room are put together, for each of 8,000
	{
		printf 'v 10400 2\nX a\nI 1000 5\ns %s\ni 10 1' "$long"
		printf ' 1%.0s' {1..30000}
		printf '\nt 1 0%.0s' {1..8000}
		printf '\n'
	} >many
	run -0 timeout 30 telstat many
	[[ $output == *'events  8,005'* ]]
	# a string, or a size, that is not valid has a number
	sed 's/^s 6 .*/s x/; s/^a 8 3/a x/' new >damaged
	run -3 --separate-stderr telcat -H damaged
	[[ $output == *'"inner at /s/a.c:2 <- main at /s/a.c:10"'*' malloc id=4294967297 size=64 '* ]]
	# what was not defined, before or at all, is damage
	while read -r line; do
		{ head -n 21 new; echo "$line"; sed 1,21d new; } >damaged
		run -3 --separate-stderr telcat -c damaged
		[[ $stderr == *'damaged: offset '* ]] || { echo "$line"; return 1; }
	done <<-'END'
		+ 2
		- 2
		+ 100000000
		t 5 0
		t 0 0
		i 5f 5
		i 5f 1 2 5 1
		i 5f 1 2 3 100000000
		i 5f 1 x
		i
		a 8
		a 8 3 4
		s main
		m 1 -
		+ 8 1 10
	END
}

@test "a cut heaptrack file" {
	zstd -dqc "$ALLOC/perl.heaptrack.zst" >plain
	{ head -n 400 plain; printf '%s' '- 5581b2'; } >short
	run -0 --separate-stderr telcat -H short
	[ "${#lines[@]}" -eq 401 ]
	[[ $stderr == *'may be truncated'* ]]
	# such a line elsewhere is damage
	{ head -n 400 plain; echo 's main'; sed 1,400d plain; } >damaged
	run -3 --separate-stderr telcat -c damaged
	[ "$output" = "$(telcat -c plain)" ]
}

@test "a trace with fewer operations than it says" {
	sed '$d' "$ALLOC/short.rep" >less.rep
	run -0 --separate-stderr telcat less.rep
	[[ $stderr == *'the header says 9 operations, but there are 8'* ]]
}

# What telstat says in JSON, in the names and order of alloc.py.
totals() {
	telstat -q -f json "$@" | sed -n 's/"//g; s/.*type:totals,//p' |
	    tr -s ',}' '\n' | awk -F: '{ of[$1] = $2 }
		END {
			if (!("live_blocks" in of))
				exit 1
			print "allocs", of["allocated_blocks"]
			print "alloc_bytes", of["allocated_bytes"]
			print "frees", of["freed_blocks"]
			print "free_bytes", of["freed_bytes"]
			print "live", of["live_blocks"]
			print "live_bytes", of["live_bytes"]
		}'
}

@test "telstat counts what was allocated, freed, and lives" {
	while read -r trace; do
		echo "$trace"
		totals "$trace" |
		    diff "$BATS_FILE_TMPDIR/$(basename "$trace" .zst).totals" -
	done <"$BATS_FILE_TMPDIR/traces"
	telcat -q "$ALLOC/perl.ltrace.zst" | totals >got
	totals "$ALLOC/perl.ltrace.zst" | cmp - got
}

@test "a line of ltrace without a process has none of the line before" {
	printf '%s\n' '[pid 7] malloc(10) = 0x1000' 'malloc(20) = 0x2000' \
	    '[pid 8] free(0x1000) = <void>' >calls
	clean telcat --no-header -f json calls |
	    jq -c '[.fields.size, .fields.tid]' >got
	diff - got <<-'END'
		[10,7]
		[20,0]
		[null,8]
	END
}

@test "blocks of several processes are distinct" {
	zstd -dqc "$ALLOC/perl.valgrind.zst" >one
	awk '{ print; sub(/--[0-9]+--/, "--77777--"); print }' one >two
	# but for what says which event it was, or what was live at one
	facts() {
		telreplay --dry-run -f json "$@" |
		    sed '/anomaly event/d; s/"peak_[a-z_]*":[0-9]*,//g'
	}
	clean facts one >want
	clean facts -w 'pid == 77777' two | cmp want -
	clean facts two >both
	run ! grep 'free of an' both
	run ! grep 'live address' both
	grep -q '"threads":2,.*"crossing_frees":0,' both
	requests=$(sed -n 's/.*"requests":\([0-9]*\),"req.*/\1/p' want)
	grep -q "\"requests\":$((2 * requests))," both
	totals one | awk '{ print $1, 2 * $2 }' >want
	totals two | diff want -
	# as text it is known, too
	telcat two >text
	grep -qx '# role: free free address process=pid' text
	clean facts text | cmp both -
	# and errors have the address of the log
	{ cat two; echo '--77777-- free(0x1234)'; } >wrong
	run -0 --separate-stderr telreplay --verbose --dry-run wrong
	[[ $stderr == *' a block it inherited: 0x1234, thread 0'* ]]
}

@test "a child may free what the log's first process allocated, or did before" {
	printf -- '--%s\n' '7-- malloc(8) = 0x10' '7-- malloc(8) = 0x20' \
	    '8-- free(0x10)' '8-- realloc(0x20,16) = 0x30' '8-- free(0x30)' \
	    '9-- free(0x40)' '7-- free(0x10)' >forks
	clean telreplay --dry-run --strict forks >report
	grep -q '^  not freed *8 bytes in 1 blocks$' report
	grep -q '^  anomaly *3 free or realloc in a child of a block ' report
	# telstat and its logs of statistics count the same
	telstat -q --raw forks >report
	grep -q '^inherited  *3 blocks of a parent process freed$' report
	run ! grep '^unknown ' report
	telstat -q -f inst -o kept.inst forks
	telstat -q -f json kept.inst | grep -q '"freed_inherited_blocks":3[,}]'
	# the first process has not inherited anything, and no program has that
	# was executed: telrec counts those above 22 bits
	for pid in 7 $((8 + (1 << 22))); do
		{ cat forks; echo "--$pid-- free(0x50)"; } >wrong
		exits 3 telreplay -q --dry-run wrong >report
		grep -q '^  damage *1 free of an unknown address; first: event 7, 0x50$' \
		    report
		telstat -q --raw wrong >report
		grep -q '^unknown  *1 blocks freed, but not' report
		grep -q '^inherited  *3 ' report
	done
}

@test "equal addresses of different processes are different blocks" {
	printf -- '--%s\n' '7-- malloc(8) = 0x10' '8-- malloc(8) = 0x10' \
	    '7-- free(0x10)' '9-- free(0x10)' '8-- free(0x10)' >two
	telstat --tb-hz 1 -q -s 'life=dur(malloc,free,address)' two >life
	grep -q 'events 5  pairs 2  total 5 s  min 2 s  max 3 s ' life
	grep -q 'open 0  orphan 1$' life
}

@test "operations that wait for earlier ones have their processes and weights" {
	{
		printf '%s\n' '# teltools text 1' '# format: mine' \
		    '# type: Grab 1 Mine p:address n:unsigned q:address' \
		    '# type: Take 2 Mine p:address n:unsigned who:unsigned w:unsigned' \
		    '# type: Drop 3 Mine p:address n:unsigned q:address' \
		    '# type: Give 4 Mine p:address n:unsigned who:unsigned' \
		    '# role: Grab alloc p n q' '# role: Drop free p n q' \
		    '# role: Take alloc p n process=who weight=w' \
		    '# role: Give free p n process=who'
		# the places of those without a process are taken by others later
		awk 'BEGIN { for (i = 1; i <= 90000; i += 6) {
			a = 4096 + 64 * (i % 7919)
			printf "%016x Take p=0x%x n=8 who=1 w=80\n", i + 1, a
			printf "%016x Grab p=0x%x n=16 q=0x%x\n", i, a, 1 + i % 4
			printf "%016x Take p=0x%x n=8 who=2 w=0\n", i + 2, a
			printf "%016x Drop p=0x%x n=16 q=0x%x\n", i + 3, a, 1 + i % 4
			printf "%016x Give p=0x%x n=8 who=2\n", i + 5, a
			printf "%016x Give p=0x%x n=80 who=1\n", i + 4, a
		} }'
	} >log
	clean telcat --file-order -f tel -o log.tel log
	printf '%s\n' 'allocs 180000' 'alloc_bytes 1560000' 'frees 180000' \
	    'free_bytes 1560000' 'live 0' 'live_bytes 0' >want
	totals -j 1 log | diff want -
	totals -j 1 log.tel | diff want -
	totals -j 2 log.tel | diff want -
}

@test "one block of 300 that has a lifetime is the longest" {
	local i
	for ((i = 1; i <= 300; i++)); do
		printf '1700000000.%06d malloc(8) = 0x%x\n' $i $((4096 * i))
		printf '1700000000.%06d free(0x%x) = <void>\n' $((i + (i == 300))) $((4096 * i))
	done >brief
	telstat -q brief |
	    grep -qx 'lifetimes  p50 0 ns  p90 0 ns  p99 0 ns  longest 1 us'
}

@test "types that the user says allocate" {
	cat >log <<-'END'
		# teltools text 1
		# format: mine
		# type: Grab 1 Mine p:address n:unsigned
		# type: Move 2 Mine p:address q:address n:unsigned
		# type: Drop 3 Mine p:address
		0000000000000001 Grab p=0x10 n=100
		0000000000000002 Grab p=0x20 n=50
		0000000000000003 Move p=0x30 q=0x20 n=75
		0000000000000004 Drop p=0x10
	END
	run ! totals log
	totals --alloc 'Grab(ptr=p,size=n)' --free 'Drop(ptr=p)' \
	    --realloc 'Move(address=p,old=q,size=n)' log >got
	printf '%s\n' 'allocs 3' 'alloc_bytes 225' 'frees 2' \
	    'free_bytes 150' 'live 1' 'live_bytes 75' | diff - got
	telcat --alloc 'Grab(ptr=p,size=n)' --realloc 'Move(ptr=p,old=q)' \
	    --free 'Drop(ptr=p)' log >text
	grep -qx '# role: Grab alloc p n' text
	grep -qx '# role: Move realloc p old=q' text
	grep -qx '# role: Drop free p' text
}

@test "invalid roles are errors" {
	printf '# format: mine\n0000000000000001 Grab p=0x10 n=100\n' >log
	for bad in 'Grab' 'Grab()' 'Grab(size=n)' 'Grab(ptr=p' 'Grab(x=p)' \
	    'Grab(ptr=)' '(ptr=p)' 'Grab(ptr=p,address=p)' 'Grab(ptr=p)x'; do
		echo "$bad"
		run -2 --separate-stderr telstat --alloc "$bad" log
		[[ $stderr == *"--alloc: '$bad': expected 'TYPE("* ]]
	done
	run -0 --separate-stderr telstat --alloc 'Grab(ptr=z)' log
	[[ $stderr == *'Grab has no field ptr=z'* ]]
	run -0 --separate-stderr telstat --free 'Drop(ptr=p)' log
	[[ $stderr == *'unknown event type Drop'* ]]
	# of the members of an archive one has it
	telcat -q "$ALLOC/short.rep" >text
	tar cf both.tar log text
	clean telstat -q --alloc 'Grab(ptr=p,size=n)' both.tar >got
	run -0 --separate-stderr telstat --free 'Drop(ptr=p)' both.tar
	[ "$(grep -c 'unknown event type' <<<"$stderr")" -eq 1 ]
	unpack 1.118.0-lii6gc-poolncv
	run -0 --separate-stderr telstat --alloc 'Intern(ptr=stringId)' mpsio.log
	[[ $stderr == *'Intern is stream metadata'* ]]
}

@test "what mtrace writes of a program now" {
	command -v gcc >/dev/null || skip "no gcc"
	cat >live.c <<-'END'
		#include <mcheck.h>
		#include <stdlib.h>
		int main(void)
		{
			mtrace();
			char *volatile p = malloc(1234);
			p = realloc(p, 99999);
			char *volatile q = calloc(10, 7);
			free(p);
			free(q);
			return 0;
		}
	END
	gcc -o live live.c 2>/dev/null
	MALLOC_TRACE=live.mtrace LD_PRELOAD=libc_malloc_debug.so.0 ./live
	test -s live.mtrace || skip "mtrace writes nothing here"
	bare live.mtrace | sed 's/ .*size=/ /; s/ [a-z].*//' >got
	printf '%s\n' 'malloc 1234' 'realloc 99999' 'malloc 70' free free |
	    cmp - got
}
