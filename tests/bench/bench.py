# SPDX-License-Identifier: BSD-2-Clause
"""Measures the commands against md5sum and prints a table.

bench.py FOLDER MB [quick]: FOLDER/seed.log is repeated to MB megabytes.  The
yardstick is md5sum because it is on every machine and its speed is steady.
"quick" leaves out all but processor time, and runs each command three times.
"""

import array
import glob
import os
import resource
import shutil
import statistics
import struct
import subprocess
import sys
import time

RUNS = 5
MEMORY_MB = 2048  # the log whose peak of memory is measured

# What is measured by CPU time (user and system): name, command with LOG for
# the log, and how often md5sum's time it may take.
CPU_ROWS = [
    ("telcat -f mpstxt", "telcat -f mpstxt LOG", 1.5),
    ("telcat (text)", "telcat -j 1 LOG", 0.8),
    ("telcat -f mpscnv", "telcat -f mpscnv LOG", 1.3),
    ("telcat -f csv", "telcat -j 1 -f csv LOG", 0.8),
    ("telcat -f json", "telcat -j 1 -f json LOG", 0.8),
    ("telcat -f sql", "telcat -j 1 -f sql LOG", 0.8),
    ("telcat -f html", "telcat -q -f html LOG", None),
    ("telstat -f html", "telstat -j 1 -f html LOG", None),
    ("telstat diff -f html", "telstat diff -j 1 -f html LOG LOG", None),
    ("telstat", "telstat -j 1 LOG", 0.15),
    ("telstat --report=types", "telstat -j 1 --report=types LOG", 0.15),
    ("telstat -s hist of a type",
     "telstat -j 1 -s 'h=log2(size) if name == PoolAlloc' LOG", 0.18),
    ("telstat -s tally by pointer",
     "telstat -j 1 -s 't=tally(pool,4k)' LOG", 0.35),
    ("telstat -e A,B -s dur()",
     "telstat -j 1 -e PoolAlloc,PoolFree "
     "-s 'd=dur(PoolAlloc,PoolFree,pool)' LOG", 0.4),
    ("telfilter -c", "telfilter -j 1 -c LOG", 0.15),
    ("telfilter -k Pool,Seg", "telfilter -j 1 -k Pool,Seg LOG", 0.18),
    ("telfilter -w (3 tests)",
     "telfilter -w 'rank == 1 && ref > 0x1000 && ss != 0' LOG", 0.35),
    ("telfilter (all of it)", "telfilter LOG", None),
    ("telcat -f mps", "telcat -f mps LOG", 2.0),
    ("telcat -f mps:1.6.1,be", "telcat -q -f mps:1.6.1,be LOG", 2.0),
    ("telcat -f tel", "telcat -j 1 -f tel LOG", 0.6),
    ("telcat (text) of .tel", "telcat -j 1 LOG.tel", 1.5),
    ("telstat of .tel", "telstat -j 1 LOG.tel", 0.15),
    ("telfilter -c of .tel", "telfilter -j 1 -c LOG.tel", 0.15),
    ("telfilter -k of .tel", "telfilter -j 1 -k Pool,Seg LOG.tel", 0.15),
]

# A range of a .tel file of so many megabytes, by CPU time: what is read, and
# how much of reading all of it that may take.
RANGE_MB = 1024
RANGE_ROWS = [
    ("telcat, last 1 %", "telcat -q -t 99%,100% LOG", 0.03),
]

# What is measured by size, of each shipped log: the command, what it is
# compared with, and the most that it may be of that.
SIZE_ROWS = [
    ("telcat -f tel", "telcat -q -f tel LOG", "cat LOG", 0.5),
    ("telcat -f tel -z 3", "telcat -q -f tel -z 3 LOG", "zstd -3 -c LOG", 0.75),
]

# The same for an ETS log.
ETS_ROWS = [
    ("telcat (text), ETS", "telcat LOG", 1.5),
    ("telcat -f tracerpt, ETS", "telcat -f tracerpt LOG", 1.5),
    ("telstat, ETS", "telstat -j 1 LOG", 0.4),
    ("telfilter -k Endpoint, ETS", "telfilter -k Endpoint LOG", None),
]

# The same for an HPM trace, whose text is four times as long as it.
HPM_ROWS = [
    ("telcat (text), HPM", "telcat LOG", 2.5),
    ("telstat, HPM", "telstat -j 1 LOG", 0.3),
    ("telfilter -c, HPM", "telfilter -j 1 -c LOG", 0.3),
]

# The same for a trace of LTTng, of events of 12 and 20 bytes, and beside it
# babeltrace2, if it is installed.
CTF_ROWS = [
    ("telcat -c, CTF", "telcat -q -c LOG", 1.0),
    ("telcat (text), CTF", "telcat -q -j 1 LOG", 3.5),
    ("telfilter -w, CTF", "telfilter -q -c -w 'size > 1k' LOG", None),
]
CTF_PEERS = [
    ("babeltrace2, a counter", "babeltrace2 -c sink.utils.counter LOG", None),
    ("babeltrace2 (text)", "babeltrace2 LOG", None),
]

# And for a recording of Java Flight Recorder, of events of 20 bytes.
JFR_ROWS = [
    ("telcat -c, JFR", "telcat -q -c LOG", 1.0),
    ("telstat, JFR", "telstat -q LOG", None),
    ("telcat (text), JFR", "telcat -q -j 1 LOG", None),
]

JFR_MEMORY = 72  # megabytes, of text of a recording from a pipe, chunks of 12 MB

# What is measured by wall time on zstd input, over the slower of "zstd -dc"
# and the same command on the uncompressed log.
ZSTD_ROWS = [
    ("telcat -f mpstxt < zstd", "telcat -f mpstxt LOG", 1.15),
    ("telcat (text) < zstd", "telcat LOG", 1.15),
]

# What is measured on one core and on several: the name, the command without
# -j, and its input: LOG and what follows it.
CORES_ROWS = [
    ("telstat, 4 files", "telstat --no-merge LOG LOG LOG LOG"),
    ("telfilter -c, 4 files", "telfilter -c --no-merge LOG LOG LOG LOG"),
    ("telstat", "telstat LOG"),
    ("telfilter -c", "telfilter -c LOG"),
    ("telstat of .tel", "telstat LOG.tel"),
    ("telstat, seekable zstd", "telstat LOG.seekable.zst"),
    ("telfilter -c, seekable zstd", "telfilter -c LOG.seekable.zst"),
]
# The same where the main thread renders, too, so that nothing but reading is
# serial: these are not asked about CORES_MODEL.
RENDER_ROWS = [
    ("telcat (text)", "telcat LOG"),
    ("telcat -f json", "telcat -f json LOG"),
    ("telcat -f mpstxt", "telcat -f mpstxt LOG"),
]
CORES = 2  # that are measured
CORES_TARGET = 1.7  # times the throughput of one
CORES_MODEL = 16  # that the model is asked about

# What a tool takes to start, read a log of 4 KB and exit, beside a program that
# does nothing: what is in the log's place, and the most that it may be of that.
START_ROWS = [
    ("true", "true", None),
    ("telstat, 4 KB", "telstat LOG", 3),
    ("telfilter -c, 4 KB", "telfilter -c LOG", 3),
    ("telcat (text), 4 KB", "telcat LOG", 3),
    ("telstat, 4 KB of gzip", "telstat LOG.gz", 4),
    ("telstat, 4 KB of xz", "telstat LOG.xz", 4),
    ("telstat, 4 KB of zstd", "telstat LOG.zst", 4),
    ("zstd -dc of it", "zstd -dcq LOG.zst", None),
]
STARTS = 300

# Of the page of the log, in a browser of 1,920 by 1,080 pixels.
PAGE_ROWS = [
    ("size, MB", "size", 8),
    ("CPU until ready, s", "ready", 0.5),
    ("frame, CPU ms", "frame", 10),
    ("frame, 95 %, CPU ms", "frame95", 30),
    ("while selecting, CPU ms", "select", 10),
    ("renderer's memory, MB", "memory", 250),
]

# A page of so many events from a pipe, by CPU time over that of telstat, by
# the megabytes of memory that makes, and by its size.
PAGE_EVENTS = 1_000_000_000
PAGE_TIME = 2
PAGE_MEMORY = 64
PAGE_SIZE = 8
EVENT_CLOCK_SYNC = 28  # its code in the MPS

# What reads a log of MEMORY_MB megabytes from a pipe: the most megabytes.
MEMORY_ROWS = [
    ("telcat (text)", "telcat", 16),
    ("telcat -f sql", "telcat -f sql", 16),
    ("telcat -f html", "telcat -q -f html", 64),
    ("telstat", "telstat", 16),
    ("telstat -s tally, 1M keys", "telstat -s 't=tally(index,1M)'", 64),
    ("telfilter -k Pool,Seg", "telfilter -k Pool,Seg", 16),
]


def grow_ets(seed, path, size):
    """The same for an ETS log, whose first records, those without a clock,
    come once."""
    begin = 0
    while int.from_bytes(seed[begin:begin + 8], "little") == 0:
        begin += 48 + int.from_bytes(seed[begin + 20:begin + 24], "little")
    with open(path, "wb") as out:
        out.write(seed[:begin])
        for _ in range(max(1, size // (len(seed) - begin))):
            out.write(seed[begin:])


def grow_hpm(folder, size):
    """An HPM trace of a processor with eight counters, and its meta file."""
    def word(*values):
        return struct.pack(f">{len(values)}i", *values)

    def name(text):
        return word(len(text)) + text.encode()

    meta = bytearray(word(3, 0, 9, 12))
    for i in range(1, 9):
        meta += word(2, i, 0) + name(f"PM_EVENT_NUMBER_{i}")
    for i in range(1, 6):
        meta += word(3, i, i + 1) + name("class spec.jbb.Warehouse")
    for i in (345, 1201):
        meta += word(4, i) + name("Lspec/jbb/Warehouse;") + name("run")
        meta += name("()V")
    with open(os.path.join(folder, "HPM.headerFile"), "wb") as out:
        out.write(meta)
    path = os.path.join(folder, "HPM.1.startup")
    clock = 0x1234560025
    with open(path, "wb") as out:
        out.write(word(3) + name("HPM.headerFile"))
        for i in range(size // 96):
            thread, ticks = i % 7 + 1, i * 7919 % 4000000 + 1000
            out.write(struct.pack(
                ">iiqqii8q", thread + 1 << 16 | 0x4011,
                -thread if i % 3 == 0 else thread, clock, clock + ticks,
                1201, 345, *(ticks * n // 3 for n in range(1, 9))))
            clock += ticks + 10
        out.write(word(6, 0))  # the virtual machine ended
    return path


def later(seed):
    """An MPS stream of a machine like this one, of 64 bits, again and again,
    each time later than before.  How many events, and their bytes."""
    words, clocks, at = array.array("Q", seed[:len(seed) & ~7]), [], 0
    wall = []  # the other clock of points of synchronisation
    while 8 * at + 16 <= len(seed):
        clocks.append(at + 1)
        if words[at] & 0xffff == EVENT_CLOCK_SYNC:
            wall.append(at + 2)
        at += (words[at] >> 16 & 0xffff) + 7 >> 3
    first = 8 * (clocks[1] - 1)
    # all words are one number: what is added to it moves all clocks at once
    more = array.array("Q", bytes(8 * len(words)))
    length, wall_length = (max(times) - min(times) for times in (
        [words[i] for i in which] or [0] for which in (clocks, wall)))
    for i in clocks:
        more[i] = length + 1000
    for i in wall:
        more[i] = wall_length + 1000 * wall_length // length
    number, more = (int.from_bytes(a.tobytes(), sys.byteorder)
                    for a in (words, more))
    yield len(clocks), words
    while True:
        number += more
        yield len(clocks) - 1, memoryview(
            number.to_bytes(8 * len(words), sys.byteorder))[first:]


def grow_on(seed, path, size):
    """A stream of size bytes that goes on, as that of one program does."""
    with open(path, "wb") as out:
        for _, part in later(seed):
            out.write(part)
            if out.tell() >= size:
                break


def grow_tel(seed, path, size):
    """A .tel of size bytes, of a stream that goes on."""
    with open(path, "wb") as out, subprocess.Popen(
            ["telcat", "-q", "-f", "tel"], stdin=subprocess.PIPE,
            stdout=out) as child:
        for _, part in later(seed):
            child.stdin.write(part)
            if os.path.getsize(path) >= size:
                break


def run(command):
    """Runs a command to /dev/null.  Its CPU seconds and wall seconds."""
    begin = time.monotonic()
    child = subprocess.Popen(
        ["sh", "-c", "exec " + command], stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.monotonic() - begin
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 3):
        sys.exit(f"bench: status {child.returncode}: {command}")
    return usage.ru_utime + usage.ru_stime, wall


def measure(commands, which):
    """The median of RUNS of each, taken in turns so that all share the
    machine's moods.  which: 0 for CPU, 1 for wall time."""
    taken = [[] for _ in commands]
    for _ in range(RUNS):
        for command, times in zip(commands, taken):
            times.append(run(command)[which])
    return [statistics.median(times) for times in taken]


def row(what, seconds, ratio, target, rate=None):
    """Prints a line of the table."""
    print(
        f"{what:26} {seconds:8.3f} {ratio:7.2f} "
        f"{'-' if target is None else format(target, '.2f'):>7} "
        f"{'' if rate is None else format(rate, '.1f'):>10}"
        f"{'' if target is None or ratio <= target else '  over'}"
    )


def measure_traces(folder, megabytes):
    """CTF and JFR, both of which are made, against md5sum of their bytes."""
    here = os.path.dirname(os.path.abspath(__file__))
    ctf = os.path.join(folder, "bench.ctf")
    jfr = os.path.join(folder, "bench.jfr")
    shutil.rmtree(ctf, ignore_errors=True)
    # a packet of each stream has 200 KB
    subprocess.run(["python3", os.path.join(here, "ctf_trace.py"), ctf, "4",
                    str(max(1, megabytes * 10 // 8)), "12500"], check=True)
    with open(jfr, "wb") as out:
        subprocess.run(["python3", os.path.join(here, "jfr_make.py"),
                        str(megabytes << 20)], stdout=out, check=True)
    peers = CTF_PEERS if shutil.which("babeltrace2") else []
    for rows, log, bytes_of in ((CTF_ROWS + peers, ctf, ctf + "/*"),
                                (JFR_ROWS, jfr, jfr)):
        times = measure(["md5sum " + bytes_of] +
                        [c.replace("LOG", log) for _, c, _ in rows], 0)
        for (what, _, target), seconds in zip(rows, times[1:]):
            row(what, seconds, seconds / times[0], target)
    # a chunk of 12 MB, and what it defines
    with open(jfr, "rb") as file:
        used = peak("telcat -q -j 1", file.read(), 2 * megabytes + 1)
    print(f"{'telcat, JFR pipe, MB':26} {used:8.1f} {'':7} {JFR_MEMORY:7}"
          f"{'' if used <= JFR_MEMORY else '  over'}")


def peak(command, seed, megabytes):
    """The peak of memory in megabytes of a command that reads the seed again
    and again from a pipe.  The kernel's VmHWM says it, which begins anew with
    the program; ru_maxrss remembers the process that started it."""
    child = subprocess.Popen(
        ["sh", "-c", "exec " + command],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
    )
    try:
        for _ in range(megabytes * 1024 * 1024 // len(seed)):
            child.stdin.write(seed)
        child.stdin.flush()
    except BrokenPipeError:
        sys.exit(f"bench: it did not read all of its input: {command}")
    time.sleep(0.5)  # it reads what the pipe still holds
    with open(f"/proc/{child.pid}/status", encoding="ascii") as status:
        lines = dict(line.split(":", 1) for line in status)
    child.stdin.close()
    if child.wait() not in (0, 3):
        sys.exit(f"bench: status {child.returncode}: {command}")
    return int(lines["VmHWM"].split()[0]) / 1024


def measure_sizes():
    """The size of what is written of each shipped log: the worst of them, of
    those of some size and of all.  A log that is repeated would tell nothing:
    a compressor finds the repetition."""
    print(f"\n{'size, worst of the logs':26} {'MB':>8} {'/plain':>7} "
          f"{'target':>7}")
    logs = []
    for packed in sorted(glob.glob("tests/data/mps/*.log.zst")):
        logs.append(subprocess.run(["zstd", "-dcqf", packed], check=True,
                                   stdout=subprocess.PIPE).stdout)
    for what, command, plain, target in SIZE_ROWS:
        worst = []
        for log in logs:
            sizes = [len(subprocess.run(
                c.replace("LOG", "-"), shell=True, check=True, input=log,
                stdout=subprocess.PIPE).stdout) for c in (command, plain)]
            worst.append((sizes[0] / sizes[1], len(log) / 1e6))
        for least in 16, 0:
            ratio, size = max(w for w in worst if w[1] * 1e3 >= least)
            row(what + (f", {least} kB+" if least else ""), size, ratio,
                target)


def start(command):
    """Runs a command without a shell.  Its wall time in milliseconds."""
    null = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0)
            for fd in (1, 2)]
    before = time.perf_counter()
    child = os.posix_spawnp(command[0], command, os.environ,
                            file_actions=null)
    _, status = os.waitpid(child, 0)
    wall = time.perf_counter() - before
    if os.waitstatus_to_exitcode(status) not in (0, 3):
        sys.exit(f"bench: status {status}: {command}")
    return 1000 * wall


def measure_starts(folder, seed):
    """The wall time of short runs, in turns: that of the process included."""
    path = os.path.join(folder, "start.log")
    with open(path, "wb") as file:
        file.write(seed[:4096])
    for tool, end in ("gzip -c", "gz"), ("xz -c", "xz"), ("zstd -cq", "zst"):
        subprocess.run(f"{tool} {path} >{path}.{end}", shell=True, check=True)
    commands = [c.replace("LOG", path).split() for _, c, _ in START_ROWS]
    taken = [[start(c) for c in commands] for _ in range(STARTS)]
    print(f"\n{'start to exit':26} {'wall ms':>8} {'/true':>7} "
          f"{'target':>7}")
    walls = [statistics.median(times) for times in zip(*taken)]
    for (what, _, target), wall in zip(START_ROWS, walls):
        row(what, wall, wall / walls[0], target)


def measure_page(log, events):
    """A page of a log in a browser, where there is one."""
    if not any(map(shutil.which, ("chromium", "google-chrome"))):
        print("\nno browser: pages are not measured (make check-page "
              "installs one)")
        return
    with open(log + ".html", "wb") as out:
        subprocess.run(["telcat", "-q", "-f", "html", log], stdout=out,
                       check=True)
    page = os.path.join(os.path.dirname(__file__), "..", "page", "measure.py")
    lines = subprocess.run([sys.executable, page, log + ".html"], check=True,
                           stdout=subprocess.PIPE, text=True).stdout
    numbers = dict(line.split() for line in lines.splitlines())
    numbers["size"] = os.path.getsize(log + ".html") / 1e6
    print(f"\n{f'page, {events / 1e6:.1f} M events':26} {'':8} {'':7} "
          f"{'target':>7}")
    for what, name, target in PAGE_ROWS:
        value = float(numbers[name])
        print(f"{what:26} {value:8.2f} {'':7} {target:7}"
              f"{'' if value <= target else '  over'}")


def feed(command, seed, events):
    """CPU seconds, and megabytes of memory, of a command that reads a log of
    so many events from a pipe."""
    child = subprocess.Popen(["sh", "-c", "exec " + command],
                             stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    for count, part in later(seed):
        child.stdin.write(part)
        events -= count
        if events <= 0:
            break
    child.stdin.close()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"bench: status {child.returncode}: {command}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def measure_long_page(folder, seed):
    """A page of a log whose time goes on, from a pipe.  Each of so many events
    counts, so one run is enough."""
    page = os.path.join(folder, "long.html")
    stat, _ = feed("telstat -q -j 1", seed, PAGE_EVENTS)
    cat, memory = feed(f"telcat -q -f html -o {page}", seed, PAGE_EVENTS)
    size = os.path.getsize(page) / 1e6
    print(f"\n{f'a log of {PAGE_EVENTS / 1e6:.0f} M events':26} {'':8} "
          f"{'':7} {'target':>7}")
    print(f"{'telstat, CPU s':26} {stat:8.2f}")
    for what, value, ratio, target in (
            ("telcat -f html, /telstat", cat, cat / stat, PAGE_TIME),
            ("memory, MB", memory, memory, PAGE_MEMORY),
            ("size, MB", size, size, PAGE_SIZE)):
        print(f"{what:26} {value:8.2f} {ratio:7.2f} {target:7}"
              f"{'' if ratio <= target else '  over'}")


def fill(pipe):
    """Writes to a pipe until no byte more fits.  How many there were."""
    os.set_blocking(pipe, False)
    count = 0
    for size in 4096, 1:
        try:
            while True:
                count += os.write(pipe, bytes(size))
        except BlockingIOError:
            pass
    os.set_blocking(pipe, True)
    return count


def tasks(pid):
    """The state of each thread of a process, and its CPU seconds."""
    found = {}
    for task in os.listdir(f"/proc/{pid}/task"):
        folder = f"/proc/{pid}/task/{task}"
        try:
            with open(folder + "/stat", encoding="ascii") as file:
                state = file.read().rpartition(")")[2].split()[0]
            with open(folder + "/schedstat", encoding="ascii") as file:
                found[int(task)] = state, int(file.read().split()[0]) / 1e9
        except (FileNotFoundError, ProcessLookupError):
            pass  # it has just ended
    return found


def split_time(command):
    """The CPU seconds of the main thread of a command, which starts, adds up
    what the others counted and prints it, and those of the others.  The
    command prints into a full pipe, so it can be looked at before it ends."""
    out, pipe = os.pipe()
    fill(pipe)
    child = subprocess.Popen(["sh", "-c", "exec " + command], stdout=pipe)
    os.close(pipe)
    waiting = 0
    while waiting < 3:
        time.sleep(0.01)
        threads = tasks(child.pid)
        alone = list(threads) == [child.pid]
        # it waits for no thread, so it waits for the pipe
        waiting = waiting + 1 if alone and \
            threads[child.pid][0] == "S" else 0
        if threads.get(child.pid, "Z")[0] == "Z":
            sys.exit(f"bench: nothing was printed: {command}")
    main_thread = threads[child.pid][1]
    while os.read(out, 1 << 16):
        pass
    os.close(out)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 3):
        sys.exit(f"bench: status {child.returncode}: {command}")
    return main_thread, usage.ru_utime + usage.ru_stime - main_thread


def measure_cores(log):
    """What several cores gain: wall time in turns, and what the CPU time of
    the serial part lets expect, also where the machine has other work.
    Amdahl: T(n) = serial + parallel / n.  The serial part is all of the main
    thread, although it adds up what is counted while the others count on; both
    parts are those with -j n, whose pieces are more and smaller.  One core is
    one that the command is bound to: of what is compressed, another thread
    decompresses ahead with -j 1, too."""
    bound = "taskset -c 0 " if shutil.which("taskset") else ""
    subprocess.run(f"telfilter -z 3 {log} >{log}.seekable.zst", shell=True,
                   check=True)
    print(f"\n{'cores':27} {'CPU s':>7} {'wall s':>7} {'gain':>7} "
          f"{'target':>7} {'model':>7} {f'of {CORES_MODEL}':>7} "
          f"{'serial':>7}")
    for what, command in CORES_ROWS:
        tool, _, rest = command.replace("LOG", log).partition(" ")
        commands = [f"{bound}{tool} -j 1 {rest}",
                    f"{tool} -j {CORES} {rest}"]
        alone = measure(commands[:1], 0)[0]
        one, several = measure(commands, 1)
        gains = []
        for n in CORES, CORES_MODEL:
            parts = [split_time(f"{tool} -j {n} {rest}")
                     for _ in range(RUNS)]
            serial, parallel = (statistics.median(p) for p in zip(*parts))
            gains.append(alone / (serial + parallel / n))
        print(f"{what:27} {alone:7.3f} {several:7.3f} {one / several:7.2f} "
              f"{CORES_TARGET:7.2f} {gains[0]:7.2f} {gains[1]:7.1f} "
              f"{1000 * serial:4.0f} ms"
              f"{'' if one / several >= CORES_TARGET else '  under'}",
              flush=True)
    for what, command in RENDER_ROWS:
        tool, _, rest = command.replace("LOG", log).partition(" ")
        commands = [f"{bound}{tool} -j 1 {rest}",
                    f"{tool} -j {CORES} {rest}"]
        alone, together = measure(commands, 0)
        one, several = measure(commands, 1)
        print(f"{what:27} {alone:7.3f} {several:7.3f} {one / several:7.2f} "
              f"{CORES_TARGET:7.2f} {CORES * alone / together:7.2f}"
              f"{'' if one / several >= CORES_TARGET else '  under'}",
              flush=True)


def on(command, path):
    """A command of a table, of that log."""
    return command.replace("LOG", path)


def measure_cpu(folder, log, megabytes):
    """The processor time of each format.  How many events the MPS log has."""
    size = os.path.getsize(log)
    # counted in what comes out, so that nothing is fast by losing events
    events = int(subprocess.run(
        ["sh", "-c", "telcat -H -f mpscnv \"$1\" | wc -l", "sh", log],
        stdout=subprocess.PIPE, check=True,
    ).stdout)
    print(f"{size / 1e6:.0f} MB, {events / 1e6:.2f} M events, "
          f"output to /dev/null, median of {RUNS}\n")

    print(f"{'what':26} {'CPU s':>8} {'/md5sum':>7} {'target':>7} "
          f"{'M events/s':>10}")
    times = measure(
        [on("md5sum LOG", log)] + [on(c, log) for _, c, _ in CPU_ROWS], 0
    )
    row("md5sum", times[0], 1, None)
    for (what, _, target), seconds in zip(CPU_ROWS, times[1:]):
        row(what, seconds, seconds / times[0], target, events / seconds / 1e6)

    ets = os.path.join(folder, "bench.ets")
    with open(os.path.join(folder, "seed.ets"), "rb") as file:
        grow_ets(file.read(), ets, megabytes << 20)
    times = measure(
        [on("md5sum LOG", ets)] + [on(c, ets) for _, c, _ in ETS_ROWS], 0
    )
    for (what, _, target), seconds in zip(ETS_ROWS, times[1:]):
        row(what, seconds, seconds / times[0], target)

    hpm = grow_hpm(folder, megabytes << 20)
    times = measure(
        [on("md5sum LOG", hpm)] + [on(c, hpm) for _, c, _ in HPM_ROWS], 0
    )
    for (what, _, target), seconds in zip(HPM_ROWS, times[1:]):
        row(what, seconds, seconds / times[0], target)

    measure_traces(folder, megabytes)
    return events


def main():
    """Everything, or what is quick."""
    global RUNS  # pylint: disable=global-statement
    folder, megabytes = sys.argv[1], int(sys.argv[2])
    quick = sys.argv[3:] == ["quick"]
    log = os.path.join(folder, "bench.log")
    with open(os.path.join(folder, "seed.log"), "rb") as file:
        seed = file.read()
    grow_on(seed, log, megabytes << 20)
    subprocess.run(on("telcat -f tel LOG >LOG.tel", log), shell=True,
                   check=True)
    if quick:
        RUNS = 3
    events = measure_cpu(folder, log, megabytes)
    if quick:
        return

    subprocess.run(["zstd", "-q", "-f", "-3", log, "-o", log + ".zst"],
                   check=True)
    measure_sizes()

    measure_starts(folder, seed)
    measure_cores(log)

    measure_page(log, events)
    measure_long_page(folder, seed)

    print(f"\n{'zstd input':26} {'wall s':>8} {'/slower':>7} {'target':>7}")
    packed = [on("zstd -dc LOG.zst", log)]
    for _, command, _ in ZSTD_ROWS:
        packed += [on(command, log), on(command, log + ".zst")]
    times = measure(packed, 1)
    row("zstd -dc", times[0], 1, None)
    for i, (what, _, target) in enumerate(ZSTD_ROWS):
        plain, unpacked = times[1 + 2 * i], times[2 + 2 * i]
        row(what, unpacked, unpacked / max(plain, times[0]), target)

    print(f"\n{f'range, {RANGE_MB} MB .tel':26} {'CPU s':>8} {'/all':>7} "
          f"{'target':>7}")
    grow_tel(seed, log + ".tel", RANGE_MB << 20)
    for what, command, target in RANGE_ROWS:
        part, whole = (run(on(c, log + ".tel"))[0]
                       for c in (command, "telcat -q LOG"))
        row(what, part, part / whole, target)

    print(f"\n{'peak memory, ' + str(MEMORY_MB) + ' MB pipe':26} {'MB':>8} "
          f"{'':7} {'target':>7}")
    for what, command, target in MEMORY_ROWS:
        used = peak(command, seed, MEMORY_MB)
        print(f"{what:26} {used:8.1f} {'':7} {target:7}"
              f"{'' if used <= target else '  over'}")


if __name__ == "__main__":
    main()
