# SPDX-License-Identifier: BSD-2-Clause
"""What the pools of an MPS log hold, by the text of the MPS's own tool.

    telreplay_mps.py NAME...    compares NAME.json, of telreplay --dry-run, with
                                NAME.cnv; NAME starts with the release
"""

import json
import sys


def operations(lines, new):
    """Allocations and frees in order of time: (clock, name, numbers)."""
    names = {0x2a: "alloc", 0x2c: "free", 0x2b: "end"} if new else \
        {0x17: "alloc", 0x18: "free", 0x16: "end"}
    found = []
    for line in lines:
        words = line.split()
        name = names.get(int(words[1], 16))
        if name:
            found.append((int(words[0], 16), name,
                          [int(word, 16) for word in words[2:]]))
    found.sort(key=lambda one: one[0])
    return found


def compare(log):
    with open(log + ".json", encoding="ascii") as file:
        trace = [row for row in map(json.loads, file)
                 if row["type"] == "trace"][0]
    # 1.118 gave new codes
    new = int(log.split(".")[1]) >= 118
    live, now, parts, found = {}, 0, 0, dict(
        requests=0, requested_bytes=0, largest_bytes=0, peak_bytes=0,
        peak_blocks=0)
    with open(log + ".cnv", encoding="ascii") as file:
        found_operations = operations(file, new)
    for _, name, numbers in found_operations:
        if name == "end":
            for address, (size, pool) in list(live.items()):
                if pool == numbers[0]:
                    now -= size
                    del live[address]
            continue
        pool, address, size = numbers
        if name == "alloc":
            assert address not in live, hex(address)
            live[address] = size, pool
            now += size
            found["requests"] += 1
            found["requested_bytes"] += size
            found["largest_bytes"] = max(found["largest_bytes"], size)
            found["peak_bytes"] = max(found["peak_bytes"], now)
            found["peak_blocks"] = max(found["peak_blocks"], len(live))
            continue
        now -= size
        if address in live:
            whole, owner = live.pop(address)
            if size < whole:
                live[address + size] = whole - size, owner
                parts += 1
        else:
            start = [at for at, (whole, _) in live.items()
                     if at + whole == address + size][0]
            live[start] = live[start][0] - size, live[start][1]
            parts += 1
    found["live_bytes"] = now
    found["live_blocks"] = len(live)
    for name, value in found.items():
        assert trace[name] == value, (log, name, trace[name], value)
    assert trace["partial_frees"] == parts, (log, trace["partial_frees"], parts)


for each in sys.argv[1:]:
    compare(each)
