#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Expressions of places of events.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	{
		printf '%s\n' '# teltools text 1' '# tick rate: 1000000000' \
		    '# type: a 1 K x:unsigned l:list:unsigned s:string' \
		    '# type: b 2 K x:unsigned l:unsigned' \
		    '# type: c 3 K PM_CYC:unsigned PM_INST_CMPL:unsigned'
		printf '%016x %s\n' 1 'a x=1 l=[1,2,3] s="abc"' 2 'a x=3 l=[] s=""' \
		    3 'b x=7 l=9' 4 'c PM_CYC=8 PM_INST_CMPL=4' \
		    5 'c PM_CYC=8 PM_INST_CMPL=0'
	} >log.txt
	grep -v ' b ' log.txt >lists.txt
	telcat -f tel -o log.tel log.txt
}

@test "the number of an event is that of its place, in each format" {
	for log in log.txt log.tel; do
		telcat -H -f csv -F '(index),(start.index)' $log | cut -d , -f 3 |
		    diff - <(seq 0 4)
		telcat -H -F index $log | cut -d ' ' -f 3 |
		    diff - <(seq -f index=%g 0 4)
		telcat -f json -F index -w 'clock > 1' $log | grep -o 'index":[0-9]' |
		    diff - <(seq -f 'index":%g' 1 4)
	done
}
