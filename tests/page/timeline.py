#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Tests of the page of a timeline, in a browser, on invented logs (TAP).

What a page shows is asked of it, and compared with the events that
make_page.py put into it.  Screenshots are kept in the folder of the argument.
"""

import csv
import io
import json
import os
import random
import re
import sys
import xml.etree.ElementTree as tree

import browser
import cases
import make_page
from cases import expect, near
from make_page import HOSTILE, MS

EVENTS = make_page.mixed_events(random.Random(1))
SHIFT, CTRL = 8, 2


class Context(cases.Context):
    """Opens pages of invented logs, and looks at their rows."""

    def open(self, kind="mixed", fragment="", **more):
        path = self.path(f"{kind}.html")
        getattr(make_page, kind)(**more).write(path)
        self.page.run("(() => { try { sessionStorage.clear() } catch {} })()")
        self.page.open(path, fragment)
        return self.page

    def view(self):
        view = self.page.run("view")
        return view["from"], view["to"]

    def at(self, track):
        """The middle of a row, in pixels of the window."""
        row = next(r for r in self.page.run("teltools.visible()")
                   if r["track"] == track)
        return self.left() + 300, self.top() + row["y"] + row["h"] / 2

    def left(self):
        return self.page.run("document.getElementById('area')"
                             ".getBoundingClientRect().left")

    def top(self):
        return self.page.run("document.getElementById('area')"
                             ".getBoundingClientRect().top")

    def pixel(self, x, y):
        """The colour of the canvas there."""
        return self.page.run(
            "Array.from(document.getElementById('canvas').getContext('2d')"
            f".getImageData({round(x)}, {round(y)}, 1, 1).data)")

    def event(self, at, track):
        """The event there."""
        return self.page.run(f"""((e) => ({{ name: e.name,
            fields: Object.fromEntries(e.texts()) }}))(
            eventAt({at}, place[{track}].row, undefined, 0))""")

    def press(self, key, **more):
        self.page.key(key, **more)

    def press_until(self, key, done):
        """Where a dialog was closed just before, a key can get lost."""
        browser.until(lambda: self.press(key) or self.page.run(done),
                      f"{key} does nothing: never {done}")


def test_nothing_is_loaded(c):
    """A page makes no request, breaks no rule of its policy, has no error"""
    page = c.open()
    page.run("teltools.search('size > 1')")
    requests = [e["request"]["url"] for e in
                page.seen("Network.requestWillBeSent")]
    expect({u.split(":")[0] for u in requests} - {"file", "blob"}, set())
    expect([u for u in requests if u.startswith("file:")
            and not u.endswith(".html")], [])
    expect(page.seen("Runtime.exceptionThrown"), [])
    expect([e["entry"]["text"] for e in page.seen("Log.entryAdded")], [])


def test_policy_holds(c):
    """The content policy forbids other scripts, pictures and requests"""
    page = c.open()
    page.run("""(() => {
        window.broken = [];
        document.addEventListener("securitypolicyviolation",
            (e) => broken.push(e.effectiveDirective));
        const s = document.createElement("script");
        s.textContent = "window.ran = true";
        document.body.append(s);
        const i = document.createElement("img");
        i.src = "https://localhost/x.png";
        document.body.append(i);
        fetch("https://localhost/x").catch(() => 0);
    })()""")
    page.wait("broken.length >= 3")
    expect(sorted(page.run("broken")),
           ["connect-src", "img-src", "script-src-elem"])
    expect(page.run("window.ran"), None)
    page.events = page.browser.events = []


def test_hostile_names(c):
    """Names that look like markup are shown as text, everywhere"""
    page = c.open()
    expect(page.run("document.title"), "mixed " + HOSTILE)
    expect(page.run("document.querySelector('h1').textContent"),
           "mixed " + HOSTILE)
    for tab in range(2):
        page.run(f"document.getElementById('tab{tab}').click()")
        page.wait("document.getElementById('panel').childElementCount > 0")
    page.run("teltools.search('onerror')")
    page.run("document.getElementById('tab1').click()")
    page.wait("document.getElementById('panel').textContent"
              ".includes('onerror=alert')")
    expect(page.run("document.querySelectorAll('img').length"), 0)
    expect(page.seen("Page.javascriptDialogOpening"), [])
    if "<img" in page.run("teltools.svg()"):
        raise AssertionError("the SVG has markup of the log")


def test_numbers(c):
    """Bytes and times have a unit of their size"""
    page = c.open()
    expect(page.run("[0, 1e-4, 0.5, 1023, -1536, 2 ** 41, 2 ** 61].map(bytes)"),
           ["0 B", "0.0001 B", "0.5 B", "1,023 B", "-1.5 KiB", "2 TiB",
            "2,048 PiB"])
    expect(page.run("[time(0), time(999), time(1.5e3), time(-2e6), time(6e10),"
                    " time(1.5e9, 1e6)]"),
           ["0 ns", "999 ns", "1.5 µs", "-2 ms", "60 s", "1.500 s"])
    expect(page.run("[show(0.25, '%'), show(12345n), show(undefined),"
                    " show(NaN), show(3, '/s'), show(1e6, 'ns')]"),
           ["25.0 %", "12,345", "", "", "3 /s", "1 ms"])


def test_rows(c):
    """The tracks are rows: parents, curves, then what is busiest"""
    page = c.open()
    rows = page.run("teltools.visible()")
    expect([r["track"] for r in rows], [1, 6, 7, 8, 2, 4, 3])
    for before, row in zip(rows, rows[1:]):
        expect(row["y"], before["y"] + before["h"], "gap between rows")
    expect(page.run("[...document.querySelectorAll('.row .name')]"
                    ".map((e) => e.textContent)"),
           [HOSTILE, "live bytes", "queue", "sizes", "thread 7 main", "Scan",
            "thread 8 " + HOSTILE])


def test_pixels(c):
    """Ranges, instants and counters are where their events are"""
    page = c.open()
    page.run("setView(9e6, 13e6)")
    page.wait("view.from === 9e6")
    page.run("teltools.settled()")
    width = page.run("document.getElementById('canvas').width")
    rows = {r["track"]: r for r in page.run("teltools.visible()")}

    def at(ms):
        return (ms - 9) / 4 * width

    back = c.pixel(at(11.75), rows[4]["y"] + 2 + 9)
    y = rows[4]["y"] + 2 + 9
    # from 9 to 11 ms there is a range on the first line, then none
    if c.pixel(at(9.9), y) == back or c.pixel(at(10.9), y) == back:
        raise AssertionError("a range is not drawn")
    expect(c.pixel(at(11.1), y), back)
    instant = next(e for e in EVENTS if e[2] == 2 and e[1] > 10 * MS)
    x, y = at(instant[1] / MS), rows[2]["y"] + rows[2]["h"] / 2
    drawn = [c.pixel(x + d, y) for d in (-3, -1, 0, 1, 3)]
    if all(p == drawn[0] for p in drawn):
        raise AssertionError("an instant is not drawn")
    row = rows[6]
    expect(c.pixel(at(9.5), row["y"] + row["h"] - 4) != back, True)


def test_at(c):
    """An event has the fields that were put into it"""
    page = c.open()
    event = c.event(1.2e6, 5)
    expect(event["name"], "Scan old")
    expect(event["fields"], {"ratio": "0.5", "why": "old"})
    alloc = next(e for e in EVENTS if e[0] == 0 and e[5][1][1] == HOSTILE)
    event = c.event(alloc[1], alloc[2])
    expect(event["fields"]["pool"], f"{hex(alloc[5][1][0])} ({HOSTILE})")
    expect(event["fields"]["size"].split()[1] in ("B", "KiB"), True)


def test_statistics(c):
    """A selection has the counts and quantiles of its events"""
    page = c.open()
    result = page.run(f"teltools.select({10 * MS}, {20 * MS})")
    below = [e for e in EVENTS if 10 * MS <= e[1] <= 20 * MS]
    expect(result["count"], len(below))
    near(result["rate"], len(below) * 100)
    alloc = next(t for t in result["types"] if t["type"]["name"] == "Alloc")
    sizes = sorted(e[5][0] for e in below if e[0] == 0)
    expect(alloc["sum"], sum(sizes))
    expect((alloc["min"], alloc["max"]), (sizes[0], sizes[-1]))
    expect(alloc["p50"], sizes[len(sizes) // 2])
    expect(alloc["p90"], sizes[int(len(sizes) * 0.9)])
    # ranges are measured by their length; numbers without a unit are not
    expect({t["type"]["name"]: t.get("of", {}).get("name")
            for t in result["types"]}, {"Alloc": "size", "Scan": "duration",
                                        "Send": None, "Receive": None})
    scan = next(t for t in result["types"] if t["type"]["name"] == "Scan")
    expect(scan["sum"], sum(e[3] for e in below if e[0] == 1))


def test_search(c):
    """Searches find the events that their expressions say"""
    page = c.open()
    for text, wanted in [
            ("name == Alloc && size >= 1k",
             lambda e: e[0] == 0 and e[5][0] >= 1024),
            ("type == Alloc && size >= 1k",
             lambda e: e[0] == 0 and e[5][0] >= 1024),
            ("size in (16, 64..256)",
             lambda e: e[0] == 0 and (e[5][0] == 16 or 64 <= e[5][0] <= 256)),
            ("kind == channel && !(late == 1)",
             lambda e: e[0] == 3 and not e[5][1]),
            ("delta < -3", lambda e: e[0] == 3 and e[5][2] < -3),
            ("pool >= 0xfffffffffffffffe",
             lambda e: e[0] == 0 and e[5][1][0] >= 2**64 - 2),
            ("label ~ \"img.*src\" || label(pool) == 'heap'",
             lambda e: e[0] == 0 and e[5][1][1] is not None),
            ("why =* 'nur*'", lambda e: e[0] == 1 and e[5][1] == "nursery"),
            ("has(ratio) && ratio > 1.5 && time > 60ms",
             lambda e: e[0] == 1 and e[5][0] > 1.5 and e[1] > 60 * MS),
            ("duration == 1ms",
             lambda e: e[0] == 1 and e[3] == MS),
            ("NURSERY 1", lambda e: e[4] == "Scan nursery 1")]:
        quoted = text.replace("\\", "\\\\").replace("`", "\\`")
        expect(page.run(f"teltools.search(`{quoted}`)"),
               sum(map(wanted, EVENTS)), text)
    for text in ("size >", "nosuch == 1", "size ~ 4", "(size > 1", "1 2 <"):
        page.run(f"teltools.search('{text}')")
        if not page.run("document.querySelector('#hits.error').textContent"):
            raise AssertionError(f"no error for {text}")


def test_search_stops(c):
    """Escape stops a search, another search replaces it"""
    page = c.open()
    page.run("(async () => { const all = find('size >= 0');"
             " keys.Escape(); await all; })()")
    expect(page.run("[$('hits').textContent, searching, query.text]"),
           ["0 found, stopped at 0.0 %", None, "size >= 0"])
    expect(page.run("(async () => { const all = find('size >= 0');"
                    " return [await find('kind == Channel'), await all]; })()"),
           [sum(e[0] in (2, 3) for e in EVENTS), 0])
    page.run("teltools.select(10e6, 20e6)")
    c.press("Escape")
    expect(page.run("selection"), None)


def test_keys(c):
    """Keys zoom and move, and undo it"""
    page = c.open()
    first = c.view()
    c.press("w")
    zoomed = c.view()
    near(zoomed[1] - zoomed[0], (first[1] - first[0]) * 0.6)
    c.press("d")
    moved = c.view()
    near(moved[0] - zoomed[0], (zoomed[1] - zoomed[0]) * 0.2)
    c.press("a")
    near(c.view()[0], zoomed[0])
    for view in (moved, zoomed, first, first):
        c.press("u")
        expect(c.view(), view, "undo")
    c.press("0")
    near(c.view()[1] - c.view()[0], 91 * MS)
    c.press("w")
    c.press("s")
    near(c.view()[1] - c.view()[0], 91 * MS * 0.6 * 1.7)
    c.press("w")
    before = c.view()
    c.press("d")
    near(c.view()[0] - before[0], (before[1] - before[0]) * 0.2)
    c.press("u")
    expect(c.view(), before)
    page.run("teltools.select(10e6, 20e6)")
    c.press("z")
    expect(c.view(), (10 * MS, 20 * MS))
    c.press("0")
    c.press_until("?", "document.getElementById('dialog').open")
    # what the keys do is shown, and not those of reports
    expect(page.run("""[...document.querySelectorAll("#dialog tr")].filter(
        (r) => r.checkVisibility()).map((r) => r.innerText).join("\\n")
        .match(/Zoom in|Undo|Search|snapshot/g)"""),
           ["Zoom in", "Undo", "Search"])
    page.run("document.getElementById('dialog').close()")
    c.press_until("/", "document.activeElement.id === 'q'")
    c.press("w")
    near(c.view()[1] - c.view()[0], 91 * MS)


def test_hairline(c):
    """Keys move a hairline, which selects"""
    page = c.open()
    def chosen():
        s = page.run("selection")
        return s and (s["from"], s["to"])
    start, end = c.view()
    middle, step = (start + end) / 2, (end - start) / 100
    c.press("ArrowRight")
    near(page.run("hairline"), middle + step)
    expect(c.view(), (start, end))
    expect(chosen(), None)
    c.press("[")
    near(chosen()[0], middle + step)
    near(chosen()[1], end)
    for _ in range(3):
        c.press("ArrowLeft")
    c.press("]")
    near(chosen()[0], middle - 2 * step)
    near(chosen()[1], middle + step)
    c.press("Escape")
    c.press("ArrowRight", modifiers=8)
    c.press("ArrowRight", modifiers=8)
    near(chosen()[0], middle - 2 * step)
    near(chosen()[1], middle)
    c.press("ArrowLeft", modifiers=8)
    near(chosen()[1], middle - step)
    c.press("w")
    for _ in range(60):
        c.press("ArrowLeft")
    assert c.view()[0] <= page.run("hairline") <= c.view()[1]


def test_scroll(c):
    """The wheel scrolls the page; the ruler sticks to the top of the window"""
    page = c.open()
    page.size(1280, 200)
    page.run("teltools.settled()")
    first, top = page.run("teltools.visible()")[0]["y"], c.top()
    page.mouse("mouseWheel", c.left() + 90, top + 40, deltaX=0, deltaY=100)
    page.wait("scrollY === 100")
    expect(c.top(), 0)
    near(page.run("teltools.visible()")[0]["y"], first + top - 100)
    page.run("teltools.settled()")
    row = next(r for r in page.run("teltools.visible()") if r["track"] == 4)
    near(page.run(f"""document.querySelector('[data-track="4"]')
        .getBoundingClientRect().top"""), row["y"])
    # rows that are out of the window come into it
    page.run("chooseTrack(8)")
    page.wait("(({ top, bottom }) => top >= RULER && bottom <= innerHeight)("
              "document.querySelector('.chosen')?.getBoundingClientRect() ?? {})")
    # also where all of them fit into the window, and scroll away
    page.size(1280, 600)
    page.run("teltools.settled()")
    page.run("$('panel').style.height = '2000px'; chooseTrack(0); "
             "scrollTo(0, 9999); teltools.settled()")
    page.run("$('plot').scrollIntoView(); scrollBy(0, 50)")
    page.run("new Promise(requestAnimationFrame).then(teltools.settled)")
    assert page.run("$('plot').clientHeight < innerHeight")
    assert c.top() < -40
    expect(page.run("$('ruler').getBoundingClientRect().top"), 0)
    assert page.run("""[$('ruler'), $('canvas')].map((e) => e.getContext('2d')
        .getImageData(0, 0, e.width, RULER).data.join()).every((v, i, all) =>
        v === all[0])""")
    page.size(1280, 800)


def test_mouse(c):
    """Drag selects; with Shift, and with a wheel or two fingers, it moves"""
    page = c.open()
    x, y = c.at(2)
    first = c.view()
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-400)
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-400, modifiers=CTRL)
    page.wait(f"view.to - view.from < "
              f"{(first[1] - first[0]) * 0.7}")
    zoomed = c.view()
    page.drag(x, y, x - 100, y, modifiers=SHIFT)
    page.wait(f"view.from > {zoomed[0]}")
    moved = c.view()
    near(moved[1] - moved[0], zoomed[1] - zoomed[0], 1e-6)
    page.drag(x, y, x + 100, y)
    page.wait("selection")
    chosen = page.run("selection")
    width = page.run("document.getElementById('area').clientWidth")
    near(chosen["to"] - chosen["from"], 100 / width * (moved[1] - moved[0]))
    expect(c.view(), moved)
    page.call("Emulation.setTouchEmulationEnabled", enabled=True,
              maxTouchPoints=2)
    for kind, apart in (("touchStart", 40), ("touchMove", 80),
                        ("touchMove", 160)):
        page.call("Input.dispatchTouchEvent", type=kind, touchPoints=[
            {"x": x - apart, "y": y, "id": 0},
            {"x": x + apart, "y": y, "id": 1}])
    page.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    page.wait(f"view.to - view.from < "
              f"{(moved[1] - moved[0]) * 0.6}")
    page.call("Emulation.setTouchEmulationEnabled", enabled=False)
    # a range that was dragged over a curve has its events, too
    x, y = c.at(6)
    page.drag(x, y, x + 150, y)
    page.wait(f"selection.to - selection.from !== {chosen['to']} - "
              f"{chosen['from']}")
    chosen = page.run("selection")
    got = page.run("statistics(region()).then((s) => s.count)")
    expect(got, sum(chosen["from"] <= e[1] <= chosen["to"] for e in EVENTS))
    assert got > 0
    c.press("u")
    expect(c.view(), moved, "a pinch is undone at once")
    c.press("u")
    expect(c.view(), zoomed, "as a drag is")


def test_tip(c):
    """The event under the pointer is described with all fields"""
    page = c.open()
    page.run("setView(0, 4e6)")
    page.wait("view.to === 4e6")
    row = next(r for r in page.run("teltools.visible()") if r["track"] == 4)
    x = c.left() + 200
    page.mouse("mouseMoved", x, c.top() + row["y"] + 10)
    page.wait("!document.getElementById('tip').hidden")
    page.wait("document.getElementById('tip').textContent"
              ".includes('Scan nursery 0')")
    text = page.run("document.getElementById('tip').textContent")
    for part in ("ratio0", "whynursery", "for2 ms"):
        if part not in text:
            raise AssertionError(f"no {part} in {text}")
    page.drag(x, c.top() + row["y"] + 10, x, c.top() + row["y"] + 10)
    page.wait("document.getElementById('panel').textContent"
              ".includes('nursery')")


def test_go_to(c):
    """The search goes to times and tracks, n to events"""
    page = c.open()
    page.run("setView(0, 1e6)")
    enter(page, "50 ms")
    page.wait("(view.from + view.to) / 2 === 50e6")
    expect(page.run("query"), None)
    enter(page, "queue")
    page.wait("document.querySelector('.row.chosen .name')?.textContent"
              " === 'queue'")
    enter(page, "bind 3")
    page.run("document.getElementById('q').blur()")
    c.press("n")
    send = next(e for e in EVENTS if e[4] == "Bind 3" and e[1] > 49.5 * MS)
    page.wait(f"view.from <= {send[1]} && "
              f"view.to >= {send[1]}")


def test_go_to_whole_names(c):
    """A name that is a part of another one is found itself"""
    made = make_page.mixed()
    made.head["tracks"] += [
        {"id": 9, "parent": 1, "use": "thread", "name": "thread 571 worker"},
        {"id": 10, "parent": 1, "use": "thread", "name": "thread 57 worker"}]
    made.write(c.path("threads.html"))
    c.page.open(c.path("threads.html"))
    for text, track in (("thread 57", 10), ("thread 571", 9),
                        ("57 worker", 10), ("read 57", 10)):
        c.page.run(f"goWhere('{text}')")
        expect(c.page.run("chosenTrack"), track, text)


def test_sorting(c):
    """Tables are sorted by values, not by how they are written"""
    page = c.open()
    page.run(f"teltools.select(0, {40 * MS})")
    page.run("document.getElementById('tab1').click()")
    drawn(page)
    page.wait("document.querySelector('#panel th')?.textContent === 'Time'")
    for column, value in (("Time", "time"), ("Duration", "duration")):
        for up in (True, False):
            page.run("[...document.querySelectorAll('#panel th button')].find("
                     f"(b) => b.textContent === '{column}').click()")
            shown = page.run("[...document.querySelectorAll('#panel tbody tr')"
                             f"].map((r) => r.cells[{column == 'Duration':d}]"
                             ".textContent)")
            scale = {"ns": 1, "µs": 1e3, "ms": 1e6}
            times = [-1 if not t else float(t.split()[0])
                     * scale[t.split()[1]] for t in shown]
            expect(times, sorted(times, reverse=not up), value)
    page.run("document.getElementById('tab0').click()")
    drawn(page)
    page.wait("document.querySelector('#panel th')?.textContent === 'Type'")
    page.run("document.querySelector('#panel th button').click()")
    names = page.run("[...document.querySelectorAll('#panel table:first-of-type"
                     " tbody')][0].innerText.split('\\n').map((r) =>"
                     " r.split('\\t')[0])")
    expect(names, sorted(names))


def test_first_events(c):
    """Of many events, the first are listed, whatever their types are"""
    page = c.open()
    page.run("document.getElementById('tab1').click()")
    found = page.run("eventsOf({ from: 0, to: log.span }, 500)"
                     ".then((list) => list.map((e) => e.time))")
    expect(found, [e[1] for e in EVENTS[:500]])


def test_strange_addresses(c):
    """An address that is no view leaves the page as it is"""
    for fragment in ("#v=abc", "#v=5,1", "#s=x,y", "#v=1e999,2"):
        page = c.open(fragment=fragment)
        expect(page.run("[view.from, view.to].every("
                        "Number.isFinite) && view.to > view.from && !selection"
                        ), True, fragment)


def test_other_pages(c):
    """What one page keeps is not another's"""
    page = c.open()
    page.run("document.getElementById('tab1').click()")
    page.run("setFold(log.track[1], true)")
    page.run("setView(1e6, 2e6)")
    page.wait("sessionStorage.length > 1")
    drawn(page)
    made = make_page.mixed()
    made.write(c.path("other.html"))
    page.open(c.path("other.html"))
    expect(page.run("[tabNow, log.tracks.some((t) => t.folded)]"), [0, False])


def test_search_keys(c):
    """After Escape the search stays, and n steps"""
    page = c.open()
    page.run("teltools.search('kind == Channel')")
    page.run("document.getElementById('q').focus()")
    c.press("Escape")
    expect(page.run("[$('q').value, query !== null]"),
           ["kind == Channel", True])
    c.press("n")
    page.wait("chosen?.type.kind === 'Channel'")


def test_matches_on_top(c):
    """What matches a search is over what does not"""
    page = c.open()
    page.run("teltools.search('name == Alloc')")
    drawn(page)
    row = next(r for r in page.run("teltools.visible()") if r["track"] == 2)
    width = page.run("document.getElementById('canvas').width")
    # beside the lines of messages, which start in the middle
    full, y = blend(page, "t0", 1), row["y"] + 5
    columns = {round(e[1] * width / (91 * MS * 1.0)) for e in EVENTS
               if e[0] == 0 and e[2] == 2}
    for e in EVENTS:
        x = round(e[1] * width / (91 * MS))
        if e[0] == 2 and e[2] == 2 and x in columns and x < width:
            expect(c.pixel(x, y), full, f"column {x}")


def test_processes(c):
    """The live bytes of a process are there from its first block on"""
    words, path = c.path("processes.text"), c.path("processes.html")
    with open(words, "w", encoding="utf-8") as file:
        file.write("""\
# teltools text 1
# type: malloc 0 Alloc address:address size:unsigned pid:unsigned
# type: free 12 Alloc address:address pid:unsigned
# role: malloc alloc address size process=pid
# role: free free address process=pid
0000000000000002 malloc address=0x1000 size=48 pid=25016
0000000000000003 malloc address=0x2000 size=208 pid=25016
0000000000000104 malloc address=0x1000 size=50 pid=8
0000000000000205 free address=0x1000 pid=25016
""")
    with open(path, "wb") as out:
        out.write(cases.command("telcat", "-q", "-f", "html", words))
    page = c.page
    page.open(path)
    expect(page.run("""log.tracks.filter((t) => t.use === "bytes").map((t) =>
        [t.name, ...[0, 1, 0x102, 0x203].map((at) =>
            valueAt(t.series.find((s) => s.last), at))])"""),
           [["Live bytes", 48, 256, 306, 258]])
    # at the end of intervals of two ticks
    expect(page.run("""[...memory.ranks.keys()].map((i) => [layerName(i),
        ...[0, 1, 0x102, 0x203].map((at) => memory.layers[momentAt(at)][i])])
        """), [["process 25016", 256, 256, 256, 208],
               ["process 8", 0, 0, 50, 50]])
    # how long the block that was freed had lived
    expect(page.run("""log.tracks.filter((t) => t.use === "heat").map((t) =>
        [t.name, t.series.map((s) => [2 ** s.row, s.count.at(-1)])])"""),
           [["Sizes", [[64, 2], [256, 1]]],
            ["Lifetimes", [[1024, 1]]]])
    page.run("teltools.select(0, 0)")
    page.run("[...document.querySelectorAll('[role=tab]')].find((tab) =>"
             " tab.textContent === 'Events').click()")
    page.wait("document.getElementById('panel').textContent"
              ".includes('pid=25016')")


def test_many_events(c):
    """Statistics have all events in view, also where few are drawn one by one"""
    words, path = c.path("many.text"), c.path("many.html")
    sizes = [16 + i * i % 4093 for i in range(70000)]
    with open(words, "w", encoding="utf-8") as file:
        file.write("# teltools text 1\n"
                   "# type: malloc 0 Alloc address:address size:unsigned\n"
                   "# role: malloc alloc address size\n")
        file.writelines(f"{i:016x} malloc address={4096 * (i + 1):#x} size={n}\n"
                        for i, n in enumerate(sizes))
    with open(path, "wb") as out:
        out.write(cases.command("telcat", "-q", "-f", "html", words))
    page = c.page
    page.open(path)
    got = page.run("statistics(view).then(({ exact, types: [t] }) =>"
                   " [exact, t.count, t.sum, t.min, t.max, t.p50])")
    expect(got, [True, 70000, sum(sizes), min(sizes), max(sizes),
                 sorted(sizes)[35000]])
    page.run("document.getElementById('tab1').click()")
    page.wait("document.querySelector('#panel td')?.parentNode.textContent"
              f".includes('{sum(sizes):,}')")


def test_one(c):
    """One event is one, and numbers of threads are no quantities"""
    page = c.open()
    expect(page.run("[count(1, 'event'), count(2, 'event'), show(25016, 'id'),"
                    " show(25016)]"),
           ["1 event", "2 events", "25016", "25,016"])
    expect(page.run("(() => { clock = 'events'; return [time(-0.4, 1),"
                    " time(1)] })()"), ["event 0", "1 event"])


def test_tables(c):
    """Events and logs are tables"""
    page = c.open()
    page.run(f"teltools.select({10 * MS}, {12 * MS})")
    want = [e for e in EVENTS if 10 * MS <= e[1] <= 12 * MS]

    page.run("document.getElementById('tab1').click()")
    page.wait("document.getElementById('tab1').getAttribute('aria-selected') "
              "=== 'true' && document.querySelector('#panel table')")
    page.wait("document.querySelectorAll('#panel tbody tr').length === "
              f"{len(want)}")
    expect(page.run("document.getElementById('about').textContent"),
           f"invented · 91 ms · {len(EVENTS):,} events")
    page = c.open(damaged=3, skipped=1204)
    expect(page.run("document.getElementById('about').textContent")
           .split(" · ")[3:], ["3 damaged places, 1,204 bytes"])
    page.run("document.getElementById('about').click()")
    expect(page.run("document.querySelectorAll('dialog tbody tr').length"), 1)
    expect(page.run("[...document.querySelectorAll('th')].every("
                    "(th) => th.scope)"), True)
    expect(page.run("[...document.querySelectorAll('table')].every("
                    "(t) => t.caption || t.closest('dialog'))"), True)


def test_damage(c):
    """Where a log is damaged, its page is hatched, a point as well"""
    page = c.open(damaged=2, skipped=9, damage=[[20 * MS, 30 * MS],
                                                [91 * MS, 91 * MS]])
    drawn(page)
    root = tree.fromstring(page.run("teltools.svg()"))
    height = int(root.get("height"))
    hatched = [p.get("d") for p in root.iter(
        "{http://www.w3.org/2000/svg}path") if p.get("opacity") == "0.4"]
    for d, ends in zip(hatched, ((20, 30), (91, 91)), strict=True):
        numbers = [float(n) for n in re.findall("[-0-9.]+", d)]
        left, right = (page.run(f"new Picture($('area').clientWidth, 1)"
                                f".xOf({t * MS})") for t in ends)
        for values, low, high in ((numbers[::2], left - 4, right + 4),
                                  (numbers[1::2], 26, height)):
            near(min(values), low, 7 / low)
            near(max(values), high, 7 / high)
            expect(low - 1 <= min(values) and max(values) <= high + 1, True, d)


def test_csv(c):
    """The selection is exported as CSV"""
    page = c.open()
    page.run(f"teltools.select({10 * MS}, {30 * MS})")
    rows = list(csv.DictReader(io.StringIO(page.run("teltools.csv()"))))
    want = [e for e in EVENTS if 10 * MS <= e[1] <= 30 * MS]
    expect([int(r["time"]) for r in rows], [e[1] for e in want])
    expect(sum(int(r["size"] or 0) for r in rows),
           sum(e[5][0] for e in want if e[0] == 0))
    expect({r["pool"] for r in rows if r["pool"]},
           {str(e[5][1][0]) for e in want if e[0] == 0})
    expect({r["why"] for r in rows if r["why"]},
           {e[5][1] for e in want if e[0] == 1})


def test_pictures(c):
    """The view is exported as SVG and as PNG"""
    page = c.open()
    page.run("setView(9e6, 13e6)")
    page.wait("view.from === 9e6")
    root = tree.fromstring(page.run("teltools.svg()"))
    texts = ["".join(t.itertext()) for t in root.iter(
        "{http://www.w3.org/2000/svg}text")]
    for name in ("live bytes", "Scan nursery 0", "10.0 ms"):
        if name not in texts:
            raise AssertionError(f"no {name} in {texts}")
    # what is selected is in the picture, as it is on the screen
    page.run("teltools.select(10e6, 11e6)")
    width = page.run("document.getElementById('area').clientWidth")
    lines = re.findall(r'd="M([\d.]+) 0V\d+"', page.run("teltools.svg()"))
    for x, part in zip(lines, (1, 2), strict=True):
        near(float(x), width * part / 4)
    page.run("teltools.select()")
    expect(page.run("""teltools.png().then((b) => b.arrayBuffer())
        .then((b) => String.fromCharCode(...new Uint8Array(b, 1, 3)))"""),
           "PNG")
    page.call("Browser.setDownloadBehavior", behavior="allow",
              downloadPath=c.folder)
    for n, ext in enumerate(("csv", "svg", "png"), 1):
        c.press_until("e", "document.getElementById('dialog').open")
        page.run(f"document.querySelectorAll('#dialog button')[{n - 1}]"
                 ".click()")
        page.wait("!document.getElementById('dialog').open")
        name = re.sub(r"[^\w.-]+", "_", "mixed " + HOSTILE) + "." + ext
        browser.until(lambda name=name: os.path.exists(
            c.path(name)), f"no file {name}")


def blend(page, name, part):
    """A colour of the page's palette, drawn with that strength."""
    probe = ("(() => { const e = document.body.appendChild(document."
             "createElement('i')); e.style.color = 'var(--%s)'; const c = "
             "getComputedStyle(e).color; e.remove();"
             " return c.match(/\\d+/g).map(Number) })()")
    back, full = page.run(probe % "bg"), page.run(probe % name)
    part = int(part * 15 + 0.5) / 15
    return [int(b + (f - b) * part + 0.5) for b, f in zip(back, full)] + [255]


def enter(page, text):
    """Searches for a text, as Enter does."""
    page.run(f"""(() => {{
        document.getElementById("q").value = "{text}";
        document.getElementById("find").requestSubmit();
    }})()""")


def drawn(page, view=None):
    """Waits until that part is drawn, and nothing is left to draw."""
    if view:
        page.run(f"setView({view[0]}, {view[1]})")
    page.run("teltools.settled()")


def test_messages(c):
    """A line joins a send to its receive, an event leads to its other end"""
    page = c.open()
    send = [e for e in EVENTS if e[0] == 2][3]
    middle = send[1] + MS // 2
    drawn(page, (middle - MS, middle + MS))
    width = page.run("document.getElementById('canvas').width")
    rows = {r["track"]: r for r in page.run("teltools.visible()")}
    y = [rows[t]["y"] + rows[t]["h"] / 2 for t in (2, 3)]
    # of the colour of its type, in the middle between both
    expect(c.pixel(width / 2, sum(y) / 2), blend(page, "t2", 0.7))
    root = tree.fromstring(page.run("teltools.svg()"))
    strokes = [p.get("d") for p in root.iter(
        "{http://www.w3.org/2000/svg}path") if p.get("stroke")]
    expect(len(strokes), 1)
    # folded away, it leads to the row that it is folded into
    page.run(f"teltools.search('channel == {send[5][0]} && kind == Channel')")
    page.run("document.getElementById('canvas').focus()")
    c.press("0")
    page.run("setView(0, 1e3)")
    c.press("n")
    page.wait("document.querySelector('#panel dl button')")
    page.run("document.querySelector('#panel dl button').click()")
    page.wait(f"(({{ from, to }}) => Math.abs((from + to) / 2 - "
              f"{send[1] + MS}) < 2)(view)")
    page.wait("document.querySelector('.row.chosen')?.dataset.track === '3'")


def test_copies(c):
    """Tracks that show events a second time are drawn from their sums"""
    path = c.path("copies.html")
    made = make_page.mixed()
    made.head["tracks"] += [
        {"id": 9, "parent": 0, "use": "log", "name": "threads"},
        {"id": 10, "parent": 9, "use": "ranges", "name": "again"}]
    width, n = 91 * MS // 64 + 1, 64
    made.series(10, width, {"count": [1] + [0] * (n - 1),
                            "busy": [width] * (n // 2) + [0] * (n // 2)})
    made.write(path)
    page = c.page
    page.open(path)
    drawn(page)
    row = next(r for r in page.run("teltools.visible()") if r["track"] == 10)
    at = page.run("document.getElementById('canvas').width")
    y = row["y"] + row["h"] / 2
    expect([c.pixel(at * part, y) for part in (0.25, 0.75)],
           [blend(page, "dim", 1), blend(page, "bg", 1)])
    # and no event is counted twice
    expect(page.run("teltools.select(0, 91e6).then((s) => s.count)"),
           len(EVENTS))


def test_heat(c):
    """A histogram over time is a strip for each of its rows"""
    page = c.open()
    drawn(page)
    row = next(r for r in page.run("teltools.visible()") if r["track"] == 8)
    width = page.run("document.getElementById('canvas').width")
    # in the first eighth row 4 of 0 to 7 has the most, later row 7
    for x, most in ((width * 0.06, 4), (width * 0.19, 7)):
        column = [c.pixel(x, row["y"] + (row["h"] - 2) * (7.5 - n) / 8)
                  for n in range(8)]
        darkest = min(range(8), key=lambda n: sum(column[n]))
        expect(darkest, most, column)
        expect(len(set(map(tuple, column))) > 4, True, column)
    page.mouse("mouseMoved", c.left() + width * 0.06, c.top() + row["y"] + 9)
    page.wait("document.getElementById('tip').textContent"
              ".includes('64 B to 128 B')")


def test_only(c):
    """Only matches are drawn, counted and listed where that is asked for"""
    page = c.open()
    page.run("teltools.select(10e6, 20e6)")
    page.run("teltools.search('kind == Channel')")
    want = sum(10 * MS <= e[1] <= 20 * MS and e[0] in (2, 3) for e in EVENTS)
    ask = ("document.querySelector('#panel caption')?.textContent"
           ".includes('Selected: %s events')")
    instant = next(e for e in EVENTS if e[0] == 0 and e[2] == 2
                   and e[1] > 10 * MS)
    drawn(page, (instant[1] - 1e4, instant[1] + 1e4))
    row = next(r for r in page.run("teltools.visible()") if r["track"] == 2)
    x, y = page.run("document.getElementById('canvas').width") / 2, \
        row["y"] + row["h"] / 2
    page.run("teltools.select()")
    drawn(page)
    expect(blend(page, "t0", 0.25) in
           [c.pixel(x + d, y) for d in (-1, 0, 1)], True, "not faded")
    enter(page, "kind == Channel")
    drawn(page)
    expect(blend(page, "t0", 0.25) in
           [c.pixel(x + d, y) for d in (-1, 0, 1)], False, "not hidden")
    page.run("teltools.select(10e6, 20e6)")
    page.wait(ask % want)
    enter(page, "")
    page.wait(ask % sum(10 * MS <= e[1] <= 20 * MS for e in EVENTS))


def test_double_click(c):
    """A double click zooms to the range there, and is undone"""
    page = c.open()
    first = (0, 20 * MS)
    drawn(page, first)
    row = next(r for r in page.run("teltools.visible()") if r["track"] == 4)
    width = page.run("document.getElementById('area').clientWidth")
    # the second line has "Scan old", 1 ms from 3.5 ms on
    x, y = c.left() + width * 4 / 20, c.top() + row["y"] + 2 + 18 + 9
    for clicks in (1, 2):
        for kind in ("mousePressed", "mouseReleased"):
            page.mouse(kind, x, y, button="left", clickCount=clicks)
    page.wait("(({ from, to }) => Math.abs(from - 3.3e6) < 2 && "
              "Math.abs(to - 4.7e6) < 2)(view)")
    page.run("keys['?']()")
    page.run("document.querySelector('dialog [data-key=u]').click()")
    expect(c.view(), first)


def test_edges(c):
    """An edge of the selection is dragged, and what is beside it selects anew"""
    page = c.open()
    drawn(page, (0, 40 * MS))
    page.run(f"select({10 * MS}, {20 * MS})")
    width, y = page.run("$('area').clientWidth"), c.top() + 100

    def drag(start, end):
        at = [c.left() + width * t / 40 for t in (start, end)]
        for kind, x in (("mouseMoved", at[0]), ("mousePressed", at[0]),
                        ("mouseMoved", at[1]), ("mouseReleased", at[1])):
            page.mouse(kind, x, y, button="left", clickCount=1)
            cursors.append(page.run("$('canvas').style.cursor"))
        ends = page.run("selection")
        return [round(ends[end] / MS, 1) for end in ("from", "to")]

    for start, end, want, cursor in (
            (20, 25, [10, 25], "ew-resize"), (10, 15, [15, 25], "ew-resize"),
            (25, 5, [5, 15], "ew-resize"), (10, 12, [10, 12], "")):
        cursors = []
        near_each = zip(drag(start, end), want, strict=True)
        expect([abs(a - b) < 0.2 for a, b in near_each], [True] * 2)
        expect(cursors[0], cursor)


def test_links(c):
    """View, selection, search and marks are in the address"""
    page = c.open()
    page.run("setView(10e6, 20e6)")
    page.run("teltools.select(12e6, 14e6)")
    page.run("teltools.search('size > 1k && kind == Object')")
    page.wait("location.hash.includes('q=') && location.hash.includes('s=')"
              " && location.hash.includes('v=')")
    fragment = page.run("location.hash")
    page = c.open(fragment=fragment)
    expect(c.view(), (10 * MS, 20 * MS))
    expect(page.run("selection"),
           {"from": 12 * MS, "to": 14 * MS})
    expect(page.run("document.getElementById('q').value"),
           "size > 1k && kind == Object")


def test_live(c):
    """A live page reloads itself, and keeps view, selection and search"""
    page = c.open(live=1)

    def changed():
        # again if it reloads in between
        try:
            return page.run("""(async () => {
                setView(10e6, 20e6);
                await teltools.select(12e6, 14e6);
                await teltools.search("Scan");
                await teltools.settled();
                return location.hash.includes("q=");
            })()""")
        except RuntimeError:
            return None

    browser.until(changed, "the view does not get into the address")
    more = make_page.mixed(live=1)
    more.head["note"] = "newer"
    more.write(c.path("mixed.html"))
    page.wait("window.teltools?.head?.note === 'newer' && "
              "selection?.from === 12e6 && "
              "view.from === 10e6 && "
              "document.getElementById('q').value === 'Scan'")
    page.leave()


def test_selection_is_an_overlay(c):
    """A selection is drawn over a picture that is kept"""
    page = c.open()
    drawn(page, (0, 40 * MS))
    back = c.pixel(5, 200)
    expect(page.run("""(() => {
        const own = paint, list = [];
        let painted = 0;
        paint = (...all) => { painted++; return own(...all); };
        const edge = () => log.context.getImageData(
            Math.round($("canvas").width / 4) - 3, 200, 6, 1).data.join();
        for (const change of [() => {}, () => select(10e6, 20e6),
            () => select(), () => setView(0, 30e6)]) {
            change();
            drawAll();
            list.push([painted, edge()]);
            painted = 0;
        }
        paint = own;
        const [first, selected, cleared, moved] = list;
        return [selected[0], cleared[0], moved[0], selected[1] === first[1],
            cleared[1] === first[1]];
    })()"""), [0, 0, 1, False, True])
    drawn(page, (0, 40 * MS))
    expect(c.pixel(5, 200), back)


if __name__ == "__main__":
    wanted = sys.argv[2:]
    sys.exit(cases.run([f for name, f in list(globals().items())
                        if name.startswith("test_")
                        and (not wanted or name in wanted)],
                       sys.argv[1], context=Context))
