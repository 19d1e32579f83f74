#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Tests of how the page of a timeline is laid out, in a browser (TAP): themes,
paper, narrow windows, keys, screen readers, pages that are damaged or empty.
Screenshots are kept in the folder of the argument.
"""

import re
import sys

import cases
import make_page
from cases import expect, near
from timeline import Context


def test_themes(c):
    """The page follows the system's theme, and its own switch"""
    c.page.emulate(prefers_color_scheme="light")
    page = c.open()
    corner = "document.getElementById('canvas').width - 2"
    ask = ("document.getElementById('canvas').getContext('2d').getImageData("
           f"{corner}, document.getElementById('canvas').height - 2, 1, 1)"
           ".data[0]")
    page.wait(f"{ask} > 200")
    page.emulate(prefers_color_scheme="dark")
    page.wait(f"{ask} < 60")
    c.press("t")
    page.wait(f"{ask} > 200")
    c.press("t")
    page.wait("document.documentElement.dataset.theme === 'dark'")
    c.press("t")
    page.emulate(prefers_color_scheme="light")
    page.wait(f"{ask} > 200")


def test_print(c):
    """Paper is light, without controls, also for who likes it dark"""
    page = c.open()
    features = [{"name": "prefers-color-scheme", "value": "dark"}]
    for media, dark in (("screen", True), ("print", False), ("screen", True)):
        page.call("Emulation.setEmulatedMedia", media=media, features=features)
        page.wait("((c) => c.getContext('2d').getImageData(c.width - 2, "
                  "c.height - 2, 1, 1).data[0])(document.getElementById("
                  f"'canvas')) {'<' if dark else '>'} 128")
        expect(page.run("[...document.querySelectorAll('header button, #q')]"
                        ".some((e) => e.id !== 'about' && e.checkVisibility())"
                        ), dark)
    page.call("Emulation.setEmulatedMedia", media="", features=[])


def test_paper(c):
    """Sheets lie on their side, with tracks, and 40 rows of the panel"""
    page = c.open()
    page.run("document.getElementById('tab1').click()")
    page.wait("document.querySelectorAll('#panel tbody tr').length === 200")
    page.call("Emulation.setEmulatedMedia", media="print")
    expect(page.run("[...document.querySelectorAll('#panel tbody tr')].filter("
                    "(r) => r.checkVisibility()).length"), 40)
    expect(page.run("[...document.querySelectorAll('button')].filter((b) => "
                    "b.checkVisibility() && !b.closest('th')).map((b) => b.id)"),
           ["about", "tab1"])
    page.call("Emulation.setEmulatedMedia", media="")
    sheets = cases.sheets(page)
    assert len(sheets) >= 2, sheets
    expect(set(sheets), {(842, 595)})


def test_narrow(c):
    """Narrow pages have names above tracks, and nothing wider than they are"""
    page = c.open()
    for width, height, narrow in ((390, 844, True), (720, 450, False),
                                  (1440, 900, False)):
        page.size(width, height)
        page.wait("document.body.classList.contains('narrow') === "
                  f"{str(narrow).lower()}")
        page.run("teltools.settled()")
        expect(page.run("document.documentElement.scrollWidth"), width)
        for row in page.run("teltools.visible()"):
            head, beside, area = page.run(f"""(() => {{
                const row = document.querySelector(
                    '[data-track="{row['track']}"]');
                const box = (e) => {{
                    const {{ left, top, right, bottom }} =
                        e.getBoundingClientRect();
                    return [left, top, right, bottom];
                }};
                return row ? [box(row.firstChild), box(row.lastChild),
                    box($("area"))] : [0, 0, 0];
            }})()""")
            top = area and area[1] + row["y"]
            if head and narrow:
                expect(head[3] <= top + 1, True, f"{row} {head} {area}")
            elif head:
                expect((head[2] <= area[0] + 1, beside[0] >= area[2] - 1),
                       (True, True), row)
    page.size(1280, 800)


def test_tree(c):
    """The tree of tracks can be walked and folded with keys"""
    page = c.open()
    expect(page.run("document.querySelectorAll('#tree [role=treeitem]')"
                    ".length"), 7)
    page.run("document.querySelector('#tree [tabindex=\"0\"]').focus()")
    for track in (6, 7, 8, 2):
        c.press("ArrowDown")
        page.wait(f"document.activeElement.dataset.track === '{track}'")
    expect(page.run("document.activeElement.getAttribute('aria-expanded')"),
           "true")
    c.press("ArrowLeft")
    page.wait("document.querySelectorAll('.row').length === 6")
    expect(page.run("document.activeElement.getAttribute('aria-expanded')"),
           "false")
    c.press("ArrowRight")
    page.wait("document.querySelectorAll('.row').length === 7")


def test_names_of_controls(c):
    """Every control has a name, and what changes is said"""
    page = c.open()
    page.wait("document.querySelector('#panel table')")
    roles = cases.roles(page)
    for role in ("tree", "tablist", "tabpanel", "status", "search", "main",
                 "table", "searchbox"):
        if role not in roles:
            raise AssertionError(f"no {role}: {sorted(roles)}")
    page.run("setView(1e6, 2e6)")
    page.wait("document.getElementById('status').textContent"
              ".startsWith('1.0')")


def test_labels(c):
    """Long names of threads leave the name of their row to be read"""
    log, path = c.path("threads.text"), c.path("threads.html")
    with open(log, "w", encoding="utf-8") as out:
        out.write("# teltools text 1\n# tick rate: 1000000000.0\n"
                  "# type: a 1 K tid:unsigned\n")
        out.writelines(f'{i:016X} a tid={i % 40}["pool-{i % 40}-http-nio"]\n'
                       for i in range(1, 400))
    with open(path, "wb") as out:
        out.write(cases.command("telcat", "-f", "html", log))
    c.page.open(path)
    c.page.wait("document.querySelectorAll('#axes span').length > 30")
    expect(c.page.run("""(() => {
        const box = (e) => {
            const range = document.createRange();
            range.selectNodeContents(e);
            return range.getBoundingClientRect();
        };
        const labels = [...document.querySelectorAll("#axes span")].map(box);
        return [...document.querySelectorAll("#tree .first .head > *")]
            .filter((e) => labels.some((l) => l.left < box(e).right &&
                l.top < box(e).bottom && l.bottom > box(e).top))
            .map((e) => e.textContent);
    })()"""), [])


def test_drag_past_the_log(c):
    """A drag past the edge of the tracks selects up to the end of the log"""
    page = c.open()
    left, top, right = page.run("""(() => {
        const { left, top, right } = $("area").getBoundingClientRect();
        return [left, top, right];
    })()""")
    page.drag((left + right) / 2, top + 60, right + 60, top + 60)
    expect(page.run("[selection.from < selection.to, "
                    "selection.to === log.span]"), [True, True])
    page.drag((left + right) / 3, top + 60, left - 60, top + 60)
    expect(page.run("selection.from"), 0)


def test_motion(c):
    """Nothing moves by itself: a view is there at once"""
    page = c.open()
    first = c.view()
    now = page.run("""(() => {
        document.dispatchEvent(new KeyboardEvent("keydown", { key: "w" }));
        return view;
    })()""")
    near(now["to"] - now["from"], (first[1] - first[0]) * 0.6)


def test_damage(c):
    """A page that is cut short says so"""
    path = c.path("cut.html")
    make_page.mixed().write(path)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(re.sub(r'(id="b1">.{40}).*?<', r"\1<", text))
    c.page.call("Page.navigate", url="file://" + path)
    c.page.browser.wait_event("Page.loadEventFired", c.page.session)
    c.page.wait("document.getElementById('failed')?.textContent"
                ".includes('b1 is damaged')")
    c.page.leave()
    c.page.browser.events = []


def test_empty(c):
    """A log without events has a page"""
    page = c.open("empty")
    expect(page.run("teltools.visible().length"), 0)
    expect(page.seen("Runtime.exceptionThrown"), [])


if __name__ == "__main__":
    wanted = sys.argv[2:]
    sys.exit(cases.run([f for name, f in list(globals().items())
                        if name.startswith("test_")
                        and (not wanted or name in wanted)],
                       sys.argv[1], context=Context))
