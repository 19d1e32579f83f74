# SPDX-License-Identifier: BSD-2-Clause
"""Measures telreplay: what it takes itself, and how fast it compiles.

replay.py FOLDER: traces are made there.  All figures are CPU time.  Its own
cost is that of the null allocator; the least of several runs is shown, as
what disturbs a run only adds to it.  The judge of it is replay_loop.c, the
loop that anybody would write, in rounds that take turns with telreplay's.
"""

import csv
import os
import random
import resource
import subprocess
import sys

RUNS = 7
EVENTS = 2000000


def pairs(out):
    """A block is freed as soon as it is there."""
    for i in range(EVENTS // 2):
        out.write(f"1: malloc 0x{(i % 64 + 1) * 4096:x} 64\n"
                  f"1: free 0x{(i % 64 + 1) * 4096:x}\n")


def live(out, blocks, runs, seed=1):
    """So many blocks live: some are freed, and as many take their places,
    as many at a time as runs has.  Half of them live short lives."""
    rng = random.Random(seed)
    for i in range(blocks):
        out.write(f"1: malloc 0x{(i + 1) * 4096:x} {16 + i % 1000}\n")
    events = blocks
    while events < EVENTS:
        chosen = set()
        for _ in range(rng.choice(runs)):
            i = rng.randrange(blocks)
            chosen.add(i if rng.random() < 0.5 else i % (blocks // 16 + 1))
        for i in chosen:
            out.write(f"1: free 0x{(i + 1) * 4096:x}\n")
        for i in chosen:
            out.write(f"1: malloc 0x{(i + 1) * 4096:x} "
                      f"{rng.randrange(16, 1024)}\n")
        events += 2 * len(chosen)


def threads(out):
    """One thread allocates, another frees, a thousand at a time."""
    for i in range(0, EVENTS // 2, 1000):
        base = (i % 64000 + 1) * 4096
        for j in range(1000):
            out.write(f"1: malloc 0x{base + j * 64:x} 48\n")
        for j in range(1000):
            out.write(f"2: free 0x{base + j * 64:x}\n")


# Name, what makes the trace, and the most nanoseconds an operation.
TRACES = [
    ("pairs", pairs, 2.0),
    ("5,000 live blocks", lambda out: live(out, 5000, (1,)), 2.0),
    ("50,000 live blocks", lambda out: live(out, 50000, (1, 2, 8)), 3.5),
    ("two threads that wait", threads, 2.5),
    ("two threads in windows", threads, 3.0),
]
# How often the loops take turns.
ROUNDS = 12
# What is compiled: form, number of the trace, the least millions of events a
# second.
COMPILED = [("text", 1, 10.0), (".tel", 1, 20.0),
            ("text", 2, 5.0), (".tel", 2, 10.0)]


def cpu_of(command):
    """The CPU seconds of a command: the least of some runs."""
    least = None
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken = (after.ru_utime - before.ru_utime +
                 after.ru_stime - before.ru_stime)
        least = taken if least is None else min(least, taken)
    return least


def own_cost(trace, *options):
    """Nanoseconds an operation with the null allocator."""
    report = subprocess.run(
        ["telreplay", "-a", "null", "--runs", str(RUNS), "-f", "csv",
         *options, trace],
        check=True, stdout=subprocess.PIPE, text=True).stdout
    runs = {}
    for row in csv.DictReader(report.splitlines()):
        if row["type"] == "run":
            runs.setdefault(row["item"], {})[row["figure"]] = float(
                row["value"])
    return min(run["cpu_ns"] / run["operations"] for run in runs.values())


def ratios(loop, trace):
    """The cost over that of the loop, without and with samples."""
    least = [float("inf")] * 3
    for _ in range(ROUNDS):
        hand = subprocess.run([loop, trace, str(RUNS)], check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        for i, ns in enumerate((float(hand), own_cost(trace, "--sample=0"),
                                own_cost(trace))):
            least[i] = min(least[i], ns)
    return least[1] / least[0], least[2] / least[0]


def line(what, value, target, over):
    print(f"{what:34} {value:9.2f} {target:7.2f}{'  over' if over else ''}")


def main():
    folder = sys.argv[1]
    print(f"\n{'telreplay':34} {'ns/op':>9} {'most':>7}")
    for number, (name, make, target) in enumerate(TRACES):
        path = os.path.join(folder, f"replay{number}.txt")
        with open(path, "w", encoding="ascii") as out:
            make(out)
        window = "2%" if "windows" in name else "none"
        cost = own_cost(path, "--sample=0", "--window", window)
        line("own cost, " + name, cost, target, cost > target)
    loop = os.path.join(folder, "replay_loop")
    subprocess.run([os.environ.get("CC", "cc"), "-std=c11", "-O2", "-o", loop,
                    "tests/bench/replay_loop.c"], check=True)
    print(f"\n{'':34} {'ratio':>9} {'most':>7}")
    for number, (name, _, _) in enumerate(TRACES[:2]):
        pair = ratios(loop, os.path.join(folder, f"replay{number}.txt"))
        for how, ratio, most in zip(("", ", sampled"), pair, (1.15, 1.3)):
            line(f"over a loop by hand, {name}{how}"[:34], ratio, most,
                 ratio > most)
    print(f"\n{'':34} {'M/s':>9} {'least':>7}")
    for form, number, target in COMPILED:
        path = trace = os.path.join(folder, f"replay{number}.txt")
        if form == ".tel":
            path = os.path.join(folder, "replay.log")
            with open(path, "wb") as out:
                subprocess.run(["telcat", "-f", "tel", trace], check=True,
                               stdout=out)
        speed = EVENTS / 1e6 / cpu_of(["telreplay", "--dry-run", path])
        line(f"compiling {form}, {TRACES[number][0]}", speed, target,
             speed < target)


main()
