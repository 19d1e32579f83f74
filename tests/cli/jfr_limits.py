#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Recordings of one event: scales of time, structs, and limits of metadata.

jfr_limits.py MAKER: writes v00.jfr ..., d00.jfr ... with a damaged event, and
i00.jfr ... with invalid metadata; prints the fields and events of the others
as telcat shows them.  MAKER is the folder of jfr_make.py.
"""
import sys

sys.path.insert(0, sys.argv[1])
import jfr_make as j  # noqa: E402 pylint: disable=all

V = j.varint


def scaled(kind, unit, of=j.LONG):
    return ("x", of, {}, (kind, {"value": unit}))


def nested(depth):
    """Classes of structs in each other, of which the innermost has an int."""
    return [("test.S%d" % i, 2000 + i, None, [
        ("s", 2001 + i if i + 1 < depth else j.INT, {})])
        for i in range(depth)]


def categories(*values):
    return {"value-%d" % i: v for i, v in enumerate(values)}


class Metadata(j.Metadata):
    """Metadata of which elements are changed before they are written."""
    change = None

    def element(self, name, attributes, children):
        if Metadata.change:
            attributes, children = Metadata.change(
                super().element, name, dict(attributes), children)
        return super().element(name, attributes, children)


def deep(n):
    """Elements in each other, down to n below the one of the region."""
    def change(element, name, attributes, children):
        for _ in range(n if name == "region" else 0):
            children = [element("x", {}, children)]
        return attributes, children
    return change


def changed(name, key, old, new=None):
    """Another value of an attribute, or none."""
    def change(_, element, attributes, children):
        if element == name and attributes.get(key) == old:
            del attributes[key]
            if new is not None:
                attributes[key] = new
        return attributes, children
    return change


def simple(_, element, attributes, children):
    """A class as a simple type."""
    if element == "class" and attributes["name"] == "test.S":
        attributes["simpleType"] = "true"
    return attributes, children


def first_field(element, name, attributes, children):
    """A field before all classes."""
    if name == "root":
        field = {"name": "x", "class": str(j.INT)}
        children = [element("field", field, [])] + children
    return attributes, children


def utf16(*units):
    return b"\4" + V(len(units)) + b"".join(map(V, units))


CATEGORY = {"value": "Test"}
MANY = [("f%d" % i, j.INT, {}) for i in range(1024)]
TEXT = [("x", j.STRING, {})]
LISTED = [("test.L", 1999, None, [("s", 2000, {}), ("y", j.INT, {})])]
ONE = [("x", j.INT, {})]
SIMPLE = [("test.S", 1999, None, [("value", j.STRING, {})])]
# Fields, their bytes, how both are shown; perhaps classes, a category, and a
# change of the metadata.
ROWS = [
    (ONE, V(7), "x:signed:32", "x=7"),
    (ONE, V(7), "x:signed:32", "x=7", [], {"value": "a\x1b"}),
    ([scaled(j.TIMESPAN, "TICKS")], V(7), "x:signed", "x=7"),
    ([scaled(j.TIMESPAN, "NANOSECONDS")], V(7), "x:signed", "x=7"),
    ([scaled(j.TIMESPAN, "MICROSECONDS")], V(7), "x:signed", "x=7000"),
    ([scaled(j.TIMESPAN, "MILLISECONDS")], V(-7), "x:signed", "x=-7000000"),
    ([scaled(j.TIMESPAN, "SECONDS")], V(7), "x:signed", "x=7000000000"),
    ([scaled(j.TIMESPAN, "SECOND")], V(7), "x:signed", "x=7"),
    ([scaled(j.TIMESPAN, "SECONDS")], V(9223372036), "x:signed",
     "x=9223372036000000000"),
    ([scaled(j.TIMESPAN, "SECONDS")], V(9223372037), "x:signed",
     "x=9223372036854775807"),
    ([scaled(j.TIMESPAN, "SECONDS")], V(-9223372037), "x:signed",
     "x=-9223372036854775808"),
    ([scaled(j.TIMESTAMP, "TICKS")], V(5007), "x:signed",
     "x=1700000000000000007"),
    ([scaled(j.TIMESTAMP, "NANOSECONDS_SINCE_EPOCH")], V(7), "x:signed",
     "x=7"),
    ([scaled(j.TIMESTAMP, "MICROSECONDS_SINCE_EPOCH")], V(7), "x:signed",
     "x=7000"),
    ([scaled(j.TIMESTAMP, "MILLISECONDS_SINCE_EPOCH")], V(7), "x:signed",
     "x=7000000"),
    ([scaled(j.TIMESTAMP, "SECONDS_SINCE_EPOCH")], V(7), "x:signed",
     "x=7000000000"),
    ([scaled(j.TIMESTAMP, "SECONDS_SINCE_EPOC")], V(7), "x:signed", "x=7"),
    ([scaled(j.TIMESTAMP, "_SINCE_EPOCH")], V(7), "x:signed", "x=7"),
    ([scaled(j.OTHER, "SECONDS")], V(7), "x:signed", "x=7"),
    ([scaled(j.TIMESPAN, "MILLISECONDS", j.INT)], j.integer(-7, 32),
     "x:signed", "x=-7000000"),
    ([scaled(j.TIMESPAN, "SECONDS", j.SHORT)], j.integer(-7, 16), "x:signed",
     "x=-7000000000"),
    ([scaled(j.TIMESPAN, "MICROSECONDS", j.BYTE)], b"\xf9", "x:signed",
     "x=-7000"),
    ([scaled(j.TIMESTAMP, "SECONDS_SINCE_EPOCH", j.INT)],
     j.integer(1700000000, 32), "x:signed", "x=1700000000000000000"),
    ([("x", j.INT, {}, (j.UNSIGNED, {}), (j.TIMESPAN, {"value": "SECONDS"}))],
     j.integer(-7, 32), "x:unsigned", "x=4294967289000000000"),
    ([("x", j.BYTE, {}, (j.UNSIGNED, {}), (j.TIMESPAN, {"value": "SECONDS"}))],
     b"\xf9", "x:unsigned", "x=249000000000"),
    ([("x", j.INT, {"dimension": "1"}, (j.TIMESPAN, {"value": "SECONDS"}))],
     V(2) + j.integer(-7, 32) + V(8), "x:list:signed",
     "x=[-7000000000,8000000000]"),
    ([("x", j.SHORT, {}, (j.UNSIGNED, {}))], j.integer(-1, 16),
     "x:unsigned:16", "x=65535"),
    ([("x", j.BYTE, {}, (j.UNSIGNED, {}))], b"\xff", "x:unsigned:16", "x=255"),
    ([("x", j.LONG, {}, (j.UNSIGNED, {}))], V(-1), "x:unsigned",
     "x=18446744073709551615"),
    ([("x", j.LONG, {}, (j.ADDRESS, {}))], V(255), "x:address", "x=0xff"),
    ([("x", j.INT, {}, (j.ADDRESS, {}))], V(255), "x:signed:32", "x=255"),
    # a simple type in place, and a struct of one member
    ([("s", 1999, {})], j.latin("a"), "s?:string", 's="a"', SIMPLE, CATEGORY,
     simple),
    ([("s", 1999, j.LIST)], V(2) + j.latin("a") + j.latin("b"),
     "s:list:string", 's=["a","b"]', SIMPLE, CATEGORY, simple),
    ([("s", 1999, {})], j.latin("a"), "s.value?:string", 's.value="a"',
     SIMPLE),
    # names up to a length, as they are spelled
    ([("x" * 255, j.INT, {})], V(7), "x" * 255 + ":signed:32",
     "x" * 255 + "=7"),
    ([("x" * 256, j.INT, {})], V(7), "x" * 255 + ":signed:32",
     "x" * 255 + "=7"),
    ([("9" + "x1." * 80 + "$y$$", j.INT, {})], V(7),
     r"\x39" + "x1." * 80 + r"\x24y\x24:signed:32",
     r"\x39" + "x1." * 80 + r"\x24y\x24=7"),
    ([("x" * 251 + "\u00e9", j.INT, {})], V(7),
     "x" * 251 + r"\xc3:signed:32", "x" * 251 + r"\xc3=7"),
    ([("x", j.INT, {"dimension": "0"})], V(7), "x:signed:32", "x=7"),
    ([("x", j.INT, {"dimension": "2"})], V(7), "x:signed:32", "x=7"),
    ([("x", j.INT, {"constantPool": "yes"})], V(7), "x:signed:32", "x=7"),
    # structs up to a depth, of which deeper ones are skipped
    ([("s", 2000, {}), ("y", j.INT, {})], V(7) + V(8),
     "s.s.s.s.s.s.s:signed:32 y:signed:32", "s.s.s.s.s.s.s=7 y=8", nested(6)),
    ([("s", 2000, {}), ("y", j.INT, {})], V(7) + V(8), "y:signed:32", "y=8",
     nested(7)),
    ([("s", 2000, {}), ("y", j.INT, {})], V(7) + V(8), "y:signed:32", "y=8",
     nested(18)),
    ([("x", j.CHAR, {})], j.integer(0, 16), "x?:string", r'x="\xc0\x80"'),
    ([("x", j.CHAR, {})], j.integer(0xFFFF, 16), "x?:string",
     r'x="\xef\xbf\xbf"'),
    # structs behind many fields, and behind more
    (MANY[:125] + [("p", j.POINT, {})], V(7) * 125 + V(8) + j.latin("c"),
     " ".join("f%d:signed:32" % i for i in range(125)) +
     " p.x:signed:32 p.name?:string",
     " ".join("f%d=7" % i for i in range(125)) + ' p.x=8 p.name="c"'),
    (MANY[:126] + [("p", j.POINT, {})], V(7) * 126 + V(8) + j.latin("c"),
     " ".join("f%d:signed:32" % i for i in range(126)),
     " ".join("f%d=7" % i for i in range(126))),
    # structs in a list, of which each member is one
    ([("l", 1999, j.LIST)], V(2) + V(7) + V(8) + V(9) + V(10),
     "l.y:list:signed:32", "l.y=[8,10]", LISTED + nested(12)),
    # strings of UTF-16: pairs at their limits, and halves of pairs
    (TEXT, utf16(0xD7FF, 0xE000, 0xFFFF), "x?:string",
     r'x="\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf"'),
    (TEXT, utf16(0xD800, 0xDC00, 0xDBFF, 0xDFFF), "x?:string",
     r'x="\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"'),
    (TEXT, utf16(0xD800, 97, 0xDC00, 98, 0xD800, 0xD801, 0xDC00, 0xDBFF),
     "x?:string", r'x="\xed\xa0\x80a\xed\xb0\x80b'
     r'\xed\xa0\x80\xf0\x90\x90\x80\xed\xaf\xbf"'),
    (TEXT, utf16(0x7F, 0x80, 0x7FF, 0x800), "x?:string",
     r'x="\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80"'),
    # strings of a byte each character
    (TEXT, b"\5\3a\x7fb", "x?:string", r'x="a\x7fb"'),
    (TEXT, b"\5\2a\x80", "x?:string", r'x="a\xc2\x80"'),
    (TEXT, b"\5\3\xffa\0", "x?:string", r'x="\xc3\xbfa\xc0\x80"'),
    (TEXT, b"\5\0", "x?:string", 'x=""'),
    # categories
    (ONE, V(7), "x:signed:32", "x=7", [], categories("a")),
    (ONE, V(7), "x:signed:32", "x=7", [], categories(*"abcdefghij")),
    (ONE, V(7), "x:signed:32", "x=7", [], {"value": "b"}),
    (ONE, V(7), "x:signed:32", "x=7", [], {"other": "b"}),
    (ONE, V(7), "x:signed:32", "x=7", [], categories("a" * 100, "b" * 154)),
    (ONE, V(7), "x:signed:32", "x=7", [], categories("a" * 100, "b" * 155)),
    # fields: as many as a type has, and as a class may have
    (MANY[:248], b"".join(
        V(i) for i in range(248)), " ".join(
            "f%d:signed:32" % i for i in range(248)), " ".join(
                "f%d=%d" % (i, i) for i in range(248))),
    (MANY[:1023], b"".join(
        V(i) for i in range(1023)), " ".join(
            "f%d:signed:32" % i for i in range(248)), " ".join(
                "f%d=%d" % (i, i) for i in range(248))),
    (ONE, V(7), "x:signed:32", "x=7", [], CATEGORY, deep(14)),
    (ONE, V(7), "x:signed:32", "x=7", [], CATEGORY, changed(
        "class", "id", "1000", "01000")),
    (ONE, V(7), "x:signed:32", "x=7", [], {"other": "b"}, changed(
        "annotation", "class", "45", "9999")),
]
DAMAGED = [
    (ONE, b"", "x:signed:32", "x=0"),
    (ONE, V(7) + b"\0", "x:signed:32", "x=7"),
    ([("x", 9999, {}), ("y", j.INT, {})], V(7) + V(8), "y:signed:32", "y=0"),
    ([("s", 2000, {}), ("y", j.INT, {})], V(7) + V(8), "y:signed:32", "y=0",
     nested(19)),
    ([("l", 1999, j.LIST)], V(2) + V(7) + V(8) + V(9) + V(10),
     "l.y:list:signed:32", "l.y=[]", LISTED + nested(13)),
]
INVALID = [
    (ONE, V(7), "", "", [], CATEGORY, change) for change in (
        deep(15), changed("class", "name", "test.E"),
        changed("class", "id", "1000"), changed("class", "id", "1000", ""),
        changed("class", "id", "1000", "-1000"),
        changed("class", "id", "1000", "1000 "),
        changed("class", "id", "1000", "18446744073709551616"),
        changed("field", "name", "x"), first_field)
] + [(MANY, V(7), "", "")]


def shown(category):
    values = [category[k] for k in sorted(category) if k != "other"]
    text = "/".join(values).replace("\x1b", r"\x1b")
    return text if len(text) < 256 else values[0]


def main():
    j.Metadata = Metadata
    for kind, rows in (("v", ROWS), ("d", DAMAGED), ("i", INVALID)):
        for i, (fields, data, kinds, text, *more) in enumerate(rows):
            more += [[], CATEGORY, None][len(more):]
            Metadata.change = more[2]
            classes = j.BASE + more[0] + [
                ("test.E", 1000, j.EVENT, [j.HEAD[0]] + fields,
                 [(j.CATEGORY, more[1])])]
            with open("%s%02d.jfr" % (kind, i), "wb") as f:
                f.write(j.chunk(classes, j.event(1000, V(5000) + data), [[]]))
            if kind != "i":
                print("# type: test.E 1000 %s %s" %
                      (shown(more[1]) or "Uncategorized", kinds))
                print("17979CFE362A0000 test.E %s" % text)


main()
