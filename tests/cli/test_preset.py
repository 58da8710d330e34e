"""``preset``: the user's file is theirs."""

from pathlib import Path

from tests.cli.command_line import Ended, start
from tests.projects import project

CONFIG = """\
# my notes, with odd   spacing
[project]   # a comment
name='demo'

[files]
paths = [ "a.py",   # keep this
  "b.py" ]

[context_presets.old]   # an old one
description = 'Two'
files = ["a.py", { path = "b.py", view_mode = "outline" }]

[discussion]
history = ["Hi"]
# the end
"""


def test_a_preset_lives_its_life(tmp_path: Path) -> None:
    """Saved, listed, shown, applied and deleted: at the end the file has its first bytes again (M-43, M-X10)."""
    files = {"manual_slop.toml": CONFIG, "a.py": "x = 1\n", "b.py": "y = 1\n"}
    path = project(tmp_path, files) / "manual_slop.toml"

    saved = start(tmp_path, "preset", "save", "new one", "a.py", "gone.py", "--description", "Café")
    warning = 'warning: preset "new one": gone.py does not exist: restore it or take it out of the preset\n'
    assert saved == Ended(0, "", f'saved "new one": 2 files\n{warning}')
    assert (
        without(path.read_text(encoding="utf-8"), '[context_presets."new one"]')
        == CONFIG.splitlines()
    )

    listed = start(tmp_path, "preset", "list")
    assert (listed.code, listed.out.splitlines()) == (
        0,
        ["old\tproject\t2 files\tTwo", "new one\tproject\t2 files\tCafé"],
    )
    assert listed.err.startswith('warning: preset "new one": gone.py does not exist')

    shown = start(tmp_path, "preset", "show", "old")
    assert shown.out.splitlines()[:2] == ["[context_presets.old]", 'description = "Two"']
    assert '{path = "b.py", view_mode = "outline"}' in shown.out

    applied = start(tmp_path, "preset", "apply", "old")
    assert applied == Ended(0, "", '"old" is active: 2 files\n')
    run = start(tmp_path, "run", "--stdout", "-q")
    assert "### File b.py" in run.out

    for name in ("old", "new one"):
        assert start(tmp_path, "preset", "delete", name) == Ended(0, "", f'deleted "{name}"\n')
    rest = CONFIG.splitlines()
    assert path.read_text(encoding="utf-8").splitlines() == [*rest[:8], *rest[12:]]


def test_a_preset_for_all_projects_is_hidden_by_the_projects_own(tmp_path: Path) -> None:
    """``--global`` stores it in the user's folder; the project's one of that name wins until it is deleted (M-43)."""
    project(tmp_path, {"manual_slop.toml": '[files]\npaths = ["a.py"]\n', "a.py": ""})
    assert start(tmp_path, "preset", "save", "mine", "a.py", "b.py", "--global").code == 0
    assert start(tmp_path, "preset", "save", "mine").code == 0
    assert start(tmp_path, "preset", "list").out == "mine\tproject\t1 file\n"
    assert start(tmp_path, "preset", "delete", "mine").code == 0
    assert start(tmp_path, "preset", "list").out == "mine\tglobal\t2 files\n"
    assert (tmp_path / ".xdg/manual_slop/manual_slop.toml").is_file()


def without(text: str, heading: str) -> list[str]:
    """Return the lines of a TOML text without the table at ``heading`` and the blank lines around it."""
    before, _, table = text.partition(heading)
    _, end, behind = table.partition("[discussion]")
    return f"{before}{end}{behind}".splitlines()
