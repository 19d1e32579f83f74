# SPDX-License-Identifier: BSD-2-Clause
"""Checks that standard input is OpenMetrics 1.0, strictly.

openmetrics.py [NAME ...]: and that there are families of these names.  What
is checked is what the specification says with MUST, and that "le" is written
as a floating point number.
"""

import re
import sys

NAME = re.compile(r"[a-z_][a-z0-9_]*\Z")  # no colon: that is not for us
LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
VALUE = re.compile(r"-?(\d+(\.\d+)?(e[+-]\d+)?|\+Inf)\Z")
SUFFIXES = {
    "counter": ["_total", "_created"],
    "gauge": [""],
    "info": ["_info"],
    "histogram": ["_bucket", "_count", "_sum", "_created"],
    "summary": ["", "_count", "_sum", "_created"],
}


class Wrong(Exception):
    """What is not as it must be."""


def check(good, what):
    """Complains unless good."""
    if not good:
        raise Wrong(what)


def unescape(text):
    """The text of a quoted string; complains about stray backslashes."""
    out, i = "", 0
    while i < len(text):
        if text[i] == "\\":
            check(i + 1 < len(text) and text[i + 1] in '\\"n', "bad escape")
            i += 1
            out += "\n" if text[i] == "n" else text[i]
        else:
            check(text[i] != '"', "bare quote")
            out += text[i]
        i += 1
    return out


def parse_labels(text):
    """{a="b",c="d"} as a dictionary."""
    labels = {}
    while text:
        name = LABEL.match(text)
        check(name, f"no label name: {text}")
        rest = text[name.end():]
        check(rest.startswith('="'), f"no value: {text}")
        value = re.match(r'((?:[^"\\\n]|\\.)*)"', rest[2:])
        check(value, f"value without an end: {text}")
        check(name.group() not in labels, f"label twice: {name.group()}")
        labels[name.group()] = unescape(value.group(1))
        text = rest[2 + value.end():]
        if text:
            check(text[0] == "," and text != ",", f"no comma: {text}")
            text = text[1:]
    return labels


class Family:
    """A family of metrics, and its samples."""

    def __init__(self, name, kind):
        check(NAME.match(name), f"bad name: {name}")
        check(kind in SUFFIXES, f"bad type: {kind}")
        self.name, self.kind = name, kind
        self.unit = self.help = None
        self.samples = []

    def names(self):
        """All names that belong to it."""
        return {self.name} | {self.name + s for s in SUFFIXES[self.kind]}

    def add(self, name, labels, text):
        """Takes a sample."""
        suffix = name[len(self.name):]
        check(name.startswith(self.name) and suffix in SUFFIXES[self.kind],
              f"{name} is not of {self.name}")
        check(VALUE.match(text), f"bad value: {text}")
        value = float(text)
        if suffix in ("_total", "_bucket", "_count", "_sum", "_created"):
            check(value >= 0, f"{name} is below 0")
        if suffix in ("_bucket", "_count"):
            check("." not in text, f"{name} is not whole")
        if self.kind == "info":
            check(value == 1, f"{name} is not 1")
        self.samples.append((suffix, labels, value))

    def check(self):
        """Complains about what is wrong with all of it."""
        if self.unit:
            check(self.name.endswith("_" + self.unit),
                  f"{self.name} does not end in {self.unit}")
        seen, metrics, last = set(), {}, None
        for suffix, labels, value in self.samples:
            key = tuple(sorted((k, v) for k, v in labels.items()
                               if k != "le" or self.kind != "histogram"))
            one = (suffix, key, labels.get("le"))
            check(one not in seen, f"{self.name}: twice: {one}")
            seen.add(one)
            check(key == last or key not in metrics,
                  f"{self.name}: metrics are interleaved: {key}")
            last = key
            metrics.setdefault(key, []).append((suffix, labels, value))
        if self.kind == "histogram":
            for metric in metrics.values():
                self.check_histogram(metric)

    def check_histogram(self, metric):
        """The buckets, count and sum of one metric."""
        edge, before = float("-inf"), 0
        rest = {}
        negative = False
        for suffix, labels, value in metric:
            if suffix != "_bucket":
                rest[suffix] = value
                continue
            check(not rest, "a bucket behind the count or the sum")
            text = labels["le"]
            check(text == "+Inf" or re.match(r"-?\d+\.\d+\Z", text),
                  f"{self.name}: le={text}")
            at = float(text)
            check(at > edge, f"{self.name}: le={text} does not rise")
            check(value >= before, f"{self.name}: le={text} falls")
            negative |= at < 0
            edge, before = at, value
        check(edge == float("inf"), f"{self.name}: no +Inf")
        check(("_count" in rest) == ("_sum" in rest),
              f"{self.name}: count or sum without the other")
        check("_sum" not in rest or not negative,
              f"{self.name}: a sum with buckets below 0")
        check(rest.get("_count", before) == before,
              f"{self.name}: the count is not that of +Inf")


def parse(text):
    """The families of a text."""
    check(text.endswith("# EOF\n"), "no # EOF at the end")
    families, names, current = {}, {}, None
    for line in text[:-len("# EOF\n")].split("\n")[:-1]:
        check(line and line == line.strip(), f"bad line: {line!r}")
        if line.startswith("#"):
            word, name, rest = re.match(
                r"# (TYPE|UNIT|HELP) (\S+) (.*)\Z", line).groups()
            if word == "TYPE":
                check(name not in families, f"{name}: interleaved or twice")
                current = families[name] = Family(name, rest)
                for one in current.names():
                    check(one not in names,
                          f"{one} is of {name} and of {names.get(one)}")
                    names[one] = name
                continue
            check(current and current.name == name and not current.samples,
                  f"{word} of {name} in the wrong place")
            if word == "UNIT":
                check(current.unit is None and current.help is None,
                      f"UNIT of {name} twice, or behind HELP")
                current.unit = rest
            else:
                check(current.help is None, f"HELP of {name} twice")
                current.help = unescape(rest)
            continue
        sample = re.match(r"([a-z0-9_]+)(?:\{(.*)\})? (\S+)\Z", line)
        check(sample and current, f"bad sample: {line}")
        name, labels, value = sample.groups()
        current.add(name, parse_labels(labels or ""), value)
    for family in families.values():
        family.check()
    return families


def main():
    """Everything."""
    text = sys.stdin.buffer.read().decode("utf-8")
    try:
        families = parse(text)
        for name in sys.argv[1:]:
            check(name in families, f"no family {name}")
    except Wrong as wrong:
        sys.exit(f"openmetrics.py: {wrong}")


if __name__ == "__main__":
    main()
