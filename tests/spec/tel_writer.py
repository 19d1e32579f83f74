# SPDX-License-Identifier: BSD-2-Clause
"""An encoder of .tel files, written from tel(5) and from nothing else.

It makes streams that libtel's own writer does not make: with sources, losses,
metadata, wall clocks, and values that are reserved.  Columns are as plain as
the page allows.
"""
import struct

from tel_reader import (MARKER, START, LOG, BLOCK, NAMES, INDEX, END, Bytes,
                        records, xxh64)

MASK = (1 << 64) - 1
SMALL = [bytes([v]) for v in range(128)]


def varint(v):
    if v < 128:
        return SMALL[v]
    out = bytearray()
    while v > 127:
        out.append(v & 127 | 128)
        v >>= 7
    out.append(v)
    return bytes(out)


def zigzag(d):
    """Of a difference modulo 2^64."""
    d &= MASK
    return (d << 1 & MASK) ^ (MASK if d >> 63 else 0)


def string(s):
    if isinstance(s, str):
        s = s.encode("utf-8", "surrogateescape")
    return varint(len(s)) + s


def metadata(entries):
    out = varint(len(entries))
    for key, value in entries:
        out += string(key) + string(value)
    return out


def column(values, p=0):
    """Mode 88: a base of p, and values less p of 8 bytes."""
    return b"\x88" + varint(1) + varint(0) + b"".join(
        ((v - p) & MASK).to_bytes(8, "little") for v in values)


def byte_strings(strings):
    if len(set(strings)) == 1:
        strings = strings[:1]
    return varint(len(strings)) + column([len(s) for s in strings]) + \
        b"".join(strings)


class Field:
    """A field of 8 bytes, or a string."""

    def __init__(self, name, datatype=0, load=3, space=0, bits=64):
        self.name, self.datatype, self.load = name, datatype, load
        self.space, self.bits, self.offset = space, bits, 0
        if load == 12:
            self.bits = 0


class Type:
    def __init__(self, name, fields, code=1, kind="Test", role="", parts=(),
                 partner=0):
        self.name, self.fields, self.code, self.kind = name, fields, code, kind
        self.role, self.parts, self.partner = role, parts, partner
        at = 0
        for f in fields:
            f.offset = at
            at += 0 if f.load == 12 else 8
        self.size = at

    def describe(self):
        out = string(self.name) + string(self.kind) + varint(0)
        out += varint(self.code) + varint(self.size) + string(self.role)
        if self.role:
            out += varint(len(self.parts))
            out += b"".join(varint(p) for p in self.parts)
            out += varint(self.partner)
        out += varint(len(self.fields))
        for f in self.fields:
            out += string(f.name) + varint(f.datatype) + varint(f.load)
            out += varint(f.bits) + varint(f.offset)
            out += varint(f.space) + varint(0)
        return out


class Schema:
    def __init__(self, name, types, flags=32):
        self.name, self.types, self.flags = name, types, flags
        self.described = range(len(types))  # those that records describe
        self.word, self.header, self.alignment = 8, 0, 1

    def describe(self):
        if not self.described:
            return b""
        out = string("1") + string("any")
        out += varint(self.word) + varint(self.flags) + varint(self.header)
        out += varint(self.alignment) + varint(len(self.types))
        out += varint(len(self.described))
        before = -1
        for i in self.described:
            out += varint(i - before - 1) + self.types[i].describe()
            before = i
        return out

    def digest(self):
        out = string(self.name) + varint(0)
        for t in self.types:
            out += string(t.name) + varint(t.code) + varint(len(t.fields))
            for f in t.fields:
                out += string(f.name) + varint(f.datatype) + varint(f.load)
                out += varint(f.offset) + varint(0)
        return struct.pack("<I", xxh64(out) & 0xFFFFFFFF)


class Stream:
    """Records, from START to END."""

    indexed = 0  # the length of an INDEX record

    def __init__(self, identifier=12345, rate=0.0, origin=0, entries=(),
                 version=(1, 1, 0), order=b"\x3c"):
        self.data, self.hash, self.identifier = b"", 0, identifier
        self.place = self.events = 0
        self.record(START, b"", bytes(version) + order + struct.pack(
            "<dqQ", rate, origin, identifier) + string("tests") +
            metadata(entries), critical=True)

    def record(self, kind, head, body, critical=False):
        start = MARKER + bytes([kind | 128 * critical, len(head)]) + \
            struct.pack("<2I", len(body), xxh64(body) & 0xFFFFFFFF)
        check = struct.pack("<I", xxh64(start + head) & 0xFFFFFFFF)
        if kind != END:
            self.hash = xxh64(struct.pack("<Q", self.hash) + check)
        self.data += start + check + head + body

    def log_body(self, number, schema, index=0, name="", form="", rate=None,
                 origin=None, entries=(), offset=0):
        out = varint(number) + varint(index) + varint(offset)
        out += string(schema.name) + schema.digest()
        out += string(b"" if rate is None else struct.pack("<d", rate))
        out += string(schema.describe()) + string(name) + string(form)
        out += string(b"")
        out += string(b"" if origin is None else struct.pack("<q", origin))
        return out + metadata(entries)

    def log(self, number, schema, **rest):
        self.record(LOG, b"", self.log_body(number, schema, **rest))

    def block(self, number, schema, events, index=0, lost=0, source=(),
              **rest):
        """events: (type's number, clock, values), grouped by nothing.

        source: pairs of a bit (1 process, 2 thread, 4 processor), a value.
        rest: of content().
        """
        clocks = [e[1] for e in events] or [0]
        head = b"".join(varint(v) for v in (
            self.place, self.events, len(events), min(clocks),
            max(clocks) - min(clocks), lost, self.identifier & 0xFFFFFFFF,
            sum(bit for bit, _ in source)))
        head += b"".join(varint(v) for _, v in sorted(source))
        self.record(BLOCK, head, self.content(number, schema, events, index,
                                              **rest))
        self.place += 1
        self.events += len(events)

    def content(self, number, schema, events, index=0, names=(), flags=0,
                raw=b"", offset=0):
        """The body of a block.

        names: (space, value, clock, name).
        raw: the columns of all fields, instead of values.
        """
        clocks = [e[1] for e in events]
        kinds = sorted({e[0] for e in events})
        body = varint(1) + self.log_body(number, schema, index, offset=offset)
        body += varint(len(kinds))
        for k in kinds:
            strings = any(f.load == 12 for f in schema.types[k].fields)
            bits = flags | (6 if strings else 0)
            body += varint(2 * k + (bits != 0))
            body += varint(bits) if bits else b""
        body += varint(len(names))
        for space, value, clock, name in names:
            body += varint(0) + varint(space) + varint(value)
            body += varint(clock) + string(name)
        if events:
            if len(kinds) > 1:
                body += column([kinds.index(e[0]) for e in events])
            body += column(clocks, min(clocks))
            body += varint(0)
            before = [0, 0]
            for k in kinds:
                body += self.part(schema.types[k], [
                    e[2] for e in events if e[0] == k], before) if not raw \
                    else varint(schema.types[k].size) + raw
        return body

    @staticmethod
    def part(kind, rows, before):
        tail = [f for f in kind.fields if f.load == 12]
        out = b""
        if tail:
            strings = [row[-1] if isinstance(row[-1], bytes)
                       else row[-1].encode() for row in rows]
            out += column([kind.size + len(s) for s in strings])
        else:
            out += varint(kind.size)
        for i, f in enumerate(kind.fields):
            if f.load == 12:
                continue
            cls = int(f.datatype not in (3, 4))
            values = [row[i] & MASK for row in rows]
            # mode 90: the zigzag of differences, of which the first is to p
            out += b"\x98" + varint(1) + varint(zigzag(values[0] -
                                                       before[cls]))
            out += b"".join(zigzag(b - a).to_bytes(8, "little")
                            for a, b in zip(values, values[1:]))
            before[cls] = values[-1]
        if tail:
            out += byte_strings(strings)
        return out

    def names(self, first, last, clock, body=varint(0) + varint(0), count=0,
              span=0):
        """A NAMES record about the blocks first to last; bytes of it.

        body: that of a block of count events, and their numbers.
        """
        before = len(self.data)
        self.record(NAMES, b"".join(varint(v) for v in (
            last, self.events, count, clock, span, first,
            self.identifier & 0xFFFFFFFF, 0)), body)
        return len(self.data) - before

    def index(self):
        """The record that streams of 1.1.0 end with."""
        before, n, clock, body = len(self.data), 0, 0, b""
        for kind, _, head, content, _, _ in records(self.data):
            if kind == START:
                gap = 18 + len(head) + len(content)
                continue
            body += varint(kind) + varint(gap)
            body += varint(18 + len(head) + len(content))
            gap, n = 0, n + 1
            if kind == LOG:
                continue
            h = Bytes(head)
            _, _, count, first, span, other = (h.varint() for _ in range(6))
            body += varint(count) + varint(zigzag(first - clock)) + varint(span)
            body += varint(other) if kind == NAMES else b""
            clock = first
        self.record(INDEX, varint(n) + varint(1), body)
        self.indexed = len(self.data) - before

    def end(self):
        length = len(self.data) + 18 + 32
        self.record(END, struct.pack("<4Q", length, self.indexed, self.events,
                                     self.hash), b"")
        return self.data
