"""The page with the real server: edits reach the configuration of the command line."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.panel.browser.conftest import ROWS
from tests.panel.browser.panel_process import Server
from tests.projects import project

pytestmark = pytest.mark.browser


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """Serve a small project."""
    root = project(
        tmp_path,
        {
            "manual_slop.toml": '# ours\n[project]\nname = "shop"\n\n[files]\npaths = ["src/*.py"]  # all\n',
            "src/shop.py": "class Shop:\n    def buy(self):\n        return 1\n\n    def sell(self):\n        return 2\n",
            "src/till.py": "def pay():\n    return 3\n",
        },
    )
    running = Server(root)
    yield running
    if running.process.poll() is None:
        running.stop()


@pytest.fixture
def shop(page: Page, server: Server) -> Page:
    """Open the printed address."""
    page.goto(server.address)
    page.wait_for_selector(ROWS)
    page.wait_for_selector("#prompt .row.heading")
    return page


def _line(page: Page, text: str) -> None:
    expect(page.locator("#prompt .rows")).to_contain_text(text)


def test_a_view_is_seen_undone_saved_and_run(shop: Page, server: Server) -> None:
    """The draft is shown at once, saved only by Save with comments, and written by Run."""
    configuration = server.root / "manual_slop.toml"
    before = configuration.read_text("utf-8")
    shop.locator(ROWS, has_text="shop.py").click()
    shop.locator("#tree").focus()
    shop.keyboard.press("3")
    expect(shop.locator("#prompt .rows")).not_to_contain_text("return 2")
    assert configuration.read_text("utf-8") == before

    shop.keyboard.press("Control+z")
    _line(shop, "return 2")
    shop.keyboard.press("Control+Shift+Z")
    expect(shop.locator("#prompt .rows")).not_to_contain_text("return 2")
    shop.keyboard.press("Control+s")
    expect(shop.locator("#dirty")).to_be_hidden()
    after = configuration.read_text("utf-8")
    assert "skeleton" in after
    assert after.startswith("# ours\n")
    assert "# all" in after

    seen = shop.evaluate("fetch('/api/prompt/text').then((answer) => answer.text())")
    shop.keyboard.press("Alt+r")
    expect(shop.locator("#status")).to_contain_text("_001.md")
    written = next(server.root.rglob("*_001.md"))
    assert written.read_text("utf-8") == seen


def test_masks_and_slices_reach_the_prompt(shop: Page) -> None:
    """A hidden definition leaves the prompt; a slice shows its lines alone."""
    shop.locator(ROWS, has_text="shop.py").click()
    shop.locator("#source .row .text", has_text="def sell").click(position={"x": 60, "y": 8})
    shop.get_by_role("menuitemradio", name="hide").click()
    expect(shop.locator("#prompt .rows")).not_to_contain_text("def sell")

    shop.locator(ROWS, has_text="till.py").click()
    shop.locator("#source .row .text", has_text="return 3").hover(position={"x": 60, "y": 8})
    shop.locator("#source").focus()
    for key in ["ArrowDown", "ArrowDown", "Shift+ArrowUp", "Enter", "Enter"]:
        shop.keyboard.press(key)
    expect(shop.locator("#slices .slice")).to_contain_text("exact")


def test_the_page_survives_a_restart_of_the_server(shop: Page, server: Server) -> None:
    """A banner reports the stopped server, and the page reconnects with its cookie."""
    server.stop()
    banner = shop.get_by_role("alert")
    expect(banner).to_contain_text(f"Start aggregate panel in {server.root} again")

    (server.root / "src/late.py").write_text("late = 1\n", "utf-8")
    server.start()

    expect(banner).to_be_hidden(timeout=15_000)
    expect(shop.locator("#tree-count")).to_have_text("4 files", timeout=15_000)


def test_pages_that_nobody_sees_take_no_connection(shop: Page, server: Server) -> None:
    """More pages than browser connections can be open; each updates when visible."""
    hide = "Object.defineProperty(document, 'hidden', { value: %s, configurable: true });"
    seen = "document.dispatchEvent(new Event('visibilitychange'))"
    shop.evaluate(hide % "true" + seen)
    for _ in range(6):
        page = shop.context.new_page()
        page.goto(server.address)
        page.wait_for_selector("#prompt .row.heading")
        page.evaluate(hide % "true" + seen)
    (server.root / "src/till.py").write_text("def pay():\n    return 77\n", "utf-8")
    shop.evaluate(hide % "false" + seen)
    _line(shop, "return 77")
