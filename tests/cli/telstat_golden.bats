#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# What telstat prints of shipped logs, in each form, as it was looked at and
# found good.  TEST_GOLDEN=write writes tests/data/stat anew: read the
# difference before it is kept.

load lib

GOLDEN=$TEL_TOP/tests/data/stat

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
}

# Every class, on a few events; more groups than may be held.
CLASSES=(-s 'sizes=split(size,0,16,128,4k,1k) if name == "PoolAlloc"'
	-s 'bytes=tally(name,8,size)' -s 'few=tally(pool,2,size)'
	-s 'log=log2(size,1)' -s 'now=mag(size)' -s 'sum=magdelta(-size)'
	-s 'q=quantiles(size)' -s 'total=growth(size)'
	-s 'life=dur(PoolInit,PoolFinish,pool)'
	-s 'lives=hist(ticks(PoolInit,PoolFinish,pool),10k,512k,64k)'
	-s 'lin=loglin(size,10,0,3,10)' -s 'low=hist(size-100,-100,100,10)'
	-s 'none=hist(size,0,10,1) if false')
# Single numbers, and the largest.
NUMBERS=(-s 'd=distinct(size)' -s 't=top(size,3,pool,name)' -s 'r=ratio(size,2)'
	-s 'n=count()' -s 's=sum(size)' -s 'm=mean(size)' -s 'lo=min(size)'
	-s 'hi=max(size)' -s 'v=var(size)' -s 'w=queue(PoolInit,PoolFinish,pool)'
	-w 'has(size) || kind == Pool' -g kind)
GROUPS_=(-s 'sizes=hist(size,0,64,16)' -s 'n=tally(code & 3,3)'
	-g 'kind,size & 8' --max-groups 3)

# golden FORM NAME [diff] ARGUMENT ...: what telstat prints is what is kept.
golden() {
	local file=$GOLDEN/$2.$1 command=(telstat) form=$1
	shift 2
	if [ "$1" = diff ]; then
		command+=(diff)
		shift
	fi
	clean "${command[@]}" -f "$form" "$@" >got
	if [ "${TEST_GOLDEN-}" = write ]; then
		cp got "$file"
	fi
	echo "$file"
	diff -u "$file" got
}

@test "the report" {
	for form in text csv json openmetrics svg inst; do
		unpack 1.118.0-lii6gc-poolncv
		golden "$form" report mpsio.log
		unpack 1.117.0-lii6ll-finalcv
		golden "$form" report-finalcv --top 9 --rate=ms mpsio.log
	done
}

@test "statistics of every class" {
	unpack 1.118.0-lii6gc-poolncv
	for form in text csv json openmetrics svg inst; do
		golden "$form" classes "${CLASSES[@]}" mpsio.log
	done
	for form in text csv json openmetrics svg inst; do
		golden "$form" numbers "${NUMBERS[@]}" mpsio.log
	done
	golden text classes-raw --raw --zeros --rate "${CLASSES[@]}" mpsio.log
	golden text classes-wide --utf8 --density --width 120 --color \
	    --quantiles 0,.25,0.999,1 "${CLASSES[@]}" mpsio.log
}

@test "groups" {
	unpack 1.118.0-lii6gc-poolncv
	for form in text csv json openmetrics svg inst; do
		golden "$form" groups "${GROUPS_[@]}" mpsio.log
	done
}

@test "snapshots, of all so far and of each interval" {
	unpack 1.118.0-lii6gc-poolncv
	for form in text csv json inst; do
		golden "$form" snapshots -i 200us -s 'n=growth(1)' \
		    -s 'sizes=log2(size)' mpsio.log
	done
	for form in text csv json; do
		golden "$form" deltas -i 400kticks --deltas -s 'n=growth(1)' \
		    -s 'sizes=log2(size)' mpsio.log
	done
}

@test "memory: blocks, stacks, lifetimes, and what grows" {
	local alloc=$TEL_TOP/tests/data/alloc
	for form in text csv json openmetrics svg; do
		golden "$form" memory "$alloc/python3.heaptrack.zst"
	done
	for form in text json; do
		golden "$form" memory-times "$alloc/times.ltrace.zst"
		golden "$form" memory-stacks --stacks --top 5 "$alloc/gcc.heaptrack.zst"
	done
	golden text memory-keys --blocks=size --top 9 "$alloc/perl.heaptrack.zst"
	golden text memory-threads --raw "$alloc/threads.kdump"
}

@test "collections: pauses, the heap, who allocates" {
	for form in text json; do
		golden "$form" collections -q "$TEL_TOP/tests/data/jfr/serial-25.jfr.zst"
	done
	golden text collections-raw -q --raw "$TEL_TOP/tests/data/jfr/serial-25.jfr.zst"
}

@test "differences, and logs of several schemas" {
	local alloc=$TEL_TOP/tests/data/alloc
	unpack 1.118.0-lii6gc-poolncv
	unpack 1.117.0-lii6ll-finalcv other.log
	printf '# teltools text 1\n# format: disks\n# type: Read 1 Disk size:unsigned\n%s\n' \
	    '0000000000000064 Read size=7' '00000000000000C8 Read size=9' >disks.txt
	for form in text csv json; do
		golden "$form" diff diff "$alloc/python3.heaptrack.zst" \
		    "$alloc/perl.heaptrack.zst"
	done
	for form in text json; do
		golden "$form" diff-sizes diff -s 'sizes=log2(size)' \
		    -s 'kinds=tally(kind,4)' -s 'mean=mean(size)' \
		    "$alloc/python3.heaptrack.zst" "$alloc/perl.heaptrack.zst"
		golden "$form" schemas mpsio.log other.log disks.txt disks.txt
	done
}
