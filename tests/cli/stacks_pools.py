# SPDX-License-Identifier: BSD-2-Clause
"""Adds up the allocations of an MPS log by pool, as "telcat -f folded" does:
reads its output of "-S -f json", and prints "CLASS;POOL BYTES".

stacks_pools.py WEIGHT: allocated, peak, leaked or count
"""

import json
import sys


def main():
    """Everything."""
    weight = sys.argv[1]
    classes, blocks, live, allocated, count = {}, {}, {}, {}, {}
    peak, most = {}, 0

    def end(address):
        name, size, _ = blocks.pop(address)
        live[name] -= size

    for event in map(json.loads, sys.stdin):
        name, fields = event["type"], event["fields"]
        labels = event.get("labels", {})
        pool = fields.get("pool")
        if name.startswith("PoolInit"):
            if "poolClass" in labels:
                classes[pool] = labels["poolClass"]
            elif name != "PoolInit":
                classes.setdefault(pool, name[len("PoolInit"):])
        elif name == "PoolAlloc":
            at, size = fields["pReturn"], int(fields["size"])
            stack = labels.get("pool", "pool " + pool)
            if pool in classes:
                stack = classes[pool] + ";" + stack
            if at in blocks:
                end(at)
            blocks[at] = stack, size, pool
            live[stack] = live.get(stack, 0) + size
            allocated[stack] = allocated.get(stack, 0) + size
            count[stack] = count.get(stack, 0) + 1
            if sum(live.values()) > most:
                most, peak = sum(live.values()), dict(live)
        elif name == "PoolFree":
            if fields["old"] in blocks:
                end(fields["old"])
        elif name == "PoolFinish":
            classes.pop(pool, None)
            for at in [a for a, b in blocks.items() if b[2] == pool]:
                end(at)
    sums = {"allocated": allocated, "peak": peak, "leaked": live,
            "count": count}[weight]
    for stack in sorted(sums, key=str.encode):
        if sums[stack] > 0:
            print(stack, sums[stack])


if __name__ == "__main__":
    main()
