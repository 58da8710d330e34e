"""Which files of a discussion stay as they were sent when the next question asks for others (rule B-9).

A provider's cache reads a prompt up to the first byte that differs. A fit for the new question alone would show nearly
every file at another level, and nothing could be read. So files stay as they were sent first, the discussion grows
behind them, and what a question needs besides stands behind the discussion, where the next question replaces it. Room
for that is made at the end of the files, seldom and for several turns: the file that stands last goes first, if what
comes in for it scores more than twice as much. A likely file that goes is shown behind the discussion.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from aggregate.base.values import FileChoice, Level, SentFile

BELOW: Final = 0.5
"""A file stays unless its score is below this part of that of what would enter instead (rule B-9)."""
FRESH: Final = 0.16
"""The part of the room that a new question may have for itself. With it four fifths of a prompt and more stay, and
three quarters or more are shown of what a fit for the question alone shows (four projects, docs/performance.md)."""
ENOUGH: Final = 0.7
"""While this part of that is left, no file leaves: what leaves takes all that stands behind it along, so that it pays
to make room seldom, and for several turns."""
LEAST_FRESH: Final = 5_000
"""Tokens that it may have in any case, but for half of the room: what a question needs does not shrink with the budget,
and the likeliest 5,000 tokens hold most of it."""
MOVABLE: Final = 0.25
"""The part of the room, at the end of the files, that others may take from, or as much as a question may have if that
is more: a file at the front is paid for with all that stands behind it. A pin may take from any place."""
LIKELY: Final = 0.1
"""A file with this part of all scores is what the question is about: it does not go for lack of room while there is a
less likely one. At most ten files can be as likely."""
_HUNK_TOKENS: Final = 40
"""What showing more of a file behind the others takes beyond the lines themselves: its heading, its fence, and three
lines of context on each side."""
_AMOUNTS: Final = {level: -place for place, level in enumerate(Level)}
"""More for levels that show more."""


class WantedFile(NamedTuple):
    """A file as a fit for the new question alone would show it.

    Attributes:
        path: As the prompt shows it.
        level: How much of it.
        tokens: Of its block; ``0`` where it would have none.
        score: How likely the question touches it, ``0`` to ``1``.
        lines: The runs of lines that would be shown, as ``SentFile.lines``.
        content_hash: SHA-256 of its bytes in hexadecimal digits.
        pinned: Whether it is shown whatever it costs.
    """

    path: str
    level: Level
    tokens: int = 0
    score: float = 0.0
    lines: tuple[tuple[int, int], ...] = ()
    content_hash: str = ""
    pinned: bool = False


class Keeping(NamedTuple):
    """What stays.

    Attributes:
        files: The files that are shown no less than they were sent, in the order in which they were sent.
        left: Tokens that they leave for what is added.
    """

    files: tuple[SentFile, ...]
    left: int


@dataclass(slots=True)
class _Staying:
    """The files that stay so far, in the order in which they were sent."""

    files: list[SentFile]
    wanted: dict[str, WantedFile]
    left: int

    def score(self, file: SentFile) -> float:
        return self.wanted[file.path].score

    def drop(self, files: Iterable[SentFile]) -> None:
        going = {file.path for file in files}
        self.left += sum(file.tokens for file in self.files if file.path in going)
        self.files = [file for file in self.files if file.path not in going]

    def movable(self) -> Iterator[SentFile]:
        """Yield the files that may leave, the one that stands last first."""
        return (file for file in reversed(self.files) if not self.wanted[file.path].pinned)


def keep_levels(sent: Sequence[SentFile], wanted: Sequence[WantedFile], *, room: int) -> Keeping:
    """Return which files of the last prompt stay as they were sent, and how many tokens are left for additions.

    Args:
        sent: The files of the last prompt, in the order in which they stood.
        wanted: All candidates, as a fit for the new question alone would show them.
        room: The most tokens of all files' blocks together.
    """
    by_path = {file.path: file for file in wanted}
    there = [file for file in sent if file.path in by_path]
    staying = _Staying(there, by_path, room - sum(file.tokens for file in there))
    _make_room(staying)
    fresh = max(int(FRESH * room), min(LEAST_FRESH, room // 2))
    additions = sorted(_additions(staying), key=lambda addition: _by_worth(addition[0]))
    if not _has_enough(staying, additions, fresh):
        _make_room_for_all(staying, additions, fresh, room)
    return Keeping(tuple(staying.files), room - sum(file.tokens for file in staying.files))


def _has_enough(staying: _Staying, additions: Sequence[tuple[WantedFile, int]], fresh: int) -> bool:
    """Tell whether what is left is enough for a question, and for all pins."""
    pinned = sum(tokens for file, tokens in additions if file.pinned)
    wanted = sum(tokens for _, tokens in additions)
    return staying.left >= max(pinned, min(wanted, int(ENOUGH * fresh)))


def _make_room_for_all(
    staying: _Staying, additions: Sequence[tuple[WantedFile, int]], fresh: int, room: int
) -> None:
    """Take room for what is new, the likeliest first, until a question has its part."""
    for file, tokens in additions:
        wanted_room = tokens if file.pinned else min(tokens, fresh)
        fresh -= min(tokens, fresh)
        _make_room_for(staying, file, wanted_room, room=room)


def grown_files(sent: Iterable[SentFile], now: Iterable[FileChoice]) -> frozenset[str]:
    """Return the paths of the files of which all that was sent is shown still.

    Of a file whose bytes have changed that is known only where all of it was shown and is: its lines have other
    numbers now.
    """
    choices = {choice.path: choice for choice in now}
    return frozenset(
        file.path
        for file in sent
        if (choice := choices.get(file.path)) is not None and _is_grown(file, choice)
    )


def _is_grown(old: SentFile, now: FileChoice) -> bool:
    if old.content_hash != now.content_hash:
        return old.level is Level.FULL is now.level
    lines = sum(last - first + 1 for first, last in old.lines)
    return lines == _shared_lines(old.lines, now.lines)


def _by_worth(file: WantedFile) -> tuple[bool, float, str]:
    return not file.pinned, -file.score, file.path


def _make_room(staying: _Staying) -> None:
    """Let the last files leave until the others fit; the likely ones only where nothing else is left."""
    missing = -staying.left
    going: list[SentFile] = []
    by_likelihood = sorted(staying.movable(), key=lambda file: staying.score(file) >= LIKELY)
    for file in by_likelihood:
        if missing <= 0:
            break
        going.append(file)
        missing -= file.tokens
    staying.drop(going)


def _additions(staying: _Staying) -> Iterator[tuple[WantedFile, int]]:
    """Yield the files of which more is wanted than stays, with what that takes about."""
    kept = {file.path: file for file in staying.files}
    for file in staying.wanted.values():
        if not file.tokens:
            continue
        old = kept.get(file.path)
        if old is None:
            yield file, file.tokens
        elif not _shows(old, file):
            yield file, _more_tokens(old, file)


def _shows(old: SentFile, file: WantedFile) -> bool:
    """Tell whether a file as it was sent shows all that is wanted of it."""
    if old.content_hash == file.content_hash:
        return not _new_lines(old, file)
    return _AMOUNTS[old.level] >= _AMOUNTS[file.level]


def _more_tokens(old: SentFile, file: WantedFile) -> int:
    """Return about how many tokens it takes to show behind a file what more is wanted of it."""
    if old.content_hash == file.content_hash:
        lines = sum(last - first + 1 for first, last in file.lines)
        return _HUNK_TOKENS + file.tokens * _new_lines(old, file) // max(lines, 1)
    return _HUNK_TOKENS + max(file.tokens - old.tokens, 0)


def _new_lines(old: SentFile, file: WantedFile) -> int:
    """Return how many of the wanted lines were not shown; the file's bytes are the same."""
    lines = sum(last - first + 1 for first, last in file.lines)
    return lines - _shared_lines(old.lines, file.lines)


def _shared_lines(some: Sequence[tuple[int, int]], others: Sequence[tuple[int, int]]) -> int:
    """Return how many lines two ascending sequences of runs have in common."""
    shared = i = j = 0
    while i < len(some) and j < len(others):
        shared += max(min(some[i][1], others[j][1]) - max(some[i][0], others[j][0]) + 1, 0)
        if some[i][1] < others[j][1]:
            i += 1
        else:
            j += 1
    return shared


def _make_room_for(staying: _Staying, file: WantedFile, tokens: int, *, room: int) -> None:
    """Take room from what is left, and from files that stand last and score less than half as much."""
    movable = room if file.pinned else max(MOVABLE * room, tokens)
    going: list[SentFile] = []
    gained = passed = 0
    for old in staying.movable():
        if staying.left + gained >= tokens or passed >= movable:
            break
        passed += old.tokens
        if old.path != file.path and staying.score(old) < BELOW * file.score:
            going.append(old)
            gained += old.tokens
    staying.drop(going)
    staying.left = max(staying.left - tokens, 0)
