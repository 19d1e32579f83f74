#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Tests that pages work in Firefox, too (TAP); skipped where there is none.

Firefox is driven over Marionette, whose port it chooses itself and writes to
its profile.  Screenshots are kept in the folder of the argument.
"""

import base64
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

import browser
import cases
import logs
import make_page
from cases import command, expect

NAMES = ("firefox-esr", "firefox")
PREFS = """\
user_pref("marionette.port", 0);
user_pref("app.update.auto", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("toolkit.telemetry.reportingpolicy.firstRun", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("security.sandbox.content.level", 0);
"""
# Asks a page that is ready.
LOOK = """
    const [done] = arguments;
    (async () => {
        await window.teltools.ready;
        // of a log, until it says what it shows
        while (teltools.head.page === "timeline" &&
            !document.getElementById("status").textContent)
            await new Promise(requestAnimationFrame);
        return (%s)();
    })().then((value) => done({ value }), (e) => done({ error: String(e) }));
"""


# The errors of pages in Firefox's own console.
ERRORS = """
    return Services.console.getMessageArray()
        .filter((m) => m instanceof Ci.nsIScriptError &&
            m.sourceName.startsWith("file:") && !(m.flags & 1))
        .map((m) => `${m.category}: ${m.errorMessage}`);
"""


class Firefox:
    """A Firefox without a window, in a profile of its own."""

    def __init__(self):
        program = next(filter(None, map(shutil.which, NAMES)), None)
        if not program:
            raise FileNotFoundError("no " + " or ".join(NAMES))
        self.home = tempfile.TemporaryDirectory(prefix="teltools-firefox-",
                                                ignore_cleanup_errors=True)
        profile = os.path.join(self.home.name, "profile")
        os.mkdir(profile)
        with open(os.path.join(profile, "user.js"), "w",
                  encoding="utf-8") as out:
            out.write(PREFS)
        with open(os.path.join(self.home.name, "log"), "wb") as log:
            self.process = subprocess.Popen(
                [program, "--headless", "--marionette", "--no-remote",
                 "--remote-allow-system-access", "--profile", profile],
                start_new_session=True,
                env={**os.environ, "HOME": self.home.name,
                     "MOZ_CRASHREPORTER_DISABLE": "1"},
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.number, self.socket, self.data = 0, None, b""
        try:
            self.connect(os.path.join(profile, "MarionetteActivePort"))
        except BaseException:
            self.close()
            raise

    def connect(self, path):
        def port():
            if self.process.poll() is not None:
                raise EOFError("Firefox has ended")
            try:
                with open(path, encoding="ascii") as file:
                    return int(file.read())
            except (FileNotFoundError, ValueError):
                return None

        self.socket = socket.create_connection(
            ("127.0.0.1", browser.until(port, "Firefox opens no port")),
            timeout=browser.LIMIT)
        self.receive()
        self.call("WebDriver:NewSession")
        self.call("WebDriver:SetTimeouts", script=int(browser.LIMIT * 1000),
                  pageLoad=int(browser.LIMIT * 1000))

    def receive(self):
        """The next message: its length, a colon, and JSON."""
        while True:
            length, colon, rest = self.data.partition(b":")
            if colon and len(rest) >= int(length):
                self.data = rest[int(length):]
                return json.loads(rest[:int(length)])
            more = self.socket.recv(1 << 16)
            if not more:
                raise EOFError("Firefox has ended")
            self.data += more

    def call(self, name, **params):
        self.number += 1
        text = json.dumps([0, self.number, name, params]).encode()
        self.socket.sendall(b"%d:%s" % (len(text), text))
        _, _, error, result = self.receive()
        if error:
            raise RuntimeError(f"{name}: {error['message']}")
        return result

    def open(self, path):
        self.call("WebDriver:Navigate", url="file://" + path)

    def run(self, function):
        """What a function returns in a page that is ready and has nothing left
        to draw.  It sees the functions of the page, not its constants."""
        value = self.call("WebDriver:ExecuteAsyncScript",
                          script=LOOK % function, args=[],
                          sandbox=None)["value"]
        if "error" in value:
            raise RuntimeError(value["error"])
        return value.get("value")

    def errors(self):
        """What pages did wrong, a broken content policy, too."""
        self.call("Marionette:SetContext", value="chrome")
        found = self.call("WebDriver:ExecuteScript", script=ERRORS,
                          args=[])["value"]
        self.call("Marionette:SetContext", value="content")
        return found

    def screenshot(self, path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as out:
            out.write(base64.b64decode(self.call(
                "WebDriver:TakeScreenshot", full=False)["value"]))

    def close(self):
        if self.socket:
            self.socket.close()
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.home.cleanup()


def timeline(firefox, folder):
    """The page of a log is drawn, searched, and described"""
    path = os.path.join(folder, "mixed.html")
    make_page.mixed().write(path)
    events = make_page.mixed_events(random.Random(1))
    firefox.open(path)
    expect(firefox.run("""() => {
        const { width, height } = document.getElementById("canvas");
        return new Set(new Uint32Array(document.getElementById("canvas")
            .getContext("2d").getImageData(0, 0, width, height)
            .data.buffer)).size > 20;
    }"""), True, "the canvas has few colours")
    expect(firefox.run("() => [...document.querySelectorAll('.row')].map((r) =>"
                       " Number(r.dataset.track))"), [1, 6, 7, 8, 2, 4, 3])
    expect(firefox.run("() => window.find('name == Alloc && size >= 1k')"),
           sum(e[0] == 0 and e[5][0] >= 1024 for e in events))
    expect(firefox.run("() => statistics({ from: 0, to: teltools.head.span })"
                       ".then((s) => s.count)"), len(events))
    expect(firefox.run("() => csv().then((s) => s.includes('nursery'))"), True)
    expect(firefox.run("() => png().then((b) => b.size > 1000)"), True)


def report(firefox, folder):
    """The page of a report has its charts"""
    path = os.path.join(folder, "report.html")
    with open(path, "wb") as out:
        out.write(command("telstat", "--report", "-s", "sizes=log2(size)",
                          "-f", "html", *logs.allocations(folder)))
    firefox.open(path)
    expect(firefox.run("() => [...document.querySelectorAll('#tabs button')]"
                       ".map((e) => e.textContent)"),
           ["Statistics", "Overview", "Tables", "About"])
    expect(firefox.run("() => document.querySelectorAll('figure rect')"
                       ".length > 5"), True)


def shown(firefox, folder):
    """Logs of memory and of messages are shown, whole and a part"""
    for make in (logs.mps_collections, logs.boot):
        path = os.path.join(folder, make.__name__ + ".html")
        with open(path, "wb") as out:
            out.write(command("telcat", "-q", "-f", "html", *make(folder)))
        firefox.open(path)
        expect(firefox.run("""async () => {
            const { span } = teltools.head;
            setView(span * 0.45, span * 0.55);
            while (!location.hash)
                await new Promise(requestAnimationFrame);
            return document.getElementById("failed");
        }"""), None)
        firefox.screenshot(os.path.join(sys.argv[1],
                                        f"firefox-{make.__name__}.png"))


def main():
    try:
        firefox = Firefox()
    except (OSError, EOFError, TimeoutError, RuntimeError) as error:
        print(f"1..0 # SKIP no Firefox starts here: {error}")
        return 0
    tests, failed = [timeline, report, shown], 0
    print(f"1..{len(tests)}")
    with tempfile.TemporaryDirectory() as folder:
        for number, test in enumerate(tests, 1):
            try:
                test(firefox, folder)
                expect(firefox.errors(), [])
                wrong = ""
            except Exception as error:  # pylint: disable=broad-except
                wrong = f"\n# {type(error).__name__}: {error}"
            failed += wrong != ""
            print(f"{'not ' * (wrong != '')}ok {number} {test.__doc__}{wrong}",
                  flush=True)
            firefox.screenshot(os.path.join(
                sys.argv[1], f"firefox-{test.__name__}.png"))
    firefox.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
