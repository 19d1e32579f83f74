# SPDX-License-Identifier: BSD-2-Clause
"""Compares orders of the events of a log, as text without labels: FILE has that
of the file, SHOWN what is to be in order of time; COPY is a part of FILE."""

import re
import sys


def lines(path):
    with open(path, encoding="utf-8", errors="surrogateescape") as f:
        return [re.sub(r'\["(\\.|[^"\\])*"\]', "", line) for line in f
                if not line.startswith("#")]


how, first, second = sys.argv[1:]
a, b = lines(first), lines(second)
if how == "sorted":
    # events of one clock are in the order of the file
    a.sort(key=lambda line: int(line[:16], 16))
    assert a == b, next((x, y) for x, y in zip(a, b) if x != y)
elif how == "part":
    rest = iter(a)
    missing = [line for line in b if not any(x == line for x in rest)]
    assert b and not missing, missing[0]
elif how == "same":
    assert sorted(a) == sorted(b)
