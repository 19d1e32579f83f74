#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A model of "telstat diff --stacks -f json" over ranges of a random trace.

changes.py make SEED prints a trace of heaptrack; changes.py model A B reads the
text of telcat, and prints stack, bytes and blocks that live A and B ms after
the start, as three lists of rows that jq can compare.
"""
import random
import re
import sys


def make(seed):
    r = random.Random(seed)
    print("v 10400 3")
    traces = r.randint(3, 30)
    for i in range(1, traces + 1):
        print("t %x %x" % (i * 4096 + r.randint(0, 3), r.randint(0, i - 1)))
    now, live = 0, {}
    for _ in range(400):
        now += r.randint(0, 3)
        print("c %x" % now)
        for _ in range(r.randint(0, 4)):
            if live and r.random() < 0.45:
                address = r.choice(list(live))
                del live[address]
                print("- %x" % address)
            else:
                address = r.choice([a for a in range(4096, 4096 + 500)
                                    if a not in live])
                live[address] = 1
                print("+ %x %x %x" %
                      (r.randint(0, 5000), r.randint(0, traces), address))


def stack(frames, number):
    names = []
    while number:
        ip, number = frames[number]
        names.append(ip)
    return ";".join(reversed(names)) or "<none>"


def live_until(lines, ms):
    frames, live = {}, {}
    for line in lines:
        fields = dict(re.findall(r"(\w+)=(\S+)", line))
        words = line.split()
        if len(words) < 2 or words[0] == "#" or int(words[0], 16) > ms * 1e6:
            continue
        if words[1] == "trace":
            frames[int(fields["number"])] = (fields["ip"],
                                             int(fields["parent"]))
        elif words[1] == "malloc":
            live[fields["address"]] = (int(fields["trace"]),
                                       int(fields["size"]))
        elif words[1] == "free":
            live.pop(fields["address"], None)
    total = {}
    for trace, size in live.values():
        was = total.get(stack(frames, trace), (0, 0))
        total[stack(frames, trace)] = (was[0] + size, was[1] + 1)
    return total


def model(first, second):
    lines = sys.stdin.read().splitlines()
    a, b = live_until(lines, first), live_until(lines, second)
    for name in sorted(set(a) | set(b)):
        x, y = a.get(name, (0, 0)), b.get(name, (0, 0))
        print(name, x[0], y[0], y[0] - x[0], x[1], y[1], y[1] - x[1])


if sys.argv[1] == "make":
    make(int(sys.argv[2]))
else:
    model(int(sys.argv[2]), int(sys.argv[3]))
