#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Makes recordings of Java Flight Recorder, from tel-jfr(5) alone.

    jfr_make.py odd >FILE         two chunks with every kind of value
    jfr_make.py bursts >FILE      a chunk of events in no order
    jfr_make.py BYTES >FILE       one of that size: chunks of 12 MB

The first has arrays, structs in structs, pools over several checkpoints, and
in its second chunk other types with the numbers of those in the first.
"""
import struct
import sys

START = 1_700_000_000_000_000_000


def varint(v):
    v &= (1 << 64) - 1
    out = bytearray()
    for _ in range(8):
        if v < 0x80:
            out.append(v)
            return bytes(out)
        out.append(v & 0x7F | 0x80)
        v >>= 7
    out.append(v)
    return bytes(out)


def integer(v, bits):
    return varint(v & (1 << bits) - 1)


def latin(text):
    data = text.encode("latin-1")
    return b"\5" + varint(len(data)) + data


def utf8(text):
    data = text.encode()
    return b"\3" + varint(len(data)) + data


def utf16(text):
    data = text.encode("utf-16-le")
    units = struct.unpack("<%dH" % (len(data) // 2), data)
    return b"\4" + varint(len(units)) + b"".join(map(varint, units))


def event(number, body):
    """An event; its size includes itself."""
    rest = varint(number) + body
    size = len(rest) + 1
    while len(varint(size)) + len(rest) != size:
        size += 1
    return varint(size) + rest


class Metadata:
    """Classes as (name, id, super, fields, annotations, simple)."""

    def __init__(self, classes):
        self.strings = {}
        tree = self.element("root", {}, [
            self.element("metadata", {}, [self.class_(*c) for c in classes]),
            self.element("region", {"locale": "en", "gmtOffset": "0"}, [])])
        texts = b"".join(utf8(s) for s in self.strings)
        self.body = varint(0) + varint(0) + varint(1) + \
            varint(len(self.strings)) + texts + tree

    def number(self, text):
        return varint(self.strings.setdefault(text, len(self.strings)))

    def element(self, name, attributes, children):
        return self.number(name) + varint(len(attributes)) + b"".join(
            self.number(k) + self.number(v) for k, v in attributes.items()) + \
            varint(len(children)) + b"".join(children)

    def annotation(self, number, values):
        return self.element("annotation", {"class": str(number)} | values, [])

    def class_(self, name, number, parent, fields, annotations=(), simple=False):
        attributes = {"name": name, "id": str(number)}
        if parent:
            attributes["superType"] = parent
        if simple:
            attributes["simpleType"] = "true"
        return self.element("class", attributes, [
            self.element("field", {"name": f[0], "class": str(f[1])} | f[2],
                         [self.annotation(*a) for a in f[3:]])
            for f in fields] + [self.annotation(*a) for a in annotations])


POOL, LIST = {"constantPool": "true"}, {"dimension": "1"}
(BOOLEAN, BYTE, SHORT, CHAR, INT, LONG, FLOAT, DOUBLE, STRING, THREAD, CLASS,
 SYMBOL, METHOD, FRAME, STACK, STATE, POINT, BOX, GROUP) = range(10, 29)
TIMESTAMP, TIMESPAN, AMOUNT, ADDRESS, UNSIGNED, CATEGORY, OTHER = range(40, 47)
EVENT = "jdk.jfr.Event"
ANNOTATION = "java.lang.annotation.Annotation"
TICKS = {"value": "TICKS"}
BASE = [
    ("boolean", BOOLEAN, None, []), ("byte", BYTE, None, []),
    ("short", SHORT, None, []), ("char", CHAR, None, []),
    ("int", INT, None, []), ("long", LONG, None, []),
    ("float", FLOAT, None, []), ("double", DOUBLE, None, []),
    ("java.lang.String", STRING, None, []),
    ("jdk.types.Symbol", SYMBOL, None, [("string", STRING, {})], (), True),
    ("jdk.types.ThreadState", STATE, None, [("name", STRING, {})], (), True),
    ("java.lang.Class", CLASS, None, [("name", SYMBOL, POOL), ("modifiers", INT, {})]),
    ("jdk.types.ThreadGroup", GROUP, None, [
        ("parent", GROUP, POOL), ("name", STRING, {})]),
    ("java.lang.Thread", THREAD, None, [
        ("osName", STRING, {}), ("osThreadId", LONG, {}),
        ("javaName", STRING, {}), ("javaThreadId", LONG, {}),
        ("group", GROUP, POOL)]),
    ("jdk.types.Method", METHOD, None, [
        ("type", CLASS, POOL), ("name", SYMBOL, POOL),
        ("descriptor", SYMBOL, POOL)]),
    ("jdk.types.StackFrame", FRAME, None, [
        ("method", METHOD, POOL), ("lineNumber", INT, {}),
        ("bytecodeIndex", INT, {})]),
    ("jdk.types.StackTrace", STACK, None, [
        ("truncated", BOOLEAN, {}), ("frames", FRAME, LIST)]),
    ("test.Point", POINT, None, [("x", INT, {}), ("name", STRING, {})]),
    ("test.Box", BOX, None, [
        ("corner", POINT, {}), ("next", BOX, POOL), ("weight", FLOAT, {})]),
] + [(name, number, ANNOTATION, []) for name, number in (
    ("jdk.jfr.Timestamp", TIMESTAMP), ("jdk.jfr.Timespan", TIMESPAN),
    ("jdk.jfr.DataAmount", AMOUNT), ("jdk.jfr.MemoryAddress", ADDRESS),
    ("jdk.jfr.Unsigned", UNSIGNED), ("jdk.jfr.Category", CATEGORY),
    ("test.Unknown", OTHER))]
HEAD = [("startTime", LONG, {}, (TIMESTAMP, TICKS)),
        ("duration", LONG, {}, (TIMESPAN, TICKS)),
        ("eventThread", THREAD, POOL), ("stackTrace", STACK, POOL)]


def pool(number, entries):
    return varint(number) + varint(len(entries)) + b"".join(
        varint(k) + v for k, v in entries)


def pools():
    """The pools that most events refer to."""
    symbols = ["java/lang/String", "charAt", "(I)C", "Shop", "work", "()V"]
    return [
        pool(SYMBOL, [(100 + i, latin(s)) for i, s in enumerate(symbols)]),
        pool(CLASS, [(1, varint(100) + varint(1)), (2, varint(103) + varint(1))]),
        pool(METHOD, [(1, varint(1) + varint(101) + varint(102)),
                      (2, varint(2) + varint(104) + varint(105))]),
        pool(STACK, [(1, b"\0" + varint(2) + varint(1) + varint(15) + varint(0) +
                      varint(2) + varint(7) + varint(3))]),
        pool(GROUP, [(1, varint(0) + latin("main"))]),
        pool(THREAD, [(1, latin("os") + varint(4711) + utf8("w\u00f6rker") +
                       varint(9) + varint(1)),
                      (2, latin("VM Thread") + varint(4712) + b"\0" + varint(0) +
                       varint(0))]),
    ]


def checkpoint(delta, entries):
    return event(1, varint(0) + varint(0) + varint(delta) + b"\1" +
                 varint(len(entries)) + b"".join(entries))


def chunk(classes, events, checkpoints, start=START, ticks=10**9, state=0):
    """A chunk; checkpoints: lists of pools, the last one first in the chain."""
    metadata = event(0, Metadata(classes).body)
    body, before, last = bytearray(events), 0, 0
    for entries in checkpoints:
        last = 68 + len(body)
        body += checkpoint(before - last if before else 0, entries)
        before = last
    where = 68 + len(body)
    body += metadata
    return b"FLR\0" + struct.pack(
        ">HHQQQQQQQ", 2, 1, 68 + len(body), last, where, start, 10**9, 5000,
        ticks) + bytes([state, 0, 0, 1]) + bytes(body)


def odd():
    """All kinds of values; the clock ticks 2.5 times in a nanosecond."""
    kinds = BASE + [
        ("test.All", 1000, EVENT, HEAD + [
            ("z", BOOLEAN, {}), ("b", BYTE, {}), ("s", SHORT, {}), ("c", CHAR, {}),
            ("i", INT, {}), ("l", LONG, {}), ("f", FLOAT, {}), ("d", DOUBLE, {}),
            ("u", INT, {}, (UNSIGNED, {})), ("a", LONG, {}, (ADDRESS, {})),
            ("took", LONG, {}, (TIMESPAN, {"value": "MILLISECONDS"})),
            ("at", LONG, {}, (TIMESTAMP, {"value": "MILLISECONDS_SINCE_EPOCH"})),
            ("ever", LONG, {}, (TIMESPAN, TICKS)),
            ("state", STATE, POOL, (OTHER, {"value": "x", "more-0": "y"}))],
         [(CATEGORY, {"value-0": "Test", "value-1": "Odd"})]),
        ("test.Strings", 1001, EVENT, [HEAD[0], ("t", STRING, {})]),
        ("test.Lists", 1002, EVENT, [
            HEAD[0], ("numbers", INT, LIST), ("names", STRING, LIST),
            ("classes", CLASS, POOL | LIST), ("floats", FLOAT, LIST),
            ("points", POINT, LIST), ("last", INT, {})]),
        ("test.Structs", 1003, EVENT, [
            ("before", INT, {}), HEAD[0], ("box", BOX, {}), ("point", POINT, POOL)]),
    ]

    def at(ns):
        return varint(5000 + ns * 5 // 2)

    out = b""
    out += event(1000, at(400) + varint(250) + varint(1) + varint(1) + b"\1" +
                 b"\x80" + integer(-2, 16) + integer(0x20AC, 16) + integer(-1, 32) +
                 integer(-(1 << 63), 64) + struct.pack(">f", 0.1) +
                 struct.pack(">d", 1e300) + integer(-1, 32) + varint(0x7FFF12345678) +
                 varint(1500) + varint(1_600_000_000_123) + integer(-(1 << 63), 64) +
                 varint(0))
    # of a thread and a stack that there are not
    out += event(1000, at(100) + varint(0) + varint(77) + varint(0) + b"\0" + b"\x7f" +
                 integer(1, 16) + integer(65, 16) + varint(1) + varint(2) +
                 struct.pack(">f", -2.5) + struct.pack(">d", 0) + varint(7) + varint(0) +
                 varint(0) + varint(0) + varint(0) + varint(55))
    for i, text in enumerate((b"\0", b"\1", b"\2" + varint(900), latin("caf\u00e9"),
                              utf8("\u4e2d\u6587"), utf16("\U0001F600x"), b"\2" + varint(901),
                              b"\3" + varint(6) + b"\xed\xa0\xbd\xed\xb8\x80")):
        out += event(1001, at(1000 + i) + text)
    out += event(1002, at(2000) + varint(3) + integer(1, 32) + integer(-2, 32) +
                 integer(3, 32) + varint(2) + latin("a \"b\"") + latin("") + varint(2) +
                 varint(1) + varint(2) + varint(2) + struct.pack(">ff", 0.5, 0.1) +
                 varint(2) + integer(7, 32) + latin("p") + integer(-8, 32) + utf8("q") +
                 varint(99))
    out += event(1002, at(2001) + varint(0) * 5 + varint(98))
    out += event(1003, integer(5, 32) + at(3000) + integer(1, 32) + latin("c") +
                 varint(1) + struct.pack(">f", 1.5) + varint(1))
    first = pools() + [
        pool(STRING, [(900, latin("pooled"))]),
        pool(STATE, [(0, latin("STATE_NEW"))]),
        pool(POINT, [(1, integer(-3, 32) + latin("corner"))]),
        pool(BOX, [(1, integer(2, 32) + b"\0" + varint(1) + struct.pack(">f", 2.5))])]
    second = [pool(STRING, [(900, latin("pooled"))])]
    one = chunk(kinds, out, [first, [], second], ticks=2_500_000_000)
    # the same numbers mean something else
    kinds = BASE + [
        ("test.Strings", 1000, EVENT, [("t", STRING, {}), HEAD[0]]),
        ("test.All", 1001, EVENT, [HEAD[0], ("only", LONG, {}, (AMOUNT, {"value": "BYTES"})),
                                ("ub", BYTE, {}, (UNSIGNED, {}))]),
    ]
    out = event(1001, varint(5000 + 10) + varint(1 << 40) + b"\xfe") + \
        event(1000, latin("later\0") + varint(5000 + 5))
    return one + chunk(kinds, out, [pools()], start=START + 10**6)


def bursts():
    """Two bursts, an hour apart, of numbered events, some at the same time."""
    seed, out = 1, []
    for n in range(20000):
        seed = seed * 1103515245 + 12345 & 0x7FFFFFFF
        when = (seed >> 8) % 5000 + (n % 1000 == 999) * 3600 * 10**9
        out.append(event(1001, varint(5000 + when) + integer(n, 32)))
    return chunk(BASE + [("shop.Tick", 1001, EVENT, [HEAD[0], ("n", INT, {})])],
                 b"".join(out), [pools()])


def long(size):
    """Many events of three types, of two of which most logs are."""
    kinds = BASE + [
        ("shop.Order", 1000, EVENT, HEAD + [
            ("id", LONG, {}), ("item", STRING, {}), ("amount", INT, {}),
            ("type", CLASS, POOL)], [(CATEGORY, {"value-0": "Shop"})]),
        ("shop.Tick", 1001, EVENT, HEAD + [("n", INT, {})]),
        ("jdk.GCPhaseParallel", 1002, EVENT, HEAD[:3] + [
            ("gcId", INT, {}), ("worker", INT, {}), ("name", STRING, {})]),
    ]
    events, base = [], 5000
    clock = 0
    made = 0
    while made < 12_000_000:
        # a buffer of a thread
        for i in range(200):
            clock += 700 + made % 97
            when = varint(base + clock + (i % 3) * 50_000)
            kind = i % 5
            if kind == 0:
                e = event(1000, when + varint(1500) + varint(1) + varint(1) +
                          varint(clock) + latin("item %d" % (i % 50)) +
                          varint(clock & 0xFFFFF) + varint(1))
            elif kind < 4:
                e = event(1001, when + varint(0) + varint(1 + i % 2) + varint(i % 2) +
                          integer(i * 31, 32))
            else:
                e = event(1002, when + varint(900 + i) + varint(2) + varint(made & 1023) +
                          varint(i % 4) + latin("Ext Root Scanning"))
            events.append(e)
            made += len(e)
    body = b"".join(events)
    done = n = 0
    while done < size:
        c = chunk(kinds, body, [pools()], start=START + n * (clock + 10**6))
        sys.stdout.buffer.write(c)
        done += len(c)
        n += 1


if __name__ == "__main__":
    if sys.argv[1] == "odd":
        sys.stdout.buffer.write(odd())
    elif sys.argv[1] == "bursts":
        sys.stdout.buffer.write(bursts())
    else:
        long(int(sys.argv[1]))
