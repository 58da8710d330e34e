"""Where the secrets of a text are."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Final

import re2

from aggregate.base.redaction.private_keys import MARKER, key_blocks
from aggregate.base.redaction.rules import PRIVATE_KEY, RULES, SecretRule

_COUNTED: Final = re.compile(r"(?<!\\)\{(\d+)(?:,\d*)?\}")
_AUTOMATA: Final = 3
"""Over which the rules are spread. RE2 builds them while they run, and in one all rules multiply each other's states:
on 5 MB of code its first pass took 0.33 s and further ones 0.026, that of three 0.15 and 0.043; four gain little."""
_MEMORY: Final = 64 << 20
"""Bytes that an automaton may take; in 8 MB it is built anew again and again, three times as slow."""
_MOST_JUDGED: Final = 1_000
"""Bytes of a value that are looked at to tell whether it is a secret: a bound for values of megabytes."""
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

    @property
    def end(self) -> int:
        """Behind its last byte."""
        return self.runs[-1][1]

    def value(self, data: bytes) -> bytes:
        """Return the secret, its lines put together."""
        return b"".join(data[start:end] for start, end in self.runs)


def find_secrets(data: bytes) -> list[Secret]:
    """Return the secrets of a text in UTF-8, in their order; none overlaps another.

    Time grows with the length of the text alone: RE2 never goes back, and each rule passes over the text once.
    """
    candidates: list[tuple[int, Secret]] = []
    patterns = _patterns()
    for index in _candidates(data):
        if index == len(RULES):
            markers = [match.span() for match in patterns[index].finditer(data)]
            candidates += [
                (-1, Secret(PRIVATE_KEY, tuple(runs))) for runs in key_blocks(data, markers)
            ]
        else:
            candidates += [
                (index, secret) for secret in _of_rule(RULES[index], patterns[index], data)
            ]
    return _without_overlaps(candidates)


def _of_rule(rule: SecretRule, pattern: re.Pattern[bytes], data: bytes) -> Iterator[Secret]:
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
    secrets: list[Secret] = []
    by_rule_and_start = sorted(candidates, key=lambda candidate: (candidate[0], candidate[1].start))
    for _, of_rule in groupby(by_rule_and_start, key=itemgetter(0)):
        secrets = _merged(secrets, [secret for _, secret in of_rule])
    return secrets


def _merged(secrets: Sequence[Secret], more: Sequence[Secret]) -> list[Secret]:
    """Return the secrets of two lists in order, without those of the second one that overlap one of the first."""
    free: list[Secret] = []
    position = 0
    for secret in more:
        while position < len(secrets) and secrets[position].end <= secret.start:
            position += 1
        if position == len(secrets) or secrets[position].start >= secret.end:
            free.append(secret)
    return sorted([*secrets, *free], key=lambda secret: secret.start)


@cache
def _patterns() -> tuple[re.Pattern[bytes], ...]:
    """Return the compiled patterns; what RE2 compiles has no types of its own and is used as what ``re`` compiles."""
    return tuple(re2.compile(pattern, _options()) for pattern in _sources())


def _candidates(data: bytes) -> Iterator[int]:
    """Yield which of the patterns a text may have at all."""
    for first, match in enumerate(_automata()):
        yield from (first + _AUTOMATA * place for place in match(data) or ())


@cache
def _automata() -> list[Callable[[bytes], list[int] | None]]:
    """Return what tells in one pass each which of every third pattern a text may have.

    Counts are left out: they would make it too large to be quick, and a set that is too large finds nothing.
    """
    matches: list[Callable[[bytes], list[int] | None]] = []
    for first in range(_AUTOMATA):
        patterns = re2.Set.SearchSet(_options(memory=_MEMORY))
        for pattern in _sources()[first::_AUTOMATA]:
            patterns.Add(_COUNTED.sub(lambda count: "*" if count[1] == "0" else "+", pattern))
        patterns.Compile()
        matches.append(patterns.Match)
    return matches


def _sources() -> list[str]:
    return [*(rule.pattern for rule in RULES), MARKER.decode()]


def _options(*, memory: int = 8 << 20) -> object:
    options = re2.Options()
    options.max_mem = memory
    options.log_errors = False
    return options
