#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Descriptions of types at the limits of tel(5) and beyond.

    descriptions.py FILE.tel > WANT

Each block has one event, of a type that it describes.  WANT has the clocks of
those that are to be read, and the blocks that need a newer version.
"""
import itertools
import sys

from tel_writer import Schema, Stream, Type, string, varint

OK, BAD, NEWER = "ok", "bad", "newer"
UNSIGNED, SIGNED, BOOLEAN, DOUBLE, STRING, LIST = 0, 1, 5, 6, 7, 8
U8, LE64, BIT, TAIL, PLACED, FLOAT, LISTED = 0, 3, 11, 12, 13, 14, 15
WIDTHS = [1, 2, 4, 8, 2, 4, 8, 2, 4, 2, 4, 1, 0, 4, 4, 8]
OPTIONAL, UNIT, ELEMENTS, LABEL = 1, 2, 4, 8


class Field:
    """An extension is flags and the bytes that they need."""

    def __init__(self, datatype=UNSIGNED, load=LE64, extension=None, bits=None,
                 offset=0, bit=0, space=0, letter=0, name="x"):
        self.load, self.offset = load, offset
        self.present_at = None
        if bits is None:
            bits = 0 if load in (TAIL, PLACED) else \
                1 if load == BIT else 8 * WIDTHS[load % 16]
        out = string(name) + varint(datatype)
        out += varint(load + 32 * (extension is not None)) + varint(bits)
        out += varint(offset) + (varint(bit) if load == BIT else b"")
        out += varint(space) + varint(letter)
        if extension is not None:
            out += varint(extension[0]) + b"".join(map(varint, extension[1:]))
            if extension[0] & OPTIONAL and len(extension) > 1:
                self.present_at = extension[1]
        self.bytes = out

    def cells(self):
        """(offset, width) of what is in columns."""
        if self.load == TAIL:
            return []
        if self.load == LISTED:
            return [(self.offset, 4), (self.offset + 4, 4)]
        return [(self.offset, WIDTHS[self.load % 16])]


class Described(Type):
    def __init__(self, fields, size=8, role=b"\0", kind_number=0, kind="Test",
                 name="T"):
        super().__init__(name, [], 1, kind)
        self.own, self.size = fields, size
        self.head = varint(kind_number) + varint(1) + varint(size) + role

    def describe(self):
        return string(self.name) + string(self.kind) + self.head + \
            varint(len(self.own)) + b"".join(f.bytes for f in self.own)

    def cells(self, header, flags):
        """How many columns there are."""
        n, end, used = 0, header, set()
        for f in self.own:
            for at, width in f.cells():
                n += not (f.load == BIT and at in used)
                used |= set(range(at, at + width))
                end = max(end, at + width)
            if f.present_at is not None:
                end = max(end, f.present_at + 1)
        if header == 0 or not flags & 32:
            return n
        at = 0
        while at < end:
            if at in used:
                at += 1
                continue
            width = next(w for w in (8, 4, 2, 1) if at % w == 0 and
                         at + w <= end and not used & set(range(at, at + w)))
            at, n = at + width, n + 1
        return n


def role(name, parts, partner=0):
    return string(name) + varint(len(parts)) + b"".join(map(varint, parts)) + \
        varint(partner)


def loads():
    """Which loads data types have."""
    for d, load, extended in itertools.product(range(10), range(17), (0, 1)):
        if d == DOUBLE and load not in (LE64, 6, FLOAT, TAIL, PLACED, LISTED):
            continue  # tel(5) does not say
        extension = ([ELEMENTS, UNSIGNED, LE64] if load == LISTED else [0]) \
            if extended else None
        want = OK
        if d > 8 or load > 15 or (load > 13 and not extended):
            want = NEWER
        elif (d == STRING) != (load in (TAIL, PLACED)) or \
                (d == LIST) != (load == LISTED) or \
                (load == FLOAT and d != DOUBLE):
            want = BAD
        yield want, Described([Field(d, load, extension)])


def numbers():
    """The least and the greatest number, and those beyond."""
    for bits, want in ((0, BAD), (1, OK), (64, OK), (65, BAD)):
        yield want, Described([Field(bits=bits)])
    for bits, want in ((0, OK), (1, BAD)):
        yield want, Described([Field(STRING, TAIL, bits=bits)])
    for bit in range(9):
        yield (OK if bit < 8 else BAD), Described([Field(load=BIT, bit=bit)])
    for value, want in ((255, OK), (256, BAD)):
        yield want, Described([Field(space=value)])
        yield want, Described([Field(letter=value)])
    for offset, want in ((65535, OK), (65536, NEWER)):
        yield want, Described([Field(load=U8, offset=offset)], size=65537)
    for value, want in ((65535, OK), (65536, BAD)):
        yield want, Described([], kind_number=value)
    for n, want in ((255, OK), (256, NEWER)):
        yield want, Described([Field(name="x" * n)])
        yield want, Described([], kind="k" * n)
        yield want, Described([], name="t" * n)
    for text in ("\0", "a\0", "\0a"):
        yield BAD, Described([Field(name=text)])
        yield BAD, Described([], kind=text)
        yield BAD, Described([], name=text)


def roles():
    two = [Field(), Field(offset=8)]
    texts = [Field(), Field(STRING, TAIL, offset=8)]
    for part in range(5):
        yield (OK if part < 3 else BAD), \
            Described(two, 16, role("alloc", [part, 1]))
    for partner in range(3):
        yield (OK if partner < 2 else BAD), \
            Described(two, 16, role("start", [1], partner))
    for fields, want in ((two, BAD), (texts, OK)):
        yield want, Described(fields, 16, role("intern", [1, 2]))
    # a part that this reader does not know is left out
    for n, want in ((255, OK), (256, BAD)):
        yield want, Described(two, 16, role("alloc", [1, 2] + [0] * (n - 2)))
    yield OK, Described(two, 16, role("a role to be", [1, 2]))
    many = [Field(load=U8, offset=i) for i in range(200)]
    for part, want in ((127, OK), (128, BAD)):
        yield want, Described(many, 200, role("alloc", [part]))


def extensions():
    for unit, want in ((0, OK), (8, OK), (9, NEWER)):
        yield want, Described([Field(extension=[UNIT, unit])])
    for flags in range(32):
        rest = ([0, 0] if flags & OPTIONAL else []) + \
            ([1] if flags & UNIT else []) + \
            ([0, 3] if flags & ELEMENTS else [])
        for f, needs, may in (
                (Field(extension=[flags] + rest), 0, UNIT),
                (Field(STRING, TAIL, [flags] + rest), 0, UNIT | LABEL),
                (Field(LIST, LISTED, [flags] + rest), ELEMENTS, UNIT | ELEMENTS)):
            good = flags & needs == needs and flags & ~may == 0
            yield (NEWER if flags > 15 else OK if good else BAD), Described([f])
    for element, load in itertools.product(range(10), range(17)):
        if load == FLOAT and element != DOUBLE or \
                element == DOUBLE and load not in (LE64, 6, FLOAT, TAIL):
            continue  # tel(5) does not say
        good = (element == STRING) == (load == TAIL) and element != LIST and \
            load not in (BIT, PLACED, LISTED)
        yield (NEWER if element > 8 or load > 15 else OK if good else BAD), \
            Described([Field(LIST, LISTED, [ELEMENTS, element, load])])


def optional():
    """With a header and the flag 32: header, flags of the schema, a type."""
    for header, flags, at, bit in itertools.product(
            (0, 16), (0, 32), (0, 15, 24, 31, 32, 33, 65535, 65536),
            (0, 7, 8)):
        good = header and flags and at < 32 and bit < 8
        yield (OK if good else BAD), Described(
            [Field(extension=[OPTIONAL, at, bit], offset=16)], 32), header, \
            flags


out, number = Stream(), 0


def add(verdict, kind, header=0, flags=32):
    global number
    number += 1
    schema = Schema(f"n{number}", [kind], flags)
    schema.header = header
    # of a damaged type it does not matter how many columns it has
    out.block(number, schema, [(0, number, ())],
              raw=b"\x00" * kind.cells(header, flags))
    if verdict == OK:
        print(f"{number:016X}")
    if verdict == NEWER:
        print(f"block {number - 1}")


for make in (loads, numbers, roles, extensions):
    for result, t in make():
        add(result, t)
for result, *rest in optional():
    add(result, *rest)
with open(sys.argv[1], "wb") as file:
    file.write(out.end())
