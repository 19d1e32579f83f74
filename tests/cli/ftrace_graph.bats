#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The function and function_graph tracers of the Linux kernel, tel-ftrace(5).

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
}

# As the kernel's file has it, without times.
plain() {
	cat <<-'END'
		# tracer: function_graph
		#
		# CPU  DURATION                  FUNCTION CALLS
		# |     |   |                     |   |   |   |
		 0)               |  sys_open() {
		 0)               |    getname [fs]() {
		 0)   1.382 us    |      copy();
		 0)   2.478 us    |    }
		 1)   1.234 us    |  other();
		 0)               |    /* sched_wakeup: comm=sh pid=12 prio=120 */
		 0)               |    /* hello world */
		 0) + 10.500 us   |  } /* sys_open ret=0x3 */
		 ------------------------------------------
		 0)  migration/0--1  =>    sshd-1755
		 ------------------------------------------

		 0)   ==========> |
		 0)               |  irq() {
		 0)   <========== |
		 0) ! 143.685 us  |  } /* kernel_clone */
		 0) $ 1070123 us  |  vfs_read(file=0xffff888, count=12); /* <-ksys_read+0x4 ret=-11 */
		 0)   0.100 us    |  } /* late [fs] */
		 0)   0.200 us    |  }
	END
}

@test "calls of function_graph have functions, stacks, and times of their own" {
	plain >log
	clean telcat -H log | diff - <(cat <<-'END'
		0000000000000000 funcgraph_entry cpu=0 depth=0 func="sys_open" stack=1["sys_open"]
		0000000000000000 funcgraph_entry cpu=0 depth=1 func="getname [fs]" stack=2["getname [fs]"]
		0000000000000000 funcgraph_exit cpu=0 start=0 duration=1382 self=1382 depth=2 func="copy" stack=3["copy"]
		00000000000009AE funcgraph_exit cpu=0 start=0 duration=2478 self=1096 depth=1 func="getname [fs]" stack=2["getname [fs]"]
		0000000000000000 funcgraph_exit cpu=1 start=0 duration=1234 self=1234 depth=0 func="other" stack=4["other"]
		00000000000009AE sched_wakeup cpu=0 comm="sh" pid=12 prio=120 stack=0
		00000000000009AE print cpu=0 text="hello world" stack=0
		0000000000002904 funcgraph_exit cpu=0 start=0 duration=10500 self=8022 depth=0 func="sys_open" ret=0x3 stack=1["sys_open"]
		0000000000002904 funcgraph_entry cpu=0 depth=0 func="irq" tid=1755["sshd"] stack=5["irq"]
		0000000000002904 funcgraph_exit cpu=0 start=0 duration=143685 self=143685 depth=0 func="kernel_clone" tid=1755["sshd"] stack=6["kernel_clone"]
		0000000000002904 funcgraph_exit cpu=0 start=10500 duration=1070123000 self=1070123000 depth=0 func="vfs_read" args="file=0xffff888, count=12" caller="ksys_read+0x4" ret=-11 tid=1755["sshd"] stack=7["vfs_read"]
		000000003FC8F0FC funcgraph_exit cpu=0 start=1070133400 duration=100 self=100 depth=0 func="late [fs]" tid=1755["sshd"] stack=8["late [fs]"]
		000000003FC8F0FC funcgraph_exit cpu=0 start=1070133300 duration=200 self=200 depth=0 func="" tid=1755["sshd"] stack=0
	END
	)
	clean telfilter -w true log | cmp - log
	# the time that each function took, and what of it was its own
	telstat -f csv -g func -s 'all=sum(duration)' -s 'own=sum(self)' log >sums
	grep -q ',all,sum,sum,,,,10500,func=sys_open$' sums
	grep -q ',own,sum,sum,,,,8022,func=sys_open$' sums
	telcat -f tel -o log.tel log
	telcat -f folded log.tel | diff - <(telcat -f folded log)
}

@test "each stack of functions has the time that a model finds" {
	for form in graph abs report; do
		for seed in 1 2; do
			"$TEL_TOP/tests/cli/ftrace_graph.py" $form $seed want >log
			clean telcat -f folded log | LC_ALL=C sort >got
			LC_ALL=C sort want | diff - got
		done
	done
}

@test "calls before the first switch of a processor are of the thread it names" {
	cat >log <<-'END'
		 0)               |  sys_read() {
		 0)               |    schedule() {
		 ------------------------------------------
		 0)    cat-5    =>   <idle>-0
		 ------------------------------------------

		 0)   1.000 us    |      leaf();
		 0)   5.000 us    |    }
		 0)               |  play() {
		 ------------------------------------------
		 0)   <idle>-0    =>    cat-5
		 ------------------------------------------

		 0)   9.000 us    |    }
		 0) + 20.000 us   |  }
	END
	clean telcat -H log | tail -n 5 | sed 's/.*funcgraph_//; s/start=0 //' | diff - <(cat <<-'END'
		exit cpu=0 duration=1000 self=1000 depth=2 func="leaf" tid=0["<idle>"] stack=3["leaf"]
		exit cpu=0 duration=5000 self=4000 depth=1 func="" tid=0["<idle>"] stack=0
		entry cpu=0 depth=0 func="play" tid=0["<idle>"] stack=4["play"]
		exit cpu=0 duration=9000 self=9000 depth=1 func="schedule" tid=5["cat"] stack=2["schedule"]
		exit cpu=0 duration=20000 self=11000 depth=0 func="sys_read" tid=5["cat"] stack=1["sys_read"]
	END
	)
}

@test "calls whose start or end is not in the log have time that is not their own" {
	cat >log <<-'END'
		 0)               |  a() {
		 0)   5.000 us    |      c();
		 0) + 10.000 us   |    } /* b */
		 0)               |    d() {
		 0)   1.000 us    |      e();
		 0)   2.000 us    |    f();
		 0) + 20.000 us   |  }
		 0)   3.000 us    |    g();
		 0)   4.000 us    |  }
	END
	clean telcat -H log | sed -n 's/.*self=\([0-9]*\).*func="\(.*\)" .*/\2 \1/p' | paste -s -d ' ' >own
	[ "$(cat own)" = 'c 5000 b 5000 e 1000 f 2000 a 7000 g 3000  1000' ]
}

@test "times, threads and flags of function_graph" {
	cat >abs <<-'END'
		#     TIME        CPU  TASK/PID         DURATION                  FUNCTION CALLS
		7405.739168 |   0)   x-ray-3952    |               |  do_nanosleep() {
		7405.739202 |   0)   x-ray-3952    |   1.200 us    |    irq_enter_rcu();
		7405.739202 |   1)    <idle>-0     |               |  tick() {
		7405.739203 |   0)   x-ray-3952    |   1.000 us    |    irq_exit_rcu();
		7405.739231 |   1)   usemem-842    |               |  /* softirq_entry: vec=1 [action=TIMER] */
		7405.739268 |   0)   x-ray-3952    | + 99.600 us   |  }
		7405.739269 |   1)    <idle>-0     | + 67.000 us   |  }
	END
	clean telcat -H abs | diff - <(cat <<-'END'
		000006BC4873D100 funcgraph_entry cpu=0 tid=3952["x-ray"] depth=0 func="do_nanosleep" stack=1["do_nanosleep"]
		000006BC487455D0 funcgraph_exit cpu=0 tid=3952["x-ray"] start=7405739202000 duration=1200 self=1200 depth=1 func="irq_enter_rcu" stack=2["irq_enter_rcu"]
		000006BC487455D0 funcgraph_entry cpu=1 tid=0["<idle>"] depth=0 func="tick" stack=3["tick"]
		000006BC487459B8 funcgraph_exit cpu=0 tid=3952["x-ray"] start=7405739203000 duration=1000 self=1000 depth=1 func="irq_exit_rcu" stack=4["irq_exit_rcu"]
		000006BC4874C718 softirq_entry cpu=1 tid=842["usemem"] vec=1 action="TIMER" stack=0
		000006BC487557A0 funcgraph_exit cpu=0 tid=3952["x-ray"] start=7405739168000 duration=99600 self=97400 depth=0 func="do_nanosleep" stack=1["do_nanosleep"]
		000006BC48755B88 funcgraph_exit cpu=1 tid=0["<idle>"] start=7405739202000 duration=67000 self=67000 depth=0 func="tick" stack=3["tick"]
	END
	)
	# a range for each call, in the lane of its depth, in which none overlap
	telcat -f chrome abs >page
	[ "$(sed -n 's/.*"ph":"X".*"ts":\([^,]*\),"name":"\([^"]*\).*"dur":\(.*\)}.*/\2 \1 \3/p' page)" = \
	    "irq_enter_rcu 34.000 1.200
irq_exit_rcu 35.200 1.000
do_nanosleep 0.000 99.600
tick 34.000 67.000" ]
	[ "$(grep -c 'thread 3952 x-ray calls' page)" -eq 2 ]
	cat >lat <<-'END'
		#   REL TIME      CPU  TASK/PID       ||||     DURATION                  FUNCTION CALLS
		          0 us |   0)   bash-1507    |  d... |   0.378 us    |  lock();
		          1 us |   0)   bash-1507    |  dl.2 |               |  set_track() {
		          4 us |   0)   bash-1507    |  d..2 |   2.5 us      |  }
	END
	clean telcat -H lat | diff - <(cat <<-'END'
		0000000000000000 funcgraph_exit cpu=0 tid=1507["bash"] context="d..." start=0 duration=378 self=378 depth=0 func="lock" stack=1["lock"]
		00000000000003E8 funcgraph_entry cpu=0 tid=1507["bash"] context="dl.2" depth=0 func="set_track" stack=2["set_track"]
		0000000000000FA0 funcgraph_exit cpu=0 tid=1507["bash"] context="d..2" start=1000 duration=2500 self=2500 depth=0 func="set_track" stack=2["set_track"]
	END
	)
	# without durations, or without the processor
	cat >bare <<-'END'
		 0) a() {
		 0)   b();
		 0) }
	END
	clean telcat --as ftrace -H bare | diff - <(cat <<-'END'
		0000000000000001 funcgraph_entry cpu=0 depth=0 func="a" stack=1["a"]
		0000000000000002 funcgraph_exit cpu=0 depth=1 func="b" stack=2["b"]
		0000000000000003 funcgraph_exit cpu=0 depth=0 func="a" stack=1["a"]
	END
	)
	[ "$(printf '  1.250 us    |  a(x=1 | 2);\n' | telcat -H)" = '0000000000000000 funcgraph_exit start=0 duration=1250 self=1250 depth=0 func="a" args="x=1 | 2" stack=1["a"]' ]
}

@test "a timeline has each call once, in the lane of its depth, of any copy" {
	calls() {
		telcat -f chrome "$1" |
		    sed -n 's/.*"ph":"X".*"ts":\([^,]*\),"name":"\([^"]*\).*"depth":\([0-9]*\).*"dur":\(.*\)}.*/\2 \1 \3 \4/p'
	}
	"$TEL_TOP/tests/cli/ftrace_graph.py" abs 1 want >log
	calls log >spans
	[ "$(wc -l <spans)" -eq "$(telcat log | grep -c 'funcgraph_exit .*self=')" ]
	telcat -f tel -o copy.tel log
	calls copy.tel | diff spans -
	telcat -f ctf -o copy.ctf log
	calls copy.ctf | diff spans -
	# events of others have a depth that is no lane
	printf '%s\n' '# teltools text 1' '# format: x' '# tick rate: 1000000000' \
	    '# type: call 1 event func:string depth:unsigned duration:unsigned' \
	    '0000000000000001 call func="a" depth=1000 duration=5' >other
	[ "$(telcat -f chrome other | grep -c '"ph":"X"')" -eq 1 ]
}

@test "function_graph of trace-cmd, and events that were lost" {
	cat >log <<-'END'
		cpus=2
		    sh-13     [001]    30.824959: funcgraph_entry:                   |      filp_close() {
		    sh-13     [001]    30.824960: funcgraph_entry:        1.361 us   |        dnotify();
		    sh-13     [000]    30.824960: funcgraph_entry:                   |        fput() {
		<idle>-0      [000]    30.824961: funcgraph_entry:                   |  idle() {
		<idle>-0      [001]    30.824961: funcgraph_entry:                   |  play() {
		<idle>-0      [000]    30.824962: funcgraph_exit:       + 12.285 us  |  }
		<idle>-0      [001]    30.824962: funcgraph_exit:       # 2079.48 us |  }
		    sh-13     [000]    30.824970: funcgraph_exit:         4.055 us   |        }
		    sh-13     [001]    30.824971: funcgraph_exit:         7.000 us   |      }
		    sh-13     [001]    30.824971: funcgraph_entry:                   |      vfs_read() {
		CPU:1 [LOST 3 EVENTS]
		    sh-13     [001]    30.824972: funcgraph_exit:         9.000 us   |      }
		    sh-13     [001]    30.824973: funcgraph_entry: func=0xffffffff81222333 depth=0
	END
	telcat -H log 2>err | sed 's/.*"\] //; s/ stack=.*//; s/start=[^ ]* //' |
	    diff - <(cat <<-'END'
		depth=2 func="filp_close"
		duration=1361 self=1361 depth=3 func="dnotify"
		depth=3 func="fput"
		depth=0 func="idle"
		depth=0 func="play"
		duration=12285 self=12285 depth=0 func="idle"
		duration=2079480 self=2079480 depth=0 func="play"
		duration=4055 self=4055 depth=3 func="fput"
		duration=7000 self=1584 depth=2 func="filp_close"
		depth=2 func="vfs_read"
		duration=9000 self=9000 depth=2 func=""
		func=0xffffffff81222333 depth=0
	END
	)
	grep -q '3 events lost' err
}

@test "the function tracer names functions and their callers" {
	cat >log <<-'END'
		# tracer: function
		    sh-12 [001] ..... 12.345671: vfs_read <-ksys_read
		    sh-12 [001] ..... 12.345672: deadbeef(file=0xfff, n=0) <-vfs_read
		    sh-12 [001] ..... 12.345673: ext4_read [ext4] <-vfs_read [fs]
		    sh-12 [001]  12.345674: function:             unlock <-- rb_write
		    sh-12 [001]  12.345675: function:             unlock
		    sh-12 [001] ..... 12.345676: tracing_mark_write: a <-b
		    sh-12 [001] ..... 12.345677: some text of a <-b
	END
	clean telcat -H log | cut -d ' ' -f 2- | diff - <(cat <<-'END'
		function cpu=1 context="....." tid=12["sh"] func="vfs_read" caller="ksys_read"
		function cpu=1 context="....." tid=12["sh"] func="deadbeef" caller="vfs_read" args="file=0xfff, n=0"
		function cpu=1 context="....." tid=12["sh"] func="ext4_read [ext4]" caller="vfs_read [fs]"
		function cpu=1 tid=12["sh"] func="unlock" caller="rb_write"
		function cpu=1 tid=12["sh"] func="unlock"
		tracing_mark_write cpu=1 context="....." tid=12["sh"] text="a <-b"
		print cpu=1 context="....." tid=12["sh"] text="some text of a <-b"
	END
	)
}

@test "what looks like a graph is damage, or another format" {
	printf ' 0) %s\n' '  1.2345 us |  a();' '| a b();' '|  ();' '|  a()' \
	    '|  }; x' '  1.2 ms |  a();' '|' '' 'a-b => c-d' >bad
	run -3 --separate-stderr telcat -H --as ftrace bad
	[ -z "$output" ]
	printf ' 1) %s\n' 'do();' 'call it();' >list
	run -1 telcat list
	# a table, a grammar, a makefile, symbols, and numbers
	printf 'x | y\n| /* a */ | b |\n|  f(x);\n' >table
	printf 'a: b\n  | /* empty */\n  ;\n' >grammar
	printf 'all: a\n\tcd a && make\n\tcd b && make\n' >makefile
	printf '  %d: 00000000000011%d0     0 FUNC\n' 1 1 2 2 >symbols
	printf 'INFO 170000000012345%d x\n' 1 2 >numbers
	printf 'span 4bf92f3577b34da%d x\n' 1 2 >spans
	printf 'ubuntu 18.04     e28a50f651f%d   2 weeks ago\n' 1 2 >images
	for log in table grammar makefile symbols numbers spans images; do
		run -1 telcat $log
	done
}

@test "a call of a type past the limit keeps its own text" {
	for i in $(seq 1100); do
		echo "  a-1  [001]  1.000000: ev$i: a=$i"
	done >log
	echo '3.000001 |   0)   x-ray-3952    |   1.200 us    |  irq();' >>log
	clean telcat log | tail -n 1 >last
	grep -qF 'other event="3.000001 |   0)   x-ray-3952    |   1.200 us    |  irq();"' last
}

@test "a function and what it returns may each be as long as a line" {
	printf ' 0)               |  f%065400d() {\n' 0 >log
	printf ' 0)   1.000 us    |  } /* ret=r%065400d */\n' 0 >>log
	[ "$(clean telcat -H log | tail -n 1 | wc -c)" -gt 130800 ]
	telcat -f tel -o log.tel log
	telcat -H log.tel | diff - <(telcat -H log)
}

@test "the threads of very many processors have their calls" {
	local cpu round
	for cpu in $(seq 0 99); do
		printf ' %2d)   a-%d   =>    b%d-%d\n' "$cpu" "$((cpu + 1))" \
		    "$cpu" "$((cpu + 1000))"
	done >log
	for round in 1 2; do
		for cpu in $(seq 0 99); do
			echo " $cpu)   1.234 us    |  func$round();"
		done
	done >>log
	clean telcat log | sed -n 's/.* cpu=\(.*\) start.* tid=\(.*\) stack.*/\1 \2/p' >got
	for round in 1 2; do
		for cpu in $(seq 0 99); do
			echo "$cpu $((cpu + 1000))[\"b$cpu\"]"
		done
	done | diff - got
}
