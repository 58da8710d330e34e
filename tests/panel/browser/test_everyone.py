"""Accessibility and hostile input: keys, screen readers, widths, names and contents."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.panel.browser.fake_panel import ORIGIN, FakePanel, stale_slice

pytestmark = pytest.mark.browser
Opened = Callable[[FakePanel], Page]
AXE = (Path(__file__).parent / "vendor/axe.min.js").read_text("utf-8")
GRAVE = ("serious", "critical")


def _findings(page: Page) -> list[str]:
    # Evaluated by the debugger, which the page's policy does not bind.
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    result = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{each['id']}: {each['nodes'][0]['html']}"
        for each in result["violations"]
        if each["impact"] in GRAVE
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_grave(opened: Opened, page: Page, scheme: str) -> None:
    """In both colour schemes, on each tab and dialog, axe-core has no serious finding."""
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    panel = FakePanel(["app/a.py", "b.py"])
    panel.files["b.py"] |= {"state": "stale", "score": 0.4}
    panel.slices = [stale_slice(2, 3, "old", "Edited.", candidate={"start": 5, "end": 6})]
    opened(panel)
    page.locator("#tree .rows .row", has_text="b.py").click()
    expect(page.locator("#source .row")).to_have_count(6)

    findings = _findings(page)
    for name in ["Left out (1)", "Sections", "Treemap"]:
        page.get_by_role("tab", name=name).click()
        findings += _findings(page)
    for name in ["Send…", "Models…", "Start from…", "Keys", "Save as…", "1 warning"]:
        page.get_by_role("button", name=name).click()
        findings += _findings(page)
        page.keyboard.press("Escape")
    assert findings == []


def test_f6_goes_round_the_panes_and_the_focus_is_visible(opened: Opened) -> None:
    """Each list gets the focus in turn, with an outline."""
    page = opened(FakePanel(["a.py"]))
    page.locator("#tree .rows .row").first.click()
    page.locator("#tree").focus()
    reached = []
    for _ in range(3):
        page.keyboard.press("F6")
        reached.append(page.evaluate("document.activeElement.id"))

    assert reached == ["source", "prompt", "tree"]
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_tab_reaches_every_control(opened: Opened) -> None:
    """Tab visits each visible button, field and list, and returns to the first."""
    page = opened(FakePanel(["a.py"]))
    page.locator("#tree .rows .row").first.click()
    wanted = {
        "preset", "save-preset", "run", "copy", "send", "theme", "keys", "task", "seeds", "budget", "budget-slider",
        "choose-models", "flat", "filter", "tree", "split-left", "source", "view", "split-right", "tab-prompt",
        "section-jump", "fold-all", "unfold-all", "prompt", "warnings",
    }  # fmt: skip
    page.locator("#preset").focus()
    page.keyboard.press("Shift+Tab")
    reached = set()
    for _ in range(80):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id"))

    assert wanted - reached == set()


@pytest.mark.parametrize("width", [1024, 1600])
def test_nothing_is_cut_off_at_usual_widths(opened: Opened, page: Page, width: int) -> None:
    """The page does not scroll sideways, and all buttons of the header are visible."""
    page.set_viewport_size({"width": width, "height": 720})
    opened(FakePanel(["a.py"]))

    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    rights = page.evaluate(
        "[...document.querySelectorAll('header button')].map((button) => button.getBoundingClientRect().right)"
    )
    assert max(rights) <= width


HOSTILE = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>'


def test_hostile_names_and_contents_stay_text(opened: Opened) -> None:
    """Markup and scripts of all kinds of data are never run."""
    panel = FakePanel([f"{HOSTILE}/{HOSTILE}.py"], source=[HOSTILE, "javascript:window.hit=1"])
    panel.definitions = [
        {"name": HOSTILE, "kind": HOSTILE, "start": 1, "end": 2, "depth": 0, "mask": ""}
    ]
    panel.slices = [stale_slice(1, 2, HOSTILE, HOSTILE)]
    row = next(iter(panel.files.values()))
    row |= {"why": HOSTILE, "state": HOSTILE, "view": HOSTILE}
    panel.state |= {
        "project": HOSTILE,
        "config": HOSTILE,
        "warnings": [HOSTILE],
        "beads": {"on": True, "text": HOSTILE, "tokens": 1},
    }
    panel.state["presets"][0]["name"] = panel.state["models"][0]["name"] = HOSTILE
    panel.refusals["run"] = HOSTILE
    page = opened(panel)
    page.locator("#filter").fill(".py")
    page.locator("#tree .rows .row").last.click()
    expect(page.locator("#source .row .text").first).to_have_text(HOSTILE)
    page.locator("#source .row .text").first.click(position={"x": 20, "y": 5})
    page.keyboard.press("Escape")
    for name in ["Left out (1)", "Sections", "Treemap"]:
        page.get_by_role("tab", name=name).click()
    page.get_by_role("button", name="Run").click()
    expect(page.locator("#status")).to_have_text(HOSTILE)
    page.get_by_role("button", name="1 warning").click()

    assert page.evaluate(
        "window.hit === undefined && document.querySelectorAll('body img[onerror], body script').length === 0"
    )


def test_nothing_is_asked_of_other_hosts(opened: Opened) -> None:
    """All requests, also of the treemap, go to the panel's server."""
    panel = FakePanel(["a.py"])
    page = opened(panel)
    page.get_by_role("tab", name="Treemap").click()
    expect(page.locator("#treemap canvas")).to_be_visible()

    assert [address for address in panel.requests if not address.startswith(f"{ORIGIN}/")] == []


def test_everything_is_done_by_keys_alone(opened: Opened) -> None:
    """All controls work without a pointer, and the focus returns from dialogs."""
    shop = FakePanel(["app/shop.py", "till.py"])
    page = opened(shop)
    press = page.keyboard.press
    press("Alt+t")
    page.keyboard.type("mend the till")
    press("Enter")
    press("Shift+Tab")
    press("F6")
    press("/")
    page.keyboard.type("shop")
    for key in ["ArrowDown", "End", "3", "Enter"]:
        press(key)
    expect(page.locator("#source .row")).to_have_count(6)
    page.locator("#mode-bar :checked").focus()
    press("ArrowRight")
    expect(page.locator("#mode-bar :checked")).to_be_focused()
    page.locator("#tree").focus()
    for key in ["F6", "n", "s", "F6", "ArrowLeft"]:
        press(key)
    expect(page.locator("#prompt .rows")).to_contain_text("folded")
    page.locator("#tab-prompt").focus()
    press("ArrowRight")
    press("ArrowRight")
    page.locator("#panel-sections [data-key='screenshot a.png']").focus()
    press("Space")
    page.locator("#preset").focus()
    press("ArrowDown")
    press("Alt+m")
    page.keyboard.type(" now?")
    press("Tab")
    press("Tab")
    press("Enter")
    expect(page.get_by_role("dialog")).to_contain_text("1,100 by the provider's count")
    expect(page.get_by_role("button", name="Close", exact=True)).to_be_focused()
    press("Shift+Tab")
    press("Enter")
    expect(page.get_by_label("Answer")).to_contain_text("empty.")
    press("Escape")
    expect(page.locator("#preset")).to_be_focused()

    asked = [edit["op"] for body in shop.bodies("edit") for edit in body["edits"]]
    assert asked == ["task", "view", "view", "mask", "screenshot"]
    others = [name for name, _ in shop.posts if name != "edit"]
    assert others == ["preset/apply", "send/plan", "send"]


def test_the_focus_stays_where_it_is_while_everything_is_drawn_anew(opened: Opened) -> None:
    """Redrawing tree, file, prompt and sections keeps the focus."""
    shop = FakePanel(["app/shop.py", "till.py"])
    page = opened(shop)
    page.locator("#tree .rows .row", has_text="till.py").click()
    expect(page.locator("#source .row")).to_have_count(6)
    places = ["#tree", "#source", "#view", "#prompt", "#task", "#filter", "#section-jump", "#undo"]
    lost = []
    shop.state["can_undo"] = True
    for tab in ["Prompt", "Sections"]:
        page.get_by_role("tab", name=tab).click()
        inside = ["[data-key='turn 0']", "[data-key='strategy']", "[data-key='add screenshot']"]
        for place in [*places, "#mode-bar :checked", *(inside if tab == "Sections" else [])]:
            if not page.locator(place).is_visible():
                continue
            page.locator(place).focus()
            shop.definitions[0]["end"] -= 1
            shop.state["sections"]["Files"] += 1
            shop.changed_on_disk()
            expect(page.locator("#revision")).to_have_attribute(
                "data-revision", str(shop.state["revision"]), timeout=15_000
            )
            page.wait_for_timeout(80)  # the file comes after the state
            if not page.evaluate("(place) => document.activeElement.matches(place)", place):
                lost.append((tab, place))
    assert lost == []


def test_at_twice_the_size_the_panes_stand_below_each_other(opened: Opened, page: Page) -> None:
    """At 200 % in a window of 1280 pixels nothing is cut off, and all controls are reachable."""
    page.set_viewport_size({"width": 640, "height": 360})
    opened(FakePanel(["a.py"]))
    page.locator("#tree .rows .row").first.click()

    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    outside = page.evaluate(
        """[...document.querySelectorAll('button, input, select, textarea')].filter((control) => control.checkVisibility()
        && !control.closest('.list') && control.getBoundingClientRect().right > window.innerWidth).map((control) => control.id)"""
    )
    assert outside == []
    page.locator("#prompt").scroll_into_view_if_needed()
    expect(page.locator("#prompt .row.heading").first).to_be_in_viewport()


def test_selection_and_cursor_are_seen_in_forced_colours(opened: Opened, page: Page) -> None:
    """With forced colours the selected row has the system's selection colour."""
    page.emulate_media(forced_colors="active")
    opened(FakePanel(["a.py", "b.py"]))
    page.locator("#tree .rows .row").first.click()
    page.locator("#tree").focus()
    colour = "(row) => getComputedStyle(row).backgroundColor"
    rows = page.locator("#tree .rows .row")

    assert rows.nth(0).evaluate(colour) != rows.nth(1).evaluate(colour)
    assert rows.nth(0).evaluate("(row) => getComputedStyle(row).outlineStyle") == "solid"
