# SPDX-License-Identifier: BSD-2-Clause
"""Commands that manuals and answers to users give, each with the figure that a
loop over the events computes here.  The trace and its model are those of
questions.py, whose arguments this takes.

    commands.py LOGS FOLDER
"""
import csv
import io
import json
import subprocess
import sys

import questions as q
from questions import (END, EVENTS, FOLDER, HEAP, LOG, M, MIDDLE, MPS, START,
                       THREADS, Heap, by_key, check, figures, lines, one, run,
                       same, stack_bytes, total)

TESTS = []
SPAN = EVENTS[-1][0]


def command(text):
    def add(function):
        TESTS.append((text, function))
        return function
    return add


def rows_of(*arguments):
    return [json.loads(x) for x in run("telstat", "-q", "-f", "json",
                                       *arguments).splitlines()]


def top(name, rows, *shown):
    return [tuple(r[x] for x in ("value",) + shown) for r in rows
            if r["type"] == "top value" and r["name"] == name]


def clocks(text):
    return [int(x.split(" ")[0], 16) for x in lines(text)]


# ------------------------------------------------------------ order of time

def labelled(events):
    """How many events have a labelled pool, as Label and Intern say."""
    names, label, count = {}, {}, 0
    for _, name, f in events:
        if name == "Intern":
            names[f["stringId"]] = True
        elif name in ("Label", "LabelPointer"):
            at = f.get("pointer", f.get("address")).split("[")[0]
            label[at] = f["stringId"]
        if "pool" in f:
            count += label.get(f["pool"].split("[")[0]) in names
    return count


@command("""telfilter -w 'label(pool) != ""' run.log""")
def _():
    want = labelled(M)
    for order in ((), ("-S",), ("-S", "-j", "2")):
        same(int(run("telfilter", "-c", *order, "-w", 'label(pool) != ""',
                     MPS)), want)
    less = int(run("telfilter", "-c", "--file-order", "-w",
                   'label(pool) != ""', MPS))
    check(0 < less < want, less, want)


@command("telcat run.log, telcat --file-order run.log")
def _():
    shown = lines(run("telcat", MPS))
    in_time = clocks("\n".join(shown))
    same(in_time, sorted(in_time))
    in_file = clocks(run("telcat", "--file-order", MPS))
    check(in_file != in_time, len(in_file), "another order")
    same(sorted(in_file), in_time)


@command("telstat -e SegAlloc,SegFree --alloc SegAlloc... --free SegFree...")
def _():
    live, freed, allocated, most = {}, 0, 0, 0
    for _, name, f in M:
        if name == "SegAlloc":
            live[f["seg"]] = int(f["size"])
            allocated += int(f["size"])
            most = max(most, sum(live.values()))
        elif name == "SegFree":
            freed += live.pop(f["seg"])
    rows = rows_of("-e", "SegAlloc,SegFree", "--alloc",
                   "SegAlloc(ptr=seg,size=size)", "--free", "SegFree(ptr=seg)",
                   MPS)
    totals = next(r for r in rows if r["type"] == "totals")
    same([totals[k] for k in ("allocated_bytes", "freed_bytes", "live_blocks",
                              "live_bytes")],
         [allocated, freed, len(live), sum(live.values())])
    same(next(r for r in rows if r["type"] == "memory")["peak_bytes"], most)


# ------------------------------------------------- what events say of others

@command("telcat -w 'duration > 200us' run.log")
def _():
    clock = q.Clock(M)
    found = [(ns, begun + ns) for ns, begun in
             q.ranges(M, "TraceStart", "TraceDestroy", clock)]
    limit = sorted(found)[len(found) // 2][0] / 1000 - 0.5
    got = [x for x in lines(run("telcat", "-w", f"duration > {limit:.3f}us",
                                MPS)) if " TraceDestroy " in x]
    ends = {clock.time(at): at for at, name, _ in M if name == "TraceDestroy"}
    want = sorted(ends[end] for ns, end in found if ns > limit * 1000)
    check(0 < len(want) < len(found), want, "some")
    same(clocks("\n".join(got)), want)


@command("--since 'duration > ...', -g 'label(start.thread)', -F duration")
def _():
    dead = sorted(HEAP.dead, key=lambda b: b["end"])
    limit = sorted(b["end"] - b["start"] for b in dead)[-20]
    first = next(b["end"] for b in dead if b["end"] - b["start"] > limit)
    same(clocks(run("telcat", "-H", "--since", f"duration > {limit}ns",
                    LOG))[0], START + first)
    got = {}
    for r in rows_of("-g", "label(start.thread)", "-s",
                     "d=sum(duration) if frees", LOG):
        if r["type"] == "sum" and r["updates"]:
            got[r["group"]["label(start.thread)"]] = r["sum"]
    same(got, total(dead, lambda b: THREADS[b["thread"]],
                    lambda b: b["end"] - b["start"]))
    rows = list(csv.reader(io.StringIO(run(
        "telcat", "-f", "csv", "-w", "frees && has(duration)", "-F",
        "duration,start.size,start.stack", LOG))))
    same([(int(r[-3]), int(r[-2]), r[-1]) for r in rows[1:]],
         [(b["end"] - b["start"], b["size"], b["stack"]) for b in dead])


@command("telstat --stacks -w 'frees || stack ~ \"hog\"' app.tel")
def _():
    # what resizes a block frees one, and allocates for a stack of its own
    same(stack_bytes("leaked_bytes", "--stacks", "-w",
                     'frees || stack ~ "hog"', LOG),
         total([b for b in HEAP.live.values()
                if "hog" in b["stack"] or "grow" in b["stack"]], q.stack))
    # of frees, the stack is that of the block
    same(int(run("telfilter", "-c", "-w", 'name == free && stack ~ "hog"',
                 LOG)),
         sum(b["freed"] and "hog" in b["stack"] for b in HEAP.dead))


# -------------------------------------------------------------- the largest

@command("top(duration,3,start.time,trace) if name == TraceFlipEnd")
def _():
    got = top("t", rows_of("-s", "t=top(duration,3,start.time,trace) "
                           "if name == TraceFlipEnd", MPS), "clock")
    want = sorted(q.pauses(), key=lambda p: -p[0])[:3]
    same([g[1] for g in got], [p[2] for p in want])


@command("top(live,1,time)")
def _():
    same([(v, int(t)) for v, t in
          top("t", rows_of("-s", "t=top(live,1,time)", LOG), "key")],
         [(HEAP.peak, HEAP.peak_time)])


@command("top(duration,5,start.size,stack) if frees")
def _():
    got = top("t", rows_of("-s", "t=top(duration,5,start.size,stack) "
                           "if frees && name == free", LOG), "key", "key2")
    want = sorted([b for b in HEAP.dead if b["freed"]],
                  key=lambda b: b["start"] - b["end"])[:5]
    same([(v, int(size), frames) for v, size, frames in got],
         [(b["end"] - b["start"], b["size"], b["stack"]) for b in want])


@command("top(dt,3,time)")
def _():
    times = [0] * len(q.FRAMES) + [e[0] for e in EVENTS]
    gaps = sorted(((a - b, a) for a, b in zip(times[1:], times)),
                  key=lambda g: (-g[0], g[1]))
    same([(v, int(t)) for v, t in
          top("t", rows_of("-s", "t=top(dt,3,time)", LOG), "key")], gaps[:3])


@command("top(size,10,stack)")
def _():
    want = sorted(HEAP.allocated, key=lambda b: -b["size"])[:10]
    same(top("t", rows_of("-s", "t=top(size,10,stack)", LOG), "key"),
         [(b["size"], b["stack"]) for b in want])


# --------------------------------------------------------- before and after

@command("FILE@FROM,TO in every tool")
def _():
    part = f"{LOG}@{END // 4}ns,{MIDDLE}ns"
    want = [e for e in EVENTS if END // 4 <= e[0] <= MIDDLE]
    same(clocks(run("telcat", "-H", part)), [START + e[0] for e in want])
    same(int(run("telfilter", "-c", part)), len(want))
    same(int(run("telstat", "-c", part)), len(want))
    # a part of a log may free blocks from before: that is no damage
    done = subprocess.run(["telreplay", "-q", "--dry-run", "-f", "json", part],
                          capture_output=True, text=True)
    rows = [json.loads(x) for x in done.stdout.splitlines()]
    same((done.returncode, {r["item"]: r["events"] for r in rows
                            if r["type"] == "operation"}),
         (0, total(want, lambda e: e[1], lambda e: 1)))


@command("telstat diff --stacks app.tel@,300ms app.tel@,900ms")
def _():
    early, late = END // 3, END - END // 10
    rows = list(csv.DictReader(io.StringIO(run(
        "telstat", "diff", "--stacks", "-f", "csv", f"{LOG}@,{early}ns",
        f"{LOG}@,{late}ns"))))
    live = [total(Heap(EVENTS, t).live.values(), q.stack)
            for t in (early, late)]
    want = {}
    for k in set(live[0]) | set(live[1]):
        want[k] = (live[0].get(k, 0), live[1].get(k, 0),
                   live[1].get(k, 0) - live[0].get(k, 0))
    got = {}
    for r in rows:
        if r["type"] == "stack":
            got.setdefault(r["key"], {})[r["stat"]] = int(r["value"])
    same({k: (v["before_bytes"], v["after_bytes"], v["change_bytes"])
          for k, v in got.items() if any(v.values())}, want)


# ------------------------------------------------------------ blocks by key

def blocks_match(arguments, key, heap=HEAP, bytes_of="leaked_bytes"):
    same(by_key(figures(*arguments), "key", bytes_of),
         total(heap.live.values(), key))


@command("--blocks='label(thread)', =size, =process")
def _():
    blocks_match(["--blocks=label(thread)", LOG],
                 lambda b: THREADS[b["thread"]])
    blocks_match(["--blocks=size", LOG], lambda b: str(b["size"]))
    other = f"{FOLDER}/other.txt"
    with open(LOG) as f, open(other, "w") as out:
        out.write(f.read().replace(" pid=1 ", " pid=2 "))
    for merge in ((), ("--no-merge",)):
        same(by_key(figures("--blocks=process", *merge, LOG, other), "key",
                    "leaked_bytes"), {"1": HEAP.bytes, "2": HEAP.bytes})
    # each weight, and what was temporary
    rows = figures("--blocks=label(thread)", "--stacks=count", LOG)
    who = lambda b: THREADS[b["thread"]]
    for stat, blocks, value in (
            ("allocations", HEAP.allocated, lambda b: 1),
            ("allocated_bytes", HEAP.allocated, lambda b: b["bytes"]),
            ("peak_bytes", HEAP.peak_live.values(), lambda b: b["bytes"]),
            ("peak_blocks", HEAP.peak_live.values(), lambda b: 1),
            ("freed", HEAP.dead, lambda b: 1),
            ("temporary", [b for b in HEAP.dead if b["temporary"] and
                           b["freed"]], lambda b: 1)):
        same((stat, by_key(rows, "key", stat)),
             (stat, total(blocks, who, value)))


@command("--blocks=pool of a log of the MPS")
def _():
    live, allocated, freed = {}, {}, 0
    for _, name, f in M:
        if name == "PoolAlloc":
            pool = int(f["pool"].split("[")[0], 16)
            live[f["pReturn"]] = pool, int(f["size"])
            allocated[pool] = allocated.get(pool, 0) + int(f["size"])
        elif name == "PoolFree":
            freed += live.pop(f["old"], (0, 0))[1]
    got = by_key(figures("--blocks=pool", "--stacks=allocated", MPS), "key",
                 "allocated_bytes")
    same({int(k, 0): v for k, v in got.items()}, allocated)


@command("--blocks=EXPR and --stacks with -i")
def _():
    step = END // 4
    for what, kind, key in (
            ("--blocks=label(thread)", "key", lambda b: THREADS[b["thread"]]),
            ("--stacks", "stack", q.stack)):
        got = {}
        for r in csv.DictReader(io.StringIO(run(
                "telstat", "-f", "csv", "-i", f"{step}ns", what, LOG))):
            if r["type"] == kind and r["stat"] == "leaked_bytes" and \
                    r["key"] != "<other>":
                got.setdefault(int(r["time"]), {})[r["key"]] = int(r["value"])
        times = [step * i for i in range(1, 5)]
        check(set(times) <= set(got), sorted(got), times)
        for t in times:
            # one at the end has the event of that time, too
            heap = Heap(EVENTS, t if t == END else t - 1)
            same((t, got[t]), (t, total(heap.live.values(), key)))


@command("--min-age 500ms, of stacks and of keys")
def _():
    for age in (END // 10, END // 2):
        old = [b for b in HEAP.live.values() if b["start"] <= END - age]
        check(0 < len(old) < len(HEAP.live), len(old), len(HEAP.live))
        same(stack_bytes("leaked_bytes", "--stacks", "--min-age", f"{age}ns",
                         LOG), total(old, q.stack))
        same(by_key(figures("--blocks=size", "--min-age", f"{age}ns", LOG),
                    "key", "leaked_bytes"),
             total(old, lambda b: str(b["size"])))


# ------------------------------------------------------------------ smaller

@command("telcat -t ,T -n -20 run.log")
def _():
    want = [START + e[0] for e in EVENTS if e[0] <= MIDDLE][-20:]
    where = ("-t", f",{MIDDLE}ns", "-n", "-20", LOG)
    same(clocks(run("telcat", "-H", *where)), want)
    # with what they refer to, the frames of their stacks
    same(clocks(run("telfilter", *where))[-20:], want)


@command("dur(X,X)")
def _():
    frees = [e[0] for e in EVENTS if e[1] == "free"]
    rows = figures("-s", "d=dur(free,free)", LOG)
    gaps = [b - a for a, b in zip(frees, frees[1:])]
    same([one(rows, "d", k) for k in ("pairs", "sum", "min", "max")],
         [len(gaps), sum(gaps), min(gaps), max(gaps)])
    share = next(float(v) for k, v in rows.items() if k[2] == "share")
    check(abs(share - sum(gaps) / END) < 1e-9, share, sum(gaps) / END)


# ------------------------------------------------------------------- report

@command("telstat app.tel")
def _():
    rows = rows_of(LOG)
    m = next(r for r in rows if r["type"] == "memory")
    lives = [b["end"] - b["start"] for b in HEAP.dead]
    same([m["peak_bytes"], m["peak_blocks"], m["peak_ns"], m["threads"],
          m["temporary_blocks"]],
         [HEAP.peak, len(HEAP.peak_live), HEAP.peak_time,
          len({b["thread"] for b in HEAP.allocated}),
          sum(b["temporary"] and b["freed"] for b in HEAP.dead)])
    for share, name in ((0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (1, "max")):
        want = q.quantile(lives, share)
        check(q.near(m[f"lifetime_{name}"], want, 16), m, want)
    totals = next(r for r in rows if r["type"] == "totals")
    same([totals[k] for k in ("allocated_bytes", "live_bytes", "live_blocks",
                              "freed_unknown_blocks")],
         [sum(b["bytes"] for b in HEAP.allocated), HEAP.bytes,
          len(HEAP.live), HEAP.unknown])


def main():
    wrong = 0
    for text, function in TESTS:
        try:
            function()
        except (ValueError, KeyError, StopIteration, IndexError,
                RuntimeError) as e:
            wrong += 1
            print(f"{text}: {e!r}"[:700])
    print(f"{len(TESTS)} commands, {wrong} wrong")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
