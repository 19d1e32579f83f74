# SPDX-License-Identifier: BSD-2-Clause
"""A reader of Arrow's IPC format, written from its specification: the columnar
format (version 1.x), Schema.fbs, Message.fbs and File.fbs, and the wire format
of FlatBuffers.  It checks what it reads, and shares no code with libtel.

arrow_read.py FILE       prints the rows, a JSON object a line
arrow_read.py -s FILE    prints the schema: name, type, metadata a line
"""

import ctypes
import functools
import itertools
import json
import struct
import sys


class Invalid(Exception):
    """The input breaks a rule of the format."""


def need(true, what):
    if not true:
        raise Invalid(what)


class Table:
    """A table of FlatBuffers: its slots are read by number."""

    def __init__(self, data, at):
        self.data, self.at = data, at
        need(at % 4 == 0 and at + 4 <= len(data), "table outside the message")
        vtable = at - struct.unpack_from("<i", data, at)[0]
        need(0 <= vtable <= len(data) - 4 and vtable % 2 == 0, "vtable")
        size, self.size = struct.unpack_from("<HH", data, vtable)
        need(size >= 4 and size % 2 == 0 and vtable + size <= len(data),
             "size of a vtable")
        need(at + self.size <= len(data), "size of a table")
        self.slots = struct.unpack_from(f"<{size // 2 - 2}H", data, vtable + 4)
        starts = sorted({4, self.size, *self.slots} - {0})
        need(all(b - a <= 8 for a, b in itertools.pairwise(starts)),
             "unused bytes in a table")

    def place(self, slot, size):
        offset = self.slots[slot] if slot < len(self.slots) else 0
        if offset == 0:
            return None
        need(4 <= offset <= self.size - size, "slot outside its table")
        need((self.at + offset) % size == 0, "slot that is not aligned")
        return self.at + offset

    def number(self, slot, code, default=0):
        at = self.place(slot, struct.calcsize("<" + code))
        if at is None:
            return default
        return struct.unpack_from("<" + code, self.data, at)[0]

    def target(self, slot):
        at = self.place(slot, 4)
        if at is None:
            return None
        offset = struct.unpack_from("<I", self.data, at)[0]
        need(offset > 0 and at + offset + 4 <= len(self.data), "reference")
        return at + offset

    def table(self, slot):
        at = self.target(slot)
        return None if at is None else Table(self.data, at)

    def vector(self, slot, size):
        """Where the elements are, and how many."""
        at = self.target(slot)
        if at is None:
            return 0, 0
        need(at % 4 == 0, "vector that is not aligned")
        count = struct.unpack_from("<I", self.data, at)[0]
        need(at + 4 + count * size <= len(self.data), "vector too long")
        return at + 4, count

    def tables(self, slot):
        at, count = self.vector(slot, 4)
        return [Table(self.data, at + 4 * i +
                      struct.unpack_from("<I", self.data, at + 4 * i)[0])
                for i in range(count)]

    def structs(self, slot, code):
        size = struct.calcsize("<" + code)
        at, count = self.vector(slot, size)
        need(count == 0 or at % 8 == 0, "structures that are not aligned")
        return [struct.unpack_from("<" + code, self.data, at + size * i)
                for i in range(count)]

    def string(self, slot):
        at = self.target(slot)
        if at is None:
            return None
        size = struct.unpack_from("<I", self.data, at)[0]
        need(at + 4 + size < len(self.data), "string too long")
        need(self.data[at + 4 + size] == 0, "string without a NUL")
        return self.data[at + 4:at + 4 + size].decode()


def root(data):
    need(len(data) >= 8 and len(data) % 8 == 0, "size of a message")
    return Table(data, struct.unpack_from("<I", data)[0])


def pairs(table, slot):
    return {t.string(0): t.string(1) for t in table.tables(slot)}


class Field:
    def __init__(self, table):
        self.name = table.string(0)
        self.nullable = table.number(1, "B")
        kind = table.number(2, "B")
        of = table.table(3)
        self.metadata = pairs(table, 6)
        need(of is not None, "a type")
        self.items = [Field(t) for t in table.tables(5)]
        need(len(self.items) == (kind == 12), "children of lists")
        self.signed = 1
        if kind == 2:
            self.bits = of.number(0, "i")
            self.signed = of.number(1, "B")
            self.type = ("int" if self.signed else "uint") + str(self.bits)
        elif kind == 3:
            need(of.number(0, "h") == 2, "double precision")
            self.bits, self.type = 64, "double"
        elif kind == 5:
            self.bits, self.type = 0, "utf8"
        elif kind == 6:
            self.bits, self.type = 1, "bool"
        elif kind == 10:
            need(of.number(0, "h") == 3, "nanoseconds")
            self.bits, self.type = 64, f"timestamp[{of.string(1)}]"
        elif kind == 12:
            need(not self.items[0].items, "a list of values")
            self.bits, self.type = 0, f"list<{self.items[0].type}>"
        elif kind == 18:
            need(of.number(0, "h", 1) == 3, "nanoseconds")
            self.bits, self.type = 64, "duration"
        else:
            raise Invalid(f"type {kind}")
        self.dictionary = None
        encoding = table.table(4)
        if encoding is not None:
            self.dictionary = encoding.number(0, "q")
            index = encoding.table(1)
            need(self.type == "utf8" and index.number(0, "i") == 32 and
                 index.number(1, "B") == 1, "index of a dictionary")


@functools.lru_cache(1)
def zstd():
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t] * 2
    return library


def unpack(data, size):
    need(0 <= size < 1 << 30, "size of a buffer")
    # one more, as a frame that is larger is an error, too
    out = ctypes.create_string_buffer(size + 1)
    need(zstd().ZSTD_decompress(out, size + 1, data, len(data)) == size,
         "size of a buffer")
    return out.raw[:size]


BITS = [[bool(byte >> i & 1) for i in range(8)] for byte in range(256)]


def bits_of(data, rows):
    return list(itertools.chain.from_iterable(map(BITS.__getitem__, data)))[:rows]


class Body:
    """The buffers of a batch."""

    def __init__(self, batch, body):
        self.rows = batch.number(0, "q")
        self.nodes = batch.structs(1, "qq")
        self.buffers = batch.structs(2, "qq")
        self.body = body
        compression = batch.table(3)
        self.packed = compression is not None
        if self.packed:
            need(compression.number(0, "b") == 1, "zstd")
        self.node = self.buffer = 0
        for offset, length in self.buffers:
            need(offset % 8 == 0 and offset >= 0 and length >= 0 and
                 offset + length <= len(body), "buffer outside the body")

    def take(self, size=None):
        offset, length = self.buffers[self.buffer]
        self.buffer += 1
        data = self.body[offset:offset + length]
        if self.packed and length > 0:
            want = struct.unpack_from("<q", data)[0]
            data = data[8:]
            if want != -1:
                data = unpack(data, want)
        need(size is None or len(data) >= size, "buffer too short")
        return data

    def column(self, field, index=False, elements=None):
        """The values; of a dictionary the indices."""
        rows, nulls = self.nodes[self.node]
        self.node += 1
        need(rows == (self.rows if elements is None else elements),
             "rows of a column")
        valid = self.take()
        if valid:
            need(len(valid) >= (rows + 7) // 8, "validity too short")
            has = bits_of(valid, rows)
        else:
            need(nulls == 0, "nulls without validity")
            has = [True] * rows
        need(has.count(False) == nulls, "null_count")
        need(field.nullable or nulls == 0, "null that may not be")
        if index:
            values = struct.unpack_from(f"<{rows}i", self.take(4 * rows))
        elif field.type == "utf8":
            values = self.texts(rows)
        elif field.items:
            starts = self.starts(rows)
            items = self.column(field.items[0], elements=starts[-1])
            values = [items[a:b] for a, b in zip(starts, starts[1:])]
        elif field.type == "bool":
            values = bits_of(self.take((rows + 7) // 8), rows)
        else:
            code = "d" if field.type == "double" else {
                8: "b", 16: "h", 32: "i", 64: "q"}[field.bits]
            if not field.signed:
                code = code.upper()
            size = struct.calcsize("<" + code)
            values = struct.unpack_from(f"<{rows}{code}",
                                        self.take(size * rows))
        if nulls in (0, rows):
            return [None] * rows if nulls else list(values)
        return [v if h else None for v, h in zip(values, has)]

    def starts(self, rows):
        offsets = struct.unpack_from(f"<{rows + 1}i", self.take(4 * rows + 4))
        need(offsets[0] == 0, "start of texts")
        need(list(offsets) == sorted(offsets), "texts")
        return offsets

    def texts(self, rows):
        offsets = self.starts(rows)
        data = self.take()
        need(offsets[-1] <= len(data), "end of texts")
        return [data[a:b].decode() if a < b else ""
                for a, b in zip(offsets, offsets[1:])]

    def end(self):
        need(self.node == len(self.nodes), "nodes that are left")
        need(self.buffer == len(self.buffers), "buffers that are left")


class Reader:
    """.fields, .metadata; .batches: for each batch the columns' values."""

    def __init__(self, data):
        self.data = data
        self.dictionaries = {}
        self.batches = []
        self.fields = None
        self.deltas = 0
        self.is_file = data[:6] == b"ARROW1"
        if self.is_file:
            self.read_file()
        else:
            end = self.read_stream(0)
            need(end == len(data), "bytes behind the end of the stream")

    def message(self, at):
        """The message, its header's type, the body, and where that ends."""
        need(at % 8 == 0, "message that is not aligned")
        need(at + 8 <= len(self.data), "stream without its end")
        mark, size = struct.unpack_from("<Ii", self.data, at)
        need(mark == 0xffffffff, "continuation")
        if size == 0:
            return None, 0, None, at + 8
        need(size > 0 and size % 8 == 0, "size of metadata")
        message = root(self.data[at + 8:at + 8 + size])
        need(message.number(0, "h") == 4, "version V5")
        length = message.number(3, "q")
        start = at + 8 + size
        need(length >= 0 and length % 8 == 0 and
             start + length <= len(self.data), "length of a body")
        return (message, message.number(1, "B"),
                self.data[start:start + length], start + length)

    def take_schema(self, table):
        need(table.number(0, "h") == 0, "little-endian")
        self.fields = [Field(t) for t in table.tables(1)]
        self.metadata = pairs(table, 2)

    def take_dictionary(self, header, body):
        number = header.number(0, "q")
        inner = Body(header.table(1), body)
        field = next(f for f in self.fields if f.dictionary == number)
        values = inner.column(field)
        inner.end()
        if header.number(2, "B"):
            self.deltas += 1
            need(number in self.dictionaries, "delta of no dictionary")
            values = self.dictionaries[number] + values
        else:
            need(number not in self.dictionaries, "dictionary replaced")
        need(len(set(values)) == len(values), "names that are not distinct")
        self.dictionaries[number] = values

    def take_batch(self, header, body):
        inner = Body(header, body)
        columns = []
        for f in self.fields:
            values = inner.column(f, f.dictionary is not None)
            if f.dictionary is not None:
                names = self.dictionaries[f.dictionary]
                values = [None if v is None else names[v] for v in values]
            columns.append(values)
        inner.end()
        self.batches.append((inner.rows, columns))

    def take(self, at, kinds):
        message, kind, body, end = self.message(at)
        if message is None:
            return kind, end
        need(kind in kinds, "message of another type")
        header = message.table(2)
        if kind == 1:
            need(self.fields is None and not body, "one schema")
            self.take_schema(header)
        elif kind == 2:
            self.take_dictionary(header, body)
        else:
            self.take_batch(header, body)
        return kind, end

    def read_stream(self, at):
        kind, at = self.take(at, (1,))
        while kind != 0:
            kind, at = self.take(at, (2, 3))
        return at

    def read_file(self):
        data = self.data
        need(data[-6:] == b"ARROW1" and data[6:8] == b"\0\0", "magic")
        size = struct.unpack_from("<i", data, len(data) - 10)[0]
        start = len(data) - 10 - size
        need(size > 0 and start >= 8, "size of the footer")
        footer = root(data[start:start + size])
        need(footer.number(0, "h") == 4, "version of the footer")
        self.take_schema(footer.table(1))
        seen = []
        for slot, kind in ((2, 2), (3, 3)):
            for at, length, body in footer.structs(slot, "qi4xq"):
                message, _, bytes_, _ = self.message(at)
                need(len(message.data) + 8 == length and len(bytes_) == body,
                     "block of the footer")
                self.take(at, (kind,))
                seen.append(at)
        # what the footer names is what the file holds
        _, _, _, at = self.message(8)
        there = []
        while True:
            message, _, _, end = self.message(at)
            if message is None:
                break
            there.append(at)
            at = end
        need(sorted(seen) == there and end == start, "messages of the file")

    def rows(self):
        for n, columns in self.batches:
            yield from zip(*columns) if columns else [()] * n

    def values(self):
        """Of each row the fields that are not null, and their values."""
        for n, columns in self.batches:
            rows = [[] for _ in range(n)]
            for field, column in zip(self.fields, columns):
                if column.count(None) < n:
                    for row, v in zip(rows, column):
                        if v is not None:
                            row.append((field, v))
            yield from rows


def main():
    schema = sys.argv[1] == "-s"
    with open(sys.argv[-1], "rb") as f:
        r = Reader(f.read())
    if schema:
        for key, value in sorted(r.metadata.items()):
            print(f"{key}={value}")
        for f in r.fields:
            print(f.name, f.type, "dictionary" if f.dictionary is not None
                  else "", "" if f.nullable else "required",
                  json.dumps(f.metadata, sort_keys=True))
        return
    for row in r.values():
        print(json.dumps({f.name: v for f, v in row}))


if __name__ == "__main__":
    main()
