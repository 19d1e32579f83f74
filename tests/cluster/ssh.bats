#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# examples/cluster/parallel.sh over ssh: two names of this machine's loopback,
# by an sshd with keys of its own.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	needs ssh ssh-keygen
	parallel --version 2>version </dev/null | grep -q '^GNU parallel' ||
	    skip "there is no GNU parallel"
	# it must be started by its full name, and is on the PATH of root only
	SSHD=$(PATH=$PATH:/usr/sbin:/sbin type -P sshd) || skip "there is no sshd"
}

teardown() {
	local host pid
	for host in a b; do
		[ ! -S "master.$host" ] ||
		    ssh -F ssh.conf -O exit $host 2>/dev/null || true
	done
	if [ -s sshd.pid ]; then
		pid=$(<sshd.pid)
		if kill "$pid"; then
			await gone "$pid"
		fi
	fi
	check_statuses
}

sshd_conf() {
	cat >sshd.conf <<-END
		ListenAddress 127.0.0.1:$1
		HostKey $PWD/host
		PidFile $PWD/sshd.pid
		AuthorizedKeysFile $PWD/user.pub
		StrictModes no
		UsePAM no
		PasswordAuthentication no
		PermitRootLogin yes
		MaxStartups 100
		MaxSessions 100
	END
	cat >ssh.conf <<-END
		Host a b
		    HostName 127.0.0.1
		    Port $1
		    User $(id -un)
		    IdentityFile $PWD/user
		    IdentitiesOnly yes
		    UserKnownHostsFile $PWD/known
		    StrictHostKeyChecking accept-new
		    LogLevel ERROR
		    ControlMaster auto
		    ControlPath $PWD/master.%n
		    ControlPersist 60
	END
}

listens() {
	if kill -0 "$1" 2>/dev/null; then
		grep -q '^Server listening' sshd.log
	fi
}

start_sshd() {
	local try port pid
	ssh-keygen -q -t ed25519 -N '' -f host
	ssh-keygen -q -t ed25519 -N '' -f user
	# what its package makes at boot
	[ "$(id -u)" != 0 ] || mkdir -p /run/sshd
	# another program may take the port first
	for try in 1 2 3 4 5; do
		read -r port _ < <(ports)
		sshd_conf "$port"
		"$SSHD" -D -e -f "$PWD/sshd.conf" </dev/null >sshd.log 2>&1 3>&- &
		pid=$!
		await listens $pid
		if grep -q '^Server listening' sshd.log; then
			ssh -F ssh.conf a true </dev/null 2>ssh.log 3>&- && return
			tail -n 5 ssh.log sshd.log >&2
			skip "no ssh to loopback: $(tail -n 1 ssh.log)"
		fi
	done
	skip "no sshd in $try tries: $(tail -n 1 sshd.log)"
}

@test "GNU parallel over ssh counts logs as one telstat does, though a worker is killed" {
	scenario 1
	start_sshd
	export HOME=$PWD PARALLEL_HOME=$PWD PARALLEL_SSH="ssh -F $PWD/ssh.conf"
	MACHINES=2/a,2/b run -1 "$CLUSTER/parallel.sh" list "$PWD/parts" "${STATS[@]}"
	[[ $output == *'/020.log: no events: the file is empty'* ]]
	reduces
	[ -S master.a ]
	[ -S master.b ]
}
