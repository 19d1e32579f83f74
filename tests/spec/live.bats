#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# What is allocated, by a model of live blocks in Python that shares nothing
# with the tools, and by each tool that says it.

bats_require_minimum_version 1.5.0
load "${TEL_TOP:-$BATS_TEST_DIRNAME/../..}/tests/environment"

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
}

# agree TOOLS LOG|KIND ...: they say of each log what the model says.
agree() {
	python3 "$TEL_TOP/tests/spec/live_compare.py" "$@"
}

ALL=telstat,report,inst,stacks,folded,telreplay,chrome,page

@test "tools and model agree on each recorded log" {
	mapfile -t traces < <(printf '%s\n' "$TEL_TOP"/tests/data/alloc/* | sample 2)
	agree telstat,report,telreplay,chrome,page "${traces[@]}"
	agree stacks,folded "$TEL_TOP"/tests/data/alloc/*.{heap,m}trace.zst
	set -- "$TEL_TOP"/tests/data/mps/1.1{11*,18*{cv,ss,ly}}.log.zst
	[ -z "${TEST_WHOLE-}" ] || set -- "$TEL_TOP"/tests/data/mps/*-lii*.log.zst
	agree $ALL,pools "$@"
}

@test "tools and model agree on processes, and on wrong operations" {
	agree $ALL malloc malloc-several malloc-wrong malloc-wrong-several
	agree $ALL malloc-ends malloc-several-ends malloc-wrong-several-ends
}

@test "tools and model agree on the second half of a log" {
	agree $ALL malloc-several-cut malloc-wrong-cut malloc-wrong-several-cut
}

@test "tools and model agree on pools, whose frees have sizes" {
	agree $ALL,pools pools pools-created pools-cut
	agree $ALL,pools pools-wrong pools-wrong-cut
}

@test "a part of the block whose number in tables is 0 is freed" {
	# its address is that by which addresses of its process differ from others
	cat >log <<-'END'
		# teltools text 1
		# type: A 1 K p:pointer size:unsigned at:unsigned
		# role: A alloc p size - process=at
		# type: F 2 K p:pointer size:unsigned at:unsigned
		# role: F free p size - process=at
		0000000000000001 A p=0x9E3779B97F4A7C15 size=32 at=1
		0000000000000002 F p=0x9E3779B97F4A7C25 size=16 at=1
	END
	telstat -f json log | grep -q '"freed_bytes":16,"live_blocks":1,"live_bytes":16'
}

@test "the 4,096th pool is the last one that has its address" {
	python3 - <<-'END'
		for log in range(2):
		    with open(f"{log}.text", "w") as f:
		        print("# teltools text 1\n# type: A 1 K p:pointer size:unsigned "
		              "pool:pointer\n# role: A alloc p size pool", file=f)
		        for k in range(log * 2048 + 1, (log + 1) * 2048 + 1):
		            print(f"{k:016X} A p={k:#x}0 size=16 pool={k:#x}0000", file=f)
	END
	telstat -f json 0.text 1.text | grep '"type":"pool"' >pools
	[ "$(wc -l <pools)" = 4096 ]
	[[ $(tail -n 1 pools) == *'"address":"0x10000000",'* ]]
}

@test "threads, and any order of the buffers, come to the same" {
	local log=$TEL_TOP/tests/data/mps/1.118.0-lii6gc-awlut.log.zst
	zstd -dcq "$log" | telfilter -q --skip 9000 >half
	for ((i = 0; i < 8; i++)); do cat half; done >many
	[ "$(wc -c <many)" -gt $((3 << 20)) ]
	telstat -q -j 1 -S -f json many | grep -e '"pool"' -e '"totals"' >want
	grep -q '"freed_unknown_blocks":[1-9]' want
	telstat -q -j 1 -f json many | grep -e '"pool"' -e '"totals"' | cmp - want
	telstat -q -j 4 -f json many | grep -e '"pool"' -e '"totals"' | cmp - want
	telcat -f tel many >many.tel
	telstat -q -j 3 -f json many.tel | grep -e '"pool"' -e '"totals"' |
	    sed 's/"input_bytes":[0-9]*/"input_bytes":'"$(wc -c <many)/" |
	    cmp - want
}
