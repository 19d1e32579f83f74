# SPDX-License-Identifier: BSD-2-Clause
"""Reads traces for Perfetto's viewer without a library, and prints each event
as a line, whatever the form:

    TRACK/TRACK | time in ns | begin, end, instant or counter | what | fields
    TRACK/TRACK | time in ns | send or receive | the number of the message |

perfetto.py FILE: packets (protobuf), or JSON where it begins with '{'.
A trace that does not keep the rules of its form is an error.
"""

import json
import sys


def varint(data, at):
    """A base 128 number, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def message(data):
    """The fields of a message: a list of values for each number."""
    at, out = 0, {}
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            value, at = data[at:at + 8], at + 8
        else:
            assert key & 7 == 2, f"wire type {key & 7}"
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size
        out.setdefault(key >> 3, []).append(value)
    return out


def annotation(data, names):
    """A DebugAnnotation: name and value."""
    one = message(data)
    name = names[3, one[1][0]] if 1 in one else one[10][0].decode()
    if 6 in one:
        return name, one[6][0].decode()
    value = [v for n, (v,) in one.items() if n in (2, 3, 4, 5, 7)]
    assert len(value) == 1
    return name, value[0]


def packets(data):
    """The events of a protobuf trace."""
    tracks, names, begun = {}, {}, False
    for data in message(data)[1]:
        packet = message(data)
        assert packet[10] == [1]
        # what is interned holds from the packet that clears it on
        assert packet[13] == ([2] if begun else [3])
        begun = True
        for interned in packet.get(12, []):
            for field, entries in message(interned).items():
                for entry in map(message, entries):
                    assert (field, entry[1][0]) not in names
                    names[field, entry[1][0]] = entry[2][0].decode()
        for track in map(message, packet.get(60, [])):
            uuid, name = track[1][0], track[2][0].decode()
            assert uuid not in tracks and uuid != 0
            above = tracks[track[5][0]] if 5 in track else []
            assert (3 in track) == (not above)
            tracks[uuid] = above + [name]
        for event in map(message, packet.get(11, [])):
            what = {1: "begin", 2: "end", 3: "instant",
                    4: "counter"}[event[9][0]]
            more = ""
            if 10 in event or 23 in event:
                more = (names[2, event[10][0]] if 10 in event else
                        event[23][0].decode())
            fields = dict(annotation(a, names) for a in event.get(4, []))
            if 30 in event:
                more = str(event[30][0])
            # events of a type have a number of their own
            assert (52 in event) == (3 in event or 22 in event)
            yield (event[11][0], tracks[event[11][0]], packet[8][0], what,
                   more, fields)
            for field, flow in (47, "send"), (48, "receive"):
                for number in event.get(field, []):
                    assert len(number) == 8 and any(number)
                    yield (event[11][0], tracks[event[11][0]], packet[8][0],
                           flow, number[::-1].hex(), {})


def nanoseconds(text):
    """Microseconds with three decimals, exactly."""
    whole, part = text.split(".")
    assert len(part) == 3
    return int(whole) * 1000 + int(part)


def objects(text):
    """The events of a JSON trace."""
    names, pairs = {}, {}
    trace = json.loads(text, parse_float=str)
    for event in trace["traceEvents"]:
        key, name = event["tid"], event.get("name", "")
        if event["ph"] == "M":
            assert key not in names
            names[key] = event["args"]["name"]
            continue
        time = nanoseconds(event["ts"])
        track = [names[event["pid"]]]
        fields = event.get("args", {})
        if event["ph"] == "C":
            value, = fields.values()
            yield key, track + [name], time, "counter", str(value), {}
            continue
        track.append(names[key])
        if event["ph"] == "X":
            yield key, track, time, "begin", name, fields
            yield key, track, time + nanoseconds(event["dur"]), "end", "", {}
            continue
        if event["ph"] in "sf":
            # bound to the range around it, and paired by these three
            assert (event.get("bp") == "e") == (event["ph"] == "f")
            pair = event["name"], event["cat"]
            assert pairs.setdefault(event["id"], pair) == pair
            yield (key, track, time, "send" if event["ph"] == "s" else
                   "receive", event["id"][2:].rjust(16, "0"), {})
            continue
        assert (event["ph"] == "E") == ("cname" not in event)
        what = {"B": "begin", "E": "end", "i": "instant"}[event["ph"]]
        yield key, track, time, what, name, fields


def line(track, time, what, more, fields):
    """An event as it is printed."""
    shown = " ".join(f"{k}={v}" for k, v in fields.items())
    return f"{'/'.join(track)} | {time} | {what} | {more} | {shown}"


def main():
    """Everything."""
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    events = objects(data) if data[:1] == b"{" else packets(data)
    depth, last = {}, {}
    for key, track, time, what, more, fields in events:
        if what in ("begin", "end"):
            # of one track they are in order, so that they nest
            assert time >= last.get(key, 0), (track, time)
            last[key] = time
            depth[key] = depth.get(key, 0) + (1 if what == "begin" else -1)
            assert depth[key] >= 0, (track, time)
        print(line(track, time, what, more, fields))
    print("open:", sum(depth.values()))


if __name__ == "__main__":
    main()
