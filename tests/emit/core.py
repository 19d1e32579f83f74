# SPDX-License-Identifier: BSD-2-Clause
"""Makes the core of a program with an MPS, and the program, of any machine.

core.py STREAM BITS ORDER MACHINE CORE EXE

The events of STREAM, in order of time, are in the event buffers of the
program, as an MPS leaves them.
"""
import struct
import sys

KINDS = 7
SIZE = 4096
BASE = 0x8100010  # of EventBuffer
LAST = BASE + KINDS * SIZE + 64


def events_of(data, order, header):
    """The events of a stream, in order of time: clock, code, bytes."""
    at, events = 0, []
    while at < len(data):
        code, size = struct.unpack_from(order + "HH", data, at)
        clock = struct.unpack_from(order + "Q", data, at + header - 8)[0]
        events.append((clock, len(events), code, data[at:at + size]))
        at += size
    return sorted(events)


def fill(events):
    """EventBuffer and EventLast, after these events."""
    buffers = [bytearray(SIZE) for _ in range(KINDS)]
    last = [SIZE] * KINDS
    for _, _, code, event in events:
        kind = code % KINDS
        if len(event) > last[kind]:
            last = [SIZE] * KINDS
        last[kind] -= len(event)
        buffers[kind][last[kind]:last[kind] + len(event)] = event
    return b"".join(buffers), [BASE + k * SIZE + n for k, n in enumerate(last)]


def main():
    stream, bits, order, machine, core, exe = sys.argv[1:]
    machine = int(machine)
    order = ">" if order == "big" else "<"
    wide = bits == "64"
    word = "Q" if wide else "I"
    header = 12 if machine == 3 else 16

    def pack(fields, *values):
        return struct.pack(order + fields.replace("W", word), *values)

    def head(kind, phoff, shoff, phnum, shnum):
        ident = b"\x7fELF" + bytes([2 if wide else 1,
                                    2 if order == ">" else 1, 1]) + bytes(9)
        return ident + pack("HHIWWWIHHHHHH", kind, machine, 1, 0, phoff, shoff,
                            0, 64 if wide else 52, 56 if wide else 32, phnum,
                            64 if wide else 40, shnum, 0)

    with open(stream, "rb") as f:
        buffers, last = fill(events_of(f.read(), order, header))
    memory = bytes(16) + buffers + bytes(64) + pack("7W", *last) + bytes(99)
    size = 64 if wide else 52
    offset = size + (56 if wide else 32)
    if wide:
        segment = pack("IIQQQQQQ", 1, 6, offset, BASE - 16, 0, len(memory),
                       len(memory), 4096)
    else:
        segment = pack("IIIIIIII", 1, offset, BASE - 16, 0, len(memory),
                       len(memory), 6, 4096)
    with open(core, "wb") as f:
        f.write(head(4, size, 0, 1, 0) + segment + memory)

    names = b"\0EventBuffer\0EventLast\0"

    def symbol(name, value):
        if wide:
            return pack("IBBHQQ", names.index(name), 17, 0, 1, value, 0)
        return pack("IIIBBH", names.index(name), value, 0, 17, 0, 1)

    symbols = bytes(24 if wide else 16) + \
        symbol(b"EventBuffer", BASE) + symbol(b"EventLast", LAST)

    def section(kind, at, length, link, entry):
        return pack("IIWWWWIIWW", 0, kind, 0, 0, at, length, link, 0, 1, entry)

    sections = size + len(symbols) + len(names)
    with open(exe, "wb") as f:
        f.write(head(2, 0, sections, 0, 3) + symbols + names +
                section(0, 0, 0, 0, 0) +
                section(2, size, len(symbols), 2, 24 if wide else 16) +
                section(3, size + len(symbols), len(names), 0, 0))


main()
