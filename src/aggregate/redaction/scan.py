"""Where the secrets of a text are."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Final, Protocol

import re2

from aggregate.redaction.private_keys import MARKER, key_blocks
from aggregate.redaction.rules import PRIVATE_KEY, RULES, SecretRule

_COUNTED: Final = re.compile(r"(?<!\\)\{(\d+)(?:,\d*)?\}")
_MEMORY: Final = 64 << 20
"""Bytes that the automaton of all rules may take; in 8 MB it is built anew again and again, three times as slow."""
_MOST_JUDGED: Final = 1_000
"""Bytes of a value that are looked at to tell whether it is a secret."""
_PLACEHOLDERS: Final = (b"[REDACTED", b"***")


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret and where it is.

    Attributes:
        rule: The id of the rule that found it.
        runs: Offsets of its bytes, one run for each line that it has.
        guessable: Whether it may be short enough to be found from its hash by trying.
    """

    rule: str
    runs: tuple[tuple[int, int], ...]
    guessable: bool = False

    @property
    def start(self) -> int:
        """Where it begins."""
        return self.runs[0][0]

    def value(self, data: bytes) -> bytes:
        """Return the secret, its lines put together."""
        return b"".join(data[start:end] for start, end in self.runs)


class _Match(Protocol):
    lastindex: int | None

    def span(self, group: int = 0) -> tuple[int, int]: ...


class _Pattern(Protocol):
    def finditer(self, text: bytes) -> "Iterator[_Match]": ...


class _Set(Protocol):
    def Add(self, pattern: str) -> int: ...  # noqa: N802 - the library's name

    def Compile(self) -> None: ...  # noqa: N802 - the library's name

    def Match(self, text: bytes) -> list[int] | None: ...  # noqa: N802 - the library's name


def find_secrets(data: bytes) -> list[Secret]:
    """Return the secrets of a text in UTF-8, in their order; none overlaps another.

    Time grows with the length of the text alone: RE2 never goes back, and each rule passes over the text once.
    """
    candidates: list[tuple[int, Secret]] = []
    patterns = _patterns()
    for index in _set().Match(data) or ():
        if index == len(RULES):
            markers = [match.span() for match in patterns[index].finditer(data)]
            candidates += [(-1, Secret(PRIVATE_KEY, tuple(runs))) for runs in key_blocks(data, markers)]
        else:
            candidates += [(index, secret) for secret in _of_rule(RULES[index], patterns[index], data)]
    return _without_overlaps(candidates)


def _of_rule(rule: SecretRule, pattern: "_Pattern", data: bytes) -> Iterator[Secret]:
    for match in pattern.finditer(data):
        group = match.lastindex or 0
        start, end = match.span(group)
        value = data[start : min(end, start + _MOST_JUDGED)]
        if any(mark in value for mark in _PLACEHOLDERS):
            continue
        if rule.accepts is None or rule.accepts(value.decode("utf-8", "replace"), group):
            yield Secret(rule.id, ((start, end),), rule.guessable)


def _without_overlaps(candidates: Sequence[tuple[int, Secret]]) -> list[Secret]:
    """Return the secrets in the order of the text; of two that overlap the one whose rule comes first."""
    taken: list[Secret] = []
    for _, group in groupby(sorted(candidates, key=lambda one: (one[0], one[1].start)), key=lambda one: one[0]):
        taken = _merged(taken, [secret for _, secret in group])
    return taken


def _merged(taken: Sequence[Secret], more: Sequence[Secret]) -> list[Secret]:
    """Return the secrets of two lists in order, without those of the second one that overlap one of the first."""
    ends: list[tuple[int, int]] = [(secret.start, secret.runs[-1][1]) for secret in taken]
    free: list[Secret] = []
    position = 0
    for secret in more:
        start, end = secret.start, secret.runs[-1][1]
        while position < len(ends) and ends[position][1] <= start:
            position += 1
        if position == len(ends) or ends[position][0] >= end:
            free.append(secret)
    return sorted([*taken, *free], key=lambda secret: secret.start)


@cache
def _patterns() -> "tuple[_Pattern, ...]":
    return tuple(re2.compile(pattern, _options()) for pattern in _sources())


@cache
def _set() -> "_Set":
    """Return one automaton for all patterns, which tells in one pass which of them a text may have at all.

    Counts are left out: they would make it too large to be quick, and a set that is too large finds nothing.
    """
    patterns: _Set = re2.Set.SearchSet(_options(memory=_MEMORY))
    for pattern in _sources():
        patterns.Add(_COUNTED.sub(lambda count: "*" if count[1] == "0" else "+", pattern))
    patterns.Compile()
    return patterns


def _sources() -> list[str]:
    return [*(rule.pattern for rule in RULES), MARKER.decode()]


def _options(*, memory: int = 8 << 20) -> object:
    options = re2.Options()
    options.max_mem = memory
    options.log_errors = False
    return options
