# SPDX-License-Identifier: BSD-2-Clause
"""Reads a .tel stream as tel(5) has it, and compares it with JSON of telcat.

usage: native.py FILE.tel FILE.json

It knows no more than that page says, and describes the types by what the
stream says of them alone.
"""

import json
import struct
import sys

M64 = (1 << 64) - 1
SETS = [
    (0, 1, 2, 8), (0, 1, 4, 8), (1, 2, 3, 8), (1, 2, 4, 8), (0, 2, 4, 8),
    (0, 1, 3, 8), (0, 2, 3, 8), (2, 3, 4, 8), (1, 3, 5, 8), (0, 3, 6, 8),
    (0, 4, 6, 8), (2, 4, 6, 8), (1, 2, 6, 8), (0, 1, 6, 8), (0, 2, 6, 8),
    (3, 4, 6, 8),
]
UNSIGNED, SIGNED, SET, ADDRESS, POINTER, BOOLEAN, DOUBLE, STRING = range(8)
WIDTHS = [1, 2, 4, 8, 2, 4, 8, 2, 4, 2, 4, 1, 0, 4]
BIG = {4, 5, 6, 9, 10}
SIGN = {7, 8, 9, 10}
BIT, TEXT, TEXT_AT = 11, 12, 13


def rotate(v, n):
    return (v << n | v >> (64 - n)) & M64


def xxh64(data):
    p = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9,
         0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)

    def take(acc, lane):
        return rotate((acc + lane * p[1]) & M64, 31) * p[0] & M64

    at = 0
    if len(data) >= 32:
        acc = [(p[0] + p[1]) & M64, p[1], 0, -p[0] & M64]
        while len(data) - at >= 32:
            for i, lane in enumerate(struct.unpack_from("<4Q", data, at)):
                acc[i] = take(acc[i], lane)
            at += 32
        h = sum(rotate(a, n) for a, n in zip(acc, (1, 7, 12, 18))) & M64
        for a in acc:
            h = ((h ^ take(0, a)) * p[0] + p[3]) & M64
    else:
        h = p[4]
    h = (h + len(data)) & M64
    while len(data) - at >= 8:
        lane = struct.unpack_from("<Q", data, at)[0]
        h = (rotate(h ^ take(0, lane), 27) * p[0] + p[3]) & M64
        at += 8
    if len(data) - at >= 4:
        lane = struct.unpack_from("<I", data, at)[0]
        h = (rotate(h ^ lane * p[0] & M64, 23) * p[1] + p[2]) & M64
        at += 4
    for c in data[at:]:
        h = rotate(h ^ c * p[4] & M64, 11) * p[0] & M64
    h = (h ^ h >> 33) * p[1] & M64
    h = (h ^ h >> 29) * p[2] & M64
    return h ^ h >> 32


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        assert self.at + n <= len(self.data)
        self.at += n
        return self.data[self.at - n:self.at]

    def varint(self):
        v = shift = 0
        while True:
            c = self.take(1)[0]
            v |= (c & 127) << shift
            shift += 7
            if c < 128:
                return v

    def string(self):
        return self.take(self.varint())

    def text(self):
        return self.string().decode("utf-8", "surrogateescape")

    def zigzag(self):
        z = self.varint()
        return z >> 1 ^ -(z & 1)

    def fixed(self, n, width):
        return [int.from_bytes(self.take(width), "little") for _ in range(n)]

    def lengths(self, n, lengths):
        control = self.take((n + 3) // 4)
        return [int.from_bytes(
            self.take(lengths[control[i // 4] >> i % 4 * 2 & 3]), "little")
            for i in range(n)]

    def column(self, n, near=0):
        m = self.take(1)[0]
        if m < 0x80:
            z = m & 0x3f
            if m & 0x40:
                z |= self.varint() << 6
            return [(near + (z >> 1 ^ -(z & 1))) & M64] * n
        code, how = m >> 4 & 7, m & 15
        if code == 5:
            first, step = near + self.zigzag(), self.zigzag()
            return [(first + i * step) & M64 for i in range(n)]
        if code == 4:
            values, bits = [], 1 << how
            for _ in range(self.varint()):
                near += self.zigzag()
                values.append(near & M64)
            packed = int.from_bytes(self.take((n * bits + 7) // 8), "little")
            return [values[packed >> i * bits & (1 << bits) - 1]
                    for i in range(n)]
        assert code < 4
        scale, base = self.varint(), near + self.zigzag()
        count = n - (code & 1)
        if code < 2:
            numbers = self.fixed(count, how)
        else:
            numbers = self.lengths(count, SETS[how])
        if code & 1 == 0:
            return [(base + u * scale) & M64 for u in numbers]
        out = [base & M64]
        for z in numbers:
            base += (z >> 1 ^ -(z & 1)) * scale
            out.append(base & M64)
        return out

    def strings(self, n):
        distinct = self.varint()
        sizes = self.column(distinct)
        places = list(range(n)) if distinct == n else [0] * n
        if 1 < distinct < n:
            places = self.column(n)
        parts = [self.take(size) for size in sizes]
        return [parts[i] for i in places]


class Type:
    def __init__(self, b):
        self.name, self.kind = b.text(), b.text()
        b.varint()
        self.code, self.size, self.role = b.varint(), b.varint(), b.text()
        if self.role:
            for _ in range(b.varint()):
                b.varint()
            b.varint()
        self.fields = [self.field(b) for _ in range(b.varint())]

    @staticmethod
    def field(b):
        name, sort, load = b.text(), b.varint(), b.varint()
        bits, offset = b.varint(), b.varint()
        bit = b.varint() if load == BIT else 0
        b.varint()
        b.varint()
        return name, sort, load, bits, offset, bit

    def cells(self, schema):
        cells, seen = [], set()
        for _, sort, load, _, offset, _ in self.fields:
            if load == TEXT or load == BIT and offset in seen:
                continue
            if load == BIT:
                seen.add(offset)
            cells.append((offset, WIDTHS[load],
                          "big" if load in BIG else "little",
                          sort in (ADDRESS, POINTER)))
        if schema.flags & 32 and schema.header:
            cells += self.rest(cells, schema.header)
        return cells

    @staticmethod
    def rest(cells, header):
        covered = {i for at, width, _, _ in cells
                   for i in range(at, at + width)}
        end, at, rest = max({header - 1} | covered) + 1, 0, []
        while at < end:
            if at in covered:
                at += 1
                continue
            width = 8
            while at % width or at + width > end or \
                    covered & set(range(at, at + width)):
                width //= 2
            rest.append((at, width, "little", False))
            at += width
        return rest


class Schema:
    def __init__(self, data):
        b = Bytes(data)
        b.text(), b.text(), b.varint()
        self.flags, self.header = b.varint(), b.varint()
        b.varint(), b.varint()
        self.types, index = {}, 0
        for _ in range(b.varint()):
            index += b.varint()
            self.types[index] = Type(b)
            index += 1


def value(event, field):
    _, sort, load, bits, at, bit = field
    if load == TEXT_AT:
        at = int.from_bytes(event[at:at + 4], "little")
    if sort == STRING:
        return event[at:].split(b"\0")[0].decode("utf-8", "surrogateescape")
    raw = event[at:at + WIDTHS[load]]
    v = int.from_bytes(raw, "big" if load in BIG else "little",
                       signed=load in SIGN)
    if load == BIT:
        v = v >> bit & 1
    if sort == BOOLEAN:
        return v != 0
    if sort == DOUBLE:
        return struct.unpack("<d", struct.pack("<Q", v))[0]
    if sort == SIGNED and v >> 63 == 1:
        v -= 1 << 64
    return v


def read_log(b, schemas):
    number, _, _, name = b.varint(), b.varint(), b.varint(), b.text()
    digest, _, types = b.take(4), b.string(), b.string()
    b.string(), b.string(), b.string()
    if types:
        schemas[name, digest] = Schema(types)
    return number, schemas[name, digest]


def read_part(b, schema, index, flags, count, near):
    kind = None if flags & 1 else schema.types[index]
    sizes = b.column(count) if flags & 2 else [b.varint()] * count
    rows = [bytearray(size) for size in sizes]
    fixed = 0 if kind is None else schema.header
    for at, width, order, address in kind.cells(schema) if kind else []:
        column = b.column(count, near[address])
        near[address] = column[-1]
        fixed = max(fixed, at + width)
        for row, v in zip(rows, column):
            v &= (1 << 8 * width) - 1
            row[at:at + width] = v.to_bytes(width, order)
    if flags & 4:
        for row, tail in zip(rows, b.strings(count)):
            row[fixed:fixed + len(tail)] = tail
    for flag in 8, 16, 32:
        if flags & flag:
            b.strings(count)
    return [(kind, index, bytes(row)) for row in rows]


def read_block(head, body, schemas):
    h, b = Bytes(head), Bytes(body)
    _, _, count, first, span = (h.varint() for _ in range(5))
    logs = [read_log(b, schemas) for _ in range(b.varint())]
    parts = []
    for _ in range(b.varint()):
        log = b.varint() if len(logs) > 1 else 0
        index = b.varint()
        parts.append((log, index >> 1, b.varint() if index & 1 else 0))
    for _ in range(b.varint()):
        for _ in range(4):
            b.varint()
        b.string()
    if count == 0:
        return []
    order = b.column(count) if len(parts) > 1 else [0] * count
    clocks = b.column(count, first)
    assert min(clocks) == first and max(clocks) == first + span
    if b.varint() == 1:
        b.column(count)
    near = [0, 0]
    rows = [iter(read_part(b, logs[log][1], index, flags, order.count(i), near))
            for i, (log, index, flags) in enumerate(parts)]
    assert b.at == len(body)
    return [(clock, *next(rows[part])) for clock, part in zip(clocks, order)]


def read_stream(data):
    at = blocks = 0
    schemas, total = {}, 0
    while at < len(data):
        begin = at
        assert data[at:at + 4] == b"\xf1tel"
        kind, hsize, size, check, hcheck = struct.unpack_from(
            "<BBIII", data, at + 4)
        head = data[at + 18:at + 18 + hsize]
        assert xxh64(data[at:at + 14] + head) & 0xffffffff == hcheck
        at += 18 + hsize
        body = data[at:at + size]
        assert xxh64(body) & 0xffffffff == check
        at += size
        if kind & 127 == 1:
            assert begin == 0 and body[3] == 0x3c and body[0] == 1
        elif kind == 2:
            read_log(Bytes(body), schemas)
        elif kind == 3:
            h = Bytes(head)
            assert (h.varint(), h.varint()) == (blocks, total)
            blocks += 1
            for event in read_block(head, body, schemas):
                total += 1
                yield event
        elif kind == 6:
            length, _, events = struct.unpack("<3Q", head)
            assert length == at == len(data) and events == total


def main():
    with open(sys.argv[1], "rb") as f:
        data = f.read()
    n = 0
    with open(sys.argv[2], encoding="utf-8", errors="surrogateescape") as f:
        for clock, kind, code, row in read_stream(data):
            want = json.loads(f.readline())
            n += 1
            assert clock == want["clock"], (n, clock, want)
            if kind is None:
                assert code == want["code"], (n, code, want)
                continue
            assert kind.name == want["type"], (n, kind.name, want)
            assert kind.kind == want["kind"], (n, kind.kind, want)
            assert kind.code == want["code"], (n, kind.code, want)
            got = {f[0]: value(row, f) for f in kind.fields}
            for name, shown in want["fields"].items():
                # addresses, and integers that no double holds
                if isinstance(shown, str) and isinstance(got[name], int):
                    shown = int(shown, 0)
                assert got[name] == shown, (n, name, got[name], want)
        assert f.read() == ""
    print(n, "events")


main()
