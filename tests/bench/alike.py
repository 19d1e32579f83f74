# SPDX-License-Identifier: BSD-2-Clause
"""Ten names of one allocator: telreplay finds hardly a difference.

Runs telreplay TRIALS times with ten aliases of glibc, and counts the pairs
whose time, latency or memory it calls different: at most 5 % of them may be.
Usage: alike.py FOLDER
"""
import json
import random
import subprocess
import sys

TRIALS = 20
ALIASES = 10
FIGURES = ("ns", "p99_ns", "peak_bytes", "end_bytes")


def make(path):
    """A trace of 40,000 operations."""
    rng = random.Random(31)
    live = []
    with open(path, "w", encoding="ascii") as file:
        for i in range(40000):
            if live and rng.random() < 0.48:
                block = live.pop(rng.randrange(len(live)))
                file.write("1: free 0x%x\n" % block)
            else:
                live.append((i + 1) * 65536)
                size = rng.choice((16, 24, 40, 64, 100, 500, 3000, 20000))
                file.write("1: malloc 0x%x %d\n" % (live[-1], size))


def main():
    trace = sys.argv[1] + "/alike.txt"
    make(trace)
    names = ",".join("g%d=glibc" % i for i in range(ALIASES))
    pairs = dict.fromkeys(FIGURES, 0)
    different = dict.fromkeys(FIGURES, 0)
    for _ in range(TRIALS):
        text = subprocess.run(
            ["telreplay", "-q", "-a", names, "--idle", "0", "-f", "json",
             trace], check=True, stdout=subprocess.PIPE, text=True).stdout
        for line in text.splitlines():
            row = json.loads(line)
            for name in FIGURES:
                if row["type"] == "ratio" and name + "_different" in row:
                    pairs[name] += 1
                    different[name] += row[name + "_different"]
    for name in FIGURES:
        print("%-12s %4d of %d equal pairs are called different"
              % (name, different[name], pairs[name]))
    least = TRIALS * ALIASES * (ALIASES - 1) // 2
    return not all(different[n] <= 0.05 * pairs[n] for n in FIGURES) or \
        pairs["ns"] != least


sys.exit(main())
