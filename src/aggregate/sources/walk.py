"""Walking a folder outside of any git repository, with the same ignore rules."""

import os
from collections.abc import Callable

from aggregate.disk.reading import read_bytes
from aggregate.paths.ignore import IgnoreRules

_RULES_FILE = ".gitignore"
_BOM = b"\xef\xbb\xbf"


def walk_files(folder: str, *, on_trouble: Callable[[str, str], None] = lambda _path, _reason: None) -> list[str]:
    """Return the files below ``folder`` that no ``.gitignore`` in it ignores, relative to it, sorted.

    Folders that are ignored are not entered, nor are ``.git`` and links to folders. A folder that cannot be read has
    no files.

    Args:
        folder: The folder.
        on_trouble: Called with the path of each ``.gitignore`` whose rules do not count, and with the reason.
    """
    found: list[str] = []
    stack: list[tuple[str, IgnoreRules]] = [("", IgnoreRules())]
    while stack:
        prefix, rules = stack.pop()
        try:
            entries = {entry.name: entry.is_dir(follow_symlinks=False) for entry in os.scandir(f"{folder}/{prefix}")}
        except OSError:
            continue
        if entries.get(_RULES_FILE) is False:
            try:
                rules = rules.below(prefix, _read_rules(f"{folder}/{prefix}{_RULES_FILE}"))
            except OSError as error:
                on_trouble(prefix + _RULES_FILE, f"its rules do not count: {error.strerror or error}")
        for name, is_folder in entries.items():
            path = prefix + name
            if (is_folder and name == ".git") or rules.ignores(path, is_folder=is_folder):
                continue
            if is_folder:
                stack.append((path + "/", rules))
            else:
                found.append(path)
    return sorted(found)


def _read_rules(path: str) -> list[str]:
    return read_bytes(path).removeprefix(_BOM).decode(errors="surrogateescape").split("\n")
