"""The right pane: the prompt with its source map."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.panel.browser.fake_panel import FakePanel

pytestmark = pytest.mark.browser
Opened = Callable[[FakePanel], Page]


def _line(page: Page, number: int) -> Locator:
    return page.locator(f'#prompt .row[data-index="{number - 1}"]')


def _numbers(page: Page, count: int) -> list[str]:
    return page.locator("#prompt .row .number").all_text_contents()[:count]


def test_hovering_a_line_shows_its_origin_and_a_click_opens_it(opened: Opened) -> None:
    """The origin is shown below the prompt; a click opens it with the line marked (L-1)."""
    page = opened(FakePanel(["a.py", "b.py"]))

    _line(page, 4).hover(position={"x": 90, "y": 8})
    expect(page.locator("#origin")).to_have_text("a.py:4")

    _line(page, 4).click(position={"x": 90, "y": 8})
    expect(page.locator("#file-title")).to_have_text("a.py")
    # The pane that opens may take the place under the pointer, which then points at no line any more.
    expect(page.locator('#source .row[data-index="3"]')).to_have_class(re.compile(r"\bcursor\b"))


def test_a_line_of_the_source_shows_where_it_stands_in_the_prompt(opened: Opened) -> None:
    """Hovering marks the prompt's line; a click scrolls to it (L-2)."""
    page = opened(FakePanel(["a.py"]))
    page.locator("#tree .rows .row").first.click()

    page.locator('#source .row[data-index="3"]').hover(position={"x": 90, "y": 8})

    expect(page.locator("#prompt .row.linked .number")).to_have_text("7")


def test_sections_fold_and_unfold(opened: Opened) -> None:
    """A fold hides all but the heading, with the number of hidden lines."""
    page = opened(FakePanel(["a.py", "b.py"]))

    _line(page, 3).locator(".fold").click()

    assert _numbers(page, 4) == ["1", "2", "3", "32"]
    expect(_line(page, 3)).to_contain_text("28 lines folded, 50 tokens")
    page.keyboard.press("ArrowRight")
    page.locator("#prompt").focus()
    page.keyboard.press("ArrowRight")
    assert _numbers(page, 4) == ["1", "2", "3", "4"]


def test_fold_all_leaves_one_line_for_each_file(opened: Opened) -> None:
    """Fold folds the innermost parts; Unfold shows all lines."""
    page = opened(FakePanel(["a.py", "b.py"]))

    page.get_by_role("button", name="Fold", exact=True).click()
    expect(page.locator("#prompt .row")).to_have_count(4)

    page.get_by_role("button", name="Unfold", exact=True).click()
    expect(_line(page, 20)).to_be_visible()


def test_the_margin_shows_breakpoints_and_what_is_kept(opened: Opened) -> None:
    """The cached prefix and breakpoints are marked, and described in words."""
    page = opened(FakePanel(["a.py"]))

    assert page.locator("#prompt .row.kept").count() == 10
    expect(_line(page, 5)).to_contain_text("cache breakpoint above")
    expect(_line(page, 10)).to_contain_text("kept since the last prompt up to here")


def test_a_prompt_of_two_million_lines_scrolls_to_its_end(opened: Opened) -> None:
    """Beyond the browser's height scrolling is scaled: End and Home work, with few rows."""
    page = opened(FakePanel(["a.py"], lines=2_000_000))

    page.locator("#prompt").focus()
    page.keyboard.press("End")
    expect(page.locator("#prompt .row.cursor .text")).to_have_text(
        "line 2000000 <b>of</b> the prompt"
    )
    expect(page.locator("#prompt .row.cursor")).to_be_in_viewport()
    assert page.locator("#prompt .row").count() < 80

    page.keyboard.press("Home")
    expect(page.locator("#prompt .row.cursor .number")).to_have_text("1")


def test_what_stays_out_is_listed_with_the_reason(opened: Opened) -> None:
    """The tab has the number of omitted files; a click opens one."""
    page = opened(FakePanel(["a.py", "b.py"]))

    page.get_by_role("tab", name="Left out (1)").click()
    expect(page.locator("#out .row")).to_contain_text("less relevant than what fits")
    page.locator("#out .row").click()
    expect(page.locator("#file-title")).to_have_text("b.py")
