# SPDX-License-Identifier: BSD-2-Clause
"""Compares replays with the programs that they are of, under each malloc.

    programs.py check FOLDER   memory alone, of small programs: status 0, 1, or
                               77 where it cannot be measured
    programs.py bench FOLDER   memory and time, of larger ones

Each program is recorded with programs_record.c, and run with each malloc and
programs_meter.c, which says how much memory the malloc took.  What is made goes
to FOLDER.  A program that is not installed is left out, and named.
"""

import csv
import os
import resource
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
MALLOCS = [("glibc", ""), ("jemalloc", "libjemalloc.so.2"),
           ("mimalloc", "libmimalloc.so.2.0"),
           ("tcmalloc", "libtcmalloc_minimal.so.4")]
# Amounts agree within a factor; so do those that are not distinguished.
FACTOR = 1.3
# What a kernel counts in steps, and a malloc takes at once.
STEP = 1 << 20
# The same where pages are huge without being asked to.
STEP_HUGE = 4 << 20
RUNS = 5

PERL = ('my %h; for my $r (1..ROUNDS) { for (1..12000) '
        '{ $h{"k".($r*7919+$_*31)%24000} = "x" x (($_*$r) % 200) } '
        'delete $h{"k$_"} for 1..6000 }')
PYTHON = ('d = {}\nfor r in range(ROUNDS):\n'
          ' for i in range(15000):\n'
          '  d[(r * 7919 + i * 31) % 30000] = [str(i) * (i % 9), i, (r, i)]\n'
          ' for i in range(0, 9000, 2):\n  d.pop(i, None)\n')
SQL = ("pragma cache_size=4000; create table t(a integer primary key, b, c);"
       "with recursive n(i) as (select 1 union all select i+1 from n where "
       "i<ROUNDS*12000) insert into t select i, i*7919%10007, "
       "printf('%.*c', i%90, 'x') from n;"
       "create index u on t(b); create index v on t(c);"
       "select count(*) from (select c, b from t order by c, b);")


def make_source(path, functions):
    """A program for a compiler: many functions, each a little different."""
    with open(path, "w", encoding="ascii") as out:
        for i in range(functions):
            out.write(f"struct s{i} {{ int a[{i % 7 + 1}]; struct s{i} *n; }};\n"
                      f"int f{i}(struct s{i} *p, int n)\n"
                      f"{{ int s = {i}; for (; p && n > 0; p = p->n, n--)\n"
                      f"switch (n % 5) {{ case 0: s += p->a[{i % 7}]; break;\n"
                      f"case 1: s ^= n << {i % 9}; break; case 2: s -= "
                      f"p->a[0] * {i}; break;\ndefault: s = s * 31 + n; }}\n"
                      f"return s; }}\n")


def interpreter():
    """Debian's Python: sys.executable may be the script of a version manager."""
    return shutil.which("/usr/bin/python3") or sys.executable


def programs(folder, size):
    """Name, command, environment."""
    rounds = str(size)
    found = []
    perl = shutil.which("perl")
    if perl:
        found.append(("perl", [perl, "-e", PERL.replace("ROUNDS", rounds)], {}))
    found.append(("python3",
                  [interpreter(), "-S", "-c",
                   PYTHON.replace("ROUNDS", rounds)],
                  {"PYTHONMALLOC": "malloc", "PYTHONHASHSEED": "1"}))
    sqlite = shutil.which("sqlite3")
    if sqlite:
        found.append(("sqlite3",
                      [sqlite, ":memory:", SQL.replace("ROUNDS", rounds)], {}))
    gcc = shutil.which("gcc")
    compiler = subprocess.run([gcc, "-print-prog-name=cc1"],
                              stdout=subprocess.PIPE, text=True,
                              check=False).stdout.strip() if gcc else ""
    if compiler.startswith("/"):
        source = os.path.join(folder, "source.c")
        make_source(source, 25 * size)
        found.append(("cc1", [compiler, "-quiet", "-O2", source, "-o",
                              os.path.join(folder, "source.s")], {}))
    for name in ("perl", "sqlite3", "cc1"):
        if name not in [program[0] for program in found]:
            print(f"# {name} is not installed")
    return found


def step():
    try:
        with open("/sys/kernel/mm/transparent_hugepage/enabled",
                  encoding="ascii") as file:
            return STEP_HUGE if "[always]" in file.read() else STEP
    except OSError:
        return STEP


def build(folder, name):
    """A library to be preloaded."""
    path = os.path.join(folder, name + ".so")
    subprocess.run(os.environ.get("CC", "cc").split() + [
        "-O2", "-shared", "-fPIC", "-o", path,
        os.path.join(HERE, f"programs_{name}.c"), "-ldl"], check=True)
    return path


def run(command, more):
    """CPU seconds of a command, with more in its environment."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env={**os.environ, **more}, check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    if done.returncode == 77:
        sys.exit(77)
    done.check_returncode()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime -
            before.ru_utime - before.ru_stime)


def record(folder, recorder, program):
    name, command, more = program
    path = os.path.join(folder, name + ".txt")
    if os.path.exists(path):
        os.remove(path)
    run(command, {**more, "LD_PRELOAD": recorder, "RECORD": path})
    return path


def real_memory(folder, meter, program, library):
    _, command, more = program
    path = os.path.join(folder, "meter.txt")
    if os.path.exists(path):
        os.remove(path)
    run(command, {**more, "LD_PRELOAD": f"{meter} {library}", "METER": path})
    with open(path, encoding="ascii") as file:
        return int(file.readline())


def replay(trace, runs):
    """Of each malloc: peak bytes, and nanoseconds an operation."""
    done = subprocess.run(
        ["telreplay", "-q", "--runs", str(runs), "--idle", "0", "-f", "csv",
         "-a", ",".join(name for name, _ in MALLOCS), trace],
        stdout=subprocess.PIPE, text=True, check=False)
    peaks, times = {}, {}
    for row in csv.reader(done.stdout.splitlines()):
        if row[0] == "memory" and row[3] == "peak_bytes":
            peaks[row[1]] = int(row[4])
        elif row[0] == "cost" and row[3] == "ns":
            times[row[1]] = float(row[4])
    return peaks, times


def operations(trace):
    with open(trace, encoding="ascii") as file:
        return sum(1 for _ in file)


def disagree(one, other, factor, apart=0):
    """Pairs of mallocs that have one order here and the other one there, where
    both tell them apart."""
    wrong = []
    for a, _ in MALLOCS:
        for b, _ in MALLOCS:
            if one[a] > one[b] * factor + apart and \
                    other[b] > other[a] * factor + apart:
                wrong.append(f"{a} and {b}")
    return wrong


def compare_memory(name, real, peaks):
    """Prints a line for each malloc.  Whether all is well."""
    good = True
    for malloc, _ in MALLOCS:
        low, high = sorted([real[malloc], peaks[malloc]])
        near = high <= low * FACTOR + step()
        good &= near
        print(f"# {name:8} {malloc:9} program {real[malloc] / 1e6:7.2f} MB, "
              f"replay {peaks[malloc] / 1e6:7.2f} MB "
              f"{peaks[malloc] / max(real[malloc], 1):5.2f}"
              f"{'' if near else '  too far'}")
    for wrong in disagree(real, peaks, 1.1, step() // 2):
        print(f"# {name}: {wrong} are the other way around")
        good = False
    return good


def check(folder):
    recorder, meter = build(folder, "record"), build(folder, "meter")
    good = True
    for program in programs(folder, 2):
        trace = record(folder, recorder, program)
        real = {name: real_memory(folder, meter, program, library)
                for name, library in MALLOCS}
        good &= compare_memory(program[0], real, replay(trace, 1)[0])
    return 0 if good else 1


def bench(folder):
    recorder, meter = build(folder, "record"), build(folder, "meter")
    print(f"\n{'program, malloc':20} {'MB':>8} {'replay':>8} {'ratio':>6} "
          f"{'CPU s':>8} {'-glibc':>8} {'replay':>8}")
    for program in programs(folder, 10):
        name, command, more = program
        trace = record(folder, recorder, program)
        peaks, times = replay(trace, RUNS)
        n = operations(trace)
        took = {malloc: [] for malloc, _ in MALLOCS}
        for _ in range(RUNS):
            for malloc, library in MALLOCS:
                took[malloc].append(run(command,
                                        {**more, "LD_PRELOAD": library}))
        best = {malloc: min(all_of) for malloc, all_of in took.items()}
        for malloc, library in MALLOCS:
            real = real_memory(folder, meter, program, library)
            print(f"{name + ', ' + malloc:20} {real / 1e6:8.2f} "
                  f"{peaks[malloc] / 1e6:8.2f} {peaks[malloc] / real:6.2f} "
                  f"{best[malloc]:8.3f} {best[malloc] - best['glibc']:8.3f} "
                  f"{(times[malloc] - times['glibc']) * n / 1e9:8.3f}")
        for wrong in disagree(best, times, 1.03):
            print(f"{name}: {wrong} are the other way around in time")
    return 0


def main():
    os.makedirs(sys.argv[2], exist_ok=True)
    sys.exit(check(sys.argv[2]) if sys.argv[1] == "check" else
             bench(sys.argv[2]))


if __name__ == "__main__":
    main()
