#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# telrec -s: samples of allocations, and what they stand for.

# "enter" sets program.
# shellcheck disable=SC2154

load telrec

setup_file() {
	build_program
}

setup() {
	enter
}

@test "samples of each function have a stack that is in the log" {
	needs_preload
	cc -O1 -pthread -o calls "$TEL_TOP/tests/cli/telrec_calls.c" -ldl
	./calls file >want
	telrec -q -s 1 -g -o run.tel ./calls file | diff want -
	telcat -H -k Alloc,Trace run.tel >text
	python3 - <<-'END'
		import re
		defined, functions = set(), set()
		for line in open("text"):
		    number = re.search(r" trace number=(\d+) ", line)
		    used = re.search(r"^\S+ (\w+) .* trace=(\d+) ", line)
		    if number:
		        defined.add(number[1])
		    elif used:
		        assert used[2] in defined, line
		        functions.add(used[1])
		assert functions >= {"malloc", "calloc", "realloc", "memalign", "valloc",
		                     "posix_memalign", "reallocarray"}, functions
	END
}

@test "the weights of samples estimate the bytes of each size" {
	needs_preload
	for seed in 1 2 3; do
		TELREC_SEED=$seed telrec -s 16k -o run.tel "$program" sizes 4000
		check_log run.tel weights 4000 16384
	done
	ordered run.tel
	# each byte is one: all are samples
	telrec -s 1 -o run.tel "$program" sizes 40
	[ "$(telcat -w 'size == 9000' run.tel | grep -vc '^#')" = 40 ]
}

@test "samples of 1 byte are the calls that a recording has" {
	needs_preload
	local sample
	for sample in '' -s1; do
		telrec $sample -o run.tel "$program" all
		telcat -q -w 'size > 70000' run.tel | grep -v '^#' |
		    sed 's/^[^ ]* //; s/ address=0x[0-9a-f]*//; s/ pid=.*//
		        s/ weight=[0-9]*//; s/old=0x[1-9a-f][0-9a-f]*/old=p/' \
		    >"got$sample"
	done
	[ "$(wc -l <got)" -ge 8 ]
	diff got got-s1
}

@test "a sample without an allocation is reported as such" {
	needs_preload
	local stacks
	for stacks in '' -g; do
		[ -z "$stacks" ] || needs_frames
		run -0 telrec $stacks -s 1T -o run.tel "$program" sizes 40
		[[ $output == *": 0 events: none of its allocations is in the sample; "* ]]
		[ "$(telstat -f csv run.tel | grep -c ',alloc')" = 0 ]
		telcat -H run.tel | run ! grep -v ' process\(_end\|\) \| ClockSync '
		run -3 telrec -q $stacks -s 1T -o run.tel sh -c 'exit 3'
		[ -z "$output" ]
	done
}

@test "a seed makes samples the same again, and others are others" {
	needs_preload
	for seed in 1 1 2; do
		TELREC_SEED=$seed telrec -s 16k -o run.tel "$program" sizes 500
		telcat -w 'size > 0' run.tel | grep -v '^#' |
		    sed 's/^[^ ]* //; s/=0x[0-9a-f]*//g; s/ pid.*//' >"got$seed.new"
		if [ -e "got$seed" ]; then
			cmp "got$seed" "got$seed.new"
		fi
		mv "got$seed.new" "got$seed"
	done
	run ! cmp -s got1 got2
}

@test "children have samples of their own" {
	needs_preload
	TELREC_SEED=1 telrec -q -s 16k -o run.tel "$program" children 8
	telcat -H -e malloc -w 'size > 1000' run.tel |
	    sed 's/.* size=\([0-9]*\) .* pid=\([0-9]*\).*/\2 \1/' |
	    awk '!seen[$1]++ { print $2 }' >first
	[ "$(wc -l <first)" = 8 ]
	# where the first one of each is
	[ "$(sort -u first | wc -l)" -ge 4 ]
}

@test "threads and children: only samples are freed, each after its allocation" {
	needs_preload
	telrec -s 2k -o run.tel "$program" threads 8 5000
	ordered run.tel
	telrec -s 4k -o run.tel "$program" storm 2
	ordered run.tel
	telstat run.tel >report
	run ! grep '^unknown' report
	# more samples are live than the first table has room for
	telrec -s 1 -o run.tel "$program" live 100000
	telstat run.tel >report
	run ! grep '^unknown' report
	[ "$(telcat -e free run.tel | grep -vc '^#')" -ge 100000 ]
}

@test "memory that a realloc leaves is another thread's before it returns" {
	needs_preload
	cat >own.c <<-'END'
		#include <stdint.h>
		#include <string.h>
		#include <sched.h>
		static char memory[1 << 22];
		static size_t used;
		char *vacated;
		int taken;
		void *memalign(size_t alignment, size_t n)
		{
			uintptr_t p = (uintptr_t)memory + __atomic_fetch_add(&used,
			    n + alignment, __ATOMIC_SEQ_CST);
			return (void *)((p + alignment - 1) & ~(uintptr_t)(alignment - 1));
		}
		void *malloc(size_t n)
		{
			return n == 4321 ? vacated : memalign(16, n);
		}
		void free(void *p) { (void)p; }
		void *calloc(size_t k, size_t n) { return memalign(16, k * n); }
		/* the memory is another thread's before this returns */
		void *realloc(void *p, size_t n)
		{
			void *q = memalign(16, n);
			if (p != NULL)
				memcpy(q, p, n < 64 ? n : 64);
			if (n == 7777) {
				__atomic_store_n(&vacated, p, __ATOMIC_SEQ_CST);
				while (!__atomic_load_n(&taken, __ATOMIC_SEQ_CST))
					sched_yield();
			}
			return q;
		}
	END
	cat >race.c <<-'END'
		#include <pthread.h>
		#include <sched.h>
		#include <stdlib.h>
		extern char *vacated;
		extern int taken;
		static void *take(void *arg)
		{
			(void)arg;
			while (__atomic_load_n(&vacated, __ATOMIC_SEQ_CST) == NULL)
				sched_yield();
			arg = malloc(4321);
			__atomic_store_n(&taken, 1, __ATOMIC_SEQ_CST);
			return arg;
		}
		int main(void)
		{
			void *p = malloc(1111), *q;
			pthread_t t;
			if (pthread_create(&t, NULL, take, NULL) != 0)
				return 1;
			q = realloc(p, 7777);
			pthread_join(t, &p);
			free(p);
			free(q);
			return 0;
		}
	END
	cc -O1 -fno-builtin -shared -fPIC -o own.so own.c
	cc -O1 -fno-builtin -pthread -o race race.c ./own.so
	local sample
	for sample in '' -s1; do
		telrec -q $sample -a ./own.so -o run.tel ./race
		telcat -q -k Alloc -w 'address != 0' run.tel | sed -n '/ size=1111 /,$p' |
		    sed -nE 's/.*malloc .*size=([0-9]+).*/\1/p; s/.*free .*/free/p' |
		    paste -sd ' ' >got
		grep -x '1111 free 4321 7777 free free' got
	done
}

@test "what samples stand for: telstat, and folded stacks" {
	cat >log <<-'END'
		# teltools text 1
		# format: emit-x
		# tick rate: 1000000000.0
		# type: trace 1 Trace number:unsigned ip:address parent:unsigned
		# type: malloc 2 Alloc address:address size:unsigned weight:unsigned trace:unsigned
		# type: free 3 Alloc address:address
		# role: trace frame number ip parent
		# role: malloc alloc address size weight=weight stack=trace
		# role: free free address
		0000000000000001 trace number=1 ip=0x10 parent=0
		0000000000000002 trace number=2 ip=0x20 parent=0
		0000000000000003 malloc address=0x1000 size=10 weight=1005 trace=1
		0000000000000004 malloc address=0x2000 size=10 weight=1005 trace=1
		0000000000000005 malloc address=0x3000 size=5000 weight=5000 trace=2
		0000000000000006 free address=0x1000
		0000000000000007 free address=0x9000
	END
	telstat log >report
	grep '^allocated  *202 blocks  *7,010 bytes' report
	grep '^freed  *100 blocks  *1,005 bytes' report
	grep '^live  *102 blocks  *6,005 bytes' report
	grep '^samples  *3 allocations' report
	grep '^unknown  *1 blocks freed' report
	telcat -f folded --weight allocated log | sort >got
	printf '%s\n' '0x10 2010' '0x20 5000' | diff - got
	telcat -f folded --weight leaked log | sort >got
	printf '%s\n' '0x10 1005' '0x20 5000' | diff - got
	telcat -f folded --weight count log | sort >got
	printf '%s\n' '0x10 201' '0x20 1' | diff - got
	# what was allocated between the samples is not known: none is temporary
	sed 's/^\(0*6\) .*/\1 free address=0x3000/' log >last.log
	for counts in telstat 'telstat --stacks' 'telstat diff last.log' \
	    'telstat -f json --stacks'; do
		$counts last.log >got
		grep -c peak got
		run -1 grep temporary got
	done
	sed 's/ weight=weight//' last.log >calls.log
	telstat calls.log | grep '^temporary  *1 blocks'
	# .tel keeps the role, and so does text
	telfilter -o log.tel log
	telstat log.tel | grep '^samples  *3 allocations'
	telcat log.tel | grep '^# role: malloc .*weight=weight'
}

@test "a log of samples says so" {
	needs_preload
	telrec -s 16k -o run.tel "$program" sizes 500
	telcat run.tel | grep -x '# meta: sample 16384'
	telstat run.tel >report
	grep -x 'sample 16384' report
	grep '^samples .* allocations, from which these are estimated' report
	# weights of a statistic are bytes: those that were allocated
	telstat -f json -s 'sizes=log2(size,1,weight)' run.tel |
	    grep -o '"weight":[0-9]*' | head -1 >weight
	telstat -f json run.tel |
	    grep -o '"allocated_bytes":[0-9]*' | head -1 >bytes
	[ "$(tr -dc 0-9 <weight)" = "$(tr -dc 0-9 <bytes)" ]
	run -0 --separate-stderr telreplay --dry-run run.tel
	# shellcheck disable=SC2154 # bats sets it
	[[ $stderr == "telreplay: "*" allocations are samples: what they stand for is not replayed" ]]
	run -0 --separate-stderr telreplay --dry-run -q run.tel
	[ "$stderr" = "" ]
	telrec -o run.tel "$program" sizes 500
	run -0 --separate-stderr telreplay --dry-run run.tel
	[ "$stderr" = "" ]
	telcat run.tel >text
	run ! grep 'meta: sample' text
}

@test "samples with stacks" {
	needs_preload
	needs_frames
	telrec -q --stacks=fp -s 16k -o run.tel "$program" sizes 500
	check_log run.tel weights 500 16384
	telcat -f folded --weight allocated run.tel |
	    awk '{ sum += $NF } END { print sum }' >sum
	telstat -f json run.tel >report.json
	grep -q "\"allocated_bytes\":$(cat sum)\\b" report.json
}

@test "options of samples" {
	needs_preload
	for bytes in 0 x -1 2T; do
		run -2 telrec -s "$bytes" -o no.tel "$program" all
		[ ! -e no.tel ]
	done
}
