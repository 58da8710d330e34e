"""The middle pane: a file's source beside its view."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.panel.browser.fake_panel import FakePanel, stale_slice

pytestmark = pytest.mark.browser
Opened = Callable[[FakePanel], Page]


def _line(page: Page, number: int) -> Locator:
    return page.locator(f'#source .row[data-index="{number - 1}"]')


@pytest.fixture
def shop() -> FakePanel:
    """Return a project of one file with three definitions."""
    return FakePanel(["shop.py"])


@pytest.fixture
def page_of_shop(opened: Opened, shop: FakePanel) -> Page:
    """Open the file."""
    page = opened(shop)
    page.locator("#tree .rows .row", has_text="shop.py").click()
    expect(page.locator("#source .row")).to_have_count(6)
    return page


def test_source_and_view_stand_side_by_side(page_of_shop: Page) -> None:
    """Each line of the view has its source line's number, a generated one none."""
    assert page_of_shop.locator("#view .row .number").all_text_contents() == ["1", ""]
    assert page_of_shop.locator("#source .row .text").first.text_content() == "class Shop:"


def test_choosing_a_mode_sets_the_view(page_of_shop: Page, shop: FakePanel) -> None:
    """Modes are radio buttons with token counts."""
    page_of_shop.locator("#mode-bar").get_by_role("radio", name="outline").check()

    expect(page_of_shop.locator("#status")).to_have_text("shop.py: outline.")
    assert shop.bodies("edit")[0]["edits"] == [
        {"op": "view", "paths": ["shop.py"], "mode": "outline"}
    ]


def test_a_click_on_a_definition_masks_it(page_of_shop: Page, shop: FakePanel) -> None:
    """The menu has def, sig, hide and none; the choice is shown beside the line."""
    _line(page_of_shop, 2).locator(".text").click(position={"x": 30, "y": 8})
    page_of_shop.get_by_role("menuitemradio", name="hide").click()

    expect(_line(page_of_shop, 2).locator(".mask")).to_have_text("hide")
    assert shop.bodies("edit")[0]["edits"] == [
        {"op": "mask", "path": "shop.py", "name": "Shop.buy", "mask": "hide"}
    ]


def test_dragging_over_lines_makes_a_slice(page_of_shop: Page, shop: FakePanel) -> None:
    """Dragged lines become a slice with tag and comment."""
    page = page_of_shop
    _line(page, 3).hover(position={"x": 200, "y": 5})
    page.mouse.down()
    _line(page, 5).hover(position={"x": 200, "y": 5})
    page.mouse.up()

    page.get_by_label("Tag").fill("till")
    page.get_by_label("Comment").fill("who pays")
    page.keyboard.press("Enter")

    expect(page.locator("#slice-form")).to_be_hidden()
    place = {"op": "slice", "path": "shop.py", "start": 3, "end": 5}
    assert shop.bodies("edit")[0]["edits"] == [{**place, "tag": "till", "comment": "who pays"}]


def test_keys_make_a_slice(page_of_shop: Page, shop: FakePanel) -> None:
    """Shift and arrows select lines, Enter asks for the tag, and the focus returns."""
    page = page_of_shop
    page.locator("#source").focus()
    for key in ["ArrowDown", "ArrowDown", "Shift+ArrowDown", "Shift+ArrowDown", "Enter", "Enter"]:
        page.keyboard.press(key)

    expect(page.locator("#slice-form")).to_be_hidden()
    edit = shop.bodies("edit")[0]["edits"][0]
    assert (edit["start"], edit["end"]) == (2, 4)
    expect(page.locator("#source")).to_be_focused()


def test_a_stale_slice_shows_where_it_went_and_is_confirmed(
    opened: Opened, shop: FakePanel
) -> None:
    """Its new place is a link, and a button captures it again."""
    shop.slices = [stale_slice(2, 3, "old", "Edited.", candidate={"start": 5, "end": 6})]
    page = opened(shop)
    page.locator("#tree .rows .row").first.click()

    expect(page.get_by_role("button", name="went to 5–6?")).to_be_visible()
    page.get_by_role("button", name="Confirm old 2–3").click()

    expect(page.locator("#status")).to_have_text("Slice captured anew.")
    assert shop.bodies("edit")[0]["edits"] == [{"op": "confirm_slice", "path": "shop.py", "id": 0}]


def test_a_long_line_is_cut_and_says_so(opened: Opened) -> None:
    """A line of a megabyte does not freeze the page."""
    page = opened(FakePanel(["min.js"], source=["x" * 1_000_000]))
    page.locator("#tree .rows .row").first.click()

    expect(page.locator("#source .row .text")).to_contain_text("(998000 more characters)")


def test_one_click_shows_a_file_whole_despite_the_budget(opened: Opened) -> None:
    """A checkbox adds the file to the focus, since a view is only a maximum within a budget."""
    shop = FakePanel(["shop.py", "till.py"])
    page = opened(shop)
    page.locator("#tree .rows .row").first.click()
    expect(page.locator("#source .row")).to_have_count(6)
    expect(page.get_by_label("Always whole")).to_be_hidden()
    shop.state |= {"budget": 32_000, "budget_tokens": 32_000}
    shop.state["task"]["focus"] = ["till.py"]
    shop.changed_on_disk()

    page.get_by_label("Always whole").check()
    expect(page.locator("#status")).to_contain_text("shop.py: whole, whatever the budget")
    (body,) = shop.bodies("edit")
    assert body["edits"] == [{"op": "task", "focus": ["till.py", "shop.py"]}]
    expect(page.get_by_label("Always whole")).to_be_checked()
