#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
#
# Puts random single faults into the .c files of lib and cmd, and runs the tests
# that reach each of them:
#
#	tests/mutation/mutate.py -s SEED,... -n COUNT -p PATH,... -b FOLDER TEST ...
#
# COUNT faults for each seed, in the folders and files of -p if it is given, are in one build of a copy of the sources, in
# FOLDER, behind a switch (switch.c).  A fault that does not compile makes place
# for another.  All tests, bats files and programs as tests/run-test takes them,
# run once without a fault, which records the faults that each case reaches and
# how long it takes.  Then, for each fault, the cases that reach it run, those
# first that take little time and reach few faults, until one fails that does
# not fail without the fault, or the limit of CPU time is used up.
#
# Prints how many faults were noticed by folder, and those that were not.  Faults
# that were not and are in the list "equivalent", of which a person says why no
# test can notice them, are counted apart.
# FOLDER/log has the times of the tests, and which of them noticed which fault.
# FOLDER/journal has what is known so far, for a run that was ended, or that is
# to give more time to the faults that are left: with the same sources, faults and
# tests, nothing is found out twice.

import argparse
import concurrent.futures
import contextlib
import dataclasses
import hashlib
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import faults

HERE = pathlib.Path(__file__).parent
EQUIVALENT = pathlib.Path("tests/mutation/equivalent").absolute()
# Each library has its own copy of the switch.
SWITCHES = ("lib/base", "lib/emit", "cmd/telrec/preload")
MAX_MUTANTS = 4096  # as in switch.c
CHUNK = 10  # seconds that cases of a file which run together take
BATS, PROGRAM = 0.6, 0.05  # seconds of a start


@dataclasses.dataclass
class Case:
    test: str
    title: str  # "" for a program
    seconds: float  # of CPU time
    reached: frozenset


def update(path, text):
    """Writes a file if that changes it, for make to compare times."""
    if not path.exists() or path.read_bytes() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)


def copy_tree(top, tree):
    """Copies sources and tests, but not the faults of the last run.

    Returns a hash of all that is copied."""
    digest = hashlib.sha256()
    kept = {"build", ".git", "__pycache__"}
    for folder, folders, files in os.walk(top):
        folders[:] = [f for f in folders if f not in kept
                      and pathlib.Path(folder, f) not in tree.parents]
        to = tree / pathlib.Path(folder).relative_to(top)
        to.mkdir(parents=True, exist_ok=True)
        for name in set(os.listdir(to)) - set(files) - set(folders) - kept:
            if not (to / name).is_dir() and name != "mutant.c":
                (to / name).unlink()
        folders.sort()
        for name in sorted(files):
            path = pathlib.Path(folder, name)
            if path.suffix == ".c" and folder != str(HERE):
                continue  # written with its faults, if it has any
            if path.is_symlink() or not path.is_file() or path == EQUIVALENT:
                continue
            text = path.read_bytes()
            digest.update(f"{path} {len(text)}\n".encode() + text)
            update(to / name, text)
            shutil.copymode(path, to / name)
    return digest


class Build:
    def __init__(self, top, tree, seeds, count, paths):
        self.top, self.tree = top, tree
        self.texts = {}
        places = []
        for path in sorted(top.glob("**/*.c")):
            name = str(path.relative_to(top))
            if name.startswith(("build/", "tests/mutation/")):
                continue
            self.texts[name] = path.read_text()
            if name.startswith(paths):
                places += faults.Source(name, self.texts[name]).faults()
        self.queues = {seed: self.queue(seed, places) for seed in seeds}
        self.faults = []
        for seed in seeds:
            for _ in range(count):
                self.add(seed, len(self.faults) + 1)

    @staticmethod
    def queue(seed, places):
        """All faults in random order, one of each kind after the other."""
        rng = random.Random(seed)
        kinds = [[f for f in places if f.kind == kind] for kind in faults.KINDS]
        for kind in kinds:
            rng.shuffle(kind)
        longest = max(map(len, kinds))
        return [kind[i] for i in range(longest) for kind in kinds
                if i < len(kind)][::-1]

    def add(self, seed, number):
        while self.queues[seed] and number < MAX_MUTANTS:
            fault = self.queues[seed].pop()
            if not any(faults.overlap(fault, f) for f in self.faults):
                self.faults.append(dataclasses.replace(fault, seed=seed,
                                                       number=number))
                return

    def write(self):
        for name, text in self.texts.items():
            mine = [f for f in self.faults if f.path == name]
            if mine:
                text = faults.with_faults(text, mine)
            update(self.tree / name, text.encode())
        for folder in SWITCHES:
            if (self.tree / folder).is_dir():
                update(self.tree / folder / "mutant.c",
                       (HERE / "switch.c").read_bytes())

    def make(self, jobs):
        """Builds; faults that do not compile make place for others."""
        while True:
            self.write()
            done = subprocess.run(
                ["make", "-k", f"-j{jobs}", "programs"], cwd=self.tree,
                capture_output=True, text=True, check=False)
            if done.returncode == 0:
                break
            bad = self.failed(done.stderr)
            if not bad:
                sys.exit(f"{done.stderr[-4000:]}\nmutate.py: build failed")
            self.faults = [f for f in self.faults if f not in bad]
            for fault in bad:
                self.add(fault.seed, fault.number)
        subprocess.run(["make", "build/stage/.done"], cwd=self.tree, check=True,
                       stdout=subprocess.DEVNULL)
        self.faults.sort(key=lambda f: f.number)

    def failed(self, messages):
        """The faults that messages of the compiler are about."""
        bad = []
        for name, line in re.findall(r"^([\w/.-]+\.c):(\d+):\d+: error",
                                     messages, re.M):
            mine = [f for f in self.faults if f.path == name]
            here = [f for f in mine if f.line <= int(line) <= f.last]
            bad += here or [f for f in mine if f.line <= int(line)][-1:]
        return [f for f in self.faults if f in bad]


class Journal:
    """Cases of tests, and verdicts on faults, of this run and those before it."""

    def __init__(self, path, key):
        self.path = path
        self.known = {}
        lines = path.read_text().split("\n") if path.exists() else []
        if lines[:1] != [key]:
            path.write_text(key + "\n")
        # the last line of a run that was ended may not be whole
        for line in lines[1:-1] if lines[:1] == [key] else []:
            name, value = json.loads(line)
            self.known[name] = value

    def add(self, name, value):
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps([name, value]) + "\n")


class Runner:
    def __init__(self, tree, environment, journal):
        self.tree = tree
        self.environment = environment
        self.journal = journal
        self.running = set()
        signal.signal(signal.SIGTERM, self.stop)

    def stop(self, *_):
        """Ends the tests, too, which are sessions of their own."""
        for pid in list(self.running):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
        os._exit(1)

    def run(self, command, seconds, until=b"", **variables):
        """(lines, status, CPU time) of a test, up to a text that it prints.

        The status is None if it was stopped, there or after its time."""
        def limits():
            os.setsid()
            # tests of signals need those that a shell ignores in background
            for name in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
                signal.signal(name, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 30,) * 2)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 33,) * 2)
            resource.setrlimit(resource.RLIMIT_AS, (1 << 34,) * 2)
        # what a test that is stopped leaves can be large
        with tempfile.TemporaryFile() as out, tempfile.TemporaryDirectory(
                prefix="mutate-", ignore_cleanup_errors=True) as folder:
            os.chmod(folder, 0o1777)
            # pylint: disable=subprocess-popen-preexec-fn
            child = subprocess.Popen(
                ["sh", "-c", '. tests/environment.sh; exec "$@"', "sh",
                 *command], cwd=self.tree, stdout=out, stderr=out,
                stdin=subprocess.DEVNULL, preexec_fn=limits,
                env={**self.environment, "TMPDIR": folder, **variables})
            self.running.add(child.pid)
            end = time.monotonic() + seconds
            pid, status, used = 0, None, None
            while pid == 0 and time.monotonic() < end:
                pid, status, used = os.wait4(child.pid, os.WNOHANG)
                if pid == 0 and until and until in os.pread(
                        out.fileno(), os.fstat(out.fileno()).st_size, 0):
                    break
                time.sleep(0.02 if pid == 0 else 0)
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            if pid == 0:
                _, _, used = os.wait4(child.pid, 0)
                status = None
            child.returncode = 0
            self.running.discard(child.pid)
            out.seek(0)
            return (out.read().decode(errors="replace").split("\n"), status,
                    used.ru_utime + used.ru_stime)

    def log(self, line):
        with open(self.tree.parent / "log", "a", encoding="utf-8") as file:
            print(line, file=file)

    def cases(self, number, test, reached):
        """The cases of a test that succeed, with the faults that they reach."""
        known = self.journal.known.get(test)
        if known is not None:
            return [Case(test, title, seconds, frozenset(marks))
                    for title, seconds, marks in known]
        cases = self.record(number, test, reached)
        if cases:
            self.journal.add(test, [(c.title, c.seconds, sorted(c.reached))
                                    for c in cases])
        return cases

    def record(self, number, test, reached):
        """What cases() is, of tests that run."""
        path = f"{reached}/{number}"
        bats = test.endswith(".bats")
        start = time.monotonic()
        lines, status, used = self.run(
            ["bats", "--tap", "-T", test] if bats else ["tests/run-test", test],
            1200, MUTANT_REACHED=path)
        seconds = time.monotonic() - start
        self.log(f"{test}: {seconds:.1f} s: status {status}")

        def marks(*names):
            found = set()
            for name in names:
                if os.path.exists(name):
                    with open(name, "rb") as file:
                        found |= {i for i, b in enumerate(file.read()) if b}
            return frozenset(found)

        if not bats:
            good = status == 0
            return [Case(test, "", used, marks(path + "."))] if good else []
        cases = []
        for line in lines:
            match = re.fullmatch(r"ok (\d+) (.*) in (\d+)ms", line)
            if match:
                # what setup_file() reaches belongs to each case
                cases.append(Case(test, match[2],
                                  int(match[3]) / 1000 * used / seconds,
                                  marks(f"{path}.{match[1]}", path + ".")))
        return cases

    def fails(self, cases, fault):
        """(which of some cases of one test fails first, CPU time)."""
        test = cases[0].test
        command = ["tests/run-test", test]
        if test.endswith(".bats"):
            titles = "|".join(re.sub(r"([][\\.*^$+?(){}|])", r"\\\1", c.title)
                              for c in cases)
            command = ["bats", "--tap", "-f", f"^({titles})$", test]
        lines, status, used = self.run(
            command, 30 + 10 * sum(c.seconds for c in cases), b"\nnot ok",
            MUTANT=str(fault))
        if status == 0:
            return None, used
        bad = [line for line in lines if line.startswith("not ok")]
        return f"{test}: " + (bad[0] if bad else "too long" if status is None
                              else "ended early"), used


def chunks(cases):
    """Cases of one file that run together, the cheapest and most specific first."""
    cases = sorted(cases, key=lambda c: len(c.reached) * (
        c.seconds + (BATS if c.title else PROGRAM)))
    while cases:
        chosen, seconds = [], 0
        for case in cases:
            if case.test == cases[0].test and (
                    not chosen or seconds + case.seconds < CHUNK):
                chosen.append(case)
                seconds += case.seconds
        yield chosen
        cases = [c for c in cases if c not in chosen]


def judge(runner, fault, cases, limit):
    """(what noticed a fault, or None; how many cases ran)."""
    name = str(fault.number)
    test, ran, tried = runner.journal.known.get(name, (None, "", -1))
    if test is None and tried < limit:
        test, ran = run_cases(runner, fault, cases, limit)
        runner.journal.add(name, (test, ran, limit))
    runner.log(f"{fault.number}: {fault.path}:{fault.line}: {fault.kind}: "
               f"{ran}: {test or 'not noticed'}")
    return test, ran


def run_cases(runner, fault, cases, limit):
    mine = [c for c in cases if fault.number in c.reached]
    total, ran = 0, 0
    for chosen in chunks(mine):
        if total > limit:
            break
        failure, used = runner.fails(chosen, fault.number)
        total += used
        ran += len(chosen)
        # a test that fails at times notices nothing
        if failure and not runner.fails(
                [c for c in chosen if c.title and
                 failure.endswith(f" {c.title}")] or chosen, 0)[0]:
            return failure, f"{ran} of {len(mine)}"
    return None, f"{ran} of {len(mine)}"


def folder(path):
    """lib/NAME, lib/format/NAME or cmd/NAME."""
    parts = pathlib.Path(path).parts[:-1]
    return "/".join(parts[:3 if parts[1] == "format" else 2])


def read_equivalent():
    """{(path, diff): reason} of the faults that no test can notice.

    An entry of the list is "PATH: REASON", the lines of the diff, an empty
    line; lines before the first entry that start with # are comments."""
    known = {}
    if not EQUIVALENT.exists():
        return known
    for entry in EQUIVALENT.read_text(encoding="utf-8").split("\n\n"):
        lines = [x for x in entry.split("\n") if x and not x.startswith("#")]
        if lines:
            path, reason = lines[0].split(": ", 1)
            known[path, "\n".join(lines[1:])] = reason
    return known


def report(build, verdicts):
    known = read_equivalent()
    for path, diff in known:
        old = "\n".join(x[1:] for x in diff.split("\n") if x[0] == "-")
        if f"\n{old}\n" not in build.texts.get(path, ""):
            print(f"mutate.py: equivalent: {path} has no such line:\n{old}",
                  file=sys.stderr)
    rows, missed = {}, []
    for fault, (test, ran) in zip(build.faults, verdicts):
        key = fault.path, "\n".join(fault.diff(build.texts[fault.path]))
        for name in (folder(fault.path), "all"):
            row = rows.setdefault(name, [0, 0, 0])
            row[0] += test is not None
            row[1] += test is None and key in known
            row[2] += 1
        if test is not None and key in known:
            print(f"mutate.py: {test} notices an equivalent of {fault.path}:"
                  f"{fault.line}", file=sys.stderr)
        if test is None and key not in known:
            missed.append((fault, ran, key[1]))
    print(f"{'folder':24} noticed  equivalent   of  noticed of the others")
    for name, (noticed, equal, total) in sorted(
            rows.items(), key=lambda r: (r[0] == "all", r[0])):
        print(f"{name:24} {noticed:7} {equal:11} {total:4} "
              f"{100 * noticed // (total - equal or 1):6} %")
    for fault, ran, diff in missed:
        print(f"\n{fault.path}:{fault.line}: {fault.kind}, not noticed;"
              f" fault {fault.number} of seed {fault.seed},"
              f" ran {ran} cases that reach it\n{diff}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-s", "--seeds", default="1")
    parser.add_argument("-n", "--count", type=int, default=50)
    parser.add_argument("-p", "--paths", default="lib/,cmd/",
                        help="starts of the names of sources with faults")
    parser.add_argument("-l", "--limit", type=float, default=60,
                        help="seconds of CPU time for a fault")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("-b", "--build", default="build/mutate")
    parser.add_argument("tests", nargs="+")
    options = parser.parse_args()
    os.nice(1)
    top, place = pathlib.Path.cwd(), pathlib.Path(options.build).absolute()
    tree = place / "tree"
    for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MUTANT", "MUTANT_REACHED"):
        os.environ.pop(name, None)
    digest = copy_tree(top, tree)
    (place / "log").unlink(missing_ok=True)
    build = Build(top, tree, options.seeds.replace(",", " ").split(),
                  options.count, tuple(options.paths.replace(",", " ").split()))
    build.make(options.jobs)
    digest.update(repr((sorted(build.texts.items()), build.faults)).encode())
    runner = Runner(tree, {**os.environ, "TEL_TOP": str(tree),
                           "TEL_BUILD": str(tree / "build")},
                    Journal(place / "journal", digest.hexdigest()))
    reached = place / "reached"
    shutil.rmtree(reached, ignore_errors=True)
    reached.mkdir(mode=0o777)
    reached.chmod(0o777)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        found = list(pool.map(runner.cases, range(len(options.tests)),
                              options.tests, [reached] * len(options.tests)))
        cases = [case for some in found for case in some]
        for test, some in zip(options.tests, found):
            if not some:
                print(f"mutate.py: {test} succeeds without a fault in no case",
                      file=sys.stderr)
        verdicts = list(pool.map(
            lambda f: judge(runner, f, cases, options.limit), build.faults))
    report(build, verdicts)


if __name__ == "__main__":
    main()
