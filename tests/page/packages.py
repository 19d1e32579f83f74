#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What programs of others find in pages and exports, in a browser (TAP): axe-core
in each kind of page, light and dark, wide and narrow; speedscope in traces of
"telcat -f chrome" and "-f folded".  Both are in node_modules of $TEL_NPM.
"""

import base64
import json
import os
import re
import sys

import cases
import logs
import memory
from cases import expect, near
from figures import command

MODULES = os.path.join(os.environ.get(
    "TEL_NPM", os.path.join(cases.BUILD, "npm")), "node_modules")
WIDTHS = ((1440, 900), (800, 900), (390, 844))


def write(path, *words):
    with open(path, "wb") as out:
        out.write(command(*words))
    return path


def violations(page):
    """What axe-core has against the page: its rules, and where."""
    with open(os.path.join(MODULES, "axe-core", "axe.min.js"),
              encoding="utf-8") as file:
        page.run(file.read() + ";0")
    return page.run("""axe.run({ resultTypes: ["violations"] }).then((r) =>
        r.violations.flatMap((v) => v.nodes.slice(0, 3).map((n) => `${v.id}: ${
            n.target} ${n.any.map((a) => a.message)}`)))""")


def accessible(kind, make):
    def check(c):
        page = c.page
        page.open(make(c))
        page.run("teltools.settled?.()")
        bad = {}
        for width, height in WIDTHS:
            page.size(width, height)
            for theme in ("light", "dark"):
                page.emulate(prefers_color_scheme=theme)
                tabs = page.run("""[...document.querySelectorAll(
                    "#tabs [role=tab]")].map((t) => t.textContent)""")
                # what a tab has is the same in each width
                for i in range(len(tabs) if (width, theme) == (1440, "light")
                               else 1):
                    page.run("document.querySelectorAll('#tabs [role=tab]')"
                             f"[{i}].click()")
                    page.run("teltools.settled?.()")
                    if (width == 1440) == (theme == "light"):
                        for v in violations(page):
                            bad.setdefault(v, f"{tabs[i]} {width} {theme}")
                    if i == 0:
                        c.screenshot(f"{kind}-{width}-{theme}")
        page.size(*WIDTHS[0])
        page.emulate(prefers_color_scheme="light")
        expect([f"{where}: {v}" for v, where in bad.items()], [])

    check.__name__ = f"accessible_{kind}"
    check.__doc__ = f"axe-core finds nothing in the page of {kind}"
    return check


def page_of(name, *words):
    return lambda c: write(c.path(f"{name}.html"), *words,
                           *getattr(logs, name)(c.folder))


def memory_page(c):
    return write(c.path("memory.html"), "telcat", "-q", "-f", "html",
                 memory.calls(c.path("calls.text")))


# ------------------------------------------------------------ speedscope

def sandwich(page, path):
    """Rows of the functions that speedscope finds.

    A key that is pressed before it listens is lost: it is asked again.
    """
    for _ in range(3):
        try:
            return functions_of(page, path)
        except (RuntimeError, TimeoutError) as error:
            failure = error
    raise failure


def functions_of(page, path):
    with open(path, "rb") as file:
        data = base64.b64encode(file.read()).decode()
    script = path + ".js"
    with open(script, "w", encoding="utf-8") as file:
        file.write("speedscope.loadFileFromBase64("
                   f"{json.dumps(os.path.basename(path))}, '{data}')")
    page.leave()
    page.call("Page.navigate", url="file://" + os.path.join(
        MODULES, "speedscope", "dist", "release", "index.html")
        + "#localProfilePath=" + script)
    # the functions of the profile that is shown; several have a list of them
    page.wait("document.body?.textContent.includes('Sandwich')")
    page.key("3", code="Digit3", windowsVirtualKeyCode=51)
    page.wait("[...document.querySelectorAll('th, td')].some((c) =>"
              " c.textContent.includes('Symbol Name'))")
    # the rows come after the head, and are there when no more of them come
    page.wait("""(() => {
        const n = document.querySelectorAll('table tr').length;
        const before = window.rowsBefore;
        window.rowsBefore = n;
        return n > 2 && n === before;
    })()""")
    rows = page.run("[...document.querySelectorAll('table tr')].map((r) =>"
                    " [...r.cells].map((c) => c.textContent.trim()))")
    page.leave()
    page.browser.events = []
    return rows


UNITS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}


def time_of(text):
    number, unit = re.match(r"([\d.]+)(\D+)", text.split(" ")[0]).groups()
    return float(number) * UNITS[unit]


def speedscope_chrome(c):
    """speedscope nests the ranges of a trace of -f chrome by their names"""
    made = logs.mps_weak(c.folder)
    path = write(c.path("ranges.json"), "telcat", "-q", "-f", "chrome", *made)
    rows = sandwich(c.page, path)
    profiles = {row[1].split(", ")[-1].split(" (")[0]: time_of(row[2])
                for row in rows if len(row) == 3 and row[0].isdigit()}
    [trace] = [o["sum"] for o in map(json.loads, command(
        "telstat", "-q", "-f", "json", "-s", "d=sum(duration)", "-w",
        'name == "TraceDestroy"', *made).splitlines()) if o["type"] == "sum"]
    near(profiles["Trace"], trace)
    # no poll is inside another one: each has its own time, and all is theirs
    total, own, name = rows[-1]
    assert name.startswith("ArenaPoll"), rows
    expect(total, own)
    with open(path, encoding="utf-8") as file:
        trace = json.load(file)
    begins, spent = {}, 0
    for e in trace["traceEvents"] if isinstance(trace, dict) else trace:
        if e.get("name") == "ArenaPoll" and e["ph"] in "BE":
            spent += e["ts"] * (1 if e["ph"] == "E" else -1)
            begins[e["ph"]] = begins.get(e["ph"], 0) + 1
    expect(begins["B"], begins["E"])
    near(time_of(total), spent * 1e3)


def speedscope_folded(c):
    """speedscope has the bytes of the functions of -f folded"""
    log = memory.calls(c.path("calls.text"))
    path = write(c.path("calls.folded"), "telcat", "-q", "-f", "folded", log)
    want = memory.holders([log], "allocated")
    got = {row[2].removeprefix("program:(").removesuffix(")"):
           int(row[0].split(" ")[0].replace(",", ""))
           for row in sandwich(c.page, path) if row[0][:1].isdigit()}
    # the table has as many rows as are in view
    assert len(got) > 5, got
    for name, v in got.items():
        expect(v, {re.sub(r"program:\(|\)$", "", k): n
                   for k, n in want.items()}[name], name)


TESTS = [
    accessible("memory", memory_page),
    accessible("collector", page_of("mps_weak", "telcat", "-q", "-f", "html")),
    accessible("allocations", page_of("allocations", "telcat", "-q", "-f",
                                      "html")),
    accessible("processors", page_of("processors", "telcat", "-q", "-f",
                                     "html")),
    accessible("report", page_of("mps_weak", "telstat", "-q", "-f", "html",
                                 "-s", "s=log2(size)", "-g", "name")),
    speedscope_chrome, speedscope_folded,
]

if __name__ == "__main__":
    names = sys.argv[2:]
    os.makedirs(sys.argv[1], exist_ok=True)
    sys.exit(cases.run([f for f in TESTS if not names or f.__name__ in names],
                       sys.argv[1], WIDTHS[0]))
