# SPDX-License-Identifier: BSD-2-Clause
"""What each event of a log says of the events before it: a model of start.x,
duration, bytes, live, allocates and frees, from tel-filter(7), that shares
nothing with the tools.

    history_model.py SEED EVENTS >LOG 2>EXPECTED

Writes a random log as text, and for each event the values as JSON.
"""

import json
import random
import sys

HEADER = """# teltools text 1
# tick rate: 1000000000
# type: get 1 Alloc at:address size:unsigned pid:unsigned who:unsigned
# type: many 2 Alloc at:address size:unsigned n:unsigned pid:unsigned \
who:unsigned
# type: put 3 Alloc at:address pid:unsigned who:unsigned
# type: change 4 Alloc at:address old:address size:unsigned pid:unsigned \
who:unsigned
# type: open 5 Range key:unsigned name:string
# type: part 6 Range key:unsigned
# type: close 7 Range key:unsigned
# type: note 8 Other who:unsigned
# role: get alloc at size process=pid thread=who
# role: many alloc at size count=n process=pid thread=who
# role: put free at process=pid thread=who
# role: change realloc at size old=old process=pid thread=who
# role: open start close key
# role: close finish key
# role: part middle key as=close"""


class Model:
    """Blocks by process and address, open ranges by key."""

    def __init__(self):
        self.blocks, self.ranges, self.live, self.any = {}, {}, 0, False

    def take(self, index, clock, name, f):
        """Returns what an event says; the start is its index and clock."""
        said = {"allocates": 0, "frees": 0, "extents": []}
        start = None

        def free(address):
            nonlocal start
            said["frees"] = 1
            if (f["pid"], address) in self.blocks:
                start, size = self.blocks.pop((f["pid"], address))
                said["bytes"] = size
                said["extents"].append((address, size))
                self.live -= size

        if name in ("get", "many", "put", "change"):
            self.any = True
        if name == "put" and f["at"]:
            free(f["at"])
        if name == "change" and f["old"] and (f["at"] or not f["size"]):
            free(f["old"])
        if name in ("get", "many", "change") and f["at"]:
            size = f["size"] * f.get("n", 1)
            self.live -= self.blocks.pop((f["pid"], f["at"]), (0, 0))[1]
            self.blocks[f["pid"], f["at"]] = (index, clock, f["who"]), size
            self.live += size
            said["extents"].append((f["at"], size))
            said.update(allocates=1, bytes=size)
        if name == "open":
            self.ranges.setdefault(f["key"], []).append((index, clock, None))
        if name in ("part", "close") and self.ranges.get(f["key"]):
            start = self.ranges[f["key"]][-1]
            if name == "close":
                self.ranges[f["key"]].pop()
        if start is not None:
            said.update(start=start[0], duration=clock - start[1])
            if start[2] is not None:
                said["by"] = start[2]
        if self.any:
            said["live"] = self.live
        # what -a finds: fields, and blocks that are allocated or freed
        said["extents"] += [(f[x], 1) for x in ("at", "old") if x in f]
        return said


def random_event(rng):
    name = rng.choice(["get"] * 4 + ["many", "put", "put", "change", "open",
                                     "open", "part", "close", "note"])
    f = {"at": rng.choice([0] + [4096 * i for i in range(1, 12)]),
         "old": rng.choice([0] + [4096 * i for i in range(1, 12)]),
         "size": rng.randrange(0, 5000), "n": rng.randrange(0, 9),
         "pid": rng.randrange(1, 3), "who": rng.randrange(1, 4),
         "key": rng.randrange(3), "name": "a b"}
    fields = {"get": "at size pid who", "many": "at size n pid who",
              "put": "at pid who", "change": "at old size pid who",
              "open": "key name", "part": "key", "close": "key",
              "note": "who"}[name].split()
    return name, {field: f[field] for field in fields}


def main():
    rng, model, clock = random.Random(int(sys.argv[1])), Model(), 1000
    print(HEADER)
    for index in range(int(sys.argv[2])):
        clock += rng.randrange(3)
        name, f = random_event(rng)
        print(f"{clock:016X}", name, *(
            f'{k}="{v}"' if k == "name" else
            f"{k}={v:#x}" if k in ("at", "old") else f"{k}={v}"
            for k, v in f.items()))
        print(json.dumps({"index": index, **model.take(index, clock, name, f)}),
              file=sys.stderr)


if __name__ == "__main__":
    main()
