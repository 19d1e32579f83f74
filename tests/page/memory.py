#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Tests of the pages of allocations in a browser (TAP): who holds memory.

What they show is compared with what telstat says of the same range.
"""

import json
import os
import random
import re
import sys

import cases
import logs
from cases import expect, near
from figures import bytes_of, command, count_of

def calls(path):
    """A log of 6,000 calls by 40 callers, in five bursts."""
    rnd, live, clock = random.Random(3), [], 16
    with open(path, "w", encoding="utf-8") as out:
        out.write("""\
# teltools text 1
# format: mtrace
# type: malloc 0 Alloc address:address size:unsigned caller:address
# type: free 12 Alloc address:address caller:address
# role: malloc alloc address size stack=caller
# role: free free address stack=caller
""")
        for i in range(6000):
            clock += rnd.choice((1, 3, 400)) + 50000 * (i % 1200 == 0)
            caller = rnd.randrange(40)
            # some have no name but that of their file
            place = f"program:(f{caller}+1)" if caller % 9 else \
                f"/opt/lib/lib{caller}.so:[{4096 + caller:#x}]"
            name = f'caller={4096 + caller:#x}["{place}"]'
            if live and rnd.random() < 0.4 + i % 1200 / 8000:
                address = live.pop(rnd.randrange(len(live)))
                out.write(f"{clock:016X} free address={address:#x} {name}\n")
            else:
                live.append(0x100000 + 4096 * i)
                size = rnd.choice((16, 100, 4000)) * (1 + caller % 7)
                out.write(f"{clock:016X} malloc address={live[-1]:#x} "
                          f"size={size} {name}\n")
    return path


def holders(operands, column, *words):
    """What the functions hold, by telstat, of stacks of one frame."""
    found = {}
    for line in command("telstat", "-q", "-f", "json", f"--stacks={column}",
                        *words, *operands).splitlines():
        o = json.loads(line)
        if o["type"] == "stack":
            name = o["stack"].split(";")[-1]
            found[name] = found.get(name, 0) + int(
                o["allocations" if column == "count" else column + "_bytes"])
    return {k: v for k, v in found.items() if v}


def holders_shown(*words):
    """The same by names as the page has them: files without their folders."""
    return {re.sub("^/.*/", "", k): v for k, v in holders(*words).items()}


def shown_holders(page, mode, column):
    """The same as the page shows it: the values of its cells."""
    page.run(f"setMode('{mode}')")
    rows = page.run("""[...document.querySelectorAll(".columns tbody tr")]
        .map((r) => [...r.cells].map((c) => c.textContent))""")
    return {row[0]: bytes_of(row[column]) for row in rows
            if bytes_of(row[column])}


def memory(c):
    """who holds memory: facts, functions and stacks, of all and of ranges"""
    page, log = c.page, calls(c.path("calls.text"))
    path = c.path("memory.html")
    with open(path, "wb") as out:
        out.write(command("telcat", "-q", "-f", "html", log))
    page.open(path)

    def same(mode, column, want, what):
        got = shown_holders(page, mode, column)
        expect(sorted(got), sorted(want), what)
        for name, v in want.items():
            near(got[name], v, 1e-3)

    for mode, key in (("peak", "peak"), ("end", "leaked"),
                      ("allocated", "allocated")):
        want = holders_shown([log], key)
        expect(len(want), 40)
        same(mode, 1, want, mode)
        expect(page.run("""["td span", ".frame title"].map((names) =>
            [...document.querySelectorAll(`.columns ${names}`)].filter((e) =>
                (e.title || e.textContent).includes("lib18.so")).map((e) =>
                e.textContent.replace(/: .*/, "")))"""),
               [["lib18.so:[0x1012]"]] * 2)
        expect(page.run("""document.querySelector(
            ".columns td span[title$='lib18.so:[0x1012]']").title"""),
               "/opt/lib/lib18.so:[0x1012]")
        bars = page.run("[...document.querySelectorAll('.columns .bar')].map("
                        "(e) => parseFloat(e.style.getPropertyValue('--part')))")
        most = max(want.values())
        for part, v in zip(bars, sorted(want.values(), reverse=True),
                           strict=True):
            near(part, 100 * v / most, 1e-6)
        # the stacks are as much as the functions
        near(bytes_of(page.run("document.querySelector('.frame text')"
                               ".textContent")), sum(want.values()), 1e-3)
    facts = page.run("[...document.querySelectorAll('#facts p')].map((p) =>"
                     " p.textContent)")
    for fact, key in ((facts[0], "peak"), (facts[1], "leaked"),
                      (facts[2], "allocated")):
        number, rest = fact.split(" ", 1)
        near(bytes_of(f"{number} {rest[:3]}"),
             sum(holders_shown([log], key).values()), 6e-3)
    blocks = sum(holders_shown([log], "count").values())
    assert f"allocated in {blocks:,} blocks" in facts[2], facts
    # on paper stacks are as wide as that, on the screen beside the table
    page.run("""matchMedia("print").addEventListener("change", () => {
        (window.wide ??= []).push(
            flame.frames[0].width / $("panel").clientWidth);
    })""")
    cases.sheets(page)
    paper, screen = page.run("wide")
    near(paper, 0.95, 0.05)
    near(screen, 0.6, 0.05)
    rnd = random.Random(4)
    span, width = page.run("[log.span, memory.width]")
    for _ in range(4):
        ends = sorted(rnd.randrange(span + 1) for _ in range(2))
        page.run(f"select({ends[0]}, {ends[1]})")
        first = ends[0] // width * width
        last = min((ends[1] // width + 1) * width - 1, span)
        same("end", 1, holders_shown([log], "leaked", "-t", f"0,{last}"), "end")
        want = holders_shown([log], "allocated", "-t", f"{first},{last}")
        same("allocated", 1, want, f"allocated {first} {last}")
        got = shown_holders(page, "allocated", 2)
        expect(got, holders_shown([log], "count", "-t", f"{first},{last}"))
        grown, highest = page.run("""document.getElementById('modes')
            .textContent.match(/live (.*), highest (.*)/).slice(1)""")
        live = [sum(holders_shown([log], "leaked", "-t", f"0,{t}").values())
                if t >= 0 else 0 for t in (first - 1, last)]
        expect(grown[0], "+" if live[1] >= live[0] else "-")
        near(bytes_of(grown[1:]), abs(live[1] - live[0]), 6e-3)
        near(bytes_of(highest),
             sum(shown_holders(page, "peak", 1).values()), 6e-3)
    # rates and sizes are those of the range, and of all
    wide = page.run("log.series[0].width")
    for first, last in ((0, span), (40 * wide, 700 * wide - 1)):
        page.run(f"select({first}, {last + (last < span)})")
        page.run("teltools.settled()")
        rows = page.run("""[...document.querySelectorAll(".row.first")]
            .map((r) => [r.textContent, [...r.querySelectorAll(".beside title")]
                .map((t) => t.textContent.split(": ")[1])])""")
        blocks = sum(holders_shown([log], "count", "-t",
                                   f"{first},{last}").values())
        assert f"allocated, up{blocks:,}freed" in rows[1][0], rows[1]
        expect(sum(map(count_of, rows[2][1])), blocks, "sizes")
        freed, = re.findall("down([0-9,]+)$", rows[1][0])
        expect(sum(map(count_of, rows[3][1])), count_of(freed), "lifetimes")
        if last == span:
            found = {}
            for line in command("telstat", "-q", "-f", "json",
                                log).splitlines():
                found.update(json.loads(line))
            expect(count_of(freed), int(found["freed_blocks"]))
    # a bar of sizes finds the allocations that it counts
    page.run(f"select(0, {span})")
    page.run("teltools.settled()")
    bar = """[...document.querySelectorAll(".row.first")].find((r) =>
        r.textContent.startsWith("Sizes")).querySelectorAll("rect")"""
    for n in (1, page.run(f"{bar}.length") - 1):
        low, high, blocks = re.findall("[0-9,.]+(?: [KM]?i?B)?", page.run(
            f"{bar}[{n}].textContent"))
        page.run(f"{bar}[{n}].dispatchEvent(new MouseEvent('click'))")
        text = page.run("$('q').value")
        expect([int(v) for v in re.findall("[0-9]+", text)],
               [round(bytes_of(low)), round(bytes_of(high)) - 1])
        page.wait("$('hits').textContent.includes('found')")
        found = command("telfilter", "-q", "-c", "-w", text, log)
        expect(count_of(page.run("$('hits').textContent").split()[0]),
               int(found))
        expect(int(found) >= count_of(blocks) > 0, True, blocks)
        page.run("find('')")
    # others than the layer of the row at the pointer fade
    page.run("""document.querySelector("#legend li:nth-child(2) span")
        .dispatchEvent(new PointerEvent("pointerover", { bubbles: true }))""")
    page.run("drawAll()")
    colours = """[0, 1].map((i) => [1, 0.28].map((part) =>
        new Uint32Array(log.image.data.buffer).includes(
            shade(ink[`h${i}`], part))))"""
    expect(page.run(colours), [[False, True], [True, False]])
    page.run("""document.querySelector("#facts").dispatchEvent(
        new PointerEvent("pointerover", { bubbles: true }))""")
    page.run("drawAll()")
    expect(page.run(colours), [[True, False], [True, False]])
    # the layers of the curve are those of the functions at each moment
    page.run("select()")
    near(page.run("memory.layers.at(-1).reduce((a, v) => a + v)"),
         sum(holders_shown([log], "leaked").values()), 1e-9)
    for theme in ("light", "dark"):
        page.emulate(prefers_color_scheme=theme)
        page.run("teltools.settled()")
        c.screenshot(f"memory-{theme}")


def nested(path, rnd):
    """A log of stacks of several frames, of a random tree of calls."""
    with open(path, "w", encoding="utf-8") as out:
        out.write("v 10400 3\nx d /bin/program\nX program\nI 1000 5e298f\n")
        for i in range(1, 60):
            out.write(f"t {0x1000 + i:x} {rnd.randrange(max(i // 3, 1)):x}\n")
        live = []
        for i in range(4000):
            if i % 10 == 0:
                out.write(f"c {i // 10:x}\n")
            if live and rnd.random() < 0.3 + i % 1300 / 3000:
                out.write(f"- {live.pop(rnd.randrange(len(live))):x}\n")
            else:
                live.append(0x100000 + 4096 * i)
                out.write(f"+ {rnd.choice((16, 100, 4000)):x} "
                          f"{rnd.randrange(1, 60):x} {live[-1]:x}\n")
    return path


def alone(c):
    """a function, or the stacks through a frame, alone in the first rows"""
    page, rnd = c.page, random.Random(11)
    log, path = nested(c.path("nested.heaptrack"), rnd), c.path("nested.html")
    with open(path, "wb") as out:
        out.write(command("telcat", "-q", "-f", "html", log))
    page.open(path)
    span, width = page.run("[log.span, memory.width]")

    def stacks(*words):
        found = (json.loads(line) for line in command(
            "telstat", "-q", "-f", "json", "--stacks=count", *words,
            log).splitlines())
        return [(o["stack"].split(";"), o) for o in found
                if o["type"] == "stack"]

    def shown():
        page.run("teltools.settled()")
        return page.run("""(() => {
            const [live, rate] = document.querySelectorAll(".row.first");
            const list = (e) => [...e.querySelectorAll("li")].map((l) =>
                [l.querySelector("span")?.textContent,
                    l.lastChild.textContent]);
            return { below: live.querySelector(".head span").textContent,
                title: live.title, held: list(live), rate: list(rate),
                note: memory.row.peak[1], state: location.hash };
        })()""")

    def check(is_in, below):
        page.run("hairline = null; select()")
        now, rows = shown(), [o for stack, o in stacks() if is_in(stack)]
        expect(now["below"], below)
        held = now["held"][:-1]
        near(sum(bytes_of(n) for _, n in held),
             sum(o["peak_bytes"] for o in rows), 6e-3)
        expect(now["held"][-1][1], "Escape shows all")
        holders = {stack[-1] for stack, o in stacks() if is_in(stack) and
                   o["peak_bytes"]}
        named = {name for name, _ in held}
        others = [n for n in named if n.endswith("other functions")]
        expect(named - set(others) <= holders, True, f"{named} {holders}")
        expect([n for _, n in now["rate"]],
               [f"{sum(o[key] for o in rows):,}"
                for key in ("allocations", "freed")])
        # at a time, and of a part
        ends = sorted(rnd.randrange(span + 1) for _ in range(2))
        page.run(f"select({ends[0]}, {ends[1]}); hairline = {ends[1]};"
                 "drawBeside()")
        now, last = shown(), min((ends[1] // width + 1) * width - 1, span)
        live = [o for stack, o in stacks("-t", f"0,{last}") if is_in(stack)]
        near(sum(bytes_of(n) for _, n in now["held"][:-1]),
             sum(o["leaked_bytes"] for o in live), 6e-3)
        part = stacks("-t", f"{ends[0] // width * width},{last}")
        expect(count_of(now["rate"][0][1]), sum(
            o["allocations"] for stack, o in part if is_in(stack)))
        return now

    for i in rnd.sample(range(40), 6):
        name = page.run(f"""(() => {{
            const row = document.querySelectorAll(".columns tbody tr")[{i}];
            row.click();
            return row.querySelector("span").textContent;
        }})()""")
        check(lambda stack, name=name: stack[-1] == name, f"of {name}")
    page.run("showAlone(memory.alone)")
    for _ in range(6):
        i, names = page.run(f"""(() => {{
            const i = Math.floor({rnd.random()} * (flame.frames.length - 1));
            document.querySelectorAll(".frame")[i + 1].dispatchEvent(
                new MouseEvent("click", {{ shiftKey: true, bubbles: true }}));
            return [i, pathOf(flame.frames[i + 1].list[0]).slice(1)
                .map((n) => n.name)];
        }})()""")
        now = check(lambda stack, names=names: stack[:len(names)] == names,
                    f"of {names[-1]}")
    # a link has all of it, keys do as the mouse, and Escape shows all
    page.run("setMode('end').then(() => flame.zoom(flame.frames[2].list[0]))")
    now = shown()
    page.open(path, now["state"])
    again = shown()
    expect(again, now)
    expect(page.run("[mode, flame.top.length > 0, memory.alone !== '']"),
           ["end", True, True])
    expect(now["state"].count("="), 4, now["state"])
    for strange in ("#a=n1e9", "#a=f999", "#a=x", "#f=99999", "#m=live",
                    "#a=n-1&f=n-3"):
        page.open(path, strange)
        shown()
        expect(page.run("document.querySelector('#failed')?.textContent"),
               None, strange)
    # also where the tab of events is open, and while the page is
    page.run("tab(2)")
    shown()
    page.open(path, now["state"])
    expect(shown()["state"], now["state"])
    page.run("tab(0)")
    expect(page.run("[location.hash, pathOf(flame.zoomed).length > 1]"),
           [now["state"], True])
    page.run("location.hash = location.hash.replace(/&f=.*/, '')")
    page.wait("flame.top.length === 0 && flame.zoomed.key === 'n0'")
    expect(shown()["state"].count("="), 3)
    page.open(path, now["state"])
    page.run("$('flame').focus()")
    page.key("Escape")
    page.key("ArrowDown")
    page.key("Enter", modifiers=8)
    expect(page.run("[flame.top.length, memory.alone === flame.chosen.key]"),
           [0, True])
    page.key("Escape")
    expect(page.run("[memory.alone, selection]"), ["", None])
    expect(shown()["below"], "by function")


def on_the_drawing(c):
    """a layer at the pointer is named, others fade; the peak selects its climb"""
    page, path = c.page, c.path("nested.html")
    page.open(path)
    where = page.run("""(() => {
        const dpr = devicePixelRatio, { layers, note } = memory.row;
        const i = Math.floor($("canvas").width * 0.6);
        const l = layers.find(({ base, edge }) => base[i] - edge[i] > 4);
        const box = $("area").getBoundingClientRect();
        return { x: box.left + i / dpr, y: box.top + l.base[i] / dpr - 2,
            layer: l.layer, name: l.name, value: l.values[i],
            note: [box.left + note[0] + 5, box.top + note[1] + 8] };
    })()""")
    page.mouse("mouseMoved", where["x"], where["y"])
    page.run("new Promise(requestAnimationFrame).then(() => drawAll())")
    expect(page.run("lit"), where["layer"])
    page.wait(f"$('tip').textContent.includes('{where['name']}')")
    expect(page.run("$('tip').lastChild.lastChild.textContent"),
           page.run(f"short({where['value']}, 'bytes')"))
    page.mouse("mouseMoved", *where["note"])
    expect(page.run("[lit, $('canvas').style.cursor]"), [None, "pointer"])
    for kind in ("mousePressed", "mouseReleased"):
        page.mouse(kind, *where["note"], button="left", clickCount=1)
    expect(page.run("selection && Object.values(selection)"),
           page.run("climb(memory.curve)"))
    # in a narrow window, bars are below a track once its name is tapped
    page.size(390, 1600)
    page.wait("document.body.classList.contains('narrow')")
    for i in (1, 2, 3):
        boxes = []
        for _ in range(3):
            page.run("teltools.settled()")
            boxes.append(page.run(f"""(() => {{
                const row = document.querySelectorAll(".row.first")[{i}];
                const svg = row.querySelector("svg")?.getBoundingClientRect();
                const all = row.getBoundingClientRect();
                const now = [all.height, svg?.height ?? 0, svg?.bottom <
                    all.bottom + 1, svg?.top > $("area").getBoundingClientRect()
                    .top + RULER + rows[{i}].y + rows[{i}].height - 1];
                row.querySelector(".head").click();
                return now;
            }})()"""))
        page.run("arrange()")
        [high, *_], [open_, *bars], again = boxes
        expect(bars, [0, False, False] if i == 1 else [82, True, True])
        expect(open_, high + (bars[0] and bars[0] + 4))
        expect(again, boxes[0])
    page.size(1400, 900)


def other_end(events, i, end):
    """When the block of an event was freed, or allocated, if that is known."""
    t, pid, address = events[i][0], events[i][1], events[i][end]
    found = [(e[0], e[5 - end] == address) for k, e in enumerate(events)
             if k != i and e[1] == pid and address in e[2:] and
             (e[0] >= t if end == 2 else e[0] <= t)]
    if address is None or not found:
        return None
    near_ = (min if end == 2 else max)(time for time, _ in found)
    return near_ if near_ != t and (near_, True) in found else None


def ends(c):
    """an event leads to the other end of the life of its block, if it is known"""
    page, rnd, clock, live = c.page, random.Random(5), 16, {}
    log, path = c.path("ends.text"), c.path("ends.html")
    made = []  # (time, process, address given, address taken)
    with open(log, "w", encoding="utf-8") as out:
        out.write("""\
# teltools text 1
# type: get 0 Alloc address:address size:unsigned pid:unsigned
# type: put 12 Alloc address:address pid:unsigned
# type: again 24 Alloc address:address old:address size:unsigned pid:unsigned
# role: get alloc address size process=pid
# role: put free address process=pid
# role: again realloc address size old=old process=pid
""")
        for _ in range(9000):
            clock += rnd.random() < 0.9
            pid, block = rnd.randrange(1, 3), 64 * rnd.randrange(1, 40)
            old = 64 * rnd.randrange(1, 40)
            if (pid, block) in live and rnd.random() < 0.7:
                out.write(f"{clock:016X} put address={block:#x} pid={pid}\n")
                del live[pid, block]
                made.append((clock, pid, None, block))
            elif (pid, old) in live and ((pid, block) not in live or
                                         block == old):
                out.write(f"{clock:016X} again address={block:#x} "
                          f"old={old:#x} size=8 pid={pid}\n")
                del live[pid, old]
                live[pid, block] = True
                made.append((clock, pid, block, old))
            elif (pid, block) not in live:
                out.write(f"{clock:016X} get address={block:#x} size=8 "
                          f"pid={pid}\n")
                live[pid, block] = True
                made.append((clock, pid, block, None))
    seen = 0
    events = [(e[0] - made[0][0], *e[1:]) for e in made]
    for rate in ([], ["--tb-hz=1000000000"]):
        with open(path, "wb") as out:
            out.write(command("telcat", "-q", "-f", "html", *rate, log))
        page.open(path)
        page.run("tab(tabList.length - 1)")
        for i in rnd.sample(range(len(events)), 40):
            t, pid, given, taken = events[i]
            want = [[what, time] for what, time in (
                ("Freed", other_end(events, i, 2)),
                ("Allocated", other_end(events, i, 3))) if time is not None]
            got = page.run(f"""(async () => {{
                let e;
                await each({{ from: {t}, to: {t} }}, (g, i) => {{
                    const now = new LogEvent(g, i), is = (name, v) =>
                        (now.get(name, true) ?? 0) == v;
                    if (is("pid", {pid}) && is(blockField(g.type, true),
                        {given or 0}) && is(blockField(g.type, false),
                        {taken or 0}))
                        e = now;
                }}, () => true);
                chosen = e;
                await lookUp(e);
                return e.ends.map(([what, e]) => [what, e.time]);
            }})()""")
            expect(got, want, f"{events[i]}")
            seen += len(want)
    assert seen > 60, seen
    # by a click, and back
    page.run("goTo(chosen)")
    page.wait("[...document.querySelectorAll('#event dt')].some((e) => "
              "/Freed|Allocated/.test(e.textContent))")
    was = page.run("(() => { const was = chosen.time; [...document"
                   ".querySelectorAll('#event button')].at(-1).click();"
                   "return was; })()")
    page.wait("chosen.ends?.length > 0")
    expect(page.run(f"chosen.time !== {was} && chosen.ends.some(([, e]) => "
                    f"e.time === {was})"), True)


def stacks_of_events(c):
    """an event has its stack beside it"""
    page, log = c.page, nested(c.path("stacks.heaptrack"), random.Random(7))
    path, frames = c.path("stacks.html"), {}
    with open(path, "wb") as out:
        out.write(command("telcat", "-q", "-f", "html", log))
    page.open(path)
    page.run("tab(tabList.length - 1)")
    for line in command("telcat", "-q", "-f", "json", log).splitlines():
        e = json.loads(line)
        if e["type"] == "trace":
            f = e["fields"]
            frames[f["number"]] = (f["ip"], f["parent"])
    found = page.run("""(async () => {
        const list = [];
        await each({ from: 0, to: log.span }, (g, i) => {
            if (g.type.name === "malloc" && i % 40 === 0)
                list.push(new LogEvent(g, i));
        }, () => true);
        for (const e of list)
            await lookUp(chosen = e);
        goTo(list[0]);
        return list.map((e) => [e.get("trace"), e.stack]);
    })()""")
    assert len(found) > 40, found
    for number, shown in found:
        want = []
        while number:
            ip, number = frames[number]
            want.append(f"{int(ip, 16):#x}" if isinstance(ip, str)
                        else f"{ip:#x}")
        expect(shown, want)
    expect(page.run("""[...document.querySelectorAll("#event dd")]
        .map((e) => e.textContent)""").count(found[0][1][-1]), 1)


def containers(c):
    """what makes room in a container is no holder where its caller is known"""
    page, path = c.page, c.path("containers.html")
    operands = logs.unpack("jfr/native-ap45.jfr.zst", c.folder)
    with open(path, "wb") as out:
        out.write(command("telcat", "-q", "-f", "html", *operands))
    page.open(path)
    grow = "((n) => /::(grow|resize|reserve)/.test(n))"
    expect(page.run(f"memory.names.some({grow})"), True)
    expect(page.run("[...new Set(memory.holder)].map((h) => "
                    f"memory.names[h - 1]).filter({grow})"), [])


SIZES = [(64, "to 64 B"), (1 << 10, "to 1 KiB"), (1 << 14, "to 16 KiB"),
         (1 << 18, "to 256 KiB"), (1 << 63, "above 256 KiB")]


def stackless(c):
    """logs without stacks: live bytes by size, or by process; else <none>"""
    page, rnd = c.page, random.Random(5)
    for processes, stacks in ((1, 0), (3, 0), (1, 1)):
        path, html = c.path("stackless.text"), c.path("stackless.html")
        live, held, most = [], {}, (0, {})
        total, allocated = 0, {}
        with open(path, "w", encoding="utf-8") as out:
            out.write("""\
# teltools text 1
# format: mtrace
# type: malloc 0 Alloc pid:unsigned address:address size:unsigned
# type: free 12 Alloc pid:unsigned address:address
# role: malloc alloc address size process=pid
# role: free free address process=pid
""")
            if stacks:
                out.write("""# type: call 24 Alloc pid:unsigned address:address size:unsigned by:address
# role: call alloc address size process=pid stack=by
""")
            for i in range(3000):
                if live and rnd.random() < 0.3 + i % 1500 / 3000:
                    pid, address, size, key = live.pop(rnd.randrange(len(live)))
                    line = f"free pid={pid} address={address:#x}"
                    total, held[key] = total - size, held[key] - size
                else:
                    pid, size = 7 + rnd.randrange(processes), rnd.choice(
                        (64, 65, 1024, 1025, 16384, 16385, 262144, 262145))
                    address = 0x100000 + (i << 20)
                    key = f"process {pid}" if processes > 1 else next(
                        name for limit, name in SIZES if size <= limit)
                    live.append((pid, address, size, key))
                    line = f"malloc pid={pid} address={address:#x} size={size}"
                    if stacks:
                        key = rnd.choice(("<none>", "0x5000", "0x6000"))
                        if key != "<none>":
                            line = f"call{line[6:]} by={key}"
                        live[-1] = live[-1][:3] + (key,)
                    total += size
                    held[key] = held.get(key, 0) + size
                    allocated[key] = allocated.get(key, 0) + size
                    if total > most[0]:
                        most = total, dict(held)
                out.write(f"{16 + 1000 * i:016X} {line}\n")
        with open(html, "wb") as out:
            out.write(command("telcat", "-q", "-f", "html", path))
        page.open(html)
        for mode, want in (("peak", most[1]), ("end", held),
                           ("allocated", allocated)):
            got = shown_holders(page, mode, 1)
            expect(sorted(got), sorted(k for k, v in want.items() if v), mode)
            for name, v in got.items():
                near(v, want[name], 1e-3)
        # telstat has the same sums
        figures = {}
        for line in command("telstat", "-q", "-f", "json", path).splitlines():
            figures.update(json.loads(line))
        for i, key in enumerate(("peak", "live", "allocated")):
            number, unit = page.run(
                f"document.querySelectorAll('#facts p b')[{i}].textContent"
            ).split(" ")
            near(bytes_of(f"{number} {unit}"), figures[f"{key}_bytes"], 6e-3)
        near(page.run("memory.layers.at(-1).reduce((a, v) => a + v)"),
             sum(held.values()), 1e-9)
        assert stacks or "telrec -g" in page.run(
            "document.getElementById('legend').textContent")
        page.run("teltools.settled()")
        c.screenshot(f"stackless-{processes}-{stacks}")


if __name__ == "__main__":
    names = sys.argv[2:]
    os.makedirs(sys.argv[1], exist_ok=True)
    sys.exit(cases.run([f for f in [memory, alone, on_the_drawing, ends,
                                    stacks_of_events, containers,
                                    stackless]
                        if not names or f.__name__ in names],
                       sys.argv[1], (1400, 900)))
