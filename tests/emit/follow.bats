#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# telcat -u: the events of a program that runs, from its rings or a socket.

# shellcheck disable=SC2030,SC2031,SC2154 # live.bash sets them

load live

# numbers FILE: those of the events that telcat has shown.
numbers() {
	grep -o ' n=[0-9]*' "$1" | tr -d ' n='
}

@test "rings are followed until the program closes them" {
	live shop.ring
	emit 3
	reading log telcat -u shop.ring
	await has_lines 3 log
	for i in 10 200 3000; do
		emit "$i"
		await grep -q " n=$((answer - 1)) " log
	done
	echo "name till" >&8
	read -r answer <&9
	emit 2
	leave
	wait "$reader"
	[ "$(numbers log)" = "$(seq 0 3214)" ]
	grep -q ' n=3213 .*thread=[0-9]*\["till"\]$' log
	grep -v '^#' log | LC_ALL=C sort -c -s -k 1,1
	# without -u they are read once
	clean telcat -T s shop.ring >once
	[ "$(grep -c ' n=' once)" = 3215 ]
	# threads that found no ring left are counted, too
	printf '\377\377\377\377' |
	    dd of=shop.ring bs=1 seek=1296 conv=notrunc status=none
	clean telcat -T s shop.ring >again
	cmp once again
}

@test "events of rings are selected, and written in the native format" {
	echo 500 | "$TEL_BUILD/tests/lives" shop.ring >/dev/null
	telfilter -w 'n >= 490' shop.ring 2>messages >some.tel
	grep -q 'shop.ring: its format is not written; .*\.tel' messages
	[ "$(numbers <(telcat some.tel))" = "$(seq 490 499)" ]
}

# has_events N FILE: at least so many, of the program.
has_events() {
	[ "$(telcat -q -c -e Number "$2")" -ge "$1" ]
}

@test "rings are followed in the native format, and by a page" {
	live shop.ring
	reading log telcat -u -f tel shop.ring
	telcat -u -f html --live=1 -o page.html shop.ring 3>&- 8>&- 9>&- &
	for i in 1 30 400; do
		emit "$i"
		await has_events "$answer" log
	done
	until [ -s page.html ]; do
		emit 1
		sleep 0.1
	done
	leave
	wait "$reader" "$!"
	has_events "$answer" log
}

@test "a log of a program without standard input has its end" {
	"$TEL_BUILD/tests/lives" "" "" all shop.tel <&-
	clean telcat -c shop.tel
}

# named FILE: the number of events in it; fails if one has not its own number
# as the name of its thread.
named() {
	sed -n 's/.* n=\([0-9]*\) .*thread=[0-9]*\(\["\(.*\)"\]\)*$/\1 \3/p' "$1" |
	    awk '$1 != $2 { wrong++ } END { print NR; exit wrong > 0 }'
}

@test "an event that comes while rings are read has its name" {
	live shop.ring
	reading log telcat -u shop.ring
	echo "named 12000" >&8
	await has_lines 3 log
	for i in 1 2 3; do
		telcat shop.ring >once
		named once
	done
	read -r answer <&9
	leave
	wait "$reader"
	[ "$(named log)" = 12000 ]
	# each name is an event, too, in another ring
	[ "$(grep -c ' ClockSync ' log)" = 12001 ]
	grep -v '^#' log | LC_ALL=C sort -c -s -k 1,1
}

@test "rings are followed until the program is killed" {
	live shop.ring
	emit 5
	reading log telcat -u -f csv -e Number shop.ring
	await has_lines 6 log
	emit 100
	kill -KILL "$pid"
	wait "$pid" || true
	pid=
	wait "$reader"
	[ "$(wc -l <log)" = 106 ]
}

@test "what is overwritten before it is read is counted" {
	live shop.ring
	reading log telcat -u shop.ring
	emit 1
	await grep -q ' n=0 ' log
	# rings hold 8,192 of these
	kill -STOP "$reader"
	emit 100000
	kill -CONT "$reader"
	await grep -q ' n=100000 ' log
	leave
	wait "$reader"
	lost=$(sed -n 's/.*: \([0-9]*\) events lost when.*/\1/p' messages)
	[ $(($(numbers log | wc -l) + lost)) = 100001 ]
}

@test "a socket, by its path, and by its address" {
	for address in shop.sock unix:shop.sock; do
		live '' shop.sock Count
		reading log telcat -u $address
		until grep -q ' n=' log; do
			emit 1
			sleep 0.02
		done
		first=$(numbers log | head -n 1)
		emit 1000
		leave
		wait "$reader"
		[ "$(numbers log)" = "$(seq "$first" $((answer - 1)))" ]
	done
	run -1 telcat -u unix:missing
	[[ $output == *"unix:missing: "* ]]
}

@test "a socket of TCP" {
	live '' '' Count shop.tel
	emit 10
	leave
	cat >serve.py <<-'END'
		import socket
		s = socket.create_server(("127.0.0.1", 0))
		print(s.getsockname()[1], flush=True)
		peer = s.accept()[0]
		peer.sendall(open("shop.tel", "rb").read())
	END
	exec {port_of}< <(exec python3 serve.py 3>&-)
	read -r port <&"$port_of"
	run -0 telcat -u "tcp:127.0.0.1:$port"
	[ "$(numbers <(echo "$output"))" = "$(seq 0 9)" ]
	run -1 telcat tcp:nowhere
	run -1 telcat "tcp:localhost:"
}

@test "rings that come by a pipe are read once, also to be followed" {
	echo 500 | "$TEL_BUILD/tests/lives" shop.ring >/dev/null
	telcat -q -H shop.ring >want
	[ "$(wc -l <want)" = 500 ]
	for option in -q -u; do
		# shellcheck disable=SC2002 # a pipe on purpose
		cat shop.ring | telcat -q -H $option | cmp - want
	done
}
