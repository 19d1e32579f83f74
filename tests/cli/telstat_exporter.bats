#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# telstat -i -o FILE with metrics: a file that is replaced while a log goes on.

# "run --separate-stderr" sets stderr
# shellcheck disable=SC2154

load lib

STATS=(-s 'sizes=log2(size)' -s 'who=tally(name,9) if name != "Label"'
	-s 'life=dur(PoolInit,PoolFinish,pool)' -s 'now=mag(size)'
	-s 'total=growth(size)')

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	unpack 1.118.0-lii6gc-poolncv
}

# alone FILE: nothing is left of what was to replace it.
alone() {
	run ! compgen -G "$1.new-*"
}

@test "prometheus has the samples of openmetrics, in families of their names" {
	telstat -f openmetrics --report "${STATS[@]}" mpsio.log >om
	telstat -f prometheus --report "${STATS[@]}" mpsio.log >prom
	diff <(grep -v '^#' om) <(grep -v '^#' prom)
	grep -qx '# TYPE inst_logs_total counter' prom
	grep -qx '# HELP inst_who_total weight by key: tally(name,9) if name != "Label"' prom
	grep -qx '# TYPE inst_origin_info gauge' prom
	grep -qx '# TYPE inst_sizes_bytes histogram' prom
	run ! grep -E '^# (UNIT|EOF)|^# TYPE .* (info|unknown|stateset)' prom
	# each sample is of a family before it; one family has one type
	[ -z "$(sed -n 's/^# TYPE \([^ ]*\) .*/\1/p' prom | sort | uniq -d)" ]
	awk '/^# TYPE/ { family = $3; type = $4 }
	    /^[^#]/ { name = $1; sub(/{.*/, "", name)
		if (type == "histogram" || type == "summary")
			sub(/_(bucket|sum|count)$/, "", name)
		if (name != family) { print; bad = 1 } }
	    END { exit bad }' prom
	# a histogram has its sum and its count, whatever its values are
	telstat -f prometheus -s 'low=hist(size-100,-100,100,10)' mpsio.log >prom
	telstat -f csv -s 'low=hist(size-100,-100,100,10)' mpsio.log >low.csv
	sum=$(awk -F, '$4 == "sum" { print $8 }' low.csv)
	grep -qx "inst_low_sum{class=\"low\"} $sum" prom
	grep -q '^inst_low_count{class="low"} [1-9]' prom
}

@test "with -i the file is replaced: the last is what one run prints" {
	for form in openmetrics prometheus; do
		telstat -f $form "${STATS[@]}" -S mpsio.log >want
		(umask 027 && telstat -f $form "${STATS[@]}" -i 100us -o file mpsio.log)
		diff want file
		# as readable as the umask allows, and then as it was
		[ "$(stat -c %a file)" = 640 ]
		chmod 604 file
		telstat -f $form "${STATS[@]}" -i 100us -o file mpsio.log
		[ "$(stat -c %a file)" = 604 ]
		alone file
		rm file
	done
	# compressed, each is one
	telstat -f prometheus "${STATS[@]}" -z 3 -i 100us -o file mpsio.log
	zstd -dcq <file | diff want -
}

@test "a reader of the file never sees less than all of one" {
	local reads=0
	unpack 1.118.0-lii6gc-awlut
	telstat -f openmetrics "${STATS[@]}" -n 9 mpsio.log >file
	exec {seen}>seen
	telstat -f openmetrics "${STATS[@]}" -i 1000kticks -o file mpsio.log 3>&- &
	while kill -0 $! 2>/dev/null; do
		tail -n 1 file >&$seen
		reads=$((reads + 1))
	done
	wait $!
	[ "$(sort -u seen)" = '# EOF' ]
	[ "$(wc -l <seen)" = $reads ]
	alone file
}

@test "snapshots come while the log goes on" {
	unpack 1.118.0-lii6gc-awlut
	mkfifo fifo
	telstat --live -i 1ms -f prometheus -o file <fifo 3>&- &
	{
		cat mpsio.log
		await [ -s file ]
		cp file sofar
	} >fifo
	wait
	telstat -S -f prometheus mpsio.log | diff - file
	run ! cmp -s sofar file
}

@test "if anything fails, the old file stays" {
	echo old >file
	expect 2 "telstat: file: the output would overwrite this input" \
	    telstat -f prometheus -i 1s -o file file
	expect 1 "telstat: nosuch: No such file or directory" \
	    telstat -f prometheus -i 1s -o file nosuch
	expect 2 "telstat: 'x=log2(bogus)', column 8: *" \
	    telstat -f prometheus -i 1s -o file -s 'x=log2(bogus)' mpsio.log
	[ "$(<file)" = old ]
	alone file
	# no room for the new one
	trap '' XFSZ
	run -1 --separate-stderr bash -c "ulimit -f 4 &&
	    telstat -f prometheus --report -i 1s -o file mpsio.log"
	trap - XFSZ
	[[ $stderr == "telstat: file: File too large" ]]
	[ "$(<file)" = old ]
	alone file
	# what could not be read is in the new one
	run -1 telstat -f prometheus -i 100us -o file mpsio.log nosuch
	grep -qx 'inst_incomplete_runs_total 1' file
	ln -s file link
	for name in link /dev/full .; do
		expect 2 "telstat: $name: not a regular file, which each interval could replace" \
		    telstat -f prometheus -i 1s -o $name mpsio.log
	done
	expect 1 "telstat: no/such: No such file or directory" \
	    telstat -f prometheus -i 1s -o no/such mpsio.log
}
