# SPDX-License-Identifier: BSD-2-Clause
"""Compares what two programs did with an MPS, by its telemetry of both.

Usage: telreplay_mps_pools.py text-of-original text-of-replay [events ...]

Arenas and all pools must be equal: class, grain size, number of system pools,
serial number.  Of the pools that the program created itself, the given events
must be equal: their sizes and pools, in this order.  A size in a pool of MFS is
the size of its units, to which a replay rounds it up.
"""
import re
import sys

# what the plug-in has instead of other classes
INSTEAD = {"LOPool": "AMCZPool", "AWLPool": "AMCPool"}


def read(name):
    found = {"arenas": [], "pools": [], "ArenaAlloc": [], "PoolAlloc": []}
    arenas, pools, units = {}, {}, {}
    for line in open(name):
        match = re.match(r"\S+ (\w+) (.*)", line)
        if not match:
            continue
        event = match[1]
        fields = dict(re.findall(r"(\w+)=(\S+)", match[2]))
        label = {k: v.split('"')[1] if '"' in v else v
                 for k, v in fields.items()}
        pool = fields.get("pool", "").split("[")[0]
        if event.startswith("ArenaCreate"):
            found["arenas"].append((label["arenaClass"], label["grainSize"],
                                    label["systemPools"]))
            arenas[fields["arena"]]["system"] = int(fields["systemPools"])
        elif event == "PoolInitMFS":
            units[pool] = int(fields["unitSize"])
        elif event == "PoolInit":
            serial = int(fields["serial"])
            if serial == 0:
                arenas[fields["arena"]] = {"pools": 0, "system": 4}
            arena = arenas[fields["arena"]]
            # a part of another pool is complete before that
            own = arena["system"] <= serial <= arena["pools"]
            arena["pools"] += 1
            kind = label["poolClass"]
            found["pools"].append((INSTEAD.get(kind, kind), serial))
            if kind != "MFSPool":
                units.pop(pool, None)
            pools[pool] = serial if own else None
        elif event in found and pools.get(pool) is not None:
            size = int(fields["size"])
            if event == "PoolAlloc":
                size = max(size, units.get(pool, 0))
            found[event].append((size, pools[pool]))
    return found


one, two = read(sys.argv[1]), read(sys.argv[2])
for what in ["arenas", "pools"] + sys.argv[3:]:
    assert one[what], f"{what}: none"
    for i, pair in enumerate(zip(one[what], two[what])):
        assert pair[0] == pair[1], f"{what} {i}: {pair}"
    assert len(one[what]) == len(two[what]), \
        f"{what}: {len(one[what])} and {len(two[what])}"
