# SPDX-License-Identifier: BSD-2-Clause
"""Compares tables of Arrow with what telcat prints of the same log.

arrow_compare.py FILE json OUTPUT   every row with an object of -f json
arrow_compare.py FILE csv OUTPUT    every row with one of -f csv with -e TYPE
"""

import csv
import json
import math
import re
import struct
import sys

import arrow_read


def same(a, b):
    return a == b or (isinstance(a, float) and isinstance(b, float) and
                      math.isnan(a) and math.isnan(b))


def rounded(v):
    """A double with the digits of the float that it is, if it is one."""
    if isinstance(v, float) and struct.unpack("f", struct.pack("f", v))[0] == v:
        for digits in range(1, 10):
            short = float("%.*g" % (digits, v))
            if struct.unpack("f", struct.pack("f", short))[0] == v:
                return short
    return v


def number(text, kind):
    """A value as text or as JSON has it."""
    if kind == "boolean":
        return text if isinstance(text, bool) else text == "true"
    if kind == "double":
        return float(text)
    # of one name there may be addresses and other numbers in a column
    return text if isinstance(text, int) else int(text, 0)


def of_row(row):
    """The clock, names, fields, labels and text without a column of a row."""
    names, values, labels = {}, {}, {}
    for f, v in row:
        name = f.metadata.get("tel.field")
        if name is None:
            names[f.name] = v
        elif f.metadata["tel.datatype"] == "label":
            labels[name] = v
        else:
            assert name not in values, name
            values[name] = v, f.metadata["tel.datatype"]
    return names, values, labels


def flat(fields, prefix=""):
    """What is there, with members of structs as fields."""
    for name, v in fields.items():
        if isinstance(v, dict):
            yield from flat(v, prefix + name + ".")
        elif v is not None:
            yield prefix + name, v


def fields_of(want, values, labels):
    """The fields of an object: names of enums and stacks as a table has them."""
    fields = dict(flat(want["fields"]))
    for name in values:
        if name.endswith(".label") and name not in fields:
            fields[name] = fields.pop(name[:-6] + "_label")
    if isinstance(fields.get("stackTrace"), list):
        assert labels.pop("stackTrace") == fields["stackTrace"][0]
        fields["stackTrace"] = values["stackTrace"][0]
    return fields


def compare_json(reader, lines):
    count = 0
    for row, line in zip(reader.values(), lines, strict=True):
        want = json.loads(line)
        names, values, labels = of_row(row)
        # of no time there is no clock
        assert names.get("clock", 0) == int(want["clock"]), (row, want)
        assert names["type"] == want["type"], (row, want)
        assert names["kind"] == want["kind"], (row, want)
        fields = fields_of(want, values, labels)
        assert labels == want.get("labels", {}), (row, want)
        if "other" in names:
            count += 1
            for name in re.findall(r"(?:^| )(\w+)=", names["other"]):
                assert name not in values
        else:
            assert values.keys() == fields.keys(), (row, want)
        for name, (value, kind) in values.items():
            other = fields[name]
            if isinstance(value, list):
                # addresses are texts in JSON
                other = [int(v, 0) if isinstance(v, str) and
                         not isinstance(w, str) else v
                         for v, w in zip(other, value, strict=True)]
                assert other == [rounded(v) for v in value], (name, value, want)
                continue
            if kind != "string":
                other = number(other, kind)
            assert same(value, other) or rounded(value) == other, (
                name, value, want)
    return count


def compare_csv(reader, rows):
    head = next(rows)
    fields = [f for f in reader.fields
              if f.metadata.get("tel.datatype") != "label" and
              f.name != "other"]
    assert [f.metadata.get("tel.field", f.name) for f in fields] == [
        name.removeprefix(".") for name in head]
    at = [reader.fields.index(f) for f in fields]
    for row, want in zip(reader.rows(), rows, strict=True):
        for i, f, text in zip(at, fields, want):
            if f.name == "clock":
                text = int(text)
            elif row[i] is None:
                text = text or None
            elif f.metadata.get("tel.datatype", "string") != "string":
                text = number(text, f.metadata["tel.datatype"])
            assert same(row[i], text), (row, want)


def main():
    path, form, output = sys.argv[1:]
    with open(path, "rb") as f:
        reader = arrow_read.Reader(f.read())
    with open(output, encoding="utf-8", newline="") as f:
        if form == "json":
            print(compare_json(reader, f), "rows with text")
        else:
            compare_csv(reader, csv.reader(f))
    print(sum(n for n, _ in reader.batches), "rows")


if __name__ == "__main__":
    main()
