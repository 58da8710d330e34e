"""The candidates by their paths: what a message tells of a path, and which files an imported module means."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import takewhile
from typing import NamedTuple

from aggregate.ranking.corpus import FileFacts


class PathMatch(NamedTuple):
    """Files that a path means which somebody wrote."""

    files: Sequence[int]
    share: float  # how surely it is one of them


class PathTable:
    """Look-ups of the candidates' paths; each table is made when it is first asked for."""

    def __init__(self, files: Sequence[FileFacts]) -> None:
        self._files = files

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        return {facts.path: number for number, facts in enumerate(self._files)}

    @cached_property
    def by_name(self) -> Mapping[str, Sequence[int]]:
        return self._by(lambda path: path.rpartition("/")[2])

    @cached_property
    def by_tail(self) -> Mapping[str, Sequence[int]]:
        """The files' numbers by the last two parts of their paths, or all of one part."""
        return self._by(lambda path: "/".join(path.rsplit("/", 2)[-2:]))

    @cached_property
    def by_stem(self) -> Mapping[str, Sequence[int]]:
        """The files' numbers by the last part of their paths up to its first dot."""
        table: dict[str, list[int]] = {}
        for name, numbers in self.by_name.items():
            table.setdefault(name.partition(".")[0] or name, []).extend(numbers)
        return {stem: sorted(numbers) for stem, numbers in table.items()}

    @cached_property
    def by_folder(self) -> Mapping[str, Sequence[int]]:
        return self._by(lambda path: path.rpartition("/")[0])

    def _by(self, part: Callable[[str], str]) -> Mapping[str, Sequence[int]]:
        table: dict[str, list[int]] = {}
        for number, facts in enumerate(self._files):
            table.setdefault(part(facts.path), []).append(number)
        return table

    @cached_property
    def folders_by_name(self) -> Mapping[str, Sequence[str]]:
        table: dict[str, list[str]] = {}
        for folder in self.by_folder:
            table.setdefault(folder.rpartition("/")[2], []).append(folder)
        return table

    def folder(self, number: int) -> str:
        return self._files[number].path.rpartition("/")[0]

    def meant_by(self, written: str) -> PathMatch:
        """Return the files whose paths end like ``written``, absolute or relative, by whole parts."""
        parts = [part for part in written.split("/") if part not in ("", ".")]
        if not parts:
            return PathMatch((), 0.0)
        if len(parts) == 1:
            return PathMatch(self.by_name.get(parts[0], ()), 1.0)
        numbers = self.by_tail.get("/".join(parts[-2:])) or self.by_tail.get(parts[-1], ())
        common: dict[int, int] = {}
        for number in numbers:
            ours = reversed(self._files[number].path.split("/"))
            pairs = zip(ours, reversed(parts), strict=False)
            common[number] = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        most = max(common.values(), default=0)
        longest = [number for number in numbers if common[number] == most]
        whole = [
            number
            for number in longest
            if most in (len(parts), self._files[number].path.count("/") + 1)
        ]
        if whole:
            return PathMatch(whole, 1.0)
        return PathMatch(longest, 0.5) if most > 1 else PathMatch((), 0.0)


# First parts that name no folder of their own.
_ROOTS = frozenset({"crate", "self", "super", "std", "@", "~", "src"})
_LONGEST = 400
_MOST_FILES = 200  # files of a package: a use of one with more says nothing
# Leading parts that are no folders of the project, such as ``github.com/owner/name`` and a version.
_MOST_DROPPED = 4
_SEPARATORS = re.compile(r"::|[/\\]|\.(?=[A-Za-z_*])")
_RELATIVE = re.compile(r"\.{1,2}/|\.+(?=[A-Za-z_]|$)")


def files_of_module(paths: PathTable, importer: str, module: str) -> Sequence[int]:
    r"""Return the numbers of the files that ``module`` means in ``importer``; of a package, the files of its folder."""
    module = module[:_LONGEST].strip("\"'<>; ")
    if not module:
        return ()
    folder = importer.rpartition("/")[0]
    if _RELATIVE.match(module):
        if "/" not in module and module not in (".", ".."):
            name = module.lstrip(".")
            for _ in range(len(module) - len(name) - 1):
                folder = folder.rpartition("/")[0]
            module = name.replace(".", "/")
        return _at(paths, _joined(folder, module))
    if "/" in module or module.endswith(".h"):  # C looks beside the file first
        beside = _at(paths, _joined(folder, module))
        if beside:
            return beside
    # First as a whole, then without its first parts.
    is_dotted = "/" not in module and "::" not in module and "\\" not in module
    parts = [part for part in _SEPARATORS.split(module) if part and part not in _ROOTS]
    most = 0 if is_dotted else min(_MOST_DROPPED, len(parts) - 1)
    found = (_ending(paths, parts[dropped:]) for dropped in range(most + 1))
    return next(filter(None, found), ())


def _joined(folder: str, relative: str) -> str:
    parts = folder.split("/") if folder else []
    for part in relative.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _at(paths: PathTable, path: str) -> Sequence[int]:
    # With or without its suffix, else those that stand for the folder.
    number = paths.numbers.get(path)
    if number is not None:
        return (number,)
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    same = [file for file in paths.by_stem.get(stem, ()) if paths.folder(file) == folder]
    return same or _package(paths, path)


def _package(paths: PathTable, folder: str) -> Sequence[int]:
    files = paths.by_folder.get(folder, ())
    return files if len(files) <= _MOST_FILES else ()


def _ending(paths: PathTable, parts: Sequence[str]) -> Sequence[int]:
    # The file's suffix is free.
    if not parts:
        return ()
    *folders, last = parts
    tail = "/".join(folders)
    for number_list in (paths.by_stem.get(last, ()), paths.by_name.get(last, ())):
        files = [file for file in number_list if _ends(paths.folder(file), tail)]
        if files:
            return files if len(files) <= _MOST_FILES else ()
    whole = "/".join(parts)
    for folder in paths.folders_by_name.get(last, ()):
        if _ends(folder, whole):
            return _package(paths, folder)
    return ()


def _ends(folder: str, tail: str) -> bool:
    return not tail or folder == tail or folder.endswith(f"/{tail}")
