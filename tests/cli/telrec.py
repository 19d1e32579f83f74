#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Checks recordings, as telcat prints them, on standard input.

telrec.py order     every free and realloc finds its block, no block is
                    allocated twice, and times do not decrease; prints how
                    many events there were; "order late": blocks may be of
                    before the log
telrec.py weights N MEAN
                    the weights of the samples of "telrec_program sizes N"
                    estimate the bytes of each size
telrec.py calls     prints the calls without addresses: blocks are numbered;
                    "calls SIZE": from the malloc of this size to its free
telrec.py operators what telrec_operators.cc does is recorded: each of the forms
                    once, if "forms" follows, and small blocks of threads,
                    if "threads" does; all of them are freed, in order
"""
import math
import sys


def events():
    for line in sys.stdin:
        if line.startswith("#"):
            continue
        words = line.split()
        fields = {}
        for word in words[2:]:
            key, _, value = word.partition("=")
            fields[key] = value.partition("[")[0]
        yield int(words[0], 16), words[1], fields


FREES = ("free",)
REALLOCS = ("realloc", "reallocarray")
ALLOCS = ("malloc", "calloc", "memalign", "posix_memalign", "aligned_alloc",
          "valloc", "pvalloc")


def order(all_events=None):
    late = sys.argv[2:] == ["late"]
    live, last, count, wrong = set(), 0, 0, 0
    # what a process and its ancestors have allocated; what the latter had
    ever, inherited = {}, {}
    for clock, name, f in all_events or events():
        if clock < last:
            print("time", clock, "after", last)
            wrong += 1
        last = clock
        if name not in FREES + REALLOCS + ALLOCS:
            if name == "process":
                inherited[f["pid"]] = set(ever.get(f["parent"], ()))
                ever[f["pid"]] = set(inherited[f["pid"]])
            continue
        count += 1
        pid = f["pid"]
        if pid not in ever:
            print("unknown process", pid)
            return 1
        old = f["address"] if name in FREES else f.get("old", "0x0")
        new = f["address"] if name not in FREES else "0x0"
        failed = name in REALLOCS and new == "0x0" and f["size"] != "0"
        if old != "0x0" and not failed:
            # a child may free what its parent allocated
            known = late and old not in ever[pid]
            if not known and (pid, old) not in live and \
                    old not in inherited[pid]:
                print(name, "of unknown", old, "at", hex(clock))
                wrong += 1
            live.discard((pid, old))
        if new != "0x0":
            if (pid, new) in live:
                print(name, "of live", new, "at", hex(clock))
                wrong += 1
            live.add((pid, new))
            ever[pid].add(new)
    print("events", count)
    return wrong > 0


def freed(all_events, least, most):
    """The sizes of all blocks of this many bytes; None if one is not freed."""
    live, sizes = {}, []
    for _, name, f in all_events:
        if name in FREES:
            live.pop(f["address"], None)
        elif name in REALLOCS + ALLOCS:
            live.pop(f.get("old"), None)
            size = int(f["size"]) * int(f.get("count", 1))
            if f["address"] != "0x0" and least <= size <= most:
                live[f["address"]] = (name, size)
                sizes.append(size)
    for block in live.values():
        print("not freed:", *block)
    return None if live else sizes


def operators():
    all_events, wrong = list(events()), 0
    if "forms" in sys.argv:
        forms = freed(all_events, 70001, 72000)
        arrays = freed(all_events, 200000, 300000)
        print("forms", forms, arrays)
        # an alignment may be added to the size
        wrong += forms is None or arrays is None or \
            sum(70001 <= n < 71000 for n in forms) != 12 or \
            sum(n in (71680, 218112) for n in forms + arrays) != 2
        # the last six of the forms have an alignment
        plain = [name for _, name, f in all_events
                 if 70001 <= int(f.get("size", 0)) <= 70006]
        aligned = [name for _, name, f in all_events if f.get("alignment")
                   and 70007 <= int(f["size"]) < 71000]
        print("plain", plain, "aligned", aligned)
        wrong += plain != ["malloc"] * 6 or len(aligned) != 6 or \
            "malloc" in aligned
    if "threads" in sys.argv:
        small = freed(all_events, 7, 7)
        # four threads have 300 blocks each; others may be of this size
        wrong += small is None or not 1200 <= len(small) < 1300
        print("small", small and len(small))
    return wrong + order(all_events) > 0


def calls():
    numbers, count = {"0x0": 0}, 0
    marker = sys.argv[2] if len(sys.argv) > 2 else None
    block = None
    for _, name, f in events():
        if name not in FREES + REALLOCS + ALLOCS:
            continue
        if marker is not None:
            if block is None and (name, f.get("size")) == ("malloc", marker):
                block = f["address"]
                continue
            if name in FREES and f["address"] == block:
                return 0
            if block is None:
                continue
        sizes = [f[key] for key in ("alignment", "count", "size") if key in f]
        if name in ("posix_memalign", "aligned_alloc", "valloc", "pvalloc"):
            name = "memalign"
        old = f["address"] if name in FREES else f.get("old")
        text = [name] + (sizes if name != "memalign" else [])
        if old is not None:
            text.append("of %d" % numbers.get(old.lower(), -1))
        if name not in FREES:
            count += 1
            if f["address"] != "0x0":
                numbers[f["address"].lower()] = count
        print(" ".join(text))
    # without a marker, to the end
    return marker is not None


# How often "telrec_program sizes" allocates blocks of a size.
SIZES = {("malloc", 3): 1, ("malloc", 48): 1, ("realloc", 1000): 1,
         ("calloc", 700): 1, ("malloc", 4096): 1, ("aligned_alloc", 9000): 1,
         ("calloc", 60000): 1}


def weights():
    n, mean = int(sys.argv[2]), int(sys.argv[3])
    found, wrong = {}, 0
    for _, name, f in events():
        if name in ALLOCS + REALLOCS:
            size = int(f["size"]) * int(f.get("count", 1))
            found.setdefault((name, size), []).append(int(f["weight"]))
    for (name, size), times in SIZES.items():
        samples = found.get((name, size), [])
        chance = -math.expm1(-size / mean)
        # the rest of the rounding of others may be in one weight
        sigma = math.sqrt(n * times * (1 - chance) / chance) * size + 1
        error = (sum(samples) - n * times * size) / sigma
        print(name, size, len(samples), "samples", "%.2f sigma" % error)
        wrong += abs(error) > 7
    return wrong > 0


sys.exit({"weights": weights, "order": order, "calls": calls,
          "operators": operators}[sys.argv[1]]())
