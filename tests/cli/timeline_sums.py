# SPDX-License-Identifier: BSD-2-Clause
"""The counters of an MPS log, by name, from telcat -S -f json: a line for each,
with its values in order."""

import json
import sys

sums = {}


def add(name, change):
    sums.setdefault(name, [0]).append(sums.get(name, [0])[-1] + change)


labels = {}
for event in map(json.loads, sys.stdin):
    what, field = event["type"], event["fields"]
    labels.update({field[key]: text
                   for key, text in event.get("labels", {}).items()})
    size = field.get("size", 0)
    if what in ("VMMap", "VMUnmap"):
        size = int(field["limit"], 16) - int(field["base"], 16)
    if what in ("VMMap", "ArenaAlloc", "SegAlloc"):
        add(what.replace("Map", "").replace("Alloc", "") + " bytes", size)
    elif what in ("VMUnmap", "ArenaFree", "SegFree"):
        add(what.replace("Unmap", "").replace("Free", "") + " bytes", -size)
    elif what in ("PoolAlloc", "PoolFree", "PoolFinish"):
        pool = field["pool"]
        name = f"live bytes of {labels.get(pool, 'pool')} {pool}"
        change = {"PoolAlloc": size, "PoolFree": -size}.get(
            what, -sums.get(name, [0])[-1])
        if change:
            add(name, change)
            add("live bytes", change)
for name in sorted(sums):
    print(name, *sums[name][1:])
