#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Metadata of CTF 2 at the limits of what is valid, each in a folder 000, 001
...; prints the message for each that is invalid.
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
# Fragments behind a preamble; the last one is invalid.
FRAGMENTS = [
    ("", CLOCK, {**STREAM, "default-clock-class-id": "c"}),
    ("an unknown clock: d", CLOCK, {**STREAM, "default-clock-class-id": "d"}),
    ("two data streams of one id", STREAM, STREAM),
    ("", STREAM, {**STREAM, "id": 1}),
    ("a clock without an id", {"type": "clock-class", "frequency": 1}),
    ("a missing or invalid frequency", {**CLOCK, "frequency": 0}),
    ("a missing or invalid frequency", {**CLOCK, "frequency": 1 << 64}),
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


def payload(c):
    members = [{"name": n, "field-class": f} for n, f in (("x", U), ("y", c))]
    return {"type": "event-record-class", "payload-field-class": {
        "type": "structure", "member-classes": members}}


def main():
    alias = {"type": "field-class-alias", "name": "u8", "field-class": U}
    rows = [(m, PREAMBLE, alias, payload(c)) for c, m in FIELDS]
    rows += [(m, PREAMBLE, *f) for m, *f in FRAGMENTS] + PREAMBLES
    rows += [(m and "invalid JSON: " + m, PREAMBLE, text) for text, m in TEXTS]
    for i, (message, *fragments) in enumerate(rows):
        os.mkdir(f"{i:03}")
        with open(f"{i:03}/metadata", "w", encoding="utf-8") as file:
            for f in fragments:
                file.write("\x1e" + (f if isinstance(f, str)
                                     else json.dumps(f)) + "\n")
        where = f"fragment {len(fragments)}: "
        if message == "no integer":
            where, message = "event event0: ", "no integer to be a length or " \
                "selector: x"
        if message:
            print(f"{i:03} {where}{message}")


main()
