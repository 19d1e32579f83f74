#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Traces of "telcat -f perfetto" as protoc decodes them (TAP), by perfetto.proto,
or by the schema of Perfetto itself, if PERFETTO_PROTO is its file
perfetto_trace.proto.
"""

import os
import re
import subprocess
import sys

import cases

SCHEMA = os.environ.get("PERFETTO_PROTO", os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "perfetto.proto"))
LOGS = ("mps/1.118.0-lii6gc-awlut.log.zst", "jfr/g1-17.jfr.zst",
        "jfr/native-ap45.jfr.zst", "ftrace/switches.perf.zst",
        "alloc/gcc.heaptrack.zst", "ctf/all.ctf.tar.zst")


def decode(trace):
    """The lines of all packets, as texts.  What the schema does not know has a
    number for a name."""
    folder, file = os.path.split(SCHEMA)
    text = subprocess.run(
        ["protoc", "-I", folder, "--decode=perfetto.protos.Trace", file],
        input=trace, check=True, stdout=subprocess.PIPE).stdout.decode()
    unknown = re.findall(r"^ *\d+(?:: | \{).*", text, re.M)
    assert not unknown, unknown[:3]
    return text.split("\npacket {\n")


def check(log):
    """Names, categories and tracks are defined before use; ranges end."""
    tracks, names, depth, seen = {0}, set(), {}, 0
    for packet in decode(cases.command("telcat", "-q", "-f", "perfetto", log)):
        track = re.search(r"^  track_descriptor \{\n    uuid: (\d+)", packet,
                          re.M)
        if track:
            tracks.add(int(track[1]))
            parent = re.search(r"^    parent_uuid: (\d+)", packet, re.M)
            assert not parent or int(parent[1]) in tracks, packet
            continue
        for field, iid in re.findall(r"^    (\w+) \{\n      iid: (\d+)", packet,
                                     re.M):
            names.add((field, iid))
        for use, field in (("    category_iids", "event_categories"),
                           ("    name_iid", "event_names"),
                           ("      name_iid", "debug_annotation_names")):
            for iid in re.findall(fr"^{use}: (\d+)", packet, re.M):
                assert (field, iid) in names, (field, packet)
        kind = re.search(r"^    type: TYPE_(\w+)", packet, re.M)
        uuid = re.search(r"^    track_uuid: (\d+)", packet, re.M)
        assert kind and uuid and int(uuid[1]) in tracks, packet
        seen += 1
        step = {"SLICE_BEGIN": 1, "SLICE_END": -1}.get(kind[1], 0)
        depth[uuid[1]] = depth.get(uuid[1], 0) + step
        assert depth[uuid[1]] >= 0, packet
        assert (kind[1] == "COUNTER") == ("\n    counter_value:" in packet)
    assert seen and not any(depth.values()), (seen, depth)


if __name__ == "__main__":
    data = os.path.join(cases.TOP, "tests", "data")
    failed = 0
    print(f"1..{len(LOGS)}")
    for number, log in enumerate(LOGS, 1):
        try:
            check(os.path.join(data, log))
            print(f"ok {number} {log}")
        except (AssertionError, subprocess.CalledProcessError) as error:
            failed += 1
            print(f"not ok {number} {log}\n# {str(error)[:600]!r}")
    sys.exit(failed > 0)
