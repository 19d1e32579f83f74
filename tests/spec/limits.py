#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Streams at the limits of tel(5), NAME.good.tel, and beyond, NAME.bad.tel.

Each has 3 blocks of 2 events around the block that the limit is of.
"""
from tel_writer import Field, Schema, Stream, Type, varint

PLAIN = Schema("plain", [Type("P", [Field("x")])])


def good(out, n=1):
    for _ in range(n):
        out.block(0, PLAIN, [(0, 1, (1,)), (0, 2, (2,))], index=out.first)
        out.first += 2


def write(name, limit, make):
    """make(out, value) with the last good value, and the next one."""
    for kind, value in (("good", limit), ("bad", limit + 1)):
        out = Stream()
        out.first = 0
        good(out)
        make(out, value)
        good(out, 2)
        with open(f"{name}.{kind}.tel", "wb") as file:
            file.write(out.end())


def raw(make):
    """What a column of 64-bit values, made of a number, is in a block."""
    s = Schema("raw", [Type("R", [Field("x")])])

    def block(out, value):
        n, data = make(value)
        out.block(1, s, [(0, k, ()) for k in range(n)], raw=data)
    return block


def schema(change):
    """A block of a schema that a number changes."""
    def block(out, value):
        s = Schema("s", [Type("S", [Field("y")])])
        change(s, value)
        out.block(1, s, [(0, 1, (1,) * len(s.types[0].fields))])
    return block


def fields(s, n):
    s.types[0] = Type("S", [Field(f"f{i}") for i in range(n)])


def header(s, n):
    """The fields of an event are behind its header, which has no cells."""
    s.header, s.flags, s.types[0].size = n, 0, n + 8
    s.types[0].fields[0].offset = n


class ListType(Type):
    def describe(self):
        """Its only field is a list, of bytes."""
        return super().describe() + varint(4) + varint(0) + varint(0)


def last_list(out, n):
    """Where it starts at the last offset, its number of elements is behind."""
    s = Schema("l", [ListType("L", [Field("l", 8, 47, bits=8)])])
    s.types[0].fields[0].offset, s.types[0].size = 65535, -n
    out.block(1, s, [(0, 1, ())], raw=bytes(2))


def events(out, n):
    s = Schema("many", [Type("M", [Field("x")])])
    out.block(1, s, [(0, 1, ())] * n, raw=b"\x00")


def rows(out, n):
    """An event that is zeros behind its field."""
    s = Schema("rows", [Type("R", [Field("x")])])
    s.types[0].size = n
    out.block(1, s, [(0, 1, ())], raw=b"\x00")


def product(out, wraps):
    """Events that come to 8 MiB, or to 2^32 bytes, which is 0 in 32 bits."""
    s = Schema("product", [Type("P", [Field("x")])])
    s.types[0].size = 1 << 20
    out.block(1, s, [(0, 1, ())] * (4096 if wraps else 8), raw=b"\x00")


def log_number(out, number):
    out.block(number, Schema("l", [Type("L", [Field("x")])]), [(0, 1, (1,))])


def entries(out, n):
    out.log(1, PLAIN, entries=[(f"k{i}", "v") for i in range(n)])
    out.block(1, PLAIN, [(0, 1, (1,))])


write("events", 32768, events)
write("rows", 8 << 20, rows)
write("product", 0, product)
write("number", 65535, log_number)
write("entries", 256, entries)
write("fields", 255, schema(fields))
write("name", 47, schema(lambda s, n: setattr(s, "name", "n" * n)))
write("word", 8, schema(lambda s, n: setattr(s, "word", n)))
write("header", 4096, schema(header))
write("alignment", -1, schema(lambda s, n: setattr(s, "alignment", -n)))
write("list", -65543, last_list)
write("code", (1 << 32) - 1, schema(
    lambda s, n: setattr(s.types[0], "code", n)))
write("distinct", 256, raw(lambda n: (
    2, b"\xc3" + varint(n) + varint(2) * n + b"\x00\x01")))
for last, rest in ((0x88, varint(1) + bytes(17)), (0x98, varint(1) + bytes(9)),
                   (0xC3, varint(2) + bytes(4)), (0xD0, bytes(2))):
    write(f"mode{last:x}", last, raw(lambda m, rest=rest: (2, bytes([m]) + rest)))
write("tenth", 1, raw(lambda n: (1, b"\x40" + b"\xff" * 9 + bytes([n]))))
