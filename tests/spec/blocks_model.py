# SPDX-License-Identifier: BSD-2-Clause
"""Writes a random log of allocations of several threads to FILE, and what
telstat must say of it by size class and by thread to standard output."""

import json
import random
import sys

SEED, FILE = int(sys.argv[1]), sys.argv[2]
random.seed(SEED)
HEAD = """# format: toy
# tick rate: 1000000000
# type: malloc 1 M addr:address size:unsigned tid:unsigned
# role: malloc alloc addr size thread=tid
# type: calloc 2 M addr:address n:unsigned size:unsigned tid:unsigned
# role: calloc alloc addr size count=n thread=tid
# type: realloc 3 M old:address addr:address size:unsigned tid:unsigned
# role: realloc realloc addr size old=old thread=tid
# type: free 4 M addr:address tid:unsigned
# role: free free addr thread=tid
"""


class Sums:
    def __init__(self):
        self.rows = {}
        self.live, self.most, self.peak, self.at = 0, 0, {}, 0
        self.all = []

    def row(self, key):
        return self.rows.setdefault(key, {
            "allocations": 0, "allocated_bytes": 0, "leaked_blocks": 0,
            "leaked_bytes": 0, "freed": 0, "temporary": 0, "lives": []})

    def allocate(self, key, size, clock):
        r = self.row(key)
        r["allocations"] += 1
        r["allocated_bytes"] += size
        r["leaked_blocks"] += 1
        r["leaked_bytes"] += size
        self.live += size
        if self.live > self.most:
            self.most, self.at = self.live, clock
            self.peak = {k: (v["leaked_blocks"], v["leaked_bytes"])
                         for k, v in self.rows.items()}

    def free(self, key, size, age, temporary):
        r = self.row(key)
        r["leaked_blocks"] -= 1
        r["leaked_bytes"] -= size
        r["freed"] += 1
        r["temporary"] += temporary
        r["lives"].append(age)
        self.all.append(age)
        self.live -= size


sums = {"size": Sums(), "tid": Sums()}
blocks, last, lines, unknown = {}, {}, [], 0
clock, heap = 1000, 0x10000
for _ in range(4000):
    clock += random.choice((1, 10, 1000, 50000))
    tid = random.randrange(5)
    kind = random.choice(("malloc", "calloc", "realloc", "free", "free", "free"))
    size = random.choice((8, 24, 24, 100, 4096))

    def end(address, temporary):
        keys, n, start, owner = blocks.pop(address)
        temporary = temporary and last.get(owner) == address
        if last.get(owner) == address:
            del last[owner]
        for by, s in sums.items():
            s.free(keys[by], n, clock - start, temporary)

    def begin(address, n):
        keys = {"size": size, "tid": tid}
        blocks[address] = keys, n, clock, tid
        last[tid] = address
        for by, s in sums.items():
            s.allocate(keys[by], n, clock)

    heap += 0x1000
    if kind == "malloc":
        lines.append(f"malloc addr={heap:#x} size={size} tid={tid}")
        begin(heap, size)
    elif kind == "calloc":
        lines.append(f"calloc addr={heap:#x} n=3 size={size} tid={tid}")
        begin(heap, 3 * size)
    elif kind == "realloc" and blocks:
        old = random.choice(list(blocks))
        new = old if random.random() < 0.3 else heap
        lines.append(f"realloc old={old:#x} addr={new:#x} size={size} tid={tid}")
        end(old, False)
        begin(new, size)
    elif kind == "free" and blocks and random.random() < 0.98:
        address = random.choice(list(blocks)[-3:])
        lines.append(f"free addr={address:#x} tid={tid}")
        end(address, True)
    else:
        unknown += 1
        lines.append(f"free addr=0x7 tid={tid}")
    lines[-1] = f"{clock:016X} {lines[-1]}"
with open(FILE, "w", encoding="ascii") as out:
    out.write(HEAD + "\n".join(lines) + "\n")

first = int(lines[0][:16], 16)
out = {"unknown": unknown, "end": clock, "live": {
    a: [b[0]["size"], b[1], clock - b[2]] for a, b in blocks.items()}}
for by, s in sums.items():
    for key, r in s.rows.items():
        r["peak_blocks"], r["peak_bytes"] = s.peak.get(key, (0, 0))
    out[by] = s.rows
s.all.sort()
out["memory"] = {
    "peak_bytes": s.most, "peak_ns": s.at - first, "threads": len(s.rows),
    "peak_blocks": sum(r["peak_blocks"] for r in s.rows.values()),
    "temporary_blocks": sum(r["temporary"] for r in s.rows.values()),
    "lives": s.all}
json.dump(out, sys.stdout)
