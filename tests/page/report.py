#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Tests of the pages of "-f html" of telstat and telreplay, in a browser (TAP).

What the charts, the tables and the flame graph show is compared with what
"-f json" says.  Screenshots of each tab, light and dark, are kept in the folder
of the argument.
"""

import base64
import collections
import json
import os
import re
import sys

import cases
import logs
from cases import command, expect

SIZES = "sizes=log2(size)"


def both(folder, *words):
    """The page of a command, and the objects that it prints as JSON."""
    path = os.path.join(folder, "page.html")
    with open(path, "wb") as out:
        out.write(command(*words, "-f", "html"))
    text = command(*words, "-f", "json")
    return path, [json.loads(line) for line in text.splitlines()]


def of_type(rows, *types):
    return [row for row in rows if row["type"] in types]


def show(page, tab):
    """The charts of a tab, by title."""
    page.run(f"teltools.tab({json.dumps(tab)}).then(() => 1)")
    return {c["title"]: c for c in page.run("teltools.drawn()")}


def rows_of_table(page, caption):
    """The cells of the table whose caption starts so."""
    return page.run(f"""[...document.querySelectorAll("#panel table")]
        .filter((t) => t.caption?.textContent.startsWith(
            {json.dumps(caption)})).flatMap((t) => [...t.tBodies[0].rows]
            .map((r) => [...r.cells].map((c) => c.textContent)))""")


def statistics(page, folder):
    """histograms, tallies and ranges, and their tables"""
    path, want = both(folder, "telstat", "--report", "-s", SIZES, "-s",
                      "now=mag(size)", "-s", "some=tally(size,8)", "-s",
                      "quart=quantiles(size)",
                      *logs.allocations(folder))
    page.open(path)
    expect(page.run("teltools.head.reports[0].sections"), want)
    expect(page.run("teltools.tabs()"),
          ["Statistics", "Overview", "Tables", "About"])
    charts = show(page, "Statistics")
    stats = {row["name"]: row for row in want if "updates" in row}
    expect(charts["sizes"]["rows"],
          [[b["lo"], b["hi"], b["count"]] for b in stats["sizes"]["buckets"]])
    expect(charts["some"]["rows"][:8],
          [[str(b["key"]), b["count"]] for b in stats["some"]["buckets"]])
    now = stats["now"]
    expect(charts["now"]["rows"][0],
          ["now", now["min"], now["max"], now["mean"], now["last"]])
    share = [row[2] for row in charts["quart: distribution"]["rows"]]
    assert share == sorted(share) and abs(share[-1] - 100) < 1e-9, share
    # a bar is drawn for each bucket
    bars = sum(b["count"] > 0 for b in stats["sizes"]["buckets"])
    assert charts["sizes"]["shapes"] > bars
    # keys work after a click on a checkbox
    page.run("(() => { const e = document.querySelector("
             "'#panel [type=checkbox]'); e.focus(); e.click(); })()")
    page.key("2")
    page.wait("document.querySelector('[aria-selected=true]').textContent"
              " === 'Overview'")
    charts = show(page, "Overview")
    expect(charts["Events by type"]["rows"],
          [[f"{row['name']} ({row['kind']})", row["events"]]
           for row in of_type(want, "event")])
    show(page, "Tables")
    rows = rows_of_table(page, "event")
    expect([row[0] for row in rows],
          [row["name"] for row in of_type(want, "event")])
    # a header sorts, the search leaves rows out
    page.run("""[...document.querySelectorAll("#panel caption")].find((c) =>
        c.textContent.startsWith("event")).parentNode
        .querySelectorAll("th button")[0].click()""")
    names = [row[0] for row in rows_of_table(page, "event")]
    expect(names, sorted(names))
    page.run("teltools.search('realloc').then(() => 1)")
    expect([row[0] for row in rows_of_table(page, "event")], ["realloc"])
    page.run("teltools.search('').then(() => 1)")


def snapshots(page, folder):
    """snapshots as a slider, and curves over time"""
    path, want = both(folder, "telstat", "-i", "500us", "-g", "kind", "-s",
                      SIZES, "-s", "now=mag(size)",
                      *logs.mps_collections(folder))
    page.open(path)
    times = list(dict.fromkeys(row["t"] for row in want))
    expect(page.run("teltools.head.reports.map((r) => r.t)"), times)
    assert len(times) > 3
    for number in (0, len(times) // 2, len(times) - 1):
        page.run(f"""(() => {{
            const e = document.getElementById("snapshot");
            e.value = {number};
            e.dispatchEvent(new Event("input"));
        }})()""")
        charts = show(page, "Statistics")
        for row in of_type(want, "log2"):
            if row["t"] == times[number]:
                title = f"sizes{{kind={row['group']['kind']}}}"
                expect(charts[title]["rows"], [[b["lo"], b["hi"], b["count"]]
                                              for b in row["buckets"]])
    charts = show(page, "Over time")
    points = collections.defaultdict(list)
    for name, time, value in charts["now"]["rows"]:
        points[name].append((time, value))
    for name, line in points.items():
        kind = name.removesuffix(": last").removeprefix("kind=")
        expect([p for p in line if p[1] is not None],
              [(row["t"], row["last"]) for row in of_type(want, "mag")
               if row["group"]["kind"] == kind])
    page.key("[")
    expect(page.run("document.getElementById('snapshot').value"),
          str(len(times) - 2))
    # keys work while the slider has the focus, and a reload keeps the tab
    page.run("document.getElementById('snapshot').focus()")
    page.key("2")
    chosen = "document.querySelector('[aria-selected=true]').textContent"
    page.wait(f"{chosen} === 'Overview'")
    page.open(path)
    expect(page.run(chosen), "Overview")


def shell(page, folder):
    """keys, themes, names for screen readers, and no request"""
    path, want = both(folder, "telstat", "-i", "500us", "-s", "now=mag(size)",
                      *logs.mps_collections(folder))
    page.open(path)
    names = page.run("teltools.tabs()")
    chosen = "document.querySelector('[role=tab][aria-selected=true]')"
    for number, name in enumerate(names, 1):
        page.key(str(number))
        page.wait(f"{chosen}.textContent === {json.dumps(name)}")
        missing = {"tablist", "tabpanel", "status", "search", "searchbox",
                   "slider"} - cases.roles(page)
        expect(missing, set(), name)
    page.key("?")
    expect(page.run("""[...document.querySelectorAll("#dialog tr")].filter(
        (r) => r.checkVisibility()).map((r) => r.innerText).join("\\n")
        .match(/Zoom in|snapshot|Search/g)"""), ["snapshot", "Search"])
    page.run("document.getElementById('dialog').close()")
    # back to that of the system, as the pages of other tests remember it
    for theme in ("light", "dark", ""):
        page.run("document.querySelector('button[data-key=t]').click()")
        expect(page.run("document.documentElement.dataset.theme"), theme)
    assert {e["request"]["url"].split(":")[0] for e in
            page.seen("Network.requestWillBeSent")} <= {"file", "blob"}
    assert want


def stacks(page, folder):
    """the flame graph of stacks"""
    log = logs.unpack("alloc/gcc.heaptrack.zst", folder)
    path, want = both(folder, "telstat", "--stacks=allocated", *log)
    page.open(path)
    show(page, "Flame graph")
    page.run("""(() => {
        const e = document.getElementById("weight");
        e.value = "allocated_bytes";
        e.dispatchEvent(new Event("change"));
    })()""")
    page.wait("teltools.frames()[0].value === "
              f"{sum(s['allocated_bytes'] for s in of_type(want, 'stack'))}")
    total = page.run("teltools.frames()[0]")
    sums = collections.Counter()
    for row in of_type(want, "stack"):
        frames = row["stack"].split(";")
        for depth in range(len(frames)):
            sums[tuple(frames[:depth + 1])] += row["allocated_bytes"]
    wide = sorted(n for n in sums.values()
                  if total["width"] * n / total["value"] >= 1)
    got = sorted(f["value"] for f in page.run("teltools.frames()")
                 if f["depth"] > 0 and f["width"] >= 1)
    expect(got, wide)
    first = max((n, s) for s, n in sums.items() if len(s) == 1)[1][0]
    page.run(f"teltools.zoom({json.dumps(first)})")
    frame = next(f for f in page.run("teltools.frames()")
                 if f["depth"] == 1)
    expect((frame["name"], frame["width"]), (first, total["width"]))
    page.run("document.getElementById('flame').focus()")
    page.key("Escape")
    page.key("ArrowDown")
    assert page.run("document.getElementById('status').textContent") \
        .startswith(f"{first}: ")
    page.run(f"teltools.search({json.dumps(first)}).then(() => 1)")
    share = 100 * sums[(first,)] / total["value"]
    expect(page.run("document.getElementById('hits').textContent"),
          f"{share:.1f} % found")
    assert page.run("document.querySelectorAll('.frame.found').length") > 0
    page.run("teltools.search('').then(() => 1)")


def samples(page, folder):
    """the flame graph of samples, by weight and by their number"""
    path, want = both(folder, "telstat", "--stacks", "-e", "cpu_clock",
                      *logs.unpack("ftrace/chains.perf.zst", folder))
    page.open(path)
    show(page, "Flame graph")
    expect(page.run("""[...document.getElementById("weight").options]
        .map((o) => o.value)"""), ["weight", "samples"])
    expect(page.run("teltools.frames()[0].value"),
           sum(s["weight"] for s in of_type(want, "stack")))
    assert len(page.run("teltools.frames()")) > 10


def difference(page, folder):
    """two logs: before, after, change, significance, unit"""
    path, want = both(folder, "telstat", "diff", "--report", "-s", SIZES,
                      *logs.allocations(folder),
                      *logs.unpack("alloc/perl.mtrace.zst", folder))
    page.open(path)
    charts = show(page, "Difference")
    events = [row for row in want if row["name"] == "events"]
    assert any(row["name"] == "memory" for row in want), want
    expect(charts["Events before and after"]["rows"],
          [[row["figure"], row["before"], row["after"]] for row in events])
    rows = [row for name in dict.fromkeys(
        row["name"] for row in want) for row in rows_of_table(page, name)]
    # a table of rows without marks, or without units, has no column of them
    expect([(row[0], "".join(row[4:])) for row in rows],
          [(row["figure"], row.get("significance", "") + row.get("unit", ""))
           for row in want])


def replay(page, folder):
    """allocators side by side"""
    path = os.path.join(folder, "page.html")
    with open(path, "wb") as out:
        out.write(command("telreplay", "-q", "--runs", "1", "-a", "bump,null",
                           "-f", "html", *logs.allocations(folder)))
    page.open(path)
    want = page.run("teltools.head.reports[0].sections")
    charts = show(page, "Allocators")
    for title, kind, key in (
            ("Time of an operation", "cost", "ns"),
            ("Peak of the resident memory", "memory", "peak_bytes")):
        expect(charts[title]["rows"], [[row["allocator"], row[key]]
                                      for row in of_type(want, kind)])
    header = page.run("""[...document.querySelectorAll("#panel th")]
        .slice(0, 3).map((e) => e.textContent)""")
    expect(header, ["", "bump", "null"])
    ratio, = of_type(want, "ratio")
    expect([[row[0], row[1], row[2], row[-1]]
            for row in rows_of_table(page, "ratios")],
           [["null", "bump", key.replace("_", " "), "not known"]
            for key in ratio if key + "_p" in ratio])
    charts = show(page, "Memory")
    line = [row[1:] for row in
            charts["Resident memory of each allocator"]["rows"]
            if row[0] == "bump"]
    expect(line, [[0, 0]] + [[row["time_ns"], row["resident_bytes"]]
                            for row in of_type(want, "sample")
                            if row["allocator"] == "bump"])
    # and beside it what the program has live, in the time of the first
    line = [row[1:] for row in
            charts["Resident memory of each allocator"]["rows"]
            if row[0].startswith("live blocks")]
    live = [row["run_live_bytes"] for row in of_type(want, "sample")
            if row["allocator"] == "bump"]
    assert max(live) > 0
    expect([value for _, value in line], [0] + live)
    times = charts["Median time to allocate by size of block"]["rows"]
    expect([row[:2] for row in times if row[1] is not None],
           [[row["item"], row["allocation_ns"]]
            for row in of_type(want, "size_time")
            if row["allocator"] == "bump" and "allocation_ns" in row])


def options(page, folder):
    """--raw, --density, --zeros and --log"""
    seen = []
    for words in [], ["--raw", "--density", "--zeros", "--log"]:
        path, want = both(folder, "telstat", "--report", *words, "-s",
                          "h=hist(size,0,4k,16)", *logs.mps_weak(folder))
        page.open(path)
        charts = show(page, "Statistics")
        stat = next(row for row in want if row.get("name") == "h")
        expect(charts["h"]["rows"],
               [[b["lo"], b["hi"], b["count"]] for b in stat["buckets"]])
        picture = page.run("teltools.svg(teltools.drawn().findIndex("
                           "(c) => c.title === 'h'))")
        cells = rows_of_table(page, "h")
        show(page, "Tables")
        cells += rows_of_table(page, "event")
        seen.append([any(row[2] == 0 for row in charts["h"]["rows"]),
                     "weight / width" in picture, ", logarithmic" in picture,
                     not any("," in cell for row in cells for cell in row)])
    expect(seen, [[False] * 4, [True] * 4])


def large_numbers(page, folder):
    """a histogram of numbers that doubles hardly tell apart"""
    log = os.path.join(folder, "large.text")
    first = 0x5600000000000000
    with open(log, "w", encoding="utf-8") as out:
        out.write("# teltools text 1\n# type: a 1 K x:unsigned\n")
        out.writelines(f"{i + 1:016X} a x={first + 8 * i}\n"
                       for i in range(64))
    path, _ = both(folder, "telstat", "-s",
                   f"h=hist(x,{first},{first + 512},32)", log)
    page.open(path)
    rows = show(page, "Statistics")["h"]["rows"]
    expect([row[2] for row in rows], [4] * 16)


def hostile(page, folder):
    """markup in a log is text"""
    log = os.path.join(folder, "<img src=x onerror=alert(1)>")
    name = "</script><img/src=x/onerror=document.title=1>:[0x1]"
    with open(log, "w", encoding="utf-8") as out:
        out.write(f"= Start\n@ {name} + 0x100 0x10\n= End\n")
    path, _ = both(folder, "telstat", "--stacks", log)
    page.open(path)
    show(page, "Flame graph")
    assert any(f["name"] == name for f in page.run("teltools.frames()"))
    for tab in page.run("teltools.tabs()"):
        show(page, tab)
        expect(page.run("document.querySelectorAll('img').length"), 0)
    title = page.run("document.title")
    expect(title, "telstat: <img src=x onerror=alert(1)>")


def many(page, folder):
    """a chart of many types says how many more there are"""
    path, want = both(folder, "telstat", *logs.mps_weak(folder))
    page.open(path)
    show(page, "Overview")
    types = sum(row["type"] == "event" for row in want)
    expect(page.run("document.querySelector('figcaption span').textContent"),
           f"{types - 40} more in the table")


def sums_and_paper(page, folder):
    """a sum is drawn as itself; paper has all rows of a tab"""
    path, want = both(folder, "telstat", "--report", "-s", "a=sum(size)",
                      "-g", "size", "-s", "b=count()",
                      *logs.allocations(folder))
    page.open(path)
    chart = show(page, "Statistics")["a"]
    sums = [row for row in want if row.get("name") == "a"]
    shown = {row[0]: row[1:] for row in chart["rows"]}
    for row in sums[:40]:
        expect(shown[f"size={row['group']['size']}"],
               [0, row["sum"], row["sum"]], row)
    show(page, "Tables")
    # A4 has some 50 rows
    rows = page.run("document.querySelectorAll('#panel tr').length")
    pdf = base64.b64decode(page.call("Page.printToPDF")["data"])
    sheets = len(re.findall(rb"/Type\s*/Page\b", pdf))
    assert sheets > rows / 80, (sheets, rows)


TESTS = [statistics, snapshots, shell, stacks, samples, difference, replay,
         options, large_numbers, hostile, many, sums_and_paper]


def case(test):
    """A test, and then each tab, light and dark, and each chart as a file."""
    def check(c):
        page = c.page
        page.emulate(prefers_color_scheme="light")
        test(page, c.folder)
        for theme in ("light", "dark"):
            page.emulate(prefers_color_scheme=theme)
            for tab in page.run("teltools.tabs()"):
                charts = show(page, tab)
                c.screenshot(f"report-{test.__name__}-{tab}-{theme}"
                             .replace(" ", "-"))
                for i in range(len(charts)):
                    assert page.run(f"""new DOMParser().parseFromString(
                        teltools.svg({i}), "image/svg+xml")
                        .querySelector("parsererror") === null""")

    check.__name__, check.__doc__ = test.__name__, test.__doc__
    return check


if __name__ == "__main__":
    sys.exit(cases.run([case(test) for test in TESTS], sys.argv[1],
                       (1400, 900)))
