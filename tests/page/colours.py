#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The colours of pages: contrast, and differences as people with each kind of
colour vision see them (TAP)."""

import itertools
import re
import sys

import make_page

# Machado, Oliveira, Fernandes 2009: linear RGB as a person sees it who lacks one
# kind of cones
VISION = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
               (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
               (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779),
               (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
# linear RGB to XYZ over the white of D65
XYZ = ((0.4339, 0.3762, 0.1899), (0.2126, 0.7152, 0.0722),
       (0.0178, 0.1095, 0.8728))
# the least difference of two hues, CIE76: light, dark
LEAST = {"normal": (29, 27), "protan": (16, 14), "deutan": (18, 13),
         "tritan": (12, 12)}


def linear(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    return [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4
            for v in parts]


def times(matrix, v):
    return [sum(a * b for a, b in zip(row, v)) for row in matrix]


def luminance(colour):
    return times(XYZ, linear(colour))[1]


def lab(colour, vision):
    seen = [min(max(v, 0), 1) for v in times(VISION[vision], linear(colour))]
    x, y, z = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116
               for v in times(XYZ, seen))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def contrast(one, other):
    a, b = sorted((luminance(one), luminance(other)))
    return (b + 0.05) / (a + 0.05)


def contrasts():
    """text and colours have the contrast of WCAG 2.2 AA, light and dark"""
    colours = {name: pair for name, *pair in re.findall(
        r"--(\w+): light-dark\((#\w{6}), (#\w{6})\)",
        make_page.source("page.css"))}
    # what does not match is drawn with a quarter of its colour
    hues = [f"c{i}" for i in range(10)] + [f"t{i}" for i in range(6)]
    for hue in hues:
        colours[f"pale {hue}"] = ["#" + bytes(round(
            int(b[k:k + 2], 16) + (int(f[k:k + 2], 16)
                                   - int(b[k:k + 2], 16)) * 4 / 15)
            for k in (1, 3, 5)).hex() for b, f in zip(
                colours["bg"], colours[hue])]
    bad = []
    pairs = [(a, b, 4.5) for a in ("fg", "dim", "accent", "error")
             for b in ("bg", "bar")]
    pairs += [(f"c{i}", "on", 4.5) for i in range(10)]
    pairs += [(f"t{i}", "black" if i in (1, 3, 4) else "on", 4.5)
              for i in range(6)]
    pairs += [(hue, "bg", 3) for hue in hues]
    pairs += [("fg", f"pale {hue}", 4.5) for hue in hues]
    pairs += [("accent", "on", 4.5), ("edge", "bg", 3), ("edge", "bar", 3)]
    for a, b, least in pairs:
        for theme in (0, 1):
            ratio = contrast(colours[a][theme], colours[b][theme])
            if ratio < least:
                bad.append(f"{a} on {b}: {ratio:.2f}")
    return bad


def differences():
    """hues of holders, and of types, differ for each kind of colour vision"""
    bad = []
    for name, (vision, bounds) in itertools.product(
            (r"\t--h[0-5]", r"\t--t[0-5]"), LEAST.items()):
        hues = re.findall(fr"^{name}: light-dark\((#\w{{6}}), (#\w{{6}})\)",
                          make_page.source("page.css"), re.M)
        assert len(hues) == 6
        for theme, least in enumerate(bounds):
            for one, other in itertools.combinations([h[theme] for h in hues],
                                                     2):
                far = sum((a - b) ** 2 for a, b in zip(
                    lab(one, vision), lab(other, vision))) ** 0.5
                if far < least:
                    bad.append(f"{one} {other} {vision}: {far:.1f}")
    return bad


if __name__ == "__main__":
    failed = 0
    print("1..2")
    for number, case in enumerate((contrasts, differences), 1):
        wrong = case()
        failed += bool(wrong)
        print(f"{'not ' * bool(wrong)}ok {number} {case.__doc__}"
              + (f"\n# {wrong}" if wrong else ""))
    sys.exit(failed > 0)
