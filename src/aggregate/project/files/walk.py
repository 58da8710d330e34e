"""Walking a folder with ignore rules outside of any git repository, and telling which folders are no source."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aggregate.base.disk import UnreadableError, read_bytes
from aggregate.base.errors import ConfigError
from aggregate.project.git.git import tracked_files
from aggregate.project.paths.ignore_rules import (
    MARKERS,
    IgnoreRules,
    TooManyRulesError,
    dependency_rules,
)

_RULES_FILE = ".gitignore"
_BOM = b"\xef\xbb\xbf"
# Rules of all ignore files together: compiling them takes seconds, and real trees have hundreds.
_MOST_RULES = 100_000


@dataclass(frozen=True, slots=True)
class Walked:
    files: list[str]
    unreadable: tuple[str, ...] = ()


def walk_files(folder: str, *, defaults: bool = False) -> Walked:
    """Return the files below ``folder`` that no ``.gitignore`` in it ignores."""
    files: list[str] = []
    unreadable: list[str] = []
    rules_of = {"": dependency_rules() if defaults else IgnoreRules()}
    rules_read = 0
    for prefix, folders, names in walk_tree(folder, unreadable):
        rules = rules_of.pop(prefix)
        if defaults and prefix and not MARKERS.isdisjoint((*folders, *names)):
            folders.clear()
            continue
        if _RULES_FILE in names:
            rules_above = len(rules)
            rules = with_ignore_file(rules, prefix, f"{folder}/{prefix}{_RULES_FILE}")
            rules_read += len(rules) - rules_above
            if rules_read > _MOST_RULES:
                raise ConfigError(
                    f"the .gitignore files have more than {_MOST_RULES:,} rules together",
                    path=folder,
                )
        folders[:] = [name for name in folders if not rules.ignores(prefix + name, is_folder=True)]
        rules_of |= {f"{prefix}{name}/": rules for name in folders}
        paths = (prefix + name for name in names)
        files += [path for path in paths if not rules.ignores(path, is_folder=False)]
    return Walked(sorted(files), tuple(sorted(unreadable)))


def walk_tree(
    folder: str, unreadable: list[str] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield each folder below ``folder``, itself first: its path and a slash, its folders in order, its other names.

    What is taken out of a list of folders is not entered, and neither are ``.git``, links and what cannot be read: that
    is added to ``unreadable``. ``os.walk`` does the same, but ends at a depth of about a thousand.
    """
    stack = [""]
    while stack:
        prefix = stack.pop()
        folders: list[str] = []
        names: list[str] = []
        try:
            for entry in os.scandir(f"{folder}/{prefix}"):
                (folders if entry.is_dir(follow_symlinks=False) else names).append(entry.name)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            if unreadable is not None:
                unreadable.append(prefix)
            continue
        folders = sorted(name for name in folders if name != ".git")
        yield prefix, folders, names
        stack += [f"{prefix}{name}/" for name in reversed(folders)]


def with_ignore_file(rules: IgnoreRules, prefix: str, path: str) -> IgnoreRules:
    try:
        text = read_bytes(path).removeprefix(_BOM).decode(errors="surrogateescape")
        return rules.below(prefix, text.split("\n"))
    except TooManyRulesError as error:
        raise ConfigError(f"{error}: shorten it", path=path) from None
    except UnreadableError as error:
        # Without its rules what they hide would be taken.
        reason = f"{error.strerror}: put a short file of ignore rules in its place"
        raise ConfigError(reason, path=path) from None
    except OSError:
        return rules


def dependency_folders(folder: str, files: Sequence[str]) -> list[str]:
    """Return patterns, as in ``.gitignore``, for the folders below ``folder`` that hold what tools have put there.

    A folder that holds a file which git tracks is source, whatever its name. Without git a walk leaves them out anyway.
    """
    tracked = tracked_files(folder)
    if tracked is None:
        return []
    of_files, of_source = (
        {name[:at] for name in names for at, char in enumerate(name) if char == "/"}
        for names in (files, tracked)
    )
    marked = {name.rpartition("/")[0] for name in files if name.rpartition("/")[2] in MARKERS}
    rules = dependency_rules()
    patterns: set[str] = set()
    for path in of_files - of_source:
        if rules.ignores(path, is_folder=True):
            patterns.add(f"{path.rpartition('/')[2]}/")
        elif path in marked:  # by its path: its name tells nothing
            patterns.add(f"/{path}/")
    return sorted(patterns)
