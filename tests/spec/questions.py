# SPDX-License-Identifier: BSD-2-Clause
"""Questions that users of tools for traces ask, each with the one command that
answers it, and the figure that a loop over the events computes here.

    questions.py LOGS FOLDER UNANSWERED

UNANSWERED has the numbers of questions that no command answers yet, with commas
between them.

The trace of allocations is made here, in the text of teltools: a tree of stacks,
three threads, reallocs that move, blocks of others, a free of an unknown block.
LOGS has logs of the MPS, whose events are those of telcat's text.
"""
import bisect
import csv
import functools
import io
import json
import math
import os
import random
import re
import subprocess
import sys

LOGS, FOLDER = sys.argv[1:3]
PAGES = os.path.join(os.path.dirname(__file__), "../page/read_page.py")
HEADER = """# teltools text 1
# format: emit-alloc
# version: 1.0.0
# tick rate: 1000000000
# type: malloc 1 Alloc address:address size:unsigned trace:unsigned:32 pid:unsigned:32 thread:unsigned:32
# type: free 2 Alloc address:address pid:unsigned:32 thread:unsigned:32
# type: calloc 3 Alloc address:address count:unsigned size:unsigned trace:unsigned:32 pid:unsigned:32 thread:unsigned:32
# type: realloc 4 Alloc address:address old:address size:unsigned trace:unsigned:32 pid:unsigned:32 thread:unsigned:32
# type: trace 15 Trace number:unsigned:32 ip:address parent:unsigned:32 pid:unsigned:32 thread:unsigned:32
# role: malloc alloc address size thread=thread process=pid stack=trace
# role: free free address thread=thread process=pid
# role: calloc alloc address size count=count thread=thread process=pid stack=trace
# role: realloc realloc address size old=old thread=thread process=pid stack=trace
# role: trace frame number ip parent thread=thread process=pid
"""
FRAMES = [(1, 0, "main"), (2, 1, "load"), (3, 2, "hog"), (4, 1, "serve"),
          (5, 4, "temporary"), (6, 4, "leak"), (7, 2, "grow")]
STACKS = [3, 5, 6, 7]
THREADS = {11: "main", 12: "worker", 13: "reaper"}
START = 1_000_000
rng = random.Random(29)


def stack_name(number):
    names = []
    while number:
        _, parent, name = FRAMES[number - 1]
        names.append(name)
        number = parent
    return ";".join(reversed(names))


def make():
    """The events: (time, kind, thread, address, old, size, count, trace)."""
    events, live, now, place = [], [], 0, 0x10000

    def address():
        nonlocal place
        place += 0x100000
        return place

    def add(kind, thread, at, old=0, size=0, count=1, trace=0):
        nonlocal now
        now += rng.choice([100, 250, 1000, 20000, 31000])
        events.append((now, kind, thread, at, old, size, count, trace))

    add("free", 13, 0xdead00)
    for _ in range(4000):
        thread = rng.choice([11, 11, 12])
        what = rng.random()
        if what < 0.30:  # a temporary block
            at = address()
            add("malloc", thread, at, size=rng.randint(1, 300), trace=5)
            add("free", thread, at)
        elif what < 0.35:
            add("malloc", thread, address(), size=rng.randint(1, 64), trace=6)
        elif what < 0.60:
            at = address()
            if rng.random() < 0.3:
                add("calloc", thread, at, size=rng.randint(1, 9000), count=8,
                    trace=3)
            else:
                add("malloc", thread, at, size=rng.randint(1, 3000), trace=3)
            live.append(at)
        elif what < 0.70 and live:
            i = rng.randrange(len(live))
            new = live[i] if rng.random() < 0.5 else address()
            add("realloc", thread, new, old=live[i],
                size=rng.randint(100, 50000), trace=7)
            live[i] = new
        elif live:
            add("free", rng.choice([11, 12, 13]),
                live.pop(rng.randrange(len(live))))
    return events


def write(events, name):
    path = os.path.join(FOLDER, name)
    with open(path, "w") as f:
        f.write(HEADER)
        for number, parent, text in FRAMES:
            f.write(f"{START:016X} trace number={number} "
                    f"ip={0x4000 + number:#x}[\"{text}\"] parent={parent} "
                    f"pid=1 thread=11[\"main\"]\n")
        for now, kind, thread, at, old, size, count, trace in events:
            f.write(f"{START + now:016X} {kind} address={at:#x}")
            if kind == "realloc":
                f.write(f" old={old:#x}")
            if kind == "calloc":
                f.write(f" count={count}")
            if kind != "free":
                f.write(f" size={size} trace={trace}")
            f.write(f" pid=1 thread={thread}[\"{THREADS[thread]}\"]\n")
    return path


class Heap:
    """A block after the other, up to a time."""

    def __init__(self, events, until=None):
        self.live, self.dead, self.bytes = {}, [], 0
        self.peak, self.peak_time, self.peak_live = 0, 0, {}
        self.allocated, self.unknown, last = [], 0, {}
        self.curve = []
        for e in events:
            now, kind, thread, at, old, size, count, trace = e
            if until is not None and now > until:
                break
            if kind in ("free", "realloc"):
                gone = self.live.pop(at if kind == "free" else old, None)
                if gone is None:
                    self.unknown += 1
                else:
                    gone.update(end=now, by=thread, freed=kind == "free",
                                temporary=last.get(gone["thread"]) is gone)
                    self.dead.append(gone)
                    self.bytes -= gone["bytes"]
            if kind != "free":
                b = {"start": now, "bytes": size * count, "size": size,
                     "thread": thread, "stack": stack_name(trace), "at": at}
                self.live[at] = last[thread] = b
                self.allocated.append(b)
                self.bytes += b["bytes"]
            if self.bytes > self.peak:
                self.peak, self.peak_time = self.bytes, now
                self.peak_live = dict(self.live)
            self.curve.append((now, self.bytes))


def total(blocks, key, value=lambda b: b["bytes"]):
    sums = {}
    for b in blocks:
        sums[key(b)] = sums.get(key(b), 0) + value(b)
    return sums


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise ValueError(f"status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def figures(*command):
    """The rows of telstat's CSV: (class, stat, key) to a value."""
    rows = csv.DictReader(io.StringIO(run("telstat", "-f", "csv", *command)))
    return {(r["class"], r["type"], r["stat"], r["key"], r["lo"]): r["value"]
            for r in rows}


def by_key(rows, kind, stat):
    return {k[3]: int(v) for k, v in rows.items()
            if k[1] == kind and k[2] == stat and int(v or 0) and
            k[3] != "<other>"}


def one(rows, name, stat):
    return next(int(v) for k, v in rows.items() if k[0] == name and
                k[2] == stat)


def quantile_of(rows, name, share):
    key = f"p{round(float(share) * 100)}"
    return next(int(v) for k, v in rows.items() if k[0] == name and
                k[2] == "quantile" and k[3] == key)


def buckets(rows, name):
    return {int(k[4]): int(v) for k, v in rows.items() if k[0] == name and
            k[2] == "bucket"}


def keys(rows, name):
    return {k[3]: int(v) for k, v in rows.items() if k[0] == name and
            k[2] == "bucket"}


def log2(values):
    sums = {}
    for v in values:
        low = 0 if v == 0 else 1 << (v.bit_length() - 1)
        sums[low] = sums.get(low, 0) + 1
    return sums


def quantile(values, q):
    values = sorted(values)
    return values[max(0, -(-int(q * 1000) * len(values) // 1000) - 1)]


def memory(path):
    for line in run("telstat", "-f", "json", path).splitlines():
        row = json.loads(line)
        if row["type"] == "memory":
            return row
    return {}


def stack_bytes(stat, *command):
    return by_key(figures(*command), "stack", stat)


def near(got, want, part):
    """Quantiles come from buckets: too large by less than a part."""
    return want <= got <= want + want / part + 1


def lines(text):
    return [x for x in text.splitlines() if not x.startswith("#")]


@functools.cache
def mps_events(*path):
    """The events of telcat's text, in order of time."""
    found = []
    for line in lines(run("telcat", "-q", *path)):
        words = line.split(" ", 2)
        fields = dict(re.findall(r"(\w+)=(\S+)", words[2] if len(words) > 2
                                 else ""))
        found.append((int(words[0], 16), words[1], fields))
    return sorted(found, key=lambda e: e[0])


EVENTS = make()
HEAP = Heap(EVENTS)
LOG = write(EVENTS, "app.txt")
SECOND = EVENTS[:3000]
BEFORE = write(SECOND, "before.txt")
MPS = os.path.join(LOGS, "1.118.0-lii6ll-finalcv.log.zst")
M = mps_events(MPS)
END = EVENTS[-1][0]
MIDDLE = END // 2
TESTS = []


def question(number, text):
    def add(function):
        TESTS.append((number, text, function))
        return function
    return add


def same(got, want):
    if got != want:
        raise ValueError(f"got {got}, want {want}")


def check(good, got, want):
    if not good:
        raise ValueError(f"got {got}, want {want}")


def stack(b):
    return b["stack"]


@question(1, "what leaks, by stack")
def _():
    same(stack_bytes("leaked_bytes", "--stacks", LOG),
         total(HEAP.live.values(), stack))


@question(2, "live at the peak, by stack")
def _():
    same(stack_bytes("peak_bytes", "--stacks=peak", LOG),
         total(HEAP.peak_live.values(), stack))


@question(3, "when was the peak, and of how much")
def _():
    m = memory(LOG)
    same((m["peak_ns"], m["peak_bytes"]), (HEAP.peak_time, HEAP.peak))


@question(4, "live at a time, by stack")
def _():
    same(stack_bytes("leaked_bytes", "--stacks", "-t", f",{MIDDLE}ns", LOG),
         total(Heap(EVENTS, MIDDLE).live.values(), stack))


@question(7, "allocated in a window, never freed")
def _():
    low, high = END // 4, END // 2
    rows = figures(f"--blocks=time in ({low}ns..{high}ns)", LOG)
    same(by_key(rows, "key", "leaked_bytes"),
         total(HEAP.live.values(), lambda b: str(
             low <= b["start"] <= high).lower()))


@question(8, "most calls, most bytes")
def _():
    rows = figures("--stacks=count", LOG)
    same(by_key(rows, "stack", "allocations"),
         total(HEAP.allocated, stack, lambda b: 1))
    same(by_key(rows, "stack", "allocated_bytes"),
         total(HEAP.allocated, stack))


@question(9, "temporary blocks, by stack")
def _():
    same(stack_bytes("temporary", "--stacks=count", LOG),
         total([b for b in HEAP.dead if b["temporary"] and b["freed"]], stack, lambda b: 1))


@question(10, "how long blocks lived")
def _():
    rows = figures("-s", "life=quantiles(duration) if frees", "--quantiles",
                   "0.5,0.99", LOG)
    lives = [b["end"] - b["start"] for b in HEAP.dead]
    same(one(rows, "life", "updates"), len(lives))
    for q in ("0.5", "0.99"):
        got = quantile_of(rows, "life", q)
        check(near(got, quantile(lives, float(q)), 128), got,
              quantile(lives, float(q)))


@question(11, "how long blocks of each size lived")
def _():
    rows = figures("-s", "n=sum(duration) if name == free && bytes < 100",
                   "-s", "m=sum(duration) if name == free && bytes >= 100",
                   LOG)
    for name, fits in (("n", lambda b: b["bytes"] < 100),
                       ("m", lambda b: b["bytes"] >= 100)):
        same(one(rows, name, "sum"),
             sum(b["end"] - b["start"] for b in HEAP.dead
                 if b["freed"] and fits(b)))


@question(12, "the longest-lived blocks")
def _():
    rows = figures("-s", "t=top(duration,3,start.address) if frees", LOG)
    want = sorted(HEAP.dead,
                  key=lambda b: b["start"] - b["end"])[:3]
    same([int(v) for k, v in rows.items() if k[0] == "t" and
          k[1] == "top value" and k[2] == "value"],
         [b["end"] - b["start"] for b in want])
    # what resizes has a stack of its own, a free that of its block
    rows = figures("-s", "t=top(duration,5,start.size,stack) if frees", LOG)
    want = sorted(HEAP.dead, key=lambda b: b["start"] - b["end"])[:5]
    same([v for k, v in rows.items() if k[0] == "t" and
          k[1] == "top value" and k[2] in ("key", "key2")],
         [x for b in want for x in (str(b["size"]), b["stack"] if b["freed"]
                                    else "main;load;grow")])


@question(13, "live at the end, and older than a time")
def _():
    age = END // 3
    same(stack_bytes("leaked_bytes", "--stacks", "--min-age", f"{age}ns", LOG),
         total([b for b in HEAP.live.values() if b["start"] <= END - age],
               stack))


@question(14, "only below a function")
def _():
    same(stack_bytes("leaked_bytes", "--stacks", "-w",
                     'frees || stack ~ "load"', LOG),
         total([b for b in HEAP.live.values() if "load" in b["stack"]], stack))


@question(15, "one stack over time")
def _():
    rows = csv.DictReader(io.StringIO(run(
        "telstat", "-f", "csv", "--stacks", "-i", f"{MIDDLE}ns", "-w",
        'name == free || stack ~ "leak"', LOG)))
    got = [int(r["value"]) for r in rows if r["stat"] == "leaked_bytes"]
    want = [sum(b["bytes"] for b in Heap(EVENTS, t).live.values()
                if "leak" in b["stack"]) for t in (MIDDLE - 1, END)]
    check(got[0] == want[0] and got[-1] == want[1], got, want)


@question(16, "which thread allocates how much")
def _():
    same(keys(figures("-s", "who=tally(label(thread),8,bytes) if allocates",
                      LOG), "who"),
         total(HEAP.allocated, lambda b: THREADS[b["thread"]]))


@question(17, "live and peak by thread")
def _():
    rows = figures("--blocks=label(thread)", LOG)
    for stat, blocks in (("leaked_bytes", HEAP.live),
                         ("peak_bytes", HEAP.peak_live)):
        same(by_key(rows, "key", stat),
             total(blocks.values(), lambda b: THREADS[b["thread"]]))


@question(18, "whose blocks other threads free")
def _():
    same(keys(figures("-s", "who=tally(label(start.thread),8)", "-w",
                      "frees && start.thread != thread", LOG), "who"),
         total([b for b in HEAP.dead if b["by"] != b["thread"]],
               lambda b: THREADS[b["thread"]], lambda b: 1))


@question(19, "sizes of blocks")
def _():
    same(buckets(figures("-s", "s=log2(bytes) if allocates", LOG), "s"),
         log2([b["bytes"] for b in HEAP.allocated]))


@question(20, "reallocs that move")
def _():
    moved = [e[3] != e[4] for e in EVENTS if e[1] == "realloc"]
    got = keys(figures("-s", "m=tally(address != old,2)", LOG), "m")
    same(sorted(got.values()), sorted([moved.count(True),
                                       moved.count(False)]))


@question(21, "the rate of allocation over time")
def _():
    rows = csv.DictReader(io.StringIO(run(
        "telstat", "-f", "csv", "-i", f"{MIDDLE}ns", "--deltas", "-s",
        "b=sum(bytes) if allocates", LOG)))
    got = [int(r["value"]) for r in rows if r["class"] == "b" and
           r["stat"] == "sum"]
    want = [sum(b["bytes"] for b in HEAP.allocated if b["start"] < MIDDLE),
            sum(b["bytes"] for b in HEAP.allocated if b["start"] >= MIDDLE)]
    same((got[0], sum(got[1:])), tuple(want))


@question(22, "the curve of memory")
def _():
    rows = csv.DictReader(io.StringIO(run(
        "telstat", "-f", "csv", "-i", f"{MIDDLE}ns", "-s", "m=mag(live)",
        LOG)))
    got = [int(r["value"]) for r in rows if r["class"] == "m" and
           r["stat"] in ("last", "current", "value")]
    want = [[v for t, v in HEAP.curve if t < MIDDLE][-1], HEAP.bytes]
    check(bool(got) and (got[0], got[-1]) == tuple(want), got, want)


@question(23, "which free is invalid")
def _():
    same((HEAP.unknown, "1"), (1, next(
        v for k, v in figures(LOG).items()
        if k[2] == "freed_unknown_blocks")))


@question(25, "how other allocators would do")
def _():
    rows = [json.loads(x) for x in run(
        "telreplay", "-q", "--runs", "1", "-a", "glibc,bump", "-f", "json", "-e",
        "malloc,calloc,realloc", LOG).splitlines()]
    same({r["allocator"]: r["asked_bytes"] for r in rows
          if r["type"] == "memory"},
         dict.fromkeys(("glibc", "bump"),
                       sum(b["bytes"] for b in HEAP.allocated)))
    check(all(r["ns"] > 0 for r in rows if r["type"] == "cost"), rows, "costs")


@question(26, "bytes of each pool")
def _():
    same(sum(stack_bytes("allocated_bytes", "--stacks=allocated",
                         MPS).values()),
         sum(int(f["size"]) for _, name, f in M if name == "PoolAlloc"))


@question(27, "the largest blocks, with their stacks")
def _():
    rows = figures("-s", "t=top(bytes,3,stack) if allocates", LOG)
    want = sorted(HEAP.allocated, key=lambda b: -b["bytes"])[:3]
    same([v for k, v in rows.items() if k[0] == "t" and
          k[1] == "top value" and k[2] in ("value", "key")],
         [x for b in want for x in (str(b["bytes"]), b["stack"])])


def pauses():
    start, found = None, []
    for clock, name, _ in M:
        if name == "TraceFlipBegin":
            start = clock
        elif name == "TraceFlipEnd" and start is not None:
            found.append((clock - start, start, clock))
            start = None
    return found


@question(28, "quantiles of pauses")
def _():
    rows = figures("-s", "p=quantiles(ticks(TraceFlipBegin,TraceFlipEnd))",
                   "--quantiles", "0.5,0.99", MPS)
    lengths = [p[0] for p in pauses()]
    for q in ("0.5", "0.99"):
        got = quantile_of(rows, "p", q)
        check(near(got, quantile(lengths, float(q)), 128), got,
              quantile(lengths, float(q)))


@question(29, "a histogram of pauses")
def _():
    same(buckets(figures("-s", "p=log2(ticks(TraceFlipBegin,TraceFlipEnd))",
                         MPS), "p"), log2([p[0] for p in pauses()]))


@question(30, "the longest pauses, and when")
def _():
    rows = figures("-s", "t=top(ticks(TraceFlipBegin,TraceFlipEnd),3)", MPS)
    want = sorted(pauses(), key=lambda p: -p[0])[:3]
    for stat, part in (("value", 0), ("clock", 2)):
        same([int(v) for k, v in rows.items() if k[0] == "t" and
              k[1] == "top value" and k[2] == stat],
             [p[part] for p in want])


class Clock:
    """The times of an MPS log, by the points of synchronisation around them."""

    def __init__(self, events):
        points = {}
        for clock, name, f in events:
            if name == "EventClockSync":
                points.setdefault(clock, int(f["clock"]))
        units = [int(f["clocksPerSec"]) for _, name, f in events
                 if name == "EventInit"]
        self.ns = 1e9 / (units[0] if units else 1000000)
        self.points = sorted(points.items())

    def time(self, clock):
        """In ns, from the first point."""
        after = bisect.bisect_right(self.points, (clock, math.inf))
        first, last = self.points[0], self.points[-1]
        if after == 0:
            a, b = self.points[:2]
        elif after == len(self.points):
            a, b = first, last
        else:
            a, b = self.points[after - 1:after + 1]
        start = self.points[max(after - 1, 0)]
        return math.floor((start[1] - first[1]) * self.ns + (clock - start[0]) *
                          (b[1] - a[1]) * self.ns / (b[0] - a[0]) + 0.5)


def ranges(events, start, end, clock):
    """The ranges: (ns, time of the start), by the field trace."""
    open_at, found = {}, []
    for at, name, f in events:
        if name == start:
            open_at[f["trace"]] = clock.time(at)
        elif name == end and f["trace"] in open_at:
            begun = open_at.pop(f["trace"])
            found.append((clock.time(at) - begun, begun))
    return found


def check_mutator(rows, found, first, span):
    """The program's least share of windows that start or end with a pause."""
    shares = [r for r in rows if r["type"] == "mutator"]
    check(shares, rows, "shares of windows")
    for r in shares:
        window = r["window_ns"]
        starts = [at for length, begun in found
                  for at in (begun, begun + length - window)]
        worst = max(sum(max(min(begun + length, at + window) - max(begun, at),
                            0) for length, begun in found)
                    for at in (min(max(at, first), first + span - window)
                               for at in starts))
        check(abs(r["share"] - (1 - worst / window)) < 1e-9, r, worst)


@question(32, "the share of the run in pauses, and collections, in the report")
def _():
    seen = 0
    for name in sorted(os.listdir(LOGS)):
        path = os.path.join(LOGS, name)
        events = mps_events(path) if name.endswith(".log.zst") else []
        if not events:
            continue
        rows = [json.loads(x) for x in run("telstat", "-q", "-f", "json",
                                           path).splitlines()]
        span, clock = rows[-1], Clock(events)
        first = clock.time(events[0][0])
        same((name, span["span_ns"]),
             (name, clock.time(events[-1][0]) - first))
        for what, ends in (("pauses", ("TraceFlipBegin", "TraceFlipEnd")),
                           ("collections", ("TraceStart", "TraceDestroy"))):
            found = ranges(events, *ends, clock)
            row = [r for r in rows if r["type"] == what]
            check(len(row) == bool(found), (name, row), found)
            if not found:
                continue
            seen += 1
            lengths = [f[0] for f in found]
            same((name, [row[0][key] for key in (
                "count", "total_ns", "p50_ns", "p99_ns", "longest_ns")]),
                (name, [len(found), sum(lengths), quantile(lengths, 0.5),
                        quantile(lengths, 0.99), max(lengths)]))
            check(row[0]["longest_time_ns"] + first in [
                f[1] for f in found if f[0] == max(lengths)], row, found)
            check(abs(row[0]["share"] - sum(lengths) / span["span_ns"]) < 1e-4,
                  row, lengths)
        longest = [r for r in rows if r["type"] == "pause"]
        for r, f in zip(longest, sorted(
                ranges(events, "TraceFlipBegin", "TraceFlipEnd", clock),
                key=lambda f: -f[0])):
            same((name, r["time_ns"]), (name, f[1] - first))
    check(seen > 20, seen, "logs with collections")


@question(33, "the least share of any window that the program had")
def _():
    seen = 0
    for name in sorted(os.listdir(LOGS)):
        path = os.path.join(LOGS, name)
        events = mps_events(path) if name.endswith(".log.zst") else []
        clock = Clock(events) if events else None
        found = events and ranges(events, "TraceFlipBegin", "TraceFlipEnd",
                                  clock)
        if not found or len(found) >= 100:
            continue
        rows = [json.loads(x) for x in run("telstat", "-q", "-f", "json",
                                           path).splitlines()]
        check_mutator(rows, found, clock.time(events[0][0]),
                      rows[-1]["span_ns"])
        seen += 1
    check(seen > 5, seen, "logs with pauses")


def generations(events):
    """What events say of each generation, as they begin.  Only those of 1.118
    have serial numbers; nothing but a collection changes the expected mortality,
    so that another one is that of another generation."""
    rows, at = [], {}
    for _, name, f in events:
        if name not in ("GenInit", "GenFinish", "TraceCreatePoolGen",
                        "TraceEndGen"):
            continue
        where, _, label = f.get("gen", f.get("gendesc")).partition("[")
        row, serial = at.get(where), f.get("serial")
        expected = f.get("mortalityAverage", f.get("mortality"))
        if row is None or (
                row["serial"] != serial and (name == "GenInit" or row["serial"])
                if serial is not None else
                row["serial"] is None and name != "TraceEndGen" and
                None not in (row["predicted"], expected) and
                row["predicted"] != expected):
            row = at[where] = {"serial": None, "label": "", "where": where,
                               "predicted": None, "all": []}
            rows.append(row)
        row["serial"] = serial or row["serial"]
        row["label"] = label[1:-2] or row["label"]
        row["predicted"] = expected or row["predicted"]
        if name == "TraceEndGen":
            row["all"].append([int(f[x]) for x in (
                "condemned", "forwarded", "preservedInPlace")])
    return rows


def generation_row(row):
    """The row as telstat has it."""
    condemned, moved, kept = map(sum, zip((0, 0, 0), *row["all"]))
    dead = max(condemned - moved - kept, 0)
    serial = row["serial"] and int(row["serial"])
    want = {"type": "generation", "name": row["label"] or (
        row["where"] if serial is None else f"generation {serial}"),
        "address": row["where"], "serial": serial,
        "collections": len(row["all"]), "condemned_bytes": condemned,
        "survived_bytes": moved + kept, "reclaimed_bytes": dead,
        "died": dead / condemned if condemned else None,
        "predicted": row["predicted"] and float(row["predicted"])}
    return {k: v for k, v in want.items() if v is not None}


def check_generations(*options):
    """How many generations were condemned in logs, the first options last."""
    count = sum(not x.startswith("-") and os.path.exists(x) for x in options)
    want = []
    for path in options[-count:]:
        rows = generations(mps_events(*options[:-count], path))
        want += [generation_row(row) for row in rows]
    if not any(row["collections"] for row in want):
        want = []
    got = [json.loads(x) for x in run("telstat", "-q", "-f", "json",
                                      *options).splitlines()]
    got = [{k: v for k, v in r.items() if k != "t"} for r in got
           if r["type"] == "generation"]
    same((options, got), (options, want))
    return sum(r["collections"] > 0 for r in got)


@question(41, "what died of each generation, and what was predicted")
def _():
    logs = [os.path.join(LOGS, x) for x in sorted(os.listdir(LOGS))
            if x.endswith(".log.zst")]
    seen = [path for path in logs if check_generations(path)]
    check(len(seen) >= 5, seen, "logs with generations")
    some = sum(check_generations(*options, path) for path in seen
               for options in (["-t", "5ms,20ms"], ["-w", "kind == Trace"],
                               ["-e", "TraceEndGen", "-n", "2"], ["-j", "1"]))
    check(some > 30, some, "generations of parts of logs")
    # a page has each end by itself, for ranges of time
    page, ends = os.path.join(FOLDER, "page.html"), []
    for path in seen:
        run("telcat", "-q", "-f", "html", "-o", page, path)
        ends += [[e[3:] for e in r[7:] if e[2]] for r in json.loads(run(
            "python3", PAGES, "head", page))["collector"]["generations"]["list"]]
    same(ends, [[[c, moved + kept] for c, moved, kept in row["all"]]
                for path in seen for row in generations(mps_events(path))
                if row["all"]])
    check_generations(*seen)
    for form in ("text", "tel"):
        path = os.path.join(FOLDER, f"generations.{form}")
        run("telcat", "-q", "-f", form, "-o", path, MPS)
        check_generations(path)
    # one buffer, the newest event first: labels come after what they label
    text = [re.sub(r'\["[^"]*"\]', "", x) for x in run(
        "telcat", "-q", os.path.join(LOGS, "1.118.0-lii6gc-awlut.log.zst")
    ).splitlines(True)]
    path = os.path.join(FOLDER, "newest.text")
    with open(path, "w") as f:
        f.writelines([x for x in text if x[0] == "#" or " EventInit " in x])
        f.writelines(reversed([x for x in text if x.split(" ")[1] in (
            "GenInit", "Intern", "LabelPointer", "TraceEndGen")]))
    run("telcat", "-q", "--file-order", "-f", "mps-1.118.0", "-o",
        path + ".log", path)
    same(check_generations(path + ".log"), 1)
    # sums of more than 64 bits; more that survived than was condemned
    path, most = os.path.join(FOLDER, "generations.made"), 2 ** 64 - 1
    with open(path, "w") as f:
        f.write("# teltools text 1\n# format: g\n# type: End 1 G gen:pointer "
                "size:unsigned moved:unsigned kept:unsigned expected:double\n"
                "# role: End generation gen size moved=moved kept=kept "
                "mortality=expected\n")
        for i, (gen, *words) in enumerate([
                (1, most, 1, 2, 0.5), (2, 8, most, most, 2), (1, most, 0, most, 1),
                (3, 0, 0, 0, "nan"), (1, 1, 0, 0, -1)]):
            f.write("%016X End gen=%#x size=%s moved=%s kept=%s expected=%s\n" %
                    (i, gen, *words))
    got = [json.loads(x) for x in run("telstat", "-q", "-f", "json",
                                      path).splitlines()]
    # what a double cannot have is a string
    same([[r["name"], *(int(r[k]) for k in (
        "collections", "condemned_bytes", "survived_bytes", "reclaimed_bytes")),
        r.get("died"), r.get("predicted")]
          for r in got if r["type"] == "generation"],
         [["0x1", 3, 2 * most + 1, most + 3, most - 2, 0.5, 1],
          ["0x2", 1, 8, 2 * most, 0, 0, None],
          ["0x3", 1, 0, 0, 0, None, None]])


# Why an MPS of 1.118 starts a collection, by the number in its events.
REASONS = ["gen 0 capacity", "dynamic criterion", "opportunism",
           "full incremental", "full", "walk", "extension"]


@question(34, "why collections started")
def _():
    seen = set()
    for name in ("lii6ll-finalcv", "lii6gc-awlut", "lii6gc-amcss"):
        path = os.path.join(LOGS, f"1.118.0-{name}.log.zst")
        want = {}
        for _, name, f in mps_events(path):
            if name == "TraceCreate":
                why = REASONS[int(f["why"].split("[")[0])]
                want[why] = want.get(why, 0) + 1
        seen |= set(want)
        same(keys(figures("-e", "TraceCreate", "-s",
                          "w=tally(label(why),16)", path), "w"), want)
    check(len(seen) > 1, seen, "several reasons")


@question(35, "only the slow ones")
def _():
    limit = sorted(b["end"] - b["start"] for b in HEAP.dead if b["freed"])[-9]
    got = lines(run("telfilter", "-w", f"frees && duration > {limit}ns", LOG))
    same(len([x for x in got if " free " in x]),
         sum(b["freed"] and b["end"] - b["start"] > limit for b in HEAP.dead))


@question(36, "how long messages waited in their channels")
def _():
    path, clock, sent, waits = os.path.join(FOLDER, "messages.txt"), 0, {}, []
    with open(path, "w") as f:
        f.write("# teltools text 1\n# format: m\n# tick rate: 1000000000.0\n"
                "# type: Send 1 M channel:unsigned\n"
                "# type: Receive 2 M channel:unsigned\n")
        for _ in range(500):
            clock += rng.randint(1, 999)
            channel = rng.randint(1, 3)
            line = sent.setdefault(channel, [])
            name = "Receive" if line and rng.random() < 0.5 else "Send"
            f.write(f"{clock:016X} {name} channel={channel}\n")
            if name == "Send":
                line.append(clock)
            else:
                waits.append(clock - line.pop(0))
    rows = figures("-s", "w=queue(Send,Receive,channel)", path)
    same([one(rows, "w", k) for k in ("pairs", "sum", "min", "max")],
         [len(waits), sum(waits), min(waits), max(waits)])


@question(37, "the events just before a time")
def _():
    got = lines(run("telcat", "-H", "-t", f",{MIDDLE}ns", LOG))
    same(int(got[-1].split(" ")[0], 16),
         START + [e[0] for e in EVENTS if e[0] <= MIDDLE][-1])


@question(39, "what was lost or damaged")
def _():
    with open(LOG) as f:
        text = f.readlines()
    text[100] = "torn" + text[100][4:60] + "\n"
    path = os.path.join(FOLDER, "torn.txt")
    with open(path, "w") as f:
        f.writelines(text)
    done = subprocess.run(["telstat", "-q", "-f", "json", path],
                          capture_output=True, text=True)
    row = json.loads(done.stdout.splitlines()[-1])
    same((done.returncode, row["damaged"]), (3, 1))


@question(40, "what the recording cost")
def _():
    path = os.path.join(FOLDER, "run.tel")
    done = subprocess.run(["telrec", "-o", path, "sh", "-c",
                           "ls /; ls / /dev; true"], text=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = re.search(r"recorded ([0-9,]+) events in ([0-9]+) processes; "
                     r"([0-9.]+)% of the CPU time was telrec's", done.stderr)
    check(done.returncode == 0 and said is not None, done.stderr, "a cost")
    names = [x.split(" ")[1] for x in lines(run("telcat", path))]
    own = {"Intern", "Label", "LabelPointer", "ClockSync"}
    same((int(said[1].replace(",", "")), int(said[2])),
         (len([n for n in names if n not in own]), 3))
    check(0 < float(said[3]) < 100, said[3], "a share")


@question(31, "time between collections")
def _():
    starts = [c for c, name, _ in M if name == "TraceFlipBegin"]
    rows = figures("-s", "t=sum(ticks(TraceFlipBegin,TraceFlipBegin))", MPS)
    same(one(rows, "t", "sum"), starts[-1] - starts[0])


@question(24, "what holds an address")
def _():
    b = max(HEAP.allocated, key=lambda b: b["bytes"])
    got = lines(run("telfilter", "-a", hex(b["at"] + b["bytes"] - 1), LOG))
    got = [x for x in got if f"address={b['at']:#x} " in x]
    check(len(got) >= 1, len(got), b)


@question(38, "the last events")
def _():
    got = lines(run("telcat", "-H", "-n", "-20", LOG))
    same([int(x.split(" ")[0], 16) for x in got],
         [START + e[0] for e in EVENTS[-20:]])


def differences(before, after, *heaps):
    rows = list(csv.DictReader(io.StringIO(run(
        "telstat", "diff", "--stacks", "-f", "csv", before, after))))
    for stat, heap in zip(("before_bytes", "after_bytes"), heaps):
        same({r["key"]: int(r["value"]) for r in rows
              if r["stat"] == stat and int(r["value"]) and r["type"] == "stack" and
              r["key"] != "<other>"}, total(heap.live.values(), stack))


@question(5, "what grew between two times, by stack")
def _():
    differences(f"{LOG}@,{END // 4}ns", f"{LOG}@,{MIDDLE}ns",
                Heap(EVENTS, END // 4), Heap(EVENTS, MIDDLE))


@question(6, "two runs, by stack")
def _():
    differences(BEFORE, LOG, Heap(SECOND), HEAP)


def main():
    known = {x for x in sys.argv[3].split(",") if x}
    wrong = []
    for number, text, function in sorted(TESTS, key=lambda t: t[0]):
        try:
            function()
            if str(number) in known:
                print(f"{number} is answered: {text}")
        except (ValueError, KeyError, StopIteration, IndexError,
                RuntimeError) as e:
            if str(number) not in known:
                wrong.append(f"{number}: {text}: {e!r}"[:600])
    print(f"{len(TESTS) - len(known)} questions answered")
    print("\n".join(wrong))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
