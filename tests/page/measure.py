#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Measures a page in a browser of 1,920 by 1,080 pixels:

    measure.py PAGE

Prints the CPU time of the page's process until it is ready, the median time of
a frame while the view moves and zooms, and the memory of the largest process
that renders, one "name value" a line: seconds, milliseconds, megabytes.
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


def main():
    with browser.Browser((1920, 1080)) as chromium:
        page = chromium.page()
        page.size(1920, 1080)
        page.open(sys.argv[1])
        # other tabs, which the browser opens by itself, do not count
        ready = page.metrics()["ProcessTime"]
        page.run("""(async () => {
            const { head, setView, frameTimes } = teltools;
            for (let i = 0; i < FRAMES; i++) {
                const size = head.span * 0.97 ** (i % 40);
                setView(i * head.span / 5000, i * head.span / 5000 + size);
                await new Promise(requestAnimationFrame);
            }
        })()""".replace("FRAMES", str(FRAMES)))
        frames = page.run("teltools.frameTimes()")[-FRAMES:]
        print(f"ready {ready:.3f}")
        print(f"frame {statistics.median(frames):.2f}")
        memory = max(renderers(chromium.process.pid))
        print(f"memory {memory:.0f}")


if __name__ == "__main__":
    main()
