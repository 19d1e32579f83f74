#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""
Reads a page that telcat -f html made, as its script does, and prints what is
in it:

    read_page.py events PAGE    an object of JSON a line, as telcat -f json
    read_page.py counts PAGE    how many events of each type the sums have
    read_page.py series PAGE    a line for each series
    read_page.py head PAGE      the head, as JSON
    read_page.py report PAGE    the objects of a report, as telstat -f json
    read_page.py check PAGE     nothing, if the page is as it should be
"""

import base64
import html.parser
import itertools
import json
import re
import struct
import sys
import zlib

EMPTY = {"meta", "link", "br", "hr", "img", "input"}
# Elements that may lack an end tag, and the tags that end them, too.
CELLS = {"td", "th"}
IMPLIED = {"td": CELLS | {"tr", "tbody"}, "th": CELLS | {"tr", "tbody"},
           "tr": {"tr", "tbody"}, "tbody": {"tbody"}, "li": {"li"},
           "option": {"option"}, "p": {"p"}}

USES = {"log", "cpu", "thread", "kind", "ranges", "count", "heat", "bytes"}
DATATYPES = {"int", "uint", "hex", "bool", "double", "string"}


class Parser(html.parser.HTMLParser):
    """The scripts, the styles, the metas and the title of a page."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.data, self.scripts, self.styles = {}, [], []
        self.metas, self.title, self.open, self.tags = [], "", [], []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append((tag, attrs))
        if tag == "meta":
            self.metas.append(attrs)
        while self.open and tag in IMPLIED.get(self.open[-1][0], ()):
            self.open.pop()
        if tag not in EMPTY:
            self.open.append((tag, attrs))
        # the text of an element may come in pieces
        if tag == "style":
            self.styles.append("")
        elif tag == "script" and "type" not in attrs:
            self.scripts.append("")
        elif tag == "script":
            assert attrs["type"] == "application/x-teltools", attrs
            assert attrs["id"] not in self.data, attrs
            self.data[attrs["id"]] = ""

    def handle_endtag(self, tag):
        if tag not in EMPTY:
            while self.open and self.open[-1][0] != tag and \
                    self.open[-1][0] in IMPLIED:
                self.open.pop()
            assert self.open and self.open[-1][0] == tag, (tag, self.open)
            self.open.pop()

    def handle_data(self, data):
        tag, attrs = self.open[-1] if self.open else ("", {})
        if tag == "title":
            self.title += data
        elif tag == "style":
            self.styles[-1] += data
        elif tag == "script" and "type" in attrs:
            self.data[attrs["id"]] += data
        elif tag == "script":
            self.scripts[-1] += data


class Bytes:
    """The integers of a block, one after the other."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def varint(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                assert value < 1 << 64
                return value

    def signed(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def plain(self, n):
        """As varint(), of which most have one byte."""
        data, at = self.data, self.at
        small = data[at:at + n]
        if len(small) == n and small.isascii():
            self.at += n
            return list(small)
        out = []
        for _ in range(n):
            value = data[at]
            at += 1
            if value > 127:
                # varint(), without a call for each
                value, shift = value & 127, 7
                while (byte := data[at]) > 127:
                    value |= (byte & 127) << shift
                    at, shift = at + 1, shift + 7
                value |= byte << shift
                at += 1
                assert value < 1 << 64
            out.append(value)
        self.at = at
        return out

    def deltas(self, n, value=0):
        steps = [step >> 1 ^ -(step & 1) for step in self.plain(n)]
        return list(itertools.accumulate(steps, initial=value))[1:]

    def take(self, n):
        self.at += n
        assert self.at <= len(self.data)
        return self.data[self.at - n:self.at]


def number(value, kind):
    """A field's 64 bits as telcat's JSON has them."""
    value &= (1 << 64) - 1
    if kind == "hex":
        return hex(value)
    if kind == "bool":
        return value != 0
    if kind == "int" and value >> 63:
        value -= 1 << 64
    # what a double does not hold is text there
    return str(value) if abs(value) > 1 << 53 else value


def real(data):
    """The same of a floating-point number."""
    value = struct.unpack("<d", data)[0]
    return int(value) if value.is_integer() else value


class Page:
    """A page, whose blocks are decoded when they are asked for."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = file.read()
        self.text = self.bytes.decode()
        self.parser = Parser()
        self.parser.feed(self.text)
        self.parser.close()
        self.head = json.loads(self.unpack("head"))

    def unpack(self, name):
        data = base64.b64decode(self.parser.data[name], validate=True)
        unpacker = zlib.decompressobj(31)
        out = unpacker.decompress(data) + unpacker.flush()
        assert unpacker.eof and not unpacker.unused_data, name
        return out

    def block(self, number_):
        return self.unpack(f"b{number_}")

    def fields_of(self, group, type_, n):
        """The columns of the fields, before their strings are known."""
        columns = []
        for field in type_["fields"]:
            kind = field["type"]
            if kind == "string":
                values = group.plain(n)
            elif kind == "double":
                values = [real(group.take(8)) for _ in range(n)]
            else:
                values = [number(v, kind) for v in group.deltas(n)]
            labels = group.plain(n) if field.get("labels") else [0] * n
            if field.get("optional"):
                values = [value if there else None for value, there
                          in zip(values, group.plain(n))]
            columns.append((field, values, labels))
        return columns

    def events_of(self, entry):
        """The events of a block of head.blocks."""
        data = Bytes(self.block(entry["block"]))
        groups = []
        for _ in range(data.varint()):
            type_ = data.varint()
            n = data.varint()
            times = data.deltas(n, entry["from"])
            tracks = data.deltas(n)
            lengths, names = data.plain(n), data.plain(n)
            groups.append((type_, times, tracks, lengths, names,
                           self.fields_of(data, self.head["types"][type_], n)))
        strings = [data.take(data.varint()).decode()
                   for _ in range(data.varint())]
        assert data.at == len(data.data), "bytes behind a block"
        for type_, times, tracks, lengths, names, columns in groups:
            for i, time in enumerate(times):
                fields, labels = {}, {}
                for field, values, numbers in columns:
                    value = values[i]
                    if field["type"] == "string" and value is not None:
                        value = strings[value]
                    fields[field["name"]] = value
                    if numbers[i]:
                        labels[field["name"]] = strings[numbers[i] - 1]
                yield {"time": time, "type": type_, "track": tracks[i],
                       "length": lengths[i] - 1 if lengths[i] else None,
                       "name": strings[names[i] - 1] if names[i] else None,
                       "fields": fields, "labels": labels}

    def events(self):
        for entry in self.head["blocks"]:
            yield from self.events_of(entry)

    def series(self):
        """Each series with its columns, "at" first."""
        blocks = {}
        for entry in self.head["series"]:
            which = entry["block"]
            if which not in blocks:
                blocks = {which: self.block(which)}
            data = Bytes(blocks[which], entry["offset"])
            at, before = [], 0
            for step in data.plain(entry["k"]):
                before += step
                at.append(before)
            columns = {"at": at}
            for name in entry["columns"]:
                columns[name] = (data.plain if name in ("count", "busy")
                                 else data.deltas)(entry["k"])
            yield entry, columns

    def links(self):
        """From when and on which track, to when and where, and the type."""
        for entry in self.head["links"]:
            data, n = Bytes(self.block(entry["block"])), entry["n"]
            times, sources = data.deltas(n), data.plain(n)
            lengths = [data.signed() for _ in range(n)]
            targets, types = data.plain(n), data.plain(n)
            assert data.at == len(data.data), "bytes behind the links"
            yield from zip(times, sources, map(sum, zip(times, lengths)),
                           targets, types)

    def memory(self):
        """Stacks with what they held at the peak, and moments.

        (stacks, ranks, moments): a stack is (frames, holder, bytes, blocks), a
        moment has rows of (stack, live, blocks, allocated, calls)."""
        data = Bytes(self.block(self.head["memory"]["block"]))
        names = [None] + [data.take(data.varint()).decode()
                          for _ in range(data.varint())]
        paths = [()]
        for i in range(1, data.varint()):
            up = i - data.varint()
            paths.append(paths[up] + (names[data.varint() + 1],))
        ranks = [names[i] for i in data.plain(6)]
        n = data.varint()
        nodes, holders = data.plain(n), data.plain(n)
        stacks = [(paths[node], names[holder], data.varint(), data.varint())
                  for node, holder in zip(nodes, holders)]
        moments = []
        for _ in range(data.varint()):
            k, at, before = data.varint(), [], 0
            for step in data.plain(k):
                before += step
                at.append(before)
            moments.append(list(zip(at, *(data.plain(k) for _ in range(4)))))
        assert data.at == len(data.data), "bytes behind the stacks"
        return stacks, ranks, moments

    def check_memory(self):
        """Stacks and moments add up to the figures of the head."""
        head, (stacks, ranks, moments) = self.head["memory"], self.memory()
        held = {}
        for path, holder, peak, _ in stacks:
            assert path and holder in path, (path, holder)
            held[holder] = held.get(holder, 0) + peak
        assert sum(s[2] for s in stacks) == head["peak"]
        assert sum(s[3] for s in stacks) == head["peak_blocks"]
        order = sorted((v for v in held.values() if v), reverse=True)[:6]
        assert [held[r] for r in ranks if r is not None] == order
        if moments:
            assert len(moments) == self.head["span"] // head["width"] + 1
            last = {stack: row for m in moments for stack, *row in m}
            assert [sum(c) for c in zip(*last.values())] == [
                head[k] for k in ("live", "live_blocks", "allocated", "calls")]

    def paths(self):
        """The names of each track and those above it."""
        paths = {0: ()}
        for track in self.head["tracks"]:
            paths[track["id"]] = paths[track["parent"]] + (track["name"],)
        return paths

    def counts(self):
        """Events of each type, by the sums."""
        counts = {}
        for entry, columns in self.series():
            if entry["type"] >= 0 and "row" not in entry:
                counts[entry["type"]] = (counts.get(entry["type"], 0) +
                                         sum(columns["count"]))
        return counts

    def check_frame(self):
        """The page around the data."""
        # loaded for this alone: OpenSSL takes longer than most pages
        import hashlib
        parser, policy = self.parser, None
        for meta in parser.metas:
            if meta.get("http-equiv") == "Content-Security-Policy":
                policy = meta["content"]
        assert policy.startswith("default-src 'none'; "), policy
        for what, texts in (("script", parser.scripts),
                            ("style", parser.styles)):
            assert len(texts) == 1, what
            digest = hashlib.sha256(texts[0].encode()).digest()
            code = base64.b64encode(digest).decode()
            assert f"{what}-src 'sha256-{code}'" in policy, what
        for tag, attrs in parser.tags:
            assert tag not in ("link", "iframe", "object", "embed"), tag
            for name, value in attrs.items():
                assert not name.startswith("on"), name
                assert name not in ("src", "href") or \
                    not value.startswith(("http", "//")), value
        assert not parser.open, parser.open
        assert not re.search(r"[^\n\t -\U0010ffff]", self.text)

    def check(self):
        """Asserts all that the head promises."""
        head = self.head
        self.check_frame()
        assert head["version"] == 1
        if head["page"] == "report":
            assert head["reports"] and head["title"] and head["tool"]
            return
        assert len(self.bytes) <= head["size"], len(self.bytes)
        tracks = {0}
        for track in head["tracks"]:
            assert track["parent"] in tracks and track["id"] not in tracks
            assert track["use"] in USES, track
            tracks.add(track["id"])
        assert sum(t["n"] for t in head["types"]) == head["events"]
        assert all(f["type"] in DATATYPES
                   for t in head["types"] for f in t["fields"])
        # the six most frequent types have hues, in that order
        ranks = sorted((t for t in head["types"] if t["n"]),
                       key=lambda t: -t["n"])
        assert [t["hue"] for t in ranks[:6]] == list(range(len(ranks[:6])))
        assert sum("hue" in t for t in head["types"]) == len(ranks[:6])
        assert sum(log["events"] for log in head["logs"]) == head["events"]
        for from_, source, to, target, type_ in self.links():
            assert 0 <= from_ <= head["span"] and 0 <= to <= head["span"]
            assert source in tracks and target in tracks
            assert type_ < len(head["types"])
        exact = 0
        for entry in head["blocks"]:
            n = 0
            for event in self.events_of(entry):
                n += 1
                end = event["time"] + (event["length"] or 0)
                assert event["track"] in tracks
                assert entry["start"] <= event["time"] <= end <= entry["hi"]
                assert 0 <= event["time"] and end <= head["span"]
            assert n == entry["events"] > 0, entry
            exact += n
        assert exact == head["exact"]
        ends = [end for gap in head["gaps"] for end in gap]
        assert all(a <= b for a, b in head["gaps"])
        assert bool(ends) == (exact < head["events"])
        assert not ends or 0 <= min(ends) <= max(ends) <= head["span"]
        for entry, columns in self.series():
            assert entry["track"] in tracks and entry["type"] >= -1
            assert all(a < b for a, b in zip(columns["at"], columns["at"][1:]))
            assert not columns["at"] or columns["at"][-1] < entry["n"]
            assert entry["n"] <= 65536
            assert all(n > 0 for n in columns["count"]) or \
                "busy" in columns
            for low, high, last in zip(columns.get("min", []),
                                       columns.get("max", []),
                                       columns.get("last", [])):
                assert low <= last <= high
        if "memory" in head:
            self.check_memory()
        for number_, n in self.counts().items():
            assert n == head["types"][number_]["n"], (number_, n)


def main():
    what, page = sys.argv[1], Page(sys.argv[2])
    types = page.head.get("types")
    if what == "report":
        for report in page.head["reports"]:
            for section in report["sections"]:
                print(json.dumps(section, ensure_ascii=False))
    elif what == "head":
        json.dump(page.head, sys.stdout, indent=1)
    elif what == "check":
        page.check()
    elif what == "counts":
        for key, n in sorted(page.counts().items()):
            print(types[key]["kind"], types[key]["name"], n)
    elif what == "memory":
        for frames, holder, size, blocks in page.memory()[0]:
            print(json.dumps([";".join(frames), holder, size, blocks]))
    elif what == "series":
        names = {t["id"]: t["name"] for t in page.head["tracks"]}
        for entry, columns in page.series():
            print(names[entry["track"]],
                  types[entry["type"]]["name"] if entry["type"] >= 0 else "-",
                  entry["k"], {k: sum(v) for k, v in columns.items()})
    else:
        encode = json.JSONEncoder(ensure_ascii=False).encode
        for event in page.events():
            type_ = types[event["type"]]
            out = {"time": event["time"], "type": type_["name"],
                   "kind": type_["kind"], "fields": event["fields"]}
            if event["labels"]:
                out["labels"] = event["labels"]
            print(encode(out))


if __name__ == "__main__":
    main()
