"""Project tools: what they show, and what no path can make them show."""

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from aggregate import ToolError, ToolRegistry, standard_tools
from tests.projects import project

HIDDEN = "HIDDEN-7f3a"
CODE = '''
"""Adds."""
def add(a: int, b: int) -> int:
    """Add."""
    return a + b
'''
FILES = {
    "in/src/add.py": CODE,
    "in/src/big.txt": "line\n" * 20_000,
    "in/notes.md": "# Notes\nadd things\n",
    "in/blob.bin": "\0\1\2",
    "in/.gitignore": "ignored.txt\n",
    "in/ignored.txt": HIDDEN,
    "in/.env": HIDDEN,
    "in/deploy/prod.PEM": HIDDEN,
    "in/.env.example": "KEY=\n",
    "outside.txt": HIDDEN,
}
VIEWS = ("get_skeleton", "get_outline", "get_definition", "get_signature")
BY_PATH = ("read_file", "list_directory", "get_file_summary", *VIEWS)


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> ToolRegistry:
    """Return the tools over a project that has secrets in it, beside it and behind links."""
    folder = project(tmp_path_factory.mktemp("project"), FILES)
    root = folder / "in"
    (root / "out").symlink_to(folder)
    (root / "link.txt").symlink_to(folder / "outside.txt")
    (root / "env.txt").symlink_to(root / ".env")
    (root / "good.md").symlink_to(root / "notes.md")
    (root / "loop").symlink_to(root / "loop")
    with (root / "huge.log").open("wb") as file:
        file.truncate(6_000_000)
    return standard_tools(state_dir=folder / "state", roots=[root])


ADD = {"path": "src/add.py", "symbol": "add"}
SHOWN = [
    ("read_file", {"path": "notes.md"}, "# Notes\nadd things\n"),
    ("read_file", {"path": "./src//add.py", "start_line": 3, "end_line": 3}, "def add(a: int, b: int) -> int:\n"),
    ("read_file", {"path": "good.md"}, "# Notes\nadd things\n"),
    ("get_definition", ADD, 'def add(a: int, b: int) -> int:\n    """Add."""\n    return a + b'),
    ("get_signature", ADD, "def add(a: int, b: int) -> int:"),
    ("get_skeleton", {"path": "src/add.py"}, '\n"""Adds."""\ndef add(a: int, b: int) -> int:\n    """Add."""\n    ...\n'),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "content"), SHOWN)
def test_what_is_shown(
    tools: ToolRegistry, name: str, arguments: dict[str, object], content: str
) -> None:
    """Files, lines and symbols come whole."""
    assert tools.run(name, arguments)["content"] == content


def test_outlines_and_summaries(tools: ToolRegistry) -> None:
    """They are those of the pipeline's views."""
    outline, summary = (
        tools.run(name, {"path": "src/add.py"})["content"]
        for name in ("get_outline", "get_file_summary")
    )
    assert "def add(a: int, b: int) -> int" in outline
    assert summary.startswith("python, 5 lines, 1 function")


def test_folders_and_searches(tools: ToolRegistry) -> None:
    """Listing and searching show what may be read, and nothing else."""
    root = [".env.example", ".gitignore", "blob.bin", "good.md", "huge.log", "notes.md", "src/"]
    assert tools.run("list_directory", {})["entries"] == root
    assert tools.run("list_directory", {"path": "src"})["entries"] == ["add.py", "big.txt"]
    found = tools.run("search_files", {"text": "ADD", "files_matching": "**/*.{py,md}"})
    assert found["matches"][:2] == ["good.md:2: add things", "notes.md:2: add things"]
    assert tools.run("search_files", {"text": HIDDEN})["matches"] == []


def test_a_search_says_where_it_found_nothing_to_search(tools: ToolRegistry) -> None:
    """A file is searched by itself; a folder that does not exist is a failure and not a search without matches."""
    found = tools.run("search_files", {"text": "add", "folder": "./src/add.py"})
    assert {one.partition(":")[0] for one in found["matches"]} == {"src/add.py"}
    for folder in ("sources", "ignored.txt", ".env", "link.txt"):
        error = tools.run("search_files", {"text": "add", "folder": folder})["error"]
        assert error == f'"{folder}" is not a folder of the project with readable files'
    error = tools.run("list_directory", {"path": "notes.md"})["error"]
    assert error == '"notes.md" is a file: read_file shows it'


def test_long_outputs_are_cut_visibly(tools: ToolRegistry) -> None:
    """A note says how much is shown, and how to get the rest."""
    content = tools.run("read_file", {"path": "src/big.txt"})["content"]
    note = "[cut: 60,000 of 100,000 characters are shown; take start_line, end_line]"
    assert content.endswith(note)
    found = tools.run("search_files", {"text": "line", "files_matching": "src/big.txt"})
    assert (found["count"], "more matches" in found["note"]) == (200, True)


@pytest.mark.parametrize("glob", ["{a,b}" * 20, "x" * 5000])
def test_globs_of_models_are_bounded(tools: ToolRegistry, glob: str) -> None:
    """A glob that is too large is refused; many stars are none, since they are matched in linear time."""
    error = tools.run("search_files", {"text": "a", "files_matching": glob})["error"]
    assert "files_matching: the pattern has " in error
    assert tools.run("search_files", {"text": "a", "files_matching": "*a" * 50})["matches"] == []


REFUSED = [
    "../outside.txt", "src/../../outside.txt", "/etc/passwd", "out/outside.txt", "link.txt", "env.txt", "loop", "ignored.txt",
    ".env", "./.env", "deploy/prod.PEM", ".git/config", "no\0tes.md", "", " ", "x" * 5000, "blob.bin", "huge.log", "~/.ssh/id_rsa",
    "\ud800", "src", "..", "file:///etc/passwd", "notes.md/..", "C:\\Windows", "/proc/self/environ", "/dev/stdin",
]  # fmt: skip


@pytest.mark.parametrize("path", REFUSED)
@pytest.mark.parametrize("name", [one for one in BY_PATH if one != "list_directory"])
def test_what_is_refused(tools: ToolRegistry, name: str, path: str) -> None:
    """Nothing outside, ignored, secret, binary or huge is read, by whatever tool; the message holds none of it."""
    result = tools.run(name, {"path": path, "symbol": "add"})
    assert result["success"] is False
    assert HIDDEN not in str(result)


SEGMENTS = st.sampled_from(
    ["..", ".", "/", "//", "in", "out", "src", "link.txt", "env.txt", ".env", ".ENV", "ignored.txt", "outside.txt", "\0", "~",
     "\\", "%2e%2e", "loop", "deploy", "prod.PEM", "etc", "passwd", "ａ", "*", "[", "notes.md", " ", "\n"]
)  # fmt: skip


@given(
    parts=st.lists(SEGMENTS, max_size=6),
    glue=st.sampled_from(["/", ""]),
    name=st.sampled_from((*BY_PATH, "search_files")),
)
def test_no_path_escapes(tools: ToolRegistry, parts: list[str], glue: str, name: str) -> None:
    """Whatever a path is made of, no secret comes out, and nothing is raised."""
    path = glue.join(parts)
    given_ = {"path": path, "folder": path, "files_matching": "**", "text": HIDDEN[:6]}
    result = tools.run(name, {**given_, "symbol": "add"})
    assert isinstance(result, dict)
    assert HIDDEN not in str(result)


def test_roots_must_exist(tmp_path: Path) -> None:
    """A root that is no folder is a mistake of the host."""
    with pytest.raises(ToolError, match="no such folder"):
        standard_tools(roots=[tmp_path / "none"])


def test_absolute_paths_within_a_root(tools: ToolRegistry, tmp_path: Path) -> None:
    """They are taken as what they are, and what is shown is relative to the root."""
    root = project(tmp_path, {"a.py": "x = 1\n"})
    made = standard_tools(roots=[root])
    assert made.run("read_file", {"path": str(root / "a.py")})["path"] == "a.py"
    assert made.run("list_directory", {"path": str(root)})["entries"] == ["a.py"]
