"""Editing configurations that people write."""

import threading
import time
from pathlib import Path

import pytest

from aggregate import ConfigError
from aggregate.project.configuration import (
    changing,
    global_config_path,
    is_trusted,
    set_trust,
    trusted_projects,
)
from aggregate.project.configuration.edit import open_document, write_document


def test_what_is_not_changed_keeps_its_bytes(tmp_path: Path) -> None:
    """Comments, order and spaces stay; what is no TOML is refused."""
    path = tmp_path / "manual_slop.toml"
    text = '# mine\n[project]\nname  = "demo"   # the name\n\n[files]\npaths = []\n'
    path.write_text(text, encoding="utf-8")
    document = open_document(path)
    document["project"]["name"] = "other"
    write_document(path, document)
    assert path.read_text(encoding="utf-8") == text.replace('"demo"', '"other"')
    path.write_text("[project\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="is no valid TOML"):
        open_document(path)


def test_trust_is_given_once_and_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list stands in the user's own configuration, whose other lines stay."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("APPDATA", str(tmp_path / "xdg"))
    global_config_path().parent.mkdir(parents=True)
    global_config_path().write_text("# mine\n[redaction]\nrun = true\n", encoding="utf-8")
    folder = tmp_path / "project"
    folder.mkdir()
    root = set_trust(folder, trusted=True)
    assert set_trust(folder, trusted=True) == root
    assert trusted_projects() == (root,)
    assert is_trusted(root)
    assert set_trust(folder, trusted=False) == root
    assert trusted_projects() == ()
    assert (
        global_config_path()
        .read_text(encoding="utf-8")
        .startswith("# mine\n[redaction]\nrun = true\n")
    )


def test_trust_waits_for_another_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another program changes in the user's configuration meanwhile is not lost."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("APPDATA", str(tmp_path / "xdg"))
    path = global_config_path()
    (tmp_path / "project").mkdir()
    has_begun = threading.Event()

    def change() -> None:
        with changing(path):
            document = open_document(path)
            has_begun.set()
            time.sleep(0.05)
            document["redaction"] = {"run": True}
            write_document(path, document)

    other = threading.Thread(target=change)
    other.start()
    has_begun.wait()
    root = set_trust(tmp_path / "project", trusted=True)
    other.join()
    assert "redaction" in open_document(path)
    assert trusted_projects() == (root,)
