# SPDX-License-Identifier: BSD-2-Clause
"""Compares the memory of replays with that of the programs themselves.

Each program runs directly, by env and by sh -c, with four allocators and a
library that measures its memory (telreplay_memory.c); then a log of it is
replayed.  Standard input has lines such as "sh perl".
Usage: telreplay_memory.py LIBRARY ASSEMBLY FOLDER
"""
import csv
import io
import os
import shlex
import subprocess
import sys

MIB = 1 << 20
# How far a replay may be off, as a share and at least: python3 writes to 1.2 MiB
# of its own data.
SHARE = 0.15
LEAST = 3 * MIB // 2
ALLOCATORS = {
    "glibc": None,
    "jemalloc": "libjemalloc.so.2",
    "mimalloc": "libmimalloc.so.2.0",
    "tcmalloc": "libtcmalloc_minimal.so.4",
}
PROGRAMS = {
    "python3": ["/usr/bin/python3", "-c",
                "x = [str(i) * 3 for i in range(150000)]; x = x[::3];"
                "d = {i: (i,) for i in range(30000)}"],
    "perl": ["/usr/bin/perl", "-e",
             'my %h; $h{$_} = "value $_" x 3 for 1..40000;'
             "my @a = map {[$_]} 1..20000; delete $h{$_} for 1..20000;"],
    "sqlite3": ["/usr/bin/sqlite3", ":memory:",
                "create table t(a, b); with recursive c(x) as (select 1 "
                "union all select x + 1 from c where x < 60000) insert into t "
                "select x, hex(x * 7919) from c; create index i on t(b);"],
}


def measure(command, library, folder, meter):
    """The bytes at the end of the last process, without what those before it
    left, as a replay frees that; and at the peaks of all."""
    path = folder + "/memory"
    if os.path.exists(path):
        os.remove(path)
    preload = meter if library is None else meter + ":" + library
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL,
                   env=dict(os.environ, MEMORY_FILE=path, LD_PRELOAD=preload))
    with open(path, encoding="ascii") as file:
        rows = [[int(n) for n in line.split()] for line in file]
    end = rows[-1][0] + sum(freed for _, _, freed in rows[:-1])
    return end, sum(peak for _, peak, _ in rows)


def replay(command, folder):
    """The same of a replay, by allocator."""
    log = folder + "/run.tel"
    subprocess.run(["telrec", "-q", "-o", log, "--"] + command, check=True,
                   stdout=subprocess.DEVNULL)
    text = subprocess.run(
        ["telreplay", "-q", "-a", ",".join(ALLOCATORS), "--runs", "1",
         "-f", "csv", log], stdout=subprocess.PIPE, text=True).stdout
    figures = {name: [0, 0] for name in ALLOCATORS}
    for row in csv.reader(io.StringIO(text)):
        if row[0] == "memory" and row[3] in ("end_bytes", "peak_bytes"):
            figures[row[1]][row[3] == "peak_bytes"] = int(row[4])
    return figures


def fits(real, replayed):
    """Whether a replay has the memory of the program."""
    return all(abs(a - b) <= max(SHARE * a, LEAST)
               for a, b in zip(real, replayed))


def compare(name, command, folder, meter):
    """The number of figures that are off; each is printed."""
    replayed = replay(command, folder)
    real = {}
    wrong = 0
    for allocator, library in ALLOCATORS.items():
        # an allocator returns memory when it has the time to
        for _ in range(4):
            real[allocator] = measure(command, library, folder, meter)
            if fits(real[allocator], replayed[allocator]):
                break
        else:
            wrong += 1
        print(name, allocator, "end, peak: real",
              *("%.1f" % (n / MIB) for n in real[allocator]), "replayed",
              *("%.1f" % (n / MIB) for n in replayed[allocator]))
    for i in (0, 1):
        for a in ALLOCATORS:
            for b in ALLOCATORS:
                # a difference that the tolerance leaves
                if (real[a][i] > 1.35 * real[b][i] + LEAST
                        and replayed[a][i] <= replayed[b][i]):
                    print(name, a, "is not above", b)
                    wrong += 1
    return wrong


def main():
    meter, assembly, folder = sys.argv[1:]
    # mimalloc would return what was free for 25 ms, which depends on the load;
    # the cache of the C library would keep blocks that a thread's end frees
    os.environ.update(PYTHONMALLOC="malloc", PYTHONHASHSEED="0",
                      MIMALLOC_ALLOW_DECOMMIT="0",
                      GLIBC_TUNABLES="glibc.malloc.tcache_count=0")
    programs = dict(PROGRAMS)
    # cc1 has its memory by mmap(): as has it by malloc()
    programs["threads"] = [folder + "/threads"]
    programs["gcc"] = ["/usr/bin/gcc", "-c", "-o", "/dev/null", assembly]
    wrong = 0
    for line in sys.stdin:
        how, name = line.split()
        command = programs[name]
        # a process that is not the last has no time to return what is free
        several = how == "inside" or name == "gcc"
        os.environ["MALLOC_CONF"] = "dirty_decay_ms:0" if several else ""
        if how == "env":
            command = ["env"] + command
        if how == "sh":
            command = ["sh", "-c", "exec " + shlex.join(command)]
        if how == "inside":
            command = ["/usr/bin/perl", "-e", "system @ARGV"] + command
        # threads of a replay may run ahead, or an allocator keep more, once
        wrong += all(compare(line.strip(), command, folder, meter)
                     for _ in range(3))
    return wrong != 0


sys.exit(main())
