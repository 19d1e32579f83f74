#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Flips bits of a trace of LTTng-UST, and cuts its files:

    ctf_damage.py FOLDER ROUNDS SEED

In each round a bit of a file of a stream is flipped, or the file is cut.  No
event may be missing but those of the packets that were touched, and what is
missing must be counted: telcat then ends with status 3.  A flipped bit in the
size of a packet's content, or in an event, may also give other events that are
as valid as those that were there.
"""

import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

# in the header of each packet, which is 84 bytes long
CONTENT, SIZE, HEADER = 48, 56, 84


def count(folder):
    """How many events there are, and the status."""
    run = subprocess.run(["telcat", "-c", "-q", folder], check=False,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return int(run.stdout or b"0"), run.returncode


def streams(folder):
    for top, _, files in os.walk(folder):
        for name in sorted(files):
            path = os.path.join(top, name)
            if name != "metadata" and os.sep + "index" not in top and \
                    os.path.getsize(path) > 0:
                yield path


def packets(data):
    """Where each packet starts, where its content ends, and where it does."""
    at = 0
    while at < len(data):
        content, size = struct.unpack_from("<QQ", data, at + CONTENT)
        yield at, at + content // 8, at + size // 8
        at += size // 8


def count_packets(folder, path, data, total):
    """The events of each packet of a file: what the trace has without it."""
    for start, end, after in packets(data):
        with open(path, "wb") as f:
            f.write(data[:start] + data[after:])
        yield start, end, after, total - count(folder)[0]
    with open(path, "wb") as f:
        f.write(data)


def touch(data, draw, found):
    """Damaged data, and how many events may be missing."""
    if draw.random() < 0.25:
        at = draw.randrange(1, len(data))
        lost = sum(n for start, end, _, n in found if at < end)
        return data[:at], lost, "cut at %d" % at
    start, end, _, lost = draw.choice(found)
    at = draw.randrange(start, end)
    bit = draw.randrange(8)
    changed = bytearray(data)
    changed[at] ^= 1 << bit
    return bytes(changed), lost, "bit %d of byte %d, in %d to %d" % \
        (bit, at, start, end)


def main(source, rounds, seed):
    draw = random.Random(seed)
    silent = 0
    with tempfile.TemporaryDirectory() as top:
        folder = os.path.join(top, "trace")
        shutil.copytree(source, folder, copy_function=shutil.copyfile)
        total, status = count(folder)
        assert status == 0, status
        files = {}
        for path in list(streams(folder)):
            with open(path, "rb") as f:
                data = f.read()
            files[path] = data, list(count_packets(folder, path, data, total))
        for i in range(rounds):
            path = draw.choice(sorted(files))
            data, found = files[path]
            changed, lost, what = touch(data, draw, found)
            with open(path, "wb") as f:
                f.write(changed)
            n, status = count(folder)
            what = "round %d, %s, %s: %d of %d events, status %d" % (
                i, os.path.basename(path), what, n, total, status)
            if status not in (0, 3):
                sys.exit(what)
            if n < total - lost:
                sys.exit("%s; at most %d may be missing" % (what, lost))
            if n < total and status == 0:
                silent += 1
                print(what)
            with open(path, "wb") as f:
                f.write(data)
    print("%d rounds, %d silent" % (rounds, silent))
    # 8 of 84 bytes of a header are the size of the content
    if silent > 3 + rounds // 50:
        sys.exit("too many losses that are not counted")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
