"""Projects that ask for files which are not theirs, or which nobody means to show. One row per attack."""

import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
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


@dataclass(frozen=True)
class Attack:
    """A configuration, in which ``{machine}`` is the folder around the clone, and links that it needs."""

    text: str
    links: Mapping[str, str] = field(default_factory=dict)
    prepare: Callable[[Path], None] = lambda _clone: None


def tracked_behind_link(clone: Path) -> None:
    """Let git track files in a folder that is a link by now, so that it lists what lies behind it."""
    project(clone, {"vendor/diary.md": "", "vendor/code.py": ""})
    subprocess.run(["git", "-C", str(clone), "add", "-A"], check=True)
    for name in ("diary.md", "code.py"):
        (clone / "vendor" / name).unlink()
    (clone / "vendor").rmdir()
    (clone / "vendor").symlink_to("../private")


REFUSED = {
    "a path with .. names the file": Attack('paths = ["a.py", "../private/diary.md"]'),
    "an absolute path names the file": Attack('paths = ["a.py", "{machine}/private/diary.md"]'),
    "a glob begins above the project": Attack('paths = ["a.py", "../private/*.md"]'),
    "a glob begins at the root of the disk": Attack('paths = ["a.py", "{machine}/priv*/**"]'),
    "a glob goes down first and then up by more": Attack('paths = ["a.py", "./x/../../private/*"]'),
    "base_dir lies above the project": Attack('base_dir = "../private"\npaths = ["*", "diary.md"]'),
    "base_dir is absolute": Attack('base_dir = "{machine}/private"\npaths = ["**", "diary.md"]'),
    "base_dir is a link to a folder elsewhere": Attack('base_dir = "lib"\npaths = ["**", "diary.md"]', {"lib": "../private"}),
    "a link in the project is named": Attack('paths = ["a.py", "notes.md"]', {"notes.md": "../private/diary.md"}),
    "a link to a link, absolute, is named": Attack('paths = ["a.py", "near.md"]', {"far.md": "{machine}/private/diary.md", "near.md": "far.md"}),
    "a file behind a linked folder is named": Attack('paths = ["a.py", "vendor/diary.md"]', {"vendor": "../private"}),
    "a glob begins behind a linked folder": Attack('paths = ["a.py", "vendor/*.md", "vendor/**"]', {"vendor": "../private"}),
    "a preset of the project that is in force names the file": Attack(
        '[context_presets.x]\nfiles = ["a.py", "../private/diary.md"]\n[project]\nactive_preset = "x"'
    ),
    "a table with slices, a view and a tier names the file": Attack(
        'paths = ["a.py", { path = "../private/diary.md", view_mode = "custom", tier = 3, force_full = true, '
        'custom_slices = [{ start_line = 1, end_line = 1 }] }]'
    ),
}  # fmt: skip
"""Attacks that are refused by name."""
SKIPPED = {
    "git tracks files behind a link": Attack('paths = ["a.py", "**/*.md", "**/code.py"]', prepare=tracked_behind_link),
    "a glob meets a link to a file elsewhere": Attack('paths = ["a.py", "*.md"]', {"notes.md": "../private/diary.md"}),
}  # fmt: skip
"""Attacks on globs that take what else they match."""


def build(folder: Path, attack: Attack) -> Path:
    """Make the machine and the attack's configuration; return the clone."""
    clone = victim(folder)
    attack.prepare(clone)
    for name, target in attack.links.items():
        (clone / name).symlink_to(target.replace("{machine}", str(folder)))
    text = attack.text.replace("{machine}", str(folder))
    files = text if text.startswith("[") else f"[files]\n{text}\n"
    return project(clone, {"manual_slop.toml": files})
