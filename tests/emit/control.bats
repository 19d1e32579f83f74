#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# telrec --control: which kinds a program writes, from outside.

# shellcheck disable=SC2154 # live.bash sets them

load live

@test "the kinds of a program are shown, by its rings and by its number" {
	live shop.ring
	run -0 telrec --control shop.ring
	[ "$output" = '-Order,-Stock,-Count,-User' ]
	run -0 telrec --control "$pid"
	[ "$output" = '-Order,-Stock,-Count,-User' ]
}

@test "they are turned on and off, and what is shown can be given back" {
	live shop.ring
	telrec --control "$pid" +order,+Count -User
	run -0 telrec --control "$pid"
	[ "$output" = '+Order,-Stock,+Count,-User' ]
	was=$output
	telrec --control shop.ring -Order
	[ "$(telrec --control "$pid")" = '-Order,-Stock,+Count,-User' ]
	telrec --control shop.ring all
	[ "$(telrec --control "$pid")" = '+Order,+Stock,+Count,+User' ]
	telrec --control "$pid" "$was"
	[ "$(telrec --control "$pid")" = "$was" ]
	telrec --control "$pid" -- "-Order,+Stock"
	telrec --control "$pid" -1 2
	[ "$(telrec --control "$pid")" = '-Order,+Stock,+Count,-User' ]
}

@test "what is on goes out from then on" {
	live shop.ring shop.sock
	reading log telcat -u shop.sock
	# whoever connects gets a stream with the next event that is out
	telrec --control "$pid" Count
	until grep -q ' n=' log; do
		emit 1
		sleep 0.02
	done
	emit 10
	last=$answer
	telrec --control "$pid" 0
	emit 10
	telrec --control "$pid" +Count
	emit 5
	leave
	wait "$reader"
	grep -o ' n=[0-9]*' log >numbers
	seq -f ' n=%.0f' $((last - 10)) $((last - 1)) >want
	seq -f ' n=%.0f' $((last + 10)) $((last + 14)) >>want
	tail -n 15 numbers | cmp - want
}

@test "what cannot be controlled is refused" {
	live shop.ring
	run -2 telrec --control shop.ring +Bogus
	[[ $output == *"unknown kind 'Bogus'"* ]]
	run -2 telrec
	run -2 telrec --control
	run -2 telrec --control 1 --control 2
	run -1 telrec --control missing
	[[ $output == *"no such file"* ]]
	run -1 telrec --control .
	[[ $output == *".: Is a directory" ]]
	run -1 telrec --control /dev/null all
	run -1 telrec --control "$BASHPID"
	[[ $output == *"no ring file"* ]]
	leave
	run -1 telrec --control shop.ring all
	[[ $output == *"has closed"* ]]
}
