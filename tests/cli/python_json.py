# SPDX-License-Identifier: BSD-2-Clause
"""Compares the events of a log, by the Python module, with telcat -f json.

    telcat -f json LOG | python_json.py LOG [ORDER]
"""

import json
import math
import struct
import sys

import teltools


def value(datatype, v):
    """What is a string in JSON: addresses and sets, and what loses digits."""
    if isinstance(v, list):
        return [value(datatype, one) for one in v]
    if v is None:
        return v
    if datatype == "string":
        # the NUL of modified UTF-8
        return v.replace("\udcc0\udc80", "\0")
    if datatype in ("address", "pointer", "set"):
        return "0x%x" % v
    if datatype == "double" and not math.isfinite(v):
        return str(v)
    if isinstance(v, int) and not isinstance(v, bool) and abs(v) > 1 << 53:
        return str(v)
    return v


def rounded(v):
    """The float that digits of JSON are."""
    if isinstance(v, list):
        return [rounded(one) for one in v]
    return struct.unpack("f", struct.pack("f", v))[0] if isinstance(v, float) else v


def flat(fields, prefix=""):
    """Members of structs, as fields."""
    for name, v in fields.items():
        if isinstance(v, dict):
            yield from flat(v, prefix + name + ".")
        else:
            yield prefix + name, v


def rows_of(event, type_):
    """The values of an event, and its labels: JSON has those of enums beside."""
    labels = dict(event.labels)
    for f in type_.fields:
        v = event.fields[f.name]
        if f.name.endswith(".label"):
            assert labels.pop(f.name[:-6], None) == v
            yield f.name[:-6] + "_label", v
        elif f.name == "stackTrace":
            yield f.name, labels.pop(f.name, None)
        else:
            yield f.name, value(f.element, v)
        if "." in f.name:
            struct, member = f.name.split(".", 1)
            assert struct in event.fields or event.fields[struct][member] == v
    if labels:
        yield "labels", labels


def main(path, order="time"):
    reader = teltools.open(path, order=order)
    types = {}
    rows = 0
    for line, event in zip(sys.stdin, reader):
        wanted = json.loads(line)
        if (event.type, wanted["code"]) not in types:
            types = {(t.name, t.code): t for t in reader.types}
        type_ = types[event.type, wanted["code"]]
        row = {"clock": value("unsigned", event.clock)}
        row["type"], row["kind"], row["code"] = event.type, event.kind, type_.code
        row["fields"] = dict(rows_of(event, type_))
        if "labels" in row["fields"]:
            row["labels"] = row["fields"].pop("labels")
        wanted["fields"] = dict(flat(wanted["fields"]))
        if wanted["fields"].get("stackTrace"):
            wanted["fields"]["stackTrace"] = wanted["fields"]["stackTrace"][0]
        for f in type_.fields:
            if f.element == "double" and f.width == 32:
                wanted["fields"][f.name] = rounded(wanted["fields"][f.name])
        assert row == wanted, (row, wanted)
        rows += 1
    assert rows > 10, rows


main(*sys.argv[1:])
