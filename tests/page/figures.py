#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What the pages of logs show in their cells, in a browser, compared with what
"telstat -f json" counts in the same part of the log (TAP): of the whole log, as
it is opened, and of random ranges; of pages that have all events, and of small
ones, whose counts come from sums.
"""

import collections
import glob
import json
import os
import random
import re
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


def row_of(name):
    """The row of that name, in a page."""
    return ("[...document.querySelectorAll('.row')].find((r) => "
            f"r.textContent.startsWith('{name}'))")


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
    rows, got = cells(page), {}
    sized = any(row["Of"] == "size" for row in rows)
    counts, sums = wanted(operands, unit, span, sized)
    for row in rows:
        got[row["Type"]] = got.get(row["Type"], 0) + count_of(row["Count"])
    expect({k: v for k, v in got.items() if v}, counts, what)
    for row in rows:
        if row["Of"] == "size" and row["Sum"]:
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
            page.run("tab(tabList.findIndex(([name]) => name === "
                     "'Statistics')).then(() => 1)")
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


def crossing(c):
    """a selection is exact only if the page has all events that start in it"""
    page, rnd, clock, open_ = c.page, random.Random(8), 16, []
    log, path = c.path("crossing.text"), c.path("crossing.html")
    with open(log, "w", encoding="utf-8") as out:
        out.write("""\
# teltools text 1
# type: Start 0 Work key:unsigned
# type: End 12 Work key:unsigned
# role: Start start End key
# role: End finish key
""")
        for i in range(80000):
            # the first are long: the page holds none of the others apart
            clock += rnd.choice((1, 3, 40)) * (100 if i < 20000 else 1)
            name, key = "Start", i
            if rnd.random() < len(open_) / 6:
                name, key = "End", open_.pop(rnd.randrange(len(open_)))
            else:
                open_.append(i)
            out.write(f"{clock:016X} {name} key={key}\n")
    with open(path, "wb") as out:
        out.write(command("telcat", "-q", "-f", "html", "--max-size", "210k",
                          log))
    page.open(path)
    page.run("tab(tabList.findIndex(([name]) => name === 'Statistics'))"
             ".then(() => 1)")
    unit, blocks = page.run("[clock, log.blocks.filter((b) => !b.long)"
                            ".map(({ from, to }) => ({ from, to }))]")
    assert 2 < len(blocks) < 18, blocks
    good = 0
    for _ in range(300):
        b = rnd.choice(blocks)
        # most end with a block
        ends = sorted((rnd.randrange(b["from"], b["to"]), b["to"] - 1 -
                       rnd.choice((0, rnd.randrange(1 + (b["to"] - b["from"])
                                                    // 2)))))
        if good < 25 and page.run(f"isExact({ends[0]}, {ends[1]})"):
            good += 1
            expect(page.run(f"teltools.select({ends[0]}, {ends[1]}).then("
                            "({ from, to }) => [from, to])"), ends)
            compare(page, [log], unit, ends, f"{ends}")
    page.run("select()")
    expect(good, 25)


def collector(c):
    """pauses, collections and the mutator's share, as telstat has them"""
    [log], page = logs.mps_weak(c.folder), c.page
    path = c.path("collector.html")
    with open(path, "wb") as out:
        out.write(command("telcat", "-q", "-f", "html", log))
    page.open(path)
    page.run("teltools.settled()")
    rows = [json.loads(line) for line in command(
        "telstat", "-q", "-f", "json", log).splitlines()]
    pauses, = [o for o in rows if o["type"] == "pauses"]
    cycles, = [o for o in rows if o["type"] == "collections"]
    facts = page.run("[...document.querySelectorAll('#facts p')].map((p) =>"
                     " p.textContent)")
    units = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}

    def ns_of(text):
        number, unit = text.split(" ")[:2]
        return float(number) * units[re.match("[nµm]?s", unit)[0]]

    near(ns_of(facts[1]), pauses["longest_ns"], 6e-3)
    assert f"of {pauses['count']} pause" in facts[1], facts
    near(float(facts[2].split(" ")[0]), 100 - 100 * pauses["share"], 1e-3)
    assert facts[3].startswith(f"{cycles['count']} collection"), facts
    near(ns_of(facts[3].split("longest ")[1]), cycles["longest_ns"], 6e-3)
    # lists that are closed are made when they are opened
    details = "[...document.querySelectorAll('#panel details')]"
    page.run(details + ".map((d) => { d.open = true; })")
    page.wait(details + ".every((d) => d.children.length > 1)")
    shown = page.run("""[...document.querySelectorAll("#panel table")].map((t) =>
        [...t.rows].map((r) => [...r.cells].map((c) => c.textContent)))""")
    # keys and clicks select what the facts are of
    page.key("p")
    climb = page.run("selection")
    near(climb["to"], cycles["longest_time_ns"], 2e-2)
    assert 0 <= climb["from"] < climb["to"] / 2, climb
    page.run("document.querySelectorAll('#facts button')[1].click()")
    near(page.run("selection.to - selection.from"), pauses["longest_ns"], 1e-9)
    page.run("select()")
    # what the events of the collection say of it
    heads, values = shown[0]
    table = dict(zip(heads, values))
    near(ns_of(table["Length"]), cycles["total_ns"], 1e-3)
    events = {}
    for line in command("telcat", "-q", "-k", "Trace", "-f", "json",
                        log).splitlines():
        e = json.loads(line)
        events[e["type"]] = e["fields"]
    for kind, name in (("TraceStart", "condemned"),
                       ("TraceStart", "mortality"),
                       ("TraceStatFix", "forwardedSize"),
                       ("TraceStatFix", "preservedInPlaceSize"),
                       ("TraceStatReclaim", "reclaimSize"),
                       ("TraceEndGen", "mortalityTrace")):
        near(bytes_of(table.pop(f"{kind} {name}")), events[kind][name], 2e-3)
    expect(sorted(table), ["Length", "Start"])
    expect(page.run("teltools.search('code == 0x51')"), cycles["count"])
    # polls, and what the collection did when
    begun, polls, worked, times = 0, [], 0, {}
    for line in command("telcat", "-q", "-T", "ns", "-k", "Arena,Trace",
                        log).decode().splitlines():
        if line.startswith("#"):
            continue
        clock, name = int(line.split()[0]), line.split()[1]
        if name == "ArenaPollBegin":
            begun = clock
        elif name == "ArenaPollEnd":
            polls.append(clock - begun)
            worked += "workWasDone=true" in line
        times.setdefault(name, clock)
    assert facts[4].startswith(f"{len(polls)} polls{worked or 'none'} did"), \
        facts
    got = page.run("collector.polls.list.map(([, n]) => n)")
    # each is rounded on its own
    for n, want in zip(got, sorted(polls, reverse=True), strict=True):
        near(n, want, 2 / want)
    # each length is one of its power of two, of all and of a selection
    def bars():
        page.run("teltools.settled()")
        return {what: int(n) for what, n in (t.split(": ") for t in page.run(
            f"[...{row_of('Pauses')}.querySelectorAll('title')].map((t) =>"
            " t.textContent)")) if n != "0"}

    def tally(lengths):
        return collections.Counter(page.run(
            f"{json.dumps([*lengths])}.map((n) => rowName(n.toString(2).length,"
            " 'ns'))"))

    lists = page.run("Object.fromEntries(['poll', 'pause', 'collection'].map("
                     "(k) => [k, collector[k + 's'].list.map((r) => r[1])]))")
    expect(bars(), {f"{noun}, {row}": n for noun, list_ in lists.items()
                    for row, n in tally(list_).items()})
    page.run(f"select(0, {cycles['longest_time_ns'] - 1000000})")
    before = page.run("collector.polls.list.filter((r) => r[0] <= selection.to)"
                      ".map((r) => r[1])")
    assert 0 < len(before) < len(polls), before
    expect(bars(), {f"poll, {row}": n for row, n in tally(before).items()})
    page.run("select()")
    page.run("teltools.settled()")
    phases = page.run("[...document.querySelectorAll('#phases text')].map("
                      "(t) => t.textContent)")
    starts = ["TraceStart", "TraceFlipBegin", "TraceFlipEnd", "TraceReclaim",
              "TraceDestroy"]
    for name, start, end, text in zip(("condemn", "flip", "scan", "reclaim"),
                                      starts[:-1], starts[1:], phases,
                                      strict=True):
        expect(text.split(" ")[0], name)
        near(ns_of(text.split(" ", 1)[1]), times[end] - times[start], 2e-2)
    # what the pools hold, and what is mapped, of a page with all events and
    # of one that has most as sums
    held, most, mapped = {}, {}, [0, 0]
    for line in command("telcat", "-q", "-f", "json", log).splitlines():
        e = json.loads(line)
        f, sign = e.get("fields", {}), -1 if "Free" in e["type"] or \
            "Un" in e["type"] else 1
        if e["type"] in ("ArenaAlloc", "ArenaFree"):
            pool = f["pool"].split()[0]
            held[pool] = held.get(pool, 0) + sign * f["size"]
            most[pool] = max(most.get(pool, 0), held[pool])
        elif e["type"] in ("VMMap", "VMUnmap"):
            mapped[0] += sign * (int(f["limit"], 16) - int(f["base"], 16))
            mapped[1] = max(mapped)
    near(bytes_of(facts[0].split("; ")[1]), mapped[1], 6e-3)
    for size in ("8M", "160k"):
        with open(path, "wb") as out:
            out.write(command("telcat", "-q", "-f", "html", "--max-size", size,
                              log))
        page.open(path)
        page.run("teltools.settled()")
        expect(page.run("Object.fromEntries(pools.map((p) => [log.track["
                        "p.s.track].name.split(' ').at(-1), p.s.high]))"),
               most)
        expect(page.run("collector.mapped.high"), mapped[1])
        # blocks that were freed, or ended with their pool
        expect(page.run("trackOf('lifetimes').series.reduce((n, s) =>"
                        " n + s.count.at(-1), 0)"), 4384)
    windows = [o for o in rows if o["type"] == "mutator"]
    expect(len(shown[2]) - 1, len(windows))
    for row, want in zip(shown[2][1:], windows):
        near(ns_of(row[0]), want["window_ns"], 1e-3)
        near(float(row[1].split(" ")[0]), 100 * want["share"], 1e-2)
    for theme in ("light", "dark"):
        page.emulate(prefers_color_scheme=theme)
        page.run("teltools.settled()")
        c.screenshot(f"collector-{theme}")


def check_generations(page, log, span=()):
    """the table of generations is telstat's, of the log or of a range of it"""
    page.run(f"select({', '.join(map(str, span))})")
    page.run("teltools.settled()")
    part = ["-t", f"{span[0]}ns,{span[1]}ns"] if span else []
    rows = [json.loads(x) for x in command("telstat", "-q", "-f", "json",
                                           *part, log).splitlines()]
    wanted = [r for r in rows if r["type"] == "generation" and
              r["collections"]]
    heads, *shown = page.run("""[...[...document.querySelectorAll(
        "#panel table")].at(-1).rows].map((r) => [...r.cells].map((c) =>
            c.textContent))""")
    expect(heads, ["Generation", "Collections", "Condemned", "Survived",
                   "Reclaimed", "Died", "Predicted"])
    for row, want in zip(shown, wanted, strict=True):
        # a range may have no event with the number of a generation
        expect(row[1], str(want["collections"]))
        expect(span or row[0], span or want["name"])
        for text, key in zip(row[2:5], ("condemned", "survived", "reclaimed")):
            near(bytes_of(text), want[f"{key}_bytes"], 2e-3)
        expect(row[5:], [f"{100 * want[key]:.1f} %" for key in ("died",
                                                              "predicted")])


def check_pools(page, log):
    """the table of pools is that of the peak and the end of a selection"""
    def held_until(end):
        """What pools hold after each event up to a time."""
        held, states = collections.Counter(), [collections.Counter()]
        for line in command("telcat", "-q", "-f", "json", "-t", f"0ns,{end}ns",
                            "-e", "ArenaAlloc,ArenaFree", log).splitlines():
            e = json.loads(line)
            held[e["fields"]["pool"].split()[0]] += e["fields"]["size"] * \
                (1 if e["type"] == "ArenaAlloc" else -1)
            states.append(held.copy())
        return states

    width, span = page.run("[collector.all.width, log.span]")
    for first, last in ((0, 0.2), (0.3, 0.5), (0.7, 0.9), (0.9, 1)):
        first, last = (int(part * span / width) * width
                       for part in (first, last))
        page.run(f"select({first}, {last - 1})")
        page.run("teltools.settled()")
        states = held_until(last - 1)
        # what there is before the first event of the selection counts, too
        before = len(held_until(first - 1)) - 1 if first else 0
        peak = max(states[before:], key=lambda held: held.total())
        rows = page.run("""[...[...document.querySelectorAll("#panel table")]
            .find((t) => t.caption.textContent === "Pools, selected").tBodies[0]
            .rows].map((r) => [...r.cells].map((c) => c.textContent))""")
        names = page.run("pools.map((p) => log.track[p.s.track].name.split(' ')"
                         ".at(-1))")
        for row, pool in zip(rows, names, strict=True):
            for text, want in ((row[1], peak[pool]), (row[2], states[-1][pool])):
                near(bytes_of(text), want, 2e-3)
    page.run("select()")


def check_widths(page):
    """margins and tables of a narrow window are not cut off"""
    page.size(800, 900)
    page.run("select(0, collector.collections.list[0][0])")
    page.run("teltools.settled()")
    expect(page.run("document.querySelector('#panel caption').textContent"),
           "Collections, selected: 4 of 5")
    expect(page.run("""[...document.querySelectorAll(".beside text, .beside li,"
        + " .three > *")].filter((e) => e.scrollWidth > e.clientWidth + 1 ||
        e.getBoundingClientRect().right >
        (e.closest(".beside") ?? document.body).getBoundingClientRect().right
        ).map((e) => e.textContent)"""), [])
    # no name of a row is broken on paper
    page.call("Emulation.setEmulatedMedia", media="print")
    expect(page.run("[...document.querySelectorAll('.first b')].filter((e) =>"
                    " e.offsetHeight > 24).map((e) => e.innerText)"),
           [])
    page.call("Emulation.setEmulatedMedia", media="")
    page.size(1400, 900)


def pools(c):
    """pools at the peak of all, and phases, also of a .tel of the log"""
    path, tel, page = c.path("pools.html"), c.path("pools.tel"), c.page
    held, most, peak = (collections.Counter() for _ in range(3))
    for release in ("1.117.0", "1.118.0"):
        [log] = unpack(f"mps/{release}-lii6ll-finalcv.log.zst")(c.folder)
        command("telcat", "-q", "-f", "tel", "-o", tel, log)
        seen = []
        for operand in (log, tel):
            with open(path, "wb") as out:
                out.write(command("telcat", "-q", "-f", "html", operand))
            page.open(path)
            page.run("teltools.settled()")
            tables = page.run("""[...document.querySelectorAll("#panel table")]
                .map((t) => [...t.rows].map((r) => [...r.cells].map((c) =>
                    c.textContent)))""")
            bars = page.run("[...document.querySelectorAll('#phases text')]"
                            ".map((t) => t.textContent)")
            expect([b.split(" ")[0] for b in bars],
                   ["condemn", "flip", "scan", "reclaim"], release)
            assert "TraceStart condemned" in tables[0][0], tables[0][0]
            assert not any("not" in h for h in tables[0][0]), tables[0][0]
            # frees before 1.118 have no pool: it is live bytes then
            expect(page.run("log.track[pools[0].s.track].name.split(' of ')"
                            "[0]"), "Arena bytes" if release == "1.118.0"
                   else "live bytes")
            expect(page.run("pools.reduce((n, p) => n + p.s.last.at(-1), 0) =="
                            " collector.all.last.at(-1)"), True)
            check_generations(page, operand)
            # ends between collections, and within one; and none
            times = page.run("collector.collections.list.map(([t, n]) => t + n)"
                             ".sort((a, b) => a - b)")
            for span in ((times[0] + 1, times[2] + 1), (0, times[3] - 99999),
                         (times[0], times[4]), (0, 99)):
                check_generations(page, operand, span)
            check_widths(page)
            seen.append([tables, bars])
        expect(seen[0], seen[1])
    for line in command("telcat", "-q", "-f", "json", log).splitlines():
        e = json.loads(line)
        if e["type"] in ("ArenaAlloc", "ArenaFree"):
            held[e["fields"]["pool"].split()[0]] += e["fields"]["size"] * \
                (1 if e["type"] == "ArenaAlloc" else -1)
            most |= held
            if held.total() > peak.total():
                peak = collections.Counter(held)
    check_pools(page, log)
    # some held more at another time
    assert +peak != most
    wanted = sorted(most, key=lambda p: (-peak[p], -most[p]))
    expect(page.run("pools.map((p) => log.track[p.s.track].name.split(' ')"
                    ".at(-1))"), wanted)
    at = tables[1][0].index("At the peak")
    for row, pool in zip(tables[1][1:], wanted, strict=True):
        near(bytes_of(row[at]), peak[pool], 2e-3)


def uncollected(c):
    """logs of the MPS without collections have pools; strips have units"""
    for name, held in (("1.118.0-lii6gc-poolncv", True),
                       ("1.114.0-lii6gc-poolncv", False),
                       ("1.111.0-lii6gc-amcss", None)):
        [log], page = unpack(f"mps/{name}.log.zst")(c.folder), c.page
        path = c.path("uncollected.html")
        with open(path, "wb") as out:
            out.write(command("telcat", "-q", "-f", "html", log))
        page.open(path)
        page.run("teltools.settled()")
        # the last release is without the types of collections
        expect(page.run("[...document.querySelectorAll('#tabs button')].map("
                        "(e) => e.textContent)")[:-2],
               [] if held is None else ["Collections"], name)
        for which, unit in (("sizes", " [KM]?i?B to"),
                            ("lifetimes", " [nµm]?s to")):
            text = page.run("document.querySelector('[data-track=\"' + trackOf("
                            f"'{which}').id + '\"] .beside').textContent")
            assert re.search(unit, text), (name, which, text)
        if held is not None:
            facts = page.run("document.getElementById('facts').innerText")
            assert "100 %" in facts and "collection" not in facts, facts
            expect("mapped" in facts, held, name)
            pools = page.run("pools.map((p) => p.s.high)")
            assert len(pools) > 1 and all(pools), pools
    c.screenshot("uncollected")


def unended(c):
    """a collection without an end is in the table; without any there is none"""
    [log], page = unpack("mps/1.118.0-lii6ll-finalcv.log.zst")(c.folder), c.page
    events = [json.loads(line) for line in command(
        "telcat", "-q", "-f", "json", log).splitlines()]
    names = [e["type"] for e in events]
    first, path = names.index("TraceDestroy"), c.path("unended.html")
    # within the second collection, the first one, and before that
    for n, rows in ((names.index("TraceDestroy", first + 1), 2), (first, 1),
                    (names.index("TraceCreate"), 0)):
        with open(path, "wb") as out:
            out.write(command("telcat", "-q", "-n", str(n), "-f", "html", log))
        page.open(path)
        page.run("teltools.settled()")
        heads, *shown = page.run("""[...document.querySelector(
            "#panel table").rows].map((r) => [...r.cells].map((c) =>
                c.textContent))""")
        title = page.run("document.querySelector('#panel caption').textContent")
        expect(title, f"Collections: {rows} of {rows}" if rows else "Pools")
        if rows:
            expect([row[1] == "not ended" for row in shown],
                   [False, True][-rows:])
            starts = [e for e in events[:n] if e["type"] == "TraceStart"]
            near(bytes_of(shown[-1][heads.index("TraceStart condemned")]),
                 starts[-1]["fields"]["condemned"], 2e-3)
            assert page.run("document.querySelectorAll('#phases rect').length")


def scans(c):
    """ranges without an end, after which others started, take no time"""
    for name in ("1.114.0-lii3gc-amcss", "1.117.0-lii6gc-amcss-seg-trace"):
        [log], page = unpack(f"mps/{name}.log.zst")(c.folder), c.page
        path = c.path("scans.html")
        with open(path, "wb") as out:
            out.write(command("telcat", "-q", "-f", "html", log))
        page.open(path)
        [want] = [o for o in map(json.loads, command(
            "telstat", "-q", "-f", "json", "-s",
            "d=sum(dur(AMCScanBegin,AMCScanEnd))", log).splitlines())
            if o.get("name") == "d"]
        assert int(want["open"]) > 0, want
        # lanes after the first are of that row
        expect(page.run("sum(lanesOf(log.own).filter((t) => t.name ==="
                        " 'AMCScan'), busy)"), int(want["sum"]), name)


def overview(c):
    """the first screen of other logs: facts, and rows of types, of ranges"""
    units = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}
    for make in (logs.boot, logs.processors, unpack("ctf/tracefiles.ctf.tar.zst"),
                 unpack("jfr/g1-17.jfr.zst")):
        operands, page, rnd = make(c.folder), c.page, random.Random(6)
        for size in ("8M", "160k"):
            path = c.path("overview.html")
            with open(path, "wb") as out:
                out.write(command("telcat", "-q", "-f", "html", "--max-size",
                                  size, *operands))
            page.open(path)
            facts = page.run("[...document.querySelectorAll('#facts p')].map("
                             "(p) => p.textContent)")
            events = [json.loads(line) for line in command(
                "telcat", "-q", "-f", "json", *operands).splitlines()]
            counts, _ = wanted(operands, "ns", None, False)
            span, quiet = page.run("[log.overview.span, log.overview.silence]")
            number, unit = facts[0].split(" ")[:2]
            near(float(number) * units[re.match("[nµm]?s", unit)[0]], span, 6e-3)
            assert facts[1].startswith(f"{sum(counts.values()):,} event"), facts
            share, name = re.match("(.*) %of them are (.*)", facts[2]).groups()
            expect(counts[name], max(counts.values()))
            near(float(share) / 100, counts[name] / sum(counts.values()), 1e-3)
            scale = 1000 if make is logs.processors else 1
            times = sorted(int(e["clock"]) * scale for e in events
                           if e["clock"])
            expect(span, times[-1] - times[0], make.__name__)
            expect(quiet[1], max(b - a for a, b in zip(times, times[1:])))
            expect((times[0] + quiet[0], times[0] + sum(quiet)) in
                   zip(times, times[1:]), True)
            if make is logs.boot:
                # a thread ran longest that was switched away from last
                turns = [e["clock"] for e in events if e["type"] == "SwitchTo"]
                expect(page.run("log.overview.longest[1]"), max(
                    b - a for a, b in zip(turns, turns[1:])))
            if make.__name__.startswith("g1"):
                heap = max(e["fields"]["heapUsed"] for e in events
                           if "heapUsed" in e["fields"])
                shown, = page.run("""[...document.querySelectorAll(".row")]
                    .map((r) => r.textContent).filter((text) =>
                        text.includes("heapUsed"))""")
                near(bytes_of(shown.split("at most")[1]), heap, 1e-3)
            # a click on a fact selects its range
            page.run("document.querySelector('#facts p:last-child button')"
                     ".click()")
            chosen = page.run("selection")
            expect([chosen["from"], chosen["to"]],
                   [quiet[0], quiet[0] + quiet[1]])
            ends = [[0, span]] + [sorted(rnd.randrange(span + 1)
                                         for _ in range(2)) for _ in range(3)]
            for first, last in ends:
                s = page.run(f"teltools.select({first}, {last}).then("
                             "({ from, to }) => [from, to])")
                page.run(f"select({s[0]}, {s[1]})")
                page.run("teltools.settled()")
                shown = page.run("""[...document.querySelectorAll(
                    ".row.first:not(.high)")].filter((r) =>
                    isNaN(r.dataset.track)).map((r) =>
                    [r.querySelector("b").textContent,
                        r.lastChild.textContent])""")
                # events without a time are in no range of telstat's
                counts, _ = wanted(operands, "ns", first and s, False)
                for name, number in shown:
                    if "more type" not in name:
                        expect(count_of(number), counts.get(name, 0),
                               f"{make.__name__} {size} {s} {name}")
        page.run("select()")
        for theme in ("light", "dark"):
            page.emulate(prefers_color_scheme=theme)
            page.run("teltools.settled()")
            c.screenshot(f"overview-{make.__name__}-{theme}")


def processes(c):
    """of many processes, the busiest are lines of a heat map"""
    words, log, path = c.path("many.txt"), c.path("many.ets"), c.path("many.html")
    with open(words, "w", encoding="utf-8") as file:
        file.write("speed 1000000000\n")
        for n in range(1, 41):
            file.write(f"process {n} Service{n}\nthread {256 + n} {n}\n")
        for i in range(4000):
            n = i * i % 997 % 40 + 1
            file.write(f"event {6544408122900 + 977 * i} 0x34311e {256 + n} {n} "
                       f"0 8 7 67 300 1\n")
    command(os.path.join(cases.BUILD, "tests", "test_ets"), "--make", words, log)
    with open(path, "wb") as out:
        out.write(command("telcat", "-q", "-f", "html", log))
    page = c.page
    page.open(path)
    tids = collections.Counter(
        json.loads(line)["fields"].get("tid", 0) for line in command(
            "telcat", "-q", "-f", "json", log).splitlines())
    busiest = sorted(tids.values(), reverse=True)[:32]
    span = page.run("log.span")
    ask = f"""[...{row_of('Processes')}.querySelectorAll(
        ".beside title")].map((t) => t.textContent)"""
    shown = dict(t.rsplit(": ", 1) for t in page.run(ask))
    expect(sorted(map(count_of, shown.values()), reverse=True), busiest)
    for name, n in shown.items():
        tid = 256 + int(name.split()[1])
        expect(count_of(n), tids[tid if name != "process 0" else 0], name)
    expect(page.run(f"{row_of('Processes')}.innerText"
                    ".includes('busiest 32 of 4')"), True)
    # those of a selection
    page.run(f"select(0, {span / 2})")
    page.run("teltools.settled()")
    halves = sum(count_of(t.rsplit(": ", 1)[1]) for t in page.run(ask))
    near(halves, sum(busiest) / 2, 0.1)
    c.screenshot("processes")


def lone(c):
    """the only thread of a process, and a single event, need no row"""
    log, path, page = c.path("lone.txt"), c.path("lone.html"), c.page
    with open(log, "w", encoding="utf-8") as out:
        out.write("""\
# teltools text 1
# type: get 0 Alloc address:address size:unsigned pid:unsigned thread:unsigned
# type: put 12 Alloc address:address pid:unsigned thread:unsigned
# type: Note 24 Once what:string
# role: get alloc address size process=pid thread=thread
# role: put free address process=pid thread=thread
""")
        for i in range(300):
            pid, at = i // 2 % 3 + 1, f"address={0x1000 + 64 * (i // 2):#x}"
            thread = 10 * pid + (i % 2 if pid == 2 else 0)
            size = " size=16" if i % 2 == 0 else ""
            name = "put" if i % 2 else "get"
            out.write(f"{16 + i * 16:016X} {name} {at}{size} pid={pid} "
                      f"thread={thread}\n")
            if i == 150:
                out.write(f"{16 + i * 16:016X} Note what=\"half\"\n")
    with open(path, "wb") as out:
        out.write(command("telcat", "-q", "-f", "html", log))
    page.open(path)
    shown = page.run("""[...document.querySelectorAll(".row:not(.first)")]
        .map((r) => [r.ariaLevel, r.querySelector(".name").textContent,
            r.querySelector(".beside").textContent])""")
    expect(sorted(shown), sorted([
        ["1", "lone.txt", "301"], ["2", "process 1", "100"],
        ["2", "process 2", "100"], ["2", "process 3", "100"],
        ["3", "thread 20", "50"], ["3", "thread 21", "50"]]))
    # what has no row is in the one above, found and chosen there
    page.run("find('half').then(() => step(true))")
    expect(page.run("[chosen.type.name, "
                    "baseName(place[chosen.track.id].row.track.name)]"),
           ["Note", "lone.txt"])
    page.run("goWhere('thread 30')")
    expect(page.run("log.track[chosenTrack].name"), "process 3")
    page.run("find('')")
    page.run("drawAll()")
    expect(page.run("""(() => {
        const row = rows.find((r) => r.track.name === "process 3");
        const e = eventAt(16 * 5, row, 5, 0);
        return [e.track.name, Number(e.get("pid"))];
    })()"""), ["thread 30", 3])


if __name__ == "__main__":
    names = sys.argv[2:]
    os.makedirs(sys.argv[1], exist_ok=True)
    sys.exit(cases.run([f for f in [collector, pools, uncollected, unended,
                                    scans, overview, processes, lone, crossing,
                                    *map(case, LOGS)]
                        if not names or f.__name__ in names],
                       sys.argv[1], (1400, 900)))
