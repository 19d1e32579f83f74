# SPDX-License-Identifier: BSD-2-Clause
"""Each tool with each format of logs and of output, on short logs.

matrix.py TOOL FOLDER: makes the logs in FOLDER, runs TOOL on each, and prints
what is wrong.  Without MATRIX_WHOLE, telcat writes each log in every second
format of output, and the next log in the others.  An output either has all events of the log, or is refused for
the reason that its format is for other logs.
"""

import csv
import io
import json
import os
import re
import sqlite3
import subprocess
import sys

DATA = os.path.join(os.environ["TEL_TOP"], "tests", "data")
# A log of each folder of lib/format, and of each of its dialects.
LOGS = {
    "mps": "mps/1.118.0-lii6gc-poolncv.log.zst",
    "mps-1.111": "mps/1.111.0-lii6gc-poolncv.log.zst",
    "mps-32": "mps/1.114.0-lii3gc-pools.dump.zst",
    "mps-cnv": "mps/1.118.0-lii6gc-poolncv.cnv.zst",
    "mps-txt": "mps/1.118.0-lii6gc-poolncv.txt.zst",
    "ctf": "ctf/two-pids.ctf.tar.zst", "jfr": "jfr/serial-25.jfr.zst",
    "hpm": "hpm/v2be/HPM.1.startup", "inst": "inst/hfs.out",
    "inst-classes": "inst/cache.inst", "text": "ets/boot.text",
    "ftrace": "ftrace/switches.perf.zst", "ftrace-kernel": "ftrace/hand.trace",
    "alloc-valgrind": "alloc/calls.valgrind.zst",
    "alloc-ltrace": "alloc/calls.ltrace.zst",
    "alloc-mtrace": "alloc/calls.mtrace.zst",
    "alloc-heaptrack": "alloc/sqlite3.heaptrack.zst",
    "alloc-kdump": "alloc/hand.kdump",
    "alloc-logalloc": "alloc/hand.logalloc",
    "alloc-rep": "alloc/short.rep", "alloc-android": "alloc/times.android"}
# How others are made: the log, and the format of telcat.
MADE = {"ets": ("text", "ets"), "tel": ("mps", "tel"),
        "tel-stacks": ("alloc-heaptrack", "tel")}
# Cores are of programs that run: tests/emit/core.bats has some.
ELSEWHERE = ["core"]
OUTPUTS = ["text", "csv", "json", "arrow", "sql", "sqlite", "mpscnv", "mpstxt",
           "tracerpt", "perfetto", "chrome", "folded", "html", "mps", "inst",
           "hpm", "ets", "tel", "tel,lines", "ctf", "ctf2"]
# Text of these has lists and absent fields, which are not read back.
NOT_BACK = ["jfr"]
# An archive of these is not filtered to its own format: a folder is.
FOLDERS = ["ctf"]
REFUSED = re.compile(
    r"the format is for MPS telemetry|is not an MPS release: name one|"
    r"cannot be written as|no selected event is the start or end of a range")
CLASSES = ["count(clock)", "sum(clock)", "mean(clock)", "min(clock)",
           "max(clock)", "var(clock)", "mag(clock)", "magdelta(clock)",
           "growth(clock)", "hist(clock,0,9,3)", "split(clock,0,1,4,8,2)",
           "tally(clock,4)", "log2(clock)", "loglin(clock,10,0,4,10)",
           "quantiles(clock)", "ratio(clock,clock)"]


def run(*command, data=None):
    """Runs a command: status, standard output, standard error."""
    done = subprocess.run(command, input=data, capture_output=True,
                          check=False)
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


def fail(*words):
    """Prints what is wrong."""
    print(*words)


def count(*operands, data=None):
    """The events of a log, as telcat has them."""
    status, out, error = run("telcat", "-q", "-c", *operands, data=data)
    return int(out) if status == 0 else f"status {status}: {error}"


def rows(database):
    """The rows of the tables of types."""
    tables = [name for (name,) in database.execute(
        "select name from sqlite_master where type = 'table'")]
    return sum(database.execute(f'select count(*) from "{t}"').fetchone()[0]
               for t in tables if t.startswith("EVENT_"))


def events_in(form, out, path):
    """How many events an output has; None: it does not say."""
    if form == "json":
        return len([json.loads(line) for line in out.splitlines()])
    if form == "csv":
        lines = list(csv.reader(io.StringIO(out.decode())))
        return sum(line != lines[0] for line in lines)
    if form == "sql":
        database = sqlite3.connect(":memory:")
        database.executescript(out.decode())
        return rows(database)
    if form == "sqlite":
        return rows(sqlite3.connect(path))
    if form == "chrome":
        json.loads(out)
    elif form == "folded" and not re.fullmatch(rb"(.* \d+\n)*", out):
        return "lines that do not end with a number"
    elif form == "html" and not out.rstrip().endswith(b"</html>"):
        return "a page without its end"
    elif form in ("ctf", "ctf2"):
        return count(path)
    elif form in ("arrow", "perfetto") and len(out) < 16:
        return "nothing"
    elif form in ("text", "tel", "tel,lines", "mps", "inst", "hpm", "ets"):
        return count(data=out)
    return None


def try_telcat(name, log, number):
    """Each output has all events, or is refused."""
    step = 1 if "MATRIX_WHOLE" in os.environ else 2
    for form in OUTPUTS[sum(name.encode()) % step::step]:
        path = f"{name}.{form}"
        to = ["-o", path] if form in ("sqlite", "ctf", "ctf2") else []
        status, out, error = run("telcat", "-q", "-f", form, *to, log)
        if status != 0:
            if status != 1 or not REFUSED.search(error):
                fail(name, form, status, error)
            continue
        if form == "text" and name in NOT_BACK:
            continue
        got = events_in(form, out, path)
        if got is not None and got != number:
            fail(name, form, "has", got, "of", number, "events")


def try_telfilter(name, log, number):
    """What is selected is that, in the format of the log and in others."""
    half = number // 2
    status, out, error = run("telfilter", "-q", "-f", "text", "-n", str(half),
                             log)
    if status != 0 or (name not in NOT_BACK and count(data=out) != half):
        fail(name, "-n", half, status, error)
    out = run("telcat", "-q", "-f", "json", log)[1]
    clocks = [int(json.loads(line)["clock"]) for line in out.splitlines()]
    same = clocks.count(min(clocks))
    for form in [], ["-f", "tel"], ["-f", "text"]:
        if (not form and name in FOLDERS) or \
                (form == ["-f", "text"] and name in NOT_BACK):
            continue
        for sign, want in (("==", same), ("!=", number - same)):
            wanted = f"clock {sign} {min(clocks)}"
            status, out, error = run("telfilter", "-q", *form, "-w", wanted,
                                     log)
            # what the selected events refer to comes with them; the clocks of
            # a trace without times are numbers of lines
            lines = name.startswith("alloc") and not form
            kept = run("telfilter", "-q", "-c", "-w",
                       "clock >= 0" if lines else wanted, data=out)[1]
            if status != 0 or (want > 0 and int(kept or -1) != want):
                fail(name, form, wanted, status, kept, "of", want, error)


def try_telstat(name, log, number):
    """The report has all events, in each format, and so have statistics."""
    for form in ("text", "csv", "json", "openmetrics", "svg", "html", "inst"):
        specs = [x for i, c in enumerate(CLASSES)
                 for x in ("-s", f"s{i}={c}")]
        status, out, error = run("telstat", "-q", "-f", form, *specs, log)
        if status != 0:
            fail(name, form, status, error)
        elif form == "json":
            totals = [json.loads(line) for line in out.splitlines()]
            got = [t["events"] for t in totals if t["type"] == "totals"]
            if [int(n) for n in got] != [number]:
                fail(name, form, "has", got, "of", number, "events")
        elif form == "inst":
            open(name + ".saved", "wb").write(out)
            status, out, error = run("telstat", "-q", name + ".saved")
            if status != 0:
                fail(name, "saved and loaded", status, error)
        elif len(out) < 100:
            fail(name, form, "is short:", out)


def try_telreplay(name, log, number):
    """A log of allocations is compiled; any other is refused."""
    kinds = [], ["-f", "csv"], ["-f", "json"], ["-f", "svg"], ["-f", "html"]
    for form in kinds:
        status, out, error = run("telreplay", "-q", "--dry-run", *form, log)
        if name.startswith("alloc") or name == "tel-stacks":
            if status not in (0, 3) or len(out) < 100:
                fail(name, form, status, len(out), error)
        elif status not in (0, 1, 3):
            fail(name, form, status, number, error)


def make_logs():
    """Writes the logs into the folder, and returns their names."""
    logs = {}
    for name, path in LOGS.items():
        logs[name] = os.path.join(DATA, path)
    for name, (log, form) in MADE.items():
        status, out, error = run("telcat", "-q", "-f", form, logs[log])
        if status != 0:
            fail(name, status, error)
        logs[name] = name + ".log"
        open(logs[name], "wb").write(out)
    return logs


def main():
    os.chdir(sys.argv[2])
    formats = os.listdir(os.path.join(os.environ["TEL_TOP"], "lib", "format"))
    logs = make_logs()
    for form in formats:
        if "." in form or form in ELSEWHERE:
            continue
        if not any(name.split("-")[0] == form for name in logs):
            fail("no log of the format", form)
    listed = run("telcat", "--help=table")[1].decode().splitlines()
    words = [line.split("\t")[4] for line in listed if line.startswith("f\t")]
    for form in words[0].split():
        if form not in OUTPUTS:
            fail("no run of the output format", form)
    for name, log in logs.items():
        number = count(log)
        if not isinstance(number, int) or number == 0:
            fail(name, number)
        else:
            globals()["try_" + sys.argv[1]](name, log, number)


main()
