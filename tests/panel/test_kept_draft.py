"""Edits that were not saved when the server ended: offered again, and taken only where somebody says so."""

import json

import pytest

from aggregate.base.disk.writing import state_folder
from tests.panel.opened import CONFIG, Opened, opened


def _restarted(panel: Opened) -> Opened:
    """End a panel; return that of the next start in the same folder."""
    config = panel.config
    panel.session.close()
    return opened(panel.folder, {"manual_slop.toml": config})


def test_unsaved_edits_outlive_the_server(panel: Opened) -> None:
    """They are offered with what they change, taken as a step that can be undone, and no longer offered then."""
    panel.edit(op="view", paths=["src/a.py"], mode="outline")
    panel.edit(op="task", task="mend alpha", focus=["src/b.py"])
    panel.edit(op="turn", id=3, on=False)
    draft = panel.session.draft.current
    again = _restarted(panel)
    state = again.get("state")
    assert state["dirty"] is False
    assert "files.paths, task.text" in state["unsaved"]
    state = again.post("draft/restore")
    assert (state["dirty"], state["unsaved"]) == (True, "")
    assert again.session.draft.current == draft
    assert again.post("undo")["dirty"] is False
    assert again.config == CONFIG


def test_nothing_is_offered_after_saving(panel: Opened) -> None:
    """What was saved, and what was undone, is not offered."""
    panel.edit(op="task", task="mend")
    panel.session.keep_draft()
    panel.post("save")
    again = _restarted(panel)
    assert again.get("state")["unsaved"] == ""
    again.edit(op="task", task="another")
    again.session.keep_draft()
    again.post("undo")
    assert _restarted(again).get("state")["unsaved"] == ""


def test_edits_that_nobody_takes_are_offered_again(panel: Opened) -> None:
    """Opening a panel and ending it loses nothing; forgetting does."""
    panel.edit(op="task", task="mend")
    again = _restarted(_restarted(panel))
    assert again.get("state")["unsaved"]
    assert again.post("draft/forget")["unsaved"] == ""
    assert again.post("draft/restore")["error"] == "there are no edits from before"
    assert _restarted(again).get("state")["unsaved"] == ""


def test_a_file_that_was_changed_meanwhile_is_merged(panel: Opened) -> None:
    """The edits are compared with what they were made of: other keys are merged, the same key is refused (E-7)."""
    panel.edit(op="task", task="mend")
    panel.session.close()
    again = opened(panel.folder, {"manual_slop.toml": CONFIG + "[budget]\ntokens = 9000\n"})
    assert again.post("draft/restore")["outside"] is True
    again.session.compose()
    saved = again.post("save")
    assert "budget.tokens" in saved["sentence"]
    assert "9000" in again.config
    assert 'text = "mend"' in again.config
    again.edit(op="task", task="other")
    again.session.close()
    third = opened(panel.folder, {"manual_slop.toml": again.config.replace("mend", "theirs")})
    third.post("draft/restore")
    assert third.post("save")["conflict"] is True


@pytest.mark.parametrize(
    "kept",
    [
        "",
        "[]",
        '{"config": "manual_slop.toml", "base": "", "draft": {"text": 3}}',
        '{"config": "manual_slop.toml", "base": "", "draft": []}',
        '{"config": "manual_slop.toml", "base": "", "draft": {"text": "", "turns_out": [Infinity]}}',
        "\0",
        "[" * 9999,
    ],
)
def test_a_damaged_file_offers_nothing(panel: Opened, kept: str) -> None:
    """What cannot be read is as if it were not there."""
    file = state_folder(panel.folder) / "panel_draft.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(kept)
    assert opened(panel.folder).get("state")["unsaved"] == ""


def test_names_of_keys_steer_nothing(panel: Opened) -> None:
    """A configuration may hold any key: what turns the text around or breaks the line is shown as what it is."""
    draft = {"text": CONFIG + '[personas."a\\u202e\\nb"]\n'}
    file = state_folder(panel.folder) / "panel_draft.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"config": "manual_slop.toml", "base": CONFIG, "draft": draft}))
    assert r"personas.a\u202e\x0ab" in opened(panel.folder).get("state")["unsaved"]
