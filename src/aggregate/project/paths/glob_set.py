"""Many globs on the same paths, without trying each on each."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from aggregate.project.paths.globs import compile_glob

_WILD: Final = re.compile(r"[*?/]")
_FEW: Final = 8
"""Globs that are tried on every path; only for more than these it pays to put all paths into one text."""
_SHORTEST: Final = 3
"""Characters of a literal part that is looked for: shorter ones stand in most paths."""


class MatchedPaths:
    """Paths that globs are matched against, one after the other."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = paths
        self._patterns_matched = 0
        self._text = ""
        self._starts: list[int] = []

    def matching(self, pattern: str) -> list[str]:
        """Return the paths that ``pattern`` matches, in their order.

        Raises:
            ValueError: The pattern is too long, or has too many alternatives.
        """
        matches = compile_glob(pattern).match
        self._patterns_matched += 1
        paths = self.paths if self._patterns_matched <= _FEW else self._candidates(pattern)
        return [path for path in paths if matches(path)]

    def _candidates(self, pattern: str) -> Sequence[str]:
        """Return the paths that hold the longest literal part of ``pattern``: no others can match."""
        literal = "" if "[" in pattern or "{" in pattern else max(_WILD.split(pattern), key=len)
        if len(literal) < _SHORTEST:
            return self.paths
        if not self._starts:
            self._text = "\0".join((*self.paths, ""))
            end = 0
            for path in self.paths:
                self._starts.append(end)
                end += len(path) + 1
        candidates: list[str] = []
        position = self._text.find(literal)
        while position >= 0:
            index = bisect_right(self._starts, position) - 1
            candidates.append(self.paths[index])
            position = self._text.find(literal, self._starts[index] + len(self.paths[index]))
        return candidates
