#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Counts the logs in LIST on the workers of a Dask scheduler:

    dask.py SCHEDULER LIST FOLDER [OPTION of telstat ...]

SCHEDULER is an address such as tcp://head:8786, or a file that "dask scheduler
--scheduler-file" has written.  This folder, the logs and FOLDER must have the
same absolute names on all workers.  Dask gives the logs of a worker that dies
to the others.
"""
import os
import subprocess
import sys

# This file must not be found as the module "dask".
HERE = os.path.dirname(os.path.realpath(__file__))
sys.path = [p for p in sys.path if os.path.realpath(p or ".") != HERE]
from dask.distributed import Client, as_completed  # noqa: E402


def count(number, log, command):
    """Runs map.sh; its status, and its messages."""
    done = subprocess.run(command[:2] + [str(number), log] + command[2:],
                          stderr=subprocess.PIPE, text=True)
    if done.returncode > 1:
        raise RuntimeError(f"{log}: status {done.returncode}: {done.stderr}")
    return done.returncode, done.stderr


def main(scheduler, listing, folder, *options):
    os.makedirs(folder, exist_ok=True)
    with open(listing) as lines:
        logs = lines.read().splitlines()
    where = {"scheduler_file": scheduler} if os.path.exists(scheduler) \
        else {"address": scheduler}
    command = [f"{HERE}/map.sh", os.path.abspath(folder), *options]
    failed = False
    with Client(**where) as client:
        parts = client.map(count, range(1, len(logs) + 1), logs,
                           command=command, retries=2, pure=False)
        for part in as_completed(parts):
            if part.status == "error":
                print(part.exception(), file=sys.stderr)
                failed = True
            else:
                status, messages = part.result()
                sys.stderr.write(messages)
                failed |= status != 0
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
