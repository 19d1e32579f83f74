#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Flips bits of chunks of recordings, and cuts them:

    jfr_damage.py BEFORE AFTER ROUNDS SEED CHUNK ...

BEFORE, a CHUNK and AFTER are recordings that are joined.  In each round a bit of
CHUNK is flipped, or a part of it, or of its end, is cut out.  Each event of the
others must be shown as it was, and what is missing of CHUNK must be counted:
telcat then ends with status 3.  A flipped bit may also give other events that
are as valid as those that were there.
"""
import collections
import random
import re
import subprocess
import sys


def show(data):
    """The events, without the numbers of stacks, and the status."""
    run = subprocess.run(["telcat", "-H", "-q"], input=data, check=False,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if run.returncode not in (0, 3) or b"Sanitizer" in run.stderr:
        return [], run.returncode or -1
    text = re.sub(rb"(stackTrace)=[0-9]+", rb"\1=", run.stdout)
    return text.splitlines(), run.returncode


def damage(data, draw):
    kind = draw.random()
    at = draw.randrange(len(data))
    if kind < 0.15:
        return data[:at], "end cut at %d" % at
    if kind < 0.25:
        n = draw.randrange(1, 200)
        return data[:at] + data[at + n:], "%d bytes cut at %d" % (n, at)
    # a quarter of them in the header, or behind it
    at = draw.choice((at, at, at, draw.randrange(100)))
    bit = draw.randrange(8)
    changed = bytearray(data)
    changed[at] ^= 1 << bit
    return bytes(changed), "bit %d of byte %d" % (bit, at)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def main(before, after, rounds, seed, paths):
    before, after = read(before), read(after)
    others = collections.Counter(show(before)[0] + show(after)[0])
    for path in paths:
        check(before, read(path), after, others, rounds, random.Random(seed))


def check(before, chunk, after, others, rounds, draw):
    total = sum(others.values()) + len(show(chunk)[0])
    silent = wrong = 0
    for i in range(rounds):
        changed, what = damage(chunk, draw)
        lines, status = show(before + changed + after)
        missing = others - collections.Counter(lines)
        what = "round %d, %s: %d of %d events, status %d" % (
            i, what, len(lines), total, status)
        if status not in (0, 3):
            sys.exit(what)
        if missing:
            wrong += 1
            print("%s; %d of other chunks are missing" % (what, len(missing)))
        if len(lines) < total and status == 0:
            silent += 1
            print(what)
    print("%d rounds, %d silent" % (rounds, silent))
    if wrong or silent > 1 + rounds // 50:
        sys.exit("%d rounds lost events of other chunks" % wrong)


main(*sys.argv[1:3], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5:])
