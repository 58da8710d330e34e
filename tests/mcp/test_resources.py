"""What hosts list and attach."""

from pathlib import Path

import pytest
from mcp.shared.exceptions import MCPError

from aggregate import run
from tests.mcp.serving import asking
from tests.projects import project

CONFIG = """\
[project]
name = "demo"

[files]
paths = ["*.py"]

[context_presets.small]
description = "only a"
files = ["a.py"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a project with a preset."""
    return project(
        tmp_path,
        {
            "manual_slop.toml": CONFIG,
            "a.py": "def a():\n    return 1\n",
            "b.py": "def b():\n    return 2\n",
        },
    )


def test_written_prompts_are_listed_and_read(folder: Path) -> None:
    """The newest prompt stands first, and its text is the file's."""
    markdown, _, _ = run(folder / "manual_slop.toml")
    run(folder / "manual_slop.toml")
    with asking(folder) as ask:
        listed = ask.do("list_resources").resources
        assert [str(entry.uri) for entry in listed] == [
            "aggregate://prompt/002",
            "aggregate://prompt/001",
        ]
        read = ask.do("read_resource", "aggregate://prompt/001")
        assert read.contents[0].text == markdown


def test_files_are_read_by_their_address(folder: Path) -> None:
    """A view is a parameter; nothing is held back as shown before."""
    with asking(folder) as ask:
        for _ in range(2):
            read = ask.do("read_resource", "aggregate://file/a.py?view=outline")
            assert "def a()" in read.contents[0].text


def test_addresses_lead_nowhere_else(folder: Path) -> None:
    """What is not a file of the project or a prompt is an error."""
    with asking(folder) as ask:
        for uri in (
            "aggregate://file/../outside.py",
            "aggregate://file/%2e%2e/outside.py",
            "aggregate://file//etc/passwd",
            "aggregate://prompt/../../x",
            "aggregate://prompt/99",
            "aggregate://other/a.py",
            "file:///etc/passwd",
            "aggregate://file/a.py?view=secret",
        ):
            with pytest.raises(MCPError) as caught:
                ask.do("read_resource", uri)
            assert "root:" not in str(caught.value)


def test_presets_are_prompts(folder: Path) -> None:
    """Each preset is offered by its name and gives what it composes."""
    with asking(folder) as ask:
        (prompt,) = ask.do("list_prompts").prompts
        assert (prompt.name, prompt.description) == ("small", "only a")
        got = ask.do("get_prompt", "small", {"budget": "500"})
        text = got.messages[0].content.text
        assert "def a()" in text
        assert "b.py" not in text
        for name, arguments, said in (
            ("small", {"budget": "much"}, "budget"),
            ("none", {}, "none"),
        ):
            with pytest.raises(MCPError, match=said):
                ask.do("get_prompt", name, arguments)
