# SPDX-License-Identifier: BSD-2-Clause
"""Compares what the tools say is allocated with live_model.py.

    live_compare.py TOOLS LOG|KIND...

TOOLS are some of telstat,report,pools,inst,stacks,folded,telreplay,chrome,page; a KIND is words of pools,
created, malloc, wrong, several, ends and cut, for random logs, which are made here.  Prints
each difference, and fails if there is any.
"""

import json
import os
import random
import re
import subprocess
import sys

from live_model import live

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../page"))
# pylint: disable=wrong-import-position
from read_page import Page

SUMS = ("allocated_blocks", "allocated_bytes", "freed_blocks", "freed_bytes",
        "live_blocks", "live_bytes")
STACKS = {"allocations": "allocated_blocks",
          "allocated_bytes": "allocated_bytes",
          "peak_blocks": "peak_blocks", "peak_bytes": "peak_bytes",
          "leaked_blocks": "leaked_blocks", "leaked_bytes": "leaked_bytes"}
REPLAY = {"requests": "allocated_blocks", "requested_bytes": "allocated_bytes",
          "peak_bytes": "peak_bytes", "peak_bytes_blocks": "peak_blocks",
          "live_blocks": "live_blocks", "live_bytes": "live_bytes"}
FOLDED = {"allocated": "allocated_bytes", "peak": "peak_bytes",
          "leaked": "leaked_bytes", "count": "allocated_blocks"}

UNKNOWN = "frees of blocks from before the log"
POOLS = """# teltools text 1
# type: get 1 Alloc at:address size:unsigned pool:address
# type: put 2 Alloc at:address size:unsigned pool:address
# type: end 3 Alloc pool:address
# type: make 4 Alloc pool:address
# role: get alloc at size pool
# role: put free at size pool
# role: end destroy-pool - - pool
# role: make create-pool - - pool"""
MALLOC = """# teltools text 1
# type: get 1 Alloc at:address size:unsigned pid:unsigned by:address
# type: put 2 Alloc at:address pid:unsigned
# type: change 3 Alloc at:address old:address size:unsigned pid:unsigned \
by:address
# type: leave 4 Alloc pid:unsigned
# role: leave end-process process=pid
# role: get alloc at size process=pid stack=by
# role: put free at process=pid
# role: change realloc at size old=old process=pid stack=by"""


def run(*command):
    return subprocess.run(command, check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.splitlines()


def rows(*command):
    return [json.loads(line) for line in run(*command)]


def of_telstat(log):
    totals = rows("telstat", "-q", "-S", "-f", "json", log)[-1]
    found = {name: totals.get(name, 0) for name in SUMS}
    for what in ("unknown", "inherited"):
        found[what] = totals.get(f"freed_{what}_blocks", 0)
    return found


def of_report(log):
    """The rows of the report: what neither was freed nor ended is live."""
    found = {}
    for line in run("telstat", "-q", "-S", "--raw", log):
        row = re.match(r"(allocated|freed|ended) +(-?\d+) blocks +"
                       r"(-?\d+) bytes", line)
        for i, unit in enumerate(("_blocks", "_bytes") if row else ()):
            found[row[1] + unit] = int(row[2 + i])
    for unit in ("_blocks", "_bytes") if found else ():
        found["live" + unit] = found["allocated" + unit] - \
            found["freed" + unit] - found.pop("ended" + unit, 0)
    return found


def of_pools(log):
    """All pools as one value, as rows of telstat's report."""
    found = [[int(row["address"], 16)] + [row[name] for name in (
        "allocations", "allocated_bytes", "live_bytes", "peak_bytes")]
             for row in rows("telstat", "-q", "-f", "json", log)
             if row["type"] == "pool"]
    return {"pools": sorted(found)} if found else {}


def of_inst(log):
    """What a log of statistics has kept of it."""
    run("telstat", "-q", "-S", "-f", "inst", "-o", "kept.inst", log)
    return of_telstat("kept.inst")


def of_stacks(log):
    report = rows("telstat", "-q", "--stacks", "-f", "json", log)
    stacks = [row for row in report if row["type"] == "stack"]
    return {name: sum(row[field] for row in stacks)
            for field, name in STACKS.items()} if stacks else {}


def of_folded(log):
    found = {}
    for weight, name in FOLDED.items():
        lines = run("telcat", "-q", "-f", "folded", "--weight", weight, log)
        found[name] = sum(int(line.rsplit(None, 1)[1]) for line in lines)
    return found if found["allocated_blocks"] else {}


def of_telreplay(log):
    report = rows("telreplay", "-q", "--dry-run", "-f", "json", log)
    odd = {row["item"]: row["events"] for row in report
           if row["type"] in ("anomaly", "damage")}
    found = {name: row[field] for row in report if row["type"] == "trace"
             for field, name in REPLAY.items()}
    if found:
        found["unknown"] = sum(odd.get(what, 0) for what in (
            "free of an unknown address", "realloc of an unknown address"))
        found["inherited"] = odd.get(
            "free or realloc in a child of a block it inherited", 0)
    return found


def of_chrome(log):
    values, unknown = {}, 0
    for event in json.loads("\n".join(run("telcat", "-q", "-f", "chrome",
                                          log)))["traceEvents"]:
        if event["ph"] == "C" and event["name"].startswith("live bytes"):
            values.setdefault(event["name"], []).append(event["args"]["bytes"])
        if event["ph"] == "C" and event["name"] == UNKNOWN:
            unknown = event["args"]["value"]
    parts = [ends[-1] for name, ends in values.items() if name != "live bytes"]
    whole = values.get("live bytes", [])
    # what its processes or pools have is what all of a log has
    assert not parts or sum(parts) == whole[-1], (log, values)
    return {"peak_bytes": max(whole), "live_bytes": whole[-1],
            "unknown": unknown} if whole else {}


def of_page(log):
    with open("page.html", "wb") as file:
        subprocess.run(("telcat", "-q", "-f", "html", log), stdout=file, check=False)
    page = Page("page.html")
    paths = page.paths()
    curves, unknown = ([columns for s, columns in page.series()
                        if paths[s["track"]][-1] == name]
                       for name in ("live bytes", UNKNOWN))
    assert len(curves) < 2 and len(unknown) < 2, log
    return {"peak_bytes": max(curves[0]["max"]),
            "live_bytes": curves[0]["last"][-1],
            "unknown": unknown[0]["last"][-1] if unknown else 0} \
        if curves else {}


TOOLS = {"chrome": of_chrome, "page": of_page, "telstat": of_telstat, "report": of_report, "pools": of_pools,
          "inst": of_inst, "stacks": of_stacks, "folded": of_folded,
         "telreplay": of_telreplay}


def compare(tools, logs):
    differ, compared = 0, dict.fromkeys(tools, 0)
    for log in logs:
        pools = []
        want = live(run("telcat", "-q", "-S", log), pools)
        want["pools"] = sorted(pools)
        for tool in tools:
            found = TOOLS[tool](log)
            compared[tool] += len(found)
            for name in found:
                if found[name] != want[name]:
                    print(f"{log}: {name}: {tool} {found[name]}, "
                          f"model {want[name]}")
                    differ += 1
    assert all(compared.values()), compared
    return differ > 0


def make(kind, seed):
    rng, out, live_blocks, top = random.Random(seed), [], {}, 0x10000
    pools, wrong = "pools" in kind, "wrong" in kind
    for clock in range(1, 301):
        owner = rng.randrange(3) + 1 if pools or "several" in kind else 1
        mine = sorted(key for key in live_blocks if pools or key[0] == owner)
        odd, size = wrong and rng.random() < 0.1, int(2 ** (rng.random() * 12))
        top += 0x2000
        what = rng.random() if mine else 0
        key = rng.choice(mine) if mine else None
        tail = f"pool={owner << 8:#x}" if pools else f"pid={owner}"
        if "ends" in kind and (rng.random() < 0.05 or clock == 300):
            out.append(f"{clock:016X} leave {tail}")
            live_blocks = {k: v for k, v in live_blocks.items()
                           if k[0] != owner}
            continue
        by = "" if pools else f" by={0xc00 + rng.randrange(4):#x}"
        if what < 0.5:
            at = rng.choice((0, key[1] if key else 0)) if odd else top
            line = f"get at={at:#x} size={size} {tail}{by}"
            # one at the address of another pool's block replaces that, too
            live_blocks = {k: v for k, v in live_blocks.items()
                           if k[1] != at or not pools and k[0] != owner}
            live_blocks.update({(owner, at): size} if at else {})
        elif what < 0.507 and pools:
            line = f"end {tail}"
            live_blocks = {key: size for key, size in live_blocks.items()
                           if key[0] != owner}
        elif what < 0.62 and not pools:
            old = rng.choice((0, 0x999, key[1])) if odd else key[1]
            at = rng.choice((0, top)) if odd else rng.choice((key[1], top))
            line = f"change at={at:#x} old={old:#x} size={size} {tail}{by}"
            if at and old == key[1]:
                del live_blocks[key]
            live_blocks.update({(owner, at): size} if at else {})
        else:
            (owner, at), size = key, live_blocks.pop(key)
            part = rng.randrange(1, size) if pools and size > 1 and \
                rng.random() < 0.2 else 0
            front = rng.random() < 0.5
            if part:
                live_blocks[owner, at + part * front] = size - part
                at += (size - part) * (not front)
            if odd:
                at, part = rng.choice((0, 0x777)), 0
                live_blocks[key] = size
            line = f"put at={at:#x} " + (
                f"size={part or size} pool={owner << 8:#x}" if pools else tail)
        out.append(f"{clock:016X} {line}")
    if "created" in kind:
        out = [f"{0:016X} make pool={n << 8:#x}" for n in (1, 2)] + out
    with open(f"{kind}.{seed}", "w", encoding="ascii") as file:
        print(POOLS if pools else MALLOC,
              *out[len(out) // 2 if "cut" in kind else 0:], sep="\n", file=file)
    return f"{kind}.{seed}"


def main(tools, logs):
    made = []
    for log in logs:
        made += [log] if "/" in log else [make(log, seed) for seed in (1, 2, 3)]
    return compare(tools.split(","), made)


sys.exit(main(sys.argv[1], sys.argv[2:]))
