#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A web server on a free port of loopback, for tests.

ranges.py PORT-FILE LOG-FILE: serves the files of this folder, whole or one
range of bytes; writes its port, and a line "PATH BYTES" for each reply.
"""
import http.server
import os
import re
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path = os.path.basename(self.path)
        if not os.path.isfile(path):
            self.send_error(404)
            return
        with open(path, "rb") as file:
            data = file.read()
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if asked and not path.startswith("whole"):
            first, last = int(asked[1]), min(int(asked[2]), len(data) - 1)
            if first > last:
                self.send_error(416)
                return
            self.send_response(206)
            self.send_header("Content-Range",
                             f"bytes {first}-{last}/{len(data)}")
            data = data[first:last + 1]
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        try:
            self.wfile.write(data)
        except ConnectionError:
            return
        with open(sys.argv[2], "a") as log:
            print(path, len(data), file=log)

    def log_message(self, *_):
        pass


with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
    with open(sys.argv[1] + ".new", "w") as out:
        print(server.server_port, file=out)
    os.rename(sys.argv[1] + ".new", sys.argv[1])
    server.serve_forever()
