"""What the panel's page costs in a real Chromium: paint, first use, scrolling, the slider, live edits, memory.

``aggregate panel --no-open`` in any project prints an address; ``python -m simulation.panel_page ADDRESS`` opens it
some times, each in a browser profile of its own, and prints the median of each figure. ``--edit FILE`` appends lines to
a file of that project and takes them away again, to see how soon the page shows it. The browser is Debian's.
"""

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = [
    "--no-sandbox",  # of the browser's own, which a container does not allow
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
ROUNDS = 5
MEGABYTE = 1_000_000
PATIENCE = 20_000  # ms to wait for something that should take less than one second

# Notes in each frame what has come into sight, in milliseconds since the page was asked for.
WATCH = """
window.seen = {};
const look = () => {
  const note = (name, selector) => {
    if (!(name in window.seen) && document.querySelector(selector)) window.seen[name] = performance.now();
  };
  note("files", "#tree .rows .row");
  note("prompt", "#prompt .row.heading");
  requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""
SCROLL = """async (id) => {
  const list = document.getElementById(id);
  const steps = [];
  for (let step = 1; step <= 60; step++) {
    const begun = performance.now();
    list.scrollTop = step * 3000;
    list.dispatchEvent(new Event("scroll"));
    list.offsetHeight;
    steps.push(performance.now() - begun);
    await new Promise(requestAnimationFrame);
  }
  return steps.sort((left, right) => left - right)[30];
}"""
SLIDE = """async (position) => {
  const total = document.getElementById("total");
  const changed = new Promise((resolve) => new MutationObserver(resolve).observe(total, {childList: true}));
  const slider = document.getElementById("budget-slider");
  const begun = performance.now();
  slider.value = String(position);
  slider.dispatchEvent(new Event("input", {bubbles: true}));
  await changed;
  return performance.now() - begun;
}"""
TOLD = """async (name) => {
  const status = document.getElementById("status");
  while (!status.textContent.includes(name)) await new Promise(requestAnimationFrame);
}"""
COMPOSED = """async () => {
  const total = document.getElementById("total");
  while (total.classList.contains("composing")) await new Promise(requestAnimationFrame);
}"""


def visit(browser: Browser, address: str) -> Iterator[tuple[str, float]]:
    """Open the page anew and yield each figure by its name."""
    context = browser.new_context(viewport={"width": 1600, "height": 950})
    page = context.new_page()
    page.add_init_script(WATCH)
    page.goto(address)
    page.wait_for_selector("#prompt .row.heading", timeout=PATIENCE)
    page.wait_for_timeout(500)
    yield (
        "first paint, ms",
        page.evaluate("performance.getEntriesByName('first-paint')[0].startTime"),
    )
    seen = page.evaluate("window.seen")
    yield "files in sight, ms", seen["files"]
    yield "prompt in sight, ms", seen["prompt"]
    page.locator("#filter").fill("e")  # opens all folders
    page.wait_for_timeout(300)
    yield "a step of scrolling the files, ms", page.evaluate(SCROLL, "tree")
    yield "a step of scrolling the prompt, ms", page.evaluate(SCROLL, "prompt")
    page.evaluate("document.getElementById('prompt').scrollTop = 0")
    for position in (
        500,
        540,
        480,
    ):  # the first fit of a page is the coldest: the median is what a drag feels like
        yield "slider until the new total, ms", page.evaluate(SLIDE, position)
    yield from _memory(page)
    context.close()


def _memory(page: Page) -> Iterator[tuple[str, float]]:
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    session.send("HeapProfiler.collectGarbage")
    metrics = {
        each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]
    }
    yield "memory of the page's script, MB", metrics["JSHeapUsedSize"] / MEGABYTE
    yield "elements", metrics["Nodes"]


def live(browser: Browser, address: str, file: Path) -> Iterator[tuple[str, float]]:
    """Edit a file on the disk and yield how soon the page shows it; the file is put back."""
    context = browser.new_context(viewport={"width": 1600, "height": 950})
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector("#prompt .row.heading", timeout=PATIENCE)
    before = file.read_bytes()
    try:
        for turn in range(ROUNDS):
            page.evaluate("document.getElementById('status').textContent = ''")
            begun = time.perf_counter()
            file.write_bytes(before + b"\n" * (turn + 1))
            page.evaluate(TOLD, file.name)
            yield (
                "an edit on the disk until the page tells, ms",
                1000 * (time.perf_counter() - begun),
            )
            page.evaluate(COMPOSED)
            yield (
                "an edit on the disk until the prompt is composed, ms",
                1000 * (time.perf_counter() - begun),
            )
            page.wait_for_timeout(400)
    finally:
        file.write_bytes(before)
    context.close()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address", help="what aggregate panel --no-open prints")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--edit", type=Path, metavar="FILE", help="a file of the project")
    options = parser.parse_args()
    figures: dict[str, list[float]] = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        for _ in range(options.rounds):
            for name, value in visit(browser, options.address):
                figures.setdefault(name, []).append(value)
        if options.edit:
            for name, value in live(browser, options.address, options.edit):
                figures.setdefault(name, []).append(value)
        browser.close()
    for name, values in figures.items():
        print(
            f"{name:52} {median(values):8.1f}   (best {min(values):.1f}, worst {max(values):.1f})"
        )


if __name__ == "__main__":
    main()
