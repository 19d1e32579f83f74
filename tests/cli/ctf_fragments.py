#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Metadata of CTF 2 at the limits of what is valid, each in a folder 000, 001
...; prints the message for each that is invalid.  Traces with values of each
type, in folders v00, v01 ...; prints their events as "telcat -H" does.
"""
import json
import os

U = {"type": "fixed-length-unsigned-integer", "length": 8,
     "byte-order": "little-endian"}
BLOB = {"type": "dynamic-length-blob"}
PREAMBLE = {"type": "preamble", "version": 2}
CLOCK = {"type": "clock-class", "id": "c", "frequency": 1}
STREAM = {"type": "data-stream-class"}
LENGTH = "a missing or invalid length"
ALIGN = "no power of two: alignment"
PATH = "an invalid path of a field"


def arrays(n, c=None):
    for _ in range(n):
        c = {"type": "static-length-array", "length": 1,
             "element-field-class": c or U}
    return c


def u(**more):
    return {**U, **{k.replace("_", "-"): v for k, v in more.items()}}


def at(*path, **more):
    return {"path": path, **more}


def blob(*path, **more):
    return {**BLOB, "length-field-location": at(*path, **more)}


def inner(c):
    return {"type": "structure",
            "member-classes": [{"name": "z", "field-class": c}]}


def choice(kind, path=at("x"), **more):
    return {"type": kind, "selector-field-location": path,
            **{k.replace("_", "-"): v for k, v in more.items()}}


# Field classes.
FIELDS = [
    (u(), ""), (u(length=1), ""), (u(length=64), ""),
    (u(length=0), LENGTH), (u(length=65), LENGTH), (u(length=-8), LENGTH),
    (u(length="8"), LENGTH), ({"type": "static-length-string"}, LENGTH),
    (u(type="fixed-length-floating-point-number", length=4097), LENGTH),
    (u(type="fixed-length-floating-point-number", length=4096), ""),
    (u(alignment=1 << 20), ""), (u(alignment=1 << 21), ALIGN),
    (u(alignment=0), ALIGN), (u(alignment=24), ALIGN),
    (u(byte_order="middle"), "a missing or invalid byte-order"),
    (u(roles=["packet-magic-number"]), ""),
    (u(roles=["magic"]), "an unknown role"), (u(roles="x"), "invalid roles"),
    (u(mappings={"a": [[0, 1], [3, 3]]}), ""),
    (u(mappings={"a": 1}), "invalid ranges"),
    (u(mappings={"a": [[0, 1, 2]]}), "an invalid range"),
    (u(mappings={"a": [["0", 1]]}), "an invalid range"),
    (u(mappings={"a": [[0, "1"]]}), "an invalid range"),
    (u(mappings={"a": [5]}), "an invalid range"),
    ({"type": "null-terminated-string", "encoding": "utf-16be"}, ""),
    ({"type": "null-terminated-string", "encoding": "ascii"},
     "an unknown encoding: ascii"),
    (blob("x"), ""), (blob(), PATH), (blob(None, "x"), "no integer"),
    (blob(*64 * ["x"]), "no integer"), (blob(*65 * ["x"]), PATH),
    (inner(blob("x")), ""), (inner(blob(None, "x")), ""),
    (inner(blob(None, None, "x")), "no integer"),
    (blob("x", None), PATH), (blob(1), PATH),
    (blob("x", origin="packet"), "an unknown origin: packet"),
    ({"type": "structure", "member-classes": {}}, "invalid members"),
    ({"type": "structure", "member-classes": [{"field-class": U}]},
     "a member without a name"),
    ({"type": "structure", "minimum-alignment": 3},
     "no power of two: minimum-alignment"),
    ({**arrays(1), "length": 0}, ""),
    ({"type": "static-length-array", "length": 0}, "a missing field class"),
    ({**arrays(1), "minimum-alignment": 6},
     "no power of two: minimum-alignment"),
    (choice("optional", field_class=U), ""),
    (choice("optional", None, field_class=U), PATH),
    (choice("optional", field_class=U, selector_field_ranges=1),
     "invalid ranges"),
    (choice("variant", options=[{"field-class": U}]), "invalid ranges"),
    (choice("variant", None, options=[
        {"field-class": U, "selector-field-ranges": [[1, 2]]}]), PATH),
    (choice("variant", options=[
        {"field-class": U, "selector-field-ranges": [[1, 2]]}]), ""),
    ("u8", ""), ("u9", "an unknown alias: u9"),
    ({"type": "u8"}, "an unknown field class: u8"),
    ({}, "a missing field class"),
    (arrays(30), ""), (arrays(31), "field classes that are nested too deep"),
]
S = "null-terminated-string"
F = "fixed-length-floating-point-number"
I = "fixed-length-signed-integer"
V = "variable-length-%ssigned-integer"


def ranges(c, *rows):
    return {"field-class": c, "selector-field-ranges": rows}


def text(n, encoding="utf-8"):
    return {"type": "static-length-string", "length": n, "encoding": encoding}


def many(kind, c, **more):
    return {"type": kind + "-length-array", "element-field-class": c,
            **{k.replace("_", "-"): v for k, v in more.items()}}


BIG = {"byte_order": "big-endian"}
# Classes of the fields x, y ..., their bytes, and how these are shown.
VALUES = [
    ([u(length=1), u(length=7)], "55", "x=1 y=42"),
    ([u(length=1, **BIG), u(length=7, **BIG)], "55", "x=0 y=85"),
    ([u(length=3), u(length=63), u(length=6)], "0d00000000000000ab",
     "x=5 y=6917529027641081857 z=42"),
    ([u(length=3, **BIG), u(length=63, **BIG), u(length=6, **BIG)],
     "a0000000000000006a", "x=5 y=1 z=42"),
    ([u(length=63), u(length=64), u(length=1)],
     "01000000000000800200000000000080", "x=1 y=5 z=1"),
    ([u(bit_order="first-to-last"), u(bit_order="last-to-first")], "0102",
     "x=1 y=64"),
    ([u(bit_order="first-to-last", **BIG),
      u(bit_order="last-to-first", **BIG)], "0102", "x=128 y=2"),
    ([u(length=4, bit_order="last-to-first"), u(length=4)], "21",
     "x=8 y=2"),
    ([u(type=I, length=3), u(type=I, length=5), u(type=I, length=16, **BIG)],
     "f6fffe", "x=-2 y=-2 z=-2"),
    ([u(type=I, mappings={"a": [[-2, -1]], "b": [[-1, 0]]})], "ff",
     'x=-1["a,b"]'),
    ([u(type="fixed-length-boolean"), u(type="fixed-length-boolean")], "0002",
     "x=false y=true"),
    ([u(preferred_display_base=16), u(preferred_display_base=7),
      u(type="fixed-length-bit-map")], "0a0a0a", "x=0xa y=10 z=0xa"),
    ([u(type=F, length=16), u(type=F, length=16)], "003e0100",
     "x=1.5 y=5.9604645e-08"),
    ([u(type=F, length=16, **BIG)] * 3, "bc007c007e00", "x=-1 y=inf z=nan"),
    ([u(type=F, length=32, **BIG), u(type=F, length=64, **BIG)],
     "3fc00000" "bff8000000000000", "x=1.5 y=-1.5"),
    ([u(type=F, length=32, bit_order="last-to-first"),
      u(type=F, length=64, bit_order="last-to-first"),
      u(type=F, length=16, bit_order="last-to-first")],
     "fc030000" "fd1f000000000000" "7c00", "x=1.5 y=-1.5 z=1.5"),
    ([u(type=F, length=80), u(type=F, length=80, **BIG)],
     "00000000000000c0ff3f" "bfffc000000000000000", "x=1.5 y=-1.5"),
    ([u(type=F, length=80)] * 2, "0000000000000080ff7f" "00000000000000c0ff7f",
     "x=inf y=nan"),
    ([u(type=F, length=128), u(type=F, length=128, **BIG)],
     13 * "00" + "80ff3f" "bfff80" + 13 * "00", "x=1.5 y=-1.5"),
    ([{"type": V % "un"}] * 3, "7f" "ac02" + 9 * "ff" + "01",
     "x=127 y=300 z=18446744073709551615"),
    ([{"type": V % ""}] * 3, "7f" "c000" + 9 * "80" + "7f",
     "x=-1 y=64 z=-9223372036854775808"),
    ([{"type": V % ""}] * 3, "3f" "bf7f" "c0bb78",
     "x=63 y=-65 z=-123456"),
    ([{"type": S}, u()], "616200" "05", 'x="ab" y=5'),
    ([text(4), text(2), text(0)], "61620063" "6465", 'x="ab" y="de" z=""'),
    ([text(6, "utf-16le"), text(4, "utf-16be")], "610000006200" "00613042",
     r'x="a" y="a\xe3\x81\x82"'),
    ([text(8, "utf-32le"), text(9, "utf-32be")],
     "6100000000f60100" "00000062000000000a",
     r'x="a\xf0\x9f\x98\x80" y="b"'),
    ([u(), {"type": "dynamic-length-string",
            "length-field-location": at("x")}], "026162", 'x=2 y="ab"'),
    ([u(), {"type": "dynamic-length-string", "length-field-location":
            at("x", origin="event-record-payload")}], "00", 'x=0 y=""'),
    ([{"type": "static-length-blob", "length": 3}, u(), blob("y")],
     "01a2ff" "0203f0", 'x="01a2ff" y=2 z="03f0"'),
    ([many("static", text(2), length=2), many("static", U, length=3),
      many("static", {"type": S}, length=2)], "61626300" "010203" "640000",
     'x=["ab","c"] y=[1,2,3] z=["d",""]'),
    ([u(), many("static", u(type=I), length=2, minimum_alignment=32),
      many("dynamic", u(type=F, length=32),
           length_field_location=at("x"))],
     "01000000" "fefd" "0000" "c03f", "x=1 y=[-2,-3] z=[1.5]"),
    ([u(), {**inner(U), "minimum-alignment": 16}], "01aa02", "x=1 y.z=2"),
    ([u(), many("dynamic", inner(blob(None, "x")),
                length_field_location=at("x"))], "0201020304",
     'x=2 y="[{\\"z\\":\\"0102\\"},{\\"z\\":\\"0304\\"}]"'),
    ([u(), {"type": "structure", "member-classes": [
        {"name": "x", "field-class": U},
        {"name": "y", "field-class": many("static", inner(
            blob(None, None, "x")), length=1)}]}], "02010506",
     'x=2 y.x=1 y.y="[{\\"z\\":\\"0506\\"}]"'),
    ([u(), many("static", inner(u(type="fixed-length-boolean")), length=2)],
     "000100", 'x=0 y="[{\\"z\\":true},{\\"z\\":false}]"'),
    ([u(), many("static", many("static", u(type=F, length=16), length=2),
                length=2)], "00" "003e" "007c" "0001" "007e",
     'x=0 y="[[1.5,null],[1.52587890625e-05,null]]"'),
    ([u(), many("static", choice("optional", field_class=text(2)), length=2)],
     "01" "61226200", 'x=1 y="[\\"a\\\\u0022\\",\\"b\\"]"'),
    ([u(), many("static", choice("optional", field_class=U), length=2)],
     "00", 'x=0 y="[null,null]"'),
    ([u(), choice("optional", field_class=U), U], "00070008",
     "x=0 z=7|x=0 z=8"),
    ([u(), choice("optional", field_class=U), U], "ff0708", "x=255 y=7 z=8"),
    ([u(type=I), choice("optional", field_class=U,
                        selector_field_ranges=[[-3, -2], [5, 5]])],
     "fd01" "fe02" "ff" "0503" "04", "x=-3 y=1|x=-2 y=2|x=-1|x=5 y=3|x=4"),
    ([u(type=I), choice("variant", options=[
        {"name": "a", **ranges(U, [-128, -1])},
        {"name": "b", **ranges(u(length=16), [0, 3], [7, 7])}])],
     "ff05" "030102" "070102", "x=-1 y.a=5|x=3 y.b=513|x=7 y.b=513"),
]
# Fragments behind a preamble; the last one is invalid.
FRAGMENTS = [
    ("", CLOCK, {**STREAM, "default-clock-class-id": "c"}),
    ("an unknown clock: d", CLOCK, {**STREAM, "default-clock-class-id": "d"}),
    ("two data streams of one id", STREAM, STREAM),
    ("", STREAM, {**STREAM, "id": 1}),
    ("a clock without an id", {"type": "clock-class", "frequency": 1}),
    ("a missing or invalid frequency", {**CLOCK, "frequency": 0}),
    ("a missing or invalid frequency", {**CLOCK, "frequency": (1 << 64) + 1}),
    ("", {**CLOCK, "frequency": (1 << 64) - 1}),
    ("an alias without a name", {"type": "field-class-alias"}),
    ("a missing field class", {"type": "field-class-alias", "name": "a"}),
    ("no structure: packet-context-field-class",
     {**STREAM, "packet-context-field-class": U}),
    ("no structure: packet-header-field-class",
     {"type": "trace-class", "packet-header-field-class": U}),
    ("the preamble is not the first fragment", PREAMBLE),
    ("an unknown fragment: trace", {"type": "trace"}),
    ("an unknown fragment:", {}),
]
# First fragments.
PREAMBLES = [
    ("the preamble is not the first fragment", STREAM),
    ("another version of CTF than 2", {**PREAMBLE, "version": 3}),
    ("an unknown extension: b", {**PREAMBLE, "extensions": {"a": {"b": 1}}}),
    ("an unknown extension: a", {**PREAMBLE, "extensions": {"a": 1}}),
    ("an unknown extension:", {**PREAMBLE, "extensions": [[1]]}),
    ("", {**PREAMBLE, "uuid": 16 * [0]}),
    ("an invalid uuid", {**PREAMBLE, "uuid": 15 * [0]}),
    ("an invalid uuid", {**PREAMBLE, "uuid": 16}),
]
# The JSON of a second fragment.
TEXTS = [
    ('{"type":"trace-class"', "an array or object without an end"),
    ('{"type":"trace-class","x":true', "an array or object without an end"),
    ('{"type":"trace-class","x":nul', "an invalid number"),
    ('{"type":"trace-class}', "an invalid string"),
    ('{"type":"trace-class","x":01}', "an invalid number"),
    *((f'{{"type":"trace-class","x":{number}}}', "an invalid number")
      for number in ("-", "1e", "1e+", "1.", "1.e5", ".5", "+1")),
    *((f'{{"type":"trace-class","x":{number}}}', "")
      for number in ("1e5", "-0.5", "1.25E-3", "0e0", "-0")),
    ('{"type":"trace-class",1:2}', "a member without a name"),
    ('{"type":"trace-class","x"}', "a member without a value"),
    ('{"type":"trace-class","x":"\\u12"}', "an invalid string"),
    *((f'{{"type":"trace-class","x":"{text}"}}', message)
      for text, message in (
          (r"\ud800\udc00\udbff\udfff", ""), (r"\ud800", "an invalid string"),
          (r"\ud800\ud800", "an invalid string"),
          (r"\udbff\ue000", "an invalid string"))),
    ('{"type":"trace-class","x":' + 127 * "[" + 127 * "]" + "}", ""),
    ('{"type":"trace-class","x":' + 128 * "[" + 128 * "]" + "}",
     "values that are nested too deep"),
]


def payload(*classes, name="event0"):
    members = [{"name": n, "field-class": f} for n, f in zip("xyz", classes)]
    return {"type": "event-record-class", "name": name, "payload-field-class": {
        "type": "structure", "member-classes": members}}


def write(folder, *fragments):
    os.mkdir(folder)
    with open(folder + "/metadata", "w", encoding="utf-8") as file:
        for f in fragments:
            file.write("\x1e" + (f if isinstance(f, str)
                                 else json.dumps(f)) + "\n")


def main():
    alias = {"type": "field-class-alias", "name": "u8", "field-class": U}
    rows = [(m, PREAMBLE, alias, payload(U, c)) for c, m in FIELDS]
    rows += [(m, PREAMBLE, *f) for m, *f in FRAGMENTS] + PREAMBLES
    rows += [(m and "invalid JSON: " + m, PREAMBLE, text) for text, m in TEXTS]
    for i, (message, *fragments) in enumerate(rows):
        write(f"{i:03}", *fragments)
        where = f"fragment {len(fragments)}: "
        if message == "no integer":
            where, message = "event event0: ", "no integer to be a length or " \
                "selector: x"
        if message:
            print(f"{i:03} {where}{message}")
    for i, (classes, data, shown) in enumerate(VALUES):
        write(f"v{i:02}", PREAMBLE, STREAM, payload(*classes, name=f"v{i:02}"))
        with open(f"v{i:02}/stream", "wb") as file:
            file.write(bytes.fromhex(data))
        for line in shown.split("|"):
            print(f"v{i:02} {line}")


main()
