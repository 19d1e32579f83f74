#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The Python module, against what telcat prints.

# shellcheck disable=SC2154

load lib

# with NumPy, if it is installed
python3() { noted command python3 "$@"; }

setup() {
	cd "$BATS_TEST_TMPDIR" || exit
	case ${CFLAGS-} in
	*-fsanitize*) skip "python has no sanitizer" ;;
	esac
	export PYTHONPATH=$TEL_TOP/python LIBTEL=$TEL_BUILD/libtel.so
	# the library may be one of another word size
	command python3 -c \
	    'import ctypes, os; ctypes.CDLL(os.environ["LIBTEL"])' 2>messages ||
	    skip "python3 cannot load $LIBTEL"
	unpack 1.118.0-lii6gc-poolncv
}

@test "events have what telcat prints of them" {
	for log in mpsio.log "$DATA"/1.111.0-lii6gc-amcss.log.zst \
	    "$TEL_TOP"/tests/data/alloc/perl.heaptrack.zst; do
		for order in time: sort:-S file:--file-order; do
			# shellcheck disable=SC2086
			telcat -q ${order#*:} --no-merge -n 3000 -f json "$log" >want
			clean python3 "$TEL_TOP/tests/cli/python_json.py" "$log" \
			    "${order%:*}" <want
		done
	done
}

@test "lists, members of structs, what is absent, and names of enums" {
	python3 "$TEL_TOP/tests/bench/jfr_make.py" odd >odd.jfr
	for log in "$TEL_TOP"/tests/data/jfr/{g1-17,serial-25}.jfr.zst odd.jfr \
	    "$TEL_TOP"/tests/data/ctf/all.ctf.tar.zst; do
		telcat -q -f json "$log" >want
		clean python3 "$TEL_TOP/tests/cli/python_json.py" "$log" time <want
	done
	TOP=$TEL_TOP clean python3 - <<-'END'
		import os, sys, teltools
		sys.path.insert(0, os.environ["TOP"] + "/tests/bench")
		import jfr_make as j
		kinds = {"timespan": (j.TIMESPAN, "NANOSECONDS", "ns"),
		         "timestamp": (j.TIMESTAMP, "TICKS", "time"),
		         "amount": (j.AMOUNT, "BYTES", "bytes"),
		         "bits": (j.AMOUNT, "BITS", "bits"), "share": (50, "", "fraction"),
		         "rate": (51, "", "Hz"), "other": (j.OTHER, "BITS", "")}
		made = j.BASE + [("jdk.jfr.Percentage", 50, j.ANNOTATION, []),
		                 ("jdk.jfr.Frequency", 51, j.ANNOTATION, [])] + [
		    ("test.E", 1000, j.EVENT, [j.HEAD[0]] + [
		        (name, j.LONG, {}, (kind, {"value": value}))
		        for name, (kind, value, _) in kinds.items()])]
		with open("units.jfr", "wb") as f:
		    f.write(j.chunk(made, j.event(
		        1000, j.varint(5000) + j.varint(1) * len(kinds)), [[]]))
		types = {t.name: t for t in teltools.open("units.jfr").types}
		units = {f.name: f.unit for f in types["test.E"].fields}
		assert units == {name: kind[2] for name, kind in kinds.items()}, units
		data = os.environ["TOP"] + "/tests/data"
		event, = [e for e in teltools.open(data + "/jfr/g1-17.jfr.zst",
		    where="heapSpace.committedSize > 1M && gcId == 3 && when == \"After GC\"")]
		heap = event.fields["heapSpace"]
		assert heap["committedSize"] == event.fields["heapSpace.committedSize"]
		assert sorted(heap) == ["committedEnd", "committedSize", "reservedEnd",
		                        "reservedSize", "start"], heap
		try:
		    event.fields["heap"]
		    assert False
		except KeyError:
		    pass
		flags = teltools.columns(data + "/jfr/g1-17.jfr.zst", "jdk.StringFlag")
		assert None in list(flags["value"]) and "" in list(flags["value"])
		texts = teltools.columns(data + "/ctf/all.ctf.tar.zst", "shop:texts",
		                         ["col", "col.label", "seq", "arr"])
		assert list(texts["col.label"]).count("blue") == 72
		assert all(list(v) == [1, -2, 3] for v in texts["arr"])
		assert {len(v) for v in texts["seq"]} == {0, 1, 6}
		types = {t.name: t for t in teltools.open(data + "/jfr/g1-17.jfr.zst").types}
		fields = {f.name: f for f in types["jdk.GarbageCollection"].fields}
		assert fields["duration"].unit == "ns" and not fields["duration"].optional
		assert fields["cause"].optional and fields["cause"].element == "string"
	END
}

@test "blocks of a .tel without an event that is selected are not read" {
	zstd -dcq "$TEL_TOP/tests/data/alloc/surfaceflinger.android.zst" >trace
	for ((i = 0; i < 60; i++)); do cat trace; done | telcat -q -f tel >many.tel
	clean python3 - <<-'END'
		import teltools
		whole = teltools.open("many.tel")
		events = [(e.index, e.clock, e.type, e.fields.get("size")) for e in whole]
		assert whole.counts["events"] == len(events) == 120000
		for options, wanted in (
		        ({"where": "size == 123456789"}, lambda e: False),
		        ({"where": "index == 90000"}, lambda e: e[0] == 90000),
		        ({"where": "size > 100"}, lambda e: e[3] and e[3] > 100)):
		    log = teltools.open("many.tel", **options)
		    got = [(e.index, e.clock, e.type, e.fields.get("size")) for e in log]
		    assert got == [e for e in events if wanted(e)], options
		    few = log.counts["events"] < 90000
		    assert few == ("100" not in str(options)), (options, log.counts)
	END
}

@test "selection, order, counts and mistakes" {
	clean python3 - <<-'END'
		import teltools
		want = [e for e in teltools.open("mpsio.log")
		        if e.type == "PoolAlloc" and e.fields["size"] > 64]
		got = list(teltools.open("mpsio.log", where="size > 64",
		                         types=["PoolAlloc"]))
		assert got and [e.index for e in got] == [e.index for e in want]
		assert {e.kind for e in teltools.open("mpsio.log", kinds="Arena")} \
		    == {"Arena"}
		for options in ({}, {"order": "time"}, {"order": "sort"}):
		    times = [e.clock for e in teltools.open("mpsio.log", **options)]
		    assert times == sorted(times) and len(times) == 144
		raw = [e.clock for e in teltools.open("mpsio.log", order="file")]
		assert raw != times and sorted(raw) == times
		# labels are those of the time
		labelled = 'label(pool) != ""'
		assert len(list(teltools.open("mpsio.log", where=labelled))) == 23
		assert not list(teltools.open("mpsio.log", where=labelled, order="file"))
		try:
		    teltools.open("mpsio.log", order="log")
		    assert False
		except ValueError as error:
		    assert "time, sort or file" in str(error)
		with teltools.open("mpsio.log") as log:
		    assert log.format == "mps" and log.schema == "mps-1.118.0/lii6gc"
		    assert "PoolAlloc" in {t.name for t in log.types}
		    assert sum(1 for _ in log) == log.counts["events"] == 144
		    assert log.counts["damaged"] == 0
		try:
		    next(log)
		    assert False
		except ValueError as error:
		    assert "closed" in str(error)
		with open("cut.log", "wb") as file:
		    file.write(open("mpsio.log", "rb").read()[:3001])
		log = teltools.open("cut.log")
		assert len(list(log)) > 10 and log.counts["damaged"] == 1
		for call in (lambda: list(teltools.open("cut.log", strict=True)),
		             lambda: teltools.open("nowhere"),
		             lambda: teltools.open("mpsio.log", where="size >"),
		             lambda: teltools.open("mpsio.log", types="Pooll"),
		             lambda: teltools.open("mpsio.log", meta="nowhere"),
		             lambda: teltools.open("mpsio.log", as_="nothing")):
		    try:
		        call()
		        assert False
		    except teltools.Error as error:
		        assert error.status < 0 and str(error)
		        said = str(error)
		assert said == "as_: 'nothing' is not a format"
	END
}

@test "a NUL in a name or an expression is refused" {
	clean python3 - <<-'END'
		import teltools
		for options in ({"where": "size>64\0garbage"}, {"types": ["Pool\0"]},
		                {"types": "PoolAlloc\0"}, {"kinds": "Arena\0Pool"},
		                {"as_": "mps\0"}, {"meta": "\0"}, {"path": "mpsio.log\0"}):
		    try:
		        teltools.open(**{"path": "mpsio.log", **options})
		        assert False, options
		    except ValueError as error:
		        assert str(error).startswith(list(options)[0] + ": "), error
		        assert "NUL" in str(error)
	END
}

@test "columns of a damaged log warn, and errors name the file" {
	export DATA
	head -c 3001 mpsio.log >cut.log
	clean python3 - <<-'END'
		import teltools, warnings
		with warnings.catch_warnings(record=True) as caught:
		    warnings.simplefilter("always")
		    table = teltools.columns("mpsio.log", "PoolAlloc")
		    assert not caught and table.counts["damaged"] == 0
		    table = teltools.columns("cut.log", "PoolAlloc")
		assert [str(w.message) for w in caught] == [
		    "cut.log: 1 damaged place was skipped"], caught
		assert caught[0].filename == "<stdin>"
		assert table.counts["damaged"] == 1 and len(table["size"]) > 0
		import os
		path = os.environ["DATA"] + "/1.111.0-lii6gc-amcss.log.zst"
		for order, late in ("time", 261), ("sort", 0), ("file", 0):
		    with warnings.catch_warnings(record=True) as caught:
		        warnings.simplefilter("always")
		        table = teltools.columns(path, "SegAlloc", order=order)
		    assert table.counts["late"] == late, (order, table.counts)
		    assert [str(w.message) for w in caught] == [path + ": 261 events "
		        "arrived out of order"][:late], caught
		for path in ("nowhere", "/dev/null"):
		    try:
		        teltools.open(path)
		        assert False
		    except teltools.Error as error:
		        assert str(error).startswith(path + ": "), error
		        assert str(error).count(path) == 1, error
	END
}

@test "columns are the values of all events of a type" {
	telcat -e PoolAlloc -f csv mpsio.log >table.csv
	clean python3 - <<-'END'
		import csv, teltools
		table = teltools.columns("mpsio.log", "PoolAlloc")
		rows = list(csv.DictReader(open("table.csv")))
		assert list(table) == list(rows[0])
		for name, values in table.items():
		    assert [int(v) for v in values] == [
		        int(r[name], 0) for r in rows], name
		assert list(teltools.columns("mpsio.log", "PoolAlloc", ["size"],
		            where="size > 64")) == ["clock", "size"]
		mixed = teltools.columns("mpsio.log", "Pool*", ["pool"])
		events = list(teltools.open("mpsio.log", types="Pool*"))
		assert len({e.type for e in events}) > 2
		assert list(mixed["clock"]) == [e.clock for e in events]
		assert list(mixed["pool"]) == [e.fields["pool"] for e in events]
		try:
		    teltools.columns("mpsio.log", "PoolAlloc", ["siez"])
		    assert False
		except KeyError:
		    pass
	END
}

@test "columns of types with one name, of no event, and of fields in any form" {
	cat >log.txt <<-'END'
		0000000000000001 Grab p=0x10 n=1
		0000000000000002 Grab p=0x20 n=2
		0000000000000003 Grab p=0x30 who="a"
		0000000000000004 Grab p=0x40 n=-1
	END
	clean python3 - <<-'END'
		import teltools
		def of(*args, **options):
		    table = teltools.columns("log.txt", "Grab", *args, **options)
		    return {name: values if isinstance(values, list) else values.tolist()
		            for name, values in table.items()}
		n, who = [1, 2, None, -1], [None, None, "a", None]
		assert of() == {"clock": [1, 2, 3, 4], "p": [16, 32, 48, 64],
		                "n": n, "who": who}, of()
		assert of(["who"])["who"] == who
		assert of("n")["n"] == of(["n", "n"])["n"] == n
		assert of(where="p == 0x30") == {
		    "clock": [3], "p": [48], "who": ["a"]}
		for log, type_ in (("mpsio.log", "PoolAlloc"), ("mpsio.log", "Pool*")):
		    none = teltools.columns(log, type_, ["size"], where="size == 1 << 60")
		    assert {k: len(v) for k, v in none.items()} == {"clock": 0, "size": 0}
		none = teltools.columns("mpsio.log", "PoolAlloc", where="size == 1 << 60")
		assert [*none] == ["clock", "pool", "pReturn", "size"]
		try:
		    teltools.columns("mpsio.log", "PoolAlloc", iter(["siez"]),
		                     where="size == 1 << 60")
		    assert False
		except KeyError:
		    pass
	END
}

@test "booleans among other values of a column are booleans" {
	cat >log.txt <<-'END'
		# format: mixed
		# type: A 1 k v:boolean w:unsigned
		# type: A 2 k v:unsigned w:boolean
		0000000000000001 A v=true w=5
		0000000000000002 A v=true w=0
		0000000000000003 A v=1 w=true
		0000000000000004 A v=false w=1
		0000000000000005 A v=0 w=false
	END
	clean python3 - <<-'END'
		import teltools
		table = teltools.columns("log.txt", "A")
		for name in "v", "w":
		    want = [e.fields[name] for e in teltools.open("log.txt")]
		    assert repr([*table[name]]) == repr(want), (table[name], want)
	END
}

@test "a name may come later in a log, or in its archive" {
	for ((i = 1; i < 2000; i++)); do
		printf '%016X Grab n=%d\n' "$i" "$i"
	done >log.txt
	echo '0000000000002000 Drop q=5' >>log.txt
	telcat -f tel -o log.tel log.txt
	{
		for i in {1001..5000}; do
			printf 'a-1 [0] d... 1.%06d: go: name="a name that is long"  n=1\n' "$i"
		done
		echo 'a-1 [0] d... 2.000000: Drop: q=5'
	} >log.trace
	cp "$TEL_TOP/tests/data/jfr/g1-17.jfr.zst" a.jfr.zst
	tar -cf logs.tar a.jfr.zst mpsio.log
	clean python3 - <<-'END'
		import teltools
		import subprocess
		started = []
		def pipe(log):
		    started.append(subprocess.Popen(["cat", log], stdout=subprocess.PIPE))
		    return "/dev/fd/%d" % started[-1].stdout.fileno()
		for log in "log.txt", "log.tel", "log.trace":
		    for selection in {"types": "Drop"}, {"where": "q == 5"}:
		        event, = teltools.open(log, **selection)
		        assert event.fields["q"] == 5
		        event, = teltools.open(pipe(log), **selection)
		        assert event.fields["q"] == 5
		    try:
		        [*teltools.open(pipe(log), types="Dropp")]
		        assert False
		    except teltools.Error as error:
		        assert "Dropp" in str(error)
		assert [*teltools.open("logs.tar", types="PoolAlloc")]
		try:
		    teltools.open("log.txt", where="nothing")
		    assert False
		except teltools.Error as error:
		    assert "nothing" in str(error)
	END
}

@test "threads share a reader, and one may close it" {
	cp "$TEL_TOP/tests/data/jfr/g1-17.jfr.zst" run.jfr.zst
	clean python3 - <<-'END'
		import sys, teltools, threading
		sys.setswitchinterval(1e-6)
		want = sorted(e.index for e in teltools.open("run.jfr.zst"))
		def read(log, found):
		    try:
		        for event in log:
		            found.append(event.index)
		            log.counts
		    except ValueError as error:
		        assert "closed" in str(error)
		for closes in False, True, False, True:
		    log, found = teltools.open("run.jfr.zst"), []
		    threads = [threading.Thread(target=read, args=(log, found))
		               for _ in range(4)]
		    for thread in threads:
		        thread.start()
		    if closes:
		        log.close()
		    for thread in threads:
		        thread.join()
		    assert closes or sorted(found) == want
	END
}

@test "a reader is of the process that opened it" {
	clean python3 - <<-'END'
		import gc, os, signal, teltools
		log = teltools.open("mpsio.log")
		want = sum(1 for _ in teltools.open("mpsio.log")) - 1
		next(log)
		child = os.fork()
		if not child:
		    signal.alarm(60)
		    status = 1
		    for use in log.__next__, lambda: log.counts:
		        try:
		            use()
		        except ValueError as error:
		            status = "another process" not in str(error)
		    del log, use
		    gc.collect()
		    os._exit(status)
		assert os.waitpid(child, 0) == (child, 0)
		assert sum(1 for _ in log) == want
	END
}
