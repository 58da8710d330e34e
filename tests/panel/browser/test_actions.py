"""The page's header: task, budget, models, and actions."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.panel.browser.fake_panel import FakePanel

pytestmark = pytest.mark.browser
Opened = Callable[[FakePanel], Page]


@pytest.fixture
def shop() -> FakePanel:
    """Return a project of two files."""
    return FakePanel(["shop.py", "till.py"])


def test_nothing_is_written_by_looking(opened: Opened, shop: FakePanel) -> None:
    """Opening files, tabs and dialogs posts nothing."""
    page = opened(shop)
    page.locator("#tree .rows .row").first.click()
    for name in ["Sections", "Treemap", "Left out (1)", "Prompt"]:
        page.get_by_role("tab", name=name).click()
    page.keyboard.press("?")
    page.keyboard.press("Escape")

    assert shop.posts == []


@pytest.mark.parametrize("target", ["#tree .rows .row:nth-child(2)", "#seeds"])
def test_the_first_click_behind_a_task_counts(opened: Opened, shop: FakePanel, target: str) -> None:
    """Leaving a field neither moves nor redraws a pressed button."""
    page = opened(shop)
    page.locator("#task").click()
    page.keyboard.type("why is the till empty")
    before = page.locator(target).bounding_box()
    assert before is not None
    page.mouse.move(before["x"] + before["width"] / 2, before["y"] + before["height"] / 2)
    page.mouse.down()
    expect(page.locator("#status")).to_have_text("The files are ranked for the task.")
    page.wait_for_timeout(1_000)  # the page hears of what has changed, and asks for it
    assert page.locator(target).bounding_box() == before
    page.mouse.up()

    opens = "#file-title" if target.startswith("#tree") else "dialog"
    expect(page.locator(opens)).to_contain_text(
        "till.py" if opens == "#file-title" else "Start from"
    )
    expect(page.locator("#revision")).to_have_attribute("data-revision", "2")


@pytest.mark.parametrize(
    ("key", "route", "said"),
    [
        ("Control+s", "save", "Saved manual_slop.toml."),
        ("Alt+r", "run", "Wrote out_001.md, 900 tokens."),
        ("Control+z", "undo", "Taken back."),
        ("Control+Shift+Z", "redo", "Done again."),
    ],
)
def test_a_key_does_what_its_button_does(
    opened: Opened, shop: FakePanel, key: str, route: str, said: str
) -> None:
    """Each action has a key, and reports in the status line."""
    page = opened(shop)
    page.locator("#tree").focus()

    page.keyboard.press(key)

    expect(page.locator("#status")).to_have_text(said)
    assert [name for name, _ in shop.posts] == [route]


def test_a_conflict_is_said_and_offers_the_file(opened: Opened, shop: FakePanel) -> None:
    """A file changed by somebody else is not overwritten, and can be reloaded."""
    shop.state["dirty"] = True
    shop.refusals["save"] = "manual_slop.toml was changed meanwhile: files[2] differs."
    page = opened(shop)

    page.get_by_role("button", name="Save", exact=True).click()

    expect(page.get_by_role("dialog")).to_contain_text("files[2] differs")
    # It never begins on what drops the draft.
    expect(page.get_by_role("dialog").get_by_role("button", name="Close")).to_be_focused()
    page.get_by_role("button", name="Take the file, drop my draft").click()
    expect(page.locator("#status")).to_have_text("The draft is what stands on the disk.")


def test_copy_puts_the_whole_prompt_on_the_clipboard(opened: Opened, shop: FakePanel) -> None:
    """The text comes from the server, not from the page."""
    page = opened(shop)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])

    page.get_by_role("button", name="Copy").click()

    expect(page.locator("#status")).to_have_text("Copied 1,000 tokens to the clipboard.")
    assert page.evaluate("navigator.clipboard.readText()") == "the whole prompt\n"


def test_sending_shows_plan_and_cost_before_anything_goes_out(
    opened: Opened, shop: FakePanel
) -> None:
    """Only the second button sends the plan; the answer is streamed as text."""
    page = opened(shop)
    page.get_by_role("button", name="Send…").click()
    page.get_by_label("Question").fill("Who?")
    page.get_by_role("button", name="Show the plan").click()
    expect(page.get_by_role("button", name="Send for $0.0033")).to_be_visible()
    page.get_by_label("Question").fill("Who pays?")  # which needs another plan
    expect(page.get_by_role("button", name="Send for $0.0033")).to_have_count(0)
    page.get_by_role("button", name="Show the plan").click()

    expect(page.get_by_role("dialog")).to_contain_text("1,100 by the provider's count")
    assert [name for name, _ in shop.posts] == ["send/plan", "send/plan"]
    page.get_by_role("button", name="Send for $0.0033").click()

    expect(page.get_by_label("Answer")).to_have_text("The till <i>is</i> empty.")
    expect(page.get_by_role("dialog")).to_contain_text("Answered for $0.004.")
    assert shop.bodies("send") == [{"plan": "p1"}]


def test_presets_are_applied_and_saved(opened: Opened, shop: FakePanel) -> None:
    """A chosen preset is applied at once; saving asks for a name."""
    page = opened(shop)
    page.get_by_label("Preset").select_option("backend")
    expect(page.locator("#status")).to_have_text("Preset backend applied.")

    page.get_by_role("button", name="Save as…").click()
    page.get_by_label("Name").fill("front")
    page.keyboard.press("Enter")

    expect(page.locator("#status")).to_have_text("Preset front saved.")
    assert shop.bodies("preset/save") == [{"name": "front", "description": "", "scope": "project"}]


def test_the_slider_fits_again_and_counts_when_released(opened: Opened, shop: FakePanel) -> None:
    """Keys move the slider too; only its release is an edit, and the right end is no limit."""
    page = opened(shop)
    page.get_by_label("Budget slider").focus()

    page.keyboard.press("Home")

    expect(page.locator("#budget")).to_have_value("1k")
    expect(page.locator("#revision")).to_have_attribute("data-revision", "3")
    assert shop.bodies("fit")[-1] == {"budget": 1000, "released": True, "since": 2}
    page.keyboard.press("End")
    expect(page.locator("#budget")).to_have_value("")


def test_a_task_is_set_by_enter(opened: Opened, shop: FakePanel) -> None:
    """Shift and Enter add a line, Enter alone sets the task."""
    page = opened(shop)
    page.keyboard.press("Alt+t")
    page.keyboard.type("why is the till empty")
    page.keyboard.press("Enter")

    expect(page.locator("#status")).to_have_text("The files are ranked for the task.")
    assert shop.bodies("edit")[0]["edits"] == [{"op": "task", "task": "why is the till empty"}]


def test_models_show_the_part_of_their_window_and_the_price(
    opened: Opened, shop: FakePanel
) -> None:
    """The meter is labelled with words."""
    page = opened(shop)

    expect(page.locator("#models li")).to_contain_text("<1 % · $0.0030")
    page.get_by_role("button", name="Models…").click()
    page.get_by_role("dialog").get_by_role("checkbox", name="acme/large").uncheck()
    page.keyboard.press("Escape")
    expect(page.locator("#models li")).to_have_count(0)


def test_turns_beads_and_screenshots_go_in_and_out(opened: Opened, shop: FakePanel) -> None:
    """Each has a checkbox, and a screenshot its image."""
    page = opened(shop)
    page.get_by_role("tab", name="Sections").click()

    page.get_by_role("checkbox", name="Turn 1 of user").click()
    page.get_by_role("checkbox", name="In the prompt, 4 tokens").click()
    page.get_by_role("checkbox", name="a.png").click()
    expect(page.get_by_role("img", name="a.png")).to_be_visible()

    expect(page.locator("#revision")).to_have_attribute("data-revision", "4")
    edits = [body["edits"][0] for body in shop.bodies("edit")]
    assert edits == [
        {"op": "turn", "id": 0, "on": False},
        {"op": "section", "name": "beads", "on": False},
        {"op": "screenshot", "path": "a.png", "on": False},
    ]


def test_an_empty_prompt_says_what_to_do_first(opened: Opened, shop: FakePanel) -> None:
    """Without files the page lists ways to choose some; a small budget is reported."""
    page = opened(shop)
    expect(page.locator("#first-steps")).to_be_hidden()

    shop.prompt |= {"lines": 0, "sections": [], "bytes": 0, "tokens": 0}
    shop.changed_on_disk()
    expect(page.locator("#first-steps")).to_contain_text("choose files")

    shop.state |= {"budget": 10, "budget_tokens": 10}
    shop.prompt |= {"not_entered_count": 2}
    shop.changed_on_disk()
    room = "A budget of 10 has room for none of 2 files: raise it at the top."
    expect(page.locator("#prompt-note")).to_have_text(room)
    expect(page.locator("#first-steps")).to_be_hidden()


def test_a_configuration_broken_on_the_disk_is_told(opened: Opened, shop: FakePanel) -> None:
    """The status line reports it once, the warnings permanently."""
    page = opened(shop)
    shop.state["config_problem"] = "manual_slop.toml: is not valid TOML"
    shop.changed_on_disk()

    expect(page.locator("#status")).to_have_text("On the disk, manual_slop.toml: is not valid TOML")
    page.get_by_role("button", name="2 warnings").click()
    expect(page.get_by_role("dialog")).to_contain_text("goes on with the one it has")


def test_a_first_task_comes_with_a_budget(opened: Opened, shop: FakePanel) -> None:
    """A first task would include all files, so one edit adds a budget, with a message."""
    for row in shop.files.values():
        row |= {"view": "", "mode": "", "tokens": 0}
    page = opened(shop)
    page.keyboard.press("Alt+t")
    page.keyboard.type("mend the till")
    page.keyboard.press("Enter")

    expect(page.locator("#status")).to_contain_text("within 32k tokens")
    (body,) = shop.bodies("edit")
    assert body["edits"] == [{"op": "task", "task": "mend the till", "budget": "32k"}]


def test_screenshots_are_dropped_and_too_large_ones_refused(
    opened: Opened, shop: FakePanel
) -> None:
    """A dropped image is added and shown; one over 10 MB is not uploaded."""
    page = opened(shop)
    page.get_by_role("tab", name="Sections").click()
    drop = """(size) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([new Uint8Array(size)], "shot.png", {type: "image/png"}));
      document.body.dispatchEvent(new DragEvent("drop", {dataTransfer, bubbles: true, cancelable: true}));
    }"""
    page.evaluate(drop, 10_000_001)
    expect(page.locator("#status")).to_contain_text("more than 10 MB")
    assert shop.posts == []

    page.evaluate(drop, 3)
    expect(page.locator("#status")).to_contain_text("Added screenshots/new.png.")
    expect(page.get_by_role("img", name="screenshots/new.png")).to_be_visible()
    assert shop.bodies("screenshot") == [{"data": "AAAA", "name": "shot.png"}]
