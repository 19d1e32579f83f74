#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares the independent decoder of .tel files with telcat.

    compare.py ANNEX NAME ...

ANNEX has the built-in schemas (a .tel file, or one in gzip; -: none);
NAME.json is what "telcat -f json NAME.tel" prints.  Prints the first difference
and fails, or prints the number of equal events of each file.
"""
import copy
import gzip
import json
import math
import re
import struct
import sys

import tel_reader as tel


def number(v):
    """Integers above 2^53 are strings in telcat's JSON."""
    return v if abs(v) <= 1 << 53 else str(v)


def text(data):
    """A string as telcat's JSON has it: bytes that are not UTF-8 are U+00XX."""
    if data.isascii():
        return data.decode()
    out = []
    for c in data.decode("utf-8", "surrogateescape"):
        code = ord(c)
        out.append(chr(code - 0xDC00) if 0xDC80 <= code <= 0xDCFF else c)
    return "".join(out)


def shortest(v):
    """A float in the fewest digits that read back as it."""
    for digits in range(6, 10):
        text_of = "%.*g" % (digits, v)
        if struct.pack("<f", float(text_of)) == struct.pack("<f", v):
            break
    return float(text_of)


def shown(f, v):
    if v is None:
        return None
    if f.datatype == tel.LIST:
        one = copy.copy(f)
        one.datatype, one.load = f.element
        return [shown(one, e) for e in v]
    if f.load == 14 and math.isfinite(v):
        return shortest(v)
    if f.datatype in (tel.UNSIGNED, tel.SIGNED):
        return number(v)
    if f.datatype in (tel.SET, tel.ADDRESS, tel.POINTER):
        return "0x%x" % v
    if f.datatype == tel.BOOLEAN:
        return v != 0
    if f.datatype == tel.DOUBLE:
        return v if math.isfinite(v) else str(v)
    return text(v)


def put(fields, types, i, value):
    """Puts the value of field i where JSON has it: structs are objects."""
    f = types.fields[i]
    path = types.fields[i - 1].name if f.label else f.name
    prefix, _, last = path.rpartition(".")
    if prefix and any(f.name == prefix for f in types.fields):
        prefix, last = "", path
    for part in prefix.split(".") if prefix else []:
        fields = fields.setdefault(part, {})
    fields[last + "_label" if f.label else last] = value


# What the schemas of the MPS call the values of a field, and the first value.
RESULTS = (0, "ok fail resource memory limit unimpl io commit-limit param")
CODES = {"why": (0, "gen-0-capacity dynamic-criterion opportunism "
                 "full-incremental full walk extension"),
         "res": RESULTS, "OK": RESULTS, "rank": (0, "ambig exact final weak"),
         "mode": (1, "read write read+write")}


def code_name(schema, f, v):
    """The name of a code of the MPS, or None."""
    if f.name not in CODES or f.datatype != tel.UNSIGNED:
        return None
    release = re.match(r"mps-1\.(\d+)\.", schema.name)
    if release is None:
        return None
    first, names = CODES[f.name]
    if f.name == "why" and int(release[1]) < 118:
        first = 1
    names = dict(enumerate(names.split(), first))
    return names[v].replace("-", " ") if v in names else None


def as_json(e):
    out = {"clock": number(e.clock)}
    if e.type is None:
        return out | {"code": e.code}
    out |= {"type": e.type.name, "kind": e.type.kind, "code": e.code}
    fields, labels = {}, {}
    for i, f in enumerate(e.type.fields):
        v = f.value(e.data, e.schema)
        space = f.label_space(e.schema)
        if space == tel.STACK:
            put(fields, e.type, i, e.log.stack(v) if v else None)
            continue
        if e.schema.flags & 256:
            put(fields, e.type, i, shown(f, v))
        else:
            fields[f.name] = shown(f, v)
        label = None
        if space is not None and e.labels != 1:
            label = e.log.label(space, v, e.clock)
        if label is None and e.labels:
            label = e.inline.get(i)
        if label is not None:
            labels[f.name] = text(label)
        elif code_name(e.schema, f, v) is not None:
            labels[f.name] = code_name(e.schema, f, v)
    out["fields"] = fields
    if labels:
        out["labels"] = labels
    return out


def same(want, got):
    if "type" not in want:
        return want["code"] == got["code"] and \
            want["clock"] == got["clock"]
    return want == got


def compare(name, annex):
    """The number of events of a file, which are all equal."""
    with open(name + ".json", encoding="utf-8") as f:
        lines = iter(f.read().splitlines())
    with open(name + ".tel", "rb") as f:
        data = f.read()
    count = 0
    for e in tel.read(data, annex):
        line = next(lines, None)
        want = as_json(e)
        if line is None or not same(want, json.loads(line)):
            sys.exit("%s: event %d: decoded\n%s\ntelcat\n%s" % (
                name, count, json.dumps(want), line))
        count += 1
    line = next(lines, None)
    if line is not None:
        sys.exit("%s: telcat has more: %s" % (name, line))
    return count


def main():
    annex = {}
    if sys.argv[1] != "-":
        with open(sys.argv[1], "rb") as f:
            data = f.read()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        annex = tel.read_annex(data)
    for name in sys.argv[2:]:
        print(compare(name, annex))


if __name__ == "__main__":
    main()
