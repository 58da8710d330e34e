"""Walking a folder outside of any git repository, with the same ignore rules."""

import os

from aggregate.disk.reading import UnreadableError, read_bytes
from aggregate.errors import ConfigError
from aggregate.paths.ignore import IgnoreRules

_RULES_FILE = ".gitignore"
_BOM = b"\xef\xbb\xbf"


def walk_files(folder: str) -> list[str]:
    """Return the files below ``folder`` that no ``.gitignore`` in it ignores, relative to it, sorted.

    Folders that are ignored are not entered, nor are ``.git`` and links to folders. A folder that cannot be read has
    no files.

    Raises:
        ConfigError: A ``.gitignore`` is no regular file, or too large.
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
            rules = rules.below(prefix, _read_rules(f"{folder}/{prefix}{_RULES_FILE}"))
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
    try:
        return read_bytes(path).removeprefix(_BOM).decode(errors="surrogateescape").split("\n")
    except UnreadableError as error:
        # Without its rules what they hide would be taken.
        raise ConfigError(f"{error.strerror}: put a file with ignore rules in its place", path=path) from None
    except OSError:
        return []
