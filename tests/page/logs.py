#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Tests of the pages of "telcat -f html", in a browser (TAP).

Each event that a page has is compared with what "telcat -f json" says of it.
Screenshots of each log, whole and a part, light and dark, are kept in the
folder of the argument.
"""

import collections
import csv
import io
import json
import os
import sys

import cases
from cases import command, expect

DATA = os.path.join(cases.TOP, "tests", "data")


def unpack(name, folder):
    path = os.path.join(folder, os.path.basename(name)[:-4])
    with open(path, "wb") as out:
        out.write(command("zstd", "-dcq", os.path.join(DATA, name)))
    return [path]


def mps_collections(folder):
    """MPS collections"""
    return unpack("mps/1.118.0-lii6gc-amcss.log.zst", folder)


def mps_pools(folder):
    """a small MPS log"""
    return unpack("mps/1.114.0-lii6gc-poolncv.log.zst", folder)


def mps_weak(folder):
    """weak references of the MPS, 22,726 events"""
    return unpack("mps/1.118.0-lii6gc-awlut.log.zst", folder)


def allocations(folder):
    """an allocation trace"""
    return unpack("alloc/gcc.mtrace.zst", folder)


def processors(_):
    """HPM on two processors"""
    return ["--tb-hz=1000000"] + [
        os.path.join(DATA, f"hpm/v2be/HPM.{n}.startup") for n in (1, 2)]


def classes(_):
    """classes of an inst log"""
    return [os.path.join(DATA, "inst/hfs.out")]


def boot(folder):
    """an ETS boot with messages"""
    words, out = [os.path.join(folder, n) for n in ("boot.txt", "boot.ets")]
    with open(words, "w", encoding="utf-8") as file:
        file.write("""\
speed 1000000000
contract 96854120 DirectoryServiceContract
contract 96854121 KeyboardDeviceContract
process 1 Kernel
process 5 LegacyKeyboard
process 9 Shell
thread 0x1c 1
thread 0x6c 5
thread 0xcd 9
""")
        # a thread delivers a message, reads the disk and switches to another,
        # which retrieves the message
        threads = [(0x1c, 1), (0x6c, 5), (0xcd, 9)]
        clock = 6544408122900
        for i in range(150):
            (tid, pid), (next_tid, next_pid) = threads[i % 3], \
                threads[(i + 1) % 3]
            message = f"{67 + i % 2} {300 + i % 5} {96854120 + i % 2}"
            at = f"0x34311e {tid} {pid} 0"
            file.write(f"event {clock} {at} 8 7 {message}\n")
            if i % 4 == 0:
                file.write(f"event {clock + 3000} {at} 21 0 4096 {i} 1 {i}\n"
                           f"event {clock + 9000 + i * 37 % 5000} {at} "
                           f"21 2 4096 {i} 1 {i}\n")
            file.write(f"event {clock + 15000} {at} 20 3 {next_tid}\n"
                       f"event {clock + 16000} 0x34311e {next_tid} "
                       f"{next_pid} 0 8 6 {message}\n")
            clock += 20000 + i * i % 977 * 10
    command(os.path.join(cases.BUILD, "tests", "test_ets"), "--make", words, out)
    return [out]


LOGS = [mps_collections, mps_pools, mps_weak, allocations, processors,
        classes, boot]


def plain(value):
    """A value as the page's CSV has it, and as JSON has it."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, str):
        if value.startswith("0x"):
            return str(int(value, 16))
        return value
    if isinstance(value, float):
        return repr(float(value))
    return "" if value is None else str(value)


def from_sheet(cell):
    """A cell of the page's CSV without the quote that makes it a text."""
    return cell[1:] if cell[:1] == "'" and cell[1:2] in tuple("=+@-") else cell


def from_json(operands):
    events = collections.Counter()
    for line in command("telcat", "-q", "-f", "json", *operands).splitlines():
        event = json.loads(line)
        events[event["type"], tuple(sorted(
            (k, plain(v)) for k, v in event.get("fields", {}).items()
            if not isinstance(v, (float, dict, list))))] += 1
    return events


def from_page(page, like):
    """like: the fields that JSON has of each type."""
    fields = {}
    for (kind, pairs) in like:
        fields.setdefault(kind, set()).update(k for k, _ in pairs)
    text = page.run("teltools.select(-1, teltools.head.span + 1)"
                    ".then(teltools.csv)")
    own = ("time", "duration", "track", "kind", "type", "name")
    events = collections.Counter()
    for row in csv.DictReader(io.StringIO(text, newline="")):
        events[row["type"], tuple(sorted(
            (k, plain(from_sheet(row["." + k if k in own else k])))
            for k in fields.get(row["type"], ())))] += 1
    return events


def case(make):
    """The test of a log."""
    def check(c):
        operands, path = make(c.folder), c.path(make.__name__ + ".html")
        page = c.page
        with open(path, "wb") as out:
            out.write(command("telcat", "-q", "-f", "html", *operands))
        page.emulate(prefers_color_scheme="light")
        page.open(path)
        want = from_json(operands)
        got = from_page(page, want)
        lost, more = want - got, got - want
        if lost or more:
            raise AssertionError(f"not in the page: {list(lost)[:3]}; "
                                 f"only there: {list(more)[:3]}")
        expect(page.run("teltools.select(-1, teltools.head.span + 1)"
                        ".then((s) => s.count)"), sum(want.values()))
        page.key("Escape")
        for name, view in (("all", "0, s"), ("part", "s * 0.45, s * 0.55")):
            page.run(f"((s) => setView({view}))(teltools.head.span)")
            for theme in ("light", "dark"):
                page.emulate(prefers_color_scheme=theme)
                # the panel has followed the view
                page.run("teltools.settled()")
                c.screenshot(f"{make.__name__}-{name}-{theme}")

    check.__name__, check.__doc__ = make.__name__, make.__doc__
    return check


if __name__ == "__main__":
    sys.exit(cases.run([case(make) for make in LOGS], sys.argv[1],
                       (1400, 900)))
