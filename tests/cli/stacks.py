#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What the stacks of a raw trace of heaptrack allocated.

stacks.py WEIGHT <trace    folded stacks: allocated, peak, leaked or count
stacks.py lives <trace     freed blocks and their shortest and longest lives
"""

import sys


def read(lines):
    frames, live, stacks = {}, {}, {}
    clock = total = most = 0

    def end(address):
        nonlocal total
        if address in live:
            size, stack, born = live.pop(address)
            total -= size
            stack["leaked"] -= size
            return stack, clock - born
        return None, 0

    for line in lines:
        word, *rest = line.split(" ")
        numbers = [int(n, 16) for n in rest] if word in "+-tc" else []
        if word == "t":
            frames[len(frames) + 1] = numbers
        elif word == "c":
            clock = numbers[0] * 1000000
        elif word == "-":
            stack, life = end(numbers[0])
            if stack:
                stack["lives"].append(life)
        elif word == "+":
            size, frame, address = numbers
            end(address)
            text = []
            while frame:
                text.insert(0, hex(frames[frame][0]))
                frame = frames[frame][1]
            stack = stacks.setdefault(";".join(text) or "<none>", {
                "allocated": 0, "count": 0, "leaked": 0, "peak": 0,
                "lives": []})
            stack["allocated"] += size
            stack["count"] += 1
            stack["leaked"] += size
            live[address] = size, stack, clock
            total += size
            if total > most:
                most = total
                for each in stacks.values():
                    each["peak"] = each["leaked"]
    return stacks


def main():
    for text, stack in sorted(read(sys.stdin.read().splitlines()).items()):
        if sys.argv[1] == "lives":
            if stack["lives"]:
                print(text, len(stack["lives"]), min(stack["lives"]),
                      max(stack["lives"]))
        elif stack[sys.argv[1]]:
            print(text, stack[sys.argv[1]])


main()
