"""``mcp install``: adding the server to a host's configuration, and removing it."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from aggregate import ConfigError
from aggregate.mcp import HOSTS, with_server
from tests.cli.command_line import start
from tests.cli.terminal import on_terminal
from tests.projects import project

OTHERS = """\
{
    "mcpServers": {
        "other": {
            "command": "other",
            "args": []
        }
    },
    "mine": "é"
}
"""


@pytest.mark.parametrize("host", [host for host in HOSTS if host != "codex"])
@pytest.mark.parametrize("text", ["", "{}\n", OTHERS, OTHERS.replace("    ", "\t")])
def test_what_is_added_can_be_taken_back(host: str, text: str) -> None:
    """Adding is idempotent, keeps order and indentation, and can be undone completely."""
    added = with_server(text, HOSTS[host], ["aggregate"])
    data = json.loads(added)
    assert data[HOSTS[host].key]["aggregate"]["command"] == "aggregate"
    assert with_server(added, HOSTS[host], ["aggregate"]) == added
    moved = with_server(added, HOSTS[host], ["/elsewhere/aggregate"])
    assert list(json.loads(moved)[HOSTS[host].key]) == list(data[HOSTS[host].key])
    taken = with_server(added, HOSTS[host], ())
    assert taken == (text if text != "{}\n" else "")
    assert with_server(text, HOSTS[host], ()) == text


TOML = '# mine\nmodel = "big"\n\n[mcp_servers.other]\ncommand = "other"  # stays\n'


@pytest.mark.parametrize("text", ["", "# mine\n", TOML])
def test_toml_keeps_its_comments(text: str) -> None:
    """Codex's file is TOML: all else stays byte for byte, twice is once, and taken back nothing is left."""
    added = with_server(text, HOSTS["codex"], ["aggregate"])
    assert added.startswith(text)
    servers = tomllib.loads(added)["mcp_servers"]
    assert servers["aggregate"] == {"command": "aggregate", "args": ["mcp"]}
    assert with_server(added, HOSTS["codex"], ["aggregate"]) == added
    moved = with_server(added, HOSTS["codex"], ["/elsewhere/aggregate"])
    assert tomllib.loads(moved)["mcp_servers"]["aggregate"]["command"] == "/elsewhere/aggregate"
    assert tomllib.loads(with_server(added, HOSTS["codex"], ())) == tomllib.loads(text)
    assert with_server(text, HOSTS["codex"], ()) == text
    with pytest.raises(ConfigError, match="cannot be edited"):
        with_server("mcp_servers = 1\n", HOSTS["codex"], ["aggregate"])


@pytest.mark.parametrize(
    ("host", "file"),
    [
        ("claude-code", ".mcp.json"),
        ("codex", ".codex/config.toml"),
        ("zed", ".zed/settings.json"),
        ("windsurf", "home/.codeium/windsurf/mcp_config.json"),
        ("claude-desktop", "home/.config/Claude/claude_desktop_config.json"),
    ],
)
def test_each_host_has_its_file(host: str, file: str, tmp_path: Path) -> None:
    """``--dry-run`` shows the change and writes nothing; a host of all projects is given the project's path."""
    folder = project(tmp_path, {"manual_slop.toml": ""})
    home = {"HOME": str(folder / "home")}
    shown = start(folder, "mcp", "install", host, "--dry-run", **home)
    assert (shown.code, shown.err) == (0, f"{folder / file}\n")
    assert "aggregate" in shown.out
    assert not (folder / file).exists()
    assert start(folder, "mcp", "install", host, "--yes", **home).code == 0
    text = (folder / file).read_text(encoding="utf-8")
    assert (str(folder / "manual_slop.toml") in text) == file.startswith("home/")
    assert start(folder, "mcp", "install", host, "--remove", "--yes", **home).code == 0
    assert not (folder / file).exists()


def test_a_host_of_all_projects_needs_a_configuration(tmp_path: Path) -> None:
    """It starts the server in any folder, so a folder without a configuration could not be named."""
    ended = start(project(tmp_path, {"a.py": ""}), "mcp", "install", "windsurf", "--yes")
    assert ended.code == 2
    assert "write a configuration first, with aggregate init" in ended.err


@pytest.mark.parametrize("text", ["// mine\n{}", "[]", '{"mcpServers": 1}', "{" * 9, "["])
def test_what_cannot_be_kept_is_refused(text: str) -> None:
    """Files with comments or another structure stay, with advice for an edit by hand."""
    with pytest.raises(ConfigError, match="add to mcpServers by hand"):
        with_server(text, HOSTS["cursor"], ["aggregate"])


def test_it_is_written_only_by_a_word_of_the_user(tmp_path: Path) -> None:
    """The change is shown, and needs ``--yes`` without a terminal."""
    file = tmp_path / ".cursor/mcp.json"
    refused = start(tmp_path, "mcp", "install", "cursor")
    assert refused.code == 2
    assert '+    "aggregate": {' in refused.out
    assert refused.err.endswith("Error: cannot ask without a terminal: add --yes\n")
    assert not file.exists()
    assert start(tmp_path, "mcp", "install", "cursor", "--yes").code == 0
    written = json.loads(file.read_text())["mcpServers"]["aggregate"]
    *words, name = written["args"]
    assert name == "mcp"
    assert subprocess.run([written["command"], *words, "--help"], check=False).returncode == 0
    assert "needs no change" in start(tmp_path, "mcp", "install", "cursor").err
    assert start(tmp_path, "mcp", "install", "cursor", "--remove", "--yes").code == 0
    assert not file.parent.exists()


def test_a_link_that_leads_out_is_not_written_through(tmp_path: Path) -> None:
    """A foreign project cannot cause changes to other files of the user."""
    own = tmp_path / "own.json"
    own.write_text("{}")
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / ".mcp.json").symlink_to(own)
    assert start(folder, "mcp", "install", "claude-code", "--yes").code != 0
    assert own.read_text() == "{}"


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host could not start the server, and shows no reason; the change itself is made."""
    monkeypatch.setitem(sys.modules, "mcp", None)
    ended = start(tmp_path, "mcp", "install", "zed", "--yes")
    assert ended.code == 0
    assert ended.err.startswith("warning: aggregate mcp needs another package: ")
    assert (
        "needs another package"
        not in start(tmp_path, "mcp", "install", "zed", "--remove", "--yes").err
    )


def test_a_program_of_an_environment_is_started_by_its_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The host does not have the PATH of an activated environment; a program elsewhere on PATH goes by its name."""
    python = Path(sys.executable)
    program = tmp_path / "bin/aggregate"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    folder = project(tmp_path / "p", {"a.py": ""})
    for path, command in ((python.parent, str(python)), (program.parent, "aggregate")):
        monkeypatch.setenv("PATH", str(path))
        shown = start(folder, "mcp", "install", "zed", "--dry-run")
        assert f'"command": "{command}"' in shown.out


def test_a_person_is_asked(tmp_path: Path) -> None:
    """The end of input is not a yes."""
    code, said = on_terminal(tmp_path, "mcp", "install", "vscode")
    assert code != 0
    assert '"type": "stdio"' in said
    assert not (tmp_path / ".vscode").exists()
