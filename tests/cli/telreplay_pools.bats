#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Pool allocators: what telreplay says of pools to a plug-in, and those of the
# Memory Pool System where there is one.

load telreplay

# plugin NAME: of the C on standard input, behind what they all have.
plugin() {
	needs_preload
	{
		cat <<-END
			#include <stdio.h>
			#include <stdlib.h>
			#include <string.h>
			#include <tel_pool.h>
			static void *get(void *p, size_t n) { (void)p; return malloc(n); }
			static void put(void *p, void *b, size_t n)
			{ (void)p; (void)n; free(b); }
		END
		cat
	} >"$1.c"
	${CC:-cc} -std=gnu11 -shared -fPIC -I"$TEL_TOP/include" -o "$1.so" "$1.c"
}

# refused WHY ALLOCATOR: it fails before t.txt is run.
refused() {
	run -1 --separate-stderr telreplay -a "$2" t.txt
	# shellcheck disable=SC2154 # set by run
	[[ $stderr == *"$1"* ]]
	[[ $output == *"FAILED: "*"$1"* ]]
}

# A plug-in that writes what it knows of pools to the file of its parameter.
teller() {
	plugin tells <<-END
		static FILE *file;
		static const char *start(const char *p, const tel_pool_trace *t,
		    void **s) { (void)t; *s = file = fopen(p, "w");
			return file != NULL ? NULL : "no file"; }
		static void end(void *s) { (void)s; fclose(file); }
		struct pool { int internal; };
		static void *create(void *s, uint64_t n, const char *text) {
			struct pool *p = malloc(sizeof(*p));
			(void)s; (void)n;
			fprintf(file, "%s\n", text);
			p->internal = strstr(text, "PoolInitMFS") != NULL;
			return p; }
		static int internal(void *p)
		{ return ((struct pool *)p)->internal; }
		const tel_pool_table tel_pool_allocator = {
			.version = TEL_POOL_VERSION, .name = "tells",
			.start = start, .end = end, .alloc = get, .free = put,
			.create_as = create, .internal = internal };
	END
}

@test "a plug-in that does not take threads is called by one at a time" {
	for i in 1 2 3 4 5 6 7 8; do
		printf '1: malloc 0x1%d00 9%d\n2: malloc 0x2%d00 50\n' $i $i $i
	done >t.txt
	for flags in 0 TEL_POOL_THREADS; do
		plugin "flags_$flags" <<-END
			#include <unistd.h>
			static int inside, most;
			static tel_pool_trace trace;
			static const char *start(const char *p, const tel_pool_trace *t,
			    void **s) { (void)s; trace = *t; return p[0] ? "!" : NULL; }
			static void end(void *s) { (void)s;
				fprintf(stderr, "%s, %d of %d, %d by %d, %d pools\n",
				    most > 1 ? "at once" : "in turn", (int)trace.largest,
				    (int)trace.peak_bytes, (int)trace.peak_blocks,
				    (int)trace.threads, (int)trace.pools); }
			static void *wait(void *p, size_t n) {
				int now = __atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST);
				if (now > most) most = now;
				usleep(20000);
				__atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
				return get(p, n); }
			const tel_pool_table tel_pool_allocator = {
				.version = TEL_POOL_VERSION, .name = "waits", .flags = $flags,
				.start = start, .end = end, .alloc = wait, .free = put };
		END
		telreplay --order none --runs 1 --idle 0 -a "./flags_$flags.so" \
		    t.txt 2>&1 >report | sed 's/.*: //' >"said_$flags"
	done
	# and a message of one byte is one, too
	refused '!' ./flags_0.so:x
	echo 'in turn, 98 of 1156, 16 by 2, 0 pools' | diff - said_0
	echo 'at once, 98 of 1156, 16 by 2, 0 pools' | diff - said_TEL_POOL_THREADS
}

@test "a plug-in is given what the log says of a pool" {
	teller
	for name in 1.118.0-lii6gc-poolncv 1.117.0-lii6gc-poolncv \
	    1.112.0-lii6gc-poolncv; do
		echo "$name"
		zstd -dcqf "$TEL_TOP/tests/data/mps/$name.log.zst" >x.log
		clean telreplay -q --dry-run --program x.prog x.log >report
		clean telreplay --runs 1 -f csv -a ./tells.so:x.txt x.prog >report
		[ "$(figure allocator tells failed <report)" = 0 ]
		# and no other: each block is in a pool of the log
		[ "$(wc -l <x.txt)" -eq "$(figure trace '' pools <report)" ]
		# the pool of the arena, by its parameters in the log
		telcat -S -e 'PoolInitMV*' x.log >events
		grep -m 1 extendBy= events |
		    sed 's/.*extendBy/extendBy/; s/=false/=0/g; s/=true/=1/g' >want
		grep -F "$(cat want)" x.txt
	done
}

@test "pools of two processes at one address have their own descriptions" {
	teller
	cat >two.txt <<-'END'
	# teltools text 1
	# type: make 1 Pool pool:address pid:unsigned
	# type: tell 2 Pool pool:address pid:unsigned units:unsigned
	# type: get 3 Pool at:address size:unsigned pool:address pid:unsigned
	# role: make create-pool pool=pool process=pid
	# role: tell describe-pool pool=pool process=pid
	# role: get alloc at size pool process=pid
	0000000000000001 make pool=0x1000 pid=1
	0000000000000002 tell pool=0x1000 pid=1 units=11
	0000000000000003 make pool=0x1000 pid=2
	0000000000000004 tell pool=0x1000 pid=2 units=22
	0000000000000005 get at=0x10 size=8 pool=0x1000 pid=1
	0000000000000006 get at=0x10 size=8 pool=0x1000 pid=2
	0000000000000007 tell pool=0 pid=0 units=33
	0000000000000008 tell pool=0 pid=2 units=33
	0000000000000009 make pool=0x1 pid=0
	000000000000000A tell pool=0x1 pid=2 units=44
	000000000000000B make pool=0x1 pid=2
	END
	exits 3 telreplay -q --runs 1 -a ./tells.so:x.txt two.txt
	cat x.txt
	# none has the description of no pool; processes have threads of their own
	LC_ALL=C sort x.txt | diff - <(printf '%s\n' 'make pid=0' \
	    'make pid=1 tell pid=1 units=11' 'make pid=2 tell pid=2 units=22' \
	    'tell pid=2 units=44 make pid=2')
}

@test "what a log does in pools of the allocator's own is left out" {
	teller
	zstd -dcqf "$TEL_TOP/tests/data/mps/1.118.0-lii6gc-awlut.log.zst" >x.log
	telcat -S -e PoolInitMFS x.log |
	    sed -n 's/.* pool=\([0-9a-fx]*\).*/ pool=\1/p' | sort -u >pools
	telcat -S -e PoolAlloc x.log | grep ' pool=' >allocations
	left=$(grep -c -F -f pools allocations)
	all=$(wc -l <allocations)
	echo "$left of $all"
	[ "$left" -gt 0 ]
	[ "$left" -lt "$all" ]
	clean telreplay --runs 2 --verify -f csv -a ./tells.so:x.txt x.log >report
	[ "$(figure allocator tells left_out <report)" = "$left" ]
	[ "$(figure allocator tells errors <report)" = 0 ]
	[ "$(figure run tells operations <report | head -n 1)" = \
	    "$(figure run tells operations <report | tail -n 1)" ]
	# memory is compared with what the run had live
	[ "$(figure memory tells run_live_bytes <report)" -lt \
	    "$(figure trace '' peak_bytes <report)" ]
	clean telreplay --runs 1 -a ./tells.so:x.txt x.log >report
	grep "leaves out $left allocations" report
}

@test "a plug-in may move blocks, whose addresses telreplay has in its table" {
	plugin moves <<-END
		static void **table;
		static size_t count;
		static void roots(void *s, void **first, size_t n)
		{ (void)s; table = first; count = n; }
		static char *fresh(size_t n) { char *b = malloc(n + 16);
			memcpy(b, &n, sizeof(n)); return b + 16; }
		/* All blocks, each time. */
		static void move(void) { size_t i, n; char *b;
			for (i = 0; i < count; i++) {
				if (table[i] == NULL)
					continue;
				memcpy(&n, (char *)table[i] - 16, sizeof(n));
				b = fresh(n);
				memcpy(b, table[i], n);
				memset(table[i], 0xee, n);
				table[i] = b;
			} }
		static void *alloc(void *p, size_t n)
		{ (void)p; move(); return fresh(n); }
		static void drop(void *p, void *b, size_t n)
		{ (void)p; (void)b; (void)n; move(); }
		static void *resize(void *p, void *b, size_t from, size_t to) {
			char *now = fresh(to);
			(void)p; memcpy(now, b, from < to ? from : to);
			return now; }
		const tel_pool_table tel_pool_allocator = {
			.version = TEL_POOL_VERSION, .name = "moves",
			.alloc = alloc, .free = drop, .resize = resize,
			.roots = roots };
	END
	python3 "$MODEL" make 5 1500 1 >t.txt
	clean telreplay --runs 1 --verify -f csv -a ./moves.so t.txt >report
	[ "$(figure allocator moves failed <report)" = 0 ]
	[ "$(figure allocator moves errors <report)" = 0 ]
	[ "$(figure run moves operations <report)" -eq 1500 ]
}

@test "plug-ins of an older version run, those of a newer one do not" {
	for version in 1 3; do
		plugin of$version <<-END
			const tel_pool_table tel_pool_allocator = {
				.version = $version, .name = "of$version",
				.release = "1.$version-b",
				.alloc = get, .free = put,
				/* not there, in version 1 */
				.roots = (void (*)(void *, void **, size_t))1 };
		END
	done
	python3 "$MODEL" make 5 500 1 >t.txt
	clean telreplay --runs 1 --verify -f csv -a ./of1.so t.txt >report
	[ "$(figure allocator of1 errors <report)" = 0 ]
	[ "$(figure allocator of1 version <report)" = 1.1-b ]
	refused "version 3 of tel_pool.h, not 1 to 2" ./of3.so
}

@test "a block is written again before it is freed, if that is asked for" {
	plugin again <<-END
		static char *last;
		static void *alloc(void *p, size_t n) { char *b = malloc(n);
			(void)p;
			if (last != NULL)
				*last = 0;
			return last = b; }
		static void drop(void *p, void *b, size_t n) { (void)p; (void)n;
			if (*(char *)b != 1)
				abort();
			last = NULL; free(b); }
		const tel_pool_table tel_pool_allocator = {
			.version = TEL_POOL_VERSION, .name = "again",
			.alloc = alloc, .free = drop };
	END
	for i in $(seq 300); do
		echo "1: malloc 0x${i}000 100"
		[ "$i" -lt 3 ] || echo "1: free 0x$((i - 2))000"
	done >t.txt
	for what in all,free first,free 50%,free; do
		clean telreplay --runs 1 --sample 2 --touch "$what" \
		    -f csv -a ./again.so t.txt >report
		[ "$(figure allocator again failed <report)" = 0 ]
		grep -F "machine,,,touch,\"$what\"" report
	done
	run -1 telreplay --runs 1 --touch all -a ./again.so t.txt
}

# ------------------------------------------------- the Memory Pool System

# Builds mps.so over the MPS of MPS_SRC, or over the one that is installed, or that
# MPS_CFLAGS and MPS_LIBS say where to find.  Further arguments are for make.
needs_mps() {
	needs_preload
	[ -z "${TEST_VALGRIND-}" ] || skip "an MPS handles faults by itself"
	# shellcheck disable=SC2086 # several words on purpose
	echo '#include <mps.h>' | ${CC:-cc} ${MPS_CFLAGS-${MPS_SRC:+-I$MPS_SRC}} \
	    -E - >/dev/null 2>&1 ||
	    skip "no mps.h: MPS_SRC, or MPS_CFLAGS and MPS_LIBS, are not set"
	# the flags of the suite are not for what others have compiled
	make -C "$TEL_TOP" BUILD="$BATS_TEST_TMPDIR" CFLAGS=-Werror LDFLAGS= \
	    "$@" mps-pools
}

@test "pools of an MPS: each class runs a trace, and keeps what is in blocks" {
	needs_mps
	python3 "$MODEL" make 3 10000 1 >t.txt
	for class in mvff mvt mfs amc amcz; do
		clean telreplay --runs 1 --verify -f csv \
		    -a "mps=./mps.so:class=$class" t.txt >report
		[ "$(figure allocator mps failed <report)" = 0 ]
		[ "$(figure allocator mps errors <report)" = 0 ]
		[ "$(figure allocator mps failed_allocations <report)" = 0 ]
	done
	python3 "$MODEL" make 3 10000 3 >t.txt
	clean telreplay --runs 1 --verify -f csv -a ./mps.so t.txt >report
	[ "$(figure allocator mps errors <report)" = 0 ]
	refused "AMC moves blocks" ./mps.so:class=amc
	refused "class is log" ./mps.so:class=x
}

@test "pools of an MPS: what is free is collected, what moves is complete" {
	needs_mps
	python3 - >t.txt <<-END
		import random
		rng, address, live = random.Random(3), 0, []
		for _ in range(30000):
		    address += 65536
		    size = rng.choice([24, 100, 500, 4000, 20000])
		    print(f"1: malloc 0x{address:x} {size}")
		    live.append((address, size))
		    if len(live) <= 200:
		        continue
		    gone, size = live.pop(rng.randrange(len(live)))
		    if rng.random() < 0.9:
		        print(f"1: free 0x{gone:x}")
		        continue
		    address += 65536
		    print(f"1: realloc 0x{address:x} 0x{gone:x} {size}")
		    live.append((address, size))
	END
	for class in amc amcz; do
		clean telreplay --runs 1 --verify -f csv \
		    -a "mps=./mps.so:class=$class" t.txt >report
		[ "$(figure allocator mps errors <report)" = 0 ]
		# less than was allocated in all: some was collected
		[ "$(figure memory mps peak_bytes <report)" -lt \
		    $(($(figure trace '' requested_bytes <report) * 9 / 10)) ]
	done
}

@test "pools of an MPS: its logs are replayed in pools of their classes" {
	needs_mps
	for log in "$TEL_TOP"/tests/data/mps/*-lii6*.log.zst; do
		case $log in *-seg-trace.*) continue ;; esac
		echo "$log"
		clean telreplay -q --runs 1 --verify -f csv -a ./mps.so \
		    "$log" >report
		[ "$(figure allocator mps failed <report)" = 0 ]
		[ "$(figure allocator mps errors <report)" = 0 ]
	done
}

# replayed_alike EVENT ...: the MPS's own log of a replay is that of the original.
replayed_alike() {
	rm -f again.log
	MPS_TELEMETRY_CONTROL=all MPS_TELEMETRY_FILENAME=again.log \
	    telreplay -q --runs 1 -f csv -a ./mps.so $program.log >report &&
	    [ "$(figure allocator mps errors <report)" = 0 ] &&
	    telcat again.log >two || return
	# by its path, as its status is expected
	"$(type -P python3)" "$TEL_TOP/tests/cli/telreplay_mps_pools.py" one two "$@"
}

# The tests of the MPS, which log what it does, and the log of one of them; the
# logs of their replay are to have the same arenas, pools and allocations.
@test "pools of an MPS: its own telemetry of a replay is that of the original" {
	[ -n "${MPS_SRC-}" ] || skip "MPS_SRC is not set"
	needs_mps "MPS_LIBS=-w -DCONFIG_VAR_COOL $MPS_SRC/mps.c -lpthread -lm"
	for program in sacss mpmss apss amcss; do
		# shellcheck disable=SC2086 # several words on purpose
		${CC:-cc} -O1 -w -DCONFIG_VAR_COOL -I"$MPS_SRC" -o $program \
		    "$MPS_SRC"/{$program,testlib,mps,fmt{dy,dytst,he,no}}.c \
		    -lpthread -lm
		MPS_TELEMETRY_CONTROL=all MPS_TELEMETRY_FILENAME=$program.log \
		    ./$program >/dev/null
	done
	zstd -dcqf "$TEL_TOP/tests/data/mps/1.118.0-lii6gc-awlut.log.zst" \
	    >awlut.log
	for program in sacss mpmss apss amcss awlut; do
		echo "$program"
		telcat $program.log >one
		# of mpmss, the log lacks how much memory pools keep to spare;
		# of the others, what they committed by macros
		case $program in
		sacss) set -- ArenaAlloc PoolAlloc ;;
		mpmss) set -- PoolAlloc ;;
		*) set -- ;;
		esac
		# an MPS chooses when to collect by its clock: a busy machine is late
		for try in 1 2 3 4 5; do
			replayed_alike "$@" && break
			[ "$try" -lt 5 ]
		done
	done
}

@test "parts of blocks are freed once, those of what is left at the end, too" {
	# a plug-in that knows what is left of each block
	plugin rest <<-'END'
		static char *block[99]; static size_t left[99];
		static void *take(void *p, size_t n) {
			int i = 0;
			while (block[i] != NULL) i++;
			left[i] = n;
			return block[i] = get(p, n); }
		/* never moves, and never hands memory out twice */
		static void part(void *p, void *b, size_t n) {
			int i = 0;
			(void)p;
			while (block[i] != b && block[i] + left[i] != (char *)b + n)
				if (++i == 99) abort();
			if (n > left[i]) abort();
			memset(b, 7, n);
			if (block[i] == b) block[i] += n;
			left[i] -= n; }
		static void all(void *p, void *b, size_t n) {
			int i = 0;
			(void)p;
			while (block[i] != b)
				if (++i == 99) abort();
			if (n != left[i]) abort();
			block[i] = NULL; left[i] = 0; }
		const tel_pool_table tel_pool_allocator = {
			.version = TEL_POOL_VERSION, .name = "rest",
			.alloc = take, .free = all, .free_part = part };
	END
	cat >parts.txt <<-'END'
		# teltools text 1
		# type: make 1 Heap pool:address
		# type: end 2 Heap pool:address
		# type: get 3 Heap at:address size:unsigned pool:address
		# type: put 4 Heap at:address size:unsigned
		# role: make create-pool pool=pool
		# role: end destroy-pool pool=pool
		# role: get alloc at size pool
		# role: put free at size
		0000000000000001 make pool=0x1
		0000000000000002 get at=0x1000 size=100 pool=0x1
		0000000000000003 put at=0x1000 size=3
		0000000000000004 put at=0x1003 size=9
		0000000000000005 put at=0x103d size=39
		0000000000000006 get at=0x2000 size=64 pool=0x1
		0000000000000007 put at=0x2000 size=1
		0000000000000008 put at=0x2001 size=63
		0000000000000009 make pool=0x2
		000000000000000A get at=0x3000 size=50 pool=0x2
		000000000000000B put at=0x3000 size=11
		000000000000000C end pool=0x2
	END
	clean telreplay --verify --runs 1 -f csv -a ./rest.so,glibc,class,bump \
	    parts.txt >report
	for name in rest glibc class bump; do
		[ "$(figure allocator $name errors <report)" = 0 ]
		[ "$(figure memory $name run_live_bytes <report)" = 113 ]
		# never less than nothing, as far as samples come
		run ! grep "^sample,$name,.*_bytes,[0-9]\{9\}" report
	done
	[ "$(figure trace '' live_bytes <report)" = 49 ]
}

# buffers NAME FUNCTIONS: a plug-in that writes the calls for its buffers to the
# file of its parameter; the commit of a block of 7 bytes fails.
buffers() {
	plugin "$1" <<-END
		static FILE *file;
		static const char *start(const char *p, const tel_pool_trace *t,
		    void **s) { (void)t; *s = file = fopen(p, "w");
			return file != NULL ? NULL : "no file"; }
		static void end(void *s) { (void)s; fclose(file); }
		static void *create(void *s, uint64_t n)
		{ (void)s; (void)n; return malloc(16); }
		static void destroy(void *p) { (void)p; }
		static void *buffer(void *p) { return (char *)p + 1; }
		static void no_buffer(void *b)
		{ (void)b; fputs("no buffer\n", file); }
		static void *kept;
		static void *reserve(void *b, size_t n)
		{ (void)b; fprintf(file, "reserve %zu\n", n);
			return kept = malloc(n); }
		static void *alloc(void *p, size_t n)
		{ (void)p; fprintf(file, "alloc %zu\n", n);
			return kept = malloc(n); }
		static int commit(void *b, void *p, size_t n)
		{ (void)b; fprintf(file, "commit %zu%s\n", n,
			p == kept ? "" : " of another");
			return n != 7; }
		const tel_pool_table tel_pool_allocator = {
			.version = TEL_POOL_VERSION, .name = "$1",
			.start = start, .end = end, .alloc = alloc, .free = put,
			.create = create, .destroy = destroy, $2 };
	END
}

@test "blocks of buffers are reserved and committed, and a commit may fail" {
	buffers all '.buffer_create = buffer, .buffer_destroy = no_buffer,
	    .reserve = reserve, .commit = commit'
	buffers some '.commit = commit, .buffer_destroy = no_buffer'
	cat >t.txt <<-'END'
		# teltools text 1
		# type: make 1 Pool pool:pointer
		# type: begin 2 Pool buffer:pointer pool:pointer
		# type: end 3 Pool buffer:pointer
		# type: get 4 Object at:address size:unsigned buffer:pointer
		# type: alloc 5 Object pool:pointer at:address size:unsigned
		# role: make create-pool pool=pool
		# role: begin create-buffer pool=pool buffer=buffer
		# role: end destroy-buffer buffer=buffer
		# role: get commit at size buffer=buffer
		# role: alloc alloc at size pool
		0000000000000001 make pool=0xa
		0000000000000002 begin buffer=0xb pool=0xa
		0000000000000003 get at=0x100 size=100 buffer=0xb
		0000000000000004 alloc pool=0xa at=0x200 size=5
		0000000000000005 get at=0x300 size=8 buffer=0xb
		0000000000000006 end buffer=0xb
	END
	clean telreplay -q --runs 1 -a ./all.so:x.txt t.txt
	printf '%s\n' 'reserve 100' 'commit 100' 'alloc 5' 'reserve 8' 'commit 8' \
	    'no buffer' | diff - x.txt
	# without functions of buffers, the pool is the buffer
	clean telreplay -q --runs 1 -a ./some.so:x.txt t.txt
	printf '%s\n' 'alloc 100' 'commit 100' 'alloc 5' 'alloc 8' 'commit 8' |
	    diff - x.txt
	sed -i 's/size=8/size=7/' t.txt
	for name in all some; do
		run -1 --separate-stderr telreplay --runs 1 -f csv \
		    -a "./$name.so:x.txt" t.txt
		[[ $stderr == *": at event 4 of t.txt: "*"a block not committed"* ]]
		# once in the run, and once while memory is watched
		[ "$(figure allocator "$name" errors <<<"$output")" = 2 ]
	done
}

# A plug-in in which the function of its parameter fails, or crashes.
failing() {
	plugin failing <<-'END'
		#include <signal.h>
		static const char *fails;
		static int is(const char *what)
		{ return strcmp(fails, what) == 0; }
		static void crash(const char *what)
		{ if (is(what)) raise(SIGSEGV); }
		static const char *start(const char *p, const tel_pool_trace *t,
		    void **s) { (void)t; *s = malloc(1); fails = p;
			return is("start") ? "no start" : NULL; }
		static void end(void *s) { crash("end"); free(s); }
		static void *create(void *s, uint64_t n)
		{ (void)s; (void)n; crash("crash");
			return is("create") ? NULL : malloc(16); }
		static void destroy(void *p) { crash("destroy"); free(p); }
		static void *buffer(void *p)
		{ return is("buffer_create") ? NULL : p; }
		static void no_buffer(void *b) { (void)b; crash("buffer_destroy"); }
		static void *reserve(void *b, size_t n)
		{ return is("reserve") ? NULL : get(b, n); }
		static int commit(void *b, void *p, size_t n)
		{ (void)b; (void)p; (void)n; return !is("commit"); }
		static void *alloc(void *p, size_t n)
		{ return is("alloc") ? NULL : get(p, n); }
		static void *zeroed(void *p, size_t n)
		{ (void)p; return is("zeroed") ? NULL : calloc(1, n + is("dirty")); }
		static void *aligned(void *p, size_t a, size_t n)
		{ (void)p; return is("aligned") ? NULL :
			(char *)aligned_alloc(a, (n + a - 1) / a * a) + 16 * is("odd"); }
		static void *resize(void *p, void *b, size_t from, size_t to)
		{ (void)p; (void)from; return is("resize") ? NULL : realloc(b, to); }
		static void drop(void *p, void *b, size_t n)
		{ crash("free"); if (!is("odd")) put(p, b, n); }
		const tel_pool_table tel_pool_allocator = {
			.version = TEL_POOL_VERSION, .name = "failing",
			.start = start, .end = end, .create = create,
			.destroy = destroy, .buffer_create = buffer,
			.buffer_destroy = no_buffer, .reserve = reserve,
			.commit = commit, .alloc = alloc, .zeroed = zeroed,
			.aligned = aligned, .resize = resize, .free = drop };
	END
	cat >t.txt <<-'END'
		# teltools text 1
		# type: make 1 Pool pool:pointer
		# type: begin 2 Pool buffer:pointer pool:pointer
		# type: end 3 Pool buffer:pointer
		# type: get 4 Object at:address size:unsigned buffer:pointer
		# type: alloc 5 Object at:address size:unsigned pool:pointer
		# type: zero 6 Object at:address size:unsigned count:unsigned pool:pointer
		# type: align 7 Object at:address size:unsigned to:unsigned pool:pointer
		# type: size 8 Object at:address size:unsigned old:address
		# type: free 9 Object at:address
		# type: destroy 10 Pool pool:pointer
		# role: make create-pool pool=pool
		# role: begin create-buffer pool=pool buffer=buffer
		# role: end destroy-buffer buffer=buffer
		# role: get commit at size buffer=buffer
		# role: alloc alloc at size pool
		# role: zero alloc at size pool count=count
		# role: align alloc at size pool alignment=to
		# role: size realloc at size old=old
		# role: free free at
		# role: destroy destroy-pool pool=pool
		0000000000000001 make pool=0xa
		0000000000000002 begin buffer=0xb pool=0xa
		0000000000000003 get at=0x100 size=100 buffer=0xb
		0000000000000004 alloc pool=0xa at=0x200 size=50
		0000000000000005 zero pool=0xa at=0x300 size=8 count=9
		0000000000000006 align pool=0xa at=0x400 size=8 to=64
		0000000000000007 size at=0x500 size=500 old=0x200
		0000000000000008 end buffer=0xb
		0000000000000009 free at=0x500
		000000000000000A destroy pool=0xa
	END
}

@test "what a plug-in fails in is named, with the event" {
	failing
	clean telreplay --runs 1 --idle 0 --verify -a ./failing.so -f csv t.txt >report
	[ "$(figure allocator failing errors <report)" = 0 ]
	while IFS=: read -r name failed errors why; do
		run -1 --separate-stderr telreplay --runs 1 --idle 0 --verify -f csv \
		    -a "./failing.so:$name" t.txt
		echo "$name: $stderr"
		[ "$(figure allocator failing failed <<<"$output")" = "$failed" ]
		[ "$(figure allocator failing failed_allocations <<<"$output").$(
		    figure allocator failing errors <<<"$output")" = "$errors" ]
		# shellcheck disable=SC2053,SC2154 # a pattern on purpose
		[[ ${stderr_lines[-1]} == "telreplay: failing: "$why ]]
	done <<-'END'
		start:1:0.0:no start
		create:1:0.1:a pool or buffer could not be created at event 0 of t.txt
		buffer_create:1:0.1:a pool or buffer could not be created at event 1 of t.txt
		reserve:0:2.0:at event 2 of t.txt: returned NULL for 100 bytes
		commit:0:0.2:at event 2 of t.txt: *, or a block not committed (block*
		alloc:0:4.0:at event 3 of t.txt: returned NULL for 50 bytes; 1 more like it
		zeroed:0:2.0:at event 4 of t.txt: returned NULL for 72 bytes
		aligned:0:2.0:at event 5 of t.txt: returned NULL for 8 bytes
		odd:0:0.2:at event 5 of t.txt: a block is not aligned to 64 bytes (block 0x*)
		resize:0:2.0:at event 6 of t.txt: returned NULL for 500 bytes
		crash:1:0.0:crashed at event 0 of t.txt: Segmentation fault
		buffer_destroy:1:0.0:crashed at event 7 of t.txt: Segmentation fault
		free:1:0.0:crashed at event 8 of t.txt: Segmentation fault
		destroy:1:0.0:crashed at event 9 of t.txt: Segmentation fault
		end:1:0.0:crashed after the last event: Segmentation fault
	END
	# the pool of blocks in none is created before any thread runs
	echo "1: malloc 0x100 10" >plain.txt
	run -1 --separate-stderr telreplay --runs 1 -a ./failing.so:create plain.txt
	echo "$stderr"
	[ "${stderr_lines[0]}" = "telreplay: failing: the allocator has no pool" ]
}
