# SPDX-License-Identifier: BSD-2-Clause
"""Telemetry logs in Python, read by libtel.

    import teltools

    for event in teltools.open("run.log.zst", where="size > 4k"):
        print(event.clock, event.type, event.fields["size"])

    table = teltools.columns("run.log.zst", "PoolAlloc", ["pool", "size"])
    table["size"].sum()             # with NumPy; without it, a list

A log may be anything that telcat(1) reads.  Values are exact: integers are
int, doubles float, booleans bool, lists list, and strings str, in which bytes
that are not UTF-8 are surrogates, as os.fsdecode() makes them.  What an event
lacks is None.  A member of a struct is fields["heapSpace.start"] as well as
fields["heapSpace"]["start"]; the name of an enum's value is a label.

Events are in order of time, as in the tools: an MPS writes its buffers newest
event first, and a window puts each flush in order.  order="sort" sorts any log,
and order="file" has the events as they are in the file.
"""

import array
import ctypes
import itertools
import os
import struct
import threading
import warnings

__all__ = ["Error", "Event", "Field", "Reader", "Table", "Type", "columns",
           "open"]

_OK, _END, _LOG = 0, 1, 2
_ENOMEM = -1
_READ_STRICT = 1
_FILE_META = 2
_USE_RATE = 0
_ORDERS = {"time": 2, "sort": 1, "file": None}
_COUNTS = ("events", "bytes", "input", "skipped", "repaired", "unknown",
           "damaged", "logs", "lost", "unread")
_DATATYPES = ("unsigned", "signed", "set", "address", "pointer", "boolean",
              "double", "string", "list")
_SIGNED, _BOOLEAN, _DOUBLE, _STRING, _LIST = 1, 5, 6, 7, 8
_DTYPES = {"boolean": "bool", "double": "float64", "signed": "int64",
           "string": "object", "list": "object"}  # of others, "uint64"
_TYPECODES = {"signed": "q", "double": "d"}  # of arrays; of others, "Q"

_pointer, _size, _text = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p
_int, _unsigned, _u64 = ctypes.c_int, ctypes.c_uint, ctypes.c_uint64
_i64 = ctypes.c_int64

# What each function returns, and its parameters, as in tel.h.
_FUNCTIONS = {
    "tel_event_clock": (_u64, _pointer),
    "tel_event_double": (ctypes.c_double, _pointer, _unsigned),
    "tel_event_element": (_u64, _pointer, _unsigned, _size),
    "tel_event_element_string": (_pointer, _pointer, _unsigned, _size,
                                 _pointer),
    "tel_event_has": (_int, _pointer, _unsigned),
    "tel_event_index": (_u64, _pointer),
    "tel_event_label": (_pointer, _pointer, _unsigned, _pointer),
    "tel_event_length": (_size, _pointer, _unsigned),
    "tel_event_offset": (_u64, _pointer),
    "tel_event_string": (_pointer, _pointer, _unsigned, _pointer),
    "tel_event_timed": (_int, _pointer),
    "tel_event_u64": (_u64, _pointer, _unsigned),
    "tel_field_datatype": (_int, _pointer),
    "tel_field_element": (_int, _pointer),
    "tel_field_name": (_text, _pointer),
    "tel_field_optional": (_int, _pointer),
    "tel_field_unit": (_text, _pointer),
    "tel_field_width": (_unsigned, _pointer),
    "tel_filter_attach": (None, _pointer, _pointer, _int),
    "tel_filter_bind": (_int, _pointer, _pointer),
    "tel_filter_error": (_text, _pointer),
    "tel_filter_free": (None, _pointer),
    "tel_filter_new": (_pointer,),
    "tel_filter_run": (_int, _pointer, _pointer),
    "tel_filter_set_expression": (_int, _pointer, _text),
    "tel_filter_set_kinds": (_int, _pointer, _text),
    "tel_filter_set_types": (_int, _pointer, _text),
    "tel_filter_uses": (_int, _pointer, _int),
    "tel_reader_archive": (_int, _pointer),
    "tel_reader_count": (_u64, _pointer, _int),
    "tel_reader_error": (_text, _pointer),
    "tel_reader_format": (_text, _pointer),
    "tel_reader_free": (None, _pointer),
    "tel_reader_new": (_pointer,),
    "tel_reader_open_file": (_int, _pointer, _text),
    "tel_reader_run": (_int, _pointer, _size, _pointer),
    "tel_reader_schema": (_pointer, _pointer),
    "tel_reader_set_as": (_int, _pointer, _text),
    "tel_reader_share": (_int, _pointer, _pointer),
    "tel_reader_add_file": (_int, _pointer, _int, _text),
    "tel_reader_set": (_int, _pointer, _int, _i64),
    "tel_reader_tick_rate": (ctypes.c_double, _pointer),
    "tel_run_clocks": (_pointer, _pointer),
    "tel_run_column": (_size, _pointer, _pointer, _unsigned, _pointer),
    "tel_run_count": (_size, _pointer),
    "tel_run_event": (_pointer, _pointer, _size),
    "tel_run_type": (_pointer, _pointer, _size),
    "tel_schema_name": (_text, _pointer),
    "tel_schema_ordered": (_int, _pointer),
    "tel_schema_type": (_pointer, _pointer, _unsigned),
    "tel_schema_type_count": (_unsigned, _pointer),
    "tel_status_text": (_text, _int),
    "tel_type_code": (ctypes.c_uint32, _pointer),
    "tel_type_doc": (_text, _pointer),
    "tel_type_field": (_pointer, _pointer, _unsigned),
    "tel_type_field_count": (_unsigned, _pointer),
    "tel_type_field_doc": (_text, _pointer, _unsigned),
    "tel_type_kind": (_text, _pointer),
    "tel_type_name": (_text, _pointer),
    "tel_window_error": (_text, _pointer),
    "tel_window_free": (None, _pointer),
    "tel_window_late": (_u64, _pointer),
    "tel_window_new": (_int, _pointer, _int, _pointer),
    "tel_window_run": (_int, _pointer, _pointer),
}


def _load():
    """The library: LIBTEL names its file where it is not installed.

    Its number is that of the interface below: another one would not fit.
    """
    library = ctypes.CDLL(os.environ.get("LIBTEL") or "libtel.so.0")
    for function, (result, *parameters) in _FUNCTIONS.items():
        f = getattr(library, function)
        f.restype, f.argtypes = result, parameters
    return library


_lib = _load()


def _str(text):
    return text.decode("utf-8", "surrogateescape")


def _bytes(what, text):
    """An argument of the library, for which a NUL would be its end."""
    text = os.fsencode(text)
    if b"\0" in text:
        raise ValueError("%s: %r has a NUL character" % (what, _str(text)))
    return text


class Error(Exception):
    """A log could not be read, or an expression is wrong.

    status is a tel_status, see libtel(3).
    """

    def __init__(self, message, status):
        super().__init__(message)
        self.status = status


class Field:
    """A field of a type: name, datatype, width in bits (0: a string), doc.

    element is the data type of a list's elements; unit is what values measure,
    if the log says so, as "ns" or "bytes"; optional: events may lack the field.
    """

    __slots__ = ("name", "datatype", "element", "width", "unit", "optional",
                 "doc", "_convert", "_labelled", "_plain")

    def __init__(self, type_, number):
        field = _lib.tel_type_field(type_, number)
        kind = _lib.tel_field_datatype(field)
        element = _lib.tel_field_element(field)
        self.name = _str(_lib.tel_field_name(field))
        self.datatype = _DATATYPES[kind]
        self.element = _DATATYPES[element]
        self.width = _lib.tel_field_width(field)
        self.unit = _str(_lib.tel_field_unit(field))
        self.optional = bool(_lib.tel_field_optional(field))
        self.doc = _str(_lib.tel_type_field_doc(type_, number))
        self._plain = not self.optional and kind not in (_STRING, _LIST)
        convert = _CONVERT.get(kind, _lib.tel_event_u64)
        self._labelled = kind not in (_BOOLEAN, _DOUBLE, _STRING, _LIST)
        if kind == _LIST:
            convert = _list(element)
        self._convert = _optional(convert) if self.optional else convert

    def __repr__(self):
        return "<teltools.Field %s:%s>" % (self.name, self.datatype)


class Type:
    """A type of events: name, kind, code, doc, fields."""

    __slots__ = ("name", "kind", "code", "doc", "fields")

    def __init__(self, type_):
        self.name = _str(_lib.tel_type_name(type_))
        self.kind = _str(_lib.tel_type_kind(type_))
        self.code = _lib.tel_type_code(type_)
        self.doc = _str(_lib.tel_type_doc(type_))
        self.fields = [Field(type_, i)
                       for i in range(_lib.tel_type_field_count(type_))]

    def __repr__(self):
        return "<teltools.Type %s>" % self.name


def _boolean(event, number):
    return _lib.tel_event_u64(event, number) != 0


def _double(event, number):
    return _lib.tel_event_double(event, number)


def _signed(event, number):
    value = _lib.tel_event_u64(event, number)
    return value - (1 << 64) if value >> 63 else value


def _string(event, *place, get=_lib.tel_event_string):
    length = _size()
    text = get(event, *place, ctypes.byref(length))
    return None if text is None else _str(ctypes.string_at(text, length.value))


def _optional(convert):
    return lambda event, number: \
        convert(event, number) if _lib.tel_event_has(event, number) else None


# How a data type is converted: a field, or the bits of an element.
_CONVERT = {_BOOLEAN: _boolean, _DOUBLE: _double, _STRING: _string,
            _SIGNED: _signed}
_ELEMENT = {_BOOLEAN: bool,
            _DOUBLE: lambda v: struct.unpack("d", struct.pack("Q", v))[0],
            _SIGNED: lambda v: v - (1 << 64) if v >> 63 else v}


def _list(element):
    if element == _STRING:
        def get(event, number, k):
            return _string(event, number, k, get=_lib.tel_event_element_string)
    else:
        convert = _ELEMENT.get(element, int)

        def get(event, number, k):
            return convert(_lib.tel_event_element(event, number, k))
    return lambda event, number: [
        get(event, number, k)
        for k in range(_lib.tel_event_length(event, number))]


class _Fields(dict):
    """Values by the names of fields; the name of a struct has its members."""

    def __missing__(self, name):
        members = _Fields((key[len(name) + 1:], value)
                          for key, value in self.items()
                          if key.startswith("%s." % name))
        if not members:
            raise KeyError(name)
        return members


class Event:
    """An event, which stays valid: its values are copied.

    type and kind are names; clock is in ticks, or None where it is unknown;
    index counts the events of the log from 0, offset is its place in bytes;
    fields has the value of each field by its name, and labels the labels of
    those that have one.
    """

    __slots__ = ("type", "kind", "clock", "index", "offset", "fields", "labels")

    def __init__(self, event, type_):
        self.type = type_.name
        self.kind = type_.kind
        self.clock = _lib.tel_event_clock(event) \
            if _lib.tel_event_timed(event) else None
        self.index = _lib.tel_event_index(event)
        self.offset = _lib.tel_event_offset(event)
        self.fields = _Fields()
        self.labels = {}
        for number, field in enumerate(type_.fields):
            self.fields[field.name] = field._convert(event, number)
            if field._labelled:
                label = _string(event, number, get=_lib.tel_event_label)
                if label is not None:
                    self.labels[field.name] = label

    def __repr__(self):
        return "<teltools.Event %s %r>" % (self.type, self.fields)


class Reader:
    """The events of a log; open() makes one.  It is its own iterator, also of
    several threads, each of which gets some of the events.  It is of one
    process: a child of fork() opens the log anew.

    format is the format of the log, schema the name of its types, types a
    list of them, and rate the ticks of the clock in a second, 0 where it is
    unknown.  counts is a dictionary: "damaged" is the number of damaged
    places that were skipped, "lost" that of events lost when the log was
    recorded, "late" that of events that arrived too late to be put in order,
    which order="sort" avoids.  Events are read many at once, so counts may
    include some that follow.
    """

    def __init__(self, path, where=None, types=None, kinds=None, order="time",
                 as_=None, meta=None, strict=False):
        self._reader = self._window = self._filter = None
        self._path = _bytes("path", path)
        self._as = None if as_ is None else _bytes("as_", as_)
        self._known = {}
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._run, self._at, self._count = _pointer(), 0, 0
        self._reader = _lib.tel_reader_new()
        if not self._reader:
            raise MemoryError
        if order not in _ORDERS:
            raise ValueError("order: %r is not time, sort or file" % (order,))
        if self._as is not None:
            self._check(_lib.tel_reader_set_as(self._reader, self._as),
                        b"as_: '%s' is not a format" % self._as)
        if meta is not None:
            self._check(_lib.tel_reader_add_file(self._reader, _FILE_META,
                                                 _bytes("meta", meta)))
        _lib.tel_reader_set(self._reader, _READ_STRICT, bool(strict))
        self._check(_lib.tel_reader_open_file(self._reader, self._path))
        self._make_filter(where, types, kinds)
        if order == "sort" or order == "time" and (
                _lib.tel_reader_archive(self._reader) or
                not _lib.tel_schema_ordered(
                    _lib.tel_reader_schema(self._reader))):
            window = _pointer()
            self._check(_lib.tel_window_new(self._reader, _ORDERS[order],
                                            ctypes.byref(window)))
            self._window = window.value
        # blocks of a .tel without such events are not read; a test of times
        # may need them, for the window
        if self._filter and not (self._window and _lib.tel_filter_uses(
                self._filter, _USE_RATE)):
            _lib.tel_filter_attach(self._filter, self._reader, 0)

    def _check(self, status, text=None):
        if status >= 0:
            return status
        if status == _ENOMEM:
            raise MemoryError
        if text:
            raise Error(_str(text), status)
        text = _lib.tel_reader_error(self._reader) or \
            _lib.tel_status_text(status)
        raise Error("%s: %s" % (_str(self._path), _str(text)), status)

    def _make_filter(self, where, types, kinds):
        wanted = ((_lib.tel_filter_set_expression, "where", where),
                  (_lib.tel_filter_set_types, "types", types),
                  (_lib.tel_filter_set_kinds, "kinds", kinds))
        if all(value is None for _, _, value in wanted):
            return
        self._filter = _lib.tel_filter_new()
        if not self._filter:
            raise MemoryError
        for function, name, value in wanted:
            if value is not None:
                if not isinstance(value, (str, bytes)):
                    value = ",".join(value)
                self._check_filter(function(self._filter,
                                            _bytes(name, value)))
        self._bind()

    def _check_filter(self, status):
        self._check(status, _lib.tel_filter_error(self._filter))

    def _learn(self):
        """Reads the log for names that come later in it, or in its archive."""
        if not (os.path.isfile(self._path) and (
                _lib.tel_reader_archive(self._reader) or
                _lib.tel_reader_format(self._reader) in (
                    b"tel", b"text", b"ftrace", b"jfr"))):
            return
        other, run = _lib.tel_reader_new(), _pointer()
        if not other:
            raise MemoryError
        if _lib.tel_reader_set_as(other, self._as) == _OK and \
                _lib.tel_reader_share(other, self._reader) == _OK and \
                _lib.tel_reader_open_file(other, self._path) == _OK:
            while _lib.tel_reader_run(other, _size(-1), ctypes.byref(run)) in (
                    _OK, _LOG):
                pass
        _lib.tel_reader_free(other)

    def _bind(self):
        self._known = {}
        if not self._filter:
            return
        schema = _lib.tel_reader_schema(self._reader)
        if _lib.tel_filter_bind(self._filter, schema) != _OK:
            self._learn()
            self._check_filter(_lib.tel_filter_bind(self._filter, schema))

    def _type(self, address):
        """A type of the log, made once."""
        found = self._known.get(address)
        if found is None:
            found = self._known[address] = Type(address)
        return found

    def _next_run(self):
        """Finds the next run with events that are selected; False at the end."""
        self._at = self._count = 0
        while not self._count:
            run = ctypes.byref(self._run)
            status = _lib.tel_window_run(self._window, run) if self._window \
                else _lib.tel_reader_run(self._reader, _size(-1), run)
            if status == _OK:
                if self._filter:
                    self._check_filter(
                        _lib.tel_filter_run(self._filter, self._run))
                self._count = _lib.tel_run_count(self._run)
            elif status == _LOG:
                self._bind()
            elif status == _END:
                self._bind()  # names that a pipe might have had until here
                return False
            else:
                self._check(status, self._window and
                            _lib.tel_window_error(self._window))
        return True

    def __iter__(self):
        return self

    def _check_process(self):
        """After fork() the child has neither the threads of a reader nor a
        place in the file of its own, and the lock may be one of another
        thread."""
        if os.getpid() != self._process:
            raise ValueError("the reader is of another process")

    def _check_open(self):
        if not self._reader:
            raise ValueError("the reader is closed")

    def __next__(self):
        self._check_process()
        with self._lock:
            self._check_open()
            if self._at == self._count and not self._next_run():
                raise StopIteration
            at = self._at
            self._at += 1
            return Event(_lib.tel_run_event(self._run, at),
                         self._type(_lib.tel_run_type(self._run, at)))

    def _query(self, function, *arguments):
        self._check_process()
        with self._lock:
            self._check_open()
            return function(self._reader, *arguments)

    @property
    def format(self):
        return _str(self._query(_lib.tel_reader_format))

    @property
    def schema(self):
        return self._query(lambda reader: _str(_lib.tel_schema_name(
            _lib.tel_reader_schema(reader))))

    @property
    def types(self):
        def get(reader):
            schema = _lib.tel_reader_schema(reader)
            return [Type(_lib.tel_schema_type(schema, i))
                    for i in range(_lib.tel_schema_type_count(schema))]
        return self._query(get)

    @property
    def rate(self):
        return self._query(_lib.tel_reader_tick_rate)

    @property
    def counts(self):
        def get(reader):
            found = {name: _lib.tel_reader_count(reader, i)
                     for i, name in enumerate(_COUNTS)}
            found["late"] = _lib.tel_window_late(self._window) \
                if self._window else 0
            return found
        return self._query(get)

    def close(self):
        """Frees the log; events that were read stay valid."""
        if os.getpid() != self._process:
            return
        with self._lock:
            if self._window:
                _lib.tel_window_free(self._window)
            if self._filter:
                _lib.tel_filter_free(self._filter)
            if self._reader:
                _lib.tel_reader_free(self._reader)
            self._window = self._filter = self._reader = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_reader", None):
            self.close()


def open(path, where=None, types=None, kinds=None, order="time", as_=None,
         meta=None, strict=False):
    """Opens a log, and returns a Reader.

    where   an expression, see tel-filter(7)
    types   names or globs of types, as a list or separated by commas; kinds
            likewise
    order   "time": by time, as far as a window of 65,536 events can tell;
            "sort": sorted, whatever the order of the file, by a temporary
            file; "file": the order of the file
    as_     the format, where it cannot be detected, as of telcat --as
    meta    the sidecar file of an HPM trace
    strict  raise Error at damage, which is otherwise skipped and counted
    """
    return Reader(path, where, types, kinds, order, as_, meta, strict)


def _booleans(values):
    return [v if v is None else v != 0 for v in values]


def _array(parts, datatype):
    """Parts as a NumPy array, where NumPy is there; masked where absent."""
    try:
        import numpy
    except ImportError:
        values = list(itertools.chain(*parts))
        return _booleans(values) if datatype == "boolean" else values
    dtype = _DTYPES.get(datatype, "uint64")
    if parts and all(isinstance(part, array.array) for part in parts):
        return numpy.concatenate([
            numpy.frombuffer(part, part.typecode).astype(dtype, copy=False)
            for part in parts])
    values = list(itertools.chain(*parts))
    if dtype == "object":
        objects = numpy.empty(len(values), dtype)
        for i, value in enumerate(values):
            objects[i] = value
        return objects
    if None not in values:
        return numpy.array(values, dtype)
    return numpy.ma.array([v or 0 for v in values], dtype,
                          mask=[v is None for v in values])


def _append(parts, typecode, room, count):
    """Adds numbers to the parts of a column, or to the last one."""
    if not parts or getattr(parts[-1], "typecode", "") != typecode:
        parts.append(array.array(typecode))
    parts[-1].frombytes(memoryview(room).cast("B")[:8 * count])


class Table(dict):
    """What columns() returns.  counts is that of the Reader, at its end."""

    def __init__(self, counts):
        super().__init__()
        self.counts = counts


def _warn_of_damage(path, counts):
    found = ["%d %s" % (counts[name], texts[counts[name] > 1])
             for name, texts in (
        ("damaged", ("damaged place was skipped",
                     "damaged places were skipped")),
        ("lost", ("event was lost when it was recorded",
                  "events were lost when it was recorded")),
        ("late", ("event arrived out of order",
                  "events arrived out of order")))
             if counts[name]]
    if found:
        warnings.warn("%s: %s" % (os.fsdecode(path), ", ".join(found)),
                      stacklevel=3)


def _plan(known, fields, found, rows):
    """How events of a type become columns: of each field its number, how to
    convert it, the type code of an array if that needs no conversion, and its
    parts.  Other types of the name had so many rows before, and may have other
    fields: what a type lacks has no number."""
    numbers = {f.name: i for i, f in enumerate(known.fields)}
    for field in numbers if fields is None else fields:
        if field in numbers:
            datatype = known.fields[numbers[field]].datatype
            before, parts = found.setdefault(
                field, (datatype, [[None] * rows] if rows else []))
            if _DTYPES.get(before) != _DTYPES.get(datatype):
                if before == "boolean":
                    parts[:] = map(_booleans, parts)
                found[field] = "list", parts
    plan = []
    for field, (column, parts) in found.items():
        if field in numbers:
            as_ = known.fields[numbers[field]]
            plain = as_._plain and (as_.datatype != "boolean" or
                                    column == "boolean")
            plan.append((numbers[field], as_._convert, plain and
                         _TYPECODES.get(as_.datatype, "Q"), parts))
        else:
            plan.append((None, None, None, parts))
    return plan


def _read_rows(reader, at, room, plans, fields, found, rows):
    """Adds the run from event at on to the columns found, as far as all are of
    one type; returns where it stops.  room has a number for each event."""
    run, count = reader._run, reader._count
    address = _lib.tel_run_type(run, at)
    known = reader._type(address)
    plan = plans.get(known)
    if plan is None:
        plan = _plan(known, fields, found, rows + at)
        plans.clear()
        plans[known] = plan
    # a column has all events of the type
    whole = _lib.tel_run_column(run, address, 0, room) == count
    end = count if whole else at + 1
    while end < count and _lib.tel_run_type(run, end) == address:
        end += 1
    for number, convert, typecode, parts in plan:
        if number is None:
            parts.append([None] * (end - at))
        elif whole and typecode:
            _lib.tel_run_column(run, address, number, room)
            _append(parts, typecode, room, count)
        else:
            parts.append([convert(_lib.tel_run_event(run, i), number)
                          for i in range(at, end)])
    return end


def columns(path, type, fields=None, **options):
    """The events of one type as columns.

    Returns a Table, a dictionary with an array for "clock" and for each of
    fields, by default all of the type: NumPy arrays, masked where an event lacks
    the field, or lists, with None, where NumPy is not installed.  A field that is
    named clock takes the place of the clock.  The counts of the table say what
    was damaged or lost, of which there is a warning, too.  options are those of
    open().
    """
    clock, found, plans, rows, room = [], {}, {}, 0, (_u64 * 0)()
    if fields is not None:
        fields = [fields] if isinstance(fields, str) else list(fields)
    with open(path, types=[type], **options) as reader:
        while reader._next_run():
            run, count = reader._run, reader._count
            if count > len(room):
                room = (_u64 * count)()
            ctypes.memmove(room, _lib.tel_run_clocks(run), 8 * count)
            _append(clock, "Q", room, count)
            at = 0
            while at < count:
                at = _read_rows(reader, at, room, plans, fields, found, rows)
            rows += count
        table = Table(reader.counts)
        same = [t for t in reader.types if t.name == type]
    for known in () if rows else same:
        _plan(known, fields, found, 0)
    for field in fields or ():
        if field not in found and (rows or same):
            raise KeyError("%s has no field %s" % (type, field))
        found.setdefault(field, ("unsigned", []))
    table["clock"] = _array(clock, "unsigned")
    for name, (datatype, parts) in found.items():
        table[name] = _array(parts, datatype)
    _warn_of_damage(path, table.counts)
    return table
