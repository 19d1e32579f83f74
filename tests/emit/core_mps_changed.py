# SPDX-License-Identifier: BSD-2-Clause
"""Cores of programs with an MPS, whose event buffers, pointers, symbols or
notes differ from those that are found.

core_mps_changed.py: compares what telcat finds in each with what it should
find: the clocks of the events, or a message.  All are of a machine of 64 bits,
little-endian.
"""
import struct
import subprocess
import sys

KINDS, SIZE, PIECE = 7, 4096, 65536
ALL = KINDS * SIZE
BASE = 0x8100010
ENTRY, MOVED = 0x1234, 65536
NOW = 1 << 40
NONE = "without event buffers of an MPS"
SYMTAB, STRTAB, DYNSYM = 2, 3, 11
NT_AUXV, AT_ENTRY = 6, 9


def event(clock, size=32, code=0x1F0):
    return struct.pack("<HHIQ", code, size, 0, clock).ljust(size, b"\0")


def events(*clocks, size=32):
    return b"".join(event(clock, size) for clock in clocks)


class Buffers:
    """EventBuffer and EventLast: the newer events of each kind, and older ones
    right below them."""

    def __init__(self, newer, older=None, base=BASE):
        self.base = base
        self.memory, self.last = b"", []
        for k in range(KINDS):
            used = (older or {}).get(k, b"") + newer.get(k, b"")
            assert len(used) <= SIZE
            self.memory += used.rjust(SIZE, b"\0")
            self.last.append(base + (k + 1) * SIZE - len(newer.get(k, b"")))

    def pointers(self, at=None, value=None):
        last = list(self.last)
        if at is not None:
            last[at] = value
        return struct.pack("<7Q", *last)


def head(kind, phoff, shoff, phnum, shnum, entry=0):
    return b"\x7fELF\2\1\1" + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", kind, 62, 1, entry, phoff, shoff, 0, 64, 56, phnum,
        64, shnum, 0)


def core(segments, notes=b"", notes_at=None, again=0):
    """Of segments (address, bytes, flags), of which the first is there so many
    times again; then the notes."""
    n = len(segments) + 1 + again
    at, entries, body = 64 + 56 * n, b"", b""
    for i in range(again):
        entries += struct.pack("<II6Q", 1, segments[0][2], at, 0x40000000 +
                               (i << 24), 0, len(segments[0][1]),
                               len(segments[0][1]), 4096)
    for address, data, flags in segments:
        entries += struct.pack("<II6Q", 1, flags, at + len(body), address, 0,
                               len(data), len(data), 4096)
        body += data
    entries += struct.pack("<II6Q", 4, 4,
                           at + len(body) if notes_at is None else notes_at, 0,
                           0, len(notes), len(notes), 4)
    return head(4, 64, 0, n, 0) + entries + body + notes


def searched(buffers, pointers=None, before=b"", flags=6):
    """A core whose buffers only a search finds."""
    pointers = buffers.pointers() if pointers is None else pointers
    return core([(buffers.base, buffers.memory, 4),
                 (0x9000000, before + pointers, flags)])


LAST = 0xA000000


def symbol(name, value):
    return struct.pack("<IBBHQQ", name, 17, 0, 1, value, 0)


NAMES = b"\0EventBuffer\0EventLast\0EventLast2\0"
TABLE = symbol(1, BASE) + symbol(13, LAST)


def program(symbols=TABLE, names=NAMES, kind=2, table=SYMTAB, link=2,
            length=None, at=64, strings=None, count=3, first=(0, 0, 0, 0)):
    """An ELF file whose sections are one of symbols and one of their names."""
    sections = 64 + len(symbols) + len(names)

    def section(kind, at, length, link):
        return struct.pack("<IIQQQQIIQQ", 0, kind, 2, 0, at, length, link, 0,
                           1, 24)
    return head(kind, 0, sections, 0, count, ENTRY) + symbols + names + \
        section(*first) + \
        section(table, at, len(symbols) if length is None else length,
                link) + \
        section(STRTAB, 64 + len(symbols) if strings is None else strings,
                len(names), 0)


def note(kind, name, content):
    def padded(data):
        return data + bytes(-len(data) & 3)
    return struct.pack("<III", len(name), len(content), kind) + \
        padded(name) + padded(content)


VECTOR = struct.pack("<6Q", 3, 64, AT_ENTRY, ENTRY + MOVED, 0, 0)


def newer_cases():
    """(name, core, program, clocks or a message): of what is in the buffers"""
    one = {k: events(NOW - k) for k in range(KINDS)}
    clocks = sorted(NOW - k for k in range(KINDS))
    yield "one event in each", searched(Buffers(one)), None, clocks
    yield "no event", searched(Buffers({})), None, NONE
    for k in range(KINDS):
        yield "events in buffer %d" % k, searched(
            Buffers({k: events(NOW, NOW - 5)})), None, [NOW - 5, NOW]
    full = [NOW - i for i in range(SIZE // 32)]
    yield "a full buffer", searched(
        Buffers({3: events(*full)})), None, full[::-1]
    yield "all are full, of the shortest events", searched(Buffers(
        {k: events(*[NOW - k - 7 * i for i in range(SIZE // 16)], size=16)
         for k in range(KINDS)})), None, \
        [NOW - i for i in range(ALL // 16)][::-1]
    yield "equal clocks", searched(
        Buffers({1: events(NOW, NOW)})), None, [NOW] * 2
    yield "an older one first", searched(
        Buffers({1: events(NOW - 1, NOW)})), None, NONE
    for name, data, good in (
            ("code 0", event(NOW, code=0), False),
            ("code 1", event(NOW, code=1, size=64), True),
            ("code 0x1FF", event(NOW, code=0x1FF), True),
            ("code 0x200", event(NOW, code=0x200), False),
            ("clock 0", event(0), False), ("clock 1", event(1), True),
            ("size 8", event(NOW, size=16)[:2] + b"\x08" + bytes(5), False),
            ("size 16", event(NOW, size=16), True),
            ("size 512", event(NOW, size=512), True),
            ("size 520", event(NOW, size=520), False),
            ("a size that is too long", event(NOW)[:24], False)):
        yield "an event of " + name, searched(Buffers({2: data})), None, \
            [struct.unpack_from("<Q", data, 8)[0]] if good else NONE
    odd = event(NOW, 24)[:2] + b"\x14" + event(NOW, 24)[3:20] + \
        event(NOW - 1, 20)
    yield "sizes that are no words", searched(Buffers({2: odd})), None, NONE
    # one that is older, and fits as well without the oldest of each
    two = {k: events(NOW - k, NOW - 20 - k) for k in range(KINDS)}
    yield "the base with the most events", searched(Buffers(two)), None, \
        sorted([NOW - k for k in range(KINDS)] +
               [NOW - 20 - k for k in range(KINDS)])


def pointer_cases():
    """The same, of EventLast and where it is."""
    b = Buffers({1: events(NOW, NOW - 3), 6: events(NOW - 1)})
    want = [NOW - 3, NOW - 1, NOW]
    for n in 0, 1, 7, 8, PIECE - 64, PIECE - 56, PIECE - 48, PIECE - 8, \
            PIECE, 2 * PIECE - 64, 2 * PIECE - 112, 2 * PIECE - 104:
        yield "pointers at %d" % n, searched(b, before=bytes(n)), None, \
            NONE if n % 8 else want
    yield "pointers without the last byte", searched(
        b, b.pointers()[:-1]), None, NONE
    yield "memory that is only read", searched(b, flags=4), None, NONE
    for k in range(KINDS):
        top = BASE + (k + 1) * SIZE
        for value in top + 8, top - SIZE - 8, b.last[k] + 1:
            yield "pointer %d is 0x%x" % (k, value), searched(
                b, b.pointers(k, value)), None, NONE
    low = Buffers({1: events(NOW)}, base=ALL - SIZE)
    yield "the lowest address", searched(low), None, [NOW]
    low = Buffers({1: events(NOW)}, base=ALL - SIZE - 8)
    yield "a lower address", searched(low), None, NONE
    yield "buffers of which the core lacks the end", core(
        [(b.base, b.memory[:-8], 4), (0x9000000, b.pointers(), 6)]), None, NONE
    half = ALL // 2 + 3
    yield "buffers in two segments", core(
        [(b.base, b.memory[:half], 4), (b.base + half, b.memory[half:], 4),
         (0x9000000, b.pointers(), 6)]), None, want
    # no more than four times the bytes of the core are looked at
    for again, result in (3, want), (8, NONE):
        yield "memory that is there %d times again" % again, core(
            [(0x30000000, bytes(ALL * 8), 6), (b.base, b.memory, 4),
             (0x9000000, bytes(2 * PIECE) + b.pointers(), 6)],
            again=again), None, result
    # rows that could be pointers to buffers, which are none
    row = struct.pack("<7Q", *(0x100000 + k * SIZE for k in range(KINDS))) + \
        bytes(8)
    for n, result in (63, want), (64, NONE):
        yield "%d other rows" % n, searched(b, before=row * n), None, result


def older_cases():
    """The same, of what is below the newer events."""
    def older(name, below, clocks, newer=events(NOW, NOW - 1), kind=4):
        want = [struct.unpack_from("<Q", newer, at)[0]
                for at in range(8, len(newer), 32)]
        return ("older ones: " + name, searched(Buffers(
            {kind: newer}, {kind: below})), None, sorted(want + clocks))
    yield older("one", event(NOW - 9), [NOW - 9])
    yield older("as new as the newest", event(NOW), [NOW])
    yield older("newer than the newest", event(NOW + 1), [])
    yield older("some", events(NOW - 9, NOW - 10, NOW - 11),
                [NOW - 9, NOW - 10, NOW - 11])
    yield older("the second is newer", events(NOW - 9, NOW - 8), [NOW - 8])
    yield older("of a 16th of the clock", event(NOW // 16), [NOW // 16])
    yield older("of less", event(NOW // 16 - 1), [])
    yield older("what is no event before them", b"\xff" * 64 + event(NOW - 9),
                [NOW - 9])
    yield older("what is no event behind them",
                event(NOW - 9) + b"\xff" * 32, [])
    for n in 8, 16, 24:
        yield older("%d bytes of one behind them" % n,
                    event(NOW - 9) + event(NOW - 10)[:n], [NOW - 9])
    yield older("the start of a longer one behind them",
                event(NOW - 9) + event(NOW - 10, 64)[:24], [NOW - 9])
    yield older("no event, shorter than a header, behind them",
                event(NOW - 9) + b"\xff" * 8, [NOW - 9])
    yield older("24 bytes of one", event(NOW - 9)[:24], [])
    yield older("a buffer full of them",
                events(*(NOW - 9 - i for i in range(SIZE // 32 - 2))),
                [NOW - 9 - i for i in range(SIZE // 32 - 2)])
    yield older("a buffer in which nothing is new", event(NOW - 5), [NOW - 5],
                b"") [:3] + (NONE,)
    # the newest is in another buffer
    yield "older ones below none", searched(Buffers(
        {2: event(NOW)}, {5: event(NOW - 2), 0: event(NOW - 1)})), None, \
        [NOW - 2, NOW - 1, NOW]
    yield "older ones of the first buffer", searched(Buffers(
        {0: event(NOW - 3), 6: event(NOW)}, {0: event(NOW - 1)})), None, \
        [NOW - 3, NOW - 1, NOW]


def symbol_cases():
    """The same, where only symbols find the buffers, or notes that say how far
    the program was moved."""
    b = Buffers({1: events(NOW, NOW - 3)})
    want = [NOW - 3, NOW]

    def hidden(pointers=b.pointers(), **of_core):
        return core([(b.base, b.memory, 4), (LAST, pointers, 4)], **of_core)
    good = hidden()
    last_first = symbol(13, LAST) + symbol(1, BASE)
    far = 1 << 40
    for name, exe, found in (
            ("as they are", program(), True),
            ("in another order", program(last_first), True),
            ("of a shared object", program(table=DYNSYM), True),
            ("in a table of another type", program(table=4), False),
            ("behind others", program(
                symbol(0, 5) + symbol(23, 6) + TABLE), True),
            ("whose first value is 0", program(symbol(1, 0) + TABLE), True),
            ("whose names are longer", program(
                symbol(1, BASE) + symbol(23, LAST)), False),
            ("whose names are missing", program(
                symbol(1 << 30, BASE) + symbol(13, LAST)), False),
            ("of which one is missing", program(symbol(1, BASE)), False),
            ("of which the other is missing",
             program(symbol(13, LAST)), False),
            ("with half of one behind them", program(TABLE + bytes(23)), True),
            ("without the last byte", program(TABLE[:-1]), False),
            ("of another link", program(link=1), False),
            ("of a link that is no section", program(link=3), False),
            ("of a link far away", program(link=0xFFFFFFFF), False),
            ("at the end", program(
                at=64 + len(TABLE) + len(NAMES) + 192), False),
            ("behind the end", program(at=far), False),
            ("of a length behind the end", program(length=1 << 20), False),
            ("of any length", program(length=(1 << 64) - 1), False),
            ("of names behind the end", program(strings=far), False),
            ("behind a table of names behind the end", program(
                first=(SYMTAB, far, 24, 2)), True),
            ("behind a table whose link is none", program(
                first=(SYMTAB, 64, 24, 9)), True),
            ("in the first section", program(
                table=4, first=(SYMTAB, 64, len(TABLE), 2)), True),
            ("of no sections", program(count=0), False),
            ("of sections without the names", program(count=2), False),
            ("of more sections than the file has", program(count=4), False),
            ("of sections behind the end",
             program()[:40] + struct.pack("<Q", far) + program()[48:], False),
            ("of sections at the end",
             program()[:40] + struct.pack("<Q", len(program())) +
             program()[48:], False),
            ("of a short file", program()[:63], False),
            ("of no file", b"", False)):
        yield "symbols " + name, good, exe, want if found else NONE
    # pointers that symbols lead to are checked as well
    for k, value in (1, b.last[1] - 8), (1, b.last[1] + 8), \
            (0, b.last[0] + 8), (0, BASE - 8), (6, 0):
        yield "symbols of a wrong pointer %d" % k, hidden(
            b.pointers(k, value)), program(), NONE
    yield "symbols of no memory", core(
        [(b.base, b.memory, 6)]), program(), NONE
    yield "symbols of half of the pointers", core(
        [(b.base, b.memory, 4), (LAST, b.pointers()[:-1], 4)]), program(), NONE
    unlike = Buffers({2: events(NOW - 4)}, base=0x8800000)
    yield "symbols that lead to others than a search", core(
        [(b.base, b.memory, 4), (LAST, b.pointers(), 4),
         (unlike.base, unlike.memory, 4),
         (0x9000000, unlike.pointers(), 6)]), program(), want
    yield "symbols of buffers that are not there, and a search", core(
        [(LAST, b.pointers(), 4), (unlike.base, unlike.memory, 4),
         (0x9000000, unlike.pointers(), 6)]), program(), [NOW - 4]
    yield "wrong symbols, and a search", core(
        [(unlike.base, unlike.memory, 4),
         (0x9000000, unlike.pointers(), 6)]), program(), [NOW - 4]

    moved = program(symbol(1, BASE - MOVED) + symbol(13, LAST - MOVED), kind=3)
    fixed = program(symbol(1, BASE - MOVED) + symbol(13, LAST - MOVED))
    vector = note(NT_AUXV, b"CORE\0", VECTOR)
    other = note(5, b"name", b"content")
    for name, notes, exe, found in (
            ("the vector", vector, moved, True),
            ("of a program that cannot move", vector, fixed, False),
            ("of a program that did not move", vector, program(), True),
            ("none", b"", moved, False),
            ("of another kind", note(5, b"CORE\0", VECTOR), moved, False),
            ("the vector behind one", other + vector, moved, True),
            ("the vector before one", vector + other, moved, True),
            ("the vector before half of one", vector + other[:11], moved,
             True),
            ("a content of any length first", struct.pack(
                "<III", 0, 1 << 31, 5) + vector, moved, False),
            ("a name of any length first", struct.pack(
                "<III", 0xFFFFFFFF, 0, 5) + vector, moved, False),
            ("a name and no content", note(5, b"CORE", b"") + vector, moved,
             True),
            ("no name and no content", note(5, b"", b"") + vector, moved,
             True),
            ("a content without its padding", note(5, b"", b"a")[:-1], moved,
             False),
            ("a vector without its entry", note(NT_AUXV, b"", VECTOR[:-32]),
             moved, False),
            ("a vector that ends there", note(NT_AUXV, b"", VECTOR[:-16]),
             moved, True),
            ("a vector that is cut", note(NT_AUXV, b"", VECTOR[:-17]), moved,
             False),
            ("the vector, cut", vector[:-1], moved, False)):
        yield "notes: " + name, hidden(notes=notes), exe, \
            want if found else NONE
    yield "notes behind the end", hidden(
        notes=vector, notes_at=far), moved, NONE


def main():
    bad = 0
    for cases in newer_cases, pointer_cases, older_cases, symbol_cases:
        for name, data, exe, want in cases():
            with open("changed", "wb") as f:
                f.write(data)
            command = ["telcat", "-q", "--no-merge", "--as",
                       "mps-1.118.0/lii6gc", "-f", "mpscnv", "changed"]
            if exe is not None:
                with open("changed.exe", "wb") as f:
                    f.write(exe)
                command += ["--exe", "changed.exe"]
            done = subprocess.run(command, capture_output=True, text=True,
                                  check=False)
            got = [int(line[:16], 16) for line in done.stdout.split("\n")[:-1]]
            if isinstance(want, str):
                good = done.returncode == 1 and want in done.stderr
            else:
                good = done.returncode == 0 and got == want
            if not good:
                print(f"{name}: expected {want}, found {got}, {done.stderr}")
                bad += 1
    sys.exit(bad > 0)


main()
