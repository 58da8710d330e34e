"""Chromium from Debian, never a downloaded one."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from tests.panel.browser.fake_panel import ORIGIN, FakePanel

expect.set_options(timeout=20_000)  # ms: a busy machine takes its time
CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = [
    "--no-sandbox",  # of the browser's own, which a container does not allow
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
EXPECTED = (
    "409 (Conflict)",
    "ERR_CONNECTION_REFUSED",
    "ERR_INCOMPLETE_CHUNKED",
)  # refusals, and servers that stop
ROWS = "#tree .rows .row"


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Start the browser once; each launch without a folder gets a new one."""
    if not CHROMIUM.exists():
        pytest.skip("needs Debian's chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """Return an empty page; any output on its console fails the test.

    What a module calls ``EXPECTED_COMPLAINTS`` may be complained of too.
    """
    expected = (*EXPECTED, *getattr(request.module, "EXPECTED_COMPLAINTS", ()))
    context = chromium.new_context(
        viewport={"width": 1400, "height": 900}, color_scheme="light", bypass_csp=False
    )
    page = context.new_page()
    complaints: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not any(
            each in message.text for each in expected
        ):
            complaints.append(message.text)

    page.on("console", note)
    page.on("pageerror", lambda failure: complaints.append(str(failure)))
    yield page
    context.close()
    assert complaints == []


@pytest.fixture
def opened(page: Page) -> Callable[[FakePanel], Page]:
    """Open the page on a fake server, and wait for files and prompt."""

    def open_page(panel: FakePanel) -> Page:
        panel.serve(page)
        page.goto(f"{ORIGIN}/")
        page.wait_for_selector(ROWS)
        page.wait_for_selector("#prompt .row.heading")
        return page

    return open_page
