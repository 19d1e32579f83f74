#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Streams for the tests of tel(5), by the independent encoder.

    cases.py NAME > FILE.tel
"""
import random
import sys

from tel_reader import BLOCK, LENGTHS
from tel_writer import Field, Schema, Stream, Type, varint

SECOND = 10 ** 9


def app(alloc="Alloc", size="size", kind="Heap", name="app/1"):
    return Schema(name, [
        Type(alloc, [Field("addr", 3), Field(size), Field("tag", 7, 12)],
             code=7, kind=kind),
        Type("Start", [Field("id")], code=8, role="start", parts=[1],
             partner=3),
        Type("Stop", [Field("id")], code=9, role="finish", parts=[1])])


def source():
    """Blocks of one thread each, and a loss between them.

    A name is in a label space of a later version, which is ignored.
    """
    s = app()
    out = Stream(rate=1e9, origin=1700000000 * SECOND,
                 entries=[("host", "box"), ("command", "app -x")])
    out.log(0, s, name="app")
    out.block(0, s, [(0, 1000, (0x1000, 16, "hi")), (1, 2000, (5,)),
                     (0, 2500, (0x2000, 32, "there")), (2, 3000, (5,))],
              source=[(1, 77), (2, 5), (4, 1)],
              names=[(2, 5, 0, "worker"), (300, 5, 0, "later")])
    out.block(0, s, [(0, 4000, (0x1000, 16, "hi"))], index=4, lost=231,
              source=[(2, 6)])
    return out


def own():
    """Events with a field that is named as one of their block's source."""
    s = Schema("own/1", [Type("A", [Field("pid"), Field("x")])])
    out = Stream()
    out.block(0, s, [(0, 1, (5, 6))], source=[(1, 77), (2, 8)])
    return out


def cut():
    """Blocks that each lack the end of their body, between whole ones."""
    s = Schema("cut/1", [Type("A", [Field("x"), Field("s", 7, 12)]),
                         Type("B", [])])
    out = Stream()
    out.log(0, s)
    for events in ([(0, 1, (1, "x")), (0, 2, (2, "y")), (1, 3, ())],
                   [(1, 1, ())]):
        body = out.content(0, s, events, names=[(0, 1, 0, "one")])
        for size in range(len(body)):
            out.record(BLOCK, b"".join(map(varint, (
                out.place, out.events, len(events), 1, len(events) - 1, 0,
                out.identifier & 0xFFFFFFFF, 0))), body[:size])
            out.place += 1
            out.events += len(events)
            out.block(0, s, [(1, 4, ())], index=out.events)
    return out


def clocks():
    """Two logs: one has the clock of the stream, one its own."""
    s = Schema("app/2", [Type("A", [Field("x")])])
    out = Stream(rate=2.0, origin=-SECOND)
    out.log(0, s)
    out.log(1, s, rate=4.0, origin=951782400 * SECOND)
    out.block(0, s, [(0, 1, (1,))])
    out.block(1, s, [(0, 1, (2,))])
    return out


def loads():
    """Fields of every load of a number, their bytes all different."""
    bits = (8, 16, 32, 64, 16, 32, 64, 16, 32, 16, 32)
    s = Schema("loads", [Type("Loads", [
        Field(f"f{load}", int(load > 6), load, bits=n)
        for load, n in enumerate(bits)])])
    out = Stream()
    out.log(0, s)
    out.block(0, s, [(0, 1, tuple(0x0102030405060708 % (1 << n) for n in bits)),
                     (0, 2, tuple((1 << n) - 2 for n in bits))])
    return out


def any_column(draw, mode, n):
    """The bytes of a column of n values, which any bytes of its length are."""
    number = lambda: varint(draw.getrandbits(draw.choice((1, 7, 33, 64))))
    how, bits = mode & 15, b""
    if mode < 0x80:
        return bytes([mode]) + (number() if mode & 64 else b"")
    if mode == 0xD0:
        return bytes([mode]) + number() + number()
    if 0xC0 <= mode <= 0xC3:
        count = min(1 << (1 << how), 200)
        places = [draw.randrange(count) for _ in range(n)]
        packed = sum(v << (i << how) for i, v in enumerate(places))
        return bytes([mode]) + varint(count) + b"".join(
            number() for _ in range(count)) + packed.to_bytes(
                ((n << how) + 7) // 8, "little")
    out = bytes([mode]) + varint(draw.choice((1, 8, 24))) + number()
    out += number() if mode >= 0xE0 else b""
    n -= mode >> 4 in (9, 11, 14)
    size = how * n
    if mode >= 0xA0:
        control = [draw.randrange(4) for _ in range(n)]
        size = sum(LENGTHS[how][c] for c in control)
        bits = sum(c << 2 * i for i, c in enumerate(control)).to_bytes(
            (n + 3) // 4, "little")
    return out + bits + draw.randbytes(size)


def columns():
    """Blocks with columns of each mode, for cells of each width and order."""
    modes = [0, 63, 64, 127, *range(0x80, 0x89), *range(0x90, 0x99),
             *range(0xA0, 0xC4), 0xD0, *range(0xE0, 0xF0)]
    widths = (8, 16, 32, 64, 16, 32, 64, 16, 32, 16, 32)
    s = Schema("columns", [Type("A", [
        Field(f"f{load}", int(load > 6), load, bits=n)
        for load, n in enumerate(widths)])])
    out, draw = Stream(), random.Random(1)
    out.log(0, s)
    for i, _ in enumerate(modes):
        n = (1, 2, 7, 9, 33, 64)[i % 6]
        out.block(0, s, [(0, k, ()) for k in range(n)], index=out.events,
                  raw=b"".join(any_column(draw, modes[(i + 7 * k) % len(modes)], n)
                               for k in range(len(widths))))
    return out


def parts():
    """Types that LOG records describe as blocks need them, in two logs."""
    out, s = Stream(), app(name="app/4")
    for number in range(2):
        for described in ([0], [0, 1], [0, 1, 2]):
            s.described = described
            out.log(number, s)
            s.described = []
            out.block(number, s, [[(0, 1, (16, 24, "x")), (0, 2, (48, 8, "y"))],
                                  [(1, 3, (5,))],
                                  [(2, 4, (5,))]][len(described) - 1],
                      index=[0, 2, 3][len(described) - 1])
    return out


def indexed():
    """A stream of 1.1.0, with one damaged block of 200."""
    s = Schema("app/5", [Type("A", [Field("x")])])
    out = Stream(rate=1e9, version=(1, 1, 0))
    out.log(0, s)
    for i in range(200):
        at = len(out.data)
        out.block(0, s, [(0, 1000 * i + k, (i,)) for k in range(300)],
                  index=300 * i)
        if i == 120:
            bad = at
        if i % 10 == 9:
            out.names(i - 9, i, 1000 * i)
    out.index()
    out.data = out.data[:bad + 60] + b"\xff" + out.data[bad + 61:]
    return out


def names():
    s = app("Al\x1b[31m\nx", "si\x1bze", "He\nap", "my\x1b app:(2)/1")
    out = Stream()
    out.log(0, s, name="n\x1bame")
    out.block(0, s, [(0, 1000, (0x1000, 16, "hi"))])
    return out


def reserved(change):
    """Two events of a type that needs a newer version."""
    kind = Type("A", [Field("x")])
    change(kind)
    s = Schema("app/3", [kind])
    out = Stream()
    out.log(0, s)
    n = len(kind.fields)
    out.block(0, s, [(0, 1, (1,) * n), (0, 2, (2,) * n)])
    return out


def load():
    return reserved(lambda t: setattr(t.fields[0], "load", 14))


def datatype():
    return reserved(lambda t: setattr(t.fields[0], "datatype", 9))


def fields():
    return reserved(lambda t: t.fields.extend(
        [t.fields[0]] * 255))


def minor():
    out = Stream(version=(1, 1, 99))
    out.block(0, app(), [(0, 100, (1, 2, b"x"))])
    return out


def order():
    return Stream(order=b"\x3e")


def kinds():
    """A record that a reader may skip, and one that it needs."""
    out = Stream()
    out.block(0, app(), [(0, 100, (1, 2, b"x"))])
    out.record(99, b"head", b"body")
    out.block(0, app(), [(0, 200, (1, 2, b"x"))], index=1)
    out.record(99, b"", b"", critical=True)
    out.block(0, app(), [(0, 300, (1, 2, b"x"))], index=2)
    return out


def median():
    out = Stream(version=(1, 2, 0))
    out.block(0, app(), [])
    return out


sys.stdout.buffer.write(globals()[sys.argv[1]]().end())
