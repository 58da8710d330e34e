"""Changes on the disk while the page is open."""

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from aggregate.panel import ConflictError
from aggregate.project.configuration import changing
from tests.panel.opened import CONFIG, FILES, Opened, opened


def _wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_changes_show(panel: Opened) -> None:
    """A change is reported by path, then composed; new files are listed (E-7)."""
    (panel.folder / "src/b.py").write_text("def epsilon():\n    return 3\n")
    panel.told(panel.folder / "src/b.py")
    assert (panel.events[-1]["what"], panel.events[-1]["paths"]) == ("disk", ["src/b.py"])
    panel.session.compose()
    assert "epsilon" in panel.markdown
    assert panel.events[-1]["what"] == "composed"
    assert panel.events[-1]["composed"] == panel.events[-1]["revision"]
    panel.change("src/c.py", "zeta = 1\n")
    assert panel.row("src/c.py")["view"] == "full"
    assert "zeta" in panel.markdown
    (panel.folder / "src/c.py").write_text(
        "iota = 1\n"
    )  # nothing watches it, so nobody tells of it
    panel.session.compose()
    assert "iota" in panel.markdown


def test_our_own_saving_is_no_news(panel: Opened) -> None:
    """Saving from the page is not reported, and a prompt showing it is composed again (E-7)."""
    panel.edit(op="view", paths=["manual_slop.toml"], mode="full")
    panel.post("save")
    panel.session.compose()
    assert 'path = "README.md"' in panel.markdown
    assert '"manual_slop.toml",' in panel.markdown
    temporary = panel.folder / ".manual_slop.toml-0123456789abcdef.tmp"
    assert not panel.told(temporary, panel.folder / "manual_slop.toml")


@pytest.mark.parametrize(
    ("source", "output"),
    [("src/a.py", ""), ("src/a.py", "."), ("src/a.py", "src"), ("state/store.py", "")],
)
def test_our_own_output_is_no_news_and_sources_are(
    tmp_path: Path, source: str, output: str
) -> None:
    """Our own prompts are ignored, also behind a link; sources beside them are not (E-7)."""
    config = f'[files]\npaths = ["{source}"]\n'
    config += f'[output]\noutput_dir = "{output}"\n' if output else ""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real", target_is_directory=True)
    panel = opened(tmp_path / "link", {source: "old = 1\n", "manual_slop.toml": config})
    panel.change(source, "changed = 1\n")
    assert "changed = 1" in panel.markdown
    path = Path(panel.post("run")["path"])
    assert not panel.told(path.parent, path)


def test_what_is_written_has_the_newest_files(tmp_path: Path) -> None:
    """A file of the last second, which no look has met yet, is in a prompt that is written (E-7)."""
    panel = opened(
        tmp_path, {"a.py": "old = 1\n", "manual_slop.toml": '[files]\npaths = ["*.py"]\n'}
    )
    panel.session.catch_up()
    panel.session.compose()
    (tmp_path / "b.py").write_text("newest = 1\n")
    assert "newest = 1" in Path(panel.post("run")["path"]).read_text()


def test_the_configuration_is_taken_where_there_are_no_edits(panel: Opened) -> None:
    """Without edits the page follows the configuration; an error stays until it is fixed."""
    panel.change("manual_slop.toml", CONFIG.replace("outline", "summary"))
    assert panel.row("README.md")["view"] == "summary"
    assert panel.get("state")["dirty"] is False
    before = panel.markdown
    panel.change("manual_slop.toml", "[files\npaths = 3\n")
    state = panel.get("state")
    assert "is not valid TOML" in state["config_problem"]
    assert (state["prompt_error"], panel.markdown) == ("", before)
    panel.change("manual_slop.toml", CONFIG)
    assert panel.get("state")["config_problem"] == ""


@pytest.mark.parametrize("is_told", [False, True])
def test_a_file_that_was_changed_is_not_overwritten(panel: Opened, *, is_told: bool) -> None:
    """A conflict is one sentence, noticed or not, and reloading resolves it (E-4)."""
    panel.edit(op="view", paths=["src/a.py"], mode="outline")
    theirs = CONFIG.replace("# what we show", "# theirs")
    if is_told:
        panel.change("manual_slop.toml", theirs)
        assert panel.get("state")["outside"] is True
    else:
        (panel.folder / "manual_slop.toml").write_text(theirs)
    answer = panel.post("save")
    assert answer["conflict"] is True
    assert answer["error"].startswith("manual_slop.toml was changed on the disk: reload it")
    assert panel.config == theirs
    panel.post("reload")
    assert panel.draft == theirs
    panel.edit(op="task", task="mend")
    assert panel.post("save")["state"]["dirty"] is False


def test_a_preset_is_saved_beside_other_edits(panel: Opened) -> None:
    """The preset is saved at once, the other edits later (E-4)."""
    panel.edit(op="task", task="mend")
    panel.post("preset/save", name="mine")
    assert "mend" not in panel.config
    assert panel.post("save")["state"]["dirty"] is False
    assert all(part in panel.config for part in ("mine", "mend"))


def test_composing_goes_on_after_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken user configuration is reported, and the page goes on once it is fixed."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    monkeypatch.setenv("APPDATA", str(tmp_path / "own"))
    session = opened(tmp_path / "project").session
    own = tmp_path / "own/manual_slop/manual_slop.toml"
    own.parent.mkdir(parents=True)
    own.write_text("[wrong\n")
    session.start()
    _wait_for(lambda: "is not valid TOML" in session.view.error)
    own.unlink()
    session.edit([{"op": "task", "task": "typed later"}])
    _wait_for(lambda: bool(session.models) and not session.view.error)
    session.close()


def test_a_configuration_that_leads_out_is_not_written(tmp_path: Path) -> None:
    """A link out of the project is not written through: a project could bring it."""
    (tmp_path / "victim.toml").write_text("")
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    (folder / "manual_slop.toml").symlink_to(tmp_path / "victim.toml")
    panel = opened(folder, {"a.py": "x = 1\n"})
    assert panel.post("save").get("error") or not panel.config
    assert (tmp_path / "victim.toml").read_text() == ""


def test_two_programs_that_save_at_once_lose_nothing(panel: Opened) -> None:
    """Saving waits for another program's change, and then sees it."""
    panel.edit(op="task", task="mend")
    config = panel.folder / "manual_slop.toml"
    refused: list[ConflictError] = []

    def save() -> None:
        try:
            panel.session.save()
        except ConflictError as error:
            refused.append(error)

    with changing(config):
        saving = threading.Thread(target=save)
        saving.start()
        saving.join(0.1)
        assert saving.is_alive()
        config.write_text(CONFIG + "[budget]\ntokens = 9000\n")
    saving.join(20)
    assert len(refused) == 1
    assert "9000" in panel.config


def test_secrets_in_labels_of_slices_stay_in_the_file(tmp_path: Path) -> None:
    """Labels are shown redacted."""
    key = "ghp_" + "a1B2" * 9
    panel = opened(tmp_path, {**FILES, "manual_slop.toml": f"{CONFIG}[redaction]\nrun = true\n"})
    panel.edit(op="slice", path="src/a.py", start=4, end=5, tag=f"token {key}", comment="old")
    data = panel.get("file", path="src/a.py")
    assert key not in json.dumps(data)
    assert key in panel.draft
