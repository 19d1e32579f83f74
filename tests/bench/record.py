#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What recording costs: processor time with telrec, beside heaptrack --raw.

    record.py FOLDER

The time is that of the program and of the recorder, user and system, the
smallest of several runs that take turns.  Of telrec, what the program takes
longer and what telrec itself takes are apart, as ns an event and as shares of
the program's time without telrec: "both" and "program".  The goals are ns an
event on pairs, ns an allocation with a stack of 20 frames, and a share
otherwise.
"""
import os
import resource
import shutil
import subprocess
import sys

from programs import interpreter

PAIRS = r"""
#include <pthread.h>
#include <stdlib.h>
static void *work(void *arg) {
    void *live[1000] = { 0 };
    unsigned r = 1, k;
    for (long i = 0; i < (long)arg; i++) {
        r = r * 1103515245u + 12345u;
        k = (r >> 8) % 1000;
        free(live[k]);
        live[k] = malloc(16 + (r >> 20) % 512);
    }
    for (k = 0; k < 1000; k++)
        free(live[k]);
    return 0;
}
int main(int argc, char **argv) {
    long n = atol(argv[2]);
    pthread_t other;
    if (atoi(argv[1]) == 2)
        pthread_create(&other, 0, work, (void *)n);
    work((void *)n);
    return argc == 9 || (atoi(argv[1]) == 2 && pthread_join(other, 0));
}
"""
# Pairs with a stack of 20 frames, which differ in the innermost ones.
STACKS = r"""
#include <stdlib.h>
static void *volatile kept;
#define NOINLINE __attribute__((noinline, noclone))
NOINLINE static long leaf(long n) { kept = malloc(16 + n % 64); free(kept); return n; }
NOINLINE static long a(long n) { return leaf(n) + 1; }
NOINLINE static long b(long n) { return leaf(n) + 2; }
NOINLINE static long deep(int depth, long n) {
    if (depth > 0)
        return deep(depth - 1, n) + 1;
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += i & 64 ? a(i) : b(i);
    return sum;
}
int main(int argc, char **argv) {
    /* main, its two callers, 14 of deep, a or b, leaf, and malloc's own */
    return deep(14, atol(argv[argc - 1])) == 1;
}
"""
# Runs a program, and writes the processor time that it took to a file.
METER = r"""
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv) {
    struct rusage u;
    int status;
    FILE *f;
    pid_t pid = argc > 2 ? fork() : -1;
    if (pid == 0) {
        execvp(argv[2], argv + 2);
        _exit(127);
    }
    if (pid < 0 || wait4(pid, &status, 0, &u) != pid || status != 0 ||
        (f = fopen(argv[1], "w")) == NULL)
        return 1;
    fprintf(f, "%ld.%06ld %ld.%06ld\n", (long)u.ru_utime.tv_sec,
        (long)u.ru_utime.tv_usec, (long)u.ru_stime.tv_sec,
        (long)u.ru_stime.tv_usec);
    return fclose(f) != 0;
}
"""
RUNS = 5


def build(folder, name, text, *flags):
    source = os.path.join(folder, name + ".c")
    with open(source, "w") as f:
        f.write(text)
    program = os.path.join(folder, name)
    subprocess.run([os.environ.get("CC", "cc"), "-O2", "-fno-builtin",
                    "-pthread", *flags, "-o", program, source], check=True)
    return program


def cpu(command, environment):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, env=environment,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime -
            before.ru_utime - before.ru_stime)


def events(log):
    out = subprocess.run(["telstat", "-q", log], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    for line in out.splitlines():
        if line.startswith("events"):
            return int(line.split()[1].replace(",", ""))
    return 0


def compressed(log):
    out = subprocess.run(["zstd", "-3", "-qc", log], check=True,
                         stdout=subprocess.PIPE).stdout
    return len(out)


# Each is a name, the command, the goal, and the options of telrec: with stacks,
# what counts is a pair of an allocation, which has one, and its free.
def workloads(folder):
    pairs = build(folder, "pairs", PAIRS)
    big = os.path.join(folder, "big.c")
    with open(big, "w") as f:
        for i in range(3000):
            f.write("int f%d(int a, int b) { int s = 0; for (int i = a; "
                    "i < b; i++) s += i * %d ^ (s >> 3); return s; }\n" %
                    (i, i))
    yield "pairs", [pairs, "1", "5000000"], "8 ns", []
    yield "pairs, 2 threads", [pairs, "2", "2500000"], "8 ns", []
    script = ("create table t(a, b); with recursive c(x) as (select 1 union "
              "all select x + 1 from c where x < 300000) insert into t "
              "select x, hex(randomblob(8)) from c; create index i on t(b); "
              "select count(*) from t a join t b on a.b = b.b;")
    yield "sqlite3", ["sqlite3", ":memory:", script], "5 %", []
    yield "gcc -O2", ["gcc", "-O2", "-c", "-o", big + ".o", big], "5 %", []
    yield "perl", ["perl", "-e", "my %h; $h{$_ % 200000} .= 'x' x 20 "
                   "for 1 .. 2000000; print scalar keys %h"], "5 %", []
    yield "python3", [interpreter(), "-c",
                      "d = {}\nfor i in range(1000000):\n"
                      "    d[i % 50000] = [str(i), (i, i + 1)]"], "25 %", []
    stacks = [build(folder, "stacks", STACKS, "-fno-omit-frame-pointer",
                    "-fno-optimize-sibling-calls"), "5000000"]
    yield "stacks, fp", stacks, "40 ns", ["--stacks=fp"]
    yield "stacks, unwind", stacks, "250 ns", ["--stacks=unwind"]


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    heaptrack = shutil.which("heaptrack")
    log = os.path.join(folder, "run.tel")
    times = os.path.join(folder, "times")
    meter = [build(folder, "meter", METER), times]
    # hashes that differ would make runs differ
    environment = dict(os.environ, PYTHONMALLOC="malloc", PYTHONHASHSEED="0",
                       PERL_HASH_SEED="0")
    print("%-18s %10s %8s %8s %8s %8s %8s %8s %8s %8s %6s %6s" % (
        "recording", "events", "none s", "both", "program", "goal", "ns/event",
        "program", "drain", "ht ns", "B/ev", "zstd"))
    for name, command, goal, options in workloads(folder):
        if shutil.which(command[0]) is None:
            continue
        plain, ours, programs, theirs = [], [], [], []
        for _ in range(RUNS):
            plain.append(cpu(command, environment))
            if os.path.exists(log):
                os.unlink(log)
            ours.append(cpu(["telrec", *options, "-o", log] + meter + command,
                            environment))
            with open(times) as f:
                programs.append(sum(float(t) for t in f.read().split()))
            if heaptrack is not None and len(theirs) < 2:
                theirs.append(cpu([heaptrack, "--raw", "-o", log + ".ht"] +
                                  command, environment))
        count = max(events(log), 1)
        # what times are divided by
        n = count / 2 if options else count
        none, cost = min(plain), min(ours) - min(plain)
        slower = min(programs) - none
        drain = min(o - p for o, p in zip(ours, programs))
        print("%-18s %10d %8.3f %+7.0f%% %+7.1f%% %8s %8.1f %8.1f %8.1f %8s "
              "%6.2f %6.2f" % (
                  name, count, none, 100 * cost / none, 100 * slower / none, goal,
                  cost * 1e9 / n, slower * 1e9 / n, drain * 1e9 / n,
                  "%.0f" % ((min(theirs) - none) * 1e9 / n) if theirs else "-",
                  os.path.getsize(log) / count, compressed(log) / count), flush=True)


if __name__ == "__main__":
    main()
