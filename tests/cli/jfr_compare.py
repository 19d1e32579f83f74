# SPDX-License-Identifier: BSD-2-Clause
"""Compares recordings as telcat shows them with the JDK's `jfr print --json`.

jfr_compare.py THEIRS < OURS, both in JSON: each event is there, at the same
nanosecond, with the same values, and the same stack.
"""
import calendar
import collections
import json
import re
import sys


def fail(*what):
    sys.exit(" ".join(str(w) for w in what))


def instant(text):
    """Nanoseconds since 1970, or the text of another string."""
    m = re.fullmatch(r"(-?\d{4,})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d))?(?:\.(\d+))?Z",
                     text)
    if m is None or len(m[1]) > 4:
        return None
    seconds = calendar.timegm(tuple(int(m[i] or 0) for i in range(1, 7)))
    return seconds * 10**9 + int((m[7] or "").ljust(9, "0"))


def span(text):
    m = re.fullmatch(r"PT(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?)(\d+)(?:\.(\d+))?S)?",
                     text)
    if m is None:
        return None
    ns = int(m[4] or 0) * 10**9 + int((m[5] or "").ljust(9, "0"))
    ns = (-ns if m[3] else ns) + (int(m[1] or 0) * 60 + int(m[2] or 0)) * 60 * 10**9
    return max(min(ns, 2**63 - 1), -2**63)


def frame(f):
    method = f["method"]
    if method is None:
        return "<unknown>"
    kind = method["type"]["name"] if method["type"] else None
    line = f":{f['lineNumber']}" if f["lineNumber"] > 0 else ""
    return (kind + "." if kind else "") + method["name"] + line


def shown(value):
    """How we show a value of theirs; members of structs stay apart."""
    if not isinstance(value, dict):
        return value
    if "frames" in value:
        return [frame(f) for f in value["frames"]] or None
    if "javaName" in value:
        return value["javaName"] if value["javaName"] is not None else value["osName"]
    if "descriptor" in value and "type" in value:
        return value["type"]["name"] + "." + value["name"] + value["descriptor"]
    if "name" in value and ("package" in value or "classLoader" in value or
                            "module" in value or
                            ("parent" in value and len(value) == 2)):
        return value["name"]
    if set(value) == {"type", "name"}:
        return value["name"] if value["name"] is not None else shown(value["type"])
    return value


def absent(value):
    """A struct that is not there has members that are not."""
    if isinstance(value, dict):
        return all(absent(v) for v in value.values())
    return value is None


def same(ours, theirs, where):
    theirs = shown(theirs)
    if theirs is None and absent(ours):
        return
    if isinstance(theirs, dict):
        for key, value in theirs.items():
            if isinstance(ours, dict) and key in ours:
                yield from same(ours[key], value, where + [key])
            elif ours is not None and key not in ("referrer",):
                yield where + [key], "missing"
        return
    if isinstance(theirs, list):
        if ours != theirs:
            yield where, ours, theirs
        return
    if isinstance(ours, str) and isinstance(theirs, (int, float)):
        ours = int(ours, 16) if ours.startswith("0x") else \
            float(ours) if ours in ("nan", "inf", "-inf") else int(ours)
    if isinstance(theirs, str) and isinstance(ours, int) or \
            isinstance(theirs, str) and re.fullmatch(r"-?\d+", str(ours)):
        for convert in (instant, span):
            number = convert(theirs)
            if number is not None:
                theirs, ours = number, int(ours)
                break
    if ours != theirs:
        yield where, ours, theirs


def main():
    theirs = collections.defaultdict(list)
    with open(sys.argv[1], encoding="utf-8") as file:
        for e in json.load(file)["recording"]["events"]:
            theirs[e["type"], instant(e["values"]["startTime"])].append(e["values"])
    count = values = wrong = 0
    last = 0
    for line in sys.stdin:
        e = json.loads(line)
        clock = int(e["clock"])
        if clock < last:
            fail("not in order of time:", line)
        last = clock
        queue = theirs.get((e["type"], clock))
        if not queue:
            fail("they do not have:", line[:300])
        # those of one nanosecond come in any order
        problems = []
        for at, want in enumerate(queue):
            fields = e["fields"]
            problems.append([p for key, value in want.items() if key != "startTime"
                             for p in (same(fields[key], value, [key])
                                       if key in fields else
                                       [([key], "missing")])])
            if not problems[-1]:
                break
        at = min(range(len(problems)), key=lambda i: len(problems[i]))
        values += len(queue[at])
        for p in problems[at]:
            wrong += 1
            if wrong < 20:
                print(e["type"], *p)
        del queue[at]
        count += 1
    left = sum(len(q) for q in theirs.values())
    if wrong or left:
        fail(wrong, "values differ,", left, "events are missing of", count)
    print(count, "events", values, "values")


if __name__ == "__main__":
    main()
