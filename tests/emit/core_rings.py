# SPDX-License-Identifier: BSD-2-Clause
"""Makes the core of a program of any machine with rings of libtel-emit.

core_rings.py RING BITS ORDER MACHINE CORE

The memory of the program is that of the file RING, which a program of this
machine wrote, with each integer in the byte order of the other machine.
"""
import struct
import sys

PAGE, NAMES, REGION = 65536, 1 << 20, 0x20000000
PAGE_HEAD = "8s4I2Q2IQ64s48s16s5Q32Q768s"  # include/tel_emit.h
PAGE_TAIL, TAIL_AT = "10I", 1280
RING_HEAD = "4Q4I16QQ"
ENTRY = "2I3Q"
TYPE, EVENT = 1, 5
WIDTH = {0: 1, 1: 2, 2: 4, 3: 8, 7: 2, 8: 4, 13: 0}  # by load: tel(5)
HERE = "<" if sys.byteorder == "little" else ">"


class Description:
    """The description of a type, whose loads are changed in place."""

    def __init__(self, data, swap):
        self.data, self.at, self.fields = data, 0, []
        name = self.text()
        self.text()
        self.varint()
        self.code = self.varint()
        self.varint()
        if self.text():
            for _ in range(self.varint() + 1):
                self.varint()
        for _ in range(self.varint()):
            self.text()
            self.varint()
            at, load = self.at, self.varint()
            self.varint()
            where, offset = self.at, self.varint()
            self.varint()
            self.varint()
            if offset >= 16 and load in WIDTH:
                self.fields.append((offset, WIDTH[load]))
            if swap and 1 <= load <= 3:
                data[at] = load + 3
            elif swap and 7 <= load <= 8:
                data[at] = load + 2
            if swap and offset == 12:
                data[where] = 8  # the upper half of a word
        assert self.at == len(data), name

    def varint(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def text(self):
        length = self.varint()
        self.at += length
        return bytes(self.data[self.at - length:self.at])


def main():
    ring, bits, order, machine, core = sys.argv[1:]
    order = ">" if order == "big" else "<"
    swap = order != HERE
    with open(ring, "rb") as f:
        data = bytearray(f.read())

    def convert(fields, at):
        values = struct.unpack_from(HERE + fields, data, at)
        struct.pack_into(order + fields, data, at, *values)
        return values

    page = convert(PAGE_HEAD, 0)
    struct.pack_into(order + "Q", data, 48, REGION)
    ring_bytes, ring_stride = page[5:7]
    names_used = page[17]
    rings_used = convert(PAGE_TAIL, TAIL_AT)[4]

    types = {}

    def convert_cells(code, at):
        """The cells of an event, which starts at a place."""
        for offset, width in types[code].fields:
            if swap:
                data[at + offset:at + offset + width] = \
                    data[at + offset:at + offset + width][::-1]

    at = PAGE
    while at < PAGE + names_used:
        size, what, value, _, length = convert(ENTRY, at)
        body = at + struct.calcsize(HERE + ENTRY)
        if what == TYPE:
            piece = data[body:body + length]
            description = Description(piece, swap)
            data[body:body + length] = piece
            types[description.code] = description
        elif what == EVENT:
            convert_cells(value & 0xFFFF, body - 16)
        at += size

    for i in range(rings_used):
        start = PAGE + NAMES + i * ring_stride
        end = convert(RING_HEAD, start)[0] & ((1 << 40) - 1)
        assert end * 8 <= ring_bytes
        at = 0
        while at < end:
            event = start + 256 + 8 * at
            first = convert("2Q", event)[0]
            convert_cells(first & 0xFFFF, event)
            at += first >> 16 & 0xFFF

    wide = bits == "64"
    word = "Q" if wide else "I"
    ident = b"\x7fELF" + bytes([2 if wide else 1, 2 if order == ">" else 1,
                                1]) + bytes(9)
    with open(core, "wb") as f:
        f.write(ident + struct.pack(
            order + "HHI3WIHHHHHH".replace("W", word), 4, int(machine), 1, 0,
            64 if wide else 52, 0, 0, 64 if wide else 52,
            56 if wide else 32, 2, 64 if wide else 40, 0, 0))
        for at, address, size in ((4096, 0x10000000, PAGE),
                                  (4096 + PAGE, REGION, len(data) - PAGE)):
            if wide:
                f.write(struct.pack(order + "II6Q", 1, 6, at, address, 0, size,
                                    size, 4096))
            else:
                f.write(struct.pack(order + "8I", 1, at, address, 0, size,
                                    size, 6, 4096))
        f.write(bytes(4096 - f.tell()) + data)


main()
