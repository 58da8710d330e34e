"""Entries to files, compared with git."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from aggregate import open_project, request_for, resolve_paths
from aggregate.project.files import FolderListing, walk_files
from aggregate.prompt.files import select_files
from tests.project.repository import git, untracked_and_tracked
from tests.projects import project

NAMES = ["a", "b.py", "c.log", "build", "ü n", "#x", "!y", "[z]", ".dot", "q?", "-r", "x y"]
RULES = [
    "*.log", "/a", "a/", "build/", "!b.py", "!c.log", "**/b.py", "a/**", "a/**/c.log", "/*/b.py", "\\#x", "\\!y",
    "[[]z]", "\\[z\\]", "q\\?", "x y", "x\\ y", "c.log ", "c.log\\ ", "*", "!*/", "!/build", ".*", "# a comment", "",
    "ü*", "[a-c]*", "[!a]", "a/b.py", "b.py/", "**", "/", "a?", "build/**/b.py", "!build/b.py",
]  # fmt: skip
TREES = st.dictionaries(
    st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map("/".join),
    st.just("x"),
    min_size=1,
    max_size=14,
)
# Pieces of rules, put together without sense: lines that say nothing must not end a run.
HOSTILE_RULES = st.lists(
    st.sampled_from([*"ab/*?[]!\\ -^#z", "**", "[:alpha:]", "[:none:]", "[!", "[a-"]),
    min_size=1,
    max_size=6,
).map("".join)
IGNORE_FILES = st.dictionaries(
    st.lists(st.sampled_from(NAMES), max_size=2).map(
        lambda parts: "/".join([*parts, ".gitignore"])
    ),
    st.lists(st.sampled_from(RULES) | HOSTILE_RULES, max_size=5).map(
        lambda rules: "\n".join(rules) + "\n"
    ),
    max_size=3,
)
QUICK = settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
THOROUGH = settings(QUICK, max_examples=1500)


def write(folder: Path, tree: dict[str, str], ignores: dict[str, str]) -> None:
    """Write a tree of files; of two at one place the first wins."""
    for name, text in {**tree, **ignores}.items():
        path = folder / name
        if any(parent.is_file() for parent in path.parents) or path.is_dir():
            continue
        project(folder, {name: text})


def agree_with_git(folder: Path, tree: dict[str, str], ignores: dict[str, str]) -> None:
    """Compare our lists with git's, with and without a repository, from the root and below."""
    write(folder, tree, ignores)
    walked = walk_files(str(folder), [])
    git(folder, "init", "-q")
    expected = untracked_and_tracked(folder)
    assert walked == expected
    assert FolderListing().files(str(folder)) == expected
    assert [str(path.relative_to(folder)) for path in resolve_paths(folder, "**")] == expected
    for inner in {name.split("/")[0] for name in expected if "/" in name}:
        assert FolderListing().files(str(folder / inner)) == untracked_and_tracked(folder / inner)


@QUICK
@given(tree=TREES, ignores=IGNORE_FILES)
def test_lists_are_those_of_git(
    tmp_path_factory: pytest.TempPathFactory, tree: dict[str, str], ignores: dict[str, str]
) -> None:
    """The files equal git's, inside and outside a repository (M-2)."""
    agree_with_git(tmp_path_factory.mktemp("tree"), tree, ignores)


@pytest.mark.slow
@THOROUGH
@given(tree=TREES, ignores=IGNORE_FILES)
def test_many_lists_are_those_of_git(
    tmp_path_factory: pytest.TempPathFactory, tree: dict[str, str], ignores: dict[str, str]
) -> None:
    """The same for many more trees (M-2)."""
    agree_with_git(tmp_path_factory.mktemp("tree"), tree, ignores)


@pytest.mark.parametrize(
    "text",
    ["!\n", "\\\n", "[\n", "*.log\\\n", "\ufeffb.py\n", "b.py\r\n", "b.py \t\n", "b.py\x0c\n"],
)
def test_odd_lines_of_an_ignore_file(tmp_path: Path, text: str) -> None:
    """Invalid lines, a byte order mark and CR LF mean the same as to git (M-2)."""
    agree_with_git(tmp_path, {"a.log": "", "b.py": "", "b.py\t": ""}, {".gitignore": text})


@pytest.mark.parametrize("pattern", ["!", "\\", "[", "[[]z]", "a**b", "[a--b]"])
def test_a_pattern_to_exclude_may_mean_nothing(tmp_path: Path, pattern: str) -> None:
    """Invalid patterns to exclude are ignored, as in an ignore file."""
    config = {"files": {"base_dir": str(tmp_path), "paths": ["*.py"], "exclude": [pattern, "b.py"]}}
    project(tmp_path, {"a.py": "", "b.py": "", "deep/b.py": ""})
    selection = select_files(request_for(open_project(config)))
    assert [one.path for one in selection.files] == ["a.py"]


def found(folder: Path, entry: str) -> list[str]:
    return [os.path.relpath(path, folder) for path in resolve_paths(folder, entry)]


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("*", [".env", "a.py", "b.txt", "brackets[1].py"]),
        ("*.py", ["a.py", "brackets[1].py"]),
        ("**", "all"),
        ("**/*", "all"),
        ("**/*.py", ["a.py", "brackets[1].py", "src/.hidden/h.py", "src/a.py", "src/deep/er/c.py", "src/data.py"]),
        ("src/**/*.py", ["src/.hidden/h.py", "src/a.py", "src/data.py", "src/deep/er/c.py"]),
        ("src/**/c.py", ["src/deep/er/c.py"]),
        ("src/**/a.py", ["src/a.py"]),
        ("src/**", ["src/.hidden/h.py", "src/a.py", "src/data.py", "src/deep/er/c.py"]),
        ("src/*", ["src/a.py", "src/data.py"]),
        ("src/*/*", ["src/.hidden/h.py"]),
        ("?.py", ["a.py"]),
        ("src/d*.py", ["src/data.py"]),
        ("[ab].*", ["a.py", "b.txt"]),
        ("[!a].*", ["b.txt"]),
        ("[^a].*", ["b.txt"]),
        ("[a-c].*", ["a.py", "b.txt"]),
        ("[]a].py", ["a.py"]),
        ("{a,b}.{py,txt}", ["a.py", "b.txt"]),
        ("src/{a,data}.py", ["src/a.py", "src/data.py"]),
        ("{src/deep/er,.}/c.py", []),
        ("brackets[1].py", ["brackets[1].py"]),
        ("brackets[[]1].py", ["brackets[1].py"]),
        (".e*", [".env"]),
        ("./src/../*.txt", ["b.txt"]),
        ("src/../*.txt", ["b.txt"]),
        ("src//*.py", ["src/a.py", "src/data.py"]),
        ("*.gone", []),
        ("gone/*.py", []),
        ("*.PY", []),
        ("src", ["src"]),
        ("gone.py", ["gone.py"]),
        ("[z-a].py", []),
        ("[", []),
    ],
)  # fmt: skip
def test_what_a_pattern_means(tmp_path: Path, entry: str, expected: list[str] | str) -> None:
    """Stars stay within a name, two span folders; brackets of a real name are literal (M-2)."""
    files = [
        ".env", "a.py", "b.txt", "brackets[1].py", "src/.hidden/h.py", "src/a.py", "src/data.py",
        "src/deep/er/c.py",
    ]  # fmt: skip
    folder = project(tmp_path, dict.fromkeys(files, ""))
    assert found(folder, entry) == (files if expected == "all" else sorted(expected))


def test_a_pattern_may_be_absolute(tmp_path: Path) -> None:
    """An absolute glob finds the same files, also outside the base folder (M-2)."""
    project(tmp_path, {"in/a.py": "", "out/b.py": "", "out/deep/c.py": ""})
    inside, outside = tmp_path / "in", tmp_path / "out"
    assert resolve_paths(inside, f"{outside}/*.py") == [outside / "b.py"]
    assert resolve_paths(inside, "../out/**/*.py") == [outside / "b.py", outside / "deep/c.py"]
    assert resolve_paths(inside, f"{inside}/*.py") == [inside / "a.py"]


@pytest.mark.parametrize(
    "name", ["history.toml", "x_history.toml", "HISTORY.toml", "a/History.TOML", "a/b_History.toml"]
)
def test_the_discussion_is_never_a_file(tmp_path: Path, name: str) -> None:
    """Discussions are excluded from all entries, in any case (M-2)."""
    folder = project(tmp_path, {name: "", "a/history.tom": "", "a/prehistory.toml": ""})
    assert resolve_paths(folder, name) == []
    assert resolve_paths(folder, str(folder / name)) == []
    assert found(folder, "**") == ["a/history.tom", "a/prehistory.toml"]


def test_links_stay_inside(tmp_path: Path) -> None:
    """A glob follows links to files below its folder; other links are listed as skipped."""
    folder = project(tmp_path, {"in/a.py": "", "secret/key.py": ""}) / "in"
    (folder / "inside.py").symlink_to("a.py")
    (folder / "outside.py").symlink_to("../secret/key.py")
    (folder / "dangling.py").symlink_to("gone.py")
    (folder / "round.py").symlink_to("round.py")
    (folder / "folder").symlink_to("../secret")
    resolved = FolderListing().resolve(folder, "**/*.py")
    assert resolved.names == ("a.py", "inside.py")
    broken = "a broken link: its target does not exist, or it is the link itself"
    assert resolved.skipped == (
        ("dangling.py", broken),
        ("outside.py", "a link out of the folder; name it without a wildcard to include it"),
        ("round.py", broken),
    )
    git(folder, "init", "-q")
    assert FolderListing().resolve(folder, "**/*.py") == resolved
    assert found(folder, "outside.py") == ["outside.py"]


def test_a_submodule_is_told(tmp_path: Path) -> None:
    """A glob skips a nested repository with a warning; its own path includes it (M-2)."""
    folder = project(tmp_path, {"a.py": "", "part/b.py": "", "in/untracked/c.py": ""})
    for place in (folder / "in/untracked", folder / "part", folder):
        git(place, "init", "-q")
        git(place, "add", *(["a.py", "part"] if place == folder else ["-A"]))
        git(place, "-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-qm", "first")
    resolved = FolderListing().resolve(folder, "**/*")
    reason = (
        "another repository, such as a submodule; begin a path with its name to include its files"
    )
    assert resolved.names == ("a.py",)
    assert resolved.skipped == (("in/untracked", reason), ("part", reason))
    assert found(folder, "part/**/*") == ["part/b.py"]


def test_names_come_back_as_they_are(tmp_path: Path) -> None:
    """Names with any byte are listed unchanged (M-2, M-X18)."""
    names = [
        "a\nb.py", 'qu"ote.py', "tab\t.py", "ü.py", "sp ace.py", "-dash.py", "\\back.py",
        "b\udcff.py",
    ]  # fmt: skip
    folder = project(tmp_path, dict.fromkeys(names, ""))
    assert sorted(found(folder, "*.py")) == sorted(names)
    for arguments in (("init", "-q"), ("add", "-A")):
        git(folder, *arguments)
        assert sorted(found(folder, "*.py")) == sorted(names)


def test_a_repository_cannot_start_programs(tmp_path: Path) -> None:
    """Listing a foreign repository runs no program from its configuration."""
    folder = project(tmp_path / "r", {"a.py": ""})
    program = project(tmp_path, {"evil.sh": f"#!/bin/sh\necho ran > {tmp_path}/ran\n"}) / "evil.sh"
    program.chmod(0o755)
    git(folder, "init", "-q")
    for setting in ("core.fsmonitor", "core.pager", "core.sshCommand", "core.editor"):
        git(folder, "config", setting, str(program))
    assert found(folder, "*") == ["a.py"]
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("files", "tracked", "excludes", "base", "entry", "expected"),
    [
        ({".gitignore": "*.log\n", "a.log": ""}, "", "", "", "a.log", ["a.log"]),
        ({".gitignore": "out/\n", "out/a.py": ""}, "", "", "out", "*.py", ["a.py"]),
        ({".gitignore": "/\n*.log\n", "s/a.log": "", "s/b": ""}, "", "", "s", "*", ["b"]),
        ({"a.log": "", "b.log": "", "c": ""}, "a.log", "*.log\n", "", "**", ["a.log", "c"]),
        ({"a.txt": "", "b.txt": ""}, "", "*.txt\n!b.txt\n", "", "*", ["b.txt"]),
        ({".gitignore": "/s/x\n", "s/x": "", "s/b": ""}, "", "", "s", "*", ["b"]),
        ({"a.py": "", "inner/.git/HEAD": "", "inner/b.py": ""}, "", "", "", "*.py", ["a.py"]),
    ],
    ids=[
        "a name means the file", "an ignored folder that is named", "a lone slash says nothing",
        "what git tracks counts", "the repository's own excludes", "rules above the base folder",
        "a nested repository",
    ],
)  # fmt: skip
def test_in_a_repository_git_decides(
    tmp_path: Path,
    files: dict[str, str],
    tracked: str,
    excludes: str,
    base: str,
    entry: str,
    expected: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Git's rules, index and excludes count, also within a hook (M-2)."""
    folder = project(tmp_path / "p", files)
    git(folder, "init", "-q")
    if tracked:
        git(folder, "add", tracked)
    (folder / ".git/info/exclude").write_text(excludes, encoding="utf-8")
    git(project(tmp_path / "other", {"x.py": ""}), "init", "-q")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other/.git"))
    assert found(folder / base, entry) == expected


def test_without_git_the_rules_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without git, ignore files still count (M-2)."""
    folder = project(
        tmp_path, {".gitignore": "*.log\n", "a.log": "", "c/.gitignore": "!a.log", "c/a.log": ""}
    )
    git(folder, "init", "-q")
    expected = untracked_and_tracked(folder)
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    assert found(folder, "**") == expected
