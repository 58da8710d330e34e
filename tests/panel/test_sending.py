"""Interrupted sending: the partial answer and the record are stored."""

import asyncio
import json
import threading
import time
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from aggregate import ProviderError, Reply, ToolError, Usage
from aggregate.panel import Sender
from aggregate.sending import Exchange, prepare_turn
from aggregate.sending.clients import ChatRequest, OnText
from tests.panel.opened import Opened


class Dictating:
    """A model that answers in three pieces over time."""

    async def exchange(self, request: ChatRequest, on_text: OnText | None) -> Reply:
        """Answer with three lines."""
        lines = ["one\n", "two\n", "three\n"]
        for line in lines:
            if on_text:
                on_text(line)
            await asyncio.sleep(0.001)
        return Reply("".join(lines), Usage(), model=request.model)


def _sender(panel: Opened) -> Sender:
    """Return a sender to that model."""

    def prepare(*arguments: Any, **options: Any) -> Exchange:
        turn = prepare_turn(*arguments, **options)
        return replace(turn, client=replace(turn.client, transport=Dictating()))

    return Sender(panel.session, prepare=prepare)


def test_ctrl_c_ends_a_send_and_keeps_what_came(panel: Opened) -> None:
    """The partial answer and the record are stored, and the discussion is unchanged."""
    sender = _sender(panel)
    plan = sender.plan("count", model="scripted")["plan"]
    pieces: list[str] = []

    def on_text(piece: str) -> None:
        pieces.append(piece)
        sender.end()

    with pytest.raises(ProviderError, match="the request was stopped"):
        sender.send(plan, on_text, on_notice=pieces.append)
    assert len(pieces) == 1
    (reply,) = (panel.folder / "md_gen").glob("*.reply.md")
    assert reply.read_text().startswith("one\n")
    (record,) = (panel.folder / "md_gen").glob(".*.chain.json")
    assert json.loads(record.read_text())["sent"]["provider"] == "scripted"
    assert not (panel.folder / "manual_slop_history.toml").exists()
    with pytest.raises(ToolError, match="was already sent"):
        sender.send(plan, on_text, on_notice=lambda _sentence: None)


def test_the_end_waits_for_what_came(panel: Opened) -> None:
    """Ending waits until another thread's answer is stored, even without a listener."""
    sender = _sender(panel)
    plan = sender.plan("count", model="scripted")["plan"]
    has_begun = threading.Event()

    def on_text(_piece: str) -> None:
        has_begun.set()
        time.sleep(0.2)

    def send() -> None:
        with suppress(ProviderError):
            sender.send(plan, on_text, on_notice=lambda _sentence: None)

    thread = threading.Thread(target=send)
    thread.start()
    has_begun.wait()
    assert not sender.wait(0.01)
    sender.end()
    assert sender.wait(20)
    assert [*(panel.folder / "md_gen").glob("*.reply.md")]
    thread.join()


def test_without_a_model_the_page_is_told_to_choose_one(panel: Opened) -> None:
    """The sentence suggests the page and the configuration, not options (E-6)."""
    with pytest.raises(ToolError, match="no model is chosen: choose one here") as raised:
        _sender(panel).plan("count")
    assert "--" not in str(raised.value)
