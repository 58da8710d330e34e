"""The left pane: the project's tree."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.panel.browser.conftest import ROWS
from tests.panel.browser.fake_panel import FakePanel

pytestmark = pytest.mark.browser
Opened = Callable[[FakePanel], Page]


def _names(page: Page) -> list[str]:
    return page.locator(f"{ROWS} .name .text").all_text_contents()


def test_folders_hold_the_sums_of_their_files(opened: Opened) -> None:
    """A folder has the token sums of its files, in the prompt and in full."""
    page = opened(FakePanel(["app/a.py", "app/deep/b.py", "c.py"]))

    row = page.locator(ROWS, has_text="app/").first
    assert _names(page) == ["app/", "deep/", "b.py", "a.py", "c.py"]
    assert row.locator(".tokens").text_content() == "200"
    assert row.locator(".whole").text_content() == "400"


def test_a_folder_tells_how_many_of_its_files_are_in(opened: Opened) -> None:
    """A folder shows the common view, "out", or the number of included files."""
    panel = FakePanel(["all/a.py", "all/b.py", "no/c.py", "some/d.py", "some/e.py"])
    for path in ("no/c.py", "some/e.py"):
        panel.files[path] |= {"view": "", "tokens": 0}
    page = opened(panel)

    for folder, shown in {"all/": "full", "no/": "out", "some/": "1 of 2"}.items():
        cell = page.locator(ROWS, has_text=folder).first.get_by_role("gridcell").nth(1)
        assert cell.text_content() == shown, folder
    assert cell.get_attribute("title") == "1 of 2 files in the prompt"


def test_a_large_project_opens_the_folders_of_what_is_in(opened: Opened) -> None:
    """At first the prompt's files are visible, and other folders closed."""
    panel = FakePanel(
        [f"src/deep/f{number:02}.py" for number in range(40)]
        + [f"tests/t{number:02}.py" for number in range(40)]
    )
    for path, row in panel.files.items():
        if path != "src/deep/f07.py":
            row |= {"view": "", "tokens": 0}
    page = opened(panel)

    names = _names(page)
    assert names[:3] == ["src/", "deep/", "f00.py"]
    page.locator("#tree").focus()
    page.keyboard.press("End")
    closed = page.locator(f"{ROWS}[aria-expanded=false]")
    expect(closed).to_contain_text("tests/")


def test_a_key_sets_the_view_of_all_selected_files_in_one_step(opened: Opened) -> None:
    """A view's key sets all selected files in one edit and undo step."""
    panel = FakePanel(["a.py", "b.py", "c.py"])
    page = opened(panel)

    page.locator("#tree").focus()
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("3")

    expect(page.locator("#status")).to_have_text("2 files: skeleton.")
    assert panel.bodies("edit") == [
        {"revision": 1, "edits": [{"op": "view", "paths": ["a.py", "b.py"], "mode": "skeleton"}]}
    ]
    expect(page.locator(ROWS).first.locator(".view-name")).to_have_text("skeleton")


def test_zero_takes_a_folder_out(opened: Opened) -> None:
    """Without a selection a key applies to the row at the cursor, a folder with all its files."""
    panel = FakePanel(["app/a.py", "app/b.py", "c.py"])
    page = opened(panel)

    page.locator("#tree").focus()
    page.keyboard.press("0")

    expect(page.locator("#status")).to_have_text("2 files: taken out.")
    assert panel.bodies("edit")[0]["edits"][0]["paths"] == ["app/a.py", "app/b.py"]


def test_the_filter_takes_parts_of_paths_views_and_states(opened: Opened) -> None:
    """All words of the filter must match; ``-`` negates one; matching folders open."""
    panel = FakePanel(["app/a.py", "app/test_a.py", "docs/a.md"])
    panel.files["app/test_a.py"]["state"] = "stale"
    panel.files["docs/a.md"] |= {"view": "", "tokens": 0}
    page = opened(panel)

    for words, names in {
        "a.py -test": ["app/", "a.py"],
        "state:stale": ["app/", "test_a.py"],
        "is:out": ["docs/", "a.md"],
        "view:full": ["app/", "a.py", "test_a.py"],
    }.items():
        page.locator("#filter").fill(words)
        expect(page.locator(ROWS)).to_have_count(len(names))
        assert _names(page) == names, words
    assert page.locator("#tree-count").text_content() == "2 of 3 files"


def test_a_click_on_a_heading_sorts_and_a_second_one_turns_round(opened: Opened) -> None:
    """Figures are first sorted descending; the heading shows the order."""
    panel = FakePanel(["a.py", "b.py", "c.py"])
    for path, tokens in {"a.py": 5, "b.py": 90, "c.py": 40}.items():
        panel.files[path]["tokens"] = tokens
    page = opened(panel)
    heading = page.get_by_role("columnheader", name="Tokens")

    heading.get_by_role("button").click()
    assert (_names(page), heading.get_attribute("aria-sort")) == (
        ["b.py", "c.py", "a.py"],
        "descending",
    )

    heading.get_by_role("button").click()
    assert (_names(page), heading.get_attribute("aria-sort")) == (
        ["a.py", "c.py", "b.py"],
        "ascending",
    )


def test_the_state_is_said_in_words_not_by_colour_alone(opened: Opened) -> None:
    """Each state has a word, only visually hidden in a narrow pane."""
    panel = FakePanel(["a.py"])
    panel.files["a.py"]["state"] = "secret"
    page = opened(panel)

    assert (page.locator(f"{ROWS} .pill").text_content() or "").endswith("secret")
    page.set_viewport_size({"width": 1024, "height": 720})
    assert "secret" in (page.locator(ROWS).first.inner_text())


def test_ten_thousand_files_need_few_rows_and_scroll(opened: Opened) -> None:
    """Only visible rows exist, and scrolling takes milliseconds."""
    panel = FakePanel([f"pkg{n % 100:02}/sub{n % 7}/module_{n}.py" for n in range(10_000)])
    page = opened(panel)
    page.locator("#filter").fill("module")
    expect(page.locator("#tree-count")).to_have_text("10,000 files")

    page.locator("#tree").focus()
    page.keyboard.press("End")

    expect(page.locator(f"{ROWS}.cursor .text")).to_have_text(re.compile("module_"))
    assert page.locator(ROWS).count() < 80
    median = page.evaluate(
        """async () => {
          const tree = document.getElementById("tree");
          const steps = [];
          for (let step = 0; step < 40; step++) {
            const begun = performance.now();
            tree.scrollTop = step * 5000;
            tree.dispatchEvent(new Event("scroll"));
            tree.offsetHeight;
            steps.push(performance.now() - begun);
            await new Promise(requestAnimationFrame);
          }
          return steps.sort((left, right) => left - right)[20];
        }"""
    )
    assert median < 50, "milliseconds; 3 to 8 where nothing else runs"


def test_the_tree_opens_closes_and_leaves_folders_by_arrows(opened: Opened) -> None:
    """Left closes a folder or goes to its parent; right opens one."""
    page = opened(FakePanel(["app/a.py", "app/b.py"]))
    page.locator("#tree").focus()

    page.keyboard.press("ArrowLeft")
    assert _names(page) == ["app/"]
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(f"{ROWS}.cursor .text")).to_have_text("app/")
    assert page.locator(ROWS).first.get_attribute("aria-expanded") == "true"


def test_characters_that_turn_names_round_are_named(opened: Opened) -> None:
    """Hidden characters of names and sources are shown by code point."""
    page = opened(FakePanel(["rtl\u202egnp.py"], source=["a = 1 # \u2066 \u202e }"]))

    expect(page.locator("#tree .rows .row")).to_contain_text("rtl[U+202E]gnp.py")
    page.locator("#tree .rows .row").click()
    expect(page.locator("#file-title")).to_contain_text("rtl[U+202E]gnp.py")
    expect(page.locator("#source .row .text").first).to_have_text("a = 1 # [U+2066] [U+202E] }")
