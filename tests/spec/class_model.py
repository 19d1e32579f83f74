# SPDX-License-Identifier: BSD-2-Clause
"""Models of classes of statistics, written from telstat(1) and tel-inst(5) alone.

Values are None (missing), int, float or str.
"""

import itertools
import math
import struct

ONES = (1 << 64) - 1


def mix(x):
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 & ONES
    x = (x ^ x >> 27) * 0x94d049bb133111eb & ONES
    return x ^ x >> 31


def digest(value):
    if isinstance(value, float) and value.is_integer() and -2 ** 63 <= value < 2 ** 64:
        value = int(value)
    kind, bits = 2, value
    if isinstance(value, str):
        kind, bits = 4, 0xcbf29ce484222325
        for byte in value.encode():
            bits = (bits ^ byte) * 0x100000001b3 & ONES
    elif isinstance(value, float):
        kind, bits = 3, struct.unpack("<Q", struct.pack("<d", value + 0.0))[0]
    elif value < 0:
        kind, bits = 1, value & ONES
    seed = 0x9ae16a3b2f90404f
    return mix(mix(bits ^ (seed + kind & ONES)) ^ seed)


def registers(values):
    found = {}
    for value in values:
        d = digest(value)
        rank = 51 - (d & (1 << 50) - 1).bit_length()
        found[d >> 50] = max(found.get(d >> 50, 0), rank)
    return found


def sigma(x):
    total = x
    for k in range(1, 60):
        total += x ** (2 ** k) * 2.0 ** (k - 1)
    return total


def estimate(found):
    m = 1 << 14
    total = m * sigma((m - len(found)) / m)
    total += sum(2.0 ** -rank for rank in found.values())
    return int(m * m / (2 * math.log(2) * total) + 0.5)


def distinct(values, most=4096):
    """The number of distinct values, and its standard error."""
    different = set(values)
    if len(different) <= most:
        return {"distinct": len(different), "error": 0}
    about = estimate(registers(different))
    return {"distinct": about, "error": -(-about * 13 // 1600)}


KEYS = (0, *range(2, 9))


def top(events, field, most, *shown):
    """The largest values, each with its event's clock, log, offset and fields."""
    order = sorted(events, key=lambda e: (-e[field], e["clock"], e["log"], e["offset"]))
    return [{"rank": i + 1, "value": e[field], "clock": e["clock"], "log": e["log"],
             "offset": e["offset"], **{f"key{n or ''}": e[field] for n, field in zip(KEYS, shown)}}
            for i, e in enumerate(order[:most])]


def plain(cls, values):
    """The numbers of the classes that have no buckets and no keys."""
    count = len(values)
    if cls == "growth":
        values = [v for v in values if v >= 0]
    found = {"updates": len(values), "invalid": count - len(values)}
    if cls == "magdelta":
        values = list(itertools.accumulate(values))
    if cls == "count" or not values:
        return found | ({"sum": 0} if cls not in ("count", "min", "max") else {})
    if cls in ("min", "max"):
        return found | {cls: min(values) if cls == "min" else max(values)}
    n, total = len(values), sum(values)
    found |= {"sum": total, "mean": total / n}
    if cls not in ("sum", "mean"):
        found["variance"] = (n * sum(v * v for v in values) - total * total) / (n * n)
        found["stddev"] = math.sqrt(found["variance"])
    if cls in ("mag", "magdelta", "growth"):
        found |= {"last": values[-1], "min": min(values), "max": max(values)}
    return found
