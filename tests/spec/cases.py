#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Streams for the tests of tel(5), by the independent encoder.

    cases.py NAME > FILE.tel
"""
import sys

from tel_writer import Field, Schema, Stream, Type

SECOND = 10 ** 9


def app(alloc="Alloc", size="size", kind="Heap", name="app/1"):
    return Schema(name, [
        Type(alloc, [Field("addr", 3), Field(size), Field("tag", 7, 12)],
             code=7, kind=kind),
        Type("Start", [Field("id")], code=8, role="start", parts=[1],
             partner=3),
        Type("Stop", [Field("id")], code=9, role="finish", parts=[1])])


def source():
    """Blocks of one thread each, and a loss between them."""
    s = app()
    out = Stream(rate=1e9, origin=1700000000 * SECOND,
                 entries=[("host", "box"), ("command", "app -x")])
    out.log(0, s, name="app")
    out.block(0, s, [(0, 1000, (0x1000, 16, "hi")), (1, 2000, (5,)),
                     (0, 2500, (0x2000, 32, "there")), (2, 3000, (5,))],
              source=[(1, 77), (2, 5), (4, 1)],
              names=[(2, 5, 0, "worker")])
    out.block(0, s, [(0, 4000, (0x1000, 16, "hi"))], index=4, lost=231,
              source=[(2, 6)])
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


def median():
    out = Stream(version=(1, 2, 0))
    out.block(0, app(), [])
    return out


sys.stdout.buffer.write(globals()[sys.argv[1]]().end())
