"""Every mistake of a user is one line on standard error and exit code 2."""

from pathlib import Path

import pytest

from tests.cli.command_line import aggregate, mistake
from tests.projects import project


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('[files]\npath = ["a"]\n', 'm.toml:2: unknown key "files.path": did you mean "paths"?'),
        ("[files]\nbase = 1\npaths = 2\n", 'm.toml:2: unknown key "files.base": did you mean "base_dir"? (and 1 more)'),
        ("a = 1\na = 2\n", "m.toml: is not valid TOML: Cannot overwrite a value (at line 2, column 6)"),
        ("[project]\nactive_preset = 'gone'\n", 'no such context preset: "gone": none is defined'),
        (
            "[output]\nnamespace = 'a/b'\n",
            'm.toml:2: "output.namespace": must be a plain file name without slashes and control characters, '
            "not 'a/b'",
        ),
    ],
)  # fmt: skip
def test_a_wrong_configuration_names_file_line_and_key(
    tmp_path: Path, text: str, line: str
) -> None:
    """Unknown keys, wrong types, broken TOML and missing presets are one line that says where and what to do."""
    path = tmp_path / "m.toml"
    path.write_text(text, encoding="utf-8")
    assert mistake(aggregate("run", "-q", "-c", str(path))).replace(f"{tmp_path}/", "") == line


@pytest.mark.parametrize("depth", [2_000, 100_000])
def test_a_bottomless_configuration_is_refused(tmp_path: Path, depth: int) -> None:
    """Nesting beyond any sense is a mistake of the file, not a crash."""
    path = tmp_path / "m.toml"
    path.write_text(f"a = {'[' * depth}{']' * depth}\n", encoding="utf-8")
    assert mistake(aggregate("run", "-q", "-c", str(path))).startswith(f"{path}")


@pytest.mark.parametrize("command", ["show", "apply", "delete"])
def test_a_preset_that_does_not_exist_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """Showing, applying and deleting an unknown preset name it, and those that there are (M-43)."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    config = project(tmp_path, {"m.toml": '[context_presets.one]\nfiles = ["a"]\n'}) / "m.toml"
    said = mistake(aggregate("preset", command, "gone", "-c", str(config)))
    assert said == 'no such context preset: "gone": use one of one'


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["view", "a.py", "--lines", "x"], "'x' is not a range of lines: write A-B, such as 10-20"),
        (["view", "a.py", "--mode", "upside-down"], "'upside-down' is not one of"),
        (["run", "--stdout", "--json"], "--stdout and --json exclude each other: use one of them"),
        (["run", "--tier", "4"], "4 is not in the range 1<=x<=3"),
        (["prune"], "Missing option '--keep'"),
        (["prune", "--keep", "-1"], "-1 is not in the range x>=0"),
        (["preset", "save"], "Missing argument 'NAME'"),
        (["runn"], "No such command 'runn'"),
        (["run", "--colour"], "No such option"),
    ],
)
def test_a_wrong_command_line_is_explained_by_its_usage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    """Options and arguments that do not exist get the usage and exit code 2."""
    monkeypatch.chdir(project(tmp_path, {"a.py": "x = 1\n"}))
    ended = aggregate(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("Usage: aggregate")
    assert said in ended.err
