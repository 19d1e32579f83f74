# SPDX-License-Identifier: BSD-2-Clause
"""Compares classes of statistics with class_model.py, on random logs.

    class_compare.py groups|intervals|parts|outputs|plain SEED
"""

import csv
import io
import json
import math
import os
import random
import re
import subprocess
import sys
import xml.dom.minidom

import class_model as model

TYPE = "# teltools text 1\n# type: item 1 User v:signed u:unsigned s:string d:double"
DISTINCT = {"all": ("v", 4096), "few": ("v", 20), "none": ("s", 0), "text": ("s", 64),
            "real": ("d", 4096), "big": ("u", 300)}
TOP = {"largest": ("v", 5), "one": ("u", 1), "named": ("v", 40, "s"), "every": ("u", 4096, "v"),
       "many": ("v", 30, "s", "u", "v", "s", "v", "u", "u", "s")}
OTHERS = {f"key{n}" for n in range(2, 9)}
SPECS = [f"{name}=distinct({field},{most})" for name, (field, most) in DISTINCT.items()] + \
    [f"{name}=top({','.join(map(str, given))})" for name, given in TOP.items()]
ONES = model.ONES
TESTS = os.environ["TEL_TOP"] + "/tests"
FILES = ("a.txt", "b.txt", "c.txt")


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.splitlines()


def telstat(*arguments, specs=SPECS):
    wanted = [word for spec in specs for word in ("-s", spec)]
    return subprocess.run(["telstat", "-q", *wanted, *arguments], check=True,
                          stdout=subprocess.PIPE).stdout


def rows(*arguments, specs=SPECS):
    found = [json.loads(line) for line in telstat("-f", "json", *arguments, specs=specs).splitlines()]
    for row in found:
        # a number that a double cannot hold is a string
        row.update((name, int(row[name])) for name in row if name in ("value", "max") or
                   name.startswith("key") and str(row[name]).isdigit())
    return found


def make_log(file, rng, clock, n):
    events = []
    with open(file, "w", encoding="utf-8") as out:
        print(TYPE, file=out)
        for _ in range(n):
            clock += rng.randrange(1, 4)
            event = {"log": file, "offset": out.tell(), "v": rng.randrange(-30, 30), "u": rng.randrange(1 << 63, 1 << 64),
                     "s": rng.choice("äb\\\"c ") * rng.randrange(9),
                     "d": rng.choice((0.5, -0.0, 0.0, -1e300, rng.random())), "clock": clock}
            events.append(event)
            text = event["s"].replace("\\", "\\\\").replace('"', '\\"')
            print(f"{clock:016X} item v={event['v']} u={event['u']} s=\"{text}\" d={event['d']!r}",
                  file=out)
    return clock, events


def check(found, events):
    """Compares rows of statistics of a group, or of all, with the model."""
    values = {name: [] for name in TOP}
    for row in found:
        if row["type"] == "top value":
            values[row["name"]].append({name: row[name] for name in row
                                        if name not in ("t", "type", "name", "group")})
    for name, given in TOP.items():
        assert values[name] == model.top(events, *given), (name, values[name])
    found = [row for row in found if row["type"] != "top value"]
    assert len(found) == len(SPECS), found
    for row in found:
        if row["name"] in TOP:
            most = max((event[TOP[row["name"]][0]] for event in events), default=None)
            assert (row["updates"], row.get("max")) == (len(events), most), row
            continue
        field, most = DISTINCT[row["name"]]
        want = model.distinct([event[field] for event in events], most)
        assert row["updates"] == len(events), row
        assert {name: row[name] for name in want} == want, (row, want)


def statistics(report):
    return [row for row in report if row["type"] != "totals"]


def groups(events):
    found = statistics(rows("-g", "v % 3", *FILES))
    for key in {row["group"]["v % 3"] for row in found}:
        check([row for row in found if row["group"]["v % 3"] == key],
              [event for event in events if int(abs(event["v"]) % 3 * (-1) ** (event["v"] < 0)) == key])


def cells(sessions, step, deltas):
    """Events by intervals, which start anew with each session; with deltas, so does the last one."""
    found = [[]]
    for session, events in enumerate(sessions):
        at = 0
        if deltas and session > 0:
            found.append([])
        for event in events:
            while at < (event["clock"] - events[0]["clock"]) // step:
                found.append([])
                at += 1
            found[-1].append((session, event))
    return found


def intervals(events):
    step = 200
    # the clocks of one after the other go back
    alone = [[e for e in events if e["log"] == file] for file in FILES[::-1]]
    for files, sessions in (FILES, [events]), (("--no-merge", *FILES[::-1]), alone):
        for deltas in (), ("--deltas",):
            want = cells(sessions, step, deltas)
            assert len(want) > 3
            if not deltas:
                want = [sum(want[:n + 1], []) for n in range(len(want))]
            found = rows("-i", f"{step}ticks", *deltas, *files)
            ends = [i for i, row in enumerate(found) if row["type"] == "totals"]
            assert len(ends) == len(want), (len(ends), len(want))
            for n, (end, cell) in enumerate(zip(ends, want)):
                check(found[ends[n - 1] + 1 if n > 0 else 0:end], [event for _, event in cell])
                clocks = [[e["clock"] for number, e in cell if number == i] for i in range(len(sessions))]
                figures = {"events": len(cell), "span_ticks": sum(max(c) - min(c) for c in clocks if c)}
                if cell:
                    figures |= {"first_clock": min(sum(clocks, [])), "last_clock": max(sum(clocks, []))}
                assert {name: found[end].get(name) for name in figures} == figures, (n, found[end], figures)


def parts(events):
    """Parts in any order are the same as one run, byte for byte, and so are threads."""
    whole = telstat("-f", "inst", "--no-merge", *FILES)
    check(statistics(rows(*FILES)), events)
    assert telstat("-f", "json", "-j", "1", *FILES) == telstat("-f", "json", "-j", "3", *FILES)
    for file in FILES:
        with open(file + ".inst", "wb") as out:
            out.write(telstat("-f", "inst", file))
    for order in (0, 1, 2), (2, 1, 0), (1, 2, 0):
        files = [FILES[i] + ".inst" for i in order]
        added = telstat("-f", "inst", *files, specs=())
        assert added == whole, order
    with open("whole.inst", "wb") as out:
        out.write(whole)
    # a reader of events keeps what they are of
    with open("whole.tel", "wb") as out:
        out.write(subprocess.run(["telcat", "-f", "tel", "whole.inst"], check=True,
                                 stdout=subprocess.PIPE).stdout)
    again = {row["name"]: row for row in rows("whole.tel", specs=()) if row.get("name") in DISTINCT}
    for name, row in again.items():
        assert {k: row[k] for k in ("distinct", "error")} == \
            model.distinct([event[DISTINCT[name][0]] for event in events], DISTINCT[name][1])
    assert len(again) == len(DISTINCT), again
    # the values of events have 63 bits and a sign
    for name, given in TOP.items():
        if given[0] != "u":
            found = [{k: row[k] for k in row if k not in ("t", "type", "name")}
                     for row in rows("whole.tel", specs=())
                     if row["type"] == "top value" and row["name"] == name]
            # where an empty string is none, and one value is shown
            assert found == [{k: v for k, v in row.items() if v != "" and k not in OTHERS}
                             for row in model.top(events, *given)], (name, found)


def outputs(events):
    want = {name: model.distinct([event[field] for event in events], most)
            for name, (field, most) in DISTINCT.items()}
    text = telstat(*FILES).decode()
    metrics = telstat("-f", "openmetrics", *FILES).decode()
    table = list(csv.DictReader(io.StringIO(telstat("-f", "csv", *FILES).decode())))
    rows = {}
    for row in table:
        rows.setdefault((row["class"], row["type"], row["stat"], row["key"]), []).append(row["value"])
    lines = {}
    for line in metrics.splitlines():
        if place := re.match(r'\w+?_([a-z]+)_top\{.*rank="(\d+)",place="(.*?)"', line):
            lines.setdefault(place.groups(), []).append(line)
    xml.dom.minidom.parseString(telstat("-f", "svg", "-g", "v", *FILES))
    for name in "html", "arrow":
        with open("out." + name, "wb") as out:
            out.write(telstat("-f", name, *FILES))
    arrow = [json.loads(line) for line in run("python3", TESTS + "/cli/arrow_read.py", "out.arrow")]
    page = run("python3", TESTS + "/page/read_page.py", "report", "out.html")
    assert [json.loads(line) for line in page] == \
        [json.loads(line) for line in telstat("-f", "json", *FILES).splitlines()]
    for name, numbers in want.items():
        shown = f"distinct {numbers['distinct']:,}" + \
            (f"  error {numbers['error']}" if numbers["error"] else "")
        assert shown in text.split(f"{name}  (distinct)")[1].split("\n\n")[0], (name, text)
        for figure, value in numbers.items():
            found = [row["value"] for row in table
                     if (row["class"], row["type"], row["stat"]) == (name, "distinct", figure)]
            assert found == [str(value)], (name, figure, found)
            assert [row["value"] for row in arrow if (row.get("class"), row.get("stat")) == (name, figure)] \
                == [str(value)], (name, figure)
        assert f'_{name}{{class="{name}"}} {numbers["distinct"]}\n' in metrics, metrics
        assert f'_{name}_error{{class="{name}"}} {numbers["error"]}\n' in metrics, metrics
    for name, given in TOP.items():
        for row in model.top(events, *given):
            place = f'{row["log"]}:{row["offset"]}'
            found = lines.get((name, str(row["rank"]), place), [])
            assert len(found) == 1 and found[0].endswith(f' {row["value"]}'), (row, found)
            for figure, value in row.items():
                assert figure == "rank" or value == "" or [str(value)] == rows.get(
                    (name, "top value", figure, str(row["rank"]))), (row, figure)


def plain(events):
    """Classes without buckets and keys: of all events, of groups, and of what was saved."""
    classes = {f"{cls}_{f}": (cls, f) for cls in ("count", "sum", "mean", "min", "max", "var", "mag", "magdelta", "growth")
               for f in ("v", "u") if cls != "magdelta" or f == "v"}
    specs = [f"{name}={cls}({'' if cls == 'count' else field}) if {field} != 5" for name, (cls, field) in classes.items()]

    def compare(found, events):
        assert [row["name"] for row in found] == list(classes), found
        for row in found:
            cls, field = classes[row["name"]]
            want = model.plain(cls, [e[field] for e in events if e[field] != 5])
            for name, value in want.items():
                got = float(row[name]) if isinstance(value, float) else int(row[name])
                assert got == value or isinstance(value, float) and math.isclose(got, value, rel_tol=1e-9), (row, want)
            # and no others
            assert set(row) - set(want) == {"t", "type", "name", "definition", "lost", "group"} & set(row), (row, want)

    for options in ("-j", "1"), ("-j", "2"):
        compare(statistics(rows(*options, *FILES, specs=specs)), events)
    found = statistics(rows("-g", "v % 3", *FILES, specs=specs))
    for key in {row["group"]["v % 3"] for row in found}:
        compare([row for row in found if row["group"]["v % 3"] == key],
                [e for e in events if math.fmod(e["v"], 3) == key])
    with open("plain.inst", "wb") as out:
        out.write(telstat("-f", "inst", *FILES, specs=specs))
    compare(statistics(rows("plain.inst", specs=())), events)


def main():
    rng, clock, events = random.Random(int(sys.argv[2])), 1000, []
    for file in FILES:
        clock, more = make_log(file, rng, clock, rng.randrange(150, 400))
        events += more
    globals()[sys.argv[1]](events)


main()
