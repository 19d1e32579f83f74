# SPDX-License-Identifier: BSD-2-Clause
"""Samples of stacks, from the folded output, beside what telstat has of them.

samples.py make SEED: a text of perf script with random stacks.
samples.py compare: "folded", "stacks", "csv" and "report" in this folder are
the outputs of telcat -f folded, telstat --stacks -f json and -f csv, and
telstat -f json, for the same samples.
"""

import collections
import csv
import json
import random
import re
import sys

NAMES = ["main", "run", "f", "g", "std::map<int, char>::find(int const&)",
         "odd;name", "Shop.work:17", "Shop.work:18", "a b.c:5", "x::y.z:9",
         "[unknown]", "0"]


def make(seed):
    rand = random.Random(seed)
    for i in range(400):
        event = rand.choice(["cycles:", "cycles:", "sched:switch:", "beat:"])
        period = f"{rand.choice([1, 7, 1 << 40])} " if event == "cycles:" else ""
        print(f"prog {rand.randint(1, 3)} [000] 1.{i:06}: {period}{event} ")
        for _ in range(0 if event == "beat:" else rand.randint(0, 6)):
            name = rand.choice(NAMES)
            print(f"\tffff{NAMES.index(name):04x} {name}+0x1 (prog)")
        print()


def function(frame):
    line = re.fullmatch(r"([^ :]*\.[^ :]*):\d+", frame)
    return line.group(1) if line else frame


def functions(stacks):
    """Of stacks and weights: what each function has itself, and in total."""
    own, total = collections.Counter(), collections.Counter()
    for frames, weight in stacks.items():
        names = [function(f) for f in frames.split(";")]
        own[names[-1]] += weight
        for name in set(names):
            total[name] += weight
    return own, total


def by_type(stacks, types):
    if len(types) == 1:
        return {types[0]: stacks}
    out = collections.defaultdict(dict)
    for frames, weight in stacks.items():
        event, rest = frames.split(";", 1)
        out[event][rest] = weight
    return out


def compare():
    folded = {}
    for line in open("folded"):
        frames, weight = line.rsplit(" ", 1)
        folded[frames] = int(weight)
    report = [json.loads(line) for line in open("report")]
    rows = [r for r in map(json.loads, open("stacks")) if r["type"] == "stack"]
    weights, samples = collections.Counter(), collections.Counter()
    for row in rows:
        weights[row["stack"]] += row["weight"]
        samples[row["stack"]] += row["samples"]
    assert weights == folded, (weights, folded)
    assert [r["weight"] for r in rows] == \
        sorted((r["weight"] for r in rows), reverse=True)

    table = {"samples": collections.Counter(), "weight": collections.Counter()}
    for row in csv.DictReader(open("csv")):
        if row["type"] == "stack":
            table[row["stat"]][row["key"]] += int(row["value"])
    assert table == {"samples": samples, "weight": weights}

    events = {r["name"]: r["events"] for r in report if r["type"] == "event"}
    heads = {r["event"]: r for r in report if r["type"] == "samples"}
    types = sorted(events)
    assert sum(samples.values()) == sum(events.values())
    weights, samples = by_type(weights, types), by_type(samples, types)
    stacked = [t for t in types if set(weights[t]) != {"<none>"}]
    stacked.sort(key=lambda t: -events[t])
    assert list(heads) == stacked[:3], (heads, stacked)
    for event, head in heads.items():
        all_weight = sum(weights[event].values())
        assert head["samples"] == events[event] == sum(samples[event].values())
        assert head["weight"] == all_weight
        assert head["stacks"] == len(weights[event])
        own, total = functions(weights[event])
        own_samples, total_samples = functions(samples[event])
        best = sorted((n for n in own if own_samples[n]),
                      key=lambda n: (-own[n], -own_samples[n], -total[n],
                                     n.encode()))[:5]
        got = [r for r in report if r["type"] == "sampled_function" and
               r["event"] == event]
        assert [r["function"] for r in got] == best, (got, best)
        for row in got:
            name = row["function"]
            assert row["self_weight"] == own[name]
            assert row["total_weight"] == total[name]
            assert row["self_samples"] == own_samples[name]
            assert row["total_samples"] == total_samples[name]
            assert abs(row["self_share"] - own[name] / all_weight) < 1e-9
            assert abs(row["total_share"] - total[name] / all_weight) < 1e-9


if sys.argv[1] == "make":
    make(int(sys.argv[2]))
else:
    compare()
