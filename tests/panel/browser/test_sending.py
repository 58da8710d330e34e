"""Sending from the page, by the real client to a fake provider."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.fakes.senders import Dripping, dripping
from tests.panel.browser.conftest import ROWS
from tests.panel.browser.panel_process import Server
from tests.projects import project

pytestmark = pytest.mark.browser
FILES = {
    "manual_slop.toml": '[project]\nname = "shop"\n\n[files]\npaths = ["src/*.py"]\n',
    "src/till.py": "def pay():\n    return 3\n",
}
USAGE = {"prompt_tokens": 120, "completion_tokens": 7, "total_tokens": 127}
NO_KEYS = {"OPENAI_API_KEY": "", "ANTHROPIC_API_KEY": "", "GEMINI_API_KEY": ""}
Opener = Callable[..., Page]


@pytest.fixture
def provider() -> Iterator[Dripping]:
    """Run a server of OpenAI's protocol with answers chosen by the test."""
    with dripping(usage=USAGE) as server:
        yield server


@pytest.fixture
def shop(tmp_path: Path, page: Page, provider: Dripping) -> Iterator[Opener]:
    """Open the panel of a project, with the provider's address in the user's configuration."""
    with ExitStack() as stack:

        def open_panel(key: str = "sk-of-the-user") -> Page:
            root = project(tmp_path / "shop", FILES)
            own = tmp_path / "own" / "manual_slop"
            own.mkdir(parents=True)
            (own / "manual_slop.toml").write_text(
                f'[send]\nprovider = "openai"\nmodel = "gpt-5.6"\nbase_url = "{provider.url}"\n',
                "utf-8",
            )
            folders = {"XDG_CONFIG_HOME": own.parent, "XDG_STATE_HOME": tmp_path / "state"}
            environment = {name: str(path) for name, path in folders.items()}
            server = Server(root, {**NO_KEYS, **environment, "OPENAI_API_KEY": key})
            stack.callback(server.stop)
            page.goto(server.address)
            page.wait_for_selector(ROWS)
            page.wait_for_selector("#prompt .row.heading")
            page.get_by_role("button", name="Send…").click()
            page.get_by_label("Question").fill("Who pays?")
            page.get_by_role("button", name="Show the plan").click()
            return page

        yield open_panel


def _send(page: Page) -> None:
    page.get_by_role("dialog").get_by_role("button", name=re.compile("^Send")).click()


def _history(tmp_path: Path) -> str:
    path = tmp_path / "shop" / "manual_slop_history.toml"
    return path.read_text("utf-8") if path.exists() else ""


def test_plan_and_cost_come_first_and_the_answer_is_a_turn(
    shop: Opener, provider: Dripping, tmp_path: Path
) -> None:
    """Only an accepted plan is sent; the answer is streamed, stored, and in the next prompt (E-6)."""
    page = shop()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("openai · gpt-5.6")
    expect(dialog).to_contain_text("Cost of the input$")
    assert provider.bodies == []

    _send(page)
    provider.pieces.put("The till ")
    expect(page.get_by_label("Answer")).to_have_text("The till")
    provider.pieces.put("pays.")
    provider.pieces.put(None)

    expect(dialog).to_contain_text("120 tokens in")
    expect(page.get_by_label("Answer")).to_have_text("The till pays.")
    page.keyboard.press("Escape")
    expect(page.locator("#prompt .rows")).to_contain_text("The till pays.")
    page.get_by_role("tab", name="Sections").click()
    expect(page.locator("#panel-sections .turn")).to_have_count(2)
    assert "Who pays?" in provider.bodies[0]
    assert "def pay" in provider.bodies[0]
    assert "The till pays." in _history(tmp_path)
    written = next((tmp_path / "shop").rglob("*_001.md")).read_text("utf-8")
    assert "def pay" in written


def test_stop_ends_the_request_and_keeps_what_came(
    shop: Opener, provider: Dripping, tmp_path: Path
) -> None:
    """The connection is closed, the discussion stays, and the page names the answer's file."""
    page = shop()
    _send(page)
    provider.pieces.put("The till ")
    expect(page.get_by_label("Answer")).to_have_text("The till")

    page.get_by_role("button", name="Stop").click()

    ending = page.get_by_role("dialog").get_by_role("status")
    expect(ending).to_contain_text("the request was stopped; the partial answer is in")
    assert next((tmp_path / "shop").rglob("*_001.reply.md")).read_text("utf-8") == "The till "
    assert _history(tmp_path) == ""
    page.get_by_role("button", name="Plan again").click()
    expect(page.get_by_role("button", name=re.compile("^Send for"))).to_be_visible()


def test_without_a_key_the_plan_says_so_and_nothing_can_be_sent(
    shop: Opener, provider: Dripping
) -> None:
    """The plan is still shown, without a button to send."""
    page = shop(key="")

    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("There is no key for this provider: it cannot be sent.")
    expect(dialog.get_by_role("button", name=re.compile("^Send"))).to_have_count(0)
    assert provider.bodies == []
