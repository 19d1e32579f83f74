#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Metadata in TSDL: each type and each token, and what is invalid.

ctf_tsdl.py: writes traces of one event, with fields, in folders v00, v01 ...,
metadata that are invalid in folders i00, i01 ..., and what would take long, or
much memory, in d00, d01 ...; prints the events as "telcat -H" does, and the
messages for the others.
"""
import os

HEAD = "trace { major = 1; minor = 8; byte_order = %s; };\n"
U8 = "integer { size = 8; }"
ALIASES = "typealias %s := u8; typealias integer { size = 16; } := u16;\n" % U8

# Fields, their bytes, and how they are shown.
FIELDS = [
    ("u8 x;", "05", "x=5"),
    ("integer { size = 16; signed = true; byte_order = be; } x;", "fffe",
     "x=-2"),
    ("integer { size = 16; signed = TRUE; byte_order = network; } x;", "fffe",
     "x=-2"),
    ("integer { size = 16; signed = 1; byte_order = le; } x;", "feff", "x=-2"),
    ("integer { size = 16; signed = false; byte_order = native; } x;", "feff",
     "x=65534"),
    ("integer { size = 8; signed = 0; } x;", "fe", "x=254"),
    ("integer { size = 64; signed = true; } x;", "00" * 7 + "80",
     "x=-9223372036854775808"),
    ("integer { size = 1; } a; integer { size = 7; } b;", "55", "a=1 b=42"),
    ("integer { size = 3; } a; integer { size = 24; } b;", "05040302",
     "a=5 b=131844"),
    ("integer { size = 4; align = 4; } a; integer { size = 4; align = 4; } b;",
     "21", "a=1 b=2"),
    ("u8 a; integer { size = 16; align = 32; } b;", "010000000203",
     "a=1 b=770"),
    ("u8 a; struct { u8 c; } align(16) b;", "010002", "a=1 b.c=2"),
    ("u8 a; struct { integer { size = 8; align = 32; } c; } align(8) b;",
     "0100000002", "a=1 b.c=2"),
    ("integer { size = 0x10; } x;", "0102", "x=513"),
    ("integer { size = 010; } x;", "01", "x=1"),
    ("integer { size = 0b1000; } x;", "01", "x=1"),
    ("integer { size = 8UL; } x;", "01", "x=1"),
    ("integer { size = 8ull; } x;", "01", "x=1"),
    ("integer { size = ((+8)); } x;", "01", "x=1"),
    ("integer { size = '\\b'; } x;", "01", "x=1"),
    ("integer { size = '\\x8'; } x;", "01", "x=1"),
    ("integer { size = '\\x008'; } x;", "01", "x=1"),
    ("integer { size = '\\10'; } x;", "01", "x=1"),
    ("integer { size = 8; unknown = a.b->c; also = \"s\"; } x;", "01", "x=1"),
    ("floating_point { exp_dig = 8; mant_dig = 24; } x;", "0000c03f", "x=1.5"),
    ("floating_point { exp_dig = 11; mant_dig = 53; byte_order = be; } x;",
     "3ff8000000000000", "x=1.5"),
    ("floating_point { exp_dig = 8; mant_dig = 24; } x[4];",
     "01000000" "ffff7f80" "0000807f" "0000c07f",
     "x=[1.4013e-45,-1.1754942e-38,inf,nan]"),
    (r'enum : u8 { "\a\b\f\n\r\t\v\\\"\q\x41g\1012\60" } x;', "00",
     r'x=0["\x07\x08\x0c\n\r\t\x0b\\\"qAgA20"]'),
    ("string x;", "616200", 'x="ab"'),
    ("string { encoding = UTF8; } x; u8 y;", "610007", 'x="a" y=7'),
    ("u8 x[2], y;", "010203", "x=[1,2] y=3"),
    ("u8 x[2][3];", "010203040506", 'x="[[1,2,3],[4,5,6]]"'),
    ("u8 n; u8 x[n];", "020506", "n=2 x=[5,6]"),
    ("struct { u8 n; } s; u8 x[s.n];", "020506", "s.n=2 x=[5,6]"),
    ("u8 n; u8 x[event.fields.n];", "020506", "n=2 x=[5,6]"),
    ("u8 _n; u8 x[_n];", "020506", "n=2 x=[5,6]"),
    ("integer { size = 8; encoding = ASCII; } x[3];", "616200", 'x="ab"'),
    ("integer { size = 8; encoding = none; } x[2];", "6162", "x=[97,98]"),
    ("integer { size = 8; encoding = NONE; } x[2];", "6162", "x=[97,98]"),
    ("enum : u8 { A, B = 5, C, \"d e\" = 10 ... 20, F, } x;", "06",
     'x=6["C"]'),
    ("enum : u8 { A, B = 5, C, \"d e\" = 10 ... 20, F, } x;", "0a",
     'x=10["d e"]'),
    ("enum : u8 { A, B = 5, C, \"d e\" = 10 ... 20, F, } x;", "15",
     'x=21["F"]'),
    ("enum : integer { size = 8; signed = true; } { A = -2, B } x;", "ff",
     'x=-1["B"]'),
    ("enum e : u8 { A } a; enum e b;", "0000", 'a=0["A"] b=0["A"]'),
    ("typealias u8 := int; enum { A, B } x;", "01", 'x=1["B"]'),
    ("enum : u8 { false, true } x;", "01", "x=true"),
    ("enum : u8 { false, true, more } x;", "01", 'x=1["true"]'),
    ("enum : u8 { false = 1, true } x;", "01", 'x=1["false"]'),
    ("enum : u8 { false, true = 2 } x;", "02", 'x=2["true"]'),
    ("struct s { u8 y; } a; struct s b;", "0102", "a.y=1 b.y=2"),
    ("enum : u8 { a, b } t; variant <t> { u8 a; u16 b; } v;", "0002",
     't=0["a"] v.a=2'),
    ("enum : u8 { a, b } t; variant <t> { u8 a; u16 b; } v;", "010203",
     't=1["b"] v.b=770'),
    ("enum : u8 { _a, b } t; variant <t> { u8 _a; u16 b; } v;", "0002",
     't=0["_a"] v.a=2'),
    ("enum : u8 { a, b } t; variant n <t> { u8 a; u16 b; } v;"
     " enum : u8 { b = 1 } w; variant n <w> x;", "0001010102",
     't=0["a"] v.a=1 w=1["b"] x.b=513'),
    ("typealias integer { size = 32; } := unsigned long int;"
     " unsigned long int x;", "01020000", "x=513"),
    ("typealias u8 := char const; const char const x;", "01", "x=1"),
    ("typedef u8 a, b[2]; a x; b y;", "010203", "x=1 y=[2,3]"),
    ("typealias u8[2] := pair, two; pair x; two y;", "01020304",
     "x=[1,2] y=[3,4]"),
    ("typealias u16 := u8; struct { typealias integer { size = 32; } := u8;"
     " u8 x; } s; u8 y;", "010000000200", "s.x=1 y=2"),
    # not the length of another option
    ("u8 n; enum : u8 { a, b } t; variant <t> { struct { u8 n; u8 x[n]; } a;"
     " struct { u8 x[n]; } b; } v;", "02010506",
     'n=2 t=1["b"] v.b.x=[5,6]'),
    ("u8 AZaz_09;", "07", "AZaz_09=7"),
    ("integer { size = 64; base = hex; } x;", "0700000000000000", "x=0x7"),
    ("integer { size = 64; base = 16; } x;", "0700000000000000", "x=0x7"),
    ("integer { size = 128; } x; u8 y;", bytes(range(17)).hex(),
     'x="000102030405060708090a0b0c0d0e0f" y=16'),
    ("u8 x; integer { size = 72; align = 32; } y;", "01000000020304050607080910",
     'x=1 y="020304050607080910"'),
    ("u8 _; u8 _y; u8 __z;", "010203", "_=1 y=2 _z=3"),
    ("/*/ u9 y; */ u8 x;", "01", "x=1"),
    ("// one; \n /* two; \n * three */ u8 /**/ x;", "01", "x=1"),
]
SIZE = ("invalid size of an integer; expected 1 to 64, or a multiple of 8 up "
        "to 4096")
WIDE = "an integer of more than 64 bits, which are not bytes"
ALIGN = "invalid alignment; expected a power of two"
DIGITS = "invalid exp_dig or mant_dig; expected 8 and 24, or 11 and 53"
ORDER = "unknown byte order; expected le, be, network or native"
TOKEN = "expected a number, found an invalid token"
DEEP = "types are nested more than 32 deep"
UUID = "invalid UUID"
# Fields, and the message for the line with "@", which is left out.
TYPES = [
    ("u9@ x;", "unknown type u9"), ("struct s@ x;", "unknown type struct s"),
    ("variant v@ x;", "unknown type variant v"),
    ("enum e@ x;", "unknown type enum e"),
    ("enum @{ A } x;", "unknown type int"),
    ("enum :\nfloating_point { exp_dig = 8; mant_dig = 24; } @{ A } x;",
     "the container of an enum is not an integer"),
    ("enum : u8 {\n\nA B@ } x;", "expected ',' or '}', found B"),
    ("enum : u8 { A = B@ } x;", "expected a number, found B"),
    ("enum : u8 { A = 1 ... B@ } x;", "expected a number, found B"),
    ("enum : u8 { 5@ } x;", "expected a name, found a number"),
    ("integer { }@ x;", "an integer without a size"),
    ("integer { size = 0@; } x;", SIZE), ("integer { size = 65@; } x;", SIZE),
    ("integer { size = 8192@; } x;", SIZE),
    ("integer { size = 72; align = 1; }@ x;", WIDE),
    ("enum : integer { size = 72; } @{ A } x;",
     "the container of an enum is not an integer"),
    ("integer { size = a@; } x;", SIZE),
    ("integer { size = (8@; } x;", "expected ')', found ';'"),
    ("integer { size = 8@ } x;", "expected ';', found '}'"),
    ("integer { size 8@ } x;", "expected '=', found a number"),
    ("integer { size = 08@; } x;", TOKEN),
    ("integer { size = 8x@; } x;", TOKEN),
    ("integer { size = 0b2@; } x;", TOKEN),
    ("integer { size = 18446744073709551616@; } x;", TOKEN),
    ("integer { size = 'ab'@; } x;", TOKEN),
    ("integer { size = \"ab@\n", TOKEN),
    ("integer { size = 8; align = 0@; } x;", ALIGN),
    ("integer { size = 8; align = 24@; } x;", ALIGN),
    ("integer { size = 8; align = 2097152@; } x;", ALIGN),
    ("struct { u8 y; } align(3)@ x;", ALIGN),
    ("struct { u8 y; } align 8@ x;", "expected '(', found a number"),
    ("integer { size = 8; byte_order = middle@; } x;", ORDER),
    ("integer { size = 8; byte_order = 1@; } x;", ORDER),
    ("integer { size = 8; map = clock.none.value@; } x;",
     "unknown clock in map = clock.none.value"),
    ("integer x@;", "expected '{', found x"),
    ("floating_point { exp_dig = 8; mant_dig = 25; }@ x;", DIGITS),
    ("floating_point { exp_dig = 72; mant_dig = 24; }@ x;", DIGITS),
    ("floating_point { exp_dig = 8; mant_dig = 136; }@ x;", DIGITS),
    ("floating_point { }@ x;", DIGITS),
    ("u8@;", "expected the name of a field, found ';'"),
    ("u8 x y@;", "expected ';', found y"),
    ("5@ x;", "expected a type, found a number"),
    ("u8 x[;@", "expected a number, found ';'"),
    ("u8 x[2@;", "expected ']', found ';'"),
    ("u8 x%s@;" % (17 * "[1]"), "an array of more than 16 dimensions"),
    ("u8 x[%s]@;" % ".".join(17 * "n"), "a path has more than 16 names"),
    ("u8 x[%s@];" % (255 * "n"), "expected a name, found " + 40 * "n"),
    ("variant <t u8@ {", "expected '>', found u8"),
    ("variant <t> 5@;", "expected '{', found a number"),
    ("typealias u8 @= u10;", "expected ':=', found '='"),
    ("typealias u8 := @;", "expected the name of a type, found ';'"),
    ("typealias u8 := a, @;", "expected the name of a type, found ';'"),
    ("typealias u8 := %s@;" % (255 * "n"),
     "expected a shorter name, found " + 40 * "n"),
    ("typedef u8 @;", "expected the name of a type, found ';'"),
    ("%s u8 x;" % (30 * "struct { " + "struct {@"), DEEP),
    ("/* a comment\nwithout an end@",
     "expected a type, found an invalid token"),
]
# Metadata, likewise.
BLOCKS = [
    ("event { fields := u8@; };", "fields is not a structure"),
    ("event { fields := struct { } x[2]@; };", "fields is not a structure"),
    ("event { context := string@; };", "context is not a structure"),
    ("trace { packet.header := u8@; };", "packet.header is not a structure"),
    ("stream { packet.context := u8@; };",
     "packet.context is not a structure"),
    ("stream { event.header := u8@; };", "event.header is not a structure"),
    ("stream { event.context := u8@; };", "event.context is not a structure"),
    ("stream { id = 1; };\nstream { id = 2; }; stream { id = 1; };@",
     "two streams have the id 1"),
    ("clock { freq = 0@; };", "a clock of frequency 0"),
    ("trace { major = 2@; };", "version 2 of CTF in TSDL; expected 1.8"),
    ("trace { byte_order = both@; };", ORDER),
    ("trace { uuid = \"%s\"@; };" % (31 * "a"), UUID),
    ("trace { uuid = \"%s\"@; };" % (33 * "a"), UUID),
    ("trace { uuid = \"%s\"@; };" % (31 * "a" + "g"), UUID),
    ("event { name = e }@;", "expected ';', found '}'"),
    ("event { name = e; }@", "expected ';', found the end"),
    ("callsite { a = { b; } ;@", "expected '}', found the end"),
    ("callsite { a; } b@;", "expected ';', found b"),
    ("event @= 5;", "expected '{', found '='"),
    ("env { a = 1; b.c @5; };", "expected '=', found a number"),
    ("u8 typedef a@", "expected ';', found the end"),
    ("u8 a@", "expected ';', found a"),
]
# Blocks that are valid, in front of an event with a field x of 7.
VALID = [
    "trace { uuid = \"%s\"; };" % "-".join(8 * ["aA09"]), ";;",
    "callsite { a = { b; } ; };", "env { a = 1; b.c = \"x\"; d = -5; };",
    "clock { name = c; freq = 5; }; typealias integer { size = 8;"
    " map = clock.c.value; } := t;",
    "clock { name = c; };"
    " typealias integer { size = 8; map = clock.c; } := t;",
    "stream { unknown := u8; id = 0; };", "struct s { u8 x; };",
    "stream { typealias u8 := one; typealias u8 := two; id = 0; };",
    "enum e : u8 { A };", "u8 typedef one, two;",
    "event { name = \"other\"; id = 1; loglevel = 13; };",
    "event { name = L\"other\"; id = 1; };",
    "typealias u8 := a const b, *, int *;",
    "typealias %s := deep;" % (29 * "struct { " + "u8 x;" + 29 * "} x;")[:-3],
]
CLOCK = "clock { name = c; };"
UUID_HEADER = "trace { uuid = \"01234567-89ab-cdef-ABCD-EF0123456789\";" \
    " packet.header := struct { u8 uuid[16]; }; };"
# Metadata but for the first lines, the bytes, and how the event is shown.
WHOLE = [
    (UUID_HEADER + " event { name = %s; fields := struct { u8 x; }; };",
     "0123456789abcdefabcdef012345678907", "x=7"),
    # values of headers, where that of an event is an id and a clock
    (CLOCK + "stream { packet.context := struct { u8 n; }; event.header :="
     " struct { u8 id; integer { size = 8; map = clock.c.value; } t; }; };"
     " event { name = %s; id = 2; fields := struct {"
     " u8 x[stream.packet.context.n]; u8 y[stream.event.header.id]; }; };",
     "010201050607", "n=1 x=[5] y=[6,7]"),
    (CLOCK + "stream { event.header := struct { u8 id; integer { size = 8;"
     " map = clock.c.value; } t; }; }; event { name = %s; id = 2;"
     " fields := struct { u8 x[stream.event.header.id]; }; };", "02010506",
     "x=[5,6]"),
    (CLOCK + "stream { event.header := struct { integer { size = 8;"
     " map = clock.c.value; } t; u8 id; }; }; event { name = %s; id = 2;"
     " fields := struct { u8 x[stream.event.header.id]; }; };", "01020506",
     "x=[5,6]"),
    (CLOCK + "stream { event.header := struct { u8 id; integer { size = 8;"
     " map = clock.c.value; } t; }; }; event { name = %s; id = 1;"
     " fields := struct { u8 x[stream.event.header.t]; }; };",
     "01020506" "010107", "x=[5,6]|x=[7]"),
    # options of several values each, in options of such
    ("stream { packet.context := struct { enum : u8 { a, a, a } t; %s }; };"
     % (26 * "variant <t> { " + "u8 a;" + 26 * " } a;")
     + "event { name = %s; fields := struct { u8 x; }; };", "000807",
     't=0["a"] %s=8 x=7' % ".".join(27 * "a")),
    # a variant of so many options that each must find its label at once
    ("event { name = %%s; fields := struct { struct { enum : integer {"
     " size = 32; } { %s } t; variant <t> { %s } v; } x[1]; }; };" % (
         ", ".join("A%d" % i for i in range(100000)),
         " ".join("u8 A%d;" % i for i in range(100000))), "9f86010007",
     'x="[{\\"t\\":\\"A99999\\",\\"v\\":7}]"'),
    ("event { name = %s; fields := struct { u8 x; }; }; /* end */", "07",
     "x=7"),
    ("trace { packet.header := struct { u8 y; }; };"
     " event { name = %s; fields := struct { u8 x; }; };", "0507", "x=7"),
    # two packets of one number
    ("stream { packet.context := struct { u8 packet_size; u8 packet_seq_num; };"
     " }; event { name = %s; fields := struct { u8 x; }; };", "180207180208",
     "x=7|x=8"),
    # zeros behind the last packet, by the size of a packet in its context
    ("stream { packet.context := struct { u8 packet_size; u8 content_size; };"
     " }; event { name = %s; fields := struct { u8 x; }; };", "18180700",
     "x=7"),
    ("stream { packet.context := struct { u8 packet_size; u8 content_size; };"
     " }; event { name = %s; fields := struct { u8 x; }; };", "2018070000",
     "x=7"),
]
OPTIONS = "struct s { enum : u8 { a, b } t; %s }; stream {" \
    " packet.context := struct { %s }; };" % (
        "".join("variant <t> { struct { } a; struct { } b; } v%d; " % i
                for i in range(200)),
        "".join("struct s x%d; " % i for i in range(82)))
SIZES = "stream { packet.context := struct { integer { size = 64; } packet_size;" \
    " integer { size = 64; } content_size; };" \
    " event.header := struct { u8 id; }; };"
EVENT = "event { name = e; fields := struct { u8 x; }; };"
MAGIC = "trace { byte_order = %s; packet.header := struct {" \
    " integer { size = 32; } magic; }; };" + SIZES + EVENT


def packet(order):
    """A packet of an event and a page, in hexadecimal."""
    head = [n.to_bytes(size, order) for n, size in (
        (0xc1fc1fc1, 4), (8 * 4096, 8), (8 * 22, 8))]
    return (b"".join(head) + b"\0\7").ljust(4096, b"\0").hex()


# Metadata, the bytes, and the messages.
DAMAGED = [
    *((MAGIC % short, packet(order) + 4096 * "aa" + packet(order),
       ["offset 2: stream: no magic number of a packet at byte 4096; 4096"
        " bytes skipped"]) for short, order in (("le", "little"),
                                                ("be", "big"))),
    # the last event has 12 bits
    (SIZES + EVENT, "c000000000000000" "9c00000000000000" "0007" "0008" "0000"
     "0000", ["offset 2: stream: a field ends behind the packet's content at"
              " byte 19; the packet's other 1 bytes are skipped"]),
    ("event { name = e; fields := struct { }; };", 5 * "00",
     ["offset 0: stream: an event of no bits at byte 0; the packet's other 5"
      " bytes are skipped"]),
    ("trace { packet.header := struct { struct { } x[65536][65536][65536]; };"
     " };" + EVENT, "0100",
     ["offset 0: stream: an array of too many empty elements at byte 0; 2"
      " bytes skipped"]),
    ("event { name = e; fields := struct {"
     " integer { size = 8; encoding = UTF8; } x[65537][0]; }; };", 8193 * "01",
     ["offset 0: stream: an array of too many empty elements at byte 0;"
      " the packet's other 8193 bytes are skipped"]),
    (OPTIONS + EVENT, 83 * "01",
     ["offset 0: metadata, stream 0: too many options of variants",
      "metadata, stream 0: too many options of variants"]),
    # 64 bits of a size wrap, where the packet is not the first one
    (SIZES + EVENT, "c000000000000000" "9000000000000000" "0007" + 6 * "00"
     + 2 * ("f8" + 7 * "ff") + 300000 * "01",
     ["offset 2: stream: the packet at byte 24 is cut short",
      "offset 2: stream: an event of a type that the metadata lack at byte"
      " 40; the packet's other 300000 bytes are skipped"]),
    ("stream { packet.context := struct { string s; }; };" + EVENT,
     (1 << 20) * "61" + "0007",
     ["offset 0: stream: the start of a packet, and no more at byte 0;"
      " 1048578 bytes skipped"]),
]


def write(folder, metadata, data=b""):
    os.mkdir(folder)
    with open(folder + "/metadata", "w", encoding="utf-8") as f:
        f.write(metadata)
    with open(folder + "/stream", "wb") as f:
        f.write(data)


FOREIGN = "trace { uuid = \"00112233-4455-6677-8899-aabbccddeeff\";" \
    " packet.header := struct { u8 uuid[16]; }; };" \
    " event { name = e; fields := struct { u8 x; }; };"


def main():
    start = HEAD % "le" + ALIASES
    event = "event { name = %s; fields := struct { %s }; };"
    valid = [(start + event % ("v%02d" % i, fields), data, shown)
             for i, (fields, data, shown) in enumerate(FIELDS)]
    valid += [(start + text + event % ("v%02d" % i, "u8 x;"), "07", "x=7")
              for i, text in enumerate(VALID, len(FIELDS))]
    valid += [(start + text % ("v%02d" % i), data, shown)
              for i, (text, data, shown) in enumerate(WHOLE, len(valid))]
    # a packet whose UUID differs in one byte, each in turn
    uuid = bytes.fromhex("00112233445566778899aabbccddeeff")
    for i in range(16):
        data = bytearray(uuid + b"\7")
        data[i] ^= 1
        write("f%02d" % i, start + FOREIGN, data)
    for i, (text, data, shown) in enumerate(valid):
        write("v%02d" % i, text, bytes.fromhex(data))
        for line in shown.split("|"):
            print("v%02d %s" % (i, line))
    invalid = [(start + event % ("e", fields), m) for fields, m in TYPES]
    invalid += [(start + text, m) for text, m in BLOCKS]
    for i, (text, message) in enumerate(invalid):
        line = 1 + text[:text.index("@")].count("\n")
        write("i%02d" % i, text.replace("@", ""))
        print("telcat: i%02d: metadata, line %d: %s" % (i, line, message))
    for i, (text, data, messages) in enumerate(DAMAGED):
        write("d%02d" % i, start + text, bytes.fromhex(data))
        for message in messages:
            print("d%02d: %s" % (i, message))


main()
