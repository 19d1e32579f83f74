# SPDX-License-Identifier: BSD-2-Clause
"""MPS streams read, converted and written from the registries alone.

mps_streams.py EVENTS check <<< "SOURCE SCHEMA TARGET SCHEMA MESSAGES"

Checks for each line that the stream TARGET is what SOURCE becomes in another
release, byte for byte, and that MESSAGES tell what is lost, as telcat does.

mps_streams.py EVENTS make SCHEMA SEED

Writes a stream that has events of all types of a release, of random values.

mps_streams.py EVENTS identity

Writes streams 000.log ... that say in several ways who wrote them, and prints
as what each has to be read.
"""
import collections
import random
import re
import struct
import sys

VERSIONS = {"1.111.0": (1, 1, 3), "1.112.0": (1, 1, 6), "1.113.0": (1, 1, 6),
            "1.114.0": (1, 4, 0), "1.115.0": (1, 6, 0), "1.116.0": (1, 6, 1),
            "1.117.0": (1, 6, 1), "1.118.0": (2, 0, 0)}
MAX_CODES = {"1.111.0": 120, "1.112.0": 134, "1.113.0": 134, "1.114.0": 134,
             "1.115.0": 135, "1.116.0": 136, "1.117.0": 136, "1.118.0": 92}
BOTH_WAYS = [("VMCreate", "VMInit"), ("VMDestroy", "VMFinish"),
             ("amcScanNailed", "AMCScanNailed"),
             ("vmArenaExtendStart", "VMArenaExtendStart"),
             ("vmArenaExtendFail", "VMArenaExtendFail"),
             ("vmArenaExtendDone", "VMArenaExtendDone")]
TYPES = dict(BOTH_WAYS + [(b, a) for a, b in BOTH_WAYS] +
             [("CBSInit", "LandInit"), ("LabelPointer", "Label")])
FIELDS = {("AMCTraceEnd", "align"): "grainSize",
          ("AMCTraceEnd", "grainSize"): "align",
          ("ChainCondemnAuto", "topCondemnedGenSerial"): "topCondemnedGenIndex",
          ("ChainCondemnAuto", "topCondemnedGenIndex"): "topCondemnedGenSerial",
          ("Label", "pointer"): "address", ("LandInit", "cbs"): "land",
          ("TraceCreatePoolGen", "gendesc"): "gen",
          ("TraceCreatePoolGen", "gen"): "gendesc"}


def up(n, align):
    return (n + align - 1) // align * align


class Schema:
    """A release on a platform: where each field of each type lies."""

    def __init__(self, events, name):
        self.name = name
        name, _, order = name.partition(",")
        self.release, self.platform = name[4:].split("/")
        self.microsoft = self.platform.startswith("w3")
        self.word = 4 if self.platform[2:4] in ("i3", "ar") else 8
        self.align8 = 4 if self.platform[2:4] == "i3" and \
            not self.microsoft else 8
        self.order = ">" if order == "be" else "<"
        self.header = 12 if self.align8 == 4 else 16
        self.codes, self.types = {}, {}
        for release, code, name, fields in events:
            if release == self.release:
                fields = [(f[0], f[2:]) for f in fields.split()]
                self.codes[int(code, 16)] = name
                self.types[name] = (int(code, 16),) + self.layout(fields)

    def layout(self, fields):
        """[(letter, name, offset, bit)], the size of an event without string"""
        at, bits, out = self.header, 0, []
        unit = 4 if self.microsoft else 1
        for letter, name in fields:
            if letter == "B" and self.release < "1.118":
                if bits == 0 or bits == 8 * unit:
                    at, bits = up(at, unit) + unit, 0
                bit = 7 - bits % 8 if self.order == ">" else bits % 8
                out.append((letter, name, at - unit + bits // 8, bit))
                bits += 1
                continue
            size = {"U": 4, "D": 8, "B": 1, "S": 0}.get(letter, self.word)
            at = up(at, self.align8 if letter == "D" else max(size, 1))
            bits = 0
            out.append((letter, name, at, None))
            at += size
        return out, up(up(at, self.align8), self.word)

    def value(self, data, field):
        letter, _, at, bit = field
        if letter == "S":
            return data[at:data.index(b"\0", at)]
        if bit is not None:
            return data[at] >> bit & 1
        return struct.unpack_from(self.order + self.code_of(letter), data,
                                  at)[0]

    def code_of(self, letter):
        return {"U": "I", "D": "Q", "B": "B"}.get(
            letter, "Q" if self.word == 8 else "I")

    def read(self, data):
        """The events of a stream: (name, clock, [(letter, name, value)])"""
        at = 0
        while at < len(data):
            code, size = struct.unpack_from(self.order + "HH", data, at)
            clock, = struct.unpack_from(self.order + "Q", data,
                                        at + self.header - 8)
            one = data[at:at + size]
            name = self.codes[code]
            yield name, clock, [(f[0], f[1], self.value(one, f))
                                for f in self.types[name][1]]
            at += size

    def fits(self, letter, v):
        if letter == "S":
            return len(v) <= 255
        if letter == "B":
            return v <= 1
        return v < 1 << 8 * struct.calcsize("<" + self.code_of(letter))

    def write(self, name, clock, values):
        code, fields, size = self.types[name]
        if fields and fields[-1][0] == "S":
            size = up(fields[-1][2] + len(values[fields[-1][1]]) + 4,
                      self.word)
        out = bytearray(size)
        struct.pack_into(self.order + "HH", out, 0, code, size)
        struct.pack_into(self.order + "Q", out, self.header - 8, clock)
        for letter, field, at, bit in fields:
            v = values[field]
            if letter == "S":
                out[at:at + len(v)] = v
            elif bit is not None:
                out[at] |= v << bit
            else:
                struct.pack_into(self.order + self.code_of(letter), out, at,
                                 v)
        return bytes(out)


def renamed(to, string):
    if b"product.mps, release/" not in string:
        return string
    string = re.sub(rb"(release/)[^, ]*", rb"\g<1>" + to.release.encode(),
                    string, count=1)
    return re.sub(rb"(platform\.)[^, ]*", rb"\g<1>" + to.platform.encode(),
                  string, count=1)


class Conversion:
    """What events become, and what is lost of them."""

    def __init__(self, source, to):
        self.source, self.to = source, to
        self.losses = collections.Counter()
        self.last = None

    def is_split(self):
        return (self.source.release >= "1.118", self.to.release >= "1.118")

    def convert(self, name, clock, fields):
        to = self.to
        new = name if name in to.types else TYPES.get(name)
        if new not in to.types:
            self.losses["type", name, ""] += 1
            return
        places = {f[1]: f[0] for f in to.types[new][1]}
        values, lost = {}, []
        # reasons are numbered from 0 in 1.118, and from 1 before
        base = (self.source.release < "1.118") - (to.release < "1.118")
        for letter, field, v in fields:
            old = field
            if field == "why":
                v = (v - base) % (1 << 32)
            if field not in places:
                field = FIELDS.get((new, field), field)
            if field not in places:
                lost.append(("field", name, old))
                continue
            if name != "EventInit" or field == "clocksPerSec":
                if not to.fits(places[field], v):
                    self.losses["value", name, old] += 1
                    return
            values[field] = v
        lost += [("empty", name, f) for f in places if f not in values]
        self.losses.update(lost)
        values = {f: values.get(f, 0) for f in places}
        if name == "EventInit" and to.name != self.source.name:
            values.update(zip(("major", "median", "minor"),
                              VERSIONS[to.release]))
            values.update(maxCode=MAX_CODES[to.release], maxNameLen=19,
                          wordWidth=8 * to.word)
        if name == "Intern" and to.name != self.source.name:
            values["string"] = renamed(to, values["string"])
        if new == "Label" and self.is_split() == (True, False):
            now = clock, values["address"], values["stringId"]
            again = name == "LabelPointer" and now == self.last
            self.last = now
            if again:
                return
        yield new, clock, values
        if new == "Label" and self.is_split() == (False, True):
            yield "LabelPointer", clock, {"pointer": values["address"],
                                          "stringId": values["stringId"]}


def reported(lines, to):
    """What the lines of telcat say of losses."""
    tail = re.escape(to.name) + "$"
    forms = [("type", r"dropped: not in " + tail),
             ("value", r"dropped: field (.*) too large for " + tail),
             ("field", r"without fields? (.*): not in " + tail),
             ("empty", r"with 0 for fields? (.*): only in " + tail)]
    losses = collections.Counter()
    for line in lines:
        m = re.match(r"telcat: (?:\S*: )?(\d+) events? of type (\S+) (.*)",
                     line)
        if m is None:
            raise SystemExit("no such message: " + line)
        for kind, form in forms:
            rest = re.match(form, m[3])
            if rest:
                names = rest[1].split(", ") if rest.groups() else [""]
                for name in names:
                    losses[kind, m[2], name] += int(m[1])
                break
        else:
            raise SystemExit("no such message: " + line)
    return losses


def check(events, source, source_name, target, target_name, messages):
    """Why the stream target is not what source becomes; None when it is."""
    source_schema = Schema(events, source_name)
    to = Schema(events, target_name)
    c = Conversion(source_schema, to)
    with open(source, "rb") as f:
        source = list(source_schema.read(f.read()))
    with open(target, "rb") as f:
        target = f.read()
    want = b""
    if source_name != target_name and \
            not any(e[0] == "EventInit" for e in source):
        (name, clock, init), (name2, clock2, build) = \
            list(to.read(target))[:2]
        assert (name, name2) == ("EventInit", "Intern"), (name, name2)
        init = {f[1]: f[2] for f in init}
        build = {f[1]: f[2] for f in build}
        assert init == {"clocksPerSec": 1000000, "wordWidth": 8 * to.word,
                        **dict(zip(("major", "median", "minor"),
                                   VERSIONS[to.release])),
                        "maxCode": MAX_CODES[to.release],
                        "maxNameLen": 19}, init
        assert build["string"].startswith(
            b"@(#)Ravenbrook MPS, product.mps, release/%s, platform.%s, " % (
                to.release.encode(), to.platform.encode())), build
        assert clock == clock2 <= min(e[1] for e in source[:100]), clock
        want += to.write("EventInit", clock, init)
        want += to.write("Intern", clock, build)
    want += b"".join(to.write(*e) for one in source for e in c.convert(*one))
    if want != target:
        a, b = list(to.read(want)), list(to.read(target))
        for i, (x, y) in enumerate(zip(a, b)):
            if x != y:
                return "event %d: %r is %r" % (i, x, y)
        return "%d events are %d, or their bytes differ" % (len(a), len(b))
    with open(messages, encoding="ascii") as f:
        got = reported(f.read().splitlines(), to)
    if got != c.losses:
        return "losses: %r is reported as %r" % (sorted((c.losses - got).items()),
                                             sorted((got - c.losses).items()))
    return None


def random_value(rand, letter):
    if letter == "S":
        return bytes(rand.randrange(1, 256)
                     for _ in range(rand.choice((0, 1, 9, 255))))
    if letter == "B":
        return rand.randrange(2)
    bits = rand.choice((4, 31, 32) if letter == "U" else
                       (4, 32, 32, 32, 33, 64))
    return rand.randrange(1 << bits)


def make(events, name, seed):
    """A stream with events of every type of a release, in any order."""
    s, rand = Schema(events, name), random.Random(seed)
    out = [s.write("EventInit", 1, dict(
        zip(("major", "median", "minor"), VERSIONS[s.release]), maxCode=1,
        maxNameLen=2, wordWidth=8 * s.word, clocksPerSec=1000))]
    out.append(s.write("Intern", 2, {"stringId": 1, "string": (
        "@(#)Ravenbrook MPS, product.mps, release/%s, platform.%s, x" %
        (s.release, s.platform)).encode()}))
    names = [n for n in s.types for _ in range(4) if n != "EventInit"]
    rand.shuffle(names)
    for n in names:
        values = {}
        for letter, field, _, _ in s.types[n][1]:
            v = random_value(rand, letter)
            values[field] = v if s.fits(letter, v) else v & 0xFFFFFFFF
        # a number stands for one string
        if n == "Intern":
            values["stringId"] = len(out) + 1
        out.append(s.write(n, rand.randrange(1 << 64), values))
    # labels of one address, pointer, clock or number
    for clock, at, number in ((7, 64, 1), (7, 64, 2), (8, 64, 2), (8, 72, 2)):
        out.append(s.write("Label", clock, {"address": at, "pointer": at,
                                            "stringId": number}))
        if "LabelPointer" in s.types:
            for c, a, i in ((0, 0, 0), (0, 0, 1), (0, 8, 1), (1, 8, 1)):
                out.append(s.write("LabelPointer", clock + c, {
                    "pointer": at + a, "stringId": number + i}))
    return b"".join(out)


VALUES = {"P": 0x7F0000001010, "A": 0x7F0000002000, "W": 5, "U": 3, "B": 1,
          "D": 0x3FF8000000000000}


def is_odd(s, field, data):
    """Whether a field has a value that its data type hardly ever has."""
    v = s.value(data, field)
    if field[0] in "PA":
        return v != 0 and not 0x1000 <= v < 1 << 47
    if field[0] == "B":
        return v > 1
    if field[0] == "D":
        v, = struct.unpack("<d", struct.pack("<Q", v))
        return not (v == 0 or 1e-12 < abs(v) < 1e18)
    if field[0] == "U" or field[1] == "rank":
        return v > (3 if field[1] == "rank" else 0xFFFF)
    return 1 << 32 <= v < 1 << 47


def anonymous(events):
    """(stream, the releases as which it can be read) of events of one type,
    of which one field has a value, which would be odd in other releases"""
    schemas = [Schema(events, "mps-%s/lii6gc" % r) for r in VERSIONS]
    found = {}
    for s in schemas:
        for name, (code, fields, size) in s.types.items():
            if "S" in [f[0] for f in fields]:
                continue
            for letter, field, _, _ in fields:
                data = s.write(name, 1 << 40, {
                    f[1]: VALUES[letter] if f[1] == field else 0
                    for f in fields})
                right, wrong = set(), set()
                for other in schemas:
                    t = other.types.get(other.codes.get(code))
                    if t is None or t[2] != size or "S" in [f[0] for f in t[1]]:
                        continue
                    odd = [(i, f[0]) for i, f in enumerate(t[1])
                           if is_odd(other, f, data)]
                    right.update([] if odd else [other.release])
                    wrong.update(odd)
                for at in wrong:
                    found.setdefault((letter, at), (data * 20, right))
    return [(found[k][0], max(found[k][1])) for k in sorted(found)
            if found[k][1]]


class Sayer:
    """Events of a stream of a release that says who wrote it."""

    def __init__(self, events, release, platform="lii6gc"):
        self.s, self.clock = Schema(events, "mps-%s/%s" % (
            release, platform)), 1 << 40

    def event(self, name, **values):
        self.clock += 5
        return self.s.write(name, self.clock, {
            **{f[1]: 0 for f in self.s.types[name][1]}, **values})

    def init(self, *version):
        return self.event("EventInit", **dict(
            zip(("major", "median", "minor"), version)), maxCode=99,
            maxNameLen=19, wordWidth=8 * self.s.word, clocksPerSec=1000000)

    def build(self, release, platform, between=", "):
        return self.event("Intern", stringId=9, string=(
            "@(#)Ravenbrook MPS, product.mps, release/%s%splatform.%s, "
            "variety.cool" % (release, between, platform)).encode())

    def labels(self, n):
        return b"".join(self.event("Label", address=0x7F0010 + 16 * i,
                                   stringId=i + 20) for i in range(n))

    def syncs(self, n):
        return b"".join(self.event("EventClockSync", clock=self.clock)
                        for _ in range(n))


def identities(events):
    """(stream, the release and platform as which it has to be read)"""
    newest = {v: r for r, v in sorted(VERSIONS.items())}
    for release, version in VERSIONS.items():
        for platform in "lii6gc", "lii3gc", "w3i3mv", "lii6gc,be", \
                "lii3gc,be", "w3i3mv,be":
            say = Sayer(events, release, platform)
            yield say.init(*version) + say.labels(20), \
                newest[version] + "/" + platform
        # a build string in the flush that EventInit begins
        say = Sayer(events, release)
        flush = 8 if release == "1.111.0" else 1
        alone = list(VERSIONS.values()).count(version) == 1
        for n in flush - 1, flush:
            yield say.init(*version) + say.syncs(n) + \
                say.build(release, "xci6ll") + say.labels(9), \
                "%s/%s" % (release, "lii6gc" if n == flush and alone else
                           "xci6ll")
        for platform in "xci6gc", "fri3gc", "w3i6mv", "lia6ll", "liarll":
            say = Sayer(events, release, platform)
            yield say.build(release, platform) + say.labels(9), \
                release + "/" + platform
    # versions of releases that are not known
    for version, release in (
            ((1, 0, 0), "1.111.0"), ((1, 1, 2), "1.111.0"),
            ((1, 1, 5), "1.111.0"), ((1, 1, 7), "1.113.0"),
            ((1, 3, 255), "1.113.0"), ((1, 4, 1), "1.114.0"),
            ((1, 5, 255), "1.114.0"), ((1, 6, 2), "1.117.0"),
            ((1, 255, 255), "1.117.0"), ((2, 0, 1), "1.118.0"),
            ((2, 9, 0), "1.118.0")):
        say = Sayer(events, release)
        yield say.init(*version) + say.labels(20), release + "/lii6gc"
    # events of a release before the one of that version
    for release, version in ("1.111.0", (1, 1, 6)), ("1.115.0", (1, 6, 1)):
        say = Sayer(events, release)
        later = [Schema(events, "mps-%s/lii6gc" % r)
                 for r, v in VERSIONS.items() if v == version]
        names = [n for n, t in say.s.types.items() if not any(
            s.types.get(s.codes.get(t[0]), (0, 0, 0))[2] == t[2]
            for s in later)]
        yield say.init(*version) + say.labels(2) + b"".join(
            say.event(n) for n in names if n != "Intern") * 2, \
            newest[version] + "/lii6gc"
    # build strings without what they should have
    say = Sayer(events, "1.113.0")
    init = say.init(1, 1, 6)
    for release, platform, between, want in (
            ("1.112.0", "xci6gc", ", ", "1.112.0/xci6gc"),
            ("1.112", "xci6gc", "," * 55, "1.112.0/xci6gc"),
            ("1.112", "xci6gc", "," * 56, "1.113.0/lii6gc"),
            ("1.12.0", "xci6gc", ", ", "1.113.0/xci6gc"),
            ("1.999.0", "xci6gc", ", ", "1.113.0/xci6gc"),
            ("1.1112.0", "xci6gc", ", ", "1.113.0/xci6gc"),
            ("2.112.0", "xci6gc", ", ", "1.113.0/lii6gc"),
            ("1.112.0", "zzi6gc", ", ", "1.112.0/lii6gc"),
            ("1.112.0", "xci", ", ", "1.112.0/lii6gc"),
            ("1.112.0", "xci6", ", ", "1.112.0/xci6"),
            ("1.112.0", "xci6gcc", ", ", "1.112.0/xci6gcc"),
            ("1.112.0", "xci3gc", ", ", "1.112.0/lii6gc")):
        yield init + say.build(release, platform, between) + say.labels(20), \
            want
    # neither
    for stream, release in anonymous(events):
        yield stream, release + "/lii6gc"


def main():
    with open(sys.argv[1], encoding="ascii") as f:
        events = [line.rstrip("\n").split("\t") for line in f
                  if line[0] != "#"]
    if sys.argv[2] == "make":
        sys.stdout.buffer.write(make(events, sys.argv[3], sys.argv[4]))
        return
    if sys.argv[2] == "identity":
        for i, (stream, want) in enumerate(identities(events)):
            with open("%03d.log" % i, "wb") as f:
                f.write(stream)
            print("%03d mps-%s" % (i, want))
        return
    bad = 0
    for line in sys.stdin:
        why = check(events, *line.split())
        if why is not None:
            print(line, why)
            bad = 1
    sys.exit(bad)


main()
