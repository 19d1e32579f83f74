# SPDX-License-Identifier: BSD-2-Clause
"""Compares telstat's report of a recording with a model of it.

jfr_report.py THEIRS < OURS: THEIRS is what `jfr print --json` printed, OURS the
report of telstat in JSON.  All figures on pauses, collections and allocation
are computed here from THEIRS.
"""
import collections
import json
import math
import sys

from jfr_compare import fail, frame, instant, span

TOP = 5


def source_name(name):
    """A class as Java's source has it, with slashes."""
    element = name.lstrip("[")
    depth = len(name) - len(element)
    if depth:
        element = {"B": "byte", "C": "char", "D": "double", "F": "float", "I": "int",
                   "J": "long", "S": "short", "Z": "boolean"}.get(element, element[1:-1])
    return element + "[]" * depth


def load(path):
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["recording"]["events"]
    of = collections.defaultdict(list)
    for e in events:
        e["values"]["at"] = instant(e["values"]["startTime"])
        of[e["type"]].append(e["values"])
    return of


def expect(what, ours, theirs):
    if ours != theirs:
        fail(what, "is", ours, "and not", theirs)


def pauses(of, first, time, ours):
    causes = {c["gcId"]: c for c in of["jdk.GarbageCollection"]}
    every = sorted(((span(p["duration"]), -p["at"], p)
                    for p in of["jdk.GCPhasePause"]), key=lambda t: t[:2])
    lengths = [p[0] for p in every]
    row, = ours["pauses"]
    expect("count", row["count"], len(lengths))
    expect("total", row["total_ns"], sum(lengths))
    for name, share in (("p50_ns", 0.5), ("p99_ns", 0.99), ("longest_ns", 1)):
        expect(name, row[name], lengths[math.ceil(share * len(lengths)) - 1])
    if abs(row["share"] - sum(lengths) / time) > 1e-9:
        fail("share", row["share"])
    expect("longest", [(p["duration_ns"], p["time_ns"], p["pause"],
                        p["collector"], p["cause"]) for p in ours["pause"]],
           [(ns, p["at"] - first, p["name"], causes[p["gcId"]]["name"],
             causes[p["gcId"]]["cause"]) for ns, _, p in every[:-TOP - 1:-1]])


def heaps(of, first, ours):
    heap = {(h["gcId"], h["when"]): h for h in of["jdk.GCHeapSummary"]}
    paused = collections.Counter()
    for p in of["jdk.GCPhasePause"]:
        paused[p["gcId"]] += span(p["duration"])
    want = []
    for c in sorted(of["jdk.GarbageCollection"], key=lambda c: c["at"]):
        expect("sum of pauses", paused[c["gcId"]], span(c["sumOfPauses"]))
        after = heap[c["gcId"], "After GC"]
        want.append((c["at"] - first, heap[c["gcId"], "Before GC"]["heapUsed"],
                     after["heapUsed"], after["heapSpace"]["committedSize"],
                     paused[c["gcId"]], c["name"], c["cause"]))
    expect("collections", [(c["time_ns"], c["before_bytes"], c["after_bytes"],
                            c["capacity_bytes"], c["paused_ns"], c["collector"],
                            c["cause"]) for c in ours["collection"]], want)


def allocation(of, time, ours):
    samples = of["jdk.ObjectAllocationSample"]
    total = sum(s["weight"] for s in samples)
    row, = ours["allocation"]
    expect("allocated", row["bytes"], total)
    expect("samples", row["samples"], len(samples))
    if abs(row["bytes_per_s"] / (total / time * 1e9) - 1) > 1e-9:
        fail("rate", row["bytes_per_s"])
    classes, stacks = collections.Counter(), collections.Counter()
    for s in samples:
        classes[source_name(s["objectClass"]["name"])] += s["weight"]
        # a frame has no semicolon
        trace = s["stackTrace"]
        stacks[";".join(frame(f).replace(";", ":")
                        for f in reversed(trace["frames"]))
               if trace else None] += s["weight"]
    for kind, key, want in (("allocated_class", "class", classes),
                            ("allocating_stack", "stack", stacks)):
        expect(kind, [r["bytes"] for r in ours[kind]],
               sorted(want.values(), reverse=True)[:TOP])
        for r in ours[kind]:
            if r[key] in want:
                expect(r[key], r["bytes"], want[r[key]])
            elif r["bytes"] != want[None]:
                fail(kind, r[key], "is not there")


def main():
    of = load(sys.argv[1])
    ours = collections.defaultdict(list)
    for line in sys.stdin:
        row = json.loads(line)
        ours[row["type"]].append(row)
    at = [e["at"] for events in of.values() for e in events]
    time = max(at) - min(at)
    pauses(of, min(at), time, ours)
    heaps(of, min(at), ours)
    allocation(of, time, ours)


main()
