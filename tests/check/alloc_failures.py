#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Lets one allocation after another fail in a tool.

usage: alloc_failures.py LIBRARY POINTS COMMAND ...

LIBRARY is what fail_alloc.c was compiled to, POINTS how many allocations of a
run are tried at most: the first ones and others at equal steps; 0: all.  Each
COMMAND is one argument, a line of shell words.  A run must either print what it
prints with all memory, with the same status, or end with status 1 and a
message.  Prints what does neither; status 1 if there was any.
"""
import concurrent.futures
import os
import shlex
import subprocess
import sys
import tempfile


def run(library, words, at, count=""):
    env = dict(os.environ, LD_PRELOAD=library, FAIL_AT=str(at),
               FAIL_COUNT=count)
    return subprocess.run(words, env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=60)


def constant(line, output):
    """What a command prints each time.

    Of a replay, behind "~", with -f csv: all of the trace, and what there is of
    an allocator without its figures.  What is not known of the machine is left
    out.
    """
    if line[0] != "~":
        return output
    rows = [row.split(b",") for row in output.splitlines()]
    return [row if row[1] == b"" else row[:4] for row in rows
            if row[0] not in (b"latency", b"latency_range", b"sample",
                              b"machine")]


def judge(line, whole, one):
    """What is wrong with a run; None: nothing."""
    if one.returncode < 0:
        return f"ends by signal {-one.returncode}"
    # glibc's loader, too, ends a process without memory
    if one.returncode == 1 or (one.returncode == 127 and
                               b"out of memory" in one.stderr):
        return None if one.stderr else "fails without a message"
    if one.returncode != whole.returncode:
        return f"status {one.returncode} instead of {whole.returncode}"
    if constant(line, one.stdout) != constant(line, whole.stdout):
        return (f"status {one.returncode} with {len(one.stdout)} other bytes "
                f"instead of {len(whole.stdout)}")
    return None


def points(total, most):
    first = most // 2
    if most == 0 or total <= most:
        return range(1, total + 1)
    step = max(1, (total - first) // (most - first))
    return [*range(1, first + 1), *range(first + 1, total + 1, step)]


def main():
    library, most = sys.argv[1], int(sys.argv[2])
    found = runs = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool, \
            tempfile.TemporaryDirectory() as folder:
        for line in sys.argv[3:]:
            words = shlex.split(line.lstrip("~"))
            counted = os.path.join(folder, "count")
            with open(counted, "wb") as f:
                f.write(bytes(8))
            whole = run(library, words, 0, counted)
            with open(counted, "rb") as f:
                total = int.from_bytes(f.read(), sys.byteorder)
            if whole.returncode not in (0, 3):
                print(f"{line}: status {whole.returncode} with all memory")
                found += 1
                continue
            at = points(total, most)
            for n, one in zip(at, pool.map(
                    lambda n, w=words: run(library, w, n), at)):
                runs += 1
                wrong = judge(line, whole, one)
                if wrong:
                    print(f"{line}: allocation {n} of {total} fails: {wrong}")
                    found += 1
    print(f"{runs} runs, {found} wrong")
    return found != 0 or runs == 0


sys.exit(main())
