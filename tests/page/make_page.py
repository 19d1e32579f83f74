#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Makes pages of invented logs, as "telcat -f html" makes them of real ones:

    make_page.py mixed|big|empty OUT [EVENTS]

mixed has every use of a track, and hostile names; big has many events on 32
tracks, for measurements.  Both are the same each time.
"""

import base64
import gzip
import hashlib
import html
import json
import os
import random
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "..", "..", "lib", "print", "page")
REPORT = ("chart.js", "report.js")  # not in a page of a log
HOSTILE = "</script><img src=x onerror=alert(1)>"


def scripts():
    """The parts of the script, in the order in which the build joins them."""
    names = sorted(n for n in os.listdir(SOURCES) if n.endswith(".js"))
    return ["page.js"] + [n for n in names
                          if n not in ("page.js", *REPORT)]


def source(name):
    with open(os.path.join(SOURCES, name), encoding="utf-8") as file:
        return file.read()


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def zigzag(n):
    return varint(n << 1 if n >= 0 else (-n << 1) - 1)


def plain(values):
    return b"".join(varint(v) for v in values)


def deltas(values, before=0):
    out = []
    for v in values:
        out.append(zigzag(v - before))
        before = v
    return b"".join(out)


def wrapping(values):
    """Deltas of 64 bits, as C subtracts them."""
    out, before = [], 0
    for v in values:
        d = (v - before) & (1 << 64) - 1
        out.append(zigzag(d - (1 << 64) if d >> 63 else d))
        before = v
    return b"".join(out)


class Page:
    """Collects the blocks of a page, and writes it."""

    def __init__(self, title, types, tracks, span, **more):
        self.types, self.blocks, self.shared = types, [], bytearray()
        self.head = {
            "version": 1, "generator": "make_page.py", "page": "timeline",
            "title": title, "live": 0,
            "logs": [{"name": title, "format": "invented", "start": None,
                      "events": 0, "lost": 0}],
            "span": span, "events": 0, "exact": 0, "note": "An invented log.",
            "types": types, "tracks": tracks, "series": [], "blocks": [],
            "gaps": [], "links": [], "damage": [], **more}

    def block(self, data):
        """Adds a block; before one of another kind, that of the series."""
        if self.shared and data != self.shared:
            self.shared_block()
        self.blocks.append(data)
        return len(self.blocks) - 1

    def series(self, track, width, columns, kind=-1, **more):
        """columns: name to values; buckets without a count are left out."""
        places = [i for i, n in enumerate(columns["count"])
                  if n or any(columns.get("busy", [0] * (i + 1))[i:i + 1])]
        steps = [at - before for at, before in zip(places, [0] + places)]
        data = plain(steps) + b"".join(
            (plain if name in ("count", "busy") else deltas)(
                [values[i] for i in places])
            for name, values in columns.items())
        self.head["series"].append({
            "track": track, "type": kind, "block": len(self.blocks),
            "offset": len(self.shared), "width": width, "k": len(places),
            "n": len(columns["count"]), "columns": list(columns), **more})
        self.shared += data

    def shared_block(self):
        """Ends the block that several series share."""
        if self.shared:
            self.block(bytes(self.shared))
            self.shared.clear()

    def events(self, events, start, end, count=True, **more):
        """events: (type, time, track, duration or None, name, fields); a
        field that has a label is a pair."""
        strings = {}

        def string(text):
            return strings.setdefault(text, len(strings))

        groups = {}
        for e in events:
            groups.setdefault(e[0], []).append(e)
        data = [varint(len(groups))]
        for kind, group in groups.items():
            data += [varint(kind), varint(len(group)),
                     deltas([e[1] for e in group], start),
                     deltas([e[2] for e in group]),
                     plain([0 if e[3] is None else e[3] + 1 for e in group]),
                     plain([0 if e[4] is None else string(e[4]) + 1
                            for e in group])]
            for i, field in enumerate(self.types[kind]["fields"]):
                values = [e[5][i] for e in group]
                labels = [None] * len(values)
                if field.get("labels"):
                    values, labels = zip(*values)
                if field["type"] == "string":
                    data.append(plain([string(v) for v in values]))
                elif field["type"] == "double":
                    data.append(struct.pack(f"<{len(values)}d", *values))
                elif field["type"] in ("int", "time"):
                    data.append(deltas(values))
                else:
                    data.append(wrapping(values))
                if field.get("labels"):
                    data.append(plain([0 if v is None else string(v) + 1
                                       for v in labels]))
        data.append(varint(len(strings)))
        for text in strings:
            raw = text.encode()
            data += [varint(len(raw)), raw]
        self.head["blocks"].append({
            "block": self.block(b"".join(data)), "from": start, "to": end,
            "start": min([start] + [e[1] for e in events]),
            "hi": max([end] + [e[1] + (e[3] or 0) for e in events]),
            "events": len(events), **more})
        if count:
            self.head["exact"] += len(events)

    def link(self, links):
        """(from, track, to, track, type)"""
        data = deltas([k[0] for k in links]) + plain([k[1] for k in links]) \
            + b"".join(zigzag(k[2] - k[0]) for k in links) \
            + plain([k[3] for k in links]) + plain([k[4] for k in links])
        self.head["links"].append({"block": self.block(data), "n": len(links)})

    def write(self, path):
        self.shared_block()
        script = "".join(map(source, scripts()))
        style, shell = source("page.css"), source("page.html")
        hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest())
                  .decode() for text in (script, style)]
        data = [("head", json.dumps(self.head).encode())]
        data += [(f"b{i}", b) for i, b in enumerate(self.blocks)]
        with open(path + ".new", "w", encoding="utf-8") as out:
            out.write(
                '<!doctype html><html lang="en"><head><meta charset="utf-8">'
                '<meta http-equiv="Content-Security-Policy" content="default-'
                f"src 'none'; script-src 'sha256-{hashes[0]}'; style-src "
                f"'sha256-{hashes[1]}'; img-src data: blob:; base-uri 'none'; "
                "form-action 'none'\"><meta name=\"viewport\" content=\""
                'width=device-width"><title>'
                f'{html.escape(self.head["title"])}</title><style>{style}'
                f"</style></head><body>{shell}")
            for name, raw in data:
                text = base64.b64encode(gzip.compress(raw, 6, mtime=0))
                out.write('<script type="application/x-teltools" '
                          f'id="{name}">{text.decode()}</script>\n')
            out.write(f"<script>{script}</script></body></html>\n")
        os.replace(path + ".new", path)


MIXED_TYPES = [
    {"name": "Alloc", "hue": 0, "kind": "Object",
     "description": "an object is made",
     "fields": [{"name": "size", "type": "uint", "unit": "bytes"},
                {"name": "pool", "type": "hex", "labels": True}]},
    {"name": "Scan", "hue": 1, "kind": "Trace", "description": "a scan",
     "fields": [{"name": "ratio", "type": "double"},
                {"name": "why", "type": "string"}]},
    {"name": "Send", "hue": 2, "kind": "Channel", "description": "a message",
     "fields": [{"name": "channel", "type": "uint"}]},
    {"name": "Receive", "hue": 3, "kind": "Channel",
     "description": "a message comes",
     "fields": [{"name": "channel", "type": "uint"},
                {"name": "late", "type": "bool"},
                {"name": "delta", "type": "int"}]},
]
MS = 1000000


def mixed_events(rnd):
    out = []
    for i in range(2000):
        out.append((0, i * 45000 + 17, 2 + i % 2, None, None,
                    (16 << i % 9, (0xfffffffffffff000 + i % 4096,
                                   HOSTILE if i % 100 == 7 else "heap"
                                   if i % 2 else None))))
    for i in range(30):
        t = i * 3 * MS
        out.append((1, t, 4, 2 * MS, f"Scan nursery {i % 3}",
                    (i / 7, "nursery")))
        out.append((1, t + MS // 2, 4, MS, "Scan old", (0.5, HOSTILE)))
        out.append((1, t + MS, 5, 3 * MS // 2, "Scan old", (0.5, "old")))
    for i in range(20):
        t = i * 4 * MS + rnd.randrange(MS)
        out.append((2, t, 2, None, f"Bind {i % 4}", (313 + i,)))
        out.append((3, t + MS, 3, None, f"Bind {i % 4}",
                    (313 + i, i % 2, -i)))
    return sorted(out, key=lambda e: e[1])


def mixed(**more):
    rnd = random.Random(1)
    use = [(0, "log", HOSTILE), (1, "thread", "thread 7 main"),
           (1, "thread", "thread 8 " + HOSTILE), (2, "ranges", "Scan"),
           (2, "ranges", "Scan"), (1, "bytes", "live bytes"),
           (1, "count", "queue"), (1, "heat", "sizes")]
    tracks = [{"id": i + 1, "parent": p, "use": u, "name": n}
              for i, (p, u, n) in enumerate(use)]
    tracks[7]["unit"] = "bytes"
    events, span, n = mixed_events(rnd), 91 * MS, 1024
    page = Page("mixed " + HOSTILE, MIXED_TYPES, tracks, span,
                events=len(events), **more)
    page.head["logs"][0].update(name=HOSTILE, events=len(events))
    width = span // n + 1
    for kind in range(4):
        for track in range(2, 6):
            mine = [e for e in events if e[0] == kind and e[2] == track]
            if not mine:
                continue
            count, busy = [0] * n, [0] * n
            for e in mine:
                count[e[1] // width] += 1
                end = e[1] + (e[3] or 0)
                for b in range(e[1] // width, min(end // width + 1, n)):
                    busy[b] += max(min(end, (b + 1) * width)
                                   - max(e[1], b * width), 0)
            columns = {"count": count}
            if kind == 1:
                columns["busy"] = busy
            page.series(track, width, columns, kind)
    low = [abs(i * 7 % 512 - 256) * 4096 for i in range(n)]
    page.series(6, width, {"min": low, "max": [v + 4096 for v in low],
                           "last": low, "count": [1] * n})
    low = [(i // 64) % 5 - 2 for i in range(n)]
    page.series(7, width, {"min": low, "max": low, "last": low,
                           "count": [1 if i % 64 == 0 else 0
                                     for i in range(n)]})
    for row in range(8):
        page.series(8, width, {"count": [
            int(50 * 2 ** -abs(row - 4 - 3 * ((i // 128) % 2)))
            for i in range(n)]}, row=row + 4)
    half = span // 2
    page.events([e for e in events if e[1] < half], 0, half)
    page.events([e for e in events if e[1] >= half], half, span)
    sends = [e for e in events if e[0] == 2]
    page.link([(e[1], 2, e[1] + MS, 3, 2) for e in sends])
    return page


def big(total):
    """Events on 32 tracks: 24 of instants, 4 of ranges, 4 counters."""
    rnd = random.Random(2)
    types = [{"name": f"Event{i}", "kind": f"Kind{i // 4}", "description": "",
              "fields": [{"name": "size", "type": "uint", "unit": "bytes"},
                         {"name": "ref", "type": "hex"}]} for i in range(16)]
    tracks = [{"id": 1, "parent": 0, "use": "log", "name": "big.log"}]
    tracks += [{"id": i + 2, "parent": 1, "use":
                "thread" if i < 24 else "ranges" if i < 28 else "bytes",
                "name": f"track {i}"} for i in range(32)]
    span, n = 100 * 1000 * MS, 65536
    page = Page("big.log", types, tracks, span, events=total)
    page.head["logs"][0]["events"] = total
    width = span // n + 1
    each = total // 28
    for i in range(28):
        mean, wave = each / n, 2 + i % 5
        count = [int(rnd.random() * mean * 2 * (1 + (b * wave // n) % 2))
                 for b in range(n)]
        columns = {"count": count}
        if i >= 24:
            columns["busy"] = [int(min(c / mean / 4, 1) * width)
                               for c in count]
        page.series(i + 2, width, columns, i % 16)
    for i in range(28, 32):
        v, low, high = 1 << 24, [], []
        for _ in range(n):
            v = max(v + rnd.randrange(-65536, 65537), 0)
            low.append(v)
            high.append(v + rnd.randrange(4096))
        page.series(i + 2, width, {"min": low, "max": high, "last": low,
                                   "count": [1] * n})
    gap, at = span * 4096 // total, 0
    for b in range(total // 4096):
        if b % 16 == 0 and len(page.head["blocks"]) < 128:
            page.events([(k % 16, at + k * gap // 4096, k % 28 + 2,
                          gap // 40 if k % 28 >= 24 else None, None,
                          (16 << k % 9, 0x7f0000000000 + k * 16))
                         for k in range(4096)], at, at + gap)
        else:
            page.head["gaps"].append([at + 1, at + gap - 1])
        at += gap
    page.head["exact"] = 4096 * len(page.head["blocks"])
    return page


def empty():
    return Page("empty", [], [], 0)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    if sys.argv[1] == "big":
        page = big(int(float(sys.argv[3])) if len(sys.argv) > 3 else 10 ** 7)
    else:
        page = {"mixed": mixed, "empty": empty}[sys.argv[1]]()
    page.write(sys.argv[2])


if __name__ == "__main__":
    main()
