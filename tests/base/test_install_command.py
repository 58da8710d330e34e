"""The command for a missing extra."""

import json
import sys
from pathlib import Path

import pytest

from aggregate.base import install_command

CLONE = {"url": "file:///home/you/my%20clone", "dir_info": {"editable": True}}
FROM_GIT = {"url": "https://host/me/it", "vcs_info": {"vcs": "git", "commit_id": "0"}}
WHEEL = {"url": "file:///tmp/it.whl", "archive_info": {}}


@pytest.mark.parametrize(
    ("origin", "marker", "command"),
    [
        (CLONE, "", f"{sys.executable} -m pip install -e '/home/you/my clone[mcp]'"),
        (CLONE, "pipx_metadata.json", "pipx install --force -e '/home/you/my clone[mcp]'"),
        (
            FROM_GIT,
            "pipx_metadata.json",
            "pipx install --force 'manual-slop[mcp] @ git+https://host/me/it'",
        ),
        (
            FROM_GIT,
            "uv-receipt.toml",
            "uv tool install --force 'manual-slop[mcp] @ git+https://host/me/it'",
        ),
        (WHEEL, "", f"{sys.executable} -m pip install 'manual-slop[mcp] @ file:///tmp/it.whl'"),
        ({}, "", f"{sys.executable} -m pip install 'manual-slop[mcp]'"),
    ],
)
def test_the_command_is_that_of_the_installation(
    origin: dict[str, object], marker: str, command: str, tmp_path: Path
) -> None:
    """A clone, a repository or a file is installed again with the extra, by the tool that installed it."""
    if marker:
        (tmp_path / marker).touch()
    assert install_command("mcp", prefix=str(tmp_path), origin=json.dumps(origin)) == command


def test_this_installation_is_known() -> None:
    """The tests run in an environment of pip or uv, whose record names where the package came from."""
    assert install_command("panel").endswith(
        ("[panel]", "[panel]'")
    ) or "manual-slop[panel]" in install_command("panel")
