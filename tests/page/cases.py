# SPDX-License-Identifier: BSD-2-Clause
"""Runs tests in one page of a browser, and prints TAP."""

import base64
import os
import re
import subprocess
import tempfile

import browser

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
BUILD = os.environ.get("TEL_BUILD", os.path.join(TOP, "build"))


def expect(value, wanted, what=""):
    if value != wanted:
        raise AssertionError(f"{what}: {value!r} instead of {wanted!r}")


def near(value, wanted, part=0.01):
    if abs(value - wanted) > part * max(abs(wanted), 1):
        raise AssertionError(f"{value!r} is not near {wanted!r}")


def command(*words):
    """What a command prints; it succeeds, and says nothing to stderr."""
    return subprocess.run(words, check=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE).stdout


def roles(page):
    """The roles of what a screen reader finds; each control has a name."""
    found = set()
    for node in page.call("Accessibility.getFullAXTree")["nodes"]:
        role = node.get("role", {}).get("value")
        name = node.get("name", {}).get("value", "")
        if role in ("button", "textbox", "searchbox", "checkbox", "tab",
                    "combobox", "treeitem", "image", "slider") and not name:
            raise AssertionError(f"a {role} without a name")
        if role:
            found.add(role)
    return found


def sheets(page):
    """The sizes of the sheets that a page prints, in points."""
    data = base64.b64decode(page.call("Page.printToPDF", preferCSSPageSize=True,
                                      printBackground=True)["data"])
    return [(round(float(w)), round(float(h))) for w, h in re.findall(
        rb"/MediaBox \[0 0 ([0-9.]+) ([0-9.]+)\]", data)]


class Context:
    """What tests share: a page of a browser, a folder for their files, and one
    for screenshots."""

    def __init__(self, page, folder, shots):
        self.page, self.folder, self.shots = page, folder, shots

    def path(self, name):
        return os.path.join(self.folder, name)

    def screenshot(self, name):
        self.page.screenshot(os.path.join(self.shots, name + ".png"))


def attempt(case, context):
    """Runs a case; what was wrong, or None."""
    try:
        case(context)
        context.page.check()
        return None
    except (EOFError, BrokenPipeError):
        raise
    except Exception as error:  # pylint: disable=broad-except
        context.page.browser.events = []
        return f"{case.__name__}: {type(error).__name__}: {error}"


def run(cases, shots, size=(1280, 800), context=Context):
    """cases: functions of a context, whose first line of description is their
    title.  Returns the status of the program."""
    def start():
        chromium = browser.Browser()
        try:
            page = chromium.page()
            page.size(*size)
            return chromium, page
        except (OSError, EOFError, TimeoutError):
            chromium.close()
            raise

    try:
        chromium, page = start()
    except (OSError, EOFError, TimeoutError) as error:
        # as in a container that forbids what a browser needs
        print(f"1..0 # SKIP no browser starts here: {error}")
        return 0
    print(f"1..{len(cases)}", flush=True)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, case in enumerate(cases, 1):
            try:
                wrong = attempt(case, context(page, folder, shots))
            except (EOFError, BrokenPipeError):
                # the browser has ended, as where memory is short: once more
                print("# the browser has ended, and is started again")
                chromium.close()
                chromium, page = start()
                wrong = attempt(case, context(page, folder, shots))
            failed += wrong is not None
            print(f"{'not ' * (wrong is not None)}ok {number} {case.__doc__}"
                  + (f"\n# {wrong}" if wrong else ""), flush=True)
    chromium.close()
    return 1 if failed else 0
