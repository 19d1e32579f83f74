# SPDX-License-Identifier: BSD-2-Clause
"""Traces for telreplay, and what they hold, worked out on its own.

    telreplay_model.py make SEED EVENTS THREADS     a trace, memory_replay text
    telreplay_model.py check REPORT <TRACE          compares with -f json
    telreplay_model.py look FORM <REPORT            looks at a report's form
"""

import csv
import json
import random
import sys
import xml.etree.ElementTree


def make(seed, events, threads):
    """Writes a trace: each address is reused, blocks change threads."""
    rng = random.Random(seed)
    live, unused = [], [0x10000 + 16 * i for i in range(events)]
    for _ in range(events):
        thread = rng.randrange(threads) + 1
        what = rng.random()
        size = int(2 ** (rng.random() * 13)) + rng.randrange(3)
        if what < 0.45 or not live:
            address = unused.pop()
            kind = rng.random()
            if kind < 0.8:
                print(f"{thread}: malloc {address:#x} {size}")
            elif kind < 0.9:
                print(f"{thread}: calloc {address:#x} {size} 3")
            else:
                print(f"{thread}: memalign {address:#x} 64 {size}")
            live.append(address)
        elif what < 0.55:
            old = live.pop(rng.randrange(len(live)))
            address = unused.pop()
            print(f"{thread}: realloc {address:#x} {old:#x} {size}")
            live.append(address)
            unused.append(old)
        else:
            address = live.pop(rng.randrange(len(live)))
            print(f"{thread}: free {address:#x}")
            unused.append(address)


def facts(lines):
    """What a trace without mistakes holds.  free(NULL) is none, and
    realloc(NULL, n) is an allocation."""
    live, owner = {}, {}
    found = dict(requests=0, requested_bytes=0, largest_bytes=0, peak_bytes=0,
                 peak_event=0, peak_blocks=0, crossing_frees=0)
    kinds, sizes, threads, now = {}, {}, set(), 0
    for number, line in enumerate(lines):
        thread, what, *words = line.replace(":", "").split()
        words = [int(word, 0) for word in words]
        threads.add(thread)
        name = {"memalign": "aligned", "thread_done": "thread end"}.get(
            what, what)
        kinds[name] = kinds.get(name, 0) + 1
        if what == "thread_done" or words[0] == 0:
            continue
        if what == "free":
            now -= live.pop(words[0])
            found["crossing_frees"] += owner.pop(words[0]) != thread
            continue
        if what == "realloc" and words[1] != 0:
            now -= live.pop(words[1])
            owner.pop(words[1])
        size = words[1] * words[2] if what == "calloc" else words[-1]
        live[words[0]] = size
        owner[words[0]] = thread
        now += size
        found["requests"] += 1
        found["requested_bytes"] += size
        found["largest_bytes"] = max(found["largest_bytes"], size)
        found["peak_blocks"] = max(found["peak_blocks"], len(live))
        low = 1 << size.bit_length() >> 1
        sizes[low] = sizes.get(low, 0) + 1
        if now > found["peak_bytes"]:
            found["peak_bytes"] = now
            found["peak_event"] = number
    found["threads"] = len(threads)
    found["live_bytes"] = now
    found["live_blocks"] = len(live)
    return found, kinds, sizes


def rows(path):
    with open(path, encoding="ascii") as file:
        return [json.loads(line) for line in file]


def check(path):
    """Compares the facts of standard input with those of a report."""
    found, kinds, sizes = facts(sys.stdin)
    report = rows(path)
    trace = [row for row in report if row["type"] == "trace"][0]
    for name, value in found.items():
        assert trace[name] == value, (name, trace[name], value)
    reported = {row["item"]: row["events"] for row in report
            if row["type"] == "operation"}
    assert reported == kinds, (reported, kinds)
    reported = {int(row["item"]): row["requests"] for row in report
            if row["type"] == "size"}
    assert reported == sizes, (reported, sizes)
    runs = [row for row in report if row["type"] == "run"]
    for run in runs:
        assert run["operations"] == sum(kinds.values()), run
    for name in {run["allocator"] for run in runs}:
        asked = [row["asked_bytes"] for row in report
                 if row["type"] == "memory" and row["allocator"] == name]
        assert asked == [found["requested_bytes"]], (asked, found)
        kind = {row["item"]: row["operations"] for row in report
                if row["type"] == "latency" and row["allocator"] == name}
        assert kind == kinds, (kind, kinds)
        done = [row["done"] for row in report
                if row["type"] == "sample" and row["allocator"] == name]
        assert done and 0 <= min(done) and max(done) <= 1, done
        threads = [row["operations"] for row in report
                   if row["type"] == "thread" and row["allocator"] == name]
        assert sum(threads) == sum(kinds.values()), threads


def look(form):
    """Reads a report as anybody would."""
    if form == "csv":
        table = list(csv.DictReader(sys.stdin, strict=True))
        assert table and set(table[0]) == {
            "type", "allocator", "item", "figure", "value"}, table[0]
        assert all(row["value"] not in ("", None) and None not in row
                   for row in table)
        print(len({row["allocator"] for row in table}) - 1)
    elif form == "json":
        table = [json.loads(line) for line in sys.stdin]
        print(len({row["allocator"] for row in table if "allocator" in row}))
    else:
        svg = "{http://www.w3.org/2000/svg}"
        root = xml.etree.ElementTree.parse(sys.stdin).getroot()
        assert root.tag == svg + "svg", root.tag
        print(sum(p.get("class", "").startswith("curve") and
                  p.find(svg + "title") is not None for p in root.iter(svg + "path")))


if sys.argv[1] == "make":
    make(*map(int, sys.argv[2:5]))
elif sys.argv[1] == "check":
    check(sys.argv[2])
else:
    look(sys.argv[2])
