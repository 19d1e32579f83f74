# SPDX-License-Identifier: BSD-2-Clause
"""The same work by teltools and by tools of others, in one run.

peers.py FOLDER MB: FOLDER/seed.log is repeated to MB megabytes.  Each tool reads
the events from the form that it knows, and both must give the same number.
"""

import os
import shutil
import subprocess
import sys

import bench

# What is done; by teltools, and how a number comes of the output; the same by
# another tool.  LOG is an MPS log, and with an end the same events otherwise.
ROWS = [
    ("a trace of LTTng as text",
     "telcat -q -j 1 -H TRACE", "wc -l",
     "babeltrace2 TRACE", "wc -l"),
    ("its events, counted",
     "telcat -q -c TRACE", "cat",
     "babeltrace2 -c sink.utils.counter TRACE", "awk '/Event messages/ { n = $1 } END { print n }'"),
    ("JSON of large blocks",
     "telcat -j 1 -f json -w 'size >= 64k' LOG", "wc -l",
     "jq -c 'select(.fields.size >= 65536)' LOG.json", "wc -l"),
    ("bytes by type",
     "telstat -j 1 -g name -s 'b=sum(size) if kind == Object' -f json LOG",
     "jq -s 'map(.sum // 0) | add'",
     "mlr --icsv --ojsonl stats1 -a sum -f size -g type LOG.csv",
     "jq -s 'map(.size_sum) | add'"),
    ("the same, of text",
     "telstat -j 1 -g name -s 'b=sum(size) if kind == Object' -f json LOG.txt",
     "jq -s 'map(.sum // 0) | add'",
     "mawk '/ Pool(Alloc|Free) / { for (i = 3; i <= NF; i++) "
     "if (sub(/^size=/, \"\", $i)) n[$2] += $i } "
     "END { for (t in n) print t, n[t] }' LOG.txt",
     "awk '{ n += $2 } END { print n }'"),
    ("tables of SQLite",
     "sh -c 'rm -f LOG.ours.db; exec telcat -j 1 -f sqlite -k Object "
     "-o LOG.ours.db LOG'",
     "{ cat; sqlite3 LOG.ours.db 'SELECT (SELECT count(*) FROM EVENT_PoolAlloc) + "
     "(SELECT count(*) FROM EVENT_PoolFree)'; }",
     "sh -c 'rm -f LOG.db; exec sqlite3 LOG.db "
     "\".import --csv LOG.csv event\"'",
     "{ cat; sqlite3 LOG.db 'SELECT count(*) FROM event'; }"),
]


def number(command, of):
    """What comes of the output of a command."""
    out = subprocess.run(["sh", "-c", f"{command} | {of}"], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    return float(out.split()[0])


def main():
    """Everything."""
    folder, megabytes = sys.argv[1], int(sys.argv[2])
    log, trace = (os.path.join(folder, n) for n in ("peers.log", "peers.ctf"))
    with open(os.path.join(folder, "seed.log"), "rb") as file:
        bench.grow_on(file.read(), log, megabytes << 20)
    shutil.rmtree(trace, ignore_errors=True)
    subprocess.run(["python3", "tests/bench/ctf_trace.py", trace, "4",
                    str(megabytes * 10 // 8), "12500"], check=True)
    for form, end in (("-f json", "json"), ("-H", "txt"),
                      ("-k Object -f csv -F pool,size", "csv")):
        subprocess.run(f"telcat {form} {log} >{log}.{end}", shell=True,
                       check=True)

    print(f"{'the same work':26} {'CPU s':>8} {'by':>12} {'CPU s':>8} "
          f"{'ratio':>7}")
    for what, ours, our_number, theirs, their_number in ROWS:
        ours, our_number, theirs, their_number = (
            c.replace("LOG", log).replace("TRACE", trace)
            for c in (ours, our_number, theirs, their_number))
        by = theirs.split("exec ")[-1].split()[0]
        if shutil.which(by) is None:
            print(f"{what:26} {'-':>8} {by:>12} is not installed")
            continue
        numbers = number(ours, our_number), number(theirs, their_number)
        if numbers[0] != numbers[1]:
            sys.exit(f"bench: {what}: {numbers[0]}, and {numbers[1]} by {by}")
        times = bench.measure([ours, theirs], 0)
        print(f"{what:26} {times[0]:8.3f} {by:>12} {times[1]:8.3f} "
              f"{times[1] / times[0]:7.1f}", flush=True)


if __name__ == "__main__":
    main()
