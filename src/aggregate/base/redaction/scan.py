"""Where the secrets of a text are: by the table of rules, and blocks of private keys over many lines."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Final

import re2

from aggregate.base.redaction.rules import PRIVATE_KEY, RULES, SecretRule

MARKER = rb"-----(?:BEGIN|END) [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----|\bPrivate-(?:Lines: [0-9]+|(?:MAC|Hash):)"
"""What begins and ends a block; RE2 syntax and Python's."""
_BEGINS = (b"-----BEGIN", b"Private-Lines")
_BEFORE = re.compile(rb"(?:\\[nrt]|[\s\"'`#*>|,(])*(?:// )?")
_BEHIND = b" \t\r\n\"'`,;)]}\\+"
_ESCAPED = re.compile(rb"\\[nr]|\\\\n")
_BASE64 = re.compile(rb"[A-Za-z0-9+/=]+")
_LEAST = 48
"""Characters of base64 that a block must have: the shortest keys have 64, and code that only names the markers none."""
_LEAST_LINE = 16
"""Characters of a line behind a beginning without an end that still counts as part of the key."""


def key_blocks(data: bytes, markers: list[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """Yield the runs of bytes that make up each private key, one run in each of its lines.

    Args:
        data: The text.
        markers: Where ``MARKER`` matches, in order.
    """
    for (start, end), (next_start, _) in zip(markers, [*markers[1:], (len(data), 0)], strict=True):
        if not data.startswith(_BEGINS, start):
            continue
        has_end = next_start < len(data) and not data.startswith(_BEGINS, next_start)
        runs = list(_runs(data, end, next_start, whole=has_end))
        if sum(run_end - run_start for run_start, run_end in runs) >= _LEAST:
            yield runs


def _runs(data: bytes, start: int, end: int, *, whole: bool) -> Iterator[tuple[int, int]]:
    """Yield the base64 of each line; without an end marker, ``whole`` off, up to the first line of another kind."""
    while start < end:
        stop = data.find(b"\n", start, end) + 1 or end
        run = _run(data, start, stop)
        if run and (whole or run[1] - run[0] >= _LEAST_LINE):
            yield run
        elif not whole and data[start:stop].strip():
            return
        start = stop


def _run(data: bytes, start: int, stop: int) -> tuple[int, int] | None:
    """Return the base64 of a line without quotes, comment signs and the like around it."""
    before = _BEFORE.match(data, start, stop)
    start = before.end() if before else start
    while stop > start:
        escaped = data.endswith((b"\\n", b"\\r"), start, stop)
        if not escaped and data[stop - 1] not in _BEHIND:
            break
        stop -= 2 if escaped else 1
    core = data[start:stop]
    return (start, stop) if core and _BASE64.fullmatch(_ESCAPED.sub(b"", core)) else None


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
