#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Counts the logs in LIST by an array job of Slurm, and waits for it:
#
#	[TASKS=N] slurm.sh LIST FOLDER [OPTION of telstat ...]
#
# This folder, the logs and FOLDER are on a file system that all nodes share,
# under the same absolute names.  Task K of N counts the logs K, K + N ... that
# have no part yet.  If a task fails, the job is submitted again, at most twice.

#SBATCH --job-name=telstat --ntasks=1

if [ -z "${SLURM_ARRAY_TASK_ID-}" ]; then
	here=$(cd "$(dirname "$0")" && pwd)
	mkdir -p "$2"
	for _ in 1 2 3; do
		status=0
		sbatch --wait --quiet --array="1-${TASKS:-100}" \
		    --output="$2/%a.messages" --open-mode=append \
		    "$here/slurm.sh" "$here" "$@" || status=$?
		[ $status = 0 ] && exit
	done
	exit "$status"
fi

# A task, of which Slurm runs a copy of this file.
here=$1
list=$2
folder=$3
shift 3
status=0
number=0
while read -r log; do
	number=$((number + 1))
	if [ $((number % SLURM_ARRAY_TASK_COUNT)) = \
	    $((SLURM_ARRAY_TASK_ID % SLURM_ARRAY_TASK_COUNT)) ] &&
	    [ ! -e "$folder/$(printf %06d $number).part" ]; then
		"$here/map.sh" "$folder" $number "$log" "$@" </dev/null ||
		    status=$?
	fi
done <"$list"
exit $status
