"""Programs come from PATH, never from the project."""

import os
from pathlib import Path

import pytest

from aggregate.base.disk import find_program, search_path
from tests.hostile.planted import plant


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a checkout that is the current folder, with programs in it; another one lies in ``../bin``."""
    for folder in ("tree", "tree/tools", "bin"):
        plant(tmp_path / folder, "bd")
    (tmp_path / "tree/.git").mkdir()
    (tmp_path / "tree/lib").mkdir()
    monkeypatch.chdir(tmp_path / "tree")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "tree"


@pytest.mark.parametrize(
    "entry", ["", ".", "tools", "./tools", "{tree}", "{tree}/tools", "../tree/tools", "{link}"]
)
def test_programs_of_the_tree_are_missing(tree: Path, tmp_path: Path, entry: str) -> None:
    """Empty and relative entries of PATH, and folders in the tree, also by a link, have no programs."""
    (tmp_path / "link").symlink_to(tree / "tools")
    path = entry.format(tree=tree, link=tmp_path / "link")
    assert find_program("bd", path=path) is None
    assert find_program("bd", path=f"{path}{os.pathsep}{tmp_path / 'bin'}") == str(
        tmp_path / "bin" / "bd"
    )
    assert search_path(path=f"{path}{os.pathsep}/usr/bin") == "/usr/bin"


def test_a_link_into_the_tree_is_a_program_of_the_tree(tree: Path, tmp_path: Path) -> None:
    """A program elsewhere that is a link to one of the tree counts as missing."""
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "bd").symlink_to(tree / "bd")
    assert find_program("bd", path=str(tmp_path / "links")) is None


def test_the_whole_checkout_counts(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asked about a folder of a checkout, programs beside it in the same checkout count as missing too."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert find_program("bd", path=str(tree / "tools")) == str(tree / "tools" / "bd")
    assert find_program("bd", outside=(tree / "lib",), path=str(tree / "tools")) is None


def test_a_home_in_a_checkout_is_the_users_own(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the user's home itself lies in a checkout, of dotfiles, its programs are the user's."""
    monkeypatch.setenv("HOME", str(tree))
    assert find_program("bd", path=str(tree / "tools")) == str(tree / "tools" / "bd")


def test_a_program_by_its_path_is_the_users_choice(tree: Path) -> None:
    """An absolute path is taken as it is, where it is a program."""
    assert find_program(str(tree / "bd")) == str(tree / "bd")
    assert find_program(str(tree / "lib")) is None
