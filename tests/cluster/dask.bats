#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# examples/cluster/dask.py: a scheduler of Dask with two workers.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	local python
	# Debian's module is for Debian's Python
	for python in python3 /usr/bin/python3; do
		"$(type -P $python)" -c 'import distributed' 2>import || continue
		PYTHON=$(type -P $python)
		return
	done
	skip "no Python has the module distributed"
}

teardown() {
	local pid
	[ ! -e pids ] || while read -r pid; do
		kill "$pid" 2>/dev/null || true
	done <pids
	wait
	check_statuses
}

# workers N: so many are there.
workers() {
	[ "$("$PYTHON" -c 'import sys
from distributed import Client
with Client(scheduler_file="scheduler.json", timeout=60) as c:
    print(len(c.scheduler_info()["workers"]))' 2>>workers.err)" = "$1" ]
}

@test "Dask counts logs as one telstat does, though a worker is killed" {
	local i
	scenario 2
	# the workers run this program, whose second parent they are
	"$PYTHON" -m distributed.cli.dask_scheduler --host 127.0.0.1 --port 0 \
	    --no-dashboard --scheduler-file "$PWD/scheduler.json" \
	    >scheduler.log 2>&1 3>&- &
	echo $! >>pids
	for i in 1 2; do
		"$PYTHON" -m distributed.cli.dask_worker --host 127.0.0.1 \
		    --no-dashboard --nthreads 1 --nworkers 1 \
		    --local-directory "$PWD/local.$i" \
		    --scheduler-file "$PWD/scheduler.json" >worker.$i.log 2>&1 3>&- &
		echo $! >>pids
	done
	await workers 2 || skip "Dask does not start: $(tail -n 1 worker.1.log)"
	run -1 "$PYTHON" "$CLUSTER/dask.py" scheduler.json list parts "${STATS[@]}"
	[[ $output == *'/020.log: no events: the file is empty'* ]]
	reduces
}
