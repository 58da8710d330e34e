"""Projects that ask for files which are not theirs, or which nobody means to show. One builder per attack."""

import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.projects import project

SECRET = "TOP-SECRET-5c1e"  # noqa: S105 - no password
"""What no prompt may hold."""


def victim(folder: Path) -> Path:
    """The machine of somebody who clones: a private file beside the clone, and a plain repository; return the clone."""
    project(folder, {"private/diary.md": f"# {SECRET}\n", "private/code.py": f"KEY = '{SECRET}'\n"})
    clone = project(folder / "clone", {"a.py": "a = 1\n"})
    subprocess.run(["git", "init", "-q", str(clone)], check=True)
    return clone


def named_above(clone: Path) -> str:
    """A path with ``..`` names the file."""
    return 'paths = ["a.py", "../private/diary.md"]'


def named_absolute(clone: Path) -> str:
    """An absolute path names the file."""
    return f'paths = ["a.py", "{clone.parent}/private/diary.md"]'


def glob_above(clone: Path) -> str:
    """A glob begins above the project."""
    return 'paths = ["a.py", "../private/*.md"]'


def glob_absolute(clone: Path) -> str:
    """A glob begins at the root of the disk."""
    return f'paths = ["a.py", "{clone.parent}/priv*/**"]'


def glob_up_and_down(clone: Path) -> str:
    """A glob goes down first and then up by more."""
    return 'paths = ["a.py", "./x/../../private/*"]'


def base_above(clone: Path) -> str:
    """``base_dir`` lies above the project."""
    return 'base_dir = "../private"\npaths = ["*", "diary.md"]'


def base_absolute(clone: Path) -> str:
    """``base_dir`` is absolute."""
    return f'base_dir = "{clone.parent}/private"\npaths = ["**", "diary.md"]'


def base_linked(clone: Path) -> str:
    """``base_dir`` is a link to a folder elsewhere."""
    (clone / "lib").symlink_to("../private")
    return 'base_dir = "lib"\npaths = ["**", "diary.md"]'


def linked_file(clone: Path) -> str:
    """A link in the project is named."""
    (clone / "notes.md").symlink_to("../private/diary.md")
    return 'paths = ["a.py", "notes.md"]'


def link_to_link(clone: Path) -> str:
    """A link to a link, absolute, is named."""
    (clone / "far.md").symlink_to(clone.parent / "private/diary.md")
    (clone / "near.md").symlink_to("far.md")
    return 'paths = ["a.py", "near.md"]'


def linked_folder(clone: Path) -> str:
    """A file behind a linked folder is named."""
    (clone / "vendor").symlink_to("../private")
    return 'paths = ["a.py", "vendor/diary.md"]'


def glob_through_link(clone: Path) -> str:
    """A glob begins behind a linked folder."""
    (clone / "vendor").symlink_to("../private")
    return 'paths = ["a.py", "vendor/*.md", "vendor/**"]'


def tracked_behind_link(clone: Path) -> str:
    """Git tracks files in a folder that is a link by now, so that it lists what lies behind it."""
    project(clone, {"vendor/diary.md": "", "vendor/code.py": ""})
    subprocess.run(["git", "-C", str(clone), "add", "-A"], check=True)
    for name in ("diary.md", "code.py"):
        (clone / "vendor" / name).unlink()
    (clone / "vendor").rmdir()
    (clone / "vendor").symlink_to("../private")
    return 'paths = ["a.py", "**/*.md", "**/code.py"]'


def glob_of_links(clone: Path) -> str:
    """A glob meets a link to a file elsewhere."""
    (clone / "notes.md").symlink_to("../private/diary.md")
    return 'paths = ["a.py", "*.md"]'


def preset(clone: Path) -> str:
    """A preset of the project that is in force names the file."""
    return '[context_presets.x]\nfiles = ["a.py", "../private/diary.md"]\n[project]\nactive_preset = "x"'


def slices(clone: Path) -> str:
    """A table with slices, a view and a tier names the file."""
    entry = 'path = "../private/diary.md", view_mode = "custom", custom_slices = [{ start_line = 1, end_line = 1 }]'
    return f'paths = ["a.py", {{ {entry}, tier = 3, force_full = true }}]'


REFUSED: tuple[Callable[[Path], str], ...] = (
    named_above, named_absolute, glob_above, glob_absolute, glob_up_and_down, base_above, base_absolute, base_linked,
    linked_file, link_to_link, linked_folder, glob_through_link, preset, slices,
)  # fmt: skip
"""Attacks that are refused by name."""
SKIPPED: tuple[Callable[[Path], str], ...] = (tracked_behind_link, glob_of_links)
"""Attacks on globs that take what else they match."""


def build(folder: Path, attack: Callable[[Path], str]) -> Path:
    """Make the machine and the attack's configuration; return the clone."""
    clone = victim(folder)
    text = attack(clone)
    return project(
        clone, {"manual_slop.toml": text if text.startswith("[") else f"[files]\n{text}\n"}
    )
