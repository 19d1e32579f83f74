#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Measures a page in a browser of 1,920 by 1,080 pixels:

    measure.py PAGE

Prints the CPU time of the page's process until it is ready, the CPU time of a
frame while the view moves and zooms, the median and what 95 % stay below, that
of one while a selection grows, and the memory of the largest process that
renders, one "name value" a line: seconds, milliseconds, megabytes.
"""

import os
import statistics
import sys

import browser

FRAMES = 120


def renderers(pid):
    """Resident megabytes of each process below one that renders pages."""
    parents, found = {}, {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8") as file:
                stat = file.read().rsplit(")", 1)[1].split()
            with open(f"/proc/{name}/cmdline", "rb") as file:
                command = file.read()
        except OSError:
            continue
        parents[int(name)] = int(stat[1])
        if b"--type=renderer" in command:
            found[int(name)] = \
                int(stat[21]) * os.sysconf("SC_PAGESIZE") / 1e6

    def below(child):
        while child and child != pid:
            child = parents.get(child)
        return child == pid

    return [size for child, size in found.items() if below(child)]


MOVE = """
    const size = head.span * 0.97 ** (i % 40);
    setView(i * head.span / 5000, i * head.span / 5000 + size);"""
SELECT = "select(head.span / 9, head.span * (i + 20) / 200);"


def draw(page, change):
    """Draws frames, each after a change."""
    page.run("""(async () => {
        const { head } = teltools;
        for (let i = 0; i < FRAMES; i++) {
            CHANGE
            await new Promise(requestAnimationFrame);
        }
    })()""".replace("FRAMES", str(FRAMES)).replace("CHANGE", change))


def measure(chromium, page, change):
    """The milliseconds of CPU time of such frames."""
    chromium.call("Tracing.start", transferMode="ReportEvents", traceConfig={
        "includedCategories": ["devtools.timeline"],
        "excludedCategories": ["*"]})
    draw(page, change)
    chromium.events = []
    chromium.call("Tracing.end")
    chromium.wait_event("Tracing.tracingComplete", None)
    spent = [e.get("tdur", 0) / 1000 for message in chromium.events
             if message["method"] == "Tracing.dataCollected"
             for e in message["params"]["value"]
             if e["name"] == "FireAnimationFrame"]
    chromium.events = []
    # other pages of the browser draw next to nothing
    return [ms for ms in spent if ms > 0.3]


def main():
    with browser.Browser((1920, 1080)) as chromium:
        page = chromium.page()
        page.size(1920, 1080)
        page.open(sys.argv[1])
        # other tabs, which the browser opens by itself, do not count
        ready = page.metrics()["ProcessTime"]
        print(f"ready {ready:.3f}")
        draw(page, MOVE)
        # what measures frames takes memory, too
        memory = max(renderers(chromium.process.pid))
        print(f"memory {memory:.0f}")
        moving = measure(chromium, page, MOVE)
        print(f"frame {statistics.median(moving):.2f}")
        print(f"frame95 {statistics.quantiles(moving, n=20)[-1]:.2f}")
        selecting = measure(chromium, page, SELECT)
        print(f"select {statistics.median(selecting):.2f}")


if __name__ == "__main__":
    main()
