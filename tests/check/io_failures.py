#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Lets one call of input or output after another fail in a tool.

usage: io_failures.py [-v] LIBRARY POINTS FAULT,... COMMAND ...

LIBRARY is what fail_io.c was compiled to.  POINTS is how many calls of a run
are tried at most, the first ones and others at equal steps; 0: all.  A FAULT is
one of the table below; behind a "/", each command has every second of them, and
the next command the others.  Each COMMAND is one argument, a line of shell words:
{out} is a file of its own for each run, "<FILE" the standard input, and
"|FILE" that through a pipe.  Of a command behind "~" the output may differ
from run to run.

A run must either print what it prints without a fault, with the same status,
or end with status 1, a message that names the file in question, no more than a
part of that output, and {out} complete or as it was.  Interrupted and short
calls must change nothing.
Prints what does otherwise; status 1 if there was any.  -v prints each message.
"""
import collections
import concurrent.futures
import errno
import os
import re
import shlex
import subprocess
import sys
import tempfile

Fault = collections.namedtuple("Fault", "calls error stays chunk signal")
OTHERS = " close fsync ftruncate fstat lseek open pipe"
FAULTS = {
    "read": Fault(" read pread", errno.EIO, 0, 3001, 0),
    "read-on": Fault(" read pread", errno.EIO, 1, 3001, 0),
    "write": Fault(" write pwrite", errno.ENOSPC, 0, 3001, 0),
    "write-on": Fault(" write pwrite", errno.EIO, 1, 3001, 0),
    "pipe": Fault(" write", errno.EPIPE, 1, 3001, 0),
    "other": Fault(OTHERS, errno.EIO, 0, None, 0),
    "short": Fault("", 0, 0, 97, 0),
    "interrupted": Fault(" read write pread pwrite poll", 0, 0, 1009, 2),
}
SHARED = 4096

OLD = b"what was there before"

Run = collections.namedtuple("Run", "status output kept error count what")


def run(library, fault, line, at, folder):
    """Runs a command with the call of number at failing."""
    count = os.path.join(folder, "count")
    out = os.path.join(folder, "out")
    with open(count, "wb") as f:
        f.write(bytes(SHARED))
    if "{out}" in line and "sqlite" not in line:
        with open(out, "wb") as f:
            f.write(OLD)
    env = dict(os.environ, LD_PRELOAD=library, FAIL_CALLS=fault.calls,
               FAIL_AT=str(at), FAIL_ERRNO=str(fault.error),
               FAIL_STAYS=str(fault.stays), FAIL_COUNT=count,
               FAIL_SIGNAL=str(fault.signal), TMPDIR=folder)
    if fault.chunk:
        env["FAIL_CHUNK"] = str(fault.chunk)
    words, stdin, given = [], subprocess.DEVNULL, None
    for word in shlex.split(line.lstrip("~").replace("{out}", out)):
        if word[0] == "<":
            stdin = open(word[1:], "rb")
        elif word[0] == "|":
            with open(word[1:], "rb") as f:
                stdin, given = None, f.read()
        else:
            words.append(word)
    feed = {"stdin": stdin} if given is None else {"input": given}
    done = subprocess.run(words, env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=300, **feed)
    if stdin not in (None, subprocess.DEVNULL):
        stdin.close()
    kept = None
    if os.path.exists(out):
        with open(out, "rb") as f:
            kept = f.read()
        os.unlink(out)
    with open(count, "rb") as f:
        shared = f.read()
    left = [name for name in os.listdir(folder) if name != "count"]
    what = shared[16:].split(b"\0")[0].decode(errors="replace")
    if left:
        what += f" (left behind: {left})"
        for name in left:
            os.unlink(os.path.join(folder, name))
    return Run(done.returncode, done.stdout, kept, done.stderr,
               int.from_bytes(shared[:8], sys.byteorder), what)


def is_named(line, one):
    """Whether the message of a failure says which file it is of."""
    file = os.path.basename(one.what.split(" ")[1])
    # a new file beside the one that is named, or the journal of a database
    file = re.sub(r"\.new-\d+$|-journal$", "", file)
    text = one.error.decode(errors="replace")
    if line[0] == "~" or file.startswith(("teltools.", "telreplay.")):
        return True
    if file.startswith(("pipe:", "null")) or "<" in line:
        return "standard " in text
    # the folder of temporary files is not to blame
    return file in text and ": copying it to " not in text


def judge(fault, line, whole, one):
    """What is wrong with a run; None: nothing."""
    if "left behind" in one.what:
        return "leaves a file"
    if one.status < 0:
        return f"ends by signal {-one.status}"
    if one.status == whole.status and (line[0] == "~" or (
            one.output == whole.output and one.kept == whole.kept)):
        return None
    if fault.signal or fault.error == 0:
        return f"status {one.status}, {len(one.output)} bytes of output"
    if one.status != 1:
        return f"status {one.status} instead of {whole.status}, " \
            f"{len(one.output)} bytes of output instead of {len(whole.output)}"
    # what fails after it was complete leaves it; of a series each is complete
    if one.kept not in (None, OLD, whole.kept) and line[0] != "~" and \
            "prometheus" not in line:
        return f"changes the old file: {one.kept[:80]}"
    if fault.error == errno.EPIPE:
        return None
    if not one.error:
        return "fails without a message"
    if fault.chunk and not is_named(line, one):
        return f"does not name the file: {one.error.decode()}"
    return None


def points(total, most):
    if most == 0 or total <= most:
        return range(1, total + 1)
    first = most // 2
    step = max(1, (total - first) // (most - first))
    return [*range(1, first + 1), *range(first + 1, total + 1, step)]


def main():
    args = sys.argv[1:]
    verbose = args[0] == "-v"
    library, most, kinds = args[verbose:][:3]
    faults = [FAULTS[kind] for kind in kinds.lstrip("/").split(",")]
    steps = 2 if kinds[0] == "/" and len(faults) > 1 else 1
    found = runs = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool, \
            tempfile.TemporaryDirectory() as top:

        def attempt(fault, line, at):
            with tempfile.TemporaryDirectory(dir=top) as folder:
                return run(library, fault, line, at, folder)

        none = Fault("", 0, 0, None, 0)
        for number, line in enumerate(args[verbose:][3:]):
            whole = attempt(none, line, 0)
            if whole.status not in (0, 3):
                print(f"{line}: status {whole.status} without a fault: "
                      f"{whole.error.decode(errors='replace')}")
                found += 1
                continue
            for fault in faults[number % steps::steps]:
                first = attempt(fault, line, 0)
                at = points(first.count, int(most)) if fault.error else [0]

                def tried(n, fault=fault, line=line, first=first):
                    return attempt(fault, line, n) if n else first

                for n, one in zip(at, pool.map(tried, at)):
                    runs += 1
                    wrong = judge(fault, line, whole, one)
                    if wrong or verbose:
                        print(f"{line}: call {n} of {first.count}, "
                              f"{one.what}, fails: {wrong}")
                    if verbose:
                        print("\t", one.status,
                              one.error.decode(errors="replace").strip())
                    found += wrong is not None
    print(f"{runs} runs, {found} wrong")
    return found != 0 or runs == 0


sys.exit(main())
