"""``mcp install``: adding the server to a host's configuration, and removing it."""

import json
import subprocess
from pathlib import Path

import pytest

from aggregate import ConfigError
from aggregate.mcp import HOSTS, with_server
from tests.cli.command_line import start
from tests.cli.terminal import on_terminal

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


@pytest.mark.parametrize("host", HOSTS)
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
    assert refused.err.endswith("Error: nobody is here to be asked: add --yes\n")
    assert not file.exists()
    assert start(tmp_path, "mcp", "install", "cursor", "--yes").code == 0
    written = json.loads(file.read_text())["mcpServers"]["aggregate"]
    *words, name = written["args"]
    assert name == "mcp"
    assert subprocess.run([written["command"], *words, "--help"], check=False).returncode == 0
    assert "nothing is changed" in start(tmp_path, "mcp", "install", "cursor").err
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


def test_a_person_is_asked(tmp_path: Path) -> None:
    """The end of input is not a yes."""
    code, said = on_terminal(tmp_path, "mcp", "install", "vscode")
    assert code != 0
    assert '"type": "stdio"' in said
    assert not (tmp_path / ".vscode").exists()
