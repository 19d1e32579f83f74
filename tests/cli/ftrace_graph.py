#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""
Usage: ftrace_graph.py FORM SEED WANT

Prints a trace of the function_graph tracer, with random calls of three
processors: as the kernel prints it, without times (graph) or with threads and
times (abs), or as trace-cmd does (report).  To WANT it writes, for each stack
of functions, how often it returned and how many ns were its own.
"""

import random
import sys
from collections import Counter

MARKS = (("$", 10**9), ("@", 10**8), ("*", 10**7), ("#", 10**6),
         ("!", 10**5), ("+", 10**4))


class Graph:
    def __init__(self, form, seed):
        self.form = form
        self.random = random.Random(seed)
        self.clocks = [76 * 10**9] * 3
        self.lines = []
        self.own = Counter()

    @staticmethod
    def duration(ns):
        """As the kernel cuts it: its text, and the ns that are left."""
        text = str(ns // 1000)
        if len(text) >= 7:
            return text, ns // 1000 * 1000
        digits = ("%03d" % (ns % 1000))[:7 - len(text)]
        return (text + "." + digits,
                ns // 1000 * 1000 + int((digits + "00")[:3]))

    def put(self, cpu, time, column, depth, call, what):
        us = "%d.%06d" % (time // 10**9, time % 10**9 // 1000)
        if self.form == "graph":
            before = " %d) " % cpu
        elif self.form == "abs":
            before = "%s |   %d)   a b-%d    | " % (us, cpu, cpu + 100)
        else:
            before = "  a b-%d  [%03d] %s: funcgraph_%s: " % (
                cpu + 100, cpu, us, what)
        self.lines.append((time, "%s%-14s|  %s%s" % (
            before, column, "  " * depth, call)))

    def column(self, ns):
        mark = next((m for m, limit in MARKS if ns > limit), " ")
        text, exact = self.duration(ns)
        return "%s %s us " % (mark, text), exact

    def call(self, cpu, depth, path):
        choose = self.random.randrange
        start = self.clocks[cpu]
        func = "f%d" % choose(12)
        path = path + [func]
        calls = choose(4) if depth < 6 and choose(3) else 0
        inner = 0
        if calls > 0:
            self.put(cpu, start, "", depth, func + "() {", "entry")
        else:
            self.clocks[cpu] += choose(choose(50) and 9000 or 2 * 10**9)
        for _ in range(calls):
            self.clocks[cpu] += choose(300)
            inner += self.call(cpu, depth + 1, path)
        self.clocks[cpu] += choose(300)
        column, ns = self.column(self.clocks[cpu] - start)
        if calls > 0:
            self.put(cpu, self.clocks[cpu], column, depth,
                     "}" if choose(2) else "} /* %s */" % func, "exit")
        else:
            self.put(cpu, start, column, depth, func + "();", "entry")
        self.own[";".join(path)] += max(ns - inner, 0)
        self.clocks[cpu] += choose(300)
        return ns


def main():
    form, seed, want = sys.argv[1:]
    graph = Graph(form, int(seed))
    for _ in range(100):
        graph.call(graph.random.randrange(3), 0, [])
    print("# tracer: function_graph")
    for _, line in sorted(graph.lines, key=lambda one: one[0]):
        print(line)
    with open(want, "w", encoding="utf-8") as f:
        for path, ns in graph.own.items():
            f.write("%s %d\n" % (path, ns))


main()
