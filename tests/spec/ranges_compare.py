#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares what telcat reads of random .tel files with ranges_model.py.

    ranges_compare.py SEED ...

All that a selection does not need is damaged, so that it shows if it is read.
"""

import itertools
import json
import os
import subprocess
import sys

import tel_reader as tel
from compare import as_json
from ranges_model import Draw, groups_of, needless, stream, unwanted


class File:
    """A file, and what is in it."""

    def __init__(self, name, data):
        self.name, self.data = name, data
        self.events, self.shown, self.lost = [], [], 0
        for e in tel.read(data):
            self.events.append(e)
            self.shown.append(as_json(e))
        for kind, _, head, _, _, _ in tel.records(data):
            h = tel.Bytes(head)
            if kind == tel.BLOCK:
                self.lost += [h.varint() for _ in range(6)][5]
        self.streams = groups_of(data, self.events)

    def damaged(self, places):
        """Its bytes, with records damaged."""
        data = bytearray(self.data)
        for at in places:
            size = int.from_bytes(data[at + 6:at + 10], "little")
            if size:
                data[at + 18 + data[at + 5] + size // 2] ^= 0x55
        return bytes(data)


def convert(*command, f):
    """What libtel writes of a file."""
    with open(f.name, "wb") as out:
        out.write(f.data)
    out = subprocess.run([*command, "-f", "tel", f.name], check=True,
                         stdout=subprocess.PIPE)
    return File("again" + f.name, out.stdout)


def same(what, got, want):
    if got != want:
        print("%s: %s\nexpected\n%s" % (what, got, want))
    return got == want


PLACES = {*range(400, 411), *range(90, 100)}


def sole(streams):
    """Whether the number of an event in its log follows from its block."""
    return len(streams) == 1 and len({
        e.schema.name for g in streams[0] for _, _, events in g.blocks
        for e in events}) == 1


def check(what, files, options, wanted, useless=lambda streams: [], told=()):
    """Reads the files, in which what is useless is damaged; True if all is as
    it should be.  told: messages of damage."""
    os.mkdir(what)
    for f in files:
        with open(os.path.join(what, f.name), "wb") as out:
            out.write(f.damaged(useless(f.streams)))
    got = subprocess.run(
        ["telcat", "--no-merge", "--file-order", "-f", "json", *options,
         *(f.name for f in files)],
        check=False, text=True, capture_output=True, cwd=what)
    want = [json.dumps(shown) for f in files
            for e, shown in zip(f.events, f.shown) if wanted(e)]
    lines = [json.dumps(json.loads(line)) for line in got.stdout.splitlines()]
    for i, pair in enumerate(itertools.zip_longest(lines, want)):
        if pair[0] != pair[1]:
            print("%s: event %d:\n%s\nexpected\n%s" % (what, i, *pair))
            break
    said = set(got.stderr.splitlines())
    status = 3 if told else 0
    told = {f"telcat: {line}" for line in [*told] + [
        f"{f.name}: {f.lost} events lost when the log was recorded"
        for f in files if f.lost]}
    for line in said ^ told:
        print("%s: %s%s" % (what, "" if line in said else "no message ", line))
    return got.returncode == status and said == told and lines == want


def check_places(what, files, options, wanted):
    """Where events are in the logs that they are from, as telstat says."""
    got = subprocess.run(
        ["telstat", "-q", "-f", "json", "-s", "x=top(n,4096)", *options,
         *(f.name for f in files)], check=True, cwd=what,
        stdout=subprocess.PIPE).stdout.splitlines()
    got = sorted((row["value"], row["log"], row["offset"])
                 for row in map(json.loads, got) if row["type"] == "top value")
    want = [(e.type.fields[0].value(e.data, e.schema), name(f, e), e.offset)
            for f in files for e in f.events
            if e.type.fields[0].name == "n" and wanted(e)]
    return same(f"places {what}", got, sorted(want))


def check_cumulative(f):
    """libtel writes cumulative NAMES records when tel(5) says so."""
    def size(at):
        return 0 if at is None else 18 + f.data[at + 5] + int.from_bytes(
            f.data[at + 6:at + 10], "little")

    got, want = [], []
    for groups in f.streams:
        last = since = 0
        # of the last few blocks names may be left out
        for g in groups[:-1]:
            got.append(size(g.both) > 0)
            want.append(since > 0 and since >= last)
            if g.both is not None:
                last, since = size(g.both), 0
            since += size(g.names)
    return same(f"cumulative {f.name}", got, want)


def name(f, e):
    """What the log of an event is called: one behind the first of a file also
    has its own name."""
    return f.name if e.log == f.events[0].log else f"{f.name}:{e.log.name}"


def check_lie(draw):
    """A summary that is not true is reported, and then all is read."""
    state = draw.getstate()
    f = File("false.tel", stream(draw, 0, 200))
    draw.setstate(state)
    f.data = stream(draw, 0, 200, lies=13)
    f.streams = groups_of(f.data, f.events)
    group = f.streams[0][13]
    told = [f"false.tel: offset {group.summary}: the index does not agree "
            "with the record here: the whole stream is read",
            "false.tel: 1 damaged place, 0 bytes skipped, 0 events repaired"]
    low = max((e.clock for _, _, events in group.blocks for e in events),
              default=0)
    return all([
        check("false type", [f], ["-e", "Move"],
              lambda e: e.type.name == "Move", told=told),
        check("false range", [f], ["-t", f"{low:#x},"],
              lambda e: e.clock >= low, told=told)])


def main(seed):
    draw, good, files = Draw(seed), True, []
    os.mkdir(str(seed))
    os.chdir(str(seed))
    # versions of the streams of each
    for minors in ((3,), (3, 3), (0, 3)):
        files.append(File(f"{len(files)}.tel", b"".join(
            stream(draw, 5000 * len(files) + 2000 * k,
                   200 + 100 * (len(minors) // 2), minor, len(minors) > 1)
            for k, minor in enumerate(minors))))
    good &= check("all", files, [], lambda e: True)
    # what libtel writes of them
    for f in [f for f in files if len(f.streams) > 1]:
        files.append(convert("telcat", "-q", f=f))
        good &= same(f.name, (files[-1].lost, files[-1].shown),
                     (f.lost, f.shown))
        good &= check_cumulative(files[-1])
    ranges = ((0x1800, 0x1900), (0x2000, 0x2010), (0x1000, 0x1100),
              (0x1A00, 1 << 40), (0, 0x1200), (1 << 30, 1 << 31))
    for low, high in ranges:
        good &= check(f"{low:x}-{high:x}", files,
                      ["-t", f"{low:#x},{high:#x}"],
                      lambda e: low <= e.clock <= high,
                      lambda streams: needless(streams, low, high))
    good &= check("type", files, ["-e", "Move"],
                  lambda e: e.type.name == "Move",
                  lambda streams: unwanted(streams, lambda events: any(
                      e.type.name == "Move" for e in events)))
    good &= check("index", files, ["-w", "index in (400..410, 90..99)"],
                  lambda e: e.index in PLACES,
                  lambda streams: unwanted(streams, lambda events: any(
                      e.index in PLACES for e in events))
                  if sole(streams) else [])
    low, high = ranges[0]
    good &= check_places(f"{low:x}-{high:x}", files,
                         ["-t", f"{low:#x},{high:#x}"],
                         lambda e: low <= e.clock <= high)
    good &= check_places("all", files[:2], [], lambda e: True)
    # a filter keeps what names the events that it keeps
    for f, (low, high) in zip(files[-2:], ranges):
        got = convert("telfilter", "-q", "-t", f"{low:#x},{high:#x}", f=f)
        good &= same(f"filter {f.name}", *(
            [s for e, s in zip(of.events, of.shown) if low <= e.clock <= high]
            for of in (got, f)))
    good &= check_lie(draw)
    os.chdir("..")
    return good


if __name__ == "__main__":
    sys.exit(not all([main(int(seed)) for seed in sys.argv[1:]]))
