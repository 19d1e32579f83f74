# SPDX-License-Identifier: BSD-2-Clause
"""Counts the instructions that the commands take for an event.

instructions.py FOLDER [--save]: FOLDER/seed.log, and a trace as text, are
repeated to a short log and a longer one; the difference of both, as valgrind's callgrind counts it, is
that of the events alone.  It is compared with tests/bench/instructions.tsv,
which --save writes: where times are noisy, these numbers are not.
"""

import os
import re
import shutil
import subprocess
import sys

TABLE = os.path.join(os.path.dirname(__file__), "instructions.tsv")
SHORT, LONG = 1, 5  # times the seed
TRACE = os.path.join(os.path.dirname(__file__), os.pardir, "data", "alloc",
                     "surfaceflinger.android.zst")
TRACES = 40  # times the trace, for one seed
RECORDING = 6_000_000  # bytes of a recording, in chunks of 12 MB
MARGIN = 0.05  # another compiler may take as many more

# The name of a row, and its command with LOG for the log.
ROWS = [
    ("telstat", "telstat -j 1 LOG"),
    ("telfilter -c", "telfilter -j 1 -c LOG"),
    ("telfilter -k Pool,Seg", "telfilter -j 1 -k Pool,Seg LOG"),
    ("telfilter -w, 3 tests", "telfilter -j 1 -w "
     "'rank == 1 && ref > 0x1000 && ss != 0' LOG"),
    ("telfilter -c -w, a sum", "telfilter -j 1 -c -w 'size * 2 > 300' LOG"),
    ("telfilter -c -w, a quotient", "telfilter -j 1 -c "
     "-w 'size / 24 > 3' LOG"),
    ("telfilter -c -w, a label", "telfilter -j 1 -c "
     "-w 'label ~ \"C.n\"' LOG"),
    ("telfilter -c -w, a time", "telfilter -j 1 -c -w 'time > 1s' LOG"),
    ("telstat, histogram", "telstat -j 1 "
     "-s 'h=log2(size) if name == PoolAlloc' LOG"),
    ("telstat, histogram of all", "telstat -j 1 -s 'h=log2(size)' LOG"),
    ("telstat, tally", "telstat -j 1 -s 't=tally(pool,4k)' LOG"),
    ("telcat, text", "telcat -j 1 LOG"),
    ("telcat -f csv", "telcat -j 1 -f csv LOG"),
    ("telcat -f json", "telcat -j 1 -f json LOG"),
    ("telcat -f sql", "telcat -j 1 -f sql LOG"),
    ("telcat -f tel", "telcat -j 1 -f tel LOG"),
    ("telstat of .tel", "telstat -j 1 LOG.tel"),
    ("telfilter -c of .tel", "telfilter -j 1 -c LOG.tel"),
    ("telfilter -k of .tel", "telfilter -j 1 -k Pool,Seg LOG.tel"),
    ("telfilter -t of .tel, all", "telfilter -j 1 -t 0x1, LOG.tel"),
    ("telcat, text of .tel", "telcat -j 1 LOG.tel"),
    ("telcat -T s", "telcat -j 1 -T s LOG"),
    ("telfilter -c of a trace", "telfilter -j 1 -c LOG.trace"),
    ("telstat of a trace", "telstat -j 1 LOG.trace"),
    ("telcat of a trace", "telcat -j 1 LOG.trace"),
    ("telcat -c of a recording", "telcat -j 1 -c LOG.jfr"),
    ("telcat of a recording", "telcat -j 1 LOG.jfr"),
]


def count(command, out):
    """The instructions of a command."""
    found = subprocess.run(
        ["sh", "-c", "exec valgrind --tool=callgrind "
         f"--callgrind-out-file={out} {command}"],
        check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True)
    match = re.search(r"Collected : (\d+)", found.stderr)
    if found.returncode != 0 or match is None:
        sys.exit(f"bench: status {found.returncode}: {command}")
    return int(match.group(1))


def count_events(log):
    """The events of a log."""
    return int(subprocess.run(["telfilter", "-c", log], check=True,
                              stdout=subprocess.PIPE).stdout)


def main():
    """Everything."""
    folder = sys.argv[1]
    if shutil.which("valgrind") is None:
        print("\nno valgrind: instructions are not counted")
        return
    with open(os.path.join(folder, "seed.log"), "rb") as file:
        seed = file.read()
    trace = subprocess.run(["zstd", "-dc", TRACE], check=True,
                           stdout=subprocess.PIPE).stdout
    logs, events, operations, recorded = [], [], [], []
    for times in SHORT, LONG:
        logs.append(os.path.join(folder, f"times{times}.log"))
        with open(logs[-1], "wb") as file:
            file.write(seed * times)
        subprocess.run(["sh", "-c", f"telcat -f tel {logs[-1]} >"
                        f"{logs[-1]}.tel"], check=True)
        with open(logs[-1] + ".trace", "wb") as file:
            file.write(trace * (times * TRACES))
        with open(logs[-1] + ".jfr", "wb") as file:
            subprocess.run(["python3", os.path.join(
                os.path.dirname(TABLE), "jfr_make.py"), str(times * RECORDING)],
                           stdout=file, check=True)
        recorded.append(count_events(logs[-1] + ".jfr"))
        events.append(count_events(logs[-1]))
        operations.append(count_events(logs[-1] + ".trace"))
    known = {}
    if os.path.exists(TABLE):
        with open(TABLE, encoding="ascii") as file:
            known = dict(line.rstrip("\n").split("\t") for line in file
                         if not line.startswith("#"))
    print(f"\n{'instructions an event':26} {'now':>8} {'table':>8}")
    lines = ["# SPDX-License-Identifier: BSD-2-Clause\n"]
    for what, command in ROWS:
        short, long = (count(command.replace("LOG", log),
                             os.path.join(folder, "callgrind.out"))
                       for log in logs)
        of = operations if "trace" in command else \
            recorded if "jfr" in command else events
        now = (long - short) / (of[1] - of[0])
        table = float(known.get(what, "inf"))
        print(f"{what:26} {now:8.0f} {table:8.0f}"
              f"{'' if now <= table * (1 + MARGIN) else '  over'}",
              flush=True)
        lines.append(f"{what}\t{now:.0f}\n")
    if "--save" in sys.argv[2:]:
        with open(TABLE, "w", encoding="ascii") as file:
            file.writelines(lines)


if __name__ == "__main__":
    main()
