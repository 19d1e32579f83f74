# SPDX-License-Identifier: BSD-2-Clause
"""Compares telstat's dur() and queue() of random messages with a model.

    queue_model.py SEED

A list for each channel: dur takes the last start from it, queue the first.  A
start for which there is no room stays in the list, and its end gives no length.
Of one whose channel has no start with room nothing is known, as in telstat(1).
"""
import csv
import io
import random
import subprocess
import sys

rng = random.Random(int(sys.argv[1]))


def model(events, word, room):
    waiting, count = {}, 0
    lengths, got = [], {"open": 0, "orphan": 0, "over_limit": 0, "nested": 0}
    for clock, name, channel in events:
        line = waiting.setdefault(channel, [])
        real = [s for s in line if s is not None]
        if name == "Send":
            # behind, or above, one without room there is none
            last_lost = bool(line) and line[-1] is None
            held = count + sum(1 for c in waiting.values()
                               if word == "queue" and c and c[0] is None)
            if held >= room or last_lost:
                got["over_limit"] += 1
                if line:
                    line.append(None)
                continue
            got["nested"] += word == "dur" and bool(real)
            line.append(clock)
            count += 1
        elif not line:
            got["orphan"] += 1
        else:
            start = line.pop(0 if word == "queue" else -1)
            if start is not None:
                lengths.append(clock - start)
                count -= 1
    got["open"] = count
    return lengths, got


def telstat(path, word, room):
    spec = f"{word}(Send,Receive,channel)"
    out = subprocess.run(
        ["telstat", "-f", "csv", "--max-open", str(room), "-s", f"x={spec}",
         "-s", f"y=log2({spec})", path], check=True, capture_output=True,
        text=True).stdout
    rows = list(csv.DictReader(io.StringIO(out)))
    return ({r["stat"]: r["value"] for r in rows if r["class"] == "x"},
            {int(r["lo"]): int(r["value"]) for r in rows
             if r["class"] == "y" and r["stat"] == "bucket"})


over_limit = 0
for turn in range(40):
    clock, events = 0, []
    for _ in range(rng.choice([5, 60, 400])):
        clock += rng.randint(1, 5000)
        events.append((clock, rng.choice(["Send", "Send", "Receive"])
                       if rng.random() < 0.4 else
                       rng.choice(["Send", "Receive"]), rng.randint(1, 4)))
    with open("messages.txt", "w") as f:
        f.write("# teltools text 1\n# format: m\n# tick rate: 1000000000.0\n"
                "# type: Send 1 M channel:unsigned\n"
                "# type: Receive 2 M channel:unsigned\n")
        for clock, name, channel in events:
            f.write(f"{clock:016X} {name} channel={channel}\n")
    for word in ("dur", "queue"):
        room = rng.choice([3, 7, 1000])
        lengths, want = model(events, word, room)
        got, buckets = telstat("messages.txt", word, room)
        want["pairs"] = len(lengths)
        if lengths:
            want.update(sum=sum(lengths), min=min(lengths), max=max(lengths))
        over_limit += want["over_limit"]
        for key, value in want.items():
            if int(got.get(key) or 0) != value:
                sys.exit(f"{turn} {word} of {room}: {key}: "
                         f"got {got.get(key)}, want {value}; {got}")
        sums = {}
        for n in lengths:
            low = 0 if n == 0 else 1 << n.bit_length() - 1
            sums[low] = sums.get(low, 0) + 1
        if buckets != sums:
            sys.exit(f"{turn} {word}: got {buckets}, want {sums}")
if over_limit < 100:
    sys.exit("too few without room")
