# SPDX-License-Identifier: BSD-2-Clause
"""Traces for telreplay, and what they hold, worked out on its own.

    telreplay_model.py make SEED EVENTS THREADS     a trace, memory_replay text
    telreplay_model.py check REPORT <TRACE          compares with -f json
    telreplay_model.py paced REPORT <TRACE          its samples, of --pace
    telreplay_model.py shape FORM <REPORT           the columns of each type of row
    telreplay_model.py look FORM <REPORT            looks at a report's form
"""

import csv
import itertools
import json
import random
import statistics
import sys
import textwrap
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


def power(number):
    """The power of 2 that is not above a number."""
    return 1 << number.bit_length() >> 1


def rounded(size, each):
    """To one of so many classes for each power of 2, 16 bytes apart at least."""
    low = 16
    while low * 2 < size:
        low *= 2
    step = max(low // each, 16) if size > 16 else 16
    return -(-size // step) * step


def facts(lines):
    """What a trace without mistakes holds.  free(NULL) is none, and
    realloc(NULL, n) is an allocation."""
    live, owner, born = {}, {}, {}
    found = dict(requests=0, requested_bytes=0, largest_bytes=0, peak_bytes=0,
                 peak_event=0, peak_blocks=0, peak_bytes_blocks=0,
                 crossing_frees=0, crossing_reallocs=0)
    kinds, sizes, threads, now = {}, {}, set(), 0
    more = dict(lives={}, curve=[], peak=[])
    for number, line in enumerate(lines):
        more["curve"].append((len(live), now))
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
            low = power(number - born.pop(words[0]))
            more["lives"][low] = more["lives"].get(low, 0) + 1
            continue
        birth = number
        if what == "realloc" and words[1] != 0:
            now -= live.pop(words[1])
            found["crossing_reallocs"] += owner.pop(words[1]) != thread
            birth = born.pop(words[1])
        born[words[0]] = birth
        size = words[1] * words[2] if what == "calloc" else words[-1]
        live[words[0]] = size
        owner[words[0]] = thread
        now += size
        found["requests"] += 1
        found["requested_bytes"] += size
        found["largest_bytes"] = max(found["largest_bytes"], size)
        found["peak_blocks"] = max(found["peak_blocks"], len(live))
        sizes[power(size)] = sizes.get(power(size), 0) + 1
        if now > found["peak_bytes"]:
            found["peak_bytes"] = now
            found["peak_event"] = number
            found["peak_bytes_blocks"] = len(live)
            more["peak"] = list(live.values())
    found["threads"] = len(threads)
    found["live_bytes"] = now
    found["live_blocks"] = len(live)
    more["curve"] = more["curve"][64::64] + [(len(live), now)]
    more["left"] = list(live.values())
    return found, kinds, sizes, more


def rows(path):
    with open(path, encoding="ascii") as file:
        return [json.loads(line) for line in file]


def check_tables(report, more):
    """The tables on the trace, but for that of sizes."""
    def table(name, figure):
        return {int(row["item"]): row[figure] for row in report
                if row["type"] == name}
    assert table("lifetime", "blocks") == more["lives"], more["lives"]
    left = [power(size) for size in more["left"]]
    for low, blocks in table("size", "not_freed").items():
        assert blocks == left.count(low), (low, blocks)
    curve = [(row["blocks"], row["bytes"]) for row in report
             if row["type"] == "live"]
    assert curve == more["curve"], (curve, more["curve"])
    for each, taken in table("what_if", "bytes").items():
        # near the peak, of classes that are a sixteenth apart
        want = sum(rounded(size, each) for size in more["peak"])
        assert 0.9 * want <= taken <= 1.12 * want, (each, taken, want)
        slack = 1 - sum(more["peak"]) / taken
        assert abs(table("what_if", "slack")[each] - slack) < 0.03, each
        used = len({rounded(size, each) for size in more["peak"]})
        assert abs(table("what_if", "used")[each] - used) <= 2 + used / 8, each


def near(is_value, want):
    assert abs(is_value - want) <= 1e-6 * abs(want), (is_value, want)


def check_runs(report):
    """What each allocator's figures are by the other rows of a report."""
    trace = [row for row in report if row["type"] == "trace"][0]
    names = [row["allocator"] for row in report if row["type"] == "allocator"]
    of = {name: {} for name in names}
    for row in report:
        if "allocator" in row:
            of[row["allocator"]].setdefault(row["type"], []).append(row)
    for name, types in of.items():
        cost, memory = types["cost"][0], types["memory"][0]
        runs = types["run"]
        for figure in "wall_ns", "process_ns", "cpu_ns":
            each = [run[figure] / run["operations"] for run in runs]
            if figure == "wall_ns":
                near(cost[figure], statistics.median(each))
                continue
            if figure == "process_ns":
                # net of that of an allocator that does nothing, which may be 0
                assert cost[figure] <= statistics.median(each), cost
                continue
            near(cost["ns"] + cost["own_ns"], statistics.median(each))
            near(cost["least_ns"] + cost["own_ns"], min(each))
            near(cost["most_ns"] + cost["own_ns"], max(each))
        near(cost["page_faults"], statistics.median(
            run["minor_faults"] + run["major_faults"] for run in runs))
        near(memory["peak_over_live"],
             memory["peak_bytes"] / trace["peak_bytes"])
        check_samples(types, memory, trace)
        check_latency(types)
        for ratio in types.get("ratio", []):
            check_ratio(ratio, runs, of[ratio["item"]]["run"])
        assert [run["item"] for run in runs] == [
            str(i + 1) for i in range(len(runs))]
        asked = {row["item"]: row for row in types.get("slack", [])}
        if asked:
            sizes = {row["item"]: row["requests"] for row in report
                     if row["type"] == "size"}
            assert sizes == {item: row["blocks"]
                             for item, row in asked.items()}, (sizes, asked)
            for figure in "asked_bytes", "given_bytes":
                assert sum(row[figure] for row in asked.values()) == \
                    memory[figure], figure


def check_ratio(ratio, runs, others):
    """The median of the ratios of all pairs of runs, where nothing is net."""
    for figure in "peak_bytes", "end_bytes", "p99_ns":
        each = [run[figure] / other[figure] for run in runs
                for other in others if run[figure] > 0 and other[figure] > 0]
        if figure in ratio:
            near(ratio[figure], statistics.median(each))
            low = ratio.get(figure + "_low", min(each))
            assert low <= ratio[figure] * (1 + 1e-9), ratio
            # three runs of each cannot tell
            assert len(each) > 9 or not ratio[figure + "_different"], ratio


def check_samples(types, memory, trace):
    samples = types["sample"]
    assert memory["peak_bytes"] >= max(
        sample["resident_bytes"] for sample in samples)
    largest = types["residency"][0]
    assert largest["resident_bytes"] == max(
        sample["resident_bytes"] for sample in samples)
    if "room_bytes" in largest:
        free = max(0, largest["resident_bytes"] - largest["room_bytes"])
        near(largest["free_bytes"], free)
        near(largest["free_share"], free / largest["resident_bytes"])
    assert memory["run_live_bytes"] >= trace["peak_bytes"] * (
        trace["replay_threads"] == 1)
    for sample in samples:
        assert sample["run_live_bytes"] <= memory["run_live_bytes"], sample
        want = {"idle": trace["live_bytes"], "freed": 0}
        if sample["phase"] in want:
            assert sample["run_live_bytes"] == want[sample["phase"]], sample
            near(sample["live_bytes"], trace["live_bytes"])
            assert sample["done"] == 1, sample
        if sample["phase"] == "freed":
            assert sample.get("room_bytes", 0) == 0, sample


def check_latency(types):
    for row in types.get("latency", []):
        ranges = [one for one in types.get("latency_range", [])
                  if one["item"].startswith(row["item"] + " ")]
        assert sum(one["samples"] for one in ranges) == row["samples"], row
        if row["samples"] == 0:
            assert "p50" not in row and "max" not in row, row
            continue
        for name, share in (("p50", .5), ("p90", .9), ("p99", .99)):
            # between two samples the next one or the last one counts
            sums = list(itertools.accumulate(one["samples"] for one in ranges))
            place = share * row["samples"]
            around = [one for one, seen in zip(ranges, sums)
                      if seen >= place - 1e-9 and
                      seen - one["samples"] <= place + 1e-9]
            assert (
                around[0]["from_ns"] <= row[name] * (1 + 1e-9) and
                row[name] <= around[-1]["to_ns"] * (1 + 1e-9)), (name, row)
        figures = [row[name] for name in ("p50", "p90", "p99", "p99.9", "max")]
        assert figures == sorted(figures), row


def check(path):
    """Compares the facts of standard input with those of a report."""
    found, kinds, sizes, more = facts(sys.stdin)
    report = rows(path)
    check_tables(report, more)
    check_runs(report)
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


def paced(path):
    """Samples of a trace whose operations are apart in time, of a word each."""
    sums, blocks = [0], {}
    for line in sys.stdin:
        _, what, *words = line.split()
        address = words[0]
        size = int(words[1]) if what == "malloc" else 0
        sums.append(sums[-1] + size - blocks.get(address, 0))
        blocks[address] = size
    last = len(sums) - 1
    points = {0: 0, 64: sums[64], last: sums[last]}
    seen = set()
    for row in rows(path):
        if row["type"] != "sample" or row["phase"] != "running":
            continue
        done = round(row["done"] * last)
        seen.add(done)
        near(row["done"], done / last)
        # the operation that is at work, and one more between two readings
        assert row["run_live_bytes"] in sums[done:done + 3], (row, done)
        low, high = (0, 64) if done <= 64 else (64, last)
        near(row["live_bytes"], points[low] + (points[high] - points[low]) *
             (done - low) / (high - low))
    assert len(seen) > 5, seen


def shape(form):
    """Types of rows in order, and their figures, but for what not every kernel
    lets a process see."""
    if form == "csv":
        table = [(row["type"], row["figure"])
                 for row in csv.DictReader(sys.stdin, strict=True)]
    else:
        table = [(row["type"], name) for row in map(json.loads, sys.stdin)
                 for name in row if name not in ("type", "allocator", "item")]
    types = {}
    for name, figure in table:
        # there is no ratio of what is 0
        if name != "ratio":
            types.setdefault(name, {})[figure] = True
    for name, figures in types.items():
        if name not in ("counters", "calls", "size_residency"):
            print(textwrap.fill(name + ": " + " ".join(
                figure for figure in figures
                if figure not in ("processor", "huge_pages")), 64))


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
elif sys.argv[1] == "shape":
    shape(sys.argv[2])
elif sys.argv[1] == "paced":
    paced(sys.argv[2])
else:
    look(sys.argv[2])
