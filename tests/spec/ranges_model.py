# SPDX-License-Identifier: BSD-2-Clause
"""Random streams in groups, as tel(5) has them, and which of their records a
reader of some of the events need not read."""

import random
import struct

from tel_reader import (START, LOG, BLOCK, NAMES, INDEX, END, SUMMARY,
                        DIRECTORY, Bytes, in_force, records, xxh64)
from tel_writer import (Field, Schema, Stream, Type, column, string, varint,
                        zigzag)

# libtel reads so many blocks in any case, as they may say how time counts.
LEAD = 80
LOGS, UNNAMED = 1, 2

TYPES = [
    Type("Put", [Field("n"), Field("x", 1), Field("at", 3),
                 Field("tid", space=2), Field("text", 7, 12)]),
    Type("Move", [Field("n"), Field("to", 4), Field("from", 3)], code=2),
    Type("Intern", [Field("id"), Field("string", 7, 12)], code=3,
         role="intern", parts=[1, 2]),
    Type("Label", [Field("at", 3), Field("id")], code=4, role="label",
         parts=[1, 2]),
    Type("LabelPointer", [Field("to", 4), Field("id")], code=5, role="labelp",
         parts=[1, 2]),
    Type("Frame", [Field("number"), Field("ip", 3), Field("parent"),
                   Field("pid")], code=8, role="frame", parts=[1, 2, 3]),
    Type("Sync", [Field("other")], code=6, role="sync", parts=[1]),
    Type("Init", [Field("release")], code=7, role="init"),
]
PUT, MOVE, INTERN, LABEL, POINTER, FRAME, SYNC, INIT = range(len(TYPES))


class Grouped(Stream):
    """A stream with summaries, of the one log 0."""

    def __init__(self, schema, **rest):
        self.schema, self.copied, self.groups, self.chain = schema, [], [], 0
        self.rows, self.start, self.first, self.before = [], 0, 0, 0
        self.places = []  # of the groups
        self.naming, self.told = [], []  # events and names, with their places
        self.offset = 0  # in the log that it was made of
        self.lies = -1  # the group whose summary is false
        super().__init__(**rest)

    def record(self, kind, head, body, critical=False):
        at = len(self.data)
        super().record(kind, head, body, critical)
        self.copied.append(self.data[at + 4:at + 14] + head)

    def named_block(self, events, names, lost):
        self.rows.append((events, lost))
        self.naming += [(self.place, self.events + i, e)
                        for i, e in enumerate(events) if TYPES[e[0]].role]
        self.told += [(self.place, name) for name in names]
        self.block(0, self.schema, events, index=self.events, lost=lost,
                   names=names, offset=self.offset)
        # as long as they are in libtel, and behind some what is no event
        self.offset += lost % 2 + sum(
            TYPES[kind].size + sum(
                len(v) for v in values if isinstance(v, str))
            for kind, _, values in events)

    def copies(self, first, only=None):
        """A NAMES record about the blocks from one on; its bytes, or 0."""
        mine = [(n, e) for place, n, e in self.naming if place >= first and
                (only is None or n in only)]
        names = [name for place, name in self.told if place >= first]
        if not mine and not names:
            return 0
        events = [e for _, e in mine]
        clocks = [e[1] for e in events] or [0]
        body = self.content(0, self.schema, events, names=names)
        if events:
            body += column([n for n, _ in mine])
        return self.names(first, self.place - 1, min(clocks), body,
                          len(events), max(clocks) - min(clocks))

    def summary(self, names=0, both=0, first_named=0, leave_out=None, flags=0):
        """Ends the group, of which the NAMES records have so many bytes."""
        flags |= LOGS if any(c[0] == LOG for c in self.copied) else 0
        stats = {}
        for i, (events, _) in enumerate(self.rows):
            for kind, _, values in events:
                stats.setdefault(kind, {}).setdefault(i, []).append(values)
        incomplete = stats.pop(leave_out, None) is not None
        count = sum(len(events) for events, _ in self.rows)
        clocks = [e[1] for events, _ in self.rows for e in events] or [0]
        body = varint(len(self.copied)) + b"".join(self.copied)
        body += varint(1) + string(self.schema.name) + self.schema.digest()
        body += varint(len(stats))
        for kind, blocks in stats.items():
            body += varint(0) + varint(2 * kind)
            body += column([len(blocks.get(i, ()))
                            for i in range(len(self.rows))])
            cells = [i for i, f in enumerate(TYPES[kind].fields)
                     if f.load != 12]
            body += varint(len(cells))
            for i in cells:
                values = [[row[i] & (1 << 64) - 1 for row in blocks[b]]
                          for b in sorted(blocks)]
                body += column([min(v) for v in values])
                body += column([max(v) - min(v) for v in values])
        length, at = len(self.data) - self.start, len(self.data)
        lie = len(self.groups) == self.lies
        self.record(SUMMARY, b"".join(map(varint, (
            self.first, len(self.rows), self.before, count + lie,
            self.identifier & 0xFFFFFFFF, int(incomplete)))), body)
        low, high = min(clocks), max(clocks)
        lost = sum(n for _, n in self.rows)
        size = len(self.data) - at
        self.chain = xxh64(struct.pack(
            "<13Q", self.chain, length, size, names, both, first_named,
            len(self.rows), count, low, high, lost, flags, self.hash))
        self.groups.append((
            [flags, length, size, names, both] + [first_named] * (both > 0) +
            [len(self.rows), count], low, high, lost, self.hash))
        self.places.append(self.first)
        self.copied, self.rows, self.start = [], [], len(self.data)
        self.first, self.before = self.place, self.events

    def directory(self, logs):
        """Ends the stream."""
        body, before = b"", 0
        for numbers, low, high, lost, after in self.groups:
            body += b"".join(map(varint, numbers + [
                zigzag(low - before), high - low, lost])) + \
                struct.pack("<Q", after)
            before = low
        at = len(self.data)
        self.record(DIRECTORY, b"".join(map(varint, (
            len(self.groups), logs, self.identifier & 0xFFFFFFFF))), body)
        size = len(self.data) - at
        self.record(END, struct.pack(
            "<6Q", len(self.data) + 18 + 48, 0, self.events, self.hash,
            size, self.chain), b"")
        return self.data


class Draw(random.Random):
    """Random events."""

    def events(self, n, types, at):
        """n events of the first types at about a clock."""
        out, weights = [], (30, 8, 3, 5, 3, 2, 1, .3)
        for _ in range(n):
            kind = self.choices(range(types), weights[:types])[0]
            clock = at + self.randrange(16)
            # libtel writes a label as a name from the clock of an event on
            if self.ordered:
                clock = max(self.latest + 1, clock)
            self.latest = max(self.latest, clock)
            address, number = self.randrange(40), self.randrange(12)
            if self.ordered and kind >= INTERN:
                address += self.choice((0, 100, 200, 300, 400))
            anything = self.randrange(44)
            self.numbers += 1
            out.append((kind, clock, {
                PUT: (self.numbers, self.randrange(-20, 20) + at // 64,
                      anything, self.randrange(4),
                      self.choice(("a", "bb", ""))),
                MOVE: (self.numbers, address, anything),
                INTERN: (number, f"s{self.numbers}"),
                LABEL: (address, number), POINTER: (address, number),
                FRAME: (number, address, 0, anything),
                SYNC: (clock * 3,), INIT: (number % 2,)}[kind]))
        return out

    def names(self):
        """Names that no event gives, in one block of 20.

        A NAMES record does not tell which block they are of: they are of what
        no event labels, and of later clocks than the events so far."""
        if self.random() > 0.05:
            return []
        space, value = self.choice(((0, 40 + self.randrange(4)),
                                    (2, self.randrange(4))))
        self.latest += 1
        return [(space, value, self.latest, f"name{self.numbers}")]


def stream(draw, first, blocks, minor=3, ordered=False, lies=-1):
    """The bytes of a stream of version 1.1.MINOR, of so many blocks or a few
    more: one of 1.1.0 has an index that does not know of lost events."""
    timed = draw.random() < 0.5
    schema = Schema(f"app/{first}", TYPES if timed else TYPES[:SYNC])
    out = Grouped(schema, identifier=draw.getrandbits(64), rate=1e9,
                  version=(1, 1, minor))
    out.lies = lies
    digest, described = schema.digest(), schema.described
    schema.digest = lambda: digest
    out.log(0, schema, name=f"log{first}", form="made")
    # blocks do without
    schema.described = ()
    draw.numbers, draw.latest, draw.ordered = first, 0, ordered
    clock = 4096
    # in half of the others, one of the last blocks has the least clock
    least = -1 if ordered else draw.randrange(2 * blocks)
    # where events are lost, libtel ends a block
    lossy = 0.95 if ordered else draw.choice((0.1, 0.95))
    lossy *= minor > 0
    while out.place < blocks:
        if draw.random() < 0.1 and out.place > 0:
            schema.described = described
            out.log(0, schema)
            schema.described = ()
        for _ in range(draw.randrange(1, 20)):
            clock += draw.choice((0, 8, 64))
            events = draw.events(draw.randrange(0, 5), len(schema.types),
                                 16 if out.place == least else clock)
            lost = draw.randrange(1, 9) if draw.random() < lossy else 0
            out.named_block(events, draw.names() if events else [], lost)
        finish(draw, out, minor > 0)
    if minor > 0:
        return out.directory(1)
    out.index()
    return out.end()


def finish(draw, out, summary):
    """Ends a group: its NAMES records and its summary."""
    both = first = names = 0
    if draw.random() < 0.4 and out.groups and summary:
        first = draw.choice([0, 0] + out.places)
        both = out.copies(first, in_force({
            n: (0, TYPES[e[0]].role, e[2] if e[0] in (FRAME, INIT) else e[2][0],
                e[1])
            for place, n, e in out.naming if place >= first}))
    has = any(place >= out.first for place, *_ in out.naming + out.told)
    if draw.random() < 0.95:
        names = out.copies(out.first)
    left_out = draw.choice((PUT, MOVE)) if draw.random() < 0.1 else None
    if summary:
        out.summary(names, both, first if both else 0, left_out,
                    UNNAMED if has and not names else 0)
    else:
        out.first = out.place


# ------------------------------------------------------------- reading

class Group:
    """What a reader knows of a group by its directory and its summary."""

    def __init__(self, place):
        self.place, self.flags, self.blocks = place, 0, []
        self.names = self.both = self.summary = None
        self.records, self.first_named, self.incomplete = [], 0, 0

    def split(self, place):
        """The blocks before a place, which no NAMES record is about."""
        early = Group(self.place)
        early.flags, early.incomplete = UNNAMED, 1
        early.blocks = self.blocks[:place - self.place]
        self.place, self.blocks = place, self.blocks[place - self.place:]
        return early


def groups_of(data, events):
    """The groups of each stream of a file, none if a stream has none; a block
    is where it is, its place, its events."""
    streams, at, n, minor = [], 0, 0, 0
    for kind, _, head, body, _, size in records(data):
        h, b = Bytes(head), Bytes(body)
        if kind == START:
            minor = body[2]
            groups, group = [], Group(0)
            streams.append(groups)
        elif kind == LOG:
            group.flags |= LOGS
        elif kind == BLOCK:
            place, _, count = (h.varint() for _ in range(3))
            group.blocks.append((at, place, events[n:n + count]))
            n += count
        elif kind == NAMES and minor == 0:
            groups.append(group.split([h.varint() for _ in range(6)][5]))
            group.names, group.incomplete = at, 1
            groups.append(group)
            group = Group(group.place + len(group.blocks))
        elif kind == NAMES:
            group.records.append(at)
        elif kind == INDEX:
            groups.append(group.split(group.place + len(group.blocks)))
        elif kind == END and not groups:
            return []
        elif kind == SUMMARY:
            group.summary = at
            group.incomplete = [h.varint() for _ in range(6)][5]
            groups.append(group)
            group = Group(group.place + len(group.blocks))
        elif kind == DIRECTORY:
            for g in groups:
                g.flags, _, _, names, both = (b.varint() for _ in range(5))
                g.first_named = b.varint() if both else 0
                g.names = g.records[-1] if names else None
                g.both = g.records[0] if both else None
                for _ in range(5):
                    b.varint()
                b.take(8)
        at += size
    return streams


def skipped(streams, outside, groups_too):
    """For each group whether its blocks can be skipped, and whether all of it
    can.  outside: whether none of a list of events is wanted."""
    least = min(e.clock for groups in streams for g in groups
                for _, _, events in g.blocks for e in events) if streams else 0
    earlier, found = 0, False
    for groups in streams:
        for g in groups:
            events = [e for _, _, mine in g.blocks for e in mine]
            here = not found and any(e.clock == least for e in events)
            found |= here
            skips = [not g.flags & UNNAMED and earlier + i >= LEAD and
                     outside(mine) and
                     not (here and min(e.clock for e in mine) == least)
                     for i, (_, _, mine) in enumerate(g.blocks)]
            whole = groups_too and g.summary is not None and \
                not here and not g.flags and earlier >= LEAD and \
                outside(events)
            earlier += len(skips)
            yield g, [True] * len(skips) if whole else skips, whole


def needless(streams, low, high):
    """The places of records that a reader of a range of clocks need not
    read."""
    def outside(events):
        return events != [] and (min(e.clock for e in events) > high or
                                 max(e.clock for e in events) < low)

    out, fates = [], {g: rest for g, *rest in skipped(streams, outside, True)}
    timed = False
    for groups in streams:
        timed |= any(t.role == "sync" for g in groups
                     for _, _, events in g.blocks for e in events
                     for t in e.schema.types.values())
        out += [at for g in groups for (at, _, _), gone in zip(
            g.blocks, fates[g][0]) if gone]
        out += [g.summary for g in groups if fates[g][1]]
        wanted = {None}
        for run in runs(groups, fates):
            wanted |= names_of(groups, run, low, high, timed)
        out += [at for g in groups for at in (g.names, g.both)
                if at not in wanted]
    return out


def runs(groups, fates):
    """The runs of blocks that are skipped, each a list of (group, block)."""
    run = []
    for i, g in enumerate(groups):
        for block, gone in zip(g.blocks, fates[g][0]):
            if gone:
                run.append((i, block))
            elif run:
                yield run
                run = []
    if run:
        yield run


def names_of(groups, run, low, high, timed):
    """The NAMES records that have what a run of skipped blocks names: of each
    group, or the last cumulative one that may be used, and of groups
    behind."""
    first, last = run[0][0], run[-1][0]
    end = run[-1][1][1]
    final = not timed and end == max(place for g in groups for _, place, _ in
                                     g.blocks) and min(
        e.clock for _, (_, _, events) in run for e in events) > high
    latest, both = 0, None
    for i, g in enumerate(groups[:last + 1]):
        if g.place + len(g.blocks) - 1 > end:
            break
        latest = max([latest] + [e.clock for _, _, events in g.blocks
                                 for e in events])
        if i >= first and g.both is not None and (final or latest < low):
            both = i
    wanted = set()
    i = first
    while i <= last:
        if both is not None and groups[i].place >= groups[both].first_named:
            i, both = both, None
            wanted.add(groups[i].both)
        else:
            wanted.add(groups[i].names)
        i += 1
    return wanted


def unwanted(streams, may):
    """The same of one of some events, which the blocks' values tell apart,
    once the schema of all of them was described.  may: whether some of a list
    may be wanted, by these values."""
    out, known = [], set()
    for g, skips, _ in skipped(streams, lambda events: events != [] and
                               not may(events), False):
        for (at, _, events), gone in zip(g.blocks, skips):
            if gone and not g.incomplete and \
                    all(e.schema.name in known for e in events):
                out.append(at)
        known |= {e.schema.name for _, _, mine in g.blocks for e in mine}
        if g.both is not None:
            out.append(g.both)
    return out
