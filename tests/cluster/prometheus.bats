#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Metrics of telstat in Prometheus's own checker, and scraped from
# node_exporter, which reads the file that telstat -i keeps up to date.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	zstd -dcq "$DATA/1.118.0-lii6gc-poolncv.log.zst" >mpsio.log
	mkdir metrics
	telstat --live -i 100us -f prometheus -o metrics/mps.prom --report \
	    "${STATS[@]}" -s 'low=hist(size-100,-100,100,10)' \
	    -s 'times=hist(dur(PoolInit,PoolFinish,pool),0,1ms,100us)' mpsio.log
}

teardown() {
	local pid
	if [ -s pid ]; then
		pid=$(<pid)
		kill "$pid" || true
	fi
	wait
	check_statuses
}

@test "promtool has nothing against the metrics" {
	needs promtool
	promtool check metrics <metrics/mps.prom >out 2>&1 || {
		cat out
		false
	}
	[ ! -s out ]
}

listening() {
	address=$(sed -n 's/.*msg="Listening on" address=\([0-9.:]*\).*/\1/p' log)
	[ -n "$address" ]
}

@test "node_exporter serves what telstat wrote" {
	needs prometheus-node-exporter
	# of a telstat that is writing, or was killed: not a file of metrics
	echo 'half a line' >metrics/mps.prom.new-1
	prometheus-node-exporter --collector.disable-defaults \
	    --collector.textfile --collector.textfile.directory="$PWD/metrics" \
	    --web.listen-address=127.0.0.1:0 >log 2>&1 </dev/null 3>&- &
	echo $! >pid
	await listening
	python3 - "http://$address/metrics" metrics/mps.prom <<-'END'
		import re, sys, urllib.request
		def samples(lines):
		    found = {}
		    for line in lines:
		        if line.startswith("inst_"):
		            name, value = line.rsplit(" ", 1)
		            # a number may be written in several ways
		            name = re.sub(r'le="(.*?)"', lambda m: f"le={float(m[1])}", name)
		            labels = re.findall(r'\w+=(?:"(?:[^"\\]|\\.)*"|[^,}]*)', name)
		            found[name.partition("{")[0], tuple(sorted(labels))] = float(value)
		    return found
		web = urllib.request.build_opener(urllib.request.ProxyHandler({}))
		text = web.open(sys.argv[1], timeout=60).read().decode()
		assert "\nnode_textfile_scrape_error 0\n" in text, text
		want = samples(open(sys.argv[2], encoding="utf-8"))
		got = samples(text.splitlines())
		assert len(want) > 100 and got == want, (set(want.items()) ^ set(got.items()))
	END
}
