#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares events as telcat's JSON has them with babeltrace2's text of them.

    ctf_compare.py CYCLES JSON [OFFSET]

CYCLES: the output of babeltrace2 --clock-cycles --no-delta.  JSON: that of
telcat -f json.  The difference of the clocks is the same in all events, or one
of the nanoseconds OFFSET around it, where the traces have several clocks.
Prints the number of events compared; fails at the first difference.
"""

import json
import re
import struct
import sys

ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r",
           "t": "\t", "v": "\v"}


class Line:
    """A line of babeltrace2's text, from left to right."""

    def __init__(self, text):
        self.text = text
        self.at = 0

    def blanks(self):
        while self.text.startswith(" ", self.at):
            self.at += 1

    def accept(self, word):
        self.blanks()
        if not self.text.startswith(word, self.at):
            return False
        self.at += len(word)
        return True

    def expect(self, word):
        if not self.accept(word):
            raise ValueError("expected %r at %r" %
                             (word, self.text[self.at:self.at + 40]))

    def string(self):
        out = ""
        while not self.text.startswith('"', self.at):
            c = self.text[self.at]
            self.at += 1
            if c == "\\":
                c = self.text[self.at]
                self.at += 1
                c = ESCAPES.get(c, c)
            out += c
        self.at += 1
        return out

    def enum(self):
        labels = []
        while True:
            if self.accept('"'):
                labels.append(self.string())
            elif self.accept("<unknown>"):
                pass
            if not self.accept(","):
                break
        self.expect(": container =")
        value = self.value()
        self.expect(")")
        return ("enum", value, ",".join(labels))

    def value(self):
        if self.accept('"'):
            return self.string()
        if self.accept("("):
            return self.enum()
        if self.accept("{"):
            return self.members("}")
        if self.accept("["):
            return [v for _, v in self.members("]")]
        self.blanks()
        word = re.compile(r"[^ ,}\])]+").match(self.text, self.at).group()
        self.at += len(word)
        try:
            return int(word, 0)
        except ValueError:
            return float(word)

    def members(self, close):
        found = []
        while not self.accept(close):
            self.blanks()
            name = re.compile(r"\[\d+\]|[^ ]+").match(self.text, self.at)
            self.at += len(name.group())
            self.expect("=")
            found.append((name.group(), self.value()))
            self.accept(",")
        return found


def parse(text):
    """The clock, the name and the fields of an event."""
    head = re.match(r"\[(\d+)\] (?:\S+ )?(\S+): ", text)
    line = Line(text)
    line.at = head.end()
    fields = []
    while line.accept("{"):
        fields += line.members("}")
        line.accept(",")
    return int(head.group(1)), head.group(2), fields


def flatten(fields, prefix=""):
    for name, value in fields:
        if isinstance(value, list) and value and isinstance(value[0], tuple):
            yield from flatten(value, prefix + name + ".")
        else:
            yield prefix + name, value


def equal(want, got):
    if isinstance(want, list):
        return len(want) == len(got) and all(map(equal, want, got))
    if isinstance(got, str) and isinstance(want, (int, float)):
        got = float(got) if got in ("nan", "inf", "-inf") else int(got, 0)
    if isinstance(want, float):
        if want != want:
            return got is None or got != got
        if got is None:
            return True
        return want == float(got) or \
            "%g" % want == "%g" % float(got) or \
            struct.pack("f", want) == struct.pack("f", float(got))
    if isinstance(want, int) and isinstance(got, int) and want != got:
        # signed numbers of base 16 are shown without their sign
        return any(want - got == 1 << bits for bits in (8, 16, 32, 64))
    return want == got


def members(fields, prefix=""):
    for name, value in fields.items():
        if isinstance(value, dict):
            yield from members(value, prefix + name + ".")
        else:
            yield prefix + name, value


def compare(want, event):
    clock, name, fields = want
    if event["type"] != name:
        raise ValueError("%s for %s" % (event["type"], name))
    got = dict(members(event["fields"]))
    seen = {}
    for key, value in flatten(fields):
        # of two of one name, the first is that of a context
        seen[key] = seen.get(key, 0) + 1
        if seen[key] == 1 and sum(k == key for k, _ in flatten(fields)) > 1:
            key = "ctx." + key
        if isinstance(value, tuple):
            # a value without a name has none
            label = got.get(key + "_label")
            if label != (value[2] or None):
                raise ValueError("%s: label %r for %r" %
                                 (key, label, value[2]))
            value = value[1]
        if key not in got:
            raise ValueError("no field %s" % key)
        if not equal(value, got[key]):
            raise ValueError("%s: %r for %r" % (key, got[key], value))
    return int(event["clock"]) - clock


def main(cycles, text, spread=0):
    offset = None
    count = 0
    with open(cycles, encoding="utf-8", errors="surrogateescape") as want, \
            open(text, encoding="utf-8", errors="surrogateescape") as got:
        events = (json.loads(line) for line in got)
        events = (e for e in events if "fields" in e)
        for line in want:
            event = next(events)
            try:
                here = compare(parse(line.rstrip("\n")), event)
                offset = here if offset is None else offset
                if abs(here - offset) > spread:
                    raise ValueError("clock %s" % event["clock"])
            except (ValueError, KeyError, AttributeError) as e:
                sys.exit("event %d: %s\n%s%s" % (count, e, line, event))
            count += 1
        if next(events, None) is not None:
            sys.exit("more than %d events" % count)
    print(count)


main(sys.argv[1], sys.argv[2], int((sys.argv[3:] or ["0"])[0]))
