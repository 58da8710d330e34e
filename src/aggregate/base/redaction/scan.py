"""Find secrets by rules, and private keys of many lines."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Final

import re2

from aggregate.base.redaction.rules import PRIVATE_KEY, RULES

# Begin and end of a private key; for RE2 and Python.
_MARKER: Final = (
    r"-----(?:BEGIN|END) [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
    r"|\bPrivate-(?:Lines: [0-9]+|(?:MAC|Hash):)"
)
_BEGINS: Final = (b"-----BEGIN", b"Private-Lines")
_BEFORE: Final = re.compile(rb"(?:\\[nrt]|[\s\"'`#*>|,(])*(?:// )?")
_BEHIND: Final = b" \t\r\n\"'`,;)]}\\+"
_ESCAPED: Final = re.compile(rb"\\[nr]|\\\\n")
_BASE64: Final = re.compile(rb"[A-Za-z0-9+/=]+")
# Base64 characters of a key: the shortest keys have 64, code with only the markers none.
_LEAST: Final = 48
_LEAST_LINE: Final = 16  # characters of a line of a key without an end marker
_COUNTED: Final = re.compile(r"(?<!\\)\{(\d+)(?:,\d*)?\}")
_ANY_CASE: Final = "(?i:"
# Bytes of an automaton; with 8 MB it is rebuilt again and again, three times as slow.
_MEMORY: Final = 64 << 20
_MOST_JUDGED: Final = 1_000  # judged bytes of a value, for values of megabytes
_PLACEHOLDERS: Final = (b"[REDACTED", b"***")


@dataclass(frozen=True, slots=True)
class Secret:
    rule: str
    runs: tuple[tuple[int, int], ...]  # byte offsets, one run per line
    guessable: bool = False

    @property
    def start(self) -> int:
        return self.runs[0][0]

    @property
    def end(self) -> int:
        return self.runs[-1][1]

    def value(self, data: bytes) -> bytes:
        return b"".join(data[start:end] for start, end in self.runs)


def find_secrets(data: bytes) -> list[Secret]:
    """Return a text's secrets in order; where secrets overlap, the earlier rule wins."""
    candidates: list[tuple[int, Secret]] = []
    for match, indexes in _automata():
        for number in match(data) or ():
            index = indexes[number]
            if index == len(RULES):
                candidates += [(-1, secret) for secret in _private_keys(data)]
            else:
                candidates += [(index, secret) for secret in _rule_matches(index, data)]
    candidates.sort(key=lambda candidate: (candidate[0], candidate[1].start))
    secrets: list[Secret] = []
    for _, group in groupby(candidates, key=itemgetter(0)):
        position, free = 0, list[Secret]()
        for _, secret in group:
            while position < len(secrets) and secrets[position].end <= secret.start:
                position += 1
            if position == len(secrets) or secrets[position].start >= secret.end:
                free.append(secret)
        secrets = sorted([*secrets, *free], key=lambda secret: secret.start)
    return secrets


def _rule_matches(index: int, data: bytes) -> Iterator[Secret]:
    rule = RULES[index]
    for match in _patterns()[index].finditer(data):
        start, end = match.span(match.lastindex or 0)
        value = data[start : min(end, start + _MOST_JUDGED)]
        if any(mark in value for mark in _PLACEHOLDERS):
            continue
        if rule.accepts is None or rule.accepts(value.decode("utf-8", "replace")):
            yield Secret(rule.id, ((start, end),), rule.guessable)


def _private_keys(data: bytes) -> Iterator[Secret]:
    markers = [match.span() for match in _patterns()[-1].finditer(data)]
    for (start, end), (next_start, _) in zip(markers, [*markers[1:], (len(data), 0)], strict=True):
        if not data.startswith(_BEGINS, start):
            continue
        has_end = next_start < len(data) and not data.startswith(_BEGINS, next_start)
        runs = tuple(_runs(data, end, next_start, whole=has_end))
        if sum(run_end - run_start for run_start, run_end in runs) >= _LEAST:
            yield Secret(PRIVATE_KEY, runs)


def _runs(data: bytes, start: int, end: int, *, whole: bool) -> Iterator[tuple[int, int]]:
    """Yield start and end of the base64 text in each line of a private key."""
    while start < end:
        stop = data.find(b"\n", start, end) + 1 or end
        run = _run(data, start, stop)
        if run and (whole or run[1] - run[0] >= _LEAST_LINE):
            yield run
        elif not whole and data[start:stop].strip():
            return
        start = stop


def _run(data: bytes, start: int, stop: int) -> tuple[int, int] | None:
    """Return start and end of the base64 text in a line, None without any."""
    prefix = _BEFORE.match(data, start, stop)
    start = prefix.end() if prefix else start
    while stop > start:
        escaped = data.endswith((b"\\n", b"\\r"), start, stop)
        if not escaped and data[stop - 1] not in _BEHIND:
            break
        stop -= 2 if escaped else 1
    core = data[start:stop]
    return (start, stop) if core and _BASE64.fullmatch(_ESCAPED.sub(b"", core)) else None


@cache
def _patterns() -> Sequence[re.Pattern[bytes]]:
    # RE2's untyped patterns are used like those of ``re``.
    return [re2.compile(pattern, _options()) for pattern in _sources()]


@cache
def _automata() -> list[tuple[Callable[[bytes], list[int] | None], Sequence[int]]]:
    """Return filters that find the possibly matching rules.

    A filter reads the text once. Each filter has the indexes of its rules. RE2 builds automata lazily, and the patterns
    of one multiply each other's states. So case-insensitive patterns are separate: on 36 MB of sources one automaton
    takes 0.66 s at first and 0.12 later, these two 0.37 and 0.18. Repetition counts are replaced by ``*`` and ``+``:
    they make automata slow, and a too large automaton matches nothing.
    """
    hints = [*(rule.hint for rule in RULES), _MARKER]
    has_words = [_ANY_CASE in hint for hint in hints]
    automata: list[tuple[Callable[[bytes], list[int] | None], Sequence[int]]] = []
    for kind in (True, False):
        indexes = [index for index, has in enumerate(has_words) if has is kind]
        patterns = re2.Set.SearchSet(_options(memory=_MEMORY))
        for index in indexes:
            patterns.Add(_COUNTED.sub(lambda count: "*" if count[1] == "0" else "+", hints[index]))
        patterns.Compile()
        automata.append((patterns.Match, indexes))
    return automata


def _sources() -> list[str]:
    return [*(rule.pattern for rule in RULES), _MARKER]


def _options(*, memory: int = 8 << 20) -> object:
    options = re2.Options()
    options.max_mem = memory
    options.log_errors = False
    return options
