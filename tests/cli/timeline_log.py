# SPDX-License-Identifier: BSD-2-Clause
"""Prints a log, for timeline_model.py, whose types have names and fields that a
timeline tells apart, and values of each data type."""

import itertools

RANGES = (
    ("_Begin", "_End"), ("Start", "Stop"), ("gcstart", "gcstop"),
    ("XBegin", "XEnd"), ("A_begin_b", "A_end_b"), ("StartX", "StopX"),
    ("irq_entry", "irq_exit"), ("a__begin", "a__end"), ("enter_x", "exit_x"),
    ("Enter__y", "Exit__y"), ("B__begin__z", "B__end__z"), ("Same", "SameEnd"),
    ("LongBegin" + 60 * "x" + "Y", "LongEnd" + 60 * "x" + "Y"))
LONG = "ManyWordsOfANameThatIsLongerThanThereIsRoomFor"
MEMORY = (
    ("XAlloc", "base size", "XFree", "base"),
    ("YAlloc", "base limit", "YFree", "base limit"),
    ("ZMap", "z base size", "ZUnmap", "z"), ("WMap", "base", "WUnmap", "base"),
    ("VMap", "base size", "VUnmap", "size"),
    ("UAlloc", "base size", "UFree", "u"),
    ("TAlloc", "t base limit", "TFree", "T"),
    ("Alloc", "base size", "Free", "base"),
    ("SegAlloc", "seg base size", "SegFree", "seg"),
    (LONG + "Alloc", "base size", LONG + "Free", "base"),
    ("QMap", "base size", "QFree", "base"))
TEXT = "".join(chr(97 + i % 26) for i in range(600))
# Types, what is like their fields, and values of them.
OTHERS = (
    ("V", "Values u:unsigned s:signed:16 b:boolean d:double t:string x:set "
     "a:address p:pointer l:list:unsigned:8 q:list:string m?:unsigned n?:string",
     'u=18446744073709551615 s=-32768 b=true d=-0.5 t="\\xc3\\xa9\\"\\n" x=0xff '
     'a=0xffffffffffffffff p=0x10["named"] l=[7,255] q=["a","b\\"c"] m=5 n="y"',
     'u=9007199254740993 s=5 b=false d=nan t="" x=0x0 a=0x10["named"] p=0x0 '
     'l=[] q=[]'),
    ("V", "Named t:string tid:signed", 't="by this" tid=-1["me"]',
     't="" tid=7', 't="x" tid=7["other"]', f't="{TEXT}" tid=8["{TEXT}"]'),
    ("V", "Late u:unsigned t:string", 'u=1 t="not by this"'),
    ("C", "OfCpu cpu:unsigned", "cpu=0", "cpu=3"),
    ("C", "OfThread thread:unsigned cpu:unsigned", "thread=0 cpu=4",
     "thread=2 cpu=5"),
    ("C", "OfBoth cpu:unsigned tid:unsigned thread:unsigned",
     "cpu=1 tid=8 thread=9"),
    ("C", "OfNone cpu:string tid:double thread:unsigned",
     'cpu="1" tid=2.5 thread=3'),
    ("S", "Span duration:unsigned", "duration=5", "duration=0"),
    ("S", "Named2 t:string duration:unsigned", 't="" duration=9',
     't="what" duration=9'),
    ("S", "Back duration:signed", "duration=-7", "duration=7"),
    ("S", "NoSpan duration:double", "duration=1.5"),
    ("S", "OfThreads tid:unsigned duration:unsigned n:unsigned s:signed "
     "h:unsigned:32 f:double", "tid=1 duration=100 n=3 s=4 h=5 f=0.5",
     "tid=1 duration=2 n=18446744073709551615 s=-4 h=6 f=1.5",
     'tid=2["two"] duration=1 n=0 s=0 h=0 f=0.0'),
    ("S", "OnCpu before:unsigned cpu:unsigned duration:unsigned tid:unsigned",
     "before=1 cpu=0 duration=1 tid=1", 'before=2 cpu=1 duration=3 tid=3["x"]',
     "before=3 cpu=1 duration=3 tid=1"),
    ("S", "OfNames tid:unsigned duration:unsigned x:unsigned:8",
     f'tid=5["{TEXT}"] duration=1 x=0'),
    ("S", "CpuOnly cpu:unsigned duration:unsigned", "cpu=2 duration=8"))
WORDS = (("Deliver", "Retrieve"), ("Send", "Receive"), ("MySend2", "MyRecv2"),
         ("send", "receive"), ("x_send", "x_recv"))
KEYS = ("ChannelId", "MessageTag", "channel", "message", "id", "key", "tag",
        "seq")
events, codes = [], itertools.count()


def event(*what):
    events.append(f"{3 * len(events) + 5:016X} " + " ".join(what))


def define(name, kind, *fields):
    print(f"# type: {name} {next(codes)} {kind}", *fields)


def ranges():
    for start, end in RANGES:
        define(start, "K", "key:unsigned", "w?:string")
        define(end, "K", "key:unsigned")
        print(f"# role: {start} start {end} key\n# role: {end} finish key")
        event(start, "key=1")
        event(end, "key=1")
        event(start, "key=1", 'w="\\xc3\\xa9 q"')
        event(start, "key=2", 'w=""')
        event(start, "key=4", f'w="{TEXT}"')
        event(end, "key=4")
        event(end, "key=1")
        event(end, "key=3")
    # open twice, another end, and what is in the middle
    define("AbortX", "K", "key:unsigned")
    define("AtX", "K", "key:unsigned")
    print("# role: AbortX finish key as=XEnd\n# role: AtX middle key as=XEnd")
    for what in ("AtX key=9", "XBegin key=9", 'XBegin key=9 w="in"', "AtX key=9",
                 "AbortX key=9", "XEnd key=9", "AtX key=9", "XEnd key=9"):
        event(what)


def memory():
    for pair in MEMORY:
        def one(at, number, size, pair=pair):
            event(pair[at], *(
                f"size={size}" if f == "size" else
                f"{f}=0x{number + size * (f == 'limit'):x}"
                for f in pair[at + 1].split()))
        for at in (0, 2):
            define(pair[at], "M", *(
                f + (":unsigned" if f == "size" else ":address")
                for f in pair[at + 1].split()))
        for values in ((2, 16, 10), (0, 0, 100), (0, 256, 2**62), (0, 512, 7),
                       (0, 512, 9), (2, 0, 60), (2, 512, 9), (2, 512, 9)):
            one(*values)


def messages():
    for i, pair in enumerate(WORDS):
        names = [f"{w}Hook" if w[0].isupper() else w for w in pair]
        for name, keys in zip(names, (KEYS[i:i + 5], KEYS[i + 1:])):
            define(name, f"W{i}", *(f"{k}:unsigned" for k in keys))
        for way, key in ((1, 1), (0, 1), (0, 1), (0, 2), (1, 1), (1, 2), (1, 1),
                         (1, 2)):
            keys = KEYS[i + 1:] if way else KEYS[i:i + 5]
            event(names[way], *(f"{k}={key}" for k in keys))
    define("Send", "Other", "x:unsigned")
    define("ReceiveOther", "Another", "id:unsigned")
    define("SendOther", "Other", "id:unsigned")
    for what in ("Send x=1", "SendOther id=1", "ReceiveOther id=1"):
        event(what)


print("# teltools text 1\n# format: t\n# version: 1\n# tick rate: 1000000000")
ranges()
memory()
messages()
for kind, types, *values in OTHERS:
    define(types.split()[0], kind, *types.split()[1:])
    for value in values:
        event(types.split()[0], value)
print(*events, sep="\n")
