"""The task first: typing ranks files, and the likeliest come first."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.panel.browser.conftest import ROWS
from tests.panel.browser.fake_panel import FakePanel

pytestmark = pytest.mark.browser
Opened = Callable[[FakePanel], Page]


def test_typing_ranks_and_is_one_step(opened: Opened) -> None:
    """Files are ranked after a pause, once, and the edits share a step."""
    shop = FakePanel(["shop.py"])
    page = opened(shop)
    page.locator("#task").click()
    for number, word in enumerate(["mend", " the till"], 2):
        page.keyboard.type(word)
        expect(page.locator("#revision")).to_have_attribute("data-revision", str(number))
    page.locator("#tree").focus()
    page.keyboard.press("Alt+t")
    page.keyboard.press("End")
    page.keyboard.type(" now")
    page.keyboard.press("Alt+r")
    expect(page.locator("#status")).to_contain_text("Wrote")

    bodies = shop.bodies("edit")
    tasks = [body["edits"][0]["task"] for body in bodies]
    assert tasks == ["mend", "mend the till", "mend the till now"]
    assert bodies[0]["step"] == bodies[1]["step"] != bodies[2]["step"]
    assert [name for name, _ in shop.posts] == ["edit", "edit", "edit", "run"]


def test_files_stand_by_score_while_there_is_a_task(opened: Opened) -> None:
    """Files are one list by score, without folders; otherwise the tree is shown."""
    shop = FakePanel(["app/a.py", "app/z.py", "b.py"])
    page = opened(shop)
    names = page.locator(f"{ROWS} .name .text")
    expect(names).to_have_text(["app/", "a.py", "z.py", "b.py"])
    for path, score in {"app/a.py": 0.1, "app/z.py": 0.9, "b.py": 0.5}.items():
        shop.files[path]["score"] = score
    shop.changed_on_disk()
    expect(names).to_have_text(["z.py", "b.py", "a.py"])
    heading = page.get_by_role("columnheader", name="Score")
    expect(heading).to_have_attribute("aria-sort", "descending")
    for row in shop.files.values():
        row["score"] = None
    shop.changed_on_disk()
    expect(names).to_have_text(["app/", "a.py", "z.py", "b.py"])


@pytest.mark.parametrize("width", [1400, 820, 400])
def test_the_prompt_has_the_room_of_a_file_that_is_closed(
    opened: Opened, page: Page, width: int
) -> None:
    """Without an open file only files and prompt are shown; closing focuses the files."""
    page.set_viewport_size({"width": width, "height": 900})
    opened(FakePanel(["a.py"]))
    expect(page.locator("#prompt .row.heading").first).to_be_in_viewport()
    expect(page.locator("#file-pane")).to_be_hidden()
    page.locator(ROWS).click()
    expect(page.locator("#source .row .text").first).to_be_in_viewport()
    page.locator("#source").focus()
    page.keyboard.press("Escape")
    expect(page.locator("#file-pane")).to_be_hidden()
    expect(page.locator("#tree")).to_be_focused()


def test_colours_are_spans_of_text(opened: Opened) -> None:
    """Code is drawn in spans with the server's classes, and its markup as text."""
    shop = FakePanel(["a.py"], source=["def <b>\U0001f600: 1", "plain"])
    shop.colours = ["k3 .1 f4 .2 n1"]
    page = opened(shop)
    page.locator(ROWS).click()
    line = page.locator("#source .row .text").first
    expect(line).to_have_text("def <b>\U0001f600: 1")
    spans = "(spans) => spans.map((span) => span.className + span.textContent)"
    drawn = line.locator("span").evaluate_all(spans)
    assert drawn == ["kdef", ". ", "f<b>\U0001f600", ".: ", "n1"]


def test_whoever_has_no_configuration_begins_with_the_task(opened: Opened) -> None:
    """The task has the focus, and an empty tree explains itself."""
    shop = FakePanel(["a.py"])
    shop.state["exists"] = False
    page = opened(shop)
    expect(page.locator("#task")).to_be_focused()
    page.locator("#filter").fill("nothing of that name")
    expect(page.locator("#tree-empty")).to_contain_text("No file matches")


def test_a_narrow_window_begins_with_the_prompt(opened: Opened, page: Page) -> None:
    """At 400 pixels two rows stand before it; the draft's buttons come behind the panes."""
    page.set_viewport_size({"width": 400, "height": 800})
    opened(FakePanel(["shop.py"]))
    tops = {
        name: page.locator(name).bounding_box() for name in ("#prompt", "#budget", "#copy", "#save")
    }
    assert all(tops.values())
    heights = {name: box["y"] for name, box in tops.items() if box}
    assert heights["#prompt"] < 220
    assert abs(heights["#budget"] - heights["#copy"]) < 8
    assert heights["#save"] > heights["#prompt"] + 300


def test_copy_waits_for_a_prompt(opened: Opened) -> None:
    """The button of an empty prompt is not the main one."""
    shop = FakePanel(["shop.py"])
    page = opened(shop)
    expect(page.locator("#copy")).to_have_class("primary")
    shop.prompt["tokens"] = 0
    shop.changed_on_disk()
    expect(page.locator("#copy")).not_to_have_class("primary", timeout=10_000)
