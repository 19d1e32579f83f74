#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""svg.py FILE [TITLE CURVES POINTS ...]: checks a picture.

Texts must be within the page.  A chart of that title has so many curves, each
of at most or ("<=N") so many points ("*": any number).
"""
import re
import sys
import xml.etree.ElementTree as tree

NS = "{http://www.w3.org/2000/svg}"


def width(text, size):
    """At least that of a usual font without serifs."""
    ems = sum(0.4 if c in "ijl.,:;'|! /ft-" else
              1.0 if c in "mwMW@%" or ord(c) > 127 else
              0.8 if c.isupper() else 0.64 for c in text)
    return ems * size


def check_texts(root):
    page, height = (float(root.get(k)) for k in ("width", "height"))
    for e in root.iter(NS + "text"):
        if e.get("transform"):
            continue
        size = {"head": 16.5, "small": 11}.get(e.get("class"), 12)
        x, y, w = float(e.get("x")), float(e.get("y")), width(e.text, size)
        x -= {"middle": w / 2, "end": w}.get(e.get("text-anchor"), 0)
        assert -1 <= x and x + w <= page + 1, (e.text, x, w, page)
        assert size <= y + 4 and y <= height, (e.text, y)


def check_chart(chart, curves, points):
    paths = [p for p in chart.iter(NS + "path")
             if p.find(NS + "title") is not None]
    assert len(paths) == int(curves), len(paths)
    for p in paths:
        n = len(re.findall("[ML]", p.get("d")))
        if points == "*":
            assert n > 0, n
        elif points.startswith("<="):
            assert 0 < n <= int(points[2:]), n
        else:
            assert n == int(points), n


def main():
    root = tree.parse(sys.argv[1]).getroot()
    check_texts(root)
    charts = {g.find(NS + "title").text: g for g in root.findall(NS + "g")}
    rest = sys.argv[2:]
    while rest:
        title, curves, points, *rest = rest
        assert title in charts, (title, list(charts))
        check_chart(charts[title], curves, points)


main()
