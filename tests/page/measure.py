#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Measures a page in a browser of 1,920 by 1,080 pixels:

    measure.py PAGE

Prints the CPU time until it is ready, the median time of a frame while the
view moves and zooms, and the memory of the renderer, one "name value" a line:
seconds, milliseconds, megabytes.
"""

import os
import statistics
import sys

import browser

FRAMES = 120


def renderers(pid):
    """The resident megabytes of each process below one that renders pages."""
    parents, sizes = {}, {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/status", encoding="utf-8") as file:
                fields = dict(line.split(":", 1) for line in file)
            with open(f"/proc/{name}/cmdline", "rb") as file:
                command = file.read()
        except (OSError, ValueError):
            continue
        parents[int(name)] = int(fields["PPid"])
        if b"--type=renderer" in command and "VmRSS" in fields:
            sizes[int(name)] = int(fields["VmRSS"].split()[0]) / 1024

    def below(child):
        while child and child != pid:
            child = parents.get(child)
        return child == pid

    return [size for child, size in sizes.items() if below(child)]


def main():
    with browser.Browser((1920, 1080)) as chromium:
        page = chromium.page()
        page.size(1920, 1080)
        page.open(sys.argv[1])
        ready = page.metrics()["TaskDuration"]
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
        print(f"memory {max(renderers(chromium.process.pid)):.0f}")


if __name__ == "__main__":
    main()
