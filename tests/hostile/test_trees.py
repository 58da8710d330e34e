"""Trees that nobody makes by hand: thousands of levels of folders, thousands of links one behind the other."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from aggregate import run
from aggregate.base.disk import private_folder
from aggregate.project.files import FolderListing
from aggregate.prompt import find_screenshots

_LEVELS = 1500


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Path]:
    """A tree of as many folders, one in the other, as a path can name, with a file in the last one."""
    root = tmp_path / "tree"
    private_folder(Path(f"{root}/{'d/' * 900}"))
    upper = os.open(f"{root}/{'d/' * 900}", os.O_RDONLY)
    lower = upper
    for _ in range(_LEVELS - 900):
        os.mkdir("d", dir_fd=lower)
        lower, before = os.open("d", os.O_RDONLY, dir_fd=lower), lower
        os.close(before)
    os.close(os.open("x.py", os.O_WRONLY | os.O_CREAT, dir_fd=lower))
    os.close(lower)
    yield root
    # Half of it first: what removes trees calls itself for each level.
    for depth in (800, 0):
        shutil.rmtree(f"{root}/{'d/' * depth}")


@pytest.mark.slow
def test_a_tree_of_any_depth_is_listed(deep: Path) -> None:
    """Globs with and without matches end with their answer at any depth."""
    listing = FolderListing()
    file = "d/" * _LEVELS + "x.py"
    assert listing.resolve(deep, "**/*.py").names == (file,)
    assert listing.resolve(deep, "**/*.nope").names == ()


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "symlink"), reason="needs links")
def test_links_behind_links_end(tmp_path: Path) -> None:
    """A file, a folder, and an output folder behind thousands of links are errors in one sentence, and read nowhere."""
    (tmp_path / "x.py").write_text("x = 1\n", encoding="utf-8")
    (tmp_path / "0.py").symlink_to("x.py")
    (tmp_path / "0").symlink_to(".")
    for number in range(1, 1500):
        (tmp_path / f"{number}.py").symlink_to(f"{number - 1}.py")
        (tmp_path / f"{number}").symlink_to(f"{number - 1}")
    config = tmp_path / "manual_slop.toml"
    config.write_text('[files]\npaths = ["1499.py", "1499/*.py", "x.py"]\n', encoding="utf-8")
    contents = [str(record["content"]) for record in run(config)[2]]
    assert ["ERROR" in content for content in contents] == [True, True, False]


def test_a_screenshot_whose_name_is_too_long_is_missing(tmp_path: Path) -> None:
    """A name that no file system takes is shown as missing."""
    (image,) = find_screenshots(
        tmp_path, ["n" * 300 + ".png"], shown_from=tmp_path, listing=FolderListing()
    )
    assert not image.exists
