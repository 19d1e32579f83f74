#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# What telreplay reports by the size of blocks: classes of sizes, slack, resident
# pages; and memory while all is freed.

load telreplay

@test "what blocks would take with other classes of sizes is that of the trace" {
	{
		seq 100 | awk '{ printf "1: malloc 0x%d000 65\n", $1 }'
		echo "1: malloc 0x1000000 3000"
		echo "1: realloc 0x1000000 0x1000000 1"
		echo "1: free 0x1000000"
		seq 100 | awk '{ printf "1: free 0x%d000\n", $1 }'
	} >t.txt
	clean telreplay --dry-run -f csv t.txt | grep ^what_if >all
	grep '^what_if,,4,slack,0.1419' all
	grep -v slack all >is
	# 65 becomes 128, 96 and 80; 3000 becomes 4096, 3072, 3072 and 3072, 3072
	diff is - <<-END
		what_if,,1,used,2
		what_if,,1,bytes,16896
		what_if,,2,used,2
		what_if,,2,bytes,12672
		what_if,,4,used,2
		what_if,,4,bytes,11072
		what_if,,8,used,2
		what_if,,8,bytes,11072
		what_if,,16,used,2
		what_if,,16,bytes,11072
	END
	# 65 counts as 68 and becomes 80, 72, a page, or 68; 3,000 counts as 3,072
	clean telreplay --dry-run --classes 16,32,... --classes 24,48,72 \
	    --classes 16,64 --classes 68 --classes glibc --classes jemalloc \
	    --classes 1k,3k -f csv t.txt |
	    sed -n 's/^what_if,,\(.*\),bytes,/\1 /p' | tail -n 7 >is
	diff is - <<-END
		"16,32,..." 11072
		"24,48,72" 11296
		"16,64" 413696
		68 10896
		glibc 11088
		jemalloc 11072
		"1k,3k" 105472
	END
	clean telreplay --dry-run --classes 16,32,... t.txt | grep '^  16,32,\.\.\.  *2 '
	# those of 65 fit into 66, which others from 65 to 68 do not
	clean telreplay --dry-run --classes 66,200 --classes 24,48,72 t.txt >report
	grep 'counted in ranges' report >is
	diff is - <<-END
		  66,200: from 10,696 (10.4 KiB) bytes on, as sizes are counted in ranges
	END
	clean telreplay --dry-run $(seq -f '--classes 66,%.0f' 200 207) t.txt |
	    grep -c 'counted in ranges' >is
	[ "$(cat is)" = 8 ]
	for list in '' ',' '16,' ',16' 32,16 16,16 x 0 ... 16,... 16,...,32 2T glibc,16; do
		expect 2 "*--classes: expected jemalloc, *, found '$list'" \
		    telreplay --dry-run --classes "$list" t.txt
	done
	expect 2 "*--classes: expected 8 lists at most*" telreplay --dry-run \
	    $(seq -f '--classes %.0f' 9) t.txt
	# what lives shortly is not what is there at the peak
	seq 100 | awk '{ printf "1: malloc 0x%d000 %d\n1: free 0x%d000\n",
	    $1, $1, $1 } END { print "1: malloc 0x5000000 4000" }' >t.txt
	clean telreplay --dry-run -f csv t.txt | grep '^what_if,,1,bytes,4096$'
}

@test "blocks that are left have a row, although none was asked for in that size" {
	cat >parts.txt <<-'END'
		# teltools text 1
		# type: make 1 Heap pool:address
		# type: get 3 Heap at:address size:unsigned pool:address
		# type: put 4 Heap at:address size:unsigned
		# role: make create-pool pool=pool
		# role: get alloc at size pool
		# role: put free at size
		0000000000000001 make pool=0x1
		0000000000000002 get at=0x1000 size=1000 pool=0x1
		0000000000000003 put at=0x1000 size=900
		0000000000000004 get at=0x9000 size=30 pool=0x1
		0000000000000005 put at=0x9000 size=25
	END
	clean telreplay --dry-run -f csv parts.txt | grep '^size,' >is
	diff - is <<-END
		size,,4,requests,0
		size,,4,not_freed,1
		size,,16,requests,1
		size,,16,not_freed,0
		size,,64,requests,0
		size,,64,not_freed,1
		size,,512,requests,1
		size,,512,not_freed,0
	END
	clean telreplay --dry-run --details=sizes parts.txt |
	    grep -q '^  4\.\.7  *0  *0\.00%  *1$'
}

@test "slack is that of each size, and memory in no block is the rest" {
	{
		seq 500 | awk '{ printf "1: malloc 0x%d000 1000\n", $1 }'
		seq 300 | awk '{ printf "1: malloc 0x%d001 100\n", $1 }'
	} >t.txt
	clean telreplay --runs 1 -a class -f csv t.txt >report
	for row in 512,blocks,500 512,asked_bytes,500000 64,blocks,300 \
	    64,asked_bytes,30000; do
		grep "^slack,class,$row$" report
	done
	given=$(awk -F, '$1 == "slack" && $4 == "given_bytes" { n += $5 }
	    END { print n }' report)
	[ "$given" = "$(figure memory class given_bytes <report)" ]
	[ "$given" -ge 530000 ]
	resident=$(figure residency class resident_bytes <report)
	[ "$(figure residency class room_bytes <report)" = "$given" ]
	[ "$(figure residency class free_bytes <report)" = $((resident - given)) ]
	clean telreplay --runs 1 --details -a class t.txt >report
	grep '^slack by requested size' report
	grep -A 2 '^largest sample of resident memory' report
	# those that the processor counts
	grep -A 3 '^counters per 1,000 operations' report |
	    grep -E 'class +[0-9.]+'
}

@test "memory is watched while all is freed, over real time" {
	seq 64 | awk '{ printf "1: malloc 0x%d0000000 65536\n", $1 }' >t.txt
	clean telreplay --idle 50ms --runs 1 --repeat 2 -f csv t.txt >report
	for phase in running idle freed; do
		grep "^sample,glibc,.*,phase,$phase$" report
	done
	# in the order of time, over that of both rests
	grep '^sample,glibc,.*,time_ns,' report | cut -d , -f 5 >instants
	sort -n instants | cmp instants -
	[ "$(tail -n 1 instants)" -ge 100000000 ]
	[ -n "$(figure memory glibc freed_idle_bytes <report)" ]
	clean telreplay --idle 50ms --runs 1 --details=memory t.txt >report
	grep -A 6 '^  end  ' report | grep -c '^  +' | grep 4
	clean telreplay --idle 50ms --runs 1 -f svg t.txt |
	    grep 'real time since the first operation'
}

# An allocator that places blocks as a test knows: those of 64 bytes have a page
# each, four of 1,000 bytes share one, and so do one of 3,072 and one of 300.
places() {
	small_plugin places <<-END
		#include <stdint.h>
		static char *at;
		static unsigned thousands, parts;
		static char *thousand, *part;
		static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
		static const char *start(const char *p, const tel_pool_trace *t,
		    void **s) { (void)p; (void)t;
			at = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			*s = at;
			return at == MAP_FAILED ? "no mapping" : NULL; }
		static char *pages(size_t n) { char *b = at;
			at += (n + 4095) & ~(size_t)4095; return b; }
		static void *get(void *p, size_t n) { char *b; (void)p;
			pthread_mutex_lock(&lock);
			if (n == 1000) {
				if (thousands++ % 4 == 0) thousand = pages(4096);
				b = thousand + 1008 * ((thousands - 1) % 4);
			} else if (n == 3072 || n == 300) {
				if (parts++ % 2 == 0) part = pages(4096);
				b = part + (n == 300 ? 3072 : 0);
			} else
				*(b = pages(n + !n)) = 1;
			pthread_mutex_unlock(&lock);
			return b; }
	END
}

@test "resident pages are divided between the sizes of their blocks" {
	places
	# most is live when the last block is there, which is much larger
	awk 'function get(n) { printf "1: malloc 0x%d000 %d\n", ++blocks, n }
	    BEGIN {
		for (i = 0; i < 110; i++) get(i < 10 ? 0 : 64)
		for (i = 0; i < 400; i++) get(1000)
		for (i = 0; i < 50; i++) { get(3072); get(300) }
		get(1048576)
		for (i = 1; i <= blocks; i++) printf "1: free 0x%d000\n", i
	    }' >t.txt
	clean telreplay --runs 1 -a ./places.so -f csv t.txt >report
	[ -r /proc/self/pagemap ] || skip "the kernel has no pagemap"
	grep -q '^size_residency' report
	grep '^size_residency' report | grep -v ',none,' >is
	# 4,096 bytes are divided 3,072 to 300
	diff is - <<-END
		size_residency,places,0,blocks,10
		size_residency,places,0,asked_bytes,0
		size_residency,places,0,pages,10
		size_residency,places,0,resident_bytes,40960
		size_residency,places,64,blocks,100
		size_residency,places,64,asked_bytes,6400
		size_residency,places,64,pages,100
		size_residency,places,64,resident_bytes,409600
		size_residency,places,256,blocks,50
		size_residency,places,256,asked_bytes,15000
		size_residency,places,256,pages,50
		size_residency,places,256,resident_bytes,18200
		size_residency,places,512,blocks,400
		size_residency,places,512,asked_bytes,400000
		size_residency,places,512,pages,100
		size_residency,places,512,resident_bytes,409600
		size_residency,places,2048,blocks,50
		size_residency,places,2048,asked_bytes,153600
		size_residency,places,2048,pages,50
		size_residency,places,2048,resident_bytes,186600
		size_residency,places,1048576,blocks,1
		size_residency,places,1048576,asked_bytes,1048576
		size_residency,places,1048576,pages,256
		size_residency,places,1048576,resident_bytes,1048576
	END
	[ "$(figure size_residency places resident_bytes <report | wc -l)" = 7 ]
	# that moment, which is over soon, is a sample of the memory as well
	clean telreplay --runs 1 -a null,class -f csv t.txt >report
	run ! grep '^size_residency,null' report
	awk -F, '$2 != "class" || $4 != "resident_bytes" { next }
	    $1 == "size_residency" { sum += $5 }
	    $1 == "residency" { largest = $5 }
	    END { exit largest < sum - 6 }' report
	clean telreplay --runs 1 -a ./places.so -f json t.txt |
	    grep '"type":"size_residency".*"resident_bytes":409600'
	clean telreplay --runs 1 --details=sizes -a ./places.so t.txt >report
	grep -A 8 '^resident pages by requested size' report >table
	grep '^  64..127 *400.0 KiB$' table
	grep '^  in no block  ' table
	clean telreplay --runs 1 -a ./places.so -f svg t.txt >t.svg
	grep 'Resident pages of places' t.svg
	grep '409,600 (19' t.svg
}

@test "the sizes of resident pages are those of one moment, with threads too" {
	trace t.txt 8 20000 4
	for order in total edges; do
		clean telreplay --order $order --runs 1 -a class -f csv t.txt \
		    >report
		grep -q '^size_residency' report ||
			skip "the kernel has no pagemap"
		asked=$(figure size_residency class asked_bytes <report |
		    awk '{ n += $1 } END { print n }')
		[ "$asked" -le "$(figure memory class run_live_bytes <report)" ]
		[ $order = edges ] || [ "$asked" -ge \
		    $(($(figure trace '' peak_bytes <report) * 98 / 100)) ]
	done
}
