# SPDX-License-Identifier: BSD-2-Clause
"""Compares the events of a log, by the Python module, with telcat -f json.

    telcat -f json LOG | python_json.py LOG [ORDER]
"""

import json
import math
import sys

import teltools


def value(field, v):
    """What is a string in JSON: addresses and sets, and what loses digits."""
    if field.datatype in ("address", "pointer", "set"):
        return "0x%x" % v
    if field.datatype == "double" and not math.isfinite(v):
        return str(v)
    if isinstance(v, int) and not isinstance(v, bool) and abs(v) > 1 << 53:
        return str(v)
    return v


def main(path, order="time"):
    reader = teltools.open(path, order=order)
    types = {t.name: t for t in reader.types}
    rows = 0
    for line, event in zip(sys.stdin, reader):
        type_ = types[event.type]
        row = {"clock": event.clock}
        row["type"], row["kind"], row["code"] = event.type, event.kind, type_.code
        row["fields"] = {f.name: value(f, event.fields[f.name]) for f in type_.fields}
        if event.labels:
            row["labels"] = event.labels
        wanted = json.loads(line)
        assert row == wanted, (row, wanted)
        rows += 1
    assert rows > 100, rows


main(*sys.argv[1:])
