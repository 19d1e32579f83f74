# SPDX-License-Identifier: BSD-2-Clause
"""A decoder of .tel files, written from tel(5) and from nothing else.

It shares no code with libtel, so it shows whether the page says all that a
reader needs.  It favours plain code over speed, and stops at the first thing
that contradicts the page.
"""
import bisect
import struct
from copy import deepcopy

MASK = (1 << 64) - 1
MARKER = b"\xf1tel"
START, LOG, BLOCK, NAMES, INDEX, END, SUMMARY, DIRECTORY = range(1, 9)
LENGTHS = [
    (0, 1, 2, 8), (0, 1, 4, 8), (1, 2, 3, 8), (1, 2, 4, 8),
    (0, 2, 4, 8), (0, 1, 3, 8), (0, 2, 3, 8), (2, 3, 4, 8),
    (1, 3, 5, 8), (0, 3, 6, 8), (0, 4, 6, 8), (2, 4, 6, 8),
    (1, 2, 6, 8), (0, 1, 6, 8), (0, 2, 6, 8), (3, 4, 6, 8)]
# load: (bytes, big-endian, signed)
LOADS = {0: (1, 0, 0), 1: (2, 0, 0), 2: (4, 0, 0), 3: (8, 0, 0),
         4: (2, 1, 0), 5: (4, 1, 0), 6: (8, 1, 0), 7: (2, 0, 1),
         8: (4, 0, 1), 9: (2, 1, 1), 10: (4, 1, 1), 11: (1, 0, 0),
         13: (4, 0, 0), 14: (4, 0, 0), 15: (4, 0, 0)}
UNSIGNED, SIGNED, SET, ADDRESS, POINTER, BOOLEAN, DOUBLE, STRING, LIST = range(9)
STACK = 7


class Bad(Exception):
    """The file is not what tel(5) says."""


def xxh64(data):
    """XXH64 with seed 0, from its specification."""
    p1, p2, p3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
    p4, p5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5

    def rotate(v, n):
        v &= MASK
        return (v << n | v >> (64 - n)) & MASK

    def round_(acc, lane):
        return rotate(acc + lane * p2, 31) * p1 & MASK

    n, at = len(data), 0
    if n >= 32:
        acc = [(p1 + p2) & MASK, p2, 0, -p1 & MASK]
        at = n - n % 32
        words = struct.unpack_from(f"<{at // 8}Q", data)
        for i, v in enumerate(acc):
            # round_(), without a call for each word
            for lane in words[i::4]:
                v = (v + lane * p2) & MASK
                v = (v << 31 | v >> 33) * p1 & MASK
            acc[i] = v
        h = sum(rotate(v, r) for v, r in zip(acc, (1, 7, 12, 18))) & MASK
        for v in acc:
            h = ((h ^ round_(0, v)) * p1 + p4) & MASK
    else:
        h = p5
    h = (h + n) & MASK
    while n - at >= 8:
        lane = int.from_bytes(data[at:at + 8], "little")
        h = (rotate(h ^ round_(0, lane), 27) * p1 + p4) & MASK
        at += 8
    if n - at >= 4:
        lane = int.from_bytes(data[at:at + 4], "little")
        h = (rotate(h ^ (lane * p1 & MASK), 23) * p2 + p3) & MASK
        at += 4
    for byte in data[at:]:
        h = rotate(h ^ (byte * p5 & MASK), 11) * p1 & MASK
    h = (h ^ h >> 33) * p2 & MASK
    h = (h ^ h >> 29) * p3 & MASK
    return h ^ h >> 32


def put_varint(v):
    out = b""
    while v > 127:
        out += bytes([v & 127 | 128])
        v >>= 7
    return out + bytes([v])


def put_text(s):
    data = s.encode("utf-8", "surrogateescape")
    return put_varint(len(data)) + data


def unzigzag(z):
    return (z >> 1 ^ -(z & 1)) & MASK


class Bytes:
    """Bytes that are read one after the other."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def left(self):
        return len(self.data) - self.at

    def take(self, n):
        at = self.at
        if n > len(self.data) - at:
            raise Bad("the data ends early")
        self.at = at + n
        return self.data[at:at + n]

    def byte(self):
        at = self.at
        if at >= len(self.data):
            raise Bad("the data ends early")
        self.at = at + 1
        return self.data[at]

    def integer(self, n):
        return int.from_bytes(self.take(n), "little")

    def varint(self):
        v = self.byte()
        if v < 128:
            return v
        v, shift = v & 127, 7
        while True:
            c = self.byte()
            if shift == 63 and c > 1:
                raise Bad("a varint of more than 64 bits")
            v |= (c & 127) << shift
            if c < 128:
                return v
            shift += 7

    def string(self):
        return self.take(self.varint())

    def text(self):
        return self.string().decode("utf-8", "surrogateescape")

    def metadata(self):
        return {self.text(): self.text() for _ in range(self.varint())}


# -------------------------------------------------------------- columns

def read_lengths(b, n, lengths):
    control = b.take((n + 3) // 4)
    return read_integers(b, [lengths[control[i // 4] >> i % 4 * 2 & 3]
                             for i in range(n)])


def read_integers(b, lengths):
    data, at, out = b.take(sum(lengths)), 0, []
    for n in lengths:
        out.append(int.from_bytes(data[at:at + n], "little"))
        at += n
    return out


def column(b, n, p=0):
    m = b.byte()
    if m < 0x80:
        z = m & 63
        if m & 64:
            z |= b.varint() << 6
        return [(p + unzigzag(z)) & MASK] * n
    kind, how = m >> 4, m & 15
    if kind in (8, 9, 10, 11, 14):
        scale = b.varint()
        base = (p + unzigzag(b.varint())) & MASK
        if kind in (8, 9) and how > 8:
            raise Bad("column mode %02x" % m)
        if kind == 14:
            step = unzigzag(b.varint())
        count = n if kind in (8, 10) else n - 1
        if kind in (8, 9):
            v = read_integers(b, [how] * count)
        elif count > 0:
            v = read_lengths(b, count, LENGTHS[how])
        else:
            v = []
        if kind in (8, 10):
            return [(base + x * scale) & MASK for x in v]
        out = [base]
        for x in v:
            d = unzigzag(x) * scale
            if kind == 14:
                step = (step + d) & MASK
                d = step
            out.append((out[-1] + d) & MASK)
        return out
    if 0xC0 <= m <= 0xC3:
        values = []
        for _ in range(b.varint()):
            p = (p + unzigzag(b.varint())) & MASK
            values.append(p)
        bits = 1 << how
        packed = b.take((n * bits + 7) // 8)
        return [values[packed[i * bits // 8] >> i * bits % 8 &
                       (1 << bits) - 1] for i in range(n)]
    if m == 0xD0:
        v = (p + unzigzag(b.varint())) & MASK
        step = unzigzag(b.varint())
        return [(v + i * step) & MASK for i in range(n)]
    raise Bad("column mode %02x" % m)


def byte_strings(b, n):
    distinct = b.varint()
    sizes = column(b, distinct)
    places = None
    if 2 <= distinct < n:
        places = column(b, n)
    strings = [b.take(size) for size in sizes]
    if distinct == 1:
        return strings * n
    if distinct == n:
        return strings
    return [strings[i] for i in places]


# -------------------------------------------------------------- schemas

class Field:
    def __init__(self, b):
        self.name = b.text()
        self.datatype, self.load, self.bits = b.varint(), b.varint(), b.varint()
        self.offset = b.varint()
        self.bit = b.varint() if self.load == 11 else 0
        self.space, self.letter = b.varint(), b.varint()
        self.present = self.element = None
        self.unit, self.label, self.said = 0, False, self.load
        if self.load >= 32:
            self.load -= 32
            flags = b.varint()
            if flags & 1:
                self.present = b.varint(), b.varint()
            if flags & 2:
                self.unit = b.varint()
            if flags & 4:
                self.element = b.varint(), b.varint()
            self.label = bool(flags & 8)

    def elements(self, event):
        """The elements of a list."""
        at, n = struct.unpack("<II", event[self.offset:self.offset + 8])
        datatype, load = self.element
        if load == 12:
            return event[at:].split(b"\0")[:n]
        one = deepcopy(self)
        one.datatype, one.load, one.present = datatype, load, None
        one.bits, out = 8 * LOADS[load][0], []
        for i in range(n):
            one.offset = at + i * LOADS[load][0]
            out.append(one.value(event, None))
        return out

    def value(self, event, schema):
        if self.present and not event[self.present[0]] >> self.present[1] & 1:
            return None
        if self.load == 15:
            return self.elements(event)
        if self.load == 14:
            return struct.unpack("<f", event[self.offset:self.offset + 4])[0]
        if self.load == 12:
            start = self.offset
        elif self.load == 13:
            start = int.from_bytes(
                event[self.offset:self.offset + 4], "little")
            if start == 0:
                return b""
        else:
            size, big, signed = LOADS[self.load]
            v = int.from_bytes(event[self.offset:self.offset + size],
                               "big" if big else "little",
                               signed=bool(signed))
            if self.load == 11:
                return v >> self.bit & 1
            if self.datatype == DOUBLE:
                return struct.unpack("<d", struct.pack("<Q", v & MASK))[0]
            if self.datatype == SIGNED:
                v &= (1 << self.bits) - 1
                return v - (v >> self.bits - 1 << self.bits)
            return v & (1 << self.bits) - 1
        return event[start:].split(b"\0", 1)[0]

    def label_space(self, schema):
        if self.space:
            return self.space
        if self.datatype == POINTER:
            return 1 if schema.flags & 16 else 0
        return 0 if self.datatype == ADDRESS else None


class Type:
    """A type of events, and its cells."""

    def __init__(self, b, number):
        self.number = number
        self.name, self.kind = b.text(), b.text()
        self.kind_number, self.code, self.size = \
            b.varint(), b.varint(), b.varint()
        self.role, self.parts, self.partner = b.text(), [], 0
        if self.role:
            self.parts = [b.varint() for _ in range(b.varint())]
            self.partner = b.varint()
        self.fields = [Field(b) for _ in range(b.varint())]

    def part(self, i):
        """The field that is part i of the role."""
        if i < len(self.parts) and self.parts[i]:
            return self.fields[self.parts[i] - 1]
        return None

    def find_cells(self, schema):
        """Cells as (offset, bytes, big-endian, mask, class)."""
        cells, bits = [], {}
        for f in self.fields:
            if f.load == 12:
                continue
            cls = int(f.datatype not in (ADDRESS, POINTER))
            if f.load == 11:
                if f.offset in bits:
                    cells[bits[f.offset]][3] |= 1 << f.bit
                    continue
                bits[f.offset] = len(cells)
                cells.append([f.offset, 1, 0, 1 << f.bit, cls])
            else:
                size, big, _ = LOADS[f.load]
                cells.append([f.offset, size, big, MASK, cls])
                if f.load == 15:
                    cells.append([f.offset + 4, 4, 0, MASK, cls])
        fixed = max([schema.header] + [c[0] + c[1] for c in cells])
        if schema.flags & 32 and schema.header:
            owned = set()
            for c in cells:
                c[3] = MASK
                owned.update(range(c[0], c[0] + c[1]))
            at = 0
            while at < fixed:
                size = 8
                while at not in owned and (
                        at % size or at + size > fixed or
                        any(k in owned for k in range(at, at + size))):
                    size //= 2
                if at in owned:
                    at += 1
                    continue
                cells.append([at, size, 0, MASK, 1])
                at += size
        return cells, fixed


class Schema:
    """A description, as far as it goes."""

    def __init__(self, name, data):
        b = Bytes(data)
        self.name = name
        self.version, self.platform = b.text(), b.text()
        self.word, self.flags, self.header, self.align = (
            b.varint(), b.varint(), b.varint(), b.varint())
        self.ntypes, self.names = b.varint(), []
        if self.ntypes == 65536:
            self.types = {}
            while b.left():
                self.names.append((b.varint(), b.varint(), b.text()))
        self.rest = b.take(b.left())

    def __getattr__(self, name):
        """The types, read when they are needed: an annex has many."""
        if name != "types":
            raise AttributeError(name)
        self.types, number, b = {}, -1, Bytes(self.rest)
        for _ in range(b.varint()):
            number += 1 + b.varint()
            self.types[number] = Type(b, number)
        return self.types

    def digest(self, ntypes):
        """The digest of the schema if it had so many types."""
        out = put_text(self.name) + put_varint(self.header)
        for i in range(ntypes):
            t = self.types[i]
            out += put_text(t.name) + put_varint(t.code) + \
                put_varint(len(t.fields))
            for f in t.fields:
                out += put_text(f.name) + b"".join(map(put_varint, (
                    f.datatype, f.said, f.offset, f.bit)))
        return (xxh64(out) & 0xFFFFFFFF).to_bytes(4, "little")

    def is_first_types_of(self, digest):
        return any(self.digest(n + 1) == digest for n in range(self.ntypes))

    def renamed(self, base):
        """The schema of a derived description."""
        out = deepcopy(base)
        for kind, field, name in self.names:
            if out.types[kind].fields[field].name == name:
                raise Bad("a derived description names %s again" % name)
            out.types[kind].fields[field].name = name
        return out


# ----------------------------------------------------------------- logs

class Log:
    """What is known of a log of a stream."""

    def __init__(self):
        self.name = self.form = ""
        self.rate = self.origin = None
        self.metadata, self.preamble = {}, b""
        self.strings, self.labels, self.frames = {}, {}, {}
        self.named = 0  # names in blocks so far

    def stack(self, frame):
        """The names of the frames of a stack."""
        names = []
        while frame in self.frames:
            frame, name = self.frames[frame]
            names.append(name.decode())
        return names or None

    def add_label(self, space, value, clock, string):
        if space == STACK:
            b = Bytes(string)
            self.frames.setdefault(value, (b.varint(), b.take(b.left())))
            return
        bisect.insort(self.labels.setdefault((space, value), []),
                      (clock, string), key=lambda label: label[0])

    def label(self, space, value, clock):
        """The label in force: the latest by clock, the last of equal ones."""
        known = self.labels.get((space, value), ())
        at = bisect.bisect(known, clock, key=lambda label: label[0])
        string = known[at - 1][1] if at else None
        return self.strings.get(string) if isinstance(string, int) else string


class Event:
    """An event: type or None, code, clock, data, log, schema, labels."""


# The roles of events that NAMES records copy.
NAMING = {"init", "sync", "intern", "label", "labelp", "frame"}


def key_of(e):
    """What an event names: a string's number, a label's address."""
    part = e.type.part(0)
    if part is None or e.type.role in ("init", "frame"):
        return e.data
    return part.value(e.data, e.schema)


def in_force(events):
    """Which of number: (log, role, key, clock) a cumulative record has."""
    kept, syncs = {}, {}
    for n, (log, role, key, clock) in events.items():
        if role == "sync":
            mine = syncs.setdefault(log, [])
            if len(mine) < 3:
                mine.append(n)
            elif clock >= events[mine[2]][3]:
                mine[2] = n
        elif role in ("init", "frame"):
            kept.setdefault((log, role, key), n)
        else:
            key = log, role, key
            if key not in kept or role == "intern" or \
                    clock >= events[kept[key]][3]:
                kept[key] = n
    return set(kept.values()).union(*syncs.values())


def layout_name(name):
    """The name of the schema in the annex with the same layout."""
    release, _, rest = name.partition("/")
    platform, _, order = rest.partition(",")
    system, machine = platform[:2], platform[2:4]
    if machine == "i3":
        same = "w3i3mv" if system == "w3" else "lii3gc"
    elif machine == "ar":
        same = "liarll"
    else:
        same = "w3i6mv" if system == "w3" else "lii6gc"
    return release + "/" + same + ("," + order if order == "be" else "")


class Stream:
    """One stream: START to END."""

    def __init__(self, annex):
        self.annex, self.logs, self.schemas = annex, {}, {}
        self.version, self.hash, self.identifier = None, 0, 0
        self.place = self.events = 0
        self.metadata = {}
        self.group, self.groups, self.groups_hash = Group(self), [], 0
        self.directory, self.closed = 0, []
        self.named = []  # (place of the block, number, event)
        self.named_by = [0]  # names that no event gives, by each block

    def start(self, body):
        b = Bytes(body)
        self.version = tuple(b.take(3))
        if self.version[:2] not in ((1, 0), (1, 1)):
            raise Bad("version %d.%d.%d" % self.version)
        if b.byte() != 0x3C:
            raise Bad("byte order")
        self.rate = struct.unpack("<d", b.take(8))[0]
        self.origin = struct.unpack("<q", b.take(8))[0]
        if self.version[1] > 0:
            self.identifier = b.integer(8)
        self.program = b.text()
        if self.version[1] > 0:
            self.metadata = b.metadata()

    def log(self, b):
        """A log in a LOG record or a block: the Log and its Schema."""
        number = b.varint()
        log = self.logs.setdefault(number, Log())
        index, offset = b.varint(), b.varint()
        name, digest = b.text(), b.take(4)
        rate, types = b.string(), b.string()
        log.name = b.text() or log.name
        log.form = b.text() or log.form
        log.preamble = b.string() or log.preamble
        if rate:
            log.rate = struct.unpack("<d", rate)[0]
        if self.version[1] > 0:
            origin = b.string()
            if origin:
                log.origin = struct.unpack("<q", origin)[0]
            log.metadata.update(b.metadata())
        key = name, digest
        if types:
            schema = Schema(name, types)
            known = self.schemas.get(key)
            if schema.names:
                schema = schema.renamed(self.annex[name])
                if schema.digest(schema.ntypes) != digest:
                    raise Bad("a derived schema has another digest")
            elif known is not None:
                schema.types = {**known.types, **schema.types}
            self.schemas[key] = schema
        if key not in self.schemas:
            schema = self.annex.get(key)
            if schema is None and name in self.annex and \
                    self.annex[name].is_first_types_of(digest):
                schema = self.annex[name]
            if schema is None:
                schema = self.annex.get(layout_name(name))
            if schema is None:
                raise Bad("nothing describes the schema %s" % name)
            self.schemas[key] = schema
        return log, self.schemas[key], index, offset, key

    def block(self, head, body, names=False):
        """The events of a block, after its checks."""
        h = Bytes(head)
        place, before, count, first, span, lost = (
            h.varint() for _ in range(6))
        source = (None, None, None)
        if self.version[1] > 0:
            if h.varint() != self.identifier & 0xFFFFFFFF:
                raise Bad("a block of another stream")
            flags = h.varint()
            source = tuple(h.varint() if flags >> i & 1 else None
                           for i in range(3))
        elif h.left():
            source = h.varint(), h.varint(), h.varint()
        if not names:
            if (place, before) != (self.place, self.events):
                raise Bad("block %d at event %d, expected %d at %d" % (
                    place, before, self.place, self.events))
            self.place += 1
            self.events += count
            self.group.add_block(count, first, span, lost)
        b = Bytes(body)
        logs = [self.log(b) for _ in range(b.varint())]
        values = {}
        events = decode_block(b, logs, count, first, values)
        if events and (min(e.clock for e in events) != first or
                       max(e.clock for e in events) != first + span):
            raise Bad("the clocks of a block are not those of its head")
        if names and events:
            for e, number in zip(events, column(b, count)):
                e.number = number
        if h.left() or b.left():
            raise Bad("a block is longer than its events")
        for e in events:
            e.source, e.lost = source, lost
        if not names:
            self.group.values.append(values)
        return events

    def check_names(self, head, events, logs):
        """A NAMES record has all that name something, or what is in force."""
        for key, log in logs.items():
            known = self.logs[key].labels
            for at, labels in log.labels.items():
                if not set(labels) <= set(known.get(at, ())):
                    raise Bad("names of %s in a NAMES record" % (at,))
        h = Bytes(head)
        last, _, _, _, _, first = (h.varint() for _ in range(6))
        if count_names(logs) != self.named_by[last + 1] - self.named_by[first]:
            raise Bad("the number of names of a NAMES record")
        mine = {n: e for place, n, e in self.named if first <= place <= last}
        for e in events:
            of = mine.get(e.number)
            if of is None or (of.type.name, of.clock, of.data) != (
                    e.type.name, e.clock, e.data):
                raise Bad("event %d of a NAMES record" % e.number)
        numbers = {e.number for e in events}
        if numbers != set(mine) and numbers != in_force({
                n: (e.log, e.type.role, key_of(e), e.clock)
                for n, e in mine.items()}):
            raise Bad("a NAMES record of the blocks %d to %d" % (first, last))

    def summary(self, head, body, size):
        """The end of a group, once the hash includes the record."""
        self.group.check(head, body)
        self.groups.append(self.group.entry(size, self.hash))
        self.closed.append(self.group)
        self.group = Group(self)

    def check_directory(self, head, body, size):
        h, b, before, chain = Bytes(head), Bytes(body), 0, 0
        if (h.varint(), h.varint(), h.varint()) != (
                len(self.groups), len(self.logs),
                self.identifier & 0xFFFFFFFF):
            raise Bad("the head of DIRECTORY")
        for group, want in zip(self.closed, self.groups):
            flags, length, summary, names, both = (
                b.varint() for _ in range(5))
            first_named = b.varint() if both else 0
            got = [flags & ~2, length, summary, names, both, b.varint(),
                   b.varint()]
            low = (before + unzigzag(b.varint())) & MASK
            got += [low, low + b.varint(), b.varint(), b.integer(8)]
            before = low
            # the only NAMES record of a group may be a cumulative one
            if names == 0 and want[4] == 0:
                want[3:5] = want[4], want[3]
            group.flags = flags
            chain = group.chain(
                chain, want[-1], (summary, names, both, first_named))
            if got != want or first_named > self.place:
                raise Bad("a group of DIRECTORY: %s, expected %s" % (
                    got, want))
        if h.left() or b.left():
            raise Bad("DIRECTORY is longer than its groups")
        if self.group.records:
            raise Bad("records between the last SUMMARY and DIRECTORY")
        self.directory, self.groups_hash = size, chain

    def end(self, head, length):
        b = Bytes(head)
        if b.integer(8) != length:
            raise Bad("END has another length")
        b.integer(8)
        if b.integer(8) != self.events:
            raise Bad("END has another number of events")
        if self.version[1] > 0 and b.integer(8) != self.hash:
            raise Bad("END has another hash")
        if self.groups and (not self.directory or (
                b.integer(8), b.integer(8)) != (
                    self.directory, self.groups_hash)):
            raise Bad("END has another directory")
        if b.left():
            raise Bad("END is longer than what it has")


class Group:
    """The blocks since the last SUMMARY."""

    def __init__(self, stream):
        self.stream, self.records, self.length = stream, [], 0
        self.place, self.before = stream.place, stream.events
        self.clocks, self.count, self.lost = [], 0, 0
        self.values, self.flags, self.sizes = [], 0, []

    def add_record(self, kind, header, head, size):
        self.records.append(header[4:14] + head)
        self.length += size
        self.flags |= kind == LOG
        self.sizes.append((kind, size))

    def add_block(self, count, first, span, lost):
        self.count += count
        self.lost += lost
        if count:
            self.clocks += [first, first + span]

    def span(self):
        return (min(self.clocks), max(self.clocks)) if self.clocks else (0, 0)

    def chain(self, before, after, sizes):
        return xxh64(struct.pack(
            "<13Q", before, self.length, *sizes, len(self.values),
            self.count, *self.span(), self.lost, self.flags, after))

    def entry(self, size, after):
        names = [0, 0]
        for k, (kind, length) in enumerate(reversed(self.sizes)):
            if kind != NAMES or k > 1:
                break
            names[k] = length
        return [self.flags, self.length, size, *names, len(self.values),
                self.count, *self.span(), self.lost, after]

    def check(self, head, body):
        h, b = Bytes(head), Bytes(body)
        n = len(self.values)
        got = [h.varint() for _ in range(6)]
        incomplete = got.pop()
        if h.left() or got != [self.place, n, self.before, self.count,
                               self.stream.identifier & 0xFFFFFFFF]:
            raise Bad("the head of SUMMARY: %s" % got)
        if b.varint() != len(self.records) or \
                b.take(sum(map(len, self.records))) != b"".join(self.records):
            raise Bad("SUMMARY repeats other records")
        schemas = [(b.text(), b.take(4)) for _ in range(b.varint())]
        seen = set()
        for _ in range(b.varint()):
            schema, number = schemas[b.varint()], b.varint()
            key = schema, number >> 1, number & 1
            seen.add(key)
            mine = [v.get(key) for v in self.values]
            if column(b, n) != [v[0] if v else 0 for v in mine]:
                raise Bad("SUMMARY has other counts")
            ranges = [v[1] for v in mine if v]
            for cell in range(b.varint()):
                low = column(b, len(ranges))
                span = column(b, len(ranges))
                if [(x, x + y) for x, y in zip(low, span)] != \
                        [r[cell] for r in ranges]:
                    raise Bad("SUMMARY has other values")
        mine = {key for v in self.values for key in v}
        if seen - mine or (seen < mine) != incomplete or b.left():
            raise Bad("SUMMARY has other types")


def count_names(logs):
    """The names of logs that blocks had, besides those of events."""
    return sum(log.named for log in logs.values())


def decode_block(b, logs, count, first, seen):
    parts = []
    for _ in range(b.varint()):
        where = b.varint() if len(logs) > 1 else 0
        number = b.varint()
        flags = b.varint() if number & 1 else 0
        parts.append((where, number >> 1, flags))
    for _ in range(b.varint()):
        where = b.varint()
        space, value, clock, name = (b.varint(), b.varint(), b.varint(),
                                     b.string())
        logs[where][0].named += 1
        logs[where][0].add_label(space, value, clock, name)
    if count == 0:
        return []
    part_of = column(b, count) if len(parts) > 1 else [0] * count
    clocks = column(b, count, first)
    gaps = column(b, count) if b.varint() == 1 else [0] * count
    events, before = [None] * count, [0, 0]
    mine = [[] for _ in parts]
    for k, i in enumerate(part_of):
        mine[i].append(k)
    for i, (where, number, flags) in enumerate(parts):
        read_part(b, logs[where], number, flags, mine[i], clocks, before,
                  events, seen)
    ends = [list(of[2:4]) for of in logs]
    for e, i, gap in zip(events, part_of, gaps):
        end = ends[parts[i][0]]
        e.index, e.offset = end[0], end[1] + gap + len(e.lead)
        end[:] = e.index + 1, e.offset + (len(e.raw) or len(e.data))
    return events


def read_part(b, of, number, flags, mine, clocks, before, events, seen):
    log, schema = of[:2]
    n, ranges = len(mine), []
    was = seen.get((of[4], number, flags & 1))
    sizes = column(b, n) if flags & 2 else [b.varint()] * n
    kind, cells, fixed = None, [], 0
    if not flags & 1:
        kind = schema.types[number]
        cells, fixed = kind.find_cells(schema)
    data = [bytearray(size) for size in sizes]
    for offset, size, big, _, cls in cells:
        values = column(b, n, before[cls])
        before[cls] = values[-1]
        ranges.append((min(values), max(values)))
        order, end, mask = "big" if big else "little", offset + size, \
            (1 << 8 * size) - 1
        for row, v in zip(data, values):
            row[offset:end] = (v & mask).to_bytes(size, order)
    if was:
        n += was[0]
        ranges = [(min(x[0], y[0]), max(x[1], y[1]))
                  for x, y in zip(ranges, was[1])]
    seen[of[4], number, flags & 1] = n, ranges
    n = len(mine)
    blobs = [byte_strings(b, n) if flags & bit else None
             for bit in (4, 8, 16, 32)]
    mps = schema.name.startswith("mps-")
    for i, k in enumerate(mine):
        e = Event()
        e.log, e.schema, e.type, e.clock = log, schema, kind, clocks[k]
        e.code = number if kind is None else kind.code
        if blobs[0]:
            data[i][fixed:fixed + len(blobs[0][i])] = blobs[0][i]
        if mps and kind is not None:
            order = "big" if schema.flags & 1 else "little"
            at = schema.header - 8
            data[i][0:2] = kind.code.to_bytes(2, order)
            data[i][2:4] = sizes[i].to_bytes(2, order)
            data[i][at:at + 8] = e.clock.to_bytes(8, order)
        e.data = bytes(data[i])
        e.raw = blobs[1][i] if blobs[1] else b""
        e.lead = blobs[2][i] if blobs[2] else b""
        e.labels, e.inline = flags >> 6, inline_labels(blobs[3], i)
        events[k] = e


def inline_labels(blobs, i):
    out = {}
    if blobs:
        b = Bytes(blobs[i])
        while b.left():
            field, size = b.byte(), b.integer(2)
            out[field] = b.take(size)
    return out


def follow(e):
    """What an event defines for the events after it."""
    role = e.type.role if e.type is not None else ""
    if role not in ("intern", "label", "labelp"):
        return
    one, two = (f.value(e.data, e.schema) for f in (e.type.part(0),
                                                    e.type.part(1)))
    if role == "intern":
        e.log.strings[one] = two
    else:
        e.log.add_label(int(role == "labelp"), one, e.clock, two)


def records(data):
    """(kind, critical, head, body, bytes 0 to 17, length) of each record."""
    at = 0
    while at < len(data):
        if data[at:at + 4] != MARKER:
            raise Bad("no marker at offset %d" % at)
        kind, nhead = data[at + 4], data[at + 5]
        nbody, check, head_check = struct.unpack_from("<3I", data, at + 6)
        head = data[at + 18:at + 18 + nhead]
        body = data[at + 18 + nhead:at + 18 + nhead + nbody]
        if len(body) != nbody or nbody > 1 << 24:
            raise Bad("a record ends early")
        if xxh64(data[at:at + 14] + head) & 0xFFFFFFFF != head_check or \
                xxh64(body) & 0xFFFFFFFF != check:
            raise Bad("the check of the record at offset %d is wrong" % at)
        size = 18 + nhead + nbody
        yield kind & 127, kind >> 7, head, body, data[at:at + 18], size
        at += size


def read(data, annex=()):
    """The events of a file, each followed, so that its labels are known."""
    stream, length = None, 0
    for kind, critical, head, body, header, size in records(data):
        if kind == START:
            if stream is not None:
                raise Bad("a stream has no END")
            stream, length = Stream(dict(annex)), 0
            stream.start(body)
        elif stream is None:
            raise Bad("a stream has no START")
        length += size
        if kind == END:
            stream.end(head, length)
            stream = None
            continue
        stream.hash = xxh64(struct.pack("<Q", stream.hash) + header[14:])
        if kind == SUMMARY:
            stream.summary(head, body, size)
        elif kind == DIRECTORY:
            stream.check_directory(head, body, size)
        else:
            stream.group.add_record(kind, header, head, size)
        if kind == LOG:
            stream.log(Bytes(body))
        elif kind == BLOCK:
            events = stream.block(head, body)
            stream.named_by.append(count_names(stream.logs))
            for n, e in enumerate(events, stream.events - len(events)):
                if e.type is not None and e.type.role in NAMING:
                    stream.named.append((stream.place - 1, n, e))
                follow(e)
                yield e
        elif kind == NAMES:
            # for readers that skip blocks
            copy = Stream(dict(annex))
            copy.__dict__.update(stream.__dict__)
            copy.logs = {}
            stream.check_names(head, copy.block(head, body, names=True),
                               copy.logs)
        elif critical and kind > DIRECTORY:
            raise Bad("a critical record of kind %d" % kind)
    if stream is not None:
        raise Bad("the stream has no END")


def read_annex(data):
    """The schemas of an annex by (name, digest)."""
    stream, out = Stream({}), {}
    for kind, _, _, body, _, _ in records(data):
        if kind == START:
            stream.start(body)
        elif kind == LOG:
            stream.log(Bytes(body))
    for (name, digest), schema in stream.schemas.items():
        out[name, digest] = out[name] = schema
    return out
