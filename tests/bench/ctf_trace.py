#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes a CTF 1.8 trace as LTTng-UST does, of allocations:

    ctf_trace.py FOLDER STREAMS PACKETS EVENTS

STREAMS files of PACKETS packets of EVENTS events, 20 bytes each.  The low bits
of the clocks repeat from packet to packet, so that the events do, too.
"""

import os
import random
import struct
import sys

METADATA = """/* CTF 1.8 */
typealias integer { size = 8; align = 8; } := uint8_t;
typealias integer { size = 32; align = 8; } := uint32_t;
typealias integer { size = 64; align = 8; } := uint64_t;
trace {
	major = 1; minor = 8; byte_order = le;
	uuid = "00010203-0405-0607-0809-0a0b0c0d0e0f";
	packet.header := struct {
		uint32_t magic; uint8_t uuid[16]; uint32_t stream_id;
		uint64_t stream_instance_id;
	};
};
env { domain = "ust"; tracer_name = "lttng-ust"; };
clock { name = "monotonic"; freq = 1000000000; offset = 1700000000000000000; };
typealias integer { size = 27; align = 1; map = clock.monotonic.value; }
    := uint27_clock_t;
typealias integer { size = 64; align = 8; map = clock.monotonic.value; }
    := uint64_clock_t;
stream {
	id = 0;
	packet.context := struct {
		uint64_clock_t timestamp_begin; uint64_clock_t timestamp_end;
		uint64_t content_size; uint64_t packet_size;
		uint64_t packet_seq_num; uint64_t events_discarded;
		uint32_t cpu_id;
	};
	event.header := struct {
		enum : integer { size = 5; align = 1; }
		    { compact = 0 ... 30, extended = 31 } id;
		variant <id> {
			struct { uint27_clock_t timestamp; } compact;
			struct { uint32_t id; uint64_clock_t timestamp; }
			    extended;
		} v;
	} align(8);
};
event {
	name = "lttng_ust_libc:malloc"; id = 0; stream_id = 0;
	fields := struct { uint64_t _size;
	    integer { size = 64; align = 8; base = 16; } _ptr; };
};
event {
	name = "lttng_ust_libc:free"; id = 1; stream_id = 0;
	fields := struct {
	    integer { size = 64; align = 8; base = 16; } _ptr; };
};
"""


def events(stream, count):
    """The bytes of events that end with all blocks freed."""
    draw = random.Random(stream)
    live = []
    out = []
    for i in range(count):
        clock = i * ((1 << 27) // count)
        if live and (len(live) >= count - i or draw.random() < 0.45):
            at = draw.randrange(len(live))
            live[at], live[-1] = live[-1], live[at]
            out.append(struct.pack("<IQ", 1 | clock << 5, live.pop()))
        else:
            live.append(0x7f0000000000 | stream << 32 | i << 4)
            out.append(struct.pack("<IQQ", clock << 5, draw.randrange(4096),
                                   live[-1]))
    return b"".join(out)


def main(folder, streams, packets, count):
    os.makedirs(folder)
    with open(os.path.join(folder, "metadata"), "w", encoding="ascii") as f:
        f.write(METADATA)
    for stream in range(streams):
        body = events(stream, count)
        head = struct.pack("<I16sIQ", 0xc1fc1fc1, bytes(range(16)), 0, stream)
        size = 8 * (len(head) + 52 + len(body))
        with open(os.path.join(folder, "c_%d" % stream), "wb") as f:
            for k in range(packets):
                begin = (k + 1) << 27
                f.write(head + struct.pack("<QQQQQQI", begin,
                                           begin + (1 << 27) - 1, size, size,
                                           k, 0, stream) + body)


main(sys.argv[1], *map(int, sys.argv[2:5]))
