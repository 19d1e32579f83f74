# SPDX-License-Identifier: BSD-2-Clause
"""Traces of allocators, read by other means than libtel's.

alloc.py FILE.FORM ...: writes the events as telcat --no-header shows them to
FILE.FORM.text, and to FILE.FORM.totals what telstat says was allocated and freed.
"""

import re
import sys

MASK = 2**64 - 1


def number(word):
    if word in ("nil", "(nil)"):
        return 0
    if word.startswith("#"):
        return int(word[1:])
    return int(word, 16 if word.startswith("0x") else 10)


# name: (type, what the arguments are)
CALLS = {
    "malloc": ("malloc", "s"), "free": ("free", "a"),
    "calloc": ("calloc", "cs"), "realloc": ("realloc", "os"),
    "memalign": ("memalign", "ls"), "valloc": ("valloc", "s"),
    "posix_memalign": ("posix_memalign", "ls"),
    "aligned_alloc": ("aligned_alloc", "ls"),
    "reallocarray": ("reallocarray", "ocs"),
    "_Znwm": ("new", "s"), "_ZnwmRKSt9nothrow_t": ("new", "s"),
    "_Znam": ("new_array", "s"), "_ZdlPvm": ("delete_sized", "a"),
    "_ZdlPv": ("delete", "a"), "_ZdaPv": ("delete_array", "a"),
    "_ZnwmSt11align_val_t": ("new_aligned", "sl"),
    "_ZdlPvmSt11align_val_t": ("delete_sized", "a"),
}
NAMES = {"a": "address", "o": "old", "c": "count", "l": "alignment",
         "s": "size"}
SHOWN = ["id", "address", "old", "count", "alignment", "size"]


def call(name, arguments):
    kind, letters = CALLS[name]
    words = re.findall(r"\(nil\)|nil|#\d+|0x[0-9a-fA-F]+|\d+", arguments)
    return kind, {NAMES[k]: number(w) for k, w in zip(letters, words)}


# Each of these gives (clock, type, fields in order) for each event.

def android(lines):
    fields = {"malloc": "as", "calloc": "acs", "realloc": "aos", "free": "a",
              "memalign": "als", "aligned_alloc": "als", "thread_done": "-"}
    for n, line in enumerate(lines, 1):
        tid, name, rest = re.match(r"(\d+): ?(\w+)(.*)", line).groups()
        words = rest.split()
        letters = fields[name]
        values = {NAMES[k]: number(w) for k, w in zip(letters, words)
                  if k != "-"}
        times = [int(w) for w in words[len(letters):]]
        values["tid"] = int(tid)
        values["duration"] = times[-1] - times[0] if times else 0
        yield times[-1] if times else n, name, values


def logalloc(lines):
    for n, line in enumerate(lines, 1):
        m = re.match(r"(\d+) (?:(\d+) )?(\w+)\((.*?)\)(?:=(.*))?$", line)
        if m[3] == "jemalloc_stats":
            continue
        kind, values = call(m[3], m[4])
        if m[5] is not None:
            values["address"] = number(m[5])
        values.update(pid=int(m[1]), tid=int(m[2] or 0))
        yield n, kind, values


def mtrace(lines):
    old = None
    for n, line in enumerate(lines, 1):
        m = re.match(r"@ (.*?):?\[(0x\w+)\] (.) (\S+)(?: (\S+))?$", line)
        if not m:
            assert line.startswith("= "), line
            continue
        values = {}
        kind = {"+": "malloc", "-": "free"}.get(m[3], "realloc")
        if m[3] == "<":
            old = number(m[4])
            continue
        values["address"] = 0 if m[3] == "!" else number(m[4])
        if m[3] in ">!":
            values["old"] = number(m[4]) if m[3] == "!" else old
        if m[5]:
            values["size"] = number(m[5])
        # without a symbol, the address is in the label
        symbol = m[1].endswith(")") or not m[1]
        values["caller"] = (number(m[2]), m[1] if symbol else f"{m[1]}:[{m[2]}]")
        yield n, kind, values


def heaptrack(lines):
    clock = frames = 0
    for line in lines:
        words = line.split(" ")
        hexes = []
        if words[0] in ("+", "-", "t", "R", "c"):
            hexes = [int(w, 16) for w in words[1:]]
        if words[0] == "+":
            yield clock, "malloc", {"address": hexes[2], "size": hexes[0],
                                    "trace": hexes[1]}
        elif words[0] == "-":
            yield clock, "free", {"address": hexes[0]}
        elif words[0] == "t":
            frames += 1
            yield clock, "trace", {"number": frames, "ip": hexes[0],
                                   "parent": hexes[1]}
        elif words[0] == "R":
            yield clock, "resident", {"pages": hexes[0]}
        elif words[0] == "c":
            clock = hexes[0] * 1000000
            yield clock, "clock", {"milliseconds": hexes[0]}
        else:
            yield clock, "note", {"text": line}


def heaptrack_data(lines):
    strings, instructions, sizes, live = ["?"], [None], [], {}
    version = clock = frames = 0
    for line in lines:
        words = line.split(" ")
        hexes = [int(w, 16) for w in words[1:]] if words[0] in "+-tRcia" else []
        if line == "" or words[0] == "#":
            continue
        if words[0] == "+":
            size, trace = sizes[hexes[0]]
            live[hexes[0]] = live.get(hexes[0], 0) + 1
            yield clock, "malloc", {"id": (hexes[0] << 32) + live[hexes[0]],
                                    "size": size, "trace": trace}
        elif words[0] == "-":
            yield clock, "free", {"id": (hexes[0] << 32) + live[hexes[0]]}
            live[hexes[0]] -= 1
        elif words[0] == "t":
            frames += 1
            ip, name = instructions[hexes[0]]
            yield clock, "trace", {"number": frames, "ip": (ip, name),
                                   "parent": hexes[1]}
        elif words[0] == "R":
            yield clock, "resident", {"pages": hexes[0]}
        elif words[0] == "c":
            clock = hexes[0] * 1000000
            yield clock, "clock", {"milliseconds": hexes[0]}
        else:
            yield clock, "note", {"text": line}
        if words[0] == "v":
            version = int(words[2], 16)
        elif words[0] == "s":
            strings.append(line.split(" ", 2 if version >= 3 else 1)[-1])
        elif words[0] == "a":
            sizes.append(hexes)
        elif words[0] == "i":
            of = hexes[2:]
            parts = [strings[of[i]] + (f" at {strings[of[i + 1]]}:{of[i + 2]}"
                                       if len(of) > i + 2 else "")
                     for i in range(0, len(of), 3)]
            instructions.append((hexes[0], " <- ".join(parts) or strings[hexes[1]]))


def valgrind(lines):
    for n, line in enumerate(lines, 1):
        m = re.search(r"--(\d+)-- (\w+)\((.*?)\)(\w+\(.*?\))?(?: = (\w+))?$",
                      line)
        if not m or m[2] not in CALLS:
            continue
        kind, values = call(m[2], m[3])
        if "address" not in values:
            values["address"] = number(m[5]) if m[5] else 0
        values["pid"] = int(m[1])
        yield n, kind, values


def ltrace(lines):
    begun = {}
    total = 0
    for n, line in enumerate(lines, 1):
        m = re.match(r"(?:\[pid (\d+)\] |(\d+) )? *"
                     r"(?:(\d+):(\d+):([\d.]+) |(\d+\.\d+) )?(?:\[0x\w+\] )?"
                     r"(.*)", line)
        tid = int(m[1] or m[2] or 0)
        clock = n
        if m[3]:
            us = round(float(m[5]) * 1000000)
            clock = ((int(m[3]) * 60 + int(m[4])) * 60000000 + us) * 1000
        elif m[6]:
            total += round(float(m[6]) * 1000000) * 1000
            clock = total
        what = m[7]
        end = re.match(r"<\.\.\. (\w+) resumed> \) += (\S+)", what)
        if end:
            if tid in begun and end[1] in CALLS:
                kind, values = begun.pop(tid)
                values["address"] = number(end[2])
                values["tid"] = tid
                yield clock, kind, values
            continue
        m = re.match(r"(?:[\w.]+->)?(\w+)\((.*)", what)
        if not m or m[1] not in CALLS or m[1] == "posix_memalign":
            continue
        end = re.match(r"(.*)\) += (\S+)", m[2])
        kind, values = call(m[1], end[1] if end else m[2])
        if "address" in values:
            values["tid"] = tid
        elif end:
            values["address"] = number(end[2])
            values["tid"] = tid
        else:
            begun[tid] = kind, values
            continue
        yield clock, kind, values


def kdump(lines):
    for n, line in enumerate(lines, 1):
        m = re.match(r" *(\d+) (\d+)? ?[\w ]+? +(?:(\d+)\.(\d{9}) )?USER  "
                     r"(?:(\w+) = )?(\w+)\((.*)\)$", line) or \
            re.match(r"<jemalloc>:utrace: (\d+)()()() (?:(\w+) = )?(\w+)"
                     r"\((.*)\)$", line)
        if not m or m[6] not in CALLS:
            continue
        kind, values = call(m[6], m[7])
        if m[5]:
            values["address"] = number(m[5])
        values.update(pid=int(m[1]), tid=int(m[2] or 0))
        yield int(m[3] + m[4]) if m[3] else n, kind, values


def rep(lines):
    for n, line in enumerate(lines, 1):
        words = line.split()
        if n <= 4:
            continue
        values = {"id": int(words[1])}
        if words[0] in "ar":
            values["size"] = int(words[2])
        kind = {"a": "malloc", "r": "realloc", "f": "free"}[words[0]]
        yield n, kind, values


def show(clock, kind, values):
    out = ["%016X" % clock, kind]
    order = [k for k in SHOWN if k in values]
    order += [k for k in values if k not in SHOWN]
    # the last of them
    for k in ("pid", "tid", "caller", "duration"):
        if k in order:
            order.append(order.pop(order.index(k)))
    for k in order:
        v = values[k]
        if isinstance(v, tuple):
            out.append('%s=0x%x' % (k, v[0]) + ('["%s"]' % v[1] if v[1] else ""))
        elif k in ("address", "old", "ip"):
            out.append("%s=0x%x" % (k, v))
        elif k == "text":
            out.append('text="%s"' % v)
        else:
            out.append("%s=%d" % (k, v))
    return " ".join(out)


def totals(events):
    """Blocks and bytes that were allocated, freed, and live at the end."""
    live = {}
    allocs = frees = alloc_bytes = free_bytes = 0

    def release(block):
        nonlocal frees, free_bytes
        if block in live:
            frees += 1
            free_bytes += live.pop(block)

    for _, kind, v in events:
        key = "id" if "id" in v else "address"
        if kind in ("free", "delete", "delete_array", "delete_sized"):
            release(v[key])
            continue
        if "size" not in v:
            continue
        size = v["size"] * v.get("count", 1)
        failed = key == "address" and v[key] == 0
        if kind.startswith("realloc") and not (failed and size > 0):
            release(v.get("old", v[key] if key == "id" else 0))
        if failed or size > 1 << 47:
            continue
        allocs += 1
        alloc_bytes += size
        live[v[key]] = size
    return {"allocs": allocs, "alloc_bytes": alloc_bytes, "frees": frees,
            "free_bytes": free_bytes, "live": len(live),
            "live_bytes": sum(live.values())}


def main():
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8", errors="surrogateescape",
                  newline="\n") as file:
            lines = file.read().split("\n")
        if lines[-1] == "":
            lines.pop()
        events = list(globals()[path.rsplit(".", 1)[1].replace("-", "_")](lines))
        with open(path + ".text", "w", encoding="utf-8",
                  errors="surrogateescape") as file:
            file.writelines(show(*event) + "\n" for event in events)
        with open(path + ".totals", "w", encoding="utf-8") as file:
            for name, value in totals(events).items():
                print(name, value, file=file)


main()
