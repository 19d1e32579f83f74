# SPDX-License-Identifier: BSD-2-Clause
"""Timelines as telcat(1) describes them, made from other outputs of telcat.

timeline_model.py FORMAT TRACE TEXT JSON NAME: compares a trace with the log that
it is of, except for counters of live bytes, and prints how many lines are the same.
TEXT has the types of the log, JSON its events in order, with their times as -T ns
has them; NAME is how it is called.
"""

import collections
import json
import re
import struct
import sys

import perfetto

SHOWN_BLOCKS = {"create-pool", "destroy-pool", "describe-pool", "end-process",
                "create-buffer", "destroy-buffer"}
HIDDEN_BLOCKS = {"alloc", "free", "realloc", "new", "delete", "free-sized",
                 "delete-sized", "reserve", "commit", "end-thread"}
HIDDEN = {"init", "sync", "intern", "label", "frame", "label-pool"}
MESSAGES = (("Deliver", "Retrieve"), ("Send", "Receive"), ("Send", "Recv"),
            ("send", "receive"), ("send", "recv"))
MEMORY = ("Alloc", "Free"), ("Map", "Unmap")
KEYS = ("ChannelId", "MessageTag", "channel", "message", "id", "key", "tag",
        "seq")


def words(line):
    """What a header line has behind its first word, quotes taken off."""
    return [json.loads(w) if w[0] == '"' else w
            for w in re.findall(r'"(?:[^"\\]|\\.)*"|[^ ]+', line)][2:]


class Type:
    def __init__(self, name, code, kind, *fields):
        self.name, self.kind, self.code = name, kind, int(code, 0)
        self.fields = {}
        for field in fields:
            field, datatype, *more = field.split(":")
            self.fields[field.rstrip("?")] = datatype, more
        self.role, self.partner, self.keys = "", None, []

    def number(self, name):
        return name in self.fields and self.fields[name][0] not in (
            "string", "double") and name

    def first_string(self, first):
        names = list(self.fields)
        return next((n for n in (names[:1] if first else names)
                     if self.fields[n][0] == "string"), None)


def read_types(lines):
    types = {}
    for line in lines:
        if line.startswith("# type: "):
            one = Type(*words(line))
            types.setdefault(one.name, one)
        elif line.startswith("# role: "):
            name, role, *more = words(line)
            t = types[name]
            t.role, t.keys = role, more
            if role == "start":
                t.partner, *t.keys = more
            if t.keys and t.keys[-1].startswith("as="):
                t.partner = t.keys.pop()[3:]
    return types


def parts(name):
    """The places where a word of a name starts, and its end."""
    return [i for i in range(len(name) + 1)
            if i == len(name) or name[i].isupper() and name[i].isascii() or
            name[i] == "_" or i > 0 and name[i - 1] == "_"]


def shared_name(start, end, kind):
    """The name of a range; and whether it is only that of the type."""
    head = max((i for i in parts(start) if start[:i] == end[:i]), default=0)
    common = len(start) if start == end[:len(start)] else next(
        i for i in range(len(start)) if start[:i + 1] != end[:i + 1])
    room = min(len(start), len(end)) - common
    tails = [i for i in parts(start)
             if len(start) - i <= room and end.endswith(start[i:])]
    tail = start[min(tails):] if tails else ""
    if tail.startswith("_") and (head == 0 or start[head - 1] == "_"):
        tail = tail[1:]
    if tail:
        return f"{start[:head]}{tail}" if head else f"{kind} {tail}"
    return start[:head].removesuffix("_") or start


class Timeline:
    def __init__(self, form, header, name):
        self.form, self.types, self.log = form, read_types(header), name
        self.open, self.flows, self.lines = {}, {}, []
        self.frames = {}
        self.first, self.last, self.blocks = None, 0, {}
        self.nested = any("." in f for t in self.types.values()
                          for f in t.fields)
        self.send, self.receive = {}, {}
        for t in self.types.values():
            if not t.role:
                self.find_message(t)

    def find_message(self, t):
        for send, receive in MESSAGES:
            for mine, other in (send, receive), (receive, send):
                found = self.types.get(t.name.replace(mine, other, 1))
                if mine in t.name and found and found.kind == t.kind:
                    keys = [k for k in KEYS if t.number(k) and
                            found.number(k)][:4]
                    if keys and mine == send:
                        self.send[t.name] = t.name, keys
                    elif keys:
                        self.receive[t.name] = found.name, keys
                    return

    def put(self, track, time, what, more, fields=None):
        if self.form == "chrome" and len(track) > 2:
            # a track has no other than its process above it
            above = track[1].startswith(("cpu ", "thread ")) * f"{track[1]} "
            track = track[0], above + track[2]
        self.lines.append(perfetto.line(track, time, what, more, fields or {}))

    def end(self, track, time, names):
        """A range ends, and says its name again in JSON."""
        name = names.pop()
        self.put(track, time, "end", name if self.form == "chrome" else "")

    def shown(self, event, t):
        fields, labels = event["fields"], event.get("labels", {})
        labels = labels | {k: fields[k][0] for k in event["stacks"] if fields[k]}
        out = {}
        for name, (datatype, _) in t.fields.items():
            value = fields.get(name)
            if value is None or name.endswith(".label"):
                continue
            if name in event["stacks"]:
                value = event["stacks"][name]
            if self.form == "perfetto":
                value = self.annotation(datatype, value, labels.get(name))
            elif isinstance(value, float):
                value = json.dumps(value)
            out[name] = value
        if self.form == "chrome":
            out |= {f"label of {k}": v for k, v in labels.items()}
        return out

    def stack(self, names):
        """The number of the innermost frame; frames as they occur, callers first."""
        number = 0
        for name in reversed(names):
            number = self.frames.setdefault((number, name), len(self.frames) + 1)
        return number

    @staticmethod
    def annotation(datatype, value, label):
        if datatype in ("string", "list"):
            return value if isinstance(value, str) else json.dumps(
                value, separators=(",", ":"))
        if datatype == "double":
            return struct.pack("<d", float(value))
        value = int(value, 0) if isinstance(value, str) else int(value)
        if label is None:
            return value % 2**64
        return f"{label[:512]} ({value if datatype == 'signed' else hex(value)})"

    def context(self, event, t, span):
        """The track of an event."""
        fields = event["fields"]
        thread = t.number("tid") or "tid" not in t.fields and t.number("thread")
        if t.number("cpu") and (span or not thread):
            return [self.log, f"cpu {fields['cpu']}"]
        if thread:
            label = event.get("labels", {}).get(thread)
            return [self.log, f"thread {fields[thread] or 0}" +
                    (f" {label[:256]}" if label else "")]
        return [self.log, t.kind]

    def name(self, event, t, name, string, label=None):
        more = (string and event["fields"].get(string)) or label
        return f"{name} {more[:256]}" if more else name

    def start(self, event, t, time):
        fields, labels = event["fields"], event.get("labels", {})
        name = shared_name(t.name, t.partner, t.kind)
        string = t.first_string(False)
        label = next((labels[k] for k in t.keys if k in labels and
                      k not in ("tid", "thread", "pid", "process")), None)
        alone = not any(0 < i and t.name[:i] == t.partner[:i]
                        for i in parts(t.name)) and string
        full = self.name(event, t, name, string, label)
        if alone and fields.get(string):
            name = full = fields[string][:512]
        key = t.name, *(str(fields[k]) for k in t.keys)
        track, names = self.open.setdefault(
            key, ([*self.context(event, t, False), name], []))
        names.append(full)
        self.put(track, time, "begin", full, self.shown(event, t))

    def find(self, event, t):
        """The range that an end or a middle belongs to."""
        end = t.partner or t.name
        for start in self.types.values():
            if start.role == "start" and start.partner == end:
                key = start.name, *(str(event["fields"][k]) for k in t.keys)
                if key in self.open:
                    return key
        return None

    def span(self, event, t, time):
        fields, labels = event["fields"], event.get("labels", {})
        context = self.context(event, t, True)
        thread = t.number("tid") or "tid" not in t.fields and t.number("thread")
        string = t.first_string(True)
        name = self.name(event, t, t.name, string)
        if thread:
            name = labels.get(thread, f"thread {fields[thread]}")[:512]
        end = time + max(int(fields["duration"] or 0), 0)
        tracks = [([*context, t.name], name)]
        if thread and t.number("cpu"):
            label = labels.get(thread)
            tracks.append((["threads", f"thread {fields[thread]}" +
                            (f" {label[:256]}" if label else ""), t.name],
                           f"cpu {fields['cpu']}"))
        for track, what in tracks:
            self.put(track, time, "begin", what, self.shown(event, t))
            self.put(track, end, "end", "")
        names = list(t.fields)
        for f in names[names.index("duration") + 1:] if not self.nested else []:
            if t.fields[f][0] == "unsigned" and (
                    not t.fields[f][1] or t.fields[f][1] == ["64"]):
                self.put([*context, f], time, "counter",
                         str(min(int(fields[f]), 2**63 - 1)))

    def instant(self, event, t, time):
        track = self.context(event, t, False)
        string = t.first_string(True)
        name = ((string and event["fields"].get(string)) or t.name)[:512]
        key = t.role == "middle" and self.find(event, t)
        if key:
            track = self.open[key][0]
        sends, receives = self.send.get(t.name), self.receive.get(t.name)
        flow = None
        if sends or receives:
            sender, keys = sends or receives
            queue = self.flows.setdefault(
                (sender, *(str(event["fields"][k]) for k in keys)), [])
            if sends:
                flow = "send"
                queue.append(1)
            elif queue:
                flow = "receive"
                queue.pop()
        if flow and self.form == "chrome":
            self.put(track, time, "begin", name, self.shown(event, t))
            self.put(track, time + 1, "end", "")
        else:
            self.put(track, time, "instant", name, self.shown(event, t))
        if flow:
            self.put(track, time, flow, "")

    def find_memory(self, t):
        """(1: takes memory, -1: gives it back; counter; key) of a type."""
        for words in MEMORY:
            for at, sign in enumerate((1, -1)):
                head = t.name.removesuffix(words[at])
                if head not in (t.name, ""):
                    take, give = (self.types.get(head + w) for w in words)
                    break
            else:
                continue
            break
        else:
            return None
        if not (take and give and take.number("base") and (
                take.number("size") or take.number("limit"))):
            return None
        key = None
        if not give.number("size") and not (give.number("base") and
                                            give.number("limit")):
            key = "base" if give.number("base") else head.lower()
            if not (t.number(key) and give.number(key)):
                return None
        return sign, f"{head[:32]} bytes", key

    def memory(self, event, t, time):
        """Memory that one type takes, and another gives back."""
        sign, name, key = self.find_memory(t) or (0, "", None)
        if sign == 0:
            return
        fields = {k: int(str(v), 0) for k, v in event["fields"].items()
                  if t.number(k)}
        size = fields.get("size", fields.get("limit", 0) -
                          fields.get("base", 0))
        size = size if 0 <= size <= 2**47 else 0
        blocks = self.blocks.setdefault(name, {})
        if key is None:
            blocks[None] = max(blocks.get(None, 0) + sign * size, 0)
        elif sign > 0:
            blocks[fields[key]] = size
        else:
            blocks.pop(fields[key], 0)
        self.put([self.log, name], time, "counter", str(sum(blocks.values())))

    def take(self, event):
        t, time = self.types.get(event["type"]), int(event["time"])
        if self.first is None:
            self.first = time
        time = max(time - self.first, 0)
        self.last = max(self.last, time)
        if t is None:
            t = Type(event["type"], "0", event["kind"])
        event["stacks"] = {k: self.stack(v) for k, v in event["fields"].items()
                           if isinstance(v, list) and k in t.fields and
                           t.fields[k][0] != "list"}
        if t.role in HIDDEN_BLOCKS or t.role in HIDDEN or t.name == "CpuSpeed":
            return
        if not t.role:
            self.memory(event, t, time)
        if t.role == "start":
            self.start(event, t, time)
        elif t.role == "finish":
            key = self.find(event, t)
            if key:
                track, names = self.open[key]
                self.end(track, time, names)
                if not names:
                    del self.open[key]
        elif t.number("duration") and t.role not in SHOWN_BLOCKS:
            self.span(event, t, time)
        else:
            self.instant(event, t, time)


def flat(fields, prefix=""):
    for name, value in fields.items():
        if isinstance(value, dict):
            yield from flat(value, prefix + name + ".")
        else:
            yield prefix + name, value


def main():
    form, trace, text, events, name = sys.argv[1:]
    with open(text, encoding="utf-8") as file:
        timeline = Timeline(form, file.read().splitlines(), name)
    with open(events, encoding="utf-8") as file:
        for event in map(json.loads, file):
            event["fields"] = dict(flat(event["fields"]))
            timeline.take(event)
    for track, names in timeline.open.values():
        while form == "chrome" and names:
            timeline.end(track, timeline.last, names)
    with open(trace, "rb") as file:
        data = file.read()
    got = collections.Counter()
    for _, track, *line in (perfetto.packets(data) if form == "perfetto" else
                            perfetto.objects(data)):
        if line[1] in ("send", "receive"):
            line[2] = ""
        if not track[-1].startswith(("live bytes", "frees of blocks from")):
            got[perfetto.line(track, *line)] += 1
    want = collections.Counter(timeline.lines)
    for line in sorted(want - got):
        print("missing:", line)
    for line in sorted(got - want):
        print("not expected:", line)
    print(want.total(), "lines")
    sys.exit(want != got)


if __name__ == "__main__":
    main()
