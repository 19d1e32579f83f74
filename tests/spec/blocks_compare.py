# SPDX-License-Identifier: BSD-2-Clause
"""Compares a report of telstat in JSON, standard input, with the MODEL, by the
key BY, or of all blocks: memory; AGE: blocks younger than that are not leaked."""

import json
import sys

by, age = sys.argv[2], int(sys.argv[3])
with open(sys.argv[1], encoding="ascii") as f:
    model = json.load(f)
rows = [json.loads(line) for line in sys.stdin]


def lived(got, lives, names):
    for name, share in names.items():
        want = lives[max(-(-len(lives) * share // 100), 1) - 1]
        # at most a sixteenth too long
        assert want <= got[name] <= want + want // 16 + 1, (name, got, want)


if by == "memory":
    got, = [r for r in rows if r["type"] == "memory"]
    want = model["memory"]
    for name in ("peak_bytes", "peak_blocks", "peak_ns", "temporary_blocks",
                 "threads"):
        assert got[name] == want[name], (name, got[name], want[name])
    lived(got, want["lives"], {"lifetime_p50": 50, "lifetime_p90": 90,
                               "lifetime_p99": 99, "lifetime_max": 100})
    totals, = [r for r in rows if r["type"] == "totals"]
    assert totals["freed_unknown_blocks"] == model["unknown"]
    sys.exit()

got = {r["key"]: r for r in rows if r["type"] == "key"}
assert got.keys() == model[by].keys(), (got.keys(), model[by].keys())
for key, want in model[by].items():
    if age:
        young = [b for b in model["live"].values()
                 if by == "size" and str(b[0]) == key and b[2] < age]
        want["leaked_blocks"] -= len(young)
        want["leaked_bytes"] -= sum(b[1] for b in young)
    for name, value in want.items():
        if name != "lives":
            assert got[key][name] == value, (key, name, got[key][name], value)
    if want["lives"]:
        want["lives"].sort()
        lived(got[key], want["lives"], {
            "lifetime_min": 0, "lifetime_0.5": 50, "lifetime_0.9": 90,
            "lifetime_max": 100})
# the order is that of the weight
allocated = [r["allocated_bytes"] for r in got.values()]
assert allocated == sorted(allocated, reverse=True)
