#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares telcat with a model of HPM traces that was written from tel-hpm(5).

    hpm_model.py SEED

Random traces of each version and byte order, with a meta file and without one, and
the meta file itself, in the current folder.
"""

import json
import os
import random
import subprocess
import sys

# version, byte order, methods in the records
KINDS = (1, "big", False), (2, "big", True), (2, "big", False), (3, "big", True), (3, "little", True)
EVENTS = {"PM_CYC ": "PM_CYC", "A B": "A_B", "1ST": "_1ST", "x.y": "x.y", "  ": None, "Z": "Z", "CPU": "CPU_{}",
          "a_b": "a_b_{}"}
META, TRACE = "HPM.headerFile", "HPM.1.startup"
APP = "app", "pseudojbb", "x" * 40


class Trace:
    """A trace and its meta file as bytes, and the events that they are."""

    def __init__(self, rng, kind, first=None):
        """first: a trace with the same meta file; those after it, of other processors, never go back."""
        self.rng, self.steady = rng, first is not None
        self.version, self.order, self.methods = kind
        self.cpu = rng.choice([n for n in (1, 2, 300, 1023) if first is None or n not in first.taken])
        self.taken = [self.cpu] if first is None else first.taken
        if first is None:
            self.at = rng.randrange(1000, 1 << 33)
            self.ncounters = rng.randrange(1, 9)
            self.names, self.threads, self.called = {}, {}, {}
            self.meta, self.listed = self.make_meta()
        else:
            self.taken.append(self.cpu)
            self.at = first.at + rng.randrange(300)
            self.ncounters, self.names, self.threads = first.ncounters, first.names, first.threads
            self.called, self.meta, self.listed = first.called, first.meta, first.listed
        self.header = self.number(self.version, order="big") + self.number(len(META), order="big") + META.encode()
        self.records = list(self.make_records())

    def number(self, value, size=4, order=None):
        return (value % (1 << 8 * size)).to_bytes(size, order or self.order)

    def string(self, text):
        return self.number(len(text)) + text.encode()

    def make_meta(self):
        rng, mode, v3 = self.rng, self.rng.randrange(32), self.version == 3
        data = self.number(self.version, order="big")
        if v3:
            data += self.number(self.order == "little", order="big")
        data += self.number(self.ncounters + v3) + self.number(mode)
        listed = [("Meta", {"version": self.version, "counters": self.ncounters, "mode": mode})]

        def add(code, name, text, **numbers):
            nonlocal data
            parts = [text] if isinstance(text, str) else text
            data += self.number(code) + b"".join(map(self.number, numbers.values())) + \
                b"".join(map(self.string, parts))
            listed.append((("Processor", "Counter", "Thread", "Method")[code - 1], {**numbers, "name": name}))

        names = rng.sample(list(EVENTS), self.ncounters)
        for i in range(rng.randrange(20, 30)):
            code = rng.randrange(1, 5) if i > 0 else 3
            if code == 1:
                add(1, f"POWER{i}", f"POWER{i}")
            elif code == 2 and names:
                text = names.pop()
                at = self.ncounters - len(names)
                self.names[at] = text
                add(2, text.rstrip(), text, counter=at, event=rng.randrange(-1, 100))
            elif code == 3:
                tid, slot = rng.choice((-1, 1, 2, 7, -9)), rng.randrange(1, 4)
                self.threads[tid] = f"C{i}", slot
                add(3, f"C{i}", f"class C{i}", tid=tid, slot=slot)
            elif code == 4:
                number = rng.randrange(4)
                self.called[number] = f"LC;.m{i}()V"
                add(4, self.called[number], ("LC;", f"m{i}", "()V"), method=number)
        return data, listed

    def fields(self, named):
        """The names of the counters."""
        found = []
        for i in range(1, self.ncounters + 1):
            name = EVENTS[self.names[i]] if named and i in self.names else None
            name = (name or "counter{}").format(i)
            # the later one of two has its number
            if name.startswith("a_b") and not any(x.lower() == "a_b" for x in found):
                name = "a_b"
            elif name == "A_B" and "a_b" in found:
                name = f"A_B_{i}"
            found.append(name)
        return found

    def make_records(self):
        """Of each record its bytes, whether it is a usual one, and what is in it."""
        rng, number = self.rng, self.number
        at = last = previous = self.at
        ticks = periods = 0
        for i in range(rng.randrange(100, 140)):
            if rng.randrange(8) == 0 and i != 5:
                code, run, app = rng.randrange(2, 6), rng.randrange(-2, 9), rng.choice(APP) if i < 60 else "x" * 4096
                data = number(code) + (number(run) if code > 3 else b"") + self.string(app)
                if rng.randrange(2):
                    padding = rng.randrange(4)
                    data += number(10) + number(padding) + bytes(padding)
                yield data, True, (code, run, app)
                continue
            # also the gap that is as long as the average period
            start = rng.choice((0, previous, at, at, at + 1, at + rng.randrange(300), previous - 7,
                                last + ticks // (periods or 1)))
            start = max(start, previous) if start and self.steady else start
            end = start + rng.choice((0, 1, 50, rng.randrange(200), rng.randrange(200), -3)) if start else at + 9
            c = {"start": start, "end": end, "tid": rng.choice((-9, -2, -1, 1, 2, 7)), "slot": rng.randrange(1, 4),
                 "switched": rng.randrange(2), "buffer": rng.randrange(2), "callee": rng.randrange(-1, 5),
                 "caller": rng.randrange(-1, 5),
                 "counters": [rng.choice((0, 1 << 63, rng.randrange(1 << 40))) for _ in range(self.ncounters)]}
            yield self.counter(c), start <= end, (1, c)
            if start and start <= end:
                ticks, periods = ticks + end - start, periods + 1
            previous, at, last = start or previous, max(at, end), end
        status = rng.randrange(-1, 3)
        yield number(6) + number(status), True, (6, status)

    def trace(self, damaged=False):
        """Its bytes; damage is behind the first 4 KiB of records, before three usual records in a row."""
        data, valid = self.header, 0
        for i, record in enumerate(self.records):
            usual = [usual for _, usual, _ in self.records[i:i + 3]]
            if damaged and len(data) > 5000 and valid >= 3 and usual == [True] * 3:
                data += b"\xff" * self.rng.randrange(1, 200)
                valid = 0
            data += record[0]
            valid += 1
        return data

    def counter(self, c):
        number = self.number
        if self.version == 1:
            data = number(1) + number(self.cpu | c["buffer"] << 16) + number(c["tid"]) + number(c["slot"])
        else:
            data = number(1 | self.cpu << 4 | c["switched"] << 14 | c["buffer"] << 15 | c["slot"] << 16) + \
                number(c["tid"])
        data += number(c["start"], 8) + number(c["end"], 8)
        if self.methods:
            data += number(c["callee"]) + number(c["caller"])
        return data + b"".join(number(v, 8) for v in c["counters"])

    def thread(self, c, named):
        """Its number, whether it yielded, and whether both are unsure."""
        tid, yielded = abs(c["tid"]), c["tid"] < 0
        main, first = [self.threads.get(n, ("", None))[1] if named else None for n in (-1, 1)]
        if tid != 1:
            return tid, yielded, 0
        if main is None:
            return tid, yielded, 0x80 * (c["slot"] == 1 != first)
        if main != c["slot"]:
            return tid, yielded, 0
        return (tid, yielded, 0x80) if first == main else (-1, not yielded, 0)

    def events(self, named):
        starts = [c[1]["start"] for _, _, c in self.records if c[0] == 1 and c[1]["start"]]
        clock, last, started, ticks, periods = starts[0], None, False, 0, 0
        names = self.fields(named)
        for _, _, (code, *rest) in self.records:
            if code == 6:
                yield clock, "Exit", {"cpu": self.cpu, "status": rest[0]}, {}
                continue
            if code > 1:
                name = ("AppStart", "AppComplete", "RunStart", "RunComplete")[code - 2]
                run = {"run": rest[0]} if code > 3 else {}
                yield clock, name, {"cpu": self.cpu, **run, "app": rest[1]}, {}
                continue
            c = rest[0]
            tid, yielded, flags = self.thread(c, named)
            gap = duration = 0
            if c["start"] == 0:
                flags |= 1
            else:
                duration = c["end"] - c["start"]
                flags |= 2 * (duration < 0)
                gap = c["start"] - last if last is not None else 0
                flags |= 4 * (gap > 0 and gap * periods > ticks)
                if started:
                    flags |= 8 * (c["start"] < clock) | 0x10 * (c["start"] == clock)
                clock, started = c["start"], True
                if duration >= 0:
                    periods, ticks = periods + 1, ticks + duration
            last = c["end"]
            fields = {"cpu": self.cpu, "tid": tid, "slot": c["slot"], "yielded": yielded,
                      "buffer": 1 if c["buffer"] else 2, "flags": hex(flags), "end": c["end"],
                      "duration": duration, "gap": gap, **dict(zip(names, c["counters"]))}
            labels = {"tid": self.threads[tid][0]} if named and tid in self.threads else {}
            if self.version > 1:
                fields["switched"] = c["switched"] == 1
            for name in ("caller", "callee") if self.methods else ():
                fields[name] = c[name]
                if named and c[name] in self.called:
                    labels[name] = self.called[c[name]]
            yield clock, "Counter", fields, labels


def merged(traces):
    """The events of several processors by their clocks, with the flag of a thread that ran on two of them."""
    lists, ends = [list(t.events(True)) for t in traces], {}
    while any(lists):
        e = min((events for events in lists if events), key=lambda events: events[0][0]).pop(0)
        clock, name, fields, labels = e
        if name == "Counter":
            flags, cpus = int(fields["flags"], 16), ends.setdefault(fields["tid"], {})
            if not flags & 0x81:
                flags |= 0x20 * any(cpu != fields["cpu"] and end > clock for cpu, end in cpus.items())
                cpus[fields["cpu"]] = fields["end"]
            fields = {**fields, "flags": hex(flags)}
        yield clock, name, fields, labels


def telcat(*arguments, status=0):
    done = subprocess.run(["telcat", "-q", "--file-order", "-f", "json", *arguments], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == status, done
    for line in done.stdout.splitlines():
        e = json.loads(line)
        fields = {name: int(v) if isinstance(v, str) and v.isdigit() else v for name, v in e["fields"].items()}
        yield e["clock"], e["type"], fields, e.get("labels", {})


def same(got, want, what):
    got, want = list(got), list(want)
    for n, pair in enumerate(zip(got, want)):
        assert pair[0] == pair[1], (what, n, *pair)
    assert len(got) == len(want), (what, len(got), len(want))


def write(path, data):
    with open(path, "wb") as out:
        out.write(data)


def main():
    rng = random.Random(int(sys.argv[1]))
    for kind in KINDS:
        t = Trace(rng, kind)
        write(META, t.meta)
        write(TRACE, t.trace())
        same(telcat("--as", "hpm-meta", META), [(0, *e, {}) for e in t.listed], kind)
        same(telcat(TRACE), t.events(True), kind)
        copy = subprocess.run(["telfilter", "-q", TRACE], check=True, stdout=subprocess.PIPE).stdout
        assert copy == t.trace(), kind
        write("damaged", t.trace(damaged=True))
        same(telcat("damaged", status=3), t.events(True), kind)
        several = [Trace(rng, kind, t) for _ in range(3)]
        files = [f"HPM.{i + 2}.startup" for i in range(len(several))]
        for path, one in zip(files, several):
            write(path, one.trace())
        same(telcat(*files), merged(several), kind)
        subprocess.run(["telcat", "-q", "--file-order", "-f", "hpm", "-o", "HPM.all", *files], check=True)
        same(telcat("HPM.all"), merged(several), kind)
        os.remove(META)
        # the methods, too, are known from it alone
        if kind != (2, "big", False):
            same(telcat(TRACE), t.events(False), kind)


main()
