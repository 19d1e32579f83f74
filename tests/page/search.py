#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Tests of what is sought, met and saved in the pages of logs with unusual
values, names and times, in a browser, compared with what "telfilter -c" counts
(TAP).
"""

import csv
import io
import json
import os
import re
import sys
import xml.etree.ElementTree as tree

import cases
from cases import command, expect

TYPES = r"""# teltools text 1
# format: unusual
# tick rate: 1000000000
# type: A 1 Object i:signed u:unsigned d:double s:string kind:string
# type: B 2 Pool i:double opt?:signed size?:unsigned word?:string real?:double
# type: length 3 Odd start.x:unsigned a.b.c:unsigned
# type: Rate 4 Odd name:string
# type: M 5 Memory address:address size:unsigned
# role: M alloc address size -
# type: F 6 Memory address:address
# role: F free address - -
"""
FIRST = 1000
HUGE = 2 ** 53


def unusual():
    """Lines of events, some of which have the same time."""
    wholes = [0, -1, HUGE, HUGE + 1, HUGE + 2, -HUGE, -HUGE - 1, -2 ** 63, 15]
    for i, value in enumerate(wholes):
        real = ["nan", "inf", "-0", "0.5", "1e+300"][i % 5]
        text = ["", r"a\nb", r"w1 \xc3\xa9", "=1+1", r"\xf0\x9f\x98\x80 x"]
        yield i // 2, (f'A i={value} u={abs(value)} d={real} '
                       f's="{text[i % 5]}" kind="Pool"')
        more = (" opt=0 size=7" if i % 3 == 0 else " opt=-5 real=0.25"
                if i % 3 == 1 else ' word="heap"')
        yield i // 2, f"B i={real}{more}"
        yield i // 2, f"length start.x={i} a.b.c={i % 2}"
        yield i // 2, f'Rate name="{text[i % 5]}"'


class Context(cases.Context):
    """Opens the page of a log."""

    def open(self, name, events):
        """events: pairs of a time and the rest of a line; returns the path of
        the log."""
        log, path = self.path(name + ".text"), self.path(name + ".html")
        with open(log, "w", encoding="ascii") as out:
            out.write(TYPES + "".join(f"{FIRST + time:016X} {rest}\n"
                                      for time, rest in events))
        command("telcat", "-q", "-f", "html", "-o", path, log)
        self.page.run("(() => { try { sessionStorage.clear() } catch {} })()")
        self.page.open(path)
        return log

    def steps(self, key, most=99):
        """The events that a key leads to, one after the other."""
        found = []
        while len(found) < most:
            self.page.run(f"$('status').textContent = ''; {key}")
            if self.page.run("$('status').textContent.startsWith('No ')"):
                break
            found.append(tuple(self.page.run(
                "[chosen.time, chosen.type.name, chosen.texts()]")))
        return [(time, name, dict(texts)) for time, name, texts in found]


EXPRESSIONS = r"""
i == 9007199254740992
i == 9007199254740993
i > 9007199254740993
i in (-9007199254740993, 9007199254740993..9007199254740994)
u >= 0x20000000000001
i < -9007199254740992
u == 0o17
u == 017
u in (0b1111, 0o0)
(d)
!(d)
d != d
d > 1e308 || i > -1
opt < 1G
(opt)
!(opt)
has(opt)
!has(opt)
!has(size) && kind == Pool
has(word) && word == "heap"
word != "x"
real == 0.25
real < 1
has(.kind)
has(kind)
.kind == "Pool"
kind == pool
a.b.c == 1
.a.b.c != 1 && field("start.x") > 3
has(a.b.c)
field("a.b.c") == 1
s ~ "a.b"
s == "w1 \xc3\xa9"
s =* "\xf0\x9f\x98\x80*"
s =* "w1 ??"
s =* "w1 ?"
s =* "w1 [^a]?"
time < 3ns
time in (1ns..2ns)
time > 1.5us
"""


def test_expressions(c):
    """Searches find what telfilter selects"""
    log = c.open("expressions", unusual())
    for text in EXPRESSIONS.strip().splitlines():
        found = c.page.run(f"teltools.search({json.dumps(text)})")
        expect(c.page.run("$('hits').className"), "", text)
        expect(found, int(command("telfilter", "-c", "-w", text, log)), text)


def test_without_a_clock(c):
    """Events without a clock have no time in an expression"""
    page, path = c.page, c.path("clockless.html")
    log = os.path.join(cases.TOP, "tests/data/alloc/perl.mtrace.zst")
    command("telcat", "-q", "-f", "html", "-o", path, log)
    page.open(path)
    for text in ("time < 1s", "has(time)", "!(time < 1s)", "size < 100"):
        expect(page.run(f"teltools.search('{text}')"),
               int(command("telfilter", "-c", "-w", text, log)), text)


def test_absent_fields(c):
    """A field that an event lacks is not shown, nor counted as 0"""
    c.open("absent", unusual())
    sizes = c.page.run("""statistics({ from: 0, to: log.span }).then((s) =>
        s.types.find((t) => t.type.name === "B"))""")
    expect([sizes["min"], sizes["max"], sizes["sum"]], [7, 7, 21])
    c.page.run("teltools.search('kind == Pool')")
    for _, _, fields in c.steps("step(true)"):
        expect(sorted(fields) in (["i", "opt", "size"], ["i", "opt", "real"],
                                  ["i", "word"]), True, fields)
    rows = list(csv.DictReader(io.StringIO(c.page.run(
        "select(0, log.span); teltools.csv()"), newline="")))
    expect(sorted({r["opt"] for r in rows if r["type"] == "B"}),
           ["", "-5", "0"])


def test_steps(c):
    """n leads to every event, from the first on, and Shift-n back"""
    events = list(unusual())
    c.open("steps", events)
    ahead = c.steps("step(true)")
    expect(len(ahead), len(events))
    expect(sorted((time, name) for time, name, _ in ahead),
           sorted((time, re.split("[ =]", rest)[0]) for time, rest in events))
    expect([time for time, _, _ in ahead],
           sorted(time for time, _ in events))
    expect(c.steps("step(false)"), ahead[-2::-1])
    # of those that match
    c.page.run("chooseEvent(null); teltools.search('field(\"start.x\") < 2')")
    expect([e[2]["start.x"] for e in c.steps("step(true)")], ["0", "1"])


def test_saved(c):
    """Whole numbers of any size are saved as CSV, and no formula is"""
    c.open("saved", unusual())
    rows = list(csv.DictReader(io.StringIO(c.page.run(
        "select(0, log.span); teltools.csv()"), newline="")))
    expect([r["i"] for r in rows if r["type"] == "A"],
           [re.search("i=([^ ]*)", rest)[1] for _, rest in unusual()
            if rest.startswith("A ")])
    expect({r["s"][:1] for r in rows if r["s"][1:2] == "="}, {"'"})
    # an SVG has what is beyond U+FFFF, too
    c.page.run("""document.title = ""; log.tracks[0].name = "\\u{1f600}\\ud83d"
        """)
    expect("\U0001f600\ufffd<" in c.page.run("teltools.svg()"), True)


def test_pictures(c):
    """A picture of a report is XML, whatever its keys are"""
    log, path = c.path("keys.text"), c.path("keys.html")
    with open(log, "w", encoding="ascii") as out:
        out.write(TYPES + "".join(f"{FIRST + time:016X} {rest}\n" for
                                  time, rest in [(1, r'Rate name="\x01<\x1b"'),
                                                 (2, r'Rate name="\xf0\x9f\x98\x80"')]))
    command("telstat", "-q", "-f", "html", "-s", "keys=tally(.name,9)", "-o",
            path, log)
    c.page.open(path)
    texts = [e.text for e in tree.fromstring(c.page.run("teltools.svg(0)"))
             .iter("{http://www.w3.org/2000/svg}text")]
    expect([text for text in texts if "<" in text or text > "~"],
           ["\ufffd<\ufffd", "\U0001f600"])


def test_frames(c):
    """A zoom is to the frame that was clicked, also of two with one name"""
    log, path = c.path("frames.text"), c.path("frames.html")
    frames = [("main", 0), ("/usr/lib/libx.so", 1), ("/opt/libx.so", 1),
              ("alpha", 2), ("beta", 3), ("gamma", 2), ("delta", 3)]
    with open(log, "w", encoding="ascii") as out:
        out.write("""# teltools text 1
# tick rate: 1000000000
# type: M 1 Memory address:address size:unsigned stack:unsigned
# role: M alloc address size - stack=stack
# type: Frame 2 Memory n:unsigned ip:address parent:unsigned
# role: Frame frame n ip parent
""")
        for n, (name, parent) in enumerate(frames, 1):
            out.write(f"{n:016X} Frame n={n} ip={hex(n)}[\"{name}\"] "
                      f"parent={parent}\n")
        for n, size in ((4, 1000), (6, 500), (5, 300), (7, 200)):
            out.write(f"{n + 9:016X} M address={hex(n * 4096)} size={size} "
                      f"stack={n}\n")
    command("telcat", "-q", "-f", "html", "-o", path, log)
    zoomed = "[flame.zoomed.name, flame.zoomed.value]"
    c.page.open(path)
    c.page.run("flame.zoom(flame.frames.findLast((f) =>"
               " f.list[0].name === 'libx.so').list[0])")
    expect(c.page.run(zoomed), ["libx.so", 500])
    c.page.run("teltools.settled()")
    c.page.open(path, c.page.run("location.hash"))
    expect(c.page.run(zoomed), ["libx.so", 500])


def test_one_time(c):
    """Events of one time are counted, also if there is but one"""
    for n in (1, 5):
        c.open(f"one{n}", [(0, f"M address=0x{i:x}0 size=16")
                           for i in range(1, n + 1)])
        c.page.run("teltools.settled()")
        shown = c.page.run("""[...document.querySelectorAll(".row")].map((r) =>
            r.querySelector(".beside").textContent)""")
        expect(shown[1], f"allocated, up{n}freed, down0")
        expect(f"{n}  100%" in shown[2], True, shown)
        expect(c.steps("step(true)")[0][1], "M")


def test_long(c):
    """Times beyond 2^53 ns are shown, and zooming in has an end"""
    times = [0, HUGE + 1, 2 ** 60, 2 ** 60 + 1, 2 ** 62]
    c.open("long", [(t, f"M address=0x{i}0 size=16")
                    for i, t in enumerate(times, 1)])
    expect(c.page.run("log.span"), 2 ** 62)
    expect([t for t, _, _ in c.steps("step(true)")], list(map(float, times)))
    c.page.run("setView(2 ** 60 - 2 ** 58, 2 ** 60 + 2 ** 58)")
    for _ in range(150):
        c.page.run("keys.w()")
    c.page.run("teltools.settled()")
    expect(c.page.run("view.from < 2 ** 60 && view.to > 2 ** 60"), True)


def test_hints(c):
    """A kind or a type that the log lacks is a mistake, until the next search"""
    c.open("hints", unusual())
    hits = "[$('hits').className, $('hits').textContent]"
    for text, why in (("kind == Poool", "column 9: no type has the kind Poool"),
                      ("name in (A, C)", "column 13: no type has the name C")):
        c.page.run(f"teltools.search({json.dumps(text)})")
        expect(c.page.run(hits), ["error", why], text)
    c.page.run("$('q').value = '2ns'; $('find').requestSubmit()")
    expect(c.page.run(hits)[1], "")


def test_places(c):
    """What is no time and no range leads nowhere"""
    c.open("places", unusual())
    view = c.page.run("view")
    for text in ("1.2.3 s", ". s", "..ms", ""):
        c.page.run(f"$('q').value = {json.dumps(text)}; "
                   "$('find').requestSubmit()")
        expect(c.page.run("[view, chosenTrack]"), [view, 0], text)
        c.page.run("find('')")
    for part in ("s=1,Infinity", "s=NaN,3", "s=-1e300,1e300", "v=2,1",
                 "v=NaN,NaN", "v=-Infinity,Infinity", "s=3", "s=9,1"):
        c.page.run(f"location.hash = '{part}'; recall()")
        c.page.run("teltools.settled()")
        expect(c.page.run("""[view.from >= -log.span && view.to > view.from &&
            view.to <= 2 * log.span, !selection || selection.from >= 0 &&
            selection.to <= log.span]"""), [True, True], part)


if __name__ == "__main__":
    names = sys.argv[2:]
    os.makedirs(sys.argv[1], exist_ok=True)
    sys.exit(cases.run([f for name, f in list(globals().items())
                        if name.startswith("test_")
                        and (not names or name in names)],
                       sys.argv[1], context=Context))
