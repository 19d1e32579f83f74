# SPDX-License-Identifier: BSD-2-Clause
"""Makes the core of a program with an MPS, and the program, of any machine.

core.py STREAM BITS ORDER MACHINE CORE EXE [MOVED]

The events of STREAM, in order of time, are in the event buffers of the
program, as an MPS leaves them.  MOVED: the program ran so many bytes behind
where it was linked for, as the notes of the core have it; its memory is one
that it could not write, so that only symbols find the buffers.
"""
import struct
import sys

KINDS = 7
SIZE = 4096
BASE = 0x8100010  # of EventBuffer
LAST = BASE + KINDS * SIZE + 64
ENTRY = 0x1234
NT_AUXV, AT_ENTRY = 6, 9


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
    stream, bits, order, machine, core, exe, *moved = sys.argv[1:]
    machine = int(machine)
    moved = int(moved[0]) if moved else None
    order = ">" if order == "big" else "<"
    wide = bits == "64"
    word = "Q" if wide else "I"
    header = 12 if machine == 3 else 16

    def pack(fields, *values):
        return struct.pack(order + fields.replace("W", word), *values)

    def head(kind, phoff, shoff, phnum, shnum, entry=0):
        ident = b"\x7fELF" + bytes([2 if wide else 1,
                                    2 if order == ">" else 1, 1]) + bytes(9)
        return ident + pack("HHIWWWIHHHHHH", kind, machine, 1, entry, phoff,
                            shoff, 0, 64 if wide else 52, 56 if wide else 32,
                            phnum, 64 if wide else 40, shnum, 0)

    with open(stream, "rb") as f:
        buffers, last = fill(events_of(f.read(), order, header))
    memory = bytes(16) + buffers + bytes(64) + pack("7W", *last) + bytes(99)
    # a note of another kind, whose name and content are padded, and the vector
    notes = b"" if moved is None else \
        pack("III", 5, 3, 1) + b"CORE\0\0\0\0" + b"abc\0" + \
        pack("III", 5, 6 * (8 if wide else 4), NT_AUXV) + \
        b"CORE\0\0\0\0" + pack("6W", 3, 64, AT_ENTRY, ENTRY + moved, 0, 0)
    size = 64 if wide else 52
    entry = 56 if wide else 32

    def segment(kind, flags, offset, address, length):
        if wide:
            return pack("IIQQQQQQ", kind, flags, offset, address, 0, length,
                        length, 4096)
        return pack("IIIIIIII", kind, offset, address, 0, length, length,
                    flags, 4096)

    with open(core, "wb") as f:
        offset = size + 2 * entry
        f.write(head(4, size, 0, 2, 0) +
                segment(4, 4, offset, 0, len(notes)) +
                segment(1, 6 if moved is None else 4, offset + len(notes),
                        BASE - 16, len(memory)) + notes + memory)

    names = b"\0EventBuffer\0EventLast\0"

    def symbol(name, value):
        if wide:
            return pack("IBBHQQ", names.index(name), 17, 0, 1, value, 0)
        return pack("IIIBBH", names.index(name), value, 0, 17, 0, 1)

    symbols = bytes(24 if wide else 16) + \
        symbol(b"EventBuffer", BASE - (moved or 0)) + \
        symbol(b"EventLast", LAST - (moved or 0))

    def section(kind, at, length, link, entry):
        return pack("IIWWWWIIWW", 0, kind, 0, 0, at, length, link, 0, 1, entry)

    sections = size + len(symbols) + len(names)
    with open(exe, "wb") as f:
        f.write(head(2 if moved is None else 3, 0, sections, 0, 3, ENTRY) +
                symbols + names +
                section(0, 0, 0, 0, 0) +
                section(2, size, len(symbols), 2, 24 if wide else 16) +
                section(3, size + len(symbols), len(names), 0, 0))


main()
