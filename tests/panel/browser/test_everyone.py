"""For everyone, and against everyone: keys, readers, widths, and hostile names and contents."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.panel.browser.fake_panel import ORIGIN, FakePanel

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
    """In both colours, on each tab and in each dialog, axe-core has no serious or critical finding."""
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    panel = FakePanel(["app/a.py", "b.py"])
    panel.files["b.py"] |= {"state": "stale", "score": 0.4}
    panel.slices = [
        {
            "id": 0,
            "start": 2,
            "end": 3,
            "tag": "old",
            "comment": "x",
            "state": "stale",
            "candidate": {"start": 5, "end": 6},
            "why": "Edited.",
        }
    ]
    opened(panel)
    page.locator("#tree .rows .row", has_text="b.py").click()
    expect(page.locator("#source .row")).to_have_count(6)

    findings = _findings(page)
    for name in ["Left out (1)", "Sections", "Treemap"]:
        page.get_by_role("tab", name=name).click()
        findings += _findings(page)
    for name in ["Send…", "Models…", "Seeds…", "Keys", "Save as…", "1 warning"]:
        page.get_by_role("button", name=name).click()
        findings += _findings(page)
        page.keyboard.press("Escape")
    assert findings == []


def test_f6_goes_round_the_panes_and_the_focus_is_visible(opened: Opened) -> None:
    """Each list takes the focus in turn, with an outline."""
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
    """Going by Tab through the page meets each visible button, field and list, and ends where it began."""
    page = opened(FakePanel(["a.py"]))
    page.locator("#tree .rows .row").first.click()
    wanted = {
        "preset",
        "save-preset",
        "save",
        "run",
        "copy",
        "send",
        "theme",
        "keys",
        "task",
        "seeds",
        "budget",
        "budget-slider",
    }
    wanted |= {
        "choose-models",
        "flat",
        "filter",
        "tree",
        "split-left",
        "source",
        "view",
        "split-right",
        "tab-prompt",
    }
    wanted |= {"section-jump", "fold-all", "unfold-all", "prompt", "warnings"}
    page.locator("#preset").focus()
    page.keyboard.press("Shift+Tab")
    reached = set()
    for _ in range(80):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id"))

    assert wanted - reached - {"save"} == set()  # Save waits for something to save


@pytest.mark.parametrize("width", [1024, 1600])
def test_nothing_is_cut_off_at_usual_widths(opened: Opened, page: Page, width: int) -> None:
    """The page does not scroll sideways, and each button of the top lies inside the window."""
    page.set_viewport_size({"width": width, "height": 720})
    opened(FakePanel(["a.py"]))

    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    rights = page.evaluate(
        "[...document.querySelectorAll('header button')].map((button) => button.getBoundingClientRect().right)"
    )
    assert max(rights) <= width


def test_widths_of_the_panes_are_moved_by_keys_and_kept(opened: Opened) -> None:
    """A separator takes arrow keys; the width is there after a reload."""
    page = opened(FakePanel(["a.py"]))
    page.locator("#split-left").focus()
    page.keyboard.press("ArrowRight")
    width = page.locator("#split-left").get_attribute("aria-valuenow")

    page.reload()

    expect(page.locator("#split-left")).to_have_attribute("aria-valuenow", width or "")
    assert width == "29"


def test_the_colours_are_chosen_and_kept(opened: Opened) -> None:
    """Dark stays dark after a reload, whatever the system says."""
    page = opened(FakePanel(["a.py"]))
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_label("Colours").select_option("dark")
    page.reload()

    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light


HOSTILE = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>'


def test_hostile_names_and_contents_stay_text(opened: Opened) -> None:
    """Markup and scripts in paths, sources, tags, sections, turns, beads, sentences and answers run nowhere."""
    panel = FakePanel([f"{HOSTILE}/{HOSTILE}.py"], source=[HOSTILE, "javascript:window.hit=1"])
    panel.definitions = [
        {"name": HOSTILE, "kind": HOSTILE, "start": 1, "end": 2, "depth": 0, "mask": ""}
    ]
    panel.slices = [
        {
            "id": 0,
            "start": 1,
            "end": 2,
            "tag": HOSTILE,
            "comment": HOSTILE,
            "state": "stale",
            "candidate": None,
            "why": HOSTILE,
        }
    ]
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
    """Every request of the page, the treemap's included, goes to the panel's own server."""
    panel = FakePanel(["a.py"])
    page = opened(panel)
    page.get_by_role("tab", name="Treemap").click()
    expect(page.locator("#treemap canvas")).to_be_visible()

    assert [address for address in panel.requests if not address.startswith(f"{ORIGIN}/")] == []
