"""The candidates by their paths: by name, by stem, by folder, and by the path that a message tells."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from aggregate.ranking.corpus import FileFacts


class PathMatch(NamedTuple):
    """Files that a path means which somebody wrote.

    Attributes:
        files: Their numbers, in order; empty for none.
        share: How surely it is one of them: 1 for a whole path, 0.5 where folders differ on both sides.
    """

    files: Sequence[int]
    share: float


class PathTable:
    """Look-ups of the candidates' paths; each table is made when it is first asked for.

    Args:
        files: The candidates.
    """

    def __init__(self, files: Sequence[FileFacts]) -> None:
        self._files = files

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """The files' numbers by their paths."""
        return {facts.path: number for number, facts in enumerate(self._files)}

    @cached_property
    def by_name(self) -> Mapping[str, Sequence[int]]:
        """The files' numbers by the last part of their paths."""
        table: dict[str, list[int]] = {}
        for number, facts in enumerate(self._files):
            table.setdefault(facts.path.rpartition("/")[2], []).append(number)
        return table

    @cached_property
    def by_tail(self) -> Mapping[str, Sequence[int]]:
        """The files' numbers by the last two parts of their paths, or all of one part."""
        table: dict[str, list[int]] = {}
        for number, facts in enumerate(self._files):
            table.setdefault("/".join(facts.path.rsplit("/", 2)[-2:]), []).append(number)
        return table

    @cached_property
    def by_stem(self) -> Mapping[str, Sequence[int]]:
        """The files' numbers by the last part of their paths up to its first dot."""
        table: dict[str, list[int]] = {}
        for name, numbers in self.by_name.items():
            table.setdefault(name.partition(".")[0] or name, []).extend(numbers)
        return {stem: sorted(numbers) for stem, numbers in table.items()}

    @cached_property
    def by_folder(self) -> Mapping[str, Sequence[int]]:
        """The files' numbers by their folders, ``""`` for the base."""
        table: dict[str, list[int]] = {}
        for number, facts in enumerate(self._files):
            table.setdefault(facts.path.rpartition("/")[0], []).append(number)
        return table

    @cached_property
    def folders_by_name(self) -> Mapping[str, Sequence[str]]:
        """Folders by the last part of their paths."""
        table: dict[str, list[str]] = {}
        for folder in self.by_folder:
            table.setdefault(folder.rpartition("/")[2], []).append(folder)
        return table

    def folder(self, number: int) -> str:
        """Return a file's folder, ``""`` for the base."""
        return self._files[number].path.rpartition("/")[0]

    def meant_by(self, written: str) -> PathMatch:
        """Return the files whose paths end like ``written``, absolute or relative, by whole parts.

        Where folders differ on both sides, the last folder must be the same: a library's ``decoder.py`` is not ours.
        """
        parts = [part for part in written.split("/") if part not in ("", ".")]
        if not parts:
            return PathMatch((), 0.0)
        if len(parts) == 1:
            return PathMatch(self.by_name.get(parts[0], ()), 1.0)
        numbers = self.by_tail.get("/".join(parts[-2:])) or self.by_tail.get(parts[-1], ())
        common = {number: self._common(number, parts) for number in numbers}
        most = max(common.values(), default=0)
        longest = [number for number in numbers if common[number] == most]
        whole = [number for number in longest if most in (len(parts), self._depth(number))]
        if whole:
            return PathMatch(whole, 1.0)
        return PathMatch(longest, 0.5) if most > 1 else PathMatch((), 0.0)

    def _common(self, number: int, parts: Sequence[str]) -> int:
        """Return how many last parts a file's path shares with ``parts``."""
        count = 0
        ours = reversed(self._files[number].path.split("/"))
        for own, other in zip(ours, reversed(parts), strict=False):
            if own != other:
                break
            count += 1
        return count

    def _depth(self, number: int) -> int:
        return self._files[number].path.count("/") + 1
