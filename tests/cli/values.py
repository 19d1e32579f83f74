# SPDX-License-Identifier: BSD-2-Clause
"""Compares JSON, CSV and a database of the same events, value by value:

    values.py LOG ...

The JSON says what each event is.  CSV has all fields in one row, by -F, and the
database has a table for each type, whose rows have the number of the event.
"""

import codecs
import csv
import io
import json
import os
import sqlite3
import subprocess
import sys

HEX = "address", "pointer", "set"


def telcat(*arguments):
    """What telcat prints.  Some logs are damaged on purpose."""
    done = subprocess.run(("telcat", "-q", *arguments), check=False,
                          stdout=subprocess.PIPE)
    assert done.returncode in (0, 3), arguments
    return done.stdout


def real(value):
    """Which double: NaN is equal to itself."""
    value = float(value)
    return "nan" if value != value else value


def integer(value, base=10):
    """An integer of 64 bits, whose sign a database cannot tell."""
    value = value if isinstance(value, int) else int(value, base)
    return value % (1 << 64)


def byte(error):
    """Of what is not UTF-8, JSON writes each byte as a character."""
    return error.object[error.start:error.end].decode("latin-1"), error.end


def flat(fields, prefix=""):
    """The members of structs as fields; the name of an enum by its label."""
    for name, value in fields.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def from_json(sort, value):
    """The value of a field; the type in JSON has to be that of its data."""
    if value is None or sort == "list":
        return value
    if sort == "string":
        assert isinstance(value, str)
        return value
    if sort == "boolean":
        assert isinstance(value, bool)
        return int(value)
    if sort == "double":
        return real(value)
    if sort in HEX:
        assert value.startswith("0x"), value
        return integer(value, 16)
    assert isinstance(value, int) == (abs(int(value)) <= 1 << 53), value
    return integer(value)


def from_csv(sort, value):
    """The same, of a cell."""
    if sort == "list":
        return json.loads(value) if value else None
    if sort == "string":
        return value
    if sort == "boolean":
        return ["false", "true"].index(value)
    if sort == "double":
        return real(value)
    if sort in HEX:
        assert value.startswith("0x"), value
        return integer(value, 16)
    return integer(value)


def from_database(sort, value):
    """The same, of a column."""
    if sort == "list":
        return None if value is None else json.loads(value)
    if sort == "string":
        return value.decode(errors="byte")
    if sort == "double":
        # the database has no NaN
        return real("nan" if value is None else value)
    assert isinstance(value, int), value
    return integer(value)


def schema(log):
    """The data types of the fields, by type and name."""
    types = {}
    for line in telcat("--types", "-f", "json", log).splitlines():
        one = json.loads(line)
        types[one["name"]] = [(f["name"], f["datatype"]) for f in one["fields"]]
    return types


def rows_of_database(log):
    """The rows of all tables of events, by the number of the event."""
    path = "values.db"
    telcat("-f", "sqlite", "-o", path, log)
    base = sqlite3.connect(path)
    base.text_factory = bytes
    rows = {}
    tables = [name.decode() for (name,) in base.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table'"
        " AND name GLOB 'EVENT_*'")]
    for table in tables:
        cursor = base.execute(f'SELECT * FROM "{table}"')
        names = [column[0] for column in cursor.description]
        assert names[-3:] == ["time", "log_serial", "event_number"], names
        for row in cursor:
            assert row[-1] not in rows, row
            rows[row[-1]] = table, row[-3], row[:-3]
    base.close()
    os.remove(path)
    return rows


def rows_of_csv(log, names):
    """The rows of CSV with the columns of all fields."""
    data = telcat("-f", "csv", "-F", ",".join(names), log)
    assert data.endswith(b"\n") and b"\r\n" not in data
    rows = csv.reader(io.StringIO(data.decode(errors="byte"), newline=""))
    header = next(rows)
    assert header == ["clock", "type", *(
        "." * (n in ("clock", "type")) + n for n in names)], header
    return list(rows)


def compare(log):
    """The number of values that are the same in all of them."""
    types = schema(log)
    names = list(dict.fromkeys(
        name for fields in types.values() for name, _ in fields))
    tables = rows_of_database(log)
    cells = rows_of_csv(log, names)
    events = [json.loads(line)
              for line in telcat("-f", "json", log).splitlines()]
    assert len(events) == len(tables) == len(cells), log
    first = min(tables)
    count = 0
    for number, (event, row) in enumerate(zip(events, cells)):
        table, time, columns = tables[first + number]
        fields, sorts = dict(flat(event["fields"])), types[event["type"]]
        where = f"{log}: event {number}: {event}: {row}: {columns}"
        assert table.upper().startswith("EVENT_" + event["type"].upper())
        assert integer(event["clock"]) == integer(row[0]) == \
            integer(time), where
        assert event["type"] == row[1], where
        assert len(fields) == len(columns) == len(sorts), where
        for (name, sort), column in zip(sorts, columns):
            if name.endswith(".label"):
                fields[name] = fields[name[:-6] + "_label"]
            value = from_json(sort, fields[name])
            cell = row[2 + names.index(name)]
            if value is None:
                assert cell == "" and column is None, (where, name)
                continue
            assert value == from_csv(sort, cell), (where, name)
            assert value == from_database(sort, column), (where, name)
            count += 1
    return count


def main():
    """All logs."""
    codecs.register_error("byte", byte)
    for log in sys.argv[1:]:
        print(compare(log), log)


if __name__ == "__main__":
    main()
