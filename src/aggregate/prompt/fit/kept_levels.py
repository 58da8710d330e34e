"""Which files of a discussion stay as they were sent when the next question asks for others (rule B-9).

A provider's cache reads a prompt up to the first byte that differs. A fit for the new question alone would show nearly
every file at another level, and nothing could be read. So files stay as they were sent first, the discussion grows
behind them, and what a question needs besides stands behind the discussion, where the next question replaces it. Room
for that is made at the end of the files, seldom and for several turns: the file that stands last goes first, if what
comes in for it scores more than twice as much. A likely file that goes is shown behind the discussion.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from aggregate.base.task import FileChoice, Level, SentFile

# A file stays unless its score is below this part of that of what would enter instead (rule B-9).
BELOW: Final = 0.5
# The part of the room that a new question may have for itself. With it four fifths of a prompt and more stay, and three
# quarters or more are shown of what a fit for the question alone shows (four projects, simulation/JOURNAL.md).
FRESH: Final = 0.16
# While this part of that is left, no file leaves: what leaves takes all that stands behind it along, so that it pays to
# make room seldom, and for several turns.
ENOUGH: Final = 0.7
# Tokens that it may have in any case, but for half of the room: what a question needs does not shrink with the budget,
# and the likeliest 5,000 tokens hold most of it.
LEAST_FRESH: Final = 5_000
# The part of the room, at the end of the files, that others may take from, or as much as a question may have if that is
# more: a file at the front is paid for with all that stands behind it. A pin may take from anywhere.
MOVABLE: Final = 0.25
# A file with this part of all scores is what the question is about: it does not go for lack of room while there is a
# less likely one. At most ten files can be as likely.
LIKELY: Final = 0.1
# What showing more of a file behind the others takes beyond the lines themselves: its heading, its fence, and three
# lines of context on each side.
_HUNK_TOKENS: Final = 40
# More for levels that show more.
_AMOUNTS: Final = {level: -place for place, level in enumerate(Level)}


@dataclass(slots=True)
class _Staying:
    """The files that stay so far, in the order in which they were sent, and the tokens that they leave."""

    files: list[SentFile]
    wanted: dict[str, FileChoice]
    left: int

    def score(self, file: SentFile) -> float:
        return self.wanted[file.path].score or 0.0

    def drop(self, files: Iterable[SentFile]) -> None:
        going = {file.path for file in files}
        self.left += sum(file.tokens for file in self.files if file.path in going)
        self.files = [file for file in self.files if file.path not in going]

    def movable(self) -> Iterator[SentFile]:
        return (file for file in reversed(self.files) if not self.wanted[file.path].pinned)


def keep_levels(
    sent: Sequence[SentFile], wanted: Sequence[FileChoice], *, room: int
) -> tuple[SentFile, ...]:
    """Return which files of the last prompt are shown no less than they were sent, in their order.

    ``wanted`` are all candidates as a fit for the question alone would show them, ``room`` the tokens of all blocks.
    """
    by_path = {file.path: file for file in wanted}
    there = [file for file in sent if file.path in by_path]
    staying = _Staying(there, by_path, room - sum(file.tokens for file in there))
    _make_room(staying)
    fresh = max(int(FRESH * room), min(LEAST_FRESH, room // 2))
    additions = sorted(
        _additions(staying),
        key=lambda each: (not each[0].pinned, -(each[0].score or 0), each[0].path),
    )
    pinned = sum(tokens for file, tokens in additions if file.pinned)
    enough = min(sum(tokens for _, tokens in additions), int(ENOUGH * fresh))
    if staying.left < max(pinned, enough):  # the likeliest first, until a question has its part
        for file, tokens in additions:
            _make_room_for(staying, file, tokens if file.pinned else min(tokens, fresh), room)
            fresh -= min(tokens, fresh)
    return tuple(staying.files)


def grown_files(sent: Iterable[SentFile], now: Iterable[FileChoice]) -> frozenset[str]:
    """Return the paths of the files of which all that was sent is shown still.

    Of a file whose bytes have changed that is known only where all of it was shown and is: its lines have other
    numbers now.
    """
    choices = {choice.path: choice for choice in now}
    return frozenset(
        file.path
        for file in sent
        if (choice := choices.get(file.path)) is not None
        and (
            _lines(file) == _shared_lines(file, choice)
            if file.content_hash == choice.content_hash
            else file.level is Level.FULL is choice.level
        )
    )


def _make_room(staying: _Staying) -> None:
    """Let the last files leave until the others fit; the likely ones only where nothing else is left."""
    missing = -staying.left
    going: list[SentFile] = []
    for file in sorted(staying.movable(), key=lambda file: staying.score(file) >= LIKELY):
        if missing <= 0:
            break
        going.append(file)
        missing -= file.tokens
    staying.drop(going)


def _additions(staying: _Staying) -> Iterator[tuple[FileChoice, int]]:
    """Yield the files of which more is wanted than stays, with what it takes about to show that behind them."""
    kept = {file.path: file for file in staying.files}
    for file in staying.wanted.values():
        old = kept.get(file.path)
        if not file.tokens:
            continue
        if old is None:
            yield file, file.tokens
        elif old.content_hash != file.content_hash:
            if _AMOUNTS[old.level] < _AMOUNTS[file.level]:
                yield file, _HUNK_TOKENS + max(file.tokens - old.tokens, 0)
        elif new := _lines(file) - _shared_lines(old, file):
            yield file, _HUNK_TOKENS + file.tokens * new // max(_lines(file), 1)


def _lines(file: SentFile | FileChoice) -> int:
    return sum(last - first + 1 for first, last in file.lines)


def _shared_lines(old: SentFile, file: FileChoice) -> int:
    some, others = old.lines, file.lines
    shared = i = j = 0
    while i < len(some) and j < len(others):
        shared += max(min(some[i][1], others[j][1]) - max(some[i][0], others[j][0]) + 1, 0)
        if some[i][1] < others[j][1]:
            i += 1
        else:
            j += 1
    return shared


def _make_room_for(staying: _Staying, file: FileChoice, tokens: int, room: int) -> None:
    """Take room from what is left, and from files that stand last and score less than half as much."""
    movable = room if file.pinned else max(MOVABLE * room, tokens)
    going: list[SentFile] = []
    gained = passed = 0
    for old in staying.movable():
        if staying.left + gained >= tokens or passed >= movable:
            break
        passed += old.tokens
        if old.path != file.path and staying.score(old) < BELOW * (file.score or 0):
            going.append(old)
            gained += old.tokens
    staying.drop(going)
    staying.left = max(staying.left - tokens, 0)
