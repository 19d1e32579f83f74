# SPDX-License-Identifier: BSD-2-Clause
"""Drives Chromium over --remote-debugging-pipe: no port, no dependency."""

import base64
import json
import os
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time

# Seconds for anything to happen.
LIMIT = float(os.environ.get("PAGE_LIMIT", "60"))
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def find():
    """The path of a browser, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def until(done, what):
    """Waits until a function returns something true."""
    end = time.monotonic() + LIMIT
    while not (value := done()):
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.02)
    return value


class Browser:
    """A browser without a window, and its pages."""

    def __init__(self, size=(1280, 800)):
        self.profile = tempfile.TemporaryDirectory(prefix="teltools-page-",
                                                   ignore_cleanup_errors=True)
        to_browser, self.out = os.pipe()
        self.inp, from_browser = os.pipe()

        def at_3_and_4():
            # Above 4 first: one of them may be 3 or 4 itself.
            high = [os.dup(fd) for fd in (to_browser, from_browser)]
            while min(high) < 5:
                high = [os.dup(fd) for fd in high]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.log = open(os.path.join(self.profile.name, "log"), "wb")
        if not find():
            raise FileNotFoundError("no " + " or ".join(NAMES))
        self.process = subprocess.Popen(
            [find(), "--headless=new", "--no-sandbox", "--disable-gpu",
             "--remote-debugging-pipe", "--no-first-run", "--disable-sync",
             "--disable-background-networking", "--disable-extensions",
             "--disable-component-update", "--disable-dev-shm-usage",
             "--disable-breakpad", "--no-default-browser-check",
             "--hide-scrollbars", "--force-color-profile=srgb",
             "--disable-renderer-backgrounding", "--mute-audio",
             f"--user-data-dir={self.profile.name}/profile",
             f"--window-size={size[0]},{size[1]}", "about:blank"],
            close_fds=False, preexec_fn=at_3_and_4, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer = b""
        self.number = 0
        self.events = []

    def send(self, method, session=None, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        return self.number

    def receive(self, limit):
        """The next message; TimeoutError when none comes."""
        end = time.monotonic() + limit
        while b"\0" not in self.buffer:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.inp], [], [], left)[0]:
                raise TimeoutError("nothing from the browser")
            data = os.read(self.inp, 1 << 16)
            if not data:
                raise EOFError("the browser has ended")
            self.buffer += data
        raw, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(raw)

    def call(self, method, session=None, **params):
        number = self.send(method, session, **params)
        while True:
            message = self.receive(LIMIT)
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def wait_event(self, method, session):
        while True:
            for i, event in enumerate(self.events):
                if event.get("method") == method and \
                        event.get("sessionId") == session:
                    del self.events[i]
                    return event["params"]
            self.events.append(self.receive(LIMIT))

    def page(self):
        return Page(self)

    def close(self):
        try:
            self.send("Browser.close")
            self.process.wait(LIMIT)
        except (OSError, subprocess.TimeoutExpired):
            pass
        finally:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.process.wait()
            os.close(self.out)
            os.close(self.inp)
            self.log.close()
            self.profile.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Page:
    """A tab."""

    def __init__(self, browser):
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")
        self.target = target["targetId"]
        self.session = browser.call("Target.attachToTarget",
                                    targetId=self.target,
                                    flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "Performance"):
            self.call(f"{domain}.enable")
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                               "hooks.js"), encoding="utf-8") as file:
            self.call("Page.addScriptToEvaluateOnNewDocument",
                      source=file.read())

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def open(self, path, fragment=""):
        """Opens a file, and waits until the page has shown its log."""
        url = "file://" + os.path.abspath(path) + fragment
        self.leave()
        self.call("Page.navigate", url=url)
        self.wait("location.protocol === 'file:' && window.teltools?.ready")
        self.run("teltools.ready.then(() => true)")

    def leave(self):
        """Opens an empty page: nothing comes of the one before any more."""
        self.call("Page.navigate", url="about:blank")
        self.wait("location.href === 'about:blank'")

    def run(self, script):
        """The value of an expression of the page, or of its promise."""
        result = self.call("Runtime.evaluate", expression=script,
                           awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"])[:2000])
        return result["result"].get("value")

    def wait(self, script):
        """Waits until an expression is true."""
        def asked():
            try:
                return self.run(f"!!({script})")
            except RuntimeError as error:
                # between two pages there is none to ask
                if not re.search("context|navigated", str(error), re.I):
                    raise
                return None
        return until(asked, f"never true: {script}")

    def key(self, key, **more):
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text,
                  **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, **more)

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def drag(self, x0, y0, x1, y1, modifiers=0):
        more = {"button": "left", "modifiers": modifiers}
        self.mouse("mousePressed", x0, y0, buttons=1, clickCount=1, **more)
        for i in range(1, 5):
            self.mouse("mouseMoved", x0 + (x1 - x0) * i / 4,
                       y0 + (y1 - y0) * i / 4, buttons=1, **more)
        self.mouse("mouseReleased", x1, y1, clickCount=1, **more)

    def emulate(self, **features):
        """Media features, as prefers_color_scheme="dark"."""
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": k.replace("_", "-"), "value": v}
            for k, v in features.items()])

    def size(self, width, height, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width,
                  height=height, deviceScaleFactor=scale, mobile=False)

    def screenshot(self, path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as out:
            out.write(base64.b64decode(data))

    def seen(self, method):
        """The events of that name so far."""
        self.run("0")
        return [e["params"] for e in self.browser.events
                if e.get("method") == method
                and e.get("sessionId") == self.session]

    def check(self):
        """Fails if the page had an error since the last time."""
        errors = self.seen("Runtime.exceptionThrown") + \
            self.seen("Log.entryAdded")
        self.browser.events = []
        if errors:
            raise AssertionError(json.dumps(errors)[:2000])

    def metrics(self):
        return {m["name"]: m["value"]
                for m in self.call("Performance.getMetrics")["metrics"]}

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
