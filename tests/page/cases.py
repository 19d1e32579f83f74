# SPDX-License-Identifier: BSD-2-Clause
"""Runs tests in one page of a browser, and prints TAP."""

import os
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


class Context:
    """What tests share: a page of a browser, a folder for their files, and one
    for screenshots."""

    def __init__(self, page, folder, shots):
        self.page, self.folder, self.shots = page, folder, shots

    def path(self, name):
        return os.path.join(self.folder, name)

    def screenshot(self, name):
        self.page.screenshot(os.path.join(self.shots, name + ".png"))


def run(cases, shots, size=(1280, 800), context=Context):
    """cases: functions of a context, whose first line of description is their
    title.  Returns the status of the program."""
    chromium = None
    try:
        chromium = browser.Browser()
        page = chromium.page()
    except (OSError, EOFError, TimeoutError) as error:
        # as in a container that forbids what a browser needs
        if chromium:
            chromium.close()
        print(f"1..0 # SKIP no browser starts here: {error}")
        return 0
    print(f"1..{len(cases)}", flush=True)
    failed = 0
    with tempfile.TemporaryDirectory() as folder, chromium:
        page.size(*size)
        for number, case in enumerate(cases, 1):
            try:
                case(context(page, folder, shots))
                page.check()
                print(f"ok {number} {case.__doc__}", flush=True)
            except Exception as error:  # pylint: disable=broad-except
                failed += 1
                print(f"not ok {number} {case.__doc__}\n# {case.__name__}: "
                      f"{type(error).__name__}: {error}", flush=True)
                chromium.events = []
    return 1 if failed else 0
