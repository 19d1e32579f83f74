#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# examples/cluster/slurm.sh: an array job of Slurm, on one node that the test
# starts, with a munge and keys of its own.

load lib

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	# daemons are on the PATH of root only
	PATH=$PATH:/usr/sbin:/sbin
	needs sbatch slurmctld slurmd munged
}

teardown() {
	local daemon pid
	for daemon in slurmd slurmctld munged; do
		[ -s $daemon.pid ] || continue
		pid=$(<$daemon.pid)
		if kill "$pid"; then
			await gone "$pid"
		fi
	done
	check_statuses
}

start_slurm() {
	local ctld node name
	name=$(uname -n)
	name=${name%%.*}
	read -r ctld node < <(ports)
	(umask 077 && head -c 128 /dev/urandom >munge.key)
	mkdir -p state spool
	cat >slurm.conf <<-END
		ClusterName=test
		SlurmctldHost=$name(127.0.0.1)
		SlurmctldPort=$ctld
		SlurmdPort=$node
		SlurmUser=$(id -un)
		SlurmdUser=$(id -un)
		AuthType=auth/munge
		CredType=cred/munge
		AuthInfo=socket=$PWD/munge.socket
		StateSaveLocation=$PWD/state
		SlurmdSpoolDir=$PWD/spool
		SlurmctldPidFile=$PWD/slurmctld.pid
		SlurmdPidFile=$PWD/slurmd.pid
		SlurmctldLogFile=$PWD/slurmctld.log
		SlurmdLogFile=$PWD/slurmd.log
		ProctrackType=proctrack/pgid
		TaskPlugin=task/none
		JobAcctGatherType=jobacct_gather/none
		AccountingStorageType=accounting_storage/none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_Core
		SchedulerParameters=batch_sched_delay=0,sched_interval=1
		ReturnToService=2
		MpiDefault=none
		NodeName=$name NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
		PartitionName=all Nodes=ALL Default=YES MaxTime=60 State=UP
	END
	export SLURM_CONF=$PWD/slurm.conf
	munged --force --socket="$PWD/munge.socket" --key-file="$PWD/munge.key" \
	    --pid-file="$PWD/munged.pid" --log-file="$PWD/munged.log" \
	    --seed-file="$PWD/munge.seed" </dev/null >munged.out 2>&1 3>&- ||
	    not_started munged munged.out
	slurmctld </dev/null >slurmctld.out 2>&1 3>&- ||
	    not_started slurmctld slurmctld.out
	slurmd -N "$name" </dev/null >slurmd.out 2>&1 3>&- ||
	    not_started slurmd slurmd.out
	await idle || not_started "the node" slurmctld.log
}

idle() {
	[ "$(sinfo -h -o %T 2>/dev/null)" = idle ]
}

not_started() {
	tail -n 5 "$2" >&2
	skip "$1 does not start here: $(tail -n 1 "$2")"
}

@test "Slurm counts logs as one telstat does, though a task is killed" {
	scenario 2
	start_slurm
	TASKS=4 run "$CLUSTER/slurm.sh" "$PWD/list" "$PWD/parts" "${STATS[@]}"
	echo "$output"
	[ "$status" = 0 ]
	grep -q '/020.log: no events: the file is empty' parts/*.messages
	reduces
}
