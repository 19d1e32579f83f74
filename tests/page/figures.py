#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What the pages of logs show in their cells, in a browser, compared with what
"telstat -f json" counts in the same part of the log (TAP): of the whole log, as
it is opened, and of random ranges; of pages that have all events, and of small
ones, whose counts come from sums.
"""

import glob
import json
import os
import random
import subprocess
import sys

import cases
import logs
from cases import expect, near


def unpack(*names):
    def make(folder):
        return [path for name in names for path in logs.unpack(name, folder)]
    make.__name__ = names[0].split("/")[-1].split(".zst")[0]
    make.__doc__ = f"the cells of {make.__name__}, and of ranges of it"
    return make


def others():
    """The other logs of tests/data, of one file each."""
    names = sorted(os.path.relpath(path, logs.DATA) for kind in (
        "alloc/*.zst", "ctf/*.tar.zst", "ftrace/*.zst", "jfr/*.jfr.zst")
        for path in glob.glob(os.path.join(logs.DATA, kind)))
    return [unpack(name) for name in names if name != "alloc/gcc.mtrace.zst"]


LOGS = [logs.mps_collections, logs.mps_pools, logs.mps_weak,
        logs.allocations, logs.processors, logs.classes, logs.boot, *others()]

def command(*words):
    """What a command prints, also of a log that is damaged."""
    done = subprocess.run(words, check=False, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE)
    assert done.returncode in (0, 3), words
    return done.stdout


CELLS = """(() => {
    const t = [...document.querySelectorAll("#panel table")].find((t) =>
        /^(Visible|Selected):/.test(t.caption?.textContent));
    return t ? [[...t.tHead.rows[0].cells].map((c) => c.textContent),
        ...[...t.tBodies[0].rows].map((r) => [...r.cells].map((c) =>
            c.textContent))] : [];
})()"""


def cells(page):
    """The rows of the statistics that are shown, by column."""
    page.run("teltools.settled()")
    # as long as there are more rows than are shown at once
    page.run("[...document.querySelectorAll('#panel button')].forEach((b) =>"
             " b.textContent === 'More rows' && !b.hidden && b.click())")
    rows = page.run(CELLS)
    return [dict(zip(rows[0], row)) for row in rows[1:]]


def count_of(text):
    return int(text.replace(",", ""))


def bytes_of(text):
    number, unit = (text + " ").split(" ")[:2]
    return float(number.replace(",", "")) * 1024 ** " KMGTP".index(
        (unit.strip("iB") or " ")[0])


def wanted(operands, unit, span, sized):
    """Events by name, and sums of sizes by name, in a range or all."""
    words = ["telstat", "-q", "-f", "json", *operands]
    if sized:
        words[1:1] = ["-g", "name", "-s", "sum=sum(size)"]
    if span:
        suffix = "ns" if unit == "ns" else ""
        words[1:1] = ["-t", f"{span[0]}{suffix},{span[1]}{suffix}"]
    counts, sums = {}, {}
    for line in command(*words, "--report").splitlines():
        o = json.loads(line)
        if o["type"] == "event":
            counts[o["name"]] = counts.get(o["name"], 0) + o["events"]
        elif o.get("name") == "sum" and o["updates"]:
            sums[o["group"]["name"]] = float(o["sum"])
    return counts, sums


def compare(page, operands, unit, span, what):
    sized = page.run("measured") == "size"
    counts, sums = wanted(operands, unit, span, sized)
    rows, got = cells(page), {}
    for row in rows:
        got[row["Type"]] = got.get(row["Type"], 0) + count_of(row["Count"])
    expect({k: v for k, v in got.items() if v}, counts, what)
    for row in rows:
        if sized and row["Sum"]:
            near(bytes_of(row["Sum"]), sums.get(row["Type"], 0), 1e-3)


def case(make):
    def check(c):
        rnd = random.Random(make.__name__)
        operands, page = make(c.folder), c.page
        for size in ("8M", "160k"):
            path = c.path("figures.html")
            with open(path, "wb") as out:
                out.write(command("telcat", "-q", "-f", "html", "--max-size",
                                  size, *operands))
            page.open(path)
            head = page.run("(({ unit, span, events }) => "
                            "({ unit, span, events }))(teltools.head)")
            compare(page, operands, head["unit"], None, f"{size}, all")
            for _ in range(3):
                ends = sorted(rnd.randrange(head["span"] + 1)
                              for _ in range(2))
                # the page says what range its numbers are of
                s = page.run(f"teltools.select({ends[0]}, {ends[1]}).then("
                             "({ from, to }) => [from, to])")
                assert s[0] <= ends[0] and s[1] >= ends[1], s
                compare(page, operands, head["unit"], s, f"{size}, {s}")
            page.run("teltools.select()")

    check.__name__, check.__doc__ = make.__name__, make.__doc__
    return check


if __name__ == "__main__":
    names = sys.argv[2:]
    os.makedirs(sys.argv[1], exist_ok=True)
    sys.exit(cases.run([case(make) for make in LOGS
                        if not names or make.__name__ in names],
                       sys.argv[1], (1400, 900)))
