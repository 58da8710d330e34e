"""Sending that is ended in the middle: what was paid for is there, and the record says what was sent."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aggregate.chat.turn import PreparedTurn, prepare_turn
from aggregate.clients.scripted_client import scripted_client
from aggregate.errors import ToolError
from aggregate.panel.sending import Sender
from tests.panel.opened import Opened, opened


def _sender(panel: Opened) -> Sender:
    """Return what sends to a model that answers in three pieces."""

    def prepare(*arguments: Any, **options: Any) -> PreparedTurn:
        client = scripted_client(["one\ntwo\nthree\n"])
        return replace(prepare_turn(*arguments, **options), client=client)

    return Sender(panel.session, prepare=prepare)


@pytest.fixture
def panel(tmp_path: Path) -> Opened:
    """A panel of the small project."""
    return opened(tmp_path)


def test_ctrl_c_ends_a_send_and_keeps_what_came(panel: Opened) -> None:
    """The next piece ends it: the page is told, the answer's file and the record stay, the discussion is as it was."""
    sender = _sender(panel)
    plan = sender.plan("count", model="scripted")["plan"]
    pieces: list[str] = []
    told: list[str] = []

    def on_text(piece: str) -> None:
        pieces.append(piece)
        sender.end()

    with pytest.raises(KeyboardInterrupt):
        sender.send(plan, on_text, on_end=lambda: told.append("ended"))
    assert (len(pieces), told) == (1, ["ended"])
    (reply,) = (panel.folder / "md_gen").glob("*.reply.md")
    assert reply.read_text().startswith("one\n")
    (record,) = (panel.folder / "md_gen").glob(".*.chain.json")
    assert json.loads(record.read_text())["sent"]["provider"] == "scripted"
    assert not (panel.folder / "manual_slop_history.toml").exists()
    with pytest.raises(ToolError, match="was sent already"):
        sender.send(plan, on_text, on_end=lambda: None)


def test_what_was_sent_is_recorded_with_the_first_piece(panel: Opened) -> None:
    """A program that is killed while an answer comes has recorded what was sent, and before it nothing (E-6)."""
    sender = _sender(panel)
    plan = sender.plan("count", model="scripted")["plan"]
    recorded: list[bool] = []

    def on_text(_piece: str) -> None:
        (record,) = (panel.folder / "md_gen").glob(".*.chain.json")
        recorded.append("sent" in json.loads(record.read_text()))

    sender.send(plan, on_text, on_end=lambda: None)
    assert recorded[:2] == [False, True]
