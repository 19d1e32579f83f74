#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Recordings that would cost much more than their bytes, and odd ones.

jfr_hostile.py MAKER NAME...: writes them.  MAKER is the folder of jfr_make.py.
"""
import struct
import sys

sys.path.insert(0, sys.argv[1])
import jfr_make as j  # noqa: E402 pylint: disable=all

V = j.varint
MANY = 50000


def at(when, rest=b"\7"):
    return j.event(1000, V(5000 + when) + rest)


def kinds(fields, base=j.BASE):
    return base + [("test.E", 1000, j.EVENT, fields)]


def structs(count, members):
    """Classes of structs in each other, with as many members each."""
    return [("test.S%d" % i, 2000 + i, None, [
        ("f%d" % k, 2001 + i if i + 1 < count else 9999, {})
        for k in range(members)]) for i in range(count)]


def header(size):
    return b"FLR\0" + struct.pack(
        ">HHQQQQQQQ", 2, 1, size, 0, 0, j.START, 10**9, 5000, 10**9) + bytes(4)


def checkpoints(n):
    """Each goes up to the end of the last one, and so over those behind it."""
    size, start = 24, 68 + len(at(1))
    body = bytearray(at(1))
    for i in range(n):
        left = (n - i) * size
        unit = bytes([left & 127 | 128, left >> 7 & 127 | 128, left >> 14 & 127 | 128,
                      left >> 21]) + b"\1\0\0" + (V(-size) if i else bytes(1)) + \
            b"\1\1" + V(j.LONG) + V(10**8)
        body += unit + bytes(size - len(unit))
    where = 68 + len(body)
    body += j.event(0, j.Metadata(ONE).body)
    return b"FLR\0" + struct.pack(
        ">HHQQQQQQQ", 2, 1, 68 + len(body), start + (n - 1) * size, where, j.START,
        10**9, 5000, 10**9) + bytes([0, 0, 0, 1]) + bytes(body)


ONE = kinds([j.HEAD[0], ("x", j.INT, {})])
SELF = j.BASE + [("test.Self", 3000, None, [("name", 3000, j.POOL)], (), True)]
TWICE = [(c[0], c[1], None, [("type", j.METHOD, j.POOL), ("name", j.METHOD, j.POOL),
                             ("descriptor", j.SYMBOL, j.POOL)])
         if c[1] == j.METHOD else c for c in j.BASE]
LONG = [("test.L%d" % k, 4000 + k, None, [("n" * 100000, j.INT, {})] * 1024)
        for k in range(8)]
LIST = [("test.L", 1999, None, [("f%d" % i, j.INT, {}) for i in range(300)])]
TINY = [("long", 1, None, []), ("e", 2, j.EVENT, [("startTime", 1, {})])]
RECORDINGS = {
    # a name that is made of a name that is made of a name
    "names": lambda: j.chunk(
        kinds([j.HEAD[0], ("x", 3000, j.POOL)], SELF), at(1, V(MANY)), [
        [j.pool(3000, [(i, V(i - 1)) for i in range(1, MANY)] + [(MANY, V(MANY - 1))])]]),
    "strings": lambda: j.chunk(
        kinds([j.HEAD[0], ("x", j.STRING, {})]), at(1, b"\2" + V(MANY)), [
        [j.pool(j.STRING, [(i, b"\2" + V(i - 1)) for i in range(1, MANY + 1)])]]),
    "twice": lambda: j.chunk(
        kinds([j.HEAD[0], ("x", j.METHOD, j.POOL)], TWICE), at(1, V(40)), [
        [j.pool(j.SYMBOL, [(1, j.latin("a" * 100))]),
         j.pool(j.METHOD, [(1, V(0) + V(0) + V(1))] + [
             (i, V(i - 1) + V(i - 1) + V(0)) for i in range(2, 41)])]]),
    # structs in structs, and a list of one with many members
    "structs": lambda: j.chunk(kinds([j.HEAD[0], ("s", 2000, {})], j.BASE + structs(6, 20)),
                       at(1), [[]]),
    "list": lambda: j.chunk(kinds([j.HEAD[0], ("l", 1999, j.LIST)], j.BASE + LIST),
                    at(1, V(1) + V(7) * 300), [[]]),
    # fields whose long names are the same
    "fields": lambda: j.chunk(kinds([j.HEAD[0]], j.BASE + LONG), at(1, b""), [[]]),
    # lists before the time that go on behind their event
    "clocks": lambda: j.chunk(kinds([("l", j.INT, j.LIST), j.HEAD[0]]),
                     j.event(1000, V(300000)) * 60000, [[]]),
    "checkpoints": lambda: checkpoints(30000),
    # headers that claim all behind them, and small chunks
    "headers": lambda: j.chunk(ONE, at(1), [[]]) + header(1 << 29) * 60000,
    "tiny": lambda: b"".join(
        j.chunk(TINY, j.event(2, V(5000 + i)), []) for i in range(40000)),
    # one that was cut, before others
    "cut": lambda: header(1 << 20) + j.chunk(
        ONE, b"".join(at(i) for i in range(20000)), [[]]) * 600,
    # chunks whose events are between each other's
    "between": lambda: b"".join(j.chunk(ONE, b"".join(
        at(5 + i % 3 + i) for i in range(300)), [[]], start=j.START + k)
        for k in range(20)),
    # the same of many more, and chunks of which each has metadata of its own
    "abreast": lambda: b"".join(j.chunk(TINY, b"".join(
        j.event(2, V(5000 + 999 * i)) for i in range(400)), [], start=j.START + k)
                       for k in range(3000)),
    "layouts": lambda: b"".join(
        j.chunk([TINY[0], ("e%d" % i, *TINY[1][1:])], j.event(2, V(5000 + i)), [])
        for i in range(25000)),
    # a pool that ends within a value
    "ends": lambda: j.chunk(kinds([j.HEAD[0], ("x", j.STATE, j.POOL)]), at(1, V(7)), [
        [V(j.STATE) + V(1) + V(7) + b"\5\x08abc"]]),
}

for name in sys.argv[2:]:
    with open(name + ".jfr", "wb") as f:
        f.write(RECORDINGS[name]())
