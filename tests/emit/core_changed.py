# SPDX-License-Identifier: BSD-2-Clause
"""Cores whose segments, headers or pages of rings differ from those of a core.

core_changed.py CORE: compares what telcat finds in each with what it should
find.  CORE is one that core_rings.py made for a 64-bit little-endian machine.
"""
import struct
import subprocess
import sys

PAGE, AT, REGION = 65536, 0x10000000, 0x20000000
LOAD, NOTE, READ, WRITE = 1, 4, 4, 2
NOTHING = "without rings of libtel-emit"


def elf(segments, entry=56, table=64, count=None):
    """A core of segments: address, bytes, and perhaps flags and a type."""
    full = [(s + (READ | WRITE, LOAD)[len(s) - 2:]) for s in segments]
    count = len(full) if count is None else count
    out = bytearray(b"\x7fELF\2\1\1" + bytes(9) + struct.pack(
        "<HHI3QIHHHHHH", 4, 62, 1, 0, table, 0, 0, 64, entry, count, 0, 0, 0))
    offset = table + entry * len(full)
    out += bytes(table - len(out))
    for address, data, flags, kind in full:
        out += struct.pack("<II6Q", kind, flags, offset, address, 0, len(data),
                           len(data), 4096).ljust(entry, b"\0")
        offset += len(data)
    return bytes(out) + b"".join(s[1] for s in full)


def changed(page, at, fields, *values):
    page = bytearray(page)
    struct.pack_into("<" + fields, page, at, *values)
    return bytes(page)


def cases(page, rings):
    """(name, core, logs that are found or a message)"""
    one, two = (AT, page), (REGION, rings)
    second = changed(page, 40, "I", 4711)
    # of the names and of the rings in use
    used = struct.unpack_from("<I", page, 16)[0] + \
        struct.unpack_from("<I", page, 1296)[0] * \
        struct.unpack_from("<Q", page, 32)[0]
    half = used // 8192 * 4096
    yield "as it was", elf([one, two]), 1
    yield "the rings in use alone", elf([one, (REGION, rings[:used])]), 1
    yield "the rings first", elf([two, one]), 1
    yield "a page that does not start its segment", elf(
        [(AT - 1234, bytes(1234) + page), two]), 1
    yield "a page whose names are not there", elf([(AT, page[:4096]), two]), 1
    yield "rings that do not start their segment", elf(
        [one, (REGION - 8, bytes(8) + rings)]), 1
    yield "segments of memory that follow", elf(
        [one, two, (REGION + len(rings), bytes(8192))]), 1
    yield "long entries behind a gap", elf([one, two], 72, 4096), 1
    yield "two programs", elf([one, (AT + PAGE, second), two]), 2
    yield "many programs", elf(
        [(AT + i * PAGE, changed(page, 40, "I", i + 1)) for i in range(17)] +
        [two]), 16
    yield "more rings in use than there are", elf(
        [(AT, changed(page, 1296, "I", 1 << 31)), two]), 1
    yield "a page between those of memory", elf(
        [(AT + 8, page), two]), NOTHING
    yield "less than a page", elf([(AT, page[:1300]), two]), NOTHING
    yield "rings without their end", elf(
        [one, (REGION, rings[:used - 1])]), NOTHING
    yield "rings without their start", elf(
        [one, (REGION + 8, rings)]), NOTHING
    yield "rings in two segments", elf(
        [one, (REGION, rings[:half]),
         (REGION + half, rings[half:])]), NOTHING
    yield "memory that is only read", elf(
        [one + (READ,), two]), NOTHING
    yield "notes", elf([one + (READ | WRITE, NOTE), two]), NOTHING
    yield "another version", elf(
        [(AT, changed(page, 8, "I", 2)), two]), NOTHING
    yield "a page of another size", elf(
        [(AT, changed(page, 12, "I", 4096)), two]), NOTHING
    yield "another byte order", elf(
        [(AT, changed(page, 44, "I", 0x04030201)), two]), NOTHING
    for stride in 1 << 33, 1 << 63, (1 << 64) - 1:
        yield "rings of %d bytes" % stride, elf(
            [(AT, changed(page, 32, "Q", stride)), two]), NOTHING
    yield "short entries", elf([one, two], 56)[:54] + b"\x37" + \
        elf([one, two])[55:], "damaged core"
    yield "more entries than the file has", elf(
        [(AT, bytes(64))], count=900), "damaged core"


def main():
    with open(sys.argv[1], "rb") as f:
        data = f.read()[4096:]
    events = None
    for name, core, want in cases(data[:PAGE], data[PAGE:]):
        with open("changed", "wb") as f:
            f.write(core)
        done = subprocess.run(["telcat", "-c", "changed"], capture_output=True,
                              text=True, check=False)
        if events is None:
            events = int(done.stdout)
            assert events > 600
        if isinstance(want, str):
            good = done.returncode == 1 and want in done.stderr
        else:
            good = done.returncode == 0 and done.stderr == "" and \
                int(done.stdout) == want * events
        if not good:
            print(name, want, events, done)
            sys.exit(1)


main()
