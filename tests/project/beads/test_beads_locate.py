"""Locating the beads of a project."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from aggregate.project.beads import find_beads_files


def find_beads_dir(base_dir: Path, *, environ: Mapping[str, str]) -> Path | None:
    """Return the directory of beads found from ``base_dir``."""
    files = find_beads_files(base_dir, environ=environ)
    return files.directory if files else None


def make(root: Path, *names: str) -> Path:
    """Create files and folders (names ending with a slash); return ``root``."""
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(exist_ok=True) if name.endswith("/") else path.touch()
    return root


@pytest.mark.parametrize(
    ("names", "for_bd"),
    [
        (["metadata.json"], True),
        (["config.yaml"], True),
        (["dolt/"], True),
        (["embeddeddolt/"], True),
        (["beads.db"], True),
        (["issues.jsonl"], False),
        (["beads.backup.db"], None),
        (["vc.db"], None),
        (["registry.json"], None),
        (["deletions.jsonl", "interactions.jsonl", "routes.jsonl", "molecules.jsonl"], None),
        (["beads.base.jsonl", "beads.left.jsonl", "beads.right.jsonl", "issues.jsonl.new", "backup/"], None),
        ([], None),
    ],
)  # fmt: skip
def test_what_makes_a_project(tmp_path: Path, names: list[str], for_bd: bool | None) -> None:
    """Files accepted by bd make a folder a project; for us a JSONL file is enough (M-52)."""
    make(tmp_path, ".beads/", *(f".beads/{name}" for name in names))
    files = find_beads_files(tmp_path, environ={})
    assert (files.for_bd if files else None) is for_bd


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (["beads.jsonl", "issues.jsonl", "a.jsonl"], "issues.jsonl"),
        (["beads.jsonl", "a.jsonl"], "beads.jsonl"),
        (["deletions.jsonl", "bd.jsonl"], "bd.jsonl"),
        (["z.jsonl", "a.jsonl"], "a.jsonl"),
        (["issues.jsonl/", "bd.jsonl"], "bd.jsonl"),
    ],
)
def test_which_jsonl(tmp_path: Path, names: list[str], chosen: str) -> None:
    """The export is issues.jsonl, else beads.jsonl, else the first other one with issues (M-52)."""
    make(tmp_path, *(f".beads/{name}" for name in names))
    files = find_beads_files(tmp_path, environ={})
    assert files is not None
    assert files.jsonl == tmp_path / ".beads" / chosen


@pytest.mark.parametrize(
    ("names", "base", "variable", "found"),
    [
        # The search climbs to the root of the checkout and not beyond it; the nearest project is taken.
        ([".beads/issues.jsonl", "repo/.git/", "repo/src/deep/"], "repo/src/deep", "", None),
        (["repo/.beads/issues.jsonl", "repo/.git/", "repo/src/deep/"], "repo/src/deep", "", "repo"),
        ([".git/", ".beads/issues.jsonl", "part/.beads/issues.jsonl", "part/src/"], "part/src", "", "part"),
        # Without a checkout nothing above the base directory is trusted.
        ([".beads/issues.jsonl", "sub/"], "sub", "", None),
        ([".beads/issues.jsonl", "sub/"], ".", "", "."),
        # BEADS_DIR names the folder; one that is no project is passed over.
        (["a/.beads/issues.jsonl", "b/.beads/issues.jsonl"], "a", "b/.beads", "b"),
        (["a/.beads/issues.jsonl", "empty/"], "a", "empty", "a"),
    ],
)  # fmt: skip
def test_where_a_project_is_found(
    tmp_path: Path, names: list[str], base: str, variable: str, found: str | None
) -> None:
    """The variable wins, then folders up to the checkout's root, else the folder itself."""
    make(tmp_path, *names)
    environ = {"BEADS_DIR": str(tmp_path / variable)} if variable else {}
    expected = None if found is None else tmp_path / found / ".beads"
    assert find_beads_dir(tmp_path / base, environ=environ) == expected


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("# shared\n\n  ../shared/.beads  \nignored\n", "shared/.beads"),
        ("../shared/../shared/.beads", "shared/.beads"),
        ("../nowhere", "a/.beads"),
        ("# only a comment\n", "a/.beads"),
        ("bad\0name", "a/.beads"),
    ],
)
def test_redirect(tmp_path: Path, content: str, target: str) -> None:
    """A redirect is relative to the project's root; an unusable one is ignored."""
    make(tmp_path, "a/.beads/issues.jsonl", "shared/.beads/issues.jsonl")
    (tmp_path / "a/.beads/redirect").write_text(content, encoding="utf-8")
    found = find_beads_dir(tmp_path / "a", environ={})
    assert found is not None
    assert found.resolve() == tmp_path / target


def test_redirect_is_followed_once(tmp_path: Path) -> None:
    """A second redirect is ignored, so circles are impossible."""
    make(tmp_path, "a/.beads/", "b/.beads/issues.jsonl", "c/.beads/issues.jsonl")
    (tmp_path / "a/.beads/redirect").write_text(str(tmp_path / "b/.beads"), encoding="utf-8")
    (tmp_path / "b/.beads/redirect").write_text(str(tmp_path / "c/.beads"), encoding="utf-8")
    assert find_beads_dir(tmp_path / "a", environ={}) == tmp_path / "b/.beads"


def worktree(tmp_path: Path, pointer: str) -> Path:
    """Return a worktree whose main checkout is ``tmp_path / "main"``."""
    make(tmp_path, "main/.git/worktrees/side/commondir", "side/.git")
    (tmp_path / "main/.git/worktrees/side/commondir").write_text("../..\n", encoding="utf-8")
    (tmp_path / "main/.git/worktrees/side/gitdir").write_text(
        f"{tmp_path}/side/.git\n", encoding="utf-8"
    )
    (tmp_path / "side/.git").write_text(f"gitdir: {pointer}\n", encoding="utf-8")
    return tmp_path / "side"


def test_worktree_falls_back_to_the_main_checkout(tmp_path: Path) -> None:
    """A worktree without beads of its own uses those of the main checkout."""
    side = worktree(tmp_path, str(tmp_path / "main/.git/worktrees/side"))
    make(tmp_path, "main/.beads/issues.jsonl")
    assert find_beads_dir(side, environ={}) == tmp_path / "main/.beads"
    make(side, ".beads/metadata.json")
    assert find_beads_dir(side, environ={}) == tmp_path / "main/.beads"
    make(side, ".beads/issues.jsonl")
    assert find_beads_dir(side, environ={}) == side / ".beads"


def test_worktree_with_a_relative_or_broken_pointer(tmp_path: Path) -> None:
    """A relative pointer to the git directory works; a broken one disables the fallback."""
    side = worktree(tmp_path, "../main/.git/worktrees/side")
    make(tmp_path, "main/.beads/issues.jsonl")
    assert find_beads_dir(side, environ={}) == tmp_path / "main/.beads"
    (side / ".git").write_text("gitdir: ../gone\n", encoding="utf-8")
    assert find_beads_dir(side, environ={}) is None
