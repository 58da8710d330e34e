"""Failures of the server: one sentence, nothing lost, and the page goes on."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.panel.browser.fake_panel import FakePanel

pytestmark = pytest.mark.browser
EXPECTED_COMPLAINTS = (
    "Failed to load resource",
    "EventSource",
)  # the browser's own notes of failures
Opened = Callable[[FakePanel], Page]


def _answer(status: int, **body: Any) -> Callable[[Route], None]:
    return lambda route: route.fulfill(status=status, **body)


FAILURES: dict[str, tuple[Callable[[Route], None], str]] = {
    "broken": (_answer(500, body="<h1>oh</h1>"), "The server answered 500"),
    "fault": (_answer(500, json={"error": "internal error: X"}), "internal error: X"),
    "gone": (lambda route: route.abort(), "does not answer"),
    "conflict": (
        _answer(409, json={"error": "it was changed", "conflict": True}),
        "it was changed",
    ),
    "large": (_answer(413, body=""), "The server answered 413"),
    "half": (_answer(200, body='{"revision": 1, '), "does not answer"),
}


def _click(name: str) -> Callable[[Page], object]:
    return lambda page: page.get_by_role("button", name=name, exact=True).click()


def _mask(page: Page) -> None:
    page.locator("#source").focus()
    page.keyboard.press("n")
    page.keyboard.press("s")


def _slice(page: Page) -> None:
    page.locator("#source").focus()
    for key in ["Shift+ArrowDown", "Enter", "Enter"]:
        page.keyboard.press(key)


def _preset(page: Page) -> None:
    page.get_by_role("button", name="Save as…").click()
    page.get_by_label("Name").fill("front")
    page.keyboard.press("Enter")


def _seeds(page: Page) -> None:
    page.get_by_role("button", name="Start from…").click()
    page.get_by_role("dialog").get_by_role("button", name="Set").click()


def _task(page: Page) -> None:
    page.get_by_label("Task", exact=True).fill("why is the till empty")
    page.keyboard.press("Enter")


def _slide(page: Page) -> None:
    page.get_by_label("Budget slider").focus()
    page.keyboard.press("Home")


def _section(page: Page) -> None:
    page.get_by_role("tab", name="Sections").click()
    page.get_by_role("checkbox", name="a.png").click()


def _screenshot(page: Page) -> None:
    page.get_by_role("tab", name="Sections").click()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Add…").click()
    chooser.value.set_files({"name": "new.png", "mimeType": "image/png", "buffer": b"png"})


ACTIONS: dict[str, Callable[[Page], object]] = {
    "undo": _click("Undo"),
    "redo": _click("Redo"),
    "save": _click("Save"),
    "run": _click("Run"),
    "copy": _click("Copy"),
    "view": _click("skeleton"),
    "mode": lambda page: page.get_by_role("radio", name="outline").check(force=True),
    "mask": _mask,
    "slice": _slice,
    "where": lambda page: page.locator("#source .row .text").nth(2).click(),
    "open": lambda page: page.locator("#tree .rows .row").last.click(),
    "applied preset": lambda page: page.get_by_label("Preset").select_option("backend"),
    "saved preset": _preset,
    "seeds": _seeds,
    "task": _task,
    "slider": _slide,
    "section": _section,
    "screenshot": _screenshot,
}


@pytest.mark.parametrize("failure", FAILURES)
def test_whatever_fails_is_said_and_the_page_goes_on(
    opened: Opened, page: Page, failure: str
) -> None:
    """After a failed action the status line has a sentence, and everything works again."""
    shop = FakePanel(["shop.py", "till.py"])
    shop.state |= {"dirty": True, "can_undo": True, "can_redo": True}
    opened(shop)
    page.locator("#tree .rows .row").first.click()
    expect(page.locator("#source .row")).to_have_count(6)
    answer, said = FAILURES[failure]
    fails = "**/api/**"
    page.route(fails, answer)
    for name, act in ACTIONS.items():
        if (failure, name) == ("half", "copy"):
            continue  # a text has no end that could be missing
        page.evaluate("document.getElementById('status').textContent = ''")
        act(page)
        expect(page.locator("#status"), name).to_contain_text(said)
        if page.get_by_role("dialog").count():
            page.keyboard.press("Escape")
        if page.locator("#slice-form").is_visible():
            page.get_by_role("button", name="Cancel").click()

    page.unroute(fails, answer)
    page.get_by_role("button", name="Run").click()
    expect(page.locator("#status")).to_have_text("Wrote out_001.md, 900 tokens.")
    shop.changed_on_disk()
    revision = str(shop.state["revision"])
    expect(page.locator("#revision")).to_have_attribute("data-revision", revision, timeout=10_000)


def test_a_task_that_was_not_taken_stays_in_its_field(opened: Opened, page: Page) -> None:
    """A lost connection keeps the text, and Enter retries."""
    shop = FakePanel(["shop.py"])
    shop.refusals["edit"] = "not now"
    opened(shop)
    _task(page)
    expect(page.locator("#status")).to_have_text("not now")
    page.locator("#tree").focus()
    shop.changed_on_disk()
    expect(page.locator("#revision")).to_have_attribute(
        "data-revision", str(shop.state["revision"])
    )

    expect(page.locator("#task")).to_have_value("why is the till empty")
    shop.refusals.clear()
    page.locator("#task").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_have_text("The files are ranked for the task.")


@pytest.mark.parametrize("old_way", [True, False])
def test_without_permission_the_page_copies_the_old_way_or_says_what_to_do(
    opened: Opened, page: Page, old_way: bool
) -> None:
    """Without the clipboard the page selects and copies, or else suggests Run."""
    opened(FakePanel(["shop.py"]))
    page.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    page.evaluate(
        "(works) => { window.copied = ''; document.execCommand = () => { window.copied = document.activeElement.value; return works; } }",
        old_way,
    )
    page.locator("#copy").focus()
    page.keyboard.press("Enter")

    said = "Copied 1,000 tokens" if old_way else "write the prompt into a file with Run (Alt+R)"
    expect(page.locator("#status")).to_contain_text(said)
    assert page.evaluate("window.copied") == "the whole prompt\n"
    expect(page.locator("#copy")).to_be_focused()


def test_edits_go_one_after_another_and_are_seen_at_once(opened: Opened, page: Page) -> None:
    """Fast key presses are all sent in order, and shown before the answer."""
    shop = FakePanel(["shop.py", "till.py"])
    opened(shop)
    waiting: list[Route] = []

    def hold(route: Route) -> None:
        waiting.append(route)

    page.route("**/api/edit", hold)
    page.locator("#tree").focus()
    page.keyboard.press("3")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("4")
    page.keyboard.press("Control+z")

    rows = page.locator("#tree .rows .row")
    expect(rows.nth(0)).to_contain_text("skeleton…")
    expect(rows.nth(1)).to_contain_text("outline…")
    page.wait_for_timeout(100)
    assert len(waiting) == 1
    assert shop.posts == []
    while len(shop.posts) < 3:
        page.wait_for_timeout(20)
        while waiting:
            waiting.pop(0).fallback()
    expect(page.locator("#status")).to_have_text("Taken back.")
    modes = [body["edits"][0]["mode"] for body in shop.bodies("edit")]
    assert modes == ["skeleton", "outline"]
    assert [name for name, _ in shop.posts] == ["edit", "edit", "undo"]
    expect(rows.nth(0)).not_to_contain_text("…")
