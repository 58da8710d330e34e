"""What happens on the disk while the page is open: files, the configuration, and both at once."""

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from aggregate.panel.draft import ConflictError
from aggregate.project.configuration import changing
from tests.panel.opened import CONFIG, FILES, Opened, opened


def _wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_changes_show(panel: Opened) -> None:
    """A change is told of at once by its path, and the prompt follows; a file that comes is listed and shown (E-7)."""
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
    """What the page has saved is not told of as a change on the disk; the prompt that shows it is composed anew (E-7)."""
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
    """A prompt that was written composes no next one, also behind a link; sources beside it, or in "state", show (E-7)."""
    config = f'[files]\npaths = ["{source}"]\n'
    config += f'[output]\noutput_dir = "{output}"\n' if output else ""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real", target_is_directory=True)
    panel = opened(tmp_path / "link", {source: "old = 1\n", "manual_slop.toml": config})
    panel.change(source, "changed = 1\n")
    assert "changed = 1" in panel.markdown
    path = Path(panel.post("run")["path"])
    assert not panel.told(path.parent, path)


def test_the_configuration_is_taken_where_there_are_no_edits(panel: Opened) -> None:
    """Without edits the page shows the configuration as it is on the disk; what cannot be used is told until mended."""
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
    """One sentence says so, whether the change was noticed before or not, and reloading takes the file (E-4)."""
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
    """The file has the preset at once; the other edits stay, and are saved behind it (E-4)."""
    panel.edit(op="task", task="mend")
    panel.post("preset/save", name="mine")
    assert "mend" not in panel.config
    assert panel.post("save")["state"]["dirty"] is False
    assert all(part in panel.config for part in ("mine", "mend"))


def test_composing_goes_on_after_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mistake in the user's own configuration is said, and once it is mended the page goes on."""
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
    """A link to a file elsewhere is not written through, since a project could bring it."""
    (tmp_path / "victim.toml").write_text("")
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    (folder / "manual_slop.toml").symlink_to(tmp_path / "victim.toml")
    panel = opened(folder, {"a.py": "x = 1\n"})
    assert panel.post("save").get("error") or not panel.config
    assert (tmp_path / "victim.toml").read_text() == ""


def test_two_programs_that_save_at_once_lose_nothing(panel: Opened) -> None:
    """Saving waits for another program of ours that is changing the configuration, and then sees the change."""
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
    """The page has a label without its secret."""
    key = "ghp_" + "a1B2" * 9
    panel = opened(tmp_path, {**FILES, "manual_slop.toml": f"{CONFIG}[redaction]\nrun = true\n"})
    panel.edit(op="slice", path="src/a.py", start=4, end=5, tag=f"token {key}", comment="old")
    data = panel.get("file", path="src/a.py")
    assert key not in json.dumps(data)
    assert key in panel.draft
